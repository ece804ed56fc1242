// SPDX-License-Identifier: GPL-2.0-only
/*
 * Usage: crash-load DEVICE MARKS SEED NR_OPS FIRST_VERSION [full|failing]
 *
 * Random work on a block device: writes of 1 to 64 pages, some with FUA, several in
 * flight and overlapping, discards, zeroes, flushes. Each page is stamped. Before and
 * after each operation a line is written to MARKS, the kernel's trace_marker, so that what was
 * promised stands in one order with what the device below did:
 *
 *	dmda: w ID LPN NR	a write is submitted; f: with FUA; z: pages become zeroes
 *	dmda: d ID		it is done
 *	dmda: x ID		it has failed
 *	dmda: s ID		a flush is submitted
 *	dmda: e ID		it is done
 *
 * With "full" nothing is discarded, and no page becomes zeroes: what is full stays full.
 * With "failing" the work goes on when an operation has failed, and none is submitted before those
 * that it overlaps have ended: when a device is suspended and resumed meanwhile, device-mapper
 * sends what has waited behind what comes then.
 * An operation's ID is the version of its pages. Exit status: 0; 1 after the first
 * operation that failed; 2 if it could not begin.
 */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stamp.h"

#define MAX_PAGES	64U
#define MAX_FLIGHT	16U

/**
 * struct slot - a write in flight
 * @iocb: as submitted
 * @pages: its data
 * @id: operation
 * @is_busy: it is in flight
 */
struct slot {
	struct iocb iocb;
	u8 *pages;
	u64 id;
	bool is_busy;
};

/**
 * struct load - the work
 * @device: descriptor
 * @marks: descriptor
 * @nr_lpns: pages of the device
 * @random: state
 * @context: of the kernel's asynchronous I/O
 * @slot: writes
 * @nr_busy: how many are in flight
 * @next_id: of the next operation
 * @has_failed: some operation has
 * @full: see above
 * @failing: see above
 */
struct load {
	int device;
	int marks;
	u64 nr_lpns;
	u64 random;
	aio_context_t context;
	struct slot slot[MAX_FLIGHT];
	u32 nr_busy;
	u64 next_id;
	bool has_failed;
	bool full;
	bool failing;
};

static void give_up(const char *what)
{
	fprintf(stderr, "crash-load: %s: %s.\n", what, strerror(errno));
	exit(2);
}

static u32 random_below(struct load *load, u32 limit)
{
	load->random = load->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (load->random >> 33) % limit;
}

static __printf(2, 3) void mark(struct load *load, const char *fmt, ...)
{
	char line[96];
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	if (write(load->marks, line, len) != len)
		give_up("A mark could not be written");
}

static void end_op(struct load *load, u64 id, bool good)
{
	mark(load, "dmda: %c %llu\n", good ? 'd' : 'x', (unsigned long long)id);
	if (!good && !load->failing)
		load->has_failed = true;
}

/* Takes at least that many writes that are done. */
static void reap(struct load *load, u32 at_least)
{
	struct io_event events[MAX_FLIGHT];
	long nr;

	if (!load->nr_busy)
		return;
	nr = syscall(SYS_io_getevents, load->context, at_least, MAX_FLIGHT, events, NULL);
	if (nr < 0)
		give_up("No completions could be had");
	for (long i = 0; i < nr; i++) {
		struct slot *slot = &load->slot[events[i].data];

		end_op(load, slot->id,
		       events[i].res == (s64)slot->iocb.aio_nbytes);
		slot->is_busy = false;
		load->nr_busy--;
	}
}

static bool overlaps(const struct slot *slot, u64 lpn, u32 nr_pages)
{
	u64 first = slot->iocb.aio_offset / STAMP_PAGE_BYTES;
	u64 nr = slot->iocb.aio_nbytes / STAMP_PAGE_BYTES;

	return slot->is_busy && lpn < first + nr && first < lpn + nr_pages;
}

/* Nothing in flight is about these pages any more, if others may be put before it. */
static void wait_for_others(struct load *load, u64 lpn, u32 nr_pages)
{
	for (u32 i = 0; i < MAX_FLIGHT && load->failing; i++) {
		while (overlaps(&load->slot[i], lpn, nr_pages))
			reap(load, 1);
	}
}

static struct slot *idle_slot(struct load *load)
{
	u32 i = 0;

	while (load->slot[i].is_busy)
		i++;
	return &load->slot[i];
}

static void submit_write(struct load *load, u64 lpn, u32 nr_pages, bool fua)
{
	u64 id = load->next_id++;
	struct iocb *iocbs[1];
	struct slot *slot;

	wait_for_others(load, lpn, nr_pages);
	if (load->nr_busy == MAX_FLIGHT)
		reap(load, 1);
	slot = idle_slot(load);
	for (u32 i = 0; i < nr_pages; i++)
		stamp_page(slot->pages + i * STAMP_PAGE_BYTES, lpn + i, id);
	slot->iocb = (struct iocb){
		.aio_data = slot - load->slot,
		.aio_lio_opcode = IOCB_CMD_PWRITE,
		.aio_rw_flags = fua ? RWF_DSYNC : 0,
		.aio_fildes = load->device,
		.aio_buf = (unsigned long)slot->pages,
		.aio_nbytes = (u64)nr_pages * STAMP_PAGE_BYTES,
		.aio_offset = lpn * STAMP_PAGE_BYTES,
	};
	mark(load, "dmda: %c %llu %llu %u\n", fua ? 'f' : 'w', (unsigned long long)id,
	     (unsigned long long)lpn, nr_pages);
	iocbs[0] = &slot->iocb;
	if (syscall(SYS_io_submit, load->context, 1L, iocbs) != 1) {
		end_op(load, id, false);
		return;
	}
	slot->id = id;
	slot->is_busy = true;
	load->nr_busy++;
}

static void zero(struct load *load, u64 lpn, u32 nr_pages, bool discard)
{
	u64 id = load->next_id++;
	u64 range[2] = { lpn * STAMP_PAGE_BYTES, (u64)nr_pages * STAMP_PAGE_BYTES };
	int status;

	wait_for_others(load, lpn, nr_pages);
	mark(load, "dmda: z %llu %llu %u\n", (unsigned long long)id, (unsigned long long)lpn,
	     nr_pages);
	status = discard ? ioctl(load->device, BLKDISCARD, range) :
		fallocate(load->device, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, range[0],
			  range[1]);
	end_op(load, id, !status);
}

static void flush(struct load *load)
{
	u64 id = load->next_id++;

	if (random_below(load, 2))
		reap(load, load->nr_busy);
	mark(load, "dmda: s %llu\n", (unsigned long long)id);
	if (fdatasync(load->device)) {
		end_op(load, id, false);
		return;
	}
	mark(load, "dmda: e %llu\n", (unsigned long long)id);
}

/* As a database's log: small writes, one after the other, each of which is to be durable. */
static void write_and_flush(struct load *load)
{
	reap(load, load->nr_busy);
	for (u32 left = 24; left && !load->has_failed; left--) {
		bool fua = random_below(load, 2);

		submit_write(load, random_below(load, load->nr_lpns - 2),
			     1 + random_below(load, 2), fua);
		reap(load, load->nr_busy);
		if (!fua)
			flush(load);
	}
}

static void do_something(struct load *load)
{
	u32 nr_pages = 1 + random_below(load, random_below(load, 4) ? 4 : MAX_PAGES);
	u64 lpn = random_below(load, load->nr_lpns - nr_pages);
	u32 what = random_below(load, 100);

	/* Most goes to a third of the device. */
	if (random_below(load, 4))
		lpn /= 3;
	if (what < 70)
		submit_write(load, lpn, nr_pages, false);
	else if (what < 80)
		submit_write(load, lpn, nr_pages, true);
	else if (what < 85 && !load->full)
		zero(load, lpn, nr_pages, true);
	else if (what < 87 && !load->full)
		zero(load, lpn, nr_pages, false);
	else if (what < 92)
		flush(load);
	else if (what < 93)
		write_and_flush(load);
	else
		reap(load, random_below(load, load->nr_busy + 1));
}

static void begin(struct load *load, char **argv)
{
	u64 bytes;

	load->device = open(argv[1], O_RDWR | O_DIRECT);
	if (load->device < 0 || ioctl(load->device, BLKGETSIZE64, &bytes))
		give_up("The device cannot be opened");
	load->marks = open(argv[2], O_WRONLY | O_CREAT, 0666);
	if (load->marks < 0)
		give_up("The marks cannot be opened");
	load->nr_lpns = bytes / STAMP_PAGE_BYTES;
	load->random = strtoull(argv[3], NULL, 0);
	load->next_id = strtoull(argv[5], NULL, 0);
	if (syscall(SYS_io_setup, (long)MAX_FLIGHT, &load->context))
		give_up("Asynchronous I/O is not to be had");
	for (u32 i = 0; i < MAX_FLIGHT; i++) {
		load->slot[i].pages = mmap(NULL, MAX_PAGES * STAMP_PAGE_BYTES,
					   PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (load->slot[i].pages == MAP_FAILED)
			give_up("There is no memory");
	}
}

int main(int argc, char **argv)
{
	struct load load = { 0 };

	load.full = argc == 7 && !strcmp(argv[6], "full");
	load.failing = argc == 7 && !strcmp(argv[6], "failing");
	if (argc != 6 && !load.full && !load.failing) {
		fprintf(stderr,
			"Usage: crash-load DEVICE MARKS SEED NR_OPS FIRST_VERSION [full|failing]\n");
		return 2;
	}
	begin(&load, argv);
	for (u64 left = strtoull(argv[4], NULL, 0); left && !load.has_failed; left--)
		do_something(&load);
	reap(&load, load.nr_busy);
	printf("%llu\n", (unsigned long long)load.next_id);
	return load.has_failed;
}
