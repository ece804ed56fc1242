// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a drive keeps over a power failure may come from a file that someone has made up, with
 * right checksums. Whatever is in it: the drive refuses it with a sentence, or starts from
 * it, is consistent, and works.
 *
 * The input's first bytes choose a drive and a past of it; the rest are changes of
 * CHANGE_BYTES bytes: where in the area, and to what.
 */
#define CHANGE_BYTES	6
#define FUZZ_NAME	"ftl_area_fuzz"
#define FUZZ_MAX_BYTES	(3 + CHANGE_BYTES * 64)
#define NR_COMMANDS	150

#include "dmda_driver.h"
#include "../../nvmevirt-backend/tests/drive.h"

static struct ftl_params params_of(u8 shape, u8 flags)
{
	struct ftl_params params = drive_params(&drive_shapes[shape % ARRAY_SIZE(drive_shapes)]);

	params.oob = true;
	params.plp = flags & 1;
	params.eblks_per_die *= params.plp ? 1 : 6;
	if (flags & 2) {
		params.spare_eblks = 2;
		params.eblks_per_die += 2;
	}
	params.stripe_lead = flags & 8 ? 1 + (flags >> 4 & 1) : 0;
	params.parity = params.stripe_lead && params.nr_channels * params.dies_per_channel > 1;
	if (flags & 32)
		add_slc(&params, 1 + (flags >> 6 & 1), 2 + (flags >> 4 & 1));
	else if (!params.stripe_lead && flags & 64)
		add_handles(&params, 3);
	params.share_pages = flags & 4 ? 20 : 0;
	params.share_log_kib = 4;
	if (params.plp && flags & 128)
		make_in_place(&params);
	params.nr_lpns = ftl_params_capacity(&params);
	require(!ftl_params_check(&params), "The parameters of a drive are refused.");
	return params;
}

static void share_pages(struct ftl *ftl, const struct ftl_request *rq, u64 from, u64 now_ns)
{
	const struct ftl_share_range range = {
		.to = rq->first, .from = to_lpn(from), .nr = rq->nr_pages,
	};
	u64 done_ns;

	ftl_share(ftl, &range, 1, now_ns, &done_ns);
}

/* Writes with and without hints, trims, flushes, shares and rests, always the same for a seed. */
static u64 work(struct ftl *ftl, u64 *random, u64 now_ns)
{
	const struct ftl_params *params = ftl_get_params(ftl);

	for (u32 i = 0; i < NR_COMMANDS && !ftl_is_read_only(ftl); i++) {
		u32 nr_pages = 1 + next_random(random) % 12;
		u64 other = next_random(random) % (params->nr_lpns - nr_pages);
		struct ftl_request rq = {
			.first = to_lpn(next_random(random) % (params->nr_lpns - nr_pages)),
			.nr_pages = nr_pages,
			.bytes = nr_pages * 4096,
			.hint = next_random(random) % 3,
			.pred = to_lpn(other),
			.handle = other % 4,
		};
		u32 what = next_random(random) % 20;

		now_ns += next_random(random) % 100000;
		if (what == 0)
			ftl_flush(ftl, now_ns);
		else if (what == 1)
			ftl_trim(ftl, rq.first, nr_pages, now_ns);
		else if (what == 4)
			ftl_idle(ftl, now_ns += 2 * FTL_REST_NS);
		else if (what < 4 && params->share_pages)
			share_pages(ftl, &rq, other, now_ns);
		else
			ftl_write(ftl, &rq, now_ns);
	}
	return now_ns;
}

static void change_area(struct ftl *ftl, const u8 *data, size_t size)
{
	size_t bytes;
	u8 *area = ftl_area(ftl, &bytes);

	for (; size >= CHANGE_BYTES; data += CHANGE_BYTES, size -= CHANGE_BYTES) {
		u32 at = (data[0] | data[1] << 8 | data[2] << 16 | (u32)data[3] << 24) % bytes;

		/* One byte, or a word of four. */
		area[at] = data[4];
		for (u32 i = 1; i < 4 && data[5] & 1 && at + i < bytes; i++)
			area[at + i] = data[5] & 2 ? 0xff : 0;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct ftl_params params;
	struct ftl *ftl;
	const char *reason;
	void *memory;
	u64 random, now_ns;

	if (size < 3)
		return 0;
	params = params_of(data[0], data[1]);
	random = data[2];
	memory = calloc(1, ftl_bytes(&params));
	require(memory, "There is not enough memory.");
	ftl = ftl_init(&params, memory, 0);
	now_ns = work(ftl, &random, 0);
	ftl_power_cut(ftl, now_ns);
	change_area(ftl, data + 3, size - 3);
	reason = ftl_rebuild(ftl, now_ns);
	if (!reason) {
		reason = ftl_check(ftl);
		require(!reason, reason);
		work(ftl, &random, now_ns);
		reason = ftl_check(ftl);
		require(!reason, reason);
	} else {
		require(reason[strlen(reason) - 1] == '.', "A reason is not a sentence.");
	}
	free(memory);
	return 0;
}

#ifndef WITH_LIBFUZZER

static size_t draw_input(u64 *state, u8 *input)
{
	size_t bytes = 3 + CHANGE_BYTES * (1 + next_random(state) % 8);

	for (size_t i = 0; i < bytes; i++)
		input[i] = next_random(state) >> 8;
	return bytes;
}

#endif /* WITH_LIBFUZZER */
