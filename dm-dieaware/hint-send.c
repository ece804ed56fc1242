// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last step of a write in both modes: it is counted, shown to the tracepoint, and
 * handed to the transport with its hint.
 *
 * The block layer joins neighbouring writes to one command and cuts large ones, and
 * knows of no hint. So what must not be joined is marked here, and what will be cut goes
 * with the transport even without a hint, since its later pieces follow its first one.
 */
#include "dieaware.h"
#include "hint-send.h"
#include "trace.h"

/* Apart, so that who has nothing waiting does not pay for its registers */
noinline void dmda_hint_send_waiting(void)
{
	struct blk_plug *plug = current->plug;

	if (!list_empty(&plug->cb_list))
		return;
	blk_finish_plug(plug);
	current->plug = plug;
}

/*
 * The block layer would put this write and one before or behind it, which this CPU
 * mapped last, into one command, and one of them under the hint of the other.
 */
static inline bool meets_another(struct dmda *dmda, u64 first, u32 nr_pages, enum dmda_hint hint)
{
	struct dmda_cpu *cpu = raw_cpu_ptr(dmda->stats.cpu);
	u64 end = first + nr_pages;
	bool adjacent = first == READ_ONCE(cpu->end_dpn) || end == READ_ONCE(cpu->first_dpn);
	bool bad = adjacent && READ_ONCE(cpu->hint) != hint;

	/* Another task may run here meanwhile: what gets mixed up, the transport finds. */
	WRITE_ONCE(cpu->first_dpn, first);
	WRITE_ONCE(cpu->end_dpn, end);
	WRITE_ONCE(cpu->hint, hint);
	return bad;
}

/* It goes on in its file, or begins one, and not behind what is in front of it on the device. */
static inline bool is_apart(const struct dmda_write *write)
{
	return write->verdict.hint == DMDA_HINT_APPEND &&
	       from_dpn(write->verdict.pred) + 1 != from_dpn(write->run.dpn);
}

/*
 * A scheduler sorts what comes together by sectors, and the SSD can place nothing behind a page
 * that it has not got yet. So what this write, which lies apart, follows is sent before it comes.
 */
static inline void keep_order(struct dmda *dmda, const struct dmda_write *write)
{
	const struct blk_plug *plug = current->plug;

	if (write->verdict.pred == DPN_NONE || !plug || !plug->rq_count)
		return;
	if (READ_ONCE(bdev_get_queue(dmda->dev->bdev)->elevator))
		dmda_hint_send_waiting();
}

static inline bool is_one_command(struct dmda *dmda, const struct bio *bio)
{
	return bio_sectors(bio) <= queue_max_sectors(bdev_get_queue(dmda->dev->bdev));
}

/* The pieces of one write of data follow one another, also when its beginning has no hint */
static bool will_be_split(struct dmda *dmda, const struct dmda_write *write)
{
	if (is_one_command(dmda, write->bio))
		return false;
	switch (write->identity.source) {
	case DMDA_SOURCE_METADATA:
		return false;
	case DMDA_SOURCE_UNKNOWN:
		return dmda->config.lba_adjacency;
	default:
		return true;
	}
}

static inline bool is_placed(enum dmda_state state, const struct dmda_write *write)
{
	return state == DMDA_STATE_STREAMS && write->berth != DMDA_BERTH_NONE;
}

/* With its hint, if it has one */
static inline void attach(struct dmda *dmda, const struct dmda_write *write, enum dmda_state state)
{
	if (state == DMDA_STATE_ON) {
		if (write->verdict.hint != DMDA_HINT_NONE || will_be_split(dmda, write))
			dmda_transport_attach(dmda, write->bio, &write->verdict);
	} else if (is_placed(state, write)) {
		dmda_fdp_attach(dmda, write);
	}
}

/* Apart, so that writes which nobody watches do not pay for its registers */
static noinline void show_and_attach(struct dmda *dmda, const struct dmda_write *write,
				     enum dmda_state state)
{
	trace_dmda_hint(dmda->self_dev, &write->run, &write->verdict, &write->identity);
	attach(dmda, write, state);
}

void dmda_hint_send(struct dmda *dmda, struct dmda_write *write)
{
	enum dmda_state state = READ_ONCE(dmda->state);
	bool apart, meets;

	if (state != DMDA_STATE_ON && !is_placed(state, write))
		write->verdict.hint = DMDA_HINT_NONE;
	apart = is_apart(write);
	meets = meets_another(dmda, from_dpn(write->run.dpn), write->run.nr_pages,
			      write->verdict.hint);
	/* Writes of different streams the block layer keeps apart itself. */
	if ((apart || meets) && !is_placed(state, write))
		write->bio->bi_opf |= REQ_NOMERGE;
	if (apart)
		keep_order(dmda, write);
	dmda_count_write(&dmda->stats, write->identity.source, write->verdict.hint);
	if (trace_dmda_hint_enabled())
		show_and_attach(dmda, write, state);
	else
		attach(dmda, write, state);
}

/* Apart, so that writes which nobody watches and which stay whole do not pay for its stack */
static noinline void send_described(struct dmda *dmda, struct bio *bio, dpn_t dpn, u32 nr_pages)
{
	struct dmda_write write = {
		.bio = bio,
		.identity = { .source = DMDA_SOURCE_UNKNOWN, .len_bytes = bio->bi_iter.bi_size },
		.run = { .file = DMDA_ANONYMOUS, .dpn = dpn, .nr_pages = nr_pages },
		.verdict = { .hint = DMDA_HINT_NONE, .pred = DPN_NONE, .nr_pages = nr_pages },
		.berth = DMDA_BERTH_NONE,
	};

	dmda_hint_send(dmda, &write);
}

void dmda_hint_send_unknown(struct dmda *dmda, struct bio *bio, dpn_t dpn, u32 nr_pages)
{
	if (trace_dmda_hint_enabled() || !is_one_command(dmda, bio)) {
		send_described(dmda, bio, dpn, nr_pages);
		return;
	}
	if (meets_another(dmda, from_dpn(dpn), nr_pages, DMDA_HINT_NONE))
		bio->bi_opf |= REQ_NOMERGE;
	dmda_count_write(&dmda->stats, DMDA_SOURCE_UNKNOWN, DMDA_HINT_NONE);
}
