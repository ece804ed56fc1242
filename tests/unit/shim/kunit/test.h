/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of KUnit that the suites use, for ordinary programs. A suite file is one
 * program: it runs every case, prints KTAP and exits non-zero if one failed. A failed
 * assertion ends its case, a failed expectation does not.
 */
#ifndef SHIM_KUNIT_TEST_H
#define SHIM_KUNIT_TEST_H

#include <dieaware/platform.h>
#include <setjmp.h>

#define KUNIT_PARAM_DESC_SIZE	128
#define GFP_KERNEL		0U
#define __GFP_NOWARN		0U
#define THIS_MODULE		NULL

struct shim_kunit_memory {
	struct shim_kunit_memory *next;
	max_align_t data[];
};

/**
 * struct kunit - one run of one case
 * @priv: belongs to the suite
 * @param_value: parameter of a parameterised case
 * @failed: something was not as expected
 * @skipped: why the case does not apply, or empty
 * @memory: freed after the case
 * @end: where a failed assertion goes
 */
struct kunit {
	void *priv;
	const void *param_value;
	bool failed;
	char skipped[128];
	struct shim_kunit_memory *memory;
	jmp_buf end;
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
	const void *(*generate_params)(const void *prev, char *desc);
};

struct kunit_suite {
	const char name[256];
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
};

#define KUNIT_CASE(fn)			{ .run_case = fn, .name = #fn }
#define KUNIT_CASE_SLOW(fn)		KUNIT_CASE(fn)
#define KUNIT_CASE_PARAM(fn, gen)	{ .run_case = fn, .name = #fn, .generate_params = gen }

#define KUNIT_ARRAY_PARAM(param, array, get_desc)					\
static const void *param##_gen_params(const void *prev, char *desc)		\
{										\
	__typeof__(&(array)[0]) next = prev ?					\
		(__typeof__(&(array)[0]))prev + 1 : &(array)[0];		\
	void (*describe)(__typeof__(next), char *) = get_desc;			\
										\
	if (next >= (array) + ARRAY_SIZE(array))				\
		return NULL;							\
	if (describe)								\
		describe(next, desc);						\
	return next;								\
}

static inline void *kunit_kzalloc(struct kunit *test, size_t bytes, gfp_t gfp)
{
	struct shim_kunit_memory *memory = calloc(1, sizeof(*memory) + bytes);

	(void)gfp;
	if (!memory)
		abort();
	memory->next = test->memory;
	test->memory = memory;
	return memory->data;
}

static inline void kunit_kfree(struct kunit *test, const void *data)
{
	for (struct shim_kunit_memory **at = &test->memory; *at; at = &(*at)->next) {
		struct shim_kunit_memory *memory = *at;

		if ((const void *)memory->data != data)
			continue;
		*at = memory->next;
		free(memory);
		return;
	}
}

#define kunit_kmalloc(test, bytes, gfp)		kunit_kzalloc(test, bytes, gfp)
#define kunit_kcalloc(test, n, bytes, gfp)	kunit_kzalloc(test, array_size(n, bytes), gfp)
#define kunit_kmalloc_array(test, n, bytes, gfp) kunit_kzalloc(test, array_size(n, bytes), gfp)

/* A line of its own, whether or not the message ends with a newline. */
static inline __printf(1, 2) void shim_kunit_message(const char *fmt, ...)
{
	char text[512];
	va_list args;
	size_t len;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	len = strlen(text);
	if (len && text[len - 1] == '\n')
		text[len - 1] = 0;
	printf("        # %s\n", text);
}

#define kunit_info(test, ...)	((void)(test), shim_kunit_message(__VA_ARGS__))
#define kunit_warn(test, ...)	kunit_info(test, __VA_ARGS__)
#define kunit_err(test, ...)	kunit_info(test, __VA_ARGS__)

#define kunit_skip(test, ...) do {						\
	snprintf((test)->skipped, sizeof((test)->skipped), __VA_ARGS__);	\
	longjmp((test)->end, 1);						\
} while (0)

#define shim_kunit_fail(test, fatal, what, file, line, ...) do {		\
	(test)->failed = true;							\
	printf("        # %s:%d: %s\n", file, line, what);			\
	__VA_OPT__(shim_kunit_message(__VA_ARGS__);)				\
	if (fatal)								\
		longjmp((test)->end, 1);					\
} while (0)

#define shim_kunit_true(test, fatal, cond, what, ...) do {			\
	if (!(cond))								\
		shim_kunit_fail(test, fatal, "expected " what, __FILE__, __LINE__, \
				##__VA_ARGS__);					\
} while (0)

#define shim_kunit_compare(test, fatal, a, op, b, ...) do {			\
	__auto_type shim_left = (a);						\
	__auto_type shim_right = (b);						\
										\
	if (!(shim_left op shim_right)) {					\
		printf("        # %s is %lld, %s is %lld\n", #a,		\
		       (long long)shim_left, #b, (long long)shim_right);	\
		shim_kunit_fail(test, fatal, "expected " #a " " #op " " #b,	\
				__FILE__, __LINE__, ##__VA_ARGS__);		\
	}									\
} while (0)

#define shim_kunit_strings(test, fatal, a, b, equal, ...) do {			\
	const char *shim_left = (a);						\
	const char *shim_right = (b);						\
	bool shim_same = shim_left && shim_right && !strcmp(shim_left, shim_right); \
										\
	if (shim_same != (equal)) {						\
		printf("        # %s is \"%s\", %s is \"%s\"\n", #a,		\
		       shim_left ? shim_left : "(null)", #b,			\
		       shim_right ? shim_right : "(null)");			\
		shim_kunit_fail(test, fatal, "wrong string", __FILE__, __LINE__, \
				##__VA_ARGS__);					\
	}									\
} while (0)

#define shim_kunit_bytes(test, fatal, a, b, size, equal, ...) do {		\
	if (!memcmp(a, b, size) != (equal))					\
		shim_kunit_fail(test, fatal, "wrong bytes in " #a, __FILE__, __LINE__, \
				##__VA_ARGS__);					\
} while (0)

#define KUNIT_EXPECT_TRUE(t, c)		shim_kunit_true(t, false, c, #c)
#define KUNIT_EXPECT_FALSE(t, c)	shim_kunit_true(t, false, !(c), "!(" #c ")")
#define KUNIT_EXPECT_EQ(t, a, b)	shim_kunit_compare(t, false, a, ==, b)
#define KUNIT_EXPECT_NE(t, a, b)	shim_kunit_compare(t, false, a, !=, b)
#define KUNIT_EXPECT_LT(t, a, b)	shim_kunit_compare(t, false, a, <, b)
#define KUNIT_EXPECT_LE(t, a, b)	shim_kunit_compare(t, false, a, <=, b)
#define KUNIT_EXPECT_GT(t, a, b)	shim_kunit_compare(t, false, a, >, b)
#define KUNIT_EXPECT_GE(t, a, b)	shim_kunit_compare(t, false, a, >=, b)
#define KUNIT_EXPECT_NULL(t, p)		shim_kunit_true(t, false, !(p), #p " is NULL")
#define KUNIT_EXPECT_NOT_NULL(t, p)	shim_kunit_true(t, false, p, #p " is not NULL")
#define KUNIT_EXPECT_PTR_EQ(t, a, b)	shim_kunit_true(t, false, (a) == (b), #a " == " #b)
#define KUNIT_EXPECT_PTR_NE(t, a, b)	shim_kunit_true(t, false, (a) != (b), #a " != " #b)
#define KUNIT_EXPECT_STREQ(t, a, b)	shim_kunit_strings(t, false, a, b, true)
#define KUNIT_EXPECT_STRNEQ(t, a, b)	shim_kunit_strings(t, false, a, b, false)
#define KUNIT_EXPECT_MEMEQ(t, a, b, n)	shim_kunit_bytes(t, false, a, b, n, true)
#define KUNIT_EXPECT_MEMNEQ(t, a, b, n)	shim_kunit_bytes(t, false, a, b, n, false)

#define KUNIT_EXPECT_TRUE_MSG(t, c, ...) shim_kunit_true(t, false, c, #c, __VA_ARGS__)
#define KUNIT_EXPECT_FALSE_MSG(t, c, ...) shim_kunit_true(t, false, !(c), "!(" #c ")", __VA_ARGS__)
#define KUNIT_EXPECT_EQ_MSG(t, a, b, ...) shim_kunit_compare(t, false, a, ==, b, __VA_ARGS__)
#define KUNIT_EXPECT_NE_MSG(t, a, b, ...) shim_kunit_compare(t, false, a, !=, b, __VA_ARGS__)
#define KUNIT_EXPECT_LT_MSG(t, a, b, ...) shim_kunit_compare(t, false, a, <, b, __VA_ARGS__)
#define KUNIT_EXPECT_LE_MSG(t, a, b, ...) shim_kunit_compare(t, false, a, <=, b, __VA_ARGS__)
#define KUNIT_EXPECT_GT_MSG(t, a, b, ...) shim_kunit_compare(t, false, a, >, b, __VA_ARGS__)
#define KUNIT_EXPECT_GE_MSG(t, a, b, ...) shim_kunit_compare(t, false, a, >=, b, __VA_ARGS__)
#define KUNIT_EXPECT_NULL_MSG(t, p, ...) shim_kunit_true(t, false, !(p), #p " is NULL", __VA_ARGS__)
#define KUNIT_EXPECT_STREQ_MSG(t, a, b, ...) shim_kunit_strings(t, false, a, b, true, __VA_ARGS__)

#define KUNIT_ASSERT_TRUE(t, c)		shim_kunit_true(t, true, c, #c)
#define KUNIT_ASSERT_FALSE(t, c)	shim_kunit_true(t, true, !(c), "!(" #c ")")
#define KUNIT_ASSERT_EQ(t, a, b)	shim_kunit_compare(t, true, a, ==, b)
#define KUNIT_ASSERT_NE(t, a, b)	shim_kunit_compare(t, true, a, !=, b)
#define KUNIT_ASSERT_LT(t, a, b)	shim_kunit_compare(t, true, a, <, b)
#define KUNIT_ASSERT_LE(t, a, b)	shim_kunit_compare(t, true, a, <=, b)
#define KUNIT_ASSERT_GT(t, a, b)	shim_kunit_compare(t, true, a, >, b)
#define KUNIT_ASSERT_GE(t, a, b)	shim_kunit_compare(t, true, a, >=, b)
#define KUNIT_ASSERT_NULL(t, p)		shim_kunit_true(t, true, !(p), #p " is NULL")
#define KUNIT_ASSERT_NOT_NULL(t, p)	shim_kunit_true(t, true, p, #p " is not NULL")
#define KUNIT_ASSERT_NOT_ERR_OR_NULL(t, p) \
	shim_kunit_true(t, true, !IS_ERR_OR_NULL(p), #p " is neither NULL nor an error")
#define KUNIT_ASSERT_STREQ(t, a, b)	shim_kunit_strings(t, true, a, b, true)

#define KUNIT_ASSERT_TRUE_MSG(t, c, ...) shim_kunit_true(t, true, c, #c, __VA_ARGS__)
#define KUNIT_ASSERT_FALSE_MSG(t, c, ...) shim_kunit_true(t, true, !(c), "!(" #c ")", __VA_ARGS__)
#define KUNIT_ASSERT_EQ_MSG(t, a, b, ...) shim_kunit_compare(t, true, a, ==, b, __VA_ARGS__)
#define KUNIT_ASSERT_NE_MSG(t, a, b, ...) shim_kunit_compare(t, true, a, !=, b, __VA_ARGS__)
#define KUNIT_ASSERT_LE_MSG(t, a, b, ...) shim_kunit_compare(t, true, a, <=, b, __VA_ARGS__)
#define KUNIT_ASSERT_GE_MSG(t, a, b, ...) shim_kunit_compare(t, true, a, >=, b, __VA_ARGS__)
#define KUNIT_ASSERT_NULL_MSG(t, p, ...) shim_kunit_true(t, true, !(p), #p " is NULL", __VA_ARGS__)

#define KUNIT_FAIL(t, ...)	shim_kunit_fail(t, false, "failed", __FILE__, __LINE__, __VA_ARGS__)

static inline void shim_kunit_free(struct kunit *test)
{
	while (test->memory) {
		struct shim_kunit_memory *memory = test->memory;

		test->memory = memory->next;
		free(memory);
	}
}

/* Return: did one run of one case pass? */
static inline bool shim_kunit_run_once(const struct kunit_suite *suite,
				       const struct kunit_case *one, struct kunit *test)
{
	if (!setjmp(test->end)) {
		if (suite->init && suite->init(test))
			test->failed = true;
		else
			one->run_case(test);
	}
	if (suite->exit)
		suite->exit(test);
	shim_kunit_free(test);
	return !test->failed;
}

static inline bool shim_kunit_run_params(const struct kunit_suite *suite,
					 const struct kunit_case *one)
{
	char desc[KUNIT_PARAM_DESC_SIZE] = "";
	const void *param = NULL;
	bool passed = true;
	int nr = 0;

	printf("        KTAP version 1\n        # Subtest: %s\n", one->name);
	while ((param = one->generate_params(param, desc))) {
		struct kunit test = { .param_value = param };
		bool ok = shim_kunit_run_once(suite, one, &test);

		printf("        %sok %d %s%s%s\n", ok ? "" : "not ", ++nr, desc,
		       test.skipped[0] ? " # SKIP " : "", test.skipped);
		passed &= ok;
		desc[0] = 0;
	}
	printf("        1..%d\n", nr);
	return passed && nr > 0;
}

static inline bool shim_kunit_run_case(const struct kunit_suite *suite,
				       const struct kunit_case *one, int nr)
{
	struct kunit test = { 0 };
	bool ok = one->generate_params ? shim_kunit_run_params(suite, one) :
		shim_kunit_run_once(suite, one, &test);

	printf("    %sok %d %s%s%s\n", ok ? "" : "not ", nr, one->name,
	       test.skipped[0] ? " # SKIP " : "", test.skipped);
	return ok;
}

/* Return: does this case run? With SHIM_KUNIT_CASE in the environment only that one does. */
static inline bool shim_kunit_wants(const struct kunit_case *one)
{
	const char *only = getenv("SHIM_KUNIT_CASE");

	return !only || !strcmp(only, one->name);
}

static inline bool shim_kunit_run_suite(const struct kunit_suite *suite, int nr)
{
	int nr_cases = 0;
	bool passed = true;

	while (suite->test_cases[nr_cases].run_case)
		nr_cases++;
	printf("    KTAP version 1\n    # Subtest: %s\n    1..%d\n", suite->name, nr_cases);
	for (int i = 0; i < nr_cases; i++) {
		if (shim_kunit_wants(&suite->test_cases[i]))
			passed &= shim_kunit_run_case(suite, &suite->test_cases[i], i + 1);
	}
	printf("%sok %d %s\n", passed ? "" : "not ", nr, suite->name);
	return passed;
}

#define kunit_test_suites(...)							\
int main(void)									\
{										\
	struct kunit_suite *suites[] = { __VA_ARGS__ };				\
	bool passed = true;							\
										\
	setvbuf(stdout, NULL, _IOLBF, 0);					\
	printf("KTAP version 1\n1..%zu\n", ARRAY_SIZE(suites));			\
	for (size_t i = 0; i < ARRAY_SIZE(suites); i++)				\
		passed &= shim_kunit_run_suite(suites[i], i + 1);		\
	return passed ? EXIT_SUCCESS : EXIT_FAILURE;				\
}										\
static_assert(1)

#define kunit_test_suite(suite)	kunit_test_suites(&(suite))

#define MODULE_LICENSE(x)	static_assert(1)
#define MODULE_DESCRIPTION(x)	static_assert(1)
#define MODULE_AUTHOR(x)	static_assert(1)

#endif /* SHIM_KUNIT_TEST_H */
