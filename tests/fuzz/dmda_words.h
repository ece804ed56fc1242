/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzzing text: the input's words, which end at zero bytes, each in memory of its own
 * size so that ASan sees a read behind its end; and lines made of likely words.
 */
#ifndef DMDA_WORDS_FUZZ_H
#define DMDA_WORDS_FUZZ_H

#define FUZZ_MAX_WORDS	64

/**
 * struct fuzz_words - what a target gets from device-mapper
 * @argc: number of words
 * @argv: the words, allocated one by one
 */
struct fuzz_words {
	unsigned int argc;
	char *argv[FUZZ_MAX_WORDS];
};

static inline void split_input(struct fuzz_words *words, const u8 *data, size_t size)
{
	words->argc = 0;
	while (size && words->argc < FUZZ_MAX_WORDS) {
		size_t bytes = strnlen((const char *)data, size);
		char *word = malloc(bytes + 1);

		if (!word)
			abort();
		memcpy(word, data, bytes);
		word[bytes] = 0;
		words->argv[words->argc++] = word;
		bytes = min(bytes + 1, size);
		data += bytes;
		size -= bytes;
	}
}

static inline void free_words(struct fuzz_words *words)
{
	while (words->argc)
		free(words->argv[--words->argc]);
}

/* A complaint is a sentence: it begins and ends like one */
static inline void require_sentence(const char *wrong)
{
	size_t length = strlen(wrong);

	require(length > 10 && length < 140, "A complaint is too short or too long.");
	require(isupper((unsigned char)wrong[0]), "A complaint does not begin like a sentence.");
	require(wrong[length - 1] == '.', "A complaint does not end like a sentence.");
}

#ifndef WITH_LIBFUZZER

/* Words drawn from a list, now and then with a byte changed */
static inline size_t draw_words(u64 *state, u8 *input, const char *const *list, u32 nr_list)
{
	u32 nr_words = next_random(state) % 12;
	size_t bytes = 0;

	while (nr_words--) {
		const char *word = list[next_random(state) % nr_list];
		size_t length = strlen(word) + 1;

		if (bytes + length > FUZZ_MAX_BYTES)
			break;
		memcpy(input + bytes, word, length);
		if (next_random(state) % 16 == 0)
			input[bytes + next_random(state) % length] = next_random(state);
		bytes += length;
	}
	return bytes;
}

#endif /* WITH_LIBFUZZER */

#endif /* DMDA_WORDS_FUZZ_H */
