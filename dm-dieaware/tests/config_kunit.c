// SPDX-License-Identifier: GPL-2.0-only
/* Table lines: what is understood, what is refused and why, and printing back. */
#include <kunit/test.h>

#include "../core/config.c"
#include "../core/policy.c"
#include "words_of_line.h"

static const char *parse(const char *line, struct dmda_config *config)
{
	static struct words words;

	split_line(&words, line);
	return dmda_config_parse(words.argc, words.argv, config);
}

static void a_line_without_options_has_the_defaults(struct kunit *test)
{
	struct dmda_config config;

	KUNIT_ASSERT_NULL(test, parse("/dev/nvme0n1 2048 hint", &config));
	KUNIT_EXPECT_STREQ(test, config.device, "/dev/nvme0n1");
	KUNIT_EXPECT_EQ(test, config.start_sectors, 2048ULL);
	KUNIT_EXPECT_EQ(test, (int)config.hints, (int)DMDA_HINTS_AUTO);
	KUNIT_EXPECT_EQ(test, config.runs_mb, 64U);
	KUNIT_EXPECT_TRUE(test, config.learn_reads);
	KUNIT_EXPECT_TRUE(test, config.lba_adjacency);
	KUNIT_EXPECT_TRUE(test, config.early_reads);
	KUNIT_EXPECT_EQ(test, config.fdp_unit_kb, 0U);
}

static void every_option_is_understood(struct kunit *test)
{
	static const char all[] =
		"259:0 0 hint 4 lba_adjacency=off runs_mb=4096 learn_reads=off hints=on";
	static const char off[] =
		"a 0 hint 4 learn_reads=on fdp_unit_kb=96 early_reads=off hints=off";
	struct dmda_config config;

	KUNIT_ASSERT_NULL(test, parse(all, &config));
	KUNIT_EXPECT_EQ(test, (int)config.hints, (int)DMDA_HINTS_ON);
	KUNIT_EXPECT_EQ(test, config.runs_mb, 4096U);
	KUNIT_EXPECT_FALSE(test, config.learn_reads);
	KUNIT_EXPECT_FALSE(test, config.lba_adjacency);
	KUNIT_EXPECT_TRUE(test, config.early_reads);
	KUNIT_ASSERT_NULL(test, parse(off, &config));
	KUNIT_EXPECT_FALSE(test, config.early_reads);
	KUNIT_EXPECT_EQ(test, config.fdp_unit_kb, 96U);
	KUNIT_EXPECT_EQ(test, (int)config.hints, (int)DMDA_HINTS_OFF);
	KUNIT_EXPECT_TRUE(test, config.learn_reads);
}

/**
 * struct line_case - a table line and what becomes of it
 * @line: as after "dieaware"
 * @wanted: printed back, or the sentence that refuses it
 */
struct line_case {
	const char *line;
	const char *wanted;
};

#define START_WRONG	"The start must be a number of sectors."
#define RUNS_MB_WRONG	"The option runs_mb must be a number from 1 to 4096."
#define FDP_UNIT_KB_WRONG	"The option fdp_unit_kb must be a multiple of 4 from 16 to 16384."
#define COUNT_WRONG	"The number of options is not the number of words that follow it."
#define COUNT_MISSING	"After the mode comes the number of options, not an option."
#define MAP_CACHE_MB_WRONG "The option map_cache_mb must be a number from 1 to 65536."
#define LINE_WRONG	"The table line must be: DEV START hint|log [N OPTIONS...]."

static const struct line_case refused[] = {
	{ "", LINE_WRONG },
	{ "/dev/a", LINE_WRONG },
	{ "/dev/a 0", LINE_WRONG },
	{ "/dev/a zero hint", START_WRONG },
	{ "/dev/a -1 hint", START_WRONG },
	{ "/dev/a +1 hint", START_WRONG },
	{ "/dev/a 0x10 hint", START_WRONG },
	{ "/dev/a 18446744073709551616 hint", START_WRONG },
	{ "/dev/a 18446744073709551615 hint", START_WRONG },
	{ "/dev/a 0 log 1 hints=maybe", "The option hints must be auto, on, off or fdp." },
	{ "/dev/a 0 hint 1 policy=greedy", "An option is one of the other mode." },
	{ "/dev/a 0 log 1 policy=best",
	  "The option policy must be greedy, cost-benefit or file-aware." },
	{ "/dev/a 0 log 1 map_cache_mb=0", MAP_CACHE_MB_WRONG },
	{ "/dev/a 0 log 1 map_cache_mb=65537", MAP_CACHE_MB_WRONG },
	{ "/dev/a 0 log 1 cleaning=yes", "The option cleaning must be on or off." },
	{ "/dev/a 0 log 1 discard_passdown=maybe",
	  "The option discard_passdown must be on or off." },
	{ "/dev/a 0 log 1 idle_ms=60001",
	  "The option idle_ms must be a number from 0 to 60000." },
	{ "/dev/a 0 log 1 idle_free=0", "The option idle_free must be a number from 1 to 90." },
	{ "/dev/a 0 log 1 in_place=101", "The option in_place must be a number from 0 to 100." },
	{ "/dev/a 0 log 1 in_place=never", "The option in_place must be a number from 0 to 100." },
	{ "/dev/a 0 log 1 no_space_timeout=3601",
	  "The option no_space_timeout must be a number from 0 to 3600." },
	{ "/dev/a 0 Hint", "The mode must be hint or log." },
	{ "/dev/a 0 hints", "The mode must be hint or log." },
	{ "/dev/a 0 hint hints=on", COUNT_MISSING },
	{ "/dev/a 0 hint -1 hints=on", COUNT_MISSING },
	{ "/dev/a 0 hint 1", COUNT_WRONG },
	{ "/dev/a 0 hint 0 hints=on", COUNT_WRONG },
	{ "/dev/a 0 hint 2 hints=on", COUNT_WRONG },
	{ "/dev/a 0 hint 4294967297 hints=on", COUNT_WRONG },
	{ "/dev/a 0 hint 2 hints=on hints=on", "An option stands twice in the table line." },
	{ "/dev/a 0 hint 1 hints", "There is an option that this target does not know." },
	{ "/dev/a 0 hint 1 Hints=on", "There is an option that this target does not know." },
	{ "/dev/a 0 hint 1 speed=high", "There is an option that this target does not know." },
	{ "/dev/a 0 hint 1 hints=", "The option hints must be auto, on, off or fdp." },
	{ "/dev/a 0 hint 1 hints=onn", "The option hints must be auto, on, off or fdp." },
	{ "/dev/a 0 hint 1 runs_mb=", RUNS_MB_WRONG },
	{ "/dev/a 0 hint 1 runs_mb=0", RUNS_MB_WRONG },
	{ "/dev/a 0 hint 1 runs_mb=4097", RUNS_MB_WRONG },
	{ "/dev/a 0 hint 1 runs_mb=64M", RUNS_MB_WRONG },
	{ "/dev/a 0 hint 1 runs_mb=4294967297", RUNS_MB_WRONG },
	{ "/dev/a 0 hint 1 learn_reads=yes", "The option learn_reads must be on or off." },
	{ "/dev/a 0 hint 1 early_reads=no", "The option early_reads must be on or off." },
	{ "/dev/a 0 log 1 early_reads=on", "An option is one of the other mode." },
	{ "/dev/a 0 hint 1 fdp_unit_kb=0", FDP_UNIT_KB_WRONG },
	{ "/dev/a 0 hint 1 fdp_unit_kb=12", FDP_UNIT_KB_WRONG },
	{ "/dev/a 0 hint 1 fdp_unit_kb=34", FDP_UNIT_KB_WRONG },
	{ "/dev/a 0 hint 1 fdp_unit_kb=16388", FDP_UNIT_KB_WRONG },
	{ "/dev/a 0 log 1 fdp_unit_kb=32", "An option is one of the other mode." },
	{ "/dev/a 0 hint 1 lba_adjacency=1", "The option lba_adjacency must be on or off." },
};

static void describe_line(const struct line_case *param, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "\"%s\"", *param->line ? param->line : "(nothing)");
}

KUNIT_ARRAY_PARAM(refused, refused, describe_line);

static void a_wrong_line_is_refused_with_the_reason(struct kunit *test)
{
	const struct line_case *param = test->param_value;
	struct dmda_config config;
	const char *wrong = parse(param->line, &config);

	KUNIT_EXPECT_STREQ(test, wrong ?: "nothing", param->wanted);
}

static void a_newline_is_no_part_of_a_number(struct kunit *test)
{
	struct dmda_config config;

	KUNIT_EXPECT_STREQ(test, parse("/dev/a 1\n hint", &config) ?: "nothing", START_WRONG);
	KUNIT_EXPECT_STREQ(test, parse("/dev/a 0 hint 1 runs_mb=5\n", &config) ?: "nothing",
			   RUNS_MB_WRONG);
}

static void a_device_without_a_name_is_refused(struct kunit *test)
{
	struct dmda_config config;
	struct words words;

	split_line(&words, "a 0 hint");
	words.argv[0] = words.argv[0] + 1;
	KUNIT_EXPECT_STREQ(test, dmda_config_parse(words.argc, words.argv, &config) ?: "nothing",
			   "The name of the device is empty.");
}

static const struct line_case printed[] = {
	{ "/dev/a 0 hint", "/dev/a 0 hint" },
	{ "/dev/a 0 hint 0", "/dev/a 0 hint" },
	{ "a 18446744073709551614 hint 1 hints=off", "a 18446744073709551614 hint 1 hints=off" },
	{ "a 0 hint 1 hints=fdp", "a 0 hint 1 hints=fdp" },
	{ "a 0 log 1 hints=fdp", "a 0 log 1 hints=fdp" },
	{ "a 007 hint 4 hints=auto runs_mb=064 learn_reads=on lba_adjacency=on", "a 7 hint" },
	{ "a 1 hint 4 lba_adjacency=off learn_reads=off runs_mb=1 hints=on",
	  "a 1 hint 4 hints=on runs_mb=1 learn_reads=off lba_adjacency=off" },
	{ "a 1 hint 2 learn_reads=on lba_adjacency=off", "a 1 hint 1 lba_adjacency=off" },
	{ "a 1 hint 2 early_reads=off lba_adjacency=off",
	  "a 1 hint 2 lba_adjacency=off early_reads=off" },
	{ "a 1 hint 1 early_reads=on", "a 1 hint" },
	{ "a 1 hint 2 fdp_unit_kb=16 hints=fdp", "a 1 hint 2 hints=fdp fdp_unit_kb=16" },
	{ "a 1 hint 1 fdp_unit_kb=16384", "a 1 hint 1 fdp_unit_kb=16384" },
	{ "a 8 log 3 policy=file-aware cleaning=on map_cache_mb=256", "a 8 log" },
	{ "a 8 log 1 discard_passdown=off", "a 8 log 1 discard_passdown=off" },
	{ "a 8 log 2 idle_free=90 idle_ms=0", "a 8 log 2 idle_ms=0 idle_free=90" },
	{ "a 8 log 2 no_space_timeout=1 in_place=0",
	  "a 8 log 2 in_place=0 no_space_timeout=1" },
	{ "a 8 log 1 in_place=60", "a 8 log" },
	{ "a 8 log 2 policy=greedy hints=off", "a 8 log 2 hints=off policy=greedy" },
	{ "a 8 log 4 no_space_timeout=0 cleaning=off policy=greedy map_cache_mb=1",
	  "a 8 log 4 map_cache_mb=1 policy=greedy cleaning=off no_space_timeout=0" },
};

KUNIT_ARRAY_PARAM(printed, printed, describe_line);

static void a_line_is_printed_as_short_as_it_can_be(struct kunit *test)
{
	const struct line_case *param = test->param_value;
	struct dmda_config config;
	char buf[128];

	KUNIT_ASSERT_NULL(test, parse(param->line, &config));
	KUNIT_EXPECT_EQ(test, dmda_config_print(&config, buf, sizeof(buf)), strlen(param->wanted));
	KUNIT_EXPECT_STREQ(test, buf, param->wanted);
}

static void a_small_buffer_cuts_the_line_off(struct kunit *test)
{
	static const char line[] = "/dev/a 0 hint 1 runs_mb=77";
	struct dmda_config config;
	char buf[16];

	KUNIT_ASSERT_NULL(test, parse(line, &config));
	memset(buf, '#', sizeof(buf));
	KUNIT_EXPECT_EQ(test, dmda_config_print(&config, buf, 10), strlen(line));
	KUNIT_EXPECT_STREQ(test, buf, "/dev/a 0 ");
	KUNIT_EXPECT_EQ(test, buf[10], '#');
	dmda_config_print(&config, buf + 12, 0);
	KUNIT_EXPECT_EQ(test, buf[12], '#');
	KUNIT_EXPECT_EQ(test, dmda_config_print(&config, NULL, 0), strlen(line));
}

static void modes_have_names(struct kunit *test)
{
	enum dmda_hints_mode mode = DMDA_HINTS_ON;

	KUNIT_EXPECT_FALSE(test, dmda_hints_mode_parse("", &mode));
	KUNIT_EXPECT_EQ(test, (int)mode, (int)DMDA_HINTS_ON);
	KUNIT_EXPECT_TRUE(test, dmda_hints_mode_parse("off", &mode));
	KUNIT_EXPECT_STREQ(test, dmda_hints_mode_name(mode), "off");
	KUNIT_EXPECT_TRUE(test, dmda_hints_mode_parse("auto", &mode));
	KUNIT_EXPECT_STREQ(test, dmda_hints_mode_name(mode), "auto");
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_line_without_options_has_the_defaults),
	KUNIT_CASE(every_option_is_understood),
	KUNIT_CASE_PARAM(a_wrong_line_is_refused_with_the_reason, refused_gen_params),
	KUNIT_CASE(a_newline_is_no_part_of_a_number),
	KUNIT_CASE(a_device_without_a_name_is_refused),
	KUNIT_CASE_PARAM(a_line_is_printed_as_short_as_it_can_be, printed_gen_params),
	KUNIT_CASE(a_small_buffer_cuts_the_line_off),
	KUNIT_CASE(modes_have_names),
	{}
};

static struct kunit_suite suite = {
	.name = "dm_dieaware_config",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("KUnit tests of dm-dieaware's table line");
MODULE_LICENSE("GPL");
