# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Mojolicious::Plugin::NYTP;

use Mojo::Base 'Mojolicious::Plugin', -signatures;

use Devel::NYTProf::Requests ();

our $VERSION = '6.14';

sub register ($self, $app, $config) {
    my $header   = $config->{header};
    my $requests = Devel::NYTProf::Requests->new(map { $_ => $config->{$_} } grep { $_ ne 'header' } keys %$config);
    $app->hook(around_dispatch => sub ($next, $c) {
        my $tx = $c->tx;
        return $next->() if $tx->is_websocket;
        my $request = $requests->begin($tx->req->method . ' ' . $tx->req->url->path->to_route);
        return $next->() if !$request;
        $c->res->headers->header($header => $request->file) if defined $header && defined $request->file;
        # The transaction ends when the response has been sent, however late it was made.
        $tx->on(finish => sub ($tx) {
            $request->finish($tx->res->code) if $request;
            undef $request;
        });
        $next->();
        $request->leave if $request;
    });
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

Every N-th request has a profile of its own in a folder, with the label C<request>: C<GET /slow/7 200>.
It ends when the response has been sent, also one that was rendered later or written in pieces, or
when the client has gone. What the process does meanwhile for other requests is in it, too: they have no
profile of their own, and the label C<beside> tells how many there were. WebSockets have none, either; what their messages do meanwhile is in it.

Without C<dir> each request is a label of the profile that is being recorded, for as long as it is dispatched.
Where the profiler is not loaded nothing happens. It has to be in C<PERL5OPT> where a server starts perl
anew, as hypnotoad does.

=head1 CONFIGURATION

C<dir>, C<every>, C<key>, C<label> and C<header> as in L<Plack::Middleware::NYTP>.

=head1 METHODS

=head2 register

Called by Mojolicious.

=cut
