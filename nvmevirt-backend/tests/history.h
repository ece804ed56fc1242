/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a page was, for suites in which the power fails: which of it a drive may have then.
 */
#ifndef TESTS_HISTORY_H
#define TESTS_HISTORY_H

#include <kunit/test.h>

#define MAX_VERSIONS	40

/**
 * struct version - something that a page was
 * @seq: number of its data, 0 when it was trimmed
 * @done_ns: when its command was complete
 * @durable_ns: when it was promised to be durable, U64_MAX if not yet
 */
struct version {
	u64 seq;
	u64 done_ns;
	u64 durable_ns;
};

/**
 * struct history - what a page was, the newest last
 * @nr: entries of @version
 * @version: begins with what was promised last when the history was cut short
 */
struct history {
	u32 nr;
	struct version version[MAX_VERSIONS];
};

/* The newest version that is promised; those before it do not matter any more. */
static inline void forget_older(struct history *history, u64 now_ns)
{
	u32 promised = 0;

	for (u32 i = 0; i < history->nr; i++) {
		if (history->version[i].durable_ns <= now_ns)
			promised = i;
	}
	history->nr -= promised;
	memmove(history->version, history->version + promised,
		history->nr * sizeof(*history->version));
}

static inline void put_version(struct kunit *test, struct history *history,
			       const struct version *version, u64 now_ns)
{
	if (history->nr == MAX_VERSIONS)
		forget_older(history, now_ns);
	KUNIT_ASSERT_LT(test, history->nr, (u32)MAX_VERSIONS);
	history->version[history->nr++] = *version;
}

static inline bool is_allowed(const struct history *history, u64 seq)
{
	/* Never written, or nothing promised yet */
	if (!history->nr || (!seq && history->version[0].durable_ns == U64_MAX))
		return !seq;
	for (u32 i = 0; i < history->nr; i++) {
		if (history->version[i].seq == seq)
			return true;
	}
	return false;
}

#endif /* TESTS_HISTORY_H */
