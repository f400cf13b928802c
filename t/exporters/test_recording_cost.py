# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""What recording cost is taken off: counts times costs per context, worked out here from the raw
stream, and every format shows the same corrected times, the HTML report's tables too."""

import collections
import itertools
import json
import math
import re
import subprocess

import pytest

import exports
import htmlpages
import profiles
import recordings
import reports
from nytpread import Reader
from nytpwrite import Writer
from readers import read_callgrind, read_pprof

ROOT = profiles.TESTS.parent

# Picoseconds an event; a tick is 100 ns, so that rounding and zero are met all the time.
COSTS = {"stmt": 10_300, "leave": 13_100, "call_in": 22_700, "call_out": 24_100,
         "xsub_in": 19_500, "xsub_out": 19_700, "op_in": 21_000, "op_out": 23_000}
TICKS = {kind: value * 1e7 / 1e12 for kind, value in COSTS.items()}


def u32_size(first):
    return 1 if first < 0x80 else 2 if first < 0xC0 else 3 if first < 0xE0 else 4 if first < 0xFF else 5


def with_costs(path, out, costs=None):
    """The same recording, with what each event cost behind every process's start."""
    data = profiles.inflated(path)
    start = data.index(b"\nP" if b"\nzP" not in data else b"\nzP") + 1
    start += data[start:start + 1] == b"z"
    at = start + 1
    at += u32_size(data[at])
    at += u32_size(data[at]) + 8
    words = " ".join(f"{kind}={value}" for kind, value in (costs or COSTS).items())
    plain = data[:start].removesuffix(b"z")
    out.write_bytes(plain + data[start:at] + f"#nytp-costs {words}\n".encode() + data[at:])
    return str(out)


def export(*arguments, code=0):
    return exports.exported(*arguments, statuses=[code])


def document(*arguments, unit="ticks", **how):
    return json.loads(export("--json", f"--unit={unit}", *arguments, **how))


class Context:
    """A chain of calls, by sub and place of the call."""

    def __init__(self, name, place):
        self.name, self.place = name, place
        self.calls = self.begun = self.left = 0
        self.children = {}

    def child(self, name, place):
        return self.children.setdefault((name, place), Context(name, place))

    def take_in(self, other):
        self.calls += other.calls
        self.begun += other.begun
        self.left += other.left
        for (name, place), below in other.children.items():
            self.child(name, place).take_in(below)


def contexts(path):
    """The tree of one process of a recording with entry events, in which each call returned."""
    root = Context(b"main::RUNTIME", None)
    stack, owner = [root], root
    returned = of_call = discount = False
    xsubs = set()
    for tag, *fields in Reader(path):
        if tag == ">":
            stack.append(Context(None, tuple(fields)))
        elif tag == "<":
            frame = stack.pop()
            while len(stack) > fields[0]:                 # entries that came to nothing
                stack.pop()
            returned |= owner is frame
            frame.name = fields[3]
            frame.calls = 1
            caller = stack[-1]
            known = caller.child(frame.name, frame.place)
            known.take_in(frame)
            if owner is frame:
                owner = known
        elif tag in "+*":
            owner.begun += not discount
            owner.left += discount and not of_call
            of_call, returned, discount = returned, False, False
            owner = stack[-1]
        elif tag == "-":
            discount = True
        elif tag == "c" and fields[0] == 0 and fields[3] == 0:
            xsubs.add(fields[-1])
    assert len(stack) == 1
    return root, xsubs


def kind_of(name, xsubs):
    return "op" if b"CORE:" in name else "xsub" if name in xsubs else "call"


def cost_of(context, xsubs):
    cost = context.begun * TICKS["stmt"] + context.left * TICKS["leave"]
    if context.place is not None:
        cost += context.calls * TICKS[kind_of(context.name, xsubs) + "_in"]
    return cost + sum(child.calls * TICKS[kind_of(name, xsubs) + "_out"]
                      for (name, _), child in context.children.items())


def stacks(text):
    return {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in text.decode().splitlines()}


def test_counts_times_costs_come_off_each_context(profile, tmp_path):
    """In this program each chain of names has one chain of places, so the two trees compare."""
    program = tmp_path / "p.pl"
    program.write_text("""
sub leaf { my $n = shift; for my $i (1 .. $n) { $n += $i } return $n }
sub middle { my $n = 0; while ($n < 40) { $n += length sprintf('%d', leaf(3)) + 4 } eval { $n++ }; $n }
middle() for 1 .. 200;
sub deep { my $n = shift; return $n ? deep($n - 1) : leaf(50) }
deep(20) for 1 .. 20;
my @sorted = sort { $a <=> $b } map { lc } 1 .. 300;
""")
    recorded = tmp_path / "p.out"
    profiles.run_recorder([str(program)], "calls=2", recorded)
    file = with_costs(recorded, tmp_path / "costs.out")
    before = stacks(export("--collapsed", "--unit=ticks", "--as-recorded", "--no-merge-evals", file))
    after = stacks(export("--collapsed", "--unit=ticks", "--no-merge-evals", file))
    root, xsubs = contexts(str(recorded))
    compared = changed = 0
    work = [("main::RUNTIME", root)]
    seen = collections.Counter()
    while work:
        path, context = work.pop()
        seen[path] += 1
        names = collections.Counter(name for name, _ in context.children)
        for (name, _), child in context.children.items():
            if names[name] == 1:
                work.append((f"{path};{name.decode()}", child))
        # Nodes below several places of one name are summed in the export; left out here.
        if path not in before or before[path] < 0:
            continue
        rest = max(0, before[path] - cost_of(context, xsubs))
        assert abs(after.get(path, 0) - rest) <= 0.5 + 1e-6, path
        compared += 1
        changed += after.get(path, 0) != before[path]
    assert set(seen.values()) == {1}
    assert compared > 20 and changed > 10


NAMES = ["mixed-calls2", "mixed-calls1", "mixed-calls0", "mixed-blocks", "mixed-subs0", "recurse",
         "recurse-calls1", "evals", "jumps", "unreturned", "exec", "requires", "killed-plain"]


@pytest.mark.parametrize("name", NAMES)
def test_sums_hold_in_every_format(profile, tmp_path, name):
    file = with_costs(profile(name), tmp_path / "costs.out")
    code = 3 if name.startswith("killed") else 0
    assert export("--check", file, code=code).rstrip().endswith((b"ok", b"partial"))
    data, raw = document(file, code=code), document("--as-recorded", file, code=code)
    taken_off = sum(process["recording_cost"] for process in data["processes"])
    assert taken_off > 0 and data["total"] == raw["total"] - taken_off
    assert sum(sub["exclusive"] for sub in data["subs"]) == data["total"]
    was = {(sub["name"], sub["file"]): sub for sub in raw["subs"]}
    for sub in data["subs"]:
        old = was[sub["name"], sub["file"]]
        assert old["exclusive"] < 0 or 0 <= sub["exclusive"] <= old["exclusive"]
        assert (sub["calls"], sub["statements"]) == (old["calls"], old["statements"])
    assert sum(stacks(export("--collapsed", "--unit=ticks", file, code=code)).values()) == data["total"]
    costs = collections.Counter()
    for cost in data["lines"]:
        assert cost["exclusive"] >= 0 or any(s["exclusive"] < 0 for s in raw["subs"])
        costs[cost["sub"]] += cost["exclusive"]
    assert sum(costs.values()) == data["total"]
    in_ns = data["total"] * 100
    assert read_callgrind(export("--callgrind", "--unit=ns", file, code=code)).total == in_ns
    assert read_pprof(export("--pprof", file, code=code)).total == in_ns


@pytest.mark.parametrize("name", ["mixed-calls2", "recurse", "evals"])
def test_the_time_line_shrinks_and_stays_nested(profile, tmp_path, name):
    file = with_costs(profile(name), tmp_path / "costs.out")
    trace = json.loads(export("--speedscope", "--unit=ns", file))
    timeline = next(p for p in trace["profiles"] if p["type"] == "evented")
    stack, last, own = [], timeline["startValue"], collections.Counter()
    for event in timeline["events"]:
        assert event["at"] >= last
        own[stack[-1] if stack else None] += event["at"] - last
        last = event["at"]
        if event["type"] == "O":
            stack.append(event["frame"])
        else:
            assert stack.pop() == event["frame"]
    assert not stack
    data = document(file, unit="ns")
    assert abs(sum(own.values()) - data["total"]) <= 200
    exclusive = collections.Counter()
    for sub in data["subs"]:
        exclusive[sub["name"]] += sub["exclusive"]
    shown = collections.Counter()
    assert own.pop(None, 0) == 0
    for frame, ticks in own.items():
        shown[trace["shared"]["frames"][frame]["name"]] += ticks
    for name, ticks in exclusive.most_common(5):
        assert math.isclose(shown[name], ticks, rel_tol=0.01, abs_tol=2000), name


def test_without_costs_nothing_changes(profile, tmp_path):
    file = profile("evals")
    for form in ("--json", "--speedscope", "--callgrind", "--top"):
        assert export(form, file) == export(form, "--as-recorded", file)


def test_the_terminal_says_how_much_was_taken_off(profile, tmp_path):
    file = with_costs(profile("mixed-calls2"), tmp_path / "costs.out")
    assert b" that recording cost" in export("--top", file).splitlines()[0]
    assert b" that recording cost" not in export("--top", "--as-recorded", file)
    assert b" taken off\n" in export("--stats", file)


def subs_of(told):
    return {sub["name"]: sub for sub in told["subs"]}


def test_a_margin_is_told_and_what_is_mostly_cost_is_marked(tmp_path):
    """Of 4000 statements of 2 us each of two subs, recording the one's took 1 us, the other's 1.5 us."""
    files = []
    for cost in 1_000_000, 1_500_000:
        stream = Writer().pid_start(7).comment(f"nytp-costs stmt={cost}").fid(1, "/x/a.pl")
        for _ in range(4000):
            stream.time(20, 1, 3)
        files.append(stream.pid_end(7).save(tmp_path / f"{cost}.out"))
    low, high = (export("--top", file).decode() for file in files)
    assert low.splitlines()[0].endswith("; less 4.00 ms that recording cost (of up to 8.00 ms)")
    assert "~" not in low and re.search(r"^ +4\.00 ms +100\.0%.* main::RUNTIME", low, re.M)
    assert re.search(r"^ +~2\.00 ms +100\.0%.* main::RUNTIME", high, re.M)
    assert high.endswith("\n~ recording took more than is left: NYTPROF=sample=1000 is nearer\n")
    for quiet in ("--unit=ns", "--as-recorded"):                # numbers for scripts; nothing taken off
        assert "~" not in export("--top", quiet, files[1]).decode()
    for file, cost in zip(files, (4_000_000, 6_000_000)):
        assert subs_of(document(file, unit="ns"))["main::RUNTIME"]["recording_cost"] == cost
    assert "recording_cost" not in subs_of(document("--as-recorded", files[0]))["main::RUNTIME"]


@pytest.mark.parametrize("name", ["mixed-calls2", "recurse", "names"])
def test_costs_of_subs_are_what_was_taken_off(profile, tmp_path, name):
    """Where each sub has the time; costs are small for that."""
    file = with_costs(profile(name), tmp_path / "costs.out", {kind: 100_000 for kind in COSTS})
    after, before = document(file, unit="ns"), subs_of(document("--as-recorded", file, unit="ns"))
    for sub in after["subs"]:
        taken = before[sub["name"]]["exclusive"] - sub["exclusive"]
        assert taken <= sub.get("recording_cost", 0) + 100 * len(after["calls"]), sub["name"]
    assert sum(sub.get("recording_cost", 0) for sub in after["subs"]) >= after["processes"][0]["recording_cost"] > 0


def two_processes(first=(10_000_000, 30_000_000, 20_000_000), second=()):
    """Each tells these costs, of which the last counts: 200 ticks."""
    stream = Writer()
    for pid, values in (7, first), (8, second):
        stream.pid_start(pid)
        for value in values:
            stream.comment(f"nytp-costs stmt={value}")
        stream.fid(1, "/x/a.pl")
        for _ in range(4):
            stream.time(1000, 1, 3)
        stream.pid_end(pid)
    return stream


def test_costs_are_a_processs_own_and_stay_so_when_merged(tmp_path):
    file = two_processes().save(tmp_path / "two.out")
    found = document(recordings.merge(tmp_path / "merged.out", file, file))["processes"]
    assert [(p["total"], p["recording_cost"]) for p in found] == [(3200, 800), (4000, 0)] * 2
    assert document(file, file)["total"] == 14400


def test_no_time_goes_below_zero(tmp_path):
    stream = Writer().pid_start(7).comment("nytp-costs stmt=100000000").fid(1, "/x/a.pl")
    for _ in range(10):
        stream.time(5, 1, 3)
    data = document(stream.pid_end(7).save(tmp_path / "much.out"))
    assert data["total"] == 0 and data["processes"][0]["recording_cost"] == 50


@pytest.mark.parametrize("value", ["0", "-5", "x", "100000001", "99999999999999999999999", ""])
def test_costs_that_cannot_be_are_passed_over(tmp_path, value):
    stream = Writer().pid_start(7).comment(f"nytp-costs x=1 stmt={value} =7 leave").fid(1, "/x/a.pl").time(500, 1, 3)
    assert document(stream.pid_end(7).save(tmp_path / "odd.out"))["total"] == 500


# -------------------------------------------------------------------- the HTML report's tables

@pytest.fixture
def pages(tmp_path):
    numbers = itertools.count()

    def write(*arguments, code=0):
        return reports.made(tmp_path / f"report{next(numbers)}", "--no-merge-evals", *arguments, codes=[code])
    return write


def line_times(report, level="line"):
    """{(page, line): ns} of what source pages say."""
    return {(name.removesuffix(f"-{level}.html"), line): cells[2].number()
            for name, page in report.pages.items() if name.endswith(f"-{level}.html")
            for line, cells in page.lines().items() if len(cells) > 4 and cells[2].text()}


def sub_times(report):
    """{name: (exclusive, inclusive ns)} of the table of all subs."""
    return {cells[5].elements("a")[0].text() if cells[5].elements("a") else cells[5].own_text().split()[0]:
            (cells[3].number(), cells[4].number())
            for cells in report.pages["index-subs-excl.html"].table("list") if len(cells) == 6}


@pytest.mark.parametrize("name", ["mixed-calls2", "mixed-calls0", "mixed-blocks", "recurse-calls1", "evals", "unreturned", "killed-plain"])
def test_the_reports_tables_are_the_models(pages, profile, tmp_path, name):
    file = with_costs(profile(name), tmp_path / "costs.out")
    code = 3 if name.startswith("killed") else 0
    totals = []
    for how in [], ["--as-recorded"]:
        report = pages(file, *how, code=code)
        model = document(*how, file, unit="ns", code=code)
        totals.append(model["total"])
        nowhere = [cells[1].number() for cells in report.pages["index.html"].table("files") if cells[3].text().strip() == "(no file)"]
        assert sum(line_times(report).values()) + sum(nowhere) == model["total"] - model.get("child_wait", 0)
        for level in "block", "sub":
            assert sum(line_times(report, level).values()) in (0, sum(line_times(report).values()))
        want = collections.Counter()
        for sub in model["subs"]:
            want[sub["name"]] += sub["exclusive"]
        for sub, (own, _) in sub_times(report).items():
            assert own == want[sub], sub
        assert ("Recording cost" in report.main("index.html").text()) == (how == [])
    assert totals[0] < totals[1]


def test_reports_of_merged_recordings_are_corrected(pages, tmp_path):
    """Two recordings by this tree's own recorder, each with costs of its own: merged by nytprofmerge,
    and given side by side. Each process is corrected by itself, so that all is exact."""
    program = ("sub leaf {\n my $n = shift;\n return $n + 1\n}\nsub outer {\n my $n = 0;\n $n = leaf($n) for 1 .. 300;\n"
               " return lc \"$n\"\n}\nouter() for 1 .. 40;\n")
    each = [recordings.record(tmp_path / "ours", program, out=f"{i}.out", steps=False) for i in range(2)]
    merged = recordings.merge(tmp_path / "merged.out", *each)
    models = [document(file, unit="ns") for file in each]
    parts = [pages(file) for file in each]
    costs = [model["processes"][0]["recording_cost"] for model in models]
    assert min(costs) > 100_000, costs
    lines, subs = collections.Counter(), collections.Counter()
    for part in parts:
        lines.update(line_times(part))
        subs.update({sub: own for sub, (own, _) in sub_times(part).items()})
    assert sum(lines.values()) == sum(model["total"] for model in models)
    for whole in pages(merged), pages(*each):
        assert line_times(whole) == lines
        assert {sub: own for sub, (own, _) in sub_times(whole).items()} == subs
        assert sum(line_times(whole).values()) == sum(model["total"] for model in models)
        flame = json.loads(re.search(r"nytp\.flame\((.*)\)", (whole.folder / "flame.js").read_text(), re.S)[1])
        assert flame["total"] * flame["unit_ns"] == sum(model["total"] for model in models)
        sentence = next(p for p in whole.main("index.html").elements("p", "cost"))
        assert htmlpages.seconds(sentence.elements("b")[0].text()) == pytest.approx(sum(costs) / 1e9, rel=0.01)


def test_costs_told_after_the_first_statements_count_too(pages, tmp_path):
    """The first process tells none."""
    file = two_processes((), (20_000_000,)).save(tmp_path / "late.out")
    for how in (), ("--no-flame",):
        assert list(line_times(pages(file, *how)).values()) == [8000 * 100 - 4 * 200 * 100]


def test_the_report_says_what_was_taken_off_and_classic_commands_take_nothing(pages, profile, tmp_path):
    file = with_costs(profile("mixed-calls2"), tmp_path / "costs.out")
    sentence = next(p for p in pages(file).main("index.html").elements("p", "cost")).text()
    assert re.fullmatch(r"Recording cost [\d.]+(µs|ms|s) more, which is taken off all times here\.", sentence)
    for command in "nytprofcsv", "nytprofcg":
        results = []
        for source in profile("mixed-calls2"), file:
            out = tmp_path / f"{command}{len(results)}"
            subprocess.run(["perl", "-Mblib", ROOT / "bin" / command, "-f", source, "-o", out],
                           cwd=ROOT, check=True, capture_output=True)
            results.append([p.read_text() for p in sorted(out.iterdir())] if out.is_dir() else out.read_text())
        assert results[0] == results[1] and results[0], command
