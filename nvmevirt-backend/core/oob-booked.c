// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is booked on the dies and does not show in the out-of-band area yet.
 *
 * What is booked is kept in a fixed number of entries, since the FTL allocates nothing. When all
 * are taken, those that have ended show in the area; if none has, the one booked first counts as
 * ended. That is safe, for it needs nothing that was booked after it, and a power failure that
 * comes sooner than its end takes a little less than it could.
 */
#include "defrag.h"
#include "oob-booked.h"
#include "oob-slots.h"

static struct ftl_op_list *list_of(const struct ftl_oob *oob, const struct ftl_op *op)
{
	u32 eblk = op->is_erase ? op->target : ftl_flash_unit_eblk(oob->geo, op->target);

	return &oob->ops[from_die(ftl_eblk_die(oob->geo, eblk))];
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
	ftl_oob_stamp(oob, op->target, 1, op->stamp | (op->is_draft ? FTL_OOB_DRAFT : 0));
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

void ftl_oob_write(struct ftl_oob *oob, u32 flash_unit, u64 end_ns)
{
	ftl_oob_stamp(oob, flash_unit, 1, ++oob->head->stamp);
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

	ftl_oob_forget(oob, first, nr);
	ftl_oob_stamp(oob, first, nr, FTL_OOB_TORN);
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
