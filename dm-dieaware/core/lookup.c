// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is read while the page changes may be anything, since an entry is no word that is read at
 * once. Nothing is done with it before its version was compared.
 */
#include "lookup.h"

bool dmda_lookup_begin(struct dmda_lookup *lookup, const struct dmda_map_page *page, u32 entry,
		       u32 nr_pages, __le32 *sums)
{
	lookup->page = page;
	lookup->version = raw_read_seqcount(&page->version);
	/* Nobody waits for who changes it: he may not be running. */
	if (lookup->version & 1 || !READ_ONCE(page->is_shown))
		return false;
	nr_pages = min(nr_pages, page->nr_entries - entry);
	lookup->nr_pages = dmda_map_run(page->block, entry, nr_pages, &lookup->dpn);
	if (sums)
		memcpy(sums, &dmda_map_sums(page->block)->sum[entry],
		       lookup->nr_pages * sizeof(*sums));
	return dmda_lookup_holds(lookup);
}
