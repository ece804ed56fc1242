#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware defrag --method share watches the SSD's log of what it shares, and has it compacted before it is
# full; a file that is shared from one die is spread after that (janusdP), and reads like one that was
# written in a row, in virtual time; one that does not need it is not.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 15
# timeout: 300
# sentences: 45
. "$(dirname "$0")/rc"
. "$LAB_DIR/share"

dd if=/dev/urandom of="$T_DIR/data" bs=1M count=8 status=none

# said KEY: of the file that was defragmented last
said() {
	jq ".[0].$1" "$T_DIR/json"
}

# share FILE [OPTION...]
share() {
	dieaware defrag --json --method share "${@:2}" "$1" >"$T_DIR/json" 2>"$T_DIR/errors"
}

entries() {
	ssd_stat ssd0 defrag_entries
}

# begin [KEY=VALUE...]
begin() {
	new_ssd ssd0 capacity_mib=512 share_pages=16384 "$@"
	new_target t0 "$DEV"
	make_fs ext4 "$TARGET"
	mount "$TARGET" "$mnt"
}

end() {
	umount "$mnt"
	drop_target t0
	drop_ssd ssd0
}

# log_field OFFSET: of struct dieaware_log_defrag
log_field() {
	nvme get-log "${DEV%n1}" --log-id=0xc5 --log-len=64 --raw-binary | od -An -tu4 -j "$1" -N 4 | tr -d ' '
}

compact() {
	nvme io-passthru "$DEV" --opcode=0x84 --namespace-id=1 2>&1
}

# A log of 102 entries
begin plp=0 share_log_kib=4
check_that "the log page says how many entries the log has room for" "$(log_field 12)" -eq 102
fragment ext4 "$file" 80
sync
check "a file of 80 pieces is shared" share "$file" --threshold 0
check_that "all of it" "$(said shared_bytes)" -eq $((80 * 32768))
check_that "the log was not full enough" "$(said 'compactions | length')" -eq 0
full=$(entries)
check_that "an entry is a row of pages" "$full" -le 96
check_that "and so the log is over three quarters full" "$full" -ge 77
check_that "the log page says so" "$(log_field 8)" -eq "$full"
check_that "and of how many pages" "$(log_field 16)" -eq $((80 * 8))
rm "$file"
sync
fstrim "$mnt"
fragment ext4 "$file" 60
sync
sum=$(sha256sum <"$file")
share "$file" --threshold 0
check_that "when the next file comes, it is compacted once" "$(said 'compactions | length')" -eq 1
check_that "since it was that full" "$(said 'compactions[0].before.entries')" -eq "$full"
check_that "and what was outdated has gone" "$(said 'compactions[0].after.entries')" -le 4
check_that "of an end that JSON names" "$(said 'compactions[0].before.most_entries')" -eq 102
check "the tool says so to people, too" grep -q "the SSD's log of shared pages was compacted: $full of 102 entries before" "$T_DIR/errors"
check_that "all of the file was shared" "$(said shared_bytes)" -eq $((60 * 32768))
check_that "the SSD compacted nothing by itself" "$(ssd_stat ssd0 defrag_compactions)" -eq 1
nvmev-ssd power-cut ssd0
umount "$mnt" || umount -l "$mnt"
drop_target t0
DEV=$(nvmev-ssd power-on ssd0)
new_target t0 "$DEV"
mount "$TARGET" "$mnt"
check_that "after a power failure the file is what it was" "$(sha256sum <"$file")" == "$sum"
fragment ext4 "$mnt/other" 30
sync
check "another file is shared" share "$mnt/other" --threshold 0
before=$(entries)
said=$(compact)
check_that "Compact as in the docs says how many entries are left" "$said" =~ "result: 0x0*$(printf '%x' "$(entries)")$"
check_that "which are in force" "$(entries)" -le "$before"
end

begin plp=0 hints=0 share_log_kib=4
check_fails "a drive that tells nothing has no such page" log_field 8
check_that "nor the command" "$(compact)" =~ "INVALID_OPCODE|Invalid"
end

# 8 MiB, with hints off, each unit behind the rest of a stripe: all on one die
UNITS=128
speed_of() {
	echo 3 >/proc/sys/vm/drop_caches
	fio --clocksource=clock_gettime --output-format=json --filename="$1" --direct=1 --ioengine=libaio --iodepth=1 --rw=read --bs=1m --loops=4 --name=read |
		jq '.jobs[0].read.bw'
}

for plp in 1 0; do
	begin time_scale=20 plp=$plp
	dd if="$T_DIR/data" of="$mnt/row" bs=1M count=4 oflag=direct status=none
	dmsetup message t0 0 hints off
	write_fragmented "$file" $UNITS
	write_fragmented "$mnt/kept" $UNITS
	dmsetup message t0 0 hints auto
	sync
	sleep 1
	row=$(speed_of "$mnt/row") slow=$(speed_of "$file")
	sum=$(sha256sum <"$file")
	check "plp=$plp: a file on one die is shared with --keep-dies" share "$mnt/kept" --keep-dies
	check_that "plp=$plp: then the SSD spreads nothing" "$(said spread) $(ssd_stat ssd0 pages_redistributed)" == "false 0"
	check_that "plp=$plp: and it stays there" "$(said after.dof_p_permille)" -ge 800
	check "plp=$plp: a file on one die is shared" share "$file"
	check_that "plp=$plp: and needed it" "$(said before.dof_p_permille)" -ge 800
	check_that "plp=$plp: it is spread after that" "$(said spread)" == true
	check_that "plp=$plp: and lies well" "$(said after.dof_p_permille)" -le 30
	sleep 1
	fast=$(speed_of "$file")
	note "plp=$plp: $(said before.pieces) pieces before, $(said after.pieces) after; reads at $slow KiB/s before, $fast after, $row written in a row"
	check_that "plp=$plp: it reads at 99 % of one that was written in a row, or faster" $((fast * 100)) -ge $((row * 99))
	check_that "plp=$plp: the data is the same" "$(sha256sum <"$file")" == "$sum"
	written=$(ssd_stat ssd0 pages_redistributed)
	fragment ext4 "$mnt/pieces" 64
	sync
	check "plp=$plp: a file whose pieces lie on all dies is shared" share "$mnt/pieces"
	check_that "plp=$plp: its pieces are what was bad" "$(said before.dof_p_permille)" -lt 250
	check_that "plp=$plp: it is not spread" "$(said spread) $(ssd_stat ssd0 pages_redistributed)" == "false $written"
	end
done
