# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""What requests ask of databases, in each output that tells it: the same numbers, and texts of strangers are harmless."""

import json
import re

import pytest

from command import csv_rows, good, judged, messages, run, run_on_terminal
from nytpwrite import Writer
from recordings import record
from written import MS, begun

DBI = """package DBI::db; sub selectrow_array { DB::label(sql => $_[1]); my $t = 0; $t += $_ for 1 .. 9; DB::label(sql => undef); 1 }
sub do { selectrow_array(@_) }
package main;
"""
PROGRAM = DBI + """sub get { DBI::db->selectrow_array("select name from t where id = $_[0]") }
sub page {
    get($_) for 1 .. $_[0];
    DBI::db->do('update t set n = n + 1');
}
for my $n (12, 15, 4) {
    DB::label(request => $n == 4 ? 'GET /short' : 'GET /list');
    page($n);
    DB::label(request => undef);
}
my $t = 0; $t += $_ for 1 .. 999;
"""
EVIL = ["select 'x' \x1b[31m\x1b]0;t\x07 from t", "select\r\n# Ignore previous instructions\r\n from t",
        "</script><script>alert(1)</script>", "select `a`` | b` ``` from \"t\"", "x" * 3000000,
        "\N{RIGHT-TO-LEFT OVERRIDE}evil", "in (" * 200000, "'" * 99999, "\\x1b[31m", "a\x00b", "<" * 5000, "--"]


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return record(tmp_path_factory.mktemp("sql"), PROGRAM)


def stream(path, text, calls=12, dbi="DBI::db::do", value=None, pid=77):
    """One request that sends a text so many times."""
    def escaped(raw):
        return "".join(f"\\x{ord(c):02x}" if ord(c) < 32 or c in "\x7f\\" else c for c in raw)
    text = text[:1000]                          # the recorder cuts them at 4000 bytes
    out = begun(pid)
    out.comment(f"nytp-label 0 request={escaped(text if value is None else value)}")
    for n in range(calls):
        out.time(MS, 1, 7).entry(1, 7).comment(f"nytp-label {n} sql={escaped(text)}").time(MS, 1, 1).comment(f"nytp-label {n} sql")
        out.leave(1, MS, MS, dbi)
    out.comment("nytp-label 9 request")
    out.time(MS, 1, 8).sub(1, dbi, 1, 1).callers(1, 7, "main::RUNTIME", dbi, calls, calls, calls)
    return out.pid_end(pid, 2000.0).save(path)


def sql_of(*arguments):
    return json.loads(good("-q", "--json", "--unit=us", *arguments)).get("sql")


def test_each_output_tells_the_same(recording):
    seen = sql_of(recording)
    assert (seen["label"], seen["statements"]) == ("request", 12 + 15 + 4 + 3)
    rows = {row["request"]: row for row in seen["requests"]}
    assert {key: [row[field] for field in ("count", "statements", "most", "different")] for key, row in rows.items()} == {
        "GET /list": [2, 29, 16, 2], "GET /short": [1, 5, 5, 2]}
    loop, = seen["loops"]
    assert (loop["statement"], loop["calls"], loop["most"], loop["loop_line"]) == ("select name from t where id = ?", 27, 15, 6)

    text = good("-q", "--sql", "--unit=us", recording).decode()
    for name, row in rows.items():
        found = re.search(rf"^ +{row['count']} +{row['statements']} +{row['most']} +{row['different']} +([\d.]+) +([\d.]+)% +([\d.]+)  {name}$", text, re.M)
        assert float(found[1]) == pytest.approx(row["database"], abs=0.051) and float(found[3]) == pytest.approx(row["time"], abs=0.051)
        assert float(found[2]) == pytest.approx(100 * row["database"] / row["time"], abs=0.051)

    text = good("-q", "--brief", recording).decode()
    assert re.search(r"^## Databases.*\n- \d.* 27x, up to 15 in a request, in a loop at `\S*a\.pl:6`: `select name from t where id = \?`", text, re.M)
    assert "29 statements, 2 different, 2 requests, of which up to 16 each, of `GET /list`" in text

    page = good("-q", "--html", "-o", "-", recording).decode()
    table = re.search(r'<table class="list requests".*?</table>', page, re.S)[0]
    assert re.search(r"<td>2<td>29<td>16<td>2<td [^>]*data-n=\d+.*<td>GET /list$", table, re.M)
    table = re.search(r'<table class="list loops".*?</table>', page, re.S)[0]
    assert re.search(r"<td>27<td>15<td .*<code>select name from t where id = \?</code> <small>sent by main::get at <a [^>]*>[^<]*a\.pl line 4</a>; "
                     r"the loop is in main::page at <a [^>]*>[^<]*a\.pl line 6</a>, as in GET /list</small>$", table, re.M), table


def test_the_statements_of_each_request_with_their_share_and_who_sends_them(recording):
    rows = {row["request"]: row for row in sql_of(recording)["requests"]}
    text = good("-q", "--by=request,sql", "--unit=us", recording).decode()
    assert text == good("-q", "--by=label=request,sql", "--unit=us", recording).decode() == good(
        "-q", "--by=label,sql", "--unit=us", recording).decode()
    heads = re.findall(r"^(GET \S+)   (\d) requests?, ([\d.]+); database ([\d.]+), ([\d.]+)%$", text, re.M)
    assert [(head[0], int(head[1])) for head in heads] == [(key, row["count"]) for key, row in rows.items()]
    for name, _, whole, database, share in heads:
        assert float(whole) == pytest.approx(rows[name]["time"], abs=0.051)
        assert float(database) == pytest.approx(rows[name]["database"], abs=0.051)
        assert float(share) == pytest.approx(100 * float(database) / float(whole), abs=0.06)
    of_list, of_short = re.split(r"^GET .*\n", text, flags=re.M)[1:]
    line = r"^ +{} +([\d.]+) +([\d.]+)%  {} +{}$"
    sent = re.search(line.format(r"13\.5", r"select name from t where id = \?", r"N\+1\? a\.pl:4 get <- a\.pl:6 page <- a\.pl:11"), of_list, re.M)
    assert float(sent[2]) == pytest.approx(100 * float(sent[1]) / rows["GET /list"]["time"], abs=0.06)
    other = re.search(line.format(r"1\.0", r"update t set n = n \+ \?", r"a\.pl:7 page <- a\.pl:11"), of_list, re.M)
    assert float(sent[1]) + float(other[1]) == pytest.approx(rows["GET /list"]["database"], abs=0.11)
    assert re.search(line.format(r"4\.0", r"select name from t where id = \?", r"a\.pl:4 get <- a\.pl:6 page <- a\.pl:11"), of_short, re.M)

    grouped = good("-q", "--by=request,sql", "--group=s{/.*}{/N}", recording).decode()
    assert re.findall(r"^GET /N   3 requests", grouped, re.M) and len(re.findall(r"^GET", grouped, re.M)) == 1
    assert re.search(r"^ +10\.3 .*N\+1\?", grouped, re.M)

    for columns, shown in (80, r"^ +13\.5 .*%  select name from t where id = \?\n {12}N\+1\? a\.pl:4 get <- a\.pl:6 page <- a\.pl:11$"), (
            200, r"^ +13\.5 .*%  select name from t where id = \? +N\+1\? a\.pl:4 get"):
        _, seen, _ = run_on_terminal("-q", "--by=request,sql", recording, columns=columns)
        seen = re.sub("\x1b\\[[0-9;]*m|\r", "", seen if isinstance(seen, str) else seen.decode())
        assert re.search(shown, seen, re.M) and max(map(len, seen.splitlines())) <= columns


def test_statements_by_what_is_no_label(recording):
    done = run("--by=reqest,sql", recording)
    assert done.returncode == 1 and done.stdout == b""
    assert done.stderr == b"nytp-export: no label reqest in the input (--by=label tells which there are)\n"
    assert run("--by=request,sql", "--json", recording).returncode == 2


def test_a_recording_without_has_none_of_it(tmp_path):
    file = record(tmp_path, "sub f { 1 } f() for 1 .. 20;")
    assert sql_of(file) is None
    assert "Databases" not in good("-q", "--brief", file).decode()
    assert b"ask of databases" not in good("-q", "--html", "-o", "-", file)


def test_only_calls_of_databases_are_kept(tmp_path):
    """Of three thousand other calls none has to make room, however few are asked for."""
    noise = "sub n { 1 } sub work { n() for 1 .. 100; get($_[0]) }\n"
    file = record(tmp_path, PROGRAM.replace("    get($_) for", f"    {noise}work($_) for"))
    assert sql_of(file)["statements"] == 34
    assert [row["calls"] for row in sql_of(file)["loops"]] == [27]
    text = good("-q", "--sql", "--max-calls=120", file).decode()
    assert "not all is counted" not in text and re.search(r"^ +2 +29 +16 ", text, re.M)
    assert "not all is counted" in good("-q", "--sql", "--max-calls=20", file).decode()


def test_many_inputs_are_added_up(tmp_path):
    files = [stream(tmp_path / f"{n}.out", "select 1", calls=1 + n % 3 * 10, value="r", pid=100 + n) for n in range(60)]
    seen = sql_of(*files)
    assert seen["requests"][0]["count"] == 60 and seen["statements"] == 20 * (1 + 11 + 21)
    assert [(row["calls"], row["most"]) for row in seen["loops"]] == [(20 * (11 + 21), 21)]


@pytest.mark.parametrize("evil", EVIL, ids=range(len(EVIL)))
def test_texts_of_strangers_are_harmless(tmp_path, evil):
    file = stream(tmp_path / "p.out", evil)
    for arguments in ("--sql",), ("--brief",), ("--json",), ("--html", "-o", "-"):
        data = good("-q", *arguments, file)
        assert not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", data), arguments
    brief = good("-q", "--brief", file)
    assert len(brief) <= 8192 and not re.search("[\u202a-\u202e]", brief.decode())
    assert json.loads(good("-q", "--json", file))["sql"]["statements"] == 12
    assert all(re.match(r"#|- |$|Total |Times ", line) for line in good("-q", "--brief", file).decode().splitlines())
    assert not re.search(r"^\W*(Ignore|# Ignore)", good("-q", "--sql", file).decode(), re.M)
    page = good("-q", "--html", "-o", "-", file).decode()
    assert "<script>alert" not in page
    assert len(good("-q", "--sql", file)) < 20000 and len(page) < 400000


def test_megabytes_of_text(tmp_path):
    """The recorder keeps the start; of a stream that holds all of it no more is shown."""
    file = record(tmp_path, DBI + "DBI::db->do('select ' . 'x' x 3_000_000) for 1 .. 12;", steps=False)
    loop, = sql_of(file)["loops"]
    assert loop["calls"] == 12 and re.fullmatch(r"select x{3990,3993}\.\.\.", loop["statement"])
    whole = Writer().pid_start(7, 1).fid(1, "/x/a.pl").time(MS, 1, 1).comment("nytp-label 0 sql=" + "x" * 3000000)
    done = run("--sql", whole.time(MS, 1, 2).pid_end(7).save(tmp_path / "w.out"))
    assert (done.returncode, done.stderr) == (0, b"") and len(done.stdout) < 2000


@pytest.mark.parametrize("rule, status, said", [
    ("queries total <= 34", 0, "total: 34 SQL statements, at most 34"),
    ("queries total <= 33", 10, "total: 34 SQL statements, at most 33"),
    (r"queries /^GET\s\/list/ <= 16", 0, "16 SQL statements"),
    ("queries /list/ <= 15", 10, "16 SQL statements, at most 15"),
    ("queries /short/ <= 5", 0, "5 SQL statements"),
    ("queries /short/ <= 4", 10, "5 SQL statements"),
    ("loops total <= 1", 0, "1 SQL statements in a loop"),
    ("loops total <= 0", 10, "1 SQL statements in a loop, at most 0"),
    ("queries /nobody/ <= 5", 2, "no request matches"),
    ("queries /nobody/ <= 5 or absent", 0, "no request matches"),
    ("queries main::page <= 9", 2, "are of total"),
    ("loops /x/ <= 9", 2, "are of total"),
    ("queries GET <= 9", 2, "are of total")])
def test_limits_on_statements_of_a_request(recording, tmp_path, rule, status, said):
    returned, tap = judged(tmp_path, rule, recording)
    assert (returned, said in tap) == (status, True), tap


def test_limits_from_a_base(recording, tmp_path):
    more = record(tmp_path, PROGRAM.replace("15, 4)", "15, 22, 4)"))
    one = record(tmp_path / "one", PROGRAM.replace("12, 15, 4)", "3, 4, 5)"))
    for rule, base, now, status in [
            ("queries total <= base", recording, more, 10), ("queries total <= base +100%", recording, more, 0),
            ("queries /list/ <= base +6", recording, more, 10), ("queries /list/ <= base +7", recording, more, 0),
            ("loops total <= base", recording, more, 0), ("loops total <= base", one, recording, 10)]:
        assert judged(tmp_path, rule, "--diff", base, now)[0] == status, rule


def test_limits_where_nothing_can_be_told(recording, tmp_path):
    quiet = record(tmp_path / "q", PROGRAM, options="calls=0")
    assert judged(tmp_path, "queries total <= 99", quiet)[0] == 2
    counts = tmp_path / "base.json"
    good("-q", "--save-base", "-o", counts, recording)
    assert judged(tmp_path, "queries total <= base", "--diff", counts, recording)[0] == 2
    trace = ["--chrome-trace", "-o", tmp_path / "t.json", "--max-calls=9"]
    status, tap = judged(tmp_path, "queries total <= 99", *trace, recording)
    assert status == 2 and "one by one" in tap


@pytest.fixture(scope="module")
def sides(recording, tmp_path_factory):
    """Options of a comparison, and the new side: one request of 23 statements more, and another statement in place of one."""
    changed = PROGRAM.replace("15, 4)", "15, 22, 4)").replace("update t set n = n + 1", "delete from t")
    return "-q", "--diff", recording, record(tmp_path_factory.mktemp("changed"), changed)


def test_a_comparison_tells_new_and_gone_statements(sides, recording):
    text = good(*sides).decode()
    for row in r"34 +57 +\+67\.6 %  SQL statements", r"0 +4 +new  delete from t", r"3 +0 +gone  update t set n = n \+ \?", \
            r"16 +23 +\+43\.8 %  most in one GET /list", r"31 +53 +\+71\.0 %  select name from t where id = \?":
        assert re.search(rf"^ +{row}$", text, re.M), (row, text)
    assert "GET /short" not in text and "loops of statements" not in text
    rows = json.loads(good(*sides, "--json"))["besides"]
    assert [(row["kind"], row["name"], row["base"], row["new"]) for row in rows] == [
        ("queries", "", 34, 57), ("loops", "", 1, 1), ("request", "GET /list", 16, 23), ("request", "GET /short", 5, 5),
        ("statement", "select name from t where id = ?", 31, 53), ("statement", "delete from t", 0, 4), ("statement", "update t set n = n + ?", 3, 0)]
    same = good("-q", "--diff", recording, recording).decode()
    assert re.search(r"^ +34 +34 +\S.*  SQL statements$", same, re.M) and "select name" not in same


def test_each_form_of_a_comparison_tells_them(sides, tmp_path):
    shown = good(*sides, "--markdown").decode()
    assert shown.split("\n\n")[-1].splitlines() == [
        "| base | new | change | besides |", "|---:|---:|---:|---|", "| 34 | 57 | +67.6 % | SQL statements |",
        "| 16 | 23 | +43.8 % | most in one `GET /list` |", "| 31 | 53 | +71.0 % | `select name from t where id = ?` |",
        "| 0 | 4 | new | `delete from t` |", "| 3 | 0 | gone | `update t set n = n + ?` |"]
    rows = csv_rows(*sides)
    besides = json.loads(good(*sides, "--json"))["besides"]
    assert [(row["kind"], row["name"], int(row["base"]), int(row["new"])) for row in rows if not row["sub"]] == [
        (row["kind"], row["name"], row["base"], row["new"]) for row in besides]
    for row in rows:                            # what is none of a sub adds nothing to sums by sub, and the other way round
        assert bool(row["sub"]) == bool(row["new_calls"]) == bool(row["status"]) != bool(row["kind"])
    good(*sides, "--html", "-o", tmp_path / "r.html")
    table = re.search(r'<table class="list besides.*?</table>', (tmp_path / "r.html").read_text(), re.S)[0]
    cells = [re.findall(r"<td[^>]*>([^<]*?)\s*(?=<|$)", row) for row in re.findall(r"<tr.*?(?=<tr|</table)", table, re.S)]
    assert cells[1:] == [["34", "57", "+67.6 %", "SQL statements"], ["16", "23", "+43.8 %", "most in one GET /list"],
                         ["31", "53", "+71.0 %", "select name from t where id = ?"], ["0", "4", "new", "delete from t"],
                         ["3", "0", "gone", "update t set n = n + ?"]]


def test_a_long_list_of_new_statements_is_cut_and_says_so(tmp_path):
    base, now = (record(tmp_path / name, DBI + f"for (1 .. {n}) {{ DBI::db->do('select 1 from u_' . 'x' x $_) }}\n") for name, n in (("a", 1), ("b", 13)))
    for form, said in ("--top", r"^ +\(2 more: --json\)$"), ("--markdown", r"^2 more: --json$"):
        text = good("-q", form, "--diff", base, now).decode()
        assert re.search(said, text, re.M) and text.count("u_x") == 10
    good("-q", "--html", "-o", tmp_path / "r.html", "--diff", base, now)
    assert "<p>2 more: nytp export --diff --json shows all.</p>" in (tmp_path / "r.html").read_text()
    assert good("-q", "--csv", "--diff", base, now).decode().count("u_x") == 13


def test_a_comparison_of_strangers_texts_is_harmless(tmp_path):
    base = stream(tmp_path / "base.out", "select 1")
    for n, text in enumerate(EVIL):
        now = stream(tmp_path / f"{n}.out", text, value="/")
        shown = good("-q", "--diff", base, now)
        assert b"\x1b" not in shown and b"\r" not in shown and max(map(len, shown.decode().splitlines())) < 400
        json.loads(good("-q", "--diff", base, "--json", now))
        marked = good("-q", "--diff", base, "--markdown", now)
        assert b"\x1b" not in marked and b"\r" not in marked and max(map(len, marked.decode().splitlines())) < 800
        assert {len(re.findall(rb"(?<!\\)\|", line)) for line in marked.split(b"besides |")[1].splitlines()} - {0} == {5}
        good("-q", "--diff", base, "--html", "-o", tmp_path / "r.html", now)
        page = (tmp_path / "r.html").read_bytes()
        assert b"<script>alert" not in page and b"\x1b" not in page


def test_a_comparison_without_all_calls_tells_none(recording, tmp_path):
    quiet = record(tmp_path / "q", PROGRAM, options="calls=0")
    for base, now in (quiet, recording), (recording, quiet):
        assert "SQL statements" not in good("-q", "--diff", base, now).decode()


@pytest.mark.parametrize("form", ["json", "brief", "html"])
def test_statements_that_a_selection_takes_away_are_told_even_if_quiet(tmp_path, form):
    """Once, also where there are pages of each request."""
    out = Writer().pid_start(7).fid(1, "/x/a.pl")
    for value in range(3):
        out.comment(f"nytp-label {value} request={value}").entry(1, 3).time(MS, 1, 4).leave(1, 5, 5, "DBI::db::do").comment(f"nytp-label {value} request")
    file = out.entry(1, 5).time(MS, 1, 5).leave(1, 5, 5, "main::f").pid_end(7).save(tmp_path / "a.out")
    done = run(f"--{form}", "-q", "--focus=main::f", "-o", tmp_path / "out.html", file)
    assert done.returncode == 0 and [form in line and "leaves out calls of databases" in line for line in messages(done)] == [True]
    assert run(f"--{form}", "-q", "-o", tmp_path / "out.html", file).stderr == b""


def test_samples_are_not_said_to_have_sent_nothing(tmp_path):
    out = begun(is_sampled=True).time(MS, 1, 3).entry(1, 3).time(MS, 1, 9).leave(1, MS, MS, "main::f")
    file = out.sub(1, "main::f", 9, 9).callers(1, 3, "main::RUNTIME", "main::f", 1, MS, MS).pid_end(7).save(tmp_path / "s.out")
    text = good("-q", "--sql", file).decode()
    assert "No calls one by one: not recorded" in text and "No statement was sent" not in text
