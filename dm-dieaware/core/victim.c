// SPDX-License-Identifier: GPL-2.0-only
/*
 * Victims are chosen in one walk through the segment table, which keeps the best few in order
 * and takes no memory but theirs. For the file-aware policy the caller then reads their
 * summaries, and here it is counted what cleaning them would join.
 *
 * A row of valid pages of one file counts if the file had one before in the segment. Which
 * files had is kept in a hash table that the caller has sized.
 */
#include "victim.h"

static u64 worth_greedy(u32 data_pages, const struct dmda_segment *segment)
{
	return data_pages - segment->nr_valid;
}

/* The age is cut to 40 bits, so that its product with a number of pages fits. */
static u64 worth_cost_benefit(u32 data_pages, const struct dmda_segment *segment, u64 now_seq)
{
	u64 age = now_seq > segment->mtime ? now_seq - segment->mtime : 0;

	age = min(age, (1ULL << 40) - 1) + 1;
	return div_u64(age * (data_pages - segment->nr_valid), data_pages + segment->nr_valid);
}

static void insert(struct dmda_candidate *candidates, u32 nr, const struct dmda_candidate *new)
{
	u32 at = nr;

	while (at && candidates[at - 1].worth < new->worth) {
		candidates[at] = candidates[at - 1];
		at--;
	}
	candidates[at] = *new;
}

u32 dmda_victim_candidates(const struct dmda_segments *segments, u64 now_seq,
			   enum dmda_policy policy, struct dmda_candidate *candidates, u32 nr)
{
	u32 data_pages = dmda_super_data_pages(segments->super);
	u32 found = 0;

	for (u32 i = 0; i < segments->nr_segments; i++) {
		const struct dmda_segment *segment = &segments->segment[i];
		struct dmda_candidate new = { .seg = to_seg(i) };

		if (segment->state != DMDA_SEGMENT_CLOSED || !segment->nr_valid ||
		    segment->nr_valid >= data_pages)
			continue;
		new.worth = policy == DMDA_POLICY_GREEDY ?
			worth_greedy(data_pages, segment) :
			worth_cost_benefit(data_pages, segment, now_seq);
		if (found == nr && candidates[nr - 1].worth >= new.worth)
			continue;
		found = min(found + 1, nr);
		insert(candidates, found - 1, &new);
	}
	return found;
}

/* Return: whether the file was not in the set. */
static bool add_file(struct dmda_file_set *files, u64 file)
{
	u32 mask = files->nr_slots - 1;
	u32 at = hash_64(file, 32) & mask;

	while (files->slot[at] && files->slot[at] != file)
		at = (at + 1) & mask;
	if (files->slot[at])
		return false;
	files->slot[at] = file;
	return true;
}

u32 dmda_victim_pieces(const struct dmda_summary_block *summary, const u64 *is_valid,
		       u32 nr_pages, struct dmda_file_set *files)
{
	u64 before = 0;
	u32 nr = 0;

	memset(files->slot, 0, files->nr_slots * sizeof(*files->slot));
	for (u32 page = 0; page < nr_pages; page++) {
		struct dmda_written written = { .file = 0 };

		if (is_valid[page / 64] >> page % 64 & 1)
			dmda_summary_get(summary, page, &written);
		if (written.file && written.file != before && !add_file(files, written.file))
			nr++;
		before = written.file;
	}
	return nr;
}
