/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether hints are sent, and what the device has said about them. Everybody may read
 * dmda.state at any time; what led to it is under dmda.admin_lock.
 */
#ifndef DMDA_HINT_STATE_H
#define DMDA_HINT_STATE_H

#include <linux/workqueue.h>

#include "core/config.h"
#include "core/lanes.h"
#include "core/stream.h"

struct dmda;
struct mm_struct;

/**
 * enum dmda_state - whether hints are sent, and why not
 * @DMDA_STATE_ON: hints are sent, as fields of the command
 * @DMDA_STATE_STREAMS: the target chooses the lane of writes, and sends it as a write stream
 * @DMDA_STATE_LIFETIMES: log mode: each kind of data has a write stream of its own
 * @DMDA_STATE_OFF: hints are not sent, as the table line or a message says
 * @DMDA_STATE_REJECTED: the device failed writes with hints and took them without
 * @DMDA_STATE_NOT_NVME: auto: the device below is not an NVMe namespace
 * @DMDA_STATE_NOT_ANNOUNCED: auto: the device does not announce that it understands
 * @DMDA_STATE_NO_ANSWER: auto: the device could not be asked
 * @DMDA_STATE_UNFIT: since a resume, the device is one for which no table is loaded; or it has
 *	metadata of which the kernel knows nothing
 * @DMDA_STATE_NO_STREAMS: fdp: kernel or device have no write streams that are lanes, or in log
 *	mode, none that keep data apart
 * @DMDA_STATE_STREAMS_GONE: the kernel has fewer write streams for the device than it had
 * @DMDA_STATE_ASKING: auto, fdp: the device is being asked; writes are remembered meanwhile
 */
enum dmda_state {
	DMDA_STATE_ON,
	DMDA_STATE_STREAMS,
	DMDA_STATE_LIFETIMES,
	DMDA_STATE_OFF,
	DMDA_STATE_REJECTED,
	DMDA_STATE_NOT_NVME,
	DMDA_STATE_NOT_ANNOUNCED,
	DMDA_STATE_NO_ANSWER,
	DMDA_STATE_UNFIT,
	DMDA_STATE_NO_STREAMS,
	DMDA_STATE_STREAMS_GONE,
	DMDA_STATE_ASKING,
};

/**
 * struct dmda_discovery - what the device says about itself
 * @state: ON, STREAMS or LIFETIMES, or the reason why hints=auto or hints=fdp does not send any
 * @why: with hints=fdp, that reason as a sentence; also that @has_metadata is why there are no
 *	hints; else NULL
 * @has_metadata: whether the namespace has metadata, also where the kernel knows nothing of it:
 *	hints are then sent by streams only, whatever the table line says
 * @knows_begin: whether it announces the hint that a write begins a file, which is sent to no other
 *	device, whatever the table line says
 * @knows_share: whether it announces that it shares pages
 * @die_unit_bytes: bytes that go to one die before the next die's turn, or 0 if unknown
 * @stripe_bytes: @die_unit_bytes times the number of dies, or 0 if unknown
 * @open_pages: pages that the units have room for in which the device gathers what is written with
 *	hints, or 0 if unknown
 * @lanes: with STREAMS, the lanes; else none
 * @stream: write stream of each lane
 * @lifetime: with LIFETIMES, write stream of each kind of data; else 0
 */
struct dmda_discovery {
	enum dmda_state state;
	const char *why;
	bool has_metadata;
	bool knows_begin;
	bool knows_share;
	u32 die_unit_bytes;
	u64 stripe_bytes;
	u32 open_pages;
	struct dmda_lanes lanes;
	u8 stream[DMDA_MAX_LANES];
	u8 lifetime[DMDA_NR_STREAMS];
};

/**
 * struct dmda_asking - what the device has answered, and asking it again; all of it under
 *	dmda.admin_lock
 * @discovery: answer to the last question that the device has answered; its @state is ASKING until
 *	the last one of all is answered
 * @nr_questions: number of the last question; answers to earlier ones do not count
 * @lent: memory of the task that resumed, for @work to use, or NULL
 * @work: worker that asks after a resume
 * @is_unfit: whether the device was, at the last resume, one for which no table is loaded
 * @resumed: whether the first resume, right after discovery, is over
 */
struct dmda_asking {
	struct dmda_discovery discovery;
	u32 nr_questions;
	struct mm_struct *lent;
	struct work_struct work;
	bool is_unfit;
	bool resumed;
};

/**
 * dmda_hints_init() - prepare a target's part
 * @dmda: the target
 *
 * Context: any.
 */
void dmda_hints_init(struct dmda *dmda);

/**
 * dmda_hints_start() - ask the device for the first time, and decide
 * @dmda: the target, as it is being constructed
 *
 * Context: may sleep; as dmda_discover().
 */
void dmda_hints_start(struct dmda *dmda);

/**
 * dmda_hints_resume() - the device may be another one: look at it, ask it, decide again
 * @dmda: the target
 *
 * Context: may sleep; does not wait for the device.
 */
void dmda_hints_resume(struct dmda *dmda);

/**
 * dmda_hints_stop() - wait for what is still being asked
 * @dmda: the target, which is suspended for good
 *
 * Context: may sleep.
 */
void dmda_hints_stop(struct dmda *dmda);

/**
 * dmda_hints_set() - a message says whether hints are wanted: decide again
 * @dmda: the target
 * @hints: enum dmda_hints_mode of the message
 *
 * Context: may sleep; as dmda_discover().
 */
void dmda_hints_set(struct dmda *dmda, enum dmda_hints_mode hints);

/**
 * dmda_state_name() - the state as the status line shows it
 * @state: the state
 *
 * Context: any.
 * Return: "on" or "off:REASON".
 */
const char *dmda_state_name(enum dmda_state state);

#endif /* DMDA_HINT_STATE_H */
