// SPDX-License-Identifier: GPL-2.0-only
//! Where the kernel that runs keeps what a probe reads, from the kernel's own description of its
//! types (BTF). Nothing is assumed about a version.

use std::path::Path;

use btf_rs::{Btf, BtfType, Type};
use thiserror::Error;

/// The kernel's description of its types.
pub const VMLINUX: &str = "/sys/kernel/btf/vmlinux";

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
    pub iter_count: u64,
    pub file_inode: u64,
    pub file_flags: u64,
    pub inode_number: u64,
    pub inode_size: u64,
    pub inode_sb: u64,
    pub sb_device: u64,
}

impl Layout {
    /// Of the kernel that a file describes.
    ///
    /// # Errors
    ///
    /// When it does not.
    pub fn read(path: &Path) -> Result<Self, LayoutError> {
        let btf = Btf::from_file(path)?;
        let of = |structure, member| offset(&btf, structure, member);

        Ok(Self {
            kiocb_file: of("kiocb", "ki_filp")?,
            kiocb_pos: of("kiocb", "ki_pos")?,
            iter_count: of("iov_iter", "count")?,
            file_inode: of("file", "f_inode")?,
            file_flags: of("file", "f_flags")?,
            inode_number: of("inode", "i_ino")?,
            inode_size: of("inode", "i_size")?,
            inode_sb: of("inode", "i_sb")?,
            sb_device: of("super_block", "s_dev")?,
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

/// Where a member is, also in structures without a name.
fn bit_offset(btf: &Btf, kind: &Type, name: &str, depth: usize) -> Option<u64> {
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
