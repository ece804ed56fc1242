# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # the callers read what is set here
#
# The debug kernel as a Linux program (UML): its source, its build, and the
# project's modules and KUnit suites for it. Expects all that load.sh has
# before it.

UML_SERIES=6.12

# Builder: the source package's archive, DIR/linux.tar.xz.
linux_source_fetch() {
	local suite=$1 dir=$2

	say "fetching the source of kernel $UML_SERIES (140 MB)"
	suite_unpack "$suite" "$dir/unpacked" "linux-source-$UML_SERIES"
	mv "$dir/unpacked/usr/src/linux-source-$UML_SERIES.tar.xz" "$dir/linux.tar.xz"
	rm -rf "$dir/unpacked"
}

# linux_source_need: set LINUX_SOURCE to the archive.
linux_source_need() {
	local suite

	suite=$(kernel_suite "$UML_SERIES")
	if ! compgen -G "$CACHE_DIR/linux-source-????????????????" >/dev/null; then
		need_groups fetch
		suite_update "$suite"
	fi
	cache_get linux-source "$(hash_words "$suite" "$UML_SERIES")" linux_source_fetch "$suite"
	LINUX_SOURCE=$CACHE_ENTRY/linux.tar.xz
}

# Every line of the fragment must have survived; one that Kconfig dropped would
# silently test less.
uml_config_check() {
	local wanted=$1 got=$2 line missing=0

	while read -r line; do
		case $line in
		CONFIG_*=* | "# CONFIG_"*" is not set")
			if ! grep -qxF -- "$line" "$got"; then
				# "not set" and absent are the same.
				if [[ $line == "# "* ]] && ! grep -q "^${line:2:-11}=" "$got"; then
					continue
				fi
				say "the UML kernel has no '$line'"
				missing=1
			fi
			;;
		esac
	done <"$wanted"
	((!missing)) || die "tests/vm/uml.config asks for what this kernel cannot do: see the lines above."
}

# What building modules later does not need: 1.5 GB.
uml_prune() {
	local tree=$1

	find "$tree" -mindepth 1 -maxdepth 1 -type d \
		! -name arch ! -name include ! -name scripts ! -name tools -exec rm -rf {} +
	find "$tree/arch" -mindepth 1 -maxdepth 1 -type d ! -name um ! -name x86 -exec rm -rf {} +
	find "$tree/tools" -mindepth 1 -maxdepth 1 -type d ! -name include ! -name build \
		! -name scripts -exec rm -rf {} +
	find "$tree" -name '*.o' ! -path '*/scripts/*' -delete
	find "$tree" \( -name '*.a' -o -name 'vmlinux*' \) ! -name '*.lds*' -type f -delete
}

# Builder: DIR/linux (the program), DIR/modules/usr/lib/modules, DIR/tree (its
# source and configuration, for building modules).
uml_build() {
	local config=$1 dir=$2 tree

	tree=$dir/tree
	say "building the UML kernel (once, 6 minutes or more)"
	mkdir -p "$tree"
	tar -C "$tree" --strip-components=1 -xJf "$LINUX_SOURCE"
	cp "$config" "$tree/lab.config"
	(
		cd "$tree" || exit 1
		quietly make ARCH=um defconfig
		quietly ./scripts/kconfig/merge_config.sh -m .config lab.config
		quietly make ARCH=um olddefconfig
		uml_config_check lab.config .config
		quietly nice -n 10 make ARCH=um -j2 linux modules
		quietly make ARCH=um INSTALL_MOD_PATH="$dir/modules/usr" modules_install
	)
	strip --strip-debug -o "$dir/linux" "$tree/linux"
	cp "$tree/include/config/kernel.release" "$dir/version"
	rm -f "$dir"/modules/usr/lib/modules/*/{build,source} "$tree/linux"
	uml_prune "$tree"
}

# uml_need: set UML_DIR, and what kernel_need, toolchain_need and
# stock_modules_need set for the other kernels.
uml_need() {
	local config=$DIEAWARE_TOP/tests/vm/uml.config key

	linux_source_need
	key=$(hash_words "$LINUX_SOURCE" "$(hash_files "$config")")
	if [[ ! -d $CACHE_DIR/uml-$key ]]; then
		need_groups uml
	fi
	cache_get uml "$key" uml_build "$config"
	UML_DIR=$CACHE_ENTRY
	KERNEL_DIR=$UML_DIR
	KERNEL_VERSION=$(<"$UML_DIR/version")
	KERNEL_HEADERS=$UML_DIR/tree
	KERNEL_ARCH=um
	KERNEL_KUNIT=yes
	TOOLCHAIN=
	STOCK_MODULES_TREE=$UML_DIR/modules
}

# uml_arguments MEM PARAMETERS LAYER...: set UML_ARGS. The kernel starts on the
# machine's own root, read-only, for long enough to stack the layers.
uml_arguments() {
	local mem=$1 parameters=$2 layers
	shift 2

	layers=$(printf ':%s' "$@")
	mkdir -p "$RUN/host" "$RUN/uml"
	ln -s host/control "$RUN/control"
	ln -s host/output "$RUN/output"
	UML_ARGS=("mem=$mem" root=/dev/root rootfstype=hostfs rootflags=/ ro
		"init=$DIEAWARE_TOP/scripts/lib/uml-init" "lab.layers=${layers:1}"
		"lab.host=$RUN/host" "uml_dir=$RUN/uml" "umid=lab"
		"con0=fd:0,fd:1" con=null console=tty0 quiet loglevel=5 panic=-1)
	# shellcheck disable=SC2206 # words, as the user gave them
	UML_ARGS+=($parameters)
}

# The guest's memory is a file: in /dev/shm, unless that is small (containers).
uml_memory_dir() {
	local mem=$1 free

	free=$(df --output=avail -BM /dev/shm 2>/dev/null | tail -n 1 | tr -dc 0-9)
	if ((${free:-0} > ${mem%M})); then
		echo /dev/shm
	else
		echo "$RUN"
	fi
}
