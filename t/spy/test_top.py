# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""nytp spy top: its table, and how it leaves the terminal, however it ends."""

import contextlib
import os
import pathlib
import re
import resource
import signal
import subprocess
import termios
import time

import pytest

import spied
from jobs import Job
from spied import PERL, SHARES

LONG = "Some_package_with_a_very_long_name_that_somebody_has_made_up::And_its_part::that_is_longer"
LONG_SUB = f"""
use strict; $| = 1;
sub {LONG}::works {{ my $x = 0; $x += $_ for 1 .. 10000; $x }}
print "ready\\n";
{LONG}::works() while 1;
"""


def test_top_tells_what_is_hot_and_watches_a_process_named_twice_once(script):
    with spied.ready(PERL, script(SHARES)) as process:
        text = spied.spy("top", process.pid, process.pid, "-r", 500, "-d", "2s", "-i", "1s")
    tables = text.split("Process ")[1:]
    assert len(tables) >= 2
    assert re.search(r"^Wall time, of which \d+% on a processor; \d+ samples at 500 Hz, \d\.\d\d% not whole$", tables[-1], re.M)
    assert re.search(r"^ +\d+\.\d% +\d+\.\d%  main::most \(.*app\.pl:5\)$", tables[-1], re.M)
    assert re.search(r"^ +\d+\.\d% +(?:100\.0|99\.\d)%  \(main program\)", tables[-1], re.M)


TABLE = rb"  sub\x1b\[K\r\n[ \d.%]*  "
DRAWN = rb"\x1b\[\?1049h"


@pytest.mark.parametrize("columns", [80, 60])
def test_top_in_a_terminal_leaves_it_as_it_was(columns, script):
    """On the other screen, no wider than it; 2 sorts by the second column, q leaves."""
    with spied.ready(PERL, script(SHARES)) as process, contextlib.closing(Job("top", process.pid, "-i", "200ms", columns=columns)) as top:
        for first, key in (rb"\w", b"2"), (rb"\(main program\)", b"q"):    # which sub has most is the processor's affair
            top.wait_for(TABLE + first)
            top.press(key)
        assert (top.line(), top.state()) == ("0", "as it was") and top.before[3] & termios.ECHO
    shown = top.shown
    assert shown.startswith(b"\x1b[?1049h") and shown.count(b"\x1b[?1049l") == 1
    last = shown.rpartition(b"\x1b[?7h\x1b[?25h\x1b[?1049l")[2]
    assert last.startswith(b"Process ") and b"(main program)" in last and b"\x1b" not in last    # it stays there
    rows = re.sub(rb"\x1b\[[?\d]*\w", b"", shown.replace(b"\x1b[H", b"\r\n").replace(b"\x1b[?1049l", b"\r\n")).split(b"\r\n")
    assert max(len(row) for row in rows if re.match(rb"Process|[ \d.]+%", row)) <= columns
    assert max(map(len, rows)) <= max(columns, 80) and b"\x1b[?7l" in shown    # of the head, more is cut by the terminal


def test_lines_are_whole_where_no_terminal_is(script, tmp_path):
    """Those of a terminal are cut to its columns."""
    (tmp_path / LONG).mkdir()
    path = script(LONG_SUB, f"{LONG}/app.pl")
    with spied.ready(PERL, path) as process:
        for text in spied.spy("top", process.pid, "-d", "1s"), spied.spy("dump", process.pid), dumped_to(tmp_path / "out", process.pid):
            assert re.search(rf"{LONG}::works \({path}:3\)$", text, re.M), text
            assert f"Process {process.pid}: {PERL} {path}\n" in text


def dumped_to(file, pid):
    """From a terminal, but into a file: neither colours nor its columns."""
    with contextlib.closing(Job("dump", pid, "-o", file)) as dump:
        assert dump.line() == "0"
    return file.read_text()


# A worker that works in a sub of its own and ends at a signal.
WORKER = r"""
use strict; $| = 1;
my $name = shift;
sub works { my $x = 0; $x += $_ for 1 .. 20000; $x }
if ($name eq 'parent') { for my $child (qw(one two)) { next if fork; $name = $child; last } }
eval "sub in_$name { works(); works() } 1" or die;
print "ready\n";
{ no strict 'refs'; &{"in_$name"}() while 1 }
"""


ENDS = {  # how: what is done, the status then
    "q": (lambda top, target: top.press(b"q"), "0"),
    "Ctrl-C": (lambda top, target: top.press(b"\x03"), "0"),
    "Ctrl-\\": (lambda top, target: top.press(b"\x1c"), "0"),
    "SIGTERM": (lambda top, target: os.kill(top.pid, signal.SIGTERM), "0"),
    "SIGHUP": (lambda top, target: os.kill(top.pid, signal.SIGHUP), "0"),
    "target ends": (lambda top, target: target.popen.kill(), "0"),
    "Ctrl-Z": (lambda top, target: top.press(b"\x1a"), "stopped"),
    "Ctrl-Z, fg, q": (lambda top, target: go_on(top), "0"),
    "Ctrl-Z, killed": (lambda top, target: killed_while_stopped(top), "-9"),
    "write error": (None, "4"),
}


def go_on(top):
    """What was there is drawn anew; keys are taken again."""
    top.press(b"\x1a")
    assert top.line() == "stopped" and top.state() == "as it was"
    n = len(re.findall(TABLE, top.shown))
    os.kill(top.pid, signal.SIGCONT)
    top.wait_for(DRAWN, 2)
    top.wait_for(TABLE, n + 1)
    top.press(b"q")


def killed_while_stopped(top):
    top.press(b"\x1a")
    assert top.line() == "stopped"
    os.kill(top.pid, signal.SIGKILL)


@pytest.mark.parametrize("name", ENDS)
def test_however_top_ends_or_stops_the_terminal_is_as_it_was(name, script):
    """And the last table stays there, unless it may go on or could not be written."""
    end, status = ENDS[name]
    with spied.ready(PERL, script(SHARES)) as target, \
            contextlib.closing(Job("top", target.pid, "-i", "100ms", stdout="/dev/full" if end is None else None)) as top:
        if end is not None:
            top.wait_for(TABLE)
            end(top, target)
        assert (top.line(), top.state()) == (status, "as it was")
        last = top.shown.rpartition(b"\x1b[?1049l")[2]
        assert name in ("Ctrl-Z", "Ctrl-Z, killed", "write error") or b"Process %d: " % target.pid in last and b"(main program)" in last
        assert name != "target ends" or last.endswith(b"nytp-spy: process %d has ended\r\n" % target.pid)


def test_a_program_that_is_ending_has_ended():
    """Nobody can read the memory of an exiting process, also while the kernel still frees it."""
    with spied.ready(PERL, "-e", "$| = 1; my $held = 'x' x 500_000_000; print qq(ready\n); 1 while 1") as target, \
            contextlib.closing(Job("top", target.pid, "-i", "100ms", "-r", "200")) as top:
        top.wait_for(TABLE)
        target.popen.kill()
        assert top.line() == "0"
        assert top.shown.endswith(b"nytp-spy: process %d has ended\r\n" % target.pid)


def io_count(pid):
    return int(re.search(r"syscr: (\d+)", pathlib.Path(f"/proc/{pid}/io").read_text())[1])


def test_where_the_input_has_ended_top_waits_for_its_next_look(script):
    """The terminal is gone, and SIGHUP is ignored. Each look reads some tens of times; without the wait there are 100,000 reads a second."""
    with spied.ready(PERL, script(SHARES)) as target:
        with contextlib.closing(Job("top", target.pid, "-i", "1h", "-r", "5", ignores=[signal.SIGHUP])) as top:
            top.wait_for(DRAWN)
            spied.wait_until(lambda: spied.sleeps(top.pid) > 5)
            top.hang_up()
            before, slept = io_count(top.pid), spied.sleeps(top.pid)
            spied.wait_until(lambda: spied.sleeps(top.pid) - slept >= 15)
            assert io_count(top.pid) - before < 15 * 200


def test_a_table_sums_all_that_a_pattern_means_those_included_that_come_and_go(script, tmp_path):
    name = f"worker-{os.getpid()}.pl"
    path = script(WORKER, name)
    with contextlib.ExitStack() as stack:
        one, two = (stack.enter_context(spied.ready(PERL, path, word)) for word in ("one", "two"))
        top = stack.enter_context(spied.running(str(spied.SPY), "top", "-P", name, "-i", "200ms", stderr=subprocess.PIPE))
        text = wait_for_table(top, rf"^2 processes: {name}\n(?=.*main::in_one)(?=.*main::in_two)")
        shares = {sub: float(share) for share, sub in re.findall(r"^ +[\d.]+% +([\d.]+)%  (\S+)", text, re.M)}
        assert 90 <= shares["main::in_one"] + shares["main::in_two"] <= 101
        assert len(re.findall("main::works ", text)) == 1    # one row, of both
        late = stack.enter_context(spied.ready(PERL, path, "late"))
        wait_for_table(top, rf"^3 processes: {name}\n(?=.*main::in_late)")
        one.popen.kill()
        one.popen.wait()
        wait_for_table(top, rf"^2 processes: {name}\n")
        for process in two, late:
            process.popen.kill()
            process.popen.wait()
        assert top.popen.wait() == 0
        assert top.popen.stderr.read() == "nytp-spy: all 3 processes have ended\n"


def wait_for_table(top, expression):
    text, until = "", time.monotonic() + 60
    for line in top.popen.stdout:
        text = line if re.match(r"\d+ process|Process", line) else text + line
        if line == "\n" and "  sub\n" in text and re.search(expression, text, re.S):
            return text
        assert time.monotonic() < until, text
    raise AssertionError(top.popen.stderr.read())


def test_children_are_in_the_table_where_they_are_asked_for(script):
    with spied.ready(PERL, script(WORKER), "parent") as process:
        with spied.running(str(spied.SPY), "top", process.pid, "-s", "-i", "200ms", stderr=subprocess.PIPE) as top:
            text = wait_for_table(top, r"^3 processes: .*(?=.*main::in_one)(?=.*main::in_two)")
            assert "main::in_parent" in text
        assert "main::in_one" not in spied.spy("top", process.pid, "-d", "300ms")
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        for child in children:
            os.kill(int(child), signal.SIGKILL)


def test_a_program_that_is_replaced_by_exec_is_watched_on(script):
    """Its pid is the same; its subs are those of the new program."""
    with spied.waiting(PERL, "-e", '$| = 1; sub first { print "ready\n"; <STDIN>; exec $^X, @ARGV } first()', script(WORKER), "other") as process:
        with spied.running(str(spied.SPY), "top", process.pid, "-i", "200ms", stderr=subprocess.PIPE) as top:
            wait_for_table(top, "main::first")
            process.go_on()
            wait_for_table(top, "main::in_other")


def test_children_that_have_ended_and_are_not_waited_for_are_no_processes_of_top(tmp_path):
    """Each look for new ones took one for another that had come and gone."""
    code = '$| = 1; fork or exit; my $child = fork; while (!$child) { 1 } print "ready $child\\n"; while (1) { 1 }'
    with spied.running(PERL, "-e", code) as process:
        child = int(process.wait_for("ready").split()[1])
        with spied.running(str(spied.SPY), "top", process.pid, "-s", "-i", "200ms", stderr=subprocess.PIPE) as top:
            wait_for_table(top, "^2 processes: ")
            os.kill(child, signal.SIGKILL)
            process.popen.kill()
            top.popen.stdout.read()
            assert top.popen.stderr.read() == "nytp-spy: all 2 processes have ended\n"


def test_of_very_many_processes_the_first_are_looked_at_which_is_told(tmp_path):
    """Each has descriptors, more than the limit allows at first. They end with their parent."""
    code = '$| = 1; pipe R, W; for (1 .. 520) { next if fork; close W; exit <R> } print "ready\\n"; sleep 600'
    few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    with spied.ready(PERL, "-e", code) as process:
        with spied.running(str(spied.SPY), "top", process.pid, "-s", "-i", "200ms", stderr=subprocess.PIPE, preexec_fn=few) as top:
            text = wait_for_table(top, "^500 processes: ")
            spied.wait_until(lambda: len(os.listdir(f"/proc/{top.pid}/fd")) > 1000)
    assert text.splitlines()[2] == "There are more than 500 processes: others are not looked at", text


def test_where_names_are_made_for_ever_the_table_begins_anew_which_is_told(script):
    """Stacks of a thousand subs each, which are all other ones."""
    code = """no strict; $| = 1; print "ready\\n"; while ($n++ < 1e6) { my $code = join "", map { "sub f${n}_$_ { &f${n}_" . ($_ + 1) . " }" } 1 .. 900;
              eval "$code sub f${n}_901 { select undef, undef, undef, 0.2 } 1" or die; &{"f${n}_1"} }"""
    with spied.ready(PERL, script(code)) as process:
        with spied.running(str(spied.SPY), "top", process.pid, "-i", "200ms", stderr=subprocess.PIPE) as top:
            text = wait_for_table(top, "There are more than 10000 names")
    assert re.search(r"^There are more than 10000 names: shares are those since sample \d+$", text.splitlines()[2])


def test_processes_that_are_named_are_summed_and_one_that_is_none_is_told(script):
    with spied.ready(PERL, script(WORKER), "one") as one, spied.ready(PERL, script(WORKER), "two") as two:
        text = spied.spy("top", one.pid, two.pid, "-d", "1s")
        assert text.startswith("2 processes: ") and "main::in_one" in text and "main::in_two" in text
        ran = spied.run("top", one.pid, "999999999", "-d", "500ms")
        assert ran.returncode == 1 and ran.stderr == "nytp-spy: there is no process 999999999\n" and "main::in_one" in ran.stdout
