// SPDX-License-Identifier: GPL-2.0-only
/*
 * Claims: a write or trim claims its lpns, so that those of the same ones are done in the order in
 * which they were submitted. Who claims what is older waits until that is done; what does not
 * overlap goes on at the same time. Reads claim nothing: they find what is mapped when they come.
 */
#include <linux/interval_tree_generic.h>

#include "bio.h"
#include "claims.h"
#include "log.h"

#define FIRST_OF(io)	((io)->first)
#define LAST_OF(io)	((io)->last)

INTERVAL_TREE_DEFINE(struct dmda_log_io, node, u64, subtree_last, FIRST_OF, LAST_OF,
		     static __maybe_unused, claims)

bool dmda_log_claim_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	struct dmda_log_io *other;

	lockdep_assert_held(&log->lock);

	io->nr_blockers = 0;
	for (other = claims_iter_first(&log->ios.claims, io->first, io->last); other;
	     other = claims_iter_next(other, io->first, io->last))
		io->nr_blockers++;
	claims_insert(io, &log->ios.claims);
	io->has_claim = true;
	if (io->nr_blockers)
		return false;
	io->stage = DMDA_LOG_PLACE;
	return true;
}

/* All that overlap have come later, for whoever came earlier was waited for. */
void dmda_log_unclaim_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	struct dmda_log_io *other;

	lockdep_assert_held(&log->lock);

	if (!io->has_claim)
		return;
	claims_remove(io, &log->ios.claims);
	io->has_claim = false;
	for (other = claims_iter_first(&log->ios.claims, io->first, io->last); other;
	     other = claims_iter_next(other, io->first, io->last)) {
		if (--other->nr_blockers)
			continue;
		other->stage = DMDA_LOG_PLACE;
		dmda_log_go_on_locked(log, other);
	}
}

/* Others may have what the bio is not going to write; it comes again as another one. */
void dmda_log_shorten_locked(struct dmda_log *log, struct dmda_log_io *io, u32 nr_pages)
{
	lockdep_assert_held(&log->lock);

	claims_remove(io, &log->ios.claims);
	io->last = io->first + nr_pages - 1;
	claims_insert(io, &log->ios.claims);
}

dpn_t dmda_log_where_locked(struct dmda_log *log, u64 lpn)
{
	struct dmda_log_page *page;
	struct dmda_log_io *io;
	u32 entry;

	lockdep_assert_held(&log->lock);

	/* Of those who claim it, one at most has its places. */
	for (io = claims_iter_first(&log->ios.claims, lpn, lpn); io;
	     io = claims_iter_next(io, lpn, lpn)) {
		if (io->stage == DMDA_LOG_DATA)
			return to_dpn(from_dpn(io->dpn) + lpn - io->first);
	}
	page = dmda_log_page_find_locked(log, dmda_log_map_index(log, lpn, &entry));
	return page ? dmda_map_get(page->map.block, entry) : DPN_NONE;
}
