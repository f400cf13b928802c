# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""html: names and source that are no plain text stay what they are: markup, scripts, control characters, bytes
that are no UTF-8, every character there is.
"""

import hashlib
import html
import json
import os
import re
import shlex
import socket
import subprocess
import time
import xml.etree.ElementTree

import pytest

import exports
import hostile
import htmlpages
import nytpwrite
from opened import opens
from recordings import record
from reports import made, run


NASTY = ["</script><script>xss()</script>", '"><img src=x onerror=xss()>', "' onmouseover='xss()", "]]>", "-->",
         "javascript:xss()", "`${xss()}`", "\u2028\u2029", "\u202eevil\u202c", "a\x00b", "\x1b[31m", "&lt;b&gt;",
         "../../etc/passwd", "\\..\\x", "=cmd|' /C calc'!A0", "%3Cscript%3E", "x" * 10000, "\ufeff", "a;b c\td"]


def test_hostile_texts_stay_texts(tmp_path):
    """Every nasty text as sub, caller, file, eval, attribute, option, application and source; one file with
    such texts is for t/viewers."""
    texts = [t.encode("utf-8", "surrogatepass") for t in NASTY] + [b"\xff\xfe\x80", b"caf\xe9::\xe9", b"\xed\xa0\x80"]
    folder = tmp_path / "deep" / "r"
    folder.parent.mkdir()
    pages = made(folder, "--title", NASTY[0], "--focus", "<b>|x", "-", input=hostile.names_everywhere(texts), stdin=None)
    assert list(htmlpages.problems(pages)) == []
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file()) == pages.names
    assert max(len(n.encode()) for n in pages.names) <= 255
    for page in pages.pages.values():
        scripts = page.root.elements("script")
        assert [s.get("src") for s in scripts] == ["report.js"] and scripts[0].text() == ""
    shown = "".join(p.root.text() for p in pages.pages.values())
    for text in ("</script><script>xss()</script>", '"><img src=x onerror=xss()>', "a␀b", "⟨U+202E⟩evil"):
        assert text in shown, text
    root = xml.etree.ElementTree.parse(folder / "all_stacks_by_time.svg").getroot()
    assert {e.tag.rpartition("}")[2] for e in root.iter()} <= {"svg", "g", "a", "rect", "title", "text"}
    assert not [a for e in root.iter() for a in e.attrib if a.startswith("on")]
    data = (folder / "flame.js").read_text()
    assert "<" not in data and json.loads(data[len("nytp.flame("):-3])["names"]


def test_quotes_in_a_package_end_no_attribute(tmp_path):
    package = 'x"/onmouseover="alert(1)"/y'
    stream = nytpwrite.Writer().pid_start(7, 1).fid(1, "/x/a.pl").time(10, 1, 1)
    stream.entry(1, 1).time(5, 1, 2).leave(1, 5, 5, f"{package}::foo").sub(1, f"{package}::foo", 2, 2)
    done = run("--html", "-q", stream.pid_end(7).save(tmp_path / "a.out"))
    assert done.returncode == 0, done.stderr
    elements = htmlpages.Page(done.stdout.decode()).root.elements()
    assert not [name for element in elements for name in element.attributes if name.startswith("on")]
    assert [element.get("data-part") for element in elements if "x" in element.get("data-part", "")] == [package]


def shown_character(code):
    """What a page shows of a character of a source line."""
    if code == 9:
        return "\t"
    if code < 32 or code == 127:
        return chr(0x2400 + code if code < 32 else 0x2421)
    if 0x80 <= code < 0xa0 or code in (0x61c, 0x200e, 0x200f, 0xfeff) or 0x2028 <= code <= 0x202e or \
            0x2066 <= code <= 0x2069 or 0xfdd0 <= code <= 0xfdef or code & 0xfffe == 0xfffe:
        return f"⟨U+{code:04X}⟩"
    return chr(code)


def test_every_character_comes_through(tmp_path):
    """Each character of Unicode, and each byte that is none, as source and in an attribute."""
    codes = [c for c in range(0x110000) if not 0xd800 <= c < 0xe000 and c not in (10, 13)]
    lines = [codes[i:i + 2000] for i in range(0, len(codes), 2000)]
    stream = hostile.Writer().pid_start(77)
    stream.fid(1, b"/x/" + "".join(map(chr, range(1, 256))).encode())
    for number, line in enumerate(lines, 1):
        stream.source(1, number, "".join(map(chr, line)).encode() + b"\n")
    stream.source(1, len(lines) + 1, bytes(range(0x80, 0x100)) + b"\n").time(5, 1, 1)
    path = tmp_path / "all.out"
    path.write_bytes(stream.pid_end(77).data())
    assert run("--html", "-q", "-o", f"{tmp_path}/r/", path).returncode == 0
    pages = htmlpages.Report(tmp_path / "r")
    shown = next(p for n, p in pages.pages.items() if n.endswith("-line.html")).lines()
    for number, line in enumerate(lines, 1):
        text = shown[number][-1].own_text().rstrip("\n")
        assert text == "".join(map(shown_character, line)), hex(line[0])
    assert shown[len(lines) + 1][-1].own_text().rstrip("\n") == \
        "".join(shown_character(c) for c in range(0x80, 0x100))
    title = pages.pages["index.html"].table("files")[0][3].get("title")
    assert title == "/x/" + "".join(shown_character(c) if c not in (10, 13) else chr(0x2400 + c)
                                    for c in range(1, 256))


# -------------------------------------------------------------------- source that was not kept

SECRET = "hunter2 is nobody's source"


@pytest.fixture
def written(tmp_path):
    """The text of a report's pages, all in one file."""
    def write(*arguments, stdin=None, status=0):
        done = run("--html", "-q", *arguments, stdin=stdin, env=dict(os.environ, SECRET=SECRET))
        assert done.returncode == status, done.stderr
        return done.stdout.decode()
    return write


def naming(file, *paths, size=0, sums={}, **attributes):
    """A recording in which each path is a file with a sub."""
    stream = nytpwrite.Writer({"host": socket.gethostname(), "basetime": int(time.time()) + 3600, **attributes}).pid_start(7)
    for fid, path in enumerate(map(str, paths), 1):
        stream.fid(fid, path, size=size).time(10, fid, 1).sub(fid, f"main::f{fid}", 1, 1)
        if path in sums:
            stream.comment(f"nytp-source {fid} {sums[path]}")
    return stream.pid_end(7, time.time()).save(file)


def sum_of(text):
    return hashlib.blake2b(text.encode(), digest_size=32).hexdigest()


# With sample= each of 300 ticks finds the program in these lines.
PROGRAM = f"# {SECRET}\nsub f {{ 1 }}\nf() while ($ENV{{NYTPROF}} =~ /sample/ ? (times)[0] < 0.3 : $n++ < 9);\n"


@pytest.mark.parametrize("options", ["savesrc=0", "sample=1000"])
def test_a_recording_proves_what_was_read_by_a_sum_of_its_text(options, written, tmp_path):
    """So its source is shown wherever the recording and the file have gone, and whatever times they have there."""
    own = record(tmp_path, PROGRAM, options=options)
    assert SECRET in written(own) and "from this machine" in written(own)
    assert SECRET not in written("--no-source-files", own)
    os.utime(tmp_path / "a.pl", (1e9, 1e9))
    moved = own.rename(tmp_path / "moved.out")
    assert SECRET in written(moved)
    with open(moved, "rb") as pipe:
        assert SECRET in written("-", stdin=pipe)
    (tmp_path / "a.pl").write_text(PROGRAM.replace("hunter2", "hunter3"))       # as long as it was
    os.utime(tmp_path / "a.pl", (1e9, 1e9))
    for option in [], ["--source-files"]:
        page = written(*option, moved)
        assert "hunter" not in page and "changed since" in page


@pytest.fixture
def own_source(tmp_path):
    """A file with the program: its path, size and sum."""
    (tmp_path / "a.pl").write_text(PROGRAM)
    return str(tmp_path / "a.pl"), len(PROGRAM), sum_of(PROGRAM)


def test_a_strangers_recording_brings_no_file_to_light(written, own_source, tmp_path):
    """Whoever may not read a file cannot tell its sum. The name of this host, times and sizes are no proof."""
    path, size, true = own_source
    os.utime(path, (1e9, 1e9))
    plain = naming(tmp_path / "plain.out", path, size=size)
    assert not opens(path, lambda: written(plain))
    page = written(plain)
    assert SECRET not in page and "with <code>--source-files</code>" in page
    assert SECRET in written(naming(tmp_path / "true.out", path, size=size, sums={path: true}))
    other_end = true[:-1] + "zf"["f" != true[-1]]
    for told in other_end, "0" * 64, true.upper(), true + "0", true[1:]:
        assert SECRET not in written(naming(tmp_path / "other.out", path, size=size, sums={path: told})), told
    assert SECRET not in written(naming(tmp_path / "longer.out", path, size=size + 1, sums={path: true}))
    assert SECRET in written("--source-files", plain)


def test_two_sums_of_one_file_prove_nothing(written, own_source, tmp_path):
    """As of two recordings between which the file was changed: lines belong to either."""
    path, size, true = own_source
    one, other = (naming(tmp_path / f"{n}.out", path, size=size, sums={path: told}) for n, told in enumerate([true, "0" * 64]))
    assert SECRET in written(one, one)
    for files in (one, other), (other, one), (one, other, one), (other, one, one):
        assert SECRET not in written(*files)


def test_what_is_read_to_prove_it_has_a_limit(written, own_source, tmp_path):
    """A recording may name a large file many times, and tell a sum of each."""
    path, size, true = own_source
    for n, is_shown in (4, False), (3, True):
        stream = nytpwrite.Writer().pid_start(7)
        for fid in range(1, n + 1):
            stream.fid(fid, f"/none/{fid}", size=64 << 20).comment(f"nytp-source {fid} {true}")
        stream.fid(9, path, size=size).comment(f"nytp-source 9 {true}").time(10, 9, 1).sub(9, "main::f", 1, 1)
        assert (SECRET in written(stream.pid_end(7).save(tmp_path / "many.out"))) == is_shown


NAMED = PROGRAM.splitlines()[2] + " sub f { 1 }"
NAMERS = {
    "eval": lambda name: f'1;\neval q{{\n# line 1 "{name}"\n{NAMED}}};\n',
    "file": lambda name: f'1;\n# line 1 "{name}"\n{NAMED}\n',
}


@pytest.mark.parametrize("options", ["savesrc=0", "savesrc=1", "sample=1000"])
@pytest.mark.parametrize("namer", NAMERS)
def test_a_name_that_the_program_gives_its_lines_is_not_read(options, namer, written, tmp_path):
    """By #line a program names any file, also one that only root may read. The text behind it is what ran."""
    secret = tmp_path / "shadow"
    secret.write_text(f"{SECRET}\n")
    os.utime(secret, (1e9, 1e9))
    made = []
    assert not opens(secret, lambda: made.append(record(tmp_path, NAMERS[namer](secret), options=options)))
    assert not opens(secret, lambda: made.append(written(made[0])))
    page = re.sub("<[^>]*>", "", made[1])
    assert SECRET not in page and "shadow" in page
    assert page.count("sub f { 1 }") >= (namer == "eval" or options == "savesrc=1")


def test_only_what_can_be_the_source_is_read(written, tmp_path):
    """Not what the kernel makes up, by whatever path; no pipe, which would never end; nothing that was changed since the program began."""
    began = time.time() + 3600
    for name in "old", "newer", "larger":
        (tmp_path / name).write_text(f"# {name} {SECRET}\n")
    os.utime(tmp_path / "old", (1e9, 1e9))
    os.utime(tmp_path / "newer", (began + 600,) * 2)
    os.utime(tmp_path / "larger", (1e9, 1e9))
    os.symlink("/proc/self/environ", tmp_path / "environ")
    os.symlink("/proc", tmp_path / "proc")
    os.mkfifo(tmp_path / "pipe")
    paths = ["old", "newer", "environ", "proc/self/environ", "pipe", "."]
    file = naming(tmp_path / "p.out", *(tmp_path / name for name in paths), "/proc/self/environ", "//proc/../proc/self/environ",
                  "/dev/zero", "/sys/kernel/mm/transparent_hugepage/enabled")
    page = written("--source-files", file)
    assert page.count(SECRET) == 1 and f"# old {SECRET}" in page
    assert "changed since" in page and "always" not in page
    larger = written("--source-files", naming(tmp_path / "q.out", tmp_path / "larger", size=5))
    assert SECRET not in larger and "changed since" in larger
    copied = naming(tmp_path / "r.out", tmp_path / "old", basetime=int(time.time()) - 60)      # it was put there with an old time
    assert SECRET not in written("--source-files", copied) and "changed since" in written("--source-files", copied)


@pytest.mark.parametrize("form", [["--list=f"], ["--top", "--lines"]])
def test_tables_show_the_source_of_files_that_are_as_they_were(tmp_path, form):
    """Of a recording that kept none, which tells the sum of each file's text."""
    program = f"sub f {{ my $t = 0; $t += $_ for 1 .. 2000; $t }}   # {SECRET}\nf() for 1 .. 9;\n"
    own = record(tmp_path, program, options="savesrc=0")

    def shown(*more):
        return subprocess.run([exports.COMMAND, *form, *more, own], capture_output=True, text=True, check=True)
    assert SECRET in shown().stdout and "is read from this machine" in shown().stderr
    assert SECRET not in shown("--no-source-files").stdout
    (tmp_path / "a.pl").write_text(program + "\n")
    assert SECRET not in shown().stdout and "a.pl was changed since" in shown().stderr


def test_a_process_without_its_end_tells_where_it_stood(written, tmp_path):
    stream = nytpwrite.Writer(options={"calls": 2}).pid_start(7).fid(1, "/x/hang.pl")
    stream.entry(1, 9).time(10, 1, 3).entry(1, 3).time(20, 1, 5)
    stream.comment("nytp-open 1 perl main::job").comment("nytp-open 2 perl main::fetch")
    stream.sub(1, "main::job", 3, 3).sub(1, "main::fetch", 5, 5)
    page = written(stream.save(tmp_path / "hang.out"), status=3)
    note = re.search(r'<p class="note open">(.*?)</p>', page)[1]
    assert re.sub("<[^>]*>|&gt;", "", note).split() == \
        "Process 7 was killed, or still ran, in main::RUNTIME line 9 main::job line 3 main::fetch".split()
    assert "<b>2 subroutine calls</b>" in page and "is <b>partial</b>" in page


def rows_of(page, table):
    """The texts of a table's cells; of the last one what is no remark."""
    body = re.search(rf'<table class="list {table}".*?</table>', page, re.S)
    rows = [re.split("<td[^>]*>", row)[1:] for row in re.findall(r"<tr[^>]*>(<td.*)", body[0])] if body else []
    rows = [[re.sub("<details>.*?</details>", "", cell) for cell in row] for row in rows]
    return [[re.sub("<small>.*?</small>|<[^>]*>", "", cell).strip() for cell in row] for row in rows]


def test_processes_and_labels_have_tables(written, tmp_path):
    stream = nytpwrite.Writer(options={"calls": 2}).pid_start(7, 1, 1000.0).fid(1, "/x/serve.pl")
    for ticks in 1000, 3000, 8000:
        stream.label(ticks, "request=GET /<a>'s").time(1000, 1, 3).label(2 * ticks, "request")
    stream.entry(1, 9).time(2000, 1, 4).leave(1, 2000, 2000, "main::CORE:sselect").pid_end(7, 1000.5)
    stream.pid_start(8, 7, 1000.1).time(500, 1, 9).pid_end(8, 1000.2)
    file = stream.save(tmp_path / "serve.out")
    page = written(file)
    assert rows_of(page, "labels") == [["3", "300µs", "1.20ms", "request GET /&lt;a>'s"]]
    (tmp_path / "twice.out").write_bytes(file.read_bytes() * 2)
    assert rows_of(written(tmp_path / "twice.out"), "labels") == [["6", "300µs", "2.40ms", "request GET /&lt;a>'s"]]
    processes = rows_of(page, "processes")
    assert [row[:3] for row in processes] == [["7", "500ms", "300µs"], ["8", "100ms", "50µs"]]
    assert "and waited 200µs" in page
    command, = re.findall("<code>(nytp export --html.*?)</code>", page)
    words = shlex.split(html.unescape(command))
    assert words == ["nytp", "export", "--html", "--where", "request=GET /<a>'s", str(file)], "a row's own report"
    assert exports.nytp_export(*words[2:], "-o", tmp_path / "its")[0] == 0
    one = nytpwrite.Writer().pid_start(7).fid(1, "/x/a.pl").time(10, 1, 1).pid_end(7).save(tmp_path / "one.out")
    page = written(one)
    assert not rows_of(page, "labels") and not rows_of(page, "processes"), "where there is nothing to tell"
    assert rows_of(written("--focus=main", file), "labels") == [], "a selection is not of labels"


LABELLED = """sub work { my $n = 0; $n += $_ for 1 .. $_[0] * 300; $n }
sub page { work($_[0]) for 1 .. 3 }
for (1 .. 4) {
    DB::label(request => $_ % 2 ? 'GET /odd' : "GET /<even>");
    page($_ * 10);
    DB::label(sql => "select $_");
    work(9);
    DB::label(sql => undef);
    DB::label(request => undef);
}
work(5);
"""


def test_the_flame_graph_has_what_was_under_each_label(written, tmp_path):
    """As much as a report of that label alone, as has the table of its hottest subs; a selection has no parts."""
    file = record(tmp_path, LABELLED, steps=False)
    page = written(file)
    data = flame_data(page)
    rows = {row: f"{key}={value}" for row, key, value in re.findall(r"<tr data-part=(\d+l)>.*?<td><i>(\w+)</i> (.*?) <small>", page)}
    assert sorted(rows.values()) == ["request=GET /&lt;even>", "request=GET /odd", *(f"sql=select {n}" for n in range(1, 5))]
    assert set(data["parts"]) == set(rows)
    assert ALONE not in page and ALONE in written(record(tmp_path, "DB::label(request => $_) for 1 .. 13", "many.pl")), "why not all"
    for row, value in rows.items():
        its = written("--where", html.unescape(value), file)
        alone = flame_data(its)
        assert alone["parts"] == {}
        assert its_table(page, row) == its_table(its) != []
        assert data["parts"][row][1] == alone["total"] > 0
        here, there = by_sub(data, data["parts"][row]), by_sub(alone)
        assert here == {path: there[path] for path in here}
        assert ("main::RUNTIME", "main::work" if value.startswith("sql") else "main::page") in here


TWO_PROCESSES = """sub Shop::down { my $n = 0; $n += $_ for 1 .. 50; $_[0] ? Shop::down($_[0] - 1) : Shop::Item::end() }
sub Shop::Item::end { my $n = 0; $n += $_ for 1 .. 20 }
Shop::down(3) for 1 .. 3;
if (my $pid = fork) { waitpid $pid, 0; exit }
Shop::down(1);
Shop::Item::end() for 1 .. 5;
"""


def test_processes_and_packages_have_tables_of_their_hottest_subs(written, tmp_path):
    """A process those of a report of it alone, a package those of all subs; recursion counts once."""
    file = record(tmp_path, TWO_PROCESSES)
    files = sorted(file.parent.glob(file.name + "*"))
    page = written(*files)

    def own(*its):                      # what a process waits for the other is counted once where both are told
        rows = [row for row in its_table(*its) if row[-1] != "main::CORE:waitpid"]
        return [(calls, excl, incl if sub != "main::RUNTIME" else "", sub) for calls, excl, _, incl, sub in rows]
    alone = [own(written(one)) for one in files]
    assert [own(page, "0p"), own(page, "1p")] == alone and [] not in alone and alone[0] != alone[1]
    every = [row[:1] + row[3:] for row in rows_of(page, "subs")]
    numbers = re.findall(r'<div data-of="([^"]*)" hidden>.*\n<table class="list top(\d+k) top"', page)
    assert {"Shop", "Shop::Item"} <= {package for package, _ in numbers}
    for package, number in numbers:
        assert its_table(page, number) == [row for row in every if row[-1].rpartition("::")[0] == package][:15], package


ALONE = "The flame graph can be of a row alone for the 12 labels and the 6 statements that took longest"


def its_table(page, part=""):
    """The rows of the hottest subs but for places and files, which parts do not tell."""
    return [row[:1] + row[3:] for row in rows_of(page, f"top{part} top" if part else "top")]


def flame_data(page):
    return json.loads(re.search(r'id="flame-data">(.*?)</script>', page, re.S)[1])


def by_sub(data, part=None):
    """Time and calls by the names on a stack."""
    frames, path, sums, at, widths, calls = data["frames"], [], {}, 0, {}, {}
    for i in range(0, len(part or []), 3):
        at += part[i]
        widths[at], calls[at] = part[i + 1], part[i + 2]
    for number, (up, name, width, n) in enumerate(zip(*(frames[i::4] for i in range(4))), 1):
        if number > 1:
            del path[len(path) - up:]
        path.append(data["names"][name] if name >= 0 else "small")
        seen = (widths.get(number, 0), calls.get(number, 0)) if part else (width, n)
        if name >= 0 and seen[0] > 0:
            sums[tuple(path)] = seen
    return sums
