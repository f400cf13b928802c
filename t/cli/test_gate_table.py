# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""One table of limits: each question x {kept, broken, cannot be judged} x {each selection there is} x {each format beside it, none,
--diff} x {exact, sampled, partial, several inputs, a parent and its child}.

The recordings are made so that each number is known; what a selection leaves of them is worked out here, from the list of their
calls.
"""

import copy
import re

import pytest

from command import ROOT, asking_for, formats, run
from nytpwrite import Writer
from written import MS

LOST, CALLS = "time", "calls of the database"   # what a selection may take


# ---- what was recorded ----

class Call:
    """Calls of one stack, the root first: how often, milliseconds of their own, statements, bytes allocated."""

    def __init__(self, stack, calls, own, statements, labelled=False, space=0):
        self.stack, self.calls, self.own, self.statements = tuple(stack.split()), calls, own, statements
        self.labelled, self.space = labelled, space

    def with_(self, **new):
        changed = copy.copy(self)
        changed.__dict__.update(new)
        return changed


GET = "root main::page Foo::get"
TREE = [Call("root", 1, 10, 2, space=2000), Call("root main::page", 1, 20, 1, True), Call(GET, 12, 12, 12, True),
        Call(f"{GET} DBI::db::do", 12, 24, 12, True), Call("root Bar::run", 2, 14, 2), Call("root main::CORE:sleep", 1, 30, 0)]
# the parent waits for a child, which is another input: the wait counts once
FAMILY = [*TREE[:-1], Call("root main::CORE:waitpid", 1, 0, 0), Call("root", 1, 10, 1, space=500),
          Call("root Kid::run", 1, 20, 1)]
BUILTIN = {"exact": "main::CORE:sleep", "children": "main::CORE:waitpid"}


def stream(pid=7, sampled=False, builtin="main::CORE:sleep", ends=True):
    out = Writer({"application": "/x/app.pl"}, {"svs": 0}).pid_start(pid, 1, 1000.0)
    if sampled:
        out.attribute("sampled", 1)
    out.fid(1, "/x/app.pl").comment("nytp-alloc 3 2000 1 1 1")

    def time(ms, line, wait=""):
        if sampled and wait:
            out.comment(f"nytp-wait {wait}")
        if sampled:
            out.comment(f"cpu {0 if wait else ms * MS}")
        out.time(ms * MS, 1, line)

    def leave(depth, incl, excl, name):
        out.leave(depth, incl * MS, excl * MS, name)
    time(10, 1)
    out.comment("nytp-label 0 request=GET /a").entry(1, 2)
    time(20, 10)
    for n in range(12):
        out.entry(1, 10)
        time(1, 20)
        out.entry(1, 20).comment(f"nytp-label {n} sql=select a from t where id = {n}")
        time(2, 30)
        out.comment(f"nytp-label {n} sql")
        leave(3, 2, 2, "DBI::db::do")
        leave(2, 3, 1, "Foo::get")
    leave(1, 56, 20, "main::page")
    out.comment("nytp-label 9 request")
    for _ in range(2):
        out.entry(1, 3)
        time(7, 40)
        leave(1, 7, 7, "Bar::run")
    out.entry(1, 4)
    time(30, 4, "sleep")
    leave(1, 30, 30, builtin)
    subs = {"main::page": ("main::RUNTIME", 2, 1, 56, 20), "Foo::get": ("main::page", 10, 12, 36, 12), "DBI::db::do": ("Foo::get", 20, 12, 24, 24),
            "Bar::run": ("main::RUNTIME", 3, 2, 14, 14), builtin: ("main::RUNTIME", 4, 1, 30, 30)}
    for line, (name, (caller, at, count, incl, excl)) in enumerate(subs.items(), 1):
        if "CORE" not in name:
            out.sub(1, name, 10 * line, 10 * line + 9)
        out.callers(1, at, caller, name, count, incl / 1000, excl / 1000)
    out.callers(0, 0, "", builtin, 0, 0, 0)
    return out.pid_end(pid, 1001.0) if ends else out


def child():
    out = Writer(options={"svs": 0}).pid_start(8, 7, 1000.001).fid(1, "/x/app.pl")
    out.comment("nytp-alloc 3 500 1 1 1").time(10 * MS, 1, 50).entry(1, 50).time(20 * MS, 1, 60).leave(1, 20 * MS, 20 * MS, "Kid::run")
    return out.sub(1, "Kid::run", 60, 61).callers(1, 50, "main::RUNTIME", "Kid::run", 1, 0.02, 0.02).pid_end(8, 1000.5)


def recordings(folder):
    one = stream().save(folder / "one.out")
    return {"exact": [one], "sampled": [stream(sampled=True).save(folder / "sampled.out")], "partial": [stream(ends=False).save(folder / "cut.out")],
            "several": [one, stream(pid=9).save(folder / "two.out")],
            "children": [stream(builtin="main::CORE:waitpid").save(folder / "f.out"), child().save(folder / "f.out.8")]}


# ---- what a selection leaves: the calls, what it took, and which subs it takes wherever they are ----

def drop(calls, keeps, *lost_subs):
    kept = [call for call in calls if keeps(call)]
    lost = {LOST, CALLS} if len(kept) < len(calls) else set()
    return kept, lost, lost_subs


def hide(calls, hides):
    """Frames go; what was theirs is the caller's."""
    kept, gone = [], set()
    for call in calls:
        stack = (call.stack[0], *(sub for sub in call.stack[1:] if not hides(call, sub)))
        if stack != call.stack:
            gone |= {sub for sub in call.stack if sub not in stack}
        kept.append(call.with_(stack=stack, calls=call.calls if call.stack[-1] == stack[-1] else 0))
    return kept, {CALLS} if any(sub.startswith("DBI") for sub in gone) else set(), tuple(gone)


def show(calls):
    def is_shown(sub):
        return re.search("Foo|DBI", sub)
    kept, lost, _ = drop(calls, lambda call: any(is_shown(sub) for sub in call.stack))
    hidden, more, subs = hide(kept, lambda call, sub: not is_shown(sub))
    return hidden, lost | more, (*subs, "main::page", "Bar::run", *BUILTIN.values())


def prune(calls, n_inputs):
    """What takes less than 15 % of the time of all inputs with what it calls."""
    least = n_inputs * sum(call.own for call in calls) * 0.15
    below = {call.stack for call in calls if len(call.stack) > 1 and
             sum(other.own for other in calls if other.stack[:len(call.stack)] == call.stack) < least}
    return ([call.with_(stack=(*call.stack[:-1], "(pruned)")) if call.stack in below else call for call in calls],
            {CALLS} if any("DBI" in stack[-1] for stack in below) else set(), tuple(stack[-1] for stack in below))


def waits(call):
    return "CORE:" in call.stack[-1] and call.own > 0


def under_label(calls):
    return [call for call in calls if call.labelled], {LOST}, ()


SELECTIONS = {
    "": ([], lambda calls: (calls, set(), ())),
    "focus": (["--focus=Foo"], lambda calls: drop(calls, lambda call: "Foo::get" in call.stack)),
    "ignore": (["--ignore=Bar"], lambda calls: drop(calls, lambda call: "Bar::run" not in call.stack, "Bar::run")),
    "hide": (["--hide=Foo"], lambda calls: hide(calls, lambda _, sub: sub == "Foo::get")),
    "show": (["--show=Foo|DBI"], show),
    "show-from": (["--show-from=Foo"], lambda calls: drop(calls, lambda call: "Foo::get" in call.stack)),
    "where": (["--where=request=GET /a"], under_label),
    "min-percent": (["--min-percent=15"], None),        # of all inputs: see selected()
    "max-depth": (["--max-depth=2"], lambda calls: hide(calls, lambda call, sub: call.stack.index(sub) >= 2)),
    "collapse-recursion": (["--collapse-recursion"], lambda calls: (calls, set(), ())),
    "merge-evals": (["--merge-evals"], lambda calls: (calls, set(), ())),
    "detail": (["--detail"], None),             # as the recording: see selected()
    "no-wait": (["--no-wait"], lambda calls: drop(calls, lambda call: not waits(call))),
    "wait": (["--wait=Bar", "--no-wait"], lambda calls: drop(calls, lambda call: not waits(call) and "Bar::run" not in call.stack, "Bar::run")),
    "no-builtins": (["--no-builtins"], lambda calls: hide(calls, lambda _, sub: "CORE:" in sub)),
}


# ---- what is asked ----

def own(value, calls):
    return sum({"time": call.own, "statements": call.statements, "calls": call.calls, "ops": call.statements + call.calls}[value] for call in calls)


def value_of(rule, kind, calls, lost, lost_subs):
    """What is measured, in ms or as a count; None: it cannot be judged."""
    value, what = rule
    is_sampled, name = kind == "sampled", what.strip("/^")
    if value == "svs" or (is_sampled and value in ("calls", "statements", "ops", "queries", "loops")):
        return None
    if value in ("queries", "loops"):
        return None if CALLS in lost else {"queries": 12, "loops": 1}[value]
    if value == "waits":
        return 30 if is_sampled and LOST not in lost and what in ("total", "/sleep/") else 0 if is_sampled and LOST not in lost and what == "/disk/" else None
    if value == "alloc_space":                  # where none is under the label, none was recorded
        return None if LOST in lost and CALLS not in lost else sum(call.space for call in calls)
    if what == "total":
        return own(value, calls) if value != "calls" else own(value, [call for call in calls if len(call.stack) > 1])
    mine = [call for call in calls if call.stack[-1].startswith(name)]
    if value == "incl":
        mine = [call for call in calls if any(sub.startswith(name) for sub in call.stack)]
    if sum(call.calls for call in calls if call.stack[-1].startswith(name)) == 0 and any(sub.startswith(name) for sub in lost_subs):
        return None
    if value == "incl":
        return sum(call.own for call in mine)
    return own(value, mine)


RULES = ([(value, what) for value in ("time", "calls", "statements", "ops", "svs") for what in ("total", "Bar::run", "Foo::", "/^Foo/")
          if not (what == "total" and value in ("calls", "ops"))] +
         [("incl", "Foo::get"), ("incl", "/^Bar/"), ("calls", "DBI::db::do"), ("queries", "total"), ("queries", "/GET/"), ("loops", "total"),
          ("waits", "total"), ("waits", "/sleep/"), ("waits", "/disk/"), ("waits", "/sleepp/"), ("alloc_space", "total")])


def amount(rule, number):
    return f"{number} ms" if rule[0] in ("time", "incl", "waits") else f"{number}"


def lines_and_verdicts(kind, calls, lost, lost_subs):
    """Of each question two rules: one that is kept at just that number, and one that is broken by one less."""
    lines, verdicts = [], []
    for rule in RULES:
        value = value_of(rule, kind, calls, lost, lost_subs)
        for most, verdict in ((value or 0, "kept"), (max((value or 0) - 1, 0), "broken")):
            lines.append(f"{rule[0]} {rule[1]} <= {amount(rule, most)}")
            verdicts.append("unjudged" if value is None else "kept" if value == 0 else verdict)
    return lines, verdicts


def verdicts_of(tap):
    found = []
    for line in tap.splitlines()[1:]:
        if line.startswith("ok "):
            found.append("kept")
        elif line.startswith("not ok "):
            found.append("broken")
        elif line.startswith("# cannot be judged"):
            found[-1] = "unjudged"
    return found


def selected(kind, selection):
    tree = FAMILY if kind == "children" else TREE
    if selection == "detail":                   # a sampled builtin has another name then
        calls = tree if kind != "sampled" else [call.with_(stack=("root", "main::CORE:sleep (sleep)")) if waits(call) else call for call in tree]
        return calls, set(), ()
    if selection == "min-percent":
        return prune(tree, 2 if kind == "several" else 1)
    return SELECTIONS[selection][1](tree)


def beside(kind, inputs):
    """All formats beside two kinds; beside the others those whose profiles differ in kind: without waits for children and with them,
    pruned by themselves, with a time line."""
    names = formats() if kind in ("exact", "children") else ["json", "tree", "speedscope"]
    return [("none", []), *((name, [asking_for(name)]) for name in names), ("csv each", ["--csv", "--per-process"]),
            ("diff", ["--json", *(word for file in inputs for word in ("--diff", file))])]


def wrong_cells(folder, kind, inputs, selection):
    words = SELECTIONS[selection][0]
    lines, wanted = lines_and_verdicts(kind, *selected(kind, selection))
    (folder / "rules").write_text("\n".join(lines))
    wrong = []
    for name, format_ in beside(kind, inputs):
        output = [] if name == "none" else ["-o", folder / ("r/" if name == "html" else "out.%p")]
        done = run("-q", *format_, *output, *words, "--gate", folder / "rules", "--gate-tap", *inputs)
        if name in ("waits", "patterns") and done.returncode == 2 and not done.stdout:
            assert b"nothing for" in done.stderr or b"whole recording only" in done.stderr, done.stderr
            continue
        found = verdicts_of(done.stdout.decode())
        if (kind, selection, name) == ("children", "where", "diff"):    # the child has no label, and each input is a side's
            assert done.returncode == 1 and b"f.out.8 is under the label" in done.stderr
            continue
        cell = f"{kind}, {selection or 'all'}, beside {name}"
        wrong += [f"{cell}: {line}: {is_}, not {should}" for line, is_, should in zip(lines, found, wanted) if is_ != should]
        wrong += [] if len(found) == len(wanted) else [f"{cell}: {done.stderr.decode()}"]
        wrong += [] if done.returncode == (10 if "broken" in found else 2) else [f"{cell}: status {done.returncode}"]
    return wrong


def selections_there_are():
    text = (ROOT / "exporters" / "cli" / "options.def").read_text()
    section = text.split('NYTP_GROUP("Selection')[1].split("NYTP_GROUP(")[0]
    return re.findall(r'^NYTP_\w+\("([a-z-]+)"', section, re.M)


def test_each_selection_is_in_the_table():
    assert set(selections_there_are()) == set(SELECTIONS) - {""}


@pytest.mark.parametrize("kind", ["exact", "sampled", "partial", "several", "children"])
def test_each_limit_has_the_right_answer_and_only_one(tmp_path, kind):
    inputs = recordings(tmp_path)[kind]
    wrong = [cell for selection in SELECTIONS for cell in wrong_cells(tmp_path, kind, inputs, selection)]
    assert not wrong, f"{len(wrong)}\n" + "\n".join(wrong[:60])
