# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# One stack of 20,000 frames.
use strict;
use warnings;
no warnings 'recursion';

sub down { my $n = shift; return $n ? 1 + down($n - 1) : bottom() }
sub bottom { my $x = 0; $x += $_ for 1 .. 500; 0 }

down(20000);
down(10);
bottom();
