// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the pages of a bio to the file they belong to. The only file that looks into
 * the page cache.
 *
 * A page of the page cache names its inode and its place in the file. That is what
 * the bio writes only if the page is under writeback right now: a page of the page
 * cache can as well be the source of somebody's O_DIRECT write, or a copy on its way
 * into a journal (ext4 with data=journal, which marks it REQ_META). For reads, the
 * page is locked and not up to date while it is being filled.
 *
 * A page under writeback keeps its inode alive. Where the page may be another's, RCU
 * keeps the inode's memory readable for long enough to see that it is no good; a
 * wrong answer then costs a hint, since nothing is remembered but numbers.
 */
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/pagemap.h>

#include "core/file-id.h"
#include "dieaware.h"
#include "fsmap.h"

#define BTRFS_TREE_INODE	1
#define F2FS_LAST_META_INODE	2

static u64 position_of(const struct bio_vec *bvec, struct folio *folio)
{
	return folio_pos(folio) + ((u64)folio_page_idx(folio, bvec->bv_page) << PAGE_SHIFT) +
	       bvec->bv_offset;
}

/* Some filesystems keep metadata in inodes of their own, which look like files */
static bool holds_file_data(const struct inode *inode)
{
	if (!S_ISREG(inode->i_mode))
		return false;
	switch (inode->i_sb->s_magic) {
	case BTRFS_SUPER_MAGIC:
		return inode->i_ino != BTRFS_TREE_INODE;
	case F2FS_SUPER_MAGIC:
		return inode->i_ino > F2FS_LAST_META_INODE;
	}
	return true;
}

/* The file behind a mapping; false if it holds no file data */
static bool identify_mapping(struct address_space *mapping, struct dmda_identity *identity)
{
	struct inode *inode = READ_ONCE(mapping->host);

	if (!inode || !holds_file_data(inode))
		return false;
	identity->ino = inode->i_ino;
	identity->file = dmda_file_id(inode->i_sb->s_dev, inode->i_ino, inode->i_generation);
	return true;
}

/* The last byte of a bio, as a vector of length 1 */
static struct bio_vec last_byte(struct bio *bio)
{
	struct bvec_iter iter = bio->bi_iter;

	bio_advance_iter(bio, &iter, iter.bi_size - 1);
	return bio_iter_iovec(bio, iter);
}

static bool continues(const struct bio_vec *bvec, struct address_space *mapping, u64 pos)
{
	struct folio *folio = page_folio(bvec->bv_page);

	return folio_mapping(folio) == mapping && position_of(bvec, folio) == pos;
}

/*
 * How much of the bio goes on in the file as it begins. Nearly always all of it, and
 * then its last byte is where the first byte says that it should be; f2fs alone puts
 * several files into one bio.
 */
static u32 length_in_file(struct bio *bio, struct address_space *mapping, u64 pos)
{
	struct bvec_iter iter;
	struct bio_vec bvec;
	u32 len = 0;

	if (bio->bi_iter.bi_size <= PAGE_SIZE)
		return bio->bi_iter.bi_size;
	bvec = last_byte(bio);
	if (continues(&bvec, mapping, pos + bio->bi_iter.bi_size - 1))
		return bio->bi_iter.bi_size;

	bio_for_each_segment(bvec, bio, iter) {
		if (!continues(&bvec, mapping, pos + len))
			break;
		len += bvec.bv_len;
	}
	return len;
}

/* A page of the page cache under writeback: a file's, or metadata */
static void identify_writeback(struct bio *bio, const struct bio_vec *first,
			       struct address_space *mapping, struct dmda_identity *identity)
{
	if (!identify_mapping(mapping, identity)) {
		dmda_identity_clear(identity, DMDA_SOURCE_METADATA);
		return;
	}
	identity->source = DMDA_SOURCE_PAGE;
	identity->pos_bytes = position_of(first, page_folio(first->bv_page));
	identity->len_bytes = length_in_file(bio, mapping, identity->pos_bytes);
}

/* Metadata that is not under writeback in the page cache's sense: buffers, nodes */
static bool is_metadata_mapping(struct address_space *mapping)
{
	struct inode *inode = READ_ONCE(mapping->host);

	return inode && !holds_file_data(inode);
}

/* Whether the page says what the bio is, by the mapping that it is of */
static bool identify_by_mapping(struct bio *bio, struct folio *folio,
				struct dmda_identity *identity)
{
	struct bio_vec first = bio_iter_iovec(bio, bio->bi_iter);
	struct address_space *mapping;
	bool known = true;

	rcu_read_lock();
	mapping = folio_mapping(folio);
	if (!mapping)
		known = false;
	else if (folio_test_writeback(folio))
		identify_writeback(bio, &first, mapping, identity);
	else if (is_metadata_mapping(mapping))
		dmda_identity_clear(identity, DMDA_SOURCE_METADATA);
	else
		known = false;
	rcu_read_unlock();
	return known;
}

/* Apart, so that writes of the user's pages do not pay for its registers */
static noinline void identify_others(struct dmda *dmda, struct bio *bio,
				     struct dmda_identity *identity)
{
	struct folio *folio = page_folio(bvec_iter_page(bio->bi_io_vec, bio->bi_iter));

	if ((bio->bi_opf & REQ_META) || folio_test_slab(folio))
		dmda_identity_clear(identity, DMDA_SOURCE_METADATA);
	else if (!identify_by_mapping(bio, folio, identity))
		dmda_fsmap_find(dmda->self_dev, bio, identity);
}

void dmda_identify_write(struct dmda *dmda, struct bio *bio, struct dmda_identity *identity)
{
	identity->len_bytes = bio->bi_iter.bi_size;

	if (dmda_is_users(bio))
		dmda_fsmap_find(dmda->self_dev, bio, identity);
	else
		identify_others(dmda, bio, identity);
}

bool dmda_identify_read(struct bio *bio, struct dmda_identity *identity)
{
	struct bio_vec first = bio_iter_iovec(bio, bio->bi_iter);
	struct folio *folio = page_folio(first.bv_page);
	struct address_space *mapping;
	bool known;

	if (folio_test_slab(folio) || folio_test_anon(folio))
		return false;

	rcu_read_lock();
	mapping = folio_mapping(folio);
	known = mapping && identify_mapping(mapping, identity);
	if (known) {
		identity->source = DMDA_SOURCE_PAGE;
		identity->pos_bytes = position_of(&first, folio);
		identity->len_bytes = length_in_file(bio, mapping, identity->pos_bytes);
		known = identity->len_bytes == bio->bi_iter.bi_size;
	}
	rcu_read_unlock();
	return known;
}
