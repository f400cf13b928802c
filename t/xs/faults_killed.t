# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Processes that are killed: what the file still holds, and that the way of dying is unchanged.

use lib 't/lib';
use NYTPTest;
use Extended;

use Config;

plan skip_all => 'bin/nytp-export is not built' if !-x root() . '/bin/nytp-export';

my %NUMBER;
@NUMBER{ split ' ', $Config{sig_name} } = split ' ', $Config{sig_num};

# Says each round that is behind it with a byte.
my $ROUNDS = <<'P';
sub inner { my $n = shift; return $n + 1 }
sub outer { my $n = shift; $n = inner($n); return $n }
open my $rounds, '>', 'rounds' or die;
while (1) {
    outer(7);
    syswrite $rounds, 'x';
}
P

# Runs $ROUNDS, and kills it so many seconds after the 500th.
sub kill_at {
    my ($opts, $seconds) = @_;
    my $dir = new_dir();
    my $run = run_prog(
        code => $ROUNDS, opts => $opts, dir => $dir,
        on_start => sub {
            select undef, undef, undef, 0.002 until (-s "$dir/rounds" || 0) > 500 || has_ended($_[0]);
            select undef, undef, undef, $seconds;
            kill KILL => $_[0];
        },
    );
    my ($stats, $csv) = map { run_in($run, root() . '/bin/nytp-export', $_) } '--stats', '--csv';
    my ($bytes) = $stats->{err} =~ /: byte (\d+)\D.*\n\z/;
    my ($statements) = $stats->{out} =~ /^statements +(\d+)/m;
    return {
        signal => $run->{signal}, said => $run->{err} =~ tr/\n/|/r, rounds => -s "$dir/rounds",
        bytes => $bytes || 0, statements => $statements || 0,
        status => "$stats->{status} $csv->{status}", lines => ($stats->{err} =~ tr/\n//),
        subs => join(' ', sort map { /^([^,]+),.*?,(\d+)/ ? "$1:$2" : () } grep { /^main::/ } split /\n/, $csv->{out}),
    };
}

scenario 'killed at 25 random points' => sub {
    my $longest = $ENV{NYTP_LONG} ? 3 : 0.2;
    srand 42;
    for my $opts (('', 'compress=0', 'calls=1', 'compress=1:blocks=1', 'slowops=0') x 5) {
        my $r = kill_at($opts, rand $longest);
        my $name = "$opts, killed after $r->{rounds} rounds";
        is "$r->{signal} $r->{said}", '9 ', "$name: by the signal, silently";
        is "$r->{status}, $r->{lines} line", '3 3, 1 line', "$name: exports, one warning";
        my $slow = $opts =~ /slowops=0/ ? '' : 'main::CORE:open:0 main::CORE:syswrite:0 ';
        is $r->{subs}, "${slow}main::RUNTIME:1 main::inner:1 main::outer:2", "$name: sub names and lines";
        # At most 16 kB of the stream, or 1/128 of it, are not on disk yet. A round has 7
        # statements, and the first lines have 2.
        my $kept = ($r->{statements} - 2) / 7;
        my $per_round = $r->{bytes} / ($kept || 1);
        my $total = $r->{rounds} * $per_round;
        my $allowed = ($total / 128 > 16384 ? $total / 128 : 16384) / $per_round + 8;
        my $lost = $r->{rounds} - $kept;
        cmp_ok $lost, '<=', $allowed, sprintf '%s: %.1f lost, %.1f may be', $name, $lost, $allowed;
        cmp_ok $kept, '>=', 0.99 * $r->{rounds}, "$name: 99 %" if $r->{rounds} * 7 >= 300_000;
    }
};

scenario 'killed after little was recorded: 99 % by a clock that nothing disturbs' => sub {
    my @kept = map {
        my $run = run_prog(opts => 'clock=1:slowops=0', env => { stepping_clock() }, code => <<"P");
sub work { my \$n = shift; select undef, undef, undef, 0.0001; return \$n }
for my \$i (1 .. $_) {
    work(\$i);
}
kill KILL => \$\$;
P
        stmt_total(profile_in($run)) / (4 * $_);
    } map { 1000 + 50 * $_ } 0 .. 20;
    my ($least) = sort { $a <=> $b } @kept;
    cmp_ok $least, '>=', 0.992, sprintf 'at least %.4f of the statements', $least;
};

scenario 'a stack that overflows in C is finished, too' => sub {
    plan skip_all => 'the sanitizer handles it' if sanitized();
    my $code = <<'P';
package O;
use overload '""' => sub { $n++; "$_[0]" };
sub f { 1 }
f() for 1 .. 10;
print bless([]) . '';
P
    my $run = run_prog(code => $code, opts => 'sigexit=1', shell => 'ulimit -s 2048');
    is $run->{signal}, $NUMBER{SEGV}, 'dies as without us';
    is $run->{signal}, run_plain(code => $code, shell => 'ulimit -s 2048')->{signal}, 'indeed';
    my $p = profile_in($run);
    cmp_ok $p->{entry}, '>', 100, 'the calls are in it';
    # One fault in a hundred is in the recorder, which cannot go on then: its file ends with the last flush.
    return like $p->{error}, qr/ends early/, 'up to the last flush' if !$p->{complete};
    is join('; ', check_sums($p)), '', 'whole';
    my ($deep) = grep { $_->{callee} =~ /^O::__ANON__/ && $_->{depth} } @{ $p->{arc} };
    cmp_ok $deep && $deep->{depth}, '>', 100, 'how deep it went';
};

# Forked children that do all that the recorder has to keep books about, killed at any instant.
my $HAMMER = <<'P';
use Time::HiRes qw(sleep);
sub leaf { my $n = shift; return $n + 1 }
sub nest { my $n = shift; return $n > 0 ? nest($n - 1) + 1 : leaf($n) }
sub AUTOLOAD { our $AUTOLOAD; return length $AUTOLOAD }
sub fresh {
    my $n = shift;
    my $name = 'made_' . 'x' x (7 * $n % 90) . $n;
    return eval "sub $name { my \$x = shift;\n return leaf(\$x) }\n $name($n) + unknown_$n()";
}
sub work {
    my $n = shift;
    leaf($_) for 1 .. 5;
    nest($n % 40);
    my @s = sort { leaf($a) <=> leaf($b) } 3, 1, 2;
    (my $text = "a,b,c-$n") =~ s/([a-c])/leaf(1)/ge;
    eval { leaf(1); die "out\n" };
    fresh($n);
    stat '/';
    sleep 0.0005 if $n % 16 == 0;
}
sub child { my $out = shift; my $n = 0; syswrite $out, 'x'; work(++$n) while 1 }
my ($signal, $rounds, $longest) = @ARGV;
srand 42;
for (1 .. $rounds) {
    pipe my $in, my $out;
    my @pids = map { fork || child($out) } 1 .. 2;
    sysread $in, my $started, 1 for @pids;
    for my $pid (@pids) {
        sleep rand $longest;
        kill $signal => $pid;
    }
    waitpid($_, 0), print "$_ $?\n" for @pids;
}
P

scenario 'sigexit at any instant leaves a whole file' => sub {
    my $rounds = $ENV{NYTP_LONG} ? 1500 : 75;
    for (['TERM', 'sigexit=term'], ['USR1', 'sigexit=term,usr1:compress=0:blocks=1']) {
        my ($signal, $opts) = @$_;
        my $run = run_prog(code => $HAMMER, opts => $opts, args => [$signal, $rounds, 0.004]);
        my %status = map { split } split /\n/, $run->{out};
        is scalar(keys %status), 2 * $rounds, "$opts: children" or diag $run->{err};
        is join(' ', grep { $status{$_} != $NUMBER{$signal} } sort keys %status), '', "$opts: all died of the signal";
        is $run->{err}, '', "$opts: silently";
        my @files = map { "$run->{dir}/nytprof.out.$_" } sort keys %status;
        my $said = run_perl(impl => 'plain', args => ['-e', 'exec @ARGV', root() . '/bin/nytp-export', '--check', @files]);
        is $said->{status}, 0, "$opts: all files are whole" or diag "$said->{err}\n", grep { !/: ok$/ } map { "$_\n" } split /\n/, $said->{out};
        is join('; ', check_sums(read_profile($_))), '', "$opts: sums of $_" for @files[map { $_ * 20 } 0 .. 6];
    }
};

scenario 'sigexit while perl is busy or asleep in one op' => sub {
    my %op = (
        asleep => 'sleep 10_000',
        reading => 'pipe my $in, my $out; sysread $in, my $x, 1',
        matching => '("a" x 9999) =~ /a*a*a*a*[bc]/',
    );
    for my $name (sort keys %op) {
        my $dir = new_dir();
        my $run = run_prog(
            dir => $dir, opts => 'sigexit=term',
            code => "sub f { open my \$ready, '>', 'ready'; $op{$name} } f();\n",
            on_start => sub {
                select undef, undef, undef, 0.02 until -e "$dir/ready" || has_ended($_[0]);
                select undef, undef, undef, 0.1;
                kill TERM => shift;
            },
        );
        is "$run->{signal} $run->{timeout}", "$NUMBER{TERM} 0", "$name: dies of it at once" or diag $run->{err};
        my $p = whole_in($run, "$name: whole");
        like join('; ', arc_lines($p)), qr/main::RUNTIME 1 main::f x1/, "$name: the call is in it";
    }
};

scenario 'sigexit when the profile cannot be written: no message is put together inside a signal' => sub {
    for my $opts ('sigexit=term', 'sigexit=term:compress=0') {
        my $run = run_prog(opts => $opts, code => <<'P');
sub f { 1 }
f() for 1 .. 100;
my $size = (-s 'nytprof.out') + 1;
system('prlimit', '--pid', $$, "--fsize=$size:") and print 'no prlimit';
f();
kill TERM => $$;
P
        plan skip_all => 'no prlimit' if $run->{out} =~ /no prlimit/;
        # A flush that is due before the signal may say that it cannot write; the signal adds nothing to that.
        is $run->{signal}, $NUMBER{TERM}, "$opts: dies of the signal";
        like $run->{err}, qr/\A(?:\S+: cannot write \S+: File too large; .*\n)?\z/, "$opts: silently";
    }
};

scenario 'sigexit when the program faults' => sub {
    my $run = run_prog(opts => 'sigexit=1', code => "sub f { unpack 'p', pack 'J', 16 }\nf();\n");
    is $run->{signal}, $NUMBER{SEGV}, 'dies of it';
    whole_in($run, 'whole');
};

scenario 'sigexit in a file that began inside a call' => sub {
    my $run = run_prog(
        opts => 'sigexit=term',
        code => "use lib '.'; use M;\nM::f();\n",
        files => { 'M.pm' => "package M; sub f { DB::enable_profile('new'); kill TERM => \$\$; sleep 1 }\n1;\n" },
    );
    is $run->{signal}, $NUMBER{TERM}, 'dies of it';
    my $p = whole_in($run, 'whole, the calling place is in a file of its own', 'new');
    like join('; ', arc_lines($p)), qr/main::RUNTIME 2 M::f x1/, 'the call';
};

scenario 'sigexit leaves alone what the program or its parent decided' => sub {
    my $run = run_prog(code => "kill INT => \$\$; print 'alive';", opts => 'sigexit=1', shell => q{trap '' INT});
    is "$run->{signal} $run->{out}", '0 alive', 'an inherited ignored signal stays ignored';
    $run = run_prog(code => "\$SIG{INT} = sub { print 'mine ' }; kill INT => \$\$; print 'alive';", opts => 'sigexit=1');
    is "$run->{signal} $run->{out}", '0 mine alive', 'the program\'s own handler rules';
    $run = run_prog(code => "\$SIG{TERM} = 'DEFAULT'; kill TERM => \$\$; sleep 1;", opts => 'sigexit=int');
    is $run->{signal}, 15, 'an unlisted signal kills as ever';
    $run = run_prog(code => 'print defined $SIG{INT} ? "set" : "unset"', opts => '');
    is $run->{out}, 'unset', 'without sigexit nothing is caught';
};

scenario 'a parent that is killed leaves its children\'s files whole' => sub {
    my $run = run_prog(code => <<'P', everyone => 1);
sub f { 1 }
pipe my $parents_end, my $held or die;
my $pid = fork;
if (!$pid) { setpgrp; close $held; f() for 1 .. 50; sysread $parents_end, my $byte, 1; exit 0 }
print $pid;
$| = 1; print '';
kill KILL => $$;
P
    whole_in($run, 'child', "nytprof.out.$run->{out}");
};

done_testing;
