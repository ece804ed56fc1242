# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # the callers read what is set here
#
# The source of the kernels that are built here: the archive, and what building
# one of them has in common with building the other. Expects all that load.sh
# has before it.

SOURCE_SERIES=6.12

# The newest source package in a suite's lists.
newest_source_series() {
	suite_apt "$1" apt-cache pkgnames linux-source- |
		sed -nE 's/^linux-source-([0-9.]+)$/\1/p' | sort -V | tail -n 1
}

# Builder: the source package's archive, DIR/linux.tar.xz.
linux_source_fetch() {
	local series=$1 suite=$2 dir=$3

	if [[ $series == newest ]]; then
		series=$(newest_source_series "$suite")
		[[ -n $series ]] || die "The mirror has no source of a kernel in $suite."
	fi
	say "fetching the source of kernel $series (150 MB)"
	suite_unpack "$suite" "$dir/unpacked" "linux-source-$series"
	mv "$dir/unpacked/usr/src/linux-source-$series.tar.xz" "$dir/linux.tar.xz"
	rm -rf "$dir/unpacked"
}

# linux_source_need SERIES: set LINUX_SOURCE to the archive. "newest" is what was newest when it
# was fetched: a kernel takes too long to build for a new one every few days.
linux_source_need() {
	local series=$1 suite key

	suite=$(kernel_suite "$series")
	key=$(hash_words "$suite" "$series")
	if [[ ! -d $CACHE_DIR/linux-source-$key ]]; then
		need_groups fetch
		suite_update "$suite"
	fi
	cache_get linux-source "$key" linux_source_fetch "$series" "$suite"
	LINUX_SOURCE=$CACHE_ENTRY/linux.tar.xz
}

linux_source_unpack() {
	mkdir -p "$1"
	tar -C "$1" --strip-components=1 -xJf "$LINUX_SOURCE"
}

# Every line of the fragment must have survived; one that Kconfig dropped would
# silently test less.
kernel_config_check() {
	local wanted=$1 got=$2 line missing=0

	while read -r line; do
		case $line in
		CONFIG_*=* | "# CONFIG_"*" is not set")
			if ! grep -qxF -- "$line" "$got"; then
				# "not set" and absent are the same.
				if [[ $line == "# "* ]] && ! grep -q "^${line:2:-11}=" "$got"; then
					continue
				fi
				say "the kernel has no '$line'"
				missing=1
			fi
			;;
		esac
	done <"$wanted"
	((!missing)) || die "The configuration asks for what this kernel cannot do: see the lines above."
}

# kernel_tree_prune TREE ARCH...: remove what building modules later does not
# need, 1.5 GB.
kernel_tree_prune() {
	local tree=$1 keep=() arch
	shift

	for arch; do
		keep+=(! -name "$arch")
	done
	find "$tree" -mindepth 1 -maxdepth 1 -type d \
		! -name arch ! -name include ! -name scripts ! -name tools -exec rm -rf {} +
	find "$tree/arch" -mindepth 1 -maxdepth 1 -type d "${keep[@]}" -exec rm -rf {} +
	find "$tree/tools" -mindepth 1 -maxdepth 1 -type d ! -name include ! -name build \
		! -name scripts ! -name objtool -exec rm -rf {} +
	find "$tree" -name '*.o' ! -path '*/scripts/*' -delete
	find "$tree" \( -name '*.a' -o -name 'vmlinux*' \) ! -name '*.lds*' -type f -delete
}
