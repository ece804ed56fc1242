#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Power failures: a drive without protection has what was flushed, whenever the power
# fails, raw and under ext4; one with protection has everything.
# kernels: uml
# long: 6.12
# smp: 2
# smp on uml: 1
# mem: 2G
# seconds: 75
# timeout: 300
# sentences: 44
. "$(dirname "$0")/rc"

SMALL=(capacity_mib=8 channels=2 dies_per_channel=1 units_per_eblk=8 wbuf_kib=1024 run_units=4)

smart() {
	nvme smart-log "${DEV%n1}" -o json | python3 -c "import json, sys; print(json.load(sys.stdin)['$1'])"
}

power_is_off() {
	[[ $(<"$CONFIGFS/$1/power") == 0 ]]
}

new_ssd ssd0 "${SMALL[@]}" plp=0
# Full, so that the operations are those of collection, too.
dd if=/dev/zero of="$DEV" bs=1M count=8 oflag=direct conv=fsync status=none
nvmev-ssd power-off ssd0
check "the power fails twelve times, and no promise is broken" \
	python3 "$LAB_DIR/power.py" ssd0 400 12 7
cp "$T_DIR/output" "$T_DIR/summary"
note "$(<"$T_DIR/summary")"
check_that "while it collected" "$(ssd_stat ssd0 gc_runs)" -gt 0
check "unflushed data was lost" grep -q 'lost=[1-9]' "$T_DIR/summary"
check "and some of it had become durable by itself" grep -q 'survived=[1-9]' "$T_DIR/summary"
DEV=$(ssd_device ssd0)
check_fails "the data of one that is on cannot be discarded" sh -c "nvmev-ssd discard ssd0 2>$T_DIR/said"
check_that "as its file for errors says" "$(<"$T_DIR/said")" == "nvmev-ssd: $(<"$CONFIGFS/ssd0/error")"
check_that "SMART counts the failures" "$(smart unsafe_shutdowns)" -eq 12
check_that "and how often it was switched on" "$(smart power_cycles)" -eq 14
nvmev-ssd power-off ssd0
check "properties of another drive" sh -c "echo 4 >$CONFIGFS/ssd0/channels"
check_fails "are refused while there is data" sh -c "echo 1 >$CONFIGFS/ssd0/power"
check_that "with a sentence" "$(<"$CONFIGFS/ssd0/error")" =~ "discard"
check "the data can be discarded" nvmev-ssd discard ssd0
DEV=$(nvmev-ssd power-on ssd0)
check "then it is another drive, and empty" cmp -n 8388608 "$DEV" /dev/zero
drop_ssd ssd0

# A drive without data keeps the rest.
new_ssd ssd3 capacity_mib=64
dd if=/dev/urandom of="$DEV" bs=1M count=4 oflag=direct status=none
nvme format "${DEV%n1}" --namespace-id=1 --lbaf=1 --force >"$T_DIR/output"
nvmev-ssd power-off ssd3
DEV=$(nvmev-ssd power-on ssd3)
check_that "a formatted drive has its format" "$(blockdev --getss "$DEV")" -eq 4096
check_that "and has counted what was written to it" "$(ssd_stat ssd3 host_pages_written)" -eq 1024
check_that "and how often it was switched on" "$(smart power_cycles)" -eq 2
nvmev-ssd power-off ssd3
echo 8 >"$CONFIGFS/ssd3/channels"
check_fails "it cannot become another drive" sh -c "echo 1 >$CONFIGFS/ssd3/power"
drop_ssd ssd3
new_ssd ssd4 capacity_mib=64
nvmev-ssd power-off ssd4
echo 8 >"$CONFIGFS/ssd4/channels"
check "one that nothing was written to can" nvmev-ssd power-on ssd4
drop_ssd ssd4

new_ssd ssd1 capacity_mib=64 plp=1
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=8 status=none
dd if="$T_DIR/data" of="$DEV" bs=1M oflag=direct status=none
nvmev-ssd power-cut ssd1
DEV=$(nvmev-ssd power-on ssd1)
check "with protection all is there that was written" \
	sh -c "dd if=$DEV bs=1M count=8 iflag=direct status=none | cmp - $T_DIR/data"
check_fails "and operations are not counted" nvmev-ssd power-cut ssd1 5
drop_ssd ssd1

# The driver lets go of a drive that takes 6 s to flush its cache, and the power fails meanwhile.
new_ssd ssd5 "${SMALL[@]}" plp=0 dies_per_channel=1 channels=1 time_scale=1000
dd if=/dev/urandom of="$DEV" bs=64k count=16 oflag=direct status=none
cat "$CONFIGFS/ssd5/pci_address" >/sys/bus/pci/drivers/nvme/unbind &
unbinding=$!
sleep 1
nvmev-ssd power-cut ssd5
wait "$unbinding"
DEV=$(nvmev-ssd power-on ssd5)
check_that "a failure while the drive shuts down is one" "$(smart unsafe_shutdowns)" -eq 1
drop_ssd ssd5

# A program takes 5 s, and the power is to fail at its end.
new_ssd ssd6 capacity_mib=64 plp=0 program_ns=5000000 time_scale=1000
nvmev-ssd power-cut ssd6 1
dd if=/dev/urandom of="$DEV" bs=4k count=1 oflag=direct status=none
sync "$DEV" &
flushing=$!
has_programmed() { (($(ssd_stat ssd6 nand_pages_programmed) > 0)); }
check "a flush has the last program that the power is there for" poll 20 has_programmed
nvmev-ssd power-cut ssd6 0
check "the failure is called off before it comes, and the flush has its end" poll 20 has_ended "$flushing"
wait "$flushing"
check_that "the power is still on" "$(<"$CONFIGFS/ssd6/power")" -eq 1
drop_ssd ssd6

# Format of a drive with data on 8 million pages takes a second or more, and begins with all of them. It is done
# again if it has ended before the power fails, as the host was looked at too late.
# Nothing of that starts a program, which takes time.
has_forgotten() {
	local key value

	while read -r key value && [[ $key != pages_mapped ]]; do :; done <"/sys/kernel/debug/nvmev/ssd7/ftl"
	((value < $1))
}

# cut_format: fails if the Format has ended well
cut_format() {
	local all formatting limit=$((SECONDS + 20))

	nvmev-ssd precondition ssd7 --random 0x >"$T_DIR/output"
	DEV=$(ssd_device ssd7)
	all=$(ssd_stat ssd7 pages_mapped)
	nvme format "${DEV%n1}" --namespace-id=1 --lbaf=1 --force >"$T_DIR/output" 2>&1 &
	formatting=$!
	until has_forgotten "$all" || ((SECONDS > limit)); do :; done
	echo 1 >"$CONFIGFS/ssd7/power_cut"
	! wait "$formatting"
}

for try in {1..5}; do
	new_ssd ssd7 capacity_mib=32768
	! cut_format || break
	note "try $try: the Format ended before the power failed"
	((try == 5)) || drop_ssd ssd7
done
DEV=$(nvmev-ssd power-on ssd7)
check_that "a Format that the power fails under has not changed the LBA size" "$(blockdev --getss "$DEV")" -eq 512
check_that "and has not forgotten everything" "$(ssd_stat ssd7 pages_mapped)" -gt 0
drop_ssd ssd7

# With a map that is not all in memory, Format programs what it changes of it.
new_ssd ssd8 capacity_mib=4096 plp=0 map_cache_mib=1
nvmev-ssd precondition ssd8 --random 0x >"$T_DIR/output"
DEV=$(ssd_device ssd8)
for operation in 1 10 30; do
	nvmev-ssd power-cut ssd8 "$operation"
	nvme format "${DEV%n1}" --namespace-id=1 --lbaf=1 --force >"$T_DIR/output" 2>&1 || true
	check "the power fails at operation $operation of a Format" poll 20 power_is_off ssd8
	DEV=$(nvmev-ssd power-on ssd8)
	check_that "which has not changed the LBA size" "$(blockdev --getss "$DEV")" -eq 512
	check_that "and not forgotten everything" "$(ssd_stat ssd8 pages_mapped)" -gt 0
done
nvme format "${DEV%n1}" --namespace-id=1 --lbaf=1 --force >"$T_DIR/output"
check_that "the next one does both" "$(blockdev --getss "$DEV") $(ssd_stat ssd8 pages_mapped)" == "4096 0"
drop_ssd ssd8

# Files whose fsync came back: their names and sums.
write_files() {
	local turn=$1 i

	for ((i = 0; i < 2000; i++)); do
		head -c $((RANDOM * 3 + 1)) /dev/urandom >"$T_DIR/new"
		cat "$T_DIR/new" >"$MNT/$turn.$i" 2>/dev/null || return 0
		sync "$MNT/$turn.$i" "$MNT" 2>/dev/null || return 0
		(cd "$T_DIR" && sha256sum new | sed "s/new$/$turn.$i/") >>"$T_DIR/sums"
	done
}

MNT=$T_DIR/mnt
mkdir -p "$MNT"
new_ssd ssd2 profile=sata capacity_mib=256 channels=2 units_per_eblk=32 wbuf_kib=2048 run_units=8
at_end drop_mount "$MNT"
make_fs ext4 "$DEV"
# What mkfs has written must not be lost: it flushes nothing.
sync "$DEV"
: >"$T_DIR/sums"
for turn in 1 2; do
	mount -t ext4 "$DEV" "$MNT"
	write_files "$turn" &
	writer=$!
	if ((turn % 2)); then
		sleep 2
		nvmev-ssd power-cut ssd2
	else
		nvmev-ssd power-cut ssd2 40
		check "the power fails by itself, round $turn" poll 30 power_is_off ssd2
	fi
	wait "$writer"
	umount "$MNT" || umount -l "$MNT"
	DEV=$(nvmev-ssd power-on ssd2)
	check "ext4 mounts after power failure $turn" mount -t ext4 "$DEV" "$MNT"
	check "what was synced is there, round $turn" sh -c "cd $MNT && sha256sum --quiet -c $T_DIR/sums"
	umount "$MNT"
	check "and it is consistent, round $turn" e2fsck -fn "$DEV"
done
note "$(wc -l <"$T_DIR/sums") files were synced"
check_that "there were files to lose" "$(wc -l <"$T_DIR/sums")" -gt 5
