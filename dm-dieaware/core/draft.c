// SPDX-License-Identifier: GPL-2.0-only
/*
 * A draft is put together like any batch, and differs from it in two places of its first sector:
 * the bit that says what it is, and the checksum of its data behind the records. Checksums of its
 * pages, which a device may have among the records, are known later than the rest, when no lock is
 * held.
 */
#include "draft.h"
#include "replay.h"

#define SUM_AT			(DMDA_RECORDS_BYTES - DMDA_SUM_BYTES)

/* Checksums of pages are behind the MAP. */
#define PAGE_SUMS_AT		(sizeof(struct dmda_record_map) + sizeof(struct dmda_record_sums))

u32 dmda_draft_sum(const __le32 *sums, u32 nr_pages)
{
	return crc32c(~0U, sums, nr_pages * DMDA_SUM_BYTES);
}

void dmda_draft_begin(struct dmda_draft *draft, const struct dmda_super *super,
		      const struct dmda_journal_place *place)
{
	dmda_journal_begin(&draft->batch, super, draft->sectors, super->journal_unit_sectors,
			   place);
}

bool dmda_draft_end(struct dmda_draft *draft, const struct dmda_super *super,
		    const struct dmda_draft_pages *pages)
{
	struct dmda_journal_sector *first = draft->sectors;
	struct dmda_journal_place next;

	if (draft->batch.nr_used != 1 || dmda_journal_bytes(first) > SUM_AT)
		return false;
	draft->nr = dmda_journal_end(&draft->batch, super, &next);
	first->nr_bytes |= cpu_to_le16(DMDA_SECTOR_DRAFT);
	draft->pages = *pages;
	draft->is_written = false;
	draft->is_void = false;
	return true;
}

void dmda_draft_seal(struct dmda_draft *draft, const struct dmda_super *super, const __le32 *sums)
{
	u8 *records = draft->sectors->records;
	u32 nr_pages = draft->pages.nr_pages;
	__le32 sum = cpu_to_le32(dmda_draft_sum(sums, nr_pages));

	if (dmda_super_has_sums(super))
		memcpy(&records[PAGE_SUMS_AT], sums, nr_pages * DMDA_SUM_BYTES);
	memcpy(&records[SUM_AT], &sum, sizeof(sum));
	draft->chain = dmda_journal_seal(&draft->batch);
}

void dmda_draft_written(struct dmda_draft *draft, bool has_failed)
{
	draft->is_written = true;
	draft->is_void |= has_failed;
}

bool dmda_draft_has_become(const struct dmda_draft *draft, const struct dmda_journal_batch *batch)
{
	const struct dmda_journal_sector *first = draft->sectors;

	/* Of as many operations, with the same records: so there is nothing in further sectors. */
	return !draft->is_void && batch->nr_used &&
		draft->batch.next_seq == batch->next_seq &&
		dmda_journal_bytes(first) == dmda_journal_bytes(batch->sectors) &&
		!memcmp(first->records, batch->sectors->records, dmda_journal_bytes(first));
}

static bool meets(const struct dmda_draft_pages *pages, dpn_t dpn, u32 nr_pages)
{
	return from_dpn(dpn) < from_dpn(pages->dpn) + pages->nr_pages &&
		from_dpn(pages->dpn) < from_dpn(dpn) + nr_pages;
}

bool dmda_draft_names(const struct dmda_draft *draft, dpn_t dpn, u32 nr_pages)
{
	return (draft->nr && meets(&draft->pages, dpn, nr_pages)) ||
		(draft->kept.nr_pages && meets(&draft->kept, dpn, nr_pages));
}

/* Return: whether the places are data's, of one segment. */
static bool are_of_data(const struct dmda_draft_pages *pages, const struct dmda_super *super)
{
	u32 page;
	seg_t seg = dmda_super_segment_of(super, pages->dpn, &page);

	return seg != SEG_NONE && page + pages->nr_pages <= dmda_super_data_pages(super);
}

const char *dmda_draft_read(const struct dmda_journal_sector *sector,
			    const struct dmda_super *super, u64 seq, struct dmda_op *op,
			    struct dmda_draft_pages *pages, u32 *sum)
{
	static const char is_none[] = "the journal has a draft that is none";
	const struct dmda_record *map;
	struct dmda_replay replay;
	__le32 raw;

	if (!dmda_super_has_drafts(super) || dmda_journal_bytes(sector) > SUM_AT ||
	    !(le16_to_cpu(sector->nr_bytes) & DMDA_SECTOR_FIRST))
		return is_none;
	dmda_replay_init(&replay, op, seq);
	dmda_replay_sector(&replay, sector);
	if (!dmda_replay_next(&replay) || replay.at != dmda_journal_bytes(sector))
		return replay.why ?: is_none;
	map = dmda_op_pages(op);
	if (!map || map->kind != DMDA_RECORD_MAP || map->nr_pages > DMDA_MAX_DRAFT_PAGES)
		return is_none;
	*pages = (struct dmda_draft_pages){ map->dpn, map->nr_pages, seq };
	if (!are_of_data(pages, super))
		return is_none;
	memcpy(&raw, &sector->records[SUM_AT], sizeof(raw));
	*sum = le32_to_cpu(raw);
	return NULL;
}
