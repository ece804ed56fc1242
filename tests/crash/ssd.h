/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A virtual SSD without power-loss protection, without its kernel module: the FTL of
 * nvmevirt-backend/core in its own time, and what was written to its pages. It loses its
 * power with one of its programs or erases, and starts again from its out-of-band data.
 *
 * Contents are numbers of the caller's. Writes are sent one behind the other, and nobody
 * waits for them before the next ssd_wait() or ssd_flush().
 */
#ifndef CRASH_SSD_H
#define CRASH_SSD_H

#include <dieaware/platform.h>

struct ssd;

/**
 * ssd_create() - a new drive
 * @shape: which geometry, below ssd_nr_shapes()
 * @nr_pages: its capacity
 * @release: called for contents that can never be read again
 */
struct ssd *ssd_create(u32 shape, u64 nr_pages, void (*release)(u64 page, u64 content));

void ssd_destroy(struct ssd *ssd);

u32 ssd_nr_shapes(void);

const char *ssd_shape_name(u32 shape);

/**
 * struct ssd_write - a write command
 * @page: first page
 * @nr: pages
 * @content: by page
 * @is_partial: of the first and the last page only a part is written; the contents are
 *	those of the whole pages
 * @fua: it has to be durable when it is done
 */
struct ssd_write {
	u64 page;
	u32 nr;
	const u64 *content;
	bool is_partial;
	bool fua;
};

/**
 * ssd_write() - send a write
 *
 * Like all commands it does nothing once the power has failed.
 */
void ssd_write(struct ssd *ssd, const struct ssd_write *write);

/**
 * ssd_discard() - forget pages, and wait for all that was sent
 */
void ssd_discard(struct ssd *ssd, u64 page, u32 nr);

/**
 * ssd_wait() - wait for all that was sent
 */
void ssd_wait(struct ssd *ssd);

/**
 * ssd_flush() - wait for all that was sent, then flush and wait for that
 */
void ssd_flush(struct ssd *ssd);

/**
 * ssd_rest() - the host has nothing to do for a while
 */
void ssd_rest(struct ssd *ssd, u64 ns);

/**
 * ssd_cut_after() - let the power fail when so many more programs and erases are done
 */
void ssd_cut_after(struct ssd *ssd, u64 nr_ops);

/**
 * ssd_is_off() - has the power failed by now?
 *
 * What was waited for before is done if it has not.
 */
bool ssd_is_off(const struct ssd *ssd);

/**
 * ssd_power_on() - the power is back after it has failed
 * Return: NULL, or what is wrong with what the drive finds.
 */
const char *ssd_power_on(struct ssd *ssd);

/**
 * ssd_content() - what a read gives
 * Return: the content, 0 if the page holds nothing.
 */
u64 ssd_content(const struct ssd *ssd, u64 page);

/**
 * ssd_ignores() - break its promises, for who wants to see that noticed
 * @flush: flushes do nothing
 * @fua: FUA does nothing
 */
void ssd_ignores(struct ssd *ssd, bool flush, bool fua);

/**
 * ssd_nr_collected() - erase blocks that it has collected
 */
u64 ssd_nr_collected(const struct ssd *ssd);

/**
 * ssd_nr_lost() - pages that were not what was written last, after all power failures
 */
u64 ssd_nr_lost(const struct ssd *ssd);

#endif /* CRASH_SSD_H */
