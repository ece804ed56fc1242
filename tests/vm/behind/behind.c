// SPDX-License-Identifier: GPL-2.0-only
/* Reads behind what it has allocated, for the test that KASAN is awake. */
#include <linux/module.h>
#include <linux/slab.h>

static int __init behind_init(void)
{
	char *memory = kmalloc(10, GFP_KERNEL);

	if (!memory)
		return -ENOMEM;
	/* Or the compiler knows better. */
	OPTIMIZER_HIDE_VAR(memory);
	READ_ONCE(memory[12]);
	kfree(memory);
	return 0;
}

module_init(behind_init);
MODULE_DESCRIPTION("reads behind its memory");
MODULE_LICENSE("GPL");
