# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Where the output goes: whole or not at all, never mixed with messages."""

import gzip
import os
import platform
import shutil
import signal
import stat
import subprocess
import time

import pytest

from instructions import instructions
from command import COMMAND, asking_for, formats, good, messages, run, run_on_terminal
from nytpwrite import Writer


@pytest.fixture
def mixed(profile):
    return profile("mixed-calls2")


def leftovers(folder):
    return sorted(path.name for path in folder.iterdir())


# ---- files ----

@pytest.mark.parametrize("name, format_", [
    ("callgrind.out.app", "callgrind"), ("app.callgrind", "callgrind"), ("app.pb.gz", "pprof"), ("app.pprof", "pprof"),
    ("app.pprof.gz", "pprof"), ("app.pprof.txt", "pprof-text"), ("app.json.gz", "json"), ("app.firefox.json.gz", "firefox"),
    ("app.svg.gz", "flamegraph"), ("app.html.gz", "html"), ("app.jsonl.gz", "rows"), ("callgrind.out.gz", "callgrind"),
])
def test_the_name_tells_the_format_and_whether_it_is_compressed(mixed, tmp_path, name, format_):
    done = run("-o", tmp_path / name, mixed)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    good(f"--{format_}", "-o", tmp_path / "asked", mixed)
    is_packed = {path: (tmp_path / path).read_bytes()[:2] == b"\x1f\x8b" for path in (name, "asked")}
    assert is_packed == {name: name.endswith(".gz") or format_ == "pprof", "asked": format_ == "pprof"}
    named, asked = ((gzip.open if is_packed[path] else open)(tmp_path / path, "rb").read() for path in is_packed)
    assert named == asked


def test_a_name_that_tells_no_format_is_refused(mixed, tmp_path):
    assert run("-o", tmp_path / "app.txt", mixed).returncode == 2


@pytest.mark.parametrize("format_", ["html", "markdown"])    # the others: test_gate.py, whose limits change nothing
def test_same_input_same_bytes(mixed, format_):
    first = good("-q", asking_for(format_), mixed)
    assert first
    assert good("-q", asking_for(format_), mixed) == first


def test_a_file_is_replaced_when_complete(mixed, tmp_path):
    out = tmp_path / "out.callgrind"
    out.write_text("old")
    out.chmod(0o640)
    os.link(out, tmp_path / "other-name")
    good("-o", out, mixed)
    assert out.read_bytes() == good("--callgrind", mixed)
    assert stat.S_IMODE(out.stat().st_mode) == 0o640
    assert (tmp_path / "other-name").read_text() == "old"
    assert leftovers(tmp_path) == ["other-name", "out.callgrind"]


def test_a_new_file_follows_the_umask(mixed, tmp_path):
    subprocess.run(["sh", "-c", 'umask 027; exec "$0" --top -o "$1" "$2"', COMMAND,
                    tmp_path / "out", mixed], check=True)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_that_is_replaced_stays_its_owners(mixed, tmp_path):
    file = tmp_path / "app.json"
    file.write_text("old")
    os.chown(file, 65534, 65533)
    file.chmod(0o4640)
    os.link(file, tmp_path / "other name")
    good("--json", "-o", file, mixed)
    after = file.stat()
    assert (after.st_uid, after.st_gid, stat.S_IMODE(after.st_mode)) == (65534, 65533, 0o4640)
    assert (tmp_path / "other name").read_text() == "old"


@pytest.fixture
def command_for_others(open_folder):
    """A copy of nytp-export where any user may run it: the tree may be below a folder that others may not enter."""
    return shutil.copy(COMMAND, open_folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
@pytest.mark.parametrize("has_group, mode", [(True, 0o660), (False, 0o600)])
def test_another_group_gets_no_rights_by_a_file_that_is_replaced(mixed, open_folder, command_for_others, has_group, mode):
    open_folder.chmod(0o777)
    file = open_folder / "app.json"
    file.write_text("old")
    os.chown(file, 65534, 65533)
    file.chmod(0o660)
    with open(mixed, "rb") as data:
        good("--json", "-o", file, "-", stdin=data, user=65534, group=65534,
             extra_groups=[65533] if has_group else [], executable=command_for_others)
    after = file.stat()
    assert (after.st_gid, stat.S_IMODE(after.st_mode)) == (65533 if has_group else 65534, mode)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_a_file_in_a_folder_that_is_not_ours_is_told_and_stays(mixed, open_folder, command_for_others):
    file = open_folder / "app.json"
    file.write_text("old")
    file.chmod(0o666)
    with open(mixed, "rb") as data:
        done = run("--json", "-o", file, "-", stdin=data, user=65534, group=65534, extra_groups=[],
                   executable=command_for_others)
    assert (done.returncode, messages(done)) == (
        4, [f"nytp-export: {file}: cannot create a file beside it: Permission denied"])
    assert file.read_text() == "old"


def test_a_link_stays_a_link(mixed, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "target").write_text("old")
    (tmp_path / "link").symlink_to("folder/target")
    good("--top", "-o", tmp_path / "link", mixed)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "target").read_bytes() == good("--top", mixed)


def test_a_link_to_nothing_gets_a_whole_target_or_none(mixed, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "again").symlink_to("target")
    (tmp_path / "link").symlink_to("folder/again")
    subprocess.run(["sh", "-c", 'ulimit -f 1; "$0" -q --json -o "$1" "$2"; test $? = 4', COMMAND, tmp_path / "link",
                    mixed], check=True)
    assert leftovers(tmp_path / "folder") == ["again"]
    good("--top", "-o", tmp_path / "link", mixed)
    assert (tmp_path / "folder" / "target").read_bytes() == good("--top", mixed)
    assert (tmp_path / "link").is_symlink() and leftovers(tmp_path / "folder") == ["again", "target"]
    (tmp_path / "round").symlink_to("round")
    assert run("--top", "-o", tmp_path / "round", mixed).returncode == 4


def test_unusable_input_leaves_the_old_output(tmp_path):
    out = tmp_path / "out.callgrind"
    out.write_text("old")
    (tmp_path / "bad").write_bytes(b"no profile at all")
    assert run("-o", out, tmp_path / "bad").returncode == 1
    assert out.read_text() == "old"
    assert leftovers(tmp_path) == ["bad", "out.callgrind"]


def test_a_redirected_file_is_appended_to(mixed, tmp_path):
    out = tmp_path / "out"
    subprocess.run(["sh", "-c", '{ echo first; "$0" --top -o /dev/stdout "$1"; } > "$2"',
                    COMMAND, mixed, out], check=True)
    assert out.read_bytes() == b"first\n" + good("--top", mixed)


def test_a_fifo_is_written_in_place(mixed, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen([COMMAND, "--callgrind", "-o", fifo, mixed]) as process:
        data = subprocess.run(["cat", fifo], stdout=subprocess.PIPE, timeout=600,
                              check=True).stdout
    assert process.returncode == 0
    assert data == good("--callgrind", mixed)
    assert stat.S_ISFIFO(fifo.stat().st_mode)


def test_pprof_is_compressed_in_a_file_only(mixed, tmp_path):
    good("--pprof", "-o", tmp_path / "x.pb.gz", mixed)
    with open(tmp_path / "redirected", "wb") as out:
        assert run("--pprof", mixed, stdout=out).returncode == 0
    piped = good("--pprof", mixed)
    assert gzip.decompress((tmp_path / "x.pb.gz").read_bytes()) in piped
    assert piped[:2] != b"\x1f\x8b"
    assert (tmp_path / "redirected").read_bytes() == (tmp_path / "x.pb.gz").read_bytes()


# ---- failures ----

@pytest.mark.parametrize("format_", formats())
def test_a_full_device_is_told(mixed, format_):
    done = run(asking_for(format_), "-o", "/dev/full", mixed)
    assert done.returncode == 4
    assert messages(done)[-1] == \
        "nytp-export: /dev/full: cannot write: No space left on device"


@pytest.mark.parametrize("arguments", [["--top"], ["--pprof"], ["--stats"], ["--check"],
                                       ["--dump"], ["--help"], ["--list-formats"], ["-V"]])
def test_full_standard_output_is_told(mixed, arguments):
    with open("/dev/full", "wb") as full:
        done = run(*arguments, mixed, stdout=full)
    assert done.returncode == 4
    assert messages(done) == \
        ["nytp-export: standard output: cannot write: No space left on device"]


@pytest.mark.parametrize("arguments", [["--top"], ["--callgrind"], ["--stats"], ["--help"]])
def test_closed_standard_output_is_told(mixed, arguments):
    done = subprocess.run(["sh", "-c", 'exec "$0" "$@" >&-', COMMAND, *arguments, mixed],
                          stderr=subprocess.PIPE, check=False)
    assert done.returncode == 4
    assert messages(done) == ["nytp-export: standard output: cannot open: Bad file descriptor"]


@pytest.mark.parametrize("ignored", [False, True])
@pytest.mark.parametrize("arguments", [["--callgrind"], ["--pprof"], ["--dump"]])
def test_a_reader_that_goes_away_ends_it_quietly(profile, arguments, ignored):
    reader, writer = os.pipe()
    os.close(reader)
    done = run(*arguments, profile("mixed-calls2"), stdout=writer, restore_signals=not ignored)
    os.close(writer)
    assert (done.returncode, done.stderr) == (4, b"")


@pytest.mark.parametrize("path", ["no/such/folder/out", "folder/", "folder"])
def test_an_output_that_cannot_be_opened(mixed, tmp_path, path):
    (tmp_path / "folder").mkdir()
    done = run("--top", "-o", path, mixed, cwd=tmp_path)
    assert done.returncode == 4
    assert messages(done)[0].startswith(f"nytp-export: {path}: cannot ")
    assert leftovers(tmp_path) == ["folder"]


def test_a_file_too_large_is_told_and_removed(mixed, tmp_path):
    done = subprocess.run(["sh", "-c", 'ulimit -f 8; exec "$0" "$@"', COMMAND,
                           "--dump", "-o", tmp_path / "out", mixed],
                          stderr=subprocess.PIPE, check=False)
    assert done.returncode == 4
    assert messages(done) == [f"nytp-export: {tmp_path}/out: cannot write: File too large"]
    assert leftovers(tmp_path) == []


def default_signals():
    """nohup and job runners leave signals ignored, and that is inherited."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_no_unfinished_file(profile, tmp_path, number):
    data = profile("mixed-calls2").read_bytes()
    with subprocess.Popen([COMMAND, "--dump", "-o", tmp_path / "out", "-"],
                          stdin=subprocess.PIPE, preexec_fn=default_signals) as process:
        process.stdin.write(data[:4000])
        process.stdin.flush()
        for _ in range(6000):               # it says nowhere that it has begun
            if leftovers(tmp_path):
                break
            time.sleep(0.01)
        assert len(leftovers(tmp_path)) == 1
        assert leftovers(tmp_path) != ["out"]
        process.send_signal(number)
        assert process.wait(10) == -number
    assert leftovers(tmp_path) == []


# ---- terminals ----

@pytest.mark.parametrize("arguments", [["--pprof"], ["--pprof", "-o", "-"]])
def test_binary_is_not_written_to_a_terminal(mixed, arguments):
    status, text, said = run_on_terminal(*arguments, mixed)
    assert (status, text) == (2, b"")
    assert said == (b"nytp-export: pprof is binary and standard output a terminal: "
                    b"use -o FILE or a pipe\n")


@pytest.mark.parametrize("format_", ["callgrind", "pprof-text"])
def test_text_is(mixed, format_):
    status, text, said = run_on_terminal(f"--{format_}", mixed)
    assert (status, said) == (0, b"")
    assert text.replace(b"\t", b" ") == good(f"--{format_}", mixed).replace(b"\t", b" ")


# ---- one file for each process ----

def test_per_process_names(profile, tmp_path):
    file = profile("forks-merged")
    for name in ("a.%p.callgrind", "b.callgrind", "callgrind.out.c", "d.pb.gz", "e"):
        good("--per-process", *([] if name != "e" else ["--top"]), "-o", tmp_path / name, file)
    stats = good("--stats", file).decode()
    pids = sorted(line.split("pid ")[1].split(",")[0] for line in stats.splitlines()
                  if "pid " in line)
    assert len(pids) == 5
    wanted = [name.replace("%p", pid) for pid in pids for name in
              ("a.%p.callgrind", "b.%p.callgrind", "callgrind.out.c.%p", "d.%p.pb.gz", "e.%p")]
    assert leftovers(tmp_path) == sorted(wanted)


def test_many_processes_are_each_taken_out_in_the_time_of_one(tmp_path):
    """The calls of all of them were gone through for each: sixteen times as long for four times as many."""
    def work(n):
        stream = Writer(options={"calls": 2}).pid_start(1).fid(1, "/x/a.pl").time(10, 1, 1)
        for pid in range(2, n + 2):
            stream.pid_start(pid, 1).time(5, 1, 1)
            for line in range(1, 51):
                stream.entry(1, line).time(5, 1, 100 + line).leave(1, 5, 5, f"main::f{line}").time(1, 1, 1)
            stream.pid_end(pid)
        return instructions("--check", "--per-process", stream.pid_end(1).save(tmp_path / "many.out"))
    few, many = work(50), work(200)
    assert many < 6 * few, (few, many)


# ---- --open ----

@pytest.fixture
def viewer(tmp_path):
    """A kcachegrind that keeps what it is given; only how it is started is tested here."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "kcachegrind"
    script.write_text('#!/bin/sh\ncp "$1" "$VIEWED"\nprintf "%s" "$1" > "$VIEWED.path"\n'
                      'ls -a "${1%/*}" > "$VIEWED.folder"\nexit "${VIEWER_STATUS:-0}"\n')
    script.chmod(0o755)
    (tmp_path / "tmp").mkdir()
    return {"PATH": f"{folder}:{os.environ['PATH']}", "VIEWED": str(tmp_path / "viewed"),
            "TMPDIR": str(tmp_path / "tmp")}


def test_open_starts_the_viewer_and_cleans_up(mixed, tmp_path, viewer):
    done = run("--callgrind", "--open", mixed, env=viewer)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert (tmp_path / "viewed").read_bytes() == good("--callgrind", mixed)
    name = (tmp_path / "viewed.path").read_text()
    assert os.path.basename(name) == f"{mixed.name}.callgrind"
    # KCachegrind would load every other file of that name too
    assert (tmp_path / "viewed.folder").read_text().split() == \
        [".", "..", os.path.basename(name)]
    assert leftovers(tmp_path / "tmp") == []


def test_open_shows_the_file_that_was_asked_for(mixed, tmp_path, viewer):
    done = run("--open", "-o", tmp_path / "kept.callgrind", mixed, env=viewer)
    assert done.returncode == 0
    assert (tmp_path / "viewed.path").read_text() == str(tmp_path / "kept.callgrind")
    assert (tmp_path / "kept.callgrind").exists()


def test_a_viewer_that_is_not_there(mixed, tmp_path):
    (tmp_path / "tmp").mkdir()
    done = run("--callgrind", "--open", mixed,
               env={"PATH": str(tmp_path), "TMPDIR": str(tmp_path / "tmp")})
    assert done.returncode == 4
    assert "not installed: kcachegrind" in messages(done)[0]
    assert leftovers(tmp_path / "tmp") == []


def test_a_viewer_that_fails_is_a_failure(mixed, tmp_path, viewer):
    done = run("--callgrind", "--open", mixed, env=dict(viewer, VIEWER_STATUS="3"))
    assert (done.returncode, messages(done)) == (4, ["nytp-export: --open: kcachegrind ended with status 3"])
    (tmp_path / "bin" / "kcachegrind").write_text("#!/bin/sh\nkill -KILL $$\n")
    done = run("--callgrind", "--open", mixed, env=viewer)
    assert (done.returncode, messages(done)) == (4, ["nytp-export: --open: kcachegrind was ended by signal 9"])
    assert leftovers(tmp_path / "tmp") == []


def test_qcachegrind_where_there_is_no_kde(mixed, tmp_path, viewer):
    (tmp_path / "bin" / "kcachegrind").rename(tmp_path / "bin" / "qcachegrind")
    path = f"{tmp_path}/bin:{tmp_path}/tools"  # without this machine's kcachegrind
    (tmp_path / "tools").mkdir()
    for tool in "sh", "cp", "ls":
        (tmp_path / "tools" / tool).symlink_to(shutil.which(tool))
    assert run("--callgrind", "--open", mixed, env=dict(viewer, PATH=path)).returncode == 0
    assert (tmp_path / "viewed").read_bytes() == good("--callgrind", mixed)


@pytest.mark.parametrize("format_, program, suffix", [
    ("flamegraph", "xdg-open", "svg"), ("speedscope", "speedscope", "speedscope.json")])
def test_open_without_a_name_keeps_the_file_of_a_viewer_that_hands_it_on_and_replaces_none(mixed, tmp_path, viewer, format_, program, suffix):
    (tmp_path / "bin" / "kcachegrind").rename(tmp_path / "bin" / program)
    own, link = (tmp_path / f"{mixed.name}.{word}{suffix}" for word in ("", "2."))
    own.write_text("mine")
    link.symlink_to("nowhere")
    for number in 3, 4:
        name = f"{mixed.name}.{number}.{suffix}"
        done = run(f"--{format_}", "--open", mixed, env=viewer, cwd=tmp_path)
        assert (done.returncode, messages(done)) == (0, [f"nytp-export: --open: written to {name}"])
        assert (tmp_path / "viewed.path").read_text() == name
        assert (tmp_path / name).read_bytes() == good(f"--{format_}", mixed) and leftovers(tmp_path / "tmp") == []
    assert own.read_text() == "mine" and link.is_symlink() and not (tmp_path / "nowhere").exists()
    done = run(f"--{format_}", "--open", "-o", own, mixed, env=viewer, cwd=tmp_path)
    assert done.returncode == 0 and own.read_text() != "mine"


# Puts a link at LINK before the Nth call by which nytp-export looks at a name or takes one, as another process may.
PLANT = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
__attribute__((constructor)) static void spare_the_viewer(void) { unsetenv("LD_PRELOAD"); }
static void plant(void)
{
    static int n;
    if (++n == atoi(getenv("NTH")) && symlink("victim", getenv("LINK")) != 0)
        _exit(99);
}
#define NEXT(name, of) plant(); return ((int (*) of)dlsym(RTLD_NEXT, #name))
int lstat64(const char *path, struct stat64 *st) { NEXT(lstat64, (const char *, struct stat64 *))(path, st); }
int stat64(const char *path, struct stat64 *st) { NEXT(stat64, (const char *, struct stat64 *))(path, st); }
int rename(const char *from, const char *to) { NEXT(rename, (const char *, const char *))(from, to); }
int open64(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const int mode = flags & 0100 ? va_arg(rest, int) : 0;
    va_end(rest);
    NEXT(open64, (const char *, int, ...))(path, flags, mode);
}
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="names of glibc's calls")
def test_open_without_a_name_follows_no_link_that_comes_meanwhile(mixed, tmp_path, viewer):
    """A link that another user puts in the current folder, at whatever moment, replaces no file."""
    (tmp_path / "bin" / "kcachegrind").rename(tmp_path / "bin" / "xdg-open")
    (tmp_path / "plant.c").write_text(PLANT)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "plant.so", tmp_path / "plant.c", "-ldl"], check=True)
    victim, link = tmp_path / "victim", tmp_path / f"{mixed.name}.svg"
    was_planted = 0
    for nth in range(1, 200):
        victim.write_text("mine")
        done = run("--flamegraph", "--open", mixed, cwd=tmp_path,
                   env=dict(viewer, LD_PRELOAD=str(tmp_path / "plant.so"), NTH=str(nth), LINK=link.name))
        if done.returncode == 99:       # it came too late: the name was taken
            break
        assert (done.returncode, victim.read_text()) == (0, "mine"), nth
        name = (tmp_path / "viewed.path").read_text()
        was_planted += link.is_symlink()
        for made in {link, tmp_path / name}:
            made.unlink()
    assert done.returncode == 99 and was_planted > 5 and leftovers(tmp_path / "tmp") == []


@pytest.fixture
def running_viewer(mixed, tmp_path, viewer):
    """nytp-export, in a process group of its own, whose viewer says that it runs, ends when it is told,
    and copies the file then: (process, what tells it)."""
    for name in "ready", "end":
        os.mkfifo(tmp_path / name)
    (tmp_path / "bin" / "kcachegrind").write_text(
        f'#!/bin/sh\nexec 3<>"{tmp_path}/end"; echo "$1" >"{tmp_path}/ready"; read line <&3; cp "$1" "$VIEWED"\n')
    with subprocess.Popen([COMMAND, "--callgrind", "--open", mixed], env=viewer, stderr=subprocess.PIPE,
                          start_new_session=True, preexec_fn=default_signals) as process:
        shown = (tmp_path / "ready").read_text().strip()
        assert os.path.exists(shown)
        yield process, lambda: (tmp_path / "end").write_text("\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_removes_the_viewers_file(running_viewer, tmp_path, number):
    process, end_viewer = running_viewer
    process.send_signal(number)
    assert process.wait(60) == -number
    end_viewer()
    assert leftovers(tmp_path / "tmp") == []


def test_an_interrupt_is_the_viewers_affair(running_viewer, mixed, tmp_path):
    """As with system(): a viewer that goes on has its file until it ends."""
    process, end_viewer = running_viewer
    process.send_signal(signal.SIGINT)
    end_viewer()
    assert (process.wait(60), process.stderr.read()) == (0, b"")
    assert (tmp_path / "viewed").read_bytes() == good("--callgrind", mixed)
    assert leftovers(tmp_path / "tmp") == []


def test_ctrl_c_ends_the_viewer_and_removes_its_file(running_viewer, tmp_path):
    process, _ = running_viewer
    os.killpg(process.pid, signal.SIGINT)
    assert (process.wait(60), process.stderr.read()) == (0, b"")
    assert not (tmp_path / "viewed").exists() and leftovers(tmp_path / "tmp") == []


# ---- the binary ----

def test_it_needs_no_perl():
    assert shutil.which("ldd")
    libraries = subprocess.run(["ldd", COMMAND], capture_output=True, text=True,
                               check=True).stdout
    assert "libc." in libraries
    assert "perl" not in libraries
