// SPDX-License-Identifier: GPL-2.0-only
#include "eblk.h"

size_t ftl_eblks_bytes(u32 nr_dies, u32 die_eblks)
{
	size_t of_eblk = sizeof(struct ftl_eblk) + sizeof(struct ftl_pqueue_entry) + sizeof(u32);
	size_t of_die = size_add(sizeof(struct ftl_eblk_die), array_size(die_eblks, of_eblk));

	return array_size(nr_dies, of_die);
}

static void append_free(struct ftl_eblks *blocks, struct ftl_eblk_die *die, u32 eblk)
{
	blocks->eblk[eblk].state = FTL_EBLK_FREE;
	blocks->eblk[eblk].next_free = 0;
	if (die->last_free)
		blocks->eblk[die->last_free - 1].next_free = eblk + 1;
	else
		die->first_free = eblk + 1;
	die->last_free = eblk + 1;
	die->nr_free++;
}

static u32 take_free(struct ftl_eblks *blocks, struct ftl_eblk_die *die)
{
	u32 eblk = die->first_free - 1;

	die->first_free = blocks->eblk[eblk].next_free;
	if (!die->first_free)
		die->last_free = 0;
	die->nr_free--;
	blocks->eblk[eblk].state = FTL_EBLK_OPEN;
	return eblk;
}

void ftl_eblks_init(struct ftl_eblks *blocks, const struct ftl_geometry *geo, void *zeroed)
{
	struct ftl_pqueue_entry *entry;
	u32 *position;

	blocks->geo = geo;
	blocks->die = zeroed;
	entry = (struct ftl_pqueue_entry *)(blocks->die + geo->nr_dies);
	blocks->eblk = (struct ftl_eblk *)(entry + geo->nr_eblks);
	position = (u32 *)(blocks->eblk + geo->nr_eblks);
	for (u32 i = 0; i < geo->nr_dies; i++) {
		blocks->die[i].full.entry = entry + i * geo->die_eblks;
		blocks->die[i].full.position = position + i * geo->die_eblks;
	}
	for (u32 eblk = 0; eblk < geo->nr_eblks; eblk++)
		append_free(blocks, &blocks->die[from_die(ftl_eblk_die(geo, eblk))], eblk);
}

void ftl_eblks_close_if_full(struct ftl_eblks *blocks, die_t die_nr, enum ftl_stream stream)
{
	struct ftl_eblk_die *die = &blocks->die[from_die(die_nr)];
	struct ftl_eblk_stream *open = &die->stream[stream];
	struct ftl_eblk *eblk;

	if (!open->eblk || open->next_unit < blocks->geo->eblk_units)
		return;
	eblk = &blocks->eblk[open->eblk - 1];
	eblk->state = FTL_EBLK_FULL;
	eblk->filled_at = die->nr_filled++;
	ftl_pqueue_push(&die->full, ftl_eblk_rank(eblk),
			open->eblk - 1 - from_die(die_nr) * blocks->geo->die_eblks);
	open->eblk = 0;
}

void ftl_eblks_open_next(struct ftl_eblks *blocks, die_t die_nr, enum ftl_stream stream)
{
	struct ftl_eblk_die *die = &blocks->die[from_die(die_nr)];

	die->stream[stream].eblk = take_free(blocks, die) + 1;
	die->stream[stream].next_unit = 0;
}

u32 ftl_eblks_take_unit(struct ftl_eblks *blocks, die_t die, enum ftl_stream stream)
{
	struct ftl_eblk_stream *open = &blocks->die[from_die(die)].stream[stream];

	return ftl_eblk_first_unit(blocks->geo, open->eblk - 1) + open->next_unit++;
}

void ftl_eblks_add_valid(struct ftl_eblks *blocks, u32 flash_unit, u32 nr_pages)
{
	blocks->eblk[ftl_flash_unit_eblk(blocks->geo, flash_unit)].nr_valid += nr_pages;
}

void ftl_eblks_drop_valid(struct ftl_eblks *blocks, u32 flash_unit, u32 nr_pages)
{
	u32 nr = ftl_flash_unit_eblk(blocks->geo, flash_unit);
	struct ftl_eblk *eblk = &blocks->eblk[nr];
	u32 die = nr / blocks->geo->die_eblks;

	eblk->nr_valid -= nr_pages;
	if (eblk->state == FTL_EBLK_FULL)
		ftl_pqueue_lower(&blocks->die[die].full, ftl_eblk_rank(eblk),
				 nr - die * blocks->geo->die_eblks);
}

u32 ftl_eblks_take_victim(struct ftl_eblks *blocks, die_t die)
{
	struct ftl_pqueue_entry first = ftl_pqueue_pop(&blocks->die[from_die(die)].full);
	u32 eblk = from_die(die) * blocks->geo->die_eblks + first.item;

	blocks->eblk[eblk].state = FTL_EBLK_VICTIM;
	return eblk;
}

void ftl_eblks_free(struct ftl_eblks *blocks, u32 eblk)
{
	die_t die = ftl_eblk_die(blocks->geo, eblk);

	blocks->eblk[eblk].nr_erases++;
	append_free(blocks, &blocks->die[from_die(die)], eblk);
}

void ftl_eblks_erases(const struct ftl_eblks *blocks, die_t die, u32 *least, u32 *most)
{
	const struct ftl_eblk *eblk = &blocks->eblk[from_die(die) * blocks->geo->die_eblks];

	*least = U32_MAX;
	*most = 0;
	for (u32 i = 0; i < blocks->geo->die_eblks; i++) {
		*least = min(*least, eblk[i].nr_erases);
		*most = max(*most, eblk[i].nr_erases);
	}
}
