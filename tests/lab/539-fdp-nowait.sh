#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Writes with a write stream that must not wait, where the device below would have to split them: what is refused
# had no command, and its hint is counted as lost.
# kernels: uml
# long: newest
# smp: 1
# mem: 2G
# seconds: 10
# timeout: 120
# sentences: 6
. "$(dirname "$0")/rc"

# refused_of NUMBER: writes of 64 KiB that must not wait and follow one another, from 1 MiB on
refused_of() {
	python3 - "$TARGET" "$1" <<-'END'
		import mmap, os, sys
		file = os.open(sys.argv[1], os.O_WRONLY | os.O_DIRECT)
		data = mmap.mmap(-1, 65536)
		refused = 0
		for number in range(int(sys.argv[2])):
		    try:
		        os.pwritev(file, [data], (number << 16) + (1 << 20), os.RWF_NOWAIT)
		    except BlockingIOError:
		        refused += 1
		print(refused)
	END
}

# sum NAME: of appends and overwrites
sum() {
	echo $(($(status_field t0 "$1append") + $(status_field t0 "$1overwrite")))
}

new_ssd ssd0 capacity_mib=256 hints=0 fdp=1
new_target t0 "$DEV" hints=fdp
check_that "there are hints" "$(status_field t0 transport) $(status_field t0 hints)" == "fdp on"
dmsetup message t0 0 reset_counters
check_that "writes that must not wait are written" "$(refused_of 20)" -eq 0
check_that "with hints that arrive" "$(sum confirmed_)" -eq "$(sum "")"
# dm does not know: it would not send them.
echo 4 >"/sys/block/${DEV#/dev/}/queue/max_sectors_kb"
check_that "if they would have to be split, they are refused" "$(refused_of 20)" -eq 20
check_that "their hints are lost" "$(status_field t0 lost_unseen)" -ge 20
check_that "all hints are accounted for" $(($(sum confirmed_) + $(status_field t0 lost_unseen))) -eq "$(sum "")"
