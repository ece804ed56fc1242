// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sparse memory for a namespace. It knows bytes and nothing of flash: where a page
 * lies and how long that takes is the FTL's business.
 */
#include <linux/blk_types.h>
#include <linux/crc32c.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "undo.h"

/*
 * The dispatcher must not wait for its own device, which reclaim would make it do,
 * and must get an error rather than be made to wait for ever.
 */
#define STORE_GFP	(GFP_NOIO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* What there is at once, in an interrupt as well, and nothing that reclaim keeps for itself */
#define NOW_GFP		(GFP_NOWAIT | __GFP_NOMEMALLOC | __GFP_NOWARN)

/* Marks of a page that is unreadable as a whole */
#define ALL_SECTORS	GENMASK(FTL_PAGE_BYTES / SECTOR_SIZE - 1, 0)

void nvmev_store_init(struct nvmev_store *store, bool keeps_past)
{
	*store = (struct nvmev_store){ .keeps_past = keeps_past };
	/* Memory may be added in an interrupt, see nvmev_store_make_room(). */
	xa_init_flags(&store->pages, XA_FLAGS_LOCK_IRQ);
	xa_init(&store->past);
	INIT_LIST_HEAD(&store->aging);
}

/*
 * The page count of the memory counts those that refer to it. That of pages that are unreadable as
 * a whole is nobody's, however few they are.
 */
static bool is_shared(const struct nvmev_store *store, const void *data)
{
	return data == store->unreadable || (store->shares && page_count(virt_to_page(data)) > 1);
}

/* Sectors of a page that are unreadable, a bit each */
static u8 marks_of(const void *page)
{
	return page_private(virt_to_page(page));
}

static void set_marks(void *page, u8 marks)
{
	set_page_private(virt_to_page(page), marks);
}

/* Of the page of byte @start, those of the @bytes from there, which are in it */
static u8 sectors(u64 start, u32 bytes)
{
	u32 first = (start & (FTL_PAGE_BYTES - 1)) >> SECTOR_SHIFT;

	return GENMASK(first + (bytes >> SECTOR_SHIFT) - 1, first);
}

void nvmev_store_put(struct nvmev_store *store, void *data)
{
	if (!data)
		return;
	if (!is_shared(store, data)) {
		set_marks(data, 0);
		WRITE_ONCE(store->nr_pages, store->nr_pages - 1);
	}
	free_page((unsigned long)data);
}

int nvmev_store_keep_whole(struct nvmev_store *store, u32 nr_pages)
{
	/* It may begin and end within a page. */
	store->draft = kvcalloc(nr_pages + 1, sizeof(*store->draft), GFP_KERNEL);
	if (!store->draft)
		return -ENOMEM;
	store->whole_pages = nr_pages;
	return 0;
}

void nvmev_store_end(struct nvmev_store *store)
{
	unsigned long index;
	void *data;

	nvmev_past_clear(store);
	xa_for_each(&store->pages, index, data) {
		nvmev_store_put(store, data);
		cond_resched();
	}
	xa_destroy(&store->pages);
	if (store->unreadable) {
		set_marks(store->unreadable, 0);
		free_page((unsigned long)store->unreadable);
	}
	kvfree(store->draft);
}

static u32 piece_of_page(u64 start, u64 bytes)
{
	return min_t(u64, bytes, FTL_PAGE_BYTES - (start & (FTL_PAGE_BYTES - 1)));
}

/* The memory of byte @start, or NULL where nothing was written. */
static void *find(struct nvmev_store *store, u64 start)
{
	void *data = xa_load(&store->pages, start >> FTL_PAGE_SHIFT);

	return data ? data + (start & (FTL_PAGE_BYTES - 1)) : NULL;
}

/* May the data of a page be changed in place for the write with this number? */
static bool is_own(struct nvmev_store *store, u64 page, const void *data, u64 seq)
{
	const struct nvmev_past *past;

	if (is_shared(store, data))
		return false;
	if (!store->keeps_past)
		return true;
	/* A command may come to a page twice. */
	past = nvmev_past_of(store, page);
	return past && past->seq == seq;
}

/* @data takes the place of what the page has. */
static bool replace(struct nvmev_store *store, u64 page, void *data, u64 seq)
{
	void *old = xa_store_irq(&store->pages, page, data, STORE_GFP);

	if (xa_err(old))
		return false;
	if (!store->keeps_past) {
		nvmev_store_put(store, old);
		return true;
	}
	if (!nvmev_past_add(store, page, seq, old))
		return true;
	/* Where there is an entry, storing needs no memory. */
	if (old)
		xa_store_irq(&store->pages, page, old, STORE_GFP);
	else
		xa_erase_irq(&store->pages, page);
	return false;
}

static void *make_page(struct nvmev_store *store, const void *old, u32 bytes)
{
	bool is_whole = bytes == FTL_PAGE_BYTES;
	void *data = (void *)__get_free_page(STORE_GFP | (is_whole || old ? 0 : __GFP_ZERO));

	if (!data)
		return NULL;
	set_marks(data, old && !is_whole ? marks_of(old) : 0);
	if (old && !is_whole)
		memcpy(data, old, FTL_PAGE_BYTES);
	WRITE_ONCE(store->nr_pages, store->nr_pages + 1);
	return data;
}

/* Memory of byte @start for a write; @bytes from there are going to be overwritten. */
static void *find_or_add(struct nvmev_store *store, u64 start, u32 bytes, u64 seq)
{
	u64 page = start >> FTL_PAGE_SHIFT;
	void *old = xa_load(&store->pages, page);
	void *data = old;

	if (!old || !is_own(store, page, old, seq)) {
		data = make_page(store, old, bytes);
		if (data && !replace(store, page, data, seq)) {
			nvmev_store_put(store, data);
			data = NULL;
		}
	}
	if (!data)
		return NULL;
	if (store->marks)
		set_marks(data, marks_of(data) & ~sectors(start, bytes));
	return data + (start & (FTL_PAGE_BYTES - 1));
}

u16 nvmev_store_read(struct nvmev_store *store, u64 start, u32 bytes, struct nvmev_dma *dma)
{
	u32 piece;
	u16 status;

	for (; bytes; start += piece, bytes -= piece) {
		piece = piece_of_page(start, bytes);
		status = nvmev_dma_to_host(dma, find(store, start), piece);
		if (status)
			return status;
	}
	return 0;
}

/* What a page is going to be, and room for it in the index. */
static u16 draft_page(struct nvmev_store *store, u64 start, u32 bytes, struct nvmev_dma *dma,
		      void **draft)
{
	u64 page = start >> FTL_PAGE_SHIFT;
	void *data = make_page(store, xa_load(&store->pages, page), bytes);

	*draft = data;
	if (!data || xa_reserve_irq(&store->pages, page, STORE_GFP))
		return NVME_SC_CAP_EXCEEDED | NVMEV_DNR;
	set_marks(data, marks_of(data) & ~sectors(start, bytes));
	return nvmev_dma_from_host(dma, data + (start & (FTL_PAGE_BYTES - 1)), bytes);
}

static u16 draft_pages(struct nvmev_store *store, u64 start, u32 bytes, struct nvmev_dma *dma,
		       u32 *nr)
{
	u16 status = 0;
	u32 piece;

	for (*nr = 0; bytes && !status; start += piece, bytes -= piece, (*nr)++) {
		piece = piece_of_page(start, bytes);
		status = draft_page(store, start, piece, dma, &store->draft[*nr]);
	}
	return status;
}

static void drop_drafts(struct nvmev_store *store, u64 page, u32 nr)
{
	for (u32 i = 0; i < nr; i++) {
		nvmev_store_put(store, store->draft[i]);
		xa_cmpxchg_irq(&store->pages, page + i, XA_ZERO_ENTRY, NULL, 0);
	}
}

/* Nothing can go wrong any more: there is room for all, and no past to be kept. */
static void place_drafts(struct nvmev_store *store, u64 page, u32 nr, u64 seq)
{
	for (u32 i = 0; i < nr; i++)
		WARN_ON_ONCE(!replace(store, page + i, store->draft[i], seq + i));
}

/* Until all of it is there, nothing changes. */
static u16 write_whole(struct nvmev_store *store, u64 start, u32 bytes, struct nvmev_dma *dma,
		       u64 seq)
{
	u64 page = start >> FTL_PAGE_SHIFT;
	u32 nr;
	u16 status = draft_pages(store, start, bytes, dma, &nr);

	if (status)
		drop_drafts(store, page, nr);
	else
		place_drafts(store, page, nr, seq);
	return status;
}

u16 nvmev_store_write(struct nvmev_store *store, u64 start, u32 bytes, struct nvmev_dma *dma,
		      u64 seq)
{
	u32 piece;
	u16 status;
	void *data;

	if (bytes <= store->whole_pages * FTL_PAGE_BYTES)
		return write_whole(store, start, bytes, dma, seq);
	for (; bytes; start += piece, bytes -= piece, seq++) {
		piece = piece_of_page(start, bytes);
		data = find_or_add(store, start, piece, seq);
		if (!data)
			return NVME_SC_CAP_EXCEEDED | NVMEV_DNR;
		status = nvmev_dma_from_host(dma, data, piece);
		if (status) {
			/* A fresh page must not show what the kernel had in it. */
			memset(data, 0, piece);
			return status;
		}
	}
	return 0;
}

/* It is zeroes: whoever asked for it may not come to write it. */
static bool add_now(struct nvmev_store *store, u64 page)
{
	void *data = (void *)__get_free_page(NOW_GFP | __GFP_ZERO);
	unsigned long flags;
	void *old;

	if (!data)
		return false;
	set_marks(data, 0);
	xa_lock_irqsave(&store->pages, flags);
	old = __xa_store(&store->pages, page, data, NOW_GFP);
	xa_unlock_irqrestore(&store->pages, flags);
	if (xa_err(old)) {
		free_page((unsigned long)data);
		return false;
	}
	WRITE_ONCE(store->nr_pages, store->nr_pages + 1);
	return true;
}

bool nvmev_store_make_room(struct nvmev_store *store, u64 start, u32 bytes)
{
	u64 page = start >> FTL_PAGE_SHIFT;
	u64 end = (start + bytes - 1) >> FTL_PAGE_SHIFT;
	const void *data;

	if (store->keeps_past || bytes <= store->whole_pages * FTL_PAGE_BYTES)
		return false;
	for (; page <= end; page++) {
		data = xa_load(&store->pages, page);
		if (data ? is_shared(store, data) : !add_now(store, page))
			return false;
	}
	return true;
}

static u16 copy_piece(struct nvmev_store *store, u64 from, u64 to, u32 bytes, u64 seq)
{
	const void *source = find(store, from);
	void *data;

	if (!source)
		return nvmev_store_zero(store, to, bytes, seq);
	data = find_or_add(store, to, bytes, seq);
	if (!data)
		return NVME_SC_CAP_EXCEEDED | NVMEV_DNR;
	/* What it was copied from may have been moved into the past, but is still there. */
	memmove(data, source, bytes);
	return 0;
}

u16 nvmev_store_copy(struct nvmev_store *store, u64 from, u64 to, u64 bytes, u64 seq)
{
	u64 first = to >> FTL_PAGE_SHIFT;
	u16 status = 0;
	u32 piece;

	for (; bytes && !status; from += piece, to += piece, bytes -= piece) {
		piece = min(piece_of_page(from, bytes), piece_of_page(to, bytes));
		status = copy_piece(store, from, to, piece,
				    seq + (to >> FTL_PAGE_SHIFT) - first);
	}
	return status;
}

u16 nvmev_store_compare(struct nvmev_store *store, u64 start, u32 bytes, struct nvmev_dma *dma)
{
	u32 piece;
	u16 status;

	for (; bytes; start += piece, bytes -= piece) {
		piece = piece_of_page(start, bytes);
		status = nvmev_dma_compare(dma, find(store, start), piece);
		if (status)
			return status;
	}
	return 0;
}

u32 nvmev_store_crc(struct nvmev_store *store, u64 start, u32 bytes)
{
	u32 piece, crc = ~0U;

	for (; bytes; start += piece, bytes -= piece) {
		piece = piece_of_page(start, bytes);
		crc = crc32c(crc, find(store, start) ?: page_address(ZERO_PAGE(0)), piece);
	}
	return ~crc;
}

static u16 zero_part(struct nvmev_store *store, u64 start, u32 bytes, u64 seq)
{
	void *data;

	if (!find(store, start))
		return 0;
	data = find_or_add(store, start, bytes, seq);
	if (!data)
		return NVME_SC_CAP_EXCEEDED | NVMEV_DNR;
	memset(data, 0, bytes);
	return 0;
}

/* A whole page; a past that it has already must hear of the new data. */
static u16 zero_page(struct nvmev_store *store, u64 page, u64 seq)
{
	void *data = xa_load(&store->pages, page);

	if (!data && !nvmev_past_of(store, page))
		return 0;
	if (store->keeps_past && nvmev_past_add(store, page, seq, data))
		return NVME_SC_CAP_EXCEEDED | NVMEV_DNR;
	xa_erase_irq(&store->pages, page);
	if (!store->keeps_past)
		nvmev_store_put(store, data);
	return 0;
}

u16 nvmev_store_zero(struct nvmev_store *store, u64 start, u64 bytes, u64 seq)
{
	u16 status = 0;
	u32 piece;

	for (; bytes && !status; start += piece, bytes -= piece, seq++) {
		piece = piece_of_page(start, bytes);
		if (piece == FTL_PAGE_BYTES)
			status = zero_page(store, start >> FTL_PAGE_SHIFT, seq);
		else
			status = zero_part(store, start, piece, seq);
	}
	return status;
}

/* What a page has that is marked whole, with a reference of its own; NULL without memory for it */
static void *get_unreadable(struct nvmev_store *store)
{
	/* It is no page's data by itself, so it is not counted. */
	if (!store->unreadable)
		store->unreadable = (void *)__get_free_page(STORE_GFP | __GFP_ZERO);
	if (!store->unreadable)
		return NULL;
	set_marks(store->unreadable, ALL_SECTORS);
	store->shares = true;
	get_page(virt_to_page(store->unreadable));
	return store->unreadable;
}

/* Return: whether there was memory for it. */
static bool mark_page(struct nvmev_store *store, u64 page, u64 seq)
{
	void *data = get_unreadable(store);

	if (!data)
		return false;
	if (replace(store, page, data, seq))
		return true;
	put_page(virt_to_page(data));
	return false;
}

/* Return: whether there was memory for it. */
static bool mark_piece(struct nvmev_store *store, u64 start, u32 bytes, u64 seq)
{
	void *data, *page;

	if (bytes == FTL_PAGE_BYTES)
		return mark_page(store, start >> FTL_PAGE_SHIFT, seq);
	data = find_or_add(store, start, bytes, seq);
	if (!data)
		return false;
	/* A fresh page must not show what the kernel had in it, to whoever reads the file. */
	memset(data, 0, bytes);
	page = data - (start & (FTL_PAGE_BYTES - 1));
	set_marks(page, marks_of(page) | sectors(start, bytes));
	return true;
}

u16 nvmev_store_mark(struct nvmev_store *store, u64 start, u64 bytes, u64 seq)
{
	u32 piece;

	store->marks = true;
	for (; bytes; start += piece, bytes -= piece, seq++) {
		piece = piece_of_page(start, bytes);
		if (!mark_piece(store, start, piece, seq))
			return NVME_SC_CAP_EXCEEDED | NVMEV_DNR;
	}
	return 0;
}

u64 nvmev_store_find_mark(struct nvmev_store *store, u64 start, u64 bytes)
{
	u64 at;
	u32 piece;

	if (!store->marks)
		return bytes;
	for (at = start; at < start + bytes; at += piece) {
		const void *data = xa_load(&store->pages, at >> FTL_PAGE_SHIFT);
		u8 marks;

		piece = piece_of_page(at, start + bytes - at);
		marks = data ? marks_of(data) & sectors(at, piece) : 0;
		if (marks)
			return round_down(at, FTL_PAGE_BYTES) +
				((u64)__ffs(marks) << SECTOR_SHIFT) - start;
	}
	return bytes;
}

const void *nvmev_store_page(struct nvmev_store *store, u64 page, u8 *marks)
{
	const void *data = xa_load(&store->pages, page);

	if (data)
		*marks = marks_of(data);
	return data;
}

/*
 * The data of a page without a part of it: others that refer to it keep it as it is.
 * Return: NULL without memory for that.
 */
static void *trim_data(struct nvmev_store *store, void *data, u32 at, u32 bytes)
{
	void *own = data;

	if (is_shared(store, data)) {
		own = make_page(store, data, bytes);
		if (!own)
			return NULL;
		nvmev_store_put(store, data);
	}
	memset(own + at, 0, bytes);
	set_marks(own, marks_of(own) & ~sectors(at, bytes));
	return own;
}

static bool trim_present(struct nvmev_store *store, u64 page, u32 at, u32 bytes)
{
	void *data = xa_load(&store->pages, page);
	void *own;

	if (!data)
		return true;
	own = trim_data(store, data, at, bytes);
	/* Where there is an entry, storing needs no memory. */
	if (own && own != data)
		xa_store_irq(&store->pages, page, own, STORE_GFP);
	return own;
}

/* Trims are durable at once: they reach what can come back, too. */
static bool trim_part(struct nvmev_store *store, u64 start, u32 bytes)
{
	u64 page = start >> FTL_PAGE_SHIFT;
	u32 at = start & (FTL_PAGE_BYTES - 1);
	struct nvmev_past *past = nvmev_past_of(store, page);
	struct nvmev_version *version;
	void *own;

	if (!trim_present(store, page, at, bytes))
		return false;
	for (version = past ? past->older : NULL; version; version = version->older) {
		if (!version->data)
			continue;
		own = trim_data(store, version->data, at, bytes);
		if (!own)
			return false;
		version->data = own;
	}
	return true;
}

static void drop_pages(struct nvmev_store *store, u64 first, u64 end)
{
	struct nvmev_past *past;
	unsigned long index;
	void *data;

	if (first >= end)
		return;
	xa_for_each_range(&store->pages, index, data, first, end - 1) {
		xa_erase_irq(&store->pages, index);
		nvmev_store_put(store, data);
	}
	xa_for_each_range(&store->past, index, past, first, end - 1)
		nvmev_past_forget(store, index);
}

u16 nvmev_store_trim(struct nvmev_store *store, u64 start, u64 bytes)
{
	u64 end = start + bytes;
	u32 piece = piece_of_page(start, bytes);
	bool done = true;

	if (piece < FTL_PAGE_BYTES) {
		done = trim_part(store, start, piece);
		start += piece;
	}
	drop_pages(store, start >> FTL_PAGE_SHIFT, end >> FTL_PAGE_SHIFT);
	piece = end & (FTL_PAGE_BYTES - 1);
	if (start < end && piece)
		done &= trim_part(store, end - piece, piece);
	return done ? 0 : NVME_SC_CAP_EXCEEDED | NVMEV_DNR;
}

u16 nvmev_store_share(struct nvmev_store *store, u64 from, u64 to, u64 seq)
{
	void *data = xa_load(&store->pages, from);
	bool done;

	/* The same data under a new number matters to the past only. */
	if (from == to && !store->keeps_past)
		return 0;
	if (!data) {
		done = !zero_page(store, to, seq);
	} else {
		store->shares = true;
		get_page(virt_to_page(data));
		done = replace(store, to, data, seq);
		if (!done)
			put_page(virt_to_page(data));
	}
	if (!done)
		return NVME_SC_CAP_EXCEEDED | NVMEV_DNR;
	if (store->keeps_past && nvmev_past_of(store, to))
		nvmev_past_of(store, to)->shared_seq = seq;
	return 0;
}

/* Memory of its own, or that of all pages that are marked whole */
static void *load_page(struct nvmev_store *store, const void *data, u8 marks)
{
	void *memory;

	if (marks == ALL_SECTORS && !memchr_inv(data, 0, FTL_PAGE_BYTES))
		return get_unreadable(store);
	memory = make_page(store, NULL, FTL_PAGE_BYTES);
	if (!memory)
		return NULL;
	memcpy(memory, data, FTL_PAGE_BYTES);
	set_marks(memory, marks);
	return memory;
}

int nvmev_store_load(struct nvmev_store *store, u64 page, const void *data, u8 marks)
{
	void *memory = load_page(store, data, marks);

	if (!memory)
		return -ENOMEM;
	store->marks |= marks;
	if (!xa_err(xa_store_irq(&store->pages, page, memory, STORE_GFP)))
		return 0;
	nvmev_store_put(store, memory);
	return -ENOMEM;
}
