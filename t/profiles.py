# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""The profiles that the tests read: real ones, recorded here and now with the installed
Devel::NYTProf run as a black box, and hostile ones, written byte by byte.

    profile("evals")  -> path of the file, recorded when missing or older than its recipe
    RECORDED, MADE    -> the names

Everything lands in t/.cache/profiles. t/record prints the list or records by name.
"""

import fcntl
import functools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zlib

import hostile

TESTS = pathlib.Path(__file__).resolve().parent
PROGRAMS = TESTS / "data" / "programs"
CACHE = TESTS / ".cache" / "profiles"

# name -> (program or list of arguments, NYTPROF options)
RECORDED = {
    "mixed-calls0": ("mixed.pl", "calls=0"),
    "mixed-calls1": ("mixed.pl", "calls=1"),
    "mixed-calls2": ("mixed.pl", "calls=2"),
    "mixed-blocks": ("mixed.pl", "blocks=1:calls=2"),
    "mixed-slowops0": ("mixed.pl", "slowops=0:calls=2"),
    "mixed-slowops1": ("mixed.pl", "slowops=1:calls=2"),
    "mixed-slowops2-calls1": ("mixed.pl", "slowops=2"),
    "mixed-plain": ("mixed.pl", "compress=0:calls=2"),
    "mixed-stmts0": ("mixed.pl", "stmts=0:calls=2"),
    "mixed-stmts0-calls1": ("mixed.pl", "stmts=0"),
    "mixed-subs0": ("mixed.pl", "subs=0"),
    "mixed-leave0": ("mixed.pl", "leave=0:calls=2"),
    "mixed-dbsub": ("mixed.pl", "use_db_sub=1:calls=2"),
    "mixed-findcaller": ("mixed.pl", "findcaller=1:calls=2"),
    "mixed-start-init": ("mixed.pl", "start=init:calls=2"),
    "mixed-nosource": ("mixed.pl", "savesrc=0:calls=2"),
    "mixed-cputime": ("mixed.pl", "clock=2:calls=2"),
    "evals": ("evals.pl", "calls=2"),
    "evals-calls1": ("evals.pl", "calls=1"),
    "evals-calls0": ("evals.pl", "calls=0"),
    "recurse": ("recurse.pl", "calls=2"),
    "recurse-calls1": ("recurse.pl", "calls=1"),
    "recurse-calls0": ("recurse.pl", "calls=0"),
    # Devel::NYTProf 6.12 dies of a segmentation fault here with calls=2; see made-deep for that.
    "deep-calls1": ("deep.pl", "calls=1"),
    "accepting": ("accepting.pl", "calls=2"),
    "accepting-calls1": ("accepting.pl", "calls=1"),
    "names": ("names.pl", "calls=2"),
    "names-calls1": ("names.pl", "calls=1"),
    "names-calls0": ("names.pl", "calls=0"),
    "unreturned": ("unreturned.pl", "calls=2"),
    "unreturned-calls1": ("unreturned.pl", "calls=1"),
    "exec": ("exec.pl", "calls=2"),
    "jumps": ("jumps.pl", "calls=2"),
    "jumps-calls1": ("jumps.pl", "calls=1"),
    "requires": ("requires.pl", "calls=2"),
    "requires-calls1": ("requires.pl", "calls=1"),
    "switching": ("switching.pl", "calls=2"),
    "dash-e": (["-e", 'sub f { my $x = 0; $x += $_ for 1..50; $x } f() for 1..9; print STDERR ""'],
               "calls=2"),
    "forks": ("forks.pl", "calls=2:addpid=1"),
    "forks-merged": ("forks", None),
    "killed-plain": ("killed.pl", "compress=0:calls=2"),
    "killed-deflated": ("killed.pl", "calls=2"),
    "cut-plain": ("mixed-plain", 0.6),
    "cut-deflated": ("mixed-calls2", 0.5),
    "cut-calls1": ("mixed-calls1", 0.7),
    "perltidy": ("perltidy 1000", "calls=2"),
}
# For the one test that needs some megabytes.
LARGE = {"big-perltidy": ("perltidy 30000", "calls=1")}

MADE = hostile.STREAMS

# A test finds what was compiled with the usual flags in t/run's ccache.
QUICK_FLAGS = [] if "CCACHE_DIR" in os.environ else ["CFLAGS=-O0"]


class CannotRecord(Exception):
    """The recorder is missing or did not write what it should."""


def have_recorder():
    return subprocess.run(["perl", "-MDevel::NYTProf::Core", "-e", "1"], env=stock_environment(),
                          capture_output=True, check=False).returncode == 0


def stock_environment(**more):
    """Without what would make perl load another Devel::NYTProf than the installed one."""
    unwanted = {"PERL5LIB", "PERL5OPT", "PERLLIB", "PERL5DB", "NYTPROF"}
    return {name: value for name, value in os.environ.items() if name not in unwanted} | more


@functools.cache
def stepping_clock():
    """The folder of t/xs/clock_steps.c as a library, whose clock no busy machine moves on."""
    folder = tempfile.TemporaryDirectory()
    subprocess.run(["cc", "-shared", "-fPIC", "-o", f"{folder.name}/clock_steps.so", TESTS / "xs/clock_steps.c"], check=True)
    return folder


def steps():
    """For the environment: each reading of the clock is a microsecond after the one before."""
    return {"LD_PRELOAD": f"{stepping_clock().name}/clock_steps.so"}


def run_recorder(arguments, options, out, cwd=PROGRAMS, may_die=False, **environment):
    environment = stock_environment(NYTPROF=f"file={out}:{options}", LC_ALL="C.UTF-8", **environment)
    done = subprocess.run(["perl", "-d:NYTProf", *arguments], cwd=cwd, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode and not may_die:
        raise CannotRecord(f"{arguments} ended with {done.returncode}: "
                           f"{done.stderr.decode(errors='replace')[-500:]}")


def module_text(size):
    """The head of perltidy's largest module, cut at the end of a sub: real code of any size."""
    where = subprocess.run(["perl", "-MPerl::Tidy::Formatter", "-e",
                            'print $INC{"Perl/Tidy/Formatter.pm"}'],
                           capture_output=True, check=True, text=True).stdout
    text = pathlib.Path(where).read_bytes()
    end = text.find(b"\n}", size)
    return text if end < 0 else text[:text.find(b"\n", end + 1) + 1]


def record_perltidy(program, options, out, scratch):
    source = scratch / "module.pm"
    source.write_bytes(module_text(int(program.split()[1])))
    arguments = ["/usr/bin/perltidy", "-npro", "-o", str(scratch / "tidied"), str(source)]
    run_recorder(arguments, options, out, cwd=scratch, may_die=True)


def cut_copy(source, share, out):
    """A copy that ends in the middle: of the file when it is plain, of the deflated stream else."""
    data = profile(source).read_bytes()
    out.write_bytes(data[:int(len(data) * share)])


def merge_forks(out):
    done = subprocess.run(["nytprofmerge", "-o", str(out), *map(str, processes("forks"))],
                          env=stock_environment(), capture_output=True, check=False)
    if not out.exists():
        raise CannotRecord(f"nytprofmerge: {done.stderr.decode(errors='replace')}")


def record(name, out):
    what, options = (RECORDED | LARGE)[name]
    scratch = CACHE / (name + ".work")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    target = scratch / "nytprof.out"
    if options is None:
        merge_forks(target)
    elif isinstance(options, float):
        cut_copy(what, options, target)
    elif isinstance(what, list):
        run_recorder(what, options, target, **steps())
    elif what.startswith("perltidy"):
        record_perltidy(what, options, target, scratch)
    else:
        run_recorder([what], options, target, may_die=name.startswith("killed"), **steps())
    if "addpid=1" in str(options):
        files = sorted(scratch.glob("nytprof.out.*"), key=lambda path: int(path.suffix[1:]))
        for number, file in enumerate(files):
            shutil.move(file, out if not number else out.with_name(f"{name}.{number}.out"))
    else:
        if not target.exists():
            raise CannotRecord(f"{name}: nothing was written")
        shutil.move(target, out)
    shutil.rmtree(scratch)


def recipe_time(name):
    """When the youngest thing that a recording depends on was changed."""
    what = RECORDED.get(name, ("", None))[0]
    files = [TESTS / "profiles.py"]
    if name in MADE:
        files += [TESTS / "hostile.py", TESTS / "nytpwrite.py"]
    if isinstance(what, str) and what.endswith(".pl"):
        files += [PROGRAMS / what, *PROGRAMS.glob("lib/*.pm")]
    return max(file.stat().st_mtime for file in files)


def profile(name):
    """The path of a profile by name, made when it is missing or older than its recipe."""
    CACHE.mkdir(parents=True, exist_ok=True)
    out = CACHE / (name + ".out")
    with open(CACHE / (name + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if out.exists() and out.stat().st_mtime >= recipe_time(name):
            return out
        if name in MADE:
            out.write_bytes(MADE[name]())
        else:
            record(name, out)
        os.utime(out)
    return out


def processes(name):
    """All files of a recording of several processes, in order of process id."""
    first = profile(name)
    return [first] + sorted(CACHE.glob(f"{name}.[0-9]*.out"))


def inflated(path):
    """The bytes of a profile with its deflated part inflated in place, as far as it goes."""
    data = pathlib.Path(path).read_bytes()
    for start in range(len(data)):
        start = data.find(b"z\x78", start)
        if start < 0:
            return data
        engine = zlib.decompressobj()
        try:
            return data[:start] + engine.decompress(data[start + 1:])
        except zlib.error:
            continue
    return data


if __name__ == "__main__":
    if sys.argv[1:] in (["-h"], ["--help"]):
        print("usage: t/record [NAME...]\n\nRecords the named test profiles, all of them without"
              " a name, into\nt/.cache/profiles and prints their paths.")
        sys.exit(0)
    for wanted in sys.argv[1:] or [*RECORDED, *MADE]:
        if wanted not in RECORDED | LARGE | MADE:
            sys.exit(f"record: no profile named {wanted}")
        print(profile(wanted))
