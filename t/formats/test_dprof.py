# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Profiles that Devel::DProf records here and now: our numbers are those of its own dprofpp."""

import pathlib
import re
import shutil
import subprocess
from collections import Counter

import pytest

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
ROOT = pathlib.Path(__file__).resolve().parents[2]
CLOCKS = {"": [], "user": ["-u"], "system": ["-s"], "real": ["-r"]}


def record(folder, program, **environment):
    if not shutil.which("dprofpp"):
        pytest.skip("libdevel-dprof-perl is not installed")
    (folder / "program.pl").write_text(program)
    subprocess.run(["perl", "-d:DProf", "program.pl"], cwd=folder, check=True, timeout=600)
    return folder / "tmon.out"


@pytest.fixture(scope="module")
def tmon(tmp_path_factory):
    return record(tmp_path_factory.mktemp("dprof"), PROGRAM)


def dprofpp(path, *options):
    """Exclusive seconds and calls by sub."""
    out = subprocess.run(["dprofpp", "-q", "-O", "1000", *options, str(path)], check=True,
                         capture_output=True, text=True, timeout=600).stdout
    rows = {}
    for line in out.splitlines():
        fields = line.split()
        rows[fields[6]] = (0 if fields[1] == "-" else float(fields[1]), int(fields[3]))
    return rows


def elapsed(path, *options):
    out = subprocess.run(["dprofpp", *options, str(path)], check=True, capture_output=True,
                         text=True, timeout=600).stdout
    return float(re.search(r"(?:System|User|Real) Time = *(-?[\d.e-]+)", out).group(1))


def ours(command, path, *options):
    """The same from the records, and the whole time."""
    out = subprocess.run([str(command), "--dump", *options, str(path)], check=True,
                         capture_output=True, text=True, timeout=600).stdout
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
def test_times_and_calls_are_those_of_dprofpp(export_command, tmon, clock):
    expected = dprofpp(tmon, *CLOCKS[clock])
    got, total = ours(export_command, tmon, *(["--clock", clock] if clock else []))
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


def test_goto_charges_both_subs(export_command, tmp_path):
    """dprofpp loses what a sub spent before it jumps; here nothing is lost."""
    path = record(tmp_path, GOTO)
    got, total = ours(export_command, path)
    assert got["main::jump"][1] == got["main::landing"][1] == 6
    assert got["main::burn"][1] == 11
    assert sum(seconds for seconds, _ in got.values()) == pytest.approx(total, abs=0.021)


def test_a_cut_profile_is_exported_as_partial(export_command, tmon, tmp_path):
    data = tmon.read_bytes()
    cut = tmp_path / "tmon.out"
    cut.write_bytes(data[: len(data) * 2 // 3])
    result = subprocess.run([str(export_command), "--top", str(cut)], capture_output=True,
                            text=True, timeout=600)
    assert result.returncode == 3
    assert re.search(r"tmon\.out: byte \d+: the input ends ", result.stderr)
    assert "Foo::work" in result.stdout


def test_every_exporter_takes_it(export_command, tmon, tmp_path):
    subprocess.run([str(export_command), "--check", str(tmon)], check=True, timeout=600)
    listed = subprocess.run([str(export_command), "--list-formats"], check=True,
                            capture_output=True, text=True).stdout
    names = re.findall(r"^  (\S+)", listed.split("Input:")[0], re.M)
    assert {"callgrind", "pprof", "tree"} <= set(names)
    subs, _ = ours(export_command, tmon)
    longest = max(subs, key=lambda sub: subs[sub][0])  # the clock is coarse: others may have no time
    for name in names:
        out = tmp_path / f"out-{name}"
        asked = "--peek=." if name == "peek" else f"--format={name}"
        subprocess.run([str(export_command), asked, "-o", str(out), str(tmon)],
                       check=True, timeout=600)
        data = out.read_bytes()
        word = " ".join(longest.rsplit("::", 1)) if name == "tmon" else longest
        if name in ("list", "processes", "patterns", "sql", "waits", "massif"):  # about what the log does not know; about no subs
            word = str(tmon)
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
    printed = subprocess.run(["perl", ROOT / "bin" / "dprofpp", "-u", tmp_path / "tmon.out"], check=True, capture_output=True, text=True).stdout
    assert printed.splitlines()[-1].split() == ["100.", "12345678", "12345678", "1", "12345678", "12345678", "main::f"]


def test_what_is_not_understood_was_not_killed(export_command, tmp_path):
    """A file that is given up in its middle says so, and one that a killed program left says that."""
    head = "#fOrTyTwO\n$hz=100;\n$rrun_utime=40;\n$rrun_stime=0;\n$rrun_rtime=40;\nPART2\n"
    body = "& 2 main outer\n& 3 main target\n+ 2\n@ 10 0 10\n+ 3\n@ 20 0 20\n"
    for end, said in [("unheard of\n", "open where reading ended: "), ("@ 1 0", "open at its end (killed, or still running): ")]:
        (tmp_path / "tmon.out").write_text(head + body + end)
        done = subprocess.run([export_command, "--top", tmp_path / "tmon.out"], capture_output=True, text=True)
        assert done.returncode == 3 and said + "main::RUNTIME" in done.stdout, done
