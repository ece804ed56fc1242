// SPDX-License-Identifier: GPL-2.0-only
//! Where a target in log mode has its pages: what it answers to the message `where`. An answer ends
//! where it is full, and then it is asked again. Pages move, so what was answered is kept no longer
//! than for one question.

use std::collections::BTreeMap;
use std::ops::Range;

/// Pages that are asked for at least: pieces of a file are often near each other, and each message
/// takes a process. 16 MiB, which a few pages of the map know.
const LEAST_PAGES: u64 = 4096;

/// Pages in a row that the target shows, and where they lie.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Placed {
    pub lpn: u64,
    /// Counted from the first sector that the target uses; `None`: they hold nothing.
    pub dpn: Option<u64>,
    pub nr_pages: u64,
}

impl Placed {
    fn end(&self) -> u64 {
        self.lpn.saturating_add(self.nr_pages)
    }

    /// The part from a page on, which must be one of these.
    fn from(&self, lpn: u64) -> Self {
        let skipped = lpn.saturating_sub(self.lpn);
        Self {
            lpn: self.lpn + skipped,
            dpn: self.dpn.map(|dpn| dpn.saturating_add(skipped)),
            nr_pages: self.nr_pages.saturating_sub(skipped),
        }
    }

    fn goes_on_with(&self, next: &Self) -> bool {
        self.end() == next.lpn
            && match self.dpn {
                Some(dpn) => dpn.checked_add(self.nr_pages) == next.dpn,
                None => next.dpn.is_none(),
            }
    }
}

fn parse_line(line: &str) -> Option<Placed> {
    let mut words = line.split(' ');
    let lpn = words.next()?.parse().ok()?;
    let dpn = match words.next()? {
        "-" => None,
        dpn => Some(dpn.parse().ok()?),
    };
    let nr_pages = words.next()?.parse().ok()?;

    (words.next().is_none() && nr_pages != 0).then_some(Placed { lpn, dpn, nr_pages })
}

/// An answer about some pages: runs one behind the other from the first page on, at least one, and
/// where they end. `None`: it is something else.
fn parse(answer: &str, pages: &Range<u64>) -> Option<Vec<Placed>> {
    let (lines, last) = answer.trim_end().rsplit_once('\n')?;
    let next: u64 = last.strip_prefix("next=")?.parse().ok()?;
    let mut at = pages.start;
    let mut found = Vec::new();

    for line in lines.lines() {
        let placed = parse_line(line)?;
        if placed.lpn != at {
            return None;
        }
        at = at.checked_add(placed.nr_pages)?;
        found.push(placed);
    }
    (at == next && at <= pages.end && !found.is_empty()).then_some(found)
}

/// What one target has answered.
#[derive(Debug, Default)]
pub struct Places {
    known: BTreeMap<u64, Placed>,
}

/// Why nobody knows.
#[derive(Debug)]
pub enum Unknown<E> {
    /// The target cannot be asked.
    Asking(E),
    /// It answers something that is not understood.
    Answer(String),
}

/// Called with pages; the target's answer to the message.
pub type Ask<'a, E> = dyn FnMut(&Range<u64>) -> Result<String, E> + 'a;

impl Places {
    fn find(&self, lpn: u64) -> Option<Placed> {
        let (_, placed) = self.known.range(..=lpn).next_back()?;
        (lpn < placed.end()).then(|| placed.from(lpn))
    }

    /// What to ask for when pages from `pages.start` on are not known: no more than there is up to
    /// what is known again, or to the end of the target.
    fn question(&self, pages: &Range<u64>, end: u64) -> Range<u64> {
        let known = self.known.range(pages.start..).next();
        let most = known.map_or(end, |(lpn, _)| end.min(*lpn));
        let wanted = pages.end.max(pages.start.saturating_add(LEAST_PAGES));
        pages.start..wanted.min(most)
    }

    /// Where pages of a target lie that has so many, in as few runs as possible and in their order.
    ///
    /// # Errors
    ///
    /// When the target does not tell.
    pub fn get<E>(
        &mut self,
        pages: Range<u64>,
        nr_pages: u64,
        ask: &mut Ask<E>,
    ) -> Result<Vec<Placed>, Unknown<E>> {
        let mut found: Vec<Placed> = Vec::new();
        let mut at = pages.start;

        while at < pages.end {
            let Some(mut placed) = self.find(at) else {
                self.learn(self.question(&(at..pages.end), nr_pages), ask)?;
                continue;
            };
            placed.nr_pages = placed.nr_pages.min(pages.end - at);
            at = placed.end();
            match found.last_mut() {
                Some(last) if last.goes_on_with(&placed) => last.nr_pages += placed.nr_pages,
                _ => found.push(placed),
            }
        }
        Ok(found)
    }

    fn learn<E>(&mut self, pages: Range<u64>, ask: &mut Ask<E>) -> Result<(), Unknown<E>> {
        let answer = ask(&pages).map_err(Unknown::Asking)?;
        let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        let placed = parse(&answer, &pages).ok_or_else(|| Unknown::Answer(first(&answer)))?;

        self.known
            .extend(placed.into_iter().map(|placed| (placed.lpn, placed)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::{parse, Placed, Places, Unknown};

    fn placed(lpn: u64, dpn: Option<u64>, nr_pages: u64) -> Placed {
        Placed { lpn, dpn, nr_pages }
    }

    /// What a target has said: a file in three pieces of which one has a hole.
    const RECORDED: &str = "4096 20481 6\n4102 - 2\n4104 16640 200\n4304 20487 88\nnext=4392\n";

    #[test]
    fn an_answer_is_read_as_it_was_given() {
        let runs = [
            placed(4096, Some(20481), 6),
            placed(4102, None, 2),
            placed(4104, Some(16640), 200),
            placed(4304, Some(20487), 88),
        ];
        assert_eq!(parse(RECORDED, &(4096..4392)).unwrap(), runs);
        // A full one ends before what was asked for.
        assert_eq!(parse(RECORDED, &(4096..9000)).unwrap(), runs);
    }

    #[test]
    fn other_answers_are_none() {
        for answer in [
            "",
            "next=4096",
            "\nnext=4096\n",
            "4096 1 6",
            "4096 1 6\n",
            "4096 1 6\nnext=",
            "4096 1 6\nnext=4103",
            "4096 1 0\nnext=4096",
            "4096 1\nnext=4102",
            "4096 x 6\nnext=4102",
            "4096 1 6 7\nnext=4102",
            "4097 1 6\nnext=4103",
            "4096 1 6\n4103 9 1\nnext=4104",
            "4096 1 6\n4102 9 18446744073709551615\nnext=4104",
            // More than was asked for
            "4096 1 1000\nnext=5096",
        ] {
            assert_eq!(parse(answer, &(4096..5000)), None, "{answer}");
        }
    }

    /// A target: each page of the first half but some is where it is shown and 1000 behind it. An
    /// answer has so many runs at most.
    fn answer(pages: &Range<u64>, most: usize) -> String {
        let mut lines = String::new();
        let mut at = pages.start;

        for _ in 0..most {
            if at == pages.end {
                break;
            }
            let next = ((at / 10 + 1) * 10).min(pages.end);
            let dpn = match at / 10 % 3 {
                0 => "-".to_owned(),
                1 => (at + 1000).to_string(),
                _ => (at + 9000).to_string(),
            };
            lines += &format!("{at} {dpn} {}\n", next - at);
            at = next;
        }
        lines + &format!("next={at}\n")
    }

    #[test]
    fn a_full_answer_is_asked_to_go_on() {
        let mut places = Places::default();
        let mut asked = Vec::new();
        let found = places
            .get::<()>(25..75, 80, &mut |pages| {
                asked.push(pages.clone());
                Ok(answer(pages, 2))
            })
            .unwrap();
        assert_eq!(asked, [25..80, 40..80, 60..80]);
        assert_eq!(
            found,
            [
                placed(25, Some(9025), 5),
                placed(30, None, 10),
                placed(40, Some(1040), 10),
                placed(50, Some(9050), 10),
                placed(60, None, 10),
                placed(70, Some(1070), 5),
            ]
        );
    }

    #[test]
    fn what_was_answered_is_not_asked_again() {
        let mut places = Places::default();
        let mut asked = Vec::new();
        let mut get = |pages: Range<u64>| {
            let mut ask = |pages: &Range<u64>| {
                asked.push(pages.clone());
                Ok::<_, ()>(answer(pages, 100_000))
            };
            places.get(pages, 30_000, &mut ask).unwrap()
        };
        assert_eq!(get(5000..5001), [placed(5000, Some(14000), 1)]);
        assert_eq!(get(9095..9096), [placed(9095, None, 1)]);
        assert_eq!(get(12..14), [placed(12, Some(1012), 2)]);
        // What lies between is not known yet.
        assert_eq!(get(4105..5005).len(), 91);
        assert_eq!(get(29_999..30_000), [placed(29_999, Some(38_999), 1)]);
        assert_eq!(asked, [5000..9096, 12..4108, 4108..5000, 29_999..30_000]);
    }

    #[test]
    fn runs_that_go_on_are_one() {
        let mut places = Places::default();
        let mut ask = |pages: &Range<u64>| {
            let nr = (pages.end - pages.start).min(3);
            let (at, dpn) = (pages.start, pages.start + 7);
            Ok::<_, ()>(format!("{at} {dpn} {nr}\nnext={}\n", at + nr))
        };
        let found = places.get(0..10, 10, &mut ask).unwrap();
        assert_eq!(found, [placed(0, Some(7), 10)]);
    }

    #[test]
    fn an_answer_that_says_nothing_is_an_end() {
        let mut places = Places::default();
        let unknown = places.get::<()>(0..10, 10, &mut |_| Ok("next=0\n".to_owned()));
        assert!(matches!(unknown, Err(Unknown::Answer(text)) if text == "next=0"));
        let unknown = places.get(0..10, 10, &mut |_| Err("broken"));
        assert!(matches!(unknown, Err(Unknown::Asking("broken"))));
    }
}
