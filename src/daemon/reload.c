/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration read again: policy, limits and prices take effect, the rest needs a new start and says so. */
#include "daemon/keeper.h"

#include "daemon/log.h"

static fth_offer_id same_offer(const struct fth_keeper *k, const struct fth_world *w, fth_offer_id id)
{
	const struct fth_offer *o = &w->catalog.offers.data[id];
	const char *type = fth_sym_str(w->syms, w->catalog.types.data[o->type].name), *zone = fth_sym_str(w->syms, o->zone);
	const struct fth_catalog_store *c = &k->cluster->catalog;
	for (fth_offer_id i = 0; i < c->offers.len; i++) {
		const struct fth_offer *p = &c->offers.data[i];
		if (p->market == o->market && !strcmp(fth_sym_str(c->syms, c->types.data[p->type].name), type) &&
		    !strcmp(fth_sym_str(c->syms, p->zone), zone))
			return i;
	}
	return FTH_NONE;
}

int fth_keeper_reprice(struct fth_keeper *k, const struct fth_world *w, struct fth_error *err)
{
	const struct fth_catalog_store *now = &k->cluster->catalog;
	if (w->catalog.offers.len != now->offers.len)
		return fth_fail(err, -ESTALE, "the catalog has other offers than the journal was begun with");
	for (fth_offer_id i = 0; i < w->catalog.offers.len; i++)
		if (same_offer(k, w, i) == FTH_NONE)
			return fth_fail(err, -ESTALE, "the catalog has other offers than the journal was begun with");
	for (fth_offer_id i = 0; i < w->catalog.offers.len; i++) {
		fth_offer_id o = same_offer(k, w, i);
		fth_price price = w->catalog.offers.data[i].price;
		if (now->offers.data[o].price == price)
			continue;
		struct fth_str name = {0};
		fth_offer_name(k->cluster, o, &name);
		fth_say(FTH_LOG_INFO, "price changes", "offer:s from:f to:f", name.data, fth_usd(now->offers.data[o].price), fth_usd(price));
		fth_str_release(&name);
		struct fth_event ev = {.kind = FTH_EV_OFFER_CHANGED, .job = FTH_NONE, .task = FTH_NONE, .instance = FTH_NONE, .offer = o,
				       .available = now->offers.data[o].available, .price = price};
		fth_happen_feed(k, ev, k->epoch + k->now);
	}
	return 0;
}

static int follow(struct fth_keeper *k, const struct fth_config *c, const struct fth_world *w, struct fth_error *err)
{
	fth_time at = FTH_MAX(k->now, fth_live_now(k->live));
	const struct fth_limits *was = fth_engine_limits(k->engine), *now = &c->limits;
	int r = fth_keeper_reprice(k, w, err);
	if (!r && strcmp(fth_live_policy(k->live), c->policy)) {
		r = fth_live_change_policy(k->live, at, c->policy, err);
		if (!r)
			fth_say(FTH_LOG_INFO, "policy changes", "policy:s", c->policy);
	}
	if (!r && (was->usd_per_hour != now->usd_per_hour || was->usd_per_month != now->usd_per_month || was->moves_per_hour != now->moves_per_hour ||
		   was->disturbed_ppm != now->disturbed_ppm || was->max_instances != now->max_instances)) {
		r = fth_live_change_limits(k->live, at, now, err);
		fth_say(FTH_LOG_INFO, "limits change", "");
	}
	return r;
}

/* What holds until the next start, whatever the file says now. */
static void tell_fixed(const struct fth_config *was, const struct fth_config *now)
{
	const json_t *a = json_object_get(was->yaml.root, "api"), *b = json_object_get(now->yaml.root, "api");
	bool same_api = a && b ? json_equal(a, b) : a == b;
	if (strcmp(was->cluster, now->cluster) || strcmp(was->role[0].program, now->role[0].program) || strcmp(was->role[1].program, now->role[1].program) ||
	    !same_api)
		fth_say(FTH_LOG_WARN, "cluster, drivers and api change with a new start only", "");
}

void fth_keeper_reload(struct fth_keeper *k)
{
	struct fth_config c;
	struct fth_world w;
	struct fth_error err = {0};
	fth_world_init(&w);
	int r = fth_config_load(&c, k->cfg->path, k->cfg->state, &err);
	if (!r)
		r = fth_config_world(&c, &w, &err);
	if (!r)
		r = follow(k, &c, &w, &err);
	if (r) {
		fth_say(FTH_LOG_ERROR, "reload failed, the old configuration holds", "error:s", err.text);
	} else {
		tell_fixed(k->cfg, &c);
		fth_log_set((enum fth_log_level)c.log_level, c.log_format);
		fth_say(FTH_LOG_INFO, "reloaded", "policy:s", c.policy);
	}
	k->dirty = true;
	fth_world_release(&w);
	fth_config_release(&c);
}
