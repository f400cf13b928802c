# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""callgrind and pprof of one small program, word for word: heads, units, names. That the numbers are right is in
test_totals.py, that the viewers take it in t/viewers."""

import re

import pytest

import exports
from nytpwrite import Writer

# main:2 -> fib (lines 10 to 14), which calls itself on line 12
HEAD = """version: 1
creator: nytp-export
pid: 77
cmd: my\\x09prog.pl
desc: Perl: 5.36.0
desc: Recorder: 6.12
desc: Processes: 77
"""
BODY = """positions: line
event: ns : Time [nanoseconds]
event: stmts : Statements
events: ns stmts
summary: 108500 7

fl=(1) /x/prog.pl
fn=(1) main
cfi=(1)
cfn=(2) main::RUNTIME
calls=1 1
0 108500 7

fl=(1)
fn=(2)
2 104000 3
cfi=(1)
cfn=(3) main::fib
calls=1 10
2 4500 4

fl=(1)
fn=(3)
11 4000 2
12 500 1
13 0 1
cfi=(1)
cfn=(3)
calls=1 10
12 3000 0

totals: 108500 7
"""


def program(path, pid=77, ended=True):
    w = Writer({"application": "my\tprog.pl"}).pid_start(pid, 1, 1000.0).fid(1, "/x/prog.pl").time(1000, 1, 2).time(40, 1, 2)
    w.entry(1, 2).time(0, 1, 2).entry(1, 12).time(10, 1, 11).time(0, 1, 12)
    w.leave(2, 30, 30, "main::fib").time(30, 1, 11).discount().time(5, 1, 12).leave(1, 45, 15, "main::fib").time(0, 1, 13)
    w.sub(1, "main::fib", 10, 14).callers(1, 2, "main::RUNTIME", "main::fib", 1, 45, 15)
    w.callers(1, 12, "main::fib", "main::fib", 1, 30, 30)
    return (w.pid_end(pid, 1001.0) if ended else w).save(path)


def export(*arguments, code=0):
    done = exports.nytp_export("-q", *arguments)
    assert done[0] == code, done
    return done[1].decode()


def test_callgrind(tmp_path):
    text = export("--callgrind", program(tmp_path / "a"))
    comments, body = text[:2047], text[2047:]       # as much as viewers look at, so that a pipe may be read twice
    assert comments.startswith("# callgrind format\n") and all(line.startswith("#") for line in comments.splitlines())
    assert body == HEAD + BODY
    plain = export("--callgrind", "--plain-names", "--unit=us", program(tmp_path / "a"))
    assert "fl=/x/prog.pl\nfn=main::RUNTIME\n" in plain and "(1)" not in plain
    assert "event: us : Time [microseconds]\n" in plain and "\nsummary: 109 7\n" in plain and "totals: 109 7\n" in plain


def test_each_recording_is_a_part_of_callgrinds_with_names_and_totals_of_its_own(tmp_path):
    text = export("--callgrind", program(tmp_path / "a"), program(tmp_path / "b", 78, ended=False), code=3)
    first, second = text[2047:].split("\nversion: 1\ncreator: nytp-export\npid: 78\n")
    assert first == HEAD.replace("desc: Perl", "part: 1\ndesc: Perl") + BODY
    assert second.startswith("cmd: my\\x09prog.pl\npart: 2\n") and "\ndesc: Partial: no end of " in second
    assert second.endswith(BODY[BODY.index("positions"):])


def test_pprof(tmp_path):
    text = export("--pprof-text", program(tmp_path / "a"))
    types = "".join(f"sample_type {{\n  type: {type}\n  unit: {unit}\n}}\n" for type, unit in ((1, 2), (3, 2), (4, 5)))
    assert text.startswith(types + "sample {\n")
    strings = re.findall(r'^string_table: "(.*)"$', text, re.M)
    assert strings[:6] == ["", "calls", "count", "statements", "wall", "nanoseconds"] and len(set(strings)) == len(strings)
    assert "  has_functions: true\n  has_filenames: true\n  has_line_numbers: true\n  has_inline_frames: true\n}\n" in text
    assert "\ntime_nanos: 1000000000000\nduration_nanos: 1000000000\n" in text and "\nperiod: 100\n" in text and "\ndefault_sample_type: 4\n" in text
    assert 'string_table: "microseconds"\n' in export("--pprof-text", "--unit=us", tmp_path / "a")


# name -> what callgrind and pprof have of it
NAMES = {
    "Foo::bar": None, "main::__ANON__[(eval 5)[/x/a.pl:24]:1]": None, "a b\xe4;\"<&>' c": None, "????": None, "C:\\xampp\\x.pl": None,
    "a\0b": r"a\x00b", "a\nb\rc\td\x7f": r"a\x0ab\x0dc\x09d\x7f", " a ": r"\x20a ", " ": r"\x20", "\\\n": r"\\x0a",
    "(1": r"\x281", "(12) x": r"\x2812) x", "???": r"\x3f??", "a\\x0ab": r"a\x5cx0ab", "a\\x5cx0ab": r"a\x5cx5cx0ab",
}


@pytest.mark.parametrize("name", NAMES)
def test_what_would_break_a_line_or_be_taken_for_something_else_is_escaped(tmp_path, name):
    w = Writer().pid_start(7).fid(1, "/x/a.pl").time(1, 1, 1).entry(1, 1).leave(1, 5, 5, name, utf8=True).time(5, 1, 2)
    w.sub(1, name, 2, 2, utf8=True).callers(1, 1, "main::RUNTIME", name, 1, 5, 5, utf8=True).pid_end(7).save(tmp_path / "n")
    escaped = NAMES[name] or name
    assert re.findall("^c?fn=(.*)$", export("--callgrind", "--plain-names", tmp_path / "n"), re.M)[-1] == escaped
    assert re.sub(r"\\x([0-9a-f]{2})", lambda found: chr(int(found[1], 16)), escaped) == name


def test_subs_of_one_name_are_told_apart_by_their_files(tmp_path):
    for folder, other in ("x", "m::only"), ("y", "m::f"):
        w = Writer().pid_start(7).fid(1, f"/{folder}/a.pl").time(1, 1, 1)
        for line, name in (3, "m::dup"), (9, other):
            w.entry(1, 1).time(1, 1, 1).leave(1, 5, 5, name).time(5, 1, line).discount().sub(1, name, line, line)
        w.pid_end(7).save(tmp_path / folder)
    text = export("--callgrind", "--plain-names", tmp_path / "x", tmp_path / "y")
    assert set(re.findall("^fn=(m::.*)$", text, re.M)) == {"m::dup [/x/a.pl]", "m::dup [/y/a.pl]", "m::only", "m::f"}
