# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""html: names of pages, long and alike ones; what the environment, --trim-path, --source-dir and
logs of Devel::DProf among the inputs do to a report.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import htmlpages
import nytpwrite
import profiles
import report_pages
from reports import made, report, run  # noqa: F401

SUBS = "index-subs-excl.html"


def calls(report):
    return {row[6].own_text().split()[0]: row[0].number() for row in report.pages[SUBS].table("subs")}


def test_twenty_thousand_files_of_one_name(tmp_path):
    """Looking each name up among all others would take minutes."""
    stream = nytpwrite.Writer(options={"blocks": 1}).pid_start(7)
    for fid in range(1, 20001):
        stream.fid(fid, b"/x/" + b"long" * 60)
    stream.block(10, 1, 3, 2, 1)
    file = stream.pid_end(7).save(tmp_path / "p.out")
    assert run("--html", "-q", "--no-flame", "-o", tmp_path / "r.html", file).returncode == 0


# -------------------------------------------------------------------- names of pages

LONG = b"/srv/" + b"d" * 30 + b"/" + b"e" * 30 + b"/prog.pl"
VERY = b"/srv/" + b"n" * 60 + b".pl"


def long_names():
    stream = nytpwrite.Writer().pid_start(7).fid(1, LONG).fid(2, VERY).fid(3, b"/s/short.pl")
    stream.fid(4, b"(eval 1)[" + LONG + b":1]", eval_fid=1, eval_line=1)
    for fid in range(1, 5):
        stream.time(100, fid, 1).sub(fid, b"main::f%d" % fid, 1, 2).callers(fid, 1, "main::RUNTIME", b"main::f%d" % fid, 1, 10, 10)
    return stream.attribute("cumulative_overhead_ticks", 1).pid_end(7)


@pytest.mark.parametrize("trim", [None, "20", "90"])
def test_pages_of_files_with_long_names_are_called_as_the_peers(tmp_path, trim):
    if not shutil.which("nytprofhtml"):
        pytest.skip("nytprofhtml is not installed")
    file = long_names().save(tmp_path / "p.out")
    environment = dict(profiles.stock_environment(), **({"NYTPROF_FNAME_TRIM": trim} if trim else {}))
    subprocess.run(["nytprofhtml", "--no-flame", "-f", file, "-o", tmp_path / "peer"], check=True, capture_output=True, env=environment)
    pages = made(tmp_path / "r", file, env=environment)
    assert sorted(p.name for p in (tmp_path / "peer").glob("*-line.html")) == [n for n in pages.names if n.endswith("-line.html")]
    assert list(htmlpages.problems(pages)) == []


# -------------------------------------------------------------------- the environment

def test_times_in_a_format_of_ones_own(tmp_path):
    file = profiles.profile("mixed-calls1")
    plain = made(tmp_path / "plain", file)
    own = made(tmp_path / "own", file, env=dict(os.environ, NYTPROF_FMT_TIME='<%9.6f> "s"'))
    rows, own_rows = (pages.pages[SUBS].table("subs") for pages in (plain, own))
    for before, after in zip(rows, own_rows):
        assert [before[i].number() for i in (0, 1, 2, 3, 5)] == \
            [c.number() for c in after[:3]] + [int(after[i].get("data-n", 0)) for i in (3, 5)]
        shown = re.fullmatch(r'<( *\d\.\d{6})> "s"', after[3].own_text())
        assert len(shown[1]) == 9 and abs(float(shown[1]) * 1e9 - before[3].number()) <= 501
    assert list(htmlpages.problems(own)) == []


@pytest.mark.parametrize("text", ["%s", "%n", "%f %f", "%*f", "%1000f", "%", "%%", "%f" + "x" * 200, "%lf", "%.999f"])
def test_what_is_no_format_of_one_number_is_said_and_not_used(tmp_path, text):
    file = profiles.profile("recurse")
    done = run("--html", "-q", "-o", f"{tmp_path}/r/", file, env=dict(os.environ, NYTPROF_FMT_TIME=text))
    assert done.returncode == 0 and b"NYTPROF_FMT_TIME is not the format" in done.stderr
    plain = made(tmp_path / "plain", file)
    assert (tmp_path / "r" / "index.html").read_bytes() == (plain.folder / "index.html").read_bytes()


# -------------------------------------------------------------------- options of inputs

def test_trimmed_paths_are_nowhere_in_the_report(tmp_path):
    file = profiles.profile("evals")
    program = json.loads(run("--json", file).stdout)["files"]
    folder = os.path.dirname(next(f["name"] for f in program if f["name"].endswith("evals.pl"))) + "/"
    pages = made(tmp_path / "r", "--trim-path", folder, file)
    whole = made(tmp_path / "whole", file)
    for name in pages.names:
        text = (pages.folder / name).read_text()
        # a profile that keeps a warning's text in its source may name the folder
        assert folder not in re.sub(r"<td colspan=5.*", "", text), name
    assert len(pages.names) == len(whole.names) and any(n.startswith("evals-pl-1-") for n in pages.names)
    assert sorted(calls(pages).values()) == sorted(calls(whole).values())
    assert list(htmlpages.problems(pages)) == []


def test_unpacked_sources_are_what_pages_link_to(tmp_path):
    pages = made(tmp_path / "r", "--source-dir", tmp_path / "src", profiles.profile("evals"))
    links = {a.get("href") for page in pages.pages.values() for a in page.root.elements("a")
             if a.get("href", "").startswith("file:")}
    unpacked = {f"file://{p}" for p in (tmp_path / "src").rglob("*") if p.is_file()}
    assert len(unpacked) > 2 and links & unpacked
    for name, page in pages.pages.items():
        if name.startswith("(eval"):
            (link,) = [a.get("href") for a in page.root.elements("a") if a.get("href", "").startswith("file:")]
            assert pathlib.Path(link.removeprefix("file://")).exists()
    assert list(htmlpages.problems(pages)) == []


# -------------------------------------------------------------------- Devel::DProf's logs beside other inputs

@pytest.fixture
def tmon(tmp_path):
    assert run("--tmon", "-o", tmp_path / "tmon.out", profiles.profile("recurse")).returncode == 0
    return tmp_path / "tmon.out"


@pytest.mark.parametrize("options", [[], ["--no-flame"]])
def test_logs_of_dprof_beside_other_profiles(tmp_path, tmon, options):
    file = profiles.profile("mixed-calls2")
    other = calls(made(tmp_path / "a", file))
    log = calls(made(tmp_path / "b", tmon))
    assert other.keys() & log.keys() != other.keys() and "main::fib" in log
    both = made(tmp_path / "c", *options, tmon, file, tmon)
    want = {name: other.get(name, 0) + 2 * log.get(name, 0) for name in other.keys() | log.keys()}
    assert calls(both) == want
    assert list(htmlpages.problems(both)) == []
    assert ("flame.js" in both.names) == (not options)


def test_logs_of_dprof_alone(tmp_path, tmon):
    one, two = made(tmp_path / "a", tmon), made(tmp_path / "b", tmon, tmon)
    assert calls(two) == {name: 2 * n for name, n in calls(one).items()} and calls(one)
    bare = made(tmp_path / "c", "--no-flame", tmon)
    assert calls(bare) == calls(one)


def test_a_log_that_cannot_be_read_does_not_keep_the_others_out(tmp_path, tmon):
    (tmp_path / "cut.out").write_bytes(tmon.read_bytes()[:400])
    done = run("--html", "-o", f"{tmp_path}/r/", tmp_path / "cut.out", profiles.profile("recurse"))
    assert done.returncode in (1, 3) and done.stderr
    assert "main::fib" in calls(htmlpages.Report(tmp_path / "r"))


def test_the_library_is_told_to_the_flame_graph(report):
    pages = report("requires")
    data = report_pages.Flame(pages.folder / "flame.js").data
    library = {int(re.search(r"-(\d+)-line", name)[1]) for name in pages.names
               if name.endswith("-line.html") and any("/usr" in dd.text() for dd in pages.pages[name].root.elements("dd"))}
    assert data["library"] and set(data["library"]) <= library
