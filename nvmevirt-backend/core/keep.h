/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A drive in a state file, from which any number of drives begin as it was left.
 *
 *	block 0         head: magic and version, the drive's parameters, its namespaces
 *	blocks 1 ...    state of the FTL (keep-state.c): a sequence of numbers
 *	then            data pages: an index of FTL_KEEP_INDEX_PAGES at most, with checksums and
 *	                marks, the pages themselves, the next index ...
 *	at the end      an index of no page
 *
 * All blocks but those with data pages are sealed with their number in the file, as those of a
 * backing file are (image.h). Both differ in what they are for: a backing file is one drive's,
 * which is in it half of its life, and the place of each of its blocks is fixed; a state file is
 * written once, from the beginning to its end, and read as often as somebody likes. And it has
 * more: what a rebuild after power off works out anew, such as which block is collected next, is
 * in it as it was, so that two drives that get the same commands afterwards stay the same.
 *
 * A drive is at rest when it is written (rest.h). Numbers are in the byte order of the machine.
 */
#ifndef FTL_KEEP_H
#define FTL_KEEP_H

#include "ftl.h"
#include "keep-blocks.h"

#define FTL_KEEP_NAMESPACES	16U
#define FTL_KEEP_INDEX_PAGES	251U

/**
 * struct ftl_keep_layout - namespaces of a drive
 * @nr: number of namespaces, [1, FTL_KEEP_NAMESPACES]
 * @nr_pages: number of pages of each
 */
struct ftl_keep_layout {
	u32 nr;
	u64 nr_pages[FTL_KEEP_NAMESPACES];
};

/**
 * ftl_keep_save() - write a drive without its data
 * @keep: @move, @context and @block are set
 * @ftl: the drive; what it has in a volatile buffer is flushed, and it is at rest afterwards
 *
 * ftl_keep_save_pages() has to follow.
 *
 * Return: NULL, or a complete sentence.
 */
const char *ftl_keep_save(struct ftl_keep *keep, struct ftl *ftl,
			  const struct ftl_keep_layout *layout);

/**
 * ftl_keep_save_pages() - write the data and the end of the file
 * @page_of: gives the data of a page, and sets its marks, or NULL; data that does not change until
 *	this returns. NULL: no page has any.
 * @context: first argument of @page_of
 *
 * Return: NULL, or a complete sentence.
 */
const char *ftl_keep_save_pages(struct ftl_keep *keep, u64 nr_lpns,
				const void *(*page_of)(void *context, u64 lpn, u8 *marks),
				void *context);

/**
 * ftl_keep_load() - make a drive what is in a file
 * @keep: @move, @context and @block are set
 * @ftl: a new drive
 * @layout: the drive's namespaces, or NULL if it has any that the file's has
 * @now_ns: present time
 *
 * A file with out-of-band data is also one for a drive that keeps none, unless pages share places.
 * ftl_keep_load_pages() has to follow.
 *
 * Return: NULL, or a complete sentence that says why not; @ftl cannot be used then.
 */
const char *ftl_keep_load(struct ftl_keep *keep, struct ftl *ftl,
			  const struct ftl_keep_layout *layout, u64 now_ns);

/**
 * ftl_keep_load_pages() - read the data, up to the end of the file
 * @page: memory of a page
 * @take: takes the data of a page and gives NULL, or a complete sentence that ends it all
 * @context: first argument of @take
 *
 * Return: NULL, or a complete sentence.
 */
const char *ftl_keep_load_pages(struct ftl_keep *keep, u64 nr_lpns, void *page,
				const char *(*take)(void *context, u64 lpn, const void *page,
						    u8 marks),
				void *context);

#endif /* FTL_KEEP_H */
