// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is remembered of the bios that go by, in both modes: which page of which file
 * lies where, in the run table, and where writes of unknown files ended, in the tails.
 * All of it is a cache: what is lost, or wrong, costs a hint and nothing else.
 *
 * It sends nothing, and does not know whether hints are sent.
 */
#include "dieaware.h"

void dmda_hint_forget(struct dmda *dmda, sector_t sector, u64 nr_sectors)
{
	u64 first = sector >> DMDA_PAGE_SECTOR_SHIFT;
	u64 end = (sector + nr_sectors + DMDA_PAGE_SECTORS - 1) >> DMDA_PAGE_SECTOR_SHIFT;

	dmda_runtable_forget(dmda->table, to_dpn(first), end - first);
}

/* The device has nothing there any more. */
static void forget_discarded(struct dmda *dmda, sector_t sector, u64 nr_sectors)
{
	u64 first = sector >> DMDA_PAGE_SECTOR_SHIFT;
	u64 end = (sector + nr_sectors + DMDA_PAGE_SECTORS - 1) >> DMDA_PAGE_SECTOR_SHIFT;

	dmda_hint_forget(dmda, sector, nr_sectors);
	dmda_runtable_unmoor(dmda->table, to_dpn(first), end - first);
}

void dmda_hint_look_before(struct dmda *dmda, const struct dmda_run *run,
			   struct dmda_neighbour *before)
{
	before->dpn = DPN_NONE;
	before->owner = DMDA_OWNER_UNKNOWN;
	if (run->fpage)
		before->dpn = dmda_runtable_where(dmda->table, run->file, run->fpage - 1);
	if (before->dpn == DPN_NONE)
		return;
	dmda_runtable_owner(dmda->table, before->dpn, &before->owner);
	if (dmda_classify_is_alias(&before->owner, run->fpage - 1))
		before->owner.file = run->file;
}

bool dmda_hint_adopt(struct dmda *dmda, const struct dmda_run *run, struct dmda_owner *here)
{
	struct dmda_run known = *run;

	if (!dmda_classify_is_alias(here, run->fpage) ||
	    dmda_runtable_where(dmda->table, run->file, run->fpage) != run->dpn)
		return false;
	here->file = run->file;
	known.nr_pages = min(here->nr_pages, run->nr_pages);
	dmda_runtable_set(dmda->table, &known);
	return true;
}

static noinline void continue_write(struct dmda_write *write)
{
	const struct dmda_run *run = &write->run;
	dpn_t dpn = to_dpn(from_dpn(run->dpn) - 1);
	struct dmda_neighbour before = {
		.dpn = dpn,
		.owner = { .fpage = from_dpn(dpn), .nr_pages = 1 },
	};
	struct dmda_owner here = DMDA_OWNER_UNKNOWN;

	dmda_classify(run, &here, &before, run->nr_pages, &write->verdict);
	if (write->verdict.hint != DMDA_HINT_NONE)
		write->identity.source = DMDA_SOURCE_ADJACENCY;
}

/*
 * Data of an unknown file. Where such writes ended is kept aside from the run table,
 * for a hint that needs no more than that: random writes would fill the table with
 * pages of which nothing is known.
 */
void dmda_hint_follow(struct dmda *dmda, struct dmda_write *write)
{
	const struct dmda_run *run = &write->run;
	dpn_t end = to_dpn(from_dpn(run->dpn) + run->nr_pages);
	bool goes_on = dmda_tail_is_at(&dmda->tails, run->dpn);

	dmda_tail_put(&dmda->tails, end);
	if (goes_on)
		continue_write(write);
}

void dmda_hint_forget_all(struct dmda *dmda)
{
	u32 i;

	dmda_runtable_clear(dmda->table);
	for (i = 0; i < DMDA_NR_TAILS; i++)
		WRITE_ONCE(dmda->tails.end[i], 0);
}

void dmda_hint_learn(struct dmda *dmda, struct bio *bio, sector_t sector)
{
	struct dmda_write read = { .bio = bio };
	struct dmda_owner owner;

	if (!dmda_identify_read(bio, &read.identity) || !dmda_hint_run(&read, sector))
		return;
	dmda_runtable_owner(dmda->table, read.run.dpn, &owner);
	if (owner.file.id == read.run.file.id && owner.fpage == read.run.fpage &&
	    owner.nr_pages >= read.run.nr_pages)
		return;
	if (dmda_runtable_learn(dmda->table, &read.run))
		dmda_count(&dmda->stats, DMDA_COUNT_LEARNED);
}

void dmda_hint_watch(struct dmda *dmda, struct bio *bio, sector_t sector)
{
	switch (bio_op(bio)) {
	case REQ_OP_READ:
		if (dmda->config.learn_reads && dmda_fills_cache(bio))
			dmda_hint_learn(dmda, bio, sector);
		break;
	case REQ_OP_DISCARD:
	case REQ_OP_SECURE_ERASE:
	case REQ_OP_WRITE_ZEROES:
		forget_discarded(dmda, sector, bio_sectors(bio));
		break;
	default:
		break;
	}
}
