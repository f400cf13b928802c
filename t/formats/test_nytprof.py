# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""The reader of NYTProf streams, seen through `nytp-export --dump`: record by record what the
tests' own reader sees, from any kind of input, in little memory, with either inflate."""

import gzip
import itertools
import json
import os
import re
import resource
import subprocess
import zlib

import nytpread
import nytpwrite
import profiles
import pytest

ROOT = profiles.TESTS.parent
FIELDS = {  # in the order of nytpread's tuples
    ":": "key value", "!": "key value", "#": "text", "P": "pid ppid time_s", "p": "pid time_s",
    "@": "fid eval_fid eval_line flags size mtime_s name", "+": "ticks fid line",
    "*": "ticks fid line block_line sub_line", ">": "caller_fid caller_line",
    "<": "depth incl_ticks excl_ticks name", "S": "fid line text",
    "s": "fid name first_line last_line",
    "c": "fid line caller count incl_s excl_s reci_s rec_depth callee", "z": "", "-": "",
}
NAMES = {tag: name.upper().replace("-", "_") for tag, name in nytpread.RECORD_NAMES.items()}
FIELD = re.compile(r' (\w+)=(?:u?("(?:[^"\\]|\\.)*")|(\S+))')
COMPARED = ["mixed-calls2", "mixed-calls1", "mixed-blocks", "mixed-plain", "evals", "names",
            "unreturned", "forks-merged", "cut-plain", "cut-deflated", "killed-plain", "dash-e",
            "made-big-endian", "made-long-double", "made-quad-double", "made-big-values",
            "made-hostile-names", "made-negative-ticks", "made-gzipped", "made-trailer",
            "made-calls-in-comments"]


def dump(command, path, **how):
    return subprocess.run([str(command), "--dump", str(path)], capture_output=True,
                          timeout=600, **how)


def parse(line):
    """The record's name and its fields; numbers are floats, texts str."""
    name = line.split(" ", 2)[1]
    fields = {key: json.loads(text) if text else float(number)
              for key, text, number in FIELD.findall(line[line.index(name):])}
    return name, fields


def same(ours, theirs):
    if not isinstance(theirs, bytes):
        return ours == theirs
    try:
        return ours.rstrip("\n") == theirs.decode().rstrip("\n")
    except UnicodeDecodeError:  # the dump is text: bytes that are no UTF-8 look different
        return len(ours) > 0


@pytest.mark.parametrize("name", COMPARED)
def test_every_record_is_what_another_reader_sees(export_command, profile, name):
    path = profile(name)
    expected = nytpread.Reader(path)
    result = dump(export_command, path)
    lines = iter(result.stdout.decode().splitlines())
    assert next(lines).startswith("0 VERSION ")
    count = n_running = 0
    for line, record in itertools.zip_longest(lines, expected):
        # A cut zlib stream may give a few bytes less than to the other reader.
        if line is None and expected.damage is None and result.returncode == 3:
            break
        assert line is not None and record is not None, (line, record)
        kind, fields = parse(line)
        assert kind == NAMES[record[0]]
        for key, value in zip(FIELDS[record[0]].split(), record[1:], strict=True):
            assert same(fields[key], value), (line, record)
        count += 1
        n_running += {"PID_START": 1, "PID_END": -1}.get(kind, 0)
    assert count > 20
    assert result.returncode == (3 if expected.damage or n_running else 0)


def test_all_kinds_of_input_give_the_same(export_command, profile, tmp_path):
    path = profile("mixed-calls2")
    expected = dump(export_command, path)
    assert expected.returncode == 0
    data = path.read_bytes()
    assert dump(export_command, "-", input=data).stdout == expected.stdout
    zipped = tmp_path / "x.gz"
    zipped.write_bytes(gzip.compress(data))
    assert dump(export_command, zipped).stdout == expected.stdout
    assert dump(export_command, "-", input=zipped.read_bytes()).stdout == expected.stdout


def in_memory(megabytes):
    limit = megabytes * 1024 * 1024
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))}


def test_a_claimed_string_is_not_allocated(export_command, tmp_path):
    head = nytpwrite.Writer(plain_head=False).pid_start(1).fid(1, "/x").data()
    claim = head + b"S\x01\x01'" + nytpwrite.u32(4026531840)
    path = tmp_path / "claim"
    path.write_bytes(claim + b"abc")
    result = dump(export_command, path, **in_memory(44))
    assert b"SRC_LINE: string of 4026531840 bytes, only 3 left" in result.stderr
    assert result.returncode == 3
    path.write_bytes(claim + b"x" * 1_000_000)
    result = dump(export_command, path, **in_memory(44))
    assert b"the limit of a record is 67108864" in result.stderr
    path.write_bytes(head + b"S\x01\x01'" + nytpwrite.u32(60_000_000) + b"x" * 1_000_000)
    result = dump(export_command, path, **in_memory(44))
    assert b"string of 60000000 bytes, only 1000000 left" in result.stderr
    assert f"byte {len(head)}: ".encode() in result.stderr


def test_memory_does_not_grow_with_the_stream(export_command, tmp_path):
    """2,000,000 statements and 300,000 calls deflate to little and are read in 44 MB."""
    packer = zlib.compressobj(1)
    part = nytpwrite.Writer(plain_head=False)
    for line in range(1, 2001):
        part.time(line, 1, line)
        if line % 7 == 0:
            part.entry(1, line).leave(1, 5, 5, "main::f")
    records = part.data()[len(nytpwrite.Writer(plain_head=False).data()):]
    head = nytpwrite.Writer().pid_start(1).fid(1, "/x").data()
    path = tmp_path / "long"
    with path.open("wb") as file:
        file.write(head + b"z")
        for _ in range(1000):
            file.write(packer.compress(records))
        end = nytpwrite.Writer(plain_head=False).pid_end(1).data()
        file.write(packer.compress(end[len(nytpwrite.Writer(plain_head=False).data()):]))
        file.write(packer.flush())
    for mode in ("--check", "--top"):
        result = subprocess.run([str(export_command), mode, str(path)], timeout=600,
                                capture_output=True, **in_memory(44))
        assert result.returncode == 0, result.stderr


@pytest.fixture(scope="module")
def other_command(export_command):
    """The same program with the other inflater than the command was built with: zlib, or ISA-L."""
    def version(command):
        return subprocess.run([command, "--version"], capture_output=True, check=True).stdout
    isal = int(b"zlib" in version(export_command))
    build = profiles.TESTS / ".cache" / ("build-isal" if isal else "build-zlib")
    made = subprocess.run(["make", "-s", "-j2", "-C", str(ROOT / "exporters"), f"ISAL={isal}",
                           *profiles.QUICK_FLAGS, f"BUILD={build}"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert version(build / "nytp-export") != version(export_command)
    libraries = subprocess.run(["ldd", build / "nytp-export"], capture_output=True, check=True).stdout
    assert (b"libisal" in libraries) == bool(isal)
    return build / "nytp-export"


def with_a_wrong_bit(data):
    """Near the end; some bits, of a reference to equal bytes, make no difference."""
    start = data.index(b"\nz") + 2
    for at in range(len(data) - 200, start, -1):
        wrong = data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]
        try:
            zlib.decompressobj().decompress(wrong[start:])
        except zlib.error:
            return wrong
    raise AssertionError("no bit matters")


def test_isal_and_zlib_give_the_same(export_command, other_command, profile, tmp_path):
    for name in ("mixed-calls2", "forks-merged", "made-deep", "made-gzipped", "perltidy"):
        path = profile(name)
        ours, other = dump(export_command, path), dump(other_command, path)
        assert ours.stdout == other.stdout and ours.returncode == other.returncode == 0

    data = profile("mixed-calls2").read_bytes()
    path = tmp_path / "cut"
    for share in range(1, 20):
        path.write_bytes(data[: len(data) * share // 20])
        ours, other = dump(export_command, path), dump(other_command, path)
        assert ours.returncode == other.returncode
        short, long = sorted([ours.stdout, other.stdout], key=len)
        assert long.startswith(short) and long[len(short):].count(b"\n") <= 3

    path.write_bytes(with_a_wrong_bit(data))
    ours, other = dump(export_command, path), dump(other_command, path)
    assert ours.returncode == other.returncode == 3
    # the damage is told, by the inflater or by what it made of the bytes
    assert b": byte " in ours.stderr and b": byte " in other.stderr


def test_labels_of_a_process_that_change_take_their_own_room(export_command, tmp_path):
    """The text of all labels, which may be long, was kept for each change of one: 1.2 GB."""
    stream = nytpwrite.Writer().pid_start(7, 1).fid(1, "/x/a.pl").time(10, 1, 5)
    for number in range(15):
        stream.comment(f"nytp-label-profile k{number}=" + "v" * 4000)
    for number in range(20000):
        stream.comment(f"nytp-label-profile a={number}")
    path = stream.comment("nytp-label-profile k3=w").comment("nytp-label-profile long=" + "v" * 4000).pid_end(7).save(tmp_path / "labels")
    result = subprocess.run([export_command, "--json", path], capture_output=True, check=True, **in_memory(300))
    labels = json.loads(result.stdout)["processes"][0]["labels"]
    assert labels == {**{f"k{n}": "v" * 4000 for n in range(15)}, "a": "19999", "k3": "w", "long": "v" * 4000}


def test_waits_that_are_left_out_do_not_walk_over_the_open_calls(export_command, tmp_path):
    """Many calls open, then many waits, took a thousand times as long as the waits first."""
    n = 40000

    def seconds(name, *parts):
        stream = nytpwrite.Writer().pid_start(7).comment("nytp-calls 1").fid(1, "/x/a.pl").comment(b"\x01\x11\x15'main::f")
        for part in parts:
            stream.raw(part * n)
        path = stream.time(10, 1, 5).pid_end(7).save(tmp_path / name)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([export_command, "--dump", "-o", os.devnull, path], check=True)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    opened, waited = b"#\x09\x10\n", b"#\x08\x11\n"
    plain = min(seconds("plain", waited, opened) for _ in range(3))
    assert min(seconds("waits", opened, waited) for _ in range(2)) < 8 * plain + 0.05
