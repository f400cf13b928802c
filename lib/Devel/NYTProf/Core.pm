# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::NYTProf::Core;

use strict;
# no warnings.pm: what is loaded here would be missing from the profile

our $VERSION = '6.14';

require XSLoader;
XSLoader::load('Devel::NYTProf', $VERSION);

# "a=b:c=d"; a backslash makes the next character part of a name or value.
sub parse_options {
    my ($text) = @_;
    my @settings;
    while ($text =~ /\G ((?:[^\\:]|\\.)*) (?::|\z)/gxs) {
        my $setting = $1;
        next if $setting eq '';
        my ($name, $value) = $setting =~ /\A ((?:[^\\=]|\\.)*) (?:=(.*))? \z/xs;
        s/\\(.)/$1/gs for grep { defined } $name, $value;
        push @settings, [$name, $value];
    }
    return @settings;
}

sub set_options {
    for my $setting (@_) {
        my ($name, $value) = @$setting;
        if (defined $value) {
            DB::set_option($name, $value);
        } else {
            print STDERR "Devel::NYTProf: option '$name' has no value\n";
        }
    }
    return;
}

set_options(parse_options($ENV{NYTPROF})) if defined $ENV{NYTPROF};

1;
