/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is known of the data of a bio: the answer of identity.c, which looks at the bio's pages, and
 * of fsmap.c, which it asks when these do not say.
 */
#ifndef DMDA_IDENTIFIED_H
#define DMDA_IDENTIFIED_H

#include <linux/types.h>

#include "core/units.h"

/**
 * enum dmda_source - source from which the file of a write is known
 * @DMDA_SOURCE_PAGE: the page itself, which is of the page cache
 * @DMDA_SOURCE_IOMAP: the filesystem's mapping for direct I/O
 * @DMDA_SOURCE_ADJACENCY: none but the place of an earlier write, where this one goes on
 * @DMDA_SOURCE_METADATA: none: no data of a file, and never hinted
 * @DMDA_SOURCE_UNKNOWN: none: data of an unknown file
 * @DMDA_NR_SOURCES: number of these
 */
enum dmda_source {
	DMDA_SOURCE_PAGE,
	DMDA_SOURCE_IOMAP,
	DMDA_SOURCE_ADJACENCY,
	DMDA_SOURCE_METADATA,
	DMDA_SOURCE_UNKNOWN,
	DMDA_NR_SOURCES,
};

/**
 * struct dmda_identity - identity of the data that a bio begins with
 * @source: enum dmda_source
 * @file: the file; anonymous for METADATA and UNKNOWN
 * @ino: inode number of @file, for the tracepoint
 * @pos_bytes: offset in the file of the bio's first byte
 * @len_bytes: number of bytes of the bio that go on in the file
 */
struct dmda_identity {
	enum dmda_source source;
	struct dmda_file file;
	u64 ino;
	u64 pos_bytes;
	u32 len_bytes;
};

/* No file is known; how long it goes on like that is left as it is */
static inline void dmda_identity_clear(struct dmda_identity *identity, enum dmda_source source)
{
	identity->source = source;
	identity->file = DMDA_ANONYMOUS;
	identity->ino = 0;
	identity->pos_bytes = 0;
}

#endif /* DMDA_IDENTIFIED_H */
