// SPDX-License-Identifier: GPL-2.0-only
/* Placement identifiers, their commands, features and events; the log pages are in fdp-log.c. */
#include "compat.h"
#include "dma.h"
#include "nvmev.h"
#include "outage.h"

static_assert(sizeof(struct nvmev_fdp_status) +
	      NVMEV_MAX_HANDLES * sizeof(struct nvmev_fdp_handle) <= PAGE_SIZE);

static const u8 event_types[] = { NVMEV_FDP_NOT_FULL, NVMEV_FDP_INVALID_PID };

/* Identifiers have numbers: those of the handles, or of the groups. */

static u16 pid_of(const struct nvmev_fdp *fdp, u32 number)
{
	return fdp->group_bits ? number << (16 - fdp->group_bits) : number;
}

/* Returns @nr_pids if there is no such identifier. */
static u32 number_of(const struct nvmev_fdp *fdp, u16 pid)
{
	u32 number = fdp->group_bits ? pid >> (16 - fdp->group_bits) : pid;

	return number < fdp->nr_pids && pid_of(fdp, number) == pid ? number : fdp->nr_pids;
}

static u32 handle_of(const struct nvmev_fdp *fdp, u32 number)
{
	return number < fdp->nr_handles ? number : 0;
}

/* The die on which writes begin; a drive of many dies has handles for some. */
static die_t die_of_number(const struct nvmev *nvmev, u32 number)
{
	return to_die(div_u64((u64)number * ftl_nr_dies(nvmev->ftl), nvmev->fdp.nr_pids));
}

void nvmev_fdp_init(struct nvmev *nvmev)
{
	const struct ftl_params *params = &nvmev->config.ftl;
	struct nvmev_fdp *fdp = &nvmev->fdp;
	u32 i;

	if (!nvmev->config.fdp)
		return;
	fdp->nr_pids = params->nr_handles ?:
		       min_t(u32, ftl_nr_dies(nvmev->ftl), NVMEV_MAX_HANDLES);
	fdp->nr_handles = fdp->nr_pids;
	fdp->ru_bytes = (u64)params->unit_pages * params->units_per_eblk << FTL_PAGE_SHIFT;
	if (nvmev->config.fdp_groups) {
		fdp->nr_handles = 1;
		fdp->group_bits = order_base_2(fdp->nr_pids);
	} else {
		fdp->ru_bytes *= ftl_nr_dies(nvmev->ftl);
	}
	for (i = 0; i < fdp->nr_pids; i++)
		fdp->left_bytes[i] = fdp->ru_bytes;
}

bool nvmev_fdp_is_on(const struct nvmev *nvmev)
{
	return nvmev->config.fdp && !READ_ONCE(nvmev->inject.fdp_is_off);
}

static u64 timestamp_ms(const struct nvmev *nvmev)
{
	const struct nvmev_features *features = &nvmev->features;
	u64 since_ns = features->timestamp_set_ns ?: nvmev->power_on_ns;

	return features->timestamp_ms + div_u64(ktime_get_ns() - since_ns, NSEC_PER_MSEC);
}

static void record(struct nvmev *nvmev, u32 type, const struct nvmev_ns *ns, u16 pid)
{
	struct nvmev_fdp *fdp = &nvmev->fdp;
	/* What is no handle has no switch of its own. */
	u32 handle = handle_of(fdp, number_of(fdp, pid));

	if (!(fdp->enabled[ns->nsid - 1][handle] & BIT(type)))
		return;
	fdp->events[fdp->nr_events++ % NVMEV_NR_FDP_EVENTS] = (struct nvmev_fdp_event){
		.type = type,
		.flags = NVMEV_FDP_HAS_PID | NVMEV_FDP_HAS_NSID,
		.pid = cpu_to_le16(pid),
		.timestamp_ms = cpu_to_le64(timestamp_ms(nvmev)),
		.nsid = cpu_to_le32(ns->nsid),
	};
}

void nvmev_fdp_decode(struct nvmev *nvmev, const struct nvmev_cmd *cmd, struct ftl_request *rq)
{
	struct nvmev_fdp *fdp = &nvmev->fdp;
	u32 pid = le32_to_cpu(cmd->sqe.rw.dsmgmt) >> 16;
	u32 number = number_of(fdp, pid);
	u64 left_bytes, bytes;

	if (number == fdp->nr_pids) {
		record(nvmev, NVMEV_FDP_INVALID_PID, cmd->ns, pid);
		return;
	}
	if (nvmev->config.ftl.nr_handles) {
		rq->handle = number;
	} else {
		rq->hint = nvmev->config.fdp_groups ? FTL_HINT_ALL_DIE : FTL_HINT_DIE;
		rq->die = die_of_number(nvmev, number);
	}
	/* The unit that is full is followed by another; one write may fill several. */
	div64_u64_rem(rq->bytes, fdp->ru_bytes, &bytes);
	left_bytes = fdp->left_bytes[number];
	fdp->left_bytes[number] = left_bytes > bytes ? left_bytes - bytes :
			       left_bytes + fdp->ru_bytes - bytes;
}

u32 nvmev_fdp_handle(const struct nvmev *nvmev, const struct nvme_command *sqe)
{
	u32 number;

	if (!nvmev->config.ftl.nr_handles ||
	    !(le16_to_cpu(sqe->rw.control) & NVMEV_RW_DIRECTIVE))
		return 0;
	number = number_of(&nvmev->fdp, le32_to_cpu(sqe->rw.dsmgmt) >> 16);
	return number < nvmev->fdp.nr_pids ? number : 0;
}

void nvmev_fdp_status(const struct nvmev *nvmev, const struct nvmev_ns *ns, void *page)
{
	struct nvmev_fdp_status *status = page;
	const struct nvmev_fdp *fdp = &nvmev->fdp;
	u32 i;

	status->nr_handles = cpu_to_le16(fdp->nr_pids);
	for (i = 0; i < fdp->nr_pids; i++) {
		status->handle[i].pid = cpu_to_le16(pid_of(fdp, i));
		status->handle[i].ruhid = cpu_to_le16(handle_of(fdp, i));
		status->handle[i].left_lbas = cpu_to_le64(fdp->left_bytes[i] >> ns->lba_shift);
	}
}

static void update(struct nvmev *nvmev, const struct nvmev_ns *ns, u16 pid)
{
	struct nvmev_fdp *fdp = &nvmev->fdp;
	u32 number = number_of(fdp, pid);

	if (fdp->left_bytes[number] != fdp->ru_bytes)
		record(nvmev, NVMEV_FDP_NOT_FULL, ns, pid);
	fdp->left_bytes[number] = fdp->ru_bytes;
	guard(mutex)(&nvmev->ftl_lock);
	if (nvmev->config.ftl.nr_handles)
		ftl_handle_anew(nvmev->ftl, number, nvmev_now(nvmev));
	else
		ftl_send_anew(nvmev->ftl, die_of_number(nvmev, number));
}

u16 nvmev_fdp_update(struct nvmev *nvmev, const struct nvmev_ns *ns, const __le16 *pids, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (number_of(&nvmev->fdp, le16_to_cpu(pids[i])) == nvmev->fdp.nr_pids)
			return NVME_SC_INVALID_FIELD | NVMEV_DNR;
	for (i = 0; i < nr; i++)
		update(nvmev, ns, le16_to_cpu(pids[i]));
	return 0;
}

/* Events are switched by namespace and handle; @bits is where the present ones stand. */
static u16 find_switch(struct nvmev *nvmev, const struct nvme_command *sqe, u8 **bits)
{
	const struct nvmev_ns *ns = nvmev_ns_find(nvmev, le32_to_cpu(sqe->features.nsid));
	u32 handle = le32_to_cpu(sqe->features.dword11) & 0xffff;

	if (!ns)
		return NVME_SC_INVALID_NS;
	if (handle >= nvmev->fdp.nr_handles)
		return NVME_SC_INVALID_FIELD;
	*bits = &nvmev->fdp.enabled[ns->nsid - 1][handle];
	return 0;
}

/* None of them is reported by default. */
static u16 get_events(struct nvmev *nvmev, const struct nvme_command *sqe, u64 *result)
{
	u32 nr = NVMEV_FDP_NR_TYPES(le32_to_cpu(sqe->features.dword11));
	bool is_current = NVMEV_FEATURE_SELECT(le32_to_cpu(sqe->features.fid)) ==
			  NVMEV_SELECT_CURRENT;
	u8 list[2 * ARRAY_SIZE(event_types)];
	u32 i, bytes = min_t(u32, 2 * nr, sizeof(list));
	struct nvmev_dma dma;
	u16 status;
	u8 *bits;

	status = find_switch(nvmev, sqe, &bits);
	if (status)
		return status;
	for (i = 0; i < ARRAY_SIZE(event_types); i++) {
		list[2 * i] = event_types[i];
		list[2 * i + 1] = is_current && (*bits & BIT(event_types[i]));
	}
	*result = ARRAY_SIZE(event_types);
	if (!bytes)
		return 0;
	status = nvmev_dma_begin(&dma, &nvmev->pci, sqe, bytes);
	return status ?: nvmev_dma_to_host(&dma, list, bytes);
}

static u16 set_events(struct nvmev *nvmev, const struct nvme_command *sqe)
{
	u32 nr = NVMEV_FDP_NR_TYPES(le32_to_cpu(sqe->features.dword11));
	bool on = le32_to_cpu(sqe->features.dword12) & 1;
	u8 types[U8_MAX], mask = 0;
	struct nvmev_dma dma;
	u16 status;
	u8 *bits;
	u32 i;

	status = find_switch(nvmev, sqe, &bits);
	if (!status && !nr)
		status = NVME_SC_INVALID_FIELD;
	if (!status)
		status = nvmev_dma_begin(&dma, &nvmev->pci, sqe, nr);
	if (!status)
		status = nvmev_dma_from_host(&dma, types, nr);
	for (i = 0; i < nr && !status; i++) {
		if (!memchr(event_types, types[i], sizeof(event_types)))
			status = NVME_SC_INVALID_FIELD;
		else
			mask |= BIT(types[i]);
	}
	if (!status)
		*bits = on ? *bits | mask : *bits & ~mask;
	return status;
}

static bool names_the_group(const struct nvme_command *sqe)
{
	return (le32_to_cpu(sqe->features.dword11) & 0xffff) == NVMEV_ENDURANCE_GROUP;
}

static bool is_events(const struct nvme_command *sqe)
{
	return (le32_to_cpu(sqe->features.fid) & 0xff) == NVMEV_FEAT_FDP_EVENTS;
}

u16 nvmev_fdp_get_feature(struct nvmev *nvmev, const struct nvme_command *sqe, u64 *result)
{
	if (!nvmev->fdp.nr_pids)
		return NVME_SC_INVALID_FIELD;
	if (is_events(sqe))
		return get_events(nvmev, sqe, result);
	if (!names_the_group(sqe))
		return NVME_SC_INVALID_FIELD;
	/* Enabled or not, configuration 0. */
	*result = nvmev_fdp_is_on(nvmev);
	return 0;
}

u16 nvmev_fdp_set_feature(struct nvmev *nvmev, const struct nvme_command *sqe)
{
	if (!nvmev->fdp.nr_pids)
		return NVME_SC_INVALID_FIELD;
	if (is_events(sqe))
		return set_events(nvmev, sqe);
	/* Not while the group has namespaces, and it always has. */
	return names_the_group(sqe) ? NVME_SC_CMD_SEQ_ERROR : NVME_SC_INVALID_FIELD;
}
