// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hints as fields of an NVMe Write command, on an unpatched driver: a probe on
 * nvme-core's tracepoint nvme_setup_cmd, which fires when a command is built and
 * before it is copied to a queue, of whatever transport. The probe writes into the
 * command. Merging, splitting, retries and multipath stay the kernel's.
 *
 * A hinted bio is recognised by its completion function, and its hint lies in dm's
 * per-bio data, to which its bi_private points: no look-up, no lock. What becomes of it
 * on the way down:
 *
 *   split    The first fragments complete into our bio (bio_chain()); the last one is
 *            our bio itself, advanced. A fragment that is not the first follows the
 *            one before it on the device, whether the write itself has a hint or not.
 *   merged   One command for several bios. It gets the first one's hint, if all of
 *            them carry the same kind: map has seen to it that an append merged
 *            behind another one continues it.
 *   cloned   by another layer (LVM, md, dm-crypt below us): not recognised, no hint.
 *            The counters show it.
 *   moved    to another place by a layer that does not clone: not where it was sent
 *            to, no hint.
 *
 * That the tracepoint is there, and that a probe may write to its argument, nobody
 * promises. If it goes away, hints stop and nothing else: the counters show that too.
 */
#include <linux/blk-mq.h>
#include <linux/mutex.h>
#include <linux/nvme.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include <dieaware/hint.h>

#include "dieaware.h"

/* Ahead of trace events, so that these show the command as it is sent */
#define PROBE_PRIORITY	(TRACEPOINT_DEFAULT_PRIO + 1)

/* A multipath head and its path may both split: a fragment of a fragment */
#define MAX_CHAIN	4

static DEFINE_MUTEX(users_lock);
static u32 nr_users;
static struct tracepoint *setup_cmd;

/* block/bio.c's completion function of a fragment, which has no name for modules */
static bio_end_io_t *chain_end_io;

static enum dmda_counter fate_counter(const struct dmda_io *io)
{
	enum dmda_fate fate = READ_ONCE(io->fate);

	if (likely(fate == DMDA_FATE_SENT))
		return DMDA_COUNT_CONFIRMED_APPEND + (io->hint - DMDA_HINT_APPEND);
	switch (fate) {
	case DMDA_FATE_MERGED:
		return DMDA_COUNT_LOST_MERGED;
	case DMDA_FATE_MOVED:
		return DMDA_COUNT_LOST_MOVED;
	default:
		return DMDA_COUNT_LOST_UNSEEN;
	}
}

static void hinted_end_io(struct bio *bio)
{
	struct dmda_io *io = bio->bi_private;

	bio->bi_private = io->private;
	if (unlikely(bio->bi_status) && dmda_retry(bio))
		return;
	if (io->hint != DMDA_HINT_NONE)
		dmda_count(&io->dmda->stats, fate_counter(io));
	bio->bi_end_io = io->end_io;
	bio->bi_end_io(bio);
}

static void own_end_io(struct bio *bio)
{
	struct dmda_io *io = &container_of(bio, struct dmda_own_bio, bio)->io;

	bio->bi_end_io = io->end_io;
	bio->bi_end_io(bio);
}

/* The hint of the bio that this one is, or is a fragment of */
static struct dmda_io *hint_of(struct bio *bio)
{
	u32 depth;

	for (depth = 0; bio->bi_end_io == chain_end_io && depth < MAX_CHAIN; depth++)
		bio = bio->bi_private;
	if (bio->bi_end_io == hinted_end_io)
		return bio->bi_private;
	return bio->bi_end_io == own_end_io ? &container_of(bio, struct dmda_own_bio, bio)->io :
					      NULL;
}

/* Whether everything in a request may go under the hint of its first bio */
static bool all_alike(const struct request *rq, const struct dmda_io *first)
{
	struct bio *bio;

	for (bio = rq->bio->bi_next; bio; bio = bio->bi_next) {
		const struct dmda_io *io = hint_of(bio);

		if (!io || io->hint != first->hint)
			return false;
	}
	return true;
}

/*
 * Several fragments of one write can get their commands on several CPUs at once. One that
 * was sent decides, since it can be rejected: nothing else may take the place of SENT.
 */
static noinline void set_lost(const struct request *rq, enum dmda_fate fate)
{
	struct bio *bio;

	for (bio = rq->bio; bio; bio = bio->bi_next) {
		struct dmda_io *io = hint_of(bio);

		if (io)
			cmpxchg(&io->fate, DMDA_FATE_UNSEEN, fate);
	}
}

/* Of a request whose bios are all alike */
static inline void set_sent(const struct request *rq, struct dmda_io *first)
{
	struct bio *bio;

	WRITE_ONCE(first->fate, DMDA_FATE_SENT);
	for (bio = rq->bio->bi_next; bio; bio = bio->bi_next) {
		struct dmda_io *io = hint_of(bio);

		if (io)
			WRITE_ONCE(io->fate, DMDA_FATE_SENT);
	}
}

static void write_hint(struct nvme_command *cmd, const struct dmda_io *io, bool is_first)
{
	u64 pred_lba = is_first ? io->pred_lba : le64_to_cpu(cmd->rw.slba) - 1;

	if (io->hint == DMDA_HINT_OVERWRITE) {
		cmd->rw.control |= cpu_to_le16(DIEAWARE_CONTROL_OVERWRITE);
		return;
	}
	if (pred_lba == DMDA_LBA_NONE) {
		cmd->rw.control |= cpu_to_le16(DIEAWARE_CONTROL_BEGIN);
		return;
	}
	cmd->rw.control |= cpu_to_le16(DIEAWARE_CONTROL_APPEND);
	cmd->rw.cdw2 = cpu_to_le32(lower_32_bits(pred_lba));
	cmd->rw.cdw3 = cpu_to_le32(upper_32_bits(pred_lba));
}

/* Probe of nvme_setup_cmd */
static void command_built(void *data, struct request *rq, struct nvme_command *cmd)
{
	struct dmda_io *io;
	sector_t offset;

	if (req_op(rq) != REQ_OP_WRITE || !rq->bio)
		return;
	io = hint_of(rq->bio);
	if (!io && rq->bio == rq->biotail)
		return;
	if (!io || !all_alike(rq, io)) {
		set_lost(rq, DMDA_FATE_MERGED);
		return;
	}
	offset = blk_rq_pos(rq) - io->first_sector;
	if (offset >= io->iter.bi_size >> SECTOR_SHIFT) {
		set_lost(rq, DMDA_FATE_MOVED);
		return;
	}
	if (io->hint == DMDA_HINT_NONE && !offset)
		return;
	set_sent(rq, io);
	write_hint(cmd, io, !offset);
}

const char *dmda_transport_name(const struct dmda *dmda)
{
	enum dmda_state state = READ_ONCE(dmda->state);

	if (state == DMDA_STATE_STREAMS || state == DMDA_STATE_LIFETIMES)
		return "fdp";
	if (READ_ONCE(dmda->config.hints) == DMDA_HINTS_FDP)
		return "none";
	return READ_ONCE(setup_cmd) ? "tracepoint" : "none";
}

void dmda_io_fill(struct dmda *dmda, struct dmda_io *io, const struct bio *bio,
		  const struct dmda_verdict *verdict)
{
	sector_t offset = bio->bi_iter.bi_sector - dmda->config.start_sectors;
	u64 pred_end_sector = dmda->first_sector +
			      ((from_dpn(verdict->pred) + 1) << DMDA_PAGE_SECTOR_SHIFT);

	io->dmda = dmda;
	io->end_io = bio->bi_end_io;
	io->iter = bio->bi_iter;
	io->opf = bio->bi_opf;
	io->flags = bio->bi_flags;
	io->hint = verdict->hint;
	io->fate = DMDA_FATE_UNSEEN;
	io->status = BLK_STS_OK;
	io->stream = 0;
	io->first_sector = dmda->first_sector + offset;
	io->pred_lba = verdict->pred == DPN_NONE ? DMDA_LBA_NONE :
		(pred_end_sector >> dmda->lba_shift) - 1;
}

void dmda_transport_attach(struct dmda *dmda, struct bio *bio, const struct dmda_verdict *verdict)
{
	struct dmda_io *io;

	if (!READ_ONCE(setup_cmd)) {
		if (verdict->hint != DMDA_HINT_NONE)
			dmda_count(&dmda->stats, DMDA_COUNT_LOST_UNSEEN);
		return;
	}
	io = dmda_io_of(bio);
	dmda_io_fill(dmda, io, bio, verdict);
	io->private = bio->bi_private;
	bio->bi_private = io;
	bio->bi_end_io = hinted_end_io;
}

void dmda_transport_attach_own(struct dmda *dmda, struct dmda_own_bio *own,
			       const struct dmda_verdict *verdict)
{
	dmda_io_fill(dmda, &own->io, &own->bio, verdict);
	own->bio.bi_end_io = own_end_io;
}

/* Register with the tracepoint when it comes, let it go when it goes */
static void found(struct tracepoint *tracepoint, void *data)
{
	if (strcmp(tracepoint->name, "nvme_setup_cmd") || setup_cmd)
		return;
	if (!tracepoint_probe_register_prio(tracepoint, command_built, NULL, PROBE_PRIORITY))
		WRITE_ONCE(setup_cmd, tracepoint);
}

static void gone(struct tracepoint *tracepoint)
{
	if (!tracepoint || tracepoint != setup_cmd)
		return;
	WRITE_ONCE(setup_cmd, NULL);
	tracepoint_probe_unregister(tracepoint, command_built, NULL);
}

static int module_changed(struct notifier_block *nb, unsigned long action, void *data)
{
	struct tp_module *tp_module = data;
	struct module *mod = tp_module->mod;
	int i;

	if (strcmp(mod->name, "nvme_core"))
		return NOTIFY_DONE;
	for (i = 0; i < mod->num_tracepoints; i++) {
		struct tracepoint *tracepoint = tracepoint_ptr_deref(mod->tracepoints_ptrs + i);

		if (action == MODULE_STATE_COMING)
			found(tracepoint, NULL);
		else if (action == MODULE_STATE_GOING)
			gone(tracepoint);
	}
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = {
	.notifier_call = module_changed,
};

/* The address of the completion function, from two bios that are never submitted */
static int learn_chain_end_io(void)
{
	struct bio *fragment = bio_alloc(NULL, 0, REQ_OP_READ, GFP_KERNEL);
	struct bio *parent = bio_alloc(NULL, 0, REQ_OP_READ, GFP_KERNEL);
	int ret = -ENOMEM;

	if (fragment && parent) {
		bio_chain(fragment, parent);
		chain_end_io = fragment->bi_end_io;
		fragment->bi_end_io = NULL;
		fragment->bi_private = NULL;
		ret = 0;
	}
	if (fragment)
		bio_put(fragment);
	if (parent)
		bio_put(parent);
	return ret;
}

int dmda_transport_get(void)
{
	int ret = 0;

	mutex_lock(&users_lock);
	if (!nr_users) {
		ret = learn_chain_end_io();
		if (!ret)
			ret = register_tracepoint_module_notifier(&module_notifier);
		if (!ret)
			for_each_kernel_tracepoint(found, NULL);
	}
	if (!ret)
		nr_users++;
	mutex_unlock(&users_lock);
	return ret;
}

void dmda_transport_put(void)
{
	mutex_lock(&users_lock);
	if (!--nr_users) {
		unregister_tracepoint_module_notifier(&module_notifier);
		gone(setup_cmd);
		tracepoint_synchronize_unregister();
	}
	mutex_unlock(&users_lock);
}
