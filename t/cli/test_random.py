# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Random programs, one to three inputs of different kinds (calls=0, 1, 2; one may be cut off), and
random combinations of selections: the whole is compared with the independent totals of
t/totals.py, a selection with a few lines of Python over the stacks of the whole.

The seeds are fixed; NYTP_RANDOM_RUNS=5000 tries more of them."""

import collections
import csv
import io
import os
import random
import re

import pytest

from command import PROGRAM, run
from nytpwrite import Writer
from totals import Totals

RUNS = int(os.environ.get("NYTP_RANDOM_RUNS", "60"))
SUBS = [f"{package}::{name}" for package in ("main", "A") for name in "abcd"]
BUILTIN = "main::CORE:sort"


class Program:
    """A stream of a random run, and its arcs, as a recorder sums them up."""

    def __init__(self, rng, calls, pid):
        self.rng, self.calls = rng, calls
        self.arcs = collections.defaultdict(lambda: [0, 0, 0, 0])
        name = f"/x/{pid}.pl"
        self.w = Writer(options={"calls": calls}, attributes={"application": name})
        self.w.pid_start(pid, 1).fid(1, name)
        self.statement(90)
        for _ in range(rng.randint(1, 12)):
            self.call([PROGRAM], 90)
        self.statement(91)
        if rng.random() < 0.8:
            self.w.pid_end(pid)
        for number, sub in enumerate(SUBS):
            self.w.sub(1, sub, 5 * number + 1, 5 * number + 4)
        self.w.sub(1, BUILTIN, 0, 0)
        for (caller, callee, line), (n, incl, excl, reci) in sorted(self.arcs.items()):
            self.w.callers(1, line, caller, callee, n, incl, excl, reci, 1 if reci else 0)

    def statement(self, line):
        ticks = self.rng.randint(0, 9)
        self.w.time(ticks, 1, line)
        return ticks

    def call(self, stack, line):
        """One call and what it calls; returns its inclusive ticks."""
        rng, w = self.rng, self.w
        sub = BUILTIN if rng.random() < 0.1 else rng.choice(SUBS)
        if self.calls == 2:
            w.entry(1, line)
        below = self.statement(line)
        own = 0
        if sub == BUILTIN:
            own = rng.randint(0, 9)
        else:
            first = 5 * SUBS.index(sub) + 1
            for _ in range(rng.randint(0, 3)):
                at = first + rng.randint(0, 3)
                if len(stack) < 7 and rng.random() < 0.6:
                    below += self.call([*stack, sub], at)
                own += self.statement(at)
        incl = own + below
        if self.calls:
            w.leave(len(stack), incl, own, sub)
        arc = self.arcs[stack[-1], sub, line]
        arc[0] += 1
        arc[2] += own
        arc[3 if sub in stack else 1] += incl
        return incl


def inputs(rng, tmp_path):
    """The files of one run."""
    files = []
    n = rng.randint(1, 3)
    cut = rng.randrange(n) if n > 1 and rng.random() < 0.5 else None
    for number in range(n):
        data = Program(rng, rng.choice([0, 1, 2]), 10 + number).w.data()
        if number == cut:
            data = data[:max(450, int(len(data) * rng.uniform(0.5, 0.95)))]
        file = tmp_path / f"{number}.out"
        file.write_bytes(data)
        files.append(file)
    return files


def export(*arguments):
    done = run(*arguments, "-q")
    assert done.returncode in (0, 1, 3), (arguments, done.stderr)  # 1: nothing is left
    return done.stdout.decode()


def stacks(files, *options):
    """stack -> value; whether a frame returned is left aside."""
    out = collections.Counter()
    for line in export("--collapsed", "--unit=ticks", *options, *files).splitlines():
        stack, value = line.rsplit(" ", 1)
        out[tuple(stack.replace("_[unreturned]", "").split(";"))] += int(value)
    return out


def selected(whole, options):
    """What formats/ and exporters/select make of it, in their order, said again."""
    def any_match(key, frames):
        return any(re.search(options[key], frame) for frame in frames)
    out = collections.Counter()
    for stack, value in whole.items():
        if "focus" in options and not any_match("focus", stack):
            continue
        if "ignore" in options and any_match("ignore", stack):
            continue
        shown = [frame for frame in stack
                 if not ("hide" in options and any_match("hide", [frame]))
                 and not ("no-builtins" in options and ":CORE:" in frame)
                 and not ("show" in options and not any_match("show", [frame]))]
        if not shown:
            continue
        stack = (stack[0], *(frame for number, frame in enumerate(stack)
                             if number and frame in shown))
        if "show-from" in options:
            first = next((n for n, frame in enumerate(stack)
                          if re.search(options["show-from"], frame)), None)
            if first is None:
                continue
            stack = (stack[0], *stack[max(first, 1):])
        if "collapse-recursion" in options:
            stack = tuple(frame for n, frame in enumerate(stack) if not n or frame != stack[n - 1])
        if "max-depth" in options:
            stack = stack[:options["max-depth"]]
        out[stack] += value
    return +out


def random_options(rng):
    options = {}
    for key in ("focus", "ignore", "hide", "show", "show-from"):
        if rng.random() < 0.3:
            names = rng.sample([*SUBS, BUILTIN], rng.randint(1, 4))
            options[key] = f"^({'|'.join(names)})$"
    for key in ("no-builtins", "collapse-recursion"):
        if rng.random() < 0.3:
            options[key] = None
    if rng.random() < 0.2:
        options["max-depth"] = rng.randint(1, 5)
    return options


def flags(options):
    return [f"--{key}" if value is None else f"--{key}={value}" for key, value in options.items()]


@pytest.mark.parametrize("first", range(0, RUNS, 20))
def test_random_selections_of_random_programs(tmp_path, first):
    for seed in range(first, min(first + 20, RUNS)):
        rng = random.Random(seed)
        files = inputs(rng, tmp_path)
        options = random_options(rng)
        chosen = flags(options)
        assert stacks(files, *chosen) == selected(stacks(files), options), (seed, chosen)
        only = {key: options[key] for key in ("focus", "ignore") if key in options}
        assert stacks(files, "--weight=calls", *flags(only)) == selected(
            stacks(files, "--weight=calls"), only), (seed, only)
        export("--check", "--per-process", *chosen, *files)


@pytest.mark.parametrize("first", range(0, RUNS, 20))
def test_random_inputs_have_the_independent_totals(tmp_path, first):
    compared = 0
    for seed in range(first, min(first + 20, RUNS)):
        files = inputs(random.Random(seed), tmp_path)
        want = collections.defaultdict(lambda: [0, 0, 0])
        estimated = set()
        for totals in map(Totals, files):
            if not totals.complete or totals.overclaimed:
                estimated |= set(totals.subs)
            for name, sub in totals.subs.items():
                for at, value in enumerate((sub.calls, sub.self, sub.statements)):
                    want[name][at] += value
        got = collections.defaultdict(lambda: [0, 0, 0])
        rows = csv.reader(io.StringIO(export("--csv", "--unit=ticks", *files)))
        for sub, _, _, calls, statements, own, *_ in list(rows)[1:]:
            for at, value in enumerate((calls, own, statements)):
                got[sub][at] += int(value)
        for name in set(want) - estimated - {PROGRAM}:
            assert got[name] == want[name], (seed, name)
            compared += 1
        assert sum(n[2] for n in got.values()) == sum(n[2] for n in want.values()), seed
    assert compared > 20
