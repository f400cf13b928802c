# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""What every export of a profile must show, worked out anew from the raw stream.

    totals = Totals(path)
    totals.subs["Pkg::name"]            -> Sub: calls, self, inclusive (ticks), ...
    totals.lines["/x/a.pl", 7]          -> Line: ticks, count: as the statement profiler saw it
    totals.total                        -> ticks of the whole program

The rules (those of the documentation, written here a second time on purpose):

* A sub's calls, exclusive and inclusive ticks are the sub profiler's: the sums of its SUB_CALLERS
  records; where those are missing, or count other calls than were seen returning, of its
  SUB_RETURN records. Inclusive means outermost calls only.
* The caller main::NULL is the root, main::RUNTIME.
* A statement record belongs to the frame that was current when the statement began, which is
  right after the record before it. With call entries in the stream frames are replayed; without,
  the innermost sub around the line owns it, and code at the file scope of a required file or an
  eval belongs to whoever ran that file.
* The root, and a perl sub that the sub profiler knows nothing of because it never returned or
  because subs=0, have as self time their statements' ticks, less what xsubs and opcodes called
  from the same line took, since those run inside the statement; never below zero.
"""

import collections
import sys

from nytpread import Reader, decode_name

ROOT = "main::RUNTIME"
UNKNOWN = "[unreturned]"


class Sub:
    def __init__(self):
        self.calls = 0
        self.self = 0
        self.inclusive = 0
        self.statements = 0
        self.is_builtin = False    # xsub or opcode
        self.from_statements = False


class Line:
    __slots__ = ("ticks", "count")

    def __init__(self):
        self.ticks = 0
        self.count = 0


class Frame:
    __slots__ = ("lines", "site")

    def __init__(self, site):
        self.lines = None
        self.site = site


def whole(ticks):
    return int(round(ticks))


class Replay:
    """The frames of one process, from its entries and returns."""

    def __init__(self, totals):
        self.totals = totals
        self.stack = [Frame(None)]
        self.owner = self.stack[0]
        self.pending = collections.defaultdict(dict)    # depth -> {name: outermost inclusive}

    def entry(self, fid, line):
        self.stack.append(Frame((fid, line)))

    def leave(self, depth, incl, excl, name):
        totals = self.totals
        if len(self.stack) > 1:
            frame = self.stack.pop()
            del self.stack[max(1, depth):]              # entries that nothing returned from
            if frame.lines:
                totals.add_frame(name, frame.lines)
        below = self.pending.pop(depth + 1, {})
        for gap in [d for d in self.pending if d > depth + 1]:
            for other, ticks in self.pending.pop(gap).items():
                below[other] = below.get(other, 0) + ticks
        below[name] = incl
        here = self.pending[depth]
        for other, ticks in below.items():
            here[other] = here.get(other, 0) + ticks
        seen = totals.returned[name]
        seen[0] += 1
        seen[1] += excl

    def statement(self, ticks, fid, line, counts):
        owner = self.owner
        if owner.lines is None:
            owner.lines = {}
        cell = owner.lines.get((fid, line))
        if cell is None:
            cell = owner.lines[fid, line] = [0, 0]
        cell[0] += ticks
        cell[1] += counts
        self.owner = self.stack[-1]

    def finish(self):
        totals = self.totals
        if self.stack[0].lines:
            totals.add_frame(ROOT, self.stack[0].lines)
        for frame in self.stack[1:]:
            totals.open_frames.append(frame.lines or {})
        for level in self.pending.values():
            for name, ticks in level.items():
                totals.returned_inclusive[name] += ticks


class Totals:
    def __init__(self, source):
        self.subs = collections.defaultdict(Sub)
        self.lines = collections.defaultdict(Line)
        self.attributes = {}
        self.options = {}
        self.files = {}                       # fid -> name, text
        self.eval_parents = {}                # fid -> (fid, line)
        self.ranges = {}                      # name -> (fid, first, last)
        self.file_ranges = collections.defaultdict(list)
        self.arcs = collections.defaultdict(lambda: [0, 0, 0, 0])
        self.markers = set()
        self.processes = []
        self.returned = collections.defaultdict(lambda: [0, 0])
        self.returned_inclusive = collections.defaultdict(float)
        self.frame_lines = collections.defaultdict(dict)    # sub -> {(fid, line): [ticks, n]}
        self.open_frames = []
        self.before_file = {}                 # fid -> (fid, line) of the statement left before it
        self.n_entries = self.n_returns = self.n_statements = 0
        self.stmt_ticks = 0
        self.negative = 0
        self.source_lines = {}
        reader = Reader(source)
        self._read(reader)
        self.damage = reader.damage
        self.ticks_per_sec = int(self.attributes.get(b"ticks_per_sec", 0))
        self._own_statements()
        self._sub_totals()
        self._statement_subs()
        self.total = sum(sub.self for sub in self.subs.values())
        self.subs[ROOT].inclusive = self.total

    def _read(self, reader):
        replay = None
        discount = False
        previous = None
        text = {}

        def named(raw):
            name = text.get(raw)
            if name is None:
                name = text[raw] = decode_name(raw)
            return name

        for record in reader:
            tag = record[0]
            if tag in "+*":
                ticks, fid, line = record[1:4]
                if replay is None:
                    replay = Replay(self)
                replay.statement(ticks, fid, line, 0 if discount else 1)
                discount = False
                self.n_statements += 1
                self.stmt_ticks += ticks
                self.negative += ticks < 0
                if fid not in self.before_file:
                    self.before_file[fid] = previous
                previous = (fid, line)
            elif tag == "-":
                discount = True
            elif tag == "<":
                if replay is None:
                    replay = Replay(self)
                self.n_returns += 1
                replay.leave(record[1], record[2], record[3], named(record[4]))
            elif tag == ">":
                if replay is None:
                    replay = Replay(self)
                self.n_entries += 1
                replay.entry(record[1], record[2])
            elif tag == "@":
                fid, eval_fid, eval_line = record[1:4]
                self.files[fid] = named(record[7])
                if eval_fid:
                    self.eval_parents[fid] = (eval_fid, eval_line)
            elif tag == "s":
                fid, raw, first, last = record[1:]
                name = named(raw)
                if (first or last) and name != ROOT and (name not in self.ranges
                                                         or fid < self.ranges[name][0]):
                    self.ranges[name] = (fid, first, last)
                if not first and not last:
                    self.markers.add(name)
                elif name != ROOT:
                    self.file_ranges[fid].append((first, last, name))
            elif tag == "c":
                self._callers(record, named)
            elif tag == ":":
                self.attributes[record[1]] = record[2]
            elif tag == "!":
                self.options[record[1]] = record[2]
            elif tag == "P":
                if replay:
                    replay.finish()
                replay = Replay(self)
                discount = False
                self.processes.append((record[1], record[2], record[3]))
            elif tag == "p":
                if replay:
                    replay.finish()
                replay = None
            elif tag == "S":
                self.source_lines[record[1], record[2]] = record[3]
        if replay:
            replay.finish()

    def _callers(self, record, named):
        _, fid, line, caller, count, incl, excl, reci, _, callee = record
        callee = named(callee)
        if not fid and not line and not caller and not count:
            self.markers.add(callee)
            return
        caller = named(caller)
        if caller == "main::NULL":
            caller = ROOT
        arc = self.arcs[caller, callee, fid, line]
        arc[0] += count
        arc[1] += incl
        arc[2] += excl
        arc[3] += reci

    def add_frame(self, name, lines):
        mine = self.frame_lines[name]
        for place, (ticks, count) in lines.items():
            cell = mine.get(place)
            if cell is None:
                mine[place] = [ticks, count]
            else:
                cell[0] += ticks
                cell[1] += count

    # Which sub does a line belong to, where the stream has no call entries

    def innermost(self, fid, line):
        around = [(last - first, name) for first, last, name in self.file_ranges.get(fid, ())
                  if first <= line <= last]
        return min(around)[1] if around else None

    def line_owner(self, fid, line, seen=()):
        name = self.innermost(fid, line)
        if name:
            return name
        if fid in seen:
            return ROOT
        callers = {caller for caller, _, arc_fid, arc_line in self.arcs
                   if arc_fid == fid and arc_line == line and caller not in self.markers}
        if not callers:
            callers = {caller for caller, _, arc_fid, arc_line in self.arcs
                       if arc_fid == fid and not self.innermost(arc_fid, arc_line)
                       and caller not in self.markers}
        if callers:
            return min(callers)
        before = self.eval_parents.get(fid) or self.before_file.get(fid)
        return self.line_owner(*before, seen=(*seen, fid)) if before else ROOT

    def _own_statements(self):
        if self.n_entries:
            for lines in self.open_frames:
                names = collections.Counter()
                for (fid, line), (_, count) in lines.items():
                    names[self.innermost(fid, line) or UNKNOWN] += count
                name = min(names, key=lambda n: (n == UNKNOWN, -names[n], n)) if names else UNKNOWN
                self.add_frame(name, lines)
                self.open_calls = getattr(self, "open_calls", collections.Counter())
                self.open_calls[name] += 1
            return
        # Frames cannot be replayed: everything was put on the root's frame.
        everything = self.frame_lines.pop(ROOT, {})
        owners = {}
        for (fid, line), cell in everything.items():
            owner = self.line_owner(fid, line)
            owners.setdefault(owner, {})[fid, line] = cell
        for owner, lines in owners.items():
            self.add_frame(owner, lines)

    def _sub_totals(self):
        per_second = self.ticks_per_sec
        summed = collections.defaultdict(lambda: [0, 0, 0])
        for (_, callee, _, _), (count, incl, excl, _) in self.arcs.items():
            cell = summed[callee]
            cell[0] += count
            cell[1] += whole(incl * per_second)
            cell[2] += whole(excl * per_second)
        self.disagreeing = set()
        for name in set(summed) | set(self.returned):
            sub = self.subs[name]
            sub.is_builtin = name in self.markers or "CORE:" in name
            calls, excl = self.returned.get(name, (0, 0))
            if self.n_returns and calls != summed[name][0]:
                self.disagreeing.add(name)
                sub.calls, sub.self = calls, whole(excl)
                sub.inclusive = whole(self.returned_inclusive[name])
            else:
                sub.calls, sub.inclusive, sub.self = summed[name]
        for name, lines in self.frame_lines.items():
            self.subs[name].statements = sum(count for _, count in lines.values())
        for lines in self.frame_lines.values():
            for (fid, line), (ticks, count) in lines.items():
                cell = self.lines[self.files.get(fid, ""), line]
                cell.ticks += ticks
                cell.count += count

    def _statement_subs(self):
        """The root and the subs that only the statement profiler knows."""
        inside = collections.Counter()
        for (caller, callee, fid, line), (_, _, excl, _) in self.arcs.items():
            if self.subs[callee].is_builtin:
                inside[caller, fid, line] += whole(excl * self.ticks_per_sec)
        self.subs[ROOT].calls = max(1, len(self.processes))
        for name, lines in self.frame_lines.items():
            sub = self.subs[name]
            if name != ROOT and (name in self.returned or sub.calls):
                continue
            sub.from_statements = True
            sub.self = sum(max(0, ticks - inside[name, fid, line])
                           for (fid, line), (ticks, _) in lines.items())


if __name__ == "__main__":
    shown = Totals(sys.argv[1])
    print(f"total {shown.total}  statements {shown.stmt_ticks} ticks in {shown.n_statements}"
          f"  damage {shown.damage}")
    for sub_name, sub in sorted(shown.subs.items(), key=lambda item: -item[1].self)[:30]:
        print(f"{sub.self:10} {sub.inclusive:10} {sub.calls:7} {sub.statements:8}  {sub_name}")
