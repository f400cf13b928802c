# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# The clock that is read (clock.c), and that time only goes ahead where the processor's counter does not, in a recorded
# program whose counter and clock counter_moves.c moves on. Nothing here takes time: each run is the same.

use lib 't/lib';
use NYTPTest;

use Config;
use Devel::NYTProf::ReadStream qw(for_chunks);

my $dir  = new_dir();
my $root = root();

# False where it does not compile, which is told.
sub compile {
    my ($to, @arguments) = @_;
    return 1 if !system "$Config{cc} -D_GNU_SOURCE -std=gnu11 -Wall -Wextra -Werror -O1 -g -I$root -o $dir/$to @arguments 2>$dir/log";
    diag slurp("$dir/log");
    return 0;
}

scenario 'which clock is chosen' => sub {
    ok compile('clock', "$root/t/xs/clock.c", "$root/XS/platform/counter.c", '-lm'), 'it compiles' or return;
    my @lines = split /\n/, `$dir/clock`;
    is $?, 0, 'its status';
    cmp_ok scalar(grep {/^ok /} @lines), '>', 30, 'its tests';
    is join("\n", grep {/^not ok/} @lines), '', 'none failed';
};

# The offsets of the recorder's instructions that read the counter.
sub counter_reads {
    my ($object) = grep {-e} map {"$_/auto/Devel/NYTProf/NYTProf.so"} lib_dirs('ours');
    return join ' ', map { /^\s*(\w+):\s+rdtsc\s*$/ ? $1 : () } `objdump -d --no-show-raw-insn $object`;
}

# Runs a program by the clock of counter_moves.c.
sub run_by_that_clock {
    my ($code, $move, @arguments) = @_;
    my %env = (LD_PRELOAD => "$dir/moves.so", NYTP_READS => counter_reads(), NYTP_MOVE => $move);
    return run_prog(opts => 'compress=0', code => $code, args => \@arguments, env => \%env);
}

# Returns the profile's facts of a program of 40 ms whose counter moves after half of it: TIME records, calls, and times
# in milliseconds.
sub moved {
    my ($move, @in_pause) = @_;
    my $run = run_by_that_clock(<<'P', $move, @in_pause);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);
sub f { my $n = shift; return $n + 1 }
my ($begun, $n) = (clock_gettime(CLOCK_MONOTONIC), 0);
while (clock_gettime(CLOCK_MONOTONIC) - $begun < 0.02) { $n = f($n) for 1 .. 10; binmode STDIN }
DB::disable_profile() if @ARGV;
times;
DB::enable_profile() if @ARGV;
while (clock_gettime(CLOCK_MONOTONIC) - $begun < 0.04) { $n = f($n) for 1 .. 10; binmode STDIN }
printf "%.6f", clock_gettime(CLOCK_MONOTONIC) - $begun;
P
    my %found = (run => $run, p => profile_in($run), negative => 0, ticks => 0);
    for_chunks {
        my ($tag, $ticks) = @_;
        return if $tag !~ /^TIME_/;
        $found{ticks} += $ticks;
        $found{negative}++ if $ticks < 0;
    } filename => "$run->{dir}/nytprof.out";
    $found{negative} += grep { $_->{incl} < 0 || $_->{excl} < 0 } @{ $found{p}{arc} };
    $found{rest_ms} = ($found{ticks} + $found{p}{attr}{cumulative_overhead_ticks}) / 1e4 - $run->{out} * 1e3;
    return \%found;
}

# How the counter moves; by how many milliseconds it is ahead when that is seen, from and to; how much of it was told.
# The program is looked at each half a millisecond, and may be a tenth of one apart without a word. So a rate of 1.05 shows
# where it runs 4 ms without a look. What went far ahead in a pause is seen when the next second is over.
my @MOVES = (
    ['none'], ['back 3', -3, -3, 0], ['back 100000', -100_000, -100_000, 0], ['ahead 3', 3, 3, 0],
    ['ahead 0.3', 0.3, 0.3, 0.3], ['ahead 86400000', 86_400_000, 86_400_000, 0], ['rate 2', 0.1, 1, 0.5], ['rate 0.5', -1, -0.1, 0],
    ['rate 0.1', -5, -0.1, 0], ['rate 1.05 4', 0.1, 0.3, 0.3], ['rate 1.0005'], # as much as NTP slows a clock
);

sub set_that_clock_up {
    plan skip_all => 'counter_moves.c knows no instruction that reads the counter here'
        if $Config{archname} !~ /^x86_64-linux/ || sanitized() || $ENV{LD_PRELOAD};
    ok compile('moves.so', '-shared -fPIC', "$root/t/xs/counter_moves.c", '-ldl'), 'it compiles' or return 0;
    return isnt counter_reads(), '', 'the recorder reads the counter';
}

scenario 'a counter that moves while a program is recorded' => sub {
    set_that_clock_up() or return;
    my $rest_ms;
    for (@MOVES, map { my ($move, @more) = @$_; [ "$move, paused", @more ] } grep { $_->[0] =~ /\A(?:none|back 3|ahead 3|rate 2|rate 0.5)\z/ } @MOVES) {
        my ($move, $from, $to, $told) = @$_;
        my $found = moved($move =~ s/(, paused)//r, $1 // ());
        my $p     = $found->{p};
        $rest_ms = $found->{rest_ms} if $move =~ /none/;
        is $found->{run}{err}, '', "$move: the program says nothing";
        is join('; ', check_sums($p)), '', "$move: the sums";
        is $found->{negative}, 0, "$move: no time is negative";
        is $p->{attr_record}{clock}, 'tsc', "$move: it began with the counter";
        my ($at, $apart) = split / /, $p->{attr_record}{clock_parted} // '';
        is defined $apart, defined $from, "$move: whether the clocks parted";
        next if !defined $apart;
        ok $apart / 1e6 >= $from - 0.1 && $apart / 1e6 <= $to + 0.1, "$move: by $apart ns";
        my $more_ms = $found->{rest_ms} - $rest_ms;
        ok $more_ms >= -0.2 && $more_ms <= $told + 0.2, "$move: time is counted once: $more_ms ms too much";
    }
};

# A statement reads the clock once. A call reads it twice and saves its sub's first statement a reading. So each costs a
# microsecond by that clock: what times the handlers, and its readings, are no part of it.
scenario 'what recording costs is the readings of the clock, where nothing else takes time' => sub {
    set_that_clock_up() or return;
    my $run = run_by_that_clock('sub f { return $_[0] + 1 } for (1 .. 20_000) { f($_) }', 'none');
    my @costs;
    for_chunks { push @costs, $_[1] if $_[0] eq 'COMMENT' && $_[1] =~ /^nytp-costs / } filename => "$run->{dir}/nytprof.out";
    cmp_ok scalar @costs, '>', 3, 'costs are told while it runs';
    my %costs = $costs[-1] =~ /(\w+)=(\d+)/g;
    is $costs{stmt}, 1_000_000, 'picoseconds of a statement';
    is $costs{call_in} + $costs{call_out}, 1_000_000, 'and of a call';
};

done_testing;
