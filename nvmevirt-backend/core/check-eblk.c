// SPDX-License-Identifier: GPL-2.0-only
/* What "consistent" means for the erase blocks of a die: states, streams, queues and victims. */
#include "check-eblk.h"

/* Streams that write to an erase block */
static u32 nr_writers(const struct ftl *ftl, u32 die, u32 eblk)
{
	u32 nr = 0;

	for (u32 i = 0; i < ftl_nr_streams(&ftl->geo); i++)
		nr += ftl->blocks.die[die].stream[i].eblk == eblk + 1;
	return nr;
}

/* Is the block, counted from one, of another die? There may be none. */
static bool is_elsewhere(const struct ftl *ftl, u32 die, u32 eblk)
{
	return eblk && (eblk - 1) / ftl->geo.die_eblks != die;
}

static bool is_victim(const struct ftl_gc_die *gc, u32 eblk)
{
	return gc->victim.eblk == eblk + 1 || gc->fold.eblk == eblk + 1;
}

/* Every block of the die is in the one list that its state names. */
static const char *check_eblk_lists(const struct ftl *ftl, u32 die_nr)
{
	const struct ftl_eblk_die *die = &ftl->blocks.die[die_nr];
	u32 first = die_nr * ftl->geo.die_eblks;
	u32 nr_free = 0, nr_full = 0, nr_bad = 0;

	for (u32 i = 0; i < ftl->geo.die_eblks; i++) {
		u32 state = ftl->blocks.eblk[first + i].state;
		bool wants_stream = state == FTL_EBLK_OPEN;
		bool wants_queue = state == FTL_EBLK_FULL;
		bool wants_victim = state == FTL_EBLK_VICTIM;
		bool wants_doom = state == FTL_EBLK_DOOMED;
		bool wants_free = state == FTL_EBLK_FREE;
		u32 writers = nr_writers(ftl, die_nr, first + i);

		nr_free += wants_free;
		nr_bad += state == FTL_EBLK_BAD;
		if (wants_free != ftl_pqueue_has(&die->free, i))
			return "The queue of free erase blocks and an erase block do not agree.";
		if (wants_doom != (die->doomed == first + i + 1))
			return "A die and an erase block do not agree that it is doomed.";
		if (state == FTL_EBLK_BAD && ftl->blocks.eblk[first + i].nr_valid)
			return "A page is in a bad erase block.";
		nr_full += wants_queue;
		if (wants_victim != is_victim(&ftl->gc[die_nr], first + i))
			return "Collection and an erase block do not agree that it is the victim.";
		if (writers > 1)
			return "Two streams write to the same erase block.";
		if (writers != wants_stream)
			return "A stream and an erase block do not agree that it is open.";
		if (ftl_pqueue_has(&die->full, i) != wants_queue)
			return "The queue of victims and an erase block do not agree.";
	}
	if (nr_full != die->full.nr + die->slc_full.nr)
		return "The queue of victims has lost an erase block.";
	if (nr_bad != die->nr_bad)
		return "The count of bad erase blocks is wrong.";
	if (is_elsewhere(ftl, die_nr, die->doomed))
		return "The doomed erase block of a die is on another one.";
	return nr_free == die->free.nr + die->slc_free.nr ? NULL :
		"The count of free erase blocks is wrong.";
}

/* Streams write to blocks of their die that have room. */
static const char *check_streams(const struct ftl *ftl, u32 die_nr)
{
	const struct ftl_eblk_die *die = &ftl->blocks.die[die_nr];

	for (u32 i = 0; i < ftl_nr_streams(&ftl->geo); i++) {
		const struct ftl_eblk_stream *stream = &die->stream[i];

		if (is_elsewhere(ftl, die_nr, stream->eblk))
			return "A stream writes to an erase block of another die.";
		if (stream->eblk &&
		    stream->next_unit >= ftl_eblk_nr_units(&ftl->geo, stream->eblk - 1))
			return "A stream writes to an erase block that is full.";
	}
	return NULL;
}

/* Streams, queues and folding keep to the blocks that are theirs. */
static const char *check_slc_region(const struct ftl *ftl, u32 die_nr)
{
	const struct ftl_eblk_die *die = &ftl->blocks.die[die_nr];
	const struct ftl_gc_die *gc = &ftl->gc[die_nr];

	for (u32 i = 0; i < ftl_nr_streams(&ftl->geo); i++) {
		bool is_slc = i == FTL_STREAM_SLC;

		if (die->stream[i].eblk &&
		    ftl_eblk_is_slc(&ftl->geo, die->stream[i].eblk - 1) != is_slc)
			return "A stream writes to an erase block that is not of its kind.";
	}
	if (gc->fold.eblk && !ftl_eblk_is_slc(&ftl->geo, gc->fold.eblk - 1))
		return "An erase block is folded that is not of the SLC region.";
	if (gc->victim.eblk && !gc->is_doomed && ftl_eblk_is_slc(&ftl->geo, gc->victim.eblk - 1))
		return "An erase block of the SLC region is collected.";
	return NULL;
}

static const char *check_free_queue(const struct ftl *ftl, u32 die_nr, bool is_slc)
{
	const struct ftl_eblk_die *die = &ftl->blocks.die[die_nr];
	const struct ftl_pqueue *free = is_slc ? &die->slc_free : &die->free;

	for (u32 i = 0; i < free->nr; i++) {
		const struct ftl_pqueue_entry *entry = &free->entry[i];
		u32 eblk = die_nr * ftl->geo.die_eblks + entry->item;

		if (ftl_eblk_is_slc(&ftl->geo, eblk) != is_slc)
			return "A free erase block is in the queue of another kind.";
		if (free->position[entry->item] != i + 1)
			return "The queue of free erase blocks does not know where an entry is.";
		if (entry->key >> 32 != ftl->blocks.eblk[eblk].nr_erases)
			return "The queue of free erase blocks has an outdated count of erases.";
		if (i && free->entry[(i - 1) / 2].key > entry->key)
			return "The queue of free erase blocks is out of order.";
	}
	return is_slc || free->nr || ftl->params.in_place || ftl->gc[die_nr].victim.eblk ? NULL :
		"A die has no free erase block left for collection.";
}

static const char *check_victim_queue(const struct ftl *ftl, u32 die_nr, bool is_slc)
{
	const struct ftl_eblk_die *die = &ftl->blocks.die[die_nr];
	const struct ftl_pqueue *full = is_slc ? &die->slc_full : &die->full;

	for (u32 i = 0; i < full->nr; i++) {
		const struct ftl_pqueue_entry *entry = &full->entry[i];
		u32 eblk = die_nr * ftl->geo.die_eblks + entry->item;

		if (ftl_eblk_is_slc(&ftl->geo, eblk) != is_slc)
			return "A full erase block is in the queue of another kind.";
		if (full->position[entry->item] != i + 1)
			return "The queue of victims does not know where an entry is.";
		if (entry->key != ftl_eblk_rank(&ftl->blocks.eblk[eblk]))
			return "The queue of victims has an outdated count of valid pages.";
		if (i && full->entry[(i - 1) / 2].key > entry->key)
			return "The queue of victims is out of order.";
	}
	return NULL;
}

static const char *check_low(const struct ftl *ftl)
{
	struct ftl_eblk_low low = { 0 };

	for (u32 i = 0; i < ftl->geo.nr_dies; i++)
		ftl_eblks_add_low(&ftl->blocks, &ftl->blocks.die[i], 1, &low);
	return memcmp(&low, &ftl->blocks.nr_low, sizeof(low)) ?
		"The count of dies with few free erase blocks is wrong." : NULL;
}

const char *ftl_check_eblks(const struct ftl *ftl, die_t die)
{
	const char *reason = check_eblk_lists(ftl, from_die(die));

	if (!reason)
		reason = check_streams(ftl, from_die(die));
	if (!reason)
		reason = check_slc_region(ftl, from_die(die));
	for (u32 is_slc = 0; !reason && is_slc < 2; is_slc++)
		reason = check_free_queue(ftl, from_die(die), is_slc) ?:
			 check_victim_queue(ftl, from_die(die), is_slc);
	/* Once for all dies */
	return reason || from_die(die) ? reason : check_low(ftl);
}
