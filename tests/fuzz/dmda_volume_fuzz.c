// SPDX-License-Identifier: GPL-2.0-only
/*
 * What lies on a device in log mode may have been made up by someone, with right checksums.
 * Whatever it is: starting from it is refused with a reason, or succeeds; and then the
 * device can be used, or says what it stumbles over.
 *
 * The input's first byte chooses a past of the device, the second one what is done after
 * the start; the rest are changes of CHANGE_BYTES bytes: a kind of page, which one of it,
 * where on it, and to what. All checksums are made right afterwards, but where
 * FLAG_WRONG_CRC is.
 */
#define CHANGE_BYTES	6
#define FUZZ_NAME	"dmda_volume_fuzz"
#define FUZZ_MAX_BYTES	(2 + CHANGE_BYTES * 64)
#define NR_PASTS	8
#define NR_STEPS	20

/* In the last byte of a change */
#define FLAG_WIDE	0x01
#define FLAG_ONES	0x02
/* It counts the bytes that are not 0, not all of them: little of a page is in use. */
#define FLAG_USED	0x0c
#define FLAG_WRONG_CRC	0x80

#include <setjmp.h>

#include "dmda_driver.h"

/*
 * What the small device expects of itself. As long as nothing is damaged it must hold;
 * afterwards it is where a device goes no further.
 */
struct kunit {
	bool is_damaged;
	jmp_buf end;
};

static void expect(struct kunit *test, bool cond, const char *what)
{
	if (!cond && test->is_damaged)
		longjmp(test->end, 1);
	require(cond, what);
}

static void *kunit_kzalloc(struct kunit *test, size_t bytes, int flags)
{
	return calloc(1, bytes);
}

static void expect_no_reason(struct kunit *test, const char *why, const char *format,
			     const char *what)
{
	expect(test, !why, what);
}

#define GFP_KERNEL			0
#define KUNIT_ASSERT_NOT_NULL(test, p)	expect(test, p, #p " is NULL.")
#define KUNIT_ASSERT_TRUE(test, a)	expect(test, a, #a " is false.")
#define KUNIT_ASSERT_EQ(test, a, b)	expect(test, (a) == (b), #a " is not " #b ".")
#define KUNIT_ASSERT_NE(test, a, b)	expect(test, (a) != (b), #a " is " #b ".")
#define KUNIT_ASSERT_LE(test, a, b)	expect(test, (a) <= (b), #a " > " #b ".")
#define KUNIT_ASSERT_NULL_MSG		expect_no_reason

#include "../../dm-dieaware/tests/volume.h"

/* By the magic number that a page begins with; others are of the journal. */
static const u32 kinds[] = {
	DMDA_MAGIC_JOURNAL, DMDA_MAGIC_SUPER, DMDA_MAGIC_ROOT, DMDA_MAGIC_DIRECTORY,
	DMDA_MAGIC_SEGMENTS, DMDA_MAGIC_OPEN, DMDA_MAGIC_MAP, DMDA_MAGIC_SUMMARY,
};

#define NR_KINDS	ARRAY_SIZE(kinds)

/* Pages of a kind, by their place in struct image. */
struct pages {
	u32 nr;
	u16 index[META_PAGES];
};

/**
 * struct past - a device that was used and then lost its power
 * @volume: it
 * @pages: by kind: those that starting from it may read
 */
struct past {
	struct volume *volume;
	struct pages pages[NR_KINDS];
};

static struct kunit test;
static struct past pasts[NR_PASTS];
static struct volume *afters[2];
static struct volume *after;
static struct dmda_op op;

static u32 below(u64 *state, u32 limit)
{
	return next_random(state) % limit;
}

static void write_some(struct volume *volume, u64 lpn, u32 nr_pages, u64 tag)
{
	while (nr_pages) {
		dpn_t dpn;
		u32 nr = write_data(volume, DMDA_STREAM_USER, lpn, nr_pages, tag, &dpn);

		map_data(volume, lpn, dpn, nr);
		lpn += nr;
		nr_pages -= nr;
	}
}

/* A cleaner's view of the best victim: nothing but what the summary says, if it says it. */
static void look_at_victim(struct volume *volume)
{
	static u64 files[2 * SEGMENT_PAGES];
	u64 is_valid[DIV_ROUND_UP(SEGMENT_PAGES, 64)] = { ~0ULL };
	struct dmda_file_set set = { .slot = files, .nr_slots = ARRAY_SIZE(files) };
	const struct dmda_summary_block *summary;
	struct dmda_candidate victim;

	if (!dmda_victim_candidates(&volume->segments, volume->commit.batch.next_seq,
				    DMDA_POLICY_COST_BENEFIT, &victim, 1))
		return;
	summary = read_meta(volume, volume->now, dmda_summary_dpn(&volume->super, victim.seg));
	if (!dmda_summary_check(summary, &volume->super, victim.seg))
		dmda_victim_pieces(summary, is_valid, dmda_super_data_pages(&volume->super),
				   &set);
}

static void work(struct volume *volume, u64 seed, u32 nr_steps)
{
	for (u32 i = 1; i <= nr_steps; i++) {
		u32 nr_pages = 1 + below(&seed, below(&seed, 4) ? 4 : 100);
		u64 lpn = below(&seed, volume->super.nr_lpns - nr_pages);
		u32 what = below(&seed, 100);

		/* The upper part stays free: nobody cleans here. */
		lpn /= 2;
		if (what < 75)
			write_some(volume, lpn, nr_pages, (u64)i << 20);
		else if (what < 80)
			trim_pages(volume, lpn, nr_pages);
		else
			commit(volume);
		if (i % 15 == 0)
			take_checkpoint(volume);
		look_at_victim(volume);
		if (volume->segments.nr_free + volume->segments.nr_empty < 4)
			return;
	}
}

/* Every other past is that of a device with checksums. */
static bool has_checksums(u8 number)
{
	return number % NR_PASTS % 2;
}

static struct volume *empty_volume(bool checksums)
{
	struct volume *volume = new_volume_of(&test, checksums);

	format_volume(volume);
	return volume;
}

static u32 kind_of(const struct page_bytes *page)
{
	const struct dmda_block_header *header = (const void *)page;
	u32 kind = 0;

	for (u32 i = 0; i < NR_KINDS; i++) {
		if (le32_to_cpu(header->magic) == kinds[i])
			kind = i;
	}
	return kind;
}

static bool is_read(const struct volume *volume, u64 index)
{
	static const struct page_bytes nothing;
	const struct page_bytes *page = &volume->stable->meta[index];
	u32 nr_pages = volume->super.journal_sectors / DMDA_PAGE_SECTORS;
	const struct dmda_journal_sector *last =
		(const void *)&page->byte[DMDA_BLOCK_BYTES - DMDA_SECTOR_BYTES];

	if (!memcmp(page, &nothing, sizeof(nothing)))
		return false;
	/* What was written before the last root does not matter any more. */
	return index < volume->super.journal_dpn ||
		index >= volume->super.journal_dpn + nr_pages ||
		!last->sector || le64_to_cpu(last->sector) >= volume->root.journal.sector;
}

static struct past *past_of(u8 number)
{
	struct past *past = &pasts[number % NR_PASTS];

	if (past->volume)
		return past;
	past->volume = empty_volume(has_checksums(number));
	work(past->volume, number % NR_PASTS, 20 + 10 * (number % NR_PASTS));
	disk_flush(past->volume);
	for (u32 i = 0; i < META_PAGES; i++) {
		struct pages *pages = &past->pages[kind_of(&past->volume->stable->meta[i])];

		if (is_read(past->volume, i))
			pages->index[pages->nr++] = i;
	}
	return past;
}

/* Return: where in a page a change goes. */
static u32 place_of(const u8 *byte, const u8 *change)
{
	u32 at = (change[2] | change[3] << 8) % DMDA_BLOCK_BYTES;
	u32 nr_used = 0;

	if (!(change[5] & FLAG_USED))
		return at;
	for (u32 i = 0; i < DMDA_BLOCK_BYTES; i++)
		nr_used += !!byte[i];
	at = nr_used ? at % nr_used : 0;
	for (u32 i = 0; i < DMDA_BLOCK_BYTES; i++) {
		if (byte[i] && !at--)
			return i;
	}
	return 0;
}

static void change_page(u8 *byte, const u8 *change, bool is_block)
{
	struct dmda_block_header *header = (void *)byte;
	u32 at = place_of(byte, change);

	byte[at] = change[4];
	for (u32 i = 1; i < 8 && change[5] & FLAG_WIDE && at + i < DMDA_BLOCK_BYTES; i++)
		byte[at + i] = change[5] & FLAG_ONES ? 0xff : 0;
	if (is_block && !(change[5] & FLAG_WRONG_CRC))
		header->crc = cpu_to_le32(crc32c(~0U, &header->magic,
						 DMDA_BLOCK_BYTES - sizeof(header->crc)));
}

/* Each sector of the journal names the one before it, from the root's place on. */
static void mend_journal(struct volume *volume, struct image *image)
{
	u64 sector = volume->root.journal.sector;
	u32 chain = volume->root.journal.chain;

	for (u32 i = 0; i < volume->super.journal_sectors; i++) {
		u32 at = dmda_journal_sector_at(&volume->super, sector + i);
		u8 *page = image->meta[volume->super.journal_dpn + at / DMDA_PAGE_SECTORS].byte;
		struct dmda_journal_sector *next =
			(void *)&page[at % DMDA_PAGE_SECTORS * DMDA_SECTOR_BYTES];

		if (le64_to_cpu(next->sector) != sector + i)
			return;
		next->chain = cpu_to_le32(chain);
		chain = sector_checksum(volume->commit.batch.seed, next);
		next->crc = cpu_to_le32(chain);
	}
}

static void change_image(struct past *past, struct image *image, const u8 *data, size_t size)
{
	bool is_journal_changed = false;

	for (; size >= CHANGE_BYTES; data += CHANGE_BYTES, size -= CHANGE_BYTES) {
		u32 kind = data[0] % NR_KINDS;
		const struct pages *pages = &past->pages[kind];

		if (!pages->nr)
			continue;
		change_page(image->meta[pages->index[data[1] % pages->nr]].byte, data, kind);
		is_journal_changed |= !kind && !(data[5] & FLAG_WRONG_CRC);
	}
	if (is_journal_changed)
		mend_journal(past->volume, image);
}

/* The superblock of the changed image: refused, or one of the device's size. */
static void try_super(const struct volume *volume, const struct image *image)
{
	static const u64 places[] = { DMDA_SUPER_DPN_A, DMDA_SUPER_DPN_B };

	for (u32 i = 0; i < ARRAY_SIZE(places); i++) {
		struct dmda_super super;
		const void *page = image->meta[places[i]].byte;
		const char *why = dmda_super_decode(page, to_dpn(places[i]), &super);
		u64 end;

		if (why || super.nr_device_pages > volume->super.nr_device_pages)
			continue;
		end = from_dpn(dmda_super_segment_dpn(&super,
						      to_seg(dmda_super_nr_segments(&super) - 1)));
		require(end + super.segment_pages <= super.nr_device_pages,
			"A segment lies behind the end of the device.");
		require(super.nr_lpns < super.nr_device_pages,
			"More is shown than there is.");
	}
}

/* Whatever is read of the device comes from the device. */
static void expect_places(const struct volume *volume)
{
	for (u64 lpn = 0; lpn < volume->super.nr_lpns; lpn++) {
		dpn_t dpn = where_is(volume, lpn);

		require(dpn == DPN_NONE || from_dpn(dpn) < volume->super.nr_device_pages,
			"A page lies behind the end of the device.");
	}
}

static void start_and_use(struct image *image, u8 seed)
{
	struct dmda_journal_place next;
	const char *why = open_volume(after, image, &op, &next);

	if (why) {
		require(*why, "A reason is empty.");
		return;
	}
	expect_places(after);
	/* No power failure follows: all writes are there at once. */
	after->stable = image;
	after->now = image;
	after->nr_pending = 0;
	resume_volume(after, seed);
	work(after, seed, NR_STEPS);
}

/* A volume of which every start makes what it needs. */
static struct volume *volume_after(bool checksums)
{
	if (!afters[checksums]) {
		afters[checksums] = new_volume_of(&test, checksums);
		afters[checksums]->pending_bytes = calloc(MAX_PENDING, sizeof(struct page_bytes));
	}
	return afters[checksums];
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct image *image;
	struct past *past;

	if (size < 2)
		return 0;
	test.is_damaged = false;
	past = past_of(data[0]);
	after = volume_after(has_checksums(data[0]));
	if (!image)
		image = new_image(&test);
	copy_image(image, past->volume->stable);
	change_image(past, image, data + 2, size - 2);
	test.is_damaged = size >= 2 + CHANGE_BYTES;
	if (!setjmp(test.end)) {
		try_super(past->volume, image);
		start_and_use(image, data[1]);
	}
	return 0;
}

#ifndef WITH_LIBFUZZER

static size_t draw_input(u64 *state, u8 *input)
{
	size_t bytes = 2 + CHANGE_BYTES * (next_random(state) % 6);

	for (size_t i = 0; i < bytes; i++)
		input[i] = next_random(state) >> 8;
	return bytes;
}

#endif /* WITH_LIBFUZZER */
