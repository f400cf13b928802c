# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::NYTProf::Recording;

use strict;
use warnings;

use Config ();
use Cwd ();
use Devel::NYTProf::Export ();
use Devel::NYTProf::Object ();
use File::Path ();
use POSIX ();
use Socket ();

our $VERSION = '6.14';

sub new {
    my ($class, %self) = @_;
    $self{out} = Cwd::getcwd() . "/$self{out}" if $self{out} !~ m{\A/};
    die "$self{out} is there and is no profile; choose another name\n" if is_foreign($self{out});
    $self{folder} = "$self{out}.$$.d";
    mkdir $self{folder} or die "$self{folder}: cannot make this folder: $!\n";
    return bless \%self, $class;
}

sub is_foreign {
    my ($path) = @_;
    return 0 if !-e $path;
    return 1 if !-f _; # a FIFO or /dev/null
    return 0 if -z _;
    open my $fh, '<:raw', $path or return 1;
    my $n = read $fh, my $head, 8;
    return !$n || $head ne 'NYTProf ';
}

# Returns whether times are recorded, and not counts only.
sub has_times {
    my ($self) = @_;
    return ($self->{options} // '') !~ /(?:\A|:)counts=1(?::|\z)/;
}

# Returns the value of NYTPROF that makes every started perl write into the folder. File names begin with $before.
sub variable {
    my ($self, $before) = @_;
    my $folder = $self->{folder} =~ s/%/%%/gr =~ s/([:\\])/\\$1/gr;
    my $memory = $self->{memory} ? 'memory=512k' : undef;
    return join ':', grep { defined && length } 'sigexit=1', $memory, $self->{options}, "file=$folder/$before%s.%p.out";
}

# Returns that variable, and others that make every started perl load the recorder, which may not be in its @INC.
sub environment {
    my ($self) = @_;
    my @ours = grep { !ref && -e "$_/Devel/NYTProf.pm" || -d "$_/auto/Devel/NYTProf" } @INC;
    my @libs = map { Cwd::abs_path($_) } @ours;
    return (
        $self->preload,
        NYTPROF  => $self->variable(''),
        PERL5OPT => join(' ', grep { defined && length } $ENV{PERL5OPT}, '-d:NYTProf'),
        PERL5LIB => join($Config::Config{path_sep}, @libs, grep { defined && length } $ENV{PERL5LIB}),
    );
}

# Loads the library beside the recorder, before the user's.
sub preload {
    my ($self) = @_;
    my $object = Devel::NYTProf::Object::find() // return;
    my $library = Cwd::abs_path($object) =~ s{[^/]*\z}{libnytp-malloc.so}r;
    return () if !$self->{memory} || !-e $library;
    return (LD_PRELOAD => join ':', grep { defined && length } $library, $ENV{LD_PRELOAD});
}

sub run {
    my ($self, $code, $all) = @_;
    return run_and_wait(sub {
        my %environment = $self->environment;
        @ENV{ keys %environment } = values %environment;
        return $code->();
    }, $all);
}

sub files {
    my ($self) = @_;
    opendir my $dir, $self->{folder} or return;
    return map {"$self->{folder}/$_"} sort grep { !/\A\./ && -s "$self->{folder}/$_" } readdir $dir;
}

sub keep {
    my ($self) = @_;
    my @files = $self->files;
    my $kept = @files == 1 ? rename $files[0], $self->{out} : !@files || $self->merge($self->{out}, '--partial', @files);
    return $self->finish($kept, scalar @files);
}

sub keep_apart {
    my ($self, $first, $partial) = @_;
    my %seen;
    my @files = grep { !$seen{$_}++ } @$first, $self->files;
    my %unreadable = map { $_ => 1 } grep { !$self->mend($_) } @$partial;
    @files = ((grep { !$unreadable{$_} } @files), grep { $unreadable{$_} } @files);
    require File::Copy; # which perl-base of Debian lacks
    my $all = "$self->{folder}/.all";
    open my $fh, '>:raw', $all or return $self->{folder};
    my $kept = !grep { !File::Copy::copy($_, $fh) } @files;
    $kept = close($fh) && $kept && (!@files || rename $all, $self->{out});
    return $self->finish($kept, scalar @files);
}

sub finish {
    my ($self, $kept, $any) = @_;
    return $self->{folder} if !$kept;
    File::Path::remove_tree($self->{folder});
    return $any ? $self->{out} : undef;
}

# Ends a broken recording. Silent, since nytp-export reports the same.
sub mend {
    my ($self, $file) = @_;
    open my $errors, '>&', \*STDERR or return 0;
    open STDERR, '>', '/dev/null' or return 0;
    my $mended = $self->merge("$self->{folder}/.mended", '--partial', $file);
    open STDERR, '>&', $errors or return 0;
    return $mended && rename "$self->{folder}/.mended", $file;
}

sub merge {
    my ($self, $out, @arguments) = @_;
    my ($bin) = Devel::NYTProf::Export::command() =~ m{\A(.*/)}s;
    my $command = ($bin // '') . 'nytprofmerge';
    return 0 if !-e $command;
    my @libs = map {"-I$_"} grep { !ref } @INC;
    my $status = run_and_wait(sub { exec $^X, @libs, $command, '-o', $out, @arguments });
    return $status == 0 || $status >> 8 == 3;
}

# Returns the signals to pass on, without those that are ignored.
sub signals { return grep { ($SIG{$_} // '') ne 'IGNORE' } qw(INT TERM HUP QUIT USR1 USR2) }

# Signals are blocked until the handlers are set, and then until sigsuspend(), so none is lost.
sub run_and_wait {
    my ($code, $all) = @_;
    my @signals = signals();
    my $before  = POSIX::SigSet->new;
    POSIX::sigprocmask(POSIX::SIG_BLOCK(), all_but(), $before);
    my $pid = fork;
    if (defined $pid && !$pid) {
        @SIG{@signals} = ('DEFAULT') x @signals;
        POSIX::sigprocmask(POSIX::SIG_SETMASK(), $before);
        POSIX::_exit($code->() // 1);
    }
    print STDERR "cannot fork: $!\n" if !defined $pid;
    my $witness = start_witness(@signals);
    $before->delset(POSIX::SIGCHLD());
    local $SIG{CHLD} = sub { };
    local @SIG{@signals} = (sub { kill $_[0], $pid, $all ? descendants($pid) : () if $pid && !went_to_all($witness, $_[0]) }) x @signals;
    POSIX::sigsuspend($before) until !$pid || waitpid $pid, POSIX::WNOHANG();
    my $status = defined $pid ? $? : 127 << 8;
    $pid = 0; # the number may be another's by now
    kill KILL => $witness->{pid} and waitpid $witness->{pid}, 0 if $witness;
    POSIX::sigprocmask(POSIX::SIG_SETMASK(), $before);
    return $status;
}

sub all_but {
    my (@numbers) = @_;
    my $set = POSIX::SigSet->new;
    $set->fillset;
    $set->delset($_) for @numbers;
    return $set;
}

# Starts a process of our group that answers, for a signal's number, whether it received that signal, too. The kernel
# signals the newest process of a group first, so a signal to the group is there before it is here.
sub start_witness {
    my (@signals) = @_;
    socketpair my $ours, my $theirs, Socket::AF_UNIX(), Socket::SOCK_STREAM(), 0 or return;
    defined(my $pid = fork) or return;
    return { pid => $pid, socket => $ours } if $pid;
    close $ours;
    @SIG{@signals} = (sub { }) x @signals;
    POSIX::sigprocmask(POSIX::SIG_UNBLOCK(), POSIX::SigSet->new(POSIX::SIGTSTP())); # Ctrl-Z stops it, too
    my $waiting = POSIX::SigSet->new;
    while (sysread $theirs, my $byte, 1) {
        POSIX::sigpending($waiting);
        my $has_come = $waiting->ismember(ord $byte);
        POSIX::sigsuspend(all_but(ord $byte)) if $has_come;
        syswrite $theirs, $has_come;
    }
    POSIX::_exit(0);
}

# Without a witness, INT and QUIT are taken for the terminal's.
sub went_to_all {
    my ($witness, $signal) = @_;
    return $signal =~ /\A(?:INT|QUIT)\z/ if !$witness;
    kill CONT => $witness->{pid};
    syswrite $witness->{socket}, chr POSIX->can("SIG$signal")->();
    sysread $witness->{socket}, my $has_come, 1;
    return $has_come;
}

# Returns the known descendants, if the kernel lists children.
sub descendants {
    my ($pid) = @_;
    open my $fh, '<', "/proc/$pid/task/$pid/children" or return;
    return map { $_, descendants($_) } split ' ', <$fh> // '';
}

sub report {
    my (@arguments) = @_;
    run_and_wait(sub {
        open STDOUT, '>&', \*STDERR or return 4;
        Devel::NYTProf::Export::run('-q', @arguments);
    });
    return;
}

sub find_program {
    my ($program) = @_;
    return ($program, taint_switch(" $program")) if $program =~ /\A-/;
    if (!-e $program && $program !~ m{/}) {
        my ($found) = grep { -f && -x _ } map {"$_/$program"} split /:/, $ENV{PATH} // '';
        $program = $found if defined $found;
    }
    open my $fh, '<', $program or return $program;
    my $first = <$fh> // '';
    return ($program, $first =~ /\A#!.*?perl\S*(.*)/ ? taint_switch($1) : ());
}

# Only switches without a value may precede the letter: -Ilib/T and -d:Trace do not match.
sub taint_switch {
    my ($switches) = @_;
    return map {"-$_"} $switches =~ /\A(?:[ \t]+-\S*)*?[ \t]+-[acfglnpsuwSUWX0-9]*([tT])/;
}

sub printable {
    my ($text) = @_;
    return $text =~ s/[\x00-\x1f\x7f]|\xc2[\x80-\x9f]/?/gr;
}

sub end_like {
    my ($status) = @_;
    if (defined(my $signal = signal_of($status))) {
        $SIG{$signal} = 'DEFAULT';
        kill $signal, $$;
        exit 128 + ($status & 127);
    }
    exit $status >> 8;
}

sub signal_of {
    my ($status) = @_;
    my $number = $status & 127 or return undef;
    return (split ' ', $Config::Config{sig_name})[$number] // $number;
}

1;

__END__

=head1 NAME

Devel::NYTProf::Recording - record a program and all it starts, for nytp-run, nytp-prove and
nytp-compare

=head1 SYNOPSIS

    use Devel::NYTProf::Recording;

    my $recording = Devel::NYTProf::Recording->new(out => 'hello.out', options => 'calls=1');
    my $status = $recording->run(sub { exec $^X, '-e', 'print "hello\n"' });
    my @files = $recording->files;
    my $profile = $recording->keep;
    print "$profile holds ", scalar @files, " processes\n";

=head1 DESCRIPTION

Each process writes a file into a temporary folder; then these become one profile.

    new(out => FILE, options => TEXT, memory => BOOL)  makes the folder FILE.PID.d; dies when that
            cannot be done, or when FILE exists and is no profile. TEXT has more options as in
            NYTPROF, behind sigexit=1. With memory allocated bytes are sampled (memory=512k by
            default) and libnytp-malloc.so is loaded
    run(CODE, ALL)  calls CODE in a child process whose perls are recorded, and returns its wait
            status, as run_and_wait() does
    files   the profiles that were written, by name
    keep    makes one profile of them under the given name and removes the folder; returns that
            name, or the folder if they cannot be merged, or undef if there is none
    keep_apart(FILES, PARTIAL)  the same, with each recording as it is, one after the other in one
            file, FILES first; those of PARTIAL end early and are mended

=head1 FUNCTIONS

    run_and_wait(CODE, ALL)  calls CODE in a child process; CODE runs a program and need not return.
            Returns its wait status, or that of exit status 127 if there can be no child. Passes on
            INT, TERM, HUP, QUIT, USR1 and USR2, with ALL to what the program started, too; not
            what all of our process group got. Signals that we ignore (nohup) are ignored there
    report(arguments)  runs nytp-export with its standard output on our standard error: standard
            output is the program's
    find_program(NAME)  the path of a program, and the taint switch (-T or -t) of its first line
    printable(TEXT)   the text with question marks for control characters
    end_like(STATUS)  ends with the exit status or signal of this wait status
    signal_of(STATUS) the name of that signal, or undef

=head1 SEE ALSO

L<nytp-run(1)>, L<nytp-prove(1)>, L<nytp-compare(1)>

=cut
