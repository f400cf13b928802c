# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# A bit of everything ordinary: subs, loops, slowops, xsubs, anonymous subs, two callers on one line.
use strict;
use warnings;
use List::Util qw(sum first);

sub busy { my $n = shift; my $sum = 0; $sum += $_ * $_ for 1 .. $n; return $sum }

sub caller_one { return busy(40) }
sub caller_two { return busy(80) } sub caller_three { return busy(20) + busy(30) }

sub lines {
    my ($count) = @_;
    my $total = 0;
    for my $i (1 .. $count) {
        $total += busy($i);
        if ($i % 3 == 0) {
            $total -= caller_one();
        }
        elsif ($i % 5 == 0) {
            $total += sum(map { $_ + 1 } 1 .. 20);
        }
    }
    return $total;
}

my $anon = sub {
    my $value = shift;
    my $text = sprintf("%d", $value);
    $text =~ s/(\d)/<$1>/g;
    return length $text;
};

my $all = 0;
for my $round (1 .. 30) {
    $all += caller_one() + caller_two() + caller_three();
    $all += $anon->($all);
    $all += first { busy($_) > 100 } 1 .. 20;
}
$all += lines(60);
open my $out, '>', '/dev/null' or die;
print $out "$all\n" for 1 .. 20;
close $out;
my @sorted = sort { busy($a % 5) <=> busy($b % 5) } map { $_ * 7 % 31 } 1 .. 25;

# The main program's own time, which no sub accounts for.
my $own = 0;
for my $i (1 .. 3000) {
    $own += $i * 3;
    $own %= 1009;
}
