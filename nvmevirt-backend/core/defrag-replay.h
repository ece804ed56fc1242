/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The replay of the defrag log (defrag.h) after a power failure.
 */
#ifndef FTL_DEFRAG_REPLAY_H
#define FTL_DEFRAG_REPLAY_H

#include "l2p.h"

/**
 * ftl_defrag_replay() - after a power failure, let the log's pages own their data again
 * @map: made from the out-of-band data of all places
 *
 * Return: NULL, or why the log is not one that the drive leaves.
 */
const char *ftl_defrag_replay(struct ftl_l2p *map);

#endif /* FTL_DEFRAG_REPLAY_H */
