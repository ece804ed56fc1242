// SPDX-License-Identifier: GPL-2.0-only
//! Every format, and what no format may do: panic, or forget to name the line.

use super::{seconds, Command, Format, Hint, Op, ReadError, Trace};

fn read(text: &str) -> Result<Trace, ReadError> {
    Trace::read("trace", text.as_bytes(), None)
}

fn commands(text: &str) -> Vec<Command> {
    read(text).unwrap().commands
}

/// Line and reason of the complaint.
fn complaint(text: &str) -> (usize, String) {
    match read(text) {
        Err(ReadError::Line(err)) => {
            assert_eq!(err.file, "trace");
            (err.line, err.reason)
        }
        other => panic!("no complaint: {other:?}"),
    }
}

fn command(time_ns: Option<u64>, op: Op, offset: u64, length: u64) -> Command {
    Command {
        time_ns,
        op,
        offset,
        length,
        ..Command::default()
    }
}

#[test]
fn times_are_as_large_as_a_drive_can_count() {
    let most = 1u64 << 62;
    for line in [format!("{most} read 0 512"), format!("- idle {most}")] {
        commands(&format!("# dieaware trace 1\n{line}\n"));
    }
    let too_large = "the time is beyond 2^62 nanoseconds".to_owned();
    for (lines, line) in [
        (format!("{} read 0 512", most + 1), 2),
        (format!("- idle {}", u64::MAX), 2),
        (format!("- idle {most}\n- flush\n- idle 1"), 4),
        (format!("- idle {0}\n- idle {0}", u64::MAX / 2 + 1), 2),
    ] {
        let text = format!("# dieaware trace 1\n{lines}\n");
        assert_eq!(complaint(&text), (line, too_large.clone()), "{lines}");
    }
}

const TEXT: &str = "# dieaware trace 1\n\
     # time op offset length\n\
     \n\
     0 write 0 32768\n\
     - write 32768 32768 append=32767 fua  # the next piece\n\
     20 write 0 4096 overwrite\n\
     30 read 0 65536\n\
     30 trim 65536 4096\n\
     40 flush\n\
     - idle 1000000\n\
     - mark\n\
     50 write 4096 4096 nodata\n";

#[test]
fn text_traces_are_read() {
    let commands = commands(TEXT);
    let mut append = command(None, Op::Write, 32768, 32768);
    append.hint = Hint::Append(32767);
    append.fua = true;
    let mut overwrite = command(Some(20), Op::Write, 0, 4096);
    overwrite.hint = Hint::Overwrite;
    let mut zeroes = command(Some(50), Op::Write, 4096, 4096);
    zeroes.no_data = true;
    assert_eq!(
        commands,
        [
            command(Some(0), Op::Write, 0, 32768),
            append,
            overwrite,
            command(Some(30), Op::Read, 0, 65536),
            command(Some(30), Op::Trim, 65536, 4096),
            command(Some(40), Op::Flush, 0, 0),
            command(None, Op::Idle, 0, 1_000_000),
            command(None, Op::Mark, 0, 0),
            zeroes,
        ]
    );
    assert_eq!(read(TEXT).unwrap().lines, [4, 5, 6, 7, 8, 9, 10, 11, 12]);
    assert!(!read(TEXT).unwrap().has_times());
}

#[test]
fn bad_lines_of_a_text_trace_are_named() {
    for (line, word) in [
        ("x read 0 4096", "\"x\""),
        ("0", "missing"),
        ("0 sing 0 4096", "\"sing\""),
        ("0 read", "offset"),
        ("0 read 0", "length"),
        ("0 read -4096 4096", "\"-4096\""),
        ("0 read 0 0", "no bytes"),
        ("0 read 0 100", "512"),
        ("0 read 1 512", "512"),
        ("0 read 18446744073709551104 1024", "beyond"),
        ("0 read 0 4096 overwrite", "overwrite"),
        ("0 write 0 4096 append", "append="),
        ("0 write 0 4096 append=x", "\"x\""),
        ("0 write 0 4096 append=0 overwrite", "overwrite"),
        ("0 flush fua", "fua"),
        ("0 idle", "duration"),
        ("0 mark 5", "\"5\""),
        ("0 trim 0 4096 4096", "4096"),
    ] {
        let (nr, reason) = complaint(&format!("# dieaware trace 1\n\n{line}\n"));
        assert_eq!(nr, 3, "{line}");
        assert!(reason.contains(word), "{line}: {reason}");
    }
    assert_eq!(complaint("hello\n").0, 1);
}

#[test]
fn fio_logs_of_version_2_are_read() {
    let text = "fio version 2 iolog\n\
        /dev/nvme0n1 add\n\
        /dev/nvme0n1 open\n\
        /dev/nvme0n1 write 4096 8192\n\
        /dev/nvme0n1 wait 150 0\n\
        /dev/nvme0n1 read 0 4096\n\
        /dev/nvme0n1 wait 50\n\
        /dev/nvme0n1 datasync 0 0\n\
        /dev/nvme0n1 trim 0 4096\n\
        /dev/nvme0n1 close\n";
    assert_eq!(
        commands(text),
        [
            command(None, Op::Write, 4096, 8192),
            command(Some(150_000), Op::Read, 0, 4096),
            command(Some(200_000), Op::Flush, 0, 0),
            command(Some(200_000), Op::Trim, 0, 4096),
        ]
    );
}

#[test]
fn fio_logs_of_version_3_are_read() {
    let text = "fio version 3 iolog\n\
        0 data add\n\
        3 data open\n\
        17 data write 0 4096\n\
        18 data sync_file_range 0 4096\n\
        20 data sync 0 0\n";
    let trace = read(text).unwrap();
    assert_eq!(
        trace.commands,
        [
            command(Some(17_000), Op::Write, 0, 4096),
            command(Some(20_000), Op::Flush, 0, 0),
        ]
    );
    assert_eq!(trace.left_out, 1);
    assert!(trace.has_times());
}

#[test]
fn bad_lines_of_a_fio_log_are_named() {
    for (text, line, word) in [
        ("fio version 1 iolog\n", 1, "versions 2 and 3"),
        ("fio version 2 iolog\na\n", 2, "action"),
        ("fio version 2 iolog\na read 0\n", 2, "length"),
        ("fio version 2 iolog\na dance 0 1\n", 2, "dance"),
        (
            "fio version 2 iolog\na read 0 512\nb read 0 512\n",
            3,
            "more than one file",
        ),
        ("fio version 2 iolog\na read 0 512 7\n", 2, "behind"),
        ("fio version 3 iolog\na read 0 512\n", 2, "\"a\""),
        ("fio version 3 iolog\n1 a wait 10\n", 2, "wait"),
        (
            "fio version 3 iolog\n18446744073709551615 a sync\n",
            2,
            "too large",
        ),
    ] {
        let (nr, reason) = complaint(text);
        assert_eq!(nr, line, "{text}");
        assert!(reason.contains(word), "{text}: {reason}");
    }
}

const BLKPARSE: &str = "\
  259,0    1        1     0.000000000   697  Q   W 2048 + 8 [fio]
  259,0    1        2     0.000001234   697  D   W 2048 + 8 [fio]
  259,0    1        3     0.000020000     0  C   W 2048 + 8 [0]
  259,0    1        4     1.500000000   697  D FWFS 4096 + 16 [jbd2]
  259,0    1        5     1.600000000   697  D  RA 0 + 256 [fio]
  259,0    1        6     1.700000000   697  D  DS 8192 + 64 [fstrim]
  259,0    1        7     1.800000000   697  D  FN [kworker/0:1H]
  259,0    1        8     1.900000000   697  D   N 0 [nvme]
CPU1 (259,0):
 Reads Queued:           1,      128KiB
";

#[test]
fn output_of_blkparse_is_read() {
    let trace = read(BLKPARSE).unwrap();
    let mut fua = command(Some(1_500_000_000), Op::Write, 4096 * 512, 8192);
    fua.fua = true;
    assert_eq!(
        trace.commands,
        [
            command(Some(1234), Op::Write, 2048 * 512, 4096),
            fua,
            command(Some(1_600_000_000), Op::Read, 0, 131_072),
            command(Some(1_700_000_000), Op::Trim, 8192 * 512, 32768),
            command(Some(1_800_000_000), Op::Flush, 0, 0),
        ]
    );
    assert_eq!(trace.left_out, 1);
}

#[test]
fn bad_lines_of_blkparse_are_named() {
    for (line, word) in [
        ("garbage", "MAJOR,MINOR"),
        ("259,0 x 3 0.1 1 D W 0 + 8", "CPU"),
        ("259,0 1 3 soon 1 D W 0 + 8", "\"soon\""),
        ("259,0 1 3 0.1 1 D X 0 + 8", "\"X\""),
        ("259,0 1 3 0.1 1 D W 0 8", "\"+\""),
        ("259,0 1 3 0.1 1 D W 0 +", "sectors"),
        ("259,0 1 3 0.1 1 D W 0 + 0", "no bytes"),
        ("259,0 1 3 0.1 1 D W 36028797018963968 + 8", "beyond"),
    ] {
        let (nr, reason) = complaint(&format!("8,0 0 1 0.0 1 Q R 0 + 8 [a]\n{line}\n"));
        assert_eq!(nr, 2, "{line}");
        assert!(reason.contains(word), "{line}: {reason}");
    }
}

const NVMEV: &str = "\
# tracer: nop
#
# entries-in-buffer/entries-written: 6/6   #P:1
 nvmev-ssd0-99 [000] .....    12.345678: nvmev_cmd: name=ssd0 qid=1 cid=3 opcode=0x01 nsid=1 slba=64 nlb=64 cdw2=63 cdw3=0 cdw12=0x0100003f
 nvmev-ssd0-99 [000] d....    12.345679: nvmev_done: name=ssd0 qid=1 cid=3 status=0x000 latency_ns=7000 late_ns=0
 nvmev-ssd0-99 [000] .....    12.5: nvmev_cmd: name=ssd0 qid=1 cid=4 opcode=0x02 nsid=1 slba=0 nlb=128 cdw2=0 cdw3=0 cdw12=0x0000007f fetched_ns=777
 nvmev-ssd0-99 [000] .....    12.6: nvmev_cmd: name=ssd0 qid=1 cid=5 opcode=0x09 nsid=1 slba=0 nlb=1 cdw2=0 cdw3=0 cdw12=0x00000000
 nvmev-ssd0-99 [000] .....    12.7: nvmev_cmd: name=ssd0 qid=1 cid=5 opcode=0x01 nsid=1 slba=8 nlb=8 cdw2=0 cdw3=0 cdw12=0x42000007
 nvmev-ssd0-99 [000] .....    12.8: nvmev_cmd: name=ssd0 qid=1 cid=5 opcode=0x08 nsid=1 slba=8 nlb=8 cdw2=0 cdw3=0 cdw12=0x02000007
 nvmev-ssd0-99 [000] .....    12.9: nvmev_cmd: name=ssd0 qid=1 cid=5 opcode=0x00 nsid=1 slba=0 nlb=1 cdw2=0 cdw3=0 cdw12=0x00000000
 bash-12 [000] .....    13.0: tracing_mark_write: dieaware: idle 5000
 bash-12 [000] .....    13.1: tracing_mark_write: dieaware: mark
 bash-12 [000] .....    13.2: tracing_mark_write: somebody else
";

#[test]
fn the_kernels_trace_is_read_with_its_hints() {
    let trace = read(NVMEV).unwrap();
    let in_batch = |time_ns, op, offset, length| Command {
        batch: Some(2),
        ..command(Some(time_ns), op, offset, length)
    };
    let mut append = command(Some(12_345_678_000), Op::Write, 32768, 32768);
    append.hint = Hint::Append(63 * 512);
    let mut overwrite = in_batch(12_700_000_000, Op::Write, 4096, 4096);
    overwrite.hint = Hint::Overwrite;
    overwrite.fua = true;
    assert_eq!(
        trace.commands,
        [
            append,
            in_batch(777, Op::Read, 0, 65536),
            overwrite,
            in_batch(12_800_000_000, Op::Trim, 4096, 4096),
            in_batch(12_900_000_000, Op::Flush, 0, 0),
            command(None, Op::Idle, 0, 5000),
            command(None, Op::Mark, 0, 0),
        ]
    );
    assert_eq!(trace.left_out, 1);
}

#[test]
fn a_hint_is_one_bit_of_three() {
    let hint = |cdw12: u32| {
        let line = format!(
            " a-1 [0] 1.0: nvmev_cmd: name=a qid=1 cid=1 opcode=0x01 nsid=1 slba=8 nlb=8 cdw2=7 cdw3=0 \
             cdw12={cdw12:#x}"
        );
        commands(&line)[0].hint
    };
    assert_eq!(hint(0x0100_0007), Hint::Append(7 * 512));
    assert_eq!(hint(0x0200_0007), Hint::Overwrite);
    assert_eq!(hint(0x0001_0007), Hint::Append(u64::MAX));
    for several in [0x0300_0007, 0x0101_0007, 0x0201_0007, 0x0301_0007] {
        assert_eq!(hint(several), Hint::None);
    }
}

#[test]
fn what_was_in_flight_together_is_a_batch() {
    let read = |cid| {
        format!(
            " a-1 [0] 1.0: nvmev_cmd: name=a qid=1 cid={cid} opcode=0x02 nsid=1 slba=0 nlb=8 cdw12=0x0"
        )
    };
    let done = |cid| format!(" a-1 [0] 1.0: nvmev_done: name=a qid=1 cid={cid} status=0x000");
    let lines = [
        read(1),
        done(1),
        read(1),
        read(2),
        done(1),
        read(3),
        done(2),
        done(3),
        read(1),
    ];
    let batches: Vec<_> = commands(&lines.join("\n"))
        .iter()
        .map(|command| command.batch)
        .collect();
    assert_eq!(batches, [None, Some(2), Some(2), Some(2), Some(3)]);
}

#[test]
fn bad_lines_of_the_kernels_trace_are_named() {
    let good =
        " a-1 [000] ..... 12.5: nvmev_cmd: name=a qid=1 cid=1 opcode=0x02 nsid=1 slba=0 nlb=8 cdw12=0x0";
    assert_eq!(commands(good).len(), 1);
    for (line, word) in [
        ("CPU:0 [LOST 5 EVENTS]".to_owned(), "lost events"),
        (
            "# entries-in-buffer/entries-written: 7/9   #P:1".to_owned(),
            "too small",
        ),
        (good.replace("slba=0", "slba=x"), "slba=x"),
        (good.replace("nlb=8", ""), "nlb= is missing"),
        (good.replace("opcode=0x02", ""), "opcode="),
        (good.replace("name=a", "name=b"), "more than one SSD"),
        (
            good.replace("nsid=1", "nsid=2"),
            "more than one namespace, 1 and 2",
        ),
        (good.replace("nsid=1", ""), "nsid= is missing"),
        (good.replace("12.5:", "12.5"), "time"),
        (good.replace("cid=1", ""), "cid="),
        (" a-1 [0] 1.0: nvmev_done: name=a qid=1".to_owned(), "cid="),
        (
            " a-1 [0] 1.0: tracing_mark_write: dieaware: sing".to_owned(),
            "\"sing\"",
        ),
        (
            " a-1 [0] 1.0: tracing_mark_write: dieaware: idle x".to_owned(),
            "\"x\"",
        ),
        (good.replace("slba=0", "slba=36028797018963968"), "beyond"),
    ] {
        let (nr, reason) = complaint(&format!("{good}\n{line}\n"));
        assert_eq!(nr, 2, "{line}");
        assert!(reason.contains(word), "{line}: {reason}");
    }
}

#[test]
fn a_named_format_is_not_guessed() {
    let trace = Trace::read("trace", "0 read 0 512\n".as_bytes(), Some(Format::Text));
    assert_eq!(trace.unwrap().commands.len(), 1);
}

#[test]
fn seconds_are_exact() {
    assert_eq!(seconds("0.000000001"), Some(1));
    assert_eq!(seconds("12.5"), Some(12_500_000_000));
    assert_eq!(seconds("3"), Some(3_000_000_000));
    for word in [
        "",
        ".",
        "a",
        "1.0000000000",
        "-1.0",
        "1.-5",
        "99999999999999.0",
    ] {
        assert_eq!(seconds(word), None, "{word}");
    }
}

/// A generator of numbers, the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % end
    }

    fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap()
    }

    fn command(&mut self) -> Command {
        let mut command = Command {
            time_ns: (self.below(4) > 0).then(|| self.below(1 << 30)),
            ..Command::default()
        };
        match self.below(8) {
            6 => {
                command.op = Op::Share;
                command.length = 4096 * (1 + self.below(16384));
                command.offset = 4096 * self.below(1 << 20);
                command.to = command.offset + command.length + 4096 * self.below(99);
            }
            7 => {
                command.op = Op::Redistribute;
                command.offset = 4096 * self.below(1 << 20);
                command.length = 4096 * (1 + self.below(16384));
                command.threshold = self.below(1001);
            }
            0 => command.op = Op::Flush,
            5 => command.op = Op::Mark,
            1 => {
                command.op = Op::Idle;
                command.length = self.below(1 << 20);
            }
            nr => {
                command.op = [Op::Read, Op::Write, Op::Trim][usize::try_from(nr - 2).unwrap()];
                command.offset = 512 * self.below(1 << 30);
                command.length = 512 * (1 + self.below(4096));
            }
        }
        if command.op == Op::Write {
            command.fua = self.below(2) == 0;
            command.no_data = self.below(4) == 0;
            command.hint = match self.below(3) {
                0 => Hint::None,
                1 => Hint::Append(self.below(1 << 40)),
                _ => Hint::Overwrite,
            };
        }
        command
    }
}

#[test]
fn what_is_written_is_read_back() {
    let mut random = Random(1);
    let commands: Vec<Command> = (0..5000).map(|_| random.command()).collect();
    let mut text = "# dieaware trace 1\n".to_owned();
    for command in &commands {
        text += &format!("{command}\n");
    }
    assert_eq!(read(&text).unwrap().commands, commands);
}

/// Bytes are changed, cut out, doubled and exchanged between formats. Whatever comes of
/// it is read or complained about, and every command that is read is a valid one.
#[test]
fn damaged_traces_are_read_or_complained_about() {
    let fio = "fio version 3 iolog\n0 f add\n1 f open\n2 f write 0 4096\n3 f read 0 512\n";
    let seeds = [
        TEXT,
        fio,
        BLKPARSE,
        NVMEV,
        "fio version 2 iolog\na wait 9\na trim 0 512\n",
    ];
    let bits: Vec<&str> = seeds
        .iter()
        .flat_map(|seed| seed.split_inclusive([' ', '\n', '=', ',']))
        .chain([
            "18446744073709551615 ",
            "-1 ",
            "0x",
            "\0",
            "\u{ff}",
            "+ ",
            "\r\n",
        ])
        .collect();
    let mut random = Random(2);
    let mut nr_read = 0;

    for round in 0..60_000 {
        let mut bytes = seeds[round % seeds.len()].as_bytes().to_vec();
        for _ in 0..=random.below(4) {
            let at = random.index(bytes.len() + 1);
            match random.below(4) {
                0 if at < bytes.len() => bytes[at] = u8::try_from(random.below(256)).unwrap(),
                1 => bytes.truncate(at),
                2 => {
                    bytes.drain(at..(at + random.index(20)).min(bytes.len()).max(at));
                }
                _ => {
                    let bit = bits[random.index(bits.len())].bytes();
                    bytes.splice(at..at, bit);
                }
            }
        }
        let nr_lines = bytes.split(|byte| *byte == b'\n').count();
        match Trace::read("trace", bytes.as_slice(), None) {
            Ok(trace) => {
                nr_read += 1;
                assert_eq!(trace.commands.len(), trace.lines.len());
                for command in &trace.commands {
                    super::checked(command).unwrap();
                }
            }
            Err(ReadError::Line(err)) => {
                assert!((1..=nr_lines).contains(&err.line), "{err}");
                assert!(!err.reason.is_empty());
            }
            Err(err) => panic!("{err}"),
        }
    }
    // Neither everything nor nothing.
    assert!((5_000..55_000).contains(&nr_read), "{nr_read} were read");
}

#[test]
fn vendor_commands_are_read_from_text() {
    let text = "# dieaware trace 1\n- share 4096 8192 to=65536\n- redistribute 0 1048576\n\
        - redistribute 0 4096 threshold=875\n";
    let mut share = command(None, Op::Share, 4096, 8192);
    share.to = 65536;
    let mut usual = command(None, Op::Redistribute, 0, 1 << 20);
    usual.threshold = 500;
    let mut late = command(None, Op::Redistribute, 0, 4096);
    late.threshold = 875;
    assert_eq!(commands(text), [share, usual, late]);
    for (line, reason) in [
        ("share 0 4096", "to= with an offset in bytes is missing"),
        ("share 512 4096 to=8192", "multiples of 4096"),
        ("share 0 4096 to=512", "multiples of 4096"),
        ("share 0 8192 to=4096", "overlap"),
        ("redistribute 0 134217728", "more than 64 MiB"),
        ("redistribute 0 4096 threshold=1001", "between 0 and 1000"),
        ("redistribute 0 4096 fua", "does not belong"),
        ("read 0 4096 threshold=1", "does not belong"),
    ] {
        let (nr, found) = complaint(&format!("# dieaware trace 1\n- {line}\n"));
        assert_eq!(nr, 2);
        assert!(found.contains(reason), "{line}: {found}");
    }
}
