# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # who sources this reads what is set here
#
# The target in log mode. Expects lib.sh, and the tool dieaware beside it.

# log_format DEVICE [OPTION]...: an empty log; sets LOG_TABLE, without options.
log_format() {
	local device=$1
	shift

	LOG_TABLE=$("$BENCH_DIR/dieaware" format "$device" --force "$@" | tail -n 1) ||
		die "The device could not be formatted."
	[[ $LOG_TABLE == 0\ *\ log ]] || die "'dieaware format' printed no table line: $LOG_TABLE"
}

# log_create [OPTION]...: what is on the device; sets DEVICE.
log_create() {
	dmsetup create "$TARGET" --table "$LOG_TABLE${*:+ $# $*}" ||
		die "The log was not activated: $(dmesg | grep -i dieaware | tail -n 1)"
	DEVICE=/dev/mapper/$TARGET
}

# What the log counted, to the guest's log; it must still take writes.
log_check() {
	local status

	status=$(dmsetup status "$TARGET")
	echo "log of $1: $status"
	[[ $status == *" state=write "* ]] || die "The log no longer takes writes: $status"
}
