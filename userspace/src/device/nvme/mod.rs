// SPDX-License-Identifier: GPL-2.0-only
//! Asking an NVMe device what only it knows. The driver passes commands on as they are, by its
//! ioctls; nothing else in the kernel has the vendor's log pages.

pub mod announce;
pub mod defrag_log;
pub mod dies;
pub mod placement;
pub mod spread;

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use nix::errno::Errno;
use nix::libc::{self, c_int};
use zerocopy::little_endian::U16;
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

const OPCODE_GET_LOG_PAGE: u8 = 0x02;
const OPCODE_IDENTIFY: u8 = 0x06;
/// A command that has a drive copy a lot takes its time.
const IO_TIMEOUT_MS: u32 = 120_000;
const IDENTIFY_BYTES: usize = 4096;
const CNS_NAMESPACE: u32 = 0;
const CNS_CONTROLLER: u32 = 1;

/// Where `struct dieaware_id` (`include/dieaware/hint.h`) lies in Identify Controller.
const ID_OFFSET: usize = 3072;
const ID_MAGIC: &[u8; 8] = b"DIEAWARE";
const HINT_VERSION: u16 = 1;
const FEATURES_BOTH: u16 = 3;

/// `struct nvme_passthru_cmd` of the kernel.
#[repr(C)]
#[derive(Default)]
struct Command {
    opcode: u8,
    flags: u8,
    reserved: u16,
    nsid: u32,
    cdw2: u32,
    cdw3: u32,
    metadata: u64,
    addr: u64,
    metadata_len: u32,
    data_len: u32,
    cdw10: u32,
    cdw11: u32,
    cdw12: u32,
    cdw13: u32,
    cdw14: u32,
    cdw15: u32,
    timeout_ms: u32,
    result: u32,
}

impl Command {
    fn accepted(&self, status: c_int) -> io::Result<()> {
        if status != 0 {
            return Err(io::Error::other(format!(
                "the device refused command {:#x} with NVMe status {status:#x}",
                self.opcode
            )));
        }
        Ok(())
    }
}

nix::ioctl_none_bad!(nvme_ioctl_id, nix::request_code_none!(b'N', 0x40));
nix::ioctl_readwrite!(nvme_ioctl_admin_cmd, b'N', 0x41, Command);
nix::ioctl_readwrite!(nvme_ioctl_io_cmd, b'N', 0x43, Command);

/// What a device says about hints.
#[derive(Clone, Debug, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Id {
    magic: [u8; 8],
    version: U16,
    features: U16,
    pub log_geometry: u8,
    pub log_dies: u8,
    /// 0: there is none.
    pub log_map: u8,
    pub log_dof: u8,
    pub log_wear: u8,
    pub log_defrag: u8,
    reserved: [u8; 14],
}

impl Id {
    /// Does the device understand hints? The target decides alike.
    pub fn announces_hints(&self) -> bool {
        self.version.get() == HINT_VERSION && self.features.get() & FEATURES_BOTH == FEATURES_BOTH
    }
}

/// A namespace.
#[derive(Debug)]
pub struct Namespace {
    file: File,
    nsid: u32,
}

impl Namespace {
    /// Open a whole namespace by its block device.
    ///
    /// # Errors
    ///
    /// When it cannot be opened, or is none of NVMe's.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        // SAFETY: the ioctl has no argument, and the descriptor is open.
        let nsid = unsafe { nvme_ioctl_id(file.as_raw_fd()) };

        match nsid.map(u32::try_from) {
            Ok(Ok(nsid)) if nsid != 0 => Ok(Self { file, nsid }),
            // Some drivers say that of what they do not know, as those of loop devices and of mmc.
            Ok(_) | Err(Errno::EINVAL) => Err(io::Error::from_raw_os_error(libc::ENOTTY)),
            Err(err) => Err(err.into()),
        }
    }

    fn admin(&self, mut command: Command, data: &mut [u8]) -> io::Result<()> {
        command.addr = data.as_mut_ptr() as u64;
        command.data_len = data.len() as u32;
        // The driver's own: it resets a controller that is late, and stops everybody's I/O for that.
        command.timeout_ms = 0;
        // SAFETY: the driver reads the command and writes as many bytes as the slice has.
        let status = unsafe { nvme_ioctl_admin_cmd(self.file.as_raw_fd(), &mut command) }?;
        command.accepted(status)
    }

    /// An I/O command with data for the device; returns dword 0 of its completion.
    fn io(&self, mut command: Command, data: &mut [u8]) -> io::Result<u32> {
        command.nsid = self.nsid;
        command.addr = data.as_mut_ptr() as u64;
        command.data_len = data.len() as u32;
        command.timeout_ms = IO_TIMEOUT_MS;
        // SAFETY: the driver reads the command and as many bytes as the slice has.
        let status = unsafe { nvme_ioctl_io_cmd(self.file.as_raw_fd(), &mut command) }?;
        command.accepted(status)?;
        Ok(command.result)
    }

    fn identify(&self, cns: u32, nsid: u32) -> io::Result<Vec<u8>> {
        let mut data = vec![0; IDENTIFY_BYTES];
        let command = Command {
            opcode: OPCODE_IDENTIFY,
            nsid,
            cdw10: cns,
            ..Command::default()
        };

        self.admin(command, &mut data)?;
        Ok(data)
    }

    fn identify_controller(&self) -> io::Result<Vec<u8>> {
        self.identify(CNS_CONTROLLER, 0)
    }

    fn identify_namespace(&self) -> io::Result<Vec<u8>> {
        self.identify(CNS_NAMESPACE, self.nsid)
    }

    /// What the device says about hints, if it knows of them.
    ///
    /// # Errors
    ///
    /// When it does not answer.
    pub fn id(&self) -> io::Result<Option<Id>> {
        Ok(parse_id(&self.identify_controller()?))
    }

    /// A part of a log page; its place and size are multiples of 4.
    ///
    /// # Errors
    ///
    /// When the device does not have it.
    pub fn log_page(&self, page: u8, lsp: u8, at: u64, data: &mut [u8]) -> io::Result<()> {
        let dwords = (data.len() / 4).saturating_sub(1) as u32;
        let command = Command {
            opcode: OPCODE_GET_LOG_PAGE,
            nsid: self.nsid,
            cdw10: u32::from(page) | u32::from(lsp & 0x7f) << 8 | (dwords & 0xffff) << 16,
            cdw11: dwords >> 16,
            cdw12: at as u32,
            cdw13: (at >> 32) as u32,
            ..Command::default()
        };

        self.admin(command, data)
    }
}

fn parse_id(data: &[u8]) -> Option<Id> {
    let (id, _) = Id::read_from_prefix(data.get(ID_OFFSET..)?).ok()?;
    (id.magic == *ID_MAGIC).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::{parse_id, Command, ID_MAGIC, ID_OFFSET};

    #[test]
    fn the_command_is_the_kernel_s() {
        assert_eq!(size_of::<Command>(), 72);
        assert_eq!(std::mem::offset_of!(Command, cdw10), 40);
    }

    #[test]
    fn only_a_device_that_says_so_understands_hints() {
        let mut data = vec![0; 4096];
        assert!(parse_id(&data).is_none());
        assert!(parse_id(&data[..3080]).is_none());
        data[ID_OFFSET..ID_OFFSET + 8].copy_from_slice(ID_MAGIC);
        assert!(!parse_id(&data).unwrap().announces_hints());
        data[ID_OFFSET + 8] = 1;
        data[ID_OFFSET + 10] = 1;
        assert!(!parse_id(&data).unwrap().announces_hints());
        data[ID_OFFSET + 10] = 0xf;
        data[ID_OFFSET + 14] = 0xc2;
        let id = parse_id(&data).unwrap();
        assert!(id.announces_hints() && id.log_map == 0xc2);
        data[ID_OFFSET + 8] = 2;
        assert!(!parse_id(&data).unwrap().announces_hints());
    }
}
