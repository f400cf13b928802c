# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Programs that hang and are killed: the profile shows where.

use lib 't/lib';
use NYTPTest;

use Time::HiRes qw(time);

my $EXPORT = root() . '/bin/nytp-export';
plan skip_all => 'bin/nytp-export is not built' if !-x $EXPORT;

# Whether the process sleeps in the kernel, or is gone: nothing else tells from outside that a
# program blocks.
sub blocks {
    my ($pid) = @_;
    open my $fh, '<', "/proc/$pid/stat" or return 1;
    return (<$fh> // ') Z') =~ /\) [SZX]/;
}

# Runs $code, which creates the file `ready` as the last thing before it blocks, and kills it.
sub hang {
    my ($code, %o) = @_;
    my $dir = new_dir();
    my $run = run_prog(
        code => $code, dir => $dir, %o,
        on_start => sub {
            my ($pid) = @_;
            my $steps = 0;
            while ($steps < 3 && !has_ended($pid)) {
                select undef, undef, undef, 0.01;
                $steps = -e "$dir/ready" && blocks($pid) ? $steps + 1 : 0;
            }
            kill $o{signal} || 'KILL', $pid;
        },
    );
    return ($run, $dir);
}

# The names of the calls that were open at the end, outermost first.
sub open_calls {
    my ($dir) = @_;
    my $dump = exported($dir, '--dump');
    my @open;
    for (split /\n/, $dump) {
        push @open, '?' if /\bSUB_ENTRY\b/;
        $open[$1 - 1] = $2 if /COMMENT text="nytp-open (\d+) \w+ (.*)\\n"/;
        pop @open if /\bSUB_RETURN\b/;
    }
    return join ' ', @open;
}

# Returns sub => calls, by --top.
sub calls_of {
    my ($dir) = @_;
    my $top = exported($dir, '--top=0', '--unit=ns');
    return { map { /^\s*\S+(?: \w+)?\s+\S+%\s+\S+(?: \w+)?\s+\S+%\s+(\d+)\s.*?(\w+::\S+)/ ? ($2 => $1) : () } split /\n/, $top };
}

my $BUSY = <<'P';
sub busy { my $x = 0; $x += $_ for 1 .. 100; return $x }
sub ready { open my $fh, '>', 'ready' or die; return close $fh }
P

my %hang = (
    'a builtin' => ['sub waiter { sleep 60 }', 'main::CORE:sleep'],
    'an xsub' => ['use Time::HiRes (); sub waiter { Time::HiRes::sleep(60) }', 'Time::HiRes::sleep'],
    'a read' => ['sub waiter { pipe my $in, my $out; sysread $in, my $byte, 1 }', 'main::CORE:sysread'],
    'a line' => ['sub waiter { pipe my $in, my $out; my $line = <$in> }', 'main::CORE:readline'],
    'a child' => ['sub waiter { my $parent = $$; my $pid = fork; if (!$pid) { sleep 1 while kill 0, $parent and getppid == $parent; exit } waitpid $pid, 0 }',
        'main::CORE:waitpid'],
    'a connection' => ['use Socket; sub waiter { socket my $s, AF_INET, SOCK_STREAM, 0; listen $s, 1; accept my $c, $s }', 'main::CORE:accept'],
    'an event loop' => ['use List::Util; sub back { busy() } sub waiter { List::Util::first(sub { back(); pause() }, 1) } sub pause { select undef, undef, undef, 60 }',
        'List::Util::first main::pause main::CORE:sselect'],
);

for my $what (sort keys %hang) {
    scenario "killed in $what" => sub {
        my ($waiter, $last) = @{ $hang{$what} };
        for my $signal ($what eq 'a builtin' ? qw(KILL TERM) : 'KILL') {
            my %before = ('main::busy' => $what eq 'an event loop' ? 27 : 26);
            my ($run, $dir) = hang("$BUSY$waiter\nbusy() for 1 .. 25;\nready();\nbusy();\nwaiter();\n", signal => $signal);
            cmp_ok $run->{signal}, '>', 0, 'dies of the signal';
            is $run->{err}, '', 'silently';
            is open_calls($dir), "main::waiter $last", "$signal: the calls that are open";
            my $calls = calls_of($dir);
            is $calls->{'main::busy'}, $before{'main::busy'}, 'what ran before';
            is $calls->{'main::waiter'}, 1, 'the caller';
            is $calls->{ (split ' ', $last)[-1] }, 1, 'the call that hangs';
        }
    };
}

scenario 'the calls that were open stand before every table' => sub {
    my %way = (
        'KILL' => ['KILL', '', qr/open at its end \(killed, or still running\): main::RUNTIME/, 'main::CORE:sleep'],
        'TERM, sigexit' => ['TERM', 'sigexit=1', qr/killed by SIGTERM in main::RUNTIME/, 'CORE:sleep'],
        map { +"TERM, sigexit, sampled$_" => ['TERM', "sigexit=term:sample=1000$_", qr/killed by SIGTERM in main::RUNTIME/, 'CORE:sleep'] }
            '', ':slowops=1',
    );
    # `main::waiter` has been in no sample that a safe point came after.
    my $sampled = sub {
        my ($dir, $leaf) = @_;
        like exported($dir, '--collapsed'), qr/^main::RUNTIME;main::job;main::waiter;$leaf [1-9]/m, 'what blocks is a sample, with its time';
        like exported($dir, '--check'), qr/: ok$/, 'and it adds up';
    };
    for my $name (sort keys %way) {
        my ($signal, $opts, $head, $last) = @{ $way{$name} };
        my $code = "${BUSY}sub waiter {\nsleep 60 }\nsub job { waiter() }\nready();\njob();\n";
        my (undef, $dir) = hang($code, signal => $signal, opts => $opts);
        my $line = 1 + ($BUSY =~ tr/\n//);
        $sampled->($dir, $opts =~ /slowops=1/ ? 'CORE::sleep' : 'main::CORE:sleep') if $opts =~ /sample/;
        for my $format ('--top', '--tree', '--top --lines', '--list=waiter', '--peek=waiter') {
            my $out = exported($dir, split ' ', $format);
            my ($ends) = (split /\n\n/, $out)[1];
            like $ends, qr{\A$head \S*:@{[ $line + 4 ]} > main::job \S*:@{[ $line + 2 ]} > main::waiter \S*:@{[ $line + 1 ]} > $last\z}, "$name: $format";
        }
    }
};

scenario 'a recursion that was open is told once' => sub {
    my (undef, $dir) = hang("sub deep { my \$n = shift;\nsleep 60 if !\$n;\ndeep(\$n - 1) }\n${BUSY}ready();\ndeep(40);\n");
    my $out = exported($dir, '--top');
    like $out, qr{main::RUNTIME \S+ > main::deep \S+:3 \(40 times\) > main::deep \S+:2 > main::CORE:sleep$}m, 'with its count';
};

scenario 'each of many quick reads may be the last' => sub {
    my (undef, $dir) = hang(<<"P");
${BUSY}pipe my \$in, my \$out;
sub waiter { sysread \$in, my \$byte, 1 }
for (1 .. 20) { syswrite \$out, 'x'; waiter() }
ready();
waiter();
P
    is open_calls($dir), 'main::waiter main::CORE:sysread', 'the calls that are open';
    is calls_of($dir)->{'main::waiter'}, 21, 'all calls';
};

# A busy machine lets the recorder wait for a processor amid a flush: here the first write takes long.
my $SLOW_WRITE = <<'C';
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

ssize_t write(int fd, const void *bytes, size_t n)
{
    static int writes;
    if (writes++ == 0)
        usleep(500000);
    return syscall(SYS_write, fd, bytes, n);
}
C

scenario 'flushes that wait for a processor do not use up the time that flushes may take' => sub {
    my (undef, $dir) = hang("${BUSY}sub waiter { sleep \$_[0] }\nwaiter(0);\nready();\nbusy();\nwaiter(60);\n", env => { preloaded($SLOW_WRITE) });
    is open_calls($dir), 'main::waiter main::CORE:sleep', 'the calls that are open';
    is calls_of($dir)->{'main::busy'}, 1, 'what ran before';
};

scenario 'a program that reads byte by byte is not flushed at each' => sub {
    my $run = run_prog(opts => 'clock=1', env => { stepping_clock() }, code => <<'P');
sub writes { open my $io, '<', '/proc/self/io' or return; my ($n) = map { /^syscw: (\d+)/ ? $1 : () } <$io>; return $n }
pipe my $in, my $out;
sub waiter { sysread $in, my $byte, 1 }
my $before = writes();
for (1 .. 50_000) { syswrite $out, 'x'; waiter() }
print writes() - $before - 50_000 if defined $before;
P
    plan skip_all => 'the kernel counts no writes' if $run->{out} eq '';
    cmp_ok $run->{out}, '>', 100, 'it is at first';
    cmp_ok $run->{out}, '<', 25_000, 'but not all the time';
};

scenario 'flush=0 leaves it to the size' => sub {
    my (undef, $dir) = hang("${BUSY}ready();\nsub waiter { sleep 60 }\nwaiter();\n", opts => 'flush=0');
    is open_calls($dir), '', 'nothing was told';
};

# ---- sampled: the thread that ticks notes it in the head of the file ----

# Returns the note: how many bytes the file had, ticks, how many calls are open.
sub note_of {
    my ($file) = @_;
    open my $fh, '<:raw', $file or return;
    read $fh, my $head, 16384;
    return $head =~ /^#nytp-hang-note \d+ \d+ (\d+) (\d+) \d+ (\d+)(?: ([^\t]*))?\t([^\t\n]*)/m ? { at => $1, ticks => $2, depth => $3, reason => $4 // '', leaf => $5 } : undef;
}

# Whether a note is of a call of this builtin: one of a process that the machine keeps from running
# may be of any place before it.
sub is_in {
    my ($note, $builtin) = @_;
    return $note->{leaf} =~ /CORE:+$builtin$/;
}

# Waits until the note in a file is as wanted, or the process has ended.
sub await_note {
    my ($pid, $file, $wanted) = @_;
    while (!has_ended($pid)) {
        my $note = note_of($file);
        return $note if $note && $wanted->($note);
        select undef, undef, undef, 0.01;
    }
    return { at => 0, ticks => 0, depth => 0 };
}

# Runs $code until its note is as wanted, or $o{see} is done with it, and kills it.
sub hang_sampled {
    my ($code, %o) = @_;
    my $dir = new_dir();
    my $see = $o{see} || sub { await_note(@_, $o{until}) };
    return run_prog(
        code => $code, dir => $dir, opts => 'sample=100' . ($o{opts} // ''),
        on_start => sub {
            my ($pid) = @_;
            $see->($pid, "$dir/nytprof.out");
            kill 'KILL', $pid if !$o{lives};
        },
    );
}

# Returns stack => ticks, by --collapsed.
sub stacks_of {
    my ($dir, $file) = @_;
    my %ticks;
    for (split /\n/, exported($dir, '--collapsed', '--unit=ns', $file // 'nytprof.out')) {
        my ($stack, $ns) = /^(.*) (\d+)$/ or next;
        $stack =~ s/_\[unreturned\]//g;
        $ticks{$stack} += $ns / 100;
    }
    return \%ticks;
}

my $JOB = "sub waiter { pipe my \$in, my \$out; sysread \$in, my \$byte, 1 }\nsub job { waiter() }\n";
my $HANG = 'main::RUNTIME;main::job;main::waiter;main::CORE:sysread';

for my $opts ('', ':compress=0', ':slowops=1', ':sample_clock=cpu') {
    scenario "sampled, killed in its first read$opts" => sub {
        my ($began, $seen, $note) = (time);
        my $run = hang_sampled("${JOB}job();\n", opts => $opts, see => sub {
            $note = await_note(@_, sub { is_in($_[0], 'sysread') && ($opts =~ /cpu/ || $_[0]{ticks} > 4_000_000) });
            $seen = time;
        });
        is $run->{signal}, 9, 'killed';
        like exported($run->{dir}, '--top'), qr{open at its end \(killed, or still running\): main::RUNTIME prog.pl:3 > main::job prog.pl:2 > main::waiter prog.pl:1 > \S*CORE:+sysread},
            'where it hangs';
        my $told = note_of("$run->{dir}/nytprof.out");
        is $told->{depth}, 2, 'calls of subs';
        return if $opts =~ /cpu/; # it has had none
        my $stack = $opts =~ /slowops/ ? $HANG =~ s/main::CORE:/CORE::/r : $HANG;
        is stacks_of($run->{dir})->{$stack}, $told->{ticks}, 'with the time that the note tells';
        my ($all, $cpu, $waited) = exported($run->{dir}, '--waits', '--unit=us') =~ /^([\d.]+) in all: ([\d.]+) on a processor, ([\d.]+) waiting$/m;
        cmp_ok abs($all - $cpu - $waited), '<=', 0.2, 'which is processor time and waiting';
        SKIP: {
            skip 'here samples do not tell it', 1 if !sees_waits();
            like exported($run->{dir}, '--waits'), qr/ pipe +\S*prog\.pl:1$/m, 'and for what';
        }
        cmp_ok $told->{ticks}, '>=', $note->{ticks}, 'which grows';
        cmp_ok $note->{ticks}, '<=', ($seen - $began + 1) * 1e7, 'and is no more than has passed';
    };
}

scenario 'sampled: the note names an IPv6 peer' => sub {
    plan skip_all => 'this perl cannot' if !eval { require IO::Socket::IP };
    my $server = IO::Socket::IP->new(Listen => 1, LocalHost => '::1') or plan skip_all => "no ::1 here: $@";
    plan skip_all => 'here samples do not tell it' if !sees_waits();
    my $port = $server->sockport;
    my $code = "use IO::Socket::IP;\nmy \$s = IO::Socket::IP->new(PeerHost => '::1', PeerPort => $port) or die;\nsysread \$s, my \$byte, 1;\n";
    my $run = hang_sampled($code, until => sub { $_[0]{reason} =~ /^socket/ });
    like exported($run->{dir}, '--waits'), qr/ socket +\[::1\]:$port +\S*prog\.pl:3$/m, 'by its address and port';
};

# The time of a hang that is over lacks the sampler's own, in which it may be kept from running.
scenario 'sampled: what ran before, and hangs one after the other' => sub {
    my $code = "use POSIX ();\n$BUSY${JOB}busy() while times < 0.3;\nPOSIX::mkfifo('fifo', 0600);\nopen my \$fh, '<', 'fifo' or die;\njob();\n";
    my ($first, $second, $before);
    my $run = hang_sampled($code, see => sub {
        my ($pid, $file) = @_;
        # A busy machine may have a hang before, whose note stays and grows no more.
        $first = await_note(@_, sub { is_in($_[0], 'open') && $_[0]{ticks} != ($before //= $_[0]{ticks}) && $_[0]{ticks} > 3_000_000 });
        open my $fh, '>', $file =~ s/nytprof\.out/fifo/r or die $!;
        $second = await_note(@_, sub { $_[0]{at} > $first->{at} && is_in($_[0], 'sysread') });
    });
    my $ticks = stacks_of($run->{dir});
    cmp_ok $ticks->{'main::RUNTIME;main::busy'}, '>', 0, 'what ran';
    cmp_ok $ticks->{'main::RUNTIME;main::CORE:open'}, '>=', $first->{ticks} / 2, 'the hang that is over';
    my ($longest) = sort { $b <=> $a } exported($run->{dir}, '--dump') =~ /TIME_LINE ticks=(\d+)/g;
    cmp_ok $longest, '>=', $first->{ticks} / 2, 'on its line as well';
    cmp_ok $ticks->{$HANG}, '>=', $second->{ticks}, 'the one that is not';
    like exported($run->{dir}, '--top'), qr/> main::CORE:sysread$/m, 'which is open';
};

scenario 'sampled: looked at while it hangs, and once it is over' => sub {
    my ($live, $live_top, $before);
    my $code = "use POSIX ();\nPOSIX::mkfifo('fifo', 0600);\nsub waiter { open my \$fh, '<', 'fifo' or die }\nwaiter();\nprint 'done';\n";
    my $run = hang_sampled($code, lives => 1, see => sub {
        my ($pid, $file) = @_;
        $live = await_note(@_, sub { is_in($_[0], 'open') && $_[0]{ticks} != ($before //= $_[0]{ticks}) && $_[0]{ticks} > 2_000_000 });
        $live_top = exported('/', '--top', $file);
        open my $fh, '>', $file =~ s/nytprof\.out/fifo/r or die $!;
    });
    is "$run->{out} $run->{status} $run->{err}", 'done 0 ', 'the program ends as ever';
    like $live_top, qr/main::waiter prog.pl:3 > main::CORE:open$/m, 'live';
    unlike exported($run->{dir}, '--top'), qr/open at its end/, 'over';
    is note_of("$run->{dir}/nytprof.out"), undef, 'the note is none any more';
    cmp_ok stacks_of($run->{dir})->{'main::RUNTIME;main::waiter;main::CORE:open'}, '>=', $live->{ticks} * 0.99, 'its time is';
    whole_in($run, 'whole');
};

scenario 'sampled: a child notes in its own file' => sub {
    my @pids;
    my $run = hang_sampled("${JOB}my \$pid = fork;\nif (!\$pid) { job() }\nwaitpid \$pid, 0;\n", see => sub {
        my ($pid, $of_parent) = @_;
        my $file;
        await_note(@_, sub { ($file) = glob "$of_parent.*"; $file && is_in($_[0], 'waitpid') });
        ($pids[0]) = ($file // '') =~ /(\d+)$/;
        await_note($pids[0], $file, sub { is_in($_[0], 'sysread') }) if $file;
        kill 'KILL', @pids;
    });
    is_deeply [grep { stacks_of($run->{dir}, "nytprof.out.$pids[0]")->{$_} } $HANG, 'main::RUNTIME;main::CORE:waitpid'], [$HANG], 'the child';
    is_deeply [grep { stacks_of($run->{dir})->{$_} } $HANG, 'main::RUNTIME;main::CORE:waitpid'], ['main::RUNTIME;main::CORE:waitpid'], 'the parent';
};

scenario 'sampled: more calls than there is room for' => sub {
    my $code = "sub deep { my \$n = shift;\nif (!\$n) { sleep 1000; exit } deep(\$n - 1) }\ndeep(300);\n";
    my $run = hang_sampled($code, until => sub { $_[0]{depth} == 301 && is_in($_[0], 'sleep') });
    is note_of("$run->{dir}/nytprof.out")->{depth}, 301, 'their number';
    my ($stack) = grep { /CORE:sleep$/ } keys %{ stacks_of($run->{dir}) };
    cmp_ok scalar(() = ($stack // '') =~ /main::deep/g), '>', 50, 'the inner ones';
};

# Numbers of descriptors that are the program's by now are not written to.
scenario 'sampled: the program closes all descriptors, and uses them' => sub {
    my $code = <<'P';
use POSIX ();
POSIX::close($_) for 3 .. 1023;
my @files;
while (1) { open my $fh, '+>', 'own.' . @files or last; push @files, $fh }
select undef, undef, undef, 0.7;
print scalar(@files), ' ', scalar(grep { -s $_ } @files), "\n";
P
    my $run = run_prog(code => $code, opts => 'sample=100', shell => 'ulimit -n 100');
    like $run->{out}, qr/\A\d\d 0\n\z/, 'they are as they were';
    is $run->{status}, 0, 'it ends as ever';
};

scenario 'sampled: no room where it could not be written over, or nobody wants it' => sub {
    for my $opts ('sample=100:flush=0', 'start=begin') {
        my $run = run_prog(code => "1;\n", opts => $opts);
        cmp_ok -s "$run->{dir}/nytprof.out", '<', 4096, $opts;
    }
    my $dir = new_dir();
    my $run = run_prog(code => "select undef, undef, undef, 0.3;\n", dir => $dir, opts => 'sample=100:file=pipe', shell => 'mkfifo pipe; cat pipe > copy & exec 9> pipe');
    is "$run->{status} $run->{err}", '0 ', 'a FIFO';
};

# The limit is reached by the source of an eval: what hangs is noted in the head all the same.
scenario 'sampled: a file that cannot grow' => sub {
    my $run = run_prog(opts => 'sample=1000', shell => 'ulimit -f 5', code => $JOB . <<'P');
my $x = '';
$x .= 'sub f' . $_ . ' { ' . rand() . ' } ' for 1 .. 20000;
eval $x;
busy();
sub busy { my $n = 0; $n += $_ for 1 .. 2e6 }
print 'on'; $| = 1; print '';
select undef, undef, undef, 0.3;
print ' end';
P
    is $run->{out}, 'on end', 'the program goes on';
    is $run->{status}, 0, 'to its end';
};

done_testing;
