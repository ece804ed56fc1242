/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kinds of data in log mode, by how long it is likely to stay as it is. Each has a segment of its
 * own (writer.h), and a placement handle of its own where the device below keeps these apart
 * (fdp.h).
 */
#ifndef DMDA_STREAM_H
#define DMDA_STREAM_H

/* What was just written is likely to be written again; what survived a cleaning is not. */
enum dmda_stream {
	DMDA_STREAM_USER,
	DMDA_STREAM_MOVED,
	DMDA_NR_STREAMS,
};

#endif /* DMDA_STREAM_H */
