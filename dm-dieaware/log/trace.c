// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracepoints of log mode.
 */
#include <dieaware/format.h>

#define CREATE_TRACE_POINTS
#include "trace.h"
