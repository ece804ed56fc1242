// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints every number and structure of <dieaware/format.h>, for the comparison with
 * format.layout. It fails when a structure has a member that is not named here.
 */
#include <dieaware/platform.h>

#include <dieaware/format.h>

#define NUMBER(name)		printf("number " #name " 0x%llx\n", (unsigned long long)(name))

static size_t end_of_struct;
static int status;

static void begin_struct(const char *name, size_t bytes)
{
	printf("struct %s %zu\n", name, bytes);
	end_of_struct = 0;
}

static void print_member(const char *name, size_t offset, size_t bytes)
{
	printf("%6zu %5zu %s\n", offset, bytes, name);
	if (offset != end_of_struct) {
		fprintf(stderr, "There is something before %s that has no name here.\n", name);
		status = 1;
	}
	end_of_struct = offset + bytes;
}

static void end_struct(const char *name, size_t bytes)
{
	if (end_of_struct == bytes)
		return;
	fprintf(stderr, "There is something at the end of struct %s that has no name here.\n",
		name);
	status = 1;
}

#define MEMBER(member)								\
	print_member(#member, offsetof(STRUCT, member), sizeof(((STRUCT *)NULL)->member))
/* One of which the record itself says how long it is */
#define LAST_MEMBER(member)	print_member(#member, offsetof(STRUCT, member), 0)
#define BEGIN(name)		begin_struct(#name, sizeof(struct name))
#define END(name)		end_struct(#name, sizeof(struct name))

static void print_numbers(void)
{
	NUMBER(DMDA_FORMAT_VERSION);
	NUMBER(DMDA_BLOCK_BYTES);
	NUMBER(DMDA_SECTOR_BYTES);
	NUMBER(DMDA_UUID_BYTES);
	NUMBER(DMDA_SUPER_DPN_A);
	NUMBER(DMDA_SUPER_DPN_B);
	NUMBER(DMDA_FIRST_ROOT_DPN);
	NUMBER(DMDA_MAGIC_SUPER);
	NUMBER(DMDA_MAGIC_ROOT);
	NUMBER(DMDA_MAGIC_DIRECTORY);
	NUMBER(DMDA_MAGIC_MAP);
	NUMBER(DMDA_MAGIC_SEGMENTS);
	NUMBER(DMDA_MAGIC_SUMMARY);
	NUMBER(DMDA_MAGIC_OPEN);
	NUMBER(DMDA_MAGIC_JOURNAL);
	NUMBER(DMDA_BODY_BYTES);
	NUMBER(DMDA_MAX_AREAS);
	NUMBER(DMDA_SUPER_NEEDS_CHECK);
	NUMBER(DMDA_INCOMPAT_CHECKSUMS);
	NUMBER(DMDA_INCOMPAT_DRAFTS);
	NUMBER(DMDA_ROOT_CLEAN);
	NUMBER(DMDA_ENTRIES_PER_PAGE);
	NUMBER(DMDA_DPN_BYTES);
	NUMBER(DMDA_MAP_ENTRIES);
	NUMBER(DMDA_SUM_BYTES);
	NUMBER(DMDA_MAP_SUMS_ENTRIES);
	NUMBER(DMDA_SEGMENT_FREE);
	NUMBER(DMDA_SEGMENT_OPEN);
	NUMBER(DMDA_SEGMENT_CLOSED);
	NUMBER(DMDA_SEGMENTS_PER_PAGE);
	NUMBER(DMDA_SUMMARIES_PER_PAGE);
	NUMBER(DMDA_MAX_OPEN);
	NUMBER(DMDA_RECORDS_BYTES);
	NUMBER(DMDA_MAX_BATCH_SECTORS);
	NUMBER(DMDA_SECTOR_FIRST);
	NUMBER(DMDA_SECTOR_DRAFT);
	NUMBER(DMDA_MAX_DRAFT_PAGES);
	NUMBER(DMDA_RECORD_MAP);
	NUMBER(DMDA_RECORD_DEAD);
	NUMBER(DMDA_RECORD_TRIM);
	NUMBER(DMDA_RECORD_OPEN);
	NUMBER(DMDA_RECORD_CLOSE);
	NUMBER(DMDA_RECORD_FREE);
	NUMBER(DMDA_RECORD_SUMS);
	NUMBER(DMDA_RECORD_END);
	NUMBER(DMDA_MAX_RECORD_SUMS);
}

static void print_header(void)
{
#define STRUCT struct dmda_block_header
	BEGIN(dmda_block_header);
	MEMBER(crc);
	MEMBER(magic);
	MEMBER(version);
	MEMBER(nr_entries);
	MEMBER(reserved);
	MEMBER(dpn);
	MEMBER(index);
	MEMBER(seq);
	MEMBER(epoch);
	MEMBER(uuid);
	END(dmda_block_header);
#undef STRUCT
}

static void print_area(void)
{
#define STRUCT struct dmda_area_block
	BEGIN(dmda_area_block);
	MEMBER(tables_dpn);
	MEMBER(nr_segment_pages);
	MEMBER(nr_open_pages);
	MEMBER(nr_directory_pages);
	MEMBER(nr_map_pages);
	MEMBER(segments_dpn);
	MEMBER(nr_segments);
	END(dmda_area_block);
#undef STRUCT
}

static void print_super(void)
{
#define STRUCT struct dmda_super_block
	BEGIN(dmda_super_block);
	MEMBER(header);
	MEMBER(compat);
	MEMBER(ro_compat);
	MEMBER(incompat);
	MEMBER(nr_device_pages);
	MEMBER(nr_lpns);
	MEMBER(segment_pages);
	MEMBER(summary_pages);
	MEMBER(stripe_pages);
	MEMBER(journal_sectors);
	MEMBER(journal_unit_sectors);
	MEMBER(flags);
	MEMBER(journal_dpn);
	MEMBER(root_dpn);
	MEMBER(root_pages);
	MEMBER(nr_areas);
	MEMBER(label);
	MEMBER(area);
	MEMBER(reserved);
	END(dmda_super_block);
#undef STRUCT
}

static void print_root(void)
{
#define STRUCT struct dmda_root_block
	BEGIN(dmda_root_block);
	MEMBER(header);
	MEMBER(journal_sector);
	MEMBER(next_seq);
	MEMBER(chain);
	MEMBER(flags);
	MEMBER(nr_segment_entries);
	MEMBER(nr_open_entries);
	MEMBER(nr_directory_entries);
	MEMBER(pages_written);
	MEMBER(reserved);
	END(dmda_root_block);
#undef STRUCT
}

static void print_slots(void)
{
#define STRUCT struct dmda_slot_entry
	BEGIN(dmda_slot_entry);
	MEMBER(seq_slot);
	END(dmda_slot_entry);
#undef STRUCT
#define STRUCT struct dmda_slots_block
	BEGIN(dmda_slots_block);
	MEMBER(header);
	MEMBER(entry);
	END(dmda_slots_block);
#undef STRUCT
}

static void print_map(void)
{
#define STRUCT struct dmda_map_block
	BEGIN(dmda_map_block);
	MEMBER(header);
	MEMBER(dpn);
	MEMBER(reserved);
	END(dmda_map_block);
#undef STRUCT
#define STRUCT struct dmda_map_sums_block
	BEGIN(dmda_map_sums_block);
	MEMBER(header);
	MEMBER(dpn);
	MEMBER(sum);
	END(dmda_map_sums_block);
#undef STRUCT
}

static void print_segments(void)
{
#define STRUCT struct dmda_segment_entry
	BEGIN(dmda_segment_entry);
	MEMBER(nr_valid);
	MEMBER(state);
	MEMBER(open);
	MEMBER(reserved);
	MEMBER(mtime);
	END(dmda_segment_entry);
#undef STRUCT
#define STRUCT struct dmda_segments_block
	BEGIN(dmda_segments_block);
	MEMBER(header);
	MEMBER(segment);
	END(dmda_segments_block);
#undef STRUCT
}

static void print_summary(void)
{
#define STRUCT struct dmda_summary_entry
	BEGIN(dmda_summary_entry);
	MEMBER(lpn);
	MEMBER(seq);
	MEMBER(reserved);
	MEMBER(fpage);
	MEMBER(file);
	END(dmda_summary_entry);
#undef STRUCT
#define STRUCT struct dmda_summary_block
	BEGIN(dmda_summary_block);
	MEMBER(header);
	MEMBER(entry);
	END(dmda_summary_block);
#undef STRUCT
}

static void print_journal(void)
{
#define STRUCT struct dmda_journal_sector
	BEGIN(dmda_journal_sector);
	MEMBER(crc);
	MEMBER(magic);
	MEMBER(sector);
	MEMBER(seq);
	MEMBER(chain);
	MEMBER(nr_bytes);
	MEMBER(version);
	MEMBER(records);
	END(dmda_journal_sector);
#undef STRUCT
}

static void print_records(void)
{
#define STRUCT struct dmda_record_map
	BEGIN(dmda_record_map);
	MEMBER(kind);
	MEMBER(nr_pages);
	MEMBER(lpn);
	MEMBER(dpn);
	END(dmda_record_map);
#undef STRUCT
#define STRUCT struct dmda_record_sums
	BEGIN(dmda_record_sums);
	MEMBER(kind);
	MEMBER(nr_pages);
	LAST_MEMBER(sum);
	END(dmda_record_sums);
#undef STRUCT
#define STRUCT struct dmda_record_range
	BEGIN(dmda_record_range);
	MEMBER(kind);
	MEMBER(nr_pages);
	MEMBER(first);
	END(dmda_record_range);
#undef STRUCT
#define STRUCT struct dmda_record_segment
	BEGIN(dmda_record_segment);
	MEMBER(kind);
	MEMBER(open);
	MEMBER(segment);
	MEMBER(mtime);
	END(dmda_record_segment);
#undef STRUCT
}

int main(void)
{
	print_numbers();
	print_header();
	print_area();
	print_super();
	print_root();
	print_slots();
	print_map();
	print_segments();
	print_summary();
	print_journal();
	print_records();
	return status;
}
