# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Doses for bench/causal: which subs of a program get one, and a copy of their module that has it.

A dose is one statement on a line that is there already. It counts characters of a buffer, again and again: a loop in
C, linear in the buffer's length, that calls and allocates nothing and is no builtin that a profiler times. The buffer
is short, so that the program's own data stays in the processor's caches. How long it is and how often it is read,
CausalDose.pm takes from the environment. So one copy serves all doses, and whatever is counted is the same at all.
It measures how long the doses take, too.
"""
import functools
import os
import random
import re
import subprocess

LONGEST = 40000      # characters of a buffer: what a profiler does at the end of a round of a loop stays small beside it
LEAST_RUNS = 10      # of a dose
MOST_TIMED = 5000    # runs of a dose that are timed
DOSE_MODULE = r"""package CausalDose;
my $number = 0;
for (split /,/, $ENV{CAUSAL_DOSES}) {
    $main::causal_times[$number] = int(($_ - 1) / LONGEST) + 1;
    my $text = 'a' x ($_ / $main::causal_times[$number]);
    utf8::upgrade($text);
    $main::causal_dose[$number] = $text;
    $main::causal_values[$number++] = $_;
}
$main::causal_amount = $ENV{CAUSAL_AMOUNT};

# Time::HiRes loads modules that may have a dose.
my ($from, $clock, $kind, $process, @took) = (0, sub {0}, $ENV{CAUSAL_CLOCK}, $$);
$main::causal_begin = sub { $from = $clock->($kind) };
$main::causal_end = sub { push @{ $took[$_[0]] }, $clock->($kind) - $from };

# Runs that are not timed took the median of the others: those may have been interrupted.
sub seconds {
    my ($runs, @timed) = @_;
    my $sum = 0;
    $sum += $_ for @timed;
    return $sum + ($runs - @timed) * (sort { $a <=> $b } @timed)[@timed / 2];
}
if ($ENV{CAUSAL_TOOK}) {
    require Time::HiRes;
    $clock = \&Time::HiRes::clock_gettime;
}
END {
    if ($ENV{CAUSAL_TOOK} && $process == $$) {
        open my $out, '>', $ENV{CAUSAL_TOOK};
        print $out $took[$_] ? seconds($main::causal_runs[$_], @{ $took[$_] }) : 0, "\n" for 0 .. $number - 1;
    }
}
1;
""".replace("LONGEST", str(LONGEST))
# Statements: N characters are looked at; N values are freed at the end of a scope; one of both, measured in one of
# `mask` + 1 runs.
TIME = r"$main::causal_dose[{number}] =~ tr/a-f\x{{100}}// for 1 .. $main::causal_times[{number}];"
FREEING = "{{ my @freed = (0) x $main::causal_values[{number}] }}"
TIMED = ("$main::causal_begin->() unless ++$main::causal_runs[{number}] & {mask}; {dose} "
         "$main::causal_end->({number}) unless $main::causal_runs[{number}] & {mask};")
CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID = "1", "3"
# They run before a dose is timed.
LOADED_FOR_DOSES = ("/strict.pm", "/warnings.pm", "/Exporter.pm", "/XSLoader.pm", "/Time/HiRes.pm")
# The kinds in the order of their choice; which subs a kind means is in kinds().
KINDS = ("hot", "cold", "middle", "recursive", "hot", "three callers", "closure", "middle", "cold")


class Dosed:
    """A sub with its dose: where it is, and how often the dose runs in one run of the program."""

    def __init__(self, number, kind, name, place, calls):
        self.number, self.kind, self.name, self.calls = number, kind, name, calls
        self.path, self.line, self.column, self.runs = place

    @property
    def at_entry(self):
        return self.runs == self.calls

    def timed(self, dose):
        mask = 0
        while self.runs / (mask + 1) > MOST_TIMED:
            mask = 2 * mask + 1
        return TIMED.format(number=self.number, mask=mask, dose=dose)

    def length(self, ns):
        return max(1, round(ns / self.runs / ns_a_character()))


@functools.cache
def ns_a_character():
    """Roughly what a character takes: what a dose really took is measured."""
    code = f"$t = 'a' x {LONGEST}; utf8::upgrade($t); $t =~ tr/a-f\\x{{100}}// for 1 .. 2500; print((times)[0] / 2500)"
    return 1e9 / LONGEST * float(subprocess.run(["perl", "-e", code], capture_output=True, text=True, check=True).stdout)


def environment(lengths):
    return {"CAUSAL_DOSES": ",".join(map(str, lengths))}


def taken(path):
    """The nanoseconds of each sub's doses in a run. The next run has to write them anew."""
    with open(path, encoding="ascii") as seconds:
        ns = [1e9 * float(line) for line in seconds]
    os.unlink(path)
    return ns


def search_path():
    found = subprocess.run(["perl", "-e", "print join qq(\n), @INC"], capture_output=True, text=True, check=True)
    return sorted(found.stdout.split("\n"), key=len, reverse=True)


def kinds(told):
    """By kind the subs that are of it and run often enough."""
    subs, total = told["subs"], told["total"]
    callers = {}
    for call in told["calls"]:
        callers.setdefault(call["callee"], set()).add(call["caller"])
    found = {kind: [] for kind in KINDS}
    for index, sub in sorted(enumerate(subs), key=lambda each: -each[1]["exclusive"]):
        share = sub["exclusive"] / total
        fits = {"hot": share > 0.03, "middle": 0.01 <= share <= 0.03, "cold": share < 0.002,
                "recursive": sub["recursion_depth"] > 0, "closure": "__ANON__[" in sub["name"],
                "three callers": len(callers.get(index, ())) >= 3}
        for kind, it_does in fits.items():
            if (it_does and sub["kind"] == "perl" and sub["calls"] >= LEAST_RUNS
                    and not told["files"][sub["file"]]["name"].endswith(LOADED_FOR_DOSES)):
                found[kind].append(index)
    found["hot"] = found["hot"][:6]
    return found


def entry_of(lines, sub):
    """Behind the brace that opens the sub, when a statement follows."""
    name = sub["name"].split("::")[-1]
    opens = r"\bsub\s*(?:\([^)]*\)\s*)?\{" if name.startswith("__ANON__") else rf"\bsub\s+{re.escape(name)}\b[^#{{}}]*\{{"
    for number in range(max(1, sub["first_line"] - 2), min(len(lines), sub["first_line"] + 1) + 1):
        found = list(re.finditer(opens, lines[number - 1]))
        rest = "".join(lines[number - 1:sub["last_line"]])
        if len(found) == 1 and not re.match(r"[^;]*\}\s*\Z", rest[found[0].end():]):
            return number, found[0].end()
    return None


def statements_of(lines, sub):
    """Lines within the sub at whose begin a statement begins, as their text and the one before say."""
    before = ";"
    for number in range(sub["first_line"] + 1, min(sub["last_line"], len(lines) + 1)):
        text = lines[number - 1]
        if re.match(r"\s*(my|return|local)\b", text) and re.search(r"[;{}]\s*\Z", before):
            yield number, len(text) - len(text.lstrip())
        if text.strip() and not text.lstrip().startswith("#"):
            before = re.sub(r"\s#.*", "", text)


def place_of(told, index, within, least_runs, rng):
    """The file, line and column for a dose, and how often it runs; None without a safe place, or if other subs are
    made of the same lines (closures that got names)."""
    sub = told["subs"][index]
    if any(other["file"] == sub["file"] and other["first_line"] == sub["first_line"] and other is not sub for other in told["subs"]):
        return None
    path = told["files"][sub["file"]]["name"]
    try:
        with open(path, encoding="latin-1") as source:
            lines = source.readlines()
    except OSError:
        return None
    entry = entry_of(lines, sub)
    if entry and not within:
        return path, *entry, sub["calls"]
    ran = {line["line"]: line["statements"] for line in told["lines"] if line["sub"] == index}
    places = [place for place in statements_of(lines, sub) if ran.get(place[0], 0) >= least_runs]
    if not places:
        return (path, *entry, sub["calls"]) if entry else None
    line, column = rng.choice(places)
    return path, line, column, ran[line]


def chosen_sub(told, kind, indexes, within, least_runs, taken, incs, rng):
    for index in indexes:
        place = place_of(told, index, within, least_runs, rng)
        if place and told["subs"][index]["name"] not in taken and any(place[0].startswith(inc + "/") for inc in incs):
            return Dosed(len(taken), kind, told["subs"][index]["name"], place, told["subs"][index]["calls"])
    return None


def choose(told, options, incs):
    """The sub `options.sub`, or `options.subs` of them of the kinds in their order, by `options.seed`. And the kinds
    for which none was found that runs often enough."""
    rng = random.Random(options.seed)
    known, chosen, missing = kinds(told), [], []
    wanted = KINDS[:options.subs]
    if options.sub:
        wanted, known = ["named"], {"named": [n for n, sub in enumerate(told["subs"]) if sub["name"] == options.sub]}
    for position, kind in enumerate(wanted):
        candidates = sorted(known[kind], key=lambda index: told["subs"][index]["name"])
        rng.shuffle(candidates)
        dosed = chosen_sub(told, kind, candidates, wanted.index(kind) < position, LEAST_RUNS, [d.name for d in chosen], incs, rng)
        if dosed:
            chosen.append(dosed)
        else:
            missing.append(kind)
    return chosen, missing


def choose_by_calls(told, least, most, seed, incs):
    """Any sub that is called so often and has a place for a dose at its begin; or None. Not what `use` calls: it runs
    while the modules that a dose needs are loaded, too."""
    indexes = [n for n, sub in enumerate(told["subs"])
               if sub["kind"] == "perl" and least <= sub["calls"] <= most and not sub["name"].endswith("import")
               and "/perl-base/" not in told["files"][sub["file"]]["name"]]
    indexes.sort(key=lambda index: told["subs"][index]["name"])
    rng = random.Random(seed)
    rng.shuffle(indexes)
    return chosen_sub(told, "any", indexes, False, least, [], incs, rng)


def write_copies(chosen, incs, folder, statement, timed=False):
    """Copies of the modules, with all doses, which are timed or not; the subs' names are then those of the copies."""
    with open(os.path.join(folder, "CausalDose.pm"), "w", encoding="ascii") as out:
        out.write(DOSE_MODULE)
    for path in {dosed.path for dosed in chosen}:
        inc = next(inc for inc in incs if path.startswith(inc + "/"))
        copy = folder + path[len(inc):]
        with open(path, encoding="latin-1") as source:
            lines = source.readlines()
        here = [dosed for dosed in chosen if dosed.path == path]
        for dosed in sorted(here, key=lambda each: -each.column):
            text = lines[dosed.line - 1]
            dose = statement.format(number=dosed.number)
            dose = dosed.timed(dose) if timed else dose
            lines[dosed.line - 1] = f"{text[:dosed.column]} {dose} {text[dosed.column:]}"
            dosed.name = dosed.name.replace(path, copy)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        with open(copy, "w", encoding="latin-1") as out:
            out.writelines(lines)
