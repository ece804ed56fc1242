#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The framework's own promises: a wrong thing is reported as wrong.
# kernels: 6.12
# smp: 1
# mem: 2G
# seconds: 3
# timeout: 240
. "$(dirname "$0")/rc"

# inner LINE...: a test of these lines; its output and its exit status.
inner() {
	printf '%s\n' ". $LAB_DIR/rc" "$@" >"$T_DIR/inner.sh"
	T_NAME=inner bash "$T_DIR/inner.sh" >"$T_DIR/inner.out" 2>&1 && echo 0 || echo 1
}

check_that "a test of true sentences succeeds" "$(inner 'check yes true')" -eq 0
check "and says ok" grep -qx 'ok - yes' "$T_DIR/inner.out"
check_that "a test with a false sentence fails" "$(inner 'check yes true' 'check no false')" -eq 1
check "and says which" grep -qx 'not ok - no' "$T_DIR/inner.out"
check_that "check_fails wants a failure" "$(inner 'check_fails no true')" -eq 1
check_that "check_fails does not take a crash for one" \
	"$(inner "check_fails no bash -c 'kill -SEGV \$\$'")" -eq 1
check_that "check_that compares numbers" "$(inner 'check_that no 9 -gt 10')" -eq 1
check_that "check_that compares words" "$(inner 'check_that no a == b')" -eq 1
check_that "check_that does not take an unknown operator" "$(inner 'check_that no 1 -foo 1')" -eq 1
check_that "a failed command outside of check is a failure" "$(inner false 'check yes true')" -eq 1
check_that "things are taken away at the end" \
	"$(inner "at_end touch $T_DIR/ended" 'check yes true'; ls "$T_DIR/ended")" == "0
$T_DIR/ended"
check_that "also after a failure" \
	"$(inner "at_end touch $T_DIR/ended2" false; ls "$T_DIR/ended2")" == "1
$T_DIR/ended2"
check_fails "poll gives up" poll 0 false
