# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Mojolicious::Plugin::NYTP;

use Mojo::Base 'Mojolicious::Plugin', -signatures;

use Devel::NYTProf::Requests ();
use Mojo::Content::Single;

our $VERSION = '6.14';

sub register ($self, $app, $config) {
    my $header   = $config->{header};
    my $requests = Devel::NYTProf::Requests->new(map { $_ => $config->{$_} } grep { $_ ne 'header' } keys %$config);
    $app->hook(around_dispatch => sub ($next, $c) {
        my $tx = $c->tx;
        return $next->() if $tx->is_websocket;
        my $request = $requests->begin($tx->req->method . ' ' . $tx->req->url->path->to_route, $c);
        return $next->() if !$request;
        $c->stash('nytp.request' => $request);
        # The transaction ends when the response has been sent, however late.
        $tx->on(finish => sub ($tx) {
            $request->finish($tx->res->code) if $request;
            undef $request;
        });
        $next->();
        $request->leave if $request;
    });
    $app->hook(after_dispatch => sub ($c) {
        my $request = delete $c->stash->{'nytp.request'} or return;
        replace_by_report($c, $request) if $config->{answer} && can_be_replaced($c);
        my $file = defined $header ? $request->file : undef;
        $c->res->headers->header($header => $file) if defined $file;
    });
    return;
}

# An answer in pieces is not complete yet, and one to HEAD has no body.
sub can_be_replaced ($c) {
    my $content = $c->res->content;
    return $c->req->method ne 'HEAD' && !$content->is_dynamic && !$content->is_multipart;
}

sub replace_by_report ($c, $request) {
    my $res = $c->res;
    my $answer = Devel::NYTProf::RequestAnswer->new($request);
    my $asset = $res->content->asset;
    my $start = $asset->get_chunk(0);
    $answer->add($start);
    $answer->skip($asset->size - length $start);
    my $old = $res->headers;
    my @headers = map { my $name = $_; map { $name => $_ } @{ $old->every_header($name) } } sort @{ $old->names };
    my $code = $res->code;
    $request->finish($code);
    my ($status, $new, $html) = $answer->page($code, \@headers);
    $res->code($status)->message(undef)->content(Mojo::Content::Single->new)->body($html);
    while (my ($name, $value) = splice @$new, 0, 2) {
        $res->headers->add($name => $value);
    }
    return;
}

1;

__END__

=head1 NAME

Mojolicious::Plugin::NYTP - profile the requests of a Mojolicious application

=head1 SYNOPSIS

    use Mojolicious::Lite;

    plugin NYTP => {dir => 'prof', every => 100};

    $ PERL5OPT=-d:NYTProf NYTPROF=start=no hypnotoad app.pl
    $ nytp-export --by=label prof

=head1 DESCRIPTION

Every N-th request has a profile of its own in a folder, with the label C<request>: C<GET /slow/7
200>. It ends when the response has been sent or the client has gone. What the process does
meanwhile for other requests and WebSockets is in it; these have no profile, and the label
C<beside> counts the requests.

Without C<dir> each request is a label of the profile that is being recorded, while it is
dispatched. Where the profiler is not loaded nothing happens. It has to be in C<PERL5OPT> where a
server starts perl anew, as hypnotoad does.

=head1 CONFIGURATION

C<dir>, C<every>, C<key>, C<label>, C<header>, C<when>, C<answer>, C<slower_than> and C<keep> as
in L<Plack::Middleware::NYTP>. C<when> is called with the controller, before the router has seen
the request:

    plugin NYTP => {dir => 'prof', answer => 1, when => sub ($c) {
        return $c->session('is_admin') && $c->param('nytprof');
    }};

This one asks for the session of an admin, as anybody can send a parameter. The report is the
answer as soon as the application's is there. An answer in pieces stays as it is.

Mojolicious calls the method C<register>.

=cut
