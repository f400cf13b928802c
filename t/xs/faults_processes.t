# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Several processes, descriptors and signals: no profile lost, nothing written where it does not
# belong, no program changed.

use lib 't/lib';
use NYTPTest;
use Extended;

use Config;

my $F = "sub f { g() } sub g { 1 }\n";

sub profiles { return sort grep { -f && !-l } glob "$_[0]{dir}/*nytprof.out*" }
sub whole { return grep { read_profile($_)->{complete} } @_ }

my %FAMILY = (
    code => $F . 'f(); system $^X, "kid.pl" for 1 .. 2; my $p = fork; if (!$p) { f(); exit 0 } waitpid $p, 0; f();',
    files => { 'kid.pl' => "sub k { 1 }\nk(); system \$^X, '-e', '1';\n", 'nytprof.out.7' => 'an old one' },
);

scenario 'child processes\' profiles are said by the first process, once' => sub {
    my $run = run_prog(%FAMILY, how => 'opt', opts => 'log=log');
    my @files = profiles($run);
    is scalar @files, 7, 'six profiles and an old file' or diag "@files";
    is $run->{err}, '', 'nothing on standard error, which some program may read';
    my %app;
    $app{ read_profile($_)->{attr}{application} }++ for whole(grep { !/\.7\z/ } @files);
    is_deeply \%app, { 'prog.pl' => 2, 'kid.pl' => 2, '-e' => 2 }, 'whole, of each process';
    like join(' ', arc_lines(profile_in($run), want => qr/main::f/)), qr/main::RUNTIME 2 main::f x2/, 'the parent has the plain name';
    my @lines = split /\n/, slurp("$run->{dir}/log");
    is scalar(grep { /a process above is writing the profile, writing \S+nytprof\.out\.\d+$/ } @lines), 4, 'the log: each perl that was started'
      or diag "@lines";
    like $lines[-1], qr{also of this run, beside \S+/nytprof\.out: 5 \((?:nytprof\.out\.\d+ ?){5}\)$}, 'and in the end which';
    is scalar @lines, 5, 'and no more';
};

scenario 'on a terminal, too' => sub {
    my $terminal = run_on_terminal(%FAMILY, clean => 'nytprof.out.7');
    my @said = grep { /NYTProf/ } split /\r?\n/, $terminal->{out};
    is scalar @said, 1, 'one line' or diag "@said";
    like $said[0], qr{^Devel::NYTProf: also of this run, beside \S+/nytprof\.out: 5 \((?:nytprof\.out\.\d+ ?){5}\)$}, 'that names them';
};

scenario 'two programs at once with one file name' => sub {
    my $run = run_prog(how => 'opt', code => <<'P', files => { 'kid.pl' => <<'KID' });
my @pid = map { my $p = fork; if (!$p) { DB::disable_profile(); exec $^X, 'kid.pl', $_ } $p } 1 .. 2;
waitpid $_, 0 for @pid;
print "status $?\n";
P
sub k { 1 }
k() for 1 .. 300;
open my $here, '>', "here.$ARGV[0]" or die;
select undef, undef, undef, 0.01 until -e 'here.1' && -e 'here.2';
k();
print "kid\n";
KID
    is $run->{out}, "kid\nkid\nstatus 0\n", 'both run';
    my @kids = grep { read_profile($_)->{attr}{application} eq 'kid.pl' } profiles($run);
    is scalar(whole(@kids)), 2, 'both have a whole profile' or diag join "\n", profiles($run);
};

scenario 'chdir, then fork: the child\'s file is beside the parent\'s' => sub {
    my $run = run_prog(code => $F . <<'P');
mkdir 'else'; chdir 'else' or die;
my $pid = fork;
if (!$pid) { f(); exit 0 }
waitpid $pid, 0;
print $pid;
f();
P
    ok profile_in($run, "nytprof.out.$run->{out}"), 'child';
    whole_in($run, 'parent');
    is join(' ', glob "$run->{dir}/else/*"), '', 'nothing in the other folder';
};

scenario 'a daemon closes all descriptors and opens its own files' => sub {
    for my $opts ('', 'compress=0') {
        my $run = run_prog(opts => $opts, code => $F . <<'P');
use POSIX ();
f() for 1 .. 100;
POSIX::close($_) for 3 .. 1023;
my @h;
for my $n (1 .. 20) { open $h[$n], '>', "data$n" or die; syswrite $h[$n], "mine$n\n" }
f() for 1 .. 4_000;
close $_ for grep { $_ } @h;
print "ok\n";
P
        is "$run->{status} $run->{out}", "0 ok\n", "$opts: the program runs";
        my @bad = grep { slurp("$run->{dir}/data$_") ne "mine$_\n" } 1 .. 20;
        is "@bad", '', "$opts: not a byte in its files";
        cmp_ok scalar(split /\n/, $run->{err}), '<=', 1, "$opts: at most one line" or diag $run->{err};
        my $p = profile_in($run);
        ok $p && stmt_total($p) >= 0, "$opts: what was written can be read";
    }
    my $run = run_prog(everyone => 1, code => $F . <<'P');
use POSIX ();
f();
my $child = fork; exit 0 if $child;
POSIX::setsid(); my $again = fork; POSIX::_exit(0) if $again;
chdir '/'; close STDIN; close STDOUT; close STDERR;
open STDIN, '<', '/dev/null'; open STDOUT, '>', '/dev/null'; open STDERR, '>', '/dev/null';
f() for 1 .. 5;
P
    my @f = profiles($run);
    is scalar(whole(@f)), 3, 'a real daemon: three whole files' or diag "@f";
};

scenario 'the profile\'s descriptor is high and not inherited' => sub {
    my $low = 'opendir my $d, "/proc/self/fd"; print "low ", join " ", grep { /^\d$/ } sort readdir $d;';
    my $run = run_prog(code => "print `ls -l /proc/self/fd`; $low");
    unlike $run->{out}, qr/nytprof\.out/, 'a child program does not see it';
    open my $plain, '-|', $^X, '-e', $low or die;
    my $as_without = readline $plain;
    like $as_without, qr/^low 0 1 2 /, 'what is taken without us';
    like $run->{out}, qr/^\Q$as_without\E$/m, 'no low descriptor more';
};

scenario 'unsafe signals with handlers' => sub {
    my $run = run_prog(env => { PERL_SIGNALS => 'unsafe' }, code => <<'P');
use Time::HiRes ();
my $n = 0;
sub handler { my @x = map { $_ * 2 } 1 .. 3; $n++; other(scalar @x) }
sub other { my $y = shift; return $y }
$SIG{ALRM} = \&handler;
Time::HiRes::setitimer(Time::HiRes::ITIMER_REAL(), 0.0007, 0.0007);
sub work { my $i = shift; my $x = $i * 2; return $x + 1 }
my $t = 0;
while ($n < 150) { $t = work($t) % 1000 }
Time::HiRes::setitimer(Time::HiRes::ITIMER_REAL(), 0);
print "ok\n";
P
    is "$run->{status} $run->{signal} $run->{out}", "0 0 ok\n", 'runs' or diag $run->{err};
    ok +(profile_in($run) || {})->{complete}, 'whole';
};

scenario 'a child whose profile cannot be opened keeps the value of $!' => sub {
    my $run = run_prog(opts => 'file=gone/nytprof.out', shell => 'mkdir gone', code => <<'P');
unlink 'gone/nytprof.out';
rmdir 'gone' or die;
$! = 7;
my $pid = fork;
my $errno = $! + 0;
if (!$pid) { print "$errno\n"; exit 0 }
waitpid $pid, 0;
P
    is $run->{out}, "7\n", 'as before the fork';
    is scalar(() = $run->{err} =~ /cannot open/g), 1, 'which is said once';
};

scenario 'safe signals in a storm' => sub {
    my $run = run_prog(code => <<'P');
use Time::HiRes ();
my $n = 0;
my $inside; # perl leaves an eval, with $^S still set, a moment before it is safe to die
$SIG{ALRM} = sub { $n++; die "out\n" if $inside && $n % 3 == 0 };
Time::HiRes::setitimer(Time::HiRes::ITIMER_REAL(), 0.001, 0.001);
sub work { my $i = shift; return rec(3) } sub rec { my $n = shift; $n ? rec($n - 1) : 1 }
while ($n < 60) { eval { $inside = 1; work() for 1 .. 300; $inside = 0 }; $inside = 0 }
Time::HiRes::setitimer(Time::HiRes::ITIMER_REAL(), 0);
print "ok\n";
P
    is "$run->{status} $run->{signal} $run->{out}", "0 0 ok\n", 'runs';
    whole_in($run, 'whole, sums right');
};

scenario 'finishing the profile takes no time from a timer' => sub {
    # The reader sleeps until the timer would have run out; a FIFO holds 64 kB, which are less than the profile.
    # The test fails if the program needs the timer's 0.3 s for three statements, or the reader comes 0.5 s late: the
    # recorder waits a second for it. Chance: 1e-9 (that is some thousand times as long as alone; beside eight busy loops a processor comes back after some 20 ms).
    my %timer = ('that kills' => '0.3', 'with a handler, which perl gives up before END blocks' => '0.3, 0.1');
    for my $name (sort keys %timer) {
        my $run = run_prog(
            opts  => 'file=pipe:compress=0',
            shell => fifo_reader('pipe', 'sleep 0.5; cat > part; mv part copy.out'),
            code  => "use Time::HiRes;\n" . ($name =~ /handler/ ? "\$SIG{ALRM} = sub { };\n" : '')
                . "Time::HiRes::setitimer(Time::HiRes::ITIMER_REAL(), $timer{$name});\nexit 3;\n"
                . ('#' x 99 . "\n") x 3000,
        );
        is "$run->{status} $run->{signal}", '3 0', "$name: the program ends before it" or diag $run->{err};
        cmp_ok $run->{seconds}, '>', 0.3, "$name: finishing took longer";
        whole_in($run, "$name: whole, sums right", await(sub { -e "$run->{dir}/copy.out" && 'copy.out' }));
    }
};

scenario 'closed standard descriptors' => sub {
    for my $shell ('exec 2>&-', 'exec 0<&- 1>&- 2>&-', 'exec 0<&-') {
        my %program = (shell => $shell, code => $F . q[f(); open my $x, '>', 'result'; print $x fileno($x) < 3 ? 'low' : 'high'; close $x; exit 7;]);
        my ($run, $plain) = (run_prog(%program), run_plain(%program));
        is $run->{status}, 7, "$shell: status";
        my @got = map { slurp("$_->{dir}/result") } $run, $plain;
        # perl itself keeps a module's handle open that it got as descriptor 1 or 2
        is $got[0], $got[1], "$shell: same descriptors" if $shell !~ /1>/;
        whole_in($run, "$shell: whole");
    }
};

scenario 'a thread that loads the profiler once more goes on in its own profile' => sub {
    plan skip_all => 'this perl has no threads' if !$Config{useithreads};
    for my $how (qw(-d use)) {
        my $run = run_prog(how => $how, code => $F . <<'P');
use threads;
sub again { delete @INC{ grep { /NYTProf/ } keys %INC }; $^P = 0; require Devel::NYTProf; Devel::NYTProf->import; f() for 1 .. 5; return 'again' }
print threads->create('again')->join, "\n";
f() for 1 .. 10;
print eval 'sub h { f() } h()', "\n";
P
        is "$run->{status} $run->{signal} $run->{out}", "0 0 again\n1\n", "$how: runs";
        my $p = whole_in($run, "$how: whole");
        is_deeply [map { n_calls($p, $_) } qw(main::f main::h)], [11, 1], "$how: calls of the first interpreter";
        is n_calls(profile_in($run, 'nytprof.out.t1') || {}, 'main::f'), 5, "$how: calls of the thread";
    }
};

my $LATE = <<'P';
package Late;
sub new { return bless { at_end => $_[1] } }
sub DESTROY { main::g(); $_[0]{at_end}->() if $_[0]{at_end} && ${^GLOBAL_PHASE} eq 'DESTRUCT' }
package main;
our @objects = map { Late->new } 1 .. 3;
$objects[0]{loop} = \@objects;
P

scenario 'destructors that run in global destruction are recorded' => sub {
    for my $opts (matrix()) {
        my $run = run_prog(code => "$F$LATE\nf();\n", opts => $opts);
        is "$run->{status} $run->{err}", '0 ', "$opts: runs";
        my $p = whole_in($run, "$opts: whole, sums right");
        is stmt_counts($p)->{4}, 6, "$opts: statements of three destructors" if $opts !~ /stmts=0/;
        my ($arc) = arcs_to($p, 'Late::DESTROY');
        is "$arc->{count} $arc->{caller} $arc->{line}", '3 main::NULL 0', "$opts: their calls";
    }
};

scenario 'global destruction that does not come to its end' => sub {
    my %end = (
        'a signal' => ['kill KILL => $$', '0 9'],
        '_exit' => ['POSIX::_exit(5)', '5 0'],
        'an exit' => ['exit 5', '5 0'],
        'a fork' => ['fork or main::f(); wait', '0 0'],
        'a fork that exits' => ['fork or main::f() && exit 5; wait', '0 0'],
        'an exec' => ['exec $^X, "-e", "exit 3"', '3 0'],
        'an exec that fails' => ['no warnings; exec "/nowhere/nothing"', '0 0'],
        'a finished profile' => ['DB::finish_profile()', '0 0'],
        'another profile' => ['DB::enable_profile("other"); main::f()', '0 0'],
        'a death' => ['$SIG{__WARN__} = sub { }; die "late"', '0 0'],
    );
    for my $name (sort keys %end) {
        my ($code, $want) = @{ $end{$name} };
        my $run = run_prog(code => "use POSIX ();\n$F$LATE\nf();\n\$objects[1]{at_end} = sub { $code };\n");
        is "$run->{status} $run->{signal} $run->{err}", "$want ", "$name: as without us";
        my @files = sort map { glob "$run->{dir}/$_" } 'nytprof.out*', 'othe[r]';
        is scalar @files, $name =~ /fork|another/ ? 2 : 1, "$name: files";
        for my $file (@files) {
            my $p = $name eq 'a signal' ? read_profile($file) : whole_in($run, "$name: $file", $file);
            cmp_ok stmt_total($p), '>', 0, "$name: statements";
        }
    }
};

scenario 'a profile that begins in global destruction, which ends early' => sub {
    my $run = run_prog(opts => 'start=no', code => "$F$LATE\$objects[1]{at_end} = sub { DB::enable_profile(); f(); exit 5 };\n");
    is "$run->{status} $run->{err}", '5 ', 'as without us';
    is n_calls(whole_in($run, 'whole'), 'main::f'), 1, 'what ran';
};

# 60 ms of processor time and more; 60 samples are lost by the same reckoning as in t/xs/ends.t. Chance: 1e-22.
scenario 'samples are taken where a library stands before the clock' => sub {
    my ($library) = glob '/usr/lib/*/faketime/libfaketime.so.1' or plan skip_all => 'no faketime';
    plan skip_all => 'two libraries to preload' if sanitized();
    for my $time ('+0', '+0 x10', '@2020-01-01 00:00:00') {
        for my $opts ('sample=1000', 'sample=1000:clock=1') {
            my $run = run_prog(opts => $opts, env => { LD_PRELOAD => $library, FAKETIME => $time }, code => <<'P');
sub cpu { my @t = times; return $t[0] + $t[1] }
sub work { my $s = 0; $s += $_ for 1 .. 500; return $s }
my $until = cpu() + 0.07;
work() while cpu() < $until;
print time, "\n";
P
            is $run->{err}, '', "$time, $opts: runs";
            my $p = profile_in($run);
            cmp_ok stmt_total($p), '>', 0, "$time, $opts: samples";
            cmp_ok $run->{out}, '<', 1.6e9, 'the program sees the clock that was set' if $time =~ /2020/;
        }
    }
};

done_testing;
