// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "events.h"
#include "util.h"

#define LOG_MAGIC	0x6a736677736872ULL
#define LOG_FLUSH	BIT(0)
#define LOG_FUA		BIT(1)
#define LOG_DISCARD	BIT(2)
#define LOG_MARK	BIT(3)

/**
 * struct log_super - the first sector of dm-log-writes' log
 */
struct log_super {
	__le64 magic;
	__le64 version;
	__le64 nr_entries;
	__le32 sector_bytes;
};

/**
 * struct log_entry - begins each entry, in a sector of its own; the data follows
 */
struct log_entry {
	__le64 sector;
	__le64 nr_sectors;
	__le64 flags;
	__le64 data_bytes;
};

static void add_event(struct events *events, enum event_kind kind, u64 index)
{
	events->event = grow(events->event, events->nr, sizeof(*events->event));
	events->event[events->nr++] = (struct event){
		.kind = kind, .index = index, .line = events->nr_lines,
	};
}

/* The trace says "DEV FLAGS SECTOR + NR [...]" of a bio. Return: whether it is a write. */
static bool parse_bio(const char *text, struct bio *bio, int *error)
{
	unsigned long long sector;
	char flags[16];
	const char *op = flags;
	int at;

	if (sscanf(text, "%*u,%*u %15s %llu + %u %n", flags, &sector, &bio->nr_sectors, &at) != 3)
		give_up("The trace says something strange of a bio: %s", text);
	*error = text[at] == '[' ? atoi(text + at + 1) : 0;
	bio->sector = sector;
	if (*op == 'F') {
		bio->is_flush = true;
		op++;
	}
	bio->is_discard = *op == 'D';
	bio->is_fua = *op && strchr(op + 1, 'F');
	return *op == 'W' || *op == 'D';
}

static bool same_bio(const struct bio *one, const struct bio *other)
{
	return one->sector == other->sector && one->nr_sectors == other->nr_sectors &&
		one->is_flush == other->is_flush && one->is_fua == other->is_fua &&
		one->is_discard == other->is_discard;
}

static void take_queue(struct events *events, const char *text)
{
	struct bio bio = { 0 };
	int error;

	if (!parse_bio(text, &bio, &error))
		return;
	if (bio.is_flush && bio.nr_sectors)
		give_up("A bio below the log is a flush and a write: %s", text);
	events->bio = grow(events->bio, events->nr_bios, sizeof(bio));
	add_event(events, EVENT_QUEUE, events->nr_bios);
	events->bio[events->nr_bios++] = bio;
}

static void take_done(struct events *events, u64 *oldest, const char *text)
{
	struct bio bio = { 0 };
	int error;

	if (!parse_bio(text, &bio, &error))
		return;
	while (*oldest < events->nr_bios && events->bio[*oldest].is_done)
		(*oldest)++;
	for (u64 i = *oldest; i < events->nr_bios; i++) {
		struct bio *queued = &events->bio[i];

		if (queued->is_done || !same_bio(queued, &bio))
			continue;
		queued->is_done = true;
		queued->is_good = !error;
		add_event(events, EVENT_DONE, i);
		return;
	}
	give_up("A bio is done that was never submitted: %s", text);
}

static void take_op(struct events *events, char kind, unsigned long long id, u64 lpn, u32 nr)
{
	static const char kinds[] = "wfzdxse";
	static const enum event_kind event[] = {
		EVENT_OP, EVENT_OP, EVENT_OP, EVENT_OP_DONE, EVENT_OP_FAILED, EVENT_FLUSH,
		EVENT_FLUSH_DONE,
	};
	const char *at = strchr(kinds, kind);

	if (!events->nr_ops)
		events->first_id = id;
	if (!at || id < events->first_id || id > events->first_id + events->nr_ops)
		give_up("The mark '%c %llu' is out of order", kind, id);
	if (id == events->first_id + events->nr_ops) {
		events->op = grow(events->op, events->nr_ops, sizeof(*events->op));
		events->op[events->nr_ops++] = (struct op){
			.kind = kind == 'z' ? OP_ZERO : kind == 's' ? OP_NONE : OP_WRITE,
			.is_fua = kind == 'f', .lpn = lpn, .nr_pages = nr,
		};
	}
	add_event(events, event[at - kinds], id - events->first_id);
}

static void read_trace(struct events *events, const char *file)
{
	FILE *trace = fopen(file, "r");
	u64 oldest = 0;
	char line[512];

	if (!trace)
		give_up("%s: %s", file, strerror(errno));
	while (fgets(line, sizeof(line), trace)) {
		unsigned long long id, lpn = 0;
		const char *text;
		u32 nr = 0;
		char kind;

		events->nr_lines++;
		if (strstr(line, "LOST"))
			give_up("The trace has lost events: its buffer was too small");
		text = strstr(line, ": block_bio_queue: ");
		if (text)
			take_queue(events, text + strlen(": block_bio_queue: "));
		text = strstr(line, ": block_bio_complete: ");
		if (text)
			take_done(events, &oldest, text + strlen(": block_bio_complete: "));
		text = strstr(line, ": dmda: ");
		if (text && sscanf(text, ": dmda: %c %llu %llu %u", &kind, &id, &lpn, &nr) >= 2)
			take_op(events, kind, id, lpn, nr);
		text = strstr(line, ": files: ");
		if (text && strchr("esD", text[strlen(": files: ")]))
			add_event(events, EVENT_PROMISE, 0);
	}
	fclose(trace);
}

/* Bios of the trace in the order in which they were done, for the log. */
static u64 *bios_as_done(const struct events *events)
{
	u64 *order = must(calloc(events->nr_bios + 1, sizeof(*order)));
	u64 nr = 0;

	for (u64 i = 0; i < events->nr; i++) {
		if (events->event[i].kind == EVENT_DONE)
			order[nr++] = events->event[i].index;
	}
	order[nr] = U64_MAX;
	return order;
}

static void match_entry(struct events *events, const u64 **order, const struct bio *entry)
{
	while (**order != U64_MAX && events->bio[**order].is_matched)
		(*order)++;
	for (const u64 *at = *order; *at != U64_MAX; at++) {
		struct bio *bio = &events->bio[*at];

		if (bio->is_matched || !same_bio(bio, entry))
			continue;
		bio->is_matched = true;
		bio->data = entry->data;
		return;
	}
	/* Where the disk knows no discard, the log keeps it to itself. */
	if (entry->is_discard)
		return;
	give_up("The log has a write of %u sectors at %llu that the trace does not have",
		entry->nr_sectors, (unsigned long long)entry->sector);
}

static const u8 *map_file(const char *file, u64 *bytes)
{
	int fd = open(file, O_RDONLY);
	struct stat stat;
	void *memory;

	if (fd < 0 || fstat(fd, &stat))
		give_up("%s: %s", file, strerror(errno));
	*bytes = S_ISBLK(stat.st_mode) ? lseek(fd, 0, SEEK_END) : stat.st_size;
	memory = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (memory == MAP_FAILED)
		give_up("%s: %s", file, strerror(errno));
	close(fd);
	return memory;
}

static void read_log(struct events *events, const char *file)
{
	u64 *order = bios_as_done(events);
	const u64 *unmatched = order;
	u64 bytes, at, nr_entries;
	const u8 *log = map_file(file, &bytes);
	const struct log_super *super = (const void *)log;

	if (bytes < 4096 || le64_to_cpu(super->magic) != LOG_MAGIC ||
	    le32_to_cpu(super->sector_bytes) != 512)
		give_up("%s is no log of dm-log-writes with sectors of 512 bytes", file);
	nr_entries = le64_to_cpu(super->nr_entries);
	at = 512;
	for (u64 i = 0; i < nr_entries; i++) {
		const struct log_entry *entry = (const void *)(log + at);
		u64 flags = le64_to_cpu(entry->flags);
		struct bio bio = {
			.sector = le64_to_cpu(entry->sector),
			.nr_sectors = le64_to_cpu(entry->nr_sectors),
			.is_flush = flags & LOG_FLUSH,
			.is_fua = flags & LOG_FUA,
			.is_discard = flags & LOG_DISCARD,
			.data = log + at + 512,
		};

		at += 512;
		if (!bio.is_discard)
			at += bio.nr_sectors * 512ULL;
		if (at > bytes)
			give_up("%s ends in the middle of entry %llu", file,
				(unsigned long long)i);
		if (!(flags & LOG_MARK))
			match_entry(events, &unmatched, &bio);
	}
	free(order);
}

void events_read(struct events *events, const char *trace_file, const char *log_file)
{
	memset(events, 0, sizeof(*events));
	read_trace(events, trace_file);
	if (!events->nr_bios)
		give_up("%s has no writes", trace_file);
	read_log(events, log_file);
	for (u64 i = 0; i < events->nr_bios; i++) {
		const struct bio *bio = &events->bio[i];

		if (!bio->is_matched && bio->is_done && bio->is_good)
			give_up("The log lacks a write of %u sectors at %llu", bio->nr_sectors,
				(unsigned long long)bio->sector);
	}
}

bool events_is_place(const struct events *events, const struct event *event)
{
	const struct bio *bio = &events->bio[event->index];

	switch (event->kind) {
	case EVENT_QUEUE:
		return bio->nr_sectors;
	case EVENT_DONE:
		return bio->is_good && (bio->is_flush || bio->is_fua);
	case EVENT_OP_DONE:
		return events->op[event->index].is_fua;
	case EVENT_FLUSH_DONE:
	case EVENT_PROMISE:
		return true;
	default:
		return false;
	}
}
