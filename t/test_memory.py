# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""No access to memory that is not ours, nothing leaked, nothing undefined: everything in C under
AddressSanitizer, UndefinedBehaviorSanitizer and valgrind, which also counts work."""

import os
import re
import shutil
import subprocess

import profiles
import pytest

from command import asking_for, formats
from instructions import instructions
from nytpwrite import Writer

ROOT = profiles.TESTS.parent
FINDING = re.compile(rb"runtime error|Sanitizer|^==\d+==", re.M)
MODES = ["--check", "--stats", "--dump"]
SMALL = 400_000
# The fuzzers take all made streams but the long ones through every exporter (t/fuzz/seeds.py).
SANITIZED = ["mixed-calls2", "mixed-calls1", "mixed-calls0", "mixed-blocks", "mixed-stmts0",
             "evals", "forks-merged", "names", "unreturned", "recurse-calls1", "switching",
             "cut-deflated", "killed-plain"]
SANITIZED += ["made-hostile-files", "made-hostile-names"]
CHECKED = ["cut-deflated", "made-hostile-names"]
PROGRAMS = ROOT / "t" / "interop" / "programs"
CHECKED_PROGRAMS = ["evals", "exceptions", "goto_autoload"]
QUICK = dict(os.environ, NYTP_TEST_QUICK="1")    # C tests: fewer rounds of the same
HANGS = 2400    # seconds: builds and valgrind take minutes, beside other programs many
PROFILED_AND_PLAIN = """
cd "$1"; shift
for program; do
    perl "$program" >plain.out 2>&1; plain=$?
    perl -d:NYTProf "$program" >profiled.out 2>&1; profiled=$?
    [ $plain = $profiled ] && [ -s nytprof.out ] || { echo "$program: $profiled"; exit 1; }
    rm -f nytprof.out
done
"""


# Where clang is, in t/fuzz/run's folder and as it builds: what is there is not built again.
SAN = ["SAN=1"]
SAN_BUILD = ROOT / "exporters" / "build-san"
if shutil.which("clang"):
    SAN_BUILD = profiles.TESTS / ".cache" / "fuzz" / "libfuzzer"
    SAN += ["CC=clang", "CFLAGS=-O0 -g1 -fsanitize=fuzzer-no-link", f"BUILD={SAN_BUILD}"]


def make(*arguments):
    return subprocess.run(["make", "-s", "-j2", "-C", str(ROOT / "exporters"), *arguments],
                          capture_output=True, text=True, timeout=HANGS, env=QUICK)


def findings(command, asked):
    """What a checked run of each of these arguments reports."""
    found = []
    for arguments in asked:
        result = subprocess.run([*command, *arguments], capture_output=True, timeout=HANGS)
        if result.returncode not in (0, 3) or FINDING.search(result.stderr):
            found.append((arguments, result.returncode, result.stderr[-2000:]))
    return found


@pytest.fixture(scope="module")
def sanitized_command():
    made = make(*SAN)
    assert made.returncode == 0, made.stderr
    return SAN_BUILD / "nytp-export"


def test_the_c_tests_pass_sanitized(sanitized_command):
    made = make("check", *SAN)
    assert made.returncode == 0 and not FINDING.search(made.stdout.encode()), made.stdout


def test_every_format_is_clean_sanitized(sanitized_command, profile, tmp_path):
    """Each of the next two profiles."""
    paths = [profile(name) for name in SANITIZED]
    assert max(path.stat().st_size for path in paths) < SMALL
    output = ["-o", tmp_path / "out"]
    asked = [[mode] for mode in MODES] + [[asking_for(name), *output] for name in formats()]
    assert findings([sanitized_command], [[*how, paths[(number + shift) % len(paths)]]
                                          for shift in range(2) for number, how in enumerate(asked)]) == []


@pytest.fixture(scope="module")
def valgrind():
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    return ["valgrind", "-q", "--error-exitcode=99", "--leak-check=full"]


def test_the_c_tests_are_clean_in_valgrind(valgrind):
    made = make("check")
    assert made.returncode == 0, made.stdout
    tests = sorted((ROOT / "exporters" / "build" / "t").glob("*/*_test"))
    assert len(tests) > 5
    for test in tests:
        result = subprocess.run([*valgrind, str(test)], capture_output=True, timeout=HANGS, env=QUICK)
        assert result.returncode == 0 and not FINDING.search(result.stderr), (
            test, result.stderr[-3000:])


@pytest.fixture
def every_format(tmp_path):
    """A program that takes files through all exporters that write one: a fuzzer's target without the fuzzer."""
    build = ROOT / "exporters" / "build"
    assert make("lib").returncode == 0
    libraries = re.findall(r"-(?:l(?:isal|pcre2-8|z|m)|L\S+)\b", (build / "flags").read_text())
    subprocess.run(["cc", "-g", "-D_XOPEN_SOURCE=700", "-DNYTP_FUZZ_MAIN", f"-I{ROOT}", ROOT / "t/fuzz/fuzz_profile.c", build / "libnytpexport.a",
                    build / "libnytp.a", *libraries, "-o", tmp_path / "every_format"], check=True)
    return tmp_path / "every_format"


def test_every_format_is_clean_in_valgrind(valgrind, export_command, every_format, profile, tmp_path):
    """All of them of all profiles are clean sanitized; here uninitialized memory is looked for. The target
    selects, merges or exports all by the size of what it is given."""
    sized = []
    for name in CHECKED:
        data = profile(name).read_bytes()
        for more in range(3):
            sized.append(tmp_path / f"{name}-{more}")
            sized[-1].write_bytes(data + b"-" * ((more - len(data)) % 4))
    done = subprocess.run([*valgrind, every_format, *sized], capture_output=True, timeout=HANGS)
    assert done.returncode == 0 and not FINDING.search(done.stderr), done.stderr[-3000:]
    asked = [*([mode] for mode in MODES), ["--html", "-o", f"{tmp_path}/r/"]]
    assert findings([*valgrind, export_command], [[*how, sized[0]] for how in asked]) == []


def test_samples_of_memory_are_clean_in_valgrind(valgrind, export_command, tmp_path):
    """Freed and in use from before, in the first process of an input."""
    stream = Writer({"application": "/x.p"}, {"calls": "2"}).pid_start(7).fid(1, "/x.p").free(2)
    stream.comment("nytp-in-use-call 1 0 1 2 main::f").comment("nytp-in-use 3 900 1 1 1 2").free(1).time(10, 1, 1)
    stream.alloc(5, 70, 3).free(3).alloc(6, 70, 3).entry(1, 3).leave(1, 2, 2, "main::f")
    file = stream.time(10, 1, 1).pid_end(7).save(tmp_path / "m.out")
    asked = [["-q", how, "-o", tmp_path / "out", file] for how in ("--json", "--firefox", "--massif", "--markdown")]
    assert findings([*valgrind, export_command], asked) == []


def test_the_recorder_is_clean_sanitized(tmp_path):
    programs = sorted(map(str, PROGRAMS.glob("*.pl")))
    assert len(programs) >= 20
    result = subprocess.run(
        [str(ROOT / "t" / "sanitized"), "--recorder", "sh", "-c", PROFILED_AND_PLAIN, "sh",
         str(tmp_path), *programs], capture_output=True, text=True, timeout=HANGS)
    if result.returncode == 77:
        pytest.skip("no libasan.so")
    assert result.returncode == 0, result.stdout + result.stderr[-3000:]


def profile_in_valgrind(valgrind, folder, *arguments):
    blib = ROOT / "blib"
    environment = {**os.environ, "PERL5LIB": f"{blib}/lib:{blib}/arch", "PERL_DESTRUCT_LEVEL": "2",
                   "NYTPROF": f"file={folder}/nytprof.out"}
    result = subprocess.run([*valgrind, "perl", "-d:NYTProf", *arguments], env=environment,
                            cwd=folder, capture_output=True, timeout=HANGS)
    assert result.returncode != 99 and not FINDING.search(result.stderr), result.stderr[-3000:]
    return (folder / "nytprof.out").stat().st_size


@pytest.mark.parametrize("name", CHECKED_PROGRAMS)
def test_the_recorder_is_clean_in_valgrind(valgrind, tmp_path, name):
    assert profile_in_valgrind(valgrind, tmp_path, str(PROGRAMS / f"{name}.pl")) > 0


def test_a_stream_of_many_blocks_and_those_of_threads_are_clean_in_valgrind(valgrind, tmp_path):
    program = 'sub f { "x$_[0]" =~ /x/ } f($_) for 1 .. 20000;'
    if b"useithreads='define'" in subprocess.check_output(["perl", "-V:useithreads"]):
        program += "require threads; threads->create(sub { f(1) })->join for 1 .. 3; f(1)"
    assert profile_in_valgrind(valgrind, tmp_path, "-e", program) > 16384


def forked(n):
    """A recording of so many processes, with a call in each."""
    stream = Writer().pid_start(1).fid(1, "/x/a.pl")
    for pid in range(1, n + 1):
        if pid > 1:
            stream.pid_start(pid, time=1.7e9 + pid)
        stream.time(10, 1, 1).call("main::work", 5, 2).time(1, 1, 1).pid_end(pid)
    return stream


@pytest.mark.parametrize("name", ["firefox", "chrome-trace", "speedscope"])
def test_twice_as_many_processes_are_twice_the_work_in_valgrind(tmp_path, name):
    """Instructions are counted: one look at all processes for each of them is two and a half times the work."""
    counts = [instructions(f"--{name}", "-o", tmp_path / "out", forked(n).save(tmp_path / str(n))) for n in (1000, 2000)]
    assert 1.5 < counts[1] / counts[0] < 2.2, counts
