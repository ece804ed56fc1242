// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of writes by place, and the hand that goes round them. See rates.h.
 *
 * Simulated with the FTL of the virtual SSD, which had four handles and a third of its pages free:
 * where a tenth of the pages got nine of ten writes, 1.46 pages were programmed for each that was
 * written, 1.66 with one handle; by Zipf's law (exponent 0.99) 1.41 and 1.52; where all pages were
 * written alike, 1.41 and 1.40.
 */
#include "rates.h"

/* What a part's rate is compared with: the mean, so many times or by so many */
#define HOT_TIMES	8U
#define WARM_TIMES	2U
#define COLD_SHARE	2U

static u32 part_bits_of(u64 nr_lpns)
{
	u32 bits = 0;

	while ((nr_lpns - 1) >> bits >= DMDA_RATES_MAX_PARTS)
		bits++;
	return bits;
}

static u32 nr_parts_of(u64 nr_lpns)
{
	return nr_lpns ? ((nr_lpns - 1) >> part_bits_of(nr_lpns)) + 1 : 0;
}

size_t dmda_rates_bytes(u64 nr_lpns)
{
	return nr_parts_of(nr_lpns) * sizeof(u16);
}

void dmda_rates_init(struct dmda_rates *rates, u64 nr_lpns, void *zeroed)
{
	memset(rates, 0, sizeof(*rates));
	if (!zeroed || !nr_lpns)
		return;
	rates->count = zeroed;
	rates->part_bits = part_bits_of(nr_lpns);
	rates->nr_parts = nr_parts_of(nr_lpns);
}

static void set_count(struct dmda_rates *rates, u32 part, u32 count)
{
	u16 *now = &rates->count[part];

	rates->sum = rates->sum - *now + count;
	rates->nr_written = rates->nr_written - !!*now + !!count;
	*now = count;
}

/* Halves the next count that is not 0, if it is not far. */
static void move_hand(struct dmda_rates *rates)
{
	for (u32 i = 0; i < DMDA_RATES_SKIP; i++) {
		u32 part = rates->hand;

		rates->hand = part + 1 < rates->nr_parts ? part + 1 : 0;
		if (!rates->count[part])
			continue;
		set_count(rates, part, rates->count[part] / 2);
		break;
	}
}

static enum dmda_stream kind_of(const struct dmda_rates *rates, u32 part)
{
	u64 rate = (u64)rates->count[part] * rates->nr_written;

	if (rate >= HOT_TIMES * rates->sum)
		return DMDA_STREAM_HOT;
	if (rate >= WARM_TIMES * rates->sum)
		return DMDA_STREAM_WARM;
	return rate * COLD_SHARE >= rates->sum ? DMDA_STREAM_USER : DMDA_STREAM_MOVED;
}

enum dmda_stream dmda_rates_write(struct dmda_rates *rates, u64 lpn)
{
	u64 part = lpn >> rates->part_bits;

	if (part >= rates->nr_parts)
		return DMDA_STREAM_USER;
	set_count(rates, part, min(rates->count[part] + DMDA_RATES_WRITE, DMDA_RATES_MAX));
	if (++rates->nr_steps == DMDA_RATES_STEP) {
		rates->nr_steps = 0;
		move_hand(rates);
	}
	return kind_of(rates, part);
}
