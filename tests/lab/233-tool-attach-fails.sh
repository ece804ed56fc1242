#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware attach and detach below a mounted filesystem are killed between two steps, each step fails,
# somebody else changes the table meanwhile, or the SSD's power fails.
# kernels: uml
# long: 6.12
# smp: 2
# smp on uml: 1
# mem: 2G
# seconds: 70
# timeout: 400
# sentences: 26
# shellcheck disable=SC2034,SC2154
. "$(dirname "$0")/rc"
. "$(dirname "$0")/attach-volume"

mkdir "$T_DIR/bin"
new_ssd ssd0 capacity_mib=1024 plp=0
new_volume
before=$(limits)
make_fs ext4 /dev/mapper/volume
mount /dev/mapper/volume "$mnt"
write_mib "$mnt/still" 2 conv=fsync

# ---- whatever step is the last one
# Takes dmsetup's place. In FAULT: which changes fail (numbers), and how.
cat >"$T_DIR/bin/dmsetup" <<'END'
#!/bin/bash
dir=${0%/bin/dmsetup}
real() { PATH=${PATH#*:} dmsetup "$@"; }
replace() { real load volume <"$dir/replacement" && real resume --nolockfs volume; }
read -r how numbers <"$dir/fault"
case $1 in
load | resume | clear)
	echo >>"$dir/changes"
	number=$(wc -l <"$dir/changes")
	;;
status) number=s ;;
*) number=none ;;
esac
[[ " $numbers " == *" $number "* ]] || how=well
case $how in
well) real "$@" ;;
killed-before) kill -9 "$PPID" ;;
killed-after) real "$@"; kill -9 "$PPID" ;;
fails) echo "It fails" >&2; exit 1 ;;
stolen) real "$@"; real load "$2" --table "0 8 zero" ;;
# As lvextend does it, and as soon
replaced) replace; real "$@" ;;
replaced-after) real "$@"; replace ;;
exchanged) real table "${!#}" | real load "${!#}" && real "$@" ;;
read-only) real "$@"; blockdev --setro "/dev/mapper/${!#}" ;;
nonsense) echo "0 8 dieaware nonsense" ;;
esac
END
chmod +x "$T_DIR/bin/dmsetup"

# with_fault HOW NUMBERS COMMAND...
with_fault() {
	printf '%s %s\n' "$1" "$2" >"$T_DIR/fault"
	: >"$T_DIR/changes"
	PATH=$T_DIR/bin:$PATH "${@:3}"
}

# is_attached: one of the two, and nothing else
is_attached() {
	case $(table_of volume) in
	"$attached") true ;;
	"$plain") false ;;
	*) return 2 ;;
	esac
}

# from VERB: the device is as that verb finds it
from() {
	if [[ $1 == attach ]]; then
		! is_attached || dieaware detach volume
	else
		is_attached || dieaware attach volume
	fi >"$T_DIR/from" 2>&1
}

# stays_replaced VERB HOW NUMBER: fails, and what somebody else has put to work meanwhile stays at work
stays_replaced() {
	local wrong="" status=0

	from "$1"
	printf '%s\n' "$plain" "$((300 * MIB)) 8 zero " >"$T_DIR/replacement"
	with_fault "$2" "$3" dieaware "$1" volume >"$T_DIR/said" 2>&1 || status=$?
	cat "$T_DIR/said"
	[[ $status == 3 ]] && grep -q "somebody else has given volume another table meanwhile" "$T_DIR/said" || wrong=1
	diff <(table_of volume) "$T_DIR/replacement" && works || wrong=1
	dmsetup load volume <<<"$plain" && dmsetup resume --nolockfs volume
	[[ -z $wrong ]]
}

# works: it can be read and written
works() {
	timeout 20 dd if="$mnt/still" of="$mnt/copy" bs=1M conv=fsync iflag=direct status=none && cmp "$mnt/still" "$mnt/copy"
}

for verb in attach detach; do
	wrong="" killed=0
	for fault in "killed-before 1" "killed-after 1" "killed-before 2" "killed-after 2"; do
		for next in attach detach; do
			from $verb
			with_fault "${fault% *}" "${fault#* }" dieaware $verb volume >"$T_DIR/said" 2>&1 && wrong+=" $fault: not killed;"
			killed=$((killed + 1))
			works || wrong+=" $fault: it does not work;"
			dieaware $next volume >"$T_DIR/said" 2>&1 || true
			status=0
			is_attached || status=$?
			case $next-$status in
			attach-0 | detach-1) works || wrong+=" $fault, $next: it does not work;" ;;
			*) wrong+=" $fault, $next: $status;" ;;
			esac
		done
	done
	check_that "whoever kills $verb between two steps leaves what the next one completes or undoes" "$killed$wrong" == 8
done

# as_it_was VERB HOW NUMBERS STATUS: fails, and nothing has changed
as_it_was() {
	local table loaded status=0

	from "$1"
	table=$(table_of volume)
	with_fault "$2" "$3" dieaware "$1" volume || status=$?
	echo "It ended with $status."
	blockdev --setrw /dev/mapper/volume
	# What somebody else has loaded is his.
	if [[ $2 == stolen ]]; then
		loaded=$(dmsetup table --inactive volume)
		dmsetup clear volume
		[[ $loaded == "0 8 zero"* ]] || return 1
	fi
	diff <(table_of volume) - <<<"$table" && [[ $(limits) == "$before" && $status == 3 ]] && works
}
for verb in attach detach; do
	check "$verb: a table that is not loaded changes nothing" as_it_was $verb fails "1 2"
	check "$verb: nor one that is not put to work" as_it_was $verb fails "2 5"
	check "$verb: nor one that somebody else exchanges meanwhile" as_it_was $verb stolen 1
	check "$verb: nor one that was exchanged in the last moment" as_it_was $verb exchanged "2 4"
	check "$verb: one that somebody else puts to work before ours is loaded stays" stays_replaced $verb replaced 1
	check "$verb: and so does one before ours is put to work" stays_replaced $verb replaced 2
	check "$verb: and one that takes the place of ours at once" stays_replaced $verb replaced-after 2
	check "$verb: nor one with which the device becomes read-only" as_it_was $verb read-only "2 6"
done
check "attach: nor targets that do not answer as they should" as_it_was attach nonsense s
from attach
exits 3 "could not be given its old table again" with_fault fails "2 3" dieaware attach volume
check_fails "... and not that it is as it was" grep -F "is as it was" "$T_DIR/said"
check "what was left loaded then is found" dieaware attach volume
check_that "and it is attached" "$(table_of volume)" == "$attached"
from detach
umount "$mnt"

# ---- the SSD's power fails meanwhile
is_off() {
	[[ $(<"$CONFIGFS/ssd0/power") == 0 ]]
}

turns() {
	while [[ ! -e $T_DIR/off ]]; do
		timeout 60 dieaware attach volume || true
		timeout 60 dieaware detach volume || true
	done >"$T_DIR/turns" 2>&1
}

for fs in ext4 xfs; do
	make_fs $fs /dev/mapper/volume
	wrong=""
	for turn in 1 2 3 4; do
		mount /dev/mapper/volume "$mnt"
		write_mib "$mnt/$turn" 4 conv=fsync
		sum=$(sums "$mnt")
		begin_load
		rm -f "$T_DIR/off"
		turns &
		TURNS=$!
		sleep 0.$((turn * 13 % 10 + 3))
		nvmev-ssd power-cut ssd0
		poll 10 is_off || wrong+=" $turn: no cut;"
		touch "$T_DIR/off"
		wait "$TURNS" || true
		timeout 60 dieaware detach volume >"$T_DIR/said" 2>&1 || wrong+=" $turn: $(<"$T_DIR/said");"
		[[ $(table_of volume | sort -u) == "$(sort -u <<<"$plain")" ]] || wrong+=" $turn: $(table_of volume);"
		end_load || true
		umount "$mnt" || wrong+=" $turn: busy;"
		drop_target volume
		DEV=$(nvmev-ssd power-on ssd0)
		new_volume
		mount /dev/mapper/volume "$mnt"
		rm -f "$mnt"/writer*
		[[ $(sums "$mnt") == "$sum" ]] || wrong+=" $turn: other bytes;"
		umount "$mnt"
		check_fs $fs /dev/mapper/volume >"$T_DIR/fsck" 2>&1 || wrong+=" $turn: fsck;"
	done
	check_empty "$fs: when the power fails it can be detached, and what was written is there" "$wrong"
done
