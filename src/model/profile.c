/* SPDX-License-Identifier: Apache-2.0 */
#include "model/profile.h"

#include <farthing/policy.h>

void fth_profile_init(struct fth_profile *p, struct fth_symtab *syms, double missing)
{
	*p = (struct fth_profile){.syms = syms, .missing = missing};
}

void fth_profile_release(struct fth_profile *p)
{
	fth_vec_release(&p->classes);
	fth_map_release(&p->index);
	free(p->rate);
	p->rate = NULL;
}

void fth_profile_set_classes(struct fth_profile *p, const fth_sym *classes, uint32_t n)
{
	free(p->rate);
	p->rate = fth_alloc((size_t)n * n * sizeof(*p->rate));
	fth_vec_clear(&p->classes);
	fth_map_clear(&p->index);
	for (uint32_t i = 0; i < n; i++) {
		fth_vec_push(&p->classes, classes[i]);
		fth_map_put(&p->index, classes[i], i);
	}
	for (size_t i = 0; i < (size_t)n * n; i++)
		p->rate[i] = p->missing;
}

void fth_profile_set(struct fth_profile *p, fth_sym victim, fth_sym neighbour, double rate)
{
	uint64_t a, b;
	if (fth_map_get(&p->index, victim, &a) && fth_map_get(&p->index, neighbour, &b))
		p->rate[a * p->classes.len + b] = rate;
}

double fth_profile_rate(const struct fth_profile *p, fth_sym victim, fth_sym neighbour)
{
	uint64_t a, b;
	if (!fth_map_get(&p->index, victim, &a) || !fth_map_get(&p->index, neighbour, &b))
		return p->missing;
	return p->rate[a * p->classes.len + b];
}
