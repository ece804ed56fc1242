/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory that is there or the program ends, and how it ends. */
#ifndef CRASH_UTIL_H
#define CRASH_UTIL_H

#include <dieaware/platform.h>

static inline __printf(1, 2) __attribute__((noreturn)) void give_up(const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputs(".\n", stderr);
	exit(2);
}

static inline void *must(void *memory)
{
	if (!memory)
		give_up("There is no memory");
	return memory;
}

/* Room for one more in an array that grows; @nr are in use. */
static inline void *grow(void *array, u64 nr, size_t bytes)
{
	if (nr & (nr - 1))
		return array;
	return must(realloc(array, (nr ? 2 * nr : 1) * bytes));
}

static inline u32 draw(u64 *state, u32 limit)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (*state >> 33) % limit;
}

#endif /* CRASH_UTIL_H */
