/* SPDX-License-Identifier: GPL-2.0-only */
/* A line as the words that device-mapper would hand to a target. */
#ifndef WORDS_OF_LINE_H
#define WORDS_OF_LINE_H

#define WORDS_LINE_BYTES	256
#define WORDS_MAX		64

/**
 * struct words - a line cut at its spaces
 * @argc: number of words
 * @argv: the words
 * @line: memory of the words
 */
struct words {
	unsigned int argc;
	char *argv[WORDS_MAX];
	char line[WORDS_LINE_BYTES];
};

static inline void split_line(struct words *words, const char *line)
{
	char *rest = words->line;

	snprintf(words->line, sizeof(words->line), "%s", line);
	words->argc = 0;
	while (words->argc < WORDS_MAX) {
		rest += strspn(rest, " ");
		if (!*rest)
			return;
		words->argv[words->argc++] = rest;
		rest += strcspn(rest, " ");
		if (!*rest)
			return;
		*rest++ = 0;
	}
}

#endif /* WORDS_OF_LINE_H */
