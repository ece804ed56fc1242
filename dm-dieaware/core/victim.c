// SPDX-License-Identifier: GPL-2.0-only
/*
 * Victims are chosen among those that have kept about as many valid pages for longest, by what
 * they are worth: there are many with as many, but the best of them are those. So the search takes
 * as long on a large device as on a small one. The best few are kept in order. For the file-aware
 * policy the caller then reads their summaries, and here it is counted what cleaning them would
 * join.
 *
 * A row of valid pages of one file counts if the file had one before in the segment. Which
 * files had is kept in a hash table that the caller has sized.
 */
#include "victim.h"

/* The damped age is the age to the power of 2/5. */
#define AGE_POWER	2U
#define AGE_ROOT	5U

/* Logarithms have so many bits behind the point. */
#define LOG_SHIFT	16U

static u64 worth_greedy(u32 data_pages, const struct dmda_segment *segment)
{
	return data_pages - segment->nr_valid;
}

/* At least 1; cut to 40 bits, so that its product with a number of pages fits */
static u64 age_of(const struct dmda_segment *segment, u64 now_seq)
{
	u64 age = now_seq > segment->mtime ? now_seq - segment->mtime : 0;

	return min(age, (1ULL << 40) - 1) + 1;
}

static u64 worth_cost_benefit(u32 data_pages, const struct dmda_segment *segment, u64 now_seq)
{
	return div_u64(age_of(segment, now_seq) * (data_pages - segment->nr_valid),
		       data_pages + segment->nr_valid);
}

/*
 * The logarithm to base 2 of @x, which is not 0. Between powers of two it goes straight, up to 0.09
 * below what it should be: so it always grows with @x.
 */
static u32 log_of(u64 x)
{
	u32 order = ilog2(x);

	return order << LOG_SHIFT | (u32)((x << (63 - order) << 1) >> (64 - LOG_SHIFT));
}

/* Only compared, so its logarithm does; of what is below 1, too: that is what is added for. */
static u64 worth_damped(u32 data_pages, const struct dmda_segment *segment, u64 now_seq)
{
	u32 damped = log_of(age_of(segment, now_seq)) / AGE_ROOT * AGE_POWER;

	return (32U << LOG_SHIFT) + damped + log_of(data_pages - segment->nr_valid) -
		log_of(data_pages + segment->nr_valid);
}

static u64 worth_of(const struct dmda_segment *segment, u32 data_pages, u64 now_seq,
		    enum dmda_policy policy)
{
	switch (policy) {
	case DMDA_POLICY_GREEDY:
		return worth_greedy(data_pages, segment);
	case DMDA_POLICY_COST_BENEFIT:
		return worth_cost_benefit(data_pages, segment, now_seq);
	default:
		return worth_damped(data_pages, segment, now_seq);
	}
}

static void insert(struct dmda_candidate *candidates, u32 nr, const struct dmda_candidate *new)
{
	u32 at = nr;

	while (at && candidates[at - 1].worth < new->worth) {
		candidates[at] = candidates[at - 1];
		at--;
	}
	candidates[at] = *new;
}

/* How many are looked at: of each rank one, then of each another one, and so on */
#define MAX_LOOKS	128U

/**
 * struct search - for the best
 * @segments: the segment table
 * @now_seq: the present operation
 * @policy: what counts
 * @max_valid: most valid pages
 * @candidates: the best so far, in order
 * @nr: most that are wanted
 * @found: how many there are
 * @at: the next one of each rank
 */
struct search {
	const struct dmda_segments *segments;
	u64 now_seq;
	enum dmda_policy policy;
	u32 max_valid;
	struct dmda_candidate *candidates;
	u32 nr;
	u32 found;
	u32 at[DMDA_NR_RANKS];
};

/* Looks at the next one of a rank, and goes on to the one behind it. */
static void look_at_next(struct search *search, u32 rank)
{
	u32 seg = search->at[rank];
	const struct dmda_segment *segment = &search->segments->segment[seg];
	struct dmda_candidate new = {
		.seg = to_seg(seg),
		.worth = worth_of(segment, dmda_super_data_pages(search->segments->super),
				  search->now_seq, search->policy),
	};

	search->at[rank] = dmda_ranks_after(&search->segments->by_valid, seg);
	if (segment->nr_valid > search->max_valid)
		return;
	if (search->found == search->nr &&
	    search->candidates[search->nr - 1].worth >= new.worth)
		return;
	search->found = min(search->found + 1, search->nr);
	insert(search->candidates, search->found - 1, &new);
}

/* Those with the fewest valid pages, however many have as few */
static void look_at_emptiest(struct search *search)
{
	u32 looks = 0;

	for (u32 rank = 0; rank < DMDA_NR_RANKS && looks < search->nr; rank++) {
		for (; search->at[rank] != DMDA_RANKS_END && looks < MAX_LOOKS; looks++)
			look_at_next(search, rank);
	}
}

/* Return: how many of the ranks have another one. */
static u32 look_at_oldest(struct search *search)
{
	u32 nr = 0;

	for (u32 rank = 0; rank < DMDA_NR_RANKS; rank++) {
		if (search->at[rank] == DMDA_RANKS_END)
			continue;
		look_at_next(search, rank);
		nr++;
	}
	return nr;
}

/* No look is taken at those of which none can have as few valid pages. */
static u32 first_of_rank(const struct search *search, u32 rank)
{
	return rank > search->max_valid >> search->segments->rank_shift ?
		DMDA_RANKS_END : dmda_ranks_first(&search->segments->by_valid, rank);
}

u32 dmda_victim_find(const struct dmda_segments *segments, u64 now_seq, enum dmda_policy policy,
		     u32 max_valid, struct dmda_candidate *candidates, u32 nr)
{
	struct search search = {
		.segments = segments, .now_seq = now_seq, .policy = policy,
		.max_valid = max_valid, .candidates = candidates, .nr = nr,
	};
	u32 looks = 0, more;

	for (u32 rank = 0; rank < DMDA_NR_RANKS; rank++)
		search.at[rank] = first_of_rank(&search, rank);
	if (policy == DMDA_POLICY_GREEDY) {
		look_at_emptiest(&search);
		return search.found;
	}
	do {
		more = look_at_oldest(&search);
		looks += more;
	} while (more && looks < MAX_LOOKS);
	return search.found;
}

/* Return: whether the file was not in the set. */
static bool add_file(struct dmda_file_set *files, u64 file)
{
	u32 mask = files->nr_slots - 1;
	u32 at = hash_64(file, 32) & mask;

	while (files->slot[at] && files->slot[at] != file)
		at = (at + 1) & mask;
	if (files->slot[at])
		return false;
	files->slot[at] = file;
	return true;
}

u32 dmda_victim_pieces(const struct dmda_summary_block *summary, const u64 *is_valid,
		       u32 nr_pages, struct dmda_file_set *files)
{
	u64 before = 0;
	u32 nr = 0;

	memset(files->slot, 0, files->nr_slots * sizeof(*files->slot));
	for (u32 page = 0; page < nr_pages; page++) {
		struct dmda_written written = { .file = 0 };

		if (is_valid[page / 64] >> page % 64 & 1)
			dmda_summary_get(summary, page, &written);
		if (written.file && written.file != before && !add_file(files, written.file))
			nr++;
		before = written.file;
	}
	return nr;
}
