# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Profiles that Devel::DProf records here and now: our numbers are those of its own dprofpp."""

import re
import shutil
import subprocess
from collections import Counter

import pytest

from command import COMMAND, ROOT, asking_for, formats

PROGRAM = r"""
package Foo;
sub new { bless {}, shift }
sub work { my ($self, $n) = @_; my $x = 0; $x += $_ for 1 .. $n * 8000; $x }
our $AUTOLOAD;
sub AUTOLOAD { return if $AUTOLOAD =~ /DESTROY/; my $y = 0; $y += $_ for 1 .. 60000; $y }
package main;
sub fact { my $n = shift; $n <= 1 ? 1 : $n * fact($n - 1) }
sub tiny { 1 }
sub dier { die "x\n" }
my $o = Foo->new;
for (1 .. 40) {
    $o->work(5); $o->unknown_method; fact(20); eval { dier() }; tiny() for 1 .. 300;
    my $anon = sub { fact(3) }; $anon->();
    open my $in, '<', '/dev/zero'; read $in, my $data, 4_000_000;
}
select undef, undef, undef, 0.1;
"""
GOTO = r"""
sub burn { my $x = 0; $x += $_ for 1 .. 400000; $x }
sub jump { burn() if $_[0]; goto &landing }
sub landing { burn() }
jump($_) for 0 .. 5;
"""
CLOCKS = {"": [], "user": ["-u"], "system": ["-s"], "real": ["-r"]}


def record(folder, program):
    if not shutil.which("dprofpp"):
        pytest.skip("libdevel-dprof-perl is not installed")
    (folder / "program.pl").write_text(program)
    subprocess.run(["perl", "-d:DProf", "program.pl"], cwd=folder, check=True, timeout=600)
    return folder / "tmon.out"


@pytest.fixture(scope="module")
def tmon(tmp_path_factory):
    return record(tmp_path_factory.mktemp("dprof"), PROGRAM)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=600).stdout


def dprofpp(path, *options):
    """Exclusive seconds and calls by sub."""
    rows = {}
    for line in output("dprofpp", "-q", "-O", "1000", *options, path).splitlines():
        fields = line.split()
        rows[fields[6]] = (0 if fields[1] == "-" else float(fields[1]), int(fields[3]))
    return rows


def elapsed(path, *options):
    return float(re.search(r"(?:System|User|Real) Time = *(-?[\d.e-]+)", output("dprofpp", *options, path))[1])


def ours(path, *options):
    """The same from the records, and the whole time."""
    out = output(COMMAND, "--dump", *options, path)
    rate = int(re.search(r'ticks_per_sec" value="(\d+)', out).group(1))
    seconds, calls, total = Counter(), Counter(), 0
    for line in out.splitlines():
        found = re.search(r'SUB_RETURN .*excl_ticks=(\S+) name="(.*)"', line)
        if found:
            seconds[found.group(2)] += float(found.group(1)) / rate
            calls[found.group(2)] += 1
        found = re.search(r"TIME_LINE ticks=(\S+)", line)
        if found:
            total += int(found.group(1)) / rate
    return {name: (seconds[name], calls[name]) for name in calls}, total


@pytest.mark.parametrize("clock", CLOCKS)
def test_times_and_calls_are_those_of_dprofpp(tmon, clock):
    expected = dprofpp(tmon, *CLOCKS[clock])
    got, total = ours(tmon, *(["--clock", clock] if clock else []))
    assert set(got) == set(expected) and len(got) > 5
    for name, (seconds, calls) in expected.items():
        assert got[name][1] == calls, name
        if seconds > 0:  # dprofpp shows no negative numbers
            assert got[name][0] == pytest.approx(seconds, abs=0.00051), name
        else:
            assert got[name][0] < 0.00051, name
    # The header's whole time and the sum of all stretches differ by a tick of the clock or so, on
    # a busy machine by four; the real one by as long as the program waits for its turn between two.
    waits = 0.2 * total if clock == "real" else 0
    assert max(total, 0) == pytest.approx(elapsed(tmon, *CLOCKS[clock]), abs=max(0.0501, 0.15 * total) + waits)


def test_goto_charges_both_subs(tmp_path):
    """dprofpp loses what a sub spent before it jumps; here nothing is lost."""
    path = record(tmp_path, GOTO)
    got, total = ours(path)
    assert got["main::jump"][1] == got["main::landing"][1] == 6
    assert got["main::burn"][1] == 11
    assert sum(seconds for seconds, _ in got.values()) == pytest.approx(total, abs=0.021)


def test_every_exporter_takes_it(tmon, tmp_path):
    output(COMMAND, "--check", tmon)
    names = formats()
    assert {"callgrind", "pprof", "tree"} <= set(names)
    subs, _ = ours(tmon)
    longest = max(subs, key=lambda sub: subs[sub][0])  # the clock is coarse: others may have no time
    for name in names:
        out = tmp_path / f"out-{name}"
        output(COMMAND, asking_for(name), "-o", out, tmon)
        data = out.read_bytes()
        word = " ".join(longest.rsplit("::", 1)) if name == "tmon" else longest
        if name in ("list", "processes", "patterns", "sql", "waits", "massif"):  # about what the log does not know; about no subs
            word = str(tmon)
        if name == "quickfix":  # the log knows no lines
            word = "(100.0%, "
        assert data.startswith((b"\x1f\x8b", b"PAR1")) or word.encode() in data, name


# One sub that takes 12,345,678 s of a clock with one tick a second.
LONG = """#fOrTyTwO
$hz=1;
$XS_VERSION='DProf 20080331.00';
$over_utime=0; $over_stime=0; $over_rtime=0; $over_tests=10000;
$rrun_utime=12345678; $rrun_stime=0; $rrun_rtime=12345678;
$total_marks=4
PART2
& 1 main f
+ 1
@ 12345678 0 12345678
- 1
"""


def test_our_dprofpp_cuts_off_no_digit_before_the_point(tmp_path):
    (tmp_path / "tmon.out").write_text(LONG)
    printed = output("perl", ROOT / "bin" / "dprofpp", "-u", tmp_path / "tmon.out")
    assert printed.splitlines()[-1].split() == ["100.", "12345678", "12345678", "1", "12345678", "12345678", "main::f"]


def test_what_is_not_understood_was_not_killed(tmp_path):
    """A file that is given up in its middle says so, and one that a killed program left says that."""
    head = "#fOrTyTwO\n$hz=100;\n$rrun_utime=40;\n$rrun_stime=0;\n$rrun_rtime=40;\nPART2\n"
    body = "& 2 main outer\n& 3 main target\n+ 2\n@ 10 0 10\n+ 3\n@ 20 0 20\n"
    for end, said in [("unheard of\n", "open where reading ended: "), ("@ 1 0", "open at its end (killed, or still running): ")]:
        (tmp_path / "tmon.out").write_text(head + body + end)
        done = subprocess.run([COMMAND, "--top", tmp_path / "tmon.out"], capture_output=True, text=True)
        assert done.returncode == 3 and said + "main::RUNTIME" in done.stdout, done


# ---- logs by hand: what is read of them, in a few letters ----

LOG = """#fOrTyTwO
$hz=1000;
$XS_VERSION='DProf 1';
# All values are given in HZ
$over_utime={over}; $over_stime=0; $over_rtime=0;
$over_tests=1000;
$rrun_utime=900; $rrun_stime=100; $rrun_rtime=2000;
$total_marks={marks:<4}

PART2
{lines}
"""
OLD_LOG = """#fOrTyTwO
$hz=100;
$XS_VERSION='DProf 19970606';
# All values are given in HZ
{run}
PART2
{lines}
"""


def log(body, over=0, marks=4):
    return LOG.format(over=over, marks=marks, lines=body.replace(", ", "\n"))


def old_log(run, body):
    return OLD_LOG.format(run=run, lines=body.replace(", ", "\n"))


@pytest.fixture
def read(tmp_path):
    """The calls and the time passed, "> +30 < main::a 1 20 10": depth, inclusive and exclusive ticks; the message."""
    def of(text, *options):
        (tmp_path / "tmon.out").write_text(text)
        done = subprocess.run([COMMAND, "--dump", *options, tmp_path / "tmon.out"], capture_output=True, text=True)
        found = re.sub("^\\S+ ", "", done.stdout, flags=re.M)
        found = re.sub(r"TIME_LINE ticks=(-?\d+) fid=0 line=0", lambda time: f"{int(time[1]):+}", found)
        found = re.sub(r'SUB_RETURN depth=(\d+) incl_ticks=(\S+) excl_ticks=(\S+) name="(.*)"',
                       lambda call: f"< {call[4]} {call[1]} {int(float(call[2]))} {int(float(call[3]))}", found)
        found = found.replace("SUB_ENTRY caller_fid=0 caller_line=0", ">").replace("PID_END pid=0 time_s=0", "end")
        kept = [line for line in found.splitlines() if line[0] in "><+-" or line == "end"]
        return " ".join(kept), done.stderr.split(": ", 2)[-1].strip()
    return of


TWO = "@ 100 0 200, & 2 main a, + 2, @ 200 10 400, & b main b c, + b, @ 300 20 600, - b, @ 50 0 100, - 2"
COSTLY = "@ 100 0 0, & 2 main a, + 2, @ 200 0 0, & 3 main b, + 3, @ 4 0 0, - 3, @ 50 0 0, - 2"
ZA = "& 1 main z, & 2 main a, + 1, @ 10 0 0, + 2, @ 20 0 0, "
ZAB = "& 3 main b, " + ZA
CALLS = {
    "user and system time, the rest of the run at the end": (log(TWO), [], "> +100 > +210 < main::b c 2 320 320 +320 < main::a 1 580 260 +50 +320 end"),
    "user time": (log(TWO), ["--clock=user"], "> +100 > +200 < main::b c 2 300 300 +300 < main::a 1 550 250 +50 +250 end"),
    "system time": (log(TWO), ["--clock=system"], "> +0 > +10 < main::b c 2 20 20 +20 < main::a 1 30 10 +0 +70 end"),
    "real time": (log(TWO), ["--clock=real"], "> +200 > +400 < main::b c 2 600 600 +600 < main::a 1 1100 500 +100 +700 end"),
    # 20 ticks a call: each mark takes 10 off what was before it, and the clock is refined
    "overhead is taken off": (log(COSTLY, over=20000), [], "> +900000 > +1900000 < main::b 2 -60000 -60000 +0 < main::a 1 2240000 2300000 +340000 +6460000 end"),
    "the time to write the profile belongs to nobody": (
        log("& 2 main a, + 2, @ 200 0 0, + & Devel::DProf::write, @ 100 0 0, - & Devel::DProf::write, @ 50 0 0, - 2", marks=2), [],
        "> +0 +200 +0 < main::a 1 250 250 +50 +650 end"),
    "goto ends one call and begins another, which is left by the first one's name": (
        log(ZAB + "* 3, @ 30 0 0, - 2, @ 40 0 0, - 1", marks=5), [], "> +0 > +10 < main::a 2 20 20 > +20 < main::b 2 30 30 +30 < main::z 1 100 50 +40 +900 end"),
    "or by the last one's": (
        log("& 4 main c, " + ZAB + "* 3, @ 30 0 0, * 4, @ 5 0 0, - 4, @ 40 0 0, - 1", marks=6), [],
        "> +0 > +10 < main::a 2 20 20 > +20 < main::b 2 30 30 > +30 < main::c 2 5 5 +5 < main::z 1 105 50 +40 +895 end"),
    "the inner of two calls of that name": (
        log(ZA + "* 1, @ 30 0 0, - 1, @ 40 0 0, - 1", marks=5), [], "> +0 > +10 < main::a 2 20 20 > +20 < main::z 2 30 30 +30 < main::z 1 100 50 +40 +900 end"),
    "a call that dies is left": (log(ZA + "/ 2, @ 40 0 0, / 1"), [], "> +0 > +10 < main::a 2 20 20 +20 < main::z 1 70 50 +40 +930 end"),
    "leaving an outer call leaves the inner ones": (log(ZA + "- 1", marks=3), [], "> +0 > +10 < main::a 2 20 20 < main::z 1 30 10 +20 +970 end"),
    "what is open at the end stays open, for as long as the header tells": (
        log("& 1 main z, & 2 main a, + 1, @ 10 0 0, + 2, @ 2000 0 0", marks=2), [], "> +0 > +10 +990 end"),
    "the old form": (
        old_log("$rrun_utime=1000; $rrun_stime=28; $rrun_rtime=7", "+ 26 20 566822884 DynaLoader::import, - 126 28 566822884 DynaLoader::import, "
                "+ 227 28 566822885 main::bar, + 327 28 566822886 main::bar x, - 427 28 566822886 main::bar x, - 527 28 566822887 main::bar"), [],
        "> +46 < DynaLoader::import 1 108 108 +108 > +101 > +100 < main::bar x 2 100 100 +100 < main::bar 1 300 200 +100 +473 end"),
    "its real time counts from the first mark": (
        old_log("$rrun_utime=1; $rrun_stime=2; $rrun_rtime=7", "+ 26 28 566822884 main::bar, - 27 28 566822886 main::bar"), ["--clock=real"],
        "> +0 < main::bar 1 2 2 +2 +5 end"),
}


@pytest.mark.parametrize("text, options, calls", CALLS.values(), ids=CALLS)
def test_calls_of_a_log(read, text, options, calls):
    assert read(text, *options) == (calls, "")


def test_overhead_is_kept_on_request(tmp_path):
    (tmp_path / "tmon.out").write_text(log(COSTLY, over=20000))
    csv = output(COMMAND, "-q", "--csv", "--unit=ms", "--as-recorded", tmp_path / "tmon.out")
    assert re.findall(r"^(main::\w+),,0,1,0,(\d+),(\d+),1$", csv, re.M) == [
        ("main::RUNTIME", "746", "1000"), ("main::a", "250", "254"), ("main::b", "4", "4")]


BEGUN = "#fOrTyTwO\n$hz=9;\n"
DAMAGED = {
    "#fOrTyTwO\n$hz=100;\n": "byte 19: the input ends inside the header",
    "#fOrTyTwO\n$hz=0;\nPART2\n": "byte 17: no usable $hz before: PART2",
    "#fOrTyTwO\n$hz=x;\nPART2\n": "byte 10: header value is no number: $hz=x;",
    **{BEGUN + "PART2\n" + line + "\n": "byte 23: " + said for line, said in {
        "a\x1b[2Jb\x9b2Jc\u202eä €": "unknown line: a?[2Jb?2Jc?ä €",      # what would steer a terminal
        "foo": "unknown line: foo",
        "+ 2": "mark of a sub that was not introduced: + 2",
        "& g main a": "malformed sub: & g main a",
        "& 2 ": "malformed sub: & 2",
        "@ 1 2": "malformed time: @ 1 2",
        "@ 1 2 9999999999999999": "malformed time: @ 1 2 9999999999999999",
        "+ 1 2": "malformed mark: + 1 2"}.items()},
    BEGUN + "PART2\n& 2 main a\n- 2\n": "byte 34: a sub is left that was not entered: - 2",
    BEGUN + "$total_marks=2\nPART2\n& 2 main a\n+ 2\n": "byte 53: the input ends after 1 of 2 marks",
    **{text: f"byte {len(text)}: the recording was not finished" for text in (
        BEGUN + "PART2\n", BEGUN + "PART2\n& 2 main a\n+ 2\n- 2\n", BEGUN + "$total_marks=0\nPART2\n& 2 main a\n+ 2\n")},
}


@pytest.mark.parametrize("text", DAMAGED, ids=DAMAGED.values())
def test_what_is_no_log_is_told_with_its_place(read, text):
    assert read(text)[1].removesuffix("; going on with what came before") == DAMAGED[text]


def test_a_log_cut_anywhere_gives_the_calls_before_and_says_so(read):
    whole = read(log(TWO))[0].removesuffix(" +320 end")
    for size in range(9, len(log(TWO)) - 1, 5):
        calls, said = read(log(TWO)[:size])
        assert whole.startswith(calls) and re.match(r"byte \d+: the input ends ", said), size
