// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where pages are, and of what the drive is, for whoever asks: the host by way of the controller,
 * and whatever moves pages.
 */
#include "state.h"

bool ftl_is_mapped(const struct ftl *ftl, lpn_t lpn)
{
	return ftl_l2p_get(&ftl->map, lpn) != PPN_NONE;
}

u64 ftl_nr_mapped(const struct ftl *ftl, lpn_t first, u64 nr_pages)
{
	return ftl_l2p_nr_mapped(&ftl->map, from_lpn(first), from_lpn(first) + nr_pages);
}

die_t ftl_die_of(const struct ftl *ftl, lpn_t lpn)
{
	ppn_t ppn = ftl_l2p_get(&ftl->map, lpn);

	return ppn == PPN_NONE ? DIE_NONE : ftl_units_die_of(&ftl->units, ppn);
}

u64 ftl_unit_of(const struct ftl *ftl, lpn_t lpn)
{
	ppn_t ppn = ftl_l2p_get(&ftl->map, lpn);

	/* Open units are numbered behind those on NAND. */
	return ppn == PPN_NONE ? U64_MAX : ftl_flash_unit(&ftl->geo, ppn);
}

u32 ftl_nr_dies(const struct ftl *ftl)
{
	return ftl->geo.nr_dies;
}

const struct ftl_params *ftl_get_params(const struct ftl *ftl)
{
	return &ftl->params;
}
