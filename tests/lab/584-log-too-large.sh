#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode on 16 TiB in segments that are as small as can be: its tables would take more memory than the
# kernel gives anybody at once. No such device is made, and the sentence says what to do; one in larger segments is.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 3G
# seconds: 5
# timeout: 300
# sentences: 4
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
