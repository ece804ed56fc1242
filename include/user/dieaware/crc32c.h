/* SPDX-License-Identifier: GPL-2.0-only */
/* CRC32C (Castagnoli), as the kernel's crc32c(): no inversion before or after. */
#ifndef SHIM_CRC32C_H
#define SHIM_CRC32C_H

#define SHIM_CRC32C_POLYNOMIAL	0x82f63b78U

static u32 shim_crc32c_table[256];

static inline void shim_crc32c_init(void)
{
	for (u32 i = 0; i < 256; i++) {
		u32 crc = i;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? SHIM_CRC32C_POLYNOMIAL : 0);
		shim_crc32c_table[i] = crc;
	}
}

static inline u32 crc32c(u32 crc, const void *data, unsigned int bytes)
{
	const u8 *byte = data;

	if (!shim_crc32c_table[1])
		shim_crc32c_init();
	while (bytes--)
		crc = crc >> 8 ^ shim_crc32c_table[(crc ^ *byte++) & 0xff];
	return crc;
}

#endif /* SHIM_CRC32C_H */
