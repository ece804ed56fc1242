// SPDX-License-Identifier: GPL-2.0-only
//! What a filesystem lies on, from its device down to disks, as sysfs has it. Nothing is followed to
//! sectors, so this knows layers as well through which no place can be followed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::dm;
use crate::units::DeviceNumber;

const SYSFS: &str = "/sys/dev/block";

/// Layers that are looked at.
const MOST_LAYERS: usize = 64;

/// Types of targets that LVM's snapshots have: of the snapshot, of its volume, and of that while one
/// is merged into it.
const SNAPSHOTS: [&str; 3] = ["snapshot", "snapshot-merge", "snapshot-origin"];

/// How the kind of a layer of device-mapper begins.
const MAPPER: &str = "dm ";

/// A device in the stack.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Layer {
    /// Its node.
    pub node: PathBuf,
    /// What it is, such as `partition` or `dm linear`.
    pub kind: String,
    /// Is there nothing below?
    pub is_disk: bool,
    /// How many layers above it are.
    pub depth: usize,
}

fn read(path: &Path) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// The types of targets in a table of device-mapper.
fn target_types(table: &str) -> String {
    let types: BTreeSet<&str> = table
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2))
        .collect();
    types.into_iter().collect::<Vec<_>>().join(", ")
}

/// Who made a device of device-mapper, by its UUID: `LVM-…`, `CRYPT-LUKS2-…`. Everybody may read that.
fn maker(uuid: &str) -> &str {
    match uuid.split_once('-') {
        Some((maker, _)) if !maker.is_empty() => maker,
        _ => "of unknown type",
    }
}

/// The type of a pool of LVM's, by its UUID: who is not root does not get to see its table.
fn pool_of_lvm(uuid: &str) -> Option<&'static str> {
    let (_, layer) = uuid.strip_prefix("LVM-")?.split_once('-')?;

    match layer {
        "tpool" => Some("thin-pool"),
        "vpool" => Some("vdo"),
        _ => None,
    }
}

fn mapper(sysfs: &Path, device: DeviceNumber) -> String {
    let types = dm::table(device).map(|table| target_types(&table));
    let uuid = read(&sysfs.join("dm/uuid")).unwrap_or_default();
    let known = || pool_of_lvm(&uuid).unwrap_or_else(|| maker(&uuid));

    match types {
        Ok(types) if !types.is_empty() => format!("{MAPPER}{types}"),
        _ => format!("{MAPPER}{}", known()),
    }
}

fn disk(sysfs: &Path, name: &str) -> &'static str {
    if name.starts_with("nvme") {
        "NVMe"
    } else if read(&sysfs.join("queue/rotational")).as_deref() == Some("1") {
        "rotating disk"
    } else {
        "disk"
    }
}

/// One device, and the folders of what is directly below it.
fn look(sysfs: &Path, depth: usize) -> Option<(Layer, Vec<PathBuf>)> {
    let name = sysfs.file_name()?.to_str()?.to_owned();
    let number = read(&sysfs.join("dev"))?.parse().ok()?;
    let mut node = Path::new("/dev").join(&name);
    let mut below: Vec<PathBuf> = Vec::new();

    let kind = if sysfs.join("partition").exists() {
        below.extend(sysfs.parent().map(Path::to_owned));
        "partition".to_owned()
    } else if sysfs.join("dm").exists() {
        if let Some(name) = read(&sysfs.join("dm/name")) {
            node = Path::new("/dev/mapper").join(name);
        }
        mapper(sysfs, number)
    } else if sysfs.join("md").exists() {
        let level = read(&sysfs.join("md/level")).unwrap_or_default();
        format!("md {level}")
    } else if sysfs.join("loop").exists() {
        let file = read(&sysfs.join("loop/backing_file")).unwrap_or_default();
        format!("loop {file}").trim().to_owned()
    } else {
        disk(sysfs, &name).to_owned()
    };
    if below.is_empty() {
        let slaves = fs::read_dir(sysfs.join("slaves")).into_iter().flatten();
        let folders = slaves
            .flatten()
            .filter_map(|slave| fs::canonicalize(slave.path()).ok());
        below.extend(folders);
        below.sort();
    }
    let layer = Layer {
        node,
        kind,
        is_disk: below.is_empty(),
        depth,
    };
    Some((layer, below))
}

/// All layers from a device down, each followed by those below it. Empty: sysfs does not know it.
#[must_use]
pub fn layers(device: DeviceNumber) -> Vec<Layer> {
    let mut found = Vec::new();
    let first = fs::canonicalize(Path::new(SYSFS).join(device.to_string()));
    let mut todo: Vec<(PathBuf, usize)> = first.into_iter().map(|sysfs| (sysfs, 0)).collect();

    while let Some((sysfs, depth)) = todo.pop() {
        if found.len() == MOST_LAYERS {
            break;
        }
        if let Some((layer, below)) = look(&sysfs, depth) {
            found.push(layer);
            todo.extend(below.into_iter().rev().map(|sysfs| (sysfs, depth + 1)));
        }
    }
    found
}

/// The types of a layer's targets, if it is one of device-mapper's.
pub(super) fn types_of(layer: &Layer) -> impl Iterator<Item = &str> {
    let types = layer.kind.strip_prefix(MAPPER).unwrap_or_default();
    types.split(", ")
}

/// Has a layer a target of LVM's snapshots?
fn is_of_snapshot(layer: &Layer) -> bool {
    types_of(layer).any(|kind| SNAPSHOTS.contains(&kind))
}

/// Does what is written over to a device take up room of a snapshot of LVM's, wherever below that
/// lies?
#[must_use]
pub fn fills_snapshot(device: DeviceNumber) -> bool {
    layers(device).iter().any(is_of_snapshot)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::slice;

    use super::{is_of_snapshot, look, maker, pool_of_lvm, target_types, Layer, MAPPER};

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn types_of_targets_are_named_once() {
        assert_eq!(
            target_types("0 8 linear 8:1 0\n8 8 striped 2 8\n16 8 linear 8:1 9\n"),
            "linear, striped"
        );
        assert_eq!(target_types(""), "");
        assert_eq!(maker("LVM-abc-def"), "LVM");
        assert_eq!(pool_of_lvm("LVM-abc-tpool"), Some("thin-pool"));
        assert_eq!(pool_of_lvm("LVM-abc-vpool"), Some("vdo"));
        assert_eq!(pool_of_lvm("LVM-abc-pool"), None);
        assert_eq!(pool_of_lvm("CRYPT-abc-tpool"), None);
        assert_eq!(maker(""), "of unknown type");
    }

    #[test]
    fn snapshots_of_lvm_s_are_known_by_their_targets() {
        for (table, expected) in [
            ("0 8 snapshot 253:1 253:2 P 8", true),
            ("0 8 snapshot-origin 253:1", true),
            ("0 8 snapshot-merge 253:1 253:2 P 8", true),
            ("0 8 linear 8:1 0\n8 8 snapshot-origin 253:1", true),
            ("0 8 crypt aes 0 0 253:1 0", false),
            ("0 8 thin 253:1 1", false),
            ("", false),
        ] {
            let layer = Layer {
                node: "/dev/mapper/a".into(),
                kind: format!("{MAPPER}{}", target_types(table)),
                is_disk: false,
                depth: 0,
            };
            assert_eq!(is_of_snapshot(&layer), expected, "{table}");
        }
        let loop_file = Layer {
            node: "/dev/loop0".into(),
            kind: "loop snapshot".to_owned(),
            is_disk: true,
            depth: 0,
        };
        assert!(!is_of_snapshot(&loop_file));
    }

    #[test]
    fn what_lies_below_is_found_in_sysfs() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let disk = root.join("nvme9n1");
        write(&disk, "dev", "259:0\n");
        let part = disk.join("nvme9n1p2");
        write(&part, "dev", "259:2\n");
        write(&part, "partition", "2\n");
        let raid = root.join("md7");
        write(&raid, "dev", "9:7\n");
        write(&raid, "md/level", "raid1\n");
        fs::create_dir(raid.join("slaves")).unwrap();
        std::os::unix::fs::symlink(&part, raid.join("slaves/nvme9n1p2")).unwrap();

        let (layer, below) = look(&raid, 0).unwrap();
        assert_eq!((layer.kind.as_str(), layer.is_disk), ("md raid1", false));
        assert_eq!(below, slice::from_ref(&part));
        let (layer, below) = look(&part, 1).unwrap();
        assert_eq!((layer.kind.as_str(), layer.depth), ("partition", 1));
        assert_eq!(below, slice::from_ref(&disk));
        let (layer, below) = look(&disk, 2).unwrap();
        assert_eq!(
            (layer.kind.as_str(), layer.node.as_path(), layer.is_disk),
            ("NVMe", Path::new("/dev/nvme9n1"), true)
        );
        assert!(below.is_empty());
        assert!(look(&root.join("gone"), 0).is_none());
    }
}
