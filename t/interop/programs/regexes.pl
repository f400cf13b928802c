# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# match, subst, qr, tr, split, pos, named captures, code blocks, callbacks in replacements.
use strict;
use warnings;

my $text = join ' ', map { "word$_=value$_;" } 1 .. 20;
my %pairs;
while ($text =~ /(?<key>\w+)=(?<val>\w+);/g) {
    $pairs{$+{key}} = $+{val};
}
my $re = qr/(\d+)/;
(my $copy = $text) =~ s/$re/<$1>/g;
sub double { return 2 * shift }
$copy =~ s/<(\d+)>/double($1)/ge;
$copy =~ tr/a-z/A-Z/;
my $hits = 0;
'aaa' =~ /(?:a(?{ $hits++ }))+/;
my @parts = split /\s*;\s*/, $text;
my @nested = 'f(a(b)c)(d)' =~ /(\((?:[^()]++|(?1))*\))/g;
for my $pattern ('w.rd1\b', '^nothing', '(\d)\1') {
    $hits++ if $text =~ /$pattern/;
}
print scalar(keys %pairs), ' ', length $copy, " $hits ", scalar(@parts), " @nested\n";
