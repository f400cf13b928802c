# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::NYTProf::Util;

use strict;
use warnings;

our $VERSION = '6.14';

our @EXPORT_OK = qw(
    fmt_float fmt_time fmt_incl_excl_time
    make_path_strip_editor strip_prefix_from_paths
    calculate_median_absolute_deviation
    get_alternation_regex get_abs_paths_alternation_regex
    html_safe_filename trace_level _dumper
);

sub _croak {
    require Carp;
    Carp::croak(@_);
}

# Without Exporter, which costs start-up time. Other modules have this import, too.
sub import {
    my ($class, @names) = @_;
    my $caller = caller;
    no strict 'refs';
    my %known = map { $_ => 1 } @{"${class}::EXPORT_OK"};
    for my $name (@names) {
        $name =~ s/^&//;
        _croak(qq{"$name" is not exported by the $class module}) if !$known{$name};
        *{"${caller}::$name"} = \&{"${class}::$name"};
    }
    return;
}

sub fmt_time {
    my ($seconds, $width) = @_;
    return undef if !defined $seconds;
    return sprintf $ENV{NYTPROF_FMT_TIME}, $seconds
        if defined $ENV{NYTPROF_FMT_TIME} && $ENV{NYTPROF_FMT_TIME} =~ /%/;
    my $sign = $seconds < 0 ? '-' : '';
    my $abs = abs $seconds;
    $width = '' if !defined $width || $width !~ /\A[0-9]+\z/;
    $width -= 1 if $width && $sign;
    return $sign . sprintf "%${width}s%s", 0, 's' if $abs == 0;
    return $sign . sprintf "%${width}.0f%s", $abs * 1e9, 'ns' if $abs < 1e-6;
    return $sign . sprintf "%${width}.0f%s", $abs * 1e6, "\xc2\xb5s" if $abs < 1e-3;
    my ($value, $unit) = $abs < 1 ? ($abs * 1e3, 'ms') : ($abs, 's');
    my $digits = $value < 10 ? 2 : $value < 100 ? 1 : 0;
    return $sign . sprintf "%${width}.${digits}f%s", $value, $unit;
}

sub fmt_float {
    my ($number, $precision) = @_;
    return 0 if !defined $number;
    $precision = 5 if !defined $precision;
    return $number if $number == int $number;
    my $digits = $precision > 4 ? $precision - 4 : 0;
    # two digits are left of the smallest number without an exponent
    my $least = $digits ? '1e-' . ($precision - 1) : 0.0001;
    return sprintf "%.${precision}f", $number if $number <= 0 || $number >= $least;
    my $text = sprintf "%.${digits}e", $number;
    $text =~ s/e([-+])0+(\d)/e$1$2/;
    return $text;
}

sub fmt_incl_excl_time {
    my ($incl, $excl) = @_;
    my $text = fmt_time($incl);
    return $text if $incl == $excl;
    my ($unit) = $text =~ /(\D*)\z/;
    my @parts = map { fmt_time($_) } $excl, $incl - $excl;
    s/(?<=\d)\Q$unit\E\z// for @parts;
    return "$text ($parts[0]+$parts[1])";
}

sub get_alternation_regex {
    my ($strings, $suffix) = @_;
    $suffix = '' if !defined $suffix;
    my @sorted = sort { length $b <=> length $a || $a cmp $b } @$strings;
    my $any = join '|', map { quotemeta($_) . $suffix } @sorted;
    return qr/(?:$any)/;
}

sub get_abs_paths_alternation_regex {
    my ($directories, $base) = @_;
    _croak('No paths') if !@$directories;
    if (!defined $base || $base eq '') {
        require Cwd;
        $base = Cwd::getcwd();
    }
    my %seen;
    my @absolute;
    for my $directory (@$directories) {
        my $path = $directory =~ m{^/} ? $directory : "$base/$directory";
        $path =~ s{//+}{/}g;
        $path =~ s{/\.(?=/|\z)}{}g;
        $path =~ s{/+\z}{} if $path ne '/';
        push @absolute, $path if !$seen{$path}++;
    }
    return get_alternation_regex(\@absolute, '/?');
}

my %directory_regex; # the same directories come repeatedly

sub _directory_regex {
    my ($directories) = @_;
    my $key = join "\0", @$directories;
    return $directory_regex{$key} ||= get_abs_paths_alternation_regex($directories);
}

sub make_path_strip_editor {
    my ($directories, $anchor, $replacement) = @_;
    my @directories = grep { defined && length } @$directories;
    return sub {''}
        if !@directories;
    $anchor = '^' if !defined $anchor;
    $replacement = '' if !defined $replacement;
    my $regex = _directory_regex(\@directories);
    return sub { return $_[0] =~ s{($anchor)$regex}{$1$replacement} };
}

sub strip_prefix_from_paths {
    my ($directories, $paths, $anchor, $replacement) = @_;
    _croak('strip_prefix_from_paths() first argument must be array ref')
        if ref $directories ne 'ARRAY';
    return if !@$directories || !defined $paths;
    _croak('strip_prefix_from_paths() second argument must be array ref')
        if ref $paths ne 'ARRAY';
    my $edit = make_path_strip_editor($directories, $anchor, $replacement);
    _edit_all($edit, $paths);
    return;
}

sub _edit_all {
    my ($edit, $where) = @_;
    for my $value (ref $where eq 'HASH' ? values %$where : @$where) {
        next if !defined $value;
        if (ref $value eq 'HASH' || ref $value eq 'ARRAY') {
            _edit_all($edit, $value);
        } elsif (!ref $value) {
            $edit->($value);
        }
    }
    return;
}

sub _upper_median {
    my @sorted = sort { $a <=> $b } @_;
    return @sorted ? $sorted[@sorted / 2] : 0;
}

sub calculate_median_absolute_deviation {
    my ($numbers, $without_zeros) = @_;
    _croak('No array ref given') if ref $numbers ne 'ARRAY';
    my @values = grep { defined && (!$without_zeros || $_) } @$numbers;
    my $median = _upper_median(@values);
    return [_upper_median(map { abs $_ - $median } @values), $median];
}

sub html_safe_filename {
    my ($name) = @_;
    $name =~ s{[-./\\:|<>"'*?\0]+}{-}g;
    $name =~ s/\A-//;
    $name =~ s/-\z//;
    return $name;
}

sub trace_level {
    my ($level) = (defined $ENV{NYTPROF} ? $ENV{NYTPROF} : '') =~ /(?:\A|:)trace=(\d+)/;
    return $level || 0;
}

sub _dumper {
    require Data::Dumper;
    return Data::Dumper->new([@_])->Sortkeys(1)->Indent(1)->Dump;
}

1;

__END__

=encoding utf8

=head1 NAME

Devel::NYTProf::Util - helpers for reports

=head1 SYNOPSIS

    use Devel::NYTProf::Util qw(fmt_time html_safe_filename);

    print fmt_time(0.0000123), "\n";                   # 12µs
    print html_safe_filename('/usr/lib/Foo.pm'), "\n"; # usr-lib-Foo-pm

=head1 FUNCTIONS

All are exported on request.

    fmt_time(seconds [, width])  "0s", "12ns", "12µs" (UTF-8 bytes), "1.23ms", "12.3s": three
            digits and a unit, padded to the width; undef gives undef. NYTPROF_FMT_TIME is a
            format to be used instead, such as %f
    fmt_float(number [, precision])  integers as they are, tiny numbers with an exponent, others
            with so many decimals [5]
    fmt_incl_excl_time(inclusive, exclusive)  "250ms (200+50.0)" or "1.00s (400ms+600ms)":
            inclusive time; exclusive time and the rest
    get_alternation_regex(strings [, suffix regex])  a regex that matches any of the strings, the
            longest first
    get_abs_paths_alternation_regex(directories [, base])  the same for directories, relative
            ones below the base [the current one]; dies without any
    make_path_strip_editor(directories [, anchor [, replacement]])  code that removes the
            directories, or replaces them, from the start of its first argument (or where the
            regex `anchor' matches), in place, and returns whether it did
    strip_prefix_from_paths(directories, \@paths [, anchor [, replacement]])  the same for each
            element of the array, and of arrays and hashes in it
    calculate_median_absolute_deviation(numbers [, without zeros])  [deviation, median]: the
            median distance from the median, and the (upper) median
    html_safe_filename(name)  the name with everything that is awkward in a file name or URL
            replaced by -
    trace_level  the value of the option `trace' in the environment variable NYTPROF

=cut
