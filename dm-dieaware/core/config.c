// SPDX-License-Identifier: GPL-2.0-only
/*
 * Table lines as words and as numbers. Options are a table: its order is the order in
 * which they are printed.
 */
#include "config.h"
#include "words.h"

static const char * const mode_names[] = {
	[DMDA_HINTS_AUTO] = "auto",
	[DMDA_HINTS_ON] = "on",
	[DMDA_HINTS_OFF] = "off",
};

bool dmda_hints_mode_parse(const char *word, enum dmda_hints_mode *mode)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mode_names); i++) {
		if (!strcmp(word, mode_names[i])) {
			*mode = i;
			return true;
		}
	}
	return false;
}

const char *dmda_hints_mode_name(enum dmda_hints_mode mode)
{
	return mode_names[mode];
}

static bool parse_switch(const char *word, bool *value)
{
	if (!strcmp(word, "on"))
		*value = true;
	else if (!strcmp(word, "off"))
		*value = false;
	else
		return false;
	return true;
}

static const char *parse_hints(const char *value, struct dmda_config *config)
{
	return dmda_hints_mode_parse(value, &config->hints) ? NULL :
		"The option hints must be auto, on or off.";
}

static const char *parse_runs_mb(const char *value, struct dmda_config *config)
{
	u64 mb;

	if (!dmda_parse_u64(value, DMDA_RUNS_MB_MAX + 1, &mb) || !mb)
		return "The option runs_mb must be a number from 1 to 4096.";
	config->runs_mb = mb;
	return NULL;
}

static const char *parse_learn_reads(const char *value, struct dmda_config *config)
{
	return parse_switch(value, &config->learn_reads) ? NULL :
		"The option learn_reads must be on or off.";
}

static const char *parse_lba_adjacency(const char *value, struct dmda_config *config)
{
	return parse_switch(value, &config->lba_adjacency) ? NULL :
		"The option lba_adjacency must be on or off.";
}

/* What a line without options asks for */
static const struct dmda_config defaults = {
	.hints = DMDA_HINTS_AUTO,
	.runs_mb = DMDA_RUNS_MB_DEFAULT,
	.learn_reads = true,
	.lba_adjacency = true,
};

/**
 * struct option - one KEY=VALUE
 * @key: its name with the equals sign
 * @parse: understand the value: NULL or what is wrong
 */
struct option {
	const char *key;
	const char *(*parse)(const char *value, struct dmda_config *config);
};

static const struct option options[] = {
	{ "hints=", parse_hints },
	{ "runs_mb=", parse_runs_mb },
	{ "learn_reads=", parse_learn_reads },
	{ "lba_adjacency=", parse_lba_adjacency },
};

static const char *parse_option(const char *word, u32 *seen, struct dmda_config *config)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		size_t key_bytes = strlen(options[i].key);

		if (strncmp(word, options[i].key, key_bytes))
			continue;
		if (*seen & BIT(i))
			return "An option stands twice in the table line.";
		*seen |= BIT(i);
		return options[i].parse(word + key_bytes, config);
	}
	return "There is an option that this target does not know.";
}

static const char *parse_options(unsigned int argc, char **argv, struct dmda_config *config)
{
	const char *wrong;
	unsigned int i;
	u64 nr_options;
	u32 seen = 0;

	if (!argc)
		return NULL;
	if (!dmda_parse_u64(argv[0], U64_MAX, &nr_options))
		return "After the mode comes the number of options, not an option.";
	if (nr_options != argc - 1)
		return "The number of options is not the number of words that follow it.";
	for (i = 1; i < argc; i++) {
		wrong = parse_option(argv[i], &seen, config);
		if (wrong)
			return wrong;
	}
	return NULL;
}

const char *dmda_config_parse(unsigned int argc, char **argv, struct dmda_config *config)
{
	if (argc < 3)
		return "The table line must be: DEV START hint [N OPTIONS...].";

	*config = defaults;
	config->device = argv[0];
	if (!*argv[0])
		return "The name of the device is empty.";
	if (!dmda_parse_u64(argv[1], U64_MAX, &config->start_sectors))
		return "The start must be a number of sectors.";
	if (!strcmp(argv[2], "log"))
		return "Log mode is not available in this version.";
	if (strcmp(argv[2], "hint"))
		return "The mode must be hint.";
	return parse_options(argc - 3, argv + 3, config);
}

size_t dmda_config_print(const struct dmda_config *config, char *buf, size_t size)
{
	bool has_hints = config->hints != defaults.hints;
	bool has_runs_mb = config->runs_mb != defaults.runs_mb;
	bool has_learn_reads = config->learn_reads != defaults.learn_reads;
	bool has_lba_adjacency = config->lba_adjacency != defaults.lba_adjacency;
	unsigned int nr_options = has_hints + has_runs_mb + has_learn_reads + has_lba_adjacency;
	char count[16] = "";
	char runs_mb[32] = "";

	if (nr_options)
		snprintf(count, sizeof(count), " %u", nr_options);
	if (has_runs_mb)
		snprintf(runs_mb, sizeof(runs_mb), " runs_mb=%u", config->runs_mb);
	/* A switch that is not at its default, on, is off */
	return snprintf(buf, size, "%s %llu hint%s%s%s%s%s%s", config->device,
			(unsigned long long)config->start_sectors, count,
			has_hints ? " hints=" : "", has_hints ? mode_names[config->hints] : "",
			runs_mb, has_learn_reads ? " learn_reads=off" : "",
			has_lba_adjacency ? " lba_adjacency=off" : "");
}
