# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Loops of one kind of event each, with a clock around each: KIND_NUMBER, subs of main, so short that most
# are not interrupted where others use the processor, too, and many of each kind. With an argument it
# prints how many seconds each took.
use strict;
use warnings;
use Scalar::Util ();
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

package Thing { sub name { return $_[0]{name} } }

our ($N, $LOOPS) = (2_000, 50);
our ($thing, $text) = (bless({name => 'x'}, 'Thing'), 'some text');

sub one { 1 }
sub sum { my ($x, $y) = @_; return $x + $y }
sub field { my $thing = shift; $thing->{name} }
sub steps { my $x = shift; my $y = $x + 1; my $z = $y * 2; return $z if $z; $x }

my %body = (
    statements => 'my ($x, $y) = (0, 0); for my $i (1 .. $N) { $x += $i; $y = $x & 0xffff; $x -= $y }',
    leaves => 'my $x = 0; for my $i (1 .. $N) { if ($i) { $x += $i } $x ^= 1; }',
    calls => 'for my $i (1 .. $N) { one() }',
    calls_with_arguments => 'my $x = 0; for my $i (1 .. $N) { $x = sum($x, $i) }',
    methods => 'my $x; for my $i (1 .. $N) { $x = $thing->name }',
    accessors => 'my $x; for my $i (1 .. $N) { $x = field($thing) }',
    calls_of_steps => 'my $x; for my $i (1 .. $N) { $x = steps($i) }',
    xsubs => 'my $x; for my $i (1 .. $N) { $x = Scalar::Util::reftype($thing) }',
    builtins => 'my $x; for my $i (1 .. $N) { $x++ if $text =~ /e t/ }',
);

my @loops = map { my $number = $_; map { "${_}_$number" } sort keys %body } 1 .. $LOOPS;
for my $loop (@loops) {
    my ($kind) = $loop =~ /(.*)_/;
    eval "sub $loop { $body{$kind} return } 1" or die;
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
