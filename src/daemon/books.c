/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is remembered beside the journal's lines, as facts in it: which attempt to have an instance is under way and under which name of a node
 * (i/5 = "2 n17"), which run of a task counts and when it may start (t/40 = "3 0"), how often a key was submitted (k/KEY). Written in the transaction of the decision that
 * needs it, so that a token is on disk before anybody is asked to carry it out.
 */
#include "daemon/keeper.h"

#include "daemon/log.h"

void fth_offer_name(const struct fth_cluster *c, fth_offer_id id, struct fth_str *out)
{
	static const char *const markets[] = {"", ":spot", ":reserved"};
	const struct fth_offer *o = &c->catalog.offers.data[id];
	fth_str_add(out, fth_sym_str(c->syms, c->catalog.types.data[o->type].name));
	if (o->zone)
		fth_str_addf(out, "@%s", fth_sym_str(c->syms, o->zone));
	fth_str_add(out, markets[o->market]);
}

/* What tells this journal's names from those of another of the same cluster. */
static unsigned long long era(const struct fth_keeper *k)
{
	return (unsigned long long)(k->epoch / FTH_SEC);
}

uint32_t fth_task_index(const struct fth_keeper *k, const struct fth_task *t)
{
	return t->id - fth_cluster_job(k->cluster, t->job)->first_task;
}

void fth_run_name(const struct fth_keeper *k, const struct fth_task *t, uint32_t attempt, struct fth_str *out)
{
	fth_str_addf(out, "%llx.%u.%u.%u", era(k), t->job, fth_task_index(k, t), attempt);
}

bool fth_run_parse(const struct fth_keeper *k, const char *name, fth_job_id *job, uint32_t *index, uint32_t *attempt)
{
	unsigned long long of;
	int end = 0;
	return sscanf(name, "%llx.%u.%u.%u%n", &of, job, index, attempt, &end) == 4 && !name[end] && of == era(k);
}

/* ---- instances ---- */

static void token_of(const struct fth_keeper *k, fth_instance_id id, uint32_t attempt, struct fth_str *out)
{
	fth_str_addf(out, "%s-%llx-i%u-%u", k->cfg->cluster, era(k), id, attempt);
}

bool fth_token_is_ours(const struct fth_keeper *k, const char *token)
{
	size_t n = strlen(k->cfg->cluster);
	unsigned long long of;
	unsigned id, attempt;
	int end = 0;
	return !strncmp(token, k->cfg->cluster, n) && token[n] == '-' && sscanf(token + n + 1, "%llx-i%u-%u%n", &of, &id, &attempt, &end) == 3 &&
	       !token[n + 1 + (size_t)end];
}

void fth_rented_save(struct fth_keeper *k, fth_instance_id id, uint32_t attempt, const char *node)
{
	char name[32];
	struct fth_str value = {0};
	snprintf(name, sizeof(name), "i/%u", id);
	fth_str_addf(&value, "%u %s", attempt, node);
	fth_live_put(k->live, name, value.data);
	fth_str_release(&value);
}

/* Attempt and node as written down; false: nothing is. */
static bool rented_fact(const struct fth_keeper *k, fth_instance_id id, uint32_t *attempt, const char **node)
{
	char name[32];
	snprintf(name, sizeof(name), "i/%u", id);
	const char *value = fth_live_get(k->live, name), *space = value ? strchr(value, ' ') : NULL;
	if (!space)
		return false;
	*attempt = (uint32_t)strtoul(value, NULL, 10);
	*node = space + 1;
	return true;
}

static bool node_is_free(const struct fth_keeper *k, const char *node)
{
	if (!fth_node_is_absent(k, node))
		return false;
	for (size_t i = 0; i < k->rented.len; i++) {
		const struct fth_rented *r = k->rented.data[i];
		if (r->node && !strcmp(r->node, node) && (r->current || (r->state && r->state != FTH_LISTED_GONE)))
			return false;
	}
	return true;
}

/* A name for the machine: ours, or a free one of the workload's own. NULL: there is none. */
static char *choose_node(const struct fth_keeper *k, const struct fth_instance *i)
{
	const char *type = fth_sym_str(k->cluster->syms, k->cluster->catalog.types.data[i->type].name);
	const json_t *nodes = k->side[FTH_WORKLOAD].nodes, *list = json_object_get(nodes, type);
	struct fth_str own = {0};
	if (!nodes) {
		fth_str_addf(&own, "%s-i%u", k->cfg->cluster, i->id);
		return own.data;
	}
	for (size_t n = 0; n < json_array_size(list); n++) {
		const char *name = json_string_value(json_array_get(list, n));
		if (name && node_is_free(k, name))
			return fth_strdup(name);
	}
	return NULL;
}

static struct fth_rented *adopt(struct fth_keeper *k, fth_instance_id id, uint32_t attempt, const char *node)
{
	struct fth_str token = {0};
	token_of(k, id, attempt, &token);
	struct fth_rented *r = fth_rented_by_token(k, token.data);
	r = r ? r : fth_rented_add(k, token.data);
	fth_str_release(&token);
	r->id = id;
	r->current = true;
	free(r->node);
	r->node = fth_strdup(node);
	for (size_t at = 0; at < k->rented.len; at++)
		if (k->rented.data[at] == r)
			fth_map_put(&k->by_instance, id, at);
	return r;
}

struct fth_rented *fth_rented_now(struct fth_keeper *k, const struct fth_instance *i)
{
	struct fth_rented *r = fth_rented_of(k, i->id);
	uint32_t attempt = 1;
	const char *was = "";
	if (r)
		return r;
	bool known = rented_fact(k, i->id, &attempt, &was);
	if (known && *was)
		return adopt(k, i->id, attempt, was);
	char *node = choose_node(k, i);
	if (!node)
		return NULL;
	fth_rented_save(k, i->id, attempt, node);
	r = adopt(k, i->id, attempt, node);
	free(node);
	return r;
}

void fth_rented_again(struct fth_keeper *k, fth_instance_id id)
{
	struct fth_rented *r = fth_rented_of(k, id);
	uint32_t attempt = 0;
	const char *node;
	if (r) {
		fth_map_del(&k->by_instance, id);
		r->current = false;
	}
	if (rented_fact(k, id, &attempt, &node))
		fth_rented_save(k, id, attempt + 1, "");
	if (r && r->state == FTH_LISTED_NOT)
		fth_rented_remove(k, r);
}

void fth_rented_ended(struct fth_keeper *k, fth_instance_id id)
{
	char name[32];
	struct fth_rented *r = fth_rented_of(k, id);
	snprintf(name, sizeof(name), "i/%u", id);
	fth_live_put(k->live, name, NULL);
	if (!r)
		return;
	fth_map_del(&k->by_instance, id);
	r->current = false;
	if (r->state == FTH_LISTED_NOT && !r->launching)
		fth_rented_remove(k, r);
}

/* ---- tasks ---- */

static void task_fact(const struct fth_keeper *k, struct fth_begun *b)
{
	char name[32];
	long long not_before = 0;
	unsigned attempt = 0;
	snprintf(name, sizeof(name), "t/%u", b->task);
	const char *value = fth_live_get(k->live, name);
	if (value && sscanf(value, "%u %lld", &attempt, &not_before) == 2) {
		b->attempt = attempt;
		b->not_before = not_before;
	}
}

struct fth_begun *fth_begun_of(struct fth_keeper *k, fth_task_id task)
{
	uint64_t at;
	if (fth_map_get(&k->by_task, task, &at))
		return &k->begun.data[at];
	if (!k->free_begun.len) {
		fth_vec_push(&k->free_begun, (uint32_t)k->begun.len);
		fth_vec_push(&k->begun, (struct fth_begun){0});
	}
	at = fth_vec_pop(&k->free_begun);
	k->begun.data[at] = (struct fth_begun){.task = task};
	task_fact(k, &k->begun.data[at]);
	fth_map_put(&k->by_task, task, at);
	return &k->begun.data[at];
}

void fth_begun_save(struct fth_keeper *k, const struct fth_begun *b)
{
	char name[32], value[64];
	snprintf(name, sizeof(name), "t/%u", b->task);
	snprintf(value, sizeof(value), "%u %lld", b->attempt, (long long)b->not_before);
	fth_live_put(k->live, name, value);
}

void fth_begun_drop(struct fth_keeper *k, fth_task_id task)
{
	char name[32];
	uint64_t at;
	snprintf(name, sizeof(name), "t/%u", task);
	fth_live_put(k->live, name, NULL);
	if (!fth_map_get(&k->by_task, task, &at))
		return;
	fth_map_del(&k->by_task, task);
	k->begun.data[at] = (struct fth_begun){.task = FTH_NONE};
	fth_vec_push(&k->free_begun, (uint32_t)at);
}

/* ---- after a restart ---- */

static int exit_fact(const struct fth_keeper *k, fth_job_id id)
{
	char name[32];
	snprintf(name, sizeof(name), "x/%u", id);
	const char *code = fth_live_get(k->live, name);
	return code ? atoi(code) : 0;
}

void fth_books_load(struct fth_keeper *k)
{
	for (fth_instance_id id = k->cluster->view.first_instance; id != FTH_NONE;) {
		const struct fth_instance *i = fth_cluster_instance(k->cluster, id);
		uint32_t attempt;
		const char *node;
		if (rented_fact(k, id, &attempt, &node) && *node)
			fth_rented_now(k, i);
		id = i->next;
	}
	for (fth_offer_id o = 0; o < k->cluster->catalog.offers.len; o++) {
		bool out = !k->cluster->catalog.offers.data[o].available;
		fth_vec_push(&k->offers, ((struct fth_offer_retry){.failures = out, .until_ns = out ? k->now_ns + k->cfg->retry_first * 1000 : 0}));
	}
	for (fth_job_id id = k->cluster->view.first_job; id != FTH_NONE;) {
		const struct fth_job *j = fth_cluster_job(k->cluster, id);
		fth_map_put(&k->recovered, fth_key_hash(fth_sym_str(k->cluster->syms, j->name)), id);
		if (exit_fact(k, id))
			fth_tally_exit(k->tally, id, exit_fact(k, id));
		id = j->next;
	}
	for (size_t n = 0; n < FTH_TALLY_JOBS && k->tally->jobs[n].key; n++)
		k->tally->jobs[n].exit = exit_fact(k, k->tally->jobs[n].id);
	k->paused = fth_live_get(k->live, "paused") != NULL;
}
