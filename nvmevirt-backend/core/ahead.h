/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a die has ahead of it, so that a read can go before it.
 *
 * A die that suspends (params.suspend_program, .suspend_erase) serves reads first:
 *
 *	asked     | program A ................ | program B ................. |
 *	read at        ^
 *	done      | A  |ns| tR, transfer | rest of A ............ | program B ...
 *
 * suspend_ns pass until an operation that has begun lets the die read; a read that comes before
 * the rest goes on finds the die ready. What is behind is done later by as much. An operation
 * gives way so often at most, whether it has begun or not; then reads wait for its end. So they
 * do for the program of what they are to read, and for work whose end was promised.
 *
 * While its data crosses the channel, and while a copy is sensed, the die does not give way. The
 * latest FTL_AHEAD_OPS operations are known apart. What is booked beyond counts as one, which
 * does not give way. Reads of a die keep their order among themselves.
 */
#ifndef FTL_AHEAD_H
#define FTL_AHEAD_H

#include <dieaware/platform.h>

#define FTL_AHEAD_OPS	64U

/**
 * struct ftl_ahead_op - a program, erase or sense for a copy
 * @start_ns: time at which the die begins with it, or goes on
 * @cells_ns: time from which it can be suspended; @end_ns: never
 * @end_ns: time at which it is done
 * @flash_unit: flash unit that it programs plus one, or 0
 * @nr_left: number of reads to which it still gives way
 */
struct ftl_ahead_op {
	u64 start_ns;
	u64 cells_ns;
	u64 end_ns;
	u32 flash_unit;
	u32 nr_left;
};

/**
 * struct ftl_ahead - work of one die that has not ended, or has only just
 * @first: entry of @op that was booked first
 * @nr: number of entries
 * @read_ns: end of the read that was booked last
 * @op: ring of operations in the order in which they are done
 */
struct ftl_ahead {
	u32 first;
	u32 nr;
	u64 read_ns;
	struct ftl_ahead_op op[FTL_AHEAD_OPS];
};

/**
 * struct ftl_ahead_gap - where a read can go
 * @start_ns: time at which it wants to begin; then at which it can
 * @from_ns: time from which the die has to put off what it was to do
 * @at: entry that gives way, counted from the first
 * @is_suspended: whether that has begun
 */
struct ftl_ahead_gap {
	u64 start_ns;
	u64 from_ns;
	u32 at;
	bool is_suspended;
};

/**
 * ftl_ahead_add() - an operation is booked behind all others
 * @now_ns: present time, or before it: what has ended by then is forgotten
 */
void ftl_ahead_add(struct ftl_ahead *ahead, const struct ftl_ahead_op *op, u64 now_ns);

/**
 * ftl_ahead_aim() - the operation that was booked last programs this flash unit
 */
void ftl_ahead_aim(struct ftl_ahead *ahead, u32 flash_unit);

/**
 * ftl_ahead_find() - find what gives way to a read
 * @gap: @start_ns is set; gets the rest
 * @flash_unit: what is to be read
 * @fixed_ns: what ends until then does not give way
 *
 * Return: whether there is something. If not, the read comes when all is done.
 */
bool ftl_ahead_find(const struct ftl_ahead *ahead, struct ftl_ahead_gap *gap, u32 flash_unit,
		    u64 fixed_ns);

/**
 * ftl_ahead_read() - a read goes where ftl_ahead_find() has found room
 * @end_ns: its end
 *
 * Return: by how much later all that ends after @gap->from_ns is done, 0 if it fits.
 */
u64 ftl_ahead_read(struct ftl_ahead *ahead, const struct ftl_ahead_gap *gap, u64 end_ns);

#endif /* FTL_AHEAD_H */
