// SPDX-License-Identifier: GPL-2.0-only
/*
 * State files: opening them, and moving their blocks, whose contents are decided in core. Who asks
 * does the work, and can be interrupted between two blocks.
 *
 * A file that is there is never written over, as it may be what all experiments of somebody begin
 * from, or the backing file of an SSD. And nothing is written to one afterwards: so it needs no
 * mark that says that it is in use, and several SSDs may read it at the same time.
 */
#include <linux/fs.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "core/keep.h"
#include "nvmev.h"
#include "state-file.h"

/* Pages that are looked for between two moments of everybody else */
#define PAGES_AT_A_TIME	4096U

/**
 * struct job - a file that is being written or read
 * @nvmev: SSD that goes there or comes from it
 * @file: the file
 * @pos: offset of the next block
 * @error: negative errno if it ended with @reason, 0 if core has given one
 * @reason: room for a sentence
 * @block: memory of a block
 * @page: memory of a data page
 */
struct job {
	struct nvmev *nvmev;
	struct file *file;
	loff_t pos;
	int error;
	char *reason;
	u8 block[FTL_IMAGE_BLOCK_BYTES];
	u8 page[FTL_IMAGE_BLOCK_BYTES];
};

static const char *fail(struct job *job, int error, const char *sentence)
{
	job->error = error;
	strscpy(job->reason, sentence, NVMEV_REASON_BYTES);
	return job->reason;
}

static const char *interruption(struct job *job)
{
	return signal_pending(current) ? fail(job, -EINTR, "It was interrupted.") : NULL;
}

/* A signal that kills makes a filesystem's call fail, or write less than it was asked for. */
static const char *io_error(struct job *job, int error, const char *action)
{
	const char *reason = interruption(job);

	if (reason)
		return reason;
	job->error = error;
	snprintf(job->reason, NVMEV_REASON_BYTES, "The state file could not be %s: error %d%s.",
		 action, -error, error == -ENOSPC ? ", no space left" : "");
	return job->reason;
}

static const char *write_next(void *context, void *block)
{
	struct job *job = context;
	const char *reason;
	ssize_t ret;

	cond_resched();
	reason = interruption(job);
	if (reason)
		return reason;
	ret = kernel_write(job->file, block, FTL_IMAGE_BLOCK_BYTES, &job->pos);
	if (ret >= 0 && ret != FTL_IMAGE_BLOCK_BYTES)
		ret = -ENOSPC;
	return ret < 0 ? io_error(job, ret, "written") : NULL;
}

static const char *read_next(void *context, void *block)
{
	struct job *job = context;
	const char *reason;
	ssize_t ret;

	cond_resched();
	reason = interruption(job);
	if (reason)
		return reason;
	ret = kernel_read(job->file, block, FTL_IMAGE_BLOCK_BYTES, &job->pos);
	if (ret < 0)
		return io_error(job, ret, "read");
	return ret == FTL_IMAGE_BLOCK_BYTES ? NULL :
		fail(job, -EINVAL, "The state file is too short: it was cut off.");
}

static const void *page_of(void *context, u64 lpn, u8 *marks)
{
	struct job *job = context;

	if (lpn % PAGES_AT_A_TIME == 0)
		cond_resched();
	return nvmev_store_page(&job->nvmev->store, lpn, marks);
}

static const char *take_page(void *context, u64 lpn, const void *page, u8 marks)
{
	struct job *job = context;

	if (nvmev_store_load(&job->nvmev->store, lpn, page, marks))
		return fail(job, -ENOMEM, "There is too little memory for the SSD's data.");
	return NULL;
}

static void describe(const struct nvmev *nvmev, struct ftl_keep_layout *layout)
{
	u32 i;

	BUILD_BUG_ON(NVMEV_MAX_NAMESPACES > FTL_KEEP_NAMESPACES);
	layout->nr = nvmev->nr_ns;
	for (i = 0; i < nvmev->nr_ns; i++)
		layout->nr_pages[i] = nvmev->ns[i].nr_pages;
}

static const char *write_file(struct job *job, bool with_data)
{
	struct nvmev *nvmev = job->nvmev;
	struct ftl_keep keep = { .move = write_next, .context = job, .block = job->block };
	struct ftl_keep_layout layout = {};
	const char *reason;
	int ret;

	describe(nvmev, &layout);
	scoped_guard(mutex, &nvmev->ftl_lock)
		reason = ftl_keep_save(&keep, nvmev->ftl, &layout);
	if (!reason)
		reason = ftl_keep_save_pages(&keep, nvmev->config.ftl.nr_lpns,
					     with_data ? page_of : NULL, job);
	if (reason)
		return reason;
	ret = vfs_fsync(job->file, 0);
	return ret ? io_error(job, ret, "synced") : NULL;
}

static const char *read_file(struct job *job)
{
	struct nvmev *nvmev = job->nvmev;
	struct ftl_keep keep = { .move = read_next, .context = job, .block = job->block };
	struct ftl_keep_layout layout = {};
	const char *reason;

	if (!S_ISREG(file_inode(job->file)->i_mode))
		return fail(job, -EINVAL, "The state file is not a regular file.");
	describe(nvmev, &layout);
	scoped_guard(mutex, &nvmev->ftl_lock)
		reason = ftl_keep_load(&keep, nvmev->ftl, &layout, ktime_get_ns());
	if (reason)
		return reason;
	return ftl_keep_load_pages(&keep, nvmev->config.ftl.nr_lpns, job->page, take_page, job);
}

static const char *open_file(struct job *job, const char *path, int flags)
{
	job->file = filp_open(path, flags | O_LARGEFILE, 0600);
	if (!IS_ERR(job->file))
		return NULL;
	if (PTR_ERR(job->file) == -EEXIST)
		return fail(job, -EEXIST, "The state file exists, and is not written over.");
	return io_error(job, PTR_ERR(job->file), "opened");
}

static int end(struct job *job, const char *reason)
{
	int ret = reason ? job->error ?: -EINVAL : 0;

	if (reason && !job->error)
		strscpy(job->reason, reason, NVMEV_REASON_BYTES);
	if (!IS_ERR_OR_NULL(job->file))
		filp_close(job->file, NULL);
	kfree(job);
	return ret;
}

static struct job *begin(struct nvmev *nvmev, char *reason)
{
	struct job *job = kzalloc(sizeof(*job), GFP_KERNEL);

	if (!job) {
		strscpy(reason, "There is too little memory.", NVMEV_REASON_BYTES);
		return NULL;
	}
	job->nvmev = nvmev;
	job->reason = reason;
	return job;
}

int nvmev_state_save(struct nvmev *nvmev, const char *path, bool with_data, char *reason)
{
	struct job *job = begin(nvmev, reason);
	const char *refusal;

	if (!job)
		return -ENOMEM;
	refusal = open_file(job, path, O_WRONLY | O_CREAT | O_EXCL);
	return end(job, refusal ?: write_file(job, with_data));
}

int nvmev_state_load(struct nvmev *nvmev, const char *path, char *reason)
{
	struct job *job = begin(nvmev, reason);
	const char *refusal;

	if (!job)
		return -ENOMEM;
	/* Opening a pipe would wait for who writes to it. */
	refusal = open_file(job, path, O_RDONLY | O_NONBLOCK);
	return end(job, refusal ?: read_file(job));
}
