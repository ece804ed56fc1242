/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bios of users: what each of them knows, the stages of its way through log mode, the lists in
 * which they wait; and what bios of all kinds have in common.
 */
#ifndef DMDA_LOG_BIO_H
#define DMDA_LOG_BIO_H

#include "../core/change.h"
#include "../core/opened.h"
#include "../dieaware.h"
#include "sums.h"

struct dmda_log;
struct dmda_log_page;

/*
 * The stages of a bio, and below them what it waits for there, and in which list:
 *
 *   write -> CLAIM ---------> PLACE --------------> DATA ------------------> MAPPED -> its end
 *            older claims:    the map, if it may    the device below, and    FUA: a commit:
 *            in none          stay in place;        the map if it is         committing
 *                             places: starved       fetching; then room
 *                                                   in the batch: unmapped
 *
 *   trim --> CLAIM ---------> PLACE ---------------------------------------> MAPPED -> its end
 *            older claims:    its turn; the map; room in the                 FUA: a commit:
 *            in none          batch: untrimmed                               committing
 *
 *   read --> CLAIM --------------------------------> DATA -------------------> its end
 *              |                                     the device below
 *              +-- no page of the map in memory: the worker -> MAPPED -> the end of its pieces
 *
 *   flush -> MAPPED -> its end
 *            a commit: committing; or the device below, if it is a commit itself
 *
 * A bio that has got what it waited for goes to the list ready, and the worker goes on with it. For
 * a page of the map it waits in a list of that page's (dmda_log_page.waiters). A write or trim may
 * also go from where it is to MAPPED, and end with an error, or go back to dm.
 *
 * A write's operation is done at the step from DATA to MAPPED, when the last of three is there: its
 * data is written, its pages of the map are pinned, the batch has room. Which of the first two
 * is missing is said by is_fetching and is_written, which have no meaning in other stages:
 *
 *			is_fetching	is_written
 *   data		no		no
 *   data and map	yes		no
 *   map		yes		yes
 *   neither		no		either: the end of the data, or of the fetching, goes on
 *
 * A write in place has none. With FUA it has no commit either, if it was sent on with FUA.
 *
 * A long write has several operations, one after the other (apply.c): what is left when its data
 * has ended is in the list begun, and done by the worker; also while that waits for memory, as such
 * a write keeps its pages of the map where they are.
 */

/**
 * enum dmda_log_stage - stage of a bio
 * @DMDA_LOG_CLAIM: older writes and trims of the same lpns are not done; a read was not looked up
 * @DMDA_LOG_PLACE: those are done; a write needs places, a trim the worker
 * @DMDA_LOG_DATA: data is being read or written, and what a write needs of the map is being read
 * @DMDA_LOG_MAPPED: the operation is done, or there is none: nobody waits for the bio's lpns, and
 *	its end is nothing but that
 */
enum dmda_log_stage {
	DMDA_LOG_CLAIM,
	DMDA_LOG_PLACE,
	DMDA_LOG_DATA,
	DMDA_LOG_MAPPED,
};

/**
 * struct dmda_log_io - a bio's own data
 * @node: node in the tree of claims
 * @subtree_last: largest @last of the nodes below, for that tree
 * @log: device in log mode
 * @bio: the bio itself
 * @end_io: completion function that device-mapper has set
 * @list: link in the list of what it waits for
 * @first: first lpn
 * @last: last lpn
 * @cursor: next lpn of a trim, of a read that the worker does in pieces, or of a write that is to
 *	be mapped
 * @pages: pages of the map that it has pinned, or NULL
 * @dpn: place of its data
 * @seg: segment among whose readers a read is counted; segment of a write in place; or
 *	SEG_NONE
 * @file: file of a write, 0 if not known
 * @fpage: page of @file that the write begins with
 * @ino: inode number of that file, for the tracepoint
 * @pred: lpn of the page before it in its file, or U64_MAX
 * @pred_dpn: place of that page
 * @nr_blockers: number of older claims of its lpns that are left
 * @stage: enum dmda_log_stage
 * @open: open summary of a write's segment
 * @has_claim: whether it is in the tree of claims
 * @is_fua: whether it is a write or trim that ends with a commit
 * @is_fua_below: whether it is a write in place with FUA that goes on so, and needs no commit
 * @is_fetching: whether the worker gets a write's pages of the map; it does not end before that
 * @has_starved: whether it has had to wait for places
 * @is_written: whether the data of such a write is written
 * @has_waited: whether it is back from waiting for a page of the map that it has yet to use
 * @is_rest: whether it is what is left of a write that a segment had no room for
 * @is_in_place: whether it is a write to where its pages are already
 * @may_stay: whether it is done where its pages are, if these lie together
 * @is_timed: whether it is one of those whose time is measured
 * @is_same: whether the pages that a write replaces are the same pages of the same file
 * @has_draft: whether a draft of its batch is written along with its data
 * @is_commit: whether it is a flush that is a commit itself, on its way to the device below
 * @is_copy: whether the page of the file that a small write begins with is elsewhere so far
 * @check: checksums of a read or write of a device that has some, or NULL
 * @source: enum dmda_source of a write
 * @what: enum dmda_hint of a write
 * @kind: enum dmda_stream of a write that has its places
 * @hint: data for the hint's way to the device; must be the last member, see dmda_io_of()
 */
struct dmda_log_io {
	struct rb_node node;
	u64 subtree_last;
	struct dmda_log *log;
	struct bio *bio;
	bio_end_io_t *end_io;
	struct list_head list;
	u64 first;
	u64 last;
	u64 cursor;
	struct dmda_log_page *pages[DMDA_OP_MAP_PAGES];
	dpn_t dpn;
	seg_t seg;
	u64 file;
	u32 fpage;
	u64 ino;
	u64 pred;
	dpn_t pred_dpn;
	u32 nr_blockers;
	u8 stage;
	u8 open;
	bool has_claim;
	bool is_fua;
	bool is_fua_below;
	bool is_fetching;
	bool has_waited;
	bool has_starved;
	bool is_written;
	bool is_rest;
	bool is_in_place;
	bool has_draft;
	bool is_commit;
	bool may_stay;
	bool is_timed;
	bool is_same;
	bool is_copy;
	struct dmda_log_check *check;
	u8 source;
	u8 what;
	u8 kind;
	struct dmda_io hint;
};

/**
 * struct dmda_log_ios - bios of users that are under way
 * @claims: tree of writes and trims by their lpns
 * @ready: bios with which the worker goes on
 * @begun: writes whose data is written, and that are mapped in part; their pages are pinned
 * @unmapped: writes whose data is written, and that wait for room in the batch
 * @untrimmed: trims that wait for room in the batch
 * @pieces: reserve of clones for reads of many pieces
 * @work: worker that goes on with @ready and @begun
 */
struct dmda_log_ios {
	struct rb_root_cached claims;
	struct list_head ready;
	struct list_head begun;
	struct list_head unmapped;
	struct list_head untrimmed;
	struct bio_set pieces;
	struct work_struct work;
};

static inline struct dmda_log_io *dmda_log_io_of(struct bio *bio)
{
	return dm_per_bio_data(bio, sizeof(struct dmda_log_io));
}

static inline struct bio *dmda_log_bio(const struct dmda_log_io *io)
{
	return io->bio;
}

static inline u32 dmda_log_io_pages(const struct dmda_log_io *io)
{
	return io->last - io->first + 1;
}

/**
 * dmda_log_go_on_locked() - let the worker go on with a bio
 */
void dmda_log_go_on_locked(struct dmda_log *log, struct dmda_log_io *io);

/* All of a list, at once */
void dmda_log_go_on_list_locked(struct dmda_log *log, struct list_head *ios);

/* A bio has no checksums any more. */
static inline void dmda_log_drop_check(struct dmda_log_io *io)
{
	if (io->check)
		dmda_log_check_put(io->check);
	io->check = NULL;
}

/**
 * dmda_log_get_check() - memory for the checksums of a bio's first pages, on a device that has some
 * @nr_pages: most of them; gets how many
 *
 * Return: whether the bio may go on; if not, it has ended, since it must not wait.
 */
bool dmda_log_get_check(struct dmda_log *log, struct dmda_log_io *io, u32 *nr_pages);

/* Sends a bio to its place on the device below. */
void dmda_log_send_to(struct dmda_log *log, struct bio *bio, dpn_t dpn);

/**
 * dmda_log_end_list() - end bios
 * @ios: struct dmda_log_io, with claims and pins given up
 * @status: status with which they end, unless it is BLK_STS_OK
 *
 * Context: any, without the lock.
 */
void dmda_log_end_list(struct list_head *ios, blk_status_t status);

#endif /* DMDA_LOG_BIO_H */
