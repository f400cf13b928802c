# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package NYTPTest;

# Runs a program under a profiler in a folder of its own and tells what came out: output, exit
# status, and the facts of each profile that it left.
#
# The environment variable NYTP_IMPL chooses the profiler: "ours" (default: the build tree's blib) or "peer" (the
# Devel::NYTProf that the system perl finds by itself).

use strict;
use warnings;

use Config;
use Cwd qw(abs_path);
use parent 'Exporter';
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use POSIX ();
use Test::More ();
use Time::HiRes qw(time);

use NYTPStream;

# Gives the caller strict, warnings and Test::More, too.
sub import {
    my ($class, @names) = @_;
    $_->import for qw(strict warnings);
    Test::More->export_to_level(1, 'Test::More');
    $class->export_to_level(1, $class, @names);
    return;
}

our @EXPORT = qw(
  impl run_prog run_plain run_perl profile_in read_profile arc_lines stmt_lines stmt_counts
  sub_lines script_fid fid_named check_sums matrix root
  run_on_terminal stock_command stmt_total scenario slow_scenario user_scenario sanitized preloaded
  stepping_clock fifo_reader begin_prog end_prog ctl_in await new_dir ours exported run_in whole_in
  arcs_to n_calls line_seconds all_seconds outputs put slurp run_command lib_dirs has_ended sees_waits
);

my $ROOT = abs_path(dirname(__FILE__) . '/../..');

# A new folder, removed at the end.
sub new_dir { return tempdir('nytp-XXXXXX', TMPDIR => 1, CLEANUP => 1) }

# Seconds after which a run hangs, however busy the machine.
use constant HANGS => 900;
sub root { return $ROOT }
sub impl { return $ENV{NYTP_IMPL} || 'ours' }

# A subtest whose death is its failure, so that those after it still run.
sub scenario {
    my ($name, $code) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return Test::More::subtest($name => sub {
        return if eval { $code->(); 1 };
        die $@ if ref $@;
        Test::More::fail("died: $@");
    });
}

# One that takes seconds: people who install the profiler need not wait for it.
sub slow_scenario {
    my ($name) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return scenario(@_) if $ENV{EXTENDED_TESTING} || $ENV{CI};
  SKIP: {
        Test::More::skip("$name: slow, runs with EXTENDED_TESTING=1", 1);
    }
    return;
}

# One that root need not repeat where an ordinary user has run it: t/run has root run what needs root.
sub user_scenario { return $ENV{NYTP_TEST_ROOT} ? undef : scenario(@_) }

# Whether programs run with AddressSanitizer, by t/sanitized.
sub sanitized { return ($ENV{LD_PRELOAD} || '') =~ /libasan/ }

# Whether samples tell what is waited for: where XS/platform/kernel.h makes system calls itself, unless the build was
# told not to (NYTP_NO_KERNEL_CALLS; t/platforms/run says it to the tests, too), and the kernel says which call a thread is in.
sub sees_waits {
    return $^O eq 'linux' && $Config{archname} =~ /\A(?:x86_64|aarch64)/ && !$ENV{NYTP_NO_KERNEL_CALLS} && -r '/proc/thread-self/syscall';
}

# For env: preloads a library of C source. Not together with AddressSanitizer, which must be the only one.
sub preloaded {
    my $object = new_dir() . '/preloaded.so';
    open my $cc, '|-', $Config{cc}, qw(-w -Wno-error=implicit-function-declaration -shared -fPIC -D_GNU_SOURCE -include dlfcn.h -x c -o), $object, qw(- -ldl) or die;
    print {$cc} @_;
    close $cc or die "the source of a test does not compile\n";
    return (LD_PRELOAD => $object);
}

# The clock of t/xs/clock_steps.c, which no busy machine moves on and for which nobody waits.
my @stepping_clock;
sub stepping_clock { return @stepping_clock = @stepping_clock ? @stepping_clock : preloaded(slurp("$ROOT/t/xs/clock_steps.c")) }

sub lib_dirs {
    my ($impl) = @_;
    return () if $impl ne 'ours';
    my $blib = $ENV{NYTP_BLIB} || "$ROOT/blib";
    die "no build tree in $blib: run perl Makefile.PL && make first\n" if !-d "$blib/arch";
    return installed($blib);
}

# The build tree laid out as an installation is, .pm and .so in one folder, so that what XSLoader
# does to find the object does not differ from real use. Others may read it: programs under test
# drop privileges.
my $installed;

sub installed {
    my ($blib) = @_;
    return $installed if defined $installed;
    my $dir = tempdir('nytplib-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    chmod 0755, $dir;
    system 'cp', '-r', "$blib/lib/.", "$blib/arch/.", $dir;
    die "cannot copy $blib to $dir\n" if $?;
    return $installed = $dir;
}

# Switches of a perl that is to find the recorder.
sub ours {
    return map {"-I$_"} lib_dirs('ours');
}

# Runs a command in the folder of a run, or in this folder; what run_prog() returns.
sub run_in {
    my ($run, @command) = @_;
    return run_command(\@command, dir => ref $run ? $run->{dir} : $run, env => {%ENV});
}

# Returns what nytp-export prints there.
sub exported {
    my ($run, @options) = @_;
    return run_in($run, "$ROOT/bin/nytp-export", @options)->{out};
}

# The option matrix: every value of every option that changes how events are gathered or
# written appears, and most pairs, in few runs.
my @MATRIX = (
    '',
    'leave=0:calls=1',
    'use_db_sub=1:calls=0',
    'savesrc=0:compress=0:slowops=0:calls=2',
    'blocks=1:slowops=1:calls=2',
    'blocks=1:leave=0:compress=0:calls=0',
    'use_db_sub=1:slowops=0:savesrc=0:compress=9',
    'use_db_sub=1:blocks=1:slowops=1:calls=2:compress=1',
    'stmts=0:slowops=2:savesrc=0',
);
sub matrix { return @MATRIX }

# run_prog(code => TEXT, ...) writes TEXT to prog.pl in a new folder and runs it there.
#   opts     value of NYTPROF (without file=); undef: not set at all
#   impl     "ours", "peer", "plain"
#   how      "-d" (default), "opt" (PERL5OPT), "use" (-MDevel::NYTProf), "db" (PERL5DB)
#   files    {name => text} to lay beside it, a minute old; dir: reuse the folder of an earlier run
#   switches, args, env, stdin (text), shell (text before "exec perl ...")
#   everyone wait for all processes that come from it, too, until they have ended
# Returns {out, err, status, signal, timeout, dir, seconds}.
sub run_prog {
    my (%o) = @_;
    my $dir = $o{dir} || new_dir();
    my %files = %{ $o{files} || {} };
    my $script = $o{script} || 'prog.pl';
    $files{$script} = $o{code} if defined $o{code};
    for my $name (sort keys %files) {
        put("$dir/$name", $files{$name});
        utime time - 60, time - 60, "$dir/$name"; # clearly older than what the run writes
    }
    my @script = defined $o{code} || defined $o{script} ? ($script) : ();
    return run_perl(%o, dir => $dir, args => [@script, @{ $o{args} || [] }]);
}

# Runs its arguments on a terminal of its own and prints what comes out there. Ends with status 77
# where there are no such terminals: the numbers are those of Linux (asm-generic/ioctls.h).
my $ON_TERMINAL = <<'PERL';
my ($TIOCSPTLCK, $TIOCGPTN) = (0x40045431, 0x80045430);
my ($unlocked, $number) = (pack('i', 0), pack('i', 0));
open my $master, '+<', '/dev/ptmx' or exit 77;
ioctl $master, $TIOCSPTLCK, $unlocked and ioctl $master, $TIOCGPTN, $number or exit 77;
open my $terminal, '+<', '/dev/pts/' . unpack 'i', $number or exit 77;
defined(my $pid = fork) or die "fork: $!";
if (!$pid) {
    open STDIN, '<&', $terminal and open STDOUT, '>&', $terminal and open STDERR, '>&', $terminal or die $!;
    exec @ARGV or die "$ARGV[0]: $!";
}
close $terminal;
while (sysread $master, my $text, 4096) { print $text }
waitpid $pid, 0;
exit $? >> 8;
PERL

# The program on a terminal of its own; PERL5OPT loads the profiler, or what `opt` says does.
# `clean`: a file that is not there yet. Skips the scenario where that cannot be had.
sub run_on_terminal {
    my (%o) = @_;
    Test::More::plan(skip_all => 'its clean environment leaves out the sanitizer') if sanitized();
    my $first = run_prog(%o, impl => 'plain');
    unlink "$first->{dir}/$o{clean}" if defined $o{clean};
    my @profiled = (
        'env', 'PERL5OPT=' . ($o{opt} || '-d:NYTProf'), 'PERL5LIB=' . join(':', lib_dirs('ours')),
        'NYTPROF=' . ($o{opts} || ''), $^X, 'prog.pl',
    );
    my $run = run_command([$^X, '-e', $ON_TERMINAL, @profiled], dir => $first->{dir}, env => { PATH => $ENV{PATH} });
    Test::More::plan(skip_all => 'no terminals like those of Linux') if $run->{status} == 77;
    return $run;
}

# A command of the installed Devel::NYTProf with its arguments, to run with the perl beside it;
# nothing where there is none.
sub stock_command {
    my ($name, @arguments) = @_;
    my @folders = split /:/, $ENV{NYTP_STOCK_BIN} || '/usr/bin:/usr/local/bin';
    my ($bin) = grep { -x "$_/nytprofcalls" && -x "$_/perl" } @folders or return;
    my @command = ("$bin/perl", defined $name ? ("$bin/$name", @arguments) : ());
    return @command;    # in a condition their number
}

# Starts a program that others steer, profiled where there are options, and waits for the first line that it prints. It ends when
# the file "stop" is in its folder. Returns {dir, pid, first, in (its standard input), out}.
sub begin_prog {
    my ($code, $opts) = @_;
    my $dir = new_dir();
    put("$dir/prog.pl", $code);
    pipe my $out, my $prints or die;
    pipe my $reads, my $in or die;
    select((select($in), $| = 1)[0]);
    my $pid = fork // die;
    if (!$pid) {
        chdir $dir or die;
        open STDIN,  '<&', $reads  or die;
        open STDOUT, '>&', $prints or die;
        open STDERR, '>',  'err'   or die;
        $ENV{NYTPROF} = $opts if defined $opts;
        alarm 300; # is kept by exec: nobody waits for a program for ever
        exec $^X, defined $opts ? (ours(), '-d:NYTProf') : (), 'prog.pl' or die;
    }
    close $prints;
    return { dir => $dir, pid => $pid, in => $in, out => $out, first => scalar readline $out };
}

# Ends it: its status, what it said, and the rest of what it printed.
sub end_prog {
    my ($run) = @_;
    put("$run->{dir}/stop", '');
    my $rest = join '', readline $run->{out};
    waitpid $run->{pid}, 0;
    my $status = $?;
    return ($status, slurp("$run->{dir}/err"), $rest);
}

# Runs nytp-ctl in a folder: "STATUS OUTPUT".
sub ctl_in {
    my ($dir, @args) = @_;
    my @ours = ours();
    my $out = qx{cd '$dir' && $^X @ours $ROOT/bin/nytp-ctl @args 2>&1};
    return ($? >> 8) . " $out";
}

# Returns what was so in the end; after ten minutes it hangs, and is not so.
sub await {
    my ($is_so) = @_;
    my ($so, $tries) = (undef, 30_000);
    select undef, undef, undef, 0.02 until ($so = $is_so->()) || !$tries--;
    return $so;
}

# Whether a process has ended: it may be a zombie still, to which kill 0 gets through.
sub has_ended {
    my ($pid) = @_;
    return 1 if !kill 0 => $pid;
    open my $fh, '<', "/proc/$pid/stat" or return !kill 0 => $pid;
    return (<$fh> // ') Z') =~ /\) [ZX]/;
}

# For shell: makes a FIFO and a reader of it that has it open before perl starts. When a writer has
# come it becomes $command, whose standard input the FIFO is.
sub fifo_reader {
    my ($name, $command) = @_;
    my $reader = 'sysopen STDIN, $ARGV[0], O_RDONLY | O_NONBLOCK or die; open my $ready, ">", "ready" or die; '
        . 'print $ready "ready\n"; close $ready; vec(my $in = "", fileno STDIN, 1) = 1; '
        . 'select $in, undef, undef, undef; fcntl STDIN, F_SETFL, 0; exec "sh", "-c", $ARGV[1]';
    return "mkfifo $name ready; $^X -MFcntl -e '$reader' $name '$command' & read line < ready";
}

sub run_plain { return run_prog(@_, impl => 'plain') }

sub run_perl {
    my (%o) = @_;
    my $dir  = $o{dir} || new_dir();
    my $impl = $o{impl} || impl();
    my $how  = $impl eq 'plain' ? 'plain' : $o{how} || '-d';
    my %env  = %ENV;
    delete @env{qw(PERL5LIB PERL5OPT PERL5DB NYTPROF NYTP_IMPL HARNESS_ACTIVE)};
    my @lib = lib_dirs($impl);
    $env{PERL5LIB} = join ':', @lib if @lib;
    $env{NYTPROF}  = $o{opts}       if defined $o{opts} && $how ne 'plain';
    my @switch;
    @switch = ($o{d} || '-d:NYTProf') if $how eq '-d';
    @switch = ('-MDevel::NYTProf')    if $how eq 'use';
    $env{PERL5OPT} = '-d:NYTProf' if $how eq 'opt';
    if ($how eq 'db') {
        $env{PERL5DB} = 'use Devel::NYTProf';
        @switch = '-d';
    }
    %env = (%env, %{ $o{env} || {} });
    my @cmd = ($^X, @switch, @{ $o{switches} || [] }, @{ $o{args} || [] });
    my $r = run_command(\@cmd, %o, dir => $dir, env => \%env);
    $r->{dir} = $dir;
    return $r;
}

# Programs would go on ignoring the signals that nohup or a job runner ignores; they are to start afresh.
sub default_signals {
    $SIG{$_} = 'DEFAULT' for grep { ($SIG{$_} || '') eq 'IGNORE' } keys %SIG;
    POSIX::sigprocmask(POSIX::SIG_SETMASK(), POSIX::SigSet->new);
    return;
}

sub run_command {
    my ($cmd, %o) = @_;
    my $tmp = tempdir('nytpio-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    put("$tmp/in", $o{stdin}) if defined $o{stdin};
    local $^F = 1 << 20 if $o{everyone}; # what is opened now is inherited
    my ($none_left, $held);
    pipe $none_left, $held or die "pipe: $!" if $o{everyone};
    my $start = time;
    my $pid   = fork;
    die "fork: $!" if !defined $pid;
    if (!$pid) {
        setpgrp;
        close $none_left if $none_left;
        chdir $o{dir} or POSIX::_exit(126);
        %ENV = %{ $o{env} };
        default_signals();
        open STDIN, '<', defined $o{stdin} ? "$tmp/in" : '/dev/null' or POSIX::_exit(126);
        open STDOUT, '>', "$tmp/out" or POSIX::_exit(126);
        open STDERR, '>', "$tmp/err" or POSIX::_exit(126);
        my @c = defined $o{shell} ? ('sh', '-c', "$o{shell}\nexec \"\$@\"", 'sh', @$cmd) : @$cmd;
        no warnings 'exec';
        exec { $c[0] } @c;
        POSIX::_exit(127);
    }
    my $timed_out = 0;
    local $SIG{ALRM} = sub { $timed_out = 1; kill KILL => -$pid };
    alarm(HANGS);
    $o{on_start}->($pid) if $o{on_start};
    1 while waitpid($pid, 0) < 0 && $!{EINTR};
    my $status = $?;
    if ($o{everyone}) {
        close $held; # ours: the others' are closed as they end
        1 while !defined sysread($none_left, my $byte, 1) && $!{EINTR} && !$timed_out;
    }
    alarm 0;
    return {
        out => slurp("$tmp/out"), err => slurp("$tmp/err"), status => $status >> 8,
        signal => $status & 127, timeout => $timed_out, seconds => time - $start,
        pid => $pid,
    };
}

sub put {
    my ($path, $bytes) = @_;
    open my $fh, '>:raw', $path or die "$path: $!";
    print {$fh} $bytes;
    close $fh or die "$path: $!";
    return $path;
}

sub slurp {
    my ($path) = @_;
    open my $fh, '<:raw', $path or return '';
    local $/;
    return scalar(<$fh>) // '';
}

# The facts of a profile that a run left (default nytprof.out; or a whole path), or undef where there is none.
sub profile_in {
    my ($run, $name) = @_;
    $name //= 'nytprof.out';
    my $path = $name =~ m{\A/} ? $name : "$run->{dir}/$name";
    return -f $path ? read_profile($path) : undef;
}

# The names of the files that a run left.
sub outputs {
    my ($run) = @_;
    return join ' ', sort map { s{.*/}{}r } glob "$run->{dir}/nytprof*";
}

# The same, which must be whole, with sums that are right.
sub whole_in {
    my ($run, $label, $name) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $p = profile_in($run, $name);
    Test::More::is(join('; ', $p ? check_sums($p) : 'no file'), '', $label);
    return $p || {};
}

sub fid_named {
    my ($p, $want) = @_;
    for my $fid (sort { $a <=> $b } keys %{ $p->{fid} }) {
        my $name = $p->{fid}{$fid}{name};
        return $fid if ref $want ? $name =~ $want : $name eq $want || $name =~ m{/\Q$want\E\z};
    }
    return;
}

sub script_fid { return fid_named($_[0], $_[1] || 'prog.pl') }

# A file as the tests name it: the last part of a path, an eval's whole name.
sub short_file {
    my ($p, $fid) = @_;
    my $name = ($p->{fid}{$fid} or return "?$fid")->{name};
    $name =~ s{\A/(?:.*/)?}{}s if $name !~ /\A\(eval/;
    return $name;
}

# Arcs as sorted lines "CALLER FILE:LINE CALLEE xCOUNT[ rDEPTH]". "prog.pl:" is left out.
# want: a regex that the callee must match; slowops are left out unless ops => 1.
sub arc_lines {
    my ($p, %o) = @_;
    my @lines;
    for my $arc (@{ $p->{arc} }) {
        next if !$o{ops} && $arc->{callee} =~ /(?:::CORE:|\ACORE::)/;
        next if $o{want} && $arc->{callee} !~ $o{want};
        my $place = short_file($p, $arc->{fid}) . ":$arc->{line}";
        $place =~ s/\Aprog\.pl://;
        my $depth = $arc->{depth} ? " r$arc->{depth}" : '';
        push @lines, "$arc->{caller} $place $arc->{callee} x$arc->{count}$depth";
    }
    return sort @lines;
}

# Statement counts of one file (default the script) as "LINE:COUNT ..." in line order.
sub stmt_lines {
    my ($p, $fid) = @_;
    my $counts = stmt_counts($p, $fid);
    return join ' ', map { "$_:$counts->{$_}" } sort { $a <=> $b } keys %$counts;
}

sub stmt_counts {
    my ($p, $fid) = @_;
    $fid = script_fid($p) if !defined $fid;
    my $lines = defined $fid && $p->{stmt}{$fid} || {};
    return { map { $_ => $lines->{$_}[0] } grep { $lines->{$_}[0] } keys %$lines };
}

sub stmt_total {
    my ($p) = @_;
    my $n = 0;
    for my $lines (values %{ $p->{stmt} }) {
        $n += $_->[0] for values %$lines;
    }
    return $n;
}

# Subs as sorted lines "NAME FILE:FIRST-LAST".
sub sub_lines {
    my ($p, $want) = @_;
    my @lines;
    for my $name (keys %{ $p->{sub} }) {
        next if $want && $name !~ $want;
        push @lines, map { "$name " . short_file($p, $_->[0]) . ":$_->[1]-$_->[2]" }
          @{ $p->{sub}{$name} };
    }
    s/ prog\.pl:/ / for @lines;
    return sort @lines;
}

# The arcs of calls of a sub, and how many calls these are.
sub arcs_to {
    my ($p, $callee) = @_;
    return grep { $_->{callee} eq $callee } @{ $p->{arc} };
}

sub n_calls {
    my $n = 0;
    $n += $_->{count} for arcs_to(@_);
    return $n;
}

# Seconds of each line of the script, and of all that was recorded.
sub line_seconds {
    my ($p) = @_;
    my $lines = $p->{stmt}{ script_fid($p) };
    return { map { $_ => $lines->{$_}[1] / $p->{attr}{ticks_per_sec} } keys %$lines };
}

sub all_seconds {
    my ($p) = @_;
    my $ticks = 0;
    for my $lines (values %{ $p->{stmt} }) {
        $ticks += $_->[1] for values %$lines;
    }
    return $ticks / $p->{attr}{ticks_per_sec};
}

# Returns a list of complaints about a finished profile, by rules that hold for every program.
sub check_sums {
    my ($p) = @_;
    my @bad;
    push @bad, "not complete: " . ($p->{error} || 'no PID_END') if !$p->{complete};
    push @bad, 'two discounts in a row' if $p->{double_discounts};
    my $tps = $p->{attr}{ticks_per_sec} or return (@bad, 'no ticks_per_sec');
    my %used;
    $used{$_}++ for keys %{ $p->{stmt} }, map { $_->{fid} } @{ $p->{arc} };
    for my $list (values %{ $p->{sub} }) { $used{ $_->[0] }++ for @$list }
    push @bad, map { "fid $_ used but not defined" } grep { !$p->{fid}{$_} } sort keys %used;
    for my $f (values %{ $p->{fid} }) {
        push @bad, "fid $f->{fid}: parent $f->{eval_fid} not defined"
          if $f->{eval_fid} && !$p->{fid}{ $f->{eval_fid} };
    }
    if ($p->{opt}{calls} && $p->{opt}{subs}) {
        my (%ret, %arc);
        for my $r (@{ $p->{ret} }) {
            $ret{ $r->[3] }[0] += $r->[4];
            $ret{ $r->[3] }[1] += $r->[1];
            $ret{ $r->[3] }[2] += $r->[2];
        }
        for my $a (@{ $p->{arc} }) {
            $arc{ $a->{callee} }[0] += $a->{count};
            $arc{ $a->{callee} }[1] += ($a->{incl} + $a->{reci}) * $tps;
            $arc{ $a->{callee} }[2] += $a->{excl} * $tps;
        }
        for my $name (sort keys %{ { %ret, %arc } }) {
            my ($r, $a) = ($ret{$name} || [0, 0, 0], $arc{$name} || [0, 0, 0]);
            push @bad, "$name: $r->[0] returns, $a->[0] calls in arcs" if $r->[0] != $a->[0];
            for my $i (1, 2) {
                my $slack = 0.01 * (1 + $a->[0]);
                push @bad, sprintf '%s: %s ticks of returns %.1f, of arcs %.1f', $name,
                  (undef, 'inclusive', 'exclusive')[$i], $r->[$i], $a->[$i]
                  if abs($r->[$i] - $a->[$i]) > $slack;
            }
        }
    }
    return @bad;
}

1;
