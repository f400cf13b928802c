# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::NYTProf::Requests;

use strict;
use warnings;

use Scalar::Util ();

our $VERSION = '6.14';

my %DEFAULT = (
    (map { $_ => undef } qw(dir label when slower_than keep)),
    answer => 0,
    every  => 1,
    key    => 'request',
);
my %VALID = (
    every       => [qr/\A[1-9][0-9]{0,8}\z/, 'a whole number from 1 on'],
    keep        => [qr/\A[1-9][0-9]{0,8}\z/, 'a whole number from 1 on'],
    slower_than => [qr/\A(?=\.?[0-9])[0-9]*(?:\.[0-9]*)?\z/, 'a number of seconds'],
    when        => [qr/\ACODE\(/, 'a sub'],
);
my %NEEDS = (when => 'dir', slower_than => 'dir', keep => 'dir', answer => 'when');

sub new {
    my ($class, %option) = @_;
    my @odd = sort grep { !exists $DEFAULT{$_} } keys %option;
    _croak("unknown option $odd[0]") if @odd;
    my $self = bless {%DEFAULT, %option, count => 0, made => 0, running => undef}, $class;
    for my $name (sort keys %VALID) {
        my ($is_valid, $is) = @{ $VALID{$name} };
        _croak("$name is $is, not '$self->{$name}'") if defined $self->{$name} && $self->{$name} !~ $is_valid;
    }
    for my $name (sort grep { $self->{$_} } keys %NEEDS) {
        _croak("$name needs $NEEDS{$name}") if !defined $self->{ $NEEDS{$name} };
    }
    require Time::HiRes if defined $self->{slower_than};
    require Devel::NYTProf::RequestAnswer if $self->{answer};
    $self->make_folder if defined $self->{dir};
    return $self;
}

# The path is absolute, since the program may change its directory.
sub make_folder {
    my ($self) = @_;
    my $dir = $self->{dir};
    -d $dir or mkdir $dir or -d $dir or _croak("cannot make $dir: $!");
    require Cwd;
    $self->{folder} = Cwd::abs_path($dir);
    return;
}

sub _croak {
    require Carp;
    Carp::croak("NYTP: $_[0]");
}

# Without the profiler there is nothing to do.
sub is_recording { return defined &DB::label && defined &DB::enable_profile }

# Returns whether CODE, called with the request, wants it recorded. If it dies, no.
sub is_wanted {
    my ($code, @what) = @_;
    local $@;
    my $is_wanted;
    eval { $is_wanted = $code->(@what); 1 } or warn "NYTP: when: $@";
    return $is_wanted;
}

sub begin {
    my ($self, $name, @what) = @_;
    return undef if !is_recording() || ($self->{when} && !is_wanted($self->{when}, @what));
    return $self->begin_wanted($name);
}

sub begin_wanted {
    my ($self, $name) = @_;
    my $is_due = $self->{count}++ % $self->{every} == 0;
    if ($self->{running}) {
        $self->{running}{beside}++;
        return undef;
    }
    return undef if !$is_due;
    my $request = bless {name => $name, requests => $self, pid => $$}, 'Devel::NYTProf::Requests::One';
    if (defined $self->{dir}) {
        my $file = sprintf '%d.%d.%d.out', time, $$, ++$self->{made};
        $request->{file} = "$self->{dir}/$file";
        $request->{path} = "$self->{folder}/$file";
        $self->{running} = $request;
        Scalar::Util::weaken($self->{running});
        Devel::NYTProf::Core::_enable_exact($request->{path});
        DB::label_profile($self->{key} => $self->text($name));
        $request->{began_s} = Time::HiRes::time() if defined $self->{slower_than};
    } else {
        DB::label($self->{key} => $self->text($name));
    }
    return $request;
}

# Returns the label's text. It stays as it is if the sub that turns it into another dies, or returns no text.
sub text {
    my ($self, $name, $status) = @_;
    my $text = defined $status ? "$name $status" : $name;
    return $text if !$self->{label};
    local $@;
    my $other;
    eval { $other = $self->{label}->("$text"); 1 } or warn "NYTP: label: $@";
    return $other // $text;
}

# Returns the folder's profiles, oldest first, as lists of files: the request's and those of its child processes.
sub profiles {
    my ($self) = @_;
    opendir my $dir, $self->{folder} or return;
    my %files_of;
    for my $file (readdir $dir) {
        my ($time_s, $pid, $number) = $file =~ /\A(\d+)\.(\d+)\.(\d+)\.out(?:\.|\z)/ or next;
        push @{ $files_of{ sprintf '%020d %020d %020d', $time_s, $number, $pid } }, "$self->{folder}/$file";
    }
    return map { $files_of{$_} } sort keys %files_of;
}

# Removes the profile of a quick request; otherwise keeps it and removes the oldest. Another process may have removed
# that already.
sub tidy {
    my ($self, $request) = @_;
    my $is_quick = $request->is_quick;
    return if !$is_quick && !$self->{keep};
    my @profiles = $self->profiles;
    my @gone;
    if ($is_quick) {
        @gone = grep { index($_->[0], $request->{path}) == 0 } @profiles;
    } elsif (@profiles > $self->{keep}) {
        @gone = @profiles[0 .. $#profiles - $self->{keep}];
    }
    unlink map {@$_} @gone;
    return;
}

package Devel::NYTProf::Requests::One;

# A request that is quick so far has no name yet: its profile may be removed at its end.
sub file {
    my ($self) = @_;
    $self->{took_s} = Time::HiRes::time() - $self->{began_s} if defined $self->{began_s} && !$self->{is_done};
    return $self->is_quick ? undef : $self->{file};
}

sub is_quick {
    my ($self) = @_;
    return defined $self->{began_s} && $self->{took_s} <= $self->{requests}{slower_than};
}

# Other code runs from here on. Later work for the request cannot be separated from other work of the process.
sub leave {
    my ($self) = @_;
    $self->finish if !defined $self->{file};
    return;
}

sub finish {
    my ($self, $status) = @_;
    return if $self->{is_done}++;
    my $requests = $self->{requests};
    return if $self->{pid} != $$; # a child of the request has a profile of its own
    if (!defined $self->{file}) {
        DB::label($requests->{key} => undef);
        return;
    }
    DB::label_profile($requests->{key} => $requests->text($self->{name}, $status)) if defined $status;
    DB::label_profile(beside => $self->{beside}) if $self->{beside};
    $self->{took_s} = Time::HiRes::time() - $self->{began_s} if defined $self->{began_s};
    Devel::NYTProf::Core::_finish_exact();
    $requests->{running} = undef;
    $requests->tidy($self);
    return;
}

# Ends a request that dies, or whose client has disconnected.
sub DESTROY {
    my ($self) = @_;
    local ($@, $!, $?);
    $self->finish($self->{status});
    return;
}

1;

__END__

=head1 NAME

Devel::NYTProf::Requests - one profile, or one label, for each request

=head1 SYNOPSIS

    use Devel::NYTProf::Requests;

    my $requests = Devel::NYTProf::Requests->new(dir => 'prof', every => 100);

    my $request = $requests->begin('GET /slow');    # undef: this one is not recorded
    # ... serve it ...
    $request->finish(200) if $request;

=head1 DESCRIPTION

The common part of L<Plack::Middleware::NYTP> and L<Mojolicious::Plugin::NYTP>, for other servers.
Without the profiler nothing happens. One request is recorded at a time; the label C<beside>
counts those that begin meanwhile.

=head1 METHODS

C<new> takes C<< dir => FOLDER, every => N, key => KEY, label => CODE, when => CODE, >>
C<< slower_than => SECONDS, keep => N >>. Each N-th request, from the first on, has a profile in
FOLDER, which is made if needed. Start the program with C<NYTPROF=start=no> or C<sample=>. Without
C<dir> requests are labels (C<DB::label> in L<Devel::NYTProf>). KEY is C<request> by default. CODE
turns the text ("GET /slow/7 200") into the label's value. L<Plack::Middleware::NYTP> explains
C<when>, C<slower_than> and C<keep>.

    begin(TEXT, WHAT...)    begins a request; returns an object, or undef if it is not recorded.
                            `when' is called with WHAT
    begin_wanted(TEXT)      the same after is_recording() and `when' were asked
    is_wanted(CODE, WHAT...)  a function: returns whether a `when' says yes
    is_recording()          returns whether the program runs under the profiler

An object of begin() has these methods. When the last reference to it goes, the request ends.

    finish(STATUS)          ends the request; again, nothing happens
    file()                  returns the profile's name, or undef without `dir' or while the request
                            is quick
    is_quick()              returns whether it took no longer than `slower_than'
    leave()                 ends the label without `dir': the application has given the control back

=cut
