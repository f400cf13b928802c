# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::NYTProf::Startup;

use strict;
# no warnings.pm: modules loaded here would be missing from the answer

use Devel::NYTProf::Core ();

our $VERSION = '6.14';

my $runs = 1;

# The -I before ours only served to find this module: restores the program's own @INC.
sub import {
    my (undef, $n_folders, $mode) = @_;
    my $path = delete $ENV{NYTP_STARTUP_FILE};
    return if !defined $path;
    splice @INC, 0, $n_folders;
    $runs = $mode eq 'run';
    _watch($path);
    return;
}

# The first CHECK block runs last, when the whole program is compiled.
CHECK {
    if (!$runs) {
        _stop();
        $^C = 1;
    }
}

1;

__END__

=head1 NAME

Devel::NYTProf::Startup - watch what a program loads, for nytp-startup

=head1 DESCRIPTION

Not for direct use: L<nytp-startup(1)> puts it before a program.

=cut
