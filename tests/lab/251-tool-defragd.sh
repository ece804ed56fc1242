#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware defragd: counts outlive the daemon, however that ends; a pass has the SSD bring the files together that are
# read most, without writing them, and spread them over its dies, and leaves the others; a second pass moves nothing.
# Of two daemons one counts; a pass is in its way no more than it is in the pass's, and is not counted.
# Counts that are damaged, somebody else's, or not there; an SSD that shares nothing, and one that can do neither.
# One CPU: tracing patches the code of the scheduler, and an emulated CPU may run what another one has patched
# while it is half done ("Oops: int3").
# kernels: 6.12
# smp: 1
# mem: 2G
# sentences: 80
# seconds: 75
# timeout: 300
. "$(dirname "$0")/rc"
. "$LAB_DIR/share"

UNITS=64
PAGES=$((UNITS * 8))
KEPT=/var/lib/dieaware/defragd

# count_of FILE: what is kept of it; 0: nothing
count_of() {
	local inode text

	inode=$(stat -c %i "$1")
	text=$(<"$counts") || return
	if [[ $text =~ \[$inode,([0-9]+)\] ]]; then
		echo "${BASH_REMATCH[1]}"
	else
		echo 0
	fi
}

# reads_of COUNTS: without the time that was spent
reads_of() {
	jq -c .reads <<<"$1"
}

# has_counted FILE MORE-THAN
has_counted() {
	(($(count_of "$1") > $2))
}

# count [OPTION...]: in the background, its process in DAEMON; returns when it has kept its counts once
count() {
	local before

	before=$(stat -c %i "$counts" 2>/dev/null || echo none)
	dieaware defragd --every 1 "$@" "$mnt" >"$T_DIR/daemon" 2>&1 &
	DAEMON=$!
	at_end kill $DAEMON
	poll 30 is_another "$before"
}

# is_another INODE: the file of counts is replaced as a whole
is_another() {
	[[ -e $counts && $(stat -c %i "$counts") != "$1" ]]
}

# ends SIGNAL STATUS: what the daemon ends with
ends() {
	local status=0

	kill "-$1" $DAEMON
	wait $DAEMON || status=$?
	check_that "after SIG$1 it ends with $2" $status -eq "$2"
}

# pass [OPTION...]
pass() {
	local status=0

	dieaware defragd --once "$@" "$mnt" >"$T_DIR/said" 2>"$T_DIR/errors" || status=$?
	note "$(tail -n +2 "$T_DIR/said") $(cat "$T_DIR/errors")"
	return $status
}

# reads_until_off: once more, so that there is something to keep; true if the SSD is off
reads_until_off() {
	cat "$mnt/one" || true
	is_off
}

# programmed: by the SSD so far, when nothing waits in its open units any more
programmed() {
	sync -f "$mnt"
	sleep 3
	ssd_stat ssd0 nand_pages_programmed
}

dd if=/dev/urandom of="$T_DIR/data" bs=32k count=$UNITS status=none
new_ssd ssd0 capacity_mib=512 share_pages=16384
new_target t0 "$DEV"
make_fs ext4 "$TARGET"
mount "$TARGET" "$mnt"
dmsetup message t0 0 hints off
for name in cold warm hot; do
	fragment_on_a_die ext4 "$mnt/$name" $UNITS
done
dmsetup message t0 0 hints auto
sync
sum=$(sums "$mnt")
for name in cold warm hot; do
	check_that "$name: it is in pieces" "$(figure "$mnt/$name" pieces)" -ge $((UNITS / 2))
	check_that "$name: and on few dies" "$(figure "$mnt/$name" physical.dof_permille)" -ge 700
done

# The daemon
exits 3 "nobody has counted what is read below $mnt" dieaware defragd --once "$mnt"
exits 3 "cannot be traced" dieaware defragd /tmp
check_empty "it has left nothing" "$(ls $KEPT 2>/dev/null)"
counts=$KEPT/$(printf '%s' "${mnt#/}" | sed 's/-/\\x2d/g; s|/|-|g')
at_end rm -rf $KEPT
count
for ((i = 0; i < 20; i++)); do
	cat "$mnt/hot" >/dev/null
done
for ((i = 0; i < 5; i++)); do
	cat "$mnt/warm" >/dev/null
done
check "what is read is kept while it counts" poll 30 has_counted "$mnt/warm" 4
exits 3 "$counts cannot be used: another process counts in it" dieaware defragd "$mnt"
check_that "the first one goes on" "$(ls -d "$TRACEFS"/instances/*)" == "$TRACEFS/instances/dieaware-$DAEMON"
ends TERM 0
check_empty "no probe is left" "$(ls "$TRACEFS/instances")$(<"$TRACEFS/kprobe_events")"
check_that "and nothing but its counts" "$(ls -A $KEPT)" == "${counts##*/}"
check_empty "nothing is said" "$(<"$T_DIR/daemon")"
hot=$(count_of "$mnt/hot") warm=$(count_of "$mnt/warm")
note "hot $hot, warm $warm"
check_that "who is read more has the higher count" "$hot" -gt "$warm"
check_that "who is not read has none" "$(count_of "$mnt/cold")" -eq 0
count
ends TERM 0
check_that "counts are the same after another start" "$(count_of "$mnt/hot") $(count_of "$mnt/warm")" == "$hot $warm"
count
cat "$mnt/warm" >/dev/null
ends TERM 0
check "what was read just before the end counts as well" has_counted "$mnt/warm" "$warm"
count
cat "$mnt/hot" >/dev/null
check "a start later they grow" poll 30 has_counted "$mnt/hot" "$hot"
ends KILL 137
check "who was killed leaves them as a whole" has_counted "$mnt/hot" "$hot"
check_that "and besides a lock that is in nobody's way" "$(find $KEPT -type f -size +0 | wc -l)" -eq 1

# A pass: first the one that is read most, and no copies
check_that "a dry pass says in JSON what it would do" \
	"$(dieaware defragd --once --dry-run --json --files 1 "$mnt" | jq -r 'map(.method) | join(" ")')" == "share ssd"
check_that "and does nothing" "$(done_so_far)" == "0 0"
before=$(programmed)
check "a pass over one file that may copy nothing" pass --files 1 --most 0
after=$(programmed)
check_that "the SSD shares what is read most" "$(rows share hot)" -eq 1
check_that "all of it, and nothing else" "$(done_so_far)" == "$PAGES 0"
check_that "it is in one piece or two" "$(figure "$mnt/hot" pieces)" -le 2
check_that "it was not written for that" $((after - before)) -le $((PAGES / 8))
note "$((after - before)) pages programmed"
check_that "it is not spread" "$(figure "$mnt/hot" physical.dof_permille)" -ge 700
check "which is said" grep -q "$mnt/hot is not spread: .* 0 KiB may be copied yet (--max-bytes)" "$T_DIR/errors"
count
known=$(<"$counts")
check "a pass over all, while the daemon counts" pass
check_that "which is no reading" "$(reads_of "$known")" == "$(reads_of "$(<"$counts")")"
ends TERM 0
check_that "and none was counted in the end" "$(reads_of "$known")" == "$(reads_of "$(<"$counts")")"
check_that "spreads it" "$(rows ssd hot) $(rows share hot)" == "1 0"
check_that "and does both with what is read less" "$(rows ssd warm) $(rows share warm)" == "1 1"
check_that "and nothing with what nobody reads" "$(rows '.*' '(cold|.*other|.*rest)')" -eq 0
check_that "so much was shared and copied" "$(done_so_far)" == "$((2 * PAGES)) $((2 * PAGES))"
for name in hot warm; do
	check_that "$name: it is in one piece or two" "$(figure "$mnt/$name" pieces)" -le 2
	check_that "$name: and on all dies" "$(figure "$mnt/$name" physical.dof_permille)" -le 130
done
check_that "cold: it is still in pieces" "$(figure "$mnt/cold" pieces)" -ge $((UNITS / 2))
check_that "cold: and on few dies" "$(figure "$mnt/cold" physical.dof_permille)" -ge 700
check "another pass ends well" pass --max-bytes 1G --max-time 600
check_that "and says only its heading" "$(wc -l <"$T_DIR/said") $(wc -l <"$T_DIR/errors")" == "1 0"
check_that "and has moved nothing" "$(done_so_far)" == "$((2 * PAGES)) $((2 * PAGES))"
check_that "all files are the same" "$(sums "$mnt")" == "$sum"

# Counts that are no good
cp "$counts" "$T_DIR/good"
head -c 70 "$T_DIR/good" >"$counts"
exits 3 "$counts cannot be used: it is damaged" dieaware defragd --once "$mnt"
count
check "who counts begins anew, and says so" grep -q "counting begins anew: it is damaged" "$T_DIR/daemon"
cat "$mnt/cold" >/dev/null
check "and counts" poll 30 has_counted "$mnt/cold" 0
ends TERM 0
check_that "of before there is nothing" "$(count_of "$mnt/hot")" -eq 0
echo "somebody's" >"$T_DIR/theirs"
exits 3 "it is no file of" dieaware defragd --state "$T_DIR/theirs" "$mnt"
check_that "which is left as it is" "$(<"$T_DIR/theirs")" == "somebody's"
sed 's/"version":1/"version":2/' "$T_DIR/good" >"$counts"
exits 3 "it has version 2" dieaware defragd "$mnt"
umount "$mnt"
check "fsck finds nothing" check_fs ext4 "$TARGET"
drop_target t0
drop_ssd ssd0

# An SSD that spreads and shares nothing, and one that can do neither
for hints in 1 0; do
	new_ssd ssd0 capacity_mib=512 hints=$hints
	make_fs ext4 "$DEV"
	mount "$DEV" "$mnt"
	for name in one two; do
		fragment_on_a_die ext4 "$mnt/$name" $UNITS
	done
	sync
	counts_of "$mnt" one=9 two=7 >"$counts"
	if ((hints)); then
		check "hints=1: a pass" pass
		check_that "hints=1: spreads both" "$(rows ssd '(one|two)')" -eq 2
	else
		check_fails "hints=0: a pass fails" pass
		check "hints=0: and says so" grep -qx "dieaware: No file below $mnt can be mended." "$T_DIR/errors"
	fi
	check_that "hints=$hints: it says once that none is brought together" \
		"$(grep -c "No file is brought together: .* no dieaware device" "$T_DIR/errors")" -eq 1
	check_that "hints=$hints: and once what else there is to say" "$(wc -l <"$T_DIR/errors")" -eq $((hints ? 1 : 3))
	umount "$mnt"
	drop_ssd ssd0
done

# The power fails while the daemon keeps its counts on the same drive
new_ssd ssd0 capacity_mib=512 plp=0
make_fs ext4 "$DEV"
mount "$DEV" "$mnt"
cp "$T_DIR/data" "$mnt/one"
sync
counts=$mnt/counts
count --state "$counts"
cat "$mnt/one" >/dev/null
check "it counts what is on the drive that it writes to" poll 30 has_counted "$mnt/one" 0
kept=$(count_of "$mnt/one")
nvmev-ssd power-cut ssd0 20
check "the power fails while it keeps counts" poll 60 reads_until_off
kill -KILL $DAEMON
wait $DAEMON || true
umount "$mnt" || umount -l "$mnt"
mount "$(nvmev-ssd power-on ssd0)" "$mnt"
check_that "counts are those of before, or newer ones" "$(count_of "$mnt/one")" -ge "$kept"
check "which a pass can use" pass --state "$counts"
umount "$mnt"
drop_ssd ssd0
