# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Steering a running program from outside: nytp-ctl, the socket, the signal; checkpoint and rotate.

use lib 't/lib';
use NYTPTest;

use Config;
use IO::Socket::UNIX;
use POSIX ();

my @OURS = ours();
my $CTL  = root() . '/bin/nytp-ctl';

# A program that works until the file "stop" is there. Each line that it prints is an event.
my $WORK = <<'P';
$| = 1;
sub leaf { 1 }
sub work { leaf() for 1 .. 10; select undef, undef, undef, 0.005 }
sub run { work() while !-e 'stop' }
P

# One that does nothing else. Two children of a program that work, and whose end it waits for.
my $RUNS = $WORK . 'print "runs\n"; run();';
my $TWO_CHILDREN = <<"P";
my \@pid = map {
    my \$p = fork // die;
    if (!\$p) { $WORK run(); exit }
    \$p
} 1, 2;
\$| = 1; print "\@pid\n"; wait for \@pid; print "end\n";
P

# Waits until there is something in the FIFO "gate".
my $GATE = 'use POSIX (); POSIX::mkfifo("gate", 0600); sysopen my $gate, "gate", 2 or die;';

# Ends the program: its status, what it said and what it printed last.
sub end { return join '', end_prog($_[0]) }

# A program that works answers however busy the machine.
sub ctl {
    my (@args) = @_;
    return ctl_in('/', @args, (grep { $_ eq '--wait' } @args) ? () : ('--wait', 60)) =~ s/\n\z//r;
}

# A client that says this, if anything, and what it is told until the other side hangs up.
sub connected {
    my ($run, $says) = @_;
    my $socket = IO::Socket::UNIX->new(Peer => "$run->{dir}/ctl") or die "$run->{dir}/ctl: $!";
    readline $socket; # the greeting
    syswrite $socket, $says if defined $says;
    return $socket;
}
sub told { my ($socket) = @_; return join '', readline $socket }

sub whole { my ($file, $label) = @_; return whole_in(undef, "$label: whole, sums right", $file) }

scenario 'on, checkpoint, rotate, off, and how it stands' => sub {
    my $run = begin_prog("$RUNS print qq(end\n);", 'start=no:control=ctl.%p');
    my ($dir, $pid) = @$run{qw(dir pid)};
    is sprintf('%o', (stat "$dir/ctl.$pid")[2] & 07777), '600', 'nobody else gets in';
    like ctl($pid, 'status'), qr/^0 pid $pid off; /, 'off at first';
    is ctl("$dir/ctl.$pid", 'on'), "0 on $dir/nytprof.out", 'on, by path';
    like ctl($pid, 'status'), qr{^0 pid $pid recording into $dir/nytprof.out since \d\d:\d\d:\d\d \(\d+ s\), \d+ kB; }, 'which is told';
    like ctl($pid, 'on'), qr/^0 is on already/, 'twice';
    is ctl($pid, 'checkpoint'), "0 $dir/nytprof.out.checkpoint", 'a checkpoint';
    my $before = whole("$dir/nytprof.out.checkpoint", 'checkpoint');
    ok scalar(grep { /main::run \S+ main::work/ } arc_lines($before)), 'has the sub that was open all the time';
    is ctl($pid, 'checkpoint'), "0 $dir/nytprof.out.checkpoint", 'another in its place';
    is ctl($pid, 'rotate'), "0 goes on in $dir/nytprof.out.2", 'the next file';
    is ctl($pid, 'rotate', "$dir/named.out"), "0 goes on in $dir/named.out", 'and one by name';
    is ctl($pid, 'rotate', "$dir/no/x"), "1 nytp-ctl: $dir/ctl.$pid: cannot open $dir/no/x: No such file or directory; the profile goes on in $dir/named.out", 'one that cannot be';
    like ctl($pid, 'status'), qr{^0 pid $pid recording into $dir/named.out since }, 'it does';
    is ctl($pid, 'off'), "0 off $dir/named.out", 'off';
    is ctl($pid, 'rotate'), "1 nytp-ctl: $dir/ctl.$pid: nothing is being recorded", 'nothing to rotate';
    whole("$dir/$_", $_) for 'nytprof.out', 'nytprof.out.2', 'named.out';
    is end($run), "0end\n", 'the program saw nothing of it';
    ok !-e "$dir/ctl.$pid", 'and leaves no socket';
};

scenario 'on, where the file cannot be opened, tells why, and works when it can' => sub {
    for my $opts ('start=no:file=no/x', 'sample=1000:file=x') {
        my $run = begin_prog($WORK . "print \"runs\\n\"; open STDERR, '>', 'said'; run(); print \"end\\n\";\n", "$opts:control=ctl.%p");
        my ($dir, $pid) = @$run{qw(dir pid)};
        my $file = $opts =~ /sample/ ? "$dir/x.exact" : "$dir/no/x";
        mkdir $file or die if $opts =~ /sample/;
        like ctl($pid, 'on'), qr{^1 .*: cannot open \Q$file\E: (?:No such file|Is a dir)}, "$opts: why";
        $opts =~ /sample/ ? rmdir $file : mkdir "$dir/no" or die;
        is ctl($pid, 'on'), "0 on $file", "$opts: on";
        is ctl($pid, 'off'), "0 off $file", "$opts: off";
        whole($file, $opts);
        is end($run), "0end\n", "$opts: the program saw nothing of it";
    }
};

# Between two looks it has not run: the client, the thread that answers and the program have one processor. Half of all answers were wrong.
scenario 'a program that waits for a processor runs' => sub {
    plan skip_all => 'this system does not tell, or has no taskset' if !NYTPTest::sees_waits() || system('taskset -c 0 true 2>/dev/null') != 0;
    my $run = begin_prog('$| = 1; print "runs\n"; for my $n (1 .. 1e9) { my $x = 0; $x += $_ for 1 .. 1000; last if $n % 100 == 0 && -e "stop" }', 'start=no:control=ctl.%p');
    my $pid = $run->{pid};
    system "taskset -a -p -c 0 $pid >/dev/null";
    my @said = do { local $^X = "taskset -c 0 $^X"; map { ctl($pid, 'status') } 1 .. 30 };
    is join("\n", grep { !/; runs/ } @said), '', 'each time';
    is end($run), '0', 'runs';
};

scenario 'a program that sleeps is not woken' => sub {
    my $run = begin_prog("$WORK$GATE" . <<'P', 'start=no:control=ctl.%p');
vec(my $in = "", fileno $gate, 1) = 1; $! = 0; print "runs\n";
my $n = select $in, undef, undef, undef; print "$n $!\n"; run();
P
    my $pid = $run->{pid};
    ok await(sub { ctl($pid, 'stack') =~ /waits/ }), 'it sleeps';
    like ctl($pid, 'on', '--wait', '0.1'), qr/^3 pending/, 'pending';
    like ctl($pid, 'status'), qr/^0 pid $pid off; pending: on; /, 'which the status tells';
    like ctl($pid, 'rotate', '--wait', '0.1'), qr/^3 pending/, 'a newer command';
    like ctl($pid, 'status'), qr/^0 pid $pid off; pending: rotate; /, 'comes in its place';
    is ctl($pid, 'cancel'), '0 withdrawn', 'and can be withdrawn';
    is ctl($pid, 'cancel'), "1 nytp-ctl: $run->{dir}/ctl.$pid: nothing is pending", 'once';
    like ctl($pid, 'on', '--wait', '0.1'), qr/^3 pending/, 'pending again';
    put("$run->{dir}/gate", 'x');
    is scalar(readline $run->{out}), "1 \n", 'it slept to the end';
    ok await(sub { ctl($pid, 'status') !~ /pending/ }), 'then it woke';
    is ctl($pid, 'off'), "0 off $run->{dir}/nytprof.out", 'and obeyed then';
    is end($run), '0', 'runs';
};

my $SLEEPS = $GATE . 'sub waiter { sysread $gate, my $byte, 1 } print "runs\n"; waiter();';

scenario 'a program that executes nothing tells where it is' => sub {
    for my $opts ('start=no', 'sample=1000:sample_budget=0', 'file=x') {
        my $run = begin_prog("$WORK$SLEEPS\n", "$opts:control=ctl");
        my $pid = $run->{pid};
        my $line = 1 + $WORK =~ tr/\n//;
        ok await(sub { ctl($pid, 'stack') =~ /waits/ }), "$opts: it waits";
        my ($what, @frames) = split /\n/, ctl($pid, 'stack');
        like $what, qr{^0 pid $pid waits in CORE:sysread for \d+\.\d s(?:, fd \d+ \(\Q$run->{dir}\E/gate\))?$}, 'in what, and for how long';
        is join(' ', @frames), "  main::waiter prog.pl:$line   main::RUNTIME prog.pl:$line", 'the open calls';
        like ctl($pid, 'status'), qr/; waits in CORE:sysread for /, 'the status tells it, too';
        like ctl($pid, 'status'), qr{^0 pid $pid recording into \S+ since } if $opts ne 'start=no';
        put("$run->{dir}/gate", 'x');
        is end($run), '0', 'the program saw nothing of it';
    }
};

scenario 'one that works tells it, too' => sub {
    my $run = begin_prog($RUNS, 'start=no:control=ctl');
    ok await(sub { ctl($run->{pid}, 'stack') =~ /main::run prog.pl:4\n/ }), 'the stack';
    is end($run), '0', 'runs';
};

scenario 'a deadline that was asked of a program that sleeps is kept when it wakes' => sub {
    my $run = begin_prog("$WORK$SLEEPS run();\n", 'start=no:control=ctl');
    my ($dir, $pid) = @$run{qw(dir pid)};
    ok await(sub { ctl($pid, 'stack') =~ /waits/ }), 'it sleeps';
    like ctl($pid, 'on', '--seconds', '0.1', '--wait', '0.1'), qr/^3 pending/, 'pending, and nobody waits';
    put("$dir/gate", 'x');
    ok await(sub { -e "$dir/nytprof.out" && ctl($pid, 'status') =~ /^0 pid $pid off; [^p]/ }), 'it was on, and is off';
    whole("$dir/nytprof.out", 'the profile');
    is end($run), '0', 'runs';
};

scenario 'what nytp-ctl ignores from the start, as with nohup, does not end its on --seconds' => sub {
    plan skip_all => 'no /proc/PID/status' if !-r '/proc/self/status';
    my $run = begin_prog($RUNS, 'start=no:control=ctl');
    my ($dir, $pid) = @$run{qw(dir pid)};
    my $asker = fork // die;
    if (!$asker) {
        @SIG{qw(INT TERM HUP)} = qw(IGNORE DEFAULT IGNORE);
        open STDOUT, '>', "$dir/said" or die;
        exec $^X, @OURS, $CTL, $pid, qw(on --seconds 3600 --wait 60) or die;
    }
    my $handles = sub {
        my ($signal) = @_;
        my ($caught) = slurp("/proc/$asker/status") =~ /^SigCgt:\s+(\w+)/m;
        return hex(substr $caught, -8) >> $signal - 1 & 1;
    };
    ok await(sub { $handles->(POSIX::SIGTERM()) }), 'TERM ends it';
    is join(' ', map { $handles->($_) } POSIX::SIGINT(), POSIX::SIGHUP()), '0 0', 'INT and HUP do not';
    kill TERM => $asker;
    waitpid $asker, 0;
    is "$? " . slurp("$dir/said"), "0 on $dir/nytprof.out\noff $dir/nytprof.out\n", 'it has ended the recording';
    is end($run), '0', 'runs';
};

scenario 'names of files steer no terminal, whoever tells them' => sub {
    my $run = begin_prog($RUNS, "start=no:control=ctl:file=\e[31m\xc2\x9b");
    my ($dir, $pid) = @$run{qw(dir pid)};
    is ctl($pid, 'on', '--seconds', 0.01), "0 on $dir/?[31m?\noff $dir/?[31m?", 'on for a while';
    is end($run), '0', 'runs';
};

scenario 'children have sockets and profiles of their own' => sub {
    my $run = begin_prog($TWO_CHILDREN, 'start=no:control=ctl');
    my $dir = $run->{dir};
    ok await(sub { 2 == (() = glob "$dir/ctl.*") }), 'two more sockets';
    for my $socket (glob "$dir/ctl.*") {
        my ($pid) = $socket =~ /(\d+)\z/;
        is ctl($pid, 'on', '--seconds', '0.2'), "0 on $dir/nytprof.out.$pid\noff $dir/nytprof.out.$pid", 'recorded for a while';
        whole("$dir/nytprof.out.$pid", 'child');
    }
    is end($run), "0end\n", 'runs';
    is join(' ', glob "$dir/ctl*"), '', 'no socket is left';
};

# accept4() returns when a fork() that waits for it is done, or is kept waiting by the recorder, which yields meanwhile.
my $ACCEPTS_WHILE_FORKING = <<'C';
static volatile int accepted, is_forking, is_held, forked;
static void await(volatile int *one, volatile int *other) { for (int ms = 0; !*one && !*other; usleep(1000)) if (ms++ == 60000) abort(); }
int accept4(int fd, void *address, void *len, int flags)
{
    const int client = ((int (*)())dlsym(RTLD_NEXT, "accept4"))(fd, address, len, flags);
    accepted = 1;
    await(&forked, &is_held);
    return client;
}
int sched_yield(void) { is_held = is_forking; return usleep(0); }
int fork(void)
{
    await(&accepted, &accepted);
    is_forking = 1;
    const int child = ((int (*)())dlsym(RTLD_NEXT, "fork"))();
    return forked = 1, child;
}
C

scenario 'a child has no client of its parent, be it let in while the program forks' => sub {
    plan skip_all => 'Linux has accept4() and /proc; a sanitizer is to be preloaded alone' if $^O ne 'linux' || sanitized();
    (undef, local $ENV{LD_PRELOAD}) = preloaded($ACCEPTS_WHILE_FORKING);
    my $run = begin_prog($WORK . <<'P', 'start=no:control=ctl');
print "runs\n";
if (my $pid = fork) { waitpid $pid, 0 }
else { work(); print scalar grep { (readlink // "") =~ /^socket/ } glob "/proc/self/fd/*" }
P
    my $client = connected($run);
    is end($run), '01', 'its only socket is its own';
};

scenario 'a family is told at once, and listed' => sub {
    my $run = begin_prog('$0 = "prog.pl \e[31m\xc2\x9b";' . $TWO_CHILDREN, 'start=no:control=ctl');
    my ($dir, $pid) = @$run{qw(dir pid)};
    my @workers = $run->{first} =~ /\d+/g;
    ok await(sub { 2 == (() = glob "$dir/ctl.*") }), 'they listen';
    my ($on, @on) = split /[ \n]/, ctl('--children', $workers[0], 'on');
    is "$on @on", "0 $workers[0] on $dir/nytprof.out.$workers[0]", 'one without children is its own family';
    my $list = ctl('list');
    like $list, qr/^ *$_ +$pid  \S.* prog\.pl \?\[31m\?$/m, "$_ is in the list, and steers no terminal" for @workers;
    like $list, qr/^ *$workers[0] +$pid  .*\Q$dir\E/m, 'with its file';
    my %answers = map { /\A(?:0 )?(\d+) (.*)/ ? ($1 => $2) : () } split /\n/, ctl('--children', $pid, 'status', '--wait', 60);
    is_deeply [sort { $a <=> $b } keys %answers], [sort { $a <=> $b } $pid, @workers], 'all three answer' or diag explain \%answers;
    my ($status) = ctl('--children', $workers[1], 'rotate', 'x') =~ /\A(\d+)/;
    is $status, 2, 'a name is of one process';
    is end($run), "0end\n", 'runs';
};

scenario 'where the system has no list of sockets, a process id is not taken for one' => sub {
    my $code = '$^O = "darwin"; @ARGV = qw(%s); $0 = "nytp-ctl"; do "%s"; die';
    my @elsewhere = map { my $program = sprintf $code, $_, $CTL; scalar qx{$^X @OURS -e '$program' 2>&1} } "$$ status", 'list';
    is $_, "nytp-ctl: darwin does not tell the sockets of a process: name the socket (NYTPROF=control=PATH)\n", 'it is told'
        for @elsewhere;
};

# A socket, at which main waits for two threads that work, each with lines of its own in the answer.
scenario 'threads obey, each for itself; one that sleeps when it wakes' => sub {
    plan skip_all => 'this perl has no threads' if !$Config{useithreads};
    for my $opts ('start=no', 'sample=1000:sample_budget=0') {
        my $is_sampled = $opts =~ /sample/;
        my $run = begin_prog("use threads;\n$WORK" . <<'P', "$opts:control=ctl");
sub main_goes_on { leaf(); open my $rounds, ">>", "rounds"; print $rounds "x" }
sub run_alone { select undef, undef, undef, 0.005; main_goes_on() }
my @workers = map { threads->create("run") } 1, 2;
print "runs\n";
$_->join for @workers;
run_alone() while !-e "end";
print "end\n";
P
        my ($dir, $pid) = @$run{qw(dir pid)};
        my $name = sub { my ($n) = @_; return 'nytprof.out' . ($n ? ".t$n" : '') . ($is_sampled ? '.exact' : '') };
        my @workers = map { "thread $_: on $dir/" . $name->($_) } 1, 2;
        is ctl($pid, 'on'), join("\n", '0 sleeps, and obeys when it wakes', @workers), "$opts: on";
        my ($main, @threads) = split /\n/, ctl($pid, 'status');
        like $main, qr/^0 pid $pid \w+(?: into \S+ since .*)?; pending: on; /, 'status: main waits for them';
        like join("\n", @threads), qr{\A@{[ join ".*\n", map { "pid $pid thread $_ recording into \Q$dir\E/" . $name->($_) . ' since' } 1, 2 ]}}, 'and each is recorded';
        is ctl($pid, 'checkpoint'), join("\n", '0 sleeps, and obeys when it wakes', map { "thread $_: $dir/" . $name->($_) . '.checkpoint' } 1, 2), 'checkpoint';
        like ctl($pid, 'rotate'), qr/^thread 2: goes on in \S+2\z/m, 'rotate';
        like ctl($pid, 'off'), qr/^thread 1: off \S+\nthread 2: off \S+\z/m, 'off';
        is ctl($pid, 'on') =~ s/.*\n//r, join("\n", map {"$_.3"} @workers), 'on again';
        put("$dir/stop", '');
        ok await(sub { ctl($pid, 'status') =~ /\A0 pid $pid recording into .*\z/ }), 'the threads have ended';
        my $round = -s "$dir/rounds";
        ok await(sub { -s "$dir/rounds" > $round + 2 }), 'main goes on';
        is ctl($pid, 'off'), "0 off $dir/" . $name->(0), 'main has obeyed what was asked last when it woke';
        open my $fh, '>', "$dir/end" or die;
        is end($run), "0end\n", 'and runs to its end';
        for my $n (1, 2) {
            my @files = map { $name->($n) . $_ } '', '.checkpoint', '.2', '.3';
            my @profiles = map { whole("$dir/$_", $_) } @files;
            is scalar(grep { n_calls($_, 'main::work') } @profiles), 4, "thread $n: all have its calls";
        }
        my $of_main = whole("$dir/" . $name->(0), 'main');
        ok n_calls($of_main, 'main::main_goes_on'), 'main: what it did when it woke';
    }
};

scenario 'keep=N: of the files that rotate has finished the last N stay' => sub {
    my $run = run_prog(opts => 'keep=2', code => <<'P');
sub f { 1 }
f();
for (1 .. 5) { rename "nytprof.out.4", "mine" if $_ == 5; DB::rotate_profile() or die; f() }
if (my $pid = fork) { waitpid $pid, 0 }
else { f(); DB::rotate_profile(), f() for 1 .. 3; exit }
P
    is "$run->{status}$run->{err}", '0', 'runs';
    my ($child) = map { /\.(\d{3,})(?:\.\d+)?\z/ ? $1 : () } glob "$run->{dir}/nytprof.out.*";
    is join(' ', sort map { s{.*/}{}r =~ s/\Q$child\E/PID/r } glob "$run->{dir}/{mine,nytprof*}"),
        join(' ', sort 'mine', map { "nytprof.out.$_" } 5, 6, 'PID.2', 'PID.3', 'PID.4'), 'these stay, and one that was moved; a child counts its own';
    is scalar(() = glob "$run->{dir}/nytprof*"), 5, 'and no others';
    whole($_, $_) for glob "$run->{dir}/{mine,nytprof*}";
    $run = run_prog(opts => 'file=p.%t', code => <<'P');
my ($begun) = map { /(\d+)/ } glob "p.*";
select undef, undef, undef, 0.05 while time <= $begun;
$now = time; DB::rotate_profile(); print $now;
P
    my @times = map { /p\.(\d+)/ } glob "$run->{dir}/p.*";
    cmp_ok $times[-1], '>', $times[0], '%t: when the file was begun';
    cmp_ok $times[-1], '>=', $run->{out}, 'which is later';
};

scenario 'keep=N: a child forked after the end of a profile does not count its parent\'s' => sub {
    my $run = run_prog(opts => 'keep=2', code => <<'P');
DB::rotate_profile() for 1, 2;
DB::finish_profile(); $| = 1;
if (my $pid = fork) { waitpid $pid, 0; print grep { -e "nytprof.out$_" } "", ".2", ".3"; exit }
DB::enable_profile(); DB::rotate_profile() for 1, 2;
P
    is "$run->{out} $run->{status}", '.2.3 0', 'they stay';
    ok -e "$run->{dir}/nytprof.out", 'the first, too';
};

scenario 'keep=N, changed while the program runs' => sub {
    my $run = run_prog(opts => 'keep=1', code => <<'P');
sub to { DB::set_option(keep => $_[0]); DB::rotate_profile() or die for 1 .. $_[1]; print scalar(() = glob "nytprof.out*"), "\n" }
to(1, 3); to(50, 60); to(3, 1); to(0, 2);
P
    is "$run->{out}$run->{status}$run->{err}", "2\n51\n4\n6\n0", 'as many stay as it is then';
    whole($_, $_) for glob "$run->{dir}/nytprof*";
};

scenario 'control=1: in the folder for such things, or beside the profile' => sub {
    my $code = 'print join " ", map { s/$$/PID/r } grep { -S } glob "run%/* *"';
    my $dir = new_dir();
    mkdir "$dir/run%" or die;
    my $in = run_prog(dir => $dir, opts => 'start=no:control=1', env => { XDG_RUNTIME_DIR => "$dir/run%" }, code => $code);
    is "$in->{err}$in->{out}", 'run%/nytp.PID', 'XDG_RUNTIME_DIR';
    $in = run_prog(dir => $dir, opts => 'start=no:control=1:file=a%%b.%p', env => { XDG_RUNTIME_DIR => '' }, code => $code);
    is "$in->{err}$in->{out}", 'a%b.PID.ctl', 'without it';
};

scenario 'what is there already' => sub {
    my $dir = new_dir();
    my $code = 'print -S "ctl" ? 1 : 0';
    IO::Socket::UNIX->new(Local => "$dir/ctl", Listen => 1) or die; # closed at once
    my $run = run_prog(dir => $dir, opts => 'start=no:control=ctl', code => $code);
    is "$run->{status}$run->{err}$run->{out}", '01', 'a socket that was left behind is replaced';
    my $other = IO::Socket::UNIX->new(Local => "$dir/ctl", Listen => 1) or die;
    $run = run_prog(dir => $dir, opts => 'start=no:control=ctl', code => $code);
    like $run->{err}, qr/\ADevel::NYTProf: control=\S+ctl: there is something of that name; the program runs without it\n\z/, 'one that is in use is not';
    ok -S "$dir/ctl", 'it stays';
    close $other;
    unlink "$dir/ctl";
    symlink "$dir/elsewhere", "$dir/ctl" or die;
    $run = run_prog(dir => $dir, opts => 'start=no:control=ctl', code => $code);
    like $run->{err}, qr/there is something/, 'a link is not followed';
    ok -l "$dir/ctl" && !-e "$dir/elsewhere", 'nor replaced';
    $run = run_prog(dir => $dir, opts => 'start=no:control=' . 'x' x 200, code => $code);
    like $run->{err}, qr/a socket's name has at most \d+ bytes/, 'a name that is too long';
    my $long = "$dir/" . 'x' x 200;
    like ctl($long, 'status'), qr/\A1 nytp-ctl: \Q$long\E: a socket's name has at most \d+ bytes\z/, 'nytp-ctl says so as well';
    unlink "$dir/ctl";
    $other = IO::Socket::UNIX->new(Local => "$dir/ctl", Listen => 1) or die;
    my @waiting;
    while (1) { # until its queue is full
        socket my $client, PF_UNIX, SOCK_STREAM, 0 or die;
        $client->blocking(0);
        last if !connect $client, pack_sockaddr_un("$dir/ctl");
        push @waiting, $client;
    }
    $run = run_prog(dir => $dir, opts => 'start=no:control=ctl', code => $code);
    like $run->{err}, qr/there is something/, 'one whose owner lets nobody in is not waited for';
    unlink "$dir/ctl";
    $run = run_prog(dir => $dir, opts => 'start=no:control=ctl', code => 'rename "ctl", "old"; open my $fh, ">", "ctl"');
    is "$run->{status}$run->{err}" . -f "$dir/ctl", '01', 'what has got the name of ours meanwhile stays';
};

scenario 'lines that are no commands' => sub {
    my $run = begin_prog($RUNS, 'start=no:control=ctl');
    my $answer = sub { return told(connected($run, @_)) || 'closed' };
    is $answer->("x\n"), "error no such command\n", 'a word';
    is $answer->("one\n"), "error no such command\n", 'one that begins like one';
    is $answer->("\0\0\0\n"), "error no such command\n", 'bytes';
    is $answer->('x' x 600), 'closed', 'too long a line';
    my $half = connected($run, "on\n");
    shutdown $half, 1;
    is told($half), "ok on $run->{dir}/nytprof.out\n", 'one who says nothing more is answered all the same';
    my @idle = map { connected($run) } 1 .. 12;
    like ctl($run->{pid}, 'status'), qr/^0 pid/, 'those that say nothing keep nobody out';
    is join('', map { told($_) } @idle), '', 'and are let go of in the end';
    is end($run), '0', 'runs';
};

# The program tells when it has obeyed: the answer is due, but is sent up to 20 ms later.
scenario 'a command that was obeyed is answered, also if another comes before that' => sub {
    my $run = begin_prog('$| = 1; print "runs\n"; my $n = 1; until (-e "stop") { print $n++, "\n" if -e "first.$n" }', 'start=no:control=ctl');
    is told(connected($run, "on\n")), "ok on $run->{dir}/nytprof.out\n", 'on';
    my (@told, @want);
    for my $n (1 .. 10) {
        my ($first, $second) = map { connected($run) } 1, 2;
        syswrite $first, "rotate $run->{dir}/first.$n\n";
        readline $run->{out};
        syswrite $second, "rotate $run->{dir}/second.$n\n";
        push @told, told($first), told($second);
        push @want, map {"ok goes on in $run->{dir}/$_.$n\n"} qw(first second);
    }
    is join('', @told), join('', @want), 'both are';
    is end($run), '0', 'runs';
};

scenario 'descriptors have the numbers that they have without us' => sub {
    my $code = 'work() for 1 .. 9; sub work { 1 } opendir my $d, "/proc/self/fd"; print join " ", sort grep { /\d/ && $_ < 1000 } readdir $d';
    my $run = run_prog(opts => 'start=no:control=ctl', code => $code);
    is $run->{out}, run_plain(code => $code)->{out}, 'all that are low';
    my $shows = '$| = 1; sub work { 1 } work(); print "runs\n"; 1 while !-e "stop"; ' . $code;
    my ($plain, $steered) = map { begin_prog($shows, $_) } undef, 'start=no:control=ctl';
    my $client = connected($steered);
    is end($steered), end($plain), 'also while a client is there';
};

# It serves each client a line. When it has taken all numbers that the recorder had, it goes on to let
# the first clients in, and leaves the rest to a child. It tells the processor time of a sleep.
my $DAEMON = <<'P';
use IO::Socket::INET; use POSIX ();
my $listener = IO::Socket::INET->new(Listen => 20, LocalAddr => '127.0.0.1') or die;
sub serve { my $client = $listener->accept or die "accept: $!"; print $client "$_[0]
" }
POSIX::close($_) for grep { $_ != fileno $listener } 3 .. 5000;
POSIX::dup2(fileno $listener, $_) for 1000 .. 1023, 4000 .. 4095;
$| = 1; print $listener->sockport, "
";
while (!-e 'go') { select undef, undef, undef, 0.005 }
my $begun = (times)[0] + (times)[1]; select undef, undef, undef, 0.7; my $took = (times)[0] + (times)[1] - $begun;
serve('parent') for 1 .. 5;
my $pid = fork // die;
if (!$pid) { 1 while getppid() == $ARGV[0]; serve('child') for 1 .. 5; exit }
print $took < 0.2 ? "slept
" : "took $took s
";
P

scenario 'a program that closes every descriptor and takes their numbers is left in peace' => sub {
    for my $opts (undef, 'start=no:control=ctl', 'sample=1000:control=ctl') {
        my $run = begin_prog($DAEMON =~ s/\$ARGV\[0\]/\$parent/r =~ s/^/my \$parent = \$\$;\n/r, $opts);
        my ($port) = $run->{first} =~ /(\d+)/;
        ok await(sub { ctl($run->{pid}, 'status') =~ /\A0 pid/ }), 'it can be steered again' if $opts;
        my @clients = map { IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") or die } 1 .. 10;
        open my $go, '>', "$run->{dir}/go" or die;
        is join('', map { told($_) } @clients), "parent\n" x 5 . "child\n" x 5, ($opts // 'plain') . ': every client is served';
        is end($run), "0slept\n", 'and the program sleeps when it sleeps';
        is join(' ', glob "$run->{dir}/ctl*"), '', 'no socket is left';
    }
};

scenario 'a program with all the descriptors that it may have is not kept busy by a client' => sub {
    my $code = 'sub work { 1 } work() for 1 .. 9; my @all; while (open my $fh, "<", "/dev/null") { push @all, $fh } pop @all; '
        . 'socket my $client, 1, 1, 0 or die; connect $client, pack "Sa*", 1, "ctl" or die "$!"; '
        . 'my $begun = (times)[0] + (times)[1]; select undef, undef, undef, 0.7; print +(times)[0] + (times)[1] - $begun < 0.2 ? "slept" : "busy"';
    my $run = run_prog(opts => 'start=no:control=ctl', code => $code, shell => 'ulimit -n 40');
    is "$run->{status}$run->{err}$run->{out}", '0slept', 'it sleeps';
};

scenario 'a process that becomes another program, or ends behind perl\'s back, leaves no socket' => sub {
    my %code = (
        'exec' => 'exec "true"',
        'a child\'s exec' => 'if (!(my $pid = fork)) { work() for 1 .. 9; print "child"; exec "true" } else { waitpid $pid, 0 }',
        '_exit' => 'require POSIX; POSIX::_exit(0)',
    );
    for my $opts ('start=no', 'sample=1000', 'calls=1') {
        for my $name (sort keys %code) {
            my $run = run_prog(opts => "$opts:control=ctl", code => "sub work { 1 } work() for 1 .. 9; \$| = 1; print -S 'ctl' ? 'there' : 'none'; $code{$name}");
            like "$run->{status}$run->{err}$run->{out}", qr/\A0there(?:child)?\z/, "$opts, $name: runs";
            is join(' ', glob "$run->{dir}/ctl*"), '', 'nothing is left';
        }
    }
    my $run = run_prog(opts => 'start=no:control=ctl', code => 'no warnings; sub work { 1 } exec "./nothing"; work() for 1 .. 9; print -S "ctl" ? "there" : "none"');
    is $run->{out}, 'there', 'one that fails to become another program has it again';
};

scenario 'a program that ends while threads of it run leaves no socket' => sub {
    plan skip_all => 'perl without threads' if !$Config{useithreads};
    for my $opts ('start=no', 'sample=1000') {
        my $run = run_prog(opts => "$opts:control=ctl", code => 'use threads; threads->create(sub { sleep 100 })->detach; print -S "ctl" ? "there" : "none"; exit 3');
        is $run->{out}, 'there', "$opts: it was there";
        is $run->{status}, 3, 'its status';
        is join(' ', glob "$run->{dir}/ctl*"), '', 'nothing is left';
    }
};

# nytp-ctl, when the socket is so many seconds old.
sub ctl_of_age {
    my ($seconds, @args) = @_;
    my $code = 'my $now = shift(@ARGV) + (lstat $ARGV[1])[10]; no warnings; *Time::HiRes::time = sub () { $now }; do($0 = shift); die $@';
    my $out = qx{$^X @OURS -MTime::HiRes -e '$code' $seconds $CTL @args 2>&1};
    return ($? >> 8) . ' ' . $out =~ s/\n\z//r;
}

scenario 'a program that is killed leaves no socket with sigexit=, and else one that who asks there removes' => sub {
    for my $opts ('start=no', 'sample=1000', 'calls=1') {
        my $run = run_prog(opts => "$opts:control=ctl:sigexit=term", code => 'sub work { 1 } work() for 1 .. 9; $| = 1; print -S "ctl" ? "there" : "none"; kill TERM => $$; sleep 60');
        is "$run->{signal}$run->{err}$run->{out}", '15there', "$opts: it runs and is killed";
        ok !-e "$run->{dir}/ctl", 'without a socket';
    }
    my $run = run_prog(opts => 'start=no:control=ctl', code => 'kill KILL => $$');
    my $ctl = "$run->{dir}/ctl";
    is ctl_of_age(1, $ctl, 'status'), "1 nytp-ctl: $ctl: Connection refused", 'one that may be about to be listened to stays';
    ok -S $ctl, 'there';
    is ctl_of_age(3, $ctl, 'status'), "1 nytp-ctl: $ctl: the program was killed; its socket is removed", 'one that nobody listens to does not';
    ok !-e $ctl, 'at all';
    my $live = begin_prog($RUNS, 'start=no:control=ctl');
    like ctl_of_age(1000, "$live->{dir}/ctl", 'status'), qr/^0 pid $live->{pid} off/, 'that of a program that lives is asked';
    is end($live), '0', 'and stays';
    my $silent = IO::Socket::UNIX->new(Local => "$run->{dir}/silent", Listen => 1) or die $!;
    is ctl_of_age(1, "$run->{dir}/silent", 'status'), "1 nytp-ctl: $run->{dir}/silent: no profiler answers there", 'another program that says nothing is no profiler';
};

# A process that stands in for a program: it does this with each client at the socket.
sub stand_in {
    my ($path, $serve) = @_;
    my $pid = fork // die;
    if (!$pid) {
        my $listener = IO::Socket::UNIX->new(Local => $path, Listen => 5) or die $!;
        while (my $client = $listener->accept) {
            syswrite $client, "nytp $$\n";
            my $line = readline $client;
            $serve->($client);
            close $client;
        }
    }
    await(sub { -S $path });
    return $pid;
}

scenario 'what was asked of one process is not asked of the next that has its socket' => sub {
    my $path = new_dir() . '/ctl';
    my @pids = stand_in("$path.next", sub { print { $_[0] } "ok $path\n" });
    push @pids, stand_in($path, sub { rename "$path.next", $path; print { $_[0] } "ok on x\n" });
    is ctl($path, 'on', '--seconds', 0.01), "1 nytp-ctl: $path: is another process's by now\non x", 'it is told';
    kill TERM => @pids;
    waitpid $_, 0 for @pids;
};

scenario 'nor does what is no profiler, but says so' => sub {
    my $path = new_dir() . '/ctl';
    my $pid = stand_in($path, sub { print { $_[0] } "error \e[31m\n" });
    is ctl($path, 'on'), "1 nytp-ctl: $path: ?[31m", 'an error';
    is ctl($path, 'heap'), "1 nytp-ctl: $path: ?[31m", 'also of heap' if -x root() . '/bin/nytp-spy';
    kill TERM => $pid;
    waitpid $pid, 0;
};

# The second thread has recorded nothing, and another one has come since, when it forks.
scenario 'the child of a thread can be steered' => sub {
    plan skip_all => 'this perl has no threads' if !$Config{useithreads};
    my $run = begin_prog("use threads; use POSIX ();\n$WORK" . <<'P', 'start=no:control=ctl');
pipe my $r, my $w or die;
my $forks = threads->create(sub {
    sysread $r, my $byte, 1;
    my $pid = fork // die;
    if (!$pid) { run(); POSIX::_exit(0) }
    print "$pid\n"; waitpid $pid, 0;
});
my $other = threads->create(sub { 1 }); syswrite $w, "x"; $_->join for $forks, $other; print "end\n";
P
    my ($pid) = $run->{first} =~ /(\d+)/;
    ok await(sub { -S "$run->{dir}/ctl.$pid" }), 'it has a socket';
    like ctl($pid, 'on'), qr/^0 \S* ?.*on $run->{dir}\S+\z/, 'and obeys';
    is end($run), "0end\n", 'runs';
};

scenario 'sigcontrol: a signal switches' => sub {
    my $run = run_prog(opts => 'start=no:sigcontrol=USR2', code => <<'P');
sub f { 1 }
sub toggle { kill USR2 => $$; 1 for 1 .. 3; }
toggle();
f() for 1 .. 4;
toggle();
f();
print join ',', defined $SIG{USR2};
P
    is "$run->{status}$run->{err}$run->{out}", '0', 'runs';
    my $p = whole("$run->{dir}/nytprof.out", 'profile');
    is join('', arc_lines($p, want => qr/main::f/)), 'main::RUNTIME 4 main::f x4', 'what ran in between';
    $run = run_prog(opts => 'sigcontrol=NONE', code => '1');
    like $run->{err}, qr/sigcontrol: 'NONE' is no signal/, 'a signal that there is not';
};

scenario 'DB::checkpoint_profile and DB::rotate_profile' => sub {
    for my $opts (matrix()) {
        my $run = run_prog(opts => $opts, code => <<'P');
sub f { g() } sub g { 1 }
sub inner { f(); print DB::checkpoint_profile() ? 1 : 0; f(); print DB::rotate_profile('two.out') ? 1 : 0; f(); 1 }
inner();
DB::rotate_profile();
f();
DB::disable_profile();
print DB::rotate_profile() ? 1 : 0;
P
        is "$run->{status}$run->{err}$run->{out}", '0110', "$opts: runs";
        my @p = map { whole("$run->{dir}/$_", "$opts: $_") } 'nytprof.out.checkpoint', 'nytprof.out', 'two.out', 'two.out.2';
        my @f = map { my $p = $_; join ' ', map { /main::f x(\d+)/ ? $1 : () } arc_lines($p) } @p;
        is "@f[0..3]", '1 2 1 1', "$opts: what each has";
    }
};

done_testing;
