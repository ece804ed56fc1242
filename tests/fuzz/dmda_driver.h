/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What makes a fuzzer of dm-dieaware's core a program. With WITH_LIBFUZZER inputs come
 * from there; otherwise main() draws them from a seeded generator:
 *
 *   dmda_..._fuzz SECONDS [SEED]
 *   dmda_..._fuzz -r FILE
 *
 * A failing input is written to PROGRAM.crash, and -r plays it again. A fuzzer defines
 * FUZZ_NAME and FUZZ_MAX_BYTES first, and the two functions below.
 */
#ifndef DMDA_DRIVER_H
#define DMDA_DRIVER_H

#include <dieaware/platform.h>

/* Do with the input whatever it says; stop the program when something is wrong */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static inline void require(bool cond, const char *what)
{
	if (cond)
		return;
	fprintf(stderr, FUZZ_NAME ": %s\n", what);
	abort();
}

static inline u64 next_random(u64 *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

#ifndef WITH_LIBFUZZER

#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static u8 fuzz_input[FUZZ_MAX_BYTES];
static size_t fuzz_input_bytes;

/* Fill @input with up to FUZZ_MAX_BYTES bytes. Return: how many. */
static size_t draw_input(u64 *state, u8 *input);

static void keep_input(void)
{
	FILE *file = fopen(FUZZ_NAME ".crash", "wb");

	if (!file)
		return;
	fwrite(fuzz_input, 1, fuzz_input_bytes, file);
	fclose(file);
	fprintf(stderr, FUZZ_NAME ": the input is in " FUZZ_NAME ".crash\n");
}

static void end_on_signal(int signal_nr)
{
	(void)signal_nr;
	keep_input();
	_exit(1);
}

static int replay(const char *name)
{
	FILE *file = fopen(name, "rb");

	if (!file) {
		fprintf(stderr, FUZZ_NAME ": %s cannot be opened.\n", name);
		return 2;
	}
	fuzz_input_bytes = fread(fuzz_input, 1, sizeof(fuzz_input), file);
	fclose(file);
	LLVMFuzzerTestOneInput(fuzz_input, fuzz_input_bytes);
	return 0;
}

int main(int argc, char **argv)
{
	u64 seed = argc > 2 ? strtoull(argv[2], NULL, 10) : (u64)time(NULL);
	u64 state = seed;
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 10);
	u64 nr_inputs = 0;

	if (argc == 3 && !strcmp(argv[1], "-r"))
		return replay(argv[2]);
	printf(FUZZ_NAME ": seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	__sanitizer_set_death_callback(keep_input);
	signal(SIGABRT, end_on_signal);
	signal(SIGALRM, end_on_signal);
	while (time(NULL) < end) {
		fuzz_input_bytes = draw_input(&state, fuzz_input);
		/* A call that does not end would never return */
		alarm(60);
		LLVMFuzzerTestOneInput(fuzz_input, fuzz_input_bytes);
		nr_inputs++;
	}
	printf(FUZZ_NAME ": %llu inputs, nothing found\n", (unsigned long long)nr_inputs);
	return 0;
}

#endif /* WITH_LIBFUZZER */

#endif /* DMDA_DRIVER_H */
