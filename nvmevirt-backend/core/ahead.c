// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of a die's work where reads go first. All operations behind a read are put off by the
 * same time, also across a gap between them, in which the die would have rested: so whoever keeps
 * their ends elsewhere can follow with one number.
 */
#include "ahead.h"

static u32 index_of(const struct ftl_ahead *ahead, u32 at)
{
	return (ahead->first + at) % FTL_AHEAD_OPS;
}

static void forget_ended(struct ftl_ahead *ahead, u64 now_ns)
{
	while (ahead->nr && ahead->op[ahead->first].end_ns <= now_ns) {
		ahead->first = index_of(ahead, 1);
		ahead->nr--;
	}
}

void ftl_ahead_add(struct ftl_ahead *ahead, const struct ftl_ahead_op *op, u64 now_ns)
{
	struct ftl_ahead_op *last;

	forget_ended(ahead, now_ns);
	if (ahead->nr < FTL_AHEAD_OPS) {
		ahead->op[index_of(ahead, ahead->nr++)] = *op;
		return;
	}
	last = &ahead->op[index_of(ahead, ahead->nr - 1)];
	last->end_ns = op->end_ns;
	last->nr_left = 0;
}

void ftl_ahead_aim(struct ftl_ahead *ahead, u32 flash_unit)
{
	if (ahead->nr)
		ahead->op[index_of(ahead, ahead->nr - 1)].flash_unit = flash_unit + 1;
}

/* The operations that have to be done before this unit can be read, whatever else. */
static u32 count_bound(const struct ftl_ahead *ahead, u32 flash_unit, u64 fixed_ns)
{
	u32 nr = ahead->nr;

	for (; nr; nr--) {
		const struct ftl_ahead_op *op = &ahead->op[index_of(ahead, nr - 1)];

		if (op->end_ns <= fixed_ns || op->flash_unit == flash_unit + 1)
			break;
	}
	return nr;
}

bool ftl_ahead_find(const struct ftl_ahead *ahead, struct ftl_ahead_gap *gap, u32 flash_unit,
		    u64 fixed_ns)
{
	u32 at = count_bound(ahead, flash_unit, fixed_ns);
	u64 start_ns = max(gap->start_ns, ahead->read_ns);

	if (at)
		start_ns = max(start_ns, ahead->op[index_of(ahead, at - 1)].end_ns);
	for (; at < ahead->nr; at++) {
		const struct ftl_ahead_op *op = &ahead->op[index_of(ahead, at)];

		if (op->end_ns <= start_ns)
			continue;
		gap->at = at;
		gap->start_ns = start_ns;
		gap->is_suspended = op->start_ns < start_ns;
		gap->from_ns = op->start_ns;
		if (gap->is_suspended) {
			gap->from_ns = max(start_ns, op->cells_ns);
			gap->start_ns = gap->from_ns;
		}
		if (op->nr_left && gap->from_ns < op->end_ns)
			return true;
		start_ns = op->end_ns;
	}
	return false;
}

u64 ftl_ahead_read(struct ftl_ahead *ahead, const struct ftl_ahead_gap *gap, u64 end_ns)
{
	struct ftl_ahead_op *op = &ahead->op[index_of(ahead, gap->at)];
	u64 delay_ns;

	ahead->read_ns = end_ns;
	if (end_ns <= gap->from_ns)
		return 0;
	delay_ns = end_ns - gap->from_ns;
	op->nr_left--;
	if (gap->is_suspended) {
		/* What is left of it begins when the read is done. */
		op->start_ns = gap->from_ns;
		op->cells_ns = gap->from_ns;
	}
	for (u32 at = gap->at; at < ahead->nr; at++) {
		op = &ahead->op[index_of(ahead, at)];
		op->start_ns += delay_ns;
		op->cells_ns += delay_ns;
		op->end_ns += delay_ns;
	}
	return delay_ns;
}
