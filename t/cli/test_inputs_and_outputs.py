# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Inputs stay as they are, processes get a file each, and inputs whose times do not go together
are refused."""

import gzip
import hashlib
import json
import os
import re

import pytest

from command import csv_rows, good, messages, run
from nytpwrite import START, Writer
from recordings import merge


def stream(pid=7, ticks=100, **attributes):
    return (Writer(attributes=attributes).pid_start(pid, 1).fid(1, "/x/a.pl").time(ticks, 1, 3)
            .pid_end(pid))


def keeps(folder, output, given, *arguments):
    """The run says that the output is the input that was given, which stays as it is."""
    before = (folder / given).read_bytes()
    done = run(*arguments, cwd=folder)
    assert (done.returncode, messages(done)) == (2, [f"nytp-export: {output} is the input {given}: it is not replaced"])
    assert (folder / given).read_bytes() == before


@pytest.mark.parametrize("mode", ["--json", "--callgrind", "--check", "--stats", "--dump", "--speedscope"])
@pytest.mark.parametrize("name", ["in.out", "./in.out", "hard.out", "symbolic.out"])
def test_an_input_is_not_replaced(tmp_path, mode, name):
    file = stream().save(tmp_path / "in.out")
    os.link(file, tmp_path / "hard.out")
    os.symlink("in.out", tmp_path / "symbolic.out")
    keeps(tmp_path, name, "in.out", mode, "-o", name, "in.out")
    assert (tmp_path / "symbolic.out").is_symlink()


@pytest.mark.parametrize("arguments", [["--gate", "rules"], ["--fail-over=1%", "--diff", "rules"]])
def test_a_file_of_rules_is_not_replaced(tmp_path, arguments):
    stream().save(tmp_path / "in.out")
    (tmp_path / "rules").write_text("calls total <= 9\n")
    keeps(tmp_path, "rules", "rules", "--csv", "-o", "rules", *arguments, "in.out")


def test_an_input_is_not_replaced_by_a_page_of_a_report(tmp_path):
    for name in "index.html", "x-1-line.html":
        file = stream().save(tmp_path / name)
        for folder, path in (f"{tmp_path}/", name), (".", f"./{name}"), ("../" + tmp_path.name, str(file)):
            keeps(tmp_path, folder, path, "--html", "-o", folder, path)
    other = stream().save(tmp_path / "nytprof.out")
    keeps(tmp_path, ".", "x-1-line.html", "--html", "--diff", "x-1-line.html", "-o", ".", other)
    run("--html", "-o", ".", other, cwd=tmp_path)
    assert (tmp_path / "nytprof.out").exists() and b"<html" in (tmp_path / "index.html").read_bytes()


def test_an_input_is_not_replaced_by_the_report_that_is_opened(tmp_path):
    (tmp_path / "nytprof").mkdir()
    file = stream().save(tmp_path / "nytprof" / "index.html")
    for options in [file], ["--diff", file, stream().save(tmp_path / "new.out")]:
        keeps(tmp_path, "nytprof/", file, "--html", "--open", *options)


@pytest.mark.parametrize("format_", ["--top", "--html"])
def test_an_input_that_is_not_there_is_told_as_that(tmp_path, format_):
    file, other = stream(7).save(tmp_path / "a.out"), stream(8).save(tmp_path / "b.out")
    done = run(format_, file, tmp_path / "nosuch", other)
    assert (done.returncode, messages(done)) == (
        3, [f"nytp-export: {tmp_path}/nosuch: cannot open: No such file or directory"])
    assert run("--strict", format_, file, tmp_path / "nosuch", other).returncode == 1


def test_of_what_gzip_packed_a_folder_gives_profiles_only(tmp_path):
    stream(7).save(tmp_path / "a.out")
    packed = gzip.compress(stream(8).save(tmp_path / "b").read_bytes())
    (tmp_path / "b").unlink()
    (tmp_path / "b.gz").write_bytes(packed)
    (tmp_path / "access.log.gz").write_bytes(gzip.compress(b"GET /\n" * 1000))
    (tmp_path / "broken.gz").write_bytes(packed[:5])
    assert good("--stats", tmp_path).count(b"processes     pid ") == 2


def test_an_input_is_not_replaced_by_that_of_a_process(tmp_path):
    file = stream().save(tmp_path / "p.7.json")
    before = file.read_bytes()
    done = run("--json", "--per-process", "-o", "p.json", "p.7.json", cwd=tmp_path)
    assert done.returncode == 2 and b"is not replaced" in done.stderr
    assert file.read_bytes() == before


def test_every_percent_p_is_the_pid(tmp_path):
    file = stream().save(tmp_path / "in.out")
    again = stream().save(tmp_path / "again.out")
    run("--json", "--per-process", "-o", tmp_path / "x.%p.%p.json", file, again)
    assert {path.name for path in tmp_path.glob("*.json")} == {"x.7.7.json", "x.7-2.7-2.json"}


def long_calls(pid, n, ticks, per_sec):
    w = Writer(attributes={"ticks_per_sec": per_sec}, options={"calls": 1}).pid_start(pid, 1)
    w.fid(1, "/x/a.pl")
    for _ in range(n):
        w.time(1, 1, 3).leave(1, ticks, ticks, "main::f")
    return w.pid_end(pid)


@pytest.mark.parametrize("streams", [
    [stream(1, ticks_per_sec=999983), stream(2, ticks_per_sec=1000003),
     stream(3, ticks_per_sec=2139483623)],
    [long_calls(1, 5, 8e15, 1), stream(2, ticks_per_sec=1000000000)],
    [long_calls(1, 5, 8e15, 10000000), stream(2, ticks_per_sec=99991)],
    [stream(1).pid_start(3, 1).comment(f"nytp-processor {'9' * 17}").pid_end(3), stream(2, ticks_per_sec=99991)],
])
def test_times_that_do_not_go_together_are_refused(tmp_path, streams):
    files = [s.save(tmp_path / f"{n}.out") for n, s in enumerate(streams)]
    for file in files:
        assert run("--top", "-q", file).returncode == 0
    done = run("--top", "-q", *files)
    assert done.returncode == 1 and done.stdout == b""
    assert b"do not merge" in done.stderr and b"out of memory" not in done.stderr


def test_a_sub_whose_file_is_not_known_is_the_same_in_any_order_of_many_inputs(tmp_path):
    """Of the file that has its name, if there is but one; many inputs are merged in two steps."""
    def file(pid, name, is_known=True):
        out = Writer().pid_start(pid).fid(1, "/run.pl").fid(2, name).entry(1, 3).time(9, 2, 3).leave(1, 9, 9, "main::f")
        return (out.sub(2, "main::f", 2, 5) if is_known else out).pid_end(pid).save(tmp_path / f"{pid}.out")

    def calls(*files):
        profile = json.loads(good("--json", *files))
        return {profile["files"][sub["file"]]["name"]: sub["calls"] for sub in profile["subs"] if sub["name"] == "main::f"}
    unknown, other, *known = file(100, "/a.pl", is_known=False), file(101, "/b.pl"), *(file(pid, "/a.pl") for pid in range(24))
    for n in (1, 23, 24):
        assert calls(unknown, *known[:n]) == {"/a.pl": n + 1}
        apart = {"": 1, "/a.pl": n, "/b.pl": 1}
        assert calls(unknown, *known[:n], other) == calls(other, unknown, *known[:n]) == calls(*known[:n], unknown, other) == apart


def test_sums_of_what_a_file_claims_are_kept_in_range(tmp_path):
    """Nested calls of the longest time there is, a thousand deep; every format writes it."""
    w = Writer(options={"calls": 1}).pid_start(7, 1).fid(1, "/x/a.pl").time(1, 1, 3)
    for depth in range(1000, 0, -1):
        w.leave(depth, 8e15, 8e15 if depth % 200 == 0 else 0, "main::f")
    file = w.pid_end(7).save(tmp_path / "deep.out")
    assert b": ok" in run("--check", file).stdout
    for form in ("--json", "--callgrind", "--firefox", "--chrome-trace", "--top"):
        assert run(form, "-q", file).returncode == 0


def test_processor_time_of_many_processes_has_no_end(tmp_path):
    out = Writer(attributes={"ticks_per_sec": 2 * 10**9}).fid(1, "/x/a.pl")
    for pid in range(25):
        out.pid_start(pid).time(10, 1, 4).comment("nytp-processor " + "9" * 17).pid_end(pid)
    assert b"they waited" not in good("--processes", out.save(tmp_path / "many.out"))


def test_what_a_hook_in_inc_delivers_is_one_file(tmp_path):
    """perl names it by the hook's address, which each process has somewhere else."""
    files = [Writer().pid_start(pid).fid(1, f"/loader/0x{pid}f/HH.pm").time(50, 1, 3).sub(1, "HH::f", 3, 4)
             .callers(1, 9, "main::RUNTIME", "HH::f", pid, 5, 5).pid_end(pid).save(tmp_path / f"{pid}.out") for pid in (70, 71)]
    merged = merge(tmp_path / "merged.out", *files)
    for inputs in files, [merged]:
        rows = [row for row in csv_rows(*inputs) if row["sub"] == "HH::f"]
        assert [row["calls"] for row in rows] == ["141"], rows


def test_an_option_that_is_no_number_does_not_stop_the_merger(tmp_path):
    """nytprofmerge writes options as integers: 1e300 is none."""
    file = Writer(options={"calls": "1e300"}).pid_start(7, 1, START).fid(1, "/x/a.pl")
    path = file.time(5, 1, 3).pid_end(7).save(tmp_path / "in.out")
    merged = merge(tmp_path / "merged.out", path)
    assert b"calls" in good("--dump", merged) and b"-9223372036854775808" not in good(
        "--dump", merged)


def test_counts_of_samples_are_those_of_all_recordings(tmp_path):
    """They were the first's; of one recording, whose end may be written twice, the last counts."""
    counts = {"samples": 10, "sample_ticks": 12, "samples_torn": 2}
    files = []
    for n in 1, 10, 100:
        w = Writer(attributes={"sampled": 1}).pid_start(n, 1, START).fid(1, "/x/a.pl").time(5, 1, 3)
        for times in 5, 1:
            for key, count in counts.items():
                w.attribute(key, count * n * times)
        files.append(w.pid_end(n).save(tmp_path / f"{n}.out"))
    merged = merge(tmp_path / "merged.out", *files)
    for inputs in files, [merged]:
        told = json.loads(good("--json", *inputs))["attributes"]
        assert {key: value for key, value in told if key in counts} == {key: str(111 * count) for key, count in counts.items()}
    stats = good("--stats", merged).decode().split()
    assert all(f"{key}={111 * count}" in stats for key, count in counts.items())


def reloaded(path, module, kept, *texts):
    """A recording of a module of which each text was loaded and ran its second line. Where the texts are not kept, their sums are told."""
    w = Writer().pid_start(7).fid(9, "/x/a.pl").time(5, 9, 1)
    for fid, text in enumerate(texts, 1):
        w.fid(fid, module, size=len(text)).time(7, fid, 2).sub(fid, "M::f", 2, 2)
        if kept:
            for line, source in enumerate(text.splitlines(True), 1):
                w.source(fid, line, source)
        else:
            w.comment(f"nytp-source {fid} {hashlib.blake2b(text.encode(), digest_size=32).hexdigest()}")
    return w.pid_end(7).save(path)


@pytest.mark.parametrize("both, first", [(2, 0), (1, 1), (25, 0), (30, 30)])
@pytest.mark.parametrize("kept", [True, False])
def test_a_module_that_changed_and_was_loaded_again_keeps_its_two_texts(kept, both, first, tmp_path):
    """In whichever order recordings of both texts and of the first one come; on the disk is the second."""
    texts = "package M;\nsub f { 'one' }\n", "package M;\nsub f { 'second' }\n"
    (tmp_path / "M.pm").write_text(texts[1])
    two, one = (reloaded(tmp_path / f"{n}.out", tmp_path / "M.pm", kept, *texts[:n]) for n in (2, 1))
    merged = tmp_path / "merged.out"
    for files in [two] * both + [one] * first, [one] * first + [two] * both:
        merge(merged, *files)
        for inputs in files, [merged]:
            listed = re.findall(r"in \S*/M\.pm\n +(\d+) .* 2 +(.*)\n", good("-q", "--list", *inputs).decode())
            assert listed == [(str(both + first), "sub f { 'one' }" if kept else ""), (str(both), "sub f { 'second' }")]


def script(pid, name, evals=0):
    """A recording of a script of that name: an opcode, an xsub, a sub and some string evals."""
    w = Writer(attributes={"application": name}).pid_start(pid, 1).fid(1, name).time(5, 1, 9)
    w.fid(2, "/lib/X.pm")
    for sub in ("main::CORE:backtick", "List::Util::max", "main::work", "X::run"):
        w.entry(1, 9).time(10, 1, 9)
        if sub in ("main::work", "X::run"):
            w.time(1, 1 if sub == "main::work" else 2, 3)
        w.leave(1, 10, 10, sub).time(1, 1, 9)
    for fid in range(3, 3 + evals):
        w.fid(fid, f"(eval {pid + fid})[/lib/X.pm:9]", 2, 9).entry(1, 9).time(1, fid, 1)
        w.leave(1, 1, 1, f"X::__ANON__[(eval {pid + fid})[/lib/X.pm:9]:1]").time(1, 1, 9)
    w.pid_end(pid).sub(1, "main::CORE:backtick", 0, 0).sub(1, "List::Util::max", 0, 0)
    return w.sub(1, "main::work", 3, 3).sub(2, "X::run", 3, 3)


def names(*arguments):
    return [row["sub"] for row in csv_rows("-q", *arguments)]


def test_builtins_and_xsubs_of_several_scripts_are_one_row(tmp_path):
    """As they are after nytprofmerge; a script's own subs are its own."""
    files = [script(pid, f"/x/{pid}.t").save(tmp_path / f"{pid}.out") for pid in (5, 6, 7)]
    rows = names(*files)
    assert rows == ["main::RUNTIME", "List::Util::max", "X::run", "main::CORE:backtick",
                    "main::work", "main::work", "main::work"]
    assert b": ok" in good("--check", *files)


def test_string_evals_of_several_processes_are_one(tmp_path):
    files = [script(pid, "/x/a.pl", evals=2).save(tmp_path / f"{pid}.out") for pid in (5, 16)]
    assert sum("eval" in name for name in names(files[0])) == 2
    assert [name for name in names(*files) if "eval" in name] == [
        "X::__ANON__[(eval 0)[/lib/X.pm:9]:1]"]
    apart = names("--no-merge-evals", *files)
    assert sum("eval" in name for name in apart) == 4


def test_ignore_drops_the_process_of_a_script_and_not_all(tmp_path):
    """All processes have the root main::RUNTIME, each with the script of its own input."""
    files = [script(pid, name).save(tmp_path / f"{pid}.out")
             for pid, name in ((5, "/usr/bin/prove"), (6, "/x/a.t"), (7, "/x/b.t"))]

    def total(*options):
        return int(csv_rows("-q", "--unit=ticks", *options)[0]["inclusive_ticks"])
    assert total("--ignore=/prove$", *files) == total(*files[1:])
    assert total("--ignore=/x/[ab]", *files) == total(files[0])
    assert total("--focus=/x/a", *files) == total(files[1])
    merged = script(5, "/usr/bin/prove")
    for pid in (6, 7):  # as nytprofmerge has them: one script is known
        merged.pid_start(pid, 5).time(100, 2, 5).pid_end(pid)
    merged = merged.save(tmp_path / "merged.out")
    assert total("--ignore=/prove$", merged) >= 200
