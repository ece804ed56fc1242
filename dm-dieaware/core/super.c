// SPDX-License-Identifier: GPL-2.0-only
/*
 * The layout of a device: made by format, made larger by growing, and checked when read.
 *
 * The number of segments depends on the size of the tables, and that on the number of
 * segments. So the tables get room as if all of the device were segments, which is a little
 * too much, and the segments get what is left.
 *
 * What is read is checked as if somebody had made it up, with a checksum that fits: sizes
 * first, so that sums cannot overflow, then places, then whether everything has room. The
 * code behind relies on these numbers.
 */
#include "super.h"

/* Numbers of pages stay below this, so that a place fits into a map entry. */
#define LIMIT_PAGES	(1ULL << (8 * DMDA_DPN_BYTES))

static u32 summary_pages(u32 segment_pages)
{
	return DIV_ROUND_UP(segment_pages, DMDA_SUMMARIES_PER_PAGE + 1);
}

static u64 nr_segment_pages(u64 nr_segments)
{
	return DIV_ROUND_UP_ULL(nr_segments, DMDA_SEGMENTS_PER_PAGE);
}

static u64 nr_map_pages(const struct dmda_super *super, u64 nr_lpns)
{
	return DIV_ROUND_UP_ULL(nr_lpns, dmda_super_map_entries(super));
}

static u64 nr_directory_pages(u64 map_pages)
{
	return DIV_ROUND_UP_ULL(map_pages, DMDA_ENTRIES_PER_PAGE);
}

static void size_tables(const struct dmda_super *super, struct dmda_area *area, u64 nr_segments,
			u64 nr_lpns)
{
	area->nr_segments = nr_segments;
	area->nr_segment_pages = nr_segment_pages(nr_segments);
	area->nr_map_pages = nr_map_pages(super, nr_lpns);
	area->nr_directory_pages = nr_directory_pages(area->nr_map_pages);
}

static u64 tables_end(const struct dmda_area *area)
{
	return area->tables_dpn + 2 * (area->nr_segment_pages + area->nr_open_pages +
				       area->nr_directory_pages + area->nr_map_pages);
}

static u32 needed_root_pages(u64 nr_entries)
{
	return 1 + DIV_ROUND_UP_ULL(nr_entries, DMDA_ENTRIES_PER_PAGE);
}

static u64 sum_of_areas(const struct dmda_super *super, enum dmda_table table);

static u64 next_multiple(u64 value, u32 of)
{
	return div_u64(value + of - 1, of) * of;
}

/* Large enough that cleaning and the SSD's own collection have whole stripes, small enough
 * that there are some hundred.
 */
static u32 chosen_segment_pages(const struct dmda_format *format)
{
	u64 pages = clamp_t(u64, format->nr_device_pages / 256, 256, 8192);

	return next_multiple(rounddown_pow_of_two(pages), format->stripe_pages);
}

static u32 chosen_journal_sectors(const struct dmda_format *format)
{
	u64 sectors = clamp_t(u64, format->nr_device_pages / 64, 2 * DMDA_MIN_JOURNAL_SECTORS,
			      128 * DMDA_MIN_JOURNAL_SECTORS);

	return round_down(sectors, 8);
}

static const char *check_format(const struct dmda_format *format)
{
	if (format->nr_device_pages >= LIMIT_PAGES)
		return "Log mode takes devices of up to 4 PiB.";
	if (!format->stripe_pages || format->stripe_pages > DMDA_MAX_SEGMENT_PAGES)
		return "A stripe must be of 1 to 65536 pages.";
	if (format->segment_pages % format->stripe_pages)
		return "The size of a segment must be a multiple of that of a stripe.";
	if (format->segment_pages && format->segment_pages < 64)
		return "A segment must be of at least 64 pages.";
	if (format->segment_pages > DMDA_MAX_SEGMENT_PAGES)
		return "A segment must be of at most 65536 pages.";
	if (format->journal_unit_sectors != 1 && format->journal_unit_sectors != 8)
		return "The journal can be written in units of 1 or 8 sectors only.";
	if (format->journal_sectors % 8)
		return "The size of the journal must be a multiple of 8 sectors.";
	if (format->journal_sectors && (format->journal_sectors < DMDA_MIN_JOURNAL_SECTORS ||
					format->journal_sectors > DMDA_MAX_JOURNAL_SECTORS))
		return "The journal must be of 1024 to 2097152 sectors.";
	if (min_t(u32, format->journal_sectors / DMDA_MIN_BATCHES, DMDA_MAX_BATCH_SECTORS) %
	    format->journal_unit_sectors)
		return "An eighth of a journal of less than 2048 sectors must be of whole units.";
	if (format->reserve_permille < 20 || format->reserve_permille > 900)
		return "The reserve must be of 20 to 900 per mille.";
	if (format->label && strlen(format->label) >= sizeof_field(struct dmda_super, label))
		return "A label must be of at most 31 characters.";
	return NULL;
}

/* The tables are sized for all the device as segments, which is a little too much. */
static const char *lay_out(struct dmda_super *super, u32 reserve_permille)
{
	struct dmda_area *area = &super->area[0];
	u32 data_pages = dmda_super_data_pages(super);
	u64 most = div_u64(super->nr_device_pages, super->segment_pages);
	u64 reserved, end;

	size_tables(super, area, most, most * data_pages);
	area->nr_open_pages = DMDA_MAX_OPEN * super->summary_pages;
	super->nr_areas = 1;
	super->root_pages = needed_root_pages(area->nr_segment_pages + area->nr_open_pages +
					      area->nr_directory_pages);
	super->root_dpn[0] = DMDA_FIRST_ROOT_DPN;
	super->root_dpn[1] = DMDA_FIRST_ROOT_DPN + super->root_pages;
	super->journal_dpn = super->root_dpn[1] + super->root_pages;
	area->tables_dpn = super->journal_dpn + super->journal_sectors / DMDA_PAGE_SECTORS;
	area->segments_dpn = next_multiple(tables_end(area), super->stripe_pages);
	end = area->segments_dpn + DMDA_MIN_SEGMENTS * super->segment_pages;
	if (super->nr_device_pages < end)
		return "The device is too small for log mode: there must be room for 32 segments.";
	area->nr_segments = div_u64(super->nr_device_pages - area->segments_dpn,
				    super->segment_pages);
	if (area->nr_segments >= U32_MAX)
		return "There would be too many segments: they must be larger.";
	reserved = max_t(u64, div_u64(area->nr_segments * reserve_permille, 1000),
			 DMDA_RESERVED_SEGMENTS);
	super->nr_lpns = (area->nr_segments - reserved) * data_pages;
	size_tables(super, area, area->nr_segments, super->nr_lpns);
	return NULL;
}

const char *dmda_super_make(const struct dmda_format *format, struct dmda_super *super)
{
	const char *why = check_format(format);

	if (why)
		return why;
	memset(super, 0, sizeof(*super));
	memcpy(super->uuid, format->uuid, DMDA_UUID_BYTES);
	if (format->label)
		strscpy(super->label, format->label, sizeof(super->label));
	super->epoch = 1;
	super->incompat = (format->checksums ? DMDA_INCOMPAT_CHECKSUMS : 0) |
			  (format->drafts ? DMDA_INCOMPAT_DRAFTS : 0);
	super->nr_device_pages = format->nr_device_pages;
	super->stripe_pages = format->stripe_pages;
	super->segment_pages = format->segment_pages ?: chosen_segment_pages(format);
	super->summary_pages = summary_pages(super->segment_pages);
	super->journal_sectors = format->journal_sectors ?: chosen_journal_sectors(format);
	super->journal_unit_sectors = format->journal_unit_sectors;
	return lay_out(super, format->reserve_permille);
}

/* Tables of an area for what the areas before it have no room for */
static void size_more_tables(const struct dmda_super *super, struct dmda_area *area,
			     u64 nr_segments, u64 nr_lpns)
{
	const struct dmda_area before = {
		.nr_segment_pages = sum_of_areas(super, DMDA_TABLE_SEGMENTS),
		.nr_map_pages = sum_of_areas(super, DMDA_TABLE_MAP),
		.nr_directory_pages = sum_of_areas(super, DMDA_TABLE_DIRECTORY),
	};
	struct dmda_area all;

	size_tables(super, &all, nr_segments, nr_lpns);
	area->nr_segment_pages = all.nr_segment_pages -
		min(all.nr_segment_pages, before.nr_segment_pages);
	area->nr_map_pages = all.nr_map_pages - min(all.nr_map_pages, before.nr_map_pages);
	area->nr_directory_pages = all.nr_directory_pages -
		min(all.nr_directory_pages, before.nr_directory_pages);
}

static u64 shown_pages(const struct dmda_super *super, u64 old_segments, u64 nr_segments)
{
	u32 data_pages = dmda_super_data_pages(super);
	u64 reserved = old_segments - div_u64(super->nr_lpns, data_pages);

	reserved = max_t(u64, div64_u64(nr_segments * reserved + old_segments - 1, old_segments),
			 DMDA_RESERVED_SEGMENTS);
	return (nr_segments - reserved) * data_pages;
}

/* As at first, tables and roots are sized for all of the place as segments. */
const char *dmda_super_grow(struct dmda_super *super, u64 nr_device_pages)
{
	const struct dmda_area *last = &super->area[super->nr_areas - 1];
	u64 begin = last->segments_dpn + last->nr_segments * super->segment_pages;
	u64 old_segments = dmda_super_nr_segments(super);
	u64 most, nr_segments;
	struct dmda_area area = { 0 };

	if (super->nr_areas == DMDA_MAX_AREAS)
		return "The device has grown too often.";
	if (nr_device_pages >= LIMIT_PAGES)
		return "Log mode takes devices of up to 4 PiB.";
	if (nr_device_pages < begin)
		return "The device has become smaller.";
	most = old_segments + div_u64(nr_device_pages - begin, super->segment_pages);
	size_more_tables(super, &area, most, most * dmda_super_data_pages(super));
	super->root_pages = needed_root_pages(nr_segment_pages(most) +
					      sum_of_areas(super, DMDA_TABLE_OPEN) +
					      sum_of_areas(super, DMDA_TABLE_DIRECTORY) +
					      area.nr_directory_pages);
	super->root_dpn[0] = begin;
	super->root_dpn[1] = begin + super->root_pages;
	area.tables_dpn = super->root_dpn[1] + super->root_pages;
	area.segments_dpn = next_multiple(tables_end(&area), super->stripe_pages);
	if (nr_device_pages < area.segments_dpn + super->segment_pages)
		return "There is no room for another segment.";
	area.nr_segments = div_u64(nr_device_pages - area.segments_dpn, super->segment_pages);
	nr_segments = old_segments + area.nr_segments;
	if (nr_segments >= U32_MAX)
		return "There would be too many segments.";
	super->nr_lpns = shown_pages(super, old_segments, nr_segments);
	size_more_tables(super, &area, nr_segments, super->nr_lpns);
	super->nr_device_pages = nr_device_pages;
	super->area[super->nr_areas++] = area;
	return NULL;
}

static void encode_area(struct dmda_area_block *to, const struct dmda_area *area)
{
	to->tables_dpn = cpu_to_le64(area->tables_dpn);
	to->nr_segment_pages = cpu_to_le64(area->nr_segment_pages);
	to->nr_open_pages = cpu_to_le64(area->nr_open_pages);
	to->nr_directory_pages = cpu_to_le64(area->nr_directory_pages);
	to->nr_map_pages = cpu_to_le64(area->nr_map_pages);
	to->segments_dpn = cpu_to_le64(area->segments_dpn);
	to->nr_segments = cpu_to_le64(area->nr_segments);
}

void dmda_super_encode(const struct dmda_super *super, struct dmda_super_block *page)
{
	const struct dmda_block_id id = {
		.magic = DMDA_MAGIC_SUPER,
		.dpn = dmda_super_dpn(super->epoch),
		.seq = super->epoch,
		.epoch = super->epoch,
		.uuid = super->uuid,
	};

	memset(page, 0, sizeof(*page));
	page->compat = cpu_to_le64(super->compat);
	page->ro_compat = cpu_to_le64(super->ro_compat);
	page->incompat = cpu_to_le64(super->incompat);
	page->nr_device_pages = cpu_to_le64(super->nr_device_pages);
	page->nr_lpns = cpu_to_le64(super->nr_lpns);
	page->segment_pages = cpu_to_le32(super->segment_pages);
	page->summary_pages = cpu_to_le32(super->summary_pages);
	page->stripe_pages = cpu_to_le32(super->stripe_pages);
	page->journal_sectors = cpu_to_le32(super->journal_sectors);
	page->journal_unit_sectors = cpu_to_le32(super->journal_unit_sectors);
	page->flags = cpu_to_le32(super->flags);
	page->journal_dpn = cpu_to_le64(super->journal_dpn);
	page->root_dpn[0] = cpu_to_le64(super->root_dpn[0]);
	page->root_dpn[1] = cpu_to_le64(super->root_dpn[1]);
	page->root_pages = cpu_to_le32(super->root_pages);
	page->nr_areas = cpu_to_le32(super->nr_areas);
	memcpy(page->label, super->label, sizeof(page->label));
	for (u32 i = 0; i < super->nr_areas; i++)
		encode_area(&page->area[i], &super->area[i]);
	dmda_block_seal(page, &id);
}

static void decode_area(struct dmda_area *area, const struct dmda_area_block *from)
{
	area->tables_dpn = le64_to_cpu(from->tables_dpn);
	area->nr_segment_pages = le64_to_cpu(from->nr_segment_pages);
	area->nr_open_pages = le64_to_cpu(from->nr_open_pages);
	area->nr_directory_pages = le64_to_cpu(from->nr_directory_pages);
	area->nr_map_pages = le64_to_cpu(from->nr_map_pages);
	area->segments_dpn = le64_to_cpu(from->segments_dpn);
	area->nr_segments = le64_to_cpu(from->nr_segments);
}

static void decode(struct dmda_super *super, const struct dmda_super_block *page)
{
	memset(super, 0, sizeof(*super));
	memcpy(super->uuid, page->header.uuid, DMDA_UUID_BYTES);
	super->epoch = le64_to_cpu(page->header.epoch);
	super->compat = le64_to_cpu(page->compat);
	super->ro_compat = le64_to_cpu(page->ro_compat);
	super->incompat = le64_to_cpu(page->incompat);
	super->nr_device_pages = le64_to_cpu(page->nr_device_pages);
	super->nr_lpns = le64_to_cpu(page->nr_lpns);
	super->segment_pages = le32_to_cpu(page->segment_pages);
	super->summary_pages = le32_to_cpu(page->summary_pages);
	super->stripe_pages = le32_to_cpu(page->stripe_pages);
	super->journal_sectors = le32_to_cpu(page->journal_sectors);
	super->journal_unit_sectors = le32_to_cpu(page->journal_unit_sectors);
	super->flags = le32_to_cpu(page->flags);
	super->journal_dpn = le64_to_cpu(page->journal_dpn);
	super->root_dpn[0] = le64_to_cpu(page->root_dpn[0]);
	super->root_dpn[1] = le64_to_cpu(page->root_dpn[1]);
	super->root_pages = le32_to_cpu(page->root_pages);
	super->nr_areas = min_t(u32, le32_to_cpu(page->nr_areas), DMDA_MAX_AREAS);
	memcpy(super->label, page->label, sizeof(super->label));
	super->label[sizeof(super->label) - 1] = '\0';
	for (u32 i = 0; i < super->nr_areas; i++)
		decode_area(&super->area[i], &page->area[i]);
}

static const char *check_sizes(const struct dmda_super *super)
{
	if (!super->nr_areas || !super->stripe_pages || super->nr_device_pages >= LIMIT_PAGES)
		return "the superblock has impossible sizes";
	if (super->segment_pages < 64 || super->segment_pages > DMDA_MAX_SEGMENT_PAGES ||
	    super->segment_pages % super->stripe_pages ||
	    super->summary_pages != summary_pages(super->segment_pages))
		return "the superblock has an impossible size of segments";
	if (super->journal_sectors < DMDA_MIN_JOURNAL_SECTORS || super->journal_sectors % 8 ||
	    super->journal_sectors > DMDA_MAX_JOURNAL_SECTORS ||
	    (super->journal_unit_sectors != 1 && super->journal_unit_sectors != 8))
		return "the superblock has an impossible size of the journal";
	return NULL;
}

/* Places of what is not in an area; they need not be in that order after growing. */
static const char *check_places(const struct dmda_super *super)
{
	u64 journal_end = super->journal_dpn + super->journal_sectors / DMDA_PAGE_SECTORS;
	u64 limit = super->nr_device_pages;

	if (super->journal_dpn < DMDA_FIRST_ROOT_DPN || super->journal_dpn > limit ||
	    journal_end > limit)
		return "the superblock has the journal at an impossible place";
	for (int i = 0; i < 2; i++) {
		if (super->root_dpn[i] < DMDA_FIRST_ROOT_DPN || super->root_dpn[i] > limit ||
		    super->root_pages > limit - super->root_dpn[i])
			return "the superblock has a root at an impossible place";
	}
	return NULL;
}

static const char *check_areas(const struct dmda_super *super)
{
	u64 free_dpn = DMDA_FIRST_ROOT_DPN;

	for (u32 i = 0; i < super->nr_areas; i++) {
		const struct dmda_area *area = &super->area[i];

		if (area->nr_segment_pages >= LIMIT_PAGES || area->nr_map_pages >= LIMIT_PAGES ||
		    area->nr_directory_pages >= LIMIT_PAGES ||
		    area->nr_open_pages >= LIMIT_PAGES || area->nr_segments >= U32_MAX ||
		    area->tables_dpn >= LIMIT_PAGES || area->segments_dpn >= LIMIT_PAGES)
			return "the superblock has an area of impossible size";
		if (area->tables_dpn < free_dpn || tables_end(area) > area->segments_dpn ||
		    area->segments_dpn % super->stripe_pages)
			return "the superblock has an area at an impossible place";
		free_dpn = area->segments_dpn + area->nr_segments * super->segment_pages;
	}
	return free_dpn > super->nr_device_pages ?
		"the superblock has segments behind the end of the device" : NULL;
}

static const char *check_sums(const struct dmda_super *super)
{
	u64 nr_segments = dmda_super_nr_segments(super);

	if (nr_segments < DMDA_MIN_SEGMENTS || nr_segments >= U32_MAX ||
	    super->nr_lpns > (nr_segments - DMDA_RESERVED_SEGMENTS) *
			     dmda_super_data_pages(super))
		return "the superblock shows more pages than there are";
	for (int table = DMDA_TABLE_SEGMENTS; table < DMDA_NR_TABLES; table++) {
		if (dmda_super_nr_pages(super, table) > sum_of_areas(super, table))
			return "the superblock has a table that is too small";
	}
	if (super->root_pages <
	    needed_root_pages(dmda_super_nr_pages(super, DMDA_TABLE_SEGMENTS) +
			      dmda_super_nr_pages(super, DMDA_TABLE_OPEN) +
			      dmda_super_nr_pages(super, DMDA_TABLE_DIRECTORY)))
		return "the superblock has a root that is too small";
	return NULL;
}

const char *dmda_super_decode(const struct dmda_super_block *page, dpn_t dpn,
			      struct dmda_super *super)
{
	const struct dmda_block_id id = {
		.magic = DMDA_MAGIC_SUPER,
		.dpn = dpn,
		.uuid = page->header.uuid,
	};
	const char *why = dmda_block_check(page, &id);

	if (why)
		return why;
	decode(super, page);
	if (!super->epoch || le32_to_cpu(page->nr_areas) > DMDA_MAX_AREAS)
		return "the superblock has impossible sizes";
	if (from_dpn(dmda_super_dpn(super->epoch)) != from_dpn(dpn))
		return "the superblock is at the place of another one";
	why = check_sizes(super);
	if (!why)
		why = check_places(super);
	if (!why)
		why = check_areas(super);
	return why ?: check_sums(super);
}

const char *dmda_super_unknown_features(const struct dmda_super *super, bool read_only)
{
	if (super->incompat & ~DMDA_INCOMPAT_KNOWN)
		return "The format has features that this version does not know.";
	if (!read_only && super->ro_compat & ~DMDA_RO_COMPAT_KNOWN)
		return "The format has features with which this version can only read.";
	return NULL;
}

static bool is_same_area(const struct dmda_area *a, const struct dmda_area *b)
{
	return a->tables_dpn == b->tables_dpn && a->nr_segment_pages == b->nr_segment_pages &&
		a->nr_open_pages == b->nr_open_pages &&
		a->nr_directory_pages == b->nr_directory_pages &&
		a->nr_map_pages == b->nr_map_pages && a->segments_dpn == b->segments_dpn &&
		a->nr_segments == b->nr_segments;
}

static bool are_same_areas(const struct dmda_super *a, const struct dmda_super *b)
{
	if (a->nr_areas != b->nr_areas)
		return false;
	for (u32 i = 0; i < a->nr_areas; i++) {
		if (!is_same_area(&a->area[i], &b->area[i]))
			return false;
	}
	return true;
}

bool dmda_super_is_same_layout(const struct dmda_super *a, const struct dmda_super *b)
{
	return !memcmp(a->uuid, b->uuid, DMDA_UUID_BYTES) && a->compat == b->compat &&
		a->ro_compat == b->ro_compat && a->incompat == b->incompat &&
		a->nr_device_pages == b->nr_device_pages && a->nr_lpns == b->nr_lpns &&
		a->segment_pages == b->segment_pages && a->summary_pages == b->summary_pages &&
		a->stripe_pages == b->stripe_pages && a->journal_sectors == b->journal_sectors &&
		a->journal_unit_sectors == b->journal_unit_sectors &&
		a->journal_dpn == b->journal_dpn && a->root_dpn[0] == b->root_dpn[0] &&
		a->root_dpn[1] == b->root_dpn[1] && a->root_pages == b->root_pages &&
		are_same_areas(a, b);
}

u64 dmda_super_nr_segments(const struct dmda_super *super)
{
	u64 nr = 0;

	for (u32 i = 0; i < super->nr_areas; i++)
		nr += super->area[i].nr_segments;
	return nr;
}

u64 dmda_super_nr_pages(const struct dmda_super *super, enum dmda_table table)
{
	switch (table) {
	case DMDA_TABLE_SEGMENTS:
		return nr_segment_pages(dmda_super_nr_segments(super));
	case DMDA_TABLE_OPEN:
		return DMDA_MAX_OPEN * super->summary_pages;
	case DMDA_TABLE_DIRECTORY:
		return nr_directory_pages(nr_map_pages(super, super->nr_lpns));
	default:
		return nr_map_pages(super, super->nr_lpns);
	}
}

/* Pages of a table in an area, and where in its tables they begin. */
static u64 area_pages(const struct dmda_area *area, enum dmda_table table, u64 *before)
{
	const u64 nr_pages[DMDA_NR_TABLES] = {
		[DMDA_TABLE_SEGMENTS] = area->nr_segment_pages,
		[DMDA_TABLE_OPEN] = area->nr_open_pages,
		[DMDA_TABLE_DIRECTORY] = area->nr_directory_pages,
		[DMDA_TABLE_MAP] = area->nr_map_pages,
	};

	*before = 0;
	for (u32 i = 0; i < table; i++)
		*before += nr_pages[i];
	return nr_pages[table];
}

static u64 sum_of_areas(const struct dmda_super *super, enum dmda_table table)
{
	u64 sum = 0, before;

	for (u32 i = 0; i < super->nr_areas; i++)
		sum += area_pages(&super->area[i], table, &before);
	return sum;
}

dpn_t dmda_super_slot(const struct dmda_super *super, enum dmda_table table, u64 index,
		      u32 slot)
{
	for (u32 i = 0; i < super->nr_areas; i++) {
		const struct dmda_area *area = &super->area[i];
		u64 before, nr = area_pages(area, table, &before);

		if (index < nr)
			return to_dpn(area->tables_dpn + 2 * (before + index) + slot);
		index -= nr;
	}
	WARN_ON_ONCE(1);
	return DPN_NONE;
}

struct dmda_block_id dmda_super_page_id(const struct dmda_super *super, enum dmda_table table,
					u64 index, u32 slot, u64 seq)
{
	static const u32 magic[] = {
		[DMDA_TABLE_SEGMENTS] = DMDA_MAGIC_SEGMENTS,
		[DMDA_TABLE_OPEN] = DMDA_MAGIC_OPEN,
		[DMDA_TABLE_DIRECTORY] = DMDA_MAGIC_DIRECTORY,
		[DMDA_TABLE_MAP] = DMDA_MAGIC_MAP,
	};
	const u16 nr_entries[] = {
		[DMDA_TABLE_SEGMENTS] = DMDA_SEGMENTS_PER_PAGE,
		[DMDA_TABLE_OPEN] = DMDA_SUMMARIES_PER_PAGE,
		[DMDA_TABLE_DIRECTORY] = DMDA_ENTRIES_PER_PAGE,
		[DMDA_TABLE_MAP] = dmda_super_map_entries(super),
	};

	return (struct dmda_block_id){
		.magic = magic[table],
		.nr_entries = nr_entries[table],
		.dpn = dmda_super_slot(super, table, index, slot),
		.index = index,
		.seq = seq,
		.uuid = super->uuid,
	};
}

dpn_t dmda_super_segment_dpn(const struct dmda_super *super, seg_t seg)
{
	u64 index = from_seg(seg);

	for (u32 i = 0; i < super->nr_areas; i++) {
		const struct dmda_area *area = &super->area[i];

		if (index < area->nr_segments)
			return to_dpn(area->segments_dpn + index * super->segment_pages);
		index -= area->nr_segments;
	}
	WARN_ON_ONCE(1);
	return DPN_NONE;
}

struct dmda_segment_page dmda_super_find_segment(const struct dmda_super *super, dpn_t dpn)
{
	struct dmda_segment_page found = { .seg = SEG_NONE };
	u64 before = 0;

	for (u32 i = 0; i < super->nr_areas; i++) {
		const struct dmda_area *area = &super->area[i];
		u64 at = from_dpn(dpn) - area->segments_dpn;

		if (from_dpn(dpn) >= area->segments_dpn &&
		    at < area->nr_segments * super->segment_pages) {
			before += div_u64_rem(at, super->segment_pages, &found.page);
			found.seg = to_seg(before);
			break;
		}
		before += area->nr_segments;
	}
	return found;
}
