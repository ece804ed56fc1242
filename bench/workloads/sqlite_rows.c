// SPDX-License-Identifier: GPL-2.0-only
/*
 * The SQLite workload of the die-aware paper (FAST'24, section 5.2): rows are
 * inserted one by one, each in its own transaction, while a second file grows
 * after every row; then all rows are read back from a cold cache.
 *
 *	sqlite_rows insert --db FILE [--other FILE] ...
 *	sqlite_rows select --db FILE [--reads N]
 *
 * SQLite runs as it comes: rollback journal, synchronous=FULL, 4 KiB pages.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

#define OTHER_SEED	0x5017u

/**
 * struct job - what to do
 * @db: path of the database
 * @other: path of the file that grows in between, or NULL
 * @nr_rows: rows to insert, or expected
 * @row_bytes: bytes of a row's blob
 * @other_bytes: growth of the other file after each row
 * @nr_reads: times to read all rows
 */
struct job {
	const char *db;
	const char *other;
	uint64_t nr_rows;
	uint64_t row_bytes;
	uint64_t other_bytes;
	uint64_t nr_reads;
};

/**
 * struct growing - the file that grows in between
 * @fd: open file, or -1
 * @bytes: its size
 * @buffer: job->other_bytes
 */
struct growing {
	int fd;
	uint64_t bytes;
	void *buffer;
};

static sqlite3 *open_db(const char *path, int flags)
{
	sqlite3 *db;

	errno = 0;
	if (sqlite3_open_v2(path, &db, flags, NULL) != SQLITE_OK)
		die("Cannot open the database '%s' (%s)", path, sqlite3_errmsg(db));
	return db;
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement;

	errno = 0;
	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		die("SQLite refused '%s' (%s)", sql, sqlite3_errmsg(db));
	return statement;
}

static void grow(const struct job *job, struct growing *other)
{
	if (other->fd < 0)
		return;
	pattern_fill(other->buffer, job->other_bytes, OTHER_SEED, other->bytes);
	write_all(other->fd, other->buffer, job->other_bytes, other->bytes);
	push_out(other->fd, other->bytes, job->other_bytes);
	other->bytes += job->other_bytes;
}

static void insert_row(sqlite3 *db, sqlite3_stmt *statement, uint64_t id, const void *row,
		       uint64_t bytes)
{
	errno = 0;
	if (sqlite3_bind_int64(statement, 1, id) != SQLITE_OK ||
	    sqlite3_bind_blob64(statement, 2, row, bytes, SQLITE_STATIC) != SQLITE_OK ||
	    sqlite3_step(statement) != SQLITE_DONE || sqlite3_reset(statement) != SQLITE_OK)
		die("Row %llu was not inserted (%s)", (unsigned long long)id, sqlite3_errmsg(db));
}

static void run_insert(const struct job *job)
{
	sqlite3 *db = open_db(job->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
	struct growing other = { .fd = -1 };
	sqlite3_stmt *statement;
	void *row = io_buffer(job->row_bytes);
	uint64_t id;

	if (job->other) {
		other.fd = open_file(job->other, O_WRONLY | O_CREAT | O_TRUNC, 0);
		other.buffer = io_buffer(job->other_bytes);
	}
	errno = 0;
	if (sqlite3_exec(db, "CREATE TABLE records(id INTEGER PRIMARY KEY, record BLOB)", NULL,
			 NULL, NULL) != SQLITE_OK)
		die("The table was not created (%s)", sqlite3_errmsg(db));
	statement = prepare(db, "INSERT INTO records VALUES(?, ?)");
	for (id = 1; id <= job->nr_rows; id++) {
		pattern_fill(row, job->row_bytes, id, 0);
		insert_row(db, statement, id, row, job->row_bytes);
		grow(job, &other);
	}
	sqlite3_finalize(statement);
	if (sqlite3_close(db) != SQLITE_OK)
		die("The database was not closed (%s)", sqlite3_errmsg(db));
	if (other.fd >= 0 && (fsync(other.fd) || close(other.fd)))
		die("Finishing '%s' failed", job->other);
	printf("bench: rows=%llu other=%llu\n", (unsigned long long)job->nr_rows,
	       (unsigned long long)other.bytes);
}

static void check_row(const struct job *job, uint64_t id, const void *row, uint64_t bytes)
{
	errno = 0;
	if (bytes != job->row_bytes || pattern_check(row, bytes, id, 0) < bytes)
		die("Row %llu is not what was inserted", (unsigned long long)id);
}

/* Reads all rows; sqlite3_column_blob() is what makes SQLite fetch a row's pages. */
static void read_rows(const struct job *job, int verify)
{
	sqlite3 *db = open_db(job->db, SQLITE_OPEN_READONLY);
	sqlite3_stmt *statement = prepare(db, "SELECT * FROM records");
	uint64_t rows = 0;

	while (sqlite3_step(statement) == SQLITE_ROW) {
		const void *row = sqlite3_column_blob(statement, 1);

		rows++;
		if (verify)
			check_row(job, sqlite3_column_int64(statement, 0), row,
				  sqlite3_column_bytes(statement, 1));
	}
	if (sqlite3_finalize(statement) != SQLITE_OK)
		die("The rows could not be read (%s)", sqlite3_errmsg(db));
	sqlite3_close(db);
	errno = 0;
	if (rows != job->nr_rows)
		die("There are %llu rows instead of %llu", (unsigned long long)rows,
		    (unsigned long long)job->nr_rows);
}

static void run_select(const struct job *job)
{
	/* Open all the time, so that the filesystem keeps the file's metadata. */
	int fd = open_file(job->db, O_RDONLY, 0);
	uint64_t *samples = calloc(job->nr_reads, sizeof(*samples));
	uint64_t i;

	if (!samples)
		die("There is no memory for the samples");
	for (i = 0; i < job->nr_reads; i++) {
		drop_page_cache();
		samples[i] = now_ns();
		read_rows(job, 0);
		samples[i] = now_ns() - samples[i];
	}
	drop_page_cache();
	read_rows(job, 1);
	printf("bench: bytes=%lld extents=%ld verified=1", (long long)lseek(fd, 0, SEEK_END),
	       count_extents(fd));
	print_samples(samples, job->nr_reads);
	printf("\n");
	free(samples);
	close(fd);
}

static const struct option options[] = {
	{ "db", required_argument, NULL, 'd' },
	{ "other", required_argument, NULL, 'o' },
	{ "rows", required_argument, NULL, 'r' },
	{ "row-bytes", required_argument, NULL, 'b' },
	{ "other-bytes", required_argument, NULL, 'B' },
	{ "reads", required_argument, NULL, 'n' },
	{ NULL, 0, NULL, 0 }
};

static void parse_option(struct job *job, int option)
{
	switch (option) {
	case 'd':
		job->db = optarg;
		break;
	case 'o':
		job->other = optarg;
		break;
	case 'r':
		job->nr_rows = parse_u64("--rows", optarg);
		break;
	case 'b':
		job->row_bytes = parse_u64("--row-bytes", optarg);
		break;
	case 'B':
		job->other_bytes = parse_u64("--other-bytes", optarg);
		break;
	case 'n':
		job->nr_reads = parse_u64("--reads", optarg);
		break;
	default:
		_exit(2);
	}
}

int main(int argc, char **argv)
{
	struct job job = {
		.nr_rows = 10000,
		.row_bytes = 16 * KIB,
		.other_bytes = 100 * KIB,
		.nr_reads = 4,
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		parse_option(&job, option);
	errno = 0;
	if (!job.db || optind != argc - 1)
		die("Usage: sqlite_rows insert|select --db FILE [OPTION]...");
	if (!job.nr_rows || !job.nr_reads || !job.row_bytes || job.row_bytes % PAGE_BYTES ||
	    !job.other_bytes || job.other_bytes % PAGE_BYTES)
		die("There must be rows and reads, and sizes must be whole pages");
	if (!strcmp(argv[optind], "insert"))
		run_insert(&job);
	else if (!strcmp(argv[optind], "select"))
		run_select(&job);
	else
		die("There is no '%s': insert or select", argv[optind]);
	return 0;
}
