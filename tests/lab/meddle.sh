# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Meddlers for tests of what happens at the same time, sourced after rc: loops
# that suspend, reload, send messages or trim in the background while a load
# runs. A round that fails is a failure of the test, and so is a meddler that
# met the load too seldom. A round has met the load if that was at work when the
# round began or when it ended. How many rounds fit into a load is the machine's affair, so
# the load goes on until each meddler has met it often enough, within reason.

declare -A LOOPS=()
# Rounds that must meet the load, by loop
declare -A WANTED=()
# As often as this a load is done at most.
MOST_LOADS=10
# How often one was done
NR_LOADS=0

# loop_rounds NAME FUNCTION: the loop itself, in a process of its own
loop_rounds() {
	local name=$1 status met

	trap - ERR
	set +eE
	while [[ ! -e $T_DIR/$name.stop ]]; do
		met=""
		[[ ! -e $T_DIR/load.working ]] || met=begins
		# Not behind "||" or "if": there a command that fails would not end the function.
		(
			set -ex
			"$2"
		) >"$T_DIR/$name.output" 2>&1
		status=$?
		if ((status)); then
			echo "$status" >"$T_DIR/$name.failed"
			break
		fi
		[[ ! -e $T_DIR/load.working ]] || met+=" ends"
		[[ -z $met ]] || echo "$met" >>"$T_DIR/$name.rounds"
	done
}

# in_loop NAME FUNCTION MINIMUM: call it again and again until stop_loop; that many of its rounds must
# meet the load. Any command in it that fails ends the loop and is a failure. What may fail stands behind
# may_refuse.
in_loop() {
	local name=$1

	rm -f "$T_DIR/$name".{stop,failed}
	: >"$T_DIR/$name.rounds"
	: >"$T_DIR/$name.refused"
	: >"$T_DIR/$name.obeyed"
	MEDDLER=$name loop_rounds "$name" "$2" &
	LOOPS[$name]=$!
	WANTED[$name]=$3
	at_end quit_loop "$name"
}

# may_refuse WORDS COMMAND...: it succeeds, or fails with these words (a pattern as grep -E has them).
may_refuse() {
	local words=$1 said status=0
	shift

	said=$("$@" 2>&1) || status=$?
	if ((status == 0)); then
		echo >>"$T_DIR/$MEDDLER.obeyed"
		return 0
	fi
	echo "$said"
	echo >>"$T_DIR/$MEDDLER.refused"
	grep -qE -- "$words" <<<"$said"
}

# quit_loop NAME: a meddler is asked to end. One that is killed may leave a suspend behind that ends
# after the last resume.
quit_loop() {
	touch "$T_DIR/$1.stop"
	poll 60 has_ended "${LOOPS[$1]}" || kill "${LOOPS[$1]}"
	wait "${LOOPS[$1]}"
}

# loop_count NAME WHAT: how many "rounds" met the load, or commands were "obeyed" or "refused"
loop_count() {
	wc -l <"$T_DIR/$1.$2"
}

# has_met_all: whether each loop has met the load as often as it must, or has failed
has_met_all() {
	local name

	for name in "${!WANTED[@]}"; do
		[[ -e $T_DIR/$name.failed ]] || (($(loop_count "$name" rounds) >= WANTED[$name])) || return
	done
}

# stop_loop NAME: enough of its rounds must have met the load, and none failed.
stop_loop() {
	local name=$1 status=0

	touch "$T_DIR/$name.stop"
	wait "${LOOPS[$name]}" || status=$?
	if [[ -e $T_DIR/$name.failed ]]; then
		t_fail "$name: no round fails"
		note "one ended with $(<"$T_DIR/$name.failed"):"
		tail -n 30 "$T_DIR/$name.output" | sed 's/^/#   /'
	fi
	check_that "$name: the loop ends when it is asked to" "$status" -eq 0
	note "$name: $(loop_count "$name" rounds) rounds met the load, which was done $NR_LOADS times; $(loop_count "$name" refused) commands were refused"
	check_that "$name: enough rounds met the load" "$(loop_count "$name" rounds)" -ge "${WANTED[$name]}"
	if [[ -s $T_DIR/$name.refused ]]; then
		check_that "$name: a third of the commands or more is obeyed" \
			"$((2 * $(loop_count "$name" obeyed)))" -ge "$(loop_count "$name" refused)"
	fi
}

# less NUMBER: of a load, on a kernel that looks for bugs: all takes several times as long. Rounds that
# must meet it are as many there as elsewhere: that is where races are seen.
less() {
	if [[ -e /sys/kernel/debug/kmemleak || -e /sys/kernel/debug/kcsan ]]; then
		echo $((($1 + 2) / 3))
	else
		echo "$1"
	fi
}

# load NUMBER: of a load, as `less` says; twice as much in UML, where writing takes a third of the
# time, and the programs that meddle take as long as elsewhere to start
load() {
	if [[ $(</proc/cpuinfo) == *"User Mode Linux"* ]]; then
		echo $((2 * $1))
	else
		less "$1"
	fi
}

# nr_done DEVICE: requests that it has completed, reads and writes
nr_done() {
	awk '{ print $1 + $5 }' "/sys/dev/block/$((0x$(stat -Lc %t "$1"))):$((0x$(stat -Lc %T "$1")))/stat"
}

load_works() {
	(($(nr_done "$1") >= $2)) || has_ended "$3"
}

# load_once DEVICE COMMAND...: run the command; it is the load of DEVICE as soon as it has done 100
# requests there, until it ends.
load_once() {
	local device=$1 process status=0
	shift

	NR_LOADS=$((NR_LOADS + 1))
	"$@" &
	process=$!
	poll 600 load_works "$device" $(($(nr_done "$device") + 100)) "$process"
	touch "$T_DIR/load.working"
	wait "$process" || status=$?
	rm "$T_DIR/load.working"
	return "$status"
}

# under_load DEVICE COMMAND...: the same again and again, until all loops have met it often enough
under_load() {
	local time

	for ((time = 0; time < MOST_LOADS; time++)); do
		load_once "$@" || return
		! has_met_all || return 0
	done
}
