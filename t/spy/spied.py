# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""What the tests of nytp-spy share: programs that run while they are looked at."""

import contextlib
import functools
import os
import pathlib
import shlex
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SPY = pathlib.Path(os.environ.get("NYTP_SPY", ROOT / "bin" / "nytp-spy"))  # the variable names one with sanitizers


def perls():
    """This machine's perl, and those that NYTP_SPY_PERLS names (commands, one a line)."""
    return ["/usr/bin/perl"] + [line for line in os.environ.get("NYTP_SPY_PERLS", "").splitlines() if line]


@functools.cache
def compiled(*sources):
    """A program of these C files in t/ and our libraries."""
    build = ROOT / "exporters" / "build"
    made = ROOT / "t" / ".cache" / f"{pathlib.Path(sources[0]).stem}.{os.getpid()}"
    made.parent.mkdir(exist_ok=True)
    libs = [word for word in (build / "flags").read_text().split() if word.startswith("-l")]
    subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-g", "-Wall", f"-I{ROOT}", *(ROOT / "t" / source for source in sources),
                    build / "libnytpspy.a", build / "libnytpexport.a", build / "libnytp.a", *libs, "-o", made], check=True)
    return made


def sampler():
    """Which writes single samples."""
    return compiled("spy/samples.c")


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
    """Until this nytp-spy has taken a sample of so many threads, for each of which it opens a file."""
    def names():
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(FileNotFoundError):    # closed by now
                yield os.readlink(f"/proc/{pid}/fd/{fd}")
    wait_until(lambda: sum("nytp-spy." in name for name in names()) >= n)


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


def spy(*arguments, status=0, **options):
    """Runs nytp-spy; what it printed, or, where it is to fail, its message."""
    ran = subprocess.run([SPY, *map(str, arguments)], capture_output=True, text=True, timeout=600, **options)
    assert ran.returncode == status, ran.stderr
    return ran.stdout if status == 0 else ran.stderr
