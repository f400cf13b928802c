# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Recursion: direct, mutual, through an anonymous sub.
use strict;
use warnings;

sub fib { my $n = shift; return $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
sub even { my $n = shift; return 1 unless $n; spin(); return odd($n - 1) }
sub odd { my $n = shift; return 0 unless $n; spin(); return even($n - 1) }
sub spin { my $x = 0; $x += $_ for 1 .. 20; $x }
sub ping { my $n = shift; return 0 if $n <= 0; return pong($n - 1) + spin() }
sub pong { my $n = shift; return 0 if $n <= 0; return ping($n - 2) + pong($n - 3) }

fib(12);
even(30);
odd(21);
ping(25);
my $walk;
$walk = sub { my $d = shift; return 1 unless $d; return $walk->($d - 1) + $walk->($d - 1) };
$walk->(6);
