# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""What nytp-spy's commands show of programs, and how they refuse."""

import errno
import os
import pathlib
import re
import resource
import signal
import subprocess

import pytest

import spied
from spied import EXPORT, PERL, SHARES, THREADS, WAITS, exported

# A program that has perl in it and exports none of it.
EMBEDS = """
#include <EXTERN.h>
#include <perl.h>
static PerlInterpreter *my_perl;
int main(int argc, char **argv, char **env)
{
    PERL_SYS_INIT3(&argc, &argv, &env);
    my_perl = perl_alloc();
    perl_construct(my_perl);
    if (perl_parse(my_perl, NULL, argc, argv, env) == 0)
        perl_run(my_perl);
    perl_destruct(my_perl);
    perl_free(my_perl);
    PERL_SYS_TERM();
    return 0;
}
"""


def test_dump_shows_where_a_program_waits_and_for_what(script):
    with spied.waiting(PERL, script(WAITS)) as process:
        text = spied.spy("dump", process.pid)
    frames = re.findall(r"^    (\S.*)$", text, re.M)
    assert [re.sub(r" \(.*/", " (", frame) for frame in frames] == [
        "CORE::sysread", "main::inner (app.pl:3)", "main::lexical (app.pl:4)", "main::outer (app.pl:5)",
        "(main program) (app.pl:7)"]
    assert re.search(r"waiting: read of pipe:\[\d+\] \(fd 0\)", text)
    assert "my sub lexical { inner(1) }" in text


def test_dump_shows_a_program_that_is_being_compiled():
    """It waits for its third line; no statement runs."""
    with spied.running(PERL, "-", stdin=subprocess.PIPE) as process:
        process.popen.stdin.write('BEGIN { $| = 1; print "ready\\n" }\nsub never { 1 }\n')
        process.popen.stdin.flush()
        process.wait_for("ready")
        process.wait_until_it_waits()
        text = spied.spy("dump", process.pid)
        process.popen.stdin.close()
    assert re.search(r"waiting: read of pipe:", text) and "(main program) (-:3)" in text, text


def test_dump_shows_every_thread(script):
    with spied.running(PERL, script(THREADS)) as process:
        process.wait_for("all")
        process.wait_until_it_waits()
        text = spied.spy("dump", process.pid, "--no-source")
    assert sorted(re.findall(r"^Thread (\d+) \[\d+\] \(waiting", text, re.M)) == ["0", "1", "2", "3"]
    assert text.count("main::waits") == 3 and "threads::join (xsub)" in text
    assert len(set(re.findall(r"\[(\d+)\]", text))) >= 4


def test_a_pattern_does_not_find_what_nytp_spy_runs_under(script, tmp_path):
    """The command lines of sudo, timeout or a shell have the pattern in them."""
    name = f"worker-{os.getpid()}.pl"
    with spied.ready(PERL, script(WAITS, name)) as process:
        inner = f"{spied.SPY} dump -P {name}; exit $?"
        ran = subprocess.run(["sh", "-c", f"sh -c 'timeout 99 {inner}'; exit $?"], capture_output=True, text=True)
    assert re.findall(r"^Process (\d+):", ran.stdout, re.M) == [str(process.pid)]
    assert ran.returncode == 0 and ran.stderr == ""


# Looks like a program of 32 bits: the file whose name it is given stands in front of all else in its memory.
# So no kernel has to run one.
AS_IF_32_BITS = """#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
int main(int argc, char **argv)
{
    void *const first = (void *)0x10000; /* no program may have less: vm.mmap_min_addr */
    if (mmap(first, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, open(argv[argc - 1], O_RDONLY), 0) != first)
        return 1;
    puts("ready");
    fflush(stdout);
    return getchar();
}
"""


def test_a_program_of_32_bits_is_told(tmp_path):
    (tmp_path / "holds.c").write_text(AS_IF_32_BITS)
    subprocess.run(["cc", tmp_path / "holds.c", "-o", tmp_path / "holds"], check=True)
    elf_class_32, lsb, current = 1, 1, 1
    (tmp_path / "spin").write_bytes(b"\x7fELF" + bytes([elf_class_32, lsb, current]) + bytes(4089))
    with spied.ready(str(tmp_path / "holds"), str(tmp_path / "spin")) as process:
        told = spied.spy("dump", process.pid, status=1)
    assert f"it runs {tmp_path / 'spin'}, a program of 32 bits, of which nytp-spy knows none" in told


def test_a_static_perl_is_looked_at_unless_it_is_stripped(tmp_path):
    """Its symbols are in the file alone."""
    flags = subprocess.run([PERL, "-MConfig", "-e", 'print "$Config{ccflags} -I$Config{archlibexp}/CORE\\n$Config{perllibs}"'],
                           check=True, capture_output=True, text=True).stdout.splitlines()
    (tmp_path / "embeds.c").write_text(EMBEDS)
    library = subprocess.run(["cc", "-print-file-name=libperl.a"], check=True, capture_output=True, text=True).stdout.strip()
    if not os.path.exists(library):
        pytest.skip("there is no libperl.a here")
    subprocess.run(["cc", *flags[0].split(), tmp_path / "embeds.c", library, *flags[1].split(), "-o", tmp_path / "whole"],
                   check=True)
    subprocess.run(["strip", tmp_path / "whole", "-o", tmp_path / "stripped"], check=True)
    for name in "whole", "stripped":
        with spied.waiting(str(tmp_path / name), "-e", 'sub waits { $| = 1; print "ready\\n"; <STDIN> } waits()') as process:
            ran = spied.run("dump", process.pid)
        if name == "whole":
            assert ran.returncode == 0 and "main::waits (-e:1)" in ran.stdout, ran.stderr
        else:
            assert ran.returncode == 1 and ran.stdout == "" and ran.stderr.count("\n") == 1
            assert "there is no perl in this process: it runs" in ran.stderr, ran.stderr


# Exports what a perl of this version does, and has nothing behind it.
NO_PERL = """
#include <stdio.h>
const char PL_version = %d, PL_subversion = 0;
int PL_thr_key;
char nothing[65536];
void *PL_curinterp = nothing;
int main(void) { for (int i = 0; i < 65536; i++) nothing[i] = 1; puts("ready"); fflush(stdout); return getchar(); }
"""


def no_perl(folder, version):
    (folder / "perl.c").write_text(NO_PERL % version)
    subprocess.run(["cc", "-rdynamic", folder / "perl.c", "-o", folder / "perl"], check=True)
    return str(folder / "perl")


@pytest.mark.parametrize("version, reason", [(36, r"perl 5.36.0 \(.*threads\) is there, but its memory is not as that perl's should be"),
                                             (99, r"perl 5.99.0 \(.*threads\) is not known, and debug information is not read")])
def test_a_perl_that_is_built_otherwise_or_unknown_is_told(version, reason, tmp_path):
    with spied.ready(no_perl(tmp_path, version)) as process:
        message = spied.spy("dump", process.pid, status=1)
    assert re.search(reason, message) and message.count("\n") == 1


def test_what_is_only_beginning_does_not_keep_others_from_being_looked_at(script, tmp_path):
    """It was waited for with 30 sleeps, before each look at the others."""
    with spied.ready(no_perl(tmp_path, 36)) as begins, spied.ready(PERL, script(SHARES)) as process:
        ran = subprocess.Popen([spied.SPY, "record", str(process.pid), str(begins.pid), "-r", "100", "-d", "900ms", "-o", tmp_path / "out"])
        _, status, usage = os.wait4(ran.pid, 0)
        ran.returncode = os.waitstatus_to_exitcode(status)
    looks = int(re.search(r'sample_ticks" value="(\d+)"', exported(tmp_path / "out", "--dump"))[1])
    assert ran.returncode == 1 and usage.ru_nvcsw < 15 * looks, (usage.ru_nvcsw, looks)


@pytest.mark.parametrize("mappings, filtered", [(1, []), (65000, []), (10, spied.without("process_vm_readv", errno.EPERM))],
                         ids=["1", "65000", "10 read as a file"])
def test_a_process_that_is_made_to_take_long_is_given_up_and_others_are_recorded(mappings, filtered, script, tmp_path):
    """It took minutes with 65,000 mappings."""
    name = f"server-{os.getpid()}.pl"
    cpu = lambda: resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    with spied.ready(str(spied.compiled("hostile")), mappings, name) as hostile, spied.ready(PERL, script(SHARES), name):
        message = f"process {hostile.pid} is given up: it takes too long to find perl there"
        assert spied.spy("dump", hostile.pid, before=filtered, preexec_fn=cpu, status=1) == f"nytp-spy: {message}\n"
        ran = subprocess.Popen([*filtered, spied.SPY, "record", "-P", rf"{name}$", "-o", tmp_path / "out"], stderr=subprocess.PIPE, text=True)
        spied.wait_until_it_samples(ran.pid)
        ran.terminate()
        said = ran.communicate()[1]
    assert ran.returncode == 0 and said.count(message) == 1 and " samples of 1 thread " in said, said


def test_a_recording_of_a_while_is_there_before_the_command_ends(tmp_path):
    with subprocess.Popen([spied.SPY, "record", "-d", "1s", "-o", tmp_path / "out", "--", PERL, "-e", "1 while !-e 'end' && time - $^T < 30; mkdir 'ended'"], cwd=tmp_path,
                          stderr=subprocess.PIPE, text=True) as ran:
        said, is_there, has_ended = ran.stderr.readline(), (tmp_path / "out").exists(), (tmp_path / "ended").exists()
        (tmp_path / "end").touch()
        assert ran.wait(60) == 0
    assert "samples of 1 thread" in said and is_there and not has_ended


def test_an_output_that_cannot_be_written_is_told_before_anything_is_started(tmp_path):
    message = spied.spy("record", "-o", tmp_path / "none" / "out", "--", PERL, "-e", "open my $file, '>', 'started'", status=4, cwd=tmp_path)
    assert "No such file or directory" in message and not (tmp_path / "started").exists()


def test_a_recording_of_what_is_no_perl_ends(tmp_path):
    with subprocess.Popen(["sleep", "99"]) as other:
        message = spied.spy("record", other.pid, "-o", tmp_path / "out", status=1)
        other.kill()
    assert "there is no perl in this process" in message and "nothing was recorded" in message


def test_a_program_that_ends_at_once_is_not_taken_for_nytp_spy(tmp_path):
    for _ in range(10):
        ran = spied.run("record", "-o", tmp_path / "out", "--", PERL, "-e", "exit 7")
        assert ran.returncode == 7 and "nytp-spy\n" not in ran.stderr, ran.stderr


# A program that works until it is told to go on; then 25 children do until its input ends.
AT_ONCE = """vec(my $input = "", 0, 1) = 1; 1 until select my $ready = $input, undef, undef, 0; sysread STDIN, my $go_on, 1;
my @children = map { fork || do { 1 while 1 } } 1 .. 25; sysread STDIN, my $end, 1; kill 'TERM', @children; 1 while wait > 0"""


def record_at_once(out, limits, wait):
    """Records AT_ONCE, first without its children, with these limits of descriptors until `wait` returns. Returns the status and what was
    said behind that."""
    with subprocess.Popen([spied.SPY, "record", "-s", "-o", out, "--", PERL, "-e", AT_ONCE], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limits)) as record:
        spied.wait_until_it_samples(record.pid)
        record.stdin.write("x")
        record.stdin.flush()
        wait(record)
        rest = record.communicate(timeout=60)[1]
    return record.returncode, rest


def test_threads_that_cannot_be_recorded_are_told_and_the_others_are(tmp_path):
    def told(record):
        assert record.stderr.readline().endswith("not recorded: Too many open files\n")
    status, rest = record_at_once(tmp_path / "out", (20, 20), told)
    assert status == 4 and "not recorded" not in rest
    assert 0 < int(re.search(r"samples of (\d+) threads?", rest)[1]) < 26, rest
    assert exported(tmp_path / "out", "--top")
    status, rest = record_at_once(tmp_path / "out", (20, 200), lambda record: spied.wait_until_it_samples(record.pid, 26))
    assert (status, int(re.search(r"samples of (\d+) threads", rest)[1])) == (0, 26)


def test_a_recording_of_which_no_thread_could_be_kept_has_failed(tmp_path):
    ran = spied.run("record", "-o", tmp_path / "out", "--", PERL, "-e", "1 for 1 .. 1e7", env={**os.environ, "TMPDIR": "/proc"})
    said = [line.removeprefix("nytp-spy: ") for line in ran.stderr.splitlines()]
    assert (ran.returncode, said) == (4, ["threads that come now are not recorded: No such file or directory", "nothing was recorded"])


def test_what_was_recorded_before_a_disk_was_full_is_kept(tmp_path):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 14, 1 << 14))
    with spied.ready(PERL, "-e", "sub f { my $n = shift; $n ? f($n - 1) : do { 1 for 1 .. 100 } } $| = 1; print qq(ready\n); f(int rand 300) while 1") as process:
        ran = subprocess.run([spied.SPY, "record", str(process.pid), "-r", "10000", "-d", "2s", "-o", "-"], capture_output=True, preexec_fn=limit)
    message = ran.stderr.decode()
    assert ran.returncode == 4 and "a temporary file cannot be written: File too large; the samples of a thread end here" in message
    assert "samples of 1 thread" in message
    done = subprocess.run([EXPORT, "-q", "--top", "-"], input=ran.stdout, capture_output=True)
    assert done.returncode == 3 and b"main::f" in done.stdout


@pytest.mark.parametrize("text, pattern, status", [(b"\xff", "sleep 9 [?]$", 0), (b"a" * 3000, "(a+)+$b|other", 2)], ids=["no-utf8", "backtracking"])
def test_a_command_line_may_be_anything(text, pattern, status):
    with spied.running(PERL, "-e", "sleep 9", "x") as process, subprocess.Popen([PERL, "-e", "$| = 1; print 1; sleep 9", text], stdout=subprocess.PIPE) as other:
        other.stdout.read(1)
        spied.Process(other).wait_until_it_waits()
        told = spied.spy("dump", "-P", pattern, status=status)
        other.kill()
    assert process.pid and ("CORE::sleep" in told if status == 0 else "backtracks too much" in told)


def test_a_process_that_has_ended_is_told():
    """Of which its parent has not taken notice."""
    with subprocess.Popen(["true"]) as child:
        spied.wait_until(lambda: "Z" in open(f"/proc/{child.pid}/stat").read().rpartition(") ")[2])
        assert f": process {child.pid} has ended\n" in spied.spy("dump", child.pid, status=1)


@pytest.mark.parametrize("arguments, message", [
    ([os.getpid()], r"there is no perl in this process: it runs \S*python"), (["me"], "this is no process id: me"),
    (["-P", "no-such-[p]rocess"], "no process's command line matches")], ids=["no perl", "no number", "no match"])
def test_a_refusal_says_why(arguments, message):
    ran = spied.run("dump", *arguments)
    assert ran.returncode in (1, 2) and ran.stdout == ""
    assert re.search(message, ran.stderr) and ran.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [["dump", "--", "ls"], ["dump", "1", "--", "ls"], ["top", "--", "ls"], ["heap", "--", "ls"], ["record", "--core", "x"],
                                     ["top", "--core", "x"], ["dump", "--core", "x", "1"], ["heap", "--core", "x", "-P", "perl"], ["dumps"]], ids=" ".join)
def test_what_a_command_does_not_take_is_told(command):
    assert re.fullmatch(r"nytp-spy: (only record starts a program, not \w+|--core is for dump and heap, in place of a PID|there is no command dumps) "
                        r"\(--help tells more\)\n", spied.spy(*command, status=2))


@pytest.mark.parametrize("option, value", [*(("--rate", value) for value in ("2k", "1e3", "100abc", "4294967396", "18446744073709551617", "0", "-1", "")),
                                           *(("--duration", value) for value in ("0x1", "1e3", "inf", "0", "-1", "1.2.3", "5x", ""))])
def test_what_is_no_number_is_refused(option, value):
    assert f"{option} must be " in spied.spy("top", f"{option}={value}", 1, status=2)


def test_a_dump_of_processes_of_which_one_is_none_fails_and_tells_the_others(script):
    with spied.waiting(PERL, script(WAITS)) as process:
        for pids in ([process.pid, 999999999], [999999999, process.pid]):
            ran = spied.run("dump", *map(str, pids))
            assert ran.returncode == 1 and ran.stderr == "nytp-spy: there is no process 999999999\n"
            assert ran.stdout.startswith("Process ") and "main::inner" in ran.stdout


# Its innermost sub has lost its body (sv.h: the first word of a head).
DAMAGED = """
open my $memory, "+<", "/proc/self/mem" or die $!; binmode $memory; $| = 1;
sub damaged { sysseek $memory, \\&damaged, 0; syswrite $memory, pack "Q", 8; print "ready\n"; sleep 99 }
damaged();
"""


def test_a_dump_without_memory_says_so(script):
    """It said that perl's memory is not as it should be."""
    with spied.ready(PERL, script(WAITS)) as process:
        said = spied.spy("dump", process.pid, before=["prlimit", f"--as={100 << 20}"], status=1)
    assert said == "nytp-spy: out of memory\n"


def test_a_dump_that_cannot_read_a_stack_whole_fails(script):
    with spied.ready(PERL, script(DAMAGED)) as process:
        ran = spied.run("dump", process.pid)
    assert ran.returncode == 1 and "    its stack could not be read whole\n" in ran.stdout, ran.stdout


@pytest.mark.parametrize("command", ["dump", "top -d 200ms", "heap"])
@pytest.mark.parametrize("is_closed", [False, True], ids=["full", "closed"])
def test_a_result_that_cannot_be_written_is_told(command, is_closed, script):
    with spied.ready(PERL, script(WAITS)) as process, open("/dev/full", "w") as full:
        ran = subprocess.run([spied.SPY, *command.split(), str(process.pid)], stdout=full, stderr=subprocess.PIPE, text=True,
                             preexec_fn=(lambda: os.close(1)) if is_closed else None)
    assert ran.returncode == 4 and re.fullmatch("nytp-spy: -: cannot .*\n", ran.stderr), ran


def test_what_a_pattern_finds_that_is_no_perl_is_left_out(script, tmp_path):
    name = f"worker-{os.getpid()}.pl"
    with spied.ready("sh", "-c", f"echo ready; read never; : {name}") as other:
        message = spied.spy("dump", "-P", rf"{name}$", status=1)
        assert message == f"nytp-spy: no process whose command line matches {name}$ is a perl\n"
        with spied.waiting(PERL, script(WAITS, name)) as process:
            for command in ["dump"], ["record", "-d", "1200ms", "-o", tmp_path / "out"]:
                ran = spied.run(*command, "-P", rf"{name}$")
                assert ran.returncode == 0 and "no perl" not in ran.stderr, ran.stderr
    assert "main::inner" in exported(tmp_path / "out", "--top")


def test_a_thread_of_the_kernel_is_told():
    stat = pathlib.Path("/proc/2/stat")
    if not stat.exists() or not int(stat.read_text().rpartition(")")[2].split()[6]) & 0x200000:    # PF_KTHREAD
        pytest.skip("no threads of the kernel are seen here, as in a container")
    assert spied.spy("dump", 2, status=1) == "nytp-spy: process 2 is a thread of the kernel: there is no perl in it\n"


def test_a_perl_that_was_replaced_on_disk_is_looked_at(script, tmp_path):
    perl = tmp_path / "perl"
    perl.write_bytes(open(PERL, "rb").read())
    perl.chmod(0o755)
    with spied.waiting(str(perl), script(WAITS)) as process:
        perl.unlink()
        perl.write_text("another version\n")
        assert "main::inner" in spied.spy("dump", process.pid)


def test_manual_page_help_and_readme_name_the_same():
    options = set(re.findall(r"--([a-z][a-z-]+)", spied.spy("--help")))
    page = " ".join((spied.ROOT / "doc" / "nytp-spy.1").read_text().replace("\\-", "-").split())
    assert set(re.findall(r"--([a-z][a-z-]+)", page)) - {"cap-add", "list-formats"} == options
    least = re.search(r"LEAST_OBJECTS = (\d+)", (spied.ROOT / "spy" / "perl" / "holders.c").read_text())[1]
    assert f"of {least} objects or more what holds one of them" in page
    for command in "dump", "record", "top", "heap":
        assert f"nytp spy {command}" in page and f"nytp spy {command}" in (spied.ROOT / "README.md").read_text()
