# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # the callers read what is set here
#
# Debian's kernels, unpacked into the cache: image, modules, headers and kbuild
# of the newest build of a series, or of the newest kernel of all. A series stays
# at the version first found for as long as that is in the cache; what is newest is
# asked again after a day. Expects common.sh, packages.sh, cache.sh, apt.sh.

KERNEL_SERIES=(6.1 6.12 newest)
KERNEL_NEWEST_MINUTES=$((24 * 60))

kernel_suite() {
	case $1 in
	6.1) echo bookworm ;;
	6.12)
		if [[ $(host_suite) == bookworm ]]; then
			echo bookworm-backports
		else
			echo trixie
		fi
		;;
	newest) echo sid ;;
	esac
}

# kernel_series NAME: the series of that name; the newest kernel also has the name of its own.
kernel_series() {
	local version

	if [[ " ${KERNEL_SERIES[*]} " == *" $1 "* ]]; then
		echo "$1"
		return
	fi
	version=$(kernel_version newest) || exit
	[[ $version == "$1".* ]] ||
		die "There is no kernel '$1' here: choose one of ${KERNEL_SERIES[*]}; the newest is $version."
	echo newest
}

# Neither cloud nor rt flavours, debug symbols or unsigned images.
newest_kernel_version() {
	local series=$1 suite=$2 prefix

	prefix=linux-image-$series.
	if [[ $series == newest ]]; then
		prefix=linux-image-
	fi
	suite_apt "$suite" apt-cache pkgnames "$prefix" |
		sed -nE 's/^linux-image-([0-9.]+([+~.][a-z0-9.]+)?(-[0-9]+)?-amd64)$/\1/p' |
		sort -V | tail -n 1
}

# The packages of one kernel version: those which image and headers depend on
# and which carry its version in their name, and kbuild.
kernel_packages() {
	local suite=$1 version=$2 queue seen=" " package

	queue=("linux-image-$version" "linux-headers-$version")
	while ((${#queue[@]})); do
		package=${queue[0]}
		queue=("${queue[@]:1}")
		if [[ $seen == *" $package "* ]]; then
			continue
		fi
		seen+="$package "
		echo "$package"
		mapfile -t -O "${#queue[@]}" queue < <(suite_apt "$suite" apt-cache depends "$package" |
			sed -nE 's/^ *\|?(Pre)?Depends: *(linux-[^<> ]+)$/\2/p' |
			grep -e "^linux-kbuild-" -e "-${version%-amd64}" |
			grep -v -e "-unsigned" -e "-dbg" || true)
	done
}

# Builder of a kernel's cache entry.
kernel_unpack() {
	local series=$1 suite=$2 version=$3 dir=$4 packages image final

	say "fetching kernel $version"
	mapfile -t packages < <(kernel_packages "$suite" "$version")
	suite_unpack "$suite" "$dir" "${packages[@]}"

	# Newer releases put everything into /usr.
	if [[ ! -d $dir/lib/modules ]]; then
		ln -s usr/lib "$dir/lib"
	fi
	for image in "$dir/boot/vmlinuz-$version" "$dir/lib/modules/$version/vmlinuz"; do
		if [[ -e $image ]]; then
			ln "$image" "$dir/vmlinuz"
			break
		fi
	done
	[[ -e $dir/vmlinuz ]] || die "The packages of kernel $version hold no vmlinuz."

	# The headers expect to be in /usr/src.
	final=$CACHE_DIR/$(kernel_entry_name "$series" "$version")
	sed -i "s|/usr/src/|$final/usr/src/|g" "$dir/usr/src/linux-headers-$version/Makefile"
	# With it, kbuild wants pahole, for type information that no test reads.
	rm -f "$dir/usr/src/linux-headers-$version/vmlinux"
	echo "$version" >"$dir/version"
	rm -rf "${dir:?}"/{usr/share,boot}
}

kernel_entry_name() {
	echo "kernel-$1-$(hash_words "$2" "$(hash_files "$DIEAWARE_TOP/scripts/lib/kernels.sh")")"
}

# kernel_is_cached SERIES: whether the version noted for it is there.
kernel_is_cached() {
	local note=$CACHE_DIR/kernel-$1.version

	[[ -s $note && -d $CACHE_DIR/$(kernel_entry_name "$1" "$(<"$note")") ]]
}

# Newest is what was newest within the last day, so that several runs test the same.
kernel_note_is_old() {
	[[ $1 == newest && -n $(find "$CACHE_DIR/kernel-$1.version" -mmin "+$KERNEL_NEWEST_MINUTES") ]]
}

kernel_ask_archive() {
	local series=$1 suite version

	suite=$(kernel_suite "$series")
	need_groups fetch
	suite_update "$suite"
	version=$(newest_kernel_version "$series" "$suite")
	[[ -n $version ]] || die "The mirror has no kernel $series in $suite."
	echo "$version"
}

# kernel_version SERIES: print it. A version that is not in the cache may not be in the archive any
# more either, so it is asked for again.
kernel_version() {
	local note=$CACHE_DIR/kernel-$1.version version

	if ! kernel_is_cached "$1"; then
		version=$(kernel_ask_archive "$1") || exit
	elif kernel_note_is_old "$1"; then
		version=$(kernel_ask_archive "$1") || version=$(<"$note")
	fi
	if [[ -n ${version:-} ]]; then
		echo "$version" >"$note.$BASHPID"
		mv "$note.$BASHPID" "$note"
	fi
	cat "$note"
}

# kernel_need NAME: set KERNEL_DIR, KERNEL_VERSION, KERNEL_IMAGE, KERNEL_HEADERS,
# KERNEL_ARCH and KERNEL_KUNIT; fetch the kernel when it is not there.
kernel_need() {
	local series suite name

	series=$(kernel_series "$1")
	suite=$(kernel_suite "$series")
	KERNEL_VERSION=$(kernel_version "$series")
	name=$(kernel_entry_name "$series" "$KERNEL_VERSION")
	if [[ ! -d $CACHE_DIR/$name ]]; then
		need_groups fetch
		suite_update "$suite"
	fi
	cache_get "${name%-*}" "${name##*-}" kernel_unpack "$series" "$suite" "$KERNEL_VERSION"
	KERNEL_DIR=$CACHE_ENTRY
	KERNEL_IMAGE=$KERNEL_DIR/vmlinuz
	KERNEL_HEADERS=$KERNEL_DIR/usr/src/linux-headers-$KERNEL_VERSION
	KERNEL_ARCH=x86
	KERNEL_KUNIT=no
}
