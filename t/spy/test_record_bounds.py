# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""What a recording of nytp-spy takes of the machine, however deep, many or short-lived what it looks at is; and which processes it finds."""

import errno
import os
import re
import signal
import subprocess

import pytest

import spied
from test_commands import FILTERED, OF_SPY, PERL, exported, script  # noqa: F401
from test_dump import DEEP


def test_of_a_deep_stack_fewer_samples_come_and_no_more_than_a_tenth_of_a_processor_is_taken(script, tmp_path):
    """It was three quarters. Half a second of processor time is for finding perl and for writing, which take 0.15 s. How many samples were due
    is reckoned from 500 random distances, which are together some 3 distances off (standard deviation)."""
    with spied.running(PERL, script(DEEP), 300_000, stdin=subprocess.PIPE) as process:
        process.wait_for("ready")
        process.wait_until_it_waits()
        ran = subprocess.Popen([spied.SPY, "record", str(process.pid), "-d", "5s", "-o", tmp_path / "out"], stderr=subprocess.PIPE, text=True)
        said = ran.stderr.read()
        _, status, usage = os.wait4(ran.pid, 0)
        ran.returncode = os.waitstatus_to_exitcode(status)
    n, n_due = map(int, re.search(r"(\d+) of (\d+) samples that were due: looks take so long that more would take over a tenth of a processor\n", said).groups())
    seconds = float(re.search(r"in ([\d.]+) s", said)[1])
    assert ran.returncode == 0 and 1 <= n < n_due and abs(n_due / seconds - 100) < 25, said
    assert usage.ru_utime + usage.ru_stime < 0.1 * seconds + 0.5, (usage, said)


# Reads of files by nytp-spy, by the kernel's count, in how many of its sleeps and seconds.
READS = OF_SPY + r"""
sub count { my ($file, $what) = @_; open my $in, "<", "/proc/$spy/$file" or die $!; return map { /^$what:\s+(\d+)/ } <$in> }
sub counts { (count("io", "syscr"), count("status", "voluntary_ctxt_switches"), time) }
sampled(1);
my @before = counts();
wait_until(sub { (counts())[1] > $before[1] + 60 });
my @after = counts();
print join(" ", map { $after[$_] - $before[$_] } 0 .. 2), "\n";
"""


def test_children_are_looked_for_without_reading_of_other_processes(script, tmp_path):
    """Each has a status, which was read 20 times a second. That is done once a second, and only where the kernel lists no children."""
    def record(name, filtered=()):
        command = [*filtered, spied.SPY, "record", "-s", "-r", "20", "-o", tmp_path / name, "--", PERL, script(READS)]
        return map(int, subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.split())
    n_alone, sleeps_alone, _ = record("alone")
    with spied.running(PERL, "-e", '$| = 1; for (1 .. 300) { fork or exit !sleep 600 } print "ready\n"; sleep 600', start_new_session=True) as others:
        others.wait_for("ready")
        n, sleeps, _ = record("among")
        assert n / sleeps < n_alone / sleeps_alone + 5
        n, sleeps, seconds = record("unlisted", UNLISTED)
        n_processes = sum(name.isdigit() for name in os.listdir("/proc"))
        assert n < (n_alone / sleeps_alone + 5) * sleeps + 1.5 * n_processes * (seconds + 2)
        os.killpg(others.pid, signal.SIGKILL)


# Runs a command to which the kernel says that no file may be asked for by access(2), and so not whether it lists children.
UNLISTED = ["/usr/bin/python3", "-c", FILTERED.replace('"x86_64": 310, "aarch64": 270', '"x86_64": 21, "aarch64": 48'), str(errno.ENOENT)]
CHILD = OF_SPY + r"""
my ($pid) = child(sub { in_child() });
sub in_child { wait_until(sub { files(qr{/task/$$/}) }); 1 for 1 .. 5e6 }
waitpid $pid, 0;
"""
DAEMON = OF_SPY + r"""
exit if fork;           # at once: of the three the first two are gone before the third can be found by whose child it is
require POSIX; POSIX::_exit(0) if fork;
POSIX::setsid();
sub in_daemon { wait_until(sub { files(qr{/task/$$/}) }); 1 for 1 .. 5e6 }
in_daemon();
"""


@pytest.mark.parametrize("program, sub, filtered", [(CHILD, "in_child", []), (CHILD, "in_child", UNLISTED), (DAEMON, "in_daemon", [])],
                         ids=["child", "a kernel that lists no children", "daemon that forked twice"])
def test_what_a_command_starts_is_found(program, sub, filtered, script, tmp_path):
    subprocess.run([*filtered, spied.SPY, "record", "-s", "-o", tmp_path / "out", "--", PERL, script(program)], check=True)
    assert f"main::{sub}" in exported(tmp_path / "out", "--top")
