#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Why pages are where they are: the tracepoint nvmev_place names the rule of each decision, and the
# simulator decides the same for the same commands, and says so.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 1G
# seconds: 10
# timeout: 120
# sentences: 24
. "$(dirname "$0")/rc"

# Nothing of the drive depends on times, which are the machine's.
TIMELESS=(capacity_mib=64 units_per_eblk=16 bg_eblks=0 bg_mend=0 hold_ns=0)
APPEND=$((1 << 24))
OVERWRITE=$((1 << 25))
BEGIN=$((1 << 16))
EVENTS=$TRACEFS/events/nvmev

# put FIRST_PAGE NR_PAGES [BIT [PREDECESSOR_PAGE]]: write pages, with a hint
put() {
	nvme io-passthru "$DEV" --opcode=1 --namespace-id=1 --write --data-len=$(($2 * 4096)) \
		--input-file="$T_DIR/zeroes" --cdw10=$(($1 * 8)) --cdw12=$((${3:-0} | ($2 * 8 - 1))) \
		--cdw2=$((${4:-0} * 8)) >"$T_DIR/said" 2>&1
}

# job: each rule at least once
job() {
	local i

	put 0 4
	put 0 1
	put 1000 32 "$BEGIN"
	put 4 4
	put 1032 4 "$APPEND" 1031
	put 1036 4 "$APPEND" 1035
	put 2000 1 "$BEGIN"
	put 3000 1 "$APPEND" 2000
	put 1008 8 "$OVERWRITE"
	put 1000 2 "$OVERWRITE"
	for i in {0..9}; do
		put $((5000 + i * 100)) 2 "$BEGIN"
	done
	put 5001 9 "$APPEND" 5000
	put 9000 200
}

# What the module has told, and what the simulator tells, in the same words
told_by_module() {
	sed -n 's/.* nvmev_place: .* lpn=\([-0-9]*\) nr_pages=\([0-9]*\) rule=\([^ ]*\) pred=\([-0-9]*\) pred_die=\([-0-9]*\) before_die=\([-0-9]*\) wanted_die=\([-0-9]*\) die=\([0-9]*\) unit=\([0-9]*\) slot=\([0-9]*\) levelled=\([01]\)$/\1 \2 \3 \4 \5 \6 \7 \8 \9/p' "$T_DIR/trace"
}
told_by_simulator() {
	jq -r '.explained[].placements[] | (.after // .before) as $at | "\(.lpn // -1) \(.nr_pages) \(.rule) \(.pred // -1) \(.pred_at.die // -1) \(.before.die // -1) \(.wanted_die // -1) \($at.die) \($at.unit)"' "$T_DIR/report"
}

head -c 1048576 /dev/zero >"$T_DIR/zeroes"
for hits in 1 0; do
	properties=("${TIMELESS[@]}" "register_hits=$hits" run_units=4)
	new_ssd ssd0 "${properties[@]}"
	echo >"$TRACEFS/trace"
	echo 1 >"$EVENTS/nvmev_cmd/enable"
	job
	echo 0 >"$EVENTS/nvmev_cmd/enable"
	check_that "nobody is told who has not asked (register_hits=$hits)" "$(grep -c nvmev_place: "$TRACEFS/trace" || true)" -eq 0
	drop_ssd ssd0

	new_ssd ssd0 "${properties[@]}"
	echo >"$TRACEFS/trace"
	echo 1 | tee "$EVENTS"/{nvmev_cmd,nvmev_place}/enable >"$T_DIR/said"
	job
	cat "$TRACEFS/trace" >"$T_DIR/trace"
	echo 0 | tee "$EVENTS"/{nvmev_cmd,nvmev_place}/enable >"$T_DIR/said"
	options=()
	for property in "${properties[@]}"; do
		options+=(--set "$property")
	done
	dieaware sim "${options[@]}" --json --explain all "$T_DIR/trace" >"$T_DIR/report"
	told_by_module >"$T_DIR/module"
	told_by_simulator >"$T_DIR/simulator"
	check "the simulator decides the same by the same rules (register_hits=$hits)" diff "$T_DIR/module" "$T_DIR/simulator"
	check_that "... and each page is told of once" \
		"$(awk '$3 != "6" { nr += $2 } END { print nr }' "$T_DIR/module")" -eq "$(ssd_stat ssd0 host_pages_written)"
	rules=$(cut -d ' ' -f 3 "$T_DIR/module" | sort -u | xargs)
	if ((hits)); then
		check_that "all rules but that of pieces apart were needed" "$rules" == "1 2 3a 3b 3d 4 6"
	else
		check_that "pieces apart have a rule of their own" "$rules" =~ 3c
	fi
	lpn=$(awk '$3 == "3b" { lpn = $1 } END { print lpn }' "$T_DIR/module")
	die=$(awk -v lpn="$lpn" '$1 == lpn && $3 == "3b" { at = $8 } END { print at }' "$T_DIR/module")
	check_that "nvmev-ssd map has a page on the die that was told" \
		"$(nvmev-ssd map ssd0 $((lpn * 8)) 8 | cut -d ' ' -f 2)" -eq "$die"
	line=$(grep -n "nvmev_cmd:.* slba=8256 .*opcode\|nvmev_cmd:.* slba=8256 " "$T_DIR/trace" | sed -n 1p | cut -d : -f 1)
	dieaware sim "${options[@]}" --explain "$line" "$T_DIR/trace" >"$T_DIR/words"
	check_that "one command can be asked for by its line" "$(grep -c '^line ' "$T_DIR/words")" -eq 1
	check_that "and is explained in words" "$(<"$T_DIR/words")" =~ "lpn 1032-1035: append after lpn 1031 .*: rule 3b, a run unit is opened on the die after its predecessor's -> die"
	exits 2 "there is no command on line 1." dieaware sim "${options[@]}" --explain 1 "$T_DIR/trace"
	exits 2 "write the number of a line" dieaware sim "${options[@]}" --explain seven "$T_DIR/trace"
	drop_ssd ssd0
done

# A drive that is off, and preconditioned, tells nothing: there is no command.
echo 1 >"$EVENTS/nvmev_place/enable"
new_ssd ssd0 "${TIMELESS[@]}"
put 0 4
nvmev-ssd power-off ssd0
echo >"$TRACEFS/trace"
nvmev-ssd precondition ssd0 --fill 10
check_that "preconditioning is nobody's command" "$(grep -c nvmev_place: "$TRACEFS/trace" || true)" -eq 0
echo 0 >"$EVENTS/nvmev_place/enable"
nvmev-ssd power-on ssd0 >"$T_DIR/said"
DEV=$(ssd_device ssd0)
check "the SSD works after that" put 0 4
