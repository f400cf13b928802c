# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""--as: each list in each form has the same rows and numbers, and a form is refused where there is no list."""

import csv
import io
import json

import pytest

from command import good, messages, run
from htmlpages import Page
from nytpwrite import Writer
from recordings import record
from test_diff import markdown_tables
from test_sql import PROGRAM
from test_wait_reasons import HOSTILE, WAITS, sampled

LISTS = {"--top": ["subs"], "--top --lines": ["lines"], "--top --spread": ["subs"], "--patterns": ["patterns"],
         "--processes": ["processes"], "--sql": ["requests", "loops"], "--by=request": ["labels"], "--waits": ["waits"]}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("as")
    exact = record(folder, PROGRAM + "'foo bar' =~ /(\\w+) b|x`y/ for 1 .. 3;\n", options="regex=1:sql=1")
    return {"--waits": sampled(folder / "w.out", *WAITS), None: exact}


def output(inputs, shown, *more):
    return good("-q", *shown.split(), *more, inputs.get(shown, inputs[None])).decode()


@pytest.mark.parametrize("shown", LISTS)
def test_forms_have_the_same_rows(inputs, shown):
    lists = json.loads(output(inputs, shown, "--as=json"))
    assert list(lists) == LISTS[shown] and all(lists.values())
    tables = [list(csv.DictReader(io.StringIO(part))) for part in output(inputs, shown, "--as=csv").split("\n\n")]
    assert [[{key: value for key, value in row.items() if value != ""} for row in rows] for rows in tables] == [
        [{key: str(value) for key, value in row.items() if value != ""} for row in rows] for rows in lists.values()]
    sizes = [len(rows) for rows in lists.values()]
    tables = Page(output(inputs, shown, "--as=html")).root.elements("table")
    assert [len(table.elements("tr")) - 1 for table in tables] == sizes
    if shown != "--by=request":                 # which has a table for each key
        tables = markdown_tables(output(inputs, shown, "--as=markdown"))
        assert [len(rows) - 2 for rows in tables] == [min(size, 20) for size in sizes]
    assert output(inputs, shown, "--as=text") == output(inputs, shown)


def test_unit_and_number_and_order_of_rows_are_kept(inputs):
    ns, us = (json.loads(output(inputs, "--top", "--as=json", "--unit", unit))["subs"][0] for unit in ("ns", "us"))
    assert ns["exclusive_ns"] == us["exclusive_us"] * 1000 > 0
    rows = json.loads(output(inputs, "--top=2 --sort=calls", "--as=json"))["subs"]
    assert len(rows) == 2 and rows[0]["calls"] >= rows[1]["calls"] > 0
    assert len(json.loads(output(inputs, "--top", "--as=json"))["subs"]) > 2


def test_other_options_are_names_for_it(inputs):
    for form in "json", "csv", "markdown":
        assert output(inputs, "--by=request", f"--as={form}") == output(inputs, "--by=request", f"--{form}")


def test_what_a_stranger_wrote_stays_text(inputs):
    assert HOSTILE in [row["with"] for row in json.loads(output(inputs, "--waits", "--as=json"))["waits"]]
    page = output(inputs, "--waits", "--as=html")
    assert "\x1b" not in page and "<b>" not in page
    assert "\x1b" not in output(inputs, "--waits", "--as=markdown")
    assert "`` " in [line for line in output(inputs, "--patterns", "--as=markdown").splitlines() if "x`y" in line][0]


def test_source_that_is_no_utf8(tmp_path):
    stream = Writer().pid_start(7).fid(1, "/x/a.pl").source(1, 1, b"  my $x = '\xe9<';\t\r\n".decode("latin-1")).time(90, 1, 1)
    file = stream.pid_end(7).save(tmp_path / "latin.out")
    row, = json.loads(good("-q", "--top", "--lines", "--as=json", file))["lines"]
    assert row["source"] == "my $x = '\xe9<';"
    assert "my $x = 'é&lt;';" in good("-q", "--top", "--lines", "--as=html", file).decode()


@pytest.mark.parametrize("options", [["--by=request,sql"], ["--top", "--diff", None]])
def test_it_is_refused_where_there_is_no_list(inputs, options):
    """Beside other formats: test_option_matrix.py."""
    done = run(*(inputs[None] if option is None else option for option in options), "--as=csv", inputs[None])
    line, = messages(done)
    assert (done.returncode, done.stdout) == (2, b"") and "--as" in line


def test_long_places_are_aligned_and_large_numbers_stay_apart(tmp_path):
    stream = Writer().pid_start(7).fid(1, f"/x/{'d' * 300}.pl").fid(2, "/x/b.pl").source(1, 1, "one;\n").source(2, 1, "two;\n")
    file = stream.time(2 ** 31 - 1, 1, 1).time(2 ** 31 - 1, 2, 1).pid_end(7).save(tmp_path / "wide.out")
    rows = good("-q", "--top", "--lines", file).decode().splitlines()
    one, two = ([row.index(text) for row in rows if text in row] for text in ("one;", "two;"))
    assert one == two and one[0] > 300
    assert "100.0% 429496729400 100.0%" in " ".join(good("-q", "--top", "--unit=ns", file).decode().split())
