# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::NYTProf::Export;

use strict;
use warnings;

our $VERSION = '6.14';

sub command {
    return $ENV{NYTP_EXPORT} if length($ENV{NYTP_EXPORT} // '');
    my ($folder) = $0 =~ m{\A(.*)/}s ? $1 : '.';
    my ($path)   = grep { -f && -x _ } map {"$folder/${_}nytp-export"} '', '../bin/', '../../bin/';
    return $path // 'nytp-export';
}

sub run {
    my (@arguments) = @_;
    my $command = command();
    { no warnings 'exec'; exec {$command} 'nytp-export', @arguments; }
    print STDERR "cannot run $command: $!\n";
    exit 127;
}

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

# nytp-export is given a file that cannot exist. If it complains of that alone, the arguments are good.
sub foresee {
    my (@arguments) = @_;
    my $pid = open my $fh, '-|';
    die "cannot fork: $!\n" if !defined $pid;
    if (!$pid) {
        open STDERR, '>&', \*STDOUT;
        open STDOUT, '>', '/dev/null';
        open STDIN,  '<', '/dev/null';
        run(@arguments, '/dev/null/nytp');
    }
    my $said = do { local $/; <$fh> } // '';
    my $status = close_output($fh);
    return $status == 1 && $said =~ m{\Anytp-export: /dev/null/nytp: cannot open: } ? () : ($status, $said);
}

sub options {
    my ($opt, @known) = @_;
    require Getopt::Long;
    Getopt::Long::GetOptions($opt, @known, 'help|h|?', 'version') or exit 2;
    help() if $opt->{help};
    version() if $opt->{version};
    for my $name (grep { ($opt->{$_} // 'given') eq '' } qw(out output)) {
        give_up(2, "--$name: the name is empty");
    }
    return;
}

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

sub give_up {
    my ($status, $text) = @_;
    print STDERR program_name(), ": $text\n";
    exit $status;
}

sub reason { return $_[0] =~ s/ at \S+ line \d+\.?\n\z|\n\z//r }
sub program_name { return $0 =~ s{.*/}{}sr }

1;

__END__

=head1 NAME

Devel::NYTProf::Export - find and run nytp-export

=head1 SYNOPSIS

    use Devel::NYTProf::Export;

    my $fh = Devel::NYTProf::Export::open_output('--collapsed', 'nytprof.out');
    print while <$fh>;
    Devel::NYTProf::Export::close_output($fh);

=head1 DESCRIPTION

The classic commands are programs around L<nytp-export(1)>.

=head1 FUNCTIONS

    command()               the path of nytp-export: beside the running program, in a bin folder
                            next to it or above it (a source tree), or in PATH; else just its
                            name. The environment variable NYTP_EXPORT is taken instead
    run(arguments)          become nytp-export; does not return
    call(arguments)         run nytp-export and wait for it; returns its exit status
    open_output(arguments)  a handle that nytp-export's standard output is read from
    close_output(handle)    close it; returns nytp-export's exit status
    foresee(arguments)      the status and words with which nytp-export refuses them, or nothing
    options(HASH, options)  take options as Getopt::Long does, --help and --version; exit with
                            2 for others, or an empty name
    help(), version()       print the options that the program's POD tells, or its name and
                            version, and exit as finish(0) does
    finish(STATUS)          exit with STATUS, or say that standard output could not be written,
                            and exit with 4
    give_up(STATUS, TEXT)   say TEXT behind the program's name on standard error; exit with STATUS
    reason(TEXT)            the text of an error without its place in our code

=cut
