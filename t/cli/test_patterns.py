# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Regular expressions by place and pattern (regex=1): what is made of the stream's comments."""

import json
import re

import pytest

from command import good
from nytpwrite import Writer
from readers import PprofReader
from recordings import merge, record
from written import begun


def regex(kind="match", line=7, calls=10, found=4, compiled=0, ns=5000, longest=900, length=30, sizes="-", pattern="a+b", fid=1):
    return f"nytp-regex {kind} {fid} {line} {calls} {found} {compiled} {ns} {longest} {length} {sizes} {pattern}"


def recording(path, *comments, pid=77, file="/x/app.pl"):
    stream = Writer({"application": file}).pid_start(pid, 1, 1000.0).fid(1, file).fid(2, "/x/lib/Foo.pm").time(100000, 1, 3)
    for comment in comments:
        stream.comment(comment)
    return stream.pid_end(pid, 2000.0).save(path)


def rows(*arguments):
    return json.loads(good("-q", "--json", *arguments)).get("regexes", [])


def growing(power, lengths=(16, 40, 100, 250, 600, 1500), scale=40):
    """SIZES of calls that take so long, one of them much longer by accident."""
    parts = []
    for length in lengths:
        ns = int(scale * length ** power) + 1000
        parts.append(f"10:{ns * 9 + 4000000}:4000000:{length * 10}")
    return ",".join(parts)


@pytest.mark.parametrize("power, is_steep", [(0, False), (0.5, False), (1, False), (1.3, False), (1.8, True), (2, True), (3, True)])
def test_time_that_grows_faster_than_the_subject_is_flagged(tmp_path, power, is_steep):
    file = recording(tmp_path / "p.out", regex(sizes=growing(power, scale=4000 if power < 1 else 40)))
    growth = rows(file)[0]["growth"]
    assert growth == pytest.approx(power, abs=0.25)
    text = good("-q", "--patterns", file).decode()
    assert (f"time grows as length^{growth:.1f}" in text) == is_steep
    assert ("time grows" in good("-q", "--brief", file).decode()) == is_steep


@pytest.mark.parametrize("ns, is_steep", [
    # per byte: memory that is new from some length on; then calls that wait for the processor
    ([30, 30, 30, 30, 30, 120, 120, 120, 400, 1700], False), ([30, 30, 30, 300, 300, 300, 300], False), ([90, 30, 30, 30, 3000], False),
    ([16, 32, 64, 128, 256, 5120], True), ([16, 32, 32, 64, 128, 256], True)])
def test_one_jump_is_no_growth(tmp_path, ns, is_steep):
    sizes = ",".join(f"10:{each * 32 * 2 ** n * 10 + each}:{each * 32 * 2 ** n}:{32 * 2 ** n * 10}" for n, each in enumerate(ns))
    text = good("-q", "--patterns", recording(tmp_path / "p.out", regex(sizes=sizes))).decode()
    assert ("time grows" in text) == is_steep, text


@pytest.mark.parametrize("sizes", [
    "-", "100:9000000:90000:800", growing(3, lengths=(16, 40)), growing(3, lengths=(16, 20, 24)),  # too few, too near
    "10:2000:500:40,10:20000:500:400,10:40000000:39990000:4000",                                # one call of ten
    "2:20000:10000:20,2:200000:100000:80,2:20000000:10000000:320"])                             # two calls are none
def test_what_is_not_known_is_not_flagged(tmp_path, sizes):
    assert rows(recording(tmp_path / "p.out", regex(sizes=sizes)))[0]["growth"] == 0


def test_compilations_of_a_place_are_a_row_that_says_when_to_hoist(tmp_path):
    file = recording(tmp_path / "p.out", regex("compile", calls=30, compiled=30, ns=9000, pattern="one"),
                     regex("compile", calls=20, compiled=20, ns=20000, pattern="two"),
                     regex("compile", line=9, calls=50, compiled=1, ns=400), regex("compile", line=11, calls=50, compiled=50, fid=2, pattern="p"),
                     *[regex("compile", line=12, calls=1, compiled=1, ns=9, pattern=f"q{n}") for n in range(40)])
    seen = {row["line"]: row for row in rows(file)}
    assert [seen[7][key] for key in ("calls", "compiled", "patterns", "total_ns", "pattern")] == [50, 50, 2, 29000, "two"]
    assert seen[12]["patterns"] == 40
    text = good("-q", "--patterns", file).decode()
    assert re.search(r"app\.pl:7 +two and 1 more\n +\^ compiled 50 times for 2 patterns: hoist it with qr//", text)
    assert re.search(r"Foo\.pm:11 +p\n +\^ compiled 50 times for 1 pattern: ", text)
    assert text.count("hoist") == 2                     # what is spared, and 40 different ones, are not to be


def test_processes_and_inputs_are_added_up(tmp_path):
    a = recording(tmp_path / "a.out", regex(sizes="10:5000:900:300"), regex("tr", pattern=""))
    b = recording(tmp_path / "b.out", regex(calls=5, found=1, ns=4000, longest=2000, length=9, sizes="5:4000:2000:150"),
                  regex(fid=2, ns=7), pid=78)
    merged = merge(tmp_path / "m.out", a, b)
    for files in (a, b), (merged,):
        names = [file["name"] for file in json.loads(good("-q", "--json", *files))["files"]]
        seen = {(names[row["file"]], row["op"]): row for row in rows(*files)}
        assert set(seen) == {("/x/app.pl", "match"), ("/x/app.pl", "tr"), ("/x/lib/Foo.pm", "match")}
        row = seen["/x/app.pl", "match"]
        assert [row[key] for key in ("calls", "matches", "total_ns", "longest_ns", "longest_bytes")] == [15, 5, 9000, 2000, 9]
    good("-q", "--patterns", "--per-process", "-o", tmp_path / "t.%p", a, b)
    assert "tr" in (tmp_path / "t.77").read_text() and "Foo.pm" not in (tmp_path / "t.77").read_text()
    assert "Foo.pm" in (tmp_path / "t.78").read_text()


def test_files_are_called_what_they_are_elsewhere(tmp_path):
    assert " /x/lib/Foo.pm:7 " in good("-q", "--patterns", recording(tmp_path / "p.out", regex(fid=2))).decode()
    assert " lib/Foo.pm:7 " in good("-q", "--patterns", "--trim-path=/x/", tmp_path / "p.out").decode()


def test_rows_are_those_with_the_most_time(tmp_path):
    file = recording(tmp_path / "p.out", *[regex(line=n, ns=n * 1000) for n in range(1, 31)])
    text = good("-q", "--patterns=3", file).decode()
    assert [int(line) for line in re.findall(r"app\.pl:(\d+)", text)] == [30, 29, 28] and "27 more" in text
    assert len(re.findall(r"app\.pl:\d", good("-q", "--patterns", file).decode())) == 20
    assert len(re.findall(r"app\.pl:\d", good("-q", "--patterns=0", file).decode())) == 30


def test_a_recording_without_says_how_to_make_one(tmp_path):
    file = recording(tmp_path / "p.out")
    assert "NYTPROF=regex=1" in good("-q", "--patterns", file).decode()
    assert "regexes" not in json.loads(good("-q", "--json", file))
    assert "Regular expressions" not in good("-q", "--brief", file).decode()
    assert b"regexes" not in good("-q", "--html", "-o", "-", file).split(b"<body")[1]


@pytest.mark.parametrize("broken", [
    "nytp-regex", regex(kind="glob"), regex(calls=-1), regex(ns=10 ** 20), regex(sizes="1:2:3"), regex(sizes="0:1:1:1"), regex(fid=2 ** 40),
    regex(sizes="1:1:1:1,")])
def test_a_comment_that_does_not_fit_is_passed_over(tmp_path, broken):
    assert rows(recording(tmp_path / "p.out", broken.rstrip("\n"), regex())) == rows(recording(tmp_path / "q.out", regex()))


def test_the_report_has_a_table_with_places_and_patterns(tmp_path):
    evil = "<script>alert(1)</script>`|\\x1b[31m"
    file = recording(tmp_path / "p.out", regex(line=3, pattern=evil, sizes=growing(2)), regex(fid=2, line=5))
    page = good("-q", "--html", "-o", "-", file).decode()
    table = re.search(r'<table class="list regexes".*?</table>', page, re.DOTALL)[0]
    assert "<code>&lt;script>alert(1)&lt;/script>`|\\x1b[31m</code> <small>time grows as length^" in table
    assert re.search(r'<a href=["#]?[^>]*[:#]3"?>[^<]*app\.pl line 3</a>', table), table
    assert "<td data-n=5000>" in table
    assert ": `` <script>alert(1)</script>`|\\x1b[31m ``" in good("-q", "--brief", file).decode()


PROGRAM = r"""
sub scan { for (1 .. 30) { $_[0] =~ /fo+b[ar]z/; my $copy = $_[0]; $copy =~ s/q+/q/g } }
sub each_of { my ($s, @patterns) = @_; for my $pattern (@patterns) { $s =~ $pattern for 1 .. 5 } }
sub none { my @parts = sort @_; return scalar @parts }
scan('fooobar' x 50); each_of('abc' x 30, qr/b+d/, qr/x\s*y/); none(3, 2, 1);
"""


@pytest.mark.parametrize("labels", ["pid,script", "none"])
def test_samples_in_pprof_have_their_pattern(tmp_path, labels):
    file = record(tmp_path, PROGRAM, options="regex=1:slowops=2")
    samples = PprofReader(good("-q", "--pprof", f"--labels={labels}", "-o", "-", file)).samples
    seen = {(stack[0][0][0], tags.get("pattern")) for stack, _, tags in samples}
    several = {pattern for _, pattern in seen if pattern and "more" in pattern}
    assert len(several) >= 1 and several <= {"b+d and 1 more", r"x\s*y and 1 more"}
    assert {("main::CORE:match", "fo+b[ar]z"), ("main::CORE:subst", "q+")} <= seen
    assert {leaf for leaf, pattern in seen if pattern} <= {"main::CORE:match", "main::CORE:subst", "main::CORE:regcomp", "main::CORE:qr"}
    assert ("main::scan", None) in seen and ("main::none", None) in seen
    counted = {tags["pattern"]: values[0] for stack, values, tags in samples if stack[0][0][0] == "main::CORE:match"}
    assert counted["fo+b[ar]z"] == 30
    without = PprofReader(good("-q", "--pprof", "-o", "-", record(tmp_path / "off", PROGRAM)))
    assert "pattern" not in without.strings


def test_samples_tell_no_calls(tmp_path):
    stream = begun(is_sampled=True).time(100000, 1, 3)
    stream.comment(regex(calls=12, found=0, ns=9000000, longest=0, length=0))
    stream.comment(regex("compile", calls=2, found=0, ns=2000000, longest=0, length=0))
    file = stream.pid_end(7, 2000.0).save(tmp_path / "s.out")
    first, second = rows(file)
    assert first == {"file": 1, "line": 7, "op": "match", "pattern": "a+b", "patterns": 1, "samples": 12, "total_ns": 9000000}
    assert second["op"] == "compile" and "compiled" not in second
    table = good("-q", "--patterns", file).decode()
    assert re.search(r"^ +time +% +samples op +place +pattern$", table, re.M) and re.search(r"^ +9\.00 ms +90\.0% +12 match +/x/app\.pl:7 +a\+b$", table, re.M)
    assert "9.00 ms match 12 samples at `/x/app.pl:7`" in good("-q", "--brief", file).decode()
    good("-q", "--html", "-o", f"{tmp_path / 'report'}/", file)
    table = re.search(r'<table class="list regexes".*?</table>', (tmp_path / "report" / "index.html").read_text(), re.DOTALL)[0]
    assert re.findall(r"<td data-n=(\d+)>[^<]*<td>(\d+)<td>(\w+)", table) == [("9000000", "12", "match"), ("2000000", "2", "compile")]
    assert len(re.findall("<th[ >]", table)) == 5


def test_pieces_of_a_brief_fit(tmp_path):
    file = recording(tmp_path / "p.out", *[regex(line=n, pattern="\\" * 190 + str(n)) for n in range(40)], file="/" + "long/" * 40)
    assert len(good("-q", "--brief", file)) <= 8192
    assert "36 more of them: `nytp export --patterns=0 " in good("-q", "--brief", file).decode()
