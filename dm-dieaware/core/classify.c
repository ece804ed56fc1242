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
