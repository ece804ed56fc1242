// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read commands. Pages of a command that lie in the same flash unit are read by one
 * sense, wherever in the command they are. Senses are started in the order in which the
 * command first needs them; the link takes the pages of each as they arrive. Those that were
 * read ahead (read-ahead.h) need the link only, once they are there.
 */
#include "command.h"
#include "map-page.h"
#include "sense.h"

/* Finds the sense of a flash unit in the present command, or begins one. */
static struct ftl_sense *sense_of(struct ftl *ftl, u32 flash_unit, u32 *nr_senses)
{
	u32 at = hash_32(flash_unit, FTL_SENSE_SLOTS_SHIFT);
	struct ftl_sense_slot *slot;

	for (;; at++) {
		slot = &ftl->sense_slot[at % FTL_SENSE_SLOTS];
		if (slot->command != ftl->read_commands)
			break;
		if (ftl->sense[slot->sense].flash_unit == flash_unit)
			return &ftl->sense[slot->sense];
	}
	slot->command = ftl->read_commands;
	slot->sense = (*nr_senses)++;
	ftl->sense[slot->sense].flash_unit = flash_unit;
	ftl->sense[slot->sense].nr_pages = 0;
	ftl->sense[slot->sense].planes = 0;
	return &ftl->sense[slot->sense];
}

/* After 2^32 commands their numbers come again: old slots must not look present. */
static void begin_senses(struct ftl *ftl)
{
	ftl->read_commands++;
	if (ftl->read_commands)
		return;
	memset(ftl->sense_slot, 0, sizeof(ftl->sense_slot));
	ftl->read_commands = 1;
}

/* The planes of pages that are all in one flash unit, in any order */
static u32 planes_of(const struct ftl *ftl, u64 lpn, u32 nr_pages)
{
	u32 planes = 0;

	if (ftl->geo.unit_planes == 1)
		return BIT(0);
	for (u64 end = lpn + nr_pages; lpn < end; lpn++)
		planes |= BIT(ftl_ppn_plane(&ftl->geo, ftl_l2p_get(&ftl->map, to_lpn(lpn))));
	return planes;
}

/**
 * struct reading - a read command
 * @start_ns: time from which its data can be asked for
 * @left_bytes: bytes that no transfer on the link was booked for yet
 * @done_ns: end of those that were
 */
struct reading {
	u64 start_ns;
	u32 left_bytes;
	u64 done_ns;
};

static void send_to_host(struct ftl *ftl, struct reading *reading, u32 bytes, u64 start_ns)
{
	u64 done_ns;

	bytes = min(bytes, reading->left_bytes);
	done_ns = ftl_bus_transfer(&ftl->to_host, bytes, start_ns, ftl->now_ns);
	reading->left_bytes -= bytes;
	reading->done_ns = max(reading->done_ns, done_ns);
}

static const struct ftl_read_slot *find_ahead(const struct ftl *ftl, u64 lpn)
{
	if (!ftl->params.read_ahead_pages)
		return NULL;
	return ftl_read_ahead_find(&ftl->read_ahead, lpn, ftl_l2p_get(&ftl->map, to_lpn(lpn)));
}

/* Return: the pages from @lpn on that were read ahead and come at the same time. */
static u32 take_ahead(struct ftl *ftl, u64 lpn, u64 end, struct reading *reading)
{
	const struct ftl_read_slot *first = find_ahead(ftl, lpn);
	const struct ftl_read_slot *slot = first;
	u32 nr = 0;

	for (; slot && slot->there_ns == first->there_ns; slot = find_ahead(ftl, lpn + nr)) {
		nr++;
		if (lpn + nr == end)
			break;
	}
	if (!nr)
		return 0;
	ftl->stats.ahead_hits += nr;
	send_to_host(ftl, reading, nr << FTL_PAGE_SHIFT, max(reading->start_ns, first->there_ns));
	ftl_read_ahead_drop(&ftl->read_ahead, lpn, nr);
	return nr;
}

/* Of @nr pages in the same place, none of which was read ahead, the first, which were not either */
static u32 up_to_ahead(const struct ftl *ftl, u64 lpn, u32 nr)
{
	u32 i = 1;

	if (!ftl->params.read_ahead_pages)
		return nr;
	while (i < nr && !find_ahead(ftl, lpn + i))
		i++;
	return i;
}

/* Return: the senses that the command needs, in ftl->sense. */
static u32 gather_senses(struct ftl *ftl, const struct ftl_request *rq, struct reading *reading)
{
	u64 lpn = from_lpn(rq->first);
	struct ftl_sense *sense;
	u32 nr_senses = 0;
	u32 nr, nr_ahead;

	begin_senses(ftl);
	for (u64 end = lpn + rq->nr_pages; lpn < end; lpn += nr) {
		ppn_t ppn = ftl_l2p_get(&ftl->map, to_lpn(lpn));

		nr = ftl_units_same_place(&ftl->units, to_lpn(lpn), end - lpn);
		if (ppn == PPN_NONE)
			continue;
		if (ftl_ppn_is_buffered(&ftl->geo, ppn)) {
			ftl->stats.buffer_hits += nr;
			continue;
		}
		nr_ahead = take_ahead(ftl, lpn, end, reading);
		if (nr_ahead) {
			nr = nr_ahead;
			continue;
		}
		nr = up_to_ahead(ftl, lpn, nr);
		sense = sense_of(ftl, ftl_flash_unit(&ftl->geo, ppn), &nr_senses);
		sense->nr_pages += nr;
		sense->planes |= planes_of(ftl, lpn, nr);
	}
	return nr_senses;
}

static void sense_ahead(struct ftl *ftl, u64 lpn, u32 nr_pages, u64 start_ns)
{
	struct ftl_sense sense = {
		.flash_unit = ftl_flash_unit(&ftl->geo, ftl_l2p_get(&ftl->map, to_lpn(lpn))),
		.nr_pages = nr_pages,
		.planes = planes_of(ftl, lpn, nr_pages),
	};
	u64 there_ns = ftl_sense(ftl, &sense, start_ns);

	ftl->stats.pages_read_ahead += nr_pages;
	for (u64 end = lpn + nr_pages; lpn < end; lpn++)
		ftl_read_ahead_put(&ftl->read_ahead, lpn, ftl_l2p_get(&ftl->map, to_lpn(lpn)),
				   there_ns);
}

/* Behind what the host has asked for, if it reads in order */
static void read_ahead(struct ftl *ftl, const struct ftl_request *rq, u64 start_ns)
{
	u64 lpn, end;
	u32 nr = ftl_read_ahead_note(&ftl->read_ahead, from_lpn(rq->first), rq->nr_pages,
				     ftl->params.nr_lpns, &lpn);

	if (!nr)
		return;
	start_ns = ftl_map_look_up(ftl, to_lpn(lpn), nr, start_ns);
	for (end = lpn + nr; lpn < end; lpn += nr) {
		ppn_t ppn = ftl_l2p_get(&ftl->map, to_lpn(lpn));

		nr = ftl_units_same_place(&ftl->units, to_lpn(lpn), end - lpn);
		if (ppn != PPN_NONE && !ftl_ppn_is_buffered(&ftl->geo, ppn))
			sense_ahead(ftl, lpn, nr, start_ns);
	}
}

u64 ftl_read(struct ftl *ftl, const struct ftl_request *rq, u64 now_ns)
{
	struct reading reading = {
		.start_ns = ftl_map_look_up(ftl, rq->first, rq->nr_pages, ftl_begin(ftl, now_ns)),
		.left_bytes = rq->bytes,
	};
	u32 nr_senses = gather_senses(ftl, rq, &reading);

	reading.done_ns = max(reading.done_ns, reading.start_ns);
	for (u32 i = 0; i < nr_senses; i++) {
		const struct ftl_sense *sense = &ftl->sense[i];

		send_to_host(ftl, &reading, sense->nr_pages << FTL_PAGE_SHIFT,
			     ftl_sense(ftl, sense, reading.start_ns));
	}
	/* What is buffered or unmapped needs the link only. */
	if (reading.left_bytes)
		send_to_host(ftl, &reading, reading.left_bytes, reading.start_ns);
	ftl->stats.host_pages_read += rq->nr_pages;
	read_ahead(ftl, rq, reading.start_ns);
	return reading.done_ns;
}
