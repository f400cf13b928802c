# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Limits on time beside noise: how often a program is blamed that did not change, and how often one is
not that did. The noise is drawn from what real runs had, with a fixed seed.

A run takes FACTOR times what it should, and each sub in it RESIDUAL times that: 33 recordings of
perltidy by processor time (clock=2) on two cores that other programs kept busy, the total of each
recording by the median of all, and 1,312 times of subs that take 0.5 % or more by their medians,
every 40th part of them. On a machine that is left alone the deviations are a third of that or less.
"""

import random

import pytest

from command import messages, run
from written import write_run

FACTORS = [0.923, 0.931, 0.959, 0.961, 0.962, 0.969, 0.974, 0.974, 0.979, 0.985, 0.989, 0.989, 0.99, 0.998, 0.998,
           0.999, 1.0, 1.006, 1.01, 1.013, 1.013, 1.021, 1.022, 1.022, 1.025, 1.028, 1.032, 1.036, 1.045, 1.047,
           1.065, 1.078, 1.081]
RESIDUALS = [0.751, 0.824, 0.882, 0.909, 0.925, 0.939, 0.947, 0.954, 0.958, 0.962, 0.967, 0.972, 0.976, 0.979,
             0.982, 0.986, 0.989, 0.993, 0.996, 0.999, 1.002, 1.005, 1.008, 1.011, 1.014, 1.02, 1.023, 1.029, 1.033,
             1.037, 1.045, 1.052, 1.06, 1.069, 1.08, 1.092, 1.11, 1.144, 1.223, 1.331]
SUBS = [f"Some::Package::sub{i}" for i in range(200)]
PLANTED = SUBS[77]
BUSY, ALONE = 1, 0.25       # powers of the deviations; the latter is a median of 1.2 %


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Runs by noise and by whether PLANTED takes a fifth more."""
    folder = tmp_path_factory.mktemp("noise")
    draw = random.Random(20)

    def one(name, power, planted):
        factor = draw.choice(FACTORS) ** power
        return write_run(folder / f"{name}.out", {
            sub: (1, int(20000 * factor * draw.choice(RESIDUALS) ** power * (planted if sub == PLANTED else 1)))
            for sub in SUBS})
    return {(power, planted): [one(f"{power}-{planted}-{i}", power, planted) for i in range(n)]
            for power, planted, n in ((BUSY, 1, 48), (BUSY, 1.2, 24), (ALONE, 1, 24), (ALONE, 1.2, 24))}


def blamed(base, new, rule):
    """Whom the rule blames."""
    rules = base[0].parent / "rules"
    rules.write_text(rule + "\n")
    done = run("-q", "--csv", "-o", "/dev/null", *[f"--diff={file}" for file in base], "--gate", rules, *new)
    assert done.returncode in (0, 10)
    return [line.split(": ")[1] for line in messages(done)]


@pytest.mark.parametrize("limit", ["time total <= base", "time /./ <= base", f"time /^{PLANTED}$/ <= base"])
def test_a_program_that_did_not_change_is_blamed_in_less_than_one_of_twenty(runs, limit):
    draw = random.Random(1)
    alarms = 0
    for _ in range(40):
        files = draw.sample(runs[BUSY, 1], 16)
        alarms += bool(blamed(files[:8], files[8:], limit))
    assert alarms <= 2


@pytest.mark.parametrize("power, n, limit", [(ALONE, 8, "time /./ <= base +5%"), (BUSY, 12, f"time /^{PLANTED}$/ <= base +5%")])
def test_a_fifth_more_in_one_of_two_hundred_subs_is_found(runs, power, n, limit):
    """Alone by the question about each sub; on a busy machine by the question about this one."""
    draw = random.Random(2)
    found = [blamed(draw.sample(runs[power, 1], n), draw.sample(runs[power, 1.2], n), limit) for _ in range(20)]
    assert found.count([PLANTED]) >= 19, found
