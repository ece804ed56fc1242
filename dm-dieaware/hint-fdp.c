// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hints for a device that knows none of ours, but Flexible Data Placement: the target
 * decides for each write to which die it goes (core/lanes.h), and says so with a write
 * stream, which the NVMe driver makes a placement identifier of. What it has decided stands in
 * the run table, for the next write to go by. In log mode the log decides where a write goes, and
 * the stream says what kind of data it is: the device then keeps it from others, as the log does.
 *
 * The kernel keeps writes of different streams apart by itself, and whatever it makes of a bio has
 * its stream, so nothing has to be looked at on the way, and what ends well was sent so.
 *
 * A stream that the driver or the device refuses is mended like a refused hint (retry.c). One that
 * the kernel no longer has is never sent: the driver would warn about it.
 */
#include "dieaware.h"
#include "hint-fdp.h"

static struct dmda_lanes lanes_of(const struct dmda *dmda)
{
	u32 shape = READ_ONCE(dmda->fdp.shape);

	return (struct dmda_lanes){ .nr = shape & 0xff, .unit_pages = shape >> 8 };
}

void dmda_fdp_set(struct dmda *dmda, const struct dmda_discovery *discovery)
{
	u32 shape = discovery->lanes.unit_pages << 8 | discovery->lanes.nr;
	u32 i;

	/* Berths mean nothing on other lanes; without any, nobody keeps them up to date. */
	if (dmda->fdp.shape && dmda->fdp.shape != shape)
		dmda_hint_forget_all(dmda);
	for (i = 0; i < discovery->lanes.nr; i++)
		WRITE_ONCE(dmda->fdp.stream[i], discovery->stream[i]);
	for (i = 0; i < DMDA_NR_STREAMS; i++)
		WRITE_ONCE(dmda->fdp.lifetime[i], discovery->lifetime[i]);
	WRITE_ONCE(dmda->fdp.shape, shape);
}

u32 dmda_fdp_nr_streams(const struct dmda_fdp_way *way)
{
	u32 nr = READ_ONCE(way->shape) & 0xff;

	if (nr || !READ_ONCE(way->lifetime[DMDA_STREAM_USER]))
		return nr;
	/* Where there are no ages, users' data is of one kind. */
	return dmda_fdp_has_ages(way) ? DMDA_NR_STREAMS : 2;
}

static struct dmda_berth berth_at(struct dmda *dmda, const struct dmda_lanes *lanes, dpn_t dpn)
{
	struct dmda_berth berth = { .first = DMDA_BERTH_NONE };
	u64 value;

	if (dpn == DPN_NONE)
		return berth;
	berth.nr_pages = dmda_runtable_berth(dmda->table, dpn, &value);
	if (berth.nr_pages)
		berth.first = dmda_lanes_berth(lanes, value);
	return berth;
}

u32 dmda_fdp_choose(struct dmda *dmda, struct dmda_write *write)
{
	struct dmda_lanes lanes = lanes_of(dmda);
	struct dmda_moorings known;
	struct dmda_berth berth;

	/* Somebody above may have a stream of his own. */
	if (!lanes.nr || dmda_bio_write_stream(write->bio))
		return write->run.nr_pages;
	known.here = berth_at(dmda, &lanes, write->run.dpn);
	known.before = berth_at(dmda, &lanes, write->verdict.pred).first;
	known.turn = 0;
	if (dmda_lanes_begins(&write->verdict))
		known.turn = atomic_inc_return(&dmda->fdp.turn);
	berth = dmda_lanes_choose(&lanes, &write->run, &write->verdict, &known);
	write->berth = berth.first;
	return berth.nr_pages;
}

void dmda_fdp_moor(struct dmda *dmda, const struct dmda_write *write)
{
	const struct dmda_run *run = &write->run;
	struct dmda_lanes lanes = lanes_of(dmda);

	if (!lanes.nr)
		return;
	if (write->berth == DMDA_BERTH_NONE)
		dmda_runtable_unmoor(dmda->table, run->dpn, run->nr_pages);
	else
		dmda_runtable_moor(dmda->table, run->dpn, run->nr_pages,
				   dmda_lanes_value(&lanes, run->dpn, write->berth));
}

/* What must not wait, and would have to, had no command. */
static void count_hint(struct dmda_stats *stats, u8 hint, blk_status_t status)
{
	if (hint == DMDA_HINT_NONE)
		return;
	if (status == BLK_STS_AGAIN)
		dmda_count(stats, DMDA_COUNT_LOST_UNSEEN);
	else
		dmda_count(stats, hint == DMDA_HINT_APPEND ? DMDA_COUNT_CONFIRMED_APPEND :
							     DMDA_COUNT_CONFIRMED_OVERWRITE);
}

static void streamed_end_io(struct bio *bio)
{
	struct dmda_io *io = dmda_io_of(bio);
	struct dmda_stats *stats = &io->dmda->stats;

	if (unlikely(bio->bi_status) && dmda_retry(bio))
		return;
	if (!bio->bi_status)
		dmda_count(stats, DMDA_COUNT_STREAMED);
	count_hint(stats, io->hint, bio->bi_status);
	bio->bi_end_io = io->end_io;
	bio->bi_end_io(bio);
}

static bool has_stream(const struct dmda *dmda, u32 stream)
{
	return stream && stream <= dmda_max_write_streams(dmda->dev->bdev);
}

static void attach(struct dmda *dmda, struct bio *bio, const struct dmda_verdict *verdict,
		   u8 stream)
{
	struct dmda_io *io = dmda_io_of(bio);

	dmda_io_fill(dmda, io, bio, verdict);
	/* As soon as it fails, for whatever reason, it may be the stream. */
	io->fate = DMDA_FATE_SENT;
	io->stream = stream;
	dmda_bio_set_write_stream(bio, stream);
	bio->bi_end_io = streamed_end_io;
}

void dmda_fdp_attach(struct dmda *dmda, const struct dmda_write *write)
{
	u32 lane = write->berth / max(dmda_fdp_unit_pages(&dmda->fdp), 1U);
	u32 stream = lane < DMDA_MAX_LANES ? READ_ONCE(dmda->fdp.stream[lane]) : 0;

	if (!has_stream(dmda, stream)) {
		if (write->verdict.hint != DMDA_HINT_NONE)
			dmda_count(&dmda->stats, DMDA_COUNT_LOST_UNSEEN);
		dmda_retry_streams_gone(dmda);
		return;
	}
	attach(dmda, write->bio, &write->verdict, stream);
}

u8 dmda_fdp_lifetime(struct dmda *dmda, enum dmda_stream kind)
{
	u8 stream = READ_ONCE(dmda->fdp.lifetime[kind]);

	if (has_stream(dmda, stream))
		return stream;
	dmda_retry_streams_gone(dmda);
	return 0;
}

void dmda_fdp_attach_kind(struct dmda *dmda, struct bio *bio, enum dmda_stream kind)
{
	const struct dmda_verdict none = { .hint = DMDA_HINT_NONE, .pred = DPN_NONE };
	u8 stream;

	if (dmda_bio_write_stream(bio))
		return;
	stream = dmda_fdp_lifetime(dmda, kind);
	if (stream)
		attach(dmda, bio, &none, stream);
}
