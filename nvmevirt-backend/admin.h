/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Admin commands: those that make queues, ask for data about the drive, and change it as a
 * whole. The dispatcher executes one at a time.
 */
#ifndef NVMEV_ADMIN_H
#define NVMEV_ADMIN_H

struct nvme_command;
struct nvmev;

/**
 * nvmev_admin_execute() - execute one admin command and complete it
 * @nvmev: the SSD
 * @sqe: the command
 */
void nvmev_admin_execute(struct nvmev *nvmev, const struct nvme_command *sqe);

#endif /* NVMEV_ADMIN_H */
