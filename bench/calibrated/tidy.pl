# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# What perltidy does, a part each, with the process's clock around each. With an argument it prints
# what share of the time each part took: run plainly, that is the truth. Needs perltidy.
use strict;
use warnings;
use Perl::Tidy ();
use Text::Balanced ();
use Time::HiRes qw(clock_gettime CLOCK_PROCESS_CPUTIME_ID);

open my $fh, '<', $INC{'Text/Balanced.pm'} or die $!;
my $source = join '', (<$fh>)[0 .. 350];

sub tidy {
    my (@options) = @_;
    my $error = Perl::Tidy::perltidy(
        source => \$source, destination => \my $to, stderr => \my $said, errorfile => \my $log, argv => [@options, '-npro']);
    return length $to;
}

sub lines_only { return tidy('-io') }
sub formatted { return tidy() }
sub mangled { return tidy('--mangle') }
sub as_html { return tidy('-html', '-pre', '-nnn') }
sub without_comments { return tidy('-dac', '-l=60') }

my %share;
my $total = 0;
for my $part (qw(lines_only formatted mangled as_html without_comments)) {
    my $code = \&$part;
    my $start = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
    $code->() for 1 .. 2;
    $total += $share{$part} = clock_gettime(CLOCK_PROCESS_CPUTIME_ID) - $start;
}
if (@ARGV) {
    printf "%s %.4f\n", $_, 100 * $share{$_} / $total for sort keys %share;
}
