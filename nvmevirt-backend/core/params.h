/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a drive is made of and how fast it is; which drives there can be says params-check.h.
 */
#ifndef FTL_PARAMS_H
#define FTL_PARAMS_H

#include "units.h"

#define FTL_MAX_PAGE_KINDS	4
#define FTL_MAX_PLANES		16
#define FTL_MAX_STRIPE_LEAD	64
#define FTL_MAX_HANDLES		16
#define FTL_MAX_READ_AHEAD_PAGES	4096
/* The map of 16 TiB */
#define FTL_MAX_MAP_CACHE_PAGES	((u32)BIT(22))

/**
 * struct ftl_params - geometry and latencies of a drive
 * @nr_channels: channels, [1, 64]
 * @dies_per_channel: dies on each channel, [1, 64]
 * @planes_per_die: planes that one program or sense covers, [1, FTL_MAX_PLANES]; part of
 *	@unit_pages
 * @unit_pages: pages that one program writes on one die, the die unit, [1, 64]
 * @units_per_eblk: program units in an erase block (over all planes), [2, 16384]
 * @eblks_per_die: erase blocks of a die (over all planes), at least 8
 * @nr_lpns: pages shown to the host; at most what the dies hold less the reserve
 * @reserve_permille: share of the raw capacity that @nr_lpns leaves free, [20, 900]
 * @nr_page_kinds: kinds of pages on a word line, taken in turn by units, [1, FTL_MAX_PAGE_KINDS]
 * @read_ns: tR of each page kind
 * @program_ns: tPROG of a unit
 * @erase_ns: tBERS of an erase block
 * @suspend_program: reads to which a program gives way at most, [0, 1000]; 0: to none
 * @suspend_erase: likewise an erase
 * @suspend_ns: time from when a program or erase is to be suspended until the die can read
 * @channel_mbps: bandwidth of a channel in 10^6 bytes a second
 * @link_mbps: bandwidth of the host link (PCIe), likewise, each way
 * @cmd_ns: firmware time before a command starts
 * @cmd_gap_ns: least time between the starts of two commands, 0 is no limit
 * @write_ns: firmware time of a write into the buffer
 * @page_ns: firmware time a page on top of it
 * @wbuf_pages: write buffer, in pages; at least two units a die
 * @run_units: open units kept for runs that are being appended to or overwritten;
 *	at least 1. Each holds @unit_pages of the write buffer.
 * @hold_ns: a unit that is full stays in the write buffer for so long before it is
 *	programmed, so that pages which are overwritten soon are replaced there; up to half
 *	of the buffer's room besides the open units is used for that. 0: it is programmed
 *	at once. At most one second.
 * @time_scale: every latency is multiplied by this, [1, 1000]
 * @plp: the write buffer is protected against power loss: flush is a no-op
 * @register_hits: pages of the flash unit that a die holds in its page register are read without
 *	sensing it again
 * @cache_read: dies have a cache register besides the page register: they sense the next flash unit
 *	while the one before leaves (ONFI: Read Cache)
 * @plane_read: planes of a die sense on their own: a read only takes the planes that its pages are
 *	on (asynchronous independent plane read)
 * @bg_eblks: free erase blocks of a die below which it collects in the background; 0: never
 * @bg_mend: bring spread rows together when the drive is idle (mend.h)
 * @wear_permille: share by which a die's erases may be above the mean before overwrites
 *	leave it, [0, 1000]; 0: they never do
 * @spare_eblks: erase blocks of each die that may be bad
 * @factory_bad_permille: share of erase blocks that are bad from the beginning
 * @oob: keep out-of-band data (oob.h), so that a drive without @plp survives a power
 *	failure, and any can be kept in a file
 * @seed_die: die that the first plain write of a new device goes to
 * @share_pages: pages that can lie in the places of others at the same time; 0: none can
 * @share_log_kib: size of the defrag log with @oob, [4, 1048576]
 * @map_cache_pages: map pages of 4 KiB that fit into memory (map-cache.h), at most
 *	FTL_MAX_MAP_CACHE_PAGES; 0: all of the map is in memory
 * @read_ahead_pages: pages that are read ahead of a host that reads in order (read-ahead.h), at
 *	most FTL_MAX_READ_AHEAD_PAGES; 0: none
 * @slc_pages: pages that the SLC region holds at least (slc.h), in erase blocks that come on top of
 *	@eblks_per_die; 0: there is none
 * @cell_bits: bits of a cell elsewhere, [2, 4], with @slc_pages: an erase block of the region has
 *	its share of program units
 * @slc_program_ns: tPROG of a unit in the region
 * @slc_read_ns: tR there
 * @stripe_lead: stripes of the host's units over all dies that are open at the same time
 *	(stripe.h), at most FTL_MAX_STRIPE_LEAD; 0: each die takes a unit at any time
 * @parity: one unit of each stripe is parity; needs @stripe_lead
 * @in_place: the medium is written where data is (in-place.h): it collects nothing, shows all that
 *	it has, and obeys no hint; needs @plp
 * @nr_handles: placement handles whose data is kept apart (eblk.h), at most FTL_MAX_HANDLES; 0 is
 *	like 1: there is no choice
 */
struct ftl_params {
	u32 nr_channels;
	u32 dies_per_channel;
	u32 planes_per_die;
	u32 unit_pages;
	u32 units_per_eblk;
	u32 eblks_per_die;
	u64 nr_lpns;
	u32 reserve_permille;

	u32 nr_page_kinds;
	u32 read_ns[FTL_MAX_PAGE_KINDS];
	u32 program_ns;
	u32 erase_ns;
	u32 suspend_program;
	u32 suspend_erase;
	u32 suspend_ns;
	u32 channel_mbps;
	u32 link_mbps;
	u32 cmd_ns;
	u32 cmd_gap_ns;
	u32 write_ns;
	u32 page_ns;

	u32 wbuf_pages;
	u32 run_units;
	u32 hold_ns;
	u32 time_scale;
	bool plp;
	bool register_hits;
	bool cache_read;
	bool plane_read;
	u32 bg_eblks;
	bool bg_mend;
	u32 wear_permille;
	u32 spare_eblks;
	u32 factory_bad_permille;
	bool oob;
	u32 seed_die;
	u32 share_pages;
	u32 share_log_kib;
	u32 map_cache_pages;
	u32 read_ahead_pages;
	u32 slc_pages;
	u32 cell_bits;
	u32 slc_program_ns;
	u32 slc_read_ns;
	u32 stripe_lead;
	bool parity;
	bool in_place;
	u32 nr_handles;
};

/**
 * ftl_params_equal() - are these the parameters of the same drive?
 */
bool ftl_params_equal(const struct ftl_params *a, const struct ftl_params *b);

/* Placement handles besides the first: each has an open erase block on every die. */
static inline u32 ftl_params_more_handles(const struct ftl_params *params)
{
	return params->nr_handles ? params->nr_handles - 1 : 0;
}

/* Flash units of an erase block of the SLC region; 0: there is none. */
static inline u32 ftl_params_slc_units(const struct ftl_params *params)
{
	return params->slc_pages ? params->units_per_eblk / params->cell_bits : 0;
}

/**
 * ftl_params_factory_bad() - erase blocks of each die that are bad from the beginning
 */
u32 ftl_params_factory_bad(const struct ftl_params *params);

#endif /* FTL_PARAMS_H */
