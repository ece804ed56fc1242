// SPDX-License-Identifier: GPL-2.0-only
#include "model.h"
#include "util.h"

void model_init(struct model *model, const struct events *events, u64 nr_lpns)
{
	memset(model, 0, sizeof(*model));
	model->events = events;
	model->nr_lpns = nr_lpns;
	model->past = must(calloc(nr_lpns + 1, sizeof(*model->past)));
	model->done = must(calloc(events->nr_ops + 1, sizeof(*model->done)));
	model->nr_done_at = must(calloc(events->nr_ops + 1, sizeof(*model->nr_done_at)));
}

static void submit(struct model *model, u64 index)
{
	const struct op *op = &model->events->op[index];

	if (op->lpn + op->nr_pages > model->nr_lpns)
		give_up("An operation goes behind the end of the device");
	for (u64 lpn = op->lpn; lpn < op->lpn + op->nr_pages; lpn++) {
		struct past *past = &model->past[lpn];

		past->op = grow(past->op, past->nr, sizeof(*past->op));
		past->op[past->nr++] = index;
	}
}

/* Nothing older than this operation may be there from now on. */
static void promise(struct model *model, u64 index)
{
	const struct op *op = &model->events->op[index];

	for (u64 lpn = op->lpn; lpn < op->lpn + op->nr_pages; lpn++) {
		struct past *past = &model->past[lpn];

		for (u64 i = past->from; i < past->nr; i++) {
			if (past->op[i] == index)
				past->from = i + 1;
		}
	}
}

void model_happen(struct model *model, const struct event *event)
{
	switch (event->kind) {
	case EVENT_OP:
		submit(model, event->index);
		break;
	case EVENT_OP_DONE:
		model->done[model->nr_done++] = event->index;
		if (model->events->op[event->index].is_fua)
			promise(model, event->index);
		break;
	case EVENT_FLUSH:
		model->nr_done_at[event->index] = model->nr_done;
		break;
	case EVENT_FLUSH_DONE:
		while (model->nr_promised < model->nr_done_at[event->index])
			promise(model, model->done[model->nr_promised++]);
		break;
	default:
		break;
	}
}

static bool is_of(const struct model *model, u64 index, u64 lpn, const struct stamp *stamp)
{
	if (model->events->op[index].kind == OP_ZERO)
		return stamp->kind == STAMP_ZERO;
	return stamp->kind == STAMP_WHOLE && stamp->lpn == lpn &&
		stamp->version == index + model->events->first_id;
}

static bool same_stamp(const struct stamp *one, const struct stamp *other)
{
	return one->kind == other->kind &&
		(one->kind != STAMP_WHOLE ||
		 (one->lpn == other->lpn && one->version == other->version));
}

static void say_stamp(const struct stamp *stamp, char text[64])
{
	switch (stamp->kind) {
	case STAMP_ZERO:
		snprintf(text, 64, "zeroes");
		break;
	case STAMP_WHOLE:
		snprintf(text, 64, "version %llu of page %llu",
			 (unsigned long long)stamp->version, (unsigned long long)stamp->lpn);
		break;
	default:
		snprintf(text, 64, "a torn page, or what nobody wrote");
	}
}

bool model_allows(const struct model *model, u64 lpn, const struct stamp *stamp, char why[160])
{
	const struct past *past = &model->past[lpn];
	u64 from = past->from ? past->from - 1 : 0;
	char text[64];

	for (u64 i = past->nr; i-- > from;) {
		if (is_of(model, past->op[i], lpn, stamp))
			return true;
	}
	if (!past->from && same_stamp(stamp, &past->base))
		return true;
	say_stamp(stamp, text);
	snprintf(why, 160, "page %llu holds %s; promised is %llu, submitted up to %llu",
		 (unsigned long long)lpn, text,
		 past->from ? (unsigned long long)(past->op[from] + model->events->first_id) : 0ULL,
		 past->nr ? (unsigned long long)(past->op[past->nr - 1] + model->events->first_id) :
		 0ULL);
	return false;
}
