# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # the callers read what is set here
#
# The life of one guest, whether an emulated machine or a UML process: what it
# is given, the watch over it until it is ready, done, broken or late, and the
# verdict. RUN is the run's own directory. The scripts provide machine_start
# (sets MACHINE_PID) and machine_receive (fills RUN/back/out, RUN/back/lab/dmesg).
# Expects common.sh, packages.sh, cache.sh.

# For a guest that hangs: one that dies is noticed at once, and a busy machine may take minutes.
BOOT_SECONDS=${DIEAWARE_BOOT_SECONDS:-900}

# The CPU of the host's that the machine keeps to
HOST_CPU=""

# What the options of the scripts set.
OUT="" TIMEOUT=1800 CONSOLE="" ALLOW_OOPS=0 VERBOSE=0 SYSTEMD=0
COPIES=() TREES=() COMMAND=()

run_begin() {
	mkdir -p "$CACHE_DIR"
	RUN=$(mktemp -d "$CACHE_DIR/run.XXXXXX")
	trap 'machine_stop; rm -rf "$RUN"' EXIT
	trap 'exit 130' INT TERM HUP
}

check_common_options() {
	local path

	[[ $TIMEOUT =~ ^[0-9]+$ ]] || die "--timeout wants whole seconds, not '$TIMEOUT'."
	for path in "${COPIES[@]}"; do
		[[ -e $path ]] || die "There is no '$path' to copy."
	done
	for path in "${TREES[@]}"; do
		[[ -d $path ]] || die "There is no folder '$path' to lay over the guest's root."
	done
}

# The command as a script. A single word is for the shell, as with ssh.
print_command() {
	if ((${#COMMAND[@]} == 1)); then
		printf 'exec bash -c %q\n' "${COMMAND[0]}"
	else
		printf 'exec'
		printf ' %q' "${COMMAND[@]}"
		echo
	fi
}

# stage_run DIR: the files that differ from run to run: init, the command, the
# copied files, the tools; dieaware, if tools_need was called.
stage_run() {
	local stage=$1 tools=$DIEAWARE_TOP/tools/guest tree

	mkdir -p "$stage"/{lab,out,root/lab,usr/local/bin}
	if ((SYSTEMD)); then
		mkdir -p "$stage/usr/local/sbin"
		install -m 755 "$DIEAWARE_TOP/scripts/lib/guest-init" "$stage/usr/local/sbin/lab-job"
		ln -s /usr/lib/systemd/systemd "$stage/init"
	else
		install -m 755 "$DIEAWARE_TOP/scripts/lib/guest-init" "$stage/init"
	fi
	install -m 755 -t "$stage/usr/local/bin" "$DIEAWARE_TOP/scripts/lib/run-kunit"
	if ((${#COMMAND[@]})); then
		print_command >"$stage/lab/command"
	else
		echo "export TERM=${TERM:-vt100}; stty -F /dev/ttyS1 rows $(tput lines) cols $(tput cols)" \
			>"$stage/lab/terminal"
	fi
	if ((${#COPIES[@]})); then
		cp -rL --preserve=mode,timestamps -- "${COPIES[@]}" "$stage/root/lab/"
	fi
	for tree in "${TREES[@]}"; do
		cp -r --preserve=mode,timestamps,links -- "$tree/." "$stage/"
	done
	if [[ -d $tools ]]; then
		find "$tools" -maxdepth 1 -type f -perm -u+x -exec cp -t "$stage/usr/local/bin" {} +
	fi
	if [[ -n ${TOOLS_DIR:-} ]]; then
		cp "$TOOLS_DIR/dieaware" "$stage/usr/local/bin/"
	fi
}

machine_alive() {
	kill -0 "$MACHINE_PID" 2>/dev/null
}

# The machine leads a process group of its own.
machine_stop() {
	if [[ -n ${MACHINE_PID:-} ]]; then
		kill -KILL -- "-$MACHINE_PID" 2>/dev/null || true
		wait "$MACHINE_PID" 2>/dev/null || true
		MACHINE_PID=
	fi
}

host_cpus() {
	local range ranges

	IFS=, read -ra ranges < <(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
	for range in "${ranges[@]}"; do
		seq "${range%-*}" "${range#*-}"
	done
}

# host_cpu_take: set HOST_CPU to a CPU of the host's that no other machine keeps to until it ends,
# if there is one.
host_cpu_take() {
	local cpu claim

	mkdir -p "$CACHE_DIR/locks"
	for cpu in $(host_cpus); do
		exec {claim}>"$CACHE_DIR/locks/cpu-$cpu"
		if flock -n "$claim"; then
			HOST_CPU=$cpu
			return
		fi
		exec {claim}>&-
	done
}

# machine_spawn COMMAND...: run it in the background with its messages in a
# file; it dies with this shell however this shell ends.
machine_spawn() {
	: >"$RUN/console"
	: >"$RUN/control"
	: >"$RUN/output"
	setsid setpriv --pdeathsig KILL "$@" &
	MACHINE_PID=$!
}

# The value the guest reported under that name, if it has.
guest_told() {
	sed -nE "s/^$1 ?([0-9.]*)\r?\$/\1/p" "$RUN/control" | tail -n 1
}

# Asked many times a second: without a process of its own.
guest_has_told() {
	local line

	while IFS= read -r line || [[ -n $line ]]; do
		if [[ $line == "$1" || $line == "$1 "* ]]; then
			return 0
		fi
	done <"$RUN/control"
	return 1
}

# What nap() reads from
NAP=""

# The bash that is there sleeps without a process, too: it waits for a line that nobody writes.
nap() {
	if [[ -z $NAP ]]; then
		exec {NAP}<> <(:)
	fi
	read -rt "$1" -u "$NAP" || true
}

# How often a machine says that it uses what it uses
IN_USE_SECONDS=600

# Else cache_prune, of another script, would take it away from a machine that runs for hours.
machine_is_in_use() {
	touch -c "$RUN" ${UML_DIR:+"$UML_DIR"} ${ROOTFS_DIR:+"$ROOTFS_DIR"} \
		${STOCK_MODULES_TREE:+"${STOCK_MODULES_TREE%/tree}"} ${OWN_MODULES_TREE:+"${OWN_MODULES_TREE%/tree}"} \
		${HOST_CPU:+"$CACHE_DIR/locks/cpu-$HOST_CPU"}
}

# machine_wait NAME SECONDS: until the guest reports NAME. Fails when the
# machine ended first (1) or the time is over (2). SECONDS 0 waits for ever.
machine_wait() {
	local name=$1 limit=$2 begin=$SECONDS used=$SECONDS

	until guest_has_told "$name"; do
		if ((SECONDS - used >= IN_USE_SECONDS)); then
			machine_is_in_use
			used=$SECONDS
		fi
		if ! machine_alive; then
			guest_has_told "$name" && return 0
			return 1
		fi
		if ((limit && SECONDS - begin >= limit)); then
			return 2
		fi
		nap 0.05
	done
}

show_console_tail() {
	tail -n "$1" "$RUN/console" | tr -d '\r' >&2
}

# What of the guest's kernel messages, from its first on, means a bug there.
KERNEL_TROUBLE='BUG:|kernel BUG at|Oops:|: [0-9a-f]{4} \[#[0-9]+\]|Kernel panic|general protection fault'
# Newer kernels say last on which CPU a warning was.
KERNEL_TROUBLE+='|WARNING: CPU|WARNING: (.* )?at .*, CPU#[0-9]'
KERNEL_TROUBLE+='|WARNING: .*(possible|inconsistent|bad unlock|suspicious|held|refcount)'
KERNEL_TROUBLE+='|rcu: INFO|INFO: task .* blocked|INFO: possible|INFO: trying to register'
KERNEL_TROUBLE+='|KASAN:|UBSAN: |unreferenced object|refcount_t: |list_(add|del) corruption'
KERNEL_TROUBLE+='|sleeping function called|scheduling while atomic|Kernel mode fault'

# Print the trouble with the lines after it; nothing where there is none. Races that are the kernel's own
# affair are none (tests/lab/run-guest.sh says why).
kernel_trouble() {
	local line

	line=$(grep -anE -- "$KERNEL_TROUBLE" "$1" | grep -avFf "$DIEAWARE_TOP/tests/lab/kernels-races" | head -n 1)
	[[ -z $line ]] || tail -n "+${line%%:*}" "$1" | head -n 61 | tr -d '\r'
}

# Print the trouble and leave with 126, unless the user allows it. The last sentence has its first
# line once more, for those who show only the end.
judge_kernel() {
	local text

	if ((ALLOW_OOPS)) || [[ ! -e $1 ]]; then
		return 0
	fi
	text=$(kernel_trouble "$1" || true)
	if [[ -n $text ]]; then
		printf '%s\n' "$text" >&2
		say "The guest's kernel reported a bug: $(head -n 1 <<<"$text")"
		exit 126
	fi
}

keep_console() {
	if [[ -n $CONSOLE ]]; then
		if [[ -s $RUN/back/lab/dmesg ]]; then
			cp "$RUN/back/lab/dmesg" "$CONSOLE"
		else
			tr -d '\r' <"$RUN/console" >"$CONSOLE"
		fi
	fi
}

keep_out() {
	if [[ -n $OUT && -d $RUN/back/out ]]; then
		mkdir -p "$OUT"
		cp -a "$RUN/back/out/." "$OUT/"
	fi
}

# What in a console means that the kernel died of the emulator: QEMU's CPUs do not always survive
# a kernel that changes its own code. Where one of the project's modules is loaded, that excuses
# nothing.
EMULATOR_TROUBLE='int3: [0-9a-f]{4} \[#'
OWN_MODULES='dm_dieaware|nvmevirt_backend'

# died_of_emulator TROUBLE
died_of_emulator() {
	head -n 1 <<<"$1" | grep -qE -- "$EMULATOR_TROUBLE" && ! grep -aqE -- "$OWN_MODULES" "$RUN/console"
}

# keep_first_boot REASON: its console, where the suites look (DIEAWARE_BOOTS) and beside the other one.
keep_first_boot() {
	local reason=$1

	{
		echo "a boot was tried again: $reason"
		tr -d '\r' <"$RUN/console"
	} >"$RUN/console.first"
	if [[ -n ${DIEAWARE_BOOTS:-} ]]; then
		mkdir -p "$DIEAWARE_BOOTS"
		cp "$RUN/console.first" "$(mktemp "$DIEAWARE_BOOTS/XXXXXX.console")"
	fi
	if [[ -n $CONSOLE ]]; then
		cp "$RUN/console.first" "$CONSOLE.first"
	fi
}

# judge_first_boot STATUS: it may be tried again where it died of the emulator, or said nothing of
# a bug. Else it is the verdict.
judge_first_boot() {
	local reason="it stopped" trouble

	if (($1 == 2)); then
		reason="it was not ready within $BOOT_SECONDS seconds"
	fi
	trouble=$(kernel_trouble "$RUN/console" || true)
	if [[ -n $trouble ]]; then
		if ! died_of_emulator "$trouble"; then
			keep_console
			judge_kernel "$RUN/console"
		fi
		reason=$(head -n 1 <<<"$trouble")
	fi
	keep_first_boot "$reason"
	say "the guest did not come up ($reason), trying once more"
}

# An emulated guest now and then dies in early boot, so try twice.
machine_boot() {
	local try status begin=$SECONDS

	for try in 1 2; do
		machine_start
		status=0
		machine_wait ready "$BOOT_SECONDS" || status=$?
		if ((status == 0)); then
			if ((VERBOSE)); then
				say "ready after $((SECONDS - begin)) s ($(guest_told ready) s on the guest's clock)"
			fi
			return 0
		fi
		machine_stop
		if ((try == 1)); then
			judge_first_boot "$status"
		fi
	done
	cat "$RUN/messages" >&2
	show_console_tail 40
	keep_console
	judge_kernel "$RUN/console"
	if ((status == 2)); then
		die "The guest was not ready within $BOOT_SECONDS seconds, twice."
	fi
	die "The guest stopped while booting, twice: its last messages stand above."
}

# Run the command in the guest and exit with its status.
machine_run() {
	local status=0 lost=0 stream

	machine_boot
	tail -c +1 -s 0.1 --pid="$MACHINE_PID" -f "$RUN/output" 2>/dev/null &
	stream=$!
	machine_wait status "$TIMEOUT" || lost=$?
	if ((lost == 0)); then
		status=$(guest_told status)
		machine_wait end 600 || lost=3
	fi
	if ((lost == 0)); then
		machine_receive
	fi
	machine_stop
	wait "$stream" || true
	keep_console
	judge_kernel "$RUN/console"
	judge_kernel "$RUN/back/lab/dmesg"
	keep_out
	case $lost in
	1)
		show_console_tail 20
		die "The guest stopped before the command had ended."
		;;
	2)
		show_console_tail 20
		say "The command did not end within $TIMEOUT seconds."
		exit 124
		;;
	3) die "The command ended with $status, but the guest did not hand back its files." ;;
	esac
	exit "$status"
}
