# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# What recording costs stands in the profile: behind each process's start and before its end.

use lib 't/lib';
use NYTPTest;

use Devel::NYTProf::ReadStream qw(for_chunks);

my @KINDS = qw(stmt leave call_in call_out xsub_in xsub_out op_in op_out);
my $CODE = "sub f { my \$n = shift; return \$n + 1 }\nmy \$x = 0;\n\$x = f(\$x) for 1 .. 50;\nprint \"\$x\\n\";\n";

# [tag, arguments] of what matters here, in order.
sub records_of {
    my ($file) = @_;
    my @found;
    for_chunks {
        my ($tag, @arguments) = @_;
        push @found, [$tag] if $tag =~ /^PID_/;
        push @found, map { [split /=/] } $1 =~ /\S+/g if $tag eq 'COMMENT' && $arguments[0] =~ /^nytp-costs (.*)/;
    } filename => $file;
    return @found;
}

sub shape { return join ' ', map { $_->[0] } @_ }

my $COSTS = join ' ', @KINDS;

# Where times are not read from the processor's counter readings are counted, and a call has none to itself.
my $system_clock = profile_in(run_prog(code => '1', opts => ''))->{attr_record}{clock} eq 'clock_gettime';

for my $opts ('', 'compress=0', 'blocks=1', 'calls=0:stmts=0', 'stmts=0', 'use_db_sub=1', 'clock=0', 'clock=2') {
    my $run = run_prog(code => $CODE, opts => $opts);
    is $run->{out} . $run->{err}, "50\n", "$opts: the program is as ever";
    my @records = records_of("$run->{dir}/nytprof.out");
    like shape(@records), qr/^PID_START( $COSTS){2,} PID_END\z/, "$opts: behind the start and before the end";
    my $least = $system_clock || $opts =~ /clock=/ ? 0 : 500;
    my @odd = grep { @$_ > 1 && !($_->[1] =~ /^[0-9]+\z/ && $_->[1] >= ($_->[0] eq 'call_in' ? $least : 500) && $_->[1] < 20e6) } @records;
    is "@{[map {join '=', @$_} @odd]}", '', "$opts: picoseconds, half a nanosecond to 20 microseconds";
}

scenario 'a child has its own' => sub {
    my $run = run_prog(code => "my \$p = fork; $CODE exit if !\$p; waitpid \$p, 0;");
    my @files = glob "$run->{dir}/nytprof.out*";
    is scalar @files, 2, 'two profiles';
    like shape(records_of($_)), qr/^PID_START( $COSTS){2,} PID_END\z/, 'each with its costs' for @files;
};

scenario 'a program that runs for a while is measured meanwhile' => sub {
    plan skip_all => 'times are not read from a counter' if $system_clock || $ENV{LD_PRELOAD};
    my $run = run_prog(code => 'my $end = times() + 0.15; my $n = 0; while (times() < $end) { $n++ for 1 .. 1000 }');
    my @told = grep { $_->[0] eq 'stmt' } records_of("$run->{dir}/nytprof.out");
    cmp_ok scalar @told, '>', 2, scalar(@told) . ' times told';
};

# By a clock whose readings are all one step apart a cost is a number of readings. Where each step is longer than the
# one before, what is measured later has cost more: with constants between the kinds their proportion would stay.
scenario 'each kind is measured by itself: their proportion is no constant' => sub {
    my %proportions;
    for my $growth (0, 1) {
        my $run = run_prog(code => $CODE, opts => 'clock=1', env => { stepping_clock(), NYTP_STEP_GROWTH_NS => $growth });
        my (%first) = map { @$_ } grep { @$_ > 1 } reverse records_of("$run->{dir}/nytprof.out");
        push @{ $proportions{$_} }, sprintf '%.3f', $first{$_} / $first{stmt} for qw(leave call_in xsub_in op_in);
    }
    for (sort keys %proportions) {
        my ($even, $growing) = @{ $proportions{$_} };
        cmp_ok $growing, '>', 1.005 * $even, "$_: $even by even steps, $growing by longer and longer ones";
    }
};

scenario 'in a program that fills the caches a call costs more than in a loop' => sub {
    plan skip_all => 'times are not read from a counter' if $system_clock || $ENV{LD_PRELOAD};
    my %code = (
        loop => 'sub f { my $n = shift; return $n + 1 } my $x = 0; $x = f($x) for 1 .. 80_000;',
        large => join("\n", map { "sub f$_ { my \$n = shift; return \$n + $_ }" } 1 .. 20_000)
            . "\nmy \$x = 0;\nfor (1 .. 4) {\n" . join("\n", map { "\$x = f$_(\$x);" } 1 .. 20_000) . "\n}\n",
    );
    # A handler's longer time in the program is subtracted from the sub, not from its caller.
    my %in;
    for my $name (sort keys %code) {
        my $run = run_prog(code => $code{$name}, opts => 'savesrc=0');
        my %cost = map { @$_ } grep { @$_ > 1 } records_of("$run->{dir}/nytprof.out");
        $in{$name} = $cost{call_in} / $cost{call_out};
        note "$name: call_in $cost{call_in}, call_out $cost{call_out}";
    }
    cmp_ok $in{large}, '>', 1.2 * $in{loop}, 'the part of the sub grows';
};

scenario 'nothing of the measurement is in the profile' => sub {
    my $run = run_prog(code => $CODE, opts => 'savesrc=0');
    my $p = whole_in($run, 'sums');
    is_deeply stmt_counts($p, script_fid($p)), {1 => 100, 2 => 1, 3 => 1, 4 => 1}, 'statements of the program only'
      or diag explain stmt_counts($p, script_fid($p));
    my @subs;
    for_chunks { push @subs, $_[4] if $_[0] eq 'SUB_INFO' } filename => "$run->{dir}/nytprof.out";
    is_deeply [grep { !/::/ } @subs], [], 'and none without a package';
};

scenario 'a clock that is a system call: what it costs is taken off' => sub {
    my $root = root();
    plan skip_all => 'nytp-export is not built' if !-x "$root/bin/nytp-export";
    my $run = run_prog(code => 'my $x = 0; for my $i (1 .. 200_000) { $x += $i; $x ^= 1; $x++ }', opts => 'clock=2');
    my %total;
    for my $how ('', '--as-recorded') {
        my $json = `'$root/bin/nytp-export' --json --unit=ns $how '$run->{dir}/nytprof.out'`;
        ($total{$how}) = $json =~ /"total":([0-9]+)/ or die $json;
    }
    note "recorded $total{'--as-recorded'} ns, corrected $total{''} ns";
    cmp_ok $total{''}, '<', 0.6 * $total{'--as-recorded'}, 'most of what was recorded was the clock';
    cmp_ok $total{''}, '>', 0, 'what the program did is left';
};

done_testing;
