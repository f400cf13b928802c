# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# A small Mojolicious application, and requests to it that stay in this process.
# Needs libmojolicious-perl.
package main;
use Mojolicious::Lite -signatures;
use Mojo::Transaction::HTTP;

app->log->level('fatal');
app->secrets(['bench']);

get '/' => sub ($c) { $c->render(template => 'index', rows => [map { {id => $_, name => "row $_"} } 1 .. $c->param('rows') // 20]) };
get '/row/:id' => [id => qr/\d+/] => sub ($c) { $c->render(json => {id => $c->param('id'), list => [1 .. 20]}) };
post '/form' => sub ($c) {
    my $v = $c->validation;
    $v->required('name')->size(1, 20);
    $c->session(name => $v->param('name'));
    $c->render(text => $v->has_error ? 'no' : 'yes');
};

sub request {
    my ($method, $path, $body) = @_;
    my $tx = Mojo::Transaction::HTTP->new;
    $tx->req->method($method)->url->parse($path);
    $tx->req->headers->content_type('application/x-www-form-urlencoded') if defined $body;
    $tx->req->body($body) if defined $body;
    app->handler($tx);
    die "$path: " . $tx->res->code if $tx->res->code != 200;
    return length $tx->res->body;
}

1;

__DATA__
@@ index.html.ep
<!DOCTYPE html>
<ul>
% for my $row (@$rows) {
  <li id="<%= $row->{id} %>"><%= link_to $row->{name} => "/row/$row->{id}" %></li>
% }
</ul>
