# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Loops of one kind of event each, with a clock around each: KIND_NUMBER, subs of main, so short that most
# are not interrupted where others use the processor, too, and many of each kind. With an argument it
# prints how many seconds each took.
use strict;
use warnings;
use Scalar::Util ();
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

our ($N, $LOOPS) = (2_000, 50);
our ($thing, $text) = (bless({name => 'x'}, 'Thing'), 'some text');

# The loops of a kind call a sub each: without call entries the statements of a sub go where
# its time went, and so most of them to those few loops that were interrupted.
my %called = (
    calls => 'sub one_# { 1 }',
    calls_with_arguments => 'sub sum_# { my ($x, $y) = @_; return $x + $y }',
    methods => 'sub Thing::name_# { return $_[0]{name} }',
    accessors => 'sub field_# { my $thing = shift; $thing->{name} }',
    calls_of_steps => 'sub steps_# { my $x = shift; my $y = $x + 1; my $z = $y * 2; return $z if $z; $x }',
);

my %body = (
    statements => 'my ($x, $y) = (0, 0); for my $i (1 .. $N) { $x += $i; $y = $x & 0xffff; $x -= $y }',
    leaves => 'my $x = 0; for my $i (1 .. $N) { if ($i) { $x += $i } $x ^= 1; }',
    calls => 'for my $i (1 .. $N) { one_#() }',
    calls_with_arguments => 'my $x = 0; for my $i (1 .. $N) { $x = sum_#($x, $i) }',
    methods => 'my $x; for my $i (1 .. $N) { $x = $thing->name_# }',
    accessors => 'my $x; for my $i (1 .. $N) { $x = field_#($thing) }',
    calls_of_steps => 'my $x; for my $i (1 .. $N) { $x = steps_#($i) }',
    xsubs => 'my $x; for my $i (1 .. $N) { $x = Scalar::Util::reftype($thing) }',
    builtins => 'my $x; for my $i (1 .. $N) { $x++ if $text =~ /e t/ }',
);

my @loops = map { my $number = $_; map { "${_}_$number" } sort keys %body } 1 .. $LOOPS;
for my $loop (@loops) {
    my ($kind, $number) = $loop =~ /(.*)_(.*)/;
    my $code = ($called{$kind} // '') . " sub $loop { $body{$kind} return } 1";
    eval $code =~ s/#/$number/gr or die;
}
my %seconds;
for my $loop (@loops) {
    my $start = clock_gettime(CLOCK_MONOTONIC);
    { no strict 'refs'; &$loop() }
    $seconds{$loop} = clock_gettime(CLOCK_MONOTONIC) - $start;
}
if (@ARGV) {
    printf "%s %.7f\n", $_, $seconds{$_} for @loops;
}
