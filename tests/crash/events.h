/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What happened, in one order: what the device below was asked for and answered, and what the
 * user asked for and was promised.
 *
 * The data of writes is in the log of dm-log-writes. Its order is not enough: a write
 * without FUA gets into the log only with the next flush that is asked for after it was
 * done, while one with FUA gets there at once. So a write that was submitted, say, after
 * a FUA write had been done stands in the log behind it like one that was submitted before, and the
 * log knows only that what was done before a flush was asked for stands before that flush.
 * To cut at every write one must know what had been submitted by then. That is in the
 * kernel's trace of the device below the log (block_bio_queue, block_bio_complete),
 * and with it, in the same order, stand the user's marks. Each write of the trace is
 * found in the log by its place: writes to the same place with the same flags are
 * logged in the order in which they were done.
 */
#ifndef CRASH_EVENTS_H
#define CRASH_EVENTS_H

#include <dieaware/platform.h>

enum event_kind {
	EVENT_QUEUE,	/* a bio is submitted to the device below */
	EVENT_DONE,	/* it is done */
	EVENT_OP,	/* the user submits an operation */
	EVENT_OP_DONE,
	EVENT_OP_FAILED,
	EVENT_FLUSH,	/* the user submits a flush */
	EVENT_FLUSH_DONE,
	EVENT_PROMISE,	/* something is promised of a file, see files.py */
};

/**
 * struct event - something that happened
 * @kind: EVENT_*
 * @index: of bios (QUEUE, DONE) or operations
 * @line: of the trace
 */
struct event {
	enum event_kind kind;
	u64 index;
	u64 line;
};

/**
 * struct bio - a write, discard or flush of the device below
 * @sector: first
 * @nr_sectors: 0 for a mere flush
 * @is_flush: all that was done before it was submitted is durable when it is done
 * @is_fua: it is durable when it is done
 * @is_discard: nobody knows what its sectors hold from then on
 * @is_done: it has been
 * @is_good: and it did not fail
 * @is_matched: it was found in the log
 * @data: what is written
 */
struct bio {
	u64 sector;
	u32 nr_sectors;
	bool is_flush;
	bool is_fua;
	bool is_discard;
	bool is_done;
	bool is_good;
	bool is_matched;
	const u8 *data;
};

/* enum op_kind - what an operation does to its pages */
enum op_kind {
	OP_NONE,
	OP_WRITE,
	OP_ZERO,
};

/**
 * struct op - an operation of the user
 * @kind: OP_*; OP_NONE: a flush, or another run's
 * @is_fua: its pages are durable when it is done
 * @lpn: first page
 * @nr_pages: how many
 */
struct op {
	enum op_kind kind;
	bool is_fua;
	u64 lpn;
	u32 nr_pages;
};

/**
 * struct events - all of it
 * @event: in order
 * @nr: how many
 * @nr_lines: of the trace
 * @bio: in the order of submission
 * @nr_bios: how many
 * @op: by ID less @first_id
 * @nr_ops: how many
 * @first_id: the first ID
 */
struct events {
	struct event *event;
	u64 nr;
	u64 nr_lines;
	struct bio *bio;
	u64 nr_bios;
	struct op *op;
	u64 nr_ops;
	u64 first_id;
};

/**
 * events_read() - read a trace and a log
 *
 * What cannot be understood ends the program with a sentence and status 2.
 */
void events_read(struct events *events, const char *trace_file, const char *log_file);

/**
 * events_is_place() - may a power failure leave something else from this event on, or was
 *	something promised by it?
 */
bool events_is_place(const struct events *events, const struct event *event);

#endif /* CRASH_EVENTS_H */
