# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""`go tool pprof` on what is exported for it: reports and web pages, as file and through a pipe."""

import collections
import gzip
import json
import re
import subprocess

import pytest

import exports
import pprof
import profiles
import speedscope
from totals import ROOT

VIEWER = pprof
PROFILES = ["mixed-calls2", "mixed-calls1", "mixed-calls0", "recurse", "evals", "requires",
            "names", "forks-merged", "unreturned", "cut-deflated", "perltidy",
            "made-hostile-names", "made-hostile-files", "made-deep"]


def rows_of(export, what="self"):
    return {name: (export.self[name], export.inclusive[name])
            for name in set(export.self) | set(export.inclusive)
            if export.self[name] or export.inclusive[name]}


@pytest.mark.parametrize("name", PROFILES)
def test_top_shows_every_sub_exactly(totals, name):
    shown = exports.read(name, "pprof")
    rows, total, errors = pprof.top(exports.export(name, "pprof"))
    assert errors == ""
    assert total == shown.total
    assert {key: row for key, row in rows.items() if any(row)} == rows_of(shown)


@pytest.mark.parametrize("what", ["calls", "statements"])
def test_the_other_sample_types(totals, what):
    rows, _, _ = pprof.top(exports.export("mixed-calls2", "pprof"), f"-sample_index={what}")
    wanted = {name: getattr(sub, what) for name, sub in totals("mixed-calls2").subs.items() if getattr(sub, what)}
    shown = {name: row[0] for name, row in rows.items() if row[0]}
    shown.pop(ROOT, None), wanted.pop(ROOT, None)
    assert shown == wanted


@pytest.mark.parametrize("name", ["evals", "made-hostile-names"])
def test_through_a_pipe(name):
    data = exports.exported("--pprof", profiles.profile(name))
    rows, total, errors = pprof.top("/dev/stdin", pipe=data)
    assert (rows, total) == pprof.top(exports.export(name, "pprof"))[:2]
    assert errors == ""


def test_raw_traces_tags_and_comments(totals):
    path = exports.export("forks-merged", "pprof")
    raw, _ = pprof.run("-raw", path)
    assert "PeriodType: wall nanoseconds" in raw
    assert re.search(r"^\s*1: .*\[FN\]|has_functions|\[FN\]\[FL\]\[LN\]", raw, re.M)
    tags, _ = pprof.run("-tags", path)
    pids = {str(pid) for pid, _, _ in totals("forks-merged").processes}
    assert pids <= set(re.findall(r"\d+", tags.partition("pid")[2])), tags
    assert "main::work" in pprof.run("-traces", path)[0]
    assert pprof.run("-comments", path)[0].strip()


def test_list_shows_time_on_statements_and_calls(totals, tmp_path):
    name = "mixed-calls2"
    out, _ = pprof.run("-list", "^main::lines$", "-unit=ns", exports.export(name, "pprof"))
    shown = exports.read(name, "pprof")
    lines = {line: cost for (sub, _, line), cost in shown.sub_lines.items()
             if sub == "main::lines" and cost}
    text = (profiles.PROGRAMS / "mixed.pl").read_text().split("\n")
    found = {}
    for row in out.splitlines():
        match = re.match(r"\s*(\d+ns|\.)\s+(\d+ns|\.)\s+(\d+):(.*)", row)
        if match and match[1] != ".":
            found[int(match[3])] = int(match[1][:-2])
            assert match[4].strip() == text[int(match[3]) - 1].strip()
        if match and "busy($i)" in match[4]:
            assert int(match[2][:-2]) > 0
    assert found == lines


def test_list_of_an_eval_from_the_source_folder(tmp_path):
    out = tmp_path / "evals.pb.gz"
    exports.exported("--pprof", "--source-dir", tmp_path / "src", "-o", out, profiles.profile("evals"))
    listed, _ = pprof.run("-list", "named_in_eval", "-unit=ns", out)
    assert re.search(r"\d+ns\s+\S+\s+6:\s+\$t \+= \$i;", listed), listed


@pytest.mark.parametrize("report", ["-tree", "-peek=main::busy", "-svg", "-dot", "-top -cum", "-callgrind"])
def test_other_reports_work(report, tmp_path):
    out = tmp_path / "o"
    _, errors = pprof.run(*report.split(), f"-output={out}", *pprof.ALL, exports.export("mixed-calls2", "pprof"))
    assert "busy" in out.read_text() and "failed" not in errors.lower(), errors


def test_peek_shows_callers_and_callees_exactly(totals):
    out, _ = pprof.run("-peek", "^main::busy$", "-unit=ns", *pprof.ALL, exports.export("mixed-calls2", "pprof"))
    arcs = collections.Counter()
    for (caller, callee, _, _), (_, incl, _, _) in totals("mixed-calls2").arcs.items():
        if callee == "main::busy":
            arcs[caller] += round(incl * 1e9)
    for caller, cost in arcs.items():
        assert re.search(rf"\s{cost}ns\s+\S+\s+\|\s+{re.escape(caller)}$", out, re.M), (caller, out)


def test_web_pages_have_the_same_numbers(totals):
    shown = exports.read("mixed-calls2", "pprof")
    with pprof.Server(exports.export("mixed-calls2", "pprof")) as server:
        rows, total = server.top()
        assert total == shown.total
        assert {name: row for name, row in rows.items() if any(row)} == rows_of(shown)
        calls, _ = server.top("?si=calls")
        assert calls["main::busy"][0] == totals("mixed-calls2").subs["main::busy"].calls
        tree = server.flamegraph()
        assert tree["v"] == shown.total
        found = collections.Counter()

        def walk(node):
            below = sum(child["v"] for child in node.get("c") or [])
            found[node["f"] if "f" in node else node["n"]] += node["v"] - below
            for child in node.get("c") or []:
                walk(child)
        walk(tree)
        assert found["main::busy"] == shown.self["main::busy"]
        assert "busy" in server.get("")
        assert "busy" in server.get("peek?f=busy")
        assert "$total += busy($i);" in server.get("source?f=main::lines")


PROTO, = (profiles.TESTS.parent / "exporters").rglob("profile.proto")


def protoc(what, data):
    return subprocess.run(["protoc", "-I", PROTO.parent, f"--{what}=perftools.profiles.Profile", PROTO],
                          input=data, capture_output=True, check=True).stdout


@pytest.mark.parametrize("name", ["mixed-calls2", "forks-merged", "names", "made-hostile-names",
                                  "made-hostile-files", "made-negative-ticks", "evals",
                                  "perltidy"])
def test_the_text_form_is_the_same_message(name):
    text = exports.export(name, "pprof-text").read_bytes()
    assert protoc("decode", gzip.decompress(exports.export(name, "pprof").read_bytes())) == text
    assert protoc("decode", protoc("encode", text)) == text


def test_npms_decoder_reads_the_same(tmp_path):
    if not (speedscope.NODE / "pprof-format").exists():
        pytest.skip("not installed: npm pprof-format")
    shown = exports.read("mixed-calls2", "pprof")
    script = tmp_path / "sum.js"
    script.write_text("""
const { Profile } = require(process.argv[2] + '/pprof-format');
const { gunzipSync } = require('zlib');
const p = Profile.decode(gunzipSync(require('fs').readFileSync(process.argv[3])));
const s = n => p.stringTable.strings[Number(n)];
const names = new Map(p.function.map(f => [Number(f.id), s(f.name)]));
const leaf = new Map(p.location.map(l => [Number(l.id), names.get(Number(l.line[0].functionId))]));
const types = p.sampleType.map(t => s(t.type));
const out = {};
for (const sample of p.sample) {
  const name = leaf.get(Number(sample.locationId[0]));
  out[name] = (out[name] || 0) + Number(sample.value[types.length - 1]);
}
console.log(JSON.stringify({types, out}));
""")
    done = subprocess.run(["node", script, speedscope.NODE, exports.export("mixed-calls2", "pprof")],
                          capture_output=True, check=True)
    decoded = json.loads(done.stdout)
    assert decoded["types"] == ["calls", "statements", "wall"]
    assert +collections.Counter(decoded["out"]) == +shown.self
