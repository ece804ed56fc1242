#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a hint must not cost: many commands instead of one, or a block that the device would have
# written as a whole.
# kernels: uml
# long: 6.1 6.12 newest
# smp: 1
# mem: 2G
# seconds: 15
# timeout: 180
# sentences: 15
. "$(dirname "$0")/rc"

# known_pages FILE KIB: all the run table knows of the file are 4 KiB at the beginning of each so many
known_pages() {
	dmsetup message t0 0 runs clear
	fio --name=known --filename="$1" --rw=write:"$(($2 - 4))k" --bs=4k --size="$FILE_KIB"k \
		--io_size="$((FILE_KIB * 4 / $2))k" --direct=1 \
		--fallocate=none --output="$T_DIR/fio"
	dmsetup message t0 0 reset_counters
}

# new_file FILE: of FILE_KIB, in one extent
new_file() {
	write_kib "$1" "$FILE_KIB" 0
	sync
}

commands() {
	grep -c 'nvmev_cmd: .*opcode=0x01 ' "$TRACEFS/trace"
}

# ---- a drive as they come
FILE_KIB=1024
new_ssd ssd0 capacity_mib=256
new_target t0 "$DEV"
make_fs ext4 "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"
file=$T_DIR/mnt/file
new_file "$file"
at_end tee "$TRACEFS/events/nvmev/nvmev_cmd/enable" <<<0
echo 1 >"$TRACEFS/events/nvmev/nvmev_cmd/enable"

known_pages "$file" 8
echo >"$TRACEFS/trace"
write_kib "$file" 1024 0
check_that "1 MiB, of whose pages every other one is known, is no more commands than without hints" "$(commands)" -le 8
check_that "it is not cut" "$(status_field t0 cut)" -eq 0
dmsetup message t0 0 reset_counters
write_kib "$file" 1024 0
check_that "and then all of it is known" "$(($(status_field t0 overwrite) >= 1)) $(status_field t0 append)" == "1 0"

dmsetup message t0 0 runs clear
write_kib "$file" 64 0
dmsetup message t0 0 reset_counters
write_kib "$file" 128 0
check_that "pieces of 64 KiB are worth a hint each" "$(status_field t0 cut)" -eq 1

dmsetup message t0 0 runs clear
write_kib "$file" 64 0
write_kib "$file" 4 68
dmsetup message t0 0 reset_counters
write_kib "$file" 12 64
check_that "12 KiB of which 4 are known go as one" "$(status_field t0 cut)" -eq 0
check_that "as an append behind the 64 before them" "$(status_field t0 append)" -eq 1

# The run table keeps what lies in a row in extents that end every 32 MiB of the device.
big=$T_DIR/mnt/big
dd if=/dev/zero of="$big" bs=1M count=64 oflag=direct status=none
sync
# KiB of the file
border=$(filefrag -b4096 -v "$big" | awk '$1 ~ /^[0-9]+:$/ {
	end = int(($4 + 8191) / 8192) * 8192
	if (end >= $4 + 128 && end + 128 <= $4 + $6) { print ($2 + end - $4) * 4; exit }
}')
dmsetup message t0 0 reset_counters
write_kib "$big" 1024 $((border - 512))
check_that "1 MiB of a file is not cut there" "$(status_field t0 cut) $(status_field t0 overwrite)" == "0 1"

# ---- the page cache gives pieces in one write, too
umount "$T_DIR/mnt"
make_fs f2fs "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"
dmsetup message t0 0 reset_counters
for ((i = 0; i < 64; i++)); do
	head -c 4096 /dev/zero >"$T_DIR/mnt/small$i"
done
sync
check_that "64 files of 4 KiB are not cut out of the writes that they are in" "$(status_field t0 cut)" -eq 0
dmsetup message t0 0 reset_counters
for ((i = 0; i < 64; i += 8)); do
	write_kib "$T_DIR/mnt/small$i" 16 4
done
check_that "but it is known where each of them lies" "$(status_field t0 append)" -eq 8
umount "$T_DIR/mnt"
dmsetup remove t0
drop_ssd ssd0

# ---- a drive with large blocks: 64 KiB
modprobe sd_mod
modprobe scsi_debug dev_size_mb=128 sector_size=512 physblk_exp=7 delay=0
at_end rmmod scsi_debug
poll 20 sh -c 'grep -l scsi_debug /sys/block/sd*/device/model'
disk=$(grep -l scsi_debug /sys/block/sd*/device/model | cut -d / -f 4)
check_that "it says that its blocks have 64 KiB" "$(<"/sys/block/$disk/queue/physical_block_size")" -eq 65536
new_target t0 "/dev/$disk" hints=on
# Nothing is initialised in the background, which would be counted.
MKE2FS_DEVICE_PHYS_SECTSIZE=4096 make_fs ext4 "$TARGET" -E lazy_itable_init=0,lazy_journal_init=0
# No commit of the journal between two looks at a counter
new_mount "$TARGET" "$T_DIR/mnt" commit=300
new_file "$file"
place=$(filefrag -b4096 -v "$file" | awk '$1 == "0:" { print $4 + 0 }')
# The first of its pages at which a block begins, in KiB of the file
first=$(((16 - place % 16) % 16 * 4))

dmsetup message t0 0 runs clear
write_kib "$file" 32 "$first"
sync
dmsetup message t0 0 reset_counters
before=$(awk '{ print $5 }' "/sys/block/$disk/stat")
write_kib "$file" 64 "$first"
check_that "a block of which one half is known stays whole" "$(status_field t0 cut)" -eq 0
check_that "in one command" "$(($(awk '{ print $5 }' "/sys/block/$disk/stat") - before))" -eq 1

dmsetup message t0 0 runs clear
write_kib "$file" 96 "$first"
dmsetup message t0 0 reset_counters
write_kib "$file" 256 "$first"
check_that "of four blocks one and a half are known: they are cut" "$(status_field t0 cut)" -ge 1
check_that "where a block begins" "$(status_field t0 overwrite) $(status_field t0 iomap)" == "1 2"
umount "$T_DIR/mnt"
check "fsck finds nothing" check_fs ext4 "$TARGET"
