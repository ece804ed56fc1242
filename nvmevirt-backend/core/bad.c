// SPDX-License-Identifier: GPL-2.0-only
/*
 * Erase blocks that fail. NAND of the model has no faults of its own: a block is bad from the
 * factory, or because somebody has asked for the Nth program or erase of a die to fail. Counting
 * operations rather than drawing a random number makes a failure the same in every run.
 *
 * A failed program costs what a real one does: its time, a unit of padding in write amplification,
 * and the erase block that it was for, which collection has to empty. The factory's bad blocks lie
 * in the same places whenever a drive with these parameters is made, as a start after a power
 * failure makes it anew.
 */
#include "bad.h"

/* Free blocks that a die must have to bear a failure, see gc.h */
#define FREE_TO_FAIL	2U

/*
 * Bad blocks of the factory lie anywhere but in the SLC region, for which good ones are chosen, and
 * always in the same places.
 */
void ftl_bad_init(struct ftl *ftl)
{
	u32 nr_eblks = ftl_main_eblks(&ftl->geo);
	u32 nr_bad = ftl_params_factory_bad(&ftl->params);

	for (u32 die = 0; die < ftl->geo.nr_dies; die++) {
		u32 at = hash_32(die, 32) % nr_eblks;

		for (u32 i = 0; i < nr_bad; i++)
			ftl_eblks_retire(&ftl->blocks, die * ftl->geo.die_eblks +
					 (at + (u64)i * nr_eblks / nr_bad) % nr_eblks);
	}
}

/* A start after a power failure can empty one block of a die that failed, and no more. */
static bool can_fail(const struct ftl *ftl, die_t die)
{
	return !ftl->blocks.read_only && !ftl->blocks.die[from_die(die)].doomed &&
		!ftl->gc[from_die(die)].is_doomed &&
		ftl_eblks_nr_free(&ftl->blocks, die) >= FREE_TO_FAIL;
}

/* Counts an operation towards the failure that was asked for. */
static bool is_due(u32 *countdown, bool can)
{
	if (*countdown > 1)
		--*countdown;
	else if (*countdown && can)
		return !--*countdown;
	return false;
}

bool ftl_bad_program(struct ftl *ftl, u32 flash_unit, enum ftl_stream stream, u64 start_ns)
{
	die_t die = ftl_flash_unit_die(&ftl->geo, flash_unit);

	if (!is_due(&ftl->gc[from_die(die)].fail_program, can_fail(ftl, die)))
		return false;
	if (stream == FTL_STREAM_GC)
		ftl_nand_copy_in(&ftl->nand, die, start_ns);
	else if (stream == FTL_STREAM_SLC)
		ftl_nand_program_slc(&ftl->nand, die, start_ns, ftl->now_ns);
	else
		ftl_nand_program(&ftl->nand, die, start_ns, ftl->now_ns);
	ftl->stats.programs_failed++;
	ftl->stats.nand_pages_programmed += ftl->geo.unit_pages;
	ftl->stats.pages_padded += ftl->geo.unit_pages;
	ftl_eblks_doom(&ftl->blocks, die, stream);
	return true;
}

bool ftl_bad_erase(struct ftl *ftl, die_t die)
{
	if (!is_due(&ftl->gc[from_die(die)].fail_erase, can_fail(ftl, die)))
		return false;
	ftl->stats.erases_failed++;
	return true;
}

void ftl_fail_program(struct ftl *ftl, die_t die, u32 nr)
{
	ftl->gc[from_die(die)].fail_program = nr;
}

void ftl_fail_erase(struct ftl *ftl, die_t die, u32 nr)
{
	ftl->gc[from_die(die)].fail_erase = nr;
}

bool ftl_is_read_only(const struct ftl *ftl)
{
	return ftl->blocks.read_only;
}

u64 ftl_nr_failures(const struct ftl *ftl)
{
	return ftl->stats.programs_failed + ftl->stats.erases_failed;
}
