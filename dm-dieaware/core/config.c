// SPDX-License-Identifier: GPL-2.0-only
/*
 * Table lines as words and as numbers. Options are a table: its order is the order in
 * which they are printed.
 */
#include "config.h"
#include "lanes.h"
#include "words.h"

static const char * const mode_names[] = {
	[DMDA_HINTS_AUTO] = "auto",
	[DMDA_HINTS_ON] = "on",
	[DMDA_HINTS_OFF] = "off",
	[DMDA_HINTS_FDP] = "fdp",
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
		"The option hints must be auto, on, off or fdp.";
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

static const char *parse_early_reads(const char *value, struct dmda_config *config)
{
	return parse_switch(value, &config->early_reads) ? NULL :
		"The option early_reads must be on or off.";
}

static const char *parse_fdp_unit_kb(const char *value, struct dmda_config *config)
{
	u64 kb;

	if (!dmda_parse_u64(value, (DMDA_LANE_UNIT_MAX >> 10) + 1, &kb) ||
	    kb < DMDA_LANE_UNIT_MIN >> 10 || (kb << 10) % BIT(DMDA_PAGE_SHIFT))
		return "The option fdp_unit_kb must be a multiple of 4 from 16 to 16384.";
	config->fdp_unit_kb = kb;
	return NULL;
}

const char *dmda_map_cache_parse(const char *value, struct dmda_config *config)
{
	u64 mb;

	if (!dmda_parse_u64(value, DMDA_MAP_CACHE_MB_MAX + 1, &mb) || !mb)
		return "The option map_cache_mb must be a number from 1 to 65536.";
	config->map_cache_mb = mb;
	return NULL;
}

static const char *parse_policy(const char *value, struct dmda_config *config)
{
	return dmda_policy_parse(value, &config->policy) ? NULL :
		"The option policy must be greedy, cost-benefit or file-aware.";
}

static const char *parse_cleaning(const char *value, struct dmda_config *config)
{
	return parse_switch(value, &config->cleaning) ? NULL :
		"The option cleaning must be on or off.";
}

static const char *parse_discard_passdown(const char *value, struct dmda_config *config)
{
	return parse_switch(value, &config->discard_passdown) ? NULL :
		"The option discard_passdown must be on or off.";
}

const char *dmda_idle_parse(const char *ms, const char *percent, struct dmda_config *config)
{
	u64 value;

	if (ms) {
		if (!dmda_parse_u64(ms, DMDA_IDLE_MS_MAX + 1, &value))
			return "The option idle_ms must be a number from 0 to 60000.";
		config->idle_ms = value;
	}
	if (percent) {
		if (!dmda_parse_u64(percent, DMDA_IDLE_FREE_MAX + 1, &value) || !value)
			return "The option idle_free must be a number from 1 to 90.";
		config->idle_free_percent = value;
	}
	return NULL;
}

static const char *parse_idle_ms(const char *value, struct dmda_config *config)
{
	return dmda_idle_parse(value, NULL, config);
}

static const char *parse_idle_free(const char *value, struct dmda_config *config)
{
	return dmda_idle_parse(NULL, value, config);
}

const char *dmda_in_place_parse(const char *value, struct dmda_config *config)
{
	u64 percent;

	if (!dmda_parse_u64(value, DMDA_IN_PLACE_NEVER + 1, &percent))
		return "The option in_place must be a number from 0 to 100.";
	config->in_place_percent = percent;
	return NULL;
}

const char *dmda_no_space_parse(const char *value, struct dmda_config *config)
{
	u64 seconds;

	if (!dmda_parse_u64(value, DMDA_NO_SPACE_TIMEOUT_MAX + 1, &seconds))
		return "The option no_space_timeout must be a number from 0 to 3600.";
	config->no_space_seconds = seconds;
	return NULL;
}

/* What a line without options asks for */
static const struct dmda_config defaults = {
	.hints = DMDA_HINTS_AUTO,
	.runs_mb = DMDA_RUNS_MB_DEFAULT,
	.learn_reads = true,
	.lba_adjacency = true,
	.early_reads = true,
	.map_cache_mb = DMDA_MAP_CACHE_MB_DEFAULT,
	.policy = DMDA_POLICY_FILE_AWARE,
	.cleaning = true,
	.discard_passdown = true,
	.idle_ms = DMDA_IDLE_MS_DEFAULT,
	.idle_free_percent = DMDA_IDLE_FREE_DEFAULT,
	.in_place_percent = DMDA_IN_PLACE_DEFAULT,
	.no_space_seconds = DMDA_NO_SPACE_TIMEOUT_DEFAULT,
};

/* The value of an option as a line has it, or NULL: it has its default. */

static const char *print_switch(bool is_on)
{
	return is_on ? NULL : "off";
}

static const char *print_number(u32 value, u32 default_value, char *buf, size_t size)
{
	if (value == default_value)
		return NULL;
	snprintf(buf, size, "%u", value);
	return buf;
}

static const char *print_hints(const struct dmda_config *config, char *buf, size_t size)
{
	return config->hints == defaults.hints ? NULL : mode_names[config->hints];
}

static const char *print_runs_mb(const struct dmda_config *config, char *buf, size_t size)
{
	return print_number(config->runs_mb, defaults.runs_mb, buf, size);
}

static const char *print_learn_reads(const struct dmda_config *config, char *buf, size_t size)
{
	return print_switch(config->learn_reads);
}

static const char *print_lba_adjacency(const struct dmda_config *config, char *buf, size_t size)
{
	return print_switch(config->lba_adjacency);
}

static const char *print_early_reads(const struct dmda_config *config, char *buf, size_t size)
{
	return print_switch(config->early_reads);
}

static const char *print_fdp_unit_kb(const struct dmda_config *config, char *buf, size_t size)
{
	return print_number(config->fdp_unit_kb, defaults.fdp_unit_kb, buf, size);
}

static const char *print_map_cache_mb(const struct dmda_config *config, char *buf, size_t size)
{
	return print_number(config->map_cache_mb, defaults.map_cache_mb, buf, size);
}

static const char *print_policy(const struct dmda_config *config, char *buf, size_t size)
{
	return config->policy == defaults.policy ? NULL : dmda_policy_name(config->policy);
}

static const char *print_cleaning(const struct dmda_config *config, char *buf, size_t size)
{
	return print_switch(config->cleaning);
}

static const char *print_discard_passdown(const struct dmda_config *config, char *buf,
					  size_t size)
{
	return print_switch(config->discard_passdown);
}

static const char *print_idle_ms(const struct dmda_config *config, char *buf, size_t size)
{
	return print_number(config->idle_ms, defaults.idle_ms, buf, size);
}

static const char *print_idle_free(const struct dmda_config *config, char *buf, size_t size)
{
	return print_number(config->idle_free_percent, defaults.idle_free_percent, buf, size);
}

static const char *print_in_place(const struct dmda_config *config, char *buf, size_t size)
{
	return print_number(config->in_place_percent, defaults.in_place_percent, buf, size);
}

static const char *print_no_space_timeout(const struct dmda_config *config, char *buf,
					  size_t size)
{
	return print_number(config->no_space_seconds, defaults.no_space_seconds, buf, size);
}

/**
 * struct option - one KEY=VALUE
 * @key: its name with the equals sign
 * @modes: which modes have it, as bits
 * @parse: understand the value: NULL or what is wrong
 * @print: the value as a word, which may be in the buffer; NULL if it is the default
 */
struct option {
	const char *key;
	u32 modes;
	const char *(*parse)(const char *value, struct dmda_config *config);
	const char *(*print)(const struct dmda_config *config, char *buf, size_t size);
};

#define BOTH		(BIT(DMDA_MODE_HINT) | BIT(DMDA_MODE_LOG))
#define HINT_ONLY	BIT(DMDA_MODE_HINT)
#define LOG_ONLY	BIT(DMDA_MODE_LOG)

static const struct option options[] = {
	{ "hints=", BOTH, parse_hints, print_hints },
	{ "runs_mb=", BOTH, parse_runs_mb, print_runs_mb },
	{ "learn_reads=", BOTH, parse_learn_reads, print_learn_reads },
	{ "lba_adjacency=", BOTH, parse_lba_adjacency, print_lba_adjacency },
	{ "early_reads=", HINT_ONLY, parse_early_reads, print_early_reads },
	{ "fdp_unit_kb=", HINT_ONLY, parse_fdp_unit_kb, print_fdp_unit_kb },
	{ "map_cache_mb=", LOG_ONLY, dmda_map_cache_parse, print_map_cache_mb },
	{ "policy=", LOG_ONLY, parse_policy, print_policy },
	{ "cleaning=", LOG_ONLY, parse_cleaning, print_cleaning },
	{ "discard_passdown=", LOG_ONLY, parse_discard_passdown, print_discard_passdown },
	{ "idle_ms=", LOG_ONLY, parse_idle_ms, print_idle_ms },
	{ "idle_free=", LOG_ONLY, parse_idle_free, print_idle_free },
	{ "in_place=", LOG_ONLY, dmda_in_place_parse, print_in_place },
	{ "no_space_timeout=", LOG_ONLY, dmda_no_space_parse, print_no_space_timeout },
};

static const char *parse_option(const char *word, u32 *seen, struct dmda_config *config)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		size_t key_bytes = strlen(options[i].key);

		if (strncmp(word, options[i].key, key_bytes))
			continue;
		if (!(options[i].modes & BIT(config->mode)))
			return "An option is one of the other mode.";
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

static const char * const target_modes[] = {
	[DMDA_MODE_HINT] = "hint",
	[DMDA_MODE_LOG] = "log",
};

static bool parse_mode(const char *word, enum dmda_mode *mode)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(target_modes); i++) {
		if (!strcmp(word, target_modes[i])) {
			*mode = i;
			return true;
		}
	}
	return false;
}

const char *dmda_config_parse(unsigned int argc, char **argv, struct dmda_config *config)
{
	if (argc < 3)
		return "The table line must be: DEV START hint|log [N OPTIONS...].";

	*config = defaults;
	config->device = argv[0];
	if (!*argv[0])
		return "The name of the device is empty.";
	if (!dmda_parse_u64(argv[1], U64_MAX, &config->start_sectors))
		return "The start must be a number of sectors.";
	if (!parse_mode(argv[2], &config->mode))
		return "The mode must be hint or log.";
	return parse_options(argc - 3, argv + 3, config);
}

/* Counts the options that do not have their default. */
static unsigned int nr_printed(const struct dmda_config *config)
{
	unsigned int nr = 0;
	char value[16];

	for (unsigned int i = 0; i < ARRAY_SIZE(options); i++)
		nr += (options[i].modes & BIT(config->mode)) &&
			options[i].print(config, value, sizeof(value));
	return nr;
}

/* Where a line goes on: nowhere, once it does not fit. */
static char *rest_of(char *buf, size_t size, size_t at)
{
	return at < size ? buf + at : NULL;
}

size_t dmda_config_print(const struct dmda_config *config, char *buf, size_t size)
{
	unsigned int nr_options = nr_printed(config);
	size_t at;

	at = snprintf(buf, size, "%s %llu %s", config->device,
		      (unsigned long long)config->start_sectors, target_modes[config->mode]);
	if (nr_options)
		at += snprintf(rest_of(buf, size, at), size - min(at, size), " %u", nr_options);
	for (unsigned int i = 0; i < ARRAY_SIZE(options); i++) {
		char memory[16];
		const char *value;

		if (!(options[i].modes & BIT(config->mode)))
			continue;
		value = options[i].print(config, memory, sizeof(memory));
		if (value)
			at += snprintf(rest_of(buf, size, at), size - min(at, size), " %s%s",
				       options[i].key, value);
	}
	return at;
}
