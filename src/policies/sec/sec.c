/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies for a queue of rigid jobs (semi-elastic clusters, TPDS '16): each user alone, a shared cluster that never
 * lets anybody wait, a cluster of fixed size, and one that grows and shrinks with its queue.
 */
#include "policies/sec/batch.h"
#include "policies/table.h"

static const char *const orders[] = {"fcfs", "shortest", "priority", NULL};
static const char *const backfills[] = {"easy", "conservative", "none", NULL};
static const char *const sizes[] = {"first", "sum", "best", NULL};
static const char *const placements[] = {"random", "max-margin", "min-margin", "max-idle", "min-idle", NULL};
static const char *const predictions[] = {"submission", "now", NULL};
static const char *const contracts[] = {"on-demand", "hybrid", "online", "committed", NULL};

#define AT(field) offsetof(struct sec_params, field)
#define PLACEMENT {"placement", FTH_PARAM_CHOICE, AT(placement), "max-margin", 0, 0, placements, \
	"which idle nodes a job gets: by paid time left (margin) or by how long they were idle"}
#define CHECK {"check", FTH_PARAM_DURATION, AT(check), "60s", 1, 86400, NULL, \
	"how often idle nodes are looked at; they go at the last look before another paid period"}
#define PUNCTUAL {"punctual", FTH_PARAM_BOOL, AT(punctual), "true", 0, 0, NULL, \
	"a node that falls idle just as its paid time ends goes at once, not at the next look, by when another period has begun"}
#define CONTRACT {"contract", FTH_PARAM_CHOICE, AT(contract), "on-demand", 0, 0, contracts, \
	"how the use is paid for: on demand, or with the catalog's contracts bought with hindsight (hybrid), by forecast (online), or " \
	"with hindsight over whole terms with fees in full (committed)"}
#define ORDER {"order", FTH_PARAM_CHOICE, AT(order), "fcfs", 0, 0, orders, "order of the queue"}, \
	{"backfill", FTH_PARAM_CHOICE, AT(backfill), "easy", 0, 0, backfills, \
	 "who may overtake: easy keeps the first job's start, conservative everybody's"}, \
	{"depth", FTH_PARAM_INT, AT(depth), "1000", 1, 1e6, NULL, "jobs that conservative backfilling plans for"}, \
	{"level_weight", FTH_PARAM_REAL, AT(level_weight), "3600", 0, 1e9, NULL, "order=priority: seconds of age that one priority level is worth"}, \
	{"age_weight", FTH_PARAM_REAL, AT(age_weight), "1", 0, 1e6, NULL, "order=priority: weight of a second of age"}, \
	{"size_weight", FTH_PARAM_REAL, AT(size_weight), "0", -1e6, 1e6, NULL, "order=priority: seconds of age that one node of size is worth"}

static const struct fth_param individual_params[] = {
	{"reuse", FTH_PARAM_BOOL, AT(reuse), "false", 0, 0, NULL,
	 "a user's idle nodes wait out their paid time for the user's own next jobs; otherwise they go with their job"},
	PLACEMENT,
	CHECK,
	PUNCTUAL,
	CONTRACT,
	{0},
};
static const struct fth_param nowait_params[] = {PLACEMENT, CHECK, PUNCTUAL, CONTRACT, {0}};
static const struct fth_param local_params[] = {
	{"nodes", FTH_PARAM_INT, AT(nodes), "93", 1, 1e6, NULL, "size of the cluster; a wider job never starts"},
	ORDER,
	{0},
};
static const struct fth_param sec_params[] = {
	{"size", FTH_PARAM_CHOICE, AT(size), "best", 0, 0, sizes,
	 "how many nodes are asked for: for the first job, for all, or for all long ones and the first short one"},
	{"t_wait", FTH_PARAM_DURATION, AT(t_wait), "300s", 0, 1e9, NULL, "the first job is not to wait longer than this"},
	{"t_short", FTH_PARAM_DURATION, AT(t_short), "3600s", 0, 1e12, NULL, "jobs up to this long are short"},
	PLACEMENT,
	CHECK,
	PUNCTUAL,
	ORDER,
	{"predict", FTH_PARAM_CHOICE, AT(predict), "submission", 0, 0, predictions, "from when the first job's wait is counted"},
	{"on_ready", FTH_PARAM_BOOL, AT(on_ready), "true", 0, 0, NULL,
	 "ask for nodes also when others have come up or t_wait has run out, not only when a job came or ended"},
	{"max_nodes", FTH_PARAM_INT, AT(max_nodes), "0", 0, 1e6, NULL, "never more than this many nodes of a cloud; a wider job never starts; 0: no limit"},
	{"clouds", FTH_PARAM_BOOL, AT(clouds), "false", 0, 0, NULL, "rent from each zone of the catalog, the cheapest for the next nodes"},
	{"reserved", FTH_PARAM_INT, AT(reserved), "0", 0, 1e6, NULL, "clouds: nodes of the first zone for which a contract is held"},
	{"reserved_price", FTH_PARAM_REAL, AT(reserved_price), "0", 0, 1e6, NULL, "clouds: what an hour of those costs, in dollars"},
	CONTRACT,
	{0},
};

static int init_as(enum sec_mode mode, void **self, const struct fth_view *view, const void *params)
{
	struct sec *s = fth_alloc(sizeof(*s));
	s->mode = mode;
	s->params = params;
	s->next_check = FTH_NEVER;
	int r = sec_choose_clouds(s, view);
	if (r)
		sec_release(s);
	else
		*self = s;
	return r;
}

static int init_individual(void **self, const struct fth_view *view, const void *params)
{
	return init_as(SEC_INDIVIDUAL, self, view, params);
}

static int init_nowait(void **self, const struct fth_view *view, const void *params)
{
	return init_as(SEC_NOWAIT, self, view, params);
}

static int init_local(void **self, const struct fth_view *view, const void *params)
{
	return init_as(SEC_LOCAL, self, view, params);
}

static int init_elastic(void **self, const struct fth_view *view, const void *params)
{
	return init_as(SEC_ELASTIC, self, view, params);
}

/* The job's next task from this one on that is nowhere yet; past its last: there is none. A node that could not be had takes one
 * task with it, the others keep theirs. */
static fth_task_id next_waiting(const struct sec *s, const struct fth_job *j, fth_task_id t)
{
	while (t < j->first_task + j->ntasks && fth_view_task(s->view, t)->state != FTH_TASK_WAITING)
		t++;
	return t;
}

/* Nodes of its own for what idle ones do not cover; it starts when the last of them is up. */
static void start_at_once(struct sec *s, const struct fth_job *j, bool reuse)
{
	struct sec_cloud *c = &s->clouds.data[0];
	const struct fth_reason why = {"it came, and nobody waits", {0}};
	const fth_task_id end = j->first_task + j->ntasks;
	uint32_t idle = 0, n = 0;
	struct sec_job *q = sec_job_of(s, j);
	sec_dequeue(s, j);
	q->cloud = 0;
	for (fth_task_id t = next_waiting(s, j, j->first_task); t < end; t = next_waiting(s, j, t + 1))
		n++;
	if (reuse && n) {
		sec_pick_idle(s, c, n, j);
		idle = (uint32_t)s->picks.len;
	}
	fth_task_id t = next_waiting(s, j, j->first_task);
	for (uint32_t k = 0; k < idle; k++, t = next_waiting(s, j, t + 1)) {
		struct sec_node *node = &s->nodes.data[s->picks.data[k].slot];
		sec_idle_remove(s, s->picks.data[k].slot);
		node->job = j->id;
		fth_plan_place(s->plan, t, node->id, why);
	}
	if (idle == n)
		return;
	for (fth_instance_id node = sec_ask(s, 0, n - idle, j); t < end; t = next_waiting(s, j, t + 1))
		fth_plan_place(s->plan, t, node++, why);
}

static void serve_at_once(struct sec *s)
{
	const struct fth_order_item *top;
	while ((top = fth_order_first(&s->queue)))
		start_at_once(s, fth_view_job(s->view, top->id), sec_keeps_idle(s));
	if (sec_keeps_idle(s)) {
		sec_let_go(s);
		return;
	}
	struct sec_cloud *c = &s->clouds.data[0];
	const struct fth_reason why = {"its job has ended", {0}};
	while (c->idle.len) {
		uint32_t slot = fth_vec_last(&c->idle);
		fth_plan_terminate(s->plan, s->nodes.data[slot].id, why);
		sec_idle_remove(s, slot);
		s->nodes.data[slot].leaving = true;
		c->nodes--;
	}
}

static void serve_local(struct sec *s)
{
	uint32_t missing = s->started ? s->lost : (uint32_t)s->params->nodes;
	if (missing)
		sec_ask(s, 0, missing, NULL);
	s->started = true;
	sec_schedule(s);
}

/* The time is up that the first in the queue was to wait at most, whatever was foreseen for it: estimates may be wrong. */
static bool is_overdue(const struct sec *s, fth_time *ret_at)
{
	const struct fth_order_item *top = fth_order_first(&s->queue);
	if (!top || !s->params->on_ready)
		return false;
	fth_time since = fth_view_job(s->view, top->id)->submitted;
	*ret_at = s->params->t_wait >= FTH_NEVER - since ? FTH_NEVER : since + s->params->t_wait + 1;
	return s->now >= *ret_at;
}

static void serve_elastic(struct sec *s)
{
	fth_time at = FTH_NEVER;
	sec_schedule(s);
	if (is_overdue(s, &at) || s->trigger)
		sec_acquire(s);
	else if (at != FTH_NEVER && at != s->looked) {
		fth_plan_wake(s->plan, at);
		s->looked = at;
	}
	sec_let_go(s);
}

static void count_use(struct sec *s)
{
	const fth_time month = 30 * FTH_DAY;
	if (s->now - s->month_from >= month) {
		s->month_from = s->now - s->now % month;
		for (size_t k = 0; k < s->clouds.len; k++)
			s->clouds.data[k].month_hours = 0;
	}
	for (size_t k = 0; k < s->clouds.len; k++)
		s->clouds.data[k].month_hours += (double)s->clouds.data[k].nodes * (double)(s->now - s->last) / (double)FTH_HOUR;
	s->last = s->now;
}

static int decide(void *self, const struct fth_round *round, struct fth_plan *plan)
{
	struct sec *s = self;
	s->view = round->view;
	s->plan = plan;
	s->now = round->now;
	s->trigger = false;
	s->lost = 0;
	if (s->clouds.len > 1)
		count_use(s);
	sec_meet_nodes(s);
	sec_take_events(s, round);
	if (s->mode == SEC_LOCAL) {
		serve_local(s);
	} else if (s->mode != SEC_ELASTIC) {
		serve_at_once(s);
	} else {
		serve_elastic(s);
	}
	return 0;
}

static void fini(void *self)
{
	sec_release(self);
}

const struct fth_policy_ops fth_policy_individual = {
	.abi = FTH_POLICY_ABI,
	.name = "individual",
	.summary = "rigid jobs: each rents its own nodes and gives them back at its end",
	.params = individual_params,
	.params_size = sizeof(struct sec_params),
	.init = init_individual,
	.decide = decide,
	.fini = fini,
};

const struct fth_policy_ops fth_policy_nowait = {
	.abi = FTH_POLICY_ABI,
	.name = "nowait",
	.summary = "rigid jobs: idle nodes of the others first, the rest is rented at once; nobody queues",
	.params = nowait_params,
	.params_size = sizeof(struct sec_params),
	.init = init_nowait,
	.decide = decide,
	.fini = fini,
};

const struct fth_policy_ops fth_policy_local = {
	.abi = FTH_POLICY_ABI,
	.name = "local",
	.summary = "rigid jobs: a cluster of fixed size with backfilling",
	.params = local_params,
	.params_size = sizeof(struct sec_params),
	.init = init_local,
	.decide = decide,
	.fini = fini,
};

const struct fth_policy_ops fth_policy_sec = {
	.abi = FTH_POLICY_ABI,
	.name = "sec",
	.summary = "rigid jobs: a shared queue with backfilling on a cluster that grows and shrinks with it",
	.params = sec_params,
	.params_size = sizeof(struct sec_params),
	.init = init_elastic,
	.decide = decide,
	.fini = fini,
};
