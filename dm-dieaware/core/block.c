// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sealing is the last thing that is done to a page of metadata before it is written, and
 * checking the first after it was read: nothing else in it is looked at before.
 *
 * The checks go from what says least about the page to what says most: is it one of ours,
 * is it whole, and only then, is it the one that belongs here. A seq or epoch of 0 in what
 * is expected means any.
 */
#include "block.h"

static u32 block_checksum(const void *page)
{
	const struct dmda_block_header *header = page;

	return crc32c(~0U, &header->magic, DMDA_BLOCK_BYTES - sizeof(header->crc));
}

void dmda_block_seal(void *page, const struct dmda_block_id *id)
{
	struct dmda_block_header *header = page;

	header->magic = cpu_to_le32(id->magic);
	header->version = cpu_to_le16(DMDA_FORMAT_VERSION);
	header->nr_entries = cpu_to_le16(id->nr_entries);
	header->reserved = 0;
	header->dpn = cpu_to_le64(from_dpn(id->dpn));
	header->index = cpu_to_le64(id->index);
	header->seq = cpu_to_le64(id->seq);
	header->epoch = cpu_to_le64(id->epoch);
	memcpy(header->uuid, id->uuid, DMDA_UUID_BYTES);
	header->crc = cpu_to_le32(block_checksum(page));
}

const char *dmda_block_check(const void *page, const struct dmda_block_id *id)
{
	const struct dmda_block_header *header = page;

	if (le32_to_cpu(header->magic) != id->magic)
		return "a page of metadata has the wrong magic number";
	if (le32_to_cpu(header->crc) != block_checksum(page))
		return "a page of metadata has a wrong checksum";
	if (le16_to_cpu(header->version) != DMDA_FORMAT_VERSION)
		return "a page of metadata has an unknown version";
	if (memcmp(header->uuid, id->uuid, DMDA_UUID_BYTES))
		return "a page of metadata belongs to another device";
	if (le64_to_cpu(header->dpn) != from_dpn(id->dpn) ||
	    le64_to_cpu(header->index) != id->index)
		return "a page of metadata lies where another one belongs";
	if ((id->seq && le64_to_cpu(header->seq) != id->seq) ||
	    (id->epoch && le64_to_cpu(header->epoch) != id->epoch))
		return "a page of metadata is of another time";
	if (le16_to_cpu(header->nr_entries) > id->nr_entries)
		return "a page of metadata has more entries than fit";
	return NULL;
}
