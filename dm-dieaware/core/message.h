/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The words of a "dmsetup message", as a verb with its numbers:
 *
 *   reset_counters
 *   hints auto|on|off|fdp
 *   runs add MAJOR:MINOR INODE GENERATION FPAGE DPN NR_PAGES [FPAGE DPN NR_PAGES]...
 *   runs clear
 *   runs stats
 *   share add MAJOR:MINOR INODE GENERATION FPAGE DPN NR_PAGES [FPAGE DPN NR_PAGES]...
 *   share clear [MAJOR:MINOR INODE GENERATION]
 *   cleaning on|off		    log mode: clean when segments run out
 *   idle MS PERCENT	    log mode: as the options idle_ms and idle_free
 *   in_place PERCENT	    log mode: as the option
 *   map_cache_mb MIB	    log mode: as the option
 *   no_space_timeout SECONDS log mode: as the option
 *   policy greedy|cost-benefit|file-aware
 *				    log mode: how cleaning chooses
 *   clean			    log mode: clean all segments that are worth it, once
 *   checkpoint			    log mode: take a checkpoint
 *   where LPN PAGES	    log mode: where these pages lie
 *
 * MAJOR:MINOR is the filesystem's device (s_dev; /proc/self/mountinfo shows it), all
 * other numbers are decimal. A message is understood as a whole or not at all.
 */
#ifndef DMDA_MESSAGE_H
#define DMDA_MESSAGE_H

#include "config.h"
#include "units.h"

/**
 * enum dmda_verb - what a message asks for
 * @DMDA_VERB_RESET_COUNTERS: set every counter of the status line to 0
 * @DMDA_VERB_HINTS: change when hints are sent
 * @DMDA_VERB_RUNS_ADD: teach the run table the runs of one file
 * @DMDA_VERB_RUNS_CLEAR: forget every run
 * @DMDA_VERB_RUNS_STATS: report the run table
 * @DMDA_VERB_SHARE_ADD: pages of a file that are going to be written elsewhere as they are
 * @DMDA_VERB_SHARE_CLEAR: forget these, or those of one file
 * @DMDA_VERB_CLEANING: clean when segments run out, or do not
 * @DMDA_VERB_IDLE: clean when nobody reads or writes for so long
 * @DMDA_VERB_IN_PLACE: overwrite in place when it is so full
 * @DMDA_VERB_MAP_CACHE: keep so much of the map in memory
 * @DMDA_VERB_NO_SPACE: let writes wait for space for so long
 * @DMDA_VERB_POLICY: choose segments that way
 * @DMDA_VERB_CLEAN: clean all segments that are worth it
 * @DMDA_VERB_CHECKPOINT: take a checkpoint
 * @DMDA_VERB_WHERE: report where pages lie
 */
enum dmda_verb {
	DMDA_VERB_RESET_COUNTERS,
	DMDA_VERB_HINTS,
	DMDA_VERB_RUNS_ADD,
	DMDA_VERB_RUNS_CLEAR,
	DMDA_VERB_RUNS_STATS,
	DMDA_VERB_SHARE_ADD,
	DMDA_VERB_SHARE_CLEAR,
	DMDA_VERB_CLEANING,
	DMDA_VERB_IDLE,
	DMDA_VERB_IN_PLACE,
	DMDA_VERB_MAP_CACHE,
	DMDA_VERB_NO_SPACE,
	DMDA_VERB_POLICY,
	DMDA_VERB_CLEAN,
	DMDA_VERB_CHECKPOINT,
	DMDA_VERB_WHERE,
};

/**
 * struct dmda_message - a message
 * @verb: enum dmda_verb; says which of the other members are set
 * @hints: HINTS: enum dmda_hints_mode
 * @is_on: CLEANING: whether segments are cleaned when free ones run out
 * @config: IDLE, IN_PLACE, MAP_CACHE, NO_SPACE, POLICY: the options of these names; no others
 * @lpn: WHERE: first page, below DMDA_DPN_LIMIT
 * @nr_pages: WHERE: number of pages, at least 1; their end is no more than DMDA_DPN_LIMIT
 * @file: RUNS_ADD, SHARE_ADD: file whose runs these are; SHARE_CLEAR: the file, or anonymous: all
 * @nr_runs: RUNS_ADD, SHARE_ADD: number of runs, at least 1
 * @words: RUNS_ADD, SHARE_ADD: three words for each run, for dmda_message_run(), in memory of the
 *	words that were parsed
 */
struct dmda_message {
	enum dmda_verb verb;
	enum dmda_hints_mode hints;
	bool is_on;
	struct dmda_config config;
	lpn_t lpn;
	u64 nr_pages;
	struct dmda_file file;
	u32 nr_runs;
	char **words;
};

/**
 * dmda_message_parse() - understand a message
 * @argc: number of words
 * @argv: the words
 * @message: gets the result; undefined after an error
 *
 * Context: any. Nothing is changed in @argv.
 * Return: NULL, or what is wrong as a complete sentence.
 */
const char *dmda_message_parse(unsigned int argc, char **argv, struct dmda_message *message);

/**
 * dmda_message_run() - one of the runs of a RUNS_ADD or SHARE_ADD message
 * @message: a message that dmda_message_parse() understood, its words still there
 * @index: number of the run, [0, @message->nr_runs)
 *
 * Context: any.
 * Return: the run; no sum of its numbers wraps, and all its fpages and dpns are below
 * DMDA_FPAGE_LIMIT and DMDA_DPN_LIMIT. Whether the device has such pages is the
 * caller's to check.
 */
struct dmda_run dmda_message_run(const struct dmda_message *message, u32 index);

#endif /* DMDA_MESSAGE_H */
