// SPDX-License-Identifier: GPL-2.0-only
//! Which parts of files applications read and write, as the kernel sees it: probes (kprobes) where
//! the filesystem is asked, in a trace instance of our own, so that nobody else's tracing is touched.
//!
//! A read by whatever system call, or by `io_uring`, ends in one function of the filesystem, a page fault of
//! a mapping in one of two functions that all have. They are called for what the page cache has as well:
//! how hot a range is does not depend on how much memory there is.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, Instant};

use nix::libc;
use thiserror::Error;

use super::event::{self, Line};
use super::layout::Layout;
use super::processes::Descendants;
use crate::fs::btrfs;
use crate::fs::mounts::Mount;
use crate::progress::Tidy;
use crate::units::DeviceNumber;

const TRACEFS: &str = "/sys/kernel/tracing";

/// Instances and groups of events begin with it, a process id follows.
const INSTANCE: &str = "dieaware-";
const GROUP: &str = "dieaware_";

/// How names of processes begin that trace.
const NAME: &[u8] = b"dieaware";

/// Of each CPU: some 30,000 events.
const BUFFER_KIB: &str = "2048";

/// Read from the kernel at once.
const READ_BYTES: usize = 1 << 16;

/// So long at once: many CPUs may make events faster than they are read.
const MOST_TIME: Duration = Duration::from_secs(1);

/// Our namespace of process ids, and what it is if it is the first one (`PROC_PID_INIT_INO`).
const NAMESPACE: &str = "/proc/self/ns/pid";
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// Those whose functions are called as we think.
const FS_TYPES: [&str; 4] = ["ext4", "xfs", "f2fs", "btrfs"];

/// Of all processes: who has started whom.
const BORN: &str = "task/task_newtask";

#[derive(Debug, Error)]
pub enum TraceError {
    #[error("{0}: {1}")]
    Io(String, io::Error),
    #[error("{TRACEFS} is not there; \"mount -t tracefs tracefs {TRACEFS}\" brings it")]
    NoTracefs,
    #[error("the kernel has no kprobe events (CONFIG_KPROBE_EVENTS)")]
    NoProbes,
    #[error("the kernel's trace has other process ids than this container; trace outside of it")]
    Namespace,
    #[error("accesses to {0} cannot be traced, only those to ext4, xfs, f2fs and btrfs")]
    FsType(String),
}

fn named(path: &Path) -> impl FnOnce(io::Error) -> TraceError + '_ {
    move |err| TraceError::Io(path.display().to_string(), err)
}

/// Probes of one process, gone when dropped.
pub struct Trace {
    pipe: File,
    /// The beginning of a line that has not ended yet.
    rest: Vec<u8>,
    /// Whose accesses count; `None`: everybody's.
    whose: Option<Descendants>,
    /// Dropped behind the others: an instance whose pipe is open cannot be removed.
    probes: Probes,
}

/// What has to be taken away again.
struct Probes {
    instance: PathBuf,
    group: String,
    events: Vec<&'static str>,
    _tidy: Tidy,
}

/// What is watched: a filesystem, or a subvolume of it.
pub struct Watched {
    pub mount: Mount,
    /// What `stat` calls the device of a folder there; on btrfs it is the subvolume's.
    pub folder: DeviceNumber,
    pub layout: Layout,
}

/// A function of the kernel, and what is read when it is called.
struct Probe {
    event: &'static str,
    /// The first one that the kernel has
    functions: Vec<String>,
    fields: String,
}

/// Whose accesses count.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Who {
    Everybody,
    /// What this process starts from now on, and what those start.
    Children,
}

impl Trace {
    /// Begin to trace the accesses to a filesystem.
    ///
    /// # Errors
    ///
    /// When the kernel does not let us.
    pub fn begin(watched: &Watched, who: Who) -> Result<Self, TraceError> {
        let fs_type = watched.mount.fs_type.as_str();
        if !FS_TYPES.contains(&fs_type) {
            return Err(TraceError::FsType(fs_type.to_owned()));
        }
        if !is_first(&fs::read_link(NAMESPACE)) {
            return Err(TraceError::Namespace);
        }
        if !Path::new(TRACEFS).join("instances").exists() {
            return Err(TraceError::NoTracefs);
        }
        remove_stale();
        let mut probes = Probes::new(process::id())?;
        for probe in definitions(fs_type, &watched.layout) {
            probes.define(&probe)?;
        }
        let instance = probes.instance.clone();
        let set = |file: &str, value: &str| {
            let path = instance.join(file);
            fs::write(&path, value).map_err(named(&path))
        };
        set("buffer_size_kb", BUFFER_KIB)?;
        // The kernel's filter by process would be cheaper, but loses threads that the kernel starts for one.
        if who == Who::Children {
            // That a thread is new has to be read before what it does.
            set("trace_clock", "global")?;
            set(&format!("events/{BORN}/enable"), "1")?;
        }
        for event in &probes.events {
            let folder = format!("events/{}/{event}", probes.group);
            set(&format!("{folder}/filter"), &watched.filter(event))?;
            set(&format!("{folder}/enable"), "1")?;
        }
        let path = instance.join("trace_pipe");
        let pipe = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(&path)
            .map_err(named(&path))?;
        Ok(Self {
            pipe,
            rest: Vec::new(),
            whose: (who == Who::Children).then(|| Descendants::of(process::id())),
            probes,
        })
    }

    /// No event comes from now on; those that came can be read.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub fn end(&self) -> Result<(), TraceError> {
        let path = self.probes.instance.join("tracing_on");
        fs::write(&path, "0").map_err(named(&path))
    }

    /// Show what has come since the last time, or some of it, if it goes on coming: whoever asks has
    /// to see to other things as well.
    ///
    /// # Errors
    ///
    /// When the kernel does not let us read it.
    pub fn drain(&mut self, seen: &mut dyn FnMut(Line)) -> Result<(), TraceError> {
        self.drain_until(Some(Instant::now() + MOST_TIME), seen)
    }

    /// Show all that has come, if no event comes any more.
    ///
    /// # Errors
    ///
    /// When the kernel does not let us read it.
    pub fn drain_all(&mut self, seen: &mut dyn FnMut(Line)) -> Result<(), TraceError> {
        self.drain_until(None, seen)
    }

    fn drain_until(
        &mut self,
        until: Option<Instant>,
        seen: &mut dyn FnMut(Line),
    ) -> Result<(), TraceError> {
        let mut buffer = vec![0; READ_BYTES];

        while until.is_none_or(|until| Instant::now() < until) {
            match self.pipe.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(nr) => self.take(buffer.get(..nr).unwrap_or_default(), seen),
                Err(err) if err.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(err) if err.kind() == ErrorKind::Interrupted => {}
                Err(err) => return Err(TraceError::Io("trace_pipe".to_owned(), err)),
            }
        }
        Ok(())
    }

    fn take(&mut self, bytes: &[u8], seen: &mut dyn FnMut(Line)) {
        self.rest.extend_from_slice(bytes);
        let end = self.rest.iter().rposition(|byte| *byte == b'\n');
        let Some(end) = end else {
            return;
        };
        let left = self.rest.split_off(end + 1);
        // A name that is cut may be no UTF-8; it does not matter.
        for line in String::from_utf8_lossy(&self.rest).lines() {
            let line = event::parse(line);
            if counts(&mut self.whose, line) {
                seen(line);
            }
        }
        self.rest = left;
    }
}

/// Is it of those that are watched?
fn counts(whose: &mut Option<Descendants>, line: Line) -> bool {
    match (whose, line) {
        (Some(ours), Line::Access(thread, _)) => ours.has(thread),
        (Some(ours), Line::Born(parent, child)) => {
            ours.born(parent, child);
            true
        }
        _ => true,
    }
}

/// The kernel's number of a device, as a filter has it.
fn kernel_number(device: DeviceNumber) -> u64 {
    u64::from(device.major) << 20 | u64::from(device.minor)
}

impl Watched {
    /// What an event has to be to be shown.
    fn filter(&self, event: &str) -> String {
        let mut filter = format!(
            "dev == {} && common_pid != {}",
            kernel_number(self.mount.device),
            process::id()
        );
        if self.layout.subvolume.is_some() {
            filter += &format!(" && subvolume == {}", kernel_number(self.folder));
        }
        // Faults that read were shown before, when pages of the page cache were to be mapped.
        if event == event::FAULT {
            filter += " && flags & 1";
        }
        filter
    }
}

impl Probes {
    fn new(pid: u32) -> Result<Self, TraceError> {
        let tidy = Tidy::begin();
        let instance = Path::new(TRACEFS)
            .join("instances")
            .join(format!("{INSTANCE}{pid}"));
        fs::create_dir(&instance).map_err(named(&instance))?;
        Ok(Self {
            instance,
            group: format!("{GROUP}{pid}"),
            events: Vec::new(),
            _tidy: tidy,
        })
    }

    fn define(&mut self, probe: &Probe) -> Result<(), TraceError> {
        let Probe {
            event,
            functions,
            fields,
        } = probe;
        let mut result = Ok(());

        for function in functions {
            let definition = format!("{function} {fields}");
            match command(&format!("p:{}/{event} {definition}", self.group)) {
                Ok(()) => {
                    self.events.push(event);
                    return Ok(());
                }
                Err(err) if err.kind() == ErrorKind::NotFound && !events_file().exists() => {
                    return Err(TraceError::NoProbes);
                }
                // Linux before 6.5 splices by reading. Of a function that it does not have it may say
                // as well that it knows no arguments.
                Err(err) if *event == event::SPLICE && is_absent(err.kind()) => {}
                Err(err) => {
                    result = Err(TraceError::Io(format!("a probe, {definition}"), err));
                }
            }
        }
        result
    }
}

fn is_absent(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::InvalidInput)
}

impl Drop for Probes {
    fn drop(&mut self) {
        let ours = self.events.iter();
        let ours = ours.map(|event| format!("{}/{event}", self.group));
        for event in ours.chain([BORN.to_owned()]) {
            let enable = format!("events/{event}/enable");
            let _ = fs::write(self.instance.join(enable), "0");
        }
        let _ = fs::remove_dir(&self.instance);
        for event in &self.events {
            let _ = command(&format!("-:{}/{event}", self.group));
        }
    }
}

fn events_file() -> PathBuf {
    Path::new(TRACEFS).join("kprobe_events")
}

/// Appended: whoever opens that file to write it from its beginning removes everybody's probes.
fn command(line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).open(events_file())?;
    file.write_all(line.as_bytes())
}

/// Are process ids those that the kernel has? In another namespace, the id of somebody else who
/// traces may be nobody's, and what he has would be taken away. A kernel without namespaces has one.
fn is_first(namespace: &io::Result<PathBuf>) -> bool {
    namespace
        .as_ref()
        .map_or(true, |name| name == Path::new(FIRST_NAMESPACE))
}

/// Did a process with this id leave it behind? Ours may have been somebody's before, and another one may
/// be some other program's by now.
fn is_stale(pid: u32) -> bool {
    let comm = fs::read(Path::new("/proc").join(pid.to_string()).join("comm"));

    pid == process::id() || !comm.is_ok_and(|name| name.starts_with(NAME))
}

/// Take away what a process left that was killed.
fn remove_stale() {
    let Ok(instances) = fs::read_dir(Path::new(TRACEFS).join("instances")) else {
        return;
    };
    for instance in instances.flatten() {
        let name = instance.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(INSTANCE));
        let Some(pid) = pid.and_then(|pid| pid.parse::<u32>().ok()) else {
            continue;
        };
        if is_stale(pid) {
            drop(Probes {
                instance: instance.path(),
                group: format!("{GROUP}{pid}"),
                events: event::OURS.to_vec(),
                _tidy: Tidy::begin(),
            });
        }
    }
}

/// Fields that all events have, of an open file.
fn fields_of(file: &str, layout: &Layout) -> String {
    let inode = format!("+{}({file})", layout.file_inode);
    let mut fields = format!(
        "file={file}:x64 inode=+{}({inode}):u64 size=+{}({inode}):u64 dev=+{}(+{}({inode})):u32",
        layout.inode_number, layout.inode_size, layout.sb_device, layout.inode_sb
    );
    if let Some(subvolume) = &layout.subvolume {
        let root = format!("{:+}({inode})", subvolume.root_from_inode);
        fields += &format!(" subvolume=+{}({root}):u32", subvolume.device);
    }
    fields
}

/// Our events.
fn definitions(fs_type: &str, layout: &Layout) -> [Probe; 5] {
    let request = |file: &str, pos: &str, count: &str| {
        format!(
            "{} pos={pos}:u64 count={count}:u64 flags=+{}({file}):u32",
            fields_of(file, layout),
            layout.file_flags
        )
    };
    // (struct kiocb *, struct iov_iter *)
    let iter = format!(
        "{} request=$arg1:x64 how=+{}($arg1):u32",
        request(
            &format!("+{}($arg1)", layout.kiocb_file),
            &format!("+{}($arg1)", layout.kiocb_pos),
            &format!("+{}($arg2)", layout.iter_count),
        ),
        layout.kiocb_flags
    );
    // (struct file *, loff_t *, struct pipe_inode_info *, size_t, unsigned int)
    let splice = request("$arg1", "+0($arg2)", "$arg4");
    // (struct vm_fault *, ...)
    let vma = format!("+{}($arg1)", layout.fault_vma);
    let fault = format!(
        "{} page=+{}($arg1):u64 flags=+{}($arg1):u32 advice=+{}({vma}):u64",
        fields_of(&format!("+{}({vma})", layout.vma_file), layout),
        layout.fault_page,
        layout.fault_flags,
        layout.vma_flags
    );
    let probe = |event, functions: &[&str], fields: &str| Probe {
        event,
        functions: functions.iter().map(|name| (*name).to_owned()).collect(),
        fields: fields.to_owned(),
    };
    let own = |name: &str| format!("{fs_type}_file_{name}");
    // btrfs takes what all can use until it has a function of its own.
    let splices: &[&str] = match fs_type {
        btrfs::FS_TYPE => &["btrfs_file_splice_read", "filemap_splice_read"],
        _ => &[&own("splice_read")],
    };

    [
        probe(event::READ, &[&own("read_iter")], &iter),
        probe(event::WRITE, &[&own("write_iter")], &iter),
        probe(event::SPLICE, splices, &splice),
        probe(event::MAP, &["filemap_map_pages"], &fault),
        probe(event::FAULT, &["filemap_fault"], &fault),
    ]
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io;
    use std::path::PathBuf;
    use std::process;
    use std::time::{Duration, Instant};

    use super::{
        counts, definitions, is_first, is_stale, Probes, Trace, Watched, FIRST_NAMESPACE, NAMESPACE,
    };
    use crate::fs::mounts::Mount;
    use crate::pick::event::{parse, Line};
    use crate::pick::layout::{Layout, Subvolume};
    use crate::pick::processes::Descendants;
    use crate::progress::Tidy;
    use crate::units::DeviceNumber;

    const LAYOUT: Layout = Layout {
        kiocb_file: 1,
        kiocb_pos: 2,
        kiocb_flags: 10,
        iter_count: 3,
        file_inode: 4,
        file_flags: 5,
        inode_number: 6,
        inode_size: 7,
        inode_sb: 8,
        sb_device: 9,
        fault_vma: 11,
        fault_page: 12,
        fault_flags: 13,
        vma_file: 14,
        vma_flags: 15,
        subvolume: None,
    };

    const ON_BTRFS: Layout = Layout {
        subvolume: Some(Subvolume {
            root_from_inode: -20,
            device: 22,
        }),
        ..LAYOUT
    };

    #[test]
    fn probes_follow_pointers_by_the_kernel_s_layout() {
        let [read, _, splice, map, fault] = definitions("xfs", &LAYOUT);
        assert_eq!(read.functions, ["xfs_file_read_iter"]);
        assert_eq!(
            read.fields,
            "file=+1($arg1):x64 inode=+6(+4(+1($arg1))):u64 size=+7(+4(+1($arg1))):u64 \
             dev=+9(+8(+4(+1($arg1)))):u32 pos=+2($arg1):u64 count=+3($arg2):u64 \
             flags=+5(+1($arg1)):u32 request=$arg1:x64 how=+10($arg1):u32"
        );
        assert_eq!(splice.functions, ["xfs_file_splice_read"]);
        assert!(splice
            .fields
            .starts_with("file=$arg1:x64 inode=+6(+4($arg1)):u64"));
        assert!(splice
            .fields
            .contains(" pos=+0($arg2):u64 count=$arg4:u64 "));
        assert_eq!(map.fields, fault.fields);
        assert!(map.fields.starts_with("file=+14(+11($arg1)):x64 "));
        assert!(map
            .fields
            .ends_with(" page=+12($arg1):u64 flags=+13($arg1):u32 advice=+15(+11($arg1)):u64"));
    }

    #[test]
    fn on_btrfs_a_subvolume_is_watched() {
        let [read, _, splice, ..] = definitions("btrfs", &ON_BTRFS);
        assert!(read
            .fields
            .contains(" subvolume=+22(-20(+4(+1($arg1)))):u32 "));
        assert_eq!(
            splice.functions,
            ["btrfs_file_splice_read", "filemap_splice_read"]
        );
        let number = |minor| DeviceNumber { major: 1, minor };
        let watched = |layout| Watched {
            mount: Mount {
                device: number(31),
                fs_type: "btrfs".to_owned(),
            },
            folder: number(32),
            layout,
        };
        let filter = watched(ON_BTRFS).filter("read");
        assert!(filter.starts_with("dev == 1048607 && "), "{filter}");
        assert!(filter.ends_with(" && subvolume == 1048608"), "{filter}");
        assert!(!watched(LAYOUT).filter("read").contains("subvolume"));
        assert!(watched(LAYOUT).filter("fault").ends_with(" && flags & 1"));
    }

    #[test]
    fn only_those_count_whom_we_have_started() {
        let line = |thread: u32| {
            parse(&format!(
                " cat-{thread} [000] ...1. 27.5: read: (x) file=0x1 inode=12 size=8 pos=0 count=8 flags=0"
            ))
        };
        assert!(matches!(line(9), Line::Access(9, _)));
        let mut whose = Some(Descendants::of(7));
        assert!(!counts(&mut whose, line(9)));
        assert!(counts(&mut whose, Line::Born(7, 8)));
        assert!(counts(&mut whose, Line::Born(8, 9)));
        assert!(counts(&mut whose, line(9)));
        assert!(counts(&mut whose, Line::Lost(3)));
        assert!(counts(&mut None, line(5)));
    }

    #[test]
    fn nobody_is_traced_from_another_namespace_of_processes() {
        assert!(is_first(&Ok(PathBuf::from(FIRST_NAMESPACE))));
        assert!(!is_first(&Ok(PathBuf::from("pid:[4026532201]"))));
        assert!(is_first(&Err(io::ErrorKind::NotFound.into())));
        assert!(NAMESPACE.ends_with("ns/pid"));
    }

    #[test]
    fn what_is_left_is_of_nobody_who_lives() {
        assert!(is_stale(process::id()));
        assert!(is_stale(u32::MAX));
        let dir = tempfile::tempdir().unwrap();
        let run = |name: &str| {
            let program = dir.path().join(name);
            fs::copy("/bin/sleep", &program).unwrap();
            let mut child = process::Command::new(program).arg("60").spawn().unwrap();
            // It has the name a moment after it was begun.
            let comm = format!("/proc/{}/comm", child.id());
            while fs::read_to_string(&comm).unwrap().trim_end() != name {
                std::thread::yield_now();
            }
            let is_stale = is_stale(child.id());
            child.kill().unwrap();
            child.wait().unwrap();
            is_stale
        };
        assert!(!run("dieaware"));
        // Ids come again.
        assert!(run("other"));
    }

    #[test]
    fn events_may_come_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let mut trace = Trace {
            pipe: File::open("/dev/zero").unwrap(),
            rest: Vec::new(),
            whose: None,
            probes: Probes {
                instance: folder.path().join("none"),
                group: "none".to_owned(),
                events: Vec::new(),
                _tidy: Tidy::begin(),
            },
        };
        let until = Instant::now() + Duration::from_millis(5);
        trace.drain_until(Some(until), &mut |_| {}).unwrap();
        assert!(Instant::now() >= until && !trace.rest.is_empty());
    }
}
