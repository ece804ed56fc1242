// SPDX-License-Identifier: GPL-2.0-only
//! What is wrong with a device, in sentences. A device that is damaged all over has one cause as a
//! rule: of each kind only as many are kept as somebody will read, and all are counted.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Note,
    /// Something is lost that is there twice, or a crash can leave it like that.
    Warning,
    /// What the device should hold is not there, or cannot be trusted.
    Damage,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Damage => "damage",
        })
    }
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    Superblock,
    Root,
    Directory,
    MapPage,
    MapEntry,
    SegmentTable,
    Segment,
    OpenSummary,
    Summary,
    SummaryEntry,
    Journal,
    /// Pages of it, on a device with checksums.
    Data,
}

/// A finding.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    pub severity: Severity,
    pub subject: Subject,
    /// A complete sentence.
    pub sentence: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.severity, self.sentence)
    }
}

/// Findings, of each kind no more than somebody will read.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<Finding>,
    counts: BTreeMap<(Severity, Subject), u64>,
}

/// Findings of a kind that are kept.
pub const MOST_OF_A_KIND: u64 = 20;

impl Findings {
    pub fn add(&mut self, severity: Severity, subject: Subject, sentence: impl FnOnce() -> String) {
        let count = self.counts.entry((severity, subject)).or_default();

        *count += 1;
        if *count <= MOST_OF_A_KIND {
            self.list.push(Finding {
                severity,
                subject,
                sentence: sentence(),
            });
        }
    }

    pub fn damage(&mut self, subject: Subject, sentence: impl FnOnce() -> String) {
        self.add(Severity::Damage, subject, sentence);
    }

    /// Is there one of this kind?
    pub fn has(&self, severity: Severity, subject: Subject) -> bool {
        self.counts.contains_key(&(severity, subject))
    }

    /// Are there so many of this kind that no more are kept?
    pub fn is_full(&self, severity: Severity, subject: Subject) -> bool {
        let count = self.counts.get(&(severity, subject));
        count.is_some_and(|count| *count >= MOST_OF_A_KIND)
    }

    /// How many there are, those that were not kept included.
    pub fn count(&self, severity: Severity) -> u64 {
        self.counts
            .iter()
            .filter(|((found, _), _)| *found == severity)
            .map(|(_, count)| count)
            .sum()
    }

    /// All that were kept, the worst first, and a sentence for each kind of which there
    /// are more.
    pub fn into_list(mut self) -> Vec<Finding> {
        for ((severity, subject), count) in &self.counts {
            if *count > MOST_OF_A_KIND {
                self.list.push(Finding {
                    severity: *severity,
                    subject: *subject,
                    sentence: format!("There are {} more of this kind.", count - MOST_OF_A_KIND),
                });
            }
        }
        self.list
            .sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.subject));
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::{Findings, Severity, Subject};

    #[test]
    fn there_are_never_too_many() {
        let mut findings = Findings::default();
        for i in 0..100 {
            findings.damage(Subject::MapEntry, || format!("Entry {i}."));
        }
        findings.add(Severity::Note, Subject::Journal, || "Short.".to_owned());
        assert_eq!(findings.count(Severity::Damage), 100);
        let list = findings.into_list();
        assert_eq!(list.len(), 22);
        assert_eq!(list[20].sentence, "There are 80 more of this kind.");
        assert_eq!(list[21].to_string(), "note: Short.");
    }
}
