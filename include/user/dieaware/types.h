/* SPDX-License-Identifier: GPL-2.0-only */
/* Fixed-size types, compiler attributes and assertions under the kernel's names. */
#ifndef SHIM_TYPES_H
#define SHIM_TYPES_H

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;
typedef u64 sector_t;
typedef unsigned int gfp_t;

#ifndef __bitwise
#define __bitwise
#endif
#define __force

#define U8_MAX		((u8)~0U)
#define U16_MAX		((u16)~0U)
#define U32_MAX		((u32)~0U)
#define U64_MAX		((u64)~0ULL)
#define S32_MAX		((s32)(U32_MAX >> 1))
#define S32_MIN		((s32)(-S32_MAX - 1))
#define S64_MAX		((s64)(U64_MAX >> 1))
#define S64_MIN		((s64)(-S64_MAX - 1))

#define __maybe_unused	__attribute__((__unused__))
#define __always_unused	__attribute__((__unused__))
#define __must_check	__attribute__((__warn_unused_result__))
#define __printf(a, b)	__attribute__((__format__(printf, a, b)))
#define __packed	__attribute__((__packed__))
#define __aligned(x)	__attribute__((__aligned__(x)))
#define __counted_by(m)
#define noinline	__attribute__((__noinline__))
#define fallthrough	__attribute__((__fallthrough__))
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define unreachable()	__builtin_unreachable()
#define barrier()	__asm__ __volatile__("" : : : "memory")
#define prefetch(x)	__builtin_prefetch(x)
#define READ_ONCE(x)	(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define sizeof_field(type, member) sizeof(((type *)0)->member)
#define offsetofend(type, member) (offsetof(type, member) + sizeof_field(type, member))
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#define shim_static_assert(expr, msg, ...) _Static_assert(expr, msg)
#define static_assert(expr, ...) shim_static_assert(expr, ##__VA_ARGS__, #expr)
#define BUILD_BUG_ON(cond)	_Static_assert(!(cond), "build bug: " #cond)
#define BUILD_BUG_ON_MSG(cond, msg) _Static_assert(!(cond), msg)

/* A state that the code calls impossible: the program ends where it was seen. */
static inline bool shim_warn(bool cond, const char *what, const char *file, int line)
{
	if (cond) {
		fprintf(stderr, "WARNING: %s at %s:%d\n", what, file, line);
		abort();
	}
	return cond;
}

#define WARN_ON(cond)		shim_warn(!!(cond), #cond, __FILE__, __LINE__)
#define WARN_ON_ONCE(cond)	shim_warn(!!(cond), #cond, __FILE__, __LINE__)
#define WARN_ONCE(cond, ...)	shim_warn(!!(cond), #cond, __FILE__, __LINE__)

#define cpu_to_le16(x)	__cpu_to_le16(x)
#define cpu_to_le32(x)	__cpu_to_le32(x)
#define cpu_to_le64(x)	__cpu_to_le64(x)
#define le16_to_cpu(x)	__le16_to_cpu(x)
#define le32_to_cpu(x)	__le32_to_cpu(x)
#define le64_to_cpu(x)	__le64_to_cpu(x)

#define ENOTSUPP	524

#define MAX_ERRNO	4095
static inline bool IS_ERR(const void *ptr) { return (uintptr_t)ptr >= (uintptr_t)-MAX_ERRNO; }
static inline bool IS_ERR_OR_NULL(const void *ptr) { return !ptr || IS_ERR(ptr); }
static inline long PTR_ERR(const void *ptr) { return (long)ptr; }
static inline void *ERR_PTR(long err) { return (void *)err; }

#endif /* SHIM_TYPES_H */
