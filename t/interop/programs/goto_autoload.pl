# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# goto &sub, AUTOLOAD that installs, memoizing wrappers, tail calls, goto to xsubs.
use strict;
use warnings;
use List::Util ();
use Memoize;

sub target { return "target(@_)" }
sub jump { @_ = ('j', @_); goto &target }
sub twice { goto &jump }
print jump(1), twice(2), "\n";

package Lazy {
    our $AUTOLOAD;

    sub new { bless {}, shift }

    sub AUTOLOAD {
        my $name = $AUTOLOAD;
        $name =~ s/.*:://;
        return if $name eq 'DESTROY';
        no strict 'refs';
        *{$AUTOLOAD} = sub { "$name(@_[1 .. $#_])" };
        goto &$AUTOLOAD;
    }
}
my $lazy = Lazy->new;
print $lazy->one(1), $lazy->one(2), $lazy->two(3), "\n";

sub tail { my ($n, $acc) = @_; return $acc if !$n; @_ = ($n - 1, $acc + $n); goto &tail }
print tail(10, 0), "\n";
sub maximum { goto &List::Util::max }
print maximum(3, 9, 4), "\n";

my $calls = 0;
sub slow { my $n = shift; $calls++; return $n * $n }
memoize('slow');
slow($_ % 3) for 1 .. 9;
print "$calls\n";
