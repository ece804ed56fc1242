// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starting a device: which superblock and which root count. Both are there twice. And where the
 * superblock is one of before the device grew, whether the layout that it had then is in use.
 */
#include "start-parts.h"

/*
 * By so much the epoch of a root that nobody can read is larger, at most, than that of the other
 * one. It is one; and each start that is cut off where it writes its root adds two.
 */
#define LOST_EPOCHS	1024U

/*
 * Behind so many pages that cannot be read, where the roots of a larger device would lie, nobody
 * looks further: each takes half a minute, and so does what was read together with the first.
 */
#define MOST_UNREAD	4U

bool dmda_start_ask_super(struct dmda_start *start)
{
	static const u64 places[] = { DMDA_SUPER_DPN_A, DMDA_SUPER_DPN_B };

	return start->index < ARRAY_SIZE(places) &&
		ask_read(start, to_dpn(places[start->index]), start->pages, 1);
}

/* All but their epochs */
static bool says_the_same(const struct dmda_super *a, const struct dmda_super *b)
{
	return dmda_super_is_same_layout(a, b) && a->flags == b->flags &&
		!memcmp(a->label, b->label, sizeof(a->label));
}

const char *dmda_start_did_super(struct dmda_start *start, int error)
{
	const char *why = error ? "it cannot be read" :
		dmda_super_decode((void *)start->pages, start->dpn, &start->found);

	start->index++;
	start->whys[0] = why;
	start->is_single = why || !start->has_super ||
		!says_the_same(&start->found, start->super);
	if (why || (start->has_super && start->found.epoch <= start->super->epoch))
		return NULL;
	*start->super = start->found;
	start->has_super = true;
	return NULL;
}

const char *dmda_start_leave_super(struct dmda_start *start)
{
	return start->has_super ? NULL : start->whys[0];
}

/*
 * One that says less than the other is left where the power failed between the two of a device that
 * grew. If the other one were lost later, the device would be as it was before that.
 */
bool dmda_start_ask_supers(struct dmda_start *start)
{
	return start->is_single && ask_once(start, DMDA_START_SUPERS);
}

/* What cannot be written there was not needed so far. */
const char *dmda_start_did_supers(struct dmda_start *start, int error)
{
	start->index++;
	start->is_single = error;
	return NULL;
}

static bool ask_root(struct dmda_start *start, u32 which)
{
	return ask_read(start, to_dpn(start->super->root_dpn[which]), start->pages,
			dmda_root_nr_pages(start->super));
}

static const char *decode_root(struct dmda_start *start, u32 which, int error,
			       struct dmda_root *root)
{
	const char *why;

	if (error)
		return "a root cannot be read";
	why = dmda_root_decode(root, start->super, (void *)start->pages, which);
	for (u32 i = 1; !why && i < start->nr_pages; i++) {
		const void *page = start->pages + i * DMDA_BLOCK_BYTES;

		why = dmda_root_decode_entries(root, start->super, i, page, start->slots);
	}
	return why;
}

/*
 * A root that was being written when the power failed may have left pages of an epoch that never
 * was. If the next root had that epoch, too, and the power failed once more, pages of both might be
 * taken for one. Where there never was a root before, a page that was not written yet is all zero.
 */
static void note_epochs(struct dmda_start *start, u32 which)
{
	const struct dmda_block_header *header;
	u64 oldest = U64_MAX, newest = 0;

	for (u32 i = 0; i < start->nr_pages; i++) {
		const struct dmda_block_id id = {
			.magic = DMDA_MAGIC_ROOT,
			.nr_entries = U16_MAX,
			.dpn = to_dpn(start->super->root_dpn[which] + i),
			.index = i,
			.uuid = start->super->uuid,
		};

		header = (const void *)(start->pages + i * DMDA_BLOCK_BYTES);
		if (!memchr_inv(header, 0, DMDA_BLOCK_BYTES))
			oldest = 0;
		if (dmda_block_check(header, &id))
			continue;
		oldest = min(oldest, le64_to_cpu(header->epoch));
		newest = max(newest, le64_to_cpu(header->epoch));
	}
	start->newest_epoch = max(start->newest_epoch, newest);
	start->is_torn[which] = oldest < newest;
}

/* Does it look as if a root of this device was written there, once? */
static bool is_of_device(const struct dmda_super *super, const void *page)
{
	const struct dmda_block_header *header = page;

	return le32_to_cpu(header->magic) == DMDA_MAGIC_ROOT &&
		!memcmp(header->uuid, super->uuid, DMDA_UUID_BYTES);
}

bool dmda_start_ask_roots(struct dmda_start *start)
{
	return start->index < ARRAY_SIZE(start->roots) && ask_root(start, start->index);
}

const char *dmda_start_did_roots(struct dmda_start *start, int error)
{
	u32 which = start->index++;

	if (!which) {
		start->newest_epoch = 0;
		start->is_epoch_lost = false;
	}
	start->is_torn[which] = false;
	if (error)
		start->is_epoch_lost = true;
	else
		note_epochs(start, which);
	start->whys[which] = decode_root(start, which, error, &start->roots[which]);
	start->is_blank[which] = !error && !is_of_device(start->super, start->pages);
	return NULL;
}

const char *dmda_start_leave_roots(struct dmda_start *start)
{
	return start->whys[1] ? start->whys[0] : NULL;
}

/* One that was never there led nowhere, nor did one that the power has cut off. */
static bool may_be_missing(const struct dmda_start *start, u32 which)
{
	return start->whys[which] && !start->is_blank[which] && !start->is_torn[which];
}

bool dmda_start_may_miss_root(const struct dmda_start *start)
{
	return may_be_missing(start, 0) || may_be_missing(start, 1);
}

/* Its entries may be mixed with the other one's by now. */
bool dmda_start_ask_chosen(struct dmda_start *start)
{
	return !start->index && ask_root(start, dmda_root_newest(start->roots, start->whys));
}

/* The epoch says in which place it is, and the one after it in which the next one will be. */
static void leave_epochs_behind(const struct dmda_start *start)
{
	u64 *epoch = &start->root->epoch;
	u64 newest = max(start->newest_epoch, *epoch);

	if (start->is_epoch_lost)
		newest += LOST_EPOCHS;
	*epoch = newest + ((newest ^ *epoch) & 1);
}

const char *dmda_start_did_chosen(struct dmda_start *start, int error)
{
	u32 which = dmda_root_newest(start->roots, start->whys);
	const char *why = decode_root(start, which, error, start->root);

	start->index++;
	if (!why)
		leave_epochs_behind(start);
	return why;
}

/*
 * If the superblock that it grew by is lost, there are roots, and tables with more in them than the
 * device has now, which must not be written over: neither by growing nor by a start.
 */
bool dmda_start_ask_grown(struct dmda_start *start)
{
	const struct dmda_super *grown = start->grown;
	u32 nr_pages;

	if (!grown || start->goal == DMDA_START_READ_ONLY || start->nr_unread >= MOST_UNREAD ||
	    start->index >= 2 * grown->root_pages)
		return false;
	nr_pages = min_t(u64, dmda_start_at_once(start) / DMDA_PAGE_SECTORS,
			 2 * grown->root_pages - start->index);
	return ask_read(start, to_dpn(grown->root_dpn[0] + start->index), start->sectors, nr_pages);
}

static void note_roots(struct dmda_start *start)
{
	const u8 *pages = (const u8 *)start->sectors;

	for (u32 i = 0; i < start->nr_pages; i++)
		dmda_root_note(&start->traces, start->grown, to_dpn(from_dpn(start->dpn) + i),
			       (const void *)(pages + i * DMDA_BLOCK_BYTES));
}

/* What cannot be read tells nothing; if it was not alone, the others are read without it. */
const char *dmda_start_did_grown(struct dmda_start *start, int error)
{
	if (!error)
		note_roots(start);
	else if (start->nr_pages == 1)
		start->nr_unread++;
	if (!error || start->nr_pages == 1)
		start->index += start->nr_pages;
	dmda_start_did_ring(start, error);
	return NULL;
}

/* An older root leads to the journal's end as well, but would not tell which operation was next. */
static bool has_grown(const struct dmda_start *start)
{
	return dmda_root_has_grown(&start->traces, start->end.seq);
}

/*
 * Was nothing seen because nobody could look? To grow would write over it then. To start as before
 * would, too, if it has grown; but not where both superblocks say that it has not: a device that
 * was well stays in use, whatever somebody has put behind it.
 */
static bool may_be_unseen(const struct dmda_start *start)
{
	return start->nr_unread >= MOST_UNREAD &&
		(start->goal == DMDA_START_GROW || start->is_single);
}

/*
 * Unless a root of its own is missing. Then its journal may end later than what the other one leads
 * to; and what is there may be left of growing by that one. The ring may tell.
 */
const char *dmda_start_leave_grown(struct dmda_start *start)
{
	if (has_grown(start) && (start->traces.is_pair || !dmda_start_may_miss_root(start)))
		return "it has grown before, by a superblock that is lost";
	return may_be_unseen(start) ?
		"where roots of a larger one would lie, too many pages cannot be read" : NULL;
}

const char *dmda_start_leave_doubt(struct dmda_start *start)
{
	return has_grown(start) ?
		"it has grown before, by a superblock that is lost, or its newest root is damaged" :
		NULL;
}
