// SPDX-License-Identifier: GPL-2.0-only
//! What is below a folder, on the same filesystem: what is mounted there lies on another device.
//! What comes and goes meanwhile is no error.

use std::fs::{self, Metadata};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Called with each file; what it returns may end the walk.
pub type Seen<'a> = dyn FnMut(PathBuf, &Metadata) -> ControlFlow<()> + 'a;

/// Called with what cannot be read; what it returns as an error ends the walk.
pub type Failed<'a> = dyn FnMut(&Path, io::Error) -> io::Result<()> + 'a;

/// What was there when the folder was read, and is gone by now, is left out.
fn but_gone<T>(result: io::Result<T>) -> Option<io::Result<T>> {
    match result {
        Err(err) if err.kind() == io::ErrorKind::NotFound => None,
        result => Some(result),
    }
}

/// Show all regular files below a folder, on the same filesystem, in no order. What comes or goes
/// meanwhile is seen or not.
///
/// # Errors
///
/// What `failed` says.
pub fn visit(folder: &Path, seen: &mut Seen, failed: &mut Failed) -> io::Result<()> {
    let device = match fs::metadata(folder) {
        Ok(metadata) => metadata.dev(),
        Err(err) => return failed(folder, err),
    };
    let mut todo = vec![folder.to_owned()];

    while let Some(here) = todo.pop() {
        let entries = match but_gone(fs::read_dir(&here)) {
            None => continue,
            Some(Ok(entries)) => entries,
            Some(Err(err)) => {
                failed(&here, err)?;
                continue;
            }
        };
        for entry in entries {
            let found = entry.and_then(|entry| Ok((entry.path(), entry.metadata()?)));
            match but_gone(found) {
                Some(Err(err)) => failed(&here, err)?,
                Some(Ok((_, metadata))) if metadata.dev() != device => {}
                Some(Ok((path, metadata))) if metadata.is_dir() => todo.push(path),
                Some(Ok((path, metadata))) if metadata.is_file() => {
                    if seen(path, &metadata).is_break() {
                        return Ok(());
                    }
                }
                Some(Ok(_)) | None => {}
            }
        }
    }
    Ok(())
}

/// All regular files below a folder that are not empty, on the same filesystem, by name.
///
/// # Errors
///
/// When a folder cannot be read.
pub fn walk(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut take = |path, metadata: &Metadata| {
        if metadata.len() != 0 {
            files.push(path);
        }
        ControlFlow::Continue(())
    };

    visit(folder, &mut take, &mut |path, err| {
        let what = format!("{}: {err}", path.display());
        Err(io::Error::new(err.kind(), what))
    })?;
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Metadata};
    use std::ops::ControlFlow;

    use super::visit;

    #[test]
    fn what_vanishes_does_not_end_it() {
        let folder = tempfile::tempdir().unwrap();
        let (sub, file) = (folder.path().join("sub"), folder.path().join("file"));
        fs::create_dir(&sub).unwrap();
        fs::write(&file, "x").unwrap();
        let mut seen = Vec::new();
        // The folder below goes when the file is seen, before it is read itself.
        let mut take = |path, _: &Metadata| {
            let _ = fs::remove_dir(&sub);
            seen.push(path);
            ControlFlow::Continue(())
        };
        visit(folder.path(), &mut take, &mut |_, err| Err(err)).unwrap();
        assert_eq!(seen, [file]);
        let gone = folder.path().join("gone");
        let mut go_on = |_, _: &Metadata| ControlFlow::Continue(());
        assert!(visit(&gone, &mut go_on, &mut |_, err| Err(err)).is_err());
    }

    #[test]
    fn who_sees_files_may_end_it() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        let mut nr_seen = 0;
        let mut two = |_, _: &Metadata| {
            nr_seen += 1;
            match nr_seen {
                2 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        };
        visit(folder.path(), &mut two, &mut |_, err| Err(err)).unwrap();
        assert_eq!(nr_seen, 2);
    }
}
