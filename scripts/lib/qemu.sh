# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The emulated machine: its accelerator and its command line. RUN is the run's
# own directory. Expects common.sh, cache.sh, machine.sh.

# The emulator, with words that come before all others.
QEMU=(qemu-system-x86_64)

KVM_PROBE_SECONDS=${DIEAWARE_KVM_PROBE_SECONDS:-10}

# What is true until the next boot of this machine, as a file name.
host_note() {
	echo "$CACHE_DIR/$1-$(hash_words "$(uname -r)" "$(</proc/sys/kernel/random/boot_id)")"
}

# /dev/kvm may exist and yet hang every guest, so boot a kernel that finds no
# root filesystem: it reaches its panic only where KVM works.
kvm_works() {
	local note log

	[[ -r /dev/kvm && -w /dev/kvm ]] || return 1
	note=$(host_note kvm)
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

	note=$(host_note tsc)
	if [[ ! -s $note ]]; then
		python3 "$DIEAWARE_TOP/scripts/lib/tsc-khz.py" >"$note.$$"
		mv "$note.$$" "$note"
	fi
	cat "$note"
}

# qemu_arguments KERNEL INITRD SMP MEM VIRTUAL_TIME PARAMETERS: set QEMU_ARGS.
# The virtual-time settings are those under which runs repeat to 0.2 percent.
qemu_arguments() {
	local kernel=$1 initrd=$2 smp=$3 mem=$4 virtual_time=$5 parameters=$6
	local accel cpu append

	append="console=ttyS0 quiet nokaslr norandmaps mitigations=off tsc=reliable"
	append+=" panic=-1 rcupdate.rcu_cpu_stall_timeout=300 watchdog_thresh=60 $parameters"
	if ((virtual_time)); then
		accel=(-accel "tcg,thread=single" -icount "shift=0,sleep=off"
			-rtc "base=2026-01-01,clock=vm" -seed 1)
		cpu="max,-rdrand,-rdseed,-erms,-fsrm"
		append+=" loglevel=4"
	elif kvm_works "$kernel"; then
		accel=(-accel kvm)
		cpu="host"
		append+=" loglevel=5"
	else
		# With "single" one thread runs all of the guest's CPUs, in turns.
		accel=(-accel "tcg,thread=${DIEAWARE_TCG_THREAD:-multi}")
		# What QEMU is slow at: a "rep movsb" is done byte by byte, which kernel and C
		# library think is fast where erms says so; five levels of page tables; checksums
		# bit by bit, a tenth of all time (without pclmulqdq the driver for aes crashes);
		# and smap has kernel memory looked up once more around each system call's data.
		cpu="max,-rdrand,-rdseed,-erms,-la57,-smap,-sse4.2,-pclmulqdq,-aes,-vaes"
		# A guest that calibrates on a busy host gets a clock that runs
		# several times too fast.
		append+=" loglevel=5 tsc_early_khz=$(host_tsc_khz)"
		# The kernel's ciphers test themselves at each boot: 2 of 13 s of CPU time.
		append+=" cryptomgr.notests"
		# While it boots the kernel changes its own code, which QEMU's CPUs do not always
		# survive when another one runs it ("Oops: int3"). The others come in guest-init.
		append+=" maxcpus=1 noreplace-smp"
	fi
	QEMU_ARGS=(-M q35 "${accel[@]}" -cpu "$cpu" -smp "$smp" -m "$mem"
		-nodefaults -no-user-config -display none -no-reboot
		-kernel "$kernel" -initrd "$initrd" -append "$append"
		-chardev "file,id=console,path=$RUN/console" -serial chardev:console
		-serial chardev:job
		-chardev "file,id=control,path=$RUN/control" -device "pci-serial,chardev=control"
		-chardev "file,id=back,path=$RUN/back.tar"
		-device virtio-serial-pci -device "virtserialport,chardev=back,name=back")
}

machine_start() {
	machine_spawn "${QEMU[@]}" "${QEMU_ARGS[@]}" \
		-chardev "file,id=job,path=$RUN/output" </dev/null >"$RUN/messages" 2>&1
}

# Wait for the tar with dmesg and /out, and unpack it.
machine_receive() {
	local size begin=$SECONDS

	size=$(guest_told end)
	while (($(stat -c %s "$RUN/back.tar") < size)); do
		((SECONDS - begin < 60)) || die "The guest's files did not arrive completely."
		machine_alive || break
		sleep 0.05
	done
	mkdir -p "$RUN/back"
	tar --no-same-owner --warning=no-timestamp -C "$RUN/back" -xf "$RUN/back.tar" ||
		die "The guest's files arrived damaged."
}
