/* SPDX-License-Identifier: GPL-2.0-only */
/* Comparison, rounding, division, overflow, logarithms and hashing. */
#ifndef SHIM_MATH_H
#define SHIM_MATH_H

#define shim_pick(a, b, op) ({				\
	__auto_type shim_a = (a);			\
	__auto_type shim_b = (b);			\
	shim_a op shim_b ? shim_a : shim_b; })

#define min(a, b)		shim_pick(a, b, <)
#define max(a, b)		shim_pick(a, b, >)
#define min_t(type, a, b)	shim_pick((type)(a), (type)(b), <)
#define max_t(type, a, b)	shim_pick((type)(a), (type)(b), >)
#define min3(a, b, c)		min(min(a, b), c)
#define max3(a, b, c)		max(max(a, b), c)
#define min_not_zero(a, b) ({				\
	__auto_type shim_x = (a);			\
	__auto_type shim_y = (b);			\
	!shim_x ? shim_y : !shim_y ? shim_x : min(shim_x, shim_y); })
#define clamp(v, lo, hi)	min((__typeof__(v))max(v, lo), hi)
#define clamp_t(type, v, lo, hi) min_t(type, max_t(type, v, lo), hi)
#define clamp_val(v, lo, hi)	clamp_t(__typeof__(v), v, lo, hi)
#define swap(a, b) do {					\
	__auto_type shim_t = (a);			\
	(a) = (b);					\
	(b) = shim_t; } while (0)

#define round_mask(x, y)	((__typeof__(x))((y) - 1))
#define round_up(x, y)		((((x) - 1) | round_mask(x, y)) + 1)
#define round_down(x, y)	((x) & ~round_mask(x, y))
#define ALIGN(x, a)		(((x) + (__typeof__(x))(a) - 1) & ~((__typeof__(x))(a) - 1))
#define IS_ALIGNED(x, a)	(!((x) & ((__typeof__(x))(a) - 1)))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define DIV_ROUND_UP_ULL(n, d)	DIV_ROUND_UP((unsigned long long)(n), (d))
#define DIV_ROUND_CLOSEST_ULL(n, d) (((unsigned long long)(n) + (d) / 2) / (d))
#define roundup(x, y)		(DIV_ROUND_UP(x, y) * (y))
#define rounddown(x, y)		((x) - (x) % (y))
#define abs_diff(a, b)		({ __auto_type shim_p = (a); __auto_type shim_q = (b); \
	shim_p > shim_q ? shim_p - shim_q : shim_q - shim_p; })

#define BITS_PER_BYTE		8
#define BITS_PER_LONG		64
#define BITS_PER_LONG_LONG	64
#define BIT(nr)			(1UL << (nr))
#define BIT_ULL(nr)		(1ULL << (nr))
#define GENMASK(h, l)		((~0UL << (l)) & (~0UL >> (BITS_PER_LONG - 1 - (h))))
#define GENMASK_ULL(h, l)	((~0ULL << (l)) & (~0ULL >> (63 - (h))))
#define upper_32_bits(n)	((u32)(((u64)(n)) >> 32))
#define lower_32_bits(n)	((u32)(n))

static inline u64 div_u64(u64 n, u32 d) { return n / d; }
static inline u64 div64_u64(u64 n, u64 d) { return n / d; }
static inline s64 div_s64(s64 n, s32 d) { return n / d; }
static inline s64 div64_s64(s64 n, s64 d) { return n / d; }

static inline u64 div_u64_rem(u64 n, u32 d, u32 *rem)
{
	*rem = n % d;
	return n / d;
}

static inline u64 div64_u64_rem(u64 n, u64 d, u64 *rem)
{
	*rem = n % d;
	return n / d;
}

static inline u64 mul_u64_u32_shr(u64 a, u32 mul, unsigned int shift)
{
	return (unsigned __int128)a * mul >> shift;
}

static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
	return (unsigned __int128)a * b >> shift;
}

static inline u64 mul_u64_u64_div_u64(u64 a, u64 b, u64 c)
{
	return (unsigned __int128)a * b / c;
}

static inline u64 mul_u64_u32_div(u64 a, u32 mul, u32 d)
{
	return (unsigned __int128)a * mul / d;
}

static inline u64 mul_u32_u32(u32 a, u32 b) { return (u64)a * b; }

#define check_add_overflow(a, b, d)	__builtin_add_overflow(a, b, d)
#define check_sub_overflow(a, b, d)	__builtin_sub_overflow(a, b, d)
#define check_mul_overflow(a, b, d)	__builtin_mul_overflow(a, b, d)

static inline size_t size_mul(size_t a, size_t b)
{
	size_t bytes;

	return check_mul_overflow(a, b, &bytes) ? SIZE_MAX : bytes;
}

static inline size_t size_add(size_t a, size_t b)
{
	size_t bytes;

	return check_add_overflow(a, b, &bytes) ? SIZE_MAX : bytes;
}

static inline size_t size_sub(size_t a, size_t b)
{
	return a == SIZE_MAX || b == SIZE_MAX || b > a ? SIZE_MAX : a - b;
}

#define array_size(a, b)	size_mul(a, b)
#define array3_size(a, b, c)	size_mul(size_mul(a, b), c)
#define flex_array_size(p, member, n) size_mul(n, sizeof(*(p)->member))
#define struct_size(p, member, n) size_add(sizeof(*(p)), flex_array_size(p, member, n))

static inline int fls(unsigned int x) { return x ? 32 - __builtin_clz(x) : 0; }
static inline int fls64(u64 x) { return x ? 64 - __builtin_clzll(x) : 0; }
static inline unsigned long __fls(unsigned long x) { return 63 - __builtin_clzl(x); }
static inline unsigned long __ffs(unsigned long x) { return __builtin_ctzl(x); }
static inline unsigned long __ffs64(u64 x) { return __builtin_ctzll(x); }
static inline unsigned int hweight32(u32 x) { return __builtin_popcount(x); }
static inline unsigned int hweight64(u64 x) { return __builtin_popcountll(x); }

static inline bool is_power_of_2(unsigned long n) { return n && !(n & (n - 1)); }
static inline int ilog2(u64 n) { return fls64(n) - 1; }
static inline unsigned long roundup_pow_of_two(unsigned long n) { return 1UL << fls64(n - 1); }
static inline unsigned long rounddown_pow_of_two(unsigned long n) { return 1UL << ilog2(n); }
static inline int order_base_2(unsigned long n) { return n > 1 ? fls64(n - 1) : 0; }

/* Any multiplicative hash does: callers may not depend on the kernel's constants. */
static inline u32 hash_32(u32 v, unsigned int bits)
{
	return (v * 0x9e3779b1U) >> (32 - bits);
}

static inline u32 hash_64(u64 v, unsigned int bits)
{
	return (v * 0x9e3779b97f4a7c15ULL) >> (64 - bits);
}

static inline u32 hash_long(unsigned long v, unsigned int bits) { return hash_64(v, bits); }
static inline u32 hash_ptr(const void *p, unsigned int bits) { return hash_64((uintptr_t)p, bits); }

#endif /* SHIM_MATH_H */
