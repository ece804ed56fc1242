#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode on 16 TiB in segments that are as small as can be: its tables would take more memory than the
# kernel gives anybody at once. No such device is made, and the sentence says what to do; one in larger segments is.
# Nor does a smaller one become one by growing: its table is refused, and nothing is written.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 3G
# seconds: 5
# timeout: 300
# sentences: 10
. "$(dirname "$0")/rc"
. "$LAB_DIR/16-tib"

modprobe loop
new_huge_file
LOOP=$(losetup --find --show --direct-io=off "$FILE")
at_end losetup -d "$LOOP"
BEFORE=$(stat -c %b "$FILE")
exits 2 "They must be larger" dieaware format "$LOOP" --force --segment 256K
check_that "nothing was written" "$(stat -c %b "$FILE")" -eq "$BEFORE"
check "in larger segments it is made" dieaware format "$LOOP" --force --segment 512K

# It is as large as can be below 16 TiB, and the kernel reads no more than its superblock.
truncate -s 15T "$FILE"
losetup -c "$LOOP"
check "on 15 TiB it is made" dieaware format "$LOOP" --force --segment 256K
LINE=$(dieaware format "$LOOP" --force --segment 256K | tail -n 1)
truncate -s 16T "$FILE"
losetup -c "$LOOP"
BEFORE=$(stat -c %b "$FILE")
at_end drop_target t0
read -r _ length rest <<<"$LINE"
mark_log
check_fails "but it does not grow to 16" dmsetup create t0 --table "0 $((length + 8)) $rest"
check "since its tables would be too large" log_has "A table of the device takes more than 2 GiB of memory at once"
mark_log
check_fails "nor beyond that" dmsetup create t0 --table "0 $((length * 2)) $rest"
check "which has its own reason" log_has "The length is more than the formatted device presents"
check_that "nothing was written" "$(stat -c %b "$FILE")" -eq "$BEFORE"
