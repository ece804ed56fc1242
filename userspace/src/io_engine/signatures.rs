// SPDX-License-Identifier: GPL-2.0-only
//! Signs that a device holds somebody's data: what filesystems, volume managers and
//! partition tables write at places that never change.

use std::io;

use super::pages::Device;

/// A place counted from the beginning of the device, or from its end.
#[derive(Clone, Copy, Debug)]
enum At {
    Begin(u64),
    End(u64),
    /// Where MD keeps the superblock of its oldest formats.
    Md090,
    Md10,
}

struct Signature {
    /// As it stands in a sentence: "holds ...".
    what: &'static str,
    at: At,
    magic: &'static [u8],
}

const fn sign(what: &'static str, at: At, magic: &'static [u8]) -> Signature {
    Signature { what, at, magic }
}

const MD: &[u8] = &[0xfc, 0x4e, 0x2b, 0xa9];
const BCACHE: &[u8] = &[
    0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81,
];
const BCACHEFS: &[u8] = &[
    0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9, 0xd9, 0x6a, 0x60, 0xcf, 0x80, 0x3d, 0xf7, 0xef,
];

/// The project's own.
pub const LOG_MODE: &str = "a device in log mode";

const SIGNATURES: &[Signature] = &[
    sign(LOG_MODE, At::Begin(4), b"mDSb"),
    sign(LOG_MODE, At::Begin(16 * 4096 + 4), b"mDSb"),
    sign(
        "an ext2, ext3 or ext4 filesystem",
        At::Begin(0x438),
        &[0x53, 0xef],
    ),
    sign("an XFS filesystem", At::Begin(0), b"XFSB"),
    sign("a btrfs filesystem", At::Begin(0x10040), b"_BHRfS_M"),
    sign(
        "an F2FS filesystem",
        At::Begin(0x400),
        &[0x10, 0x20, 0xf5, 0xf2],
    ),
    sign(
        "an F2FS filesystem",
        At::Begin(0x1400),
        &[0x10, 0x20, 0xf5, 0xf2],
    ),
    sign("an LVM physical volume", At::Begin(0), b"LABELONE"),
    sign("an LVM physical volume", At::Begin(0x200), b"LABELONE"),
    sign("an LVM physical volume", At::Begin(0x400), b"LABELONE"),
    sign("an LVM physical volume", At::Begin(0x600), b"LABELONE"),
    sign("a LUKS volume", At::Begin(0), b"LUKS\xba\xbe"),
    sign("a LUKS volume", At::Begin(0x4000), b"SKUL\xba\xbe"),
    sign("swap space", At::Begin(4086), b"SWAPSPACE2"),
    sign("swap space", At::Begin(4086), b"SWAP-SPACE"),
    sign("a suspended system", At::Begin(4086), b"S1SUSPEND"),
    sign("a member of an MD array", At::Begin(0), MD),
    sign("a member of an MD array", At::Begin(4096), MD),
    sign("a member of an MD array", At::Md10, MD),
    sign("a member of an MD array", At::Md090, MD),
    sign("a GUID partition table", At::Begin(512), b"EFI PART"),
    sign("a GUID partition table", At::Begin(4096), b"EFI PART"),
    sign("a GUID partition table", At::End(512), b"EFI PART"),
    sign("a GUID partition table", At::End(4096), b"EFI PART"),
    sign(
        "a partition table or a FAT filesystem",
        At::Begin(510),
        &[0x55, 0xaa],
    ),
    sign("an NTFS filesystem", At::Begin(3), b"NTFS    "),
    sign("an exFAT filesystem", At::Begin(3), b"EXFAT   "),
    sign("an ISO 9660 filesystem", At::Begin(0x8001), b"CD001"),
    sign("a UDF filesystem", At::Begin(0x8001), b"BEA01"),
    sign("a squashfs filesystem", At::Begin(0), b"hsqs"),
    sign(
        "an EROFS filesystem",
        At::Begin(1024),
        &[0xe2, 0xe1, 0xf5, 0xe0],
    ),
    sign("a JFS filesystem", At::Begin(0x8000), b"JFS1"),
    sign("a NILFS2 filesystem", At::Begin(0x406), &[0x34, 0x34]),
    sign("a ReiserFS filesystem", At::Begin(0x10034), b"ReIsEr"),
    sign("a bcache device", At::Begin(0x1018), BCACHE),
    sign("a bcachefs filesystem", At::Begin(0x1018), BCACHEFS),
    sign("a VDO volume", At::Begin(0), b"dmvdo001"),
    sign(
        "a Stratis pool",
        At::Begin(512),
        b"!Stra0tis\x86\xff\x02^\x41rh",
    ),
    sign("a BlueStore", At::Begin(0), b"bluestore block device"),
    sign("a dm-integrity volume", At::Begin(0), b"integrt\0"),
    sign("a dm-verity tree", At::Begin(0), b"verity\0\0"),
    sign(
        "the metadata of a thin pool",
        At::Begin(32),
        &[0xb2, 0xab, 0x7e, 0x01],
    ),
];

/// Where ZFS has its uberblocks: one of many places is enough.
const ZFS_FIRST: u64 = 128 << 10;
const ZFS_STEP: u64 = 1024;
const ZFS_PLACES: u64 = 128;
const ZFS: &[u8] = &[0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0];

/// A sign that was found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Found {
    pub what: &'static str,
    /// Where, in bytes.
    pub at: u64,
    /// How long it is, in bytes.
    pub bytes: usize,
}

impl At {
    fn resolve(self, device_bytes: u64) -> Option<u64> {
        match self {
            Self::Begin(at) => Some(at),
            Self::End(back) => device_bytes.checked_sub(back),
            Self::Md090 => (device_bytes & !0xffff).checked_sub(0x10000),
            Self::Md10 => Some(device_bytes.checked_sub(0x2000)? & !0xfff),
        }
    }
}

fn is_at(device: &Device, at: u64, magic: &[u8]) -> io::Result<bool> {
    let mut bytes = vec![0; magic.len()];
    let end = at.saturating_add(magic.len() as u64);

    if end > device.bytes() {
        return Ok(false);
    }
    device.read_bytes(at, &mut bytes)?;
    Ok(bytes == magic)
}

/// All signs of data on a device.
///
/// # Errors
///
/// When it cannot be read.
pub fn find(device: &Device) -> io::Result<Vec<Found>> {
    let mut found = Vec::new();
    let known = SIGNATURES.iter().filter_map(|signature| {
        let at = signature.at.resolve(device.bytes())?;
        Some((signature.what, at, signature.magic))
    });
    let zfs = (0..ZFS_PLACES).map(|place| ("a ZFS pool", ZFS_FIRST + place * ZFS_STEP, ZFS));

    for (what, at, magic) in known.chain(zfs) {
        if is_at(device, at, magic)? {
            found.push(Found {
                what,
                at,
                bytes: magic.len(),
            });
        }
    }
    Ok(found)
}

/// Make signs unreadable, so that nobody takes the device for what it was.
///
/// # Errors
///
/// When it cannot be written.
pub fn erase(device: &Device, found: &[Found]) -> io::Result<()> {
    for sign in found {
        device.write_bytes(sign.at, &vec![0; sign.bytes])?;
    }
    Ok(())
}
