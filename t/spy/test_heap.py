# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""nytp-spy heap counts what is there, names what grows and what holds it, also in core files."""

import os
import random
import re
import resource
import signal
import subprocess

import pytest

import spied
from spied import PERL

PROGRAM = """
use strict; $| = 1;
package My::Session { sub new { my ($class, $n) = @_; bless { id => $n, data => 'x' x 1000, list => [1 .. 5] }, $class } }
package Node { sub new { bless [$_[1]], $_[0] } }
package My::App { our %sessions; my @cache;
    sub add { my ($n) = @_; $sessions{"k$n"}{deep} = [My::Session->new($n)] }
    sub keep { push @cache, Node->new($_[0]) } }
package main;
My::App::add($_), My::App::keep($_) for 1 .. 3000;
sub waits { print "ready\\n"; my $line = <STDIN> }
waits();
My::App::add("more$_") for 1 .. 200;
waits();
"""

# A program that makes and frees values all the time.
CHURNS = """
use strict; $| = 1;
my %kept = map { $_ => [1 .. 5] } 1 .. 110000;
print "ready\\n";
my $n = 0;
while (1) { my @list = map { { n => $_ } } 1 .. 30; $kept{ $n++ % 110000 } = [1 .. 5] }
"""

SIZES = """
use strict; use Devel::Size qw(total_size); $| = 1;
our %big;
for my $n (1 .. 5000) { $big{"key$n"} = { name => "x" x 20, list => [map { "v$_" } 1 .. 10], n => $n } }
print "ready ", total_size(\\%big), "\\n";
my $line = <STDIN>;
%big = ();
print "ready\\n";
$line = <STDIN>;
"""

# Each program's leak, and the line that is to tell it.
LEAKS = {
    "package array": ("our @jobs; sub leak { push @jobs, Leaked->new }", "@App::jobs[...]"),
    "package hash": ("our %by_id; my $n; sub leak { $by_id{$n++} = Leaked->new }", "%App::by_id{...}"),
    "file's lexical": ("my (%cache, $n); sub leak { $cache{$n++}{value} = Leaked->new }", "my %cache{...}{...} in App::leak"),
    "state variable": ("use feature 'state'; sub leak { state $seen = []; push @$seen, Leaked->new }", "my $seen[...] in App::leak"),
    "closure": ("our %on; { my @kept; $on{leak} = sub { push @kept, Leaked->new } } sub leak { $on{leak}->() }",
                "my @kept[...] in a closure in %App::on{...}"),
    "closure in a lexical": ("sub made { my @kept; sub { push @kept, Leaked->new } } my $add = made(); sub leak { $add->() }",
                             "my @kept[...] in a closure in my $add in App::leak"),
    "my sub": ("use feature qw(state lexical_subs); no warnings; my sub add { state @kept; push @kept, Leaked->new }\n"
               "sub leak { add() }", "my @kept[...] in my &add in App::leak"),
    "object in object": ("our $server = bless { session => bless {}, 'Session' }, 'Server';"
                         "sub leak { push @{ $server->{session}{log} }, Leaked->new }", "$App::server{...}{...}[...]"),
    "array of arrays": ("our @table = ([], [[]]); sub leak { push @{ $table[1][0] }, [Leaked->new] }", "@App::table[...][...][...][...]"),
    "hash of lists": ("our %lists; my $n; sub leak { push @{ $lists{$n++ % 7} }, Leaked->new }", "%App::lists{...}[...]"),
    "queue": ("package Queue { sub put { push @{ $_[0]{items} }, $_[1] } } my $queue = bless {}, 'Queue';"
              "sub leak { $queue->put(Leaked->new) }", "my $queue{...}[...] in App::leak"),
    "blessed scalar": ("our $head = bless \\(my $inner = []), 'Head'; sub leak { push @$$head, Leaked->new }", "$App::head[...]"),
    "tied hash": ("package Store { sub TIEHASH { bless {}, shift } sub STORE { push @{ $_[0]{kept} }, $_[2] } }"
                  "tie our %store, 'Store'; sub leak { $store{x} = Leaked->new }", "%App::store(tied){...}[...]"),
    "file handle": ("open our $fh, '<', $0; sub leak { push @{ *$fh }, Leaked->new }", "$App::fh[...]"),
    "constant": ("use constant LIST => []; sub leak { push @{ +LIST }, Leaked->new }", "App::LIST[...]"),
    "arguments": ("sub leak { 1 } sub serve { main::waits() } serve(map { Leaked->new } 1 .. 100);", "@_[...] in App::serve"),
    "circle": ("sub leak { my $o = Leaked->new; $o->{children} = [{ parent => $o }]; 1 }", "itself{...}[...]{...}"),
    "weak references beside": ("use Scalar::Util 'weaken'; our (%registry, $n, $holds); sub leak {"
                               "my $o = Leaked->new; weaken($registry{++$n} = $o); $holds->{a}{b}{$n} = $o }", "$App::holds{...}{...}{...}"),
}
LEAKS_HEAD = "use strict; $| = 1; sub waits { print qq{ready\\n}; my $line = <STDIN> }\n" \
             "package Leaked { sub new { bless { n => 1 }, shift } } package App;\n"


def rows(path):
    lines = open(path).read().splitlines()
    assert lines[0] == "nytp-heap 1"
    return {(kind, name): (int(n), int(size), holder)
            for n, size, kind, name, holder in (line.split("\t") for line in lines[1:])}


def test_values_are_counted_as_perl_counts_them_and_by_class(script):
    with spied.waiting(PERL, script(PROGRAM)) as process:
        text = spied.spy("heap", process.pid)
    counted, of_perl = re.search(r"^([\d,]+) values, .*\(perl counts ([\d,]+)\)", text, re.M).groups()
    assert counted == of_perl
    assert re.search(r"^ +3,000 +\S+ \wB +hash +My::Session\n +held by %My::App::sessions\{\.\.\.}\{\.\.\.}\[\.\.\.]$", text, re.M)
    assert re.search(r"^ +3,000 +\S+ \wB +array +Node\n +held by my @cache\[\.\.\.] in My::App::keep$", text, re.M)
    assert max(map(len, text.splitlines())) <= 80


THREADS = """
use strict; use threads; $| = 1;
package In::Thread { sub new { bless {}, shift } } package In::Main { sub new { bless {}, shift } }
package main;
pipe my $in, my $out or die $!;
our @kept;
my $thread = threads->create(sub { @kept = map { In::Thread->new } 1 .. 300; print "made\\n"; sysread $in, my $byte, 1 });
@kept = map { In::Main->new } 1 .. 200;
sysread STDIN, my $byte, 1;
"""


def test_values_of_all_threads_are_counted(script, tmp_path):
    with spied.running(PERL, script(THREADS), stdin=subprocess.PIPE) as process:
        process.wait_for("made")
        process.wait_until_it_waits()
        text = spied.spy("heap", process.pid)
        spied.spy("heap", process.pid, "-o", tmp_path / "heap")
    counted, of_perl = re.search(r"^([\d,]+) values of 2 threads, .*\(perl counts ([\d,]+)\)", text, re.M).groups()
    assert counted == of_perl
    there = rows(tmp_path / "heap")
    assert [(there["hash", name][0], there["hash", name][2]) for name in ("In::Thread", "In::Main")] == [(300, "@main::kept[...]"), (200, "@main::kept[...]")]


def test_a_string_of_more_than_a_gigabyte_is_counted(tmp_path):
    """Its memory is reserved by a read that finds nothing, and not used."""
    with spied.ready(PERL, "-e", "open my $none, '<', '/dev/null' or die; read $none, our $long, 1_200_000_000; $| = 1; print qq(ready\n); <STDIN>") as process:
        spied.spy("heap", process.pid, "-o", tmp_path / "heap")
    assert 1_200_000_000 < sum(size for _, size, _ in rows(tmp_path / "heap").values()) < 1_300_000_000


def test_what_grows_is_named_with_what_holds_it(script, tmp_path):
    with spied.ready(PERL, script(PROGRAM)) as process:
        spied.spy("heap", process.pid, "-o", tmp_path / "before")
        process.go_on()
        spied.spy("heap", process.pid, "-o", tmp_path / "after")
    text = spied.spy("heap", tmp_path / "before", tmp_path / "after")
    assert re.search(r"^ +\+200 +\+\d\S* \wB +hash +My::Session\n +held by %My::App::sessions", text, re.M)
    assert "Node" not in text
    assert "nothing has changed" in spied.spy("heap", tmp_path / "after", tmp_path / "after")


@pytest.mark.parametrize("leak", LEAKS)
def test_what_holds_a_leak_is_named(leak, script, tmp_path):
    program, holder = LEAKS[leak]
    with spied.ready(PERL, script(f"{LEAKS_HEAD}{program}\nleak() for 1 .. 100; main::waits();")) as process:
        spied.spy("heap", process.pid, "-o", tmp_path / "heap")
    n, _, held_by = rows(tmp_path / "heap")["hash", "Leaked"]
    assert (n, held_by) == (100, holder)


def test_the_count_is_near_where_values_come_and_go(script):
    with spied.ready(PERL, script(CHURNS)) as process:
        for _ in range(5):
            counted, *of_perl = counts(spied.spy("heap", process.pid))
            # the loop makes and frees a hundred values at a time, beside 880,000
            assert abs(counted - of_perl[0]) <= 0.001 * of_perl[0]


def counts(text):
    """What nytp-spy counted, and perl before and after that; once where both are the same."""
    numbers = re.search(r"^([\d,]+) values, .*\(perl counts ([\d,]+)(?: before and ([\d,]+) after that)?\)", text, re.M).groups()
    return [int(n.replace(",", "")) for n in numbers if n]


def test_where_the_count_changes_both_are_told(script):
    """At some look it does: the program makes and frees a hundred values again and again."""
    with spied.ready(PERL, script(CHURNS)) as process:
        spied.wait_until(lambda: len(counts(spied.spy("heap", process.pid))) == 3)


def test_sizes_are_those_of_devel_size(script, tmp_path):
    if subprocess.run([PERL, "-MDevel::Size", "-e1"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("libdevel-size-perl is not installed")
    total = []
    with spied.running(PERL, script(SIZES), stdin=subprocess.PIPE) as process:
        size = int(process.wait_for("ready").split()[1])
        for name in "before", "after":
            spied.spy("heap", process.pid, "-o", tmp_path / name)
            total.append(sum(bytes_ for _, bytes_, _ in rows(tmp_path / name).values()))
            if name == "before":
                process.go_on()
    # Devel::Size takes 8 bytes for the body of a string, of which perl allocates 16 (sv.c), and it counts the keys of
    # this hash, which we count with all others.
    size += 8 * 5000 * 11 - 5000 * (8 + 7 + 2)
    assert abs(total[0] - total[1] - size) <= 0.05 * size, (total, size)


@pytest.mark.parametrize("text", ["", "nytp-heap 2\n", "nytp-heap 1\n12\t13\n", "\0\0\0"])
def test_a_file_that_is_none_of_ours_is_refused(text, tmp_path):
    (tmp_path / "bad").write_text(text)
    message = spied.spy("heap", tmp_path / "bad", tmp_path / "bad", status=1)
    assert message.startswith(f"nytp-spy: {tmp_path}/bad: ") and message.count("\n") == 1


@pytest.fixture(scope="module")
def core_limit():
    """What a process does before it begins, so that it leaves a core file in its folder."""
    pattern = open("/proc/sys/kernel/core_pattern").read()
    if pattern.startswith("|") or "/" in pattern:
        pytest.skip("core files go elsewhere on this machine")
    return lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


@pytest.fixture(scope="module")
def core(core_limit, tmp_path_factory):
    """The core file of the program, and what dump said of it while it ran."""
    folder = tmp_path_factory.mktemp("core")
    (folder / "app.pl").write_text(PROGRAM)
    with spied.waiting(PERL, "app.pl", cwd=folder, preexec_fn=core_limit) as process:
        said = spied.spy("dump", process.pid, "--no-source")
        spied.spy("heap", process.pid, "-o", folder / "heap")
        os.kill(process.pid, signal.SIGABRT)
        process.popen.wait()
    path, = folder.glob("core*")
    return path, said, folder / "heap"


def frames(text):
    return re.findall(r"^    (\S.*)$", text, re.M)


def test_a_core_file_tells_the_same(core, tmp_path):
    path, said, heap = core
    told = spied.spy("dump", "--core", path)
    assert frames(told)[:2] == frames(said)[:2] and len(frames(told)) == len(frames(said)) == 3
    spied.spy("heap", "--core", path, "-o", tmp_path / "heap")
    assert rows(tmp_path / "heap") == rows(heap)


def test_a_core_file_whose_perl_is_elsewhere(core, tmp_path):
    path, said, _ = core
    assert frames(spied.spy("dump", "--core", path, "--exe", PERL)) == frames(said)


def test_a_core_file_that_does_not_list_its_files(core, tmp_path):
    """As qemu-user writes it: the program is found by --exe alone."""
    path, said, _ = core
    bare = tmp_path / "bare"
    bare.write_bytes(path.read_bytes().replace(b"ELIF" + b"CORE\0", b"xxxx" + b"CORE\0"))
    assert bare.read_bytes() != path.read_bytes()
    assert frames(spied.spy("dump", "--core", bare, "--exe", PERL)) == frames(said)
    assert "no perl" in spied.spy("dump", "--core", bare, status=1)


def test_a_core_file_that_was_cut_is_read_as_far_as_it_goes(core, tmp_path):
    """Its last part is the machine's stack; perl's are before that."""
    path, said, heap = core
    cut, whole = tmp_path / "cut", path.read_bytes()
    cut.write_bytes(whole[:-100000])
    dumped, counted = (spied.run(command, "--core", cut) for command in ("dump", "heap"))
    assert (dumped.returncode, frames(dumped.stdout)) == (0, frames(said))
    assert counted.returncode == 0 and re.search(r" 3,000 .* My::Session$", counted.stdout, re.M)
    line = rf"nytp-spy: {cut}: it is cut: {len(whole) - 100000} of (\d+) bytes are there; what lies behind them is left out\n"
    assert int(re.fullmatch(line, dumped.stderr)[1]) <= len(whole) and re.fullmatch(line, counted.stderr)
    cut.write_bytes(whole[:1000000])
    message = spied.spy("dump", "--core", cut, status=1)
    assert re.fullmatch(rf"nytp-spy: {cut}: it is cut: 1000000 of \d+ bytes are there, too few to find perl\n", message)


@pytest.mark.parametrize("command, magic", [("gzip", b"\x1f\x8b\x08"), ("xz", b"\xfd7zXZ\0"), ("zstd", b"\x28\xb5\x2f\xfd"),
                                            ("lz4", b"\x04\x22\x4d\x18"), ("bzip2", b"BZh9")])
def test_a_compressed_core_file_says_how_it_is_unpacked(command, magic, tmp_path):
    (tmp_path / "core.packed").write_bytes(magic + bytes(100000))
    message = spied.spy("dump", "--core", tmp_path / "core.packed", status=1)
    assert f"{command} -dc FILE >core" in message and "coredumpctl dump -o core" in message and message.count("\n") == 1


def test_what_is_no_core_file_is_told(tmp_path):
    (tmp_path / "file").write_bytes(b"MZ" + bytes(100000))
    assert "no core file" in spied.spy("dump", "--core", tmp_path / "file", status=1)


def test_a_core_file_out_of_a_pipe_is_told():
    message = spied.spy("dump", "--core", "/dev/stdin", status=1, input="")
    assert message == "nytp-spy: /dev/stdin: a core file is read here and there: this is no file, but a pipe, a folder or a device\n"


# Twenty thousand hashes have the same 131072 empty buckets, as the program writes into its own memory (sv.h, hv.h: where the
# head has the buckets, and the body how many). An object that nothing but itself holds is looked for in all of them.
CIRCLES = """
use B; my %many; keys(%many) = 1 << 17; $many{x} = 1; delete $many{x};
open my $memory, "+<", "/proc/self/mem" or die $!; binmode $memory;
sub at { sysseek $memory, $_[0], 0; sysread $memory, my $bytes, 8; unpack "Q", $bytes }
sub put { sysseek $memory, $_[0], 0; syswrite $memory, pack "Q", $_[1] }
our @hashes = map { my %one = (x => 1); delete $one{x}; \\%one } 1 .. 20000;
for (@hashes) { put($_ + 16, at(\\%many + 16)); put(at($_ + 0) + 24, (1 << 17) - 1) }
for (1 .. 30) { my $lost = bless {}, "Lost"; $lost->{itself} = $lost }
"""


def in_a_minute(*arguments):
    """A census, which may take so long of a processor."""
    return spied.run("heap", *arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (60, 60)))


def test_a_core_file_that_leads_in_circles_is_given_up(core_limit, tmp_path):
    """All hashes together are looked through in minutes; the heap is told as far as it goes."""
    subprocess.run([PERL, "-e", CIRCLES + "kill ABRT => $$"], cwd=tmp_path, preexec_fn=core_limit)
    path, = tmp_path.glob("core*")
    ran = in_a_minute("--core", path)
    assert ran.returncode == 1 and ran.stderr == f"nytp-spy: {path}: reading it was given up, as it leads in circles: it is damaged\n", ran.stderr
    assert re.search(r"^ +30 +\S+ \wB +hash +Lost$", ran.stdout, re.M)


def test_a_process_that_leads_in_circles_is_given_up():
    with spied.ready(PERL, "-e", CIRCLES + '$| = 1; print "ready\\n"; <STDIN>') as process:
        ran = in_a_minute(process.pid)
    line = f"nytp-spy: process {process.pid}: reading it was given up: it takes longer than any program of its size does\n"
    assert (ran.returncode, ran.stderr) == (1, line)
    assert re.search(r"^ +30 +\S+ \wB +hash +Lost$", ran.stdout, re.M)


def test_damaged_core_files_never_crash_hang_or_eat_memory(core, tmp_path):
    """Bytes flipped all over the file, and files cut short: an answer or one line."""
    whole = bytearray(core[0].read_bytes())
    random_of = random.Random(1)
    damaged = tmp_path / "core"
    size = resource.RLIM_INFINITY if "NYTP_SPY" in os.environ else 1 << 30  # AddressSanitizer takes more
    limit = lambda: (resource.setrlimit(resource.RLIMIT_AS, (size, size)), resource.setrlimit(resource.RLIMIT_CPU, (60, 60)))
    rounds = int(os.environ.get("NYTP_SPY_DAMAGED", 40))
    for n in range(rounds):
        bytes_ = bytearray(whole)
        # the head is a small part of the file and what is believed first
        for _ in range(random_of.choice([1, 10, 1000, 20000])):
            end = random_of.choice([4096, 65536, len(bytes_)])
            bytes_[random_of.randrange(end)] ^= 1 << random_of.randrange(8)
        if n % 5 == 0:
            del bytes_[random_of.randrange(len(bytes_)):]
        damaged.write_bytes(bytes_)
        for command in ("dump", "heap"):
            ran = subprocess.run([spied.SPY, command, "--core", damaged], capture_output=True, preexec_fn=limit, timeout=600)
            assert ran.returncode in (0, 1), (n, command, ran.stderr[-3000:])
            assert ran.returncode == 0 or ran.stderr.count(b"\n") == 1


def test_objects_alone_are_compared_where_that_is_asked_for(tmp_path):
    for name, n in ("before", 1), ("after", 3):
        (tmp_path / name).write_text(f"nytp-heap 1\n{n}\t{n}00\thash\tMy::Session\t\n{n}\t{n}000\tarray\t\t\n")
    files = [tmp_path / "before", tmp_path / "after"]
    assert "array" in spied.spy("heap", *files)
    text = spied.spy("heap", "--objects", *files)
    assert "array" not in text and "My::Session" in text
