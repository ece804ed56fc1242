// SPDX-License-Identifier: GPL-2.0-only
/* Warns, for the test that this is a bug on each kernel, whatever its words for it are. */
#include <linux/module.h>

static int __init warns_init(void)
{
	WARN_ON(1);
	return 0;
}

module_init(warns_init);
MODULE_DESCRIPTION("warns");
MODULE_LICENSE("GPL");
