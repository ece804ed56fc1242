// SPDX-License-Identifier: GPL-2.0-only
#include "log.h"

void dmda_log_do_clean(struct work_struct *work)
{
}

void dmda_log_kick_clean(struct dmda_log *log)
{
}
