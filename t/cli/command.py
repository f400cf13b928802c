# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Running nytp-export, and reading what it wrote with other people's tools."""

import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import termios

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = pathlib.Path(os.environ.get("NYTP_EXPORT", ROOT / "bin" / "nytp-export"))
PROGRAM = "main::RUNTIME"


def run(*arguments, **options):
    """The finished process; output as bytes. A run may take ten minutes, however busy the machine, before it is a hang."""
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    return subprocess.run([str(COMMAND), *map(str, arguments)], timeout=600, check=False,
                          **options)


def good(*arguments, **options):
    """Standard output of a run that went well and said nothing."""
    done = run(*arguments, **options)
    assert done.stderr == b""
    assert done.returncode == 0
    return done.stdout


def read_all(primary):
    """What comes to a terminal until nobody has it open any more."""
    text = b""
    while True:
        try:
            piece = os.read(primary, 65536)
        except OSError:
            return text
        if not piece:
            return text
        text += piece


def run_on_terminal(*arguments, columns=0, **options):
    """Status, text and standard error of a run whose standard output is a terminal."""
    primary, secondary = pty.openpty()
    if columns:
        fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen([COMMAND, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=secondary,
                          stderr=subprocess.PIPE, **options) as process:
        os.close(secondary)
        text = read_all(primary)
        said = process.stderr.read()
    os.close(primary)
    return process.returncode, text.replace(b"\r\n", b"\n"), said


def messages(done):
    return done.stderr.decode().splitlines()


def options_table():
    """Rows of options.def: name -> (short, kind, value)."""
    text = (ROOT / "exporters" / "cli" / "options.def").read_text()
    rows = re.findall(r'^NYTP_OPTION\("([^"]+)", (0|\'.\'), (\w+), [\w.]+, "([^"]*)", "', text,
                      re.MULTILINE)
    assert len(rows) == len(re.findall(r"^NYTP_OPTION", text, re.MULTILINE)) > 20
    return {name: (short.strip("'") if short != "0" else None, kind, value)
            for name, short, kind, value in rows}


def where():
    """The column `where` of options.def: name -> for which formats and modes."""
    text = (ROOT / "exporters" / "cli" / "options.def").read_text()
    return dict(re.findall(r'^NYTP_OPTION\("([^"]+)", [^"]*"[^"]*", "([^"]*)", ', text, re.MULTILINE))


def formats():
    lines = good("--list-formats").decode().split("Input:")[0].splitlines()[1:]
    return [line.split()[0] for line in lines]


def asking_for(format_):
    """The option: --peek is nothing without a pattern."""
    return "--peek=." if format_ == "peek" else f"--{format_}"


def pprof(file, *arguments, scratch):
    environment = dict(os.environ, HOME=str(scratch), PPROF_TMPDIR=str(scratch))
    done = subprocess.run(["go", "tool", "pprof", *arguments, "-unit=ns", str(file)],
                          env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=600, check=False)
    # an empty selection is a warning of pprof and fine here
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def pprof_top(file, *arguments, scratch):
    """name -> (flat, cumulated) nanoseconds, without what is zero and without the program's
    own frame when it is only there to join the rest."""
    text = pprof(file, "-top", "-nodefraction=0", "-nodecount=1000000", *arguments,
                 scratch=scratch)
    rows = {}
    for line in text.splitlines():
        match = re.match(r"\s*(-?\d+)(?:ns|B)?\s+\S+%\s+\S+%\s+(-?\d+)(?:ns|B)?\s+\S+%\s+(.*)$", line)
        if match:
            flat, cumulated, name = int(match[1]), int(match[2]), match[3]
            if cumulated and not (flat == 0 and name.startswith(PROGRAM)):
                rows[name] = (flat, cumulated)
    return rows


def pprof_stacks(file, scratch):
    """stack from the root as a tuple -> nanoseconds."""
    text = pprof(file, "-traces", scratch=scratch)
    stacks = {}
    for block in text.split("-----------+---")[1:]:
        frames = []
        value = None
        for line in block.splitlines()[1:]:
            first = re.match(r"\s*(-?\d+)(?:ns)?   (\S.*)$", line)
            other = re.match(r" {10,}(\S.*)$", line)
            if value is None and first:
                value = int(first[1])
                frames.append(first[2])
            elif value is not None and other:
                frames.append(other[1])
        if value:
            stack = tuple(reversed(frames))
            stacks[stack] = stacks.get(stack, 0) + value
    return stacks
