// SPDX-License-Identifier: GPL-2.0-only
/* Which geometries can work, and how much they can show to the host. */
#include "geometry.h"
#include "params-check.h"

/* Map entries hold a number plus one in 32 bits. */
#define MAX_PLACES	((u64)U32_MAX - 1)

#define MAX_HOLD_NS	1000000000U
#define MAX_SUSPEND_NS	100000000U
#define MAX_SUSPENDS	1000

static bool is_within(u64 value, u64 first, u64 last)
{
	return value >= first && value <= last;
}

static const char *check_geometry(const struct ftl_params *params)
{
	if (!is_within(params->nr_channels, 1, 64))
		return "The number of channels must be between 1 and 64.";
	if (!is_within(params->dies_per_channel, 1, 64))
		return "The number of dies on a channel must be between 1 and 64.";
	if (!is_within(params->unit_pages, 1, 64))
		return "A die unit must have between 1 and 64 pages.";
	if (!is_within(params->planes_per_die, 1, FTL_MAX_PLANES))
		return "The number of planes of a die must be between 1 and 16.";
	if (!is_within(params->units_per_eblk, 2, 16384))
		return "An erase block must have between 2 and 16384 program units.";
	if (params->eblks_per_die < 8)
		return "A die must have at least 8 erase blocks.";
	if (params->spare_eblks > params->eblks_per_die - 8)
		return "A die must have at least 8 erase blocks besides the spare ones.";
	if (params->factory_bad_permille > 1000 ||
	    ftl_params_factory_bad(params) > params->spare_eblks)
		return "The factory's bad erase blocks are more than a die has to spare.";
	if (!is_within(params->reserve_permille, 20, 900))
		return "The reserve must be between 20 and 900 per mille of the raw capacity.";
	return NULL;
}

static const char *check_slc(const struct ftl_params *params)
{
	if (!params->slc_pages)
		return NULL;
	if (!is_within(params->cell_bits, 2, 4))
		return "A cell outside the SLC region must have between 2 and 4 bits (cell_bits).";
	if (params->units_per_eblk < params->cell_bits)
		return "An erase block of the SLC region would have no program unit (cell_bits).";
	if (ftl_geometry_slc_eblks(params) > params->eblks_per_die)
		return "The SLC region needs more erase blocks than a die has besides (slc_mib).";
	return NULL;
}

/*
 * The next free unit of an SLC region or of a stripe is that of all data: there would have to be a
 * region, and stripes, for each handle.
 */
static const char *check_handles(const struct ftl_params *params)
{
	if (params->nr_handles > FTL_MAX_HANDLES)
		return "There can be at most 16 placement handles (fdp_handles).";
	if (params->nr_handles && params->slc_pages)
		return "Handles cannot keep data apart in an SLC region (fdp_handles, slc_mib).";
	if (params->nr_handles && params->stripe_lead)
		return "Handles cannot keep data apart in stripes (fdp_handles, stripe_lead).";
	return NULL;
}

/* What has its reason in pages that move, or wait for others of their unit */
static const char *check_in_place(const struct ftl_params *params)
{
	if (!params->in_place)
		return NULL;
	if (!params->plp)
		return "What is written in place is safe once a die has it (in_place needs plp).";
	if (params->nr_handles || params->share_pages)
		return "What is written in place goes nowhere else (fdp_handles, share_pages).";
	if (params->slc_pages || params->stripe_lead || params->hold_ns)
		return "What is written in place does not wait (slc_mib, stripe_lead, hold_ns).";
	if (params->map_cache_pages)
		return "What is written in place has no map that could be on NAND (map_cache_mib).";
	if (params->spare_eblks || params->bg_eblks)
		return "What is written in place leaves no block free (spare_eblks, bg_eblks).";
	return NULL;
}

static const char *check_latencies(const struct ftl_params *params)
{
	if (!is_within(params->nr_page_kinds, 1, FTL_MAX_PAGE_KINDS))
		return "The number of page kinds must be between 1 and 4.";
	if (!is_within(params->time_scale, 1, 1000))
		return "The time scale must be between 1 and 1000.";
	if (!is_within(params->channel_mbps, 1, 1000000))
		return "The bandwidth of a channel must be between 1 and 1000000 MB/s.";
	if (params->hold_ns > MAX_HOLD_NS)
		return "A full unit must not be held for more than 1000000000 ns.";
	if (params->suspend_program > MAX_SUSPENDS || params->suspend_erase > MAX_SUSPENDS)
		return "A program or erase must not give way to more than 1000 reads.";
	if (params->suspend_ns > MAX_SUSPEND_NS)
		return "A program or erase must be suspended within 100000000 ns.";
	if (!is_within(params->link_mbps, 1, 1000000))
		return "The bandwidth of the link must be between 1 and 1000000 MB/s.";
	return NULL;
}

/* Pages of so many erase blocks on each die, or U64_MAX if there is no such number. */
static u64 pages_of(const struct ftl_params *params, u64 nr_eblks)
{
	u64 pages = (u64)params->nr_channels * params->dies_per_channel;

	if (check_mul_overflow(pages, nr_eblks, &pages) ||
	    check_mul_overflow(pages, (u64)params->units_per_eblk, &pages) ||
	    check_mul_overflow(pages, (u64)params->unit_pages, &pages))
		return U64_MAX;
	return pages;
}

static bool places_fit(const struct ftl_params *params)
{
	u64 raw = pages_of(params, params->eblks_per_die + ftl_geometry_slc_eblks(params));
	u64 open = ftl_geometry_open_units(params) * params->unit_pages;

	return raw <= MAX_PLACES && open <= MAX_PLACES - raw;
}

/*
 * Rule 5 of place.h needs room for one more unit on some die whenever a unit is opened.
 * Then at most nr_lpns pages are mapped, and at most others = run_units + held units +
 * nr_dies + 1 + handles units of P slots are open or held besides. If no die had room, each would
 * be claimed for more than limit - P pages, in sum
 *
 *	nr_dies (limit - P + 1) <= claimed <= nr_lpns + others P
 *
 * which a drive of nr_lpns < nr_dies (limit - P + 1) - others P rules out.
 */
static u64 roomy_pages(const struct ftl_params *params)
{
	u64 nr_dies = (u64)params->nr_channels * params->dies_per_channel;
	u64 limit = ftl_geometry_die_limit(params);
	u64 held = ftl_geometry_held_units(params);
	u64 handles = 1 + ftl_params_more_handles(params);
	u64 others = (params->run_units + held + nr_dies + 1 + handles) * params->unit_pages;
	u64 pages = limit < params->unit_pages ? 0 : nr_dies * (limit - params->unit_pages + 1);

	return pages > others ? pages - others - 1 : 0;
}

u64 ftl_params_capacity(const struct ftl_params *params)
{
	u64 pages;

	if (check_geometry(params) || check_slc(params) || check_handles(params) ||
	    !places_fit(params))
		return 0;
	if (params->in_place)
		return pages_of(params, params->eblks_per_die);
	/* What is spare does not count among what the reserve is a share of. */
	pages = pages_of(params, params->eblks_per_die - params->spare_eblks);
	if (params->parity)
		pages -= div_u64(pages, params->nr_channels * params->dies_per_channel);
	return min(div_u64(pages * (1000 - params->reserve_permille), 1000),
		   roomy_pages(params));
}

static const char *check_buffer(const struct ftl_params *params)
{
	u64 nr_dies = (u64)params->nr_channels * params->dies_per_channel;
	u64 units = max((u64)params->run_units + 2 * nr_dies, (u64)params->run_units + nr_dies + 4);

	units += ftl_params_more_handles(params);
	if (!params->run_units)
		return "At least one open unit is needed for runs.";
	if (params->wbuf_pages < units * params->unit_pages)
		return "The write buffer is too small for two units a die and those for runs.";
	return NULL;
}

const char *ftl_params_check(const struct ftl_params *params)
{
	const char *reason = check_geometry(params);

	if (!reason)
		reason = check_slc(params);
	if (!reason)
		reason = check_handles(params);
	if (!reason)
		reason = check_in_place(params);
	if (!reason)
		reason = check_latencies(params);
	if (!reason)
		reason = check_buffer(params);
	if (reason)
		return reason;
	if (!places_fit(params))
		return "The drive has too many pages: with the buffer, 2^32 or more.";
	if (params->seed_die >= params->nr_channels * params->dies_per_channel)
		return "The die of the first write does not exist.";
	if (params->wear_permille > 1000)
		return "The wear that a die may be ahead must be between 0 and 1000 per mille.";
	if (params->bg_eblks > params->eblks_per_die)
		return "Background collection cannot keep more erase blocks free than a die has.";
	if (params->share_pages > params->nr_lpns)
		return "More pages can be shared than the drive has (share_pages).";
	if (params->share_pages && !is_within(params->share_log_kib, 4, 1048576))
		return "The defrag log must be between 4 and 1048576 KiB (share_log_kib).";
	if (params->map_cache_pages > FTL_MAX_MAP_CACHE_PAGES)
		return "The cache of the map must have at most 16384 MiB (map_cache_mib).";
	if (params->read_ahead_pages > FTL_MAX_READ_AHEAD_PAGES)
		return "At most 16384 KiB can be read ahead (read_ahead_kib).";
	if (params->stripe_lead > FTL_MAX_STRIPE_LEAD)
		return "At most 64 stripes can be open (stripe_lead).";
	if (params->parity && !params->stripe_lead)
		return "Parity needs stripes (stripe_lead).";
	if (params->parity && params->nr_channels * params->dies_per_channel < 2)
		return "Parity needs two dies.";
	if (!params->nr_lpns)
		return "The drive would have no pages to show to the host.";
	if (params->nr_lpns > ftl_params_capacity(params))
		return "The dies cannot hold that many pages besides the reserve.";
	return NULL;
}
