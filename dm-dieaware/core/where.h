/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The answer to the message "where": a line for each run of lpns, as many as there is room for,
 * and a last one that says where to go on.
 *
 *   LPN DPN PAGES	so many pages from LPN on lie one behind the other from DPN on
 *   LPN - PAGES	so many pages from LPN on are not mapped
 *   next=LPN		all before LPN is answered
 *
 * Lines go on where the one before ended, and no two of them could be one. Runs are given as they
 * are found on pages of the map; who adds them makes sure that they are of one device.
 *
 * Calls on one answer must not run at the same time.
 */
#ifndef DMDA_WHERE_H
#define DMDA_WHERE_H

#include "map.h"

/* Three numbers of 20 digits and what stands between them; "next=", a number, and the end */
#define DMDA_WHERE_LINE_BYTES	63U
#define DMDA_WHERE_LAST_BYTES	26U

/* With less memory than this an answer may say nothing. */
#define DMDA_WHERE_LEAST_BYTES	(DMDA_WHERE_LINE_BYTES + DMDA_WHERE_LAST_BYTES)

/**
 * struct dmda_where - an answer that is being made
 * @super: superblock of the device
 * @text: the lines so far
 * @size: bytes at @text, DMDA_WHERE_LEAST_BYTES at least
 * @used: bytes of @text that are lines; below @size
 * @lpn: first lpn of the run that has no line yet
 * @dpn: its place, or DPN_NONE
 * @nr_pages: number of its pages; 0 if there is none
 */
struct dmda_where {
	const struct dmda_super *super;
	char *text;
	size_t size;
	size_t used;
	lpn_t lpn;
	dpn_t dpn;
	u64 nr_pages;
};

/**
 * dmda_where_begin() - begin an answer
 * @where: the answer
 * @super: superblock of the device
 * @lpn: the first that is asked for
 * @text: memory for the lines; they end with a zero
 * @size: bytes at @text, DMDA_WHERE_LEAST_BYTES at least
 *
 * Context: any.
 */
void dmda_where_begin(struct dmda_where *where, const struct dmda_super *super, lpn_t lpn,
		      char *text, size_t size);

/* The lpn that comes next: what was added before ends there. */
static inline lpn_t dmda_where_next(const struct dmda_where *where)
{
	return to_lpn(from_lpn(where->lpn) + where->nr_pages);
}

/**
 * dmda_where_add() - go on with entries of a page of the map
 * @where: the answer
 * @map: the page on which dmda_where_next() is; or NULL if nothing is mapped on it
 * @nr_pages: number of lpns that matter; those behind the page's last entry do not
 *
 * Context: any.
 * Return: whether all of them have room; if not, nothing more is to be added.
 */
bool dmda_where_add(struct dmda_where *where, const struct dmda_map_block *map, u64 nr_pages);

/**
 * dmda_where_end() - the last lines
 * @where: the answer
 *
 * Context: any.
 */
void dmda_where_end(struct dmda_where *where);

#endif /* DMDA_WHERE_H */
