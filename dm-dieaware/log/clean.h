/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cleaning: what is valid in some segments is brought to another place, so that they become free.
 * clean-work.c is the worker, clean.c does a round, clean-when.c says when, clean-choose.c with
 * which segments, clean-all.c with all of them, stuck.c with which not, copy.c moves pages.
 */
#ifndef DMDA_LOG_CLEAN_H
#define DMDA_LOG_CLEAN_H

#include "cleaner.h"

struct dmda_log;

/**
 * dmda_log_cleaner_create() - set memory aside for cleaning
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM; dmda_log_cleaner_destroy() is due in both cases.
 */
int dmda_log_cleaner_create(struct dmda_log *log);
void dmda_log_cleaner_destroy(struct dmda_log *log);

/**
 * dmda_log_clean_chosen() - move what is valid in the victims to other places
 *
 * Return: whether that is done, and durable.
 */
bool dmda_log_clean_chosen(struct dmda_log_cleaner *cleaner);

/**
 * dmda_log_clean_some() - choose victims, and clean them
 * @is_urgent: users wait, or would have to
 *
 * Return: whether there were some, and that is done.
 */
bool dmda_log_clean_some(struct dmda_log_cleaner *cleaner, bool is_urgent);

/**
 * dmda_log_gain_room() - clean until there is enough for a while
 * @may: as long as this says so
 */
void dmda_log_gain_room(struct dmda_log *log, bool (*may)(const struct dmda_log *log));

/*
 * Functions defined in clean-when.c
 */

/* May it begin, as far as nothing is said of what there is to be done? */
bool dmda_log_may_clean(const struct dmda_log *log);

/* Lets the cleaner begin, unless all is quiet. */
void dmda_log_begin_clean(struct dmda_log *log);

/* Clean if there is reason to. */
void dmda_log_kick_clean(struct dmda_log *log);

/* The same, if so few segments are free that users will have to wait. */
void dmda_log_clean_if_low_locked(struct dmda_log *log);

/* The same; if more are free, but few, when nobody reads or writes. */
void dmda_log_clean_if_few_locked(struct dmda_log *log);

/* The same, if overwrites in place have left what is free in holes. */
void dmda_log_clean_if_holey_locked(struct dmda_log *log);

/**
 * dmda_log_wait_idle() - clean when nobody reads or writes for a while
 *
 * Context: any.
 */
void dmda_log_wait_idle(struct dmda_log *log);

/**
 * dmda_log_do_idle() - worker: look whether that is so
 */
void dmda_log_do_idle(struct work_struct *work);

/* Users' writes may wait for what cleaning gains; for what it does besides that, nobody does. */
bool dmda_log_must_stop(const struct dmda_log_cleaner *cleaner);

/**
 * dmda_log_begin_gathering() - has so much been overwritten in place that some segments are to be
 *	cleaned for it, so that what is free lies together?
 *
 * Return: true once for that much.
 */
bool dmda_log_begin_gathering(struct dmda_log *log);

/* Segments that are free, or will be without any cleaning */
u32 dmda_log_nr_to_be_had(struct dmda_log *log);

/* Are these so few that cleaning is worth it when nobody reads or writes? */
bool dmda_log_has_few(struct dmda_log *log);

/* Is a write or trim under way, however long ago it came? */
bool dmda_log_has_writes(struct dmda_log *log);

/* Nobody reads or writes, nor waits for a write: cleaning in idle time may begin. */
bool dmda_log_is_at_rest(struct dmda_log *log);

/*
 * Functions defined in clean-choose.c
 */

/**
 * dmda_log_choose_victims() - choose segments, and find the pages that are valid in them
 * @is_urgent: whether to take those that gain the most space for the least work, whatever the
 *	policy is
 *
 * Context: may sleep.
 * Return: how many; they are held.
 */
u32 dmda_log_choose_victims(struct dmda_log_cleaner *cleaner, bool is_urgent);

/* There are no victims yet. */
void dmda_log_forget_victims(struct dmda_log_cleaner *cleaner);

/* Take a segment in, if what is valid in it has room. */
bool dmda_log_add_victim(struct dmda_log_cleaner *cleaner, const struct dmda_log_look *look);

/* Find the valid pages of segments. */
void dmda_log_look_at(struct dmda_log_cleaner *cleaner, struct dmda_log_look *looks, u32 nr);

/* Count a segment as being read, so that it is not freed. */
void dmda_log_hold(struct dmda_log *log, seg_t seg);

/* Moves for which there is room whatever users do: they take none of the last segments. */
u32 dmda_log_sure_moves(struct dmda_log_cleaner *cleaner);

/*
 * Functions defined in clean-all.c
 */

/**
 * dmda_log_clean_everything() - clean all segments that are worth it, once
 *
 * Clears must_clean_all if it has come to the end, and left none alone.
 */
void dmda_log_clean_everything(struct dmda_log_cleaner *cleaner);

/*
 * Functions defined in copy.c
 */

/**
 * dmda_log_copy() - bring all moves to other places, and map them there
 *
 * Return: whether all are done; else cleaning has to end.
 */
bool dmda_log_copy(struct dmda_log_cleaner *cleaner);

/**
 * dmda_log_copy_create() - allocate memory for what is copied
 * @cleaner: its plan.max_moves is set
 *
 * Return: whether there was enough. Otherwise dmda_log_copy_destroy() frees what there is.
 */
bool dmda_log_copy_create(struct dmda_log_cleaner *cleaner);

/**
 * dmda_log_copy_destroy() - free memory for what is copied
 */
void dmda_log_copy_destroy(struct dmda_log_cleaner *cleaner);

/*
 * Functions defined in clean-work.c
 */

/**
 * dmda_log_do_clean() - worker: clean as long as it is worth it
 */
void dmda_log_do_clean(struct work_struct *work);

/**
 * dmda_log_clean_all() - clean all segments that are worth it
 *
 * Context: may sleep.
 * Return: 0 or a negative errno; -EAGAIN: a suspension has ended it.
 */
int dmda_log_clean_all(struct dmda_log *log);

/*
 * Functions defined in stuck.c
 */

/**
 * dmda_log_stick() - a segment has pages that cannot be read, and is left alone
 * @seg: is held
 * @why: what is the matter with it
 *
 * Context: the cleaner; without the lock.
 */
void dmda_log_stick(struct dmda_log_cleaner *cleaner, seg_t seg, enum dmda_stuck why);

/**
 * dmda_log_try_again() - what could not be read is tried again, unless that was a moment ago
 *
 * A device that does not read for good is asked more and more seldom, unless writes wait for it.
 *
 * Context: the cleaner; without the lock.
 * Return: whether there is anything.
 */
bool dmda_log_try_again(struct dmda_log_cleaner *cleaner);

/**
 * dmda_log_renew_cleaner() - somebody may have mended what is below: all is tried again
 *
 * Context: the cleaner, or while it is not at work; without the lock.
 */
void dmda_log_renew_cleaner(struct dmda_log_cleaner *cleaner);

#endif /* DMDA_LOG_CLEAN_H */
