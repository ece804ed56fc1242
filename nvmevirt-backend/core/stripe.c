// SPDX-License-Identifier: GPL-2.0-only
/*
 * How far the dies have come. Dies are in lists by their next stripe, so that to find the slowest
 * one is no search, and a stripe is complete when its list is empty: a unit costs a step from one
 * list to the next however many dies there are.
 */
#include "stripe.h"

size_t ftl_stripes_bytes(const struct ftl_params *params)
{
	size_t nr_dies = (size_t)params->nr_channels * params->dies_per_channel;

	return params->stripe_lead ? array_size(nr_dies, sizeof(struct ftl_stripe_die)) : 0;
}

/* A die has nothing to take in a stripe of which it has the parity. */
static void move_on(struct ftl_stripes *stripes, struct ftl_stripe_die *die)
{
	die->next++;
	if (stripes->has_parity && die->next == die->parity) {
		die->parity += stripes->geo->nr_dies;
		die->next++;
	}
	list_move_tail(&die->link, &stripes->at[die->next % FTL_STRIPE_SLOTS]);
}

void ftl_stripes_init(struct ftl_stripes *stripes, const struct ftl_params *params,
		      void *zeroed)
{
	stripes->lead = params->stripe_lead;
	stripes->has_parity = params->parity;
	stripes->die = zeroed;
	for (u32 i = 0; i < FTL_STRIPE_SLOTS; i++)
		INIT_LIST_HEAD(&stripes->at[i]);
	if (!stripes->lead)
		return;
	stripes->credit = ftl_stripes_most_credit(stripes);
	for (u32 i = 0; i < stripes->geo->nr_dies; i++) {
		stripes->die[i].parity = i;
		list_add_tail(&stripes->die[i].link, &stripes->at[0]);
	}
	if (stripes->has_parity) {
		stripes->die[0].parity = stripes->geo->nr_dies;
		move_on(stripes, &stripes->die[0]);
	}
}

void ftl_stripes_pass(struct ftl_stripes *stripes, die_t die)
{
	move_on(stripes, &stripes->die[from_die(die)]);
	while (list_empty(ftl_stripes_at(stripes, 0)))
		stripes->first++;
}

u32 ftl_stripes_most_credit(const struct ftl_stripes *stripes)
{
	return FTL_STRIPE_PAD_SHARE * FTL_STRIPE_PAD_BURST * stripes->geo->nr_dies;
}

void ftl_stripes_earn(struct ftl_stripes *stripes)
{
	if (stripes->credit < ftl_stripes_most_credit(stripes))
		stripes->credit++;
}

bool ftl_stripes_spend(struct ftl_stripes *stripes)
{
	if (stripes->credit < FTL_STRIPE_PAD_SHARE)
		return false;
	stripes->credit -= FTL_STRIPE_PAD_SHARE;
	return true;
}

die_t ftl_stripes_next_parity(struct ftl_stripes *stripes)
{
	die_t die = stripes->parity_die;

	if (!stripes->has_parity || stripes->nr_parity == stripes->first)
		return DIE_NONE;
	stripes->nr_parity++;
	stripes->parity_die = ftl_next_die(stripes->geo, die);
	return die;
}

/* The first stripe from @next on of which the die has the parity. */
static u64 next_parity(const struct ftl_stripes *stripes, u32 die, u64 next)
{
	u32 nr_dies = stripes->geo->nr_dies;
	u32 rest;

	div_u64_rem(next, nr_dies, &rest);
	return next + (die >= rest ? die - rest : nr_dies - rest + die);
}

bool ftl_stripes_put(struct ftl_stripes *stripes, die_t die_nr, u32 ahead)
{
	struct ftl_stripe_die *die = &stripes->die[from_die(die_nr)];
	u32 rest;

	if (ahead > stripes->lead + stripes->has_parity)
		return false;
	div_u64_rem(stripes->first, stripes->geo->nr_dies, &rest);
	stripes->nr_parity = stripes->first;
	stripes->parity_die = to_die(rest);
	die->next = stripes->first + ahead;
	die->parity = next_parity(stripes, from_die(die_nr), die->next);
	list_move_tail(&die->link, ftl_stripes_at(stripes, ahead));
	return true;
}

static const char *check_stripe_die(const struct ftl_stripes *stripes, u32 nr)
{
	const struct ftl_stripe_die *die = &stripes->die[nr];
	const struct ftl_stripe_die *other;
	bool is_listed = false;

	if (die->next - stripes->first > stripes->lead + stripes->has_parity)
		return "A die is ahead of the others by more stripes than may be open.";
	if (stripes->has_parity && (die->parity == die->next ||
				    die->parity != next_parity(stripes, nr, die->next)))
		return "A die is to take a unit where its stripe's parity belongs.";
	list_for_each_entry(other, &stripes->at[die->next % FTL_STRIPE_SLOTS], link)
		is_listed |= other == die;
	return is_listed ? NULL : "A die is not among those that have come as far.";
}

const char *ftl_stripes_check(const struct ftl_stripes *stripes)
{
	const char *reason = NULL;

	if (list_empty(&stripes->at[stripes->first % FTL_STRIPE_SLOTS]))
		return "The oldest open stripe waits for no die.";
	if (stripes->has_parity && stripes->nr_parity != stripes->first)
		return "A stripe is complete and has no parity.";
	for (u32 i = 0; !reason && i < stripes->geo->nr_dies; i++)
		reason = check_stripe_die(stripes, i);
	return reason;
}
