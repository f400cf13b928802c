# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Profiling switched off and on again, at top level and inside a sub.
use strict;
use warnings;

sub work { my $n = shift; my $x = 0; $x += $_ for 1 .. $n; $x }
sub inside { work(100); DB::disable_profile(); work(200); DB::enable_profile(); work(300) }

work(500);
DB::disable_profile();
work(400);
DB::enable_profile();
work(600);
inside() for 1 .. 3;
