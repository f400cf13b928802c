# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""What a recording of nytp-spy holds, and what it takes."""

import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest

import spied
from spied import EXPORT, LOOKS, OF_SPY, PERL, SHARES, WAITS, exported


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
        ran = spied.run("record", process.pid, "-o", tmp_path / "out", "-r", "250", "-d", "4s")
        assert ran.returncode == 0, ran.stderr
        os.kill(process.pid, signal.SIGUSR1)
        true = {name: float(share) for name, share in (line.split() for line in process.popen.stdout)}
    late = re.search(r"(\d+) % of the looks came late", ran.stderr)
    cpu = {row["sub"][6:]: int(row["cpu_ns"]) for row in spied.rows(tmp_path / "out")}
    n = samples_that_count(tmp_path / "out")
    for name, share in true.items():
        bound = 6 * (share * (1 - share) / n) ** 0.5 + (int(late[1]) / 100 if late else 0) + 0.1
        assert abs(cpu.get(name, 0) / sum(cpu[name] for name in true if name in cpu) - share) <= bound, (name, cpu, true, n, ran.stderr)


STILL = r"""
use Time::HiRes 'clock';
my $text = "b" x 100;
sub still { my $n = () = $text =~ /b*b*[cd]/ }
sub moves { my $n = 0; $n++ while $n < 60_000; return $n }
sub took { my $sub = shift; my $began = clock(); $sub->() for 1 .. 100; return clock() - $began }
my ($still, $moves) = (took(\&still), took(\&moves));
$| = 1;
print "share ", $still / ($still + $moves), "\n";
while (1) { still(); moves() }
"""


def ran_s(pid):
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def test_what_stands_still_while_it_is_looked_at_has_its_share(script, tmp_path):
    """A long regular expression: that it runs is not seen, and may not be taken for that it does not. It is some half of the time. Of 400
    samples and more a quarter less or more is ten standard deviations. Chance: 1e-7"""
    with spied.running(PERL, script(STILL)) as process:
        spied.put_first(process.pid)
        share = float(process.wait_for("share").split()[1])
        spied.spy("record", process.pid, "-o", tmp_path / "out", "-r", "250", "-d", "4s")
    cpu = {row["sub"]: int(row["cpu_ns"]) for row in spied.rows(tmp_path / "out")}
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
    rows = spied.rows(tmp_path / "out")
    assert 0.8 * (least - 0.1) < sum(int(row["cpu_ns"]) for row in rows) / 1e9 < most + 0.01, (least, most)


@pytest.mark.parametrize("options", [[], ["--no-realtime"]], ids=["by-default", "no-realtime"])
def test_real_time_priority_is_taken_where_it_may_be_had_and_not_refused(options, script, tmp_path):
    may = subprocess.run([sys.executable, "-c", "import os; os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))"],
                         stderr=subprocess.DEVNULL).returncode == 0

    with spied.ready(PERL, script(WAITS)) as process:
        with spied.running(str(spied.SPY), "record", process.pid, "-r", "1000", *options, "-o", tmp_path / "out") as spy:
            spied.wait_until(lambda: spied.sleeps(spy.pid) > 100)  # it has looked
            policy = os.sched_getscheduler(spy.pid) & ~os.SCHED_RESET_ON_FORK
    assert policy == (os.SCHED_RR if may and not options else os.SCHED_OTHER)


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


def test_a_recording_is_whole_and_every_exporter_reads_it(script, tmp_path):
    out = tmp_path / "out"
    program = script("use strict; sub f { my $x = 0; $x += $_ for 1 .. 20000; $x }\n"
                     "my $n = eval 'f() for 1 .. 300; 1';\nsleep 1;\nexit 3;\n")
    ran = spied.run("record", "-o", out, "-r", "300", "--", PERL, program)
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

LOOKED = "package Looked;\n" + LOOKS + r"""sub import { my $before = looks(); 1 until $ENV{ALONE} || looks() > $before + 20 }
*unimport = \&import;
1;
"""

OTHER = """

BEGIN { Looked->import }
1;
"""


def recorded_by_both(program, folder, name, **environment):
    """(sub, line) of the subs of this name in a recording of perl's recorder and of nytp-spy, which are files "own" and "out"."""
    environment = {**os.environ, **environment}
    blib = f"{spied.ROOT}/blib/lib:{spied.ROOT}/blib/arch"
    subprocess.run([PERL, "-d:NYTProf", program], check=True,
                   env={**environment, "ALONE": "1", "PERL5LIB": blib, "NYTPROF": f"file={folder}/own"})
    spied.spy("record", "-r", "1000", "-o", folder / "out", "--", PERL, program, env=environment)
    return [{(row["sub"], row["line"]) for row in spied.rows(folder / file) if name in row["sub"]} for file in ("own", "out")]


def test_begin_blocks_are_named_as_by_a_recorder(script, tmp_path):
    """By the lines on which they begin, so that a comparison pairs them; one of the same line in another file has a number."""
    program = script(BLOCKS)
    script(LOOKED, "Looked.pm")
    script(OTHER, "Other.pm")
    own, out = recorded_by_both(program, tmp_path, "main::BEGIN", BLOCKS=str(tmp_path))
    quick = ("main::BEGIN@2", "2")
    assert out - {quick} == own - {quick} and len(out) >= 10
    for base, new in (("own", "out"), ("out", "own")):      # one of them has not seen all: their order tells nothing
        rows = spied.rows(tmp_path / new, f"--diff={tmp_path / base}")
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
    own, out = ({sub for sub, _ in subs} for subs in recorded_by_both(script(ANONYMOUS), tmp_path, "main::__ANON__"))
    quick = {name for name in own if name.endswith(":29]")}     # the one that makes another and is left
    assert len(quick) == 1 and out - quick == own - quick and len(out - quick) == 8


XSUBS = LOOKS + r"""use List::Util qw(sum max); use Scalar::Util qw(blessed looks_like_number);
my @rows = map { { id => $_, list => [1 .. 8], object => bless {} } } 1 .. 200;
sub work {
    my $t = 0;
    for my $r (@rows) { $t += sum(@{ $r->{list} }); $t++ if blessed($r->{object}); $t += max(@{ $r->{list} }); $t++ if looks_like_number($r->{id}) }
}
my $before = looks();
do { work() for 1 .. 50 } until looks() > $before + 1500;
"""


def test_xsubs_that_are_over_soon_are_seen(script, tmp_path):
    """Their calls name them. They have a third of the time here, and without their names a seventh was seen."""
    spied.spy("record", "-r", "1000", "-o", tmp_path / "out", "--", PERL, script(XSUBS))
    own = {row["sub"]: int(row["exclusive_ns"]) for row in spied.rows(tmp_path / "out")}
    xsubs = sum(ns for sub, ns in own.items() if re.fullmatch(r"(List|Scalar)::Util::[a-z]\w+", sub))
    assert xsubs > 0.22 * (xsubs + own["main::work"])   # six standard deviations of 800 samples. Chance: 1e-9


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
    program = script("for (1 .. 1500) { eval q{my $before = looks(); 1 until looks() > $before + 3} }\n" + LOOKS)
    ran = spied.run("record", "-r", "5000", "-o", tmp_path / "out", "--", PERL, program)
    assert ran.returncode == 0 and "more than 1000 string evals were seen" in ran.stderr
    names = re.findall(r'NEW_FID .* eval_fid=(\d+) eval_line=(\d+) .*name="\(eval (\d+)\)"', exported(tmp_path / "out", "--dump"))
    assert len(names) <= 1002 and ("1", "1", "0") in names


@pytest.mark.parametrize("text", ["require './Work.pm';", "$0 = 'worker 3'; require './Work.pm';", "BEGIN { $0 = 'worker 3' } use lib '.'; use Work;"],
                         ids=["file", "renamed", "compiling"])
def test_the_main_program_is_in_its_own_file_where_all_samples_are_in_another(text, script, tmp_path):
    """The file that is told first, or that ran first, is another. The first sample is in its own calls, too."""
    script("package Work; sub spins { print \"ready\\n\"; 1 while 1 } $| = 1; spins();", "Work.pm")
    with spied.ready(PERL, script(text), cwd=tmp_path) as process:
        spied.spy("record", process.pid, "-d", 0.5, "-r", 1000, "-o", tmp_path / "out")
    rows = {row["sub"]: row for row in spied.rows(tmp_path / "out")}
    assert rows["main::RUNTIME"]["file"] == str(tmp_path / "app.pl") and rows["Work::spins"]["file"].endswith("/Work.pm")
    assert rows["main::RUNTIME"]["samples"] == "0", rows


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
    """It took 29 kB and a descriptor for each of a hundred. Some are open where it is just looking into files."""
    ran = spied.run("record", "-s", "-r", "20", "-o", tmp_path / "out", "--", PERL, script(MANY))
    _, _, second, n_files, third, n_files_then = map(int, ran.stdout.split())
    assert third - second < 1000 and max(n_files, n_files_then) < 50, ran.stdout


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
    ran = spied.run("record", "-o", tmp_path / "out", "--", PERL, script(ONE_BY_ONE))
    assert ran.returncode == 0 and "samples of 4 threads" in ran.stderr, ran.stderr


def test_samples_of_waiting_can_be_left_out(script, tmp_path):
    program = script("sub f { my $x = 0; $x += $_ for 1 .. 10000000 } f(); select undef, undef, undef, 2;\n")
    spied.spy("record", "--no-idle", "-o", tmp_path / "out", "--", PERL, program)
    rows = spied.rows(tmp_path / "out")
    # as it falls asleep, and until it has a processor again, instead of some 200
    assert sum(int(row["samples"]) + int(row["calls"]) for row in rows if "sselect" in row["sub"]) <= 100


def test_the_target_is_never_stopped_nor_traced(script, tmp_path):
    states = set()
    with spied.ready(PERL, script(SHARES)) as process:
        with subprocess.Popen([spied.SPY, "record", str(process.pid), "-o", tmp_path / "out", "-r", "1000", "-d", "2s"],
                              stderr=subprocess.PIPE) as recording:
            while recording.poll() is None:
                status = open(f"/proc/{process.pid}/status").read()
                states.add((re.search(r"State:\t(.)", status)[1], re.search(r"TracerPid:\t(\d+)", status)[1]))
    assert recording.returncode == 0
    assert states <= {("R", "0"), ("S", "0"), ("D", "0")} and states


def test_a_killed_spy_leaves_the_target_as_it_was(script, tmp_path):
    with spied.ready(PERL, script(SHARES)) as process:
        with subprocess.Popen([spied.SPY, "record", str(process.pid), "-o", tmp_path / "out", "-r", "1000"]) as recording:
            spied.wait_until_it_samples(recording.pid)
            recording.kill()
        os.kill(process.pid, signal.SIGUSR1)
        assert len(process.popen.stdout.readlines()) == 3
        assert process.popen.wait() == 0
    assert not (tmp_path / "out").exists()
