/* SPDX-License-Identifier: GPL-2.0-only */
/* What suites that compute for long ask of the kernel's scheduler. */
#ifndef SHIM_LINUX_SCHED_H
#define SHIM_LINUX_SCHED_H

#define cond_resched()	do { } while (0)

#endif /* SHIM_LINUX_SCHED_H */
