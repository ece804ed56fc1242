/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which file a bio belongs to, and where in it the bio begins: asked in map, answered from the
 * bio's own pages or from what the filesystem has said just before. Nothing is kept of pages
 * and inodes but numbers.
 */
#ifndef DMDA_IDENTITY_H
#define DMDA_IDENTITY_H

#include "core/units.h"

struct bio;
struct dmda;

/**
 * enum dmda_source - how the file of a write was found out
 * @DMDA_SOURCE_PAGE: the page cache
 * @DMDA_SOURCE_IOMAP: what the filesystem mapped
 * @DMDA_SOURCE_ADJACENCY: nothing but the place of an earlier write
 * @DMDA_SOURCE_METADATA: not file data, never hinted
 * @DMDA_SOURCE_UNKNOWN: data of an unknown file
 */
enum dmda_source {
	DMDA_SOURCE_PAGE,
	DMDA_SOURCE_IOMAP,
	DMDA_SOURCE_ADJACENCY,
	DMDA_SOURCE_METADATA,
	DMDA_SOURCE_UNKNOWN,
};

/**
 * struct dmda_identity - what the beginning of a bio is
 * @source: how that is known
 * @file: the file; anonymous for METADATA and UNKNOWN
 * @ino: its inode number, for the tracepoint
 * @pos_bytes: place of the bio's first byte in the file
 * @len_bytes: bytes of the bio that go on in the file
 */
struct dmda_identity {
	enum dmda_source source;
	struct dmda_file file;
	u64 ino;
	u64 pos_bytes;
	u32 len_bytes;
};

/**
 * dmda_identify_write() - which file a write belongs to
 * @dmda: the target
 * @bio: the write, not remapped yet
 * @identity: the answer
 *
 * Context: from map.
 */
void dmda_identify_write(struct dmda *dmda, struct bio *bio, struct dmda_identity *identity);

/**
 * dmda_identify_read() - which file a read of the page cache fetches
 * @bio: the read, not remapped yet
 * @identity: the answer; source PAGE
 *
 * Context: from map.
 * Return: whether all of the bio is one piece of a known file.
 */
bool dmda_identify_read(struct bio *bio, struct dmda_identity *identity);

#endif /* DMDA_IDENTITY_H */
