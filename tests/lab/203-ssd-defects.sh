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
# sentences: 23
. "$(dirname "$0")/rc"

# identify_us DEV: what Identify Namespace takes, ten times
identify_us() {
	local since=${EPOCHREALTIME/./}

	for _ in {1..10}; do
		nvme id-ns "$1" >"$T_DIR/id"
	done
	echo $(((${EPOCHREALTIME/./} - since) / 10))
}

# count SSD NAME: a line of its statistics
count() { sed -n "s/^$2 //p" "/sys/kernel/debug/nvmev/$1/controller"; }

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
note "The worst of $(count ssd0 completions) completions was late by $(count ssd0 late_ns_worst) ns."
# What the machine does besides takes longer than the 10 us that make one late now and then.
check_that "no more than two completions were late" "$(count ssd0 completions_late)" -le 2
nvmev-ssd stats ssd0 >"$T_DIR/stats" 2>"$T_DIR/warned"
check_empty "and nobody is warned" "$(<"$T_DIR/warned")"
drop_ssd ssd0

new_ssd small capacity_mib=1024
small=$(identify_us "$DEV")
drop_ssd small
new_ssd large capacity_mib=61440
large=$(identify_us "$DEV")
note "Identify Namespace takes $small us of 1 GiB, and $large us of 60 GiB."
check_that "Identify Namespace takes no longer on a large drive" "$large" -le $((small + 1000))
drop_ssd large

# So fast that the CPU, which moves the data, is what takes time
new_ssd fast capacity_mib=256 read_ns=1000 channel_mbps=100000 link_mbps=100000 cmd_ns=100 page_ns=1
write_mib "$DEV" 256 oflag=direct
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

fetched, late, told = {}, [], []
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
        told.append(int(re.search(r"late_ns=(\d+)", line)[1]) // 1000)
print(len(late), max(late), max(told))
END
read -r commands late told <"$T_DIR/late"
check_that "reads are in the trace" "$commands" -ge 8
note "A completion was posted up to $late us later than what nvmev_done says."
check_that "what nvmev_done says a read took is when it was posted" "$late" -le 20
note "The worst was late by $told us in the trace, and by $(count fast late_ns_worst) ns in the statistics."
check_that "it says by how much a read that this CPU was too slow for was late" "$told" -ge 50
check_that "the worst is in the statistics" $(($(count fast late_ns_worst) / 1000)) -ge $((told - 20))
check_that "so is how many there were" "$(count fast completions_late)" -ge 1
# A read of 1 MiB takes some 50 us in the model.
nvmev-ssd stats fast >"$T_DIR/stats" 2>"$T_DIR/warned"
note "$(<"$T_DIR/warned")"
check_that "late by more than it takes is so in the statistics" "$(count fast late_permille)" -ge 1000
check "and whoever asks for them is warned" grep -qE "completions of fast were late by [0-9]+\\.[0-9] percent" "$T_DIR/warned"

# A program that reads all the time while a drive that is full forgets everything
echo >"$TRACEFS/trace"
echo 1 >"$TRACEFS/events/nvmev/nvmev_cmd/enable"
echo 1 >"$TRACEFS/events/nvmev/nvmev_done/enable"
dd if="$DEV" of=/dev/null bs=4k iflag=direct status=none &
reader=$!
sleep 0.1
blkdiscard "$DEV"
kill "$reader"
wait "$reader" || :
echo 0 >"$TRACEFS/events/nvmev/enable"
between=$(awk '/nvmev_cmd:.* opcode=0x09 / { match($0, /qid=[0-9]+ cid=[0-9]+ /); id = substr($0, RSTART, RLENGTH); next }
	id && /nvmev_cmd:.* opcode=0x02 / { nr++ }
	id && /nvmev_done:/ && index($0, id) { print nr + 0; exit }' "$TRACEFS/trace")
note "$between reads were fetched while a deallocation of 256 MiB was under way."
check_that "reads are served while the drive forgets all of its data" "${between:-0}" -ge 1
check_that "all of which is gone" "$(sed -n 's/^pages_mapped //p' /sys/kernel/debug/nvmev/fast/ftl)" -eq 0
check "and reads as zeroes" cmp -n $((256 << 20)) "$DEV" /dev/zero
