#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware move below a mounted filesystem is killed between two steps, each step fails, a device fails,
# somebody else changes the table meanwhile.
# kernels: uml
# long: 6.12
# smp: 2
# smp on uml: 1
# mem: 2G
# seconds: 150
# timeout: 900
# sentences: 47
# shellcheck disable=SC2034,SC2154
. "$(dirname "$0")/rc"
. "$(dirname "$0")/move-volume"

FIRST=20 SECOND=12
# shellcheck disable=SC2119
new_machine
make_fs ext4 /dev/mapper/volume
mount /dev/mapper/volume "$mnt"
write_mib "$mnt/still" 2 conv=fsync
begin_slow_load

mkdir "$T_DIR/bin"
# Takes dmsetup's place. In FAULT: which changes fail (numbers), and how.
cat >"$T_DIR/bin/dmsetup" <<'EOF'
#!/bin/bash
dir=${0%/bin/dmsetup}
real() { PATH=${PATH#*:} dmsetup "$@"; }
read -r how numbers <"$dir/fault"
case $1 in
create | load | resume | clear | remove)
	echo "$*" >>"$dir/changes"
	number=$(wc -l <"$dir/changes")
	;;
*) number=none ;;
esac
[[ " $numbers " == *" $number "* ]] || how=well
case $how in
well) real "$@" ;;
killed-before) kill -9 "$PPID" ;;
killed-after) real "$@"; kill -9 "$PPID" ;;
fails) echo "It fails" >&2; exit 1 ;;
suspended) real clear volume; real suspend --nolockfs --noflush volume; echo "It fails" >&2; exit 1 ;;
stolen) real "$@"; real load volume --table "0 8 zero" ;;
# As lvextend does it, and as soon
replaced) real load volume <"$dir/replacement"; real resume --nolockfs volume; real "$@" ;;
esac
EOF
chmod +x "$T_DIR/bin/dmsetup"

# with_fault HOW NUMBERS COMMAND...
with_fault() {
	printf '%s %s\n' "$1" "$2" >"$T_DIR/fault"
	: >"$T_DIR/changes"
	PATH=$T_DIR/bin:$PATH "${@:3}"
}

# at_call HOW CALL NUMBER [HOW CALL NUMBER]: dieaware move, of which the NUMBERth CALL on one of the devices that it
# has open while the volume is suspended is met by what strace calls HOW
at_call() {
	local paths=(-P /dev/mapper/control -P /dev/mapper/volume-old) faults=()

	[[ $2 != log-fsync ]] || paths=(-P /dev/mapper/volume-log)
	while (($# > 0)); do
		faults+=(-e inject="${2#log-}:$1:when=$3")
		shift 3
	done
	strace -o "$T_DIR/strace" "${paths[@]}" -e trace=ioctl,pwrite64,fsync "${faults[@]}" dieaware move volume "$TO"
}

# works: the filesystem can be read and written, and the load goes on
works() {
	timeout 20 dd if="$mnt/still" of="$mnt/copy" bs=1M conv=fsync iflag=direct status=none &&
		cmp "$mnt/still" "$mnt/copy" && is_running "$LOAD"
}

# back: to the old device, which no user can do; the filesystem is the same
back() {
	umount "$mnt"
	drop_target volume
	dd if=/dev/mapper/volume-log of="$T_DIR/all" bs=1M count=$((FIRST + SECOND)) iflag=direct status=none
	forget_all
	dd if="$T_DIR/all" of=/dev/mapper/volume bs=1M oflag=direct status=none
	mount /dev/mapper/volume "$mnt"
}

# renew: the load has to be content with what was, and begins again on the old device
renew() {
	end_load >"$T_DIR/ended" || return 1
	back
	begin_slow_load
}

# ---- killed
with_fault well 0 dieaware move volume "$TO" >"$T_DIR/said" 2>&1
nr_changes=$(wc -l <"$T_DIR/changes")
note "a move changes: $(cut -d ' ' -f 1,2 "$T_DIR/changes" | paste -sd';')"
check_that "a move changes devices that often by dmsetup" "$nr_changes" -eq 6
check "those that write have seen nothing of it, and what they wrote" renew

# ended: it is moved by another run, which finds what was left, and no byte is another one
ended() {
	dieaware move volume "$TO" >"$T_DIR/said" 2>&1 || wrong+=" $1: $(<"$T_DIR/said");"
	is_moved || wrong+=" $1: not moved;"
	works || wrong+=" $1: it does not work;"
	renew || wrong+=" $1: other bytes;"
}

# gone_back: it is undone, if that is possible still
gone_back() {
	if ! dieaware move --undo volume >"$T_DIR/said" 2>&1; then
		ended "$1, no way back"
		return
	fi
	nr_undone=$((nr_undone + 1))
	is_plain || wrong+=" $1: not undone;"
	works || wrong+=" $1: it does not work after that;"
}

# state_of_all: all tables, and who is suspended or has another table loaded
state_of_all() {
	dmsetup table
	dmsetup info -c --noheadings -o name,suspended,tables_loaded
}

# killed NEXT WHERE COMMAND...
killed() {
	local before

	"${@:3}" >"$T_DIR/said" 2>&1 && wrong+=" $2: not killed;"
	before=$(state_of_all)
	dieaware move --dry-run volume "$TO" >"$T_DIR/said" 2>&1 || grep -q "was begun" "$T_DIR/said" ||
		wrong+=" $2: dry run: $(<"$T_DIR/said");"
	[[ $(state_of_all) == "$before" ]] || wrong+=" $2: a dry run has changed something;"
	"$1" "$2"
}

# In the order in which they come; at the first three nothing is decided yet
calls=("ioctl 2" "ioctl 3" "pwrite64 1" "fsync 1" "ioctl 4")
wrong="" nr_undone=0
for ((number = 1; number <= nr_changes; number++)); do
	killed gone_back "change $number" with_fault killed-after $number dieaware move volume "$TO"
done
check_empty "who is killed at any change can be undone, and ended where the log counts" "$wrong"
check_that "which is so from the switch on" "$nr_undone" -eq 5
wrong="" nr_undone=0
for call in "${calls[@]}"; do
	# shellcheck disable=SC2086
	killed gone_back "$call" at_call signal=KILL $call
done
check_empty "and so can who is killed while the volume is suspended" "$wrong"
check_that "until the old device is hidden" "$nr_undone" -eq 3
wrong="" nr_undone=0
for number in 4 5 6; do
	killed gone_back "ioctl $number" at_call signal=KILL ioctl $number error=EIO pwrite64 1
done
check_empty "who is killed while it leaves a switch that has failed can be undone" "$wrong"
wrong=""
for number in 3 4 5; do
	killed ended "change $number" with_fault killed-after $number dieaware move volume "$TO"
done
check_empty "the next run goes on, or begins again" "$wrong"
wrong=""
for call in "ioctl 2" "ioctl 4"; do
	# shellcheck disable=SC2086
	killed ended "$call" at_call signal=KILL $call
done
check_empty "also while the volume is suspended" "$wrong"

# ---- each step fails
# as_it_was WORDS COMMAND...
as_it_was() {
	local status=0 words=$1
	shift
	"$@" >"$T_DIR/failed" 2>&1 || status=$?
	cat "$T_DIR/failed"
	# What somebody else has loaded is his.
	[[ $words != "somebody else"* ]] || dmsetup clear volume
	[[ $status == 3 ]] && grep -q "$words" "$T_DIR/failed" && is_plain && works
}
for ((number = 1; number <= 5; number++)); do
	check "change $number fails, and all is as it was" as_it_was "volume is as it was" \
		with_fault fails $number dieaware move volume "$TO"
done
check "it fails when the volume is suspended for it, and all is as it was" as_it_was "volume is as it was" \
	with_fault suspended 4 dieaware move volume "$TO"
for call in "ioctl 1" "log-fsync 2" "${calls[@]}"; do
	# shellcheck disable=SC2086
	check "$call fails, and all is as it was" as_it_was "volume is as it was" at_call error=EIO $call
done
check "somebody else loads a table at 3, and all is as it was" as_it_was "somebody else has loaded" \
	with_fault stolen 3 dieaware move volume "$TO"

# foreign_stays COMMAND...: what somebody else has loaded stays, and when he has taken it away the move can be undone
foreign_stays() {
	local status=0

	"$@" >"$T_DIR/failed" 2>&1 || status=$?
	cat "$T_DIR/failed"
	[[ $status == 3 ]] && grep -q "could not be given back .*somebody else has loaded a table, which stays" "$T_DIR/failed" &&
		[[ $(dmsetup table --inactive volume) == "0 8 zero"* ]] && dmsetup clear volume &&
		dieaware move --undo volume && is_plain && works
}
for number in 4 5; do
	check "what somebody else loads at $number stays" foreign_stays with_fault stolen $number dieaware move volume "$TO"
done

# says_signless: nobody says that all is as it was. ext4 writes its sign again, sooner or later.
says_signless() {
	! at_call error=EIO fsync 1 error=EIO pwrite64 2 >"$T_DIR/failed" 2>&1 || return 1
	cat "$T_DIR/failed"
	grep -q "copy what it holds before it is unmounted" "$T_DIR/failed" && ! grep -q "is as it was" "$T_DIR/failed" &&
		is_plain && works
}
check "the old device can neither be hidden nor shown again, which is said" says_signless
# What comes next wants its sign. ext4 writes all of its superblock when it is frozen, and else when it likes.
fsfreeze -f "$mnt"
fsfreeze -u "$mnt"

# stays_replaced NUMBER: what somebody else has put to work before a change is at work after it
stays_replaced() {
	local wrong=""

	printf '%s\n' "$plain" "$(((FIRST + SECOND) * MIB)) 8 zero " >"$T_DIR/replacement"
	with_fault replaced "$1" dieaware move volume "$TO" >"$T_DIR/failed" 2>&1 && wrong=1
	cat "$T_DIR/failed"
	grep -q "Somebody else has given volume another table meanwhile" "$T_DIR/failed" || wrong=1
	diff <(table_of volume) "$T_DIR/replacement" && works || wrong=1
	dmsetup load volume <<<"$plain" && dmsetup resume --nolockfs volume
	[[ -z $wrong ]] && is_plain && works
}
for number in 1 2 3 4; do
	check "what somebody else puts to work before $number stays" stays_replaced $number
done

# is_suspended, loads_while_suspended: as somebody else would, as soon as the volume is suspended for the switch
is_suspended() {
	[[ $(dmsetup info -c --noheadings -o suspended volume) == Suspended && $(dmsetup table --inactive volume) == *" linear "* ]]
}
loads_while_suspended() {
	poll 60 is_suspended && dmsetup load volume --table "0 8 zero"
}
loads_while_suspended >"$T_DIR/loads" 2>&1 &
loads=$!
check "what somebody else loads while the log is flushed stays" foreign_stays \
	at_call delay_enter=6000000 log-fsync 2
check "which has been loaded" wait $loads

# Without a line in dietab nothing would lead to the log after the next boot.
mount --bind /etc /etc
at_end umount /etc
mount -o remount,bind,ro /etc
check "nothing is begun when dietab cannot be written" as_it_was "/etc/dietab cannot be written, which brings" \
	dieaware move volume "$TO"
umount /etc
mkdir "$T_DIR/full"
mount -t tmpfs -o size=4k full "$T_DIR/full"
at_end umount "$T_DIR/full"
dd if=/dev/zero of="$T_DIR/full/zeroes" bs=4k status=none 2>/dev/null || true
ln -s "$T_DIR/full/dietab" /etc/dietab
check "when there is no room for it, all is as it was" as_it_was "volume is as it was: /etc/dietab cannot be written" \
	dieaware move volume "$TO"
rm /etc/dietab

# ---- the new device fails
# is_copied: the mirror below the volume has all regions on both devices
is_copied() {
	dmsetup status volume | awk '$3 == "mirror" { split($7, regions, "/"); found = regions[1] == regions[2] }
		END { exit !found }'
}

modprobe dm-mirror
at_end copy_share 100
begin_slow_move volume 1
nvmev-ssd power-cut ssd1
status=0
wait $MOVING || status=$?
check_that "the new device fails, which ends the move" "$status" -eq 3
check_that "and it says so" "$(<"$T_DIR/moved")" =~ "The device in log mode could not be written"
check "and all is as it was" is_as_it_was
check "and works" works
TO=$(nvmev-ssd power-on ssd1)
check "when that is back, what it holds of a copy is taken away" dieaware move --undo volume
check "and nothing is left of it" is_plain
blkdiscard -f "$TO"
with_fault killed-after 4 dieaware move volume "$TO" >"$T_DIR/said" 2>&1 || true
# What is not copied yet is written to the old device only, and waits for nobody.
copy_share 100
check "when nobody is at work, the kernel copies all the same" poll 20 is_copied
nvmev-ssd power-cut ssd1
write_mib "$mnt/waits" 8 conv=fsync &
writer=$!
sleep 2
check "when it fails and nobody is at work, writes wait" is_running $writer
check "until the move is undone" dieaware move --undo volume
check "and are done then" wait $writer
check "all is as it was" is_as_it_was
check "those that write have seen nothing of it" end_load
TO=$(nvmev-ssd power-on ssd1)
umount "$mnt"
check "fsck finds nothing" check_fs ext4 /dev/mapper/volume
