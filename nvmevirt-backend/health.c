// SPDX-License-Identifier: GPL-2.0-only
/*
 * Health: what the critical warnings of SMART say, and the asynchronous events that tell of
 * them. Nothing here gets warm by itself; spare blocks are those of the FTL. Both can be
 * overruled by `inject`.
 */
#include "health.h"
#include "nvmev.h"
#include "outage.h"
#include "translate.h"
#include "turn.h"

u16 nvmev_temperature(const struct nvmev *nvmev)
{
	return READ_ONCE(nvmev->inject.temperature);
}

u8 nvmev_percent_used(struct nvmev *nvmev)
{
	const struct ftl_params *params = &nvmev->config.ftl;
	u64 erased = 0, cycles;
	struct ftl_die_stats stats;
	u32 die, nr_dies;

	guard(nvmev_visit)(nvmev);
	ftl_advance(nvmev->ftl, nvmev_now(nvmev));
	nr_dies = ftl_nr_dies(nvmev->ftl);
	for (die = 0; die < nr_dies; die++) {
		ftl_get_die_stats(nvmev->ftl, to_die(die), &stats);
		/* The SLC region bears many more, so it is not what the drive dies of. */
		erased += stats.eblks_erased - stats.slc_erased;
	}
	cycles = (u64)nr_dies * params->eblks_per_die * NVMEV_RATED_CYCLES;
	return min_t(u64, div64_u64(erased * 100, cycles), 255);
}

u8 nvmev_available_spare(struct nvmev *nvmev)
{
	u32 spares = nvmev->config.ftl.spare_eblks;
	u8 injected = READ_ONCE(nvmev->inject.spare);
	struct ftl_stats stats;

	if (injected != NVMEV_SPARE_IS_TRUE)
		return injected;
	guard(nvmev_visit)(nvmev);
	if (!spares)
		return ftl_is_read_only(nvmev->ftl) ? 0 : 100;
	ftl_get_stats(nvmev->ftl, &stats);
	return div_u64(100 * stats.spares_left, spares);
}

u8 nvmev_critical_warning(struct nvmev *nvmev)
{
	u16 now = nvmev_temperature(nvmev);
	u8 warning = 0;

	if (now >= nvmev->features.temp_over || now <= nvmev->features.temp_under)
		warning |= NVME_SMART_CRIT_TEMPERATURE;
	if (nvmev_available_spare(nvmev) < NVMEV_SPARE_THRESHOLD_PERCENT)
		warning |= NVME_SMART_CRIT_SPARE;
	if (nvmev_ns_is_read_only(nvmev))
		warning |= NVME_SMART_CRIT_MEDIA;
	return warning;
}

/*
 * The bits of the feature that turns events on are those of the critical warning. What was
 * reported is reported again only after it was well in between.
 */
void nvmev_health_report(struct nvmev *nvmev)
{
	u8 wanted = nvmev_critical_warning(nvmev) & nvmev->features.events;
	u8 fresh = wanted & ~nvmev->warned;

	nvmev->warned = wanted;
	if (fresh & NVME_SMART_CRIT_TEMPERATURE)
		nvmev_event_raise(nvmev, NVMEV_EVENT_TEMPERATURE);
	if (fresh & NVME_SMART_CRIT_SPARE)
		nvmev_event_raise(nvmev, NVMEV_EVENT_SPARE);
	if (fresh & NVME_SMART_CRIT_MEDIA)
		nvmev_event_raise(nvmev, NVMEV_EVENT_RELIABILITY);
}

void nvmev_health_look(struct nvmev *nvmev)
{
	u64 failures = nvmev_ns_failures(nvmev);

	if (failures == nvmev->failures_seen)
		return;
	nvmev->failures_seen = failures;
	nvmev_health_report(nvmev);
}
