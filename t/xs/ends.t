# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# All ways in which a program can end or stop, in all ways of recording it: one table. In each cell the program's
# output, messages and status are those that it has without us, and on disk is what the table says:
#   whole    the recording has its end, with all calls (exact) or with samples
#   partial  it ends early, and nytp-export shows what came before
#   none     there is no file, or an empty one
# `perl -Mblib t/xs/ends.t --table` prints the table as it was found.

use lib 't/lib';
use NYTPTest;

use Config;
use POSIX ();
use Time::HiRes qw(sleep);

my $prints_table = grep { $_ eq '--table' } @ARGV;
my $library      = root() . '/blib/arch/auto/Devel/NYTProf/libnytp-malloc.so';
my @sample       = ('sample=1000:flush=3600'); # what is on disk is there because of the end
my %NUMBER;
@NUMBER{ split ' ', $Config{sig_name} } = split ' ', $Config{sig_num};

# The beginning of each program. A sampled one works until ten samples were due, at most for 5 s of processor time: the thread that takes them
# sleeps after each. Between two questions it works for some 30 ms without a system call, since a busy machine takes the processor away mostly
# in those. A test fails falsely where none of ten samples saw main::work. Chance: 2e-8 (1e-10 a program, of which there are 200)
my $WORKS = <<'P';
sub work { my $s = 0; $s += $_ for 1 .. 500; return $s }
sub busy { work() for 1 .. 100; sampled() if ($ENV{NYTPROF} || '') =~ /sample=/ }
sub sampled {
    local ($!, $_);
    my ($first, $now);
    do {
        work() for 1 .. 2000;
        $now = sleeps();
        $first = $now if !defined $first;
    } while -d "/proc/$$/task" && cpu() < 5 && (!defined $now || $now < $first + 10);
}
sub sleeps {
    for my $task (glob "/proc/$$/task/*") {
        return $1 if slurp("$task/comm") eq "nytp-ticks\n" && slurp("$task/status") =~ /^voluntary_ctxt_switches:\s+(\d+)/m;
    }
    return; # not on this system
}
sub slurp { open my $file, '<', $_[0] or return ''; local $/; return scalar <$file> }
sub ready { open my $ready, '>', 'ready' or die "ready: $!"; print $ready "$$\n" }
sub cpu { my @t = times; return $t[0] + $t[1] } # the kernel guesses how much of it was whose
P
my $BUSY = "\$| = 1; print \"1..1\\nok 1\\n\"; busy();\n";

sub of_term { return $_[0] eq 'TERM' ? () : (of => 'of TERM') }

# name, code, what is on disk; `sigexit`: what is there with sigexit=1, which nytp run and nytp prove set, if that is another;
# `of`: the row with the same end from another place in perl, which alone is tried in all modes.
my @ENDS = (
    [ 'falls off the end', '1;', 'whole' ],
    [ 'exit', 'exit 3;', 'whole' ],
    [ 'exit in a sub', 'sub out { exit 3 } out();', 'whole', of => 'exit' ],
    [ 'dies', '$! = 5; die "stop\n";', 'whole' ],
    [ 'dies in BEGIN', 'BEGIN { $| = 1; busy(); die "stop\n" }', 'whole', of => 'dies' ],
    [ 'dies in BEGIN first', undef, 'whole', first => 'BEGIN { die "stop\n" }', calls => 0, of => 'dies' ],
    [ 'exit in BEGIN', 'BEGIN { $| = 1; busy(); exit 4 }', 'whole', of => 'exit' ],
    [ 'does not compile', 'BEGIN { busy() } my $x = ;', 'whole', of => 'dies' ],
    [ 'exit in END', 'END { exit 5 }', 'whole', of => 'exit' ],
    [ 'dies in END', 'END { die "late\n" }', 'whole', of => 'dies' ],
    [ 'POSIX::_exit', 'use POSIX (); POSIX::_exit(6);', 'whole' ],
    [ 'POSIX::_exit, loaded late', 'require POSIX; POSIX::_exit(6);', 'whole', of => 'POSIX::_exit' ],
    [ 'POSIX::_exit, jumped to', 'use POSIX (); sub out { goto &POSIX::_exit } out(6);', 'whole', of => 'POSIX::_exit' ],
    [ 'POSIX::_exit, called by C code', 'use POSIX (); $SIG{__WARN__} = \&POSIX::_exit; warn "6\n";', 'whole', of => 'POSIX::_exit' ],
    [ 'POSIX::_exit in END', 'use POSIX (); END { POSIX::_exit(6) }', 'whole', of => 'POSIX::_exit' ],
    [ 'POSIX::_exit in a destructor', 'use POSIX (); our $o = bless []; sub DESTROY { POSIX::_exit(6) }', 'whole', of => 'POSIX::_exit' ],
    [ 'exec', 'exec "/bin/sh", "-c", "exit 8";', 'whole' ],
    [ 'exec fails', '{ no warnings; exec "./nosuch"; } exit 9;', 'whole', of => 'exit' ],
    [ 'abort', 'use POSIX (); POSIX::abort();', 'partial' ],
    (map { [ "killed by $_", "kill $_ => \$\$; sleep 9;", 'partial', sigexit => 'whole', of_term($_) ] } qw(TERM INT HUP SEGV BUS)),
    (map { [ "killed by $_", "kill $_ => \$\$; sleep 9;", 'partial', $_ eq 'ABRT' ? (of => 'abort') : () ] } qw(KILL ABRT)),
    (map { [ "handles $_", "\$SIG{$_} = sub { exit 7 }; kill $_ => \$\$; sleep 9;", 'whole', of_term($_) ] } qw(TERM INT HUP SEGV ABRT)),
    [ 'Ctrl-C twice', '$SIG{INT} = sub { print "once\n"; $SIG{INT} = "DEFAULT" }; kill INT => $ENV{HARNESS_ACTIVE} ? $$ : 0 for 1, 2; sleep 9;', 'partial' ],
    [ 'Ctrl-Z, then fg', 'kill TSTP => 0; print "on\n"; exit 3;', 'whole', stops => 1 ],
    [ 'nobody reads its output', 'pipe my $r, my $w; open STDOUT, ">&", $w; close $_ for $r, $w; print "lost"; exit 3;', 'partial', sigexit => 'whole' ],
    (map { my ($how, $code, @disk) = @$_; [ "a child $how", "my \$pid = fork; if (!\$pid) { busy(); $code } waitpid \$pid, 0; print \$?, qq(\\n); exit 3;", @disk, child => 1 ] }
        [ 'ends by exit', 'exit 4;', 'whole' ], [ 'ends by POSIX::_exit', 'require POSIX; POSIX::_exit(4);', 'whole', of => 'exit' ],
        [ 'is killed by KILL', 'kill KILL => $$; sleep 9;', 'partial' ], [ 'is killed by TERM', 'kill TERM => $$; sleep 9;', 'partial', sigexit => 'whole', of => 'KILL' ],
        [ 'becomes another program', 'exec "/bin/sh", "-c", "exit 8";', 'whole', of => 'exit' ]),
    [ 'the disk is full', 'exit 3;', 'none', full => 1 ],
    (map { [ "the command gets $_, handled", "\$SIG{$_} = sub { print qq($_\n); exit 7 }; ready(); sleep 9;", 'whole', sends => [$_] ] } qw(INT TERM HUP QUIT USR1 USR2)),
    (map { [ "the command gets $_", 'ready(); sleep 9;', 'whole', sends => [$_] ] } qw(INT TERM HUP)),
    # It is slow so that a nytp-prove that did not wait for the tests would be seen: it would end first.
    [ 'all of its group get INT, it ends slowly', '$SIG{INT} = sub { select undef, undef, undef, 0.5; exit 7 }; ready(); sleep 9;', 'whole', sends => ['-INT'] ],
    # The command stands still until the program has handled what it got itself: what comes again is handled again.
    (map { [ "all of its group get $_, handled", "\$SIG{$_} = sub { print qq($_\n); \$n++ }; \$SIG{TERM} = sub { exit 7 }; ready(); select undef, undef, undef, 0.01 until \$n; ready(); sleep 9; sleep 9;", 'whole',
            sends => [ 'STOP', "-$_", 'ready', 'CONT', 'TERM' ], harness => 0 ] }
        qw(INT QUIT HUP USR1)),
);

# How a program is recorded. `ends`: with sigexit=1; `one`: a parent and its children are in one file.
my %MODES = (
    exact            => { opts => '' },
    'sigexit=1'      => { opts => 'sigexit=1', ends => 1 },
    sample           => { opts => $sample[0] },
    'sample,sigexit' => { opts => "$sample[0]:sigexit=1", ends => 1 },
    memory           => { opts => 'memory=4k', env => -e $library ? { LD_PRELOAD => $library } : {} },
    control          => { opts => 'control=ctl' },
    run              => { opts => '', ends => 1, one => 1, command => [ root() . '/bin/nytp-run', '-q', '--' ] },
    prove            => { opts => '', ends => 1, one => 1, prove => 1, command => [ root() . '/bin/nytp-prove', '--nytp-quiet' ] },
);
my @always = ('exact', 'sigexit=1', 'sample', 'sample,sigexit');
my @modes  = ($ENV{EXTENDED_TESTING} || $ENV{CI} || $prints_table) ? (@always, qw(memory control run prove)) : @always;

sub program { my ($end) = @_; my ($name, $code, undef, %is) = @$end; return defined $is{first} ? "$is{first}\n" : "$WORKS$BUSY$code\n" }

# Continues a group of processes once all of it has stopped.
sub go_on_when_stopped {
    my ($group) = @_;
    my $stat = sub { open my $fh, '<', "/proc/$_[0]/stat" or return (); ((<$fh> // '') =~ /.*\) (\S) \d+ (\d+)/) };
    until (has_ended($group)) {
        my @states = map { my ($state, $of) = $stat->($_); defined $of && $of == $group ? $state : () } map { m{(\d+)} } glob '/proc/[0-9]*';
        last if @states && !grep { !/[TZ]/ } @states;
        sleep 0.005;
    }
    kill CONT => -$group;
    return;
}

# Once the program is ready, sends what the table says to the command, and to all of its group what has a minus; then waits where it says "ready". Returns the program's pid.
sub send_signals {
    my ($ready, $command, @signals) = @_;
    my $wait = sub { open my $fh, '<', $ready or die "$ready: $!"; my ($pid) = <$fh>; return $pid + 0 }; # to the end: the next writer opens it anew
    my $program = $wait->();
    for (@signals) {
        if    ($_ eq 'ready')                             { $wait->() }
        elsif ($program != $command || !/\A(?:STOP|CONT)\z/) { kill $_ => $command }
    }
    return $program;
}

sub run_it {
    my ($end, $mode) = @_;
    my (undef, undef, undef, %is) = @$end;
    my ($dir, $program) = new_dir();
    my $opts = join ':', grep { length } $mode->{opts} // (), $is{full} ? 'file=/dev/full' : ();
    my %run = (dir => $dir, files => { 'prog.pl' => program($end) }, env => $mode->{env} || {}, timeout => 60, how => $mode->{command} ? 'command' : '-d', switches => ['-I/nosuch']);
    $run{on_start} = \&go_on_when_stopped if $is{stops};
    $run{on_start} = sub { $program = send_signals("$dir/ready", $_[0], @{ $is{sends} }) } if $is{sends};
    POSIX::mkfifo("$dir/ready", 0600) or die "$dir/ready: $!" if $is{sends};
    $run{impl} = 'plain' if $mode->{plain};
    my $run = run_prog(%run, opts => $opts, args => [ @{ $mode->{command} || [] }, 'prog.pl' ]);
    $run->{left} = $program if $program && !has_ended($program);
    kill KILL => $run->{left} if $run->{left};
    return $run;
}

my %plain;

# Runs the program without us; below prove, where that runs it.
sub run_plainly {
    my ($end, $mode) = @_;
    my @prove = $mode->{prove} ? ('-MApp::Prove', '-e', '$p = App::Prove->new; $p->process_args(@ARGV); exit !$p->run') : ();
    return $plain{ $end->[0], @prove > 0 } //= run_it($end, { plain => 1, command => \@prove });
}

sub behaviour {
    my ($run) = @_;
    my $text = "status $run->{status}, signal $run->{signal}\n$run->{out}$run->{err}";
    return $text =~ s/\d+ wallclock.*//r;
}

# Returns what nytp-export makes of a file: its state, and how many calls or samples of main::work it holds.
sub state_of {
    my ($dir, $file) = @_;
    return ('none', 0) if !-s "$dir/$file";
    my $csv = run_perl(impl => 'plain', dir => $dir, args => [ '-e', 'exec @ARGV', root() . '/bin/nytp-export', '--csv', $file ]);
    my ($n) = $csv->{out} =~ /^main::work,[^,]*,\d+,(\d+)/m;
    ($n) = $csv->{out} =~ /^main::work,[^,]*,\d+,\d+,(\d+)/m if $csv->{out} =~ /\A.*,samples,/;
    return ({ 0 => 'whole', 3 => 'partial' }->{ $csv->{status} } // "status $csv->{status}", $n // 0);
}

sub check_cell {
    my ($end, $name, $mode) = @_;
    my ($what, undef, $expected, %is) = @$end;
    $expected = $is{sigexit} if $is{sigexit} && $mode->{ends};
    my $run = run_it($end, $mode);
    my $ours = $is{full} ? qr/Devel::NYTProf: .*No space left on device/ : qr/nytprofmerge: .*Profile data incomplete/;
    my $err = $run->{err} =~ s/^$ours.*\n//mgr;
    is behaviour({ %$run, err => $err }), behaviour(run_plainly($end, $mode)), "$what, $name: behaves as without us" or return 'changed';
    ok !$run->{left}, "$what, $name: nothing runs any more";
    my ($file) = $is{child} && !$mode->{one} ? map { s{.*/}{}r } grep {/out\.\d+\z/} glob "$run->{dir}/nytprof.out.*" : 'nytprof.out';
    my ($state, $n) = defined $file ? state_of($run->{dir}, $file) : ('none', 0);
    is $state, $expected, "$what, $name: on disk";
    return $state if $state ne 'whole';
    my $calls = ($is{calls} // 100) * ($is{child} && $mode->{one} ? 2 : 1);
    if ($mode->{opts} =~ /sample/) { cmp_ok $n, '>=', $calls > 0 ? 1 : 0, "$what, $name: samples" }
    else                           { is $n, $calls, "$what, $name: all calls" }
    return $state;
}

sub is_asked {
    my ($name, %is) = @_;
    my $mode = $MODES{$name};
    return 0 if $is{of} && !grep { $_ eq $name } @always;
    return $is{full} ? !$mode->{one} : $is{sends} ? $mode->{one} && ($is{harness} // 1 || !$mode->{prove}) : 1;
}

my %found;
for my $end (@ENDS) {
    my ($what, undef, undef, %is) = @$end;
    my @asked = grep { is_asked($_, %is) } @modes or next;
    scenario $what => sub {
        for my $name (@asked) {
            $found{$what}{$name} = check_cell($end, $name, $MODES{$name});
        }
    };
}
slow_scenario 'TERM comes to the command when it has just started the program' => sub {
    my $at_fork = 'my $n; *CORE::GLOBAL::fork = sub { my $pid = CORE::fork; kill TERM => $$ if $pid && !$n++; $pid }; 1';
    my $run = run_prog(how => 'command', files => { 'AtFork.pm' => $at_fork, 'prog.pl' => 'sleep 30; print "went on\n"' },
        switches => [ '-I.', '-MAtFork' ], args => [ @{ $MODES{run}{command} }, 'prog.pl' ], everyone => 1);
    is behaviour($run), "status 0, signal 15\n", 'both end';
};
if ($prints_table) {
    my ($width) = sort { $b <=> $a } map { length $_->[0] } @ENDS;
    printf "# %-${width}s" . ' %-14s' x @modes . "\n", 'end', @modes;
    printf "# %-${width}s" . ' %-14s' x @modes . "\n", $_->[0], map { $_ // '-' } @{ $found{ $_->[0] } }{@modes} for @ENDS;
}

done_testing;
