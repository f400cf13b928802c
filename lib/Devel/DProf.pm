# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::DProf;

# Of the Devel::DProf whose place it takes.
our $VERSION = '20110802.00';

# As in Devel/NYTProf.pm, which says why.
BEGIN {
    $Devel::NYTProf::comes_late = grep { !/::BEGIN\z/ } keys %DB::sub;
    $^P = 0x210 if $^P;
}

package DB;

use Devel::NYTProf::Core;

package Devel::DProf;

# The name as it stands: %p means nothing in it.
DB::set_option(file => length($ENV{PERL_DPROF_OUT_FILE_NAME} // '') ? $ENV{PERL_DPROF_OUT_FILE_NAME} =~ s/%/%%/gr : 'tmon.out');
DB::set_option($_ => 0) for qw(stmts slowops calls savesrc compress forkdepth addpid addtimestamp);
Devel::NYTProf::Core::_write_marks();
Devel::NYTProf::Core::_load();

sub import {
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

In place of the Devel::DProf of old: the same switch, the same file, but it is written by the
recorder of L<Devel::NYTProf>, which sees calls without wrapping them. The program therefore runs at
nearly its own speed, and lvalue subs, C<goto> and exceptions work as without a profiler.

Only calls of Perl and XS subs are recorded; statements, builtins and child processes are not. For
these, and for where a sub was called, use C<perl -d:NYTProf>.

The clocks are finer than Devel::DProf's: the file has microseconds. Real time is read at every call.
Processor time, which costs a system call, is read when 50 microseconds have passed since the last
time; a shorter stretch is taken for user time, and the next reading sets that right.

What is recorded is on disk when the buffer is full, and after a quarter of a second at the latest, so
that a program that is killed leaves a tmon.out that C<nytp-export> and C<dprofpp -F> read. A
tmon.out of an earlier run is replaced; another file of that name is kept, and the profile gets
the process id appended to its name. The subs of an C<exec> stay out: the file ends there.

=head1 ENVIRONMENT

=over

=item PERL_DPROF_OUT_FILE_NAME

The file's name. Default: F<tmon.out>.

=item PERL_DPROF_TICKS

Clock ticks per second, the unit of times in the file. Default: 1000000.

=item PERL_DPROF_BUFFER

Size of the buffer in words of 8 bytes. Default: 16384. Less than 64 kB is not had.

=item NYTPROF

Options of L<Devel::NYTProf> that are not about what is recorded hold, such as C<start>, C<sigexit>
and C<flush>.

=back

=head1 LIMITS

Calls that F<strict.pm>, F<XSLoader.pm> and F<DynaLoader.pm> make themselves are not recorded, since
they are loaded before the recorder. Several clones of a closure count as one anonymous sub, one for
each place in the source, for C<dprofpp -R>.

=head1 SEE ALSO

L<dprofpp>, L<nytp-export(1)>, L<Devel::NYTProf>

=head1 LICENSE

Same terms as Perl itself.

=cut
