// SPDX-License-Identifier: GPL-2.0-only
/* Like open_image, with checksums of data. */
#define CHECKSUMS	true

#include "open_image.c"
