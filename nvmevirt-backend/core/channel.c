// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model of a bus. The FTL must know when a transfer ends as soon as it is asked for, although
 * another one that is asked for later may come before it. An exact record of that would be a list
 * of gaps without bound; busy time by window has a fixed size, and mostly a few steps are enough
 * for a transfer.
 *
 * The price is that the order within a window is not known, so a transfer can end a window too
 * early; hence a window is a quarter to a half of a usual transfer, but not less than 4 us.
 * Windows that are past are not cleared: an entry has the number of its window, by which it is
 * known to be an old one.
 */
#include "channel.h"

/* Windows are at least this long, so that the ring reaches over the work of many dies. */
#define MIN_WINDOW_SHIFT	12
#define MAX_WINDOW_SHIFT	30

void ftl_bus_init(struct ftl_bus *bus, u32 mbps, u32 time_scale, u32 usual_bytes, void *zeroed)
{
	u64 usual_ns;

	bus->window = zeroed;
	bus->byte_ns_q20 = div_u64(((u64)time_scale * 1000 << 20) + mbps - 1, mbps);
	usual_ns = ftl_bus_duration(bus, usual_bytes);
	bus->window_shift = clamp_t(int, ilog2(usual_ns | 1) - 1, MIN_WINDOW_SHIFT,
				    MAX_WINDOW_SHIFT);
	bus->late_begin_ns = 0;
	bus->late_end_ns = 0;
}

/* The first window that transfers must leave alone. */
static u64 end_of_windows(const struct ftl_bus *bus, u64 now_ns)
{
	u64 end = (now_ns >> bus->window_shift) + FTL_BUS_WINDOWS;

	if (bus->late_end_ns > now_ns)
		end = min(end, bus->late_begin_ns >> bus->window_shift);
	return end;
}

bool ftl_bus_is_late(const struct ftl_bus *bus, u64 start_ns, u64 now_ns)
{
	return start_ns >> bus->window_shift >= end_of_windows(bus, now_ns);
}

static u64 transfer_late(struct ftl_bus *bus, u64 left_ns, u64 start_ns, u64 now_ns)
{
	if (bus->late_end_ns <= now_ns) {
		bus->late_begin_ns = start_ns;
		bus->late_end_ns = start_ns;
	}
	bus->late_end_ns = max(bus->late_end_ns, start_ns) + left_ns;
	return bus->late_end_ns;
}

u64 ftl_bus_transfer(struct ftl_bus *bus, u32 bytes, u64 start_ns, u64 now_ns)
{
	u32 length_ns = 1U << bus->window_shift;
	u64 end = end_of_windows(bus, now_ns);
	u64 left_ns = ftl_bus_duration(bus, bytes);
	u64 soonest_ns = start_ns + left_ns;
	u64 nr = start_ns >> bus->window_shift;
	u32 usable_ns = length_ns - (start_ns & (length_ns - 1));

	for (; nr < end; nr++, usable_ns = length_ns) {
		u64 *window = &bus->window[nr & (FTL_BUS_WINDOWS - 1)];
		u32 taken_ns = *window >> 32 == (u32)nr ? (u32)*window : 0;
		u32 take_ns = min(usable_ns, length_ns - taken_ns);

		if (take_ns >= left_ns) {
			taken_ns += left_ns;
			*window = nr << 32 | taken_ns;
			return max((nr << bus->window_shift) + taken_ns, soonest_ns);
		}
		left_ns -= take_ns;
		*window = nr << 32 | (taken_ns + take_ns);
	}
	return max(transfer_late(bus, left_ns, max(start_ns, nr << bus->window_shift), now_ns),
		   soonest_ns);
}
