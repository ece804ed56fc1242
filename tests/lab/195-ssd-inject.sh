#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Errors on request: media errors at chosen LBAs, healed by writing; write faults; delayed
# commands, of the admin queue as well, and dropped ones, from which the driver recovers by abort or reset; a fatal status.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# clock: virtual
# seconds: 8
# timeout: 240
# sentences: 63
. "$(dirname "$0")/rc"

inject() {
	echo "$*" >/sys/kernel/debug/nvmev/ssd0/inject
}

injected() {
	sed 1,2d /sys/kernel/debug/nvmev/ssd0/inject
}

page() {
	local direction=$1 number=$2
	case $direction in
	read) timeout 60 dd if="$DEV" of="$T_DIR/page" bs=4k skip="$number" count=1 iflag=direct status=none ;;
	write) timeout 60 dd if="$T_DIR/data" of="$DEV" bs=4k seek="$number" count=1 oflag=direct status=none ;;
	esac
}

smart() {
	nvme smart-log "$ctrl" -o json | jq -r ".$1"
}

# busy_of COMMAND...: nanoseconds by which the drive's time at work grows meanwhile
busy_of() {
	local before
	before=$(sed -n 's/^busy_ns //p' /sys/kernel/debug/nvmev/ssd0/controller)
	"$@" >"$T_DIR/said" 2>&1 || true
	echo $(($(sed -n 's/^busy_ns //p' /sys/kernel/debug/nvmev/ssd0/controller) - before))
}

millis() {
	echo $(($(date +%s%N) / 1000000))
}

new_ssd ssd0 capacity_mib=512
ctrl=${DEV%n1}
queue=/sys/block/${DEV#/dev/}/queue
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=1 status=none
dd if="$T_DIR/data" of="$DEV" bs=1M oflag=direct status=none

# LBAs of 512 bytes: page 4 has LBAs 32 to 39.
inject read_error 36 60
check "reading before the error" page read 3
check_fails "reading across its begin" page read 4
check_fails "reading in its middle" page read 6
mark_log
check_fails "reading its last LBA" page read 11
check "the kernel calls it a medium error" log_has '(critical medium|Unrecovered Read) (error|Error)'
check "reading behind it" page read 12
check_that "SMART counts media errors" "$(smart media_errors)" -ge 3
check_that "the error log has the status 281h" "$(nvme error-log "$ctrl" -e 8 -o json |
	jq '[.errors[].status_field | if type == "number" then . else (.value // 0) end | (. % 2048), ((. / 2 | floor) % 2048)] | index(641) != null')" == true
check "a page in its middle can be written" page write 6
check "and read" page read 6
check_that "which makes two of it" "$(injected | tr '\n' ';')" == "read_error 36 12;read_error 56 40;"
check_fails "what is before is bad" page read 5
check_fails "what is behind is bad" page read 7
check "all of it can be written" dd if="$T_DIR/data" of="$DEV" bs=64k count=1 oflag=direct
check "and read" dd if="$DEV" of=/dev/null bs=64k count=1 iflag=direct
check_empty "nothing is bad any more" "$(injected)"

inject read_error 120 8
check "what is copied there" nvme copy "$DEV" --namespace-id=1 --sdlba=120 --slbs=160 --blocks=7
check "is written again, and can be read" page read 15
check_empty "so nothing is bad there" "$(injected)"
inject clear

# Of several faults the first is met, whichever was asked for first.
inject read_error 168 8
inject read_error 162 2
check_fails "what is bad is not copied" nvme copy "$DEV" --namespace-id=1 --sdlba=120 --slbs=160 --blocks=15
check_that "and the error log has the first LBA that is" "$(nvme error-log "$ctrl" -e 1 -o json | jq '.errors[0].lba')" == 162
inject clear

inject write_fault 80 8
check_fails "writing at a write fault" page write 10
check "reading there" page read 10
check_that "gives what was there before" "$(cmp "$T_DIR/page" <(dd if="$T_DIR/data" bs=4k skip=10 count=1 status=none) && echo same)" == same
check "writing beside it" page write 11
check_fails "deallocating there by Write Zeroes" nvme write-zeroes "$DEV" --namespace-id=1 --start-block=80 --block-count=7 --deac
check_that "leaves the page where it was" "$(nvmev-ssd map ssd0 80 8 | grep -c -- ' - -')" -eq 0
inject clear

inject delay 800 8 700
before=$(millis)
check "a delayed read" page read 100
check_that "takes 700 ms" $(($(millis) - before)) -ge 700
before=$(millis)
check "another page's read" page read 200
check_that "does not" $(($(millis) - before)) -lt 600
inject clear

inject delay_admin 700
check_that "late admin commands are shown" "$(injected)" == "delay_admin 700"
before=$(millis)
cache=$(nvme get-feature "${DEV%n1}" --feature-id=7)
check_that "one takes 700 ms" $(($(millis) - before)) -ge 700
inject clear
check_that "and has the same result as at once" "$(nvme get-feature "${DEV%n1}" --feature-id=7)" == "$cache"

echo 1500 >"$queue/io_timeout"
mark_log
inject drop 1600 8 1
check "a dropped read is read in the end" page read 200
check "the driver has aborted it, or reset the controller" log_has 'nvme.*(timeout|abort)'
check_empty "the request was dropped once" "$(injected)"
inject drop 1600 8 3
check "a read that is dropped three times" page read 200
inject clear
inject drop 2400 8 1
inject delay 2400 8 100
check "a read that is dropped and would be late" page read 300
inject clear

# What is done in pieces has its fault before the first of them.
zeroes=(nvme write-zeroes "$DEV" --namespace-id=1 --start-block=0 --block-count=65535)
inject delay 800 8 60000
check_that "a delay of a minute is no work of the drive" "$(busy_of "${zeroes[@]}")" -lt 1000000000
inject clear
mark_log
inject drop 800 8 1
check_that "nor is waiting for what is dropped" "$(busy_of "${zeroes[@]}")" -lt 1000000000
check "which the driver has aborted" log_has 'nvme.*(timeout|abort)'
check_empty "and which was dropped once" "$(injected)"
check "the same command is done then" "${zeroes[@]}"
check "as is a write" page write 5
check_that "and reading it is work" "$(busy_of page read 5)" -gt 0
check "an SSD that recovered works" fio --name=v --filename="$DEV" --direct=1 --ioengine=libaio --iodepth=8 \
	--size=2m --rw=randwrite --bs=4k --verify=crc32c --verify_fatal=1

mark_log
inject fatal
check "a read from a controller with a fatal status" page read 300
check "the driver has reset it" log_has 'nvme.*(reset|controller is down)'
check "data verifies after that" fio --name=v --filename="$DEV" --direct=1 --ioengine=libaio --iodepth=8 \
	--size=2m --rw=randwrite --bs=4k --verify=crc32c --verify_fatal=1

for line in nonsense "read_error 1" "read_error 1 0" "read_error 18446744073709551615 2" "delay 1 1" \
	"delay 1 1 99999999999" "spare 101" "delay_admin 99999999999" "temperature 70000" "read_error 1 2 3" ""; do
	check_fails "'$line' is refused" sh -c "echo '$line' >/sys/kernel/debug/nvmev/ssd0/inject"
done
for i in $(seq 16); do
	inject read_error "$i" 1
done
check_fails "a seventeenth range is refused" sh -c "echo read_error 99 1 >/sys/kernel/debug/nvmev/ssd0/inject"
inject clear
check "all reads are well in the end" dd if="$DEV" of=/dev/null bs=1M count=4 iflag=direct
