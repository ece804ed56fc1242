/* SPDX-License-Identifier: GPL-2.0-only */
/* A count of changes: odd while something changes, another one when it has. */
#ifndef SHIM_SEQLOCK_H
#define SHIM_SEQLOCK_H

typedef struct {
	unsigned int sequence;
} seqcount_t;

static inline void raw_write_seqcount_begin(seqcount_t *count)
{
	__atomic_store_n(&count->sequence, count->sequence + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void raw_write_seqcount_end(seqcount_t *count)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&count->sequence, count->sequence + 1, __ATOMIC_RELAXED);
}

static inline unsigned int raw_read_seqcount(const seqcount_t *count)
{
	return __atomic_load_n(&count->sequence, __ATOMIC_ACQUIRE);
}

static inline int read_seqcount_retry(const seqcount_t *count, unsigned int begun)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&count->sequence, __ATOMIC_RELAXED) != begun;
}

#endif /* SHIM_SEQLOCK_H */
