# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""The command line: options.def is the one list, and everything else agrees with it."""

import os
import re
import shutil
import subprocess

import pytest

from command import COMMAND, ROOT, formats, good, messages, options_table, run

VALUES = {"COUNT": "3", "PERCENT": "1", "UNIT": "us", "WEIGHT": "calls", "CLOCK": "real",
          "PATTERN": "x", "LIST": "/x", "FORMAT": "top"}


def refused(*arguments):
    """The message of a refused command line."""
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stdout == b""
    lines = messages(done)
    assert len(lines) == 1
    assert lines[0].startswith("nytp-export: ")
    return lines[0]


# ---- one table ----

def test_help_lists_each_option_with_its_value():
    text = good("--help").decode()
    assert max(map(len, text.splitlines())) <= 100
    for name, (short, _, value) in options_table().items():
        left = f"--{name}{value if value.startswith('[') else ' ' + value if value else ''}"
        start = f"  -{short}, {left}" if short else f"      {left}"
        rows = [line for line in text.splitlines() if line.startswith(start + " ")]
        assert rows, left


def test_help_lists_each_format():
    text = good("--help").decode()
    assert len(formats()) >= 5
    for name in formats():
        assert re.search(rf"^      --{name} ", text, re.MULTILINE)


def test_short_options_are_unique():
    letters = [short for short, _, _ in options_table().values() if short]
    assert len(letters) == len(set(letters)) >= 4


@pytest.mark.parametrize("name", options_table())
def test_each_option_is_taken(profile, tmp_path, name):
    _, kind, value = options_table()[name]
    arguments = ["--" + name]
    file = profile("mixed-calls2")
    rules = tmp_path / "rules"
    rules.write_text("calls total <= 1000000000\n")
    gate = ["--gate", rules]
    special = {"diff": [file], "fail-over": ["900%", "--diff", file], "gate": [rules],
               "fail-least": ["1%", *gate], "accept": [os.devnull, *gate], "gate-tap": gate,
               "annotations": ["github", *gate], "label": ["a=b"], "labels": ["none"]}
    if name in special:
        arguments += special[name]
    elif kind == "TEXT":
        arguments.append({"sort": "incl", "output": tmp_path / "out"}.get(name, tmp_path / "d"))
    elif kind in VALUES:
        arguments.append(VALUES[kind])
    elif kind == "SUBS" and not value.startswith("["):
        arguments.append("x")
    if kind not in ("MODE", "FORMAT", "ROWS", "SUBS") and name not in ("per-process", "open", "gate-tap",
                                                                 "annotations"):
        arguments.append("--top")
    if name in ("per-process", "open"):
        arguments += ["--callgrind", "-o", tmp_path / "no" / "out"]
        wanted = (4,)                               # taken, and then the output fails
    else:
        wanted = (0,)
    assert bool(value) == (kind not in ("FLAG", "MODE"))
    done = run(*arguments, profile("mixed-calls2"), env={"PATH": "/nowhere"})
    assert done.returncode in wanted, done.stderr


def section(name):
    page = (ROOT / "doc" / "nytp-export.1").read_text()
    return re.search(rf"^\.SH {name}\n(.*?)(?=^\.SH )", page, re.DOTALL | re.MULTILINE)[1]


def plain(roff):
    """Roff with its fonts and escapes taken out."""
    roff = re.sub(r"\\f[A-Z]", "", roff).replace("\\-", "-")
    return re.sub(r'(?m)^\.[A-Z]+ ?|"', "", roff)


def test_the_manual_describes_each_option_and_no_other():
    entries = {}
    for entry in section("OPTIONS").split(".TP\n")[1:]:
        head, _, body = entry.partition("\n")
        for name, value in re.findall(r"--([a-z-]+) *(\[?=?[A-Z]*\]?)", plain(head)):
            entries[name] = value
        assert len(plain(body).split()) >= 3, head
    assert entries == {name: value for name, (_, _, value) in options_table().items()}


def test_the_manual_describes_each_format():
    described = re.findall(r"^\.B --([a-z-]+)$", section("FORMATS").replace("\\-", "-"),
                           re.MULTILINE)
    assert set(described) >= set(formats())
    assert len(described) == len(set(described))


def test_the_manual_is_well_formed():
    if not shutil.which("groff"):
        pytest.skip("groff is not installed")
    done = subprocess.run(["groff", "-man", "-ww", "-z", str(ROOT / "doc" / "nytp-export.1")],
                          capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def complete(*words):
    """What bash offers for the last of these words."""
    script = ('source "$0"; PATH=$1:$PATH; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
              '_nytp_export nytp-export; printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(
        ["bash", "-c", script, str(ROOT / "completions" / "nytp-export.bash"),
         str(COMMAND.parent), "nytp-export", *words], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_each_option_and_format():
    wanted = {"--" + name for name in [*options_table(), *formats()]}
    assert set(complete("--")) == wanted
    assert complete("--per-p") == ["--per-process"]


def test_bash_completes_values(tmp_path):
    assert sorted(complete("--format", "")) == sorted(formats())
    assert complete("--format", "=", "callg") == ["callgrind"]
    assert complete("--unit", "m") == ["ms"]
    assert complete("--weight", "") == ["time", "calls", "statements"]
    assert complete("--sort", "p") == ["percall"]
    (tmp_path / "nytprof.out.7").touch()
    assert complete(str(tmp_path / "ny")) == [str(tmp_path / "nytprof.out.7")]


def test_zsh_completes_each_option(tmp_path):
    if not shutil.which("zsh"):
        pytest.skip("zsh is not installed")
    # a stand-in for the completion system's output end: everything else is the real script
    script = """
        _describe() { print -l -- ${(P)2} }
        words=(%s --); CURRENT=2
        source %s
    """ % (COMMAND, ROOT / "completions" / "_nytp-export")
    done = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True,
                          check=True, cwd=tmp_path)
    offered = {line.split(":")[0] for line in done.stdout.splitlines()}
    assert offered == {"--" + name for name in [*options_table(), *formats()]}
    assert all(":" in line for line in done.stdout.splitlines())


# ---- refusals ----

@pytest.mark.parametrize("typed, meant", [
    ("--calgrind", "--callgrind"), ("--colapse-recursion", "--collapse-recursion"),
    ("--list-format", "--list-formats"), ("--foucs", "--focus"), ("--verison", "--version"),
    ("--output-file", "--output"), ("--calls", None), ("--zzz", None), ("--x=3", None),
])
def test_a_typo_gets_the_nearest_option(typed, meant):
    message = refused(typed)
    assert f"unknown option {typed.split('=')[0]}" in message
    assert (f"did you mean {meant}?" in message) if meant else ("did you mean" not in message)


def test_refusals_say_what_is_wrong():
    assert "unknown format calgrind; did you mean callgrind?" in refused("--format=calgrind")
    assert "unknown format nonsense" in refused("--format", "nonsense")
    assert "two formats: top and tree" in refused("--top", "--tree")
    assert "--unit needs a value" in refused("--unit")
    assert 'unknown unit "hours": ns, us, ms, s or ticks' in refused("--unit=hours")
    assert 'unknown weight "gold"' in refused("--weight=gold")
    assert 'unknown clock "sun"' in refused("--clock=sun")
    assert 'unknown --sort key "size"' in refused("--top", "--sort=size")
    assert "--max-depth takes a number from 1" in refused("--max-depth=0")
    assert "--max-depth takes a number from 1" in refused("--max-depth=12x")
    assert "--min-percent takes a number from 0 to 100" in refused("--min-percent=101")
    assert "--min-percent takes a number from 0 to 100" in refused("--min-percent=nan")
    assert "--strict takes no value" in refused("--strict=yes")
    assert "--tree takes no value" in refused("--tree=3")
    assert "--top takes a number" in refused("--top=many")
    assert "unknown option -x" in refused("-x")
    assert 'bad regular expression "(": ' in refused("--focus=(")
    assert "--check does not go with another" in refused("--stats", "--check")
    assert "--per-process needs -o FILE" in refused("--per-process", "--top")
    assert "--open: no viewer is known for top" in refused("--open", "--top")
    assert "read only once" in refused("-", "-")
    assert "the name tells no format" in refused("-o", "out.xyz")


# ---- spellings ----

def test_spellings_of_one_option(profile, tmp_path):
    file = profile("mixed-calls2")
    wanted = good("--callgrind", file)
    for spelling in (["-o", "-"], ["-o-"], ["--output", "-"], ["--output=-"]):
        assert good("--callgrind", *spelling, file) == wanted
    assert good("--format=callgrind", file) == wanted
    assert good("--format", "callgrind", "--callgrind", file) == wanted
    assert good(file, "--callgrind") == wanted
    assert good("-qo-", "--callgrind", file) == wanted


def test_after_two_dashes_all_is_a_file(profile, tmp_path):
    shutil.copy(profile("mixed-calls2"), tmp_path / "--top")
    assert b"mixed.pl: " in good("--top", "--", "--top", cwd=tmp_path)


def test_without_format_it_is_top(profile):
    file = profile("mixed-calls2")
    assert good(file) == good("--top", file)


def test_help_and_version_win():
    assert good("--stats", "--help") == good("--help") == good("-h")
    assert re.match(rb"nytp-export \d+\.\d+ \(compatible with Devel::NYTProf \d+\.\d+, "
                    rb"inflate by (ISA-L|zlib)\)\n$", good("-V"))
    assert b"usage: nytp-export" in good("--help")


def test_every_format_names_what_it_is_for():
    for line in good("--list-formats").decode().splitlines():
        assert line.endswith(":") or len(line.split()) >= 4
