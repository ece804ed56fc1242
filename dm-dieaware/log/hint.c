// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hints of log mode. What precedes a write in its file is found as in hint mode, in
 * the pages that the target shows: those are what filesystems know, and the run table.
 * Where that page lies on the device, the map says when the write gets its places; or, if
 * it is being written itself, the places that it has got.
 *
 * A write goes to a place that held something else: so it is no overwrite for the
 * device, but follows the page before it in its file, also when it replaces a page. It is an
 * overwrite only where it stays in its place (inplace.c).
 *
 * A command with a hint cannot be merged with others, and what the log writes in sequence is
 * one large command without: so small pieces that replace something, or are moved by cleaning,
 * get none. A filesystem that copies on write replaces what it has elsewhere; nothing is where it
 * writes, and only the file tells.
 *
 * Of overwrites in place only those have one whose pages are hot, if some are (core/heat.h): the
 * device gathers few pages at a time, and those that are written once would put out those that are
 * written again and again. What is cold loses its die for that, like a small piece that goes to
 * another place.
 *
 * Nothing is read for a hint: where a page of the map is not in memory there is none.
 *
 * Where the device below keeps data of different placement handles apart, there are no such hints:
 * each kind of data is sent to a handle of its own. Of what is overwritten in place, which is the
 * device's to move, that is told by how often it comes (core/rates.h).
 */
#include <linux/sched/mm.h>

#include "../hint-send.h"
#include "claims.h"
#include "hint.h"
#include "log.h"

/*
 * Of what the device has room for, a quarter is left to what is appended, and to pages that have
 * just become hot.
 */
static u32 nr_hot_pages(const struct dmda *dmda)
{
	u32 nr = READ_ONCE(dmda->asking.discovery.open_pages);

	return min(nr - nr / 4, DMDA_HEAT_MAX_PAGES);
}

/* Without memory for it all overwrites have hints, or are as what users write to new places. */
void dmda_log_hint_start(struct dmda_log *log)
{
	u32 nr = nr_hot_pages(log->dmda);
	unsigned int noio = memalloc_noio_save();
	u64 nr_lpns = log->super.nr_lpns;
	void *memory = nr ? kvzalloc(dmda_heat_bytes(nr), GFP_KERNEL | __GFP_NOWARN) : NULL;
	void *counts = kvzalloc(dmda_rates_bytes(nr_lpns), GFP_KERNEL | __GFP_NOWARN);

	memalloc_noio_restore(noio);
	dmda_heat_init(&log->inplace.heat, memory ? nr : 0, memory);
	dmda_rates_init(&log->inplace.rates, nr_lpns, counts);
}

/* What is the page before a run of a known file? */
static void classify(struct dmda *dmda, const struct dmda_run *run, struct dmda_verdict *verdict)
{
	const struct dmda_owner here = DMDA_OWNER_UNKNOWN;
	struct dmda_neighbour before;

	dmda_hint_look_before(dmda, run, &before);
	dmda_classify(run, &here, &before, run->nr_pages, verdict);
	dmda_hint_fit(dmda, verdict);
}

/* Is a run what its lpns hold already, as far as is known? */
static bool replaces_itself(struct dmda *dmda, const struct dmda_run *run)
{
	struct dmda_verdict verdict;
	struct dmda_owner owner;

	dmda_runtable_owner(dmda->table, run->dpn, &owner);
	dmda_runtable_go_on(dmda->table, run->dpn, run->nr_pages, &owner);
	return dmda_classify_overwrite(run, &owner, &verdict) &&
	       verdict.nr_pages == run->nr_pages;
}

/* Is it less than a command of its own is worth? */
static bool is_small(const struct dmda_log_io *io)
{
	return dmda_log_io_pages(io) < DMDA_LOG_UNIT_PAGES;
}

/* Does another page of the device hold what a run begins with, as far as is known? */
static bool is_copied(struct dmda *dmda, const struct dmda_run *run)
{
	const struct dmda_run behind = { .file = run->file, .fpage = run->fpage + 1 };
	struct dmda_neighbour here;

	dmda_hint_look_before(dmda, &behind, &here);
	return here.owner.nr_pages && here.owner.file.id == run->file.id &&
	       here.owner.fpage == run->fpage && here.dpn != run->dpn;
}

static void work_out(struct dmda *dmda, struct dmda_write *write)
{
	write->verdict = (struct dmda_verdict){ .hint = DMDA_HINT_NONE, .pred = DPN_NONE };
	if (write->run.file.id) {
		classify(dmda, &write->run, &write->verdict);
		dmda_runtable_set(dmda->table, &write->run);
		return;
	}
	dmda_runtable_forget(dmda->table, write->run.dpn, write->run.nr_pages);
	if (write->identity.source != DMDA_SOURCE_METADATA && dmda->config.lba_adjacency)
		dmda_hint_follow(dmda, write);
}

/*
 * Most writes of which no file is known go on where none has ended. They replace no page of a file,
 * and have no hint; there is nothing to look up.
 */
static bool is_plain(const struct dmda *dmda, const struct dmda_log_io *io,
		     const struct dmda_identity *identity)
{
	return identity->source == DMDA_SOURCE_UNKNOWN &&
		!(dmda->config.lba_adjacency && dmda_tail_is_at(&dmda->tails, to_dpn(io->first)));
}

/* As work_out() would */
static void remember_plain(struct dmda *dmda, const struct dmda_log_io *io)
{
	dmda_runtable_forget(dmda->table, to_dpn(io->first), dmda_log_io_pages(io));
	if (dmda->config.lba_adjacency)
		dmda_tail_put(&dmda->tails, to_dpn(io->last + 1));
}

/* Apart, so that plain writes do not pay for its stack */
static noinline void plan_any(struct dmda_log *log, struct dmda_log_io *io,
			      const struct dmda_identity *identity)
{
	struct dmda_write write = {
		.bio = dmda_log_bio(io),
		.identity = *identity,
		.run = {
			.file = { .id = io->file },
			.fpage = io->fpage,
			.dpn = to_dpn(io->first),
			.nr_pages = dmda_log_io_pages(io),
		},
	};

	io->is_same = replaces_itself(log->dmda, &write.run);
	/* Before the run table learns of the write */
	io->is_copy = io->file && is_small(io) && is_copied(log->dmda, &write.run);
	work_out(log->dmda, &write);
	io->ino = identity->ino;
	io->source = write.identity.source;
	io->what = write.verdict.hint;
	io->pred = from_dpn(write.verdict.pred);
}

void dmda_log_hint_plan(struct dmda_log *log, struct dmda_log_io *io,
			const struct dmda_identity *identity)
{
	if (!dmda_watches(log->dmda)) {
		io->source = identity->source;
		return;
	}
	if (is_plain(log->dmda, io, identity))
		remember_plain(log->dmda, io);
	else
		plan_any(log, io, identity);
}

/* Is there something where a run begins? There may be, if its page of the map is not in memory. */
static bool may_replace_locked(const struct dmda_log *log, const struct dmda_log_io *io)
{
	u32 entry;

	lockdep_assert_held(&log->lock);

	if (!io->pages[0])
		return true;
	dmda_log_map_index(log, io->first, &entry);
	return dmda_map_get(io->pages[0]->map.block, entry) != DPN_NONE;
}

/* The device has just got what goes to a segment that is open. */
static bool is_recent_locked(const struct dmda_log *log, dpn_t dpn)
{
	seg_t seg = dmda_log_segment_of(log, dpn);

	lockdep_assert_held(&log->lock);

	return seg != SEG_NONE &&
	       log->space.segments.segment[from_seg(seg)].state == DMDA_SEGMENT_OPEN;
}

/*
 * Is it a small piece that has no hint, wherever the page before it lies? What it replaces was in
 * order once; a command for each costs more. What a segment had no room for is no small piece.
 */
static bool stays_plain_locked(const struct dmda_log *log, const struct dmda_log_io *io)
{
	lockdep_assert_held(&log->lock);

	return is_small(io) && !io->is_rest && may_replace_locked(log, io);
}

/*
 * Nor has a copy any: the device would look up where the page before it is, and begin a unit with
 * each. But what goes on where the file has just been written grows it, or writes it anew.
 */
static bool is_stray_locked(const struct dmda_log *log, const struct dmda_log_io *io)
{
	lockdep_assert_held(&log->lock);

	return io->is_copy && !io->is_rest && !is_recent_locked(log, io->pred_dpn);
}

/* Are all pages of an overwrite in place cold, and others hot? */
static bool is_cold_locked(struct dmda_log *log, const struct dmda_log_io *io)
{
	bool is_cold = true;

	lockdep_assert_held(&log->lock);

	for (u64 lpn = io->first; lpn <= io->last; lpn++)
		is_cold &= dmda_heat_write(&log->inplace.heat, lpn);
	return is_cold;
}

void dmda_log_hint_place_locked(struct dmda_log *log, struct dmda_log_io *io)
{
	lockdep_assert_held(&log->lock);

	io->pred_dpn = DPN_NONE;
	if (io->is_in_place && READ_ONCE(log->dmda->state) == DMDA_STATE_LIFETIMES) {
		io->kind = dmda_rates_write(&log->inplace.rates, io->first);
		return;
	}
	if (io->is_in_place) {
		io->what = io->is_same && !is_cold_locked(log, io) ? DMDA_HINT_OVERWRITE :
								     DMDA_HINT_NONE;
		return;
	}
	if (io->what == DMDA_HINT_NONE || io->pred == U64_MAX)
		return;
	if (!stays_plain_locked(log, io))
		io->pred_dpn = dmda_log_where_locked(log, io->pred);
	if (io->pred_dpn != DPN_NONE && !is_stray_locked(log, io))
		return;
	io->pred_dpn = DPN_NONE;
	io->what = DMDA_HINT_NONE;
}

static noinline void send_any(struct dmda_log *log, struct dmda_log_io *io)
{
	struct dmda_write write = {
		.bio = dmda_log_bio(io),
		.identity = { .source = io->source, .ino = io->ino },
		.run = {
			.file = { .id = io->file },
			.fpage = io->fpage,
			.dpn = io->dpn,
			.nr_pages = dmda_log_io_pages(io),
		},
		.verdict = { .hint = io->what, .pred = io->pred_dpn },
	};

	dmda_hint_send(log->dmda, &write);
}

/* Without a hint, but to the handle of its kind of data */
static void send_kind(struct dmda_log *log, struct dmda_log_io *io)
{
	dmda_count_write(&log->dmda->stats, io->source, DMDA_HINT_NONE);
	dmda_fdp_attach_kind(log->dmda, dmda_log_bio(io), io->kind);
}

void dmda_log_hint_send(struct dmda_log *log, struct dmda_log_io *io)
{
	struct dmda *dmda = log->dmda;

	if (!dmda_watches(dmda)) {
		if (READ_ONCE(dmda->state) == DMDA_STATE_LIFETIMES)
			send_kind(log, io);
		return;
	}
	if (io->source == DMDA_SOURCE_UNKNOWN && io->what == DMDA_HINT_NONE)
		dmda_hint_send_unknown(dmda, dmda_log_bio(io), io->dpn, dmda_log_io_pages(io));
	else
		send_any(log, io);
}

bool dmda_log_hint_moved(struct dmda_log *log, const struct dmda_run *run, u64 pred,
			 struct dmda_verdict *verdict)
{
	*verdict = (struct dmda_verdict){ .hint = DMDA_HINT_NONE, .pred = DPN_NONE };
	if (pred == U64_MAX) {
		if (!run->file.id)
			return false;
		classify(log->dmda, run, verdict);
		if (verdict->pred == DPN_NONE)
			return verdict->hint != DMDA_HINT_NONE;
		pred = from_dpn(verdict->pred);
	}
	spin_lock_irq(&log->lock);
	verdict->pred = dmda_log_where_locked(log, pred);
	spin_unlock_irq(&log->lock);
	verdict->hint = verdict->pred == DPN_NONE ? DMDA_HINT_NONE : DMDA_HINT_APPEND;
	return verdict->hint != DMDA_HINT_NONE;
}
