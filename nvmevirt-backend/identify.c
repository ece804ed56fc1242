// SPDX-License-Identifier: GPL-2.0-only
/*
 * Identify: who the controller and its namespaces are. Identifiers come from the
 * name of the SSD, so they are the same each time it is made.
 */
#include <dieaware/hint.h>
#include <dieaware/log.h>

#include "compat.h"
#include "dma.h"
#include "identify.h"
#include "translate.h"
#include "vendor.h"

#define REPLY_BYTES	4096
#define MODEL		"dm-dieaware virtual SSD"
#define FIRMWARE	"1.0"
#define NQN_PREFIX	"nqn.2014-08.org.nvmexpress:uuid:"
#define VENDOR_ID	0xd1ea

/* Text fields are padded with spaces and have no terminating zero. */
static void put_text(char *field, size_t bytes, const char *text)
{
	memset(field, ' ', bytes);
	memcpy(field, text, min(bytes, strlen(text)));
}

static void put_u128(u8 *field, u64 value)
{
	put_unaligned_le64(value, field);
	put_unaligned_le64(0, field + 8);
}

static void put_hint_support(const struct nvmev *nvmev, void *reply)
{
	struct dieaware_id *id = reply + DIEAWARE_ID_OFFSET;

	if (!nvmev->config.hints)
		return;
	memcpy(id->magic, DIEAWARE_ID_MAGIC, sizeof(id->magic));
	id->version = cpu_to_le16(DIEAWARE_HINT_VERSION);
	id->features = cpu_to_le16(DIEAWARE_FEATURE_APPEND | DIEAWARE_FEATURE_OVERWRITE |
				   DIEAWARE_FEATURE_BEGIN | nvmev_vendor_features(nvmev));
	id->log_geometry = DIEAWARE_LOG_GEOMETRY;
	id->log_dies = DIEAWARE_LOG_DIES;
	id->log_map = DIEAWARE_LOG_MAP;
	id->log_dof = DIEAWARE_LOG_DOF;
	id->log_wear = DIEAWARE_LOG_WEAR;
	id->log_late = DIEAWARE_LOG_LATE;
	if (nvmev_vendor_features(nvmev) & DIEAWARE_FEATURE_COMPACT)
		id->log_defrag = DIEAWARE_LOG_DEFRAG;
}

static void put_capabilities(const struct nvmev *nvmev, struct nvme_id_ctrl *id)
{
	id->rab = NVMEV_ARBITRATION_DEFAULT;
	id->mdts = nvmev->config.mdts;
	id->oacs = cpu_to_le16(NVMEV_OACS_FORMAT);
	id->acl = 3;
	id->aerl = NVMEV_NR_EVENTS - 1;
	id->frmw = 1 << 1 | 1;
	id->lpa = NVMEV_LPA_EFFECTS | NVMEV_LPA_EXTENDED;
	id->elpe = NVMEV_NR_ERRORS - 1;
	id->wctemp = cpu_to_le16(273 + 75);
	id->cctemp = cpu_to_le16(273 + 85);
	id->sqes = NVMEV_SQES << 4 | NVMEV_SQES;
	id->cqes = NVMEV_CQES << 4 | NVMEV_CQES;
	id->oncs = cpu_to_le16(NVMEV_ONCS_COMPARE | NVMEV_ONCS_DSM | NVMEV_ONCS_WRITE_ZEROES |
			       NVMEV_ONCS_SELECT | NVMEV_ONCS_TIMESTAMP | NVMEV_ONCS_VERIFY |
			       NVMEV_ONCS_COPY | NVMEV_ONCS_WRITE_UNCORRECTABLE);
	/* Bit 0: source ranges of format 0. The kernel's structure has no name for it. */
	put_unaligned_le16(1, (u8 *)id + NVMEV_ID_CTRL_OCFS);
	id->vwc = NVMEV_VWC_FLUSH_BROADCAST;
	if (!nvmev->config.ftl.plp)
		id->vwc |= NVMEV_VWC_PRESENT;
}

static u16 identify_controller(struct nvmev *nvmev)
{
	struct nvme_id_ctrl *id = nvmev->reply;

	id->vid = cpu_to_le16(VENDOR_ID);
	id->ssvid = cpu_to_le16(VENDOR_ID);
	put_text(id->sn, sizeof(id->sn), nvmev->name);
	put_text(id->mn, sizeof(id->mn), MODEL);
	put_text(id->fr, sizeof(id->fr), FIRMWARE);
	id->ver = cpu_to_le32(NVMEV_VERSION);
	id->cntrltype = 1;
	id->nn = cpu_to_le32(nvmev->nr_ns);
	put_u128(id->tnvmcap, nvmev->config.ftl.nr_lpns << FTL_PAGE_SHIFT);
	snprintf(id->subnqn, sizeof(id->subnqn), NQN_PREFIX "%pUb", &nvmev->uuid);
	id->psd[0].max_power = cpu_to_le16(600);
	put_capabilities(nvmev, id);
	if (nvmev->config.fdp) {
		id->ctratt = cpu_to_le32(NVMEV_CTRATT_ENDURANCE_GROUPS | NVMEV_CTRATT_FDP);
		put_unaligned_le16(NVMEV_ENDURANCE_GROUP, nvmev->reply + NVMEV_ID_CTRL_ENDGIDMAX);
	}
	put_hint_support(nvmev, nvmev->reply);
	return 0;
}

static void put_eui64(const uuid_t *uuid, u8 *eui64)
{
	memcpy(eui64, uuid->b + 8, 8);
}

static void put_copy_limits(u8 *id)
{
	put_unaligned_le16(NVMEV_COPY_MAX_LBAS, id + NVMEV_ID_NS_MSSRL);
	put_unaligned_le32(NVMEV_COPY_MAX_LBAS, id + NVMEV_ID_NS_MCL);
	id[NVMEV_ID_NS_MSRC] = NVMEV_COPY_MAX_RANGES - 1;
}

/* What is in two pages is written one by one, unless more than a page is written whole. */
static void put_atomic_units(struct nvme_id_ns *id, u32 nr_pages, u32 page_lbas)
{
	id->nawun = cpu_to_le16(nr_pages * page_lbas - 1);
	id->nawupf = id->nawun;
	id->nacwu = cpu_to_le16(page_lbas - 1);
	id->nabsn = nr_pages > 1 ? 0 : id->nawun;
	id->nabspf = id->nabsn;
}

static u16 identify_namespace(struct nvmev *nvmev, u32 nsid)
{
	const struct nvmev_ns *ns = nvmev_ns_find(nvmev, nsid);
	struct nvme_id_ns *id = nvmev->reply;
	u32 page_lbas;
	uuid_t uuid;

	/* What all namespaces have in common is told only with namespace management. */
	if (!ns)
		return NVME_SC_INVALID_NS;
	page_lbas = FTL_PAGE_BYTES >> ns->lba_shift;
	nvmev_make_uuid(nvmev, nsid, &uuid);
	id->nlbaf = 1;
	id->lbaf[0].ds = 9;
	id->lbaf[0].rp = 1;
	id->lbaf[1].ds = 12;
	id->dlfeat = NVMEV_DLFEAT_ZEROES | NVMEV_DLFEAT_DEAC;
	id->nsze = cpu_to_le64(nvmev_ns_nr_lbas(ns));
	id->ncap = id->nsze;
	id->nuse = cpu_to_le64(nvmev_ns_used_lbas(nvmev, ns));
	id->flbas = ns->lba_shift == 9 ? 0 : 1;
	id->nsfeat = NVMEV_NSFEAT_THIN | NVMEV_NSFEAT_ATOMICS | NVMEV_NSFEAT_OPTPERF;
	put_atomic_units(id, nvmev->config.atomic_pages, page_lbas);
	/* A page is the size worth writing. */
	id->npwg = cpu_to_le16(page_lbas - 1);
	id->npwa = id->npwg;
	id->npdg = id->npwg;
	id->npda = id->npwg;
	id->nows = id->npwg;
	put_copy_limits(nvmev->reply);
	if (nvmev->config.fdp) {
		put_unaligned_le16(NVMEV_ENDURANCE_GROUP, nvmev->reply + NVMEV_ID_NS_ENDGID);
		/* Who chooses dies has to know how much goes to one. */
		id->nows = cpu_to_le16(page_lbas * nvmev->config.ftl.unit_pages - 1);
	}
	put_u128(id->nvmcap, ns->nr_pages << FTL_PAGE_SHIFT);
	memcpy(id->nguid, uuid.b, sizeof(id->nguid));
	put_eui64(&uuid, id->eui64);
	return 0;
}

static u16 list_namespaces(struct nvmev *nvmev, u32 nsid)
{
	__le32 *list = nvmev->reply;

	if (nsid >= 0xfffffffe)
		return NVME_SC_INVALID_NS;
	while (nsid < nvmev->nr_ns)
		*list++ = cpu_to_le32(++nsid);
	return 0;
}

/* The list begins with how many there are. */
static u16 list_groups(struct nvmev *nvmev, u16 first)
{
	__le16 *list = nvmev->reply;

	if (!nvmev->config.fdp)
		return NVME_SC_INVALID_FIELD;
	if (first <= NVMEV_ENDURANCE_GROUP) {
		list[0] = cpu_to_le16(1);
		list[1] = cpu_to_le16(NVMEV_ENDURANCE_GROUP);
	}
	return 0;
}

static void *start_descriptor(void *at, u8 type, u8 bytes)
{
	struct nvme_ns_id_desc *desc = at;

	desc->nidt = type;
	desc->nidl = bytes;
	return desc + 1;
}

static u16 describe_namespace(struct nvmev *nvmev, u32 nsid)
{
	void *at = nvmev->reply;
	uuid_t uuid;

	if (!nvmev_ns_find(nvmev, nsid))
		return NVME_SC_INVALID_NS;
	nvmev_make_uuid(nvmev, nsid, &uuid);
	at = start_descriptor(at, NVME_NIDT_UUID, NVME_NIDT_UUID_LEN);
	memcpy(at, uuid.b, NVME_NIDT_UUID_LEN);
	at = start_descriptor(at + NVME_NIDT_UUID_LEN, NVME_NIDT_NGUID, NVME_NIDT_NGUID_LEN);
	memcpy(at, uuid.b, NVME_NIDT_NGUID_LEN);
	at = start_descriptor(at + NVME_NIDT_NGUID_LEN, NVME_NIDT_EUI64, NVME_NIDT_EUI64_LEN);
	put_eui64(&uuid, at);
	return 0;
}

u16 nvmev_identify(struct nvmev *nvmev, const struct nvme_command *sqe)
{
	u32 nsid = le32_to_cpu(sqe->identify.nsid);
	struct nvmev_dma dma;
	u16 status;

	memset(nvmev->reply, 0, REPLY_BYTES);
	switch (sqe->identify.cns) {
	case NVME_ID_CNS_NS:
		status = identify_namespace(nvmev, nsid);
		break;
	case NVME_ID_CNS_CTRL:
		status = identify_controller(nvmev);
		break;
	case NVME_ID_CNS_NS_ACTIVE_LIST:
		status = list_namespaces(nvmev, nsid);
		break;
	case NVMEV_ID_CNS_ENDURANCE_GROUPS:
		status = list_groups(nvmev, le32_to_cpu(sqe->common.cdw11) & 0xffff);
		break;
	case NVME_ID_CNS_NS_DESC_LIST:
		status = describe_namespace(nvmev, nsid);
		break;
	default:
		status = NVME_SC_INVALID_FIELD;
	}
	if (!status)
		status = nvmev_dma_begin(&dma, &nvmev->pci, sqe, REPLY_BYTES);
	return status ?: nvmev_dma_to_host(&dma, nvmev->reply, REPLY_BYTES);
}
