#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware attach, detach and move give a volume of LVM another table only while they have LVM's lock of its
# volume group, and wait for whoever has it.
# kernels: uml
# long: 6.12
# smp: 2
# smp on uml: 1
# mem: 2G
# seconds: 110
# timeout: 300
# sentences: 34
# shellcheck disable=SC2034,SC2154
. "$(dirname "$0")/rc"
. "$(dirname "$0")/move-volume"

FIRST=20 SECOND=12
LOCKS=/run/lock/lvm
LOCK=$LOCKS/V_a-group

# hold, release: LVM's lock, as LVM takes it: whoever has had it may have removed its file
hold() {
	while true; do
		exec 9>>"$LOCK"
		flock 9
		[[ $(stat -Lc %i /proc/self/fd/9) != $(stat -c %i "$LOCK" 2>/dev/null) ]] || return 0
		exec 9>&-
	done
}

release() {
	rm -f "$LOCK"
	exec 9>&-
}

# tool WORDS...: the lock is not for it
tool() {
	dieaware "$@" 9>&-
}

mkdir -p "$LOCKS"
# shellcheck disable=SC2119
new_machine
uuid=LVM-$(printf 'a%.0s' {1..64})
# The last one goes first: it lies on the others.
at_end drop_target a--group-data-log
at_end drop_target a--group-data-old
at_end drop_target a--group-data
dmsetup rename --setuuid volume "$uuid"
dmsetup rename volume a--group-data
plain=$(table_of a--group-data)
attached=$(sed -E 's/^([0-9]+ [0-9]+) linear (.*)/\1 dieaware \2 hint/' <<<"$plain")

# ---- somebody has it
hold
exits 2 "LVM is at work on the volume group a-group" tool attach a--group-data
check_that "nothing was changed" "$(table_of a--group-data)" == "$plain"
check "what would be done is told all the same" tool attach --dry-run a--group-data
tool attach a--group-data >"$T_DIR/attached" 2>&1 &
waiting=$!
sleep 2
check "it waits for a while" is_running $waiting
check_that "without a change" "$(table_of a--group-data)" == "$plain"
release
check "and is done when the lock is free" wait $waiting
check_that "and it is attached" "$(table_of a--group-data)" == "$attached"
check_empty "and free again" "$(ls "$LOCKS")"

# ---- it has the lock itself
mkdir "$T_DIR/bin"
cat >"$T_DIR/bin/dmsetup" <<'END'
#!/bin/bash
dir=${0%/bin/dmsetup}
case $1 in
load | resume | clear) flock -n /run/lock/lvm/V_a-group true || echo "$1" >>"$dir/locked" ;;
esac
PATH=${PATH#*:} exec dmsetup "$@"
END
chmod +x "$T_DIR/bin/dmsetup"
PATH=$T_DIR/bin:$PATH check "it can be detached" dieaware detach a--group-data
check_that "while nobody else had the lock" "$(paste -sd' ' "$T_DIR/locked")" == "load resume"
rmdir "$LOCKS"
check "without LVM's folder there is no lock" tool attach a--group-data
mkdir "$LOCKS"
check "nor is the folder made for it" tool detach a--group-data
rm "$T_DIR/locked"

# ---- a move
make_fs ext4 /dev/mapper/a--group-data
modprobe dm-mirror
at_end copy_share 100
hold
exits 2 "LVM is at work on the volume group a-group" tool move a--group-data "$TO"
dieaware move a--group-data "$TO" >"$T_DIR/moved" 2>&1 9>&- &
moving=$!
sleep 2
kill $moving
begin=$SECONDS status=0
wait $moving || status=$?
check_that "a signal ends the wait" $status -eq 130
check_that "at once" $((SECONDS - begin)) -lt 5
release

# copied_while_held: a move has copied all, and waits for the lock
copied_while_held() {
	copy_share 1
	PATH=$T_DIR/bin:$PATH dieaware move a--group-data "$TO" >"$T_DIR/moved" 2>&1 &
	moving=$!
	poll 60 sh -c "dmsetup table a--group-data | grep -q mirror"
	hold
	copy_share 100
	poll 60 grep -q "All is copied" "$T_DIR/moved"
}

# ---- what LVM puts to work meanwhile
sectors=$(((FIRST + SECOND) * MIB))
dmsetup create first <<<"$plain"
dmsetup create second --table "0 $sectors zero"
foreign="0 $sectors mirror core 2 2048 nosync 2 $(dmsetup info -c --noheadings -o devno first) 0 $(dmsetup info -c --noheadings -o devno second) 0"
copied_while_held
dmsetup load a--group-data --table "$foreign"
dmsetup resume a--group-data
release
status=0
wait $moving || status=$?
cat "$T_DIR/moved"
check_that "a move ends if LVM has given the volume another table" "$status" -eq 3
check_that "and says that this stays" "$(<"$T_DIR/moved")" =~ "somebody else has given a--group-data another table"
check_that "as it does" "$(table_of a--group-data)" =~ " mirror core 2 2048 nosync 2 "
dmsetup load a--group-data <<<"$plain"
dmsetup resume a--group-data
drop_target first
drop_target second

# ---- what goes back does not wait for ever: writes may wait for it
# went_back STATUS EXPECTED: it has waited for LVM and said so, and went back at last, while LVM has the lock still
went_back() {
	cat "$T_DIR/moved"
	check_that "it goes back" "$1" -eq "$2"
	check_that "after it said for whom it waits" "$(<"$T_DIR/moved")" =~ "LVM has its lock of the volume group a-group: waiting"
	check_that "and that it goes on without the lock" "$(<"$T_DIR/moved")" =~ "it is done without LVM's lock"
	check_that "and its own table is at work again" "$(table_of a--group-data)" == "$plain"
	release
}
check "when all is copied, a move is interrupted" copied_while_held
kill $moving
status=0
wait $moving || status=$?
went_back "$status" 130
check "when all is copied, a move is killed" copied_while_held
kill -9 $moving
wait $moving || true
status=0
tool move --undo a--group-data >"$T_DIR/moved" 2>&1 || status=$?
went_back "$status" 0
rm -f "$T_DIR/locked"

# ---- and a move without that
check "when all is copied, a move waits for LVM" copied_while_held
check "for as long as it takes" is_running $moving
release
check "and then the log counts" wait $moving
check_that "it had the lock whenever it changed a table" "$(grep -c . "$T_DIR/locked")" -eq 3
