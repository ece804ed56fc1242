// SPDX-License-Identifier: GPL-2.0-only
//! The host: gives a trace's commands to a drive on a virtual clock. No command is given
//! before one that stands in front of it; a drive takes as many at a time as its
//! controller has room for. The same trace gives the same times, always.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::drive::Drive;
use super::trace::{Command, Op};

/// When a command is given.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Pace {
    /// So many at a time; as soon as one completes the next.
    Closed { depth: u64 },
    /// At the time that the trace names, however slow the drive is.
    Open,
    /// Commands that were in flight together, or that have the same time, together; the
    /// next ones when all of them are complete.
    Batches,
}

/// What became of the commands of one kind.
#[derive(Debug, Default)]
pub struct OpResult {
    pub bytes: u64,
    /// When the first was given and the last was complete.
    pub first_ns: u64,
    pub last_ns: u64,
    /// Of each command, from the time at which the host wanted it.
    pub latencies_ns: Vec<u64>,
}

/// What became of a trace.
#[derive(Debug, Default)]
pub struct Outcome {
    pub ops: BTreeMap<Op, OpResult>,
    /// From the first command, or the last mark, to the last completion.
    pub elapsed_ns: u64,
}

/// The host's state.
struct Host {
    pace: Pace,
    limit: usize,
    now_ns: u64,
    /// Completion times of the commands in flight.
    in_flight: BinaryHeap<Reverse<u64>>,
    last_done_ns: u64,
    mark_ns: u64,
    /// The trace's time that is 0 here.
    epoch_ns: Option<u64>,
    batch: Option<u64>,
}

/// Give all commands, in their order, to a drive. `each` is told of every command when it
/// was given and how long it took.
///
/// # Panics
///
/// When a command is not within the drive's capacity.
pub fn replay(
    drive: &mut Drive,
    commands: &[Command],
    pace: Pace,
    mut each: impl FnMut(&Command, u64, u64),
) -> Outcome {
    let each = |_: &Drive, _, command: &Command, given_ns, took_ns| {
        each(command, given_ns, took_ns);
    };
    replay_listening(drive, commands, pace, |_| false, each)
}

/// The same with a drive that notes what it decides about some of the commands, which are told
/// by their numbers. `each` gets the drive and the number besides.
///
/// # Panics
///
/// When a command is not within the drive's capacity.
pub fn replay_listening(
    drive: &mut Drive,
    commands: &[Command],
    pace: Pace,
    listens: impl Fn(usize) -> bool,
    mut each: impl FnMut(&Drive, usize, &Command, u64, u64),
) -> Outcome {
    let mut outcome = Outcome::default();
    let mut host = Host::new(drive, pace);

    for (number, command) in commands.iter().enumerate() {
        match command.op {
            Op::Idle => {
                host.drain();
                let from_ns = host.now_ns;
                host.now_ns = from_ns.saturating_add(command.length);
                drive.idle(from_ns, host.now_ns);
                continue;
            }
            Op::Mark => {
                outcome = Outcome::default();
                host.mark_ns = host.now_ns;
                continue;
            }
            _ => {}
        }
        let idle_from_ns = host.now_ns.max(host.last_done_ns);
        let wanted_ns = host.wanted(command);
        host.wait_for_room();
        drive.idle(idle_from_ns, host.now_ns);
        let given_ns = host.now_ns;
        let is_heard = listens(number);
        if is_heard {
            drive.listen(true);
        }
        let done_ns = drive.run(command, given_ns);
        host.in_flight.push(Reverse(done_ns));
        host.last_done_ns = host.last_done_ns.max(done_ns);
        let result = outcome.ops.entry(command.op).or_default();
        if result.latencies_ns.is_empty() {
            result.first_ns = given_ns;
        }
        result.bytes += command.length;
        result.last_ns = result.last_ns.max(done_ns);
        result.latencies_ns.push(done_ns - wanted_ns);
        each(drive, number, command, given_ns, done_ns - wanted_ns);
        if is_heard {
            drive.listen(false);
        }
    }
    outcome.elapsed_ns = host.last_done_ns.saturating_sub(host.mark_ns);
    outcome
}

impl Host {
    fn new(drive: &Drive, pace: Pace) -> Self {
        let room = drive.queue_limit().max(1);
        let limit = match pace {
            Pace::Closed { depth } => depth.clamp(1, room),
            Pace::Open | Pace::Batches => room,
        };
        Self {
            pace,
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            now_ns: 0,
            in_flight: BinaryHeap::new(),
            last_done_ns: 0,
            mark_ns: 0,
            epoch_ns: None,
            batch: None,
        }
    }

    /// Go to the time at which the host wants a command. Returns that time.
    fn wanted(&mut self, command: &Command) -> u64 {
        let time_ns = command.time_ns.unwrap_or(0);

        match self.pace {
            Pace::Closed { .. } => {
                self.wait_for_room();
                self.now_ns
            }
            Pace::Open => {
                let epoch_ns = *self.epoch_ns.get_or_insert(time_ns);
                let wanted_ns = time_ns.saturating_sub(epoch_ns);
                self.now_ns = self.now_ns.max(wanted_ns);
                // An idle time in the trace may have put it off.
                if self.in_flight.is_empty() {
                    self.now_ns
                } else {
                    wanted_ns
                }
            }
            Pace::Batches => {
                let batch = command.batch.unwrap_or(time_ns);
                if self.batch != Some(batch) {
                    self.drain();
                    self.batch = Some(batch);
                }
                self.now_ns
            }
        }
    }

    /// The clock goes on to the first completion if the controller is full.
    fn wait_for_room(&mut self) {
        while self.in_flight.len() >= self.limit {
            if let Some(Reverse(done_ns)) = self.in_flight.pop() {
                self.now_ns = self.now_ns.max(done_ns);
            }
        }
    }

    /// The clock goes on until nothing is in flight.
    fn drain(&mut self) {
        self.in_flight.clear();
        self.now_ns = self.now_ns.max(self.last_done_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::{replay, Outcome, Pace};
    use crate::sim::drive::{Config, Drive};
    use crate::sim::trace::{Command, Op};

    fn drive(settings: &[(&str, &str)]) -> Drive {
        let mut config = Config::from_profile("fast24").unwrap();
        config.set("capacity_mib", "1024").unwrap();
        for (key, value) in settings {
            config.set(key, value).unwrap();
        }
        config.build().unwrap()
    }

    /// One page reads of an empty drive: command and link only, 3000 + 1280 ns.
    fn reads(times_ns: &[u64]) -> Vec<Command> {
        times_ns
            .iter()
            .map(|time_ns| Command {
                time_ns: Some(*time_ns),
                length: 4096,
                ..Command::default()
            })
            .collect()
    }

    fn run(settings: &[(&str, &str)], commands: &[Command], pace: Pace) -> (Outcome, Vec<u64>) {
        let mut given = Vec::new();
        let outcome = replay(&mut drive(settings), commands, pace, |_, given_ns, _| {
            given.push(given_ns);
        });
        (outcome, given)
    }

    const READ_NS: u64 = 4280;

    #[test]
    fn a_closed_loop_keeps_its_depth() {
        let commands = reads(&[0, 0, 0, 0]);
        let (outcome, given) = run(&[], &commands, Pace::Closed { depth: 1 });
        assert_eq!(given, [0, READ_NS, 2 * READ_NS, 3 * READ_NS]);
        assert_eq!(outcome.elapsed_ns, 4 * READ_NS);
        assert_eq!(outcome.ops[&Op::Read].latencies_ns, [READ_NS; 4]);
        let (_, given) = run(&[], &commands, Pace::Closed { depth: 3 });
        assert_eq!(given, [0, 0, 0, READ_NS]);
        let two_slots = [("queues", "1"), ("queue_depth", "2")];
        let (_, given) = run(&two_slots, &commands, Pace::Closed { depth: 3 });
        assert_eq!(given[..3], [0, 0, READ_NS]);
    }

    #[test]
    fn an_open_loop_keeps_the_times_of_the_trace() {
        let commands = reads(&[1_000_000, 1_000_100, 2_000_000]);
        let (outcome, given) = run(&[], &commands, Pace::Open);
        assert_eq!(given, [0, 100, 1_000_000]);
        assert_eq!(outcome.elapsed_ns, 1_000_000 + READ_NS);
        // One slot: the second one waits for it, and its latency says so.
        let one_slot = [("queues", "1"), ("queue_depth", "1")];
        let (outcome, given) = run(&one_slot, &commands, Pace::Open);
        assert_eq!(given, [0, READ_NS, 1_000_000]);
        assert_eq!(
            outcome.ops[&Op::Read].latencies_ns,
            [READ_NS, 2 * READ_NS - 100, READ_NS]
        );
    }

    #[test]
    fn a_batch_begins_when_the_one_before_is_complete() {
        let mut commands = reads(&[5, 5, 9, 9]);
        commands[0].length = 1 << 20;
        let (outcome, given) = run(&[], &commands, Pace::Batches);
        let long_ns = outcome.ops[&Op::Read].latencies_ns[0];
        assert!(long_ns > outcome.ops[&Op::Read].latencies_ns[1]);
        assert_eq!(given, [0, 0, long_ns, long_ns]);
        // What was in flight together counts more than times.
        for (command, batch) in commands.iter_mut().zip([1, 1, 1, 2]) {
            command.batch = Some(batch);
        }
        let (_, given) = run(&[], &commands, Pace::Batches);
        assert_eq!(given[..3], [0, 0, 0]);
        assert!(given[3] >= long_ns);
    }

    #[test]
    fn idle_time_lets_everything_complete_first() {
        let idle = Command {
            op: Op::Idle,
            length: 1000,
            ..Command::default()
        };
        let read = Command {
            length: 4096,
            ..Command::default()
        };
        let (outcome, given) = run(&[], &[read, idle, read], Pace::Closed { depth: 8 });
        assert_eq!(given, [0, READ_NS + 1000]);
        assert_eq!(outcome.ops.len(), 1);
    }

    #[test]
    fn a_mark_forgets_what_was_measured() {
        let mark = Command {
            op: Op::Mark,
            ..Command::default()
        };
        let read = reads(&[0])[0];
        let commands = [read, read, mark, read];
        let (outcome, given) = run(&[], &commands, Pace::Closed { depth: 1 });
        assert_eq!(given.len(), 3);
        assert_eq!(outcome.ops[&Op::Read].latencies_ns, [READ_NS]);
        assert_eq!(outcome.ops[&Op::Read].first_ns, 2 * READ_NS);
        let (outcome, _) = run(&[], &[read, mark], Pace::Open);
        assert!(outcome.ops.is_empty());
    }

    #[test]
    fn a_limited_controller_limits_small_commands() {
        let commands = reads(&[0; 1000]);
        let sata = [
            ("cmd_gap_ns", "10000"),
            ("queues", "1"),
            ("queue_depth", "32"),
        ];
        let (outcome, _) = run(&sata, &commands, Pace::Closed { depth: 64 });
        assert_eq!(outcome.elapsed_ns, 999 * 10000 + READ_NS);
    }
}
