/* SPDX-License-Identifier: Apache-2.0 */
/* Which known word was meant by an unknown one. */
#include "cli/options.h"

enum { WORD_MAX = 48 };

/* Edits between two words: insert, delete, replace, or swap two neighbours. */
static unsigned distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned row[3][WORD_MAX + 1];
	for (size_t j = 0; j <= m; j++)
		row[0][j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned *now = row[i % 3], *up = row[(i + 2) % 3], *upup = row[(i + 1) % 3];
		now[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned best = up[j - 1] + (a[i - 1] != b[j - 1]);
			best = FTH_MIN(best, up[j] + 1);
			best = FTH_MIN(best, now[j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = FTH_MIN(best, upup[j - 2] + 1);
			now[j] = best;
		}
	}
	return row[n % 3][m];
}

void fth_nearest_init(struct fth_nearest *n, const char *word, size_t len)
{
	/* A third of the word may be wrong; of a short word, one letter. */
	*n = (struct fth_nearest){.word = word, .len = len, .distance = (unsigned)(len < 6 ? 1 : len / 3) + 1};
}

void fth_nearest_try(struct fth_nearest *n, const char *candidate)
{
	size_t m = strlen(candidate);
	if (n->len > WORD_MAX || m > WORD_MAX)
		return;
	unsigned d = distance(n->word, n->len, candidate, m);
	/* A word cut short is meant as its whole. */
	if (n->len >= 3 && n->len < m && !strncmp(n->word, candidate, n->len))
		d = 1;
	if (d < n->distance) {
		n->distance = d;
		n->best = candidate;
	}
}

const char *fth_nearest_hint(const struct fth_nearest *n, const char *before, char *buf, size_t size)
{
	buf[0] = '\0';
	if (n->best)
		snprintf(buf, size, " (did you mean '%s%s'?)", before, n->best);
	return buf;
}
