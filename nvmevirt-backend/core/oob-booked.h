/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs and erases that are booked: what is on its way to NAND.
 *
 * The FTL books work on the dies ahead of time; the area shows NAND as it is. What is
 * booked waits in a list for each die until its end has come (a die does its work in
 * order). Only a power cut needs to know what has ended, so looking is put off until
 * then, or until the lists are full: then the work booked first counts as ended.
 */
#ifndef FTL_OOB_BOOKED_H
#define FTL_OOB_BOOKED_H

#include "oob.h"

/**
 * struct ftl_op - a program or erase that is booked
 * @start_ns: time at which it begins to change cells
 * @end_ns: time at which it is done
 * @delay_ns: time by which work of its die had been put off when it was booked
 * @stamp: number in the order of booking
 * @target: flash unit or erase block
 * @next: op that is booked next on the die, or the next free one, plus one, or 0
 * @is_erase: whether it is an erase
 * @is_draft: whether it is the program of a draft
 */
struct ftl_op {
	u64 start_ns;
	u64 end_ns;
	u64 delay_ns;
	u64 stamp;
	u32 target;
	u32 next;
	bool is_erase;
	bool is_draft;
};

/**
 * struct ftl_op_list - what is booked on a die
 * @first: op that ends first, plus one, or 0
 * @last: op that was booked last, plus one, or 0
 * @delay_ns: time by which reads have put off work of the die so far
 */
struct ftl_op_list {
	u32 first;
	u32 last;
	u64 delay_ns;
};

/**
 * ftl_oob_program() - book the program of an open unit
 * @from: place of its first slot
 * @end_ns: time at which it will be done
 *
 * The slots are empty afterwards.
 */
void ftl_oob_program(struct ftl_oob *oob, u32 from, u32 flash_unit, u64 end_ns);

/**
 * ftl_oob_write() - pages of a flash unit were written in place, which power loss does not undo
 * @end_ns: time at which the die is done with it
 */
void ftl_oob_write(struct ftl_oob *oob, u32 flash_unit, u64 end_ns);

/**
 * ftl_oob_draft() - book the program of a draft (draft.h) that holds nothing yet
 * @end_ns: time at which it will be done
 */
void ftl_oob_draft(struct ftl_oob *oob, u32 flash_unit, u64 end_ns);

/**
 * ftl_oob_draft_page() - put a copy of a page into the draft that was booked last
 * @from: the page's slot in an open unit, in which it stays
 * @to: its place in the draft
 */
void ftl_oob_draft_page(struct ftl_oob *oob, ppn_t from, ppn_t to);

/**
 * ftl_oob_erase() - book the erase of a block
 * @end_ns: time at which it will be done
 */
void ftl_oob_erase(struct ftl_oob *oob, u32 eblk, u64 end_ns);

/**
 * ftl_oob_count_down() - a die does an operation, with which the power may be going to fail
 * @end_ns: end of the operation
 *
 * For what is booked nowhere; all others count by themselves.
 */
void ftl_oob_count_down(struct ftl_oob *oob, die_t die, u64 end_ns);

/**
 * ftl_oob_delay() - a read has put off what a die was to do
 * @from_ns: what was to end after this time ends later, what was to begin then begins later
 * @delay_ns: by how much
 *
 * Return: the end of the last program that was put off, or 0.
 */
u64 ftl_oob_delay(struct ftl_oob *oob, die_t die, u64 from_ns, u64 delay_ns);

/**
 * ftl_oob_most_delay() - by how much was any op put off that has not ended, at most?
 */
u64 ftl_oob_most_delay(struct ftl_oob *oob);

/**
 * ftl_oob_settle() - whatever has ended shows in the area
 * @now_ns: U64_MAX: all that is booked counts as ended
 */
void ftl_oob_settle(struct ftl_oob *oob, u64 now_ns);

/**
 * ftl_oob_is_ended() - has the program of a flash unit ended?
 */
bool ftl_oob_is_ended(struct ftl_oob *oob, u32 flash_unit);

/**
 * ftl_oob_tear() - the power fails: what has begun is torn, what has not will not be done
 * @now_ns: time at which it does; what has ended by then must be settled
 */
void ftl_oob_tear(struct ftl_oob *oob, u64 now_ns);

#endif /* FTL_OOB_BOOKED_H */
