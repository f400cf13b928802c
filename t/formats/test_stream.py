# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Every record of every version is read as nytprof-v5.md says, from any kind of input; what is damaged gives the events
before it and one error with its offset. By hand-made streams, of which nytp-export --dump says what was read; that
recorded ones are read as by another reader is in test_nytprof.py."""

import gzip
import json
import os
import re
import struct
import subprocess
import threading
import zlib
from collections import Counter

import pytest

import hostile
from nytpwrite import Writer, quad, text, u32, x87

NOON = 1700000000.25
F64 = struct.Struct("<d").pack


def string(value):
    return Writer(plain_head=False).string(value)


def numbers(*values):
    return b"".join(map(u32, values))


def read(command, path, data=None):
    """(lines of the dump, without offsets; offsets; status; the message, without the name of the input)"""
    if data is not None:
        path.write_bytes(data)
    done = subprocess.run([command, "--dump", path], capture_output=True, check=False, timeout=600)
    lines = [line.split(" ", 1) for line in done.stdout.decode().splitlines()]
    said = [line.split(": ", 2)[2] for line in done.stderr.decode().splitlines() if "no end of process" not in line and "has no end" not in line]
    return [line[1] for line in lines], [int(line[0]) for line in lines], done.returncode, said[0] if said else None


@pytest.fixture
def dump(export_command, tmp_path):
    return lambda data: read(export_command, tmp_path / "s.out", data)


HEAD = b"NYTProf 5 0\n"
# record -> what is read of it; all of version 5.0, in a sensible order
HEADER = {
    b"# comment = 1\n": r'COMMENT text=" comment = 1\n"',
    b":basetime=1\n": 'ATTRIBUTE key="basetime" value="1"',
    b":application=a=b c\n": 'ATTRIBUTE key="application" value="a=b c"',
    b":nv_size=8\n": 'ATTRIBUTE key="nv_size" value="8"',
    b"!calls=2\n": 'OPTION key="calls" value="2"',
    b"!x=\n": 'OPTION key="x" value=""',
}
RECORDS = {
    b"P" + numbers(1050, 1041) + F64(NOON): "PID_START pid=1050 ppid=1041 time_s=1700000000.25",
    b"@" + numbers(1, 0, 0, 0x32, 0, 0) + string("/home/x/t1.pl"):
        'NEW_FID fid=1 eval_fid=0 eval_line=0 flags=50 size=0 mtime_s=0 name="/home/x/t1.pl"',
    b"@" + numbers(200, 1, 300, 0x22, 70000, 0xffffffff) + string("(eval 1)[/home/x/t1.pl:300]"):
        'NEW_FID fid=200 eval_fid=1 eval_line=300 flags=34 size=70000 mtime_s=4294967295 name="(eval 1)[/home/x/t1.pl:300]"',
    b"+" + numbers(23, 1, 3): "TIME_LINE ticks=23 fid=1 line=3",
    b">" + numbers(1, 16383): "SUB_ENTRY caller_fid=1 caller_line=16383",
    b"*" + numbers(-5, 1, 2097151, 16384, 268435456): "TIME_BLOCK ticks=-5 fid=1 line=2097151 block_line=16384 sub_line=268435456",
    b"<" + numbers(2) + F64(5) + F64(-3) + string("main::bar"): 'SUB_RETURN depth=2 incl_ticks=5 excl_ticks=-3 name="main::bar"',
    b"-": "DISCOUNT",
    b":cumulative_overhead_ticks=3.09915e+06\n": 'ATTRIBUTE key="cumulative_overhead_ticks" value="3.09915e+06"',
    b"S" + numbers(1, 1) + string("print 1;\n"): r'SRC_LINE fid=1 line=1 text="print 1;\n"',
    b"s" + numbers(1) + string("main::bar") + numbers(7, 9): 'SUB_INFO fid=1 first_line=7 last_line=9 name="main::bar"',
    b"c" + numbers(1, 12) + string("main::RUNTIME") + numbers(4) + F64(.5) + F64(.25) + F64(.125) + numbers(3) + string("main::bar"):
        'SUB_CALLERS fid=1 line=12 count=4 rec_depth=3 incl_s=0.5 excl_s=0.25 reci_s=0.125 caller="main::RUNTIME" callee="main::bar"',
    b"p" + numbers(1050) + F64(NOON): "PID_END pid=1050 time_s=1700000000.25",
}
PLAIN = HEAD + b"".join(HEADER) + b"".join(RECORDS)
DEFLATED = HEAD + b"".join(HEADER) + b"z" + zlib.compress(b"".join(RECORDS)) + b"#\n# Compressed 1 bytes to 2\n"
VERSION = "VERSION major=5 minor=0"
READ = [VERSION, *HEADER.values(), *RECORDS.values()]
READ_DEFLATED = [VERSION, *HEADER.values(), "START_DEFLATE", *RECORDS.values()]
ALL_DEFLATED = HEAD + b"z" + zlib.compress(b"".join(HEADER) + b"".join(RECORDS))
FORMS = {
    "plain": (PLAIN, READ), "deflated": (DEFLATED, READ_DEFLATED), "gzipped": (gzip.compress(DEFLATED), READ_DEFLATED),
    "deflated behind its first line": (ALL_DEFLATED, [VERSION, "START_DEFLATE", *READ[1:]]),
    "version 4": (b"NYTProf 4 0\n" + b"".join(RECORDS), ["VERSION major=4 minor=0", *RECORDS.values()]),
}


@pytest.mark.parametrize("data, lines", FORMS.values(), ids=FORMS)
def test_all_records(dump, data, lines):
    assert dump(data)[::2] == (lines, 0)


@pytest.mark.parametrize("data, step", [(PLAIN, 3), (DEFLATED, 1), (hostile.calls_in_comments(), 1)], ids=["plain", "deflated", "calls"])
def test_through_a_slow_pipe(export_command, dump, tmp_path, data, step):
    """So that no record is ever whole at first."""
    lines = dump(data)[0]
    (tmp_path / "s.out").unlink()
    os.mkfifo(tmp_path / "s.out")

    def write():
        with open(tmp_path / "s.out", "wb", buffering=0) as pipe:
            for at in range(0, len(data), step):
                pipe.write(data[at:at + step])
    writer = threading.Thread(target=write)
    writer.start()
    assert read(export_command, tmp_path / "s.out")[0] == lines
    writer.join()


def test_offsets_are_those_of_the_tag_bytes_and_start_again_in_the_inflated_data(dump):
    assert dump(HEAD + b"-z" + zlib.compress(b"->" + numbers(1, 300) + b"-"))[1] == [0, 12, 13, 0, 1, 5]


@pytest.mark.parametrize("form", ["plain", "deflated"])
def test_cut_anywhere_the_records_before_are_delivered_and_the_cut_is_told(dump, form):
    """Between two records of a plain stream only the missing end of the process tells."""
    data, lines = FORMS[form]
    ends = [len(HEAD)]
    for record in [*HEADER, *RECORDS] if form == "plain" else HEADER:
        ends.append(ends[-1] + len(record))
    for size in range(8, len(data) - len(b"#\n# Compressed 1 bytes to 2\n") * (form == "deflated"), 3):
        found, _, status, said = dump(data[:size])
        assert found == lines[:len(found)] and (status == 0) == (size in ends[:len(HEADER) + 1]), size
        assert size in ends or re.match(r"byte \d+", said), (size, said)


def test_integers_of_all_lengths_also_longer_than_needed(dump):
    odd = [(b"\xff\0\0\0\5\xf3\1\2\3", "5", "50397699"), (b"\xc0\0\1\xe0\0\0\2", "1", "2")]
    edges = [0, 0x7f, 0x80, 0x3fff, 0x4000, 0x1fffff, 0x200000, 0xfffffff, 0x10000000, 0x7fffffff, 0x80000000, 0xffffffff]
    signed = struct.Struct("<i").unpack
    assert dump(HEAD + b"".join(b">" + data for data, *_ in odd) + b"".join(b"+" + numbers(n, n, n) for n in edges))[0][1:] == [
        *(f"SUB_ENTRY caller_fid={fid} caller_line={line}" for _, fid, line in odd),
        *(f"TIME_LINE ticks={signed(struct.pack('<I', n))[0]} fid={n} line={n}" for n in edges)]


def test_statements_in_runs_are_those_one_by_one(export_command, tmp_path):
    """Exporters read statements in runs. Numbers of all lengths in every combination, one file for long, and what ends a run."""
    sizes = [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, 0x1fffff, 0x200000, 0xfffffff, 0x10000000, 0x7fffffff]
    w, ticks_of, counts = Writer().pid_start(7), Counter(), Counter()
    places = [(ticks, fid, line) for fid in sizes[1:6] for line in sizes for ticks in sizes] + [(i % 3, 0x7f, i) for i in range(1000)]
    for fid in sizes[1:6]:
        w.fid(fid, f"/x/{fid}.pl")
    for n, (ticks, fid, line) in enumerate(places):
        if n % 3 == 2:
            w.discount()
        w.time(ticks, fid, line)
        ticks_of[f"/x/{fid}.pl", line] += ticks
        counts[f"/x/{fid}.pl", line] += n % 3 != 2
    w.raw(b"+\x80\1\x80\5\x80\7-" + b"+\1\5\7-+\xff\0\0\0\5\5\7-")      # longer than needed
    ticks_of["(unknown file 5)", 7], counts["(unknown file 5)", 7] = 7, 1
    path = w.pid_end(7).save(tmp_path / "runs.out")
    text, whole = (subprocess.run([export_command, "-q", "--unit=ticks", *how, path], check=True, capture_output=True, text=True).stdout
                   for how in (["--callgrind", "--plain-names"], ["--json"]))
    file, ticks_found, counts_found = "/x/1.pl", Counter(), Counter()
    for line in text.split("fn=main::RUNTIME\n")[-1].splitlines():
        file = line[3:] if line.startswith("fi=") else file
        if re.match(r"\d+ \d+ \d+$", line):
            number, ticks, count = map(int, line.split())
            ticks_found[file, number] += ticks
            counts_found[file, number] += count
    assert +ticks_found == +ticks_of and +counts_found == +counts
    assert json.loads(whole)["statements"] == sum(counts.values())


def test_strings_of_both_kinds_hold_any_byte(dump):
    values = [b"'\6a\0b\nc\xe9", b'"\2\xc3\xa9', b"'\0"]
    assert dump(HEAD + b"".join(b"S" + numbers(1, n) + value for n, value in enumerate(values)))[0][1:] == [
        r'SRC_LINE fid=1 line=0 text="a\u0000b\nc\u00e9"', 'SRC_LINE fid=1 line=1 text=u"é"', 'SRC_LINE fid=1 line=2 text=""']


def test_a_record_larger_than_the_window_is_whole(export_command, tmp_path):
    long = bytes(97 + i * 7 % 23 for i in range(3000000))
    records = b"S" + numbers(1, 1) + string(long[:262130]) + b"c" + numbers(1, 1) + string(long) + numbers(1 << 28) + F64(0) * 3 + \
        numbers(300) + b'"' + string(long)[1:] + b"-"
    found = read(export_command, tmp_path / "s.out", HEAD + b"z" + zlib.compress(records, 1))[0]
    assert found[2:] == [f'SRC_LINE fid=1 line=1 text="{long[:262130].decode()}"', "SUB_CALLERS fid=1 line=1 count=268435456 rec_depth=300 incl_s=0 "
                         f'excl_s=0 reci_s=0 caller="{long.decode()}" callee=u"{long.decode()}"', "DISCOUNT"]


@pytest.mark.parametrize("begin", [HEAD + b"#", HEAD + b":a=", HEAD + b":basetime=1\n#nytp-calls 1\n#\1\x11\x11'f", b"NYTProf 1 0\nS\1\n"])
def test_what_is_behind_a_long_line_is_read(dump, begin):
    for size in 65534, 65536, 262144, 3000000:
        line = begin + b"x" * size
        found, _, _, said = dump(line + b"\n-\n")              # the last byte is no record
        assert "DISCOUNT" in found[2:] and said.startswith(f"byte {len(line) + 2}: "), said
        assert "the input ends" in dump(line)[3]


def test_a_line_has_a_limit(dump):
    assert dump(HEAD + b"#" + b"x" * (1 << 26) + b"\n")[3].startswith("byte 12: COMMENT: 67108865 bytes, the limit of a record is 67108864;")
    assert dump(b"NYTProf 5 xx" + b"x" * 100000)[3] == "byte 0: header line without a version"


UNKNOWN = "this is not a profile in any known format (Devel::NYTProf's since July 2008, Devel::DProf's)"
CALLS = HEAD + b":basetime=1\nP\1\2" + F64(NOON) + b"#nytp-calls 1\n"
# bytes -> the message, the events before it if they matter
REFUSED = {
    b"NYTProf 6 0\n": "byte 0: format version 6.0 is not supported", b"NYTProf 0 9\n": "byte 0: format version 0.9 is not supported",
    b"NYTProf 4294967301 0\n": "byte 0: format version 429496730.0 is not supported",
    b"NYTProf 5\n": "byte 0: header line without a version", b"NYTProf\n": "byte 0: header line without a version",
    b"NYTProf 5 0": "byte 0: VERSION: the input ends inside the record", b" NYTProf 5 0\n": f"byte 0: {UNKNOWN}", b"<html>\n": f"byte 0: {UNKNOWN}",
    b'{"nytp_totals":1,': "byte 0: this is what --json wrote, not a recording", b"": "the input is empty",
    HEAD + b"--Q+++": "byte 14: unknown record tag 0x51", HEAD + b"'": "byte 12: unknown record tag 0x27", HEAD + b"\0": "byte 12: unknown record tag 0x00",
    HEAD + b"S\1\1Xabc": "byte 12: byte 0x58 where a string must begin",
    HEAD + b":nv_size=7\n": "byte 12: nv_size=7 is no size of a number",
    b"NYTProf 3 0\ns\1" + string("a") + numbers(0, 0, 0xfffffff0) + b"\1" * 200000: "byte 12: SUB_INFO with 4294967280 extra numbers",
    HEAD + b"z" + zlib.compress(b"-z-"): "byte 2 (inflated): deflated data inside deflated data",
    HEAD + b"z": "byte 0 (inflated): zlib stream ends early",
    **{CALLS + records: said for records, said in {
        b"#\2\x10\n+\1\1\1": "no such place of a call", b"#\5\x10\n": "a return, and no call is open", b"#\1\x11\x11'f\n#\x0b\x10\n": "no such place of a call",
        b"#\1\x11\x11'f\n#\2\x10\n-": "nothing tells when it was", b"#\6\x10\n": "its first byte is none that is known",
        b"#\7\x80\x0f\n": "a byte that is part of no number", b"#\7" + b"\x80" * 10 + b"\x10\n": "a byte that is part of no number",
        b"#\5\x10\x10\n": "no newline where it should end", b"#\1\x11\x11\n": "no place and name"}.items()},
}


@pytest.mark.parametrize("data", REFUSED, ids=lambda data: repr(data[:40]))
def test_what_is_no_stream_is_refused_with_its_place(export_command, tmp_path, data):
    (tmp_path / "s.out").write_bytes(data)
    done = subprocess.run([export_command, "--dump", tmp_path / "s.out"], capture_output=True, check=False)
    assert done.returncode in (1, 3) and REFUSED[data] in done.stderr.decode(), done.stderr


def test_the_events_before_an_error_are_delivered(dump):
    assert dump(HEAD + b"--Q+++")[0] == [VERSION, "DISCOUNT", "DISCOUNT"]
    assert dump(HEAD + b"z" + zlib.compress(b"-z-"))[0] == [VERSION, "START_DEFLATE", "DISCOUNT", "START_DEFLATE"]


@pytest.mark.parametrize("line", [b"NYTProf 5 0\n", b"NYTProf5   0\n", b"NYTProf 5 0 junk\n", b"NYTProf 5 0\r\n", b"NYTProf 5 17\n"])
def test_header_lines(dump, line):
    """A newer minor version is read on."""
    assert dump(line + b"-")[0] == [f"VERSION major=5 minor={17 if b'17' in line else 0}", "DISCOUNT"]


def test_malformed_attributes_are_no_error(dump):
    found, _, _, said = dump(HEAD + b":no equals sign\n!\n#\n:=v\n")
    assert found[1:] == ['ATTRIBUTE key="no equals sign" value=""', 'OPTION key="" value=""', r'COMMENT text="\n"', 'ATTRIBUTE key="" value="v"'] and not said


def test_comments_of_calls_in_a_copy_are_comments(dump):
    """Devel::NYTProf's merger copies comments, and gives files other ids; what it writes has the attribute `basetime` at its end."""
    found = dump(HEAD + b"#nytp-calls 1\n#\2\x10\n:basetime=1\n#nytp-calls 2\n#\4\n")[0]
    assert [line.split()[0] for line in found[1:]] == ["COMMENT", "COMMENT", "ATTRIBUTE", "COMMENT", "COMMENT"]


def call(code, *values, name=b""):
    """A comment that tells of a call ("Calls in comments" in the description)."""
    encoded = b""
    for value in values:
        value %= 2 ** 64
        while value >= 112:
            encoded += bytes([0x80 + (value - 112) % 128])
            value = (value - 112) // 128
        encoded += bytes([0x10 + value])
    return b"#" + bytes([code]) + encoded + name + b"\n"


ODD, PLAIN_SITE = call(1, 0, 0, name=rb"'a\n\\n\\"), call(1, 1, 2, name=b"'m::f")


def test_calls_that_were_open_waits_other_names_and_clocks_set_back(dump):
    open_call, no_statement, renamed, wait = call(9, 0), call(7, 500), call(11, 1), call(8, 41)
    comments = [ODD, PLAIN_SITE, open_call, no_statement, call(3, 0, 102), renamed, wait, call(4)]
    assert dump(CALLS + b"".join(comments) + b"+" + numbers(200, 7, 8) + call(5, -800))[0][4:] == [
        "SUB_ENTRY caller_fid=0 caller_line=0",
        'SUB_RETURN depth=2 incl_ticks=57 excl_ticks=57 name="m::f"',
        "TIME_LINE ticks=200 fid=7 line=8",
        r'SUB_RETURN depth=1 incl_ticks=-141 excl_ticks=-198 name="a\n\\n\\"',
    ]


def test_ticks_of_calls_in_numbers_of_all_lengths(dump):
    lengths = [(1 << bits) + more for bits in range(40) for more in (-20, 0, 20) if (1 << bits) + more > 0]
    found = dump(CALLS + ODD + b"".join(call(3, 0, 0, ticks) for ticks in lengths))[0]
    assert [float(line.split()[2].removeprefix("incl_ticks=")) for line in found if "SUB_RETURN" in line] == lengths


# ---- numbers of other perls ----

PAD = b"\xef\xbe\xad\xde\0\0"               # padding holds anything
NV = {
    "double": F64, "big-endian double": struct.Struct(">d").pack, "float": struct.Struct("<f").pack,
    "x87": lambda v: x87(v)[:10] + PAD, "x87 of 12 bytes": lambda v: x87(v)[:10] + PAD[:2],
    "quad": quad, "big-endian quad": lambda v: quad(v)[::-1], "pair of doubles": lambda v: struct.pack(">dd", v, v / 1e17),
}


@pytest.mark.parametrize("kind", NV)
def test_numbers(dump, kind):
    nv = NV[kind]
    data = HEAD + b":nv_size=%d\n" % len(nv(1)) + b"P\1\2" + nv(NOON) + b"<\1" + nv(5) + nv(-.25) + string("f") + b"<\1" + nv(0) + nv(1e30) + string("f")
    assert dump(data)[0][2:] == [
        f"PID_START pid=1 ppid=2 time_s={'1.7e+09' if kind == 'float' else NOON}", 'SUB_RETURN depth=1 incl_ticks=5 excl_ticks=-0.25 name="f"',
        f'SUB_RETURN depth=1 incl_ticks=0 excl_ticks={"1.0000000150474662e+30" if kind == "float" else "1e+30"} name="f"']


# ---- older versions: record -> what is read of it ----

def callers(n, *, caller="", reci=0, depth=0):
    incl, excl = (1, 2) if n > 2 else (0, 0)
    return f'SUB_CALLERS fid=1 line=3 count=2 rec_depth={depth} incl_s={incl} excl_s={excl} reci_s={reci} caller="{caller}" callee="main::a"'


def doubles(n):
    return b"".join(map(F64, range(1, n + 1)))


FILE = 'NEW_FID fid=1 eval_fid=0 eval_line=0 flags={} size={} mtime_s={} name="/x/a.pl"'
SUB = 'SUB_INFO fid=1 first_line=5 last_line=8 name="main::a"'
OLDER = {
    "1.0": {b":basetime=5\n": 'ATTRIBUTE key="basetime" value="5"', b"P" + numbers(10, 9): "PID_START pid=10 ppid=9 time_s=0",
            b"@" + numbers(1, 0, 0) + b"/x/a.pl\n": FILE.format(0, 0, 0), b"+" + numbers(7, 1, 3): "TIME_LINE ticks=7 fid=1 line=3",
            b"s" + numbers(1, 5, 8) + b"main::a\n": SUB, b"c" + numbers(1, 3, 2) + b"main::a\n": callers(0), b"p" + numbers(10): "PID_END pid=10 time_s=0"},
    "1.1": {b"@" + numbers(1, 0, 0, 2, 300, 400) + b"/x/a.pl\n": FILE.format(2, 300, 400)},
    "1.2": {b"c" + numbers(1, 3, 2) + doubles(4) + b"main::a\n": callers(4), b"-": "DISCOUNT"},
    "2.0": {b"P" + numbers(10, 9): "PID_START pid=10 ppid=9 time_s=0", b"@" + numbers(1, 0, 0, 2, 300, 400) + string("/x/a.pl"): FILE.format(2, 300, 400),
            b"c" + numbers(1, 3, 2) + doubles(4) + string("main::a"): callers(4), b"p" + numbers(10): "PID_END pid=10 time_s=0"},
    "2.1": {b"P" + numbers(10, 9) + F64(NOON): "PID_START pid=10 ppid=9 time_s=1700000000.25", b"s" + numbers(1, 5, 8) + string("main::a"): SUB,
            b"c" + numbers(1, 3, 2) + doubles(5) + numbers(6) + string("main::a"): callers(5, reci=5, depth=6),
            b"p" + numbers(10) + F64(NOON): "PID_END pid=10 time_s=1700000000.25"},
    # ticks are unsigned: one statement in pieces
    "3.0": {b"s" + numbers(1) + string("main::a") + numbers(5, 8, 3, 1000, 2000, 3000): SUB,
            b"c" + numbers(1, 3) + string("main::main") + numbers(2) + doubles(5) + numbers(6) + string("main::a"): callers(5, caller="main::main", reci=5, depth=6),
            b"+" + numbers(0x80000005, 1, 3): "TIME_LINE ticks=2147483647 fid=1 line=3|DISCOUNT|TIME_LINE ticks=6 fid=1 line=3",
            b"+" + numbers(0xffffffff, 1, 3): "TIME_LINE ticks=2147483647 fid=1 line=3|DISCOUNT|" * 2 + "TIME_LINE ticks=1 fid=1 line=3",
            b">" + numbers(1, 1): "SUB_ENTRY caller_fid=1 caller_line=1"},
}


@pytest.mark.parametrize("version", OLDER)
def test_older_versions(dump, version):
    major, minor = version.split(".")
    data = text(f"NYTProf {major} {minor}\n") + b"".join(OLDER[version])
    assert dump(data)[0] == [f"VERSION major={major} minor={minor}", *"|".join(OLDER[version].values()).split("|")]
