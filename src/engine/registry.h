/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding a policy by name or file, and its parameters by text.
 * The table of built-in policies is src/policies/table.c; the engine only searches what it is given.
 */
#ifndef FTH_ENGINE_REGISTRY_H
#define FTH_ENGINE_REGISTRY_H

#include <farthing/policy.h>

#include "base/base.h"

/* A policy as the user asked for it: "eva", "eva:round=300s,t=0.9", "./my.so:depth=3". */
struct fth_policy_choice {
	char text[256];  /* as asked */
	char label[64];  /* the name before ':' (of a file: the policy's own name) */
	const struct fth_policy_ops *ops;
	void *params;    /* filled parameter struct; NULL if the policy has none */
	void *dl;        /* handle of an out-of-tree policy */
};

/* table: NULL-ended list of built-in policies. */
int fth_policy_choose(struct fth_policy_choice *ret, const struct fth_policy_ops *const *table, const char *text,
		      struct fth_error *err);
void fth_policy_choice_release(struct fth_policy_choice *c);

/* Typed parameters, for policies and for the simulator alike. */
void fth_params_defaults(const struct fth_param *table, void *params);
/* One "key=value"; unknown keys, wrong types and values out of range are refused by name. */
int fth_params_set(const struct fth_param *table, void *params, const char *owner, const char *key, size_t key_len,
		   const char *value, size_t value_len, struct fth_error *err);
/* "key=value,key=value" */
int fth_params_parse(const struct fth_param *table, void *params, const char *owner, const char *text,
		     struct fth_error *err);
/* One value as a user would write it; and all as a JSON object. */
void fth_params_value(const struct fth_param *p, const void *params, struct fth_str *out);
void fth_params_json(const struct fth_param *table, const void *params, struct fth_str *out);

#endif
