// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of pages that were overwritten, and the hand that goes round it. A write looks at the
 * eight entries of a place, and now and then the hand at eight more: the only longer piece of work
 * is at the end of its turn, when it is added up how many pages have which count.
 *
 * Simulated with the FTL of the virtual SSD, which has 256 open units of eight pages, and Zipf's
 * law (exponent 0.99), this comes within a few percent of knowing the hottest pages beforehand.
 */
#include "heat.h"

/* Hot pages must get one in so many of the writes. */
#define SKEWED_SHARE	8U

/* A hot page stays hot as long as it has one in so many of the writes that make a page hot. */
#define STAYS_SHARE	4U

size_t dmda_heat_bytes(u32 nr_pages)
{
	return (size_t)nr_pages * DMDA_HEAT_WAYS * sizeof(struct dmda_heat_entry);
}

void dmda_heat_init(struct dmda_heat *heat, u32 nr_pages, void *zeroed)
{
	memset(heat, 0, sizeof(*heat));
	heat->entry = zeroed;
	heat->nr_places = nr_pages;
	heat->least = 2 * DMDA_HEAT_WRITE;
}

static struct dmda_heat_entry *place_of(const struct dmda_heat *heat, u64 lpn)
{
	u64 place = (u64)hash_64(lpn, 32) * heat->nr_places >> 32;

	return &heat->entry[place * DMDA_HEAT_WAYS];
}

static bool is_colder(const struct dmda_heat_entry *a, const struct dmda_heat_entry *b)
{
	return a->count < b->count || (a->count == b->count && a->is_hot < b->is_hot);
}

static void set_hot(struct dmda_heat *heat, struct dmda_heat_entry *entry, bool is_hot)
{
	heat->nr_hot = heat->nr_hot - entry->is_hot + is_hot;
	entry->is_hot = is_hot;
}

/* The page's entry, or that of the coldest, which is the page's from now on. */
static struct dmda_heat_entry *entry_of(struct dmda_heat *heat, u64 lpn)
{
	struct dmda_heat_entry *place = place_of(heat, lpn), *coldest = place;

	for (u32 i = 0; i < DMDA_HEAT_WAYS; i++) {
		if (place[i].count && place[i].tag == (u32)lpn)
			return &place[i];
		if (is_colder(&place[i], coldest))
			coldest = &place[i];
	}
	set_hot(heat, coldest, false);
	coldest->tag = lpn;
	coldest->count = 0;
	return coldest;
}

/* The count that no more pages have than may be hot */
static u32 least_of(const struct dmda_heat *heat)
{
	u32 count = DMDA_HEAT_MAX, nr = heat->tally[DMDA_HEAT_MAX];

	while (count > 1 && nr + heat->tally[count - 1] <= heat->nr_places)
		nr += heat->tally[--count];
	return count;
}

static void end_turn(struct dmda_heat *heat)
{
	heat->least = least_of(heat);
	heat->is_skewed = heat->nr_to_hot >= heat->nr_writes / SKEWED_SHARE;
	heat->nr_writes = 0;
	heat->nr_to_hot = 0;
	heat->hand = 0;
	memset(heat->tally, 0, sizeof(heat->tally));
}

static void move_hand(struct dmda_heat *heat)
{
	struct dmda_heat_entry *place = &heat->entry[heat->hand * DMDA_HEAT_WAYS];

	for (u32 i = 0; i < DMDA_HEAT_WAYS; i++) {
		heat->tally[place[i].count]++;
		if (place[i].count < max(heat->least / STAYS_SHARE, 2U))
			set_hot(heat, &place[i], false);
		place[i].count /= 2;
	}
	if (++heat->hand == heat->nr_places)
		end_turn(heat);
}

bool dmda_heat_write(struct dmda_heat *heat, u64 lpn)
{
	struct dmda_heat_entry *entry;
	bool is_hot;

	if (!heat->nr_places)
		return false;
	entry = entry_of(heat, lpn);
	entry->count = min(entry->count + DMDA_HEAT_WRITE, DMDA_HEAT_MAX);
	if (entry->count >= heat->least && heat->nr_hot < heat->nr_places)
		set_hot(heat, entry, true);
	is_hot = entry->is_hot;
	heat->nr_writes++;
	heat->nr_to_hot += is_hot;
	if (++heat->nr_steps == DMDA_HEAT_STEP) {
		heat->nr_steps = 0;
		move_hand(heat);
	}
	return heat->is_skewed && !is_hot;
}
