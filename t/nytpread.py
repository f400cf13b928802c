# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""A small reader of NYTProf streams for the tests, written from the format's description only.

It shares no code with the C reader, so that the two can be compared. It is simple on purpose:
the whole stream is inflated into memory and decoded record by record.

    reader = Reader(path)
    for record in reader:          # tuples, the tag character first, fields in file order
        ...
    reader.damage                  # None, or (offset in the inflated stream, what was wrong)

Ticks of '+' and '*' are signed. Names are bytes; decode_name() gives the text to show. Calls that
are told in comments come as '>' and '<', unless calls_in_comments=False.
"""

import gzip
import struct
import zlib

RECORD_NAMES = {
    ":": "attribute", "!": "option", "#": "comment", "z": "start-deflate", "P": "pid-start",
    "p": "pid-end", "@": "new-fid", "+": "time-line", "*": "time-block", "-": "discount",
    ">": "sub-entry", "<": "sub-return", "S": "src-line", "s": "sub-info", "c": "sub-callers",
}

# The fields of records: integers, without or with a sign; numbers; times of day that tell the byte
# order; strings; lines of text.
LAYOUT = {
    ":": "l", "!": "l", "#": "l", "z": "", "P": "uut", "p": "un", "@": "uuuuuus", "+": "iuu", "*": "iuuuu",
    "-": "", ">": "uu", "<": "unns", "S": "uus", "s": "usuu", "c": "uusunnnus",
}


class Damage(Exception):
    """The stream ends early or holds something that is no record."""

    def __init__(self, offset, reason):
        super().__init__(f"byte {offset}: {reason}")
        self.offset = offset
        self.reason = reason


def decode_part(raw):
    """UTF-8 where it is valid, Latin-1 otherwise."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def decode_name(raw):
    """The text of a sub name. Recorders encode the package and the sub's own name apart from
    each other, so that one string can hold both encodings."""
    return "::".join(decode_part(part) for part in raw.split(b"::"))


def inflate(data):
    """What a zlib stream holds as far as it can be read, and the damage or None."""
    engine = zlib.decompressobj()
    chunks = []
    step = 1 << 20
    for start in range(0, len(data), step):
        try:
            chunks.append(engine.decompress(data[start:start + step]))
        except zlib.error:
            # Feed the bad block byte by byte: everything before the bad byte is kept.
            # (A bad checksum at the end is found here too.)
            engine = zlib.decompressobj()
            out = bytearray()
            for byte in range(0, len(data)):
                try:
                    out += engine.decompress(data[byte:byte + 1])
                except zlib.error as error:
                    return bytes(out), f"inflate: {error}"
            return bytes(out), "inflate: failed"
        if engine.eof:
            return b"".join(chunks), None
    chunks.append(engine.flush())
    return b"".join(chunks), None if engine.eof else "inflate: stream ends early"


class CommentedCalls:
    """The calls of a process that its comments tell ("Calls in comments" in the description)."""

    def __init__(self):
        self.axis = 0       # where the last statement's record ended
        self.point = 0      # of the last record that told ticks
        self.sites = []     # (fid, line, name)
        self.open = []      # [site, entered, ticks of the calls it made]
        self.waiting = None     # an entry's frame, or a return, whose point comes next

    @staticmethod
    def number(text, at):
        value, weight = 0, 1
        while text[at] >= 0x80:
            value += (text[at] - 0x80 + 112) * weight
            weight *= 128
            at += 1
        if text[at] < 0x10:
            raise ValueError(f"{text[at]:#04x} in a number")
        value = (value + (text[at] - 0x10) * weight) % 2 ** 64
        return value - 2 ** 64 if value >= 2 ** 63 else value, at + 1

    def numbers(self, text):
        at, found = 0, []
        while at < len(text):
            value, at = self.number(text, at)
            found.append(value)
        return found

    def later(self, ticks):
        self.point = max(self.axis, self.point) + ticks
        return self.point

    def leave(self, point):
        site, entered, of_callees = self.open.pop()
        incl = point - entered
        if self.open:
            self.open[-1][2] += incl
        return "<", len(self.open) + 1, float(incl), float(incl - of_callees), self.sites[site][2]

    def enter(self, site, point):
        self.open.append([site, point, 0])
        return ">", *self.sites[site][:2]

    def resolve(self, point):
        """The records that waited for their point."""
        code, numbers = self.waiting
        self.waiting = None
        yield self.enter(numbers[0], point) if code == 2 else self.leave(point)

    def statement(self, ticks):
        if self.waiting:
            yield from self.resolve(self.axis + ticks)
        self.axis += ticks

    def comment(self, text):
        code = text[0]
        if code == 1:
            fid, at = self.number(text, 1)
            line, at = self.number(text, at)
            name = text[at + 1:].replace(b"\\\\", b"\0\\").replace(b"\\n", b"\n")
            self.sites.append((fid, line, name.replace(b"\0\n", b"\\n").replace(b"\0\\", b"\\")))
            return
        numbers = self.numbers(text[1:])
        if code in (2, 4):
            self.waiting = code, numbers
        elif code == 3:
            yield self.enter(numbers[0], self.later(numbers[1]))
            if len(numbers) == 3:
                yield self.leave(self.later(numbers[2]))
        elif code == 5:
            yield self.leave(self.later(numbers[0]))
        elif code == 6:
            yield from self.resolve(self.later(numbers[0]))
        elif code == 7:
            self.axis += numbers[0]
        elif code == 8:
            for frame in self.open:
                frame[1] += numbers[0]
        elif code == 9:
            self.enter(numbers[0], max(self.axis, self.point))
        elif code == 11:
            self.open[-1][0] = numbers[0]
        else:
            raise ValueError(f"a call of kind {code}")


class Reader:
    def __init__(self, source, calls_in_comments=True):
        if isinstance(source, (bytes, bytearray)):
            data = bytes(source)
        else:
            with open(source, "rb") as file:
                data = file.read()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        self.damage = None
        self.deflated = False
        self.version = None
        self.big_endian = False
        self.nv_size = 8
        self.calls_in_comments = calls_in_comments
        self._data = data

    def __iter__(self):
        try:
            yield from self._with_calls(self._records())
        except Damage as damage:
            self.damage = (damage.offset, damage.reason)

    def _with_calls(self, records):
        calls = None
        is_recorded = False
        for record in records:
            if record[0] == "P":
                calls = None
            elif record[0] == ":" and record[1] == b"basetime":
                is_recorded = True
            elif record[0] == "#" and calls and record[1][:1] and record[1][0] < 12:
                yield from calls.comment(record[1])
                continue
            elif record == ("#", b"nytp-calls 1") and is_recorded and self.calls_in_comments:
                calls = CommentedCalls()
            elif calls and record[0] in "+*":
                yield from calls.statement(record[1])
            yield record

    def _header(self):
        end = self._data.find(b"\n")
        if end < 0 or not self._data.startswith(b"NYTProf"):
            raise Damage(0, "no header")
        numbers = self._data[len(b"NYTProf"):end].split()
        self.version = (int(numbers[0]), int(numbers[1]))
        return end + 1

    def _nv(self, raw):
        order = ">" if self.big_endian else "<"
        if self.nv_size == 8:
            return struct.unpack(order + "d", raw)[0]
        return long_double(raw if not self.big_endian else raw[::-1])

    def _records(self):
        pos = self._header()
        if self.version[0] not in (4, 5):
            raise Damage(0, f"version {self.version[0]} is not read by this reader")
        data = self._data
        size = len(data)
        broken = None

        def u32(pos):
            if pos >= size:
                raise Damage(pos, "ends inside an integer")
            first = data[pos]
            if first < 0x80:
                return first, pos + 1
            if first < 0xC0:
                extra, value = 1, first & 0x3F
            elif first < 0xE0:
                extra, value = 2, first & 0x1F
            elif first < 0xFF:
                extra, value = 3, first & 0x0F
            else:
                extra, value = 4, 0
            if pos + 1 + extra > size:
                raise Damage(pos, "ends inside an integer")
            value = value << (8 * extra) | int.from_bytes(data[pos + 1:pos + 1 + extra], "big")
            return value, pos + 1 + extra

        def i32(pos):
            value, pos = u32(pos)
            return value - 0x100000000 if value & 0x80000000 else value, pos

        def nv(pos):
            end = pos + self.nv_size
            if end > size:
                raise Damage(pos, "ends inside a number")
            return self._nv(data[pos:end]), end

        def time_of_day(pos):
            self._guess_byte_order(data[pos:pos + self.nv_size])
            return nv(pos)

        def string(pos):
            if pos >= size:
                raise Damage(pos, "ends before a string")
            if data[pos] not in b"'\"":
                raise Damage(pos, f"string expected, found {data[pos]:#04x}")
            length, pos = u32(pos + 1)
            if pos + length > size:
                raise Damage(pos, "ends inside a string")
            return data[pos:pos + length], pos + length

        def text(pos):
            end = data.find(b"\n", pos)
            if end < 0:
                raise Damage(pos, "ends inside a text line")
            return data[pos:end], end + 1

        kinds = {"u": u32, "i": i32, "n": nv, "t": time_of_day, "s": string, "l": text}
        while pos < size:
            start = pos
            tag = chr(data[pos])
            pos += 1
            try:
                if tag not in LAYOUT:
                    raise Damage(start, f"unknown tag {data[start]:#04x}")
                fields = []
                for kind in LAYOUT[tag]:
                    value, pos = kinds[kind](pos)
                    fields.append(value)
                if tag in ":!":
                    key, equals, value = fields[0].partition(b"=")
                    if not equals:
                        continue
                    if tag == ":" and key == b"nv_size":
                        self.nv_size = int(value)
                    fields = [key, value]
                if tag == "z" and self.deflated:
                    raise Damage(start, "a second start of deflate")
                yield (tag, *fields)
                if tag == "z":
                    self.deflated = True
                    data, broken = inflate(data[pos:])
                    pos, size = 0, len(data)
            except Damage as damage:
                if broken:
                    raise Damage(damage.offset, broken) from None
                raise
        if broken:
            raise Damage(size, broken)

    def _guess_byte_order(self, raw):
        """The header says nothing of the byte order; the time of day in the first process record
        does: it lies between 1980 and 2200 in one of the two."""
        if len(raw) < self.nv_size:
            return
        if not 3e8 < self._nv(raw) < 7.3e9:
            self.big_endian = not self.big_endian
            if not 3e8 < self._nv(raw) < 7.3e9:
                self.big_endian = not self.big_endian


def long_double(raw):
    """A little-endian 16-byte NV: x87 extended with padding, or IEEE quad. The x87 form always has
    its integer bit set and zero padding in the files seen."""
    if not any(raw[10:16]) and (raw[7] & 0x80 or not any(raw[:10])):
        mantissa = int.from_bytes(raw[:8], "little")
        sign_exponent = int.from_bytes(raw[8:10], "little")
        if not mantissa:
            return 0.0
        value = mantissa * 2.0 ** ((sign_exponent & 0x7FFF) - 16383 - 63)
        return -value if sign_exponent & 0x8000 else value
    number = int.from_bytes(raw, "little")
    exponent = number >> 112 & 0x7FFF
    if not exponent:
        return 0.0
    mantissa = number & (1 << 112) - 1 | 1 << 112
    value = (mantissa >> 60) * 2.0 ** (exponent - 16383 - 52)
    return -value if number >> 127 else value


def read_all(source):
    """All records of a file as a list, and the damage or None."""
    reader = Reader(source)
    return list(reader), reader.damage
