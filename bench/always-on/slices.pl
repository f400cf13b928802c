# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# What samples cost, within one process: its work goes on in slices with and without them, one
# right behind the other, so that whatever else the machine does meets both. `sampling` runs it.
#
#     perl [-d:NYTProf] slices.pl WORK SECONDS
#
# WORK is malloc (a loop that makes and frees memory), perltidy (of the head of its own formatter)
# or mojolicious (requests to an application, from one place as in a server's loop). Samples are
# switched by DB::enable_profile where there is one, a thread that only wakes (waker.c) by the pipe
# that WAKER_FD names, of which WAKER_SWITCH is the other end; else the slices are all the same.
# Prints how many per cent more a slice took, as quartiles: processor time of the process, the same
# of its first thread, and the time that passed.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/..";
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID CLOCK_THREAD_CPUTIME_ID);

use constant SLICE_S => 0.25;

my @CLOCKS = (CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, CLOCK_MONOTONIC);

sub allocate {
    my $text = join ' ', map {"w$_"} 1 .. 20;
    my $sum = 0;
    for my $i (1 .. 2000) {
        my @words = split / /, $text;
        my %hash = map { $_ => $i } @words;
        my @copy = @words[1 .. 5];
        $sum += keys(%hash) + length "@copy";
    }
    return $sum;
}

sub tidier {
    require Perl::Tidy;
    require Perl::Tidy::Formatter;
    open my $in, '<', $INC{'Perl/Tidy/Formatter.pm'} or die $!;
    my $text = join '', map { scalar <$in> } 1 .. 300;
    return sub {
        local @ARGV;
        Perl::Tidy::perltidy(
            argv => '-npro', source => \$text, destination => \my $tidied, errorfile => \my $errors);
    };
}

sub requester {
    require MojoApplication;
    return sub {
        for my $n (1 .. 20) {
            request(@$_) for [ GET => '/' ], [ GET => "/row/$n" ], [ POST => '/form', "name=n$n&other=x" ];
        }
    };
}

my %WORK = (malloc => sub { \&allocate }, perltidy => \&tidier, mojolicious => \&requester);

my $waker;
open $waker, '>&=', $ENV{WAKER_SWITCH} or die $! if $ENV{WAKER_SWITCH};

sub switch {
    my ($on) = @_;
    if (defined &DB::enable_profile) {
        $on ? DB::enable_profile() : DB::disable_profile();
    }
    elsif ($waker) {
        syswrite $waker, $on;
    }
}

sub times_of {
    my ($work, $n) = @_;
    my @began = map { clock_gettime($_) } @CLOCKS;
    $work->() for 1 .. $n;
    return map { clock_gettime($CLOCKS[$_]) - $began[$_] } 0 .. $#CLOCKS;
}

my ($name, $seconds) = @ARGV;
my $work = ($WORK{ $name // '' } || die "$0: no such work\n")->();
switch($_), $work->() for 1, 0; # what comes first is slow
my $n = 1 + int SLICE_S / (times_of($work, 1))[0];
my $until = clock_gettime(CLOCK_MONOTONIC) + $seconds;
my @more;
while (clock_gettime(CLOCK_MONOTONIC) < $until || @more < 3) {
    my @sums = map { [ (0) x @CLOCKS ] } 0, 1;
    for my $on (@more % 2 ? (0, 1, 1, 0) : (1, 0, 0, 1)) {
        switch($on);
        my @times = times_of($work, $n);
        $sums[$on][$_] += $times[$_] for 0 .. $#CLOCKS;
    }
    push @more, [ map { 100 * ($sums[1][$_] / $sums[0][$_] - 1) } 0 .. $#CLOCKS ];
}
switch(0);
for my $clock (0 .. $#CLOCKS) {
    my @sorted = sort { $a <=> $b } map { $_->[$clock] } @more;
    printf "%.3f %.3f %.3f\n", map { $sorted[ $_ * $#sorted / 4 + 0.5 ] } 1 .. 3;
}
