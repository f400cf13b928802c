# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""What nytp-spy's commands show of programs, and how they refuse."""

import argparse
import csv
import ctypes
import errno
import os
import pathlib
import re
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import time

import pytest

import spied

PERL = "/usr/bin/perl"
EXPORT = spied.ROOT / "bin" / "nytp-export"

WAITS = """
use strict; $| = 1;
sub inner { my ($in) = @_; sysread STDIN, my $byte, 1; return 1 }
my sub lexical { inner(1) }
sub outer { lexical() for 1 .. 2 }
print "ready\\n";
outer();
"""

THREADS = """
use strict; use threads; $| = 1;
pipe my $in, my $out or die;
sub waits { my ($n) = @_; print "ready\\n"; sysread $in, my $byte, 1; $n }
my @threads = map { my $n = $_; threads->create(sub { waits($n) }) } 1 .. 3;
print "all\\n";
$_->join for @threads;
"""

# Three subs whose shares of the time are 60, 30 and 10 %, as the program's own clock tells it. With an argument it begins
# each round at an even millisecond, in step with whoever looks at even distances.
SHARES = """
use strict; use Time::HiRes qw(clock_gettime clock_nanosleep CLOCK_MONOTONIC CLOCK_THREAD_CPUTIME_ID TIMER_ABSTIME); $| = 1;
sub now { clock_gettime(CLOCK_THREAD_CPUTIME_ID) }
my %spent;
sub most { my $x = 0; $x += $_ for 1 .. 60000; $x }
sub some { my $x = 0; $x += $_ for 1 .. 30000; $x }
sub least { my $x = 0; $x += $_ for 1 .. 10000; $x }
print "ready\\n";
my $stop = 0;
$SIG{USR1} = sub { $stop = 1 };
until ($stop) {
    clock_nanosleep(CLOCK_MONOTONIC, 4e6 * int(1 + clock_gettime(CLOCK_MONOTONIC) / 4e-3), TIMER_ABSTIME) if @ARGV;
    for my $sub (qw(most some least)) {
        my $from = now();
        no strict 'refs';
        &$sub();
        $spent{$sub} += now() - $from;
    }
}
my $sum = 0;
$sum += $_ for values %spent;
printf "%s %.4f\\n", $_, $spent{$_} / $sum for sort keys %spent;
"""

# A program that has perl in it and exports none of it.
EMBEDS = """
#include <EXTERN.h>
#include <perl.h>
static PerlInterpreter *my_perl;
int main(int argc, char **argv, char **env)
{
    PERL_SYS_INIT3(&argc, &argv, &env);
    my_perl = perl_alloc();
    perl_construct(my_perl);
    if (perl_parse(my_perl, NULL, argc, argv, env) == 0)
        perl_run(my_perl);
    perl_destruct(my_perl);
    perl_free(my_perl);
    PERL_SYS_TERM();
    return 0;
}
"""

@pytest.fixture
def script(tmp_path):
    def write(text, name="app.pl"):
        path = tmp_path / name
        path.write_text(text)
        return path
    return write


def exported(profile, *options):
    return subprocess.run([EXPORT, "-q", *options, profile], check=True, capture_output=True, text=True).stdout


def test_dump_shows_where_a_program_waits_and_for_what(script):
    with spied.running(PERL, script(WAITS), stdin=subprocess.PIPE) as process:
        process.wait_for("ready")
        process.wait_until_it_waits()
        text = spied.spy("dump", process.pid)
    frames = re.findall(r"^    (\S.*)$", text, re.M)
    assert [re.sub(r" \(.*/", " (", frame) for frame in frames] == [
        "CORE::sysread", "main::inner (app.pl:3)", "main::lexical (app.pl:4)", "main::outer (app.pl:5)",
        "(main program) (app.pl:7)"]
    assert re.search(r"waiting: read of pipe:\[\d+\] \(fd 0\)", text)
    assert "my sub lexical { inner(1) }" in text


def test_dump_shows_a_program_that_is_being_compiled():
    """It waits for its third line; no statement runs."""
    with spied.running(PERL, "-", stdin=subprocess.PIPE) as process:
        process.popen.stdin.write('BEGIN { $| = 1; print "ready\\n" }\nsub never { 1 }\n')
        process.popen.stdin.flush()
        process.wait_for("ready")
        process.wait_until_it_waits()
        text = spied.spy("dump", process.pid)
        process.popen.stdin.close()
    assert re.search(r"waiting: read of pipe:", text) and "(main program) (-:3)" in text, text


def test_dump_shows_every_thread(script):
    with spied.running(PERL, script(THREADS)) as process:
        process.wait_for("all")
        process.wait_until_it_waits()
        text = spied.spy("dump", process.pid, "--no-source")
    assert sorted(re.findall(r"^Thread (\d+) \[\d+\] \(waiting", text, re.M)) == ["0", "1", "2", "3"]
    assert text.count("main::waits") == 3 and "threads::join (xsub)" in text
    assert len(set(re.findall(r"\[(\d+)\]", text))) >= 4


def test_a_pattern_finds_all_workers(script, tmp_path):
    path = script(WAITS, f"worker-{os.getpid()}.pl")
    with spied.running(PERL, path, stdin=subprocess.PIPE) as one, spied.running(PERL, path, stdin=subprocess.PIPE) as two:
        one.wait_for("ready")
        two.wait_for("ready")
        text = spied.spy("dump", "-P", rf"worker-{os.getpid()}\.pl$")
    assert {int(pid) for pid in re.findall(r"^Process (\d+):", text, re.M)} == {one.pid, two.pid}


def test_a_pattern_does_not_find_what_nytp_spy_runs_under(script, tmp_path):
    """The command lines of sudo, timeout or a shell have the pattern in them."""
    name = f"worker-{os.getpid()}.pl"
    with spied.running(PERL, script(WAITS, name), stdin=subprocess.PIPE) as process:
        process.wait_for("ready")
        inner = f"{spied.SPY} dump -P {name}; exit $?"
        ran = subprocess.run(["sh", "-c", f"sh -c 'timeout 99 {inner}'; exit $?"], capture_output=True, text=True)
    assert re.findall(r"^Process (\d+):", ran.stdout, re.M) == [str(process.pid)]
    assert ran.returncode == 0 and ran.stderr == ""


def test_what_a_pattern_means_later_is_recorded_too(script, tmp_path):
    name = f"worker-{os.getpid()}.pl"
    path = script(WAITS, name)
    with spied.running(PERL, path, stdin=subprocess.PIPE), \
            spied.running(str(spied.SPY), "record", "-P", name, "-o", tmp_path / "out", stderr=subprocess.PIPE) as spy:
        spied.wait_until_it_samples(spy.pid)
        with spied.running(PERL, path, stdin=subprocess.PIPE):
            spied.wait_until_it_samples(spy.pid, 2)
            spy.popen.send_signal(signal.SIGINT)
            message = spy.popen.stderr.read()
        assert spy.popen.wait() == 0 and "samples of 2 threads" in message, message


def samples_that_count(profile):
    """As many samples of equal weight would be as uncertain: those of waiting have no processor time, others more or less."""
    weights, told = [], None
    for line in exported(profile, "--dump").splitlines():
        if found := re.search(r'COMMENT text="cpu (\d+)', line):
            told = int(found[1])
        elif found := re.search(r"TIME_LINE ticks=(\d+)", line):
            weights.append(int(found[1]) if told is None else told)
            told = None
    return sum(weights) ** 2 / sum(weight * weight for weight in weights)


@pytest.mark.parametrize("step", [[], ["in step"]], ids=["free", "in-step"])
def test_record_makes_a_profile_whose_shares_are_true(step, script, tmp_path):
    """A sampler that runs in step with the program sees one sub alone, 0.4 off. The bound: six standard errors of so many samples, the
    looks that nytp-spy says came late, and a tenth, since samples of one turn on a busy processor are not independent. Chance: 1e-8"""
    with spied.running(PERL, script(SHARES), *step) as process:
        spied.put_first(process.pid)
        process.wait_for("ready")
        ran = subprocess.run([spied.SPY, "record", str(process.pid), "-o", tmp_path / "out", "-r", "250", "-d", "4s"],
                             check=True, capture_output=True, text=True)
        os.kill(process.pid, signal.SIGUSR1)
        true = {name: float(share) for name, share in (line.split() for line in process.popen.stdout)}
    late = re.search(r"(\d+) % of the looks came late", ran.stderr)
    cpu = {row["sub"][6:]: int(row["cpu_ns"]) for row in csv.DictReader(exported(tmp_path / "out", "--csv").splitlines())}
    n = samples_that_count(tmp_path / "out")
    for name, share in true.items():
        bound = 6 * (share * (1 - share) / n) ** 0.5 + (int(late[1]) / 100 if late else 0) + 0.1
        assert abs(cpu.get(name, 0) / sum(cpu[name] for name in true if name in cpu) - share) <= bound, (name, cpu, true, n, ran.stderr)


STILL = r"""
use Time::HiRes 'clock';
my $text = "b" x 100;
my %ran;
$SIG{USR1} = sub { print "still ", $ran{still} / ($ran{still} + $ran{moves}), "\n"; exit };
sub still { my $n = () = $text =~ /b*b*[cd]/ }
sub moves { my $n = 0; $n++ while $n < 20_000; return $n }
$| = 1;
print "ready\n";
while (1) {
    my $began = clock();
    still();
    my $between = clock();
    moves();
    $ran{still} += $between - $began;
    $ran{moves} += clock() - $between;
}
"""


def ran_s(pid):
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def test_what_stands_still_while_it_is_looked_at_has_its_share(script, tmp_path):
    """A long regular expression: that it runs is not seen, and may not be taken for that it does not. Of a hundred samples and more a
    half of its share, or a half of the rest, is five standard deviations away and more. Chance: 1e-7"""
    with spied.running(PERL, script(STILL)) as process:
        process.wait_for("ready")
        spied.spy("record", process.pid, "-o", tmp_path / "out", "-r", "250", "-d", "4s")
        process.popen.send_signal(signal.SIGUSR1)
        share = float(process.wait_for("still").split()[1])
    cpu = {row["sub"]: int(row["cpu_ns"]) for row in csv.DictReader(exported(tmp_path / "out", "--csv").splitlines())}
    seen = (cpu.get("main::CORE:match", 0) + cpu.get("main::still", 0)) / sum(cpu.values())
    assert share / 2 < seen < (1 + share) / 2, (share, cpu)    # far from chance


@pytest.mark.parametrize("rate", [20, 100, 1000])
def test_what_is_seen_to_run_has_the_time_that_the_kernel_counts(rate, tmp_path):
    with spied.running(PERL, "-e", "$| = 1; print qq(ready\n); while (1) { my $n = 0; $n++ while $n < 1000 }") as process:
        spied.put_first(process.pid)
        process.wait_for("ready")
        before = ran_s(process.pid)
        with spied.running(str(spied.SPY), "record", process.pid, "-r", rate, "-o", tmp_path / "out") as spy:
            spied.wait_until_it_samples(spy.pid)
            began = ran_s(process.pid)
            spied.wait_until(lambda: ran_s(process.pid) > began + 1)
            least = ran_s(process.pid) - began
            spy.popen.terminate()
            spy.popen.wait()
        most = ran_s(process.pid) - before
    rows = csv.DictReader(exported(tmp_path / "out", "--csv").splitlines())
    assert 0.8 * (least - 0.1) < sum(int(row["cpu_ns"]) for row in rows) / 1e9 < most + 0.01, (least, most)


@pytest.mark.parametrize("options", [[], ["--no-realtime"]], ids=["by-default", "no-realtime"])
def test_real_time_priority_is_taken_where_it_may_be_had_and_not_refused(options, script, tmp_path):
    may = subprocess.run([sys.executable, "-c", "import os; os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))"],
                         stderr=subprocess.DEVNULL).returncode == 0

    def times_slept(pid):
        return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)[1])

    with spied.running(PERL, script(WAITS), stdin=subprocess.PIPE) as process:
        process.wait_for("ready")
        with spied.running(str(spied.SPY), "record", process.pid, "-r", "1000", *options, "-o", tmp_path / "out") as spy:
            spied.wait_until(lambda: times_slept(spy.pid) > 100)  # it has looked
            policy = os.sched_getscheduler(spy.pid) & ~os.SCHED_RESET_ON_FORK
    assert policy == (os.SCHED_RR if may and not options else os.SCHED_OTHER)


def test_a_recording_is_whole_and_every_exporter_reads_it(script, tmp_path):
    out = tmp_path / "out"
    program = script("use strict; sub f { my $x = 0; $x += $_ for 1 .. 20000; $x }\n"
                     "my $n = eval 'f() for 1 .. 300; 1';\nsleep 1;\nexit 3;\n")
    ran = subprocess.run([spied.SPY, "record", "-o", out, "-r", "300", "--", PERL, program], capture_output=True, text=True)
    assert ran.returncode == 3, ran.stderr
    torn = re.search(r"samples of 1 thread in .*, (\d+) not whole and left out \(\d", ran.stderr)[1]
    assert f'samples_torn" value="{torn}"' in exported(out, "--dump")
    assert "ok" in subprocess.run([EXPORT, "--check", out], check=True, capture_output=True, text=True).stdout
    for name in ("--callgrind", "--pprof-text", "--collapsed", "--speedscope", "--csv", "--tree", "--list=main::f"):
        assert exported(out, name)
    assert "main::f" in exported(out, "--top") and "CORE:sleep" in exported(out, "--top")
    program.unlink()
    assert "sleep 1;" in exported(out, "--list=main::RUNTIME")  # the source is in the profile


def test_the_recording_of_one_thread_is_the_profile_as_it_was_sampled(script, tmp_path):
    """It is neither read again nor compressed again: that was a good part of what a short recording took."""
    def head(name, code):
        out = tmp_path / name
        spied.spy("record", "-s", "-o", out, "-r", 100, "--", PERL, script(code))
        assert "ok" in subprocess.run([EXPORT, "--check", out], check=True, capture_output=True, text=True).stdout
        return out.read_bytes()[:200]
    spin = "my $n = 0; $n ^= $_ for 1 .. 5e6;"
    assert b"Sampled from outside by nytp-spy" in head("one", spin)
    assert b"Merged" in head("two", f"my $pid = fork; {spin} wait")


# Blocks that last until nytp-spy, which has started the program, has looked at them.
BLOCKS = """# What is said on a line, and where perl says that it is.
BEGIN { unshift @INC, $ENV{BLOCKS}; require Looked; }
BEGIN { Looked->import }
BEGIN {
    # a comment

    Looked->import;
}
BEGIN
{
    Looked->import;
}
BEGIN {
    if ($] > 5) {
        Looked->import;
    }
}
use Looked qw(a
    b
    c
);
use Looked ( # with a comment
    a => 1,
    b => [2],
);
use Looked
    'a',
    'b';
use
    Looked;
no Looked {
    a => 1,
};
require Other;
eval 'BEGIN { Looked->import }';
"""
# How often nytp-spy, which has started the program, has looked at it.
LOOKS = r"""sub looks {
    open my $status, '<', "/proc/" . getppid . "/status" or die $!;
    my ($n) = map { /^voluntary_ctxt_switches:\s+(\d+)/ } <$status>;
    return $n;
}
"""
LOOKED = "package Looked;\n" + LOOKS + r"""sub import { my $before = looks(); 1 until $ENV{ALONE} || looks() > $before + 20 }
*unimport = \&import;
1;
"""
OTHER = """

BEGIN { Looked->import }
1;
"""


def test_begin_blocks_are_named_as_by_a_recorder(script, tmp_path):
    """By the lines on which they begin, so that a comparison pairs them; one of the same line in another file has a number."""
    program = script(BLOCKS)
    script(LOOKED, "Looked.pm")
    script(OTHER, "Other.pm")
    blib = f"{spied.ROOT}/blib/lib:{spied.ROOT}/blib/arch"
    environment = {**os.environ, "BLOCKS": str(tmp_path)}
    subprocess.run([PERL, "-d:NYTProf", program], check=True,
                   env={**environment, "ALONE": "1", "PERL5LIB": blib, "NYTPROF": f"file={tmp_path}/own"})
    spied.spy("record", "-r", "1000", "-o", tmp_path / "out", "--", PERL, program, env=environment)
    own, out = ({(row["sub"], row["line"]) for row in csv.DictReader(exported(tmp_path / name, "--csv").splitlines())
                 if "main::BEGIN" in row["sub"]} for name in ("own", "out"))
    quick = ("main::BEGIN@2", "2")
    assert out - {quick} == own - {quick} and len(out) >= 10
    for base, new in (("own", "out"), ("out", "own")):      # one of them has not seen all: their order tells nothing
        rows = csv.DictReader(exported(tmp_path / new, f"--diff={tmp_path / base}", "--csv").splitlines())
        assert {(row["sub"], row["line"]) for row in rows if "main::BEGIN" in row["sub"]} >= own - {quick}


# Each lasts until nytp-spy, which has started the program, has looked at it.
ANONYMOUS = "use strict;\n" + LOOKS + r"""sub stays { my $before = looks(); 1 until $ENV{ALONE} || looks() > $before + 20 }
my %subs = (
    first => sub {
        my ($x) = @_;
        if ($x) {
            stays();
        }
    }, second => sub {
        no strict;
        # a comment with a }

        stays();
    },
);
my $short = sub { stays() };
my @listed = map { sub { stays();
    my $text = "a } and a '"; } } 1;
my $outer = sub {
    return sub {
        stays();
        return 1;
    };
};
my $below = sub
{
    stays();
};
my $signed = sub ($) {
    stays();
    sub { stays(); 1 }->();
};
$_->(1) for @subs{"first", "second"}, $short, @listed, $outer->(), $below, $signed;
"""


def test_anonymous_subs_are_named_as_by_a_recorder(script, tmp_path):
    """By the lines on which they end, so that a comparison pairs them."""
    program = script(ANONYMOUS)
    blib = f"{spied.ROOT}/blib/lib:{spied.ROOT}/blib/arch"
    subprocess.run([PERL, "-d:NYTProf", program], check=True,
                   env={**os.environ, "ALONE": "1", "PERL5LIB": blib, "NYTPROF": f"file={tmp_path}/own"})
    spied.spy("record", "-r", "1000", "-o", tmp_path / "out", "--", PERL, program)
    own, out = ({row["sub"] for row in csv.DictReader(exported(tmp_path / name, "--csv").splitlines()) if "main::__ANON__" in row["sub"]}
                for name in ("own", "out"))
    quick = {name for name in own if name.endswith(":29]")}     # the one that makes another and is left
    assert len(quick) == 1 and out - quick == own - quick and len(out - quick) == 8


GROWS = """
use strict;
sub steady { my $x = 0; $x += $_ for 1 .. 20000; $x }
sub grows { my $x = 0; $x += $_ for 1 .. 20000 * $ARGV[0]; $x }
steady(), grows() for 1 .. 60;
"""


def test_recordings_are_compared_and_gated(script, tmp_path):
    """As runs of one program, whatever its arguments are. How much time is too much is the gate's own tests' matter."""
    program = script(GROWS)
    for folder, argument in ("base", 1), ("new", 8):
        (tmp_path / folder).mkdir()
        for n in range(4):
            spied.spy("record", "-o", tmp_path / folder / f"{n}.out", "-r", 1000, "--", PERL, program, argument)
    ran = subprocess.run([EXPORT, "--top", "--diff", tmp_path / "base", "--fail-over", "1000000%:time", tmp_path / "new"],
                         capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert re.search(r"^ +\+\d.* main::grows ", ran.stdout, re.M) and "another program" not in ran.stdout + ran.stderr


def test_a_program_is_named_as_perl_names_it(script, tmp_path):
    program = script("1;")
    for arguments, name in ([program, "x"], str(program)), (["-w", "-I", "lib", "-Mstrict", program], str(program)), \
            (["-we", "select undef, undef, undef, 0.2", "x"], "-e"), (["--", program], str(program)):
        program.write_text("select undef, undef, undef, 0.2;\n")
        spied.spy("record", "-o", tmp_path / "out", "--", PERL, *arguments)
        dump = exported(tmp_path / "out", "--dump")
        assert re.search(r'key="?application"? value="(.*)"', dump)[1] == name


def test_more_string_evals_than_are_told_apart_are_told(script, tmp_path):
    """Each is there until nytp-spy has looked. Of 78,355 such looks beside three busy loops, one was not whole, and all 1,500 evals were seen:
    that 500 of them are not has no chance of one in a million."""
    program = script("sub looks { open my $status, '<', '/proc/' . getppid . '/status' or die; (map { /^voluntary_ctxt_switches:\\s+(\\d+)/ } <$status>)[0] }\n"
                     "for (1 .. 1500) { eval q{my $before = looks(); 1 until looks() > $before + 3} }\n")
    ran = subprocess.run([spied.SPY, "record", "-r", "5000", "-o", tmp_path / "out", "--", PERL, program], capture_output=True, text=True)
    assert ran.returncode == 0 and "more than 1000 string evals were seen" in ran.stderr
    names = re.findall(r'NEW_FID .* eval_fid=(\d+) eval_line=(\d+) .*name="\(eval (\d+)\)"', exported(tmp_path / "out", "--dump"))
    assert len(names) <= 1002 and ("1", "2", "0") in names


@pytest.mark.parametrize("text", ["require './Work.pm';", "$0 = 'worker 3'; require './Work.pm';", "BEGIN { $0 = 'worker 3' } use lib '.'; use Work;"],
                         ids=["file", "renamed", "compiling"])
def test_the_main_program_is_in_its_own_file_where_all_samples_are_in_another(text, script, tmp_path):
    """The file that is told first, or that ran first, is another."""
    script("package Work; sub spins { 1 while 1 } $| = 1; print \"ready\\n\"; spins();", "Work.pm")
    with spied.running(PERL, script(text), cwd=tmp_path) as process:
        process.wait_for("ready")
        spied.spy("record", process.pid, "-d", 0.5, "-r", 1000, "-o", tmp_path / "out")
    places = {row["sub"]: row["file"] for row in csv.DictReader(exported(tmp_path / "out", "--csv").splitlines())}
    assert places["main::RUNTIME"] == str(tmp_path / "app.pl") and places["Work::spins"].endswith("/Work.pm")


def test_threads_and_subprocesses_become_one_profile(script, tmp_path):
    out = tmp_path / "out"
    program = script("use threads; sub spin { my $x = 0; $x += $_ for 1 .. 20000000 }\n"
                     "my $t = threads->create(sub { in_thread() }); sub in_thread { spin() }\n"
                     "if (my $pid = fork) { waitpid $pid, 0 } else { in_child() } sub in_child { spin(); exit }\n"
                     "$t->join;\n")
    spied.spy("record", "-s", "-o", out, "-r", 200, "--", PERL, program)
    text = exported(out, "--csv")
    assert "main::in_thread" in text and "main::in_child" in text and "main::CORE:waitpid" in text
    assert len(re.findall(r"^P\S* +pid", subprocess.run([EXPORT, "--dump", out], check=True, capture_output=True, text=True).stdout, re.M)) != 1


# nytp-spy, which has started the program: how many of its files have this name, and its bytes of data.
OF_SPY = r"""use strict; use POSIX (); $| = 1;
my $spy = getppid;
sub files {
    my ($like) = @_;
    opendir my $folder, "/proc/$spy/fd" or die $!;
    return grep { $_ =~ $like } map { readlink("/proc/$spy/fd/$_") // "" } readdir $folder;
}
sub status { my ($pid, $what) = @_; open my $status, "<", "/proc/$pid/status" or die $!; return map { /^$what:\s+(\w+)/ } <$status> }
sub data { return (status($spy, "VmData"))[0] }
sub switches { return (status($spy, "voluntary_ctxt_switches"))[0] }
sub wait_until {
    my ($is) = @_;
    my $end = time + 600;
    select undef, undef, undef, 0.005 until $is->() || time > $end;
}
my %seen;       # a file of each thread, which is there until that ends
# Such a file is there before the first sample; between two samples nytp-spy sleeps.
sub sampled {
    my ($n) = @_;
    wait_until(sub { $seen{$_}++ for files(qr/nytp-spy\./); keys %seen >= $n });
    my $before = switches();
    wait_until(sub { switches() > $before + 20 });
}
sub child {
    my ($code) = @_;
    pipe my $read, my $write or die $!;
    my $pid = fork // die $!;
    return ($pid, $write) if $pid;
    close $write;
    $code->($read);
    POSIX::_exit(0);
}
sub over { my ($pid) = @_; waitpid $pid, 0; wait_until(sub { !files(qr{/task/$pid/}) }) }
"""
REUSES = OF_SPY + r"""
sub first { sysread $_[0], my $byte, 1 }
sub second { sysread $_[0], my $byte, 1 }
# It was sampled at first before it was in its sub, maybe.
sub sampled_asleep {
    my ($n, $pid) = @_;
    wait_until(sub { (status($pid, "State"))[0] eq "S" });
    sampled($n);
}
my ($pid, $end) = child(\&first);
sampled_asleep(2, $pid);
close $end;
over($pid);
open my $last, ">", "/proc/sys/kernel/ns_last_pid" or die $!;
print $last $pid - 1;
close $last;
my ($again, $end_again) = child(\&second);
print "reused\n" if $again == $pid;
sampled_asleep(3, $again);
close $end_again;
waitpid $again, 0;
"""
MANY = OF_SPY + r"""
for my $round (1 .. 3) {
    my @children = map { [child(sub { sysread $_[0], my $byte, 1 })] } 1 .. 100;
    sampled(1 + $round * 100);
    undef $_->[1] for @children;
    over($_->[0]) for @children;
    print data(), " ", scalar(files(qr/./)), "\n";
}
"""


@pytest.mark.skipif(os.geteuid() != 0 or not os.path.exists("/proc/sys/kernel/ns_last_pid"), reason="needs root, who chooses the next number")
def test_a_process_with_the_number_of_one_that_has_ended_is_recorded(script, tmp_path):
    command = f"{spied.SPY} record -s -o {tmp_path}/out -- {PERL} {script(REUSES)}; exit $?"
    ran = subprocess.run(["unshare", "-pf", "--kill-child", "--mount-proc", "sh", "-c", command], capture_output=True, text=True)
    assert ran.returncode == 0 and ran.stdout == "reused\n", ran.stderr
    text = exported(tmp_path / "out", "--csv")
    assert "main::first" in text and "main::second" in text


def test_a_process_that_has_ended_takes_no_room(script, tmp_path):
    """It took 29 kB and a descriptor for each."""
    ran = subprocess.run([spied.SPY, "record", "-s", "-r", "20", "-o", tmp_path / "out", "--", PERL, script(MANY)], capture_output=True, text=True)
    _, _, second, n_files, third, n_files_then = map(int, ran.stdout.split())
    assert third - second < 1000 and n_files_then == n_files < 16, ran.stdout


ONE_BY_ONE = OF_SPY.replace("use strict;", "use strict; use threads;") + r"""
sub waits { my ($in) = @_; sysread $in, my $byte, 1 }
for my $n (1 .. 3) {
    pipe my $in, my $out or die $!;
    my $thread = threads->create(\&waits, $in);
    sampled(1 + $n);
    syswrite $out, "!";
    $thread->join;
}
"""


def test_threads_one_after_the_other_are_not_taken_for_one(script, tmp_path):
    """Each has the memory of the one before."""
    ran = subprocess.run([spied.SPY, "record", "-o", tmp_path / "out", "--", PERL, script(ONE_BY_ONE)], capture_output=True, text=True)
    assert ran.returncode == 0 and "samples of 4 threads" in ran.stderr, ran.stderr


def test_samples_of_waiting_can_be_left_out(script, tmp_path):
    program = script("sub f { my $x = 0; $x += $_ for 1 .. 10000000 } f(); select undef, undef, undef, 2;\n")
    spied.spy("record", "--no-idle", "-o", tmp_path / "out", "--", PERL, program)
    rows = csv.DictReader(exported(tmp_path / "out", "--csv").splitlines())
    # as it falls asleep, and until it has a processor again, instead of some 200
    assert sum(int(row["samples"]) + int(row["calls"]) for row in rows if "sselect" in row["sub"]) <= 100


def test_the_target_is_never_stopped_nor_traced(script, tmp_path):
    states = set()
    with spied.running(PERL, script(SHARES)) as process:
        process.wait_for("ready")
        with subprocess.Popen([spied.SPY, "record", str(process.pid), "-o", tmp_path / "out", "-r", "1000", "-d", "2s"],
                              stderr=subprocess.PIPE) as recording:
            while recording.poll() is None:
                status = open(f"/proc/{process.pid}/status").read()
                states.add((re.search(r"State:\t(.)", status)[1], re.search(r"TracerPid:\t(\d+)", status)[1]))
    assert recording.returncode == 0
    assert states <= {("R", "0"), ("S", "0"), ("D", "0")} and states


def test_a_killed_spy_leaves_the_target_as_it_was(script, tmp_path):
    with spied.running(PERL, script(SHARES)) as process:
        process.wait_for("ready")
        with subprocess.Popen([spied.SPY, "record", str(process.pid), "-o", tmp_path / "out", "-r", "1000"]) as recording:
            spied.wait_until_it_samples(recording.pid)
            recording.kill()
        os.kill(process.pid, signal.SIGUSR1)
        assert len(process.popen.stdout.readlines()) == 3
        assert process.popen.wait() == 0
    assert not (tmp_path / "out").exists()


def as_nobody(*command):
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *map(str, command)]


# Looks like a program of 32 bits: the file whose name it is given stands in front of all else in its memory.
# So no kernel has to run one.
AS_IF_32_BITS = """#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
int main(int argc, char **argv)
{
    void *const first = (void *)0x10000; /* no program may have less: vm.mmap_min_addr */
    if (mmap(first, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, open(argv[argc - 1], O_RDONLY), 0) != first)
        return 1;
    puts("ready");
    fflush(stdout);
    return getchar();
}
"""


def test_a_program_of_32_bits_is_told(tmp_path):
    (tmp_path / "holds.c").write_text(AS_IF_32_BITS)
    subprocess.run(["cc", tmp_path / "holds.c", "-o", tmp_path / "holds"], check=True)
    elf_class_32, lsb, current = 1, 1, 1
    (tmp_path / "spin").write_bytes(b"\x7fELF" + bytes([elf_class_32, lsb, current]) + bytes(4089))
    with spied.running(str(tmp_path / "holds"), str(tmp_path / "spin"), stdin=subprocess.PIPE) as process:
        process.wait_for("ready")
        told = spied.spy("dump", process.pid, status=1)
    assert f"it runs {tmp_path / 'spin'}, a program of 32 bits, of which nytp-spy knows none" in told


def test_a_static_perl_is_looked_at_unless_it_is_stripped(tmp_path):
    """Its symbols are in the file alone."""
    flags = subprocess.run([PERL, "-MConfig", "-e", 'print "$Config{ccflags} -I$Config{archlibexp}/CORE\\n$Config{perllibs}"'],
                           check=True, capture_output=True, text=True).stdout.splitlines()
    (tmp_path / "embeds.c").write_text(EMBEDS)
    library = subprocess.run(["cc", "-print-file-name=libperl.a"], check=True, capture_output=True, text=True).stdout.strip()
    if not os.path.exists(library):
        pytest.skip("there is no libperl.a here")
    subprocess.run(["cc", *flags[0].split(), tmp_path / "embeds.c", library, *flags[1].split(), "-o", tmp_path / "whole"],
                   check=True)
    subprocess.run(["strip", tmp_path / "whole", "-o", tmp_path / "stripped"], check=True)
    for name in "whole", "stripped":
        with spied.running(str(tmp_path / name), "-e", 'sub waits { $| = 1; print "ready\\n"; <STDIN> } waits()',
                           stdin=subprocess.PIPE) as process:
            process.wait_for("ready")
            process.wait_until_it_waits()
            ran = subprocess.run([spied.SPY, "dump", str(process.pid)], capture_output=True, text=True)
        if name == "whole":
            assert ran.returncode == 0 and "main::waits (-e:1)" in ran.stdout, ran.stderr
        else:
            assert ran.returncode == 1 and ran.stdout == "" and ran.stderr.count("\n") == 1
            assert "there is no perl in this process: it runs" in ran.stderr, ran.stderr


# Exports what a perl of this version does, and has nothing behind it.
NO_PERL = """
#include <stdio.h>
const char PL_version = %d, PL_subversion = 0;
int PL_thr_key;
char nothing[65536];
void *PL_curinterp = nothing;
int main(void) { for (int i = 0; i < 65536; i++) nothing[i] = 1; puts("ready"); fflush(stdout); return getchar(); }
"""


@pytest.mark.parametrize("version, reason", [(36, r"perl 5.36.0 \(.*threads\) is there, but its memory is not as that perl's should be"),
                                             (99, r"perl 5.99.0 \(.*threads\) is not known, and debug information is not read")])
def test_a_perl_that_is_built_otherwise_or_unknown_is_told(version, reason, tmp_path):
    (tmp_path / "perl.c").write_text(NO_PERL % version)
    subprocess.run(["cc", "-rdynamic", tmp_path / "perl.c", "-o", tmp_path / "perl"], check=True)
    with spied.running(str(tmp_path / "perl"), stdin=subprocess.PIPE) as process:
        process.wait_for("ready")
        message = spied.spy("dump", process.pid, status=1)
    assert re.search(reason, message) and message.count("\n") == 1


def test_what_is_only_beginning_does_not_keep_others_from_being_looked_at(script, tmp_path):
    """It was waited for with 30 sleeps, before each look at the others."""
    (tmp_path / "perl.c").write_text(NO_PERL % 36)
    subprocess.run(["cc", "-rdynamic", tmp_path / "perl.c", "-o", tmp_path / "perl"], check=True)
    with spied.running(str(tmp_path / "perl"), stdin=subprocess.PIPE) as begins, spied.running(PERL, script(SHARES)) as process:
        begins.wait_for("ready")
        process.wait_for("ready")
        ran = subprocess.Popen([spied.SPY, "record", str(process.pid), str(begins.pid), "-r", "100", "-d", "900ms", "-o", tmp_path / "out"])
        _, status, usage = os.wait4(ran.pid, 0)
        ran.returncode = os.waitstatus_to_exitcode(status)
    looks = int(re.search(r'sample_ticks" value="(\d+)"', exported(tmp_path / "out", "--dump"))[1])
    assert ran.returncode == 1 and usage.ru_nvcsw < 15 * looks, (usage.ru_nvcsw, looks)


@pytest.mark.parametrize("mappings", [1, 65000])
def test_a_process_that_is_made_to_take_long_is_given_up_and_others_are_recorded(mappings, script, tmp_path):
    name = f"server-{os.getpid()}.pl"
    with spied.running(str(spied.compiled("spy/hostile.c")), mappings, name, stdin=subprocess.PIPE) as hostile, \
            spied.running(PERL, script(SHARES), name) as process:
        hostile.wait_for("ready")
        process.wait_for("ready")
        message = f"process {hostile.pid} is given up: it takes too long to find perl there"
        assert spied.spy("dump", hostile.pid, status=1) == f"nytp-spy: {message}\n"
        ran = subprocess.Popen([spied.SPY, "record", "-P", rf"{name}$", "-o", tmp_path / "out"], stderr=subprocess.PIPE, text=True)
        spied.wait_until_it_samples(ran.pid)
        ran.terminate()
        said = ran.communicate()[1]
    assert ran.returncode == 0 and said.count(message) == 1 and " samples of 1 thread " in said, said


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_where_proc_is_of_another_pid_namespace_this_is_told(script):
    """A number is another process there than for system calls."""
    ran = subprocess.run(["unshare", "-pf", "--kill-child", "sh", "-c", f"{PERL} -e 'print qq(ready\n); close STDOUT; sleep 100' >ready & "
                          f"until [ -s ready ]; do :; done; exec {spied.SPY} dump $!"], capture_output=True, text=True, cwd=script("").parent)
    assert ran.returncode == 1 and ran.stdout == "" and ran.stderr.count("\n") == 1
    assert ran.stderr.startswith("nytp-spy: /proc is not there, or tells of another pid namespace than that of nytp-spy: mount -t proc"), ran.stderr


def wait_a_while():
    """The start of a program is known to a hundredth of a second, and a file's time to another."""
    now = time.monotonic()
    spied.wait_until(lambda: time.monotonic() > now + 0.05)


def change(program):
    """As cp -p, rsync -a and dpkg do it: another file with an old time."""
    new = program.with_suffix(".new")
    new.write_text("# a new head\n" + program.read_text())
    os.utime(new, (1, 1))
    new.rename(program)


CHANGES = {"not at all": lambda program: None, "another file of an old time": change, "in its place": lambda program: program.write_text("# new\n" * 9),
           "its time is set back": lambda program: os.utime(program, (1, 1))}


@pytest.mark.parametrize("how", CHANGES)
def test_a_file_is_the_programs_source_unless_it_was_changed_after_the_start(how, script, tmp_path):
    """dump and record go by the same rule: both times of the file are older than the program. Exporters show nothing else in its place."""
    program = script(WAITS)
    with spied.running(PERL, program, stdin=subprocess.PIPE) as process:
        process.wait_for("ready")
        process.wait_until_it_waits()
        wait_a_while()
        CHANGES[how](program)
        shown = spied.spy("dump", process.pid)
        spied.spy("record", process.pid, "-o", tmp_path / "out", "-r", 1000, "-d", "100ms")
    listed = exported(tmp_path / "out", "--list=main::inner")
    told = exported(tmp_path / "out", "--list=main::inner", "--source-files")
    assert [("sysread STDIN" in text, "# new" in text or "# a new" in text) for text in (shown, listed, told)] == [(how == "not at all", False)] * 3
    assert ("(the file was changed since)" in shown) == (how != "not at all")


FORKS = WAITS.replace("outer();", r"""<STDIN>; my $pid = fork; waitpid($pid, 0), exit if $pid; print "forked $$\n"; outer();""")


@pytest.mark.parametrize("is_changed", [False, True])
def test_a_workers_source_is_what_its_parent_has_compiled(is_changed, script, tmp_path):
    """A file that was written between the start of the parent and that of the worker is shown of neither."""
    program = script(FORKS)
    with spied.running(PERL, program, stdin=subprocess.PIPE) as process:
        process.wait_for("ready")
        wait_a_while()
        if is_changed:
            change(program)
        wait_a_while()
        process.popen.stdin.write("\n")
        process.popen.stdin.flush()
        worker = process.wait_for("forked").split()[1]
        spied.spy("record", worker, "-o", tmp_path / "out", "-r", 1000, "-d", "100ms")
        shown = spied.spy("dump", worker)
        process.popen.stdin.close()
    for text in shown, exported(tmp_path / "out", "--list=main::inner", "--source-files"):
        assert ("sysread STDIN" in text) != is_changed and "# a new" not in text


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("has_call", [True, False], ids=["", "without openat2"])
@pytest.mark.parametrize("name", ["lib/Mod.pm", "../srv/lib/Mod.pm", "/srv/lib/Mod.pm", "link/Mod.pm", "up/Mod.pm"])
def test_names_lead_nowhere_out_of_the_programs_root(name, has_call, tmp_path):
    """Whether they are relative or not, by links and by `..`: what has that name for us is not shown."""
    host = tmp_path / "srv/lib"
    jail = tmp_path / "jail/srv"
    for folder, text in (host, "SECRET of the host"), (jail / "lib", "the jail's own line"):
        folder.mkdir(parents=True)
        (folder / "Mod.pm").write_text(f"{text}\n")
    os.symlink(host, jail / "link")
    os.symlink("../../../../../.." + str(host), jail / "up")
    code = f'$| = 1; chroot "{tmp_path}/jail" or die; chdir "/srv" or die; eval qq{{# line 1 "{name}"\nsub f {{ say "ready"; sleep 99 }}}}; f()'
    with spied.running(PERL, "-E", code) as process:
        process.wait_for("ready")
        process.wait_until_it_waits()
        command = [spied.SPY, "dump", str(process.pid)]
        filtered = [] if has_call else ["/usr/bin/python3", "-c", FILTERED.replace(READING, OPENING), str(errno.ENOSYS)]
        shown = subprocess.run(filtered + command, capture_output=True, text=True, check=True).stdout
        spied.spy("record", process.pid, "-o", tmp_path / "out", "-r", 1000, "-d", "100ms")
    kept = exported(tmp_path / "out", "--dump")
    is_there = name.endswith("lib/Mod.pm")
    assert f"main::f ({name}:1)" in shown and "/srv/" in kept and "SECRET" not in shown + kept
    assert ("the jail's own" in shown) == (is_there and has_call) and ("the jail's own" in kept) == is_there


def refusals():
    never = int(pathlib.Path("/proc/sys/kernel/pid_max").read_text())
    yield "no such process", [spied.SPY, "dump", str(never)], rf"there is no process {never}$"
    yield "no perl", [spied.SPY, "dump", str(os.getpid())], r"there is no perl in this process: it runs \S*python"
    yield "no number", [spied.SPY, "dump", "me"], r"this is no process id: me"
    yield "no match", [spied.SPY, "dump", "-P", "no-such-[p]rocess"], r"no process's command line matches"


def was_opened(path, during):
    """Whether anybody opened it meanwhile; a look at it without opening it is none (O_PATH)."""
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_NONBLOCK)
    assert watch >= 0 and libc.inotify_add_watch(watch, os.fsencode(path), 0x20) >= 0     # IN_OPEN
    during()
    with open(watch, "rb", buffering=0) as events:
        return events.read(1 << 12) is not None


@pytest.mark.parametrize("name", ["device", "FIFO"])
def test_what_a_program_calls_its_source_is_opened_only_if_it_is_a_file(name, tmp_path):
    """A device may do something when it is opened, as a watchdog or a tape."""
    if name == "device" and os.geteuid() != 0:
        pytest.skip("needs root to make a device")
    os.mknod(tmp_path / name, *((stat.S_IFCHR | 0o600, os.makedev(1, 5)) if name == "device" else (stat.S_IFIFO | 0o600,)))
    (tmp_path / "file").write_text("1\n")
    os.utime(tmp_path / "file", (1, 1))
    with spied.running(PERL, "-E", f'$| = 1; eval qq{{# line 1 "{tmp_path / name}"\nsub f {{ say "ready"; sleep 99 }}}}; eval qq{{# line 1 "{tmp_path}/file"\nf()}}') as process:
        process.wait_for("ready")
        process.wait_until_it_waits()
        look = lambda: spied.spy("dump", process.pid)
        assert not was_opened(tmp_path / name, look) and was_opened(tmp_path / "file", look)


@pytest.mark.parametrize("name", ["/dev/zero", "FIFO"])
def test_what_a_program_calls_its_source_is_not_waited_for(name, tmp_path):
    """Nor read without end."""
    os.mkfifo(tmp_path / "FIFO")
    with spied.running(PERL, "-e", f'$| = 1; eval qq{{# line 1 "{tmp_path / name}"\nprint "ready\n"; sleep 99}}') as process:
        process.wait_for("ready")
        process.wait_until_it_waits()
        assert re.search(rf"{name}:\d\)$", spied.spy("dump", process.pid), re.M)


def test_code_that_perl_made_itself_has_no_line_of_source(tmp_path):
    """That of -M is at line 0 of the script: there a text that was not read was looked through."""
    (tmp_path / "Slow.pm").write_text('package Slow; sub import { $| = 1; print "ready\\n"; sleep 99 } 1')
    (tmp_path / "app.pl").write_text("1;\n")
    with spied.running(PERL, "-I.", "-MSlow", "app.pl", cwd=tmp_path) as process:
        process.wait_for("ready")
        process.wait_until_it_waits()
        assert "(app.pl:0)" in spied.spy("dump", process.pid)


@pytest.mark.skipif(os.getuid() != 0, reason="needs root")
def test_root_reads_for_another_users_program_what_that_user_may_read():
    """The program says which file is its source."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        for name, mode in ("secret", 0o600), ("roots", 0o640), ("open", 0o644):
            path = pathlib.Path(folder, name)
            path.write_text(f"the text of {name}\n")
            path.chmod(mode)
            os.utime(path, (1, 1))
        os.symlink("open", f"{folder}/link")
        code = "".join(f'eval q{{# line 1 "{folder}/{name}"\nsub {name} {{ my $n; $n += $_ for 1 .. 1e5 }} }};' for name in ("secret", "roots", "link"))
        with spied.running(PERL, "-e", f'$| = 1; {code} print "ready\n"; while (1) {{ secret(); roots(); main::link() }}', user=65534, group=65534,
                           extra_groups=[]) as process:
            process.wait_for("ready")
            spied.spy("record", process.pid, "-d", "1s", "-r", "500", "-o", f"{folder}/out")
            text = exported(f"{folder}/out", "--dump") + spied.spy("dump", process.pid)
    assert "main::secret" in text and "main::roots" in text
    assert set(re.findall("the text of [a-z]+", text)) == {"the text of open"}


@pytest.mark.parametrize("ends, status", [("kill SEGV => $$", 128 + signal.SIGSEGV), ("exit 7", 7)])
def test_the_status_of_a_command_is_that_of_the_recording(ends, status, tmp_path):
    assert "samples of 1 thread" in spied.spy("record", "-o", tmp_path / "out", "--", PERL, "-e", f"1 for 1 .. 2e7; {ends}", status=status)
    assert "nothing was recorded" in spied.spy("record", "-o", tmp_path / "out", "--", "sh", "-c", ends.replace("kill SEGV =>", "kill -SEGV"), status=status)


def test_a_recording_of_a_while_is_there_before_the_command_ends(tmp_path):
    with subprocess.Popen([spied.SPY, "record", "-d", "1s", "-o", tmp_path / "out", "--", PERL, "-e", "1 while !-e 'end' && time - $^T < 30; mkdir 'ended'"], cwd=tmp_path,
                          stderr=subprocess.PIPE, text=True) as ran:
        said, is_there, has_ended = ran.stderr.readline(), (tmp_path / "out").exists(), (tmp_path / "ended").exists()
        (tmp_path / "end").touch()
        assert ran.wait(60) == 0
    assert "samples of 1 thread" in said and is_there and not has_ended


def test_an_output_that_cannot_be_written_is_told_before_anything_is_started(tmp_path):
    message = spied.spy("record", "-o", tmp_path / "none" / "out", "--", PERL, "-e", "open my $file, '>', 'started'", status=4, cwd=tmp_path)
    assert "No such file or directory" in message and not (tmp_path / "started").exists()


def test_a_process_that_is_none_is_told_and_the_others_are_recorded(script, tmp_path):
    with spied.running(PERL, script(SHARES)) as process:
        process.wait_for("ready")
        message = spied.spy("record", process.pid, 999999999, "-d", "300ms", "-o", tmp_path / "out", status=1)
    assert "there is no process 999999999" in message and "samples of 1 thread" in message
    assert "main::most" in exported(tmp_path / "out", "--top")


def test_a_recording_of_what_is_no_perl_ends(tmp_path):
    with subprocess.Popen(["sleep", "99"]) as other:
        message = spied.spy("record", other.pid, "-o", tmp_path / "out", status=1)
        other.kill()
    assert "there is no perl in this process" in message and "nothing was recorded" in message


AT_ONCE = "for (1 .. 25) { fork or exec $^X, '-e', '1 for 1 .. 5e6' } 1 while wait > 0"


def test_threads_that_cannot_be_recorded_are_told_and_the_others_are(tmp_path):
    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
    message = spied.spy("record", "-s", "-o", tmp_path / "out", "--", PERL, "-e", AT_ONCE, status=4, preexec_fn=few)
    assert message.count("not recorded: Too many open files") == 1 and re.search(r"samples of [1-9] threads?", message)
    assert exported(tmp_path / "out", "--top")
    def soft():
        resource.setrlimit(resource.RLIMIT_NOFILE, (20, 200))
    spied.spy("record", "-s", "-o", tmp_path / "out", "--", PERL, "-e", AT_ONCE, preexec_fn=soft)


def test_what_was_recorded_before_a_disk_was_full_is_kept(tmp_path):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 14, 1 << 14))
    with spied.running(PERL, "-e", "sub f { my $n = shift; $n ? f($n - 1) : do { 1 for 1 .. 100 } } $| = 1; print qq(ready\n); f(int rand 300) while 1") as process:
        process.wait_for("ready")
        ran = subprocess.run([spied.SPY, "record", str(process.pid), "-r", "10000", "-d", "2s", "-o", "-"], capture_output=True, preexec_fn=limit)
    message = ran.stderr.decode()
    assert ran.returncode == 4 and "a temporary file cannot be written: File too large; the samples of a thread end here" in message
    assert "samples of 1 thread" in message
    done = subprocess.run([EXPORT, "-q", "--top", "-"], input=ran.stdout, capture_output=True)
    assert done.returncode == 3 and b"main::f" in done.stdout


@pytest.mark.parametrize("text, pattern, status", [(b"\xff", "sleep 9 [?]$", 0), (b"a" * 3000, "(a+)+$b|other", 2)], ids=["no-utf8", "backtracking"])
def test_a_command_line_may_be_anything(text, pattern, status):
    with spied.running(PERL, "-e", "sleep 9", "x") as process, subprocess.Popen([PERL, "-e", "$| = 1; print 1; sleep 9", text], stdout=subprocess.PIPE) as other:
        other.stdout.read(1)
        spied.Process(other).wait_until_it_waits()
        told = spied.spy("dump", "-P", pattern, status=status)
        other.kill()
    assert process.pid and ("CORE::sleep" in told if status == 0 else "backtracks too much" in told)


def test_a_process_that_has_ended_is_told():
    """Of which its parent has not taken notice."""
    with subprocess.Popen(["true"]) as child:
        spied.wait_until(lambda: "Z" in open(f"/proc/{child.pid}/stat").read().rpartition(") ")[2])
        assert f": process {child.pid} has ended\n" in spied.spy("dump", child.pid, status=1)


@pytest.mark.parametrize("command, message", [pytest.param(c, m, id=i) for i, c, m in refusals()])
def test_a_refusal_says_why(command, message):
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode in (1, 2) and ran.stdout == ""
    assert re.search(message, ran.stderr) and ran.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [["dump", "--", "ls"], ["dump", "1", "--", "ls"], ["top", "--", "ls"], ["heap", "--", "ls"], ["record", "--core", "x"],
                                     ["top", "--core", "x"], ["dump", "--core", "x", "1"], ["heap", "--core", "x", "-P", "perl"], ["dumps"]], ids=" ".join)
def test_what_a_command_does_not_take_is_told(command):
    assert re.fullmatch(r"nytp-spy: (only record starts a program, not \w+|--core is for dump and heap, in place of a PID|there is no command dumps) "
                        r"\(--help tells more\)\n", spied.spy(*command, status=2))


@pytest.mark.parametrize("option, value", [*(("--rate", value) for value in ("2k", "1e3", "100abc", "4294967396", "18446744073709551617", "0", "-1", "")),
                                           *(("--duration", value) for value in ("0x1", "1e3", "inf", "0", "-1", "1.2.3", "5x", ""))])
def test_what_is_no_number_is_refused(option, value):
    assert f"{option} must be " in spied.spy("top", f"{option}={value}", 1, status=2)


def test_a_dump_of_processes_of_which_one_is_none_fails_and_tells_the_others(script):
    with spied.running(PERL, script(WAITS), stdin=subprocess.PIPE) as process:
        process.wait_for("ready")
        process.wait_until_it_waits()
        for pids in ([process.pid, 999999999], [999999999, process.pid]):
            ran = subprocess.run([spied.SPY, "dump", *map(str, pids)], capture_output=True, text=True)
            assert ran.returncode == 1 and ran.stderr == "nytp-spy: there is no process 999999999\n"
            assert ran.stdout.startswith("Process ") and "main::inner" in ran.stdout


# Its innermost sub has lost its body (sv.h: the first word of a head).
DAMAGED = """
open my $memory, "+<", "/proc/self/mem" or die $!; binmode $memory; $| = 1;
sub damaged { sysseek $memory, \\&damaged, 0; syswrite $memory, pack "Q", 8; print "ready\n"; sleep 99 }
damaged();
"""


def test_a_dump_that_cannot_read_a_stack_whole_fails(script):
    with spied.running(PERL, script(DAMAGED)) as process:
        process.wait_for("ready")
        ran = subprocess.run([spied.SPY, "dump", str(process.pid)], capture_output=True, text=True)
    assert ran.returncode == 1 and "    its stack could not be read whole\n" in ran.stdout, ran.stdout


@pytest.mark.parametrize("command", ["dump", "top -d 200ms", "heap"])
@pytest.mark.parametrize("is_closed", [False, True], ids=["full", "closed"])
def test_a_result_that_cannot_be_written_is_told(command, is_closed, script):
    with spied.running(PERL, script(WAITS), stdin=subprocess.PIPE) as process, open("/dev/full", "w") as full:
        process.wait_for("ready")
        ran = subprocess.run([spied.SPY, *command.split(), str(process.pid)], stdout=full, stderr=subprocess.PIPE, text=True,
                             preexec_fn=(lambda: os.close(1)) if is_closed else None)
    assert ran.returncode == 4 and re.fullmatch("nytp-spy: -: cannot .*\n", ran.stderr), ran


def test_what_a_pattern_finds_that_is_no_perl_is_left_out(script, tmp_path):
    name = f"worker-{os.getpid()}.pl"
    with spied.running("sh", "-c", f"echo ready; read never; : {name}", stdin=subprocess.PIPE) as other:
        other.wait_for("ready")
        message = spied.spy("dump", "-P", rf"{name}$", status=1)
        assert message == f"nytp-spy: no process whose command line matches {name}$ is a perl\n"
        with spied.running(PERL, script(WAITS, name), stdin=subprocess.PIPE) as process:
            process.wait_for("ready")
            process.wait_until_it_waits()
            for command in ["dump"], ["record", "-d", "1200ms", "-o", tmp_path / "out"]:
                ran = subprocess.run([spied.SPY, *command, "-P", rf"{name}$"], capture_output=True, text=True)
                assert ran.returncode == 0 and "no perl" not in ran.stderr, ran.stderr
    assert "main::inner" in exported(tmp_path / "out", "--top")


def test_a_thread_of_the_kernel_is_told():
    stat = pathlib.Path("/proc/2/stat")
    if not stat.exists() or not int(stat.read_text().rpartition(")")[2].split()[6]) & 0x200000:    # PF_KTHREAD
        pytest.skip("no threads of the kernel are seen here, as in a container")
    assert spied.spy("dump", 2, status=1) == "nytp-spy: process 2 is a thread of the kernel: there is no perl in it\n"


def test_who_has_the_right_and_is_refused_is_not_told_to_get_it(script):
    """Who is root in a user namespace has CAP_SYS_PTRACE there alone."""
    with spied.running(PERL, script(WAITS), stdin=subprocess.PIPE) as process:
        process.wait_for("ready")
        if subprocess.run(["unshare", "-Ur", "true"], stderr=subprocess.DEVNULL).returncode:
            pytest.skip("no user namespace may be made here")
        ran = subprocess.run(["unshare", "-Ur", spied.SPY, "dump", str(process.pid)], capture_output=True, text=True)
    assert ran.returncode == 1 and ran.stderr.count("\n") == 1
    assert f": process {process.pid} may not be looked at, although nytp-spy has CAP_SYS_PTRACE: it is of another user namespace" in ran.stderr


@pytest.fixture
def open_spy(open_folder):
    """A copy of nytp-spy where every user may run it."""
    command = open_folder / "nytp-spy"
    command.write_bytes(spied.SPY.read_bytes())
    command.chmod(0o755)
    return command


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_another_users_process_says_who_may(script, open_spy):
    with spied.running(PERL, script(WAITS), stdin=subprocess.PIPE) as process:
        process.wait_for("ready")
        process.wait_until_it_waits()
        ran = subprocess.run(as_nobody(open_spy, "dump", process.pid), capture_output=True, text=True)
        assert ran.returncode == 1
        assert "is of user 0, you are 65534: use sudo" in ran.stderr
    with spied.running(" ".join(as_nobody(PERL)), "-e", '$| = 1; print "ready\n"; <STDIN>', stdin=subprocess.PIPE) as process:
        process.wait_for("ready")
        process.wait_until_it_waits()
        ran = subprocess.run(as_nobody(open_spy, "dump", process.pid), capture_output=True, text=True)
        assert ran.returncode == 0 and "CORE::readline" in ran.stdout


CLOSED = """
use strict; $| = 1;
($(, $)) = (65534, '65534 65534');
($<, $>) = (65534, 65534);
print "ready\\n";
my $line = <STDIN>;
"""

# Root without the right to look at any process, in a tree of files that tells what the case says: of no container, if nothing.
WITHOUT_RIGHTS = """
mount -t tmpfs none /mnt && mkdir /mnt/run /mnt/mnt || exit 99
for name in /*; do
    case $name in /run | /mnt) continue ;; esac
    [ -L $name ] && cp -P $name /mnt || { [ -d $name ] && mkdir /mnt$name && mount --rbind $name /mnt$name; }
done
mount -t tmpfs none /mnt/proc/sys/kernel && mkdir /mnt/proc/sys/kernel/yama && cd /mnt && %s || exit 99
exec chroot /mnt setpriv --bounding-set=-sys_ptrace "$@"
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("with_files, reason", [
    ("true", r"process \d+ may not be looked at; it takes the same user or CAP_SYS_PTRACE$"),
    ("echo 1 >proc/sys/kernel/yama/ptrace_scope", r"yama allows only parents to look \(kernel.yama.ptrace_scope=1\): use sudo, or "
     r"sysctl kernel.yama.ptrace_scope=0, or start it with nytp spy record -- COMMAND$"),
    ("touch .dockerenv", r"this container may not read .*: start it with --cap-add SYS_PTRACE"),
], ids=["no right", "yama", "container"])
def test_what_forbids_to_look_is_told_with_the_way_out(with_files, reason):
    command = ["unshare", "-m", "sh", "-c", WITHOUT_RIGHTS % with_files, "sh"]
    with spied.running(" ".join(as_nobody(PERL)), "-e", '$| = 1; print "ready\\n"; <STDIN>', stdin=subprocess.PIPE) as process:
        process.wait_for("ready")
        ran = subprocess.run([*command, spied.SPY, "dump", str(process.pid)], capture_output=True, text=True)
    if ran.returncode == 99:
        pytest.skip("no file systems may be mounted here")
    assert ran.returncode == 1 and re.search(reason, ran.stderr), ran.stderr
    assert ran.stdout == "" and ran.stderr.count("\n") == 1


# Traces the process without a stop, until it is killed.
TRACER = """
import ctypes, sys
PTRACE_SEIZE = 0x4206
print(ctypes.CDLL(None).ptrace(PTRACE_SEIZE, int(sys.argv[1]), None, None), flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_who_traces_is_told_where_that_may_be_why(script):
    """A process that is traced can be looked at, and is not stopped."""
    with spied.running(PERL, script(WAITS), stdin=subprocess.PIPE) as process:
        process.wait_for("ready")
        with subprocess.Popen([sys.executable, "-c", TRACER, str(process.pid)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as tracer:
            assert tracer.stdout.readline() == "0\n"
            looked = spied.spy("dump", process.pid)
            command = ["unshare", "-m", "sh", "-c", WITHOUT_RIGHTS % "true", "sh"]
            ran = subprocess.run([*command, spied.SPY, "dump", str(process.pid)], capture_output=True, text=True)
            tracer.kill()
    if ran.returncode == 99:
        pytest.skip("no file systems may be mounted here")
    assert "CORE::sysread" in looked
    assert ran.returncode == 1 and f": process {tracer.pid} traces it, and you are not its user" in ran.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_program_that_changed_its_user_is_closed_to_that(script, open_spy):
    """As one that is set-uid: the kernel keeps what root's process knew from the user that it became."""
    with spied.running(PERL, script(CLOSED), stdin=subprocess.PIPE) as process:
        process.wait_for("ready")
        process.wait_until_it_waits()
        ran = subprocess.run(as_nobody(open_spy, "dump", process.pid), capture_output=True, text=True)
        assert ran.returncode == 1 and "has changed its user or is set-uid, and so is closed to its own user: use sudo" in ran.stderr
        assert "CORE::readline" in spied.spy("dump", process.pid)


# Runs a command to which the kernel refuses process_vm_readv, as an old one or a container's filter does: a program of four
# instructions for seccomp(2).
READING = '{"x86_64": 310, "aarch64": 270}[os.uname().machine]'   # process_vm_readv
OPENING = "437"                                                    # openat2, everywhere
FILTERED = """
import ctypes, os, struct, sys
errno, libc = int(sys.argv[1]), ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 310, "aarch64": 270}[os.uname().machine]
code = struct.pack("=HBBI", 0x20, 0, 0, 0) + struct.pack("=HBBI", 0x15, 0, 1, number) \\
    + struct.pack("=HBBI", 0x06, 0, 0, 0x00050000 | errno) + struct.pack("=HBBI", 0x06, 0, 0, 0x7fff0000)
buffer = ctypes.create_string_buffer(code)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, struct.pack("HxxxxxxP", 4, ctypes.addressof(buffer)), 0, 0) == 0
os.execv(sys.argv[2], sys.argv[2:])
"""


@pytest.mark.parametrize("errno", [errno.ENOSYS, errno.EPERM], ids=["no such call", "filtered"])
def test_where_the_system_call_is_not_to_be_had_memory_is_read_as_a_file(errno, script):
    with spied.running(PERL, script(WAITS), stdin=subprocess.PIPE) as process:
        process.wait_for("ready")
        process.wait_until_it_waits()
        ran = subprocess.run(["/usr/bin/python3", "-c", FILTERED, str(errno), spied.SPY, "dump", str(process.pid)],
                             capture_output=True, text=True)
    assert ran.returncode == 0 and "main::inner" in ran.stdout, ran.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("errno", [errno.ENOSYS, errno.EPERM], ids=["no such call", "filtered"])
def test_where_neither_the_call_nor_the_file_is_to_be_had_is_told_who_may(errno, script, open_spy):
    with spied.running(PERL, script(WAITS), stdin=subprocess.PIPE) as process:
        process.wait_for("ready")
        process.wait_until_it_waits()
        filtered = ["/usr/bin/python3", "-c", FILTERED, str(errno), open_spy, "dump", process.pid]
        ran = subprocess.run(as_nobody(*filtered), capture_output=True, text=True)
    assert ran.returncode == 1 and ran.stdout == "", ran.stderr
    assert ran.stderr.count("\n") == 1 and "is of user 0, you are 65534: use sudo" in ran.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_program_in_a_container_is_looked_at_from_outside(script):
    """With process numbers and files of its own: threads are found by the numbers that they have inside."""
    with spied.running("unshare -pmf --kill-child --mount-proc " + PERL, script(THREADS)) as outer:
        outer.wait_for("all")
        inner = int(open(f"/proc/{outer.pid}/task/{outer.pid}/children").read())
        spied.Process(argparse.Namespace(pid=inner)).wait_until_it_waits()
        text = spied.spy("dump", inner)
    assert sorted(re.findall(r"^Thread (\d+) \[\d+\] \(waiting", text, re.M)) == ["0", "1", "2", "3"]
    assert "sub waits { my ($n) = @_" in text    # the source


def test_a_perl_that_was_replaced_on_disk_is_looked_at(script, tmp_path):
    perl = tmp_path / "perl"
    perl.write_bytes(open(PERL, "rb").read())
    perl.chmod(0o755)
    with spied.running(str(perl), script(WAITS), stdin=subprocess.PIPE) as process:
        process.wait_for("ready")
        process.wait_until_it_waits()
        perl.unlink()
        perl.write_text("another version\n")
        assert "main::inner" in spied.spy("dump", process.pid)


def test_manual_page_help_and_readme_name_the_same():
    options = set(re.findall(r"--([a-z][a-z-]+)", spied.spy("--help")))
    page = " ".join((spied.ROOT / "doc" / "nytp-spy.1").read_text().replace("\\-", "-").split())
    assert set(re.findall(r"--([a-z][a-z-]+)", page)) - {"cap-add", "list-formats"} == options
    least = re.search(r"LEAST_OBJECTS = (\d+)", (spied.ROOT / "spy" / "perl" / "holders.c").read_text())[1]
    assert f"of {least} objects or more what holds one of them" in page
    for command in "dump", "record", "top", "heap":
        assert f"nytp spy {command}" in page and f"nytp spy {command}" in (spied.ROOT / "README.md").read_text()
