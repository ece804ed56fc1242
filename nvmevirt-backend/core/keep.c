// SPDX-License-Identifier: GPL-2.0-only
/*
 * A state file from its beginning to its end: the head, the FTL's state, the data pages. Writing
 * and reading the head are one sequence of calls, as in keep-state.c.
 *
 * The head has each parameter by itself, and not the structure, so that a file of another drive is
 * refused with the name of what is another there.
 */
#include "keep.h"
#include "keep-state.h"
#include "map-page.h"
#include "rest.h"

/**
 * struct param - a parameter of a drive
 * @offset: of the member in struct ftl_params
 * @bytes: size of the member
 * @other: sentence for a file in which it is another
 */
struct param {
	size_t offset;
	size_t bytes;
	const char *other;
};

#define PARAM(type, member, property)							\
	{ offsetof(struct ftl_params, member), sizeof(type),				\
	  "The state file is of a drive with other properties (" property ")." }

static const struct param params[] = {
	PARAM(u64, nr_lpns, "capacity_mib"),
	PARAM(u32, nr_channels, "channels"),
	PARAM(u32, dies_per_channel, "dies_per_channel"),
	PARAM(u32, planes_per_die, "planes_per_die"),
	PARAM(u32, unit_pages, "unit_kib"),
	PARAM(u32, units_per_eblk, "units_per_eblk"),
	PARAM(u32, reserve_permille, "reserve_permille"),
	PARAM(u32, spare_eblks, "spare_eblks"),
	PARAM(u32, factory_bad_permille, "factory_bad_permille"),
	PARAM(u32, nr_page_kinds, "read_ns"),
	PARAM(u32, read_ns[0], "read_ns"),
	PARAM(u32, read_ns[1], "read_ns"),
	PARAM(u32, read_ns[2], "read_ns"),
	PARAM(u32, read_ns[3], "read_ns"),
	PARAM(u32, program_ns, "program_ns"),
	PARAM(u32, erase_ns, "erase_ns"),
	PARAM(u32, suspend_program, "suspend_program"),
	PARAM(u32, suspend_erase, "suspend_erase"),
	PARAM(u32, suspend_ns, "suspend_ns"),
	PARAM(u32, channel_mbps, "channel_mbps"),
	PARAM(u32, link_mbps, "link_mbps"),
	PARAM(u32, cmd_ns, "cmd_ns"),
	PARAM(u32, cmd_gap_ns, "cmd_gap_ns"),
	PARAM(u32, write_ns, "write_ns"),
	PARAM(u32, page_ns, "page_ns"),
	PARAM(u32, wbuf_pages, "wbuf_kib"),
	PARAM(u32, run_units, "run_units"),
	PARAM(u32, hold_ns, "hold_ns"),
	PARAM(u32, time_scale, "time_scale"),
	PARAM(bool, plp, "plp"),
	PARAM(bool, register_hits, "register_hits"),
	PARAM(bool, cache_read, "cache_read"),
	PARAM(bool, plane_read, "plane_read"),
	PARAM(u32, bg_eblks, "bg_eblks"),
	PARAM(bool, bg_mend, "bg_mend"),
	PARAM(u32, wear_permille, "wear_permille"),
	PARAM(u32, seed_die, "seed_die"),
	PARAM(u32, share_pages, "share_pages"),
	PARAM(u32, share_log_kib, "share_log_kib"),
	PARAM(u32, map_cache_pages, "map_cache_mib"),
	PARAM(u32, slc_pages, "slc_mib"),
	PARAM(u32, cell_bits, "cell_bits"),
	PARAM(u32, slc_program_ns, "slc_program_ns"),
	PARAM(u32, slc_read_ns, "slc_read_ns"),
	PARAM(u32, stripe_lead, "stripe_lead"),
	PARAM(bool, parity, "parity"),
	PARAM(bool, in_place, "in_place"),
	PARAM(u32, nr_handles, "fdp_handles"),
	/* It follows from the others, which are better to be told of. */
	PARAM(u32, eblks_per_die, "erase blocks of a die"),
};

static u64 param_of(const struct ftl_params *of, const struct param *param)
{
	const u8 *member = (const u8 *)of + param->offset;
	u64 value;

	if (param->bytes == sizeof(u64))
		memcpy(&value, member, sizeof(value));
	else if (param->bytes == sizeof(bool))
		value = *(const bool *)member;
	else
		value = *(const u32 *)member;
	return value;
}

static void keep_params(struct ftl_keep *keep, const struct ftl_params *of)
{
	for (u32 i = 0; i < ARRAY_SIZE(params); i++) {
		u64 value = param_of(of, &params[i]);

		ftl_keep_u64(keep, &value);
		ftl_keep_refuse(keep, value != param_of(of, &params[i]), params[i].other);
	}
	ftl_keep_bool(keep, &keep->has_oob);
	ftl_keep_refuse(keep, of->oob && !keep->has_oob,
			"The state file has no out-of-band data, which a drive without power-loss protection or with a backing file needs.");
}

static void keep_layout(struct ftl_keep *keep, const struct ftl_keep_layout *layout)
{
	struct ftl_keep_layout found = {};

	if (!keep->reads)
		found = *layout;
	ftl_keep_u32(keep, &found.nr);
	for (u32 i = 0; i < FTL_KEEP_NAMESPACES; i++)
		ftl_keep_u64(keep, &found.nr_pages[i]);
	if (layout)
		ftl_keep_refuse(keep, found.nr != layout->nr ||
				memcmp(found.nr_pages, layout->nr_pages, sizeof(found.nr_pages)),
				"The state file is of a drive with other namespaces (namespace_mib).");
	ftl_keep_end_block(keep);
}

const char *ftl_keep_save(struct ftl_keep *keep, struct ftl *ftl,
			  const struct ftl_keep_layout *layout)
{
	BUILD_BUG_ON((FTL_KEEP_PREFACE_WORDS + ARRAY_SIZE(params) + FTL_KEEP_NAMESPACES + 1) *
		     sizeof(u64) > FTL_IMAGE_PART_BYTES);
	if (!ftl->params.plp)
		ftl_flush(ftl, ftl->now_ns);
	ftl_let_rest(ftl);
	ftl_map_write_all(ftl, ftl->now_ns);
	ftl_map_lose(ftl);
	ftl_set_clock(ftl, ftl->now_ns);
	keep->reads = false;
	keep->has_oob = ftl->params.oob;
	keep->at = 0;
	keep->number = 0;
	keep->reason = NULL;
	ftl_keep_write_preface(keep);
	keep_params(keep, &ftl->params);
	keep_layout(keep, layout);
	ftl_keep_state(keep, ftl);
	ftl_keep_end_block(keep);
	return keep->reason;
}

const char *ftl_keep_load(struct ftl_keep *keep, struct ftl *ftl,
			  const struct ftl_keep_layout *layout, u64 now_ns)
{
	keep->reads = true;
	keep->number = 0;
	keep->reason = NULL;
	ftl_keep_read_preface(keep);
	if (!keep->reason)
		keep_params(keep, &ftl->params);
	if (!keep->reason)
		keep_layout(keep, layout);
	if (!keep->reason)
		ftl_keep_state(keep, ftl);
	if (keep->reason)
		return keep->reason;
	ftl_keep_end_block(keep);
	ftl_set_clock(ftl, now_ns);
	ftl_map_lose(ftl);
	keep->reason = ftl_check(ftl);
	return keep->reason;
}

/**
 * struct index - begins some data pages
 * @nr: number of pages that follow
 * @zero: nothing yet
 * @entry: a page each
 */
struct index {
	u32 nr;
	u32 zero;
	struct {
		u64 lpn;
		u32 sum;
		u32 marks;
	} entry[FTL_KEEP_INDEX_PAGES];
};

static_assert(sizeof(struct index) <= FTL_IMAGE_PART_BYTES);

/* Return: the page behind the last one that was added. */
static u64 fill_index(struct index *index, u64 lpn, u64 nr_lpns,
		      const void *(*page_of)(void *context, u64 lpn, u8 *marks), void *context)
{
	for (; page_of && lpn < nr_lpns && index->nr < FTL_KEEP_INDEX_PAGES; lpn++) {
		u8 marks = 0;
		const void *data = page_of(context, lpn, &marks);

		if (!data)
			continue;
		index->entry[index->nr].lpn = lpn;
		index->entry[index->nr].sum = ftl_image_sum(data);
		index->entry[index->nr++].marks = marks;
	}
	return lpn;
}

const char *ftl_keep_save_pages(struct ftl_keep *keep, u64 nr_lpns,
				const void *(*page_of)(void *context, u64 lpn, u8 *marks),
				void *context)
{
	struct index *index = keep->block;
	u64 lpn = 0, at = 0;
	u32 nr;

	do {
		memset(keep->block, 0, FTL_IMAGE_PART_BYTES);
		lpn = fill_index(index, lpn, nr_lpns, page_of, context);
		nr = index->nr;
		keep->at = FTL_IMAGE_PART_BYTES;
		ftl_keep_write_block(keep);
		for (u32 i = 0; i < nr && !keep->reason; at++) {
			u8 marks;
			const void *data = page_of(context, at, &marks);

			if (!data)
				continue;
			ftl_keep_move(keep, (void *)data);
			i++;
		}
	} while (nr && !keep->reason);
	return keep->reason;
}

const char *ftl_keep_load_pages(struct ftl_keep *keep, u64 nr_lpns, void *page,
				const char *(*take)(void *context, u64 lpn, const void *page,
						    u8 marks),
				void *context)
{
	const struct index *index = keep->block;
	u64 next = 0;

	do {
		ftl_keep_read_block(keep);
		ftl_keep_refuse(keep, !keep->reason && index->nr > FTL_KEEP_INDEX_PAGES,
				"A block of the state file is damaged.");
		for (u32 i = 0; !keep->reason && i < index->nr; i++) {
			u64 lpn = index->entry[i].lpn;

			ftl_keep_refuse(keep, lpn < next || lpn >= nr_lpns,
					"The state file has data of pages that do not exist.");
			next = lpn + 1;
			ftl_keep_move(keep, page);
			ftl_keep_refuse(keep, !keep->reason &&
					ftl_image_sum(page) != index->entry[i].sum,
					"A data page of the state file is damaged.");
			if (!keep->reason)
				keep->reason = take(context, lpn, page, index->entry[i].marks);
		}
	} while (!keep->reason && index->nr);
	return keep->reason;
}
