#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The target among other layers: partitions and a START below it, LVM and
# dm-crypt above it, LVM below it.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 30
# timeout: 240
# sentences: 22
. "$(dirname "$0")/rc"

# wire COMMAND...: what the SSD gets of it, into $T_DIR/wire
wire() {
	python3 "$LAB_DIR/wire.py" "$(blockdev --getss "$DEV")" "$@" >"$T_DIR/wire"
}

wire_count() {
	awk -v kind="$1" '$3 == kind' "$T_DIR/wire" | wc -l
}

# Appends whose predecessor is the page right before them.
appends_after_neighbour() {
	awk '$3 == "append" && $4 == $1 - 1' "$T_DIR/wire" | wc -l
}

write_64k() {
	dd if=/dev/zero of="$1" bs=64k count=16 seek=4 oflag=direct conv=notrunc status=none
}

new_ssd ssd0 capacity_mib=1024

# A partition: what the wire carries counts from the namespace's begin.
printf 'label: gpt\nstart=2048, size=262144\nstart=266240, size=524288\n' | sfdisk -q "$DEV"
poll 20 test -b "${DEV}p2" || partx -a "$DEV"
new_target t0 "${DEV}p2" hints=on
wire write_64k "$TARGET" 2>/dev/null || wire dd if=/dev/zero of="$TARGET" bs=64k count=16 seek=4 oflag=direct status=none
check_that "writes through a partition arrive at its place" "$(awk '{ print $1; exit }' "$T_DIR/wire")" -eq $((266240 / 8 + 64))
check_that "and their predecessors are namespace addresses" "$(appends_after_neighbour)" -eq 15
dmsetup remove t0

check "a target with a start" dmsetup create t0 --table "0 204800 dieaware ${DEV}p2 65536 hint 1 hints=on"
at_end drop_target t0
wire dd if=/dev/zero of=/dev/mapper/t0 bs=64k count=16 oflag=direct status=none
check_that "writes arrive behind partition and start" "$(awk '{ print $1; exit }' "$T_DIR/wire")" -eq $(((266240 + 65536) / 8))
check_that "and so do their predecessors" "$(appends_after_neighbour)" -eq 15
dmsetup remove t0
wipefs -qa "$DEV"
partx -d "$DEV" 2>/dev/null || true

# LVM above.
new_target t0 "$DEV" hints=on
cat >"$T_DIR/lvm" <<END
devices/filter=["a|/dev/mapper/t0|","a|/dev/mapper/lower|","r|.*|"]
END
lvm_config="devices { filter=[\"a|/dev/mapper/t0\$|\",\"r|.*|\"] use_devicesfile=0 }"
check "pvcreate on the target" pvcreate -q -y --config "$lvm_config" "$TARGET"
check "vgcreate" vgcreate -q --config "$lvm_config" vgup "$TARGET"
at_end vgchange -an --config "$lvm_config" vgup
check "lvcreate" lvcreate -q -y -Wn --config "$lvm_config" -L 400M -n data vgup
make_fs ext4 /dev/vgup/data
new_mount /dev/vgup/data "$T_DIR/mnt"
dmsetup message t0 0 reset_counters
wire sh -c "for i in 1 2 3 4 5 6 7 8; do for f in a b; do
	dd if=/dev/urandom of=$T_DIR/mnt/\$f bs=32k count=1 oflag=append conv=notrunc,fdatasync status=none; done; done"
check_that "files on a logical volume are known by their pages" "$(status_field t0 page)" -ge 16
check_that "and append" "$(wire_count append)" -ge 14
before=$(sums "$T_DIR/mnt")
umount "$T_DIR/mnt"
check "fsck finds nothing" check_fs ext4 /dev/vgup/data
mount /dev/vgup/data "$T_DIR/mnt"
check_that "data is right after remount" "$(sums "$T_DIR/mnt")" == "$before"
umount "$T_DIR/mnt"
check "the volume group goes" vgremove -q -f --config "$lvm_config" vgup
wipefs -qa "$TARGET"

# dm-crypt above hides the pages; adjacency is left.
modprobe dm-crypt
key=$(head -c 64 /dev/urandom | od -An -tx1 | tr -d ' \n')
sectors=$(blockdev --getsz "$TARGET")
check "dm-crypt on the target" dmsetup create secret \
	--table "0 $sectors crypt aes-xts-plain64 $key 0 $TARGET 0"
at_end drop_target secret
dmsetup message t0 0 reset_counters
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=8 status=none
check "writes through dm-crypt" dd if="$T_DIR/data" of=/dev/mapper/secret bs=64k oflag=direct status=none
check_that "sequential encrypted writes are appends by adjacency" "$(status_field t0 confirmed_append)" -ge 64
check_that "no file is made up for them" "$(status_field t0 page) $(status_field t0 iomap)" == "0 0"
check "encrypted data reads back" sh -c "dd if=/dev/mapper/secret bs=1M count=8 iflag=direct status=none | cmp - $T_DIR/data"
dmsetup remove secret
dmsetup remove t0

# A layer between the target and the SSD makes new bios: hints get lost, and the
# status says so. Data does not.
check "dm-linear below the target" dmsetup create lower --table "0 $(blockdev --getsz "$DEV") linear $DEV 0"
at_end drop_target lower
at_end drop_target t1
if dmsetup create t1 --table "$(target_line /dev/mapper/lower 0 hints=on)" 2>/dev/null; then
	wire dd if="$T_DIR/data" of=/dev/mapper/t1 bs=64k oflag=direct status=none
	check_that "hints through dm-linear are either right on the wire or missing" \
		"$(wire_count append)" -eq "$(appends_after_neighbour)"
	lost=$(($(status_field t1 lost_unseen) + $(status_field t1 lost_moved) + $(status_field t1 lost_merged)))
	check_that "and the status counts what was lost" $((lost + $(status_field t1 confirmed_append))) -eq \
		"$(status_field t1 append)"
	check "data is right" cmp -n 8388608 "$T_DIR/data" /dev/mapper/t1
	dmsetup remove t1
else
	t_fail "the target takes a device-mapper device below it"
fi
