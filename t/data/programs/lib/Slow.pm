# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Slow;
use strict;
use warnings;
use Inner;

# Work at file scope: it runs while the file is being required.
our %table;
for my $i (1 .. 2000) {
    $table{$i} = $i * $i;
}
our $value = helper(300);

sub helper { my $n = shift; my $x = 0; $x += $_ for 1 .. $n; return $x }
sub import { helper(20) }

1;
