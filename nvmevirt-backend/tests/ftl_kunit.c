// SPDX-License-Identifier: GPL-2.0-only
/* The facade as the controller uses it: times of commands, durability, counters. */
#include "drive_kunit.h"

KUNIT_ARRAY_PARAM(shape, drive_shapes, describe_shape);

/* Times of drive_params(); 4 KiB take 5120 ns on a channel and 1280 ns on the link. */
#define CMD_NS		1000ULL
#define WRITE_NS	2000ULL
#define PAGE_NS		100ULL
#define LINK_NS		1280ULL
#define CHANNEL_NS	5120ULL
#define SENSE_NS	30000ULL
#define PROGRAM_NS	(8 * CHANNEL_NS + 185000)

#define LATER_NS	1000000000ULL

static struct ftl_params fast24_params(bool plp)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);

	params.plp = plp;
	return params;
}

static struct ftl *make_fast24(struct kunit *test, bool plp)
{
	struct ftl_params params = fast24_params(plp);

	return make_drive(test, &params);
}

static u64 read_at(struct ftl *ftl, u64 first, u32 nr_pages, u64 now_ns)
{
	struct ftl_request rq = request(first, nr_pages);

	return ftl_read(ftl, &rq, now_ns) - now_ns;
}

static void read_of_nothing_costs_the_link(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, true);

	KUNIT_EXPECT_EQ(test, read_at(ftl, 0, 1, 0), CMD_NS + LINK_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].units_read, 0ULL);
}

static void read_from_the_buffer_costs_the_link(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, true);

	write_plain(ftl, 0, 3);
	KUNIT_EXPECT_EQ(test, read_at(ftl, 0, 3, LATER_NS), CMD_NS + 3 * LINK_NS);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).buffer_hits, 3ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).host_pages_read, 3ULL);
}

static void read_from_nand_costs_sense_channel_and_link(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, true);

	write_plain(ftl, 0, 8);
	KUNIT_EXPECT_EQ(test, read_at(ftl, 2, 1, LATER_NS),
			CMD_NS + SENSE_NS + CHANNEL_NS + LINK_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].units_read, 1ULL);
}

/* Only the bytes that were asked for cross the link. */
static void part_of_a_page_costs_less_link(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, true);
	struct ftl_request rq = request(2, 1);

	rq.bytes = 512;
	write_plain(ftl, 0, 8);
	KUNIT_EXPECT_EQ(test, ftl_read(ftl, &rq, LATER_NS) - LATER_NS,
			CMD_NS + SENSE_NS + CHANNEL_NS + LINK_NS / 8);
}

static void unit_is_sensed_once_in_a_command(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, true);

	/* Pages 0, 2, 4, ... are in one unit, 1, 3, 5, ... in another. */
	for (u32 i = 0; i < 8; i++)
		write_plain(ftl, 2 * i, 1);
	for (u32 i = 0; i < 8; i++)
		write_plain(ftl, 2 * i + 1, 1);
	read_at(ftl, 0, 16, LATER_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].units_read, 1ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[1].units_read, 1ULL);
	/* The next one finds it in the page register of its die. */
	read_at(ftl, 0, 16, 2 * LATER_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].units_read, 1ULL);
}

static void senses_survive_the_wrap_of_their_counter(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, true);

	/* Two units a die: the second one takes the page register from the first. */
	write_plain(ftl, 0, 128);
	for (ftl->read_commands = U32_MAX - 2; ftl->read_commands != 4;) {
		u64 before = ftl->nand.die[0].units_read;

		read_at(ftl, 0, 128, LATER_NS);
		KUNIT_ASSERT_EQ(test, ftl->nand.die[0].units_read, before + 2);
	}
}

static void largest_command_is_read_and_written(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, true);
	u64 nr_read = 0;

	write_plain(ftl, 0, FTL_MAX_TRANSFER_PAGES);
	KUNIT_EXPECT_GT(test, read_at(ftl, 0, FTL_MAX_TRANSFER_PAGES, LATER_NS),
			FTL_MAX_TRANSFER_PAGES * LINK_NS);
	for (u32 die = 0; die < ftl->geo.nr_dies; die++)
		nr_read += ftl->nand.die[die].units_read;
	KUNIT_EXPECT_EQ(test, nr_read, FTL_MAX_TRANSFER_PAGES / 8ULL);
	EXPECT_CONSISTENT(test, ftl);
}

static void write_completes_in_the_buffer(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, true);
	struct ftl_request rq = request(0, 8);

	KUNIT_EXPECT_EQ(test, ftl_write(ftl, &rq, 50) - 50,
			CMD_NS + 8 * LINK_NS + WRITE_NS + 8 * PAGE_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].units_programmed, 1ULL);
}

/* As many units are let in at once as fit; then at the pace of the dies. */
static void write_waits_for_room_in_the_buffer(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, true);
	u32 nr_units = ftl->wbuf.nr_units;
	u64 quick_ns = 0, last_ns = 0;

	for (u32 i = 0; i < 4 * nr_units; i++) {
		struct ftl_request rq = request(8 * i, 8);

		last_ns = ftl_write(ftl, &rq, 0);
		if (i + 1 == nr_units)
			quick_ns = last_ns;
	}
	KUNIT_EXPECT_LT(test, quick_ns, PROGRAM_NS + 100000);
	/* Each die programs an eighth of what had to leave the buffer. */
	KUNIT_EXPECT_GT(test, last_ns, 3 * nr_units / 8 * PROGRAM_NS);
	KUNIT_EXPECT_LT(test, last_ns, 5 * nr_units / 8 * PROGRAM_NS);
}

static void partial_page_is_read_first(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, true);
	struct ftl_request rq = request(2, 1);

	rq.bytes = 512;
	rq.head_partial = true;
	rq.tail_partial = true;
	write_plain(ftl, 0, 8);
	KUNIT_EXPECT_EQ(test, ftl_write(ftl, &rq, LATER_NS) - LATER_NS,
			CMD_NS + SENSE_NS + CHANNEL_NS + WRITE_NS + PAGE_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].units_read, 1ULL);
	/* Now it is in the buffer, where nothing has to be read. */
	KUNIT_EXPECT_EQ(test, ftl_write(ftl, &rq, 2 * LATER_NS) - 2 * LATER_NS,
			CMD_NS + LINK_NS / 8 + WRITE_NS + PAGE_NS);
	/* Nor is there anything to read of a page that is not mapped. */
	rq.first = to_lpn(100);
	ftl_write(ftl, &rq, 3 * LATER_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].units_read, 1ULL);
}

static void both_partial_ends_are_read(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, true);
	struct ftl_request rq = request(7, 10);

	rq.head_partial = true;
	rq.tail_partial = true;
	write_plain(ftl, 0, 24);
	ftl_write(ftl, &rq, LATER_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].units_read, 1ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[1].units_read, 0ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[2].units_read, 1ULL);
}

static void flush_of_a_protected_buffer_is_quick(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, true);
	struct ftl_request rq = request(0, 1);

	rq.fua = true;
	KUNIT_EXPECT_EQ(test, ftl_write(ftl, &rq, 0), CMD_NS + LINK_NS + WRITE_NS + PAGE_NS);
	KUNIT_EXPECT_EQ(test, ftl_flush(ftl, LATER_NS), LATER_NS + CMD_NS);
	KUNIT_EXPECT_FALSE(test, is_on_nand(ftl, 0));
	KUNIT_EXPECT_EQ(test, stats_of(ftl).nand_pages_programmed, 0ULL);
}

static void flush_of_a_volatile_buffer_programs_drafts(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, false);

	/* The append goes to die 1, the last plain write to die 2. */
	write_plain(ftl, 0, 16);
	write_append(ftl, 100, 1, 7);
	write_plain(ftl, 200, 2);
	KUNIT_EXPECT_EQ(test, ftl_flush(ftl, LATER_NS), LATER_NS + CMD_NS + PROGRAM_NS);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_drafted, 1ULL + 2);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_padded, 7ULL + 6);
	/* What was open is, and goes on to fill. */
	KUNIT_EXPECT_FALSE(test, is_on_nand(ftl, 100));
	KUNIT_EXPECT_FALSE(test, is_on_nand(ftl, 200));
	/* There is nothing left to do. */
	KUNIT_EXPECT_EQ(test, ftl_flush(ftl, 2 * LATER_NS), 2 * LATER_NS + CMD_NS);
	EXPECT_CONSISTENT(test, ftl);
}

/* A unit that was programmed before the flush may still be on its way. */
static void flush_waits_for_programs_under_way(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, false);
	struct ftl_request rq = request(0, 8);
	u64 done_ns = ftl_write(ftl, &rq, 0);

	KUNIT_EXPECT_EQ(test, ftl_flush(ftl, done_ns), done_ns + PROGRAM_NS);
}

static void fua_programs_the_units_of_its_pages(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, false);
	struct ftl_request rq = request(0, 12);
	u64 quick_ns;

	write_plain(ftl, 99, 1);
	write_append(ftl, 200, 1, 0);
	quick_ns = CMD_NS + 12 * LINK_NS + WRITE_NS + 12 * PAGE_NS;
	rq.fua = true;
	KUNIT_EXPECT_EQ(test, ftl_write(ftl, &rq, LATER_NS) - LATER_NS, quick_ns + PROGRAM_NS);
	/* The first unit got full, of the second there is a draft. */
	for (u32 i = 0; i < 6; i++)
		KUNIT_EXPECT_TRUE(test, is_on_nand(ftl, i));
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_drafted, 6ULL);
	KUNIT_EXPECT_TRUE(test, is_on_nand(ftl, 99));
	EXPECT_CONSISTENT(test, ftl);
}

/* Nothing of it waits any more when its programs begin: it is done when they are. */
static void fua_waits_for_units_that_it_fills(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, false);
	struct ftl_request rq = request(0, 8);
	u64 quick_ns = CMD_NS + 8 * LINK_NS + WRITE_NS + 8 * PAGE_NS;

	rq.fua = true;
	KUNIT_EXPECT_EQ(test, ftl_write(ftl, &rq, LATER_NS) - LATER_NS, quick_ns + PROGRAM_NS);
	for (u32 i = 0; i < 8; i++)
		KUNIT_EXPECT_TRUE(test, is_on_nand(ftl, i));
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_drafted, 0ULL);
}

static void trim_unmaps_and_counts_what_was_mapped(struct kunit *test)
{
	struct ftl *ftl = make_shape(test);
	u64 nr_lpns = ftl_get_params(ftl)->nr_lpns;

	write_plain(ftl, 1, 2 * ftl->geo.unit_pages + 1);
	KUNIT_EXPECT_EQ(test, ftl_trim(ftl, to_lpn(0), 2, LATER_NS), LATER_NS + CMD_NS);
	KUNIT_EXPECT_FALSE(test, ftl_is_mapped(ftl, to_lpn(1)));
	KUNIT_EXPECT_TRUE(test, ftl_is_mapped(ftl, to_lpn(2)));
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_trimmed, 1ULL);
	KUNIT_EXPECT_TRUE(test, ftl_die_of(ftl, to_lpn(1)) == DIE_NONE);
	KUNIT_EXPECT_EQ(test, unit_of(ftl, 1), U64_MAX);
	trim(ftl, 0, nr_lpns);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_mapped, 0ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_trimmed, 2ULL * ftl->geo.unit_pages + 1);
	EXPECT_CONSISTENT(test, ftl);
}

/* Plays the same mixed commands on a drive. Return: the sum of their completion times. */
static u64 play(struct ftl *ftl, u64 seed)
{
	u64 nr_lpns = ftl_get_params(ftl)->nr_lpns;
	u64 state = seed, now_ns = 0, sum_ns = 0;

	for (u32 i = 0; i < 3000; i++) {
		u32 at = next_random32(&state) % (u32)nr_lpns;
		struct ftl_request rq = request(at, 1 + next_random32(&state) % 8);

		rq.nr_pages = min_t(u64, rq.nr_pages, nr_lpns - at);
		rq.bytes = rq.nr_pages * FTL_PAGE_BYTES;
		rq.hint = next_random32(&state) % 3;
		rq.pred = to_lpn(next_random32(&state) % (u32)nr_lpns);
		sum_ns += i % 4 ? ftl_write(ftl, &rq, now_ns) : ftl_read(ftl, &rq, now_ns);
		now_ns += next_random32(&state) % 50000;
	}
	return sum_ns;
}

static void same_commands_take_the_same_time(struct kunit *test)
{
	struct ftl_params params = drive_params(shape_of(test));
	struct ftl *a = make_drive(test, &params);
	struct ftl *b = make_drive(test, &params);

	KUNIT_EXPECT_EQ(test, play(a, 3), play(b, 3));
	EXPECT_CONSISTENT(test, a);
}

/* Stretched times, for an idle drive: everything takes exactly so much longer. */
static void scale_stretches_every_command(struct kunit *test)
{
	struct ftl_params params = fast24_params(false);
	struct ftl_request rq = request(0, 20);
	u64 write_ns, read_ns, flush_ns;
	struct ftl *ftl = make_drive(test, &params);

	write_ns = ftl_write(ftl, &rq, 0);
	flush_ns = ftl_flush(ftl, LATER_NS) - LATER_NS;
	read_ns = ftl_read(ftl, &rq, 2 * LATER_NS) - 2 * LATER_NS;
	params.time_scale = 16;
	ftl = make_drive(test, &params);
	KUNIT_EXPECT_EQ(test, ftl_write(ftl, &rq, 0), 16 * write_ns);
	KUNIT_EXPECT_EQ(test, ftl_flush(ftl, 16 * LATER_NS), 16 * (LATER_NS + flush_ns));
	/* Where transfers meet, windows of another length cut them differently. */
	KUNIT_EXPECT_LE(test, abs_diff(ftl_read(ftl, &rq, 32 * LATER_NS) - 32 * LATER_NS,
				       16 * read_ns) * 50, 16 * read_ns);
}

/* A clock that goes back must not make commands end before they begin. */
static void time_does_not_go_back(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, true);
	struct ftl_request rq = request(0, 8);

	ftl_write(ftl, &rq, LATER_NS);
	KUNIT_EXPECT_GE(test, ftl_read(ftl, &rq, 0), LATER_NS);
	KUNIT_EXPECT_GE(test, ftl_trim(ftl, to_lpn(0), 1, 5), LATER_NS);
}

static void memory_is_enough_and_no_more_is_used(struct kunit *test)
{
	struct ftl_params params = drive_params(shape_of(test));
	size_t bytes = ftl_bytes(&params);
	u8 *memory = kunit_kzalloc(test, bytes + 64, GFP_KERNEL);
	struct ftl *ftl;

	KUNIT_ASSERT_NOT_NULL(test, memory);
	memset(memory + bytes, 0xa5, 64);
	ftl = ftl_init(&params, memory, 0);
	play(ftl, 4);
	trim(ftl, 0, params.nr_lpns);
	for (u64 lpn = 0; lpn < params.nr_lpns; lpn++)
		write_plain(ftl, lpn, 1);
	EXPECT_CONSISTENT(test, ftl);
	KUNIT_EXPECT_NULL(test, memchr_inv(memory + bytes, 0xa5, 64));
}

#define HOLD_NS	1000000ULL

/* Room for eight held units besides those that are open. */
static struct ftl *make_holding(struct kunit *test, bool plp)
{
	struct ftl_params params = fast24_params(plp);

	params.hold_ns = HOLD_NS;
	params.wbuf_pages += 2 * 8 * params.unit_pages;
	params.nr_lpns = ftl_params_capacity(&params);
	return make_drive(test, &params);
}

static u64 nr_programmed(const struct ftl *ftl)
{
	u64 nr = 0;

	for (u32 die = 0; die < ftl->geo.nr_dies; die++)
		nr += ftl->nand.die[die].units_programmed;
	return nr;
}

static void full_unit_is_programmed_when_its_time_has_come(struct kunit *test)
{
	struct ftl *ftl = make_holding(test, true);
	u64 full_ns = write_plain(ftl, 0, 8);

	ftl_advance(ftl, full_ns + HOLD_NS - 1);
	KUNIT_EXPECT_EQ(test, nr_programmed(ftl), 0ULL);
	EXPECT_CONSISTENT(test, ftl);
	/* However late the drive looks: the program began when it was due. */
	ftl_advance(ftl, LATER_NS);
	KUNIT_EXPECT_EQ(test, nr_programmed(ftl), 1ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].busy_until_ns, full_ns + HOLD_NS + PROGRAM_NS);
	EXPECT_CONSISTENT(test, ftl);
}

static void page_of_a_held_unit_is_read_from_the_buffer(struct kunit *test)
{
	struct ftl *ftl = make_holding(test, true);
	u64 now_ns = write_plain(ftl, 0, 8);

	KUNIT_EXPECT_EQ(test, read_at(ftl, 3, 1, now_ns), CMD_NS + LINK_NS);
	KUNIT_EXPECT_EQ(test, read_at(ftl, 3, 1, LATER_NS),
			CMD_NS + SENSE_NS + CHANNEL_NS + LINK_NS);
}

/* Like the leaf of a B-tree that every insertion writes again. */
static void page_of_a_held_unit_is_replaced_in_its_slot(struct kunit *test)
{
	struct ftl *ftl = make_holding(test, true);
	u64 unit;

	write_plain(ftl, 0, 8);
	unit = unit_of(ftl, 0);
	write_over(ftl, 3, 1);
	write_plain(ftl, 5, 1);
	KUNIT_EXPECT_EQ(test, unit_of(ftl, 3), unit);
	KUNIT_EXPECT_EQ(test, unit_of(ftl, 5), unit);
	ftl_advance(ftl, LATER_NS);
	KUNIT_EXPECT_EQ(test, nr_programmed(ftl), 1ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).nand_pages_programmed, 8ULL);
	EXPECT_CONSISTENT(test, ftl);
}

static void held_units_are_bounded(struct kunit *test)
{
	struct ftl *ftl = make_holding(test, true);

	write_plain(ftl, 0, 8 * 8);
	KUNIT_EXPECT_EQ(test, nr_programmed(ftl), 0ULL);
	write_plain(ftl, 8 * 8, 8);
	KUNIT_EXPECT_EQ(test, nr_programmed(ftl), 1ULL);
	KUNIT_EXPECT_TRUE_MSG(test, is_on_nand(ftl, 0), "the oldest goes first");
	EXPECT_CONSISTENT(test, ftl);
}

static void held_unit_without_pages_is_given_back(struct kunit *test)
{
	struct ftl *ftl = make_holding(test, true);

	write_plain(ftl, 0, 16);
	trim(ftl, 0, 8);
	EXPECT_CONSISTENT(test, ftl);
	trim(ftl, 15, 1);
	EXPECT_CONSISTENT(test, ftl);
	ftl_advance(ftl, LATER_NS);
	KUNIT_EXPECT_EQ(test, nr_programmed(ftl), 1ULL);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_padded, 1ULL);
	EXPECT_CONSISTENT(test, ftl);
}

static void flush_and_fua_program_held_units(struct kunit *test)
{
	struct ftl *ftl = make_holding(test, false);
	struct ftl_request rq = request(3, 1);
	u64 now_ns = write_plain(ftl, 0, 16);

	rq.fua = true;
	KUNIT_EXPECT_GT(test, ftl_write(ftl, &rq, now_ns), now_ns + PROGRAM_NS);
	KUNIT_EXPECT_TRUE(test, is_on_nand(ftl, 0));
	KUNIT_EXPECT_FALSE(test, is_on_nand(ftl, 8));
	ftl_flush(ftl, now_ns);
	KUNIT_EXPECT_TRUE(test, is_on_nand(ftl, 8));
	EXPECT_CONSISTENT(test, ftl);
}

static struct kunit_case ftl_cases[] = {
	KUNIT_CASE(read_of_nothing_costs_the_link),
	KUNIT_CASE(read_from_the_buffer_costs_the_link),
	KUNIT_CASE(read_from_nand_costs_sense_channel_and_link),
	KUNIT_CASE(part_of_a_page_costs_less_link),
	KUNIT_CASE(unit_is_sensed_once_in_a_command),
	KUNIT_CASE(senses_survive_the_wrap_of_their_counter),
	KUNIT_CASE(largest_command_is_read_and_written),
	KUNIT_CASE(write_completes_in_the_buffer),
	KUNIT_CASE(write_waits_for_room_in_the_buffer),
	KUNIT_CASE(partial_page_is_read_first),
	KUNIT_CASE(both_partial_ends_are_read),
	KUNIT_CASE(flush_of_a_protected_buffer_is_quick),
	KUNIT_CASE(flush_of_a_volatile_buffer_programs_drafts),
	KUNIT_CASE(flush_waits_for_programs_under_way),
	KUNIT_CASE(fua_programs_the_units_of_its_pages),
	KUNIT_CASE(fua_waits_for_units_that_it_fills),
	KUNIT_CASE_PARAM(trim_unmaps_and_counts_what_was_mapped, shape_gen_params),
	KUNIT_CASE_PARAM(same_commands_take_the_same_time, shape_gen_params),
	KUNIT_CASE(full_unit_is_programmed_when_its_time_has_come),
	KUNIT_CASE(page_of_a_held_unit_is_read_from_the_buffer),
	KUNIT_CASE(page_of_a_held_unit_is_replaced_in_its_slot),
	KUNIT_CASE(held_units_are_bounded),
	KUNIT_CASE(held_unit_without_pages_is_given_back),
	KUNIT_CASE(flush_and_fua_program_held_units),
	KUNIT_CASE(scale_stretches_every_command),
	KUNIT_CASE(time_does_not_go_back),
	KUNIT_CASE_PARAM(memory_is_enough_and_no_more_is_used, shape_gen_params),
	{}
};

static struct kunit_suite ftl_suite = {
	.name = "nvmev_ftl",
	.test_cases = ftl_cases,
};

kunit_test_suite(ftl_suite);

MODULE_DESCRIPTION("Commands as the controller gives them to the FTL");
MODULE_LICENSE("GPL");
