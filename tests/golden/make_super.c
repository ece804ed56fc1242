// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lays out devices by the core and prints the superblocks, for the comparison with what
 * the tool makes of the same. Each line of standard input is a request of six numbers:
 *
 *	DEVICE-PAGES STRIPE-PAGES SEGMENT-PAGES JOURNAL-SECTORS RESERVE-PERMILLE CHECKSUMS
 *
 * Each line of output has the page in hexadecimal digits, without the reserved bytes at its
 * end, or "no" and the reason.
 */
#include <dieaware/platform.h>

#include "../../dm-dieaware/core/block.c"
#include "../../dm-dieaware/core/super.c"

static void print_page(const struct dmda_super *super)
{
	struct dmda_super_block page;
	const u8 *byte = (const u8 *)&page;

	dmda_super_encode(super, &page);
	for (size_t i = 0; i < offsetof(struct dmda_super_block, reserved); i++)
		printf("%02x", byte[i]);
	putchar('\n');
}

int main(void)
{
	static const u8 uuid[DMDA_UUID_BYTES] = "0123456789abcdef";
	struct dmda_format format = {
		.uuid = uuid,
		.label = "golden",
		.journal_unit_sectors = 8,
	};
	unsigned long long nr_device_pages;
	unsigned int checksums, drafts;

	while (scanf("%llu %u %u %u %u %u %u", &nr_device_pages, &format.stripe_pages,
		     &format.segment_pages, &format.journal_sectors,
		     &format.reserve_permille, &checksums, &drafts) == 7) {
		struct dmda_super super;
		const char *why;

		format.nr_device_pages = nr_device_pages;
		format.checksums = checksums;
		format.drafts = drafts;
		why = dmda_super_make(&format, &super);
		if (why)
			printf("no %s\n", why);
		else
			print_page(&super);
	}
	return 0;
}
