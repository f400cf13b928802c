# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# The requests of a Mojolicious application, a part each kind, with the process's clock around each.
# With an argument it prints what share of the time each part took: run plainly, that is the truth.
use strict;
use warnings;

use FindBin;
use Time::HiRes qw(clock_gettime CLOCK_PROCESS_CPUTIME_ID);
use lib "$FindBin::Bin/..";
use MojoApplication;

sub page { return request(GET => '/') }
sub row { return request(GET => "/row/$_") }
sub form { return request(POST => '/form', "name=n$_&other=x") }
sub wrong { return request(POST => '/form', 'other=' . 'x' x 2000) }

my %share;
my $total = 0;
for my $part (qw(page row form wrong)) {
    my $code = \&$part;
    my $start = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
    $code->() for 1 .. 60;
    $total += $share{$part} = clock_gettime(CLOCK_PROCESS_CPUTIME_ID) - $start;
}
if (@ARGV) {
    printf "%s %.4f\n", $_, 100 * $share{$_} / $total for sort keys %share;
}
