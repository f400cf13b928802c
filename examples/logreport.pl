#!/usr/bin/perl
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
#
# The program that the examples profile: makes a web server's log, reads it again and reports
# on it. It is slow in two places that its author did not expect:
#
#     logreport.pl [--fixed] [LINES]
#
# --fixed repairs the first of them.
use strict;
use warnings;

use List::Util qw(sum);

my $fixed = @ARGV && $ARGV[0] eq '--fixed' ? shift @ARGV : 0;
my $lines = shift @ARGV // 3000;

my @routes = map { "/shop/category-$_/item" } 1 .. 40;
my @months = qw(Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec);

# A small generator of its own, so that every run makes the same log.
{
    my $state = 42;

    sub any {
        my ($limit) = @_;
        $state = ($state * 1103515245 + 12345) % 2147483648;
        return int($state / 65536) % $limit;
    }
}

sub make_log {
    my ($count) = @_;
    my @log;
    for my $i (1 .. $count) {
        my $when = sprintf '%02d/%s/2024:%02d:%02d:%02d', 1 + any(28), $months[any(12)], any(24),
            any(60), any(60);
        my $route = $routes[ any(scalar @routes) ] . '/' . any(100000);
        push @log, sprintf '10.0.%d.%d - - [%s +0000] "GET %s HTTP/1.1" %d %d', any(256), any(256),
            $when, $route, (any(50) ? 200 : 500), any(20000);
    }
    return \@log;
}

sub parse_line {
    my ($line) = @_;
    my ($host, $when, $path, $status, $size) =
        $line =~ /^(\S+) \S+ \S+ \[([^]]+)\] "GET (\S+) [^"]*" (\d+) (\d+)$/
        or return;
    return { host => $host, month => month_of($when), path => $path, status => $status, size => $size };
}

sub month_of {
    my ($when) = @_;
    my ($name) = $when =~ m{/(\w+)/};
    for my $i (0 .. $#months) {
        return $i + 1 if $months[$i] eq $name;
    }
    return 0;
}

# Slow place number one: a list of routes is searched for every line, and each comparison
# compiles a pattern.
sub route_of {
    my ($path) = @_;
    for my $route (@routes) {
        return $route if $path =~ /^\Q$route\E/;
    }
    return 'other';
}

# The repair: the route is what comes before the last slash.
sub route_of_fixed {
    my ($path) = @_;
    return $path =~ m{^(.*)/} ? $1 : 'other';
}

sub collect {
    my ($log) = @_;
    my %by_route;
    for my $line (@$log) {
        my $hit = parse_line($line) or next;
        my $route = $fixed ? route_of_fixed($hit->{path}) : route_of($hit->{path});
        push @{ $by_route{$route}{sizes} }, $hit->{size};
        $by_route{$route}{errors} += $hit->{status} >= 500;
        $by_route{$route}{months}{ $hit->{month} }++;
    }
    return \%by_route;
}

# Slow place number two: sorts again for each percentile.
sub percentile {
    my ($sizes, $percent) = @_;
    my @sorted = sort { $a <=> $b } @$sizes;
    return $sorted[ $#sorted * $percent / 100 ];
}

# Walks from month to month, to have a recursion to look at.
sub busiest {
    my ($months, $from) = @_;
    return 0 if $from > 12;
    my $rest = busiest($months, $from + 1);
    return ($months->{$from} // 0) >= ($months->{$rest} // 0) ? $from : $rest;
}

sub report {
    my ($by_route) = @_;
    my $format = eval 'sub { sprintf "%-26s %6d %8.1f %7d %7d %3s\n", @_ }' or die $@;
    my @out;
    for my $route (sort keys %$by_route) {
        my $sizes = $by_route->{$route}{sizes};
        push @out, $format->(
            $route, scalar @$sizes, sum(@$sizes) / @$sizes, percentile($sizes, 50),
            percentile($sizes, 95), $months[ busiest($by_route->{$route}{months}, 1) - 1 ]
        );
    }
    return @out;
}

print report(collect(make_log($lines)));
