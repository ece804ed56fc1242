# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What each test of a machine costs the host. A guest cannot say: in virtual time its clock tells nothing,
# and in real time it tells of what other machines do. Expects children.sh.

# stamp_ticks PROCESS: sets STAMP_TICKS, the CPU time of the process, of all that it has started and of what
# they waited for, in ticks of the host.
stamp_ticks() {
	local child line fields

	STAMP_TICKS=0
	for child in "$1" $(descendants "$1"); do
		# It may have ended; then its parent has its time.
		{ read -r line <"/proc/$child/stat"; } 2>/dev/null || continue
		# The name before it may have blanks.
		read -ra fields <<<"${line##*) }"
		STAMP_TICKS=$((STAMP_TICKS + fields[11] + fields[12] + fields[13] + fields[14]))
	done
}

# stamp_tests PROCESS: copy stdin, what a machine below the process says. Behind "end TEST ..." comes "cpu TEST
# SECONDS", before the first "begin TEST" "cpu boot SECONDS", which is all from now until then. Whoever is killed
# with the machine hears it to its end: what dies of a pipe that nobody reads tidies nothing up.
stamp_tests() {
	local machine=$1 line began="" per_second booted

	trap '' INT TERM
	per_second=$(getconf CLK_TCK)
	stamp_ticks "$machine"
	booted=$STAMP_TICKS
	while IFS= read -r line || [[ -n $line ]]; do
		if [[ $line == "begin "* ]]; then
			stamp_ticks "$machine"
			booted=$((STAMP_TICKS - booted))
			[[ -n $began ]] || printf 'cpu boot %d.%02d\n' $((booted / per_second)) $((booted % per_second * 100 / per_second))
			began=$STAMP_TICKS
		fi
		printf '%s\n' "$line"
		if [[ $line == "end "* && -n $began ]]; then
			stamp_ticks "$machine"
			began=$((STAMP_TICKS - began))
			read -r _ line _ <<<"$line"
			printf 'cpu %s %d.%02d\n' "$line" $((began / per_second)) $((began % per_second * 100 / per_second))
		fi
	done
}
