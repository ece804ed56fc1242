// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where pages lie, for those who ask by a message: page of the map by page of the map, each copied
 * under the lock and looked at without. It comes through the cache as for anybody else, one at a
 * time; pages that were never written need not. An answer ends when its memory is full, or when a
 * number of pages of the map have been looked at: a suspend waits for it.
 */
#include "../core/message.h"
#include "../core/where.h"
#include "evict.h"
#include "log.h"
#include "where.h"

/* Pages of the map that an answer looks at: 800 MiB of what the device presents */
#define MOST_MAP_PAGES	256U

static const char *complaint(const struct dmda_log *log, const struct dmda_message *message,
			     unsigned int maxlen, int *ret)
{
	u64 nr_lpns = log->dmda->ti->len >> DMDA_PAGE_SECTOR_SHIFT;

	if (from_lpn(message->lpn) + message->nr_pages > nr_lpns) {
		*ret = -EINVAL;
		return "The pages end behind the last page of the target.";
	}
	if (READ_ONCE(log->is_quiet)) {
		*ret = -EAGAIN;
		return "Where pages lie cannot be asked while the device is suspended.";
	}
	/* Who fills all of it would be asked for more memory. */
	if (maxlen <= DMDA_WHERE_LEAST_BYTES) {
		*ret = -ENOSPC;
		return "There is no room for an answer.";
	}
	return NULL;
}

/* Return: a copy of a page of the map; NULL: nothing is mapped on it; or an error. */
static struct dmda_map_block *copy_map_page(struct dmda_log *log, u64 index,
					    struct dmda_map_block *copy)
{
	struct dmda_log_page *page;
	bool is_zero;

	spin_lock_irq(&log->lock);
	is_zero = dmda_log_page_is_zero_locked(log, index);
	spin_unlock_irq(&log->lock);
	if (is_zero)
		return NULL;
	page = dmda_log_page_wait(log, index);
	if (IS_ERR(page))
		return ERR_CAST(page);
	spin_lock_irq(&log->lock);
	memcpy(copy, page->map.block, sizeof(*copy));
	dmda_log_page_put_locked(log, page);
	spin_unlock_irq(&log->lock);
	dmda_log_pages_shrink(log);
	return copy;
}

static int answer(struct dmda_log *log, struct dmda_where *where, u64 end,
		  struct dmda_map_block *memory)
{
	for (u32 i = 0; i < MOST_MAP_PAGES && from_lpn(dmda_where_next(where)) < end; i++) {
		u64 lpn = from_lpn(dmda_where_next(where));
		struct dmda_map_block *map;
		u32 entry;

		map = copy_map_page(log, dmda_log_map_index(log, lpn, &entry), memory);
		if (IS_ERR(map))
			return PTR_ERR(map);
		if (!dmda_where_add(where, map, end - lpn))
			break;
		cond_resched();
	}
	dmda_where_end(where);
	return 1;
}

int dmda_log_where(struct dmda_log *log, const struct dmda_message *message, char *result,
		   unsigned int maxlen)
{
	struct dmda_map_block *memory;
	struct dmda_where where;
	const char *why;
	int ret;

	why = complaint(log, message, maxlen, &ret);
	if (why) {
		DMERR("%s: %s", dm_table_device_name(log->dmda->ti->table), why);
		return ret;
	}
	/* A suspend waits for us: writing back for memory would wait for it. */
	memory = kmalloc(sizeof(*memory), GFP_NOIO);
	if (!memory)
		return -ENOMEM;
	dmda_where_begin(&where, &log->super, message->lpn, result, maxlen - 1);
	ret = answer(log, &where, from_lpn(message->lpn) + message->nr_pages, memory);
	kfree(memory);
	return ret;
}
