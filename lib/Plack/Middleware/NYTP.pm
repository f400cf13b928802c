# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Plack::Middleware::NYTP;

use strict;
use warnings;

use parent 'Plack::Middleware';

use Devel::NYTProf::Requests ();
use Hash::Util::FieldHash ();
use Plack::Util ();
use Plack::Util::Accessor qw(dir every key label header);
use Scalar::Util ();

our $VERSION = '6.14';

# What keeps a request open: the body or writer that the server still works with.
Hash::Util::FieldHash::fieldhash(my %request_of);

sub prepare_app {
    my ($self) = @_;
    my %option = map { defined $self->$_ ? ($_ => $self->$_) : () } qw(dir every key label);
    $self->{requests} = Devel::NYTProf::Requests->new(%option);
    return;
}

sub call {
    my ($self, $env) = @_;
    my $path = ($env->{SCRIPT_NAME} // '') . ($env->{PATH_INFO} // '');
    my $request = $self->{requests}->begin("$env->{REQUEST_METHOD} $path") or return $self->app->($env);
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

# The response, with the header that was asked for. The request is over unless the body is still
# to be made.
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

=head1 DESCRIPTION

Every N-th request has a profile of its own in a folder, with the label C<request>: C<GET /slow/7 200>.
C<nytp-export --by=label prof> tells how many of each there are, their median and 95th percentile, and
the slowest sub of each; all else of nytp-export takes the folder or one of its files. With C<sample=> in NYTPROF
samples pause during such a request, which is recorded with all its calls.

Without C<dir> the server's whole run is one profile for each process, as C<perl -d:NYTProf> makes it, and
each request is a label of it, without the status: C<GET /slow/7>.

Where the profiler is not loaded the requests pass unchanged. The profile of a request ends when the
application has answered; of a response that is streamed, or has an object as its body, when the writer
or the object is gone. A response that is delayed is recorded from its request to its end, with whatever
else the process does meanwhile; further requests that begin in that time are in the same profile and
have none of their own, which the label C<beside> tells. Without C<dir> a label spans what the
application does until it gives the control back, not what comes later. An application that dies leaves a
profile whose label has no status.

=head1 CONFIGURATION

=over 4

=item dir

The folder; made if it is not there. Relative to the server's folder when it starts.

=item every

N; 1 unless given. The first request of each process is recorded, then each N-th.

=item key

The label's key, C<request> unless given.

=item label

A sub that is called with the label's text and gives another:
C<< label => sub { $_[0] =~ s{/\d+}{/N}gr } >> makes one of all items.

=item header

A header with this name, its value the profile's file, is put into the response of what is recorded.

=back

=cut
