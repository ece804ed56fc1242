// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any table line is either refused with a sentence or understood; what is understood
 * can be printed, and the printed line means the same and is printed the same again.
 */
#define FUZZ_NAME	"dmda_config_fuzz"
#define FUZZ_MAX_BYTES	512

#include "dmda_driver.h"
#include "dmda_words.h"
#include "../../dm-dieaware/core/config.c"
#include "../../dm-dieaware/core/policy.c"

/* Cut a printed line at its spaces */
static void split_printed(struct fuzz_words *words, char *line)
{
	size_t length = strlen(line);
	size_t i;

	for (i = 0; i < length; i++)
		if (line[i] == ' ')
			line[i] = 0;
	split_input(words, (const u8 *)line, length);
}

static bool is_same(const struct dmda_config *a, const struct dmda_config *b)
{
	return !strcmp(a->device, b->device) && a->start_sectors == b->start_sectors &&
	       a->hints == b->hints && a->runs_mb == b->runs_mb &&
	       a->learn_reads == b->learn_reads && a->lba_adjacency == b->lba_adjacency &&
	       a->early_reads == b->early_reads && a->fdp_unit_kb == b->fdp_unit_kb;
}

static void check_print(const struct dmda_config *config)
{
	size_t length = dmda_config_print(config, NULL, 0);
	char *line = malloc(length + 1);
	char *again = malloc(length + 1);
	struct dmda_config parsed;
	struct fuzz_words words;

	require(line && again, "There is no memory.");
	require(dmda_config_print(config, line, length + 1) == length, "The length changes.");
	memcpy(again, line, length + 1);
	split_printed(&words, line);
	require(!dmda_config_parse(words.argc, words.argv, &parsed),
		"A printed line is not understood.");
	require(is_same(config, &parsed), "A printed line means something else.");
	dmda_config_print(&parsed, line, length + 1);
	require(!strcmp(line, again), "A line is printed in two ways.");
	free_words(&words);
	free(line);
	free(again);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct dmda_config config;
	struct fuzz_words words;
	const char *wrong;

	split_input(&words, data, size);
	wrong = dmda_config_parse(words.argc, words.argv, &config);
	if (wrong)
		require_sentence(wrong);
	else if (!strchr(config.device, ' '))
		check_print(&config);
	free_words(&words);
	return 0;
}

#ifndef WITH_LIBFUZZER

static size_t draw_input(u64 *state, u8 *input)
{
	static const char *const list[] = {
		"/dev/nvme0n1", "259:0", "0", "2048", "18446744073709551615", "hint", "hint",
		"hint", "log", "1", "2", "3", "4", "hints=auto", "hints=on", "hints=off",
		"hints=fdp",
		"policy=greedy", "policy=file-aware", "map_cache_mb=9", "cleaning=off",
		"runs_mb=1", "runs_mb=4096", "runs_mb=64", "learn_reads=on", "learn_reads=off",
		"", "lba_adjacency=on", "lba_adjacency=off", "early_reads=off",
		"fdp_unit_kb=32", "fdp_unit_kb=3", "hints=", "-1",
	};
	static const char hint_start[] = "259:0\0008\0hint\0002";
	static const char log_start[] = "259:0\0008\0log\0002";
	size_t bytes = 0;

	/* Two of three begin well, or nearly nothing would get as far as the options */
	if (next_random(state) % 3) {
		bool is_log = next_random(state) % 3 == 0;

		bytes = is_log ? sizeof(log_start) : sizeof(hint_start);
		memcpy(input, is_log ? log_start : hint_start, bytes);
		input[bytes - 2] = '0' + next_random(state) % 5;
	}
	return bytes + draw_words(state, input + bytes, list, ARRAY_SIZE(list));
}

#endif /* WITH_LIBFUZZER */
