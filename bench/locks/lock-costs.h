/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts what dm-dieaware does inside spinlocks that are taken with interrupts off: how often each
 * function takes one, how long it holds it, and the longest time. Included before every source
 * file of a module that is built by "scripts/modules --lock-costs"; no other has it.
 *
 * A time is in ticks of the TSC, which are instructions in the lab's virtual time. There is one
 * CPU then, so that at most one lock is held, and it is who holds it that counts.
 */
#ifndef DMDA_LOCK_COSTS_H
#define DMDA_LOCK_COSTS_H

#include <linux/spinlock.h>

/**
 * struct lock_site - a function that takes a lock
 * @name: the function's
 * @is_known: whether it is in the list of all
 * @list: link in that list
 * @nr: how often it let go of a lock
 * @ticks: how long it held them
 * @max_ticks: how long it held one at most
 */
struct lock_site {
	const char *name;
	bool is_known;
	struct list_head list;
	u64 nr;
	u64 ticks;
	u64 max_ticks;
};

/* A lock was just taken, and is about to be let go of. */
void lock_costs_begin(struct lock_site *site);
void lock_costs_end(void);

#define lock_costs_begin_here()						\
	do {								\
		static struct lock_site lock_site_ = { .name = __func__ };	\
									\
		lock_costs_begin(&lock_site_);				\
	} while (0)

/* In parentheses a name is the kernel's own function, for no macro is named so. */
#define spin_lock_irq(lock)						\
	do {								\
		(spin_lock_irq)(lock);					\
		lock_costs_begin_here();				\
	} while (0)

#define spin_unlock_irq(lock)						\
	do {								\
		lock_costs_end();					\
		(spin_unlock_irq)(lock);				\
	} while (0)

#undef spin_lock_irqsave
#define spin_lock_irqsave(lock, flags)					\
	do {								\
		raw_spin_lock_irqsave(spinlock_check(lock), flags);	\
		lock_costs_begin_here();				\
	} while (0)

#define spin_unlock_irqrestore(lock, flags)				\
	do {								\
		lock_costs_end();					\
		(spin_unlock_irqrestore)(lock, flags);			\
	} while (0)

#endif /* DMDA_LOCK_COSTS_H */
