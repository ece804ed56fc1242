// SPDX-License-Identifier: GPL-2.0-only
/* Like make_image, with segments whose summaries have two pages. */
#define SEGMENT_PAGES	256
#define DISK_PAGES	11600
#define MAP_PAGES	12

#include "make_image.c"
