/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The flash translation layer as the controller sees it.
 *
 * The FTL decides where pages go and when commands are done. It never touches
 * data: the controller keeps the bytes by lpn. It has no clock: every call takes
 * the present time and gives back the time at which the command completes; the
 * timeline of every die, channel and of the host link is known in advance, so no
 * call needs a callback. The same sequence of calls with the same times gives the
 * same answers, in the kernel, in a test and in the simulator.
 *
 * Calls on one struct ftl must not run at the same time; different ones may.
 *
 * Times are nanoseconds of the caller's clock. All latencies of struct ftl_params
 * are those of the modelled drive and are multiplied by @time_scale here and
 * nowhere else.
 */
#ifndef FTL_FTL_H
#define FTL_FTL_H

#include "params.h"

struct ftl;

#define FTL_MAX_TRANSFER_PAGES	1024

/**
 * enum ftl_hint - what the host said about a write (include/dieaware/hint.h)
 * @FTL_HINT_NONE: nothing: pages go to the dies in arrival order
 * @FTL_HINT_APPEND: the first page follows the page of @pred
 * @FTL_HINT_OVERWRITE: every page stays on the die of its lpn's present page
 * @FTL_HINT_BEGIN: the first page begins a file
 * @FTL_HINT_DIE: the first page goes to @die, those behind it follow as with APPEND
 * @FTL_HINT_ALL_DIE: all pages go to @die
 */
enum ftl_hint {
	FTL_HINT_NONE,
	FTL_HINT_APPEND,
	FTL_HINT_OVERWRITE,
	FTL_HINT_BEGIN,
	FTL_HINT_DIE,
	FTL_HINT_ALL_DIE,
};

/**
 * struct ftl_request - one host command on a range of pages
 * @first: first page
 * @nr_pages: number of pages, [1, FTL_MAX_TRANSFER_PAGES]
 * @bytes: number of bytes that cross the host link
 * @head_partial: whether the first page is covered only in part, so that it is read before it is
 *	written
 * @tail_partial: whether that holds for the last page
 * @fua: whether the write must be durable when it completes
 * @hint: placement hint, for writes
 * @pred: predecessor of @first, for FTL_HINT_APPEND
 * @die: die of @first, for FTL_HINT_DIE; of all pages, for FTL_HINT_ALL_DIE
 * @handle: placement handle of a write without a hint; 0, or one that does not exist: the first
 */
struct ftl_request {
	lpn_t first;
	u32 nr_pages;
	u32 bytes;
	bool head_partial;
	bool tail_partial;
	bool fua;
	enum ftl_hint hint;
	lpn_t pred;
	die_t die;
	u32 handle;
};

/**
 * struct ftl_share_range - pages that are to have the data of others
 * @to: first page that gets data
 * @from: first page whose data it gets
 * @nr: number of pages
 */
struct ftl_share_range {
	lpn_t to;
	lpn_t from;
	u32 nr;
};

/**
 * struct ftl_lpn_range - consecutive pages
 * @first: first page
 * @nr: number of pages
 */
struct ftl_lpn_range {
	lpn_t first;
	u32 nr;
};

/* Ranges and pages of a redistribute command */
#define FTL_SPREAD_MAX_RANGES	256
#define FTL_SPREAD_MAX_PAGES	16384U

/**
 * struct ftl_redistribution - a redistribute command
 * @range: ranges of pages within the drive, in the order in which they are read
 * @nr_ranges: number of ranges, [1, FTL_SPREAD_MAX_RANGES]
 * @threshold_permille: DoF_P from which on the pages are written again, [0, 1000]
 * @nr_pages: number of pages of all ranges, at most FTL_SPREAD_MAX_PAGES
 * @memory: working memory, ftl_dof_bytes() for @nr_pages
 * @before_permille: DoF_P before the command (dof.h), set by it
 * @after_permille: DoF_P after the command, set by it
 * @done_ns: time at which the command completes, set by it
 */
struct ftl_redistribution {
	const struct ftl_lpn_range *range;
	u32 nr_ranges;
	u32 threshold_permille;
	u32 nr_pages;
	void *memory;
	u32 before_permille;
	u32 after_permille;
	u64 done_ns;
};

/* Ranges and pages of a share command */
#define FTL_SHARE_MAX_RANGES	128
#define FTL_SHARE_MAX_PAGES	16384U

/**
 * enum ftl_share_result - what became of a share command
 * @FTL_SHARE_DONE: all of it was done
 * @FTL_SHARE_OVERLAP: refused: a page would get data twice, or get and give it
 * @FTL_SHARE_UNMAPPED: refused: a page whose data was asked for has none
 * @FTL_SHARE_FULL: refused: there is no room for so many sharers or log entries
 */
enum ftl_share_result {
	FTL_SHARE_DONE,
	FTL_SHARE_OVERLAP,
	FTL_SHARE_UNMAPPED,
	FTL_SHARE_FULL,
};

/**
 * struct ftl_die_stats - counters of one die since ftl_init()
 * @units_read: senses
 * @units_programmed: programs
 * @eblks_erased: erases
 * @slc_erased: those of them that were of blocks of the SLC region
 * @pages_host: pages programmed for the host
 * @pages_gc: pages moved by garbage collection
 * @pages_valid: pages that hold live data now, buffered ones included
 * @erases_least: erases of the erase block with the fewest, but for the SLC region, whose blocks
 *	bear more
 * @erases_most: likewise of the one with the most; the mean of all is @eblks_erased by @eblks
 * @eblks: erase blocks of the die
 * @eblks_free: those of them that are free, but for the SLC region
 * @eblks_bad: those that are bad
 * @busy_ns: unscaled time in which the die was at work
 * @gc_ns: share of it that was collection: copies and erases
 * @busy_until_ns: scaled time at which the die is free
 */
struct ftl_die_stats {
	u64 units_read;
	u64 units_programmed;
	u64 eblks_erased;
	u64 slc_erased;
	u64 pages_host;
	u64 pages_gc;
	u64 pages_valid;
	u32 erases_least;
	u32 erases_most;
	u32 eblks;
	u32 eblks_free;
	u32 eblks_bad;
	u64 busy_ns;
	u64 gc_ns;
	u64 busy_until_ns;
};

/**
 * struct ftl_stats - counters of the drive since ftl_init()
 * @host_pages_read: pages read by the host
 * @host_pages_written: pages written by the host
 * @nand_pages_programmed: pages programmed, GC and padding included
 * @pages_padded: pages programmed without data, those of failed programs and of the
 *	defrag log included
 * @pages_drafted: pages that a flush programmed while they stayed in their open unit
 * @pages_trimmed: mapped pages that a trim unmapped
 * @writes_plain: write commands without a hint
 * @hints_append: commands placed by an APPEND hint, those that begin a file included
 * @hints_overwrite: commands placed by an OVERWRITE hint
 * @hints_die: commands placed by the number of a die
 * @hints_ignored: hinted commands whose hint could not be used
 * @pages_off_die: pages of hinted commands that went elsewhere because their die was full
 * @buffer_hits: pages read from the write buffer
 * @pages_read_ahead: pages read before the host asked for them
 * @ahead_hits: pages read by the host that were
 * @run_units_evicted: run units merged into a shared one for want of open units
 * @gc_runs: victims collected
 * @pages_levelled: pages of overwrites that left their die because it was worn
 * @eblks_levelled: full erase blocks collected because they had been erased too rarely
 * @programs_failed: programs that failed
 * @erases_failed: erases that failed
 * @eblks_bad: erase blocks that are bad or will be
 * @spares_left: spare erase blocks that are left on the die that has the fewest
 * @rows_mended: rows that were brought together in idle time
 * @pages_mapped: pages that hold live data now
 * @pages_remapped: pages that a share command has given the data of others
 * @pages_shared: mapped pages less the places that they lie in now
 * @pages_redistributed: pages that were written again to spread them
 * @defrag_entries: entries of the defrag log now
 * @defrag_compactions: times that it was compacted
 * @defrag_kept: entries that this has kept
 * @pages_exchanged: cold pages that moved to a worn die to make room for hot ones
 * @defrag_programs: programs of the defrag log
 * @map_hits: look-ups of map pages, and changes to them, that found them in memory
 * @map_misses: those that had them sensed
 * @map_programs: programs of map pages
 * @map_pages_programmed: map pages in them; the rest of the pages is padding
 * @stripe_moves: units that went to another die, as theirs was too far ahead
 * @stripe_pads: units of padding on dies that were too far behind
 * @stripe_skips: units that stripes lack, as a die that was too far behind had no room
 * @parity_programs: units of parity; pages of theirs are no padding
 * @slc_programs: units of the host that were programmed in the SLC region
 * @slc_folds: erase blocks of the region that were folded
 * @slc_pages_folded: pages that this has moved out of it
 * @slc_pages_free: pages that the region can take now
 */
struct ftl_stats {
	u64 host_pages_read;
	u64 host_pages_written;
	u64 nand_pages_programmed;
	u64 pages_padded;
	u64 pages_drafted;
	u64 pages_trimmed;
	u64 writes_plain;
	u64 hints_append;
	u64 hints_overwrite;
	u64 hints_die;
	u64 hints_ignored;
	u64 pages_off_die;
	u64 buffer_hits;
	u64 pages_read_ahead;
	u64 ahead_hits;
	u64 run_units_evicted;
	u64 gc_runs;
	u64 rows_mended;
	u64 pages_levelled;
	u64 eblks_levelled;
	u64 programs_failed;
	u64 erases_failed;
	u64 eblks_bad;
	u64 spares_left;
	u64 pages_mapped;
	u64 pages_remapped;
	u64 pages_shared;
	u64 pages_redistributed;
	u64 defrag_entries;
	u64 defrag_compactions;
	u64 defrag_kept;
	u64 pages_exchanged;
	u64 defrag_programs;
	u64 map_hits;
	u64 map_misses;
	u64 map_programs;
	u64 map_pages_programmed;
	u64 stripe_moves;
	u64 stripe_pads;
	u64 stripe_skips;
	u64 parity_programs;
	u64 slc_programs;
	u64 slc_folds;
	u64 slc_pages_folded;
	u64 slc_pages_free;
};

/**
 * ftl_bytes() - memory that ftl_init() needs
 * @params: parameters that passed ftl_params_check()
 *
 * Return: bytes, or SIZE_MAX when the size does not fit.
 */
size_t ftl_bytes(const struct ftl_params *params);

/**
 * ftl_init() - make a new drive, everything unmapped
 * @params: parameters that passed ftl_params_check()
 * @zeroed: ftl_bytes() bytes of zeroed, page-aligned memory; stays the caller's, may be
 *	freed when the drive is no longer used
 * @now_ns: present time
 *
 * Return: the drive, inside @zeroed.
 */
struct ftl *ftl_init(const struct ftl_params *params, void *zeroed, u64 now_ns);

/**
 * ftl_read() - read pages
 * Return: the time at which the data is at the host.
 */
u64 ftl_read(struct ftl *ftl, const struct ftl_request *rq, u64 now_ns);

/**
 * ftl_write() - place pages and write them
 * Return: the time at which the command completes (in the buffer, or durable if
 * @rq->fua and the buffer is volatile). Always succeeds: reserved space makes
 * collection possible at any time.
 */
u64 ftl_write(struct ftl *ftl, const struct ftl_request *rq, u64 now_ns);

/**
 * ftl_read_is_quick() - would a read that begins now take no longer than its own pages do?
 *
 * Else it may come to do the drive's own work as well: collect, fold, program what was held back
 * or bring map pages in.
 */
bool ftl_read_is_quick(const struct ftl *ftl);

/**
 * ftl_write_is_quick() - the same of a write
 * @nr_pages: number of its pages
 * @handle: its placement handle, see struct ftl_request
 */
bool ftl_write_is_quick(const struct ftl *ftl, u32 nr_pages, u32 handle);

/**
 * ftl_trim() - forget pages
 * @nr_pages: any number; the range must lie within the drive
 * Return: the time at which the command completes.
 */
u64 ftl_trim(struct ftl *ftl, lpn_t first, u64 nr_pages, u64 now_ns);

/**
 * ftl_trim_on() - forget more pages for the last trim, so that none takes long
 * It costs no time. Where nothing was written since, it is one trim with what went before.
 */
void ftl_trim_on(struct ftl *ftl, lpn_t first, u64 nr_pages, u64 now_ns);

/**
 * ftl_trim_reach() - how much of a range may one trim have, if it is not to take long?
 * @most: pages that it may look at, at least 1; gets what is left of them
 *
 * What holds nothing is passed over 4096 pages at a time.
 *
 * Return: the first page of the range that it may not have.
 */
lpn_t ftl_trim_reach(const struct ftl *ftl, lpn_t first, u64 nr_pages, u32 *most);

/**
 * ftl_trim_has_room() - can so many trims be kept without waiting for a table (table.h)?
 *
 * A trim that finds no room makes all of the table first, which takes long on a large drive.
 */
bool ftl_trim_has_room(const struct ftl *ftl, u32 nr);

/**
 * ftl_trim_wants_step() - is such a table due, or being made?
 */
bool ftl_trim_wants_step(const struct ftl *ftl);

/**
 * ftl_trim_step() - go on with the table that makes room for trims, if ftl_trim_wants_step()
 * @most: places to look at
 * Return: whether there is more to do.
 */
bool ftl_trim_step(struct ftl *ftl, u32 most, u64 now_ns);

/**
 * ftl_share() - let pages have the data of others, without copying it; with params.share_pages
 * @range: pages, within the drive; at most FTL_SHARE_MAX_PAGES in all
 * @nr_ranges: ranges, [1, FTL_SHARE_MAX_RANGES]
 * @done_ns: gets the time at which the command completes; it is durable as a write would be, when
 *	the drive is flushed or has protection, and before anything that is written later
 *
 * Both have it until either is written or trimmed. A power failure leaves all of it or nothing.
 *
 * Return: if not FTL_SHARE_DONE, why nothing was done.
 */
enum ftl_share_result ftl_share(struct ftl *ftl, const struct ftl_share_range *range,
				u32 nr_ranges, u64 now_ns, u64 *done_ns);

/**
 * ftl_compact() - take what is outdated out of the defrag log, before a share has no room
 * Return: the time at which what is left is written.
 */
u64 ftl_compact(struct ftl *ftl, u64 now_ns);

/**
 * ftl_redistribute() - spread pages over the dies if they lie on few of them
 * @job: pages and threshold; gets the findings and the time
 *
 * A page that lies in another's place gets one of its own.
 *
 * Return: whether they were written again.
 */
bool ftl_redistribute(struct ftl *ftl, struct ftl_redistribution *job, u64 now_ns);

/**
 * ftl_flush() - make everything that completed durable
 * Return: the time at which it is; @now_ns plus firmware time with power-loss protection.
 */
u64 ftl_flush(struct ftl *ftl, u64 now_ns);

/**
 * ftl_idle() - let idle dies do background work: collect, fold and mend
 * @now_ns: present time; what idle dies can begin until then is done, up to a bound
 *
 * For the controller to call now and then while the drive is idle. Without it only as
 * much is done as commands give occasion for.
 *
 * Return: whether there is background work left, so that a further call makes sense.
 */
bool ftl_idle(struct ftl *ftl, u64 now_ns);

/**
 * ftl_advance() - let happen what the drive does by itself up to now
 *
 * Commands do this first. Others need it only before they look at counters and places.
 */
void ftl_advance(struct ftl *ftl, u64 now_ns);

/**
 * ftl_is_read_only() - has a die lost more erase blocks than it had to spare?
 *
 * Writes and trims must be refused then; what was written is still there.
 */
bool ftl_is_read_only(const struct ftl *ftl);

/**
 * ftl_nr_failures() - programs and erases that have failed
 */
u64 ftl_nr_failures(const struct ftl *ftl);

/**
 * ftl_fail_program() - let a program fail
 * @nr: number of the program that fails, counted on the die from now on; 0: none
 *
 * The failure waits while the die cannot bear one, see bad.h.
 */
void ftl_fail_program(struct ftl *ftl, die_t die, u32 nr);

/**
 * ftl_fail_erase() - let an erase fail; as ftl_fail_program()
 */
void ftl_fail_erase(struct ftl *ftl, die_t die, u32 nr);

/**
 * ftl_is_mapped() - does this page hold data?
 */
bool ftl_is_mapped(const struct ftl *ftl, lpn_t lpn);

/**
 * ftl_nr_mapped() - count the pages of a range that hold data
 * @first: first page; the range must lie within the drive
 */
u64 ftl_nr_mapped(const struct ftl *ftl, lpn_t first, u64 nr_pages);

/**
 * ftl_die_of() - the die that holds a page
 * Return: the die, or DIE_NONE if the page is not mapped.
 */
die_t ftl_die_of(const struct ftl *ftl, lpn_t lpn);

/**
 * ftl_unit_of() - the flash page that holds a page
 * Return: a number that two pages share if one sense reads both; ~0 if not mapped.
 */
u64 ftl_unit_of(const struct ftl *ftl, lpn_t lpn);

/**
 * ftl_power_cut() - the power fails
 * @now_ns: time at which it does
 *
 * Data that was not durable is lost: see rebuild.h. The drive can only be rebuilt then.
 * A drive without params.oob must have params.plp; it loses nothing.
 */
void ftl_power_cut(struct ftl *ftl, u64 now_ns);

/**
 * ftl_cut_after() - let the power fail when so many more programs and erases are done
 * @nr_ops: 0: never; counted in the order in which they are begun by the firmware
 */
void ftl_cut_after(struct ftl *ftl, u64 nr_ops);

/**
 * ftl_cut_ns() - when the power fails
 * @now_ns: present time: no sooner than what the host has seen last
 *
 * Work of idle dies is booked when there is occasion, for a time that may have passed. What was
 * durable when it was booked stays so: the power fails no sooner than the first call that
 * knows the time.
 *
 * Return: a time at which to call ftl_power_cut(), U64_MAX while it is not known.
 */
u64 ftl_cut_ns(struct ftl *ftl, u64 now_ns);

/**
 * ftl_power_off() - the power is off, in order or not: the drive has no map in memory, and nothing
 * that was read ahead
 */
void ftl_power_off(struct ftl *ftl);

/**
 * ftl_rebuild() - power on after ftl_power_cut(), or with an area from elsewhere
 * @ftl: a drive of the same parameters; the maps are made anew from its area
 * @now_ns: present time
 *
 * Statistics go on.
 *
 * Return: NULL, or a complete sentence that says why the area is not one that a drive
 * with these parameters leaves; the drive cannot be used then.
 */
const char *ftl_rebuild(struct ftl *ftl, u64 now_ns);

/**
 * ftl_area() - memory from which ftl_rebuild() makes the maps
 * @bytes: gets the size of the area, 0 without params.oob
 */
void *ftl_area(struct ftl *ftl, size_t *bytes);

/**
 * ftl_seq_of() - number of a page's newest data
 *
 * Pages of a write get ascending numbers in the order of their lpns. Needs params.oob.
 *
 * Return: the number, 0 if the page is not mapped.
 */
u64 ftl_seq_of(const struct ftl *ftl, lpn_t lpn);

/**
 * ftl_flash_seq_of() - number of a page's newest data that is on NAND or booked
 *
 * A power failure may bring back this data or older, but none between it and the newest.
 * Needs params.oob without params.plp.
 *
 * Return: the number, 0 if there is no such data.
 */
u64 ftl_flash_seq_of(const struct ftl *ftl, lpn_t lpn);

/**
 * ftl_last_seq() - number of the page that was written last
 */
u64 ftl_last_seq(const struct ftl *ftl);

/**
 * ftl_handle_anew() - let what is written to a placement handle next go to new erase blocks
 * @handle: one that exists
 *
 * What its open blocks have room for is lost until they are erased.
 */
void ftl_handle_anew(struct ftl *ftl, u32 handle, u64 now_ns);

/**
 * ftl_send_anew() - let the next write to a die by its number begin a new unit
 */
void ftl_send_anew(struct ftl *ftl, die_t die);

/**
 * ftl_is_durable() - would a page's newest data survive a power failure now?
 */
bool ftl_is_durable(struct ftl *ftl, lpn_t lpn);

u32 ftl_nr_dies(const struct ftl *ftl);
const struct ftl_params *ftl_get_params(const struct ftl *ftl);
void ftl_get_stats(const struct ftl *ftl, struct ftl_stats *stats);
void ftl_get_die_stats(const struct ftl *ftl, die_t die, struct ftl_die_stats *stats);

/**
 * ftl_check() - the definition of consistent; walks everything, slow
 *
 * Every mapped page has exactly one owner, counts agree with what they count, no die
 * loses an erase block, buffered pages are within the buffer.
 *
 * Return: NULL, or the first rule that is broken.
 */
const char *ftl_check(const struct ftl *ftl);

#endif /* FTL_FTL_H */
