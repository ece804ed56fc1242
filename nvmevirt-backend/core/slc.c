// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folding, see slc.h. Drives fold while nobody wants anything of them, since a program of several
 * bits a cell takes longest of all; and they fold within the die, where no data has to cross the
 * channel. What a host has put together in one flash unit is read with one sense, so that stays
 * together before anything else is looked at.
 */
#include "bad.h"
#include "gc.h"
#include "rescue.h"
#include "slc.h"

static struct ftl_victim *folded(struct ftl *ftl, die_t die)
{
	return &ftl->gc[from_die(die)].fold;
}

bool ftl_slc_wants(const struct ftl *ftl, die_t die)
{
	return ftl->geo.slc_eblks && !ftl->blocks.read_only &&
		(ftl->gc[from_die(die)].fold.eblk || ftl->blocks.die[from_die(die)].slc_full.nr);
}

u64 ftl_slc_pages_free(const struct ftl *ftl, die_t die)
{
	const struct ftl_eblk_die *eblks = &ftl->blocks.die[from_die(die)];
	u64 nr_units = (u64)eblks->slc_free.nr * ftl->geo.slc_units;

	if (eblks->stream[FTL_STREAM_SLC].eblk)
		nr_units += ftl->geo.slc_units - eblks->stream[FTL_STREAM_SLC].next_unit;
	return nr_units * ftl->geo.unit_pages;
}

static bool is_whole(const struct ftl *ftl, u32 flash_unit)
{
	u64 first = from_ppn(ftl_flash_unit_ppn(&ftl->geo, flash_unit));

	for (u64 place = first; place < first + ftl->geo.unit_pages; place++) {
		if (ftl_l2p_owner(&ftl->map, to_ppn(place)) == LPN_NONE)
			return false;
	}
	return true;
}

/* Moves the next flash unit of the block that is whole. Return: whether there was one. */
static bool move_whole_unit(struct ftl *ftl, struct ftl_victim *fold, u64 start_ns)
{
	u32 first = ftl_eblk_first_unit(&ftl->geo, fold->eblk - 1);

	while (fold->slot < ftl->geo.slc_units) {
		u32 flash_unit = first + fold->slot++;

		if (!is_whole(ftl, flash_unit))
			continue;
		ftl_gc_move_unit(ftl, flash_unit, start_ns);
		return true;
	}
	fold->slot = 0;
	fold->pass++;
	return false;
}

static void fold_on(struct ftl *ftl, die_t die, u64 start_ns)
{
	struct ftl_victim *fold = folded(ftl, die);
	const struct ftl_eblk *eblk = &ftl->blocks.eblk[fold->eblk - 1];
	u32 nr_valid = eblk->nr_valid;

	ftl->gc[from_die(die)].sensed = 0;
	if (fold->pass != FTL_PASS_UNITS || !move_whole_unit(ftl, fold, start_ns))
		ftl_gc_move_rows(ftl, die, fold, start_ns);
	ftl->stats.slc_pages_folded += nr_valid - eblk->nr_valid;
}

static void end_fold(struct ftl *ftl, die_t die, u64 start_ns)
{
	u32 eblk = folded(ftl, die)->eblk - 1;

	/* What has to be programmed before the erase may take one more block. */
	ftl_gc_make_room(ftl, die, start_ns);
	ftl_gc_erase(ftl, eblk, start_ns);
	folded(ftl, die)->eblk = 0;
	ftl->stats.slc_folds++;
}

void ftl_slc_fold_step(struct ftl *ftl, die_t die, u64 start_ns)
{
	struct ftl_victim *fold = folded(ftl, die);

	if (!fold->eblk)
		*fold = (struct ftl_victim){
			.eblk = ftl_eblks_take_slc(&ftl->blocks, die) + 1,
			.pass = FTL_PASS_UNITS,
		};
	if (ftl_eblks_needs_open(&ftl->blocks, die, FTL_STREAM_GC))
		ftl_gc_make_room(ftl, die, start_ns);
	if (ftl->blocks.eblk[fold->eblk - 1].nr_valid)
		fold_on(ftl, die, start_ns);
	if (!ftl->blocks.eblk[fold->eblk - 1].nr_valid)
		end_fold(ftl, die, start_ns);
}
