// SPDX-License-Identifier: GPL-2.0-only
//! A picture of where files are: a column for each piece of the file that is read at once, a
//! row for each die, and the darker the more of the piece is there. A file that can be read fast
//! is one even colour; one that piles up has dark rows.

use std::fmt::Write;

use crate::device::nvme::placement::{Geometry, Place};

/// Columns of a picture at most.
const MOST_COLUMNS: u64 = 160;

const CELL: u64 = 6;
const LEFT: u64 = 46;
const HEAD: u64 = 34;
const FOOT: u64 = 30;

/// A file in the picture.
pub struct Drawn<'a> {
    pub title: String,
    pub geometry: Geometry,
    /// By page of the file that is somewhere.
    pub places: &'a [Option<Place>],
}

impl Drawn<'_> {
    /// Pages of a column: whole stripes, so that an even file is even in the picture.
    fn column_pages(&self) -> u64 {
        let stripe = u64::from(self.geometry.nr_dies) * u64::from(self.geometry.unit_pages);
        let nr_pages = self.places.len() as u64;
        stripe * nr_pages.div_ceil(stripe * MOST_COLUMNS).max(1)
    }

    fn height(&self) -> u64 {
        HEAD + u64::from(self.geometry.nr_dies) * CELL + FOOT
    }

    /// By column: pages on each die.
    fn columns(&self) -> impl Iterator<Item = Vec<u64>> + '_ {
        self.places
            .chunks(self.column_pages() as usize)
            .map(|places| {
                let mut pages = vec![0; self.geometry.nr_dies as usize];
                for place in places.iter().flatten() {
                    if let Some(pages) = pages.get_mut(usize::from(place.die)) {
                        *pages += 1;
                    }
                }
                pages
            })
    }
}

/// A text as XML has it.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            letter if letter.is_control() => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// From an even share (light blue) to all of it (dark red).
fn colour(pages: u64, all: u64, nr_dies: u64) -> Option<String> {
    if pages == 0 || all == 0 {
        return None;
    }
    // 0: an even share or less; 1000: all of it
    let even = all.div_ceil(nr_dies);
    let excess = pages.saturating_sub(even) * 1000;
    let share = excess
        .checked_div(all - even.min(all))
        .unwrap_or(0)
        .min(1000);
    let mix = |from: u64, to: u64| (from * (1000 - share) + to * share) / 1000;

    Some(format!(
        "#{:02x}{:02x}{:02x}",
        mix(158, 165),
        mix(202, 15),
        mix(225, 21)
    ))
}

fn draw(file: &Drawn, top: u64, svg: &mut String) {
    let nr_dies = u64::from(file.geometry.nr_dies);
    let column_kib = file.column_pages() * 4;
    // A string takes everything.
    let _ = writeln!(
        svg,
        "<text x=\"4\" y=\"{}\" font-weight=\"bold\">{}</text>",
        top + 14,
        escaped(&file.title)
    );
    for die in (0..nr_dies).step_by(if nr_dies > 16 { 8 } else { 1 }) {
        let y = top + HEAD + die * CELL + CELL;
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{y}\" text-anchor=\"end\" font-size=\"7\">die {die}</text>",
            LEFT - 4
        );
    }
    let mut nr_columns = 0;
    for (column, pages) in (0..).zip(file.columns()) {
        let all = pages.iter().sum();
        nr_columns = column + 1;
        for (die, pages) in (0..).zip(pages) {
            let Some(colour) = colour(pages, all, nr_dies) else {
                continue;
            };
            let _ = writeln!(
                svg,
                "<rect x=\"{}\" y=\"{}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{colour}\"/>",
                LEFT + column * CELL,
                top + HEAD + die * CELL
            );
        }
    }
    let _ = writeln!(
        svg,
        "<rect x=\"{LEFT}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#888\"/>",
        top + HEAD,
        nr_columns * CELL,
        nr_dies * CELL
    );
    let _ = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"{}\">place in the file, {column_kib} KiB a column; \
         blue: an even share, red: all on one die</text>",
        top + HEAD + nr_dies * CELL + 14
    );
}

/// The picture of some files, one below the other.
pub fn picture(files: &[Drawn]) -> String {
    let width = LEFT + MOST_COLUMNS * CELL + 10;
    let height: u64 = files.iter().map(Drawn::height).sum::<u64>() + 8;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let mut top = 0;

    for file in files {
        draw(file, top, &mut svg);
        top += file.height();
    }
    svg.push_str("</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    use super::{colour, picture, Drawn};
    use crate::device::nvme::placement::{Geometry, Place};

    fn drawn(places: &[Option<Place>]) -> String {
        picture(&[Drawn {
            title: "a<b".to_owned(),
            geometry: Geometry {
                nr_dies: 4,
                unit_pages: 2,
            },
            places,
        }])
    }

    #[test]
    fn a_file_on_one_die_is_a_red_row_and_an_even_one_is_blue() {
        let place = |die| Some(Place { die, unit: 0 });
        let even: Vec<_> = (0..64).map(|page| place(page / 2 % 4)).collect();
        let piled: Vec<_> = (0..64).map(|_| place(2)).collect();
        let blue = colour(2, 8, 4).unwrap();
        let red = colour(8, 8, 4).unwrap();
        assert_ne!(blue, red);
        // 8 columns, each of a stripe
        assert_eq!(drawn(&even).matches(&blue).count(), 32);
        assert_eq!(drawn(&even).matches(&red).count(), 0);
        assert_eq!(drawn(&piled).matches(&red).count(), 8);
        assert!(drawn(&piled).contains("a&lt;b"));
        assert!(drawn(&[]).ends_with("</svg>\n"));
    }

    #[test]
    fn a_large_file_has_no_more_columns_than_fit() {
        let places: Vec<_> = (0..100_000)
            .map(|_| Some(Place { die: 0, unit: 0 }))
            .collect();
        assert!(drawn(&places).matches("<rect").count() < 170);
    }
}
