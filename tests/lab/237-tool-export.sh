#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware export: well-formed, and the same figures that the status and the SSD give; two
# targets on one SSD, which is asked once; a file for the textfile collector,
# in a folder of somebody else's too.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 20
# timeout: 120
# sentences: 30
. "$(dirname "$0")/rc"

# value METRIC LABEL...: the value of the one sample that has these labels
value() {
	local metric=$1 label
	shift
	python3 "$T_LAB/promtext.py" "$T_DIR/text" "$metric" >"$T_DIR/samples"
	for label; do
		grep -F "$label" "$T_DIR/samples" >"$T_DIR/chosen" || true
		mv "$T_DIR/chosen" "$T_DIR/samples"
	done
	cut -d " " -f 2 "$T_DIR/samples"
}

T_LAB=$(dirname "$(readlink -f "$0")")
dieaware export >"$T_DIR/text"
check_that "without devices there is nothing to say" "$(wc -c <"$T_DIR/text")" -eq 0

new_ssd ssd0 capacity_mib=256
printf 'label: gpt\nstart=2048, size=131072\nstart=133120, size=262144\n' | sfdisk -q "$DEV"
poll 20 test -b "${DEV}p2" || partx -a "$DEV"
at_end drop_target fast
at_end drop_target db
dieaware create fast "${DEV}p1" --mode hint
dieaware create db "${DEV}p2" --mode log --format
make_fs ext4 /dev/mapper/fast
new_mount /dev/mapper/fast "$T_DIR/mnt"
for ((i = 0; i < 8; i++)); do
	dd if=/dev/zero of="$T_DIR/mnt/file" bs=64k count=1 seek="$i" oflag=direct conv=notrunc status=none
done
dd if=/dev/zero of=/dev/mapper/db bs=1M count=8 oflag=direct status=none
umount "$T_DIR/mnt"

dieaware export >"$T_DIR/text"
dieaware status --json fast >"$T_DIR/status"
drive=drive=\"${DEV##*/}\"
check "it is well-formed" python3 "$T_LAB/promtext.py" "$T_DIR/text"
for hint in append overwrite; do
	check_that "hints as the status has them: $hint" \
		"$(value dieaware_hints_confirmed_total device=\"fast\" hint=\"$hint\")" -eq "$(status_field fast confirmed_$hint)"
done
check_that "appends were written" "$(value dieaware_hints_total device=\"fast\" hint=\"append\")" -ge 8
check_that "hints are sent" "$(value dieaware_hints_on device=\"fast\")" -eq 1
check_that "the log is written" "$(value dieaware_log_writable device=\"db\")" -eq 1
check_that "8 MiB of it by users" "$(value dieaware_log_pages_written_total device=\"db\" by=\"users\")" -eq 2048
check_that "each die has its time" "$(value dieaware_ssd_die_busy_seconds_total "$drive" | wc -l)" -eq 8
check_that "and the host's pages come to what was written" \
	"$(value dieaware_ssd_die_pages_written_total "$drive" by=\"host\" | paste -sd+ | bc)" -ge $((2048 + 128))
check_that "hints as the SSD has them" "$(value dieaware_ssd_writes_total "$drive" hint=\"append\")" \
	-eq "$(ssd_stat ssd0 hints_append)"
check_that "... more than none" "$(value dieaware_ssd_writes_total "$drive" hint=\"append\")" -ge 8

check "a file" dieaware export --output "$T_DIR/out.prom"
check "is as well-formed" python3 "$T_LAB/promtext.py" "$T_DIR/out.prom"
check_that "and nothing else is there" "$(cd "$T_DIR" && echo out.prom*)" == out.prom
check_that "a folder that is missing" "$(dieaware export --output "$T_DIR/none/x" 2>&1)" == \
	"dieaware: $T_DIR/none/x cannot be written: No such file or directory (os error 2)."

# Somebody else may change which names are in the folder, as on Debian the user prometheus may.
theirs=$T_DIR/theirs
mkdir -m 777 "$theirs"
ln -s "$T_DIR/elsewhere" "$theirs/link.prom"
mkfifo "$theirs/pipe.prom"
mkdir "$T_DIR/folder"
ln -s "$T_DIR/folder" "$theirs/folder"
for name in link pipe; do
	exits 3 "it is no regular file, and its folder is somebody else's" dieaware export --output "$theirs/$name.prom"
done
exits 3 "a symbolic link of somebody else's leads to its folder" dieaware export --output "$theirs/folder/x.prom"
check_empty "nothing was written elsewhere" "$(ls -d "$T_DIR/elsewhere" "$T_DIR/folder/"* 2>/dev/null)"
check "a file is, all the same" dieaware export --output "$theirs/out.prom"
check "as always" python3 "$T_LAB/promtext.py" "$theirs/out.prom"
dmsetup message fast 0 hints off
dieaware export >"$T_DIR/text"
check_that "why hints are off" "$(value dieaware_info device=\"fast\" hints=\"off:requested\")" -eq 1

# The example for bpftrace has the fields that the tracepoint has, and their names of values.
script=$(readlink -f "$T_LAB/../packaging/hints.bt")
format=/sys/kernel/tracing/events/dieaware/dmda_hint
while read -r field; do
	check "the tracepoint has $field" grep -q "field:.* $field;" "$format/format"
done < <(grep -o "args->[a-z_]*" "$script" | cut -d ">" -f 2 | sort -u)
