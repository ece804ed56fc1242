// SPDX-License-Identifier: GPL-2.0-only
/* Which way small overwrites go, on drives whose times are known. */
#include <kunit/test.h>

#include "../core/update.c"

#define NR_PAGES	(DMDA_UPDATE_SHARE * DMDA_UPDATE_MIN_PAGES)
#define WINDOW		DMDA_UPDATE_MIN_PAGES

/**
 * struct drive - a drive, and a load on it
 * @update: what is tested
 * @now_ns: the time
 * @page_ns: by way, how long it takes for a page
 * @idle_ns: time between writes in which none is under way
 * @depth: number of writes that are under way at a time
 * @has_room: whether there are free segments
 * @flush_pages: pages from one flush to the next; 0: there are none
 */
struct drive {
	struct dmda_update update;
	u64 now_ns;
	u64 page_ns[DMDA_UPDATE_NR_WAYS];
	u64 idle_ns;
	u32 depth;
	bool has_room;
	u32 flush_pages;
};

static struct drive drive_of(u64 in_place_ns, u64 new_place_ns)
{
	struct drive drive = {
		.page_ns = { in_place_ns, new_place_ns }, .depth = 1, .has_room = true,
	};

	dmda_update_init(&drive.update, NR_PAGES);
	return drive;
}

static void end_write(struct drive *drive, u32 nr_pages, bool is_small)
{
	if (dmda_update_end(&drive->update, nr_pages, is_small, drive->now_ns))
		dmda_update_judge(&drive->update, drive->has_room, drive->now_ns);
}

/* Writes of @nr_pages each, as many at a time as it says, until so many pages are written. */
static void write_pages(struct drive *drive, u32 nr, u32 nr_pages, bool is_small)
{
	for (u32 done = 0; done < nr; done += drive->depth * nr_pages) {
		u8 way = drive->update.way;

		for (u32 i = 0; i < drive->depth; i++)
			dmda_update_begin(&drive->update, drive->now_ns);
		for (u32 i = 0; i < drive->depth; i++) {
			drive->now_ns += drive->page_ns[is_small ? way : DMDA_UPDATE_NEW_PLACE] *
				nr_pages;
			end_write(drive, nr_pages, is_small);
		}
		drive->now_ns += drive->idle_ns;
		if (drive->flush_pages && !(done % drive->flush_pages))
			dmda_update_flush(&drive->update);
	}
}

static void overwrite(struct drive *drive, u32 nr_windows)
{
	write_pages(drive, nr_windows * WINDOW, 1, true);
}

/* Return: of so many windows, those that are written in place. */
static u32 nr_in_place(struct drive *drive, u32 nr_windows)
{
	u32 nr = 0;

	for (u32 i = 0; i < nr_windows; i++) {
		nr += drive->update.way == DMDA_UPDATE_IN_PLACE;
		overwrite(drive, 1);
	}
	return nr;
}

static void a_window_is_a_share_of_the_device(struct kunit *test)
{
	struct dmda_update update;

	dmda_update_init(&update, 1);
	KUNIT_EXPECT_EQ(test, update.window_pages, DMDA_UPDATE_MIN_PAGES);
	dmda_update_init(&update, 1000 * DMDA_UPDATE_SHARE);
	KUNIT_EXPECT_EQ(test, update.window_pages, 1000);
	dmda_update_init(&update, 1ULL << 40);
	KUNIT_EXPECT_EQ(test, update.window_pages, DMDA_UPDATE_MAX_PAGES);
	KUNIT_EXPECT_EQ(test, update.way, DMDA_UPDATE_IN_PLACE);
}

/* Two windows in place, of which one counts; new places from then on. */
static void a_drive_that_is_slow_in_place_gets_new_places(struct kunit *test)
{
	struct drive drive = drive_of(2000, 1000);

	KUNIT_EXPECT_EQ(test, nr_in_place(&drive, 1000), 2);
}

/* New places are tried for two windows now and then, and found to be no better. */
static void where_both_are_about_the_same_it_stays(struct kunit *test)
{
	struct drive drive = drive_of(1240, 1000);
	const u32 round = DMDA_UPDATE_RETRY + 2;

	KUNIT_EXPECT_EQ(test, nr_in_place(&drive, 2 + 2), 2);
	KUNIT_EXPECT_EQ(test, nr_in_place(&drive, 10 * round), 10 * DMDA_UPDATE_RETRY);
	drive = drive_of(1260, 1000);
	KUNIT_EXPECT_EQ(test, nr_in_place(&drive, 1000), 2);
}

static void without_room_it_stays(struct kunit *test)
{
	struct drive drive = drive_of(5000, 1000);

	drive.has_room = false;
	KUNIT_EXPECT_EQ(test, nr_in_place(&drive, 1000), 1000);
	/* And begins as soon as there is some: in place is known. */
	drive.has_room = true;
	KUNIT_EXPECT_EQ(test, nr_in_place(&drive, 1000), 1);
}

/* Room is used up and comes again: what was measured is remembered. */
static void when_room_ends_it_stays_until_there_is_some_again(struct kunit *test)
{
	struct drive drive = drive_of(2000, 1000);

	overwrite(&drive, 10);
	KUNIT_ASSERT_EQ(test, drive.update.way, DMDA_UPDATE_NEW_PLACE);
	dmda_update_stay(&drive.update, drive.now_ns);
	drive.has_room = false;
	KUNIT_EXPECT_EQ(test, nr_in_place(&drive, 20), 20);
	drive.has_room = true;
	KUNIT_EXPECT_EQ(test, nr_in_place(&drive, 20), 1);
}

/* A drive may become another one: when it is filled, or rests. */
static void it_follows_the_drive(struct kunit *test)
{
	struct drive drive = drive_of(1000, 1000);

	overwrite(&drive, 20);
	KUNIT_EXPECT_EQ(test, drive.update.way, DMDA_UPDATE_IN_PLACE);
	drive.page_ns[DMDA_UPDATE_IN_PLACE] = 3000;
	KUNIT_EXPECT_LE(test, nr_in_place(&drive, 100), 4);
	drive.page_ns[DMDA_UPDATE_NEW_PLACE] = 9000;
	overwrite(&drive, 10);
	KUNIT_EXPECT_EQ(test, drive.update.way, DMDA_UPDATE_IN_PLACE);
}

/* Only time counts in which writes are under way; however many there are. */
static void time_between_writes_does_not_count(struct kunit *test)
{
	struct drive drive = drive_of(2000, 1000);

	drive.idle_ns = 100 * 1000;
	KUNIT_EXPECT_EQ(test, nr_in_place(&drive, 20), 2);
	KUNIT_EXPECT_EQ(test, drive.update.ns[DMDA_UPDATE_IN_PLACE], 2000ULL * WINDOW);
	KUNIT_EXPECT_EQ(test, drive.update.ns[DMDA_UPDATE_NEW_PLACE], 1000ULL * WINDOW);
	drive = drive_of(2000, 1000);
	drive.depth = 8;
	drive.idle_ns = 100 * 1000;
	overwrite(&drive, 20);
	KUNIT_EXPECT_EQ(test, drive.update.ns[DMDA_UPDATE_IN_PLACE], 2000ULL * WINDOW);
	KUNIT_EXPECT_EQ(test, drive.update.ns[DMDA_UPDATE_NEW_PLACE], 1000ULL * WINDOW);
}

/* A write that is under way when a window ends counts for both. */
static void a_write_may_be_under_way_at_the_end_of_a_window(struct kunit *test)
{
	struct drive drive = drive_of(2000, 1000);

	dmda_update_begin(&drive.update, drive.now_ns);
	drive.idle_ns = 500;
	overwrite(&drive, 2);
	KUNIT_EXPECT_EQ(test, drive.update.ns[DMDA_UPDATE_IN_PLACE], 2500ULL * WINDOW);
}

/* What is large goes to new places anyway, and is quick, so its time says nothing. */
static void other_writes_say_nothing(struct kunit *test)
{
	struct drive drive = drive_of(2000, 1000);

	for (u32 i = 0; i < 100; i++) {
		write_pages(&drive, WINDOW / 2, 1, true);
		write_pages(&drive, WINDOW / 2, 64, false);
	}
	KUNIT_EXPECT_EQ(test, drive.update.way, DMDA_UPDATE_IN_PLACE);
	KUNIT_EXPECT_EQ(test, drive.update.ns[DMDA_UPDATE_IN_PLACE], 0);
	/* A few do no harm. */
	for (u32 i = 0; i < 4; i++) {
		write_pages(&drive, WINDOW / 32, 8, false);
		write_pages(&drive, WINDOW - WINDOW / 32, 1, true);
	}
	KUNIT_EXPECT_EQ(test, drive.update.way, DMDA_UPDATE_NEW_PLACE);
}

static void who_flushes_often_stays(struct kunit *test)
{
	struct drive drive = drive_of(3000, 1000);

	drive.flush_pages = DMDA_UPDATE_FLUSH_PAGES / 2;
	KUNIT_EXPECT_EQ(test, nr_in_place(&drive, 100), 100);
	drive.flush_pages = DMDA_UPDATE_FLUSH_PAGES * 2;
	overwrite(&drive, 2);
	KUNIT_EXPECT_EQ(test, drive.update.way, DMDA_UPDATE_NEW_PLACE);
	drive.flush_pages = DMDA_UPDATE_FLUSH_PAGES / 2;
	overwrite(&drive, 2);
	KUNIT_EXPECT_EQ(test, drive.update.way, DMDA_UPDATE_IN_PLACE);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_window_is_a_share_of_the_device),
	KUNIT_CASE(a_drive_that_is_slow_in_place_gets_new_places),
	KUNIT_CASE(where_both_are_about_the_same_it_stays),
	KUNIT_CASE(without_room_it_stays),
	KUNIT_CASE(when_room_ends_it_stays_until_there_is_some_again),
	KUNIT_CASE(it_follows_the_drive),
	KUNIT_CASE(time_between_writes_does_not_count),
	KUNIT_CASE(a_write_may_be_under_way_at_the_end_of_a_window),
	KUNIT_CASE(other_writes_say_nothing),
	KUNIT_CASE(who_flushes_often_stays),
	{}
};

static struct kunit_suite suite = {
	.name = "dm_dieaware_update",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("KUnit tests of where dm-dieaware's small overwrites go");
MODULE_LICENSE("GPL");
