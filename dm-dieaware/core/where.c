// SPDX-License-Identifier: GPL-2.0-only
/*
 * The answer to the message "where". The last run that was added has no line until it is known that
 * it does not go on; a line is written only if the last one of all has room behind it.
 */
#include "where.h"

/* Return: whether the run has a line now, or there was none. */
static bool put_run(struct dmda_where *where)
{
	unsigned long long lpn = from_lpn(where->lpn);
	char line[DMDA_WHERE_LINE_BYTES + 1];
	size_t bytes;

	if (!where->nr_pages)
		return true;
	if (where->dpn == DPN_NONE)
		bytes = snprintf(line, sizeof(line), "%llu - %llu\n", lpn,
				 (unsigned long long)where->nr_pages);
	else
		bytes = snprintf(line, sizeof(line), "%llu %llu %llu\n", lpn,
				 (unsigned long long)from_dpn(where->dpn),
				 (unsigned long long)where->nr_pages);
	if (bytes > where->size - DMDA_WHERE_LAST_BYTES - where->used)
		return false;
	memcpy(where->text + where->used, line, bytes);
	where->used += bytes;
	where->lpn = dmda_where_next(where);
	where->nr_pages = 0;
	return true;
}

static bool goes_on(const struct dmda_where *where, dpn_t dpn)
{
	if (!where->nr_pages)
		return false;
	if (where->dpn == DPN_NONE || dpn == DPN_NONE)
		return where->dpn == dpn;
	return from_dpn(dpn) == from_dpn(where->dpn) + where->nr_pages;
}

static bool add_run(struct dmda_where *where, dpn_t dpn, u64 nr_pages)
{
	if (!goes_on(where, dpn)) {
		if (!put_run(where))
			return false;
		where->dpn = dpn;
	}
	where->nr_pages += nr_pages;
	return true;
}

void dmda_where_begin(struct dmda_where *where, const struct dmda_super *super, lpn_t lpn,
		      char *text, size_t size)
{
	*where = (struct dmda_where){
		.super = super, .text = text, .size = size, .lpn = lpn, .dpn = DPN_NONE,
	};
}

bool dmda_where_add(struct dmda_where *where, const struct dmda_map_block *map, u64 nr_pages)
{
	u32 entry, end;

	dmda_map_index(where->super, dmda_where_next(where), &entry);
	end = entry + min_t(u64, nr_pages, dmda_super_map_entries(where->super) - entry);
	if (!map)
		return add_run(where, DPN_NONE, end - entry);
	while (entry < end) {
		dpn_t dpn;
		u32 nr = dmda_map_run(map, entry, end - entry, &dpn);

		if (!add_run(where, dpn, nr))
			return false;
		entry += nr;
	}
	return true;
}

void dmda_where_end(struct dmda_where *where)
{
	put_run(where);
	snprintf(where->text + where->used, where->size - where->used, "next=%llu",
		 (unsigned long long)from_lpn(where->lpn));
}
