# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Loops of one kind of event each, subs of main, with a clock around each. With an argument it prints
# how many seconds each took.
use strict;
use warnings;
use Scalar::Util ();
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

package Thing { sub name { return $_[0]{name} } }

my $N = 200_000;
my ($thing, $text) = (bless({name => 'x'}, 'Thing'), 'some text');

sub one { 1 }
sub sum { my ($x, $y) = @_; return $x + $y }
sub field { my $thing = shift; $thing->{name} }
sub steps { my $x = shift; my $y = $x + 1; my $z = $y * 2; return $z if $z; $x }

sub statements { my ($x, $y) = (0, 0); for my $i (1 .. $N) { $x += $i; $y = $x & 0xffff; $x -= $y } return }
sub leaves { my $x = 0; for my $i (1 .. $N) { if ($i) { $x += $i } $x ^= 1; } return }
sub calls { for my $i (1 .. $N) { one() } return }
sub calls_with_arguments { my $x = 0; for my $i (1 .. $N) { $x = sum($x, $i) } return }
sub methods { my $x; for my $i (1 .. $N) { $x = $thing->name } return }
sub accessors { my $x; for my $i (1 .. $N) { $x = field($thing) } return }
sub calls_of_steps { my $x; for my $i (1 .. $N) { $x = steps($i) } return }
sub xsubs { my $x; for my $i (1 .. $N) { $x = Scalar::Util::reftype($thing) } return }
sub builtins { my $x; for my $i (1 .. $N) { $x++ if $text =~ /e t/ } return }

my %seconds;
for my $part (qw(statements leaves calls calls_with_arguments methods accessors calls_of_steps xsubs builtins)) {
    my $start = clock_gettime(CLOCK_MONOTONIC);
    { no strict 'refs'; &$part() }
    $seconds{$part} = clock_gettime(CLOCK_MONOTONIC) - $start;
}
if (@ARGV) {
    printf "%s %.6f\n", $_, $seconds{$_} for sort keys %seconds;
}
