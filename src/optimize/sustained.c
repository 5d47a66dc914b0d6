/* SPDX-License-Identifier: Apache-2.0 */
/* Discounts by how much of a calendar month a slot was used. */
#include "optimize/reserve.h"

static int compare_uses(const void *a, const void *b)
{
	const struct fth_use *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static double month_cost(double used_hours, double month_hours, double price)
{
	double cost = 0;
	for (int q = 0; q < 4; q++) {
		double part = FTH_MIN(used_hours - 0.25 * q * month_hours, 0.25 * month_hours);
		if (part > 0)
			cost += part * price * (1 - 0.2 * q);
	}
	/* A minimum may bill more than a month holds of a slot; that is at the last price too. */
	return cost + FTH_MAX(used_hours - month_hours, 0.0) * price * 0.4;
}

struct slot {
	fth_time free_at;
	int64_t month; /* of the hours gathered */
	double hours;
	double cost;
};

static void close_month(struct slot *s, double price)
{
	if (s->hours > 0) {
		double length = (double)(fth_month_start_day(s->month + 1) - fth_month_start_day(s->month)) * 24;
		s->cost += month_cost(s->hours, length, price);
	}
	s->hours = 0;
}

static void use_slot(struct slot *s, fth_time from, fth_time to, double price)
{
	while (from < to) {
		int64_t month = fth_month_of(from);
		fth_time end = FTH_MIN(to, fth_month_start_day(month + 1) * FTH_DAY);
		if (month != s->month)
			close_month(s, price);
		s->month = month;
		s->hours += (double)(end - from) / (double)FTH_HOUR;
		from = end;
	}
}

double fth_sustained_cost(struct fth_use *uses, size_t n, double price, fth_time epoch)
{
	struct fth_heap ends = {0}, free_slots = {0};
	FTH_VEC(struct slot) slots = {0};
	double cost = 0;
	qsort(uses, n, sizeof(*uses), compare_uses);
	for (size_t i = 0; i < n; i++) {
		while (ends.len && ends.data[0].time <= uses[i].from) {
			uint32_t s = fth_heap_pop(&ends).a;
			fth_heap_push(&free_slots, s, 0, s, 0, 0);
		}
		uint32_t s = (uint32_t)slots.len;
		if (free_slots.len)
			s = fth_heap_pop(&free_slots).a;
		else
			fth_vec_push(&slots, (struct slot){0});
		use_slot(&slots.data[s], epoch + uses[i].from, epoch + uses[i].to, price);
		fth_heap_push(&ends, uses[i].to, 0, s, 0, 0);
	}
	for (size_t s = 0; s < slots.len; s++) {
		close_month(&slots.data[s], price);
		cost += slots.data[s].cost;
	}
	fth_heap_release(&ends);
	fth_heap_release(&free_slots);
	fth_vec_release(&slots);
	return cost;
}
