// SPDX-License-Identifier: GPL-2.0-only
//! A target's status line, `KEY=VALUE` words, for people and for programs. Keys that
//! this version does not know are shown like the others.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use thiserror::Error;

/// What the keys mean, in the words of the documentation.
pub(crate) const MEANINGS: [(&str, &str); 67] = [
    ("mode", "what the target does"),
    ("transport", "how hints reach the device"),
    ("hints", "whether hints are sent"),
    ("writes", "writes with data, after cutting"),
    ("page", "file known by the page itself"),
    ("iomap", "file known by what the filesystem mapped"),
    ("adjacency", "file unknown, but the write continues another"),
    ("metadata", "metadata, journals, block device buffers"),
    ("unknown", "file unknown"),
    ("none", "writes without a hint"),
    ("append", "writes with an append hint"),
    ("overwrite", "writes with an overwrite hint"),
    ("confirmed_append", "append hints seen in a command"),
    ("confirmed_overwrite", "overwrite hints seen in a command"),
    ("lost_unseen", "hinted writes that no command was seen with"),
    ("lost_merged", "hinted writes merged with others"),
    ("lost_moved", "hinted writes moved by a layer below"),
    ("rejected", "writes that the device took only without hint"),
    ("retried", "failed writes sent again without hint"),
    ("cut", "bios cut in two"),
    ("learned", "reads that taught the run table something"),
    (
        "streamed",
        "writes that the device took with a write stream",
    ),
    (
        "shared_pages",
        "pages that were not written, as the device has shared them",
    ),
    (
        "share_differs",
        "announced writes with other bytes than the old place",
    ),
    (
        "share_refused",
        "announced writes that the device would not share",
    ),
    (
        "share_undone",
        "writes that were not what they should be after Share",
    ),
    ("runs_extents", "extents in the run table"),
    ("runs_bytes", "memory of the run table"),
    ("runs_limit_bytes", "upper bound of that memory"),
    ("runs_evicted", "extents forgotten for their memory"),
    ("streams", "write streams: of dies, in log mode of kinds of data"),
    ("die_unit_bytes", "what goes to one die before the next"),
    ("stripe_bytes", "that times the number of dies"),
    ("share", "whether rewrites can be announced"),
    (
        "state",
        "whether the device is written, only read, or failed",
    ),
    ("mapped_pages", "pages that hold data"),
    ("lpns", "pages that the target presents"),
    ("segments", "segments of the device"),
    ("free_segments", "segments that can be written"),
    (
        "empty_segments",
        "segments without a valid page, not free yet",
    ),
    ("segment_pages", "pages of a segment"),
    (
        "journal_sectors",
        "sectors of the journal since the checkpoint, of how many",
    ),
    (
        "map_pages",
        "pages of the map in memory, of how many at most",
    ),
    ("map_reads", "pages of the map that were read"),
    (
        "map_given_back",
        "pages of the map that made room when the kernel needed memory",
    ),
    ("commits", "batches of the journal that were written"),
    ("flushes", "flushes and FUA writes that asked for one"),
    ("checkpoints", "checkpoints that were taken"),
    ("user_pages", "pages that users wrote"),
    ("moved_pages", "pages that cleaning wrote"),
    ("meta_pages", "pages of metadata that were written"),
    ("cleaned_segments", "segments that were cleaned"),
    (
        "idle_cleaned",
        "segments cleaned when nobody used the device",
    ),
    ("starved", "writes that had to wait for a free segment"),
    ("cleaning", "whether segments are cleaned"),
    ("policy", "by what segments are chosen for cleaning"),
    (
        "grown_lpns",
        "pages that there would be on all of the device below",
    ),
    ("moved_hints", "hints of cleaning seen in a command"),
    (
        "in_place_pages",
        "pages that users wrote where they were already",
    ),
    (
        "overwrites",
        "whether small overwrites stay in place when it is full, or go to new places as that is quicker",
    ),
    (
        "space",
        "whether there is any, or writes wait or fail for it",
    ),
    ("checksums", "whether data has checksums"),
    (
        "damaged_pages",
        "pages of data that were found to have another checksum",
    ),
    (
        "mended_reads",
        "pages that were right when they were read again",
    ),
    (
        "changed_writes",
        "pages that somebody changed while they were written",
    ),
    (
        "unread_segments",
        "segments that cleaning has left, as something is not read",
    ),
    (
        "damaged_segments",
        "segments that cleaning leaves, as something is damaged",
    ),
];

/// A number if it is one, else a word.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    Number(u64),
    Word(String),
}

/// The status line of one target, in its own order.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Status {
    fields: Vec<(String, Value)>,
}

#[derive(Debug, Error, Eq, PartialEq)]
pub enum StatusError {
    #[error("the status line is empty: is the device suspended without a table?")]
    Empty,
    #[error("the status line has a word that is not KEY=VALUE: {0}")]
    NotAField(String),
    #[error("the status line says {0} twice")]
    Twice(String),
}

impl Status {
    /// Understand what `dmsetup status` prints behind the target's type.
    pub fn parse(params: &str) -> Result<Self, StatusError> {
        let mut fields: Vec<(String, Value)> = Vec::new();

        for word in params.split_whitespace() {
            let (key, value) = word
                .split_once('=')
                .filter(|(key, _)| !key.is_empty())
                .ok_or_else(|| StatusError::NotAField(word.to_owned()))?;
            if fields.iter().any(|(known, _)| known == key) {
                return Err(StatusError::Twice(key.to_owned()));
            }
            let value = value
                .parse()
                .map_or_else(|_| Value::Word(value.to_owned()), Value::Number);
            fields.push((key.to_owned(), value));
        }
        if fields.is_empty() {
            return Err(StatusError::Empty);
        }
        Ok(Self { fields })
    }

    /// All fields, in their order.
    #[must_use]
    pub fn fields(&self) -> &[(String, Value)] {
        &self.fields
    }

    /// The value of a field, as it is shown.
    #[must_use]
    pub fn word(&self, key: &str) -> Option<String> {
        let mut fields = self.fields.iter();
        fields
            .find(|(known, _)| known == key)
            .map(|(_, value)| shown(value))
    }

    /// One line for each field: its key, its value, what it means.
    #[must_use]
    pub fn table(&self) -> String {
        let key_width = self.fields.iter().map(|(key, _)| key.len()).max();
        let value_width = self
            .fields
            .iter()
            .map(|(_, value)| shown(value).len())
            .max();
        let (key_width, value_width) = (key_width.unwrap_or(0), value_width.unwrap_or(0));
        let mut table = String::new();

        for (key, value) in &self.fields {
            let row = format!(
                "{key:<key_width$}  {:>value_width$}  {}",
                shown(value),
                meaning(key)
            );
            table.push_str(row.trim_end());
            table.push('\n');
        }
        table
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Word(word) => word.clone(),
    }
}

fn meaning(key: &str) -> &'static str {
    MEANINGS
        .iter()
        .find(|(known, _)| *known == key)
        .map_or("", |(_, meaning)| meaning)
}

impl Serialize for Status {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.fields.len()))?;

        for (key, value) in &self.fields {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::{Status, StatusError};

    #[test]
    fn numbers_and_words_keep_their_order() {
        let status = Status::parse("mode=hint writes=18446744073709551615 cut=0 new=a=b").unwrap();
        assert_eq!(
            serde_json::to_string(&status).unwrap(),
            r#"{"mode":"hint","writes":18446744073709551615,"cut":0,"new":"a=b"}"#
        );
    }

    #[test]
    fn the_table_has_a_line_for_each_field() {
        let status = Status::parse("mode=hint writes=12 novelty=3").unwrap();
        assert_eq!(
            status.table(),
            "mode     hint  what the target does\n\
             writes     12  writes with data, after cutting\n\
             novelty     3\n"
        );
    }

    #[test]
    fn a_damaged_line_is_an_error() {
        assert_eq!(Status::parse("  "), Err(StatusError::Empty));
        assert_eq!(
            Status::parse("mode=hint writes"),
            Err(StatusError::NotAField("writes".to_owned()))
        );
        assert_eq!(
            Status::parse("=3"),
            Err(StatusError::NotAField("=3".to_owned()))
        );
        assert_eq!(
            Status::parse("cut=1 cut=2"),
            Err(StatusError::Twice("cut".to_owned()))
        );
    }
}
