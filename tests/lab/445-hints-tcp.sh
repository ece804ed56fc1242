#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Hints over NVMe/TCP: the SSD is exported by the kernel's own nvmet, by passthru, from a network
# namespace; the target is on what the other one connects to. Hints arrive at the FTL, files lie
# on all dies, and a lost connection costs nobody his data. Pages are not shared.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 15
# timeout: 150
# sentences: 16
. "$(dirname "$0")/rc"
. "$(dirname "$0")/fabric"

# fragment FOLDER: a file of 16 units of 32 KiB, each followed by the rest of a stripe of another one
fragment() {
	local i

	mkdir "$1"
	for ((i = 0; i < 16; i++)); do
		dd if=/dev/urandom of="$1/file" bs=32k count=1 seek="$i" oflag=direct conv=notrunc status=none
		dd if=/dev/urandom of="$1/other" bs=224k count=1 seek="$i" oflag=direct conv=notrunc status=none
	done
}

# dof FILE: how far its pages are from being on all dies alike, in thousandths
dof() {
	frag_value "$1" physical dof_permille
}

new_ssd ssd0 capacity_mib=512 share_pages=16384
connect_ssd "$DEV"

new_target t0 "$REMOTE"
check_that "the remote SSD announces that it understands hints" "$(status_field t0 hints)" == on
check_that "but pages are not shared" "$(status_field t0 share)" == off
mark_log
dmsetup message t0 0 share add 253:0 12 0 0 1 1 2>/dev/null || true
check "since a Share might run after it was given up" log_has 'not on PCI Express'
make_fs ext4 "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"
appends=$(ssd_stat ssd0 hints_append)
fragment "$T_DIR/mnt/hinted"
check_that "hints are in commands" "$(status_field t0 confirmed_append)" -ge 32
check_that "and arrive at the FTL" "$(($(ssd_stat ssd0 hints_append) - appends))" -ge 30
check_that "none is lost" "$(status_field t0 lost_unseen)" -eq 0
check_that "nor rejected" "$(status_field t0 rejected)" -eq 0
check_that "the file is on all dies alike" "$(dof "$T_DIR/mnt/hinted/file")" -eq 0
dmsetup message t0 0 hints off
fragment "$T_DIR/mnt/plain"
check_that "without hints it is on one die" "$(dof "$T_DIR/mnt/plain/file")" -ge 700
dmsetup message t0 0 hints auto
check_that "they can be switched on again" "$(status_field t0 hints)" == on
sums "$T_DIR/mnt/hinted" >"$T_DIR/before"

# The connection is lost and comes back. The first write teaches what hints off made forget.
CONTROLLER=$(basename "$(dirname "$(grep -lx tcp /sys/class/nvme/nvme*/transport)")")
echo 1 >"/sys/class/nvme/$CONTROLLER/reset_controller"
for _ in 1 2; do
	dd if=/dev/urandom of="$T_DIR/mnt/plain/file" bs=32k count=1 oflag=direct conv=notrunc status=none
done
check_that "an overwrite after a reset carries its hint" "$(status_field t0 confirmed_overwrite)" -ge 1
check_that "hints are still on" "$(status_field t0 hints)" == on
umount "$T_DIR/mnt"
check "the filesystem is sound" check_fs ext4 "$TARGET"
mount "$TARGET" "$T_DIR/mnt"
check_that "files are as they were" "$(sums "$T_DIR/mnt/hinted")" == "$(<"$T_DIR/before")"
umount "$T_DIR/mnt"

# Without a path nobody can say what the SSD is.
remote_is() {
	[[ $(<"/sys/class/nvme/$CONTROLLER/state") == "$1" ]]
}

rm "$PORT/subsystems/$NQN"
poll 20 remote_is connecting
dmsetup message t0 0 hints auto
check_that "an SSD without a path cannot be asked" "$(status_field t0 hints)" == off:no_answer
nsenter --net=/run/netns/drive ln -s "$SUBSYSTEM" "$PORT/subsystems/$NQN"
poll 30 remote_is live
dmsetup message t0 0 hints auto
check_that "one with a path can" "$(status_field t0 hints)" == on
drop_target t0
