// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of trims, and the table of what is mapped, which takes their place when they are many.
 *
 * All of the table is looked at for that, which takes long on a large drive, so it is made in
 * steps, region by region, in its place. When that begins, a number is given, and everything that
 * counts is durable (the caller sees to it). The new table says what was mapped then: a region in
 * which a page is about to be mapped or unmapped meanwhile has its turn before that. The records
 * go, and the number counts, when the last region is done. A power failure before finds some
 * regions of the new table with the number of the old one and all records, and that is right, too:
 *
 * - A page that only the new table has as mapped has newer data on NAND, which counts more than
 *   what the old number has to keep away; and if it was trimmed since, there is a record of that.
 * - A page that only the old one has as mapped was trimmed, so all that is older is gone anyway.
 */
#include "table.h"

static u64 word_of(const u32 *place_of, u64 nr)
{
	u64 bits = 0;

	for (u64 i = 0; i < nr; i++)
		bits |= (u64)(place_of[i] != 0) << i;
	return bits;
}

/* Returns how many places were looked at; a region that is empty or full takes none of them. */
static u32 fill_region(const struct ftl_l2p *map, u64 region, u64 first, u64 nr, u64 *words)
{
	size_t nr_words = ftl_table_words(nr);
	u32 nr_mapped = map->region_mapped[region];

	if (!nr_mapped || nr_mapped == FTL_REGION_PAGES) {
		memset(words, nr_mapped ? 0xff : 0, nr_words * sizeof(u64));
		return nr_words;
	}
	for (size_t i = 0; i < nr_words; i++)
		words[i] = word_of(&map->place_of[first + i * FTL_TABLE_WORD_BITS],
				   min(nr - i * FTL_TABLE_WORD_BITS, (u64)FTL_TABLE_WORD_BITS));
	return nr;
}

static u32 make_region(struct ftl_l2p *map, u64 region)
{
	u64 first = region << FTL_REGION_SHIFT;
	u64 nr = min(map->nr_lpns - first, (u64)FTL_REGION_PAGES);
	u64 *words = &map->oob->is_mapped[first / FTL_TABLE_WORD_BITS];

	ftl_oob_mark(map->oob, words, ftl_table_words(nr) * sizeof(u64));
	return fill_region(map, region, first, nr, words);
}

void ftl_table_take(struct ftl_l2p *map, u64 region)
{
	u8 *state = &map->region_state[region];

	if (*state == FTL_REGION_CHANGED)
		map->oob->nr_table_looks += make_region(map, region);
	*state = FTL_REGION_TAKEN;
}

void ftl_table_begin(struct ftl_l2p *map)
{
	struct ftl_oob *oob = map->oob;

	/* A number of its own: no trim that is to come goes on with one before. */
	oob->table_seq = ++oob->head->seq;
	oob->table_at = 0;
}

static void end_table(struct ftl_oob *oob)
{
	struct ftl_oob_head *head = oob->head;
	u64 nr = 0;

	for (u64 i = 0; i < head->nr_trims; i++) {
		if (head->trim[i].seq > oob->table_seq)
			head->trim[nr++] = head->trim[i];
	}
	head->nr_trims = nr;
	head->table_seq = oob->table_seq;
	oob->table_seq = 0;
}

/* Returns how many places, words or regions were looked at. */
static u32 pass_region(struct ftl_l2p *map, u64 region)
{
	u8 *state = &map->region_state[region];
	u32 nr = 1;

	switch (*state) {
	case FTL_REGION_CHANGED:
		nr = make_region(map, region);
		*state = FTL_REGION_KEPT;
		break;
	case FTL_REGION_TAKEN:
		*state = FTL_REGION_CHANGED;
		break;
	}
	return nr;
}

void ftl_table_step(struct ftl_l2p *map, u32 most)
{
	u64 nr_regions = ftl_nr_regions(map->nr_lpns);
	struct ftl_oob *oob = map->oob;
	u32 nr = 0;

	while (oob->table_at < nr_regions && nr < most)
		nr += pass_region(map, oob->table_at++);
	oob->nr_table_looks += nr;
	if (oob->table_at == nr_regions)
		end_table(oob);
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

void ftl_oob_trim(struct ftl_oob *oob, u64 first, u64 nr)
{
	struct ftl_oob_head *head = oob->head;

	if (continues_trim(oob, first)) {
		head->trim[head->nr_trims - 1].nr += nr;
		return;
	}
	head->seq++;
	head->trim[head->nr_trims++] = (struct ftl_oob_trim){ first, nr, head->seq };
}
