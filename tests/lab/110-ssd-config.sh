#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# configfs: what cannot work is refused, at once or at `power`, with a reason
# that can be read, and nothing stays behind.
# kernels: uml
# long: 6.12
# smp: 1
# mem: 2G
# seconds: 40
# timeout: 320
# sentences: 143
. "$(dirname "$0")/rc"

ITEM=$CONFIGFS/item
PCI_BEFORE=$(ls /sys/bus/pci/devices)

set_to() {
	echo "$2" >"$ITEM/$1"
}

# at_once KEY VALUE: the file itself does not take it.
at_once() {
	local before

	before=$(<"$ITEM/$1")
	check_fails "$1 does not take '$2'" set_to "$1" "$2"
	[[ $(<"$ITEM/$1") == "$before" ]] || t_fail "$1 keeps its value after '$2'"
}

# explained SENTENCE WORDS KEY VALUE: refused with a reason of its own, and not with what 'error' has
# from before; what is taken leaves no reason there.
explained() {
	set_to channels abc 2>/dev/null || set_to power_cut_after abc 2>/dev/null || true
	set_to poll_us 0
	check_empty "'error' has nothing before $1" "$(<"$ITEM/error")"
	check_fails "$1 is refused" set_to "$3" "$4"
	check_that "... with a reason" "$(<"$ITEM/error")" =~ "$2"
}

# at_power SENTENCE KEY=VALUE...: refused with a sentence. That all are in the log is looked up once.
at_power() {
	local sentence=$1 word status=0
	shift
	mkdir "$ITEM"
	for word; do
		set_to "${word%%=*}" "${word#*=}" 2>/dev/null || status=1
	done
	if ((status)); then
		t_ok "refused at once: $sentence"
	elif set_to power 1 2>/dev/null; then
		t_fail "refused at power: $sentence"
	elif [[ ! $(<"$ITEM/error") =~ ^[A-Z].*\.$ ]]; then
		t_fail "refused with a sentence in 'error': $sentence"
		note "$(<"$ITEM/error")"
	else
		refused=$((refused + 1))
		t_ok "refused: $sentence"
		note "$(<"$ITEM/error")"
	fi
	[[ $(<"$ITEM/power") == 0 ]] || t_fail "power is off after it was refused: $sentence"
	[[ $(ls /sys/bus/pci/devices) == "$PCI_BEFORE" ]] || t_fail "no PCI function is left: $sentence"
	rmdir "$ITEM"
}

mkdir "$ITEM"
at_end drop_ssd item
for file in "$ITEM"/*; do
	# Some can only be written.
	[[ $(stat -c %A "$file") == -r* ]] || continue
	cat "$file" >/dev/null || t_fail "${file##*/} can be read"
done
check_that "the profile is fast24 at first" "$(<"$ITEM/profile")" == fast24
for value in abc -1 4294967296 1x ""; do
	at_once channels "$value"
done
at_once capacity_mib 99999999999999999999
at_once capacity_mib 17592186044416
at_once unit_kib 3
at_once wbuf_kib 4097
at_once read_ns ""
at_once read_ns 1,2,3,4,5
at_once read_ns 30000,fast
at_once map_cache_mib 16777216
at_once map_cache_mib 16777217
at_once namespace_mib ""
at_once namespace_mib 1,x
at_once namespace_mib -1
at_once namespace_mib 17592186044416
at_once namespace_mib 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17
at_once profile nothing
check_that "an unknown profile's error lists the known ones" "$(<"$ITEM/error")" =~ fast24
at_once plp maybe
at_once hints 2
at_once power 7
explained "a power that is neither on nor off" malformed power 7
explained "a power failure that is neither" malformed power_cut maybe
explained "an operation that is no number" malformed power_cut_after x
explained "a power failure of what is off" "switched off" power_cut_after 5
explained "hints to reject that are no number" malformed reject_hints x
explained "a discard that is neither" malformed discard x
check_fails "'error' cannot be written" set_to error none
rmdir "$ITEM"
check_fails "a name beyond 31 characters" mkdir "$CONFIGFS/$(printf 'n%.0s' {1..40})"

refused=0
mark_log
at_power "no channels" channels=0
at_power "65 channels" channels=65
at_power "no dies" dies_per_channel=0
at_power "a million dies" dies_per_channel=1000000
at_power "no planes" planes_per_die=0
at_power "a unit of nothing" unit_kib=0
at_power "a unit of 260 KiB" unit_kib=260
at_power "one unit an erase block" units_per_eblk=1
at_power "no reserve" reserve_permille=0
at_power "everything reserved" reserve_permille=1000
at_power "time scale 0" time_scale=0
at_power "time scale 1001" time_scale=1001
at_power "a channel that moves nothing" channel_mbps=0
at_power "a link that moves nothing" link_mbps=0
at_power "no open units" run_units=0
at_power "a buffer of one page" wbuf_kib=4
at_power "a first die that does not exist" seed_die=8
at_power "more shared pages than there are" share_pages=4294967295
at_power "a defrag log of nothing" share_pages=1 share_log_kib=0
at_power "a defrag log beyond a GiB" share_pages=1 share_log_kib=1048577
at_power "65 open stripes" stripe_lead=65
at_power "parity without stripes" parity=1
at_power "parity of one die" channels=1 dies_per_channel=1 stripe_lead=4 parity=1
at_power "handles without FDP" fdp_handles=2
at_power "handles in reclaim groups" fdp=1 fdp_groups=1 fdp_handles=2
at_power "17 handles" fdp=1 fdp_handles=17
at_power "handles and an SLC region" fdp=1 fdp_handles=2 slc_mib=64 cell_bits=3
at_power "handles and stripes" fdp=1 fdp_handles=2 stripe_lead=4
at_power "data in place that hints are to place" in_place=1 bg_eblks=0
at_power "data in place in a drive with FDP" in_place=1 bg_eblks=0 hints=0 fdp=1
at_power "data in place without power-loss protection" in_place=1 bg_eblks=0 hints=0 plp=0
at_power "data in place that is held" in_place=1 bg_eblks=0 hints=0 hold_ns=1000
at_power "data in place that is collected" in_place=1 hints=0
at_power "data in place that is shared" in_place=1 bg_eblks=0 hints=0 share_pages=100
at_power "data in place with a map elsewhere" in_place=1 bg_eblks=0 hints=0 map_cache_mib=1
at_power "a cache of 16385 MiB for the map" map_cache_mib=16385
at_power "more read ahead than 16 MiB" read_ahead_kib=16388
at_power "an SLC region in cells of one bit" slc_mib=1 cell_bits=1
at_power "an SLC region in cells of five bits" slc_mib=1 cell_bits=5
at_power "an SLC region of no program units" slc_mib=1 cell_bits=4 units_per_eblk=2
at_power "an SLC region larger than the rest" slc_mib=16777215
at_power "1024-byte blocks" lba_bytes=1024
at_power "no queues" queues=0
at_power "100 queues" queues=100
at_power "no command in a queue" queue_depth=0
at_power "more commands than a queue can hold" queue_depth=1024
at_power "no data in a command" mdts=0
at_power "mdts 32" mdts=32
at_power "nothing that is written whole" atomic_kib=0
at_power "more than 2 MiB that are written whole" atomic_kib=2052
at_power "64 KiB written whole without power-loss protection" atomic_kib=64 plp=0
at_power "no capacity" capacity_mib=0
at_power "16 EiB less a little" capacity_mib=17592186044415
at_power "more pages than the map can number" capacity_mib=33554432
at_power "a map that does not fit into memory" capacity_mib=8388608
at_power "a namespace of nothing" namespace_mib=512,0
at_power "namespaces beyond the capacity" capacity_mib=1024 namespace_mib=512,513
at_power "namespaces whose sum overflows" namespace_mib=17592186044415,17592186044415
at_power "open units that do not fit" run_units=4294967295
at_power "buffer beyond memory" wbuf_kib=4294967292 run_units=1000000
logged=$(new_log | grep -c "nvmev: item: " || true)
((logged == refused)) || t_fail "of $refused that were refused with a sentence all are in the log, which has $logged"

# What is on cannot be changed, but for reject_hints.
new_ssd item capacity_mib=512
check_fails "a property cannot change under power" set_to channels 2
explained "a property under power" "switched off" channels 2
explained "a list under power" "switched off" read_ns 1000
explained "a profile under power" "switched off" profile fast24
explained "a file under power" "switched off" backing_file /tmp/none
explained "forgetting under power" "switched off" discard 1
check "but for reject_hints" set_to reject_hints 0
check "power on twice is no error" set_to power 1
check_that "configfs names the block device" "/dev/$(<"$ITEM/block_device")" == "$DEV"
check "and the PCI function" test -d "/sys/bus/pci/devices/$(<"$ITEM/pci_address")"
check "rmdir under power" rmdir "$ITEM"
check "takes the device away" poll 10 test ! -b "$DEV"
# Of others there may be none.
check "and its PCI function" test "$(ls /sys/bus/pci/devices)" = "$PCI_BEFORE"

# Profiles.
for profile in nvme-a nvme-d sata tlc qlc modern slc-cache xpoint emmc ufs microsd large; do
	region=()
	[[ $profile != slc-cache ]] || region=(slc_mib=64)
	new_ssd item profile=$profile capacity_mib=2048 "${region[@]}"
	check "profile $profile works" dd if="$DEV" of=/dev/null bs=1M count=2 iflag=direct
	drop_ssd item
done

# Nothing leaks.
cycle() {
	each_time "$1" capacity_mib=4096 power=1 power=0
}
refuse_cycle() {
	each_time "$1" seed_die=99 '!power=1'
}

# each_time NR [!]KEY=VALUE...: makes an SSD that often, which takes that, or refuses it (!), and removes it
each_time() {
	python3 - "$ITEM" "$@" <<-'END'
		import os
		import sys

		item = sys.argv[1]
		for _ in range(int(sys.argv[2])):
		    os.mkdir(item)
		    for word in sys.argv[3:]:
		        key, value = word.lstrip("!").split("=")
		        file = os.open(f"{item}/{key}", os.O_WRONLY)
		        refused = False
		        try:
		            os.write(file, value.encode())
		        except OSError:
		            refused = True
		        os.close(file)
		        if refused != word.startswith("!"):
		            sys.exit(f"{word}: {'refused' if refused else 'taken'}")
		    os.rmdir(item)
	END
}
not_ready=$(dmesg | grep -c "Device not ready" || true)
cycle 3
refuse_cycle 20
settle_memory
before=$(mem_available_kib)
cycle 20
settle_memory
check_that "20 devices leave no memory behind (KiB)" $((before - $(mem_available_kib))) -lt 6144
check_that "a device that is switched off at once is not gone before its driver" \
	"$(dmesg | grep -c "Device not ready" || true)" -eq "$not_ready"
before=$(mem_available_kib)
refuse_cycle 200
settle_memory
check_that "200 refused devices leave no memory behind (KiB)" $((before - $(mem_available_kib))) -lt 4096
