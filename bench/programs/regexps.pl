# Regular expressions and builtins, each of which is a call of its own to the profiler.
use strict;
use warnings;

my @lines = map { "$_ alpha=$_; beta=" . $_ * 7 . "; gamma=x" . 'y' x ($_ % 9) } 1 .. 2000;
my %seen;
for my $round (1 .. 100) {
    for my $line (@lines) {
        my %field;
        while ($line =~ /(\w+)=(\w+)/g) {
            $field{$1} = $2;
        }
        (my $copy = $line) =~ s/beta=\d+/beta=0/;
        my @words = sort { $a cmp $b } split /\W+/, $copy;
        $seen{ join ' ', @words }++ if $copy =~ /y{3,}/;
        my $packed = pack 'NnC', $round, length $line, 7;
        my @numbers = unpack 'NnC', $packed;
    }
}
