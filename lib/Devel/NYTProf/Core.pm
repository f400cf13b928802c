# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::NYTProf::Core;

use strict;
# no warnings.pm: what is loaded here would be missing from the profile

our $VERSION = '6.14';

require XSLoader;
load_object();

# XSLoader looks beside the calling file only, and where the object is elsewhere (an unpacked
# build has lib/ and arch/) falls back on DynaLoader.pm, which loads half a dozen modules that
# would then be missing from the profile. So what XSLoader does, over all of @INC.
sub load_object {
    for my $dir (grep { !ref } @INC) {
        my $file = "$dir/auto/Devel/NYTProf/NYTProf.so";
        next unless -f $file;
        my $library = DynaLoader::dl_load_file($file, 0)
            or die "Devel::NYTProf: cannot load $file: " . DynaLoader::dl_error() . "\n";
        my $symbol = DynaLoader::dl_find_symbol($library, 'boot_Devel__NYTProf')
            or die "Devel::NYTProf: $file is no Devel::NYTProf\n";
        push @DynaLoader::dl_librefs, $library;
        push @DynaLoader::dl_modules, 'Devel::NYTProf';
        push @DynaLoader::dl_shared_objects, $file;
        my $boot = DynaLoader::dl_install_xsub('Devel::NYTProf::bootstrap', $symbol, $file);
        return &$boot('Devel::NYTProf', $VERSION);
    }
    return XSLoader::load('Devel::NYTProf', $VERSION);
}

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
