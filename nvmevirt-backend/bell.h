/* SPDX-License-Identifier: GPL-2.0-only */
/* How an SSD learns that a doorbell is about to be rung. */
#ifndef NVMEV_BELL_H
#define NVMEV_BELL_H

struct nvmev;

/**
 * nvmev_bell_register() - learn of requests when the block layer issues them
 *
 * Return: 0, or -ENOENT if this kernel has no such tracepoint: commands are then found
 * by the slow look only.
 */
int nvmev_bell_register(void);

/**
 * nvmev_bell_unregister() - undo nvmev_bell_register()
 */
void nvmev_bell_unregister(void);

/**
 * nvmev_bell_attach() - tell an SSD of its requests
 * @nvmev: the SSD, its dispatcher started
 */
void nvmev_bell_attach(struct nvmev *nvmev);

/**
 * nvmev_bell_detach() - the opposite
 * @nvmev: the SSD
 *
 * Context: sleeps. It is told of none after this returns.
 */
void nvmev_bell_detach(struct nvmev *nvmev);

#endif /* NVMEV_BELL_H */
