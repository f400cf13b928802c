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
* A sub that ran statements but that the sub profiler does not know, because subs=0 or because it
  never returned and has no entry, has as self time its statements' ticks, less what xsubs and
  opcodes called from it took, since those run inside its statements; never below zero. Blocks that
  an xsub or opcode calls by itself (sort, List::Util::first) are no calls: their time is in the
  caller's already.
* A frame that was entered and never returned has as self time its statements' ticks less what the
  calls below it took beyond their own statements: all of an xsub's, and of a Perl sub's where the
  sub profiler counts more than the statement profiler does.
* Devel::NYTProf records accept() with a time of 0 and leaves its wait out of all calls around it. The
  wait is what the statement's record says less the other builtins that returned in the statement;
  the last accept of the statement has it, and each call around it has it as inclusive time.
* The root's self time is what the statement profiler measured in all and no sub claims; so the
  total is the sum of all statement ticks. Where subs claim more than that (`overclaimed`), the
  statements outside any sub set the bounds of the root's time.
"""

import collections
import functools
import math

from nytpread import Reader, decode_name

ROOT = "main::RUNTIME"
UNKNOWN = "[unreturned]"


class Sub:
    def __init__(self):
        self.calls = 0
        self.self = 0
        self.inclusive = 0
        self.tree_inclusive = 0    # the exclusive times of its calls and all below them
        self.statements = 0
        self.is_builtin = False    # xsub or opcode
        self.from_statements = False


class Line:
    __slots__ = ("ticks", "count")

    def __init__(self):
        self.ticks = 0
        self.count = 0


class Context:
    """The calls of one sub from one place below one caller, or an open frame: ticks of its statements
    and its exclusive ones, and the contexts below it by name and place."""
    __slots__ = ("stmt_ticks", "excl", "below", "into")

    def __init__(self):
        self.stmt_ticks = None     # no statement ran in it
        self.excl = 0
        self.below = {}
        self.into = None           # what it was merged into

    def put(self, place, context):
        """Make it the context below this one at that place, with what is there already."""
        merging = [(self, place, context)]
        while merging:
            above, place, context = merging.pop()
            known = above.below.setdefault(place, context)
            if known is not context:
                known.add(context.stmt_ticks)
                known.excl += context.excl
                context.into = known
                merging += [(known, place, below) for place, below in context.below.items()]

    def add(self, stmt_ticks):
        here = self
        while here.into is not None:
            here = here.into
        if stmt_ticks is not None:
            here.stmt_ticks = (here.stmt_ticks or 0) + stmt_ticks

    def beyond(self):
        """What it took, with all below it, beyond its own statements."""
        order = [self]
        for context in order:
            order += context.below.values()
        found = {}
        for context in reversed(order):
            rest = context.excl + sum(found.pop(below) for below in context.below.values())
            found[context] = max(0, rest - (context.stmt_ticks or 0))
            if context.excl < 0 and context.stmt_ticks is None:
                found[context] = 0
        return found[self]


class Frame:
    __slots__ = ("lines", "site", "name", "context")

    def __init__(self, site):
        self.lines = None
        self.site = site
        self.name = None           # once it has returned
        self.context = Context()


def whole(ticks):
    """The nearest integer; halves go away from zero (Python's round() would make them even)."""
    return int(math.copysign(math.floor(abs(ticks) + 0.5), ticks))


class Replay:
    """The frames of one process, from its entries and returns."""

    def __init__(self, totals):
        self.totals = totals
        self.stack = [Frame(None)]
        self.owner = self.stack[0]
        self.pending = collections.defaultdict(dict)    # depth -> {name: outermost inclusive}
        self.below = collections.defaultdict(dict)      # the same, from exclusive times only
        self.subtree = collections.Counter()            # depth -> sum of what waits there
        self.returned = False
        self.resumed = False       # said of the return to come
        self.rest = 0              # ticks of statements less exclusive ones

    def entry(self, fid, line):
        self.stack.append(Frame((fid, line)))

    def leave(self, depth, incl, excl, name):
        totals = self.totals
        if totals.n_entries:
            self._pop(depth, name, excl)
        for waiting, value in ((self.pending, incl),
                               (self.below, excl + self._children(depth, excl))):
            below = waiting.pop(depth + 1, {})
            for gap in [d for d in waiting if d > depth + 1]:
                for other, ticks in waiting.pop(gap).items():
                    below[other] = below.get(other, 0) + ticks
            below[name] = value
            here = waiting[depth]
            for other, ticks in below.items():
                here[other] = here.get(other, 0) + ticks
        seen = totals.returned[name]
        seen[0] += not self.resumed    # a part of a call that began earlier is no call
        self.resumed = False
        seen[1] += excl
        self.rest -= whole(excl)

    def _children(self, depth, excl):
        """What the calls below the one that returns add up to; they wait no longer."""
        sum_below = sum(self.subtree.pop(d) for d in list(self.subtree) if d > depth)
        self.subtree[depth] += excl + sum_below
        return sum_below

    def _pop(self, depth, name, excl):
        missing = depth - (len(self.stack) - 1)
        if missing > 0:
            # Frames that were open before the recording began lie below all others. Until the
            # first return what was taken for the root's ran in the deepest of them.
            frames = [Frame(None) for _ in range(missing)]
            self.stack[1:1] = frames
            if not self.returned:
                root = self.stack[0]
                frames[-1].lines, root.lines = root.lines, None
                frames[-1].context, root.context = root.context, frames[-1].context
                if self.owner is root:
                    self.owner = frames[-1]
        self.returned = True
        frame = self.stack.pop()
        del self.stack[max(1, depth):]                  # entries that nothing returned from
        frame.name = name
        frame.context.excl = whole(excl)
        self.stack[-1].context.put((name, frame.site), frame.context)
        if frame is not self.owner:                     # else its last statement is to come
            self._close(frame)

    def statement(self, ticks, fid, line, counts):
        owner = self.owner
        self.rest += ticks
        if owner.lines is None:
            owner.lines = {}
        cell = owner.lines.setdefault((fid, line), [0, 0])
        cell[0] += ticks
        cell[1] += counts
        if owner.name is not None:
            self._close(owner)
        self.owner = self.stack[-1]

    def _close(self, frame):
        if frame.lines:
            self.totals.add_frame(frame.name, frame.lines)
            frame.context.add(sum(ticks for ticks, _ in frame.lines.values()))
            frame.lines = None

    def finish(self):
        totals = self.totals
        if self.owner.name is not None:
            self._close(self.owner)
        if self.stack[0].lines:
            totals.add_frame(ROOT, self.stack[0].lines)
        beyond = 0
        for frame in reversed(self.stack):              # the root is the last
            lines = frame.lines or {}
            ticks = sum(ticks for ticks, _ in lines.values())
            beyond += sum(below.beyond() for below in frame.context.below.values())
            own = max(0, ticks - beyond)
            beyond = max(0, beyond - ticks)
            if frame is not self.stack[0]:
                totals.open_frames.append((lines, own))
                self.rest -= own
        totals.roots.append((self.rest, max(0, ticks), [(name, below.beyond()) for (name, _), below
                                                        in self.stack[0].context.below.items()]))
        totals.depth_gaps |= any(depth > 1 and level for depth, level in self.pending.items())
        for waiting, sums in ((self.pending, totals.returned_inclusive),
                              (self.below, totals.tree_inclusive)):
            for level in waiting.values():
                for name, ticks in level.items():
                    sums[name] += ticks


def with_accept_waits(records):
    """The records as a recorder writes them that counts the wait of accept(), and behind each return
    the wait in it and below."""
    held, builtins, ours = [], 0, False
    around = collections.Counter()             # depth -> waits that have still to be told there

    def told(record, wait=0):
        depth, incl, excl, name = record[1:]
        wait += sum(around.pop(deeper) for deeper in list(around) if deeper > depth)
        around[depth] += wait
        return ("<", depth, incl + wait, excl, name, wait)

    for record in records:
        tag = record[0]
        ours |= tag == "#" and record[1].startswith(b"nytp-costs")
        silent = tag == "<" and not ours and record[2] == record[3] == 0 and \
            record[4].endswith((b"CORE:accept", b"CORE::accept"))
        builtin = tag == "<" and b"CORE:" in record[4]
        if tag in "<>" and (held or silent):
            held.append(record)
        elif held and tag in "+*Pp#":
            rest = record[1] if tag in "+*" else 0
            rest -= builtins + sum(one[2] for one in held if one[0] == "<" and b"CORE:" in one[4])
            last = max(i for i, one in enumerate(held) if one[0] == "<" and one[2] == one[3] == 0
                       and one[4].endswith((b"CORE:accept", b"CORE::accept")))
            for i, one in enumerate(held):
                if i == last and rest > 0:
                    one = (*one[:2], 0, rest, one[4])
                yield one if one[0] == ">" else told(one, rest if i == last and rest > 0 else 0)
            held = []
        elif tag == "<":
            builtins += record[2] if builtin else 0
            yield told(record)
            continue
        if tag in "+*Pp":
            builtins = 0
        if tag in "Pp":
            around.clear()
        if tag not in "<>" or not held:
            yield record


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
        self.arcs = collections.defaultdict(functools.partial(list, [0, 0, 0, 0]))
        self.markers = set()
        self.processes = []
        self.returned = collections.defaultdict(functools.partial(list, [0, 0]))
        self.returned_inclusive = collections.defaultdict(float)
        self.tree_inclusive = collections.defaultdict(float)
        self.frame_lines = collections.defaultdict(dict)    # sub -> {(fid, line): [ticks, n]}
        self.open_frames = []
        self.open_calls = collections.Counter()
        self.open_self = collections.Counter()
        self.roots = []            # of each process: rest, ticks of its statements, of its calls beyond theirs
        self.depth_gaps = False
        self.accepting = set()                # subs that waited in accept() where no call tells
        self.before_file = {}                 # fid -> (fid, line) of the statement left before it
        self.n_entries = self.n_returns = self.n_statements = 0
        self.stmt_ticks = 0
        self.negative = 0
        self.unended = 0                      # processes without an end record
        self.source_lines = {}
        reader = Reader(source)
        self._read(reader)
        self.damage = reader.damage
        self.complete = self.damage is None and not self.unended
        self.ticks_per_sec = int(self.attributes.get(b"ticks_per_sec", 0))
        self.called = {callee for _, callee, _, _ in self.arcs} | set(self.returned)
        self.unfinished = bool(not self.arcs or not self.complete or self.open_frames
                               or self.depth_gaps)
        self._own_statements()
        self._sub_totals()
        self._statement_subs()
        self.total = sum(sub.self for sub in self.subs.values())
        self.subs[ROOT].inclusive = self.total
        for name, sub in self.subs.items():
            sub.tree_inclusive = whole(self.tree_inclusive.get(name, 0))
        self.subs[ROOT].tree_inclusive = self.total

    def _read(self, reader):
        replay = None
        discount = False
        previous = None
        named = functools.cache(decode_name)
        for record in with_accept_waits(reader):
            tag = record[0]
            if tag in "+*<>" and replay is None:
                replay = Replay(self)
            if tag in "+*":
                ticks, fid, line = record[1:4]
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
                self.n_returns += 1
                name = named(record[4])
                if record[5]:
                    self.accepting.add(name)
                replay.leave(record[1], record[2], record[3], name)
            elif tag == ">":
                self.n_entries += 1
                replay.entry(record[1], record[2])
            elif tag == "#":
                if replay and record[1].rstrip(b"\n") == b"nytp-resumed":
                    replay.resumed = True
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
                self.unended += 1
                self.processes.append((record[1], record[2], record[3]))
            elif tag == "p":
                if replay:
                    replay.finish()
                replay = None
                self.unended -= 1
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
            cell = mine.setdefault(place, [0, 0])
            cell[0] += ticks
            cell[1] += count

    # A line's sub, where the stream has no call entries

    def innermost(self, fid, line):
        around = [(last - first, name) for first, last, name in self.file_ranges.get(fid, ())
                  if first <= line <= last and self._may_own(name, first, last)]
        return min(around)[1] if around else None

    def _may_own(self, name, first, last):
        """A sub that was made but never called owns no line, where that can be known."""
        if self.n_entries or name in self.called:
            return True
        one_line = "__ANON__" in name and first == last
        return self.unfinished and not (one_line and self.arcs)

    def twins(self, name):
        """The subs on exactly the same lines: without call entries statements cannot tell them
        apart. With the sub itself."""
        return self.subs_on_lines.get(self.ranges.get(name), set()) | {name}

    @functools.cached_property
    def subs_on_lines(self):
        """(file, first line, last line) -> the subs there."""
        found = collections.defaultdict(set)
        for name, place in self.ranges.items():
            found[place].add(name)
        return dict(found)

    @functools.cached_property
    def callers(self):
        """The subs that called any."""
        return {caller for caller, _, _, _ in self.arcs}

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
            for lines, own in self.open_frames:
                names = collections.Counter()
                for (fid, line), (_, count) in lines.items():
                    names[self.innermost(fid, line) or UNKNOWN] += count
                name = min(names, key=lambda n: (n == UNKNOWN, -names[n], n)) if names else UNKNOWN
                self.add_frame(name, lines)
                self.open_calls[name] += 1
                self.open_self[name] += own
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
            if name in self.accepting:
                sub.inclusive, sub.self = whole(self.returned_inclusive[name]), whole(excl)
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
        for (caller, callee, _, _), (_, _, excl, _) in self.arcs.items():
            if self.subs[callee].is_builtin:
                inside[caller] += whole(excl * self.ticks_per_sec)
        for name, lines in self.frame_lines.items():
            sub = self.subs[name]
            if name == ROOT or name in self.returned or sub.calls:
                continue
            sub.from_statements = True
            if self.n_entries:
                sub.self = self.open_self[name]
            elif self.unfinished or name in self.callers:
                ticks = sum(ticks for ticks, _ in lines.values())
                sub.self = max(0, ticks - inside[name])
            sub.calls = self.open_calls[name]
        root = self.subs[ROOT]
        root.calls = max(1, len(self.processes))
        root.self = self.stmt_ticks - sum(sub.self for name, sub in self.subs.items() if name != ROOT)
        own = max(0, sum(ticks for ticks, _ in self.frame_lines.get(ROOT, {}).values()))
        self.overclaimed = root.self < 0
        self.root_bounds = (max(0, own - inside[ROOT]), own)
        over = [one for one in self.roots if one[0] < 0]
        if self.n_entries and over:
            self.overclaimed = True
            others = root.self - sum(rest for rest, _, _ in over)
            high = others + sum(own for _, own, _ in over)
            low = high - sum(min(own, sum(ticks for name, ticks in beyond if self.subs[name].is_builtin))
                             for _, own, beyond in over)
            self.root_bounds = (low, high)
        if self.overclaimed:
            root.self = self.root_bounds[0]
