# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# A real Apache with mod_perl 2 runs under the profiler, with processes and with threads: each
# server process, and each interpreter of its pool, leaves a whole profile, and together they
# have every request.

use lib 't/lib';
use NYTPTest ();
use Recorded qw(folder run_script slurp);

use Config;
use Cwd qw(getcwd);
use IO::Socket::INET;
use WebServer qw(free_port put wait_until);
use Devel::NYTProf::Data;

my $modules = '/usr/lib/apache2/modules';
my ($httpd) = grep {-x} map {"$_/apache2"} '/usr/sbin', split /:/, $ENV{PATH};
plan skip_all => 'Apache with mod_perl is not installed'
    if !$httpd || !-e "$modules/mod_perl.so" || !-e "$modules/mod_mpm_prefork.so";

my $top = getcwd();
my $export = "$top/bin/nytp-export";
plan skip_all => 'nytp-export is not built' if !-x $export;
chmod 0755, folder(); # the server's children run as somebody else

my $HELLO = <<'PERL';
package Hello;
use strict;
use Apache2::RequestRec ();
use Apache2::RequestIO ();
sub work { return 'hello' }
sub handler {
    my $r = shift;
    DB::label(request => $r->method . ' ' . $r->uri);
    $r->content_type('text/plain');
    $r->print(work());
    DB::label(request => undef);
    hold($1) if $r->uri =~ m{^/hello/held} && $INC{'Hello.pm'} =~ m{(.*)/};
    return 0;
}

# Tells that it has come here, and stays.
sub hold {
    my ($folder) = @_;
    mkdir "$folder/held.$$" or die "$folder: $!";
    sleep 1000;
    return;
}
1;
PERL

# The lines of httpd.conf for each way of serving.
my %MPM = (
    prefork => "StartServers 1\nMinSpareServers 1\nMaxSpareServers 1\nMaxConnectionsPerChild 3\n",
    map { $_ => "StartServers 1\nServerLimit 1\nThreadsPerChild 4\nMaxRequestWorkers 4\nMinSpareThreads 1\n"
            . "PerlInterpStart 2\nPerlInterpMax 4\n" } 'worker', 'event',
);

sub configuration {
    my ($folder, $mpm, $port, $servers) = @_;
    return <<"CONF";
ServerRoot $folder
ServerName localhost
PidFile $folder/httpd.pid
Listen 127.0.0.1:$port
ErrorLog $folder/error.log
DocumentRoot $folder
Mutex file:$folder
User nobody
Group nogroup
LoadModule mpm_${mpm}_module $modules/mod_mpm_$mpm.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule perl_module $modules/mod_perl.so
$servers
PerlSwitches -I$top/blib/lib -I$top/blib/arch -I$folder
PerlPassEnv NYTPROF
PerlModule Devel::NYTProf::Apache
PerlModule Hello
<Location /hello>
    SetHandler modperl
    PerlResponseHandler Hello
    Require all granted
</Location>
CONF
}

sub connected {
    my ($port) = @_;
    return wait_until(sub { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 5) }) || ();
}

# So many requests at a time, and the bodies of the answers.
sub get {
    my ($port, $n) = @_;
    my @sockets = map { connected($port) || () } 1 .. $n;
    print $_ "GET /hello HTTP/1.0\r\n\r\n" for @sockets;
    return map {
        my $answer = do { local $/; <$_> };
        defined $answer && $answer =~ /\r\n\r\n(.*)\z/s ? $1 : 'no answer';
    } @sockets;
}

sub stop {
    my ($folder) = @_;
    my $pid = -e "$folder/httpd.pid" ? slurp("$folder/httpd.pid") + 0 : 0;
    kill TERM => $pid if $pid > 1;
    return $pid > 1 && wait_until(sub { NYTPTest::has_ended($pid) });
}

# A server; its folder and port.
sub start {
    my ($name, $mpm, $servers) = @_;
    my $folder = folder() . "/$name";
    mkdir $folder or die "$folder: $!";
    chmod 0777, $folder;
    my $port = free_port();
    put("$folder/Hello.pm", $HELLO);
    put("$folder/httpd.conf", configuration($folder, $mpm, $port, $servers));
    local $ENV{NYTPROF} = "file=$folder/server.out";
    is(system($httpd, '-f', "$folder/httpd.conf"), 0, 'the server starts under the profiler');
    return ($folder, $port);
}

# Serves requests, so many at a time; the folder with what is left.
sub serve {
    my ($mpm, @requests) = @_;
    my ($folder, $port) = start($mpm, $mpm, $MPM{$mpm});
    my @answers = map { get($port, $_) } @requests;
    is_deeply(\@answers, [('hello') x @answers], 'it answers') or diag slurp("$folder/error.log");
    ok(stop($folder), 'and ends');
    return $folder;
}

sub check_profiles {
    my ($folder, $n_requests) = @_;
    my @profiles = sort glob "$folder/server.out*";
    my ($whole, $calls, $threads) = (0, 0, 0);
    for my $path (@profiles) {
        my $profile = Devel::NYTProf::Data->new({filename => $path, quiet => 1, partial => 1});
        $whole++ if $profile->attributes->{complete};
        $threads++ if $profile->attributes->{thread};
        my $work = $profile->subname_subinfo_map->{'Hello::work'};
        $calls += $work->calls if $work;
    }
    is($whole, scalar @profiles, 'each profile is whole') or diag "@profiles\n", slurp("$folder/error.log");
    is($calls, $n_requests, 'and together they have all requests');
    like(scalar qx{"$export" --by=label=request @profiles}, qr/^ +$n_requests .*  GET \/hello$/m, 'under their label');
    my ($status, $out, $err) = run_script('nytprofmerge', '-o', "$folder/all.out", @profiles);
    is("$status$out$err", 0, 'they can be merged');
    is(Devel::NYTProf::Data->new({filename => "$folder/all.out", quiet => 1})
            ->subinfo_of('Hello::work')->calls, $n_requests, 'into one profile of the server');
    return (scalar @profiles, $threads);
}

subtest prefork => sub {
    my ($profiles) = check_profiles(serve('prefork', (1) x 5), 5);
    cmp_ok($profiles, '>=', 3, 'every process has left a profile');
};

for my $mpm ('worker', 'event') {
    subtest $mpm => sub {
        plan skip_all => "no MPM $mpm" if !-e "$modules/mod_mpm_$mpm.so";
        plan skip_all => 'this perl has no threads' if !$Config{useithreads};
        my ($profiles, $threads) = check_profiles(serve($mpm, 1, 3, 4, 2), 10);
        cmp_ok($threads, '>=', 1, 'interpreters of the pool have profiles of their own');
    };
}

# Polls: what happens in other processes tells nobody.
sub happens {
    my ($question) = @_;
    my @found;
    wait_until(sub { @found = $question->() });
    return @found;
}

# A request that is being served until its process ends: that process, and the connection.
sub held {
    my ($folder, $port) = @_;
    my %before = map { $_ => 1 } glob "$folder/held.*";
    my $socket = connected($port) or return;
    print $socket "GET /hello/held HTTP/1.0\r\n\r\n";
    my ($mark) = happens(sub { grep { !$before{$_} } glob "$folder/held.*" });
    return ($mark =~ /(\d+)\z/, $socket);
}

# Whether the other side hangs up, having answered or not.
sub is_closed {
    my ($socket) = @_;
    my $wanted = '';
    vec($wanted, fileno $socket, 1) = 1;
    while (select my $ready = $wanted, undef, undef, 60) {
        return 1 if !sysread $socket, my $buffer, 4096;
    }
    return 0;
}

sub exported {
    my ($path) = @_;
    my $json = qx{"$export" -q --json "$path"};
    my $status = $? >> 8;
    my ($work) = $json =~ /"name":"Hello::work",[^}]*"calls":(\d+)/;
    return {status => $status, work => $work || 0, holds => scalar $json =~ /"name":"Hello::hold",[^}]*"calls":[1-9]/};
}

# Whether the profile of this process tells of the request that it serves, and so of those before.
# What a process did is on disk a quarter of a second later at the latest.
sub is_on_disk {
    my ($folder, $pid) = @_;
    return happens(sub { grep {/\.$pid\z/ && exported($_)->{holds}} glob "$folder/server.out*" });
}

subtest 'kills and restarts under load' => sub {
    my ($folder, $port) = start('kills', 'prefork', "StartServers 2\nMinSpareServers 1\nMaxSpareServers 4\n");
    my $answered = () = grep { $_ eq 'hello' } get($port, 2);
    my $server = slurp("$folder/httpd.pid") + 0;

    my ($killed, $first) = held($folder, $port);
    ok(is_on_disk($folder, $killed), 'what a process does is on disk meanwhile');
    kill KILL => $killed;
    ok(is_closed($first), 'a process is killed amid a request');
    $answered += () = grep { $_ eq 'hello' } get($port, 2);

    my ($lingering, $second) = held($folder, $port);
    kill USR1 => $server;
    ok(happens(sub { my @starts = slurp("$folder/error.log") =~ /resuming normal operations/g; @starts > 1 ? 1 : () }),
        'the server is restarted gracefully meanwhile');
    $answered += () = grep { $_ eq 'hello' } get($port, 2);
    is($answered, 6, 'it has answered all the time');

    my ($ended, $third) = held($folder, $port);
    ok(is_on_disk($folder, $ended), 'what another does, too');
    ok(stop($folder), 'it is ended with TERM, with requests under way');
    ok(is_closed($second) && is_closed($third), 'which end');

    my %profiles = map { $_ => exported($_) } glob "$folder/server.out*";
    is_deeply([grep { $profiles{$_}{status} !~ /\A[03]\z/ } sort keys %profiles], [], 'each profile exports');
    my $work = 0;
    $work += $_->{work} for values %profiles;
    is($work, $answered + 3, 'together they have all requests')
        or diag map({"$_ $profiles{$_}{status} $profiles{$_}{work}\n"} sort keys %profiles), slurp("$folder/error.log");
    for my $pid ($killed, $lingering, $ended) {
        my ($path) = grep {/\.$pid\z/} keys %profiles;
        ok($path && $profiles{$path}{holds}, "process $pid: where it was");
        is($path && $profiles{$path}{status}, 3, 'cut off') if $pid == $killed;
    }
};

done_testing();
