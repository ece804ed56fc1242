// SPDX-License-Identifier: GPL-2.0-only
/*
 * What lies where in the memory of out-of-band data.
 *
 * The area is one piece of memory, as it outlives the maps at a power failure and is kept in a
 * file. What lies where in it, and its size, come from the same function, so that they cannot
 * differ.
 */
#include "defrag.h"
#include "oob-booked.h"
#include "oob-memory.h"
#include "table.h"

static size_t aligned(size_t bytes)
{
	return size_add(bytes, sizeof(u64) - 1) & ~(sizeof(u64) - 1);
}

/* Takes the next piece of memory, if there is any, and counts it. */
static void *take(void *memory, size_t *at, size_t nr, size_t bytes)
{
	void *part = memory ? (u8 *)memory + *at : NULL;

	*at = size_add(*at, aligned(array_size(nr, bytes)));
	return part;
}

/* What lies where in the area; without memory: its size. */
static size_t lay_out_area(struct ftl_oob *oob, const struct ftl_geometry *geo,
			   const struct ftl_params *params, void *area)
{
	size_t bytes = 0;

	oob->head = take(area, &bytes, 1, sizeof(*oob->head));
	oob->die = take(area, &bytes, geo->nr_dies, sizeof(*oob->die));
	oob->open = take(area, &bytes, geo->nr_open, sizeof(*oob->open));
	oob->stamp = take(area, &bytes, geo->nr_units, sizeof(*oob->stamp));
	oob->seq = take(area, &bytes, geo->nr_places, sizeof(*oob->seq));
	oob->erases = take(area, &bytes, geo->nr_eblks, sizeof(*oob->erases));
	oob->lpn = take(area, &bytes, geo->nr_places, sizeof(*oob->lpn));
	oob->is_mapped = take(area, &bytes, ftl_table_words(params->nr_lpns), sizeof(u64));
	oob->max_defrag = ftl_defrag_max(params);
	oob->max_defrag_pages = ftl_defrag_max_pages(params);
	if (!oob->max_defrag)
		return bytes;
	oob->defrag = take(area, &bytes, 1, sizeof(*oob->defrag));
	oob->defrag_entry = take(area, &bytes, oob->max_defrag, sizeof(*oob->defrag_entry));
	return bytes;
}

/* Programs that can wait in the buffer, and a block's copies on every die. */
static u32 count_ops(const struct ftl_params *params, const struct ftl_geometry *geo)
{
	return params->wbuf_pages / params->unit_pages + geo->nr_open +
		geo->nr_dies * (geo->eblk_units + 2);
}

static size_t nr_chunks(size_t area_bytes)
{
	return DIV_ROUND_UP(area_bytes, FTL_OOB_CHUNK_BYTES);
}

static size_t lay_out_rest(struct ftl_oob *oob, const struct ftl_geometry *geo, void *memory)
{
	size_t slots = geo->unit_pages;
	size_t bytes = 0;

	oob->op = take(memory, &bytes, oob->nr_ops, sizeof(*oob->op));
	oob->ops = take(memory, &bytes, geo->nr_dies, sizeof(*oob->ops));
	oob->op_seq = take(memory, &bytes, array_size(oob->nr_ops, slots), sizeof(u64));
	oob->op_lpn = take(memory, &bytes, array_size(oob->nr_ops, slots), sizeof(u32));
	oob->booked = take(memory, &bytes, geo->nr_units, sizeof(u32));
	oob->prev = take(memory, &bytes, array_size(geo->nr_open, slots), sizeof(u32));
	oob->prev_seq = take(memory, &bytes, array_size(geo->nr_open, slots), sizeof(u64));
	oob->safe_ns = take(memory, &bytes, geo->nr_eblks, sizeof(u64));
	oob->defrag_page = take(memory, &bytes, oob->max_defrag_pages,
				sizeof(*oob->defrag_page));
	oob->dirty = take(memory, &bytes, nr_chunks(oob->area_bytes), sizeof(u8));
	return bytes;
}

size_t ftl_oob_area_bytes(const struct ftl_params *params)
{
	struct ftl_geometry geo;
	struct ftl_oob oob;

	if (!params->oob)
		return 0;
	ftl_geometry_init(&geo, params);
	return lay_out_area(&oob, &geo, params, NULL);
}

size_t ftl_oob_bytes(const struct ftl_params *params)
{
	struct ftl_geometry geo;
	struct ftl_oob oob;

	if (!params->oob)
		return 0;
	ftl_geometry_init(&geo, params);
	oob.nr_ops = count_ops(params, &geo);
	oob.area_bytes = ftl_oob_area_bytes(params);
	oob.max_defrag_pages = ftl_defrag_max_pages(params);
	return lay_out_rest(&oob, &geo, NULL);
}

void ftl_oob_init(struct ftl_oob *oob, const struct ftl_params *params, void *zeroed, void *area)
{
	oob->nr_lpns = params->nr_lpns;
	oob->is_volatile = !params->plp;
	oob->program_ns = (u64)params->program_ns * params->time_scale;
	oob->slc_program_ns = (u64)params->slc_program_ns * params->time_scale;
	oob->erase_ns = (u64)params->erase_ns * params->time_scale;
	oob->cut_op_ns = U64_MAX;
	oob->cut_ns = U64_MAX;
	oob->area = area;
	oob->area_bytes = lay_out_area(oob, oob->geo, params, area);
	oob->nr_ops = count_ops(params, oob->geo);
	lay_out_rest(oob, oob->geo, zeroed);
	for (u32 i = 0; i < oob->nr_ops; i++)
		oob->op[i].next = i + 1 < oob->nr_ops ? i + 2 : 0;
	oob->free_op = 1;
}
