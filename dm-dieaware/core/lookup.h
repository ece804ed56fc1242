/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Looking up where lpns are, in a page of the map that may be changing at the same time, or going.
 *
 * Who wants to read what lies there must keep it from being written again. For that it is not
 * enough to have seen the place: between that and telling that it is being read, the map may have
 * changed, and the segment may be free. So:
 *
 *	who reads			who frees
 *	begin: where is it?		the map changes, or the page of the map goes
 *	says that it reads there	(a full barrier)
 *	(a full barrier)		does anybody read there?
 *	does what was found hold?
 *
 * Of the two last steps one at least sees what the other has done first. What does not hold is
 * looked up again.
 */
#ifndef DMDA_LOOKUP_H
#define DMDA_LOOKUP_H

#include "change.h"

/**
 * struct dmda_lookup - what was found
 * @page: in this page of the map
 * @version: version of the page
 * @dpn: place of the first lpn, or DPN_NONE
 * @nr_pages: number of lpns that go on at @dpn, or hold nothing like the first
 */
struct dmda_lookup {
	const struct dmda_map_page *page;
	unsigned int version;
	dpn_t dpn;
	u32 nr_pages;
};

/**
 * dmda_lookup_begin() - where are lpns?
 * @page: page of the map; its memory does not go as long as @lookup is used
 * @entry: where the first is on it
 * @nr_pages: most that matter
 * @sums: gets their checksums, if there is one to get them; only of a device that has some
 *
 * Return: whether it is known. If not, the page is changing at this moment, or may not be looked
 * into.
 */
bool dmda_lookup_begin(struct dmda_lookup *lookup, const struct dmda_map_page *page, u32 entry,
		       u32 nr_pages, __le32 *sums);

/**
 * dmda_lookup_holds() - are they still there?
 */
static inline bool dmda_lookup_holds(const struct dmda_lookup *lookup)
{
	return !read_seqcount_retry(&lookup->page->version, lookup->version);
}

#endif /* DMDA_LOOKUP_H */
