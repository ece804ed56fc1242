// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starting a device: which superblock and which root count. Both are there twice.
 */
#include "start-parts.h"

bool dmda_start_ask_super(struct dmda_start *start)
{
	static const u64 places[] = { DMDA_SUPER_DPN_A, DMDA_SUPER_DPN_B };

	return start->index < ARRAY_SIZE(places) &&
		ask_read(start, to_dpn(places[start->index]), start->pages, 1);
}

const char *dmda_start_did_super(struct dmda_start *start, int error)
{
	const char *why = error ? "it cannot be read" :
		dmda_super_decode((void *)start->pages, start->dpn, &start->found);

	start->index++;
	start->whys[0] = why;
	if (why || (start->has_super && start->found.epoch <= start->super->epoch))
		return NULL;
	*start->super = start->found;
	start->has_super = true;
	return NULL;
}

const char *dmda_start_leave_super(struct dmda_start *start)
{
	return start->has_super ? NULL : start->whys[0];
}

static bool ask_root(struct dmda_start *start, u32 which)
{
	return ask_read(start, to_dpn(start->super->root_dpn[which]), start->pages,
			dmda_root_nr_pages(start->super));
}

static const char *decode_root(struct dmda_start *start, u32 which, int error,
			       struct dmda_root *root)
{
	const char *why;

	if (error)
		return "a root cannot be read";
	why = dmda_root_decode(root, start->super, (void *)start->pages, which);
	for (u32 i = 1; !why && i < start->nr_pages; i++) {
		const void *page = start->pages + i * DMDA_BLOCK_BYTES;

		why = dmda_root_decode_entries(root, start->super, i, page, start->slots);
	}
	return why;
}

bool dmda_start_ask_roots(struct dmda_start *start)
{
	return start->index < ARRAY_SIZE(start->roots) && ask_root(start, start->index);
}

const char *dmda_start_did_roots(struct dmda_start *start, int error)
{
	u32 which = start->index++;

	start->whys[which] = decode_root(start, which, error, &start->roots[which]);
	return NULL;
}

const char *dmda_start_leave_roots(struct dmda_start *start)
{
	return start->whys[1] ? start->whys[0] : NULL;
}

/* Its entries may be mixed with the other one's by now. */
bool dmda_start_ask_chosen(struct dmda_start *start)
{
	return !start->index && ask_root(start, dmda_root_newest(start->roots, start->whys));
}

const char *dmda_start_did_chosen(struct dmda_start *start, int error)
{
	start->index++;
	return decode_root(start, dmda_root_newest(start->roots, start->whys), error,
			   start->root);
}
