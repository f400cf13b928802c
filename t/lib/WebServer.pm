# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package WebServer;

# A real web server under the profiler, on a free port of this machine's own address.

use strict;
use warnings;

use Exporter qw(import);
use IO::Socket::INET;
use POSIX qw(WNOHANG);

use NYTPTest ();

our @EXPORT_OK = qw(free_port find_command start_server get get_pid put run_app stop_server wait_until);

sub free_port {
    my $probe = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1') or die "no port: $!";
    return $probe->sockport;
}

# A server tells nobody that it listens, that its processes have gone, or that a worker is new: it is asked again.
*put        = \&NYTPTest::put;
*wait_until = \&NYTPTest::await;

sub find_command {
    my ($name) = @_;
    my ($path) = grep {-x} map {"$_/$name"} split /:/, $ENV{PATH};
    return $path;
}

# Returns all that a program prints in its folder; with options (NYTPROF) it is profiled.
sub run_app {
    my ($folder, $text, $nytprof) = @_;
    my $blib = NYTPTest::root() . '/blib';
    put("$folder/app.pl", $text);
    local $ENV{PERL5LIB} = join ':', "$folder/lib", "$blib/lib", "$blib/arch", $ENV{PERL5LIB} // ();
    local $ENV{NYTPROF} = $nytprof // '';
    my $switch = defined $nytprof ? '-d:NYTProf' : '';
    return scalar qx{cd $folder && $^X $switch app.pl 2>&1};
}

# {pid, port, log}: the command runs in $folder with our recorder, and answers.
sub start_server {
    my ($folder, $port, $nytprof, @command) = @_;
    my $blib = NYTPTest::root() . '/blib';
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
        chdir $folder or die $!;
        open STDOUT, '>>', 'server.log' or die $!;
        open STDERR, '>&', \*STDOUT or die $!;
        delete $ENV{PERL5DB};
        local $ENV{PERL5OPT} = '-d:NYTProf'; # hypnotoad starts perl anew
        local $ENV{NYTPROF} = $nytprof;
        local $ENV{PERL5LIB} = join ':', "$blib/lib", "$blib/arch", $ENV{PERL5LIB} // ();
        exec $^X, @command or POSIX::_exit(127);
    }
    my $server = {pid => $pid, port => $port, log => "$folder/server.log"};
    return $server if wait_until(sub { waitpid($pid, WNOHANG) == $pid || connection($server) })
        && kill 0 => $pid;
    return undef;
}

sub connection {
    my ($server) = @_;
    return IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $server->{port}, Timeout => 10);
}

# Status and body of a response; the connection is closed after it.
sub get {
    my ($server, $path) = @_;
    my $socket = connection($server) or return 'no connection';
    print $socket "GET $path HTTP/1.0\r\n\r\n";
    local $SIG{ALRM} = sub { die "no answer\n" };
    my $answer = eval { alarm 100; local $/; my $text = <$socket>; alarm 0; $text };
    alarm 0;
    return 'no answer' if !defined $answer;
    return $answer =~ m{\AHTTP/1\.\d (\d+).*?\r\n\r\n(.*)\z}s ? "$1 $2" : "odd: $answer";
}

# The process that answers.
sub get_pid {
    my ($server) = @_;
    return get($server, '/pid') =~ /\A200 (\d+)/ ? $1 : 0;
}

# How it ended: the status, or undef when it had to be killed.
sub stop_server {
    my ($server, $signal) = @_;
    kill $signal => $server->{pid};
    return $? if wait_until(sub { waitpid($server->{pid}, WNOHANG) == $server->{pid} });
    kill KILL => $server->{pid};
    waitpid $server->{pid}, 0;
    return undef;
}

1;
