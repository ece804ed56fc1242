/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From what is on the device to a device at work.
 */
#ifndef DMDA_LOG_START_H
#define DMDA_LOG_START_H

#include <linux/types.h>

struct dmda_log;
struct dmda_super;

/**
 * dmda_log_read_super() - find the superblock that counts
 * @super: gets it; undefined if something is wrong
 *
 * Context: may sleep.
 * Return: NULL, or what is wrong.
 */
const char *dmda_log_read_super(struct dmda_log *log, struct dmda_super *super);

/**
 * dmda_log_plan_growth() - the layout that the device would have on all of the one below
 * @super: gets it
 *
 * Return: NULL, or why it cannot grow, as a complete sentence.
 */
const char *dmda_log_plan_growth(const struct dmda_log *log, struct dmda_super *super);

/**
 * dmda_log_may_grow() - would a table that is longer make the device grow?
 * @grown: gets the layout
 *
 * Return: whether that is not refused for another reason than that there is no memory.
 */
bool dmda_log_may_grow(const struct dmda_log *log, struct dmda_super *grown);

/**
 * dmda_log_start() - read root and tables, replay the journal, and go on from there
 * @read_only: whether to change nothing on the device, but in memory only
 *
 * Context: may sleep.
 * Return: NULL, or what is wrong.
 */
const char *dmda_log_start(struct dmda_log *log, bool read_only);

/**
 * dmda_log_read_root() - find the root that counts, and take its entries
 * @grown: layout to which the device is to grow
 *
 * It is refused if it has grown before, by a superblock that is lost, or if what the journal's ring
 * has behind its end shows that operations are lost.
 *
 * Context: may sleep.
 * Return: NULL, or what is wrong.
 */
const char *dmda_log_read_root(struct dmda_log *log, const struct dmda_super *grown);

#endif /* DMDA_LOG_START_H */
