// SPDX-License-Identifier: GPL-2.0-only
//! Where the kernel that runs keeps what a probe reads, from the kernel's own description of its
//! types (BTF). Nothing is assumed about a version.

use std::path::Path;

use btf_rs::{Btf, BtfType, Type};
use thiserror::Error;

use crate::fs::btrfs;

/// The kernel's description of its types, and that of a module of its.
const VMLINUX: &str = "/sys/kernel/btf/vmlinux";
const BTRFS: &str = "/sys/kernel/btf/btrfs";

/// Structures within structures that are followed.
const MOST_DEPTH: usize = 8;

#[derive(Debug, Error)]
pub enum LayoutError {
    #[error("the kernel does not describe its types in {VMLINUX}: {0}")]
    Unreadable(#[from] btf_rs::Error),
    #[error("the kernel has no member {0} of struct {1}")]
    NoMember(&'static str, &'static str),
}

/// Offsets in bytes of members.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Layout {
    pub kiocb_file: u64,
    pub kiocb_pos: u64,
    pub kiocb_flags: u64,
    pub iter_count: u64,
    pub file_inode: u64,
    pub file_flags: u64,
    pub inode_number: u64,
    pub inode_size: u64,
    pub inode_sb: u64,
    pub sb_device: u64,
    pub fault_vma: u64,
    pub fault_page: u64,
    pub fault_flags: u64,
    pub vma_file: u64,
    pub vma_flags: u64,
    /// On btrfs
    pub subvolume: Option<Subvolume>,
}

/// Where a subvolume of btrfs is found, by which inode numbers repeat.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Subvolume {
    /// The pointer to it, from the inode that all filesystems have: before that, for btrfs' own inode holds both.
    pub root_from_inode: i64,
    /// What `stat` calls the device of its files
    pub device: u64,
}

impl Layout {
    /// Of the kernel that runs, and one of its filesystems.
    ///
    /// # Errors
    ///
    /// When it does not describe them.
    pub fn read(fs_type: &str) -> Result<Self, LayoutError> {
        let btf = Btf::from_file(VMLINUX)?;
        let of = |structure, member| offset(&btf, structure, member);
        let subvolume = (fs_type == btrfs::FS_TYPE).then(|| Subvolume::read(&btf));

        Ok(Self {
            kiocb_file: of("kiocb", "ki_filp")?,
            kiocb_pos: of("kiocb", "ki_pos")?,
            kiocb_flags: of("kiocb", "ki_flags")?,
            iter_count: of("iov_iter", "count")?,
            file_inode: of("file", "f_inode")?,
            file_flags: of("file", "f_flags")?,
            inode_number: of("inode", "i_ino")?,
            inode_size: of("inode", "i_size")?,
            inode_sb: of("inode", "i_sb")?,
            sb_device: of("super_block", "s_dev")?,
            fault_vma: of("vm_fault", "vma")?,
            fault_page: of("vm_fault", "pgoff")?,
            fault_flags: of("vm_fault", "flags")?,
            vma_file: of("vm_area_struct", "vm_file")?,
            vma_flags: of("vm_area_struct", "vm_flags")?,
            subvolume: subvolume.transpose()?,
        })
    }
}

impl Subvolume {
    /// From the module, or from the kernel if that is built in.
    fn read(kernel: &Btf) -> Result<Self, LayoutError> {
        let path = Path::new(BTRFS);
        let module = if path.exists() {
            Some(Btf::from_split_file(path, kernel)?)
        } else {
            None
        };
        let of = |structure, member| offset(module.as_ref().unwrap_or(kernel), structure, member);

        let place = |member| of("btrfs_inode", member).map(|bytes| bytes as i64);

        Ok(Self {
            root_from_inode: place("root")? - place("vfs_inode")?,
            device: of("btrfs_root", "anon_dev")?,
        })
    }
}

fn offset(btf: &Btf, structure: &'static str, member: &'static str) -> Result<u64, LayoutError> {
    let types = btf.resolve_types_by_name(structure)?;
    let found = types
        .iter()
        .find_map(|kind| bit_offset(btf, kind, member, 0));

    match found {
        Some(bits) if bits % 8 == 0 => Ok(bits / 8),
        _ => Err(LayoutError::NoMember(member, structure)),
    }
}

/// Where a member is, also in structures without a name, which may be constant.
fn bit_offset(btf: &Btf, kind: &Type, name: &str, depth: usize) -> Option<u64> {
    if let Type::Const(constant) = kind {
        let inner = btf.resolve_type_by_id(constant.get_type_id()?).ok()?;
        return bit_offset(btf, &inner, name, depth);
    }
    let (Type::Struct(structure) | Type::Union(structure)) = kind else {
        return None;
    };
    if depth == MOST_DEPTH {
        return None;
    }
    structure.members.iter().find_map(|member| {
        let at = u64::from(member.bit_offset());
        // What has no name is named by an empty one, or by none.
        match btf.resolve_name(member) {
            Ok(found) if found == name => Some(at),
            Ok(found) if !found.is_empty() => None,
            _ => {
                let inner = btf.resolve_type_by_id(member.get_type_id()?).ok()?;
                Some(at + bit_offset(btf, &inner, name, depth + 1)?)
            }
        }
    })
}
