# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # the callers read what is set here
#
# What the guest boots: a small Debian and a part of the kernel's modules, each
# as an uncompressed cpio archive (the emulated CPU unpacks slower than it
# copies). Expects common.sh, packages.sh, cache.sh, apt.sh, kernels.sh.

# The words of a list file without its comments.
list_words() {
	sed -e 's/#.*//' "$1" | tr -s ' \t\n' '\n' | sed '/^$/d'
}

# pack_cpio DIR [PATTERN]: DIR as a cpio archive, owned by root, to stdout.
pack_cpio() {
	(cd "$1" && find . -mindepth 1 | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0)
}

# Files which no test reads, and which would cost time at every boot.
rootfs_shrink() {
	local flavour=$1 root=$2 lib=$2/usr/lib/x86_64-linux-gnu

	rm -rf "$root"/var/{cache,lib/apt,lib/dpkg,log}/* "$root"/usr/share/{doc,man,locale,info,zoneinfo,bash-completion,i18n,zsh,common-licenses,lintian,pixmaps,gdb,keyrings} \
		"$root"/usr/lib/{apt,dpkg,udev/hwdb.d,udev/hwdb.bin} "$root"/usr/lib/python3*/{pydoc_data,idlelib,lib2to3,ensurepip,test} \
		"$lib"/{gconv,"libapt-"*} "$root"/usr/bin/{apt,dpkg,gpgv}*
	if [[ $flavour != suites ]]; then
		rm -rf "$root"/usr/share/{perl,perl5} "$lib"/{perl,perl5,"libperl.so"*} "$root"/usr/bin/perl5*
	fi
	if [[ $flavour != systemd ]]; then
		rm -rf "$root"/usr/lib/systemd
	fi
	find "$root/usr/lib" -name '*.pyc' -path '*/test*' -delete
	rm -rf "${root:?}"/{etc/apt,etc/dpkg,boot/*,media/*,srv/*,opt/*,dev/*}
	python3 "$DIEAWARE_TOP/scripts/lib/lean-fio.py" "$root" || die "fio's libraries could not be taken away."
}

rootfs_config() {
	local root=$1

	mkdir -p "$root"/{out,lab,root/lab} "$root/etc/lvm"
	echo lab >"$root/etc/hostname"
	printf '127.0.0.1 localhost lab\n::1 localhost\n' >"$root/etc/hosts"
	printf 'root:x:0:\n' | cat - "$root/etc/group" | awk -F: '!seen[$1]++' >"$root/etc/group.new"
	mv "$root/etc/group.new" "$root/etc/group"
}

# udev does not run, so nothing may wait for it.
rootfs_without_udev() {
	local root=$1

	printf 'activation {\n\tudev_sync = 0\n\tudev_rules = 0\n}\ndevices {\n\tobtain_device_list_from_udev = 0\n}\nglobal {\n\tuse_lvmpolld = 0\n}\n' \
		>"$root/etc/lvm/lvmlocal.conf"
}

# As a machine has it that was installed long ago.
rootfs_with_systemd() {
	local root=$1

	printf '%032x\n' 1 >"$root/etc/machine-id"
	: >"$root/etc/fstab"
	ln -sf /dev/null "$root/etc/systemd/system/systemd-firstboot.service"
	install -m 644 "$DIEAWARE_TOP/scripts/lib/guest.service" "$root/etc/systemd/system/lab.service"
	mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
	ln -sf ../lab.service "$root/etc/systemd/system/multi-user.target.wants/lab.service"
	ln -sf /usr/lib/systemd/system/multi-user.target "$root/etc/systemd/system/default.target"
}

# rootfs_with_users: those that foreign suites want to be there, nobody's accounts.
rootfs_with_users() {
	local root=$1 name number=3000

	for name in fsgqa 123456-fsgqa fsgqa2; do
		echo "$name:x:$number:$number::/tmp:/bin/bash" >>"$root/etc/passwd"
		echo "$name:x:$number:" >>"$root/etc/group"
		echo "$name:*:19000:0:99999:7:::" >>"$root/etc/shadow"
		number=$((number + 1))
	done
}

# rootfs_lists FLAVOUR: the lists of its packages.
rootfs_lists() {
	echo "$DIEAWARE_TOP/scripts/lib/guest-packages"
	if [[ $1 != plain ]]; then
		echo "$DIEAWARE_TOP/scripts/lib/guest-packages-$1"
	fi
}

# Builder: DIR/root is the tree, DIR/root.cpio the archive.
rootfs_build() {
	local suite=$1 flavour=$2 dir=$3 packages mirror

	say "building the guest's root filesystem (once, about a minute)"
	packages=$(rootfs_lists "$flavour" | while read -r list; do list_words "$list"; done | paste -sd,)
	mirror=$(debian_mirror)
	quietly as_root mmdebstrap --variant=minbase --include="$packages" \
		--aptopt='APT::Install-Recommends "false"' \
		--aptopt='APT::Sandbox::User "root"' --aptopt="$(host_apt_settings)" \
		--dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		"$suite" "$dir/root" "$mirror" ||
		die "The guest's root filesystem could not be built: see the lines above."
	as_root chown -R --no-dereference "$(id -u):$(id -g)" "$dir/root"
	rootfs_shrink "$flavour" "$dir/root"
	rootfs_config "$dir/root"
	if [[ $flavour == systemd ]]; then
		rootfs_with_systemd "$dir/root"
	else
		rootfs_without_udev "$dir/root"
	fi
	if [[ $flavour == suites ]]; then
		rootfs_with_users "$dir/root"
	fi
	pack_cpio "$dir/root" >"$dir/root.cpio"
}

# rootfs_need FLAVOUR: set ROOTFS_DIR. The flavour is plain, whose only service is
# guest-init, suites, which is that with what foreign suites call, or systemd, which boots like
# an installed machine.
rootfs_need() {
	local flavour=$1 lib=$DIEAWARE_TOP/scripts/lib suite key

	suite=$(host_suite)
	key=$(hash_words "$suite" "$(hash_files "$lib"/guest-packages* "$lib/rootfs.sh" "$lib/lean-fio.py" "$lib/guest.service")")
	if [[ ! -d $CACHE_DIR/rootfs-$flavour-$key ]]; then
		need_groups fetch rootfs
	fi
	cache_get "rootfs-$flavour" "$key" rootfs_build "$suite" "$flavour"
	ROOTFS_DIR=$CACHE_ENTRY
}

# The wanted modules and all that they need, as paths below kernel/'s parent.
stock_module_files() {
	local base=$1 version=$2 word names=() file

	for word in $(list_words "$DIEAWARE_TOP/scripts/lib/guest-modules"); do
		if [[ $word != */ ]]; then
			names+=("$word")
			continue
		fi
		while read -r file; do
			file=${file##*/}
			names+=("${file%%.ko*}")
		done < <(find "$base/lib/modules/$version/kernel/$word" -name '*.ko*' 2>/dev/null)
	done
	for word in "${names[@]}"; do
		# A name that this kernel has not, or has built in, gives no line.
		modprobe -d "$base" -S "$version" --show-depends -q "$word" 2>/dev/null || true
	done | awk '$1 == "insmod" { print $2 }' | sort -u
}

# Builder: DIR/tree/usr/lib/modules/VERSION, DIR/modules.cpio. Below usr because
# /lib is a link in the guest, which a folder of that name would replace.
stock_modules_build() {
	local base=$1 version=$2 dir=$3 file target stock

	stock=$base/lib/modules/$version
	if [[ ! -s $stock/modules.dep ]]; then
		depmod -b "$base" "$version"
	fi
	while read -r file; do
		target=$dir/tree/usr/lib/modules/$version/${file#*"/lib/modules/$version/"}
		mkdir -p "${target%/*}"
		case $file in
		*.xz) xz -dc "$file" >"${target%.xz}" ;;
		*.zst) zstd -qdc "$file" >"${target%.zst}" ;;
		*) cp "$file" "$target" ;;
		esac
	done < <(stock_module_files "$base" "$version")
	cp "$stock"/modules.{builtin,builtin.modinfo,order} "$dir/tree/usr/lib/modules/$version/"
	depmod -b "$dir/tree/usr" "$version"
	pack_cpio "$dir/tree" >"$dir/modules.cpio"
}

# stock_modules_need: set STOCK_MODULES_TREE and STOCK_MODULES_CPIO for the kernel of kernel_need.
stock_modules_need() {
	local lib=$DIEAWARE_TOP/scripts/lib key

	key=$(hash_words "$KERNEL_DIR" "$(hash_files "$lib/guest-modules" "$lib/rootfs.sh")")
	if [[ ! -d $CACHE_DIR/stock-modules-$KERNEL_VERSION-$key ]]; then
		need_groups modules
	fi
	cache_get "stock-modules-$KERNEL_VERSION" "$key" stock_modules_build "$KERNEL_DIR" "$KERNEL_VERSION"
	STOCK_MODULES_TREE=$CACHE_ENTRY/tree
	STOCK_MODULES_CPIO=$CACHE_ENTRY/modules.cpio
}
