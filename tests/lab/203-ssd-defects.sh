#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The virtual SSD as a drive and as a measuring instrument: it touches no memory that it must not
# touch, serves queues in turn, answers questions without counting all of itself, and says how long
# a command took when it was posted late.
# kernels: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 15
# timeout: 300
# sentences: 8
. "$(dirname "$0")/rc"

# identify_us DEV: what Identify Namespace takes, ten times
identify_us() {
	local since=${EPOCHREALTIME/./}

	for _ in {1..10}; do
		nvme id-ns "$1" >"$T_DIR/id"
	done
	echo $(((${EPOCHREALTIME/./} - since) / 10))
}

# A read takes 37 ms: long enough for something to happen meanwhile. Once all can be read, the dies are idle.
new_ssd ssd0 capacity_mib=1024 time_scale=1000
write_mib "$DEV" 4 oflag=direct
dd if="$DEV" of=/dev/null bs=1M count=4 iflag=direct status=none
address=$(<"$CONFIGFS/ssd0/pci_address")
take_raw ssd0
echo >"$TRACEFS/trace"
echo 1 >"$TRACEFS/events/nvmev/nvmev_cmd/enable"
run_sentences python3 "$LAB_DIR/rawhost-defects.py" "/sys/bus/pci/devices/$address/config" \
	/sys/kernel/debug/nvmev/ssd0/inject "$TRACEFS/trace"
echo 0 >"$TRACEFS/events/nvmev/nvmev_cmd/enable"
give_back ssd0
drop_ssd ssd0

new_ssd small capacity_mib=1024
small=$(identify_us "$DEV")
drop_ssd small
new_ssd large capacity_mib=61440
large=$(identify_us "$DEV")
note "Identify Namespace takes $small us of 1 GiB, and $large us of 60 GiB."
check_known S4 "Identify Namespace takes no longer on a large drive" test "$large" -le $((small + 1000))
drop_ssd large

# So fast that the CPU, which moves the data, is what takes time
new_ssd fast capacity_mib=256 read_ns=1000 channel_mbps=100000 link_mbps=100000 cmd_ns=100 page_ns=1
write_mib "$DEV" 32 oflag=direct
echo >"$TRACEFS/trace"
clock=$(sed 's/.*\[\(.*\)\].*/\1/' "$TRACEFS/trace_clock")
at_end sh -c "echo $clock >$TRACEFS/trace_clock"
echo mono >"$TRACEFS/trace_clock"
echo 1 >"$TRACEFS/events/nvmev/nvmev_cmd/enable"
echo 1 >"$TRACEFS/events/nvmev/nvmev_done/enable"
dd if="$DEV" of=/dev/null bs=1M count=8 iflag=direct status=none
echo 0 >"$TRACEFS/events/nvmev/enable"
python3 - "$TRACEFS/trace" >"$T_DIR/late" <<'END'
import re
import sys

fetched, late = {}, []
for line in open(sys.argv[1]):
    found = re.search(r" (\d+)\.(\d{6}): nvmev_(cmd|done): .*?qid=(\d+) cid=(\d+)", line)
    if not found:
        continue
    key = found[4], found[5]
    if found[3] == "cmd":
        fetched[key] = int(re.search(r"fetched_ns=(\d+)", line)[1]) // 1000
    elif key in fetched:
        took = int(found[1] + found[2]) - fetched.pop(key)
        late.append(took - int(re.search(r"latency_ns=(\d+)", line)[1]) // 1000)
print(len(late), max(late))
END
read -r commands late <"$T_DIR/late"
check_that "reads are in the trace" "$commands" -ge 8
note "A completion was posted up to $late us later than what nvmev_done says."
check_known S5 "what nvmev_done says a read took is when it was posted" test "$late" -le 20
