#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode on a drive without power-loss protection: the power fails again and again under several
# processes that write on several CPUs, also while the target starts, and no promise is broken.
# kernels: uml
# long: 6.12
# smp: 2
# mem: 2G
# seconds: 40
# timeout: 900
# sentences: 5
. "$(dirname "$0")/rc"

ROUNDS=12

new_ssd ssd0 capacity_mib=32 channels=2 units_per_eblk=16 wbuf_kib=1024 run_units=8 plp=0
at_end drop_target t0
LINE=$(dieaware format "$DEV" --segment 256K --reserve 20 | tail -n 1)
nvmev-ssd power-off ssd0
check "the power fails $ROUNDS times under several writers, and no promise is broken" \
	python3 "$LAB_DIR/log-power.py" ssd0 t0 "${LINE//$DEV/DEVICE}" "$ROUNDS" 5
cp "$T_DIR/output" "$T_DIR/summary"
note "$(tail -n 1 "$T_DIR/summary")"
check "something was promised" grep -qE 'promised=[1-9][0-9]{2}' "$T_DIR/summary"
check "unflushed data was lost" grep -q 'lost=[1-9]' "$T_DIR/summary"
check "and some of it had become durable by itself" grep -q 'survived=[1-9]' "$T_DIR/summary"
check "the power has failed while the target started" grep -q 'starts_cut=[1-9]' "$T_DIR/summary"
