#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# How much of a measurement is this machine is said also after the driver has aborted a command that the drive
# was never going to complete.
# kernels: uml
# smp: 1
# mem: 2G
# seconds: 4
# timeout: 120
# sentences: 4
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
