# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# pack and unpack, sprintf, local, wantarray, string evals of data, heredocs, Storable, Digest.
use strict;
use warnings;
use Digest::MD5 qw(md5_hex);
use Storable qw(dclone freeze thaw);
use Time::Local qw(timegm);

sub context { return wantarray ? 'list' : defined wantarray ? 'scalar' : 'void' }
my @l = context();
my $s = context();
context();
my $packed = pack 'NnC/a*', 1, 2, 'abc';
my @fields = unpack 'NnC/a*', $packed;
our $global = 'outer';
sub show { return $global }
sub shadow { local $global = 'inner'; return show() }
my $clone = dclone({ a => [1, 2, { b => 3 }] });
my $thawed = thaw(freeze([map { { n => $_ } } 1 .. 3]));
print "$l[0] $s @fields ", shadow(), show(), " $clone->{a}[2]{b} $thawed->[2]{n} ", md5_hex('x'), ' ', timegm(0, 0, 0, 1, 0, 100), "\n";
print <<"END";
@{[ map { context() } 1 .. 2 ]}
END
