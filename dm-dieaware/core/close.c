// SPDX-License-Identifier: GPL-2.0-only
/*
 * A segment that is closed is one whose pages cleaning looks up in its summary. So the summary has
 * all of them, and is durable when the segment is closed after a crash.
 */
#include "close.h"

void dmda_close_init(struct dmda_closing *closing, const struct dmda_opened *opened)
{
	closing->opened = opened;
	closing->step = DMDA_CLOSE_DONE;
	for (u32 i = 0; i < DMDA_MAX_OPEN; i++)
		closing->open[i] = (struct dmda_open){ .seg = SEG_NONE };
}

void dmda_close_opened(struct dmda_closing *closing, u8 open, seg_t seg, u64 mtime)
{
	closing->open[open] = (struct dmda_open){ .seg = seg, .mtime = mtime };
}

static bool can_be_closed(const struct dmda_open *open)
{
	return open->seg != SEG_NONE && open->is_retired && !open->nr_writing;
}

void dmda_close_took(struct dmda_closing *closing, u8 open, u32 nr_pages)
{
	closing->open[open].nr_writing += nr_pages;
}

bool dmda_close_placed(struct dmda_closing *closing, u8 open, u32 nr_pages)
{
	closing->open[open].nr_writing -= nr_pages;
	return can_be_closed(&closing->open[open]);
}

bool dmda_close_retire(struct dmda_closing *closing, u8 open)
{
	closing->open[open].is_retired = true;
	return can_be_closed(&closing->open[open]);
}

bool dmda_close_begin(struct dmda_closing *closing, u8 open)
{
	const struct dmda_open *segment = &closing->open[open];

	if (!can_be_closed(segment))
		return false;
	closing->which = open;
	closing->record = (struct dmda_record){
		.kind = DMDA_RECORD_CLOSE, .seg = segment->seg, .mtime = segment->mtime,
	};
	closing->step = DMDA_CLOSE_SUMMARY;
	return true;
}

dpn_t dmda_close_copy(const struct dmda_closing *closing, struct dmda_summary_block *memory,
		      u64 epoch)
{
	const struct dmda_super *super = closing->opened->super;

	dmda_opened_summary(closing->opened, closing->which, memory);
	dmda_summary_seal(memory, super, closing->record.seg, epoch);
	return dmda_summary_dpn(super, closing->record.seg);
}

void dmda_close_did(struct dmda_closing *closing, int error)
{
	if (closing->step >= DMDA_CLOSE_DONE)
		return;
	if (error) {
		closing->step = DMDA_CLOSE_FAILED;
		return;
	}
	if (++closing->step == DMDA_CLOSE_DONE)
		closing->open[closing->which].seg = SEG_NONE;
}
