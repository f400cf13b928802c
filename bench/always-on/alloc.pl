# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Makes and frees memory: what a second thread that malloc() knows of would slow down.
my $n = $ARGV[0] // 60000; my $text = join ' ', map { "w$_" } 1..20; my $s = 0;
for my $i (1..$n) { my @w = split / /, $text; my %h = map { $_ => $i } @w; my @c = @w[1..5]; $s += keys %h; $s += length "@c" }
print "$s\n";
