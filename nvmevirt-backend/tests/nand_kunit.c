// SPDX-License-Identifier: GPL-2.0-only
#include "drive_kunit.h"

#define PAGE_NS		5120U	/* a page on an 800 MB/s channel */
#define UNIT_PAGES	8U
#define NR_CHANNELS	4U

/* 4 channels with 2 dies each: dies 0 and 4 share a channel. */
static struct ftl *make_fast24(struct kunit *test, u32 time_scale)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);

	params.time_scale = time_scale;
	return make_drive(test, &params);
}

static u32 first_unit(const struct ftl *ftl, u32 die)
{
	return die * ftl->geo.die_units;
}

static void sense_takes_tr_and_its_pages_transfer(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, 1);

	KUNIT_EXPECT_EQ(test, ftl_nand_sense(&ftl->nand, 0, 1, 100, 100), 100ULL + 30000 + PAGE_NS);
	/* The next unit is of the other kind and the die has to be free. */
	KUNIT_EXPECT_EQ(test, ftl_nand_sense(&ftl->nand, 1, UNIT_PAGES, 100, 100),
			100ULL + 30000 + PAGE_NS + 42000 + UNIT_PAGES * PAGE_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].units_read, 2ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].busy_ns, 72000ULL + 9 * PAGE_NS);
}

/* Return: the time from when the die is free until a page of the unit is there. */
static u64 read_page(struct ftl *ftl, u32 flash_unit)
{
	u32 die = from_die(ftl_flash_unit_die(&ftl->geo, flash_unit));
	u64 start_ns = ftl->nand.die[die].busy_until_ns;

	return ftl_nand_sense(&ftl->nand, flash_unit, 1, start_ns, start_ns) - start_ns;
}

static void register_serves_the_unit_that_was_sensed_last(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, 1);

	KUNIT_EXPECT_EQ(test, read_page(ftl, 0), 30000ULL + PAGE_NS);
	KUNIT_EXPECT_EQ(test, read_page(ftl, 0), (u64)PAGE_NS);
	KUNIT_EXPECT_EQ(test, read_page(ftl, first_unit(ftl, 1)), 30000ULL + PAGE_NS);
	KUNIT_EXPECT_EQ(test, read_page(ftl, 0), (u64)PAGE_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].units_read, 1ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].busy_ns, 30000ULL + 3 * PAGE_NS);
	/* Another unit takes its place. */
	KUNIT_EXPECT_EQ(test, read_page(ftl, 1), 42000ULL + PAGE_NS);
	KUNIT_EXPECT_EQ(test, read_page(ftl, 0), 30000ULL + PAGE_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].units_read, 3ULL);
}

static void register_waits_for_the_die(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, 1);
	u64 first_ns = ftl_nand_sense(&ftl->nand, 0, 1, 0, 0);

	KUNIT_EXPECT_EQ(test, ftl_nand_sense(&ftl->nand, 0, 1, 0, 0), first_ns + PAGE_NS);
	/* A die that is free for long is not asked before the command is there. */
	KUNIT_EXPECT_EQ(test, ftl_nand_sense(&ftl->nand, 0, 1, 1000000, 1000000),
			1000000ULL + PAGE_NS);
}

static void other_work_takes_the_register(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, 1);

	read_page(ftl, 0);
	ftl_nand_program(&ftl->nand, to_die(0), 0, 0);
	KUNIT_EXPECT_EQ(test, read_page(ftl, 0), 30000ULL + PAGE_NS);
	ftl_nand_copy_in(&ftl->nand, to_die(0), 0);
	KUNIT_EXPECT_EQ(test, read_page(ftl, 0), 30000ULL + PAGE_NS);
	ftl_nand_erase(&ftl->nand, to_die(0), 0);
	KUNIT_EXPECT_EQ(test, read_page(ftl, 0), 30000ULL + PAGE_NS);
	/* What a copy has sensed is there, too. */
	ftl_nand_copy_out(&ftl->nand, 1, 0);
	KUNIT_EXPECT_EQ(test, read_page(ftl, 1), (u64)PAGE_NS);
	KUNIT_EXPECT_EQ(test, read_page(ftl, 0), 30000ULL + PAGE_NS);
}

/* As on a drive that has no page register to ask again: each read is a sense of its own. */
static void without_hits_every_read_senses(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);
	struct ftl *ftl;

	params.register_hits = false;
	ftl = make_drive(test, &params);
	for (u32 nr = 1; nr <= 4; nr++) {
		KUNIT_EXPECT_EQ(test, read_page(ftl, 0), 30000ULL + PAGE_NS);
		KUNIT_EXPECT_EQ(test, ftl->nand.die[0].units_read, (u64)nr);
		KUNIT_EXPECT_EQ(test, ftl->nand.die[0].busy_ns, nr * (30000ULL + PAGE_NS));
	}
	/* What a copy has sensed is not there for others, either. */
	ftl_nand_copy_out(&ftl->nand, 1, 0);
	KUNIT_EXPECT_EQ(test, read_page(ftl, 1), 42000ULL + PAGE_NS);
}

static struct ftl *make_cached(struct kunit *test, u32 time_scale)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);

	params.cache_read = true;
	params.time_scale = time_scale;
	return make_drive(test, &params);
}

/* Whole units of one die that are all asked for at 0: when the last of them has left. */
static u64 read_units(struct ftl *ftl, u32 nr)
{
	u64 end_ns = 0;

	for (u32 unit = 0; unit < nr; unit++)
		end_ns = ftl_nand_sense(&ftl->nand, unit, UNIT_PAGES, 0, 0);
	return end_ns;
}

/*
 * A transfer takes 40,960 ns, which is longer than 30,000 and shorter than 42,000. Without the
 * second register: 30,000 + 40,960 + 42,000 + 40,960 + 30,000 + 40,960. With it the senses are at
 * 0 to 30,000, 30,000 to 72,000, and 72,000 (the second moves on, as the first has left at
 * 70,960) to 102,000; the transfers from 30,000, 72,000 and 112,960.
 */
static void cache_register_lets_the_die_sense_the_next_unit(struct kunit *test)
{
	u64 transfer_ns = UNIT_PAGES * PAGE_NS;
	struct ftl *ftl = make_cached(test, 1);

	KUNIT_EXPECT_EQ(test, read_units(make_fast24(test, 1), 3), 102000 + 3 * transfer_ns);
	KUNIT_EXPECT_EQ(test, read_units(ftl, 1), 70960ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].plane[0].register_ns, 30000ULL);
	ftl = make_cached(test, 1);
	KUNIT_EXPECT_EQ(test, read_units(ftl, 2), 112960ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].plane[0].register_ns, 72000ULL);
	ftl = make_cached(test, 1);
	KUNIT_EXPECT_EQ(test, read_units(ftl, 3), 153920ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].plane[0].register_ns, 112960ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].units_read, 3ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].busy_ns, 102000 + 3 * transfer_ns);
	KUNIT_EXPECT_EQ(test, read_units(make_cached(test, 16), 3), 16 * 153920ULL);
}

/* In the long run a die gives what the longer of the two, sense and transfer, lets through. */
static void cached_reads_take_the_longer_of_sense_and_transfer(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);
	u64 transfer_ns = UNIT_PAGES * PAGE_NS;

	params.cache_read = true;
	params.nr_page_kinds = 1;
	KUNIT_EXPECT_EQ(test, read_units(make_drive(test, &params), 16),
			30000 + 16 * transfer_ns);
	params.read_ns[0] = 110000;
	KUNIT_EXPECT_EQ(test, read_units(make_drive(test, &params), 16),
			16 * 110000 + transfer_ns);
}

/* Asked for when the die is free, it has nothing to overlap with. */
static void cached_read_begins_when_it_is_asked_for(struct kunit *test)
{
	struct ftl *ftl = make_cached(test, 1);

	KUNIT_EXPECT_EQ(test, ftl_nand_sense(&ftl->nand, 0, 1, 0, 0), 30000ULL + PAGE_NS);
	KUNIT_EXPECT_EQ(test, ftl_nand_sense(&ftl->nand, 1, 1, 50000, 50000),
			50000ULL + 42000 + PAGE_NS);
	/* In the middle of a transfer: from 60,000 on, while the first one leaves until 70,960. */
	ftl = make_cached(test, 1);
	read_units(ftl, 1);
	KUNIT_EXPECT_EQ(test, ftl_nand_sense(&ftl->nand, 1, 1, 60000, 60000),
			60000ULL + 42000 + PAGE_NS);
}

/* More of the unit that was sensed last leaves the cache register: the other one is free. */
static void cached_hit_does_not_keep_the_next_sense_waiting(struct kunit *test)
{
	struct ftl *ftl = make_cached(test, 1);

	KUNIT_EXPECT_EQ(test, ftl_nand_sense(&ftl->nand, 0, 4, 0, 0), 30000ULL + 4 * PAGE_NS);
	KUNIT_EXPECT_EQ(test, ftl_nand_sense(&ftl->nand, 0, 4, 0, 0), 30000ULL + 8 * PAGE_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].units_read, 1ULL);
	KUNIT_EXPECT_EQ(test, ftl_nand_sense(&ftl->nand, 1, 1, 0, 0), 72000ULL + PAGE_NS);
}

static void other_work_waits_until_all_has_left(struct kunit *test)
{
	struct ftl *ftl = make_cached(test, 1);
	u64 free_ns = read_units(ftl, 2);

	ftl_nand_copy_out(&ftl->nand, 2, 0);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].busy_until_ns, free_ns + 30000);
	KUNIT_EXPECT_EQ(test, ftl_nand_copy_in(&ftl->nand, to_die(0), 0), free_ns + 215000);
	ftl_nand_erase(&ftl->nand, to_die(0), 0);
	KUNIT_EXPECT_EQ(test, ftl_nand_sense(&ftl->nand, 0, 1, 0, 0),
			free_ns + 215000 + 3000000 + 30000 + PAGE_NS);
	KUNIT_EXPECT_EQ(test, ftl_nand_program(&ftl->nand, to_die(0), 0, 0),
			free_ns + 215000 + 3000000 + 30000 + 9 * PAGE_NS + 185000);
}

static struct ftl *make_suspending(struct kunit *test, u32 nr_reads, u32 time_scale)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);

	params.suspend_program = nr_reads;
	params.suspend_erase = nr_reads;
	params.suspend_ns = 100000;
	params.time_scale = time_scale;
	return make_drive(test, &params);
}

static u64 read_at(struct ftl *ftl, u32 flash_unit, u64 at_ns)
{
	return ftl_nand_sense(&ftl->nand, flash_unit, 1, at_ns, at_ns);
}

/* Read from 1,100,000 to 1,135,120; then there are 2,000,000 left. */
static void read_suspends_an_erase(struct kunit *test)
{
	struct ftl *ftl = make_suspending(test, 1, 1);
	struct ftl *scaled = make_suspending(test, 1, 16);

	ftl_nand_erase(&ftl->nand, to_die(0), 0);
	KUNIT_EXPECT_EQ(test, read_at(ftl, 0, 1000000), 1135120ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].busy_until_ns, 3135120ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].busy_ns, 3135120ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.delay.die, 0U);
	KUNIT_EXPECT_EQ(test, ftl->nand.delay.from_ns, 1000000ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.delay.ns, 135120ULL);
	/* It gives way once. */
	KUNIT_EXPECT_EQ(test, read_at(ftl, 1, 2000000), 3135120ULL + 42000 + PAGE_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.delay.ns, 0ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.nr_suspensions, 1ULL);

	ftl_nand_erase(&scaled->nand, to_die(0), 0);
	KUNIT_EXPECT_EQ(test, read_at(scaled, 0, 16000000), 16 * 1135120ULL);
	KUNIT_EXPECT_EQ(test, scaled->nand.die[0].busy_until_ns, 16 * 3135120ULL);
}

/*
 * The data is there at 40,960, the program ends at 225,960. The first read has to wait for the
 * data, and is done at 140,960 + 35,120. The second one comes while the die reads, and goes before
 * the rest without another suspension. The third one is too many.
 */
static void reads_go_before_the_rest_of_a_program(struct kunit *test)
{
	struct ftl *ftl = make_suspending(test, 2, 1);

	KUNIT_EXPECT_EQ(test, ftl_nand_program(&ftl->nand, to_die(0), 0, 0), 225960ULL);
	KUNIT_EXPECT_EQ(test, read_at(ftl, 0, 10000), 176080ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].busy_until_ns, 361080ULL);
	KUNIT_EXPECT_EQ(test, read_at(ftl, 1, 150000), 176080ULL + 42000 + PAGE_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].busy_until_ns, 408200ULL);
	KUNIT_EXPECT_EQ(test, read_at(ftl, 0, 160000), 408200ULL + 30000 + PAGE_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.nr_suspensions, 1ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].units_read, 3ULL);
}

/* What has not begun gives way as well: the second read goes between the programs. */
static void reads_go_before_programs_that_wait(struct kunit *test)
{
	struct ftl *ftl = make_suspending(test, 1, 1);

	ftl_nand_copy_in(&ftl->nand, to_die(0), 0);
	KUNIT_EXPECT_EQ(test, ftl_nand_copy_in(&ftl->nand, to_die(0), 0), 370000ULL);
	KUNIT_EXPECT_EQ(test, read_at(ftl, 0, 50000), 150000ULL + 30000 + PAGE_NS);
	/* The first one ends at 185,000 + 135,120. */
	KUNIT_EXPECT_EQ(test, read_at(ftl, 1, 120000), 320120ULL + 42000 + PAGE_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.delay.from_ns, 320120ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].busy_until_ns, 370000ULL + 135120 + 47120);
	KUNIT_EXPECT_EQ(test, ftl->nand.nr_suspensions, 1ULL);
	/* Other dies have nothing to do with it. */
	KUNIT_EXPECT_EQ(test, read_at(ftl, first_unit(ftl, 1), 130000), 160000ULL + PAGE_NS);
}

static void read_waits_for_what_it_reads_and_for_what_was_promised(struct kunit *test)
{
	struct ftl *ftl = make_suspending(test, 9, 1);

	ftl_nand_program(&ftl->nand, to_die(0), 0, 0);
	ftl_nand_aim(&ftl->nand, 5);
	KUNIT_EXPECT_EQ(test, read_at(ftl, 5, 100000), 225960ULL + 42000 + PAGE_NS);

	ftl = make_suspending(test, 9, 1);
	ftl_nand_copy_in(&ftl->nand, to_die(0), 0);
	ftl_nand_copy_in(&ftl->nand, to_die(0), 0);
	ftl_nand_fix(&ftl->nand, 185000);
	KUNIT_EXPECT_EQ(test, read_at(ftl, 0, 100000), 185000ULL + 30000 + PAGE_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].busy_until_ns, 370000ULL + 30000 + PAGE_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.nr_suspensions, 0ULL);
}

/* What is far ahead counts as one operation, which does not give way, but is put off. */
static void more_than_is_known_apart_is_put_off_all_the_same(struct kunit *test)
{
	struct ftl *ftl = make_suspending(test, 1, 1);
	u64 end_ns = 0;

	for (u32 nr = 0; nr < FTL_AHEAD_OPS + 6; nr++)
		end_ns = ftl_nand_copy_in(&ftl->nand, to_die(0), 0);
	KUNIT_EXPECT_EQ(test, end_ns, (FTL_AHEAD_OPS + 6) * 185000ULL);
	for (u32 nr = 0; nr < FTL_AHEAD_OPS - 1; nr++) {
		read_at(ftl, 0, 0);
		KUNIT_EXPECT_GT(test, ftl->nand.delay.ns, 0ULL);
		end_ns += ftl->nand.delay.ns;
		KUNIT_EXPECT_EQ(test, ftl->nand.die[0].busy_until_ns, end_ns);
	}
	KUNIT_EXPECT_EQ(test, read_at(ftl, 1, 0), end_ns + 42000 + PAGE_NS);
}

static void dies_of_different_channels_do_not_wait(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, 1);
	u64 alone_ns = ftl_nand_sense(&ftl->nand, first_unit(ftl, 0), UNIT_PAGES, 0, 0);

	for (u32 die = 1; die < NR_CHANNELS; die++)
		KUNIT_EXPECT_EQ(test, ftl_nand_sense(&ftl->nand, first_unit(ftl, die), UNIT_PAGES,
						     0, 0), alone_ns);
}

static void dies_of_a_channel_share_it(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, 1);
	u64 transfer_ns = UNIT_PAGES * PAGE_NS;
	u64 first_ns = ftl_nand_sense(&ftl->nand, first_unit(ftl, 0), UNIT_PAGES, 0, 0);
	u64 second_ns = ftl_nand_sense(&ftl->nand, first_unit(ftl, NR_CHANNELS), UNIT_PAGES, 0, 0);

	KUNIT_EXPECT_EQ(test, first_ns, 30000 + transfer_ns);
	/* Both sense at once, the transfers are one after the other, up to a window. */
	KUNIT_EXPECT_GE(test, second_ns, first_ns + transfer_ns - 30000);
	KUNIT_EXPECT_LE(test, second_ns, first_ns + transfer_ns);
}

static void program_transfers_then_programs(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, 1);
	u64 wanted_ns = UNIT_PAGES * PAGE_NS + 185000;

	KUNIT_EXPECT_EQ(test, ftl_nand_program(&ftl->nand, to_die(3), 7, 7), 7 + wanted_ns);
	/* Sensing has to wait for it. */
	KUNIT_EXPECT_EQ(test, ftl_nand_sense(&ftl->nand, first_unit(ftl, 3), 1, 7, 7),
			7 + wanted_ns + 30000 + PAGE_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[3].units_programmed, 1ULL);
}

static void copies_leave_the_channel_alone(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, 1);

	ftl_nand_copy_out(&ftl->nand, 1, 0);
	KUNIT_EXPECT_EQ(test, ftl_nand_copy_in(&ftl->nand, to_die(0), 0), 42000ULL + 185000);
	ftl_nand_erase(&ftl->nand, to_die(0), 0);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].busy_until_ns, 42000ULL + 185000 + 3000000);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].busy_ns, 42000ULL + 185000 + 3000000);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].eblks_erased, 1ULL);
	KUNIT_EXPECT_EQ(test, ftl_nand_sense(&ftl->nand, first_unit(ftl, NR_CHANNELS), 1, 0, 0),
			30000ULL + PAGE_NS);
}

static void scale_stretches_times_but_not_counters(struct kunit *test)
{
	struct ftl *ftl = make_fast24(test, 1);
	struct ftl *scaled = make_fast24(test, 16);
	u64 end_ns = ftl_nand_program(&ftl->nand, to_die(1), 0, 0);
	u64 scaled_ns = ftl_nand_program(&scaled->nand, to_die(1), 0, 0);

	KUNIT_EXPECT_EQ(test, scaled_ns, 16 * end_ns);
	KUNIT_EXPECT_EQ(test, scaled->nand.die[1].busy_ns, ftl->nand.die[1].busy_ns);
}

/* Two planes of four pages each: the first one reads pages 0 to 3 of a unit, the second 4 to 7. */
static struct ftl *make_planes(struct kunit *test, bool plane_read, bool cache_read)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);

	params.planes_per_die = 2;
	params.plane_read = plane_read;
	params.cache_read = cache_read;
	return make_drive(test, &params);
}

static u64 read_plane(struct ftl *ftl, u32 flash_unit, u32 plane, u64 start_ns)
{
	struct ftl_sense sense = {
		.flash_unit = flash_unit,
		.nr_pages = 1,
		.planes = BIT(plane),
	};

	return ftl_nand_read(&ftl->nand, &sense, start_ns, start_ns);
}

/*
 * Units 0 and 1 take 30,000 and 42,000 to sense. On two planes both begin at 0; on one the second
 * begins when the page of the first has left, at 35,120.
 */
static void planes_sense_at_the_same_time(struct kunit *test)
{
	struct ftl *ftl = make_planes(test, true, false);

	KUNIT_EXPECT_EQ(test, read_plane(ftl, 0, 0, 0), 35120ULL);
	KUNIT_EXPECT_EQ(test, read_plane(ftl, 1, 1, 0), 47120ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].busy_until_ns, 47120ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].units_read, 2ULL);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].busy_ns, 72000ULL + 2 * PAGE_NS);
	ftl = make_planes(test, true, false);
	KUNIT_EXPECT_EQ(test, read_plane(ftl, 0, 0, 0), 35120ULL);
	KUNIT_EXPECT_EQ(test, read_plane(ftl, 1, 0, 0), 35120ULL + 42000 + PAGE_NS);
}

/* Without plane_read it does not matter on which plane a page is. */
static void without_plane_read_all_planes_sense(struct kunit *test)
{
	struct ftl *ftl = make_planes(test, false, false);

	KUNIT_EXPECT_EQ(test, ftl->geo.unit_planes, 1U);
	KUNIT_EXPECT_EQ(test, ftl_nand_sense(&ftl->nand, 0, 1, 0, 0), 35120ULL);
	KUNIT_EXPECT_EQ(test, ftl_nand_sense(&ftl->nand, 1, 1, 0, 0), 35120ULL + 42000 + PAGE_NS);
}

/*
 * A whole unit leaves when both planes have sensed it: the first one begins at 35,120, the second
 * at 0. What comes behind waits for both, and finds nothing in the registers of either.
 */
static void whole_units_take_all_planes(struct kunit *test)
{
	struct ftl *ftl = make_planes(test, true, false);
	u64 end_ns;

	read_plane(ftl, 0, 0, 0);
	end_ns = ftl_nand_sense(&ftl->nand, 2, UNIT_PAGES, 0, 0);
	KUNIT_EXPECT_EQ(test, end_ns, 35120ULL + 30000 + UNIT_PAGES * PAGE_NS);
	KUNIT_EXPECT_EQ(test, read_plane(ftl, 3, 1, 0), end_ns + 42000 + PAGE_NS);
	end_ns += 42000 + PAGE_NS;
	KUNIT_EXPECT_EQ(test, ftl_nand_program(&ftl->nand, to_die(0), 0, 0),
			end_ns + UNIT_PAGES * PAGE_NS + 185000);
	end_ns += UNIT_PAGES * PAGE_NS + 185000;
	KUNIT_EXPECT_EQ(test, read_plane(ftl, 2, 0, 0), end_ns + 30000 + PAGE_NS);
	KUNIT_EXPECT_EQ(test, read_plane(ftl, 3, 1, 0), end_ns + 42000 + PAGE_NS);
}

/* A sense of one plane leaves what the other one holds. */
static void planes_have_registers_of_their_own(struct kunit *test)
{
	struct ftl *ftl = make_planes(test, true, false);

	read_plane(ftl, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, read_plane(ftl, 1, 1, 0), 47120ULL);
	KUNIT_EXPECT_EQ(test, read_plane(ftl, 0, 0, 47120), 47120ULL + PAGE_NS);
	KUNIT_EXPECT_EQ(test, read_plane(ftl, 1, 1, 80000), 80000ULL + PAGE_NS);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].units_read, 2ULL);
	/* The other half of unit 0 was not sensed with the first one. */
	KUNIT_EXPECT_EQ(test, read_plane(ftl, 0, 1, 120000), 120000ULL + 30000 + PAGE_NS);
}

/*
 * With the second register a plane goes on at 30,000, while its page leaves until 35,120, and reads
 * by turns from 42,000 on; the other plane has sensed at 42,000.
 */
static void planes_have_cache_registers_of_their_own(struct kunit *test)
{
	struct ftl *ftl = make_planes(test, true, true);

	KUNIT_EXPECT_EQ(test, read_plane(ftl, 0, 0, 0), 35120ULL);
	KUNIT_EXPECT_EQ(test, read_plane(ftl, 1, 1, 0), 47120ULL);
	KUNIT_EXPECT_EQ(test, read_plane(ftl, 2, 0, 0), 60000ULL + PAGE_NS);
	KUNIT_EXPECT_EQ(test, read_plane(ftl, 3, 1, 0), 84000ULL + PAGE_NS);
}

/*
 * From the host: a drive of one die, units of two planes of two pages. Command 1,000, sense, 5,120
 * on the channel, 1,280 on the link.
 */
static void reads_take_the_planes_of_their_pages(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[0]);
	struct ftl_request low = request(0, 1), high = request(6, 1), both = request(1, 2);
	struct ftl *ftl;

	params.planes_per_die = 2;
	params.plane_read = true;
	ftl = make_drive(test, &params);
	write_plain(ftl, 0, 8);
	KUNIT_EXPECT_EQ(test, ftl_read(ftl, &low, 10000000), 10000000ULL + 37400);
	KUNIT_EXPECT_EQ(test, ftl_read(ftl, &high, 10000000), 10000000ULL + 49400);
	/* Pages 1 and 2 are in both halves of unit 0, of which the first is there: unit 0 again. */
	KUNIT_EXPECT_EQ(test, ftl_read(ftl, &both, 20000000),
			20000000ULL + 31000 + 2 * 5120 + 2 * 1280);
	KUNIT_EXPECT_EQ(test, ftl->nand.die[0].units_read, 3ULL);
}

/* Commands that come twice as fast as they can be done. Return: the longest that one takes. */
static u64 overload(struct kunit *test, u32 nr_reads)
{
	static const struct drive_shape shape = { "", 2, 2, 8, 8, 24, 4, 200 };
	struct ftl_params params = drive_params(&shape);
	u64 now_ns = 1000000000, worst_ns = 0, random = 3;
	struct ftl *ftl;

	params.suspend_program = nr_reads;
	params.suspend_erase = nr_reads;
	params.suspend_ns = 100000;
	params.bg_eblks = 3;
	ftl = make_drive(test, &params);
	for (u64 lpn = 0; lpn + 8 <= params.nr_lpns; lpn += 8)
		write_plain(ftl, lpn, 8);
	for (u32 i = 0; i < 8000; i++) {
		struct ftl_request rq = request(next_random32(&random) % (params.nr_lpns - 16),
						1 + next_random32(&random) % 16);
		u64 done_ns = next_random32(&random) % 4 ? ftl_write(ftl, &rq, now_ns) :
							  ftl_read(ftl, &rq, now_ns);

		worst_ns = max(worst_ns, done_ns - now_ns);
		now_ns += next_random32(&random) % 500000;
	}
	EXPECT_CONSISTENT(test, ftl);
	return worst_ns;
}

/* Where work is booked far ahead, a read must not hold up all of it by what it waits itself. */
static void overload_is_not_made_worse_by_giving_way(struct kunit *test)
{
	u64 without_ns = overload(test, 0);

	KUNIT_EXPECT_GT(test, without_ns, 1000000000ULL);
	KUNIT_EXPECT_LT(test, overload(test, 8), without_ns + without_ns / 10);
}

static struct kunit_case nand_cases[] = {
	KUNIT_CASE(sense_takes_tr_and_its_pages_transfer),
	KUNIT_CASE(register_serves_the_unit_that_was_sensed_last),
	KUNIT_CASE(register_waits_for_the_die),
	KUNIT_CASE(other_work_takes_the_register),
	KUNIT_CASE(without_hits_every_read_senses),
	KUNIT_CASE(cache_register_lets_the_die_sense_the_next_unit),
	KUNIT_CASE(cached_reads_take_the_longer_of_sense_and_transfer),
	KUNIT_CASE(cached_read_begins_when_it_is_asked_for),
	KUNIT_CASE(cached_hit_does_not_keep_the_next_sense_waiting),
	KUNIT_CASE(other_work_waits_until_all_has_left),
	KUNIT_CASE(planes_sense_at_the_same_time),
	KUNIT_CASE(without_plane_read_all_planes_sense),
	KUNIT_CASE(whole_units_take_all_planes),
	KUNIT_CASE(planes_have_registers_of_their_own),
	KUNIT_CASE(planes_have_cache_registers_of_their_own),
	KUNIT_CASE(reads_take_the_planes_of_their_pages),
	KUNIT_CASE(read_suspends_an_erase),
	KUNIT_CASE(reads_go_before_the_rest_of_a_program),
	KUNIT_CASE(reads_go_before_programs_that_wait),
	KUNIT_CASE(read_waits_for_what_it_reads_and_for_what_was_promised),
	KUNIT_CASE(more_than_is_known_apart_is_put_off_all_the_same),
	KUNIT_CASE(overload_is_not_made_worse_by_giving_way),
	KUNIT_CASE(dies_of_different_channels_do_not_wait),
	KUNIT_CASE(dies_of_a_channel_share_it),
	KUNIT_CASE(program_transfers_then_programs),
	KUNIT_CASE(copies_leave_the_channel_alone),
	KUNIT_CASE(scale_stretches_times_but_not_counters),
	{}
};

static struct kunit_suite nand_suite = {
	.name = "nvmev_nand",
	.test_cases = nand_cases,
};

kunit_test_suite(nand_suite);

MODULE_DESCRIPTION("Timelines of dies and channels");
MODULE_LICENSE("GPL");
