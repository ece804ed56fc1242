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

static struct ftl_pqueue *free_queue(struct ftl_eblks *blocks, u32 eblk)
{
	struct ftl_eblk_die *die = &blocks->die[from_die(ftl_eblk_die(blocks->geo, eblk))];

	return ftl_eblk_is_slc(blocks->geo, eblk) ? &die->slc_free : &die->free;
}

static struct ftl_pqueue *full_queue(struct ftl_eblks *blocks, u32 eblk)
{
	struct ftl_eblk_die *die = &blocks->die[from_die(ftl_eblk_die(blocks->geo, eblk))];

	return ftl_eblk_is_slc(blocks->geo, eblk) ? &die->slc_full : &die->full;
}

/* Does the block that the host has open on the die for a handle take its next units? */
static bool takes_next_units(const struct ftl_eblks *blocks, const struct ftl_eblk_die *die,
			     u32 handle)
{
	const struct ftl_eblk_stream *open = &die->stream[ftl_stream_of(handle)];

	return open->eblk && blocks->geo->eblk_units - open->next_unit >= blocks->low_units;
}

void ftl_eblks_add_low(const struct ftl_eblks *blocks, const struct ftl_eblk_die *die, int by,
		       struct ftl_eblk_low *low)
{
	if (die->free.nr < blocks->low)
		low->nr += by;
	if (die->free.nr != blocks->low)
		return;
	for (u32 i = 0; i < blocks->geo->nr_handles; i++)
		if (!takes_next_units(blocks, die, i))
			low->nr_of[i] += by;
}

/* +1 behind, and -1 before, a change of a die's free or open blocks */
static void count_low(struct ftl_eblks *blocks, const struct ftl_eblk_die *die, int by)
{
	ftl_eblks_add_low(blocks, die, by, &blocks->nr_low);
}

void ftl_eblks_count_low(struct ftl_eblks *blocks)
{
	memset(&blocks->nr_low, 0, sizeof(blocks->nr_low));
	for (u32 i = 0; i < blocks->geo->nr_dies; i++)
		count_low(blocks, &blocks->die[i], 1);
}

static void put_free(struct ftl_eblks *blocks, struct ftl_eblk_die *die, u32 eblk)
{
	u64 rank = (u64)blocks->eblk[eblk].nr_erases << 32 | die->nr_freed++;

	blocks->eblk[eblk].state = FTL_EBLK_FREE;
	count_low(blocks, die, -1);
	ftl_pqueue_push(free_queue(blocks, eblk), rank, nr_in_die(blocks, eblk));
	count_low(blocks, die, 1);
}

static void remove_free(struct ftl_eblks *blocks, u32 eblk)
{
	const struct ftl_eblk_die *die = &blocks->die[from_die(ftl_eblk_die(blocks->geo, eblk))];

	count_low(blocks, die, -1);
	ftl_pqueue_remove(free_queue(blocks, eblk), nr_in_die(blocks, eblk));
	count_low(blocks, die, 1);
}

/* Takes the first block out of a queue of the die. */
static u32 take_first(struct ftl_eblks *blocks, die_t die, struct ftl_pqueue *queue,
		      enum ftl_eblk_state state)
{
	const struct ftl_eblk_die *eblks = &blocks->die[from_die(die)];
	u32 eblk;

	count_low(blocks, eblks, -1);
	eblk = from_die(die) * blocks->geo->die_eblks + ftl_pqueue_pop(queue).item;
	count_low(blocks, eblks, 1);
	blocks->eblk[eblk].state = state;
	return eblk;
}

/* What lies behind each other in memory: queues of the die's blocks, and those of its SLC region */
static void init_queues(struct ftl_eblk_die *die, const struct ftl_geometry *geo,
			struct ftl_pqueue_entry *entry, u32 *position)
{
	die->full.entry = entry;
	die->slc_full.entry = entry + ftl_main_eblks(geo);
	die->free.entry = entry + geo->die_eblks;
	die->slc_free.entry = die->free.entry + ftl_main_eblks(geo);
	die->full.position = position;
	die->slc_full.position = position;
	die->free.position = position + geo->die_eblks;
	die->slc_free.position = die->free.position;
}

void ftl_eblks_init(struct ftl_eblks *blocks, const struct ftl_geometry *geo, void *zeroed)
{
	struct ftl_pqueue_entry *entry;
	u32 *position;

	blocks->geo = geo;
	blocks->nr_low.nr = blocks->low ? geo->nr_dies : 0;
	blocks->die = zeroed;
	entry = (struct ftl_pqueue_entry *)(blocks->die + geo->nr_dies);
	blocks->eblk = (struct ftl_eblk *)(entry + 2 * (size_t)geo->nr_eblks);
	position = (u32 *)(blocks->eblk + geo->nr_eblks);
	for (u32 i = 0; i < geo->nr_dies; i++)
		init_queues(&blocks->die[i], geo, entry + 2 * (size_t)i * geo->die_eblks,
			    position + 2 * (size_t)i * geo->die_eblks);
	for (u32 eblk = 0; eblk < geo->nr_eblks; eblk++)
		put_free(blocks, &blocks->die[from_die(ftl_eblk_die(geo, eblk))], eblk);
}

void ftl_eblks_fix(struct ftl_eblks *blocks)
{
	for (u32 eblk = 0; eblk < blocks->geo->nr_eblks; eblk++) {
		remove_free(blocks, eblk);
		blocks->eblk[eblk].state = FTL_EBLK_FIXED;
	}
}

static void append_full(struct ftl_eblks *blocks, die_t die_nr, u32 nr)
{
	struct ftl_eblk_die *die = &blocks->die[from_die(die_nr)];
	struct ftl_eblk *eblk = &blocks->eblk[nr];

	eblk->state = FTL_EBLK_FULL;
	eblk->filled_at = die->nr_filled++;
	ftl_pqueue_push(full_queue(blocks, nr), ftl_eblk_rank(eblk),
			nr - from_die(die_nr) * blocks->geo->die_eblks);
}

/* The stream goes on in an open block, or in none. */
static void set_open(struct ftl_eblks *blocks, struct ftl_eblk_die *die, enum ftl_stream stream,
		     u32 eblk_plus_one)
{
	count_low(blocks, die, -1);
	die->stream[stream].eblk = eblk_plus_one;
	count_low(blocks, die, 1);
}

void ftl_eblks_close(struct ftl_eblks *blocks, die_t die_nr, enum ftl_stream stream)
{
	struct ftl_eblk_die *die = &blocks->die[from_die(die_nr)];

	if (!die->stream[stream].eblk)
		return;
	append_full(blocks, die_nr, die->stream[stream].eblk - 1);
	set_open(blocks, die, stream, 0);
}

void ftl_eblks_close_if_full(struct ftl_eblks *blocks, die_t die, enum ftl_stream stream)
{
	const struct ftl_eblk_stream *open = &blocks->die[from_die(die)].stream[stream];

	if (open->eblk && open->next_unit == ftl_eblk_nr_units(blocks->geo, open->eblk - 1))
		ftl_eblks_close(blocks, die, stream);
}

void ftl_eblks_open_next(struct ftl_eblks *blocks, die_t die_nr, enum ftl_stream stream)
{
	struct ftl_eblk_die *die = &blocks->die[from_die(die_nr)];
	struct ftl_pqueue *queue = stream == FTL_STREAM_SLC ? &die->slc_free : &die->free;
	u32 eblk = take_first(blocks, die_nr, queue, FTL_EBLK_OPEN);

	die->stream[stream].next_unit = 0;
	set_open(blocks, die, stream, 1 + eblk);
}

u32 ftl_eblks_take_unit(struct ftl_eblks *blocks, die_t die_nr, enum ftl_stream stream)
{
	struct ftl_eblk_die *die = &blocks->die[from_die(die_nr)];
	struct ftl_eblk_stream *open = &die->stream[stream];
	u32 first = ftl_eblk_first_unit(blocks->geo, open->eblk - 1);
	u32 unit;

	count_low(blocks, die, -1);
	unit = open->next_unit++;
	count_low(blocks, die, 1);
	return first + unit;
}

void ftl_eblks_add_valid(struct ftl_eblks *blocks, u32 flash_unit, u32 nr_pages)
{
	blocks->eblk[ftl_flash_unit_eblk(blocks->geo, flash_unit)].nr_valid += nr_pages;
}

void ftl_eblks_drop_valid(struct ftl_eblks *blocks, u32 flash_unit, u32 nr_pages)
{
	u32 nr = ftl_flash_unit_eblk(blocks->geo, flash_unit);
	struct ftl_eblk *eblk = &blocks->eblk[nr];

	eblk->nr_valid -= nr_pages;
	if (eblk->state == FTL_EBLK_FULL)
		ftl_pqueue_lower(full_queue(blocks, nr), ftl_eblk_rank(eblk),
				 nr_in_die(blocks, nr));
}

u32 ftl_eblks_take_victim(struct ftl_eblks *blocks, die_t die)
{
	return take_first(blocks, die, &blocks->die[from_die(die)].full, FTL_EBLK_VICTIM);
}

u32 ftl_eblks_take_slc(struct ftl_eblks *blocks, die_t die)
{
	return take_first(blocks, die, &blocks->die[from_die(die)].slc_full, FTL_EBLK_VICTIM);
}

void ftl_eblks_take_full(struct ftl_eblks *blocks, u32 eblk)
{
	ftl_pqueue_remove(full_queue(blocks, eblk), nr_in_die(blocks, eblk));
	blocks->eblk[eblk].state = FTL_EBLK_VICTIM;
}

void ftl_eblks_count_erases(struct ftl_eblks *blocks, u32 eblk, u32 nr)
{
	if (ftl_eblk_is_slc(blocks->geo, eblk))
		return;
	blocks->nr_erases += nr;
	blocks->die[from_die(ftl_eblk_die(blocks->geo, eblk))].nr_erases += nr;
}

void ftl_eblks_free(struct ftl_eblks *blocks, u32 eblk)
{
	struct ftl_eblk_die *die = &blocks->die[from_die(ftl_eblk_die(blocks->geo, eblk))];

	blocks->eblk[eblk].nr_erases++;
	ftl_eblks_count_erases(blocks, eblk, 1);
	put_free(blocks, die, eblk);
}

void ftl_eblks_doom(struct ftl_eblks *blocks, die_t die_nr, enum ftl_stream stream)
{
	struct ftl_eblk_die *die = &blocks->die[from_die(die_nr)];

	die->doomed = die->stream[stream].eblk;
	set_open(blocks, die, stream, 0);
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
		remove_free(blocks, eblk);
	blocks->eblk[eblk].state = FTL_EBLK_BAD;
	if (++die->nr_bad > blocks->spare_eblks)
		blocks->read_only = true;
}

void ftl_eblks_erases(const struct ftl_eblks *blocks, die_t die, u32 *least, u32 *most)
{
	const struct ftl_eblk *eblk = &blocks->eblk[from_die(die) * blocks->geo->die_eblks];

	*least = U32_MAX;
	*most = 0;
	for (u32 i = 0; i < ftl_main_eblks(blocks->geo); i++) {
		*least = min(*least, eblk[i].nr_erases);
		*most = max(*most, eblk[i].nr_erases);
	}
}

u64 ftl_eblks_slc_erases(const struct ftl_eblks *blocks, die_t die)
{
	const struct ftl_geometry *geo = blocks->geo;
	const struct ftl_eblk *eblk = &blocks->eblk[from_die(die) * geo->die_eblks];
	u64 nr = 0;

	for (u32 i = ftl_main_eblks(geo); i < geo->die_eblks; i++)
		nr += eblk[i].nr_erases;
	return nr;
}

static void restore_doomed(struct ftl_eblks *blocks, struct ftl_eblk_die *die, u32 eblk)
{
	blocks->eblk[eblk].state = FTL_EBLK_DOOMED;
	die->doomed = eblk + 1;
}

/* Return: a stream of the die that can go on in a block of this kind, or NULL. */
static struct ftl_eblk_stream *unused_stream(struct ftl_eblk_die *die, u32 nr_streams, bool is_slc)
{
	for (u32 i = 0; i < nr_streams; i++) {
		bool of_slc = i == FTL_STREAM_SLC;

		if (!die->stream[i].eblk && of_slc == is_slc)
			return &die->stream[i];
	}
	return NULL;
}

/* Half-written blocks are gone on with, as long as there are streams. */
static void restore_used(struct ftl_eblks *blocks, struct ftl_eblk_die *die, u32 eblk,
			 u32 nr_used)
{
	struct ftl_eblk_stream *open = unused_stream(die, ftl_nr_streams(blocks->geo),
						     ftl_eblk_is_slc(blocks->geo, eblk));

	if (!open || nr_used == ftl_eblk_nr_units(blocks->geo, eblk)) {
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

	ftl_eblks_count_erases(blocks, eblk, blocks->eblk[eblk].nr_erases);
	if (blocks->eblk[eblk].state == FTL_EBLK_BAD)
		return;
	if (blocks->eblk[eblk].state == FTL_EBLK_FIXED) {
		blocks->eblk[eblk].nr_valid = nr_valid;
		return;
	}
	/* Its place in the queue is that of a block never erased. */
	if (is_bad && !nr_valid) {
		ftl_eblks_retire(blocks, eblk);
		return;
	}
	remove_free(blocks, eblk);
	blocks->eblk[eblk].nr_valid = nr_valid;
	if (!nr_used)
		put_free(blocks, die, eblk);
	else if (is_bad && !die->doomed)
		restore_doomed(blocks, die, eblk);
	else
		restore_used(blocks, die, eblk, nr_used);
}

/* Which half-written block was whose is not known; collection had enough room. */
static void give_collection_most(struct ftl_eblk_die *die, u32 nr_handles)
{
	struct ftl_eblk_stream *gc = &die->stream[FTL_STREAM_GC];

	for (u32 i = 0; i < nr_handles; i++) {
		struct ftl_eblk_stream *host = &die->stream[ftl_stream_of(i)];

		if (host->eblk && (!gc->eblk || host->next_unit < gc->next_unit))
			swap(*host, *gc);
	}
}

void ftl_eblks_restored(struct ftl_eblks *blocks)
{
	for (u32 i = 0; i < blocks->geo->nr_dies; i++) {
		struct ftl_eblk_die *die = &blocks->die[i];

		if (!die->free.nr)
			give_collection_most(die, blocks->geo->nr_handles);
		if (die->nr_bad + !!die->doomed > blocks->spare_eblks)
			blocks->read_only = true;
	}
	ftl_eblks_count_low(blocks);
}
