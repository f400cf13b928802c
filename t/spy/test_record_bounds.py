# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""What a recording of nytp-spy takes of the machine, however deep, many or short-lived what it looks at is; and which processes it finds."""

import contextlib
import errno
import os
import re
import signal
import subprocess
import time

import pytest

import spied
from spied import OF_SPY, PERL, exported


# A deep stack that each look reads anew, as the program has run since the last one.
DEEP = """no warnings 'recursion'; $| = 1;
sub bottom { print "ready\\n"; select undef, undef, undef, 0.001 while 1 }
sub down { my $n = shift;
    $n ? down($n - 1) : bottom() }
down(shift);
"""


def test_of_a_deep_stack_fewer_samples_come_and_no_more_than_a_tenth_of_a_processor_is_taken(script, tmp_path):
    """It was three quarters. Half a second of processor time is for finding perl and for writing, which take 0.15 s. A look reads 30 MB, so
    on no machine may all 500 be taken: these would be 15 GB in 0.6 s."""
    with spied.ready(PERL, script(DEEP), 300_000) as process:
        ran = subprocess.Popen([spied.SPY, "record", str(process.pid), "-d", "5s", "-o", tmp_path / "out"], stderr=subprocess.PIPE, text=True)
        said = ran.stderr.read()
        _, status, usage = os.wait4(ran.pid, 0)
        ran.returncode = os.waitstatus_to_exitcode(status)
    told = re.search(r"(\d+) of (\d+) samples that were due: looks take so long that more would take over a tenth of a processor\n", said)
    assert told, said
    n, n_due = map(int, told.groups())
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
        words = ["record", "-s", "-r", "20", "-o", tmp_path / name, "--", PERL, script(READS)]
        return map(int, spied.run(*words, before=filtered).stdout.split())
    n_alone, sleeps_alone, _ = record("alone")
    with spied.ready(PERL, "-e", '$| = 1; for (1 .. 300) { fork or exit !sleep 600 } print "ready\n"; sleep 600', start_new_session=True) as others:
        n, sleeps, _ = record("among")
        assert n / sleeps < n_alone / sleeps_alone + 5
        n, sleeps, seconds = record("unlisted", UNLISTED)
        n_processes = sum(name.isdigit() for name in os.listdir("/proc"))
        assert n < (n_alone / sleeps_alone + 5) * sleeps + 1.5 * n_processes * (seconds + 2)
        os.killpg(others.pid, signal.SIGKILL)


# Runs a command to which the kernel says that no file may be asked for by access(2), and so not whether it lists children.
UNLISTED = spied.without("access", errno.ENOENT)
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


@pytest.mark.parametrize("program, sub, filtered", [(CHILD, "in_child", UNLISTED), (DAEMON, "in_daemon", [])],
                         ids=["a kernel that lists no children", "daemon that forked twice"])
def test_what_a_command_starts_is_found(program, sub, filtered, script, tmp_path):
    spied.spy("record", "-s", "-o", tmp_path / "out", "--", PERL, script(program), before=filtered)
    assert f"main::{sub}" in exported(tmp_path / "out", "--top")


# Stands in front of a program: so many threads that are nobody's and wait.
MANY_THREADS = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *wait_on(void *none) { pause(); return none; }
__attribute__((constructor)) static void begin(void)
{
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 14);
    for (int n = atoi(getenv("N_THREADS")); n > 0; n--)
        if (pthread_create(&thread, &small, wait_on, NULL) != 0)
            _exit(1);
}
"""
IN_CONTAINER = """use threads; $| = 1; sub waits { sleep 600 }
my @threads = map { threads->create(\\&waits) } 1 .. 3; print "ready\\n"; waits();"""


@pytest.fixture(scope="module")
def in_container(tmp_path_factory):
    """A program of four threads of Perl and so many others, in a pid namespace of its own: there each thread has another number."""
    folder = tmp_path_factory.mktemp("threads")
    (folder / "many.c").write_text(MANY_THREADS)
    subprocess.run(["cc", "-shared", "-fPIC", folder / "many.c", "-o", folder / "many.so"], check=True)

    @contextlib.contextmanager
    def run(n):
        with spied.ready("unshare -pf --kill-child", "env", f"LD_PRELOAD={folder}/many.so", f"N_THREADS={n}", PERL, "-e", IN_CONTAINER) as unshare:
            process = spied.Process(unshare.popen)
            process.pid = int(open(f"/proc/{unshare.pid}/task/{unshare.pid}/children").read())
            process.wait_until_it_waits()
            tasks = f"/proc/{process.pid}/task"     # the four sleep, as the first one does, and wait for no lock any more
            call = lambda task: open(f"{tasks}/{task}/syscall").read().split()[0]
            spied.wait_until(lambda: sum(call(task) == call(process.pid) for task in os.listdir(tasks)) == 4)
            yield process
    return run


def counts_of(pid):
    """Its reads, its sleeps, and the time."""
    told = [int(re.search(rf"^{what}:\s+(\d+)", open(f"/proc/{pid}/{file}").read(), re.M)[1])
            for file, what in (("io", "syscr"), ("status", "voluntary_ctxt_switches"))]
    return *told, time.monotonic()


def counted(spy):
    """The same of sixty sleeps; then it ends."""
    before = counts_of(spy.pid)
    spied.wait_until(lambda: counts_of(spy.pid)[1] > before[1] + 60)
    after = counts_of(spy.pid)
    spy.terminate()
    assert spy.wait(60) == 0
    return [now - then for now, then in zip(after, before)]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_threads_in_a_container_are_looked_up_once(in_container):
    """Each of a thousand others was read five times a second: 250 reads for each sleep of nytp-spy. And each of Perl's was taken for
    one of them, as numbers are small there."""
    with in_container(1000) as process:
        dumped = spied.spy("dump", process.pid)
        with subprocess.Popen([spied.SPY, "top", "-r", "20", str(process.pid)], stdout=subprocess.PIPE) as top:
            top.stdout.readline()
            reads, sleeps, _ = counted(top)
    assert len(re.findall(r"^Thread \d .*\(waiting: clock_nanosleep\)$", dumped, re.M)) == 4, dumped
    assert reads / sleeps < 50


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_children_of_a_thousand_threads_are_looked_for_in_a_fiftieth_of_the_time(in_container, tmp_path):
    """Each thread has its own: they were read 20 times a second. A read takes three microseconds at least."""
    with in_container(1000) as process:
        record = subprocess.Popen([spied.SPY, "record", str(process.pid), "-o", tmp_path / "out"])
        spied.wait_until_it_samples(record.pid, 4)
        reads, _, seconds = counted(record)
    assert reads < 12000 * seconds


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_container_of_very_many_threads_is_given_up(in_container):
    """Which threads are Perl's is asked of 6,000 at most."""
    with in_container(7000) as process:
        assert spied.spy("dump", process.pid, status=1) == f"nytp-spy: process {process.pid} is given up: it takes too long to find perl there\n"
