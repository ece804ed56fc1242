// SPDX-License-Identifier: GPL-2.0-only
/*
 * I/O commands, in two steps: start checks the command and asks the FTL when it will
 * be done; move copies its data. A piece of a command is a command of its own for both of them;
 * those that have pieces take turns (pieces.h). The status codes are those that the specification
 * names for each fault.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "io.h"
#include "outage.h"
#include "pieces.h"
#include "translate.h"
#include "vendor.h"

/* Ranges that one Dataset Management command can carry */
#define MAX_RANGES	256

/* How long all others may run before the next piece of a command */
#define PAUSE_US	50

static_assert(MAX_RANGES * sizeof(struct nvme_dsm_range) <= PAGE_SIZE);
static_assert(NVMEV_COPY_MAX_RANGES * sizeof(struct nvmev_copy_range) <= PAGE_SIZE);

/**
 * struct io_op - how one opcode is executed
 * @is_for_all: may be sent to all namespaces at once
 * @has_slba: CDW10 and CDW11 are an LBA
 * @may_be_long: it moves no data for its LBAs, of which there may be many (pieces.h)
 * @start: check and set @due_ns of the command; returns an NVMe status
 * @move: move the data; NULL if there is none
 */
struct io_op {
	bool is_for_all;
	bool has_slba;
	bool may_be_long;
	u16 (*start)(struct nvmev *nvmev, struct nvmev_cmd *cmd);
	u16 (*move)(struct nvmev *nvmev, struct nvmev_cmd *cmd);
};

static u64 slba_of(const struct nvmev_cmd *cmd)
{
	return le64_to_cpu(cmd->sqe.rw.slba);
}

static u32 nr_lbas_of(const struct nvmev_cmd *cmd)
{
	return le16_to_cpu(cmd->sqe.rw.length) + 1;
}

static u64 bytes_of(const struct nvmev_cmd *cmd)
{
	return (u64)nr_lbas_of(cmd) << cmd->ns->lba_shift;
}

/* Where its data begins in the store. */
static u64 start_of(const struct nvmev_cmd *cmd)
{
	return nvmev_ns_byte(cmd->ns, slba_of(cmd));
}

/* A range that a command names, in itself or in its data. */
static u16 check_lbas(struct nvmev_cmd *cmd, u64 slba, u64 nr_lbas)
{
	u16 status = nvmev_ns_check(cmd->ns, slba, nr_lbas);

	if (status)
		cmd->fault_lba = max(slba, nvmev_ns_nr_lbas(cmd->ns));
	return status;
}

static u16 check_range(struct nvmev_cmd *cmd)
{
	return check_lbas(cmd, slba_of(cmd), nr_lbas_of(cmd));
}

/* The range, and the limit on data that crosses the link. */
static u16 check_transfer(const struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	u16 status = check_range(cmd);

	if (status)
		return status;
	if (bytes_of(cmd) > (u64)FTL_PAGE_BYTES << nvmev->config.mdts)
		return NVME_SC_INVALID_FIELD | NVMEV_DNR;
	return 0;
}

static u16 begin_dma(struct nvmev *nvmev, struct nvmev_cmd *cmd, struct nvmev_dma *dma)
{
	return nvmev_dma_begin(dma, &nvmev->pci, &cmd->sqe, bytes_of(cmd));
}

static u16 start_flush(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	cmd->due_ns = nvmev_ns_flush(nvmev, cmd->fetched_ns);
	return 0;
}

static u16 start_write(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	u16 status = check_transfer(nvmev, cmd);
	u32 directive;

	if (status)
		return status;
	/* With FDP there is one directive. */
	directive = NVMEV_RW_DIRECTIVE_TYPE(le16_to_cpu(cmd->sqe.rw.control));
	if (directive && !(nvmev_fdp_is_on(nvmev) && directive == NVMEV_DIRECTIVE_PLACEMENT))
		return NVME_SC_INVALID_FIELD | NVMEV_DNR;
	nvmev->counters.writes++;
	return nvmev_ns_write(nvmev, cmd, &cmd->due_ns);
}

static u16 move_write(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	struct nvmev_dma dma;
	u16 status = begin_dma(nvmev, cmd, &dma);

	if (status)
		return status;
	nvmev->counters.bytes_written += bytes_of(cmd);
	cmd->ns->bytes_written += bytes_of(cmd);
	status = nvmev_store_write(&nvmev->store, start_of(cmd), bytes_of(cmd), &dma,
				   cmd->data_seq);
	nvmev_ns_written(nvmev, cmd);
	return status;
}

static u16 start_read(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	u16 status = check_transfer(nvmev, cmd);

	if (status)
		return status;
	nvmev->counters.reads++;
	cmd->due_ns = nvmev_ns_read(nvmev, cmd, true);
	return 0;
}

/* Where the data of a read comes from: its own, or on request that of LBAs beside it. */
static u64 source_of(const struct nvmev_cmd *cmd)
{
	u32 nr_lbas = nr_lbas_of(cmd);
	u64 slba = slba_of(cmd);

	if (!cmd->is_misread)
		return start_of(cmd);
	if (slba >= nr_lbas)
		return nvmev_ns_byte(cmd->ns, slba - nr_lbas);
	return nvmev_ns_byte(cmd->ns, min(slba + nr_lbas, nvmev_ns_nr_lbas(cmd->ns) - nr_lbas));
}

/* What the host has declared unreadable is. */
static u16 check_marks(struct nvmev *nvmev, struct nvmev_cmd *cmd, u64 slba, u32 nr_lbas)
{
	const struct nvmev_ns *ns = cmd->ns;
	u64 bytes = (u64)nr_lbas << ns->lba_shift;
	u64 at = nvmev_store_find_mark(&nvmev->store, nvmev_ns_byte(ns, slba), bytes);

	if (at == bytes)
		return 0;
	cmd->fault_lba = slba + (at >> ns->lba_shift);
	return NVME_SC_READ_ERROR | NVMEV_DNR;
}

static u16 move_verify(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	return check_marks(nvmev, cmd, slba_of(cmd), nr_lbas_of(cmd));
}

/* Begin to send or compare data, all of which must be readable. */
static u16 begin_read(struct nvmev *nvmev, struct nvmev_cmd *cmd, struct nvmev_dma *dma)
{
	u16 status = move_verify(nvmev, cmd);

	return status ?: begin_dma(nvmev, cmd, dma);
}

static u16 move_read(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	struct nvmev_dma dma;
	u16 status = begin_read(nvmev, cmd, &dma);

	if (status)
		return status;
	nvmev->counters.bytes_read += bytes_of(cmd);
	cmd->ns->bytes_read += bytes_of(cmd);
	return nvmev_store_read(&nvmev->store, source_of(cmd), bytes_of(cmd), &dma);
}

static u16 move_compare(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	u64 end = slba_of(cmd) + nr_lbas_of(cmd);
	struct nvmev_dma dma;
	u16 status = begin_read(nvmev, cmd, &dma);

	if (status)
		return status;
	nvmev->counters.bytes_read += bytes_of(cmd);
	while (cmd->fault_lba < end && !status) {
		status = nvmev_store_compare(&nvmev->store,
					     nvmev_ns_byte(cmd->ns, cmd->fault_lba),
					     1 << cmd->ns->lba_shift, &dma);
		cmd->fault_lba += !status;
	}
	return status;
}

static u16 start_verify(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	u16 status = check_range(cmd);

	if (status)
		return status;
	/* Once, and not for each piece */
	nvmev->counters.reads += !cmd->done;
	cmd->due_ns = nvmev_ns_read(nvmev, cmd, false);
	return 0;
}

static bool deallocates(const struct nvmev_cmd *cmd)
{
	return le16_to_cpu(cmd->sqe.rw.control) & NVMEV_RW_DEAC;
}

static u16 start_zeroes(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	u16 status = check_range(cmd);

	if (status)
		return status;
	if (!deallocates(cmd))
		return nvmev_ns_write(nvmev, cmd, &cmd->due_ns);
	if (!cmd->done && nvmev_ns_is_read_only(nvmev))
		return NVME_SC_READ_ONLY | NVMEV_DNR;
	/* The FTL does not get back what it has forgotten. */
	status = nvmev_inject_write(nvmev, cmd, slba_of(cmd), nr_lbas_of(cmd));
	if (status)
		return status;
	cmd->due_ns = nvmev_ns_trim(nvmev, cmd->ns, slba_of(cmd), nr_lbas_of(cmd),
				    cmd->fetched_ns, cmd->done);
	return 0;
}

static u16 move_zeroes(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	u16 status;

	if (deallocates(cmd))
		return nvmev_store_trim(&nvmev->store, start_of(cmd), bytes_of(cmd));
	status = nvmev_store_zero(&nvmev->store, start_of(cmd), bytes_of(cmd), cmd->data_seq);
	nvmev_ns_written(nvmev, cmd);
	return status;
}

/* Its LBAs are written as others are, with nothing: so it has its order and its durability. */
static u16 start_uncorrectable(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	u16 status = check_range(cmd);

	return status ?: nvmev_ns_write(nvmev, cmd, &cmd->due_ns);
}

static u16 move_uncorrectable(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	u16 status = nvmev_store_mark(&nvmev->store, start_of(cmd), bytes_of(cmd), cmd->data_seq);

	nvmev_ns_written(nvmev, cmd);
	return status;
}

/* Fetch a command's ranges into a page, which is as large as the most of them. */
static u16 fetch_ranges(struct nvmev *nvmev, struct nvmev_cmd *cmd, void *page, u32 bytes)
{
	struct nvmev_dma dma;
	u16 status = nvmev_dma_begin(&dma, &nvmev->pci, &cmd->sqe, bytes);

	return status ?: nvmev_dma_from_host(&dma, page, bytes);
}

/*
 * Has a batch of its own, since its ranges are fetched here. All are checked before the first
 * is deallocated.
 */
static u16 start_dsm(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	u32 nr_ranges = (le32_to_cpu(cmd->sqe.dsm.nr) & (MAX_RANGES - 1)) + 1;
	struct nvme_dsm_range *ranges = nvmev->trim.ranges;
	u16 status;
	u32 i;

	status = fetch_ranges(nvmev, cmd, ranges, nr_ranges * sizeof(*ranges));
	for (i = 0; i < nr_ranges && !status; i++)
		status = check_lbas(cmd, le64_to_cpu(ranges[i].slba),
				    le32_to_cpu(ranges[i].nlb));
	if (status || !(le32_to_cpu(cmd->sqe.dsm.attributes) & NVME_DSMGMT_AD))
		return status;
	if (nvmev_ns_is_read_only(nvmev))
		return NVME_SC_READ_ONLY | NVMEV_DNR;
	nvmev_trim_begin(nvmev, cmd, nr_ranges);
	return NVMEV_STATUS_LATER;
}

/* Does a command name more than is done at once? */
static bool is_long(const struct nvmev_cmd *cmd, u32 nr_lbas)
{
	return (u64)nr_lbas << cmd->ns->lba_shift > (u64)NVMEV_WHOLE_PAGES << FTL_PAGE_SHIFT;
}

/* The LBA behind the next piece of a command; pieces end where pages do. */
static u64 piece_end(const struct nvmev_cmd *cmd, u32 nr_lbas, u32 nr_pages)
{
	u32 shift = FTL_PAGE_SHIFT - cmd->ns->lba_shift;
	u64 next = slba_of(cmd) + cmd->done;

	return min(slba_of(cmd) + nr_lbas, ((next >> shift) + nr_pages) << shift);
}

/* Are there LBAs, and can they be read now? */
static u16 check_source(struct nvmev *nvmev, struct nvmev_cmd *cmd, u64 slba, u32 nr_lbas)
{
	u16 status = check_lbas(cmd, slba, nr_lbas);

	if (!status)
		status = nvmev_inject_read(nvmev, cmd, slba, nr_lbas);
	return status ?: check_marks(nvmev, cmd, slba, nr_lbas);
}

/* Check all ranges, and count their LBAs. */
static u16 check_copy(struct nvmev *nvmev, struct nvmev_cmd *cmd, u32 nr_ranges)
{
	const struct nvmev_copy_range *ranges = cmd->copy->ranges;
	u32 i, nr, nr_lbas = 0;
	u16 status;

	for (i = 0; i < nr_ranges; i++) {
		nr = le16_to_cpu(ranges[i].nlb) + 1;
		nr_lbas += nr;
		if (nr > NVMEV_COPY_MAX_LBAS || nr_lbas > NVMEV_COPY_MAX_LBAS)
			return NVMEV_SC_COPY_SIZE | NVMEV_DNR;
		status = check_source(nvmev, cmd, le64_to_cpu(ranges[i].slba), nr);
		if (status)
			return status;
	}
	cmd->copy->nr_lbas = nr_lbas;
	status = check_lbas(cmd, slba_of(cmd), nr_lbas);
	if (!status && nvmev_ns_is_read_only(nvmev))
		status = NVME_SC_READ_ONLY | NVMEV_DNR;
	return status;
}

/* Its reads and the writes are taken for going on at the same time. */
static u16 copy_lbas(struct nvmev *nvmev, struct nvmev_cmd *cmd, u64 from, u64 to, u32 nr_lbas)
{
	struct nvmev_cmd part = *cmd;
	u64 done_ns;
	/* It may have become unreadable since the command was begun. */
	u16 status = check_source(nvmev, cmd, from, nr_lbas);

	if (status)
		return status;
	part.sqe.rw.slba = cpu_to_le64(from);
	part.sqe.rw.length = cpu_to_le16(nr_lbas - 1);
	done_ns = nvmev_ns_read(nvmev, &part, false);
	cmd->done_ns = max(cmd->done_ns, done_ns);
	part.sqe.rw.slba = cpu_to_le64(to);
	status = nvmev_ns_write(nvmev, &part, &done_ns);
	cmd->done_ns = max(cmd->done_ns, done_ns);
	if (status)
		return status;
	status = nvmev_store_copy(&nvmev->store, nvmev_ns_byte(cmd->ns, from),
				  nvmev_ns_byte(cmd->ns, to), bytes_of(&part), part.data_seq);
	nvmev_ns_written(nvmev, &part);
	if (!status)
		nvmev_inject_written(nvmev, cmd, to, nr_lbas);
	return status;
}

/* Copy what comes next, at most @most LBAs of one range. */
static u16 copy_next(struct nvmev *nvmev, struct nvmev_cmd *cmd, u32 most)
{
	struct nvmev_copy *copy = cmd->copy;
	const struct nvmev_copy_range *range = &copy->ranges[copy->range];
	u32 nr_lbas = le16_to_cpu(range->nlb) + 1;
	u32 nr = min(most, nr_lbas - copy->done);
	u16 status;

	status = copy_lbas(nvmev, cmd, le64_to_cpu(range->slba) + copy->done,
			   slba_of(cmd) + cmd->done, nr);
	cmd->done += nr;
	copy->done += nr;
	if (copy->done == nr_lbas) {
		copy->range++;
		copy->done = 0;
	}
	return status;
}

/* As many LBAs of its destination as do not take long, of whatever ranges */
static u16 copy_piece(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	u32 end = piece_end(cmd, cmd->copy->nr_lbas, NVMEV_COPY_PAGES) - slba_of(cmd);
	u16 status = 0;

	while (cmd->done < end && !status)
		status = copy_next(nvmev, cmd, end - cmd->done);
	return status;
}

static u16 copy_whole(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	u16 status;

	cmd->done_ns = cmd->fetched_ns;
	status = copy_piece(nvmev, cmd);
	cmd->due_ns = cmd->done_ns;
	return status;
}

/* All of it is checked here, and what is short also copied. */
static u16 start_copy(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	u32 dw = le32_to_cpu(cmd->sqe.common.cdw12);
	u32 nr_ranges = NVMEV_COPY_RANGES(dw);
	struct nvmev_copy_range *ranges;
	u16 status;

	if (NVMEV_COPY_FORMAT(dw) || (dw & NVMEV_COPY_DIRECTIVE))
		return NVME_SC_INVALID_FIELD | NVMEV_DNR;
	if (nr_ranges > NVMEV_COPY_MAX_RANGES)
		return NVMEV_SC_COPY_SIZE | NVMEV_DNR;
	cmd->copy = kzalloc(struct_size(cmd->copy, ranges, nr_ranges), GFP_NOIO);
	if (!cmd->copy)
		return NVME_SC_INTERNAL;
	ranges = cmd->copy->ranges;
	status = fetch_ranges(nvmev, cmd, ranges, nr_ranges * sizeof(*ranges));
	if (!status)
		status = check_copy(nvmev, cmd, nr_ranges);
	if (status)
		return status;
	if (!is_long(cmd, cmd->copy->nr_lbas))
		return copy_whole(nvmev, cmd);
	nvmev_pieces_begin(nvmev, cmd);
	return NVMEV_STATUS_LATER;
}

static u16 start_mgmt_recv(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	u32 dw = le32_to_cpu(cmd->sqe.common.cdw10);
	u64 bytes = ((u64)le32_to_cpu(cmd->sqe.common.cdw11) + 1) * sizeof(u32);

	if (!nvmev_fdp_is_on(nvmev))
		return NVMEV_SC_FDP_DISABLED | NVMEV_DNR;
	if (NVMEV_IO_MGMT_OP(dw) != NVMEV_IO_MGMT_RUH_STATUS ||
	    bytes > (u64)FTL_PAGE_BYTES << nvmev->config.mdts)
		return NVME_SC_INVALID_FIELD | NVMEV_DNR;
	return 0;
}

/* What is longer than all that there is to say ends with zeroes. */
static u16 move_mgmt_recv(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	u64 bytes = ((u64)le32_to_cpu(cmd->sqe.common.cdw11) + 1) * sizeof(u32);
	u32 present = min_t(u64, bytes, FTL_PAGE_BYTES);
	struct nvmev_dma dma;
	u16 status;

	memset(nvmev->reply, 0, FTL_PAGE_BYTES);
	nvmev_fdp_status(nvmev, cmd->ns, nvmev->reply);
	status = nvmev_dma_begin(&dma, &nvmev->pci, &cmd->sqe, bytes);
	if (!status)
		status = nvmev_dma_to_host(&dma, nvmev->reply, present);
	return status ?: nvmev_dma_to_host(&dma, NULL, bytes - present);
}

/* Its list is short: all of it is done here. */
static u16 start_mgmt_send(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	u32 dw = le32_to_cpu(cmd->sqe.common.cdw10);
	u32 nr = NVMEV_IO_MGMT_SPECIFIC(dw) + 1;
	u16 status;

	if (!nvmev_fdp_is_on(nvmev))
		return NVMEV_SC_FDP_DISABLED | NVMEV_DNR;
	if (NVMEV_IO_MGMT_OP(dw) != NVMEV_IO_MGMT_RUH_UPDATE || nr > nvmev->fdp.nr_pids)
		return NVME_SC_INVALID_FIELD | NVMEV_DNR;
	status = fetch_ranges(nvmev, cmd, nvmev->reply, nr * sizeof(__le16));
	return status ?: nvmev_fdp_update(nvmev, cmd->ns, nvmev->reply, nr);
}

/* All of a long command is checked before its first piece is done. */
static u16 start_long(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	u16 status = check_range(cmd);

	if (!status && cmd->sqe.common.opcode != nvme_cmd_verify && nvmev_ns_is_read_only(nvmev))
		status = NVME_SC_READ_ONLY | NVMEV_DNR;
	return status;
}

static const struct io_op *find_op(const struct nvmev *nvmev, u8 opcode)
{
	static const struct io_op flush = { true, false, false, start_flush, NULL };
	static const struct io_op write = { false, true, false, start_write, move_write };
	static const struct io_op read = { false, true, false, start_read, move_read };
	static const struct io_op compare = { false, true, false, start_read, move_compare };
	static const struct io_op zeroes = { false, true, true, start_zeroes, move_zeroes };
	static const struct io_op dsm = { false, false, false, start_dsm, NULL };
	static const struct io_op verify = { false, true, true, start_verify, move_verify };
	static const struct io_op uncorrectable = { false, true, true, start_uncorrectable,
						    move_uncorrectable };
	static const struct io_op copy = { false, true, false, start_copy, NULL };
	static const struct io_op mgmt_recv = { false, false, false, start_mgmt_recv,
						move_mgmt_recv };
	static const struct io_op mgmt_send = { false, false, false, start_mgmt_send, NULL };
	static const struct io_op share = { false, false, false, nvmev_vendor_share, NULL };
	static const struct io_op compact = { false, false, false, nvmev_vendor_compact, NULL };
	static const struct io_op redistribute = { false, false, false,
						   nvmev_vendor_redistribute, NULL };

	switch (opcode) {
	case nvme_cmd_flush:
		return &flush;
	case nvme_cmd_write:
		return &write;
	case nvme_cmd_read:
		return &read;
	case nvme_cmd_compare:
		return &compare;
	case nvme_cmd_write_zeroes:
		return &zeroes;
	case nvme_cmd_dsm:
		return &dsm;
	case nvme_cmd_verify:
		return &verify;
	case nvme_cmd_write_uncor:
		return &uncorrectable;
	case NVMEV_CMD_COPY:
		return &copy;
	case NVMEV_CMD_IO_MGMT_RECV:
		return nvmev->config.fdp ? &mgmt_recv : NULL;
	case NVMEV_CMD_IO_MGMT_SEND:
		return nvmev->config.fdp ? &mgmt_send : NULL;
	case DIEAWARE_CMD_SHARE:
		return &share;
	case DIEAWARE_CMD_COMPACT:
		return &compact;
	case DIEAWARE_CMD_REDISTRIBUTE:
		return &redistribute;
	default:
		return NULL;
	}
}

bool nvmev_io_is_alone(const struct nvme_command *sqe)
{
	u8 opcode = sqe->common.opcode;

	return opcode == nvme_cmd_dsm || opcode == NVMEV_CMD_COPY ||
	       opcode == NVMEV_CMD_IO_MGMT_SEND || opcode == DIEAWARE_CMD_SHARE ||
	       opcode == DIEAWARE_CMD_COMPACT || opcode == DIEAWARE_CMD_REDISTRIBUTE;
}

/*
 * Nothing that it takes can sleep: whoever serves in passing may not, and knows from here that it
 * need not.
 */
u32 nvmev_io_quick_pages(struct nvmev *nvmev, const struct nvme_command *sqe)
{
	struct nvmev_ns *ns = nvmev_ns_find(nvmev, le32_to_cpu(sqe->common.nsid));
	bool is_write = sqe->common.opcode == nvme_cmd_write;
	u32 nr_lbas = le16_to_cpu(sqe->rw.length) + 1;
	u64 slba = le64_to_cpu(sqe->rw.slba);
	u64 start;
	u32 bytes, nr_pages;

	if (!ns || (!is_write && sqe->common.opcode != nvme_cmd_read) ||
	    nvmev_ns_check(ns, slba, nr_lbas) || READ_ONCE(nvmev->inject.nr_faults))
		return 0;
	start = nvmev_ns_byte(ns, slba);
	bytes = nr_lbas << ns->lba_shift;
	nr_pages = DIV_ROUND_UP((u32)(start & (FTL_PAGE_BYTES - 1)) + bytes, FTL_PAGE_BYTES);
	if (nr_pages > NVMEV_QUICK_PAGES || !nvmev_ns_is_quick(nvmev, sqe, nr_pages))
		return 0;
	if (is_write && !nvmev_store_make_room(&nvmev->store, start, bytes))
		return 0;
	return nr_pages;
}

bool nvmev_io_must_wait(const struct nvmev *nvmev, const struct nvme_command *sqe)
{
	switch (sqe->common.opcode) {
	case nvme_cmd_dsm:
		return nvmev->trim.cmd || nvmev->trim.lacks_room;
	case nvme_cmd_write_zeroes:
		return nvmev->trim.lacks_room &&
		       (le16_to_cpu(sqe->rw.control) & NVMEV_RW_DEAC);
	default:
		return false;
	}
}

static bool is_for_all(const struct nvmev_cmd *cmd)
{
	return cmd->sqe.common.nsid == cpu_to_le32(NVMEV_NSID_ALL);
}

void nvmev_io_start(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	const struct io_op *op = find_op(nvmev, cmd->sqe.common.opcode);
	bool in_pieces;

	cmd->ns = nvmev_ns_find(nvmev, le32_to_cpu(cmd->sqe.common.nsid));
	in_pieces = op && op->may_be_long && cmd->ns && is_long(cmd, nr_lbas_of(cmd));
	cmd->due_ns = cmd->fetched_ns;
	cmd->result = 0;
	cmd->has_paused = false;
	cmd->is_misread = false;
	cmd->done = 0;
	cmd->fault_lba = op && op->has_slba ? slba_of(cmd) : 0;
	if (!op)
		cmd->status = NVME_SC_INVALID_OPCODE | NVMEV_DNR;
	else if (cmd->sqe.common.flags & (NVMEV_FLAGS_FUSE | NVMEV_FLAGS_PSDT))
		cmd->status = NVME_SC_INVALID_FIELD | NVMEV_DNR;
	else if (!cmd->ns && !(op->is_for_all && is_for_all(cmd)))
		cmd->status = NVME_SC_INVALID_NS | NVMEV_DNR;
	else if (cmd->ns && nvmev_format_is_of(nvmev, cmd->ns))
		cmd->status = NVME_SC_FORMAT_IN_PROGRESS;
	else
		cmd->status = in_pieces ? start_long(nvmev, cmd) : op->start(nvmev, cmd);
	nvmev_account_busy(nvmev, cmd);
	if (!cmd->status)
		nvmev_inject_apply(nvmev, cmd);
	if (!cmd->status && in_pieces) {
		nvmev_pieces_begin(nvmev, cmd);
		cmd->status = NVMEV_STATUS_LATER;
	}
}

void nvmev_io_move(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	const struct io_op *op = find_op(nvmev, cmd->sqe.common.opcode);

	if (op->move)
		cmd->status = op->move(nvmev, cmd);
}

/* Of a command whose LBAs are in itself: the piece is a command of its own. */
static u16 do_piece(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	const struct io_op *op = find_op(nvmev, cmd->sqe.common.opcode);
	u64 end = piece_end(cmd, nr_lbas_of(cmd), NVMEV_PIECE_PAGES);
	u32 nr_lbas = end - slba_of(cmd) - cmd->done;
	struct nvmev_cmd part = *cmd;
	u16 status;

	part.due_ns = cmd->fetched_ns;
	part.sqe.rw.slba = cpu_to_le64(slba_of(cmd) + cmd->done);
	part.sqe.rw.length = cpu_to_le16(nr_lbas - 1);
	status = op->start(nvmev, &part);
	if (!status)
		status = op->move(nvmev, &part);
	cmd->fault_lba = part.fault_lba;
	cmd->done_ns = max(cmd->done_ns, part.due_ns);
	cmd->done += nr_lbas;
	return status;
}

/* Return: an NVMe status; @done, @done_ns and, of a piece that fails, @fault_lba are set. */
static u16 next_piece(struct nvmev *nvmev, struct nvmev_cmd *cmd)
{
	return cmd->copy ? copy_piece(nvmev, cmd) : do_piece(nvmev, cmd);
}

static bool has_all_pieces(const struct nvmev_cmd *cmd)
{
	return cmd->done == (cmd->copy ? cmd->copy->nr_lbas : nr_lbas_of(cmd));
}

/* The command whose turn it is, of those that need not wait for the FTL to make room */
static struct nvmev_cmd *next_in_pieces(struct nvmev *nvmev)
{
	struct nvmev_cmd *cmd;

	list_for_each_entry(cmd, &nvmev->queues.in_pieces, link)
		if (!nvmev_io_must_wait(nvmev, &cmd->sqe))
			return cmd;
	return NULL;
}

bool nvmev_io_step(struct nvmev *nvmev)
{
	struct nvmev_cmd *cmd = next_in_pieces(nvmev);

	if (!cmd)
		return false;
	list_move_tail(&cmd->link, &nvmev->queues.in_pieces);
	WRITE_ONCE(nvmev->counters.pieces, nvmev->counters.pieces + 1);
	cmd->status = next_piece(nvmev, cmd);
	nvmev_outage_note(nvmev);
	if (cmd->status)
		cmd->status = nvmev_log_error(nvmev, cmd->sqid, &cmd->sqe, cmd->status,
					      cmd->fault_lba);
	if (cmd->status || has_all_pieces(cmd))
		nvmev_pieces_end(nvmev, cmd);
	if (!list_empty(&nvmev->queues.in_pieces))
		fsleep(PAUSE_US);
	return true;
}
