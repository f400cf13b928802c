# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Three children and a grandchild, forked inside subs; every one works and returns.
use strict;
use warnings;

sub work { my $n = shift; my $x = 0; $x += $_ for 1 .. $n; $x }
sub child { my $k = shift; work(1000 * $k); return $k }

sub spawn {
    my $k = shift;
    my $pid = fork();
    die "fork: $!" unless defined $pid;
    return $pid if $pid;
    child($k);
    if ($k == 2) {
        my $grandchild = fork();
        if (!$grandchild) { child(5); exit 0 }
        waitpid $grandchild, 0;
    }
    exit 0;
}

work(500);
my @pids = map { spawn($_) } 1 .. 3;
waitpid $_, 0 for @pids;
work(2000);
