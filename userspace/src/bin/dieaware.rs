// SPDX-License-Identifier: GPL-2.0-only
//! The `dieaware` tool: the table of its verbs, and its exit statuses. Scripts decide by the
//! status, so which error means which is said in one place.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use dieaware::commands::{
    attach, boot, check, create, defrag, defragd, detach, doctor, dump, export, format, frag, grow,
    list, moving, pack, pick, probe, remove, repair, restore, runs, sim, stat, status, top, udev,
    wait, DamageFound, UsageError,
};
use dieaware::progress::{Interrupted, EXIT_INTERRUPTED};

/// Makes, inspects and controls dm-dieaware targets, and simulates virtual SSDs.
#[derive(Parser)]
#[command(version, about, max_term_width = 80)]
#[command(
    after_help = "Exit status: 0 fine, 1 damage found, 2 wrong usage, 3 I/O error, 4 no device (wait), 124 late, 130 Ctrl-C"
)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Attach(attach::AttachArgs),
    #[command(hide = true)]
    Boot(boot::BootArgs),
    Check(check::CheckArgs),
    Completions(CompletionsArgs),
    Create(create::CreateArgs),
    Defrag(defrag::DefragArgs),
    Defragd(defragd::DefragdArgs),
    Detach(detach::DetachArgs),
    Doctor(doctor::DoctorArgs),
    Dump(dump::DumpArgs),
    Export(export::ExportArgs),
    Format(format::FormatArgs),
    Frag(frag::FragArgs),
    Grow(grow::GrowArgs),
    List(list::ListArgs),
    Move(moving::MoveArgs),
    Pack(pack::PackArgs),
    Pick(pick::PickArgs),
    Probe(probe::ProbeArgs),
    Remove(remove::RemoveArgs),
    Repair(repair::RepairArgs),
    Restore(restore::RestoreArgs),
    Runs(runs::RunsArgs),
    Sim(sim::SimArgs),
    Stat(stat::StatArgs),
    Status(status::StatusArgs),
    Top(top::TopArgs),
    #[command(hide = true)]
    Udev(udev::UdevArgs),
    /// Write what a pack has to a device or an image; the same as restore
    #[command(
        after_help = "Example:\n  dieaware pack /dev/nvme0n1 report.gz\n  dieaware unpack report.gz image"
    )]
    Unpack(restore::RestoreArgs),
    Wait(wait::WaitArgs),
}

/// Print what a shell needs to complete commands
#[derive(Args)]
#[command(after_help = "Example:\n  dieaware completions bash > /etc/bash_completion.d/dieaware")]
struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

const EXIT_DAMAGE: u8 = 1;
const EXIT_USAGE: u8 = 2;
const EXIT_IO: u8 = 3;
const EXIT_NO_DEVICE: u8 = 4;
/// As timeout(1) has it.
const EXIT_TIMED_OUT: u8 = 124;

/// What is wrong with the standard output.
#[derive(Debug)]
struct Unprinted(io::Error);

impl fmt::Display for Unprinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "What is printed cannot be written: {}", self.0)
    }
}

impl std::error::Error for Unprinted {}

/// The standard output, whose errors say that they are its.
struct Printed {
    out: io::StdoutLock<'static>,
    /// It does not matter whether anybody reads that.
    is_unread_fine: bool,
}

impl Printed {
    /// What became of it; `unread` if nobody is there any more.
    fn settle<T>(&self, result: io::Result<T>, unread: T) -> io::Result<T> {
        match result {
            Err(err) if self.is_unread_fine && err.kind() == io::ErrorKind::BrokenPipe => {
                Ok(unread)
            }
            Err(err) => Err(io::Error::new(err.kind(), Unprinted(err))),
            done => done,
        }
    }
}

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.out.write(bytes);
        self.settle(result, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.out.flush();
        self.settle(result, ())
    }
}

/// Does the exit status say something that is known when all has been printed? It counts even if
/// whoever reads what is printed has left. Verbs that print for long, or without an end, end then.
fn has_verdict(verb: &Verb) -> bool {
    match verb {
        Verb::Check(_)
        | Verb::Defrag(_)
        | Verb::Export(_)
        | Verb::Move(_)
        | Verb::Pack(_)
        | Verb::Probe(_)
        | Verb::Repair(_)
        | Verb::Stat(_) => true,
        Verb::Defragd(args) => args.has_verdict(),
        Verb::Pick(args) => args.has_verdict(),
        _ => false,
    }
}

fn run(verb: &Verb) -> anyhow::Result<()> {
    let mut out = io::BufWriter::new(Printed {
        out: io::stdout().lock(),
        is_unread_fine: has_verdict(verb),
    });

    match verb {
        Verb::Attach(args) => attach::run(args, &mut out)?,
        Verb::Boot(args) => boot::run(args, &mut out)?,
        Verb::Check(args) => check::run(args, &mut out)?,
        Verb::Completions(args) => {
            // It panics where it cannot write.
            let mut text = Vec::new();
            clap_complete::generate(args.shell, &mut Cli::command(), "dieaware", &mut text);
            out.write_all(&text)?;
        }
        Verb::Create(args) => create::run(args, &mut out)?,
        Verb::Defrag(args) => defrag::run(args, &mut out)?,
        Verb::Defragd(args) => defragd::run(args, &mut out)?,
        Verb::Detach(args) => detach::run(args, &mut out)?,
        Verb::Doctor(args) => doctor::run(args, &mut out)?,
        Verb::Dump(args) => dump::run(args, &mut out)?,
        Verb::Export(args) => export::run(args, &mut out)?,
        Verb::Format(args) => format::run(args, &mut out)?,
        Verb::Frag(args) => frag::run(args, &mut out)?,
        Verb::Grow(args) => grow::run(args, &mut out)?,
        Verb::List(args) => list::run(args, &mut out)?,
        Verb::Move(args) => moving::run(args, &mut out)?,
        Verb::Pack(args) => pack::run(args, &mut out)?,
        Verb::Pick(args) => pick::run(args, &mut out)?,
        Verb::Probe(args) => probe::run(args, &mut out)?,
        Verb::Remove(args) => remove::run(args, &mut out)?,
        Verb::Repair(args) => repair::run(args, &mut out)?,
        Verb::Restore(args) | Verb::Unpack(args) => restore::run(args, &mut out)?,
        Verb::Runs(args) => runs::run(args, &mut out)?,
        Verb::Sim(args) => sim::run(args, &mut out)?,
        Verb::Stat(args) => stat::run(args, &mut out)?,
        Verb::Status(args) => status::run(args, &mut out)?,
        Verb::Top(args) => top::run(args, &mut out)?,
        Verb::Udev(args) => udev::run(args, &mut out)?,
        Verb::Wait(args) => wait::run(args, &mut out)?,
    }
    out.flush()?;
    Ok(())
}

/// Has the system said that?
fn is_from(err: &anyhow::Error, kind: io::ErrorKind) -> bool {
    err.chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == kind)
}

/// Has whoever reads what is printed left? Readers of anything else are missed.
fn is_unread(err: &anyhow::Error) -> bool {
    err.chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>()?.get_ref())
        .filter_map(|cause| cause.downcast_ref::<Unprinted>())
        .any(|cause| cause.0.kind() == io::ErrorKind::BrokenPipe)
}

/// What helps against what the system refuses.
fn advice(err: &anyhow::Error) -> &'static str {
    if is_from(err, io::ErrorKind::PermissionDenied) && !nix::unistd::geteuid().is_root() {
        "; root may do that"
    } else {
        ""
    }
}

fn exit_status(err: &anyhow::Error) -> u8 {
    if err.chain().any(|cause| cause.is::<Interrupted>()) {
        EXIT_INTERRUPTED
    } else if err.is::<UsageError>() {
        EXIT_USAGE
    } else if err.is::<DamageFound>() {
        EXIT_DAMAGE
    } else if err.is::<wait::NoDevice>() {
        EXIT_NO_DEVICE
    } else if err.is::<wait::TimedOut>() {
        EXIT_TIMED_OUT
    } else {
        EXIT_IO
    }
}

fn main() -> ExitCode {
    match run(&Cli::parse().verb) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads our output has seen enough.
        Err(err) if is_unread(&err) => ExitCode::SUCCESS,
        Err(err) => {
            dieaware::complain!("dieaware: {err:#}{}.", advice(&err));
            ExitCode::from(exit_status(&err))
        }
    }
}
