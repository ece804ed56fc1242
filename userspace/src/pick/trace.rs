// SPDX-License-Identifier: GPL-2.0-only
//! Which parts of files applications read and write, as the kernel sees it: probes (kprobes) where
//! the filesystem is asked, in a trace instance of our own, so that nobody else's tracing is touched.
//!
//! A read by whatever system call, or by `io_uring`, ends in one function of the filesystem. It is called for
//! what the page cache has as well: how hot a range is does not depend on how much memory there is.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process;

use nix::libc;
use thiserror::Error;

use super::event::{self, Line};
use super::layout::Layout;
use crate::mounts::Mount;

const TRACEFS: &str = "/sys/kernel/tracing";

/// Instances and groups of events begin with it, a process id follows.
const INSTANCE: &str = "dieaware-";
const GROUP: &str = "dieaware_";

/// Of each CPU: some 30,000 events.
const BUFFER_KIB: &str = "2048";

/// Read from the kernel at once.
const READ_BYTES: usize = 1 << 16;

/// Those whose functions are called as we think.
const FS_TYPES: [&str; 3] = ["ext4", "xfs", "f2fs"];

#[derive(Debug, Error)]
pub enum TraceError {
    #[error("{0}: {1}")]
    Io(String, io::Error),
    #[error("{TRACEFS} is not there; \"mount -t tracefs tracefs {TRACEFS}\" brings it")]
    NoTracefs,
    #[error("the kernel has no kprobe events (CONFIG_KPROBE_EVENTS)")]
    NoProbes,
    #[error("accesses to {0} cannot be traced, only those to ext4, xfs and f2fs")]
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
    /// Dropped last: an instance whose pipe is open cannot be removed.
    probes: Probes,
}

/// What has to be taken away again.
struct Probes {
    instance: PathBuf,
    group: String,
    events: Vec<&'static str>,
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
    pub fn begin(mount: &Mount, layout: &Layout, who: Who) -> Result<Self, TraceError> {
        let fs_type = mount.fs_type.as_str();
        if !FS_TYPES.contains(&fs_type) {
            return Err(TraceError::FsType(fs_type.to_owned()));
        }
        if !Path::new(TRACEFS).join("instances").exists() {
            return Err(TraceError::NoTracefs);
        }
        remove_stale();
        let mut probes = Probes::new(process::id())?;
        for (event, definition) in definitions(fs_type, layout) {
            probes.define(event, &definition)?;
        }
        let instance = probes.instance.clone();
        let set = |file: &str, value: &str| {
            let path = instance.join(file);
            fs::write(&path, value).map_err(named(&path))
        };
        set("buffer_size_kb", BUFFER_KIB)?;
        if who == Who::Children {
            set("options/event-fork", "1")?;
            set("set_event_pid", &process::id().to_string())?;
        }
        let device = u64::from(mount.device.major) << 20 | u64::from(mount.device.minor);
        for event in &probes.events {
            let folder = format!("events/{}/{event}", probes.group);
            let filter = format!("dev == {device} && common_pid != {}", process::id());
            set(&format!("{folder}/filter"), &filter)?;
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

    /// Show what has come since the last time.
    ///
    /// # Errors
    ///
    /// When the kernel does not let us read it.
    pub fn drain(&mut self, seen: &mut dyn FnMut(Line)) -> Result<(), TraceError> {
        let mut buffer = vec![0; READ_BYTES];

        loop {
            match self.pipe.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(nr) => self.take(buffer.get(..nr).unwrap_or_default(), seen),
                Err(err) if err.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(err) if err.kind() == ErrorKind::Interrupted => {}
                Err(err) => return Err(TraceError::Io("trace_pipe".to_owned(), err)),
            }
        }
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
            seen(event::parse(line));
        }
        self.rest = left;
    }
}

impl Probes {
    fn new(pid: u32) -> Result<Self, TraceError> {
        let instance = Path::new(TRACEFS)
            .join("instances")
            .join(format!("{INSTANCE}{pid}"));
        fs::create_dir(&instance).map_err(named(&instance))?;
        Ok(Self {
            instance,
            group: format!("{GROUP}{pid}"),
            events: Vec::new(),
        })
    }

    fn define(&mut self, event: &'static str, definition: &str) -> Result<(), TraceError> {
        match command(&format!("p:{}/{event} {definition}", self.group)) {
            Ok(()) => self.events.push(event),
            // Linux before 6.5 splices by reading. Of a function that it does not have it may say
            // as well that it knows no arguments.
            Err(err) if event == event::SPLICE && is_absent(err.kind()) => {}
            Err(err) if err.kind() == ErrorKind::NotFound && !events_file().exists() => {
                return Err(TraceError::NoProbes);
            }
            Err(err) => return Err(TraceError::Io(format!("a probe, {definition}"), err)),
        }
        Ok(())
    }
}

fn is_absent(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::InvalidInput)
}

impl Drop for Probes {
    fn drop(&mut self) {
        for event in &self.events {
            let enable = format!("events/{}/{event}/enable", self.group);
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
        if !Path::new("/proc").join(pid.to_string()).exists() {
            drop(Probes {
                instance: instance.path(),
                group: format!("{GROUP}{pid}"),
                events: vec![event::READ, event::WRITE, event::SPLICE],
            });
        }
    }
}

/// Our events: a function of the filesystem, and what is read when it is called.
fn definitions(fs_type: &str, layout: &Layout) -> [(&'static str, String); 3] {
    let fields = |file: &str, pos: &str, count: &str| {
        let inode = format!("+{}({file})", layout.file_inode);
        format!(
            "file={file}:x64 inode=+{}({inode}):u64 size=+{}({inode}):u64 pos={pos}:u64 \
             count={count}:u64 flags=+{}({file}):u32 dev=+{}(+{}({inode})):u32",
            layout.inode_number,
            layout.inode_size,
            layout.file_flags,
            layout.sb_device,
            layout.inode_sb
        )
    };
    // (struct kiocb *, struct iov_iter *)
    let file = format!("+{}($arg1)", layout.kiocb_file);
    let pos = format!("+{}($arg1)", layout.kiocb_pos);
    let count = format!("+{}($arg2)", layout.iter_count);
    let iter = fields(&file, &pos, &count);
    // (struct file *, loff_t *, struct pipe_inode_info *, size_t, unsigned int)
    let splice = fields("$arg1", "+0($arg2)", "$arg4");

    [
        (event::READ, format!("{fs_type}_file_read_iter {iter}")),
        (event::WRITE, format!("{fs_type}_file_write_iter {iter}")),
        (
            event::SPLICE,
            format!("{fs_type}_file_splice_read {splice}"),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::definitions;
    use crate::pick::layout::Layout;

    #[test]
    fn probes_follow_pointers_by_the_kernel_s_layout() {
        let layout = Layout {
            kiocb_file: 1,
            kiocb_pos: 2,
            iter_count: 3,
            file_inode: 4,
            file_flags: 5,
            inode_number: 6,
            inode_size: 7,
            inode_sb: 8,
            sb_device: 9,
        };
        let [(_, read), _, (_, splice)] = definitions("xfs", &layout);
        assert_eq!(
            read,
            "xfs_file_read_iter file=+1($arg1):x64 inode=+6(+4(+1($arg1))):u64 \
             size=+7(+4(+1($arg1))):u64 pos=+2($arg1):u64 count=+3($arg2):u64 \
             flags=+5(+1($arg1)):u32 dev=+9(+8(+4(+1($arg1)))):u32"
        );
        assert!(splice.starts_with("xfs_file_splice_read file=$arg1:x64 inode=+6(+4($arg1)):u64"));
        assert!(splice.contains(" pos=+0($arg2):u64 count=$arg4:u64 "));
    }
}
