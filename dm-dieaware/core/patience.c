// SPDX-License-Identifier: GPL-2.0-only
#include "patience.h"

u64 dmda_patience_left(const struct dmda_patience *patience)
{
	u64 limit = patience->timeout + (patience->any_empty ? patience->grace : 0);

	return patience->waited < limit ? limit - patience->waited : 0;
}
