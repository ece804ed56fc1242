// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of a drive and of its dies. Most are kept where something is done, and only put together
 * here.
 */
#include "defrag.h"
#include "slc.h"

void ftl_get_stats(const struct ftl *ftl, struct ftl_stats *stats)
{
	*stats = ftl->stats;
	stats->run_units_evicted = ftl->units.nr_evicted;
	stats->pages_mapped = ftl->units.nr_mapped;
	stats->pages_shared = ftl->share.nr_extra;
	if (ftl->oob.max_defrag) {
		stats->defrag_entries = ftl->oob.defrag->nr;
		stats->defrag_compactions = ftl->oob.defrag->nr_compactions;
		stats->defrag_kept = ftl->oob.defrag->nr_kept;
	}
	stats->spares_left = ftl->params.spare_eblks;
	/* What a start has restored of these is of the past. */
	stats->slc_pages_free = 0;
	stats->eblks_bad = 0;
	for (u32 i = 0; i < ftl->geo.nr_dies; i++) {
		const struct ftl_eblk_die *die = &ftl->blocks.die[i];
		u32 nr_bad = die->nr_bad + (die->doomed || ftl->gc[i].is_doomed);

		stats->eblks_bad += nr_bad;
		stats->slc_pages_free += ftl_slc_pages_free(ftl, to_die(i));
		stats->spares_left = min_t(u64, stats->spares_left, ftl->params.spare_eblks -
					   min(nr_bad, ftl->params.spare_eblks));
	}
}

void ftl_get_die_stats(const struct ftl *ftl, die_t die, struct ftl_die_stats *stats)
{
	const struct ftl_nand_die *nand = &ftl->nand.die[from_die(die)];

	stats->units_read = nand->units_read;
	stats->units_programmed = nand->units_programmed;
	stats->eblks_erased = nand->eblks_erased;
	stats->slc_erased = ftl_eblks_slc_erases(&ftl->blocks, die);
	stats->pages_host = nand->pages_host;
	stats->pages_gc = nand->pages_gc;
	stats->pages_valid = ftl->units.die[from_die(die)].nr_valid;
	stats->eblks = ftl->geo.die_eblks;
	stats->eblks_bad = ftl->blocks.die[from_die(die)].nr_bad;
	stats->eblks_free = ftl_eblks_nr_free(&ftl->blocks, die);
	ftl_eblks_erases(&ftl->blocks, die, &stats->erases_least, &stats->erases_most);
	stats->busy_ns = nand->busy_ns;
	stats->gc_ns = nand->gc_ns;
	stats->busy_until_ns = nand->busy_until_ns;
}
