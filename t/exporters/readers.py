# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Independent readers of the files that nytp-export writes. Each turns bytes into an Export with
the same meaning, so that one test can hold any of them against the totals.

They are strict: what a viewer tolerates but a format does not say raises Malformed.
"""

import collections
import gzip
import json
import re


class Malformed(Exception):
    pass


class Export:
    """Numbers by sub name, in the file's own unit; none where the format cannot say."""

    def __init__(self):
        self.unit = None
        self.total = 0
        self.self = collections.Counter()
        self.inclusive = collections.Counter()
        self.calls = collections.Counter()
        self.statements = collections.Counter()
        self.line_self = collections.Counter()           # (file, line) -> time
        self.line_statements = collections.Counter()     # (file, line) -> count
        self.sub_lines = collections.Counter()           # (sub, file, line) -> time
        self.arcs = collections.defaultdict(lambda: [0, 0])     # (caller, callee, file, line) -> [calls, time]


# callgrind

NAME_KEY = re.compile(r"(c?(?:fn|fl|fi|fe|ob)|cfi|cfl)=(.*)\Z", re.S)
COMPRESSED = re.compile(r"\((\d+)\)(?: (.*))?\Z", re.S)


class CallgrindReader:
    """The grammar of callgrind.out, by KCachegrind's rules where it leaves a choice."""

    def __init__(self, data):
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Malformed(f"not UTF-8: {error}") from None
        for character in text:
            if character < " " and character != "\n":
                raise Malformed(f"control character {character!r}")
        if not text.startswith("# callgrind format\n"):
            raise Malformed("no signature")
        self.header = collections.defaultdict(list)
        self.parts = 0
        self.summaries = []
        self.totals = []
        self.functions = set()                   # (name, file)
        self.costs = collections.defaultdict(lambda: [0] * len(self.events))
        self.edges = collections.defaultdict(lambda: [0, []])
        self.events = []
        self._new_part()
        for number, line in enumerate(text.split("\n")[:-1], 1):
            try:
                self._line(line)
            except Malformed as error:
                raise Malformed(f"line {number}: {error}: {line[:80]!r}") from None
        if not text.endswith("\n"):
            raise Malformed("no newline at the end")

    def _new_part(self):
        self.tables = {"fn": {}, "fl": {}, "ob": {}}
        self.file = self.function = self.function_file = None
        self.callee = self.callee_file = None
        self.pending_calls = None
        self.position = 0
        self.part_has_data = False

    def _name(self, key, value):
        kind = "fn" if key.endswith("fn") else "ob" if key.endswith("ob") else "fl"
        match = COMPRESSED.match(value)
        if not match:
            return value
        table = self.tables[kind]
        number, name = int(match[1]), match[2]
        if name is None:
            if number not in table:
                raise Malformed(f"undefined name ({number})")
            return table[number]
        if number in table:
            raise Malformed(f"name ({number}) defined twice")
        table[number] = name
        return name

    def _line(self, line):
        if not line or line.startswith("#"):
            return
        if line[0] in "+-*0123456789":
            self._cost_line(line)
            return
        match = NAME_KEY.match(line)
        if match:
            self._name_line(match[1], self._name(*match.groups()))
        elif line.startswith("calls="):
            numbers = line[6:].split(" ")
            if self.callee is None or self.callee_file is None:
                raise Malformed("calls= without cfn= or without the callee's file")
            self.pending_calls = int(numbers[0])
            if self.pending_calls < 1:
                raise Malformed("calls= of nothing")
        else:
            self._header_line(line)

    def _header_line(self, line):
        key, colon, value = line.partition(":")
        if not colon or key not in ("version", "creator", "cmd", "pid", "thread", "part", "desc",
                                    "positions", "event", "events", "summary", "totals"):
            raise Malformed("unknown line")
        if value and not value.startswith(" "):
            raise Malformed("no blank after the key")
        value = value[1:]
        self.header[key].append(value)
        if key in ("part", "pid", "events") and self.part_has_data:
            self._new_part()
        if key == "events":
            events = value.split()
            if self.events and events != self.events:
                raise Malformed("parts differ in their events")
            self.events = events
            self.parts += 1
        elif key == "summary":
            self.summaries.append([int(number) for number in value.split()])
        elif key == "totals":
            self.totals.append([int(number) for number in value.split()])

    def _name_line(self, key, name):
        if not self.events:
            raise Malformed("names before events:")
        self.part_has_data = True
        if key == "fl":
            self.file = self.function_file = name
            self.function = None
        elif key in ("fi", "fe"):
            self.file = name
        elif key == "fn":
            self.function = name
            if self.file is None:
                raise Malformed("fn= before fl=")
            self.function_file = self.file
            self.functions.add((name, self.file))
        elif key in ("cfi", "cfl"):
            self.callee_file = name
        elif key == "cfn":
            self.callee = name

    def _cost_line(self, line):
        fields = line.split(" ")
        if self.function is None:
            raise Malformed("cost before fn=")
        where = fields[0]
        if where[0] == "*":
            pass
        elif where[0] in "+-":
            self.position += int(where)
        else:
            self.position = int(where)
        if self.position < 0:
            raise Malformed("negative line number")
        costs = [int(field) for field in fields[1:]]
        if len(costs) != len(self.events) or min(costs) < 0:
            raise Malformed("costs do not match events:")
        if self.pending_calls is None:
            cell = self.costs[self.function, self.function_file, self.file, self.position]
        else:
            edge = self.edges[self.function, self.function_file, self.callee, self.callee_file,
                              self.file, self.position]
            edge[0] += self.pending_calls
            cell = edge[1] = edge[1] or [0] * len(self.events)
            self.pending_calls = self.callee = self.callee_file = None
        for column, cost in enumerate(costs):
            cell[column] += cost


def read_callgrind(data):
    reader = CallgrindReader(data)
    export = Export()
    export.reader = reader
    export.unit = "ns"
    statements = 1 if len(reader.events) > 1 else None
    for (name, _, file, line), costs in reader.costs.items():
        export.self[name] += costs[0]
        file = "" if file == "???" else file
        export.line_self[file, line] += costs[0]
        export.sub_lines[name, file, line] += costs[0]
        if statements:
            export.statements[name] += costs[statements]
            export.line_statements[file, line] += costs[statements]
    called = set()
    outgoing = collections.Counter()
    for (caller, caller_file, callee, callee_file, file, line), (calls, costs) \
            in reader.edges.items():
        export.calls[callee] += calls
        arc = export.arcs[caller, callee, file, line]
        arc[0] += calls
        arc[1] += costs[0]
        outgoing[caller] += costs[0]
        if (caller, caller_file) != (callee, callee_file):
            export.inclusive[callee] += costs[0]
            called.add(callee)
        reader.functions.add((callee, callee_file))
    for name in {name for name, _ in reader.functions} - called:
        export.inclusive[name] = export.self[name] + outgoing[name]
    export.total = sum(export.self.values())
    return export


# pprof

def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data):
            raise Malformed("ends inside a varint")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise Malformed("varint of more than 64 bits")


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def message(data):
    """field number -> list of values: int for varints, bytes for what has a length."""
    fields = collections.defaultdict(list)
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            if at + size > len(data):
                raise Malformed("ends inside a field")
            value, at = data[at:at + size], at + size
        else:
            raise Malformed(f"wire type {key & 7}")
        fields[key >> 3].append(value)
    return fields


def numbers(values):
    """A repeated integer field, packed or not."""
    out = []
    for value in values:
        if isinstance(value, int):
            out.append(value)
            continue
        at = 0
        while at < len(value):
            number, at = varint(value, at)
            out.append(number)
    return out


def one(fields, number, default=0):
    return fields[number][-1] if number in fields else default


class PprofReader:
    def __init__(self, data):
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        fields = message(data)
        self.strings = []
        for raw in fields[6]:
            try:
                self.strings.append(raw.decode("utf-8"))
            except UnicodeDecodeError as error:
                raise Malformed(f"string is not UTF-8: {error}") from None
        if not self.strings or self.strings[0]:
            raise Malformed("string 0 is not empty")
        if len(set(self.strings)) != len(self.strings):
            raise Malformed("a string is there twice")
        self.types = [tuple(self._string(one(message(raw), n)) for n in (1, 2))
                      for raw in fields[1]]
        self.functions = {}
        for raw in fields[5]:
            sub = message(raw)
            if one(sub, 1) == 0 or one(sub, 1) in self.functions:
                raise Malformed("function id 0 or twice")
            self.functions[one(sub, 1)] = (self._string(one(sub, 2)), self._string(one(sub, 4)),
                                           one(sub, 5), self._string(one(sub, 3)))
        self.mappings = {one(message(raw), 1): message(raw) for raw in fields[3]}
        self.locations = {}
        for raw in fields[4]:
            sub = message(raw)
            lines = [(one(message(line), 1), signed(one(message(line), 2))) for line in sub[4]]
            if one(sub, 1) == 0 or one(sub, 1) in self.locations or not lines:
                raise Malformed("location id 0 or twice, or no line")
            if one(sub, 2) not in self.mappings:
                raise Malformed("location without mapping")
            self.locations[one(sub, 1)] = [(self.functions[function], line)
                                           for function, line in lines]
        self.samples = []
        for raw in fields[2]:
            sub = message(raw)
            values = [signed(value) for value in numbers(sub[2])]
            if len(values) != len(self.types):
                raise Malformed("values do not match the sample types")
            stack = [frame for location in numbers(sub[1]) for frame in self.locations[location]]
            labels = {self._string(one(message(label), 1)):
                      self._string(one(message(label), 2)) or signed(one(message(label), 3))
                      for label in sub[3]}
            self.samples.append((stack, values, labels))

    def _string(self, index):
        if index >= len(self.strings):
            raise Malformed("string index out of range")
        return self.strings[index]


def read_pprof(data):
    reader = PprofReader(data)
    export = Export()
    export.reader = reader
    columns = {name: column for column, (name, _) in enumerate(reader.types)}
    time = columns.get("wall", columns.get("time", len(reader.types) - 1))
    export.unit = {"nanoseconds": "ns"}.get(reader.types[time][1], reader.types[time][1])
    for stack, values, _ in reader.samples:
        (name, file, _, _), line = stack[0]
        export.self[name] += values[time]
        export.total += values[time]
        export.line_self[file, line] += values[time]
        export.sub_lines[name, file, line] += values[time]
        if "calls" in columns:
            export.calls[name] += values[columns["calls"]]
        if "statements" in columns:
            export.statements[name] += values[columns["statements"]]
            export.line_statements[file, line] += values[columns["statements"]]
        for name in {function[0] for function, _ in stack}:
            export.inclusive[name] += values[time]
    return export


# collapsed stacks

def read_collapsed(data):
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed(f"not UTF-8: {error}") from None
    if text and not text.endswith("\n"):
        raise Malformed("no newline at the end")
    export = Export()
    seen = set()
    previous = b""
    for line in text.split("\n")[:-1]:
        stack, blank, weight = line.rpartition(" ")
        if not blank or not re.fullmatch(r"\d+", weight) or int(weight) == 0:
            raise Malformed(f"no positive whole number at the end: {line[:80]!r}")
        if re.search(r" [\d.]+\Z", stack):
            raise Malformed(f"two numbers at the end: {line[-80:]!r}")
        if any(character < " " or character == "\x7f" for character in line):
            raise Malformed(f"control character: {line[:80]!r}")
        if stack in seen:
            raise Malformed(f"a stack is there twice: {stack[:80]!r}")
        if line.encode() < previous:
            raise Malformed("lines are not sorted")
        previous = line.encode()
        seen.add(stack)
        frames = stack.split(";")
        if not all(frames) or stack.startswith("#"):
            raise Malformed(f"an empty frame, or a comment: {line[:80]!r}")
        export.self[frames[-1]] += int(weight)
        export.total += int(weight)
        for name in set(frames):
            export.inclusive[name] += int(weight)
    export.stacks = seen
    return export


# speedscope

def read_speedscope(data, ours=True):
    """With `ours` false, of a file that speedscope wrote: it repeats frames per profile.
    Of a file with a timeline and the aggregated form both are read and compared elsewhere;
    the numbers are those of all profiles of the first kind that is there."""
    document = json.loads(data.decode("utf-8"), parse_constant=lambda text: 1 / 0)
    if document.get("$schema") != "https://www.speedscope.app/file-format-schema.json":
        raise Malformed("no $schema")
    frames = document["shared"]["frames"]
    if ours and len({json.dumps(frame, sort_keys=True) for frame in frames}) != len(frames):
        raise Malformed("a frame is there twice")
    kinds = {}
    for profile in document["profiles"]:
        export = kinds.setdefault(profile["type"], Export())
        export.unit = {"nanoseconds": "ns", "microseconds": "us"}.get(profile["unit"],
                                                                      profile["unit"])
        export.document = document
        export.frames = frames
        {"evented": add_evented, "sampled": add_sampled}[profile["type"]](export, profile, frames)
    if not kinds:
        raise Malformed("no profiles")
    export = kinds.get("evented") or kinds["sampled"]
    export.kinds = kinds
    return export


def add_evented(export, profile, frames):
    stack = []
    at = profile["startValue"]
    on_stack = collections.Counter()
    entered = {}
    for event in profile["events"]:
        if event["at"] < at:
            raise Malformed("time runs backwards")
        passed = event["at"] - at
        at = event["at"]
        if stack:
            export.self[frames[stack[-1]]["name"]] += passed
            export.total += passed
        name = frames[event["frame"]]["name"]
        if event["type"] == "O":
            stack.append(event["frame"])
            export.calls[name] += 1
            if not on_stack[name]:
                entered[name] = at
            on_stack[name] += 1
        elif event["type"] == "C":
            if not stack or stack.pop() != event["frame"]:
                raise Malformed("a frame closes that is not the open one")
            on_stack[name] -= 1
            if not on_stack[name]:
                export.inclusive[name] += at - entered.pop(name)
        else:
            raise Malformed(f"event of type {event['type']}")
    if stack:
        raise Malformed("frames left open")
    if profile["endValue"] < at:
        raise Malformed("ends before its last event")


def add_sampled(export, profile, frames):
    samples, weights = profile["samples"], profile["weights"]
    if len(samples) != len(weights) or any(weight < 0 for weight in weights):
        raise Malformed("samples and weights do not match")
    for stack, weight in zip(samples, weights):
        names = [frames[frame]["name"] for frame in stack]
        export.self[names[-1]] += weight
        export.total += weight
        for name in set(names):
            export.inclusive[name] += weight
    if profile["endValue"] - profile["startValue"] < sum(weights):
        raise Malformed("ends before its weights do")


READERS = {
    "callgrind": read_callgrind, "pprof": read_pprof, "collapsed": read_collapsed,
    "speedscope": read_speedscope,
}
