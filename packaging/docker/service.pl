# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Stands for the program of a service: works a little, waits a little, and says from time to time that it lives.
use strict;
use warnings;

sub work {
    my $sum = 0;
    $sum += $_ % 7 for 1 .. 50_000;
    return $sum;
}

$| = 1;
for (my $round = 1;; $round++) {
    work();
    print "$round rounds\n" if $round % 100 == 0;
    select undef, undef, undef, 0.001;
}
