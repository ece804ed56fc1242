// SPDX-License-Identifier: GPL-2.0-only
/*
 * When wear is too uneven, between dies and within one. Jun et al. (FAST '24, section 4) expect
 * that overwrites which stay on their die wear it more than others if they are of few pages, and
 * would then move these to another die, at the expense of speed; they leave open when.
 *
 * Here a die is compared with the mean of all. It may be ahead by a share, and by a few erases
 * besides: on a young drive any share is chance. The share is a parameter, since even wear costs
 * files their order on the dies.
 */
#include "wear.h"

/* So many erases more than the mean are chance. */
#define SLACK_ERASES	16U

/* A block may be behind its die's mean by this share, besides. */
#define REST_SHARE	8U

bool ftl_wear_is_worn(const struct ftl_eblks *blocks, die_t die, u32 permille)
{
	u64 nr = blocks->die[from_die(die)].nr_erases;

	if (!permille || nr <= SLACK_ERASES)
		return false;
	return (nr - SLACK_ERASES) * blocks->geo->nr_dies * 1000 >
		blocks->nr_erases * (1000 + permille);
}

u32 ftl_wear_rested(const struct ftl_eblks *blocks, die_t die)
{
	u32 first = from_die(die) * blocks->geo->die_eblks;
	u32 nr_eblks = ftl_main_eblks(blocks->geo);
	u32 mean = div_u64(blocks->die[from_die(die)].nr_erases, nr_eblks);
	u32 least = mean - mean / REST_SHARE;
	u32 rested = 0;

	if (least <= SLACK_ERASES)
		return 0;
	least -= SLACK_ERASES;
	for (u32 eblk = first; eblk < first + nr_eblks; eblk++) {
		if (blocks->eblk[eblk].state != FTL_EBLK_FULL ||
		    blocks->eblk[eblk].nr_erases >= least)
			continue;
		least = blocks->eblk[eblk].nr_erases;
		rested = eblk + 1;
	}
	return rested;
}

die_t ftl_wear_least(const struct ftl_units *units, die_t die)
{
	u64 least = U64_MAX;

	for (u32 i = 0; i < units->geo->nr_dies; i++) {
		u64 nr = units->blocks->die[i].nr_erases;

		if (nr >= least || !ftl_units_die_has_room(units, to_die(i)))
			continue;
		least = nr;
		die = to_die(i);
	}
	return die;
}
