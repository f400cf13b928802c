# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Real web servers with Plack::Middleware::NYTP and Mojolicious::Plugin::NYTP: a profile for each
# request, or labels in the profiles of the workers, through restarts, graceful stops and kills.

use lib 't/lib';
use NYTPTest qw(new_dir root);
use WebServer qw(find_command free_port get get_pid put run_app start_server stop_server wait_until);

my $export = root() . '/bin/nytp-export';
plan skip_all => 'nytp-export is not built' if !-x $export;

# {label => n}, the status, what is said.
sub by_label {
    my ($what, @inputs) = @_;
    my $table = qx{"$export" --by=$what @inputs 2>&1};
    my %n;
    for (grep {/\S/} split /\n/, $table) {
        my ($n, @cells) = split / {2,}/, s/^ +//r;
        $n{ $cells[-1] } = $n if $n =~ /\A\d+\z/ && @cells > 5;
    }
    return (\%n, $? >> 8, $table);
}

# How often subs of this last name were called, in all inputs together.
sub calls_of {
    my ($sub, @inputs) = @_;
    my $table = qx{"$export" --quiet --top=0 @inputs};
    my $n = 0;
    $n += $_ for $table =~ /^(?: +~?[\d.]+ \S+ +[\d.]+%){2} +(\d+) .* \S*::\Q$sub\E  /mg;
    return $n;
}

sub checked {
    my (@files) = @_;
    my $said = @files ? qx{"$export" --check @files 2>&1} : '';
    return scalar grep {/: ok$/} split /\n/, $said;
}

# The other side of a WebSocket, as much of RFC 6455 as this takes: short texts, whole frames.
sub open_websocket {
    my ($port, $path) = @_;
    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 10) or return undef;
    print $socket "GET $path HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n";
    my $status = <$socket>;
    while (my $line = <$socket>) {
        last if $line eq "\r\n";
    }
    return $status =~ / 101 / ? $socket : undef;
}

# Sends a text (masked with zeros, which leave it as it is), and returns the answer.
sub say_to {
    my ($socket, $text) = @_;
    print $socket "\x81", chr(0x80 | length $text), "\0\0\0\0", $text;
    return undef if read($socket, my $head, 2) != 2;
    read $socket, my $answer, ord substr $head, 1;
    return $answer;
}

my $PSGI = <<'P';
use strict;
use warnings;
use Plack::Builder;
package Body { sub new { bless {n => 3, late => $_[1]} } sub getline { my $s = shift; return $s->{n}-- > 0 ? $s->{late}->() : undef } sub close { } }
sub fast { return 'fast' }
sub slow { my $t = 0; $t += $_ for 1 .. 30_000; return 'slow' }
sub late { my $t = 0; $t += $_ for 1 .. 10_000; return 'late' }
my $plain = ['Content-Type' => 'text/plain'];
my %page = (
    '/fast' => sub { [200, $plain, [fast()]] },
    '/slow/7' => sub { [200, $plain, [slow()]] },
    '/pid' => sub { [200, $plain, [$$]] },
    '/body' => sub { [200, $plain, Body->new(\&late)] },
    '/delayed' => sub { sub { my $respond = shift; late(); $respond->([202, $plain, ['delayed']]) } },
    '/stream' => sub { sub { my $w = $_[0]->([200, $plain]); $w->write(late()) for 1 .. 3; $w->close } },
    '/dies' => sub { die "on purpose\n" },
    '/fork' => sub { my $pid = fork // die; if (!$pid) { slow(); require POSIX; POSIX::_exit(0) } waitpid $pid, 0; [200, $plain, ['forked']] },
);
builder {
    enable 'NYTP', DIR_OPTION header => 'X-Profile';
    sub { my $env = shift; my $page = $page{$env->{PATH_INFO}} or return [404, $plain, ['none']]; $page->($env) };
};
P

# The folder and the server.
sub starman {
    my ($nytprof, $workers, $options) = @_;
    my $starman = find_command('starman') or plan skip_all => 'starman is not installed';
    my ($folder, $port) = (new_dir(), free_port());
    put("$folder/app.psgi", $PSGI =~ s/DIR_OPTION/$options/r);
    my $server = start_server($folder, $port, $nytprof, $starman, '--workers', $workers, '--listen', "127.0.0.1:$port", 'app.psgi');
    return ok($server, 'it starts') ? ($folder, $server) : diag(qx{cat $folder/server.log}) && ();
}

my %PAGES = ('/fast' => '200 fast', '/slow/7' => '200 slow', '/body' => '200 latelatelate', '/delayed' => '202 delayed',
    '/stream' => '200 latelatelate', '/fork' => '200 forked', '/none' => '404 none');

my $IN_PROCESS = <<'P';
use strict;
use warnings;
use Plack::Builder;
my $plain = ['Content-Type' => 'text/plain'];
my $kept; # a responder that comes later
my $inner = sub {
    my $env = shift;
    return sub { $kept = $_[0] } if $env->{PATH_INFO} eq '/later';
    die "on purpose\n" if $env->{PATH_INFO} eq '/dies';
    return [200, $plain, ['ok']];
};
my $app = builder { enable 'NYTP', dir => 'prof', every => 2, header => 'X-Profile', label => sub { $_[0] =~ s/\d+$/N/r }; $inner };
sub ask { my ($path) = @_; return $app->({REQUEST_METHOD => 'GET', SCRIPT_NAME => '/app', PATH_INFO => $path}) }
my @first = @{ ask('/a') };
print "@$plain, @{$first[1]}\n" =~ s/\d{6,}/N/r =~ s/\.\d+\.1\.out/.P.1.out/r;
print @{ ask('/b')->[1] } + 0, "\n"; # the second is not recorded
my $later = ask('/later');
my $first = 0;
$later->(sub { $first = $_[0][0] });
ask('/beside');
$kept->([202, $plain, ['late']]);
print "$first\n";
$kept = $later = undef;
ask('/c'); # the fifth
ask('/d');
eval { ask('/dies') };
print $@;
my $gone = ask('/later'); # not recorded
$gone = ask('/later');
$gone->(sub { });
$kept = $gone = undef; # never answered
P

subtest 'in one process: which requests are recorded' => sub {
    plan skip_all => 'Plack is not installed' if !eval { require Plack };
    my $folder = new_dir();
    is run_app($folder, $IN_PROCESS, 'start=no'), "Content-Type text/plain, Content-Type text/plain X-Profile prof/N.P.1.out\n2\n202\non purpose\n",
        'the application is as ever, its own header list, too';
    my ($n, $status, $table) = by_label('label', "$folder/prof");
    is $status, 0, 'all profiles are whole';
    is_deeply $n,
        {'GET /app/a N' => 1, 'GET /app/later N' => 1, 1 => 1, 'GET /app/c N' => 1, 'GET /app/dies' => 1, 'GET /app/later' => 1},
        'the first and then each second; who began beside another; who died, who was never answered' or diag $table;
    like run_app($folder, $IN_PROCESS), qr/\AContent-Type text\/plain, Content-Type text\/plain\n2\n202\non purpose\n/, 'and nothing happens without the profiler';
};

subtest 'paths are characters if they are UTF-8' => sub {
    plan skip_all => 'Plack is not installed' if !eval { require Plack };
    for my $dir ('', "dir => 'prof', ") {
        my $folder = new_dir();
        is run_app($folder, <<"P", $dir ? 'start=no' : 'start=begin'), '', 'it runs';
use Plack::Builder;
my \$app = builder { enable 'NYTP', ${dir}label => sub { "\\x{263a} \$_[0]" =~ s/ 200//r }; sub { [200, [], ['ok']] } };
\$app->({REQUEST_METHOD => 'GET', SCRIPT_NAME => "/\\xc3\\xa4", PATH_INFO => "/caf\$_"}) for "\\xc3\\xa9", "\\xe9";
P
        my ($n) = by_label('label=request', $dir ? "$folder/prof" : "$folder/nytprof.out");
        is_deeply [sort keys %$n], ["\xe2\x98\xba GET /\xc3\x83\xc2\xa4/caf\xc3\xa9", "\xe2\x98\xba GET /\xc3\xa4/caf\xc3\xa9"],
            'as a whole; others are Latin-1';
    }
};

subtest 'starman: a profile for each request' => sub {
    my ($folder, $server) = starman('start=no', 2, "dir => 'prof',") or return;
    for my $round (1, 2) {
        my %got = map { $_ => get($server, $_) } sort keys %PAGES;
        is_deeply \%got, \%PAGES, 'the answers are the application\'s' or diag qx{tail -5 $folder/server.log};
        like get($server, '/dies'), qr/\A500 /, 'an error is one';
        next if $round > 1;
        my $first = get_pid($server);
        kill HUP => $server->{pid};
        ok wait_until(sub { !kill 0 => $first }), 'HUP: new workers';
    }
    is stop_server($server, 'QUIT'), 0, 'QUIT ends it well';
    my @files = glob "$folder/prof/*.out";
    my ($n, $status, $table) = by_label('label=request', "$folder/prof");
    is $status, 0, 'all are whole';
    my %wanted = (map({ ("GET $_ " . (split / /, $PAGES{$_})[0]) => 2 } keys %PAGES), 'GET /dies' => 2, 'GET /pid 200' => 1);
    is_deeply $n, \%wanted, 'each request once' or diag $table;
    is checked(@files), scalar @files, 'their numbers add up';
    is calls_of('slow', "$folder/prof"), 4, 'the subs that they called: one in a child';
    is calls_of('late', "$folder/prof"), 2 * (3 + 1 + 3), 'and those of responses that were made later';
};

subtest 'starman: labels in the profiles of the workers, one of which is killed' => sub {
    my ($folder, $server) = starman('file=w.out', 1, '') or return;
    for my $round (1 .. 3) {
        is get($server, $_), $PAGES{$_}, $_ for sort keys %PAGES;
        next if $round != 2;
        my $pid = get_pid($server);
        kill KILL => $pid;
        ok wait_until(sub { my $other = get_pid($server); $other && $other != $pid }), 'a worker is killed, another comes';
    }
    is stop_server($server, 'TERM'), 0, 'TERM ends it';
    my ($n, $status, $table) = by_label('label=request', glob "$folder/w.out*");
    is $status, 3, 'one worker has no end';
    is $n->{'GET /fork'}, 6, 'a child of a request has its label';
    is_deeply [map { $n->{"GET $_"} } grep { $_ ne '/fork' } sort keys %PAGES], [(3) x 6], 'each request is there, thrice'
        or diag $table;
    is calls_of('slow', glob "$folder/w.out*"), 6, 'and the subs';
};

my $MOJO = <<'P';
use Mojolicious::Lite -signatures;
use Mojo::IOLoop;
app->log->level('fatal');
app->config(hypnotoad => {listen => ['http://127.0.0.1:PORT'], workers => 2, pid_file => 'mojo.pid', graceful_timeout => 5});
plugin NYTP => {PLUGIN_OPTIONS};
sub slow { my $t = 0; $t += $_ for 1 .. 30_000; return 'slow' }
sub late { my $t = 0; $t += $_ for 1 .. 10_000; return 'late' }
get '/fast' => sub ($c) { $c->render(text => 'fast') };
get '/slow/7' => sub ($c) { $c->render(text => slow()) };
get '/pid' => sub ($c) { $c->render(text => $$) };
get '/later' => sub ($c) { $c->render_later; Mojo::IOLoop->timer(0.05 => sub { $c->render(text => late(), status => 202) }) };
get '/pieces' => sub ($c) { my $n = 3; my $next; $next = sub { return $c->finish if $n-- == 0; $c->write_chunk(late(), $next) }; $next->() };
get '/dies' => sub ($c) { die "on purpose\n" };
my $waiting;
get '/wait' => sub ($c) { $waiting = $c->render_later };
websocket '/talk' => sub ($c) {
    $c->inactivity_timeout(300);
    $c->on(message => sub ($c, $text) {
        $c->send(late() . " $text" . ($waiting ? ' beside' : ''));
        return if !$waiting || $text ne 'go';
        $waiting->render(text => 'gone');
        $waiting = undef;
    });
};
app->start;
P

my %MOJO = ('/fast' => '200 fast', '/slow/7' => '200 slow', '/later' => '202 late');

subtest 'hypnotoad: a profile for each request, through an upgrade' => sub {
    my $hypnotoad = find_command('hypnotoad') or plan skip_all => 'hypnotoad is not installed';
    my $folder = new_dir();
    my $port = free_port();
    put("$folder/app.pl", $MOJO =~ s/PORT/$port/r =~ s/PLUGIN_OPTIONS/dir => 'prof', header => 'X-Profile'/r);
    my $server = start_server($folder, $port, 'start=no', $hypnotoad, '-f', 'app.pl');
    ok $server, 'it starts' or return diag qx{cat $folder/server.log};
    for my $round (1, 2) {
        is_deeply {map { $_ => get($server, $_) } keys %MOJO}, \%MOJO, 'the answers are the application\'s';
        like get($server, '/pieces'), qr/\A200 .*late.*late.*late/s, 'in pieces';
        like get($server, '/dies'), qr/\A500 /, 'an error is one';
        next if $round > 1;
        my $first = get_pid($server);
        kill USR2 => $server->{pid};
        ok wait_until(sub { waitpid($server->{pid}, 1) > 0 }), 'USR2: the old manager ends';
        ok wait_until(sub { -s "$folder/mojo.pid" }), 'the new one has written its id';
        open my $fh, '<', "$folder/mojo.pid" or die $!;
        chomp($server->{pid} = <$fh>);
        isnt get_pid($server), $first, 'and workers of its own';
    }
    kill QUIT => $server->{pid};
    ok wait_until(sub { !kill 0 => $server->{pid} }), 'QUIT ends it';
    my ($n, $status, $table) = by_label('label=request', "$folder/prof");
    is $status, 0, 'all are whole' or diag $table;
    my %wanted = (map({ $_ => 2 } 'GET /fast 200', 'GET /slow/7 200', 'GET /later 202', 'GET /pieces 200', 'GET /dies 500', 'GET /pid 200'));
    is_deeply $n, \%wanted, 'each request once' or diag $table;
    is calls_of('late', "$folder/prof"), 2 * (1 + 3), 'with what is rendered later';
};

subtest 'a WebSocket that stays open: whole profiles, of which it is none' => sub {
    plan skip_all => 'Mojolicious is not installed' if !eval { require Mojolicious };
    my %options = ('start=no' => "dir => 'prof'", 'file=w.out' => '', 'file=w.out:calls=0' => '', 'file=w.out:sample=500' => '');
    for my $nytprof (sort keys %options) {
        my $folder = new_dir();
        my $port = free_port();
        put("$folder/app.pl", $MOJO =~ s/PLUGIN_OPTIONS/$options{$nytprof}/r);
        my $server = start_server($folder, $port, $nytprof, 'app.pl', 'daemon', '-l', "http://127.0.0.1:$port");
        ok $server, "$nytprof: it starts" or return diag qx{cat $folder/server.log};
        my @sockets = map { open_websocket($port, '/talk') } 1, 2;
        for my $round (1 .. 3) {
            is_deeply [map { say_to($_, "round $round") } @sockets], [("late round $round") x 2], 'they are answered';
            is_deeply {map { $_ => get($server, $_) } keys %MOJO}, \%MOJO, 'requests between them, too';
        }
        # While the response of /wait is being made, the socket speaks, and lets it go.
        my $waiting = WebServer::connection($server);
        print $waiting "GET /wait HTTP/1.0\r\n\r\n";
        ok wait_until(sub { say_to($sockets[0], 'waits?') eq 'late waits? beside' }), 'a request waits';
        is say_to($sockets[1], 'go'), 'late go beside', 'a message lets it go';
        like do { local $/; <$waiting> }, qr/gone\z/, 'and it ends';
        close shift @sockets; # without a closing frame, as a browser that crashes does
        is say_to($sockets[0], 'end'), 'late end', 'one has gone, the other is there still';
        is stop_server($server, 'TERM'), 0, 'TERM ends it while a socket is open';
        my @files = $nytprof eq 'start=no' ? glob "$folder/prof/*.out" : "$folder/w.out";
        is checked(@files), scalar @files, "$nytprof: all are whole";
        my ($n, $status, $table) = by_label('label=request', @files);
        is $status, 0, 'and read' or diag $table;
        next if $nytprof =~ /sample/; # requests as short as these may have no sample
        my %n = map { s/ \d+\z//r => $n->{$_} } keys %$n;
        is_deeply \%n, {map({ ("GET $_" => 3) } keys %MOJO), 'GET /wait' => 1}, 'each request, and no socket' or diag $table;
        my $beside = $nytprof eq 'start=no' ? 2 : 3 * 2 + 3; # at least: messages while something is recorded
        cmp_ok calls_of('late', @files), '>=', 3 + $beside, 'what the sockets do is in what is recorded then';
    }
};

done_testing();
