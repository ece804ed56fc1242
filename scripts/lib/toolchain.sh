# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Building modules with the tools a kernel asks for. Where the machine's release
# has that compiler it is used. Where not (sid's kernels on a stable machine:
# compiler, and an objtool linked with a newer C library), the tools are
# unpacked from the kernel's own suite and run in a chroot which sees the cache
# under its usual name. Expects common.sh, packages.sh, cache.sh, apt.sh,
# kernels.sh.

# The compiler that built the kernel, as its headers name it; nothing for a kernel built here.
kernel_compiler() {
	if [[ -e $KERNEL_HEADERS/.kernelvariables ]]; then
		sed -nE 's/^CC = .*(gcc-[0-9]+)$/\1/p' "$KERNEL_HEADERS/.kernelvariables"
	fi
}

# Builder.
toolchain_unpack() {
	local suite=$1 compiler=$2 dir=$3 mirror

	say "fetching $compiler and its friends from $suite"
	mirror=$(debian_mirror)
	quietly as_root mmdebstrap --variant=extract --mode=root \
		--include="$compiler-for-host,$compiler,ccache,make,libc6-dev,libelf1t64,base-files,bash,dash,coreutils,grep,sed,mawk,findutils,diffutils,sparse,perl-base,xz-utils,kmod,bc" \
		--aptopt='APT::Install-Recommends "false"' \
		--aptopt='APT::Sandbox::User "root"' --aptopt="$(host_apt_settings)" \
		"$suite" "$dir/root" "$mirror" ||
		die "The tools of $suite could not be unpacked: see the lines above."
	as_root ln -sf mawk "$dir/root/usr/bin/awk"
}

# toolchain_need NAME: set TOOLCHAIN to the chroot, or to nothing. Wants kernel_need done.
toolchain_need() {
	local series compiler

	TOOLCHAIN=
	if is_debug_kernel "$1"; then
		# The machine's own compiler has built it.
		return
	fi
	series=$(kernel_series "$1")
	compiler=$(kernel_compiler)
	if [[ $series != newest ]]; then
		need_packages "$compiler"
		return
	fi
	need_groups fetch rootfs
	cache_get toolchain "$(hash_words "$compiler" "$KERNEL_VERSION" \
		"$(hash_files "$DIEAWARE_TOP/scripts/lib/toolchain.sh")")" \
		toolchain_unpack "$(kernel_suite "$series")" "$compiler"
	TOOLCHAIN=$CACHE_ENTRY/root
}

# toolchain_run COMMAND...: there if there is one, otherwise here.
toolchain_run() {
	if [[ -z $TOOLCHAIN ]]; then
		"$@"
		return
	fi
	# shellcheck disable=SC2016
	as_root unshare --mount bash -c '
		set -e
		root=$1 cache=$2
		shift 2
		mkdir -p "$root$cache" "$root/dev" "$root/proc"
		mount --rbind "$cache" "$root$cache"
		mount --rbind /dev "$root/dev"
		mount --rbind /proc "$root/proc"
		exec chroot "$root" env -i PATH=/usr/bin HOME=/ LC_ALL=C "$@"' \
		bash "$TOOLCHAIN" "$CACHE_DIR" "$@"
}
