/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The underlying device: whether a target can be put on it, and where the target lies.
 */
#ifndef DMDA_UNDERLYING_H
#define DMDA_UNDERLYING_H

#include <linux/types.h>

struct dmda;

/**
 * dmda_underlying_complaint() - why the target cannot be on its device
 * @dmda: the target; its device is open
 *
 * Context: may sleep.
 * Return: NULL, or a complete sentence.
 */
const char *dmda_underlying_complaint(struct dmda *dmda);

/**
 * dmda_underlying_locate() - find out where the target lies on the disk, and in which blocks
 * @dmda: gets it
 *
 * Context: no bio is under way.
 * Return: whether that has changed.
 */
bool dmda_underlying_locate(struct dmda *dmda);

/**
 * dmda_underlying_has_moved() - is that another place by now, or are these other blocks?
 * @dmda: the target; it may have been formatted while it is at work
 *
 * Context: any.
 */
bool dmda_underlying_has_moved(const struct dmda *dmda);

#endif /* DMDA_UNDERLYING_H */
