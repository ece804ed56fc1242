// SPDX-License-Identifier: GPL-2.0-only
/*
 * Entries of summaries, and the pages that they stand on. An lpn stands there plus one, so
 * that zeroes mean that nothing was written.
 *
 * The header of such a page has the last operation among its entries, and names segment and
 * page, so that a summary that is left of another segment does not pass for this one's.
 */
#include "summary.h"

static u32 entry_of(u32 page)
{
	return page % DMDA_SUMMARIES_PER_PAGE;
}

bool dmda_summary_get(const struct dmda_summary_block *summary, u32 page,
		      struct dmda_written *written)
{
	const struct dmda_summary_entry *entry =
		&summary[page / DMDA_SUMMARIES_PER_PAGE].entry[entry_of(page)];
	u64 lpn = dmda_get_bytes(entry->lpn, sizeof(entry->lpn));

	if (!lpn)
		return false;
	written->lpn = to_lpn(lpn - 1);
	written->seq = dmda_get_bytes(entry->seq, sizeof(entry->seq));
	written->fpage = le32_to_cpu(entry->fpage);
	written->file = le64_to_cpu(entry->file);
	return true;
}

static struct dmda_block_id id_of(const struct dmda_super *super, seg_t seg, u32 page)
{
	return (struct dmda_block_id){
		.magic = DMDA_MAGIC_SUMMARY,
		.nr_entries = min(dmda_super_data_pages(super) - page * DMDA_SUMMARIES_PER_PAGE,
				  (u32)DMDA_SUMMARIES_PER_PAGE),
		.dpn = to_dpn(from_dpn(dmda_summary_dpn(super, seg)) + page),
		.index = (u64)from_seg(seg) << 16 | page,
		.uuid = super->uuid,
	};
}

static u64 highest_seq(const struct dmda_summary_block *block)
{
	u64 seq = 0;

	for (u32 i = 0; i < DMDA_SUMMARIES_PER_PAGE; i++)
		seq = max(seq, dmda_get_bytes(block->entry[i].seq, sizeof(block->entry[i].seq)));
	return seq;
}

void dmda_summary_seal(struct dmda_summary_block *summary, const struct dmda_super *super,
		       seg_t seg, u64 epoch)
{
	for (u32 page = 0; page < super->summary_pages; page++) {
		struct dmda_block_id id = id_of(super, seg, page);

		id.seq = highest_seq(&summary[page]);
		id.epoch = epoch;
		dmda_block_seal(&summary[page], &id);
	}
}

const char *dmda_summary_check(const struct dmda_summary_block *summary,
			       const struct dmda_super *super, seg_t seg)
{
	for (u32 page = 0; page < super->summary_pages; page++) {
		const struct dmda_block_id id = id_of(super, seg, page);
		const char *why = dmda_block_check(&summary[page], &id);

		if (why)
			return why;
	}
	return NULL;
}
