#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The Debian packages: built, installed with dkms where a Debian has headers of two kernels,
# used in a machine with each of these, and purged. Prints ok / not ok lines and a closing
# line. Takes some 2 minutes.

set -euo pipefail

# shellcheck source=tests/vm/lib.sh
. "$(dirname -- "$(readlink -f -- "$0")")/lib.sh"
# shellcheck source=scripts/lib/load.sh
. "$top/scripts/lib/load.sh"

SERIES=(6.1 6.12)
PACKAGE=$(sed -nE '1s/.*\((.*)\).*/\1/p' "$top/debian/changelog")
MODULES=(dm-dieaware nvmevirt-backend)
root=$work/root

# Builder: DIR/root, a Debian that has these compilers and dkms, but no kernel.
debian_build() {
	local dir=${*: -1} packages

	packages=$(printf '%s\n' dkms make ccache libc6-dev libelf1 kmod udev dmsetup "${@:1:$#-1}" | sort -u | paste -sd,)
	say "building a Debian with dkms (once, about a minute)"
	quietly as_root mmdebstrap --variant=minbase --include="$packages" \
		--aptopt='APT::Install-Recommends "false"' --aptopt='APT::Sandbox::User "root"' \
		--aptopt="$(host_apt_settings)" --dpkgopt=force-unsafe-io \
		"$(host_suite)" "$dir/root" "$(debian_mirror)" ||
		die "The Debian could not be built: see the lines above."
}

# The headers stay in the cache, which the root sees under its usual name.
add_kernel() {
	local folder=$root/lib/modules/$KERNEL_VERSION

	mkdir -p "$folder"
	ln -s "$KERNEL_HEADERS" "$folder/build"
	touch "$folder"/modules.{order,builtin,builtin.modinfo}
}

debian_need() {
	local series compilers=() headers=()

	need_groups base fetch rootfs modules
	for series in "${SERIES[@]}"; do
		kernel_need "$series"
		compilers+=("$(kernel_compiler)")
		headers+=("$KERNEL_HEADERS")
	done
	cache_get debian-dkms "$(hash_words "$(host_suite)" "${compilers[@]}" \
		"$(declare -f debian_build)")" debian_build "${compilers[@]}"
	cp -a "$CACHE_ENTRY/root" "$root"
	mkdir -p "$root$CACHE_DIR"
	for series in "${SERIES[@]}"; do
		kernel_need "$series"
		add_kernel
	done
	echo 'autoinstall_all_kernels="yes"' >>"$root/etc/dkms/framework.conf"
}

# inside COMMAND...: in that Debian, whose compilers need not do again what they have done in another check.
inside() {
	TOOLCHAIN=$root toolchain_run env PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		DEBIAN_KERNEL_USE_CCACHE=1 "CCACHE_DIR=$CCACHE_OWN_DIR" \
		DEBIAN_FRONTEND=noninteractive "$@" >"$work/log" 2>&1 && return
	tail -n 40 "$work/log" | sed 's/^/# /'
	return 1
}

files_of_root() {
	(
		cd "$root"
		find . \( -path ./proc -o -path ./dev -o -path ./sys -o -path ./var/log \
			-o -path ./var/lib/dpkg -o -path ./var/cache -o -path ./tmp \
			-o -path ".$CACHE_DIR" \) -prune -o ! -name 'modules.*' -print | sort
	) >"$1"
}

# The folder has something in it that is not the project's.
build_packages() {
	mkdir "$work/deb"
	echo own >"$work/deb/letter"
	"$top/scripts/deb" --out "$work/deb" >"$work/log" 2>&1 || {
		sed 's/^/# /' "$work/log"
		return 1
	}
}

install_packages() {
	mkdir -p "$root/packages"
	cp "$work"/deb/*.deb "$root/packages/"
	inside sh -c 'dpkg -i /packages/*.deb'
}

# make_refuses TARGET PACKAGE: since that is installed
make_refuses() {
	! inside make -C /source "$1" >"$work/said" && grep -q "The package $2 is installed" "$work/said"
}

# dpkg would not know that files are gone, or are others. What was put beside them goes.
make_is_refused() {
	local status=0 beside=$root/lib/modules/$KERNEL_VERSION/updates/dm-dieaware.ko

	mkdir -p "$root/source/userspace"
	cp -r "$top"/{Makefile,scripts,boot,tools} "$root/source/"
	cp -r "$top/userspace/man" "$root/source/userspace/"
	touch "$beside"
	make_refuses install-modules dieaware-dkms && make_refuses install dieaware-tools &&
		make_refuses uninstall dieaware-tools && [[ -x $root/usr/sbin/dieaware && ! -e $beside ]] || status=1
	rm -rf "$root/source" "$beside"
	return "$status"
}

# None is enabled or started by a script of the package: who wants one enables it.
units_are_left_alone() {
	dpkg-deb --info "$work"/deb/dieaware-tools_*.deb postinst >"$work/log" 2>&1 &&
		! grep -vE '^[[:blank:]]*#' "$work/log" | grep -E 'enable|preset|deb-systemd|systemctl (re)?start'
}

# A new module, or a new tool, goes into the initramfs of a machine that boots with it.
initramfs_is_made_again() {
	local package

	for package in dieaware-dkms dieaware-tools; do
		dpkg-deb --info "$work/deb/${package}"_*.deb triggers | grep -qx 'activate-noawait update-initramfs' || return 1
	done
}

# The suites are not for a stock kernel, and nobody would find them.
sources_are_lean() {
	local source

	for source in "$root"/usr/src/{dieaware,nvmevirt-backend}-[0-9]*; do
		! find "$source" -path '*/tests/*' | grep . || return 1
		grep -qx "PACKAGE_VERSION=\"${source##*-}\"" "$source/dkms.conf" || return 1
	done
}

# has_modules VERSION FOLDER
has_modules() {
	local module file

	for module in "${MODULES[@]}"; do
		file=$root/lib/modules/$1/$2/$module.ko
		[[ $(modinfo -F vermagic "$file") == "$1 "* ]] || return 1
	done
}

# A kernel for which the virtual SSD does not compile gets the target: data in log mode need it.
target_comes_alone() {
	local version=$1 modules=$root/lib/modules/$1/updates/dkms source

	inside dkms uninstall "dieaware/$PACKAGE" -k "$version" &&
		inside dkms remove "nvmevirt-backend/$PACKAGE" -k "$version" || return 1
	source=$(echo "$root"/usr/src/nvmevirt-backend-*/nvmevirt-backend/main.c)
	cp "$source" "$work/main.c"
	echo '#error no such kernel' >>"$source"
	# It fails, for one of the two.
	inside dkms autoinstall -k "$version" >/dev/null || true
	cp "$work/main.c" "$source"
	[[ -e $modules/dm-dieaware.ko && ! -e $modules/nvmevirt-backend.ko ]] &&
		inside dkms autoinstall -k "$version" && has_modules "$version" updates/dkms
}

# Older kernels are left out: nothing is compiled, and it is said why. (dkms of Debian 12 then ends as
# if something had failed, the one of Debian 13 does not.)
old_kernel_is_left_out() {
	local folder=$root/lib/modules/5.10.0-1-amd64 status=0

	mkdir "$folder"
	ln -s "$KERNEL_HEADERS" "$folder/build"
	inside dkms autoinstall -k 5.10.0-1-amd64 >/dev/null || true
	(($(grep -c BUILD_EXCLUSIVE "$work/log") == 2)) && [[ ! -e $folder/updates ]] || status=1
	rm -r "$folder"
	return "$status"
}

# What the packages brought, and what dkms made of it.
machine_tree() {
	local tree=$1 version=$2 deb

	for deb in "$work"/deb/*.deb; do
		dpkg-deb -x "$deb" "$tree"
	done
	rm -rf "$tree/usr/src" "$tree/usr/share/doc"
	mkdir -p "$tree/usr/lib/modules/$version/updates"
	cp -r "$root/lib/modules/$version/updates/dkms" "$tree/usr/lib/modules/$version/updates/"
}

# use_in SERIES OPTION...: in a machine that has nothing else of the project.
use_in() {
	local series=$1 tree=$work/tree-$1 status=0
	shift

	kernel_need "$series"
	machine_tree "$tree" "$KERNEL_VERSION"
	"$top/scripts/lab" --kernel "$series" --no-modules --root "$tree" "$@" \
		--copy "$top/tests/vm/package" -- bash package/use.sh >"$work/log" 2>&1 || status=$?
	((status == 0)) || tail -n 40 "$work/log" | sed 's/^/# /'
	return "$status"
}

purge_packages() {
	inside dpkg --purge dieaware-dkms nvmevirt-backend-dkms dieaware-tools dieaware-doc
}

nothing_is_left() {
	rm -rf "$root/packages"
	files_of_root "$work/after"
	diff "$work/before" "$work/after" | sed 's/^/# /'
	cmp -s "$work/before" "$work/after"
}

# install_modules VERSION: without packages
install_modules() {
	mkdir -p "$root/source"
	cp -r "$top"/{Kbuild,include,dm-dieaware,nvmevirt-backend,scripts} "$root/source/"
	inside /source/scripts/install-modules "$1" && has_modules "$1" updates &&
		grep -q "^updates/dm-dieaware.ko:" "$root/lib/modules/$1/modules.dep"
}

modules_go() {
	local folder=$root/lib/modules/$1 left

	inside /source/scripts/install-modules --remove && left=$(find "$folder" -path '*/updates/*' -name '*.ko') &&
		[[ -z $left && -e $folder/modules.dep ]] && ! grep -q dieaware "$folder/modules.dep"
}

# The rest needs no Debian: what "make install" puts into a folder, "make uninstall" takes out of it.
tool_goes() {
	"$top/scripts/install" "$work/installed" && [[ -x $work/installed/usr/sbin/dieaware ]] &&
		"$top/scripts/install" --remove "$work/installed" && [[ -z $(find "$work/installed" ! -type d -o -name '*dieaware*') ]]
}

says_what_is_missing() {
	! inside /source/scripts/install-modules 0.1 >"$work/said" &&
		grep -q "There are no headers of the kernel 0.1: install them" "$work/said"
}

debian_need
files_of_root "$work/before"
expect "the packages are built, and lintian finds nothing" build_packages
expect "what was in the folder is still there" grep -qx own "$work/deb/letter"
expect "they can be installed" install_packages
expect "make neither adds to their files nor takes them, and takes what is beside them" make_is_refused
expect "no unit is enabled or started by that" units_are_left_alone
expect "the initramfs is made again" initramfs_is_made_again
expect "the sources for dkms hold no tests" sources_are_lean
for series in "${SERIES[@]}"; do
	kernel_need "$series"
	expect "dkms has built both modules for $KERNEL_VERSION" has_modules "$KERNEL_VERSION" updates/dkms
done
expect "where the virtual SSD does not compile there is the target" target_comes_alone "$KERNEL_VERSION"
expect "kernels before 6.1 are left out" old_kernel_is_left_out
expect "a machine with 6.1 uses them" use_in 6.1
# One CPU: "dieaware defragd" has the kernel trace, see tests/lab/248-tool-pick.sh.
expect "a machine with 6.12 and systemd uses them, and has files mended by the timer" use_in 6.12 --systemd --smp 1
expect "they can be purged" purge_packages
expect "nothing of them is left" nothing_is_left
expect "without packages the modules are built and installed for $KERNEL_VERSION" install_modules "$KERNEL_VERSION"
expect "and can be removed again" modules_go "$KERNEL_VERSION"
expect "but they are not built without headers" says_what_is_missing
expect "so can the tool" tool_goes
conclude
