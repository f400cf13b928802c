# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""nytp-spy sees right stacks: each sample of a program whose stacks are known is one of them."""

import collections
import os
import re
import subprocess

import pytest

import spied
from spied import PERL


def sub_lines(program):
    """The lines of each sub; `main` and evals may be anywhere."""
    lines, name = {}, None
    for number, line in enumerate(program.read_text().splitlines(), 1):
        begins = re.match(r"(?:my )?sub ([\w:]+) ?{", line)
        if begins:
            name = begins[1] if "::" in begins[1] else f"main::{begins[1]}"
            lines[name] = [number, number]
        elif line.startswith("my $closure = sub"):
            name = "main::__ANON__"
            lines[name] = [number, number]
        if name:
            lines[name][1] = number
        if line.startswith("}"):
            name = None
    return lines


def frames(text):
    """A stack as a list of (name, line); anonymous subs and `my` subs as newer perls' caller() names them."""
    found = []
    for frame in text.split(";"):
        name, _, line = frame.rpartition(":")
        name = re.sub(r"\[.*", "", name) or frame
        found.append((re.sub(r"main::lexical|\(unknown\)", "lexical", name), int(line)))
    return found


class Known:
    """All stacks that there can be: those that were told, up to any of their frames."""

    def __init__(self, told, program):
        self.lines = sub_lines(program)
        self.lines["lexical"] = self.lines.get("main::lexical")
        self.prefixes = set()
        for text in told:
            stack = frames(text + ":0")
            names = [name for name, _ in stack]
            lines = [line for _, line in stack]
            # An eval that was over before its line was known is shown at the line that runs it.
            ended = [lines[i - 1] if names[i] == "(eval)" else line for i, line in enumerate(lines)]
            for n in range(1, len(stack) + 1):
                self.prefixes.add((tuple(names[:n]), tuple(lines[:n - 1])))
                self.prefixes.add((tuple(names[:n]), tuple(ended[:n - 1])))

    def has(self, text):
        stack = frames(text)
        names, lines = zip(*stack)
        if (names, lines[:-1]) not in self.prefixes:
            return False
        if names == ("main",):
            return lines[0] > 0 and not any(first < lines[0] < last for first, last in filter(None, self.lines.values()))
        bounds = self.lines.get(names[-1])
        return lines[-1] > 0 if bounds is None else bounds[0] <= lines[-1] <= bounds[1]


# Torn samples of a recursion are one in 6,000, others rarer; two of a hundred are allowed. Of 192,000 samples on a quiet machine none was a
# stack that there is not; beside 17 busy processes two of 22,000 were. One of a thousand and five more are allowed. Chance: 1e-7
@pytest.mark.parametrize("kind, rate, n, least", [("slow", 1000, 2000, 0.995), ("quick", 10000, 20000, 0.98), ("deep", 1000, 300, 0.98)])
@pytest.mark.parametrize("perl", spied.perls())
def test_every_sample_is_a_stack_that_there_is(perl, kind, rate, n, least, tmp_path):
    told = tmp_path / "told"
    with spied.ready(perl, spied.HERE / "stacks.pl", told, kind) as process:
        samples, said = spied.sampled(process, rate, n)
    known = Known(told.read_text().splitlines(), spied.HERE / "stacks.pl")
    wrong = collections.Counter(sample[-300:] for sample in samples if not known.has(sample))
    assert sum(wrong.values()) <= 5 + n / 1000, wrong.most_common(40)
    assert len(samples) >= least * n, said
    seen = {name for sample in samples[::len(samples) // 2000 + 1] for name, _ in frames(sample)}
    assert ("main::deep" if kind == "deep" else "main::work") in seen and len(seen) > (2 if kind == "deep" else 15), seen


def each(said, what):
    """How many calls or pieces of memory the sampler needed for each sample."""
    return float(re.search(rf"([\d.]+) {what} each", said)[1])


def dumped(perl, program):
    """The frames that a dump of a program shows which sleeps in the end: (sub, line), innermost first."""
    with spied.waiting(perl, "-e", program) as process:
        text = spied.spy("dump", process.pid)
    return [(name, int(line)) for name, line in re.findall(r"^    (.*) \(-e:(\d+)\)$", text, re.M)]


SLEEPS = r"""$| = 1; sub sleeps { print "ready\n"; select undef, undef, undef, 50 } """


@pytest.mark.parametrize("perl", spied.perls())
@pytest.mark.parametrize("block", ["'a' =~ /a(?{\nsleeps(1)})/", "'a' =~ /a(?{\n1; sleeps(1)})/",
                                   "my $re = qr/a(?{\nsleeps($again)})/;'a' =~ /b|$re/", "use re 'eval'; my $re = 'a(?{\nsleeps(1)})'; 'a' =~ /b|$re/"])
def test_a_code_block_of_a_regular_expression_belongs_to_its_sub(perl, block):
    """Its context has the sub around it once more, or a sub without a name and statement; its first statement is no op that runs."""
    frames = dumped(perl, SLEEPS + "sub matches { my $again = 1;" + block + "}\n\nmatches(1)")
    assert [name for name, _ in frames] == ["main::sleeps", "main::matches", "(main program)"], frames
    assert frames[1][1] in (1, 2) and frames[2][1] == 4, frames
    in_main = dumped(perl, SLEEPS + "my $again = 1;" + block)
    assert [name for name, _ in in_main] == ["main::sleeps", "(main program)"], in_main


@pytest.mark.parametrize("perl", spied.perls())
def test_a_program_of_many_subs_is_known_to_be_perl(perl):
    """In main:: those that were not called are no globs; of 60,000 the first 200 were looked at, in the order of the hash."""
    many = "BEGIN { eval join '', map \"sub s$_ { 1 }\\n\", 1 .. 60_000 } "
    for _ in range(3):
        assert dumped(perl, many + SLEEPS + "sleeps(1)") == [("main::sleeps", 1), ("(main program)", 1)]


@pytest.mark.parametrize("perl", spied.perls())
def test_a_program_that_hangs_in_its_last_destructor_is_seen(perl):
    """The main program's code is freed by then."""
    frames = dumped(perl, SLEEPS + "package Last; sub DESTROY { main::sleeps() } package main; our $last = bless [], 'Last';")
    assert [name for name, _ in frames][:2] == ["main::sleeps", "Last::DESTROY"], frames


SORTS = r"""
my @rows = map { { x => $_ * 7919 % 1009 } } 1 .. 300;
my @numbers = map { $_ * 7 % 10 } 1 .. 10;
sub long { my @s = sort { $a->{x} <=> $b->{x} } @rows; 1 }
sub short { my @s = sort { $a->{x} <=> $b->{x} } @rows[0 .. 3]; 1 }
sub outer { short() }
sub compare { $_[0] <=> $_[1] }
sub calls { my @s = sort { compare($a, $b) } @numbers; 1 }
sub next_one { my $n = 0; $n += $_ for 1 .. 10; $n }
$| = 1; print "ready\n";
while (1) { long(); for (1 .. 10) { calls(); compare(1, 2) for 1 .. 5; for (1 .. 5) { outer(); next_one() } } }
"""


@pytest.mark.parametrize("perl", spied.perls())
def test_the_block_of_a_sort_is_the_sorts(perl):
    """It was its sub's in 99 of 100 samples. Now 5 of 100 are that of a long sort, and 30 of 100 of a short one, which does more besides; half
    and nine tenths of 100 and more may be: ten standard deviations. None of 12,000 is of what the block calls or of what comes next; two
    may be. Chance: 1e-8"""
    with spied.ready(perl, "-e", SORTS) as process:
        samples, said = spied.sampled(process, 2000, 4000, "builtins")
    seen = collections.Counter(re.sub(r":\d+(?=;|$)", "", sample) for sample in samples)
    sorts = {name: seen[f"main;{name};CORE:sort"] for name in ("main::long", "main::outer;main::short", "main::calls")}
    for name, least in ("main::long", 0.5), ("main::outer;main::short", 0.1):
        n = sorts[name] + seen[f"main;{name}"]
        assert n > 100 and sorts[name] > least * n, seen
    assert sum(n for stack, n in seen.items() if stack.endswith("CORE:sort")) <= sum(sorts.values()) + 2, seen


EVALS = r"""
sub work { my $n = shift; $n += $_ for 1 .. 3; return $n }
sub inner { $n++; return 1 }
sub evals { eval "work(5); 1" or die }
sub other { $n++; return inner(1) }
$| = 1; print "ready\n"; while (1) { evals(1); other(1) }
"""


@pytest.mark.parametrize("perl", spied.perls())
def test_an_eval_that_is_over_is_in_no_other_sub(perl):
    """Perl leaves it above the sub that comes next in the place of its caller, until that calls one; nor is it compiled without its sub.
    None of 20,000 samples is torn on one machine, a tenth on another; a fifth may be. Chance: 1e-9"""
    main, evals, other = "main:6", "main::evals:4", "main::other:5"
    may_be = re.compile(rf"{main}(;{evals}(;\(eval\):[124](;main::work:2)?)?|;{other}(;main::inner:3)?)?")
    with spied.ready(perl, "-e", EVALS) as process:
        samples, said = spied.sampled(process, 10000, 20000)
    wrong = collections.Counter(sample for sample in samples if not may_be.fullmatch(sample))
    assert not wrong and len(samples) > 16000, (wrong.most_common(40), said)
    assert any(";(eval)" in sample for sample in samples) and any(";main::other" in sample for sample in samples)


# The same sub again and again, so that it takes time and no memory.
COMPILED = "sub f { my ($n) = @_; if ($n > 1) { $n += $_ for 1 .. 3 } else { $n = join ',', map { $_ + 1 } 1, 2 } return $n }\n"


def test_a_program_is_seen_while_it_is_compiled(tmp_path):
    """perl computes what is constant and goes through what it has compiled, as if it ran: nine of ten samples were left out. None of
    500 was torn; 15 of 300 may be. Chance: 1e-9"""
    (tmp_path / "long.pl").write_text('BEGIN { $| = 1; print "ready\\n" }\n' + 300_000 * COMPILED)
    with spied.ready(PERL, tmp_path / "long.pl") as process:
        samples, said = spied.sampled(process, 1000, 300)
    lines = [int(line) for line in re.findall(r"^main:(\d+)$", "\n".join(samples), re.M)]
    assert len(lines) >= 285 and lines == sorted(lines) and lines[-1] > lines[0] > 1, said


def pieces_of(depth, tmp_path):
    """How many pieces of memory a sample of so many subs, each of which calls the next one, is read in."""
    program = tmp_path / "chain.pl"
    program.write_text("".join(f"sub f{i} {{ f{i - 1}() }}\n" for i in range(1, depth)) +
                       f'sub f0 {{ $| = 1; print "ready\\n"; sysread STDIN, my $byte, 1 }}\nf{depth - 1}();\n')
    with spied.waiting(PERL, program) as process:
        samples, said = spied.sampled(process, 10000, 50, "ends")
    names = [frame.rsplit(":", 1)[0] for frame in samples[0].split(";")]
    assert names == ["main"] + [f"main::f{i}" for i in [*range(depth - 1, depth - 936, -1), *range(63, -1, -1)]], (names[:3], names[-3:])
    return each(said, "pieces")


def test_only_those_frames_of_a_deep_stack_are_named_that_are_kept(tmp_path):
    """All were: 40,771 pieces of memory at 2,000 calls and 267,382 at 10,000, now 20,900 for either. A sample that is not whole has fewer.
    If as many as a tenth are not, half of the 50 at 2,000 calls have a chance of 1e-12."""
    assert pieces_of(10000, tmp_path) < 2 * pieces_of(2000, tmp_path)


@pytest.mark.parametrize("deep", [False, True], ids=["ways", "recursion"])
def test_on_one_processor_samples_are_whole_after_one_more_look(deep, tmp_path):
    """The program stands still while it is looked at. On a processor of its own a fifth of the samples take three looks or more: its
    contexts are read half a microsecond after its variables, when a call as short as these is over. A sample needs more looks if the kernel
    moves on the program within two system calls: in none of 1000, in 20 of them a fault. Chance: 1e-9"""
    processor = min(os.sched_getaffinity(0))
    with spied.ready(PERL, spied.HERE / "stacks.pl", tmp_path / "told", *(["deep"] if deep else [])) as process:
        os.sched_setaffinity(process.pid, {processor})
        _, said = spied.sampled(process, 400, 1000, before=["taskset", "-c", processor])
    whole, later = map(int, re.match(r"(\d+) whole, \d+ of them at a second look, (\d+) at a later one", said).groups())
    assert whole - later >= 980, said


RECURSION = r"""
sub fib { my $n = shift; $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
sub words { my %seen; $seen{$_ % 97 . "x"}++ for 1 .. 20000; join ",", sort keys %seen }
$| = 1; print "ready\n"; while (1) { fib(18); words() }
"""
RESTS = r"""
sub rests { my $n = shift; $n > 0 ? rests($n - 1) : do { print "ready\n"; select undef, undef, undef, undef } }
$| = 1; rests(5);
"""


@pytest.mark.parametrize("depth, n_calls, followed", [(5, 1, []), (60, 2, []), (60, 0, ["followed"])])
def test_a_sample_takes_few_system_calls_at_rest(depth, n_calls, followed):
    """One for the stack: of what was the same for as long as it is known, nothing is read. They are most of what it costs; they were four.
    A deep stack is found first. A recording reads nothing of one that sleeps on."""
    with spied.waiting(PERL, "-e", RESTS.replace("rests(5)", f"rests({depth})")) as process:
        def calls(n):
            _, said = spied.sampled(process, 10000, n, *followed)
            assert followed or said.startswith(f"{n} whole, "), said    # a second look is one more
            return (n + 1) * each(said, "calls")
        of_each = (calls(1100) - calls(100)) / 1000
    assert n_calls - 0.1 < of_each < n_calls + 0.1, of_each


def test_one_that_slept_is_read_when_it_has_run():
    sleeps = r'sub sleeps { syswrite STDOUT, "ready\n"; sysread STDIN, my $byte, 1 } sub again { sleeps() } $| = 1; sleeps(); again()'
    with spied.ready(PERL, "-e", sleeps) as process, \
         subprocess.Popen(["stdbuf", "-oL", spied.sampler(), str(process.pid), "1000", "2000", "followed"], stdout=subprocess.PIPE, text=True) as ran:
        before = [ran.stdout.readline() for _ in range(20)]
        print(file=process.popen.stdin, flush=True)
        assert "again" not in "".join(before) and "again" in ran.stdout.read()


NAMES = "\n".join(f"sub a_sub_named_{i} {{ my $n = shift; return a_sub_named_{i + 1}($n) }}" for i in range(20)) + r"""
sub a_sub_named_20 { my $n = shift; $n ^= $_ for 1 .. 200_000; $n }
$| = 1; print "ready\n"; while (1) { a_sub_named_0(1) }
"""

@pytest.mark.parametrize("program, most, what", [(RECURSION, 7, "calls"), (NAMES, 30, "pieces")])
def test_of_what_runs_little_is_read(program, most, what):
    """New code besides; calls were 27. Names that stay are hardly ever read again: of each eleven words and texts; they were 74 pieces."""
    with spied.ready(PERL, "-e", program) as process:
        _, said = spied.sampled(process, 1000, 2000)
    assert each(said, what) < most, said


COMPILES = r"""
my $body = 'my ($n) = @_; if ($n > 1) { $n += $_ for 1 .. 3 } else { $n = join ",", map { $_ + 1 } 1, 2 } return $n;';
my $text = join "\n", map { "sub f$_ { $body $body }" } 1 .. 40;
no warnings; $| = 1; print "ready\n"; while (1) { eval "$text\n1" or die }
"""

def test_what_is_compiled_is_seen_whole():
    """perl goes through the statements of a sub that it has compiled as if they ran; of these samples a tenth was left out. None of 3,000
    was torn; 20 of 1000 may be. Chance: 1e-9"""
    with spied.ready(PERL, "-e", COMPILES) as process:
        samples, said = spied.sampled(process, 1000, 1000)
    assert len(samples) >= 980, said


# From the twentieth look on, which are the calls with many pieces, memory takes so long to read that each is late.
SLOW = r"""
#define _GNU_SOURCE
#include <sys/uio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
/* Late enough, and for as long as the program waits for its turn. */
static void let_run(pid_t pid)
{
    struct timespec before, now;
    clockid_t clock;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &before) != 0)
        return;
    do
        nanosleep(&(struct timespec){0, 15000000}, NULL);
    while (clock_gettime(clock, &now) == 0 && (now.tv_sec - before.tv_sec) * 1000000000 + now.tv_nsec - before.tv_nsec < 1000000);
}
ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long n_to, const struct iovec *from, unsigned long n_from, unsigned long flags)
{
    static int n;
    if (n_from > 6 && n++ >= 20)
        let_run(pid);
    return syscall(SYS_process_vm_readv, pid, to, n_to, from, n_from, flags);
}
"""


def test_a_sample_that_takes_long_is_given_up(tmp_path):
    """After four looks, if these took 50 ms (LONGEST_NS), and is counted; without that it would be sixteen."""
    (tmp_path / "slow.c").write_text(SLOW)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "slow.so", tmp_path / "slow.c"], check=True)
    with spied.ready(PERL, "-e", RECURSION) as process:
        _, said = spied.sampled(process, 1000, 60, env={**os.environ, "LD_PRELOAD": str(tmp_path / "slow.so")})
    torn = int(re.search(r"(\d+) torn", said)[1])
    assert torn >= 30 and 61 * each(said, "calls") / torn < 40, said
