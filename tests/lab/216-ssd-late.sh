#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# How much of a measurement is this machine is said also after the driver has aborted a command that the drive
# was never going to complete.
# kernels: uml
# smp: 1
# mem: 2G
# seconds: 4
# timeout: 120
# sentences: 18
. "$(dirname "$0")/rc"

# count NAME: a line of the statistics
count() { sed -n "s/^$1 //p" /sys/kernel/debug/nvmev/ssd0/controller; }

# So fast in the model that no machine can move the data meanwhile
new_ssd ssd0 capacity_mib=256 read_ns=100 channel_mbps=1000000 link_mbps=1000000 cmd_ns=100 page_ns=1
dd if="$DEV" of=/dev/null bs=1M count=64 iflag=direct status=none
late=$(count late_permille)
check_that "completions are late" "$late" -ge 100
echo 1000 >"/sys/block/${DEV#/dev/}/queue/io_timeout"
echo "drop 1600 8 1" >/sys/kernel/debug/nvmev/ssd0/inject
mark_log
check "a read that is dropped is read in the end" timeout 60 dd if="$DEV" of=/dev/null bs=4k skip=200 count=1 iflag=direct
check "the driver has aborted it" log_has 'nvme.*abort'
check_that "completions still are as late as they were" "$(count late_permille)" -ge $((late / 2))

# Nothing is sent between the two but the question itself, which is no I/O.
late_log() {
	nvme get-log "/dev/$(<"$CONFIGFS/ssd0/nvme")" --log-id=0xc6 --log-len=248 --raw-binary | python3 -c '
import struct, sys
page = struct.unpack("<HHI5QII24Q", sys.stdin.buffer.read())
names = "version header_bytes late_ns completions completions_late sum_ns model_ns late_ns_worst late_permille nr_buckets"
for name, value in zip(names.split(), page):
    print(name, value)
buckets = page[10:]
print("sum_of_buckets", sum(buckets))
print("beyond_16_us", sum(buckets[5:]))
print("beyond_8_us", sum(buckets[4:]))'
}
late_log >"$T_DIR/late"
of_log() { sed -n "s/^$1 //p" "$T_DIR/late"; }
check_that "the log page has a head" "$(of_log version) $(of_log header_bytes) $(of_log late_ns) $(of_log nr_buckets)" == "1 248 10000 24"
for name in completions completions_late late_ns_worst late_permille; do
	check_that "the log page has $name of debugfs" "$(of_log $name)" -eq "$(count $name)"
done
check_that "each completion is in the histogram, and those in it that are late are" \
	"$(($(of_log sum_of_buckets) == $(of_log completions) && $(of_log beyond_16_us) <= $(of_log completions_late) && $(of_log completions_late) <= $(of_log beyond_8_us)))" -eq 1

# What has pauses for others is not late by them. 32 MiB of LBAs of 512 bytes are eight pieces, and two steps.
zeroes() { nvme write-zeroes "$DEV" --namespace-id=1 --start-block=0 --block-count="$1" "${@:2}"; }
before=$(count completions)
pieces=$(count pieces)
check "a command in pieces is done" zeroes 65535
check "as is one that deallocates" zeroes 65535 --deac
check_that "both had eight pieces" $(($(count pieces) - pieces)) -eq 16
check "and as a whole" zeroes 7
check_that "only the whole one is among those that can be late" $(($(count completions) - before)) -eq 1
dd if=/dev/zero of="$DEV" bs=1M count=32 oflag=direct status=none
before=$(count completions)
check "a deallocation in two steps is done" nvme dsm "$DEV" --namespace-id=1 --ad --slbs=0 --blocks=65536
check "and one in one" nvme dsm "$DEV" --namespace-id=1 --ad --slbs=65536 --blocks=8
check_that "only that one is" $(($(count completions) - before)) -eq 1
