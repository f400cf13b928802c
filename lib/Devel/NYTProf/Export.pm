# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::NYTProf::Export;

use strict;
use warnings;

our $VERSION = '6.14';

=head1 NAME

Devel::NYTProf::Export - find and run nytp-export

=head1 SYNOPSIS

    use Devel::NYTProf::Export;

    my $fh = Devel::NYTProf::Export::open_output('--collapsed', 'nytprof.out');
    print while <$fh>;
    Devel::NYTProf::Export::close_output($fh);

=head1 DESCRIPTION

The classic commands are programs around L<nytp-export(1)>, which is installed beside them.

=head1 FUNCTIONS

=head2 command()

The path of nytp-export: beside the running program, in a F<bin> folder next to it or above it
(a source tree), or in C<PATH>; else just its name. The environment variable C<NYTP_EXPORT> is
taken instead.

=cut

sub command {
    return $ENV{NYTP_EXPORT} if defined $ENV{NYTP_EXPORT} && length $ENV{NYTP_EXPORT};
    my ($folder) = $0 =~ m{\A(.*)/}s;
    $folder = '.' if !defined $folder;
    for my $path (map {"$folder/$_"} 'nytp-export', '../bin/nytp-export', '../../bin/nytp-export') {
        return $path if -f $path && -x _;
    }
    return 'nytp-export';
}

=head2 run(arguments)

Become nytp-export. Does not return.

=cut

sub run {
    my (@arguments) = @_;
    my $command = command();
    { no warnings 'exec'; exec {$command} 'nytp-export', @arguments; }
    print STDERR "cannot run $command: $!\n";
    exit 127;
}

=head2 call(arguments)

Run nytp-export and wait for it. Returns its exit status.

=cut

sub call {
    my (@arguments) = @_;
    my $command = command();
    my $result = do { no warnings 'exec'; system {$command} 'nytp-export', @arguments };
    if ($result == -1) {
        print STDERR "cannot run $command: $!\n";
        return 127;
    }
    return $result & 127 ? 128 + ($result & 127) : $result >> 8;
}

=head2 open_output(arguments), close_output(handle)

A handle that nytp-export's standard output is read from; and to close it, which returns
nytp-export's exit status.

=cut

sub open_output {
    my (@arguments) = @_;
    my $command = command();
    my $pid = open my $fh, '-|';
    die "cannot fork: $!\n" if !defined $pid;
    return $fh if $pid;
    { no warnings 'exec'; exec {$command} 'nytp-export', @arguments; }
    print STDERR "cannot run $command: $!\n";
    require POSIX;
    POSIX::_exit(127);
}

sub close_output {
    my ($fh) = @_;
    close $fh;
    return $? & 127 ? 128 + ($? & 127) : $? >> 8;
}

=head2 help(), version()

Print the options that the running program's POD tells, or its name and version, and exit as
finish(0) does.

=head2 finish(STATUS)

Exit with STATUS, or with 4, as nytp-export does, where standard output could not be written,
which is said.

=cut

# perl-base of Debian lacks Pod::Usage.
sub help {
    if (!eval { require Pod::Usage }) {
        open my $own, '<', $0 or die "$0: $!\n";
        print grep { /^=head1 SYNOPSIS/ .. /^=head1 DESCRIPTION/ and !/^=/ } <$own>;
        finish(0);
    }
    # Not directly to STDOUT: a UTF-8 layer would lose write errors.
    open my $fh, '>', \my $text or die "cannot write to memory: $!\n";
    Pod::Usage::pod2usage(-verbose => 1, -exitval => 'NOEXIT', -output => $fh);
    close $fh;
    print $text;
    finish(0);
}

sub version {
    print program_name(), " $VERSION\n";
    finish(0);
}

sub finish {
    my ($status) = @_;
    exit $status if close STDOUT;
    print STDERR program_name(), ": standard output: cannot write: $!\n";
    exit 4;
}

sub program_name { return $0 =~ s{.*/}{}sr }

1;
