# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Programs that hang and are killed: the profile shows where.

use strict;
use warnings;

use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/../lib";
use Test::More;

use NYTPTest;

my $EXPORT = root() . '/bin/nytp-export';
plan skip_all => 'bin/nytp-export is not built' if !-x $EXPORT;

# Whether the process sleeps in the kernel, or is gone: nothing else tells from outside that a
# program blocks.
sub blocks {
    my ($pid) = @_;
    open my $fh, '<', "/proc/$pid/stat" or return 1;
    return (<$fh> // ') Z') =~ /\) [SZX]/;
}

# Runs $code, which creates the file `ready` as the last thing before it blocks, and kills it.
sub hang {
    my ($code, %o) = @_;
    my $dir = tempdir('nytp-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my $run = run_prog(
        code => $code, dir => $dir, timeout => 60, %o,
        on_start => sub {
            my ($pid) = @_;
            my $steps = 0;
            while ($steps < 3 && !NYTPTest::has_ended($pid)) {
                select undef, undef, undef, 0.01;
                $steps = -e "$dir/ready" && blocks($pid) ? $steps + 1 : 0;
            }
            kill $o{signal} || 'KILL', $pid;
        },
    );
    return ($run, $dir);
}

# The names of the calls that were open at the end, outermost first.
sub open_calls {
    my ($dir) = @_;
    my $dump = run_perl(impl => 'plain', dir => $dir, args => ['-e', 'exec @ARGV', $EXPORT, '--dump'])->{out};
    my @open;
    for (split /\n/, $dump) {
        push @open, '?' if /\bSUB_ENTRY\b/;
        $open[$1 - 1] = $2 if /COMMENT text="nytp-open (\d+) \w+ (.*)\\n"/;
        pop @open if /\bSUB_RETURN\b/;
    }
    return join ' ', @open;
}

# hang(), again if need be until the calls that were open are these and the last of them was told
# with all before: on a busy machine the flush before it may take longer than its budget pays for.
sub hang_told {
    my ($wanted, $calls, @arguments) = @_;
    my @got;
    for (1 .. 5) {
        @got = hang(@arguments);
        my $seen = calls_of($got[1]);
        last if open_calls($got[1]) eq $wanted && !grep { ($seen->{$_} || 0) != $calls->{$_} } keys %$calls;
    }
    return @got;
}

# Of --top: sub => calls.
sub calls_of {
    my ($dir) = @_;
    my $top = run_perl(impl => 'plain', dir => $dir, args => ['-e', 'exec @ARGV', $EXPORT, '--top=0', '--unit=ns'])->{out};
    return { map { /^\s*\S+(?: \w+)?\s+\S+%\s+\S+(?: \w+)?\s+\S+%\s+(\d+)\s+\S+(?: ns| s)?\s+(\S+)/ ? ($2 => $1) : () } split /\n/, $top };
}

my $BUSY = <<'P';
sub busy { my $x = 0; $x += $_ for 1 .. 100; return $x }
sub ready { open my $fh, '>', 'ready' or die; return close $fh }
P

my %hang = (
    'a builtin' => ['sub waiter { sleep 60 }', 'main::CORE:sleep'],
    'an xsub' => ['use Time::HiRes (); sub waiter { Time::HiRes::sleep(60) }', 'Time::HiRes::sleep'],
    'a read' => ['sub waiter { pipe my $in, my $out; sysread $in, my $byte, 1 }', 'main::CORE:sysread'],
    'a line' => ['sub waiter { pipe my $in, my $out; my $line = <$in> }', 'main::CORE:readline'],
    'a child' => ['sub waiter { my $parent = $$; my $pid = fork; if (!$pid) { sleep 1 while kill 0, $parent and getppid == $parent; exit } waitpid $pid, 0 }',
        'main::CORE:waitpid'],
    'a connection' => ['use Socket; sub waiter { socket my $s, AF_INET, SOCK_STREAM, 0; listen $s, 1; accept my $c, $s }', 'main::CORE:accept'],
    'an event loop' => ['use List::Util; sub back { busy() } sub waiter { List::Util::first(sub { back(); pause() }, 1) } sub pause { select undef, undef, undef, 60 }',
        'List::Util::first main::pause main::CORE:sselect'],
);

for my $what (sort keys %hang) {
    scenario "killed in $what" => sub {
        my ($waiter, $last) = @{ $hang{$what} };
        for my $signal ($what eq 'a builtin' ? qw(KILL TERM) : 'KILL') {
            my %before = ('main::busy' => $what eq 'an event loop' ? 27 : 26);
            my ($run, $dir) = hang_told("main::waiter $last", \%before, "$BUSY$waiter\nbusy() for 1 .. 25;\nready();\nbusy();\nwaiter();\n", signal => $signal);
            cmp_ok $run->{signal}, '>', 0, 'dies of the signal';
            is $run->{err}, '', 'silently';
            is open_calls($dir), "main::waiter $last", "$signal: the calls that are open";
            my $calls = calls_of($dir);
            is $calls->{'main::busy'}, $before{'main::busy'}, 'what ran before';
            is $calls->{'main::waiter'}, 1, 'the caller';
            is $calls->{ (split ' ', $last)[-1] }, 1, 'the call that hangs';
        }
    };
}

scenario 'the calls that were open stand before every table' => sub {
    my %way = (
        'KILL' => ['KILL', '', qr/open at its end \(killed, or still running\): main::RUNTIME/, 'main::CORE:sleep'],
        'TERM, sigexit' => ['TERM', 'sigexit=1', qr/killed by SIGTERM in main::RUNTIME/, 'CORE:sleep'],
        'TERM, sigexit, sampled' => ['TERM', 'sigexit=term:sample=1000', qr/killed by SIGTERM in main::RUNTIME/, 'CORE:sleep'],
    );
    # `main::waiter` has been in no sample that a safe point came after.
    my $sampled = sub {
        my ($dir) = @_;
        my $rows = run_perl(impl => 'plain', dir => $dir, args => ['-e', 'exec @ARGV', $EXPORT, '--collapsed'])->{out};
        like $rows, qr/^main::RUNTIME;main::job;main::waiter;main::CORE:sleep [1-9]/m, 'what blocks is a sample, with its time';
        like run_perl(impl => 'plain', dir => $dir, args => ['-e', 'exec @ARGV', $EXPORT, '--check'])->{out}, qr/: ok$/, 'and it adds up';
    };
    for my $name (sort keys %way) {
        my ($signal, $opts, $head, $last) = @{ $way{$name} };
        my $code = "${BUSY}sub waiter {\nsleep 60 }\nsub job { waiter() }\nready();\njob();\n";
        my (undef, $dir) = $signal eq 'KILL'
            ? hang_told("main::job main::waiter main::CORE:sleep", {}, $code)
            : hang($code, signal => $signal, opts => $opts);
        my $line = 1 + ($BUSY =~ tr/\n//);
        $sampled->($dir) if ($opts // '') =~ /sample/;
        for my $format ('--top', '--tree', '--top --lines', '--list=waiter', '--peek=waiter') {
            my $out = run_perl(impl => 'plain', dir => $dir, args => ['-e', 'exec @ARGV', $EXPORT, split ' ', $format])->{out};
            my ($ends) = (split /\n\n/, $out)[1];
            like $ends, qr{\A$head \S*:@{[ $line + 4 ]} > main::job \S*:@{[ $line + 2 ]} > main::waiter \S*:@{[ $line + 1 ]} > $last\z}, "$name: $format";
        }
    }
};

scenario 'a recursion that was open is told once' => sub {
    my (undef, $dir) = hang_told(join(' ', ('main::deep') x 41, 'main::CORE:sleep'), {},
        "sub deep { my \$n = shift;\nsleep 60 if !\$n;\ndeep(\$n - 1) }\n${BUSY}ready();\ndeep(40);\n");
    my $out = run_perl(impl => 'plain', dir => $dir, args => ['-e', 'exec @ARGV', $EXPORT, '--top'])->{out};
    like $out, qr{main::RUNTIME \S+ > main::deep \S+:3 \(40 times\) > main::deep \S+:2 > main::CORE:sleep$}m, 'with its count';
};

scenario 'each of many quick reads may be the last' => sub {
    my (undef, $dir) = hang_told('main::waiter main::CORE:sysread', { 'main::waiter' => 101 }, <<"P");
${BUSY}pipe my \$in, my \$out;
sub waiter { sysread \$in, my \$byte, 1 }
for (1 .. 100) { syswrite \$out, 'x'; waiter() }
ready();
waiter();
P
    is open_calls($dir), 'main::waiter main::CORE:sysread', 'the calls that are open';
    is calls_of($dir)->{'main::waiter'}, 101, 'all calls';
};

scenario 'the program is not disturbed' => sub {
    my $code = <<'P';
$! = 7;
my @before = times;
my $was = select undef, undef, undef, 0;
print 0 + $!, " $was\n";
$SIG{ALRM} = sub { print "alarm\n" };
alarm 1;
print sleep(60) < 5 ? "woken\n" : "slept\n";
my $pid = fork;
if (!$pid) { exit 3 }
waitpid $pid, 0;
print $? >> 8, "\n";
system 'exit 5';
print $? >> 8, "\n";
print `echo here`;
P
    my $run = run_prog(code => $code);
    is $run->{out}, run_plain(code => $code)->{out}, 'same output';
    is "$run->{status} $run->{err}", '0 ', 'same end';
    is join('; ', check_sums(profile_in($run))), '', 'whole';
};

scenario 'flush=0 leaves it to the size' => sub {
    my (undef, $dir) = hang("${BUSY}ready();\nsub waiter { sleep 60 }\nwaiter();\n", opts => 'flush=0');
    is open_calls($dir), '', 'nothing was told';
};

done_testing;
