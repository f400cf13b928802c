# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Writes NYTProf streams by hand, for files that no recorder would make.

    stream = Writer()                              # header, attributes and options of a normal file
    stream.pid_start(7, 1).fid(1, "/x/a.pl").time(10, 1, 3).pid_end(7)
    data = stream.data(compress=True)

Every method appends one record and returns the writer. Strings may be str (written as UTF-8) or bytes.
"""

import struct
import zlib

ATTRIBUTES = {
    "basetime": 1700000000, "application": "hand.pl", "perl_version": "5.36.0", "nv_size": 8,
    "xs_version": "6.12", "PL_perldb": 3856, "clock_id": 1, "ticks_per_sec": 10000000,
}
OPTIONS = {
    "usecputime": 0, "subs": 1, "blocks": 0, "leave": 1, "expand": 0, "trace": 0,
    "use_db_sub": 0, "compress": 6, "clock": 1, "stmts": 1, "slowops": 2, "findcaller": 0,
    "forkdepth": -1, "perldb": 0, "nameevals": 1, "nameanonsubs": 1, "calls": 2, "evals": 0,
}
START = 1700000000.25


def u32(value):
    value &= 0xFFFFFFFF
    if value < 0x80:
        return bytes([value])
    if value < 0x4000:
        return struct.pack(">H", 0x8000 | value)
    if value < 0x200000:
        return (0xC00000 | value).to_bytes(3, "big")
    if value < 0x10000000:
        return struct.pack(">I", 0xE0000000 | value)
    return b"\xff" + struct.pack(">I", value)


def text(value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogateescape")


def x87(value):
    """A double as 10-byte extended, padded to 16: what a long double perl on x86_64 writes."""
    if not value:
        return bytes(16)
    bits = struct.unpack("<Q", struct.pack("<d", value))[0]
    exponent = (bits >> 52 & 0x7FF) - 1023 + 16383
    mantissa = 1 << 63 | (bits & (1 << 52) - 1) << 11
    return struct.pack("<QH", mantissa, exponent | (bits >> 63) << 15) + bytes(6)


def quad(value):
    """A double as IEEE quad, little endian: what a quadmath perl writes."""
    if not value:
        return bytes(16)
    bits = struct.unpack("<Q", struct.pack("<d", value))[0]
    exponent = (bits >> 52 & 0x7FF) - 1023 + 16383
    number = (bits >> 63) << 127 | exponent << 112 | (bits & (1 << 52) - 1) << 60
    return number.to_bytes(16, "little")


class Writer:
    def __init__(self, attributes=None, options=None, version="5 0", nv="<d", plain_head=True):
        """nv: '<d', '>d', 'x87' or 'quad'. plain_head=False leaves out attributes and options."""
        self.nv_kind = nv
        self.ticks_per_sec = int(dict(ATTRIBUTES, **(attributes or {}))["ticks_per_sec"])
        self._records = [b"NYTProf " + text(version) + b"\n"]
        if plain_head:
            for key, value in dict(ATTRIBUTES, **(attributes or {})).items():
                self.attribute(key, value)
            for key, value in dict(OPTIONS, **(options or {})).items():
                self.option(key, value)
        self._head_records = len(self._records)

    def nv(self, value):
        if self.nv_kind == "x87":
            return x87(value)
        if self.nv_kind == "quad":
            return quad(value)
        return struct.pack(self.nv_kind, value)

    def raw(self, data):
        self._records.append(data)
        return self

    def attribute(self, key, value):
        return self.raw(b":" + text(key) + b"=" + text(value) + b"\n")

    def option(self, key, value):
        return self.raw(b"!" + text(key) + b"=" + text(value) + b"\n")

    def comment(self, value):
        return self.raw(b"#" + text(value) + b"\n")

    def string(self, value, utf8=False):
        value = text(value)
        return (b'"' if utf8 else b"'") + u32(len(value)) + value

    def pid_start(self, pid, ppid=1, time=START):
        return self.raw(b"P" + u32(pid) + u32(ppid) + self.nv(time))

    def pid_end(self, pid, time=START + 1):
        return self.raw(b"p" + u32(pid) + self.nv(time))

    def fid(self, fid, name, eval_fid=0, eval_line=0, flags=0x32, utf8=False, size=0):
        return self.raw(b"@" + u32(fid) + u32(eval_fid) + u32(eval_line) + u32(flags) + u32(size)
                        + u32(0) + self.string(name, utf8))

    def time(self, ticks, fid, line):
        return self.raw(b"+" + u32(ticks) + u32(fid) + u32(line))

    def block(self, ticks, fid, line, block_line, sub_line):
        return self.raw(b"*" + u32(ticks) + u32(fid) + u32(line) + u32(block_line) + u32(sub_line))

    def discount(self):
        return self.raw(b"-")

    def entry(self, fid, line):
        return self.raw(b">" + u32(fid) + u32(line))

    def leave(self, depth, incl, excl, name, utf8=False):
        return self.raw(b"<" + u32(depth) + self.nv(incl) + self.nv(excl)
                        + self.string(name, utf8))

    def call(self, name, ticks, line, depth=1):
        """From line 9 a sub that takes so many ticks, in one statement."""
        return self.entry(1, 9).time(ticks, 1, line).leave(depth, ticks, ticks, name)

    def label(self, ticks, value):
        return self.comment(f"nytp-label {ticks} {value}")

    def memory(self, resident):
        return self.comment(f"nytp-memory {resident}")

    def alloc(self, number, size, line, blocks=1):
        """A sample of allocated memory, which free() may name."""
        return self.comment(f"nytp-alloc {number} {size} {blocks} 1 {line}")

    def free(self, number):
        return self.comment(f"nytp-free {number}")

    def source(self, fid, line, value):
        return self.raw(b"S" + u32(fid) + u32(line) + self.string(value))

    def sub(self, fid, name, first, last, utf8=False):
        return self.raw(b"s" + u32(fid) + self.string(name, utf8) + u32(first) + u32(last))

    def callers(self, fid, line, caller, callee, count, incl, excl, reci=0, depth=0, utf8=False):
        """Times in ticks; the file holds seconds."""
        per_second = self.ticks_per_sec
        return self.raw(b"c" + u32(fid) + u32(line) + self.string(caller, utf8) + u32(count)
                        + self.nv(incl / per_second) + self.nv(excl / per_second)
                        + self.nv(reci / per_second) + u32(depth) + self.string(callee, utf8))

    def data(self, compress=False, trailer=b""):
        head = b"".join(self._records[:self._head_records])
        body = b"".join(self._records[self._head_records:])
        if compress:
            body = b"z" + zlib.compress(body, 6) + trailer
        return head + body

    def save(self, path, **how):
        with open(path, "wb") as file:
            file.write(self.data(**how))
        return path
