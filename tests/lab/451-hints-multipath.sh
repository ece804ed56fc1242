#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The kernel's own multipath of NVMe below hint mode: one of two paths is lost under load, comes back,
# and the other one is lost. Writes go on over the path that is left, nobody sees an error, and their
# hints arrive.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 40
# timeout: 300
# sentences: 21
. "$(dirname "$0")/rc"
. "$(dirname "$0")/fabric"

declare -A PATHS

drop_paths() {
	kill "${PATHS[@]}"
}

# open_path PORT
open_path() {
	python3 "$LAB_DIR/nvme-path.py" "$1" 10.7.0.2 4420 >>"$T_DIR/path" 2>&1 &
	PATHS[$1]=$!
}

lose_path() {
	kill -KILL "${PATHS[$1]}"
}

connect_path() {
	nvme connect -t tcp -a 127.0.0.1 -s "$1" -c 1 -n "$NQN" -q nqn.2026-11.invalid.dm-dieaware:host \
		--hostid 5c1f8f6e-8d1c-4d53-9d58-0a4b1f3f2f10
}

# path_is PORT STATE
path_is() {
	local controller

	for controller in /sys/class/nvme/nvme*; do
		[[ $(<"$controller/transport") == tcp && $(<"$controller/address") == *trsvcid=$1* ]] || continue
		[[ $(<"$controller/state") == "$2" ]]
		return
	done
	return 1
}

# fragment NAME: a file of 16 units of 32 KiB, each followed by the rest of a stripe of another one
fragment() {
	mkdir "$T_DIR/mnt/$1"
	write_fragmented "$T_DIR/mnt/$1/file" 16
}

dof() {
	frag_value "$T_DIR/mnt/$1/file" physical dof_permille
}

# writes_with_hints NAME PATHS
writes_with_hints() {
	local sent arrived

	sent=$(status_field t0 confirmed_append)
	arrived=$(ssd_stat ssd0 hints_append)
	check "files are written, $2" fragment "$1"
	check_that "with hints in commands" $(($(status_field t0 confirmed_append) - sent)) -ge 32
	check_that "which arrive at the SSD" $(($(ssd_stat ssd0 hints_append) - arrived)) -ge 32
}

new_ssd ssd0 capacity_mib=512
make_network
ip link set lo up
export_ssd "${DEV%n1}"
modprobe nvme-tcp
at_end drop_connection
at_end drop_paths
for port in 4501 4502; do
	open_path $port
	poll 20 connect_path $port
done
poll 20 remote_device
REMOTE=$(remote_device)
check "one namespace has both paths" poll 20 sh -c "nvme list-subsys $REMOTE | grep -c tcp.*live | grep -qx 2"
check_that "it is one device" "$(find /dev -name 'nvme[1-9]*n*' -type b | wc -l)" -eq 1

new_target t0 "$REMOTE"
check_that "it announces that it understands hints" "$(status_field t0 hints)" == on
make_fs ext4 "$TARGET"
new_mount "$TARGET" "$T_DIR/mnt"
write_mib "$T_DIR/data" 4
writes_with_hints both "by two paths"
new_load "$T_DIR/mnt/load" --allow_file_create=1 --size=16m --rw=randwrite --verify=crc32c --verify_backlog=32 \
	--verify_fatal=1 --fallocate=none

for lost in 4501 4502; do
	lose_path $lost
	check "path $lost is lost" poll 30 path_is $lost connecting
	writes_with_hints "without-$lost" "without path $lost"
	open_path $lost
	check "path $lost comes back" poll 60 path_is $lost live
done
check "a load that went on all the time has seen no error and no wrong data" load_ends_well
check_that "no hint is lost" "$(status_field t0 lost_unseen) $(status_field t0 lost_moved)" == "0 0"
check_that "nor rejected, and hints are on" "$(status_field t0 rejected) $(status_field t0 hints)" == "0 on"
check_that "files lie on all dies alike" "$(dof both) $(dof without-4501) $(dof without-4502)" == "0 0 0"
umount "$T_DIR/mnt"
check "fsck finds nothing" check_fs ext4 "$TARGET"
