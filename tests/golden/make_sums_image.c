// SPDX-License-Identifier: GPL-2.0-only
/* Like make_image, with checksums of data. */
#define CHECKSUMS	true

#include "make_image.c"
