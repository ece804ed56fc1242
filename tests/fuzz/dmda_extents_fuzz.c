// SPDX-License-Identifier: GPL-2.0-only
/*
 * The extent map against a plain array that says the same. The input's first byte says
 * how much memory there is at first; the rest are operations of 7 bytes each.
 */
#define FUZZ_NAME	"dmda_extents_fuzz"
#define FUZZ_MAX_BYTES	(1 + OP_BYTES * 512)
#define OP_BYTES	7

#include "dmda_driver.h"
#include "../../dm-dieaware/core/node.c"
#include "../../dm-dieaware/core/nodeset.c"
#include "../../dm-dieaware/core/extents.c"
#include "../../dm-dieaware/core/extents-check.c"
#include "../../dm-dieaware/tests/extents_model.h"

static struct model model;

static struct model_op decode(const u8 *bytes)
{
	return (struct model_op) {
		.kind = bytes[0],
		.stretch = bytes[1],
		.offset = bytes[2] | bytes[3] << 8,
		.len = bytes[4] | bytes[5] << 8,
		.value = bytes[6],
	};
}

/* Of half of the inputs, memory never is short */
static struct model_op without_shortage(struct model_op op)
{
	op.kind %= MODEL_LIMIT;
	return op;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	bool enough = size && data[0] < 128;
	const char *wrong;

	if (!size)
		return 0;
	model_init(&model, enough ? U64_MAX : (data[0] - 128) * 64);
	for (data++, size--; size >= OP_BYTES; data += OP_BYTES, size -= OP_BYTES) {
		struct model_op op = decode(data);

		if (enough)
			op = without_shortage(op);
		wrong = model_apply(&model, &op);
		require(!wrong, wrong);
	}
	wrong = model_exit(&model);
	require(!wrong, wrong);
	return 0;
}

#ifndef WITH_LIBFUZZER

static size_t draw_input(u64 *state, u8 *input)
{
	size_t bytes = 1 + OP_BYTES * (next_random(state) % 512);
	/* Now and then all keys lie close together, so that everything overlaps */
	u8 mask = next_random(state) % 2 ? 0xff : 0;
	size_t i;

	for (i = 0; i < bytes; i++) {
		input[i] = next_random(state);
		if (i % OP_BYTES == 4)
			input[i] &= mask;
	}
	return bytes;
}

#endif /* WITH_LIBFUZZER */
