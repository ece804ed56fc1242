// SPDX-License-Identifier: GPL-2.0-only
/*
 * Vendor log pages, as far as they take knowledge of the FTL. The controller (vendor-log.c) finds
 * out which part of which page a host asks for; the values are put together here, where the
 * numbers of the FTL and those on the wire stand next to each other, and a suite compares them
 * without a controller.
 */
#include "defrag.h"
#include "dof.h"
#include "report.h"
#include "state.h"

/* The states have the same numbers on the wire. */
static_assert(DIEAWARE_EBLK_FREE == (int)FTL_EBLK_FREE);
static_assert(DIEAWARE_EBLK_OPEN == (int)FTL_EBLK_OPEN);
static_assert(DIEAWARE_EBLK_FULL == (int)FTL_EBLK_FULL);
static_assert(DIEAWARE_EBLK_VICTIM == (int)FTL_EBLK_VICTIM);
static_assert(DIEAWARE_EBLK_DOOMED == (int)FTL_EBLK_DOOMED);
static_assert(DIEAWARE_EBLK_BAD == (int)FTL_EBLK_BAD);

void ftl_report_map(const struct ftl *ftl, lpn_t first, u32 nr_pages,
		    struct dieaware_map_entry *entry)
{
	for (u32 i = 0; i < nr_pages; i++, entry++) {
		lpn_t lpn = to_lpn(from_lpn(first) + i);
		die_t die = ftl_die_of(ftl, lpn);

		entry->die = cpu_to_le16(die == DIE_NONE ? DIEAWARE_DIE_NONE : from_die(die));
		entry->reserved = 0;
		entry->unit = cpu_to_le32((u32)ftl_unit_of(ftl, lpn));
	}
}

void ftl_report_dof(const struct ftl *ftl, lpn_t first, u32 nr_pages, void *memory,
		    struct dieaware_dof_entry *entry)
{
	struct ftl_dof dof;

	memset(memory, 0, ftl_dof_bytes(ftl, nr_pages));
	ftl_dof_init(&dof, ftl, nr_pages, memory);
	ftl_dof_add(&dof, first, nr_pages);
	entry->dof_permille = cpu_to_le16(ftl_dof_permille(&dof));
	entry->reserved = 0;
	entry->nr_pages = cpu_to_le32((u32)dof.nr_pages);
	entry->nr_units = cpu_to_le32(dof.nr_units);
	entry->most_units = cpu_to_le32(dof.most_units);
}

void ftl_report_defrag(const struct ftl *ftl, struct dieaware_log_defrag *log)
{
	const struct ftl_oob *oob = &ftl->oob;

	*log = (struct dieaware_log_defrag){
		.version = cpu_to_le16(1),
		.header_bytes = cpu_to_le16(sizeof(*log)),
		.entry_bytes = cpu_to_le32(sizeof(struct ftl_defrag_entry)),
		.entries = cpu_to_le32((u32)oob->defrag->nr),
		.most_entries = cpu_to_le32(oob->max_defrag),
		.pages = cpu_to_le32(ftl_defrag_nr_pages(oob)),
		.most_pages = cpu_to_le32(oob->max_defrag_pages),
		.compactions = cpu_to_le64(oob->defrag->nr_compactions),
		.kept = cpu_to_le64(oob->defrag->nr_kept),
	};
}

size_t ftl_report_wear_bytes(const struct ftl *ftl)
{
	return sizeof(struct dieaware_log_wear) +
		array_size(ftl->geo.nr_dies, sizeof(struct dieaware_wear_die)) +
		array_size(ftl->geo.nr_eblks, sizeof(struct dieaware_wear_eblk));
}

static void report_die(const struct ftl *ftl, die_t die, struct dieaware_wear_die *entry)
{
	struct ftl_die_stats stats;

	ftl_get_die_stats(ftl, die, &stats);
	entry->erases = cpu_to_le64(stats.eblks_erased);
	entry->erases_least = cpu_to_le32(stats.erases_least);
	entry->erases_most = cpu_to_le32(stats.erases_most);
	entry->eblks_free = cpu_to_le32(stats.eblks_free);
	entry->eblks_bad = cpu_to_le32(stats.eblks_bad);
}

/* What a part of a log has of an entry. */
static void put(struct ftl_report_part *part, u64 at, const void *entry, size_t bytes)
{
	u64 first = max(at, part->first);
	u64 end = min(at + bytes, part->first + part->bytes);

	if (first < end)
		memcpy((u8 *)part->data + (first - part->first), (const u8 *)entry + (first - at),
		       end - first);
}

/* Which of @nr entries, of which the first is at @at, does the part have something of? */
static void entries_of(const struct ftl_report_part *part, u64 at, u32 entry_bytes, u32 nr,
		       u32 *first, u32 *end)
{
	u64 before = part->first > at ? part->first - at : 0;
	u64 behind = part->first + part->bytes > at ? part->first + part->bytes - at : 0;

	*first = min_t(u64, div_u64(before, entry_bytes), nr);
	*end = min_t(u64, div_u64(behind + entry_bytes - 1, entry_bytes), nr);
}

static void put_head(const struct ftl *ftl, u32 rated_cycles, struct ftl_report_part *part)
{
	const struct dieaware_log_wear head = {
		.version = cpu_to_le16(1),
		.header_bytes = cpu_to_le16(sizeof(head)),
		.die_bytes = cpu_to_le16(sizeof(struct dieaware_wear_die)),
		.eblk_bytes = cpu_to_le16(sizeof(struct dieaware_wear_eblk)),
		.nr_dies = cpu_to_le32(ftl->geo.nr_dies),
		.eblks_per_die = cpu_to_le32(ftl->geo.die_eblks),
		.rated_cycles = cpu_to_le32(rated_cycles),
	};

	put(part, 0, &head, sizeof(head));
}

u32 ftl_report_wear(const struct ftl *ftl, u32 rated_cycles, struct ftl_report_part *part)
{
	u64 dies_at = sizeof(struct dieaware_log_wear);
	u64 eblks_at = dies_at + array_size(ftl->geo.nr_dies, sizeof(struct dieaware_wear_die));
	u32 i, end, nr = 0;

	put_head(ftl, rated_cycles, part);
	entries_of(part, dies_at, sizeof(struct dieaware_wear_die), ftl->geo.nr_dies, &i, &end);
	for (; i < end; i++, nr++) {
		struct dieaware_wear_die die = {};

		report_die(ftl, to_die(i), &die);
		put(part, dies_at + (u64)i * sizeof(die), &die, sizeof(die));
	}
	entries_of(part, eblks_at, sizeof(struct dieaware_wear_eblk), ftl->geo.nr_eblks, &i, &end);
	for (; i < end; i++, nr++) {
		const struct dieaware_wear_eblk eblk = {
			.erases = cpu_to_le32(ftl->blocks.eblk[i].nr_erases),
			.state = ftl->blocks.eblk[i].state,
		};

		put(part, eblks_at + (u64)i * sizeof(eblk), &eblk, sizeof(eblk));
	}
	return nr;
}
