# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # the callers read what is set here
#
# Two kernels for the emulated machine, of Debian's source: "debug", with checks for memory, locks
# and leaks and with faults on demand, and "kcsan", which looks for data races. Expects common.sh,
# packages.sh, cache.sh, apt.sh, kernels.sh, source.sh.

# What is above our modules need not be instrumented for KASAN: that halves the
# work of a CPU in a filesystem, and makes compiling these shorter.
spare_filesystems() {
	local tree=$1 name

	for name in ext4 jbd2 xfs btrfs f2fs; do
		echo "KASAN_SANITIZE := n" >>"$tree/fs/$name/Makefile"
	done
}

# Of the kernel's own parts only those are watched for races that ours meet: the others have theirs,
# known to those who wrote them, and watching them would take most of the time.
watch_neighbours() {
	local tree=$1 watched="block block/% drivers/md drivers/md/% drivers/nvme/%"

	# shellcheck disable=SC2016 # make's variables
	sed -i 's@\$(KCSAN_SANITIZE)\$(is-kernel-object)@$(KCSAN_SANITIZE)$(if $(KBUILD_EXTMOD)$(filter '"$watched"',$(obj)),$(is-kernel-object))@' \
		"$tree/scripts/Makefile.lib"
	grep -q "filter $watched" "$tree/scripts/Makefile.lib" ||
		die "This kernel's Makefile.lib says in another way what KCSAN watches."
}

# debug_watches FLAVOUR: the function that says which parts of the kernel it looks at
debug_watches() {
	[[ $1 == debug ]] && echo spare_filesystems || echo watch_neighbours
}

# debug_config FLAVOUR: its whole configuration
debug_config() {
	local folder=$DIEAWARE_TOP/tests/vm replaces names

	if [[ $1 == debug ]]; then
		cat "$folder/debug.config"
		return
	fi
	replaces=$(sed -n 's/^# REPLACES: //p' "$folder/$1.config")
	names=$(sed -nE 's/^(# )?(CONFIG_[A-Z0-9_]+)(=.*| is not set)$/\2/p' "$folder/$1.config" | paste -sd'|')
	grep -vE "$replaces|^(# )?($names)[= ]" "$folder/debug.config"
	cat "$folder/$1.config"
}

# Builder: DIR/vmlinuz, DIR/lib/modules, DIR/tree (its source and configuration,
# for building modules) and DIR/version.
debug_build() {
	local flavour=$1 dir=$2 tree

	tree=$dir/tree
	say "building the $flavour kernel (once, about eight minutes on two idle cores)"
	linux_source_unpack "$tree"
	debug_config "$flavour" >"$tree/lab.config"
	"$(debug_watches "$flavour")" "$tree"
	(
		cd "$tree" || exit 1
		quietly make KCONFIG_ALLCONFIG=lab.config allnoconfig
		kernel_config_check lab.config .config
		quietly make -j2 bzImage modules
		quietly make INSTALL_MOD_PATH="$dir" modules_install
	)
	cp "$tree/arch/x86/boot/bzImage" "$dir/vmlinuz"
	cp "$tree/include/config/kernel.release" "$dir/version"
	rm -f "$dir"/lib/modules/*/{build,source}
	kernel_tree_prune "$tree" x86
}

# debug_need FLAVOUR: set what kernel_need sets.
debug_need() {
	local flavour=$1 key configs=("$DIEAWARE_TOP/tests/vm/debug.config")

	if [[ $flavour != debug ]]; then
		configs+=("$DIEAWARE_TOP/tests/vm/$flavour.config")
	fi
	linux_source_need "$SOURCE_SERIES"
	key=$(hash_words "$LINUX_SOURCE" "$(hash_files "${configs[@]}")" "$(declare -f "$(debug_watches "$flavour")")")
	if [[ ! -d $CACHE_DIR/kernel-$flavour-$key ]]; then
		need_groups kernel
	fi
	cache_get "kernel-$flavour" "$key" debug_build "$flavour"
	KERNEL_DIR=$CACHE_ENTRY
	KERNEL_VERSION=$(<"$KERNEL_DIR/version")
	KERNEL_IMAGE=$KERNEL_DIR/vmlinuz
	KERNEL_HEADERS=$KERNEL_DIR/tree
	KERNEL_ARCH=x86
	KERNEL_KUNIT=no
}

# is_debug_kernel NAME: whether it is built here
is_debug_kernel() {
	[[ $1 == debug || $1 == kcsan ]]
}

# lab_kernel_need NAME: kernel_need, for a series, "debug" or "kcsan".
lab_kernel_need() {
	if is_debug_kernel "$1"; then
		debug_need "$1"
	else
		kernel_need "$1"
	fi
}
