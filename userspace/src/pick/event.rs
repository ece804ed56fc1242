// SPDX-License-Identifier: GPL-2.0-only
//! What our probes say, line by line as the kernel's trace has it. Taking lines apart needs neither
//! root nor a kernel that traces, so it can be tested by itself.

use nix::libc;

use crate::units::PAGE_BYTES;

/// Names of our events, and of the kernel's own.
pub const READ: &str = "read";
pub const WRITE: &str = "write";
pub const SPLICE: &str = "splice";
pub const MAP: &str = "map";
pub const FAULT: &str = "fault";
pub const OURS: [&str; 5] = [READ, WRITE, SPLICE, MAP, FAULT];
const BORN: &str = ": task_newtask: pid=";

/// Bits of numbers in the kernel: `IOCB_NOWAIT`, `IOCB_WAITQ`, `FAULT_FLAG_TRIED`, `VM_SEQ_READ`, `VM_RAND_READ`
const NO_WAIT: u64 = 1 << 3;
const WAIT_QUEUE: u64 = 1 << 19;
const TRIED: u64 = 1 << 5;
const SEQUENTIAL: u64 = 1 << 15;
const RANDOM: u64 = 1 << 16;

/// What an application has said about a mapping (madvise).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Advice {
    Normal,
    Sequential,
    Random,
}

/// How data comes to an application, or from it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Way {
    /// Copied from the page cache, or to it
    Copied,
    /// Around the page cache (`O_DIRECT`)
    Direct,
    /// The page cache itself (mmap), by a page fault
    Mapped(Advice),
}

/// A request may be tried several times.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Try {
    /// Where the kernel keeps the request; the next one may be kept there, too.
    pub request: u64,
    /// It may end because it would have to wait, and then be tried again.
    pub may_fail: bool,
    /// It may be another try of a request that has ended so.
    pub may_be_again: bool,
}

/// An application reads or writes a part of a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Access {
    pub is_write: bool,
    pub way: Way,
    /// The open file: the same number as long as it is open.
    pub file: u64,
    pub inode: u64,
    /// Bytes of the file, and how many of these it has.
    pub begin: u64,
    pub end: u64,
    pub file_bytes: u64,
    /// `None`: there is but one.
    pub tried: Option<Try>,
}

/// A line of the trace.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Line {
    /// By the thread with this id.
    Access(u32, Access),
    /// The first thread has started the second one, in whatever process.
    Born(u32, u32),
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
    if let Some((parent, child)) = born(line) {
        return Line::Born(parent, child);
    }
    access(line).map_or(Line::Other, |(thread, access)| Line::Access(thread, access))
}

/// `CPU:1 [LOST 12 EVENTS]`
fn lost(line: &str) -> Option<u64> {
    let (cpu, rest) = line.strip_prefix("CPU:")?.split_once(" [LOST ")?;
    cpu.parse::<u32>().ok()?;
    rest.strip_suffix(" EVENTS]")?.parse().ok()
}

/// `   bash-77  [000] .....  1.5: task_newtask: pid=78 comm=bash clone_flags=…`
///
/// A process may call itself anything, but its name is shorter than what is looked for.
fn born(line: &str) -> Option<(u32, u32)> {
    let (head, rest) = line.split_once(BORN)?;
    let (child, _) = rest.split_once(' ')?;
    Some((thread(head)?, child.parse().ok()?))
}

/// Who, of what stands before the name of an event: `   cat-77  [000] .....  1.5`
fn thread(head: &str) -> Option<u32> {
    let (who, _) = head.rsplit_once('[')?;
    let (_, id) = who.trim_end().rsplit_once('-')?;
    id.parse().ok()
}

/// Numbers by their names: `inode=12 size=8388608`
struct Fields<'a>(&'a str);

impl Fields<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        let mut words = self.0.split(' ');
        words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }

    fn pointer(&self, name: &str) -> Option<u64> {
        let digits = self.text(name)?.strip_prefix("0x")?;
        u64::from_str_radix(digits, 16).ok()
    }
}

/// `   cat-77  [000] .....  1.5: read: (ext4_file_read_iter+0x0/0x130) file=0xffff8880 inode=12 …`
///
/// A process may call itself anything, but it comes first, and all that we ask for are numbers.
fn access(line: &str) -> Option<(u32, Access)> {
    let (head, _) = line.rsplit_once(" file=0x")?;
    let fields = Fields(line.get(head.len()..)?);
    let (before, _) = head.rsplit_once(": (")?;
    let (head, event) = before.rsplit_once(' ')?;
    let access = match event {
        READ | SPLICE => request(&fields, false),
        WRITE => request(&fields, true),
        MAP | FAULT => fault(&fields),
        _ => None,
    };
    Some((thread(head)?, access?))
}

fn request(fields: &Fields, is_write: bool) -> Option<Access> {
    let file_bytes = fields.number("size")?;
    let pos = fields.number("pos")?;
    let flags = fields.number("flags")?;
    let has = |flag: i32| flags & u64::from(flag.unsigned_abs()) != 0;
    // The kernel finds the end only later.
    let begin = if is_write && has(libc::O_APPEND) {
        file_bytes
    } else {
        pos
    };
    Some(Access {
        is_write,
        way: if has(libc::O_DIRECT) {
            Way::Direct
        } else {
            Way::Copied
        },
        file: fields.pointer("file")?,
        inode: fields.number("inode")?,
        begin,
        end: begin.checked_add(fields.number("count")?)?,
        file_bytes,
        tried: tried(fields),
    })
}

fn tried(fields: &Fields) -> Option<Try> {
    let flags = fields.number("how")?;
    let (does_not_wait, waits_later) = (flags & NO_WAIT != 0, flags & WAIT_QUEUE != 0);
    Some(Try {
        request: fields.pointer("request")?,
        may_fail: does_not_wait || waits_later,
        may_be_again: !does_not_wait || waits_later,
    })
}

/// A page of a mapping is wanted, to be read or written: it has to be in the page cache for both.
fn fault(fields: &Fields) -> Option<Access> {
    if fields.number("flags")? & TRIED != 0 {
        return None;
    }
    let begin = fields.number("page")?.checked_mul(PAGE_BYTES)?;
    let advice = match fields.number("advice")? {
        bits if bits & RANDOM != 0 => Advice::Random,
        bits if bits & SEQUENTIAL != 0 => Advice::Sequential,
        _ => Advice::Normal,
    };
    Some(Access {
        is_write: false,
        way: Way::Mapped(advice),
        file: fields.pointer("file")?,
        inode: fields.number("inode")?,
        begin,
        end: begin.checked_add(PAGE_BYTES)?,
        file_bytes: fields.number("size")?,
        tried: None,
    })
}

#[cfg(test)]
mod tests {
    use super::{parse, Access, Advice, Line, Try, Way};

    const READ: &str = "             cat-77      [000] ...1.    27.563412: read: \
         (ext4_file_read_iter+0x0/0x130 [ext4]) file=0xffff888004c5a300 inode=12 size=8388608 \
         pos=131072 count=65536 flags=32768 request=0xffffc90000123d78 how=0 dev=8388609";

    const MAP: &str = "            grep-78      [001] .....    27.563412: map: \
         (filemap_map_pages+0x0/0x3d0) file=0xffff888004c5a300 inode=12 size=8388608 \
         page=32 flags=4692 advice=115 dev=8388609";

    #[test]
    fn a_line_says_who_reads_what() {
        let read = Access {
            is_write: false,
            way: Way::Copied,
            file: 0xffff_8880_04c5_a300,
            inode: 12,
            begin: 131_072,
            end: 196_608,
            file_bytes: 8_388_608,
            tried: Some(Try {
                request: 0xffff_c900_0012_3d78,
                may_fail: false,
                may_be_again: true,
            }),
        };
        assert_eq!(parse(READ), Line::Access(77, read));
        let direct = READ.replace("flags=32768", "flags=49152");
        assert_eq!(
            parse(&direct),
            Line::Access(
                77,
                Access {
                    way: Way::Direct,
                    ..read
                }
            )
        );
        let write = READ.replace(": read: ", ": write: ");
        assert_eq!(
            parse(&write),
            Line::Access(
                77,
                Access {
                    is_write: true,
                    ..read
                }
            )
        );
        // O_APPEND: wherever it stands, it goes to the end.
        let append = write.replace("flags=32768", "flags=1025");
        assert_eq!(
            parse(&append),
            Line::Access(
                77,
                Access {
                    is_write: true,
                    begin: 8_388_608,
                    end: 8_454_144,
                    ..read
                }
            )
        );
    }

    #[test]
    fn a_process_may_call_itself_anything() {
        let name = ": write: (x) file=0x1 inode=2 size=3";
        let Line::Access(77, access) = parse(&READ.replace("cat-", &format!("{name}-"))) else {
            panic!("it is a read");
        };
        assert_eq!((access.inode, access.is_write), (12, false));
        assert_eq!(
            parse(&born("a[1]-9: task", ": task_newtask:")),
            Line::Born(77, 78)
        );
    }

    fn born(by: &str, name: &str) -> String {
        format!(
            "{by:>16}-77      [001] .....    27.6: task_newtask: pid=78 comm={name} \
             clone_flags=1200000 oom_score_adj=0"
        )
    }

    #[test]
    fn a_new_thread_is_known() {
        assert_eq!(parse(&born("bash", "iou-wrk-77")), Line::Born(77, 78));
        let cut = born("bash", "x").replace("pid=78", "pid=");
        assert_eq!(parse(&cut), Line::Other);
    }

    #[test]
    fn a_request_may_be_tried_again() {
        let tried = |flags: u64| match parse(&READ.replace("how=0", &format!("how={flags}"))) {
            Line::Access(_, access) => access.tried.map(|t| (t.may_fail, t.may_be_again)),
            _ => None,
        };
        assert_eq!(tried(0), Some((false, true)));
        assert_eq!(tried(8), Some((true, false)));
        assert_eq!(tried(1 << 19), Some((true, true)));
        assert_eq!(tried(1 << 19 | 8), Some((true, true)));
        let splice = READ.replace(": read: ", ": splice: ");
        let splice = splice.replace(" request=0xffffc90000123d78 how=0", "");
        assert!(matches!(parse(&splice), Line::Access(77, access) if access.tried.is_none()));
    }

    #[test]
    fn a_fault_reads_a_page() {
        let read = Access {
            is_write: false,
            way: Way::Mapped(Advice::Normal),
            file: 0xffff_8880_04c5_a300,
            inode: 12,
            begin: 131_072,
            end: 135_168,
            file_bytes: 8_388_608,
            tried: None,
        };
        assert_eq!(parse(MAP), Line::Access(78, read));
        let write = MAP.replace(": map: ", ": fault: ");
        assert_eq!(parse(&write), Line::Access(78, read));
        for (bits, advice) in [
            (0x8073, Advice::Sequential),
            (0x10073, Advice::Random),
            (0x4073, Advice::Normal),
        ] {
            let line = MAP.replace("advice=115", &format!("advice={bits}"));
            let way = Way::Mapped(advice);
            assert_eq!(parse(&line), Line::Access(78, Access { way, ..read }));
        }
        // The first one that found no page waits for it, and is then repeated.
        assert_eq!(parse(&MAP.replace("=4692", "=4724")), Line::Other);
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
            &READ.replace("-77 ", "-x "),
            &MAP.replace("page=32", "page=18446744073709551615"),
            READ.split(" count").next().unwrap(),
            " file=0x1",
            ": (a) file=0x",
        ] {
            assert_eq!(parse(line), Line::Other, "{line}");
        }
    }
}
