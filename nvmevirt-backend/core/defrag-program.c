// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs of the defrag log. Entries wait in the drive until they fill one. Without protection
 * they do not always: the log is programmed before what was written later is, and before an erase
 * (defrag.h).
 */
#include "beside.h"
#include "defrag.h"
#include "defrag-program.h"

/* The log's programs go round the dies, each of which has a part of it. */
static u64 program_log(struct ftl *ftl, u64 at_ns)
{
	struct ftl_stats *stats = &ftl->stats;
	u32 at;
	u64 lap = div_u64_rem(stats->defrag_programs++, ftl->geo.nr_dies, &at);

	stats->pages_padded += ftl->geo.unit_pages;
	return ftl_program_beside(ftl, to_die(at), lap, at_ns);
}

static u32 entries_of_program(const struct ftl *ftl)
{
	return ftl->geo.unit_pages * FTL_PAGE_BYTES / sizeof(struct ftl_defrag_entry);
}

/*
 * Programs what waits for it, as long as that is so many entries.
 * Return: when all that had to be programmed is.
 */
static u64 write_log(struct ftl *ftl, u32 least, u64 at_ns)
{
	u64 done_ns = at_ns;

	while (ftl->nr_log_entries >= least) {
		ftl->nr_log_entries -= min(ftl->nr_log_entries, entries_of_program(ftl));
		done_ns = max(done_ns, program_log(ftl, at_ns));
	}
	return done_ns;
}

u64 ftl_share_commit(struct ftl *ftl, u64 at_ns)
{
	struct ftl_oob *oob = &ftl->oob;

	if (!oob->is_volatile || !oob->max_defrag)
		return at_ns;
	if (ftl->nr_log_entries) {
		u64 done_ns = write_log(ftl, 1, max(at_ns, ftl->log_from_ns));

		ftl->log_ns = max(ftl->log_ns, done_ns);
		ftl_defrag_commit(oob, ftl->log_ns);
		ftl_nand_fix(&ftl->nand, ftl->log_ns);
		ftl->programmed_ns = max(ftl->programmed_ns, ftl->log_ns);
	}
	return max(at_ns, ftl->log_ns);
}

void ftl_share_add_to_log(struct ftl *ftl, u32 nr_entries, bool is_anew, u64 at_ns)
{
	ftl->nr_log_entries += nr_entries;
	if (!ftl->oob.is_volatile) {
		write_log(ftl, entries_of_program(ftl), at_ns);
		return;
	}
	/* Those that have waited are among them. */
	if (is_anew)
		ftl->nr_log_entries = nr_entries;
	if (is_anew || ftl->nr_log_entries >= entries_of_program(ftl))
		ftl_share_commit(ftl, at_ns);
}
