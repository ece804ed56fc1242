// SPDX-License-Identifier: GPL-2.0-only
/*
 * Usage: crash-corrupt IMAGE STEP [SEED]
 *
 * Changes each byte of the metadata of an image in turn (every STEPth of them), and starts the
 * device each time. Starting has to be refused, or the map must be the same as without. The
 * exception are the sectors of the journal's last batch: nothing tells them from such that a
 * power failure has torn, so damage there may bring back an earlier state.
 * How many bytes do so is told.
 *
 * Exit status: 0 all is well, 1 not, 2 it could not be tried.
 */
#include "disk.h"
#include "start.h"
#include "util.h"

/* All memory is needed to the end. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

/* How starting ends */
enum outcome {
	HARMLESS,
	REFUSED,
	OLDER,
	WRONG,
	NR_OUTCOMES,
};

/**
 * struct corrupt - the whole
 * @disk: the image
 * @start: for starting
 * @nr_lpns: pages of the device
 * @where: by lpn: where it is
 * @random: state
 * @nr: bytes by outcome
 * @last_batch: where the journal's last batch begins
 * @journal_end: where the journal ends
 */
struct corrupt {
	struct disk disk;
	struct start *start;
	u64 nr_lpns;
	u64 *where;
	u64 random;
	u64 nr[NR_OUTCOMES];
	u64 last_batch;
	u64 journal_end;
};

static bool is_same_map(const struct corrupt *corrupt)
{
	for (u64 lpn = 0; lpn < corrupt->nr_lpns; lpn++) {
		if (start_where(corrupt->start, lpn) != corrupt->where[lpn])
			return false;
	}
	return true;
}

static enum outcome try(struct corrupt *corrupt)
{
	if (start_open(corrupt->start, &corrupt->disk))
		return REFUSED;
	if (is_same_map(corrupt) && !start_check(corrupt->start))
		return HARMLESS;
	return start_journal_end(corrupt->start) >= corrupt->last_batch &&
		start_journal_end(corrupt->start) < corrupt->journal_end ? OLDER : WRONG;
}

static void change_byte(struct corrupt *corrupt, u64 at)
{
	u8 *byte = corrupt->disk.bytes + at;
	u8 old = *byte;
	enum outcome outcome;

	*byte ^= 1 + draw(&corrupt->random, 255);
	outcome = try(corrupt);
	corrupt->nr[outcome]++;
	if (outcome == WRONG && corrupt->nr[WRONG] <= 10)
		printf("byte %u of page %llu changed from %02x to %02x gives wrong data\n",
		       (u32)(at % STAMP_PAGE_BYTES),
		       (unsigned long long)(at / STAMP_PAGE_BYTES), old, *byte);
	*byte = old;
}

static void begin(struct corrupt *corrupt, const char *file)
{
	static const struct events nothing;
	const char *why;

	disk_open(&corrupt->disk, file, &nothing);
	corrupt->start = start_create(&corrupt->disk);
	why = start_open(corrupt->start, &corrupt->disk) ?: start_check(corrupt->start);
	if (why)
		give_up("%s does not start as it is: %s", file, why);
	corrupt->nr_lpns = start_nr_lpns(corrupt->start);
	corrupt->where = must(calloc(corrupt->nr_lpns, sizeof(*corrupt->where)));
	for (u64 lpn = 0; lpn < corrupt->nr_lpns; lpn++)
		corrupt->where[lpn] = start_where(corrupt->start, lpn);
	corrupt->last_batch = start_last_batch(corrupt->start);
	corrupt->journal_end = start_journal_end(corrupt->start);
}

int main(int argc, char **argv)
{
	static struct corrupt corrupt;
	u64 step, nr = 0;

	if (argc < 3)
		give_up("Usage: crash-corrupt IMAGE STEP [SEED]");
	step = max(strtoull(argv[2], NULL, 0), 1ULL);
	corrupt.random = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
	begin(&corrupt, argv[1]);
	for (u64 dpn = 0; start_is_metadata(corrupt.start, dpn); dpn++) {
		/* What was never written is of no interest. */
		if (stamp_is_zero(disk_page(&corrupt.disk, dpn)))
			continue;
		for (u64 at = draw(&corrupt.random, step); at < STAMP_PAGE_BYTES; at += step, nr++)
			change_byte(&corrupt, dpn * STAMP_PAGE_BYTES + at);
	}
	printf("%llu bytes: %llu harmless, %llu refused, %llu gave an earlier state, %llu wrong\n",
	       (unsigned long long)nr, (unsigned long long)corrupt.nr[HARMLESS],
	       (unsigned long long)corrupt.nr[REFUSED], (unsigned long long)corrupt.nr[OLDER],
	       (unsigned long long)corrupt.nr[WRONG]);
	return corrupt.nr[WRONG] != 0;
}
