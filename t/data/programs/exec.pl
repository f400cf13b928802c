# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Ends through exec inside a sub.
use strict;
use warnings;

sub work { my $n = shift; my $x = 0; $x += $_ for 1 .. $n; $x }
sub leave { work(100); exec '/bin/true' }

work(300);
leave();
