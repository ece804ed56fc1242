// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware sim`: a trace on a virtual SSD, without a kernel and without waiting.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

use super::common::{is_same, print_json, print_object, DamageFound, UsageError, Written};
use crate::sim::drive::{profiles, Config, Drive, Precondition, StateError};
use crate::sim::explain::{Explanation, Lines};
use crate::sim::replay::{replay_listening, Pace};
use crate::sim::report::Report;
use crate::sim::trace::{Format, ReadError, Trace};

/// Replay a trace on a virtual SSD and show how fast it is and why
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware sim --profile sata --queue-depth 32 blkparse.txt")]
pub struct SimArgs {
    /// The trace: fio's I/O log, blkparse's output, the kernel's trace of nvmev_cmd,
    /// or the project's own text; - is the standard input
    #[arg(value_name = "TRACE", required_unless_present_any = ["profiles", "save", "check"])]
    trace: Option<PathBuf>,
    /// The drive
    #[arg(long, value_name = "NAME", default_value = "fast24")]
    profile: String,
    /// Change a parameter of the drive (may be repeated)
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Begin with a used drive: this share of it is filled, and then overwritten at random
    #[arg(long, value_name = "PERCENT", conflicts_with = "profiles")]
    fill: Option<u64>,
    /// How often what is filled is overwritten: 2x, 1.5x
    #[arg(long, value_name = "TIMES", requires = "fill", value_parser = parse_times, default_value = "2x")]
    random: u64,
    /// Which pages are overwritten: the same number gives the same state
    #[arg(long, value_name = "NUMBER", requires = "fill", default_value_t = 0)]
    seed: u64,
    /// Begin with a drive that nvmev-ssd or --save has written to this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fill", "profiles"])]
    load: Option<PathBuf>,
    /// Write the drive to this new file in the end; without a trace, as it begins
    #[arg(long, value_name = "FILE", conflicts_with = "profiles")]
    save: Option<PathBuf>,
    /// Commands in flight: the next one is given when one completes
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    queue_depth: u64,
    /// Give each command at the time that the trace names
    #[arg(long, conflicts_with_all = ["queue_depth", "batches"])]
    open: bool,
    /// Give commands together that were in flight together (nvmev) or have the same
    /// time, and the next ones when all are complete
    #[arg(long, conflicts_with = "queue_depth")]
    batches: bool,
    /// The trace's format, which is otherwise found out by its first line
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write each command with its time and latency to a file, as a text trace
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Say where the pages of the commands on these lines of the trace went, and by which rule: 7,
    /// 7-12, or all
    #[arg(long, value_name = "LINES", conflicts_with = "profiles")]
    explain: Option<Lines>,
    /// Examine the drive's state at the end; without a trace, as it begins; exit status 1 if it is
    /// inconsistent
    #[arg(long)]
    check: bool,
    /// List the profiles instead
    #[arg(long)]
    profiles: bool,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct ProfileReport {
    profile: &'static str,
    description: &'static str,
    parameters: Config,
}

/// # Errors
///
/// When the trace or the drive is impossible, or a file cannot be read or written.
pub fn run(args: &SimArgs, out: &mut impl Write) -> Result<()> {
    if args.profiles {
        return list_profiles(args, out);
    }
    let path = args.trace.as_deref().unwrap_or(Path::new("-"));
    let mut drive = make_drive(args)?;
    let trace = match args.trace {
        Some(_) => read_trace(path, args.format)?,
        None => Trace::default(),
    };
    let pace = pace(args, path, &trace)?;

    check_ranges(path, &trace, &drive)?;
    if let Some(lines) = args.explain.filter(|lines| !lines.are_in(&trace)) {
        return Err(UsageError(format!(
            "{}: there is no command on {lines}",
            path.display()
        ))
        .into());
    }
    let create = |log: &PathBuf| Log::create(log, path);
    let mut log = args.log.as_ref().map(create).transpose()?;
    let mut log_error = Ok(());
    let mut explanations = Vec::new();
    let outcome = replay_listening(
        &mut drive,
        &trace.commands,
        pace,
        |number| is_explained(args, &trace, number),
        |drive, number, command, given_ns, took_ns| {
            if is_explained(args, &trace, number) {
                explanations.push(Explanation::of(drive, trace.line_of(number), command));
            }
            if let (Some(log), Ok(())) = (&mut log, &log_error) {
                let mut command = *command;
                command.time_ns = Some(given_ns);
                log_error = writeln!(log.file, "{command} # latency_ns={took_ns}");
            }
        },
    );
    if let Some(mut log) = log {
        log_error
            .and_then(|()| log.file.flush())
            .with_context(|| format!("{} cannot be written", log.path))?;
    }
    let mut text = Vec::new();
    let report = Report::new(&drive, &outcome, pace, trace.left_out);
    if args.json {
        let explained = args.explain.map(|_| explanations.as_slice());
        print_object(&mut text, &WithExplanations { report, explained })?;
    } else {
        for explanation in &explanations {
            writeln!(text, "{explanation}")?;
        }
        text.extend(report.text().bytes());
    }
    // It may still program what waits for its time, which is none of the trace's.
    if let Some(path) = &args.save {
        save(&mut drive, path)?;
    }
    out.write_all(&text)?;
    if args.check {
        drive
            .check()
            .map_err(|rule| DamageFound(format!("The drive's state is inconsistent: {rule}")))?;
    }
    Ok(())
}

/// A report, and what was explained if that was asked for.
#[derive(Serialize)]
struct WithExplanations<'a> {
    #[serde(flatten)]
    report: Report<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explained: Option<&'a [Explanation]>,
}

fn is_explained(args: &SimArgs, trace: &Trace, number: usize) -> bool {
    let line = trace.line_of(number);

    args.explain.is_some_and(|lines| lines.contain(line))
}

fn usage(err: impl std::fmt::Display) -> UsageError {
    UsageError(err.to_string())
}

fn make_drive(args: &SimArgs) -> Result<Drive> {
    let mut config = Config::from_profile(&args.profile).map_err(usage)?;

    for setting in &args.set {
        let (key, value) = setting
            .split_once('=')
            .ok_or_else(|| UsageError(format!("\"{setting}\" is not of the form KEY=VALUE")))?;
        config.set(key, value).map_err(usage)?;
    }
    if args.load.is_some() || args.save.is_some() {
        config.keep();
    }
    let mut drive = config.build().map_err(usage)?;

    if let Some(path) = &args.load {
        return load(drive, path);
    }
    if let Some(fill_percent) = args.fill {
        let state = Precondition {
            fill_percent,
            random_percent: args.random,
            seed: args.seed,
        };
        drive.precondition(state).map_err(usage)?;
    }
    Ok(drive)
}

fn about_state(path: &Path, err: StateError) -> anyhow::Error {
    match err {
        StateError::Refused(reason) => {
            let reason = reason.trim_end_matches('.');
            UsageError(format!("{}: {reason}", path.display())).into()
        }
        StateError::Io(err) => anyhow::Error::new(err).context(path.display().to_string()),
    }
}

fn load(drive: Drive, path: &Path) -> Result<Drive> {
    let file = File::open(path).with_context(|| format!("{} cannot be opened", path.display()))?;
    drive.load(&file).map_err(|err| about_state(path, err))
}

/// What is not whole does not stay, and what was there is not written over.
fn save(drive: &mut Drive, path: &Path) -> Result<()> {
    let file =
        File::create_new(path).with_context(|| format!("{} cannot be created", path.display()))?;

    drive.save(&file).map_err(|err| {
        let _ = fs::remove_file(path);
        about_state(path, err)
    })
}

/// "1.5x" in percent.
fn parse_times(text: &str) -> Result<u64, String> {
    let parse = || {
        let (whole, part) = match text.strip_suffix('x')?.split_once('.') {
            Some((whole, part)) => (whole, part),
            None => (text.strip_suffix('x')?, "0"),
        };
        let is_number = |digits: &str, most| {
            (1..=most).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        if !is_number(whole, 4) || !is_number(part, 2) {
            return None;
        }
        let percent: u64 = format!("{part:0<2}").parse().ok()?;
        Some(whole.parse::<u64>().ok()? * 100 + percent)
    };
    parse().ok_or_else(|| "write 2x for twice, or 1.5x".to_owned())
}

fn read_trace(path: &Path, format: Option<Format>) -> Result<Trace> {
    let name = path.display().to_string();
    let trace = if path == Path::new("-") {
        Trace::read("standard input", io::stdin().lock(), format)
    } else {
        let file = File::open(path).with_context(|| format!("{name} cannot be opened"))?;
        Trace::read(&name, BufReader::new(file), format)
    };
    match trace {
        Ok(trace) => Ok(trace),
        Err(ReadError::Line(err)) => Err(usage(err).into()),
        Err(err) => Err(err.into()),
    }
}

fn pace(args: &SimArgs, path: &Path, trace: &Trace) -> Result<Pace, UsageError> {
    if !args.open && !args.batches {
        return Ok(Pace::Closed {
            depth: args.queue_depth,
        });
    }
    if !trace.has_times() {
        return Err(UsageError(format!(
            "{}: not every command has a time, so it can only be replayed in a closed loop",
            path.display()
        )));
    }
    Ok(if args.open { Pace::Open } else { Pace::Batches })
}

fn check_ranges(path: &Path, trace: &Trace, drive: &Drive) -> Result<(), UsageError> {
    for (command, line) in trace.commands.iter().zip(&trace.lines) {
        if !drive.covers(command) {
            return Err(UsageError(format!(
                "{}:{line}: the drive ends at {} bytes: enlarge it with --set capacity_mib=",
                path.display(),
                drive.capacity_bytes()
            )));
        }
    }
    Ok(())
}

/// Where every command is written down.
struct Log {
    path: String,
    file: BufWriter<File>,
}

impl Log {
    fn create(path: &Path, trace: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let source = if trace == Path::new("-") {
            Path::new("/dev/stdin")
        } else {
            trace
        };
        if is_same(path, source) {
            return Err(usage(format!(
                "{name} is the trace itself: the log goes to another file"
            ))
            .into());
        }
        Written::Trace.require_place(path)?;
        let file = File::create(path).with_context(|| format!("{name} cannot be written"))?;
        let mut file = BufWriter::new(file);

        writeln!(file, "# dieaware trace 1")
            .with_context(|| format!("{name} cannot be written"))?;
        Ok(Self { path: name, file })
    }
}

fn list_profiles(args: &SimArgs, out: &mut impl Write) -> Result<()> {
    let mut list = Vec::new();

    for profile in profiles() {
        list.push(ProfileReport {
            profile: profile.name,
            description: profile.description,
            parameters: Config::from_profile(profile.name)?,
        });
    }
    if args.json {
        print_json(out, &list)?;
        return Ok(());
    }
    for profile in &list {
        writeln!(out, "{:<8}  {}", profile.profile, profile.description)?;
    }
    Ok(())
}
