/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The target's part of a table line, as words and as numbers:
 *
 *   DEV START hint|log [N OPTIONS...]
 *
 * N is the number of options that follow. Options, in any order, each at most once:
 *
 * both modes
 *   hints=auto|on|off|fdp  send hints if the device announces them, or has what Flexible Data
 *                          Placement must have to stand for them; always; never; choose the
 *                          place of writes by Flexible Data Placement, whatever it says of itself
 *   runs_mb=1..4096        upper bound of the run table's memory, in MiB
 *   learn_reads=on|off     reads teach the run table where files lie
 *   lba_adjacency=on|off   a write of an unknown file that continues another one of
 *                          an unknown file is an append to it
 *
 * mode hint
 *   early_reads=on|off     send what a task has read on before the block layer would, as
 *                          long as hints are on
 *   fdp_unit_kb=16..16384  what goes to a die at a time when the place of writes is chosen, in KiB
 *                          and whole pages, whatever the device says of it
 *
 * mode log
 *   map_cache_mb=1..65536  memory for pages of the map, in MiB
 *   policy=greedy|cost-benefit|file-aware
 *                          how cleaning chooses segments
 *   cleaning=on|off        clean when segments run out
 *   discard_passdown=on|off
 *			    discard segments on the device below when they become free
 *   idle_ms=0..60000	    milliseconds without reads and writes after which to clean
 *			    although segments have not run out; 0: never
 *   idle_free=1..90	    percent of the segments that are to be free then
 *   in_place=0..100	    percent of the space that hold data from which on small overwrites
 *			    stay where they are; 100: never
 *   no_space_timeout=0..3600
 *                          seconds that writes wait for a free segment before they fail
 *
 * This file knows words and ranges. Whether the device exists, is large enough and
 * understands hints is the constructor's to find out.
 */
#ifndef DMDA_CONFIG_H
#define DMDA_CONFIG_H

#include "policy.h"
#include "units.h"

/**
 * enum dmda_hints_mode - when hints are sent
 * @DMDA_HINTS_AUTO: when the device announces that it understands them; if it does not, by write
 *	streams, where these are known to be dies, or in mode log, to keep data apart
 * @DMDA_HINTS_ON: always
 * @DMDA_HINTS_OFF: never; the target then only observes
 * @DMDA_HINTS_FDP: by write streams, which are taken for that
 */
enum dmda_hints_mode {
	DMDA_HINTS_AUTO,
	DMDA_HINTS_ON,
	DMDA_HINTS_OFF,
	DMDA_HINTS_FDP,
};

#define DMDA_RUNS_MB_DEFAULT	64
#define DMDA_RUNS_MB_MAX	4096

#define DMDA_MAP_CACHE_MB_DEFAULT	256
#define DMDA_MAP_CACHE_MB_MAX		65536

#define DMDA_NO_SPACE_TIMEOUT_DEFAULT	60
#define DMDA_NO_SPACE_TIMEOUT_MAX	3600

#define DMDA_IDLE_MS_DEFAULT		1000
#define DMDA_IDLE_MS_MAX		60000
#define DMDA_IDLE_FREE_DEFAULT		20
#define DMDA_IDLE_FREE_MAX		90

#define DMDA_IN_PLACE_DEFAULT		60
#define DMDA_IN_PLACE_NEVER		100

/**
 * enum dmda_mode - what the target does
 * @DMDA_MODE_HINT: sends hints, and each page stays where it is
 * @DMDA_MODE_LOG: turns random writes into sequential ones
 */
enum dmda_mode {
	DMDA_MODE_HINT,
	DMDA_MODE_LOG,
	DMDA_NR_MODES,
};

/**
 * struct dmda_config - what a table line asks for
 * @device: path or major:minor of the device below, in memory of the words that were parsed: to be
 *	replaced before they go away
 * @start_sectors: first sector of @device that the target uses
 * @mode: enum dmda_mode
 * @hints: enum dmda_hints_mode
 * @runs_mb: upper bound of the run table's memory in MiB, [1, DMDA_RUNS_MB_MAX]
 * @learn_reads: whether reads teach the run table
 * @lba_adjacency: whether a write of an unknown file that goes on where another ended counts as its
 *	append
 * @early_reads: hint: whether reads are sent on before the block layer's plug is full
 * @fdp_unit_kb: hint: what goes to a die at a time where write streams stand for dies, in KiB: a
 *	multiple of a page, [DMDA_LANE_UNIT_MIN, DMDA_LANE_UNIT_MAX] bytes; 0: what the device says
 * @map_cache_mb: log: memory for pages of the map in MiB, [1, DMDA_MAP_CACHE_MB_MAX]
 * @policy: log: order in which segments are cleaned
 * @cleaning: log: whether segments are cleaned when free ones run out
 * @discard_passdown: log: whether segments that become free are discarded below
 * @idle_ms: log: time without reads and writes after which cleaning begins by itself,
 *	[0, DMDA_IDLE_MS_MAX]; 0: never
 * @idle_free_percent: log: share of segments that such cleaning makes free, [1, DMDA_IDLE_FREE_MAX]
 * @in_place_percent: log: share of the space in use above which small overwrites stay in place,
 *	[0, 100]
 * @no_space_seconds: log: time that writes wait for a free segment before they fail,
 *	[0, DMDA_NO_SPACE_TIMEOUT_MAX]
 */
struct dmda_config {
	const char *device;
	u64 start_sectors;
	enum dmda_mode mode;
	enum dmda_hints_mode hints;
	u32 runs_mb;
	bool learn_reads;
	bool lba_adjacency;
	bool early_reads;
	u32 fdp_unit_kb;
	u32 map_cache_mb;
	enum dmda_policy policy;
	bool cleaning;
	bool discard_passdown;
	u32 idle_ms;
	u32 idle_free_percent;
	u32 in_place_percent;
	u32 no_space_seconds;
};

/**
 * dmda_config_parse() - understand the words of a table line
 * @argc: number of words
 * @argv: the words: DEV START hint|log [N OPTIONS...]
 * @config: gets the result; undefined after an error
 *
 * Context: any. Nothing is changed in @argv.
 * Return: NULL, or what is wrong as a complete sentence.
 */
const char *dmda_config_parse(unsigned int argc, char **argv, struct dmda_config *config);

/**
 * dmda_config_print() - the shortest line that parses to this configuration
 * @config: a configuration in which every number is in its range
 * @buf: gets the line; always terminated if @size is not 0
 * @size: bytes at @buf
 *
 * Options that have their default value are left out, and so is the option count
 * when none is left.
 *
 * Context: any.
 * Return: length of the whole line as snprintf() counts; @size or more means that it
 * was cut off.
 */
size_t dmda_config_print(const struct dmda_config *config, char *buf, size_t size);

/**
 * dmda_idle_parse() - "idle_ms" or "idle_free" as a number
 * @ms: the word, or NULL: leave it
 * @percent: the word, or NULL: leave it
 * @config: gets what is understood
 *
 * Context: any.
 * Return: NULL, or what is wrong as a complete sentence.
 */
const char *dmda_idle_parse(const char *ms, const char *percent, struct dmda_config *config);

/**
 * dmda_in_place_parse() - "in_place" as a number
 * @value: the word
 * @config: gets what is understood
 *
 * Context: any.
 * Return: NULL, or what is wrong as a complete sentence.
 */
const char *dmda_in_place_parse(const char *value, struct dmda_config *config);

/**
 * dmda_map_cache_parse() - "map_cache_mb" as a number
 * @value: the word
 * @config: gets what is understood
 *
 * Context: any.
 * Return: NULL, or what is wrong as a complete sentence.
 */
const char *dmda_map_cache_parse(const char *value, struct dmda_config *config);

/**
 * dmda_no_space_parse() - "no_space_timeout" as a number
 * @value: the word
 * @config: gets what is understood
 *
 * Context: any.
 * Return: NULL, or what is wrong as a complete sentence.
 */
const char *dmda_no_space_parse(const char *value, struct dmda_config *config);

/**
 * dmda_hints_mode_parse() - "auto", "on", "off" or "fdp"
 * @word: the word
 * @mode: gets the result
 *
 * Context: any.
 * Return: false if it is none of these; *@mode is then unchanged.
 */
bool dmda_hints_mode_parse(const char *word, enum dmda_hints_mode *mode);

/**
 * dmda_hints_mode_name() - the word for a mode
 * @mode: the mode
 *
 * Context: any.
 * Return: "auto", "on", "off" or "fdp".
 */
const char *dmda_hints_mode_name(enum dmda_hints_mode mode);

#endif /* DMDA_CONFIG_H */
