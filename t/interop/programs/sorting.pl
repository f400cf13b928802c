# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# sort in every form, with comparators that call subs, on keys from methods; reduce, first, uniq.
use strict;
use warnings;
use List::Util qw(first max reduce shuffle sum uniq);

sub key { my $s = shift; return length $s }
sub by_key { key($a) <=> key($b) || $a cmp $b }
sub by_proto ($$) { my ($l, $r) = @_; return $l cmp $r }
my @words = qw(pear fig banana kiwi apple date);
my @one = sort @words;
my @two = sort by_key @words;
my @three = sort { key($b) <=> key($a) or $a cmp $b } @words;
my @four = sort by_proto @words;
my $cmp = sub { $b cmp $a };
my @five = sort $cmp @words;
my @six = map { $_->[1] } sort { $a->[0] <=> $b->[0] } map { [key($_), $_] } qw(ccc a bb);
print "$one[0] $two[0] $three[0] $four[0] $five[0] @six\n";
print sum(map { key($_) } @words), max(1, 5, 3), ' ', (first { key($_) == 6 } @words), ' ', (reduce { $a . key($b) } '', @words), ' ', scalar(uniq 1, 1, 2), "\n";
