# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""What may be read, and what is said about what may not."""

import fcntl
import gzip
import json
import os
import pathlib
import pty
import re
import resource
import select
import shutil
import subprocess
import zlib

import pytest

from command import COMMAND, ROOT, asking_for, formats, good, messages, read_all, run
from nytpread import RECORD_NAMES, Reader
from nytpwrite import Writer
from recordings import merge


@pytest.fixture
def mixed(profile):
    return profile("mixed-calls2")


def test_default_input(mixed, tmp_path):
    shutil.copy(mixed, tmp_path / "nytprof.out")
    assert good("--callgrind", cwd=tmp_path).count(b"mixed.pl")


def test_no_default_input(tmp_path):
    done = run("--top", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    assert messages(done) == ["nytp-export: nytprof.out: cannot open: No such file or directory "
                              "(no FILE was given, this is the default)"]


@pytest.mark.parametrize("option, words", [
    ("FILE", [""]), ("FILE", ["{file}", ""]), ("--diff", ["--diff=", "{file}"]), ("--gate", ["--gate=", "{file}"]),
    ("--gate-junit", ["--gate=x", "--gate-junit=", "{file}"]), ("--output", ["-o", "", "{file}"])])
def test_an_empty_name_is_refused(mixed, option, words):
    """A variable of the shell was not set."""
    done = run(*(word.format(file=mixed) for word in words))
    assert (done.returncode, messages(done)) == (2, [f"nytp-export: {option}: the name is empty (--help lists the options)"])


def test_a_base_that_is_not_there_is_not_the_default(mixed, tmp_path):
    shutil.copy(mixed, tmp_path / "nytprof.out")
    done = run("--diff", "nosuch", cwd=tmp_path)
    assert messages(done) == ["nytp-export: nosuch: cannot open: No such file or directory"]


def test_recordings_one_behind_the_other_are_so_many_inputs(profile, tmp_path):
    one, other = profile("mixed-calls2").read_bytes(), profile("evals").read_bytes()
    raw = profile("mixed-plain").read_bytes()
    packed = [gzip.compress(data) for data in (one, other, raw)]
    for name, parts in {"plain": [one, other], "raw": [raw, other], "gzip": packed[:2], "first": [packed[0], other],
                        "last": [one, packed[1]], "raw in gzip": [packed[2], packed[1]], "raw last": [other, raw],
                        "three": [one, packed[2], other], "comment": [one, b"# a line\n", other]}.items():
        paths = [tmp_path / f"{name} {n}" for n, part in enumerate(parts) if not part.startswith(b"#")]
        for path, part in zip(paths, [part for part in parts if not part.startswith(b"#")]):
            path.write_bytes(part)
        file = tmp_path / name
        file.write_bytes(b"".join(parts))
        assert good("--tree", "--min-percent=0", file) == good("--tree", "--min-percent=0", *paths), name
        assert good("--top", "-", stdin=open(file, "rb")) == good("--top", file)
        assert good("--stats", file).count(b"state         complete\n") == len(paths)
    merged = merge(tmp_path / "merged", tmp_path / "plain")
    assert good("--stats", merged).count(b", parent ") == 2


def compressed_anew(recording):
    """The recording in many forms, whose compressed streams end after other numbers of bits."""
    for place in (found.start() for found in re.finditer(b"zx", recording)):
        try:
            plain = zlib.decompressobj().decompress(recording[place + 1:])
        except zlib.error:
            continue
        for level in range(1, 10):
            for memory in (7, 8, 9):
                packer = zlib.compressobj(level, memLevel=memory)
                yield recording[:place + 1] + packer.compress(plain) + packer.flush()
        return


def test_bytes_that_inflating_takes_ahead_are_those_of_the_next_recording(mixed, tmp_path):
    forms = list(compressed_anew(mixed.read_bytes()))
    assert len(forms) == 27
    (tmp_path / "many").write_bytes(b"".join(forms))
    assert good("--stats", tmp_path / "many").count(b"state         complete\n") == len(forms)


def test_where_one_recording_is_read_the_next_is_told(profile, tmp_path):
    file = tmp_path / "two"
    file.write_bytes(profile("mixed-calls2").read_bytes() + profile("evals").read_bytes())
    place = file.stat().st_size - profile("evals").stat().st_size
    told = f"{file}: byte {place}: another recording begins here, and one only is read (nytprofmerge makes one of them)"
    done = run("--dump", file)
    assert done.returncode == 3
    assert f"nytp-export: {told}; going on with what came before" in messages(done)
    done = subprocess.run(["perl", f"-I{ROOT}/blib/lib", f"-I{ROOT}/blib/arch", "-MDevel::NYTProf::Data", "-e",
                           "Devel::NYTProf::Data->new({filename => shift, quiet => 1})", file], capture_output=True,
                          check=False)
    assert b"another recording begins here" in done.stderr


def test_a_second_recording_that_ends_early_is_partial(profile, tmp_path):
    file = tmp_path / "cut"
    file.write_bytes(profile("mixed-calls2").read_bytes() + profile("mixed-plain").read_bytes()[:-200])
    done = run("--top", file)
    assert done.returncode == 3 and b"mixed.pl and 1 more: " in done.stdout and ": byte " in messages(done)[0]


def profiled(program, tmp_path, **options):
    environment = dict(os.environ, PERL5LIB=f"{ROOT}/blib/lib:{ROOT}/blib/arch", NYTPROF="flush=0.01")
    return subprocess.Popen(["perl", "-d:NYTProf", "-e", program], cwd=tmp_path, env=environment, **options)


def test_a_profile_that_is_being_written_is_not_called_damaged(tmp_path):
    with profiled("sub f { 1 } for (1 .. 9) { f(); select undef, undef, undef, .02 } $| = 1; print 'x'; <STDIN>", tmp_path,
                  stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        program.stdout.read(1)
        done = run("--top", "nytprof.out", cwd=tmp_path)
        assert done.returncode == 3
        assert re.fullmatch(rf"nytp-export: nytprof\.out: still being recorded by pid {program.pid} \(up to \d+ s ago\)",
                            messages(done)[0])
        assert run("--top", "--strict", cwd=tmp_path).returncode == 1
        program.stdin.close()
    assert good("--top", cwd=tmp_path)


def test_children_beside_a_profile_are_told_and_those_of_an_earlier_run_apart(tmp_path):
    forks = "for (1 .. 3) { if (my $pid = fork) { waitpid $pid, 0 } else { exit } }"
    profiled(forks, tmp_path).wait()
    earlier = sorted(tmp_path.glob("nytprof.out.*"))
    assert len(earlier) == 3
    told = "nytp-export: 3 child processes have profiles of their own beside this one: nytp export nytprof.out*"
    assert messages(run("--top", cwd=tmp_path)) == [told]
    assert not messages(run("--top", "nytprof.out", *earlier, cwd=tmp_path))
    assert not messages(run("--top", "-q", cwd=tmp_path))
    (tmp_path / "nytprof.out").rename(tmp_path / "nytprof.out.1")
    profiled(forks, tmp_path).wait()
    assert messages(run("--top", cwd=tmp_path)) == [told]
    files = sorted(path.name for path in tmp_path.glob("nytprof.out*") if path.name != "nytprof.out.1")
    assert len(files) == 7
    said = messages(run("--top", *files, cwd=tmp_path))
    first = min(path.name for path in earlier)
    assert len(said) == 1
    assert re.fullmatch(rf"nytp-export: {re.escape(first)} and 2 more are of an earlier run \(\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d\): "
                        "left out; --all-runs takes them", said[0])
    assert messages(run("--top", "-q", *files, cwd=tmp_path)) == said
    assert n_processes(tmp_path, files) == 4
    assert n_processes(tmp_path, files, "--all-runs") == 7
    assert not messages(run("--top", "--all-runs", *files, cwd=tmp_path))
    assert n_processes(tmp_path, [name for name in files if name != "nytprof.out"]) == 6
    # With the program that forked them they are of a run that is asked for.
    assert n_processes(tmp_path, [*files, "nytprof.out.1"]) == 8


def n_processes(folder, files, *options):
    return len(json.loads(run("--json", *options, *files, cwd=folder).stdout)["processes"])


def test_standard_input(mixed):
    wanted = good("--top", mixed)
    with open(mixed, "rb") as file:
        assert good("--top", "-", stdin=file) == wanted
    data = mixed.read_bytes()
    done = subprocess.run([COMMAND, "--top", "-"], input=data, stdout=subprocess.PIPE,
                          check=True)
    assert done.stdout == wanted
    done = subprocess.run([COMMAND, "--top", "/dev/stdin"], input=gzip.compress(data),
                          stdout=subprocess.PIPE, check=True)
    assert done.stdout == wanted


def test_a_process_substitution(mixed):
    done = subprocess.run(["bash", "-c", '"$0" --top <(cat "$1")', COMMAND, mixed],
                          stdout=subprocess.PIPE, check=True)
    assert done.stdout == good("--top", mixed)


# ---- unusable ----

@pytest.mark.parametrize("content", [b"", b"N", b"hello\n" * 100, b"NYTProf 99 0\n",
                                     b"\0" * 5000])
def test_what_is_no_profile(tmp_path, content):
    (tmp_path / "bad").write_bytes(content)
    for mode in ("--top", "--stats", "--check"):
        done = run(mode, tmp_path / "bad")
        assert (done.returncode, done.stdout) == (1, b"")
        assert len(messages(done)) == 1
        assert messages(done)[0].startswith(f"nytp-export: {tmp_path}/bad: ")


# ---- partial ----

@pytest.mark.parametrize("name", ["cut-plain", "cut-deflated", "killed-plain"])
@pytest.mark.parametrize("format_", ["top", "callgrind", "pprof-text"])
def test_a_cut_file_is_exported_and_told(profile, name, format_):
    done = run(f"--{format_}", profile(name))
    assert done.returncode == 3
    assert b"main::" in done.stdout
    assert re.match(r"nytp-export: .*/%s\.out: byte \d+( \(inflated\))?: .*; going on with what "
                    r"came before$" % name, messages(done)[0])
    offset = int(re.search(r"byte (\d+)", messages(done)[0])[1])
    assert offset > 1000


def test_quiet_keeps_the_status(profile):
    done = run("--top", "-q", profile("cut-plain"))
    assert (done.returncode, done.stderr) == (3, b"")


@pytest.mark.parametrize("mode", ["--top", "--check"])
def test_strict_refuses_it(profile, tmp_path, mode):
    done = run(mode, "--strict", "-o", tmp_path / "out", profile("cut-plain"))
    assert done.returncode == 1
    assert len(messages(done)) == 1
    assert not (tmp_path / "out").exists() or mode == "--check"


def test_inspections_of_a_cut_file(profile):
    done = run("--stats", profile("cut-plain"))
    assert done.returncode == 3
    assert re.search(rb"^state +partial: byte \d+", done.stdout, re.MULTILINE)
    assert run("--check", profile("cut-plain")).returncode == 3
    done = run("--dump", profile("cut-plain"))
    assert done.returncode == 3
    assert done.stdout.endswith(b"\n")


def test_inspections_of_a_file_cut_between_records(profile, tmp_path):
    whole = profile("mixed-plain").read_bytes()
    records = run("--dump", profile("mixed-plain")).stdout.splitlines()
    end = int(records[len(records) // 2].split()[0])
    cut = tmp_path / "cut.out"
    cut.write_bytes(whole[:end])
    for mode in ("--dump", "--check", "--stats"):
        done = run(mode, cut)
        assert done.returncode == 3, mode
        assert re.search(rb"byte \d+: no end of .*process", done.stderr), mode


def test_calls_that_never_were(tmp_path):
    """From a place that was never named: a recorder made them up after a goto to an xsub had died."""
    def stream(fid):
        w = Writer().pid_start(7, 1).fid(1, "/x/a.pl").fid(2, "").time(10, 1, 1).entry(1, 1).time(20, 2, 1)
        w.entry(fid, 22087).leave(2, 20, 20, "POSIX::floor").leave(1, 40, 20, "main::f")
        return w.time(5, 1, 1).pid_end(7)

    assert good("--check", stream(1).save(tmp_path / "good")).endswith(b": ok\n")
    assert good("--check", stream(2).save(tmp_path / "nameless")).endswith(b": ok\n")
    done = run("--check", stream(1636781535).save(tmp_path / "bad"))
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode().endswith("bad: POSIX::floor is called from line 22087 of a file (1636781535)"
                                         " that the recording does not name: such calls never were\n")
    assert b"POSIX::floor" in good("--top", tmp_path / "bad")


# ---- several ----

def test_one_unusable_of_several_is_left_out(mixed, tmp_path):
    (tmp_path / "bad").write_bytes(b"nonsense")
    done = run("--top", tmp_path / "bad", mixed)
    assert done.returncode == 3
    assert done.stdout == good("--top", mixed)
    assert len(messages(done)) == 1
    assert run("--top", "--strict", tmp_path / "bad", mixed).returncode == 1
    assert run("--top", tmp_path / "bad", tmp_path / "bad").returncode == 1
    done = run("--check", tmp_path / "bad", mixed)
    assert done.returncode == 1
    assert done.stdout == f"{mixed}: ok\n".encode()


# ---- what the recording lacks ----

@pytest.mark.parametrize("name, format_, told", [
    ("mixed-calls0", "tree", "calls=0"),
    ("mixed-calls0", "pprof", "calls=0"),
    ("mixed-subs0", "top", "subs=0"),
    ("mixed-stmts0", "callgrind", "stmts=0"),
    ("mixed-calls0", "top", None),
    ("mixed-calls2", "pprof", None),
    ("mixed-calls2", "callgrind", None),
])
def test_the_option_that_was_off_is_named(profile, name, format_, told):
    done = run(f"--{format_}", profile(name))
    assert done.returncode == 0
    assert done.stdout
    if told is None:
        assert messages(done) == []
    else:
        assert [message for message in messages(done)
                if f"recorded with NYTPROF option {told}, " in message]
    assert run("-q", f"--{format_}", profile(name)).stderr == b""


@pytest.mark.parametrize("format_", ["top", "tree", "callgrind", "collapsed"])
def test_totals_of_calls_that_were_cut_off_are_told(profile, tmp_path, format_):
    data = profile("mixed-calls0").read_bytes()
    (tmp_path / "cut").write_bytes(data[:len(data) // 2])
    done = run(f"--{format_}", tmp_path / "cut")
    assert done.returncode == 3
    assert done.stdout
    assert messages(done)[1:] == [
        f"nytp-export: {tmp_path}/cut: recorded with NYTPROF option calls=0 and without its end, "
        "where the calls are summed up, so no calls are known"]


@pytest.mark.parametrize("format_, whole, said", [
    ("top", False, "it ends before its subs, so no calls are known"),
    ("tree", True, "recorded without call events, so stacks and their times are estimated from call sites"),
    ("list=.", True, "it holds no source text"),
])
def test_no_option_is_named_that_was_not_recorded(tmp_path, format_, whole, said):
    """Recordings of old recorders tell no options."""
    stream = Writer(plain_head=False).attribute("ticks_per_sec", 10000000).pid_start(7, 1).fid(1, "/x/a.pl").time(10, 1, 3)
    if whole:
        stream.callers(1, 3, "main::RUNTIME", "main::f", 1, 5, 5).sub(1, "main::f", 5, 6).pid_end(7)
    done = run(f"--{format_}", stream.save(tmp_path / "old"))
    assert done.returncode == (0 if whole else 3)
    assert f"nytp-export: {tmp_path}/old: {said}" in messages(done)


def test_a_program_without_calls_is_not_told_of_options(tmp_path):
    stream = Writer().pid_start(7, 1).fid(1, "/x/a.pl").source(1, 3, "1;\n").time(10, 1, 3).pid_end(7)
    stream.save(tmp_path / "profile")
    for format_ in formats():
        done = run(asking_for(format_), tmp_path / "profile")
        assert (done.returncode, done.stderr) == (0, b""), format_


@pytest.mark.parametrize("format_", ["collapsed", "speedscope", "pprof-text", "top"])
def test_a_recording_with_nothing_in_it_is_told(tmp_path, format_):
    """What viewers say of such a file is an error of its format."""
    for name in "a", "b":
        Writer().pid_start(7, 1).fid(1, "/x/a.pl").pid_end(7).save(tmp_path / name)
    done = run(f"--{format_}", tmp_path / "a", tmp_path / "b")
    assert done.returncode == 0 and b"estimated" not in done.stdout
    assert messages(done) == [f"nytp-export: {tmp_path}/a and 1 more: it holds no statements, calls or samples"]


# ---- progress ----

def watch(arguments, **how):
    """Standard error of a run whose standard error is a terminal."""
    primary, secondary = pty.openpty()
    process = subprocess.Popen([COMMAND, *arguments], stderr=secondary, stdout=subprocess.DEVNULL, **how)
    os.close(secondary)
    return process, primary


def test_a_slow_input_shows_progress_on_a_terminal(profile, tmp_path):
    """Its name is cut at 40 bytes, between characters, and steers no terminal."""
    data = profile("perltidy").read_bytes()
    name = b"a\x1b[31m\xc2\x9bm\n\xe2\x80\xae" + b"x" * 26 + "ä.out".encode()      # ä: bytes 40 and 41
    os.mkfifo(bytes(tmp_path) + b"/" + name)
    process, primary = watch(["--top", name], cwd=tmp_path)
    with open(bytes(tmp_path) + b"/" + name, "wb", buffering=0) as fifo:
        for piece in range(0, len(data), len(data) // 400):      # until it shows something
            fifo.write(data[piece:piece + len(data) // 400])
            if select.select([primary], [], [], 0.05)[0]:
                break
        fifo.write(data[piece + len(data) // 400:])
    text = read_all(primary)
    assert process.wait(30) == 0
    assert re.match(rb"\rreading a\?\[31m\?m\?\?x{26}: [\d.]+ MB", text), text
    assert text.endswith(b"\r\x1b[K")


def test_a_fast_one_or_a_quiet_run_does_not(profile):
    for arguments in (["--top", profile("mixed-calls2")], ["-q", "--top", profile("perltidy")]):
        process, primary = watch(arguments)
        assert read_all(primary) == b""
        assert process.wait(30) == 0


# ---- inspections ----

def test_stats_tells_what_is_in_it(mixed):
    stats = dict(re.match(r"(\S.{13})(.*)$", line).groups()
                 for line in good("--stats", mixed).decode().splitlines())
    stats = {key.strip(): value for key, value in stats.items()}
    assert stats["file"] == str(mixed)
    assert stats["state"] == "complete"
    assert stats["format"] == "5.0"
    assert stats["application"] == "mixed.pl"
    assert stats["clock"] == "10000000 ticks per second"
    assert "calls=2" in stats["options"].split()
    assert "TIME_LINE=" in stats["records"]


@pytest.mark.parametrize("attributes, told", [
    (["clock=tsc"], ", by the processor's counter, which is the kernel's tsc"),
    (["clock=clock_gettime"], ", by clock_gettime()"),
    (["clock=kvm-clock", "clock_parted=123456789 -4500000"], ", by the processor's counter, which is the kernel's kvm-clock; from "
     "12.3456789 s on by clock_gettime(), as the counter was 4500 us behind"),
    (["clock=tsc", "clock_parted=5 7200000000000"], ", by the processor's counter, which is the kernel's tsc; from 0.0000005 s on "
     "by clock_gettime(), as the counter was 7200000000 us ahead"),
    (["clock=tsc", "clock_parted=" + "9" * 200], ", by the processor's counter, which is the kernel's tsc"),
])
def test_stats_tells_which_clock_a_recording_had(tmp_path, attributes, told):
    stream = Writer().pid_start(1)
    for attribute in attributes:
        stream.comment(f"nytp-attribute {attribute}")
    path = stream.pid_end(1).save(tmp_path / "nytprof.out")
    assert f"clock         10000000 ticks per second{told}\n" in good("--stats", path).decode()


def test_stats_and_top_of_a_tmon_out(tmp_path):
    """A recording of Devel::DProf names neither its program nor a perl."""
    program = "sub a { my $x; $x += $_ for 1 .. 200000 } a() for 1 .. 5"
    done = subprocess.run(["perl", "-d:DProf", "-e", program], cwd=tmp_path, check=False,
                          capture_output=True)
    if not (tmp_path / "tmon.out").exists():
        pytest.skip(f"Devel::DProf is not installed: {done.stderr.decode()[:80]}")
    stats = good("--stats", "tmon.out", cwd=tmp_path).decode()
    assert re.search(r"^recorder +DProf \d+", stats, re.MULTILINE)
    assert re.search(r"^calls +5$", stats, re.MULTILINE)
    assert not re.search(r"^(application|perl|format) ", stats, re.MULTILINE)
    top = run("--top", "--clock=real", "tmon.out", cwd=tmp_path)
    assert top.returncode == 0
    assert top.stdout.startswith(b"tmon.out: ")
    assert b" main::a\n" in top.stdout


def test_stats_of_two_files(mixed):
    one = good("--stats", mixed)
    assert good("--stats", mixed, mixed) == one + b"\n" + one


@pytest.mark.parametrize("name", ["mixed-calls2", "mixed-plain", "evals", "mixed-blocks",
                                  "made-hostile-names", "made-big-values"])
def test_dump_prints_every_record(profile, name):
    """Compared with the tests' own reader of the format."""
    lines = [line.split() for line in good("--dump", profile(name)).decode().splitlines()]
    records = [("V",), *Reader(profile(name))]
    tags = {"V": "VERSION", **{tag: words.upper().replace("-", "_")
                               for tag, words in RECORD_NAMES.items()}}
    assert [line[1] for line in lines] == [tags[record[0]] for record in records]
    compared = 0
    for line, record in zip(lines, records):
        if record[0] in "+>@*":
            numbers = [int(word.split("=")[1]) for word in line[2:]
                       if re.match(r"[a-z_]+=-?\d+$", word)]
            assert numbers == [field for field in record[1:] if isinstance(field, int)]
            compared += 1
    assert compared > 5
    offsets = [int(line[0]) for line in lines]
    inflated_from = next((i for i, line in enumerate(lines) if line[1] == "START_DEFLATE"), -1)
    assert offsets[:inflated_from + 1] == sorted(set(offsets[:inflated_from + 1]))
    assert offsets[inflated_from + 1:] == sorted(set(offsets[inflated_from + 1:]))


def test_inspections_write_files_too(mixed, tmp_path):
    good("--stats", "-o", tmp_path / "stats", mixed)
    assert pathlib.Path(tmp_path / "stats").read_bytes() == good("--stats", mixed)


# ---- what is named by mistake ----

@pytest.mark.parametrize("option, word", [("--top", "5"), ("--list", "main::busy")])
def test_a_value_that_is_not_attached_is_pointed_out(profile, option, word):
    done = run(option, word, profile("mixed-calls2"))
    assert done.returncode == 3
    assert messages(done)[0].endswith(f"(did you mean {option}={word}?)")
    done = run(option, "-q", word, profile("mixed-calls2"))
    assert "did you mean" not in messages(done)[0]


def test_a_folder_is_the_profiles_in_it(profile, tmp_path):
    folder = tmp_path / "prof"
    folder.mkdir()
    for name in ("mixed-calls2", "forks-merged", "made-gzipped"):
        (folder / f"{name}.out").write_bytes(profile(name).read_bytes())
    (folder / "notes.txt").write_text("no profile")
    (folder / ".hidden").write_bytes(profile("evals").read_bytes())
    (folder / "below").mkdir()
    os.mkfifo(folder / "fifo")
    each = sorted(str(path) for path in folder.glob("*.out"))
    for name in (folder, f"{folder}/"):
        assert good("-q", "--csv", name) == good("-q", "--csv", *each)
    assert good("--check", folder).count(b": ok\n") == 3
    done = run(folder / "below")
    assert done.returncode == 1
    assert messages(done) == [f"nytp-export: {folder}/below: no profile is in this folder"]


@pytest.mark.parametrize("magic, name", [(b"\xfd7zXZ\0", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"),
                                         (b"BZh9", "bzip2")])
def test_what_cannot_be_unpacked_is_named(tmp_path, magic, name):
    (tmp_path / "file").write_bytes(magic + bytes(100))
    done = run(tmp_path / "file")
    assert done.returncode == 1
    assert f"this is compressed with {name}; unpack it on the way: {name} -dc" in messages(done)[0]


def test_many_inputs_that_end_early_are_one_line(profile, tmp_path):
    cut = profile("mixed-calls2").read_bytes()[:4000]
    for number in range(3):
        (tmp_path / f"{number}.out").write_bytes(cut)
    done = run("--top", tmp_path, profile("mixed-calls2"))
    assert done.returncode == 3 and len(messages(done)) == 1
    assert f"{tmp_path}/0.out: byte " in messages(done)[0]
    assert messages(done)[0].endswith(
        " (3 of 4 inputs end early, this is the first); going on with what came before")
    compared = run("--diff", tmp_path / "0.out", tmp_path / "1.out")
    assert " (2 of 2 inputs end early, this is the first); " in messages(compared)[0]


def test_a_pipe_that_nobody_reads_is_noticed(profile, tmp_path):
    (tmp_path / "nytprof.out").write_bytes(profile("mixed-calls2").read_bytes())
    reader, writer = os.pipe()
    os.write(writer, b"a profile")
    said = "standard input is not read: nytprof.out is; for standard input say -"
    done = run("--top", cwd=tmp_path, stdin=reader)
    assert [line for line in messages(done) if said in line]
    assert not messages(run("--top", "nytprof.out", cwd=tmp_path, stdin=reader))
    os.read(reader, 100)
    assert not messages(run("--top", cwd=tmp_path, stdin=reader))
    os.close(reader)
    os.close(writer)


# ---- memory ----

def in_large_pages(path, **how):
    """Whether the kernel may use large pages for an export, looked at while it writes into a full pipe."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    with subprocess.Popen([COMMAND, "--json", "-o", "-", path], stdout=writing, **how) as export:
        os.close(writing)
        select.select([reading], [], [])
        maps = pathlib.Path(f"/proc/{export.pid}/smaps").read_text()
        with open(reading, "rb") as output:
            assert len(output.read()) > 8192
    assert export.returncode == 0
    return " hg" in maps


@pytest.mark.skipif(not os.path.exists("/sys/kernel/mm/transparent_hugepage") or
                    "CS_GNU_LIBC_VERSION" not in os.confstr_names or "NYTP_EXPORT" in os.environ,
                    reason="large pages are asked of Linux by glibc's malloc()")
def test_a_large_recording_is_read_into_large_pages(profile, mixed):
    """A small one is not: it would take more memory. Nor where address space is limited."""
    large = profile("big-perltidy")
    limit = lambda kind: {"preexec_fn": lambda: resource.setrlimit(kind, (1 << 30, 1 << 30))}
    assert in_large_pages(large)
    assert not in_large_pages(mixed)
    assert not in_large_pages(large, **limit(resource.RLIMIT_AS))
    assert not in_large_pages(large, **limit(resource.RLIMIT_DATA))
