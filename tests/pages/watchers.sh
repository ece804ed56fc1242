# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # the callers read what is set here
#
# Debian's programs that watch a machine, as a folder that "scripts/lab --root" lays over the
# guest's root: bpftrace brings a compiler, which no other test should have to boot with. Expects
# scripts/lib/load.sh. Sourced.

WATCHERS=(bpftrace trace-cmd prometheus-node-exporter)

# watchers_files FROM ROOT: these programs, and the libraries below FROM that ROOT has not, as paths
# below FROM.
watchers_files() {
	local from=$1 root=$2 path

	printf 'usr/bin/%s\n' "${WATCHERS[@]}"
	(cd "$from" && find usr/lib -maxdepth 3 -name '*.so*' ! -path '*/gconv/*' ! -name 'libperl.*') |
		while read -r path; do
			if [[ ! -e $root/$path && ! -L $root/$path ]]; then
				printf '%s\n' "$path"
			fi
		done
}

# Builder: DIR/tree.
watchers_build() {
	local suite=$1 root=$2 dir=$3 packages

	packages=$(printf '%s\n' "${WATCHERS[@]}" | paste -sd,)
	say "fetching $packages (once, some 80 MB)"
	quietly as_root mmdebstrap --variant=extract --mode=root --include="$packages" \
		--aptopt='APT::Install-Recommends "false"' --aptopt='APT::Sandbox::User "root"' \
		--aptopt="$(host_apt_settings)" "$suite" "$dir/all" "$(debian_mirror)" ||
		die "These packages could not be unpacked: $packages."
	as_root chown -R --no-dereference "$(id -u):$(id -g)" "$dir/all"
	# Packages of Debian 12 have files in /lib, which is a link in the guest.
	if [[ -d $dir/all/lib && ! -L $dir/all/lib ]]; then
		cp -a "$dir/all/lib/." "$dir/all/usr/lib/"
	fi
	mkdir "$dir/tree"
	watchers_files "$dir/all" "$root" | (cd "$dir/all" && cpio --quiet -pdm "$dir/tree")
	rm -rf "$dir/all"
}

# watchers_need: set WATCHERS_TREE.
watchers_need() {
	local suite key

	suite=$(host_suite)
	rootfs_need plain
	key=$(hash_words "$suite" "$ROOTFS_DIR" "${WATCHERS[@]}" \
		"$(declare -f watchers_files watchers_build)")
	if [[ ! -d $CACHE_DIR/watchers-$key ]]; then
		need_groups fetch rootfs
	fi
	cache_get watchers "$key" watchers_build "$suite" "$ROOTFS_DIR/root"
	WATCHERS_TREE=$CACHE_ENTRY/tree
}
