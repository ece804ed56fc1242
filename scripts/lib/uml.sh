# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # the callers read what is set here
#
# Linux as a program (UML), with all checks (debug), or fast, for several CPUs (plain) or for one and
# virtual time (timed): its build, and the project's modules and KUnit suites for it. Expects load.sh.

# The newest kernels have system calls that cost half as much there, and several CPUs.
declare -A UML_SERIES=([debug]=$SOURCE_SERIES [plain]=newest [timed]=newest)

# Builder: DIR/linux (the program), DIR/modules/usr/lib/modules, DIR/tree (its
# source and configuration, for building modules).
uml_build() {
	local flavour=$1 dir=$2 tree

	tree=$dir/tree
	say "building the UML kernel '$flavour' (once, 4 minutes or more)"
	linux_source_unpack "$tree"
	uml_patch "$flavour" "$tree"
	uml_configs "$flavour" | xargs cat >"$tree/lab.config"
	(
		cd "$tree" || exit 1
		quietly make ARCH=um defconfig
		quietly ./scripts/kconfig/merge_config.sh -m .config lab.config
		quietly make ARCH=um olddefconfig
		kernel_config_check lab.config .config
		quietly nice -n 10 make ARCH=um -j2 linux modules
		quietly make ARCH=um INSTALL_MOD_PATH="$dir/modules/usr" modules_install
	)
	strip --strip-debug -o "$dir/linux" "$tree/linux"
	cp "$tree/include/config/kernel.release" "$dir/version"
	rm -f "$dir"/modules/usr/lib/modules/*/{build,source} "$tree/linux"
	kernel_tree_prune "$tree" um x86
}

# uml_configs FLAVOUR: the files which say what it has.
uml_configs() {
	echo "$DIEAWARE_TOP/tests/vm/uml.config"
	[[ $1 == debug ]] || echo "$DIEAWARE_TOP/tests/vm/uml-lab.config"
	echo "$DIEAWARE_TOP/tests/vm/uml-$1.config"
}

# uml_patches FLAVOUR: the files with changes of its source
uml_patches() {
	find "$DIEAWARE_TOP/tests/vm" -name "uml-$1.patch"
}

# uml_patch FLAVOUR TREE: a patch of the newest kernel only makes it quicker. One that the archive
# has replaced may be another than it was written for.
uml_patch() {
	local flavour=$1 tree=$2 file

	while read -r file; do
		if [[ ${UML_SERIES[$flavour]} == newest ]] &&
			! patch --dry-run -s -f -d "$tree" -p1 <"$file" >/dev/null; then
			say "tests/vm/${file##*/} is not for this kernel: it is built without it, and slower"
			continue
		fi
		quietly patch -d "$tree" -p1 <"$file"
	done < <(uml_patches "$flavour")
}

# uml_need FLAVOUR: set UML_DIR, and what kernel_need, toolchain_need and
# stock_modules_need set for the other kernels. FLAVOUR is debug, plain or timed.
uml_need() {
	local flavour=$1 files key

	linux_source_need "${UML_SERIES[$flavour]}"
	mapfile -t files < <(uml_configs "$flavour" && uml_patches "$flavour")
	key=$(hash_words "$LINUX_SOURCE" "$(hash_files "${files[@]}")")
	if [[ ! -d $CACHE_DIR/uml-$flavour-$key ]]; then
		need_groups uml
	fi
	cache_get "uml-$flavour" "$key" uml_build "$flavour"
	UML_DIR=$CACHE_ENTRY
	KERNEL_DIR=$UML_DIR
	KERNEL_VERSION=$(<"$UML_DIR/version")
	KERNEL_HEADERS=$UML_DIR/tree
	KERNEL_ARCH=um
	KERNEL_KUNIT=no
	if [[ $flavour == debug ]]; then
		KERNEL_KUNIT=yes
	fi
	TOOLCHAIN=
	STOCK_MODULES_TREE=$UML_DIR/modules
}

# uml_arguments MEM CPUS PARAMETERS LAYER...: set UML_ARGS. The kernel starts on the
# machine's own root, read-only, for long enough to stack the layers.
uml_arguments() {
	local mem=$1 cpus=$2 parameters=$3 layers
	shift 3

	layers=$(printf ':%s' "$@")
	mkdir -p "$RUN/host" "$RUN/uml"
	ln -s host/control "$RUN/control"
	ln -s host/output "$RUN/output"
	UML_ARGS=("mem=$mem" root=/dev/root rootfstype=hostfs rootflags=/ ro
		"init=$DIEAWARE_TOP/scripts/lib/uml-init" "lab.layers=${layers:1}"
		"lab.host=$RUN/host" "uml_dir=$RUN/uml" "umid=lab"
		"con0=fd:0,fd:1" con=null console=tty0 quiet loglevel=5 panic=-1
		log_buf_len=1M seccomp=auto)
	if ((cpus > 1)); then
		UML_ARGS+=("ncpus=$cpus")
	fi
	# shellcheck disable=SC2206 # words, as the user gave them
	UML_ARGS+=($parameters)
}

# Nearly each page of a process in the guest is a mapping of its own in a process of the host's. When
# that may have no more, the guest's process takes the same page fault again and again, without a
# word: Linux allows 65530 by default, which is 256 MiB.
UML_MAPPINGS=1048576

uml_allow_mappings() {
	local limit=/proc/sys/vm/max_map_count most

	most=$(<$limit)
	if ((most < UML_MAPPINGS)) && ! echo "$UML_MAPPINGS" 2>/dev/null >"$limit"; then
		say "a process in the guest with more than $((most / 256)) MiB will hang: the host's" \
			"vm.max_map_count should be $UML_MAPPINGS, and cannot be set here"
	fi
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
