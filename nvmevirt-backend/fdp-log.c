// SPDX-License-Identifier: GPL-2.0-only
/* Log pages of Flexible Data Placement, and of the endurance group that it needs. */
#include <linux/slab.h>

#include "compat.h"
#include "health.h"
#include "log-page.h"
#include "nvmev.h"
#include "outage.h"

/* Log specific field of the events log: those of the host instead of the controller */
#define EVENTS_OF_HOST		BIT(0)

#define DATA_UNIT_BYTES		1000000000ULL

static void *alloc_page_of(struct nvmev_log *log, u32 bytes)
{
	log->data = kvzalloc(bytes, GFP_NOIO);
	log->total = bytes;
	return log->data;
}

static u16 configurations(const struct nvmev *nvmev, struct nvmev_log *log)
{
	const struct nvmev_fdp *fdp = &nvmev->fdp;
	u32 nr = fdp->nr_handles;
	u32 config_bytes = sizeof(struct nvmev_fdp_config) + nr * sizeof(__le32);
	u32 bytes = sizeof(struct nvmev_fdp_configs) + config_bytes;
	struct nvmev_fdp_configs *head = alloc_page_of(log, bytes);
	struct nvmev_fdp_config *config = (void *)(head + 1);
	__le32 *handle = (void *)(config + 1);
	bool is_isolated = nvmev->config.fdp_groups || nvmev->config.ftl.nr_handles;
	u32 type = is_isolated ? NVMEV_FDP_INITIALLY_ISOLATED : NVMEV_FDP_NOT_ISOLATED;

	if (!head)
		return NVME_SC_INTERNAL;
	head->bytes = cpu_to_le32(bytes);
	config->bytes = cpu_to_le16(config_bytes);
	config->attributes = NVMEV_FDP_CONFIG_VALID | fdp->group_bits;
	config->nr_groups = cpu_to_le32(fdp->nr_pids / nr);
	config->nr_handles = cpu_to_le16(nr);
	config->max_pids = cpu_to_le16(fdp->nr_pids - 1);
	config->max_namespaces = cpu_to_le32(NVMEV_MAX_NAMESPACES);
	config->ru_bytes = cpu_to_le64(fdp->ru_bytes);
	while (nr--)
		*handle++ = cpu_to_le32(type);
	return 0;
}

static u16 usage(const struct nvmev *nvmev, struct nvmev_log *log)
{
	u32 i, nr = nvmev->fdp.nr_handles;
	u8 *data = alloc_page_of(log, 8 * (nr + 1));

	if (!data)
		return NVME_SC_INTERNAL;
	put_unaligned_le16(nr, data);
	for (i = 1; i <= nr; i++)
		data[8 * i] = NVMEV_FDP_HOST_SPECIFIED;
	return 0;
}

static u16 statistics(struct nvmev *nvmev, struct nvmev_log *log)
{
	const struct ftl_params *params = &nvmev->config.ftl;
	u64 unit_bytes = (u64)params->unit_pages << FTL_PAGE_SHIFT;
	__le64 *data = alloc_page_of(log, 64);
	struct ftl_die_stats die_stats;
	struct ftl_stats stats;
	u64 nr_erases = 0, slc_erases = 0;
	u32 die;

	if (!data)
		return NVME_SC_INTERNAL;
	guard(mutex)(&nvmev->ftl_lock);
	ftl_advance(nvmev->ftl, nvmev_now(nvmev));
	ftl_get_stats(nvmev->ftl, &stats);
	for (die = 0; die < ftl_nr_dies(nvmev->ftl); die++) {
		ftl_get_die_stats(nvmev->ftl, to_die(die), &die_stats);
		nr_erases += die_stats.eblks_erased - die_stats.slc_erased;
		slc_erases += die_stats.slc_erased;
	}
	/* 128-bit numbers: of the host, programmed, erased. */
	data[0] = cpu_to_le64(stats.host_pages_written << FTL_PAGE_SHIFT);
	data[2] = cpu_to_le64(stats.nand_pages_programmed << FTL_PAGE_SHIFT);
	data[4] = cpu_to_le64((nr_erases * params->units_per_eblk +
			       slc_erases * ftl_params_slc_units(params)) * unit_bytes);
	return 0;
}

/* Newest first; there are no events of the controller. */
static u16 events(const struct nvmev *nvmev, bool of_host, struct nvmev_log *log)
{
	u64 nr = of_host ? nvmev->fdp.nr_events : 0;
	u32 i, shown = min_t(u64, nr, NVMEV_NR_FDP_EVENTS);
	struct nvmev_fdp_event *entry;
	__le32 *head = alloc_page_of(log, (NVMEV_NR_FDP_EVENTS + 1) * sizeof(*entry));

	if (!head)
		return NVME_SC_INTERNAL;
	*head = cpu_to_le32(shown);
	entry = (void *)head + sizeof(*entry);
	for (i = 0; i < shown; i++)
		entry[i] = nvmev->fdp.events[(nr - 1 - i) % NVMEV_NR_FDP_EVENTS];
	return 0;
}

static __le64 data_units(u64 bytes)
{
	return cpu_to_le64(DIV64_U64_ROUND_UP(bytes, DATA_UNIT_BYTES));
}

static u16 endurance_group(struct nvmev *nvmev, struct nvmev_log *log)
{
	struct nvmev_endurance_log *group = alloc_page_of(log, sizeof(*group));
	struct ftl_stats stats;

	if (!group)
		return NVME_SC_INTERNAL;
	group->avail_spare = nvmev_available_spare(nvmev);
	group->spare_thresh = NVMEV_SPARE_THRESHOLD_PERCENT;
	group->percent_used = nvmev_percent_used(nvmev);
	guard(mutex)(&nvmev->ftl_lock);
	ftl_get_stats(nvmev->ftl, &stats);
	group->units_read = data_units(nvmev->counters.bytes_read);
	group->units_written = data_units(nvmev->counters.bytes_written);
	group->media_written = data_units(stats.nand_pages_programmed << FTL_PAGE_SHIFT);
	group->reads = cpu_to_le64(nvmev->counters.reads);
	group->writes = cpu_to_le64(nvmev->counters.writes);
	group->media_errors = cpu_to_le64(nvmev->counters.media_errors);
	group->errors = cpu_to_le64(nvmev->counters.errors);
	return 0;
}

u16 nvmev_fdp_log(struct nvmev *nvmev, const struct nvme_command *sqe, struct nvmev_log *log)
{
	if (!nvmev->fdp.nr_pids)
		return NVME_SC_INVALID_LOG_PAGE;
	/* The log specific identifier is that of the endurance group. */
	if (le32_to_cpu(sqe->common.cdw11) >> 16 != NVMEV_ENDURANCE_GROUP)
		return NVME_SC_INVALID_FIELD;
	switch (sqe->get_log_page.lid) {
	case NVMEV_LOG_ENDURANCE_GROUP:
		return endurance_group(nvmev, log);
	case NVMEV_LOG_FDP_CONFIGS:
		return configurations(nvmev, log);
	case NVMEV_LOG_FDP_USAGE:
		return usage(nvmev, log);
	case NVMEV_LOG_FDP_STATS:
		return statistics(nvmev, log);
	default:
		return events(nvmev, sqe->get_log_page.lsp & EVENTS_OF_HOST, log);
	}
}
