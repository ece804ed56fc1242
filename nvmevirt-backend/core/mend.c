// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mending of rows that overwrites have spread over flash units of their die. Which ones these are
 * is not written down: a list would have to be kept up by every write, and bounded, while a
 * resting drive has the time to look at each page. So a lap goes through the pages in order and
 * remembers little more than where it is.
 *
 * Between finding a row and moving it the die may have to collect, which may bring the row
 * together or move parts of it. So it is looked at once more before it is moved.
 */
#include "gc.h"
#include "mend.h"

bool ftl_mend_wants(const struct ftl *ftl)
{
	return ftl->params.bg_mend && ftl->mend.done != ftl->units.nr_evicted;
}

/* Return: consecutive pages from @lpn on that are on the die, one unit's at most. */
static u32 row_pages(const struct ftl *ftl, die_t die, u64 lpn)
{
	u64 end = min(lpn + ftl->geo.unit_pages, ftl->map.nr_lpns);
	u32 length = 0;

	while (lpn + length < end && ftl_die_of(ftl, to_lpn(lpn + length)) == die &&
	       !ftl_l2p_repeats(&ftl->map, to_lpn(lpn), to_lpn(lpn + length)))
		length++;
	return length;
}

/* A place that several rows share is brought together with one of them only. */
static bool is_owner(const struct ftl *ftl, u64 lpn, u32 nr)
{
	for (u32 i = 0; i < nr; i++) {
		ppn_t ppn = ftl_l2p_get(&ftl->map, to_lpn(lpn + i));

		if (ftl_l2p_owner(&ftl->map, ppn) != to_lpn(lpn + i))
			return false;
	}
	return true;
}

static bool is_in_one_unit(const struct ftl *ftl, u64 lpn, u32 nr)
{
	for (u32 i = 1; i < nr; i++) {
		if (ftl_unit_of(ftl, to_lpn(lpn + i)) != ftl_unit_of(ftl, to_lpn(lpn)))
			return false;
	}
	return true;
}

static bool all_on_nand(const struct ftl *ftl, u64 lpn, u32 nr)
{
	for (u32 i = 0; i < nr; i++) {
		if (ftl_ppn_is_buffered(&ftl->geo, ftl_l2p_get(&ftl->map, to_lpn(lpn + i))))
			return false;
	}
	return true;
}

/*
 * A whole row takes its pages out of open units, too. Their slots stay claimed, so the
 * die needs room for it. A part of one must find room in the GC unit.
 */
static bool can_be_moved(const struct ftl *ftl, die_t die, u64 lpn, u32 nr)
{
	if (nr == ftl->geo.unit_pages)
		return ftl_units_die_has_room(&ftl->units, die);
	return nr <= ftl_gc_space(ftl, die) && all_on_nand(ftl, lpn, nr);
}

/* Looks at the row behind the last one. Return: whether it has to be mended. */
static bool look_at_next(struct ftl *ftl)
{
	struct ftl_mend *mend = &ftl->mend;
	die_t die = ftl_die_of(ftl, to_lpn(mend->next));

	mend->nr = 1;
	if (die == DIE_NONE)
		return false;
	mend->nr = row_pages(ftl, die, mend->next);
	return !is_in_one_unit(ftl, mend->next, mend->nr) &&
		is_owner(ftl, mend->next, mend->nr) &&
		can_be_moved(ftl, die, mend->next, mend->nr);
}

static void go_on(struct ftl *ftl)
{
	struct ftl_mend *mend = &ftl->mend;

	if (!mend->next)
		mend->begun = ftl->units.nr_evicted;
	mend->next += mend->nr;
	if (mend->next < ftl->map.nr_lpns)
		return;
	mend->next = 0;
	mend->done = mend->begun;
}

die_t ftl_mend_next(struct ftl *ftl, u32 *left_pages)
{
	while (*left_pages && ftl_mend_wants(ftl)) {
		if (look_at_next(ftl))
			return ftl_die_of(ftl, to_lpn(ftl->mend.next));
		*left_pages -= min(*left_pages, ftl->mend.nr);
		go_on(ftl);
	}
	return DIE_NONE;
}

void ftl_mend_step(struct ftl *ftl, die_t die, u64 start_ns)
{
	if (ftl_eblks_needs_open(&ftl->blocks, die, FTL_STREAM_GC))
		ftl_gc_make_room(ftl, die, start_ns);
	/* Making room may have moved the row: then there is one unit for it already. */
	if (!look_at_next(ftl))
		return;
	ftl->gc[from_die(die)].sensed = 0;
	ftl_gc_move_row(ftl, die, ftl->mend.next, ftl->mend.nr, start_ns);
	ftl->stats.rows_mended++;
	go_on(ftl);
}
