/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of the API: a path that only looks, and a body that is to be a job. The first line is the path, the rest the body. */
#include "live_keeper.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct live_keeper l;

static void finish(void)
{
	live_keeper_close(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool open;
	struct fth_asker who = {.by = "fuzz", .uid = 0, .gid = 0, .trusted = true};
	struct fth_answer answer = {.type = "application/json"};
	if (!open) {
		live_keeper_open(&l);
		atexit(finish);
		open = true;
	}
	const char *end = memchr(data, '\n', size);
	char *path = fth_strndup((const char *)data, end ? (size_t)(end - (const char *)data) : size);
	const char *body = end ? end + 1 : "";
	size_t n = end ? size - (size_t)(body - (const char *)data) : 0;
	if (strcmp(path, "/v1/bill")) { /* which is the keeper's thread to answer */
		fth_route(&l.k, &who, "GET", path, "done", body, n, &answer);
		if (answer.status < 200 || answer.status > 599 || !answer.text.len)
			abort();
		fth_str_release(&answer.text);
	}
	json_t *doc = json_loadb(body, n, JSON_REJECT_DUPLICATES, NULL);
	if (json_is_object(doc)) {
		struct fth_world w;
		struct fth_error err = {0};
		if (fth_job_read(&w, l.k.cluster, doc, "job", 0, &err) && !err.text[0])
			abort();
		fth_world_release(&w);
	}
	json_decref(doc);
	free(path);
	return 0;
}
