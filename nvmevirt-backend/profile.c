// SPDX-License-Identifier: GPL-2.0-only
/*
 * Named presets. Where the numbers come from:
 *
 * - "Table 2" and "Fig. 8" are those of Jun et al., "We Ain't Afraid of No File
 *   Fragmentation: Causes and Prevention of Its Performance Impact on Modern Flash
 *   SSDs", FAST 2024.
 * - Table 2 gives capacity, channels, dies, unit, tR, tPROG and channel speed (800 MB/s).
 *   Its tR of 36 us is the mean of the two page kinds of a word line, 30 and 42 us. The
 *   presets have the mean for every page, as the table does: with two kinds, which of
 *   them a page gets depends on what else was written to its die, and a file's read
 *   time by a few percent on that; read_ns=30000,42000 shows it.
 *   PCIe Gen3 x4 carries about 3200 MB/s of data.
 * - Fig. 8 gives die unit and stripe of four drives on the market. Their chips are
 *   not known, so they get Table 2's latencies; links are set to what each drive
 *   reached there. Capacities are cut to 60 GB so that the FTL's tables fit into the
 *   memory of an ordinary machine; capacity_mib raises them.
 *
 * Assumed everywhere, from data sheets of chips of that age: 3 ms to erase, erase
 * blocks of 16 MiB over both planes (512 units of 32 KiB), 8 % of the flash in
 * reserve. Firmware: 3 us to take a command, 2 us more to put a write into the buffer,
 * 50 ns a page. NVMe drives have a write buffer of 16 MiB behind capacitors, half of
 * it for the open units of runs. SATA drives take at most some 90 thousand commands a
 * second, and their buffer is lost with the power.
 */
#include <linux/string.h>

#include "nvmev.h"

#define DECIMAL_GB	1000000000ULL

/*
 * What all presets share: Table 2. A macro, because a preset is a constant and only
 * differs from it in some members.
 */
#define TABLE2_FLASH			\
	.planes_per_die = 2,		\
	.reserve_permille = 80,		\
	.nr_page_kinds = 1,		\
	.read_ns = { 36000 },		\
	.program_ns = 185000,		\
	.erase_ns = 3000000,		\
	.channel_mbps = 800,		\
	.page_ns = 50,			\
	.time_scale = 1

/**
 * struct profile - a preset
 * @name: as in the attribute
 * @capacity_bytes: size of the namespace
 * @ftl: geometry and latencies
 */
struct profile {
	const char *name;
	u64 capacity_bytes;
	struct ftl_params ftl;
};

static const struct profile profiles[] = {
	{
		/* Table 2 */
		.name = "fast24",
		.capacity_bytes = 60 * DECIMAL_GB,
		.ftl = {
			TABLE2_FLASH,
			.nr_channels = 4,
			.dies_per_channel = 2,
			.unit_pages = 8,
			.units_per_eblk = 512,
			.link_mbps = 3200,
			.cmd_ns = 3000,
			.write_ns = 2000,
			.wbuf_pages = 4096,
			.run_units = 256,
			.plp = true,
		},
	}, {
		/* NVMe-A of Fig. 8a: unit 32 KiB, stripe 1 MiB, 2600 MB/s */
		.name = "nvme-a",
		.capacity_bytes = 60 * DECIMAL_GB,
		.ftl = {
			TABLE2_FLASH,
			.nr_channels = 8,
			.dies_per_channel = 4,
			.unit_pages = 8,
			.units_per_eblk = 512,
			.link_mbps = 2600,
			.cmd_ns = 3000,
			.write_ns = 2000,
			.wbuf_pages = 4096,
			.run_units = 256,
			.plp = true,
		},
	}, {
		/* NVMe-B of Fig. 8a: unit 32 KiB, stripe 256 KiB, 3020 MB/s */
		.name = "nvme-b",
		.capacity_bytes = 60 * DECIMAL_GB,
		.ftl = {
			TABLE2_FLASH,
			.nr_channels = 4,
			.dies_per_channel = 2,
			.unit_pages = 8,
			.units_per_eblk = 512,
			.link_mbps = 3020,
			.cmd_ns = 3000,
			.write_ns = 2000,
			.wbuf_pages = 4096,
			.run_units = 256,
			.plp = true,
		},
	}, {
		/* SATA-A of Fig. 8b: unit 4 KiB, stripe 32 KiB, 400 MB/s */
		.name = "sata-a",
		.capacity_bytes = 60 * DECIMAL_GB,
		.ftl = {
			TABLE2_FLASH,
			.nr_channels = 4,
			.dies_per_channel = 2,
			.unit_pages = 1,
			.units_per_eblk = 4096,
			.link_mbps = 550,
			.cmd_ns = 11000,
			.write_ns = 2000,
			.wbuf_pages = 2048,
			.run_units = 256,
			.plp = false,
		},
	}, {
		/* SATA-B of Fig. 8b: unit 16 KiB, stripe 256 KiB, 400 MB/s */
		.name = "sata",
		.capacity_bytes = 60 * DECIMAL_GB,
		.ftl = {
			TABLE2_FLASH,
			.nr_channels = 4,
			.dies_per_channel = 4,
			.unit_pages = 4,
			.units_per_eblk = 1024,
			.link_mbps = 550,
			.cmd_ns = 11000,
			.write_ns = 2000,
			.wbuf_pages = 2048,
			.run_units = 256,
			.plp = false,
		},
	}, {
		/* None of the paper's: 256 dies, for what only many dies show */
		.name = "large",
		.capacity_bytes = 240 * DECIMAL_GB,
		.ftl = {
			TABLE2_FLASH,
			.nr_channels = 16,
			.dies_per_channel = 16,
			.unit_pages = 8,
			.units_per_eblk = 512,
			.link_mbps = 12800,
			.cmd_ns = 3000,
			.write_ns = 2000,
			.wbuf_pages = 16384,
			.run_units = 1024,
			.plp = true,
		},
	},
};

int nvmev_profile_load(struct nvmev_config *config, const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(profiles); i++) {
		if (!sysfs_streq(name, profiles[i].name))
			continue;
		*config = (struct nvmev_config){
			.profile = profiles[i].name,
			.ftl = profiles[i].ftl,
			.capacity_bytes = profiles[i].capacity_bytes,
			.lba_bytes = 512,
			.queues = NVMEV_MAX_IO_QUEUES,
			.mdts = 8,
			.hints = true,
		};
		return 0;
	}
	return -EINVAL;
}

int nvmev_profile_names(char *buf, size_t bytes)
{
	int len = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(profiles); i++)
		len += scnprintf(buf + len, bytes - len, " %s", profiles[i].name);
	return len;
}
