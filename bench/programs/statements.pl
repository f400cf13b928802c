# A loop of plain statements.
use strict;
use warnings;

my ($x, $y, $z) = (1, 2, 3);
for my $i (1 .. 1_000_000) {
    $x = $y + $i;
    $y = $z & 255;
    $z = $x ^ $i;
}
