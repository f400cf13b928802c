# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Each option with each format and mode: it changes what comes out, or is refused with one line.

The places where an option means something are the column `where` of options.def and the exporters' own lists,
read here with other means than the command's. A new option without a row in GIVEN fails.
"""

import pytest

from command import asking_for, comparing, messages, options_table, places, run
from recordings import record

PROGRAM = """use lib 'lib'; use Foo;
sub deep { my $n = shift; return $n ? deep($n - 1) : Foo::work(200) }
sub early { my $x = 0; $x += length for 1 .. 50; return $x }
sub nap { select undef, undef, undef, 0.002 }
DB::label(step => "one");
deep(4); early() for 1 .. 3; nap();
eval "sub { my \\$x = 1; \\$x + 1 }->(); 1" for 1, 2;
print STDERR "";
if (my $pid = fork) { waitpid $pid, 0 } else { early(); Foo::work(300); exit }
"""
MODULE = """package Foo;
sub work { my $sum = 0; $sum += $_ for 1 .. $_[0]; my @s = map { helper($_) } 1 .. 5; return $sum }
sub folded { return sub { my $n = 0; $n += $_[0] for 1 .. 9; $n *= 2; return $n }->(shift) }
sub helper { folded(3); return join ",", sort { $a <=> $b } 3, 1, $_[0] }
1;
"""
# How each option is given, and beside what: its words, then those of the run that it is compared with.
GIVEN = {
    "format": ["--format=top"], "output": ["-o", "x"], "per-process": ["--per-process", ["-o", "x.%p"]],
    "open": ["--open"], "strict": ["--strict"], "source-dir": ["--source-dir=sources"],
    "trim-path": ["--trim-path", "FOLDER/lib/", "--trim-path=lib/"], "clock": ["--clock=real"],
    "as-recorded": ["--as-recorded"], "all-runs": ["--all-runs"],
    "focus": ["--focus=early"], "ignore": ["--ignore=early"], "hide": ["--hide=helper"], "show": ["--show=^Foo::"],
    "show-from": ["--show-from=^Foo::"], "min-percent": ["--min-percent=30"], "max-depth": ["--max-depth=2"],
    "detail": ["--detail"], "collapse-recursion": ["--collapse-recursion"], "merge-evals": ["--merge-evals"],
    "no-wait": ["--no-wait"], "wait": ["--wait=."], "no-builtins": ["--no-builtins"], "diff": ["--diff", "BASE"],
    "merge-runs": ["--merge-runs"], "normalize": ["--normalize"], "fail-over": ["--fail-over=1%:calls"],
    "gate": ["--gate", "RULES"], "gate-tap": ["--gate-tap", ["--gate", "RULES", "-o", "x"]],
    "gate-junit": ["--gate-junit=j.xml", ["--gate", "RULES"]],
    "annotations": ["--annotations=github", ["--gate", "RULES", "-o", "x"]], "unit": ["--unit=ms"],
    "as": ["--as=csv"], "weight": ["--weight=calls"], "top": ["--top=2"], "patterns": ["--patterns=2"],
    "sql": ["--sql=2"], "waits": ["--waits=2"], "quickfix": ["--quickfix=2"], "list": ["--list=early"],
    "peek": ["--peek=early"], "sort": ["--sort=name", ["--min-percent=0"]], "label": ["--label=service=web"],
    "labels": ["--labels=none"], "plain-names": ["--plain-names"], "aggregate": ["--aggregate"],
    "spread": ["--spread"], "max-calls": ["--max-calls=3"], "lines": ["--lines"], "lib": ["--lib", "FOLDER/lib"],
    "title": ["--title=A title"], "minimal": ["--minimal", ["-o", "r/"]], "group": ["--group=s/one/1/"],
    "where": ["--where=step=one"], "source-files": ["--source-files"], "no-source-files": ["--no-source-files"],
    "no-flame": ["--no-flame"], "flame-width": ["--flame-width=700"], "no-merge-evals": ["--no-merge-evals"],
    "replace": ["--replace", ["-o", "r/"]], "quiet": ["--quiet"],
}
MODES = {"stats": ["--stats"], "check": ["--check"], "dump": ["--dump"], "by": ["--by=label"],
         "list-formats": ["--list-formats"]}

# Seen beside other inputs or outputs than these, or formats by themselves: here for refusals only.
NOT_SEEN = {"all-runs", "clock", "source-files", "no-source-files", "replace", "format", "top", "brief", "patterns", "sql", "waits",
            "quickfix", "list", "peek"}
# Lists of what is no stack.
LISTS = {"patterns", "processes", "quickfix", "sql", "waits"}
# It is so with and without the option: nothing is taken off counts and records, sums of subs know no frames, ...
ALWAYS_SO = {
    "as-recorded": {"by", "dump", "save-base"},
    "collapse-recursion": {*LISTS, "brief", "csv", "csv --diff", "json --diff", "markdown", "markdown --diff", "save-base",
                           "top", "top --diff"},
    "detail": {*LISTS, "massif"},
    "no-builtins": {"quickfix"},                    # their time is on the line of the call
    "max-calls": {"sql"},                           # the program asks no database
    "merge-runs": {"collapsed --diff", "pprof --diff", "speedscope --diff"},
    "merge-evals": {*LISTS, "rows", "save-base", *(f"{name} --diff" for name in comparing())},
    "no-merge-evals": {*LISTS},
    "trim-path": {*LISTS - {"quickfix"}, "collapsed --diff", "flamegraph", "flamegraph --diff", "list", "markdown --diff",
                  "save-base", "top --diff", "tree"},
}
# No bytes were sampled, so that massif has the curve alone and no stacks.
for _option in ("collapse-recursion", "hide", "max-depth", "merge-evals", "min-percent", "no-builtins", "no-merge-evals", "trim-path", "where"):
    ALWAYS_SO.setdefault(_option, set()).add("massif")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("matrix")
    for name, program in ("base", PROGRAM), ("now", PROGRAM.replace("1 .. 3", "1 .. 9")):
        (folder / name / "lib").mkdir(parents=True)
        (folder / name / "lib" / "Foo.pm").write_text(MODULE)
        record(folder / name, program)
    record(folder / "now", PROGRAM + '"x" =~ /x+/ for 1 .. 2000;', name="patterns.pl", options="regex=1:blocks=1")
    (folder / "rules").write_text("calls main::early <= 1\n")
    (folder / "bin").mkdir()
    for viewer in "kcachegrind", "xdg-open", "speedscope", "pprof":
        (folder / "bin" / viewer).write_text("#!/bin/sh\necho opened >opened\n")
        (folder / "bin" / viewer).chmod(0o755)
    whole = record(folder / "now", program, out="plain", options="compress=0:addpid=0").read_bytes()
    (folder / "cut.out").write_bytes(whole[:len(whole) * 3 // 4])
    return folder


def came_out(files, tmp_path, arguments, stderr=False):
    """Status, standard output, and every file that was written."""
    tmp_path.mkdir()
    known = {"BASE": files / "base" / "a.pl.out", "RULES": files / "rules",
             "FOLDER/lib": files / "now" / "lib", "FOLDER/lib/": f"{files}/now/lib/"}
    done = run(*[known.get(word, word) for word in arguments], cwd=tmp_path,
               env={"PATH": f"{files / 'bin'}:/usr/bin:/bin", "TMPDIR": str(tmp_path)})
    written = {path.name: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()}
    return done, (done.returncode, done.stdout, written, done.stderr if stderr else None)


def plain(files, tmp_path, arguments, stderr, kept={}):
    """What comes out without the option, which is the same for most."""
    if (arguments, stderr) not in kept:
        kept[arguments, stderr] = came_out(files, tmp_path, arguments, stderr)[1]
    return kept[arguments, stderr]


def mode_words(mode):
    name, _, diff = mode.partition(" ")
    return (MODES[name] if name in MODES else [asking_for(name)]) + (["--diff", "BASE"] if diff else [])


@pytest.mark.parametrize("option", [name for name, (_, kind, _) in options_table().items()
                                    if kind not in ("MODE", "BY")])
def test_each_option_does_something_or_is_refused(files, tmp_path, option):
    inputs = sorted((files / "now").glob("a.pl.out*"))
    if option in ("strict", "quiet"):
        inputs = [files / "cut.out"]
    elif option in ("merge-evals", "fail-over"):
        inputs = inputs[:1]     # evals of several processes are merged anyway
    elif option in ("minimal", "detail"):
        inputs = [files / "now" / "patterns.pl.out"]
    elif option == "merge-runs":
        inputs.append(files / "base" / "a.pl.out")      # a process and its children are one run anyway
    words = [word for word in GIVEN[option] if isinstance(word, str)]
    beside = [word for more in GIVEN[option] if isinstance(more, list) for word in more]
    taken, wrong = places(option), []
    for n, mode in enumerate(sorted(places("quiet") | {"list-formats"})):
        if option == "diff" and mode.endswith("--diff"):
            continue
        without = [*mode_words(mode), *beside, *inputs]
        done, seen = came_out(files, tmp_path / f"{n}", [*words, *without], option == "quiet")
        is_refused = done.returncode == 2 and done.stdout == b"" and len(messages(done)) == 1
        if mode not in taken:
            wrong += [] if is_refused else [f"{mode}: ignored"]
        elif option in NOT_SEEN or mode in ALWAYS_SO.get(option, set()) | {"check"}:
            continue
        elif is_refused:
            wrong.append(f"{mode}: {messages(done)[0]}")
        elif seen == plain(files, tmp_path / f"{n}-", tuple(without), option == "quiet"):
            wrong.append(f"{mode}: changes nothing")
    assert not wrong, "\n".join(wrong)
