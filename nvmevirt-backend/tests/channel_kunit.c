// SPDX-License-Identifier: GPL-2.0-only
#include <kunit/test.h>

#include "../core/channel.c"

#define UNIT_BYTES	32768U
#define UNIT_NS		40960U	/* at 800 MB/s */
#define SEED		11

struct speed {
	const char *name;
	u32 mbps;
	u32 time_scale;
	u32 usual_bytes;
};

static const struct speed speeds[] = {
	{ "channel of fast24",	800, 1, 32768 },
	{ "link of fast24",	3200, 1, 131072 },
	{ "scaled",		800, 16, 32768 },
	{ "slow",		3, 1, 4096 },
	{ "odd",		1217, 7, 20480 },
	{ "small units",	16000, 1, 4096 },
};

static void describe_speed(const struct speed *speed, char *desc)
{
	strscpy(desc, speed->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(speed, speeds, describe_speed);

static struct ftl_bus make_bus(struct kunit *test, const struct speed *speed)
{
	void *memory = kunit_kzalloc(test, ftl_bus_bytes(), GFP_KERNEL);
	struct ftl_bus bus;

	KUNIT_ASSERT_NOT_NULL(test, memory);
	ftl_bus_init(&bus, speed->mbps, speed->time_scale, speed->usual_bytes, memory);
	return bus;
}

/* Time of bytes by plain arithmetic. */
static u64 exact_ns(const struct speed *speed, u64 bytes)
{
	return div_u64(bytes * 1000 * speed->time_scale, speed->mbps);
}

static bool is_close(u64 value, u64 wanted)
{
	return abs_diff(value, wanted) * 200 <= wanted + 400;
}

static void lone_transfer_takes_its_time_wherever_it_starts(struct kunit *test)
{
	const struct speed *speed = test->param_value;
	u64 wanted_ns = exact_ns(speed, speed->usual_bytes);

	for (u32 i = 0; i < 50; i++) {
		struct ftl_bus bus = make_bus(test, speed);
		u64 start_ns = div_u64(wanted_ns * i, 13) + 1000;
		u64 end_ns = ftl_bus_transfer(&bus, speed->usual_bytes, start_ns, 1000);

		KUNIT_ASSERT_TRUE(test, is_close(end_ns - start_ns, wanted_ns));
		KUNIT_ASSERT_GE(test, end_ns - start_ns, wanted_ns);
	}
}

static void stream_gets_the_whole_bandwidth(struct kunit *test)
{
	const struct speed *speed = test->param_value;
	struct ftl_bus bus = make_bus(test, speed);
	u64 end_ns = 0;

	for (u32 i = 1; i <= 1000; i++) {
		end_ns = ftl_bus_transfer(&bus, speed->usual_bytes, end_ns, end_ns);
		KUNIT_ASSERT_GE(test, end_ns, exact_ns(speed, (u64)i * speed->usual_bytes));
	}
	KUNIT_EXPECT_TRUE(test, is_close(end_ns, exact_ns(speed, 1000ULL * speed->usual_bytes)));
}

/*
 * All are asked for at once, more than the ring of windows can hold. Credit of the first
 * window is good for its begin, too, although that is before the transfers' own.
 */
static void crowd_gets_the_whole_bandwidth(struct kunit *test)
{
	const struct speed *speed = test->param_value;
	struct ftl_bus bus = make_bus(test, speed);
	u64 last_ns = 0;

	for (u32 i = 1; i <= 10000; i++) {
		last_ns = max(last_ns, ftl_bus_transfer(&bus, speed->usual_bytes, 5, 5));
		KUNIT_ASSERT_GE(test, last_ns, exact_ns(speed, (u64)i * speed->usual_bytes));
	}
	KUNIT_EXPECT_TRUE(test, is_close(last_ns, exact_ns(speed, 10000ULL * speed->usual_bytes)));
}

/*
 * Transfers of all sizes at all times: in no stretch of time from the begin on may more
 * have passed than fits, so the sum of bytes that are done by the last end is bounded.
 */
static void bus_is_never_faster_than_its_bandwidth(struct kunit *test)
{
	const struct speed *speed = test->param_value;
	struct ftl_bus bus = make_bus(test, speed);
	u64 usual_ns = exact_ns(speed, speed->usual_bytes);
	u64 state = SEED, sum_bytes = 0, now_ns = 0, last_ns = 0;

	for (u32 i = 0; i < 5000; i++) {
		u32 bytes, far;

		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		bytes = 1 + (u32)(state >> 40) % (2 * speed->usual_bytes);
		far = (u32)(state >> 33) % 64;
		last_ns = max(last_ns, ftl_bus_transfer(&bus, bytes, now_ns + usual_ns * far / 8,
							now_ns));
		sum_bytes += bytes;
		now_ns += usual_ns / 2;
	}
	KUNIT_EXPECT_GE(test, last_ns, exact_ns(speed, sum_bytes));
}

static void gap_before_a_later_transfer_can_be_used(struct kunit *test)
{
	struct ftl_bus bus = make_bus(test, &speeds[0]);

	KUNIT_EXPECT_EQ(test, ftl_bus_transfer(&bus, UNIT_BYTES, 10 * UNIT_NS, 0), 11ULL * UNIT_NS);
	for (u32 i = 1; i <= 9; i++)
		KUNIT_EXPECT_EQ(test, ftl_bus_transfer(&bus, UNIT_BYTES, 0, 0), (u64)i * UNIT_NS);
}

static void taken_time_is_not_given_again(struct kunit *test)
{
	struct ftl_bus bus = make_bus(test, &speeds[0]);
	u64 end_ns;

	ftl_bus_transfer(&bus, UNIT_BYTES, UNIT_NS, 0);
	/* One unit fits before the one that is there, the other half of this only after. */
	end_ns = ftl_bus_transfer(&bus, 2 * UNIT_BYTES, 0, 0);
	KUNIT_EXPECT_EQ(test, end_ns, 3ULL * UNIT_NS);
}

/* Beyond the ring everything is served in order, and the ring before it stays usable. */
static void far_transfer_is_served(struct kunit *test)
{
	struct ftl_bus bus = make_bus(test, &speeds[0]);
	u64 horizon_ns = (u64)FTL_BUS_WINDOWS << bus.window_shift;
	u64 far_ns = 3 * horizon_ns;

	KUNIT_EXPECT_EQ(test, ftl_bus_transfer(&bus, UNIT_BYTES, far_ns, 0), far_ns + UNIT_NS);
	KUNIT_EXPECT_EQ(test, ftl_bus_transfer(&bus, UNIT_BYTES, far_ns, 0), far_ns + 2 * UNIT_NS);
	KUNIT_EXPECT_EQ(test, ftl_bus_transfer(&bus, UNIT_BYTES, 0, 0), (u64)UNIT_NS);
	/* When its time has come, nothing may overlap it. */
	KUNIT_EXPECT_GE(test, ftl_bus_transfer(&bus, UNIT_BYTES, far_ns, far_ns),
			far_ns + 3 * UNIT_NS);
	KUNIT_EXPECT_EQ(test, ftl_bus_transfer(&bus, UNIT_BYTES, 2 * far_ns, 2 * far_ns),
			2 * far_ns + UNIT_NS);
}

static struct kunit_case channel_cases[] = {
	KUNIT_CASE_PARAM(lone_transfer_takes_its_time_wherever_it_starts, speed_gen_params),
	KUNIT_CASE_PARAM(stream_gets_the_whole_bandwidth, speed_gen_params),
	KUNIT_CASE_PARAM(crowd_gets_the_whole_bandwidth, speed_gen_params),
	KUNIT_CASE_PARAM(bus_is_never_faster_than_its_bandwidth, speed_gen_params),
	KUNIT_CASE(gap_before_a_later_transfer_can_be_used),
	KUNIT_CASE(taken_time_is_not_given_again),
	KUNIT_CASE(far_transfer_is_served),
	{}
};

static struct kunit_suite channel_suite = {
	.name = "nvmev_channel",
	.test_cases = channel_cases,
};

kunit_test_suite(channel_suite);

MODULE_DESCRIPTION("Bandwidth of channels and of the host link");
MODULE_LICENSE("GPL");
