/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is on NAND besides data, and what is on its way there: all that a power failure
 * leaves to find the pages again.
 *
 * Every programmed page carries its lpn and the sequence number of its data. A number
 * belongs to one write of one page: copies of collection keep it. Every flash unit
 * carries a stamp that orders the programs. The area holds these for the whole drive, with
 * the little that a drive keeps elsewhere: records of trims, erase counts, and what a
 * capacitor saves of the open units. It is one piece of memory, so that it can be kept
 * in a file.
 *
 * The area shows NAND as it is. Programs and erases on their way are in oob-booked.h, data that
 * waits for its program in oob-slots.h; what lies where says oob-memory.c.
 *
 * Without params.oob none of this is kept: a drive with power-loss protection saves
 * everything there is.
 */
#ifndef FTL_OOB_H
#define FTL_OOB_H

#include "geometry.h"

struct ftl_defrag_entry;
struct ftl_defrag_head;
struct ftl_defrag_page;
struct ftl_op;
struct ftl_op_list;

/* Stamp of a flash unit whose program or erase was cut off */
#define FTL_OOB_TORN		U64_MAX

/* Set in the stamp of a draft: it counts less than any other copy of the same data. */
#define FTL_OOB_DRAFT		BIT_ULL(63)

/* Set in the count of erases of a block that was retired, or will be when it is empty */
#define FTL_OOB_BAD		0x80000000U

/* Trims that are kept as records before the table of unmapped pages is made anew */
#define FTL_OOB_TRIMS		512

#define FTL_OOB_COUNTERS	48

/* The area is followed up in pieces of this size. */
#define FTL_OOB_CHUNK_BYTES	4032U

/**
 * struct ftl_oob_trim - record of a trim
 * @first: first page
 * @nr: number of pages
 * @seq: number below which data of these pages is gone
 */
struct ftl_oob_trim {
	u64 first;
	u64 nr;
	u64 seq;
};

/**
 * struct ftl_oob_head - begins the area
 * @seq: number that was given to data last
 * @stamp: number that was given to a program or erase last
 * @table_seq: number up to which data is gone of pages that the table has as unmapped
 * @nr_trims: number of records since the table was made
 * @counters: counters of the drive, a struct ftl_stats
 * @trim: records of trims
 */
struct ftl_oob_head {
	u64 seq;
	u64 stamp;
	u64 table_seq;
	u64 nr_trims;
	u64 counters[FTL_OOB_COUNTERS];
	struct ftl_oob_trim trim[FTL_OOB_TRIMS];
};

/**
 * struct ftl_oob_die - what is kept of a die
 * @busy_ns: time at work, as in struct ftl_die_stats, like all that follow
 */
struct ftl_oob_die {
	u64 busy_ns;
	u64 units_read;
	u64 units_programmed;
	u64 eblks_erased;
	u64 pages_host;
	u64 pages_gc;
};

/**
 * struct ftl_oob_open - what is kept of an open unit whose slots hold saved pages
 * @die: die of the unit
 * @kind: enum ftl_unit_kind
 * @handle: placement handle of what is in it
 */
struct ftl_oob_open {
	u32 die;
	u16 kind;
	u16 handle;
};

/**
 * struct ftl_oob - out-of-band data, and what is booked
 * @geo: sizes of the drive
 * @now_ns: present time of the drive
 * @program_ns: duration of a program, scaled
 * @slc_program_ns: duration of one in the SLC region, scaled
 * @erase_ns: duration of an erase, scaled
 * @nr_lpns: number of pages shown to the host
 * @is_volatile: whether a power failure takes open units of the host
 * @area: memory that outlives a power failure
 * @area_bytes: size of @area
 * @dirty: whether a chunk of the area was changed since somebody looked, by chunk
 * @head: begin of the area
 * @die: counters by die
 * @open: die and kind by open unit
 * @stamp: order of the program, with FTL_OOB_DRAFT, by flash unit; 0 if erased, or FTL_OOB_TORN
 * @seq: number of the data, by place, slots of open units included
 * @erases: number of erases, and FTL_OOB_BAD, by erase block
 * @lpn: page of the data plus one, by place; 0 is none
 * @is_mapped: bitmap of the lpns that were mapped at @head->table_seq; those of the regions before
 *	@table_at at @table_seq, while a table is being made
 * @defrag: begin of the defrag log (defrag.h)
 * @defrag_entry: entries of the defrag log
 * @max_defrag: number of entries that fit into the defrag log
 * @max_defrag_pages: number of pages that they may have
 * @defrag_page: pages of the entries, in their order
 * @nr_ops: number of ops that can be booked
 * @free_op: op that is not booked, plus one, or 0
 * @op: ops, booked or free
 * @ops: list of what is booked, by die
 * @op_seq: number of the data, by op and slot
 * @op_lpn: page of the data plus one, by op and slot
 * @booked: op that is to program the flash unit, the last of several, plus one, or 0; by flash unit
 * @nr_hurried: number of ops that counted as ended because all were booked
 * @cut_countdown: number of ops until the power fails, 0 if it does not
 * @cut_op_ns: end of the op with which the power fails, U64_MAX while that is not booked
 * @cut_die: die of that op
 * @cut_ns: time at which the power fails, U64_MAX while nobody has asked since
 * @prev: place on NAND of the data whose place this takes, plus one, or 0; by slot of open units
 * @prev_seq: number of its page's newest data that is on NAND or booked, by slot of open units
 * @safe_ns: time at which what took the place of its stale pages is on NAND, by erase block
 * @table_seq: number up to which data will be gone of pages that the table which is being made
 *	has as unmapped, 0 while none is being made
 * @table_at: region that comes next in it
 * @nr_table_looks: places, or words and regions, that were looked at to make tables
 */
struct ftl_oob {
	const struct ftl_geometry *geo;
	const u64 *now_ns;
	u64 program_ns;
	u64 slc_program_ns;
	u64 erase_ns;
	u64 nr_lpns;
	bool is_volatile;

	void *area;
	size_t area_bytes;
	u8 *dirty;
	struct ftl_oob_head *head;
	struct ftl_oob_die *die;
	struct ftl_oob_open *open;
	u64 *stamp;
	u64 *seq;
	u32 *erases;
	u32 *lpn;
	u64 *is_mapped;

	/* defrag.h */
	struct ftl_defrag_head *defrag;
	struct ftl_defrag_entry *defrag_entry;
	u32 max_defrag;
	u32 max_defrag_pages;
	struct ftl_defrag_page *defrag_page;

	/* oob-booked.h */
	u32 nr_ops;
	u32 free_op;
	struct ftl_op *op;
	struct ftl_op_list *ops;
	u64 *op_seq;
	u32 *op_lpn;
	u32 *booked;
	u64 nr_hurried;
	u64 cut_countdown;
	u64 cut_op_ns;
	u32 cut_die;
	u64 cut_ns;

	/* oob-slots.h */
	u32 *prev;
	u64 *prev_seq;
	u64 *safe_ns;

	/* table.h */
	u64 table_seq;
	u64 table_at;
	u64 nr_table_looks;
};

/**
 * ftl_oob_mark() - a part of the area was changed
 */
static inline void ftl_oob_mark(struct ftl_oob *oob, const void *start, size_t bytes)
{
	size_t first = ((const u8 *)start - (const u8 *)oob->area) / FTL_OOB_CHUNK_BYTES;
	size_t last = ((const u8 *)start - (const u8 *)oob->area + bytes - 1) /
		FTL_OOB_CHUNK_BYTES;

	memset(oob->dirty + first, 1, last - first + 1);
}

/**
 * ftl_oob_stamp() - flash units in a row get a stamp
 */
static inline void ftl_oob_stamp(struct ftl_oob *oob, u32 flash_unit, u32 nr, u64 stamp)
{
	for (u32 i = 0; i < nr; i++)
		oob->stamp[flash_unit + i] = stamp;
	ftl_oob_mark(oob, &oob->stamp[flash_unit], nr * sizeof(u64));
}

/**
 * ftl_oob_forget() - there is no data in flash units in a row
 */
void ftl_oob_forget(struct ftl_oob *oob, u32 flash_unit, u32 nr);

/**
 * ftl_oob_put_home() - data of the host is written in place
 *
 * ftl_oob_write() has to follow.
 */
void ftl_oob_put_home(struct ftl_oob *oob, lpn_t lpn, ppn_t ppn);

/**
 * ftl_oob_clear_eblk() - a block is erased, now
 */
void ftl_oob_clear_eblk(struct ftl_oob *oob, u32 eblk);

/**
 * ftl_oob_seq() - number of the data in a place, whether it is there yet or booked
 */
static inline u64 ftl_oob_seq(const struct ftl_oob *oob, ppn_t ppn)
{
	size_t nr = oob->geo->unit_pages;
	u32 op;

	if (ftl_ppn_is_buffered(oob->geo, ppn))
		return oob->seq[from_ppn(ppn)];
	op = oob->booked[ftl_flash_unit(oob->geo, ppn)];
	return op ? oob->op_seq[(op - 1) * nr + (u32)from_ppn(ppn) % nr] :
		oob->seq[from_ppn(ppn)];
}

/**
 * ftl_oob_owner() - page that the data in a place is of, whether it is there yet or booked
 * Return: LPN_NONE if the place holds none.
 */
lpn_t ftl_oob_owner(const struct ftl_oob *oob, ppn_t ppn);

/**
 * ftl_oob_counts() - of two copies of the same data, does one count rather than the other?
 * @place: the one
 * @than: the other
 *
 * Without protection against power loss the older does: the newer may be of a collection
 * that is undone (rebuild.h). With it the newer does, and what open units hold is newest.
 */
bool ftl_oob_counts(const struct ftl_oob *oob, u32 place, u32 than);

#endif /* FTL_OOB_H */
