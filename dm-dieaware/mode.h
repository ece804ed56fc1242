/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a mode of the target is to the rest of it: a table of operations. Whoever needs to
 * know what a mode does asks its table, and never which mode it is.
 */
#ifndef DMDA_MODE_H
#define DMDA_MODE_H

#include <linux/device-mapper.h>

struct dmda;
struct dmda_message;

/**
 * struct dmda_mode_ops - a mode's part in what device-mapper asks of the target
 * @name: the mode's word in the table line
 * @is_linear: page n of the target is always page n behind the start sector below
 * @init: preparation at module load, of what all targets share; 0 or a negative errno; or
 *	NULL
 * @exit: the opposite of @init; or NULL
 * @size_complaint: says why the target does not fit on its device, as a complete sentence, or NULL
 *	if it does; also asked while the target is suspended
 * @create: the mode's part of construction, and what dm has to know of its bios; the device
 *	is open, the parts that modes share exist; 0, or a negative errno with ti->error set
 * @destroy: the opposite of @create; or NULL
 * @map: as target_type.map; a mode that has something to do at the end of a bio takes the place of
 *	its completion function, so that bios of which nobody wants that do not pay for it
 * @preresume: as target_type.preresume; or NULL
 * @resume: as target_type.resume; or NULL
 * @presuspend: as target_type.presuspend; or NULL
 * @presuspend_undo: as target_type.presuspend_undo; or NULL
 * @postsuspend: as target_type.postsuspend; or NULL
 * @status: prints the status line; returns the number of characters
 * @message: obeys a message that is not about hints; 0, 1 with the answer in @result, or a
 *	negative errno
 * @io_hints: as target_type.io_hints
 *
 * @init to @destroy may sleep; of the others, the context is that of the member of struct
 * target_type.
 */
struct dmda_mode_ops {
	const char *name;
	bool is_linear;

	int (*init)(void);
	void (*exit)(void);
	const char *(*size_complaint)(const struct dmda *dmda);
	int (*create)(struct dmda *dmda);
	void (*destroy)(struct dmda *dmda);

	int (*map)(struct dmda *dmda, struct bio *bio);

	int (*preresume)(struct dmda *dmda);
	void (*resume)(struct dmda *dmda);
	void (*presuspend)(struct dmda *dmda);
	void (*presuspend_undo)(struct dmda *dmda);
	void (*postsuspend)(struct dmda *dmda);

	size_t (*status)(struct dmda *dmda, char *result, unsigned int maxlen);
	int (*message)(struct dmda *dmda, const struct dmda_message *message, char *result,
		       unsigned int maxlen);
	void (*io_hints)(struct dmda *dmda, struct queue_limits *limits);
};

/* Defined in hint-mode.c and log/device.c */
extern const struct dmda_mode_ops dmda_hint_mode;
extern const struct dmda_mode_ops dmda_log_mode;

#endif /* DMDA_MODE_H */
