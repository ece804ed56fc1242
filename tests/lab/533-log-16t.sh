#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode at 16 TiB, in a file of tmpfs of which only what was written takes memory: made on half of
# it, written and overwritten all over, trimmed, cleaned, stopped cleanly and not, grown to all of it,
# and checked by the tool.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 3G
# seconds: 12
# timeout: 600
# sentences: 23
. "$(dirname "$0")/rc"
. "$LAB_DIR/16-tib"

# low_is TIB: the device below is so large
low_is() {
	becomes low "0 $(($1 * TIB / 512)) linear $LOOP 0"
}

# crash: nothing is written any more, and then the device is gone
crash() {
	becomes low "0 $((16 * TIB / 512)) error"
	dmsetup remove t0
	low_is 16
}

# places_above SIZE, places_below SIZE: those that are in the second half, or in the first
places_above() {
	places "$1" | tr ' ' '\n' | awk -v half=$((8 * TIB / 65536)) '$1 >= half'
}

places_below() {
	places "$1" | tr ' ' '\n' | awk -v half=$((8 * TIB / 65536)) '$1 < half'
}

# bytes: that the target shows
bytes() {
	echo $(($(status_field t0 lpns) * 4096))
}

modprobe loop
new_huge_file
settle_memory
LOOP=$(losetup --find --show --direct-io=off "$FILE")
at_end losetup -d "$LOOP"
at_end drop_target low
dmsetup create low --table "0 $((8 * TIB / 512)) linear $LOOP 0"
OPTIONS=map_cache_mb=16 new_log_target t0 /dev/mapper/low
half=$(bytes)
check_that "on 8 TiB there are more than 7" "$half" -gt $((7 * TIB))
# shellcheck disable=SC2046 # numbers
check "its ends and all between can be written" stamp write "$TARGET" 1 $(places "$half")
# shellcheck disable=SC2046
check "and overwritten" stamp write "$TARGET" 2 $(places "$half")
# shellcheck disable=SC2046
check "they are read back" stamp verify "$TARGET" 2 $(places "$half")

low_is 16
grown=$(status_field t0 grown_lpns)
check_that "16 TiB have more than 14 to offer" $((grown * 4096)) -gt $((14 * TIB))
dmsetup load t0 --table "0 $((grown * 8)) ${LINE#0 * }"
dmsetup suspend t0
check "it grows" dmsetup resume t0
LINE="0 $((grown * 8)) ${LINE#0 * }"
whole=$(bytes)
check_that "and shows that" $((whole / 4096)) -eq "$grown"
# shellcheck disable=SC2046
check "what was there is there" stamp verify "$TARGET" 2 $(places "$half")
# shellcheck disable=SC2046
check "what is new can be written" stamp write "$TARGET" 3 $(places "$whole")

dmsetup remove t0
check "it starts after a clean stop" dmsetup create t0 --table "$LINE"
# shellcheck disable=SC2046
check "all is there" stamp verify "$TARGET" 3 $(places "$whole")

# What lies above 8 TiB is trimmed; the last unit is written anew.
check "half of it is trimmed" blkdiscard -o $((8 * TIB)) -l $(((whole - 8 * TIB) / 65536 * 65536)) "$TARGET"
# shellcheck disable=SC2046
check "that is gone" stamp zero "$TARGET" 0 $(places_above "$whole")
check "the end is written again" stamp write "$TARGET" 4 $((whole / 65536 - 1))
mapped=$(status_field t0 mapped_pages)
check "it is cleaned" dmsetup message t0 0 clean
check_that "which changes nothing of what is valid" "$(status_field t0 mapped_pages)" -eq "$mapped"

crash
check "it starts after a crash" dmsetup create t0 --table "$LINE"
check "what was written last is there" stamp verify "$TARGET" 4 $((whole / 65536 - 1))
# shellcheck disable=SC2046
check "and what was not trimmed" stamp verify "$TARGET" 3 $(places_below "$whole")
check "it can be written" stamp write "$TARGET" 5 5 $((whole / 65536 - 2))

dmsetup remove t0
check "dieaware check finds nothing" dieaware check /dev/mapper/low
check_that "it took little memory below (MiB)" "$(file_mib)" -le 512
check_that "the kernel has said nothing bad" "$(dmesg | grep -c 'BUG:\|WARNING:')" -eq 0
