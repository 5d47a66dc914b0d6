/* SPDX-License-Identifier: Apache-2.0 */
/* Catalogs that policies bring along: one-slot machines for those that keep a fixed set of workers (--workers), container
 * sizes for those that buy containers. */
#include "cli/cli.h"

static const struct fth_param *find_param(const struct fth_policy_choice *c, const char *name)
{
	for (const struct fth_param *p = c->ops->params; p && p->name; p++)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}

static double value_of(const struct fth_policy_choice *c, const char *name, double def)
{
	const struct fth_param *p = find_param(c, name);
	const char *at = p ? (const char *)c->params + p->offset : NULL;
	if (!p)
		return def;
	return p->type == FTH_PARAM_REAL ? *(const double *)at : (double)*(const int64_t *)at;
}

fth_time fth_cli_cutoff(const struct fth_policy_choice *c)
{
	return c->ops->flags & FTH_POLICY_WANTS_WORKERS && find_param(c, "cutoff") ? (fth_time)value_of(c, "cutoff", 0) : -1;
}

int fth_cli_set_workers(const struct fth_args *a, struct fth_cli_policies *p, struct fth_error *err)
{
	const char *n = fth_args_given(a, "workers");
	for (size_t i = 0; i < p->n; i++) {
		struct fth_policy_choice *c = &p->list[i];
		if (!(c->ops->flags & FTH_POLICY_WANTS_WORKERS) || value_of(c, "workers", 0) > 0)
			continue;
		if (!n)
			return fth_fail(err, -EINVAL, "policy %s keeps a fixed set of workers: say how many with --workers N",
					c->label);
		int r = fth_params_set(c->ops->params, c->params, c->label, "workers", strlen("workers"), n, strlen(n), err);
		/* Also as text, for the journal: a replay knows no --workers. */
		size_t len = strlen(c->text);
		int more = snprintf(c->text + len, sizeof(c->text) - len, "%cworkers=%s", strchr(c->text, ':') ? ',' : ':', n);
		if (!r && (more < 0 || (size_t)more >= sizeof(c->text) - len))
			r = fth_fail(err, -EINVAL, "policy %s: its parameters are too long", c->label);
		if (r)
			return r;
	}
	return 0;
}

static void add_offer(struct fth_world *w, fth_type_id type, enum fth_market market, const char *zone, fth_price price)
{
	struct fth_offer o = {.type = type, .market = market, .price = price, .available = true};
	o.zone = fth_sym_intern(w->syms, zone);
	o.billing = fth_billing_default();
	o.billing.increment = FTH_US; /* lives are counted, not rounded */
	fth_vec_push(&w->catalog.offers, o);
}

static fth_type_id add_type(struct fth_world *w, const char *name, int64_t slots, fth_time delay)
{
	struct fth_instance_type t = {.name = fth_sym_intern(w->syms, name), .family = fth_sym_intern(w->syms, "worker")};
	t.capacity.v[FTH_CPU] = 1000 * slots;
	t.acquire = fth_delay_fixed(delay);
	fth_vec_push(&w->catalog.types, t);
	return (fth_type_id)(w->catalog.types.len - 1);
}

int fth_cli_fleet(struct fth_world *w, const double *ratios, size_t n, int64_t slots, fth_time provisioning,
		  struct fth_error *err)
{
	fth_type_id worker = add_type(w, "worker", slots, 0), transient = add_type(w, "transient", slots, provisioning);
	add_offer(w, worker, FTH_ON_DEMAND, "", slots * FTH_USD);
	for (size_t k = 0; k < n; k++) {
		char zone[32];
		snprintf(zone, sizeof(zone), "r%.6g", ratios[k]);
		add_offer(w, transient, FTH_SPOT, zone, (fth_price)((double)(slots * FTH_USD) / ratios[k] + 0.5));
	}
	return fth_catalog_finish(&w->catalog, err);
}

int fth_cli_fleet_for(struct fth_world *w, const struct fth_cli_policies *p, fth_time provisioning, struct fth_error *err)
{
	FTH_VEC(double) ratios = {0};
	int64_t slots = 1;
	for (size_t i = 0; i < p->n; i++) {
		double r = value_of(&p->list[i], "r", -1);
		bool known = r < 0;
		if (r == 0) {
			fth_vec_release(&ratios);
			return fth_fail(err, -EINVAL, "policy %s: r=0 takes the market's price, and there is no market without --catalog",
					p->list[i].label);
		}
		for (size_t k = 0; k < ratios.len; k++)
			known |= ratios.data[k] == r;
		if (!known)
			fth_vec_push(&ratios, r);
		slots = FTH_MAX(slots, (int64_t)value_of(&p->list[i], "slots", 1));
	}
	int e = fth_cli_fleet(w, ratios.data, ratios.len, slots, provisioning, err);
	fth_vec_release(&ratios);
	return e;
}

static int check_held(const struct fth_world *w, const char *label, struct fth_error *err)
{
	const struct fth_catalog_store *c = &w->catalog;
	for (size_t k = 0; k < w->kinds.list.len; k++) {
		bool held = false;
		for (size_t t = 0; t < c->types.len && !held; t++) {
			const struct fth_alt *a = fth_kind_on_type(&w->kinds.list.data[k], &c->types.data[t]);
			held = c->types.data[t].container && a && fth_res_fits(&a->demand, &c->types.data[t].capacity);
		}
		if (!held)
			return fth_fail(err, -EINVAL, "policy %s: no container size holds a task of kind %zu (%s)", label, k,
					w->kinds.list.data[k].alts[0].demand.v[FTH_GPU] ? "containers have no GPUs" : "they end at 64 CPUs and 480 GiB");
	}
	return 0;
}

int fth_cli_containers(struct fth_world *w, const struct fth_cli_policies *p, struct fth_error *err)
{
	int e = 0;
	bool own = fth_catalog_has_containers(&w->catalog);
	const struct fth_policy_choice *first = NULL;
	for (size_t i = 0; i < p->n && !e; i++) {
		const struct fth_policy_choice *c = &p->list[i];
		if (!(c->ops->flags & FTH_POLICY_WANTS_CONTAINERS))
			continue;
		if (!own && !first)
			e = fth_catalog_add_containers(&w->catalog, (fth_price)(value_of(c, "vcpu", 0) * (double)FTH_USD + 0.5),
						       (fth_price)(value_of(c, "gib", 0) * (double)FTH_USD + 0.5), err);
		else if (!own && (value_of(c, "vcpu", 0) != value_of(first, "vcpu", 0) || value_of(c, "gib", 0) != value_of(first, "gib", 0)))
			e = fth_fail(err, -EINVAL, "policy %s: containers have one price in a comparison, that of %s", c->label, first->label);
		first = first ? first : c;
		if (!e)
			e = check_held(w, c->label, err);
	}
	return e;
}

int fth_cli_check_workers(const struct fth_world *w, const struct fth_cli_policies *p, struct fth_error *err)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct fth_policy_choice *c = &p->list[i];
		if (!(c->ops->flags & FTH_POLICY_WANTS_WORKERS))
			continue;
		const struct fth_param *how = find_param(c, "estimates");
		if (how && !strcmp(how->choices[*(const int *)((const char *)c->params + how->offset)], "random") &&
		    value_of(c, "off_bottom", 0) > value_of(c, "off_top", 0))
			return fth_fail(err, -EINVAL, "policy %s: estimates between off_bottom and off_top, and off_bottom is the larger", c->label);
		for (size_t k = 0; k < w->kinds.list.len; k++)
			for (uint32_t n = 0; n < w->kinds.list.data[k].nalts; n++)
				if (w->kinds.list.data[k].alts[n].demand.v[FTH_CPU] > 1000)
					return fth_fail(err, -EINVAL, "policy %s: a slot of a worker is one CPU, and tasks of kind %zu need more",
							c->label, k);
	}
	return 0;
}
