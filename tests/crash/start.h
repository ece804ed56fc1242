/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Starting a device in log mode from what a power failure left, by the core's own code, in
 * memory: superblock, root, tables, journal. And whether what comes out is consistent.
 */
#ifndef CRASH_START_H
#define CRASH_START_H

#include "disk.h"

struct start;

/**
 * start_create() - memory for starting devices as large as this one
 */
struct start *start_create(struct disk *disk);

/**
 * start_open() - start a device
 * Return: NULL, or what is wrong.
 */
const char *start_open(struct start *start, struct disk *disk);

/**
 * start_check() - do map, segment table and open summaries agree?
 * Return: NULL, or what is wrong.
 */
const char *start_check(struct start *start);

/**
 * start_nr_lpns() - pages that the device presents
 */
u64 start_nr_lpns(const struct start *start);

/**
 * start_where() - where a page is
 * Return: its dpn, or U64_MAX: nowhere, it holds zeroes.
 */
u64 start_where(const struct start *start, u64 lpn);

/**
 * start_journal_end() - the number of the sector behind the journal's last one
 */
u64 start_journal_end(const struct start *start);

/**
 * start_last_batch() - the number of the sector that begins the journal's last batch
 */
u64 start_last_batch(const struct start *start);

/**
 * start_had_draft() - did the journal end with a draft?
 * @counts: gets whether it counts
 */
bool start_had_draft(const struct start *start, bool *counts);

/**
 * start_nr_spare() - segments that are free, or hold nothing any more
 */
u64 start_nr_spare(const struct start *start);

/**
 * start_is_metadata() - is this page of the disk one that starting depends on?
 */
bool start_is_metadata(const struct start *start, u64 dpn);

#endif /* CRASH_START_H */
