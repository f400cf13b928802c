# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Trees built and walked by recursion: little else than calls.
use strict;
use warnings;

sub build {
    my ($depth) = @_;
    return [] if $depth == 0;
    return [build($depth - 1), build($depth - 1)];
}

sub count {
    my ($tree) = @_;
    return 1 if !@$tree;
    my ($left, $right) = @$tree;
    return 1 + count($left) + count($right);
}

my $n = 0;
for my $depth (4, 8, 12) {
    $n += count(build($depth)) for 1 .. 2**(18 - $depth);
}
