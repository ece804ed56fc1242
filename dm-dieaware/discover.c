// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asking an NVMe device whether it understands hints, and how its dies are laid out.
 *
 * The admin queue can be reached from a block device only through the driver's ioctl
 * for users, which wants its data in a user's memory. So the task that constructs or
 * resumes the target lends two pages of its address space for as long as that takes; after
 * a resume, to a worker. It is privileged: nobody else may load a table.
 */
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/nvme.h>
#include <linux/nvme_ioctl.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <dieaware/hint.h>

#include "dieaware.h"
#include "discover.h"

#define ADMIN_TIMEOUT_MS	5000

/* The lent memory: a command, and behind it the page that the device fills */
#define LENT_BYTES		(2 * PAGE_SIZE)

/**
 * struct admin - one admin command at a time through lent memory
 * @bdev: the whole disk
 * @lent: address of the memory in the current task
 */
struct admin {
	struct block_device *bdev;
	unsigned long lent;
};

static bool admin_open(struct admin *admin, struct block_device *bdev)
{
	admin->bdev = bdev->bd_disk->part0;
	if (!current->mm)
		return false;
	admin->lent = vm_mmap(NULL, 0, LENT_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, 0);
	return !IS_ERR_VALUE(admin->lent);
}

static void admin_close(struct admin *admin)
{
	vm_munmap(admin->lent, LENT_BYTES);
}

static int disk_ioctl(struct block_device *bdev, unsigned int cmd, unsigned long arg)
{
	const struct block_device_operations *fops = bdev->bd_disk->fops;

	return fops->ioctl ? fops->ioctl(bdev, DMDA_MODE_WRITE, cmd, arg) : -ENOTTY;
}

/* Return: false as well if that cannot be said now, as of a head without a path. */
static bool is_something_else(struct block_device *bdev)
{
	return strncmp(bdev->bd_disk->disk_name, "nvme", 4) ||
	       disk_ioctl(bdev->bd_disk->part0, NVME_IOCTL_ID, 0) == -ENOTTY;
}

/* Run a command that fetches data, and copy @size bytes from @offset of it */
static bool admin_fetch(struct admin *admin, struct nvme_passthru_cmd *cmd,
			void *buf, size_t offset, size_t size)
{
	void __user *page = (void __user *)(admin->lent + PAGE_SIZE);
	void __user *cmd_page = (void __user *)admin->lent;

	cmd->addr = (__u64)(unsigned long)page;
	cmd->timeout_ms = ADMIN_TIMEOUT_MS;
	return !copy_to_user(cmd_page, cmd, sizeof(*cmd)) &&
	       !disk_ioctl(admin->bdev, NVME_IOCTL_ADMIN_CMD, admin->lent) &&
	       !copy_from_user(buf, page + offset, size);
}

static bool fetch_id(struct admin *admin, struct dieaware_id *id)
{
	struct nvme_passthru_cmd cmd = {
		.opcode = nvme_admin_identify,
		.data_len = NVME_IDENTIFY_DATA_SIZE,
		.cdw10 = NVME_ID_CNS_CTRL,
	};

	return admin_fetch(admin, &cmd, id, DIEAWARE_ID_OFFSET, sizeof(*id));
}

static bool fetch_geometry(struct admin *admin, u8 log_page,
			   struct dieaware_log_geometry *geometry)
{
	struct nvme_passthru_cmd cmd = {
		.opcode = nvme_admin_get_log_page,
		.nsid = NVME_NSID_ALL,
		.data_len = sizeof(*geometry),
		.cdw10 = log_page | ((sizeof(*geometry) / sizeof(u32) - 1) << 16),
	};

	return admin_fetch(admin, &cmd, geometry, 0, sizeof(*geometry));
}

static bool announces(const struct dieaware_id *id, u16 features)
{
	return !memcmp(id->magic, DIEAWARE_ID_MAGIC, sizeof(id->magic)) &&
	       le16_to_cpu(id->version) == DIEAWARE_HINT_VERSION &&
	       (le16_to_cpu(id->features) & features) == features;
}

/* Numbers that make no sense are no geometry; hints do not need one */
static void take_geometry(const struct dieaware_log_geometry *geometry,
			  struct dmda_discovery *discovery)
{
	u32 unit_bytes = le32_to_cpu(geometry->die_unit_bytes);
	u64 stripe_bytes = le64_to_cpu(geometry->stripe_bytes);

	if (!unit_bytes || unit_bytes % PAGE_SIZE || !stripe_bytes || stripe_bytes > U32_MAX ||
	    (u32)stripe_bytes % unit_bytes)
		return;
	discovery->die_unit_bytes = unit_bytes;
	discovery->stripe_bytes = stripe_bytes;
}

static void discover(struct block_device *bdev, struct dmda_discovery *discovery)
{
	const u16 both = DIEAWARE_FEATURE_APPEND | DIEAWARE_FEATURE_OVERWRITE;
	struct dieaware_log_geometry geometry;
	struct dieaware_id id;
	struct admin admin;

	*discovery = (struct dmda_discovery){ .state = DMDA_STATE_NO_ANSWER };
	if (is_something_else(bdev)) {
		discovery->state = DMDA_STATE_NOT_NVME;
		return;
	}
	if (!admin_open(&admin, bdev))
		return;
	if (fetch_id(&admin, &id)) {
		discovery->state = announces(&id, both) ? DMDA_STATE_ON : DMDA_STATE_NOT_ANNOUNCED;
		discovery->knows_begin = announces(&id, both | DIEAWARE_FEATURE_BEGIN);
		if (discovery->state == DMDA_STATE_ON &&
		    fetch_geometry(&admin, id.log_geometry, &geometry))
			take_geometry(&geometry, discovery);
	}
	admin_close(&admin);
}

void dmda_discover(struct block_device *bdev, struct dmda_discovery *discovery)
{
	/*
	 * While a table is loaded, or a message comes, the dm device may be suspended. Memory,
	 * also that of the task's page faults, must not wait for a filesystem on it.
	 */
	unsigned int noio = memalloc_noio_save();

	discover(bdev, discovery);
	memalloc_noio_restore(noio);
}
