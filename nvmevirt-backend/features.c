// SPDX-License-Identifier: GPL-2.0-only
/*
 * Get Features and Set Features. Nothing is saved: after a reset every feature has
 * its default, but for the events of FDP (fdp.c), which stay as the host has set them.
 */
#include "dma.h"
#include "features.h"
#include "health.h"
#include "nvmev.h"
#include "outage.h"
#include "translate.h"

#define TEMP_OVER_KELVIN	(273 + 75)
#define TEMP_SELECT(dw)		(((dw) >> 16) & 0xf)
#define TEMP_SELECT_ALL		0xf
#define TEMP_IS_UNDER(dw)	(((dw) >> 20) & 0x3)
#define TIMESTAMP_BYTES		8
#define TIMESTAMP_SET_BY_HOST	BIT_ULL(49)

/* Features that belong to the controller, as bits */
#define FOR_CONTROLLER									\
	(BIT(NVME_FEAT_ARBITRATION) | BIT(NVME_FEAT_POWER_MGMT) | BIT(NVME_FEAT_TEMP_THRESH) |	\
	 BIT(NVME_FEAT_VOLATILE_WC) | BIT(NVME_FEAT_NUM_QUEUES) | BIT(NVME_FEAT_IRQ_COALESCE) |	\
	 BIT(NVME_FEAT_IRQ_CONFIG) | BIT(NVME_FEAT_WRITE_ATOMIC) | BIT(NVME_FEAT_ASYNC_EVENT) |	\
	 BIT(NVME_FEAT_TIMESTAMP))

static void set_defaults(struct nvmev_features *features)
{
	u32 vector;

	memset(features, 0, sizeof(*features));
	features->arbitration = NVMEV_ARBITRATION_DEFAULT;
	features->temp_over = TEMP_OVER_KELVIN;
	features->write_cache = true;
	for (vector = 0; vector < NVMEV_MAX_QUEUES; vector++)
		features->irq_config[vector] = vector;
}

void nvmev_features_reset(struct nvmev *nvmev)
{
	u32 i;

	set_defaults(&nvmev->features);
	for (i = 0; i < nvmev->nr_ns; i++)
		nvmev->ns[i].error_recovery = 0;
	nvmev->nr_queues = nvmev->config.queues;
}

static u16 temp_threshold(struct nvmev_features *features, u32 dw, u16 **threshold)
{
	/* One sensor, the composite. */
	if (TEMP_SELECT(dw) && TEMP_SELECT(dw) != TEMP_SELECT_ALL)
		return NVME_SC_INVALID_FIELD;
	if (TEMP_IS_UNDER(dw) > 1)
		return NVME_SC_INVALID_FIELD;
	*threshold = TEMP_IS_UNDER(dw) ? &features->temp_under : &features->temp_over;
	return 0;
}

static u16 set_temp_threshold(struct nvmev *nvmev, u32 dw)
{
	u16 *threshold;
	u16 status = temp_threshold(&nvmev->features, dw, &threshold);

	if (status)
		return status;
	*threshold = dw;
	nvmev_health_report(nvmev);
	return 0;
}

static bool has_io_queues(const struct nvmev *nvmev)
{
	u32 id;

	for (id = 1; id < NVMEV_MAX_QUEUES; id++)
		if (nvmev->queues.sq[id].ring || nvmev->queues.cq[id].ring)
			return true;
	return false;
}

static u64 queues_result(u32 nr)
{
	return (nr - 1) | (nr - 1) << 16;
}

/* The same number of both kinds, no more than asked for of either. */
static u16 set_nr_queues(struct nvmev *nvmev, u32 dw, u64 *result)
{
	u32 nr_sqs = (dw & 0xffff) + 1;
	u32 nr_cqs = (dw >> 16) + 1;

	if (nr_sqs > 0xffff || nr_cqs > 0xffff)
		return NVME_SC_INVALID_FIELD;
	if (has_io_queues(nvmev))
		return NVME_SC_CMD_SEQ_ERROR;
	nvmev->nr_queues = min3(nr_sqs, nr_cqs, nvmev->config.queues);
	*result = queues_result(nvmev->nr_queues);
	return 0;
}

/* The one feature that every namespace has for itself. */
static u16 set_error_recovery(struct nvmev *nvmev, u32 nsid, u32 dw)
{
	u32 i;

	if (nsid != NVMEV_NSID_ALL && !nvmev_ns_find(nvmev, nsid))
		return NVME_SC_INVALID_NS;
	/* Bit 16 turns errors for deallocated blocks on, which Identify does not offer. */
	if (dw & BIT(16))
		return NVME_SC_INVALID_FIELD;
	for (i = 0; i < nvmev->nr_ns; i++)
		if (nsid == NVMEV_NSID_ALL || nsid == nvmev->ns[i].nsid)
			nvmev->ns[i].error_recovery = dw & 0xffff;
	return 0;
}

static u16 get_error_recovery(struct nvmev *nvmev, const struct nvmev_features *features,
			      const struct nvme_command *sqe, u64 *result)
{
	struct nvmev_ns *ns = nvmev_ns_find(nvmev, le32_to_cpu(sqe->features.nsid));

	if (!ns)
		return NVME_SC_INVALID_NS;
	/* Its default is zero. */
	*result = features == &nvmev->features ? ns->error_recovery : 0;
	return 0;
}

static u16 set_irq_config(struct nvmev *nvmev, u32 dw)
{
	u32 vector = dw & 0xffff;

	if (vector >= nvmev->pci.nr_vectors)
		return NVME_SC_INVALID_FIELD;
	nvmev->features.irq_config[vector] = dw & 0x1ffff;
	return 0;
}

/* Without a cache everything is durable when it is complete: also this. */
static u16 set_write_cache(struct nvmev *nvmev, u16 cid, u32 dw)
{
	u64 done_ns;

	if (nvmev->config.ftl.plp)
		return NVME_SC_INVALID_FIELD;
	if (dw & 1) {
		nvmev->features.write_cache = true;
		return 0;
	}
	done_ns = nvmev_ns_flush(nvmev, nvmev_now(nvmev));
	nvmev_outage_note(nvmev);
	if (!nvmev_admin_complete_later(nvmev, cid, 0, done_ns))
		return NVME_SC_INTERNAL;
	nvmev->features.write_cache = false;
	return NVMEV_STATUS_LATER;
}

static u16 set_timestamp(struct nvmev *nvmev, const struct nvme_command *sqe)
{
	struct nvmev_dma dma;
	__le64 timestamp;
	u16 status;

	status = nvmev_dma_begin(&dma, &nvmev->pci, sqe, TIMESTAMP_BYTES);
	if (!status)
		status = nvmev_dma_from_host(&dma, &timestamp, TIMESTAMP_BYTES);
	if (status)
		return status;
	nvmev->features.timestamp_ms = le64_to_cpu(timestamp) & GENMASK_ULL(47, 0);
	nvmev->features.timestamp_set_ns = ktime_get_ns();
	return 0;
}

static u16 get_timestamp(struct nvmev *nvmev, const struct nvme_command *sqe)
{
	const struct nvmev_features *features = &nvmev->features;
	u64 since_ns = features->timestamp_set_ns ?: nvmev->power_on_ns;
	u64 value = features->timestamp_ms +
		    div_u64(ktime_get_ns() - since_ns, NSEC_PER_MSEC);
	struct nvmev_dma dma;
	__le64 timestamp;
	u16 status;

	value &= GENMASK_ULL(47, 0);
	if (features->timestamp_set_ns)
		value |= TIMESTAMP_SET_BY_HOST;
	timestamp = cpu_to_le64(value);
	status = nvmev_dma_begin(&dma, &nvmev->pci, sqe, TIMESTAMP_BYTES);
	return status ?: nvmev_dma_to_host(&dma, &timestamp, TIMESTAMP_BYTES);
}

static bool names_one_namespace(const struct nvme_command *sqe)
{
	return sqe->features.nsid && sqe->features.nsid != cpu_to_le32(NVMEV_NSID_ALL);
}

static bool is_for_controller(u32 fid)
{
	return fid < BITS_PER_LONG && (FOR_CONTROLLER & BIT(fid));
}

u16 nvmev_set_features(struct nvmev *nvmev, const struct nvme_command *sqe, u64 *result)
{
	u32 fid = le32_to_cpu(sqe->features.fid);
	u32 dw = le32_to_cpu(sqe->features.dword11);

	if (fid & NVMEV_FEATURE_SAVE)
		return NVME_SC_FEATURE_NOT_SAVEABLE;
	if (names_one_namespace(sqe) &&
	    !nvmev_ns_find(nvmev, le32_to_cpu(sqe->features.nsid)))
		return NVME_SC_INVALID_NS;
	if (names_one_namespace(sqe) && is_for_controller(fid & 0xff))
		return NVME_SC_FEATURE_NOT_PER_NS;
	switch (fid & 0xff) {
	case NVME_FEAT_ARBITRATION:
		nvmev->features.arbitration = dw;
		return 0;
	case NVME_FEAT_POWER_MGMT:
		return (dw & 0x1f) ? NVME_SC_INVALID_FIELD : 0;
	case NVME_FEAT_TEMP_THRESH:
		return set_temp_threshold(nvmev, dw);
	case NVME_FEAT_ERR_RECOVERY:
		return set_error_recovery(nvmev, le32_to_cpu(sqe->features.nsid), dw);
	case NVME_FEAT_VOLATILE_WC:
		return set_write_cache(nvmev, sqe->common.command_id, dw);
	case NVME_FEAT_NUM_QUEUES:
		return set_nr_queues(nvmev, dw, result);
	case NVME_FEAT_IRQ_COALESCE:
		nvmev->features.irq_coalesce = dw & 0xffff;
		return 0;
	case NVME_FEAT_IRQ_CONFIG:
		return set_irq_config(nvmev, dw);
	case NVME_FEAT_WRITE_ATOMIC:
		nvmev->features.write_atomicity = dw & 1;
		return 0;
	case NVME_FEAT_ASYNC_EVENT:
		nvmev->features.events = dw;
		nvmev_health_report(nvmev);
		return 0;
	case NVME_FEAT_TIMESTAMP:
		return set_timestamp(nvmev, sqe);
	case NVMEV_FEAT_FDP:
	case NVMEV_FEAT_FDP_EVENTS:
		return nvmev_fdp_set_feature(nvmev, sqe);
	default:
		return NVME_SC_INVALID_FIELD;
	}
}

static u16 get_value(struct nvmev *nvmev, struct nvmev_features *features, u32 nr_queues,
		     const struct nvme_command *sqe, u64 *result)
{
	u32 dw = le32_to_cpu(sqe->features.dword11);
	u16 *threshold;
	u16 status;

	switch (le32_to_cpu(sqe->features.fid) & 0xff) {
	case NVME_FEAT_ARBITRATION:
		*result = features->arbitration;
		return 0;
	case NVME_FEAT_POWER_MGMT:
		*result = 0;
		return 0;
	case NVME_FEAT_TEMP_THRESH:
		status = temp_threshold(features, dw, &threshold);
		if (!status)
			*result = *threshold;
		return status;
	case NVME_FEAT_ERR_RECOVERY:
		return get_error_recovery(nvmev, features, sqe, result);
	case NVME_FEAT_VOLATILE_WC:
		*result = features->write_cache;
		return nvmev->config.ftl.plp ? NVME_SC_INVALID_FIELD : 0;
	case NVME_FEAT_NUM_QUEUES:
		*result = queues_result(nr_queues);
		return 0;
	case NVME_FEAT_IRQ_COALESCE:
		*result = features->irq_coalesce;
		return 0;
	case NVME_FEAT_IRQ_CONFIG:
		if ((dw & 0xffff) >= nvmev->pci.nr_vectors)
			return NVME_SC_INVALID_FIELD;
		*result = features->irq_config[dw & 0xffff];
		return 0;
	case NVME_FEAT_WRITE_ATOMIC:
		*result = features->write_atomicity;
		return 0;
	case NVME_FEAT_ASYNC_EVENT:
		*result = features->events;
		return 0;
	case NVME_FEAT_TIMESTAMP:
		return get_timestamp(nvmev, sqe);
	case NVMEV_FEAT_FDP:
	case NVMEV_FEAT_FDP_EVENTS:
		return nvmev_fdp_get_feature(nvmev, sqe, result);
	default:
		return NVME_SC_INVALID_FIELD;
	}
}

static bool has_feature(const struct nvmev *nvmev, u32 fid)
{
	if (fid == NVME_FEAT_VOLATILE_WC)
		return !nvmev->config.ftl.plp;
	if (fid == NVMEV_FEAT_FDP || fid == NVMEV_FEAT_FDP_EVENTS)
		return nvmev->fdp.nr_pids;
	return fid == NVME_FEAT_ERR_RECOVERY || is_for_controller(fid);
}

/* What can be done with a feature. The value is not asked for, nor is there room for its data. */
static u16 get_capabilities(const struct nvmev *nvmev, u32 fid, u64 *result)
{
	if (!has_feature(nvmev, fid))
		return NVME_SC_INVALID_FIELD;
	*result = fid == NVMEV_FEAT_FDP ? 0 : NVMEV_FEATURE_CHANGEABLE;
	if (fid == NVME_FEAT_ERR_RECOVERY || fid == NVMEV_FEAT_FDP_EVENTS)
		*result |= NVMEV_FEATURE_PER_NAMESPACE;
	return 0;
}

u16 nvmev_get_features(struct nvmev *nvmev, const struct nvme_command *sqe, u64 *result)
{
	u32 fid = le32_to_cpu(sqe->features.fid);
	u32 select = NVMEV_FEATURE_SELECT(fid);
	struct nvmev_features defaults;

	if (select == NVMEV_SELECT_CURRENT)
		return get_value(nvmev, &nvmev->features, nvmev->nr_queues, sqe, result);
	if (select == NVMEV_SELECT_CAPABILITIES)
		return get_capabilities(nvmev, fid & 0xff, result);
	if (select > NVMEV_SELECT_CAPABILITIES)
		return NVME_SC_INVALID_FIELD;
	set_defaults(&defaults);
	return get_value(nvmev, &defaults, nvmev->config.queues, sqe, result);
}
