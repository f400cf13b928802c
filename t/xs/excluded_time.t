# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# What the recorder does rarely and at length (string evals, loading, the first sight of a place, a
# sub, a call site, to stop) is cut out of the program's time. The clock is that of clock_steps.c: what is
# cut out goes from one reading to the next, so that the overhead says how often that was.

use lib 't/lib';
use NYTPTest;

use Devel::NYTProf::ReadStream qw(for_chunks);
use List::Util qw(min);

plan skip_all => 'two libraries to preload' if sanitized();

my $TICKS_PER_STEP = 10;

# How often something was cut out, and what main::part took, in steps.
sub cuts_and_part {
    my ($code, %files) = @_;
    my $run = run_prog(code => $code, files => \%files, opts => 'clock=1:flush=0:compress=0', env => { stepping_clock() });
    is "$run->{out}$run->{err}", "done\n", 'the program is as ever';
    my $p = whole_in($run, 'sums');
    my $part = 0;
    $part += $_->{incl} for grep { $_->{callee} eq 'main::part' } @{ $p->{arc} };
    return ($p->{attr}{cumulative_overhead_ticks} / $TICKS_PER_STEP, sprintf '%.0f', $part * 1e6);
}

# Returns the growth by each of 1000 more rounds.
sub per_round {
    my ($program) = @_;
    my @few = cuts_and_part($program->(500));
    my @many = cuts_and_part($program->(1500));
    return map { ($many[$_] - $few[$_]) / 1000 } 0, 1;
}

scenario 'string evals' => sub {
    my ($cuts, $steps) = per_round(sub {
        my ($n) = @_;
        return "sub part {\n  for my \$i (1 .. $n) {\n    eval \"my \\\$x = \$i;\\nsub { \\\$x }->()\";\n  }\n}\npart();\nprint qq(done\\n);\n";
    });
    # before and behind entereval, at the start of compiling, the closure, its name, three places
    cmp_ok $cuts, '>=', 8, "$cuts cuts an eval";
    # 4 statements, 2 scopes that end, a call and its return; the rest is the readings around what is cut out
    cmp_ok $steps, '<', $cuts + 9, "$steps readings an eval are the program's";
};

scenario 'loading modules' => sub {
    my ($cuts, $steps) = per_round(sub {
        my ($n) = @_;
        my %module = map { ("Part$_.pm" => join("\n", "package Part$_;", (map { "sub f$_ { return $_ }" } 1 .. $n / 50), "1;\n")) } 1 .. 50;
        return ("sub part {\n  require \"./Part\$_.pm\" for 1 .. 50;\n}\npart();\nprint qq(done\\n);\n", %module);
    });
    # of a sub that is only compiled nothing is an event
    cmp_ok $cuts, '>=', 1, "$cuts cuts a sub that is compiled";
    cmp_ok $steps, '<', $cuts + 0.1, "$steps readings are the program's, none but those around the cuts";
};

scenario 'first sights' => sub {
    my ($cuts, $steps) = per_round(sub {
        my ($n) = @_;
        my $code = join '', map { "sub f$_ { return $_ }\n" } 1 .. $n;
        return $code . "sub part {\n" . join('', map { "  f$_();\n" } 1 .. $n) . "}\npart();\nprint qq(done\\n);\n";
    });
    # while compiling: one; then two places, the sub under its name, its call site
    cmp_ok $cuts, '>=', 4, "$cuts cuts a sub that is called once";
    cmp_ok $steps, '<', $cuts + 4, "$steps readings a call are the program's";
};

# All ops of the program are switched. The least of twenty: no busy machine disturbs them all.
scenario 'to stop recording' => sub {
    my $code = <<'P';
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);
eval join '', map { "sub f$_ { my \$x = shift; return \$x + $_ }" } 1 .. 5000;
for (1 .. 20) {
    DB::enable_profile();
    my $begun = clock_gettime(CLOCK_MONOTONIC);
    DB::disable_profile();
    print clock_gettime(CLOCK_MONOTONIC) - $begun, "\n";
}
P
    my $run = run_prog(code => $code, opts => 'start=no');
    my @told;
    for_chunks { push @told, $_[2] / 1e7 if $_[0] eq 'SUB_RETURN' && $_[4] eq 'DB::disable_profile' } filename => "$run->{dir}/nytprof.out";
    is scalar @told, 20, 'calls';
    my ($least, $took) = (min(@told), min(split ' ', $run->{out}));
    cmp_ok $least, '<', $took / 4, "of $took s a call is told as $least";
};

done_testing;
