/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kinds of data in log mode, by how long it is likely to stay as it is. Each has a segment of its
 * own (writer.h), and a placement handle of its own where the device below keeps these apart
 * (fdp.h).
 */
#ifndef DMDA_STREAM_H
#define DMDA_STREAM_H

#include <dieaware/platform.h>

/**
 * enum dmda_stream - kinds of data
 * @DMDA_STREAM_USER: what users have just written: likely to be written again
 * @DMDA_STREAM_MOVED: what survived a cleaning: not likely to be
 * @DMDA_STREAM_WARM: what users have written over something that was not old (lifetime.h)
 * @DMDA_STREAM_HOT: what they have written over something that was just written
 * @DMDA_NR_STREAMS: number of kinds
 */
enum dmda_stream {
	DMDA_STREAM_USER,
	DMDA_STREAM_MOVED,
	DMDA_STREAM_WARM,
	DMDA_STREAM_HOT,
	DMDA_NR_STREAMS,
};

static inline bool dmda_stream_is_users(enum dmda_stream stream)
{
	return stream != DMDA_STREAM_MOVED;
}

#endif /* DMDA_STREAM_H */
