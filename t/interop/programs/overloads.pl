# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# overload with fallbacks and nomethod, tie of scalars, arrays and hashes, lvalue subs.
use strict;
use warnings;

package Num {
    use overload
      '+' => sub { Num->new($_[0]{n} + (ref $_[1] ? $_[1]{n} : $_[1])) },
      '-' => \&minus,
      '<=>' => sub { my ($x, $y, $swap) = @_; my $r = $x->{n} <=> (ref $y ? $y->{n} : $y); $swap ? -$r : $r },
      '""' => sub { "N$_[0]{n}" },
      'bool' => sub { $_[0]{n} != 0 };
    sub new { my ($c, $n) = @_; return bless { n => $n }, $c }
    sub minus {
        my ($x, $y, $swap) = @_;
        my $d = $x->{n} - (ref $y ? $y->{n} : $y);
        return Num->new($swap ? -$d : $d);
    }
}

package Upper { sub TIESCALAR { my $v; bless \$v } sub FETCH { my $s = shift; uc $$s } sub STORE { my ($s, $v) = @_; $$s = $v } }
package Count { sub TIEHASH { bless {} } sub FETCH { $_[0]{$_[1]}++ } sub EXISTS { 1 } sub FIRSTKEY { 'a' } sub NEXTKEY { $_[1] eq 'a' ? 'b' : undef } }
package Ring { sub TIEARRAY { bless [] } sub FETCHSIZE { 3 } sub FETCH { $_[1] * 2 } }

package main;
my ($x, $y) = (Num->new(3), Num->new(5));
print $x + $y, ' ', $y - 1, ' ', 10 - $x, ' ', join(',', sort { $a <=> $b } $y, $x), ' ', $x ? 't' : 'f', "\n";
tie my $up, 'Upper';
$up = 'abc';
print "$up\n";
tie my %count, 'Count';
$count{x} for 1 .. 3;
print $count{x}, join(',', keys %count), "\n";
tie my @ring, 'Ring';
print "@ring\n";
my $store = 1;
sub value :lvalue { $store }
value() = 5;
value()++;
print "$store\n";
