# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Slow builtins on files, handles, directories; print to memory.
use strict;
use warnings;

my $dir = "io-$$";
mkdir $dir or die;
for my $i (1 .. 3) {
    open my $fh, '>', "$dir/f$i" or die;
    printf $fh "%d\n", $_ for 1 .. 5;
    print {$fh} "end\n";
    close $fh;
}
opendir my $dh, $dir or die;
my @names = sort grep { !/^\./ } readdir $dh;
closedir $dh;
my ($lines, $bytes) = (0, 0);
for my $name (@names) {
    open my $fh, '<', "$dir/$name" or die;
    while (my $line = <$fh>) {
        $lines++;
        $bytes += length $line;
    }
    seek $fh, 0, 0;
    read $fh, my $buf, 4;
    $bytes += tell $fh;
    close $fh;
    $bytes += -s "$dir/$name" if -f "$dir/$name" && -r _;
    rename "$dir/$name", "$dir/$name.old";
}
unlink glob "$dir/*";
rmdir $dir;
my $memory = '';
open my $mem, '>', \$memory or die;
print $mem "x" x 3;
close $mem;
print "@names $lines $bytes $memory\n";
