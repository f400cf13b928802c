# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Ends through POSIX::_exit inside nested subs: three frames never return.
use strict;
use warnings;
use POSIX ();

sub work { my $n = shift; my $x = 0; $x += $_ for 1 .. $n; $x }
sub one { work(100); two() }
sub two { work(200); three(); }
sub three { work(300); work(50); POSIX::_exit(0) }

work(1000);
one();
