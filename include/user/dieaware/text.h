/* SPDX-License-Identifier: GPL-2.0-only */
/* Strings and numbers in text, with the kernel's strictness. */
#ifndef SHIM_TEXT_H
#define SHIM_TEXT_H

static inline __printf(3, 4) int scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int len;

	if (!size)
		return 0;
	va_start(args, fmt);
	len = vsnprintf(buf, size, fmt, args);
	va_end(args);
	return len < 0 ? 0 : (size_t)len < size ? len : (int)size - 1;
}

static inline ssize_t shim_strscpy(char *dst, const char *src, size_t size)
{
	size_t len = strlen(src);

	if (!size)
		return -E2BIG;
	if (len >= size) {
		memcpy(dst, src, size - 1);
		dst[size - 1] = 0;
		return -E2BIG;
	}
	memcpy(dst, src, len + 1);
	return len;
}

#define shim_strscpy2(dst, src, ...)	 shim_strscpy(dst, src, sizeof(dst))
#define shim_strscpy3(dst, src, size, ...) shim_strscpy(dst, src, size)
#define shim_third(a, b, c, name, ...)	 name
#define strscpy(...) \
	shim_third(__VA_ARGS__, shim_strscpy3, shim_strscpy2)(__VA_ARGS__)

static inline size_t str_has_prefix(const char *str, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(str, prefix, len) ? 0 : len;
}

static inline char *skip_spaces(const char *str)
{
	while (isspace((unsigned char)*str))
		str++;
	return (char *)str;
}

static inline void *memchr_inv(const void *start, int c, size_t bytes)
{
	const u8 *p = start;

	for (; bytes; bytes--, p++) {
		if (*p != (u8)c)
			return (void *)p;
	}
	return NULL;
}

/* kstrtox: the whole string is the number, one trailing newline allowed, no spaces. */
static inline int kstrtoull(const char *s, unsigned int base, unsigned long long *res)
{
	unsigned long long value;
	char *end;

	if (*s == '+')
		s++;
	if (!isxdigit((unsigned char)*s))
		return -EINVAL;
	errno = 0;
	value = strtoull(s, &end, base);
	if (errno == ERANGE)
		return -ERANGE;
	if (*end == '\n')
		end++;
	if (end == s || *end)
		return -EINVAL;
	*res = value;
	return 0;
}

static inline int shim_kstrtou(const char *s, unsigned int base, u64 most, u64 *res)
{
	unsigned long long value;
	int ret = kstrtoull(s, base, &value);

	if (ret)
		return ret;
	if (value > most)
		return -ERANGE;
	*res = value;
	return 0;
}

#define SHIM_KSTRTO(name, type, most)						\
static inline int name(const char *s, unsigned int base, type *res)		\
{										\
	u64 value;								\
	int ret = shim_kstrtou(s, base, most, &value);				\
										\
	if (!ret)								\
		*res = value;							\
	return ret;								\
}

SHIM_KSTRTO(kstrtou64, u64, U64_MAX)
SHIM_KSTRTO(kstrtou32, u32, U32_MAX)
SHIM_KSTRTO(kstrtouint, unsigned int, U32_MAX)
SHIM_KSTRTO(kstrtou16, u16, U16_MAX)
SHIM_KSTRTO(kstrtou8, u8, U8_MAX)
SHIM_KSTRTO(kstrtoul, unsigned long, ULONG_MAX)

static inline int kstrtobool(const char *s, bool *res)
{
	switch (s[0]) {
	case 'y': case 'Y': case 't': case 'T': case '1':
		*res = true;
		return 0;
	case 'n': case 'N': case 'f': case 'F': case '0':
		*res = false;
		return 0;
	case 'o': case 'O':
		if (s[1] != 'n' && s[1] != 'N' && s[1] != 'f' && s[1] != 'F')
			return -EINVAL;
		*res = s[1] == 'n' || s[1] == 'N';
		return 0;
	default:
		return -EINVAL;
	}
}

#endif /* SHIM_TEXT_H */
