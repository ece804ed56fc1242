# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The Rust tool, built once into the cache. Expects common.sh, packages.sh,
# cache.sh.

RUST_MINIMUM=1.85

have_rust() {
	local version

	version=$(cargo --version 2>/dev/null | awk '{ print $2 }')
	[[ -n $version ]] || return 1
	[[ $(printf '%s\n' "$RUST_MINIMUM" "$version" | sort -V | head -n 1) == "$RUST_MINIMUM" ]]
}

# Some cargo that is new enough: the machine's own, else Debian's.
rust_need() {
	need_packages gcc libc6-dev
	if ! have_rust; then
		need_groups rust
		hash -r
	fi
	have_rust || die "Rust $RUST_MINIMUM or newer is needed, and this machine's packages have none."
}

# The same for the formatter and the linter.
rust_check_need() {
	rust_need
	if ! cargo fmt --version >/dev/null 2>&1 || ! cargo clippy --version >/dev/null 2>&1; then
		need_groups rust-check
	fi
}

# Where cargo builds, outside the checkout. Each has a folder of its own: cargo takes what
# another one built there for what this one's sources give.
tool_target() {
	echo "$CACHE_DIR/cargo-$(hash_words "$DIEAWARE_TOP")"
}

# tool_cargo COMMAND...: cargo in the tool's folder.
tool_cargo() {
	(
		cd "$DIEAWARE_TOP/userspace" || exit
		"$DIEAWARE_TOP/scripts/lib/touch-changed" "$(tool_target)/sources" Cargo.toml Cargo.lock build.rs man sim src tests \
			../nvmevirt-backend/core ../include || exit
		CARGO_TARGET_DIR=$(tool_target) nice -n 10 cargo "$@"
	)
}

# Builder: DIR/dieaware, DIR/dieaware-generator. What was changed meanwhile is another tool.
tools_build() {
	local key=$1 dir=$2 target

	say "building the tool dieaware"
	target=$(tool_target)
	quietly tool_cargo build --release --locked ||
		die "The tool does not build: see the lines above."
	[[ $(tools_key) == "$key" ]] || die "The tool's sources have changed while it was built: try again."
	cp "$target"/release/{dieaware,dieaware-generator} "$dir/"
	touch "$target"
	cache_prune cargo "$target"
}

# Everything that the tool is built of: the simulator has the SSD's core in it.
tools_key() {
	(
		cd "$DIEAWARE_TOP/userspace" || exit
		hash_words "$(hash_files Cargo.toml Cargo.lock build.rs sim src \
			../nvmevirt-backend/core ../include)" "$(cargo --version 2>/dev/null)"
	)
}

# Set TOOLS_DIR to a folder that holds the program dieaware.
tools_need() {
	local key

	key=$(tools_key)
	if [[ ! -d $CACHE_DIR/tools-$key ]]; then
		rust_need
		key=$(tools_key)
	fi
	cache_get tools "$key" tools_build "$key"
	# shellcheck disable=SC2034
	TOOLS_DIR=$CACHE_ENTRY
}
