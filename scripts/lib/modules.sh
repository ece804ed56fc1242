# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The project's own modules, built for one of the stock kernels out of a copy
# of the sources in the cache: the checkout stays clean. Expects common.sh,
# packages.sh, cache.sh, apt.sh, kernels.sh, rootfs.sh.

OWN_SOURCES=(Kbuild include dm-dieaware nvmevirt-backend)

own_sources() {
	local part

	for part in "${OWN_SOURCES[@]}"; do
		if [[ -e $DIEAWARE_TOP/$part ]]; then
			echo "$part"
		fi
	done
}

own_sources_hash() {
	local parts

	mapfile -t parts < <(own_sources)
	(cd "$DIEAWARE_TOP" && hash_files "${parts[@]}")
}

# The compiler that built the kernel, as its headers name it.
kernel_compiler() {
	sed -nE 's/^CC = .*(gcc-[0-9]+)$/\1/p' "$KERNEL_HEADERS/.kernelvariables"
}

# own_modules_make TREE ARGUMENT...: run kbuild on that copy of the sources.
own_modules_make() {
	local tree=$1
	shift

	nice -n 10 make -C "$KERNEL_HEADERS" -j2 M="$tree" W=1 "$@" modules
}

# A copy of the sources; a folder without a Kbuild is not there yet.
own_sources_copy() {
	local tree=$1 parts folder

	mkdir -p "$tree"
	mapfile -t parts < <(own_sources)
	(cd "$DIEAWARE_TOP" && cp -r --parents "${parts[@]}" "$tree/")
	for folder in dm-dieaware nvmevirt-backend; do
		if [[ ! -e $tree/$folder/Kbuild ]]; then
			mkdir -p "$tree/$folder"
			: >"$tree/$folder/Kbuild"
		fi
	done
	[[ -e $tree/Kbuild ]] || echo "obj-m += dm-dieaware/ nvmevirt-backend/" >"$tree/Kbuild"
}

# Builder: DIR/*.ko, DIR/build.log, and DIR/modules.cpio with a module index
# over the stock modules and ours.
own_modules_build() {
	local series=$1 dir=$2 tree extra file index

	tree=$dir/tree
	own_sources_copy "$tree"
	say "building the modules for kernel $KERNEL_VERSION"
	if ! own_modules_make "$tree" >"$dir/build.log" 2>&1; then
		grep -E 'error|warning|Error|\*\*\*' "$dir/build.log" | head -n 60 >&2 || true
		die "The modules do not build for kernel $series."
	fi
	grep -E 'warning:' "$dir/build.log" >&2 || true

	index=$dir/index/usr/lib/modules/$KERNEL_VERSION
	extra=$index/extra
	mkdir -p "${index%/*}"
	cp -al "$STOCK_MODULES_DIR/tree/usr/lib/modules/$KERNEL_VERSION" "${index%/*}/"
	mkdir -p "$extra"
	while read -r file; do
		cp "$file" "$dir/"
		cp "$file" "$extra/"
		strip --strip-debug "$extra/${file##*/}"
	done < <(find "$tree" -name '*.ko')
	# depmod writes through hard links, so take ours away first.
	rm -f "$index"/modules.{alias,alias.bin,dep,dep.bin,softdep,symbols,symbols.bin,devname,builtin.bin,builtin.alias.bin,weakdep}
	depmod -b "$dir/index/usr" "$KERNEL_VERSION"
	rm -rf "$index/kernel"
	pack_cpio "$dir/index" >"$dir/modules.cpio"
	rm -rf "$dir/index" "$tree"
}

# own_modules_need SERIES: set OWN_MODULES_DIR. Wants kernel_need and
# stock_modules_need done.
own_modules_need() {
	local series=$1 key name

	key=$(hash_words "$STOCK_MODULES_DIR" "$(own_sources_hash)" \
		"$(hash_files "$DIEAWARE_TOP/scripts/lib/modules.sh")")
	name=modules-$KERNEL_VERSION
	if [[ ! -d $CACHE_DIR/$name-$key ]]; then
		need_groups modules
		need_packages "$(kernel_compiler)"
	fi
	cache_get "$name" "$key" own_modules_build "$series"
	OWN_MODULES_DIR=$CACHE_ENTRY
}
