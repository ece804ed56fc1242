# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # the callers read what is set here
#
# The debug kernel for the emulated machine: Debian's source with checks for
# memory, locks and leaks, and with faults on demand. Expects common.sh,
# packages.sh, cache.sh, apt.sh, kernels.sh, source.sh.

# What is above our modules need not be instrumented for KASAN: that halves the
# work of a CPU in a filesystem, and makes compiling these shorter.
spare_filesystems() {
	local tree=$1 name

	for name in ext4 jbd2 xfs btrfs f2fs; do
		echo "KASAN_SANITIZE := n" >>"$tree/fs/$name/Makefile"
	done
}

# Builder: DIR/vmlinuz, DIR/lib/modules, DIR/tree (its source and configuration,
# for building modules) and DIR/version.
debug_build() {
	local config=$1 dir=$2 tree

	tree=$dir/tree
	say "building the debug kernel (once, about eight minutes on two idle cores)"
	linux_source_unpack "$tree"
	cp "$config" "$tree/lab.config"
	spare_filesystems "$tree"
	(
		cd "$tree" || exit 1
		quietly make KCONFIG_ALLCONFIG=lab.config allnoconfig
		kernel_config_check lab.config .config
		quietly nice -n 10 make -j2 bzImage modules
		quietly make INSTALL_MOD_PATH="$dir" modules_install
	)
	cp "$tree/arch/x86/boot/bzImage" "$dir/vmlinuz"
	cp "$tree/include/config/kernel.release" "$dir/version"
	rm -f "$dir"/lib/modules/*/{build,source}
	kernel_tree_prune "$tree" x86
}

# debug_need: set what kernel_need sets.
debug_need() {
	local config=$DIEAWARE_TOP/tests/vm/debug.config key

	linux_source_need
	key=$(hash_words "$LINUX_SOURCE" "$(hash_files "$config")" "$(declare -f spare_filesystems)")
	if [[ ! -d $CACHE_DIR/kernel-debug-$key ]]; then
		need_groups kernel
	fi
	cache_get kernel-debug "$key" debug_build "$config"
	KERNEL_DIR=$CACHE_ENTRY
	KERNEL_VERSION=$(<"$KERNEL_DIR/version")
	KERNEL_IMAGE=$KERNEL_DIR/vmlinuz
	KERNEL_HEADERS=$KERNEL_DIR/tree
	KERNEL_ARCH=x86
	KERNEL_KUNIT=no
}

# lab_kernel_need SERIES: kernel_need, for a series or "debug".
lab_kernel_need() {
	if [[ $1 == debug ]]; then
		debug_need
	else
		kernel_need "$1"
	fi
}
