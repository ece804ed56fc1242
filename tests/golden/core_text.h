/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the core knows of a device that it has started, in the form of "dieaware dump".
 * Expects volume.h.
 */
#ifndef CORE_TEXT_H
#define CORE_TEXT_H

static inline void print_segments(const struct volume *volume)
{
	static const char * const state[] = {
		[DMDA_SEGMENT_FREE] = "free",
		[DMDA_SEGMENT_OPEN] = "open",
		[DMDA_SEGMENT_CLOSED] = "closed",
	};

	for (u32 i = 0; i < volume->segments.nr_segments; i++) {
		const struct dmda_segment *segment = &volume->segments.segment[i];

		printf("segment %u state=%s valid=%u open=%u mtime=%llu\n", i,
		       state[segment->state], segment->nr_valid, segment->open, segment->mtime);
	}
}

/* Of their checksums; of a device without there is nothing to say. */
static inline void print_sums(const struct volume *volume, u64 lpn, u64 nr_pages)
{
	u32 crc = ~0U;

	if (!dmda_super_has_sums(&volume->super))
		return;
	for (u64 i = 0; i < nr_pages; i++) {
		__le32 sum = sum_at(volume, lpn + i);

		crc = crc32c(crc, &sum, sizeof(sum));
	}
	printf(" sums=0x%08x", crc);
}

static inline void print_map(const struct volume *volume)
{
	u64 nr_pages;

	for (u64 lpn = 0; lpn < volume->super.nr_lpns; lpn += nr_pages) {
		dpn_t dpn = where_is(volume, lpn);

		nr_pages = 1;
		if (dpn == DPN_NONE)
			continue;
		while (lpn + nr_pages < volume->super.nr_lpns &&
		       from_dpn(where_is(volume, lpn + nr_pages)) == from_dpn(dpn) + nr_pages)
			nr_pages++;
		printf("map lpn=%llu dpn=%llu pages=%llu", lpn, from_dpn(dpn), nr_pages);
		print_sums(volume, lpn, nr_pages);
		putchar('\n');
	}
}

static inline bool goes_on(const struct dmda_written *first, const struct dmda_written *next,
			   u32 nr_pages)
{
	return from_lpn(next->lpn) == from_lpn(first->lpn) + nr_pages &&
		next->seq == first->seq && next->file == first->file &&
		(!first->file || next->fpage == first->fpage + nr_pages);
}

static inline void print_summary(const struct volume *volume, u32 seg,
				 const struct dmda_summary_block *summary)
{
	u32 data_pages = dmda_super_data_pages(&volume->super);
	struct dmda_written first, next;
	u32 nr_pages;

	for (u32 page = 0; page < data_pages; page += nr_pages) {
		nr_pages = 1;
		if (!dmda_summary_get(summary, page, &first))
			continue;
		while (page + nr_pages < data_pages &&
		       dmda_summary_get(summary, page + nr_pages, &next) &&
		       goes_on(&first, &next, nr_pages))
			nr_pages++;
		printf("summary segment=%u page=%u pages=%u lpn=%llu seq=%llu", seg, page, nr_pages,
		       from_lpn(first.lpn), first.seq);
		if (first.file)
			printf(" file=%llu fpage=%u", first.file, first.fpage);
		putchar('\n');
	}
}

static inline void print_open_summary(const struct volume *volume, u32 seg, u8 open)
{
	struct dmda_summary_block *summary =
		kunit_kzalloc(volume->test, volume->super.summary_pages * sizeof(*summary),
			      GFP_KERNEL);

	dmda_opened_summary(&volume->opened, open, summary);
	print_summary(volume, seg, summary);
}

static inline void print_summaries(const struct volume *volume, const struct image *image)
{
	for (u32 i = 0; i < volume->segments.nr_segments; i++) {
		const struct dmda_segment *segment = &volume->segments.segment[i];
		const struct dmda_summary_block *summary =
			read_meta(volume, image, dmda_summary_dpn(&volume->super, to_seg(i)));

		if (segment->state == DMDA_SEGMENT_OPEN)
			print_open_summary(volume, i, segment->open);
		else if (segment->state == DMDA_SEGMENT_CLOSED &&
			 !dmda_summary_check(summary, &volume->super, to_seg(i)))
			print_summary(volume, i, summary);
	}
}

static inline void print_volume(const struct volume *volume, const struct image *image,
				u64 next_seq)
{
	printf("dieaware-dump 1\njournal next_seq=%llu\n", next_seq);
	print_segments(volume);
	print_map(volume);
	print_summaries(volume, image);
}

/* What the runner of suites does after a case */
static inline void free_memory(struct kunit *test)
{
	while (test->memory) {
		struct shim_kunit_memory *next = test->memory->next;

		free(test->memory);
		test->memory = next;
	}
}

#endif /* CORE_TEXT_H */
