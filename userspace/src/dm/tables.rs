// SPDX-License-Identifier: GPL-2.0-only
//! Tables of device-mapper, and what they become when hint mode comes and goes below something that
//! stays in use. A linear segment becomes a target in hint mode that maps the same sectors to the
//! same place, and the other way round: all that there is to know is in the table itself.

use std::fmt;

use thiserror::Error;

use super::TARGET_TYPE;

const LINEAR: &str = "linear";

/// Targets that may be loaded once more beside themselves, and stay as they are: they own nothing.
const KEPT: [&str; 3] = ["striped", "zero", "error"];

/// A line of a table.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Segment {
    pub start_sectors: u64,
    pub len_sectors: u64,
    /// The type of its target.
    pub kind: String,
    /// What comes behind, as it is.
    pub params: String,
}

/// A table that has been understood as far as that: at least a line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Table {
    segments: Vec<Segment>,
}

/// Why a table does not become another one.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum TableError {
    #[error("it has no table")]
    Empty,
    #[error("its table is not understood: {0}")]
    NotUnderstood(String),
    #[error("it has a dieaware target already")]
    HasTarget,
    #[error("it is in log mode, in which data does not lie where it would lie without")]
    Log,
    #[error("it has a target of type {0}, of which there can be only one; see \"dmsetup ls --tree\" for what lies below")]
    Owner(String),
    #[error("it has a target of type {0}, through which no hint gets; see \"dmsetup ls --tree\" for what lies below")]
    Opaque(String),
}

impl Segment {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.trim().splitn(4, ' ');
        Some(Self {
            start_sectors: words.next()?.parse().ok()?,
            len_sectors: words.next()?.parse().ok()?,
            kind: words.next()?.to_owned(),
            params: words.next().unwrap_or_default().trim().to_owned(),
        })
    }

    /// Its device and first sector there, if it maps 1:1, and what comes behind.
    fn place(&self) -> Option<(&str, &str)> {
        let (device, rest) = self.params.split_once(' ')?;
        let start = rest.split(' ').next()?;
        let rest = rest.strip_prefix(start)?;

        start.parse::<u64>().ok()?;
        Some((self.params.get(..device.len() + 1 + start.len())?, rest))
    }

    /// The device that it maps to 1:1, as the table has it.
    #[must_use]
    pub fn device(&self) -> Option<&str> {
        self.place()?;
        self.params.split(' ').next()
    }

    fn with(&self, kind: &str, params: String) -> Self {
        Self {
            kind: kind.to_owned(),
            params,
            ..self.clone()
        }
    }

    fn not_understood(&self) -> TableError {
        TableError::NotUnderstood(self.to_string())
    }

    fn attached(&self, options: &[String]) -> Result<Self, TableError> {
        let (place, _) = self.place().ok_or_else(|| self.not_understood())?;
        let mut params = format!("{place} hint");

        if !options.is_empty() {
            params += &format!(" {} {}", options.len(), options.join(" "));
        }
        Ok(self.with(TARGET_TYPE, params))
    }

    fn detached(&self) -> Result<Self, TableError> {
        let (place, rest) = self.place().ok_or_else(|| self.not_understood())?;

        match rest.split_whitespace().next() {
            Some("hint") => Ok(self.with(LINEAR, place.to_owned())),
            Some("log") => Err(TableError::Log),
            _ => Err(self.not_understood()),
        }
    }

    fn is_ours(&self) -> bool {
        self.kind == TARGET_TYPE
    }

    fn require_kept_alone(&self) -> Result<(), TableError> {
        if KEPT.contains(&self.kind.as_str()) {
            return Ok(());
        }
        Err(TableError::Owner(self.kind.clone()))
    }

    fn require_kept(&self) -> Result<(), TableError> {
        if KEPT.contains(&self.kind.as_str()) {
            return Ok(());
        }
        Err(TableError::Opaque(self.kind.clone()))
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            start_sectors,
            len_sectors,
            kind,
            params,
        } = self;
        write!(f, "{start_sectors} {len_sectors} {kind}")?;
        if !params.is_empty() {
            write!(f, " {params}")?;
        }
        Ok(())
    }
}

impl Table {
    /// What `dmsetup table` prints of a device.
    ///
    /// # Errors
    ///
    /// When there is none, or a line is none.
    pub fn parse(text: &str) -> Result<Self, TableError> {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let segments = lines
            .map(|line| {
                Segment::parse(line).ok_or_else(|| TableError::NotUnderstood(line.to_owned()))
            })
            .collect::<Result<Vec<_>, _>>()?;

        if segments.is_empty() {
            return Err(TableError::Empty);
        }
        Ok(Self { segments })
    }

    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// How many targets of ours it has.
    #[must_use]
    pub fn nr_targets(&self) -> usize {
        self.segments.iter().filter(|one| one.is_ours()).count()
    }

    /// The same with hint mode in all linear segments.
    ///
    /// # Errors
    ///
    /// When it has a target of ours, or one that cannot stay or be replaced.
    pub fn attached(&self, options: &[String]) -> Result<Self, TableError> {
        if self.nr_targets() > 0 {
            self.detached()?;
            return Err(TableError::HasTarget);
        }
        let segments = self
            .segments
            .iter()
            .map(|one| match one.kind.as_str() {
                LINEAR => one.attached(options),
                _ => one.require_kept().map(|()| one.clone()),
            })
            .collect::<Result<Vec<_>, _>>()?;
        let attached = Self { segments };

        match attached.segments.first() {
            Some(first) if attached.nr_targets() == 0 => {
                Err(TableError::Opaque(first.kind.clone()))
            }
            _ => Ok(attached),
        }
    }

    /// May another device have the same table beside this one?
    ///
    /// # Errors
    ///
    /// When it has a target of ours, or one that is alone with what it maps.
    pub fn require_shared(&self) -> Result<(), TableError> {
        if self.nr_targets() > 0 {
            return Err(TableError::HasTarget);
        }
        let mut others = self.segments.iter().filter(|one| one.kind != LINEAR);
        others.try_for_each(Segment::require_kept_alone)
    }

    /// The same without hint mode.
    ///
    /// # Errors
    ///
    /// When a target of ours is in log mode, or one of others cannot stay.
    pub fn detached(&self) -> Result<Self, TableError> {
        let segments = self
            .segments
            .iter()
            .map(|one| match one.kind.as_str() {
                LINEAR => Ok(one.clone()),
                TARGET_TYPE => one.detached(),
                _ => one.require_kept().map(|()| one.clone()),
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { segments })
    }

    /// Does it map the same sectors to the same places, whatever options hint mode has?
    #[must_use]
    pub fn maps_as(&self, other: &Self) -> bool {
        match (self.detached(), other.detached()) {
            (Ok(one), Ok(other)) => one == other,
            _ => self == other,
        }
    }

    /// Is it one of a pair, of which one has hint mode and the other has not?
    #[must_use]
    pub fn is_counterpart(&self, other: &Self) -> bool {
        self.maps_as(other) && (self.nr_targets() == 0) != (other.nr_targets() == 0)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.segments
            .iter()
            .try_for_each(|one| writeln!(f, "{one}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Table, TableError};

    const TWO: &str = "0 8192 linear 259:0 2048\n8192 1024 linear 259:1 384\n";

    fn table(text: &str) -> Table {
        Table::parse(text).unwrap()
    }

    fn refused(text: &str) -> TableError {
        table(text).attached(&[]).unwrap_err()
    }

    #[test]
    fn each_linear_segment_gets_a_target_at_its_own_place() {
        let attached = table(TWO).attached(&[]).unwrap();
        assert_eq!(
            attached.to_string(),
            "0 8192 dieaware 259:0 2048 hint\n8192 1024 dieaware 259:1 384 hint\n"
        );
        assert_eq!(attached.nr_targets(), 2);
        let options = ["runs_mb=8".to_owned(), "hints=on".to_owned()];
        let attached = table(TWO).attached(&options).unwrap();
        assert_eq!(
            attached.segments()[1].to_string(),
            "8192 1024 dieaware 259:1 384 hint 2 runs_mb=8 hints=on"
        );
        assert_eq!(attached.segments()[1].device(), Some("259:1"));
    }

    #[test]
    fn there_and_back_is_the_same_table() {
        let mixed = "0 8 linear 8:1 0\n8 8 striped 2 8 8:2 0 8:3 0\n16 8 error\n24 8 zero\n";
        for text in [TWO, mixed, "0 1 linear 8:1 7"] {
            for options in [&[][..], &["hints=off".to_owned()]] {
                let attached = table(text).attached(options).unwrap();
                assert_eq!(attached.detached().unwrap(), table(text));
                assert_eq!(attached.attached(&[]), Err(TableError::HasTarget));
                assert!(attached.is_counterpart(&table(text)) && attached.maps_as(&table(text)));
                assert!(!attached.is_counterpart(&attached) && attached.maps_as(&attached));
            }
            assert_eq!(table(text).detached().unwrap(), table(text));
        }
    }

    #[test]
    fn another_place_is_another_table() {
        for other in [
            "0 8192 linear 259:0 2048\n",
            "0 8192 linear 259:0 2048\n8192 1024 linear 259:1 392\n",
            "0 8192 linear 259:0 2048\n8192 1024 linear 259:2 384\n",
            "0 8192 linear 259:0 2048\n8192 1032 linear 259:1 384\n",
            "0 8192 linear 259:0 2048\n8192 1024 error\n",
            "0 9216 thin 253:1 1\n",
        ] {
            let attached = table(TWO).attached(&[]).unwrap();
            assert!(!attached.maps_as(&table(other)), "{other}");
            assert!(!table(other).is_counterpart(&attached), "{other}");
        }
    }

    #[test]
    fn what_owns_something_is_not_loaded_twice() {
        let opaque = |kind: &str| TableError::Opaque(kind.to_owned());
        assert_eq!(refused("0 8 thin 253:1 1"), opaque("thin"));
        assert_eq!(
            refused("0 8 snapshot-origin 253:1"),
            opaque("snapshot-origin")
        );
        assert_eq!(
            refused("0 8 linear 8:1 0\n8 8 mirror core"),
            opaque("mirror")
        );
        assert_eq!(refused("0 8 crypt aes 0 0 8:1 0"), opaque("crypt"));
        // Nothing of it would get hints.
        assert_eq!(refused("0 8 striped 2 8 8:2 0 8:3 0"), opaque("striped"));
        let beside = table("0 8 dieaware 8:1 0 hint\n8 8 mirror core");
        assert_eq!(beside.detached(), Err(opaque("mirror")));
        assert_eq!(beside.attached(&[]), Err(opaque("mirror")));
    }

    #[test]
    fn log_mode_is_not_taken_away() {
        let log = table("0 8 dieaware 8:1 0 log 1 idle_ms=50");
        assert_eq!(log.detached(), Err(TableError::Log));
        assert_eq!(log.attached(&[]), Err(TableError::Log));
        assert!(log.maps_as(&log) && !log.maps_as(&table("0 8 linear 8:1 0")));
    }

    #[test]
    fn only_what_owns_nothing_has_two_devices() {
        let shared = |text: &str| table(text).require_shared();
        assert_eq!(shared(TWO), Ok(()));
        assert_eq!(
            shared("0 8 linear 8:1 0\n8 8 striped 2 8 8:2 0 8:3 0\n16 8 error"),
            Ok(())
        );
        for kind in ["thin", "crypt", "mirror", "snapshot-origin"] {
            let err = TableError::Owner(kind.to_owned());
            assert_eq!(shared(&format!("0 8 linear 8:1 0\n8 8 {kind} x")), Err(err));
        }
        for mode in ["hint", "log"] {
            let err = Err(TableError::HasTarget);
            assert_eq!(shared(&format!("0 8 dieaware 8:1 0 {mode}")), err);
        }
    }

    #[test]
    fn what_is_no_table_is_refused() {
        assert_eq!(Table::parse("\n"), Err(TableError::Empty));
        for text in ["0", "0 8", "x 8 linear 8:1 0", "0 x linear 8:1 0"] {
            let err = Table::parse(text);
            assert!(matches!(err, Err(TableError::NotUnderstood(_))), "{text}");
        }
        for text in ["0 8 linear", "0 8 linear 8:1", "0 8 linear 8:1 x"] {
            let err = refused(text);
            assert!(matches!(err, TableError::NotUnderstood(_)), "{text}");
            assert_eq!(table(text).segments()[0].device(), None);
        }
        for text in ["0 8 dieaware 8:1 0", "0 8 dieaware 8:1 0 other"] {
            let err = table(text).detached();
            assert!(matches!(err, Err(TableError::NotUnderstood(_))), "{text}");
        }
    }
}
