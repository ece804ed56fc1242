// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of the FTL as a sequence of numbers. Only what is known from nothing else is among
 * them: owners of places and all counts of valid pages are worked out from the map. The order of
 * lists and queues is kept where it decides about what comes next.
 *
 * What is read has a good checksum, and is believed only as far as it does no harm all the same:
 * each number that is going to be an index is looked at here, and whether all of it fits together
 * says ftl_check(), which the caller asks.
 */
#include "defrag.h"
#include "keep-state.h"
#include "rebuild.h"
#include "state.h"
#include "table.h"

#define IMPOSSIBLE	"The state file has a state that no drive can have."

static void expect(struct ftl_keep *keep, bool is_so)
{
	ftl_keep_refuse(keep, !is_so, IMPOSSIBLE);
}

/* A number of at most @most; 0 if it is not. */
static void keep_most(struct ftl_keep *keep, u32 *value, u32 most)
{
	ftl_keep_u32(keep, value);
	expect(keep, *value <= most);
	if (keep->reads && keep->reason)
		*value = 0;
}

static void keep_most64(struct ftl_keep *keep, u64 *value, u64 most)
{
	ftl_keep_u64(keep, value);
	expect(keep, *value <= most);
	if (keep->reads && keep->reason)
		*value = 0;
}

static void keep_die(struct ftl_keep *keep, const struct ftl *ftl, die_t *die)
{
	u32 number = from_die(*die);

	keep_most(keep, &number, ftl->geo.nr_dies - 1);
	*die = to_die(number);
}

/* An erase block of the die plus one, or 0. */
static void keep_eblk_of(struct ftl_keep *keep, const struct ftl *ftl, u32 die, u32 *eblk)
{
	u32 first = die * ftl->geo.die_eblks;

	keep_most(keep, eblk, ftl->geo.nr_eblks);
	expect(keep, !*eblk || *eblk - 1 - first < ftl->geo.die_eblks);
	if (keep->reads && keep->reason)
		*eblk = 0;
}

static void keep_map(struct ftl_keep *keep, struct ftl *ftl)
{
	struct ftl_l2p *map = &ftl->map;

	ftl_keep_bytes(keep, map->place_of, map->nr_lpns * sizeof(*map->place_of));
	for (u64 lpn = 0; keep->reads && lpn < map->nr_lpns; lpn++) {
		expect(keep, map->place_of[lpn] <= map->nr_places);
		if (keep->reason)
			return;
		if (!map->place_of[lpn])
			continue;
		ftl_l2p_count_up(map, lpn);
		ftl->units.nr_mapped++;
	}
	/* The table of what is mapped need not be right anywhere. */
	if (keep->reads)
		memset(map->region_state, FTL_REGION_CHANGED,
		       ftl_nr_regions(map->nr_lpns));
}

static void write_sharer(struct ftl_keep *keep, const struct ftl *ftl,
			 const struct ftl_sharer *sharer)
{
	u32 numbers[] = { sharer->lpn, sharer->log_page,
			  ftl->map.owner_of[sharer->place] == sharer->lpn };

	ftl_keep_bytes(keep, numbers, sizeof(numbers));
}

static u32 chain_length(const struct ftl_share *share, u32 nr)
{
	u32 length = 0;

	for (; nr; nr = share->sharer[nr - 1].same_place)
		length++;
	return length;
}

/* From the end of the chain to its beginning: the one that is added last is found first. */
static void write_chain(struct ftl_keep *keep, const struct ftl *ftl, u32 first)
{
	for (u32 left = chain_length(&ftl->share, first); left; left--) {
		u32 nr = first;

		for (u32 i = 1; i < left; i++)
			nr = ftl->share.sharer[nr - 1].same_place;
		write_sharer(keep, ftl, &ftl->share.sharer[nr - 1]);
	}
}

static bool can_share(const struct ftl *ftl, u32 lpn, u32 log_page)
{
	const struct ftl_share *share = &ftl->share;

	return lpn && lpn <= ftl->map.nr_lpns && share->free && ftl->map.place_of[lpn - 1] &&
		log_page <= ftl->oob.max_defrag_pages && !ftl_share_find(share, to_lpn(lpn - 1));
}

static void read_sharer(struct ftl_keep *keep, struct ftl *ftl)
{
	u32 lpn = 0, log_page = 0, is_owner = 0;
	u32 place;

	ftl_keep_u32(keep, &lpn);
	ftl_keep_u32(keep, &log_page);
	ftl_keep_u32(keep, &is_owner);
	expect(keep, can_share(ftl, lpn, log_page));
	if (keep->reason)
		return;
	place = ftl->map.place_of[lpn - 1] - 1;
	ftl_share_restore(&ftl->share, lpn, place, log_page);
	expect(keep, !is_owner || !ftl->map.owner_of[place]);
	if (is_owner)
		ftl->map.owner_of[place] = lpn;
}

static void keep_share(struct ftl_keep *keep, struct ftl *ftl)
{
	struct ftl_share *share = &ftl->share;
	u32 nr = share->nr;

	if (!ftl->params.share_pages)
		return;
	ftl_keep_u32(keep, &nr);
	ftl_keep_refuse(keep, nr && keep->has_oob != ftl->params.oob,
			"Pages of the state file share places, and it has out-of-band data, which this drive does not keep.");
	if (keep->reads) {
		for (u32 i = 0; i < nr && !keep->reason; i++)
			read_sharer(keep, ftl);
		return;
	}
	for (u32 i = 0; i < 1U << share->bits; i++)
		write_chain(keep, ftl, share->by_place[i]);
}

/* Pages that are no sharers own their places; so does one of the sharers where nobody else does. */
static void own_places(struct ftl_keep *keep, struct ftl *ftl)
{
	struct ftl_l2p *map = &ftl->map;

	for (u64 lpn = 0; lpn < map->nr_lpns && !keep->reason; lpn++) {
		u32 place = map->place_of[lpn];

		if (!place || (ftl->share.nr && ftl_share_find(&ftl->share, to_lpn(lpn))))
			continue;
		expect(keep, !map->owner_of[place - 1]);
		map->owner_of[place - 1] = lpn + 1;
	}
	ftl->share.nr_extra = ftl->units.nr_mapped;
	for (u32 place = 0; place < map->nr_places; place++)
		ftl->share.nr_extra -= map->owner_of[place] != 0;
	for (u32 i = 0; i < ftl->share.max && !keep->reason; i++)
		expect(keep, !ftl->share.sharer[i].lpn ||
		       map->owner_of[ftl->share.sharer[i].place]);
}

static u32 count_owners(const struct ftl *ftl, u32 first, u32 nr)
{
	u32 nr_valid = 0;

	for (u32 i = first; i < first + nr; i++)
		nr_valid += ftl->map.owner_of[i] != 0;
	return nr_valid;
}

static void keep_eblk(struct ftl_keep *keep, struct ftl *ftl, u32 nr)
{
	struct ftl_eblk_die *die = &ftl->blocks.die[from_die(ftl_eblk_die(&ftl->geo, nr))];
	struct ftl_unit_die *pages = &ftl->units.die[from_die(ftl_eblk_die(&ftl->geo, nr))];
	struct ftl_eblk *eblk = &ftl->blocks.eblk[nr];

	ftl_keep_u32(keep, &eblk->nr_erases);
	ftl_keep_u32(keep, &eblk->filled_at);
	keep_most(keep, &eblk->state, FTL_EBLK_FIXED);
	if (!keep->reads)
		return;
	eblk->nr_valid = count_owners(ftl, nr * ftl->geo.eblk_pages, ftl->geo.eblk_pages);
	pages->nr_valid += eblk->nr_valid;
	pages->nr_claimed += eblk->nr_valid;
	ftl_eblks_count_erases(&ftl->blocks, nr, eblk->nr_erases);
	die->nr_bad += eblk->state == FTL_EBLK_BAD;
}

static u64 free_rank(const struct ftl_eblk *eblk, u32 freed_at)
{
	return (u64)eblk->nr_erases << 32 | freed_at;
}

/* A heap, which is the same heap when its items are pushed in the order in which they are. */
static void keep_queue(struct ftl_keep *keep, struct ftl *ftl, u32 die, struct ftl_pqueue *queue)
{
	struct ftl_eblk_die *blocks = &ftl->blocks.die[die];
	bool is_free = queue == &blocks->free || queue == &blocks->slc_free;
	bool is_slc = queue == &blocks->slc_free || queue == &blocks->slc_full;
	u32 nr = queue->nr;

	keep_most(keep, &nr, is_slc ? ftl->geo.slc_eblks : ftl_main_eblks(&ftl->geo));
	for (u32 i = 0; i < nr && !keep->reason; i++) {
		u32 item = keep->reads ? 0 : queue->entry[i].item;
		u32 freed_at = keep->reads ? 0 : (u32)queue->entry[i].key;
		const struct ftl_eblk *eblk;

		keep_most(keep, &item, ftl->geo.die_eblks - 1);
		if (is_free)
			ftl_keep_u32(keep, &freed_at);
		if (!keep->reads)
			continue;
		expect(keep, !ftl_pqueue_has(queue, item));
		if (keep->reason)
			return;
		eblk = &ftl->blocks.eblk[die * ftl->geo.die_eblks + item];
		ftl_pqueue_push(queue, is_free ? free_rank(eblk, freed_at) : ftl_eblk_rank(eblk),
				item);
	}
}

static void keep_eblk_die(struct ftl_keep *keep, struct ftl *ftl, u32 nr)
{
	struct ftl_eblk_die *die = &ftl->blocks.die[nr];

	keep_eblk_of(keep, ftl, nr, &die->doomed);
	ftl_keep_u32(keep, &die->nr_freed);
	ftl_keep_u32(keep, &die->nr_filled);
	for (u32 i = 0; i < ftl_nr_streams(&ftl->geo); i++) {
		keep_eblk_of(keep, ftl, nr, &die->stream[i].eblk);
		keep_most(keep, &die->stream[i].next_unit, ftl->geo.eblk_units);
		expect(keep, !die->stream[i].eblk || die->stream[i].next_unit <
		       ftl_eblk_nr_units(&ftl->geo, die->stream[i].eblk - 1));
	}
	keep_queue(keep, ftl, nr, &die->free);
	keep_queue(keep, ftl, nr, &die->full);
	keep_queue(keep, ftl, nr, &die->slc_free);
	keep_queue(keep, ftl, nr, &die->slc_full);
}

/* A new drive has its blocks where they would be if it had been used for nothing. */
static void forget_eblks(struct ftl *ftl)
{
	for (u32 i = 0; i < ftl->geo.nr_dies; i++) {
		struct ftl_eblk_die *die = &ftl->blocks.die[i];

		die->nr_bad = 0;
		die->free.nr = 0;
		die->slc_free.nr = 0;
		memset(die->free.position, 0, ftl->geo.die_eblks * sizeof(*die->free.position));
	}
}

static void keep_eblks(struct ftl_keep *keep, struct ftl *ftl)
{
	if (keep->reads)
		forget_eblks(ftl);
	for (u32 eblk = 0; eblk < ftl->geo.nr_eblks; eblk++)
		keep_eblk(keep, ftl, eblk);
	for (u32 die = 0; die < ftl->geo.nr_dies; die++)
		keep_eblk_die(keep, ftl, die);
	ftl_keep_bool(keep, &ftl->blocks.read_only);
	if (keep->reads)
		ftl_eblks_count_low(&ftl->blocks);
}

/* Where the drive has its one unit of a kind, or NULL. */
static struct ftl_unit **one_of_kind(struct ftl_units *units, const struct ftl_unit *unit)
{
	struct ftl_unit_die *die = &units->die[from_die(unit->die)];

	switch (unit->kind) {
	case FTL_UNIT_PLAIN:
		return &units->plain[unit->handle];
	case FTL_UNIT_MIXED:
		return &die->mixed;
	case FTL_UNIT_GC:
		return &die->gc;
	default:
		return NULL;
	}
}

/* The unit becomes what its numbers say; its place in lists follows. */
static void open_unit(struct ftl_keep *keep, struct ftl *ftl, struct ftl_unit *unit)
{
	struct ftl_units *units = &ftl->units;
	struct ftl_unit_die *die = &units->die[from_die(unit->die)];
	struct ftl_unit **only = one_of_kind(units, unit);
	u32 replaces = unit->replaces;

	unit->nr_valid = count_owners(ftl, from_ppn(ftl_unit_ppn(units, unit, 0)),
				      ftl->geo.unit_pages);
	die->nr_valid += unit->nr_valid;
	die->nr_claimed += ftl_unit_is_gc(unit) ? unit->nr_valid : ftl->geo.unit_pages;
	units->nr_host += !ftl_unit_is_gc(unit);
	units->nr_runs += unit->kind == FTL_UNIT_RUN;
	list_del_init(&unit->link);
	expect(keep, !only || !*only);
	if (only)
		*only = unit;
	if (replaces)
		ftl_units_replace(units, unit, replaces - 1);
	if (unit->awaits)
		ftl_units_await(units, unit, to_lpn(unit->awaits - 1));
}

static void keep_lanes(struct ftl_keep *keep, struct ftl_units *units, struct ftl_unit *unit)
{
	u32 next = list_next_entry(unit, lanes) - units->unit;

	keep_most(keep, &next, units->geo->nr_open - 1);
	if (!keep->reads || keep->reason)
		return;
	unit->lanes.next = &units->unit[next].lanes;
	units->unit[next].lanes.prev = &unit->lanes;
}

static void keep_unit(struct ftl_keep *keep, struct ftl *ftl, struct ftl_unit *unit)
{
	u32 nr_filled = unit->nr_filled;
	u64 awaits = unit->awaits;

	keep_most(keep, &unit->kind, FTL_UNIT_GC);
	if (unit->kind == FTL_UNIT_FREE)
		return;
	keep_die(keep, ftl, &unit->die);
	keep_most(keep, &unit->handle, ftl->geo.nr_handles - 1);
	keep_most(keep, &unit->replaces, ftl->geo.nr_units);
	keep_most64(keep, &awaits, ftl->map.nr_lpns);
	keep_most(keep, &nr_filled, ftl->geo.unit_pages);
	ftl_keep_bool(keep, &unit->is_new);
	ftl_keep_u64(keep, &unit->fresh);
	keep_lanes(keep, &ftl->units, unit);
	if (!keep->reads || keep->reason)
		return;
	unit->nr_filled = nr_filled;
	unit->awaits = awaits;
	open_unit(keep, ftl, unit);
}

static u32 count_links(const struct list_head *list)
{
	const struct list_head *link;
	u32 nr = 0;

	for (link = list->next; link != list; link = link->next)
		nr++;
	return nr;
}

/* A list of units by @link, all of which are of a kind; each unit is in one at most. */
static void keep_list(struct ftl_keep *keep, struct ftl_units *units, struct list_head *list,
		      u32 kind)
{
	struct ftl_unit *unit = list_first_entry(list, struct ftl_unit, link);
	u32 nr = keep->reads ? 0 : count_links(list);

	keep_most(keep, &nr, units->geo->nr_open);
	for (u32 i = 0; i < nr && !keep->reason; i++) {
		u32 number = keep->reads ? 0 : unit - units->unit;

		keep_most(keep, &number, units->geo->nr_open - 1);
		unit = &units->unit[number];
		expect(keep, unit->kind == kind);
		if (keep->reads)
			list_move_tail(&unit->link, list);
		else
			unit = list_next_entry(unit, link);
	}
}

static void keep_fresh(struct ftl_keep *keep, struct ftl_units *units, u32 die)
{
	struct list_head *list = &units->die[die].fresh;
	struct ftl_unit *unit = list_first_entry(list, struct ftl_unit, fresh_link);
	u32 nr = keep->reads ? 0 : count_links(list);

	keep_most(keep, &nr, units->geo->nr_open);
	for (u32 i = 0; i < nr && !keep->reason; i++) {
		u32 number = keep->reads ? 0 : unit - units->unit;

		keep_most(keep, &number, units->geo->nr_open - 1);
		unit = &units->unit[number];
		expect(keep, from_die(unit->die) == die && unit->kind != FTL_UNIT_FREE);
		if (keep->reads)
			list_move_tail(&unit->fresh_link, list);
		else
			unit = list_next_entry(unit, fresh_link);
	}
}

static void keep_units(struct ftl_keep *keep, struct ftl *ftl)
{
	struct ftl_units *units = &ftl->units;

	for (u32 i = 0; i < ftl->geo.nr_open; i++)
		keep_unit(keep, ftl, &units->unit[i]);
	keep_list(keep, units, &units->free, FTL_UNIT_FREE);
	keep_list(keep, units, &units->runs, FTL_UNIT_RUN);
	for (u32 i = 0; i < ftl->geo.nr_dies; i++) {
		keep_fresh(keep, units, i);
		keep_most64(keep, &units->die[i].last_sent, ftl->map.nr_lpns);
	}
	ftl_keep_u64(keep, &units->nr_evicted);
}

static void keep_victim(struct ftl_keep *keep, struct ftl *ftl, u32 die, struct ftl_victim *victim)
{
	keep_eblk_of(keep, ftl, die, &victim->eblk);
	ftl_keep_u32(keep, &victim->pass);
	keep_most(keep, &victim->slot, ftl->geo.eblk_pages);
	keep_most64(keep, &victim->follow, ftl->map.nr_lpns);
}

static void keep_gc(struct ftl_keep *keep, struct ftl *ftl, u32 die)
{
	struct ftl_gc_die *gc = &ftl->gc[die];

	keep_victim(keep, ftl, die, &gc->victim);
	ftl_keep_bool(keep, &gc->is_doomed);
	keep_victim(keep, ftl, die, &gc->fold);
	ftl_keep_u32(keep, &gc->sensed);
	ftl_keep_u32(keep, &gc->nr_victims);
	ftl_keep_u32(keep, &gc->steps_per_program);
	keep_most(keep, &gc->exchange.at, ftl->geo.die_eblks - 1);
	ftl_keep_u32(keep, &gc->exchange.filled_at);
	keep_most(keep, &gc->exchange.next_unit, ftl->geo.eblk_units);
}

/* What a die has done, and what its registers hold. */
static void keep_nand(struct ftl_keep *keep, struct ftl *ftl, u32 nr)
{
	struct ftl_nand_die *die = &ftl->nand.die[nr];

	ftl_keep_u64(keep, &die->busy_ns);
	ftl_keep_u64(keep, &die->units_read);
	ftl_keep_u64(keep, &die->units_programmed);
	ftl_keep_u64(keep, &die->eblks_erased);
	ftl_keep_u64(keep, &die->pages_host);
	ftl_keep_u64(keep, &die->pages_gc);
	ftl_keep_u64(keep, &die->gc_ns);
	for (u32 i = 0; i < ftl->geo.unit_planes; i++)
		ftl_keep_u32(keep, &die->plane[i].held);
}

/* Dies that have come as far, in their order */
static void keep_stripe(struct ftl_keep *keep, struct ftl_stripes *stripes, u32 ahead)
{
	struct list_head *list = ftl_stripes_at(stripes, ahead);
	struct list_head *link = list->next;
	u32 nr = keep->reads ? 0 : count_links(list);

	keep_most(keep, &nr, stripes->geo->nr_dies);
	for (u32 i = 0; i < nr && !keep->reason; i++) {
		struct ftl_stripe_die *die = container_of(link, struct ftl_stripe_die, link);
		u32 number = keep->reads ? 0 : die - stripes->die;

		link = link->next;
		keep_most(keep, &number, stripes->geo->nr_dies - 1);
		if (keep->reads && !keep->reason)
			expect(keep, ftl_stripes_put(stripes, to_die(number), ahead));
	}
}

static void keep_stripes(struct ftl_keep *keep, struct ftl_stripes *stripes)
{
	if (!stripes->lead)
		return;
	keep_most64(keep, &stripes->first, S64_MAX);
	keep_most(keep, &stripes->credit, ftl_stripes_most_credit(stripes));
	for (u32 ahead = 0; ahead <= stripes->lead + stripes->has_parity; ahead++)
		keep_stripe(keep, stripes, ahead);
}

static void keep_rest(struct ftl_keep *keep, struct ftl *ftl)
{
	for (u32 i = 0; i < ftl->geo.nr_handles; i++)
		keep_die(keep, ftl, &ftl->place.cursor[i]);
	keep_die(keep, ftl, &ftl->place.begin);
	for (u32 i = 0; i < ftl->geo.nr_dies; i++) {
		keep_gc(keep, ftl, i);
		keep_nand(keep, ftl, i);
	}
	keep_stripes(keep, &ftl->stripes);
	ftl_keep_u64(keep, &ftl->nand.nr_suspensions);
	keep_most64(keep, &ftl->mend.next, ftl->map.nr_lpns - 1);
	keep_most(keep, &ftl->mend.nr, ftl->geo.unit_pages);
	ftl_keep_u64(keep, &ftl->mend.begun);
	ftl_keep_u64(keep, &ftl->mend.done);
	/* More would have been programmed. */
	keep_most(keep, &ftl->nr_log_entries, ftl->geo.unit_pages * FTL_PAGE_BYTES /
		  sizeof(struct ftl_defrag_entry));
	keep_most(keep, &ftl->nr_exchanges, ftl->geo.nr_open);
	ftl_keep_bytes(keep, &ftl->stats, sizeof(ftl->stats));
}

static void keep_prev(struct ftl_keep *keep, struct ftl_oob *oob)
{
	u32 nr = oob->geo->nr_open * oob->geo->unit_pages;

	for (u32 i = 0; i < nr; i++)
		keep_most(keep, &oob->prev[i], oob->geo->nr_pages);
	ftl_keep_bytes(keep, oob->prev_seq, nr * sizeof(*oob->prev_seq));
}

/* Pages and places that the area names have to be. */
static void expect_area(struct ftl_keep *keep, const struct ftl *ftl)
{
	const struct ftl_oob *oob = &ftl->oob;

	expect(keep, oob->head->nr_trims <= FTL_OOB_TRIMS);
	for (u32 place = 0; place < ftl->geo.nr_places && !keep->reason; place++)
		expect(keep, oob->lpn[place] <= oob->nr_lpns);
}

/* The places of the log's pages, of which the area has nothing */
static void keep_log_pages(struct ftl_keep *keep, struct ftl *ftl, u32 nr)
{
	struct ftl_oob *oob = &ftl->oob;

	if (keep->reads && !keep->reason && oob->max_defrag)
		expect(keep, !ftl_defrag_restore_pages(oob) && ftl_defrag_nr_pages(oob) == nr);
	for (u32 i = 0; i < nr && !keep->reason; i++) {
		u32 *place = &oob->defrag_page[i].place;

		ftl_keep_u32(keep, place);
		expect(keep, *place < ftl->geo.nr_places || *place == U32_MAX);
	}
}

static void keep_oob(struct ftl_keep *keep, struct ftl *ftl)
{
	struct ftl_oob *oob = &ftl->oob;
	u64 bytes = oob->area_bytes;
	u32 nr_pages = oob->max_defrag ? ftl_defrag_nr_pages(oob) : 0;

	if (!keep->has_oob)
		return;
	ftl_keep_u64(keep, &bytes);
	ftl_keep_u32(keep, &nr_pages);
	if (!ftl->params.oob) {
		u32 nr = ftl->geo.nr_open * ftl->geo.unit_pages;

		expect(keep, bytes < (u64)S64_MAX);
		if (!keep->reason)
			ftl_keep_bytes(keep, NULL, bytes + nr * (sizeof(u32) + sizeof(u64)) +
				       (u64)nr_pages * sizeof(u32));
		return;
	}
	expect(keep, bytes == oob->area_bytes);
	if (keep->reason)
		return;
	ftl_keep_bytes(keep, oob->area, bytes);
	keep_prev(keep, oob);
	expect_area(keep, ftl);
	expect(keep, nr_pages <= oob->max_defrag_pages);
	keep_log_pages(keep, ftl, nr_pages);
	if (keep->reads)
		memset(oob->dirty, 1, DIV_ROUND_UP(bytes, FTL_OOB_CHUNK_BYTES));
}

void ftl_keep_state(struct ftl_keep *keep, struct ftl *ftl)
{
	if (!keep->reads && ftl->params.oob)
		ftl_save(ftl);
	keep_map(keep, ftl);
	keep_share(keep, ftl);
	if (keep->reads && !keep->reason)
		own_places(keep, ftl);
	if (!keep->reason)
		keep_eblks(keep, ftl);
	if (!keep->reason)
		keep_units(keep, ftl);
	if (!keep->reason)
		keep_rest(keep, ftl);
	if (!keep->reason)
		keep_oob(keep, ftl);
}
