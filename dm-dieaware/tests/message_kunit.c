// SPDX-License-Identifier: GPL-2.0-only
/* Messages: what each verb understands, what is refused and why. */
#include <kunit/test.h>

#include "../core/config.c"
#include "../core/policy.c"
#include "../core/message.c"
#include "words_of_line.h"

static const char *parse(struct words *words, const char *line, struct dmda_message *message)
{
	split_line(words, line);
	return dmda_message_parse(words->argc, words->argv, message);
}

static void words_without_arguments_are_verbs(struct kunit *test)
{
	struct dmda_message message;
	struct words words;

	KUNIT_ASSERT_NULL(test, parse(&words, "reset_counters", &message));
	KUNIT_EXPECT_EQ(test, (int)message.verb, (int)DMDA_VERB_RESET_COUNTERS);
	KUNIT_ASSERT_NULL(test, parse(&words, "runs clear", &message));
	KUNIT_EXPECT_EQ(test, (int)message.verb, (int)DMDA_VERB_RUNS_CLEAR);
	KUNIT_ASSERT_NULL(test, parse(&words, "runs stats", &message));
	KUNIT_EXPECT_EQ(test, (int)message.verb, (int)DMDA_VERB_RUNS_STATS);
}

static void hints_are_switched(struct kunit *test)
{
	struct dmda_message message;
	struct words words;

	KUNIT_ASSERT_NULL(test, parse(&words, "hints off", &message));
	KUNIT_EXPECT_EQ(test, (int)message.verb, (int)DMDA_VERB_HINTS);
	KUNIT_EXPECT_EQ(test, (int)message.hints, (int)DMDA_HINTS_OFF);
	KUNIT_ASSERT_NULL(test, parse(&words, "hints fdp", &message));
	KUNIT_EXPECT_EQ(test, (int)message.hints, (int)DMDA_HINTS_FDP);
	KUNIT_ASSERT_NULL(test, parse(&words, "hints auto", &message));
	KUNIT_EXPECT_EQ(test, (int)message.hints, (int)DMDA_HINTS_AUTO);
}

static void runs_are_read_one_by_one(struct kunit *test)
{
	struct dmda_message message;
	struct words words;
	struct dmda_run run;

	KUNIT_ASSERT_NULL(test, parse(&words, "runs add 259:5 12 3456 0 1000 16 40 2000 1",
				      &message));
	KUNIT_EXPECT_EQ(test, (int)message.verb, (int)DMDA_VERB_RUNS_ADD);
	KUNIT_EXPECT_EQ(test, message.file.id, dmda_file_id(259 << 20 | 5, 12, 3456).id);
	KUNIT_ASSERT_EQ(test, message.nr_runs, 2U);
	run = dmda_message_run(&message, 0);
	KUNIT_EXPECT_EQ(test, run.file.id, message.file.id);
	KUNIT_EXPECT_EQ(test, run.fpage, 0ULL);
	KUNIT_EXPECT_EQ(test, from_dpn(run.dpn), 1000ULL);
	KUNIT_EXPECT_EQ(test, run.nr_pages, 16U);
	run = dmda_message_run(&message, 1);
	KUNIT_EXPECT_EQ(test, run.fpage, 40ULL);
	KUNIT_EXPECT_EQ(test, from_dpn(run.dpn), 2000ULL);
	KUNIT_EXPECT_EQ(test, run.nr_pages, 1U);
}

static void rewrites_are_announced_as_runs(struct kunit *test)
{
	struct dmda_message message;
	struct words words;

	KUNIT_ASSERT_NULL(test, parse(&words, "share add 259:5 12 3456 7 1000 16", &message));
	KUNIT_EXPECT_EQ(test, (int)message.verb, (int)DMDA_VERB_SHARE_ADD);
	KUNIT_EXPECT_EQ(test, message.file.id, dmda_file_id(259 << 20 | 5, 12, 3456).id);
	KUNIT_ASSERT_EQ(test, message.nr_runs, 1U);
	KUNIT_EXPECT_EQ(test, dmda_message_run(&message, 0).fpage, 7ULL);
	KUNIT_EXPECT_EQ(test, from_dpn(dmda_message_run(&message, 0).dpn), 1000ULL);
	KUNIT_ASSERT_NULL(test, parse(&words, "share clear", &message));
	KUNIT_EXPECT_EQ(test, (int)message.verb, (int)DMDA_VERB_SHARE_CLEAR);
	KUNIT_EXPECT_EQ(test, message.file.id, 0ULL);
	KUNIT_ASSERT_NULL(test, parse(&words, "share clear 259:5 12 3456", &message));
	KUNIT_EXPECT_EQ(test, (int)message.verb, (int)DMDA_VERB_SHARE_CLEAR);
	KUNIT_EXPECT_EQ(test, message.file.id, dmda_file_id(259 << 20 | 5, 12, 3456).id);
}

static void a_range_of_pages_is_understood(struct kunit *test)
{
	struct dmda_message message;
	struct words words;

	KUNIT_ASSERT_NULL(test, parse(&words, "where 12 345", &message));
	KUNIT_EXPECT_EQ(test, (int)message.verb, (int)DMDA_VERB_WHERE);
	KUNIT_EXPECT_EQ(test, from_lpn(message.lpn), 12ULL);
	KUNIT_EXPECT_EQ(test, message.nr_pages, 345ULL);
	KUNIT_ASSERT_NULL(test, parse(&words, "where 0 2305843009213693952", &message));
	KUNIT_EXPECT_EQ(test, from_lpn(message.lpn) + message.nr_pages, DMDA_DPN_LIMIT);
	KUNIT_ASSERT_NULL(test, parse(&words, "where 2305843009213693951 1", &message));
	KUNIT_EXPECT_EQ(test, from_lpn(message.lpn) + message.nr_pages, DMDA_DPN_LIMIT);
}

static void the_largest_numbers_are_understood(struct kunit *test)
{
	static char numbers[][24] = {
		"4095:1048575", "18446744073709551614", "4294967295",
		"4503595332403201", "2305843004918726657", "4294967295",
	};
	struct dmda_message message;
	struct words words;
	struct dmda_run run;
	unsigned int i;

	split_line(&words, "runs add");
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		words.argv[words.argc++] = numbers[i];
	KUNIT_ASSERT_NULL(test, dmda_message_parse(words.argc, words.argv, &message));
	run = dmda_message_run(&message, 0);
	KUNIT_EXPECT_EQ(test, run.fpage + run.nr_pages, DMDA_FPAGE_LIMIT);
	KUNIT_EXPECT_EQ(test, from_dpn(run.dpn) + run.nr_pages, DMDA_DPN_LIMIT);
	KUNIT_EXPECT_EQ(test, message.file.id,
			dmda_file_id(U32_MAX, 18446744073709551614ULL, U32_MAX).id);
}

/**
 * struct message_case - a message and the sentence that refuses it
 * @line: the message
 * @wanted: the sentence
 */
struct message_case {
	const char *line;
	const char *wanted;
};

#define VERB_WRONG \
	"Messages: reset_counters, hints, runs, share, cleaning, idle, in_place, map_cache_mb, " \
	"no_space_timeout, policy, clean, checkpoint, where."
#define POLICY_WRONG	"It must be: policy greedy|cost-benefit|file-aware."
#define HINTS_WRONG	"The message hints takes one argument: auto, on, off or fdp."
#define ADD_WRONG	"It must be: runs add MAJOR:MINOR INODE GENERATION {FPAGE DPN NR_PAGES}..."
#define SHARE_WRONG	"It must be: share add MAJOR:MINOR INODE GENERATION {FPAGE DPN NR_PAGES}..."
#define CLEAR_WRONG	"It must be: share clear [MAJOR:MINOR INODE GENERATION]."
#define DEVICE_WRONG	"The filesystem's device must be given as MAJOR:MINOR."
#define FPAGE_WRONG	"The first page of a run in its file is not a page number."
#define DPN_WRONG	"The first page of a run on the device is not a page number."
#define LENGTH_WRONG	"The length of a run must be a number from 1 to 4294967295."
#define END_WRONG	"A run ends beyond the last page number."
#define WHERE_WRONG	"It must be: where LPN PAGES."
#define LPN_WRONG	"The first page is not a page number."
#define PAGES_WRONG	"The number of pages is not a number, or it is 0."
#define PAGES_END_WRONG	"The pages end beyond the last page number."

static const struct message_case refused[] = {
	{ "", VERB_WRONG },
	{ "ping", VERB_WRONG },
	{ "runs", VERB_WRONG },
	{ "runs adds", VERB_WRONG },
	{ "reset_counters now", "This message takes no arguments." },
	{ "clean all", "This message takes no arguments." },
	{ "checkpoint now", "This message takes no arguments." },
	{ "cleaning", "It must be: cleaning on|off." },
	{ "cleaning maybe", "It must be: cleaning on|off." },
	{ "cleaning on off", "It must be: cleaning on|off." },
	{ "idle 5", "It must be: idle MS PERCENT." },
	{ "idle 5 100", "The option idle_free must be a number from 1 to 90." },
	{ "in_place", "It must be: in_place PERCENT." },
	{ "in_place 101", "The option in_place must be a number from 0 to 100." },
	{ "map_cache_mb", "It must be: map_cache_mb MIB." },
	{ "map_cache_mb 5 6", "It must be: map_cache_mb MIB." },
	{ "map_cache_mb 0", "The option map_cache_mb must be a number from 1 to 65536." },
	{ "map_cache_mb 65537", "The option map_cache_mb must be a number from 1 to 65536." },
	{ "no_space_timeout", "It must be: no_space_timeout SECONDS." },
	{ "no_space_timeout 3601", "The option no_space_timeout must be a number from 0 to 3600." },
	{ "policy", POLICY_WRONG },
	{ "policy best", POLICY_WRONG },
	{ "policy greedy greedy", POLICY_WRONG },
	{ "where", WHERE_WRONG },
	{ "where 5", WHERE_WRONG },
	{ "where 5 6 7", WHERE_WRONG },
	{ "where -5 6", LPN_WRONG },
	{ "where five 6", LPN_WRONG },
	{ "where 2305843009213693952 1", LPN_WRONG },
	{ "where 18446744073709551616 1", LPN_WRONG },
	{ "where 5 0", PAGES_WRONG },
	{ "where 5 six", PAGES_WRONG },
	{ "where 5 -6", PAGES_WRONG },
	{ "where 5 18446744073709551616", PAGES_WRONG },
	{ "where 5 18446744073709551614", PAGES_END_WRONG },
	{ "where 2305843009213693951 2", PAGES_END_WRONG },
	{ "runs clear all", "This message takes no arguments." },
	{ "hints", HINTS_WRONG },
	{ "hints maybe", HINTS_WRONG },
	{ "hints on on", HINTS_WRONG },
	{ "runs add", ADD_WRONG },
	{ "runs add 8:1 12 0", ADD_WRONG },
	{ "runs add 8:1 12 0 0 1", ADD_WRONG },
	{ "runs add 8:1 12 0 0 1 1 5 6", ADD_WRONG },
	{ "runs add 8 12 0 0 1 1", DEVICE_WRONG },
	{ "runs add :1 12 0 0 1 1", DEVICE_WRONG },
	{ "runs add 8: 12 0 0 1 1", DEVICE_WRONG },
	{ "runs add 8:1: 12 0 0 1 1", DEVICE_WRONG },
	{ "runs add 4096:1 12 0 0 1 1", DEVICE_WRONG },
	{ "runs add 8:1048576 12 0 0 1 1", DEVICE_WRONG },
	{ "runs add 00000008:1 12 0 0 1 1", DEVICE_WRONG },
	{ "runs add 00000000000000000000000000000008:1 12 0 0 1 1", DEVICE_WRONG },
	{ "runs add 8:1 twelve 0 0 1 1", "The inode number is not a number." },
	{ "runs add 8:1 12 4294967296 0 1 1", "The inode generation is not a number of 32 bits." },
	{ "runs add 8:1 12 0 -1 1 1", FPAGE_WRONG },
	{ "runs add 8:1 12 0 4503599627370496 1 1", FPAGE_WRONG },
	{ "runs add 8:1 12 0 0 2305843009213693952 1", DPN_WRONG },
	{ "runs add 8:1 12 0 0 1 0", LENGTH_WRONG },
	{ "runs add 8:1 12 0 0 1 4294967296", LENGTH_WRONG },
	{ "runs add 8:1 12 0 4503599627370495 1 2", END_WRONG },
	{ "runs add 8:1 12 0 0 2305843009213693951 2", END_WRONG },
	{ "runs add 8:1 12 0 0 1 1 0 1 x", LENGTH_WRONG },
	{ "share", VERB_WRONG },
	{ "share clear all", CLEAR_WRONG },
	{ "share clear 8:1 12", CLEAR_WRONG },
	{ "share clear 8:1 12 0 0", CLEAR_WRONG },
	{ "share clear 8 12 0", DEVICE_WRONG },
	{ "share clear 8:1 twelve 0", "The inode number is not a number." },
	{ "share add 8:1 12 0 0 1", SHARE_WRONG },
	{ "share add 8 12 0 0 1 1", DEVICE_WRONG },
	{ "share add 8:1 12 0 0 1 0", LENGTH_WRONG },
};

static void describe_message(const struct message_case *param, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "\"%s\"", *param->line ? param->line : "(nothing)");
}

KUNIT_ARRAY_PARAM(refused, refused, describe_message);

static void a_wrong_message_is_refused_with_the_reason(struct kunit *test)
{
	const struct message_case *param = test->param_value;
	struct dmda_message message;
	struct words words;
	const char *wrong = parse(&words, param->line, &message);

	KUNIT_EXPECT_STREQ(test, wrong ?: "nothing", param->wanted);
}

static void files_have_their_own_numbers(struct kunit *test)
{
	u64 ids[] = {
		dmda_file_id(8 << 20 | 1, 12, 0).id, dmda_file_id(8 << 20 | 1, 13, 0).id,
		dmda_file_id(8 << 20 | 1, 12, 1).id, dmda_file_id(8 << 20 | 2, 12, 0).id,
		dmda_file_id(12, 8 << 20 | 1, 0).id, dmda_file_id(0, 12, 8 << 20 | 1).id,
	};
	unsigned int i;
	unsigned int j;

	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		KUNIT_EXPECT_NE(test, ids[i], 0ULL);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_NE(test, ids[i], ids[j]);
	}
	/* The one inode of this device that mixes to 0 has a number all the same */
	KUNIT_EXPECT_EQ(test, dmda_file_id(0, dmda_mix64(0), 0).id, 1ULL);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(words_without_arguments_are_verbs),
	KUNIT_CASE(hints_are_switched),
	KUNIT_CASE(runs_are_read_one_by_one),
	KUNIT_CASE(rewrites_are_announced_as_runs),
	KUNIT_CASE(a_range_of_pages_is_understood),
	KUNIT_CASE(the_largest_numbers_are_understood),
	KUNIT_CASE_PARAM(a_wrong_message_is_refused_with_the_reason, refused_gen_params),
	KUNIT_CASE(files_have_their_own_numbers),
	{}
};

static struct kunit_suite suite = {
	.name = "dm_dieaware_message",
	.test_cases = cases,
};

kunit_test_suite(suite);

MODULE_DESCRIPTION("KUnit tests of dm-dieaware's messages");
MODULE_LICENSE("GPL");
