# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# instructions=1: what a program is told where there is no counter, and what is counted where there is one. Not every machine
# has one, so instructions.c puts another in its place: the nanoseconds that the thread has a processor.

use strict;
use warnings;

use Config;
use Errno qw(EACCES EMFILE ENOENT ENOSYS EPERM);
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Temp qw(tempdir);
use Test::More;

use NYTPTest;

plan skip_all => 'Linux only' if $^O ne 'linux';
plan skip_all => 'two libraries to preload' if sanitized();

my $folder = tempdir('nytp-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my @headers = $Config{ccflags} =~ /(?:\A|\s)(-isystem|-I)\s*(\S+)/g;
system $Config{cc}, @headers, '-shared', '-fPIC', '-o', "$folder/instructions.so", "$FindBin::Bin/instructions.c", '-ldl';
die "instructions.c does not compile\n" if $?;
plan skip_all => 'the shell has another C library than perl' if `LD_PRELOAD='$folder/instructions.so' sh -c : 2>&1` ne '';

sub answered {
    my ($answer, %o) = @_;
    my $opts = join ':', 'instructions=1:compress=0', $o{opts} // ();
    return run_prog(%o, opts => $opts, env => { LD_PRELOAD => "$folder/instructions.so", NYTP_TEST_PERF => $answer, %{ $o{env} || {} } });
}

# What the profile's processes tell: nanoseconds instead of instructions; and, by name, other numbers.
sub told {
    my ($path, $word) = @_;
    open my $fh, '<:raw', $path or die "$path: $!\n";
    local $/;
    return <$fh> =~ /^#nytp-${\($word || 'instructions')} (\d+)$/mg;
}

my $is_counted = told(answered('task', code => '1')->{dir} . '/nytprof.out');

# Containers may forbid the counter that stands in for the processor's.
sub counted {
    my ($label, $code) = @_;
    return scenario $label => sub {
        plan skip_all => 'perf_event_open is denied here' if !$is_counted;
        return $code->();
    };
}

sub others { my ($run) = @_; return sort glob "$run->{dir}/nytprof.out.*" }

my $WORK = 'sub work { my $x = 0; $x += $_ for 1 .. 300 * $_[0]; $x } ';

scenario 'where there is none, one line says why, and the program and its profile are as without' => sub {
    my $code = $WORK . '$! = 7; work($_) for 1 .. 3; print 0 + $!, "\n"; if (my $pid = fork) { waitpid $pid, 0 } else { work(1); exit 3 } print $? >> 8, "\n"';
    open my $fh, '>', "$folder/three" or die $!;
    print {$fh} "3\n";
    close $fh or die $!;
    my @answers = (
        [ENOENT, qr/the processor's counter is not to be had, as in many virtual machines/],
        [ENOSYS, qr/the kernel has no perf_event_open/],
        [EPERM,  qr/perf_event_open is denied here, as in many containers/, '/dev/null'],
        [EACCES, qr/kernel\.perf_event_paranoid is 3, and only up to 2 lets users count/, "$folder/three"],
        [EMFILE, qr/perf_event_open: Too many open files/],
    );
    for (@answers) {
        my ($errno, $why, $paranoid) = @$_;
        my $run = answered($errno, code => $code, env => { NYTP_TEST_PARANOID => $paranoid // '/dev/null' });
        is $run->{out}, "7\n3\n", "$errno: the program's output";
        like $run->{err}, qr/\ADevel::NYTProf: instructions=1: none are counted, $why; ops \(statements and calls\) serve instead\n\z/,
            "$errno: one line, though there are two processes";
        is_deeply [told("$run->{dir}/nytprof.out")], [], "$errno: no number";
        is join('; ', check_sums(profile_in($run))), '', "$errno: the profile is whole";
        is scalar(grep { /main::work x3/ } arc_lines(profile_in($run))), 1, "$errno: with its calls";
    }
};

scenario 'a program that a recorded one starts does not say it again' => sub {
    my $run = answered(ENOENT, how => 'opt', code => 'print qx{$^X -e "print 5" 2>&1}, "\n"');
    is $run->{out}, "5\n", 'nothing among its output';
    is scalar(() = $run->{err} =~ /none are counted/g), 1, 'one line';
    my @others = others($run);
    is scalar(@others), 1, 'it was recorded';
};

counted 'each process and thread tells its own' => sub {
    my $run = answered('task', code => $WORK . 'work($_) for 1 .. 140; if (my $pid = fork) { waitpid $pid, 0 } else { work($_) for 1 .. 50 }');
    is $run->{err}, '', 'nothing is said';
    my ($child) = others($run);
    my ($parents, $childs) = map { (told($_))[0] } "$run->{dir}/nytprof.out", $child;
    my ($parents_all, $childs_all) = map { (told($_, 'processor'))[0] } "$run->{dir}/nytprof.out", $child;
    cmp_ok $parents, '>', $parents_all / 2, 'most of what the parent had a processor for';
    cmp_ok $childs, '<', $parents / 2, 'the child: nothing of its parent';
    cmp_ok $childs, '>', $childs_all / 4, 'but its work';
  SKIP: {
        skip 'perl without threads', 1 if !$Config{useithreads};
        my $threads = answered('task', code => "use threads; $WORK" . 'my $t = threads->create(sub { work($_) for 1 .. 100; 1 }); $t->join;');
        my ($thread) = map { (told($_))[0] } others($threads);
        my ($main) = told("$threads->{dir}/nytprof.out");
        cmp_ok $thread, '>', $main / 4, 'a thread: its work, which is not the first thread\'s';
    }
};

counted 'what is not recorded is not counted; a second profile begins from nothing' => sub {
    my $run = answered('task', code => $WORK . 'work(10); DB::disable_profile(); work($_) for 1 .. 100; DB::enable_profile(); work(10)');
    my ($counted, $all) = map { (told("$run->{dir}/nytprof.out", $_))[0] } 'instructions', 'processor';
    cmp_ok $counted, '<', $all / 4, 'while it was off';
    my $second = answered('task', code => $WORK . 'work($_) for 1 .. 100; DB::enable_profile("second.out"); work(10)');
    cmp_ok((told("$second->{dir}/second.out"))[0], '<', (told("$second->{dir}/nytprof.out"))[0] / 2, 'the second file');
};

counted 'what is written now and then, and compressed, is not counted' => sub {
    plan skip_all => 'nytp-export is not built' if !-x (my $export = root() . '/bin/nytp-export');
    my $run = run_prog(opts => 'instructions=1:compress=9', code => 'sub f { $_[0] } for my $i (1 .. 200000) { f($i * 7919 % 1000) } print "done\n"',
        env => { LD_PRELOAD => "$folder/instructions.so", NYTP_TEST_PERF => 'task' });
    is $run->{out}, "done\n", 'it ran';
    my ($all, $counted) = `'$export' -q --json --unit=ns '$run->{dir}/nytprof.out'` =~ /"processor":(\d+).*?"instructions":(\d+)/s;
    cmp_ok $counted, '<', $all * 0.6, 'less than was left without it';
};

counted 'the descriptor is in nobody\'s way' => sub {
    my $code = <<'P';
sub fds { opendir my $d, '/proc/self/fd' or die; join ' ', sort { $a <=> $b } grep { /\d/ && $_ < 64 } readdir $d }
open my $h, '<', $0 or die; print fileno($h), ' ', fds(), "\n"; close $h;
$| = 1;
print '';
system q(ls /proc/self/fd | wc -l);
if (my $pid = fork) { waitpid $pid, 0 } else { print fds(), "\n"; exec 'sh', '-c', 'ls /proc/self/fd | wc -l' }
P
    my $run = answered('task', code => $code);
    is $run->{out}, run_plain(code => $code)->{out}, 'the program\'s, and those of the programs that it starts';
    is scalar(told("$run->{dir}/nytprof.out")), 1, 'it was there';
};

scenario 'a program that takes the descriptor\'s place for a file has no number, and its file is left alone' => sub {
    my $code = $WORK . <<'P';
use POSIX ();
my $limit = POSIX::sysconf(POSIX::_SC_OPEN_MAX());
my $top = $limit < 4096 ? $limit : 4096;
open my $h, '+>', 'text' or die "$!";
syswrite $h, 'text' x 100;
sysseek $h, 0, 0;
POSIX::dup2(fileno $h, $_) for $top - 40 .. $top - 1;
work($_) for 1 .. 20;
DB::disable_profile(); DB::enable_profile();
DB::finish_profile();
print sysseek($h, 0, 1) + 0, ' ', join(' ', grep { !defined POSIX::lseek($_, 0, 1) } $top - 40 .. $top - 1), "\n";
P
    my $run = answered('task', code => $code);
    is $run->{out}, run_plain(code => 'sub DB::disable_profile {} sub DB::enable_profile {} sub DB::finish_profile {} ' . $code)->{out}, 'the program\'s descriptors';
    is $run->{status}, 0, 'it lives';
    is_deeply [-f "$run->{dir}/nytprof.out" ? told("$run->{dir}/nytprof.out") : ()], [], 'no number';
};

counted 'without the option nobody is asked, and an exec that fails takes nothing away' => sub {
    my $run = run_prog(opts => 'compress=0', code => $WORK . 'work(1)', env => { LD_PRELOAD => "$folder/instructions.so", NYTP_TEST_PERF => 'task' });
    is_deeply [told("$run->{dir}/nytprof.out")], [], 'no number';
    $run = answered('task', code => $WORK . 'work(10); { no warnings; exec "/no/such/program" } work($_) for 1 .. 100;');
    my ($counted, $all) = map { (told("$run->{dir}/nytprof.out", $_))[-1] } 'instructions', 'processor';
    cmp_ok $counted, '>', $all / 2, 'what was done afterwards counts';
};

done_testing;
