# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Turning the profiler on and off, and every way in which a process ends or becomes two.

use lib 't/lib';
use NYTPTest;

sub arcs { return join '; ', arc_lines(@_, want => qr/^(?:main|DB|P)::/) }

my $F = "sub f { g() } sub g { 1 }\n";

# Programs that switch, finish, fork or end, each in half of the option matrix: NAME, PROGRAM, "STATUS OUTPUT", then for each
# file its calls, in which the name of a sub of main stands for itself; a "..." stands for any calls.
my $n_rows = 0;
sub row {
    my ($name, $code, $want, %calls) = @_;
    my ($first, @others) = matrix();
    my @options = ($first, @others[grep { ($_ + $n_rows) % 2 } 0 .. $#others]);
    $n_rows++;
    scenario $name => sub {
        for my $opts (@options) {
            my $run = run_prog(opts => $opts, code => $F . $code);
            is "$run->{status} $run->{out}", $want, "$opts: status and output";
            for my $file (sort keys %calls) {
                my $p = whole_in($run, "$opts: $file", $file);
                my $pattern = join '.*', map {quotemeta} split /\.\.\./, $calls{$file}, -1;
                is scalar(grep { $_->[2] < 0 || $_->[2] > $_->[1] } @{ $p->{ret} }), 0, "$opts: $file: no call has more of its own than with others";
                like arcs($p) =~ s/main::(?=[a-z])//gr, qr/\A$pattern\z/s, "$opts: $file: calls";
            }
        }
    };
}

row 'disable and enable: calls in between do not exist, open frames report their return', <<'P', "0 done\n",
sub outer { DB::disable_profile(); f(); 1 }
outer();
f();
DB::enable_profile();
f();
print "done\n";
P
    'nytprof.out' => 'main::RUNTIME 3 outer x1; main::RUNTIME 6 f x1; f 1 g x1; outer 2 DB::disable_profile x1';

row 'enable_profile(FILE) closes the old file and starts its own counts', <<'P', '0 ',
f(); f();
DB::enable_profile("second.out");
f();
P
    'nytprof.out' => 'main::RUNTIME 2 f x2; f 1 g x2', 'second.out' => 'main::RUNTIME 4 f x1; f 1 g x1';

row 'a frame open while the file changes returns in both', <<'P', '0 ',
sub sw { f(); DB::enable_profile("second.out"); f(); 1 }
sw();
f();
P
    'nytprof.out' => '...main::RUNTIME 3 sw x1...', 'second.out' => '...main::RUNTIME 4 f x1...f 1 g x2...sw 2 f x1...';

row 'finish_profile completes the file; profiling can start again elsewhere', <<'P', "0 there\n",
f();
DB::finish_profile();
print -s "nytprof.out" ? "there\n" : "missing\n";
f();
DB::enable_profile("again.out");
f(); f(); f();
DB::finish_profile();
f();
P
    'nytprof.out' => 'main::RUNTIME 2 f x1; f 1 g x1', 'again.out' => 'main::RUNTIME 7 f x3; f 1 g x3';

row 'finish_profile in an open frame closes the frame', <<'P', '0 ',
sub deep { f(); DB::finish_profile(); f(); 1 }
deep();
P
    'nytprof.out' => 'main::RUNTIME 3 deep x1; deep 2 f x1; f 1 g x1';

row 'exec finishes the file', <<'P', "5 execed\n",
sub run { f(); exec $^X, '-e', 'print "execed\n"; exit 5' }
f();
run();
P
    'nytprof.out' => 'main::RUNTIME 3 f x1; main::RUNTIME 4 run x1; f 1 g x2; run 2 f x1';

row 'an exec that fails goes on being profiled', <<'P', "0 2\n",
no warnings;
f();
{ exec './does-not-exist' }
print $!+0, "\n";
f() for 1 .. 20;
P
    'nytprof.out' => 'main::NULL 2 main::BEGIN@2 x1; main::RUNTIME 3 f x1; main::RUNTIME 6 f x20; f 1 g x21';

row 'an exec that dies goes on being profiled', <<'P', '0 ' . "died 2\n" x 3,
use warnings FATAL => 'exec';
sub try_it { eval { exec './does-not-exist' }; print $@ ? 'died ' : 'returned ', $! + 0, "\n" }
try_it() for 1 .. 3;
f() for 1 .. 2000;
P
    'nytprof.out' => '...main::RUNTIME 4 try_it x3; main::RUNTIME 5 f x2000...';

row 'POSIX::_exit at any depth', <<'P', '9 ',
use POSIX ();
sub leave { f(); POSIX::_exit(9) }
f();
leave();
P
    'nytprof.out' => '...main::RUNTIME 5 leave x1...leave 3 f x1...';

scenario '$! stays what it was, whether it works or not' => sub {
    for my $opts (matrix()) {
        my $run = run_prog(opts => $opts, code => <<'P');
sub kept { $! = 7; $_[0]->(); push @errors, 0 + $! }
kept($_) for \&DB::disable_profile, \&DB::enable_profile, sub { DB::enable_profile('second.out') }, sub { DB::enable_profile('no/such/folder') },
    sub { DB::rotate_profile('third.out') }, \&DB::rotate_profile, \&DB::checkpoint_profile, sub { DB::label(key => 1) }, \&DB::finish_profile, \&DB::enable_profile;
print "@errors\n";
P
        is $run->{out}, join(' ', (7) x 10) . "\n", "$opts: \$!";
    }
};

scenario 'enable_profile where only Devel::NYTProf::Core is loaded' => sub {
    my $run = run_prog(opts => undef, how => 'late', code => <<'P');
require Devel::NYTProf::Core;
DB::enable_profile('core.out');
print eval 'sub f { 3 } f() + f()';
P
    is "$run->{out}$run->{err}", '6', 'output';
    my $p = whole_in($run, 'core', 'core.out');
    is n_calls($p, 'main::f'), 2, 'what is compiled from then on is recorded';
};

scenario 'enable_profile tells whether it was on; disable twice, enable twice' => sub {
    my $run = run_prog(code => $F . <<'P');
print DB::enable_profile() ? 1 : 0;
print DB::disable_profile() ? 1 : 0;
print DB::disable_profile() ? 1 : 0;
print DB::enable_profile() ? 1 : 0;
print DB::enable_profile() ? 1 : 0;
f();
P
    is $run->{out}, '11001', 'what was on before';
    whole_in($run, 'after it all');
};

scenario 'a file that cannot be opened or written is one file: the next is recorded' => sub {
    my %fails = (
        'no folder' => ['nodir/a', qr/cannot open \S+nodir\/a: No such file or directory/],
        'a full disk' => ['/dev/full', qr/cannot write \/dev\/full: No space left on device/],
    );
    for my $what (sort keys %fails) {
        my ($file, $why) = @{ $fails{$what} };
        for my $opts ('start=no', "file=$file", "file=$file:compress=0:calls=2", "sample=1000:file=$file", 'sample=1000:start=no') {
            my $run = run_prog(opts => $opts, code => $F . <<"P");
f() for 1 .. 9;
DB::enable_profile('$file');
f() for 1 .. 9000;
DB::finish_profile();
DB::enable_profile('one.out');
f();
DB::enable_profile('$file');
f() for 1 .. 9000;
DB::enable_profile('two.out');
for (1 .. 7) { f() }
print "ran\n";
P
            is "$run->{status} $run->{out}", "0 ran\n", "$what, $opts: the program runs";
            like $run->{err}, $why, "$what, $opts: is said";
            whole_in($run, "$what, $opts: $_", "$_.out") for 'one', 'two';
            like arcs(profile_in($run, 'two.out')), qr/\Amain::RUNTIME 11 main::f x7; main::f 1 main::g x7\z/, "$what, $opts: the last" if $opts !~ /sample/;
        }
    }
    my $run = run_prog(opts => 'file=/dev/full:compress=0', code => $F . "f() for 1 .. 9000; DB::enable_profile(); f() for 1 .. 9000; DB::enable_profile('two.out'); f();\n");
    is scalar(() = $run->{err} =~ /cannot write/g), 2, 'each is said';
    whole_in($run, 'after two failures', 'two.out');
};

scenario 'what is to follow cannot be opened: the profile goes on' => sub {
    for my $how (q{DB::enable_profile('nodir/x')}, q{print DB::rotate_profile('nodir/x') ? 'rotated' : ''}) {
        for my $opts (matrix(), 'sample=1000') {
            my $run = run_prog(opts => $opts, code => $F . "f();\n$how;\nf();\nDB::rotate_profile() and print 'next';\nf();\n");
            is "$run->{status} $run->{out}", '0 next', "$opts: the next one can";
            like $run->{err}, qr/\ADevel::NYTProf: cannot open \S+nodir\/x: No such file or directory; the profile goes on in \S+nytprof\.out\n\z/, "$opts: is said";
            my $p = whole_in($run, "$opts: the profile");
            my ($n) = map { $_->{count} } grep { $_->{caller} eq 'main::RUNTIME' && $_->{callee} eq 'main::f' && $_->{line} == 4 } @{ $p->{arc} };
            is $n, 1, "$opts: has what came after" if $opts !~ /sample/;
            whole_in($run, "$opts: the next", 'nytprof.out.2');
        }
    }
    my $run = run_prog(code => $F . "f();\nDB::rotate_profile('nytprof.out');\nf();\n");
    is $run->{err}, '', 'the name of the present file';
    is arcs(profile_in($run, 'nytprof.out.1')), 'main::RUNTIME 2 main::f x1; main::f 1 main::g x1', 'it gets another';
    is arcs(profile_in($run, 'nytprof.out')), 'main::RUNTIME 4 main::f x1; main::f 1 main::g x1', 'and what follows that';
};

scenario 'start=' => sub {
    my $code = $F . <<'P';
BEGIN { f() }
INIT { f() }
END { f() }
f();
P
    my %want = (
        begin => '2:1 3:1 4:1 5:1',
        init  => '3:1 4:1 5:1',
        end   => '4:1',
    );
    for my $start (sort keys %want) {
        my $p = whole_in(run_prog(code => $code, opts => "start=$start"), $start);
        my %calls = map { $_->{line} => $_->{count} } arcs_to($p, 'main::f');
        is join(' ', map { "$_:$calls{$_}" } sort keys %calls), $want{$start}, "start=$start";
    }
    my $run = run_prog(code => $code, opts => 'start=no');
    is join(',', glob "$run->{dir}/nytprof.out*"), '', 'start=no, never enabled: no file';
    my $p = whole_in(run_prog(code => $code . "DB::enable_profile(); f(); f();\n", opts => 'start=no'), 'start=no');
    is arcs($p, ops => 0), 'main::END 4 main::f x1; main::RUNTIME 0 main::END x1; '
      . 'main::RUNTIME 6 main::f x2; main::f 1 main::g x3', 'start=no, then enabled';
};

scenario 'perl -c, a compile error, a die at top: whole files' => sub {
    for my $opts (matrix()) {
        my $run = run_prog(code => $F . "f();\n", switches => ['-c'], opts => $opts);
        is $run->{status}, 0, "$opts: -c";
        whole_in($run, "$opts: -c");
        for my $code ("my \$x = ;\n", "die \"x\\n\";\n", "exit 7;\n", "BEGIN { exit 3 }\n") {
            my $plain = run_plain(code => $code);
            $run = run_prog(code => $code, opts => $opts);
            is "$run->{status} $run->{err}", "$plain->{status} $plain->{err}", "$opts: $code as plain";
            whole_in($run, "$opts: $code");
        }
    }
};

slow_scenario 'a warning of exec may run any code, on and off the profile' => sub {
    for my $handler ('f() for 1 .. 9', 'DB::finish_profile()', 'DB::disable_profile()', 'DB::enable_profile()',
        'if (!fork) { f() for 1 .. 9; exit } wait', 'exec "./nor-this"', 'sleep 1; f() for 1 .. 9', 'die "x\n"') {
        my $run = run_prog(opts => 'flush=0.2', code => $F . <<"P");
use warnings;
my \$n = 0;
\$SIG{__WARN__} = sub { print "warned\\n"; return if \$n++; $handler };
eval { exec './does-not-exist' };
f() for 1 .. 2000;
print "end\\n";
P
        like $run->{out}, qr/\A(?:warned\n)+end\n\z/, "$handler: runs on" or diag explain $run;
        unlike $run->{err}, qr/NYTProf/, "$handler: nothing said";
        my $p = whole_in($run, $handler);
        like arcs($p), qr/main::RUNTIME 6 main::f x2000/, "$handler: all calls after it";
    }
};

scenario 'fork: a file for each process, neither holds the other\'s calls' => sub {
    for my $opts (matrix()) {
        my $run = run_prog(opts => $opts, code => $F . <<'P');
f();
sub work { f(); 1 }
my $pid = fork;
if (!$pid) { work(); work(); exit 4 }
waitpid $pid, 0;
print $? >> 8, "\n", "$pid\n";
work();
P
        my ($status, $pid) = split /\n/, $run->{out};
        is $status, 4, "$opts: the child's exit status";
        my ($parent, $child) = map { whole_in($run, "$opts: $_", $_) } 'nytprof.out', "nytprof.out.$pid";
        is arcs($parent), 'main::RUNTIME 2 main::f x1; main::RUNTIME 8 main::work x1; '
          . 'main::f 1 main::g x2; main::work 3 main::f x1', "$opts: parent arcs";
        is arcs($child), 'main::RUNTIME 5 main::work x2; main::f 1 main::g x2; main::work 3 main::f x2',
          "$opts: child arcs";
        is $child->{pid}[0][0], $pid, "$opts: child pid";
        is $child->{pid}[0][1], $parent->{pid}[0][0], "$opts: child's parent pid";
        is $child->{opt}{forkdepth}, -1, "$opts: forkdepth stays -1";
    }
};

scenario 'fork: frames open in the child begin anew, the overhead counter too' => sub {
    plan skip_all => 'two libraries to preload' if sanitized();
    my $run = run_prog(opts => 'clock=1', env => { stepping_clock() }, code => $F . <<'P');
f() for 1 .. 2000;
sub slow { select undef, undef, undef, 0.3; my $pid = fork; exit 0 if !$pid; waitpid $pid, 0; print $pid }
slow();
P
    my ($parent, $child) = map { whole_in($run, $_, $_) } 'nytprof.out', "nytprof.out.$run->{out}";
    my ($arc) = arcs_to($child, 'main::slow');
    ok !$arc || $arc->{incl} < 0.15, "the parent's wait is not in the child";
    cmp_ok $child->{attr}{cumulative_overhead_ticks}, '<', $parent->{attr}{cumulative_overhead_ticks},
      'overhead is the child\'s own';
};

scenario 'fork of a process that samples, paused: no thread is started' => sub {
    plan skip_all => 'needs /proc' if !-d '/proc/self/task';
    my $run = run_prog(opts => 'sample=1000:sample_budget=0', code => <<'P');
sub threads { scalar(() = glob '/proc/self/task/*') }
sub work { my $until = (times)[0] + 0.2; 1 while (times)[0] < $until }
DB::disable_profile();
my $paused = threads();
my $pid = fork;
if (!$pid) { DB::label(a => 1); print $paused, threads(); DB::enable_profile(); print threads(), "\n"; work(); exit }
waitpid $pid, 0;
P
    is $run->{out}, "112\n", 'one while paused, two when it goes on';
    my ($child) = map { m{([^/]+)\z} } glob "$run->{dir}/*.out.*";
    my $p = whole_in($run, 'the profile of the child is whole', $child);
    cmp_ok $p->{attr}{samples}, '>', 0, 'and has samples';
};

scenario 'forkdepth' => sub {
    my $code = $F . <<'P';
sub spawn {
    my $n = shift;
    my $pid = fork;
    if (!$pid) { f(); spawn($n - 1) if $n > 1; exit 0 }
    waitpid $pid, 0;
}
spawn(3);
P
    my %files = (-1 => 4, 0 => 1, 1 => 2, 2 => 3);
    for my $depth (sort keys %files) {
        my $run = run_prog(code => $code, opts => "forkdepth=$depth");
        my @p = map { whole_in($run, "forkdepth=$depth: $_", $_) } split ' ', outputs($run);
        is join(' ', map { $_->{opt}{forkdepth} } @p), join(' ', ($depth) x $files{$depth}), "forkdepth=$depth: files, each with the option as it was given";
    }
};

scenario 'fork in an eval, in a sort, in a signal handler; child that execs; grandchild names' => sub {
    my $run = run_prog(code => $F . <<'P');
my @pids;
push @pids, eval 'my $p = fork; if (!$p) { f(); exit } $p';
$SIG{USR1} = sub { my $p = fork; if (!$p) { f(); exit } push @pids, $p };
kill USR1 => $$;
my @s = sort { if (!@{[@pids]}[2]) { my $p = fork; if (!$p) { f(); exit } push @pids, $p } $a <=> $b } 2, 1;
waitpid $_, 0 for @pids;
print "@pids";
P
    my @pids = split ' ', $run->{out};
    is scalar @pids, 3, 'three children';
    whole_in($run, 'parent');
    for my $pid (@pids) {
        like arcs(whole_in($run, "child $pid", "nytprof.out.$pid")), qr/main::f 1 main::g x1/, 'child\'s call';
    }
    my $exec = run_prog(code => $F . <<'P');
my $pid = fork;
if (!$pid) { f(); exec $^X, '-e', '1' }
waitpid $pid, 0;
print $pid;
P
    whole_in($exec, 'child that execs', "nytprof.out.$exec->{out}");
};

scenario 'open "-|" without a command forks; system, backticks and pipes leave no file of their own' => sub {
    my $run = run_prog(code => $F . <<'P');
system 'true'; my $x = `echo a`; open my $to, '-|', 'echo', 'b' or die; close $to;
my $pid = open my $fh, '-|';
if (!$pid) { f(); print "child\n"; exit 0 }
my @l = <$fh>;
print "$pid @l";
P
    my ($pid) = $run->{out} =~ /^(\d+) child$/ or fail "output: $run->{out}";
    whole_in($run, 'parent');
    my $child = profile_in($run, "nytprof.out.$pid");
    ok $child, 'child file' and like arcs($child), qr/main::f 1 main::g x1/, 'child\'s calls';
    is scalar(() = glob "$run->{dir}/nytprof.out*"), 2, 'and no other file';
};

done_testing;
