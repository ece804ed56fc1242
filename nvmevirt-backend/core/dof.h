/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Degree of physical fragmentation of a set of pages, DoF_P of Hahn et al., "Improving File
 * System Performance of Mobile Storage Systems Using a Decoupled Defragmenter", USENIX ATC
 * 2017, section 4: 1 less the parallelism with which the pages are read, as a share of what
 * the drive could give.
 *
 * Here the steps of a read are senses: of the die that has the most flash units of the
 * set, each takes one. With @best, the steps that the same pages would take if they filled
 * whole units that are spread evenly,
 *
 *	DoF_P = 1 - best / steps
 *
 * So it is 0 where the pages can be read as fast as the drive can; on M dies it is
 * 1 - 1/M when whole stripes sit on a single one. Pages scattered over many units of a die
 * count as what they cost: up to 1 - 1/(M * pages of a unit).
 *
 * Pages that are not mapped are not part of the set. Buffered ones count as where they
 * are going to be.
 */
#ifndef FTL_DOF_H
#define FTL_DOF_H

#include "ftl.h"

/**
 * struct ftl_dof - a set of pages while it is counted
 * @ftl: the drive
 * @nr_pages: number of mapped pages so far
 * @nr_units: number of flash units that they are in
 * @most_units: number of flash units of the die that has the most
 * @die_units: number of flash units, by die
 * @unit: hash table of the units, each its number plus one; 0 is a free slot
 * @hash_bits: log2 of the size of @unit
 */
struct ftl_dof {
	const struct ftl *ftl;
	u64 nr_pages;
	u32 nr_units;
	u32 most_units;
	u32 *die_units;
	u32 *unit;
	u32 hash_bits;
};

/*
 * 256 MiB; the table is 1 MiB then. Whoever asks has the drive wait until all are counted: so many
 * take a few milliseconds.
 */
#define FTL_DOF_MAX_PAGES	65536U

/**
 * ftl_dof_bytes() - memory to count a set
 * @ftl: the drive
 * @nr_pages: most pages that will be added, at most FTL_DOF_MAX_PAGES
 */
size_t ftl_dof_bytes(const struct ftl *ftl, u32 nr_pages);

/**
 * ftl_dof_init() - begin with an empty set
 * @dof: the set
 * @ftl: the drive; must not change until the last page was added
 * @nr_pages: most pages that will be added, as for ftl_dof_bytes()
 * @zeroed: ftl_dof_bytes() bytes
 */
void ftl_dof_init(struct ftl_dof *dof, const struct ftl *ftl, u32 nr_pages, void *zeroed);

/**
 * ftl_dof_add() - add pages
 * @dof: the set
 * @first: first of the pages, which must exist
 * @nr_pages: number of pages
 */
void ftl_dof_add(struct ftl_dof *dof, lpn_t first, u32 nr_pages);

/**
 * ftl_dof_best() - senses in turn if the pages were spread as well as they can be
 */
u32 ftl_dof_best(const struct ftl_dof *dof);

/**
 * ftl_dof_permille() - DoF_P of the pages that were added
 * Return: thousandths, [0, 1000); 0 for no pages.
 */
u32 ftl_dof_permille(const struct ftl_dof *dof);

#endif /* FTL_DOF_H */
