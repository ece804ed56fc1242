#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# All commands that change data, on whole pages and parts of them, on a drive without power-loss protection whose
# power fails in between: every page is what was promised, or what it became by a later command.
# kernels: uml
# smp: 1
# mem: 2G
# seconds: 20
# timeout: 240
# sentences: 5
. "$(dirname "$0")/rc"

# try SEED PROPERTY...: a drive that is full, so that its operations are those of collection, too
try() {
	new_ssd ssd0 capacity_mib=8 channels=2 dies_per_channel=1 units_per_eblk=8 wbuf_kib=2048 run_units=4 plp=0 \
		share_pages=256 share_log_kib=4 "${@:2}"
	dd if=/dev/zero of="$DEV" bs=1M count=8 oflag=direct conv=fsync status=none
	nvmev-ssd power-off ssd0
	check "the power fails 25 times, and no promise is broken${2:+: ${*:2}}" \
		python3 "$LAB_DIR/power-all.py" ssd0 200 25 "$1"
	note "$(<"$T_DIR/output")"
	cp "$T_DIR/output" "$T_DIR/summary"
}

try 1
check "what was not promised was lost" grep -q 'lost=[1-9]' "$T_DIR/summary"
check "all commands were done" grep -q ' compact=.* copy=.* flush=.* forget=.* share=.* spoil=.* spread=.* zero=' "$T_DIR/summary"
drop_ssd ssd0
try 2 suspend_program=8 suspend_erase=8 slc_mib=1 cell_bits=2
drop_ssd ssd0
try 3 stripe_lead=2 parity=1 map_cache_mib=1 hold_ns=5000000
