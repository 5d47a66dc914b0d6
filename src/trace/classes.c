/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/classes.h"

#include <math.h>

const struct fth_class fth_classes[FTH_NCLASSES] = {
	{"a3c", 12.736207246780396, 1, 10, 10, 1, 1, 0, 10, 8, 4},
	{"cyclegan", 1.1394022428072417, 2, 10, 2, 1, 5, 1, 4, 10, 0},
	{"gcn", 0.16014614275523595, 1, 10, 28, 1, 1, 0, 12, 40, 6},
	{"gpt2", 3.305535078048706, 10, 10, 15, 1, 20, 4, 4, 10, 0},
	{"openfoam", 8.4, 7, 10, 1, 1, 14, 0, 8, 8, 6},
	{"sage", 2.433017451763153, 1, 10, 160, 1, 1, 1, 8, 50, 0},
	{"seq", 0.008324104361236095, 3, 10, 12, 1, 5, 0, 14, 16, 8},
	{"resnet18", 2.1, 1, 10, 80, 1, 1, 1, 4, 24, 0},
	{"vit", 2.3503475870404924, 1, 10, 143, 1, 2, 2, 8, 60, 0},
};

const struct fth_class *fth_class_find(const char *name)
{
	for (size_t i = 0; i < FTH_NCLASSES; i++)
		if (!strcmp(fth_classes[i].name, name))
			return &fth_classes[i];
	return NULL;
}

struct fth_task_delays fth_class_delays(const struct fth_class *c)
{
	return (struct fth_task_delays){c->fetch * FTH_SEC, c->setup * FTH_SEC, c->init * FTH_SEC, c->stop * FTH_SEC,
					c->save * FTH_SEC};
}

double fth_class_exact_rate(const char *name, double printed)
{
	const struct fth_class *c = fth_class_find(name);
	char a[32];
	if (!c)
		return printed;
	snprintf(a, sizeof(a), "%.6g", c->rate);
	return strtod(a, NULL) == printed ? c->rate : printed;
}

int64_t fth_class_iters(fth_time duration, double rate)
{
	return (int64_t)floor((double)duration / (double)FTH_SEC * rate);
}

/* Table 7 counts cores (its P3 machines have 4 beside each GPU); catalogs count vCPUs, two to a core. */
static struct fth_res demand(int gpus, int cores, int gib)
{
	return (struct fth_res){{gpus * 1000, cores * 2000, gib * 1024}};
}

fth_kind_id fth_class_kind(struct fth_kinds *kinds, const struct fth_class *c, const char *label)
{
	struct fth_alt alts[3];
	struct fth_kind k = {.label = fth_sym_intern(kinds->syms, label),
			     .klass = fth_sym_intern(kinds->syms, c->name),
			     .delays = fth_class_delays(c),
			     .nalts = 1,
			     .alts = alts};
	k.image = k.klass;
	alts[0] = (struct fth_alt){0, 1000000, demand(c->gpus, c->cores, c->gib)};
	if (c->other_cores) {
		struct fth_res other = demand(c->gpus, c->other_cores, c->gib);
		alts[0].family = fth_sym_intern(kinds->syms, "p3");
		alts[1] = (struct fth_alt){fth_sym_intern(kinds->syms, "c7i"), 1000000, other};
		alts[2] = (struct fth_alt){fth_sym_intern(kinds->syms, "r7i"), 1000000, other};
		k.nalts = 3;
	}
	return fth_kinds_intern(kinds, &k);
}
