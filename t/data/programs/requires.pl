# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Files with work at file scope, required at compile time and at run time from a sub.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Slow;
BEGIN { Slow::helper(200) }

sub load { require Late; return Late::late() }

load();
load();
Slow::helper(100);
my $own = 0;
for my $i (1 .. 1000) {
    $own += $i;
}
