/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Erase blocks: which are free, written to, or full, and how much in them is valid.
 *
 *	free --> open (one a stream) --> full --> victim --> erased, free
 *
 * The last blocks of a die may be an SLC region (slc.h). Its blocks have a stream and queues of
 * their own, so that collection never takes one as a victim or moves pages into one; a full
 * one is a victim when it is folded.
 *
 * A block whose program failed is doomed instead of full; it is bad, as is one whose erase
 * failed, instead of free. On a medium that is written in place (in-place.h) all are fixed, for
 * ever and in no queue.
 *
 * A die has two streams besides, so that pages that survived a collection, which are likely to
 * live on, are not mixed with new ones. With placement handles, each but the first has a stream of
 * its own: a block has data of one handle, until collection moves what is left of it ("initially
 * isolated", as Flexible Data Placement calls that).
 *
 * Within a stream the units of an erase block are handed out in order. Of the free blocks the one
 * that was erased least is used next, of equals the one that was freed first; and of blocks with
 * equally many valid pages the one that filled first is the victim: that spreads erases. Different
 * dies may be worked on at the same time.
 */
#ifndef FTL_EBLK_H
#define FTL_EBLK_H

#include "geometry.h"
#include "pqueue.h"

/* With FTL_STREAM_HANDLE those of the other handles begin: see ftl_stream_of(). */
enum ftl_stream {
	FTL_STREAM_HOST,
	FTL_STREAM_GC,
	FTL_STREAM_SLC,
	FTL_STREAM_HANDLE,
	FTL_NR_STREAMS = FTL_STREAM_HANDLE + FTL_MAX_HANDLES - 1,
};

enum ftl_eblk_state {
	FTL_EBLK_FREE,
	FTL_EBLK_OPEN,
	FTL_EBLK_FULL,
	FTL_EBLK_VICTIM,
	FTL_EBLK_DOOMED,
	FTL_EBLK_BAD,
	FTL_EBLK_FIXED,
};

/**
 * struct ftl_eblk - one erase block
 * @nr_valid: number of valid pages in it
 * @nr_erases: number of times that it was erased
 * @filled_at: number that the block got when it was full, ascending within the die
 * @state: enum ftl_eblk_state
 */
struct ftl_eblk {
	u32 nr_valid;
	u32 nr_erases;
	u32 filled_at;
	u32 state;
};

/**
 * struct ftl_eblk_stream - where a stream writes
 * @eblk: open block plus one, or 0
 * @next_unit: number of its units that were handed out
 */
struct ftl_eblk_stream {
	u32 eblk;
	u32 next_unit;
};

/**
 * struct ftl_eblk_die - erase blocks of a die
 * @nr_erases: number of erases of its blocks, but for those of the SLC region, which bear more
 * @nr_bad: number of blocks that are bad
 * @doomed: block that will be bad when it is empty, plus one, or 0
 * @nr_freed: number of blocks that were freed so far; wraps
 * @free: queue of free blocks, least erases first; items are numbered within the die
 * @stream: where each stream writes, by enum ftl_stream
 * @nr_filled: number of blocks that have filled so far; wraps
 * @full: queue of full blocks, see ftl_eblk_rank(); items are numbered within the die
 * @slc_free: as @free, of the SLC region; as it shares no items with @free, their positions are in
 *	one array
 * @slc_full: as @full, of the SLC region
 */
struct ftl_eblk_die {
	u64 nr_erases;
	u32 nr_bad;
	u32 doomed;
	u32 nr_freed;
	struct ftl_pqueue free;
	struct ftl_eblk_stream stream[FTL_NR_STREAMS];
	u32 nr_filled;
	struct ftl_pqueue full;
	struct ftl_pqueue slc_free;
	struct ftl_pqueue slc_full;
};

/**
 * struct ftl_eblk_low - number of dies that have few free erase blocks
 * @nr: those that have fewer than they should
 * @nr_of: of those that have just as many: by handle, those where it soon takes one
 */
struct ftl_eblk_low {
	u32 nr;
	u32 nr_of[FTL_MAX_HANDLES];
};

/**
 * struct ftl_eblks - all erase blocks
 * @geo: sizes of the drive
 * @eblk: erase blocks by number
 * @die: erase blocks of each die
 * @nr_erases: number of erases of all blocks, but for those of the SLC region
 * @spare_eblks: number of blocks of each die that may be bad
 * @read_only: whether a die has lost more than @spare_eblks
 * @low: number of free blocks, but for those of the SLC region, that a die should have, see
 *	ftl_eblks_are_low(); set before ftl_eblks_init()
 * @low_units: number of units of which a block that the host has open should have as many left;
 *	set before ftl_eblks_init()
 * @nr_low: number of dies that have less
 */
struct ftl_eblks {
	const struct ftl_geometry *geo;
	struct ftl_eblk *eblk;
	struct ftl_eblk_die *die;
	u64 nr_erases;
	u32 spare_eblks;
	bool read_only;
	u32 low;
	u32 low_units;
	struct ftl_eblk_low nr_low;
};

/**
 * ftl_eblks_bytes() - memory of the erase blocks
 */
size_t ftl_eblks_bytes(u32 nr_dies, u32 die_eblks);

/**
 * ftl_eblks_init() - all blocks free
 * @zeroed: ftl_eblks_bytes() bytes
 */
void ftl_eblks_init(struct ftl_eblks *blocks, const struct ftl_geometry *geo, void *zeroed);

/**
 * ftl_eblks_add_low() - count a die, if it has few free blocks
 * @by: +1, or -1 to take it back
 * @low: the counts
 */
void ftl_eblks_add_low(const struct ftl_eblks *blocks, const struct ftl_eblk_die *die, int by,
		       struct ftl_eblk_low *low);

/**
 * ftl_eblks_count_low() - count such dies, once somebody else has filled their queues
 */
void ftl_eblks_count_low(struct ftl_eblks *blocks);

/**
 * ftl_eblks_fix() - none of the blocks, which are all free, is ever opened, collected or erased
 */
void ftl_eblks_fix(struct ftl_eblks *blocks);

/**
 * ftl_eblks_open_next() - a stream without a block goes on in a free one, of which there is one
 */
void ftl_eblks_open_next(struct ftl_eblks *blocks, die_t die, enum ftl_stream stream);

/**
 * ftl_eblks_take_unit() - hand out the next unit of a stream that has a block
 * Return: its flash unit.
 */
u32 ftl_eblks_take_unit(struct ftl_eblks *blocks, die_t die, enum ftl_stream stream);

/**
 * ftl_eblks_add_valid() - pages were programmed into a flash unit
 */
void ftl_eblks_add_valid(struct ftl_eblks *blocks, u32 flash_unit, u32 nr_pages);

/**
 * ftl_eblks_drop_valid() - pages of a flash unit are no longer valid
 */
void ftl_eblks_drop_valid(struct ftl_eblks *blocks, u32 flash_unit, u32 nr_pages);

/**
 * ftl_eblks_close_if_full() - a block all of whose units are programmed may become a victim
 */
void ftl_eblks_close_if_full(struct ftl_eblks *blocks, die_t die, enum ftl_stream stream);

/**
 * ftl_eblks_close() - nothing more goes to the stream's open block, if it has one
 *
 * It may become a victim. What of it was not handed out is lost until it is erased.
 */
void ftl_eblks_close(struct ftl_eblks *blocks, die_t die, enum ftl_stream stream);

/**
 * ftl_eblks_take_victim() - take the full block with the fewest valid pages
 * Return: the block; there must be a full one on the die.
 */
u32 ftl_eblks_take_victim(struct ftl_eblks *blocks, die_t die);

/**
 * ftl_eblks_take_slc() - take the full block of the SLC region that ranks first, to be folded
 * Return: the block; there must be a full one of the region on the die.
 */
u32 ftl_eblks_take_slc(struct ftl_eblks *blocks, die_t die);

/**
 * ftl_eblks_take_full() - take a certain full block as a victim
 */
void ftl_eblks_take_full(struct ftl_eblks *blocks, u32 eblk);

/**
 * ftl_eblks_count_erases() - a block was erased so many times, as wear sees it
 */
void ftl_eblks_count_erases(struct ftl_eblks *blocks, u32 eblk, u32 nr);

/**
 * ftl_eblks_free() - a victim without valid pages was erased
 */
void ftl_eblks_free(struct ftl_eblks *blocks, u32 eblk);

/**
 * ftl_eblks_doom() - a program to the stream's open block failed
 *
 * The stream needs another block. There must be no doomed one on the die.
 */
void ftl_eblks_doom(struct ftl_eblks *blocks, die_t die, enum ftl_stream stream);

/**
 * ftl_eblks_take_doomed() - take the doomed block of a die, of which there is one, as a victim
 */
u32 ftl_eblks_take_doomed(struct ftl_eblks *blocks, die_t die);

/**
 * ftl_eblks_retire() - a block that is free, or a victim without valid pages, is bad
 */
void ftl_eblks_retire(struct ftl_eblks *blocks, u32 eblk);

/**
 * ftl_eblks_erases() - how evenly the blocks of a die are worn, but for those of the SLC region
 * @least: gets the erases of the block with the fewest
 * @most: gets those of the one with the most
 */
void ftl_eblks_erases(const struct ftl_eblks *blocks, die_t die, u32 *least, u32 *most);

/**
 * ftl_eblks_slc_erases() - erases of the blocks of a die that are in the SLC region
 */
u64 ftl_eblks_slc_erases(const struct ftl_eblks *blocks, die_t die);

/**
 * ftl_eblks_restore() - put a block of a new drive where it belongs
 * @nr_used: units of it that were programmed: none is a free block; when no stream
 *	of the die can go on with it, the others are lost until it is erased
 * @nr_valid: valid pages
 * @is_bad: whether it had been retired, or was to be. With valid pages it is doomed, again if
 *	copies of them were lost; a second such block of a die is taken for a good one.
 */
void ftl_eblks_restore(struct ftl_eblks *blocks, u32 eblk, u32 nr_used, u32 nr_valid,
		       bool is_bad);

/**
 * ftl_eblks_restored() - all blocks are where they belong
 *
 * On a die without a free block collection goes on in the block that has most room.
 */
void ftl_eblks_restored(struct ftl_eblks *blocks);

/* The stream of a placement handle */
static inline enum ftl_stream ftl_stream_of(u32 handle)
{
	return handle ? FTL_STREAM_HANDLE + handle - 1 : FTL_STREAM_HOST;
}

/*
 * Does a die have few free blocks for what a handle is written to next? Fewer than it should have,
 * that is, or just as many when the handle soon takes one, or the first does: that has what is
 * hinted, or moved because of it, whatever the handle. Others have no part in it.
 */
static inline bool ftl_eblks_are_low(const struct ftl_eblks *blocks, u32 handle)
{
	return blocks->nr_low.nr || blocks->nr_low.nr_of[0] || blocks->nr_low.nr_of[handle];
}

/* Streams that the drive has */
static inline u32 ftl_nr_streams(const struct ftl_geometry *geo)
{
	return FTL_STREAM_HANDLE + geo->nr_handles - 1;
}

/* Order of victims: fewest valid pages first, then the one that filled first. */
static inline u64 ftl_eblk_rank(const struct ftl_eblk *eblk)
{
	return (u64)eblk->nr_valid << 32 | eblk->filled_at;
}

/* Must a block be opened before the stream can go on? */
static inline bool ftl_eblks_needs_open(const struct ftl_eblks *blocks, die_t die,
					enum ftl_stream stream)
{
	return !blocks->die[from_die(die)].stream[stream].eblk;
}

/* Does the SLC region of the die take another unit? */
static inline bool ftl_eblks_slc_has_room(const struct ftl_eblks *blocks, die_t die)
{
	const struct ftl_eblk_die *eblks = &blocks->die[from_die(die)];

	return eblks->stream[FTL_STREAM_SLC].eblk || eblks->slc_free.nr;
}

static inline u32 ftl_eblks_nr_free(const struct ftl_eblks *blocks, die_t die)
{
	return blocks->die[from_die(die)].free.nr;
}

/* Valid pages of the next victim; there must be a full block. */
static inline u32 ftl_eblks_least_valid(const struct ftl_eblks *blocks, die_t die)
{
	return blocks->die[from_die(die)].full.entry[0].key >> 32;
}

static inline u32 ftl_eblks_nr_full(const struct ftl_eblks *blocks, die_t die)
{
	return blocks->die[from_die(die)].full.nr;
}

#endif /* FTL_EBLK_H */
