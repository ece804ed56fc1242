#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each allocation in turn fails while modules are loaded and targets made, reloaded and
# messaged: an error, nothing leaked, and the next try works.
# kernels: debug
# smp: 2
# mem: 2G
# sentences: 26+
# seconds: 25
# timeout: 600
. "$(dirname "$0")/rc"
need_faults

# every SENTENCE MINIMUM ARGUMENT...: let faults.py do it; at least MINIMUM of the
# attempts must have failed, or nothing was tried.
every() {
	local sentence=$1 minimum=$2 errors
	shift 2
	check "$sentence" python3 "$LAB_DIR/faults.py" "$@"
	note "$(tail -n 1 "$T_DIR/output")"
	errors=$(sed -n 's/^faults .* errors \([0-9]*\).*/\1/p' "$T_DIR/output")
	check_that "$sentence: faults were felt" "${errors:-0}" -ge "$minimum"
}

module_file() {
	modinfo -n "$1"
}

# ---- modules; the kernel itself leaks the name of a cache that it cannot show in sysfs
rmmod dm_dieaware nvmevirt_backend
for module in dm-dieaware nvmevirt-backend; do
	every "$module loads or says why not" 5 --below do_one_initcall --spare sysfs_slab_add \
		load "$(module_file $module)"
	every "$module unloads whatever fails" 0 unload "$(module_file $module)"
done
modprobe -a nvmevirt-backend dm-dieaware

every "an SSD's directory is made or not" 1 --below nvmevirt_backend make spare

# ---- targets
new_ssd ssd0 capacity_mib=128
sectors=$(blockdev --getsz "$DEV")
line="dieaware $DEV 0 hint 1 hints=auto"
every "a target is made or not" 3 --below dm_dieaware --step 3 create t1 "$sectors" "$line"
new_target t0 "$DEV" hints=on
every "a table is reloaded or not" 2 --below dm_dieaware --step 5 reload t0 "$sectors" "$line"
check "the target still works" dd if=/dev/zero of="$TARGET" bs=64k count=16 oflag=direct
dmsetup resume t0
for message in "hints auto" "hints on" "runs add 253:0 12 34 0 1000 8" "runs clear" "reset_counters"; do
	every "the message '$message' is obeyed or fails" 0 --below dm_dieaware --step 5 message t0 "$message"
done
dmsetup message t0 0 hints on
dmsetup message t0 0 reset_counters
dd if=/dev/zero of="$TARGET" bs=64k count=16 oflag=direct status=none
check_that "and hints are on the wire" "$(status_field t0 confirmed_append)" -ge 14
