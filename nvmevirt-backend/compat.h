/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between the kernels that this module builds on (6.1 and later). The
 * only file of the module that looks at the kernel's version.
 */
#ifndef NVMEV_COMPAT_H
#define NVMEV_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#include <asm/unaligned.h>
#else
#include <linux/unaligned.h>
#endif

#if !IS_ENABLED(CONFIG_X86_64) || !IS_ENABLED(CONFIG_PCI_MSI)
#error "The virtual SSD needs x86-64 with PCI MSI: it maps RAM as a PCI BAR."
#endif

/* A function makes its MSI domain from a parent's; before, the parent's owner made both. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define NVMEV_HAS_MSI_PARENT	0
#else
#define NVMEV_HAS_MSI_PARENT	1
#include <linux/irqchip/irq-msi-lib.h>
#endif

typedef enum hrtimer_restart (*nvmev_timer_fn)(struct hrtimer *timer);

/**
 * nvmev_timer_setup() - make a high-resolution timer on the monotonic clock ready
 * @timer: the timer
 * @fn: called in hard interrupt context
 */
static inline void nvmev_timer_setup(struct hrtimer *timer, nvmev_timer_fn fn)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	timer->function = fn;
#else
	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
#endif
}

#endif /* NVMEV_COMPAT_H */
