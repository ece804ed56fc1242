// SPDX-License-Identifier: GPL-2.0-only
/*
 * The out-of-band area, and what is booked on the dies and does not show in it yet.
 *
 * The area is one piece of memory, as it outlives the maps at a power failure and is kept in a
 * file. What lies where in it, and its size, come from the same function, so that they cannot
 * differ.
 *
 * What is booked is kept in a fixed number of entries, since the FTL allocates nothing. When all
 * are taken, those that have ended show in the area; if none has, the one booked first counts as
 * ended. That is safe, for it needs nothing that was booked after it, and a power failure that
 * comes sooner than its end takes a little less than it could.
 */
#include "defrag.h"
#include "table.h"

static size_t aligned(size_t bytes)
{
	return size_add(bytes, sizeof(u64) - 1) & ~(sizeof(u64) - 1);
}

/* Takes the next piece of memory, if there is any, and counts it. */
static void *take(void *memory, size_t *at, size_t nr, size_t bytes)
{
	void *part = memory ? (u8 *)memory + *at : NULL;

	*at = size_add(*at, aligned(array_size(nr, bytes)));
	return part;
}

/* What lies where in the area; without memory: its size. */
static size_t lay_out_area(struct ftl_oob *oob, const struct ftl_geometry *geo,
			   const struct ftl_params *params, void *area)
{
	size_t bytes = 0;

	oob->head = take(area, &bytes, 1, sizeof(*oob->head));
	oob->die = take(area, &bytes, geo->nr_dies, sizeof(*oob->die));
	oob->open = take(area, &bytes, geo->nr_open, sizeof(*oob->open));
	oob->stamp = take(area, &bytes, geo->nr_units, sizeof(*oob->stamp));
	oob->seq = take(area, &bytes, geo->nr_places, sizeof(*oob->seq));
	oob->erases = take(area, &bytes, geo->nr_eblks, sizeof(*oob->erases));
	oob->lpn = take(area, &bytes, geo->nr_places, sizeof(*oob->lpn));
	oob->is_mapped = take(area, &bytes, ftl_table_words(params->nr_lpns), sizeof(u64));
	oob->max_defrag = ftl_defrag_max(params);
	oob->max_defrag_pages = ftl_defrag_max_pages(params);
	if (!oob->max_defrag)
		return bytes;
	oob->defrag = take(area, &bytes, 1, sizeof(*oob->defrag));
	oob->defrag_entry = take(area, &bytes, oob->max_defrag, sizeof(*oob->defrag_entry));
	return bytes;
}

/* Programs that can wait in the buffer, and a block's copies on every die. */
static u32 count_ops(const struct ftl_params *params, const struct ftl_geometry *geo)
{
	return params->wbuf_pages / params->unit_pages + geo->nr_open +
		geo->nr_dies * (geo->eblk_units + 2);
}

static size_t nr_chunks(size_t area_bytes)
{
	return DIV_ROUND_UP(area_bytes, FTL_OOB_CHUNK_BYTES);
}

static size_t lay_out_rest(struct ftl_oob *oob, const struct ftl_geometry *geo, void *memory)
{
	size_t slots = geo->unit_pages;
	size_t bytes = 0;

	oob->op = take(memory, &bytes, oob->nr_ops, sizeof(*oob->op));
	oob->ops = take(memory, &bytes, geo->nr_dies, sizeof(*oob->ops));
	oob->op_seq = take(memory, &bytes, array_size(oob->nr_ops, slots), sizeof(u64));
	oob->op_lpn = take(memory, &bytes, array_size(oob->nr_ops, slots), sizeof(u32));
	oob->booked = take(memory, &bytes, geo->nr_units, sizeof(u32));
	oob->prev = take(memory, &bytes, array_size(geo->nr_open, slots), sizeof(u32));
	oob->prev_seq = take(memory, &bytes, array_size(geo->nr_open, slots), sizeof(u64));
	oob->safe_ns = take(memory, &bytes, geo->nr_eblks, sizeof(u64));
	oob->defrag_page = take(memory, &bytes, oob->max_defrag_pages,
				sizeof(*oob->defrag_page));
	oob->dirty = take(memory, &bytes, nr_chunks(oob->area_bytes), sizeof(u8));
	return bytes;
}

size_t ftl_oob_area_bytes(const struct ftl_params *params)
{
	struct ftl_geometry geo;
	struct ftl_oob oob;

	if (!params->oob)
		return 0;
	ftl_geometry_init(&geo, params);
	return lay_out_area(&oob, &geo, params, NULL);
}

size_t ftl_oob_bytes(const struct ftl_params *params)
{
	struct ftl_geometry geo;
	struct ftl_oob oob;

	if (!params->oob)
		return 0;
	ftl_geometry_init(&geo, params);
	oob.nr_ops = count_ops(params, &geo);
	oob.area_bytes = ftl_oob_area_bytes(params);
	oob.max_defrag_pages = ftl_defrag_max_pages(params);
	return lay_out_rest(&oob, &geo, NULL);
}

void ftl_oob_init(struct ftl_oob *oob, const struct ftl_params *params, void *zeroed, void *area)
{
	oob->nr_lpns = params->nr_lpns;
	oob->is_volatile = !params->plp;
	oob->program_ns = (u64)params->program_ns * params->time_scale;
	oob->slc_program_ns = (u64)params->slc_program_ns * params->time_scale;
	oob->erase_ns = (u64)params->erase_ns * params->time_scale;
	oob->cut_op_ns = U64_MAX;
	oob->cut_ns = U64_MAX;
	oob->area = area;
	oob->area_bytes = lay_out_area(oob, oob->geo, params, area);
	oob->nr_ops = count_ops(params, oob->geo);
	lay_out_rest(oob, oob->geo, zeroed);
	for (u32 i = 0; i < oob->nr_ops; i++)
		oob->op[i].next = i + 1 < oob->nr_ops ? i + 2 : 0;
	oob->free_op = 1;
}

void ftl_oob_mark(struct ftl_oob *oob, const void *start, size_t bytes)
{
	size_t first = ((const u8 *)start - (const u8 *)oob->area) / FTL_OOB_CHUNK_BYTES;
	size_t last = ((const u8 *)start - (const u8 *)oob->area + bytes - 1) /
		FTL_OOB_CHUNK_BYTES;

	memset(oob->dirty + first, 1, last - first + 1);
}

static struct ftl_op_list *list_of(const struct ftl_oob *oob, const struct ftl_op *op)
{
	u32 eblk = op->is_erase ? op->target : ftl_flash_unit_eblk(oob->geo, op->target);

	return &oob->ops[from_die(ftl_eblk_die(oob->geo, eblk))];
}

static void set_stamps(struct ftl_oob *oob, u32 flash_unit, u32 nr, u64 stamp)
{
	for (u32 i = 0; i < nr; i++)
		oob->stamp[flash_unit + i] = stamp;
	ftl_oob_mark(oob, &oob->stamp[flash_unit], nr * sizeof(u64));
}

static void forget_pages(struct ftl_oob *oob, u32 flash_unit, u32 nr)
{
	u32 *lpn = &oob->lpn[flash_unit * oob->geo->unit_pages];
	size_t bytes = array_size(nr * oob->geo->unit_pages, sizeof(*lpn));

	memset(lpn, 0, bytes);
	ftl_oob_mark(oob, lpn, bytes);
}

void ftl_oob_clear_eblk(struct ftl_oob *oob, u32 eblk)
{
	u32 first = ftl_eblk_first_unit(oob->geo, eblk);

	forget_pages(oob, first, oob->geo->eblk_units);
	set_stamps(oob, first, oob->geo->eblk_units, 0);
	oob->erases[eblk]++;
	ftl_oob_mark(oob, &oob->erases[eblk], sizeof(u32));
}

static void show_program(struct ftl_oob *oob, const struct ftl_op *op)
{
	u32 nr = oob->geo->unit_pages;
	size_t at = (size_t)(op - oob->op) * nr;
	u32 first = op->target * nr;

	memcpy(&oob->seq[first], &oob->op_seq[at], nr * sizeof(u64));
	memcpy(&oob->lpn[first], &oob->op_lpn[at], nr * sizeof(u32));
	ftl_oob_mark(oob, &oob->seq[first], nr * sizeof(u64));
	ftl_oob_mark(oob, &oob->lpn[first], nr * sizeof(u32));
	set_stamps(oob, op->target, 1, op->stamp | (op->is_draft ? FTL_OOB_DRAFT : 0));
}

/* The first op of a die's list is no longer booked. */
static void end_first(struct ftl_oob *oob, struct ftl_op_list *list)
{
	u32 nr = list->first;
	struct ftl_op *op = &oob->op[nr - 1];

	if (!op->is_erase && oob->booked[op->target] == nr)
		oob->booked[op->target] = 0;
	list->first = op->next;
	if (!list->first)
		list->last = 0;
	op->next = oob->free_op;
	oob->free_op = nr;
}

static void show_first(struct ftl_oob *oob, struct ftl_op_list *list)
{
	const struct ftl_op *op = &oob->op[list->first - 1];

	if (op->is_erase)
		ftl_oob_clear_eblk(oob, op->target);
	else
		show_program(oob, op);
	end_first(oob, list);
}

static void settle_die(struct ftl_oob *oob, u32 die, u64 now_ns)
{
	struct ftl_op_list *list = &oob->ops[die];

	while (list->first && oob->op[list->first - 1].end_ns <= now_ns)
		show_first(oob, list);
}

void ftl_oob_settle(struct ftl_oob *oob, u64 now_ns)
{
	for (u32 i = 0; i < oob->geo->nr_dies; i++)
		settle_die(oob, i, now_ns);
}

bool ftl_oob_is_ended(struct ftl_oob *oob, u32 flash_unit)
{
	u32 op = oob->booked[flash_unit];

	if (op && oob->op[op - 1].end_ns <= *oob->now_ns)
		settle_die(oob, from_die(ftl_flash_unit_die(oob->geo, flash_unit)), *oob->now_ns);
	return !oob->booked[flash_unit];
}

/*
 * What was booked first needs nothing that was booked later, but it may need what was shared before
 * (defrag.h): that counts as durable then, and so does its data.
 */
static void hurry_oldest(struct ftl_oob *oob)
{
	struct ftl_op_list *oldest = NULL;
	u64 stamp = U64_MAX, start_ns;

	for (u32 i = 0; i < oob->geo->nr_dies; i++) {
		u32 first = oob->ops[i].first;

		if (!first || oob->op[first - 1].stamp >= stamp)
			continue;
		oldest = &oob->ops[i];
		stamp = oob->op[first - 1].stamp;
	}
	oob->nr_hurried++;
	start_ns = oob->op[oldest->first - 1].start_ns;
	if (oob->max_defrag && ftl_defrag_hurry(oob, start_ns))
		ftl_oob_settle(oob, start_ns);
	if (oldest->first && oob->op[oldest->first - 1].stamp == stamp)
		show_first(oob, oldest);
}

void ftl_oob_count_down(struct ftl_oob *oob, die_t die, u64 end_ns)
{
	if (!oob->cut_countdown || --oob->cut_countdown)
		return;
	oob->cut_op_ns = end_ns;
	oob->cut_die = from_die(die);
}

static u64 duration_of(const struct ftl_oob *oob, u32 target, bool is_erase)
{
	if (is_erase)
		return oob->erase_ns;
	return ftl_flash_unit_is_slc(oob->geo, target) ? oob->slc_program_ns : oob->program_ns;
}

static struct ftl_op *book(struct ftl_oob *oob, u32 target, bool is_erase, u64 end_ns)
{
	struct ftl_op_list *list;
	struct ftl_op *op;
	u32 nr;

	if (!oob->free_op)
		ftl_oob_settle(oob, *oob->now_ns);
	if (!oob->free_op)
		hurry_oldest(oob);
	nr = oob->free_op;
	op = &oob->op[nr - 1];
	oob->free_op = op->next;
	op->next = 0;
	op->target = target;
	op->is_erase = is_erase;
	op->is_draft = false;
	op->stamp = ++oob->head->stamp;
	op->end_ns = end_ns;
	op->start_ns = end_ns - duration_of(oob, target, is_erase);
	list = list_of(oob, op);
	op->delay_ns = list->delay_ns;
	if (list->last)
		oob->op[list->last - 1].next = nr;
	else
		list->first = nr;
	list->last = nr;
	ftl_oob_count_down(oob, to_die(list - oob->ops), end_ns);
	return op;
}

void ftl_oob_program(struct ftl_oob *oob, u32 from, u32 flash_unit, u64 end_ns)
{
	struct ftl_op *op = book(oob, flash_unit, false, end_ns);
	u32 nr = oob->geo->unit_pages;
	size_t at = (size_t)(op - oob->op) * nr;
	u32 *prev = &oob->prev[from - oob->geo->nr_pages];

	memcpy(&oob->op_seq[at], &oob->seq[from], nr * sizeof(u64));
	memcpy(&oob->op_lpn[at], &oob->lpn[from], nr * sizeof(u32));
	for (u32 slot = 0; slot < nr; slot++) {
		if (prev[slot])
			ftl_oob_keep_prev(oob, prev[slot], end_ns);
		prev[slot] = 0;
		oob->lpn[from + slot] = 0;
	}
	oob->booked[flash_unit] = (u32)(op - oob->op) + 1;
}

void ftl_oob_put_home(struct ftl_oob *oob, lpn_t lpn, ppn_t ppn)
{
	u64 *seq = &oob->seq[from_ppn(ppn)];
	u32 *owner = &oob->lpn[from_ppn(ppn)];

	*seq = ++oob->head->seq;
	*owner = from_lpn(lpn) + 1;
	ftl_oob_mark(oob, seq, sizeof(*seq));
	ftl_oob_mark(oob, owner, sizeof(*owner));
}

void ftl_oob_write(struct ftl_oob *oob, u32 flash_unit, u64 end_ns)
{
	set_stamps(oob, flash_unit, 1, ++oob->head->stamp);
	ftl_oob_count_down(oob, ftl_flash_unit_die(oob->geo, flash_unit), end_ns);
}

void ftl_oob_draft(struct ftl_oob *oob, u32 flash_unit, u64 end_ns)
{
	struct ftl_op *op = book(oob, flash_unit, false, end_ns);
	u32 nr = oob->geo->unit_pages;

	op->is_draft = true;
	/* What the op was for before would show in the area, and differ from drive to drive. */
	memset(&oob->op_seq[(size_t)(op - oob->op) * nr], 0, nr * sizeof(u64));
	memset(&oob->op_lpn[(size_t)(op - oob->op) * nr], 0, nr * sizeof(u32));
	oob->booked[flash_unit] = (u32)(op - oob->op) + 1;
}

void ftl_oob_draft_page(struct ftl_oob *oob, ppn_t from, ppn_t to)
{
	u32 nr = oob->geo->unit_pages;
	u32 op = oob->booked[ftl_flash_unit(oob->geo, to)] - 1;
	size_t at = (size_t)op * nr + (u32)from_ppn(to) % nr;
	u32 *prev = &oob->prev[ftl_oob_slot(oob, from)];

	oob->op_seq[at] = oob->seq[from_ppn(from)];
	oob->op_lpn[at] = oob->lpn[from_ppn(from)];
	if (*prev)
		ftl_oob_keep_prev(oob, *prev, oob->op[op].end_ns);
	*prev = from_ppn(to) + 1;
	oob->prev_seq[ftl_oob_slot(oob, from)] = oob->seq[from_ppn(from)];
}

void ftl_oob_erase(struct ftl_oob *oob, u32 eblk, u64 end_ns)
{
	book(oob, eblk, true, end_ns);
	oob->safe_ns[eblk] = 0;
}

u64 ftl_oob_delay(struct ftl_oob *oob, die_t die, u64 from_ns, u64 delay_ns)
{
	struct ftl_op_list *list = &oob->ops[from_die(die)];
	u64 last_ns = 0;

	for (u32 nr = list->first; nr; nr = oob->op[nr - 1].next) {
		struct ftl_op *op = &oob->op[nr - 1];

		if (op->end_ns <= from_ns)
			continue;
		if (op->start_ns >= from_ns)
			op->start_ns += delay_ns;
		op->end_ns += delay_ns;
		if (!op->is_erase)
			last_ns = op->end_ns;
	}
	list->delay_ns += delay_ns;
	if (oob->cut_op_ns != U64_MAX && oob->cut_die == from_die(die) && oob->cut_op_ns > from_ns)
		oob->cut_op_ns += delay_ns;
	return last_ns;
}

u64 ftl_oob_most_delay(struct ftl_oob *oob)
{
	u64 most_ns = 0;

	ftl_oob_settle(oob, *oob->now_ns);
	for (u32 i = 0; i < oob->geo->nr_dies; i++) {
		const struct ftl_op_list *list = &oob->ops[i];

		if (list->first)
			most_ns = max(most_ns, list->delay_ns - oob->op[list->first - 1].delay_ns);
	}
	return most_ns;
}

static void tear(struct ftl_oob *oob, const struct ftl_op *op)
{
	u32 first = op->is_erase ? ftl_eblk_first_unit(oob->geo, op->target) : op->target;
	u32 nr = op->is_erase ? oob->geo->eblk_units : 1;

	forget_pages(oob, first, nr);
	set_stamps(oob, first, nr, FTL_OOB_TORN);
}

void ftl_oob_tear(struct ftl_oob *oob, u64 now_ns)
{
	for (u32 i = 0; i < oob->geo->nr_dies; i++) {
		struct ftl_op_list *list = &oob->ops[i];

		if (list->first && oob->op[list->first - 1].start_ns < now_ns)
			tear(oob, &oob->op[list->first - 1]);
		while (list->first)
			end_first(oob, list);
	}
}

u64 ftl_oob_seq(const struct ftl_oob *oob, ppn_t ppn)
{
	size_t nr = oob->geo->unit_pages;
	u32 op;

	if (ftl_ppn_is_buffered(oob->geo, ppn))
		return oob->seq[from_ppn(ppn)];
	op = oob->booked[ftl_flash_unit(oob->geo, ppn)];
	return op ? oob->op_seq[(op - 1) * nr + (u32)from_ppn(ppn) % nr] :
		oob->seq[from_ppn(ppn)];
}

lpn_t ftl_oob_owner(const struct ftl_oob *oob, ppn_t ppn)
{
	size_t nr = oob->geo->unit_pages;
	u32 owner = oob->lpn[from_ppn(ppn)];
	u32 op = 0;

	if (!ftl_ppn_is_buffered(oob->geo, ppn))
		op = oob->booked[ftl_flash_unit(oob->geo, ppn)];
	if (op)
		owner = oob->op_lpn[(op - 1) * nr + (u32)from_ppn(ppn) % nr];
	return owner ? to_lpn(owner - 1) : LPN_NONE;
}

bool ftl_oob_counts(const struct ftl_oob *oob, u32 place, u32 than)
{
	const u32 nr_pages = oob->geo->nr_pages;
	u64 stamp, other;

	if (place >= nr_pages || than >= nr_pages)
		return (place < nr_pages) != (than < nr_pages) &&
			(place < nr_pages) == oob->is_volatile;
	stamp = oob->stamp[place / oob->geo->unit_pages];
	other = oob->stamp[than / oob->geo->unit_pages];
	return oob->is_volatile ? stamp < other : stamp > other;
}

struct ftl_oob_prev ftl_oob_prev_of(const struct ftl_oob *oob, ppn_t from)
{
	if (ftl_ppn_is_buffered(oob->geo, from))
		return ftl_oob_get_prev(oob, from);
	return (struct ftl_oob_prev){
		.seq = ftl_oob_seq(oob, from),
		.place = from_ppn(from) + 1,
	};
}

void ftl_oob_put(struct ftl_oob *oob, lpn_t lpn, ppn_t to, struct ftl_oob_prev prev)
{
	oob->seq[from_ppn(to)] = ++oob->head->seq;
	oob->lpn[from_ppn(to)] = from_lpn(lpn) + 1;
	ftl_oob_set_prev(oob, to, prev);
}

void ftl_oob_move(struct ftl_oob *oob, u32 owner, ppn_t from, ppn_t to)
{
	oob->seq[from_ppn(to)] = ftl_oob_seq(oob, from);
	oob->lpn[from_ppn(to)] = owner;
	ftl_oob_set_prev(oob, to, ftl_oob_prev_of(oob, from));
	ftl_oob_drop(oob, from);
}

void ftl_oob_drop(struct ftl_oob *oob, ppn_t ppn)
{
	if (!ftl_ppn_is_buffered(oob->geo, ppn))
		return;
	oob->lpn[from_ppn(ppn)] = 0;
	ftl_oob_set_prev(oob, ppn, (struct ftl_oob_prev){});
}
