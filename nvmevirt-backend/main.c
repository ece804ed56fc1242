// SPDX-License-Identifier: GPL-2.0-only
/*
 * nvmevirt-backend: virtual NVMe SSDs whose flash dies can be watched. This file only
 * loads and unloads the module; devices are made through configfs.
 */
#include <linux/module.h>

#include "bell.h"
#include "debugfs.h"
#include "nvmev.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

static int __init nvmev_init(void)
{
	int ret = nvmev_bell_register();

	if (ret == -ENOENT)
		pr_warn("nvmev: this kernel has no block_rq_issue tracepoint; commands will take up to 50 ms.\n");
	else if (ret)
		return ret;
	ret = nvmev_pci_register();
	if (ret)
		goto err_bell;
	nvmev_stats_init();
	ret = nvmev_config_register();
	if (ret)
		goto err_stats;
	return 0;

err_stats:
	nvmev_stats_exit();
	nvmev_pci_unregister();
err_bell:
	nvmev_bell_unregister();
	return ret;
}

static void __exit nvmev_exit(void)
{
	nvmev_config_unregister();
	nvmev_stats_exit();
	nvmev_pci_unregister();
	nvmev_bell_unregister();
}

module_init(nvmev_init);
module_exit(nvmev_exit);
MODULE_DESCRIPTION("Virtual NVMe SSD with a die-aware FTL");
MODULE_LICENSE("GPL");
