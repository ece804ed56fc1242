// SPDX-License-Identifier: GPL-2.0-only
/* Ages of segments, and what they say of data that replaces something. See lifetime.h. */
#include "lifetime.h"

/* Shares of what is valid: what was written since then is less for hot, and for warm data. */
#define HOT_SHARE	16U
#define WARM_SHARE	2U

size_t dmda_lifetimes_bytes(const struct dmda_super *super)
{
	return dmda_super_nr_segments(super) * sizeof(u32);
}

void dmda_lifetimes_init(struct dmda_lifetimes *lifetimes, const struct dmda_super *super,
			 void *zeroed)
{
	*lifetimes = (struct dmda_lifetimes){ .super = super, .born = zeroed };
}

bool dmda_lifetimes_fit(const struct dmda_super *super, u32 nr_segments)
{
	return nr_segments >= DMDA_LIFETIME_RESERVE &&
	       super->nr_lpns <= (u64)(nr_segments - DMDA_LIFETIME_RESERVE) *
				 dmda_super_data_pages(super);
}

void dmda_lifetimes_opened(struct dmda_lifetimes *lifetimes, seg_t seg, enum dmda_stream stream)
{
	lifetimes->nr_opened++;
	lifetimes->born[from_seg(seg)] = dmda_stream_is_users(stream) ? lifetimes->nr_opened : 0;
}

enum dmda_stream dmda_lifetimes_kind(const struct dmda_lifetimes *lifetimes, seg_t seg,
				     u64 nr_valid)
{
	u32 born = lifetimes->born[from_seg(seg)];
	u64 age;

	if (!born)
		return DMDA_STREAM_USER;
	age = (u64)(lifetimes->nr_opened - born) * dmda_super_data_pages(lifetimes->super);
	if (age < div_u64(nr_valid, HOT_SHARE))
		return DMDA_STREAM_HOT;
	return age < div_u64(nr_valid, WARM_SHARE) ? DMDA_STREAM_WARM : DMDA_STREAM_USER;
}

static bool has_places(const struct dmda_writer *writer, enum dmda_stream stream, u32 least)
{
	return dmda_writer_places_left(writer, stream) >= least;
}

/* Any segment of users' that has places; or theirs, which gets the next one that is free */
static enum dmda_stream any_place(const struct dmda_writer *writer, u32 least)
{
	for (u32 stream = 0; stream < DMDA_NR_STREAMS; stream++) {
		if (dmda_stream_is_users(stream) && has_places(writer, stream, least))
			return stream;
	}
	return DMDA_STREAM_USER;
}

enum dmda_stream dmda_lifetimes_place(const struct dmda_writer *writer, enum dmda_stream kind,
				      u32 least, u32 nr_spare)
{
	return has_places(writer, kind, least) || nr_spare ? kind : any_place(writer, least);
}
