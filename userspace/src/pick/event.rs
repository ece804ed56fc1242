// SPDX-License-Identifier: GPL-2.0-only
//! What our probes say, line by line as the kernel's trace has it.

use nix::libc;

/// Names of our events, and of their fields.
pub const READ: &str = "read";
pub const WRITE: &str = "write";
pub const SPLICE: &str = "splice";

/// An application reads or writes a part of a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Access {
    pub is_write: bool,
    /// Around the page cache (`O_DIRECT`)
    pub is_direct: bool,
    /// The open file: the same number as long as it is open.
    pub file: u64,
    pub inode: u64,
    /// Bytes of the file, and how many of these it has.
    pub begin: u64,
    pub end: u64,
    pub file_bytes: u64,
}

/// A line of the trace.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Line {
    Access(Access),
    /// So many events came faster than they were read.
    Lost(u64),
    Other,
}

/// What a line says.
#[must_use]
pub fn parse(line: &str) -> Line {
    if let Some(nr) = lost(line) {
        return Line::Lost(nr);
    }
    access(line).map_or(Line::Other, Line::Access)
}

/// `CPU:1 [LOST 12 EVENTS]`
fn lost(line: &str) -> Option<u64> {
    let (cpu, rest) = line.strip_prefix("CPU:")?.split_once(" [LOST ")?;
    cpu.parse::<u32>().ok()?;
    rest.strip_suffix(" EVENTS]")?.parse().ok()
}

/// `   cat-77  [000] .....  1.5: read: (ext4_file_read_iter+0x0/0x130) file=0xffff8880 inode=12 …`
///
/// A process may call itself anything, but it comes first, and all that we ask for are numbers.
fn access(line: &str) -> Option<Access> {
    let (head, fields) = line.rsplit_once(" file=0x")?;
    let (before, _) = head.rsplit_once(": (")?;
    let (_, event) = before.rsplit_once(' ')?;
    let is_write = match event {
        READ | SPLICE => false,
        WRITE => true,
        _ => return None,
    };
    let mut words = fields.split(' ');
    let file = u64::from_str_radix(words.next()?, 16).ok()?;
    let mut number = |name: &str| {
        let word = words.next()?.strip_prefix(name)?;
        word.strip_prefix('=')?.parse::<u64>().ok()
    };
    let inode = number("inode")?;
    let file_bytes = number("size")?;
    let pos = number("pos")?;
    let count = number("count")?;
    let flags = number("flags")?;
    let has = |flag: i32| flags & u64::from(flag.unsigned_abs()) != 0;
    // The kernel finds the end only later.
    let begin = if is_write && has(libc::O_APPEND) {
        file_bytes
    } else {
        pos
    };
    Some(Access {
        is_write,
        is_direct: has(libc::O_DIRECT),
        file,
        inode,
        begin,
        end: begin.checked_add(count)?,
        file_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::{parse, Access, Line};

    const READ: &str = "             cat-77      [000] ...1.    27.563412: read: \
         (ext4_file_read_iter+0x0/0x130 [ext4]) file=0xffff888004c5a300 inode=12 size=8388608 \
         pos=131072 count=65536 flags=32768 dev=8388609";

    #[test]
    fn a_line_says_who_reads_what() {
        let read = Access {
            is_write: false,
            is_direct: false,
            file: 0xffff_8880_04c5_a300,
            inode: 12,
            begin: 131_072,
            end: 196_608,
            file_bytes: 8_388_608,
        };
        assert_eq!(parse(READ), Line::Access(read));
        let direct = READ.replace("flags=32768", "flags=49152");
        assert_eq!(
            parse(&direct),
            Line::Access(Access {
                is_direct: true,
                ..read
            })
        );
        let write = READ.replace(": read: ", ": write: ");
        assert_eq!(
            parse(&write),
            Line::Access(Access {
                is_write: true,
                ..read
            })
        );
        // O_APPEND: wherever it stands, it goes to the end.
        let append = write.replace("flags=32768", "flags=1025");
        assert_eq!(
            parse(&append),
            Line::Access(Access {
                is_write: true,
                begin: 8_388_608,
                end: 8_454_144,
                ..read
            })
        );
    }

    #[test]
    fn a_process_may_call_itself_anything() {
        let name = ": write: (x) file=0x1 inode=2 size=3";
        let Line::Access(access) = parse(&READ.replace("cat-", name)) else {
            panic!("it is a read");
        };
        assert_eq!((access.inode, access.is_write), (12, false));
    }

    #[test]
    fn lost_events_are_counted() {
        assert_eq!(parse("CPU:3 [LOST 1207 EVENTS]"), Line::Lost(1207));
        assert_eq!(parse("CPU:x [LOST 1207 EVENTS]"), Line::Other);
    }

    #[test]
    fn other_lines_are_none() {
        for line in [
            "",
            "# tracer: nop",
            "CPU:3 [LOST EVENTS]",
            &READ.replace(": read: ", ": open: "),
            &READ.replace("count=65536", "count=(fault)"),
            &READ.replace("pos=131072", "pos=-1"),
            &READ.replace("count=65536", "count=18446744073709551615"),
            &READ.replace(" size=8388608", ""),
            READ.split(" count").next().unwrap(),
            " file=0x1",
            ": (a) file=0x",
        ] {
            assert_eq!(parse(line), Line::Other, "{line}");
        }
    }
}
