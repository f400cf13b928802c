# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Control flow: all loops, labels, conditionals, chained and postfix forms.
use strict;
use warnings;

my ($n, @seen) = (0);
while ($n < 5) {
    $n++;
    next if $n == 2;
    last if $n == 4;
    push @seen, $n;
} continue {
    push @seen, -$n;
}
until ($n <= 0) {
    $n -= 2;
    $n++;
}
for (my $i = 0; $i < 3; $i++) {
    push @seen, $i;
    $n += $i;
}
OUTER:
for my $i (1 .. 3) {
    for my $j (1 .. 3) {
        next OUTER if $j > $i;
        push @seen, "$i$j";
    }
}
do {
    $n--;
    push @seen, $n;
} while ($n > 0);
if ($n > 3) {
    push @seen, 'a';
} elsif ($n == 0) {
    push @seen, 'b';
    $n = 7;
} else {
    push @seen, 'c';
}
unless ($n) {
    push @seen, 'd';
}
push @seen, $_ for grep { $_ % 2 } map { $_ * 3 } 1 .. 4;
{
    redo if $n++ < 9;
    push @seen, $n;
}
my $t = $n > 5 ? 'big' : 'small';
my $x = $n && $t || 'none';
print scalar(@seen), " $t $x\n";
