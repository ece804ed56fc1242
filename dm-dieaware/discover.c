// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asking an NVMe device whether it understands hints, how its dies are laid out, and which of its
 * write streams are lanes, or for kinds of data; by passthru.c, in the memory of the task that
 * constructs or resumes the target.
 */
#include <linux/nvme.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <dieaware/hint.h>
#include <dieaware/vendor.h>

#include "core/fdp.h"
#include "core/namespace.h"
#include "dieaware.h"
#include "discover.h"
#include "passthru.h"

/* Flexible Data Placement, of which the kernel's headers have names from 6.16 on */
#define FEATURE_FDP		0x1d
#define FDP_ENABLED		BIT(0)
#define FDP_INDEX(result)	(((result) >> 8) & 0xff)
#define LOG_FDP_CONFIGS		0x20
#define IO_MGMT_RECEIVE		0x12
#define IO_MGMT_STATUS		0x01
#define FDP_BYTES		4096

/* Identify Namespace says what is preferred: newer versions have two bits for it */
#define NSFEAT_OPTPERF		(BIT(4) | BIT(5))

/* Return: false as well if that cannot be said now, as of a head without a path. */
static bool is_something_else(struct block_device *bdev)
{
	return dmda_passthru_nsid(bdev) == -ENOTTY;
}

static bool admin_fetch(struct dmda_passthru *admin, struct nvme_passthru_cmd *cmd,
			void *buf, size_t offset, size_t size)
{
	return !dmda_passthru_run(admin, NVME_IOCTL_ADMIN_CMD, cmd) &&
	       dmda_passthru_take(admin, buf, offset, size);
}

static bool fetch_id(struct dmda_passthru *admin, struct dieaware_id *id)
{
	struct nvme_passthru_cmd cmd = {
		.opcode = nvme_admin_identify,
		.data_len = NVME_IDENTIFY_DATA_SIZE,
		.cdw10 = NVME_ID_CNS_CTRL,
	};

	return admin_fetch(admin, &cmd, id, DIEAWARE_ID_OFFSET, sizeof(*id));
}

static bool fetch_geometry(struct dmda_passthru *admin, u8 log_page,
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

	if (!unit_bytes || unit_bytes % BIT(DMDA_PAGE_SHIFT) || !stripe_bytes ||
	    stripe_bytes > U32_MAX || (u32)stripe_bytes % unit_bytes)
		return;
	discovery->die_unit_bytes = unit_bytes;
	discovery->stripe_bytes = stripe_bytes;
	discovery->open_pages = min_t(u64, (u64)le32_to_cpu(geometry->open_units) *
				      (unit_bytes >> DMDA_PAGE_SHIFT), U32_MAX);
}

/* Return: Identify Namespace, for kfree(); NULL if that is not known. */
static struct nvme_id_ns *fetch_namespace(struct dmda_passthru *admin)
{
	int nsid = dmda_passthru_nsid(admin->bdev);
	struct nvme_passthru_cmd cmd = {
		.opcode = nvme_admin_identify,
		.nsid = nsid,
		.data_len = NVME_IDENTIFY_DATA_SIZE,
		.cdw10 = NVME_ID_CNS_NS,
	};
	struct nvme_id_ns *ns = kzalloc(NVME_IDENTIFY_DATA_SIZE, GFP_KERNEL);

	if (ns && nsid > 0 && admin_fetch(admin, &cmd, ns, 0, NVME_IDENTIFY_DATA_SIZE))
		return ns;
	kfree(ns);
	return NULL;
}

/* What goes to a die at a time is what the namespace names as its optimal write size. */
static void take_unit(const struct dmda_passthru *admin, const struct nvme_id_ns *ns,
		      struct dmda_fdp *fdp)
{
	if (ns->nsfeat & NSFEAT_OPTPERF)
		fdp->unit_bytes = (u64)(le16_to_cpu(ns->nows) + 1) *
				  bdev_logical_block_size(admin->bdev);
}

static bool fetch_groups(struct dmda_passthru *admin, u16 group, void *page, struct dmda_fdp *fdp)
{
	struct nvme_passthru_cmd feature = {
		.opcode = nvme_admin_get_features,
		.cdw10 = FEATURE_FDP,
		.cdw11 = group,
	};
	struct nvme_passthru_cmd log = {
		.opcode = nvme_admin_get_log_page,
		.data_len = FDP_BYTES,
		.cdw10 = LOG_FDP_CONFIGS | (FDP_BYTES / sizeof(u32) - 1) << 16,
		.cdw11 = (u32)group << 16,
	};

	return !dmda_passthru_run(admin, NVME_IOCTL_ADMIN_CMD, &feature) &&
	       (feature.result & FDP_ENABLED) &&
	       admin_fetch(admin, &log, page, 0, FDP_BYTES) &&
	       dmda_fdp_read_config(page, FDP_BYTES, FDP_INDEX(feature.result), fdp);
}

static bool fetch_pids(struct dmda_passthru *admin, u32 nsid, void *page, struct dmda_fdp *fdp)
{
	struct nvme_passthru_cmd cmd = {
		.opcode = IO_MGMT_RECEIVE,
		.nsid = nsid,
		.data_len = FDP_BYTES,
		.cdw10 = IO_MGMT_STATUS,
		.cdw11 = FDP_BYTES / sizeof(u32) - 1,
	};

	return !dmda_passthru_run(admin, NVME_IOCTL_IO_CMD, &cmd) &&
	       dmda_passthru_take(admin, page, 0, FDP_BYTES) &&
	       dmda_fdp_read_status(page, FDP_BYTES, fdp);
}

/* Returns false if the device has not answered, or not in a way that makes sense. */
static bool fetch_fdp(struct dmda_passthru *admin, const struct nvme_id_ns *ns,
		      struct dmda_fdp *fdp)
{
	int nsid = dmda_passthru_nsid(admin->bdev);
	void *page = kzalloc(FDP_BYTES, GFP_KERNEL);
	bool is_known;

	take_unit(admin, ns, fdp);
	is_known = page && nsid > 0 &&
		   fetch_groups(admin, le16_to_cpu(ns->endgid), page, fdp) &&
		   fetch_pids(admin, nsid, page, fdp);
	kfree(page);
	return is_known;
}

/* NULL, or why there are no lanes */
static const char *find_lanes(const struct dmda *dmda, struct dmda_fdp *fdp,
			      enum dmda_hints_mode hints, struct dmda_discovery *discovery)
{
	const char *wrong;

	if (dmda->config.fdp_unit_kb)
		fdp->unit_bytes = (u64)dmda->config.fdp_unit_kb << 10;
	wrong = dmda_fdp_lanes(fdp, hints == DMDA_HINTS_FDP, &discovery->lanes,
			       discovery->stream);
	if (wrong)
		return wrong;
	discovery->die_unit_bytes = fdp->unit_bytes;
	discovery->stripe_bytes = fdp->unit_bytes * discovery->lanes.nr;
	discovery->state = DMDA_STATE_STREAMS;
	return NULL;
}

/* NULL, or why kinds of data have no streams */
static const char *find_lifetimes(const struct dmda_fdp *fdp, enum dmda_hints_mode hints,
				  struct dmda_discovery *discovery)
{
	const char *wrong = dmda_fdp_handles(fdp, hints == DMDA_HINTS_FDP, discovery->lifetime);

	if (!wrong)
		discovery->state = DMDA_STATE_LIFETIMES;
	return wrong;
}

/* Lanes are for a mode in which device pages stay where they are. NULL, or why there are none. */
static const char *find_streams(const struct dmda *dmda, struct dmda_passthru *admin,
				const struct nvme_id_ns *ns, enum dmda_hints_mode hints,
				struct dmda_discovery *discovery)
{
	struct dmda_fdp fdp = { .max_streams = dmda_max_write_streams(admin->bdev) };

	if (DMDA_NO_WRITE_STREAMS)
		return DMDA_NO_WRITE_STREAMS;
	/* Who has no streams is not asked: it may know nothing of the commands. */
	if (fdp.max_streams && !(ns && fetch_fdp(admin, ns, &fdp)))
		return "The device does not tell its placement identifiers.";
	return dmda->config.mode == DMDA_MODE_HINT ? find_lanes(dmda, &fdp, hints, discovery) :
						     find_lifetimes(&fdp, hints, discovery);
}

static bool may_be_streams(enum dmda_hints_mode hints, const struct dmda_discovery *discovery)
{
	return hints == DMDA_HINTS_FDP ||
	       (hints == DMDA_HINTS_AUTO && discovery->state == DMDA_STATE_NOT_ANNOUNCED);
}

static void discover_streams(const struct dmda *dmda, struct dmda_passthru *admin,
			     const struct nvme_id_ns *ns, enum dmda_hints_mode hints,
			     struct dmda_discovery *discovery)
{
	discovery->why = find_streams(dmda, admin, ns, hints, discovery);
	if (discovery->why && hints == DMDA_HINTS_FDP)
		discovery->state = DMDA_STATE_NO_STREAMS;
}

static void discover_hints(struct dmda_passthru *admin, struct dmda_discovery *discovery)
{
	const u16 both = DIEAWARE_FEATURE_APPEND | DIEAWARE_FEATURE_OVERWRITE;
	struct dieaware_log_geometry geometry;
	struct dieaware_id id;

	if (!fetch_id(admin, &id))
		return;
	discovery->state = announces(&id, both) ? DMDA_STATE_ON : DMDA_STATE_NOT_ANNOUNCED;
	discovery->knows_begin = announces(&id, both | DIEAWARE_FEATURE_BEGIN);
	discovery->knows_share = announces(&id, both | DIEAWARE_FEATURE_SHARE);
	if (discovery->state == DMDA_STATE_ON && fetch_geometry(admin, id.log_geometry, &geometry))
		take_geometry(&geometry, discovery);
}

static void ask(const struct dmda *dmda, struct dmda_passthru *admin, enum dmda_hints_mode hints,
		struct dmda_discovery *discovery)
{
	struct nvme_id_ns *ns = fetch_namespace(admin);

	discovery->has_metadata = ns && dmda_namespace_has_metadata((const u8 *)ns);
	discover_hints(admin, discovery);
	if (may_be_streams(hints, discovery))
		discover_streams(dmda, admin, ns, hints, discovery);
	kfree(ns);
}

static void discover(const struct dmda *dmda, enum dmda_hints_mode hints,
		     struct dmda_discovery *discovery)
{
	struct block_device *bdev = dmda->dev->bdev;
	struct dmda_passthru admin;

	*discovery = (struct dmda_discovery){ .state = DMDA_STATE_NO_ANSWER };
	discovery->why = "The device could not be asked.";
	if (is_something_else(bdev)) {
		discovery->state = DMDA_STATE_NOT_NVME;
		discovery->why = "The device is not an NVMe namespace.";
	} else if (dmda_passthru_open(&admin, bdev, false)) {
		ask(dmda, &admin, hints, discovery);
		dmda_passthru_close(&admin);
	}
	if (hints != DMDA_HINTS_FDP)
		discovery->why = NULL;
	if (discovery->has_metadata &&
	    (hints == DMDA_HINTS_ON || discovery->state == DMDA_STATE_ON))
		discovery->why = "The device has metadata, where hints would mean something else.";
}

void dmda_discover(const struct dmda *dmda, enum dmda_hints_mode hints,
		   struct dmda_discovery *discovery)
{
	/*
	 * While a table is loaded, or a message comes, the dm device may be suspended. Memory,
	 * also that of the task's page faults, must not wait for a filesystem on it.
	 */
	unsigned int noio = memalloc_noio_save();

	discover(dmda, hints, discovery);
	memalloc_noio_restore(noio);
}
