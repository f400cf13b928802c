# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""SVs made and freed (memory=1): what is made of the stream's comments."""

import csv
import io
import json
import re

import pytest

from command import good, messages, pprof_top, run
from nytpwrite import Writer


def recording(path, pid=77):
    """main calls f at line 2 (+1 before), which makes 10 on line 12 and frees 4 on line 13, and 3 before its first line, and an xsub."""
    stream = Writer({"application": "/x/app.pl"}, {"calls": "2"}).pid_start(pid, 1, 1000.0).fid(1, "/x/app.pl")
    stream.time(100, 1, 1).comment("nytp-svs 1 1 2").entry(1, 2).comment("nytp-svs 3 1 2").time(10, 1, 2).time(10, 1, 11)
    stream.comment("nytp-svs 10 1 12").entry(1, 12).comment("nytp-svs 2 1 12").leave(2, 5, 5, "main::xs").time(20, 1, 12)
    stream.comment("nytp-svs -4 1 13").leave(1, 40, 35, "main::f").time(10, 1, 13).discount()
    stream.comment("nytp-svs -30 1 2").time(10, 1, 2)
    stream.sub(1, "main::f", 10, 14).sub(1, "main::xs", 0, 0).callers(1, 2, "main::RUNTIME", "main::f", 1, 40e-7, 35e-7)
    stream.callers(1, 12, "main::f", "main::xs", 1, 5e-7, 5e-7).callers(0, 0, "", "main::xs", 0, 0, 0)
    path.write_bytes(stream.pid_end(pid, 2000.0).data())
    return path


def refused(*arguments):
    done = run(*arguments)
    assert done.returncode != 0 and len(messages(done)) == 1
    return messages(done)[0]


def subs(*arguments):
    return {row["name"]: (row["svs"], row["inclusive_svs"]) for row in json.loads(good("-q", "--json", *arguments))["subs"] if row["svs"]}


def test_each_goes_to_the_open_call_and_to_the_line_that_began_in_it(tmp_path):
    file = recording(tmp_path / "s.out")
    assert subs(file) == {"main::RUNTIME": (-29, -18), "main::f": (9, 11), "main::xs": (2, 2)}
    data = json.loads(good("-q", "--json", file))
    names = [sub["name"] for sub in data["subs"]]
    assert {(names[row["sub"]], row["line"]): row["svs"] for row in data["lines"] if row["svs"]} == {
        ("main::RUNTIME", 2): -29, ("main::f", 10): 3, ("main::f", 12): 10, ("main::f", 13): -4, ("main::xs", 0): 2}
    assert {(names[row["callee"]], row["line"]): row["inclusive_svs"] for row in data["calls"]} == {("main::f", 2): 11, ("main::xs", 12): 2}


def test_several_inputs_and_selections_are_added_up(tmp_path):
    files = recording(tmp_path / "a.out"), recording(tmp_path / "b.out", pid=78)
    assert subs(*files) == {"main::RUNTIME": (-58, -36), "main::f": (18, 22), "main::xs": (4, 4)}
    assert subs("--focus=^main::f$", files[0])["main::f"] == (9, 11)
    assert subs("--hide=^main::xs$", files[0]) == {"main::RUNTIME": (-29, -18), "main::f": (11, 11)}


def test_tables_show_them(tmp_path):
    file = recording(tmp_path / "s.out")
    top = good("-q", "--top", "--sort=svs", file).decode()
    assert re.findall(r" (-?\d+) +(-?\d+) main::(\w+)", top) == [("9", "11", "f"), ("2", "2", "xs"), ("-29", "-18", "RUNTIME")]
    lines = good("-q", "--top", "--lines", "--sort=svs", file).decode()
    rows = re.findall(r" (-?\d+) +(\d+) /x/app\.pl:(\d+)", lines)
    assert rows[:2] == [("12", "9", "12"), ("3", "2", "10")]
    assert sorted(rows[2:]) == [("-29", "0", "2"), ("-4", "0", "13"), ("0", "0", "1"), ("0", "0", "11")]
    rows = list(csv.DictReader(io.StringIO(good("-q", "--csv", file).decode())))
    assert {row["sub"]: (row["svs"], row["inclusive_svs"]) for row in rows} == {
        "main::RUNTIME": ("-29", "-18"), "main::f": ("9", "11"), "main::xs": ("2", "2")}


def test_the_other_tables_of_the_terminal_show_them(tmp_path):
    file = recording(tmp_path / "s.out")
    tree = good("-q", "--tree", file).decode()
    assert "SVs kept sub" in tree and re.findall(r" (\d+) [| ]*(?:\+-)?main::(\w+)", tree) == [("11", "RUNTIME"), ("11", "f"), ("2", "xs")]
    peek = good("-q", "--peek=^main::f$", file).decode()
    assert re.findall(r" (-?\d+) +(<-  main::RUNTIME|main::f|\(its|->  main::xs) ", peek) == [
        ("11", "<-  main::RUNTIME"), ("11", "main::f"), ("9", "(its"), ("2", "->  main::xs")]
    lines = good("-q", "--list=^main::f$", file).decode()
    assert re.findall(r" (-?\d+) +(\d+) +(1\d)  \n", lines) == [("3", "2", "10"), ("0", "0", "11"), ("10", "7", "12"), ("-4", "0", "13")]
    assert re.findall(r"(<-|->) 1x .* (-?\d+) SVs  main::(\w+)", lines) == [("<-", "11", "RUNTIME"), ("->", "2", "xs")]


def test_a_tree_by_them_has_branches_of_little_time_that_keep_many(tmp_path):
    stream = Writer({"application": "/x/app.pl"}, {"calls": "2"}).pid_start(7, 1, 1000.0).fid(1, "/x/app.pl")
    for n, (sub, line) in enumerate((("main::slow", 10), ("main::leak", 20))):
        stream.time(10, 1, 1).entry(1, 1).time(1, 1, 1).comment(f"nytp-svs {500 * n} 1 {line}")
        ticks = 100000 if n == 0 else 1
        stream.time(ticks, 1, line).leave(1, ticks, ticks, sub).sub(1, sub, line, line)
        stream.callers(1, 1, "main::RUNTIME", sub, 1, ticks * 1e-7, ticks * 1e-7)
    (tmp_path / "t.out").write_bytes(stream.time(10, 1, 1).pid_end(7, 2000.0).data())
    for options, names in ([], ["RUNTIME", "slow"]), (["--sort=svs"], ["RUNTIME", "leak"]):
        assert re.findall(r"main::(\w+)", good("-q", "--tree", *options, tmp_path / "t.out").decode()) == names


def leaking(path, f, xs=2):
    data = recording(path).read_bytes().replace(b"nytp-svs 10 1 12", b"nytp-svs %d 1 12" % f).replace(b"nytp-svs 2 1 12", b"nytp-svs %d 1 12" % xs)
    path.write_bytes(data)
    return path


def test_stacks_that_keep_more_than_in_the_base_are_told(tmp_path):
    base, now = recording(tmp_path / "a.out"), leaking(tmp_path / "b.out", 50)
    assert good("-q", "--collapsed", "--weight=svs", "--diff", base, now).decode().splitlines() == [
        "main::RUNTIME;main::f 9 49", "main::RUNTIME;main::f;main::xs 2 2"]
    picture = good("-q", "--flamegraph", "--weight=svs", "--diff", base, now).decode()
    assert "51 SVs, base 11 SVs" in picture and "own +40 SVs" in picture


@pytest.mark.parametrize("rule, status", [
    ("svs total <= base", 10), ("svs total <= base +39", 10), ("svs total <= base +40", 0), ("svs total <= 22", 0), ("svs total <= 21", 10),
    ("svs main::f <= 49", 0), ("svs main::f <= 48", 10), ("svs main::RUNTIME <= base", 0), ("svs main:: <= base +222%", 10),
    ("svs main:: <= base +223%", 0), ("svs /^main::xs$/ <= base", 0)])
def test_a_limit_on_them(tmp_path, rule, status):
    base, now = recording(tmp_path / "a.out"), leaking(tmp_path / "b.out", 50)
    (tmp_path / "rules").write_text(rule + "\n")
    done = run("-q", "--diff", base, "--gate", tmp_path / "rules", now)
    assert done.returncode == status, messages(done)
    if "base" not in rule:
        assert run("-q", "--gate", tmp_path / "rules", now).returncode == status


def test_a_difference_of_subs_shows_them(tmp_path):
    table = good("-q", "--top", "--weight=svs", "--diff", recording(tmp_path / "a.out"), leaking(tmp_path / "b.out", 50)).decode()
    assert re.search(r"^SVs +-18 +22 ", table, re.M) and re.search(r" 9 +49  main::f ", table)


def test_each_form_of_a_difference_shows_them(tmp_path):
    sides = "--diff", recording(tmp_path / "a.out"), leaking(tmp_path / "b.out", 50)
    for options in [], ["--weight=svs"]:
        assert re.search(r"^SVs +-18 +22 +\+222\.2 %  exact$", good("-q", "--top", *options, *sides).decode(), re.M)
        assert "| SVs | -18 | 22 | +222.2 % | exact |" in good("-q", "--markdown", *options, *sides).decode()
    assert "| 9 | 49 | `main::f` `/x/app.pl:10` |" in good("-q", "--markdown", "--weight=svs", *sides).decode()
    rows = {row["sub"]: row for row in csv.DictReader(io.StringIO(good("-q", "--csv", *sides).decode()))}
    assert (rows["main::f"]["base_svs"], rows["main::f"]["new_svs"]) == ("9", "49") and "base_alloc_space" not in rows["main::f"]
    good("-q", "--html", "-o", tmp_path / "r.html", *sides)
    page = (tmp_path / "r.html").read_text()
    assert 'data-key=dsvs' in page and '<td data-n=40 title="9 before, 49 now">+40<td>' in page


def test_growth_of_them_is_a_limit_of_the_command_line(tmp_path):
    base, now = recording(tmp_path / "a.out"), leaking(tmp_path / "b.out", 11)
    done = run("-q", "--diff", base, "--fail-over=1%:svs:sub", now)
    assert done.returncode == 10 and messages(done) == ["/x/app.pl:10: main::f: 10 SVs, were 9 (+11.1 %) [1%:svs:sub]"]
    assert run("-q", "--diff", base, "--fail-over=12%:svs:sub", now).returncode == 0
    renamed = tmp_path / "r.out"
    renamed.write_bytes(base.read_bytes().replace(b"main::f", b"main::F"))
    assert run("-q", "--diff", base, "--fail-over=0%:svs:sub", renamed).returncode == 0


def test_a_limit_on_them_is_not_judged_without(tmp_path):
    without = tmp_path / "n.out"
    without.write_bytes(recording(tmp_path / "a.out").read_bytes().replace(b"nytp-svs", b"nytp-xxx"))
    (tmp_path / "rules").write_text("svs total <= base\n")
    for sides in (["--diff", tmp_path / "a.out", without], ["--diff", without, tmp_path / "a.out"]):
        done = run("-q", *sides[:2], "--gate", tmp_path / "rules", sides[2])
        assert done.returncode not in (0, 10) and "NYTPROF=memory=1" in messages(done)[0]


@pytest.mark.parametrize("options", [[], ["--lines"]])
def test_rows_have_them_and_add_up(tmp_path, options):
    file = recording(tmp_path / "s.out")
    found = [json.loads(line) for line in good("-q", "--rows", *options, file).decode().splitlines()]
    sums = {}
    for row in found:
        net, kept = sums.get(row["sub"], (0, 0))
        sums[row["sub"]] = net + row["svs"], kept + row["kept_svs"]
    assert sums == {"main::RUNTIME": (-29, 0), "main::f": (9, 9), "main::xs": (2, 2)}


def test_what_has_no_sign_shows_what_contexts_kept(tmp_path):
    file = recording(tmp_path / "s.out")
    assert good("--collapsed", "--weight=svs", file).decode().splitlines() == ["main::RUNTIME;main::f 9", "main::RUNTIME;main::f;main::xs 2"]
    assert "11 SVs" in good("-q", "--flamegraph", "--weight=svs", file).decode()
    text = good("-q", "--callgrind", "--plain-names", file).decode()
    assert "events: ns stmts svs\n" in text and text.splitlines()[-1].split()[-1] == "11"
    profiles = json.loads(good("-q", "--speedscope", file))["profiles"]
    assert [profile["unit"] for profile in profiles] == ["nanoseconds", "nanoseconds", "none"] and sorted(profiles[2]["weights"]) == [2, 9]
    good("-q", "--pprof", "-o", tmp_path / "s.pb.gz", file)
    assert pprof_top(tmp_path / "s.pb.gz", "-sample_index=svs", scratch=tmp_path) == {"main::f": (9, 11), "main::xs": (2, 2)}


def test_a_recording_without_says_how_to_make_one(tmp_path):
    path = tmp_path / "n.out"
    path.write_bytes(Writer().pid_start(7, 1, 1000.0).fid(1, "/x/app.pl").time(10, 1, 1).pid_end(7, 2000.0).data())
    assert "NYTPROF=memory=1" in refused("--collapsed", "--weight=svs", path)
    assert "NYTPROF=memory=1" in refused("--top", "--sort=svs", path)
    assert "svs" not in good("-q", "--json", path).decode() and "SVs" not in good("-q", "--top", path).decode()
    assert "NYTPROF=memory=1" in refused("--collapsed", "--weight=svs", "--diff", recording(tmp_path / "s.out"), path)
    assert "NYTPROF=memory=1" in refused("--top", "--weight=svs", "--diff", tmp_path / "s.out", path)
    assert "NYTPROF=memory=1" in refused("--markdown", "--weight=svs", "--diff", path, path)
    assert "NYTPROF=memory=1" in refused("--tree", "--sort=svs", path)
    for option in ("--tree", "--peek=.", "--list=."):
        assert "kept" not in good("-q", option, path).decode() and "SVs" not in good("-q", option, path).decode()
