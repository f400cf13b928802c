# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Samples of allocated bytes (memory=BYTES): what is made of the stream's comments."""

import csv
import io
import json
import re
import subprocess

import pytest

from command import ROOT, good, messages, pprof_top, run
from nytpwrite import Writer

MEASURES = ("alloc_objects", "alloc_space", "inuse_objects", "inuse_space")


def recording(path, pid=77):
    """main calls f at line 2: 1,000 bytes in 2 blocks before its first line, 50,000 on line 12, which stay, 7,000 in 70 blocks on line 13,
    which are freed there, and an xsub's 300, which main frees after that has returned; main has 20 of its own. What another process
    allocated is freed, too."""
    stream = Writer({"application": "/x/app.pl"}, {"calls": "2"}).pid_start(pid, 1, 1000.0).fid(1, "/x/app.pl")
    stream.time(100, 1, 1).comment("nytp-alloc 3 20 1 1 2").entry(1, 2).comment("nytp-alloc 4 1000 2 1 2").time(10, 1, 2).time(10, 1, 11)
    stream.comment("nytp-alloc 6 50000 1 1 12").entry(1, 12).comment("nytp-alloc 8 300 3 1 12").leave(2, 5, 5, "main::xs").time(20, 1, 12)
    stream.comment("nytp-alloc 9 7000 70 1 13").comment("nytp-free 9").leave(1, 40, 35, "main::f").time(10, 1, 13).discount()
    stream.comment("nytp-free 8").comment("nytp-free 2").comment("nytp-free 9").time(10, 1, 2)
    stream.sub(1, "main::f", 10, 14).sub(1, "main::xs", 0, 0).callers(1, 2, "main::RUNTIME", "main::f", 1, 40e-7, 35e-7)
    stream.callers(1, 12, "main::f", "main::xs", 1, 5e-7, 5e-7).callers(0, 0, "", "main::xs", 0, 0, 0)
    path.write_bytes(stream.pid_end(pid, 2000.0).data())
    return path


OWN = {"main::RUNTIME": (1, 20, 1, 20), "main::f": (73, 58000, 3, 51000), "main::xs": (3, 300, 0, 0)}
INCLUSIVE = {"main::RUNTIME": (77, 58320, 4, 51020), "main::f": (76, 58300, 3, 51000), "main::xs": (3, 300, 0, 0)}


def measures(row, head=""):
    return tuple(int(row[head + name]) for name in MEASURES)


def subs(*arguments, head=""):
    return {row["name"]: measures(row, head) for row in json.loads(good("-q", "--json", *arguments))["subs"]}


def test_each_goes_to_the_open_call_and_to_the_line_that_began_in_it(tmp_path):
    file = recording(tmp_path / "b.out")
    assert subs(file) == OWN and subs(file, head="inclusive_") == INCLUSIVE
    data = json.loads(good("-q", "--json", file))
    names = [sub["name"] for sub in data["subs"]]
    assert {(names[row["sub"]], row["line"]): measures(row) for row in data["lines"] if row["alloc_space"]} == {
        ("main::RUNTIME", 2): (1, 20, 1, 20), ("main::f", 10): (2, 1000, 2, 1000), ("main::f", 12): (1, 50000, 1, 50000),
        ("main::f", 13): (70, 7000, 0, 0), ("main::xs", 0): (3, 300, 0, 0)}
    assert {(names[row["callee"]], row["line"]): measures(row, "inclusive_") for row in data["calls"]} == {
        ("main::f", 2): (76, 58300, 3, 51000), ("main::xs", 12): (3, 300, 0, 0)}


def test_several_inputs_and_selections_are_added_up(tmp_path):
    files = recording(tmp_path / "a.out"), recording(tmp_path / "b.out", pid=78)
    assert subs(*files) == {name: tuple(2 * value for value in values) for name, values in OWN.items()}
    assert subs("--focus=^main::f$", files[0])["main::f"] == OWN["main::f"]
    assert subs("--hide=^main::xs$", files[0])["main::f"] == (76, 58300, 3, 51000)


def test_a_block_that_is_freed_when_its_calls_have_become_one_is_found(tmp_path):
    """A thousand calls of f from two places, each with a block; every second is freed at the end."""
    stream = Writer({"application": "/x/app.pl"}, {"calls": "2"}).pid_start(7, 1, 1000.0).fid(1, "/x/app.pl").time(1, 1, 1)
    for n in range(1, 1001):
        stream.entry(1, 1 + n % 2).time(1, 1, 1).comment(f"nytp-alloc {2 * n} {n} 1 1 9").entry(1, 9).comment(f"nytp-alloc {2 * n + 1} 10 1 0 0")
        stream.leave(2, 1, 1, "main::g").leave(1, 1, 1, "main::f")
    for n in range(2, 1001, 2):
        stream.comment(f"nytp-free {2 * n}").comment(f"nytp-free {2 * n + 1}")
    for line in 1, 2:
        stream.callers(1, line, "main::RUNTIME", "main::f", 500, 1e-4, 1e-4)
    stream.sub(1, "main::f", 5, 10).sub(1, "main::g", 12, 14).callers(1, 9, "main::f", "main::g", 1000, 1e-4, 1e-4)
    (tmp_path / "m.out").write_bytes(stream.time(1, 1, 1).pid_end(7, 2000.0).data())
    found = subs(tmp_path / "m.out")
    assert found["main::f"] == (1000, 500500, 500, 250000) and found["main::g"] == (1000, 10000, 500, 5000)


def test_what_a_long_call_allocates_before_it_has_its_name_is_found(tmp_path):
    """Two calls of f, each with more statements than wait to be booked, and a call of g in it."""
    stream = Writer({"application": "/x/app.pl"}, {"calls": "2"}).pid_start(7, 1, 1000.0).fid(1, "/x/app.pl").time(1, 1, 1)
    for n in 1, 2:
        stream.entry(1, 1).comment(f"nytp-alloc {10 * n} 5 1 0 0").time(1, 1, 1).comment(f"nytp-alloc {10 * n + 1} 100 1 1 6").entry(1, 6).time(1, 1, 6)
        stream.comment(f"nytp-alloc {10 * n + 2} 3000 1 1 13")
        for _ in range(70000):
            stream.time(1, 1, 13)
        stream.leave(2, 70000, 70000, "main::g").leave(1, 1, 1, "main::f")
    stream.comment("nytp-free 11").comment("nytp-free 22").comment("nytp-free 10")
    stream.callers(1, 1, "main::RUNTIME", "main::f", 2, 1e-2, 1e-2).callers(1, 6, "main::f", "main::g", 2, 1e-2, 1e-2)
    stream.sub(1, "main::f", 5, 10).sub(1, "main::g", 12, 14)
    (tmp_path / "m.out").write_bytes(stream.time(1, 1, 1).pid_end(7, 2000.0).data())
    found = subs(tmp_path / "m.out")
    assert found["main::f"] == (4, 210, 2, 105) and found["main::g"] == (2, 6000, 1, 3000)


def test_a_sample_out_of_order_is_none(tmp_path):
    path = recording(tmp_path / "b.out")
    path.write_bytes(path.read_bytes().replace(b"nytp-alloc 6 50000", b"nytp-alloc 4 50000"))
    assert subs(path)["main::f"] == (72, 8000, 2, 1000)


def test_tables_show_them(tmp_path):
    file = recording(tmp_path / "b.out")
    for options, rows in (["--sort=inuse_space"], [("58.0 kB", "51.0 kB", "f"), ("20 B", "20 B", "RUNTIME"), ("300 B", "0 B", "xs")]), (
            ["--sort=alloc_objects"], [("73", "3", "f"), ("3", "0", "xs"), ("1", "1", "RUNTIME")]):
        top = good("-q", "--top", *options, file).decode()
        assert re.findall(r" (\d[\d.]*(?: k?B)?) +(\d[\d.]*(?: k?B)?) main::(\w+)", top) == rows
    assert "SVs" in good("-q", "--top", "--sort=svs", file).decode() and "in use" in good("-q", "--top", file).decode()
    lines = good("-q", "--top", "--lines", "--sort=alloc_space", file).decode()
    assert re.findall(r" (\d[\d.]* k?B) +(\d[\d.]* k?B) /x/app\.pl:(\d+)", lines)[:4] == [
        ("50.3 kB", "50.0 kB", "12"), ("7.0 kB", "0 B", "13"), ("1.0 kB", "1.0 kB", "10"), ("20 B", "20 B", "2")]
    rows = list(csv.DictReader(io.StringIO(good("-q", "--csv", file).decode())))
    assert {row["sub"]: measures(row) for row in rows} == OWN and {row["sub"]: measures(row, "inclusive_") for row in rows} == INCLUSIVE


def test_stacks_show_them(tmp_path):
    file = recording(tmp_path / "b.out")
    assert good("-q", "--collapsed", "--weight=inuse_space", file).decode().splitlines() == ["main::RUNTIME 20", "main::RUNTIME;main::f 51000"]
    assert good("-q", "--collapsed", "--weight=alloc_objects", file).decode().splitlines() == [
        "main::RUNTIME 1", "main::RUNTIME;main::f 73", "main::RUNTIME;main::f;main::xs 3"]
    assert "58320 bytes" in good("-q", "--flamegraph", "--weight=alloc_space", file).decode()
    assert "4 blocks" in good("-q", "--flamegraph", "--weight=inuse_objects", file).decode()
    profiles = json.loads(good("-q", "--speedscope", file))["profiles"]
    assert [(profile["unit"], sorted(profile["weights"])) for profile in profiles[-4:]] == [
        ("none", [1, 3, 73]), ("bytes", [20, 300, 58000]), ("none", [1, 3]), ("bytes", [20, 51000])]


def test_a_difference_of_stacks_shows_them(tmp_path):
    base, now = recording(tmp_path / "a.out"), recording(tmp_path / "b.out")
    now.write_bytes(now.read_bytes().replace(b"nytp-alloc 6 50000", b"nytp-alloc 6 90000"))
    assert good("-q", "--collapsed", "--weight=inuse_space", "--diff", base, now).decode().splitlines() == [
        "main::RUNTIME 20 20", "main::RUNTIME;main::f 51000 91000"]


def grown(path):
    """Line 12 of f, 50,000 bytes in use, has 90,000."""
    path.write_bytes(recording(path).read_bytes().replace(b"nytp-alloc 6 50000", b"nytp-alloc 6 90000"))
    return path


def test_a_difference_of_subs_shows_them(tmp_path):
    base, now = recording(tmp_path / "a.out"), grown(tmp_path / "b.out")
    table = good("-q", "--top", "--weight=inuse_space", "--diff", base, now).decode()
    assert re.findall(r"^bytes in use +51\.0 kB +91\.0 kB +\+78\.4 %  estimated from samples$", table, re.M)
    assert re.findall(r" ([\d.]+ k?B) +([\d.]+ k?B)  (main::\w+)", table) == [("51.0 kB", "91.0 kB", "main::f")]
    assert "main::" not in good("-q", "--top", "--weight=inuse_objects", "--diff", base, now).decode()
    rows = {row["sub"]: row for row in json.loads(good("-q", "--json", "--diff", base, now))["diff"]}
    assert measures(rows["main::f"]["base"]) == OWN["main::f"] and measures(rows["main::f"]["new"]) == (73, 98000, 3, 91000)


def test_each_table_of_a_difference_has_the_numbers_of_json(tmp_path):
    """Where nothing was asked for, the totals tell what is in use; by sub and line all measures are told."""
    base, now = recording(tmp_path / "a.out"), grown(tmp_path / "b.out")
    total = ("bytes in use", "51.0 kB", "91.0 kB", "+78.4 %", "estimated from samples")
    assert re.search("^" + " +".join(map(re.escape, total)) + "$", good("-q", "--diff", base, now).decode(), re.M)
    for options, wanted in ([], [total]), (["--weight=alloc_space"], [
            ("bytes allocated", "58.3 kB", "98.3 kB", "+68.6 %", total[4]), ("0", "0", "0 s", "58.0 kB", "98.0 kB", "`main::f` `/x/app.pl:10`")]), (
            ["--weight=inuse_space", "--lines"], [total, ("0", "0", "0 s", "51.0 kB", "91.0 kB", "`main::f` `/x/app.pl:10`"),
                                                  ("0", "", "0 s", "50.0 kB", "90.0 kB", "line 12")]):
        rows = [tuple(cell.strip() for cell in line.split("|")[1:-1]) for line in good("-q", "--markdown", *options, "--diff", base, now).decode().splitlines()]
        assert [row for row in rows if any("B" in cell for cell in row)] == wanted
    table = good("-q", "--top", "--lines", "--weight=inuse_space", "--diff", base, now).decode()
    assert re.findall(r" ([\d.]+ k?B) +([\d.]+ k?B)    line (\d+)", table) == [("50.0 kB", "90.0 kB", "12")]
    for options in [], ["--lines"]:
        document = json.loads(good("-q", "--json", *options, "--diff", base, now))["diff"]
        table = [row for row in csv.DictReader(io.StringIO(good("-q", "--csv", *options, "--diff", base, now).decode())) if row["sub"] == "main::f"]
        cells = [line for row in document if row["sub"] == "main::f" for line in row["lines"]] if options else document
        assert [(measures(row, "base_"), measures(row, "new_"), row["base_svs"]) for row in table] == [
            (measures(cell["base"]), measures(cell["new"]), str(cell["base"]["svs"])) for cell in cells]
    assert sum(int(row["new_inuse_space"]) for row in table) == 91000 and len(table) == 4


def test_a_table_of_a_difference_where_one_side_has_none(tmp_path):
    base, now = tmp_path / "a.out", recording(tmp_path / "b.out")
    base.write_bytes(now.read_bytes().replace(b"nytp-alloc", b"nytp-xxxxx"))
    row = [row for row in csv.DictReader(io.StringIO(good("-q", "--csv", "--diff", base, now).decode())) if row["sub"] == "main::f"][0]
    assert measures(row, "new_") == OWN["main::f"] and not any(row["base_" + name] for name in MEASURES)
    for option in "--top", "--markdown":
        assert "in use" not in good("-q", option, "--diff", base, now).decode()
    done = run("-q", "--markdown", "--weight=inuse_space", "--diff", base, now)
    assert done.returncode != 0 and "nytp run --memory" in messages(done)[0]


def test_the_report_of_a_difference_shows_them(tmp_path):
    base, now = recording(tmp_path / "a.out"), grown(tmp_path / "b.out")
    good("-q", "--html", "-o", tmp_path / "r.html", "--diff", base, now)
    page = (tmp_path / "r.html").read_text()
    assert "<dt>Bytes in use<dd>51.0 kB \u2192 91.0 kB: +78.4 % (estimated from samples)" in page
    assert page.count('data-key=dinuse') == page.count('title="51.0 kB before, 91.0 kB now">+40.0 kB<td>') == 1
    good("-q", "--html", "-o", tmp_path / "s.html", "--diff", now, base)
    assert '<td data-n=-40000 title="91.0 kB before, 51.0 kB now">-40.0 kB<td>' in (tmp_path / "s.html").read_text()
    for path in base, now:
        path.write_bytes(path.read_bytes().replace(b"nytp-alloc", b"nytp-xxxxx"))
    good("-q", "--html", "-o", tmp_path / "n.html", "--diff", base, now)
    assert "dinuse" not in (tmp_path / "n.html").read_text()


def test_runs_of_a_side_are_their_medians(tmp_path):
    base, now = [recording(tmp_path / f"a{n}.out") for n in range(3)], [grown(tmp_path / "b1.out"), grown(tmp_path / "b2.out"), recording(tmp_path / "b3.out")]
    table = good("-q", "--top", "--weight=alloc_space", "--diff", base[0], "--diff", base[1], "--diff", base[2], *now).decode()
    assert re.search(r"^bytes allocated +58\.3 kB +98\.3 kB ", table, re.M)


@pytest.mark.parametrize("rule,status", [
    ("inuse_space total <= 91020", 0), ("inuse_space total <= 91019", 10), ("inuse_space total <= 91.02 kB", 0), ("inuse_space total <= 0.09 MB", 10),
    ("inuse_space total <= base +79%", 0), ("inuse_space main::f <= base +78%", 10), ("inuse_space main::f <= base + 40 kB", 0),
    ("inuse_space /^main::/ <= base + 39 kB", 10), ("alloc_space main:: <= 98320 B", 0), ("alloc_objects total <= base", 0), ("inuse_objects total <= 3", 10)])
def test_a_limit_on_them(tmp_path, rule, status):
    (tmp_path / "rules").write_text(rule + "\n")
    done = run("-q", "--diff", recording(tmp_path / "a.out"), "--gate", tmp_path / "rules", grown(tmp_path / "b.out"))
    assert done.returncode == status, messages(done)


def test_growth_of_them_is_a_limit_of_the_command_line(tmp_path):
    base, now = recording(tmp_path / "a.out"), grown(tmp_path / "b.out")
    done = run("-q", "--diff", base, "--fail-over=78%:inuse_space:sub", now)
    assert done.returncode == 10 and messages(done) == [
        "/x/app.pl:10: main::f: 91000 bytes in use, were 51000 (+78.4 %) [78%:inuse_space:sub]"]
    assert run("-q", "--diff", base, "--fail-over=79%:inuse_space:sub", now).returncode == 0


@pytest.mark.parametrize("rule", ["inuse_space total <= 3 KiB", "inuse_objects total <= 3 kB", "inuse_space total <= 1000000000 TB", "inuse total <= 3"])
def test_what_is_no_limit_on_them_is_refused(tmp_path, rule):
    (tmp_path / "rules").write_text(rule + "\n")
    done = run("-q", "--gate", tmp_path / "rules", recording(tmp_path / "a.out"))
    assert done.returncode not in (0, 10) and "rules:1: " in messages(done)[0]


def test_a_limit_on_them_is_not_judged_without(tmp_path):
    without = tmp_path / "n.out"
    without.write_bytes(recording(tmp_path / "a.out").read_bytes().replace(b"nytp-alloc", b"nytp-xxxxx"))
    (tmp_path / "rules").write_text("inuse_space total <= base\n")
    for base, now in ((tmp_path / "a.out", without), (without, tmp_path / "a.out")):
        done = run("-q", "--diff", base, "--gate", tmp_path / "rules", now)
        assert done.returncode not in (0, 10) and "nytp run --memory" in messages(done)[0]


@pytest.mark.parametrize("options,title,rows", [
    ([], "in use", [("51.0 kB", "RUNTIME"), ("51.0 kB", "f"), ("0 B", "xs")]),
    (["--sort=alloc_space"], "allocated", [("58.3 kB", "RUNTIME"), ("58.3 kB", "f"), ("300 B", "xs")]),
    (["--sort=inuse_objects"], "in use", [("4", "RUNTIME"), ("3", "f"), ("0", "xs")])])
def test_a_tree_shows_them(tmp_path, options, title, rows):
    tree = good("-q", "--tree", "--min-percent=0", *options, recording(tmp_path / "b.out")).decode()
    assert re.search(rf"^ +incl +incl% +self +calls +{title} sub$", tree, re.M)
    assert re.findall(r" (\d[\d.]*(?: k?B)?) (?:\+-|\| )*main::(\w+)", tree) == rows


def test_small_branches_of_a_tree_of_them_are_one(tmp_path):
    tree = good("-q", "--tree", "--sort=inuse_space", "--min-percent=1", recording(tmp_path / "b.out")).decode()
    assert "main::f" in tree and "main::xs" not in tree
    assert "main::xs" in good("-q", "--tree", "--sort=alloc_objects", "--min-percent=1", tmp_path / "b.out").decode()


def test_a_list_shows_them(tmp_path):
    shown = good("-q", "--list=main::f", recording(tmp_path / "b.out")).decode()
    assert re.search(r"<- 1x \S+ \S+ 51\.0 kB in use  main::RUNTIME", shown) and re.search(r"-> 1x \S+ \S+ 0 B in use  main::xs", shown)
    assert re.search(r" +alloc +in use +line  source$", shown, re.M)
    assert re.findall(r" (\d[\d.]* k?B) +(\d[\d.]* k?B) +(\d+) *$", shown, re.M) == [
        ("1.0 kB", "1.0 kB", "10"), ("0 B", "0 B", "11"), ("50.0 kB", "50.0 kB", "12"), ("7.0 kB", "0 B", "13")]


def test_the_neighbours_of_a_sub_show_what_is_in_use(tmp_path):
    peek = good("-q", "--peek=^main::f$", recording(tmp_path / "b.out")).decode()
    assert re.search(r"^ +incl +share +calls +in use sub: ", peek, re.M) and "SVs" not in peek
    assert re.findall(r" (\d[\d.]* k?B) +(<-  main::RUNTIME|main::f|\(its|->  main::xs)", peek) == [
        ("51.0 kB", "<-  main::RUNTIME"), ("51.0 kB", "main::f"), ("51.0 kB", "(its"), ("0 B", "->  main::xs")]


@pytest.mark.parametrize("options", [[], ["--lines"]])
def test_rows_have_them_and_add_up(tmp_path, options):
    sums = {}
    for line in good("-q", "--rows", *options, recording(tmp_path / "b.out")).decode().splitlines():
        row = json.loads(line)
        sums[row["sub"]] = tuple(map(sum, zip(sums.get(row["sub"], (0, 0, 0, 0)), measures(row))))
    assert sums == OWN


def test_callgrind_has_events_of_them(tmp_path):
    text = good("-q", "--callgrind", "--plain-names", recording(tmp_path / "b.out")).decode()
    assert "events: ns stmts svs AllocN AllocB InUseN InUseB\n" in text
    assert [tuple(map(int, line.split()[-4:])) for line in text.splitlines() if re.match("(summary|totals):", line)] == [(77, 58320, 4, 51020)] * 2


def test_pprof_has_sample_types_of_them(tmp_path):
    profile = tmp_path / "b.pb.gz"
    good("-q", "--pprof", "-o", profile, recording(tmp_path / "b.out"))
    for index, name in enumerate(MEASURES):
        expected = {sub: (OWN[sub][index], INCLUSIVE[sub][index]) for sub in OWN if INCLUSIVE[sub][index]}
        assert pprof_top(profile, f"-sample_index={name}", *(["-unit=B"] if "space" in name else []), scratch=tmp_path) == expected


def test_a_recording_without_says_how_to_make_one(tmp_path):
    path = tmp_path / "n.out"
    path.write_bytes(recording(tmp_path / "b.out").read_bytes().replace(b"nytp-alloc", b"nytp-xxxxx"))
    for option in ["--collapsed", "--weight=inuse_space"], ["--top", "--sort=alloc_space"], ["--top", "--lines", "--sort=inuse_objects"]:
        done = run(*option, path)
        assert done.returncode != 0 and "nytp run --memory" in messages(done)[0]
    assert "space" not in good("-q", "--json", path).decode()
    assert "nytp run --memory" in messages(run("--tree", "--sort=inuse_space", path))[0]
    for option in ("--tree", "--list=.", "--peek=."):
        assert "in use" not in good("-q", option, path).decode()
    assert "space" not in good("-q", "--rows", path).decode()


@pytest.mark.parametrize("broken", ["nytp-svs", "nytp-svs 1", "nytp-svs 1 1", "nytp-svs 1 1 1 1", "nytp-svs x 1 1", "nytp-svs --1 1 1", "nytp-svs 1 -1 1",
                                    "nytp-svs 99999999999999999999 1 1", "nytp-svs 1 4294967296 1", "nytp-svs 1 1 ",
                                    "nytp-in-use", "nytp-in-use 1 1 1 1 1", "nytp-in-use 1 1 1 1 1 1 1", "nytp-inherited 1 1 1 1 1 1",
                                    "nytp-inherited 1 1 1 1 1 1 0", "nytp-inherited 1 1 1 0 1 1 4294967296", "nytp-in-use 1 1 1 4294967296 1 1",
                                    "nytp-in-use 1 1125899906842625 1 0 1 1", "nytp-alloc", "nytp-alloc 1", "nytp-alloc 1 1 1 1", "nytp-alloc 1 1 1 1 1 1", "nytp-alloc x 1 1 1 1", "nytp-alloc -1 1 1 1 1",
                                    "nytp-alloc 1 1125899906842625 1 1 1", "nytp-alloc 1 1 1 4294967296 1", "nytp-alloc 1 1 1 1 1 ", "nytp-free", "nytp-free x"])
def test_what_is_no_such_comment_is_passed_over(tmp_path, broken):
    path = tmp_path / "x.out"
    path.write_bytes(Writer().pid_start(7, 1, 1000.0).fid(1, "/x/app.pl").comment(broken).time(10, 1, 1).pid_end(7, 2000.0).data())
    document = good("-q", "--json", path).decode()
    assert "space" not in document and "svs" not in document


def later_file(path, start=2000.0, pid=77, before=True, end=3000.0):
    """The process goes on in another file, inside of f, which no entry told of: 30,000 of f's bytes and 9 of g's, called by f, are in use from
    before, and main's 20, and another process's f has 5. 10,000 of f's are freed now, and 4,000 allocated."""
    stream = Writer({"application": "/x/app.pl"}, {"calls": "2"}).pid_start(pid, 1, start).fid(1, "/x/app.pl")
    if before:
        stream.comment("nytp-in-use-call 1 0 1 2 main::f").comment("nytp-in-use-call 2 1 1 12 main::g x")
        stream.comment("nytp-in-use 3 20 1 0 1 2").comment("nytp-in-use 5 20000 1 1 1 12").comment("nytp-in-use 6 10000 2 1 1 12")
        stream.comment("nytp-in-use 8 9 1 2 0 0")
    stream.comment("nytp-memory 1000000").time(200000, 1, 12).comment("nytp-free 6").comment("nytp-alloc 11 4000 1 1 12").entry(1, 12)
    stream.leave(2, 5, 5, "main::g x").leave(1, 40, 35, "main::f").time(10, 1, 2).sub(1, "main::f", 10, 14).sub(1, "main::g x", 20, 22)
    stream.comment("nytp-memory 1000000")
    path.write_bytes(stream.pid_end(pid, end).data())
    return path


LATER = {"main::RUNTIME": (0, 0, 1, 20), "main::f": (1, 4000, 2, 24000), "main::g x": (0, 0, 1, 9)}


def test_what_is_in_use_from_before_is_where_it_was_allocated(tmp_path):
    file = later_file(tmp_path / "b.out")
    assert {name: values for name, values in subs(file).items() if any(values)} == LATER
    assert good("-q", "--collapsed", "--weight=inuse_space", file).decode().splitlines() == [
        "main::RUNTIME 20", "main::RUNTIME;main::f 24000", "main::RUNTIME;main::f;main::g_x 9"]
    assert good("-q", "--collapsed", "--weight=alloc_space", file).decode() == "main::RUNTIME;main::f 4000\n"
    assert re.search(r" 0 B +9 B /x/app\.pl:20\n", good("-q", "--top", "--lines", "--sort=inuse_space", file).decode()), "a line with nothing else"
    massif = good("-q", "--massif", file).decode()
    assert [int(n) for n in re.findall(r"mem_heap_B=(\d+)", massif)] == [30029, 24029]
    brief = good("-q", "--brief", file).decode()
    assert "- 24.0 kB, 4.0 kB allocated in all" in brief, brief


def test_of_several_files_of_a_process_the_last_tells_what_is_in_use(tmp_path):
    first, second = recording(tmp_path / "a.out"), later_file(tmp_path / "a.out.2")
    third = later_file(tmp_path / "a.out.3", start=3000.0, end=4000.0)
    both = {"main::RUNTIME": (1, 20, 1, 20), "main::f": (74, 62000, 2, 24000), "main::g x": (0, 0, 1, 9), "main::xs": (3, 300, 0, 0)}
    for files in (first, second), (second, first):
        assert subs(*files) == both
    assert subs(second, third, first)["main::f"] == (75, 66000, 2, 24000)
    other = recording(tmp_path / "b.out", pid=78)
    assert subs(first, second, other)["main::f"] == (147, 120000, 5, 75000)
    later = later_file(tmp_path / "d.out", start=5000.0, end=6000.0, before=False)  # another process with the same id
    assert subs(first, second, later)["main::f"] == (75, 66000, 3, 28000)


def child_file(path, pid, parent=77, start=1500.0, end=1900.0, own=700):
    """A child of recording()'s process: it inherits f's 50,000 bytes and 1,000, of which it frees the latter, and main's 20; it has some of its own in f."""
    stream = Writer({"application": "/x/app.pl"}, {"calls": "2"}).pid_start(pid, parent, start).fid(1, "/x/app.pl")
    stream.comment("nytp-in-use-call 1 0 1 2 main::f").comment(f"nytp-inherited 3 20 1 0 1 2 {parent}").comment(f"nytp-inherited 4 1000 2 1 1 2 {parent}")
    stream.comment(f"nytp-inherited 6 50000 1 1 1 12 {parent}").comment("nytp-memory 1000").time(20, 1, 1).entry(1, 2).time(10, 1, 12)
    stream.comment("nytp-free 4").comment(f"nytp-alloc 9 {own} 1 1 12").leave(1, 10, 10, "main::f").time(5, 1, 2).sub(1, "main::f", 10, 14)
    path.write_bytes(stream.comment("nytp-memory 1000").pid_end(pid, end).data())
    return path


def in_use(*arguments):
    return {name: values[2:] for name, values in subs(*arguments).items() if any(values[2:])}


def test_a_childs_file_has_what_is_in_use_of_its_parents(tmp_path):
    child = child_file(tmp_path / "c.out", 80)
    assert in_use(child) == {"main::RUNTIME": (1, 20), "main::f": (2, 50700)} and subs(child)["main::f"][:2] == (1, 700)
    assert good("-q", "--collapsed", "--weight=inuse_space", child).decode() == "main::RUNTIME 20\nmain::RUNTIME;main::f 50700\n"


def test_files_that_share_memory_count_it_once(tmp_path):
    parent = recording(tmp_path / "p.out")
    children = [child_file(tmp_path / f"c{pid}.out", pid, own=pid) for pid in (80, 81, 82)]
    all_own = 80 + 81 + 82
    for files in (parent, *children), (*children, parent):
        assert in_use(*files) == {"main::RUNTIME": (1, 20), "main::f": (6, 51000 + all_own)}, "in the parent, as it holds it"
    assert in_use(*children) == {"main::RUNTIME": (1, 20), "main::f": (4, 50000 + all_own)}, "without it in one of its children"
    assert in_use(parent, child_file(tmp_path / "o.out", 83, parent=99))["main::f"] == (5, 101700), "another process's child"
    grandchild = child_file(tmp_path / "g.out", 90, parent=80, start=1600.0)
    assert in_use(parent, children[0], grandchild)["main::f"] == (5, 51000 + 80 + 700)
    again = child_file(tmp_path / "c80.2.out", 80, start=1700.0)
    assert in_use(children[0], again)["main::f"] == (3, 50780), "another child with the same process id"
    next_file = child_file(tmp_path / "c82.2.out", 82, start=1900.0, end=2000.0)
    next_file.write_bytes(next_file.read_bytes().replace(b"#nytp-free 4", b"#nytp-in-use 7 30 1 1 1 12\n#nytp-free 4"))
    assert in_use(children[2], next_file)["main::f"] == (3, 50730), "its later file"
    many = [child_file(tmp_path / f"m{pid}.out", pid, own=1) for pid in range(100, 160)]  # merged in groups
    assert in_use(*many, parent)["main::f"] == (63, 51060) and in_use(*many)["main::f"] == (61, 50060)


def test_a_stream_of_several_processes_counts_what_they_share_once(tmp_path):
    parts = recording(tmp_path / "p.out"), child_file(tmp_path / "c.out", 80), child_file(tmp_path / "d.out", 81)
    good_merge = subprocess.run(["perl", "-Mblib", "bin/nytprofmerge", "--out", str(tmp_path / "m.out"), *map(str, parts)], cwd=ROOT, capture_output=True)
    assert good_merge.returncode == 0, good_merge.stderr
    assert in_use(tmp_path / "m.out") == in_use(*parts) == {"main::RUNTIME": (1, 20), "main::f": (5, 52400)}
    assert in_use(tmp_path / "m.out", child_file(tmp_path / "e.out", 82)) == {"main::RUNTIME": (1, 20), "main::f": (6, 53100)}


def test_each_process_by_itself_has_all_that_it_holds(tmp_path):
    files = recording(tmp_path / "p.out"), child_file(tmp_path / "c.out", 80), later_file(tmp_path / "p.out.2")
    good("-q", "--collapsed", "--weight=inuse_space", "--per-process", "-o", tmp_path / "out.%p", *files)
    of = {path.name: path.read_text() for path in tmp_path.glob("out.*")}
    assert of["out.80"] == "main::RUNTIME 20\nmain::RUNTIME;main::f 50700\n"
    assert of["out.77"] == "main::RUNTIME 20\nmain::RUNTIME;main::f 51000\n", "also an earlier file of a process"
    good("-q", "--collapsed", "--weight=inuse_space", "--per-process", "-o", tmp_path / "of.%p",
         *(child_file(tmp_path / f"m{pid}.out", pid, own=1) for pid in range(100, 160)))  # merged in groups
    assert {path.read_text() for path in tmp_path.glob("of.*")} == {"main::RUNTIME 20\nmain::RUNTIME;main::f 50001\n"}
    massif = good("-q", "--massif", *(child_file(tmp_path / f"{pid}.out", pid, start=1400.0 + pid, own=pid) for pid in (83, 82))).decode()
    assert re.findall(r"mem_heap_B=(\d+)", massif)[-1] == "50103" and "\nn2: 50103 " in massif and "pid 83" in massif
    assert re.findall(r"mem_heap_B=(\d+)", massif)[-2] == "51020" and "\nn3: 51020 " in massif, "its peak, with what it has freed of its parent's"


def test_a_comparison_has_what_each_file_holds(tmp_path):
    def total(*sides):
        table = good("-q", "--top", "--diff", sides[0], "--weight=inuse_space", *sides[1:]).decode()
        return re.search(r"bytes in use +([\d.]+) kB +([\d.]+) kB", table).groups()
    parent = recording(tmp_path / "p.out")
    assert total(parent, later_file(tmp_path / "p.out.2")) == ("51.0", "24.0"), "two files of a process"
    assert total(parent, child_file(tmp_path / "c.out", 80)) == ("51.0", "50.7"), "a process and its child"


def test_labels_have_nothing_of_what_was_in_use_before(tmp_path):
    path = tmp_path / "l.out"
    stream = Writer({"application": "/x/app.pl"}, {"calls": "2"}).pid_start(7, 1, 1000.0).fid(1, "/x/app.pl").comment("nytp-in-use 3 20000 1 0 1 2")
    stream.comment("nytp-label 0 request=1").comment("nytp-alloc 5 300 1 1 3").time(10, 1, 3)
    path.write_bytes(stream.pid_end(7, 2000.0).data())
    assert subs(path)["main::RUNTIME"] == (1, 300, 2, 20300)
    assert subs("--where=request=1", path)["main::RUNTIME"] == (1, 300, 1, 300)


@pytest.mark.parametrize("broken", ["nytp-in-use-call 1 1 1 1 a", "nytp-in-use-call 2 0 1 1 a", "nytp-in-use-call 1 0 1 a", "nytp-in-use-call 1 0 1 1 ", "nytp-in-use-call 0 0 1 1 a"])
def test_a_block_whose_call_was_not_told_is_the_programs(tmp_path, broken):
    path = tmp_path / "x.out"
    stream = Writer().pid_start(7, 1, 1000.0).fid(1, "/x/app.pl").comment(broken).comment("nytp-in-use 4 70 1 1 1 3")
    path.write_bytes(stream.time(10, 1, 1).pid_end(7, 2000.0).data())
    assert good("-q", "--collapsed", "--weight=inuse_space", path).decode() == "main::RUNTIME 70\n"


def test_firefox_has_allocations_by_stack(tmp_path):
    """A freed block is a positive weight and a negative one at the same address. What took no time has a stack as well."""
    file = recording(tmp_path / "b.out")
    call = Writer().entry(1, 11).leave(2, 0, 0, "main::a").data()[len(Writer().data()):]
    data = file.read_bytes()
    at = data.index(b"#nytp-alloc 6 ")
    file.write_bytes(data[:at] + call + data[at:])
    threads = json.loads(good("-q", "--firefox", file))["threads"]
    assert ["nativeAllocations" in thread for thread in threads] == [False, True]
    thread = threads[1]
    table, live = thread["nativeAllocations"], {}
    assert {len(column) for column in table.values() if isinstance(column, list)} == {table["length"]} and table["weightType"] == "bytes"
    allocated = dict.fromkeys(OWN, 0)
    for weight, stack, address in zip(table["weight"], table["stack"], table["memoryAddress"]):
        if weight < 0:
            assert stack is None and live.pop(address)[1] == -weight
            continue
        func = thread["frameTable"]["func"][thread["stackTable"]["frame"][stack]]
        name = thread["stringArray"][thread["funcTable"]["name"][func]]
        assert address not in live
        live[address] = name, weight
        allocated[name] += weight
    assert allocated == {name: values[1] for name, values in OWN.items()}
    assert {name: sum(weight for sub, weight in live.values() if sub == name) for name in OWN} == {name: values[3] for name, values in OWN.items()}
    without = tmp_path / "w.out"
    without.write_bytes(file.read_bytes().replace(b"nytp-alloc", b"nytp-xxxxx"))
    assert b"nativeAllocations" not in good("-q", "--firefox", without)


def test_markdown_has_them(tmp_path):
    def table(path):
        return [[cell.strip() for cell in line.split("|")[1:-1]] for line in good("-q", "--markdown", path).decode().splitlines() if line.startswith("|")]
    head, line, *rows = table(recording(tmp_path / "b.out"))
    assert head[-3:] == ["alloc", "in use", "sub"] and len({len(row) for row in (head, line, *rows)}) == 1
    assert {row[-1].split("`")[1]: tuple(row[-3:-1]) for row in rows} == {
        "main::RUNTIME": ("20 B", "20 B"), "main::f": ("58.0 kB", "51.0 kB"), "main::xs": ("300 B", "0 B")}
    path = tmp_path / "s.out"
    stream = Writer({"application": "/x/app.pl"}, {"calls": "2"}).pid_start(7, 1, 1000.0).fid(1, "/x/app.pl").comment("nytp-in-use-call 1 0 1 2 main::h")
    path.write_bytes(stream.comment("nytp-in-use 3 9 1 1 0 0").time(10, 1, 1).entry(1, 1).leave(1, 2, 2, "main::f").pid_end(7, 2000.0).data())
    assert {row[-1].split("`")[1]: row[-3:-1] for row in table(path)[2:]}["main::h"] == ["0 B", "9 B"], "a sub that ran in an earlier file only"
    stream = Writer({"application": "/x/app.pl"}, {"calls": "2"}).pid_start(7, 1, 1000.0).fid(1, "/x/app.pl").time(10, 1, 1).comment("nytp-svs 5 1 1")
    path.write_bytes(stream.entry(1, 1).comment("nytp-svs 7 1 1").leave(1, 20, 20, "main::f").time(9, 1, 1).sub(1, "main::f", 5, 6).pid_end(7, 2000.0).data())
    head, _, *rows = table(path)
    assert head[-3:] == ["SVs", "incl SVs", "sub"]
    assert {row[-1].split("`")[1]: row[-3:-1] for row in rows} == {"main::f": ["7", "7"], "main::RUNTIME": ["5", "12"]}
    path.write_bytes(path.read_bytes().replace(b"nytp-svs", b"nytp-xxx"))
    assert not any("SVs" in row for row in table(path)[0])
