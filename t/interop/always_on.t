# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Real servers with two workers under load: each worker is recorded for some requests from outside.
# Before and after, Starman's are not recorded and those of Mojolicious's hypnotoad are sampled. Each
# leaves whole profiles, and every request is answered.

use lib 't/lib';
use NYTPTest;

use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);
use WebServer qw(find_command free_port get start_server stop_server wait_until);

my @OURS   = ours();
my $CTL    = root() . '/bin/nytp-ctl';
my $EXPORT = root() . '/bin/nytp-export';

sub now { return clock_gettime(CLOCK_MONOTONIC) }

# Clients that ask until the file "stop" is there; each tells how many were answered as they should be,
# and how many were not, and writes when each request began and how long it took.
sub clients {
    my ($dir, $server, $n) = @_;
    return map {
        my $client = $_;
        open my $from, '-|' // die or do {
            my ($good, $bad) = (0, 0);
            open my $times, '>', "$dir/times.$client" or die;
            while (!-e "$dir/stop") {
                my $number = $client * 1_000_000 + $good + $bad;
                my $from = now();
                get($server, "/$number") eq "200 answer $number" ? $good++ : $bad++;
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
    return scalar grep { (split)[0] >= $from } map { split /\n/, slurp($_) } glob "$dir/times.*";
}

sub ctl_pids {
    my ($dir) = @_;
    return map { m{/ctl\.(\d+)\z} ? $1 : () } glob "$dir/ctl.*";
}

# Returns nytp-export's answer about a worker's profile.
sub export {
    my ($dir, $profile, @options) = @_;
    my $said = qx{$EXPORT -q @options $dir/$profile 2>&1};
    is $?, 0, "$profile: @options" or diag $said;
    return $said;
}

# The profile of the time while a worker was on. Returns the calls of its handler.
sub look_at_worker {
    my ($dir, $profile) = @_;
    export($dir, $profile, '--check');
    my $stacks = export($dir, $profile, '--collapsed', '--weight=calls');
    unlike $stacks, qr/^[^;\n]*::answer\b/m, 'requests are in the server\'s stack';
    my $calls = 0;
    $calls += $_ for $stacks =~ /::answer (\d+)$/mg;
    return $calls;
}

sub end_samples {
    my ($dir, $worker) = @_;
    my $said = qx{$^X @OURS $CTL $worker off --wait 60};
    is $said, "off $dir/prof.$worker\n", "worker $worker: samples end amid requests";
    return;
}

sub try_server {
    my ($name, $dir, $server, $is_sampled) = @_;
    ok wait_until(sub { get($server, '/1') eq '200 answer 1' }), "$name answers" or diag slurp($server->{log});
    ok wait_until(sub { ctl_pids($dir) >= 3 }), 'each worker has a socket, and so has the master';
    my @clients = clients($dir, $server, 2);
    my @workers = grep { $_ != $server->{pid} } ctl_pids($dir);
    is scalar(@workers), 2, 'two workers';
    my $began = now();
    wait_until(sub { answered_since($dir, $began) >= 30 });
    is qx{$^X @OURS $CTL $_ on --wait 60}, "on $dir/prof.$_" . ($is_sampled ? '.exact' : '') . "\n", "worker $_ is recorded" for @workers;
    my $switched_on = now();
    wait_until(sub { answered_since($dir, $switched_on) >= 30 });
    like qx{$^X @OURS $CTL $_ off --wait 60}, qr/^off /, "worker $_ is no longer" for @workers;
    my $switched_off = now();
    wait_until(sub { answered_since($dir, $switched_off) >= 30 });
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
    $calls += look_at_worker($dir, "prof.$_" . ($is_sampled ? '.exact' : '')) for @workers;
    cmp_ok $calls, '>', 0, "$calls requests are in the profiles";
    for my $worker ($is_sampled ? @workers : ()) {
        export($dir, "prof.$worker", '--check');
        like export($dir, "prof.$worker", '--stats'), qr/sampled/, "worker $worker: is sampled before and after";
    }
    return;
}

# Starts a server, and tries it.
sub scenario_of {
    my ($name, $module, $is_sampled, $program, $arguments) = @_;
    scenario $name => sub {
        plan skip_all => "$module is not installed" if !eval "require $module";
        my ($dir, $port) = (new_dir(), free_port());
        put("$dir/app", $program =~ s/PORT/$port/r =~ s/DIR/$dir/r);
        my $nytprof = ($is_sampled ? 'sample=100' : 'start=no') . ":file=$dir/prof.%p:control=$dir/ctl.%p";
        my $server = start_server($dir, $port, $nytprof, find_command($name), (map {s/PORT/$port/r} @$arguments), "$dir/app");
        ok $server, 'it starts' or return;
        try_server($name, $dir, $server, $is_sampled);
        stop_server($server, 'TERM');
    };
    return;
}

scenario_of('starman', 'Starman', 0, <<'PROGRAM', [qw(--workers 2 --max-requests 1000000 --listen 127.0.0.1:PORT --disable-keepalive)]);
sub answer { my $n = substr $_[0]{PATH_INFO}, 1; return "answer $n" }
sub app { [200, ['Content-Type' => 'text/plain'], [answer(@_)]] }
\&app;
PROGRAM

scenario_of('hypnotoad', 'Mojolicious', 1, <<'PROGRAM', ['-f']);
use Mojolicious::Lite -signatures;
app->config(hypnotoad => { listen => ['http://127.0.0.1:PORT'], workers => 2, spare => 0, pid_file => 'DIR/pid' });
sub answer ($n) { "answer $n" }
get '/:n' => sub ($c) { $c->render(text => answer($c->param('n'))) };
app->log->level('fatal');
app->start;
PROGRAM

done_testing;
