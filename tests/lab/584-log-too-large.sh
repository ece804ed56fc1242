#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode on 16 TiB in segments that are as small as can be: its tables take more memory than the
# kernel gives anybody at once. It is refused with a sentence that says so.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 3G
# seconds: 5
# timeout: 300
# sentences: 3
. "$(dirname "$0")/rc"
. "$LAB_DIR/16-tib"

modprobe loop
new_huge_file
LOOP=$(losetup --find --show --direct-io=off "$FILE")
at_end losetup -d "$LOOP"
LINE=$(dieaware format "$LOOP" --force --segment 256K | tail -n 1)
check_that "it can be formatted" "$LINE" =~ dieaware
mark_log
at_end drop_target t0
check_fails "it is refused" dmsetup create t0 --table "$LINE"
check "with a sentence, and no more" log_has "more than 2 GiB of memory"
