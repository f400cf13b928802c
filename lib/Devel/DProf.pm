# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::DProf;

# the version of the Devel::DProf that this replaces
our $VERSION = '20110802.00';

# Without -d nothing is recorded: dprofpp of old loads this module for its version.
my $is_debugger;

# See Devel/NYTProf.pm.
BEGIN {
    $is_debugger = $^P;
    $Devel::NYTProf::comes_late = grep { !/::BEGIN\z/ } keys %DB::sub;
    $^P = 0x210 if $^P;
}

package DB;

use Devel::NYTProf::Core;

package Devel::DProf;

# The variable holds a plain name: % is escaped.
DB::set_option(file => length($ENV{PERL_DPROF_OUT_FILE_NAME} // '') ? $ENV{PERL_DPROF_OUT_FILE_NAME} =~ s/%/%%/gr : 'tmon.out');
DB::set_option($_ => 0) for qw(stmts slowops calls savesrc compress forkdepth addpid addtimestamp);
Devel::NYTProf::Core::_write_marks();
Devel::NYTProf::Core::_load() if $is_debugger;

sub import {
    die "DProf: run perl with -d to use DProf.\n" if !$is_debugger;
    Devel::NYTProf::Core::_start();
    return;
}

1;

__END__

=head1 NAME

Devel::DProf - record the calls of a Perl program in a tmon.out

=head1 SYNOPSIS

    perl -d:DProf app.pl          # writes tmon.out
    dprofpp                       # the subs that took most time
    dprofpp -T                    # the tree of calls
    nytp-export --speedscope tmon.out -o app.speedscope.json

=head1 DESCRIPTION

The same switch and file as Devel::DProf of old, written by the recorder of L<Devel::NYTProf>. The
program runs at nearly its own speed; lvalue subs, C<goto> and exceptions work.

Only calls of Perl and XS subs are recorded. For statements, builtins, child processes and call
sites use C<perl -d:NYTProf>.

Times are microseconds. Real time is read at every call, processor time every 50 microseconds; a
shorter stretch counts as user time until the next reading.

Records are on disk after a quarter of a second, so C<nytp-export> and C<dprofpp -F> read the file
of a killed program. An earlier tmon.out is replaced; beside another file of that name the profile
gets the process id appended. After C<exec> nothing is recorded.

=head1 ENVIRONMENT

    PERL_DPROF_OUT_FILE_NAME  the file's name [tmon.out]
    PERL_DPROF_TICKS          clock ticks per second, the unit of times in the file [1000000]
    PERL_DPROF_BUFFER         size of the buffer in words of 8 bytes, at least 64 kB [16384]
    NYTPROF                   options of Devel::NYTProf such as start, sigexit and flush

=head1 LIMITS

Calls by F<strict.pm>, F<XSLoader.pm> and F<DynaLoader.pm> are not recorded: they are loaded
before the recorder. Clones of a closure count as one anonymous sub for C<dprofpp -R>.

=head1 SEE ALSO

L<dprofpp>, L<nytp-export(1)>, L<Devel::NYTProf>

=head1 LICENSE

Same terms as Perl itself.

=cut
