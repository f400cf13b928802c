# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Streams that no recorder writes but that a reader must take: one function each, returning the
bytes of a whole file. STREAMS maps their names to the functions.

Unless said otherwise they are complete, their numbers agree with each other, and every viewer
must load what is exported from them.
"""

import gzip

from nytpwrite import START, Writer

FILE = "/hand/made.pl"


def call_tree(stream, names, ticks=10, fid=1, line=5):
    """One call of each name from line `line` of the main program, `ticks` each: entry, return, the
    statement in the sub (on the sub's own line), and the sums at the end."""
    for number, name in enumerate(names):
        sub_line = 100 + number * 10
        stream.entry(fid, line).time(3, fid, line)
        stream.leave(1, ticks, ticks, name).time(ticks, fid, sub_line).discount()
    stream.time(4, fid, line)
    for number, name in enumerate(names):
        sub_line = 100 + number * 10
        stream.sub(fid, name, sub_line, sub_line + 5)
        stream.callers(fid, line, "main::RUNTIME", name, 1, ticks, ticks)
    return stream


def simple(names, ticks=10, **how):
    stream = Writer(**how).pid_start(77).fid(1, FILE)
    call_tree(stream, names, ticks)
    return stream.attribute("cumulative_overhead_ticks", 1).pid_end(77)


NAMES = [
    b"main::nul\x00byte", b"main::new\nline", b"main::return\rcarriage", b"main::semi;colon",
    b"main::digits 12", b"main::digits 12 34", b"(1) main::paren", b"(1", b"main::quote\"d",
    b"main::back\\slash", b"main::apos'trophe", b"main::<i>&amp;", b"main::tab\tbed",
    b"main::\x01\x1b[31mred", b"main::caf\xe9", "main::café".encode() + b"2", b"main::\xff\xfe bad",
    b"main::\xed\xa0\x80 surrogate", "main::日本語".encode(), b"main::" + b"long" * 2500,
    b"fn=(2) main::key", b"calls=1 2", b"# comment", b" main::leading blank",
    b"main::trailing blank ", b"main::", b"main::100%", b"main::a:b", b"file.c", b"???",
    b"_ZN4evil3subEv", b"main::__ANON__[(eval 1)[/x.pl:3]:1]",
    b"main::__ANON__[(eval 2)[/x.pl:3]:1]", b"main::$scalar {template}", b"-", b"0",
]


def hostile_names():
    return simple(NAMES).data(compress=True)


def hostile_files():
    """The same subs in files whose names break line formats."""
    stream = Writer().pid_start(77)
    names = [FILE.encode(), b"/x/new\nline.pl", b"/x/nul\x00.pl", b"/x/semi;colon 12.pl",
             b"/x/caf\xe9.pl", "/x/日本.pl".encode(), b"(1) /x/paren.pl", b"relative.pl", b"-",
             b"/x/quote\".pl", b"/x/bad\xff.pl", b"/x/" + b"d/" * 3000 + b"deep.pl", b"", b"???"]
    for number, name in enumerate(names, 1):
        stream.fid(number, name)
    for number in range(1, len(names) + 1):
        stream.entry(1, 5).time(3, 1, 5)
        stream.leave(1, 10, 10, f"F{number}::sub").time(10, number, 2).discount()
    stream.time(4, 1, 5)
    for number in range(1, len(names) + 1):
        stream.sub(number, f"F{number}::sub", 1, 3)
        stream.callers(1, 5, "main::RUNTIME", f"F{number}::sub", 1, 10, 10)
        stream.source(number, 1, b"sub sub {\n").source(number, 2, b"    1;\x00\xff\n")
    return stream.attribute("cumulative_overhead_ticks", 1).pid_end(77).data()


def names_everywhere(texts):
    """Each text as sub, caller, file, eval, attribute, option, application and source line. Bytes; not
    one of STREAMS, as what is in the texts is for the caller to say."""
    stream = Writer(attributes={"application": texts[0]}).pid_start(77).fid(1, FILE)
    stream.option("hostile", texts[0])
    for number, text in enumerate(texts):
        stream.attribute(b"x" + str(number).encode(), text)
        stream.fid(2 + 2 * number, b"/x/" + text)
        stream.fid(3 + 2 * number, b"(eval " + text + b")[/x/a.pl:5]", eval_fid=1, eval_line=5)
    for number, text in enumerate(texts):
        for fid in (2 + 2 * number, 3 + 2 * number):
            stream.entry(1, 5).time(3, 1, 5)
            stream.leave(1, 10, 10, b"F%d::" % fid + text).time(10, fid, 2).discount()
    stream.time(4, 1, 5)
    for number, text in enumerate(texts):
        for fid in (2 + 2 * number, 3 + 2 * number):
            stream.sub(fid, b"F%d::" % fid + text, 1, 3)
            stream.callers(1, 5, b"main::" + text, b"F%d::" % fid + text, 1, 10, 10)
            stream.source(fid, 1, text + b"\n").source(fid, 2, b"  # " + text + b"\n")
        stream.sub(2 + 2 * number, b"X%d::CORE:" % number + text, 0, 0)
        stream.callers(1, 5, b"main::RUNTIME", b"X%d::CORE:" % number + text, 1, 1, 1)
    return stream.attribute("cumulative_overhead_ticks", 1).pid_end(77).data()


def long_double():
    return simple(["main::a", "main::b"], attributes={"nv_size": 16}, nv="x87").data()


def quad_double():
    return simple(["main::a", "main::b"], attributes={"nv_size": 16}, nv="quad").data()


def big_endian():
    return simple(["main::a", "main::b"], nv=">d").data(compress=True)


def negative_ticks():
    """A clock that stepped back inside a statement of the main program and inside a sub."""
    stream = Writer().pid_start(77).fid(1, FILE)
    stream.time(500, 1, 5).time(-30, 1, 6)
    stream.entry(1, 7).time(9, 1, 7).leave(1, -12, -12, "main::back").time(-12, 1, 20).discount()
    stream.time(6, 1, 7)
    stream.sub(1, "main::back", 19, 22)
    stream.callers(1, 7, "main::RUNTIME", "main::back", 1, -12, -12)
    return stream.attribute("cumulative_overhead_ticks", 1).pid_end(77).data()


def wrapped():
    """Statements of 300 s and 500 s, whose ticks do not fit 32 bits; the sub's own time does."""
    stream = Writer().pid_start(77).fid(1, FILE)
    stream.time(40, 1, 5)
    for ticks in (3000000000, 5000000000):
        stream.entry(1, 7).time(9, 1, 7)
        stream.leave(1, ticks, ticks, "main::wait").time(ticks, 1, 20).discount()
    stream.time(6, 1, 7)
    stream.sub(1, "main::wait", 19, 22)
    stream.callers(1, 7, "main::RUNTIME", "main::wait", 2, 8000000000, 8000000000)
    return stream.attribute("cumulative_overhead_ticks", 1).pid_end(77, START + 900).data()


def depth_gaps():
    """Only returns, as with calls=1, and two levels between a sub and its caller never returned."""
    stream = Writer(options={"calls": 1}).pid_start(77).fid(1, FILE).time(20, 1, 5)
    stream.leave(4, 10, 10, "main::leaf").time(10, 1, 100).discount()
    stream.leave(4, 15, 15, "main::leaf").time(15, 1, 100).discount()
    stream.leave(1, 60, 35, "main::top").time(35, 1, 110).discount().time(5, 1, 5)
    stream.sub(1, "main::leaf", 100, 101).sub(1, "main::top", 110, 111)
    stream.callers(1, 120, "main::lost", "main::leaf", 2, 25, 25)
    stream.callers(1, 5, "main::RUNTIME", "main::top", 1, 60, 35)
    return stream.attribute("cumulative_overhead_ticks", 1).pid_end(77).data()


def version_4():
    return simple(["main::a", "main::b"], version="4 0").data()


def no_options():
    """A file with nothing but the clock's rate ahead of its records."""
    stream = Writer(plain_head=False).attribute("ticks_per_sec", 10000000)
    stream.pid_start(5).fid(1, FILE)
    return call_tree(stream, ["main::a"]).pid_end(5).data()


def no_processes():
    """No process records at all: accepted, complete."""
    return call_tree(Writer().fid(1, FILE), ["main::a", "main::b"]).data()


def microseconds():
    return simple(["main::a", "main::b"], attributes={"ticks_per_sec": 1000000}).data()


def odd_ticks():
    """A clock whose tick is no whole number of nanoseconds."""
    return simple([f"main::s{i}" for i in range(9)], 7,
                  attributes={"ticks_per_sec": 3000000}).data()


def gzipped():
    return gzip.compress(simple(["main::a", "main::b"]).data(compress=True), mtime=0)


def trailer():
    return simple(["main::a"]).data(compress=True, trailer=b"#\n# Compressed 1 bytes to 2\nz\xff")


def utf8_strings():
    """Names under the string tag that claims UTF-8, once truly and once not."""
    stream = Writer().pid_start(77).fid(1, "/x/日本.pl", utf8=True)
    stream.entry(1, 5).time(3, 1, 5).leave(1, 10, 10, "main::été", utf8=True)
    stream.time(10, 1, 100).discount()
    stream.entry(1, 5).time(3, 1, 5).leave(1, 11, 11, b"main::b\xe9b\xe9", utf8=True)
    stream.time(11, 1, 110).discount().time(2, 1, 5)
    stream.sub(1, "main::été", 100, 101, utf8=True)
    stream.sub(1, b"main::b\xe9b\xe9", 110, 111, utf8=True)
    stream.callers(1, 5, "main::RUNTIME", "main::été", 1, 10, 10, utf8=True)
    stream.callers(1, 5, "main::RUNTIME", b"main::b\xe9b\xe9", 1, 11, 11, utf8=True)
    return stream.pid_end(77).data()


def joined_encodings():
    """Package and own name in different encodings in one string, while the sub's range comes
    under the name in UTF-8."""
    stream = Writer().pid_start(77).fid(1, FILE)
    glued = b"\xdcn\xef::" + "日本".encode()
    stream.entry(1, 5).time(3, 1, 5).leave(1, 10, 10, glued).time(10, 1, 100).discount()
    stream.time(2, 1, 5)
    stream.sub(1, "Ünï::日本", 100, 101)
    stream.callers(1, 5, "main::RUNTIME", glued, 1, 10, 10)
    return stream.pid_end(77).data()


def callers_on_one_line():
    """Two subs on one line that call the same third."""
    stream = Writer().pid_start(77).fid(1, FILE)
    for name, ticks in (("main::one", 30), ("main::two", 50)):
        stream.entry(1, 5).time(3, 1, 5)
        stream.entry(1, 10).time(4, 1, 10)
        stream.leave(2, ticks, ticks, "main::leaf").time(ticks, 1, 20).discount()
        stream.leave(1, ticks + 6, 6, name).time(2, 1, 10).discount()
    stream.time(4, 1, 5)
    stream.sub(1, "main::one", 10, 10).sub(1, "main::two", 10, 10).sub(1, "main::leaf", 20, 21)
    for name, ticks in (("main::one", 30), ("main::two", 50)):
        stream.callers(1, 5, "main::RUNTIME", name, 1, ticks + 6, 6)
        stream.callers(1, 10, name, "main::leaf", 1, ticks, ticks)
    return stream.pid_end(77).data()


def basenames():
    """Subs in files of one base name in two folders."""
    stream = Writer().pid_start(77).fid(1, "/a/Same.pm").fid(2, "/b/Same.pm")
    for fid, name in ((1, "A::run"), (2, "B::run")):
        stream.entry(1, 5).time(3, 1, 5)
        stream.leave(1, 10 * fid, 10 * fid, name).time(10 * fid, fid, 20).discount()
    stream.time(4, 1, 5)
    for fid, name in ((1, "A::run"), (2, "B::run")):
        stream.sub(fid, name, 19, 21)
        stream.callers(1, 5, "main::RUNTIME", name, 1, 10 * fid, 10 * fid)
    return stream.pid_end(77).data()


def big_values():
    """Line numbers and counts at the top of 32 bits, ticks near 2^53."""
    stream = Writer().pid_start(4000000000).fid(1, FILE)
    stream.time(3, 1, 4294967295)
    stream.entry(1, 4000000000).time(3, 1, 4000000000)
    stream.leave(1, 2.0 ** 52, 2.0 ** 52, "main::long").time(10, 1, 2147483648).discount()
    stream.time(1, 1, 5)
    stream.sub(1, "main::long", 2147483648, 2147483650)
    stream.callers(1, 4000000000, "main::RUNTIME", "main::long", 1, 2.0 ** 52, 2.0 ** 52)
    return stream.pid_end(4000000000).data()


def deep():
    """20,000 frames of one sub on top of each other, with call entries."""
    levels = 20000
    stream = Writer().pid_start(77).fid(1, FILE).time(7, 1, 5)
    for level in range(levels):
        stream.entry(1, 10 if level else 5).time(2, 1, 10 if level else 5)
    for level in range(levels, 0, -1):
        stream.leave(level, 3 * (levels - level + 1), 3, "main::down")
        stream.time(1, 1, 10).discount()
    stream.time(4, 1, 5)
    stream.sub(1, "main::down", 10, 12)
    stream.callers(1, 5, "main::RUNTIME", "main::down", 1, 3 * levels, 3)
    nested = levels - 1
    stream.callers(1, 10, "main::down", "main::down", nested, 0, 3 * nested,
                   3 * nested * (nested + 1) // 2, nested)
    return stream.pid_end(77).data(compress=True)


def line_shares(calls=2):
    """A sub that the statement profiler saw 100 ticks in, 30 on one line and 70 on another of
    which a print took 20; the sub profiler says 40 for the sub and 20 for the print."""
    stream = Writer(options={"calls": calls}).pid_start(77).fid(1, FILE)

    def entry(line):
        if calls == 2:
            stream.entry(1, line)
    entry(5)
    stream.time(3, 1, 5).time(30, 1, 11)
    entry(12)
    stream.leave(2, 20, 20, "main::CORE:print")
    stream.leave(1, 60, 40, "main::work").time(70, 1, 12).discount().time(4, 1, 5)
    stream.sub(1, "main::work", 10, 13).sub(1, "main::CORE:print", 0, 0)
    stream.callers(1, 5, "main::RUNTIME", "main::work", 1, 60, 40)
    stream.callers(1, 12, "main::work", "main::CORE:print", 1, 20, 20)
    stream.callers(0, 0, "", "main::CORE:print", 0, 0, 0)
    return stream.pid_end(77).data()


def line_shares_calls1():
    return line_shares(calls=1)


def calls_in_comments():
    """Entries and returns as this tree's recorder tells them: where a statement ends and elsewhere,
    in one comment and in two, of a sub that turns out to be another. The places of calls are counted
    anew in each process."""
    def call(code, *numbers, name=b""):
        stream.comment(bytes([code]) + b"".join(bytes([0x10 + number]) for number in numbers) + name)
    stream = Writer().pid_start(77).comment("nytp-calls 1").fid(1, FILE)
    for line, name in ((5, b"main::work"), (12, b"main::CORE:print"), (12, b"main::AUTOLOAD"),
                       (5, b"main::CORE:print")):
        call(1, 1, line, name=b"'" + name)
    call(7, 100)
    call(2, 0)
    stream.time(3, 1, 5).time(30, 1, 11)
    call(3, 2, 5)
    call(11, 1)
    call(5, 20)
    call(4)
    stream.time(70, 1, 12).discount()
    call(3, 3, 1, 2)
    call(2, 0)
    call(6, 3)
    call(5, 4)
    stream.time(14, 1, 5)
    stream.sub(1, "main::work", 10, 13).sub(1, "main::CORE:print", 0, 0)
    stream.callers(1, 5, "main::RUNTIME", "main::work", 2, 104, 84)
    stream.callers(1, 12, "main::work", "main::CORE:print", 1, 20, 20)
    stream.callers(1, 5, "main::RUNTIME", "main::CORE:print", 1, 2, 2)
    stream.callers(0, 0, "", "main::CORE:print", 0, 0, 0)
    stream.pid_end(77).pid_start(78, 77).comment("nytp-calls 1")
    call(1, 1, 6, name=b"'main::child")
    call(2, 0)
    stream.time(5, 1, 6).time(9, 1, 12)
    call(5, 1)
    stream.time(2, 1, 6).sub(1, "main::child", 12, 12)
    stream.callers(1, 6, "main::RUNTIME", "main::child", 1, 10, 10)
    return stream.pid_end(78).data()


STREAMS = {
    "made-" + function.__name__.replace("_", "-"): function
    for function in (
        hostile_names, hostile_files, long_double, quad_double, big_endian, negative_ticks,
        wrapped, depth_gaps, version_4, no_options, no_processes, microseconds, odd_ticks,
        gzipped, trailer, utf8_strings, joined_encodings, callers_on_one_line, basenames,
        big_values, deep, line_shares, line_shares_calls1, calls_in_comments,
    )
}
