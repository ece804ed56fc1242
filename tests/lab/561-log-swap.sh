#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode when memory runs out: the kernel swaps to the target itself, and to a file on it while
# dirty pages wait for the same filesystem. To write a page must not need memory that only writing
# pages would free: nobody hangs, nobody is killed, and what was swapped out comes back as it was.
# kernels: 6.12
# smp: 1
# mem: 1G
# seconds: 40
# timeout: 420
# sentences: 15
. "$(dirname "$0")/rc"

SIZE_MIB=192

# vmstat KEY: a counter of the kernel's memory management
vmstat() {
	awk -v key="$1" '$1 == key { print $2 }' /proc/vmstat
}

# swap_off FILE: at the end of a test that went wrong
swap_off() {
	! grep -q "^$1 " /proc/swaps || swapoff "$1"
}

# leave_mib MIB: take the rest of memory away, as huge pages, which are not swapped
leave_mib() {
	local huge=/proc/sys/vm/nr_hugepages

	at_end sh -c "echo 0 >$huge"
	settle_memory
	echo $((($(mem_available_kib) / 1024 - $1) / 2)) >$huge
}

# start_swapper MIB: swapper.py, which takes memory until so many are swapped
start_swapper() {
	local wanted=$1

	swapped=$(vmstat pswpout)
	python3 "$LAB_DIR/swapper.py" "$wanted" 2 >"$T_DIR/swapper" 2>&1 &
	swapper=$!
	at_end kill "$swapper"
}

swapper_ends() {
	poll "$1" has_ended "$swapper" || return 1
	wait "$swapper" || {
		cat "$T_DIR/swapper"
		return 1
	}
	note "$(cat "$T_DIR/swapper"), $(swapped_mib) MiB swapped"
}

swapped_mib() {
	echo $((($(vmstat pswpout) - swapped) / 256))
}

# The device below has all its memory from the beginning: a write to it takes none.
modprobe brd rd_nr=1 rd_size=$((SIZE_MIB * 1024))
at_end rmmod brd
dd if=/dev/zero of=/dev/ram0 bs=1M count=$SIZE_MIB oflag=direct status=none
OPTIONS="map_cache_mb=1 discard_passdown=off" new_log_target t0 /dev/ram0 --segment 1M

leave_mib 128
note "There are $(mem_available_kib) KiB left."

at_end swap_off "$(readlink -f "$TARGET")"
mkswap "$TARGET" >"$T_DIR/mkswap"
check "the target takes swap" swapon "$TARGET"
start_swapper 40
check "a program gets more memory than there is, and finds all of it as it left it" swapper_ends 180
check_that "the kernel has swapped (MiB)" "$(swapped_mib)" -ge 40
check_that "to the target (pages of users)" "$(status_field t0 user_pages)" -ge $((20 * 256))
check_that "nothing was killed for want of memory" "$(vmstat oom_kill)" -eq 0
check "swap can be taken away" swapoff "$(readlink -f "$TARGET")"

make_fs ext4 "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"
write_mib "$T_DIR/mnt/swap" 72 conv=fsync
chmod 600 "$T_DIR/mnt/swap"
mkswap "$T_DIR/mnt/swap" >"$T_DIR/mkswap"
at_end swap_off "$T_DIR/mnt/swap"
check "a file on the target takes swap" swapon "$T_DIR/mnt/swap"
start_swapper 20
check "buffered data verifies while memory is short" fio --name=dirty --directory="$T_DIR/mnt" --ioengine=psync \
	--size=24m --io_size=48m --rw=randwrite --bssplit=4k/60:16k/25:64k/15 --verify=crc32c --verify_fatal=1 \
	--verify_state_save=0 --fallocate=none --end_fsync=1
check "the program beside it finds its memory as it left it" swapper_ends 180
check_that "the kernel has swapped (MiB)" "$(swapped_mib)" -ge 20
check_that "nothing was killed for want of memory" "$(vmstat oom_kill)" -eq 0
check "swap can be taken away" swapoff "$T_DIR/mnt/swap"
umount "$T_DIR/mnt"
check "fsck finds nothing" check_fs ext4 "$TARGET"
check_that "the target writes" "$(status_field t0 state)" == write
dmsetup remove --retry t0
check "dieaware check finds nothing" dieaware check /dev/ram0
