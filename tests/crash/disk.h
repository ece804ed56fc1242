/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A disk with a volatile cache, to which events happen one after the other, and which can
 * lose its power at any time and have it back as if nothing had been.
 *
 * Durable is: a write that was done before a flush was submitted that is done; a write
 * with FUA that is done. Of all others that have been submitted, done or not, any sector
 * may be on the disk. Where two of them overlap, the later one may be there without the
 * earlier one, but does not fall victim to it.
 */
#ifndef CRASH_DISK_H
#define CRASH_DISK_H

#include "events.h"
#include "stamp.h"

#define DISK_SECTORS	STAMP_SECTORS	/* of a page */

/**
 * struct saved_page - a page as it was before the power failed
 * @dpn: which
 * @stamp: what was known of it
 * @bytes: what it held
 */
struct saved_page {
	u64 dpn;
	struct stamp stamp;
	u8 bytes[STAMP_PAGE_BYTES];
};

/**
 * struct disk - the disk
 * @bytes: what it holds
 * @nr_pages: its size
 * @stamp: what is known of each page
 * @is_changed: by page: it may be something else than in the image written last
 * @last: by sector: the last bio that is durable there, plus one
 * @events: what happens to it
 * @atom_sectors: a write is torn between multiples of this
 * @discarded: what the bytes of discarded sectors are; nothing that anybody wrote
 * @ignores_flush: flushes do nothing
 * @ignores_fua: FUA does nothing
 * @pending: bios that were submitted and are not durable, in the order of submission
 * @nr_pending: how many
 * @nr_done: by bio that is a flush: bios that were done when it was submitted
 * @done: bios in the order in which they were done
 * @nr_all_done: how many
 * @nr_flushed: how many of them are durable
 * @is_durable: by bio
 * @saved: pages that the power failure has changed
 * @nr_saved: how many
 * @nr_room: for how many there is memory
 * @saved_in: by page: the failure that has saved it
 * @nr_failures: power failures so far
 */
struct disk {
	u8 *bytes;
	u64 nr_pages;
	struct stamp *stamp;
	bool *is_changed;
	u64 *last;
	const struct events *events;
	u32 atom_sectors;
	u8 discarded;
	bool ignores_flush;
	bool ignores_fua;
	u64 *pending;
	u64 nr_pending;
	u64 *nr_done;
	u64 *done;
	u64 nr_all_done;
	u64 nr_flushed;
	bool *is_durable;
	struct saved_page *saved;
	u64 nr_saved;
	u64 nr_room;
	u64 *saved_in;
	u64 nr_failures;
};

/* How much of what is not durable gets lost */
enum loss {
	LOSS_ALL,
	LOSS_NONE,
	LOSS_LAST,	/* only of the last write, any sectors */
	LOSS_SOME,	/* any write, any sector */
	NR_LOSSES,
};

/**
 * disk_open() - begin with what a file holds; the file does not change
 */
void disk_open(struct disk *disk, const char *file, const struct events *events);

/**
 * disk_happen() - something happens to it
 */
void disk_happen(struct disk *disk, const struct event *event);

/**
 * disk_fail() - the power fails
 * @random: decides what gets lost
 */
void disk_fail(struct disk *disk, enum loss loss, u64 random);

/**
 * disk_undo() - it did not fail after all
 */
void disk_undo(struct disk *disk);

/* What a page of metadata holds. */
static inline const void *disk_page(const struct disk *disk, u64 dpn)
{
	return disk->bytes + dpn * STAMP_PAGE_BYTES;
}

/* What a page of data holds. */
static inline struct stamp disk_stamp(struct disk *disk, u64 dpn)
{
	if (disk->stamp[dpn].kind == STAMP_UNKNOWN)
		disk->stamp[dpn] = stamp_read(disk_page(disk, dpn));
	return disk->stamp[dpn];
}

#endif /* CRASH_DISK_H */
