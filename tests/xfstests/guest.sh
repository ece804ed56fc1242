#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Inside the guest: run tests of xfstests on one kind of device and one filesystem. What
# xfstests prints comes out as it is; after it a line "after TEST pass|fail REASON" for each thing
# that was looked at in the end.
#
# Usage: guest.sh ON FS MIB TEST...
#
#   ON   raw, linear, hint or log
#   MIB  size of each of the devices below
#
# In an emulated machine the devices lie on two virtual SSDs. Where there is no PCI they are loop
# devices in memory, as those can have blocks of 4 KiB, flushes and discards: what a
# filesystem sees is the same for all four kinds then, as log mode has such blocks only.
set -euo pipefail
cd "$(dirname "$0")"
# xfstests writes HOSTNAME for it wherever it stands in what a test says, and "lab" stands in "label".
hostname xfstests-guest

SUITE=/opt/xfstests
ON=$1 FS=$2 MIB=$3
shift 3
NAMES=(test scratch)
# btrfs has tests of several devices; for these the first one is the scratch device.
[[ $FS != btrfs ]] || NAMES+=(pool2 pool3 pool4 pool5)

# new_loop NAME: a device of that name in memory.
new_loop() {
	truncate -s "${MIB}M" "/disks/$1"
	losetup --find --show --sector-size 4096 "/disks/$1"
}

# new_disk NAME: print the path of a new device.
new_disk() {
	if [[ -d /sys/bus/pci ]]; then
		nvmev-ssd create "$1" "capacity_mib=$MIB" lba_bytes=4096
	else
		new_loop "$1"
	fi
}

# table_of DISK: the table line of the target over it.
table_of() {
	local sectors

	sectors=$(blockdev --getsz "$1")
	case $ON in
	linear) echo "0 $sectors linear $1 0" ;;
	hint) echo "0 $sectors dieaware $1 0 hint" ;;
	log) dieaware format "$1" --force | tail -n 1 ;;
	esac
}

# new_device NAME: the device that is tested, as DEVICE; what it lies on, as DISKS[NAME].
declare -A DISKS
new_device() {
	DISKS[$1]=$(new_disk "$1")
	DEVICE=${DISKS[$1]}
	if [[ $ON != raw ]]; then
		dmsetup create "$1" --table "$(table_of "$DEVICE")"
		udevsettle
		DEVICE=/dev/mapper/$1
	fi
}

make_fs() {
	case $FS in
	ext4) mkfs.ext4 -q -F "$1" ;;
	f2fs) mkfs.f2fs -q -f "$1" ;;
	*) "mkfs.$FS" -q -f "$1" ;;
	esac
}

# Tests of what the kernel says after each test see all of it.
quiet_kernel() {
	echo 0 >/proc/sys/kernel/printk_ratelimit
}

# No udev runs here: where there is udevadm, xfstests would wait for ever for udev's word that a
# device has come, and a second where there is nothing. dmsetup makes its nodes by itself before it
# ends; what udev would have made of them are links to the kernel's names, which xfstests follows
# into sysfs.
without_udev() {
	rm -f "$(type -P udevadm)"
	cat >/usr/bin/udevsettle <<-'END'
		#!/bin/bash
		for node in /dev/mapper/*; do
			if [[ -b $node && ! -L $node ]]; then
				ln -sf "../dm-$((0x$(stat -c %T "$node")))" "$node"
			elif [[ -L $node && ! -b $node ]]; then
				rm -f "$node"
			fi
		done
	END
	chmod +x /usr/bin/udevsettle
}

scratch_variable() {
	if ((${#NAMES[@]} > 2)); then
		echo SCRATCH_DEV_POOL
	else
		echo SCRATCH_DEV
	fi
}

configure() {
	local name devices=()

	mkdir -p /disks /mnt/test /mnt/scratch /out/results
	mount -t tmpfs -o size=95% disks /disks
	modprobe -a loop dm-mod
	if [[ -d /sys/bus/pci ]]; then
		modprobe -a nvme nvmevirt-backend
	fi
	if [[ $ON == hint || $ON == log ]]; then
		modprobe dm-dieaware
	fi
	for name in "${NAMES[@]}"; do
		new_device "$name"
		devices+=("$DEVICE")
	done
	cat >"$SUITE/local.config" <<-END
		export FSTYP=$FS TEST_DEV=${devices[0]} TEST_DIR=/mnt/test
		export $(scratch_variable)="${devices[*]:1}" SCRATCH_MNT=/mnt/scratch
		export LOGWRITES_DEV=$(new_loop log-writes)
		export RESULT_BASE=/out/results SOAK_DURATION=20 TIME_FACTOR=1 LOAD_FACTOR=1
	END
	make_fs "${devices[0]}" >/dev/null
}

# Of tests that passed nobody reads what they wrote; the rest is cut, as it crosses to the host.
keep_results() {
	local file

	find /out/results -name '*.full' | while read -r file; do
		[[ -e ${file%.full}.out.bad || -e ${file%.full}.dmesg ]] || rm -f "$file"
	done
	find /out/results -type f -size +256k -exec truncate -s 256K {} +
}

# after NAME COMMAND...: one line of what was looked at when the tests are over.
after() {
	local name=$1 reason
	shift

	if reason=$("$@" 2>&1); then
		echo "after $name pass"
	else
		echo "after $name fail $(tail -n 3 <<<"$reason" | paste -sd ' ')"
	fi
}

# What a test has left is taken away: it was that test's fault, and xfstests has said so.
let_go() {
	local name

	for name in scratch test; do
		while umount "/mnt/$name" 2>/dev/null; do :; done
	done
	# "No devices found" has spaces, names have none.
	dmsetup info -c --noheadings -o name 2>/dev/null | grep -v ' ' |
		grep -vxF "$(printf '%s\n' "${NAMES[@]}")" | xargs -r -n 1 dmsetup remove --retry || true
}

stop_target() {
	local name

	[[ $ON != raw ]] || return 0
	for name in "${NAMES[@]}"; do
		after "$name/remove" dmsetup remove --retry "$name"
		[[ $ON != log ]] || after "$name/check" dieaware check "${DISKS[$name]}"
	done
}

quiet_kernel
without_udev
configure
(cd "$SUITE" && ./check "$@") </dev/null || true
let_go
stop_target
keep_results
