# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""All ways in which a recording of nytp-spy, the program that it has started, or one that runs already can end or stop: the status that
comes back, and what is on disk."""

import contextlib
import os
import pathlib
import re
import resource
import signal
import subprocess
import time

import pytest

import spied
from jobs import Job
from spied import EXPORT, LOOKS, PERL, exported


# A signal's meaning: "saves": works on until nytp-spy has looked at it there, tells how many came and exits with 7; "leaves": exits with 7;
# "stays": tells each.
APP = "use strict; $| = 1;\n" + LOOKS + r"""
my ($how, $n, $is_ready) = (shift, 0);
sub saving { my $before = looks(); 1 until looks() > $before + 20; print "got $n\n"; exit 7 }
sub work { print "ready\n" if !$is_ready++; my $x = 0; $x += $_ for 1 .. 20000; $x }
my %on_signal = (saves => sub { saving() if ++$n == 1 }, leaves => sub { exit 7 }, stays => sub { $n++; print "SIG$_[0] $n\n" });
$how && ($SIG{$_} = $on_signal{$how}) for qw(INT TERM HUP QUIT USR1 USR2);
work() while 1;
"""


@pytest.fixture
def app(tmp_path):
    (tmp_path / "app.pl").write_text(APP)
    return tmp_path / "app.pl"


def subs_in(out):
    """Those of a recording, which is whole."""
    checked = subprocess.run([EXPORT, "--check", out], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    return set(re.findall(r"\bmain::\w+", exported(out, "--csv")))


def with_signals_as_by_default():
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT:
        signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def recording(*arguments, **options):
    """nytp-spy, which has taken a sample."""
    popen = subprocess.Popen([str(spied.SPY), "record", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             preexec_fn=with_signals_as_by_default, start_new_session=True, **options)
    try:
        spied.wait_until_it_samples(popen.pid)
        yield popen
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(popen.pid, signal.SIGKILL)
        print(popen.communicate()[1])    # which pytest shows if the test failed


def children_of(spy):
    return [int(pid) for pid in pathlib.Path(f"/proc/{spy.pid}/task/{spy.pid}/children").read_text().split()]


def command_of(spy):
    return children_of(spy)[0]


def state_of(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]


def has_to_handle(pid, number):
    """Whether a signal waits for the process. At its witness, which the kernel sends it to before COMMAND (the newest is first), it waits
    until nytp-spy has handled its own: two that come before that are one."""
    pending = re.search(r"^ShdPnd:\s*(\w+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)[1]
    return int(pending, 16) >> (number - 1) & 1


@pytest.mark.parametrize("end, status", [
    ("exit 0", 0), ("exit 3", 3), ("die", 255), ("kill KILL => $$", 137), ("kill SEGV => $$", 139),
    ("require POSIX; POSIX::_exit(4)", 4), ("exec 'sh', '-c', 'exit 6'", 6)])
def test_the_status_of_a_command_is_that_of_the_recording(end, status, tmp_path):
    program = f"sub work {{ 1 for 1 .. 1e7 }} work(); {end}"
    spied.spy("record", "-o", tmp_path / "out", "-r", "1000", "--", PERL, "-e", program, status=status,
              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
    assert "main::work" in subs_in(tmp_path / "out")


@pytest.mark.parametrize("end, status", [("kill -SEGV $$", 139), ("exit 7", 7)])
def test_so_it_is_of_a_command_that_is_no_perl(end, status, tmp_path):
    assert "nothing was recorded" in spied.spy("record", "-o", tmp_path / "out", "--", "sh", "-c", end, status=status)


@pytest.mark.parametrize("mode, status", [(None, 127), (0o644, 126)], ids=["not found", "not executable"])
def test_a_command_that_cannot_be_run(mode, status, tmp_path):
    command, out = tmp_path / "command", tmp_path / "out"
    if mode is not None:
        command.write_text("#!/bin/sh\n")
        command.chmod(mode)
    ran = spied.run("record", "-o", out, "--", command)
    assert ran.returncode == status and not out.exists() and f"{command}: " in ran.stderr


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "QUIT", "USR1", "USR2"])
def test_a_signal_is_passed_on_and_the_end_of_command_is_recorded(name, app, tmp_path):
    out = tmp_path / "out"
    with recording("-o", out, "--", PERL, app, "saves") as spy:
        assert spy.stdout.readline() == "ready\n"
        spy.send_signal(getattr(signal, f"SIG{name}"))
        assert spy.wait(60) == 7
        assert spy.stdout.read() == "got 1\n"
    assert "main::saving" in subs_in(out)


@pytest.mark.parametrize("how, name", [("group", "INT"), ("group", "USR1"), ("each", "INT"), ("each", "USR1"), ("timeout", "TERM"), ("timeout", "USR1")])
def test_a_signal_to_the_whole_group_reaches_command_once(how, name, app, tmp_path):
    """Whether it is sent to the group, to each of its processes as systemd does, or as timeout(1) does to one of them and to all. What
    nytp-spy alone has afterwards is passed on behind it, so that COMMAND would have told two before. Twice, as perl may call
    the handlers of two signals that came at once in the other order."""
    number, last = getattr(signal, f"SIG{name}"), signal.SIGUSR2
    with recording("-o", tmp_path / "out", "--", PERL, app, "stays") as spy:
        spy.stdout.readline()
        command, witness = children_of(spy)[:2]
        if how == "each":
            for pid in witness, command, spy.pid:
                os.kill(pid, number)
        if how == "timeout":    # whatever time there is between the two
            os.kill(witness, signal.SIGSTOP)
            spy.send_signal(number)
        if how != "each":
            os.killpg(spy.pid, number)
        assert spy.stdout.readline() == f"SIG{name} 1\n"
        os.kill(witness, signal.SIGCONT)
        for n in 2, 3:
            spy.send_signal(last)
            assert spy.stdout.readline() == f"SIGUSR2 {n}\n"
        assert spy.poll() is None


@pytest.mark.parametrize("name", ["TERM", "HUP"])
def test_a_command_that_a_signal_ends(name, app, tmp_path):
    out = tmp_path / "out"
    with recording("-o", out, "--", PERL, app) as spy:
        spy.stdout.readline()
        command = command_of(spy)
        spied.wait_until_it_has_looked(spy.pid)
        spy.send_signal(getattr(signal, f"SIG{name}"))
        status = spy.wait(60)
        assert status == 128 + getattr(signal, f"SIG{name}") and not os.path.exists(f"/proc/{command}")
    assert "main::work" in subs_in(out)


@contextlib.contextmanager
def terminal(*arguments):
    """nytp-spy record in a terminal, which has taken a sample."""
    with contextlib.closing(Job("record", *arguments)) as shown:
        shown.wait_for(rb"ready")
        spied.wait_until_it_samples(shown.pid)
        yield shown


def test_ctrl_c_is_commands_and_its_end_is_recorded(app, tmp_path):
    """COMMAND has it once, from the terminal."""
    out = tmp_path / "out"
    with terminal("-o", out, "--", PERL, app, "saves") as shown:
        shown.press(b"\x03")
        assert shown.line() == "7"
        shown.drain()
        assert b"got 1" in shown.shown
    assert "main::saving" in subs_in(out)


def test_a_second_ctrl_c_leaves_at_once(app, tmp_path):
    out = tmp_path / "out"
    with terminal("-o", out, "--", PERL, app, "stays") as shown:
        command, witness = children_of(shown)[:2]
        shown.press(b"\x03")
        shown.wait_for(b"SIGINT 1")
        spied.wait_until(lambda: not has_to_handle(witness, signal.SIGINT))
        shown.press(b"\x03")
        assert shown.line() == "130" and state_of(command) in "RS"
    assert "main::work" in subs_in(out)


def test_ctrl_z_stops_both_and_they_go_on(app, tmp_path):
    out = tmp_path / "out"
    with terminal("-o", out, "--", PERL, app, "saves") as shown:
        command = command_of(shown)
        shown.press(b"\x1a")
        assert shown.line() == "stopped"
        spied.wait_until(lambda: state_of(command) == "T")
        os.killpg(shown.pid, signal.SIGCONT)
        spied.wait_until(lambda: state_of(command) in "RS" and state_of(shown.pid) in "RS")
        shown.press(b"\x03")
        assert shown.line() == "7"
    assert "main::saving" in subs_in(out)


def test_the_time_in_which_a_recording_stood_still_is_nobodys(app, tmp_path):
    """It was all of the one sample that came next. A second is more than any look but that one can be late by (a wait for an event
    in the test is none of its samples)."""
    out = tmp_path / "out"
    with recording("-o", out, "--", PERL, app, "saves") as spy:
        spy.stdout.readline()
        before = time.monotonic()
        spy.send_signal(signal.SIGSTOP)
        spied.wait_until(lambda: state_of(spy.pid) == "T")
        stopped = time.monotonic()
        spied.wait_until(lambda: time.monotonic() > stopped + 2)
        still = time.monotonic() - stopped
        spy.send_signal(signal.SIGCONT)
        spy.send_signal(signal.SIGTERM)
        assert spy.wait(60) == 7
        whole = time.monotonic() - before
    ticks = [int(n) for n in re.findall(r"TIME_LINE ticks=(\d+)", exported(out, "--dump"))]
    assert max(ticks) / 1e7 < max(whole - still, 1)


def test_a_command_that_stops_itself_is_waited_for(app, tmp_path):
    out = tmp_path / "out"
    with recording("-o", out, "--", PERL, app, "saves") as spy:
        spy.stdout.readline()
        command = command_of(spy)
        os.kill(command, signal.SIGSTOP)
        spied.wait_until(lambda: state_of(command) == "T")
        assert spy.poll() is None
        os.kill(command, signal.SIGCONT)
        spy.send_signal(signal.SIGTERM)
        assert spy.wait(60) == 7
    assert "main::saving" in subs_in(out)


def test_a_signal_after_the_recording_is_over_is_passed_on_too(app, tmp_path):
    out = tmp_path / "out"
    with recording("-d", "300ms", "-o", out, "--", PERL, app, "leaves") as spy:
        spy.stdout.readline()
        spied.wait_until(out.exists)
        spy.send_signal(signal.SIGTERM)
        assert spy.wait(60) == 7
    assert subs_in(out) & {"main::RUNTIME", "main::work"}    # the command may not have had a turn yet


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "QUIT"])
def test_a_recording_of_what_runs_already_ends_and_leaves_it(name, app, tmp_path):
    out = tmp_path / "out"
    with spied.ready(PERL, app) as process:
        with recording(process.pid, "-o", out) as spy:
            spy.send_signal(getattr(signal, f"SIG{name}"))
            assert spy.wait(60) == 0
        assert state_of(process.pid) in "RS"
    assert "main::work" in subs_in(out)


def test_a_target_that_goes_ends_the_recording(app, tmp_path):
    out = tmp_path / "out"
    with spied.ready(PERL, app) as process:
        with recording(process.pid, "-o", out) as spy:
            process.popen.kill()
            assert spy.wait(60) == 0
    assert "main::work" in subs_in(out)


def test_a_full_disk_is_told_and_the_status_is_4(tmp_path):
    ran = spied.run("record", "-o", "/dev/full", "--", PERL, "-e", "1 for 1 .. 2e7")
    assert ran.returncode == 4 and "No space left on device" in ran.stderr


@pytest.mark.parametrize("output, to", [("-", None), ("/dev/stdout", None), ("printed", "printed")])
def test_an_output_that_command_prints_to_is_refused(output, to, tmp_path):
    with open(tmp_path / (to or "other"), "w") as printed:
        ran = subprocess.run([spied.SPY, "record", "-o", output, "--", PERL, "-e", "open my $file, '>', 'started'"], cwd=tmp_path, stdout=printed,
                             stderr=subprocess.PIPE, text=True)
    assert ran.returncode == 2 and "where /usr/bin/perl prints, too" in ran.stderr
    assert not (tmp_path / "started").exists()


def test_another_descriptor_takes_the_profile_beside_what_command_prints(tmp_path):
    out = tmp_path / "out"
    ran = subprocess.run(["sh", "-c", f"{spied.SPY} record -o /dev/fd/3 -- {PERL} -e 'print qq(printed\\n); 1 for 1 .. 2e7' 3>{out}"], capture_output=True, text=True)
    assert ran.returncode == 0 and ran.stdout == "printed\n" and subs_in(out)


# perl has no statement while it begins and while it ends. This one puts a 0 into its PL_curcop, which is the first word of its heap that points
# to the statement, until nytp-spy has had a processor 20 times; the next statement mends it.
NO_STATEMENT = r"""use B;
open my $memory, '+<', '/proc/self/mem' or die;
my $parent = getppid;
open my $spy, '<', "/proc/$parent/schedstat" or die;
my ($heap) = do { open my $maps, '<', '/proc/self/maps' or die; map { /^(\w+)-.*\[heap\]/ ? hex $1 : () } <$maps> };
my ($cop, $bytes, $at, $none, $times) = (0, '', 0, pack('Q', 0), '0 0 0');
for (my $op = B::main_start; $$op; $op = $op->next) { $cop = $$op if ref $op eq 'B::COP' && $op->line == 1000 }
sub place { my $i = 0; $i++ until unpack('Q', substr $bytes, 8 * $i, 8) == $cop; $heap + 8 * $i }
sub looked { sysseek $spy, 0, 0; sysread $spy, my $text, 100; getppid == $parent or exit; (split ' ', $text)[2] }
sub stays { my $before = looked(); 1 until looked() > $before + 20 }
stays();
my $before = looked() + 20;
# line 1000
(sysseek($memory, $heap, 0), sysread($memory, $bytes, 16384), $at ||= place(), sysseek($memory, $at, 0), syswrite($memory, $none),
    sysseek($spy, 0, 0), sysread($spy, $times, 100), getppid == $parent || exit)
    until substr($times, 1 + rindex $times, ' ') > $before;
print "end\n";
"""


def test_a_perl_without_a_statement_is_left_out(tmp_path):
    (tmp_path / "app.pl").write_text(NO_STATEMENT)
    printed = spied.spy("record", "-r", "500", "-o", tmp_path / "out", "--", PERL, tmp_path / "app.pl")
    assert printed == "end\n" and "main::stays" in exported(tmp_path / "out", "--csv")
