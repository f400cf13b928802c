# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""A recording whose calls are told in comments, and the same events told by the format's own records,
are the same to every exporter."""


import hostile
import nytpread
import nytpwrite
import pytest

from command import asking_for, formats, good, run
from recordings import merge, record

PROGRAM = """
use List::Util qw(first);
sub fib { my $n = shift; return $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
sub fails { my $n = shift; die "x\\n" if !$n; fails($n - 1) }
sub jump { goto &fib }
for my $i (1 .. 30) {
    DB::label(round => $i % 3);
    fib(6); eval { fails(4) }; jump(3); first { fib(1) == $_ } 1 .. 3;
    my @s = sort { $a <=> $b } map { $_ * $i } 1 .. 9;
    eval "fib(2);\\n1";
}
my $pid = fork // die;
fib(5);
waitpid $pid, 0 if $pid;
"""


def as_records(path, out):
    """The same events, written anew record by record."""
    w = nytpwrite.Writer(plain_head=False)
    name = lambda text: {"utf8": any(byte > 127 for byte in text)}
    put = {
        ":": w.attribute, "!": w.option, "#": w.comment, "P": w.pid_start, "p": w.pid_end,
        "+": w.time, "*": w.block, "-": w.discount, ">": w.entry,
        "<": lambda *r: w.leave(*r, **name(r[3])),
        "@": lambda fid, parent, line, flags, size, mtime, text:
            w.fid(fid, text, parent, line, flags, **name(text)),
        "S": w.source, "s": lambda *r: w.sub(r[0], *r[1:], **name(r[1])),
        "c": lambda fid, line, caller, count, incl, excl, reci, depth, callee: w.raw(
            b"c" + nytpwrite.u32(fid) + nytpwrite.u32(line) + w.string(caller) +
            nytpwrite.u32(count) + w.nv(incl) + w.nv(excl) + w.nv(reci) + nytpwrite.u32(depth) +
            w.string(callee)),
        "z": lambda: None,
    }
    reader = nytpread.Reader(path)
    for tag, *fields in reader:
        put[tag](*fields)
    assert reader.damage is None
    w.save(out)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """Paths of both forms, for parent and child."""
    folder = tmp_path_factory.mktemp("calls")
    record(folder, PROGRAM)
    found = []
    for path in sorted(folder.glob("a.pl.out*")):
        for form in ("comments", "records"):
            (folder / form / path.name).parent.mkdir(exist_ok=True)
        (folder / "comments" / path.name).write_bytes(path.read_bytes())
        as_records(path, folder / "records" / path.name)
        found.append(path.name)
    assert len(found) == 2
    return folder, found


def test_one_form_has_the_records_of_calls_the_other_none(pairs):
    folder, names = pairs
    for name in names:
        tags = {form: [r[0] for r in nytpread.Reader(folder / form / name, calls_in_comments=False)]
                for form in ("comments", "records")}
        assert not {"<", ">"} & set(tags["comments"])
        assert tags["records"].count("<") > 10


@pytest.mark.parametrize("arguments", [[asking_for(f)] for f in formats()] +
                         [["--as-recorded", "--json"], ["--no-builtins", "--collapsed"]],
                         ids=lambda a: " ".join(a))
def test_exports_are_the_same(pairs, arguments):
    folder, names = pairs
    one, other = (good("-q", *arguments, *names, cwd=folder / form) for form in ("comments", "records"))
    assert one == other
    assert len(one) > 100


def test_each_process_counts_the_places_of_its_calls_anew(tmp_path):
    path, other = tmp_path / "a.out", tmp_path / "records" / "a.out"
    other.parent.mkdir()
    path.write_bytes(hostile.calls_in_comments())
    as_records(path, other)
    stacks = good("-q", "--collapsed", path).decode()
    assert stacks == good("-q", "--collapsed", other).decode()
    assert "main::child" in stacks


def test_events_are_the_same(pairs):
    folder, names = pairs
    for name in names:
        one, other = ([line.split(" ", 1)[1] for line in
                       good("--dump", folder / form / name).decode().splitlines()
                       if b"START_DEFLATE" not in line.encode()]
                      for form in ("comments", "records"))
        assert one == other


def test_a_merge_is_expanded_and_the_same(pairs):
    folder, names = pairs
    merged = []
    for form in ("comments", "records"):
        out = folder / form / "merged"
        merge(out, *names, cwd=folder / form)
        merged.append([r for r in nytpread.Reader(out, calls_in_comments=False) if r[0] != "#"])
    assert merged[0] == merged[1]
    assert sum(r[0] == "<" for r in merged[0]) > 60


def test_a_file_cut_anywhere_gives_what_is_before(tmp_path):
    path = record(tmp_path, PROGRAM.split("my $pid")[0], options="compress=0")
    data = path.read_bytes()
    whole = good("--dump", path).splitlines()
    for n in range(1000, min(len(data), 40000), 997):
        path.write_bytes(data[:n])
        done = run("--dump", path)
        lines = done.stdout.splitlines()
        assert done.returncode in (0, 3) and len(lines) > 10
        assert lines == whole[:len(lines)]
