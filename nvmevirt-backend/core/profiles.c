// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of named drives. docs/nvmevirt-backend.md ("Profiles") names the source of
 * every number; a number that changes here changes there and in profiles_kunit.c.
 */
#include "profiles.h"

#define DECIMAL_GB	1000000000ULL

/* What the host can have in flight on a queue of the nvme driver, and on SATA */
#define NVME_QUEUES	.nr_queues = 16, .queue_depth = 1023
#define SATA_QUEUE	.nr_queues = 1, .queue_depth = 32
/* eMMC 5.0 has no queue; those of UFS and of SD cards of application performance class 2 */
#define EMMC_QUEUE	.nr_queues = 1, .queue_depth = 1
#define CARD_QUEUE	.nr_queues = 1, .queue_depth = 32

/*
 * Flash of Table 2 of the FAST'24 paper, and what is assumed of all drives. A macro,
 * because a preset is a constant and only differs from it in some members.
 */
#define COMMON_BUT_SLC		\
	.reserve_permille = 80,	\
	.nr_page_kinds = 1,	\
	.page_ns = 50,		\
	.bg_eblks = 3,		\
	.bg_mend = true,	\
	.wear_permille = 20,	\
	.share_log_kib = 10240,	\
	.suspend_ns = 100000,	\
	.cell_bits = 3,		\
	.time_scale = 1
#define COMMON_BUT_FIRMWARE	\
	COMMON_BUT_SLC,		\
	.slc_program_ns = 62000,	\
	.slc_read_ns = 18000
#define COMMON_BUT_REGISTER	\
	COMMON_BUT_FIRMWARE,	\
	.cmd_ns = 3000,		\
	.write_ns = 2000
#define COMMON			\
	COMMON_BUT_REGISTER,	\
	.register_hits = true
#define TABLE2_DIE		\
	.planes_per_die = 2,	\
	.unit_pages = 8,	\
	.units_per_eblk = 512,	\
	.program_ns = 185000,	\
	.erase_ns = 3000000,	\
	.channel_mbps = 800
#define TABLE2_FLASH		\
	COMMON,			\
	TABLE2_DIE,		\
	.read_ns = { 36000 }

/* What the drives tlc and modern have in common */
#define TLC_DRIVE		\
	.nr_channels = 8,	\
	.dies_per_channel = 4,	\
	.planes_per_die = 4,	\
	.unit_pages = 16,	\
	.units_per_eblk = 2112,	\
	.read_ns = { 50000 },	\
	.program_ns = 356000,	\
	.erase_ns = 3000000,	\
	.channel_mbps = 2000,	\
	.link_mbps = 7000,	\
	.wbuf_pages = 8192,	\
	.run_units = 256

/* What storage soldered into phones, and cards, have in common: little memory, for map and data */
#define MOBILE			\
	COMMON_BUT_FIRMWARE,	\
	.register_hits = true,	\
	.dies_per_channel = 1,	\
	.planes_per_die = 2,	\
	.unit_pages = 8,	\
	.units_per_eblk = 512,	\
	.erase_ns = 5000000,	\
	.channel_mbps = 400,	\
	.wbuf_pages = 256,	\
	.run_units = 8

/* A write buffer of 16 MiB behind capacitors, half of it for the open units of runs */
#define PLAIN_BUFFER		\
	.wbuf_pages = 4096,	\
	.run_units = 256,	\
	.plp = true
#define PROTECTED_BUFFER	\
	PLAIN_BUFFER,		\
	.hold_ns = 5000000

static const struct ftl_profile profiles[] = {
	{
		.name = "fast24",
		.description = "The emulated drive of the FAST'24 paper, Table 2",
		.capacity_bytes = 60 * DECIMAL_GB,
		NVME_QUEUES,
		.params = {
			COMMON_BUT_REGISTER,
			TABLE2_DIE,
			.read_ns = { 36000 },
			PLAIN_BUFFER,
			.nr_channels = 4,
			.dies_per_channel = 2,
			.link_mbps = 3200,
		},
	}, {
		.name = "nvme-a",
		.description = "NVMe-A of Fig. 8a: unit 32 KiB, stripe 1 MiB",
		.capacity_bytes = 60 * DECIMAL_GB,
		NVME_QUEUES,
		.params = {
			COMMON,
			TABLE2_DIE,
			.read_ns = { 19600 },
			PROTECTED_BUFFER,
			.nr_channels = 8,
			.dies_per_channel = 4,
			.link_mbps = 2600,
		},
	}, {
		.name = "nvme-b",
		.description = "NVMe-B of Fig. 8a: unit 32 KiB, stripe 256 KiB",
		.capacity_bytes = 60 * DECIMAL_GB,
		NVME_QUEUES,
		.params = {
			COMMON,
			TABLE2_DIE,
			.read_ns = { 3400 },
			PROTECTED_BUFFER,
			.nr_channels = 4,
			.dies_per_channel = 2,
			.link_mbps = 3020,
		},
	}, {
		.name = "nvme-c",
		.description = "NVMe-C of Fig. 8c: unit 32 KiB, stripe 576 KiB (584 KB measured)",
		.capacity_bytes = 60 * DECIMAL_GB,
		NVME_QUEUES,
		.params = {
			TABLE2_FLASH,
			PROTECTED_BUFFER,
			.nr_channels = 6,
			.dies_per_channel = 3,
			.link_mbps = 3200,
		},
	}, {
		.name = "nvme-d",
		.description = "NVMe-D of Fig. 8c: unit 32 KiB, stripe 608 KiB (604 KB measured)",
		.capacity_bytes = 60 * DECIMAL_GB,
		NVME_QUEUES,
		.params = {
			TABLE2_FLASH,
			PROTECTED_BUFFER,
			.nr_channels = 19,
			.dies_per_channel = 1,
			.link_mbps = 3200,
		},
	}, {
		.name = "sata-a",
		.description = "SATA-A of Fig. 8b: unit 4 KiB, stripe 32 KiB",
		.capacity_bytes = 60 * DECIMAL_GB,
		SATA_QUEUE,
		.params = {
			COMMON_BUT_FIRMWARE,
			.register_hits = true,
			.nr_channels = 4,
			.dies_per_channel = 2,
			.planes_per_die = 1,
			.unit_pages = 1,
			.units_per_eblk = 4096,
			.read_ns = { 61000 },
			.program_ns = 56000,
			.erase_ns = 3000000,
			.channel_mbps = 800,
			.link_mbps = 560,
			.cmd_ns = 3000,
			.cmd_gap_ns = 10240,
			.write_ns = 17400,
			.wbuf_pages = 2048,
			.run_units = 256,
		},
	}, {
		.name = "sata-b",
		.description = "SATA-B of Fig. 8b: unit 16 KiB, stripe 256 KiB",
		.capacity_bytes = 60 * DECIMAL_GB,
		SATA_QUEUE,
		.params = {
			COMMON,
			.nr_channels = 4,
			.dies_per_channel = 4,
			.planes_per_die = 1,
			.unit_pages = 4,
			.units_per_eblk = 1024,
			.read_ns = { 45000 },
			.program_ns = 185000,
			.erase_ns = 3000000,
			.channel_mbps = 800,
			.link_mbps = 560,
			.cmd_gap_ns = 10240,
			.wbuf_pages = 2048,
			.run_units = 256,
		},
	}, {
		.name = "sata",
		.description = "A SATA drive that takes 90,000 commands a second, 32 at a time",
		.capacity_bytes = 60 * DECIMAL_GB,
		SATA_QUEUE,
		.params = {
			TABLE2_FLASH,
			.nr_channels = 4,
			.dies_per_channel = 2,
			.link_mbps = 560,
			.cmd_gap_ns = 11111,
			.wbuf_pages = 2048,
			.run_units = 128,
		},
	}, {
		.name = "tlc",
		.description = "A PCIe 4.0 client drive with 176-layer TLC flash",
		.capacity_bytes = 120 * DECIMAL_GB,
		NVME_QUEUES,
		.params = {
			COMMON,
			TLC_DRIVE,
		},
	}, {
		.name = "qlc",
		.description = "A PCIe 3.0 client drive with 92-layer QLC flash",
		.capacity_bytes = 120 * DECIMAL_GB,
		NVME_QUEUES,
		.params = {
			COMMON,
			.nr_channels = 8,
			.dies_per_channel = 4,
			.planes_per_die = 2,
			.unit_pages = 8,
			.units_per_eblk = 1472,
			.read_ns = { 110000 },
			.program_ns = 2000000,
			.erase_ns = 10000000,
			.channel_mbps = 1200,
			.link_mbps = 3200,
			.wbuf_pages = 4096,
			.run_units = 256,
		},
	}, {
		.name = "modern",
		.description = "The drive tlc, with dies that read as those of today do",
		.capacity_bytes = 120 * DECIMAL_GB,
		NVME_QUEUES,
		.params = {
			COMMON_BUT_REGISTER,
			TLC_DRIVE,
			.suspend_program = 8,
			.suspend_erase = 8,
			.cache_read = true,
			.plane_read = true,
			.read_ahead_pages = 64,
			.stripe_lead = 8,
			.parity = true,
		},
	}, {
		.name = "dramless",
		.description = "A PCIe 3.0 x2 client drive of 4 dies, without DRAM",
		.capacity_bytes = 120 * DECIMAL_GB,
		NVME_QUEUES,
		.params = {
			COMMON,
			.nr_channels = 4,
			.dies_per_channel = 1,
			.planes_per_die = 2,
			.unit_pages = 8,
			.units_per_eblk = 512,
			.read_ns = { 44800 },
			.program_ns = 146000,
			.erase_ns = 3000000,
			.channel_mbps = 800,
			.link_mbps = 1350,
			.cmd_gap_ns = 10526,
			.wbuf_pages = 512,
			.run_units = 32,
			.map_cache_pages = 8192,
		},
	}, {
		.name = "slc-cache",
		.description = "A PCIe 3.0 client drive whose writes go to SLC first",
		.capacity_bytes = 120 * DECIMAL_GB,
		NVME_QUEUES,
		.params = {
			COMMON_BUT_SLC,
			.register_hits = true,
			.cmd_ns = 3000,
			.write_ns = 2000,
			.nr_channels = 8,
			.dies_per_channel = 4,
			.planes_per_die = 2,
			.unit_pages = 8,
			.units_per_eblk = 768,
			.read_ns = { 50000 },
			.program_ns = 832000,
			.erase_ns = 3000000,
			.channel_mbps = 800,
			.link_mbps = 3400,
			.cmd_gap_ns = 2100,
			.wbuf_pages = 8192,
			.run_units = 256,
			.slc_pages = 6 * DECIMAL_GB / FTL_PAGE_BYTES,
			.slc_program_ns = 378000,
			.slc_read_ns = 18000,
		},
	}, {
		.name = "xpoint",
		.description = "A PCIe 3.0 drive of 3D XPoint, which is written in place",
		.capacity_bytes = 60 * DECIMAL_GB,
		NVME_QUEUES,
		.params = {
			.in_place = true,
			.plp = true,
			.nr_channels = 7,
			.dies_per_channel = 1,
			.planes_per_die = 1,
			.unit_pages = 1,
			.units_per_eblk = 4096,
			.reserve_permille = 80,
			.nr_page_kinds = 1,
			.read_ns = { 3500 },
			.program_ns = 11800,
			.channel_mbps = 2000,
			.link_mbps = 2400,
			.cmd_ns = 2000,
			.cmd_gap_ns = 1818,
			.write_ns = 1000,
			.page_ns = 50,
			.wbuf_pages = 16,
			.run_units = 1,
			.cell_bits = 3,
			.time_scale = 1,
		},
	}, {
		.name = "emmc",
		.description = "eMMC 5.0 of 4 channels, one command at a time",
		.capacity_bytes = 60 * DECIMAL_GB,
		EMMC_QUEUE,
		.params = {
			MOBILE,
			.nr_channels = 4,
			.read_ns = { 75000 },
			.program_ns = 1390000,
			.link_mbps = 355,
			.cmd_ns = 45000,
			.write_ns = 20000,
			.map_cache_pages = 1024,
		},
	}, {
		.name = "ufs",
		.description = "UFS 2.0 of 8 channels",
		.capacity_bytes = 60 * DECIMAL_GB,
		CARD_QUEUE,
		.params = {
			MOBILE,
			.nr_channels = 8,
			.read_ns = { 85000 },
			.program_ns = 1820000,
			.link_mbps = 350,
			.cmd_ns = 20000,
			.write_ns = 30000,
			.cmd_gap_ns = 52632,
			.map_cache_pages = 256,
		},
	}, {
		.name = "microsd",
		.description = "A microSD card, UHS-I, of application performance class 2",
		.capacity_bytes = 30 * DECIMAL_GB,
		CARD_QUEUE,
		.params = {
			MOBILE,
			.nr_channels = 2,
			.read_ns = { 85000 },
			.program_ns = 1000000,
			.link_mbps = 90,
			.cmd_ns = 100000,
			.write_ns = 350000,
			.cmd_gap_ns = 250000,
			.map_cache_pages = 256,
		},
	}, {
		.name = "large",
		.description = "256 dies of Table 2",
		.capacity_bytes = 240 * DECIMAL_GB,
		NVME_QUEUES,
		.params = {
			TABLE2_FLASH,
			.nr_channels = 16,
			.dies_per_channel = 16,
			.link_mbps = 12800,
			.wbuf_pages = 16384,
			.run_units = 1024,
			.plp = true,
		},
	}, {
		.name = "huge",
		.description = "1024 dies of Table 2",
		.capacity_bytes = 960 * DECIMAL_GB,
		NVME_QUEUES,
		.params = {
			TABLE2_FLASH,
			.nr_channels = 32,
			.dies_per_channel = 32,
			.link_mbps = 12800,
			.wbuf_pages = 65536,
			.run_units = 4096,
			.plp = true,
		},
	},
};

const struct ftl_profile *ftl_profile_at(u32 index)
{
	return index < ARRAY_SIZE(profiles) ? &profiles[index] : NULL;
}
