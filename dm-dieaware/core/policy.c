// SPDX-License-Identifier: GPL-2.0-only
/*
 * The words for cleaning's policies, apart from what the policies do: table lines and
 * messages need the words also where nothing of cleaning is built, as in their own suites.
 */
#include "policy.h"

static const char * const policy_names[] = {
	[DMDA_POLICY_GREEDY] = "greedy",
	[DMDA_POLICY_COST_BENEFIT] = "cost-benefit",
	[DMDA_POLICY_FILE_AWARE] = "file-aware",
};

bool dmda_policy_parse(const char *word, enum dmda_policy *policy)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(policy_names); i++) {
		if (!strcmp(word, policy_names[i])) {
			*policy = i;
			return true;
		}
	}
	return false;
}

const char *dmda_policy_name(enum dmda_policy policy)
{
	return policy_names[policy];
}
