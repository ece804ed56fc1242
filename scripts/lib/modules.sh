# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # the callers read what is set here
#
# The project's own modules, built for one of the stock kernels out of a copy
# of the sources in the cache: the checkout stays clean. Expects common.sh,
# packages.sh, cache.sh, apt.sh, kernels.sh, toolchain.sh, rootfs.sh.

OWN_MODULE_FOLDERS=(dm-dieaware nvmevirt-backend tests/rawhost)
# After a change, only the files that it touches are compiled, of each kernel's modules.
CCACHE_OWN_DIR=$CACHE_DIR/ccache
LOCK_COSTS_SOURCES=("$DIEAWARE_TOP"/bench/locks/lock-costs.{h,c})

# own_sources FOLDER...: the files these modules are made from. The suites
# count only for a kernel that can run them.
own_sources() {
	local part parts=() skip=(-path "*/tests/*")

	if [[ $KERNEL_KUNIT == yes ]]; then
		skip=(-false)
	fi
	for part in Kbuild include "$@"; do
		if [[ -e $DIEAWARE_TOP/$part ]]; then
			parts+=("$part")
		fi
	done
	(cd "$DIEAWARE_TOP" && find "${parts[@]}" "${skip[@]}" -o -type f -print)
}

own_sources_hash() {
	local parts

	mapfile -t parts < <(own_sources "$@")
	(cd "$DIEAWARE_TOP" && hash_files "${parts[@]}")
}

# own_sources_copy TREE FOLDER...: a copy for kbuild. A folder which is not
# wanted, or has no Kbuild, gets an empty one.
own_sources_copy() {
	local tree=$1 parts folder
	shift

	mkdir -p "$tree"
	mapfile -t parts < <(own_sources "$@")
	(cd "$DIEAWARE_TOP" && cp -r --parents "${parts[@]}" "$tree/")
	for folder in "${OWN_MODULE_FOLDERS[@]}"; do
		if [[ ! -e $tree/$folder/Kbuild ]]; then
			mkdir -p "$tree/$folder"
			: >"$tree/$folder/Kbuild"
		fi
	done
}

# own_modules_make TREE ARGUMENT...: run kbuild on that copy of the sources.
own_modules_make() {
	local tree=$1 compiler=()
	shift

	# Of a stock kernel, the headers say which compiler, and this that ccache stands before it.
	if ! kernel_compiler | grep -q .; then
		compiler=("CC=ccache gcc")
	fi
	toolchain_run env DEBIAN_KERNEL_USE_CCACHE=1 "CCACHE_DIR=$CCACHE_OWN_DIR" \
		make -C "$KERNEL_HEADERS" -j2 "ARCH=$KERNEL_ARCH" M="$tree" W=1 "${compiler[@]}" "$@" modules
}

# The compiler's findings, with the checkout's paths instead of the copy's.
own_modules_findings() {
	local log=$1 tree=$2

	sed "s|$tree/||g" "$log" |
		grep -vE 'Skipping BTF generation|pahole|compiler differs|was built by:|You are using:' |
		grep -E -A 8 '(error|warning|Error|undefined|WARNING|ERROR)[: ]|\*\*\*' | head -n 120
}

# lock_costs_add FOLDER: what counts in a copy of dm-dieaware what is done inside locks
lock_costs_add() {
	cp "${LOCK_COSTS_SOURCES[@]}" "$1/"
	cat >>"$1/Kbuild" <<'END'
dm-dieaware-y += lock-costs.o
ccflags-y += -include $(src)/lock-costs.h
END
}

# Builder: DIR/*.ko and DIR/build.log.
own_modules_build() {
	local folders=$1 check=$2 sources=$3 dir=$4 tree arguments=()

	need_groups modules
	# For each kernel one place, as ccache tells files by their paths as well, and one build at a time.
	tree=$CACHE_DIR/building/${KERNEL_DIR##*/}-$check
	mkdir -p "${tree%/*}"
	exec 8>"$CACHE_DIR/locks/building-${tree##*/}"
	flock 8
	rm -rf "$tree"
	# shellcheck disable=SC2086
	own_sources_copy "$tree" $folders
	# Another build may have been waited for.
	# shellcheck disable=SC2086
	[[ $(own_sources_hash $folders) == "$sources" ]] ||
		die "The modules' sources have changed before they were built: try again."
	case $check in
	check)
		# Debian's 7.2 headers lack the script with which kbuild looks whether
		# sparse works, and kbuild would quietly go on without it.
		arguments=(C=2 KBUILD_CHECKSRC=2 "KCFLAGS=-Werror" "CF=-Wsparse-error")
		;;
	lock-costs) lock_costs_add "$tree/dm-dieaware" ;;
	esac
	say "building the modules for kernel $KERNEL_VERSION"
	if ! own_modules_make "$tree" "${arguments[@]}" >"$dir/build.log" 2>&1; then
		own_modules_findings "$dir/build.log" "$tree" >&2 || true
		die "The modules do not build for kernel $KERNEL_VERSION."
	fi
	own_modules_findings "$dir/build.log" "$tree" >&2 || true
	find "$tree" -name '*.ko' -exec cp -t "$dir" {} +
	sed -i "s|$tree/||g" "$dir/build.log"
	rm -rf "$tree"
}

# own_modules_key CHECK SOURCES FOLDER...
own_modules_key() {
	local check=$1 sources=$2 checker=""
	shift 2

	# What a newer sparse finds an older one has passed. The other compilers come with the kernel's headers.
	if [[ $check == check ]]; then
		checker=$(toolchain_run sparse --version) || return
	fi
	hash_words "$KERNEL_DIR" "$check" "$checker" "$*" "$sources" \
		"$(hash_files "$DIEAWARE_TOP/scripts/lib/modules.sh" "${LOCK_COSTS_SOURCES[@]}")"
}

# own_modules_need CHECK FOLDER...: set OWN_MODULES_DIR. Wants kernel_need and
# toolchain_need done. CHECK is "check" for sparse and -Werror, "lock-costs" for
# a dm-dieaware that counts what it does inside locks, or "plain", which those that
# were checked are as well.
own_modules_need() {
	local check=$1 key sources
	shift

	sources=$(own_sources_hash "$@")
	if [[ $check == plain ]] && key=$(own_modules_key check "$sources" "$@" 2>/dev/null) &&
		[[ -d $CACHE_DIR/modules-$KERNEL_VERSION-$key ]]; then
		check=check
	fi
	key=$(own_modules_key "$check" "$sources" "$@")
	cache_get "modules-$KERNEL_VERSION" "$key" own_modules_build "$*" "$check" "$sources"
	OWN_MODULES_DIR=$CACHE_ENTRY
}

# Builder: a module index over the stock modules and ours, without the stock
# modules themselves, as DIR/tree and as DIR/modules.cpio.
own_modules_pack() {
	local modules=$1 dir=$2 index file

	index=$dir/tree/usr/lib/modules/$KERNEL_VERSION
	mkdir -p "${index%/*}"
	cp -al "$STOCK_MODULES_TREE/usr/lib/modules/$KERNEL_VERSION" "${index%/*}/"
	# depmod would write into the stock modules' index through these links.
	find "$index" -maxdepth 1 -type f ! -name modules.builtin ! -name modules.builtin.modinfo \
		! -name modules.order -delete
	mkdir -p "$index/extra"
	for file in "$modules"/*.ko; do
		if [[ -e $file ]]; then
			strip --strip-debug -o "$index/extra/${file##*/}" "$file"
		fi
	done
	depmod -b "$dir/tree/usr" "$KERNEL_VERSION"
	rm -rf "$index/kernel"
	pack_cpio "$dir/tree" >"$dir/modules.cpio"
}

# own_modules_packed: set OWN_MODULES_CPIO and OWN_MODULES_TREE; wants
# own_modules_need done, and stock_modules_need or uml_need.
own_modules_packed() {
	cache_get "packed-modules-$KERNEL_VERSION" \
		"$(hash_words "$OWN_MODULES_DIR" "$STOCK_MODULES_TREE")" \
		own_modules_pack "$OWN_MODULES_DIR"
	OWN_MODULES_CPIO=$CACHE_ENTRY/modules.cpio
	OWN_MODULES_TREE=$CACHE_ENTRY/tree
}
