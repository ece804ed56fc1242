// SPDX-License-Identifier: GPL-2.0-only
/* See glue.h. The only file of the tool that knows the FTL's structures. */
#include <sys/mman.h>
#include <unistd.h>

#include "dof.h"
#include "ftl.h"
#include "glue.h"
#include "keep.h"
#include "placement.h"
#include "precondition.h"
#include "profiles.h"

/**
 * struct sim_config - parameters of a drive to be
 * @capacity_bytes: what the host is to see
 * @nr_queues: queue pairs of the controller
 * @queue_depth: commands in flight on each
 * @params: the FTL's
 */
struct sim_config {
	u64 capacity_bytes;
	u32 nr_queues;
	u32 queue_depth;
	struct ftl_params params;
};

/**
 * struct sim_drive - a drive and its memory
 * @ftl: in @memory
 * @memory: what it lives in
 * @bytes: size of @memory
 * @nr_refused: share commands that were refused
 * @placements: decisions that were told, while somebody listens
 * @nr_placements: how many
 * @max_placements: how many there is memory for
 */
struct sim_drive {
	struct ftl *ftl;
	void *memory;
	size_t bytes;
	u64 nr_refused;
	struct sim_placement *placements;
	u64 nr_placements;
	u64 max_placements;
};

/**
 * struct key - a parameter by name
 * @name: as in configfs
 * @offset: of the member in struct sim_config
 * @size: of the member, in bytes
 * @mul: the member is the value times @mul
 * @div: and divided by this
 */
struct key {
	const char *name;
	size_t offset;
	size_t size;
	u32 mul;
	u32 div;
};

#define KEY_UNITS(name, type, member, mul, div) \
	{ #name, offsetof(struct sim_config, member), sizeof(type), mul, div }
#define KEY(name, member)	KEY_UNITS(name, u32, member, 1, 1)

#define KIB_PER_PAGE	(FTL_PAGE_BYTES / 1024)
#define PAGES_PER_MIB	(1024 / KIB_PER_PAGE)

static const struct key keys[] = {
	KEY_UNITS(capacity_mib, u64, capacity_bytes, 1 << 20, 1),
	KEY(channels, params.nr_channels),
	KEY(dies_per_channel, params.dies_per_channel),
	KEY(planes_per_die, params.planes_per_die),
	KEY_UNITS(unit_kib, u32, params.unit_pages, 1, KIB_PER_PAGE),
	KEY(units_per_eblk, params.units_per_eblk),
	KEY(reserve_permille, params.reserve_permille),
	KEY(read_ns, params.read_ns),
	KEY(program_ns, params.program_ns),
	KEY(erase_ns, params.erase_ns),
	KEY(suspend_program, params.suspend_program),
	KEY(suspend_erase, params.suspend_erase),
	KEY(suspend_ns, params.suspend_ns),
	KEY(channel_mbps, params.channel_mbps),
	KEY(link_mbps, params.link_mbps),
	KEY(cmd_ns, params.cmd_ns),
	KEY(cmd_gap_ns, params.cmd_gap_ns),
	KEY(write_ns, params.write_ns),
	KEY(page_ns, params.page_ns),
	KEY_UNITS(wbuf_kib, u32, params.wbuf_pages, 1, KIB_PER_PAGE),
	KEY(run_units, params.run_units),
	KEY(hold_ns, params.hold_ns),
	KEY(time_scale, params.time_scale),
	KEY_UNITS(plp, bool, params.plp, 1, 1),
	KEY_UNITS(register_hits, bool, params.register_hits, 1, 1),
	KEY_UNITS(cache_read, bool, params.cache_read, 1, 1),
	KEY_UNITS(plane_read, bool, params.plane_read, 1, 1),
	KEY(bg_eblks, params.bg_eblks),
	KEY_UNITS(bg_mend, bool, params.bg_mend, 1, 1),
	KEY(wear_permille, params.wear_permille),
	KEY(spare_eblks, params.spare_eblks),
	KEY(factory_bad_permille, params.factory_bad_permille),
	KEY(seed_die, params.seed_die),
	KEY(share_pages, params.share_pages),
	KEY(share_log_kib, params.share_log_kib),
	KEY_UNITS(map_cache_mib, u32, params.map_cache_pages, PAGES_PER_MIB, 1),
	KEY_UNITS(read_ahead_kib, u32, params.read_ahead_pages, 1, KIB_PER_PAGE),
	KEY_UNITS(slc_mib, u32, params.slc_pages, PAGES_PER_MIB, 1),
	KEY(cell_bits, params.cell_bits),
	KEY(slc_program_ns, params.slc_program_ns),
	KEY(slc_read_ns, params.slc_read_ns),
	KEY(stripe_lead, params.stripe_lead),
	KEY_UNITS(parity, bool, params.parity, 1, 1),
	KEY_UNITS(in_place, bool, params.in_place, 1, 1),
	KEY(fdp_handles, params.nr_handles),
	KEY(queues, nr_queues),
	KEY(queue_depth, queue_depth),
};

/**
 * struct counter - a counter by name
 * @name: the member's
 * @offset: where it is
 * @size: of it, in bytes
 */
struct counter {
	const char *name;
	size_t offset;
	size_t size;
};

#define COUNTER(type, member)	  { #member, offsetof(struct type, member), sizeof(u64) }
#define COUNTER_U32(type, member) { #member, offsetof(struct type, member), sizeof(u32) }

static const struct counter counters[] = {
	COUNTER(ftl_stats, host_pages_read),
	COUNTER(ftl_stats, host_pages_written),
	COUNTER(ftl_stats, nand_pages_programmed),
	COUNTER(ftl_stats, pages_padded),
	COUNTER(ftl_stats, pages_drafted),
	COUNTER(ftl_stats, pages_trimmed),
	COUNTER(ftl_stats, writes_plain),
	COUNTER(ftl_stats, hints_append),
	COUNTER(ftl_stats, hints_overwrite),
	COUNTER(ftl_stats, hints_die),
	COUNTER(ftl_stats, hints_ignored),
	COUNTER(ftl_stats, pages_off_die),
	COUNTER(ftl_stats, buffer_hits),
	COUNTER(ftl_stats, pages_read_ahead),
	COUNTER(ftl_stats, ahead_hits),
	COUNTER(ftl_stats, run_units_evicted),
	COUNTER(ftl_stats, gc_runs),
	COUNTER(ftl_stats, pages_levelled),
	COUNTER(ftl_stats, pages_exchanged),
	COUNTER(ftl_stats, eblks_levelled),
	COUNTER(ftl_stats, programs_failed),
	COUNTER(ftl_stats, erases_failed),
	COUNTER(ftl_stats, eblks_bad),
	COUNTER(ftl_stats, spares_left),
	COUNTER(ftl_stats, rows_mended),
	COUNTER(ftl_stats, pages_mapped),
	COUNTER(ftl_stats, pages_remapped),
	COUNTER(ftl_stats, pages_shared),
	COUNTER(ftl_stats, pages_redistributed),
	COUNTER(ftl_stats, defrag_programs),
	COUNTER(ftl_stats, map_hits),
	COUNTER(ftl_stats, map_misses),
	COUNTER(ftl_stats, map_programs),
	COUNTER(ftl_stats, map_pages_programmed),
	COUNTER(ftl_stats, stripe_moves),
	COUNTER(ftl_stats, stripe_pads),
	COUNTER(ftl_stats, stripe_skips),
	COUNTER(ftl_stats, parity_programs),
	COUNTER(ftl_stats, slc_programs),
	COUNTER(ftl_stats, slc_folds),
	COUNTER(ftl_stats, slc_pages_folded),
	COUNTER(ftl_stats, slc_pages_free),
};

static const struct counter die_counters[] = {
	COUNTER(ftl_die_stats, units_read),
	COUNTER(ftl_die_stats, units_programmed),
	COUNTER(ftl_die_stats, eblks_erased),
	COUNTER(ftl_die_stats, pages_host),
	COUNTER(ftl_die_stats, pages_gc),
	COUNTER(ftl_die_stats, pages_valid),
	COUNTER_U32(ftl_die_stats, erases_least),
	COUNTER_U32(ftl_die_stats, erases_most),
	COUNTER_U32(ftl_die_stats, eblks),
	COUNTER_U32(ftl_die_stats, eblks_free),
	COUNTER_U32(ftl_die_stats, eblks_bad),
	COUNTER(ftl_die_stats, busy_ns),
	COUNTER(ftl_die_stats, gc_ns),
};

const char *sim_profile_name(u32 index)
{
	const struct ftl_profile *profile = ftl_profile_at(index);

	return profile ? profile->name : NULL;
}

const char *sim_profile_description(u32 index)
{
	return ftl_profile_at(index)->description;
}

struct sim_config *sim_config_new(u32 index)
{
	const struct ftl_profile *profile = ftl_profile_at(index);
	struct sim_config *config = malloc(sizeof(*config));

	if (!config)
		return NULL;
	config->capacity_bytes = profile->capacity_bytes;
	config->nr_queues = profile->nr_queues;
	config->queue_depth = profile->queue_depth;
	config->params = profile->params;
	return config;
}

void sim_config_free(struct sim_config *config)
{
	free(config);
}

const char *sim_key_name(u32 key)
{
	return key < ARRAY_SIZE(keys) ? keys[key].name : NULL;
}

/* The one key with a list; the others have a member of their own size. */
static bool is_read_ns(const struct key *key)
{
	return key->offset == offsetof(struct sim_config, params.read_ns);
}

static int store(void *member, size_t size, u64 value)
{
	if (value > U64_MAX >> (64 - 8 * size) || (size == 1 && value > 1))
		return -ERANGE;
	if (size == sizeof(u64))
		*(u64 *)member = value;
	else if (size == sizeof(u32))
		*(u32 *)member = value;
	else
		*(bool *)member = value;
	return 0;
}

static u64 load(const void *member, size_t size)
{
	if (size == sizeof(u64))
		return *(const u64 *)member;
	return size == sizeof(u32) ? *(const u32 *)member : *(const bool *)member;
}

static int set_read_ns(struct ftl_params *params, const u64 *values, u32 nr_values)
{
	if (!nr_values || nr_values > FTL_MAX_PAGE_KINDS)
		return -EINVAL;
	for (u32 i = 0; i < nr_values; i++) {
		if (values[i] > U32_MAX)
			return -ERANGE;
		params->read_ns[i] = values[i];
	}
	params->nr_page_kinds = nr_values;
	return 0;
}

int sim_config_set(struct sim_config *config, u32 nr, const u64 *values, u32 nr_values)
{
	const struct key *key = &keys[nr];
	u64 value;

	if (is_read_ns(key))
		return set_read_ns(&config->params, values, nr_values);
	if (nr_values != 1 || values[0] % key->div)
		return -EINVAL;
	if (check_mul_overflow(values[0] / key->div, (u64)key->mul, &value))
		return -ERANGE;
	return store((u8 *)config + key->offset, key->size, value);
}

u32 sim_config_get(const struct sim_config *config, u32 nr, u64 *values)
{
	const struct key *key = &keys[nr];

	if (is_read_ns(key)) {
		for (u32 i = 0; i < config->params.nr_page_kinds; i++)
			values[i] = config->params.read_ns[i];
		return config->params.nr_page_kinds;
	}
	values[0] = load((const u8 *)config + key->offset, key->size) / key->mul * key->div;
	return 1;
}

void sim_config_keep(struct sim_config *config)
{
	config->params.oob = !config->params.plp;
}

struct sim_drive *sim_drive_new(struct sim_config *config, const char **reason)
{
	struct ftl_params *params = &config->params;
	struct sim_drive *drive;

	*reason = ftl_params_size(params, config->capacity_bytes);
	if (!*reason && (!config->nr_queues || !config->queue_depth))
		*reason = "At least one queue that takes a command is needed.";
	if (*reason)
		return NULL;
	drive = calloc(1, sizeof(*drive));
	if (!drive)
		return NULL;
	drive->bytes = ftl_bytes(params);
	drive->memory = mmap(NULL, drive->bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (drive->memory == MAP_FAILED) {
		free(drive);
		return NULL;
	}
	drive->ftl = ftl_init(params, drive->memory, 0);
	return drive;
}

void sim_drive_free(struct sim_drive *drive)
{
	munmap(drive->memory, drive->bytes);
	free(drive->placements);
	free(drive);
}

static u64 share(struct sim_drive *drive, const struct sim_request *request, u64 now_ns)
{
	struct ftl_share_range range = {
		.to = to_lpn(request->pred),
		.from = to_lpn(request->first),
		.nr = request->nr_pages,
	};
	u64 done_ns = now_ns;

	if (!ftl_get_params(drive->ftl)->share_pages ||
	    ftl_share(drive->ftl, &range, 1, now_ns, &done_ns))
		drive->nr_refused++;
	return done_ns;
}

static u64 redistribute(struct sim_drive *drive, const struct sim_request *request, u64 now_ns)
{
	struct ftl_lpn_range range = { to_lpn(request->first), request->nr_pages };
	struct ftl_redistribution job = {
		.range = &range,
		.nr_ranges = 1,
		.threshold_permille = request->pred,
		.nr_pages = request->nr_pages,
	};

	job.memory = malloc(ftl_dof_bytes(drive->ftl, job.nr_pages));
	if (!job.memory)
		abort();
	ftl_redistribute(drive->ftl, &job, now_ns);
	free(job.memory);
	return job.done_ns;
}

const char *sim_drive_precondition(struct sim_drive *drive, u64 fill_percent, u64 random_percent,
				   u64 seed)
{
	const char *reason = ftl_precondition_check(fill_percent, random_percent);
	struct ftl_precondition work = {
		.nr_ranges = 1,
		.random_percent = random_percent,
		.state = seed,
	};

	if (reason)
		return reason;
	work.range[0].nr = ftl_precondition_share(sim_drive_nr_pages(drive), fill_percent);
	ftl_precondition_begin(drive->ftl, &work);
	while (ftl_precondition_step(drive->ftl, &work))
		;
	ftl_precondition_end(drive->ftl, &work, 0);
	return NULL;
}

/**
 * struct state_file - a state file
 * @fd: descriptor of the file
 * @error: errno of what has failed, or 0
 */
struct state_file {
	int fd;
	int error;
};

/* Return: bytes that were moved, fewer than asked for at the end of the file only. */
static size_t move_all(struct state_file *file, u8 *bytes, size_t nr, bool writes)
{
	size_t at = 0;

	while (at < nr) {
		ssize_t ret = writes ? write(file->fd, bytes + at, nr - at) :
				       read(file->fd, bytes + at, nr - at);

		if (ret < 0 && errno == EINTR)
			continue;
		if (ret < 0)
			file->error = errno;
		if (ret <= 0)
			break;
		at += ret;
	}
	return at;
}

static const char *write_next(void *context, void *block)
{
	return move_all(context, block, FTL_IMAGE_BLOCK_BYTES, true) == FTL_IMAGE_BLOCK_BYTES ?
		NULL : "The state file could not be written.";
}

static const char *read_next(void *context, void *block)
{
	struct state_file *file = context;

	if (move_all(file, block, FTL_IMAGE_BLOCK_BYTES, false) == FTL_IMAGE_BLOCK_BYTES)
		return NULL;
	return file->error ? "The state file could not be read." :
		"The state file is too short: it was cut off.";
}

const char *sim_drive_save(struct sim_drive *drive, int fd, int *error)
{
	u8 block[FTL_IMAGE_BLOCK_BYTES];
	struct state_file file = { .fd = fd };
	struct ftl_keep keep = { .move = write_next, .context = &file, .block = block };
	const u64 nr_lpns = sim_drive_nr_pages(drive);
	const struct ftl_keep_layout layout = { .nr = 1, .nr_pages = { nr_lpns } };
	const char *reason = ftl_keep_save(&keep, drive->ftl, &layout) ?:
			     ftl_keep_save_pages(&keep, nr_lpns, NULL, NULL);

	*error = file.error;
	return reason;
}

/* The simulator has no use for data; that all of it is there was looked at. */
static const char *take_page(void *context, u64 lpn, const void *page, u8 marks)
{
	return NULL;
}

const char *sim_drive_load(struct sim_drive *drive, int fd, int *error)
{
	u8 block[FTL_IMAGE_BLOCK_BYTES], page[FTL_IMAGE_BLOCK_BYTES];
	struct state_file file = { .fd = fd };
	struct ftl_keep keep = { .move = read_next, .context = &file, .block = block };
	const char *reason = ftl_keep_load(&keep, drive->ftl, NULL, 0) ?:
			     ftl_keep_load_pages(&keep, sim_drive_nr_pages(drive), page,
						 take_page, NULL);

	*error = file.error;
	return reason;
}

u64 sim_drive_refused(const struct sim_drive *drive)
{
	return drive->nr_refused;
}

u64 sim_drive_run(struct sim_drive *drive, const struct sim_request *request, u64 now_ns)
{
	struct ftl_request rq = {
		.first = to_lpn(request->first),
		.nr_pages = request->nr_pages,
		.bytes = request->bytes,
		.head_partial = request->head_partial,
		.tail_partial = request->tail_partial,
		.fua = request->fua,
		.hint = (enum ftl_hint)request->hint,
		.pred = to_lpn(request->pred),
	};

	switch (request->op) {
	case SIM_SHARE:
		return share(drive, request, now_ns);
	case SIM_REDISTRIBUTE:
		return redistribute(drive, request, now_ns);
	case SIM_READ:
		return ftl_read(drive->ftl, &rq, now_ns);
	case SIM_WRITE:
		return ftl_write(drive->ftl, &rq, now_ns);
	case SIM_TRIM:
		return ftl_trim(drive->ftl, rq.first, request->nr_pages, now_ns);
	default:
		return ftl_flush(drive->ftl, now_ns);
	}
}

static struct sim_where where_is(const struct ftl_where *where)
{
	return (struct sim_where){
		.die = where->die == DIE_NONE ? SIM_NO_DIE : from_die(where->die),
		.unit = where->unit,
		.slot = where->slot,
		.nr_filled = where->nr_filled,
	};
}

static void keep_placement(void *context, const struct ftl_placement *placement)
{
	struct sim_drive *drive = context;

	if (drive->nr_placements == drive->max_placements) {
		drive->max_placements = 2 * drive->max_placements + 64;
		drive->placements = realloc(drive->placements, drive->max_placements *
					    sizeof(*drive->placements));
		if (!drive->placements)
			abort();
	}
	drive->placements[drive->nr_placements++] = (struct sim_placement){
		.lpn = from_lpn(placement->lpn),
		.pred = from_lpn(placement->pred),
		.nr_pages = placement->nr_pages,
		.hint = placement->hint,
		.rule = placement->rule,
		.wanted = placement->wanted == DIE_NONE ? SIM_NO_DIE :
			  from_die(placement->wanted),
		.pred_at = where_is(&placement->pred_at),
		.before = where_is(&placement->before),
		.after = where_is(&placement->after),
		.is_levelled = placement->is_levelled,
	};
}

void sim_drive_listen(struct sim_drive *drive, bool listens)
{
	drive->nr_placements = 0;
	ftl_tell_placements(drive->ftl, listens ? keep_placement : NULL, drive);
}

u64 sim_drive_placements(const struct sim_drive *drive, const struct sim_placement **placements)
{
	*placements = drive->placements;
	return drive->nr_placements;
}

const char *sim_rule_name(u32 rule)
{
	return rule < FTL_NR_RULES ? ftl_rule_name((enum ftl_rule)rule) : NULL;
}

u32 sim_drive_unit_pages(const struct sim_drive *drive)
{
	return ftl_get_params(drive->ftl)->unit_pages;
}

bool sim_drive_idle(struct sim_drive *drive, u64 now_ns)
{
	return ftl_idle(drive->ftl, now_ns);
}

static_assert((int)SIM_HINT_NONE == (int)FTL_HINT_NONE);
static_assert((int)SIM_HINT_APPEND == (int)FTL_HINT_APPEND);
static_assert((int)SIM_HINT_OVERWRITE == (int)FTL_HINT_OVERWRITE);
static_assert((int)SIM_HINT_BEGIN == (int)FTL_HINT_BEGIN);

const char *sim_drive_check(const struct sim_drive *drive)
{
	return ftl_check(drive->ftl);
}

u32 sim_drive_nr_dies(const struct sim_drive *drive)
{
	return ftl_nr_dies(drive->ftl);
}

u64 sim_drive_nr_pages(const struct sim_drive *drive)
{
	return ftl_get_params(drive->ftl)->nr_lpns;
}

const char *sim_counter_name(u32 counter)
{
	return counter < ARRAY_SIZE(counters) ? counters[counter].name : NULL;
}

u64 sim_drive_counter(const struct sim_drive *drive, u32 counter)
{
	struct ftl_stats stats;

	ftl_get_stats(drive->ftl, &stats);
	return load((const u8 *)&stats + counters[counter].offset, counters[counter].size);
}

const char *sim_die_counter_name(u32 counter)
{
	return counter < ARRAY_SIZE(die_counters) ? die_counters[counter].name : NULL;
}

u64 sim_die_counter(const struct sim_drive *drive, u32 die, u32 counter)
{
	struct ftl_die_stats stats;

	ftl_get_die_stats(drive->ftl, to_die(die), &stats);
	return load((const u8 *)&stats + die_counters[counter].offset,
		    die_counters[counter].size);
}
