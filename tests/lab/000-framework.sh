#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The framework's own promises: a wrong thing is reported as wrong.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 8
# traces: yes
# sentences: 60
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
check_that "check_that does not take two empty words for the same" "$(inner 'check_that no "" == ""')" -eq 1
check_that "check_empty wants one" "$(inner 'check_empty yes ""')" -eq 0
check_that "and nothing else" "$(inner 'check_empty no a')" -eq 1
check_that "nor one for another word than some" "$(inner 'check_that no "" != a' || true; inner 'check_that no a != ""')" == "1
1"
check_that "but others are" "$(inner 'check_that yes a != b')" -eq 0
check_that "check_that does not take an unknown operator" "$(inner 'check_that no 1 -foo 1')" -eq 1
# shellcheck disable=SC2016 # the inner test's variables
check_that "a function fails with any of its commands" "$(inner 'f() { false; echo on; }' 'check no f')" -eq 1
check "at once" grep -qx "# 'f' ended with 1" "$T_DIR/inner.out"
check_empty "and does not go on" "$(grep -w on "$T_DIR/inner.out")"
check_that "also in one that it calls, or in a pipe" \
	"$(inner 'f() { false; echo; }' 'g() { f; echo; }' 'h() { g | cat; echo; }' 'check no h')" -eq 1
# shellcheck disable=SC2016 # likewise
check_that "but not with one that is asked, and what it sets stays set" \
	"$(inner 'f() { X=a; ! false || X=b; false || X+=c; if false; then X=d; fi; }' 'check yes f' 'check_that yes "$X" == ac')" -eq 0
check_that "behind it the test ends with what fails, as before" "$(inner 'check yes true' false 'check yes true')" -eq 1
check "there" grep -q '^# it stopped with status 1 after line 3$' "$T_DIR/inner.out"
check_that "check_error wants the error that was meant" "$(inner 'check_error no "No space" ls /nowhere')" -eq 1
check_that "and an error" "$(inner 'check_error no "No space" echo "No space"')" -eq 1
check_that "with both it is satisfied" "$(inner 'check_error yes "No such file" ls /nowhere')" -eq 0
check_that "two files differ" "$(inner 'check yes differ <(echo a) <(echo b)')" -eq 0
check_that "not if they are the same" "$(inner 'check no differ <(echo a) <(echo a)')" -eq 1
check_that "nor if one is not there" "$(inner 'check no differ <(echo a) /nowhere')" -eq 1
check_that "a failed command outside of check is a failure" "$(inner false 'check yes true')" -eq 1
check_that "things are taken away at the end" \
	"$(inner "at_end touch $T_DIR/ended" 'check yes true'; ls "$T_DIR/ended")" == "0
$T_DIR/ended"
check_that "also after a failure" \
	"$(inner "at_end touch $T_DIR/ended2" false; ls "$T_DIR/ended2")" == "1
$T_DIR/ended2"
check_fails "poll gives up" poll 0 false

json=$'[\n  {\n    "ideal_pieces": 1,\n    "pieces": 7,\n    "physical": {\n      "pieces": 33\n    },\n    "unknown": null\n  }\n]'
check_that "json_value takes the first of a name" "$(json_value "$json" pieces)" -eq 7
check_that "or the first in what is named before it" "$(json_value "$json" physical pieces)" -eq 33
check_that "in what is null all is null" "$(json_value "$json" unknown pieces)" == null
check_fails "what is not there is no value" json_value "$json" nothing

# ---- the kernel's messages

mark_log
for ((i = 0; i < 300; i++)); do
	printf '<7>lab-test needle and %0300d\n' $i
done >/dev/kmsg
# Of a pipe with more in it than fits the reader would leave, and the writer fail, at random.
check_that "what was said is found each time, whatever was said after it" \
	"$(for ((i = 0; i < 30; i++)); do log_has 'needle and 0*5$' && echo found; done | wc -l)" -eq 30
check_that "what was not said is not" "$(log_has 'needle and 0*300$' && echo found || echo no)" == no

# ---- programs that say sentences of their own

# prog STATUS LINE...: one that prints the lines and ends so
prog() {
	printf '#!/bin/sh\ncat <<END\n%s\nEND\nexit %s\n' "$(printf '%s\n' "${@:2}")" "$1" >"$T_DIR/prog"
	chmod +x "$T_DIR/prog"
}

prog 0 "ok - yes"
check_that "a program of true sentences succeeds" "$(inner "run_sentences $T_DIR/prog")" -eq 0
prog 1 "ok - yes" "not ok - no"
check_that "one of a false sentence does not" "$(inner "run_sentences $T_DIR/prog")" -eq 1
check_that "and is reported once" "$(grep -c '^not ok' "$T_DIR/inner.out")" -eq 1
prog 3 "ok - yes"
check_that "one that fails without a word does not" "$(inner "run_sentences $T_DIR/prog")" -eq 1
check "and that is said" grep -qx "not ok - 'prog' ends well" "$T_DIR/inner.out"
prog 0 "not ok - no"
check_that "nor does one that ends well with a false sentence" "$(inner "run_sentences $T_DIR/prog")" -eq 1
cat >"$T_DIR/late.py" <<END
import sys
sys.path.insert(0, "$LAB_DIR")
import sentences


def steps() -> None:
    sentences.known("L0", "a", False)
    raise sentences.Late("the queue is empty")


sys.exit(sentences.run(steps))
END
check_that "Python: who is late has failed" "$(inner "run_sentences python3 $T_DIR/late.py")" -eq 1
check "and says for what" grep -qx "not ok - the queue is empty" "$T_DIR/inner.out"
check "Python: a known defect has its mark" grep -qx "not ok - a # TODO L0" "$T_DIR/inner.out"

# ---- known defects

check_that "what is known to fail may fail" "$(inner 'check_known L0 no false' 'known L0 check_that no 1 -eq 2')" -eq 0
check_that "and is marked" "$(cat "$T_DIR/inner.out")" =~ "not ok - no # TODO L0"
check_that "it may not pass" "$(inner 'check_known L0 no true')" -eq 1
check "and that is said" grep -qx "not ok - no: passes although .* take the mark off" "$T_DIR/inner.out"
check_that "a mark is for one sentence" "$(inner 'check_known L0 no false' 'check no false')" -eq 1

# ---- the runner, with a test of one true sentence

mkdir "$T_DIR/lab"
cp "$LAB_DIR"/{rc,run-guest.sh,kernels-races} "$T_DIR/lab/"
cp "$LAB_DIR/../whole.sh" "$T_DIR/"

# run_inner HEADER LINE...: what the runner finds wrong
run_inner() {
	printf '%s\n' "# kernels: ${KERNELS:-6.12}" "# timeout: 60" "$1" ". $T_DIR/lab/rc" 't_ok yes' "${@:2}" \
		>"$T_DIR/lab/900-inner.sh"
	bash "$T_DIR/lab/run-guest.sh" 6.12 900-inner.sh | sed -n 's/^not ok - 900-inner: //p'
}

check_empty "a test that says what its header says is fine" "$(run_inner '# sentences: 1')"
check_empty "its number may be another one on a kernel" "$(run_inner '# sentences: 7 6.1:8 6.12:1')"
check_that "one that says less has failed" "$(run_inner '# sentences: 2')" =~ ^"it says all of its sentences"
check_that "also on a kernel that only --long runs it on" \
	"$(KERNELS="uml" run_inner $'# long: 6.1 6.12\n# sentences: 2')" =~ ^"it says all of its sentences"
check_that "a script that fails without a word has failed" \
	"$(run_inner '# sentences: 1' 'trap - EXIT' 'exit 3')" =~ ^"the script ends well"
check_that "one that is known to fail has not" \
	"$(run_inner '# sentences: 2' 'check_known L0 no false')" == "no # TODO L0"
check_that "what is known to fail and does not has failed" \
	"$(run_inner '# sentences: 2' 'echo "ok - no # TODO L0"')" =~ ^"no: passes although"

# Of what the kernel says a trace is trouble for the inner test only. (See "traces" above.)
# shellcheck disable=SC2016 # the inner test's variables
flood='for ((i = 0; i < 3000; i++)); do printf "<7>%0900d\n" "$i"; done >/dev/kmsg'
trace='echo "<7>Call Trace: of nobody" >/dev/kmsg'
check_that "what the kernel complains of is found" "$(run_inner '# sentences: 1' "$trace")" =~ ^"the kernel has nothing"
check_that "also when it has forgotten when the test began" \
	"$(run_inner '# sentences: 1' "$flood" "$trace")" =~ ^"the kernel has nothing"
