# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::NYTProf::Requests;

use strict;
use warnings;

use Scalar::Util ();

our $VERSION = '6.14';

sub new {
    my ($class, %option) = @_;
    my %known = (dir => undef, every => 1, key => 'request', label => undef);
    my @odd = sort grep { !exists $known{$_} } keys %option;
    _croak("unknown option $odd[0]") if @odd;
    my $self = bless {%known, %option, count => 0, made => 0, running => undef}, $class;
    _croak("every is a whole number from 1 on, not '$self->{every}'") if $self->{every} !~ /\A[1-9][0-9]{0,8}\z/;
    if (defined $self->{dir} && !-d $self->{dir}) {
        mkdir $self->{dir} or -d $self->{dir} or _croak("cannot make $self->{dir}: $!");
    }
    return $self;
}

sub _croak {
    require Carp;
    Carp::croak("NYTP: $_[0]");
}

# Without the profiler nothing is to be done.
sub is_recording { return defined &DB::label && defined &DB::enable_profile }

sub begin {
    my ($self, $name) = @_;
    return undef if !is_recording();
    my $is_due = $self->{count}++ % $self->{every} == 0;
    if ($self->{running}) {
        $self->{running}{beside}++;
        return undef;
    }
    return undef if !$is_due;
    my $request = bless {name => $name, requests => $self, pid => $$}, 'Devel::NYTProf::Requests::One';
    if (defined $self->{dir}) {
        $request->{file} = sprintf '%s/%d.%d.%d.out', $self->{dir}, time, $$, ++$self->{made};
        $self->{running} = $request;
        Scalar::Util::weaken($self->{running});
        Devel::NYTProf::Core::_enable_exact($request->{file});
        DB::label_profile($self->{key} => $self->text($name));
    } else {
        DB::label($self->{key} => $self->text($name));
    }
    return $request;
}

sub text {
    my ($self, $name, $status) = @_;
    my $text = defined $status ? "$name $status" : $name;
    return $self->{label} ? $self->{label}->($text) : $text;
}

package Devel::NYTProf::Requests::One;

sub file { return $_[0]{file} }

# Other code than the request's runs from here on. What comes later of the request cannot be told
# from what the process does for others.
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
    Devel::NYTProf::Core::_finish_exact();
    $requests->{running} = undef;
    return;
}

# A request that dies, or whose client has gone, ends here.
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

What L<Plack::Middleware::NYTP> and L<Mojolicious::Plugin::NYTP> have in common, for servers that have
neither. Without the profiler nothing happens. One request is recorded at a time: what else begins in the
same process meanwhile is in its profile, which has the label C<beside> then, how many there were.

=head1 METHODS

=over 4

=item new(dir => FOLDER, every => N, key => KEY, label => CODE)

Each N-th request, the first one included, has a profile of its own in FOLDER, which is made if it is not
there; the file is named by the time, the process and a number. Start the program with
C<NYTPROF=start=no> then, or with C<sample=>: samples pause during such a request, which counts every
statement and call. Without C<dir> requests are labels of the profile that is being recorded (see
C<DB::label> in L<Devel::NYTProf>). KEY is the label's, C<request> unless given. CODE is called with the
text ("GET /slow/7 200") and gives what is to be the label's value; use it where paths hold numbers.

=item begin(TEXT)

A request begins. An object, or undef when it is not recorded.

=item is_recording()

Whether the program runs under the profiler.

=back

An object of begin() has these methods. When the last reference to it goes, the request ends.

=over 4

=item finish(STATUS)

The request is over. Again, nothing happens.

=item file()

The name of its profile; undef without C<dir>.

=item leave()

The application has given the control back, the response may come later. Without C<dir> the label ends.

=back

=cut
