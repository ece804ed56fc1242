// SPDX-License-Identifier: GPL-2.0-only
/*
 * Log pages. Each is built whole in a buffer; the host takes the part it asks for.
 */
#include <dieaware/hint.h>
#include <dieaware/log.h>
#include <linux/slab.h>

#include "compat.h"
#include "dma.h"
#include "health.h"
#include "log-page.h"
#include "outage.h"
#include "vendor.h"

#define SECTOR_BYTES	512
#define DATA_UNIT_SECTORS	1000

static void put_u128(u8 *field, u64 value)
{
	put_unaligned_le64(value, field);
	put_unaligned_le64(0, field + 8);
}

static u16 alloc_log(struct nvmev_log *log, u32 bytes)
{
	log->data = kvzalloc(bytes, GFP_NOIO);
	log->total = bytes;
	return log->data ? 0 : NVME_SC_INTERNAL;
}

/* Newest first. */
static u16 error_log(struct nvmev *nvmev, struct nvmev_log *log)
{
	u64 count = nvmev->counters.errors;
	struct nvmev_error_entry *entries;
	u32 i;

	if (alloc_log(log, sizeof(nvmev->errors)))
		return NVME_SC_INTERNAL;
	entries = log->data;
	for (i = 0; i < min_t(u64, count, NVMEV_NR_ERRORS); i++)
		entries[i] = nvmev->errors[(count - 1 - i) % NVMEV_NR_ERRORS];
	return 0;
}

static u64 data_units(u64 bytes)
{
	return DIV64_U64_ROUND_UP(bytes, SECTOR_BYTES * DATA_UNIT_SECTORS);
}

static u16 smart_log(struct nvmev *nvmev, struct nvmev_log *log)
{
	const struct nvmev_counters *counters = &nvmev->counters;
	u64 on_ns = nvmev->on_before_ns + ktime_get_ns() - nvmev->power_on_ns;
	struct nvme_smart_log *smart;

	if (alloc_log(log, sizeof(*smart)))
		return NVME_SC_INTERNAL;
	smart = log->data;
	smart->critical_warning = nvmev_critical_warning(nvmev);
	put_unaligned_le16(nvmev_temperature(nvmev), smart->temperature);
	smart->avail_spare = nvmev_available_spare(nvmev);
	smart->spare_thresh = NVMEV_SPARE_THRESHOLD_PERCENT;
	smart->percent_used = nvmev_percent_used(nvmev);
	put_u128(smart->data_units_read, data_units(counters->bytes_read));
	put_u128(smart->data_units_written, data_units(counters->bytes_written));
	put_u128(smart->host_reads, counters->reads);
	put_u128(smart->host_writes, counters->writes);
	put_u128(smart->ctrl_busy_time, div64_u64(counters->busy_ns, 60 * NSEC_PER_SEC));
	put_u128(smart->power_cycles, nvmev->power_cycles);
	put_u128(smart->power_on_hours, div64_u64(on_ns, 3600 * NSEC_PER_SEC));
	put_u128(smart->unsafe_shutdowns, nvmev->unsafe_shutdowns);
	put_u128(smart->media_errors, counters->media_errors);
	put_u128(smart->num_err_log_entries, counters->errors);
	return 0;
}

static u16 firmware_log(struct nvmev *nvmev, struct nvmev_log *log)
{
	u8 *data;

	if (alloc_log(log, 512))
		return NVME_SC_INTERNAL;
	data = log->data;
	/* Slot 1 is active; its revision stands at byte 8. */
	data[0] = 1;
	memcpy(data + 8, "1.0     ", 8);
	return 0;
}

static u16 effects_log(struct nvmev *nvmev, struct nvmev_log *log)
{
	static const u8 admin[] = {
		nvme_admin_delete_sq, nvme_admin_create_sq, nvme_admin_get_log_page,
		nvme_admin_delete_cq, nvme_admin_create_cq, nvme_admin_identify,
		nvme_admin_abort_cmd, nvme_admin_set_features, nvme_admin_get_features,
		nvme_admin_async_event,
	};
	static const u8 reads[] = {
		nvme_cmd_flush, nvme_cmd_read, nvme_cmd_compare, nvme_cmd_verify,
	};
	static const u8 writes[] = { nvme_cmd_write, nvme_cmd_write_uncor, nvme_cmd_write_zeroes,
				     nvme_cmd_dsm, NVMEV_CMD_COPY };
	struct nvme_effects_log *effects;
	u32 i;

	if (alloc_log(log, sizeof(*effects)))
		return NVME_SC_INTERNAL;
	effects = log->data;
	for (i = 0; i < ARRAY_SIZE(admin); i++)
		effects->acs[admin[i]] = cpu_to_le32(NVMEV_EFFECT_SUPPORTED);
	effects->acs[nvme_admin_format_nvm] =
		cpu_to_le32(NVMEV_EFFECT_SUPPORTED | NVMEV_EFFECT_DATA |
			    NVMEV_EFFECT_NAMESPACE | NVMEV_EFFECT_EXCLUSIVE);
	for (i = 0; i < ARRAY_SIZE(reads); i++)
		effects->iocs[reads[i]] = cpu_to_le32(NVMEV_EFFECT_SUPPORTED);
	for (i = 0; i < ARRAY_SIZE(writes); i++)
		effects->iocs[writes[i]] =
			cpu_to_le32(NVMEV_EFFECT_SUPPORTED | NVMEV_EFFECT_DATA);
	if (nvmev->config.fdp) {
		effects->iocs[NVMEV_CMD_IO_MGMT_RECV] = cpu_to_le32(NVMEV_EFFECT_SUPPORTED);
		effects->iocs[NVMEV_CMD_IO_MGMT_SEND] = cpu_to_le32(NVMEV_EFFECT_SUPPORTED);
	}
	if (nvmev_vendor_features(nvmev) & DIEAWARE_FEATURE_SHARE)
		effects->iocs[DIEAWARE_CMD_SHARE] =
			cpu_to_le32(NVMEV_EFFECT_SUPPORTED | NVMEV_EFFECT_DATA);
	if (nvmev_vendor_features(nvmev) & DIEAWARE_FEATURE_COMPACT)
		effects->iocs[DIEAWARE_CMD_COMPACT] = cpu_to_le32(NVMEV_EFFECT_SUPPORTED);
	if (nvmev_vendor_features(nvmev) & DIEAWARE_FEATURE_REDISTRIBUTE)
		effects->iocs[DIEAWARE_CMD_REDISTRIBUTE] = cpu_to_le32(NVMEV_EFFECT_SUPPORTED);
	return 0;
}

static u16 geometry_log(struct nvmev *nvmev, struct nvmev_log *log)
{
	const struct ftl_params *params = &nvmev->config.ftl;
	u32 nr_dies = params->nr_channels * params->dies_per_channel;
	struct dieaware_log_geometry *geometry;

	if (alloc_log(log, sizeof(*geometry)))
		return NVME_SC_INTERNAL;
	geometry = log->data;
	geometry->version = cpu_to_le16(DIEAWARE_HINT_VERSION);
	geometry->header_bytes = cpu_to_le16(sizeof(*geometry));
	geometry->nr_channels = cpu_to_le32(params->nr_channels);
	geometry->nr_dies = cpu_to_le32(nr_dies);
	geometry->page_bytes = cpu_to_le32(FTL_PAGE_BYTES);
	geometry->die_unit_bytes = cpu_to_le32(params->unit_pages * FTL_PAGE_BYTES);
	geometry->open_units = cpu_to_le32(params->run_units);
	geometry->stripe_bytes =
		cpu_to_le64((u64)params->unit_pages * FTL_PAGE_BYTES * nr_dies);
	return 0;
}

static void put_die(struct dieaware_die_stats *entry, const struct ftl_die_stats *stats)
{
	entry->units_read = cpu_to_le64(stats->units_read);
	entry->units_programmed = cpu_to_le64(stats->units_programmed);
	entry->eblks_erased = cpu_to_le64(stats->eblks_erased);
	entry->pages_host = cpu_to_le64(stats->pages_host);
	entry->pages_gc = cpu_to_le64(stats->pages_gc);
	entry->pages_valid = cpu_to_le64(stats->pages_valid);
	entry->busy_ns = cpu_to_le64(stats->busy_ns);
}

static u16 dies_log(struct nvmev *nvmev, struct nvmev_log *log)
{
	u64 malformed = nvmev->counters.hints_malformed;
	struct dieaware_log_dies *dies;
	struct ftl_die_stats die_stats;
	struct ftl_stats stats;
	u32 die, nr_dies;

	guard(mutex)(&nvmev->ftl_lock);
	ftl_advance(nvmev->ftl, nvmev_now(nvmev));
	nr_dies = ftl_nr_dies(nvmev->ftl);
	if (alloc_log(log, struct_size(dies, die, nr_dies)))
		return NVME_SC_INTERNAL;
	dies = log->data;
	ftl_get_stats(nvmev->ftl, &stats);
	dies->version = cpu_to_le16(DIEAWARE_HINT_VERSION);
	dies->entry_bytes = cpu_to_le16(sizeof(*dies->die));
	dies->nr_dies = cpu_to_le32(nr_dies);
	dies->hints_append = cpu_to_le64(stats.hints_append);
	dies->hints_overwrite = cpu_to_le64(stats.hints_overwrite);
	/* The FTL was shown malformed hints as plain writes. */
	dies->hints_ignored = cpu_to_le64(stats.hints_ignored + malformed);
	dies->writes_plain = cpu_to_le64(stats.writes_plain - malformed);
	for (die = 0; die < nr_dies; die++) {
		ftl_get_die_stats(nvmev->ftl, to_die(die), &die_stats);
		put_die(&dies->die[die], &die_stats);
	}
	return 0;
}

static u16 build_log(struct nvmev *nvmev, const struct nvme_command *sqe, struct nvmev_log *log)
{
	switch (sqe->get_log_page.lid) {
	case NVME_LOG_ERROR:
		return error_log(nvmev, log);
	case NVME_LOG_SMART:
		return smart_log(nvmev, log);
	case NVME_LOG_FW_SLOT:
		return firmware_log(nvmev, log);
	case NVME_LOG_CMD_EFFECTS:
		return effects_log(nvmev, log);
	case DIEAWARE_LOG_GEOMETRY:
		return nvmev->config.hints ? geometry_log(nvmev, log) : NVME_SC_INVALID_LOG_PAGE;
	case DIEAWARE_LOG_DIES:
		return nvmev->config.hints ? dies_log(nvmev, log) : NVME_SC_INVALID_LOG_PAGE;
	case DIEAWARE_LOG_MAP:
	case DIEAWARE_LOG_DOF:
	case DIEAWARE_LOG_WEAR:
	case DIEAWARE_LOG_DEFRAG:
	case DIEAWARE_LOG_LATE:
		return nvmev_vendor_log(nvmev, sqe, log);
	case NVMEV_LOG_ENDURANCE_GROUP:
	case NVMEV_LOG_FDP_CONFIGS:
	case NVMEV_LOG_FDP_USAGE:
	case NVMEV_LOG_FDP_STATS:
	case NVMEV_LOG_FDP_EVENTS:
		return nvmev_fdp_log(nvmev, sqe, log);
	default:
		return NVME_SC_INVALID_LOG_PAGE;
	}
}

/* Send what was asked for; what lies beyond the page's end reads as zeroes. */
static u16 send_log(struct nvmev *nvmev, const struct nvmev_log *log,
		    const struct nvme_command *sqe)
{
	u32 present = min_t(u64, log->asked, log->total - log->offset);
	struct nvmev_dma dma;
	u16 status;

	status = nvmev_dma_begin(&dma, &nvmev->pci, sqe, log->asked);
	if (!status)
		status = nvmev_dma_to_host(&dma, log->data + (log->offset - log->start), present);
	return status ?: nvmev_dma_to_host(&dma, NULL, log->asked - present);
}

u16 nvmev_get_log_page(struct nvmev *nvmev, const struct nvme_command *sqe)
{
	u64 dwords = le16_to_cpu(sqe->get_log_page.numdl) |
		     (u64)le16_to_cpu(sqe->get_log_page.numdu) << 16;
	u64 offset = le64_to_cpu(sqe->get_log_page.lpo);
	u64 bytes = (dwords + 1) * sizeof(u32);
	struct nvmev_log log = { .offset = offset, .asked = bytes };
	u16 status;

	if (bytes > (u64)FTL_PAGE_BYTES << nvmev->config.mdts || (offset & 3) ||
	    (le32_to_cpu(sqe->common.cdw14) & NVMEV_LOG_OFFSET_IS_INDEX))
		return NVME_SC_INVALID_FIELD;
	/* SMART is kept for the whole controller only, and Identify says so. */
	if (sqe->get_log_page.lid == NVME_LOG_SMART && sqe->get_log_page.nsid &&
	    sqe->get_log_page.nsid != cpu_to_le32(NVMEV_NSID_ALL))
		return NVME_SC_INVALID_FIELD;
	status = build_log(nvmev, sqe, &log);
	if (!status && offset > log.total)
		status = NVME_SC_INVALID_FIELD;
	if (!status)
		status = send_log(nvmev, &log, sqe);
	if (!status && !(sqe->get_log_page.lsp & NVMEV_LOG_RETAIN_EVENT))
		nvmev_event_read(nvmev, sqe->get_log_page.lid);
	kvfree(log.data);
	return status;
}
