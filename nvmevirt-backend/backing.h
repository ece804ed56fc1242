/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file that an SSD is kept in while it is off (core/image.h).
 *
 * It is read when the SSD is made and written when it is switched off; in between it is
 * marked as in use, and one that is found so is refused unless the user asks for it: what
 * the host wrote since the last time is not in it. Written is all of the FTL's state, and
 * the data pages, beside what the file has (core/image-write.h): whenever the machine stops, the
 * SSD of the last time or of this one can be read.
 */
#ifndef NVMEV_BACKING_H
#define NVMEV_BACKING_H

#include "core/image.h"

struct nvmev;

/**
 * struct nvmev_backing - a backing file
 * @link: link in the list of files that SSDs have open, if @is_claimed
 * @is_claimed: whether the file is this SSD's, so that no other one can have it
 * @file: open file, or NULL if the SSD has none
 * @is_behind: whether the SSD is off and the file may not have it, as it could not be written
 * @image: contents of its header
 * @block: memory of one block
 * @page: memory of a data page
 */
struct nvmev_backing {
	struct list_head link;
	bool is_claimed;
	struct file *file;
	bool is_behind;
	struct ftl_image image;
	void *block;
	void *page;
};

/**
 * nvmev_backing_open() - open an SSD's backing file, and make the SSD what is in it
 * @nvmev: the SSD, new
 * @reason: gets a complete sentence when it cannot be; NVMEV_REASON_BYTES long
 *
 * An empty file, or none, is that of a new SSD.
 *
 * Return: 0 or a negative errno.
 */
int nvmev_backing_open(struct nvmev *nvmev, char *reason);

/**
 * nvmev_backing_begin() - the SSD is going to be switched on
 * @nvmev: the SSD
 * @reason: as above
 *
 * Return: 0 or a negative errno.
 */
int nvmev_backing_begin(struct nvmev *nvmev, char *reason);

/**
 * nvmev_backing_end() - the SSD was switched off: bring all of it to the file
 * @nvmev: the SSD
 * @reason: as above
 *
 * Return: 0 or a negative errno; the SSD is still whole in memory then.
 */
int nvmev_backing_end(struct nvmev *nvmev, char *reason);

/**
 * nvmev_backing_catch_up() - bring an SSD that is off to its file, if that could not be done before
 * @nvmev: the SSD
 * @reason: as above
 *
 * Return: as nvmev_backing_end(); 0 if there is nothing to do.
 */
int nvmev_backing_catch_up(struct nvmev *nvmev, char *reason);

/**
 * nvmev_backing_take() - take over the file of an SSD that is going to be freed
 * @nvmev: the SSD, of the same properties and without a file
 * @from: the other one, switched off
 *
 * The file has @from still, until nvmev_backing_end().
 */
void nvmev_backing_take(struct nvmev *nvmev, struct nvmev *from);

/**
 * nvmev_backing_close() - close it
 * @nvmev: the SSD
 */
void nvmev_backing_close(struct nvmev *nvmev);

#endif /* NVMEV_BACKING_H */
