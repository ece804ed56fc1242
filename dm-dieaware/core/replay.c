// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records put together to operations. An operation may begin in one sector and end in a
 * later one, so what was collected stays from sector to sector.
 *
 * Within an operation only one order can be: what it does comes first, then checksums of what it
 * maps, and behind these what lost its page by it. A journal whose sectors check, but which has
 * another order, was not written by the target, and is refused.
 */
#include "replay.h"

static void begin_op(struct dmda_op *op, u64 seq)
{
	op->seq = seq;
	op->nr_records = 0;
	op->nr_sums = 0;
	op->is_whole = false;
}

void dmda_replay_init(struct dmda_replay *replay, struct dmda_op *op, u64 next_seq)
{
	replay->sector = NULL;
	replay->at = 0;
	replay->op = op;
	replay->why = NULL;
	begin_op(op, next_seq);
}

void dmda_replay_sector(struct dmda_replay *replay, const struct dmda_journal_sector *sector)
{
	replay->sector = sector;
	replay->at = 0;
}

/* Checksums follow what they are of: a MAP, or others. */
static const char *check_checksums(const struct dmda_op *op, const struct dmda_record *sums)
{
	if (op->nr_records != 1 || op->record[0].kind != DMDA_RECORD_MAP)
		return "the journal has checksums of nothing";
	return sums->nr_pages > DMDA_MAP_SUMS_ENTRIES - op->nr_sums ?
		"an operation of the journal has too many checksums" : NULL;
}

/* MAP and TRIM come first and have DEAD behind them; the others are alone. */
static const char *check_order(const struct dmda_op *op, const struct dmda_record *record)
{
	if (record->kind == DMDA_RECORD_SUMS)
		return check_checksums(op, record);
	if (op->nr_records == DMDA_MAX_OP_RECORDS)
		return "an operation of the journal is too long";
	if (record->kind == DMDA_RECORD_DEAD)
		return op->nr_records && dmda_op_pages(op) ?
			NULL : "an operation of the journal has no beginning";
	return op->nr_records ? "an operation of the journal has two beginnings" : NULL;
}

/* What stands behind the records becomes one of them, or checksums. Return: whether it is whole. */
static bool take_record(struct dmda_replay *replay)
{
	struct dmda_op *op = replay->op;
	const struct dmda_record *record = &op->record[op->nr_records];

	replay->why = check_order(op, record);
	if (replay->why)
		return false;
	if (!op->nr_records)
		op->sector = le64_to_cpu(replay->sector->sector);
	if (record->kind == DMDA_RECORD_SUMS) {
		memcpy(&op->sum[op->nr_sums], record->sums, record->nr_pages * DMDA_SUM_BYTES);
		op->nr_sums += record->nr_pages;
	} else {
		op->nr_records++;
	}
	op->is_whole = record->is_last;
	return op->is_whole;
}

const struct dmda_op *dmda_replay_next(struct dmda_replay *replay)
{
	const struct dmda_journal_sector *sector = replay->sector;
	unsigned int end = sector ? dmda_journal_bytes(sector) : 0;

	if (replay->op->is_whole)
		begin_op(replay->op, replay->op->seq + 1);
	while (!replay->why && replay->at < end) {
		struct dmda_op *op = replay->op;
		unsigned int bytes = dmda_record_decode(&sector->records[replay->at],
							end - replay->at,
							&op->record[op->nr_records]);

		if (!bytes) {
			replay->why = "the journal has a record that is none";
			break;
		}
		replay->at += bytes;
		if (take_record(replay))
			return op;
	}
	return NULL;
}

const char *dmda_op_complaint(const struct dmda_op *op, const struct dmda_super *super)
{
	const struct dmda_record *pages = dmda_op_pages(op);
	u32 nr_sums = 0;

	if (!pages)
		return NULL;
	if (from_lpn(pages->lpn) >= super->nr_lpns ||
	    pages->nr_pages > super->nr_lpns - from_lpn(pages->lpn))
		return "the journal names pages behind the end of the device";
	if (pages->nr_pages > dmda_super_map_entries(super))
		return "an operation of the journal is about three pages of the map";
	if (pages->kind == DMDA_RECORD_MAP && dmda_super_has_sums(super))
		nr_sums = pages->nr_pages;
	return op->nr_sums == nr_sums ? NULL :
		"an operation of the journal has not a checksum of each of its pages";
}
