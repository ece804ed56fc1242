// SPDX-License-Identifier: GPL-2.0-only
//! What was timed as a picture: a bar for the speed of each kind of read, and below how much longer files
//! take that lie badly, with the range in which it lies.

use std::fmt::Write;

use super::report::{words, Report, Timed};
use super::stats::Interval;
use super::verdict::factor;
use crate::frag::svg::escaped;

const WIDTH: u64 = 900;
const LEFT: u64 = 210;
const RIGHT: u64 = 90;
const TOP: u64 = 52;
const ROW: u64 = 26;
const BAR: u64 = 16;
const GAP: u64 = 44;

/// A length of so much, if `most` is all there is room for.
fn length(value: u64, most: u64) -> u64 {
    let room = u128::from(WIDTH - LEFT - RIGHT);
    let part = u128::from(value.min(most)) * room / u128::from(most.max(1));
    u64::try_from(part).unwrap_or(0)
}

fn label(svg: &mut String, y: u64, text: &str) {
    // A string takes everything.
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
        LEFT - 8,
        y + 12,
        escaped(text)
    );
}

fn bars(timed: &[Timed], svg: &mut String) {
    let most = timed.iter().map(|timed| timed.mb_per_s).max().unwrap_or(1);

    for (row, timed) in (0..).zip(timed) {
        let y = TOP + row * ROW;
        let length = length(timed.mb_per_s, most);
        let colour = if timed.kind.starts_with("in-pieces") {
            "#cb181d"
        } else {
            "#2171b5"
        };
        label(svg, y, words(timed.kind).trim());
        let _ = writeln!(
            svg,
            "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{length}\" height=\"{BAR}\" fill=\"{colour}\"/>\n\
             <text x=\"{}\" y=\"{}\">{} MB/s</text>",
            LEFT + length + 6,
            y + 12,
            timed.mb_per_s
        );
    }
}

/// What is compared, and what it is called.
fn factors(report: &Report) -> Vec<(&'static str, Interval)> {
    let parts = report.slowdown.map(|parts| {
        [
            ("in pieces: times as long", parts.total),
            ("by where they lie", parts.places),
            ("by being several", parts.splitting),
        ]
    });
    let mut list: Vec<_> = parts.into_iter().flatten().collect();

    list.extend(
        report
            .aged
            .map(|times| ("in one piece, by a new file", times)),
    );
    list.extend(
        report
            .unevenness
            .map(|times| ("in one piece: slow by fast", times)),
    );
    list
}

/// A range, a mark for what was measured, and a line where it takes as long as it should.
fn ranges(list: &[(&'static str, Interval)], top: u64, svg: &mut String) {
    let most = list.iter().map(|(_, times)| times.high_permille).max();
    let most = most.unwrap_or(0).max(1500);
    let one = LEFT + length(1000, most);

    for (row, (name, times)) in (0..).zip(list) {
        let y = top + row * ROW;
        let x = |permille| LEFT + length(permille, most);
        let (low, high) = (x(times.low_permille), x(times.high_permille));
        label(svg, y, name);
        let _ = writeln!(
            svg,
            "<rect x=\"{low}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#9ecae1\"/>\n\
             <rect x=\"{}\" y=\"{y}\" width=\"2\" height=\"{BAR}\" fill=\"#08306b\"/>\n\
             <text x=\"{}\" y=\"{}\">{}</text>",
            y + 4,
            (high - low).max(2),
            BAR - 8,
            x(times.mid_permille),
            high + 8,
            y + 12,
            factor(times.mid_permille)
        );
    }
    let _ = writeln!(
        svg,
        "<line x1=\"{one}\" y1=\"{}\" x2=\"{one}\" y2=\"{}\" stroke=\"#888\" stroke-dasharray=\"3 3\"/>",
        top - 8,
        top + list.len() as u64 * ROW
    );
}

/// The picture.
#[must_use]
pub fn picture(report: &Report) -> String {
    let list = factors(report);
    let second = TOP + report.timed.len() as u64 * ROW + GAP;
    let height = second + list.len() as u64 * ROW + 16;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"12\" y=\"24\" font-size=\"14\">{}: {}</text>\n",
        escaped(&report.path),
        report.verdict
    );

    bars(&report.timed, &mut svg);
    if !list.is_empty() {
        let _ = writeln!(
            svg,
            "<text x=\"12\" y=\"{}\">times as long (dashed: 1; light: range)</text>",
            second - 16
        );
        ranges(&list, second, &mut svg);
    }
    svg.push_str("</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    use super::{length, picture};
    use crate::doctor::report::tests::report;

    #[test]
    fn each_kind_and_each_range_is_drawn() {
        let mut report = report();
        report.path = "/mnt/<a>&b".into();
        let svg = picture(&report);
        // The ground, two bars, and a range with its mark for each of four
        assert_eq!(svg.matches("<rect").count(), 1 + 2 + 2 * 4);
        assert!(svg.contains("/mnt/&lt;a&gt;&amp;b: affected"), "{svg}");
        assert!(svg.contains("2500 MB/s") && svg.contains(">5.00<"));
        assert_eq!(svg.matches("dasharray").count(), 1);
    }

    #[test]
    fn nothing_can_be_drawn_and_so_can_the_largest_number() {
        let mut report = report();
        report.timed.clear();
        report.slowdown = None;
        report.unevenness = None;
        let svg = picture(&report);
        assert!(svg.ends_with("</svg>\n") && !svg.contains("dasharray"));
        assert_eq!(length(u64::MAX, u64::MAX), 600);
        assert_eq!((length(0, 0), length(7, 0)), (0, 0));
    }
}
