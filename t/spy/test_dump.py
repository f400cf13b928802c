# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""nytp spy dump: stacks and processes that are folded, source, and what a wait is for."""

import contextlib
import os
import re
import socket

import pytest

import spied
from opened import opens
from spied import PERL


def dumped(program, *arguments, options=(), **to_run):
    with spied.waiting(PERL, program, *arguments, **to_run) as process:
        return spied.spy("dump", *options, process.pid)


def frames(text):
    return [re.sub(r" \(/.*/", " (", line[4:]) for line in text.splitlines() if re.match(r"    \S", line)]


DEEP = """no warnings 'recursion'; $| = 1;
sub bottom { print "ready\\n"; sysread STDIN, my $byte, 1 }
sub down { my $n = shift;
    $n ? down($n - 1) : bottom() }
down(shift);
"""


def test_a_recursion_is_told_once_however_deep_it_is(script):
    """300,000 calls deep were 600,010 lines, for each of which the file was opened and read: 63 s."""
    path = script(DEEP)
    with spied.waiting(PERL, path, 300_000) as process:
        shown = []
        n_opens = opens(path, lambda: shown.append(spied.spy("dump", process.pid)))
    text, = shown
    assert frames(text) == ["CORE::sysread", "main::bottom (app.pl:2)", "main::down (app.pl:4)", "main::down, 300,000 more of these",
                            "(main program) (app.pl:5)"]
    assert len(text.splitlines()) < 20 and text.count("$n ? down($n - 1) : bottom() }") == 1
    assert n_opens == 1


def test_subs_that_call_each_other_in_a_circle_are_told_once(script):
    text = dumped(script("""no warnings 'recursion'; $| = 1;
sub one { two($_[0]) } sub two { three($_[0]) } sub three { $_[0] ? one($_[0] - 1) : do { print "ready\\n"; sysread STDIN, my $byte, 1 } }
one(1000);
"""))
    assert frames(text) == ["CORE::sysread", "main::three (app.pl:2)", "main::two (app.pl:2)", "main::one (app.pl:2)",
                            "main::three, main::two, main::one, 1,000 more rounds of these", "(main program) (app.pl:3)"]


def test_calls_that_do_not_repeat_are_left_out_in_the_middle(script):
    """Of 3,000 subs, each of which calls the next."""
    program = "".join(f"sub s{i} {{ s{i + 1}() }}\n" for i in range(3000))
    text = dumped(script(f'no warnings "recursion"; $| = 1;\n{program}sub s3000 {{ print "ready\\n"; sysread STDIN, my $byte, 1 }}\ns0();\n'), options=["--no-source"])
    told = frames(text)
    assert told[1].startswith("main::s3000 ") and told[-2].startswith("main::s0 ") and told[-1].startswith("(main program)")
    assert "2,002 more calls" in told and len(told) == 1002, told[495:505]


def test_short_recursion_is_told_call_by_call(script):
    assert frames(dumped(script(DEEP), 1)).count("main::down (app.pl:4)") == 2


def test_workers_that_stand_at_the_same_place_are_told_together(script):
    name = f"worker-{os.getpid()}.pl"
    path = script(DEEP, name)
    with contextlib.ExitStack() as stack:
        *same, other = (stack.enter_context(spied.waiting(PERL, path, depth)) for depth in (3, 3, 3, 3, 3, 0))
        text = spied.spy("dump", "-P", name)
    assert re.search(r"^5 processes stand here:\n(Process \d+: .*\.pl 3 \(waiting: read of pipe:\[\d+\] \(fd 0\)\)\n){5}Perl v.*\n\n    CORE::sysread$", text, re.M)
    assert text.count("main::down, 3 more of these") == 1 and text.count("CORE::sysread") == 2
    assert {int(pid) for pid in re.findall(r"^Process (\d+):", text, re.M)} == {process.pid for process in (*same, other)}


def test_lines_of_source_are_not_looked_for_without_end(tmp_path):
    """Each of 40 files has 60 MB before its line."""
    (tmp_path / "big").write_text(f"{'#' * 119}\n" * 500_000 + "here it is\n")
    subs = []
    for i in range(40):
        (tmp_path / f"big{i}").symlink_to(tmp_path / "big")
        call = f"s{i + 1}()" if i < 39 else 'print "ready\\n"; sysread STDIN, my $byte, 1'
        subs.append(f'#line 500001 "{tmp_path}/big{i}"\nsub s{i} {{ {call} }}\n')
    (tmp_path / "app.pl").write_text("$| = 1;\n" + "".join(subs) + "s0();\n")
    text = dumped(tmp_path / "app.pl")
    assert text.count("main::s") == 40 and 10 < text.count("here it is") < 30
    assert text.count("(of further frames no lines: reading them takes too long)") == 1


def waits_for(program, *arguments, **to_run):
    """What the first thread is said to wait for."""
    return re.search(r"\(waiting: (.*)\)$", dumped(program, *arguments, **to_run), re.M)[1]


CONNECTS = """use strict; use Socket qw(:all); $| = 1; my ($family, $port) = @ARGV;
socket my $s, $family eq '4' ? PF_INET : PF_INET6, SOCK_STREAM, 0 or die;
connect $s, $family eq '4' ? sockaddr_in($port, inet_aton('127.0.0.1')) : pack_sockaddr_in6($port, inet_pton(AF_INET6, '::1')) or die $!;
print "ready\\n"; sysread $s, my $byte, 1;
"""


@pytest.mark.parametrize("family, address", [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")], ids=["4", "6"])
def test_of_a_socket_the_peer_is_told(family, address, script):
    shown = f"[{address}]" if ":" in address else address
    try:
        listener = socket.create_server((address, 0), family=family)
    except OSError as error:
        pytest.skip(f"no such address here: {error}")
    with listener:
        port = listener.getsockname()[1]
        text = waits_for(script(CONNECTS), "4" if family == socket.AF_INET else "6", port)
        assert re.fullmatch(rf"read of tcp {re.escape(shown)}:\d+, peer {re.escape(shown)}:{port} \(fd \d+\)", text), text


def test_of_a_socket_that_listens_its_address_is_told(script):
    text = waits_for(script("""use Socket; $| = 1; socket my $s, PF_INET, SOCK_STREAM, 0; bind $s, sockaddr_in(0, INADDR_LOOPBACK); listen $s, 1;
        print "ready\\n"; accept my $new, $s;"""))
    assert re.fullmatch(r"accept4? of tcp 127\.0\.0\.1:[1-9]\d*, which listens \(fd \d+\)", text), text


SERVES = """use Socket; $| = 1; socket my $s, PF_UNIX, SOCK_STREAM, 0; bind $s, sockaddr_un($ARGV[0]); listen $s, 1;
print "ready\\n"; accept my $new, $s; print "accepted\\n"; sysread $new, my $byte, 1;
"""


def test_of_a_unix_socket_its_path_is_told(script, tmp_path):
    text = waits_for(script(SERVES), tmp_path / "a socket")
    assert re.fullmatch(rf"accept4? of unix socket {tmp_path}/a socket \(fd \d+\)", text), text


def test_of_a_unix_client_the_server_is_told(script, tmp_path):
    """Which has the name that the client lacks."""
    client = script("""use Socket; $| = 1; socket my $s, PF_UNIX, SOCK_STREAM, 0; connect $s, sockaddr_un($ARGV[0]) or die $!;
        print "ready\\n"; sysread $s, my $byte, 1;""", "client.pl")
    server, path = script(SERVES, "server.pl"), tmp_path / "a socket"
    with spied.ready(PERL, server, path) as serving:
        with spied.running(PERL, client, path) as asking:
            for process, said in (serving, "accepted"), (asking, "ready"):
                process.wait_for(said)
                process.wait_until_it_waits()
            seen = [re.search(r"\(waiting: (.*)\)$", spied.spy("dump", process.pid), re.M)[1] for process in (asking, serving)]
    assert re.fullmatch(rf"read of unix socket, peer {path} of process {serving.pid} \({PERL} {server} {path}\) \(fd \d+\)", seen[0]), seen
    assert re.fullmatch(rf"read of unix socket {path}, peer process {asking.pid} \({PERL} {client} {path}\) \(fd \d+\)", seen[1]), seen


SEVERAL = {"select": "my $bits = ''; vec($bits, fileno $_, 1) = 1 for @in; ready(); select $bits, undef, undef, undef",
           "poll": "use IO::Poll; my $poll = IO::Poll->new; $poll->mask($_ => IO::Poll::POLLIN()) for @in; ready(); $poll->poll",
           "epoll_wait": """my $epoll = syscall 291, 0; my $event = pack 'Lq', 1, 0; syscall 233, $epoll, 1, fileno $_, $event for @in;
                            my $events = ' ' x 100; ready(); syscall 232, $epoll, $events, 8, -1"""}


@pytest.mark.parametrize("call", SEVERAL)
@pytest.mark.parametrize("n", [2, 7])
def test_of_a_wait_for_several_files_each_is_told(call, n, script):
    """Four of them, and how many there are more."""
    if call == "epoll_wait" and os.uname().machine != "x86_64":
        pytest.skip("its numbers of system calls are those of x86_64")
    text = waits_for(script(f"""$| = 1; my @in = map {{ pipe my $in, my $out; push @::out, $out; $in }} 1 .. {n};
        sub ready {{ print "ready\\n" }} {SEVERAL[call]};"""))
    told = rf"p?{call}\w* of (pipe:\[\d+\] \(fd \d+\)(, )?){{{min(n, 4)}}}" + ("3 more" if n > 4 else "")
    assert re.fullmatch(told, text), text


LOCKS = """use Fcntl qw(:DEFAULT :flock); $| = 1; open my $file, '+>>', $ARGV[0] or die $!;
print "ready\\n" if $ARGV[2] eq 'waits';
my $all = pack 's s x4 q q l x4', F_WRLCK, 0, 0, 0, 0;
$ARGV[1] eq 'flock' ? flock($file, LOCK_EX) : fcntl($file, F_SETLKW, $all) or die $!;
print "ready\\n"; sysread STDIN, my $byte, 1;
"""


@pytest.mark.parametrize("how", ["flock", "fcntl"])
def test_of_a_lock_who_holds_it_is_told(how, script, tmp_path):
    path = script(LOCKS)
    with spied.ready(PERL, path, tmp_path / "lock", how, "holds") as holder:
        text = waits_for(path, tmp_path / "lock", how, "waits")
        assert text == f"{how} of {tmp_path}/lock (fd 3), held by process {holder.pid} ({PERL} {path} {tmp_path}/lock {how} holds)"


def test_of_a_wait_for_a_child_which_child_is_told(script):
    """By its number, or as it is the only one; of several how many there are."""
    path = script("""use strict; $| = 1; my ($n, $which) = @ARGV;
        my @pids = map { my $pid = fork; $pid or do { $0 = "child $_"; sleep 99; exit }; $pid } 1 .. $n;
        $SIG{TERM} = sub { kill 'KILL', @pids; exit };
        print join(' ', 'ready', @pids), "\\n"; $which eq 'last' ? waitpid $pids[-1], 0 : wait;""")
    for n, which in (3, "last"), (1, "any"), (3, "any"):
        with spied.running(PERL, path, n, which) as process:
            pids = process.wait_for("ready").split()[1:]
            process.wait_until_it_waits()
            for i, pid in enumerate(pids):
                spied.wait_until(lambda: f"child {i + 1}" in open(f"/proc/{pid}/cmdline").read())
            text = re.search(r"\(waiting: (.*)\)$", spied.spy("dump", process.pid), re.M)[1]
            process.popen.terminate()
            process.popen.wait()
        assert text == ("wait4 of any of 3 children" if (n, which) == (3, "any") else f"wait4 of process {pids[-1]} (child {n})"), text
