# Small subs that call each other.
use strict;
use warnings;

sub add    { return $_[0] + $_[1] }
sub twice  { my $n = shift; return add($n, $n) }
sub middle { my ($n) = @_; my $t = twice($n); return add($t, 1) }
sub outer  { my ($n) = @_; return middle($n) + twice($n) }

my $sum = 0;
$sum += outer($_) for 1 .. 100_000;
