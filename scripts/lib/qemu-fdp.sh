# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # the callers read what is set here
#
# QEMU's own NVMe device with Flexible Data Placement, which it has from 8.0 on. Where the machine's
# QEMU is older, that of a newer Debian is unpacked into the cache and run with its own C library,
# libraries and firmware; for such runs only, since figures in virtual time depend on the emulator.
# Expects common.sh, packages.sh, cache.sh, apt.sh, qemu.sh.

FDP_QEMU_SUITE=trixie
FDP_QEMU_OLDEST=8
FDP_HANDLES=8

# Builder.
fdp_qemu_unpack() {
	local dir=$1 root=$1/root packages

	say "fetching the QEMU of $FDP_QEMU_SUITE"
	mapfile -t packages < <(suite_apt "$FDP_QEMU_SUITE" apt-get install -s qemu-system-x86 |
		sed -n 's/^Inst \([^ ]*\) .*/\1/p')
	((${#packages[@]})) || die "The mirror has no QEMU in $FDP_QEMU_SUITE."
	suite_unpack "$FDP_QEMU_SUITE" "$root" "${packages[@]}"
	mv "$root/usr/bin/qemu-system-x86_64" "$dir/"
	rm -rf "$root"/usr/share/{doc,locale,man,perl5} "${root:?}"/{usr/bin,usr/sbin,etc,var}
}

machine_qemu_version() {
	qemu-system-x86_64 --version | sed -n 's/^QEMU emulator version \([0-9]*\)\..*/\1/p'
}

# fdp_qemu_need: set QEMU to one that has FDP.
fdp_qemu_need() {
	local key root lib

	if (($(machine_qemu_version) >= FDP_QEMU_OLDEST)); then
		return
	fi
	key=$(hash_words "$FDP_QEMU_SUITE" "$(declare -f fdp_qemu_unpack)")
	if [[ ! -d $CACHE_DIR/qemu-fdp-$key ]]; then
		need_groups fetch
		suite_update "$FDP_QEMU_SUITE"
	fi
	cache_get qemu-fdp "$key" fdp_qemu_unpack
	root=$CACHE_ENTRY/root
	lib=$root/usr/lib/x86_64-linux-gnu
	QEMU=("$lib/ld-linux-x86-64.so.2" --library-path "$lib" "$CACHE_ENTRY/qemu-system-x86_64"
		-L "$root/usr/share/qemu" -L "$root/usr/share/seabios")
}

# fdp_disk NAME SIZE: add a sparse file of the run's, as a drive. What it holds need not last.
fdp_disk() {
	truncate -s "$2" "$RUN/$1.img"
	QEMU_ARGS+=(-blockdev "file,node-name=$1,filename=$RUN/$1.img,discard=unmap,cache.no-flush=on")
}

# fdp_namespace NAME SIZE NSID PROPERTIES: in the subsystem added last
fdp_namespace() {
	fdp_disk "$1" "$2"
	QEMU_ARGS+=(-device "nvme-ns,drive=$1,nsid=$3${4:+,$4}")
}

# fdp_subsystem SERIAL PROPERTIES: and its controller
fdp_subsystem() {
	QEMU_ARGS+=(-device "nvme-subsys,id=subsystem-$1$2" -device "nvme,subsys=subsystem-$1,serial=$1")
}

# fdp_arguments SIZE: controllers with namespaces of that size. In the lab, a device's serial number
# says which it is:
#   fdp     one reclaim group, 9 handles; namespace 1 has 8 of them, 2 has the first four of these as
#           well, 3 has the ninth, which is the controller's own
#   groups  four reclaim groups with two handles each
#   plain   without FDP
fdp_arguments() {
	local size=$1

	fdp_subsystem fdp ",fdp=on,fdp.nrg=1,fdp.nruh=$((FDP_HANDLES + 1))"
	fdp_namespace fdp1 "$size" 1 "fdp.ruhs=0-$((FDP_HANDLES - 1))"
	fdp_namespace fdp2 "$size" 2 "fdp.ruhs=0-$((FDP_HANDLES / 2 - 1))"
	fdp_namespace fdp3 "$size" 3 ""
	fdp_subsystem groups ",fdp=on,fdp.nrg=4,fdp.nruh=2"
	fdp_namespace groups1 "$size" 1 "fdp.ruhs=0-1"
	fdp_subsystem plain ""
	fdp_namespace plain1 "$size" 1 ""
}
