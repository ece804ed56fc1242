// SPDX-License-Identifier: GPL-2.0-only
//! What is below a folder.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Called with what cannot be read; what it returns as an error ends the walk.
pub type Failed<'a> = dyn FnMut(&Path, io::Error) -> io::Result<()> + 'a;

/// Show all regular files below a folder, on the same filesystem, in no order.
///
/// # Errors
///
/// What `failed` says.
pub fn visit(
    folder: &Path,
    seen: &mut dyn FnMut(PathBuf, &Metadata),
    failed: &mut Failed,
) -> io::Result<()> {
    let device = match fs::metadata(folder) {
        Ok(metadata) => metadata.dev(),
        Err(err) => return failed(folder, err),
    };
    let mut todo = vec![folder.to_owned()];

    while let Some(here) = todo.pop() {
        let entries = match fs::read_dir(&here) {
            Ok(entries) => entries,
            Err(err) => {
                failed(&here, err)?;
                continue;
            }
        };
        for entry in entries {
            let found = entry.and_then(|entry| Ok((entry.path(), entry.metadata()?)));
            match found {
                Err(err) => failed(&here, err)?,
                Ok((_, metadata)) if metadata.dev() != device => {}
                Ok((path, metadata)) if metadata.is_dir() => todo.push(path),
                Ok((path, metadata)) if metadata.is_file() => seen(path, &metadata),
                Ok(_) => {}
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
    };

    visit(folder, &mut take, &mut |path, err| {
        let what = format!("{}: {err}", path.display());
        Err(io::Error::new(err.kind(), what))
    })?;
    files.sort();
    Ok(files)
}
