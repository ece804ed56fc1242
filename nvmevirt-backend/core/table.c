// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of trims, and the table of what is mapped, which takes their place when they are many.
 */
#include "table.h"

static void make_table_region(struct ftl_oob *oob, u64 region, const u32 *place_of)
{
	u64 first = region << FTL_REGION_SHIFT;
	u64 end = min(first + FTL_REGION_PAGES, oob->nr_lpns);
	u64 *words = &oob->is_mapped[first / FTL_TABLE_WORD_BITS];
	size_t bytes = ftl_table_words(end - first) * sizeof(u64);

	memset(words, 0, bytes);
	for (u64 lpn = first; lpn < end; lpn++) {
		if (place_of[lpn])
			oob->is_mapped[lpn / FTL_TABLE_WORD_BITS] |= BIT_ULL(lpn % FTL_TABLE_WORD_BITS);
	}
	ftl_oob_mark(oob, words, bytes);
}

/*
 * The records have become many: keep for each page whether it is mapped instead. The table
 * has that already where nothing was mapped or unmapped since it was made.
 */
static void make_table(struct ftl_oob *oob, const u32 *place_of, u8 *changed)
{
	for (u64 region = 0; region < ftl_nr_regions(oob->nr_lpns); region++) {
		if (changed[region])
			make_table_region(oob, region, place_of);
		changed[region] = false;
	}
	oob->head->table_seq = oob->head->seq;
	oob->head->nr_trims = 0;
}

/* Does the range go on where the last one ended, with nothing written since? */
static bool continues_trim(const struct ftl_oob *oob, u64 first)
{
	const struct ftl_oob_head *head = oob->head;
	const struct ftl_oob_trim *last;

	if (!head->nr_trims)
		return false;
	last = &head->trim[head->nr_trims - 1];
	return last->seq == head->seq && last->first + last->nr == first;
}

bool ftl_oob_has_room(const struct ftl_oob *oob, u64 first)
{
	return oob->head->nr_trims < FTL_OOB_TRIMS || continues_trim(oob, first);
}

void ftl_oob_trim(struct ftl_oob *oob, u64 first, u64 nr, const u32 *place_of, u8 *changed)
{
	struct ftl_oob_head *head = oob->head;

	if (continues_trim(oob, first)) {
		head->trim[head->nr_trims - 1].nr += nr;
		return;
	}
	head->seq++;
	if (head->nr_trims == FTL_OOB_TRIMS) {
		make_table(oob, place_of, changed);
		return;
	}
	head->trim[head->nr_trims++] = (struct ftl_oob_trim){ first, nr, head->seq };
}
