#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Inside the guest: run the tests named, each with freshly loaded modules and a
# look at the kernel's log behind it. Every line is "ok - TEST: SENTENCE" or
# "not ok - TEST: SENTENCE"; "begin TEST" and "end TEST SECONDS" frame a test.
#
# Usage: run-guest.sh KERNEL TEST.sh...
#
# KERNEL is its name in the tests' headers, such as 6.12.
set -uo pipefail
cd "$(dirname "$0")" || exit 1

BAD_LOG='BUG:|WARNING:|Oops|general protection|possible .*deadlock|INFO: task .* blocked for more than|soft lockup|rcu: INFO|refcount_t:|Call Trace|kmemleak|KASAN:|use-after-free|\[ INFO:|UBSAN|list_(add|del) corruption|sleeping function|scheduling while atomic'

KERNEL=$1
shift
KMEMLEAK=/sys/kernel/debug/kmemleak
KCSAN=/sys/kernel/debug/kcsan
# Whether show_waiting has spoken of the test in hand
SHOWN=""
# What the test in hand has said
SENTENCES=$(mktemp)
LAST=${*: -1}
# A kernel that looks for bugs takes its time.
SLOWNESS=1
[[ ! -e $KMEMLEAK && ! -e $KCSAN ]] || SLOWNESS=3

# What stands in the header of the test in hand, by key
declare -A HEADER=()

# read_header FILE: in no process of its own, as nearly all that is done around each test: in UML one costs the host
# 15 to 40 ms.
read_header() {
	local line lines

	HEADER=()
	mapfile -t lines <"$1"
	for line in "${lines[@]}"; do
		if [[ $line =~ ^#\ ([a-z]+):\ *(.*) && ! -v HEADER[${BASH_REMATCH[1]}] ]]; then
			HEADER[${BASH_REMATCH[1]}]=${BASH_REMATCH[2]}
		elif [[ $line == need_faults ]]; then
			HEADER[faults]=yes
		fi
	done
}

unload() {
	local module

	for module in dm_dieaware nvmevirt_backend scsi_debug null_blk; do
		if [[ -d /sys/module/$module && -e /sys/module/$module/refcnt ]]; then
			rmmod "$module" || return 1
		fi
	done
}

load() {
	modprobe -a nvme nvmevirt-backend dm-dieaware
}

# What a test must not leave behind, one thing a line.
leftovers() {
	local thing mounts where

	dmsetup ls 2>/dev/null | while read -r thing; do
		[[ $thing == "No devices found" ]] || echo "$thing"
	done
	for thing in /sys/kernel/config/nvmev/*/ /sys/block/loop*/loop/backing_file; do
		[[ ! -e $thing ]] || echo "$thing"
	done
	mapfile -t mounts </proc/mounts
	for thing in "${mounts[@]}"; do
		read -r _ where _ <<<"$thing"
		[[ ! $where =~ ^(/tmp/|/mnt) ]] || echo "$where"
	done
}

sweep() {
	local name

	awk '$2 ~ "^/tmp/|^/mnt" { print $2 }' /proc/mounts | tac | while read -r name; do
		umount -l "$name"
	done
	losetup -D
	for _ in 1 2 3; do
		dmsetup ls 2>/dev/null | awk '!/^No devices/ { print $1 }' | while read -r name; do
			dmsetup remove -f "$name"
		done
	done
	for name in /sys/kernel/config/nvmev/*/; do
		[[ -d $name ]] || continue
		echo 0 >"$name/power"
		rmdir "$name"
	done
} >/dev/null 2>&1

# label NAME: prefix the sentences of a test with its name. One that passes although it is marked
# as known to fail is wrong.
label() {
	sed -u -E "s/^ok - (.*) # TODO ([A-Z]+[0-9]+).*/not ok - \1: passes although it is marked as known to fail (\2): take the mark off/
		s/^(not ok|ok) - /\1 - $1: /"
}

# The kernel forgets its oldest messages: all that it knows, then.
log_since() {
	dmesg | awk -v mark="lab-test $1 begins" '
		substr($0, length($0) - length(mark) + 1) == mark { nr = 0 }
		{ line[nr++] = $0 }
		END { for (i = 0; i < nr; i++) print line[i] }'
}

# Who fails allocations makes the kernel tell where, and kmemleak do with less memory;
# neither is trouble by itself. Nor is that a filesystem tells where it noticed that its device is gone.
bad_log() {
	if [[ ${HEADER[faults]:-} == yes ]]; then
		echo "${BAD_LOG//|Call Trace|kmemleak/}"
	elif [[ ${HEADER[traces]:-} == yes ]]; then
		echo "${BAD_LOG//|Call Trace/}"
	else
		echo "$BAD_LOG"
	fi
}

# Where two programs read by O_DIRECT into the same page of their memory, the block layer looks at the
# page's flags while it sets another of them: the kernel's own affair.
# The machine's end is judged by the same list (scripts/lib/machine.sh).
KERNELS_RACES="kernels-races"

trouble_since() {
	local text

	text=$(log_since "$1" | grep -E "$(bad_log)")
	# Those of show_waiting; what is wrong has another word beside it.
	[[ -z $SHOWN ]] || text=$(grep -v 'Call Trace' <<<"$text")
	[[ -z $text ]] || grep -vFf "$KERNELS_RACES" <<<"$text" | head -n 12
}

# Sets DUE: how many sentences the test has on this kernel. Its header says "23",
# "23 6.1:20" where a kernel has another number, or "23+" for no less than these.
sentences_due() {
	local word special=""

	DUE=""
	for word in ${HEADER[sentences]:-}; do
		if [[ $word == "$KERNEL:"* ]]; then
			special=${word#*:}
		elif [[ $word != *:* ]]; then
			DUE=$word
		fi
	done
	DUE=${special:-$DUE}
}

# judge_sentences NAME: a test that ended well has to have said all it has to say. On a kernel
# that its header does not name the number is not known.
judge_sentences() {
	local name=$1 said=0 due line lines

	[[ " ${HEADER[kernels]:-6.12} ${HEADER[long]:-} " == *" $KERNEL "* ]] || return 0
	mapfile -t lines <"$SENTENCES"
	for line in "${lines[@]}"; do
		[[ ! $line =~ ^(not )?ok\  ]] || said=$((said + 1))
	done
	sentences_due
	due=$DUE
	if [[ $due == *+ ]] && ((said > ${due%+})); then
		said=${due%+}
	fi
	if [[ ${due%+} != "$said" ]]; then
		echo "not ok - $name: it says all of its sentences (it said $said on $KERNEL, and ${due:-no number} stands in its header)"
	fi
}

# show_waiting: where in the kernel those wait that no signal ends
show_waiting() {
	SHOWN=1
	echo w >/proc/sysrq-trigger
	echo "# who waits in the kernel:"
	dmesg | awk '/Show Blocked State/ { text = "" } { text = text "#   " $0 "\n" } END { printf "%s", text }' |
		grep -v '?' | head -n 100
}

# judge_end NAME STATUS SECONDS: whether the script ended as its sentences say.
judge_end() {
	local name=$1 status=$2 wrong=0

	if grep '^not ok' "$SENTENCES" | grep -qv ' # TODO '; then
		wrong=1
		echo "# the kernel's last messages:"
		log_since "$name" | tail -n 20 | sed 's/^/#   /'
	fi
	if ((status >= 124)); then
		echo "not ok - $name: the test ends within $3 s (status $status)"
		ps -eo pid,stat,wchan:30,args | awk '$2 ~ /D/' | sed 's/^/# /'
		show_waiting
	elif ((status && !wrong)); then
		echo "not ok - $name: the script ends well (it ended with $status, and no sentence is wrong)"
	elif ((!wrong)); then
		judge_sentences "$name"
	fi
}

run_one() {
	local file=$1 name=${1%.sh} seconds began=$SECONDS status text

	SHOWN=""
	read_header "$file"
	seconds=$((${HEADER[timeout]:-120} * SLOWNESS))
	echo "begin $name"
	echo "lab-test $name begins" >/dev/kmsg
	if ! load; then
		echo "not ok - $name: the modules load"
		return
	fi
	T_NAME=$name timeout -k 15 "$seconds" bash "./$file" 2>&1 </dev/null | label "$name" | tee "$SENTENCES"
	status=${PIPESTATUS[0]}
	judge_end "$name" "$status" "$seconds"
	text=$(leftovers)
	if [[ -n $text ]]; then
		echo "not ok - $name: the test leaves nothing behind"
		printf '# %s\n' "${text//$'\n'/$'\n'# }"
		sweep
	fi
	if [[ $file != "$LAST" || ! -e $KMEMLEAK ]] && ! unload; then
		echo "not ok - $name: the modules unload"
	fi
	text=$(trouble_since "$name")
	if [[ -n $text ]]; then
		echo "not ok - $name: the kernel has nothing to complain of"
		log_since "$name" | grep -E -A 25 "$(bad_log)" | head -n 60 | sed 's/^/# /'
	fi
	echo "end $name $((SECONDS - began))"
}

# What nobody points at any more. A pointer may have been in a register, and what is
# younger than five seconds does not count: only what two scans find is lost.
leaks() {
	echo scan >"$KMEMLEAK"
	sleep 6
	echo scan >"$KMEMLEAK"
	cat "$KMEMLEAK"
}

# Looked for when a batch ends, for it takes long: while the modules are loaded, so that
# the report has names, and again when they are not.
judge_leaks() {
	local when=$1 text

	text=$(leaks)
	if [[ -n $text ]]; then
		echo "not ok - memory: nothing is leaked ($when)"
		head -n 80 <<<"$text" | sed 's/^/# /'
	else
		echo "ok - memory: nothing is leaked ($when)"
	fi
	echo clear >"$KMEMLEAK"
}

# A kernel that was told to look for races and does not is one on which all passes.
judge_watch() {
	local watched

	watched=$(sed -n 's/^setup_watchpoints: //p' "$KCSAN")
	if ((${watched:-0} >= 1000)); then
		echo "ok - races: memory was watched ($watched times)"
	else
		echo "not ok - races: memory was watched (${watched:-0} times)"
	fi
}

echo on >/proc/sys/kernel/printk_devkmsg 2>/dev/null || true
if [[ -e $KMEMLEAK ]]; then
	# What the kernel itself has lost while it booted is not ours.
	leaks >/dev/null
	echo clear >"$KMEMLEAK"
fi
# Nor are races while it boots. One access in a hundred is watched: with one in 400 run-table look-ups
# without their lock went unnoticed.
if [[ -e $KCSAN ]]; then
	echo 100 >/sys/module/kcsan/parameters/skip_watch
	echo on >"$KCSAN"
fi
for test; do
	run_one "$test"
done
[[ ! -e $KCSAN ]] || judge_watch
if [[ -e $KMEMLEAK ]]; then
	judge_leaks "modules loaded"
	unload || echo "not ok - memory: the modules unload"
	judge_leaks "modules unloaded"
fi
echo "all done"
