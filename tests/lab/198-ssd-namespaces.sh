#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Namespaces of one SSD share its dies and nothing else: sizes, formats, data, deallocation
# and use are each one's own; hints count in LBAs of their namespace.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 20
# timeout: 240
# sentences: 70
. "$(dirname "$0")/rc"

# id NSID FIELD
id() {
	nvme id-ns "$ctrl" --namespace-id="$1" -o json | jq -r ".$2"
}

stat_of() {
	awk -v key="$2" '$1 == key { print $2 }' "/sys/kernel/debug/nvmev/ssd0/ns$1/stats"
}

sum() {
	dd if="$1" bs=1M count="$2" iflag=direct status=none | sha256sum
}

new_ssd ssd0 capacity_mib=1024 namespace_mib=64,512,32
first=$DEV
ctrl=/dev/$(<"$CONFIGFS/ssd0/nvme")
second=$(ssd_device ssd0 2)
third=$(ssd_device ssd0 3)
check_that "there are three" "$(nvme list-ns "$ctrl" | wc -l)" -eq 3
check_that "the controller says so" "$(nvme id-ctrl "$ctrl" -o json | jq .nn)" -eq 3
check_that "each has its size (MiB)" "$(for dev in "$first" "$second" "$third"; do
	echo $(($(blockdev --getsize64 "$dev") >> 20))
done | tr '\n' ' ')" == "64 512 32 "
check_that "each has an identity" "$(for nsid in 1 2 3; do id $nsid nguid; done | sort -u | wc -l)" -eq 3
check_fails "there is no fourth" nvme id-ns "$ctrl" --namespace-id=4
check_that "nvmev-ssd lists all" "$(nvmev-ssd list | wc -w)" -eq 6

check "all at once keep their data" fio --direct=1 --verify=crc32c --verify_fatal=1 --ioengine=libaio --iodepth=16 \
	--rw=randwrite --bs=4k --size=16m --io_size=2m \
	--name=a --filename="$first" --name=b --filename="$second" --name=c --filename="$third"
blkdiscard "$first"
blkdiscard "$second"

# The end of one and the begin of the next are neighbours in the FTL.
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=8 status=none
dd if="$T_DIR/data" of="$first" bs=1M seek=56 oflag=direct status=none
dd if="$T_DIR/data" of="$second" bs=1M oflag=direct status=none
check_that "pages in use, first" "$(stat_of 1 pages_mapped)" -eq 2048
check_that "pages in use, second" "$(stat_of 2 pages_mapped)" -eq 2048
check_that "NUSE, second" "$(id 2 nuse)" -eq $((2048 * 8))
check_fails "a read across the end fails" nvme read "$first" --start-block=$((64 * 2048 - 4)) --block-count=7 --data-size=4096
blkdiscard -o $((56 << 20)) -l $((4 << 20)) "$first"
check "deallocation of one's last MiBs leaves the other alone" cmp -n $((8 << 20)) "$T_DIR/data" "$second"
check_that "and those behind them" "$(dd if="$first" bs=1M skip=60 iflag=direct status=none | sha256sum)" == \
	"$(dd if="$T_DIR/data" bs=1M skip=4 status=none | sha256sum)"

check "a feature that each has for itself" nvme set-feature "$ctrl" -n 2 -f 5 -v 7
check_that "is set" "$(nvme get-feature "$ctrl" -n 2 -f 5)" =~ '0x0*7$'
check_that "for that one only" "$(nvme get-feature "$ctrl" -n 1 -f 5)" =~ '0x?0*$'

before=$(sum "$first" 64)
check "format of the second to 4096-byte blocks" nvme format "$ctrl" --namespace-id=2 --lbaf=1 --force
check "it has them" poll 10 sh -c "[ \$(blockdev --getss $second) = 4096 ]"
check_that "the first has not" "$(blockdev --getss "$first")" -eq 512
check_that "the first has its data" "$(sum "$first" 64)" == "$before"
check "the second has none" cmp -n $((8 << 20)) /dev/zero "$second"
check_that "NUSE, second" "$(id 2 nuse)" -eq 0
check_that "its capacity is the same" $(($(blockdev --getsize64 "$second") >> 20)) -eq 512
check "format back" nvme format "$ctrl" --namespace-id=2 --lbaf=0 --force
check "it has 512-byte blocks" poll 10 sh -c "[ \$(blockdev --getss $second) = 512 ]"

# Errors on request are in a namespace's own LBAs.
echo "read_error:2 0 8" >/sys/kernel/debug/nvmev/ssd0/inject
check "an error in the second is none in the first" dd if="$first" of=/dev/null bs=4k count=1 iflag=direct
check_fails "but in the second" dd if="$second" of=/dev/null bs=4k count=1 iflag=direct
echo clear >/sys/kernel/debug/nvmev/ssd0/inject
check_fails "there is no namespace 4 to break" sh -c "echo 'read_error:4 0 8' >/sys/kernel/debug/nvmev/ssd0/inject"

run_sentences python3 "$LAB_DIR/hints.py" "$second" /sys/kernel/debug/nvmev/ssd0
check_that "the first has its data still" "$(sum "$first" 64)" == "$before"
check "format of all" nvme format "$ctrl" --namespace-id=0xffffffff --lbaf=0 --force
check_that "nothing is in use" "$(ssd_stat ssd0 pages_mapped)" -eq 0
