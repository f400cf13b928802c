# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Scores of bench/causal: what a profile says of a dose, against what the dose took in the same run.

A profile is a dictionary of tables: "own" and "all" have a sub's exclusive and inclusive time by its name, "line" a
line's time by sub and number, "from" a sub's exclusive time by its name and its caller's, "count" what was counted.
A round has a plain run and a profiled one without dose and with each dose, all made side by side: {"plain": [ns, …],
"doses": [ns, …], "profile": [profile, …]}, what the doses took in plain runs and in profiled ones. That is less than
what a run takes more: the rest of the program runs slower behind a long dose, when the processor's caches hold other
data.
Of all rounds a score has the mean and a bar: within it the mean of endless rounds is, 95 times of 100.
"""
import math
import random
import statistics

# Student's factors by number of rounds.
STUDENT = {2: 12.7, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31}


def bar_of(values):
    if len(values) < 2:
        return float("inf")
    return STUDENT.get(len(values), 2.2) * statistics.stdev(values) / len(values) ** 0.5


def mean_and_bar(values):
    values = list(values)
    return statistics.mean(values), bar_of(values)


def differences(times):
    return [time - times[0] for time in times[1:]]


def doses(made):
    """What each dose of a round took in the profiled runs."""
    return differences(made["doses"])


def rises(made, table, key):
    return differences([profile[table].get(key, 0) for profile in made["profile"]])


def ratio(rise, took):
    """One over the other, through all doses."""
    return sum(t * r for t, r in zip(took, rise)) / sum(t * t for t in took)


def name_in(name, rounds):
    """The name that a sub has in these profiles. Perl names an anonymous one by the line that it ends on, nytp-spy, which
    reads no source here, by its first statement."""
    file, _, line = name.rpartition(":")
    known = {other for made in rounds for profile in made["profile"] for other in profile["own"]}
    if "__ANON__[" not in name or name in known:
        return name
    begins = {int(other.rpartition(":")[2][:-1]): other for other in known if other.startswith(file + ":")}
    return begins.get(max((begin for begin in begins if begin <= int(line[:-1])), default=None), name)


def slope(rounds, table, key):
    """The rise of a time over the doses: 1 when the profile tells what happened."""
    return mean_and_bar(ratio(rises(made, table, key), doses(made)) for made in rounds)


def plain(rounds):
    """The dose in profiled runs over the dose in plain ones: 1 when profiling does not change it."""
    return mean_and_bar(ratio(doses(made), differences(made["plain"])) for made in rounds)


def spill(rounds, name):
    """How much the own times of all other subs changed by the largest dose, as a part of it. Each counts by what
    it changed beyond its own bar; so chance alone gives next to nothing, however many subs there are."""
    others = {other for made in rounds for profile in made["profile"] for other in profile["own"]} - {name}
    total = 0
    for other in others:
        mean, bar = mean_and_bar(rises(made, "own", other)[-1] / doses(made)[-1] for made in rounds)
        total += max(0, abs(mean) - bar)
    return total, 0


def line(rounds, name, number):
    """The part of a sub's rise that is not on the line that was changed."""
    return mean_and_bar(1 - rises(made, "line", (name, number))[-1] / (rises(made, "own", name)[-1] or 1) for made in rounds)


def furthest(found):
    return max(found, key=lambda each: abs(each[0]) - each[1], default=(0, 0))


def callers(rounds, name, weights):
    """The caller whose part of the sub's rise is furthest from its part of the calls: how far that is."""
    def off(made, caller, weight):
        rise = {other: rises(made, "from", (name, other))[-1] for other in weights}
        return rise[caller] / (sum(rise.values()) or 1) - weight / sum(weights.values())
    return furthest([mean_and_bar(off(made, caller, weight) for made in rounds) for caller, weight in weights.items()])


def ancestors(rounds, weights):
    """The ancestor whose inclusive rise is furthest from the dose, times the part of the calls below it. What else runs
    slower may be below it or not."""
    def off(made, name, weight):
        rise = rises(made, "all", name)[-1] / doses(made)[-1]
        before, after = (sum(profile["own"].values()) for profile in (made["profile"][0], made["profile"][-1]))
        return rise - min(max(rise, weight), weight * max(1, (after - before) / doses(made)[-1]))
    return furthest([mean_and_bar(off(made, name, weight) for made in rounds) for name, weight in weights.items()])


def counts(rounds):
    """How many numbers of calls and statements depend on the dose."""
    without, *others = (profile["count"] for profile in rounds[0]["profile"])
    return sum(any(without.get(sub) != other.get(sub) for other in others)
               for sub in set().union(without, *others)), 0


COST = 0.1


def cost(rounds):
    """The part of the recording's cost that is not taken off, with a bar: the own times of what was recorded, less the
    times of what was not, over all that recording cost. Below 0 too much is. A round that a busy machine disturbed
    counts as the others: what is disturbed by chance is recorded or not."""
    return mean_and_bar((own - plain) / (own + taken_off - plain) for own, plain, taken_off in rounds)


UNIFORM_POINTS = 2.5


def uniform(ops, rounds):
    """Of doses for every op: half the sum of the differences, in points, between each line's part of the ops and its
    part of the rise, as far as they are beyond the line's bar; and how much of what the dose took is told, with a bar.
    `ops` are by line. A round has the times of plain runs and the profiles, by line, without and with the dose."""
    all_ops = sum(ops.values())
    rises = [{at: after.get(at, 0) - before.get(at, 0) for at in {*before, *after}} for _, (before, after) in rounds]
    totals = [sum(rise.values()) for rise in rises]
    off = 0
    for at in {*ops, *(at for rise in rises for at in rise)}:
        mean, bar = mean_and_bar(rise.get(at, 0) / total for rise, total in zip(rises, totals))
        off += max(0, abs(mean - ops.get(at, 0) / all_ops) - bar)
    return 50 * off, *mean_and_bar(total / (plain[1] - plain[0]) for total, (plain, _) in zip(totals, rounds))


def poisson(rng, mean):
    if mean > 50:
        return max(0, round(rng.gauss(mean, math.sqrt(mean))))
    events, left = 0, math.exp(-mean)
    product = rng.random()
    while product > left:
        product *= rng.random()
        events += 1
    return events


TRIALS = 20


def uniform_by_chance(ops, rounds, tick):
    """The points that honest samples, one each `tick` of processor time, would have: the mean of trials in which each
    line gets its samples by chance, as many as these rounds had in all."""
    rng, all_ops = random.Random(1), sum(ops.values())
    before = {at: statistics.mean(profiles[0].get(at, 0) for _, profiles in rounds)
              for at in {*ops, *(at for _, profiles in rounds for at in profiles[0])}}
    rise = statistics.mean(sum(after.values()) - sum(profile.values()) for _, (profile, after) in rounds)
    after = {at: time + rise * ops.get(at, 0) / all_ops for at, time in before.items()}

    def trial():
        return [(plain, [{at: tick * poisson(rng, time / tick) for at, time in times.items()} for times in (before, after)])
                for plain, _ in rounds]
    return statistics.mean(uniform(ops, trial())[0] for _ in range(TRIALS))


NOISE = 0.05
# By score: how far off it may be in an exact profile, and in one of samples beyond its bar.
GOALS = {"slope": (0.05, 0.10), "plain": (0.05, 0.10), "spill": (0.10, 0.10), "line": (0.05, 0.10), "callers": (0.05, 0.05),
         "ancestors": (0.05, 0.05), "counts": (0, 0)}


def missed(found, sampled):
    """The scores that miss their goal, surely: by more than their bar. None when there are none, and the bar on the
    slope is too wide to say that all are met: the machine is too noisy, or of samples there are too few."""
    surely = [score for score, (value, bar) in found.items()
              if abs(value - (score in ("slope", "plain"))) - bar > GOALS[score][sampled]]
    return surely if surely or found["slope"][1] <= (4 if sampled else 1) * NOISE else None
