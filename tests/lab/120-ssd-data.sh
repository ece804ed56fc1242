#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The virtual SSD keeps data: all block sizes and depths, both LBA sizes, two
# devices at once; capacity is thin and TRIM gives memory back.
# kernels: uml
# long: 6.12
# smp: 2
# smp on uml: 1
# mem: 2G
# seconds: 60
# timeout: 480
# sentences: 30
. "$(dirname "$0")/rc"

# verify SENTENCE OPTION...
verify() {
	local sentence=$1
	shift
	check "$sentence" fio --direct=1 --verify=crc32c --verify_fatal=1 --ioengine=libaio --iodepth=16 \
		--group_reporting "$@"
}

new_ssd ssd0 capacity_mib=512
first=$DEV
new_ssd ssd1 capacity_mib=512 lba_bytes=4096
second=$DEV
check_that "two devices" "$first" != "$second"
check_that "the second has 4096-byte blocks" "$(blockdev --getss "$second")" -eq 4096

for size in 512 1k 2k 4k 8k 16k 64k 256k 1m; do
	verify "random writes of $size" --name="r$size" --filename="$first" --rw=randwrite --bs=$size --size=64m \
		--io_size=2m
done
verify "writes at odd places" --name=odd --filename="$first" --rw=randwrite --bsrange=512-128k --bs_unaligned=0 \
	--blockalign=512 --size=32m --io_size=8m
for size in 4k 32k 1m; do
	verify "random writes of $size, 4096-byte blocks" --name="s$size" --filename="$second" --rw=randwrite --bs=$size \
		--size=64m --io_size=4m
done
verify "both devices at once, depth 256 by 4 jobs" \
	--name=a --filename="$first" --rw=randwrite --bs=4k --size=16m --io_size=4m --iodepth=256 --numjobs=2 --offset_increment=32m \
	--name=b --filename="$second" --rw=randwrite --bs=4k --size=16m --io_size=4m --iodepth=256 --numjobs=2 --offset_increment=32m
check "depth 1024 by 8 jobs, nothing is lost" fio --name=deep --filename="$first" --rw=randrw --bs=4k --size=64m \
	--io_size=1m --iodepth=1024 --numjobs=8 --direct=1 --ioengine=libaio --group_reporting
check "with FUA and FLUSH between" fio --name=fua --filename="$first" --rw=randwrite --bs=4k --size=4m --direct=1 \
	--sync=dsync --ioengine=psync --verify=crc32c --verify_fatal=1
check "fsync after every write" fio --name=fsync --filename="$second" --rw=randwrite --bs=4k --size=4m --direct=1 \
	--fsync=1 --ioengine=psync --verify=crc32c --verify_fatal=1
verify "discards between" --name=trim --filename="$first" --rw=randtrimwrite --bs=16k --size=16m --iodepth=1

# What is discarded reads as zero, right up to its edges.
dd if=/dev/urandom of="$T_DIR/data" bs=1M count=4 status=none
dd if="$T_DIR/data" of="$first" bs=1M oflag=direct status=none
blkdiscard -o $((1 << 20)) -l $((2 << 20)) "$first"
dd if=/dev/zero of="$T_DIR/data" bs=1M seek=1 count=2 conv=notrunc status=none
check "a discard zeroes its range and nothing else" cmp -n $((4 << 20)) "$T_DIR/data" "$first"
drop_ssd ssd1

# memory_is_back KIB: so much is available, at some time: a busy kernel frees it later.
memory_is_back() {
	settle_memory
	(($(mem_available_kib) > $1))
}

# Memory: TRIM gives it back.
blkdiscard "$first"
settle_memory
empty=$(mem_available_kib)
write_mib "$first" 256 oflag=direct
settle_memory
full=$(mem_available_kib)
check_that "256 MiB of data take 256 MiB of memory (KiB)" $((empty - full)) -ge $((250 * 1024))
check_that "and little more" $((empty - full)) -le $((290 * 1024))
blkdiscard "$first"
check "TRIM gives it back" poll 60 memory_is_back $((empty - 16 * 1024))
drop_ssd ssd0

# Thin: far more capacity than memory. The first round warms up what stays.
for round in 1 2; do
	settle_memory
	before=$(mem_available_kib)
	new_ssd big capacity_mib=61440
	if ((round == 1)); then
		check_that "60 GiB of capacity on 2 GiB of memory" "$(blockdev --getsize64 "$DEV")" -eq $((61440 << 20))
		note "its tables take $(((before - $(mem_available_kib)) >> 10)) MiB"
		check "what was never written is zero" \
			sh -c "dd if=$DEV bs=1M skip=30000 count=8 iflag=direct status=none | cmp -n 8388608 - /dev/zero"
		check "a filesystem over all of it" mkfs.xfs -q -f "$DEV"
	fi
	check "data at its end" fio --name=end --filename="$DEV" --offset=61400m --size=32m --rw=randwrite --bs=64k \
		--direct=1 --ioengine=libaio --iodepth=8 --verify=crc32c --verify_fatal=1
	drop_ssd big
done
check "all of it comes back" poll 60 memory_is_back $((before - 8 * 1024))
