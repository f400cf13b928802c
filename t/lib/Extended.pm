# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Extended;

# Skips a whole test file unless EXTENDED_TESTING or CI is set: it takes seconds, and people who
# install the profiler need not wait for what only its developers change.

use strict;
use warnings;

use Test::More ();

sub import {
    Test::More::plan(skip_all => 'slow, runs with EXTENDED_TESTING=1') if !$ENV{EXTENDED_TESTING} && !$ENV{CI};
    return;
}

1;
