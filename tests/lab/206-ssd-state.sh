#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# State files: experiments begin from the same drive, here and in the simulator, to the bit; what is
# refused, and that nothing is lost when something is.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 30
# timeout: 300
# sentences: 103
. "$(dirname "$0")/rc"

ITEM=$CONFIGFS/ssd0
SMALL=(capacity_mib=64 units_per_eblk=16)
# Nothing of these depends on times, which are the machine's.
TIMELESS=("${SMALL[@]}" bg_eblks=0 bg_mend=0 hold_ns=0)
VOLATILE=(profile=tlc capacity_mib=64 units_per_eblk=16 wbuf_kib=8192 run_units=8)

# simulate PROPERTY=VALUE... -- OPTION...: the simulator with a drive of these properties
simulate() {
	local args=()

	while [[ $1 != -- ]]; do
		if [[ $1 == profile=* ]]; then
			args+=(--profile "${1#*=}")
		else
			args+=(--set "$1")
		fi
		shift
	done
	dieaware sim "${args[@]}" "${@:2}"
}

# job: what the host does in an experiment
job() {
	local i

	for i in 3 17 5 40 11 17 3; do
		dd if=/dev/urandom of="$DEV" bs=64k seek=$((i * 16)) count=20 oflag=direct status=none
		dd if=/dev/urandom of="$DEV" bs=4k seek=$((i * 99)) count=33 oflag=direct status=none
	done
	blkdiscard -o $((8 << 20)) -l $((1 << 20)) "$DEV"
}

# refuses SENTENCE WORDS FILE [CODE]: the SSD does not become what is in a file, and says why
refuses() {
	check_fails "$1 is refused" sh -c "echo $3 >$ITEM/load"
	check_that "... with a sentence" "$(<"$ITEM/error")" =~ "$2"
}

# flip FILE OFFSET: change a byte
flip() {
	local byte

	byte=$(od -An -tu1 -j "$2" -N 1 "$1")
	printf "%b" "$(printf '\\\\x%02x' $((byte ^ 1)))" |
		dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# What nvmev-ssd map says of all pages
places() { nvmev-ssd map ssd0 0 $((64 << 11)); }

# is_interrupted: whoever saves is killed by a signal when a part of the file is written
is_interrupted() {
	local status=0 pid

	rm -f "$T_DIR/interrupted"
	bash -c "echo $T_DIR/interrupted >$ITEM/save" &
	pid=$!
	until [[ -s $T_DIR/interrupted ]]; do :; done
	sleep "0.0$((RANDOM % 8))"
	kill "$pid" || true
	wait "$pid" || status=$?
	((status == 128 + 15)) && [[ $(<"$ITEM/error") == "It was interrupted." ]]
}

# always_interrupted: it says so wherever the signal meets it
always_interrupted() {
	local i

	for ((i = 0; i < 40; i++)); do
		is_interrupted || return 1
	done
}

# The module writes what the simulator does, bit by bit, and the other way round.
for kind in protected volatile; do
	properties=("${SMALL[@]}")
	[[ $kind == protected ]] || properties=("${VOLATILE[@]}")
	# One that is on is looked at by its driver, which costs it reads.
	mkdir "$ITEM"
	at_end drop_ssd ssd0
	for property in "${properties[@]}"; do
		echo "${property#*=}" >"$ITEM/${property%%=*}"
	done
	nvmev-ssd precondition ssd0 --fill 80 --random 1.5x --seed 4
	nvmev-ssd save ssd0 "$T_DIR/$kind" --no-data
	simulate "${properties[@]}" -- --fill 80 --random 1.5x --seed 4 --save "$T_DIR/$kind.sim" >"$T_DIR/report"
	check "the simulator writes the same file of a $kind drive" cmp "$T_DIR/$kind" "$T_DIR/$kind.sim"
	nvmev-ssd power-on ssd0 >"$T_DIR/said"
	places >"$T_DIR/places"
	drop_ssd ssd0

	new_ssd ssd0 "${properties[@]}"
	check "the module reads the simulator's file of a $kind drive" nvmev-ssd load ssd0 "$T_DIR/$kind.sim"
	DEV=$(ssd_device ssd0)
	check_that "all pages of a $kind drive are where they were" "$(places | cmp - "$T_DIR/places" && echo same)" == same
	check "... and read as zeroes" cmp -n $((64 << 20)) "$DEV" /dev/zero
	check_that "statistics of a $kind drive are those of the file" "$(ssd_stat ssd0 pages_mapped)" -eq $((16384 * 80 / 100))
	drop_ssd ssd0
	check "the simulator reads the module's file of a $kind drive" \
		simulate "${properties[@]}" -- --load "$T_DIR/$kind" --check --save "$T_DIR/$kind.again"
	check "... and writes it once more as it was" cmp "$T_DIR/$kind" "$T_DIR/$kind.again"
done

# The same job on the same file, twice
new_ssd ssd0 "${TIMELESS[@]}"
nvmev-ssd precondition ssd0 --fill 90 >"$T_DIR/said"
DEV=$(ssd_device ssd0)
job
since=${EPOCHREALTIME/./}
said=$(nvmev-ssd save ssd0 "$T_DIR/aged")
note "Saving took $(((${EPOCHREALTIME/./} - since) / 1000)) ms, the file has $(stat -c %s "$T_DIR/aged") bytes."
DEV=$(ssd_device ssd0)
check_that "the block device of a drive that was on is printed" "$said" == "$DEV"
dd if="$DEV" of="$T_DIR/data" bs=1M iflag=direct status=none
for time in 1 2; do
	since=${EPOCHREALTIME/./}
	nvmev-ssd load ssd0 "$T_DIR/aged" >"$T_DIR/said"
	note "Loading took $(((${EPOCHREALTIME/./} - since) / 1000)) ms."
	DEV=$(ssd_device ssd0)
	check "data is what it was, the ${time}. time" cmp "$DEV" "$T_DIR/data"
	check_that "the host has written nothing yet" "$(ssd_stat ssd0 writes)" -eq 0
	job
	places >"$T_DIR/places.$time"
	nvmev-ssd save ssd0 "$T_DIR/after.$time" --no-data >"$T_DIR/said"
done
check "all pages are in the same places after the same job" cmp "$T_DIR/places.1" "$T_DIR/places.2"
check "and all else of the drive is the same" cmp "$T_DIR/after.1" "$T_DIR/after.2"
check "which was another drive before" differ "$T_DIR/aged" "$T_DIR/after.1"

# No driver comes, so that switching the SSD on again does not end; then it is interrupted.
echo 0 >/sys/bus/pci/drivers_autoprobe
at_end sh -c "echo 1 >/sys/bus/pci/drivers_autoprobe"
nvmev-ssd save ssd0 "$T_DIR/whole" --no-data >"$T_DIR/said" 2>&1 &
saver=$!
has_saved() { [[ -s $T_DIR/whole && $(<"$ITEM/power") == 1 ]]; }
check "the SSD is saved and switched on" poll 20 has_saved
kill "$saver"
wait "$saver" || true
check "whoever interrupts that keeps the file, which is whole" \
	simulate "${TIMELESS[@]}" -- --load "$T_DIR/whole" --check
echo 0 >"$ITEM/power"
echo 1 >/sys/bus/pci/drivers_autoprobe
nvmev-ssd power-on ssd0 >"$T_DIR/said"

# Refusals, after each of which the SSD is what it was
DEV=$(ssd_device ssd0)
dd if="$DEV" of="$T_DIR/data" bs=1M iflag=direct status=none
check_fails "an SSD that is on does not become another" sh -c "echo $T_DIR/aged >$ITEM/load"
check_that "... and says why" "$(<"$ITEM/error")" =~ "while it is switched off"
check_fails "nor is it saved by configfs" sh -c "echo $T_DIR/on >$ITEM/save"
mkfs.ext4 -q "$DEV" 1M
dd if="$DEV" of="$T_DIR/data" bs=1M iflag=direct status=none
mkdir "$T_DIR/mount"
mount "$DEV" "$T_DIR/mount"
at_end umount "$T_DIR/mount"
exits 1 "$DEV is mounted or swapped to" nvmev-ssd load ssd0 "$T_DIR/aged"
exits 1 "$DEV is mounted or swapped to" nvmev-ssd save ssd0 "$T_DIR/mounted"
umount "$T_DIR/mount"
dd if="$DEV" of="$T_DIR/data" bs=1M iflag=direct status=none
exits 1 "exists, and is not written over" nvmev-ssd save ssd0 "$T_DIR/aged"
check "it is still there then" test -s "$T_DIR/aged"
exits 1 "could not be opened" nvmev-ssd save ssd0 "$T_DIR/no/such/folder"
exits 1 "could not be opened" nvmev-ssd load ssd0 "$T_DIR/none"
exits 1 "name of a file is missing" nvmev-ssd save ssd0
exits 1 "There is no option '--data'" nvmev-ssd save ssd0 "$T_DIR/x" --data
exits 1 "load needs a name and a file" nvmev-ssd load ssd0
exits 1 "There is no virtual SSD 'ssd9'" nvmev-ssd load ssd9 "$T_DIR/aged"
nvmev-ssd power-off ssd0
mkfifo "$T_DIR/pipe"
refuses "a pipe" "not a regular file" "$T_DIR/pipe"
refuses "a folder" "could not be read|not a regular file" "$T_DIR"
head -c 100000 /dev/zero >"$T_DIR/zeroes"
refuses "a file of another kind" "not a state file" "$T_DIR/zeroes"
for bytes in 0 100 4096 100000 $(($(stat -c %s "$T_DIR/aged") - 4096)); do
	head -c "$bytes" "$T_DIR/aged" >"$T_DIR/short"
	refuses "a file of $bytes bytes" "too short" "$T_DIR/short"
done
for at in 8 100 5000 50000 $(($(stat -c %s "$T_DIR/aged") - 6000)); do
	cp "$T_DIR/aged" "$T_DIR/damaged"
	flip "$T_DIR/damaged" "$at"
	refuses "a file with a change at byte $at" "damaged|of a version" "$T_DIR/damaged"
done
refuses "one of a drive with other latencies" "other properties \(bg_eblks\)" "$T_DIR/protected"
refuses "one of a drive of another kind" "other properties" "$T_DIR/volatile"
nvmev-ssd power-on ssd0 >"$T_DIR/said"
DEV=$(ssd_device ssd0)
check "after all that the SSD has its data" cmp "$DEV" "$T_DIR/data"
nvmev-ssd power-off ssd0
mount -t tmpfs -o size=1m none "$T_DIR/mount"
exits 1 "no space left" nvmev-ssd save ssd0 "$T_DIR/mount/state"
check_fails "what there was no room for does not stay" test -e "$T_DIR/mount/state"
umount "$T_DIR/mount"
drop_ssd ssd0

exits 2 "other properties (capacity_mib)" simulate capacity_mib=128 -- --load "$T_DIR/aged" --save "$T_DIR/x"
exits 2 "too short" simulate "${TIMELESS[@]}" -- --load "$T_DIR/short" --save "$T_DIR/x"
exits 3 "File exists" simulate "${TIMELESS[@]}" -- --load "$T_DIR/aged" --save "$T_DIR/aged"
check "the simulator reads past data" simulate "${TIMELESS[@]}" -- --load "$T_DIR/aged" --check --save "$T_DIR/aged.sim"

# Namespaces are a part of the drive; one that was never on can be loaded, and saved
mkdir "$ITEM"
at_end drop_ssd ssd0
echo 64 >"$ITEM/capacity_mib"
echo 32,16 >"$ITEM/namespace_mib"
check "an SSD that was never on can be saved" sh -c "echo $T_DIR/new >$ITEM/save"
check "... and loaded" sh -c "echo $T_DIR/new >$ITEM/load"
echo 16,32 >"$ITEM/namespace_mib"
refuses "a drive with other namespaces" "other namespaces" "$T_DIR/new"
drop_ssd ssd0

# One that was formatted and never written has something to lose, too
new_ssd ssd0 "${SMALL[@]}"
nvme format "${DEV%n1}" --namespace-id=1 --lbaf=1 --force >"$T_DIR/said"
nvmev-ssd power-off ssd0
refuses "a file of another kind, by a formatted SSD" "not a state file" "$T_DIR/zeroes"
DEV=$(nvmev-ssd power-on ssd0)
check_that "which keeps its format" "$(blockdev --getss "$DEV")" -eq 4096
drop_ssd ssd0

# Unreadable sectors are data as well; a volatile drive keeps both when its power fails
new_ssd ssd0 "${VOLATILE[@]}"
dd if=/dev/urandom of="$DEV" bs=1M count=16 oflag=direct conv=fsync status=none
nvme write-uncor "$DEV" --namespace-id=1 --start-block=2048 --block-count=7 >"$T_DIR/said"
nvme flush "$DEV" --namespace-id=1 >"$T_DIR/said"
dd if="$DEV" of="$T_DIR/data" bs=1M skip=2 count=14 iflag=direct status=none
nvmev-ssd save ssd0 "$T_DIR/marked" >"$T_DIR/said"
nvmev-ssd discard ssd0 2>"$T_DIR/said" || nvmev-ssd power-off ssd0
nvmev-ssd discard ssd0
nvmev-ssd load ssd0 "$T_DIR/marked"
nvmev-ssd power-on ssd0 >"$T_DIR/said"
DEV=$(ssd_device ssd0)
check_fails "what was declared unreadable is so" dd if="$DEV" of=/dev/null bs=4k skip=256 count=1 iflag=direct
dd if=/dev/urandom of="$DEV" bs=1M seek=4 count=8 oflag=direct status=none
nvmev-ssd power-cut ssd0
nvmev-ssd power-on ssd0 >"$T_DIR/said"
DEV=$(ssd_device ssd0)
check "after a power failure it has what was saved where nothing was written since" \
	cmp -n $((4 << 20)) -i $((12 << 20)):$((10 << 20)) "$DEV" "$T_DIR/data"
drop_ssd ssd0

# With a backing file: what is loaded is in it when nvmev-ssd is done
new_ssd ssd0 "${SMALL[@]}" backing_file="$T_DIR/image"
write_mib "$DEV" 8 oflag=direct
dd if="$DEV" of="$T_DIR/data" bs=1M count=8 iflag=direct status=none
nvmev-ssd save ssd0 "$T_DIR/backed" >"$T_DIR/said"
DEV=$(ssd_device ssd0)
dd if=/dev/zero of="$DEV" bs=1M count=8 oflag=direct status=none
nvmev-ssd power-off ssd0
exits 1 "no out-of-band data" nvmev-ssd load ssd0 "$T_DIR/protected"
nvmev-ssd load ssd0 "$T_DIR/backed"
drop_ssd ssd0
new_ssd ssd0 "${SMALL[@]}" backing_file="$T_DIR/image"
check "a backing file has what was loaded" cmp -n $((8 << 20)) "$DEV" "$T_DIR/data"
drop_ssd ssd0
new_ssd ssd0 "${SMALL[@]}"
nvmev-ssd load ssd0 "$T_DIR/backed" >"$T_DIR/said"
DEV=$(ssd_device ssd0)
check "a drive without one can begin from it, too" cmp -n $((8 << 20)) "$DEV" "$T_DIR/data"
drop_ssd ssd0
new_ssd ssd0 capacity_mib=256
write_mib "$DEV" 192 oflag=direct
nvmev-ssd power-off ssd0
check "it can be interrupted, and says so" always_interrupted
refuses "what is left then" "too short" "$T_DIR/interrupted"
