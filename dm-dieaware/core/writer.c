// SPDX-License-Identifier: GPL-2.0-only
/*
 * Places in open segments. Each stream fills its segment from the front, and has two open
 * summaries by turns: while the data of a full segment is still being written, the next one
 * is open already.
 *
 * Of the last few writes that were cut, the first lpn of what is left is kept: by that it is
 * known when it comes again.
 */
#include "writer.h"

void dmda_writer_init(struct dmda_writer *writer, const struct dmda_super *super)
{
	memset(writer, 0, sizeof(*writer));
	writer->super = super;
	for (int i = 0; i < DMDA_NR_STREAMS; i++)
		writer->open[i].seg = SEG_NONE;
	for (u32 i = 0; i < DMDA_MAX_CUTS; i++)
		writer->rest[i] = LPN_NONE;
}

void dmda_writer_open(struct dmda_writer *writer, enum dmda_stream stream, seg_t seg, u32 page)
{
	writer->open[stream].seg = seg;
	writer->open[stream].next_page = page;
	writer->open[stream].nr_opened += seg != SEG_NONE;
}

seg_t dmda_writer_resume(struct dmda_writer *writer, enum dmda_stream stream,
			 const struct dmda_opened *opened)
{
	const struct dmda_segments *segments = opened->segments;
	u32 page = dmda_super_data_pages(writer->super);
	seg_t seg = SEG_NONE;

	for (u32 i = 0; i < segments->nr_segments; i++) {
		const struct dmda_segment *segment = &segments->segment[i];

		if (segment->state != DMDA_SEGMENT_OPEN || segment->open / 2 != stream ||
		    dmda_opened_end(opened, segment->open) >= page)
			continue;
		page = dmda_opened_end(opened, segment->open);
		seg = to_seg(i);
		/* The next one takes the other summary. */
		writer->open[stream].nr_opened = segment->open % 2;
	}
	if (seg != SEG_NONE)
		dmda_writer_open(writer, stream, seg, page);
	return seg;
}

u32 dmda_writer_places_left(const struct dmda_writer *writer, enum dmda_stream stream)
{
	if (writer->open[stream].seg == SEG_NONE)
		return 0;
	return dmda_super_data_pages(writer->super) - writer->open[stream].next_page;
}

u64 dmda_writer_room(const struct dmda_writer *writer, enum dmda_stream stream,
		     const struct dmda_segments *segments)
{
	return dmda_writer_places_left(writer, stream) +
		(u64)segments->nr_free * dmda_super_data_pages(writer->super);
}

u32 dmda_writer_take(struct dmda_writer *writer, enum dmda_stream stream, u32 nr_pages,
		     dpn_t *dpn)
{
	u32 page = writer->open[stream].next_page;
	seg_t seg = writer->open[stream].seg;

	if (seg == SEG_NONE)
		return 0;
	nr_pages = min(nr_pages, dmda_super_data_pages(writer->super) - page);
	*dpn = to_dpn(from_dpn(dmda_super_segment_dpn(writer->super, seg)) + page);
	writer->open[stream].next_page += nr_pages;
	return nr_pages;
}

void dmda_writer_cut(struct dmda_writer *writer, lpn_t rest)
{
	lpn_t *oldest = &writer->rest[writer->nr_cuts++ % DMDA_MAX_CUTS];

	writer->nr_rests += *oldest == LPN_NONE;
	*oldest = rest;
}

bool dmda_writer_take_rest(struct dmda_writer *writer, lpn_t first)
{
	for (u32 i = 0; i < DMDA_MAX_CUTS; i++) {
		if (writer->rest[i] != first)
			continue;
		writer->rest[i] = LPN_NONE;
		writer->nr_rests--;
		return true;
	}
	return false;
}
