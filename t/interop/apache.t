#!/usr/bin/perl
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# A real Apache with mod_perl 2 runs under the profiler: each server process leaves a whole
# profile, and together they have every request.
use strict;
use warnings;

use Cwd qw(getcwd);
use FindBin ();
use IO::Socket::INET;
use lib "$FindBin::Bin/../lib";
use Recorded qw(folder run_script slurp);
use Test::More;

use Devel::NYTProf::Data;

my $modules = '/usr/lib/apache2/modules';
my ($httpd) = grep {-x} map {"$_/apache2"} '/usr/sbin', split /:/, $ENV{PATH};
plan skip_all => 'Apache with mod_perl is not installed'
    if !$httpd || !-e "$modules/mod_perl.so" || !-e "$modules/mod_mpm_prefork.so";

my $top = getcwd();
my $folder = folder();
chmod 0777, $folder; # the server's children run as somebody else
my $probe = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1') or die "no port: $!";
my $port = $probe->sockport;
close $probe;

sub put {
    my ($name, $text) = @_;
    open my $fh, '>', "$folder/$name" or die "$name: $!";
    print $fh $text;
    close $fh or die "$name: $!";
    return;
}

put('Hello.pm', <<'PERL');
package Hello;
use strict;
use Apache2::RequestRec ();
use Apache2::RequestIO ();
sub work { return 'hello' }
sub handler { my $r = shift; $r->content_type('text/plain'); $r->print(work()); return 0 }
1;
PERL
put('httpd.conf', <<"CONF");
ServerRoot $folder
ServerName localhost
PidFile $folder/httpd.pid
Listen 127.0.0.1:$port
ErrorLog $folder/error.log
DocumentRoot $folder
Mutex file:$folder
User nobody
Group nogroup
LoadModule mpm_prefork_module $modules/mod_mpm_prefork.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule perl_module $modules/mod_perl.so
StartServers 1
MinSpareServers 1
MaxSpareServers 1
MaxConnectionsPerChild 3
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

sub get {
    for my $attempt (1 .. 50) {
        my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 5);
        if ($socket) {
            print $socket "GET /hello HTTP/1.0\r\n\r\n";
            local $/;
            my $answer = <$socket>;
            return $1 if defined $answer && $answer =~ /\r\n\r\n(.*)\z/s;
        }
        select undef, undef, undef, 0.2;
    }
    return 'no answer';
}

local $ENV{NYTPROF} = "file=$folder/server.out";
is(system($httpd, '-f', "$folder/httpd.conf"), 0, 'the server starts under the profiler');
is_deeply([map { get() } 1 .. 5], [('hello') x 5], 'it answers');
my $pid = -e "$folder/httpd.pid" ? slurp("$folder/httpd.pid") + 0 : 0;
kill TERM => $pid if $pid > 1;
for (1 .. 50) {
    last if !-e "$folder/httpd.pid";
    select undef, undef, undef, 0.2;
}
ok(!-e "$folder/httpd.pid", 'and ends');

my @profiles = sort glob "$folder/server.out*";
cmp_ok(scalar @profiles, '>=', 3, 'every process has left a profile') or diag slurp("$folder/error.log");
my ($whole, $calls) = (0, 0);
for my $path (@profiles) {
    my $profile = Devel::NYTProf::Data->new({filename => $path, quiet => 1, partial => 1});
    $whole++ if $profile->attributes->{complete};
    my $work = $profile->subname_subinfo_map->{'Hello::work'};
    $calls += $work->calls if $work;
}
is($whole, scalar @profiles, 'which is whole');
is($calls, 5, 'and together they have all requests');
my ($status, $out, $err) = run_script('nytprofmerge', '-o', "$folder/all.out", @profiles);
is("$status$out$err", 0, 'they can be merged');
is(Devel::NYTProf::Data->new({filename => "$folder/all.out", quiet => 1})
        ->subinfo_of('Hello::work')->calls, 5, 'into one profile of the server');

done_testing();
