// SPDX-License-Identifier: GPL-2.0-only
//! Where a file has data, and where holes: nobody reads these from a device, so they do not count.

use std::fs::File;
use std::io;
use std::ops::Range;

use nix::errno::Errno;
use nix::unistd::{lseek, Whence};

use super::file::offset;

/// The next bytes from there on that are data; `None`: there are none. Some filesystems take all for
/// data.
///
/// # Errors
///
/// When the filesystem does not say.
pub fn next_data(file: &File, from: u64) -> io::Result<Option<Range<u64>>> {
    let seek = |at: i64, whence| lseek(file, at, whence);
    let begin = match seek(offset(from)?, Whence::SeekData) {
        Err(Errno::ENXIO) => return Ok(None),
        begin => begin?,
    };
    let end = match seek(begin, Whence::SeekHole) {
        // It has become shorter.
        Err(Errno::ENXIO) => return Ok(None),
        end => end?,
    };

    Ok((begin < end).then(|| begin.unsigned_abs()..end.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::next_data;

    #[test]
    fn holes_are_left_out() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(next_data(&file, 0).unwrap(), None);
        file.set_len(1 << 40).unwrap();
        file.write_all_at(&[1; 10], 1 << 30).unwrap();
        let data = next_data(&file, 0).unwrap().unwrap();
        assert!(data.contains(&(1 << 30)) && data.end - data.start < 1 << 22);
        assert_eq!(next_data(&file, data.end).unwrap(), None);
        assert_eq!(next_data(&file, 1 << 40).unwrap(), None);
    }
}
