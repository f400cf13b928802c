# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Plack::Middleware::NYTP;

use strict;
use warnings;

use parent 'Plack::Middleware';

use Devel::NYTProf::Requests ();
use Hash::Util::FieldHash ();
use Plack::Util ();
use Plack::Util::Accessor qw(dir every key label header when slower_than keep answer);
use Scalar::Util ();

our $VERSION = '6.14';

# A request stays open while the server uses its body or writer.
Hash::Util::FieldHash::fieldhash(my %request_of);

sub prepare_app {
    my ($self) = @_;
    my %option = map { defined $self->$_ ? ($_ => $self->$_) : () } qw(dir every key label when slower_than keep answer);
    $self->{requests} = Devel::NYTProf::Requests->new(%option);
    return;
}

# The shortest way for requests that are not wanted, as most.
sub to_app {
    my ($self) = @_;
    my $wanted = $self->SUPER::to_app;
    my ($app, $when) = ($self->app, $self->when);
    return $wanted if !defined $when;
    return sub {
        my ($env) = @_;
        return $app->($env) if !defined &DB::label || !Devel::NYTProf::Requests::is_wanted($when, $env);
        return $wanted->($env);
    };
}

sub call {
    my ($self, $env) = @_;
    return $self->app->($env) if !Devel::NYTProf::Requests::is_recording();
    my $path = ($env->{SCRIPT_NAME} // '') . ($env->{PATH_INFO} // '');
    utf8::decode($path); # PSGI has bytes; invalid UTF-8 stays as it is
    my $request = $self->{requests}->begin_wanted("$env->{REQUEST_METHOD} $path") or return $self->app->($env);
    return $self->call_for_report($request, $env) if $self->answer && $env->{REQUEST_METHOD} ne 'HEAD';
    my $response = $self->app->($env);
    return $self->respond($request, $response) if ref $response ne 'CODE';
    return sub {
        my ($respond) = @_;
        my $kept = $request;
        $response->(sub {
            my $answer = $self->respond($kept, $_[0]);
            return $respond->($answer) if defined $_[0][2];
            my $writer = $respond->($answer);
            $request_of{$writer} = $kept if ref $writer;
            undef $kept;
            return $writer;
        });
        $request->leave;
        undef $request;
        return;
    };
}

# Returns the response with the requested header. Finishes the request unless the body is still to be made.
sub respond {
    my ($self, $request, $response) = @_;
    return $response if ref $response ne 'ARRAY';
    my ($status, $headers, $body) = @$response;
    $request->{status} = $status;
    my $is_made_later = @$response < 3 || (Scalar::Util::blessed($body) && !Plack::Util::is_real_fh($body));
    if ($is_made_later && defined $body) {
        $request_of{$body} = $request;
        $request->leave;
    } elsif (!$is_made_later) {
        $request->finish($status);
    }
    my $file = $self->header ? $request->file : undef;
    return $response if !defined $file;
    return [$status, [@$headers, $self->header => $file], @$response[2 .. $#$response]];
}

# Replaces the answer by the report: keeps the application's body and what it writes.
sub call_for_report {
    my ($self, $request, $env) = @_;
    my $answer = Devel::NYTProf::RequestAnswer->new($request);
    my $response = $self->app->($env);
    return $self->report($answer, $response) if ref $response ne 'CODE';
    return sub {
        my ($respond) = @_;
        my $writer;
        $response->(sub {
            my ($start) = @_;
            return $respond->($self->report($answer, $start)) if defined $start->[2];
            my ($status, $headers) = @$start;
            my $when_closed = sub { $respond->($self->report($answer, [$status, $headers, []])) };
            return $writer = Plack::Middleware::NYTP::Writer->new($answer, $when_closed);
        });
        $writer->{has_begun} = 1 if $writer;
        return;
    };
}

sub report {
    my ($self, $answer, $response) = @_;
    return $response if ref $response ne 'ARRAY';
    my ($status, $headers, $body) = @$response;
    Plack::Util::foreach($body, sub { $answer->add($_[0]) });
    my $request = $answer->request;
    $request->finish($status);
    my $file = $self->header ? $request->file : undef;
    my ($new_status, $new_headers, $html) = $answer->page($status, $headers);
    return [$new_status, [@$new_headers, defined $file ? ($self->header => $file) : ()], [$html]];
}

# The writer for an application that answers in pieces. It ends when it is closed or freed. If the application died
# before it returned, the server has to answer.
package Plack::Middleware::NYTP::Writer;

sub new {
    my ($class, $answer, $when_closed) = @_;
    return bless {answer => $answer, when_closed => $when_closed}, $class;
}

sub write {
    my ($self, $bytes) = @_;
    $self->{answer}->add($bytes);
    return length $bytes;
}

sub close {
    my ($self) = @_;
    my $when_closed = delete $self->{when_closed} or return;
    $when_closed->();
    return;
}

sub DESTROY {
    my ($self) = @_;
    $self->close if $self->{has_begun};
    return;
}

1;

__END__

=head1 NAME

Plack::Middleware::NYTP - profile the requests of a PSGI application

=head1 SYNOPSIS

    use Plack::Builder;

    builder {
        enable 'NYTP', dir => 'prof', every => 100, header => 'X-Profile';
        $app;
    };

    $ NYTPROF=start=no perl -d:NYTProf -S starman app.psgi
    $ nytp-export --by=label prof

One request on demand, for those who may:

    builder {
        enable 'Session';
        enable 'NYTP', dir => 'prof', answer => 1, when => sub {
            my ($env) = @_;
            my $session = $env->{'psgix.session'} or return 0;
            my $query = $env->{QUERY_STRING} // '';
            return $session->{is_admin} && $query =~ /(?:\A|&)nytprof=1(?:&|\z)/;
        };
        $app;
    };

=head1 DESCRIPTION

Every N-th request has a profile of its own in a folder, with the label C<request>: C<GET /slow/7
200>. C<nytp-export --by=label prof> sums them up: number, median, 95th percentile, slowest sub.
With C<sample=> in NYTPROF samples pause during such a request, which is recorded with all its
calls.

Without C<dir> each process has one profile of its whole run, and each request is a label of it.
Where the profiler is not loaded the requests pass unchanged.

A recorded request takes longer (Mojolicious 9.31 under PSGI, perl 5.36;
F<bench/recorded-requests> measures it): a page of 2,000 rows 1.9 times as long, one of 20 rows 50
ms instead of 2.8, an answer in JSON 39 ms instead of 0.5. Some 35 ms of each are the profile's
file (30 with C<savesrc=0>). With C<< every => 100 >> it is 0.4 ms for each request.

=head2 Streams

The profile ends when the application has answered; of a streamed response, or one with an object
as its body, when the writer or object is gone. A delayed response is recorded to its end, with
whatever else the process does meanwhile; requests that begin in that time have no profile, and
the label C<beside> counts them. Without C<dir> a label ends when the application gives the
control back. An application that dies leaves a profile whose label has no status.

=head1 CONFIGURATION

    dir          the folder; it is made if needed
    every        N [1]: the first request of each process is recorded, then each N-th
    key          the label's key [request]
    label        a sub that turns the label's text into another; label => sub { $_[0] =~
                 s{/\d+}{/N}gr } makes one of all items. If it dies, with a warning, or returns
                 undef, the text stays
    header       add a header of this name with the profile's file to recorded responses
    when         a sub that is called with $env and decides about each request; `every' takes each
                 N-th of those it wants. A sub that dies says no, with a warning
    answer       with 1 the report of the request is its answer; it needs `when'
    slower_than  seconds, of the recorded request: a quicker one's profile is removed. The header is
                 missing then, and where the response begins earlier
    keep         N: keep only the N latest profiles of the folder

There is no default for C<when>. Anybody can send a cookie, a header or a parameter: ask for the
session of somebody who may see the program's source, as above.

With C<answer> the application's answer stands at the report's top as text: status, headers
(without the cookies' values) and at most 64 kB of the body. The status is 200, or 500 if
L<nytp-export(1)> failed: it has to be in C<PATH> or named by C<NYTP_EXPORT>. Cookies are set. The
answer to HEAD stays, as does the server's where the application dies. A response in pieces is
answered when it ends. The process does nothing else while the report is made.

=cut
