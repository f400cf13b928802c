# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Damaged files: a result or one clear error, quickly and in bounded memory. That a cut never passes
for a whole file is in test_stream.py."""

import random
import re
import resource
import subprocess
import zlib

import nytpwrite
import pytest

FILES = {"mixed-calls2": 12, "mixed-plain": 12, "mixed-calls1": 6, "evals": 6, "forks-merged": 4, "made-hostile-names": 12}   # and see t/fuzz
MEGABYTES = 300
SECONDS = 30


def run(command, *arguments):
    limit = MEGABYTES * 1024 * 1024
    return subprocess.run([command, *arguments], capture_output=True, timeout=SECONDS,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))


def halves(data):
    """What stands before the deflated part, and the inflated rest or None."""
    found = re.search(rb"\nz(?=\x78[\x01\x5e\x9c\xda])", data)
    if not found:
        return data, None
    return data[: found.end()], zlib.decompressobj().decompress(data[found.end():])


def flip(data, dice):
    changed = bytearray(data)
    for _ in range(dice.choice((1, 1, 3, 20))):
        changed[dice.randrange(len(changed))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def insert_huge(data, dice):
    at = dice.randrange(len(data))
    huge = nytpwrite.u32(dice.choice((0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 1 << 24)))
    return data[:at] + huge + data[at + dice.choice((0, 1, len(huge))):]


def remove(data, dice):
    at = dice.randrange(len(data))
    return data[:at] + data[at + dice.randrange(1, 200):]


def damaged(data, dice):
    """(what was done, the damaged file)"""
    harm = dice.choice((flip, insert_huge, remove))
    head, inner = halves(data)
    if inner is not None and dice.random() < 0.7:
        return f"{harm.__name__} inside", head + zlib.compress(harm(inner, dice), 1)
    return harm.__name__, harm(data, dice)


@pytest.mark.parametrize("name", FILES)
def test_damage_is_a_result_or_an_error(export_command, profile, tmp_path, name):
    data = profile(name).read_bytes()
    path, out = tmp_path / "damaged.out", tmp_path / "result"
    outcomes = {0: 0, 1: 0, 3: 0}
    for round_number in range(FILES[name]):
        dice = random.Random(f"{name} {round_number}")
        what, bad = damaged(data, dice)
        path.write_bytes(bad)
        export = dice.choice(("callgrind", "pprof", "speedscope", "collapsed", "top"))
        for arguments in (["--check"], [f"--format={export}", "-o", out]):
            result = run(export_command, *arguments, path)
            assert result.returncode in outcomes, (what, round_number, arguments, result)
            if result.returncode:
                assert b"damaged.out: " in result.stderr, (what, round_number)
            outcomes[result.returncode] += 1
    assert outcomes[3] > 0
