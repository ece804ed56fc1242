// SPDX-License-Identifier: GPL-2.0-only
//! How fragmented a file is, for the filesystem (DoF_L) and for the SSD (DoF_P). They are two
//! numbers because a file in one piece may lie on one die, and one in many pieces on all of them.

pub mod look;
pub mod svg;

use std::collections::HashSet;

use serde::Serialize;

use crate::device::nvme::placement::{Geometry, Place};
use crate::runs::{self, Run};

/// Degree of logical fragmentation: pieces, and as few as there could be.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Logical {
    /// Pieces that are together on the device.
    pub pieces: u64,
    /// As many as the file has parts between holes.
    pub ideal_pieces: u64,
}

impl Logical {
    pub fn of(runs: &[Run]) -> Self {
        let breaks = runs.windows(2).filter(|pair| match pair {
            [one, next] => runs::end_of(one) != next.file_page.0,
            _ => false,
        });
        Self {
            pieces: runs.len() as u64,
            ideal_pieces: match runs.len() {
                0 => 0,
                _ => 1 + breaks.count() as u64,
            },
        }
    }

    /// Pieces for each piece that there must be, in thousandths: 1000 is ideal.
    pub fn dof_permille(&self) -> u64 {
        (self.pieces * 1000)
            .checked_div(self.ideal_pieces)
            .unwrap_or(1000)
    }
}

/// Degree of physical fragmentation of a set of pages, as the SSD's log page C3h has it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Physical {
    /// 0: as fast as the SSD can; 1000 * (1 - 1 / dies): all on one die.
    pub dof_permille: u64,
    pub nr_pages: u64,
    /// What is read at once.
    pub nr_units: u64,
    /// Units of the die that has the most.
    pub most_units: u64,
    /// By die: pages.
    pub die_pages: Vec<u64>,
}

impl Physical {
    /// Of pages of one SSD; those that are nowhere do not count.
    pub fn of(geometry: &Geometry, places: &[Option<Place>]) -> Self {
        let nr_dies = geometry.nr_dies as usize;
        let mut die_pages = vec![0; nr_dies];
        let mut die_units = vec![0u64; nr_dies];
        let mut units = HashSet::new();

        for place in places.iter().flatten() {
            let die = usize::from(place.die);
            if let Some(pages) = die_pages.get_mut(die) {
                *pages += 1;
            }
            if units.insert(place.unit) {
                if let Some(units) = die_units.get_mut(die) {
                    *units += 1;
                }
            }
        }
        let nr_pages: u64 = die_pages.iter().sum();
        let most_units = die_units.iter().copied().max().unwrap_or(0);
        let stripe_pages = u64::from(geometry.nr_dies) * u64::from(geometry.unit_pages);
        let best = nr_pages.div_ceil(stripe_pages);
        Self {
            dof_permille: (most_units.saturating_sub(best) * 1000)
                .checked_div(most_units)
                .unwrap_or(0),
            nr_pages,
            nr_units: units.len() as u64,
            most_units,
            die_pages,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Logical, Physical};
    use crate::device::nvme::placement::{Geometry, Place};
    use crate::runs::listed as runs;

    #[test]
    fn a_hole_is_no_fragmentation() {
        for (list, pieces, ideal, permille) in [
            (&[][..], 0, 0, 1000),
            (&[(0, 50, 8)], 1, 1, 1000),
            (&[(0, 50, 8), (8, 90, 8)], 2, 1, 2000),
            (&[(0, 50, 8), (9, 90, 8)], 2, 2, 1000),
            (&[(0, 50, 8), (8, 90, 8), (30, 10, 1)], 3, 2, 1500),
        ] {
            let logical = Logical::of(&runs(list));
            assert_eq!((logical.pieces, logical.ideal_pieces), (pieces, ideal));
            assert_eq!(logical.dof_permille(), permille, "{list:?}");
        }
    }

    const GEOMETRY: Geometry = Geometry {
        nr_dies: 8,
        unit_pages: 8,
    };

    fn dof(places: impl Iterator<Item = (u16, u32)>) -> u64 {
        let places: Vec<_> = places
            .map(|(die, unit)| Some(Place { die, unit }))
            .collect();
        Physical::of(&GEOMETRY, &places).dof_permille
    }

    #[test]
    fn dof_is_what_the_ssd_says() {
        // The figures of tests/lab/199-ssd-logs.sh
        assert_eq!(dof((0..128).map(|page| (0, page / 8))), 875);
        assert_eq!(
            dof((0..128).map(|page| ((page / 8 % 8) as u16, page / 8))),
            0
        );
        assert_eq!(dof((0..16).map(|page| (0, page / 8))), 500);
        assert_eq!(dof(std::iter::empty()), 0);
        let physical = Physical::of(&GEOMETRY, &[None, Some(Place { die: 7, unit: 3 })]);
        assert_eq!((physical.nr_pages, physical.most_units), (1, 1));
        assert_eq!(physical.die_pages, [0, 0, 0, 0, 0, 0, 0, 1]);
    }
}
