#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A drive that is written in place: it announces no hints, a page costs what dies and link take for it
# by the clock, however often it is overwritten, nothing is collected, and the data is right over
# filesystems, state files and power failures; the simulator makes the same drive.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 5
# timeout: 180
# sentences: 26
. "$(dirname "$0")/rc"

# The clock of the drive is slow, so that the timers' resolution does not count.
SLOW=(profile=xpoint capacity_mib=256 time_scale=100)

# is_near NS WANTED: within a twentieth
is_near() {
	(($1 * 20 >= $2 * 19 && $1 * 20 <= $2 * 21))
}

# page_ns COMMAND...: what each of the first 256 pages takes, one command at a time, in NS
page_ns() {
	local since=${EPOCHREALTIME/./}

	"$@" bs=4k count=256 status=none
	NS=$(((${EPOCHREALTIME/./} - since) * 1000 / 256))
}

write_pages() {
	page_ns dd if="$T_DIR/random" of="$DEV" oflag=direct conv=notrunc
}

# programmed: pages that the dies have written
programmed() {
	ssd_stat ssd0 nand_pages_programmed
}

fail_program() {
	echo "program 0 1" >/sys/kernel/debug/nvmev/ssd0/fail
}

head -c 16M /dev/urandom >"$T_DIR/random"
new_ssd ssd0 "${SLOW[@]}"
check_that "the property can be read" "$(<"$CONFIGFS/ssd0/in_place")" -eq 1
check_that "the drive announces no hints" "$(<"$CONFIGFS/ssd0/hints")" -eq 0
check_fails "and has no log page of its dies" nvme get-log "$DEV" --log-id=0xc1 --log-len=512
check_fails "no program of it can be made to fail" fail_program

# 2 us of firmware, 1.7 on the link, 1.05 of firmware, 2 on the channel: times 100
write_pages
note "A page is written in $NS ns."
check "a write takes what it takes to the die" is_near $NS 680000
write_pages
check "an overwrite takes the same" is_near $NS 680000
# 2 us, 3.5 to sense, 2 on the channel, 1.7 on the link
page_ns dd if="$DEV" of=/dev/null iflag=direct
note "A page is read in $NS ns."
check "a read takes the die's time, too" is_near $NS 926000
check_that "it writes what the host writes, and no more" "$(programmed)" -eq 512
check "the data is right" cmp -n 1M "$DEV" "$T_DIR/random"
check_that "pages go round the dies" "$(nvmev-ssd map ssd0 0 64 | awk 'NR > 1 || $2 ~ /^[0-9]/ { print $2 }' | head -8 | xargs)" \
	== "0 1 2 3 4 5 6 0"
drop_ssd ssd0

# Full, and overwritten at random
new_ssd ssd0 profile=xpoint capacity_mib=256
nvmev-ssd precondition ssd0 --fill 100 --random 3x >"$T_DIR/said"
DEV=$(ssd_device ssd0)
check_that "a drive that was overwritten three times has written four times what it holds" "$(programmed)" -eq $((4 * 65536))
check_that "it has collected nothing" "$(ssd_stat ssd0 gc_runs)" -eq 0
check "2000 pages are written" spans write 256 2000 5
check "and are there" spans verify 256 2000 5
spans_outlive_state_file 256 2000 5
check "half of it is trimmed" blkdiscard -o 0 -l 128M "$DEV"
check "and reads as zeros" cmp -n 128M "$DEV" /dev/zero
check_that "the other half is there" "$(ssd_stat ssd0 pages_mapped)" -eq 32768
drop_ssd ssd0

# A filesystem on the target, which finds that the drive takes no hints
new_ssd ssd0 profile=xpoint capacity_mib=256
new_target plain "$DEV"
check_that "the target sends no hints" "$(status_field plain hints)" =~ ^off
make_fs ext4 /dev/mapper/plain
new_mount /dev/mapper/plain "$T_DIR/mnt"
cp "$T_DIR/random" "$T_DIR/mnt/file"
sync
umount "$T_DIR/mnt"
mount /dev/mapper/plain "$T_DIR/mnt"
check "a file is what was written" cmp "$T_DIR/mnt/file" "$T_DIR/random"
umount "$T_DIR/mnt"
drop_target plain
drop_ssd ssd0

simulator_makes_the_same 2x capacity_mib=256 units_per_eblk=64 in_place=1 bg_eblks=0 hints=0 unit_kib=16

# The power fails while writes are under way, and after that.
new_ssd ssd0 profile=xpoint capacity_mib=256
for seed in 7 8; do
	spans write 256 1000 "$seed"
	nvmev-ssd power-cut ssd0
	DEV=$(nvmev-ssd power-on ssd0)
	check "what was written before power failure $((seed - 6)) is there" spans verify 256 1000 "$seed"
done
drop_ssd ssd0
