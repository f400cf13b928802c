# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# NYTPROF=sample=HZ: the shares of subs and lines are right where the hot op is the last of its sub;
# the program behaves as without us; nothing that sleeps is interrupted.

use lib 't/lib';
use NYTPTest qw(stock_command);
use Recorded qw(folder in_folder put slurp);
use Extended;

use Config;
use Cwd qw(getcwd);
use List::Util qw(sum);
use Time::HiRes qw(time);
use Devel::NYTProf::Data;
use Devel::NYTProf::ReadStream qw(for_chunks);

my $top = getcwd();

# Returns a program's output, on either handle, and its status; with options it is profiled.
sub run {
    my ($program, $options) = @_;
    local $ENV{NYTPROF} = join ':', 'file=' . folder() . '/out', 'sample_budget=0', $options // ();
    local $ENV{PERL5LIB} = join ':', map {"$top/blib/$_"} qw(lib arch);
    my $switch = defined $options ? '-d:NYTProf' : '';
    unlink glob(folder() . '/out*');
    my $printed = in_folder(sub { scalar qx{$^X $switch $program 2>&1} });
    return $printed . "status $?\n";
}

sub load {
    my ($file) = @_;
    return Devel::NYTProf::Data->new({ filename => $file // folder() . '/out', quiet => 1 });
}

sub is_whole {
    my ($file) = @_;
    system "$top/bin/nytp-export --check $file >/dev/null 2>&1";
    return $? == 0;
}

# Returns what nytp-export prints of the last run, and a column of its CSV by sub.
sub shown { my ($options) = @_; return in_folder(sub { scalar qx{$top/bin/nytp-export -q $options out} }) }
use constant { OWN_NS => 5, CPU_NS => 7 };
sub by_sub { my ($column) = @_; return map { (split /,/)[0, $column] } split /\n/, shown('--csv') }

# Runs a program until so many samples were taken, in as many runs as that needs, and looks at each; false where one fails.
sub sample {
    my ($least, $program, $options, $look) = @_;
    my $samples = 0;
    while ($samples < $least) {
        my $printed = run($program, $options);
        $printed =~ /^status 0$/m or return diag $printed;
        my $profile = load();
        $look->($profile);
        $samples += $profile->attributes->{samples} or return 0;
    }
    return 1;
}

# Returns each part's share of a program's time, in percent: the program says so itself when
# it runs without us and reads the clock of its thread before and after each part. Profiled it
# makes so many rounds and reads no clock: on a busy machine programs are stopped in system calls
# more than elsewhere, and what reads clocks would be sampled there.
sub true_shares {
    my ($program) = @_;
    my %spent = run($program) =~ /^(\w+) ([\d.e-]+)$/mg;
    delete $spent{status};
    my $sum = sum(values %spent);
    return map { $_ => 100 * $spent{$_} / $sum } keys %spent;
}

# Returns what is wrong with the shares of a sampled program's parts, as lines of text. Each part has an eighth of the time
# or more, and 2,000 samples or more are taken: 250 of a part, which are a half or twice as many by chance only eight
# standard deviations away. bench/causal tells how near shares come.
sub wrong_shares {
    my ($program, $rounds, $true, $times_in) = @_;
    my %seen;
    sample(2000, "$program $rounds", 'sample=2000:sample_clock=cpu', sub {
        my %times = $times_in->($_[0]);
        $seen{$_} += $times{$_} // 0 for keys %$true;
    }) or return 'a run failed, or had no sample';
    my $sum = sum(values %seen);
    my @wrong;
    for my $part (sort keys %$true) {
        my $is = 100 * $seen{$part} / ($sum || 1);
        my $line = sprintf '%-8s %5.1f %% should be %5.1f %%', $part, $is, $true->{$part};
        note $line;
        push @wrong, $line if $is < $true->{$part} / 2 || $is > $true->{$part} * 2;
    }
    return @wrong;
}

# The beginning of both programs: seven lines.
my $MEASURED = <<'PERL';
use strict; use Time::HiRes qw(clock_gettime CLOCK_THREAD_CPUTIME_ID);
use Digest::SHA (); use List::Util qw(sum);
my $text = join " ", map { "word$_" } 1 .. 1500;
my @list = map { ($_ * 7919) % 10007 } 1 .. 2500;
my $sha = Digest::SHA->new(256);
my ($rounds, @spent, %spent, $n, %h) = shift;
sub now { $rounds ? 0 : clock_gettime(CLOCK_THREAD_CPUTIME_ID) }
PERL

# In all of these subs perl comes to no safe point between the hot op and the return.
my $tails = put('tails.pl', $MEASURED . <<'PERL');
sub rx { return scalar(() = $text =~ /w(o)rd(\d+)/g) }
sub srt { my @s = sort { $a % 1000 <=> $b % 1000 } @list; scalar @s }
sub digest { Digest::SHA::sha1_hex($text x 40) }
sub method { $sha->add($text x 20) }
sub mapper { scalar(map { $_ * 2 + 1 } (@list) x 10) }
sub nested { inner(@_) }
sub inner { sum(map { sqrt } (@list) x 8) }
sub loop { my $n = 0; for my $x ((@list) x 10) { $n += $x if $x & 1 } $n }
my @names = qw(rx srt digest method mapper nested loop);
no strict 'refs';
if ($rounds) {
    for (1 .. $rounds) { &$_() for @names }
    exit;
}
my $began = now();
while (now() - $began < 0.4) {
    for my $name (@names) {
        my $from = now();
        &$name();
        $spent{$name} += now() - $from;
    }
}
print "$_ $spent{$_}\n" for sort keys %spent;
PERL

{
    my %true = true_shares($tails);
    is scalar(keys %true), 7, 'tails: all are measured';
    my @wrong = wrong_shares($tails, 200, \%true, sub { # Chance: 1e-12 (seven parts, as said above)
        map { $_->subname =~ /\Amain::(\w+)\z/ ? ($1 => $_->incl_time) : () } values %{ $_[0]->subname_subinfo_map };
    });
    is_deeply \@wrong, [], 'tails: each sub has its share';
    my $profile = load();
    my %names = map { $_->subname => $_ } values %{ $profile->subname_subinfo_map };
    ok $names{$_} && $names{$_}->calls > 0, "tails: $_ is seen"
        for qw(main::inner Digest::SHA::sha1_hex Digest::SHA::add main::CORE:match
            main::CORE:sort);
    is join(' ', grep {/nested/} callers_of($names{'main::inner'})), 'main::nested', 'tails: who called is known when both have returned';
    my $attribute = $profile->attributes;
    is $attribute->{sampled}, 1, 'attributes: it is sampled';
    is $attribute->{sample_interval_ns}, 500_000, 'attributes: the interval';
    cmp_ok $attribute->{samples}, '>', 50, 'attributes: how many samples';
    ok is_whole(folder() . '/out'), 'tails: the profile adds up';
}

{
    my $program = put('lines.pl', $MEASURED . <<'PERL');
sub lines {
    my $t0 = now();
    for my $x ((@list) x 3) { $n += $x & 7 }
    my $t1 = now();
    $n += () = $text =~ /w(o)rd(\d+)/g;
    my $t2 = now();
    my @s = sort { $a % 1000 <=> $b % 1000 } @list;
    my $t3 = now();
    $n += length Digest::SHA::sha1_hex($text x 10);
    my $t4 = now();
    $sha->add($text x 8);
    my $t5 = now();
    $h{ $_ % 97 } .= 'x' for @list; %h = ();
    my $t6 = now();
    my @w = map { sprintf '%05d', $_ } @list;
    my $t7 = now();
    my @t = ($t0, $t1, $t2, $t3, $t4, $t5, $t6, $t7);
    $spent[$_] += $t[$_ + 1] - $t[$_] for 0 .. 6;
}
if ($rounds) { lines() for 1 .. $rounds; exit }
my $began = now();
lines() while now() - $began < 0.4;
printf "%d %.6f\n", 10 + 2 * $_, $spent[$_] for 0 .. 6; # their numbers
PERL
    my %true = true_shares($program);
    is scalar(keys %true), 7, 'lines: all are measured';
    my @wrong = wrong_shares($program, 400, \%true, sub { # Chance: 1e-12, likewise
        my ($file) = grep { $_->filename =~ /lines\.pl\z/ } $_[0]->all_fileinfos;
        my $times = $file->line_time_data;
        map { $_ => $times->[$_] ? $times->[$_][0] : 0 } keys %true;
    });
    is_deeply \@wrong, [], 'lines: each has its share';
}

# The names of a sub's callers.
sub callers_of {
    my ($sub) = @_;
    my %callers;
    for my $lines (values %{ $sub->caller_fid_line_places || {} }) {
        for my $place (values %$lines) {
            $callers{$_} = 1 for keys %{ $place->[7] || $place->[-1] || {} };
        }
    }
    return sort keys %callers;
}

{
    my $never = join '', map { "sub never_$_ { return $_ }\n" } 1 .. 300;
    my $program = put('many.pl', <<'PERL' . $never);
use strict; use Time::HiRes 'clock';
sub busy { my $until = clock() + 0.3; my $n = 0; while (clock() < $until) { $n += $_ for 1 .. 200 } return $n }
sub outer { my $n = busy(); return $n }
outer();
PERL
    run($program, 'sample=1000');
    my $subs = load()->subname_subinfo_map;
    is join(' ', map { join ':', $_, $subs->{"main::$_"}->first_line, $subs->{"main::$_"}->last_line }
            grep { $subs->{"main::$_"} } qw(busy outer)), 'busy:2:2 outer:3:3', 'subs that samples saw have their lines';
    is join(' ', grep { /^main::never/ } sort keys %$subs), '', 'no other subs are described';
}

{
    my $program = put('late.pl', <<'PERL');
use strict; use Time::HiRes 'clock';
sub busy { my $until = clock() + $_[0]; my $n = 0; while (clock() < $until) { $n += $_ for 1 .. 200 } return $n }
sub Late::DESTROY { busy(0.3); return }
our $late = bless [], 'Late'; busy(0.1);
PERL
    run($program, 'sample=1000');
    my $destroy = load()->subname_subinfo_map->{'Late::DESTROY'};
    cmp_ok $destroy ? $destroy->incl_time : 0, '>', 0.2, 'what global destruction runs for long is sampled';
    ok is_whole(folder() . '/out'), 'and the profile has an end behind it';
}

# Perl runs each `use` on a stack of its own, which begins above the file that says it.
{
    put('Outer.pm', "package Outer; use Inner; 1;");
    put('Inner.pm', 'package Inner; use Time::HiRes "clock"; sub busy { my ($n, $until) = (0, clock() + 0.2); while (clock() < $until) { $n += $_ for 1 .. 999 } } busy(); 1;');
    run('-I. ' . put('loads.pl', "use Outer;\n"), 'sample=1000');
    my @us = shown('--collapsed --weight=cpu')
        =~ /^main::RUNTIME;main::BEGIN\@1;Outer::BEGIN\@1;Inner::busy(?:;Time::HiRes::clock)? (\d+)$/mg;
    cmp_ok sum(0, @us), '>', 100_000, 'what a module does that is loaded by a module is its own';
}

my $sleeper = put('sleeper.pl', <<'PERL');
use strict; use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC usleep nanosleep); use IO::Poll qw(POLLIN);
sub took { my ($name, $least, $code) = @_;
    my $from = clock_gettime(CLOCK_MONOTONIC); local $! = 0;
    my $result = $code->(); my $errno = $! + 0;
    my $took = clock_gettime(CLOCK_MONOTONIC) - $from;
    print "$name ", ($took >= $least - 0.001 ? 'whole' : "only $took"), ' ', $result, " $errno\n" }
sub later { # a child that writes 0.08 s after $go was closed
    pipe my $r, my $w or die; pipe my $when, our $go or die; my $pid = fork;
    if (!$pid) { close $go; sysread $when, my $end, 1; select undef, undef, undef, 0.08; syswrite $w, 'x'; require POSIX; POSIX::_exit(0) }
    close $w; return ($r, $pid) }
took('select', 0.1, sub { scalar select undef, undef, undef, 0.1 });
took('usleep', 0.05, sub { usleep(50_000) > 0 ? 1 : 0 });
took('nanosleep', 0.05, sub { nanosleep(50_000_000) > 0 ? 1 : 0 });
took('sleep', 1, sub { sleep(1) > 0 ? 1 : 0 });  # 2, where it ends late in a second
my ($r, $pid) = later();
took('sysread', 0.05, sub { close our $go; sysread $r, my $byte, 1 });
took('waitpid', 0, sub { waitpid($pid, 0) == $pid ? 1 : 0 });
($r, $pid) = later();
took('poll', 0.05, sub { close our $go; my $poll = IO::Poll->new; $poll->mask($r => POLLIN); $poll->poll(5) });
waitpid $pid, 0;
($r, $pid) = later();
took('select on a handle', 0.05, sub { close our $go; my $in = ''; vec($in, fileno $r, 1) = 1; scalar select $in, undef, undef, 5 });
waitpid $pid, 0;
PERL

{
    my $plain = run($sleeper);
    my $from = time;
    is run($sleeper, 'sample=1000'), $plain, 'what sleeps is not interrupted';
    my $all = time - $from;
    my %time = map { $_->subname => $_->incl_time } values %{ load()->subname_subinfo_map };
    cmp_ok $time{'main::CORE:sleep'}, '>', 0.95, 'a sleep is as long as it was';
    cmp_ok $time{'main::CORE:sleep'}, '<', $all, 'and no longer than the program';
    run($sleeper, 'sample=1000:sample_clock=cpu');
    %time = map { $_->subname => $_->incl_time } values %{ load()->subname_subinfo_map };
    cmp_ok $time{'main::CORE:sleep'} // 0, '<', 0.1, 'sample_clock=cpu: it took no processor time';
}

my %programs = (
    'touches no %SIG' => <<'PERL',
for my $i (1 .. 30000) { my @x = map { $_ + $i } 1 .. 10; $i % 7 and next; 1 if "@x" =~ /(\d+) (\d+)$/ } print "done\n";
PERL
    'loads, evals, dies' => <<'PERL',
use strict; use warnings; my $n = 0;
for my $i (1 .. 800) { my $f = eval "sub { my \$x = shift; \$x + $i }"; $n += $f->($i);
    eval { die { code => $i } }; $n += $@->{code}; eval "syntax error $i +"; $n++ if $@ }
require Text::Wrap; require Data::Dumper; print "$n\n"; $! = 5; $n = () = "a" x 90000 =~ /a/g; print $! + 0, "\n"; exit 3;
PERL
    'signals' => <<'PERL',
my $n = 0; $SIG{USR1} = sub { $n++ }; for (1 .. 200) { kill USR1 => $$; my $x = 0; $x += $_ for 1 .. 300 }
local $SIG{ALRM} = sub { die "late\n" }; use Time::HiRes qw(alarm); eval { alarm 0.05; 1 while 1 }; print "$n $@";
PERL
    'forks' => <<'PERL',
sub work { my $n = 0; $n += $_ for 1 .. 20000; $n } my $bad = 0;
for my $i (1 .. 40) { my $pid = fork; if (!$pid) { work(); exit $i % 4 } waitpid $pid, 0; $bad++ if $? >> 8 != $i % 4; } print "bad $bad\n"; work() for 1 .. 20;
PERL
    'execs' => 'sub w { my $n = 0; $n += $_ for 1 .. 200000 } w(); no warnings; exec "/does/not/exist" or print "no\n"; w(); $| = 1; exec $^X, "-e", "print qq(other\\n); exit 2";',
    'recurses' => 'no warnings; sub d { my $n = shift; return $n < 1 ? 0 : 1 + d($n - 1) } print d(30000), "\n" for 1 .. 8;',
    'destroys' => 'package G { sub DESTROY { my $n = 0; $n += $_ for 1 .. 100000; print "gone\n" } } our $g = bless []; { bless [], "G" } our $h = bless [], "G"; END { print "end\n" }',
    'sorts and ties' => <<'PERL',
package T { sub TIESCALAR { bless [] } sub FETCH { my $n = 0; $n += $_ for 1 .. 200; $n } } package main;
use overload; sub by { $a <=> $b } tie my $t, 'T'; my $s = 0; for (1 .. 300) { $s += $t; my @s = sort by map { ($_ * 7919) % 101 } 1 .. 60; $s += $s[3] } print "$s\n";
PERL
    'ends by a signal' => 'my $n = 0; $n += $_ for 1 .. 300000; $| = 1; print "so far\n"; kill KILL => $$;',
    'fork storm' => <<'PERL',
sub work { my $n = 0; $n += $_ for 1 .. 3000; $n } my $bad = 0;
for my $round (1 .. 4) {
    my @pids = map { my $i = $_; my $pid = fork // die; if (!$pid) { work(); my $below = fork // die; if (!$below) { work(); exit 0 } work(); waitpid $below, 0; exit $i } $pid } 1 .. 12;
    for my $i (1 .. 12) { waitpid $pids[$i - 1], 0; $bad++ if $? >> 8 != $i } work();
}
print "bad $bad\n";
PERL
    'gives up root' => <<'PERL',
sub work { my $n = 0; $n += $_ for 1 .. 400000; $n }
sub owners { my %of; for my $file (glob '/proc/self/task/*/status') { open my $fh, '<', $file or next; /^[UG]id:\s+(.*)/ and $of{$1}++ while <$fh> } return join ',', sort keys %of }
work(); my $before = owners(); my $id = $> ? $> : 65534;
if (!$>) { $( = $) = "$id $id"; ($<, $>) = ($id, $id) }
my ($after, $until) = ("", time + 600); do { work(); $after = owners() } until $after !~ /,.*,/ || time > $until; my $is_new = $before ne $after || $id != 65534;
print join(' ', $is_new, $after =~ /^(\d+)(\s+\d+){3}(?:,\d+(\s+\d+){3})?$/ ? 'one owner' : "owners: $after"), "\n"; print work(), "\n";
PERL
    'has all descriptors' => <<'PERL',
use POSIX (); sub work { my $n = 0; $n += $_ for 1 .. 400000; $n } work();
POSIX::close($_) for 3 .. 5000; open my $file, '+>', undef or die; my @all;
while (open my $again, '+<&', $file) { push @all, $again; last if fileno $again > 4200 }
close $_ for @all[0 .. 29]; work() for 1 .. 3; print -s $file ? "written to\n" : "left alone\n";
PERL
    'no $> left' => '$> = 65534 if !$>; my $n = 0; $n += $_ for 1 .. 300000; print "$n\n"; $> = $<; $n += $_ for 1 .. 300000; print "$n\n";',
);

for my $name (sort keys %programs) {
    my $program = put('program.pl', $programs{$name});
    my $plain = run($program);
    is run($program, 'sample=5000'), $plain, "$name: as without us";
    my @files = glob(folder() . '/out*');
    my @not_whole = grep { !is_whole($_) } @files;
    is "@not_whole", '', "$name: whole profiles" if $name !~ /signal$/;
    cmp_ok scalar(@files), '>', $name eq 'forks' ? 5 : 96, "$name: children have theirs" if $name =~ /^fork/;
}

is run("$top/t/xs/soak.pl 1", 'sample=10000'), "soaked\nstatus 0\n",
    'code that is loaded, run and freed without end';

SKIP: {
    skip 'perl without threads', 3 if !$Config{useithreads};
    my $program = put('threads.pl', <<'PERL');
use strict; use threads; use Time::HiRes qw(clock_gettime CLOCK_THREAD_CPUTIME_ID);
sub now { clock_gettime(CLOCK_THREAD_CPUTIME_ID) }
sub work { my $until = now() + 0.15; my $n = 0; while (now() < $until) { $n += $_ for 1 .. 500 } 1 }
my @t = map { threads->create(\&work) } 1 .. 3; work(); my $n = 0; $n += $_->join for @t; print "joined $n\n";
PERL
    my $plain = run($program);
    is run($program, 'sample=2000'), $plain, 'threads: as without us';
    my @files = sort glob(folder() . '/out*');
    is scalar(grep { is_whole($_) } @files), 4, "threads: each has a whole profile";
    my @with_work = grep { my $map = load($_)->subname_subinfo_map; $map->{'main::work'} && $map->{'main::work'}->incl_time > 0.05 } @files;
    is scalar(@with_work), 4, 'threads: and each has seen its own';
}

SKIP: {
    skip 'no Coro', 2 if !eval { require Coro; 1 };
    my $program = put('coro.pl', <<'PERL');
use strict; use Coro; my $n = 0;
sub work { for (1 .. 40) { for my $x (1 .. 800) { $n += $x } cede } }
my @c = map { async { work() } } 1 .. 5; $_->join for @c; print "$n\n";
PERL
    is run($program, 'sample=5000'), run($program), 'Coro: as without us';
    $program = put('in_coro.pl', <<'PERL');
use strict; use Coro; my $n = 0;
sub work { for (1 .. 100) { for my $x (1 .. 800) { $n += $x } } }
my $first = async { DB::enable_profile(); work() };
$first->join;
for (1 .. 30) {
    my @c = map { async { my @sorted = sort { work() if rand() < 0.02; $a <=> $b } map rand, 1 .. 40; cede; work() } } 1 .. 5;
    $_->join for @c;
}
print "done\n";
PERL
    is run($program, 'sample=20000:start=no'), "done\nstatus 0\n", 'Coro: begun in a coroutine, which frees its stacks when it ends';
}

# How many samples there are in a file: the calls of the first begin with a time record of nothing.
sub times_in {
    my ($file) = @_;
    my $n = 0;
    for_chunks { my ($tag) = @_; $n++ if $tag =~ /^TIME_/ } filename => $file;
    return $n > 0 ? $n - 1 : 0;
}

{
    my $program = put('files.pl', <<'PERL');
sub work { my $n = 0; for (1 .. 300) { $n += $_ for 1 .. 1000 } $n }
work(); DB::enable_profile('out.second'); work();
if (!fork) { work(); exit } wait;
PERL
    is run($program, 'sample=2000'), "status 0\n", 'a file, a second, one of a child';
    my @files = glob folder() . '/out*';
    is scalar @files, 3, 'three files';
    for my $file (@files) {
        my ($attribute, $n) = (load($file)->attributes, times_in($file));
        cmp_ok $attribute->{samples}, '<=', $n, "$file: samples are those of this file";
        cmp_ok $attribute->{sample_ticks}, '<=', 2000 * 1.1 * $attribute->{total_stmts_duration} + 20, 'so are ticks';
    }
}

# Where stacks are deep and change, samples become rarer, and as before when that is over: who runs this
# looks at what each file says at its end. A window of the budget is a second long.
{
    my $program = put('budget.pl', <<'PERL');
use Time::HiRes qw(time);
no warnings 'recursion';
sub deep { my $n = shift; return $n > 0 ? deep($n - 1) + 1 : 0 }
sub flat { my $n = 0; $n += $_ for 1 .. 1000; return $n }
sub is_slow { open my $fh, '<', $_[0] or die "$_[0]: $!"; local $/; return <$fh> =~ /^:sample_last_interval_ns=/m }
my $n = 0;
sub file_after {
    my ($work) = @_;
    my $file = 'out.' . ++$n;
    DB::enable_profile($file);
    for (my $until = time + 1.3; time < $until;) { $work->() }
    DB::finish_profile();
    return $file;
}
sub until_it { my ($is, $work) = @_; for (1 .. 40) { return 'yes' if !$is == !is_slow(file_after($work)) } return 'never' }
print 'slower: ', until_it(1, sub { deep(900) }), ', as before: ', until_it(0, sub { flat(); select undef, undef, undef, 0.01 }), "\n";
PERL
    is run($program, 'sample=1000:sample_budget=1:compress=0:start=no'), "slower: yes, as before: yes\nstatus 0\n",
        'the budget makes samples rarer, for as long as it is needed';
}

# It has a stack of its own, and the pad of the sub that it stands in.
{
    my $program = put('sorting.pl', <<'PERL');
sub sorter { my @sorted = sort { my $n = 0; $n++ for 1 .. 2000; $a <=> $b } 1 .. 20; return }
sorter() for 1 .. 200;
PERL
    like run($program, 'sample=2000'), qr/^status 0$/, 'a sort with a block';
    my $stacks = shown('--collapsed');
    like $stacks, qr/^main::RUNTIME;main::sorter;main::CORE:sort \d+$/m, 'is in its sub';
    unlike $stacks, qr/main::sorter;main::sorter/, 'once';
}

# Runs a program until its samples of sorts have so many microseconds: those in the sub `sorter`, and all others.
sub sorted_us {
    my ($program, $rate, $enough) = @_;
    my ($there, $elsewhere) = (0, 0);
    for (1 .. 100) {
        run($program, "sample=$rate");
        my %us = shown('--collapsed') =~ /^(.*;main::CORE:sort) (\d+)$/mg;
        for (keys %us) { (/sorter;main::CORE:sort\z/ ? $there : $elsewhere) += $us{$_} }
        last if $there + $elsewhere > $enough;
    }
    return ($there, $elsewhere);
}

# A sort of two takes less than a look at all stacks, and no op is in progress between the calls of its block. Two of five samples had the sort in
# the sub that came next; now one of a hundred has, and 20 of 200 must have it to fail. Chance: 1e-12 (binomial).
{
    my $program = put('short_sorts.pl', <<'PERL');
my @two = ({ x => 1 }, { x => 2 });
sub sorter { my @s = sort { $a->{x} <=> $b->{x} } @two }
sub next_one { my $n = 0; $n += $_ for 1 .. 10; return }
sub outer { sorter() }
for (1 .. 100_000) { outer(); next_one() }
PERL
    my ($there, $elsewhere) = sorted_us($program, 2000, 100_000);
    cmp_ok $elsewhere, '<', ($there + $elsewhere) / 10, 'a short sort is in its sub';
}

# The sub that a sort's block calls is mostly over when the contexts are read. Once half of its samples had the sort above it. Now none of
# hundreds has, and 10 must have it to fail. Chance: 1e-9.
{
    my $program = put('in_sort.pl', <<'PERL');
sub spin { my $n = 0; $n += $_ for 1 .. 5; $n }
sub sorter { my @s = sort { spin(); $a <=> $b } 1 .. 10 }
for (1 .. 30_000) { sorter() }
PERL
    my ($spin, $sort) = (0, 0);
    for (1 .. 100) {
        run($program, 'sample=2000');
        my $stacks = shown('--collapsed');
        $spin += $1 if $stacks =~ /main::sorter;main::spin (\d+)$/m;
        $sort += $1 if $stacks =~ /main::sorter;main::spin;main::CORE:sort (\d+)$/m;
        last if $spin + $sort > 100_000;
    }
    cmp_ok $sort, '<', $spin / 20, 'what the block of a sort calls has no sort in it';
}

# The next sub calls what the block of the sort calls. Where the stacks below were read late it had the sort above it: an eighth of all that sorted. Now a
# hundredth has, and 45 of 900 must have it to fail. Chance: 1e-13 (binomial).
{
    my $program = put('in_both.pl', <<'PERL');
sub spin { my $n = 0; $n += $_ for 1 .. $_[0]; $n }
sub sorter { for (1 .. 5) { eval { my @s = sort { die "x\n" if $a == 3; spin(10); $a <=> $b } 1 .. 6 } } }
sub next_one { spin(300) }
for (1 .. 20_000) { sorter(); next_one() }
PERL
    my ($there, $elsewhere) = sorted_us($program, 3000, 300_000);
    cmp_ok $elsewhere, '<', ($there + $elsewhere) / 20, 'what calls the same sub after a sort has no sort in it';
}

# The time that a program has used before it sleeps is not the sleep's: once it was half of all here. A look after a sleep may find the program
# waiting for a processor: a tenth of a millisecond in 100, and beside busy programs 5 %, as all that is worked waits, too. Four looks of 24 must do
# so to fail it. Chance: 1e-8.
SKIP: {
    skip 'here samples do not tell what is waited for', 2 if !NYTPTest::sees_waits();
    my $program = put('naps.pl', <<'PERL');
use Time::HiRes 'clock';
sub busy { my ($n, $until) = (0, clock() + 0.05); while (clock() < $until) { $n += $_ for 1 .. 50 } }
for (1 .. 12) { busy(); select undef, undef, undef, 0.05 }
PERL
    run($program, 'sample=20');
    my %cpu = by_sub(CPU_NS);
    my ($nap, $all) = ($cpu{'main::CORE:sselect'} // 0, sum grep {/^\d+$/} values %cpu);
    cmp_ok $all, '>', 300_000_000, 'a program that naps: its processor time is there';
    cmp_ok $nap, '<', $all / 3, 'and its naps took none of it';
}

# An xsub that takes a tenth of a microsecond is over when the stack is read; its op names it. These four have a third of the time here, and without
# their names a seventh was seen. Under 0.22 of 800 samples are six standard deviations. Chance: 1e-9.
{
    my $program = put('xsubs.pl', <<'PERL');
use List::Util qw(sum max);
use Scalar::Util qw(blessed looks_like_number);
use Time::HiRes 'clock';
my @rows = map { { id => $_, list => [1 .. 8], object => bless {} } } 1 .. 200;
sub work {
    my $t = 0;
    for my $r (@rows) { $t += sum(@{ $r->{list} }); $t++ if blessed($r->{object}); $t += max(@{ $r->{list} }); $t++ if looks_like_number($r->{id}) }
}
work() while clock() < 0.5;
PERL
    my ($xsubs, $work) = (0, 0);
    sample(800, $program, 'sample=1000', sub {
        my %ns = by_sub(OWN_NS);
        $xsubs += sum map { $ns{$_} // 0 } qw(List::Util::sum List::Util::max Scalar::Util::blessed Scalar::Util::looks_like_number);
        $work  += $ns{'main::work'};
    });
    cmp_ok $xsubs / ($xsubs + $work || 1), '>', 0.22, 'xsubs that are over soon are seen';
}

# A builtin that computes is not one that waits, though two other programs have its processor most of the time. Without an argument
# the program says what share of its processor time the builtin has.
SKIP: {
    skip 'this system has no taskset', 1 if system('taskset -c 0 true 2>/dev/null') != 0;
    my $program = put('busy.pl', <<'PERL');
use Time::HiRes 'clock';
my ($text, $spent, $n, $began) = ('ab ' x 3000, 0, 0, clock());
my $from = $began;
for my $round (1 .. 40) {
    $began = clock() if !@ARGV;
    (my $copy = $text) =~ s/[aeiou]+/xy/g for 1 .. 10;
    $spent += clock() - $began if !@ARGV;
    $n++ while $n < $round * 100_000;
}
printf "share %.3f\n", $spent / (clock() - $from);
PERL
    my ($share) = run($program) =~ /^share (.*)$/m;
    my @others = map { fork // die "fork: $!\n" or exec 'taskset', '-c', 0, $^X, '-e', '1 while 1' } 1, 2;
    my ($builtin, $rest) = (0, 0);
    local $^X = "taskset -c 0 $^X";
    sample(800, "$program 1", 'sample=1000', sub { # then a third of the share is eight standard deviations. Chance: 1e-12
        my %cpu = by_sub(CPU_NS);
        $builtin += $cpu{'main::CORE:subst'};
        $rest    += $cpu{'main::RUNTIME'};
    });
    kill 'KILL', @others;
    waitpid $_, 0 for @others;
    my $seen = $builtin / ($builtin + $rest || 1);
    ok abs($seen - $share) < $share / 3, "a builtin has its processor time: $seen of $share";
}

SKIP: {
    skip 'no stock commands', 2 if !stock_command();
    run("$tails 100", 'sample=2000');
    local %ENV = %ENV;
    delete @ENV{qw(PERL5LIB PERL5OPT)};
    my ($calls, $csv) = map { join ' ', stock_command(@$_) } ['nytprofcalls', 'out'], ['nytprofcsv', '-f', 'out', '-o', 'csv'];
    like in_folder(sub { scalar qx{$calls 2>&1} }), qr/main::nested;main::inner/, 'the stock nytprofcalls reads it';
    in_folder(sub { system "$csv >said 2>&1" });
    is $?, 0, 'so does the stock nytprofcsv';
}

done_testing;
