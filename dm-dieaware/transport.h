/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a hint travels with a write to the device: as fields of its command (hint-nvme.c). Where the
 * target chooses the place of a write itself, it goes another way, with the same promise:
 * hint-fdp.h.
 *
 * The promise: a bio that was attached completes towards dm exactly once, as if it
 * had not been attached. If a device fails a command because of its hint, the write
 * is sent again without one, and the caller never learns of it.
 */
#ifndef DMDA_TRANSPORT_H
#define DMDA_TRANSPORT_H

#include <linux/bio.h>

#include "core/classify.h"

struct dmda;
struct dmda_log;

/**
 * enum dmda_fate - what became of a hint on its way
 * @DMDA_FATE_UNSEEN: no command with it came by (yet)
 * @DMDA_FATE_SENT: a command carried it
 * @DMDA_FATE_MERGED: its command also carries writes of another kind, and no hint
 * @DMDA_FATE_MOVED: its command writes to another place, and carries no hint
 */
enum dmda_fate {
	DMDA_FATE_UNSEEN,
	DMDA_FATE_SENT,
	DMDA_FATE_MERGED,
	DMDA_FATE_MOVED,
};

#define DMDA_LBA_NONE	(~0ULL)

/**
 * struct dmda_io - per-bio data of a hinted write; of other bios it is not touched
 * @dmda: the target
 * @end_io: completion function that device-mapper has set
 * @private: what it has set for that function; the bio has this struct there on its way
 * @iter: position and size of the write, relative to the device below
 * @opf: operation and flags as dm passed them
 * @fate: enum dmda_fate; written where commands are built, on several CPUs at once, read
 *	at completion; a word, for not every machine has a cmpxchg() of bytes
 * @flags: bi_flags as dm passed them
 * @hint: enum dmda_hint of its beginning; what is split off behind that is an append
 *	unless it is an overwrite
 * @status: status of the failed attempt, while the second one is under way
 * @first_sector: first sector of the write on the whole disk below
 * @stream: write stream that it carries, or 0
 * @pred_lba: of an APPEND, last LBA of the page before it in its file, in the namespace's blocks;
 *	DMDA_LBA_NONE if the write begins the file
 */
struct dmda_io {
	struct dmda *dmda;
	bio_end_io_t *end_io;
	void *private;
	struct bvec_iter iter;
	blk_opf_t opf;
	u32 fate;
	unsigned short flags;
	u8 hint;
	blk_status_t status;
	u8 stream;
	sector_t first_sector;
	u64 pred_lba;
};

static inline struct dmda_io *dmda_io_of(struct bio *bio)
{
	return dm_per_bio_data(bio, sizeof(struct dmda_io));
}

/**
 * struct dmda_own_bio - a hinted write that the target makes itself
 * @log: device in log mode that has made it
 * @io: fate of its hint
 * @bio: the write; must be the last member
 */
struct dmda_own_bio {
	struct dmda_log *log;
	struct dmda_io io;
	struct bio bio;
};

/**
 * dmda_io_fill() - note what a write was when dm passed it, and its hint
 * @io: filled in
 * @bio: the write, remapped to the device below
 *
 * Context: any.
 */
void dmda_io_fill(struct dmda *dmda, struct dmda_io *io, const struct bio *bio,
		  const struct dmda_verdict *verdict);

/**
 * dmda_transport_get() - a target wants to send hints
 *
 * Context: may sleep.
 * Return: 0 or a negative errno. That no driver to carry them is there (yet) is no
 * error.
 */
int dmda_transport_get(void);

/**
 * dmda_transport_put() - a target wants no more; no bio of it is under way
 *
 * Context: may sleep.
 */
void dmda_transport_put(void);

/**
 * dmda_transport_name() - which transport is at work
 *
 * Context: any.
 * Return: "fdp", "tracepoint" or "none".
 */
const char *dmda_transport_name(const struct dmda *dmda);

/**
 * dmda_transport_attach() - send a hint with this write
 * @dmda: the target
 * @bio: a write that is already remapped to the device below
 * @verdict: the hint; NONE for a write that will be split, whose later pieces follow
 *	its first one
 *
 * Context: from map.
 */
void dmda_transport_attach(struct dmda *dmda, struct bio *bio,
			   const struct dmda_verdict *verdict);

/**
 * dmda_transport_attach_own() - the same for a write that the target makes itself
 * @own: its @bio has all that it needs
 *
 * If it fails, its maker has to find out whether it does so without a hint, too. At its
 * end, @own->io.fate says whether a command carried the hint.
 *
 * Context: where it is submitted.
 */
void dmda_transport_attach_own(struct dmda *dmda, struct dmda_own_bio *own,
			       const struct dmda_verdict *verdict);

#endif /* DMDA_TRANSPORT_H */
