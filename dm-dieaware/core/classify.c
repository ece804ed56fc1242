// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules by which a write becomes an append, an overwrite or neither. What the
 * device page holds counts more than what the file's index says: owners are changed by
 * every write and discard, the index of runs only by writes of its own file.
 */
#include "classify.h"

static bool is_anonymous_page(const struct dmda_owner *owner)
{
	return owner->nr_pages && !owner->file.id;
}

/* Does the device page still hold the page before the write? */
static bool is_predecessor(const struct dmda_run *write, const struct dmda_neighbour *before)
{
	const struct dmda_owner *owner = &before->owner;

	return write->fpage && before->dpn != DPN_NONE && owner->nr_pages &&
	       owner->file.id == write->file.id && owner->fpage == write->fpage - 1;
}

/* Does an anonymous write continue anonymous pages, where nothing was written before? */
static bool continues_anonymous(const struct dmda_owner *here,
				const struct dmda_neighbour *before)
{
	return before->dpn != DPN_NONE && is_anonymous_page(&before->owner) &&
	       !is_anonymous_page(here);
}

void dmda_classify(const struct dmda_run *write, const struct dmda_owner *here,
		   const struct dmda_neighbour *before, u32 nr_other,
		   struct dmda_verdict *verdict)
{
	bool is_append, has_pred;

	if (dmda_classify_overwrite(write, here, verdict))
		return;

	if (write->file.id) {
		has_pred = is_predecessor(write, before);
		is_append = has_pred || !write->fpage;
		verdict->nr_pages = clamp(nr_other, 1U, write->nr_pages);
	} else {
		has_pred = continues_anonymous(here, before);
		is_append = has_pred;
		verdict->nr_pages = write->nr_pages;
	}
	verdict->hint = is_append ? DMDA_HINT_APPEND : DMDA_HINT_NONE;
	verdict->pred = has_pred ? before->dpn : DPN_NONE;
}

void dmda_classify_whole(const struct dmda_run *write, const struct dmda_neighbour *before,
			 struct dmda_verdict *verdict)
{
	bool has_pred = is_predecessor(write, before);

	verdict->hint = has_pred ? DMDA_HINT_APPEND : DMDA_HINT_NONE;
	verdict->pred = has_pred ? before->dpn : DPN_NONE;
	verdict->nr_pages = write->nr_pages;
}

u32 dmda_classify_cut(u64 sector, u32 nr_pages, u32 nr_alike, u32 whole_sectors, u32 least_pages)
{
	u32 least = max(least_pages << DMDA_PAGE_SECTOR_SHIFT, whole_sectors);
	u64 end = sector + ((u64)nr_pages << DMDA_PAGE_SECTOR_SHIFT);
	u64 cut = sector + ((u64)nr_alike << DMDA_PAGE_SECTOR_SHIFT);
	u32 rest;

	div_u64_rem(cut, whole_sectors, &rest);
	cut -= rest;
	if (cut < sector + least || end < cut + least)
		return 0;
	/* On a partition that begins within a block, there may be no page where one begins. */
	if ((cut - sector) & (DMDA_PAGE_SECTORS - 1))
		return 0;
	return (cut - sector) >> DMDA_PAGE_SECTOR_SHIFT;
}
