#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# instructions that a command costs the FTL, on a small drive and on a very large one.
# In virtual time a nanosecond is an instruction.

set -euo pipefail

# shellcheck source=bench/guest/lib.sh
. "$(dirname -- "$0")/lib.sh"

ROW=ssd.ftl_growth
OPS=(write_unit write_page append_page overwrite_unit read_page read_unit)

# cost NAME SIZE OPTION...: one line for bench/report.py.
cost() {
	local name=$1 size=$2
	shift 2

	report "doing=$name:_$size"
	measure "row=$ROW case=$name size=$size" ftl_cost "$@"
}

# 8 dies with 1 GiB, and 1024 dies with 15.98 TiB of flash, which show 15.36 TB.
new_drives() {
	local op=$1

	cost "$op" small --op "$op" --capacity 1G --channels 4 --dies-per-channel 2
	cost "$op" large --op "$op" --capacity 14305G --channels 32 --dies-per-channel 32 \
		--reserve-permille 126
}

# 8 and 1024 dies of about 10 MiB each, full and overwritten at random once, so that they
# collect all the time.
aged_drives() {
	local options=(--age --units-per-eblk 8 --reserve-permille 200 --spots 1K --ops 64K)

	cost write_any,_collecting small --op write_any "${options[@]}" \
		--capacity 64M --channels 4 --dies-per-channel 2
	cost write_any,_collecting large --op write_any "${options[@]}" \
		--capacity 8G --channels 32 --dies-per-channel 32
}

report "kernel=$(uname -r) profile=fast24"
for op in "${OPS[@]}"; do
	new_drives "$op"
done
aged_drives
