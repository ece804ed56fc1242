// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records as bytes: as few as hold their numbers, and without padding, because the records
 * of all operations since the last flush have to be written by the next one.
 *
 * A record that is read may be anything. One that is of an unknown kind, cut off, or of no
 * pages or too many has no length, and is no record.
 */
#include "record.h"

const u8 dmda_record_kind_bytes[DMDA_RECORD_SUMS] = {
	[DMDA_RECORD_MAP] = sizeof(struct dmda_record_map),
	[DMDA_RECORD_DEAD] = sizeof(struct dmda_record_range),
	[DMDA_RECORD_TRIM] = sizeof(struct dmda_record_range),
	[DMDA_RECORD_OPEN] = sizeof(struct dmda_record_segment),
	[DMDA_RECORD_CLOSE] = sizeof(struct dmda_record_segment),
	[DMDA_RECORD_FREE] = sizeof(struct dmda_record_segment),
};

static void encode_map(u8 *to, const struct dmda_record *record)
{
	struct dmda_record_map *map = (struct dmda_record_map *)to;

	dmda_put_bytes(map->nr_pages, record->nr_pages, sizeof(map->nr_pages));
	dmda_put_bytes(map->lpn, from_lpn(record->lpn), sizeof(map->lpn));
	dmda_put_bytes(map->dpn, from_dpn(record->dpn), sizeof(map->dpn));
}

static void encode_range(u8 *to, u64 first, u16 nr_pages)
{
	struct dmda_record_range *range = (struct dmda_record_range *)to;

	dmda_put_bytes(range->nr_pages, nr_pages, sizeof(range->nr_pages));
	dmda_put_bytes(range->first, first, sizeof(range->first));
}

static void encode_sums(u8 *to, const struct dmda_record *record)
{
	struct dmda_record_sums *sums = (struct dmda_record_sums *)to;

	sums->nr_pages = record->nr_pages;
	memcpy(sums->sum, record->sums, record->nr_pages * DMDA_SUM_BYTES);
}

static void encode_segment(u8 *to, const struct dmda_record *record)
{
	struct dmda_record_segment *segment = (struct dmda_record_segment *)to;

	segment->open = record->open;
	dmda_put_bytes(segment->segment, from_seg(record->seg), sizeof(segment->segment));
	dmda_put_bytes(segment->mtime, record->mtime, sizeof(segment->mtime));
}

void dmda_record_encode(u8 *to, const struct dmda_record *record)
{
	switch (record->kind) {
	case DMDA_RECORD_MAP:
		encode_map(to, record);
		break;
	case DMDA_RECORD_DEAD:
		encode_range(to, from_dpn(record->dpn), record->nr_pages);
		break;
	case DMDA_RECORD_TRIM:
		encode_range(to, from_lpn(record->lpn), record->nr_pages);
		break;
	case DMDA_RECORD_SUMS:
		encode_sums(to, record);
		break;
	default:
		encode_segment(to, record);
		break;
	}
	to[0] = record->kind | (record->is_last ? DMDA_RECORD_END : 0);
}

static void decode_map(const u8 *from, struct dmda_record *record)
{
	const struct dmda_record_map *map = (const struct dmda_record_map *)from;

	record->nr_pages = dmda_get_bytes(map->nr_pages, sizeof(map->nr_pages));
	record->lpn = to_lpn(dmda_get_bytes(map->lpn, sizeof(map->lpn)));
	record->dpn = to_dpn(dmda_get_bytes(map->dpn, sizeof(map->dpn)));
}

static void decode_range(const u8 *from, struct dmda_record *record)
{
	const struct dmda_record_range *range = (const struct dmda_record_range *)from;
	u64 first = dmda_get_bytes(range->first, sizeof(range->first));

	record->nr_pages = dmda_get_bytes(range->nr_pages, sizeof(range->nr_pages));
	if (record->kind == DMDA_RECORD_DEAD)
		record->dpn = to_dpn(first);
	else
		record->lpn = to_lpn(first);
}

static void decode_segment(const u8 *from, struct dmda_record *record)
{
	const struct dmda_record_segment *segment = (const struct dmda_record_segment *)from;

	record->open = segment->open;
	record->seg = to_seg(dmda_get_bytes(segment->segment, sizeof(segment->segment)));
	record->mtime = dmda_get_bytes(segment->mtime, sizeof(segment->mtime));
}

static void decode_sums(const u8 *from, struct dmda_record *record)
{
	const struct dmda_record_sums *sums = (const struct dmda_record_sums *)from;

	record->nr_pages = sums->nr_pages;
	record->sums = sums->sum;
}

static void decode_members(const u8 *from, struct dmda_record *record)
{
	switch (record->kind) {
	case DMDA_RECORD_MAP:
		decode_map(from, record);
		break;
	case DMDA_RECORD_DEAD:
	case DMDA_RECORD_TRIM:
		decode_range(from, record);
		break;
	case DMDA_RECORD_SUMS:
		decode_sums(from, record);
		break;
	default:
		decode_segment(from, record);
		break;
	}
}

const u32 dmda_record_kind_pages[DMDA_RECORD_SUMS] = {
	[DMDA_RECORD_MAP] = DMDA_MAX_OP_PAGES,
	[DMDA_RECORD_DEAD] = DMDA_MAX_OP_PAGES,
	[DMDA_RECORD_TRIM] = DMDA_MAX_OP_PAGES,
	[DMDA_RECORD_OPEN] = DMDA_RECORD_ANY_PAGES,
	[DMDA_RECORD_CLOSE] = DMDA_RECORD_ANY_PAGES,
	[DMDA_RECORD_FREE] = DMDA_RECORD_ANY_PAGES,
};

unsigned int dmda_record_sums_length(const u8 *from, unsigned int room)
{
	const struct dmda_record_sums *sums = (const struct dmda_record_sums *)from;
	unsigned int bytes;

	if (room < sizeof(*sums) || !sums->nr_pages || sums->nr_pages > DMDA_MAX_RECORD_SUMS)
		return 0;
	bytes = sizeof(*sums) + sums->nr_pages * DMDA_SUM_BYTES;
	return bytes <= room ? bytes : 0;
}

unsigned int dmda_record_decode(const u8 *from, unsigned int room, struct dmda_record *record)
{
	unsigned int bytes = dmda_record_length(from, room);

	if (!bytes)
		return 0;
	*record = (struct dmda_record){
		.kind = dmda_record_kind(from),
		.is_last = from[0] & DMDA_RECORD_END,
	};
	decode_members(from, record);
	return bytes;
}
