// SPDX-License-Identifier: GPL-2.0-only
/*
 * A drive in a state file. What comes out of it is the drive that went in: the same bytes when it
 * is written once more, and the same answers to all commands from then on. Everything else is
 * refused: each block is damaged once, the file cut off behind each, each parameter another; and
 * what has good checksums, but numbers that nobody wrote, does no harm.
 */
#include "../core/keep.h"
#include "../core/precondition.h"
#include "../core/rest.h"
#include "drive_kunit.h"

#define BEGIN_NS	1000000000ULL
#define LATER_NS	BIT_ULL(40)
#define CHUNK_BLOCKS	64
#define NR_CHUNKS	64

/**
 * struct variant - a kind of drive to try
 * @name: name that is shown with the case
 * @plp: whether it has power-loss protection, as in struct ftl_params, like all that follow
 */
struct variant {
	const char *name;
	bool plp;
	bool oob;
	bool suspends;
	bool plane_read;
	u32 hold_ns;
	u32 bg_eblks;
	u32 wear_permille;
	u32 share_pages;
	u32 spare_eblks;
	u32 nr_handles;
	bool in_place;
};

static const struct variant variants[] = {
	{ "protected",		true,  false, false, false, 0,       0, 0,  0,  0 },
	{ "protected, kept",	true,  true,  false, false, 0,       3, 20, 0,  2 },
	{ "volatile",		false, true,  false, false, 0,       3, 20, 0,  0 },
	{ "with all",		true,  false, true,  false, 5000000, 3, 20, 64, 3 },
	{ "kept, with all",	true,  true,  false, true,  5000000, 3, 20, 64, 3 },
	{ "volatile, with all",	false, true,  true,  false, 5000000, 3, 20, 64, 3 },
	{ "handles",		true,  true,  true,  false, 5000000, 0, 0,  64, 3, 3 },
	{ "handles, volatile",	false, true,  false, false, 0,       0, 0,  0,  0, 16 },
	{ "in place",		true,  true,  true,  true,  0,       0, 0,  0,  0, 0, true },
	{ "in place, not kept",	true,  false, false, false, 0,       0, 0,  0,  0, 0, true },
};

static void describe_variant(const struct variant *variant, char *desc)
{
	strscpy(desc, variant->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(variant, variants, describe_variant);
KUNIT_ARRAY_PARAM(shape, drive_shapes, describe_shape);

/**
 * struct file - a state file
 * @test: test that it belongs to
 * @keep: what writes or reads it
 * @chunk: CHUNK_BLOCKS blocks each, allocated when they are written
 * @nr: number of blocks that it has
 * @at: number of blocks that were read
 * @block: memory for @keep
 */
struct file {
	struct kunit *test;
	struct ftl_keep keep;
	u8 *chunk[NR_CHUNKS];
	u64 nr;
	u64 at;
	u8 block[FTL_IMAGE_BLOCK_BYTES];
};

static u8 *block_at(const struct file *file, u64 nr)
{
	return file->chunk[nr / CHUNK_BLOCKS] + nr % CHUNK_BLOCKS * FTL_IMAGE_BLOCK_BYTES;
}

static const char *write_next(void *context, void *block)
{
	struct file *file = context;
	u8 **chunk = &file->chunk[file->nr / CHUNK_BLOCKS];

	KUNIT_ASSERT_LT(file->test, file->nr, (u64)CHUNK_BLOCKS * NR_CHUNKS);
	if (!*chunk)
		*chunk = kunit_kzalloc(file->test, CHUNK_BLOCKS * FTL_IMAGE_BLOCK_BYTES,
				       GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(file->test, *chunk);
	memcpy(block_at(file, file->nr++), block, FTL_IMAGE_BLOCK_BYTES);
	return NULL;
}

static const char too_short[] = "short";

static const char *read_next(void *context, void *block)
{
	struct file *file = context;

	if (file->at == file->nr)
		return too_short;
	memcpy(block, block_at(file, file->at++), FTL_IMAGE_BLOCK_BYTES);
	return NULL;
}

static struct file *make_file(struct kunit *test)
{
	struct file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, file);
	file->test = test;
	file->keep.context = file;
	file->keep.block = file->block;
	return file;
}

static struct ftl_params variant_params(struct kunit *test)
{
	static const struct drive_shape shape = { "", 2, 2, 8, 8, 24, 4, 200 };
	const struct variant *variant = test->param_value;
	struct ftl_params params = drive_params(&shape);

	params.wbuf_pages = 160;
	params.planes_per_die = 2;
	params.plp = variant->plp;
	params.oob = variant->oob;
	params.plane_read = variant->plane_read;
	params.hold_ns = variant->hold_ns;
	params.bg_eblks = variant->bg_eblks;
	params.bg_mend = variant->bg_eblks;
	params.wear_permille = variant->wear_permille;
	params.share_pages = variant->share_pages;
	params.share_log_kib = 64;
	params.map_cache_pages = variant->suspends || variant->plane_read ? 2 : 0;
	params.read_ahead_pages = variant->suspends ? 16 : 0;
	params.stripe_lead = variant->bg_eblks ? 2 : 0;
	params.parity = variant->bg_eblks;
	if (variant->wear_permille)
		add_slc(&params, 2, 3);
	if (variant->nr_handles)
		add_handles(&params, variant->nr_handles);
	params.spare_eblks = variant->spare_eblks;
	params.factory_bad_permille = variant->spare_eblks ? 42 : 0;
	if (variant->suspends) {
		params.suspend_program = 8;
		params.suspend_erase = 8;
		params.suspend_ns = 100000;
	}
	if (variant->in_place)
		make_in_place(&params);
	params.nr_lpns = ftl_params_capacity(&params);
	return params;
}

static struct ftl_keep_layout layout_of(const struct ftl *ftl)
{
	return (struct ftl_keep_layout){ .nr = 1, .nr_pages = { ftl_get_params(ftl)->nr_lpns } };
}

static struct file *save(struct kunit *test, struct ftl *ftl)
{
	const struct ftl_keep_layout layout = layout_of(ftl);
	struct file *file = make_file(test);
	const char *reason;

	file->keep.move = write_next;
	reason = ftl_keep_save(&file->keep, ftl, &layout) ?:
		ftl_keep_save_pages(&file->keep, ftl_get_params(ftl)->nr_lpns, NULL, NULL);
	KUNIT_ASSERT_NULL_MSG(test, reason, "%s", reason);
	return file;
}

static const char *take_none(void *context, u64 lpn, const void *page, u8 marks)
{
	return "There is data.";
}

static const char *load_at(struct kunit *test, struct file *file, struct ftl *ftl, u64 now_ns)
{
	const struct ftl_keep_layout layout = layout_of(ftl);

	file->keep.move = read_next;
	file->at = 0;
	return ftl_keep_load(&file->keep, ftl, &layout, now_ns) ?:
		ftl_keep_load_pages(&file->keep, ftl_get_params(ftl)->nr_lpns, NULL, take_none,
				    NULL);
}

static const char *load(struct kunit *test, struct file *file, struct ftl *ftl)
{
	return load_at(test, file, ftl, LATER_NS);
}

static struct ftl *loaded(struct kunit *test, struct file *file, const struct ftl_params *params)
{
	struct ftl *ftl = make_drive(test, params);
	const char *reason = load(test, file, ftl);

	KUNIT_ASSERT_NULL_MSG(test, reason, "%s", reason);
	return ftl;
}

static void expect_same_file(struct kunit *test, const struct file *a, const struct file *b)
{
	u64 nr_other = 0;

	KUNIT_ASSERT_EQ(test, a->nr, b->nr);
	for (u64 i = 0; i < a->nr; i++)
		nr_other += !!memcmp(block_at(a, i), block_at(b, i), FTL_IMAGE_BLOCK_BYTES);
	KUNIT_EXPECT_EQ(test, nr_other, 0ULL);
}

static struct ftl_request draw_request(const struct ftl *ftl, u64 *random)
{
	u32 nr_pages = 1 + next_random32(random) % 20;
	u64 nr_lpns = ftl_get_params(ftl)->nr_lpns;
	struct ftl_request rq = request(next_random32(random) % (nr_lpns - nr_pages), nr_pages);

	rq.hint = (enum ftl_hint)(next_random32(random) % 6);
	rq.pred = to_lpn(next_random32(random) % nr_lpns);
	if (next_random32(random) % 2 && from_lpn(rq.first))
		rq.pred = to_lpn(from_lpn(rq.first) - 1);
	rq.die = to_die(next_random32(random) % ftl_nr_dies(ftl));
	rq.fua = next_random32(random) % 8 == 0;
	return rq;
}

static u64 draw_share(struct ftl *ftl, u64 *random, u64 now_ns)
{
	u64 nr_lpns = ftl_get_params(ftl)->nr_lpns, done_ns = now_ns;
	struct ftl_share_range range = {
		to_lpn(next_random32(random) % (nr_lpns - 4)),
		to_lpn(next_random32(random) % (nr_lpns - 4)), 4,
	};

	if (ftl_get_params(ftl)->share_pages)
		ftl_share(ftl, &range, 1, now_ns, &done_ns);
	return done_ns;
}

/* Commands of all kinds. Return: the sum of what they take. */
static u64 use(struct ftl *ftl, u64 seed, u32 nr, u64 now_ns)
{
	u64 random = seed, sum_ns = 0;

	for (u32 i = 0; i < nr && !ftl_is_read_only(ftl); i++) {
		struct ftl_request rq = draw_request(ftl, &random);
		u64 done_ns;

		switch (next_random32(&random) % 16) {
		case 0:
			done_ns = ftl_trim(ftl, rq.first, rq.nr_pages, now_ns);
			break;
		case 1:
			done_ns = draw_share(ftl, &random, now_ns);
			break;
		case 2:
			done_ns = ftl_flush(ftl, now_ns);
			break;
		case 3:
		case 4:
			done_ns = ftl_read(ftl, &rq, now_ns);
			break;
		default:
			done_ns = ftl_write(ftl, &rq, now_ns);
		}
		sum_ns += done_ns - now_ns;
		if (i % 8 == 7)
			now_ns += next_random32(&random) % 40000000;
	}
	/* Long enough for a lap of mending, or a part of one */
	ftl_idle(ftl, now_ns + 3000000000ULL);
	return sum_ns;
}

static struct ftl *used_drive(struct kunit *test, const struct ftl_params *params)
{
	struct ftl *ftl = make_drive(test, params);
	struct ftl_precondition work = {
		.range = { { to_lpn(0), params->nr_lpns * 3 / 4 } },
		.nr_ranges = 1,
		.random_percent = 100,
	};

	ftl_precondition_begin(ftl, &work);
	while (ftl_precondition_step(ftl, &work))
		;
	ftl_precondition_end(ftl, &work, BEGIN_NS);
	use(ftl, 1, 2000, BEGIN_NS);
	if (params->spare_eblks) {
		ftl_fail_program(ftl, to_die(1), 2);
		ftl_fail_erase(ftl, to_die(2), 1);
		use(ftl, 2, 500, ftl->now_ns);
	}
	EXPECT_CONSISTENT(test, ftl);
	return ftl;
}

static void shape_comes_out_as_it_was(struct kunit *test)
{
	struct ftl_params params = drive_params(shape_of(test));
	struct ftl *ftl = used_drive(test, &params);
	struct file *file = save(test, ftl);

	expect_same_file(test, file, save(test, loaded(test, file, &params)));
}

static void variant_comes_out_as_it_was(struct kunit *test)
{
	struct ftl_params params = variant_params(test);
	struct ftl *ftl = used_drive(test, &params);
	struct file *file = save(test, ftl);

	expect_same_file(test, file, save(test, ftl));
	expect_same_file(test, file, save(test, loaded(test, file, &params)));
	if (!params.in_place) {
		KUNIT_EXPECT_GT(test, stats_of(ftl).gc_runs, 50ULL);
		KUNIT_EXPECT_GT(test, stats_of(ftl).hints_append, 100ULL);
	}
	if (params.share_pages)
		KUNIT_EXPECT_GT(test, stats_of(ftl).pages_shared, 0ULL);
	if (params.spare_eblks)
		KUNIT_EXPECT_GT(test, stats_of(ftl).programs_failed, 0ULL);
}

/* The clock of a machine that has just begun is behind that of the one which wrote the file. */
static void earlier_clock_makes_no_difference(struct kunit *test)
{
	struct ftl_params params = variant_params(test);
	struct file *file = save(test, used_drive(test, &params));
	struct ftl *ftl = make_drive(test, &params);
	const char *reason = load_at(test, file, ftl, 1);

	KUNIT_ASSERT_NULL_MSG(test, reason, "%s", reason);
	expect_same_file(test, file, save(test, ftl));
}

static void goes_on_in_the_same_way(struct kunit *test)
{
	struct ftl_params params = variant_params(test);
	struct ftl *ftl = used_drive(test, &params);
	struct file *file = save(test, ftl);
	struct ftl *one = loaded(test, file, &params), *other = loaded(test, file, &params);
	u64 took_ns = use(one, 3, 3000, LATER_NS);
	struct file *after = save(test, one);

	KUNIT_EXPECT_EQ(test, use(other, 3, 3000, LATER_NS), took_ns);
	expect_same_file(test, after, save(test, other));
	ftl_set_clock(ftl, LATER_NS);
	KUNIT_EXPECT_EQ(test, use(ftl, 3, 3000, LATER_NS), took_ns);
	expect_same_file(test, after, save(test, ftl));
	EXPECT_CONSISTENT(test, one);
}

/* One unit of a block was copied: the drive that is loaded goes on with the next. */
static void fold_goes_on_where_it_was(struct kunit *test)
{
	struct ftl_params params = drive_params(&drive_shapes[5]);
	struct ftl *ftl, *other;

	add_slc(&params, 1, 2);
	ftl = make_drive(test, &params);
	for (u32 i = 0; i < params.units_per_eblk / 2; i++)
		write_all_to_die(ftl, i * params.unit_pages, params.unit_pages, 3);
	ftl_idle(ftl, ftl->command_ns + FTL_REST_NS + 1);
	KUNIT_ASSERT_EQ(test, stats_of(ftl).slc_pages_folded, (u64)params.unit_pages);
	KUNIT_ASSERT_NE(test, ftl->gc[3].fold.eblk, 0U);
	other = loaded(test, save(test, ftl), &params);
	KUNIT_EXPECT_EQ(test, other->gc[3].fold.eblk, ftl->gc[3].fold.eblk);
	KUNIT_EXPECT_EQ(test, other->gc[3].fold.pass, ftl->gc[3].fold.pass);
	KUNIT_EXPECT_EQ(test, other->gc[3].fold.slot, ftl->gc[3].fold.slot);
	ftl_idle(other, LATER_NS + 10ULL * FTL_REST_NS);
	KUNIT_EXPECT_EQ(test, stats_of(other).slc_folds, 1ULL);
	KUNIT_EXPECT_EQ(test, stats_of(other).slc_pages_folded,
			(u64)params.units_per_eblk / 2 * params.unit_pages);
	KUNIT_EXPECT_EQ(test, stats_of(other).pages_padded, 0ULL);
	EXPECT_CONSISTENT(test, other);
}

static void new_drive_comes_out_as_it_was(struct kunit *test)
{
	struct ftl_params params = variant_params(test);
	struct file *file = save(test, make_drive(test, &params));
	struct ftl *ftl = loaded(test, file, &params);

	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_mapped, 0ULL);
	expect_same_file(test, file, save(test, ftl));
}

static void nothing_of_it_is_lost_with_the_power(struct kunit *test)
{
	struct ftl_params params = variant_params(test);
	struct ftl *same = used_drive(test, &params);
	struct ftl *ftl = loaded(test, save(test, same), &params);
	u64 nr_mapped = stats_of(ftl).pages_mapped;
	const char *reason;

	if (!params.oob) {
		kunit_skip(test, "A drive without out-of-band data loses nothing.");
		return;
	}
	for (u64 lpn = 0; lpn < params.nr_lpns; lpn++)
		KUNIT_ASSERT_EQ(test, ftl_is_durable(ftl, to_lpn(lpn)),
				ftl_is_durable(same, to_lpn(lpn)));
	ftl_power_cut(ftl, LATER_NS);
	reason = ftl_rebuild(ftl, LATER_NS);
	KUNIT_ASSERT_NULL_MSG(test, reason, "%s", reason);
	KUNIT_EXPECT_EQ(test, stats_of(ftl).pages_mapped, nr_mapped);
	EXPECT_CONSISTENT(test, ftl);
}

static void read_only_drive_stays_so(struct kunit *test)
{
	struct ftl_params params = variant_params(test);
	struct ftl *ftl = used_drive(test, &params);

	if (params.in_place) {
		kunit_skip(test, "It has no erase blocks that fail.");
		return;
	}
	for (u32 i = 0; i < 100 && !ftl_is_read_only(ftl); i++) {
		ftl_fail_program(ftl, to_die(0), 1);
		use(ftl, 100 + i, 100, ftl->now_ns);
	}
	KUNIT_ASSERT_TRUE(test, ftl_is_read_only(ftl));
	KUNIT_EXPECT_TRUE(test, ftl_is_read_only(loaded(test, save(test, ftl), &params)));
}

static void expect_refusal(struct kunit *test, const char *reason, const char *words)
{
	KUNIT_ASSERT_NOT_NULL(test, reason);
	KUNIT_EXPECT_TRUE_MSG(test, strstr(reason, words), "%s", reason);
}

static void damaged_file_is_refused(struct kunit *test)
{
	struct ftl_params params = variant_params(test);
	struct file *file = save(test, used_drive(test, &params));
	u64 random = 5;

	for (u64 i = 0; i < file->nr; i++) {
		u8 *byte = block_at(file, i) + 16 +
			next_random32(&random) % (FTL_IMAGE_BLOCK_BYTES - 16);

		*byte ^= 16;
		expect_refusal(test, load(test, file, make_drive(test, &params)), "damaged");
		*byte ^= 16;
	}
	loaded(test, file, &params);
}

static void block_in_anothers_place_is_refused(struct kunit *test)
{
	struct ftl_params params = variant_params(test);
	struct file *file = save(test, used_drive(test, &params));

	memcpy(block_at(file, 2), block_at(file, 1), FTL_IMAGE_BLOCK_BYTES);
	expect_refusal(test, load(test, file, make_drive(test, &params)), "damaged");
}

static void short_file_is_refused(struct kunit *test)
{
	struct ftl_params params = variant_params(test);
	struct file *file = save(test, used_drive(test, &params));

	while (file->nr--)
		KUNIT_EXPECT_PTR_EQ(test, load(test, file, make_drive(test, &params)),
				    (const char *)too_short);
}

static void other_files_are_refused(struct kunit *test)
{
	struct ftl_params params = variant_params(test);
	struct ftl *ftl = make_drive(test, &params);
	struct file *file = save(test, ftl);
	u8 *head = block_at(file, 0);

	head[0] ^= 1;
	expect_refusal(test, load(test, file, make_drive(test, &params)), "not a state file");
	head[0] ^= 1;
	for (u32 version = 0; version < 256; version++) {
		head[8] = version;
		if (version != FTL_KEEP_VERSION)
			expect_refusal(test, load(test, file, make_drive(test, &params)),
				       "of a version");
	}
	head[8] = FTL_KEEP_VERSION;
	loaded(test, file, &params);
}

/**
 * struct param - a parameter that counts
 * @offset: of it in struct ftl_params
 * @words: what a refusal says of it
 */
struct param {
	size_t offset;
	const char *words;
};

#define PARAM(member, words) { offsetof(struct ftl_params, member), "(" words ")" }

static const struct param params_that_count[] = {
	PARAM(nr_lpns, "capacity_mib"),
	PARAM(nr_channels, "channels"),
	PARAM(dies_per_channel, "dies_per_channel"),
	PARAM(planes_per_die, "planes_per_die"),
	PARAM(unit_pages, "unit_kib"),
	PARAM(units_per_eblk, "units_per_eblk"),
	PARAM(reserve_permille, "reserve_permille"),
	PARAM(spare_eblks, "spare_eblks"),
	PARAM(factory_bad_permille, "factory_bad_permille"),
	PARAM(eblks_per_die, "erase blocks of a die"),
	PARAM(nr_page_kinds, "read_ns"),
	PARAM(read_ns[1], "read_ns"),
	PARAM(program_ns, "program_ns"),
	PARAM(erase_ns, "erase_ns"),
	PARAM(suspend_program, "suspend_program"),
	PARAM(suspend_erase, "suspend_erase"),
	PARAM(suspend_ns, "suspend_ns"),
	PARAM(channel_mbps, "channel_mbps"),
	PARAM(link_mbps, "link_mbps"),
	PARAM(cmd_ns, "cmd_ns"),
	PARAM(cmd_gap_ns, "cmd_gap_ns"),
	PARAM(write_ns, "write_ns"),
	PARAM(page_ns, "page_ns"),
	PARAM(wbuf_pages, "wbuf_kib"),
	PARAM(run_units, "run_units"),
	PARAM(hold_ns, "hold_ns"),
	PARAM(time_scale, "time_scale"),
	PARAM(plp, "plp"),
	PARAM(register_hits, "register_hits"),
	PARAM(cache_read, "cache_read"),
	PARAM(plane_read, "plane_read"),
	PARAM(bg_eblks, "bg_eblks"),
	PARAM(bg_mend, "bg_mend"),
	PARAM(wear_permille, "wear_permille"),
	PARAM(seed_die, "seed_die"),
	PARAM(share_pages, "share_pages"),
	PARAM(share_log_kib, "share_log_kib"),
	PARAM(map_cache_pages, "map_cache_mib"),
	PARAM(slc_pages, "slc_mib"),
	PARAM(cell_bits, "cell_bits"),
	PARAM(slc_program_ns, "slc_program_ns"),
	PARAM(slc_read_ns, "slc_read_ns"),
	PARAM(stripe_lead, "stripe_lead"),
	PARAM(parity, "parity"),
	PARAM(in_place, "in_place"),
	PARAM(nr_handles, "fdp_handles"),
};

static void other_drives_are_refused(struct kunit *test)
{
	struct ftl_params params = variant_params(test);
	struct file *file = save(test, make_drive(test, &params));

	for (u32 i = 0; i < ARRAY_SIZE(params_that_count); i++) {
		struct ftl *ftl = make_drive(test, &params);

		((u8 *)&ftl->params)[params_that_count[i].offset] ^= 1;
		expect_refusal(test, load(test, file, ftl), params_that_count[i].words);
		kunit_kfree(test, ftl);
	}
}

static void namespaces_count_if_asked_for(struct kunit *test)
{
	struct ftl_params params = variant_params(test);
	struct file *file = save(test, make_drive(test, &params));
	struct ftl_keep_layout layout = { .nr = 2, .nr_pages = { params.nr_lpns } };

	file->keep.move = read_next;
	expect_refusal(test, ftl_keep_load(&file->keep, make_drive(test, &params), &layout, 0),
		       "other namespaces");
	layout.nr = 1;
	layout.nr_pages[0]--;
	file->at = 0;
	expect_refusal(test, ftl_keep_load(&file->keep, make_drive(test, &params), &layout, 0),
		       "other namespaces");
	file->at = 0;
	KUNIT_EXPECT_NULL(test, ftl_keep_load(&file->keep, make_drive(test, &params), NULL, 0));
}

static void out_of_band_data_is_there_or_not(struct kunit *test)
{
	struct ftl_params params = variant_params(test), other = params;
	struct ftl *ftl = used_drive(test, &params), *same;
	struct file *file = save(test, ftl);

	if (!params.plp) {
		kunit_skip(test, "A volatile drive always has it.");
		return;
	}
	other.oob = !params.oob;
	same = make_drive(test, &other);
	if (other.oob) {
		expect_refusal(test, load(test, file, same), "no out-of-band data");
	} else if (params.share_pages) {
		expect_refusal(test, load(test, file, same), "share places");
	} else {
		KUNIT_ASSERT_NULL(test, load(test, file, same));
		ftl = loaded(test, file, &params);
		KUNIT_EXPECT_EQ(test, use(ftl, 3, 3000, LATER_NS), use(same, 3, 3000, LATER_NS));
		EXPECT_CONSISTENT(test, same);
	}
}

/* Numbers that nobody wrote, under a seal that says that they are good */
static void impossible_state_does_no_harm(struct kunit *test)
{
	struct ftl_params params = variant_params(test);
	struct file *file = save(test, used_drive(test, &params));
	u64 random = 9, nr_refused = 0;

	for (u32 i = 0; i < 600; i++) {
		u64 nr = 1 + next_random32(&random) % (file->nr - 2);
		u32 at = next_random32(&random) % (FTL_IMAGE_PART_BYTES / 4) * 4;
		struct ftl *ftl = make_drive(test, &params);
		u8 *block = block_at(file, nr);
		u32 value, before;

		memcpy(&value, block + at, sizeof(value));
		before = value;
		value = i % 3 ? next_random32(&random) : value + i % 5 - 2;
		memcpy(block + at, &value, sizeof(value));
		ftl_image_pack(block, nr, FTL_KEEP_VERSION);
		if (load(test, file, ftl))
			nr_refused++;
		else
			use(ftl, i, 20, LATER_NS);
		memcpy(block + at, &before, sizeof(before));
		ftl_image_pack(block, nr, FTL_KEEP_VERSION);
		kunit_kfree(test, ftl);
	}
	KUNIT_EXPECT_GT(test, nr_refused, 50ULL);
	loaded(test, file, &params);
}

/* Each entry would be programmed with the next flush, some 100 at a time. */
static void more_log_than_waits_is_refused(struct kunit *test)
{
	struct ftl_params params = variant_params(test);
	struct ftl *ftl = used_drive(test, &params), *other = used_drive(test, &params);
	struct file *file, *another;
	u64 nr = 1;
	u32 at = 0;

	if (!params.plp) {
		kunit_skip(test, "Nothing waits for the log of a drive that was flushed.");
		return;
	}
	ftl->nr_log_entries = 1;
	other->nr_log_entries = 2;
	file = save(test, ftl);
	another = save(test, other);
	while (!memcmp(block_at(file, nr), block_at(another, nr), FTL_IMAGE_BLOCK_BYTES))
		nr++;
	while (block_at(file, nr)[at] == block_at(another, nr)[at])
		at++;
	memset(block_at(file, nr) + at, 0xff, sizeof(u32));
	ftl_image_pack(block_at(file, nr), nr, FTL_KEEP_VERSION);
	expect_refusal(test, load(test, file, make_drive(test, &params)), "no drive can have");
}

/* Data of some pages: around the ends of an index, and the last one */
static bool has_data(u64 lpn, u64 nr_lpns)
{
	return lpn % 3 == 1 || lpn > nr_lpns - 3;
}

/* Data stays as it is until all is written. */
static u8 data_pages[8][FTL_IMAGE_BLOCK_BYTES];

static const void *page_of(void *context, u64 lpn, u8 *marks)
{
	const struct ftl_params *params = context;

	if (!has_data(lpn, params->nr_lpns))
		return NULL;
	*marks = lpn * 7;
	memset(data_pages[lpn % 8], lpn % 8 + 3, FTL_IMAGE_BLOCK_BYTES);
	return data_pages[lpn % 8];
}

/**
 * struct taker - takes pages
 * @params: of the drive
 * @nr: number of pages so far
 * @nr_wrong: number of those that are not what they should be
 * @most: number of pages that it takes
 */
struct taker {
	struct ftl_params params;
	u64 nr;
	u64 nr_wrong;
	u64 most;
};

static const char *take(void *context, u64 lpn, const void *page, u8 marks)
{
	struct taker *taker = context;
	const u8 *bytes = page;

	if (taker->nr++ == taker->most)
		return "full";
	taker->nr_wrong += !has_data(lpn, taker->params.nr_lpns) || marks != (u8)(lpn * 7) ||
		bytes[0] != lpn % 8 + 3 || memchr_inv(page, bytes[0], FTL_IMAGE_BLOCK_BYTES);
	return NULL;
}

static const char *load_data(struct kunit *test, struct file *file, struct taker *taker)
{
	struct ftl *ftl = make_drive(test, &taker->params);
	void *page = kunit_kzalloc(test, FTL_IMAGE_BLOCK_BYTES, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	taker->nr = 0;
	file->keep.move = read_next;
	file->at = 0;
	KUNIT_ASSERT_NULL(test, ftl_keep_load(&file->keep, ftl, NULL, 0));
	return ftl_keep_load_pages(&file->keep, taker->params.nr_lpns, page, take, taker);
}

static void data_comes_out_as_it_was(struct kunit *test)
{
	struct taker taker = { .params = variant_params(test), .most = U64_MAX };
	struct ftl *ftl = make_drive(test, &taker.params);
	struct ftl_keep_layout layout = layout_of(ftl);
	struct file *file = make_file(test);
	u64 nr_pages = 0, nr_state;

	file->keep.move = write_next;
	KUNIT_ASSERT_NULL(test, ftl_keep_save(&file->keep, ftl, &layout));
	nr_state = file->nr;
	KUNIT_ASSERT_NULL(test, ftl_keep_save_pages(&file->keep, taker.params.nr_lpns, page_of,
						    &taker.params));
	for (u64 lpn = 0; lpn < taker.params.nr_lpns; lpn++)
		nr_pages += has_data(lpn, taker.params.nr_lpns);
	KUNIT_EXPECT_GT(test, nr_pages, 1ULL * FTL_KEEP_INDEX_PAGES);
	KUNIT_EXPECT_NULL(test, load_data(test, file, &taker));
	KUNIT_EXPECT_EQ(test, taker.nr, nr_pages);
	KUNIT_EXPECT_EQ(test, taker.nr_wrong, 0ULL);
	taker.most = 300;
	expect_refusal(test, load_data(test, file, &taker), "full");
	taker.most = U64_MAX;
	block_at(file, nr_state + 5)[77]++;
	expect_refusal(test, load_data(test, file, &taker), "data page");
	block_at(file, nr_state + 5)[77]--;
	/* A page twice, and one behind the last */
	memcpy(block_at(file, nr_state) + 24, block_at(file, nr_state) + 8, 16);
	ftl_image_pack(block_at(file, nr_state), nr_state, FTL_KEEP_VERSION);
	expect_refusal(test, load_data(test, file, &taker), "do not exist");
	memcpy(block_at(file, nr_state) + 24, &taker.params.nr_lpns, 8);
	ftl_image_pack(block_at(file, nr_state), nr_state, FTL_KEEP_VERSION);
	expect_refusal(test, load_data(test, file, &taker), "do not exist");
	block_at(file, nr_state)[1]++;
	ftl_image_pack(block_at(file, nr_state), nr_state, FTL_KEEP_VERSION);
	expect_refusal(test, load_data(test, file, &taker), "damaged");
	while (--file->nr >= nr_state)
		KUNIT_EXPECT_NOT_NULL(test, load_data(test, file, &taker));
}

static const char *write_some(void *context, void *block)
{
	struct file *file = context;

	return file->nr == file->at ? "full" : write_next(context, block);
}

static void disk_that_is_full_ends_it(struct kunit *test)
{
	struct ftl_params params = variant_params(test);
	struct ftl *ftl = used_drive(test, &params);
	struct ftl_keep_layout layout = layout_of(ftl);
	u64 nr_blocks = save(test, ftl)->nr;

	for (u64 most = 0; most < nr_blocks; most++) {
		struct file *file = make_file(test);
		const char *reason;

		file->at = most;
		file->keep.move = write_some;
		reason = ftl_keep_save(&file->keep, ftl, &layout);
		if (!reason)
			reason = ftl_keep_save_pages(&file->keep, params.nr_lpns, NULL, NULL);
		expect_refusal(test, reason, "full");
		KUNIT_EXPECT_EQ(test, file->nr, most);
	}
	EXPECT_CONSISTENT(test, ftl);
}

static struct kunit_case keep_cases[] = {
	KUNIT_CASE_PARAM(shape_comes_out_as_it_was, shape_gen_params),
	KUNIT_CASE_PARAM(variant_comes_out_as_it_was, variant_gen_params),
	KUNIT_CASE_PARAM(earlier_clock_makes_no_difference, variant_gen_params),
	KUNIT_CASE_PARAM(goes_on_in_the_same_way, variant_gen_params),
	KUNIT_CASE(fold_goes_on_where_it_was),
	KUNIT_CASE_PARAM(new_drive_comes_out_as_it_was, variant_gen_params),
	KUNIT_CASE_PARAM(nothing_of_it_is_lost_with_the_power, variant_gen_params),
	KUNIT_CASE_PARAM(read_only_drive_stays_so, variant_gen_params),
	KUNIT_CASE_PARAM(damaged_file_is_refused, variant_gen_params),
	KUNIT_CASE_PARAM(block_in_anothers_place_is_refused, variant_gen_params),
	KUNIT_CASE_PARAM(short_file_is_refused, variant_gen_params),
	KUNIT_CASE_PARAM(other_files_are_refused, variant_gen_params),
	KUNIT_CASE_PARAM(other_drives_are_refused, variant_gen_params),
	KUNIT_CASE_PARAM(namespaces_count_if_asked_for, variant_gen_params),
	KUNIT_CASE_PARAM(out_of_band_data_is_there_or_not, variant_gen_params),
	KUNIT_CASE_PARAM(impossible_state_does_no_harm, variant_gen_params),
	KUNIT_CASE_PARAM(more_log_than_waits_is_refused, variant_gen_params),
	KUNIT_CASE_PARAM(data_comes_out_as_it_was, variant_gen_params),
	KUNIT_CASE_PARAM(disk_that_is_full_ends_it, variant_gen_params),
	{}
};

static struct kunit_suite keep_suite = {
	.name = "nvmev_keep",
	.test_cases = keep_cases,
};

kunit_test_suite(keep_suite);

MODULE_DESCRIPTION("KUnit suite of the virtual SSD's state files");
MODULE_LICENSE("GPL");
