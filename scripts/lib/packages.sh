# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Debian packages: install only what is missing, without questions. Expects
# common.sh. Needs nothing but bash and apt on the machine.

as_root() {
	if ((EUID == 0)); then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo -n -- "$@" ||
			die "The command '$*' failed as root: run it yourself, or run this script as root."
	else
		die "The command '$*' must run as root, and there is no sudo: run this script as root."
	fi
}

# Also one that the user has put on hold
have_package() {
	[[ $(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null) == [hi]i* ]]
}

# The machine's package lists may never have been fetched (containers).
apt_lists_present() {
	# shellcheck disable=SC2016 # apt's variable, not the shell's
	[[ -n $(apt-get indextargets --format '$(FILENAME)' 'Created-By: Packages' |
		while read -r list; do
			if compgen -G "$list*" >/dev/null; then
				echo "$list"
			fi
		done) ]]
}

apt_update() {
	say "fetching the package lists"
	quietly as_root apt-get -q -o DPkg::Lock::Timeout=600 update
}

apt_install() {
	quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
		-o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0 \
		install --no-install-recommends "$@"
}

# Set MISSING to those of the packages that are not there.
find_missing() {
	local package

	MISSING=()
	for package; do
		have_package "$package" || MISSING+=("$package")
	done
}

# Not while another script of this checkout does: apt waits for itself when it installs, but not
# when it fetches its lists.
need_packages() {
	find_missing "$@"
	if ((!${#MISSING[@]})); then
		return 0
	fi
	command -v apt-get >/dev/null ||
		die "These Debian packages are missing, and there is no apt-get: ${MISSING[*]}."
	(
		flock 9
		find_missing "$@"
		install_missing 9<&-
	) 9<"$DIEAWARE_TOP" || exit
}

install_missing() {
	if ((!${#MISSING[@]})); then
		return 0
	fi
	if ! apt_lists_present; then
		apt_update || die "The package lists could not be fetched: see the lines above."
	fi
	say "installing ${MISSING[*]}"
	if apt_install "${MISSING[@]}"; then
		return 0
	fi
	# Lists which are too old name files that the mirror no longer has.
	apt_update || die "The package lists could not be fetched: see the lines above."
	apt_install "${MISSING[@]}" ||
		die "These packages could not be installed: ${MISSING[*]}."
}

# The packages of the groups named, from scripts/lib/packages.
packages_of() {
	local group line word

	for group; do
		while read -r line; do
			for word in ${line#"$group":}; do
				first_available "$word"
			done
		done < <(grep "^$group:" "$DIEAWARE_TOP/scripts/lib/packages")
	done
}

first_available() {
	local choice

	if [[ $1 != *"|"* ]]; then
		echo "$1"
		return
	fi
	for choice in ${1//|/ }; do
		if have_package "$choice" || [[ -n $(apt-cache madison "$choice" 2>/dev/null) ]]; then
			echo "$choice"
			return
		fi
	done
	echo "${1%%|*}"
}

need_groups() {
	local list

	list=$(packages_of "$@")
	# shellcheck disable=SC2086
	need_packages $list
}
