# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# AUTOLOAD, goto &sub, sort with a named comparator, tie, overload, DESTROY, die through frames.
use strict;
use warnings;

package Point;
use overload '+' => \&plus, '""' => sub { main::spin(3); "point" }, '<=>' => \&compare;
sub new { my ($class, $n) = @_; return bless { n => $n }, $class }
sub plus { my ($p, $q) = @_; main::spin(5); return Point->new($p->{n} + (ref $q ? $q->{n} : $q)) }
sub compare { my ($p, $q) = @_; return $p->{n} <=> $q->{n} }
sub DESTROY { main::spin(2) }

package Auto;
our $AUTOLOAD;
sub new { return bless {}, shift }
sub DESTROY { }
sub AUTOLOAD {
    my $name = $AUTOLOAD;
    $name =~ s/.*:://;
    no strict 'refs';
    *{"Auto::$name"} = sub { main::spin(length $name) };
    goto &{"Auto::$name"};
}

package Tied;
sub TIEHASH { return bless {}, shift }
sub STORE { my ($t, $k, $v) = @_; main::spin(4); $t->{$k} = $v }
sub FETCH { my ($t, $k) = @_; main::spin(6); return $t->{$k} }

package main;
sub spin { my $n = shift; my $x = 0; $x += $_ for 1 .. $n * 10; return $x }
sub jumper { unshift @_, 4; goto &landing }
sub landing { my $n = shift; return spin($n) }
sub byval { return spin($a % 3) <=> spin($b % 3) }
sub dies { my $n = shift; spin(2); die "bottom\n" unless $n; dies($n - 1) }
sub looped { for my $i (1 .. 3) { leaves($i) } }
sub leaves { no warnings 'exiting'; my $i = shift; spin(1); next if $i == 2; return $i }

my @points = map { Point->new($_) } 3, 1, 2;
my $sum = $points[0];
$sum = $sum + $_ for @points;
my @ordered = sort { $a <=> $b } @points;
my $text = "$sum @ordered";
my $auto = Auto->new;
$auto->first_name;
$auto->first_name;
$auto->other;
jumper() for 1 .. 3;
tie my %hash, 'Tied';
$hash{$_} = $_ for 1 .. 3;
my $got = join ',', map { $hash{$_} } 1 .. 3;
my @sorted = sort byval 5, 3, 8, 1, 9, 2;
eval { dies(4) };
looped();
local $SIG{__WARN__} = sub { spin(2) };
warn "once\n";
(my $replaced = "a1b2c3") =~ s/(\d)/spin($1)/ge;
undef @points;
END { spin(7) }
