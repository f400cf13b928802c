# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Names that would do something to whoever reads them, and stacks without recursion."""

import collections
import json
import os

import pytest

from instructions import instructions
from command import asking_for, formats, good, run
from nytpwrite import Writer
from readers import PprofReader


def one_sub(name, file="/x/a.pl", **attributes):
    w = Writer(attributes=attributes).pid_start(7, 1).fid(1, file).time(1, 1, 1).entry(1, 1)
    return (w.time(2, 1, 1).leave(1, 9, 9, name).time(9, 1, 2).pid_end(7)
            .sub(1, name, 2, 2))


@pytest.mark.parametrize("name, cell", [
    ("=1+1::f", "'=1+1::f"), ("@SUM(1)::g", "'@SUM(1)::g"), ("+a::f", "'+a::f"),
    ("-a::f", "'-a::f"), ("=a,b::f", "\"'=a,b::f\""), ("main::f", "main::f"),
])
def test_a_name_is_no_formula(tmp_path, name, cell):
    rows = good("--csv", "-q", one_sub(name).save(tmp_path / "f.out")).decode()
    assert f"\n{cell},/x/a.pl," in rows


def test_the_file_of_a_one_liner_is_no_formula(tmp_path):
    rows = good("--csv", "-q", one_sub("main::f", "-e").save(tmp_path / "e.out")).decode()
    assert "\nmain::f,'-e," in rows


@pytest.mark.parametrize("form", ["--stats", "--top"])
@pytest.mark.parametrize("bad", ["\u009b31m", "\x1b[31m", "\u202e", "\u2066"])
def test_no_control_of_a_name_reaches_the_terminal(tmp_path, form, bad):
    file = one_sub(f"main::x{bad}", application=f"a{bad}.pl").save(tmp_path / "c.out")
    assert bad not in good(form, "-q", file).decode()


def test_no_control_of_a_file_name_reaches_the_terminal(tmp_path):
    done = run("--top", tmp_path / "no\x1b[31m\u009b\n\u202esuch \xe4\u20ac.out")
    assert "/no?[31m???such \xe4\u20ac.out: cannot open" in done.stderr.decode()


@pytest.mark.parametrize("bad", ["\u009b31m", "\x1b[31m", "\u202e"])
def test_no_control_of_the_name_of_an_input_reaches_the_terminal(tmp_path, bad):
    file = one_sub("main::f").save(tmp_path / f"a{bad}\xe4.out")
    text = good("--check", "-q", file).decode()
    assert text.endswith("\xe4.out: ok\n") and bad not in text and "/a?" in text


def chain(n):
    """Subs that call each other, each the next."""
    w = Writer().pid_start(7, 1).fid(1, "/x/a.pl").time(1, 1, 1)
    for depth in range(1, n + 1):
        w.entry(1, depth).time(2, 1, depth)
    for depth in range(n, 0, -1):
        w.leave(depth, 3 * (n - depth + 1), 3, f"main::s{depth:05}").time(1, 1, depth)
    w.pid_end(7)
    for depth in range(1, n + 1):
        w.sub(1, f"main::s{depth:05}", depth + 1, depth + 1)
    return w


def test_a_chain_of_subs_is_bounded_and_each_keeps_its_time(tmp_path):
    sizes = collections.defaultdict(list)
    for n in (1000, 2000):
        file = chain(n).save(tmp_path / f"{n}.out")
        lines = good("--collapsed", "--unit=ticks", "-q", file).decode().splitlines()
        own = collections.Counter()
        for line in lines:
            stack, value = line.rsplit(" ", 1)
            frames = stack.split(";")
            assert len(frames) <= 256
            own[frames[-1]] += int(value)
        assert all(own[f"main::s{depth:05}"] == 3 for depth in range(1, n + 1))
        for form in ("--pprof-text", "--collapsed", "--speedscope"):
            options = ["--aggregate"] if form == "--speedscope" else []
            sizes[form].append(len(good(form, "-q", *options, file)))
    for form, (small, large) in sizes.items():
        assert large < 2.6 * small, form


def test_a_sub_named_as_a_package_goes_through_tmon(tmp_path):
    w = one_sub("Foo::").save(tmp_path / "in.out")
    tmon = tmp_path / "foo.tmon"
    good("--tmon", "-q", "-o", tmon, w)
    done = run("--csv", tmon)
    assert done.returncode == 0, done.stderr
    assert b"\nFoo::," in done.stdout


def test_one_enormous_name_does_not_widen_every_row_of_top(tmp_path):
    w = Writer().pid_start(7).fid(1, "/x/a.pl").time(10, 1, 1)
    for name in ("main::" + "n" * 1000000, "main::f", "main::g"):
        w.entry(1, 1).time(5, 1, 2).leave(1, 5, 5, name).time(1, 1, 1).sub(1, name, 2, 2)
    rows = good("-q", "--top", w.pid_end(7).save(tmp_path / "in.out")).decode().splitlines()
    assert len([row for row in rows if row.endswith("/x/a.pl:2")]) == 3
    assert sorted(map(len, rows))[-2] < 400 and max(map(len, rows)) > 1000000


# ---- packages that frameworks make up ----

MOJO = "Mojo::Server::Sandbox::{}::"
HASHES = "34a6a7732651c5b23fa8ab5795a29525", "0" * 32


def in_sandbox(package, file):
    w = Writer(options={"calls": 2}).pid_start(7, 1).fid(1, "/usr/bin/hypnotoad").fid(2, file)
    w.entry(1, 1).time(5, 1, 1).entry(2, 3).leave(2, 40, 40, f"{package}CORE:sort").leave(1, 90, 50, f"{package}index")
    return w.time(90, 2, 3).pid_end(7).sub(2, f"{package}index", 3, 3).sub(2, f"{package}unused", 9, 9)


def table_of(*arguments):
    subs = json.loads(good("--json", "-q", *arguments))["subs"]
    return {sub["name"]: (sub["calls"], sub["exclusive"]) for sub in subs if sub["calls"]}


@pytest.mark.parametrize("package, file", [(MOJO.format(HASHES[0]), "/srv/my_app/app.pl"),
                                           ("Plack::Sandbox::_2fsrv_2fapp_2epsgi::", "/srv/app.psgi")])
def test_a_sandbox_has_the_name_of_its_file(tmp_path, package, file):
    path = in_sandbox(package, file).save(tmp_path / "s.out")
    plain = in_sandbox("main::", file).save(tmp_path / "plain.out")
    want = {name.replace("main::", file.split("/")[-1] + "::"): value for name, value in table_of(plain).items()}
    shown = table_of(path)
    assert {name: shown[name] for name in want if name != "main::RUNTIME" and "RUNTIME" not in name} == \
        {name: value for name, value in want.items() if "RUNTIME" not in name} and len(want) >= 2
    assert not [name for name in shown if "Sandbox" in name]
    assert table_of(f"--focus=^{file.split('/')[-1]}::index", path)


def test_one_application_in_two_places_is_compared_with_itself(tmp_path):
    one, two = (in_sandbox(MOJO.format(key), f"/home/{i}/app.pl").save(tmp_path / f"{i}.out")
                for i, key in enumerate(HASHES))
    text = good("-q", "--diff", one, two).decode()
    assert "index" not in text and "CORE:sort" not in text and "equal in every count" in text


@pytest.mark.parametrize("name", ["Mojo::Server::Sandbox::load", "Plack::Sandbox::", "Mojo::Server::Sandbox", "Plack::SandboxX::a::b"])
def test_what_only_looks_like_a_sandbox_keeps_its_name(tmp_path, name):
    assert name in good("--csv", "-q", one_sub(name).save(tmp_path / "n.out")).decode()


@pytest.mark.parametrize("before, kept", [("", 100), ("x", 99)])
def test_a_call_without_a_name_has_a_place_in_whole_characters(tmp_path, before, kept):
    """The name of its file has 200 bytes at most there."""
    stream = Writer().pid_start(7, 1).fid(1, f"/x/{before}" + "\xe4" * 150 + ".pl").time(1, 1, 1).entry(1, 5).time(2, 1, 5).time(3, 1, 7).pid_end(7)
    lines = good("-q", "--collapsed", "--unit=ns", stream.save(tmp_path / "p.out")).decode()
    assert f"(call_at_{before}" + "\xe4" * kept + ":5)" in lines


# ---- string evals that ran each other, as only damage claims ----

def evals_in_a_ring(names, of=("main::f", "main::__ANON__[(eval 1)[/x/a.pl:1]:1]", MOJO.format(HASHES[0]) + "g")):
    """Each of the files but the first one ran the next, the last one the second; subs in all of them."""
    w = Writer(options={"calls": 2}).pid_start(7, 1).fid(1, "/x/a.pl").time(10, 1, 1)
    for fid, name in enumerate(names, 2):
        w.fid(fid, name, eval_fid=fid - 1 if fid > 2 else len(names) + 1, eval_line=1)
    for number, name in enumerate(of):
        fid = 2 + number % len(names)
        w.entry(1, 1).time(5, fid, 2).leave(1, 5, 5, name).time(1, 1, 1).sub(fid, name, 2, 2)
    return w.pid_end(7)


RINGS = [("(eval 1)[/x/a.pl:1]",), ("(eval 1)[/x/a.pl:1]", "(eval 2)[/x/a.pl:1]"), ("(eval 1)[/x/a.pl:1]", "(eval 2)[/x/b.pl:1]"),
         ("(eval 1)[/x/a.pl:1]", "(eval 2)[/x/b.pl:1]", "(eval 3)[/x/a.pl:1]", "(eval 4)[/x/c.pl:1]")]


@pytest.mark.parametrize("names", RINGS, ids=len)
def test_files_that_ran_each_other_are_written(tmp_path, names):
    """Every format walks from a string eval to the file that ran it, and on to the outermost one."""
    path = evals_in_a_ring(names).save(tmp_path / "ring.out")
    for option in [asking_for(form) for form in formats() if form not in ("massif", "patterns", "waits", "sql")] + ["--save-base"]:
        good("-q", option, "-o", tmp_path / "out", path)
    for merged in [], ["--merge-evals"]:
        assert b": ok" in good("-q", "--check", *merged, path)
    assert sum(calls for calls, _ in table_of(path).values()) == 1 + 3
    assert b"equal in every count" in good("-q", "--diff", path, path)


def test_merging_makes_no_ring(tmp_path):
    """String evals of one name become one, which another may have run in each input, and at each place."""
    def evals(path, *each):
        w = Writer(options={"calls": 2}).pid_start(7, 1).fid(1, "/x/a.pl").time(10, 1, 1)
        for fid, (name, ran_by) in enumerate(each, 2):
            w.fid(fid, name, eval_fid=ran_by, eval_line=1)
        w.entry(1, 1).time(5, 2, 2).leave(1, 5, 5, "main::__ANON__[x:1]").sub(2, "main::__ANON__[x:1]", 2, 2)
        return w.pid_end(7).save(tmp_path / path)
    one, two = "(eval 0)[/x/a.pl:1]", "(eval 0)[/x/b.pl:1]"
    inputs = evals("a", (one, 1), (two, 2)), evals("b", (two, 1), (one, 2)), evals("c", (one, 1), (one, 2))
    places = evals("d", ("(eval 1)[x:1]", 4), ("(eval 2)[y:1]", 5), ("(eval 3)[y:1]", 1), ("(eval 4)[x:1]", 1))
    for given in inputs[:2], inputs[2:] * 2, ("--merge-evals", places):
        good("-q", "--save-base", "-o", tmp_path / "base", *given)


@pytest.mark.parametrize("option", ["--save-base", "--html"])
def test_a_long_chain_of_string_evals_does_not_take_longer(tmp_path, option):
    """Each with a sub of its own: from each of them it was walked to the outermost file."""
    def work(name, n, ran_by):
        w = Writer(options={"calls": 2}).pid_start(7, 1).fid(1, "/x/a.pl").time(10, 1, 1)
        for fid in range(2, n + 2):
            w.fid(fid, f"e{fid}", eval_fid=ran_by(fid), eval_line=1)
            w.entry(1, 1).time(5, fid, 1).leave(1, 5, 5, f"main::__ANON__[e{fid}:1]").sub(fid, f"main::__ANON__[e{fid}:1]", 1, 1)
        return instructions(option, "-o", tmp_path / "base", w.pid_end(7).save(tmp_path / name))
    n, most = (6000, 2.4) if option == "--html" else (2000, 1.1)    # pages tell the chain of each
    flat, deep = work("flat", n, lambda fid: 1), work("deep", n, lambda fid: fid - 1)
    assert deep < most * flat, (flat, deep)


def test_a_label_of_the_command_line_is_utf8_in_every_format(tmp_path):
    file = one_sub("main::f").save(tmp_path / "f.out")
    given = os.fsdecode(b"--label=k\xe9=\xe9t\xe9\t\xff")
    (*_, labels), *_ = PprofReader(good("-q", "--pprof", given, file)).samples
    assert labels["k\xe9"] == "\xe9t\xe9\\x09\xff"
    text = good("-q", "--pprof-text", given, file)
    assert rb'string_table: "k\303\251"' in text or 'string_table: "k\xe9"'.encode() in text
    (row, *_) = map(json.loads, good("-q", "--rows", given, file).splitlines())
    assert (row["label_keys"], row["label_values"]) == (["k\xe9"], ["\xe9t\xe9\t\xff"])
