#!/usr/bin/python3
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Writes the seed corpus of the fuzz target: t/fuzz/seeds.py FOLDER

Small streams made by hand (t/hostile.py), in every version and layout of numbers, whole and
cut, and tmon.out files in both forms.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import hostile  # noqa: E402
from nytpwrite import Writer  # noqa: E402

MAX_SIZE = 3000
SLOW = {"made-deep"}  # little when deflated, but 20,000 calls
DPROF = {
    "dprof-new": b"#fOrTyTwO\n$hz=1000;\n$XS_VERSION='DProf 1';\n# All values are given in HZ\n"
    b"$over_utime=20; $over_stime=0; $over_rtime=7;\n$over_tests=1000;\n"
    b"$rrun_utime=900; $rrun_stime=100; $rrun_rtime=2000;\n$total_marks=8   \n\nPART2\n"
    b"@ 100 0 200\n& 2 main a\n+ 2\n@ 200 10 400\n& b main b c\n+ b\n@ 300 20 600\n- b\n"
    b"* b\n@ 9 0 9\n+ 2\n/ 2\n+ & Devel::DProf::write\n- & Devel::DProf::write\n- 2\n",
    "dprof-old": b"#fOrTyTwO\n$hz=100;\n$XS_VERSION='DProf 19970606';\n"
    b"$rrun_utime=1000; $rrun_stime=28; $rrun_rtime=7\nPART2\n"
    b"+ 26 20 566822884 DynaLoader::import\n- 126 28 566822884 DynaLoader::import\n"
    b"+ 227 28 566822885 main::bar\n+ 327 28 566822886 main::baz\n"
    b"- 427 28 566822886 main::baz\n",
}


def old_versions():
    for version in ("1 0", "1 1", "1 2", "2 0", "2 1", "3 0", "4 0", "5 1"):
        yield (f"version-{version.replace(' ', '.')}",
               hostile.simple(["main::a", "main::b"], version=version).data())


def svs():
    """Values made and freed before the first call, in calls, more of them than a context has statements, and behind the end."""
    stream = Writer({"application": "/x.p"}, {"calls": "2"}).comment("nytp-svs 1 1 1").pid_start(5)
    stream.fid(1, "/x.p").time(5, 1, 5).comment("nytp-svs 1000000000 1 5").entry(1, 5)
    for n in range(9):
        stream.comment(f"nytp-svs {-n} 1 {n}")
    stream.entry(1, 6).time(5, 1, 6).comment("nytp-svs -7 9 6").leave(2, 5, 5, "main::b").leave(4, 9, 4, "main::a")
    return stream.comment("nytp-svs 3 1 5").pid_end(5).comment("nytp-svs 3 1 5").data()


def hangs():
    """Where a sampled process hangs, as readers hand it on: in calls that were open, in others, and when it is over."""
    stream = Writer({"application": "/x.p", "sampled": "1"}, {"calls": "2"}).comment("nytp-hang-note 1 2 3").pid_start(5)
    stream.fid(1, "/x.p").entry(1, 5).entry(1, 6).time(5, 1, 7)
    for calls in ("builtin main::CORE:read\tmain::b\tx.p:7\tmain::a\t:6\t\t:5\t", "xsub A::x\tmain::c\t(eval 1):1\tmain::a\tx.p:9\t", "-\t\tx.p:2\t"):
        stream.comment("nytp-hangs 1 6442450944 5 2\t" + calls).time(1, 1, 7)
    return stream.pid_end(5).comment("nytp-hangs 1 1 1 1\t-\tmain::a\tx.p:1\t").data()


def allocated():
    """Samples of memory before the first call, in calls, more of them than a context has statements, freed in and behind it."""
    stream = Writer({"application": "/x.p"}, {"calls": "2"}).comment("nytp-alloc 1 1 1 1 1").pid_start(5)
    stream.fid(1, "/x.p").time(5, 1, 5).alloc(2, 1000000000, 5, blocks=3).entry(1, 5)
    for n in range(20):
        stream.alloc(3 + n, n, n % 3).free(n)
    for call in ("1 0 1 5 main::a", "2 1 1 6 main::b", "4 3 1 6 main::b"):
        stream.comment(f"nytp-in-use-call {call}")
    stream.comment("nytp-in-use 30 9 1 2 1 6").comment("nytp-in-use 31 9 1 9 9 0").free(30).comment("nytp-in-use-call 1 0 7 5 main::c")
    stream.comment("nytp-inherited 32 9 1 1 1 6 4").comment("nytp-inherited 33 9 1 9 9 0 3").free(33)
    stream.entry(1, 6).time(5, 1, 6).comment("nytp-alloc 40 7 1 9 6").leave(2, 5, 5, "main::b").leave(4, 9, 4, "main::a")
    return stream.free(40).alloc(39, 1, 5).pid_end(5).free(3).data()


def seeds():
    streams = {name: function() for name, function in hostile.STREAMS.items()
               if name not in SLOW}
    streams.update(old_versions())
    streams.update(DPROF)
    streams["svs"] = svs()
    streams["hangs"] = hangs()
    streams["allocated"] = allocated()
    for name, data in streams.items():
        if len(data) <= MAX_SIZE:
            # what the target does depends on the size
            for more in range(4):
                yield f"{name}-{more}", data + b"-" * more
        yield f"{name}-cut", data[: min(len(data) * 3 // 4, MAX_SIZE)]


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for name, data in seeds():
        (folder / name).write_bytes(data)
        count += 1
    print(f"{count} seeds in {folder}")


main()
