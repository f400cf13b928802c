# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Selections: those that pprof has too are compared with what pprof makes of the whole profile,
the others by what they promise."""

import collections
import json
import re

import pytest

from command import good, pprof_top, run
from readers import PprofReader

PROFILES = ["mixed-calls2", "mixed-calls0", "evals", "recurse", "forks-merged"]

# option, expression; each must hit something in some profile
PPROF_SELECTIONS = [
    ("focus", "busy"),
    ("focus", "::BEGIN@[0-9]+$"),
    ("ignore", "caller_(one|two)"),
    ("ignore", "BEGIN"),
    ("hide", "busy"),
    ("hide", "main::(lines|caller_one|fib)"),
    ("hide", "RUNTIME"),
    ("show", "main::"),
    ("show", "busy|fib"),
    ("show-from", "lines|fib|ping"),
    ("show-from", "BEGIN"),
]


@pytest.fixture(scope="module")
def whole(profile, tmp_path_factory):
    """pprof file of an unselected profile."""
    folder = tmp_path_factory.mktemp("whole")

    def export(name):
        file = folder / f"{name}.pb.gz"
        if not file.exists():
            run("--pprof", "-q", "-o", file, profile(name))
        return file
    return export


def selected(profile, name, tmp_path, *options):
    file = tmp_path / "selected.pb.gz"
    assert run("--pprof", "-q", "-o", file, *options, profile(name)).returncode in (0, 1)  # 1: nothing is left
    return file


def stacks_of(file):
    """Each stack, from the root, with its nanoseconds."""
    reader, found = PprofReader(file.read_bytes()), collections.Counter()
    time = [name for name, _ in reader.types].index("wall")
    for stack, values, _ in reader.samples:
        found[tuple(function[0] for function, _ in reversed(stack))] += values[time]
    return +found


@pytest.mark.parametrize("option, regex", PPROF_SELECTIONS)
def test_selects_as_pprof_does(whole, profile, tmp_path, option, regex):
    changed = 0
    for name in PROFILES:
        got = pprof_top(selected(profile, name, tmp_path, f"--{option}={regex}"))
        assert got == pprof_top(whole(name), f"-{option.replace('-', '_')}={regex}"), name
        changed += bool(got) and got != pprof_top(whole(name))
    assert changed > 0


@pytest.mark.parametrize("regex", ["busy", "caller_one"])
def test_hidden_time_is_on_the_call_line(whole, profile, tmp_path, regex):
    file = selected(profile, "mixed-calls2", tmp_path, "--hide", regex)
    wanted = pprof_top(whole("mixed-calls2"), "-lines", f"-hide={regex}")
    assert pprof_top(file, "-lines") == wanted


def test_file_names_match_too(whole, profile, tmp_path):
    wanted = {stack: value for stack, value in stacks_of(whole("mixed-calls2")).items()
              if any(frame.startswith("List::Util::") for frame in stack)}
    file = selected(profile, "mixed-calls2", tmp_path, "--focus=/List/Util")
    assert wanted
    assert stacks_of(file) == wanted


def test_a_repeated_option_takes_each_expression(profile, tmp_path):
    one = pprof_top(selected(profile, "mixed-calls2", tmp_path, "--focus=caller_(one|two)"))
    two = pprof_top(selected(profile, "mixed-calls2", tmp_path, "--focus=caller_one", "--focus=caller_two"))
    assert one == two
    assert "main::caller_two" in two


# ---- selections that pprof does not have ----

@pytest.mark.parametrize("name", PROFILES)
def test_pruning_keeps_the_total_and_shows_the_rest(whole, profile, tmp_path, name):
    before = stacks_of(whole(name))
    after = stacks_of(selected(profile, name, tmp_path, "--min-percent=2"))
    assert sum(after.values()) == sum(before.values())
    assert not any("(pruned)" in stack[:-1] for stack in after)
    kept = {frame for stack in after for frame in stack} - {"(pruned)"}
    assert kept <= {frame for stack in before for frame in stack}
    assert any(stack[-1] == "(pruned)" for stack in after)


@pytest.mark.parametrize("name", ["evals", "evals-calls1", "evals-calls0"])
def test_evals_of_one_place_are_one(whole, profile, tmp_path, name):
    wanted = {}
    for sub, (flat, cumulated) in pprof_top(whole(name)).items():
        sub = re.sub(r"\(eval \d+\)", "(eval 0)", sub)
        was = wanted.get(sub, (0, 0))
        wanted[sub] = (was[0] + flat, was[1] + cumulated)
    after = pprof_top(selected(profile, name, tmp_path, "--merge-evals"))
    assert any("(eval 0)" in sub for sub in after)
    assert {sub: flat for sub, (flat, _) in after.items()} == \
           {sub: flat for sub, (flat, _) in wanted.items()}


@pytest.mark.parametrize("options", [
    ["--focus=main"], ["--ignore=e"], ["--hide=a"], ["--show=b"], ["--show-from=[a-m]$"],
    ["--min-percent=3"], ["--max-depth=2"], ["--collapse-recursion"], ["--merge-evals"],
    ["--no-builtins"], ["--per-process"], ["--per-process", "--hide=b"], ["--merge-evals", "--hide=BEGIN", "--no-builtins", "--min-percent=2"],
], ids=" ".join)
def test_what_is_left_adds_up(profile, options):
    for name in [*PROFILES, "mixed-calls1", "deep-calls1", "made-hostile-names", "unreturned", "cut-plain", "mixed-stmts0", "mixed-subs0"]:
        done = run("--check", "-q", *options, profile(name))
        assert done.returncode in (0, 3) and (b": ok\n" in done.stdout or b"adds up" in done.stdout), (name, done)


def test_a_selection_that_matches_nothing_is_status_1_as_with_grep(profile):
    file = profile("mixed-calls2")
    done = run("-q", "--top", "--focus=no such sub anywhere", file)
    assert done.returncode == 1 and b" (0.0 %) by --focus=no such sub anywhere, 0 statements" in done.stdout
    for option in "--list=nosuch", "--peek=nosuch":
        assert run(option, file).returncode == 1
    for option in "--list=busy", "--focus=busy", "--ignore=nosuch", "--hide=nosuch":
        assert run(option, file).returncode == 0


def test_a_selection_tells_what_it_is_a_selection_of(profile):
    file = profile("mixed-calls2")
    whole = json.loads(good("--json", file))
    part = json.loads(good("--json", "--focus=main::busy", file))
    head = good("--top", "--unit=ns", "--focus=main::busy", file).decode().split("\n")[0]
    percent = part["total"] / whole["total"] * 100
    assert f": {part['total']} ns of {whole['total']} ns ({percent:.1f} %) by --focus=main::busy, " in head
    assert " by --" not in good("--top", "--hide=main::busy", file).decode().split("\n")[0]
    head = run("--top", "--focus=main::busy|" + "x" * 100, "--ignore=nosuch", file).stdout.decode().split("\n")[0]
    assert " by --focus=main::busy|" + "x" * 18 + "... --ignore=nosuch, " in head     # a long one is cut


def test_subs_are_asked_for_by_their_names_and_only_then_by_their_files(profile):
    file = profile("mixed-calls2")
    heads = re.findall(r"^(\S+)  \S*:\d+$", good("--list=busy", file).decode(), re.MULTILINE)
    assert heads and all("busy" in name for name in heads)
    of_file = re.findall(r"^(\S+)  \S*:\d+$", good(r"--list=mixed\.pl$", file).decode(), re.MULTILINE)
    assert len(of_file) > len(heads)


def test_every_process_alone_adds_up_to_all(profile, tmp_path):
    file = profile("forks-merged")
    good("--per-process", "-o", tmp_path / "out.%p.pb.gz", file)
    files = sorted(tmp_path.glob("out.*.pb.gz"))
    assert len(files) == 5
    good("-o", tmp_path / "all.pb.gz", file)
    assert sum(map(stacks_of, files), collections.Counter()) == stacks_of(tmp_path / "all.pb.gz")


# ---- the time line ----

def timelines(text):
    """(name, [(frame, start, end, depth)]) of each evented profile of a speedscope file, which
    must be properly nested."""
    document = json.loads(text)
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    for one in document["profiles"]:
        if one["type"] != "evented":
            continue
        stack, calls, now = [], [], one["startValue"]
        for event in one["events"]:
            assert now <= event["at"] <= one["endValue"]
            now = event["at"]
            if event["type"] == "O":
                stack.append((event["frame"], now))
            else:
                frame, start = stack.pop()
                assert frame == event["frame"]
                calls.append((frames[frame], start, now, len(stack)))
        assert not stack
        yield one["name"], calls


@pytest.mark.parametrize("name", ["mixed-calls2", "mixed-calls1", "recurse", "evals", "unreturned"])
@pytest.mark.parametrize("options, gone", [
    (["--hide=busy|fib"], "busy|fib$"), (["--max-depth=2"], None), (["--no-builtins"], "CORE:"),
    (["--merge-evals"], r"\(eval [1-9]"), (["--min-percent=2"], None),
    (["--collapse-recursion"], None),
], ids=str)
def test_the_time_line_follows(profile, name, options, gone):
    whole = list(timelines(good("-q", "--speedscope", profile(name))))
    kept = list(timelines(good("-q", "--speedscope", *options, profile(name))))
    assert [name for name, _ in kept] == [name for name, _ in whole]
    for (_, before), (_, after) in zip(whole, kept):
        assert not [call for call in after if gone and re.search(gone, call[0])]
        if options == ["--max-depth=2"]:
            assert max(call[3] for call in after) <= 1
        # what stays has its place in time still
        places = {call[1:3] for call in before}
        assert {call[1:3] for call in after} <= places
        assert max(call[2] for call in after) == max(call[2] for call in before)


def test_no_time_line_when_time_was_dropped(profile):
    file = profile("mixed-calls2")
    assert list(timelines(good("-q", "--speedscope", file)))
    for option in ("--focus=busy", "--ignore=busy", "--show=busy", "--show-from=lines"):
        assert not list(timelines(good("-q", "--speedscope", option, file)))


# ---- expressions are Perl's ----

def shown(profile, *options):
    """Names of a --top of mixed-calls2, and the messages."""
    done = run("--top=0", "--unit=ticks", *options, profile("mixed-calls2"))
    rows = done.stdout.decode().splitlines()[3:]
    return {row.split()[6] for row in rows}, done.stderr.decode().splitlines(), done.returncode


@pytest.mark.parametrize("regex", [
    r"(?i)BUSY", r"bus\w$", r"\Afoo\b|(?<=main::)busy\z", r"^\S+::bu(?!x)"])
def test_perls_own_syntax_is_understood(profile, regex):
    names, said, code = shown(profile, f"--show={regex}")
    assert names == {"main::RUNTIME", "main::busy"} and not said and code == 0


@pytest.mark.parametrize("option", ["focus", "ignore", "hide", "show", "show-from"])
def test_an_expression_that_matches_nothing_is_told_with_near_names(profile, option):
    _, said, code = shown(profile, f"--{option}=main::bsuy")
    assert len(said) == 1 and code == (option in ("focus", "show", "show-from"))
    assert said[0].startswith(
        f'nytp-export: --{option}: no sub and no file matches "main::bsuy"; near it: main::busy')
    assert not shown(profile, f"--{option}=main::bsuy", "-q")[1]
    assert not shown(profile, f"--{option}=mixed")[1], "the file's name matches"
    assert "near it" not in shown(profile, f"--{option}=Xyzzy::Plugh")[1][0]


def test_an_expression_that_backtracks_without_end_is_an_error(tmp_path, profile):
    import hostile
    out = tmp_path / "long.out"
    out.write_bytes(hostile.simple([b"main::" + b"a" * 200]).data())
    done = run("--focus", r"(a+)+\d", out)
    assert done.returncode == 2 and done.stdout == b""
    assert b"--focus: the regular expression \"(a+)+\\d\" backtracks too much on \"main::aaa" \
        in done.stderr
    assert run("--focus", r"a+\z", out).returncode == 0


@pytest.mark.parametrize("regex, reason", [
    ("(", "missing closing parenthesis"), ("(?:(?:(?:a{1000}){1000}){1000}){1000}", "too large"),
    ("\udcff", "UTF-8"), ("[z-a]", "range out of order"), (r"\C", "disabled"),
])
def test_what_is_no_expression_is_refused(profile, regex, reason):
    done = run("--focus", regex, profile("mixed-calls2"))
    assert done.returncode == 2 and reason in done.stderr.decode("utf-8", "replace")
