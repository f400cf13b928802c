# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""--detail: builtins named with the pattern that they match, and what waits with what it waits for."""

import json
import re

import pytest

from command import good, run
from readers import PprofReader
from recordings import record
from test_patterns import PROGRAM
from written import MS, begun


def stacks(*arguments):
    """Own times by stack, leaf last."""
    text = good("-q", "--collapsed", "--unit=ticks", *arguments).decode()
    return {stack: int(ticks) for stack, ticks in (line.rsplit(" ", 1) for line in text.splitlines())}


@pytest.fixture
def matching(tmp_path):
    return record(tmp_path, PROGRAM, options="regex=1:slowops=2")


def test_a_pattern_is_a_sub_of_its_own_in_every_format(matching, tmp_path):
    plain, detailed = stacks(matching), stacks("--detail", matching)
    assert sum(plain.values()) == sum(detailed.values())
    leaves = {stack.rsplit(";", 1)[-1] for stack in detailed}
    assert {"main::CORE:match_/fo+b[ar]z/", "main::CORE:subst_/q+/", "main::CORE:sort"} <= leaves
    assert re.search(r"main::CORE:match_/(b\+d|x\\s\*y)/_and_1_more", "\n".join(leaves))
    scan = "main::RUNTIME;main::scan"
    assert detailed[f"{scan};main::CORE:match_/fo+b[ar]z/"] == plain[f"{scan};main::CORE:match"]
    callgrind = good("-q", "--callgrind", "--detail", matching).decode()
    assert re.search(r"^c?fn=\(\d+\) main::CORE:match /fo\+b\[ar\]z/$", callgrind, re.M)
    assert not re.search(r"^c?fn=\(\d+\) main::CORE:match$", callgrind, re.M)
    subs = {sub["name"]: sub["calls"] for sub in json.loads(good("-q", "--json", "--detail", matching))["subs"]}
    assert subs["main::CORE:match /fo+b[ar]z/"] == 30 and subs["main::CORE:subst /q+/"] == 30
    assert '"main::CORE:subst /q+/"' in good("-q", "--speedscope", "--detail", "-o", "-", matching).decode()
    good("-q", "--check", "--detail", matching)
    page = good("-q", "--html", "--detail", "-o", "-", matching).decode()
    assert "CORE:subst /q+/" in page and "--detail" not in page         # it is no selection


def test_a_selection_sees_the_pattern(matching):
    whole = stacks("--detail", matching)
    kept = stacks("--detail", "--focus=CORE:subst /q", matching)
    assert kept == {stack: ticks for stack, ticks in whole.items() if stack.endswith("/q+/")}


def test_pprof_has_the_label_beside_the_name(matching):
    samples = PprofReader(good("-q", "--pprof", "--detail", "-o", "-", matching)).samples
    seen = {stack[0][0][0]: tags.get("pattern") for stack, _, tags in samples}
    assert seen["main::CORE:match /fo+b[ar]z/"] == "fo+b[ar]z"


@pytest.fixture
def waiting(tmp_path):
    """A sampled process whose builtins and xsub wait; one is on a processor."""
    out = begun(is_sampled=True).comment(f"cpu {10 * MS}").time(10 * MS, 1, 3)
    for line, sub, ms, cpu, what in [(5, "main::CORE:readline", 400, 0, "socket 127.0.0.1:5432"), (5, "main::CORE:readline", 100, 0, "pipe"),
                                     (6, "Time::HiRes::sleep", 50, 0, "sleep"), (7, "main::CORE:print", 80, 70, "disk"),
                                     (8, "main::CORE:sleep", 30, 0, "")]:
        out.entry(1, line).leave(1, ms * MS, ms * MS, sub)
        if what:
            out.comment(f"nytp-wait {what}")
        out.comment(f"cpu {cpu * MS}").time(ms * MS, 1, line)
        out.callers(1, line, "main::RUNTIME", sub, 1, ms * MS, ms * MS)
    out.sub(1, "Time::HiRes::sleep", 0, 0)
    return out.pid_end(7, 2000.0).save(tmp_path / "w.out")


def test_what_waits_says_what_for(waiting):
    leaves = {stack.rsplit(";", 1)[-1]: ticks // MS for stack, ticks in stacks("--detail", waiting).items()}
    assert leaves == {"main::RUNTIME": 10, "main::CORE:readline_(socket_127.0.0.1:5432)_and_1_more": 500, "Time::HiRes::sleep_(sleep)": 50,
                      "main::CORE:print": 80, "main::CORE:sleep": 30}


def test_it_waits_by_that_name_too(waiting):
    assert stacks("--no-wait", "--detail", waiting) == stacks("--no-wait", waiting)
    heads = [run("-q", "--top", *how, waiting).stdout.decode().splitlines()[0] for how in ([], ["--detail"])]
    assert heads[0] == heads[1] and "580 ms of it waiting" in heads[0]


def test_pprof_says_what_for_in_a_label(waiting):
    samples = PprofReader(good("-q", "--pprof", "-o", "-", waiting)).samples
    seen = {stack[0][0][0]: (tags.get("state"), tags.get("waits_for")) for stack, _, tags in samples}
    assert seen["main::CORE:readline"] == ("waiting", "socket 127.0.0.1:5432 and 1 more")
    assert seen["Time::HiRes::sleep"] == ("waiting", "sleep")
    assert seen["main::CORE:print"] == (None, None) and seen["main::CORE:sleep"] == ("waiting", None)


def test_a_recording_that_knows_nothing_besides_is_as_it_was(profile):
    path = profile("mixed-calls2")
    for form in ("--collapsed", "--callgrind", "--json", "--csv"):
        assert good("-q", form, "--detail", path) == good("-q", form, path)


def test_evals_of_one_place_keep_their_patterns(tmp_path):
    path = record(tmp_path, 'for my $n (1 .. 20) { (eval($n < 3 ? "sub { 1 }" : q{sub { "xx$n" =~ /x+y/ }}))->() }', options="regex=1:slowops=2")
    merged = stacks("--detail", "--merge-evals", path)
    assert [stack for stack in merged if stack.endswith("CORE:match_/x+y/")] and not [stack for stack in merged if stack.endswith("CORE:match")]


def test_a_colon_in_a_pattern_is_of_no_package(tmp_path):
    path = record(tmp_path, '"x" =~ /x|a::b/ for 1 .. 2000', options="regex=1:slowops=2")
    picture = good("-q", "--flamegraph", "--detail", path).decode()
    colours = {re.search(r"[\w:]+", name).group(): fill for name, fill in
               re.findall(r"<title>([^<(]+)[^<]*</title><rect[^>]*fill=\"(#\w+)\"", picture)}
    assert colours["main::CORE:match"] == colours["main::RUNTIME"]
