/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a write is to the file that it belongs to: from the look-ups in the run table
 * to the hint that goes to the device.
 *
 *   OVERWRITE  the device page holds this very page of the file already
 *   APPEND     the page that precedes it in the file lies on a known device page, or
 *              the write begins the file
 *   NONE       neither, or the file is unknown and the neighbour is not
 *
 * A hint is a statement about the first page; the device continues from there in die
 * order. So a verdict says for how many pages it holds. The caller cuts the bio
 * there and asks again for the rest, if both pieces are worth a command, and the device
 * would not have written them as one; else all of it goes with what is true of all of it.
 *
 * Pure functions of their arguments: calls may always run at the same time.
 */
#ifndef DMDA_CLASSIFY_H
#define DMDA_CLASSIFY_H

#include "units.h"

/**
 * enum dmda_hint - what is said to the device about a write
 * @DMDA_HINT_NONE: no hint
 * @DMDA_HINT_APPEND: the write follows dmda_verdict.pred in its file, or begins a file
 * @DMDA_HINT_OVERWRITE: the write replaces the pages that lie there
 * @DMDA_NR_HINTS: number of these
 */
enum dmda_hint {
	DMDA_HINT_NONE,
	DMDA_HINT_APPEND,
	DMDA_HINT_OVERWRITE,
	DMDA_NR_HINTS,
};

/**
 * struct dmda_owner - what the run table knows about a device page
 * @file: file whose page it holds; if anonymous, the file is unknown, see @nr_pages
 * @fpage: page of @file; the page's own dpn when @file is anonymous
 * @nr_pages: number of device pages, this one included, that go on in the same way; 0 if nothing is
 *	known about the page
 */
struct dmda_owner {
	struct dmda_file file;
	u64 fpage;
	u32 nr_pages;
};

#define DMDA_OWNER_UNKNOWN	((struct dmda_owner){ .nr_pages = 0 })

/**
 * struct dmda_verdict - what to tell the device
 * @hint: the hint
 * @pred: of an APPEND, device page of the page before the write in its file, or DPN_NONE if the
 *	write begins the file; DPN_NONE with other hints
 * @nr_pages: number of pages of the write for which this holds, [1, dmda_run.nr_pages]
 */
struct dmda_verdict {
	enum dmda_hint hint;
	dpn_t pred;
	u32 nr_pages;
};

/**
 * struct dmda_neighbour - the page before a write in its file
 * @dpn: device page at which it lies; DPN_NONE if that is not known, or the write begins its file
 * @owner: owner of that device page, as the run table has it
 */
struct dmda_neighbour {
	dpn_t dpn;
	struct dmda_owner owner;
};

/**
 * dmda_classify_overwrite() - is the beginning of a write an overwrite?
 * @write: the write; never one if its file is anonymous
 * @here: owner of @write's first device page, as the run table has it
 * @verdict: OVERWRITE and its length; unchanged if it is none
 *
 * The first question for a write of a known file: where it says yes, the look-ups for
 * dmda_classify() are not needed.
 *
 * Return: whether it is one.
 */
static inline bool dmda_classify_overwrite(const struct dmda_run *write,
					   const struct dmda_owner *here,
					   struct dmda_verdict *verdict)
{
	if (!here->nr_pages || !write->file.id || here->file.id != write->file.id ||
	    here->fpage != write->fpage)
		return false;

	verdict->hint = DMDA_HINT_OVERWRITE;
	verdict->pred = DPN_NONE;
	verdict->nr_pages = min(here->nr_pages, write->nr_pages);
	return true;
}

/**
 * dmda_classify_is_alias() - may a page be that of two files?
 * @owner: whose it is, as the run table has it
 * @fpage: page of a file that the table says lies there as well
 *
 * A snapshot, a reflink's copy, and files that have exchanged what they hold have their pages at
 * the same places, and so has a filesystem that was mounted again under another device number. A
 * file that got the place later has most likely another page there.
 *
 * Return: whether it may.
 */
static inline bool dmda_classify_is_alias(const struct dmda_owner *owner, u64 fpage)
{
	return owner->nr_pages && owner->file.id && owner->fpage == fpage;
}

/**
 * dmda_classify() - what a write is, given everything the run table knows
 * @write: the write
 * @here: the owner of @write's first device page
 * @before: page before the write in its file, @write->fpage - 1, if the file is known
 * @nr_other: pages of @write before the first one that is an overwrite,
 *	dmda_extents_nr_other() of the owners; @write->nr_pages when there is none.
 *	Ignored when the first page is one.
 * @verdict: the result
 *
 * An anonymous write is never an overwrite, since the page may have changed its file;
 * it is an append when it continues anonymous pages at a place not written before.
 */
void dmda_classify(const struct dmda_run *write, const struct dmda_owner *here,
		   const struct dmda_neighbour *before, u32 nr_other,
		   struct dmda_verdict *verdict);

/**
 * dmda_classify_whole() - what a write is of which only a part is an overwrite
 * @write: the write, of a known file
 * @before: as for dmda_classify()
 * @verdict: the result, for all of it
 *
 * It follows the page before it, whatever its own pages replace.
 */
void dmda_classify_whole(const struct dmda_run *write, const struct dmda_neighbour *before,
			 struct dmda_verdict *verdict);

/**
 * dmda_classify_forgo_begin() - what is left to say to a device that knows no beginnings
 * @verdict: changed
 */
static inline void dmda_classify_forgo_begin(struct dmda_verdict *verdict)
{
	if (verdict->pred == DPN_NONE && verdict->hint == DMDA_HINT_APPEND)
		verdict->hint = DMDA_HINT_NONE;
}

/* A shorter piece of a write is not worth a command of its own, for the sake of a hint */
#define DMDA_LEAST_PIECE_PAGES	4U

/**
 * dmda_classify_cut() - where a write may be cut in two
 * @sector: its first sector on the whole disk below
 * @nr_pages: its length
 * @nr_alike: pages at its beginning that one verdict holds for, or that go to one place, below
 *	@nr_pages
 * @whole_sectors: the device writes so many sectors, from a multiple of them on, as a
 *	whole or not at all; at least 1
 * @least_pages: pages below which a piece is not worth it
 *
 * Return: pages of the first piece, at most @nr_alike; 0 if it must go as it is.
 */
u32 dmda_classify_cut(u64 sector, u32 nr_pages, u32 nr_alike, u32 whole_sectors, u32 least_pages);

#endif /* DMDA_CLASSIFY_H */
