// SPDX-License-Identifier: GPL-2.0-only
/*
 * Growing. What the device has got in addition becomes an area of its own: two places for
 * larger roots, tables, segments. All that was there stays where it is. A root is written
 * to its new place, with no entry for what is new; then the superblock that names it. Until
 * that is durable, the old superblock and the old root count, which nobody has touched.
 */
#include <linux/sched/mm.h>

#include "disk.h"
#include "grow.h"
#include "list.h"
#include "log.h"
#include "start.h"

static bool allocate_slots(const struct dmda_super *super, struct dmda_slots *slots, void **memory)
{
	bool is_complete = true;

	for (int i = 0; i < DMDA_NR_TABLES; i++) {
		u64 nr_pages = dmda_super_nr_pages(super, i);

		memory[i] = kvzalloc(dmda_slots_bytes(nr_pages), GFP_NOIO);
		if (memory[i])
			dmda_slots_init(&slots[i], nr_pages, memory[i]);
		else
			is_complete = false;
	}
	return is_complete;
}

/* Reads the root as the device was, and takes its entries over, if it may grow. */
static const char *take_entries(struct dmda_log *log, const struct dmda_super *grown_to)
{
	struct dmda_slots grown[DMDA_NR_TABLES], before[DMDA_NR_TABLES];
	void *memory[DMDA_NR_TABLES];
	const char *why = "there is not enough memory";

	memcpy(grown, log->tables.slots, sizeof(grown));
	if (allocate_slots(&log->super, before, memory)) {
		memcpy(log->tables.slots, before, sizeof(before));
		why = dmda_log_read_root(log, grown_to);
		memcpy(log->tables.slots, grown, sizeof(grown));
	}
	for (int i = 0; i < DMDA_TABLE_MAP && !why; i++) {
		for (u64 page = 0; page < before[i].nr_pages; page++)
			dmda_slots_load(&log->tables.slots[i], page, before[i].newest[page]);
	}
	for (int i = 0; i < DMDA_NR_TABLES; i++)
		kvfree(memory[i]);
	return why;
}

/* What lies there may be of an attempt to grow that has failed, and that was to another size. */
static int wipe_places(struct dmda_log *log, const struct dmda_super *grown)
{
	u32 nr_pages = dmda_root_nr_pages(grown), nr;
	int ret = 0;

	memset(log->checkpoint.pages, 0, nr_pages * DMDA_BLOCK_BYTES);
	for (u32 i = 0; !ret && i < 2 * grown->root_pages; i += nr) {
		nr = min(nr_pages, 2 * grown->root_pages - i);
		ret = dmda_log_write(log, to_dpn(grown->root_dpn[0] + i), log->checkpoint.pages,
				     nr, 0);
	}
	return ret;
}

static int write_roots(struct dmda_log *log, const struct dmda_super *grown)
{
	u32 nr_pages = dmda_root_nr_pages(grown);
	struct dmda_root root = log->checkpoint.root;
	u8 *pages = log->checkpoint.pages;
	int ret;

	ret = wipe_places(log, grown);
	if (ret)
		return ret;
	root.epoch++;
	for (u32 i = 0; i < nr_pages; i++)
		dmda_root_encode(&root, grown, log->tables.slots, i,
				 pages + i * DMDA_BLOCK_BYTES);
	return dmda_log_write(log, dmda_root_dpn(grown, root.epoch), pages, nr_pages,
			      REQ_PREFLUSH | REQ_FUA);
}

static const char *grow(struct dmda_log *log, struct dmda_super *grown)
{
	const char *why;

	*grown = log->super;
	why = dmda_super_grow(grown, log->grows_to);
	why = why ?: take_entries(log, grown);
	/* Up to here, who was at work before could go on. */
	if (!why)
		dmda_log_list_take(log);
	if (!why && write_roots(log, grown))
		why = "a root for the new size cannot be written";
	/* An old one would lead to a root that grows old. */
	if (!why && dmda_log_write_supers(log, grown))
		why = "the superblock for the new size cannot be written";
	if (!why) {
		log->super = *grown;
		log->is_single = false;
	}
	return why;
}

const char *dmda_log_grow(struct dmda_log *log)
{
	unsigned int flags = memalloc_noio_save();
	struct dmda_super *grown = kmalloc(sizeof(*grown), GFP_NOIO);
	const char *why = grown ? grow(log, grown) : "there is not enough memory";

	kfree(grown);
	memalloc_noio_restore(flags);
	return why;
}
