# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::NYTProf::RequestAnswer;

use strict;
use warnings;

use Devel::NYTProf::Export ();
use POSIX ();

our $VERSION = '6.14';

my $MAX_BODY_BYTES   = 64 * 1024;
my $MAX_HEADER_CHARS = 1000;

# Values that would let a reader of the report act as the requesting user.
my %IS_SECRET = map { $_ => 1 } qw(set-cookie authorization www-authenticate proxy-authenticate);

sub new {
    my ($class, $request) = @_;
    return bless {request => $request, body => '', n_bytes => 0}, $class;
}

sub request { return $_[0]{request} }

sub add {
    my ($self, $bytes) = @_;
    return if !defined $bytes;
    utf8::encode($bytes) if !utf8::downgrade($bytes, 1);
    my $room = $MAX_BODY_BYTES - length $self->{body};
    $self->{body} .= substr $bytes, 0, $room if $room > 0;
    $self->{n_bytes} += length $bytes;
    return;
}

# Counts bytes of the body that were not kept.
sub skip {
    my ($self, $n_bytes) = @_;
    $self->{n_bytes} += $n_bytes;
    return;
}

sub page {
    my ($self, $status, $headers) = @_;
    my $request = $self->{request};
    my $answer = $self->section($status, $headers);
    my $html = report($request->{path}, "$request->{name} $status");
    my $is_made = defined $html && $html =~ s{^<main id="main">\n}{$&$answer}m;
    $html = without_report($request, $answer) if !$is_made;
    return ($is_made ? 200 : 500, [headers($headers, length $html)], $html);
}

# Keeps the application's cookies; its other headers do not describe this answer.
sub headers {
    my ($headers, $length) = @_;
    my @pairs = @$headers;
    my @kept;
    while (my ($name, $value) = splice @pairs, 0, 2) {
        push @kept, $name => $value if lc $name eq 'set-cookie';
    }
    return (@kept, 'Content-Type' => 'text/html; charset=utf-8', 'Content-Length' => $length, 'Cache-Control' => 'no-store');
}

# Returns the HTML report of a profile, or undef. SIGCHLD is blocked: the program does not see our process end, and
# learns later of its own that end meanwhile.
sub report {
    my ($path, $title) = @_;
    local ($?, $!);
    my ($blocked, $before) = (POSIX::SigSet->new(POSIX::SIGCHLD()), POSIX::SigSet->new);
    POSIX::sigprocmask(POSIX::SIG_BLOCK(), $blocked, $before);
    my $html = output_of(Devel::NYTProf::Export::command(), '-q', '--html', '--title', $title, '-o', '-', $path);
    POSIX::sigprocmask(POSIX::SIG_SETMASK(), $before);
    return defined $html && $html =~ m{</html>\s*\z} ? $html : undef;
}

# perl starts this process without a shell, so none of it is recorded.
sub output_of {
    my (@command) = @_;
    no warnings 'exec';
    open my $fh, '-|', @command or return undef;
    binmode $fh;
    local $/;
    my $output = <$fh>;
    close $fh;
    return $output;
}

sub without_report {
    my ($request, $answer) = @_;
    my $file = escape($request->{file});
    return "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>No report</title>\n"
        . "<p>There is no report: nytp-export could not be run, or not read the profile $file.\n$answer</html>\n";
}

# Returns the application's answer as text.
sub section {
    my ($self, $status, $headers) = @_;
    my @pairs = @$headers;
    my @lines;
    while (my ($name, $value) = splice @pairs, 0, 2) {
        $value = '(not shown)' if $IS_SECRET{ lc $name };
        push @lines, "$name: $value";
    }
    my $head = escape(as_text(substr join("\n", @lines), 0, $MAX_HEADER_CHARS));
    my $more = $self->{n_bytes} - length $self->{body};
    my $body = escape(as_text($self->{body}));
    $body .= "\n($more bytes more)" if $more;
    my $name = escape($self->{request}{name});
    return "<details class=\"answer\"><summary>$name: the application answered " . escape($status)
        . ", $self->{n_bytes} bytes</summary>\n<pre>\n$head\n\n$body</pre></details>\n";
}

# Returns bytes as characters: as UTF-8 if valid up to a cut character, else as Latin-1. Invisible characters become
# numbers.
sub as_text {
    my ($text) = @_;
    my $whole = $text =~ s/[\xC2-\xF4][\x80-\xBF]{0,2}\z//r;
    utf8::decode($text) or (utf8::decode($whole) and $text = $whole);
    $text =~ s/\r\n/\n/g;
    $text =~ s/([^\P{C}\t\n])/sprintf '\\x{%x}', ord $1/ge;
    return $text;
}

# Returns text as bytes of HTML.
sub escape {
    my ($text) = @_;
    my %entity = ('&' => '&amp;', '<' => '&lt;', '>' => '&gt;', '"' => '&quot;', "'" => '&#39;');
    $text =~ s/([&<>"'])/$entity{$1}/g;
    utf8::encode($text);
    return $text;
}

1;

__END__

=head1 NAME

Devel::NYTProf::RequestAnswer - the report of a request, as the answer to it

=head1 SYNOPSIS

    use Devel::NYTProf::RequestAnswer;
    use Devel::NYTProf::Requests;

    my $requests = Devel::NYTProf::Requests->new(dir => 'prof', when => sub { 1 }, answer => 1);
    if (my $request = $requests->begin('GET /slow')) {
        my $answer = Devel::NYTProf::RequestAnswer->new($request);
        $answer->add('the body');
        $request->finish(200);
        my ($status, $headers, $html) = $answer->page(200, ['Content-Type' => 'text/plain']);
    }

=head1 DESCRIPTION

What C<answer> of L<Plack::Middleware::NYTP> and L<Mojolicious::Plugin::NYTP> puts in the place of
the application's answer. L<nytp-export(1)> makes the report.

=head1 METHODS

    new(REQUEST)      for an object of begin() in Devel::NYTProf::Requests
    add(BYTES)        a piece of the application's body; of all pieces 64 kB are kept
    skip(N)           there are N bytes more
    request()         that object
    page(STATUS, HEADERS)  after the request has finished: status, headers and HTML of the report

At the top of the report stands what the application answered, as text: its status, headers
(HEADERS, a list of pairs) and body. Cookies are set as by the application, but their values are
not shown. When there is no report, the page says so, and the status is 500.

=cut
