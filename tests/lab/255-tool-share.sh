#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware defrag --method share: each filesystem moves a file, and the SSD writes none of its pages;
# wrong announcements, an SSD that refuses, a file that is written meanwhile, suspends: the bytes are right.
# kernels: uml
# long: 6.12
# smp: 2
# smp on uml: 1
# mem: 2G
# seconds: 60
# timeout: 300
# sentences: 98
. "$(dirname "$0")/rc"
. "$LAB_DIR/share"

dd if=/dev/urandom of="$T_DIR/data" bs=1M count=8 status=none

# begin FS [KEY=VALUE...]: a fragmented file of 2 MiB on a new SSD with a target
begin() {
	local fs=$1
	shift
	new_ssd ssd0 capacity_mib=512 "$@"
	new_target t0 "$DEV"
	make_fs "$fs" "$TARGET"
	mount "$TARGET" "$mnt"
	fragment "$fs" "$file" 64
	sync
	SUM=$(sum "$file")
}

end() {
	umount "$mnt"
	drop_target t0
	drop_ssd ssd0
}

# identity FILE: what a message names it by
identity() {
	dieaware runs extents --json "$1" | jq -r '.[0] | "\(.device) \(.inode) \(.generation)"'
}

# announce FILE PAGE DPN PAGES
announce() {
	# shellcheck disable=SC2046
	dmsetup message t0 0 share add $(identity "$1") "$2" "$3" "$4"
}

# place FILE: where its first page lies
place() {
	dieaware runs extents --json "$1" | jq '.[0].runs[0].device_page'
}

for fs in ext4 xfs f2fs btrfs; do
	begin $fs share_pages=16384
	check_that "$fs: the target says that it shares" "$(status_field t0 share)" == on
	pieces=$(figure "$file" pieces)
	check_that "$fs: the file is in pieces" "$pieces" -ge 16
	exits 0 share dieaware defrag --dry-run --threshold 0 "$file"
	check_that "$fs: --dry-run shares nothing" "$(status_field t0 shared_pages)" -eq 0
	sync
	written=$(ssd_stat ssd0 host_pages_written)
	exits 0 share dieaware defrag --json --threshold 0 --method share "$file"
	sync
	written=$(($(ssd_stat ssd0 host_pages_written) - written))
	note "$fs: $pieces pieces before, $(figure "$file" pieces) after, $(status_field t0 shared_pages) pages shared, $written written"
	check_that "$fs: all of its pages were shared" "$(jq '.[0].shared_bytes' "$T_DIR/said")" -eq $((2 << 20))
	check_that "$fs: and its log, of which there is none, was left alone" "$(jq '.[0].compactions | length' "$T_DIR/said")" -eq 0
	check_that "$fs: the SSD has them twice" "$(ssd_stat ssd0 pages_shared)" -ge 512
	check_that "$fs: little else was written" "$written" -le 256
	check_that "$fs: it is in fewer pieces" "$(figure "$file" pieces)" -le 2
	check_that "$fs: the device has the same bytes" "$(sum "$file")" == "$SUM"
	fstrim "$mnt"
	# f2fs takes its time for discards, but not beyond that.
	umount "$mnt"
	check_that "$fs: what was freed and trimmed is no longer shared" "$(ssd_stat ssd0 pages_shared)" -eq 0
	check "$fs: fsck finds nothing" check_fs $fs "$TARGET"
	mount "$TARGET" "$mnt"
	check_that "$fs: and the file is what it was" "$(sum "$file")" == "$SUM"
	check_that "$fs: nothing was refused, or other than it should be" \
		"$(status_field t0 share_differs) $(status_field t0 share_refused) $(status_field t0 share_undone)" == "0 0 0"
	end
done

# What is announced is believed in nothing: another file's place, and a true one.
begin ext4 share_pages=16384
head -c 65536 "$T_DIR/data" >"$mnt/a"
sync
touch "$mnt/b" "$mnt/c" "$mnt/d"
announce "$mnt/b" 0 "$(place "$mnt/a")" 16
announce "$mnt/c" 0 "$(place "$mnt/a")" 16
tail -c 65536 "$T_DIR/data" >"$mnt/b"
cp --reflink=never "$mnt/a" "$mnt/c"
sync
check_that "a false announcement is found out" "$(status_field t0 share_differs)" -eq 1
check_that "what was written is there" "$(sum "$mnt/b")" == "$(tail -c 65536 "$T_DIR/data" | sha256sum)"
check_that "a copy of what lies there is shared" "$(status_field t0 shared_pages)" -eq 16
tail -c 65536 "$T_DIR/data" | dd of="$mnt/a" bs=64k iflag=fullblock conv=notrunc,fsync status=none
check_that "and keeps its bytes when that is overwritten" "$(sum "$mnt/c")" == "$(head -c 65536 "$T_DIR/data" | sha256sum)"

# Two announce, and one of them has come to his end.
shared=$(status_field t0 shared_pages)
cp "$mnt/c" "$mnt/e"
sync
touch "$mnt/f" "$mnt/g"
announce "$mnt/f" 0 "$(place "$mnt/e")" 16
announce "$mnt/g" 0 "$(place "$mnt/e")" 16
for name in f d; do
	# shellcheck disable=SC2046
	dmsetup message t0 0 share clear $(identity "$mnt/$name")
done
cat "$mnt/e" >"$mnt/f"
sync
check_that "what is taken back is written" "$(status_field t0 shared_pages)" -eq "$shared"
cat "$mnt/e" >"$mnt/g"
sync
check_that "another file's pages are shared all the same" "$(status_field t0 shared_pages)" -eq $((shared + 16))
check_that "both are what they should be" "$(sums "$mnt" | grep -cE "^$(sha256sum <"$mnt/e" | cut -d ' ' -f 1) +./[cefg]$")" -eq 4
announce "$mnt/g" 0 "$(place "$mnt/e")" 16
dmsetup message t0 0 share clear
check_fails "pages beyond the device are refused" announce "$mnt/d" 0 99999999 16
dmsetup message t0 0 hints off
check_fails "without hints, announcements are refused" announce "$mnt/d" 0 1 16
check_that "the target says so" "$(status_field t0 share)" == off
exits 3 "cannot be shared" dieaware defrag --threshold 0 --method share "$file"
dmsetup message t0 0 hints auto

# Somebody writes the file, and the target is suspended, while it is moved to and fro.
cat >"$T_DIR/writer.py" <<'END'
import os, random, sys, time
path, seconds = sys.argv[1], float(sys.argv[2])
file = os.open(path, os.O_RDWR)
pages = [os.pread(file, 4096, 4096 * page) for page in range(512)]
end, nr = time.monotonic() + seconds, 0
while time.monotonic() < end:
    page = random.randrange(512)
    pages[page] = random.randbytes(4096)
    os.pwrite(file, pages[page], 4096 * page)
    nr += 1
    time.sleep(0.0005)
os.fsync(file)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
print(nr)
sys.exit(any(os.pread(file, 4096, 4096 * page) != pages[page] for page in range(512)))
END
python3 "$T_DIR/writer.py" "$file" 6 >"$T_DIR/nr" &
writer=$!
turns=0
while is_running $writer; do
	dieaware defrag --threshold 0 --method share "$file" >/dev/null 2>"$T_DIR/errors" ||
		grep -q "somebody writes to it" "$T_DIR/errors" || note "$(cat "$T_DIR/errors")"
	dmsetup suspend t0
	dmsetup resume t0
	turns=$((turns + 1))
done
check "what was written meanwhile is there" wait $writer
note "$(cat "$T_DIR/nr") pages written, $turns times defragmented, $(status_field t0 shared_pages) pages shared, $(status_field t0 share_differs) writes differed"
check_that "some of it was shared" "$(status_field t0 shared_pages)" -gt 16
SUM=$(sum "$file")
umount "$mnt"
check "fsck finds nothing after that" check_fs ext4 "$TARGET"
mount "$TARGET" "$mnt"
check_that "and the file is the same after a mount" "$(sum "$file")" == "$SUM"
end

# An SSD that has room for one page, and one that knows nothing of it
begin ext4 share_pages=1
mark_log
exits 3 "the SSD refuses" dieaware defrag --threshold 0 --method share "$file"
check "the kernel log says why" log_has "does not share pages"
check_that "the file is what it was" "$(sum "$file")" == "$SUM"
end
begin ext4
check_that "without Share the target says so" "$(status_field t0 share)" == off
exits 3 "above an SSD that shares pages" dieaware defrag --threshold 0 --method share "$file"
exits 0 ssd dieaware defrag --dry-run --threshold 0 "$file"
end

# The SSD shares pages of its own, and none of this target is one.
new_ssd ssd0 capacity_mib=512 lba_bytes=512 share_pages=16384
at_end drop_target t0
dmsetup create t0 --table "$(target_line "$DEV" 1)"
TARGET=/dev/mapper/t0
make_fs ext4 "$TARGET"
mount "$TARGET" "$mnt"
fragment ext4 "$file" 64
sync
SUM=$(sum "$file")
check_that "a target that begins within a page of the SSD says that it does not share" "$(status_field t0 share)" == off
check_fails "announcements to it are refused" announce "$file" 0 1 16
exits 0 '"method"' dieaware defrag --json --threshold 0 "$file"
check_that "the file is what it was" "$(sum "$file")" == "$SUM"
end
