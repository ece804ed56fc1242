/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Senses: reads of flash units, with what they put off. A read may go before a program or an erase
 * that is booked (nand.h), which then ends later for all who know of it.
 */
#ifndef FTL_SENSE_H
#define FTL_SENSE_H

#include "state.h"

/**
 * ftl_sense_tell_delay() - what the last read has put off ends later for all who know of it
 */
void ftl_sense_tell_delay(struct ftl *ftl);

/**
 * ftl_sense() - read pages of a flash unit, and have all know what that puts off
 * @start_ns: time at which the die is asked
 *
 * Return: the time at which the pages have crossed the channel.
 */
static inline u64 ftl_sense(struct ftl *ftl, const struct ftl_sense *sense, u64 start_ns)
{
	u64 end_ns = ftl_nand_read(&ftl->nand, sense, start_ns, ftl->now_ns);

	if (ftl->nand.delay.ns)
		ftl_sense_tell_delay(ftl);
	return end_ns;
}

/**
 * ftl_sense_unit() - the same, with pages that may be on any plane
 * @nr_pages: pages that leave the die
 */
static inline u64 ftl_sense_unit(struct ftl *ftl, u32 flash_unit, u32 nr_pages, u64 start_ns)
{
	struct ftl_sense sense = {
		.flash_unit = flash_unit,
		.nr_pages = nr_pages,
		.planes = FTL_ALL_PLANES,
	};

	return ftl_sense(ftl, &sense, start_ns);
}

#endif /* FTL_SENSE_H */
