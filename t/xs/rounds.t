# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Exact recording for a while in a program that is sampled: the exact profile is a whole file of its
# own, sampling goes on in its file, and each moment is in one of them.

use lib 't/lib';
use NYTPTest;
use Extended;

my $EXPORT = root() . '/bin/nytp-export';
plan skip_all => 'nytp-export is not built' if !-x $EXPORT;

# toggle() begins a round and ends it: the signal is obeyed in its loop. work() is for so long on a processor: beside other programs
# it takes the longer, and is sampled as often.
my $BEGIN = <<'P';
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID);
sub now { clock_gettime(CLOCK_MONOTONIC) }
sub spin { my $n = 0; $n += $_ for 1 .. 2000; return $n }
sub spent { clock_gettime(CLOCK_PROCESS_CPUTIME_ID) }
sub work { my $end = spent() + shift; spin() while spent() < $end; return 1 }
sub toggle { kill USR2 => $$; my $n = 0; $n++ for 1 .. 100; return }
P
my $SAMPLED = 'sample=1000:sample_budget=0:sigcontrol=USR2';

sub is_whole {
    my ($run, @names) = @_;
    for my $name (@names) {
        my $said = qx{$EXPORT --check $run->{dir}/$name 2>&1};
        is $?, 0, "$name is whole" or diag $said;
    }
    return;
}

my %read;
sub profile { my ($run, $name) = @_; return $read{"$run->{dir}/$name"} ||= profile_in($run, $name) || {} }

sub calls { my ($run, $name, $sub) = @_; return n_calls(profile($run, $name), $sub) }

sub ok_run {
    my ($label, %o) = @_;
    my $run = run_prog(opts => $SAMPLED, %o, code => $BEGIN . $o{code});
    my $said = delete $o{said} || '';
    is $run->{err} =~ s{\S+/}{}gr, $said, "$label: what is said";
    is $run->{status}, 0, "$label: runs";
    return $run;
}

scenario 'several rounds' => sub {
    my $run = ok_run('rounds', code => <<'P');
my $began = now();
sub sampled { work(0.2) } sub exact { work(0.1); eval 'sub in_round { spin() } in_round() for 1 .. 3; 1' or die }
sub round { toggle(); exact(); toggle() }
for (1 .. 3) { sampled(); round(); eval "spin(); $_" or die }
sampled(); in_round() for 1 .. 1000;
print now() - $began;
P
    is outputs($run), 'nytprof.out nytprof.out.exact nytprof.out.exact.2 nytprof.out.exact.3', 'a file each';
    my @exact = map {"nytprof.out.exact$_"} '', '.2', '.3';
    is_whole($run, 'nytprof.out', @exact);
    is join(' ', map { calls($run, $_, 'main::exact') } @exact), '1 1 1', 'each has its round';
    is join(' ', map { calls($run, $_, 'main::in_round') } @exact), '3 3 3', 'all of it';
    is calls($run, $_, 'main::sampled'), 0, "$_: and nothing else" for @exact;
    for my $name (@exact) {
        my $p = profile($run, $name);
        is join('; ', check_sums($p)), '', "$name: sums are right";
        ok !exists $p->{attr}{sampled}, "$name: is no sampled one";
        ok scalar(grep { $_->{caller} eq 'main::round' } arcs_to($p, 'main::exact')), 'with the stack that it began in';
    }
    my $sampled = profile($run, 'nytprof.out');
    is $sampled->{attr}{sampled}, 1, 'the other is';
    cmp_ok calls($run, 'nytprof.out', 'main::sampled'), '>=', 2, 'and has what ran around the rounds';
    cmp_ok calls($run, 'nytprof.out', 'main::sampled'), '<=', 4, 'counted once';
    ok calls($run, 'nytprof.out', 'main::in_round'), 'also what was compiled in one';
    my %lines = map { $_ => 1 } sub_lines($sampled, qr/^main::(?:in_round|sampled|spin)$/);
    is scalar(keys %lines), 3, 'and where it is' or diag explain \%lines;
    my ($sum, @of_rounds) = map { all_seconds(profile($run, $_)) } 'nytprof.out', @exact;
    # The recorder's own time is in none of them, and is the longer the more other programs run.
    cmp_ok $sum, '>', 0.5, 'samples account for the time before, between and after the rounds';
    cmp_ok $of_rounds[$_], '>', 0.05, "$exact[$_] for its round" for 0 .. $#exact;
    $sum += $_ for @of_rounds;
    cmp_ok $sum, '<', 1.1 * $run->{out}, 'and all together for no more than there was' or diag "$sum of $run->{out}";
};

scenario 'the program switches for itself meanwhile' => sub {
    my $run = ok_run('paused', code => <<'P');
sub one { work(0.1) } sub two { work(0.02) } sub three { work(0.1) } sub four { work(0.1) } sub five { work(0.02) }
one(); toggle(); two(); DB::disable_profile(); three(); DB::enable_profile(); two(); toggle(); four();
toggle(); DB::disable_profile(); toggle(); five(); DB::enable_profile(); four();
P
    is_whole($run, 'nytprof.out', 'nytprof.out.exact', 'nytprof.out.exact.2');
    is calls($run, 'nytprof.out.exact', 'main::two'), 2, 'a pause in a round: before and after it';
    is calls($run, 'nytprof.out.exact', 'main::three'), 0, 'and not in it';
    ok calls($run, 'nytprof.out', "main::$_"), "sampled: $_" for qw(one four);
    is calls($run, 'nytprof.out', "main::$_"), 0, "not sampled: $_" for qw(two three five);

    $run = ok_run('finished', said => "Devel::NYTProf: nytprof.out is finished, the profile goes on in nytprof.out.2\n", code => <<'P');
sub one { work(0.1) } sub two { work(0.02) } sub three { work(0.1) }
one(); toggle(); two(); DB::checkpoint_profile() or die; DB::rotate_profile() or die; two(); DB::finish_profile(); three(); DB::enable_profile(); three();
P
    is outputs($run), 'nytprof.out nytprof.out.2 nytprof.out.exact nytprof.out.exact.2 nytprof.out.exact.checkpoint',
        'checkpoint, rotate and finish in a round' or diag $run->{err};
    is_whole($run, split ' ', outputs($run));
    is calls($run, 'nytprof.out', 'main::three'), 0, 'finished is finished';
    ok calls($run, 'nytprof.out.2', 'main::three'), 'the next file is sampled';
};

scenario 'the program ends in a round' => sub {
    for my $how (['exit', 'exit 0'], ['_exit', 'require POSIX; POSIX::_exit(0)'], ['exec', 'exec $^X, "-e", 1'], ['signal', 'kill ALRM => $$; work(5)']) {
        my ($name, $code) = @$how;
        my $run = run_prog(opts => "$SAMPLED:sigexit=alrm", code => "${BEGIN}sub one { work(0.15) } sub two { work(0.02) } one(); toggle(); two(); $code;");
        is $run->{err}, '', "$name: nothing is said";
        is_whole($run, 'nytprof.out', 'nytprof.out.exact');
        is calls($run, 'nytprof.out.exact', 'main::two'), 1, "$name: the round";
        ok calls($run, 'nytprof.out', 'main::one'), "$name: what was sampled before";
    }
};

scenario 'children of a round are sampled' => sub {
    my $run = ok_run('fork', code => <<'P');
sub one { work(0.1) } sub two { work(0.02) } sub child { work(0.1) } sub in_child { work(0.02) }
one(); toggle();
for my $way (1, 2) {
    my $pid = $way == 1 ? fork : open my $from, '-|';
    if (!$pid) { child(); toggle(); in_child(); toggle(); child(); exit }
    two();
    waitpid $pid, 0;
    print "$pid ";
}
toggle(); one();
P
    my @pids = split ' ', $run->{out};
    is outputs($run), join(' ', sort qw(nytprof.out nytprof.out.exact), map { ("nytprof.out.$_", "nytprof.out.$_.exact") } @pids), 'files';
    is_whole($run, split ' ', outputs($run));
    for my $pid (@pids) {
        is profile($run, "nytprof.out.$pid")->{attr}{sampled}, 1, 'a child is sampled';
        ok calls($run, "nytprof.out.$pid", 'main::child'), 'what it does';
        is calls($run, "nytprof.out.$pid", 'main::in_child'), 0, 'but for a round of its own';
        is calls($run, "nytprof.out.$pid.exact", 'main::in_child'), 1, 'which has a file';
    }
    is calls($run, 'nytprof.out.exact', 'main::two'), 2, 'the parent\'s round goes on';
    is calls($run, 'nytprof.out.exact', 'main::child'), 0, 'without them';
};

scenario 'a profile that cannot be written: sampling goes on' => sub {
    my $run = run_prog(opts => $SAMPLED, code => $BEGIN . 'sub one { work(0.1) } mkdir "nytprof.out.exact" or die; one(); toggle(); one(); toggle(); rmdir "nytprof.out.exact" or die; toggle(); work(0.01); toggle(); one();');
    like $run->{err}, qr/\ADevel::NYTProf: cannot open \S+nytprof\.out\.exact: Is a directory/, 'it is said';
    is $run->{status}, 0, 'the program runs';
    is outputs($run), 'nytprof.out nytprof.out.exact', 'the next round is recorded';
    is_whole($run, 'nytprof.out', 'nytprof.out.exact');
};

scenario 'labels' => sub {
    my $run = ok_run('labels', code => 'DB::label(tenant => 7, job => 1); work(0.1); toggle(); work(0.02); DB::label(job => 2); work(0.02); toggle(); work(0.1); DB::label(job => undef, tenant => undef)');
    for my $name ('nytprof.out', 'nytprof.out.exact') {
        my @rows = map { my @f = split; "$f[-1] x$f[0]" } grep { /^ +\d+ +\d+ / } split /\n/, qx{$EXPORT --by=label=job --unit=ns $run->{dir}/$name};
        is join(' ', sort @rows), '1 x1 2 x1', "$name: labels of its time";
    }
};

scenario 'evals without end, in rounds and out' => sub {
    my $run = ok_run('evals', code => 'for my $r (1 .. 4) { for my $i (1 .. 2000) { my $f = eval "sub { $i }" or die; $f->() } toggle() } work(0.02)');
    is_whole($run, split ' ', outputs($run));
    cmp_ok calls($run, "nytprof.out.exact$_", 'main::toggle'), '>=', 1, "round $_" for '', '.2';
};

done_testing;
