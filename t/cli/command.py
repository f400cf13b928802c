# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Running nytp-export, and reading what it wrote with other people's tools."""

import csv
import fcntl
import io
import os
import pathlib
import pty
import re
import struct
import subprocess
import termios

import pprof as viewer

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


def csv_rows(*arguments, **options):
    """Rows of a table, each by the names of its columns."""
    return list(csv.DictReader(io.StringIO(good("--csv", *arguments, **options).decode())))


def judged(folder, rules, *arguments):
    """Status of a run with these limits, one a line, and what it says of them."""
    (folder / "rules").write_text(rules + "\n")
    done = run("-q", "--gate", folder / "rules", "--gate-tap", *arguments)
    return done.returncode, done.stdout.decode() + done.stderr.decode()


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


def common_options():
    """Rows of options.def: name, short, kind, value, where, beside."""
    return re.findall(r'^NYTP_(?:OPTION|MODE)\("([^"]+)", (?:0|\'(.)\'), (?:(\w+), [\w.]+, "([^"]*)", ([A-Z |]+), "([^"]*)", ")?',
                      (ROOT / "exporters" / "cli" / "options.def").read_text(), re.MULTILINE)


def exporter_sources():
    """The text of each exporter's descriptor, by the exporter's name."""
    texts = [path.read_text() for path in sorted((ROOT / "exporters").glob("*.c"))]
    found = [text[text.index("\nconst struct nytp_exporter nytp_exporter_"):] for text in texts]
    return {re.search(r'\.name = "(.*)"', text)[1]: text for text in found}


def own_options(source):
    return re.findall(r'NYTP_OWN_OPTION\(\s*"([^"]+)", (\w+), [\w.]+, "([^"]*)"', source)


def options_table():
    """All options: name -> (short, kind, value), those of options.def, then those that an exporter brings."""
    return {**{name: (short or None, kind or "MODE", value) for name, short, kind, value, *_ in common_options()},
            **{row[0]: (None, *row[1:]) for source in exporter_sources().values() for row in own_options(source)}}


def comparing():
    """The formats that can show a difference."""
    return [name for name, text in exporter_sources().items() if re.search(r"\.write_(diff|set)", text)]


def beside():
    """Options that mean something beside another option or format: name -> that."""
    return {row[0]: row[5] for row in common_options() if row[5]}


def places(option):
    """The formats and modes ("csv", "csv --diff", "stats") in which the option is said to mean something."""
    sources, difference = exporter_sources(), {f"{name} --diff" for name in comparing()}
    names = {"plain": set(sources), "diff": difference, **{mode: {mode} for mode in ("stats", "check", "dump", "by")}}
    names.update(formats=set(sources) | difference, anywhere=set().union(*names.values()), nowhere=set())
    where = {row[0]: row[4] if row[2] else "ANYWHERE" for row in common_options()}.get(option, "NOWHERE")
    found = set().union(*(names[word] for word in where.lower().split(" | "))) | {beside().get(option)} & {*sources, "by"}
    for name, source in sources.items():
        words = {key: text.split() for key, text in re.findall(r'\.(takes|takes_diff|refuses) = "(.*)"', source)}
        owned = option in [row[0] for row in own_options(source)] or option == "diff" and name in comparing()
        if option in words.get("refuses", []):
            found -= {name, f"{name} --diff"}
        if owned or option in words.get("takes", []):
            found.add(name)
        if owned or option in words.get("takes_diff", []):
            found |= {f"{name} --diff"} & difference
    return found


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


def pprof_top(file, *arguments):
    """name -> (flat, cumulated) nanoseconds, without what is zero and without the program's
    own frame when it is only there to join the rest."""
    rows, _, _ = viewer.top(file, *arguments)
    return {name: (flat, cumulated) for name, (flat, cumulated) in rows.items()
            if cumulated and not (flat == 0 and name.startswith(PROGRAM))}
