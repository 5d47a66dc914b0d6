/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers, elementary functions with the same bits everywhere, repeated addition, months. */
#include "base/base.h"

#include <float.h>
#include <math.h>

static uint64_t rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

/* xoshiro256**, its state filled by splitmix64 from the three numbers. */
void fth_rng_seed(struct fth_rng *r, uint64_t seed, uint64_t stream, uint64_t id)
{
	uint64_t x = fth_hash_u64(seed) ^ rotl(fth_hash_u64(stream + 1), 21) ^ rotl(fth_hash_u64(id + 2), 42);
	for (int i = 0; i < 4; i++) {
		x += 0x9e3779b97f4a7c15u;
		r->s[i] = fth_hash_u64(x);
	}
}

uint64_t fth_rng_u64(struct fth_rng *r)
{
	uint64_t *s = r->s, result = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return result;
}

double fth_rng_real(struct fth_rng *r)
{
	return (double)(fth_rng_u64(r) >> 11) * 0x1p-53;
}

uint64_t fth_rng_below(struct fth_rng *r, uint64_t n)
{
	uint64_t limit = UINT64_MAX - UINT64_MAX % n, x;
	do
		x = fth_rng_u64(r);
	while (x >= limit);
	return x % n;
}

double fth_rng_exponential(struct fth_rng *r, double mean)
{
	return -mean * fth_log(1.0 - fth_rng_real(r));
}

/* Marsaglia's polar method: logarithm and square root only, so the same bits everywhere. */
double fth_rng_normal(struct fth_rng *r)
{
	for (;;) {
		double x = 2 * fth_rng_real(r) - 1, y = 2 * fth_rng_real(r) - 1, s = x * x + y * y;
		if (s > 0 && s < 1)
			return x * sqrt(-2 * fth_log(s) / s);
	}
}

/* ln x = e ln 2 + 2 atanh((m-1)/(m+1)), m in [sqrt(1/2), sqrt 2): twelve odd terms give 1 ulp or so. */
double fth_log(double x)
{
	if (!(x > 0))
		return x == 0 ? -INFINITY : NAN;
	int e;
	double m = frexp(x, &e);
	if (m < 0.70710678118654752440) {
		m *= 2;
		e--;
	}
	double z = (m - 1) / (m + 1), z2 = z * z, sum = 0;
	for (int k = 23; k >= 1; k -= 2)
		sum = sum * z2 + 1.0 / k;
	return e * 0.69314718055994530942 + 2 * z * sum;
}

double fth_exp(double x)
{
	if (x > 709)
		return INFINITY;
	if (x < -745)
		return 0;
	double k = floor(x / 0.69314718055994530942 + 0.5);
	double r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10, sum = 1;
	for (int i = 18; i >= 1; i--)
		sum = 1 + sum * r / i;
	return ldexp(sum, (int)k);
}

double fth_pow10(double x)
{
	return fth_exp(x * 2.30258509299404568402);
}

/*
 * Adding the same x again and again: as long as the sum stays below the next power of two, its unit
 * in the last place u is the same, and so every addition adds the same multiple of u: x rounded to u.
 * (Only when x lies exactly between two multiples does the rounding depend on the sum: then we add
 * one at a time.) So whole stretches can be taken at once, with exactly the bits of the loop.
 */
static uint64_t stretch(double sum, double x, double *ret_step)
{
	double next = sum + x;
	int e;
	frexp(next, &e);
	double limit = ldexp(1.0, e), u = ldexp(1.0, e - DBL_MANT_DIG);
	double step = next - sum; /* exact when sum >= x and both are in the binade */
	if (sum < limit / 2 || step + sum != next)
		return 0;
	double rest = x / u, low = floor(rest);
	if (rest - low == 0.5)
		return 0;
	/* Steps that stay at or below the limit; one less for safety. */
	double n = floor((limit - sum) / step) - 1;
	*ret_step = step;
	return n >= 1 ? (n < 0x1p52 ? (uint64_t)n : (uint64_t)1 << 52) : 0;
}

double fth_repeat_add(double sum, double x, uint64_t n)
{
	if (!(x > 0))
		return sum;
	while (n) {
		double step;
		uint64_t m = n > 4 ? stretch(sum, x, &step) : 0;
		if (m > 1) {
			m = FTH_MIN(m, n);
			/* m * step is a multiple of u below 2^53 u, hence exact. */
			sum += (double)m * step;
			n -= m;
		} else {
			if (sum + x == sum)
				return sum;
			sum += x;
			n--;
		}
	}
	return sum;
}

uint64_t fth_repeat_until(double sum, double x, double goal)
{
	uint64_t n = 0;
	if (sum >= goal)
		return 0;
	if (!(x > 0))
		return UINT64_MAX;
	while (sum < goal) {
		double step;
		uint64_t m = goal - sum > 4 * x ? stretch(sum, x, &step) : 0;
		if (m > 1) {
			double want = floor((goal - sum) / step) - 1;
			if (want < (double)m)
				m = want < 1 ? 1 : (uint64_t)want;
		}
		if (m > 1) {
			sum += (double)m * step;
			n += m;
		} else {
			if (sum + x == sum)
				return UINT64_MAX;
			sum += x;
			n++;
		}
	}
	return n;
}

int64_t fth_month_start_day(int64_t month)
{
	static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
	int64_t year = 1970 + month / 12, m = month % 12, y = year - 1;
	int64_t days = (year - 1970) * 365 + (y / 4 - 492) - (y / 100 - 19) + (y / 400 - 4) + before[m];
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return days + (m >= 2 && leap);
}

int64_t fth_month_of(int64_t at)
{
	int64_t day = at / FTH_DAY, month = day / 31; /* never too late */
	while (fth_month_start_day(month + 1) <= day)
		month++;
	return month;
}
