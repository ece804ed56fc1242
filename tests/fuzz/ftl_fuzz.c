// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plays command sequences on small, full drives and asks after every few commands
 * whether the drive is consistent.
 *
 * The input's first bytes choose a drive, the rest are commands of COMMAND_BYTES bytes.
 * How inputs come about is in dmda_driver.h.
 *
 * Besides ftl_check(): a page is mapped exactly if it was written and not trimmed
 * since, or shares the data of one that was; no command completes before it began or
 * takes more than a bounded number of operations on the dies; counters agree with what
 * was sent and with each other. After a power failure that follows a flush the same
 * pages are mapped.
 */
#define COMMAND_BYTES	9
#define FUZZ_NAME	"ftl_fuzz"
#define FUZZ_MAX_BYTES	(3 + COMMAND_BYTES * 4096)

#include "dmda_driver.h"
#include "../../nvmevirt-backend/tests/drive.h"

/**
 * struct game - a drive and what must be true of it
 * @ftl: the drive
 * @params: its parameters
 * @memory: its memory
 * @is_mapped: by lpn
 * @nr_mapped: entries of @is_mapped that are set
 * @nr_written: pages written
 * @nr_read: pages read
 * @nr_trimmed: mapped pages trimmed
 * @nr_writes: write commands
 * @now_ns: time of the last command
 * @nr_operations: operations of the dies before the present command
 */
struct game {
	struct ftl *ftl;
	struct ftl_params params;
	void *memory;
	bool *is_mapped;
	u64 nr_mapped;
	u64 nr_written;
	u64 nr_read;
	u64 nr_trimmed;
	u64 nr_writes;
	u64 now_ns;
	u64 nr_operations;
};

static void *zeroed(size_t bytes)
{
	void *memory = calloc(1, bytes);

	require(memory, "There is not enough memory.");
	return memory;
}

/* As if the first die had been erased more often than all others: others give it cold data. */
static void wear_out(struct ftl *ftl)
{
	for (u32 eblk = 0; eblk < ftl->geo.die_eblks; eblk++)
		ftl->oob.erases[eblk] = 100;
	require(!ftl_rebuild(ftl, 0), "An empty drive is refused.");
}

static void begin_game(struct game *game, u8 shape, u8 flags)
{
	struct ftl_params *params = &game->params;

	memset(game, 0, sizeof(*game));
	*params = drive_params(&drive_shapes[shape % ARRAY_SIZE(drive_shapes)]);
	params->plp = flags & 1;
	params->time_scale = flags & 2 ? 16 : 1;
	params->register_hits = !(flags & 4);
	params->cache_read = flags & 8;
	params->planes_per_die = 1 + (shape >> 3 & 3);
	params->plane_read = flags & 8 || shape & 4;
	params->suspend_program = shape & 16 ? 2 : 0;
	params->suspend_erase = shape & 8 ? 3 : 0;
	params->suspend_ns = 20000;
	params->bg_eblks = flags & 128 ? 3 + (flags >> 6 & 1) : 0;
	params->bg_mend = flags & 32;
	if (shape & 128) {
		params->hold_ns = 200000;
		params->wbuf_pages += 8 * params->unit_pages;
		params->nr_lpns = ftl_params_capacity(params);
	}
	params->wear_permille = flags & 64 ? 20 : 0;
	params->oob = flags & 16;
	/* What a power failure can take needs room on every die. */
	params->eblks_per_die *= params->oob && !params->plp ? 6 : 1;
	if (shape & 64) {
		params->spare_eblks = 2;
		params->factory_bad_permille = 1000 / params->eblks_per_die + 1;
		params->eblks_per_die += 2;
	}
	params->stripe_lead = (shape ^ flags >> 3) & 3;
	params->parity = params->stripe_lead && shape & 2 &&
		params->nr_channels * params->dies_per_channel > 1;
	params->nr_lpns = ftl_params_capacity(params);
	params->share_pages = shape & 32 ? min_t(u64, params->nr_lpns, 40) : 0;
	params->share_log_kib = 4;
	/* Small drives have few map pages. */
	params->map_cache_pages = flags & 8 ? 1 : 0;
	params->read_ahead_pages = flags & 4 ? 8 : 0;
	if ((shape >> 2 ^ flags >> 5) & 1)
		add_slc(params, 1 + (shape >> 6 & 1), 2 + (flags >> 1 & 1));
	else if (!params->stripe_lead && shape & 1)
		add_handles(params, 2 + (flags >> 5 & 3));
	/* As often as the others, but only with protection. */
	if (params->plp && !(flags & 128) && shape & 32)
		make_in_place(params);
	params->seed_die = (flags >> 2 & 7) % (params->nr_channels * params->dies_per_channel);
	params->nr_lpns = ftl_params_capacity(params);
	require(!ftl_params_check(params), "The parameters of a drive are refused.");
	game->memory = zeroed(ftl_bytes(params));
	game->is_mapped = zeroed(params->nr_lpns);
	game->ftl = ftl_init(params, game->memory, 0);
	if (params->wear_permille && params->oob)
		wear_out(game->ftl);
}

static void end_game(struct game *game)
{
	free(game->is_mapped);
	free(game->memory);
}

static u64 count_operations(const struct game *game)
{
	struct ftl_die_stats stats;
	u64 nr = 0;

	for (u32 die = 0; die < ftl_nr_dies(game->ftl); die++) {
		ftl_get_die_stats(game->ftl, to_die(die), &stats);
		nr += stats.units_read + stats.units_programmed + stats.eblks_erased;
	}
	return nr;
}

/*
 * No page or open unit of a command may need more than every unit of its die moved
 * once for every erase block of the die.
 */
static u64 most_operations(const struct game *game, u32 nr_pages)
{
	const struct ftl_geometry *geo = &game->ftl->geo;

	return (u64)(nr_pages + geo->nr_open) * geo->die_eblks * (2 * geo->die_units + 1);
}

static void check_counters(const struct game *game)
{
	struct ftl_stats stats;
	struct ftl_die_stats die_stats;
	u64 nr_valid = 0, nr_programmed = 0, nr_units = 0;

	ftl_get_stats(game->ftl, &stats);
	for (u32 die = 0; die < ftl_nr_dies(game->ftl); die++) {
		ftl_get_die_stats(game->ftl, to_die(die), &die_stats);
		nr_valid += die_stats.pages_valid;
		nr_programmed += die_stats.pages_host + die_stats.pages_gc;
		nr_units += die_stats.units_programmed;
	}
	require(stats.pages_mapped == game->nr_mapped, "pages_mapped is wrong.");
	require(nr_valid + stats.pages_shared == game->nr_mapped,
		"The dies' pages_valid are wrong.");
	require(stats.host_pages_written == game->nr_written, "host_pages_written is wrong.");
	require(stats.host_pages_read == game->nr_read, "host_pages_read is wrong.");
	require(stats.pages_trimmed == game->nr_trimmed, "pages_trimmed is wrong.");
	require(stats.writes_plain + stats.hints_append + stats.hints_overwrite +
		stats.hints_die + stats.hints_ignored == game->nr_writes,
		"A write was not counted once.");
	require(stats.nand_pages_programmed == nr_programmed + stats.map_pages_programmed +
		stats.parity_programs * game->params.unit_pages + stats.pages_padded,
		"Pages programmed are not those of the host, of collection, of the map, parity and padding.");
	require(game->params.in_place ||
		stats.nand_pages_programmed == nr_units * game->params.unit_pages,
		"Pages programmed are not whole units.");
}

static void check_game(const struct game *game)
{
	const char *reason = ftl_check(game->ftl);

	require(!reason, reason);
	for (u64 lpn = 0; lpn < game->params.nr_lpns; lpn++) {
		require(ftl_is_mapped(game->ftl, to_lpn(lpn)) == game->is_mapped[lpn],
			"A page is mapped that was not written, or not mapped though it was.");
		require((ftl_die_of(game->ftl, to_lpn(lpn)) == DIE_NONE) != game->is_mapped[lpn],
			"A mapped page has no die, or another one has.");
	}
	check_counters(game);
}

static void set_mapped(struct game *game, u64 first, u64 nr, bool is_mapped)
{
	for (u64 lpn = first; lpn < first + nr; lpn++) {
		if (game->is_mapped[lpn] == is_mapped)
			continue;
		game->is_mapped[lpn] = is_mapped;
		game->nr_mapped += is_mapped ? 1 : -1;
		game->nr_trimmed += !is_mapped;
	}
}

static u64 play_write(struct game *game, struct ftl_request *rq, u8 flags)
{
	rq->head_partial = flags & 1;
	rq->tail_partial = flags & 2;
	rq->fua = (flags & 12) == 12;
	game->nr_written += rq->nr_pages;
	game->nr_writes++;
	set_mapped(game, from_lpn(rq->first), rq->nr_pages, true);
	/* Full drives ask for it themselves, but inputs are too short to fill many. */
	if (game->params.wear_permille && rq->hint == FTL_HINT_OVERWRITE)
		ftl_exchange_ask(game->ftl, 2);
	return ftl_write(game->ftl, rq, game->now_ns);
}

static u64 play_read(struct game *game, struct ftl_request *rq)
{
	game->nr_read += rq->nr_pages;
	return ftl_read(game->ftl, rq, game->now_ns);
}

static u64 play_trim(struct game *game, const struct ftl_request *rq)
{
	set_mapped(game, from_lpn(rq->first), rq->nr_pages, false);
	return ftl_trim(game->ftl, rq->first, rq->nr_pages, game->now_ns);
}

/* Lengths are mostly short; with @length 255 as long as can be. */
static u32 length_of(const struct game *game, u64 first, u8 length)
{
	u64 most = min_t(u64, game->params.nr_lpns - first, FTL_MAX_TRANSFER_PAGES);
	u32 nr = length == 255 ? FTL_MAX_TRANSFER_PAGES : length < 192 ? length % 8 + 1 : length;

	return min_t(u64, nr, most);
}

/* A hostile predecessor: any page, out of range, or in the command itself. */
static lpn_t pred_of(const struct game *game, u16 at, u8 flags)
{
	if (flags < 8)
		return LPN_NONE;
	return to_lpn(at % (game->params.nr_lpns + 2));
}

/* Up to three ranges, which may overlap, or have pages without data. */
static u64 play_share(struct game *game, const u8 *c)
{
	u64 nr_lpns = game->params.nr_lpns;
	u32 nr_ranges = c[6] % 3 + 1;
	struct ftl_share_range range[3];
	enum ftl_share_result result;
	u64 done_ns;

	for (u32 i = 0; i < nr_ranges; i++) {
		u64 to = (c[1] + c[2 + i] * 5) % nr_lpns;
		u64 from = (c[4] + c[5 - i] * 3) % nr_lpns;
		u64 most = min(nr_lpns - to, nr_lpns - from);

		range[i] = (struct ftl_share_range){
			.to = to_lpn(to),
			.from = to_lpn(from),
			.nr = min_t(u64, c[3] % 16 + 1, most),
		};
	}
	result = ftl_share(game->ftl, range, nr_ranges, game->now_ns, &done_ns);
	for (u32 i = 0; i < nr_ranges && result == FTL_SHARE_DONE; i++)
		set_mapped(game, from_lpn(range[i].to), range[i].nr, true);
	return done_ns;
}

/* Two ranges, which may overlap, or have pages without data. */
static u64 play_redistribute(struct game *game, const u8 *c)
{
	u64 nr_lpns = game->params.nr_lpns;
	u32 nr = c[3] % 32 + 1;
	struct ftl_lpn_range range[2] = {
		{ to_lpn((c[1] * 3) % (nr_lpns - min_t(u64, nr, nr_lpns - 1))),
		  min_t(u64, nr, nr_lpns - 1) },
		{ to_lpn((c[2] * 7) % nr_lpns), 1 },
	};
	struct ftl_redistribution job = {
		.range = range,
		.nr_ranges = 2,
		.threshold_permille = c[5] * 4,
		.nr_pages = range[0].nr + 1,
	};

	job.memory = zeroed(ftl_dof_bytes(game->ftl, job.nr_pages));
	if (!ftl_redistribute(game->ftl, &job, game->now_ns))
		require(job.before_permille < job.threshold_permille,
			"Pages that lie badly were not redistributed.");
	free(job.memory);
	return job.done_ns;
}

static u64 play_flush(struct game *game)
{
	return ftl_flush(game->ftl, game->now_ns);
}

/* The power fails, at once or after a flush; what is mapped after that is only known then. */
static u64 play_power_failure(struct game *game, bool flush, u32 later_ns)
{
	const char *reason;

	if (!game->params.oob)
		return play_flush(game);
	game->now_ns = flush ? play_flush(game) : game->now_ns + later_ns;
	ftl_power_cut(game->ftl, game->now_ns);
	reason = ftl_rebuild(game->ftl, game->now_ns);
	require(!reason, reason);
	for (u64 lpn = 0; lpn < game->params.nr_lpns && !flush; lpn++) {
		game->nr_mapped += ftl_is_mapped(game->ftl, to_lpn(lpn)) - game->is_mapped[lpn];
		game->is_mapped[lpn] = ftl_is_mapped(game->ftl, to_lpn(lpn));
	}
	check_game(game);
	game->nr_operations = count_operations(game);
	return game->now_ns;
}

static u64 play_command(struct game *game, const u8 *c)
{
	u64 first = (c[1] | c[2] << 8) % game->params.nr_lpns;
	struct ftl_request rq = {
		.first = to_lpn(first),
		.nr_pages = length_of(game, first, c[3]),
		.pred = pred_of(game, c[4] | c[5] << 8, c[6]),
		/* Now and then a handle that does not exist. */
		.handle = c[5] % 6,
	};

	rq.bytes = rq.nr_pages * FTL_PAGE_BYTES;
	switch (c[0] % 16) {
	case 0:
		return play_trim(game, &rq);
	case 1:
		if (c[6] < 8)
			return play_power_failure(game, c[6] & 1, (c[4] | c[5] << 8) * 100);
		return play_flush(game);
	case 2:
		return play_read(game, &rq);
	case 3:
		if (c[3] & 1)
			return play_read(game, &rq);
		if ((c[3] & 6) == 6) {
			die_t die = to_die(c[4] % ftl_nr_dies(game->ftl));

			if (c[3] & 8)
				ftl_fail_program(game->ftl, die, c[5]);
			else
				ftl_fail_erase(game->ftl, die, c[5] % 16);
			return game->now_ns;
		}
		/* Idle for up to 16 s, so that all is collected and mended that may be. */
		if ((c[3] & 6) == 4 && game->params.share_pages)
			return c[6] & 64 ? play_redistribute(game, c) : play_share(game, c);
		game->now_ns += (u64)c[4] << (c[5] % 27);
		ftl_idle(game->ftl, game->now_ns);
		return game->now_ns;
	case 4: case 5: case 6: case 7:
		rq.hint = FTL_HINT_APPEND;
		break;
	case 8: case 9: case 10:
		/* A well-meant append: it follows the page before it. */
		rq.hint = FTL_HINT_APPEND;
		rq.pred = first ? to_lpn(first - 1) : LPN_NONE;
		break;
	case 11: case 12: case 13:
		rq.hint = FTL_HINT_OVERWRITE;
		break;
	case 14:
		/* Now and then a die that does not exist. */
		rq.hint = FTL_HINT_DIE;
		rq.die = to_die(c[6] % (ftl_nr_dies(game->ftl) + 1));
		break;
	case 15:
		rq.hint = FTL_HINT_BEGIN;
		break;
	}
	return play_write(game, &rq, c[7]);
}

static void play(const u8 *data, size_t size)
{
	struct game game;
	u32 nr_played = 0;

	if (size < 3)
		return;
	begin_game(&game, data[0], data[1]);
	for (size_t at = 3; at + COMMAND_BYTES <= size; at += COMMAND_BYTES) {
		u64 done_ns = play_command(&game, data + at);
		u64 nr_operations = count_operations(&game);

		require(done_ns >= game.now_ns, "A command completes before it began.");
		require(nr_operations - game.nr_operations <=
			most_operations(&game, FTL_MAX_TRANSFER_PAGES),
			"A command takes too many operations.");
		game.nr_operations = nr_operations;
		game.now_ns += (u64)data[at + 8] * 1000;
		if (data[2] && ++nr_played % data[2] == 0)
			check_game(&game);
	}
	check_game(&game);
	end_game(&game);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	play(data, size);
	return 0;
}

#ifndef WITH_LIBFUZZER

static size_t draw_input(u64 *state, u8 *input)
{
	size_t bytes = 3 + next_random(state) % (FUZZ_MAX_BYTES - 3);

	for (size_t i = 0; i < bytes; i++)
		input[i] = next_random(state) >> 8;
	/* A walk of everything after every single command would be most of the work. */
	input[2] |= 16;
	return bytes;
}

#endif /* WITH_LIBFUZZER */
