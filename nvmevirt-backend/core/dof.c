// SPDX-License-Identifier: GPL-2.0-only
/* Definition and reasons are in dof.h. */
#include "dof.h"

/* Twice as many slots as there can be units, so that a search is short and ends. */
static u32 bits_for(u32 nr_pages)
{
	return ilog2(max(nr_pages, 1U)) + 2;
}

size_t ftl_dof_bytes(const struct ftl *ftl, u32 nr_pages)
{
	return ((size_t)ftl_nr_dies(ftl) + BIT(bits_for(nr_pages))) * sizeof(u32);
}

void ftl_dof_init(struct ftl_dof *dof, const struct ftl *ftl, u32 nr_pages, void *zeroed)
{
	memset(dof, 0, sizeof(*dof));
	dof->ftl = ftl;
	dof->die_units = zeroed;
	dof->unit = dof->die_units + ftl_nr_dies(ftl);
	dof->hash_bits = bits_for(nr_pages);
}

/* Returns whether the unit is new. */
static bool remember(struct ftl_dof *dof, u32 unit)
{
	u32 mask = (1U << dof->hash_bits) - 1;
	u32 at = hash_32(unit, dof->hash_bits);

	for (; dof->unit[at]; at = (at + 1) & mask)
		if (dof->unit[at] == unit + 1)
			return false;
	dof->unit[at] = unit + 1;
	return true;
}

static void add_page(struct ftl_dof *dof, lpn_t lpn)
{
	die_t die = ftl_die_of(dof->ftl, lpn);
	u32 *die_units;

	if (die == DIE_NONE)
		return;
	dof->nr_pages++;
	if (!remember(dof, ftl_unit_of(dof->ftl, lpn)))
		return;
	dof->nr_units++;
	die_units = &dof->die_units[from_die(die)];
	dof->most_units = max(dof->most_units, ++*die_units);
}

void ftl_dof_add(struct ftl_dof *dof, lpn_t first, u32 nr_pages)
{
	for (u32 i = 0; i < nr_pages; i++)
		add_page(dof, to_lpn(from_lpn(first) + i));
}

u32 ftl_dof_best(const struct ftl_dof *dof)
{
	u32 stripe_pages = ftl_get_params(dof->ftl)->unit_pages * ftl_nr_dies(dof->ftl);

	return DIV_ROUND_UP_ULL(dof->nr_pages, stripe_pages);
}

u32 ftl_dof_permille(const struct ftl_dof *dof)
{
	/* Only a set that names pages twice can do better than its best. */
	if (ftl_dof_best(dof) >= dof->most_units)
		return 0;
	return 1000 - div_u64(1000ULL * ftl_dof_best(dof), dof->most_units);
}
