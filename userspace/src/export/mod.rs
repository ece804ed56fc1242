// SPDX-License-Identifier: GPL-2.0-only
//! Counters in Prometheus's text format, version 0.0.4: families with help and type, and
//! below each its samples.

pub mod drives;
pub mod targets;

use std::collections::BTreeMap;
use std::fmt;

/// What a family's values do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// They grow, until a table is loaded or a drive is made anew.
    Counter,
    Gauge,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
        })
    }
}

/// Samples of one name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Family {
    pub name: &'static str,
    pub kind: Kind,
    pub help: &'static str,
}

pub(crate) const fn counter(name: &'static str, help: &'static str) -> Family {
    Family {
        name,
        kind: Kind::Counter,
        help,
    }
}

pub(crate) const fn gauge(name: &'static str, help: &'static str) -> Family {
    Family {
        name,
        kind: Kind::Gauge,
        help,
    }
}

/// A text that grows sample by sample.
#[derive(Debug, Default)]
pub struct Text {
    families: BTreeMap<&'static str, (Family, String)>,
}

/// A label's value as the format wants it.
fn escape(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

impl Text {
    /// Add a sample.
    pub fn add(&mut self, family: &Family, labels: &[(&str, &str)], value: impl fmt::Display) {
        let (_, samples) = self
            .families
            .entry(family.name)
            .or_insert_with(|| (*family, String::new()));
        let labels: Vec<String> = labels
            .iter()
            .map(|(name, value)| format!("{name}=\"{}\"", escape(value)))
            .collect();

        samples.push_str(family.name);
        if !labels.is_empty() {
            samples.push_str(&format!("{{{}}}", labels.join(",")));
        }
        samples.push_str(&format!(" {value}\n"));
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (family, samples) in self.families.values() {
            let Family { name, kind, help } = family;
            write!(f, "# HELP {name} {help}\n# TYPE {name} {kind}\n{samples}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{counter, drives, gauge, targets, Family, Kind, Text};

    #[test]
    fn samples_stand_below_their_family() {
        let writes = counter("writes_total", "Writes");
        let free = gauge("free", "What is free");
        let mut text = Text::default();
        text.add(&writes, &[("device", "a")], 1);
        text.add(&free, &[], 2);
        text.add(&writes, &[("device", "q\"\\\n"), ("die", "3")], 4.5);
        assert_eq!(
            text.to_string(),
            "# HELP free What is free\n# TYPE free gauge\nfree 2\n\
             # HELP writes_total Writes\n# TYPE writes_total counter\n\
             writes_total{device=\"a\"} 1\nwrites_total{device=\"q\\\"\\\\\\n\",die=\"3\"} 4.5\n"
        );
    }

    fn families() -> Vec<Family> {
        let mut all: Vec<Family> = targets::families().collect();
        all.extend(drives::FAMILIES);
        all
    }

    #[test]
    fn names_follow_the_rules_of_prometheus() {
        for Family { name, kind, help } in families() {
            let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(
                name.starts_with("dieaware_") && name.chars().all(is_allowed),
                "{name}"
            );
            assert_eq!(name.ends_with("_total"), kind == Kind::Counter, "{name}");
            assert!(!help.is_empty() && !help.contains(['\n', '\\']), "{name}");
        }
    }

    #[test]
    fn all_are_documented() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/observability.md");
        let text = std::fs::read_to_string(path).unwrap();
        for Family { name, .. } in families() {
            assert!(text.contains(&format!("\n| `{name}` | ")), "{name}");
        }
    }

    /// Names of metrics in a query.
    fn names(query: &str) -> Vec<&str> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words = query.split(|c| !is_word(c));
        words.filter(|word| word.starts_with("dieaware_")).collect()
    }

    fn queries(value: &serde_json::Value, found: &mut Vec<String>) {
        match value {
            serde_json::Value::Object(map) => {
                for (key, value) in map {
                    match value.as_str() {
                        Some(text) if key == "expr" || key == "definition" => {
                            found.push(text.into());
                        }
                        _ => queries(value, found),
                    }
                }
            }
            serde_json::Value::Array(list) => list.iter().for_each(|one| queries(one, found)),
            _ => {}
        }
    }

    #[test]
    fn the_dashboard_asks_for_metrics_that_exist() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../packaging/grafana.json");
        let text = std::fs::read_to_string(path).unwrap();
        let (mut asked, mut used) = (Vec::new(), Vec::new());
        queries(&serde_json::from_str(&text).unwrap(), &mut asked);
        assert!(asked.len() > 10, "{asked:?}");
        let known = families();
        for query in &asked {
            let here = names(query);
            assert!(!here.is_empty(), "{query}");
            for name in here {
                let family = known.iter().find(|family| family.name == name);
                let family = family.unwrap_or_else(|| panic!("{name} does not exist: {query}"));
                let is_rate = query.contains("rate(") || query.contains("increase(");
                assert_eq!(is_rate, family.kind == Kind::Counter, "{query}");
                used.push(family.name);
            }
        }
        used.sort_unstable();
        used.dedup();
        assert!(used.len() > 15, "{used:?}");
    }
}
