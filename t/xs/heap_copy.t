# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# nytp-ctl PID heap: a copy of the program is counted, of which the program sees nothing.

use lib 't/lib';
use NYTPTest;
use Extended;

use Config;
use Fcntl qw(:flock);
use IO::Socket::UNIX;

my @OURS = ours();
my $CTL  = root() . '/bin/nytp-ctl';
my $SPY  = root() . '/bin/nytp-spy';
plan skip_all => 'copies are made on Linux, x86-64 and arm64' if "$^O $Config{archname}" !~ /\Alinux (?:x86_64|aarch64)/;
plan skip_all => 'nytp-spy is not built' if !-x $SPY;

# A service whose cache grows when the file "more" comes. It obeys as long as it runs, and then tells what it saw of
# children: its handler, wait(), $?, and a child of its own.
my $SERVICE = <<'P';
use strict; use Fcntl ':flock'; $| = 1;
my $signals = 0;
$SIG{CHLD} = sub { $signals++ };
package My::Session { sub new { bless { id => $_[1], data => 'x' x 100 }, $_[0] } }
package My::App { our %sessions;
    sub answer { my ($n) = @_; $sessions{"k$n"}{deep} = My::Session->new($n); length $n } }
package main;
My::App::answer($_) for 1 .. 3000;
open my $lock, '>', 'lock' or die; flock $lock, LOCK_EX | LOCK_NB or die;
sub told { open my $to, '>', $_[0] or die; close $to }
sub saw { my $status = $? = 7; my $got = wait; "$signals signals, wait $got " . ($!{ECHILD} ? 'none' : "$!") }
print "runs\n";
my $grown = 0;
until (-e 'stop') {
    if (-e 'more' && !$grown++) { My::App::answer("more$_") for 1 .. 200; told('grown') }
    if (-e 'look') { unlink 'look'; print saw(), "\n" }
    exec $^X, '-e', '$| = 1; $SIG{CHLD} = sub { print "a signal\n" }; print "another, wait ", wait, "\n"; select undef, undef, undef, 0.01 until -e "stop"'
        if -e 'exec';
    select undef, undef, undef, 0.005;
}
print saw(), "\n";
my $pid = fork // die;
exit 3 if !$pid;
my $got = wait;
print $got == $pid ? "its own: " : "another: ", $? >> 8, "\n";
exit 5;
P
my $LAST = "0 signals, wait -1 none\nits own: 3\n";

sub begin {
    my ($opts, $code) = @_;
    my $run = begin_prog($code // $SERVICE, "$opts:control=ctl");
    is $run->{first}, "runs\n", "$opts: runs";
    return $run;
}

sub touch { put($_[0], "") }

# Its last words and its status.
sub end { my ($status, @said) = end_prog($_[0]); return join '', @said, $status >> 8 }
sub ctl { my ($run, @args) = @_; return ctl_in($run->{dir}, $run->{pid}, @args, '--wait', 60) }

# Somebody who lets the copy stand as long as this socket is open: (socket, the copy's id, what was said).
sub copied {
    my ($run, $enough) = @_;
    my $socket = IO::Socket::UNIX->new(Peer => "$run->{dir}/ctl") or die "$run->{dir}/ctl: $!";
    readline $socket;
    syswrite $socket, "heap\n";
    my $said = '';
    while ($said !~ ($enough // qr/\A(?=.*is a copy;[^\n]*\n)(?=.*^ready\n)|^error/ms)) { sysread $socket, $said, 500, length $said or last }
    return ($socket, $said =~ /process (\d+) is a copy/, $said);
}

sub is_there { return -d "/proc/$_[0]" }
sub children { my ($pid) = @_; return grep { slurp($_) =~ /\) \S $pid /  } grep { -r } glob '/proc/[0-9]*/stat' }

scenario 'two counts name what grew and what holds it, and the program goes on as before' => sub {
    for my $opts ('start=no', 'addpid=0', 'sample=1000', 'memory=1') {
        my $run = begin($opts);
        my $said = ctl($run, qw(heap -o before));
        like $said, qr/\A0 Values of process $run->{pid} at one moment, for which it stood still for \d+\.\d ms\n\z/, "$opts: before";
        touch("$run->{dir}/more");
        ok await(sub { -e "$run->{dir}/grown" }), 'grows';
        like ctl($run, qw(heap -o after)), qr/\A0 Values of/, 'after';
        like scalar `$SPY heap $run->{dir}/before $run->{dir}/after`,
            qr/^ +\+200 +\+\S+ kB +hash +My::Session\n +held by %My::App::sessions\{\.\.\.\}\{\.\.\.\}$/m, 'the class and the holder';
        like ctl($run, 'heap'), qr/^[\d,]+ values, .*^ +3,200 +\S+ kB +hash +My::Session\n +held by %My::App::sessions/ms, 'a table';
        ok await(sub { !children($run->{pid}) }), 'no zombie';
        is end($run), "${LAST}5", 'its output and status';
        next if $opts eq 'start=no';
        whole_in($run, 'the profile is whole');
    }
};

scenario 'a copy that stands is no child that the program sees' => sub {
    my $run = begin('start=no');
    my ($socket, $copy) = copied($run);
    ok is_there($copy), 'it stands';
    touch("$run->{dir}/look");
    is scalar readline $run->{out}, "0 signals, wait -1 none\n", 'while it stands';
    is_deeply [map { readlink } glob "/proc/$copy/fd/*"], [grep {/socket/} map { readlink } glob "/proc/$copy/fd/*"], 'it has closed all files';
    is scalar(() = glob "/proc/$copy/fd/*"), 1, 'but who asked';
    close $socket;
    ok await(sub { !is_there($copy) }), 'it ends, and is no zombie';
    touch("$run->{dir}/look");
    is scalar readline $run->{out}, "0 signals, wait -1 none\n", 'when it has ended';
    is end($run), "${LAST}5", 'its output and status';
};

scenario 'a count is whole or there is none, whenever the copy is killed' => sub {
    my $run  = begin('sample=1000', $SERVICE =~ s/1 \.\. 3000/1 .. 60_000/r);
    my %ways;
    for my $ms (0, 5, 10, 20, 40, 80, 160) {
        my ($socket, $copy) = copied($run);
        my $spy = fork // die;
        if (!$spy) {
            open STDERR, '>', "$run->{dir}/said" or die;
            exec $SPY, 'heap', $copy, '-o', "$run->{dir}/count";
        }
        select undef, undef, undef, $ms / 1000;
        kill KILL => $copy;
        waitpid $spy, 0;
        my $status = $?;
        ok await(sub { !is_there($copy) }), "killed after $ms ms: no zombie";
        my $is_whole = -e "$run->{dir}/count" && slurp("$run->{dir}/count") =~ /^60000\t\d+\thash\tMy::Session\t%My::App::sessions/m;
        my $error = slurp("$run->{dir}/said");
        my $is_refused = $status >> 8 == 1 && !-e "$run->{dir}/count" && $error =~ /\A[^\n]+\n\z/;
        ok $status ? $is_refused : $is_whole, "after $ms ms" or diag $error;
        unlink "$run->{dir}/count";
    }
    is end($run), "${LAST}5", 'its output and status';
};

scenario 'the program ends while the copy stands: nothing of it is held, and the values can be counted' => sub {
    my $run = begin('addpid=0');
    my ($socket, $copy) = copied($run);
    is end($run), "${LAST}5", 'its output has an end, and so has the program';
    open my $lock, '<', "$run->{dir}/lock" or die;
    ok flock($lock, LOCK_EX | LOCK_NB), 'its lock is free';
    like scalar `$SPY heap $copy`, qr/^ +3,000 +\S+ kB +hash +My::Session\n +held by %My::App::sessions/m, 'what it held';
    close $socket;
    ok await(sub { !is_there($copy) }), 'the copy ends';
    whole_in($run, 'the profile is whole');
};

scenario 'the program becomes another while the copy stands, which does not see it' => sub {
    my $run = begin('start=no');
    my ($socket, $copy) = copied($run);
    touch("$run->{dir}/exec");
    is scalar readline $run->{out}, "another, wait -1\n", 'the other program';
    ok !is_there($copy), 'the copy is gone';
    is end($run), '0', 'and no signal came';
};

scenario 'a file that cannot be written, and what is not for it' => sub {
    my $run = begin('start=no');
    like ctl($run, qw(heap -o /dev/full)), qr{\A4 Values of [^\n]*\nnytp-spy: /dev/full: [^\n]*No space left[^\n]*\n\z}, 'a full disk';
    like ctl($run, qw(heap -o no/x)), qr{\A4 Values of [^\n]*\nnytp-spy: no/x: [^\n]*No such file[^\n]*\n\z}, 'no folder';
    like ctl($run, qw(on -o x)), qr/\A2 nytp-ctl: --output is for heap/, 'on -o';
    like ctl($run, qw(heap --children)), qr/\A2 nytp-ctl: heap is for one process/, 'heap --children';
    like ctl($run, qw(heap x)), qr/\A2 nytp-ctl: only rotate takes a name/, 'heap NAME';
    ok await(sub { !children($run->{pid}) }), 'no copy is left';
    is end($run), "${LAST}5", 'its output and status';
};

scenario 'at most four copies stand at a time' => sub {
    my $run = begin('start=no');
    my @copies = map { [copied($run)] } 1 .. 4;
    is scalar(grep { is_there($_->[1]) } @copies), 4, 'four';
    like ctl($run, 'heap'), qr/\A1 nytp-ctl: \S+: its values are being counted 4 times already\n\z/, 'a fifth is refused';
    close $_->[0] for @copies;
    ok await(sub { !grep { is_there($_->[1]) } @copies }), 'they end';
    like ctl($run, 'heap'), qr/\A0 Values of/, 'and there is room';
    is end($run), "${LAST}5", 'its output and status';
};

scenario 'a program that waits is counted as it stands, and not copied when it wakes' => sub {
    my $run = begin('start=no', <<'P');
$| = 1;
package My::Kept { sub new { bless {}, shift } }
our @kept = map { My::Kept->new } 1 .. 500;
print "runs\n";
my $line = <STDIN>;
print "awake\n";
select undef, undef, undef, 0.01 until -e 'stop';
print "end\n";
P
    ok await(sub { slurp("/proc/$run->{pid}/stat") =~ /\) S / }), 'it waits';
    my $out = qx{$^X @OURS $CTL $run->{pid} heap --wait 1 2>&1};
    like $out, qr/\AProcess $run->{pid} has executed no Perl code for 1 s: its values as it stands, not in a copy\n/, 'is said';
    like $out, qr/^ +500 +\S+ kB +hash +My::Kept\n +held by \@main::kept/m, 'its values';
    print { $run->{in} } "\n";
    is scalar readline $run->{out}, "awake\n", 'it wakes';
    like ctl($run, 'status'), qr/\A0 pid $run->{pid} off; (?!pending)/, 'nothing is pending';
    ok !children($run->{pid}), 'and no copy stands';
    is end($run), "end\n0", 'its output and status';
};

scenario 'of a program with threads, also while the first waits for the others' => sub {
    plan skip_all => 'this perl has no threads' if !$Config{useithreads};
    my $run = begin('start=no', <<'P');
use threads; $| = 1;
package My::Kept { sub new { bless {}, shift } }
our @kept = map { My::Kept->new } 1 .. 500;
sub work { select undef, undef, undef, 0.005 until -e 'stop'; 1 }
my @threads = map { threads->create(\&work) } 1 .. 2;
print "runs\n";
$_->join for @threads;
P
    like ctl($run, 'heap'), qr/\A0 Values .*^ +1,500 +\S+ kB +hash +My::Kept\n +held by \@main::kept/ms, 'its values, and the copies that its threads have';
    ok await(sub { !children($run->{pid}) }), 'no zombie';
    is end($run), '0', 'its status';
};

done_testing;
