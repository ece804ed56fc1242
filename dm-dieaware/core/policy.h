/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How cleaning chooses segments, as table lines and messages name it. What each policy means
 * and does is victim.h's.
 */
#ifndef DMDA_POLICY_H
#define DMDA_POLICY_H

#include <dieaware/platform.h>

enum dmda_policy {
	DMDA_POLICY_GREEDY,
	DMDA_POLICY_COST_BENEFIT,
	DMDA_POLICY_FILE_AWARE,
};

/**
 * dmda_policy_parse() - "greedy", "cost-benefit" or "file-aware"
 * Return: false if it is none of the three; *@policy is then unchanged.
 */
bool dmda_policy_parse(const char *word, enum dmda_policy *policy);

/**
 * dmda_policy_name() - the word for a policy
 */
const char *dmda_policy_name(enum dmda_policy policy);

#endif /* DMDA_POLICY_H */
