# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# perl -d:DProf: what is in its tmon.out, read by the description of the format alone.

use lib 't/lib';
use NYTPTest;

use Config;

# {header => {name => value}, tree => "a(b(c))a()", open => depth at the end, times => [u, s, r]}
sub tmon_in {
    my ($run, $name) = @_;
    open my $fh, '<:raw', "$run->{dir}/" . ($name // 'tmon.out') or return;
    my %p = (tree => '', marks => 0, times => [0, 0, 0], bad => '');
    my (%name, @open);
    while (my $line = <$fh>) {
        last if $line eq "PART2\n";
        $p{header}{$1} = $2 while $line =~ /\$(\w+)=([^;\s]+)/g;
        $p{magic} = $line eq "#fOrTyTwO\n" if $. == 1;
    }
    while (my $line = <$fh>) {
        if ($line =~ /^@ (\d+) (\d+) (\d+)$/) {
            my @passed = ($1, $2, $3);
            $p{times}[$_] += $passed[$_] for 0 .. 2;
        } elsif ($line =~ /^& ([0-9a-f]+) (\S+) (.+)$/) {
            $p{bad} .= "$1 twice;" if $name{$1};
            $name{$1} = "$2\::$3";
        } elsif ($line =~ /^([-+]) ([0-9a-f]+)$/) {
            my ($mark, $sub) = ($1, $name{$2} // "?$2");
            $p{marks}++;
            $p{tree} .= $mark eq '+' ? $sub =~ s/^main:://r . '(' : ')';
            push @open, $sub if $mark eq '+';
            $p{bad} .= "$sub left;" if $mark eq '-' && (pop(@open) // '') ne $sub;
        } else {
            $p{bad} .= "line $.: $line;";
        }
    }
    $p{open} = @open;
    return \%p;
}

sub dprof { return run_prog(d => '-d:DProf', @_) }

scenario 'calls, in their order' => sub {
    my $run = dprof(code => <<'P');
sub c { 1 } sub b { c(); c() } sub a { goto &b if $_[0]; b() }
a(0); a(1); my $f = sub { c() }; $f->(); eval { sub { die }->() };
sub rec { my $n = shift; rec($n - 1) if $n } rec(2); exit 5;
BEGIN { c() } END { c() }
P
    is "$run->{status} $run->{out}$run->{err}", '5 ', 'the program runs as ever';
    my $p = tmon_in($run);
    is $p->{bad}, '', 'every mark makes sense';
    is $p->{tree}, 'BEGIN(c())a(b(c()c()))a()b(c()c())__ANON__(c())__ANON__()rec(rec(rec()))END(c())', 'calls';
    is $p->{header}{total_marks}, $p->{marks}, 'the number of marks is told';
    ok $p->{magic}, 'the first line';
};

scenario 'times: processor time where it works, real time where it waits' => sub {
    my $run = dprof(code => <<'P');
sub busy { my $x; do { $x += $_ for 1 .. 1e5 } until (times)[0] + (times)[1] > 0.5 } sub waits { select undef, undef, undef, 0.3 }
busy(); waits(); my @t = times; print "@t[0,1]";
P
    my $p  = tmon_in($run);
    my $hz = $p->{header}{hz};
    is $hz, 1000000, 'microseconds';
    my ($user, $system, $real) = map { $_ / $hz } @{ $p->{times} };
    my ($all_user, $all_system) = split ' ', $run->{out};
    cmp_ok $real - $user - $system, '>=', 0.28, 'waiting is real time only'; # more, if the machine is busy
    # Chance: 1e-9 each: what is outside the marks takes 10 ms of processor time, a twentieth of the bound.
    cmp_ok abs($user + $system - $all_user - $all_system), '<', 0.2, 'processor time is that of the process';
    my $rest = ($p->{header}{rrun_utime} + $p->{header}{rrun_stime}) / $hz - $user - $system;
    ok -0.01 < $rest && $rest < 0.2, 'the run is what its parts add up to' or diag "$rest beside $real";
    cmp_ok $p->{header}{rrun_rtime} / $hz, '>', $real - 0.01, 'in real time, too';
};

scenario 'the environment' => sub {
    my $code = "sub f { 1 } f() for 1 .. 100000; print -s 'my.tmon';";
    my $run  = dprof(code => $code,
        env => { PERL_DPROF_OUT_FILE_NAME => 'my.tmon', PERL_DPROF_TICKS => 1000, PERL_DPROF_BUFFER => 1 },
        opts => 'flush=0');
    my $p = tmon_in($run, 'my.tmon');
    is "$p->{header}{hz} $p->{marks}", '1000 200000', 'name and clock ticks';
    cmp_ok $run->{out}, '>', 500000, 'a small buffer is soon on disk';
    $run = dprof(code => $code =~ s/my\.tmon/tmon.out/r, env => { PERL_DPROF_BUFFER => 1000000 }, opts => 'flush=0');
    cmp_ok $run->{out}, '<', 1000, 'a large one is not';
    is tmon_in($run)->{marks}, 200000, 'but in the end';
    for my $name ('app.%p.out', '100%') {
        $run = dprof(code => 'sub f { 1 } f();', env => { PERL_DPROF_OUT_FILE_NAME => $name });
        is tmon_in($run, $name)->{tree}, 'f()', "the name is $name as it stands";
    }
};

scenario 'a child writes nothing' => sub {
    my $run = dprof(code => <<'P');
sub f { 1 } f(); my $pid = fork; if (!$pid) { f() for 1 .. 9; exit 0 } waitpid $pid, 0; f();
P
    is tmon_in($run)->{tree}, 'f()f()', 'the calls are the parent\'s';
    is join(' ', map { s{.*/}{}r } glob "$run->{dir}/*"), 'prog.pl tmon.out', 'one file';
};

scenario 'threads: the main one\'s file is whole, whatever the others do' => sub {
    plan skip_all => 'this perl has no threads' if !$Config{useithreads};
    my $begin = 'use threads; sub work { my $n = shift; work($n - 1) if $n } sub worker { work(5) for 1 .. 20 } work(3); ';
    my %ways = (
        joined   => '$_->join for map { threads->create("worker") } 1 .. 4; worker();',
        detached => 'my @t = map { threads->create("worker") } 1 .. 4; $_->detach for @t; worker(); select undef, undef, undef, 0.01 while threads->list(threads::running);',
        running  => 'threads->create(sub { sleep 100 })->detach for 1, 2; worker(); $SIG{__WARN__} = sub { };',
    );
    for my $way (sort keys %ways) {
        my $run = dprof(code => $begin . $ways{$way});
        is "$run->{signal} $run->{status}", '0 0', "$way: runs to its end";
        my $p = tmon_in($run);
        is "$p->{bad} $p->{header}{total_marks}", " $p->{marks}", "$way: a whole file";
        my $n = () = $p->{tree} =~ /\bwork\(/g;
        is $n, 4 + 20 * 6, "$way: with the calls of the main thread, and no others";
    }
};

scenario 'killed, ended without perl, overwritten' => sub {
    my $run = dprof(code => 'sub g { 1 } sub f { g() for 1 .. 50000; kill KILL => $$ } f();');
    is $run->{signal}, 9, 'killed';
    my $p = tmon_in($run);
    is $p->{header}{total_marks}, 0, 'the header says that it is not the whole';
    cmp_ok $p->{marks}, '>', 50000, 'most calls are there';
    $run = dprof(dir => $run->{dir}, code => 'use POSIX (); sub f { POSIX::_exit(4) } f();');
    is $run->{status}, 4, 'POSIX::_exit';
    $p = tmon_in($run);
    is "$p->{bad} $p->{open} $p->{header}{total_marks}", " 0 $p->{marks}", 'a whole file in place of the other';
    like $p->{tree}, qr/\)f\(\)$/, 'with the call that is open';
    $run = dprof(files => { 'tmon.out' => "mine\n" }, code => 'sub f { 1 } f();');
    is slurp("$run->{dir}/tmon.out"), "mine\n", 'a file that is no profile is kept';
    like $run->{err}, qr/tmon\.out/, 'which is said';
};

scenario 'loaded without -d' => sub {
    my %profile = ('tmon.out' => "#fOrTyTwO\n");
    my $run = dprof(d => '-mDevel::DProf', files => \%profile, code => 'sub f { 1 } f(); print $Devel::DProf::VERSION;');
    is "$run->{status} $run->{out}$run->{err}", '0 20110802.00', 'it has its version, and nothing more';
    is slurp("$run->{dir}/tmon.out"), $profile{'tmon.out'}, 'the profile of another run is kept';
    $run = dprof(d => '-MDevel::DProf', code => 'print "ran"');
    is "$run->{status} $run->{out}", '255 ', 'asked to record, the program does not run';
    like $run->{err}, qr/^DProf: run perl with -d to use DProf\.\n/, 'which is said';
};

scenario 'what destructors of the end call' => sub {
    my $p = tmon_in(dprof(code => 'sub late { 1 } sub O::DESTROY { late() } our $o = bless [], "O";'));
    is "$p->{bad} $p->{tree} $p->{header}{total_marks}", ' O::DESTROY(late()) 4', 'is there, too';
};

scenario 'recording begins and ends within the run' => sub {
    my $p = tmon_in(dprof(opts => 'start=no', code => 'sub f { g(); DB::enable_profile(); g() } sub g { 1 }'
            . 'f(); g(); DB::disable_profile(); g();'));
    is "$p->{bad} $p->{tree}", ' f(g())g()DB::disable_profile()', 'what is open while it is on';
    my $run = dprof(code => 'sub f { g(); print DB::checkpoint_profile() ? 1 : 0; g() } sub g { 1 } f(); f()');
    is $run->{out} . tmon_in($run, 'tmon.out.checkpoint')->{tree}, '11f(g()g())f(g())', 'a checkpoint takes the place of another';
    my $end = tmon_in($run);
    is "$end->{bad} $end->{tree} $end->{header}{total_marks}", ' f(g()g())f(g()g()) 12', 'the recording goes on in the calls that were open';
};

done_testing;
