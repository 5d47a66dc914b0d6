/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a journal. */
#include "store/journal.h"

#include "store/record.h"

int fth_journal_world(const struct fth_world *from, struct fth_world *to, struct fth_error *err)
{
	struct fth_str text[3] = {{0}};
	int r = fth_world_text(from, text, err);
	if (!r)
		r = fth_world_from_text(to, text, "journal", false, err);
	/* The market is not in the journal: what it did is, as events. */
	if (!r && from->has_market) {
		fth_market_copy(&to->market, &from->market);
		to->has_market = true;
	}
	for (int i = 0; i < 3; i++)
		fth_str_release(&text[i]);
	return r;
}

struct fth_journal {
	struct fth_recorder recorder;
	struct fth_output *out;
	struct fth_error failed; /* the first write that failed */
};

static void emit(void *arg, const char *line, size_t n)
{
	struct fth_journal *j = arg;
	if (!j->failed.code && !fth_output_write(j->out, line, n, &j->failed))
		fth_output_write(j->out, "\n", 1, &j->failed);
}

static size_t count_lines(const struct fth_str *s)
{
	size_t n = 0;
	for (size_t i = 0; i < s->len; i++)
		n += s->data[i] == '\n';
	return n;
}

static int write_head(struct fth_journal *j, const struct fth_world *w, const char *policy, const char *fallback,
		      const struct fth_limits *limits, struct fth_error *err)
{
	static const char *const names[] = {"catalog", "profile", "workload"};
	struct fth_str head = {0}, text[3] = {{0}};
	int r = fth_world_text(w, text, err);
	fth_str_addf(&head, "farthing-journal 1\npolicy %s\n", policy);
	if (fallback)
		fth_str_addf(&head, "fallback %s\n", fallback);
	fth_str_addf(&head, "max_instances %u\n", limits->max_instances);
	if (limits->usd_per_hour || limits->usd_per_month || limits->moves_per_hour || limits->disturbed_ppm) {
		fth_str_add(&head, "limits ");
		fth_limits_write(&head, limits);
		fth_str_addc(&head, '\n');
	}
	for (int i = 0; i < 3; i++) {
		if (text[i].len)
			fth_str_addf(&head, "%s %zu\n", names[i], count_lines(&text[i]));
		fth_str_addn(&head, text[i].data, text[i].len);
		fth_str_release(&text[i]);
	}
	fth_str_add(&head, "run\n");
	if (!r)
		r = fth_output_write(j->out, head.data, head.len, err);
	fth_str_release(&head);
	return r;
}

int fth_journal_create(struct fth_journal **ret, const char *path, const struct fth_world *w,
		       const struct fth_policy_choice *policy, const struct fth_policy_ops *fallback,
		       const struct fth_limits *limits, struct fth_error *err)
{
	struct fth_journal *j = fth_alloc(sizeof(*j));
	int r = fth_output_open(&j->out, path, err);
	if (!r)
		r = write_head(j, w, policy->text, fallback ? fallback->name : NULL, limits, err);
	if (r) {
		fth_journal_abort(j);
		return r;
	}
	fth_recorder_init(&j->recorder, emit, j);
	*ret = j;
	return 0;
}

struct fth_observer *fth_journal_observer(struct fth_journal *j)
{
	return &j->recorder.base;
}

int fth_journal_commit(struct fth_journal *j, const struct fth_engine *e, struct fth_error *err)
{
	fth_recorder_end(&j->recorder, e);
	if (j->failed.code) {
		int code = fth_fail(err, j->failed.code, "%s", j->failed.text);
		fth_journal_abort(j);
		return code;
	}
	int r = fth_output_commit(j->out, err);
	j->out = NULL;
	fth_journal_abort(j);
	return r;
}

void fth_journal_abort(struct fth_journal *j)
{
	if (!j)
		return;
	fth_output_abort(j->out);
	fth_recorder_release(&j->recorder);
	free(j);
}
