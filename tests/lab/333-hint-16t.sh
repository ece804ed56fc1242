#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Hint mode on an NVMe namespace of 16 TiB, a file that the kernel's own NVMe target exports: files all
# over it are written, overwritten and appended to with hints, and read back below the target.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 40
# timeout: 400
# sentences: 13
. "$(dirname "$0")/rc"
. "$LAB_DIR/16-tib"
. "$LAB_DIR/loop-namespace"

# each COMMAND...: for the folder of each allocation group, the last word
each() {
	local i

	for ((i = 0; i < 17; i++)); do
		"$@" "$T_DIR/mnt/$i" || return 1
	done
}

# part KIB SKIP SEEK FOLDER: write so much of the data, in units of 32 KiB
part() {
	dd if="$T_DIR/data" of="$4/file" bs=32k count="$1" skip="$2" seek="$3" oflag=direct conv=notrunc status=none
}

new_huge_file
settle_memory
new_namespace "$FILE"
check_that "the namespace has 16 TiB" "$(blockdev --getsize64 "$DEV")" -eq $((16 * TIB))
new_target t0 "$DEV" hints=on
check_that "so has the target" "$(blockdev --getsize64 "$TARGET")" -eq $((16 * TIB))
check "its ends can be written" stamp write "$TARGET" 1 0 1 $((16 * TIB / 65536 - 1))
check "and read below it" stamp verify "$DEV" 1 0 1 $((16 * TIB / 65536 - 1))

# New folders of xfs go to one allocation group after the other.
check "a filesystem is made" make_fs xfs "$TARGET" -K -d agcount=17 -l size=64m
new_mount "$TARGET" "$T_DIR/mnt"
write_mib "$T_DIR/data" 2
each mkdir
trace_on dmda_hint
appended=$(status_field t0 confirmed_append)
each part 8 0 0
each part 8 8 8
check_that "files that grow carry hints" "$(($(status_field t0 confirmed_append) - appended))" -ge 48
overwritten=$(status_field t0 confirmed_overwrite)
each part 4 24 2
trace_off
check_that "so do files that are overwritten" "$(($(status_field t0 confirmed_overwrite) - overwritten))" -ge 48
# shellcheck disable=SC2016 # awk's
check_that "of which some lie above 14 TiB" "$(sed -n 's/.*dmda_hint: .*dpn=\([0-9]*\).*/\1/p' "$TRACEFS/trace" |
	awk -v limit=$((14 * TIB / 4096)) '$1 >= limit { n++ } END { print n + 0 }')" -ge 4
check_that "no hint is lost" "$(status_field t0 lost_unseen) $(status_field t0 lost_moved)" == "0 0"
check_that "the table of runs is small (KiB)" $(($(status_field t0 runs_bytes) / 1024)) -le 64
sums "$T_DIR/mnt" >"$T_DIR/before"
umount "$T_DIR/mnt"
drop_target t0
check "fsck finds nothing, without the target" xfs_repair -n -o ag_stride=0 "$DEV"
mount "$DEV" "$T_DIR/mnt"
check_that "all files are the same" "$(sums "$T_DIR/mnt")" == "$(<"$T_DIR/before")"
umount "$T_DIR/mnt"
check_that "little room was taken below (MiB)" "$(file_mib)" -le 256
