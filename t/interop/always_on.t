#!/usr/bin/perl
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Real servers, starman and Mojolicious's hypnotoad, with four workers under load: each worker is
# recorded for a while from outside, not at all or by samples before and after. Each leaves whole
# profiles, every request is answered, and afterwards none takes longer than before.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Temp qw(tempdir);
use IO::Socket::INET;
use POSIX qw(:sys_wait_h);
use Test::More;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

use NYTPTest;
use WebServer qw(free_port put wait_until);

my $SECONDS = $ENV{EXTENDED_TESTING} || $ENV{CI} ? 1 : 0.5;
my @OURS    = map { "-I$_" } NYTPTest::lib_dirs('ours');
my $CTL     = root() . '/bin/nytp-ctl';
my $EXPORT  = root() . '/bin/nytp-export';

sub request {
    my ($port, $n) = @_;
    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 20) or return '';
    print {$socket} "GET /$n HTTP/1.0\r\nHost: localhost\r\n\r\n";
    local $/;
    return scalar(<$socket>) // '';
}

sub now { return clock_gettime(CLOCK_MONOTONIC) }

# Clients that ask until the file "stop" is there; each tells how many were answered as they should be,
# and how many were not, and writes when each request began and how long it took.
sub clients {
    my ($dir, $port, $n) = @_;
    return map {
        my $client = $_;
        open my $from, '-|' // die or do {
            my ($good, $bad) = (0, 0);
            open my $times, '>', "$dir/times.$client" or die;
            while (!-e "$dir/stop") {
                my $number = $client * 1_000_000 + $good + $bad;
                my $from = now();
                request($port, $number) =~ /\r\n\r\nanswer $number\z/ ? $good++ : $bad++;
                syswrite $times, sprintf "%.6f %.6f\n", $from, now() - $from;
            }
            print "$good $bad\n";
            POSIX::_exit(0) if close STDOUT;
        };
        $from
    } 1 .. $n;
}

# How many requests that began at this moment or later have been answered.
sub answered_since {
    my ($dir, $from) = @_;
    return scalar grep { (split)[0] >= $from } map { split /\n/, NYTPTest::slurp($_) } glob "$dir/times.*";
}

sub ctl_pids {
    my ($dir) = @_;
    return map { m{/ctl\.(\d+)\z} ? $1 : () } glob "$dir/ctl.*";
}

# The profiles of a worker, the first of which is of the time while it was on.
sub look_at_worker {
    my ($dir, $worker, $suffix, $handler) = @_;
    my $p = profile_in({ dir => $dir }, "prof.$worker$suffix");
    is $p ? join('; ', check_sums($p)) : 'no profile', '', "worker $worker: a whole profile";
    my @arcs = $p ? grep { $_->{callee} =~ $handler } @{ $p->{arc} } : ();
    ok !(grep { $_->{caller} eq 'main::RUNTIME' } @arcs), 'requests are in the server\'s stack';
    my $calls = 0;
    $calls += $_->{count} for @arcs;
    return $calls;
}

sub end_samples {
    my ($dir, $worker) = @_;
    my $said = qx{$^X @OURS $CTL $worker off --wait 60};
    is $said, "off $dir/prof.$worker\n", "worker $worker: samples end amid requests";
    return;
}

sub is_sampled_whole {
    my ($dir, $worker) = @_;
    my $p = profile_in({ dir => $dir }, "prof.$worker");
    is $p && $p->{attr}{sampled}, 1, "worker $worker: is sampled before and after";
    my $said = qx{$EXPORT --check $dir/prof.$worker 2>&1};
    is $?, 0, 'in a whole profile' or diag $said;
    return;
}

sub try_server {
    my ($name, $dir, $port, $pid, $handler, $is_sampled) = @_;
    ok wait_until(sub { request($port, 1) =~ /answer 1/ }), "$name answers" or diag NYTPTest::slurp("$dir/log");
    ok wait_until(sub { ctl_pids($dir) >= 5 }), 'each worker has a socket, and so has the master';
    my @clients = clients($dir, $port, 4);
    my @workers = grep { $_ != $pid->() } ctl_pids($dir);
    is scalar(@workers), 4, 'four workers';
    my $began = now();
    wait_until(sub { answered_since($dir, $began) >= 100 });
    my @on = map { my $worker = $_; open my $from, '-|', $^X, @OURS, $CTL, $worker, 'on', '--seconds', $SECONDS, '--wait', 60 or die; $from } @workers;
    my @said = map { join '', <$_> } @on;
    is scalar(grep { m{\Aon (\S+)\noff \1\n\z} } @said), 4, 'each recorded and stopped' or diag @said;
    my $switched_off = now();
    wait_until(sub { answered_since($dir, $switched_off) >= 100 });
    end_samples($dir, $_) for $is_sampled ? @workers : ();
    put("$dir/stop", '');
    my ($good, $bad) = (0, 0);
    for my $client (@clients) {
        my ($g, $b) = split ' ', scalar(<$client>) // '0 1';
        $good += $g;
        $bad  += $b;
    }
    is $bad, 0, "all of $good requests were answered";
    cmp_ok $good, '>', 20, 'and there was load';
    my $calls = 0;
    $calls += look_at_worker($dir, $_, $is_sampled ? '.exact' : '', $handler) for @workers;
    cmp_ok $calls, '>', 0, "$calls requests are in the profiles";
    is_sampled_whole($dir, $_) for $is_sampled ? @workers : ();
    return;
}

my %env = (PERL5LIB => join(':', NYTPTest::lib_dirs('ours'), $ENV{PERL5LIB} // ()), PERL5OPT => '-d:NYTProf');

for my $is_sampled (0, 1) {

scenario 'starman' . ($is_sampled ? ', sampled' : '') => sub {
    plan skip_all => 'starman is not installed' if !eval { require Starman; 1 };
    my $dir  = tempdir('nytp-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my $port = free_port();
    put("$dir/app.psgi", "sub answer { my \$n = substr \$_[0]{PATH_INFO}, 1; return \"answer \$n\" }\nsub app { [200, ['Content-Type' => 'text/plain'], [answer(\@_)]] }\n\\&app;\n");
    my ($starman) = grep {-x} map {"$_/starman"} split /:/, $ENV{PATH};
    my $pid = fork // die;
    if (!$pid) {
        local @ENV{keys %env} = values %env;
        $ENV{NYTPROF} = ($is_sampled ? 'sample=100' : 'start=no') . ":file=$dir/prof.%p:control=$dir/ctl.%p";
        open STDOUT, '>', "$dir/log" and open STDERR, '>&', \*STDOUT or die;
        exec $^X, $starman, '--workers', 4, '--max-requests', 1_000_000, '--listen', "127.0.0.1:$port", '--disable-keepalive', "$dir/app.psgi" or POSIX::_exit(1);
    }
    try_server('starman', $dir, $port, sub {$pid}, qr/::answer\z/, $is_sampled);
    kill TERM => $pid;
    waitpid $pid, 0;
};

scenario 'hypnotoad' . ($is_sampled ? ', sampled' : '') => sub {
    plan skip_all => 'Mojolicious is not installed' if !eval { require Mojolicious; 1 };
    my $dir  = tempdir('nytp-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my $port = free_port();
    put("$dir/app.pl", "use Mojolicious::Lite -signatures;\napp->config(hypnotoad => { listen => ['http://127.0.0.1:$port'], workers => 4, spare => 0, pid_file => '$dir/pid' });\nsub answer (\$n) { \"answer \$n\" }\nget '/:n' => sub (\$c) { \$c->render(text => answer(\$c->param('n'))) };\napp->log->level('fatal');\napp->start;\n");
    my ($toad) = grep {-x} map {"$_/hypnotoad"} split /:/, $ENV{PATH};
    my $pid = fork // die;
    if (!$pid) {
        local @ENV{keys %env} = values %env;
        $ENV{NYTPROF} = ($is_sampled ? 'sample=100' : 'start=no') . ":file=$dir/prof.%p:control=$dir/ctl.%p";
        open STDOUT, '>', "$dir/log" and open STDERR, '>&', \*STDOUT or die;
        exec $^X, $toad, '-f', "$dir/app.pl" or POSIX::_exit(1);
    }
    try_server('hypnotoad', $dir, $port, sub {$pid}, qr/::answer\z/, $is_sampled);
    kill TERM => $pid;
    waitpid $pid, 0;
};

}

done_testing;
