// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages: a table of verbs, each one or two fixed words and the arguments after
 * them. A message that names runs is verified to its last word before anybody acts on
 * its first.
 */
#include "file-id.h"
#include "message.h"
#include "words.h"

/* As the kernel's dev_t */
#define MINOR_BITS	20
#define MAJOR_BITS	12
#define WORDS_PER_RUN	3

static const char *parse_nothing(unsigned int argc, char **argv, struct dmda_message *message)
{
	return argc ? "This message takes no arguments." : NULL;
}

static const char *parse_hints_message(unsigned int argc, char **argv, struct dmda_message *message)
{
	if (argc != 1 || !dmda_hints_mode_parse(argv[0], &message->hints))
		return "The message hints takes one argument: auto, on, off or fdp.";
	return NULL;
}

/* MAJOR:MINOR; the major number is copied out, since the words stay as they are */
static bool parse_device(const char *word, u32 *dev)
{
	const char *colon = strchr(word, ':');
	char major_word[8];
	u64 major_nr;
	u64 minor_nr;

	if (!colon || colon - word >= (ptrdiff_t)sizeof(major_word))
		return false;
	memcpy(major_word, word, colon - word);
	major_word[colon - word] = 0;
	if (!dmda_parse_u64(major_word, 1ULL << MAJOR_BITS, &major_nr) ||
	    !dmda_parse_u64(colon + 1, 1ULL << MINOR_BITS, &minor_nr))
		return false;
	*dev = major_nr << MINOR_BITS | minor_nr;
	return true;
}

static const char *parse_run(char **words, struct dmda_run *run)
{
	u64 dpn;
	u64 nr_pages;

	if (!dmda_parse_u64(words[0], DMDA_FPAGE_LIMIT, &run->fpage))
		return "The first page of a run in its file is not a page number.";
	if (!dmda_parse_u64(words[1], DMDA_DPN_LIMIT, &dpn))
		return "The first page of a run on the device is not a page number.";
	if (!dmda_parse_u64(words[2], 1ULL << 32, &nr_pages) || !nr_pages)
		return "The length of a run must be a number from 1 to 4294967295.";
	if (nr_pages > DMDA_FPAGE_LIMIT - run->fpage || nr_pages > DMDA_DPN_LIMIT - dpn)
		return "A run ends beyond the last page number.";
	run->dpn = to_dpn(dpn);
	run->nr_pages = nr_pages;
	return NULL;
}

/* Three words */
static const char *parse_file(char **argv, struct dmda_message *message)
{
	u64 ino;
	u64 gen;
	u32 dev;

	if (!parse_device(argv[0], &dev))
		return "The filesystem's device must be given as MAJOR:MINOR.";
	if (!dmda_parse_u64(argv[1], U64_MAX, &ino))
		return "The inode number is not a number.";
	if (!dmda_parse_u64(argv[2], 1ULL << 32, &gen))
		return "The inode generation is not a number of 32 bits.";

	message->file = dmda_file_id(dev, ino, gen);
	return NULL;
}

static const char *parse_runs(unsigned int argc, char **argv, struct dmda_message *message)
{
	const char *wrong = parse_file(argv, message);
	struct dmda_run run;
	unsigned int i;

	if (wrong)
		return wrong;
	message->words = argv + 3;
	message->nr_runs = (argc - 3) / WORDS_PER_RUN;
	for (i = 0; i < message->nr_runs; i++) {
		wrong = parse_run(message->words + i * WORDS_PER_RUN, &run);
		if (wrong)
			return wrong;
	}
	return NULL;
}

static bool are_runs(unsigned int argc)
{
	return argc >= 3 + WORDS_PER_RUN && !((argc - 3) % WORDS_PER_RUN);
}

static const char *parse_runs_add(unsigned int argc, char **argv, struct dmda_message *message)
{
	if (!are_runs(argc))
		return "It must be: runs add MAJOR:MINOR INODE GENERATION {FPAGE DPN NR_PAGES}...";
	return parse_runs(argc, argv, message);
}

static const char *parse_share_add(unsigned int argc, char **argv, struct dmda_message *message)
{
	if (!are_runs(argc))
		return "It must be: share add MAJOR:MINOR INODE GENERATION {FPAGE DPN NR_PAGES}...";
	return parse_runs(argc, argv, message);
}

static const char *parse_share_clear(unsigned int argc, char **argv, struct dmda_message *message)
{
	if (argc == 3)
		return parse_file(argv, message);
	message->file = DMDA_ANONYMOUS;
	return argc ? "It must be: share clear [MAJOR:MINOR INODE GENERATION]." : NULL;
}

static const char *parse_cleaning_message(unsigned int argc, char **argv,
					  struct dmda_message *message)
{
	if (argc != 1 || (strcmp(argv[0], "on") && strcmp(argv[0], "off")))
		return "It must be: cleaning on|off.";
	message->is_on = !strcmp(argv[0], "on");
	return NULL;
}

static const char *parse_idle_message(unsigned int argc, char **argv,
				      struct dmda_message *message)
{
	if (argc != 2)
		return "It must be: idle MS PERCENT.";
	return dmda_idle_parse(argv[0], argv[1], &message->config);
}

static const char *parse_in_place_message(unsigned int argc, char **argv,
					  struct dmda_message *message)
{
	if (argc != 1)
		return "It must be: in_place PERCENT.";
	return dmda_in_place_parse(argv[0], &message->config);
}

static const char *parse_map_cache_message(unsigned int argc, char **argv,
					   struct dmda_message *message)
{
	if (argc != 1)
		return "It must be: map_cache_mb MIB.";
	return dmda_map_cache_parse(argv[0], &message->config);
}

static const char *parse_no_space_message(unsigned int argc, char **argv,
					  struct dmda_message *message)
{
	if (argc != 1)
		return "It must be: no_space_timeout SECONDS.";
	return dmda_no_space_parse(argv[0], &message->config);
}

static const char *parse_policy_message(unsigned int argc, char **argv,
					struct dmda_message *message)
{
	if (argc != 1 || !dmda_policy_parse(argv[0], &message->config.policy))
		return "It must be: policy greedy|cost-benefit|file-aware.";
	return NULL;
}

static const char *parse_where_message(unsigned int argc, char **argv,
				       struct dmda_message *message)
{
	u64 lpn;

	if (argc != 2)
		return "It must be: where LPN PAGES.";
	if (!dmda_parse_u64(argv[0], DMDA_DPN_LIMIT, &lpn))
		return "The first page is not a page number.";
	if (!dmda_parse_u64(argv[1], U64_MAX, &message->nr_pages) || !message->nr_pages)
		return "The number of pages is not a number, or it is 0.";
	if (message->nr_pages > DMDA_DPN_LIMIT - lpn)
		return "The pages end beyond the last page number.";
	message->lpn = to_lpn(lpn);
	return NULL;
}

#define NO_VERB \
	"Messages: reset_counters, hints, runs, share, cleaning, idle, in_place, map_cache_mb, " \
	"no_space_timeout, policy, clean, checkpoint, where."

/**
 * struct verb - how a message begins, and what follows
 * @first: its first word
 * @second: its second word, or NULL when arguments follow the first
 * @verb: what it means
 * @parse: understand the arguments: NULL or what is wrong
 */
struct verb {
	const char *first;
	const char *second;
	enum dmda_verb verb;
	const char *(*parse)(unsigned int argc, char **argv, struct dmda_message *message);
};

static const struct verb verbs[] = {
	{ "reset_counters", NULL, DMDA_VERB_RESET_COUNTERS, parse_nothing },
	{ "hints", NULL, DMDA_VERB_HINTS, parse_hints_message },
	{ "runs", "add", DMDA_VERB_RUNS_ADD, parse_runs_add },
	{ "runs", "clear", DMDA_VERB_RUNS_CLEAR, parse_nothing },
	{ "runs", "stats", DMDA_VERB_RUNS_STATS, parse_nothing },
	{ "share", "add", DMDA_VERB_SHARE_ADD, parse_share_add },
	{ "share", "clear", DMDA_VERB_SHARE_CLEAR, parse_share_clear },
	{ "cleaning", NULL, DMDA_VERB_CLEANING, parse_cleaning_message },
	{ "idle", NULL, DMDA_VERB_IDLE, parse_idle_message },
	{ "in_place", NULL, DMDA_VERB_IN_PLACE, parse_in_place_message },
	{ "map_cache_mb", NULL, DMDA_VERB_MAP_CACHE, parse_map_cache_message },
	{ "no_space_timeout", NULL, DMDA_VERB_NO_SPACE, parse_no_space_message },
	{ "policy", NULL, DMDA_VERB_POLICY, parse_policy_message },
	{ "clean", NULL, DMDA_VERB_CLEAN, parse_nothing },
	{ "checkpoint", NULL, DMDA_VERB_CHECKPOINT, parse_nothing },
	{ "where", NULL, DMDA_VERB_WHERE, parse_where_message },
};

/* Number of words of the message that name the verb, or 0 if they name another */
static unsigned int match_verb(const struct verb *verb, unsigned int argc, char **argv)
{
	if (!argc || strcmp(argv[0], verb->first))
		return 0;
	if (!verb->second)
		return 1;
	return argc > 1 && !strcmp(argv[1], verb->second) ? 2 : 0;
}

const char *dmda_message_parse(unsigned int argc, char **argv, struct dmda_message *message)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++) {
		unsigned int nr_words = match_verb(&verbs[i], argc, argv);

		if (!nr_words)
			continue;
		message->verb = verbs[i].verb;
		return verbs[i].parse(argc - nr_words, argv + nr_words, message);
	}
	return NO_VERB;
}

struct dmda_run dmda_message_run(const struct dmda_message *message, u32 index)
{
	struct dmda_run run = { .file = message->file };

	parse_run(message->words + (size_t)index * WORDS_PER_RUN, &run);
	return run;
}
