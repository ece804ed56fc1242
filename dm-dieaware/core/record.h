/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of the journal: what one operation does to map and segment table.
 *
 * An operation is one or more records with the same seq; it happens whole or not at
 * all. MAP and TRIM are followed by DEAD records for all places that lost their page by
 * it, so that the counts of segments can be brought up to date without the map. On a device with
 * checksums SUMS records are between them: those of the pages of the MAP, in order.
 *
 * Pure functions of their arguments.
 */
#ifndef DMDA_RECORD_H
#define DMDA_RECORD_H

#include "block.h"

/* Pages that one operation maps or trims; each may have been at a place of its own */
#define DMDA_MAX_OP_PAGES	512U
#define DMDA_MAX_OP_RECORDS	(1U + DMDA_MAX_OP_PAGES)
#define DMDA_MAX_RECORD_BYTES	14U	/* of those but SUMS */

/**
 * struct dmda_record - a record; which members are set depends on its kind
 * @kind: DMDA_RECORD_*, without DMDA_RECORD_END
 * @is_last: whether it is the last one of its operation
 * @open: OPEN: number of the open summary
 * @nr_pages: MAP, DEAD, TRIM: number of pages, [1, DMDA_MAX_OP_PAGES]; SUMS: number of pages,
 *	[1, DMDA_MAX_RECORD_SUMS]
 * @seg: OPEN, CLOSE, FREE: the segment
 * @lpn: MAP, TRIM: first lpn
 * @dpn: MAP, DEAD: first device page
 * @mtime: CLOSE: age of the newest data in the segment, as an operation's number
 * @sums: SUMS: the checksums, as they are on the device, DMDA_SUM_BYTES each
 */
struct dmda_record {
	u8 kind;
	bool is_last;
	u8 open;
	u16 nr_pages;
	seg_t seg;
	lpn_t lpn;
	dpn_t dpn;
	u64 mtime;
	const void *sums;
};

/* Bytes of records by kind, but SUMS, which is the last; 0: there is none of that kind. */
extern const u8 dmda_record_kind_bytes[DMDA_RECORD_SUMS];

/* Most pages that they may be about; those that are not about pages may have any number there. */
extern const u32 dmda_record_kind_pages[DMDA_RECORD_SUMS];
#define DMDA_RECORD_ANY_PAGES	(U16_MAX + 1U)

/**
 * dmda_record_bytes() - size of a record
 *
 * Return: it, or 0 if there is none of its kind.
 */
static inline unsigned int dmda_record_bytes(const struct dmda_record *record)
{
	if (record->kind >= DMDA_RECORD_SUMS)
		return record->kind == DMDA_RECORD_SUMS ?
			sizeof(struct dmda_record_sums) + record->nr_pages * DMDA_SUM_BYTES : 0;
	return dmda_record_kind_bytes[record->kind];
}

/**
 * dmda_record_encode() - write a record down
 * @to: dmda_record_bytes() bytes
 */
void dmda_record_encode(u8 *to, const struct dmda_record *record);

/* Of what kind a record is: DMDA_RECORD_* */
static inline u8 dmda_record_kind(const u8 *from)
{
	return from[0] & ~DMDA_RECORD_END;
}

/* The same of a record that may be anything, but says that it is SUMS */
unsigned int dmda_record_sums_length(const u8 *from, unsigned int room);

/**
 * dmda_record_length() - size of a record that may be anything
 * @from: first byte of the record
 * @room: bytes that are there
 *
 * A start asks it three times of each record.
 *
 * Return: its bytes, or 0 if it is none.
 */
static inline unsigned int dmda_record_length(const u8 *from, unsigned int room)
{
	const struct dmda_record_range *range = (const struct dmda_record_range *)from;
	unsigned int bytes;
	u8 kind;

	if (!room)
		return 0;
	kind = dmda_record_kind(from);
	if (kind >= DMDA_RECORD_SUMS)
		return kind == DMDA_RECORD_SUMS ? dmda_record_sums_length(from, room) : 0;
	bytes = dmda_record_kind_bytes[kind];
	if (!bytes || bytes > room)
		return 0;
	/* Where it has a number of pages, that is at the same place in all kinds; 0 is too many. */
	return (u16)(dmda_get_bytes(range->nr_pages, sizeof(range->nr_pages)) - 1) <
		dmda_record_kind_pages[kind] ? bytes : 0;
}

/* Whether it is MAP or TRIM */
static inline bool dmda_record_is_about_lpns(const u8 *from)
{
	u8 kind = dmda_record_kind(from);

	return kind == DMDA_RECORD_MAP || kind == DMDA_RECORD_TRIM;
}

/**
 * dmda_record_lpns() - which pages a record is about, and nothing else of it
 * @from: a MAP or TRIM that has a length
 * @first: gets the first
 *
 * Return: how many.
 */
static inline u32 dmda_record_lpns(const u8 *from, u64 *first)
{
	const struct dmda_record_map *map = (const struct dmda_record_map *)from;

	/* At the same place in both */
	*first = dmda_get_bytes(map->lpn, sizeof(map->lpn));
	return dmda_get_bytes(map->nr_pages, sizeof(map->nr_pages));
}

/**
 * dmda_record_decode() - read a record
 * @from: first byte of the record
 * @room: bytes that are there
 *
 * Return: its bytes, or 0 if it is none.
 */
unsigned int dmda_record_decode(const u8 *from, unsigned int room, struct dmda_record *record);

#endif /* DMDA_RECORD_H */
