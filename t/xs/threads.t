# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Each ithread has a profile of its own, NAME.tN, whole at the thread's end however it ends and
# whoever joins it.

use lib 't/lib';
use NYTPTest;

use Config;
use JSON::PP ();

plan skip_all => 'this perl has no threads' if !$Config{useithreads};

sub numbered { my ($run, $n) = @_; return profile_in($run, "nytprof.out.t$n") || {} }

# Runs as it does without us, and every profile is whole but those that are named.
sub run_same {
    my (%o) = @_;
    my $label = delete $o{label};
    my %partial = map { $_ => 1 } @{ delete $o{partial} || [] };
    my $plain = run_plain(%o);
    my $run = run_prog(%o);
    is_deeply [map { s/0x[0-9a-f]+//gr } @$run{qw(status signal out err)}],
        [map { s/0x[0-9a-f]+//gr } @$plain{qw(status signal out err)}], "$label: as without us";
    for my $name (split ' ', outputs($run)) {
        next if $partial{$name};
        whole_in($run, "$label: $name is whole", $name);
    }
    return $run;
}

my $WORK = "use threads;\nsub work { return shift }\n"; # the program goes on in line 3

scenario 'workers that main joins: N workers times their calls, in every mode' => sub {
    my $code = $WORK . <<'P';
sub worker { my $n = shift; work($_) for 1 .. $n; return $n }
work($_) for 1 .. 12;
my @workers = map { threads->create('worker', 20 + $_) } 1 .. 4;
print join(' ', map { $_->join } @workers), "\n";
work(0);
P
    for my $opts ('', matrix()) {
        my $run = run_same(label => "'$opts'", opts => $opts, code => $code);
        is outputs($run), 'nytprof.out' . join('', map { " nytprof.out.t$_" } 1 .. 4), 'one file each';
        my @profiles = (profile_in($run), map { numbered($run, $_) } 1 .. 4);
        is join(' ', map { n_calls($_, 'main::work') } @profiles), '13 21 22 23 24', 'calls'
            if $profiles[0]{opt}{subs};
        is join(' ', map { stmt_counts($_)->{2} } @profiles), '13 21 22 23 24', 'statements'
            if $profiles[0]{opt}{stmts};
        next if $opts ne '';
        is join(' ', map { "$_->{attr}{thread}<$_->{attr}{parent_thread}" } @profiles[1 .. 4]),
            '1<0 2<0 3<0 4<0', 'numbers';
        ok !exists $profiles[0]{attr}{thread}, 'the first has none';
        is_deeply [map { $_->{pid}[0][0] } @profiles], [($profiles[0]{pid}[0][0]) x 5], 'all of one process';
        ok !(grep { /not profiled/ } map { @{ $_->{comments} } } @profiles), 'nothing is said to be missing';
        is join('; ', arc_lines($profiles[1])), 'main::RUNTIME 5 main::worker x1; main::worker 3 main::work x21',
            'arcs of a worker';
        is join('; ', sub_lines($profiles[1], qr/^main::w/)),
            'main::work 2-2; main::worker 3-3', 'lines of subs that the first interpreter compiled';
    }
};

scenario 'threads of threads, joined by one that did not make them' => sub {
    my $run = run_same(label => 'nested', code => $WORK . <<'P');
sub inner { work($_) for 1 .. 5; return 'inner' }
sub outer { my $t = threads->create('inner'); work(0); return $t->tid }
my $tid = threads->create('outer')->join;
my $joiner = threads->create(sub { threads->object(shift)->join . ' joined' }, $tid);
print $joiner->join, "\n";
P
    is outputs($run), 'nytprof.out nytprof.out.t1 nytprof.out.t2 nytprof.out.t3', 'files';
    is join(' ', map { numbered($run, $_)->{attr}{parent_thread} } 1 .. 3), '0 1 0', 'parents';
    is join(' ', map { n_calls(numbered($run, $_), 'main::work') } 1 .. 3), '1 5 0', 'calls';
};

scenario 'detached threads; threads that ended and are never joined' => sub {
    my $run = run_same(label => 'left alone', code => $WORK . <<'P');
use threads::shared;
my $done :shared = 0;
sub leave { work($_) for 1 .. 7; lock $done; $done++; cond_signal($done) }
threads->create('leave')->detach;
my $waits = threads->create('leave');
{ lock $done; cond_wait($done) while $done < 2 }
select undef, undef, undef, 0.01 while threads->list(threads::running) || @{[glob '/proc/self/task/*']} > 1;
P
    is outputs($run), 'nytprof.out nytprof.out.t1 nytprof.out.t2', 'files';
    is join(' ', map { n_calls(numbered($run, $_), 'main::work') } 1 .. 2), '7 7', 'calls';
};

scenario 'exit with threads running: theirs are readable up to the last flush' => sub {
    my $run = run_same(label => 'exit', partial => ['nytprof.out.t1'], opts => 'flush=0.01', code => $WORK . <<'P');
use threads::shared;
my $rounds :shared = 0;
sub busy { while (1) { work($_) for 1 .. 1000; lock $rounds; $rounds++; cond_signal($rounds) } }
threads->create('busy');
{ lock $rounds; cond_wait($rounds) while $rounds < 50 }
work(0);
exit 3;
P
    is outputs($run), 'nytprof.out nytprof.out.t1', 'files';
    is n_calls(profile_in($run), 'main::work'), 1, 'main';
    my $p = numbered($run, 1);
    cmp_ok stmt_counts($p)->{2} || 0, '>', 1000, 'the running thread';
};

scenario 'a thread that dies, one that leaves by threads->exit, one that exits the program' => sub {
    my $run = run_same(label => 'die', code => $WORK . <<'P');
sub dying { work(1); die "gone\n" }
sub leaving { work(1); work(2); threads->exit }
my @t = map { threads->create($_) } 'dying', 'leaving';
$_->join for @t;
work(0);
print $t[0]->error;
P
    is join(' ', map { n_calls(numbered($run, $_), 'main::work') } 1 .. 2), '1 2', 'calls';
    $run = run_same(label => 'exit in a thread', partial => ['nytprof.out'], code => "no warnings 'threads';" . $WORK . <<'P');
work(0);
select undef, undef, undef, 0.2;    # what was before is on disk then, however slow the machine is
sub leaving { work(1); work(2); exit 7 }
threads->create('leaving')->join;
P
    is $run->{status}, 7, 'status';
    is n_calls(numbered($run, 1), 'main::work'), 2, 'calls';
    is stmt_counts(profile_in($run))->{2}, 1, 'the first interpreter, up to where it waits';
};

scenario 'fork in a thread' => sub {
    for my $opts ('', 'addpid=1', 'forkdepth=0') {
        my $run = run_same(label => "'$opts'", opts => $opts, code => "no warnings 'threads';" . $WORK . <<'P');
$| = 1;
sub forks {
    work(1);
    my $pid = fork;
    if (!$pid) { work($_) for 1 .. 3; exit 4 }
    waitpid $pid, 0;
    work(2);
    return $? >> 8;
}
work(0);
threads->create(sub { work(9) })->join;
print threads->create('forks')->join, "\n";
P
        my ($first, $child) = map { my $re = $_; grep { /$re/ } split ' ', outputs($run) }
            $opts =~ /addpid/ ? (qr/out\.\d+\z/, qr/out\.\d+\.t2\z/) : (qr/out\z/, qr/out\.\d+\.t2\z/);
        my @names = split ' ', outputs($run);
        my $n = $opts =~ /forkdepth/ ? 3 : 4;
        is scalar(@names), $n, "files: @names";
        my %calls = map { $_ => n_calls(profile_in($run, $_), 'main::work') } @names;
        is join(' ', sort values %calls), $n == 3 ? '1 1 2' : '1 1 2 3', 'calls';
        next if $n == 3;
        my ($p) = grep { n_calls($_, 'main::work') == 3 } map { profile_in($run, $_) } @names;
        is $p->{attr}{thread}, 2, 'the child has the number of its thread';
    }
};

scenario 'what the first interpreter compiled; string evals in threads' => sub {
    my $run = run_same(label => 'evals', code => $WORK . <<'P');
eval "sub made {\n work(1);\n work(2) }";
sub body {
    made();
    my $x = eval "work(3); sub own { 5 } own()";
    return eval { eval "die 'no'"; $x };
}
print threads->create('body')->join, "\n";
made();
P
    my $p = numbered($run, 1);
    is join('; ', map { s/eval \d+/eval/gr } sub_lines($p, qr/^main::(?:made|own)/)),
        'main::made (eval)[prog.pl:3]:1-3; main::own (eval)[prog.pl:6]:1-1', 'places';
    is join('; ', map { s/eval \d+/eval/gr } arc_lines($p, want => qr/made|own|work/)),
        'main::body (eval)[prog.pl:6]:1 main::own x1; main::body (eval)[prog.pl:6]:1 main::work x1; '
        . 'main::body 5 main::made x1; main::made (eval)[prog.pl:3]:2 main::work x1; '
        . 'main::made (eval)[prog.pl:3]:3 main::work x1', 'arcs';
};

scenario 'off in a thread is for that thread; start=no and on in a thread' => sub {
    my $run = run_same(label => 'disable', opts => '', code => "BEGIN { *DB::disable_profile = *DB::enable_profile = sub {} if !defined &DB::disable_profile }\n" . $WORK . <<'P');
sub quiet { work(1); DB::disable_profile(); work(2); DB::enable_profile(); work(3) }
threads->create('quiet')->join;
work(0);
DB::disable_profile();
threads->create(sub { work(1) })->join;
threads->create(sub { work(1); DB::enable_profile(); work(2) })->join;
P
    is outputs($run), 'nytprof.out nytprof.out.t1 nytprof.out.t3', 'files';
    is n_calls(profile_in($run), 'main::work'), 1, 'main';
    is n_calls(numbered($run, 1), 'main::work'), 2, 'quiet';
    is n_calls(numbered($run, 3), 'main::work'), 1, 'made while main was off, and turned on';
    $run = run_prog(opts => 'start=no', code => $WORK . <<'P');
sub on { work(1); DB::enable_profile(); work(2); work(3); DB::finish_profile() if $_[0]; work(4) }
work(0);
my @t = map { threads->create('on', $_) } 0, 1;
$_->join for @t;
P
    is outputs($run), 'nytprof.out.t1 nytprof.out.t2', 'start=no: files';
    is join(' ', map { n_calls(numbered($run, $_), 'main::work') } 1, 2), '3 2', 'calls';
};

scenario 'names with placeholders; a file that a thread asks for' => sub {
    my $run = run_prog(opts => 'file=nytprof.%p.x', code => $WORK . "threads->create('work')->join;\n");
    like outputs($run), qr/\Anytprof\.(\d+)\.x nytprof\.\1\.x\.t1\z/, '%p';
    $run = run_prog(code => $WORK . <<'P');
sub own { work(1); DB::enable_profile('nytprof.own'); work(2) }
threads->create('own')->join;
P
    is outputs($run), 'nytprof.out nytprof.out.t1 nytprof.own.t1', 'enable_profile(NAME)';
    is n_calls(profile_in($run, 'nytprof.own.t1'), 'main::work'), 1, 'calls';
};

scenario 'CLONE, objects that threads destroy, code that a thread loads' => sub {
    my $run = run_same(label => 'objects', code => $WORK . <<'P');
package Thing { sub new { bless [] } sub CLONE { main::work(1) } sub DESTROY { main::work(2) } }
package main;
my $thing = Thing->new;
sub loads { require List::Util; require Text::Wrap; return length Text::Wrap::wrap('', '', 'x y') }
print threads->create('loads')->join, "\n";
undef $thing;
P
    my $p = numbered($run, 1);
    is n_calls($p, 'Thing::DESTROY'), 1, 'its copy of the object is destroyed in its profile';
    is n_calls($p, 'Text::Wrap::wrap'), 1, 'what it loaded';
    is n_calls($p, 'Thing::CLONE') + n_calls(profile_in($run), 'Thing::CLONE'), 0, 'CLONE is part of making the thread';
};

# Returns what nytp-export makes of the run's profiles, or of one file.
sub export {
    my ($run, $format, @names) = @_;
    my $made = run_in($run, root() . '/bin/nytp-export', "--$format", '-o', '-', @names ? @names : split ' ', outputs($run));
    die "nytp-export: status $made->{status}" if $made->{status};
    return $made->{out};
}

scenario 'exporters: a track a thread; merged into one file' => sub {
    my $run = run_prog(opts => 'file=nytprof.out', code => $WORK . <<'P');
sub inner { work($_) for 1 .. 5 }
sub outer { work(1); threads->create('inner')->join }
$_->join for map { threads->create('outer') } 1 .. 2;
work(0);
P
    is outputs($run), join(' ', 'nytprof.out', map { "nytprof.out.t$_" } 1 .. 4), 'files';
    my $all = JSON::PP::decode_json(export($run, 'json'));
    my ($work) = grep { $_->{name} eq 'main::work' } @{ $all->{subs} };
    is $work->{calls}, 13, 'calls of all';
    my %maker = map { $_->{thread} => $_->{parent_thread} } grep { $_->{thread} } @{ $all->{processes} };
    is join(' ', sort values %maker), join(' ', sort 0, 0, grep { $maker{$_} == 0 } 1 .. 4), 'who made which';

    my @names = map { $_->{name} } @{ JSON::PP::decode_json(export($run, 'speedscope'))->{profiles} };
    is join(' ', grep { $_ } map { /\(pid \d+, thread (\d+)\)\z/ && $1 } @names), '1 2 3 4', 'speedscope: a profile each'
        or diag explain \@names;
    my @rows = @{ JSON::PP::decode_json(export($run, 'chrome-trace'))->{traceEvents} };
    my %track = map { $_->{tid} => $_->{args}{name} } grep { $_->{name} eq 'thread_name' } @rows;
    is join(' ', map { $track{$_} =~ /thread (\d+)/ } sort keys %track), '1 2 3 4', 'Chrome trace: tracks of one process';
    is scalar(grep { $_->{name} eq 'process_name' } @rows), 1, 'which is named once';
    my $firefox = JSON::PP::decode_json(export($run, 'firefox'));
    is scalar(grep { $_->{isMainThread} } @{ $firefox->{threads} }), 1, 'Firefox: one main thread';
    my %process = map { $_->{processName} => 1 } @{ $firefox->{threads} };
    is scalar(keys %process), 1, 'of one process';

    my @rows_of = map { JSON::PP::decode_json($_) } split /\n/, export($run, 'rows');
    my %work = map { ($_->{thread} || 0) => $_->{calls} } grep { $_->{sub} eq 'main::work' } @rows_of;
    is join(' ', map { "$_:$work{$_}" } sort keys %work),
        join(' ', '0:1', map { "$_:" . ($maker{$_} ? 5 : 1) } 1 .. 4), 'rows: which thread';
    my %profile = map { $_->{profile} => 1 } @rows_of;
    is scalar(keys %profile), 5, 'each a profile of its own';

    my @tree = grep { /prog\.pl\z/ } split /\n/, export($run, 'processes');
    is join(' ', map { /complete( +)(?:thread (\d+))?/ ? length($1) - 1 . ':' . ($2 || 'main') : () } @tree),
        join(' ', '0:main', map { my $outer = $_; "2:$outer", map { "4:$_" } grep { $maker{$_} == $outer } 1 .. 4 }
            sort { start_of($run, $a) <=> start_of($run, $b) } grep { $maker{$_} == 0 } 1 .. 4),
        'processes: threads below those that made them';

    my @paths = map { "$run->{dir}/$_" } split ' ', outputs($run);
    is system($^X, '-Mblib=' . root() . '/blib', root() . '/blib/script/nytprofmerge', '-o', "$run->{dir}/merged", @paths), 0,
        'nytprofmerge';
    is join("\n", grep { s/prog\.pl \(5 recordings\)\z/prog.pl/ } split /\n/, export($run, 'processes', 'merged')), join("\n", @tree),
        'the same processes';
    is n_calls(profile_in($run, 'merged'), 'main::work'), 13, 'and calls';
};

scenario 'the first thread says at its end which profiles there are besides, on a terminal' => sub {
    return if sanitized(); # whose library the clean environment leaves out
    my $code = $WORK . 'threads->create(sub { work(1) })->join for 1 .. 2; if (!fork) { threads->create(sub { work(1) })->join; exit } wait;';
    my $run = run_prog(code => $code, files => { 'nytprof.out.tx' => 'none of ours', 'nytprof.out.t' => 'nor this' }, how => 'opt', opts => 'log=log');
    my ($said) = grep { /also of this run/ } split /\n/, slurp("$run->{dir}/log");
    like $said, qr{nytprof\.out: 4 \(nytprof\.out\.(\d+) nytprof\.out\.\1\.t\d+ nytprof\.out\.t1 nytprof\.out\.t2\)$}, 'threads and the child, and its thread'
        or diag outputs($run);
};

# Three trees of seven threads, all of which load a module and run string evals.
my $TREES = $WORK . <<'P';
use threads::shared;
sub grow {
    my $height = shift;
    my @below = $height > 0 ? map { threads->create('grow', $height - 1) } 1 .. 2 : ();
    my $made = eval 'require Text::Wrap; sub { work($_[0]) }';
    $made->($_) for 1 .. 30;
    $_->join for @below;
}
$_->join for map { threads->create('grow', 2) } 1 .. 3;
print "done\n";
P

scenario 'many threads at a time' => sub {
    for my $opts ('', 'calls=0:compress=0') {
        my $run = run_same(label => "'$opts'", opts => $opts, code => $TREES);
        my $n = 0;
        $n += n_calls(numbered($run, $_), 'main::work') for 1 .. 21;
        is $n, 630, 'calls of all';
    }
    for my $opts ('start=no', 'sample=1000') {
        my $run = run_same(label => "'$opts'", opts => $opts, code => $TREES);
        is outputs($run), '', 'no file' if $opts eq 'start=no';
    }
};

scenario 'each thread has its own processor time' => sub {
    my $run = run_same(label => 'sample', opts => 'sample=1000:sample_clock=cpu:sample_budget=0', code => <<'P');
use threads; use Time::HiRes qw(clock_gettime CLOCK_THREAD_CPUTIME_ID);
sub spin { my $end = clock_gettime(CLOCK_THREAD_CPUTIME_ID) + $_[0]; my $n = 0; while (clock_gettime(CLOCK_THREAD_CPUTIME_ID) < $end) { $n += $_ for 1 .. 500 } return $n }
spin(0.6);
threads->create(sub { spin(0.2) })->join;
P
    my $export = root() . '/bin/nytp-export';
    my @cpu;
    for my $path ("$run->{dir}/nytprof.out", "$run->{dir}/nytprof.out.t1") {
        my ($spin) = grep { $_->{name} eq 'main::spin' } @{ JSON::PP::decode_json(scalar qx{'$export' -q --json --unit=ns '$path'})->{subs} };
        push @cpu, ($spin->{inclusive} // 0) / 1e9;
    }
    # Chance: 1e-9 (the time behind the last sample is missing, which a machine that is ten times too busy makes 40 ms)
    cmp_ok abs($cpu[0] - 0.6), '<', 0.15, "the first: $cpu[0] s";
    cmp_ok abs($cpu[1] - 0.2), '<', 0.15, "the one that it made: $cpu[1] s";
};

sub start_of { my ($run, $n) = @_; return numbered($run, $n)->{pid}[0][2] }

scenario 'before recording begins a program forks and makes threads' => sub {
    for my $start (qw(no end)) {
        my $run = run_prog(opts => "sample=1000:start=$start", code => 'my $pid = fork // die; exit 3 if !$pid; waitpid $pid, 0; print $?;');
        is "$run->{out} $run->{status}", '768 0', "start=$start: a child";
        $run = run_prog(opts => "sample=1000:start=$start", code => <<'P');
use threads;
print threads->create(sub { threads->create(sub { 5 })->join })->join;
P
        is "$run->{out} $run->{status} $run->{signal}", '5 0 0', "start=$start: threads";
    }
};

done_testing;
