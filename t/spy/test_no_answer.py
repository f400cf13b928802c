# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Processes that have what never answers who asks: nytp-spy tells what it knows, and does not wait for the rest."""

import os
import subprocess

import pytest

import spied
from spied import AS_NOBODY, PERL, exported

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not os.path.exists("/dev/fuse"), reason="needs root and FUSE")

# Starts a program in a mount namespace of its own, before or behind which a file system is put on a folder: it has no
# server, so that whoever looks for a file there waits until the program ends.
MOUNTS = """
import ctypes, os, subprocess, sys
when, folder, *command = sys.argv[1:]
if when == "behind":
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, user=65534, group=65534, extra_groups=[])
    assert program.stdout.readline() == b"ready\\n"
fuse = os.open("/dev/fuse", os.O_RDWR)
os.set_inheritable(fuse, True)
libc = ctypes.CDLL(None, use_errno=True)
options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0,allow_other"
assert libc.mount(b"none", os.fsencode(folder), b"fuse", 0, options.encode()) == 0, os.strerror(ctypes.get_errno())
if when == "before":
    os.execv(command[0], command)
print("ready", program.pid, flush=True)
sys.stdin.read()
"""


def mounting(when, folder, *command):
    return spied.running("unshare -m /usr/bin/python3", "-c", MOUNTS, when, folder, *command, stdin=subprocess.PIPE)


def in_time(*command):
    """It may wait for three seconds; all of a minute is for a machine that is busy."""
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60)


def test_source_that_never_comes_is_not_waited_for(tmp_path):
    """Of a hundred such files three are waited for, a second each; then others are not opened, either, which is told."""
    (tmp_path / "fuse").mkdir()
    code = "".join(f'eval qq{{# line 1 "{tmp_path}/fuse/{i}"\nsub f{i} {{ f{i + 1}(\\@_) }}}};' for i in range(100))
    with mounting("before", tmp_path / "fuse", PERL, "-e", f'$| = 1; {code} sub f100 {{ print "ready\n"; sleep 99 }} f0()') as process:
        process.wait_for("ready")
        process.wait_until_it_waits()
        dumped = in_time(spied.SPY, "dump", process.pid)
        recorded = in_time(spied.SPY, "record", process.pid, "-d", "4s", "-o", tmp_path / "out")
    assert dumped.returncode == 0 and f"main::f99 ({tmp_path}/fuse/99:1)" in dumped.stdout, dumped.stderr
    assert dumped.stdout.count("(of further frames no lines: reading them takes too long)") == 1
    assert recorded.returncode == 0 and "main::f99" in exported(tmp_path / "out", "--csv"), recorded.stderr


def test_a_program_whose_file_never_comes_is_not_waited_for(open_folder, open_spy):
    """The file of a static program is read for its symbols: where not everybody may open it by its mapping, by its name."""
    static = open_folder / "own" / "static"
    static.parent.mkdir()
    code = '#include <stdio.h>\nint main(void) { puts("ready"); fflush(stdout); return getchar(); }\n'
    subprocess.run(["cc", "-static", "-x", "c", "-", "-o", static], input=code, text=True, check=True)
    with mounting("behind", static.parent, static) as process:
        pid = process.wait_for("ready").split()[1]
        ran = in_time(*AS_NOBODY, open_spy, "dump", pid)
        process.popen.stdin.close()
        process.popen.wait(60)
    assert ran.returncode == 1 and "there is no perl in this process" in ran.stderr and ran.stderr.count("\n") == 1, ran
