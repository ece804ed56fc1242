#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware defrag --method share watches the SSD's log of what it shares also when nobody knows on which dies a file lies:
# the command of NVMe by which it would be known fails. It is compacted before it is full, as otherwise.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 10
# timeout: 120
# sentences: 10
. "$(dirname "$0")/rc"
. "$LAB_DIR/share"

dd if=/dev/urandom of="$T_DIR/data" bs=1M count=3 status=none

# said KEY: of the file that was defragmented last
said() {
	jq ".[0].$1" "$T_DIR/json"
}

# share_untold FILE: the first command that the tool gives the SSD fails.
share_untold() {
	local first

	strace -e trace=ioctl -o "$T_DIR/strace" dieaware defrag --threshold 0 --dry-run "$1" >"$T_DIR/said"
	first=$(grep -n NVME_IOCTL_ADMIN "$T_DIR/strace" | sed -n 1p | cut -d : -f 1)
	strace -o "$T_DIR/strace" -e trace=ioctl -e "inject=ioctl:error=EIO:when=$first" \
		dieaware defrag --json --threshold 0 --method share "$1" >"$T_DIR/json"
}

# A log of 102 entries
new_ssd ssd0 capacity_mib=512 share_pages=16384 plp=0 share_log_kib=4
new_target t0 "$DEV"
make_fs ext4 "$TARGET"
mount "$TARGET" "$mnt"
fragment ext4 "$file" 80
sync
check "a file of 80 pieces is shared" share_untold "$file"
check_that "on which dies it lies was not known" "$(said before.dof_p_permille)" == null
check_that "all of it was shared" "$(said shared_bytes)" -eq $((80 * 32768))
full=$(ssd_stat ssd0 defrag_entries)
check_that "the log is over three quarters full" "$full" -ge 77
rm "$file"
sync
fstrim "$mnt"
fragment ext4 "$file" 60
sync
SUM=$(sum "$file")
check "another file is shared" share_untold "$file"
check_that "on which dies it lies was not known" "$(said before.dof_p_permille)" == null
check_that "the log was compacted before" "$(said 'compactions[0].before.entries')" == "$full"
check_that "and the SSD did nothing of that by itself" "$(ssd_stat ssd0 defrag_compactions)" -eq 1
check_that "the file is the same" "$(sum "$file")" == "$SUM"
umount "$mnt"
check "fsck finds nothing" check_fs ext4 "$TARGET"
drop_target t0
