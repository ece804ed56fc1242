#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dieaware move: what a move has left whose log counts since destroys no log, whatever has become of the old
# device; the log of one that is not complete is not made, also when the names of devices have changed; a dietab that cannot be replaced is found before anything
# is begun.
# kernels: uml
# smp: 1
# mem: 2G
# seconds: 12
# timeout: 900
# sentences: 41
# shellcheck disable=SC2034,SC2154
. "$(dirname "$0")/rc"
. "$(dirname "$0")/move-volume"

FIRST=20 SECOND=12
# shellcheck disable=SC2119
new_machine

mkdir "$T_DIR/bin"
# Takes dmsetup's place: whoever has removed a device is killed.
cat >"$T_DIR/bin/dmsetup" <<'EOF'
#!/bin/bash
PATH=${PATH#*:} dmsetup "$@" || exit
[[ $1 != remove ]] || kill -9 "$PPID"
EOF
chmod +x "$T_DIR/bin/dmsetup"

# ---- what is left of a move whose log counts since
# in_use_since: the move was killed when only its record had to be forgotten, and its log is used since.
# The old device is a volume of its own again.
in_use_since() {
	forget_all
	make_fs ext4 /dev/mapper/volume
	PATH=$T_DIR/bin:$PATH dieaware move volume "$TO" >"$T_DIR/said" 2>&1 && return 1
	drop_target volume
	mount /dev/mapper/volume-log "$mnt" && write_mib "$mnt/since" 2 conv=fsync && umount "$mnt" || return 1
	new_volume
	[[ -n $(ls -A /var/lib/dieaware/moves) ]] && grep -q '^volume-log UUID' /etc/dietab
}

# log_stays: neither it nor what is on it has gone
log_stays() {
	dmsetup info volume-log && check_fs ext4 /dev/mapper/volume-log && drop_target volume-log && dieaware check "$TO"
}

# nothing_undone WORDS
nothing_undone() {
	exits 2 "$1" dieaware move --undo volume
	exits 2 "$1" dieaware move --dry-run volume "$TO"
	exits 2 "$1" dieaware move volume "$TO"
}

check "a move is killed at its end, and its log is used" in_use_since
make_fs ext4 /dev/mapper/volume
nothing_undone "/etc/dietab leads to the log volume-log"
check "a log that dietab leads to stays, whatever the old device holds" log_stays
check "another one" in_use_since
rm /etc/dietab
dmsetup suspend volume
nothing_undone "volume is suspended, so that nobody knows whether it was moved"
dmsetup resume volume
check "so it does while the old device is suspended, which cannot be read" log_stays
forget_all

# ---- the machine stops while all is copied, and something leads to the log at boot
make_fs ext4 /dev/mapper/volume
modprobe dm-mirror
at_end copy_share 100
begin_slow_move volume 1
kill -9 $MOVING
copy_share 100
after_reboot
exits 2 "an incomplete copy: a move to it was begun" dieaware create db "$TO" --mode log
drop_target db
record=/var/lib/dieaware/moves/volume
cp "$record" "$T_DIR/record"
# another_name: names of devices are others since a reboot, and the log's is that of another device
another_name() {
	sed -i -e "s|\"$TO\"|\"$DEV\"|" -e 's|"boot": "[^"]*"|"boot": "before"|' "$record"
	! cmp "$record" "$T_DIR/record"
}
check "names have changed meanwhile" another_name
exits 0 "keeps an incomplete copy: neither $DEV nor" dieaware move --undo volume
exits 2 "an incomplete copy: a move to it was begun" dieaware create db "$TO" --mode log
exits 2 "remove $record, its record, if it is gone" dieaware move volume "$TO"
check "its record stays while the log is not found" test -s "$record"
uuid=$(jq -r .log_uuid "$record")
mkdir -p /dev/disk/by-uuid
ln -s "$TO" "/dev/disk/by-uuid/$uuid"
at_end rm -f "/dev/disk/by-uuid/$uuid"
check "such a move is undone where its UUID leads" dieaware move --undo volume
check "and nothing is left of it" is_plain
check_fails "nor of the log" dieaware check "$TO"
forget_all

# ---- dietab cannot be replaced
printf '# mine\n' >"$T_DIR/dietab"
cp "$T_DIR/dietab" /etc/dietab
make_fs ext4 /dev/mapper/volume
mount --bind "$T_DIR/dietab" /etc/dietab
exits 3 "something is mounted there" dieaware move volume "$TO"
umount /etc/dietab
check "a file that is a mount point is not dietab's end: all is as it was" is_plain
rm /etc/dietab
dd if=/dev/zero of="$T_DIR/image" bs=1M count=8 status=none
mkfs.ext4 -q -F "$T_DIR/image"
modprobe loop
mkdir "$T_DIR/etc"
mount -o loop "$T_DIR/image" "$T_DIR/etc"
at_end umount "$T_DIR/etc"
cp "$T_DIR/dietab" "$T_DIR/etc/dietab"
ln -s "$T_DIR/etc/dietab" /etc/dietab
for flag in i a; do
	chattr +$flag "$T_DIR/etc/dietab"
	exits 3 "it must not be changed (chattr +i, +a)" dieaware move volume "$TO"
	chattr -$flag "$T_DIR/etc/dietab"
	check "nor with chattr +$flag" is_plain
done
chattr +a "$T_DIR/etc"
exits 3 "what is in its folder must not be replaced (chattr +i, +a)" dieaware move volume "$TO"
chattr -a "$T_DIR/etc"
check "nor in such a folder" is_plain
rm /etc/dietab
