# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""SVs made less freed (memory=1) and samples of allocated bytes (memory=BYTES): each output has them, by the same rules.

The program, which tells either kind of them in comments:

    main (line 1) -> f at line 2 (lines 10 to 14) -> an xsub at line 12

f makes some before its first line, most on line 12, and frees some on line 13; main frees what is left of the xsub's.
"""

import json
import re

import pytest

from command import csv_rows, good, messages, pprof_top, run
from written import begun

# Told before f's call, f's first line, the xsub's call, its return, f's return and main's last line.
COMMENTS = {
    "svs": [["svs 1 1 2"], ["svs 3 1 2"], ["svs 10 1 12"], ["svs 2 1 12"], ["svs -4 1 13"], ["svs -30 1 2"]],
    "bytes": [["alloc 3 20 1 1 2"], ["alloc 4 1000 2 1 2"], ["alloc 6 50000 1 1 12"], ["alloc 8 300 3 1 12"],
              ["alloc 9 7000 70 1 13", "free 9"], ["free 8", "free 2", "free 9"]],
}
KINDS = pytest.mark.parametrize("kind", COMMENTS)
FIELDS = {"svs": ["svs"], "bytes": ["alloc_objects", "alloc_space", "inuse_objects", "inuse_space"]}
OWN = {"svs": {"main::RUNTIME": (-29,), "main::f": (9,), "main::xs": (2,)},
       "bytes": {"main::RUNTIME": (1, 20, 1, 20), "main::f": (73, 58000, 3, 51000), "main::xs": (3, 300, 0, 0)}}
INCLUSIVE = {"svs": {"main::RUNTIME": (-18,), "main::f": (11,), "main::xs": (2,)},
             "bytes": {"main::RUNTIME": (77, 58320, 4, 51020), "main::f": (76, 58300, 3, 51000), "main::xs": (3, 300, 0, 0)}}
LINES = {"svs": {("main::RUNTIME", 2): (-29,), ("main::f", 10): (3,), ("main::f", 12): (10,), ("main::f", 13): (-4,), ("main::xs", 0): (2,)},
         "bytes": {("main::RUNTIME", 2): (1, 20, 1, 20), ("main::f", 10): (2, 1000, 2, 1000), ("main::f", 12): (1, 50000, 1, 50000),
                   ("main::f", 13): (70, 7000, 0, 0), ("main::xs", 0): (3, 300, 0, 0)}}
CALLS = {"svs": {("main::f", 2): (11,), ("main::xs", 12): (2,)},
         "bytes": {("main::f", 2): (76, 58300, 3, 51000), ("main::xs", 12): (3, 300, 0, 0)}}
HINT = {"svs": "NYTPROF=memory=1", "bytes": "nytp run --memory"}


def recording(path, kind, pid=77):
    before = iter(COMMENTS[kind])
    stream = begun(pid).time(100, 1, 1)

    def told():
        for comment in next(before):
            stream.comment(f"nytp-{comment}")
        return stream
    told().entry(1, 2)
    told().time(10, 1, 2).time(10, 1, 11)
    told().entry(1, 12)
    told().leave(2, 5, 5, "main::xs").time(20, 1, 12)
    told().leave(1, 40, 35, "main::f").time(10, 1, 13).discount()
    told().time(10, 1, 2)
    stream.sub(1, "main::f", 10, 14).sub(1, "main::xs", 0, 0).callers(1, 2, "main::RUNTIME", "main::f", 1, 40e-7, 35e-7)
    stream.callers(1, 12, "main::f", "main::xs", 1, 5e-7, 5e-7).callers(0, 0, "", "main::xs", 0, 0, 0)
    return stream.pid_end(pid, 2000.0).save(path)


def changed(path, old, new):
    path.write_bytes(path.read_bytes().replace(old, new))
    return path


def grown(path, kind):
    """Line 12 of f makes 40 SVs, or 40,000 bytes, more."""
    told, more = {"svs": (b"svs 10 1 12", b"svs 50 1 12"), "bytes": (b"alloc 6 50000", b"alloc 6 90000")}[kind]
    return changed(recording(path, kind), told, more)


def without(path, kind):
    return changed(recording(path, kind), *{"svs": (b"nytp-svs", b"nytp-xxx"), "bytes": (b"nytp-alloc", b"nytp-xxxxx")}[kind])


@pytest.fixture
def sides(tmp_path):
    return lambda kind: ["--diff", recording(tmp_path / "a.out", kind), grown(tmp_path / "b.out", kind)]


def text_of(*arguments):
    return good("-q", *arguments).decode()


def values(row, kind, head=""):
    return tuple(int(row[head + field]) for field in FIELDS[kind])


def of_subs(kind, *arguments, head=""):
    return {row["name"]: values(row, kind, head) for row in json.loads(text_of("--json", *arguments))["subs"]}


@KINDS
def test_each_goes_to_the_open_call_and_to_the_line_that_began_in_it(tmp_path, kind):
    file = recording(tmp_path / "m.out", kind)
    assert of_subs(kind, file) == OWN[kind] and of_subs(kind, file, head="inclusive_") == INCLUSIVE[kind]
    data = json.loads(text_of("--json", file))
    names = [sub["name"] for sub in data["subs"]]
    assert {(names[row["sub"]], row["line"]): values(row, kind) for row in data["lines"] if any(values(row, kind))} == LINES[kind]
    assert {(names[row["callee"]], row["line"]): values(row, kind, "inclusive_") for row in data["calls"]} == CALLS[kind]
    rows = csv_rows("-q", file)
    assert {row["sub"]: values(row, kind) for row in rows} == OWN[kind]
    assert {row["sub"]: values(row, kind, "inclusive_") for row in rows} == INCLUSIVE[kind]


@KINDS
def test_several_inputs_and_selections_are_added_up(tmp_path, kind):
    files = recording(tmp_path / "a.out", kind), recording(tmp_path / "b.out", kind, pid=78)
    assert of_subs(kind, *files) == {name: tuple(2 * value for value in own) for name, own in OWN[kind].items()}
    assert of_subs(kind, "--focus=^main::f$", files[0])["main::f"] == OWN[kind]["main::f"]
    assert of_subs(kind, "--hide=^main::xs$", files[0])["main::f"] == INCLUSIVE[kind]["main::f"]


@pytest.mark.parametrize("options", [[], ["--lines"]])
@KINDS
def test_rows_have_them_and_add_up(tmp_path, kind, options):
    fields = [*FIELDS[kind], *(["kept_svs"] if kind == "svs" else [])]
    sums = {}
    for line in text_of("--rows", *options, recording(tmp_path / "m.out", kind)).splitlines():
        row = json.loads(line)
        sums[row["sub"]] = tuple(sums.get(row["sub"], (0,) * 4)[i] + row[field] for i, field in enumerate(fields))
    assert sums == {name: (*own, max(own[0], 0)) if kind == "svs" else own for name, own in OWN[kind].items()}


# ---- tables: options, what a row is, the first rows ----

SIZE = r"\d[\d.]* k?B"
TABLES = {
    "svs": [
        ("--top --sort=svs", r" (-?\d+) +(-?\d+) main::(\w+)", ["9 11 f", "2 2 xs", "-29 -18 RUNTIME"]),
        ("--top --lines --sort=svs", r" (-?\d+) +(\d+) /x/app\.pl:(\d+)", ["12 9 12", "3 2 10"]),
        ("--tree", r" (\d+) [| ]*(?:\+-)?main::(\w+)", ["11 RUNTIME", "11 f", "2 xs"]),
        ("--tree", "(SVs) (kept) sub$", ["SVs kept"]),
        ("--peek=^main::f$", r" (-?\d+) +(<-|->|main::f|\(its) ", ["11 <-", "11 main::f", "9 (its", "2 ->"]),
        ("--list=^main::f$", r" (-?\d+) +(\d+) +(1\d)  $", ["3 2 10", "0 0 11", "10 7 12", "-4 0 13"]),
        ("--list=^main::f$", r"(<-|->) 1x .* (-?\d+) SVs  main::(\w+)", ["<- 11 RUNTIME", "-> 2 xs"]),
        ("--markdown", r" (-?\d+) \| (-?\d+) \| `main::(\w+)`", ["9 11 f", "-29 -18 RUNTIME", "2 2 xs"]),
    ],
    "bytes": [
        ("--top --sort=inuse_space", rf" ({SIZE.replace('k?B', '(?:k?B)')}) +({SIZE}) main::(\w+)", ["58.0 kB 51.0 kB f", "20 B 20 B RUNTIME", "300 B 0 B xs"]),
        ("--top --sort=alloc_objects", r" (\d+) +(\d+) main::(\w+)", ["73 3 f", "3 0 xs", "1 1 RUNTIME"]),
        ("--top --lines --sort=alloc_space", rf" ({SIZE}) +({SIZE}) /x/app\.pl:(\d+)",
         ["50.3 kB 50.0 kB 12", "7.0 kB 0 B 13", "1.0 kB 1.0 kB 10", "20 B 20 B 2"]),
        ("--tree --min-percent=0", rf" ({SIZE}) (?:\+-|\| )*main::(\w+)", ["51.0 kB RUNTIME", "51.0 kB f", "0 B xs"]),
        ("--tree --min-percent=0 --sort=alloc_space", rf" ({SIZE}) (?:\+-|\| )*main::(\w+)", ["58.3 kB RUNTIME", "58.3 kB f", "300 B xs"]),
        ("--tree --min-percent=0 --sort=inuse_objects", r" (\d+) (?:\+-|\| )*main::(\w+)", ["4 RUNTIME", "3 f", "0 xs"]),
        ("--tree --min-percent=1 --sort=inuse_space", r"main::(\w+)", ["RUNTIME", "f"]),
        ("--tree --min-percent=1 --sort=alloc_objects", r"main::(\w+)", ["RUNTIME", "f", "xs"]),
        ("--peek=^main::f$", rf" ({SIZE}) +(<-|->|main::f|\(its) ", ["51.0 kB <-", "51.0 kB main::f", "51.0 kB (its", "0 B ->"]),
        ("--list=^main::f$", rf" ({SIZE}) +({SIZE}) +(\d+) *$", ["1.0 kB 1.0 kB 10", "0 B 0 B 11", "50.0 kB 50.0 kB 12", "7.0 kB 0 B 13"]),
        ("--list=^main::f$", rf"(<-|->) 1x .* ({SIZE}) in use  main::(\w+)", ["<- 51.0 kB RUNTIME", "-> 0 B xs"]),
        ("--markdown", rf" ({SIZE}) \| ({SIZE}) \| `main::(\w+)`", ["58.0 kB 51.0 kB f", "20 B 20 B RUNTIME", "300 B 0 B xs"]),
    ],
}


@pytest.mark.parametrize("kind, options, row, rows", [(kind, *table) for kind, tables in TABLES.items() for table in tables])
def test_a_table_shows_them(tmp_path, kind, options, row, rows):
    found = [" ".join(cells) if isinstance(cells, tuple) else cells for cells in
             re.findall(row, text_of(*options.split(), recording(tmp_path / "m.out", kind)), re.M)]
    shown = found[:len(rows)] if "--lines" in options else found
    assert (sorted(shown) == sorted(rows)) if "--markdown" in options else (shown == rows)


def test_a_tree_by_them_has_branches_of_little_time_that_keep_many(tmp_path):
    stream = begun()
    for sub, line, ticks, svs in ("main::slow", 10, 100000, 0), ("main::leak", 20, 1, 500):
        stream.time(10, 1, 1).entry(1, 1).time(1, 1, 1).comment(f"nytp-svs {svs} 1 {line}")
        stream.time(ticks, 1, line).leave(1, ticks, ticks, sub).sub(1, sub, line, line)
        stream.callers(1, 1, "main::RUNTIME", sub, 1, ticks * 1e-7, ticks * 1e-7)
    file = stream.time(10, 1, 1).pid_end(7, 2000.0).save(tmp_path / "t.out")
    for options, names in ([], ["RUNTIME", "slow"]), (["--sort=svs"], ["RUNTIME", "leak"]):
        assert re.findall(r"main::(\w+)", text_of("--tree", *options, file)) == names


# ---- stacks ----

@pytest.mark.parametrize("kind, weight, stacks", [
    ("svs", "svs", {"main::RUNTIME;main::f": 9, "main::RUNTIME;main::f;main::xs": 2}),      # without a sign: what contexts kept
    ("bytes", "inuse_space", {"main::RUNTIME": 20, "main::RUNTIME;main::f": 51000}),
    ("bytes", "alloc_objects", {"main::RUNTIME": 1, "main::RUNTIME;main::f": 73, "main::RUNTIME;main::f;main::xs": 3})])
def test_stacks_show_them(tmp_path, kind, weight, stacks):
    text = text_of("--collapsed", f"--weight={weight}", recording(tmp_path / "m.out", kind))
    assert text.splitlines() == [f"{stack} {value}" for stack, value in stacks.items()]


@pytest.mark.parametrize("kind, weight, total", [("svs", "svs", "11 SVs"), ("bytes", "alloc_space", "58320 bytes"), ("bytes", "inuse_objects", "4 blocks")])
def test_a_flame_graph_names_their_unit(tmp_path, kind, weight, total):
    assert total in text_of("--flamegraph", f"--weight={weight}", recording(tmp_path / "m.out", kind))


@pytest.mark.parametrize("kind, profiles", [
    ("svs", [("none", [2, 9])]), ("bytes", [("none", [1, 3, 73]), ("bytes", [20, 300, 58000]), ("none", [1, 3]), ("bytes", [20, 51000])])])
def test_speedscope_has_profiles_of_them(tmp_path, kind, profiles):
    shown = json.loads(text_of("--speedscope", recording(tmp_path / "m.out", kind)))["profiles"]
    assert [(profile["unit"], sorted(profile["weights"])) for profile in shown[2:]][-len(profiles):] == profiles


@pytest.mark.parametrize("kind, events, total", [("svs", "svs", (11,)), ("bytes", "svs AllocN AllocB InUseN InUseB", (77, 58320, 4, 51020))])
def test_callgrind_has_events_of_them(tmp_path, kind, events, total):
    text = text_of("--callgrind", "--plain-names", recording(tmp_path / "m.out", kind))
    assert f"events: ns stmts {events}\n" in text
    sums = [tuple(map(int, line.split()[-len(total):])) for line in text.splitlines() if re.match("(summary|totals):", line)]
    assert sums == [total] * 2


@KINDS
def test_pprof_has_sample_types_of_them(tmp_path, kind):
    profile = tmp_path / "m.pb.gz"
    good("-q", "--pprof", "-o", profile, recording(tmp_path / "m.out", kind))
    for index, name in enumerate(FIELDS[kind]):
        both = {sub: (OWN[kind][sub][index], INCLUSIVE[kind][sub][index]) for sub in OWN[kind]}
        wanted = {sub: pair for sub, pair in both.items() if pair[1] and min(pair) >= 0}
        assert pprof_top(profile, f"-sample_index={name}", *(["-unit=B"] if "space" in name else [])) == wanted


# ---- differences ----

@pytest.mark.parametrize("kind, options, shown", [
    ("svs", "--top", r"^SVs +-18 +22 +\+222\.2 %  exact$"),
    ("svs", "--top --weight=svs", r" 9 +49  main::f "),
    ("svs", "--markdown", r"^\| SVs \| -18 \| 22 \| \+222\.2 % \| exact \|$"),
    ("svs", "--markdown --weight=svs", r"\| 9 \| 49 \| `main::f` `/x/app\.pl:10` \|$"),
    ("svs", "--collapsed --weight=svs", r"\Amain::RUNTIME;main::f 9 49\nmain::RUNTIME;main::f;main::xs 2 2\n\Z"),
    ("svs", "--flamegraph --weight=svs", r"51 SVs, base 11 SVs(.|\n)*own \+40 SVs"),
    ("svs", "--html -o -", r'<td data-n=40 title="9 before, 49 now">\+40<td>'),
    ("bytes", "--top", r"^bytes in use +51\.0 kB +91\.0 kB +\+78\.4 %  estimated from samples$"),
    ("bytes", "--top --weight=inuse_space", r" 51\.0 kB +91\.0 kB  main::f"),
    ("bytes", "--top --weight=inuse_objects", r"\A(?!(.|\n)*main::)"),
    ("bytes", "--top --lines --weight=inuse_space", r" 50\.0 kB +90\.0 kB    line 12$"),
    ("bytes", "--markdown", r"^\| bytes in use \| 51\.0 kB \| 91\.0 kB \| \+78\.4 % \| estimated from samples \|$"),
    ("bytes", "--markdown --weight=alloc_space", r"\| 58\.0 kB \| 98\.0 kB \| `main::f` `/x/app\.pl:10` \|$"),
    ("bytes", "--markdown --weight=inuse_space --lines", r"\| 50\.0 kB \| 90\.0 kB \| line 12 \|$"),
    ("bytes", "--collapsed --weight=inuse_space", r"\Amain::RUNTIME 20 20\nmain::RUNTIME;main::f 51000 91000\n\Z"),
    ("bytes", "--html -o -", r"<dt>Bytes in use<dd>51\.0 kB → 91\.0 kB: \+78\.4 % \(estimated from samples\)"),
    ("bytes", "--html -o -", r'title="51\.0 kB before, 91\.0 kB now">\+40\.0 kB<td>')])
def test_a_difference_shows_them(sides, kind, options, shown):
    text = text_of(*options.split(), *sides(kind))
    assert re.search(shown, text, re.M), text[:3000]


@pytest.mark.parametrize("options", [[], ["--lines"]])
@KINDS
def test_a_table_of_a_difference_has_the_numbers_of_json(sides, kind, options):
    document = json.loads(text_of("--json", *options, *sides(kind)))["diff"]
    table = [row for row in csv_rows("-q", *options, *sides(kind)) if row["sub"] == "main::f"]
    mine, = [row for row in document if row["sub"] == "main::f"]
    cells = mine["lines"] if options else [mine]
    assert [(values(row, kind, "base_"), values(row, kind, "new_")) for row in table] == [(values(cell["base"], kind), values(cell["new"], kind)) for cell in cells]
    assert sum(values(row, kind, "new_")[-1] - values(row, kind, "base_")[-1] for row in table) == {"svs": 40, "bytes": 40000}[kind]


def test_a_table_of_a_difference_where_one_side_has_none(tmp_path):
    base, now = without(tmp_path / "a.out", "bytes"), recording(tmp_path / "b.out", "bytes")
    row, = [row for row in csv_rows("-q", "--diff", base, now) if row["sub"] == "main::f"]
    assert values(row, "bytes", "new_") == OWN["bytes"]["main::f"] and not any(row["base_" + name] for name in FIELDS["bytes"])
    for option in "--top", "--markdown":
        assert "in use" not in text_of(option, "--diff", base, now)


def test_runs_of_a_side_are_their_medians(tmp_path):
    base = [recording(tmp_path / f"a{n}.out", "bytes") for n in range(3)]
    now = [grown(tmp_path / "b1.out", "bytes"), grown(tmp_path / "b2.out", "bytes"), recording(tmp_path / "b3.out", "bytes")]
    table = text_of("--top", "--weight=alloc_space", *[word for file in base for word in ("--diff", file)], *now)
    assert re.search(r"^bytes allocated +58\.3 kB +98\.3 kB ", table, re.M)


# ---- limits ----

@pytest.mark.parametrize("kind, rule, status", [
    *[("svs", *rule) for rule in [
        ("svs total <= base", 10), ("svs total <= base +39", 10), ("svs total <= base +40", 0), ("svs total <= 22", 0), ("svs total <= 21", 10),
        ("svs main::f <= 49", 0), ("svs main::f <= 48", 10), ("svs main::RUNTIME <= base", 0), ("svs main:: <= base +222%", 10),
        ("svs main:: <= base +223%", 0), ("svs /^main::xs$/ <= base", 0), ("--fail-over=444%:svs:sub", 10), ("--fail-over=445%:svs:sub", 0)]],
    *[("bytes", *rule) for rule in [
        ("inuse_space total <= 91020", 0), ("inuse_space total <= 91019", 10), ("inuse_space total <= 91.02 kB", 0), ("inuse_space total <= 0.09 MB", 10),
        ("inuse_space total <= base +79%", 0), ("inuse_space main::f <= base +78%", 10), ("inuse_space main::f <= base + 40 kB", 0),
        ("inuse_space /^main::/ <= base + 39 kB", 10), ("alloc_space main:: <= 98320 B", 0), ("alloc_objects total <= base", 0),
        ("inuse_objects total <= 3", 10), ("--fail-over=78%:inuse_space:sub", 10), ("--fail-over=79%:inuse_space:sub", 0),
        ("inuse_space total <= 3 KiB", 2), ("inuse_objects total <= 3 kB", 2), ("inuse_space total <= 1000000000 TB", 2), ("inuse total <= 3", 2)]]])
def test_a_limit_on_them(sides, tmp_path, kind, rule, status):
    (tmp_path / "rules").write_text(rule + "\n")
    done = run("-q", *([rule] if rule.startswith("--") else ["--gate", tmp_path / "rules"]), *sides(kind))
    assert done.returncode == status, messages(done)
    if rule == "--fail-over=78%:inuse_space:sub":
        assert messages(done) == ["/x/app.pl:10: main::f: 91000 bytes in use, were 51000 (+78.4 %) [78%:inuse_space:sub]"]


def test_a_sub_that_was_renamed_has_not_grown(tmp_path):
    base, renamed = recording(tmp_path / "a.out", "svs"), changed(recording(tmp_path / "b.out", "svs"), b"main::f", b"main::F")
    assert run("-q", "--diff", base, "--fail-over=0%:svs:sub", renamed).returncode == 0


@KINDS
def test_a_limit_on_them_is_not_judged_without(tmp_path, kind):
    here, lacks = recording(tmp_path / "a.out", kind), without(tmp_path / "n.out", kind)
    (tmp_path / "rules").write_text(f"{FIELDS[kind][-1]} total <= base\n")
    for base, now in (here, lacks), (lacks, here):
        done = run("-q", "--diff", base, "--gate", tmp_path / "rules", now)
        assert done.returncode == 2 and HINT[kind] in messages(done)[0]


@KINDS
def test_a_recording_without_says_how_to_make_one(tmp_path, kind):
    path, measure = without(tmp_path / "n.out", kind), FIELDS[kind][-1]
    for options in (["--collapsed", f"--weight={measure}"], ["--top", f"--sort={measure}"], ["--tree", f"--sort={measure}"],
                    *([form, f"--weight={measure}", "--diff", path] for form in ("--top", "--markdown", "--collapsed"))):
        done = run(*options, path)
        assert done.returncode == 2 and HINT[kind] in messages(done)[0], options
    for form in "--json", "--rows", "--top", "--tree", "--list=.", "--peek=.", "--markdown":
        assert not re.search("space|svs|SVs|in use|kept", text_of(form, path)), form
