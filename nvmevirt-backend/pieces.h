/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands that name LBAs and transfer no data for them, in pieces.
 *
 * Write Zeroes, Write Uncorrectable, Verify and Copy can name 65536 LBAs at once, as no limit on
 * transfers is one for them, and a page takes some hundred nanoseconds to be written again or
 * looked at, and more to be copied. So what is long is done a piece at a time, and between two
 * pieces the dispatcher serves the queues. Several such commands take turns. One that is not
 * complete may have done a part of what it is to do.
 */
#ifndef NVMEV_PIECES_H
#define NVMEV_PIECES_H

#include <linux/types.h>

struct nvmev;
struct nvmev_cmd;
struct nvmev_ns;

/* Pages of a piece: what the FTL takes at once, which is a quarter of a millisecond or a half */
#define NVMEV_PIECE_PAGES	1024U

/* Pages of a piece of a Copy, each of which is read, written and copied */
#define NVMEV_COPY_PAGES	256U

/* Pages of a command that is done whole: a batch of such commands is not more than four pieces. */
#define NVMEV_WHOLE_PAGES	64U

/**
 * nvmev_pieces_begin() - a command is going to be done in pieces
 * @nvmev: the SSD
 * @cmd: the command, of which nothing is done yet; it is completed with the last piece
 */
void nvmev_pieces_begin(struct nvmev *nvmev, struct nvmev_cmd *cmd);

/**
 * nvmev_pieces_end() - a command has had its last piece, or is not gone on with
 * @nvmev: the SSD
 * @cmd: the command; @status is set. It is not the caller's any more.
 */
void nvmev_pieces_end(struct nvmev *nvmev, struct nvmev_cmd *cmd);

/**
 * nvmev_pieces_abort() - let a command, or all of a queue, end as aborted
 * @nvmev: the SSD
 * @sqid: the queue
 * @cid: the command's identifier, or NVMEV_ANY_CID
 * @status: status that it gets; its completion is due, if it was not made to take longer
 *
 * Return: was there one?
 */
bool nvmev_pieces_abort(struct nvmev *nvmev, u16 sqid, u32 cid, u16 status);

/**
 * nvmev_pieces_are_of() - is there a command of a namespace?
 * @nvmev: the SSD
 * @ns: the namespace
 */
bool nvmev_pieces_are_of(const struct nvmev *nvmev, const struct nvmev_ns *ns);

#endif /* NVMEV_PIECES_H */
