/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bio's life in hint mode: where hint-mode.c hands it over. See hint-io.c.
 */
#ifndef DMDA_HINT_IO_H
#define DMDA_HINT_IO_H

struct bio;
struct dmda;

/**
 * dmda_hint_map() - a bio's way through hint mode
 * @dmda: the target
 * @bio: the bio as dm passes it to map
 *
 * Context: from map.
 * Return: DM_MAPIO_REMAPPED, or DM_MAPIO_SUBMITTED if the write is held to be shared.
 */
int dmda_hint_map(struct dmda *dmda, struct bio *bio);

#endif /* DMDA_HINT_IO_H */
