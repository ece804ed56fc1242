// SPDX-License-Identifier: GPL-2.0-only
/* How many erase blocks a die needs for a capacity. */
#include "params-check.h"
#include "profiles.h"

#define MIN_EBLKS_PER_DIE	8
#define MAX_EXTRA_EBLKS		1024

/* Pages that one more erase block on every die adds; 0 for an impossible geometry. */
static u64 pages_per_line(const struct ftl_params *params)
{
	u64 pages = (u64)params->nr_channels * params->dies_per_channel;

	if (check_mul_overflow(pages, (u64)params->unit_pages, &pages) ||
	    check_mul_overflow(pages, (u64)params->units_per_eblk, &pages))
		return 0;
	return pages;
}

/* At least the share of each die, and a few more for what the FTL holds back besides. */
const char *ftl_params_size(struct ftl_params *params, u64 capacity_bytes)
{
	u32 nr_dies = params->nr_channels * params->dies_per_channel;
	u64 line_pages = pages_per_line(params);
	u64 raw_pages, nr_lines;

	params->nr_lpns = capacity_bytes >> FTL_PAGE_SHIFT;
	params->eblks_per_die = MIN_EBLKS_PER_DIE;
	if (!line_pages || params->reserve_permille >= 1000)
		return ftl_params_check(params);
	if (check_mul_overflow(params->nr_lpns, (u64)1000, &raw_pages))
		return "The capacity is too large (capacity_mib).";
	raw_pages = div_u64(raw_pages, params->in_place ? 1000 : 1000 - params->reserve_permille);
	if (params->parity && nr_dies > 1)
		raw_pages += div_u64(raw_pages, nr_dies - 1);
	nr_lines = div64_u64(raw_pages, line_pages);
	if (nr_lines > U32_MAX - MAX_EXTRA_EBLKS)
		return "The capacity is too large (capacity_mib).";
	nr_lines = max_t(u64, nr_lines, MIN_EBLKS_PER_DIE) + params->spare_eblks;
	if (nr_lines > U32_MAX - MAX_EXTRA_EBLKS)
		return "A die cannot have so many erase blocks to spare (spare_eblks).";
	params->eblks_per_die = nr_lines;
	for (u32 tries = 0; tries < MAX_EXTRA_EBLKS; tries++) {
		if (ftl_params_capacity(params) >= params->nr_lpns)
			break;
		params->eblks_per_die++;
	}
	return ftl_params_check(params);
}
