# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Works until it is killed, with the disable call as the only flush.
use strict;
use warnings;

sub work { my $n = shift; my $x = 0; $x += $_ for 1 .. $n; $x }
sub middle { work(50); work(20) for 1 .. 3; }
sub top { middle() for 1 .. 200; DB::disable_profile(); DB::enable_profile(); middle() for 1 .. 50;
    kill 9, $$ }

work(10);
top();
