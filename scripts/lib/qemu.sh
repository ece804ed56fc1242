# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# One run of a virtual machine: the accelerator, the command line, and the
# watch over a machine until it is ready, done, broken or late. Expects
# common.sh and cache.sh. RUN is the run's own directory.

KVM_PROBE_SECONDS=${DIEAWARE_KVM_PROBE_SECONDS:-10}
BOOT_SECONDS=${DIEAWARE_BOOT_SECONDS:-180}

# /dev/kvm may exist and yet hang every guest, so boot a kernel that finds no
# root filesystem: it reaches its panic only where KVM works.
kvm_works() {
	local note log

	[[ -r /dev/kvm && -w /dev/kvm ]] || return 1
	note=$CACHE_DIR/kvm-$(hash_words "$(uname -r)" "$(</proc/sys/kernel/random/boot_id)")
	if [[ ! -e $note ]]; then
		log=$(mktemp "$CACHE_DIR/.kvm.XXXXXX")
		say "probing KVM (at most $KVM_PROBE_SECONDS seconds)"
		timeout -k 1 "$KVM_PROBE_SECONDS" qemu-system-x86_64 -M q35 -accel kvm -cpu host -m 512M \
			-nodefaults -no-user-config -display none -no-reboot -serial "file:$log" \
			-kernel "$1" -append "console=ttyS0 panic=-1" </dev/null >/dev/null 2>&1 || true
		if grep -aq 'Unable to mount root' "$log"; then
			echo yes >"$note"
		else
			echo no >"$note"
		fi
		rm -f "$log"
	fi
	[[ $(<"$note") == yes ]]
}

# The rate of the host's time stamp counter, measured once per boot.
host_tsc_khz() {
	local note

	note=$CACHE_DIR/tsc-$(hash_words "$(uname -r)" "$(</proc/sys/kernel/random/boot_id)")
	if [[ ! -s $note ]]; then
		python3 "$DIEAWARE_TOP/scripts/lib/tsc-khz.py" >"$note.$$"
		mv "$note.$$" "$note"
	fi
	cat "$note"
}

# qemu_arguments KERNEL INITRD SMP MEM VIRTUAL_TIME PARAMETERS: set QEMU_ARGS.
# The virtual-time settings are those under which runs repeat to 0.2 percent.
qemu_arguments() {
	local kernel=$1 initrd=$2 smp=$3 mem=$4 virtual_time=$5 extra=$6
	local accel cpu append

	append="console=ttyS0 quiet nokaslr norandmaps mitigations=off tsc=reliable"
	append+=" panic=-1 rcupdate.rcu_cpu_stall_timeout=300 watchdog_thresh=60 $extra"
	if ((virtual_time)); then
		accel=(-accel tcg,thread=single -icount "shift=0,sleep=off"
			-rtc "base=2026-01-01,clock=vm" -seed 1)
		cpu="max,-rdrand,-rdseed,-erms,-fsrm"
		append+=" loglevel=4"
	elif kvm_works "$kernel"; then
		accel=(-accel kvm)
		cpu="host"
		append+=" loglevel=5"
	else
		accel=(-accel "tcg,thread=multi")
		cpu="max,-rdrand,-rdseed"
		# A guest that calibrates on a busy host gets a clock that runs
		# several times too fast.
		append+=" loglevel=5 tsc_early_khz=$(host_tsc_khz)"
	fi
	QEMU_ARGS=(-M q35 "${accel[@]}" -cpu "$cpu" -smp "$smp" -m "$mem"
		-nodefaults -no-user-config -display none -no-reboot
		-kernel "$kernel" -initrd "$initrd" -append "$append"
		-chardev "file,id=console,path=$RUN/console" -serial chardev:console
		-serial chardev:job
		-chardev "file,id=control,path=$RUN/control" -device pci-serial,chardev=control
		-chardev "file,id=back,path=$RUN/back.tar"
		-device virtio-serial-pci -device virtserialport,chardev=back,name=back)
}

# Start the machine in the background; QEMU_PID is its process, which dies with
# this shell however this shell ends.
qemu_start() {
	: >"$RUN/console"
	: >"$RUN/control"
	: >"$RUN/job"
	setpriv --pdeathsig KILL qemu-system-x86_64 "${QEMU_ARGS[@]}" \
		-chardev "file,id=job,path=$RUN/job" </dev/null >"$RUN/qemu.log" 2>&1 &
	QEMU_PID=$!
}

qemu_alive() {
	kill -0 "$QEMU_PID" 2>/dev/null
}

qemu_stop() {
	if [[ -n ${QEMU_PID:-} ]]; then
		kill -KILL "$QEMU_PID" 2>/dev/null || true
		wait "$QEMU_PID" 2>/dev/null || true
		QEMU_PID=
	fi
}

# The value the guest reported under that name, if it has.
guest_told() {
	sed -nE "s/^$1 ?([0-9.]*)\r?\$/\1/p" "$RUN/control" | tail -n 1
}

# qemu_wait NAME SECONDS: until the guest reports NAME. Fails when the machine
# ended first (1) or the time is over (2). SECONDS 0 waits for ever.
qemu_wait() {
	local name=$1 limit=$2 begin=$SECONDS

	while ! grep -aqE "^$name( |\$)" "$RUN/control"; do
		if ! qemu_alive; then
			grep -aqE "^$name( |\$)" "$RUN/control" && return 0
			return 1
		fi
		if ((limit && SECONDS - begin >= limit)); then
			return 2
		fi
		sleep 0.05
	done
}

# What of the guest's kernel messages since the job began means a bug there.
KERNEL_TROUBLE='BUG:|kernel BUG at|Oops:|Kernel panic|general protection fault'
KERNEL_TROUBLE+='|WARNING: CPU|WARNING: .*(possible|inconsistent|bad unlock|suspicious|held|refcount)'
KERNEL_TROUBLE+='|INFO: task .* blocked|INFO: possible|INFO: trying to register|KASAN:|UBSAN:|kmemleak: [0-9]+ new'
KERNEL_TROUBLE+='|refcount_t: |list_(add|del) corruption|sleeping function called|scheduling while atomic'

# Print the trouble with the lines around it; fails when there is none.
kernel_trouble() {
	local log=$1

	sed -n '/lab: the job begins/,$p' "$log" | grep -aE -m 1 -A 60 -- "$KERNEL_TROUBLE" |
		tr -d '\r'
}
