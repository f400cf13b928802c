#!/usr/bin/perl
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
#
# A parent that forks workers and hands each its share: the shape of every prefork server.
use strict;
use warnings;

sub crunch {
    my ($upto) = @_;
    my $sum = 0;
    for my $i (1 .. $upto) {
        $sum += $i % 7;
    }
    return $sum;
}

sub worker {
    my ($number) = @_;
    crunch(2000 * $number) for 1 .. 20;
}

my @pids;
for my $number (1 .. 3) {
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        worker($number);
        exit 0;
    }
    push @pids, $pid;
}
waitpid $_, 0 for @pids;
crunch(5000);
