/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When the dies are free: the timeline of every die and of its channel.
 *
 *	sense     die: tR, then the channel takes the pages asked for; the die holds them
 *	          until they have left
 *	program   channel brings a whole unit, then die: tPROG
 *	copy      within the die (copyback): tR and tPROG, the channel is not used
 *	erase     die: tBERS
 *	write     (in place) channel brings some pages of a unit, then die: tPROG
 *
 * A die's page register keeps the flash unit that was sensed last, for a read or for a
 * copy. With params.register_hits, more pages of it only need the die to be free and the
 * channel, without tR, as with ONFI's Change Read Column. A program fills the register with
 * its own data, and an erase leaves nothing in it: then the next read senses again.
 *
 * With params.cache_read there is a second register, as with ONFI's Read Cache: what was
 * sensed moves on to it as soon as what was read before has left, and the die senses the next
 * unit meanwhile:
 *
 *	array    | sense A | sense B |         | sense C |
 *	channel            | A leaves ........ | B leaves ........ | C leaves ........ |
 *	                             ^ B is kept in the page register until the other is empty
 *
 * That goes for reads of the host only. A copy, a program or an erase begins when all has left.
 *
 * With params.plane_read each plane has registers of its own, and senses what it is asked for while
 * others sense or wait for the channel:
 *
 *	plane 0            | sense A | A leaves | sense C |
 *	plane 1                 | sense B |     | B leaves |
 *
 * A read takes the planes that its pages are on, and leaves when all of them have sensed. All else
 * takes the whole die, and so does a read that goes before other work.
 *
 * A die does its work in the order in which it is asked, but for reads where it suspends
 * what it programs and erases (ahead.h). Different dies of one channel
 * share its state: calls may not run at the same time.
 */
#ifndef FTL_NAND_H
#define FTL_NAND_H

#include "ahead.h"
#include "channel.h"
#include "ftl.h"
#include "geometry.h"

/**
 * struct ftl_nand_plane - planes that sense together: all of a die, or with params.plane_read one
 * @left_ns: time at which all that was read has left it, scaled
 * @register_ns: time at which the page register can take another unit, scaled; not after
 *	@left_ns, and the same without params.cache_read
 * @held: flash unit in the page register plus one, or 0
 */
struct ftl_nand_plane {
	u64 left_ns;
	u64 register_ns;
	u32 held;
};

/**
 * struct ftl_nand_die - one die
 * @busy_until_ns: time at which it has done all that was asked, scaled: the latest of its planes'
 * @plane: its planes, geo.unit_planes
 * @channel: channel on which it is
 * @busy_ns: time at work, unscaled; a sense and a transfer at the same time count both
 * @units_read: number of senses
 * @units_programmed: number of programs
 * @eblks_erased: number of erases
 * @pages_host: number of pages programmed for the host
 * @pages_gc: number of pages moved by collection
 * @gc_ns: share of @busy_ns that was collection: copies and erases
 */
struct ftl_nand_die {
	u64 busy_until_ns;
	struct ftl_nand_plane *plane;
	struct ftl_bus *channel;
	u64 busy_ns;
	u64 units_read;
	u64 units_programmed;
	u64 eblks_erased;
	u64 pages_host;
	u64 pages_gc;
	u64 gc_ns;
};

/**
 * struct ftl_nand_delay - work of a die that a read has put off
 * @die: number of the die
 * @from_ns: all that was to end after this time ends later
 * @ns: by as much, 0: nothing does
 */
struct ftl_nand_delay {
	u32 die;
	u64 from_ns;
	u64 ns;
};

/**
 * struct ftl_nand - all dies
 * @geo: sizes of the drive
 * @params: latencies, unscaled
 * @die: dies by number
 * @channel: channels by number
 * @ahead: what they have ahead, by die; NULL if none is suspended
 * @delay: what the last read has put off
 * @now_ns: present time when it was told last
 * @fixed_ns: what ends until then is not put off
 * @nr_suspensions: number of programs and erases that were suspended, each time
 * @page_transfer_ns: time of a page on the channel, unscaled
 */
struct ftl_nand {
	const struct ftl_geometry *geo;
	const struct ftl_params *params;
	struct ftl_nand_die *die;
	struct ftl_bus *channel;
	struct ftl_ahead *ahead;
	struct ftl_nand_delay delay;
	u64 now_ns;
	u64 fixed_ns;
	u64 nr_suspensions;
	u32 page_transfer_ns;
};

/**
 * ftl_nand_bytes() - memory of the dies and channels
 */
size_t ftl_nand_bytes(const struct ftl_params *params);

/**
 * ftl_nand_init() - dies and channels that are free at once
 * @zeroed: ftl_nand_bytes() bytes
 */
void ftl_nand_init(struct ftl_nand *nand, const struct ftl_geometry *geo,
		   const struct ftl_params *params, void *zeroed);

/* All planes of a die, whether they can be told apart or not */
#define FTL_ALL_PLANES	((u32)BIT(FTL_MAX_PLANES) - 1)

/**
 * struct ftl_sense - pages of one flash unit that are read together
 * @flash_unit: number of the flash unit
 * @nr_pages: number of its pages
 * @planes: planes that they are on, by bits
 */
struct ftl_sense {
	u32 flash_unit;
	u32 nr_pages;
	u32 planes;
};

/**
 * ftl_nand_read() - read pages of a flash unit
 * @start_ns: time at which the die is asked
 * @now_ns: present time
 *
 * There is no tR, and no sense to count, if the page registers of its planes hold the unit and
 * params.register_hits is set.
 *
 * What it puts off is in @nand->delay; ftl_sense() tells everybody who wants to know.
 *
 * Return: the time at which the pages have crossed the channel.
 */
u64 ftl_nand_read(struct ftl_nand *nand, const struct ftl_sense *sense, u64 start_ns, u64 now_ns);

/**
 * ftl_nand_sense() - the same, with pages that may be on any plane
 */
static inline u64 ftl_nand_sense(struct ftl_nand *nand, u32 flash_unit, u32 nr_pages, u64 start_ns,
				 u64 now_ns)
{
	struct ftl_sense sense = {
		.flash_unit = flash_unit,
		.nr_pages = nr_pages,
		.planes = FTL_ALL_PLANES,
	};

	return ftl_nand_read(nand, &sense, start_ns, now_ns);
}

/**
 * ftl_nand_read_beside() - read a page of what a die has besides its erase blocks
 * @plane: plane that it is on
 *
 * It takes what a read of a unit's first page kind does. The register keeps nothing of it. If it
 * began in the past it takes the die's time only.
 *
 * Return: as ftl_nand_read().
 */
u64 ftl_nand_read_beside(struct ftl_nand *nand, die_t die, u32 plane, u64 start_ns, u64 now_ns);

/**
 * ftl_nand_aim() - what the die was given last programs this flash unit: reads of it wait
 */
void ftl_nand_aim(struct ftl_nand *nand, u32 flash_unit);

/**
 * ftl_nand_fix() - somebody relies on it that what ends until then ends then
 */
static inline void ftl_nand_fix(struct ftl_nand *nand, u64 until_ns)
{
	nand->fixed_ns = max(nand->fixed_ns, until_ns);
}

/**
 * ftl_nand_program() - bring a unit to a die and program it
 * Return: the time at which it is durable.
 */
u64 ftl_nand_program(struct ftl_nand *nand, die_t die, u64 start_ns, u64 now_ns);

/**
 * ftl_nand_program_slc() - the same in the SLC region
 */
u64 ftl_nand_program_slc(struct ftl_nand *nand, die_t die, u64 start_ns, u64 now_ns);

/**
 * ftl_nand_write() - bring pages of a flash unit to its die, which writes them in place
 * Return: the time at which the die has taken them.
 */
u64 ftl_nand_write(struct ftl_nand *nand, u32 flash_unit, u32 nr_pages, u64 start_ns, u64 now_ns);

/**
 * ftl_nand_copy_out() - sense a unit for a copy on the same die
 */
void ftl_nand_copy_out(struct ftl_nand *nand, u32 flash_unit, u64 start_ns);

/**
 * ftl_nand_copy_in() - program a unit of copies of the same die
 * Return: the time at which it is durable.
 */
u64 ftl_nand_copy_in(struct ftl_nand *nand, die_t die, u64 start_ns);

/**
 * ftl_nand_erase() - erase an erase block
 */
void ftl_nand_erase(struct ftl_nand *nand, die_t die, u64 start_ns);

#endif /* FTL_NAND_H */
