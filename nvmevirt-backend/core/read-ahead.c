// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams of reads and the pages that were read ahead for them. When these are there is known as
 * soon as they are asked for, as of all that dies do; read.c asks.
 */
#include "read-ahead.h"

/* All streams have room for what was read ahead, and for what is read meanwhile. */
static u32 nr_ahead_slots(const struct ftl_params *params)
{
	if (!params->read_ahead_pages)
		return 0;
	return roundup_pow_of_two(2UL * FTL_READ_STREAMS * params->read_ahead_pages);
}

size_t ftl_read_ahead_bytes(const struct ftl_params *params)
{
	return array_size(nr_ahead_slots(params), sizeof(struct ftl_read_slot));
}

void ftl_read_ahead_init(struct ftl_read_ahead *ahead, const struct ftl_params *params,
			 void *zeroed)
{
	ahead->nr_pages = params->read_ahead_pages;
	ahead->mask = nr_ahead_slots(params) - 1;
	ahead->slot = zeroed;
}

void ftl_read_ahead_forget(struct ftl_read_ahead *ahead)
{
	if (!ahead->nr_pages)
		return;
	memset(ahead->stream, 0, sizeof(ahead->stream));
	memset(ahead->slot, 0, array_size((size_t)ahead->mask + 1, sizeof(*ahead->slot)));
	ahead->nr_reads = 0;
}

/* The stream that goes on at this page, or a new one in the place of the oldest */
static struct ftl_read_stream *stream_at(struct ftl_read_ahead *ahead, u64 first, bool *goes_on)
{
	struct ftl_read_stream *oldest = &ahead->stream[0];

	*goes_on = true;
	for (u32 i = 0; i < FTL_READ_STREAMS; i++) {
		struct ftl_read_stream *stream = &ahead->stream[i];

		if (stream->used && stream->next == first)
			return stream;
		if (stream->used < oldest->used)
			oldest = stream;
	}
	*goes_on = false;
	return oldest;
}

u32 ftl_read_ahead_note(struct ftl_read_ahead *ahead, u64 first, u32 nr_pages, u64 nr_lpns,
			u64 *from)
{
	struct ftl_read_stream *stream;
	u64 end = first + nr_pages;
	bool goes_on;

	if (!ahead->nr_pages)
		return 0;
	stream = stream_at(ahead, first, &goes_on);
	stream->used = ++ahead->nr_reads;
	stream->next = end;
	if (!goes_on || stream->until < end)
		stream->until = end;
	if (!goes_on || stream->until - end > ahead->nr_pages / 2)
		return 0;
	*from = stream->until;
	stream->until = min(end + ahead->nr_pages, nr_lpns);
	return stream->until - *from;
}

void ftl_read_ahead_drop(struct ftl_read_ahead *ahead, u64 lpn, u32 nr)
{
	for (u64 end = lpn + nr; lpn < end; lpn++)
		ahead->slot[lpn & ahead->mask].lpn = 0;
}

void ftl_read_ahead_outdate(struct ftl_read_ahead *ahead, lpn_t first, u32 nr_pages)
{
	u64 lpn = from_lpn(first);

	if (!ahead->nr_pages)
		return;
	for (u64 end = lpn + nr_pages; lpn < end; lpn++) {
		struct ftl_read_slot *slot = &ahead->slot[lpn & ahead->mask];

		if (slot->lpn == lpn + 1)
			slot->lpn = 0;
	}
}

void ftl_read_ahead_put(struct ftl_read_ahead *ahead, u64 lpn, ppn_t ppn, u64 there_ns)
{
	ahead->slot[lpn & ahead->mask] = (struct ftl_read_slot){
		.there_ns = there_ns,
		.lpn = lpn + 1,
		.ppn = ppn,
	};
}
