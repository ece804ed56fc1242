// SPDX-License-Identifier: GPL-2.0-only
//! The curve as a picture: throughput over the interval between reads, as in Fig. 8 of the
//! FAST'24 paper, with the stripe and its multiples marked.

use std::fmt::Write;

use super::{Outcome, Point};

const WIDTH: u64 = 900;
const HEIGHT: u64 = 360;
const LEFT: u64 = 70;
const RIGHT: u64 = 20;
const TOP: u64 = 46;
const BOTTOM: u64 = 50;

/// Points that are drawn at most: the slowest of those that share a place.
const MOST_POINTS: usize = 1600;

const MOST_MARKS: u64 = 12;

/// 1, 2 or 5 times a power of ten, so that there are at most `most` steps.
fn step(top: u64, most: u64) -> u64 {
    let mut ten: u64 = 1;

    loop {
        for step in [ten, 2 * ten, 5 * ten] {
            if top / step <= most {
                return step;
            }
        }
        ten = ten.saturating_mul(10);
    }
}

struct Frame {
    most_kib: u64,
    most_mb: u64,
}

impl Frame {
    fn x(&self, kib: u64) -> u64 {
        LEFT + kib * (WIDTH - LEFT - RIGHT) / self.most_kib.max(1)
    }

    fn y(&self, mb_per_s: u64) -> u64 {
        HEIGHT - BOTTOM - mb_per_s * (HEIGHT - TOP - BOTTOM) / self.most_mb.max(1)
    }

    fn axes(&self, svg: &mut String) {
        let foot = HEIGHT - BOTTOM;

        for mb in (0..=self.most_mb).step_by(step(self.most_mb, 6) as usize) {
            let y = self.y(mb);
            // A string takes everything.
            let _ = writeln!(
                svg,
                "<line x1=\"{LEFT}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\" stroke=\"#ddd\"/>\n\
                 <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{mb}</text>",
                WIDTH - RIGHT,
                LEFT - 6,
                y + 4
            );
        }
        for kib in (0..=self.most_kib).step_by(step(self.most_kib, 12) as usize) {
            let x = self.x(kib);
            let _ = writeln!(
                svg,
                "<line x1=\"{x}\" y1=\"{foot}\" x2=\"{x}\" y2=\"{}\" stroke=\"#888\"/>\n\
                 <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{kib}</text>",
                foot + 4,
                foot + 16
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">KiB from the start of a read to that of the next</text>\n\
             <text x=\"14\" y=\"{}\" transform=\"rotate(-90 14 {})\" text-anchor=\"middle\">MB/s</text>",
            (LEFT + WIDTH - RIGHT) / 2,
            HEIGHT - 12,
            (TOP + foot) / 2,
            (TOP + foot) / 2
        );
    }

    fn marks(&self, stripe_kib: u64, svg: &mut String) {
        let multiples = (1..=MOST_MARKS).map(|multiple| multiple * stripe_kib);

        for kib in multiples.take_while(|kib| *kib <= self.most_kib) {
            let x = self.x(kib);
            let _ = writeln!(
                svg,
                "<line x1=\"{x}\" y1=\"{TOP}\" x2=\"{x}\" y2=\"{}\" stroke=\"#cb181d\" \
                 stroke-dasharray=\"3 3\"/>",
                HEIGHT - BOTTOM
            );
        }
    }

    fn line(&self, curve: &[Point], svg: &mut String) {
        let together = curve.len().div_ceil(MOST_POINTS).max(1);
        let slowest = curve
            .chunks(together)
            .filter_map(|points| points.iter().max_by_key(|point| point.group_ns));
        let points: Vec<String> = slowest
            .map(|point| {
                let x = self.x(point.interval_bytes / 1024);
                format!("{x},{}", self.y(point.mb_per_s()))
            })
            .collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"#2171b5\" stroke-width=\"1.2\"/>",
            points.join(" ")
        );
    }
}

fn title(outcome: &Outcome) -> String {
    match &outcome.found {
        Err(_) => "No stripe was found".to_owned(),
        Ok(found) => match (found.unit_bytes, found.nr_dies) {
            (Some(unit), Some(dies)) => format!(
                "Stripe {} KiB (dashed): {dies} dies, units of {} KiB",
                found.stripe_bytes / 1024,
                unit / 1024
            ),
            _ => format!("Stripe {} KiB (dashed)", found.stripe_bytes / 1024),
        },
    }
}

/// The picture.
#[must_use]
pub fn picture(outcome: &Outcome) -> String {
    let curve = &outcome.curve;
    let frame = Frame {
        most_kib: curve.last().map_or(1, |point| point.interval_bytes / 1024),
        most_mb: curve.iter().map(Point::mb_per_s).max().unwrap_or(1).max(1),
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"14\">{}</text>\n",
        title(outcome)
    );

    frame.axes(&mut svg);
    if let Ok(found) = &outcome.found {
        frame.marks(found.stripe_bytes / 1024, &mut svg);
    }
    frame.line(curve, &mut svg);
    svg.push_str("</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    use super::{picture, step};
    use crate::probe::{Found, Outcome, Point, Refusal};

    fn outcome(nr_points: u64, found: Result<Found, Refusal>) -> Outcome {
        let point = |at: u64| Point {
            interval_bytes: at * 4096,
            group_ns: if at % 64 == 0 { 600_000 } else { 90_000 },
        };
        Outcome {
            curve: (1..=nr_points).map(point).collect(),
            found,
        }
    }

    #[test]
    fn steps_are_round_and_few() {
        assert_eq!((step(7, 12), step(100, 6), step(2900, 6)), (1, 20, 500));
        assert_eq!(step(0, 6), 1);
    }

    #[test]
    fn the_stripe_is_marked_as_often_as_it_fits() {
        let found = Found {
            stripe_bytes: 256 << 10,
            unit_bytes: Some(32 << 10),
            nr_dies: Some(8),
            first_unit_bytes: Some(0),
            read_ns: 40_000,
            checks: 96,
            checks_right: 96,
        };
        let svg = picture(&outcome(130, Ok(found)));
        assert_eq!(svg.matches("dasharray").count(), 2);
        assert!(svg.contains("8 dies, units of 32 KiB"));
        assert_eq!(svg.matches(',').count(), 1 + 130);
    }

    #[test]
    fn a_curve_of_nothing_and_a_long_one_can_be_drawn() {
        let flat = Err(Refusal::Flat {
            fastest_us: 1,
            slowest_us: 1,
        });
        assert!(picture(&outcome(0, flat)).ends_with("</svg>\n"));
        let svg = picture(&outcome(15_000, flat));
        assert!(svg.contains("No stripe") && svg.matches(',').count() <= 1600);
    }
}
