# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::NYTProf::Run;

use strict;
use warnings;

our $VERSION = '6.14';
our @CARP_NOT = ('Devel::NYTProf::Data');

use Devel::NYTProf::Data ();

our @EXPORT_OK = qw(profile_this perl_command_words);

*import = \&Devel::NYTProf::Util::import;

sub profile_this {
    my (%option) = @_;
    my ($code, $file) = @option{qw(src_code src_file)};
    _croak('profile_this: either src_code or src_file is needed')
        if !defined $code == !defined $file;
    my $settings = defined $ENV{NYTPROF} ? $ENV{NYTPROF} : '';
    my $out = $option{out_file};
    if (defined $out) {
        my $escaped = $out =~ s/%/%%/gr =~ s/([\\:=])/\\$1/gr;
        $settings .= ($settings eq '' ? '' : ':') . "file=$escaped";
    } else {
        ($out) = $settings =~ /(?:\A|:)file=((?:[^\\:]|\\.)*)/;
        $out = 'nytprof.out' if !defined $out;
        $out =~ s/\\(.)/$1/g;
    }
    my @command = (perl_command_words(%option), '-d:NYTProf', defined $file ? $file : '-');
    print STDERR "NYTPROF='$settings' @command\n" if $option{verbose};

    local $ENV{NYTPROF} = $settings;
    # the new perl must find the same modules
    local $ENV{PERL5LIB} = join ':', grep { !ref } @INC;
    if (defined $code) {
        local $SIG{PIPE} = 'IGNORE';
        open my $fh, '|-', @command or _croak("profile_this: cannot run $command[0]: $!");
        print $fh $code;
        close $fh or _croak('profile_this: ' . _how_it_ended(@command));
    } else {
        system(@command) == 0 or _croak('profile_this: ' . _how_it_ended(@command));
    }
    return Devel::NYTProf::Data->new({filename => $out, quiet => 1});
}

sub _how_it_ended {
    my $what = $? == -1 ? "cannot be run: $!" : $? & 127 ? 'died of signal ' . ($? & 127)
        : 'ended with exit status ' . ($? >> 8);
    return "'@_' $what";
}

sub _croak { require Carp; Carp::croak(@_) }

sub perl_command_words {
    my (%option) = @_;
    my @words = $^X;
    if ($option{skip_sitecustomize}) {
        require Config;
        push @words, '-f' if ($Config::Config{usesitecustomize} || '') eq 'define';
    }
    return @words;
}

1;

__END__

=head1 NAME

Devel::NYTProf::Run - profile a piece of code

=head1 SYNOPSIS

    use Devel::NYTProf::Run qw(profile_this);

    my $profile = profile_this(
        src_code => 'sub f { return 1 } f() for 1 .. 3;',
        out_file => 'f.out',
    );
    print $profile->subinfo_of('main::f')->calls, "\n"; # 3

=head1 FUNCTIONS

Exported on request.

=head2 profile_this(option => value, ...)

Run code under the profiler, in a perl of its own, and return the L<Devel::NYTProf::Data>.

    src_code, src_file  the code, or the file that holds it
    out_file            the profile [the file of the NYTPROF variable, or nytprof.out]
    skip_sitecustomize  do not run the perl's sitecustomize.pl
    verbose             say what is run, on standard error
    htmlopen            has no effect

Other settings come from the environment variable C<NYTPROF>. Croaks when the perl fails.

=head2 perl_command_words(skip_sitecustomize => 1)

The running perl's path, and the switches that the options ask for.

=cut
