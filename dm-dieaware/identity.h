/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which file a bio belongs to, and where in it the bio begins: asked in map, answered from the
 * bio's own pages or from what the filesystem has said just before. Nothing is kept of pages
 * and inodes but numbers.
 */
#ifndef DMDA_IDENTITY_H
#define DMDA_IDENTITY_H

#include <linux/bio.h>
#include <linux/page-flags.h>

#include "identified.h"

struct dmda;

/*
 * Are these pages of a process? They say nothing of a file then, but the write is data and no
 * metadata.
 */
static inline bool dmda_is_users(const struct bio *bio)
{
	struct folio *folio = page_folio(bvec_iter_page(bio->bi_io_vec, bio->bi_iter));

	return !(bio->bi_opf & REQ_META) && !folio_test_slab(folio) && folio_test_anon(folio);
}

/**
 * dmda_identify_write() - which file a write belongs to
 * @dmda: the target
 * @bio: the write, not remapped yet
 * @identity: the answer
 *
 * Context: from map.
 */
void dmda_identify_write(struct dmda *dmda, struct bio *bio, struct dmda_identity *identity);

/*
 * Does a read fill a page of the page cache? While it does, the page is locked and not up to date.
 * Most reads that are not for the page cache are told apart by this alone, at once.
 */
static inline bool dmda_fills_cache(const struct bio *bio)
{
	struct folio *folio = page_folio(bvec_iter_page(bio->bi_io_vec, bio->bi_iter));

	return folio_test_locked(folio) && !folio_test_uptodate(folio);
}

/**
 * dmda_identify_read() - which file a read of the page cache fetches
 * @bio: the read, not remapped yet, of which dmda_fills_cache() is true
 * @identity: the answer; source PAGE
 *
 * Context: from map.
 * Return: whether all of the bio is one piece of a known file.
 */
bool dmda_identify_read(struct bio *bio, struct dmda_identity *identity);

#endif /* DMDA_IDENTITY_H */
