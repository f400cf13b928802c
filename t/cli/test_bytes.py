# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Samples of allocated bytes (memory=BYTES): blocks that long calls, several files of a process and its children share."""

import functools
import json
import re

import pytest

import test_measures_of_memory
from command import good
from nytpwrite import Writer
from recordings import merge
from test_measures_of_memory import changed, of_subs
from written import begun

OWN = test_measures_of_memory.OWN["bytes"]
subs = functools.partial(of_subs, "bytes")


def recording(path, pid=77):
    return test_measures_of_memory.recording(path, "bytes", pid)


def test_a_block_that_is_freed_when_its_calls_have_become_one_is_found(tmp_path):
    """A thousand calls of f from two places, each with a block; every second is freed at the end."""
    stream = begun().time(1, 1, 1)
    for n in range(1, 1001):
        stream.entry(1, 1 + n % 2).time(1, 1, 1).comment(f"nytp-alloc {2 * n} {n} 1 1 9")
        stream.entry(1, 9).comment(f"nytp-alloc {2 * n + 1} 10 1 0 0").leave(2, 1, 1, "main::g").leave(1, 1, 1, "main::f")
    for n in range(2, 1001, 2):
        stream.comment(f"nytp-free {2 * n}").comment(f"nytp-free {2 * n + 1}")
    for line in 1, 2:
        stream.callers(1, line, "main::RUNTIME", "main::f", 500, 1e-4, 1e-4)
    stream.sub(1, "main::f", 5, 10).sub(1, "main::g", 12, 14).callers(1, 9, "main::f", "main::g", 1000, 1e-4, 1e-4)
    found = subs(stream.time(1, 1, 1).pid_end(7, 2000.0).save(tmp_path / "m.out"))
    assert found["main::f"] == (1000, 500500, 500, 250000) and found["main::g"] == (1000, 10000, 500, 5000)


def test_what_a_long_call_allocates_before_it_has_its_name_is_found(tmp_path):
    """Two calls of f, each with more statements than wait to be booked, and a call of g in it."""
    stream = begun().time(1, 1, 1)
    for n in 1, 2:
        stream.entry(1, 1).comment(f"nytp-alloc {10 * n} 5 1 0 0").time(1, 1, 1)
        stream.comment(f"nytp-alloc {10 * n + 1} 100 1 1 6").entry(1, 6).time(1, 1, 6)
        stream.comment(f"nytp-alloc {10 * n + 2} 3000 1 1 13")
        for _ in range(70000):
            stream.time(1, 1, 13)
        stream.leave(2, 70000, 70000, "main::g").leave(1, 1, 1, "main::f")
    stream.comment("nytp-free 11").comment("nytp-free 22").comment("nytp-free 10")
    stream.callers(1, 1, "main::RUNTIME", "main::f", 2, 1e-2, 1e-2).callers(1, 6, "main::f", "main::g", 2, 1e-2, 1e-2)
    stream.sub(1, "main::f", 5, 10).sub(1, "main::g", 12, 14)
    found = subs(stream.time(1, 1, 1).pid_end(7, 2000.0).save(tmp_path / "m.out"))
    assert found["main::f"] == (4, 210, 2, 105) and found["main::g"] == (2, 6000, 1, 3000)


def test_a_sample_out_of_order_is_none(tmp_path):
    path = changed(recording(tmp_path / "b.out"), b"nytp-alloc 6 50000", b"nytp-alloc 4 50000")
    assert subs(path)["main::f"] == (72, 8000, 2, 1000)


@pytest.mark.parametrize("broken", [
    "svs", "svs 1", "svs 1 1", "svs 1 1 1 1", "svs x 1 1", "svs --1 1 1", "svs 1 -1 1", "svs 99999999999999999999 1 1", "svs 1 4294967296 1",
    "svs 1 1 ", "in-use", "in-use 1 1 1 1 1", "in-use 1 1 1 1 1 1 1", "inherited 1 1 1 1 1 1", "inherited 1 1 1 1 1 1 0",
    "inherited 1 1 1 0 1 1 4294967296", "in-use 1 1 1 4294967296 1 1", "in-use 1 1125899906842625 1 0 1 1", "alloc", "alloc 1",
    "alloc 1 1 1 1", "alloc 1 1 1 1 1 1", "alloc x 1 1 1 1", "alloc -1 1 1 1 1", "alloc 1 1125899906842625 1 1 1", "alloc 1 1 1 4294967296 1",
    "alloc 1 1 1 1 1 ", "free", "free x"])
def test_what_is_no_such_comment_is_passed_over(tmp_path, broken):
    path = begun().comment(f"nytp-{broken}").time(10, 1, 1).pid_end(7, 2000.0).save(tmp_path / "x.out")
    document = good("-q", "--json", path).decode()
    assert "space" not in document and "svs" not in document


def later_file(path, start=2000.0, pid=77, before=True, end=3000.0):
    """The process goes on in another file, inside of f, which no entry told of: 30,000 of f's bytes and 9 of g's, called by f, are in use from
    before, and main's 20, and another process's f has 5. 10,000 of f's are freed now, and 4,000 allocated."""
    stream = begun(pid, start=start)
    if before:
        stream.comment("nytp-in-use-call 1 0 1 2 main::f").comment("nytp-in-use-call 2 1 1 12 main::g x")
        stream.comment("nytp-in-use 3 20 1 0 1 2").comment("nytp-in-use 5 20000 1 1 1 12").comment("nytp-in-use 6 10000 2 1 1 12")
        stream.comment("nytp-in-use 8 9 1 2 0 0")
    stream.comment("nytp-memory 1000000").time(200000, 1, 12).comment("nytp-free 6").comment("nytp-alloc 11 4000 1 1 12").entry(1, 12)
    stream.leave(2, 5, 5, "main::g x").leave(1, 40, 35, "main::f").time(10, 1, 2).sub(1, "main::f", 10, 14).sub(1, "main::g x", 20, 22)
    stream.comment("nytp-memory 1000000")
    return stream.pid_end(pid, end).save(path)


LATER = {"main::RUNTIME": (0, 0, 1, 20), "main::f": (1, 4000, 2, 24000), "main::g x": (0, 0, 1, 9)}


def test_what_is_in_use_from_before_is_where_it_was_allocated(tmp_path):
    file = later_file(tmp_path / "b.out")
    assert {name: values for name, values in subs(file).items() if any(values)} == LATER
    assert good("-q", "--collapsed", "--weight=inuse_space", file).decode().splitlines() == [
        "main::RUNTIME 20", "main::RUNTIME;main::f 24000", "main::RUNTIME;main::f;main::g_x 9"]
    assert good("-q", "--collapsed", "--weight=alloc_space", file).decode() == "main::RUNTIME;main::f 4000\n"
    assert re.search(r" 0 B +9 B /x/app\.pl:20\n", good("-q", "--top", "--lines", "--sort=inuse_space", file).decode()), "a line with nothing else"
    massif = good("-q", "--massif", file).decode()
    assert [int(n) for n in re.findall(r"mem_heap_B=(\d+)", massif)] == [30029, 24029]
    brief = good("-q", "--brief", file).decode()
    assert "- 24.0 kB, 4.0 kB allocated in all" in brief, brief


def test_of_several_files_of_a_process_the_last_tells_what_is_in_use(tmp_path):
    first, second = recording(tmp_path / "a.out"), later_file(tmp_path / "a.out.2")
    third = later_file(tmp_path / "a.out.3", start=3000.0, end=4000.0)
    both = {"main::RUNTIME": (1, 20, 1, 20), "main::f": (74, 62000, 2, 24000), "main::g x": (0, 0, 1, 9), "main::xs": (3, 300, 0, 0)}
    for files in (first, second), (second, first):
        assert subs(*files) == both
    assert subs(second, third, first)["main::f"] == (75, 66000, 2, 24000)
    other = recording(tmp_path / "b.out", pid=78)
    assert subs(first, second, other)["main::f"] == (147, 120000, 5, 75000)
    later = later_file(tmp_path / "d.out", start=5000.0, end=6000.0, before=False)  # another process with the same id
    assert subs(first, second, later)["main::f"] == (75, 66000, 3, 28000)


def child_file(path, pid, parent=77, start=1500.0, end=1900.0, own=700):
    """A child of recording()'s process: it inherits f's 50,000 bytes and 1,000, of which it frees the latter, and main's 20; it has some of its own in f."""
    stream = begun(pid, parent, start)
    stream.comment("nytp-in-use-call 1 0 1 2 main::f").comment(f"nytp-inherited 3 20 1 0 1 2 {parent}").comment(f"nytp-inherited 4 1000 2 1 1 2 {parent}")
    stream.comment(f"nytp-inherited 6 50000 1 1 1 12 {parent}").comment("nytp-memory 1000").time(20, 1, 1).entry(1, 2).time(10, 1, 12)
    stream.comment("nytp-free 4").comment(f"nytp-alloc 9 {own} 1 1 12").leave(1, 10, 10, "main::f").time(5, 1, 2).sub(1, "main::f", 10, 14)
    return stream.comment("nytp-memory 1000").pid_end(pid, end).save(path)


def in_use(*arguments):
    return {name: values[2:] for name, values in subs(*arguments).items() if any(values[2:])}


def test_a_childs_file_has_what_is_in_use_of_its_parents(tmp_path):
    child = child_file(tmp_path / "c.out", 80)
    assert in_use(child) == {"main::RUNTIME": (1, 20), "main::f": (2, 50700)} and subs(child)["main::f"][:2] == (1, 700)
    assert good("-q", "--collapsed", "--weight=inuse_space", child).decode() == "main::RUNTIME 20\nmain::RUNTIME;main::f 50700\n"


def test_files_that_share_memory_count_it_once(tmp_path):
    parent = recording(tmp_path / "p.out")
    children = [child_file(tmp_path / f"c{pid}.out", pid, own=pid) for pid in (80, 81, 82)]
    all_own = 80 + 81 + 82
    for files in (parent, *children), (*children, parent):
        assert in_use(*files) == {"main::RUNTIME": (1, 20), "main::f": (6, 51000 + all_own)}, "in the parent, as it holds it"
    assert in_use(*children) == {"main::RUNTIME": (1, 20), "main::f": (4, 50000 + all_own)}, "without it in one of its children"
    assert in_use(parent, child_file(tmp_path / "o.out", 83, parent=99))["main::f"] == (5, 101700), "another process's child"
    grandchild = child_file(tmp_path / "g.out", 90, parent=80, start=1600.0)
    assert in_use(parent, children[0], grandchild)["main::f"] == (5, 51000 + 80 + 700)
    again = child_file(tmp_path / "c80.2.out", 80, start=1700.0)
    assert in_use(children[0], again)["main::f"] == (3, 50780), "another child with the same process id"
    next_file = child_file(tmp_path / "c82.2.out", 82, start=1900.0, end=2000.0)
    next_file.write_bytes(next_file.read_bytes().replace(b"#nytp-free 4", b"#nytp-in-use 7 30 1 1 1 12\n#nytp-free 4"))
    assert in_use(children[2], next_file)["main::f"] == (3, 50730), "its later file"
    many = [child_file(tmp_path / f"m{pid}.out", pid, own=1) for pid in range(100, 160)]  # merged in groups
    assert in_use(*many, parent)["main::f"] == (63, 51060) and in_use(*many)["main::f"] == (61, 50060)


def test_a_stream_of_several_processes_counts_what_they_share_once(tmp_path):
    parts = recording(tmp_path / "p.out"), child_file(tmp_path / "c.out", 80), child_file(tmp_path / "d.out", 81)
    merge(tmp_path / "m.out", *parts)
    assert in_use(tmp_path / "m.out") == in_use(*parts) == {"main::RUNTIME": (1, 20), "main::f": (5, 52400)}
    assert in_use(tmp_path / "m.out", child_file(tmp_path / "e.out", 82)) == {"main::RUNTIME": (1, 20), "main::f": (6, 53100)}


def test_each_process_by_itself_has_all_that_it_holds(tmp_path):
    files = recording(tmp_path / "p.out"), child_file(tmp_path / "c.out", 80), later_file(tmp_path / "p.out.2")
    good("-q", "--collapsed", "--weight=inuse_space", "--per-process", "-o", tmp_path / "out.%p", *files)
    of = {path.name: path.read_text() for path in tmp_path.glob("out.*")}
    assert of["out.80"] == "main::RUNTIME 20\nmain::RUNTIME;main::f 50700\n"
    assert of["out.77"] == "main::RUNTIME 20\nmain::RUNTIME;main::f 51000\n", "also an earlier file of a process"
    good("-q", "--collapsed", "--weight=inuse_space", "--per-process", "-o", tmp_path / "of.%p",
         *(child_file(tmp_path / f"m{pid}.out", pid, own=1) for pid in range(100, 160)))  # merged in groups
    assert {path.read_text() for path in tmp_path.glob("of.*")} == {"main::RUNTIME 20\nmain::RUNTIME;main::f 50001\n"}
    massif = good("-q", "--massif", *(child_file(tmp_path / f"{pid}.out", pid, start=1400.0 + pid, own=pid) for pid in (83, 82))).decode()
    assert re.findall(r"mem_heap_B=(\d+)", massif)[-1] == "50103" and "\nn2: 50103 " in massif and "pid 83" in massif
    assert re.findall(r"mem_heap_B=(\d+)", massif)[-2] == "51020" and "\nn3: 51020 " in massif, "its peak, with what it has freed of its parent's"


def test_a_comparison_has_what_each_file_holds(tmp_path):
    def total(*sides):
        table = good("-q", "--top", "--diff", sides[0], "--weight=inuse_space", *sides[1:]).decode()
        return re.search(r"bytes in use +([\d.]+) kB +([\d.]+) kB", table).groups()
    parent = recording(tmp_path / "p.out")
    assert total(parent, later_file(tmp_path / "p.out.2")) == ("51.0", "24.0"), "two files of a process"
    assert total(parent, child_file(tmp_path / "c.out", 80)) == ("51.0", "50.7"), "a process and its child"


def test_labels_have_nothing_of_what_was_in_use_before(tmp_path):
    stream = begun().comment("nytp-in-use 3 20000 1 0 1 2").comment("nytp-label 0 request=1").comment("nytp-alloc 5 300 1 1 3")
    path = stream.time(10, 1, 3).pid_end(7, 2000.0).save(tmp_path / "l.out")
    assert subs(path)["main::RUNTIME"] == (1, 300, 2, 20300)
    assert subs("--where=request=1", path)["main::RUNTIME"] == (1, 300, 1, 300)


@pytest.mark.parametrize("broken", ["1 1 1 1 a", "2 0 1 1 a", "1 0 1 a", "1 0 1 1 ", "0 0 1 1 a"])
def test_a_block_whose_call_was_not_told_is_the_programs(tmp_path, broken):
    stream = begun().comment(f"nytp-in-use-call {broken}").comment("nytp-in-use 4 70 1 1 1 3").time(10, 1, 1)
    path = stream.pid_end(7, 2000.0).save(tmp_path / "x.out")
    assert good("-q", "--collapsed", "--weight=inuse_space", path).decode() == "main::RUNTIME 70\n"


def test_firefox_has_stacks_of_allocations_that_took_no_time(tmp_path):
    """What Firefox's profiler makes of allocations is looked at in t/viewers/test_firefox.py."""
    file = recording(tmp_path / "b.out")
    call = Writer().entry(1, 11).leave(2, 0, 0, "main::a").data()[len(Writer().data()):]
    at = file.read_bytes().index(b"#nytp-alloc 6 ")
    file.write_bytes(file.read_bytes()[:at] + call + file.read_bytes()[at:])
    threads = json.loads(good("-q", "--firefox", file))["threads"]
    assert ["nativeAllocations" in thread for thread in threads] == [False, True]
    thread, allocated = threads[1], dict.fromkeys(OWN, 0)
    for weight, stack in zip(thread["nativeAllocations"]["weight"], thread["nativeAllocations"]["stack"]):
        if weight > 0:
            func = thread["frameTable"]["func"][thread["stackTable"]["frame"][stack]]
            allocated[thread["stringArray"][thread["funcTable"]["name"][func]]] += weight
    assert allocated == {name: values[1] for name, values in OWN.items()}
    changed(file, b"nytp-alloc", b"nytp-xxxxx")
    assert b"nativeAllocations" not in good("-q", "--firefox", file)


def test_a_sub_that_ran_in_an_earlier_file_only_is_in_the_table_of_markdown(tmp_path):
    stream = begun().comment("nytp-in-use-call 1 0 1 2 main::h")
    file = stream.comment("nytp-in-use 3 9 1 1 0 0").time(10, 1, 1).entry(1, 1).leave(1, 2, 2, "main::f").pid_end(7, 2000.0).save(tmp_path / "s.out")
    assert re.search(r"\| 0 B \| 9 B \| `main::h`", good("-q", "--markdown", file).decode())
