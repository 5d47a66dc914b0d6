/* SPDX-License-Identifier: Apache-2.0 */
#include "policies/hybrid/draw.h"

enum { N = FTH_MT_WORDS, M = 397 };

/* Seeded by an array of words, as is done there with any whole number. */
void fth_draw_seed(struct fth_draw *d, uint64_t seed)
{
	const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
	const uint32_t len = key[1] ? 2 : 1;
	uint32_t *mt = d->mt, i = 1, j = 0;
	mt[0] = 19650218u;
	for (uint32_t k = 1; k < N; k++)
		mt[k] = 1812433253u * (mt[k - 1] ^ (mt[k - 1] >> 30)) + k;
	for (uint32_t k = N; k; k--) {
		mt[i] = (mt[i] ^ ((mt[i - 1] ^ (mt[i - 1] >> 30)) * 1664525u)) + key[j] + j;
		if (++i >= N) {
			mt[0] = mt[N - 1];
			i = 1;
		}
		if (++j >= len)
			j = 0;
	}
	for (uint32_t k = N - 1; k; k--) {
		mt[i] = (mt[i] ^ ((mt[i - 1] ^ (mt[i - 1] >> 30)) * 1566083941u)) - i;
		if (++i >= N) {
			mt[0] = mt[N - 1];
			i = 1;
		}
	}
	mt[0] = 0x80000000u;
	d->at = N;
}

static uint32_t twist(uint32_t hi, uint32_t lo, uint32_t other)
{
	uint32_t y = (hi & 0x80000000u) | (lo & 0x7fffffffu);
	return other ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
}

static void refill(struct fth_draw *d)
{
	uint32_t *mt = d->mt;
	int k = 0;
	for (; k < N - M; k++)
		mt[k] = twist(mt[k], mt[k + 1], mt[k + M]);
	for (; k < N - 1; k++)
		mt[k] = twist(mt[k], mt[k + 1], mt[k + M - N]);
	mt[N - 1] = twist(mt[N - 1], mt[0], mt[M - 1]);
	d->at = 0;
}

static uint32_t next_word(struct fth_draw *d)
{
	if (d->at >= N)
		refill(d);
	uint32_t y = d->mt[d->at++];
	y ^= y >> 11;
	y ^= (y << 7) & 0x9d2c5680u;
	y ^= (y << 15) & 0xefc60000u;
	return y ^ (y >> 18);
}

double fth_draw_real(struct fth_draw *d)
{
	uint32_t a = next_word(d) >> 5, b = next_word(d) >> 6;
	return ((double)a * 67108864.0 + (double)b) * (1.0 / 9007199254740992.0);
}
