# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Packages of other Debian suites, fetched beside the machine's own apt: own
# sources, own lists, own archive directory, and an empty dpkg status, so that
# nothing of the machine changes. Expects common.sh, packages.sh, cache.sh.

# The mirror and the keyring which the machine uses itself.
debian_mirror() {
	local uri

	if [[ -n ${DIEAWARE_MIRROR:-} ]]; then
		echo "$DIEAWARE_MIRROR"
		return
	fi
	# shellcheck disable=SC2016 # apt's variables, not the shell's
	uri=$(apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(CODENAME) $(REPO_URI)' \
		'Created-By: Packages' |
		awk '$1 == "Debian" && $2 == "main" && $3 !~ /-/ { print $4; exit }')
	[[ -n $uri ]] ||
		die "No Debian mirror stands in this machine's apt sources: set DIEAWARE_MIRROR to one."
	echo "$uri"
}

debian_keyring() {
	local ring

	for ring in /usr/share/keyrings/debian-archive-keyring.{pgp,gpg}; do
		if [[ -e $ring ]]; then
			echo "$ring"
			return
		fi
	done
	die "The keyring of debian-archive-keyring is missing."
}

# What the machine's apt needs to reach its mirrors (proxies, clocks), as a file
# for another apt.
host_apt_settings() {
	local file=$CACHE_DIR/apt/host.conf

	mkdir -p "${file%/*}"
	apt-config dump | grep -E '^Acquire::(https?|Check-|Retries|Max-FutureTime|Force)' >"$file.$$" || true
	mv "$file.$$" "$file"
	echo "$file"
}

host_suite() {
	(. /etc/os-release && echo "${VERSION_CODENAME:-}")
}

# suite_apt SUITE COMMAND...: an apt-get or apt-cache command on that suite only.
suite_apt() {
	local suite=$1 tool=$2 dir=$CACHE_DIR/apt/$1
	shift 2

	"$tool" -q -o Dir::Etc::SourceList="$dir/sources.list" \
		-o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State="$dir/state" -o Dir::State::Lists="$dir/lists" \
		-o Dir::State::status=/dev/null \
		-o Dir::Cache="$dir/cache" -o APT::Sandbox::User=root \
		-o APT::Architecture=amd64 -o APT::Architectures=amd64 \
		-o APT::Install-Recommends=false -o APT::Get::List-Cleanup=false \
		-o APT::Default-Release= -o Dir::Etc::Preferences=/dev/null \
		-o Dir::Etc::PreferencesParts=/dev/null "$@"
}

# Fetch the suite's package lists, unless that was done within the last hour.
suite_update() {
	local suite=$1 dir=$CACHE_DIR/apt/$1 mirror keyring

	mkdir -p "$dir"/{state,lists/partial,cache/archives/partial} "$CACHE_DIR/locks"
	mirror=$(debian_mirror)
	keyring=$(debian_keyring)
	(
		flock 9
		if [[ -n $(find "$dir/updated" -mmin -60 2>/dev/null) ]]; then
			exit 0
		fi
		say "fetching the package lists of $suite"
		echo "deb [signed-by=$keyring] $mirror $suite main" >"$dir/sources.list"
		quietly suite_apt "$suite" apt-get update 9>&- ||
			die "The package lists of $suite could not be fetched."
		touch "$dir/updated"
	) 9>"$CACHE_DIR/locks/apt-$suite"
}

# suite_unpack SUITE DIR PACKAGE...: download these packages and unpack them
# (without running their scripts) into DIR.
suite_unpack() {
	local suite=$1 dir=$2 debs deb
	shift 2

	debs=$(mktemp -d "$CACHE_DIR/.debs.XXXXXX")
	(
		cd "$debs"
		quietly suite_apt "$suite" apt-get download "$@"
	) || die "These packages of $suite could not be downloaded: $*."
	mkdir -p "$dir"
	for deb in "$debs"/*.deb; do
		dpkg-deb -x "$deb" "$dir"
	done
	rm -rf "$debs"
}
