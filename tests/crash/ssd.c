// SPDX-License-Identifier: GPL-2.0-only
#include "../../nvmevirt-backend/tests/drive.h"

#include "ssd.h"
#include "util.h"

/* The host takes notice of a command that is done. */
#define HOST_NS		2000
#define OFF_NS		1000000

/**
 * struct ssd_shape - a drive to be tried
 * @drive: geometry; the erase blocks of a die follow from the capacity
 * @bg_eblks: as in struct ftl_params; if not 0, the drive mends and holds full units, too
 * @slc_eblks: erase blocks of each die in the SLC region
 * @nr_handles: placement handles, each written to now and then; or 0
 */
struct ssd_shape {
	struct drive_shape drive;
	u32 bg_eblks;
	u32 slc_eblks;
	u32 nr_handles;
};

static const struct ssd_shape shapes[] = {
	{ { "one die", 1, 1, 4, 16, 24, 1, 100 } },
	{ { "three dies", 3, 1, 3, 11, 22, 2, 70 } },
	{ { "three dies, SLC", 3, 1, 3, 11, 22, 2, 70 }, 0, 3 },
	{ { "four dies, background, SLC", 2, 2, 8, 8, 22, 4, 120 }, 6, 2 },
	{ { "three dies, handles", 3, 1, 3, 11, 22, 2, 70 }, 0, 0, 4 },
};

/**
 * struct version - something that a page was
 * @seq: its number in the FTL
 * @content: the caller's
 */
struct version {
	u64 seq;
	u64 content;
};

/**
 * struct past - all that a page may turn out to be
 * @version: the newest last
 * @nr: how many
 * @promised: number of the one that has to survive, or of a newer one; 0: none
 */
struct past {
	struct version *version;
	u64 nr;
	u64 promised;
};

/**
 * struct ssd - the drive
 * @params: of the FTL
 * @memory: of the FTL
 * @ftl: the FTL
 * @past: by page
 * @now_ns: present time
 * @done_ns: when all that was sent is done
 * @seen_ns: when the host has seen the last command that was done
 * @ignores_flush: see ssd_ignores(), like @ignores_fua
 * @nr_lost: see ssd_nr_lost()
 * @release: see ssd_create()
 */
struct ssd {
	struct ftl_params params;
	void *memory;
	struct ftl *ftl;
	struct past *past;
	u64 now_ns;
	u64 done_ns;
	u64 seen_ns;
	bool ignores_flush;
	bool ignores_fua;
	u64 nr_lost;
	void (*release)(u64 page, u64 content);
};

u32 ssd_nr_shapes(void)
{
	return ARRAY_SIZE(shapes);
}

const char *ssd_shape_name(u32 shape)
{
	return shapes[shape].drive.name;
}

static void choose_params(struct ftl_params *params, const struct ssd_shape *shape, u64 nr_pages)
{
	u32 nr_dies = shape->drive.nr_channels * shape->drive.dies_per_channel;
	const char *reason;

	*params = drive_params(&shape->drive);
	params->plp = false;
	params->oob = true;
	params->bg_eblks = shape->bg_eblks;
	params->bg_mend = shape->bg_eblks;
	if (shape->bg_eblks) {
		params->hold_ns = 1000000;
		params->wbuf_pages += 6 * params->unit_pages;
	}
	params->stripe_lead = shape->bg_eblks ? 2 : 0;
	params->parity = params->stripe_lead && nr_dies > 1;
	if (shape->slc_eblks)
		add_slc(params, shape->slc_eblks, 3);
	if (shape->nr_handles)
		add_handles(params, shape->nr_handles);
	while (ftl_params_capacity(params) < nr_pages)
		params->eblks_per_die++;
	params->nr_lpns = nr_pages;
	reason = ftl_params_check(params);
	if (reason)
		give_up("There is no such drive: %s", reason);
}

struct ssd *ssd_create(u32 shape, u64 nr_pages, void (*release)(u64 page, u64 content))
{
	struct ssd *ssd = must(calloc(1, sizeof(*ssd)));

	choose_params(&ssd->params, &shapes[shape], nr_pages);
	ssd->memory = must(calloc(1, ftl_bytes(&ssd->params)));
	ssd->ftl = ftl_init(&ssd->params, ssd->memory, 0);
	ssd->past = must(calloc(nr_pages, sizeof(*ssd->past)));
	ssd->release = release;
	return ssd;
}

static void forget_but(struct ssd *ssd, u64 page, const struct version *kept)
{
	struct past *past = &ssd->past[page];

	for (u64 i = 0; i < past->nr; i++) {
		if (&past->version[i] != kept)
			ssd->release(page, past->version[i].content);
	}
	if (kept)
		past->version[0] = *kept;
	past->nr = kept ? 1 : 0;
}

void ssd_destroy(struct ssd *ssd)
{
	for (u64 page = 0; page < ssd->params.nr_lpns; page++) {
		forget_but(ssd, page, NULL);
		free(ssd->past[page].version);
	}
	free(ssd->past);
	free(ssd->memory);
	free(ssd);
}

void ssd_ignores(struct ssd *ssd, bool flush, bool fua)
{
	ssd->ignores_flush = flush;
	ssd->ignores_fua = fua;
}

bool ssd_is_off(const struct ssd *ssd)
{
	return ssd->now_ns >= ftl_cut_ns(ssd->ftl, ssd->seen_ns);
}

static void note_version(struct ssd *ssd, u64 page, u64 content)
{
	struct past *past = &ssd->past[page];

	past->version = grow(past->version, past->nr, sizeof(*past->version));
	past->version[past->nr++] = (struct version){
		.seq = ftl_seq_of(ssd->ftl, to_lpn(page)), .content = content,
	};
}

void ssd_write(struct ssd *ssd, const struct ssd_write *write)
{
	const struct ftl_request request = {
		.first = to_lpn(write->page),
		.nr_pages = write->nr,
		.bytes = write->nr << FTL_PAGE_SHIFT,
		.head_partial = write->is_partial,
		.tail_partial = write->is_partial && write->nr > 1,
		.fua = write->fua && !ssd->ignores_fua,
		.handle = write->page % 5,
	};

	if (ssd_is_off(ssd)) {
		for (u32 i = 0; i < write->nr; i++)
			ssd->release(write->page + i, write->content[i]);
		return;
	}
	ssd->done_ns = max(ssd->done_ns, ftl_write(ssd->ftl, &request, ssd->now_ns));
	for (u32 i = 0; i < write->nr; i++)
		note_version(ssd, write->page + i, write->content[i]);
}

void ssd_wait(struct ssd *ssd)
{
	ssd->now_ns = max(ssd->now_ns, ssd->done_ns) + HOST_NS;
	if (!ssd_is_off(ssd))
		ssd->seen_ns = ssd->now_ns;
}

void ssd_discard(struct ssd *ssd, u64 page, u32 nr)
{
	ssd_wait(ssd);
	if (ssd_is_off(ssd))
		return;
	for (u32 i = 0; i < nr; i++)
		ssd->past[page + i].promised = 0;
	ssd->done_ns = ftl_trim(ssd->ftl, to_lpn(page), nr, ssd->now_ns);
	ssd_wait(ssd);
}

void ssd_flush(struct ssd *ssd)
{
	ssd_wait(ssd);
	if (ssd_is_off(ssd) || ssd->ignores_flush)
		return;
	ssd->done_ns = ftl_flush(ssd->ftl, ssd->now_ns);
	ssd_wait(ssd);
	for (u64 page = 0; !ssd_is_off(ssd) && page < ssd->params.nr_lpns; page++)
		ssd->past[page].promised = ftl_seq_of(ssd->ftl, to_lpn(page));
}

void ssd_rest(struct ssd *ssd, u64 ns)
{
	ssd_wait(ssd);
	ssd->now_ns += ns;
	if (!ssd_is_off(ssd))
		ftl_idle(ssd->ftl, ssd->now_ns);
}

void ssd_cut_after(struct ssd *ssd, u64 nr_ops)
{
	ftl_cut_after(ssd->ftl, nr_ops);
}

/* What a page is now. Return: NULL if it holds nothing. */
static const struct version *present(const struct ssd *ssd, u64 page)
{
	const struct past *past = &ssd->past[page];
	u64 seq = ftl_seq_of(ssd->ftl, to_lpn(page));

	if (!seq)
		return NULL;
	for (u64 i = past->nr; i--;) {
		if (past->version[i].seq == seq)
			return &past->version[i];
	}
	give_up("The drive has data of page %llu that nobody wrote", (unsigned long long)page);
}

/* Return: whether all that was flushed is there. */
static bool find_pages(struct ssd *ssd)
{
	for (u64 page = 0; page < ssd->params.nr_lpns; page++) {
		const struct past *past = &ssd->past[page];
		const struct version *version = present(ssd, page);

		if ((version ? version->seq : 0) < past->promised)
			return false;
		if (version && version != &past->version[past->nr - 1])
			ssd->nr_lost++;
		forget_but(ssd, page, version);
	}
	return true;
}

const char *ssd_power_on(struct ssd *ssd)
{
	u64 cut_ns = min(ssd->now_ns, ftl_cut_ns(ssd->ftl, ssd->seen_ns));
	const char *reason;

	ftl_power_cut(ssd->ftl, cut_ns);
	ssd->now_ns = max(ssd->now_ns, cut_ns) + OFF_NS;
	ssd->done_ns = ssd->now_ns;
	reason = ftl_rebuild(ssd->ftl, ssd->now_ns);
	if (!reason)
		reason = ftl_check(ssd->ftl);
	if (!reason && !find_pages(ssd))
		reason = "The drive has lost what was flushed.";
	ftl_cut_after(ssd->ftl, 0);
	return reason;
}

u64 ssd_content(const struct ssd *ssd, u64 page)
{
	const struct version *version = present(ssd, page);

	return version ? version->content : 0;
}

u64 ssd_nr_collected(const struct ssd *ssd)
{
	struct ftl_stats stats;

	ftl_get_stats(ssd->ftl, &stats);
	return stats.gc_runs;
}

u64 ssd_nr_lost(const struct ssd *ssd)
{
	return ssd->nr_lost;
}
