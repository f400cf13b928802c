# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Math::BigInt: a large overloaded class from the core.
use strict;
use warnings;
use Math::BigInt;

my $f = Math::BigInt->new(1);
$f *= $_ for 2 .. 25;
my ($q, $r) = $f->copy->bdiv(1234567);
print "$f $q $r ", $f <=> $q, "\n";
print Math::BigInt->new('0xff')->bpow(5), "\n";
