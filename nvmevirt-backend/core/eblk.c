// SPDX-License-Identifier: GPL-2.0-only
/*
 * The erase blocks of each die: state, wear, and valid pages. Two questions are asked all the
 * time, which free block is written next and which full block is collected next, and on a die that
 * may have thousands of blocks neither can be a search: so both sets are priority queues.
 *
 * The block with the fewest valid pages is collected first, as the proof in gc.h needs it. Both
 * queues have the order in time in the lower half of their keys, so that no block waits for ever
 * behind newer ones that are its equals, while they wear in its place.
 */
#include "eblk.h"

/* Two queues of blocks */
size_t ftl_eblks_bytes(u32 nr_dies, u32 die_eblks)
{
	size_t of_queues = 2 * (sizeof(struct ftl_pqueue_entry) + sizeof(u32));
	size_t of_die = size_add(sizeof(struct ftl_eblk_die),
				 array_size(die_eblks, sizeof(struct ftl_eblk) + of_queues));

	return array_size(nr_dies, of_die);
}

static u32 nr_in_die(const struct ftl_eblks *blocks, u32 eblk)
{
	return eblk % blocks->geo->die_eblks;
}

static void put_free(struct ftl_eblks *blocks, struct ftl_eblk_die *die, u32 eblk)
{
	u64 rank = (u64)blocks->eblk[eblk].nr_erases << 32 | die->nr_freed++;

	blocks->eblk[eblk].state = FTL_EBLK_FREE;
	ftl_pqueue_push(&die->free, rank, nr_in_die(blocks, eblk));
}

static u32 take_free(struct ftl_eblks *blocks, die_t die)
{
	struct ftl_pqueue_entry first = ftl_pqueue_pop(&blocks->die[from_die(die)].free);
	u32 eblk = from_die(die) * blocks->geo->die_eblks + first.item;

	blocks->eblk[eblk].state = FTL_EBLK_OPEN;
	return eblk;
}

void ftl_eblks_init(struct ftl_eblks *blocks, const struct ftl_geometry *geo, void *zeroed)
{
	struct ftl_pqueue_entry *entry;
	u32 *position;

	blocks->geo = geo;
	blocks->die = zeroed;
	entry = (struct ftl_pqueue_entry *)(blocks->die + geo->nr_dies);
	blocks->eblk = (struct ftl_eblk *)(entry + 2 * (size_t)geo->nr_eblks);
	position = (u32 *)(blocks->eblk + geo->nr_eblks);
	for (u32 i = 0; i < geo->nr_dies; i++) {
		struct ftl_eblk_die *die = &blocks->die[i];

		die->full.entry = entry + 2 * (size_t)i * geo->die_eblks;
		die->free.entry = die->full.entry + geo->die_eblks;
		die->full.position = position + 2 * (size_t)i * geo->die_eblks;
		die->free.position = die->full.position + geo->die_eblks;
	}
	for (u32 eblk = 0; eblk < geo->nr_eblks; eblk++)
		put_free(blocks, &blocks->die[from_die(ftl_eblk_die(geo, eblk))], eblk);
}

static void append_full(struct ftl_eblks *blocks, die_t die_nr, u32 nr)
{
	struct ftl_eblk_die *die = &blocks->die[from_die(die_nr)];
	struct ftl_eblk *eblk = &blocks->eblk[nr];

	eblk->state = FTL_EBLK_FULL;
	eblk->filled_at = die->nr_filled++;
	ftl_pqueue_push(&die->full, ftl_eblk_rank(eblk),
			nr - from_die(die_nr) * blocks->geo->die_eblks);
}

void ftl_eblks_close_if_full(struct ftl_eblks *blocks, die_t die_nr, enum ftl_stream stream)
{
	struct ftl_eblk_die *die = &blocks->die[from_die(die_nr)];
	struct ftl_eblk_stream *open = &die->stream[stream];

	if (!open->eblk || open->next_unit < blocks->geo->eblk_units)
		return;
	append_full(blocks, die_nr, open->eblk - 1);
	open->eblk = 0;
}

void ftl_eblks_open_next(struct ftl_eblks *blocks, die_t die_nr, enum ftl_stream stream)
{
	struct ftl_eblk_die *die = &blocks->die[from_die(die_nr)];

	die->stream[stream].eblk = take_free(blocks, die_nr) + 1;
	die->stream[stream].next_unit = 0;
}

u32 ftl_eblks_take_unit(struct ftl_eblks *blocks, die_t die, enum ftl_stream stream)
{
	struct ftl_eblk_stream *open = &blocks->die[from_die(die)].stream[stream];

	return ftl_eblk_first_unit(blocks->geo, open->eblk - 1) + open->next_unit++;
}

void ftl_eblks_add_valid(struct ftl_eblks *blocks, u32 flash_unit, u32 nr_pages)
{
	blocks->eblk[ftl_flash_unit_eblk(blocks->geo, flash_unit)].nr_valid += nr_pages;
}

void ftl_eblks_drop_valid(struct ftl_eblks *blocks, u32 flash_unit, u32 nr_pages)
{
	u32 nr = ftl_flash_unit_eblk(blocks->geo, flash_unit);
	struct ftl_eblk *eblk = &blocks->eblk[nr];
	u32 die = nr / blocks->geo->die_eblks;

	eblk->nr_valid -= nr_pages;
	if (eblk->state == FTL_EBLK_FULL)
		ftl_pqueue_lower(&blocks->die[die].full, ftl_eblk_rank(eblk),
				 nr - die * blocks->geo->die_eblks);
}

u32 ftl_eblks_take_victim(struct ftl_eblks *blocks, die_t die)
{
	struct ftl_pqueue_entry first = ftl_pqueue_pop(&blocks->die[from_die(die)].full);
	u32 eblk = from_die(die) * blocks->geo->die_eblks + first.item;

	blocks->eblk[eblk].state = FTL_EBLK_VICTIM;
	return eblk;
}

void ftl_eblks_take_full(struct ftl_eblks *blocks, u32 eblk)
{
	die_t die = ftl_eblk_die(blocks->geo, eblk);

	ftl_pqueue_remove(&blocks->die[from_die(die)].full, nr_in_die(blocks, eblk));
	blocks->eblk[eblk].state = FTL_EBLK_VICTIM;
}

void ftl_eblks_free(struct ftl_eblks *blocks, u32 eblk)
{
	struct ftl_eblk_die *die = &blocks->die[from_die(ftl_eblk_die(blocks->geo, eblk))];

	blocks->eblk[eblk].nr_erases++;
	blocks->nr_erases++;
	die->nr_erases++;
	put_free(blocks, die, eblk);
}

void ftl_eblks_doom(struct ftl_eblks *blocks, die_t die_nr, enum ftl_stream stream)
{
	struct ftl_eblk_die *die = &blocks->die[from_die(die_nr)];

	die->doomed = die->stream[stream].eblk;
	die->stream[stream].eblk = 0;
	blocks->eblk[die->doomed - 1].state = FTL_EBLK_DOOMED;
	if (die->nr_bad >= blocks->spare_eblks)
		blocks->read_only = true;
}

u32 ftl_eblks_take_doomed(struct ftl_eblks *blocks, die_t die_nr)
{
	struct ftl_eblk_die *die = &blocks->die[from_die(die_nr)];
	u32 eblk = die->doomed - 1;

	die->doomed = 0;
	blocks->eblk[eblk].state = FTL_EBLK_VICTIM;
	return eblk;
}

void ftl_eblks_retire(struct ftl_eblks *blocks, u32 eblk)
{
	struct ftl_eblk_die *die = &blocks->die[from_die(ftl_eblk_die(blocks->geo, eblk))];

	if (blocks->eblk[eblk].state == FTL_EBLK_FREE)
		ftl_pqueue_remove(&die->free, nr_in_die(blocks, eblk));
	blocks->eblk[eblk].state = FTL_EBLK_BAD;
	if (++die->nr_bad > blocks->spare_eblks)
		blocks->read_only = true;
}

void ftl_eblks_erases(const struct ftl_eblks *blocks, die_t die, u32 *least, u32 *most)
{
	const struct ftl_eblk *eblk = &blocks->eblk[from_die(die) * blocks->geo->die_eblks];

	*least = U32_MAX;
	*most = 0;
	for (u32 i = 0; i < blocks->geo->die_eblks; i++) {
		*least = min(*least, eblk[i].nr_erases);
		*most = max(*most, eblk[i].nr_erases);
	}
}

static void restore_doomed(struct ftl_eblks *blocks, struct ftl_eblk_die *die, u32 eblk)
{
	blocks->eblk[eblk].state = FTL_EBLK_DOOMED;
	die->doomed = eblk + 1;
}

/* Half-written blocks are gone on with, as long as there are streams. */
static void restore_used(struct ftl_eblks *blocks, struct ftl_eblk_die *die, u32 eblk,
			 u32 nr_used)
{
	struct ftl_eblk_stream *open = die->stream;

	while (open < &die->stream[FTL_NR_STREAMS] && open->eblk)
		open++;
	if (nr_used == blocks->geo->eblk_units || open == &die->stream[FTL_NR_STREAMS]) {
		append_full(blocks, ftl_eblk_die(blocks->geo, eblk), eblk);
		return;
	}
	blocks->eblk[eblk].state = FTL_EBLK_OPEN;
	open->eblk = eblk + 1;
	open->next_unit = nr_used;
}

void ftl_eblks_restore(struct ftl_eblks *blocks, u32 eblk, u32 nr_used, u32 nr_valid,
		       bool is_bad)
{
	struct ftl_eblk_die *die = &blocks->die[from_die(ftl_eblk_die(blocks->geo, eblk))];

	blocks->nr_erases += blocks->eblk[eblk].nr_erases;
	die->nr_erases += blocks->eblk[eblk].nr_erases;
	if (blocks->eblk[eblk].state == FTL_EBLK_BAD)
		return;
	/* Its place in the queue is that of a block never erased. */
	if (is_bad && !nr_valid) {
		ftl_eblks_retire(blocks, eblk);
		return;
	}
	ftl_pqueue_remove(&die->free, nr_in_die(blocks, eblk));
	blocks->eblk[eblk].nr_valid = nr_valid;
	if (!nr_used)
		put_free(blocks, die, eblk);
	else if (is_bad && !die->doomed)
		restore_doomed(blocks, die, eblk);
	else
		restore_used(blocks, die, eblk, nr_used);
}

/* Which of two half-written blocks was whose is not known; collection had enough room. */
static void give_collection_most(struct ftl_eblk_die *die)
{
	struct ftl_eblk_stream *host = &die->stream[FTL_STREAM_HOST];
	struct ftl_eblk_stream *gc = &die->stream[FTL_STREAM_GC];

	if (host->eblk && (!gc->eblk || host->next_unit < gc->next_unit))
		swap(*host, *gc);
}

void ftl_eblks_restored(struct ftl_eblks *blocks)
{
	for (u32 i = 0; i < blocks->geo->nr_dies; i++) {
		struct ftl_eblk_die *die = &blocks->die[i];

		if (!die->free.nr)
			give_collection_most(die);
		if (die->nr_bad + !!die->doomed > blocks->spare_eblks)
			blocks->read_only = true;
	}
}
