/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the simulator's Rust side sees of the FTL: parameters and counters by name, so
 * that new ones need a line in glue.c and nothing else, and commands as plain numbers.
 * src/sim/drive.rs declares the same things once more.
 */
#ifndef SIM_GLUE_H
#define SIM_GLUE_H

#include <dieaware/platform.h>

struct sim_config;
struct sim_drive;

#define SIM_MAX_VALUES	4

enum sim_op {
	SIM_READ,
	SIM_WRITE,
	SIM_TRIM,
	SIM_FLUSH,
	SIM_SHARE,
	SIM_REDISTRIBUTE,
};

enum sim_hint {
	SIM_HINT_NONE,
	SIM_HINT_APPEND,
	SIM_HINT_OVERWRITE,
	SIM_HINT_BEGIN,
};

/**
 * struct sim_request - a command
 * @first: first page
 * @nr_pages: pages; at most 1024 for reads and writes, 16384 for the last two
 * @pred: page that @first follows, for SIM_HINT_APPEND; for SIM_SHARE the first page that gets
 *	the data; for SIM_REDISTRIBUTE the threshold in thousandths
 * @bytes: bytes that cross the link
 * @op: enum sim_op; SIM_FLUSH looks at nothing else
 * @hint: enum sim_hint
 * @head_partial: the first page is covered in part
 * @tail_partial: the last page is
 * @fua: must be durable when it completes
 */
struct sim_request {
	u64 first;
	u64 nr_pages;
	u64 pred;
	u32 bytes;
	u32 op;
	u32 hint;
	u8 head_partial;
	u8 tail_partial;
	u8 fua;
};

#define SIM_NO_DIE	U32_MAX

/**
 * struct sim_where - struct ftl_where as plain numbers
 * @unit: flash unit or open unit
 * @die: SIM_NO_DIE if it is nowhere
 * @slot: slot in the unit
 * @nr_filled: slots of an open unit that are in use, 0 on NAND
 */
struct sim_where {
	u64 unit;
	u32 die;
	u32 slot;
	u32 nr_filled;
};

/**
 * struct sim_placement - struct ftl_placement as plain numbers
 * @lpn: U64_MAX if there is none
 * @pred: likewise
 * @nr_pages: as in struct ftl_placement, like all that follow
 */
struct sim_placement {
	u64 lpn;
	u64 pred;
	u32 nr_pages;
	u32 hint;
	u32 rule;
	u32 wanted;
	struct sim_where pred_at;
	struct sim_where before;
	struct sim_where after;
	u8 is_levelled;
};

/**
 * sim_profile_name() - the named drives one after the other
 * Return: the name, NULL behind the last.
 */
const char *sim_profile_name(u32 index);

/**
 * sim_profile_description() - what the drive of a valid @index is
 */
const char *sim_profile_description(u32 index);

/**
 * sim_config_new() - a copy of a profile's parameters
 * Return: NULL without memory.
 */
struct sim_config *sim_config_new(u32 profile);

void sim_config_free(struct sim_config *config);

/**
 * sim_key_name() - the parameters one after the other
 * Return: the name that it has in configfs, too; NULL behind the last.
 */
const char *sim_key_name(u32 key);

/**
 * sim_config_set() - change a parameter
 * @values: new values, SIM_MAX_VALUES at most
 *
 * Return: 0, -EINVAL for a wrong number of values or a fraction of a page, -ERANGE.
 */
int sim_config_set(struct sim_config *config, u32 key, const u64 *values, u32 nr_values);

/**
 * sim_config_get() - ask for a parameter
 * @values: room for SIM_MAX_VALUES
 *
 * Return: number of values.
 */
u32 sim_config_get(const struct sim_config *config, u32 key, u64 *values);

/**
 * sim_config_keep() - the drive is to be one that can be kept, as the kernel's are
 *
 * One without power-loss protection keeps out-of-band data then: it can collect a little later.
 */
void sim_config_keep(struct sim_config *config);

/**
 * sim_drive_new() - make a drive, everything unmapped, at time 0
 * @config: what it is to be; its geometry is completed
 * @reason: gets NULL, or a sentence that says what is impossible
 *
 * Memory is reserved as a whole and taken when it is used.
 *
 * Return: the drive, or NULL; without a @reason there is no memory.
 */
struct sim_drive *sim_drive_new(struct sim_config *config, const char **reason);

void sim_drive_free(struct sim_drive *drive);

/**
 * sim_drive_run() - execute a command
 * Return: the time at which it completes.
 */
u64 sim_drive_run(struct sim_drive *drive, const struct sim_request *request, u64 now_ns);

/**
 * sim_drive_precondition() - fill and overwrite the drive as a host would, in no time
 * @fill_percent: share of the pages to fill
 * @random_percent: pages to overwrite, in percent of these
 * @seed: which pages these are
 *
 * Return: NULL, or a sentence that says what is impossible.
 */
const char *sim_drive_precondition(struct sim_drive *drive, u64 fill_percent, u64 random_percent,
				   u64 seed);

/**
 * sim_drive_save() - write the drive to a state file, without data; it is at rest afterwards
 * @fd: file that is open for writing
 * @error: gets the errno if the file could not be written, or 0
 *
 * Return: NULL, or a sentence that says what is wrong.
 */
const char *sim_drive_save(struct sim_drive *drive, int fd, int *error);

/**
 * sim_drive_load() - make a new drive what is in a state file; its data is left out
 * @fd: file that is open for reading
 * @error: gets the errno if the file could not be read, or 0
 *
 * Return: NULL, or a sentence that says why not; the drive can only be freed then.
 */
const char *sim_drive_load(struct sim_drive *drive, int fd, int *error);

/**
 * sim_drive_refused() - share commands that were refused (enum ftl_share_result)
 */
u64 sim_drive_refused(const struct sim_drive *drive);

/**
 * sim_drive_listen() - begin, or end, to note what placement decides; forgets what was noted
 */
void sim_drive_listen(struct sim_drive *drive, bool listens);

/**
 * sim_drive_placements() - what was noted
 * @placements: gets the decisions; valid until the next call that changes the drive
 *
 * Return: how many.
 */
u64 sim_drive_placements(const struct sim_drive *drive, const struct sim_placement **placements);

/**
 * sim_rule_name() - the rules of placement one after the other
 * Return: the number that it has in place.h, NULL behind the last.
 */
const char *sim_rule_name(u32 rule);

u32 sim_drive_unit_pages(const struct sim_drive *drive);

/**
 * sim_drive_idle() - let idle dies do background work
 * Return: is there more of it?
 */
bool sim_drive_idle(struct sim_drive *drive, u64 now_ns);

/**
 * sim_drive_check() - NULL, or the first rule of ftl_check() that is broken
 */
const char *sim_drive_check(const struct sim_drive *drive);

u32 sim_drive_nr_dies(const struct sim_drive *drive);

/**
 * sim_drive_nr_pages() - pages that the host sees
 */
u64 sim_drive_nr_pages(const struct sim_drive *drive);

/**
 * sim_counter_name() - the drive's counters one after the other
 * Return: the name, NULL behind the last.
 */
const char *sim_counter_name(u32 counter);

u64 sim_drive_counter(const struct sim_drive *drive, u32 counter);

/**
 * sim_die_counter_name() - the same for a die's counters
 */
const char *sim_die_counter_name(u32 counter);

u64 sim_die_counter(const struct sim_drive *drive, u32 die, u32 counter);

#endif /* SIM_GLUE_H */
