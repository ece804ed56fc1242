#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware wait: who waits is told when hints go, space runs out, metadata cannot be written, or a
# check is needed, in both modes; and of nothing else.
# kernels: uml
# long: 6.1 6.12 newest
# smp: 1
# mem: 2G
# seconds: 15
# timeout: 180
# sentences: 25
# shellcheck disable=SC2016 # the programs' own variables
. "$(dirname "$0")/rc"

# wait_for NAME [OPTION...]: in the background; its process in WAITER, what it says in $T_DIR/NAME.
wait_for() {
	local name=$1
	shift
	dieaware wait "$@" >"$T_DIR/$name" 2>&1 &
	WAITER=$!
	at_end kill "$WAITER"
	poll 20 waits "$WAITER"
}

# waits PROCESS: its dmsetup is in the kernel.
waits() {
	pgrep -P "$1" dmsetup | while read -r child; do
		grep -q wait "/proc/$child/cmdline" && echo yes
	done | grep -q yes
}

# ended STATUS NAME WORDS: the waiter ends in this way, and has said this.
ended() {
	local status=0

	poll 20 has_ended "$WAITER" || return
	wait "$WAITER" || status=$?
	cat "$T_DIR/$2"
	[[ $status -eq $1 ]] && grep -qF -- "$3" "$T_DIR/$2"
}

exits 4 "There is no device t0" dieaware wait t0
new_ssd ssd0 capacity_mib=96

# Hint mode
new_target t0 "$DEV" hints=on
exits 124 "Nothing has happened to t0 in 1 s" dieaware wait --timeout 1 t0
wait_for patient --follow --timeout 6 t0
patient=$WAITER
wait_for hints t0
# Half of its time is over when something happens.
sleep 3
echo 1 >"$CONFIGFS/ssd0/reject_hints"
dd if=/dev/zero of="$TARGET" bs=64k count=32 oflag=direct status=none
check "who waits is told that the device rejects hints" ended 0 hints "hints-off: t0: "
told=$EPOCHSECONDS WAITER=$patient
check "who follows is told, and that nothing has happened afterwards" ended 124 patient "Nothing has happened to t0 in 6 s"
check_that "... as long as he was to wait" $((EPOCHSECONDS - told)) -ge 5
check_that "who comes later is told at once" "$(dieaware wait --timeout 5 --json t0 | jq -r '.[].event')" == hints-off
exits 124 "Nothing has happened" dieaware wait --timeout 1 --for failed --for low-space t0
echo 0 >"$CONFIGFS/ssd0/reject_hints"
dmsetup message t0 0 hints off
exits 124 "Nothing has happened" dieaware wait --timeout 1 t0
wait_for removed t0
dmsetup remove t0
check "who waits for a device that is removed is told" ended 3 removed "t0 was removed"

# Log mode runs out of space, and has some again.
mkdir "$T_DIR/hooks"
printf '#!/bin/sh\necho "$1 $2" >>"%s/hooked"\nexit 1\n' "$T_DIR" >"$T_DIR/hooks/10-note"
printf '#!/bin/sh\necho "$2: $3" >>"%s/hooked"\n' "$T_DIR" >"$T_DIR/hooks/20-more"
chmod +x "$T_DIR/hooks/"*
SECTORS=$(blockdev --getsz "$DEV")
at_end drop_target low
dmsetup create low --table "0 $SECTORS linear $DEV 0"
OPTIONS="cleaning=off no_space_timeout=2" new_log_target t0 /dev/mapper/low --segment 1M
lpns=$(status_field t0 lpns)
dmsetup remove t0
journal=$(($(superblock_field journal /dev/mapper/low) * 8))
[[ $journal -gt 0 ]]
dmsetup create t0 --table "$LINE"
wait_for space --for out-of-space t0
first=$WAITER
wait_for follow --follow --hooks "$T_DIR/hooks" t0
follower=$WAITER WAITER=$first
dd if=/dev/zero of="$TARGET" bs=64k count=$((lpns / 16)) oflag=direct status=none
fio --name=over --filename="$TARGET" --rw=randwrite --bs=64k --size=100% --direct=1 --ioengine=libaio \
	--iodepth=8 >/dev/null 2>&1 || true
check "who waits for no space left is told of that alone" ended 0 space "out-of-space: t0: "
check_that "... in one line" "$(wc -l <"$T_DIR/space")" -eq 1
check "who follows has been told that space is low, and then out" poll 20 grep -q ^out-of-space "$T_DIR/follow"
check_that "... in this order" "$(grep -o '^[a-z]*-[a-z-]*' "$T_DIR/follow" | xargs)" == "low-space out-of-space"
blkdiscard "$TARGET"
check "and is told when there is some again" poll 20 grep -q "^ok: t0: " "$T_DIR/follow"
check "programs have run each time" poll 20 grep -qx "t0 ok" "$T_DIR/hooked"
check_that "also behind one that fails" "$(grep -c "^[a-z-]*: " "$T_DIR/hooked")" -ge 3
check "which is reported" grep -q "hooks/10-note failed" "$T_DIR/follow"

# Metadata cannot be written.
becomes low "0 $journal linear $DEV 0" "$journal 2048 error" \
	"$((journal + 2048)) $((SECTORS - journal - 2048)) linear $DEV $((journal + 2048))"
dd if=/dev/zero of="$TARGET" bs=4k count=1 oflag=direct conv=fsync status=none 2>/dev/null || true
check "who follows is told of the failure" poll 20 grep -q "^failed: t0: " "$T_DIR/follow"
becomes low "0 $SECTORS linear $DEV 0"
WAITER=$follower
dmsetup remove --retry t0
check "and has done his work when the device is removed" ended 0 follow failed
dmsetup create t0 --table "$LINE"
check_that "the next start needs a check, which is told" "$(dieaware wait --timeout 5 t0)" =~ ^needs-check:\ t0
dmsetup remove --retry t0
dieaware check --clear-needs-check /dev/mapper/low >/dev/null
dmsetup create t0 --readonly --table "$LINE"
check_that "so is a table that is read-only" "$(dieaware wait --timeout 5 t0)" =~ ^read-only:\ t0
