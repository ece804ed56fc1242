/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bad erase blocks: those of the factory, and those whose program or erase fails.
 *
 * Each die keeps ftl_params.spare_eblks blocks beyond what its pages and collection need.
 * The factory's bad blocks come out of these. A block whose program fails is doomed: its
 * stream goes on in another one, with the unit that failed, and collection moves what
 * is valid in it as soon as there is room. Then, or when its erase fails, it is bad and
 * never used again. When a die has lost more blocks than it had to spare, the drive can
 * only be read: the controller has to refuse writes.
 *
 * A failure that was asked for waits while the die has fewer than two free blocks, or
 * a doomed one: what a drive does in that state is not modelled.
 */
#ifndef FTL_BAD_H
#define FTL_BAD_H

#include "state.h"

/**
 * ftl_bad_init() - mark the blocks that are bad from the factory
 */
void ftl_bad_init(struct ftl *ftl);

/**
 * ftl_bad_program() - does this program fail?
 * @flash_unit: unit that @stream is about to be programmed to
 * @start_ns: time at which its data is complete
 *
 * Return: whether it does; its time is spent then, and its block is doomed.
 */
bool ftl_bad_program(struct ftl *ftl, u32 flash_unit, enum ftl_stream stream, u64 start_ns);

/**
 * ftl_bad_erase() - does this erase fail?
 * @die: the die that was told to erase
 */
bool ftl_bad_erase(struct ftl *ftl, die_t die);

#endif /* FTL_BAD_H */
