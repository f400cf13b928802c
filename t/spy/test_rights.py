# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""What nytp-spy may look at and read: of other users, in containers, and what a program calls its source."""

import argparse
import errno
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import time

import pytest

import spied
from opened import opens
from spied import AS_NOBODY, PERL, THREADS, WAITS, exported


def wait_a_while():
    """The start of a program is known to a hundredth of a second, and a file's time to another."""
    now = time.monotonic()
    spied.wait_until(lambda: time.monotonic() > now + 0.05)


def change(program):
    """As cp -p, rsync -a and dpkg do it: another file with an old time."""
    new = program.with_suffix(".new")
    new.write_text("# a new head\n" + program.read_text())
    os.utime(new, (1, 1))
    new.rename(program)


CHANGES = {"not at all": lambda program: None, "another file of an old time": change, "in its place": lambda program: program.write_text("# new\n" * 9),
           "its time is set back": lambda program: os.utime(program, (1, 1))}


@pytest.mark.parametrize("how", CHANGES)
def test_a_file_is_the_programs_source_unless_it_was_changed_after_the_start(how, script, tmp_path):
    """dump and record go by the same rule: both times of the file are older than the program. Exporters show nothing else in its place."""
    program = script(WAITS)
    with spied.waiting(PERL, program) as process:
        wait_a_while()
        CHANGES[how](program)
        shown = spied.spy("dump", process.pid)
        spied.record(process.pid, tmp_path / "out")
    listed = exported(tmp_path / "out", "--list=main::inner")
    told = exported(tmp_path / "out", "--list=main::inner", "--source-files")
    assert [("sysread STDIN" in text, "# new" in text or "# a new" in text) for text in (shown, listed, told)] == [(how == "not at all", False)] * 3
    assert ("(the file was changed since)" in shown) == (how != "not at all")


FORKS = WAITS.replace("outer();", r"""<STDIN>; my $pid = fork; waitpid($pid, 0), exit if $pid; print "forked $$\n"; outer();""")


@pytest.mark.parametrize("is_changed", [False, True])
def test_a_workers_source_is_what_its_parent_has_compiled(is_changed, script, tmp_path):
    """A file that was written between the start of the parent and that of the worker is shown of neither."""
    program = script(FORKS)
    with spied.ready(PERL, program) as process:
        wait_a_while()
        if is_changed:
            change(program)
        wait_a_while()
        worker = process.go_on("forked").split()[1]
        spied.record(worker, tmp_path / "out")
        shown = spied.spy("dump", worker)
        process.popen.stdin.close()
    for text in shown, exported(tmp_path / "out", "--list=main::inner", "--source-files"):
        assert ("sysread STDIN" in text) != is_changed and "# a new" not in text


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("has_call", [True, False], ids=["", "without openat2"])
@pytest.mark.parametrize("name", ["lib/Mod.pm", "../srv/lib/Mod.pm", "/srv/lib/Mod.pm", "link/Mod.pm", "up/Mod.pm"])
def test_names_lead_nowhere_out_of_the_programs_root(name, has_call, tmp_path):
    """Whether they are relative or not, by links and by `..`: what has that name for us is not shown."""
    host = tmp_path / "srv/lib"
    jail = tmp_path / "jail/srv"
    for folder, text in (host, "SECRET of the host"), (jail / "lib", "the jail's own line"):
        folder.mkdir(parents=True)
        (folder / "Mod.pm").write_text(f"{text}\n")
    os.symlink(host, jail / "link")
    os.symlink("../../../../../.." + str(host), jail / "up")
    code = f'$| = 1; chroot "{tmp_path}/jail" or die; chdir "/srv" or die; eval qq{{# line 1 "{name}"\nsub f {{ say "ready"; sleep 99 }}}}; f()'
    with spied.waiting(PERL, "-E", code) as process:
        shown = spied.spy("dump", process.pid, before=[] if has_call else spied.without("openat2", errno.ENOSYS))
        spied.record(process.pid, tmp_path / "out")
    kept = exported(tmp_path / "out", "--dump")
    is_there = name.endswith("lib/Mod.pm")
    assert f"main::f ({name}:1)" in shown and "/srv/" in kept and "SECRET" not in shown + kept
    assert ("the jail's own" in shown) == (is_there and has_call) and ("the jail's own" in kept) == is_there


@pytest.mark.parametrize("name", ["device", "FIFO"])
def test_what_a_program_calls_its_source_is_opened_only_if_it_is_a_file(name, tmp_path):
    """A device may do something when it is opened, as a watchdog or a tape."""
    if name == "device" and os.geteuid() != 0:
        pytest.skip("needs root to make a device")
    os.mknod(tmp_path / name, *((stat.S_IFCHR | 0o600, os.makedev(1, 5)) if name == "device" else (stat.S_IFIFO | 0o600,)))
    (tmp_path / "file").write_text("1\n")
    os.utime(tmp_path / "file", (1, 1))
    with spied.waiting(PERL, "-E", f'$| = 1; eval qq{{# line 1 "{tmp_path / name}"\nsub f {{ say "ready"; sleep 99 }}}}; eval qq{{# line 1 "{tmp_path}/file"\nf()}}') as process:
        look = lambda: spied.spy("dump", process.pid)
        assert not opens(tmp_path / name, look) and opens(tmp_path / "file", look)


@pytest.mark.parametrize("name", ["/dev/zero", "FIFO"])
def test_what_a_program_calls_its_source_is_not_waited_for(name, tmp_path):
    """Nor read without end."""
    os.mkfifo(tmp_path / "FIFO")
    with spied.waiting(PERL, "-e", f'$| = 1; eval qq{{# line 1 "{tmp_path / name}"\nprint "ready\n"; sleep 99}}') as process:
        assert re.search(rf"{name}:\d\)$", spied.spy("dump", process.pid), re.M)


def test_code_that_perl_made_itself_has_no_line_of_source(tmp_path):
    """That of -M is at line 0 of the script: there a text that was not read was looked through."""
    (tmp_path / "Slow.pm").write_text('package Slow; sub import { $| = 1; print "ready\\n"; sleep 99 } 1')
    (tmp_path / "app.pl").write_text("1;\n")
    with spied.waiting(PERL, "-I.", "-MSlow", "app.pl", cwd=tmp_path) as process:
        assert "(app.pl:0)" in spied.spy("dump", process.pid)


@pytest.mark.skipif(os.getuid() != 0, reason="needs root")
def test_root_reads_for_another_users_program_what_that_user_may_read():
    """The program says which file is its source."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        for name, mode in ("secret", 0o600), ("roots", 0o640), ("open", 0o644):
            path = pathlib.Path(folder, name)
            path.write_text(f"the text of {name}\n")
            path.chmod(mode)
            os.utime(path, (1, 1))
        os.symlink("open", f"{folder}/link")
        code = "".join(f'eval q{{# line 1 "{folder}/{name}"\nsub {name} {{ my $n; $n += $_ for 1 .. 1e5 }} }};' for name in ("secret", "roots", "link"))
        with spied.ready(PERL, "-e", f'$| = 1; {code} print "ready\n"; while (1) {{ secret(); roots(); main::link() }}', user=65534, group=65534,
                           extra_groups=[]) as process:
            spied.spy("record", process.pid, "-d", "1s", "-r", "500", "-o", f"{folder}/out")
            text = exported(f"{folder}/out", "--dump") + spied.spy("dump", process.pid)
    assert "main::secret" in text and "main::roots" in text
    assert set(re.findall("the text of [a-z]+", text)) == {"the text of open"}


def test_who_has_the_right_and_is_refused_is_not_told_to_get_it(script):
    """Who is root in a user namespace has CAP_SYS_PTRACE there alone."""
    with spied.ready(PERL, script(WAITS)) as process:
        if subprocess.run(["unshare", "-Ur", "true"], stderr=subprocess.DEVNULL).returncode:
            pytest.skip("no user namespace may be made here")
        ran = spied.run("dump", process.pid, before=["unshare", "-Ur"])
    assert ran.returncode == 1 and ran.stderr.count("\n") == 1
    assert f": process {process.pid} may not be looked at, although nytp-spy has CAP_SYS_PTRACE: it is of another user namespace" in ran.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_another_users_process_says_who_may(script, open_spy):
    with spied.waiting(PERL, script(WAITS)) as process:
        ran = spied.run("dump", process.pid, before=AS_NOBODY, spy=open_spy)
        assert ran.returncode == 1
        assert "is of user 0, you are 65534: use sudo" in ran.stderr
    with spied.waiting(" ".join([*AS_NOBODY, PERL]), "-e", '$| = 1; print "ready\n"; <STDIN>') as process:
        ran = spied.run("dump", process.pid, before=AS_NOBODY, spy=open_spy)
        assert ran.returncode == 0 and "CORE::readline" in ran.stdout


CLOSED = """
use strict; $| = 1;
($(, $)) = (65534, '65534 65534');
($<, $>) = (65534, 65534);
print "ready\\n";
my $line = <STDIN>;
"""

# Root without the right to look at any process, in a tree of files that tells what the case says: of no container, if nothing.
WITHOUT_RIGHTS = """
mount -t tmpfs none /mnt && mkdir /mnt/run /mnt/mnt || exit 99
for name in /*; do
    case $name in /run | /mnt) continue ;; esac
    [ -L "$name" ] && cp -P "$name" /mnt || { [ -d "$name" ] && mkdir "/mnt$name" && mount --rbind "$name" "/mnt$name"; }
done
mount -t tmpfs none /mnt/proc/sys/kernel && mkdir /mnt/proc/sys/kernel/yama && cd /mnt && %s || exit 99
exec chroot /mnt setpriv --bounding-set=-sys_ptrace "$@"
"""


def dumped_without_rights(with_files, pid):
    ran = spied.run("dump", pid, before=["unshare", "-m", "sh", "-c", WITHOUT_RIGHTS % with_files, "sh"])
    if ran.returncode == 99:
        pytest.skip("no file systems may be mounted here")
    return ran


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("with_files, reason", [
    ("true", r"process \d+ may not be looked at; it takes the same user or CAP_SYS_PTRACE$"),
    ("echo 1 >proc/sys/kernel/yama/ptrace_scope", r"yama allows only parents to look \(kernel.yama.ptrace_scope=1\): use sudo, or "
     r"sysctl kernel.yama.ptrace_scope=0, or start it with nytp spy record -- COMMAND$"),
    ("touch .dockerenv", r"this container may not read .*: start it with --cap-add SYS_PTRACE"),
], ids=["no right", "yama", "container"])
def test_what_forbids_to_look_is_told_with_the_way_out(with_files, reason):
    with spied.ready(" ".join([*AS_NOBODY, PERL]), "-e", '$| = 1; print "ready\\n"; <STDIN>') as process:
        ran = dumped_without_rights(with_files, process.pid)
    assert ran.returncode == 1 and re.search(reason, ran.stderr), ran.stderr
    assert ran.stdout == "" and ran.stderr.count("\n") == 1


# Traces the process without a stop, until it is killed.
TRACER = """
import ctypes, sys
PTRACE_SEIZE = 0x4206
print(ctypes.CDLL(None).ptrace(PTRACE_SEIZE, int(sys.argv[1]), None, None), flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_who_traces_is_told_where_that_may_be_why(script):
    """A process that is traced can be looked at, and is not stopped."""
    with spied.ready(PERL, script(WAITS)) as process:
        with subprocess.Popen([sys.executable, "-c", TRACER, str(process.pid)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as tracer:
            assert tracer.stdout.readline() == "0\n"
            looked = spied.spy("dump", process.pid)
            ran = dumped_without_rights("true", process.pid)
            tracer.kill()
    assert "CORE::sysread" in looked
    assert ran.returncode == 1 and f": process {tracer.pid} traces it, and you are not its user" in ran.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_program_that_changed_its_user_is_closed_to_that(script, open_spy):
    """As one that is set-uid: the kernel keeps what root's process knew from the user that it became."""
    with spied.waiting(PERL, script(CLOSED)) as process:
        ran = spied.run("dump", process.pid, before=AS_NOBODY, spy=open_spy)
        assert ran.returncode == 1 and "has changed its user or is set-uid, and so is closed to its own user: use sudo" in ran.stderr
        assert "CORE::readline" in spied.spy("dump", process.pid)


@pytest.mark.parametrize("errno", [errno.ENOSYS, errno.EPERM], ids=["no such call", "filtered"])
def test_where_the_system_call_is_not_to_be_had_memory_is_read_as_a_file(errno, script):
    with spied.waiting(PERL, script(WAITS)) as process:
        assert "main::inner" in spied.spy("dump", process.pid, before=spied.without("process_vm_readv", errno))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("errno", [errno.ENOSYS, errno.EPERM], ids=["no such call", "filtered"])
def test_where_neither_the_call_nor_the_file_is_to_be_had_is_told_who_may(errno, script, open_spy):
    with spied.waiting(PERL, script(WAITS)) as process:
        ran = spied.run("dump", process.pid, before=AS_NOBODY + spied.without("process_vm_readv", errno), spy=open_spy)
    assert ran.returncode == 1 and ran.stdout == "", ran.stderr
    assert ran.stderr.count("\n") == 1 and "is of user 0, you are 65534: use sudo" in ran.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_program_in_a_container_is_looked_at_from_outside(script):
    """With process numbers and files of its own: threads are found by the numbers that they have inside."""
    with spied.running("unshare -pmf --kill-child --mount-proc " + PERL, script(THREADS)) as outer:
        outer.wait_for("all")
        inner = int(open(f"/proc/{outer.pid}/task/{outer.pid}/children").read())
        spied.Process(argparse.Namespace(pid=inner)).wait_until_it_waits()
        text = spied.spy("dump", inner)
    assert sorted(re.findall(r"^Thread (\d+) \[\d+\] \(waiting", text, re.M)) == ["0", "1", "2", "3"]
    assert "sub waits { my ($n) = @_" in text    # the source


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_where_proc_is_of_another_pid_namespace_this_is_told(script):
    """A number is another process there than for system calls."""
    ran = subprocess.run(["unshare", "-pf", "--kill-child", "sh", "-c", f"{PERL} -e 'print qq(ready\n); close STDOUT; sleep 100' >ready & "
                          f"until [ -s ready ]; do :; done; exec {spied.SPY} dump $!"], capture_output=True, text=True, cwd=script("").parent)
    assert ran.returncode == 1 and ran.stdout == "" and ran.stderr.count("\n") == 1
    assert ran.stderr.startswith("nytp-spy: /proc is not there, or tells of another pid namespace than that of nytp-spy: mount -t proc"), ran.stderr
