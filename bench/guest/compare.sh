# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# With COMPARE_SIM, everything that reaches the SSD from its first command on is recorded
# and replayed by the simulator (dieaware sim), which then must read as fast as the
# module did. Sourced by place.sh, behind lib.sh.

COMPARE_READS=5
# Long enough for all dies to finish what they have in the buffer, on any scale
COMPARE_IDLE_S=30

# Begin to record, for the SSD that is made next.
record_commands() {
	if [[ -z ${COMPARE_SIM:-} ]]; then
		return 0
	fi
	modprobe -a nvme configfs nvmevirt-backend
	echo 32768 >"$TRACING/buffer_size_kb"
	echo >"$TRACING/trace"
	echo 1 >"$TRACING/events/nvmev/enable"
}

# compare_with_simulator ROW: read the file, and let the simulator do what was recorded.
# Commands that were in flight together are given together, and what the host did between
# them takes no time there.
compare_with_simulator() {
	local row=$1 line spans bytes words

	if [[ -z ${COMPARE_SIM:-} ]]; then
		return 0
	fi
	sleep "$COMPARE_IDLE_S"
	echo "dieaware: idle ${COMPARE_IDLE_S}000000000" >"$TRACING/trace_marker"
	# The first read also fetches the file's metadata.
	# shellcheck disable=SC2046
	readback --file "$MOUNT/file" --reads 1 $(direct_option) >/tmp/warm ||
		die "The file could not be read."
	echo "dieaware: mark" >"$TRACING/trace_marker"
	# shellcheck disable=SC2046
	line=$(readback --file "$MOUNT/file" --reads "$COMPARE_READS" $(direct_option)) ||
		die "The file could not be read."
	echo 0 >"$TRACING/events/nvmev/enable"
	"$BENCH_DIR/dieaware" sim --batches --json --check --profile "$SSD_PROFILE" \
		--set "capacity_mib=$SSD_CAPACITY_MB" --set "time_scale=$SSD_SCALE" \
		"$TRACING/trace" >/tmp/simulated || die "The recorded commands cannot be replayed."
	bytes=$(jq '.ops.read.bytes' /tmp/simulated)
	words=" $line "
	spans=${words#* runs_ns=}
	spans=${spans%% *}
	report "simulated=$row bytes=$bytes module_ns=$((${spans//,/+}))" \
		"simulator_ns=$(jq '.ops.read.span_ns' /tmp/simulated)"
}
