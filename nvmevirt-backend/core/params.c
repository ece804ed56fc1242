// SPDX-License-Identifier: GPL-2.0-only
/*
 * Questions that the parameters answer by themselves. Those that need sizes which follow from them
 * are in geometry.c, and whether a drive can have them at all says params-check.c.
 */
#include "params.h"

u32 ftl_params_factory_bad(const struct ftl_params *params)
{
	return (u64)params->eblks_per_die * params->factory_bad_permille / 1000;
}

static bool is_same_geometry(const struct ftl_params *a, const struct ftl_params *b)
{
	return a->nr_channels == b->nr_channels &&
	       a->dies_per_channel == b->dies_per_channel &&
	       a->planes_per_die == b->planes_per_die &&
	       a->unit_pages == b->unit_pages &&
	       a->units_per_eblk == b->units_per_eblk &&
	       a->eblks_per_die == b->eblks_per_die &&
	       a->nr_lpns == b->nr_lpns &&
	       a->reserve_permille == b->reserve_permille;
}

static bool is_same_timing(const struct ftl_params *a, const struct ftl_params *b)
{
	if (a->nr_page_kinds != b->nr_page_kinds ||
	    memcmp(a->read_ns, b->read_ns, a->nr_page_kinds * sizeof(*a->read_ns)))
		return false;
	return a->program_ns == b->program_ns &&
	       a->erase_ns == b->erase_ns &&
	       a->slc_program_ns == b->slc_program_ns &&
	       a->slc_read_ns == b->slc_read_ns &&
	       a->suspend_program == b->suspend_program &&
	       a->suspend_erase == b->suspend_erase &&
	       a->suspend_ns == b->suspend_ns &&
	       a->channel_mbps == b->channel_mbps &&
	       a->link_mbps == b->link_mbps &&
	       a->cmd_ns == b->cmd_ns &&
	       a->cmd_gap_ns == b->cmd_gap_ns &&
	       a->write_ns == b->write_ns &&
	       a->page_ns == b->page_ns;
}

static bool is_same_behaviour(const struct ftl_params *a, const struct ftl_params *b)
{
	return a->wbuf_pages == b->wbuf_pages &&
	       a->run_units == b->run_units &&
	       a->hold_ns == b->hold_ns &&
	       a->time_scale == b->time_scale &&
	       a->plp == b->plp &&
	       a->register_hits == b->register_hits &&
	       a->cache_read == b->cache_read &&
	       a->plane_read == b->plane_read &&
	       a->bg_eblks == b->bg_eblks &&
	       a->bg_mend == b->bg_mend &&
	       a->wear_permille == b->wear_permille &&
	       a->spare_eblks == b->spare_eblks &&
	       a->factory_bad_permille == b->factory_bad_permille &&
	       a->oob == b->oob &&
	       a->seed_die == b->seed_die &&
	       a->share_pages == b->share_pages &&
	       a->share_log_kib == b->share_log_kib &&
	       a->map_cache_pages == b->map_cache_pages &&
	       a->read_ahead_pages == b->read_ahead_pages &&
	       a->slc_pages == b->slc_pages &&
	       a->cell_bits == b->cell_bits &&
	       a->stripe_lead == b->stripe_lead &&
	       a->parity == b->parity &&
	       a->in_place == b->in_place &&
	       a->nr_handles == b->nr_handles;
}

/* Not by comparing memory: what lies between the members is anything. */
bool ftl_params_equal(const struct ftl_params *a, const struct ftl_params *b)
{
	return is_same_geometry(a, b) && is_same_timing(a, b) && is_same_behaviour(a, b);
}
