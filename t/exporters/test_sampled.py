# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Sampled recordings: processor time of each sub and line beside the wall clock's."""

import csv
import io
import json
import re

import pytest

import exports
import sampled
from recordings import merge

NS = 100                                  # per tick


@pytest.fixture
def path(tmp_path):
    return sampled.stream().save(tmp_path / "sampled.out")


def good(*arguments):
    code, out, errors = exports.nytp_export(*arguments)
    assert (code, errors) == (0, "")
    return out.decode()


def own(rows):
    """sub -> (wall, cpu) ns, of those that have any."""
    return {name: value for name, value in rows.items() if any(value)}


def in_ns(ticks):
    return {name: (wall * NS, cpu * NS) for name, (wall, cpu) in ticks.items()}


def table(text):
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def clocks_of(rows):
    return own({row["sub"]: (int(row["exclusive_ns"]), int(row["cpu_ns"])) for row in rows})


def clocks(*arguments):
    return clocks_of(table(good("--csv", *arguments)))


def test_each_sub_has_both_clocks(path):
    assert clocks(path) == in_ns(sampled.TOTAL)
    assert sum(int(row["samples"]) for row in table(good("--csv", path))) == sampled.SAMPLES


def test_json_has_both_clocks_of_subs_lines_and_processes(path):
    seen = json.loads(good("--json", path))
    assert own({sub["name"]: (sub["exclusive"], sub["cpu"]) for sub in seen["subs"]}) == \
        in_ns(sampled.TOTAL)
    assert [process["cpu"] for process in seen["processes"]] == \
        [NS * sum(cpu for _, cpu in side.values()) for side in (sampled.FIRST, sampled.SECOND)]
    lines = {(seen["subs"][line["sub"]]["name"], line["line"]): line["cpu"]
             for line in seen["lines"] if line["cpu"] and line["sub"] != 0}
    assert lines == {("main::burn", 2): 108900}


@pytest.mark.parametrize("process, want", [(7, sampled.FIRST), (8, sampled.SECOND)])
def test_one_process_by_itself(path, tmp_path, process, want):
    good("--csv", "--per-process", "-o", tmp_path / "out.csv", path)
    assert clocks_of(table((tmp_path / f"out.{process}.csv").read_text())) == in_ns(want)


def test_a_selection_keeps_it(path):
    assert clocks("--focus=main::burn$", path) == in_ns({"main::burn": sampled.TOTAL["main::burn"]})
    hidden = clocks("--hide=main::CORE:|Time::HiRes", path)
    assert hidden["main::nap"] == (1000 * NS, 0)
    assert sum(cpu for _, cpu in hidden.values()) == NS * sum(cpu for _, cpu in sampled.TOTAL.values())


def test_several_inputs_are_added_up(path, tmp_path):
    again = sampled.stream().save(tmp_path / "again.out")
    assert clocks(path, again) == {name: (2 * wall, 2 * cpu) for name, (wall, cpu) in in_ns(sampled.TOTAL).items()}


def test_coarser_ticks_count_as_much(path, tmp_path):
    coarse = sampled.stream().data().replace(b":ticks_per_sec=10000000\n", b":ticks_per_sec=1000000\n")
    (tmp_path / "coarse.out").write_bytes(coarse)
    wall, cpu = sampled.TOTAL["main::burn"]
    assert clocks(path, tmp_path / "coarse.out")["main::burn"] == (11 * wall * NS, 11 * cpu * NS)


def test_a_merged_stream_keeps_it(path, tmp_path):
    assert clocks(merge(tmp_path / "merged.out", path)) == in_ns(sampled.TOTAL)


def folded(*arguments):
    lines = good("--collapsed", "--weight=cpu", "--unit=ticks", *arguments).splitlines()
    return {stack: int(value) for stack, value in (line.rsplit(" ", 1) for line in lines)}


def test_collapsed_by_processor_time(path):
    assert folded(path) == sampled.FOLDED_CPU
    assert sum(folded("--lines", path).values()) == sum(sampled.FOLDED_CPU.values())


def test_top_has_a_column(path):
    text = good("--top", "--unit=ticks", path)
    title, _, head, *rows = text.splitlines()
    assert head.split() == ["self", "self%", "incl", "incl%", "samples", "cpu", "sub"]
    shown = {row.split()[6]: row.split()[5] for row in rows}
    assert shown["main::burn"] == "1089" and shown["main::nap"] == "-"
    assert "1097 ticks on a processor" in title


def begun(**how):
    return sampled.Writer(**how).pid_start(7).attribute("sampled", 1).fid(1, sampled.SCRIPT)


def test_a_comment_is_of_its_own_time_record_however_far_it_is_read_ahead(tmp_path):
    out = begun()
    out.entry(1, 9).time(10, 1, 9)
    for i in range(100):
        out.comment(f"cpu {i}").time(200, 1, 2)
    out.leave(1, 20010, 20010, "main::burn").pid_end(7).sub(1, "main::burn", 2, 2)
    assert clocks(out.save(tmp_path / "many.out")) == {"main::burn": (20010 * NS, (10 + sum(range(100))) * NS)}


def test_what_is_waited_in_all_is_none(tmp_path):
    out = begun().entry(1, 9).comment("cpu 0").time(1000, 1, 9).leave(1, 1000, 1000, "main::burn").pid_end(7)
    assert clocks(out.save(tmp_path / "idle.out")) == {"main::burn": (1000 * NS, 0)}


def test_a_builtin_that_only_had_no_processor_has_what_it_took(tmp_path):
    """On a busy machine: what slept for most of a sample has none of its processor time, what never slept has all."""
    out = begun(options={"calls": 2}).entry(1, 9).comment("cpu 10 ready").time(10, 1, 9)
    for told, builtin in ("cpu 100 ready", "subst"), ("cpu 100", "sleep"):
        out.entry(1, 3).leave(2, 1000, 1000, f"main::CORE:{builtin}").comment(told).time(1000, 1, 3)
    path = out.leave(1, 2010, 10, "main::burn").pid_end(7).save(tmp_path / "busy.out")
    subst = clocks(path)["main::CORE:subst"]
    assert subst[0] == 1000 * NS and subst[1] > 100 * NS and clocks(path)["main::CORE:sleep"] == (1000 * NS, 0)
    merge(tmp_path / "merged.out", path)
    assert clocks(tmp_path / "merged.out") == clocks(path)


@pytest.mark.parametrize("comment", ["cpu -1", "cpu x", "cpu 99999999999999999999", "cpu", "cpu ready", "cpu 5ready", "cpu 5 ready "])
def test_a_damaged_comment_says_nothing(tmp_path, comment):
    out = begun().comment(comment).time(1000, 1, 9).pid_end(7)
    assert clocks(out.save(tmp_path / "bad.out")) == {"main::RUNTIME": (1000 * NS, 1000 * NS)}


@pytest.fixture
def exact(tmp_path):
    return sampled.exact().save(tmp_path / "exact.out")


def refused(*arguments):
    """The message of a run that is not possible."""
    code, out, errors = exports.nytp_export(*arguments)
    assert (code, out) == (2, b"")
    return errors


def test_the_weight_cpu_needs_a_sampled_recording(exact):
    for arguments in (["--collapsed"], ["--collapsed", f"--diff={exact}"]):
        assert "sampled recordings only" in refused("--weight=cpu", *arguments, exact)


def test_no_table_of_differences_has_the_weight_cpu(path):
    assert "by stacks only" in refused("--top", "--weight=cpu", f"--diff={path}", path)
    assert good("--collapsed", "--weight=cpu", f"--diff={path}", path) != ""


@pytest.mark.parametrize("form", ["--csv", "--json", "--pprof-text", "--callgrind"])
def test_an_exact_recording_has_no_column_more(exact, form):
    word = '"cpu"' if form == "--json" else "cpu"
    assert word not in good(form, exact)
    assert form != "--callgrind" or "events: ns stmts\n" in good(form, exact)


def test_what_several_calls_of_a_sub_waited_is_its_sum(tmp_path):
    out = begun(options={"calls": 2}).sub(1, "main::burn", 2, 2).sub(1, "main::nap", 3, 3)
    for _ in range(3):
        for name, line, cpu in (("burn", 2, 90), ("nap", 3, 30)):
            out.entry(1, 9).comment("cpu 0").time(10, 1, 9)
            out.comment(f"cpu {cpu}").time(100, 1, line)
            out.leave(1, 200, 200, f"main::{name}").comment("cpu 100").time(100, 1, line)
    assert clocks(out.pid_end(7).save(tmp_path / "calls.out")) == in_ns({
        "main::burn": (600, 570), "main::nap": (600, 390), "main::RUNTIME": (60, 0)})


# ---- what counts are called ----

WHICH = {"--top": " samples ", "--top --lines": " samples line", "--tree": " samples sub",
         "--peek=burn": " samples sub", "--list=burn": " samples ", "--markdown": "| incl | samples | sub |",
         "--processes": " samples ", "--stats": "samples  ", "--callgrind": "event: samples : Samples"}
NEVER = re.compile(r"\bstmts\b|[Ss]tatements", re.ASCII)


@pytest.mark.parametrize("form", WHICH)
def test_no_sample_is_called_a_statement(path, form):
    text = "\n".join(line for line in good("-q", *form.split(), path).splitlines() if not line.startswith("options"))
    assert WHICH[form] in text
    assert not NEVER.search(text)


SELF = {"main::CORE:sselect": 1, "Time::HiRes::sleep": 1, "main::burn": 3, "main::RUNTIME": 2}


@pytest.mark.parametrize("inputs", [1, 2])
def test_the_table_counts_the_samples_of_each_sub(path, inputs):
    rows = [line.split() for line in good("-q", "--top", "--unit=ticks", *[path] * inputs).splitlines()[3:]]
    assert {row[6]: int(row[4]) for row in rows if row[4] != "0"} == {name: n * inputs for name, n in SELF.items()}


def test_the_table_in_markdown_counts_them_alike(path):
    cells = [row.split(" | ") for row in good("-q", "--markdown", path).splitlines() if row.startswith("| ") and "`" in row]
    assert {row[4].split("`")[1]: int(row[3]) for row in cells if row[3] != "0"} == SELF


def test_the_neighbours_of_a_sub_have_the_samples_of_calls(path):
    """Those in a call and in what it called, as the tree's branches do."""
    text = good("-q", "--peek=work|burn|sselect", path)
    count = re.compile(r" (\d+) (<-|->)? *(?:main::|Time::HiRes::)(\S+)")
    rows = [(arrow, name, int(n)) for n, arrow, name in count.findall(text)]
    assert rows == [("<-", "doze", 1), ("", "CORE:sselect", 1), ("<-", "work", 3), ("", "burn", 3),
                    ("<-", "RUNTIME", 4), ("", "work", 4), ("->", "doze", 1), ("->", "burn", 3)]
    listed = good("-q", "--list=burn", path)
    assert ">=2x" in listed and "at least 2 calls" in listed


def test_the_tree_counts_the_samples_of_each_branch(path):
    text = good("-q", "--tree", "--min-percent=0", path)
    count = re.compile(r"(\d+) [-+| ]*(?:main::|Time::HiRes::)(\S+)")
    assert {name: int(n) for n, name in count.findall(text)} == \
        {"RUNTIME": 7, "work": 4, "doze": 1, "CORE:sselect": 1, "burn": 3, "nap": 1, "sleep": 1}


def test_the_html_report_says_samples_and_divides_no_time_by_the_calls_that_they_saw(path):
    page = re.sub("<script.*?</script>|<style.*?</style>", "", good("-q", "--html", path), flags=re.S)
    assert "Samples" in page and not re.search(r">(?:Statements|Calls)<", page)
    text = re.sub("<[^>]+>", "", page)
    assert "within main::burn, called at least 2 times" in text and "making at least 1 call to main::doze" in text
    assert "avg" not in text


@pytest.mark.parametrize("form", ["--top", "--markdown", "--tree"])
def test_a_mix_says_what_is_mixed(path, exact, form):
    text = good("-q", form, path, exact)
    head = f"{sampled.SAMPLES + 2} statements and samples"
    assert head in text
    assert form == "--markdown" or f"{head} (2 of 3 processes were sampled)" in text


def test_columns_of_a_mix(path, exact):
    assert "calls,statements_and_samples,exclusive" in good("--csv", path, exact)
    assert "event: counts : Statements and samples" in good("--callgrind", path, exact)
    assert '"counts"' in good("--pprof-text", path, exact)
    assert "   counts line" in good("-q", "--top", "--lines", path, exact)


@pytest.mark.parametrize("form, label", [("--top", "Δ samples"), ("--markdown", "| Δ samples |")])
def test_differences_of_samples_are_no_exact_counts(path, tmp_path, form, label):
    other = sampled.stream().time(5, 1, 2).save(tmp_path / "other.out")
    text = good("-q", form, f"--diff={path}", other)
    assert label in text and "sampled" in text and "exact" not in text
    assert "differ by chance" in text and not NEVER.search(text)


def test_a_difference_between_samples_and_statements_says_so(path, exact):
    text = good("-q", "--top", f"--diff={exact}", path)
    assert "some of it was sampled" in text and "differ by chance" not in text
    assert "some of it was sampled" not in good("-q", "--top", f"--diff={exact}", exact)


def test_a_limit_does_not_judge_samples(path, exact):
    code, _, errors = exports.nytp_export("-q", "--top", "--fail-over=0%:statements", f"--diff={exact}", path)
    assert code == 2 and "it was sampled" in errors
