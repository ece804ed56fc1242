// SPDX-License-Identifier: GPL-2.0-only
/*
 * A host in small: what hint mode does with the rules of dm-dieaware/core/lanes.h, over a run
 * table that is an array and never forgets by itself.
 */
#include "../../dm-dieaware/core/classify.c"
#include "../../dm-dieaware/core/lanes.c"
#include "lanes_host.h"

#define NR_PAGES	(1U << 18)

struct page {
	u64 file;
	u64 fpage;
	u64 value;
	bool is_moored;
};

static const struct dmda_lanes lanes = { .nr = 8, .unit_pages = 8 };
static struct page pages[NR_PAGES];
static u32 nr_begun;

void host_reset(void)
{
	memset(pages, 0, sizeof(pages));
	nr_begun = 0;
}

void host_forget(void)
{
	for (u32 i = 0; i < NR_PAGES; i++)
		pages[i].is_moored = false;
}

/* The files of this host lie in one piece each. */
static struct dmda_owner owner_of(u64 dpn)
{
	return (struct dmda_owner){ .file = { .id = pages[dpn].file }, .fpage = pages[dpn].fpage,
				    .nr_pages = pages[dpn].file ? 1 : 0 };
}

static struct dmda_berth moored_at(u64 dpn, u32 most)
{
	struct dmda_berth berth = { .first = DMDA_BERTH_NONE };

	if (!pages[dpn].is_moored)
		return berth;
	berth.first = dmda_lanes_berth(&lanes, pages[dpn].value);
	while (berth.nr_pages < most && pages[dpn + berth.nr_pages].is_moored &&
	       pages[dpn + berth.nr_pages].value == pages[dpn].value + berth.nr_pages)
		berth.nr_pages++;
	return berth;
}

static struct dmda_verdict classify(const struct dmda_run *run)
{
	struct dmda_neighbour before = { .dpn = DPN_NONE };
	struct dmda_owner here = owner_of(from_dpn(run->dpn));
	struct dmda_verdict verdict;

	if (run->fpage) {
		before.dpn = to_dpn(from_dpn(run->dpn) - 1);
		before.owner = owner_of(from_dpn(before.dpn));
	}
	dmda_classify(run, &here, &before, run->nr_pages, &verdict);
	return verdict;
}

u32 host_place(u64 file, u64 fpage, u64 dpn, u32 *nr_pages)
{
	struct dmda_run run = { .file = { .id = file }, .fpage = fpage, .dpn = to_dpn(dpn),
				.nr_pages = *nr_pages };
	struct dmda_verdict verdict = classify(&run);
	struct dmda_moorings known = { .here = moored_at(dpn, *nr_pages), .turn = nr_begun,
				       .before = DMDA_BERTH_NONE };
	struct dmda_berth berth;

	if (verdict.pred != DPN_NONE)
		known.before = moored_at(from_dpn(verdict.pred), 1).first;
	nr_begun += dmda_lanes_begins(&verdict);
	berth = dmda_lanes_choose(&lanes, &run, &verdict, &known);
	for (u32 i = 0; i < berth.nr_pages; i++)
		pages[dpn + i] = (struct page){
			.file = file, .fpage = fpage + i, .is_moored = true,
			.value = dmda_lanes_value(&lanes, to_dpn(dpn), berth.first) + i };
	*nr_pages = berth.nr_pages;
	return berth.first / lanes.unit_pages;
}
