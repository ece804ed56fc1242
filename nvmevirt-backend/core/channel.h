/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bandwidth of something shared: a channel, or one direction of the host link.
 *
 * Transfers are asked for in the order of commands, not in the order of their times: a
 * die that is busy for long books its transfer far ahead, and the gap before it must
 * stay usable. So time is cut into windows, each with a credit of busy time; a transfer
 * takes what is left from its start on, and ends where its last window's credit stands:
 *
 *	|####....|########|##......|        # taken
 *	     ^ start       ^ end
 *
 * Only FTL_BUS_WINDOWS windows from the present on are kept. What starts after them
 * is served one after the other, which is later than need be, never earlier.
 */
#ifndef FTL_CHANNEL_H
#define FTL_CHANNEL_H

#include <dieaware/platform.h>

#define FTL_BUS_WINDOWS	8192U

/**
 * struct ftl_bus - one shared medium
 * @window: ring of FTL_BUS_WINDOWS windows: low half of the window's number above the
 *	busy time in it, so that an entry of another number is known to be an old one
 * @byte_ns_q20: time of a byte, with 20 binary places
 * @window_shift: a window lasts 2^@window_shift ns
 * @late_begin_ns: begin of the time that is served in order
 * @late_end_ns: its end; nothing is served in order if that is past
 */
struct ftl_bus {
	u64 *window;
	u64 byte_ns_q20;
	u32 window_shift;
	u64 late_begin_ns;
	u64 late_end_ns;
};

/**
 * ftl_bus_bytes() - memory of one bus
 */
static inline size_t ftl_bus_bytes(void)
{
	return FTL_BUS_WINDOWS * sizeof(u64);
}

/**
 * ftl_bus_init() - a bus that nobody has used
 * @mbps: bandwidth in 10^6 bytes a second
 * @time_scale: factor of all times
 * @usual_bytes: size of the usual transfer; it takes a few windows
 * @zeroed: ftl_bus_bytes() bytes
 */
void ftl_bus_init(struct ftl_bus *bus, u32 mbps, u32 time_scale, u32 usual_bytes, void *zeroed);

/**
 * ftl_bus_transfer() - book a transfer
 * @bytes: size, up to FTL_MAX_TRANSFER_PAGES pages
 * @start_ns: earliest begin, not before @now_ns
 * @now_ns: present time; never goes back
 *
 * Return: the time at which the transfer is done.
 */
u64 ftl_bus_transfer(struct ftl_bus *bus, u32 bytes, u64 start_ns, u64 now_ns);

/**
 * ftl_bus_is_late() - would a transfer that starts then wait for all others that are late?
 */
bool ftl_bus_is_late(const struct ftl_bus *bus, u64 start_ns, u64 now_ns);

static inline u64 ftl_bus_duration(const struct ftl_bus *bus, u32 bytes)
{
	return (bytes * bus->byte_ns_q20 + BIT(20) - 1) >> 20;
}

#endif /* FTL_CHANNEL_H */
