# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Inner;
use strict;
use warnings;

our $sum = 0;
for my $i (1 .. 1500) {
    $sum += $i;
}
sub in { return $sum }
in();

1;
