# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::NYTProf::ReadStream;

use strict;
use warnings;

our $VERSION = '6.14';
our @CARP_NOT = ('Devel::NYTProf::Data');

use Devel::NYTProf::Data ();

our @EXPORT_OK = qw(for_chunks);

*import = \&Devel::NYTProf::Util::import;

sub for_chunks (&%) {
    my ($callback, %options) = @_;
    Devel::NYTProf::Data->new({%options, callback => $callback});
    return;
}

1;

__END__

=head1 NAME

Devel::NYTProf::ReadStream - read a profile as a stream of chunks

=head1 SYNOPSIS

    use Devel::NYTProf::ReadStream qw(for_chunks);

    my %seen;
    for_chunks {
        my ($tag, @fields) = @_;
        $seen{$tag}++;
        print "chunk $. is the first $tag: @fields\n" if $seen{$tag} == 1;
    } filename => 'nytprof.out', quiet => 1;

=head1 FUNCTIONS

Nothing is exported by default.

=head2 for_chunks(\&callback, %options)

Call the code for every chunk, with its tag and fields. C<$.> is the number of the chunk, from 0.
The code may die to stop early.

Options are C<filename> (default F<nytprof.out>, C<-> is standard input) and C<quiet>, without
which C<Reading FILE> goes to standard output.

Croaks with file, offset and reason if the file cannot be opened, is no profile, or is damaged.
The callback has then seen every chunk before the damage.

=head1 CHUNKS

Times with C<ticks> in their name are in units of 1/ticks_per_sec and may be negative (where
the clock went back); the times of SUB_CALLERS are in seconds.

    VERSION       major, minor
    COMMENT       text (with its newline)
    ATTRIBUTE     key, value
    OPTION        key, value
    START_DEFLATE
    PID_START     pid, parent pid, time (seconds since the epoch)
    PID_END       pid, time
    NEW_FID       fid, eval fid, eval line, flags, size, mtime, name
    TIME_LINE     ticks, fid, line
    TIME_BLOCK    ticks, fid, line, line of the block, line of the sub
    DISCOUNT
    SUB_ENTRY     fid, line of the caller
    SUB_RETURN    depth, inclusive ticks, exclusive ticks, name
    SRC_LINE      fid, line, text
    SUB_INFO      fid, first line, last line, name
    SUB_CALLERS   fid, line, count, inclusive s, exclusive s, recursive inclusive s,
                  depth of recursion, name, name of the caller

After a DISCOUNT the next TIME_LINE or TIME_BLOCK adds time to its line but no execution. Names
are character strings where the file says UTF-8, byte strings otherwise.

=head1 SEE ALSO

L<Devel::NYTProf::Data>, L<Devel::NYTProf>

=cut
