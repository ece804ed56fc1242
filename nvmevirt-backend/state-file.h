/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State files of an SSD that is switched off (core/keep.h): its drive is written to one, or made
 * what is in one. Like preconditioning, this is for SSDs that are off so that nobody else is at the
 * FTL.
 */
#ifndef NVMEV_STATE_FILE_H
#define NVMEV_STATE_FILE_H

#include <linux/types.h>

struct nvmev;

/**
 * nvmev_state_save() - write an SSD to a state file
 * @nvmev: the SSD, switched off and undamaged; its drive is at rest afterwards
 * @path: the file, of which there must be none yet
 * @with_data: whether the file gets the data of its pages
 * @reason: gets a complete sentence if it is not done; NVMEV_REASON_BYTES long
 *
 * A file that is not whole stays, and is refused by nvmev_state_load().
 *
 * Context: sleeps; ends before its time if the process gets a signal.
 * Return: 0 or a negative errno.
 */
int nvmev_state_save(struct nvmev *nvmev, const char *path, bool with_data, char *reason);

/**
 * nvmev_state_load() - make an SSD what is in a state file
 * @nvmev: the SSD, as nvmev_create_apart() makes it; it can only be freed if this fails
 * @path: the file
 * @reason: as above
 *
 * Pages of which the file has no data read as zeroes.
 *
 * Context: as above.
 * Return: 0 or a negative errno.
 */
int nvmev_state_load(struct nvmev *nvmev, const char *path, char *reason);

#endif /* NVMEV_STATE_FILE_H */
