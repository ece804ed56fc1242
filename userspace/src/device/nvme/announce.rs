// SPDX-License-Identifier: GPL-2.0-only
//! What any NVMe drive says about itself that matters for where data lies: what it writes as a whole,
//! placement, and which log pages it has. By the NVMe specification, base 2.1 and command set NVM 1.1;
//! what a drive leaves zero it does not say.

use std::io;

use serde::Serialize;

use super::{parse_id, Namespace};

/// Supported Log Pages, and what Identify Controller says about its being there.
const LOG_SUPPORTED: u8 = 0;
const LPA_SUPPORTED: u8 = 1 << 5;
const NR_LOGS: usize = 256;

/// Bit of CTRATT.
const CTRATT_FDP: u32 = 1 << 19;

/// Bits of NSFEAT: the namespace has atomic units of its own, and optimal sizes.
const NSFEAT_NSABP: u8 = 1 << 1;
const NSFEAT_OPTPERF: u8 = 1 << 4;

/// Features of `struct dieaware_id`.
const FEATURE_SHARE: u16 = 4;
const FEATURE_REDISTRIBUTE: u16 = 8;

#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Announced {
    pub model: String,
    pub firmware: String,
    /// It says that it obeys dieaware's hints, that it spreads pages when asked to, and that it has one
    /// page stand for another, so that files are moved without a copy.
    pub hints: bool,
    pub redistribute: bool,
    pub share: bool,
    /// Flexible Data Placement can be switched on.
    pub fdp: bool,
    /// What is written as a whole or not at all: by a power failure, and as others see it.
    pub atomic_power_fail_bytes: u64,
    pub atomic_bytes: u64,
    /// The best size of writes, and the boundary that no command should cross; `None`: it does not say.
    pub write_granularity_bytes: Option<u64>,
    pub boundary_bytes: Option<u64>,
    /// Numbers of log pages from C0h on, which are the vendor's; `None`: it does not list them.
    pub vendor_logs: Option<Vec<u8>>,
}

fn u16_at(data: &[u8], at: usize) -> u64 {
    let bytes = data.get(at..at + 2).and_then(|bytes| bytes.try_into().ok());
    u64::from(bytes.map_or(0, u16::from_le_bytes))
}

fn u32_at(data: &[u8], at: usize) -> u32 {
    let bytes = data.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, u32::from_le_bytes)
}

fn u8_at(data: &[u8], at: usize) -> u8 {
    data.get(at).copied().unwrap_or(0)
}

/// What is printed must not move a terminal's cursor.
fn text_at(data: &[u8], at: usize, bytes: usize) -> String {
    let text = data.get(at..at + bytes).unwrap_or(&[]);
    let letters = text.iter().map(|byte| match byte {
        b' '..=b'~' => char::from(*byte),
        _ => '?',
    });
    letters.collect::<String>().trim().to_owned()
}

/// Bytes of a logical block; 512 where that cannot be.
fn lba_bytes(namespace: &[u8]) -> u64 {
    let index =
        usize::from(u8_at(namespace, 26) & 0xf) | usize::from(u8_at(namespace, 26) >> 5 & 3) << 4;
    match u8_at(namespace, 128 + 4 * index + 2) {
        shift @ 9..=20 => 1 << shift,
        _ => 512,
    }
}

/// From both structures of Identify.
fn parse(controller: &[u8], namespace: &[u8]) -> Announced {
    let lba = lba_bytes(namespace);
    let nsfeat = u8_at(namespace, 24);
    // Of the namespace if it has its own, else the controller's; they count from 0.
    let atomic = |own: usize, controllers: usize| {
        let blocks = match u16_at(namespace, own) {
            blocks if nsfeat & NSFEAT_NSABP != 0 && blocks != 0 => blocks,
            _ => u16_at(controller, controllers),
        };
        (blocks + 1) * lba
    };
    let id = parse_id(controller);
    let has = |feature| {
        id.as_ref()
            .is_some_and(|id| id.features.get() & feature != 0)
    };

    Announced {
        model: text_at(controller, 24, 40),
        firmware: text_at(controller, 64, 8),
        hints: id.as_ref().is_some_and(super::Id::announces_hints),
        redistribute: has(FEATURE_REDISTRIBUTE),
        share: has(FEATURE_SHARE),
        fdp: u32_at(controller, 96) & CTRATT_FDP != 0,
        atomic_bytes: atomic(34, 526),
        atomic_power_fail_bytes: atomic(36, 528),
        write_granularity_bytes: (nsfeat & NSFEAT_OPTPERF != 0)
            .then(|| (u16_at(namespace, 64) + 1) * lba),
        boundary_bytes: Some(u16_at(namespace, 46) * lba).filter(|bytes| *bytes != 0),
        vendor_logs: None,
    }
}

/// Which of the vendor's pages Supported Log Pages lists.
fn vendor_logs(data: &[u8]) -> Vec<u8> {
    (0xc0..=u8::MAX)
        .filter(|log| u32_at(data, 4 * usize::from(*log)) & 1 != 0)
        .collect()
}

/// Ask a drive.
///
/// # Errors
///
/// When it does not answer.
pub fn announced(namespace: &Namespace) -> io::Result<Announced> {
    let controller = namespace.identify_controller()?;
    let mut found = parse(&controller, &namespace.identify_namespace()?);

    if u8_at(&controller, 261) & LPA_SUPPORTED != 0 {
        let mut data = [0; 4 * NR_LOGS];
        let listed = namespace.log_page(LOG_SUPPORTED, 0, 0, &mut data);
        found.vendor_logs = listed.ok().map(|()| vendor_logs(&data));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::{ID_MAGIC, ID_OFFSET};
    use super::{parse, vendor_logs};

    #[test]
    fn what_a_drive_announces_is_read_where_the_specification_has_it() {
        let (mut controller, mut namespace) = (vec![0; 4096], vec![0; 4096]);
        controller[24..32].copy_from_slice(b"Drive\x1b X");
        controller[64..72].copy_from_slice(b"1.0     ");
        controller[98] = 0x08;
        controller[526..530].copy_from_slice(&[7, 0, 3, 0]);
        // Format 1 of 4 KiB
        namespace[26] = 1;
        namespace[134] = 12;
        let found = parse(&controller, &namespace);
        assert_eq!(
            (found.model.as_str(), found.firmware.as_str()),
            ("Drive? X????????????????????????????????", "1.0")
        );
        assert!(found.fdp && !found.hints && !found.redistribute && !found.share);
        assert_eq!(found.atomic_bytes, 8 * 4096);
        assert_eq!(found.atomic_power_fail_bytes, 4 * 4096);
        assert_eq!(
            (found.write_granularity_bytes, found.boundary_bytes),
            (None, None)
        );
        // The namespace's own
        namespace[24] = 0x12;
        namespace[34..38].copy_from_slice(&[1, 0, 0, 0]);
        namespace[46] = 32;
        namespace[64] = 15;
        let found = parse(&controller, &namespace);
        assert_eq!(found.atomic_bytes, 2 * 4096);
        assert_eq!(found.atomic_power_fail_bytes, 4 * 4096);
        assert_eq!(found.write_granularity_bytes, Some(16 * 4096));
        assert_eq!(found.boundary_bytes, Some(32 * 4096));
    }

    #[test]
    fn what_it_can_do_is_told_apart() {
        let mut controller = vec![0; 4096];
        controller[ID_OFFSET..ID_OFFSET + 8].copy_from_slice(ID_MAGIC);
        for (features, share, redistribute) in
            [(0, false, false), (4, true, false), (8, false, true)]
        {
            controller[ID_OFFSET + 10] = features;
            let found = parse(&controller, &[]);
            assert_eq!((found.share, found.redistribute), (share, redistribute));
        }
    }

    #[test]
    fn nothing_is_believed_of_a_drive_that_says_nonsense() {
        let found = parse(&[0xff; 100], &[]);
        assert_eq!(found.atomic_bytes, 512);
        assert!(!found.hints && found.model.chars().all(|letter| letter == '?'));
        parse(&[], &[0xff; 4096]);
        parse(&[0xff; 4096], &[0xff; 4096]);
    }

    #[test]
    fn pages_of_the_vendor_are_those_from_c0h_on() {
        let mut data = vec![0; 1024];
        data[4 * 2] = 1;
        data[4 * 0xc0] = 1;
        data[4 * 0xff] = 3;
        assert_eq!(vendor_logs(&data), [0xc0, 0xff]);
        assert!(vendor_logs(&data[..700]).is_empty());
    }
}
