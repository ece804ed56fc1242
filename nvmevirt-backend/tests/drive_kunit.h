/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What suites that work on whole drives share: drives that are freed with the test,
 * commands in one line, and the shapes as parameters of a case.
 */
#ifndef TESTS_DRIVE_KUNIT_H
#define TESTS_DRIVE_KUNIT_H

#include <kunit/test.h>

#include "drive.h"

static inline void describe_shape(const struct drive_shape *shape, char *desc)
{
	strscpy(desc, shape->name, KUNIT_PARAM_DESC_SIZE);
}

static inline const struct drive_shape *shape_of(struct kunit *test)
{
	return test->param_value;
}

/* It is in one piece, and the kernel has none of more than a few MiB. */
static inline void *drive_memory(struct kunit *test, const struct ftl_params *params)
{
	void *memory = kunit_kzalloc(test, ftl_bytes(params), GFP_KERNEL | __GFP_NOWARN);

	if (!memory)
		kunit_skip(test, "There is no memory of that size.");
	return memory;
}

static inline struct ftl *make_drive(struct kunit *test, const struct ftl_params *params)
{
	const char *reason = ftl_params_check(params);

	KUNIT_ASSERT_NULL_MSG(test, reason, "%s", reason);
	return ftl_init(params, drive_memory(test, params), 0);
}

static inline struct ftl *make_shape(struct kunit *test)
{
	struct ftl_params params = drive_params(shape_of(test));

	return make_drive(test, &params);
}

static inline struct ftl_request request(u64 first, u32 nr_pages)
{
	struct ftl_request rq = {
		.first = to_lpn(first),
		.nr_pages = nr_pages,
		.bytes = nr_pages * FTL_PAGE_BYTES,
		.pred = LPN_NONE,
	};

	return rq;
}

static inline u64 write_plain(struct ftl *ftl, u64 first, u32 nr_pages)
{
	struct ftl_request rq = request(first, nr_pages);

	return ftl_write(ftl, &rq, 0);
}

static inline u64 write_append(struct ftl *ftl, u64 first, u32 nr_pages, u64 pred)
{
	struct ftl_request rq = request(first, nr_pages);

	rq.hint = FTL_HINT_APPEND;
	rq.pred = to_lpn(pred);
	return ftl_write(ftl, &rq, 0);
}

static inline u64 write_begin(struct ftl *ftl, u64 first, u32 nr_pages)
{
	struct ftl_request rq = request(first, nr_pages);

	rq.hint = FTL_HINT_BEGIN;
	return ftl_write(ftl, &rq, 0);
}

static inline u64 write_over(struct ftl *ftl, u64 first, u32 nr_pages)
{
	struct ftl_request rq = request(first, nr_pages);

	rq.hint = FTL_HINT_OVERWRITE;
	return ftl_write(ftl, &rq, 0);
}

static inline u64 write_to_die(struct ftl *ftl, u64 first, u32 nr_pages, u32 die)
{
	struct ftl_request rq = request(first, nr_pages);

	rq.hint = FTL_HINT_DIE;
	rq.die = to_die(die);
	return ftl_write(ftl, &rq, 0);
}

static inline u64 write_all_to_die(struct ftl *ftl, u64 first, u32 nr_pages, u32 die)
{
	struct ftl_request rq = request(first, nr_pages);

	rq.hint = FTL_HINT_ALL_DIE;
	rq.die = to_die(die);
	return ftl_write(ftl, &rq, 0);
}

/* Read the first pages of a drive in order, one command at a time. Return: when it is done. */
static inline u64 read_in_order(struct ftl *ftl, u64 nr_pages, u32 step, u64 now_ns)
{
	for (u64 lpn = 0; lpn < nr_pages; lpn += step) {
		struct ftl_request rq = request(lpn, step);

		now_ns = ftl_read(ftl, &rq, now_ns);
	}
	return now_ns;
}

static inline void trim(struct ftl *ftl, u64 first, u64 nr_pages)
{
	ftl_trim(ftl, to_lpn(first), nr_pages, 0);
}

static inline u32 die_of(const struct ftl *ftl, u64 lpn)
{
	return from_die(ftl_die_of(ftl, to_lpn(lpn)));
}

static inline u64 unit_of(const struct ftl *ftl, u64 lpn)
{
	return ftl_unit_of(ftl, to_lpn(lpn));
}

/* The place of a page within its unit. */
static inline u32 slot_of(const struct ftl *ftl, u64 lpn)
{
	return (u32)from_ppn(ftl_l2p_get(&ftl->map, to_lpn(lpn))) % ftl->geo.unit_pages;
}

/* The open unit that holds a page, or NULL if the page is on NAND. */
static inline const struct ftl_unit *open_unit_of(const struct ftl *ftl, u64 lpn)
{
	ppn_t ppn = ftl_l2p_get(&ftl->map, to_lpn(lpn));

	return ftl_ppn_is_buffered(&ftl->geo, ppn) ? ftl_units_of(&ftl->units, ppn) : NULL;
}

static inline bool is_on_nand(const struct ftl *ftl, u64 lpn)
{
	return ftl_is_mapped(ftl, to_lpn(lpn)) && !open_unit_of(ftl, lpn);
}

static inline struct ftl_stats stats_of(const struct ftl *ftl)
{
	struct ftl_stats stats;

	ftl_get_stats(ftl, &stats);
	return stats;
}

#define EXPECT_CONSISTENT(test, ftl) do {					\
	const char *reason_ = ftl_check(ftl);					\
										\
	KUNIT_EXPECT_NULL_MSG(test, reason_, "%s", reason_);			\
} while (0)

static inline void cut_power(struct kunit *test, struct ftl *ftl, u64 now_ns)
{
	const char *reason;

	ftl_power_cut(ftl, now_ns);
	reason = ftl_rebuild(ftl, now_ns);
	KUNIT_ASSERT_NULL_MSG(test, reason, "%s", reason);
	EXPECT_CONSISTENT(test, ftl);
}

/* A state for next_random(); cases print it when they draw their input. */
static inline u32 next_random32(u64 *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

#endif /* TESTS_DRIVE_KUNIT_H */
