# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Contexts from call events: what the order of a stream means, situation by situation; and several inputs as one.

Streams are little scripts, one event each, ticks for all times:
    @ 1 /a.pl            @ 2 (eval 1)[/a.pl:3] 1 3     + TICKS FID LINE      -
    > FID LINE           < DEPTH INCL EXCL NAME        s FID NAME FIRST LAST
    c FID LINE CALLER COUNT INCL EXCL RECI DEPTH CALLEE
    P PID PPID           p PID                         ! KEY VALUE           # COMMENT
"""

import json
import random
import re

import pytest

from command import good, run
from instructions import instructions
from nytpwrite import Writer
from readers import PprofReader

START, START1 = "@ 1 /a.pl, ! calls 2, P 7 1, ", "@ 1 /a.pl, ! calls 1, P 7 1, "


def put(w, event):
    tag, *words = re.match(r"@ (\d+) (.*?\]|\S+)(?: (\d+) (\d+))?$", event).groups() if event[0] == "@" else event.split()
    if event[0] == "@":
        w.fid(int(tag), words[0], int(words[1] or 0), int(words[2] or 0))
    elif tag == "<":
        w.leave(int(words[0]), int(words[1]), int(words[2]), words[3])
    elif tag == "s":
        w.sub(int(words[0]), words[1], int(words[2]), int(words[3]))
    elif tag == "c":
        fid, line, caller, count, incl, excl, reci, depth, callee = words
        w.callers(int(fid), int(line), caller, callee, int(count), int(incl), int(excl), int(reci), int(depth))
    elif tag == "!":
        w.option(*words)
    elif tag == "#":
        w.comment(event[2:])
    else:
        {"+": w.time, "-": w.discount, ">": w.entry, "P": w.pid_start, "p": w.pid_end}[tag](*map(int, words))


def stream(path, script, per_second=10000000):
    w = Writer(plain_head=False)
    w.ticks_per_sec = per_second
    w.attribute("ticks_per_sec", per_second)
    for event in script.split(", "):
        put(w, event)
    return w.save(path)


def tree(path):
    """The contexts as text: sub@line of the call, x calls, exclusive ticks, lines with ticks/statements."""
    contexts = {}
    done = run("-q", "--pprof", "--unit=ticks", path)
    assert done.returncode in (0, 3), done.stderr
    for stack, (calls, statements, ticks), _ in PprofReader(done.stdout).samples:
        frames = [name for (name, *_), _ in reversed(stack)]
        lines = [line for _, line in reversed(stack)]
        context = contexts.setdefault(tuple(zip(frames, [0, *lines[:-1]])), [0, {}])
        context[0] += calls
        was = context[1].get(lines[-1], (0, 0))
        if ticks or statements:
            context[1][lines[-1]] = was[0] + ticks, was[1] + statements
    text = ""
    for path, (calls, lines) in sorted(contexts.items()):
        text += " " * (len(path) - 1) + "{}@{} x{} {}:".format(*path[-1], calls, sum(ticks for ticks, _ in lines.values()))
        text += "".join(f" {line}={ticks}/{statements}" for line, (ticks, statements) in lines.items()) + "\n"
    return text


TREES = {
    # ---- statements belong to the frame they began in
    "a time record after the return is the callee's last statement": (
        START + "+ 10 1 1, > 1 2, + 20 1 2, + 30 1 11, < 1 80 80 main::f, + 40 1 12, -, + 50 1 2, p 7",
        "main::RUNTIME@0 x1 70: 1=10/1 2=60/1\n"
        " main::f@2 x1 80: 11=34/1 12=46/1\n"),
    "an opcode's time is taken off the line that called it": (
        START + "+ 10 1 1, > 1 2, < 1 5 5 main::CORE:print, + 20 1 2, p 7",
        "main::RUNTIME@0 x1 25: 1=10/1 2=15/1\n"
        " main::CORE:print@2 x1 5: 0=5/0\n"),
    "a die through two frames leaves the last statement with the innermost": (
        START + "> 1 1, + 10 1 1, > 1 11, + 10 1 11, < 2 10 10 main::g, < 1 20 10 main::f, + 10 1 21, -, + 10 1 2, p 7",
        "main::RUNTIME@0 x1 20: 1=10/1 2=10/0\n"
        " main::f@1 x1 10: 11=10/1\n"
        "  main::g@11 x1 10: 21=10/1\n"),
    # ---- calls that fail or jump
    "an entry without a return is no call": (
        START + "+ 9 1 1, > 1 2, + 100 1 2, + 7 1 3, > 1 4, + 5 1 4, + 6 1 11, < 1 12 12 main::f, + 6 1 12, -, + 2 1 4, p 7",
        "main::RUNTIME@0 x1 123: 1=9/1 2=100/1 3=7/1 4=7/1\n"
        " main::f@4 x1 12: 11=6/1 12=6/1\n"),
    "goto &sub: the jumper returns, the target goes on at its depth": (
        START + "+ 10 1 1, > 1 2, + 10 1 2, + 50 1 11, > 1 12, < 1 65 65 main::jumper, "
        "+ 10 1 12, + 30 1 21, < 1 40 40 main::target, + 10 1 22, -, + 9 1 2, p 7",
        "main::RUNTIME@0 x1 24: 1=10/1 2=14/1\n"
        " main::jumper@2 x1 65: 11=54/1 12=11/1\n"
        " main::target@12 x1 40: 21=30/1 22=10/1\n"),
    "the statement that runs when a jumper returns late is the target's": (
        START + "+ 10 1 1, > 1 2, + 10 1 2, > 1 12, + 10 1 12, < 1 20 20 main::jumper, + 5 1 21, < 1 15 15 main::target, + 10 1 22, -, + 9 1 2, p 7",
        "main::RUNTIME@0 x1 19: 1=10/1 2=9/1\n"
        " main::jumper@2 x1 20: 12=20/1\n"
        " main::target@12 x1 15: 21=5/1 22=10/1\n"),
    # ---- frames from before the recording, and such as never return
    "frames open at a fork are found when they return": (
        START + "+ 10 1 21, > 1 22, + 10 1 22, + 5 1 31, < 3 9 9 main::leaf, + 4 1 32, -, + 10 1 22, -, < 2 50 30 main::inner, "
        "+ 10 1 23, -, < 1 90 30 main::outer, + 5 1 12, -, + 5 1 3, p 7",
        "main::RUNTIME@0 x1 5: 3=5/0\n"
        " main::outer@0 x1 30: 12=30/0\n"
        "  main::inner@0 x1 30: 21=7/1 22=15/1 23=8/0\n"
        "   main::leaf@22 x1 9: 31=5/1 32=4/1\n"),
    "open frames are named by their lines and have their statements' time": (
        START + "s 1 main::f 10 19, s 1 main::g 20 29, + 10 1 1, > 1 2, + 10 1 2, + 7 1 11, > 1 12, + 3 1 12, + 4 1 21, p 7",
        "main::RUNTIME@0 x1 20: 1=10/1 2=10/1\n"
        " main::f@2 x1 10: 11=7/1 12=3/1\n"
        "  main::g@12 x1 4: 21=4/1\n"),
    "a missing level between returns is one frame": (
        START1 + "+ 10 1 1, < 3 5 5 main::a, < 1 4 4 main::b, + 1 1 2, p 7",
        "main::RUNTIME@0 x1 2: 1=1/1 2=1/1\n"
        " main::b@0 x1 4: 0=4/0\n"
        "  [unreturned]@0 x1 0:\n"
        "   main::a@0 x1 5: 0=5/0\n"),
    "calls whose caller never returned do not hang under an earlier call": (
        START1 + "< 1 5 5 main::uno, < 3 7 7 main::one, + 20 1 1, p 7",
        "main::RUNTIME@0 x1 8: 1=8/1\n"
        " [unreturned]@0 x1 0:\n"
        "  main::one@0 x1 7: 0=7/0\n"
        " main::uno@0 x1 5: 0=5/0\n"),
    # ---- recordings without entries
    "depths give the tree, ranges the lines, arcs the call sites": (
        START1 + "+ 10 1 1, + 5 1 11, < 2 8 8 main::g, + 8 1 21, -, < 1 20 12 main::f, + 7 1 12, -, + 20 1 2, s 1 main::f 10 19, "
        "s 1 main::g 20 29, c 1 2 main::RUNTIME 1 20 12 0 0 main::f, c 1 12 main::f 1 8 8 0 0 main::g, p 7",
        "main::RUNTIME@0 x1 30: 1=10/1 2=20/0\n"
        " main::f@2 x1 12: 11=5/1 12=7/0\n"
        "  main::g@12 x1 8: 21=8/1\n"),
    "without call events the tree is estimated from arcs": (
        "@ 1 /a.pl, ! calls 0, P 7 1, + 10 1 1, + 12 1 11, + 8 1 21, + 10 1 2, s 1 main::f 10 19, s 1 main::g 20 29, "
        "c 1 2 main::RUNTIME 2 20 12 0 0 main::f, c 1 12 main::f 3 8 8 0 0 main::g, p 7",
        "main::RUNTIME@0 x1 20: 1=10/1 2=10/1\n"
        " main::f@2 x2 12: 11=12/1\n"
        "  main::g@12 x3 8: 21=8/1\n"),
    "without the subroutine profiler subs have their statements' time": (
        "@ 1 /a.pl, ! subs 0, P 7 1, + 10 1 1, + 5 1 11, + 6 1 2, s 1 main::f 10 19, p 7",
        "main::RUNTIME@0 x1 16: 1=10/1 2=6/1\n"
        " main::f@0 x0 5: 11=5/1\n"),
    "file scope of a required file belongs to the BEGIN block that ran it": (
        START1 + "@ 2 /m.pm, s 1 main::BEGIN@3 3 3, + 5 1 3, + 7 2 1, < 1 12 12 main::BEGIN@3, + 1 1 3, -, + 4 1 9, "
        "c 1 3 main::NULL 1 12 12 0 0 main::BEGIN@3, p 7",
        "main::RUNTIME@0 x1 5: 9=5/0\n"
        " main::BEGIN@3@3 x1 12: 3=5/2 1=7/1\n"),
}


@pytest.mark.parametrize("script, contexts", TREES.values(), ids=TREES)
def test_contexts(tmp_path, script, contexts):
    assert tree(stream(tmp_path / "s.out", script)) == contexts


def document(*files):
    return json.loads(good("-q", "--json", "--unit=ticks", "--no-merge-evals", *files))


def test_a_recursion_counts_once(tmp_path):
    """Inclusive time is the outermost call's, the rest is apart."""
    script = START + "> 1 1, + 1 1 1, > 1 11, + 1 1 11, > 1 11, + 1 1 11, < 3 10 10 main::f, + 9 1 12, -, < 2 20 10 main::f, + 9 1 12, -, " \
        "< 1 30 10 main::f, + 9 1 12, -, + 1 1 1, p 7"
    f, = [sub for sub in document(stream(tmp_path / "s.out", script))["subs"] if sub["name"] == "main::f"]
    assert (f["calls"], f["exclusive"], f["inclusive"], f["recursive"], f["recursion_depth"]) == (3, 30, 30, 30, 2)


def test_depth_is_no_danger(tmp_path):
    w = Writer().pid_start(7).fid(1, "/a.pl")
    for _ in range(2):
        for _ in range(100000):
            w.entry(1, 5)
        for depth in range(100000, 0, -1):
            w.leave(depth, 1, 1, "m::r")
    found = document(w.pid_end(7).save(tmp_path / "s.out"))
    assert [sub["calls"] for sub in found["subs"] if sub["name"] == "m::r"] == [200000]
    w = Writer(options={"calls": 1}).pid_start(7).fid(1, "/a.pl")
    for _ in range(1000):
        w.leave(900000, 1, 1, "m::x").leave(1, 1, 1, "m::y")
    assert len(good("-q", "--rows", w.pid_end(7).save(tmp_path / "s.out")).splitlines()) < 10


def test_whatever_the_events_all_adds_up_and_no_statement_is_lost(tmp_path):
    dice = random.Random(1)
    for number in range(100):
        w, statements, discount = Writer().fid(1, "/a.pl").fid(2, "/b.pl").pid_start(7), 0, False
        for _ in range(60):
            what, n = dice.randrange(8), dice.randrange(256)
            if what < 2:
                w.entry(1, n % 4)
            elif what < 4:
                w.leave(dice.randrange(1, 6), n, n % 50 - 2, f"m::s{n % 3}")
            elif what == 4:
                w.discount()
                discount = True
            elif what == 5 and n < 10:
                w.pid_end(7).pid_start(8, 7)
                discount = False
            elif what > 5:
                w.time(n % 60 - 3, n % 2 + 1, dice.randrange(30))
                statements += not discount
                discount = False
        if number % 2:
            w.sub(1, "m::s0", 1, 9).sub(1, "m::s1", 3, 5).callers(1, 2, "main::RUNTIME", "m::s1", 2, 9, 5, 1, 1)
        done = run("-q", "--check", w.save(tmp_path / "s.out"))
        assert done.returncode == 3 and b"adds up" in done.stdout + done.stderr, (number, done)
        assert json.loads(run("-q", "--json", tmp_path / "s.out").stdout)["statements"] == statements, number


def test_a_small_recording_costs_no_large_tables(tmp_path):
    """As where many are read."""
    small = stream(tmp_path / "s.out", START + "+ 10 1 1, > 1 2, < 1 5 5 main::f, + 20 1 2, p 7")
    assert instructions("--check", *[small] * 11) - instructions("--check", small) < 10 * 200_000    # 141,000 each


# ---- several inputs ----

ONE = "@ 1 /lib.pm, @ 2 /a.pl, P 1 0, + 10 2 1, > 2 2, + 10 2 2, + 5 1 7, < 1 6 6 L::f, + 1 1 8, -, > 2 3, + 4 2 2, + 3 2 21, < 1 3 3 main::g, " \
    "+ 1 2 22, -, + 2 2 4, s 1 L::f 5 9, s 2 main::g 20 25, p 1"
TWO = "@ 1 /b.pl, @ 2 /lib.pm, P 2 0, + 10 1 1, > 1 2, + 10 1 2, + 5 2 7, < 1 6 6 L::f, + 1 2 8, -, > 1 3, + 4 1 3, + 3 1 21, < 1 3 3 main::g, " \
    "+ 1 1 22, -, + 2 1 4, s 2 L::f 5 9, s 1 main::g 20 25, p 2"


def test_recordings_with_other_clocks_merge_into_one(tmp_path):
    found = document(stream(tmp_path / "one", ONE), stream(tmp_path / "two", TWO, 1000000))
    assert (found["ticks_per_sec"], found["total"], len(found["processes"])) == (10000000, 36 + 360, 2), "the finer tick"
    subs = {(sub["name"], found["files"][sub["file"]]["name"]): sub for sub in found["subs"]}
    f = subs["L::f", "/lib.pm"]
    assert (f["calls"], f["exclusive"], f["statements"]) == (2, 66, 4), "a sub of the same file is one sub"
    assert {("main::g", "/a.pl"), ("main::g", "/b.pl")} <= set(subs), "of the same name in different scripts two"
    assert len(spans(tmp_path / "one", tmp_path / "two")) == 4, "both time lines are there"


@pytest.mark.parametrize("one, two, names", [
    ("@ 1 /a.pl, @ 2 (eval 1)[/a.pl:3] 1 3", "@ 1 /a.pl, @ 2 (eval 1)[/a.pl:3] 1 3", ["/a.pl", "(eval 1)[/a.pl:3]", "(eval 1)[/a.pl:3]"]),
    ("@ 1 /loader/0x55d0/F.pm, @ 2 /loader/0x55d0/G.pm", "@ 1 /loader/0x7f21/F.pm, @ 2 /F.pm", ["/loader/0x55d0/F.pm", "/loader/0x55d0/G.pm", "/F.pm"]),
], ids=["evals", "hooks in @INC"])
def test_files_of_one_name_are_one_file_but_string_evals_are_not(tmp_path, one, two, names):
    """A file that a hook in @INC has delivered is one, wherever the hook lies."""
    files = [stream(tmp_path / f"{pid}", f"{files}, P {pid} 0, + 5 2 1, p {pid}") for pid, files in ((1, one), (2, two))]
    assert [file["name"] for file in document(*files)["files"] if file["name"]] == names


# ---- the time line ----

def spans(*arguments):
    """The calls in order of their starts: (name, start, end)."""
    found = json.loads(good("-q", "--speedscope", "--unit=ticks", *arguments))
    calls, names = [], [frame["name"] for frame in found["shared"]["frames"]]
    for one in found["profiles"]:
        open_calls = []
        for event in one.get("events", ()):
            if event["type"] == "O":
                open_calls.append(len(calls))
                calls.append([names[event["frame"]], event["at"], None])
            else:
                calls[open_calls.pop()][2] = event["at"]
    return [tuple(call) for call in calls if call[0] != "main::RUNTIME"]


SPANS = {
    "calls lie where the statement clock says, one after the other": (
        START + "+ 10 1 1, > 1 2, + 20 1 2, + 30 1 11, > 1 12, < 2 4 4 main::CORE:print, > 1 12, < 2 5 5 main::CORE:print, < 1 80 71 main::f, "
        "+ 50 1 12, -, + 10 1 2, p 7", [], [("main::f", 30, 110), ("main::CORE:print", 60, 64), ("main::CORE:print", 64, 69)]),
    "without entries a call began its duration before it returned": (
        START1 + "+ 30 1 1, + 40 1 11, < 2 10 10 main::g, + 10 1 21, -, + 10 1 12, < 1 60 50 main::f, + 0 1 13, -, + 10 1 2, p 7", [],
        [("main::f", 30, 90), ("main::g", 70, 80)]),
    "a full one drops the shortest calls, not the callers of long ones": (
        START + "> 1 1, + 1 1 1, > 1 2, < 2 1 1 m::a, > 1 2, < 2 1 1 m::a, > 1 2, < 2 50 50 m::b, < 1 60 8 m::f, + 60 1 2, -, + 1 1 1, p 7",
        ["--max-calls=2"], [("m::f", 1, 61), ("m::b", 3, 53)]),
}


@pytest.mark.parametrize("script, options, calls", SPANS.values(), ids=SPANS)
def test_the_time_line(tmp_path, script, options, calls):
    assert spans(*options, stream(tmp_path / "s.out", script)) == calls
