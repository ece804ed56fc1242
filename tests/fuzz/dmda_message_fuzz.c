// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any message is either refused with a sentence or understood; runs that are understood
 * have numbers in their ranges, the same however often they are read.
 */
#define FUZZ_NAME	"dmda_message_fuzz"
#define FUZZ_MAX_BYTES	512

#include "dmda_driver.h"
#include "dmda_words.h"
#include "../../dm-dieaware/core/config.c"
#include "../../dm-dieaware/core/policy.c"
#include "../../dm-dieaware/core/message.c"

static void check_runs(const struct dmda_message *message, const struct fuzz_words *words)
{
	u32 i;

	require(message->file.id, "A run belongs to no file.");
	require(message->nr_runs && message->nr_runs * 3 + 5 == words->argc,
		"The number of runs is wrong.");
	for (i = 0; i < message->nr_runs; i++) {
		struct dmda_run run = dmda_message_run(message, i);

		require(run.file.id == message->file.id, "A run belongs to another file.");
		require(run.nr_pages, "A run is empty.");
		require(run.fpage < DMDA_FPAGE_LIMIT &&
			run.nr_pages <= DMDA_FPAGE_LIMIT - run.fpage,
			"A run ends beyond the file pages that there are.");
		require(from_dpn(run.dpn) < DMDA_DPN_LIMIT &&
			run.nr_pages <= DMDA_DPN_LIMIT - from_dpn(run.dpn),
			"A run ends beyond the device pages that there are.");
		require(run.fpage == strtoull(message->words[3 * i], NULL, 10) &&
			from_dpn(run.dpn) == strtoull(message->words[3 * i + 1], NULL, 10) &&
			run.nr_pages == strtoull(message->words[3 * i + 2], NULL, 10),
			"A run has other numbers than its words.");
	}
}

static void check_where(const struct dmda_message *message, const struct fuzz_words *words)
{
	require(from_lpn(message->lpn) < DMDA_DPN_LIMIT && message->nr_pages &&
		message->nr_pages <= DMDA_DPN_LIMIT - from_lpn(message->lpn),
		"Pages are none, or end beyond those that there are.");
	require(words->argc == 3 && from_lpn(message->lpn) == strtoull(words->argv[1], NULL, 10) &&
		message->nr_pages == strtoull(words->argv[2], NULL, 10),
		"Pages have other numbers than their words.");
}

static void check_idle(const struct dmda_config *config, const struct fuzz_words *words)
{
	require(words->argc == 3 && config->idle_ms == strtoull(words->argv[1], NULL, 10) &&
		config->idle_free_percent == strtoull(words->argv[2], NULL, 10),
		"Idle time has other numbers than its words.");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct dmda_message message;
	struct fuzz_words words;
	const char *wrong;

	split_input(&words, data, size);
	wrong = dmda_message_parse(words.argc, words.argv, &message);
	if (wrong)
		require_sentence(wrong);
	else if (message.verb == DMDA_VERB_RUNS_ADD || message.verb == DMDA_VERB_SHARE_ADD)
		check_runs(&message, &words);
	else if (message.verb == DMDA_VERB_SHARE_CLEAR)
		require(words.argc == (message.file.id ? 5 : 2), "A file is none, or all are one.");
	else if (message.verb == DMDA_VERB_HINTS)
		require(!strcmp(dmda_hints_mode_name(message.hints), words.argv[1]),
			"A mode is another one.");
	else if (message.verb == DMDA_VERB_IDLE)
		check_idle(&message.config, &words);
	else if (message.verb == DMDA_VERB_WHERE)
		check_where(&message, &words);
	else
		require(words.argc <= 2, "A verb takes words that it does not know.");
	free_words(&words);
	return 0;
}

#ifndef WITH_LIBFUZZER

static size_t draw_input(u64 *state, u8 *input)
{
	static const char *const list[] = {
		"reset_counters", "hints", "on", "off", "auto", "fdp", "runs", "add", "clear",
		"stats", "share",
		"idle", "in_place", "cleaning", "policy", "greedy", "file-aware", "clean",
		"checkpoint", "where",
		"259:0", "8:1", "4095:1048575", "4096:0", "00000008:1", "0", "1", "77",
		"4294967295", "4294967296", "4503599627370495", "2305843009213693951",
		"18446744073709551615", "", "-1", "+1", ":",
	};
	static const char runs[] = "runs\0add\000259:1\00012\0003456";
	static const char share[] = "share\0add\000259:1\00012\0003456";
	size_t bytes = 0;

	switch (next_random(state) % 4) {
	case 0:
		memcpy(input, runs, sizeof(runs));
		bytes = sizeof(runs);
		break;
	case 1:
		memcpy(input, share, sizeof(share));
		bytes = sizeof(share);
		break;
	}
	return bytes + draw_words(state, input + bytes, list, ARRAY_SIZE(list));
}

#endif /* WITH_LIBFUZZER */
