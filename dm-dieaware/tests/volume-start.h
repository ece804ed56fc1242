/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Starting a small device in log mode: the steps of core/start.h, from what a power failure leaves.
 * Only volume.h includes it.
 */
#ifndef VOLUME_START_H
#define VOLUME_START_H

static inline u64 newest_seq(const struct volume *volume, enum dmda_table table, u64 index)
{
	return dmda_slot_seq(volume->slots[table].newest[index]);
}

static inline const char *read_map_page(struct volume *volume, const struct image *image,
					u64 index)
{
	struct dmda_map_page *page = &volume->map[index];
	struct dmda_block_id id;
	const char *why;

	if (!volume->slots[DMDA_TABLE_MAP].newest[index])
		return NULL;
	id = dmda_slots_newest_id(volume->slots, &volume->super, DMDA_TABLE_MAP, index);
	memcpy(page->block, read_meta(volume, image, id.dpn), DMDA_BLOCK_BYTES);
	page->seq = id.seq;
	why = dmda_block_check(page->block, &id);
	return why ?: dmda_map_check(page->block, &volume->super);
}

/* All of it stays in memory. Return: NULL, or what is wrong. */
static inline const char *read_map(struct volume *volume, const struct image *image)
{
	const char *why = NULL;

	for (u64 i = 0; !why && !volume->has_map && i < volume->slots[DMDA_TABLE_MAP].nr_pages; i++)
		why = read_map_page(volume, image, i);
	volume->has_map = !why;
	return why;
}

static inline int set_map_pages(struct volume *volume, const struct image *image)
{
	struct dmda_start *start = &volume->start;

	if (read_map(volume, image))
		return -EIO;
	for (u32 i = 0; i < start->nr_map; i++)
		start->map[i] = &volume->map[start->map_index + i];
	return 0;
}

static inline int read_pages(struct volume *volume, const struct image *image)
{
	const struct dmda_start *start = &volume->start;

	for (u32 i = 0; i < start->nr_pages; i++)
		memcpy((u8 *)start->memory + i * DMDA_BLOCK_BYTES,
		       read_meta(volume, image, to_dpn(from_dpn(start->dpn) + i)),
		       DMDA_BLOCK_BYTES);
	return 0;
}

static inline int read_sums(struct volume *volume, const struct image *image)
{
	struct dmda_start *start = &volume->start;

	if (volume->read_sums)
		return volume->read_sums(volume);
	for (u32 i = 0; i < start->nr_pages; i++)
		start->sums[i] = sum_of_tag(image->tag[from_dpn(start->dpn) + i]);
	return 0;
}

/* A step of a start that writes nothing: there is room for the whole map. */
static inline int do_read_step(struct volume *volume, const struct image *image,
			       enum dmda_start_step step)
{
	switch (step) {
	case DMDA_START_READ:
		return read_pages(volume, image);
	case DMDA_START_SUMS:
		return read_sums(volume, image);
	case DMDA_START_MAP:
		return set_map_pages(volume, image);
	default:
		return 0;
	}
}

/*
 * Starts a volume from an image, up to where it would be written; @next gets the end of the
 * journal. Return: NULL, or what is wrong.
 */
static inline const char *open_volume(struct volume *volume, const struct image *image,
				      struct dmda_op *op, struct dmda_journal_place *next)
{
	struct dmda_start *start = &volume->start;
	enum dmda_start_step step;

	reset_memory(volume);
	start->op = op;
	dmda_start_begin(start, DMDA_START_WRITE);
	while ((step = dmda_start_next(start)) < DMDA_START_DRAW)
		dmda_start_did(start, do_read_step(volume, image, step));
	*next = start->end;
	return start->why ?: read_map(volume, image);
}

static inline void write_next_super(struct volume *volume)
{
	disk_flush(volume);
	volume->super.epoch++;
	dmda_super_encode(&volume->super, (struct dmda_super_block *)&volume->scratch);
	disk_write(volume, dmda_super_dpn(volume->super.epoch), &volume->scratch);
	disk_flush(volume);
}

static inline void take_first_checkpoint(struct volume *volume)
{
	const struct dmda_start *start = &volume->start;

	dmda_commit_go_on(&volume->commit, &start->next, &start->draft);
	volume->durable_seq = start->end.seq - 1;
	volume->first_seq = start->next.seq;
	volume->is_starting = true;
	take_checkpoint(volume);
	volume->is_starting = false;
	note_durable(volume);
}

static inline void take_open(struct volume *volume)
{
	const struct dmda_start *start = &volume->start;

	dmda_close_opened(&volume->closing, summary_of(volume, start->seg), start->seg,
			  start->next.seq);
}

/* What was open when the power failed */
static inline void close_left_open(struct volume *volume)
{
	u8 open = summary_of(volume, volume->start.seg);

	take_open(volume);
	dmda_close_retire(&volume->closing, open);
	close_segment(volume, open);
}

/* What follows open_volume() before a device is used again. */
static inline void resume_volume(struct volume *volume, u64 salt)
{
	struct dmda_start *start = &volume->start;
	enum dmda_start_step step;

	while ((step = dmda_start_next(start)) < DMDA_START_DONE) {
		if (step == DMDA_START_DRAW)
			start->salt = salt;
		else if (step == DMDA_START_SUPERS)
			write_next_super(volume);
		else if (step == DMDA_START_CHECKPOINT)
			take_first_checkpoint(volume);
		else if (step == DMDA_START_RESUME)
			take_open(volume);
		else if (step == DMDA_START_CLOSE)
			close_left_open(volume);
		dmda_start_did(start, 0);
	}
}

#endif /* VOLUME_START_H */
