/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings out of a JSON object by a table: what is unknown, of the wrong type or out of range is refused by name. The daemon's
 * configuration and what it hands to each driver are read by this.
 */
#ifndef FTH_DRIVERS_SETTINGS_H
#define FTH_DRIVERS_SETTINGS_H

#include <jansson.h>

#include "base/base.h"

enum fth_setting_type {
	FTH_SET_TEXT,     /* char *, to be freed by its owner */
	FTH_SET_BOOL,     /* bool */
	FTH_SET_INT,      /* int64_t, min .. max */
	FTH_SET_SHARE,    /* double: 0.2, or "20%"; 0 .. 1 */
	FTH_SET_DURATION, /* int64_t microseconds: "5m", or a number of seconds; min .. max in seconds */
	FTH_SET_USD,      /* fth_money: 12.5 */
	FTH_SET_CHOICE,   /* int, an index into choices */
	FTH_SET_TEXTS,    /* json_t * list of texts, borrowed; one text is a list of one */
	FTH_SET_OBJECT,   /* json_t *, borrowed */
	FTH_SET_ANY,      /* json_t *, borrowed */
};

struct fth_setting {
	const char *key; /* NULL ends a table */
	enum fth_setting_type type;
	size_t offset;
	bool required;
	double min, max; /* both 0: anything not negative */
	const char *const *choices;
};

/* Where and what is wrong. */
struct fth_setting_error {
	char key[64];      /* "" if it is about the whole */
	const json_t *at;  /* the value, if there is one */
	char text[256];
};

/* Fills base; what is not given stays as it is. `object` NULL is an empty one. */
int fth_settings_read(const json_t *object, const struct fth_setting *table, void *base, struct fth_setting_error *err);
/* One value as a duration. */
int fth_setting_duration(const json_t *v, int64_t *ret);

#endif
