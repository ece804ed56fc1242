/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What pages were before they were written last, while a power failure can bring that
 * back. Only for drives with a volatile write cache.
 *
 * Every write of a page has a number from the FTL. After a power failure the FTL says
 * the number of the data that is left, and the page becomes what it was then. Data goes
 * away as soon as it cannot come back: when what follows it is durable, or when it was
 * replaced in the write buffer. Both are looked at with every write, a few pages at a
 * time, and when the drive is idle; the buffer bounds how much there can be.
 *
 * One caller at a time, who holds the FTL's lock where it is asked.
 */
#ifndef NVMEV_UNDO_H
#define NVMEV_UNDO_H

#include "core/ftl.h"
#include "store.h"

/**
 * struct nvmev_version - older contents of a page
 * @older: contents before these, or NULL
 * @seq: number of the data; 0 is data that was durable when keeping began
 * @data: memory with the data, or NULL for zeroes
 */
struct nvmev_version {
	struct nvmev_version *older;
	u64 seq;
	void *data;
};

/**
 * struct nvmev_past - a page that was written and may become older again
 * @link: link in nvmev_store.aging
 * @page: number of the page
 * @seq: number of its present data
 * @shared_seq: number with which data of another page, or a copy, became its own last; 0: none did.
 *	What is on NAND can have numbers from before that
 * @older: chain of older contents, the newest first; the last one has the number 0
 */
struct nvmev_past {
	struct list_head link;
	u64 page;
	u64 seq;
	u64 shared_seq;
	struct nvmev_version *older;
};

/**
 * nvmev_past_of() - the past of a page
 * @store: the store
 * @page: the page
 *
 * Return: NULL if it has none that could come back.
 */
static inline struct nvmev_past *nvmev_past_of(struct nvmev_store *store, u64 page)
{
	return xa_load(&store->past, page);
}

/**
 * nvmev_past_add() - a page gets new data
 * @store: the store
 * @page: the page
 * @seq: number of the new data
 * @old: memory of the old data, NULL for zeroes; belongs to the past if this succeeds
 *
 * Context: may sleep, starts no I/O.
 * Return: 0 or -ENOMEM.
 */
int nvmev_past_add(struct nvmev_store *store, u64 page, u64 seq, void *old);

/**
 * nvmev_past_forget() - nothing that a page was can come back
 * @store: the store
 * @page: the page
 */
void nvmev_past_forget(struct nvmev_store *store, u64 page);

/**
 * nvmev_past_clear() - forget all
 * @store: the store
 */
void nvmev_past_clear(struct nvmev_store *store);

/**
 * nvmev_past_written() - drop what was replaced in the write buffer, or was made durable
 * @store: the store
 * @ftl: the FTL that has placed the pages, its lock held
 * @first: first page that was just written, shared or spread
 * @nr: number of pages
 */
void nvmev_past_written(struct nvmev_store *store, struct ftl *ftl, u64 first, u32 nr);

/**
 * nvmev_past_age() - drop the past of pages whose present data is durable
 * @store: the store
 * @ftl: the FTL that has placed the pages
 * @nr: number of pages to look at, those first that were not looked at for longest
 *
 * Return: were there any?
 */
bool nvmev_past_age(struct nvmev_store *store, struct ftl *ftl, u32 nr);

/**
 * nvmev_past_restore() - after a power failure: pages become what the FTL has of them
 * @store: the store
 * @ftl: the FTL, rebuilt
 *
 * Context: sleeps, and waits for memory.
 */
void nvmev_past_restore(struct nvmev_store *store, const struct ftl *ftl);

#endif /* NVMEV_UNDO_H */
