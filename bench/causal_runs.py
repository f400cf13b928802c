# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""The runs of bench/causal: a program plain and under each profiler, and what its profile says."""
import contextlib
import json
import os
import re
import subprocess
import sys
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXPORT, SPY = (os.path.join(ROOT, "bin", name) for name in ("nytp-export", "nytp-spy"))
# A mode: options of ours or None, samples a second of nytp-spy or None.
MODES = {"plain": (None, None), "exact": ("", None), "sample=100": (":sample=100", None), "sample=1000": (":sample=1000", None),
         "spy 100": (None, 100), "spy 1000": (None, 1000), "peer": (None, None)}
SAMPLED = ("sample=100", "sample=1000", "spy 100", "spy 1000")


class Bench:
    """The ways to run a program, plain and under each profiler."""

    def __init__(self, options, scratch):
        self.options, self.scratch = options, scratch
        self.blib = os.pathsep.join(os.path.join(options.blib, part) for part in ("lib", "arch"))
        self.malloc = os.path.join(options.blib, "arch/auto/Devel/NYTProf/libnytp-malloc.so")
        self.free_processors, self.waiting = threading.Semaphore(options.jobs), threading.Lock()

    def environment(self, ours, out, settings, dose):
        env = {k: v for k, v in os.environ.items() if k not in ("NYTPROF", "PERL5LIB", "PERL5OPT")}
        env.update(NYTPROF=f"file={out}{settings}", PERL_HASH_SEED="0", PERL_PERTURB_KEYS="0", **dose)
        if ours:
            env["PERL5LIB"] = self.blib
        return env

    def clock(self, mode):
        """The options of a profiler for the clock that judges time."""
        return ":sample_clock=cpu" if mode in SAMPLED else "" if self.options.wall else ":clock=2"

    def start(self, mode, program, loaded, dose, out, stdout, cpu, settings=None):
        """Starts it on that processor, with `dose` in the environment, and clock() or `settings` as options."""
        ours, rate = MODES[mode]
        settings = (ours or "") + (self.clock(mode) if settings is None else settings)
        env = self.environment(ours is not None, out, settings, dose)
        command = ["perl", *loaded, *(["-d:NYTProf"] if mode == "peer" or ours is not None else []), *program[0]]
        if not self.options.wall:
            command = ["taskset", "-c", str(cpu), *command]
        if rate:
            command = [SPY, "record", "--no-source", "-r", str(rate), "-o", out, "--", *command]
        with open(program[1] or os.devnull, "rb") as stdin, open(stdout, "wb") as output:
            return subprocess.Popen(command, stdin=stdin, stdout=output, stderr=subprocess.DEVNULL,
                                    cwd=self.scratch, env=env)

    @staticmethod
    def finish(process):
        """Waits for it; returns nanoseconds of processor time."""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if os.WIFSIGNALED(status):
            sys.exit(f"{' '.join(process.args)}: killed by signal {os.WTERMSIG(status)}")
        return round(1e9 * (usage.ru_utime + usage.ru_stime))

    def run(self, *arguments):
        return self.finish(self.start(*arguments))

    @contextlib.contextmanager
    def processors(self, needed):
        """Waits until so many are free, and takes them. nytp-spy needs one more than its program."""
        with self.waiting:
            for _ in range(needed):
                self.free_processors.acquire()
        try:
            yield
        finally:
            self.free_processors.release(needed)

    def side_by_side(self, runs):
        """Makes all runs, which share a processor; with --wall they run one by one."""
        with self.processors(self.options.jobs if any(MODES[mode][1] for mode, *_ in runs) else 1):
            for group in [[run] for run in runs] if self.options.wall else [runs]:
                for process in [self.start(*run) for run in group]:
                    self.finish(process)

    @staticmethod
    def readers(mode):
        """By name what reads a profile of this mode."""
        if mode == "exact":
            return {mode: profile_of, "as recorded": lambda out: profile_of(out, "--as-recorded")}
        return {mode: sampled_profile if mode in SAMPLED else profile_of}


def exported(out, *options):
    done = subprocess.run([EXPORT, "--quiet", *options, "-o", "-", out], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def plain_name(name):
    """Without folders, without the digests by which Mojolicious names packages anew in each run, and without blanks,
    as --collapsed has it."""
    return re.sub(r"::[0-9a-f]{32}\b", "::*", re.sub(r"\[(?:[^\[\]]*/)?([^/\]]*)\]", r"[\1]", name)).replace(" ", "_")


def add_to(table, key, value):
    table[key] = table.get(key, 0) + value


def profile_of(out, *options):
    """A profile as causal_scores.py takes it, with what was counted."""
    told = json.loads(exported(out, "--json", "--unit=ns", *options))
    names = [plain_name(sub["name"]) for sub in told["subs"]]
    found = {"own": {}, "all": {}, "line": {}, "from": {}, "count": {},
             "cost": sum(process.get("recording_cost", 0) for process in told["processes"])}
    for name, sub in zip(names, told["subs"]):
        add_to(found["own"], name, sub.get("cpu", sub["exclusive"]))
        add_to(found["all"], name, sub["inclusive"])
        add_to(found["count"], (name, "calls"), sub["calls"])
        add_to(found["count"], (name, "statements"), sub["statements"])
    for line in told["lines"]:
        add_to(found["line"], (names[line["sub"]], line["line"]), line.get("cpu", line["exclusive"]))
    for call in told["calls"]:
        add_to(found["from"], (names[call["callee"]], names[call["caller"]]), call["exclusive"])
    return found


def stacks_of(out, weight):
    for line in exported(out, "--collapsed", f"--weight={weight}").splitlines():
        stack, value = line.rsplit(" ", 1)
        yield [plain_name(name) for name in stack.split(";")], int(value)


def weights_of(stacks, name, left_out):
    """By calls: each caller's part of a sub, and the part of it below each ancestor. The subs `left_out` are in no stack
    but at its end."""
    callers, ancestors, total = {}, {}, 0
    for stack, calls in stacks:
        above = [who for who in stack[:-1] if who not in left_out]
        if stack[-1] == name and above:
            total += calls
            add_to(callers, above[-1], calls)
            for ancestor in {*above, name}:
                add_to(ancestors, ancestor, calls)
    return ({who: calls / total for who, calls in callers.items()},
            {who: calls / total for who, calls in ancestors.items() if calls > 0.05 * total})


def without_unknown(weights):
    """nytp-spy does not know the line that perl names an anonymous sub or a BEGIN block by."""
    return {who: part for who, part in weights.items() if "__ANON__[" not in who and "::BEGIN@" not in who}


def sampled_profile(out):
    """The times are of the processor: those of calls are found from the stacks."""
    found = profile_of(out)
    found["all"], found["from"] = {}, {}
    for stack, us in stacks_of(out, "cpu"):
        for name in set(stack):
            add_to(found["all"], name, 1000 * us)
        add_to(found["from"], (stack[-1], stack[-2] if len(stack) > 1 else ""), 1000 * us)
    return found
