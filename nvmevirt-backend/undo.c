// SPDX-License-Identifier: GPL-2.0-only
/*
 * Older data of pages, kept while a power failure can bring it back. Each page that can change
 * back has a chain of versions, the newest first; undo.h says when one of them may go.
 */
#include <linux/gfp.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "undo.h"

/* As in store.c: no I/O, and an error rather than an endless wait. */
#define PAST_GFP	(GFP_NOIO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

static struct nvmev_past *make_past(struct nvmev_store *store, u64 page)
{
	struct nvmev_past *past = kzalloc(sizeof(*past), PAST_GFP);

	if (!past)
		return NULL;
	past->page = page;
	if (xa_err(xa_store(&store->past, page, past, PAST_GFP))) {
		kfree(past);
		return NULL;
	}
	list_add_tail(&past->link, &store->aging);
	store->nr_past++;
	return past;
}

static void drop_version(struct nvmev_store *store, struct nvmev_version **link)
{
	struct nvmev_version *version = *link;

	*link = version->older;
	nvmev_store_put(store, version->data);
	kfree(version);
}

static void drop_past(struct nvmev_store *store, struct nvmev_past *past)
{
	xa_erase(&store->past, past->page);
	list_del(&past->link);
	store->nr_past--;
	while (past->older)
		drop_version(store, &past->older);
	kfree(past);
}

int nvmev_past_add(struct nvmev_store *store, u64 page, u64 seq, void *old)
{
	struct nvmev_version *version = kmalloc(sizeof(*version), PAST_GFP);
	struct nvmev_past *past = nvmev_past_of(store, page);

	if (version && !past)
		past = make_past(store, page);
	if (!version || !past) {
		kfree(version);
		return -ENOMEM;
	}
	*version = (struct nvmev_version){ past->older, past->seq, old };
	past->older = version;
	past->seq = seq;
	list_move_tail(&past->link, &store->aging);
	return 0;
}

void nvmev_past_forget(struct nvmev_store *store, u64 page)
{
	struct nvmev_past *past = nvmev_past_of(store, page);

	if (past)
		drop_past(store, past);
}

void nvmev_past_clear(struct nvmev_store *store)
{
	struct nvmev_past *past, *next;

	list_for_each_entry_safe(past, next, &store->aging, link) {
		drop_past(store, past);
		cond_resched();
	}
	xa_destroy(&store->past);
}

static void drop_replaced(struct nvmev_store *store, const struct ftl *ftl,
			  struct nvmev_past *past)
{
	u64 flash_seq = max(ftl_flash_seq_of(ftl, to_lpn(past->page)), past->shared_seq);
	struct nvmev_version **link = &past->older;

	while (*link) {
		if ((*link)->seq > flash_seq)
			drop_version(store, link);
		else
			link = &(*link)->older;
	}
}

bool nvmev_past_age(struct nvmev_store *store, struct ftl *ftl, u32 nr)
{
	struct nvmev_past *past;
	bool dropped = false;

	for (nr = min_t(u64, nr, store->nr_past); nr; nr--) {
		past = list_first_entry(&store->aging, struct nvmev_past, link);
		if (ftl_is_durable(ftl, to_lpn(past->page))) {
			drop_past(store, past);
			dropped = true;
		} else {
			list_move_tail(&past->link, &store->aging);
		}
	}
	return dropped;
}

void nvmev_past_written(struct nvmev_store *store, struct ftl *ftl, u64 first, u32 nr)
{
	struct nvmev_past *past;
	u64 page;

	if (!store->keeps_past)
		return;
	for (page = first; page < first + nr; page++) {
		past = nvmev_past_of(store, page);
		if (past)
			drop_replaced(store, ftl, past);
	}
	/* Two for each that was added, so that there get to be fewer. */
	nvmev_past_age(store, ftl, 2 * nr);
}

/*
 * The data with a number; where its write found no memory, the next older that did. The
 * oldest takes what has a number from before.
 */
static struct nvmev_version *find_version(struct nvmev_past *past, u64 seq)
{
	struct nvmev_version *version;

	for (version = past->older; version; version = version->older)
		if (version->seq == seq)
			return version;
	for (version = past->older; version->older; version = version->older)
		if (version->seq < seq)
			break;
	return version;
}

static void become(struct nvmev_store *store, struct nvmev_past *past,
		   struct nvmev_version *version)
{
	void *present;

	/* A page that is zeroes now may need memory to be found again. */
	if (version->data)
		present = xa_store_irq(&store->pages, past->page, version->data,
				       GFP_KERNEL | __GFP_NOFAIL);
	else
		present = xa_erase_irq(&store->pages, past->page);
	nvmev_store_put(store, present);
	version->data = NULL;
}

static void restore_page(struct nvmev_store *store, const struct ftl *ftl,
			 struct nvmev_past *past)
{
	u64 seq = ftl_seq_of(ftl, to_lpn(past->page));

	if (!seq)
		nvmev_store_put(store, xa_erase_irq(&store->pages, past->page));
	else if (seq < past->seq)
		become(store, past, find_version(past, seq));
}

void nvmev_past_restore(struct nvmev_store *store, const struct ftl *ftl)
{
	struct nvmev_past *past, *next;

	list_for_each_entry_safe(past, next, &store->aging, link) {
		restore_page(store, ftl, past);
		drop_past(store, past);
		cond_resched();
	}
}
