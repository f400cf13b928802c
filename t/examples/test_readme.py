#!/usr/bin/python3
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""The output that README.md shows is what the command prints.

    t/examples/test_readme.py      runs it, and writes what it prints into README.md
"""

import fcntl
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import tempfile
import termios

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
BLOCK = re.compile(r"(?<=<!-- made by t/examples/test_readme.py -->\n)(    \$ ([^\n]*)\n)(.*?)(?=<!-- end -->)", re.S)


def printed(command):
    """What this shell command prints on a terminal of 80 columns, without colours; up to where it says what to do next."""
    primary, secondary = pty.openpty()
    fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    path = [ROOT / "blib" / "script", os.environ["PATH"]]
    lib = [ROOT / "blib" / "lib", ROOT / "blib" / "arch"]
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ROOT / "examples" / "logreport.pl", folder)
        with subprocess.Popen(["sh", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, stdout=secondary, stderr=secondary,
                              env={**os.environ, "PATH": ":".join(map(str, path)), "PERL5LIB": ":".join(map(str, lib)), "TERM": "xterm"}) as process:
            os.close(secondary)
            text = b""
            while True:
                try:
                    piece = os.read(primary, 65536)
                except OSError:
                    break
                if not piece:
                    break
                text += piece
        assert process.returncode == 0, text
    os.close(primary)
    text = re.sub(r"\x1b\[[\d;]*m", "", text.decode().replace("\r", ""))
    return text[:text.index("\nrecorded in ")].strip("\n") + "\n"


def test_what_the_readme_shows_is_what_is_printed():
    _, command, shown = BLOCK.search(README.read_text()).groups()
    now = printed(command)
    assert re.search(r"main::[\w:]+", shown).group() in now, now  # a busy machine may make another sub the slowest
    heads = [line.split() for line in now.splitlines() if "self%" in line]
    assert heads == [line.split() for line in shown.splitlines() if "self%" in line] and len(heads) == 2, now
    counts = r"\d+ statements, \d+ calls"
    assert re.findall(counts, now) == re.findall(counts, shown) and len(re.findall(counts, now)) == 2, now
    hottest = r"logreport\.pl:67 +return \$route if"
    assert re.search(hottest, now) and re.search(hottest, shown), now


def test_the_readme_fits_a_screen():
    lines = README.read_text().splitlines()
    assert 90 <= len(lines) <= 135, len(lines)
    assert not [line for line in lines if len(line) > 84 and not line.startswith("|")]


if __name__ == "__main__":
    text = README.read_text()
    first, command, _ = BLOCK.search(text).groups()
    lines = "".join(f"    {line}".rstrip() + "\n" for line in printed(command).splitlines())
    README.write_text(BLOCK.sub(lambda _: first + lines, text))
