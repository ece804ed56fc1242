/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What placement (place.h) tells of its decisions, to those who ask. Nobody has to: then it is not
 * worked out either.
 */
#ifndef FTL_PLACEMENT_H
#define FTL_PLACEMENT_H

#include "ftl.h"

/**
 * enum ftl_rule - rule of placement by which a page has its place: place.h has them
 * @FTL_RULE_STAYS: 1
 * @FTL_RULE_PLAIN: 2
 * @FTL_RULE_JOINS: 3a
 * @FTL_RULE_NEXT_DIE: 3b
 * @FTL_RULE_LANE: 3c
 * @FTL_RULE_BEGINS: 3d
 * @FTL_RULE_OVERWRITE: 4
 * @FTL_RULE_DIE: 4, DIE and ALL_DIE
 * @FTL_RULE_PUT_OUT: 6
 * @FTL_RULE_STRIPE: 7
 * @FTL_NR_RULES: number of rules
 */
enum ftl_rule {
	FTL_RULE_STAYS,
	FTL_RULE_PLAIN,
	FTL_RULE_JOINS,
	FTL_RULE_NEXT_DIE,
	FTL_RULE_LANE,
	FTL_RULE_BEGINS,
	FTL_RULE_OVERWRITE,
	FTL_RULE_DIE,
	FTL_RULE_PUT_OUT,
	FTL_RULE_STRIPE,
	FTL_NR_RULES,
};

/**
 * struct ftl_where - where a page or run is, or was before a decision
 * @die: die that it is on, DIE_NONE if it is nowhere
 * @unit: flash unit or open unit, as ftl_unit_of() numbers them
 * @slot: slot in the unit
 * @nr_filled: number of slots of an open unit that are in use, 0 on NAND
 */
struct ftl_where {
	die_t die;
	u64 unit;
	u32 slot;
	u32 nr_filled;
};

/**
 * struct ftl_placement - a decision on where pages go
 * @lpn: first of the pages, LPN_NONE with FTL_RULE_PUT_OUT and FTL_RULE_STRIPE
 * @nr_pages: number of pages, which have consecutive slots of one open unit, or those of a run that
 *	is put out or of a unit that goes to another die
 * @hint: hint that was obeyed
 * @rule: rule by which they go there
 * @pred: page that the first one follows, or LPN_NONE
 * @pred_at: where that one was
 * @before: where the first page was, or the run, or the unit
 * @after: where it is now, nowhere with FTL_RULE_PUT_OUT
 * @wanted: die on which a unit was to be opened, DIE_NONE if none was; rule 5 if it is another;
 *	die that was too far ahead with FTL_RULE_STRIPE
 * @is_levelled: whether they have left their die because it is worn
 */
struct ftl_placement {
	lpn_t lpn;
	u32 nr_pages;
	enum ftl_hint hint;
	enum ftl_rule rule;
	lpn_t pred;
	struct ftl_where pred_at;
	struct ftl_where before;
	struct ftl_where after;
	die_t wanted;
	bool is_levelled;
};

typedef void (*ftl_tell_fn)(void *context, const struct ftl_placement *placement);

/**
 * ftl_tell_placements() - say what placement decides from now on
 * @tell: told of each decision when it is carried out, and must not change the drive; NULL: nobody
 * @context: first argument of @tell
 */
void ftl_tell_placements(struct ftl *ftl, ftl_tell_fn tell, void *context);

/**
 * ftl_rule_name() - number of a rule as in place.h, such as 3a
 */
const char *ftl_rule_name(enum ftl_rule rule);

#endif /* FTL_PLACEMENT_H */
