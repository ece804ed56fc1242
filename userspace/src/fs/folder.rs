// SPDX-License-Identifier: GPL-2.0-only
//! What is below a folder, on the same filesystem: what is mounted there lies on another device.
//! What comes and goes meanwhile is no error.

use std::fs::{self, Metadata};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::mounts;

/// Called with each file, and with each folder before it is read; what it returns may end the walk.
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

/// Show all regular files and folders below a folder, on the same filesystem, in no order. What comes or
/// goes meanwhile is seen or not.
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
            let (path, found) = match entry {
                Ok(entry) => (entry.path(), but_gone(entry.metadata())),
                Err(err) => (here.clone(), but_gone(Err(err))),
            };
            match found {
                // The root of what is mounted there may be barred, or gone from behind it.
                Some(Err(_)) if is_mount_point(&path) => {}
                Some(Err(err)) => failed(&path, err)?,
                Some(Ok(metadata)) if metadata.dev() != device => {}
                Some(Ok(metadata)) if metadata.is_dir() || metadata.is_file() => {
                    if metadata.is_dir() {
                        todo.push(path.clone());
                    }
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

/// Is another filesystem mounted there? It is looked up only where the place itself does not say.
fn is_mount_point(path: &Path) -> bool {
    let folder = path
        .parent()
        .and_then(|folder| fs::canonicalize(folder).ok());
    let place = folder.zip(path.file_name());

    place.is_some_and(|(folder, name)| {
        let place = folder.join(name);
        mounts::mountinfo().is_ok_and(|table| mounts::is_mount_point(&table, &place))
    })
}

/// All regular files below a folder that are not empty, on the same filesystem, by name; and what could
/// not be looked at there.
pub fn walk(folder: &Path) -> (Vec<PathBuf>, Vec<(PathBuf, io::Error)>) {
    let mut files = Vec::new();
    let mut take = |path, metadata: &Metadata| {
        if metadata.is_file() && metadata.len() != 0 {
            files.push(path);
        }
        ControlFlow::Continue(())
    };

    let mut barred = Vec::new();
    let ended = visit(folder, &mut take, &mut |path, err| {
        barred.push((path.to_owned(), err));
        Ok(())
    });
    barred.extend(ended.err().map(|err| (folder.to_owned(), err)));
    files.sort();
    (files, barred)
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
        let mut take = |path, metadata: &Metadata| {
            let _ = fs::remove_dir(&sub);
            if metadata.is_file() {
                seen.push(path);
            }
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
        // Also where there are no files.
        let empty = tempfile::tempdir().unwrap();
        fs::create_dir_all(empty.path().join("a/b/c")).unwrap();
        let mut nr_folders = 0;
        let mut none = |_, _: &Metadata| {
            nr_folders += 1;
            ControlFlow::Break(())
        };
        visit(empty.path(), &mut none, &mut |_, err| Err(err)).unwrap();
        assert_eq!(nr_folders, 1);
    }
}
