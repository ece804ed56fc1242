// SPDX-License-Identifier: GPL-2.0-only
/*
 * The backing file: opening it, and reading and writing an SSD. What the file looks like is
 * decided in core; this does the I/O, and sees to it that no two SSDs have the same file.
 */
#include <linux/fs.h>
#include <linux/falloc.h>
#include <linux/slab.h>

#include "core/rebuild.h"
#include "core/image-write.h"
#include "nvmev.h"

/**
 * struct identity - what the header says besides, in this machine's byte order
 * @ftl: the drive's parameters; the same drive has the same
 * @namespace_bytes: of each namespace
 * @lba_shift: of each namespace, as formatted last
 * @nr_ns: namespaces
 * @on_ns: for how long it was on
 * @power_cycles: how often it was switched on
 * @unsafe_shutdowns: how often it was switched off without being shut down
 * @counters: SMART
 */
struct identity {
	struct ftl_params ftl;
	u64 namespace_bytes[NVMEV_MAX_NAMESPACES];
	u32 lba_shift[NVMEV_MAX_NAMESPACES];
	u32 nr_ns;
	u64 on_ns;
	u64 power_cycles;
	u64 unsafe_shutdowns;
	struct nvmev_counters counters;
};

/* The files that SSDs have open */
static DEFINE_MUTEX(open_lock);
static LIST_HEAD(open_files);

static_assert(sizeof(struct identity) <= FTL_IMAGE_IDENTITY_BYTES);

static int fail(char *reason, int error, const char *sentence)
{
	strscpy(reason, sentence, NVMEV_REASON_BYTES);
	return error;
}

static int io_error(char *reason, int error, const char *action)
{
	snprintf(reason, NVMEV_REASON_BYTES, "The backing file could not be %s: error %d%s.",
		 action, -error, error == -ENOSPC ? ", no space left" : "");
	return error;
}

static int read_block(struct nvmev_backing *backing, u64 number, void *block, char *reason)
{
	loff_t pos = number * FTL_IMAGE_BLOCK_BYTES;
	ssize_t ret = kernel_read(backing->file, block, FTL_IMAGE_BLOCK_BYTES, &pos);

	if (ret < 0)
		return io_error(reason, ret, "read");
	if (ret != FTL_IMAGE_BLOCK_BYTES)
		return fail(reason, -EINVAL, "The backing file is too short.");
	return 0;
}

static int write_block(struct nvmev_backing *backing, u64 number, const void *block, char *reason)
{
	loff_t pos = number * FTL_IMAGE_BLOCK_BYTES;
	ssize_t ret = kernel_write(backing->file, block, FTL_IMAGE_BLOCK_BYTES, &pos);

	if (ret >= 0 && ret != FTL_IMAGE_BLOCK_BYTES)
		ret = -ENOSPC;
	return ret < 0 ? io_error(reason, ret, "written") : 0;
}

static int sync_file_now(struct nvmev_backing *backing, char *reason)
{
	int ret = vfs_fsync(backing->file, 0);

	return ret ? io_error(reason, ret, "synced") : 0;
}

static void describe(const struct nvmev *nvmev, struct identity *identity)
{
	u32 i;

	identity->ftl = nvmev->config.ftl;
	identity->nr_ns = nvmev->nr_ns;
	for (i = 0; i < nvmev->nr_ns; i++) {
		identity->namespace_bytes[i] = nvmev->ns[i].nr_pages << FTL_PAGE_SHIFT;
		identity->lba_shift[i] = nvmev->ns[i].lba_shift;
	}
	identity->on_ns = nvmev->on_before_ns;
	identity->power_cycles = nvmev->power_cycles;
	identity->unsafe_shutdowns = nvmev->unsafe_shutdowns;
	identity->counters = nvmev->counters;
}

static bool is_same_drive(const struct nvmev *nvmev, const struct identity *identity)
{
	u32 i;

	if (identity->nr_ns != nvmev->nr_ns ||
	    !ftl_params_equal(&identity->ftl, &nvmev->config.ftl))
		return false;
	for (i = 0; i < nvmev->nr_ns; i++)
		if (identity->namespace_bytes[i] != nvmev->ns[i].nr_pages << FTL_PAGE_SHIFT ||
		    (identity->lba_shift[i] != 9 && identity->lba_shift[i] != 12))
			return false;
	return true;
}

static void recall(struct nvmev *nvmev, const struct identity *identity)
{
	u32 i;

	for (i = 0; i < nvmev->nr_ns; i++)
		nvmev->ns[i].lba_shift = identity->lba_shift[i];
	nvmev->on_before_ns = identity->on_ns;
	nvmev->power_cycles = identity->power_cycles;
	nvmev->unsafe_shutdowns = identity->unsafe_shutdowns;
	nvmev->counters = identity->counters;
	/* Times of another boot mean nothing now. */
	nvmev->counters.busy_until_ns = 0;
}

/* Where a filesystem cannot free a part of a file, it stays. */
static void free_blocks(struct nvmev_backing *backing, u64 first, u64 nr)
{
	vfs_fallocate(backing->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      first * FTL_IMAGE_BLOCK_BYTES, nr * FTL_IMAGE_BLOCK_BYTES);
}

static int read_sealed(struct nvmev_backing *backing, u64 number, char *reason)
{
	int ret = read_block(backing, number, backing->block, reason);
	const char *refusal;

	if (ret)
		return ret;
	refusal = ftl_image_check(backing->block, number, backing->image.epoch);
	return refusal ? fail(reason, -EINVAL, refusal) : 0;
}

static int read_area(struct nvmev *nvmev, char *reason)
{
	struct nvmev_backing *backing = &nvmev->backing;
	size_t at, bytes;
	u64 number = ftl_image_half(&backing->image, backing->image.epoch);
	void *area = ftl_area(nvmev->ftl, &bytes);
	int ret;

	for (at = 0; at < bytes; at += FTL_IMAGE_PART_BYTES) {
		ret = read_sealed(backing, number++, reason);
		if (ret)
			return ret;
		memcpy(area + at, backing->block, min_t(size_t, bytes - at, FTL_IMAGE_PART_BYTES));
		cond_resched();
	}
	return 0;
}

/* @sums: the block of checksums that the page is in */
static int read_page(struct nvmev *nvmev, u64 page, const void *sums, char *reason)
{
	struct nvmev_backing *backing = &nvmev->backing;
	int ret = read_block(backing, ftl_image_page_block(&backing->image, page), backing->page,
			     reason);

	if (ret)
		return ret;
	if (ftl_image_sum(backing->page) != ftl_image_get_sum(sums, page))
		return fail(reason, -EINVAL, "A data page of the backing file is damaged.");
	if (nvmev_store_load(&nvmev->store, page, backing->page,
			     ftl_image_get_marks(sums, page)))
		return fail(reason, -ENOMEM, "There is too little memory for the SSD's data.");
	return 0;
}

static int read_pages(struct nvmev *nvmev, char *reason)
{
	struct nvmev_backing *backing = &nvmev->backing;
	const struct ftl_image *image = &backing->image;
	u64 page, number = ftl_image_half(image, image->epoch) + ftl_image_area_blocks(image);
	int ret = 0;

	for (page = 0; page < image->nr_lpns && !ret; page++) {
		if (page % FTL_IMAGE_PART_SUMS == 0) {
			ret = read_sealed(backing, number++, reason);
			cond_resched();
		}
		if (!ret && ftl_image_get_sum(backing->block, page))
			ret = read_page(nvmev, page, backing->block, reason);
	}
	return ret;
}

/* The header is read; the rest follows, and the maps are made anew from it. */
static int load(struct nvmev *nvmev, char *reason)
{
	struct nvmev_backing *backing = &nvmev->backing;
	const struct identity *identity = (struct identity *)backing->image.identity;
	const char *refusal;
	size_t bytes;
	int ret;

	ftl_area(nvmev->ftl, &bytes);
	if (backing->image.area_bytes != bytes ||
	    backing->image.nr_lpns != nvmev->config.ftl.nr_lpns || !is_same_drive(nvmev, identity))
		return fail(reason, -EINVAL,
			    "The backing file is of a drive with other properties.");
	ret = read_area(nvmev, reason);
	if (!ret)
		ret = read_pages(nvmev, reason);
	if (ret)
		return ret;
	refusal = ftl_rebuild(nvmev->ftl, ktime_get_ns());
	if (refusal)
		return fail(reason, -EINVAL, refusal);
	recall(nvmev, identity);
	return 0;
}

/* Nothing was written to the file yet, whatever drive its header is of. */
static void begin_anew(struct nvmev *nvmev)
{
	struct ftl_image *image = &nvmev->backing.image;
	size_t bytes;

	ftl_area(nvmev->ftl, &bytes);
	image->area_bytes = bytes;
	image->nr_lpns = nvmev->config.ftl.nr_lpns;
}

/* Two SSDs must not have one file, whatever its header says. */
static bool claim(struct nvmev_backing *backing)
{
	const struct nvmev_backing *other;

	guard(mutex)(&open_lock);
	list_for_each_entry(other, &open_files, link)
		if (file_inode(other->file) == file_inode(backing->file))
			return false;
	list_add(&backing->link, &open_files);
	backing->is_claimed = true;
	return true;
}

/* The machine stopped while the SSD was on: it is what it was when it was switched off last. */
static int recover(struct nvmev *nvmev, char *reason)
{
	u64 epoch = nvmev->backing.image.epoch;
	int ret = 0;

	if (epoch)
		ret = load(nvmev, reason);
	else
		begin_anew(nvmev);
	if (ret)
		return ret;
	nvmev->unsafe_shutdowns++;
	pr_warn("nvmev: %s: the backing file was in use when its machine stopped; what was written since the SSD was switched off for the %lluth time is lost\n",
		nvmev->name, epoch);
	return 0;
}

static int read_file(struct nvmev *nvmev, char *reason)
{
	struct nvmev_backing *backing = &nvmev->backing;
	int ret = read_block(backing, 0, backing->block, reason);
	const char *refusal;
	bool is_damaged;

	if (!ret)
		ret = read_block(backing, 1, backing->page, reason);
	if (ret)
		return ret;
	refusal = ftl_image_choose(backing->block, backing->page, &backing->image, &is_damaged);
	if (refusal)
		return fail(reason, -EINVAL, refusal);
	if (backing->image.state == FTL_IMAGE_CLEAN && !is_damaged)
		return load(nvmev, reason);
	if (nvmev->config.backing_recover)
		return recover(nvmev, reason);
	if (is_damaged)
		return fail(reason, -EINVAL,
			    "One of the two headers of the backing file is damaged; backing_recover takes what the other one has.");
	return fail(reason, -EINVAL,
		    "The backing file was in use when its machine stopped, or is on another one; backing_recover takes what was in it before.");
}

int nvmev_backing_open(struct nvmev *nvmev, char *reason)
{
	struct nvmev_backing *backing = &nvmev->backing;
	struct file *file;

	backing->block = kmalloc(FTL_IMAGE_BLOCK_BYTES, GFP_KERNEL);
	backing->page = kmalloc(FTL_IMAGE_BLOCK_BYTES, GFP_KERNEL);
	if (!backing->block || !backing->page)
		return fail(reason, -ENOMEM, "There is too little memory.");
	file = filp_open(nvmev->config.backing_file, O_RDWR | O_CREAT | O_LARGEFILE, 0600);
	if (IS_ERR(file))
		return io_error(reason, PTR_ERR(file), "opened");
	backing->file = file;
	if (!S_ISREG(file_inode(file)->i_mode))
		return fail(reason, -EINVAL, "The backing file is not a regular file.");
	if (!claim(backing))
		return fail(reason, -EBUSY, "The backing file is in use by another SSD.");
	if (i_size_read(file_inode(file)))
		return read_file(nvmev, reason);
	begin_anew(nvmev);
	return 0;
}

static int write_head(struct nvmev *nvmev, char *reason)
{
	struct nvmev_backing *backing = &nvmev->backing;
	struct ftl_image *image = &backing->image;
	int ret;

	image->state = FTL_IMAGE_IN_USE;
	image->serial++;
	describe(nvmev, (struct identity *)image->identity);
	ftl_image_pack_head(image, backing->block);
	ret = write_block(backing, image->serial % FTL_IMAGE_HEADS, backing->block, reason);
	if (!ret) {
		ret = sync_file_now(backing, reason);
		/* It may say on the disk that it is in use, or not. */
		backing->is_behind = ret;
	}
	/* The next one must not stand in the place of the last good one. */
	if (ret)
		image->serial--;
	else
		image->is_doubtful = false;
	return ret;
}

int nvmev_backing_begin(struct nvmev *nvmev, char *reason)
{
	return nvmev->backing.file ? write_head(nvmev, reason) : 0;
}

static const void *page_of(void *context, u64 lpn, u8 *marks)
{
	struct nvmev *nvmev = context;

	return nvmev_store_page(&nvmev->store, lpn, marks);
}

static int do_step(struct nvmev_backing *backing, const struct ftl_saving_step *step,
		   char *reason)
{
	switch (step->action) {
	case FTL_SAVING_WRITE:
		cond_resched();
		return write_block(backing, step->first, step->data, reason);
	case FTL_SAVING_SYNC:
		return sync_file_now(backing, reason);
	case FTL_SAVING_FREE:
		free_blocks(backing, step->first, step->nr);
		break;
	case FTL_SAVING_END:
		break;
	}
	return 0;
}

int nvmev_backing_end(struct nvmev *nvmev, char *reason)
{
	struct nvmev_backing *backing = &nvmev->backing;
	struct ftl_saving saving = {
		.image = &backing->image,
		.page_of = page_of,
		.context = nvmev,
		.block = backing->block,
	};
	struct ftl_saving_step step;
	size_t bytes;
	int ret;

	if (!backing->file)
		return 0;
	ftl_save(nvmev->ftl);
	saving.area = ftl_area(nvmev->ftl, &bytes);
	describe(nvmev, (struct identity *)backing->image.identity);
	ftl_saving_begin(&saving);
	do {
		step = ftl_saving_next(&saving);
		ret = do_step(backing, &step, reason);
	} while (!ret && step.action != FTL_SAVING_END);
	backing->is_behind = ret;
	return ret;
}

int nvmev_backing_catch_up(struct nvmev *nvmev, char *reason)
{
	/* One that cannot be read any more is not kept: the file has what it was before. */
	if (!nvmev->backing.is_behind || nvmev->damage)
		return 0;
	return nvmev_backing_end(nvmev, reason);
}

void nvmev_backing_take(struct nvmev *nvmev, struct nvmev *from)
{
	guard(mutex)(&open_lock);
	nvmev->backing = from->backing;
	if (from->backing.is_claimed)
		list_replace(&from->backing.link, &nvmev->backing.link);
	memset(&from->backing, 0, sizeof(from->backing));
}

void nvmev_backing_close(struct nvmev *nvmev)
{
	struct nvmev_backing *backing = &nvmev->backing;

	if (backing->is_claimed) {
		guard(mutex)(&open_lock);
		list_del(&backing->link);
	}
	if (backing->file)
		filp_close(backing->file, NULL);
	backing->file = NULL;
	kfree(backing->block);
	kfree(backing->page);
}
