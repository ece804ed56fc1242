// SPDX-License-Identifier: GPL-2.0-only
//! Pools from which a device below a filesystem takes room when it is written: thin pools and VDO. The
//! filesystem does not know how full they are, and a pool that is full fails the writes of all its volumes.

use std::path::Path;

use super::layers::{layers, types_of};
use super::stack;
use crate::dm;
use crate::dm::tables::{Segment, Table};
use crate::units::{DeviceNumber, SECTOR_BYTES};

const THIN: &str = "thin-pool";
const VDO: &str = "vdo";

/// VDO's blocks.
const VDO_BLOCK_BYTES: u64 = 4096;

/// How much a pool has, and has left.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Room {
    pub free_bytes: u64,
    pub all_bytes: u64,
    /// What it gives to a volume at once.
    pub block_bytes: u64,
}

/// A pool in the stack below a filesystem.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pool {
    pub node: String,
    /// `None`: it does not say.
    pub room: Option<Room>,
}

/// Of blocks as `used/all`.
fn room_of(used: u64, all: u64, block_bytes: u64) -> Option<Room> {
    Some(Room {
        free_bytes: all.checked_sub(used)?.checked_mul(block_bytes)?,
        all_bytes: all.checked_mul(block_bytes)?,
        block_bytes,
    })
}

impl Room {
    /// A pool that gives nothing to anybody, whatever it has.
    fn unless(self, gives_nothing: bool) -> Self {
        Self {
            free_bytes: if gives_nothing { 0 } else { self.free_bytes },
            ..self
        }
    }
}

/// A thin pool by its line of the table, `META DATA BLOCK_SECTORS ...`, and what it says of itself,
/// `ID USED/ALL-OF-META USED/ALL ROOT MODE ...`. One that has failed has no such figures. One whose metadata is full,
/// or needs a check, has the mode `ro`.
fn thin(line: &Segment, says: &Segment) -> Option<Room> {
    let block_sectors: u64 = line.params.split(' ').nth(2)?.parse().ok()?;
    let mut words = says.params.split(' ').skip(2);
    let (used, all) = words.next()?.split_once('/')?;
    let mode = words.nth(1)?;
    let room = room_of(
        used.parse().ok()?,
        all.parse().ok()?,
        block_sectors.checked_mul(SECTOR_BYTES)?,
    )?;

    Some(room.unless(mode != "rw"))
}

/// VDO by what it says of itself: `DEVICE MODE RECOVERY INDEX COMPRESSION USED ALL`. While it recovers, it is not
/// known how much is used.
fn vdo(says: &Segment) -> Option<Room> {
    let mut words = says.params.split(' ').skip(1);
    let (mode, recovery) = (words.next()?, words.next()?);
    let mut words = words.skip(2);
    let mut next = || words.next()?.parse().ok();
    let room = room_of(next()?, next()?, VDO_BLOCK_BYTES)?;

    (recovery == "-").then_some(room.unless(mode != "normal"))
}

fn room_in(table: &Table, status: &Table) -> Option<Room> {
    let ([line], [says]) = (table.segments(), status.segments()) else {
        return None;
    };

    match says.kind.as_str() {
        THIN => thin(line, says),
        VDO => vdo(says),
        _ => None,
    }
}

fn room(node: &Path) -> Option<Room> {
    let number = stack::number_of(node).ok()?;
    let table = Table::parse(&dm::table(number).ok()?).ok()?;
    let status = Table::parse(&dm::status(number).ok()?).ok()?;

    room_in(&table, &status)
}

/// The pools below a device.
#[must_use]
pub fn below(device: DeviceNumber) -> Vec<Pool> {
    let layers = layers(device);
    let pools = layers
        .iter()
        .filter(|layer| types_of(layer).any(|kind| [THIN, VDO].contains(&kind)));

    pools
        .map(|layer| Pool {
            node: layer.node.display().to_string(),
            room: room(&layer.node),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{room_in, Room};
    use crate::dm::tables::Table;

    fn found(table: &str, status: &str) -> Option<Room> {
        room_in(
            &Table::parse(table).unwrap(),
            &Table::parse(status).unwrap(),
        )
    }

    #[test]
    fn a_pool_says_how_much_it_has_left() {
        let table = "0 131072 thin-pool 254:1 254:2 128 0 1 skip_block_zeroing";
        let rest = "- rw discard_passdown queue_if_no_space - 1024";
        let mib = 1_u64 << 20;
        for (status, free_bytes) in [
            ("0/1024", 64 * mib),
            ("1000/1024", 24 << 16),
            ("1024/1024", 0),
        ] {
            let status = format!("0 131072 thin-pool 1 12/1024 {status} {rest}");
            let expected = Room {
                free_bytes,
                all_bytes: 64 * mib,
                block_bytes: 64 << 10,
            };
            assert_eq!(found(table, &status), Some(expected), "{status}");
        }
        // Its metadata is full, or damaged.
        for mode in ["ro", "out_of_data_space"] {
            let status =
                format!("0 131072 thin-pool 1 12/1024 0/1024 - {mode} discard_passdown - - 1");
            assert_eq!(found(table, &status).unwrap().free_bytes, 0, "{mode}");
        }
        for status in ["Fail", "Error", "", "1 12/1024 9/8 - rw", "1 12/1024 0/8 -"] {
            let status = format!("0 131072 thin-pool {status}");
            assert_eq!(found(table, &status), None, "{status}");
        }
    }

    #[test]
    fn vdo_says_it_in_blocks_of_its_own() {
        let table = "0 2097152 vdo V4 /dev/sda 262144 4096 32768 16380";
        let status = "0 2097152 vdo /dev/sda normal - online online 62144 262144";
        let room = found(table, status).unwrap();
        assert_eq!(room.free_bytes, 200_000 * 4096);
        assert_eq!(room.all_bytes, 1 << 30);
        assert_eq!(found(table, "0 8 vdo /dev/sda normal -"), None);
        let full = found(table, &status.replace("normal", "read-only")).unwrap();
        assert_eq!((full.free_bytes, full.all_bytes), (0, 1 << 30));
        assert_eq!(found(table, &status.replace(" - ", " recovering ")), None);
    }
}
