// SPDX-License-Identifier: GPL-2.0-only
/*
 * The small queue as a ring of indexes, and the ghosts as a table of their lower 32 bits,
 * plus one, so that 0 is nobody. Both have their size from the beginning: what chooses the
 * pages that leave memory must not need any. See s3fifo.h for what they are good for.
 */
#include "s3fifo.h"

/*
 * The small queue takes a twentieth of the cache. Simulated with Zipf's law (exponent 1.2, 64
 * times as many pages as the cache holds), misses differ by one in fifty at most from a
 * fiftieth to a tenth.
 */
#define SMALL_PART	20U

/* More may come before anybody makes room. */
#define SMALL_SLACK	64U

static u64 max_small(u64 nr_pages)
{
	return div_u64(nr_pages, SMALL_PART) + 1;
}

static u64 small_size(u64 nr_pages)
{
	return 2 * max_small(nr_pages) + SMALL_SLACK;
}

size_t dmda_s3fifo_bytes(u64 nr_pages)
{
	return small_size(nr_pages) * sizeof(u64) + nr_pages * sizeof(u32);
}

void dmda_s3fifo_init(struct dmda_s3fifo *fifo, u64 nr_pages, void *zeroed)
{
	*fifo = (struct dmda_s3fifo){
		.small = zeroed,
		.max_small = max_small(nr_pages),
		.small_size = small_size(nr_pages),
		.nr_ghosts = nr_pages,
	};
	fifo->ghosts = (u32 *)(fifo->small + fifo->small_size);
}

static u32 *ghost_of(const struct dmda_s3fifo *fifo, u64 index)
{
	u64 place;

	div64_u64_rem(index, fifo->nr_ghosts, &place);
	return &fifo->ghosts[place];
}

static u64 take_oldest(struct dmda_s3fifo *fifo)
{
	u64 index = fifo->small[fifo->head];

	if (++fifo->head == fifo->small_size)
		fifo->head = 0;
	fifo->nr_small--;
	return index;
}

bool dmda_s3fifo_put(struct dmda_s3fifo *fifo, u64 index, u64 *pushed)
{
	u32 *ghost = ghost_of(fifo, index);
	u64 end;

	*pushed = U64_MAX;
	if (*ghost && *ghost == (u32)index + 1) {
		*ghost = 0;
		return false;
	}
	if (fifo->nr_small == fifo->small_size)
		*pushed = take_oldest(fifo);
	end = fifo->head + fifo->nr_small++;
	fifo->small[end < fifo->small_size ? end : end - fifo->small_size] = index;
	return true;
}

u64 dmda_s3fifo_take(struct dmda_s3fifo *fifo, bool in_any_case)
{
	return fifo->nr_small > (in_any_case ? 0 : fifo->max_small) ? take_oldest(fifo) : U64_MAX;
}

void dmda_s3fifo_gone(struct dmda_s3fifo *fifo, u64 index)
{
	*ghost_of(fifo, index) = index + 1;
}
