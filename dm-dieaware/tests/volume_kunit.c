// SPDX-License-Identifier: GPL-2.0-only
/*
 * Power failures in log mode. A workload (writes, overwrites, trims, flushes, moves of
 * cleaning; checkpoints and evicted pages of the map while it goes on) runs on a small
 * device. At every write of it a power failure is played, several times: of what was not
 * flushed, any part may be on disk, down to single sectors. Each time the device is started
 * from what is left, and has to be exactly what it was after some operation, not before the
 * last durable one.
 */
#include <kunit/test.h>

#include "volume.h"

#define MAX_OPS		8192
#define MAX_LPNS	2048
#define VARIANTS	2

/**
 * struct past - what an operation did to the pages
 * @lpn: first page
 * @nr_pages: how many; 0: none
 * @tag: what they hold since, less their lpn; 0: nothing
 */
struct past {
	u64 lpn;
	u32 nr_pages;
	u64 tag;
};

/*
 * Overwriting in place makes no operation of it: a page's tag counts them in its highest bits. What
 * is found there has to be as new as what was flushed.
 */
#define TIMES_SHIFT	48

/* A page that cleaning has copied, and where from. */
struct move {
	u64 lpn;
	dpn_t from;
	dpn_t to;
};

/**
 * struct history - what the device was
 * @random: state
 * @past: by seq, modulo MAX_OPS
 * @draft: what the write would do of which the last draft was made
 * @draft_seq: operation that this would be, while another one may be that
 * @nr_drafts: drafts that were found after a failure, and counted
 * @base: by lpn: what the page held after operation @base_seq
 * @base_seq: a durable operation
 * @times: by dpn: times that the page there was overwritten in place
 * @flushed_times: by dpn: so many of these were flushed
 * @nr_in_place: pages that were overwritten in place
 * @nr_fua_below: those of them that were durable without a commit
 * @promised: by lpn: its tag when it was last overwritten in place with FUA
 * @promised_seq: operation that a start has to know since
 * @has_kinds: whether what users write is of several kinds, by its lpn
 * @is_cleaning: whether pages are being copied, which must stay as they are
 * @scratch: by lpn
 * @nr_cleanings: victims that were cleaned
 * @salt: times that it was started again
 * @highest_seq: that any page of a table had seen before the last of these
 * @nr_lost: times that it had not been durable
 * @after: volume that is started from what a failure leaves
 * @image: what it leaves
 * @op: for replay
 * @moves: what cleaning copies
 * @is_mapped: a bit for each place: the map has it
 */
struct history {
	u64 random;
	struct past past[MAX_OPS];
	struct past draft;
	u64 draft_seq;
	u32 nr_drafts;
	u64 base[MAX_LPNS];
	u64 base_seq;
	u64 times[DISK_PAGES];
	u64 flushed_times[DISK_PAGES];
	u32 nr_in_place;
	u32 nr_fua_below;
	u64 promised[MAX_LPNS];
	u64 promised_seq;
	bool has_kinds;
	bool is_cleaning;
	u64 scratch[MAX_LPNS];
	u32 nr_cleanings;
	u64 salt;
	u64 highest_seq;
	u32 nr_lost;
	struct volume *after;
	struct image *image;
	struct dmda_op op;
	struct move moves[2 * SEGMENT_PAGES];
	u64 is_mapped[DISK_PAGES / 64 + 1];
};

static u32 random_below(struct history *history, u32 limit)
{
	history->random = history->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (history->random >> 33) % limit;
}

static void play_past(u64 *pages, const struct past *past)
{
	for (u32 i = 0; i < past->nr_pages; i++)
		pages[past->lpn + i] = past->tag ? past->tag + past->lpn + i : 0;
}

/* What is durable will never be different again. */
static void advance_base(struct volume *volume)
{
	struct history *history = volume->data;

	while (history->base_seq < volume->durable_seq) {
		struct past *past = &history->past[++history->base_seq % MAX_OPS];

		play_past(history->base, past);
		past->nr_pages = 0;
	}
}

static void note(struct volume *volume, u64 seq, u64 lpn, u32 nr_pages, u64 tag)
{
	struct history *history = volume->data;

	KUNIT_ASSERT_LT(volume->test, seq - history->base_seq, (u64)MAX_OPS);
	history->past[seq % MAX_OPS] = (struct past){
		.lpn = lpn, .nr_pages = nr_pages, .tag = tag,
	};
}

/* What the failure leaves: all that was flushed, and any part of the rest. */
static void fail_power(struct volume *volume, u32 variant)
{
	struct history *history = volume->data;

	for (u32 i = 0; i < volume->nr_pending; i++) {
		u32 fate = random_below(history, 4);
		u32 sectors = fate < 2 ? ~0U : fate == 2 ? 0 : random_below(history, 256);

		/* The first variant loses only what was written last. */
		if (!variant)
			sectors = i + 1 < volume->nr_pending ? ~0U : random_below(history, 256);
		put_pending(&volume->super, history->image, &volume->pending[i], sectors);
	}
}

/* The image is what was flushed again. */
static void undo_failure(struct volume *volume)
{
	struct history *history = volume->data;

	for (u32 i = 0; i < volume->nr_pending; i++) {
		u64 dpn = volume->pending[i].dpn;
		int index = meta_index(&volume->super, dpn);

		if (index < 0)
			history->image->tag[dpn] = volume->stable->tag[dpn];
		else
			history->image->meta[index] = volume->stable->meta[index];
	}
}

/* How often a page was overwritten in place */
static u64 times_of(u64 tag)
{
	return tag >> TIMES_SHIFT;
}

/* Are both of one write, however often it was overwritten in place since? */
static bool same_write(u64 tag, u64 other)
{
	return tag << (64 - TIMES_SHIFT) == other << (64 - TIMES_SHIFT);
}

static void expect_tag(struct volume *volume, u64 lpn, u64 dpn, u64 tag)
{
	struct history *history = volume->data;
	u64 found = history->image->tag[dpn], promised = history->promised[lpn];

	/* It may have been copied since. */
	KUNIT_ASSERT_TRUE(volume->test, same_write(found, tag));
	if (same_write(found, promised))
		KUNIT_ASSERT_GE(volume->test, times_of(found), times_of(promised));
	KUNIT_ASSERT_GE(volume->test, times_of(found), history->flushed_times[dpn]);
	KUNIT_ASSERT_LE(volume->test, times_of(found), history->times[dpn]);
}

static void note_flushed(struct volume *volume)
{
	struct history *history = volume->data;

	memcpy(history->flushed_times, history->times, sizeof(history->times));
}

static void expect_pages(struct volume *volume, const u64 *pages)
{
	struct history *history = volume->data;
	struct volume *after = history->after;
	u64 nr_mapped = 0;

	memset(history->is_mapped, 0, sizeof(history->is_mapped));
	for (u64 lpn = 0; lpn < after->super.nr_lpns; lpn++) {
		dpn_t dpn = where_is(after, lpn);
		u64 at = from_dpn(dpn);

		if (dpn == DPN_NONE) {
			KUNIT_ASSERT_EQ(volume->test, pages[lpn], 0ULL);
			if (dmda_super_has_sums(&after->super))
				KUNIT_ASSERT_EQ(volume->test, sum_at(after, lpn), 0U);
			continue;
		}
		expect_tag(volume, lpn, at, pages[lpn]);
		if (dmda_super_has_sums(&after->super))
			KUNIT_ASSERT_EQ(volume->test, sum_at(after, lpn), sum_of_tag(pages[lpn]));
		KUNIT_ASSERT_FALSE(volume->test, history->is_mapped[at / 64] >> at % 64 & 1);
		history->is_mapped[at / 64] |= BIT_ULL(at % 64);
		nr_mapped++;
	}
	KUNIT_ASSERT_EQ(volume->test, nr_mapped, after->segments.nr_valid);
}

/* The counts of the segment table agree with the map, and open summaries know their pages. */
static void expect_segments(struct volume *volume)
{
	struct history *history = volume->data;
	struct volume *after = history->after;

	for (u32 i = 0; i < after->segments.nr_segments; i++) {
		const struct dmda_segment *segment = &after->segments.segment[i];
		u64 first = from_dpn(dmda_super_segment_dpn(&after->super, to_seg(i)));
		u32 nr_valid = 0;

		for (u64 at = first; at < first + dmda_super_data_pages(&after->super); at++) {
			struct dmda_written written;

			if (!(history->is_mapped[at / 64] >> at % 64 & 1))
				continue;
			nr_valid++;
			if (segment->state != DMDA_SEGMENT_OPEN)
				continue;
			KUNIT_ASSERT_TRUE(volume->test,
					  dmda_opened_get(&after->opened, segment->open,
							  at - first, &written));
			KUNIT_ASSERT_EQ(volume->test,
					from_dpn(where_is(after, from_lpn(written.lpn))), at);
		}
		KUNIT_ASSERT_EQ(volume->test, nr_valid, segment->nr_valid);
	}
}

/* A page of a table is as its slot has it, or dirty, and then knows more than the slot does. */
static void expect_page(struct kunit *test, u64 slot_seq, u64 seq, u64 dirty_sector)
{
	if (seq == slot_seq)
		KUNIT_ASSERT_EQ(test, dirty_sector, U64_MAX);
	else
		KUNIT_ASSERT_NE(test, dirty_sector, U64_MAX);
	KUNIT_ASSERT_GE(test, seq, slot_seq);
}

/* What a page of a table knew is not done to it again; what it did not know is to be written. */
static void expect_tables(struct volume *volume)
{
	struct history *history = volume->data;
	const struct volume *after = history->after;

	for (u64 i = 0; i < after->slots[DMDA_TABLE_MAP].nr_pages; i++)
		expect_page(volume->test, newest_seq(after, DMDA_TABLE_MAP, i),
			    after->map[i].seq, after->map[i].dirty_sector);
	for (u64 i = 0; i < after->slots[DMDA_TABLE_SEGMENTS].nr_pages; i++)
		expect_page(volume->test, newest_seq(after, DMDA_TABLE_SEGMENTS, i),
			    after->segments.page[i].seq, after->segments.page[i].dirty_sector);
	for (u64 i = 0; i < after->slots[DMDA_TABLE_OPEN].nr_pages; i++)
		expect_page(volume->test, newest_seq(after, DMDA_TABLE_OPEN, i),
			    after->opened.page[i].seq, after->opened.page[i].dirty_sector);
}

/* Was the journal's last batch a draft that was not to become one? Then that is what happened. */
static bool is_draft(struct history *history, u64 seq)
{
	const struct dmda_start *start = &history->after->start;

	return start->draft.nr_pages && start->draft_place.seq == seq &&
		start->end.seq == seq + 1 && history->draft_seq == seq;
}

static void expect_state_after_failure(struct volume *volume,
				       struct dmda_journal_place *next)
{
	struct history *history = volume->data;
	const char *why = open_volume(history->after, history->image, &history->op, next);

	KUNIT_ASSERT_NULL_MSG(volume->test, why, "%s", why);
	KUNIT_ASSERT_GT(volume->test, next->seq, volume->durable_seq);
	KUNIT_ASSERT_GT(volume->test, next->seq, history->promised_seq);
	advance_base(volume);
	memcpy(history->scratch, history->base, sizeof(history->scratch));
	for (u64 seq = history->base_seq + 1; seq < next->seq; seq++) {
		bool was_draft = is_draft(history, seq);

		play_past(history->scratch,
			  was_draft ? &history->draft : &history->past[seq % MAX_OPS]);
		history->nr_drafts += was_draft;
	}
	expect_pages(volume, history->scratch);
	expect_segments(volume);
	expect_tables(volume);
}

static void fail_power_at_write(struct volume *volume)
{
	for (u32 variant = 0; variant < VARIANTS; variant++) {
		struct dmda_journal_place next;

		fail_power(volume, variant);
		expect_state_after_failure(volume, &next);
		undo_failure(volume);
	}
}

static void fail_power_sometimes(struct volume *volume)
{
	if (!random_below(volume->data, 64))
		fail_power_at_write(volume);
}

/* The power fails for good, at a write that nobody has foreseen. */
static void fail_power_once(struct volume *volume)
{
	struct history *history = volume->data;

	if (!random_below(history, 16))
		fail_power_at_write(volume);
	if (random_below(history, 1500))
		return;
	fail_power(volume, VARIANTS);
	volume->is_dead = true;
}

/* The highest number that any page of a table has seen, whether a root names it or not. */
static u64 highest_seq_of_slots(struct volume *volume)
{
	static const enum dmda_table tables[] = {
		DMDA_TABLE_SEGMENTS, DMDA_TABLE_OPEN, DMDA_TABLE_MAP,
	};
	u64 highest = 0;

	for (u32 i = 0; i < ARRAY_SIZE(tables); i++) {
		for (u64 j = 0; j < 2 * volume->slots[tables[i]].nr_pages; j++) {
			const struct dmda_block_header *header =
				read_meta(volume, volume->stable,
					  dmda_super_slot(&volume->super, tables[i], j / 2,
							  j % 2));

			highest = max(highest, le64_to_cpu(header->seq));
		}
	}
	return highest;
}

/* Goes on from what the failure left, with another past. */
static void restart(struct volume *volume)
{
	struct history *history = volume->data;
	struct dmda_journal_place next;
	const char *why;

	/* What was durable when the power failed is in the image, whatever was said since. */
	volume->durable_seq = history->base_seq;
	expect_state_after_failure(volume, &next);
	memcpy(history->base, history->scratch, sizeof(history->base));
	history->base_seq = next.seq - 1;
	copy_image(volume->stable, history->image);
	copy_image(volume->now, history->image);
	volume->nr_pending = 0;
	volume->is_dead = false;
	for (u32 i = 0; i < DISK_PAGES; i++)
		history->times[i] = times_of(volume->stable->tag[i]);
	note_flushed(volume);
	why = open_volume(volume, volume->stable, &history->op, &next);
	KUNIT_ASSERT_NULL_MSG(volume->test, why, "%s", why);
	memset(history->past, 0, sizeof(history->past));
	history->highest_seq = highest_seq_of_slots(volume);
	history->nr_lost += history->highest_seq >= next.seq;
	resume_volume(volume, ++history->salt);
	KUNIT_EXPECT_GT(volume->test, volume->first_seq, history->highest_seq);
	if (!volume->is_dead)
		history->base_seq = volume->durable_seq;
}

static struct volume *new_history(struct kunit *test, u64 seed, bool checksums)
{
	struct volume *volume = new_volume_of(test, checksums);
	struct history *history = test_memory(test, sizeof(*history));

	KUNIT_ASSERT_LE(test, volume->super.nr_lpns, (u64)MAX_LPNS);
	history->random = seed;
	history->after = new_volume_of(test, checksums);
	history->image = new_image(test);
	volume->data = history;
	format_volume(volume);
	copy_image(history->image, volume->stable);
	volume->mirror = history->image;
	volume->cut = fail_power_at_write;
	volume->flushed = note_flushed;
	return volume;
}

/* New data is at a place. */
static void note_written(struct volume *volume, dpn_t dpn, u32 nr_pages, u64 times)
{
	struct history *history = volume->data;

	for (u32 i = 0; i < nr_pages && !volume->is_dead; i++) {
		history->times[from_dpn(dpn) + i] = times;
		history->flushed_times[from_dpn(dpn) + i] = times;
	}
}

static void trim(struct volume *volume, u64 lpn, u32 nr_pages);

/* Something that is done before the write of which there is a draft, and may look like it */
static void do_first(struct volume *volume, u64 lpn, u32 nr_pages, u64 tag)
{
	dpn_t dpn;

	if (tag & 1 << 20) {
		trim(volume, lpn, nr_pages);
		return;
	}
	nr_pages = write_data(volume, DMDA_STREAM_USER, lpn, nr_pages, tag, &dpn);
	note_written(volume, dpn, nr_pages, 0);
	make_room(volume, 1 + nr_pages);
	note(volume, volume->commit.batch.next_seq, lpn, nr_pages, tag);
	map_data(volume, lpn, dpn, nr_pages);
}

static void fail_draft(struct volume *volume)
{
	dmda_draft_written(&volume->commit.draft, true);
}

/*
 * The draft goes to the disk before the data or behind it, or fails; and what it says may not come
 * about, since something else is done first.
 */
static void write_with_draft(struct volume *volume, u64 lpn, dpn_t dpn, u32 nr_pages, u64 tag)
{
	struct history *history = volume->data;
	u32 fate = random_below(history, 16);

	history->draft = (struct past){ .lpn = lpn, .nr_pages = nr_pages, .tag = tag };
	history->draft_seq = volume->commit.batch.next_seq;
	if (fate % 2)
		write_draft(volume, tag + lpn);
	write_tags(volume, dpn, nr_pages, tag + lpn);
	if (!fate)
		fail_draft(volume);
	else if (!(fate % 2))
		write_draft(volume, tag + lpn);
	if (fate == 2 || fate == 3)
		do_first(volume, lpn / 2, nr_pages, tag + 2);
	if (fate == 3 || fate == 4)
		commit(volume);
}

static u32 write_some(struct volume *volume, u64 lpn, u32 nr_pages, u64 tag, dpn_t *dpn)
{
	u32 kind = ((struct history *)volume->data)->has_kinds ? lpn / 64 % 3 : 0;
	u32 nr = take_places(volume, kind ? DMDA_STREAM_MOVED + kind : DMDA_STREAM_USER, nr_pages,
			     dpn);

	note_written(volume, *dpn, nr, 0);
	if (make_draft(volume, lpn, *dpn, nr))
		write_with_draft(volume, lpn, *dpn, nr, tag);
	else
		write_tags(volume, *dpn, nr, tag + lpn);
	return nr;
}

static void write_pages(struct volume *volume, u64 lpn, u32 nr_pages, u64 tag)
{
	while (nr_pages) {
		dpn_t dpn;
		u32 nr = write_some(volume, lpn, nr_pages, tag, &dpn);

		make_room(volume, 1 + nr);
		note(volume, volume->commit.batch.next_seq, lpn, nr, tag);
		map_data(volume, lpn, dpn, nr);
		lpn += nr;
		nr_pages -= nr;
	}
}

static void trim(struct volume *volume, u64 lpn, u32 nr_pages)
{
	make_room(volume, 1 + nr_pages);
	note(volume, volume->commit.batch.next_seq, lpn, nr_pages, 0);
	trim_pages(volume, lpn, nr_pages);
}

/* Finds the valid pages of a segment. Return: how many. */
static u32 find_moves(struct volume *volume, seg_t seg, struct move *moves)
{
	const struct dmda_summary_block *summary =
		read_meta(volume, volume->now, dmda_summary_dpn(&volume->super, seg));
	u64 first = from_dpn(dmda_super_segment_dpn(&volume->super, seg));
	u32 nr = 0;

	KUNIT_ASSERT_NULL(volume->test, dmda_summary_check(summary, &volume->super, seg));
	for (u32 page = 0; page < dmda_super_data_pages(&volume->super); page++) {
		struct dmda_written written;
		dpn_t dpn = to_dpn(first + page);

		if (dmda_summary_get(summary, page, &written) &&
		    where_is(volume, from_lpn(written.lpn)) == dpn)
			moves[nr++] = (struct move){ .lpn = from_lpn(written.lpn), .from = dpn };
	}
	return nr;
}

static void copy_moved(struct volume *volume, struct move *move)
{
	u64 tag = volume->now->tag[from_dpn(move->from)];

	write_data(volume, DMDA_STREAM_MOVED, move->lpn, 1, tag - move->lpn, &move->to);
	note_written(volume, move->to, 1, times_of(tag));
}

/* Copies the valid pages of the best victim. Return: how many. */
static u32 begin_moves(struct volume *volume, struct move *moves, enum dmda_policy policy)
{
	struct dmda_candidate victim;
	u32 nr;

	if (!dmda_victim_candidates(&volume->segments, volume->commit.batch.next_seq, policy,
				    &victim, 1))
		return 0;
	nr = find_moves(volume, victim.seg, moves);
	for (u32 i = 0; i < nr; i++)
		copy_moved(volume, &moves[i]);
	return nr;
}

/* A page that was written meanwhile is not moved. */
static void end_moves(struct volume *volume, const struct move *moves, u32 nr)
{
	for (u32 i = 0; i < nr; i++) {
		if (where_is(volume, moves[i].lpn) == moves[i].from)
			map_data(volume, moves[i].lpn, moves[i].to, 1);
		else
			end_places(volume, moves[i].to, 1, 0);
	}
}

/* The last operation that was about a page; or one that is no older, and is durable */
static u64 last_seq_of(const struct volume *volume, u64 lpn)
{
	const struct history *history = volume->data;
	u64 seq = dmda_commit_place(&volume->commit).seq;

	if (volume->commit.has_batch)
		seq = volume->commit.batch.next_seq;
	while (--seq > history->base_seq) {
		const struct past *past = &history->past[seq % MAX_OPS];

		if (lpn >= past->lpn && lpn < past->lpn + past->nr_pages)
			break;
	}
	return seq;
}

/* What a page holds now is there from now on, or what comes later. */
static void promise(struct volume *volume, u64 lpn)
{
	struct history *history = volume->data;
	u64 seq = last_seq_of(volume, lpn);

	history->promised[lpn] = volume->now->tag[from_dpn(where_is(volume, lpn))];
	history->promised_seq = max(history->promised_seq, seq);
	if (lpn >= history->draft.lpn && lpn < history->draft.lpn + history->draft.nr_pages)
		history->draft_seq = 0;
}

/* With FUA, as the target does it */
static void overwrite_for_good(struct volume *volume, u64 lpn, dpn_t dpn, u64 tag)
{
	struct history *history = volume->data;
	u32 entry;
	u64 index = dmda_map_index(&volume->super, to_lpn(lpn), &entry);

	if (dmda_commit_covers(&volume->commit, volume->map[index].seq)) {
		history->nr_fua_below++;
		disk_write_tag_fua(volume, dpn, tag);
	} else {
		disk_write_tag_whole(volume, dpn, tag);
		volume->commit.nr_overwrites++;
		commit(volume);
	}
	if (!volume->is_dead)
		promise(volume, lpn);
}

/* Not what has checksums, is being copied, or must stay as it is. */
static void overwrite_in_place(struct volume *volume, u64 lpn)
{
	struct history *history = volume->data;
	dpn_t dpn = where_is(volume, lpn);
	u64 tag;

	if (dpn == DPN_NONE || dmda_super_has_sums(&volume->super) || history->is_cleaning ||
	    volume->is_dead ||
	    dmda_draft_names(&volume->commit.draft, dpn, 1))
		return;
	tag = volume->now->tag[from_dpn(dpn)] + (1ULL << TIMES_SHIFT);
	history->times[from_dpn(dpn)]++;
	if (history->nr_in_place++ % 2) {
		overwrite_for_good(volume, lpn, dpn, tag);
		return;
	}
	disk_write_tag_whole(volume, dpn, tag);
	volume->commit.nr_overwrites++;
}

/* The data of a write with a draft is not there, or not as it should be: nothing comes of it. */
static void write_in_vain(struct volume *volume, u64 lpn, u64 tag)
{
	struct history *history = volume->data;
	dpn_t dpn;

	take_places(volume, DMDA_STREAM_USER, 1, &dpn);
	note_written(volume, dpn, 1, 0);
	if (make_draft(volume, lpn, dpn, 1)) {
		history->draft = (struct past){ .lpn = lpn, .nr_pages = 1, .tag = tag };
		history->draft_seq = volume->commit.batch.next_seq;
		write_draft(volume, tag + lpn);
		if (random_below(history, 2))
			write_tags(volume, dpn, 1, tag + lpn);
		dmda_commit_void(&volume->commit);
	}
	end_places(volume, dpn, 1, 0);
	if (random_below(history, 2))
		return;
	/* What is flushed now must not be undone by it: nor that the page holds nothing. */
	overwrite_in_place(volume, lpn);
	flush(volume);
	history->draft_seq = 0;
}

/* Who asks for small writes to be durable asks at once. */
static void write_and_maybe_commit(struct volume *volume, u64 lpn, u32 nr_pages, u64 tag)
{
	write_pages(volume, lpn, nr_pages, tag);
	if (nr_pages <= 2 && !random_below(volume->data, 4))
		commit(volume);
}

static void do_something(struct volume *volume, u64 tag)
{
	struct history *history = volume->data;
	u32 nr_pages = 1 + random_below(history, random_below(history, 4) ? 4 : 100);
	u64 lpn = random_below(history, volume->super.nr_lpns - nr_pages);
	u32 what = random_below(history, 100);

	/* Most goes to a third of the device. */
	if (random_below(history, 4))
		lpn /= 3;
	if (what < 10)
		overwrite_in_place(volume, what % 2 ? lpn : history->draft.lpn);
	else if (what < 71)
		write_and_maybe_commit(volume, lpn, nr_pages, tag);
	else if (what < 75)
		write_in_vain(volume, lpn, tag);
	else if (what < 80)
		trim(volume, lpn, nr_pages);
	else if (what < 85)
		evict_map_page(volume, random_below(history,
						    volume->slots[DMDA_TABLE_MAP].nr_pages));
	else
		commit(volume);
	/* Then all places are durable. */
	if (what >= 95)
		overwrite_in_place(volume, lpn);
}

static void clean_if_needed(struct volume *volume, u64 tag)
{
	struct history *history = volume->data;
	u32 nr;

	if (volume->segments.nr_free + volume->segments.nr_empty >= 14)
		return;
	history->nr_cleanings++;
	history->is_cleaning = true;
	nr = begin_moves(volume, history->moves, tag & 1 << 20 ? DMDA_POLICY_GREEDY :
			 DMDA_POLICY_COST_BENEFIT);
	do_something(volume, tag + 1);
	end_moves(volume, history->moves, nr);
	history->is_cleaning = false;
}

/* A checkpoint takes its time: others go on between its steps; or nobody does meanwhile. */
static void work(struct volume *volume, u32 nr_steps)
{
	for (u32 i = 1; i <= nr_steps && !volume->is_dead; i++) {
		u64 tag = (volume->nr_cuts + 1ULL) << 20;

		if (i % 80 == 0)
			take_checkpoint(volume);
		else if (i % 40 == 0)
			begin_checkpoint(volume);
		go_on_with_checkpoint(volume, 1 + random_below(volume->data, 3));
		do_something(volume, tag);
		clean_if_needed(volume, tag);
	}
	if (!volume->is_dead)
		commit(volume);
}

static void fail_at_every_write(struct kunit *test, bool checksums)
{
	struct volume *volume = new_history(test, 5, checksums);
	struct history *history = volume->data;

	work(volume, 440);
	KUNIT_EXPECT_GT(test, volume->nr_cuts, 2000U);
	KUNIT_EXPECT_GT(test, history->nr_cleanings, 10U);
	KUNIT_EXPECT_EQ(test, history->nr_in_place > 10, !checksums);
	KUNIT_EXPECT_EQ(test, history->nr_fua_below > 3, !checksums);
	KUNIT_EXPECT_GT(test, history->nr_drafts, 10U);
	KUNIT_EXPECT_GT(test, volume->nr_kept, 4U);
}

static void what_was_flushed_survives_a_failure_at_every_write(struct kunit *test)
{
	fail_at_every_write(test, false);
}

static void checksums_survive_a_failure_at_every_write(struct kunit *test)
{
	fail_at_every_write(test, true);
}

static void fail_one_after_the_other(struct kunit *test, bool checksums)
{
	struct volume *volume = new_history(test, 2, checksums);
	struct history *history = volume->data;
	u32 nr_hot = 0;

	history->has_kinds = true;
	volume->tells_free = true;
	volume->cut = fail_power_once;
	for (int i = 0; i < 60; i++) {
		work(volume, 100);
		nr_hot += volume->writer.open[DMDA_STREAM_HOT].nr_opened;
		if (volume->is_dead)
			restart(volume);
	}
	KUNIT_EXPECT_GT(test, history->nr_lost, 0U);
	KUNIT_EXPECT_GT(test, nr_hot, 60U);
	KUNIT_EXPECT_GT(test, volume->nr_told, 60U);
	/* The journal went round, too. */
	KUNIT_EXPECT_GT(test, volume->commit.batch.first.sector, (u64)DMDA_MIN_JOURNAL_SECTORS);
}

static void it_survives_failures_one_after_the_other(struct kunit *test)
{
	fail_one_after_the_other(test, false);
}

static void checksums_survive_failures_one_after_the_other(struct kunit *test)
{
	fail_one_after_the_other(test, true);
}

/* Once there is something to be lost, nothing but the lack of segments makes anything durable. */
static void a_segment_is_used_again_only_when_its_loss_is_durable(struct kunit *test)
{
	struct volume *volume = new_history(test, 3, false);
	u32 data_pages = dmda_super_data_pages(&volume->super);
	u64 nr_extents = div_u64(volume->super.nr_lpns, data_pages);

	volume->cut = NULL;
	for (u64 i = 0; i < 80; i++) {
		if (i == volume->segments.nr_segments - 4)
			volume->cut = fail_power_at_write;
		if (i == nr_extents)
			commit(volume);
		write_pages(volume, i % nr_extents * data_pages, data_pages, (i + 1) << 20);
	}
	KUNIT_EXPECT_GT(test, volume->nr_cuts, 80 * data_pages);
}

/* Nothing takes a checkpoint but the journal, when it is full; it goes round three times. */
static void what_the_journal_is_needed_for_is_not_written_over(struct kunit *test)
{
	struct volume *volume = new_history(test, 4, false);
	u64 nr_rounds = 3 * DMDA_MIN_JOURNAL_SECTORS;

	volume->cut = fail_power_sometimes;
	for (u64 i = 0; i < nr_rounds; i++) {
		write_pages(volume, i % 7, 1, (i + 1) << 20);
		commit(volume);
	}
	KUNIT_EXPECT_GE(test, volume->commit.batch.first.sector, nr_rounds);
}

/*
 * A full device that is cleaned and loses its power
 */

/* As in log mode: users leave so many segments to cleaning, which begins below the other. */
#define KEPT_SEGMENTS	3
#define LOW_SEGMENTS	8

/* What is not durable is lost. */
static void lose_power(struct volume *volume)
{
	struct history *history = volume->data;
	struct dmda_journal_place next;
	const char *why;

	volume->nr_pending = 0;
	copy_image(volume->now, volume->stable);
	why = open_volume(volume, volume->stable, &history->op, &next);
	KUNIT_ASSERT_NULL_MSG(volume->test, why, "%s", why);
	resume_volume(volume, ++history->salt);
}

static void commit_and_free(struct volume *volume)
{
	commit(volume);
	free_empty_segments(volume);
}

/* Users overwrite until they have to wait. */
static u32 write_until_full(struct volume *volume)
{
	struct history *history = volume->data;
	u32 nr = 0;

	commit_and_free(volume);
	while (volume->segments.nr_free > KEPT_SEGMENTS) {
		u64 lpn = random_below(history, volume->super.nr_lpns);
		dpn_t dpn;

		write_data(volume, DMDA_STREAM_USER, lpn, 1, 1ULL << 20, &dpn);
		map_data(volume, lpn, dpn, 1);
		nr++;
	}
	return nr;
}

static void sort_by_lpn(struct move *moves, u32 nr)
{
	for (u32 i = 1; i < nr; i++) {
		for (u32 at = i; at && moves[at - 1].lpn > moves[at].lpn; at--)
			swap(moves[at - 1], moves[at]);
	}
}

/* The pages of victims that have room, in the order of files. Return: how many. */
static u32 plan_moves(struct volume *volume, struct move *moves)
{
	const struct dmda_segments *segments = &volume->segments;
	u64 room = dmda_writer_room(&volume->writer, DMDA_STREAM_MOVED, segments);
	struct dmda_candidate found[8];
	u32 nr_victims = dmda_victim_candidates(segments, volume->commit.batch.next_seq,
						DMDA_POLICY_GREEDY, found, 8);
	struct dmda_plan plan;

	dmda_plan_init(&plan, &volume->super);
	plan.max_moves = dmda_plan_sure(&plan, room);
	for (u32 i = 0; i < nr_victims; i++) {
		if (!dmda_plan_has_room(&plan, segments->segment[from_seg(found[i].seg)].nr_valid))
			continue;
		plan.nr_moves += find_moves(volume, found[i].seg, moves + plan.nr_moves);
		plan.nr_victims++;
	}
	sort_by_lpn(moves, plan.nr_moves);
	return plan.nr_moves;
}

/* Return: whether the power has not failed after @life moves. */
static bool clean_once(struct volume *volume, u32 *life)
{
	struct history *history = volume->data;
	u32 nr = plan_moves(volume, history->moves);

	KUNIT_ASSERT_GT(volume->test, nr, 0U);
	for (u32 i = 0; i < nr; i++) {
		struct move *move = &history->moves[i];

		if (!(*life)--) {
			lose_power(volume);
			return false;
		}
		copy_moved(volume, move);
		map_data(volume, move->lpn, move->to, 1);
		if (!random_below(history, 10))
			commit(volume);
	}
	commit_and_free(volume);
	return true;
}

/* Return: whether there is room for users. */
static bool clean(struct volume *volume, u32 life)
{
	commit_and_free(volume);
	while (volume->segments.nr_free <= LOW_SEGMENTS) {
		if (!clean_once(volume, &life))
			return false;
	}
	return true;
}

/* However often that happens, there is a victim that can be emptied, and so more space. */
static void it_can_always_be_cleaned(struct kunit *test)
{
	struct volume *volume = new_history(test, 5, false);
	struct history *history = volume->data;
	u32 fewest = U32_MAX, nr_written = 0;
	dpn_t dpn;

	volume->cut = NULL;
	for (u64 lpn = 0; lpn < volume->super.nr_lpns; lpn++) {
		write_data(volume, DMDA_STREAM_USER, lpn, 1, 1ULL << 20, &dpn);
		map_data(volume, lpn, dpn, 1);
	}
	for (u32 i = 0; i < 1000; i++) {
		/* Mostly so short that what a failure leaves behind outweighs what was gained. */
		clean(volume, random_below(history, i % 100 ? 30 : 10000));
		fewest = min(fewest, volume->segments.nr_free);
		if (!random_below(history, 50))
			nr_written += write_until_full(volume);
	}
	KUNIT_EXPECT_TRUE(test, clean(volume, U32_MAX));
	KUNIT_EXPECT_GT(test, write_until_full(volume), 0U);
	/* Else the last segments were never needed. */
	KUNIT_EXPECT_LT(test, fewest, (u32)KEPT_SEGMENTS);
	KUNIT_EXPECT_GT(test, nr_written, 1000U);
}

/* A checkpoint that others wrote beside: its pages know what comes behind its place. */
static struct volume *volume_with_knowing_pages(struct kunit *test)
{
	struct volume *volume = new_history(test, 5, false);

	volume->cut = NULL;
	write_pages(volume, 0, 8, 1 << 20);
	begin_checkpoint(volume);
	while (dmda_checkpoint_next(&volume->checkpoint) != DMDA_CHECKPOINT_MAP)
		go_on_with_checkpoint(volume, 1);
	write_pages(volume, 1, 2, 2 << 20);
	end_checkpoint(volume);
	KUNIT_ASSERT_GE(test, newest_seq(volume, DMDA_TABLE_MAP, 0), volume->root.journal.seq);
	return volume;
}

static void a_journal_that_ends_before_what_the_tables_know_is_refused(struct kunit *test)
{
	struct volume *volume = volume_with_knowing_pages(test);
	struct history *history = volume->data;
	u32 at = dmda_journal_sector_at(&volume->super, volume->root.journal.sector);
	struct dmda_journal_place next;
	u8 *page = volume->stable->meta[volume->super.journal_dpn + at / DMDA_PAGE_SECTORS].byte;

	KUNIT_EXPECT_NULL(test, open_volume(history->after, volume->stable, &history->op, &next));
	page[at % DMDA_PAGE_SECTORS * DMDA_SECTOR_BYTES + 100] ^= 1;
	KUNIT_EXPECT_STREQ(test, open_volume(history->after, volume->stable, &history->op, &next),
			   "the journal ends before an operation that a table knows");
	KUNIT_EXPECT_EQ(test, next.seq, volume->root.journal.seq);
	KUNIT_EXPECT_TRUE(test, history->after->start.is_lost);
}

static struct kunit_case volume_cases[] = {
	KUNIT_CASE_SLOW(what_was_flushed_survives_a_failure_at_every_write),
	KUNIT_CASE_SLOW(it_survives_failures_one_after_the_other),
	KUNIT_CASE_SLOW(checksums_survive_a_failure_at_every_write),
	KUNIT_CASE_SLOW(checksums_survive_failures_one_after_the_other),
	KUNIT_CASE_SLOW(a_segment_is_used_again_only_when_its_loss_is_durable),
	KUNIT_CASE_SLOW(what_the_journal_is_needed_for_is_not_written_over),
	KUNIT_CASE_SLOW(it_can_always_be_cleaned),
	KUNIT_CASE(a_journal_that_ends_before_what_the_tables_know_is_refused),
	{}
};

static struct kunit_suite volume_suite = {
	.name = "dm_dieaware_volume",
	.test_cases = volume_cases,
};

kunit_test_suite(volume_suite);

MODULE_DESCRIPTION("Log mode without a kernel: operations, power failures, starts");
MODULE_LICENSE("GPL");
