/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Preconditioning of an SSD that is switched off (core/precondition.h): its FTL does what writes of
 * a host would have it do, and no data is moved.
 *
 * It is for SSDs that are off so that nobody else is at the FTL: there is no dispatcher then, no
 * command in flight, and nobody waits for one.
 */
#ifndef NVMEV_PRECONDITION_H
#define NVMEV_PRECONDITION_H

#include "core/precondition.h"

struct nvmev;

/**
 * nvmev_precondition() - fill and overwrite all namespaces
 * @nvmev: the SSD, switched off and undamaged
 * @fill_percent: share of each namespace that is filled, from its first LBA on, [1, 100]
 * @random_percent: pages that are overwritten, in percent of the filled ones
 * @seed: seed of the generator of random numbers
 * @reason: gets a complete sentence if it is not done, or not all; NVMEV_REASON_BYTES long
 *
 * What is filled reads as zeroes afterwards.
 *
 * Context: sleeps; ends before its time if the process gets a signal.
 * Return: 0, -EROFS, -EINTR, or what writing a backing file gives.
 */
int nvmev_precondition(struct nvmev *nvmev, u32 fill_percent, u32 random_percent, u64 seed,
		       char *reason);

#endif /* NVMEV_PRECONDITION_H */
