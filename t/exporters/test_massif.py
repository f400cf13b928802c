# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""--massif: snapshots of a process's memory, as Valgrind's own ms_print reads them."""

import os
import re
import shutil
import subprocess

import pytest

from command import ROOT, good
from nytpwrite import Writer
from recordings import record


def snapshots(*arguments):
    """[(ms, bytes, kind of tree)], the lines of trees, and the head, of the file as it is."""
    text = good("--massif", "-q", *arguments).decode()
    head, *parts = re.split(r"^#-+\nsnapshot=\d+\n#-+\n", text, flags=re.M)
    found, trees = [], []
    for part in parts:
        time, heap, extra, stacks, tree, *nodes = part.splitlines()
        assert (extra, stacks) == ("mem_heap_extra_B=0", "mem_stacks_B=0")
        found.append((int(time.removeprefix("time=")), int(heap.removeprefix("mem_heap_B=")), tree.removeprefix("heap_tree=")))
        trees += [re.sub("0x[0-9A-F]+:", "0x:", node) for node in nodes]
    return found, trees, head


def ms_print(path):
    if shutil.which("ms_print") is None:
        pytest.skip("not installed: valgrind")
    done = subprocess.run(["ms_print", "--threshold=0", path], check=True, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout


def begun(pid=7, ticks_per_sec=1000):
    return Writer(attributes={"ticks_per_sec": ticks_per_sec}, options={"calls": 2}).pid_start(pid, 1).fid(1, "/x/a#b.pl")


def sampled():
    """load 9000 of 20000, called by quote; note 8000; the program 1000; others below 1 %."""
    stream = begun().memory(500).time(10, 1, 9)
    stream.entry(1, 9).time(0, 1, 9).entry(1, 5).time(5, 1, 5)
    stream.alloc(1, 9000, 3).alloc(2, 11000, 4).memory(600).time(10, 1, 3)
    stream.free(2).leave(2, 10, 10, "main::load").time(1, 1, 5).leave(1, 16, 6, "main::quote")
    stream.time(5, 1, 9).entry(1, 10).time(0, 1, 10)
    stream.alloc(3, 8000, 6).time(5, 1, 6).leave(1, 5, 5, "main::note").time(1, 1, 10)
    stream.alloc(4, 1000, 11).alloc(5, 20, 12).alloc(6, 30, 13)
    return stream.time(2, 1, 11).memory(700).pid_end(7)


def test_snapshots_of_memory_in_core(tmp_path):
    stream = begun().memory(4096).time(100, 1, 9).memory(5000000).time(40, 1, 9).memory(3000000)
    found, trees, head = snapshots(stream.call("main::f", 1, 3).pid_end(7).save(tmp_path / "a.out"))
    assert found == [(0, 4096, "empty"), (100, 5000000, "empty"), (140, 3000000, "empty")] and trees == []
    assert head == "desc: nytp-export, memory in core, pid 7\ncmd: hand.pl\ntime_unit: ms\n"


def test_with_samples_the_peak_and_the_last_one_tell_who_allocated(tmp_path):
    file = sampled().save(tmp_path / "a.out")
    found, trees, head = snapshots(file)
    assert found == [(0, 0, "empty"), (15, 20000, "peak"), (39, 18050, "detailed")]
    assert "bytes in use by samples" in head
    assert trees == ["n2: 20000 (heap allocation functions) malloc, by samples",
                     " n1: 11000 0x: main::load (/x/a?b.pl:4)",
                     "  n1: 11000 0x: main::quote (/x/a?b.pl:5)",
                     "   n0: 11000 0x: main::RUNTIME (/x/a?b.pl:9)",
                     " n1: 9000 0x: main::load (/x/a?b.pl:3)",
                     "  n1: 9000 0x: main::quote (/x/a?b.pl:5)",
                     "   n0: 9000 0x: main::RUNTIME (/x/a?b.pl:9)",
                     "n4: 18050 (heap allocation functions) malloc, by samples",
                     " n1: 9000 0x: main::load (/x/a?b.pl:3)",
                     "  n1: 9000 0x: main::quote (/x/a?b.pl:5)",
                     "   n0: 9000 0x: main::RUNTIME (/x/a?b.pl:9)",
                     " n1: 8000 0x: main::note (/x/a?b.pl:6)",
                     "  n0: 8000 0x: main::RUNTIME (/x/a?b.pl:10)",
                     " n0: 1000 0x: main::RUNTIME (/x/a?b.pl:11)",
                     " n0: 50 in 2 places, all below massif's threshold (1.00%)"]


def grown_and_freed():
    """Between two comments of memory 700 bytes are in use at most: 500 of line 3, 200 of line 4, after 300 of line 5 were freed, before which 600 were.
    Of another process of the same input, later, 50."""
    stream = begun().memory(1000).time(10, 1, 9)
    stream.alloc(1, 300, 5).alloc(2, 300, 3).time(10, 1, 3).free(1)
    stream.alloc(3, 200, 3).alloc(4, 200, 4).time(10, 1, 4)
    stream.free(2).free(4).free(4).time(10, 1, 6).alloc(5, 100, 6)
    stream.free(3).memory(1000).time(10, 1, 9).call("main::f", 1, 3).time(9, 1, 9)
    return stream.memory(1000).pid_end(7)


def test_a_peak_between_the_points_of_the_curve_is_a_snapshot_of_its_own(tmp_path):
    found, trees, _ = snapshots(grown_and_freed().save(tmp_path / "a.out"))
    assert found == [(0, 0, "empty"), (20, 700, "peak"), (40, 100, "empty"), (60, 100, "detailed")]
    assert trees[:3] == ["n2: 700 (heap allocation functions) malloc, by samples",
                         " n0: 500 0x: main::RUNTIME (/x/a?b.pl:3)", " n0: 200 0x: main::RUNTIME (/x/a?b.pl:4)"]
    two = grown_and_freed().pid_start(8, 1).memory(2000).alloc(2, 50, 6).time(10, 1, 6)
    two = two.free(2).memory(2000).time(10, 1, 6).pid_end(8).save(tmp_path / "b.out")
    assert snapshots(two)[:2] == (found, trees)
    good("--massif", "--per-process", "-q", "-o", tmp_path / "massif.out.%p", two)
    second = (tmp_path / "massif.out.8").read_text()
    assert re.findall(r"time=(\d+)\nmem_heap_B=(\d+)\n.*\n.*\nheap_tree=(.*)\n", second) == [("0", "50", "peak"), ("10", "0", "detailed")]


def test_a_peak_behind_all_points_but_the_last_comes_before_that(tmp_path):
    stream = begun().memory(10).time(10, 1, 9).alloc(1, 700, 3).time(10, 1, 3).free(1).time(10, 1, 9).memory(10)
    found, _, _ = snapshots(stream.pid_end(7).save(tmp_path / "a.out"))
    assert found == [(0, 0, "empty"), (10, 700, "peak"), (30, 0, "detailed")]


def test_what_recording_cost_moves_the_peak_with_the_calls(tmp_path):
    """The call takes half of what was recorded of it; the peak is inside it, where a point of the curve is."""
    stream = begun(ticks_per_sec=1000000).memory(10).time(100000, 1, 9).entry(1, 9).time(0, 1, 9)
    for i in range(1000):
        if i == 500:
            stream.alloc(1, 700, 3).memory(20).free(1)
        stream.time(200, 1, 3)
    stream.leave(1, 200000, 200000, "main::work").time(10000, 1, 9).memory(10)
    stream.comment("nytp-costs stmt=100000000 leave=0 call_in=0 call_out=0 xsub_in=0 xsub_out=0 op_in=0 op_out=0")
    file = stream.pid_end(7).save(tmp_path / "a.out")
    assert snapshots("--as-recorded", file)[0] == [(0, 0, "empty"), (200, 700, "peak"), (310, 0, "detailed")]
    _, (at, size, kind), (end, *_) = snapshots(file)[0]
    assert end < 220 and 100 < at < 180 and (size, kind) == (700, "peak")


def test_the_peak_is_not_behind_the_end(tmp_path):
    """A statement's time may be below 0."""
    stream = begun().memory(10).time(100, 1, 9).alloc(1, 700, 3).free(1).time(-60, 1, 3).memory(10)
    assert [at for at, *_ in snapshots(stream.pid_end(7).save(tmp_path / "a.out"))[0]] == [0, 40, 40]


def test_the_peak_of_merged_inputs_is_on_their_axis(tmp_path):
    """Both have the finer clock of the two."""
    other = begun(9, ticks_per_sec=1000000).memory(10).time(1000, 1, 9).pid_end(9).save(tmp_path / "b.out")
    file = grown_and_freed().save(tmp_path / "a.out")
    assert snapshots(other, file)[:2] == snapshots(file)[:2]


def test_ms_print_reads_both(tmp_path):
    good("--massif", "-o", tmp_path / "a.massif", sampled().save(tmp_path / "a.out"))
    text = ms_print(tmp_path / "a.massif")
    assert "Number of snapshots: 3\n Detailed snapshots: [1 (peak), 2]" in text
    assert re.search(r"^100\.00% \(18,050B\) \(heap allocation functions\) malloc", text, re.M)
    assert re.search(r"^->49\.86% \(9,000B\) 0x\w+: main::load \(/x/a\?b\.pl:3\)$", text, re.M)
    assert re.search(r"^\| ->49\.86% \(9,000B\) 0x\w+: main::quote ", text, re.M)
    empty = begun().call("main::f", 1, 3).pid_end(7).save(tmp_path / "b.out")
    good("--massif", "-o", tmp_path / "b.massif", empty)
    assert "the end alone: no curve is known" in ms_print(tmp_path / "b.massif")


def test_of_selected_subs_the_end_alone_is_known(tmp_path):
    found, trees, head = snapshots("--focus=quote", sampled().save(tmp_path / "a.out"))
    assert found == [(0, 9000, "peak")] and "the end alone" in head
    assert trees[1] == " n1: 9000 0x: main::load (/x/a?b.pl:3)"


def test_without_a_curve_several_processes_are_told_together(tmp_path):
    """The tree is that of all: it is not the first one's."""
    found, _, head = snapshots("--focus=quote", *(sampled().save(tmp_path / name) for name in ("a.out", "b.out")))
    assert found == [(0, 18000, "peak")] and "by samples, all 2 processes (--per-process), the end alone" in head and "pid" not in head


def test_deep_stacks_end_at_thirty_frames(tmp_path):
    stream = begun()
    for _ in range(50):
        stream.entry(1, 9).time(0, 1, 9)
    stream.alloc(1, 77, 9)
    for depth in range(50, 0, -1):
        stream.time(1, 1, 9).leave(depth, 1, 1, "main::deep")
    trees = snapshots(stream.memory(1).pid_end(7).save(tmp_path / "a.out"))[1]
    assert len(trees) == 31 and trees[-1].strip().startswith("n0: 77 ")


def test_of_several_processes_the_largest_and_each_in_a_file(tmp_path):
    files = []
    for pid, most in ((7, 1000), (8, 3000), (9, 2000)):
        stream = begun(pid).memory(most).call("main::f", 1, 3).time(2, 1, 9).memory(10)
        files.append(stream.pid_end(pid).save(tmp_path / f"{pid}.out"))
    found, _, head = snapshots(*files)
    assert [size for _, size, _ in found] == [3000, 10] and "pid 8, the largest of 3 processes (--per-process)" in head
    good("--massif", "--per-process", "-o", tmp_path / "massif.out.%p", *files)
    assert "mem_heap_B=2000\n" in (tmp_path / "massif.out.9").read_text()


def test_many_points_are_a_hundred_snapshots_with_the_peak(tmp_path):
    stream = begun()
    for i in range(5000):
        stream.memory(10**9 if i == 3111 else 1000 + i).time(1, 1, 9)
    found, _, _ = snapshots(stream.memory(5).call("main::f", 1, 3).pid_end(7).save(tmp_path / "a.out"))
    assert 95 <= len(found) <= 101 and (3111, 10**9, "empty") in found and found[-1][1] == 5
    assert [time for time, *_ in found] == sorted(time for time, *_ in found)


LEAK = """my %cache;
sub load { my ($n) = @_; return "x" x $n }
sub quote { my ($k) = @_; $cache{$k} //= load(40_000) }
for my $i (1 .. 300) { quote($i); my $s = 0; $s += $_ for 1 .. 50 }
"""


def test_a_leak_is_found_by_its_line(tmp_path):
    library = ROOT / "blib/arch/auto/Devel/NYTProf/libnytp-malloc.so"
    if not library.exists():
        pytest.skip("not installed: libnytp-malloc.so")
    if os.environ.get("NYTP_SAN"):
        pytest.skip("not installed: the sanitizer has memory of its own")
    out = record(tmp_path, LEAK, options="memory=16k", steps=False, LD_PRELOAD=str(library))
    good("--massif", "-o", tmp_path / "a.massif", out)
    total, part = (int(re.search(pattern, ms_print(tmp_path / "a.massif"), re.M)[1].replace(",", "")) for pattern in
                   (r"^100\.00% \(([\d,]+)B\)", r"^->[\d.]+% \(([\d,]+)B\) 0x\w+: main::load \(\S+a\.pl:2\)$"))
    assert 9e6 < part < 15e6 and part <= total < 20e6       # 300 times 40,000 bytes, by some 700 samples
