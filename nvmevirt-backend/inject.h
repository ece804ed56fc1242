/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Errors on request: what a failing drive does, at LBAs and times that a test chooses.
 */
#ifndef NVMEV_INJECT_H
#define NVMEV_INJECT_H

#include <linux/fs.h>
#include <linux/mutex.h>

#define NVMEV_MAX_FAULTS	16
#define NVMEV_SPARE_IS_TRUE	0xff

struct nvmev;
struct nvmev_cmd;

/**
 * enum nvmev_fault_kind - what happens to a command that touches the fault's LBAs
 * @NVMEV_FAULT_NONE: this entry is free
 * @NVMEV_FAULT_READ: reads fail with Unrecovered Read Error; writing an LBA heals it
 * @NVMEV_FAULT_WRITE: writes fail with Write Fault and change nothing
 * @NVMEV_FAULT_DELAY: reads and writes complete @amount milliseconds later
 * @NVMEV_FAULT_DROP: reads and writes are never completed, for @amount commands
 * @NVMEV_FAULT_MISREAD: reads succeed with the data of other LBAs, for @amount commands
 */
enum nvmev_fault_kind {
	NVMEV_FAULT_NONE,
	NVMEV_FAULT_READ,
	NVMEV_FAULT_WRITE,
	NVMEV_FAULT_DELAY,
	NVMEV_FAULT_DROP,
	NVMEV_FAULT_MISREAD,
};

/**
 * struct nvmev_fault - a range of LBAs with something wrong
 * @kind: enum nvmev_fault_kind
 * @nsid: number of the namespace of the LBAs
 * @first: first LBA
 * @end: LBA after the last one
 * @amount: number whose meaning depends on @kind, see enum nvmev_fault_kind
 */
struct nvmev_fault {
	enum nvmev_fault_kind kind;
	u32 nsid;
	u64 first;
	u64 end;
	u64 amount;
};

/**
 * struct nvmev_inject - faults of an SSD that were asked for
 * @lock: protects @faults
 * @faults: ranges of LBAs with a fault
 * @nr_faults: entries in use; read without the lock to see that there is nothing to do
 * @fatal: whether the dispatcher is to report a fatal status
 * @check_health: whether the dispatcher is to look for health events
 * @temperature: composite temperature in kelvin
 * @spare: available spare in percent, or NVMEV_SPARE_IS_TRUE
 * @fdp_is_off: whether Flexible Data Placement is disabled
 * @admin_ms: admin commands that succeed complete so many milliseconds later
 */
struct nvmev_inject {
	struct mutex lock; /* protects @faults */
	struct nvmev_fault faults[NVMEV_MAX_FAULTS];
	u32 nr_faults;
	bool fatal;
	bool check_health;
	u16 temperature;
	u8 spare;
	bool fdp_is_off;
	u32 admin_ms;
};

/**
 * nvmev_inject_init() - nothing is wrong
 * @inject: to fill
 */
void nvmev_inject_init(struct nvmev_inject *inject);

/**
 * nvmev_inject_apply() - let happen to a command what was asked for
 * @nvmev: the SSD
 * @cmd: started without an error; may get a status or another @due_ns
 */
void nvmev_inject_apply(struct nvmev *nvmev, struct nvmev_cmd *cmd);

/**
 * nvmev_inject_read() - would a read of these LBAs fail?
 * @nvmev: the SSD
 * @cmd: command that reads them; gets @fault_lba
 * @slba: first LBA
 * @nr_lbas: number of LBAs
 *
 * Return: an NVMe status.
 */
u16 nvmev_inject_read(struct nvmev *nvmev, struct nvmev_cmd *cmd, u64 slba, u64 nr_lbas);

/**
 * nvmev_inject_write() - would a write of these LBAs fail?
 * @nvmev: the SSD
 * @cmd: command that writes them; gets @fault_lba
 * @slba: first LBA
 * @nr_lbas: number of LBAs
 *
 * Return: an NVMe status.
 */
u16 nvmev_inject_write(struct nvmev *nvmev, struct nvmev_cmd *cmd, u64 slba, u64 nr_lbas);

/**
 * nvmev_inject_written() - LBAs were written, and can be read
 * @nvmev: the SSD
 * @cmd: command that has written them
 * @slba: first LBA
 * @nr_lbas: number of LBAs
 */
void nvmev_inject_written(struct nvmev *nvmev, const struct nvmev_cmd *cmd, u64 slba,
			  u64 nr_lbas);

/* The file `inject` in debugfs. */
extern const struct file_operations nvmev_inject_fops;

#endif /* NVMEV_INJECT_H */
