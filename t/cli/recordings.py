# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Recordings of small programs, made by this tree's own recorder."""

import os
import subprocess

from command import ROOT
from profiles import steps as stepping


def record(folder, program, name="a.pl", out=None, options="", seed="0", steps=True, **environment):
    """Run the program (its text) under the profiler in the folder; the recording's path. `seed`: of
    hashes, or "random" for none. `steps`: each reading of the clock is a microsecond after the one before."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists() or file.read_text() != program:
        file.write_text(program)
    out = folder / (out or f"{file.name}.out")
    if steps:
        options, environment = f"clock=1:{options}", {**stepping(), **environment}
    nytprof = f"file={out}" + (f":{options}" if options else "")
    seeds = {} if seed == "random" else {"PERL_HASH_SEED": seed}
    inherited = {key: value for key, value in os.environ.items() if key != "PERL_HASH_SEED"}
    done = subprocess.run(
        ["perl", f"-I{ROOT}/blib/lib", f"-I{ROOT}/blib/arch", "-d:NYTProf", name], cwd=folder,
        env={**inherited, "NYTPROF": nytprof, "PERL_PERTURB_KEYS": "0", **seeds, **environment},
        capture_output=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    assert out.exists()
    return out


def merge(out, *files, **options):
    """What nytprofmerge makes of the files; its path."""
    subprocess.run(["perl", f"-I{ROOT}/blib/lib", f"-I{ROOT}/blib/arch", ROOT / "bin" / "nytprofmerge", "-o", out, *files],
                   check=True, capture_output=True, **options)
    return out
