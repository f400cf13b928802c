# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Seven parts of different grain, each a sub of main, with the process's clock around each. With an
# argument it prints what share of the time each part took: run plainly, that is the truth.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_PROCESS_CPUTIME_ID);

package Point {
    sub new { my ($class, $x, $y) = @_; return bless {x => $x, y => $y}, $class }
    sub x { return $_[0]{x} }
    sub y { my $self = shift; return $self->{y} }
    sub add { my ($self, $other) = @_; return Point->new($self->x + $other->x, $self->y + $other->y) }
}

# Few statements, each of them long.
sub big_lists {
    my $seed = 12345;
    my @numbers = map { $seed = ($seed * 1103515245 + 12345) & 0x7fffffff } 1 .. 60_000;
    my @sorted = sort { $a <=> $b } @numbers;
    my $text = join ',', reverse sort @sorted;
    return length $text;
}

sub patterns {
    my $hits = 0;
    my $text = 'key=value; other = "quoted, text"; number=12345; ' x 12;
    for (1 .. 260) {
        $hits++ while $text =~ /(\w+)\s*=\s*("[^"]*"|\w+)/g;
        (my $copy = $text) =~ s/\d+/<n>/g;
        $hits += () = split /;\s*/, $copy;
    }
    return $hits;
}

sub statements {
    my ($x, $y, $z) = (0, 1, 2);
    for my $i (1 .. 75_000) {
        $x += $i;
        $y ^= $x;
        $z = $y & 0xffff;
        $x -= $z if $x > 1_000_000;
        $y++;
        $z |= 1;
    }
    return $x + $y + $z;
}

sub leaf { return $_[0] + 1 }
sub middle { my $n = shift; return leaf(leaf($n)) + 1 }

sub calls {
    my $n = 0;
    $n = middle($n) & 0xfff for 1 .. 52_000;
    return $n;
}

sub methods {
    my $sum = Point->new(0, 0);
    for my $i (1 .. 9_000) {
        my $point = Point->new($i, -$i);
        $sum = $sum->add($point);
        $sum = Point->new(0, 0) if $sum->x > 1e6;
    }
    return $sum->x;
}

sub text {
    my (%count, $out);
    for my $i (1 .. 26_000) {
        my $key = 'k' . ($i % 977);
        $count{$key} .= chr(65 + $i % 26);
        $out = substr $count{$key}, -3;
        $out = uc(lc $out) . length $count{$key};
        delete $count{$key} if length $count{$key} > 20;
    }
    return $out;
}

sub tree {
    my ($depth) = @_;
    return $depth > 0 ? [tree($depth - 1), tree($depth - 1), $depth] : [1];
}

sub weight {
    my ($node) = @_;
    my $sum = $node->[-1];
    $sum += weight($_) for grep { ref } @$node;
    return $sum;
}

sub trees { return weight(tree(13)) }

my %share;
my $total = 0;
for my $part (qw(big_lists patterns statements calls methods text trees)) {
    my $code = \&$part;
    my $start = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
    $code->() for 1 .. 3;
    $total += $share{$part} = clock_gettime(CLOCK_PROCESS_CPUTIME_ID) - $start;
}
if (@ARGV) {
    printf "%s %.4f\n", $_, 100 * $share{$_} / $total for sort keys %share;
}
