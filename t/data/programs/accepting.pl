# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# A server that waits in accept(): as the last statement of a sub, as an argument, beside other
# builtins, twice in one statement, from a module. Its clients connect a moment after each other.
use strict;
use warnings;
use IO::Socket::INET;
use Socket;

my $server = IO::Socket::INET->new(Listen => 9, LocalAddr => '127.0.0.1', LocalPort => 0) or die;
my $address = sockaddr_in($server->sockport, INADDR_LOOPBACK);

sub last_of_sub { accept(my $client, $server) }
sub nothing { $_[0] }
sub around { my $n = 0; $n += last_of_sub() ? 1 : 0 for 1, 2; $n }

if (!fork) {
    for (1 .. 7) {
        select undef, undef, undef, 0.03;
        socket my $client, PF_INET, SOCK_STREAM, 0;
        connect $client, $address;
    }
    require POSIX;
    POSIX::_exit(0);
}
around();
nothing(accept(my $client, $server));
select(undef, undef, undef, 0.01) + accept($client, $server);
my @both = map { accept(my $client, $server) ? 1 : 0 } 1, 2;
$server->accept;
my $work = 0;
$work += $_ for 1 .. 1000;
