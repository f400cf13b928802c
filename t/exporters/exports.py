# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Exports of the test profiles, made by bin/nytp-export once per run and kept in t/.cache/exports.

    export("evals", "pprof")        -> path
    read("evals", "pprof")          -> readers.Export
"""

import functools
import os
import pathlib
import subprocess

import profiles
import readers

# Another build (sanitizers, another compiler) is tested by naming it here.
COMMAND = pathlib.Path(os.environ.get("NYTP_EXPORT", profiles.TESTS.parent / "bin" / "nytp-export"))
CACHE = profiles.TESTS / ".cache" / "exports"

# Arguments under which every value is a whole number of nanoseconds.
ARGUMENTS = {
    "callgrind": ["--callgrind"],
    "pprof": ["--pprof"],
    "pprof-text": ["--pprof-text"],
    "collapsed": ["--collapsed", "--unit=ns"],
    "collapsed-calls": ["--collapsed", "--weight=calls"],
    "collapsed-statements": ["--collapsed", "--weight=statements"],
    "speedscope": ["--speedscope", "--unit=ns"],
    "speedscope-aggregate": ["--speedscope", "--unit=ns", "--aggregate"],
}
SUFFIX = {"callgrind": "callgrind", "pprof": "pb.gz", "pprof-text": "textproto",
          "collapsed": "folded", "speedscope": "speedscope.json"}


class ExportFailed(Exception):
    pass


def nytp_export(*arguments):
    """Run the command: (exit code, stdout, stderr text)."""
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, check=False, timeout=600, cwd="/")
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def exported(*arguments, statuses=(0, 3)):
    """What a run writes to standard output; 3: the recording ends early."""
    code, out, errors = nytp_export(*arguments)
    assert code in statuses, errors
    return out


@functools.cache
def export(name, form):
    CACHE.mkdir(parents=True, exist_ok=True)
    out = CACHE / f"{name}.{form}.{SUFFIX[form.partition('-')[0] if form != 'pprof-text' else form]}"
    made = CACHE / f"{os.getpid()}.{out.name}"          # other test processes do the same
    code, stdout, errors = nytp_export(*ARGUMENTS[form], "-o", made, profiles.profile(name))
    if code not in (0, 3) or stdout or not made.exists():
        raise ExportFailed(f"{form} of {name}: exit code {code}: {errors.strip()[-500:]}")
    made.rename(out)
    return out


@functools.cache
def read(name, form):
    return readers.READERS[form.partition("-")[0]](export(name, form).read_bytes())
