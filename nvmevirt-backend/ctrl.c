// SPDX-License-Identifier: GPL-2.0-only
/*
 * The controller's registers: enable, reset, shutdown. The host's writes to them
 * cause no trap; the dispatcher sees them when it looks.
 */
#include <linux/delay.h>

#include "ctrl.h"
#include "dma.h"
#include "health.h"
#include "nvmev.h"
#include "outage.h"
#include "translate.h"

#define READY_TIMEOUT_HALF_SECONDS	20

/* A drive that needs longer for its cache has lost what is left in it. */
#define MAX_SHUTDOWN_NS		(20 * NSEC_PER_SEC)

/* From one look at whether the power has failed meanwhile to the next */
#define SHUTDOWN_LOOK_NS	(10 * NSEC_PER_MSEC)

void nvmev_ctrl_init(struct nvmev *nvmev)
{
	struct nvmev_pci *pci = &nvmev->pci;

	nvmev_pci_write64(pci, NVME_REG_CAP,
			  NVMEV_CAP_MQES(nvmev->config.queue_depth + 1) | NVMEV_CAP_CQR |
			  NVMEV_CAP_TO(READY_TIMEOUT_HALF_SECONDS) | NVMEV_CAP_CSS_NVM);
	nvmev_pci_write32(pci, NVME_REG_VS, NVMEV_VERSION);
	nvmev_features_reset(nvmev);
}

static u32 status(const struct nvmev *nvmev)
{
	return nvmev_pci_read32(&nvmev->pci, NVME_REG_CSTS);
}

static void set_status(struct nvmev *nvmev, u32 csts)
{
	nvmev_pci_write32(&nvmev->pci, NVME_REG_CSTS, csts);
}

bool nvmev_ctrl_is_ready(const struct nvmev *nvmev)
{
	return (status(nvmev) & (NVMEV_CSTS_RDY | NVMEV_CSTS_CFS | NVMEV_CSTS_SHST)) ==
	       NVMEV_CSTS_RDY &&
	       nvmev_pci_may_access(&nvmev->pci);
}

/* Has the host taken its memory back from a controller that is at work? */
static bool has_lost_access(const struct nvmev *nvmev)
{
	return (status(nvmev) & (NVMEV_CSTS_RDY | NVMEV_CSTS_CFS | NVMEV_CSTS_SHST)) ==
	       NVMEV_CSTS_RDY &&
	       !nvmev_pci_may_access(&nvmev->pci);
}

bool nvmev_ctrl_has_news(const struct nvmev *nvmev)
{
	if (nvmev_pci_read32(&nvmev->pci, NVME_REG_CC) != READ_ONCE(nvmev->cc))
		return true;
	/* It may be asked for while the dispatcher is about to sleep. */
	if (READ_ONCE(nvmev->inject.fatal) || READ_ONCE(nvmev->inject.check_health))
		return true;
	return has_lost_access(nvmev);
}

bool nvmev_ctrl_mmio_work(const struct nvmev *nvmev)
{
	u32 id, nr_ids;

	if (nvmev_ctrl_has_news(nvmev))
		return true;
	if (!nvmev_ctrl_is_ready(nvmev))
		return false;
	nr_ids = READ_ONCE(nvmev->queues.nr_ids);
	for (id = 0; id < nr_ids; id++)
		if (nvmev_sq_look(nvmev, id) != NVMEV_SQ_EMPTY || nvmev_cq_is_bad(nvmev, id))
			return true;
	return false;
}

/* The admin queues that the registers describe; false if they cannot be. */
static bool make_admin_queues(struct nvmev *nvmev)
{
	u32 aqa = nvmev_pci_read32(&nvmev->pci, NVME_REG_AQA);
	struct nvmev_sq sq = { .depth = (aqa & 0xfff) + 1 };
	struct nvmev_cq cq = { .depth = (aqa >> 16 & 0xfff) + 1, .interrupts = true };

	sq.ring = nvmev_dma_ring(nvmev_pci_read64(&nvmev->pci, NVME_REG_ASQ),
				 sq.depth << NVMEV_SQES);
	cq.ring = nvmev_dma_ring(nvmev_pci_read64(&nvmev->pci, NVME_REG_ACQ),
				 cq.depth << NVMEV_CQES);
	if (sq.depth < 2 || cq.depth < 2 || !sq.ring || !cq.ring)
		return false;
	nvmev_cq_create(nvmev, 0, &cq);
	nvmev_sq_create(nvmev, 0, &sq);
	return true;
}

static void enable(struct nvmev *nvmev, u32 cc)
{
	if ((cc & NVMEV_CC_CSS_MPS_AMS) || !nvmev_pci_allow_access(&nvmev->pci) ||
	    !make_admin_queues(nvmev)) {
		set_status(nvmev, NVMEV_CSTS_CFS);
		return;
	}
	nvmev->is_shut_down = false;
	set_status(nvmev, NVMEV_CSTS_RDY);
}

static void reset(struct nvmev *nvmev)
{
	nvmev_queues_reset(nvmev);
	nvmev_features_reset(nvmev);
	nvmev_event_reset(nvmev);
	set_status(nvmev, 0);
}

/* Until then, or until the power fails. */
static void wait_until(const struct nvmev *nvmev, u64 end_ns)
{
	u64 now_ns;

	while ((now_ns = ktime_get_ns()) < end_ns && !nvmev_outage_is_failing(nvmev))
		fsleep(div_u64(min(end_ns - now_ns, SHUTDOWN_LOOK_NS), NSEC_PER_USEC) + 1);
}

/* Whoever asked for it waits for the end of it, and nobody else is served meanwhile. */
static void shut_down(struct nvmev *nvmev)
{
	u64 start_ns = nvmev_now(nvmev);
	u64 done_ns = nvmev_ns_flush(nvmev, start_ns);

	nvmev_outage_note(nvmev);
	wait_until(nvmev, min(done_ns, start_ns + MAX_SHUTDOWN_NS));
	if (done_ns > nvmev_now(nvmev))
		return;
	nvmev->is_shut_down = true;
	nvmev_queues_reset(nvmev);
	nvmev_event_reset(nvmev);
	set_status(nvmev, status(nvmev) | NVMEV_CSTS_SHST_DONE);
}

/*
 * The host learns of it from the register only, and may take its memory back as soon as it
 * does. It must not have to guess what comes after that: nothing.
 */
static void fail(struct nvmev *nvmev)
{
	nvmev_queues_reset(nvmev);
	set_status(nvmev, status(nvmev) | NVMEV_CSTS_CFS);
}

/* What was asked for through `inject`; nothing else is served after a fatal error. */
static void misbehave(struct nvmev *nvmev)
{
	if (xchg(&nvmev->inject.fatal, false))
		fail(nvmev);
	if (xchg(&nvmev->inject.check_health, false))
		nvmev_health_report(nvmev);
}

bool nvmev_ctrl_poll(struct nvmev *nvmev)
{
	u32 cc = nvmev_pci_read32(&nvmev->pci, NVME_REG_CC);
	u32 changed = cc ^ nvmev->cc;

	misbehave(nvmev);
	if (has_lost_access(nvmev))
		fail(nvmev);
	if (!changed)
		return false;
	WRITE_ONCE(nvmev->cc, cc);
	if ((changed & NVMEV_CC_SHN) && (cc & NVMEV_CC_SHN))
		shut_down(nvmev);
	if (changed & NVMEV_CC_EN) {
		if (cc & NVMEV_CC_EN)
			enable(nvmev, cc);
		else
			reset(nvmev);
	}
	return true;
}
