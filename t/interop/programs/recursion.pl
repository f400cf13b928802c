# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Direct and mutual recursion, through refs, methods, sort, map and evals; Ackermann, hanoi.
use strict;
use warnings;
no warnings 'recursion';

sub fib { my $n = shift; return $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
sub even { my $n = shift; return $n == 0 ? 1 : odd($n - 1) }
sub odd { my $n = shift; return $n == 0 ? 0 : even($n - 1) }
sub ack { my ($m, $n) = @_; return $n + 1 if !$m; return ack($m - 1, 1) if !$n; return ack($m - 1, ack($m, $n - 1)) }
my $moves = 0;
sub hanoi {
    my ($n, $from, $to, $via) = @_;
    return if !$n;
    hanoi($n - 1, $from, $via, $to);
    $moves++;
    hanoi($n - 1, $via, $to, $from);
}
hanoi(5, qw(a b c));
my $walk;
$walk = sub { my $t = shift; return ref $t ? 1 + List::Util::sum0(map { $walk->($_) } @$t) : 0 };
require List::Util;
sub deep { my $n = shift; return $n ? eval { deep($n - 1) + 1 } : 0 }
sub quick { my @l = @_; return @l if @l < 2; my $p = shift @l; return quick(grep { $_ < $p } @l), $p, quick(grep { $_ >= $p } @l) }
print fib(12), even(9), ack(2, 3), " $moves ", $walk->([1, [2, [3]], []]), deep(6), " @{[quick(3, 1, 4, 1, 5, 9, 2, 6)]}\n";
