# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""--where: only what happened under a label, as if nothing else had been recorded."""

import json

import pytest

from instructions import instructions
from command import messages, run
from nytpwrite import Writer
from recordings import merge, record
from written import MS, begun

PROGRAM = """sub spin { my $t = 0; for my $i (1 .. $_[0]) { $t += $i } return $t }
sub fast { spin(300) }
sub slow { spin(3000) }
sub request {
    my ($n) = @_;
    DB::label(request => $n % 2 ? 'GET /fast' : 'GET /slow', item => $n);
    $n % 2 ? fast() : slow();
    DB::label(request => undef);
}
request($_) for 1 .. 10;
spin(9000);
"""
WHOLE = PROGRAM + "DB::label_profile(run => 'nightly');\n"


def subs(path, *options, status=0):
    done = run("--json", "--as-recorded", *options, path)
    assert done.returncode == status, done.stderr
    profile = json.loads(done.stdout)
    return profile, {sub["name"]: sub for sub in profile["subs"]}


@pytest.mark.parametrize("options", ["", "calls=1", "calls=2", "stmts=0", "compress=0", "blocks=1"])
def test_calls_and_statements_of_the_stretches_are_there_and_no_others(tmp_path, options):
    out = record(tmp_path, PROGRAM, options=options)
    _, every = subs(out)
    _, slow = subs(out, "--where=request=~slow$")
    _, fast = subs(out, "--where", "request=GET /fast")
    assert [slow["main::spin"]["calls"], slow["main::slow"]["calls"], slow["main::request"]["calls"]] == [5, 5, 0]
    assert [fast["main::spin"]["calls"], fast["main::fast"]["calls"]] == [5, 5]
    assert fast.get("main::slow", {"calls": 0})["calls"] == 0
    if options != "stmts=0":
        assert slow["main::spin"]["statements"] == 5 * (3000 + 3)
        assert fast["main::spin"]["statements"] == 5 * (300 + 3)
    for name in "main::spin", "main::slow":
        assert slow[name]["exclusive"] <= every[name]["exclusive"]
    outside = every["main::spin"]["calls"] - slow["main::spin"]["calls"] - fast["main::spin"]["calls"]
    assert outside == 1


def test_the_own_time_of_a_sub_is_what_by_label_tells(tmp_path):
    out = record(tmp_path, PROGRAM)
    rows = json.loads(run("--by=request", "--json", "--as-recorded", out).stdout)["labels"]
    for row in rows:
        _, of_subs = subs(out, f"--where=request={row['value']}")
        assert of_subs["main::spin"]["exclusive"] == row["slowest_sub_own_ns"]


def test_the_context_of_a_stretch_stays(tmp_path):
    out = record(tmp_path, PROGRAM)
    lines = run("--collapsed", "--where=request=~fast", out).stdout.decode()
    assert "main::request;main::fast;main::spin " in lines and "slow" not in lines


def test_what_is_left_of_a_statement_is_none_where_a_stretch_begins_or_ends_before_it(tmp_path):
    """The rest of line 1 is in the stretch, that of line 3 is not; line 2 is whole in it."""
    w = Writer().pid_start(7).fid(1, "/x/a.pl").time(10, 1, 1).discount().comment("nytp-label 0 a=b").time(10, 1, 1)
    w.time(10, 1, 2).discount().comment("nytp-label 0 a").time(10, 1, 3).comment("nytp-label 0 a=b").time(10, 1, 3)
    profile, _ = subs(w.pid_end(7).save(tmp_path / "out"), "--where=a=b")
    assert {line["line"]: line["statements"] for line in profile["lines"]} == {1: 0, 2: 1, 3: 1}


def test_several_conditions_hold_together(tmp_path):
    out = record(tmp_path, PROGRAM)
    _, of_subs = subs(out, "--where=request=~GET", "--where=item=~^[2-5]$")
    assert [of_subs["main::fast"]["calls"], of_subs["main::slow"]["calls"]] == [2, 2]


def test_a_process_with_the_label_is_taken_whole_and_others_are_left_out(tmp_path):
    for name, program in ("a", WHOLE), ("b", PROGRAM):
        (tmp_path / name).mkdir()
        record(tmp_path / name, program)
    inputs = ["a/a.pl.out", "b/a.pl.out"]
    merge("m.out", *inputs, cwd=tmp_path)
    alone = json.loads(run("--json", "a/a.pl.out", cwd=tmp_path).stdout)
    for given in inputs, ["m.out"]:
        found = json.loads(run("--json", "--where=run=nightly", *given, cwd=tmp_path).stdout)
        assert all(found[name] == alone[name] for name in ("statements", "calls_made")), given
        assert len(found["processes"]) == 1


@pytest.mark.parametrize("order", [("with", "without"), ("without", "with")])
def test_a_comparison_names_the_input_that_nothing_is_under_the_label_of(tmp_path, order):
    for name, label in ("with", "nytp-label 0 request=a"), ("without", "nytp-label 0 request=b"):
        Writer().pid_start(7).fid(1, "/x/a.pl").comment(label).time(10, 1, 4).pid_end(7).save(tmp_path / name)
    done = run("--diff", *order, "--where=request=a", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    assert messages(done) == ["nytp-export: nothing in without is under the label request=a (--by=label tells which there are)"]
    assert run("--top", *order, "--where=request=a", cwd=tmp_path).returncode == 0


def test_what_no_label_fits_is_told_and_no_input_is_read_from_a_pipe(tmp_path):
    out = record(tmp_path, PROGRAM)
    for condition in "request=~nosuch", "reqest=~GET":
        done = run("--where", condition, out)
        assert (done.returncode, done.stdout) == (1, b"")
        assert messages(done) == [f"nytp-export: nothing in the input is under the label {condition} (--by=label tells which there are)"]
    with out.open("rb") as stdin:
        done = run("--where=request=~GET", "-", stdin=stdin)
    assert done.returncode == 1 and "reads an input twice" in messages(done)[0]
    for condition in "request", "=~x", "request=~(":
        assert run("--where", condition, out).returncode == 2
    assert run("--where=a=b", "--by=label", out).returncode == 2


def test_cut_anywhere_it_never_crashes(tmp_path):
    whole = record(tmp_path, PROGRAM, options="compress=0").read_bytes()
    cut = tmp_path / "cut.out"
    for size in range(len(whole) // 2, len(whole), len(whole) // 60):
        cut.write_bytes(whole[:size])
        assert run("--where=request=~GET", "--check", cut).returncode in (0, 1, 3)


@pytest.mark.parametrize("options", [("--where=a=b", "--top"), ("--by=a",)], ids=" ".join)
def test_jumps_between_depths_do_not_take_longer(tmp_path, options):
    """Each time all depths from the outermost call on were written, or looked at."""
    def work(depth):
        w = Writer(options={"calls": 1}).pid_start(7, 1).fid(1, "/x/a.pl").time(10, 1, 1).comment("nytp-label 1 a=b")
        for _ in range(1000):
            w.comment(f"nytp-own {depth} 1 main::f").leave(1, 5, 5, "main::g").leave(depth, 5, 5, "main::f").leave(1, 5, 5, "main::g")
            w.comment(f"nytp-own {depth} 1 main::f").comment("nytp-label 5 a").comment("nytp-label 6 a=b")
        return instructions(*options, "-o", tmp_path / "out", w.time(10, 1, 1).pid_end(7).save(tmp_path / str(depth)))
    shallow, deep = work(2), work(100000)
    assert deep < shallow + 60_000_000, (shallow, deep)    # one instruction for each depth is 100 million for each of three kinds of jumps


def test_a_label_that_changes_outside_is_in_force_inside(tmp_path):
    """request=one ends and request=two begins while nobody is the user; then there is no request."""
    stream, ticks = begun(), 0

    def label(text):
        stream.label(ticks, text)
    for request, calls in ("one", 1), ("two", 5), (None, 3):
        label(f"request={request}" if request else "request")
        label("user=A")
        for _ in range(calls):
            stream.entry(1, 7)
            label("sql=select 1")
            stream.time(MS, 1, 1)
            label("sql")
            stream.leave(1, MS, MS, "DBI::db::do")
            ticks += MS
        label("user")
        stream.time(MS, 1, 9)
        ticks += MS
    stream.sub(1, "DBI::db::do", 1, 1).callers(1, 7, "main::RUNTIME", "DBI::db::do", 9, 9, 9)
    file = stream.pid_end(7).save(tmp_path / "f.out")
    for words in [], ["--where=user=A"]:
        rows = json.loads(run("-q", "--sql", "--as=json", *words, file).stdout)["requests"]
        assert {row["request"]: row["statements"] for row in rows} == {"one": 1, "two": 5, "(no request)": 3}, words
    (tmp_path / "rules").write_text("queries /one/ <= 1\n")
    assert run("-q", "--gate", tmp_path / "rules", "--where=user=A", file).returncode == 0


def test_many_labels_that_change_outside_do_not_take_longer(tmp_path):
    """Each is compared with those that wait for a stretch; 200 may."""
    w = Writer().pid_start(7).fid(1, "/x/a.pl").time(10, 1, 1)
    for value in range(3):
        for key in range(2000):
            w.comment(f"nytp-label 1 k{key}={value}")
    path = w.comment("nytp-label 1 user=A").time(10, 1, 1).time(10, 1, 1).pid_end(7).save(tmp_path / "f.out")
    without, selected = (instructions("--json", "-o", tmp_path / "out", *words, path) for words in ((), ("--where=user=A",)))
    assert selected < 2 * without, (selected, without)
