// SPDX-License-Identifier: GPL-2.0-only
/*
 * Power failure, and the start after it. The maps are made anew by looking at every place on NAND,
 * as janusd's FTL does with its out-of-band areas (Hahn et al., USENIX ATC 2017, section 4.2):
 * there is no checkpoint of them that would have to be kept right. That takes no time in the
 * model.
 *
 * The drive is first made as a new one, in the same memory, and then gets what the area says, so
 * that nothing but the area survives. The area may come from a file, so what it says is checked
 * before it is believed, and refused with a sentence that says what is wrong.
 */
#include "defrag-compact.h"
#include "defrag-replay.h"
#include "defrag.h"
#include "gc.h"
#include "in-place.h"
#include "l2p-change.h"
#include "map-page.h"
#include "oob-booked.h"
#include "oob-slots.h"
#include "rebuild.h"

static void save_counters(struct ftl *ftl)
{
	struct ftl_oob *oob = &ftl->oob;
	struct ftl_stats stats;

	BUILD_BUG_ON(sizeof(stats) > sizeof(oob->head->counters));
	ftl_get_stats(ftl, &stats);
	memcpy(oob->head->counters, &stats, sizeof(stats));
	for (u32 i = 0; i < ftl->geo.nr_dies; i++) {
		const struct ftl_nand_die *nand = &ftl->nand.die[i];

		oob->die[i] = (struct ftl_oob_die){
			.busy_ns = nand->busy_ns,
			.units_read = nand->units_read,
			.units_programmed = nand->units_programmed,
			.eblks_erased = nand->eblks_erased,
			.pages_host = nand->pages_host,
			.pages_gc = nand->pages_gc,
		};
	}
}

static void restore_counters(struct ftl *ftl)
{
	const struct ftl_oob *oob = &ftl->oob;

	memcpy(&ftl->stats, oob->head->counters, sizeof(ftl->stats));
	ftl->units.nr_evicted = ftl->stats.run_units_evicted;
	for (u32 i = 0; i < ftl->geo.nr_dies; i++) {
		struct ftl_nand_die *nand = &ftl->nand.die[i];

		nand->busy_ns = oob->die[i].busy_ns;
		nand->units_read = oob->die[i].units_read;
		nand->units_programmed = oob->die[i].units_programmed;
		nand->eblks_erased = oob->die[i].eblks_erased;
		nand->pages_host = oob->die[i].pages_host;
		nand->pages_gc = oob->die[i].pages_gc;
	}
	for (u32 eblk = 0; eblk < ftl->geo.nr_eblks; eblk++)
		ftl->blocks.eblk[eblk].nr_erases = oob->erases[eblk] & ~FTL_OOB_BAD;
}

static void save_open_units(struct ftl *ftl)
{
	for (u32 i = 0; i < ftl->geo.nr_open; i++) {
		const struct ftl_unit *unit = &ftl->units.unit[i];

		/* Where a free unit was open last is nobody's business. */
		ftl->oob.open[i].die = unit->kind == FTL_UNIT_FREE ? 0 : from_die(unit->die);
		ftl->oob.open[i].kind = unit->kind;
		ftl->oob.open[i].handle = unit->kind == FTL_UNIT_FREE ? 0 : unit->handle;
	}
}

static bool is_lost(const struct ftl *ftl, u32 eblk)
{
	const struct ftl_gc_die *gc = &ftl->gc[from_die(ftl_eblk_die(&ftl->geo, eblk))];

	switch (ftl->blocks.eblk[eblk].state) {
	case FTL_EBLK_BAD:
	case FTL_EBLK_DOOMED:
		return true;
	case FTL_EBLK_VICTIM:
		return gc->is_doomed && gc->victim.eblk == eblk + 1;
	default:
		return false;
	}
}

static void save_bad_blocks(struct ftl *ftl)
{
	for (u32 eblk = 0; eblk < ftl->geo.nr_eblks; eblk++) {
		u32 *erases = &ftl->oob.erases[eblk];
		u32 value = (*erases & ~FTL_OOB_BAD) | (is_lost(ftl, eblk) ? FTL_OOB_BAD : 0);

		if (value == *erases)
			continue;
		*erases = value;
		ftl_oob_mark(&ftl->oob, erases, sizeof(*erases));
	}
}

/*
 * A block that was closed early is full, and not one that a stream goes on with: there could be
 * more of these than streams, and the one that collection needs would be lost among them. Without
 * protection, where others end early as well, collection has a free block.
 */
static void save_closed_blocks(struct ftl *ftl)
{
	for (u32 eblk = 0; eblk < ftl->geo.nr_eblks; eblk++) {
		u32 last = ftl_eblk_first_unit(&ftl->geo, eblk) +
			   ftl_eblk_nr_units(&ftl->geo, eblk) - 1;
		u32 state = ftl->blocks.eblk[eblk].state;

		if ((state != FTL_EBLK_FULL && state != FTL_EBLK_VICTIM) || ftl->oob.stamp[last])
			continue;
		ftl->oob.stamp[last] = FTL_OOB_TORN;
		ftl_oob_mark(&ftl->oob, &ftl->oob.stamp[last], sizeof(*ftl->oob.stamp));
	}
}

/* What changes with every command is marked only when somebody is going to look. */
static void mark_frequent(struct ftl_oob *oob)
{
	u32 first = oob->geo->nr_pages;
	u32 nr = oob->geo->nr_places - first;

	ftl_oob_mark(oob, oob->head, sizeof(*oob->head));
	ftl_oob_mark(oob, oob->die, oob->geo->nr_dies * sizeof(*oob->die));
	ftl_oob_mark(oob, oob->open, oob->geo->nr_open * sizeof(*oob->open));
	ftl_oob_mark(oob, &oob->seq[first], nr * sizeof(*oob->seq));
	ftl_oob_mark(oob, &oob->lpn[first], nr * sizeof(*oob->lpn));
}

void ftl_save(struct ftl *ftl)
{
	ftl_oob_settle(&ftl->oob, U64_MAX);
	save_counters(ftl);
	save_open_units(ftl);
	save_bad_blocks(ftl);
	if (!ftl->oob.is_volatile)
		save_closed_blocks(ftl);
	mark_frequent(&ftl->oob);
}

static void lose_open_units(struct ftl *ftl)
{
	u32 first = ftl->geo.nr_pages;

	memset(&ftl->oob.lpn[first], 0, (ftl->geo.nr_places - first) * sizeof(u32));
}

void ftl_power_off(struct ftl *ftl)
{
	ftl_map_lose(ftl);
	ftl_read_ahead_forget(&ftl->read_ahead);
}

void ftl_power_cut(struct ftl *ftl, u64 now_ns)
{
	if (!ftl->params.oob)
		return;
	if (!ftl->params.plp) {
		ftl_advance(ftl, now_ns);
		ftl_oob_settle(&ftl->oob, now_ns);
		ftl_oob_tear(&ftl->oob, now_ns);
		lose_open_units(ftl);
		if (ftl->oob.max_defrag)
			ftl_defrag_cut(&ftl->oob, now_ns);
	}
	ftl_save(ftl);
}

void ftl_cut_after(struct ftl *ftl, u64 nr_ops)
{
	ftl->oob.cut_countdown = nr_ops;
	ftl->oob.cut_op_ns = U64_MAX;
	ftl->oob.cut_ns = U64_MAX;
}

u64 ftl_cut_ns(struct ftl *ftl, u64 now_ns)
{
	struct ftl_oob *oob = &ftl->oob;

	if (!ftl->params.oob)
		return U64_MAX;
	if (oob->cut_ns == U64_MAX && oob->cut_op_ns != U64_MAX)
		oob->cut_ns = max(oob->cut_op_ns, now_ns);
	/* The operation with which it fails is no longer put off. */
	if (oob->cut_ns != U64_MAX)
		ftl_nand_fix(&ftl->nand, oob->cut_ns);
	return oob->cut_ns;
}

void *ftl_area(struct ftl *ftl, size_t *bytes)
{
	*bytes = ftl->oob.area_bytes;
	return ftl->oob.area;
}

u64 ftl_last_seq(const struct ftl *ftl)
{
	return ftl->oob.head->seq;
}

u64 ftl_seq_of(const struct ftl *ftl, lpn_t lpn)
{
	ppn_t ppn = ftl_l2p_get(&ftl->map, lpn);

	return ppn == PPN_NONE ? 0 : ftl_l2p_seq(&ftl->map, lpn);
}

/* A page that was shared has its data from the time on at which the defrag log is durable. */
static bool is_committed(const struct ftl *ftl, lpn_t lpn)
{
	const struct ftl_sharer *sharer = NULL;

	if (ftl_l2p_has_sharers(&ftl->map))
		sharer = ftl_share_find(&ftl->share, lpn);
	return !sharer || ftl_defrag_is_kept(&ftl->oob, sharer->log_page - 1);
}

/* Has a draft of the page in a slot been programmed? */
static bool is_drafted(const struct ftl *ftl, ppn_t slot)
{
	const struct ftl_oob *oob = &ftl->oob;
	u32 prev = oob->prev[ftl_oob_slot(oob, slot)];

	return prev && oob->seq[prev - 1] == oob->seq[from_ppn(slot)] &&
		oob->lpn[prev - 1] == oob->lpn[from_ppn(slot)];
}

bool ftl_is_durable(struct ftl *ftl, lpn_t lpn)
{
	ppn_t ppn = ftl_l2p_get(&ftl->map, lpn);

	if (ftl->params.plp || ppn == PPN_NONE)
		return true;
	if (!ftl_ppn_is_buffered(&ftl->geo, ppn))
		return ftl_oob_is_ended(&ftl->oob, ftl_flash_unit(&ftl->geo, ppn)) &&
			is_committed(ftl, lpn);
	if (ftl_oob_get_prev(&ftl->oob, ppn).seq != ftl_oob_seq(&ftl->oob, ppn))
		return false;
	ftl_oob_settle(&ftl->oob, ftl->now_ns);
	return is_drafted(ftl, ppn) && is_committed(ftl, lpn);
}

u64 ftl_flash_seq_of(const struct ftl *ftl, lpn_t lpn)
{
	ppn_t ppn = ftl_l2p_get(&ftl->map, lpn);

	if (ppn == PPN_NONE)
		return 0;
	/* What is shared was on NAND when that began. */
	if (ftl_l2p_is_shared(&ftl->map, ppn))
		return ftl_l2p_seq(&ftl->map, lpn);
	if (ftl_ppn_is_buffered(&ftl->geo, ppn))
		return ftl_oob_get_prev(&ftl->oob, ppn).seq;
	return ftl_oob_seq(&ftl->oob, ppn);
}

/* Does the data at @place count rather than that at @present, of the same page? */
static bool wins(const struct ftl *ftl, u32 place, u32 present)
{
	const struct ftl_oob *oob = &ftl->oob;

	if (oob->seq[place] != oob->seq[present])
		return oob->seq[place] > oob->seq[present];
	return ftl_oob_counts(oob, place, present);
}

static void adopt_place(struct ftl *ftl, u32 place)
{
	struct ftl_l2p *map = &ftl->map;
	u32 owner = ftl->oob.lpn[place];
	u32 *entry;

	/* Numbers that are given from now on have to be higher. */
	ftl->oob.head->seq = max(ftl->oob.head->seq, ftl->oob.seq[place]);
	if (!owner || owner > map->nr_lpns) {
		ftl->oob.lpn[place] = 0;
		return;
	}
	entry = &map->place_of[owner - 1];
	if (*entry && !wins(ftl, place, *entry - 1))
		return;
	if (*entry)
		map->owner_of[*entry - 1] = 0;
	else
		ftl_l2p_count_up(map, owner - 1);
	*entry = place + 1;
	map->owner_of[place] = owner;
}

/* Blocks of the SLC region have units that are never programmed. */
static bool is_programmed(const struct ftl_oob *oob, u32 flash_unit)
{
	u32 eblk = ftl_flash_unit_eblk(oob->geo, flash_unit);

	return oob->stamp[flash_unit] && oob->stamp[flash_unit] != FTL_OOB_TORN &&
		flash_unit - ftl_eblk_first_unit(oob->geo, eblk) <
		ftl_eblk_nr_units(oob->geo, eblk);
}

static void adopt_places(struct ftl *ftl)
{
	u32 nr = ftl->geo.unit_pages;

	for (u32 unit = 0; unit < ftl->geo.nr_units; unit++) {
		if (is_programmed(&ftl->oob, unit))
			ftl->oob.head->stamp = max(ftl->oob.head->stamp,
						   ftl->oob.stamp[unit] & ~FTL_OOB_DRAFT);
		else
			memset(&ftl->oob.lpn[unit * nr], 0, nr * sizeof(u32));
		for (u32 i = 0; i < nr; i++)
			adopt_place(ftl, unit * nr + i);
	}
	for (u32 place = ftl->geo.nr_pages; place < ftl->geo.nr_places; place++)
		adopt_place(ftl, place);
}

/* Slots of open units that nobody has. */
static void empty_slots(struct ftl *ftl)
{
	for (u32 place = ftl->geo.nr_pages; place < ftl->geo.nr_places; place++) {
		if (!ftl->map.owner_of[place])
			ftl->oob.lpn[place] = 0;
	}
}

static void unmap_older(struct ftl *ftl, u64 lpn, u64 seq)
{
	ppn_t ppn = ftl_l2p_get(&ftl->map, to_lpn(lpn));

	if (ppn == PPN_NONE || ftl_l2p_seq(&ftl->map, to_lpn(lpn)) > seq)
		return;
	ftl_l2p_clear(&ftl->map, to_lpn(lpn), ppn);
}

/* The newest trim of a page, or 0; @end gets where that may become another one. */
static u64 newest_trim(const struct ftl_oob_head *head, u64 lpn, u64 *end)
{
	u64 seq = 0;

	for (u32 i = 0; i < head->nr_trims; i++) {
		const struct ftl_oob_trim *trim = &head->trim[i];

		if (lpn < trim->first) {
			*end = min(*end, trim->first);
		} else if (lpn < trim->first + trim->nr) {
			*end = min(*end, trim->first + trim->nr);
			seq = max(seq, trim->seq);
		}
	}
	return seq;
}

/* Each page is looked at once, however many records there are of it. */
static void apply_trims(struct ftl *ftl)
{
	const struct ftl_oob *oob = &ftl->oob;
	const struct ftl_oob_head *head = oob->head;

	for (u64 lpn = 0; head->table_seq && lpn < oob->nr_lpns; lpn++) {
		if (!(oob->is_mapped[lpn / 64] & BIT_ULL(lpn % 64)))
			unmap_older(ftl, lpn, head->table_seq);
	}
	for (u64 lpn = 0; lpn < oob->nr_lpns;) {
		u64 end = oob->nr_lpns;
		u64 seq = newest_trim(head, lpn, &end);

		if (!seq)
			lpn = end;
		for (; lpn < end; lpn++)
			unmap_older(ftl, lpn, seq);
	}
	/* What the trims since have changed the table does not have. */
	memset(ftl->map.region_state, FTL_REGION_CHANGED,
	       ftl_nr_regions(ftl->map.nr_lpns));
}

static const char *check_head(const struct ftl_oob *oob)
{
	const struct ftl_oob_head *head = oob->head;

	if (head->nr_trims > FTL_OOB_TRIMS)
		return "There are more records of trims than fit.";
	for (u32 i = 0; i < head->nr_trims; i++) {
		if (head->trim[i].first > oob->nr_lpns ||
		    head->trim[i].nr > oob->nr_lpns - head->trim[i].first)
			return "A record of a trim has pages that do not exist.";
	}
	return NULL;
}

/* Units of a block that were used since its erase: up to the last one that is not erased. */
static u32 count_used(const struct ftl_oob *oob, u32 eblk)
{
	u32 first = ftl_eblk_first_unit(oob->geo, eblk);
	u32 nr = ftl_eblk_nr_units(oob->geo, eblk);

	while (nr && !oob->stamp[first + nr - 1])
		nr--;
	return nr;
}

static u32 count_valid(const struct ftl *ftl, u32 eblk)
{
	const u32 *owner = &ftl->map.owner_of[eblk * ftl->geo.eblk_pages];
	u32 nr_valid = 0;

	for (u32 i = 0; i < ftl->geo.eblk_pages; i++)
		nr_valid += owner[i] != 0;
	return nr_valid;
}

static void erase_now(struct ftl *ftl, u32 eblk)
{
	ftl_oob_clear_eblk(&ftl->oob, eblk);
	ftl->blocks.eblk[eblk].nr_erases++;
	ftl_nand_erase(&ftl->nand, ftl_eblk_die(&ftl->geo, eblk), ftl->now_ns);
}

static void restore_eblk(struct ftl *ftl, u32 eblk)
{
	struct ftl_unit_die *die = &ftl->units.die[from_die(ftl_eblk_die(&ftl->geo, eblk))];
	u32 nr_used = count_used(&ftl->oob, eblk);
	u32 nr_valid = count_valid(ftl, eblk);

	if (nr_used && !nr_valid && !ftl->params.in_place) {
		erase_now(ftl, eblk);
		nr_used = 0;
	}
	ftl_eblks_restore(&ftl->blocks, eblk, nr_used, nr_valid,
			  ftl->oob.erases[eblk] & FTL_OOB_BAD);
	die->nr_valid += nr_valid;
	die->nr_claimed += nr_valid;
	ftl->units.nr_mapped += nr_valid;
}

static bool holds_pages(const struct ftl *ftl, const struct ftl_unit *unit)
{
	u32 first = from_ppn(ftl_unit_ppn(&ftl->units, unit, 0));

	for (u32 i = 0; i < ftl->geo.unit_pages; i++) {
		if (ftl->map.owner_of[first + i])
			return true;
	}
	return false;
}

static const char *restore_units(struct ftl *ftl)
{
	for (u32 i = 0; i < ftl->geo.nr_open; i++) {
		struct ftl_unit *unit = &ftl->units.unit[i];
		const struct ftl_oob_open *open = &ftl->oob.open[i];

		if (holds_pages(ftl, unit) &&
		    !ftl_units_restore(&ftl->units, unit, to_die(open->die), open->kind,
				       open->handle))
			return "There are pages in an open unit that cannot be.";
	}
	return NULL;
}

/*
 * Does the die have the free block that collection needs, or was it in the middle of a victim,
 * with room for the rest? Only with protection: a collection that is undone gives it back.
 */
static bool can_collect(const struct ftl *ftl, die_t die)
{
	const struct ftl_eblk_stream *open = &ftl->blocks.die[from_die(die)].stream[FTL_STREAM_GC];
	u32 nr_pages;

	if (ftl_eblks_nr_free(&ftl->blocks, die))
		return true;
	if (ftl->oob.is_volatile || !open->eblk || !ftl_eblks_nr_full(&ftl->blocks, die))
		return false;
	nr_pages = ftl_eblks_least_valid(&ftl->blocks, die) +
		ftl->geo.unit_pages - ftl_gc_space(ftl, die);
	return nr_pages / ftl->geo.unit_pages <= ftl->geo.eblk_units - open->next_unit;
}

static const char *check_dies(const struct ftl *ftl)
{
	if (ftl->params.in_place)
		return ftl_in_place_check(ftl);
	for (u32 i = 0; i < ftl->geo.nr_dies; i++) {
		if (!can_collect(ftl, to_die(i)))
			return "A die has no free erase block, which a power failure does not do.";
		if (ftl->units.die[i].nr_claimed > ftl->geo.die_most_pages)
			return "A die has more pages than it takes.";
	}
	return NULL;
}

static const char *restore(struct ftl *ftl)
{
	const char *reason = check_head(&ftl->oob);

	if (reason)
		return reason;
	restore_counters(ftl);
	adopt_places(ftl);
	if (ftl->oob.max_defrag)
		reason = ftl_defrag_replay(&ftl->map);
	if (reason)
		return reason;
	empty_slots(ftl);
	apply_trims(ftl);
	for (u32 eblk = 0; eblk < ftl->geo.nr_eblks; eblk++)
		restore_eblk(ftl, eblk);
	ftl->units.nr_mapped += ftl->share.nr_extra;
	ftl_eblks_restored(&ftl->blocks);
	reason = restore_units(ftl);
	if (!reason)
		reason = check_dies(ftl);
	if (!reason && ftl->oob.max_defrag)
		ftl_defrag_compact(&ftl->map);
	if (!reason)
		ftl_map_lose(ftl);
	for (u32 die = 0; !reason && !ftl->params.in_place && die < ftl->geo.nr_dies; die++)
		ftl_gc_go_on(ftl, to_die(die), ftl->now_ns);
	return reason;
}

const char *ftl_rebuild(struct ftl *ftl, u64 now_ns)
{
	struct ftl_params params = ftl->params;

	if (!params.oob)
		return NULL;
	now_ns = max(now_ns, ftl->now_ns);
	/* The area is the last part of the drive's memory. */
	memset(ftl, 0, (u8 *)ftl->oob.area - (u8 *)ftl);
	ftl_init(&params, ftl, now_ns);
	return restore(ftl);
}
