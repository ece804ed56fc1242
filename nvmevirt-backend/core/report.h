/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the drive tells of itself in vendor log pages, as <dieaware/log.h> lays it out.
 */
#ifndef FTL_REPORT_H
#define FTL_REPORT_H

#include <dieaware/log.h>

#include "ftl.h"

/**
 * ftl_report_map() - where pages are
 * @ftl: the drive
 * @first: first page
 * @nr_pages: number of pages, which must exist
 * @entry: gets an entry for each
 */
void ftl_report_map(const struct ftl *ftl, lpn_t first, u32 nr_pages,
		    struct dieaware_map_entry *entry);

/**
 * ftl_report_dof() - degree of physical fragmentation of a range
 * @ftl: the drive
 * @first: first page
 * @nr_pages: number of pages, at most FTL_DOF_MAX_PAGES; they must exist
 * @memory: ftl_dof_bytes() bytes to work in
 * @entry: gets the answer
 */
void ftl_report_dof(const struct ftl *ftl, lpn_t first, u32 nr_pages, void *memory,
		    struct dieaware_dof_entry *entry);

/**
 * ftl_report_defrag() - how full the defrag log is
 * @ftl: a drive that has one
 * @log: gets the answer
 */
void ftl_report_defrag(const struct ftl *ftl, struct dieaware_log_defrag *log);

/**
 * ftl_report_wear_bytes() - length of the wear log
 */
size_t ftl_report_wear_bytes(const struct ftl *ftl);

/**
 * struct ftl_report_part - a part of a log
 * @first: offset of its first byte
 * @bytes: length
 * @data: its bytes
 */
struct ftl_report_part {
	u64 first;
	u32 bytes;
	void *data;
};

/**
 * ftl_report_wear() - a part of the wear log: erase counts of dies and blocks
 * @ftl: the drive
 * @rated_cycles: erases after which a block counts as used up
 * @part: what is asked for; what of it is behind the log's end is left as it is
 *
 * Return: of how many dies and blocks entries were made: of those that the part has something of.
 * One of a die takes a look at all its blocks.
 */
u32 ftl_report_wear(const struct ftl *ftl, u32 rated_cycles, struct ftl_report_part *part);

#endif /* FTL_REPORT_H */
