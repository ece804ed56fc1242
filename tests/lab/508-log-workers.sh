#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Log mode: commits and checkpoints have workers of their own. When the kernel has no memory for threads, it has one
# for all works of a queue; and who waits there for room for a page of the map may wait for one of these.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 1G
# seconds: 5
# timeout: 120
# sentences: 9
. "$(dirname "$0")/rc"

EVENT=$TRACEFS/events/workqueue/workqueue_queue_work/enable

low_disk $((64 * 1024))
OPTIONS="idle_ms=100" new_log_target t0 /dev/mapper/low --segment 256K
echo 0 >"$TRACEFS/options/record-cmd"
echo >"$TRACEFS/trace"
at_end sh -c "echo 0 >$EVENT"
echo 1 >"$EVENT"

# Four tasks that flush meet each other; what nobody flushes is committed late.
fio --name=flush --filename="$TARGET" --rw=randwrite --bs=4k --size=16m --direct=1 --ioengine=psync --fsync=1 --numjobs=4 \
	--number_ios=500 --group_reporting >"$T_DIR/fio"
checkpointed() {
	fio --name=write --filename="$TARGET" --rw=randwrite --bs=4k --size=48m --direct=1 --ioengine=libaio --iodepth=32 \
		--fsync=1 --number_ios=2000 >"$T_DIR/fio"
	(($(status_field t0 checkpoints) > before))
}
before=$(status_field t0 checkpoints)
check "a checkpoint is taken" poll 60 checkpointed
dd if=/dev/zero of="$TARGET" bs=4k count=1 oflag=direct status=none
sleep 2
# Who needs a page of the map that is not in memory goes on by a worker. What has failed is told by one, too.
again t0
dd if="$TARGET" of=/dev/null bs=4k count=1 iflag=direct status=none
dd if=/dev/zero of="$TARGET" bs=4k count=1 oflag=direct status=none
becomes low "0 $SECTORS error"
sync "$TARGET" 2>/dev/null || true
sleep 1
echo 0 >"$EVENT"
sed -nE 's/.* function=(dmda_[a-z_]*).* workqueue=(dm-dieaware-[a-z]*).*/\1 \2/p' "$TRACEFS/trace" | sort -u >"$T_DIR/works"

# of FUNCTION: the queues of the worker
of() {
	awk -v function_="$1" '$1 == function_ { print $2 }' "$T_DIR/works"
}

for function in dmda_log_do_commit dmda_log_do_late dmda_log_do_checkpoint dmda_log_tell_failure; do
	check_that "$function has a worker of the commits' queue" "$(of $function)" == dm-dieaware-commit
done
for function in dmda_log_do_io dmda_log_do_space; do
	check_that "$function has one of another queue" "$(of $function)" == dm-dieaware-log
done
rescuers() {
	cat /proc/[0-9]*/comm | grep -c "R-dm-dieaware-$1" || true
}
check_that "for the commits' queue there is a thread when there is no memory for one" "$(rescuers commit)" -eq 1
check_that "and for the other one" "$(rescuers log)" -eq 1
