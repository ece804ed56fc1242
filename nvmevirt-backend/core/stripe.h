/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stripes: how far one die may go ahead of the others.
 *
 * A drive with parity across dies programs the units of the host in stripes, one on each die:
 * the nth unit that a die gets is in the nth stripe. A stripe is open from its first unit on
 * until every die has come past it, and takes a buffer for its parity meanwhile, so few can
 * be open.
 *
 *	stripe     4   5   6   7            at most 3 are open: 4, 5 and 6
 *	die 0      a   b   c   -            takes no unit until stripe 4 is complete
 *	die 1      d   .                    takes the next one of stripe 5
 *	die 2      .                        the slowest
 *	die 3      e   f   .
 *
 * What becomes of a unit for die 0 is rule 7 of place.h. A die that has no room (rule 5) does
 * not hold up the others: when one has to wait for it, it is passed over, and has no unit in
 * that stripe.
 *
 * With parity one place of each stripe is its parity's, on die (stripe mod dies). That die comes
 * past the stripe without a unit; the parity is programmed as soon as all dies have.
 * It is a unit without pages, dead from the beginning like a draft: collection makes room of
 * it, and a start after a power failure finds nothing in it.
 *
 * Only what the host has written is in stripes, and only when it is programmed. What collection
 * moves stays on its die and goes at that die's own pace, and so do drafts (draft.h). After a
 * power failure a new stripe begins on all dies.
 */
#ifndef FTL_STRIPE_H
#define FTL_STRIPE_H

#include "geometry.h"

/* A power of two that is more than the most stripes between two dies */
#define FTL_STRIPE_SLOTS	128U

/* For so many units of the host there may be one of padding, */
#define FTL_STRIPE_PAD_SHARE	4U
/* and so many for each die at once. */
#define FTL_STRIPE_PAD_BURST	4U

/**
 * struct ftl_stripe_die - how far a die has come
 * @link: link in the list of dies that have come as far, in the order in which they have
 * @next: stripe of its next unit
 * @parity: first stripe from @next on of which it has the parity
 */
struct ftl_stripe_die {
	struct list_head link;
	u64 next;
	u64 parity;
};

/**
 * struct ftl_stripes - stripes of a drive
 * @geo: sizes of the drive
 * @lead: most stripes that are open; 0: there are no stripes
 * @has_parity: whether a stripe has parity
 * @first: oldest open stripe
 * @nr_parity: stripes whose parity was handed out, [0, @first]
 * @parity_die: die of the next one's parity
 * @die: dies
 * @at: lists of dies by @next of them, modulo FTL_STRIPE_SLOTS
 * @credit: programs of padding that may be, in parts of FTL_STRIPE_PAD_SHARE
 */
struct ftl_stripes {
	const struct ftl_geometry *geo;
	u32 lead;
	bool has_parity;
	u64 first;
	u64 nr_parity;
	die_t parity_die;
	struct ftl_stripe_die *die;
	struct list_head at[FTL_STRIPE_SLOTS];
	u32 credit;
};

/**
 * ftl_stripes_bytes() - memory of the stripes
 */
size_t ftl_stripes_bytes(const struct ftl_params *params);

/**
 * ftl_stripes_init() - all dies begin with the first stripe
 * @stripes: @geo is set
 * @zeroed: ftl_stripes_bytes() bytes
 */
void ftl_stripes_init(struct ftl_stripes *stripes, const struct ftl_params *params,
		      void *zeroed);

/**
 * ftl_stripes_pass() - a die comes past its next stripe, with a unit or without
 */
void ftl_stripes_pass(struct ftl_stripes *stripes, die_t die);

/**
 * ftl_stripes_earn() - a unit of the host was programmed, which is a part of one of padding
 */
void ftl_stripes_earn(struct ftl_stripes *stripes);

/**
 * ftl_stripes_spend() - program a unit of padding, if that may be
 */
bool ftl_stripes_spend(struct ftl_stripes *stripes);

/**
 * ftl_stripes_most_credit() - most that @credit can be
 */
u32 ftl_stripes_most_credit(const struct ftl_stripes *stripes);

/**
 * ftl_stripes_next_parity() - hand out the parity of a stripe that all dies have come past
 * Return: its die, or DIE_NONE if there is none.
 */
die_t ftl_stripes_next_parity(struct ftl_stripes *stripes);

/**
 * ftl_stripes_put() - put a die where it was when the drive was kept in a file
 * @ahead: stripes by which it was ahead of @first
 *
 * To be called for all dies, those that are as far in their order, once @first is set.
 *
 * Return: false if it cannot have been there.
 */
bool ftl_stripes_put(struct ftl_stripes *stripes, die_t die, u32 ahead);

/**
 * ftl_stripes_check() - are the stripes consistent?
 * Return: NULL, or a sentence that says what is wrong.
 */
const char *ftl_stripes_check(const struct ftl_stripes *stripes);

/* The dies that are so many stripes ahead of the slowest ones. */
static inline struct list_head *ftl_stripes_at(struct ftl_stripes *stripes, u32 ahead)
{
	return &stripes->at[(stripes->first + ahead) % FTL_STRIPE_SLOTS];
}

/* May the die take a unit? */
static inline bool ftl_stripes_admit(const struct ftl_stripes *stripes, die_t die)
{
	return !stripes->lead ||
		stripes->die[from_die(die)].next - stripes->first < stripes->lead;
}

/* Of the dies that all others wait for, the one that got there first. */
static inline die_t ftl_stripes_slowest(struct ftl_stripes *stripes)
{
	const struct ftl_stripe_die *die = list_first_entry(ftl_stripes_at(stripes, 0),
							    struct ftl_stripe_die, link);

	return to_die(die - stripes->die);
}

#endif /* FTL_STRIPE_H */
