// SPDX-License-Identifier: GPL-2.0-only
/* Reading what a device says of its placement handles, and doubting it. See fdp.h. */
#include "fdp.h"

/* Fields of a configuration */
#define ATTRIBUTES_AT		2
#define NR_GROUPS_AT		4
#define NR_HANDLES_AT		8
#define ATTRIBUTES_GROUP_BITS	0xf
#define ATTRIBUTES_VALID	BIT(7)

/* Types of handles whose data the device keeps apart: at first, or always */
#define INITIALLY_ISOLATED	0x01
#define PERSISTENTLY_ISOLATED	0x02

/* Head of the status: number of entries; and a field of an entry */
#define NR_ENTRIES_AT		14
#define HANDLE_AT		2

#define OTHER_NUMBER \
	"The kernel has another number of write streams for the device than the device has placement identifiers."
#define NO_UNIT \
	"The device names no optimal write size from 16 KiB to 16 MiB: the option fdp_unit_kb may say what goes to a die at a time."
/* Handles that there is a use for: one for each kind of data, and one for all else */
#define NR_WANTED	(DMDA_NR_STREAMS + 1)

#define NO_PROMISE \
	"The device does not promise to keep data of its placement handles apart."
#define NO_SENSE	"What the device says of its reclaim groups makes no sense."

static u32 le16_at(const u8 *at)
{
	return at[0] | (u32)at[1] << 8;
}

static u32 le32_at(const u8 *at)
{
	return le16_at(at) | le16_at(at + 2) << 16;
}

/* A configuration, or NULL if the page makes no sense up to there. Gets what is left from there. */
static const u8 *find_config(const u8 *page, u32 nr_bytes, u32 index, u32 *left)
{
	u32 at = DMDA_FDP_CONFIGS_HEAD;
	const u8 *config;

	if (nr_bytes < DMDA_FDP_CONFIGS_HEAD || index > le16_at(page))
		return NULL;
	do {
		u32 config_bytes;

		if (at > nr_bytes || nr_bytes - at < DMDA_FDP_CONFIG_MIN)
			return NULL;
		config = page + at;
		*left = nr_bytes - at;
		config_bytes = le16_at(config);
		if (config_bytes < DMDA_FDP_CONFIG_MIN)
			return NULL;
		at += config_bytes;
	} while (index--);
	return config[ATTRIBUTES_AT] & ATTRIBUTES_VALID ? config : NULL;
}

/* Room for handles in so many bytes of a configuration */
static u32 handles_in(u32 nr_bytes)
{
	return (nr_bytes - DMDA_FDP_CONFIG_MIN) / DMDA_FDP_HANDLE_BYTES;
}

/* A list that ends behind its configuration is none; one that ends behind the page, in part. */
static void read_types(const u8 *config, u32 left, struct dmda_fdp *fdp)
{
	u32 nr = le16_at(config + NR_HANDLES_AT);

	fdp->nr_types = 0;
	if (nr > handles_in(le16_at(config)))
		return;
	fdp->nr_types = min3(nr, handles_in(left), (u32)DMDA_MAX_LANES);
	for (u32 i = 0; i < fdp->nr_types; i++)
		fdp->type[i] = config[DMDA_FDP_CONFIG_MIN + i * DMDA_FDP_HANDLE_BYTES];
}

bool dmda_fdp_read_config(const u8 *page, u32 nr_bytes, u32 index, struct dmda_fdp *fdp)
{
	u32 left;
	const u8 *config = find_config(page, nr_bytes, index, &left);

	if (!config)
		return false;
	fdp->nr_groups = le32_at(config + NR_GROUPS_AT);
	fdp->group_bits = config[ATTRIBUTES_AT] & ATTRIBUTES_GROUP_BITS;
	read_types(config, left, fdp);
	return true;
}

bool dmda_fdp_read_status(const u8 *page, u32 nr_bytes, struct dmda_fdp *fdp)
{
	u32 i;

	if (nr_bytes < DMDA_FDP_STATUS_HEAD)
		return false;
	fdp->nr_pids = min_t(u32, le16_at(page + NR_ENTRIES_AT), DMDA_MAX_LANES);
	if ((nr_bytes - DMDA_FDP_STATUS_HEAD) / DMDA_FDP_STATUS_ENTRY < fdp->nr_pids)
		return false;
	for (i = 0; i < fdp->nr_pids; i++) {
		const u8 *entry = page + DMDA_FDP_STATUS_HEAD + i * DMDA_FDP_STATUS_ENTRY;

		fdp->pid[i] = le16_at(entry);
		fdp->handle[i] = le16_at(entry + HANDLE_AT);
	}
	return true;
}

/* What is wrong whatever the streams are for */
static const char *complaint(const struct dmda_fdp *fdp)
{
	if (!fdp->max_streams)
		return "The kernel has no write streams for the device.";
	if (fdp->nr_pids != fdp->max_streams)
		return OTHER_NUMBER;
	if (!fdp->nr_groups || fdp->group_bits > 15 || fdp->nr_groups > BIT(fdp->group_bits))
		return NO_SENSE;
	return NULL;
}

static const char *lanes_complaint(const struct dmda_fdp *fdp, bool handles_too)
{
	const char *wrong = complaint(fdp);

	if (wrong)
		return wrong;
	if (fdp->nr_groups == 1 && !handles_too)
		return "The device has one reclaim group, and its handles need not be dies.";
	if (fdp->unit_bytes < DMDA_LANE_UNIT_MIN || fdp->unit_bytes > DMDA_LANE_UNIT_MAX ||
	    fdp->unit_bytes % BIT(DMDA_PAGE_SHIFT))
		return NO_UNIT;
	return NULL;
}

static u32 group_of(const struct dmda_fdp *fdp, u32 index)
{
	return fdp->pid[index] >> (16 - fdp->group_bits);
}

/* Is it the first identifier of its group, or, where these do not count, of all that are alike? */
static bool is_new(const struct dmda_fdp *fdp, u32 index)
{
	u32 i;

	for (i = 0; i < index; i++) {
		if (fdp->pid[i] == fdp->pid[index] ||
		    (fdp->nr_groups > 1 && group_of(fdp, i) == group_of(fdp, index)))
			return false;
	}
	return true;
}

const char *dmda_fdp_lanes(const struct dmda_fdp *fdp, bool handles_too,
			   struct dmda_lanes *lanes, u8 *stream)
{
	const char *wrong = lanes_complaint(fdp, handles_too);
	u32 i;

	lanes->nr = 0;
	lanes->unit_pages = 0;
	if (wrong)
		return wrong;
	for (i = 0; i < fdp->nr_pids; i++) {
		if (group_of(fdp, i) >= fdp->nr_groups) {
			lanes->nr = 0;
			return NO_SENSE;
		}
		if (is_new(fdp, i))
			stream[lanes->nr++] = i + 1;
	}
	if (lanes->nr < 2) {
		lanes->nr = 0;
		return "The namespace has placement identifiers of one reclaim group only.";
	}
	lanes->unit_pages = fdp->unit_bytes >> DMDA_PAGE_SHIFT;
	return NULL;
}

static bool is_isolated(const struct dmda_fdp *fdp, u32 handle)
{
	return handle < fdp->nr_types && (fdp->type[handle] == INITIALLY_ISOLATED ||
					  fdp->type[handle] == PERSISTENTLY_ISOLATED);
}

/* Does no identifier before it name the same handle? */
static bool is_new_handle(const struct dmda_fdp *fdp, u32 index)
{
	for (u32 i = 0; i < index; i++) {
		if (fdp->pid[i] == fdp->pid[index] || fdp->handle[i] == fdp->handle[index])
			return false;
	}
	return true;
}

/* The first identifiers of different handles, the very first one of the list among them */
static const char *find_handles(const struct dmda_fdp *fdp, bool any_type, u8 *found,
				u32 *nr_found)
{
	*nr_found = 0;
	for (u32 i = 0; i < fdp->nr_pids && *nr_found < NR_WANTED; i++) {
		if (group_of(fdp, i) >= fdp->nr_groups)
			return NO_SENSE;
		if (!is_new_handle(fdp, i))
			continue;
		if (!any_type && !is_isolated(fdp, fdp->handle[i]))
			return NO_PROMISE;
		found[(*nr_found)++] = i + 1;
	}
	return *nr_found < 2 ? "The namespace has one placement handle only." : NULL;
}

const char *dmda_fdp_handles(const struct dmda_fdp *fdp, bool any_type, u8 *stream)
{
	const char *wrong = complaint(fdp);
	u8 found[NR_WANTED];
	const u8 *data;
	u32 nr_found;

	if (!wrong && fdp->nr_groups > 1)
		wrong = "The device has several reclaim groups.";
	if (!wrong)
		wrong = find_handles(fdp, any_type, found, &nr_found);
	if (wrong)
		return wrong;
	/* Of two handles, the first has what is written again soon: metadata, and what is new. */
	data = nr_found > 2 ? found + 1 : found;
	stream[DMDA_STREAM_USER] = data[0];
	stream[DMDA_STREAM_MOVED] = data[1];
	stream[DMDA_STREAM_WARM] = nr_found == NR_WANTED ? data[2] : data[0];
	stream[DMDA_STREAM_HOT] = nr_found == NR_WANTED ? data[3] : data[0];
	return NULL;
}
