# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""What the tests of nytp-spy share: programs that run while they are looked at."""

import contextlib
import csv
import functools
import os
import pathlib
import re
import shlex
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PERL = "/usr/bin/perl"
EXPORT = ROOT / "bin" / "nytp-export"
SPY = pathlib.Path(os.environ.get("NYTP_SPY", ROOT / "bin" / "nytp-spy"))  # the variable names one with sanitizers

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

# How often nytp-spy, which has started the program, has looked at it; 1e9 when it is gone.
LOOKS = r"""sub looks { our $spy ||= getppid; return 1e9 if getppid != $spy;
    open my $status, '<', "/proc/$spy/status" or return 1e9;
    my ($n) = map { /^voluntary_ctxt_switches:\s+(\d+)/ } <$status>;
    return $n;
}
"""

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


def perls():
    """This machine's perl, and those that NYTP_SPY_PERLS names (commands, one a line)."""
    return [PERL] + [line for line in os.environ.get("NYTP_SPY_PERLS", "").splitlines() if line]


@functools.cache
def compiled(name):
    """A program of this C file and our libraries."""
    build = ROOT / "exporters" / "build"
    made = ROOT / "t" / ".cache" / f"{name}.{os.getpid()}"
    made.parent.mkdir(exist_ok=True)
    libs = [word for word in (build / "flags").read_text().split() if word.startswith("-l")]
    subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-g", "-Wall", f"-I{ROOT}", HERE / f"{name}.c",
                    build / "libnytpspy.a", build / "libnytpexport.a", build / "libnytp.a", *libs, "-o", made], check=True)
    return made


def sampler():
    """The program that writes single samples."""
    return compiled("samples")


def sampled(process, rate, n, *words, before=(), **options):
    """So many samples, a line each, and what the sampler says of them. pytest shows that if the test fails."""
    command = [*before, sampler(), process.pid, rate, n, *words]
    ran = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True, **options)
    print(ran.stderr)
    return ran.stdout.splitlines(), ran.stderr


class Process:
    """A program that runs; its standard output can be waited for."""

    def __init__(self, popen):
        self.popen = popen
        self.pid = popen.pid

    def wait_for(self, text):
        for line in self.popen.stdout:
            if text in line:
                return line
        raise AssertionError(f"{self.popen.args} ended without saying {text}")

    def go_on(self, said="ready"):
        """Gives it a line of input; the line in which it says so."""
        self.popen.stdin.write("\n")
        self.popen.stdin.flush()
        return self.wait_for(said)

    def wait_until_it_waits(self):
        """Until all its threads sleep in the kernel."""
        folder = f"/proc/{self.pid}/task"
        wait_until(lambda: all(open(f"{folder}/{task}/stat").read().rpartition(") ")[2][0] == "S" for task in os.listdir(folder)))


def wait_until(condition, seconds=600):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def wait_until_it_samples(pid, n=1):
    """Until this nytp-spy has taken a sample of so many threads, for each of which it opens a file. It must not end before."""
    def names():
        with open(f"/proc/{pid}/stat") as stat:
            assert stat.read().rpartition(") ")[2][0] != "Z", "nytp-spy has ended"
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(FileNotFoundError):    # closed by now
                yield os.readlink(f"/proc/{pid}/fd/{fd}")
    wait_until(lambda: sum("nytp-spy." in name for name in names()) >= n)


def sleeps(pid):
    """How often it has slept by now."""
    return int(re.search(r"\nvoluntary_ctxt_switches:\s*(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1])


def wait_until_it_has_looked(pid):
    """Until this nytp-spy, which samples one thread, has looked at it some times from now on: it sleeps after each look."""
    before = sleeps(pid)
    wait_until(lambda: sleeps(pid) > before + 20)


def put_first(pid):
    """Where root may, the process waits for no other program: shares of its time are not those of when it had a processor."""
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, pid, -20)


@contextlib.contextmanager
def running(perl, *arguments, **options):
    popen = subprocess.Popen([*shlex.split(perl), *map(str, arguments)], stdout=subprocess.PIPE, text=True, **options)
    try:
        yield Process(popen)
    finally:
        popen.kill()
        popen.wait()
        popen.stdout.close()


@contextlib.contextmanager
def ready(perl, *arguments, **options):
    """A program that has said so; its standard input is a pipe."""
    with running(perl, *arguments, stdin=subprocess.PIPE, **options) as process:
        process.wait_for("ready")
        yield process


@contextlib.contextmanager
def waiting(perl, *arguments, **options):
    """A program that has said "ready" and sleeps now."""
    with ready(perl, *arguments, **options) as process:
        process.wait_until_it_waits()
        yield process


def run(*arguments, before=(), spy=SPY, **options):
    """The finished nytp-spy; `before` are words that stand before it."""
    command = map(str, [*before, spy, *arguments])
    return subprocess.run(list(command), capture_output=True, text=True, timeout=600, **options)


def spy(*arguments, status=0, **options):
    """Runs nytp-spy; what it printed, or, where it is to fail, its message."""
    ran = run(*arguments, **options)
    assert ran.returncode == status, ran.stderr
    return ran.stdout if status == 0 else ran.stderr


def record(pid, out, *options):
    """Records until there are samples, however long that takes on a busy machine."""
    with running(str(SPY), "record", pid, "-o", out, "-r", 1000, *options) as recording:
        wait_until_it_samples(recording.pid)
        wait_until_it_has_looked(recording.pid)
        recording.popen.terminate()
        assert recording.popen.wait() == 0


def exported(profile, *options):
    return subprocess.run([EXPORT, "-q", *options, profile], check=True, capture_output=True, text=True).stdout


def rows(profile, *options):
    """Those of its subs, as --csv has them."""
    return list(csv.DictReader(exported(profile, "--csv", *options).splitlines()))


AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


# Runs a command to which the kernel refuses a system call, as an old one or a container's filter does: a program of four
# instructions for seccomp(2).
FILTERED = """
import ctypes, os, struct, sys
errno, number, libc = int(sys.argv[1]), int(sys.argv[2]), ctypes.CDLL(None, use_errno=True)
code = struct.pack("=HBBI", 0x20, 0, 0, 0) + struct.pack("=HBBI", 0x15, 0, 1, number) \\
    + struct.pack("=HBBI", 0x06, 0, 0, 0x00050000 | errno) + struct.pack("=HBBI", 0x06, 0, 0, 0x7fff0000)
buffer = ctypes.create_string_buffer(code)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, struct.pack("HxxxxxxP", 4, ctypes.addressof(buffer)), 0, 0) == 0
os.execv(sys.argv[3], sys.argv[3:])
"""
NUMBERS = {"process_vm_readv": {"x86_64": 310, "aarch64": 270}, "access": {"x86_64": 21, "aarch64": 48},
           "openat2": {"x86_64": 437, "aarch64": 437}}


def without(call, errno):
    """What stands before a command that is to be refused the call."""
    return ["/usr/bin/python3", "-c", FILTERED, str(errno), str(NUMBERS[call][os.uname().machine])]
