# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# nytp, nytp run, nytp prove: the program is left as it is, and nothing of the recording is lost.

use lib 't/lib';
use Recorded qw(folder put slurp);

use Cwd ();

my $root = Cwd::abs_path(__FILE__ =~ s{/?[^/]*\z}{/../..}r);
my $bin  = "$root/blib/script"; # whose first lines name the perl that this was built for
plan skip_all => 'not built' if !-x "$bin/nytp-export" || !-d "$root/blib/arch/auto/Devel/NYTProf";
$ENV{PERL5LIB} = "$root/blib/lib:$root/blib/arch";
delete @ENV{qw(PERL5OPT NYTPROF NYTP_EXPORT)};
my $folder = folder();
chdir $folder or die "$folder: $!";

# standard output, standard error and the wait status of a shell command
sub shell {
    my ($command) = @_;
    my $status = system "( $command ) >out 2>err </dev/null";
    return (slurp('out'), slurp('err'), $status);
}

sub printed { return (shell(@_))[0] }
sub said    { return (shell(@_))[1] }
sub status  { return (shell(@_))[2] >> 8 }

# The exit status, and all that is said.
sub says { my ($out, $err, $status) = shell(@_); return ($status >> 8) . " $err$out" }

put('app.pl', <<'P');
use strict;
use warnings;
sub busy { my $x = 0; $x += $_ for 1 .. 20000; return $x }
busy() for 1 .. 5;
print "out: @ARGV\n";
print STDERR "err\n";
if (my $pid = fork) { waitpid $pid, 0 } else { busy(); exit 0 }
system $^X, 'child.pl';
exit 7;
P
put('child.pl', "sub in_child { 1 } in_child() for 1 .. 10;\n");

subtest 'run: output, arguments and exit status are the program\'s' => sub {
    my ($out, $err, $status) = shell("$bin/nytp run --top=999 --lines=999 app.pl a 'b c'");
    is $out, "out: a b c\n", 'standard output has nothing of ours';
    like $err, qr/^err$/m, 'standard error';
    is $status >> 8, 7, 'exit status';
    like $err, qr/ 6 +\S+ \S+ +.*main::busy/, 'the top, with all calls of parent and child';
    like $err, qr/app\.pl:3 +sub busy/,   'a line with its source';
    like $err, qr/nytp export --list=/,   'how to see more';
    ok -s 'nytprof.out', 'one profile';
    is join(' ', glob '*.d'), '', 'no folder is left';
    my ($rows) = shell("$bin/nytp export -q --processes");
    is scalar(() = $rows =~ /complete/g), 3, 'all three processes are in it';
};

subtest 'run: options' => sub {
    my ($out, $err) = shell("$bin/nytp run -q -o other.out --with calls=1 app.pl");
    is $err, "err\n", '-q shows nothing';
    ok -s 'other.out', '-o';
    like printed("$bin/nytp-export --stats other.out"), qr/calls[= ]+1/, '--with';
    put('mine', "not a profile\n");
    (my $said, $err, my $status) = shell("$bin/nytp run -o mine app.pl");
    is "$said$status", 2 << 8, 'a file that is no profile is not replaced';
    is slurp('mine'), "not a profile\n", 'and is as it was';
    system('mkfifo', 'fifo') == 0 or die 'no mkfifo';
    like says("$bin/nytp run --$_ child.pl"), qr/\A2 nytp-run: --\w+ takes a number/, "--$_ runs nothing" for 'top=-1', 'lines=99999999999';
    like says("$bin/nytp run -q -o fifo child.pl"), qr/\A2 nytp-run: .*fifo is there and is no profile/, 'nor is what is no file';
    ok -p 'fifo', 'it is what it was';
    is status("$bin/nytp run --nonsense app.pl"), 2, 'wrong usage';
    is status("$bin/nytp run"), 2, 'no program';
    is printed("$bin/nytp run -q -- -e 'print 42'"), 42, 'switches of perl after --';
    like printed("$bin/nytp run -e 'print 42'"), qr/\A42\z/, 'and without it';
    like printed("$bin/nytp run -q -o p.out perl -Mstrict app.pl x"), qr/\Aout: x\n\z/, 'a perl before them is this one';
    put('perl', "\x7fELF");
    chmod 0755, 'perl';
    like says("$bin/nytp run ./perl app.pl"), qr{\A2 nytp-run: ./perl is another perl than \S+, which}, 'another perl could not';
    unlink 'perl';
    for my $name (qw(perl5.36.0 perl-5.40 perl5.36-x86_64-linux-gnu)) {
        symlink $^X, $name or die "$name: $!";
        like printed("$bin/nytp run -q -o p.out ./$name app.pl x"), qr/\Aout: x\n\z/, "this one as $name";
        unlink $name;
    }
    put('tainted.pl', "#!/usr/bin/perl -T\nsub f { print \${^TAINT} } f();\n");
    is printed("$bin/nytp run -q -o t.out tainted.pl"), 1, 'a program with -T';
    like printed("$bin/nytp-export -q t.out"), qr/main::f/, 'is recorded';
};

# Each first line with perl's own taint mode: 1 is -T, -1 is -t.
subtest 'run and startup: taint mode as the first line says it' => sub {
    for my $case (['-T', 1], ['-wT', 1], ['-Tw', 1], ['-w -T', 1], ['-t', -1], ['-0777wt', -1], ['-Ilib/T -w', 0], ['-i.bT', 0], ['-w # -T', 0]) {
        my ($switches, $mode) = @$case;
        put('shebang.pl', "#!/usr/bin/perl $switches\nsub f { print STDERR '<', \${^TAINT}, '>' } f();\n");
        my $needed = $mode == 1 ? '-T' : $mode ? '-t' : '';
        is said("$^X $needed shebang.pl"), "<$mode>", "$switches: perl";
        for my $command ('run -q -o t.out', 'startup --run') {
            like says("$bin/nytp $command shebang.pl"), qr/\A0 <$mode>/, "$switches: nytp $command";
        }
        like printed("$bin/nytp-export -q t.out"), qr/main::f/, "$switches: it is recorded";
        unlink 't.out';
    }
    put('plain.pl', "sub f { print \${^TAINT} } f();\n");
    for my $switch (qw(-T -wT)) {
        is printed("$bin/nytp run -q -o t.out $switch plain.pl"), 1, "$switch on the command line";
        like printed("$bin/nytp-export -q t.out"), qr/main::f/, 'is recorded, too';
        unlink 't.out';
    }
};

subtest 'run: a program that is no Perl' => sub {
    for my $first ('#!/bin/sh', '#! /bin/sh -e', '#!/usr/bin/env sh') {
        for my $exec ('exec ', '') {
            put('starts.sh', "$first\n$exec\"$^X\" app.pl \"\$@\"\n");
            my ($out, $err, $status) = shell("$bin/nytp run -o sh.out ./starts.sh a 'b c'");
            is $out . ($status >> 8), "out: a b c\n7", "$first, $exec: runs";
            unlike $err, qr/incomplete|partial/, 'without a word of a recording that ends early';
            like printed("$bin/nytp-export -q --top=0 sh.out"), qr/ 6 .*main::busy/, 'what it starts is recorded';
            is join(' ', glob 'sh.out.*.d'), '', 'in one file';
            unlink 'sh.out';
        }
    }
    put('-e', "#!/bin/sh\n");
    is printed("$bin/nytp run -q -o sh.out -e 'print 42'"), 42, 'a switch is no file';
    unlink '-e';
};

subtest 'run --memory' => sub {
    my ($library) = glob "$bin/../blib/arch/auto/Devel/NYTProf/libnytp-malloc.so";
    plan skip_all => 'no libnytp-malloc.so' if !$library || ($ENV{LD_PRELOAD} || '') =~ /libasan/;
    put('keeps.pl', 'our @k; our $n = 100_000; sub keep { push @k, "x" x $n for 1 .. 400; return } keep(); system $^X, "child.pl"; print "done\n";');
    my ($out, $err, $status) = shell("$bin/nytp run --memory --with=memory=64k -o m.out keeps.pl");
    like $out, qr/done\n\z/, 'the program runs';
    like $err, qr{^ .* alloc +in use line\n.* \d\d\.\d MB +\d\d\.\d MB \S+/keeps\.pl:1\b}m, 'the line that keeps most is shown';
    my ($own) = printed("$bin/nytp-export -q --csv m.out") =~ /^main::keep,.*,(\d+),\d+$/m;
    cmp_ok $own, '>', 30_000_000, 'and what the sub keeps';
};

subtest 'counts=1: nytp run and nytp prove' => sub {
    put('counted.t', "use Test::More tests => 1;\nsub work { my \$n = 0;\n\$n += \$_ for 1 .. 3;\nreturn \$n }\nwork() for 1 .. 2000;\nok 1;\n");
    put('rules', "calls main::work <= 2000\nstatements main::work <= 6000\n");
    put('strict', "calls main::work <= 1999\n");
    put('timed', "time main::work <= 1s\n");
    for my $command ("run --with=counts=1 -o c.out counted.t", "prove --nytp-with=counts=1 --nytp-out=c.out counted.t") {
        my (undef, $err, $status) = shell("$bin/nytp $command");
        is $status, 0, $command;
        like $err, qr/^ +6000 +2000 +8000 main::work /m, 'counts are shown';
        like $err, qr/nytp export --gate=FILE/, 'and what more there is';
        unlike $err =~ s/^(?:test |counted\.t |Files=).*//mgr, qr/\d (?:ns|us|ms|s)\b/, 'no times';
        is status("$bin/nytp-export -q --gate=rules c.out"), 0, 'rules are kept';
        is status("$bin/nytp-export -q --gate=strict c.out"), 10, 'or broken';
        is status("$bin/nytp-export -q --gate=timed c.out"), 2, 'or of times, which cannot be judged';
        unlink 'c.out';
    }
};

subtest 'dprofpp -p' => sub {
    put('dies.pl', 'sub f { 1 } f(); die "dead\n"');
    like says("$bin/dprofpp -p dies.pl"), qr/\A255 .*main::f/s, 'a program that fails is shown even so, as with the dprofpp of old';
    is status("$bin/dprofpp -Q -p dies.pl"), 255, 'also with -Q';
    is status("$bin/dprofpp -Q -p child.pl"), 0, 'one that does not';
};

subtest 'dprofpp --help, --version' => sub {
    like says("$bin/dprofpp --help"), qr/\A0 dprofpp version: [\d.]+\nusage:\n.* -r .*\n\z/s, 'prints the options, and nothing goes on';
    like says("$bin/dprofpp --version"), qr/\A0 dprofpp version: [\d.]+\n\z/, 'the version alone';
};

subtest 'dprofpp: names steer no terminal' => sub {
    my $head = "#fOrTyTwO\n\$hz=100;\n\$XS_VERSION='1\e';\n\$rrun_utime=2; \$rrun_stime=0; \$rrun_rtime=2;\nPART2\n";
    my $name = "a\e[31m\xc2\x9b";
    put('new.tmon', "$head& 1 main $name\n+ 1\n\@ 2 0 2\n- 1\n");
    put('old.tmon', "$head+ 0 0 0 main::$name\n- 2 0 2 main::$name\n");
    for my $command ('dprofpp new.tmon', 'dprofpp -T new.tmon', 'dprofpp old.tmon') {
        my ($out, $err) = shell("$bin/$command");
        is $err, '', $command;
        like $out, qr/\bmain::a\?\[31m\?$/m, 'has the sub';
    }
    like printed("$bin/dprofpp -V new.tmon"), qr/^XS_VERSION: 1\?$/m, 'nor does a version';
};

subtest 'run: --open' => sub {
    mkdir 'viewers';
    for my $viewer (qw(kcachegrind xdg-open)) {
        put("viewers/$viewer", "#!/bin/sh\necho \"$viewer \$#\" > opened; head -c 20 \"\$1\" >> opened\n");
        chmod 0755, "viewers/$viewer";
    }
    local $ENV{PATH} = "$folder/viewers:$ENV{PATH}";
    is says("$bin/nytp run -q -o v.out --open callgrind app.pl"), "7 err\nout: \n", 'output and exit status are the program\'s';
    like slurp('opened'), qr/\Akcachegrind 1\n# callgrind format/, 'the viewer gets the export';
    shell("$bin/nytp run -q -o v.out --open html app.pl");
    like slurp('opened'), qr/\Axdg-open 1\n<!DOCTYPE html/i, 'the browser gets the report\'s first page';
    for (['csv', qr/--open means nothing for --csv/], ['nosuch', qr/unknown option --nosuch/]) {
        my ($format, $said) = @$_;
        like says("$bin/nytp run -q -o v.out --open $format app.pl"), qr/\A2 (?!.*^(?:err|out))nytp-export: $said.*^nytp-run: --open $format/ms, "$format, which nothing opens, runs nothing";
    }
};

subtest 'run: signals' => sub {
    my (undef, $said) = shell("exec $bin/nytp run -o killed.out -- -e 'sub f { kill TERM => \$\$; sleep 9 } f()'");
    like $said, qr/^nytp-run: -e was killed by SIGTERM after \d+\.\d s$/m, 'is said to have been';
    like $said, qr/^killed by SIGTERM in main::RUNTIME -e:1 > main::f -e:1/m, 'and where it stood';
    is status("$bin/nytp run -q gone.pl"), 2, 'a program that is not there';
};

subtest 'signals that are ignored from the start stay so, and no others are' => sub {
    put('ignores.t', 'print STDERR join(",", map { $SIG{$_} // "-" } qw(INT QUIT HUP)), "\n"; print "1..1\nok 1\n"; sub f { 1 } f();');
    local @SIG{qw(INT QUIT HUP)} = ('DEFAULT') x 3;
    for my $command (
        'run -q -o i.out ignores.t', 'prove -Q --nytp-quiet --nytp-out=i.out ignores.t', 'startup --run ignores.t',
        "compare -q -n 1 --base '$^X ignores.t' --new '$^X ignores.t'"
    ) {
        my ($name) = $command =~ /(\w+)/;
        like said("exec $bin/nytp $command"), qr/^-,-,-\n/, "$name: none";
        like said("trap '' INT; exec $bin/nytp $command"), qr/^IGNORE,-,-\n/, "$name: INT, as of what a script starts with &";
        like said("trap '' QUIT HUP; exec $bin/nytp $command"), qr/^-,IGNORE,IGNORE\n/, "$name: QUIT and HUP";
    }
};

subtest 'run: where no file can be made' => sub {
    mkdir 'tmp' or die $!;
    my ($out, $err, $status) = shell("cd /proc && TMPDIR=$folder/tmp $bin/nytp run -e 'sub f { print 7 } f()'");
    is "$status $out", '0 7', 'the program runs';
    my ($file) = glob 'tmp/*/nytprof.out';
    ok $file && -s $file, 'its profile is in TMPDIR' or diag $err;
    like $err, qr{^nytp-run: the profile goes to \S+/tmp/[^/]+/nytprof\.out\n}m, 'it is told where';
    is status("cd /proc && $bin/nytp run -o here.out -e 1"), 2, 'a name that was asked for is no other';
};

subtest 'a name with % is that of the profile, as it stands' => sub {
    mkdir 'of %p';
    put('one.t', "print qq(1..1\nok 1\n); sub in_test { 1 } in_test();\n");
    for my $name ('app.%p.out', '%s.%h', '100%', 'a%%b:c.out', 'of %p/x.out') {
        shell("$bin/nytp run -q -o '$name' child.pl");
        like printed("$bin/nytp-export -q '$name'"), qr/ 10 .*main::in_child/, "run -o '$name'";
        unlink $name;
        shell("$bin/nytp prove -Q --nytp-quiet '--nytp-out=$name' one.t");
        like printed("$bin/nytp-export -q '$name'"), qr/main::in_test/, "prove --nytp-out='$name'";
        unlink $name;
        my (undef, $err, $status) = shell("$bin/nytp compare -q -n 1 -o '$name' --base '$^X child.pl' --new '$^X child.pl'");
        is "$err$status", 0, "compare -o '$name'";
        ok -s "$name/new/001.out", 'has its profiles there';
    }
    is join(' ', glob '*.d'), '', 'no folder is left';
};

subtest 'a recording that cannot be merged stays in its folder' => sub {
    local $ENV{NYTP_EXPORT} = 'nytp-export-that-is-not-there';
    is status("$bin/nytp-run -q -o kept.out app.pl"), 7, 'exit status';
    my ($kept) = glob 'kept.out.*.d';
    ok $kept && !-e 'kept.out', 'the folder';
    delete local $ENV{NYTP_EXPORT};
    like printed("$bin/nytp-export -q $kept"), qr/ 6 .*main::busy/, 'is an input';
    put('nytprofmerge', 'kill TERM => getppid; sleep 600;');
    local $ENV{NYTP_EXPORT} = "$folder/nytp-export"; # beside this nytprofmerge
    is status("exec $bin/nytp-run -q -o ended.out app.pl"), 7, 'nor does a signal while it is merged end nytp-run, but the merging';
    like printed("$bin/nytp-export -q ended.out.*.d"), qr/ 6 .*main::busy/, 'with all recordings there';
};

subtest 'prove' => sub {
    mkdir 't';
    put('t/a.t', 'use Test::More; sub work { 1 } ok work() for 1 .. 3; system $^X, "child.pl"; done_testing;');
    put('t/b.t', 'use Test::More; ok 1; ok $ENV{GOOD}; done_testing;');
    put('t/c.t', "#!/usr/bin/perl -T\nuse Test::More; sub tainted { 1 } ok tainted(); done_testing;");
    my ($plain, undef, $was) = shell('prove -v t');
    my ($out, $err, $status) = shell("$bin/nytp prove -v t");
    is $status, $was, 'prove\'s exit status of a failure';
    s/^Files=.*$//m for $plain, $out;
    is $out, $plain, 'prove\'s output';
    like $err, qr{^t/a\.t +\S+ \S+ +.* ok, 1 child$}m, 'a row for a test and what it starts';
    like $err, qr{^t/b\.t .* failed 1 of 2$}m, 'for one that fails';
    like $err, qr{^t/c\.t .* ok$}m, 'for one with -T';
    like $err, qr{^loading modules \(use, BEGIN\): \d}m, 'what loading modules took';
    my ($top) = $err =~ /calls  per call(.*?)\n\n/s;
    unlike $top, qr/BEGIN@/, 'is in no other row';
    unlike $top, qr/Test::Builder|Test2/, 'no subs of the harness';
    my ($rows) = shell("$bin/nytp export -q --top=0");
    like $rows, qr/ 3 .*main::work/, 'calls of one test';
    like $rows, qr/ 10 .*main::in_child/, 'calls of what it started';
    like $rows, qr/main::tainted/, 'a test with -T';
    unlike $rows, qr/App::Prove|TAP::Harness/, 'prove is not in it';
    local $ENV{GOOD} = 1;
    ($out, $err, $status) = shell("$bin/nytp prove --nytp-quiet --nytp-out=p.out -j3 t");
    is $status, 0, 'success';
    ok -s 'p.out', '--nytp-out';
    like printed("$bin/nytp-export -q --top=0 p.out"), qr/ 10 .*main::in_child/, 'side by side';
    unlike $err, qr/self%/, '--nytp-quiet';
    ($out, $err) = shell("$bin/nytp prove t --nytp-out=p.out --nytp-top=1 --nytp-lines=0 -q");
    is scalar(() = $err =~ /self%/g), 1, 'our options behind the arguments of prove';
    ($out, $err, $status) = shell("$bin/nytp prove --help");
    like "$status$err$out", qr/\A0Usage:\n.*--nytp-out=FILE/s, '--help is no failure, and all that is said';
    like says("$bin/nytp prove --nytp-$_ t"), qr/\A2 nytp-prove: --nytp-out needs a value|\A2 nytp-prove: --nytp-top takes a number/, "--nytp-$_ runs nothing"
        for 'out', 'top=abc';
    like says("$bin/nytp prove --nytp-out=t t"), qr/\A2 nytp-prove: .* choose another name\n?\z/, 'no option of nytp run is recommended';
};

subtest 'prove: which test file' => sub {
    mkdir 'suite';
    put('suite/long.t', 'use Test::More; sub same { 1 } select undef, undef, undef, 0.2; ok same(); done_testing;');
    put('suite/fork.t', 'use Test::More; sub same { 1 } same(); for (1, 2) { my $pid = fork; if (!$pid) { same(); exit }'
        . ' waitpid $pid, 0 } ok 1; done_testing;');
    put('suite/shell.t', 'print "1..1\nok 1\n"; system "$^X child.pl; true";');
    put('suite/kill.t', 'use Test::More; ok 1; kill KILL => $$; sleep 9');
    put('suite/skip.t', 'use Test::More skip_all => "why";');
    put('suite/exec.t', 'print "1..1\nok 1\n"; exec $^X, "child.pl";');
    my ($out, $err) = shell("$bin/nytp prove --nytp-out=s.out suite");
    my @rows = $err =~ m{^(suite/\S+ +[\d.]+ .*)$}mg;
    my %row  = map { m{suite/(\w+)\.t.*  (\S.*)} } @rows;
    is_deeply \%row, {
        long => 'ok', fork => 'ok, 2 children', shell => 'ok, 1 child', skip => 'skipped', exec => 'ok, 1 child',
        kill => 'killed by KILL, recorded up to there',
    }, 'its outcome and its children';
    my %unit = (s => 1, ms => 1e-3, us => 1e-6);
    my @wall = map { [/^(\S+) +([\d.]+) (\w+)/] } @rows;
    $_->[1] *= $unit{ $_->[2] } for @wall;
    is_deeply \@wall, [sort { $b->[1] <=> $a->[1] } @wall], 'the longest is the first';
    cmp_ok +(map { $_->[1] } grep { $_->[0] eq 'suite/long.t' } @wall)[0], '>=', 0.2, 'a test has the time that it ran';
    ok -s 's.out', 'one profile, though a test was killed';
    like $err, qr{^\Q$wall[0][0]\E and \d more: }m, 'that is called after the longest test';
    my ($rows) = shell("$bin/nytp export -q --processes s.out");
    like $rows, qr{ suite/$_\.t$}m, "$_.t is a process of the profile" for keys %row;
    my ($top) = shell("$bin/nytp export -q --top=0 s.out");
    is scalar(() = $top =~ /main::same +\S*suite/g), 2, 'subs of one name in two tests stay apart';
    like said("$bin/nytprofmerge -v -o m.out s.out"), qr/merged into m\.out/, 'nytprofmerge makes one of them';
};

subtest 'prove: what a shell starts belongs to the test that ran, not to one that perl began late with' => sub {
    mkdir 'late';
    put('late/a.t', 'print "1..1\nok 1\n";');
    put('late/b.t', 'print "1..1\nok 1\n"; system "$^X child.pl; true";');
    put('late.sh', "case \$1 in *a.t) sleep 1;; esac\nexec $^X \"\$@\"\n");
    my (undef, $err) = shell("$bin/nytp prove --nytp-out=l.out --exec 'sh late.sh' late");
    my %row = map { m{^late/(\w+)\.t.*  (\S.*)$} } split /\n/, $err;
    is_deeply \%row, { a => 'ok', b => 'ok, 1 child' }, 'each has its own';
};

subtest 'prove: what a shell starts belongs to the test that started it, whatever runs beside it' => sub {
    mkdir 'beside';
    for my $name (qw(a b)) {
        my $other = $name eq 'a' ? 'b' : 'a';
        put("beside/$name.t", qq{sub until_there { my \$end = time + 600; 1 while !-e "beside/\$_[0]" && time < \$end }
            print "1..1\nok 1\n"; open my \$fh, '>', "beside/$name.runs"; until_there("$other.runs");
            system "\$^X child.pl; true"; open \$fh, '>', "beside/$name.done"; until_there("$other.done");});
    }
    my (undef, $err) = shell("$bin/nytp prove -j2 --nytp-out=b.out beside");
    my %row = map { m{^beside/(\w+)\.t.*  (\S.*)$} } split /\n/, $err;
    is_deeply \%row, { a => 'ok, 1 child', b => 'ok, 1 child' }, 'each has its own';
};

subtest 'prove: names steer no terminal, and a test without perl is one' => sub {
    mkdir 'odd';
    put("odd/a\e[31m\xc2\x9b.t", "print qq(1..1\nok 1\n); sub f { 1 } f();\n");
    my (undef, $err) = shell("$bin/nytp prove -Q --nytp-out=o.out odd");
    like $err, qr{^odd/a\?\[31m\?\.t +\d\S* \ws +\d\S* \ws .* ok$}m, 'the row of the test, with its process';
    unlike $err, qr/[\e\x9b]/, 'what steers is in none';
    put('by.sh', "case \$1 in no.t) printf '1..1\\nok 1\\n';; *) exec $^X \"\$1\";; esac\n");
    (undef, $err) = shell("$bin/nytp prove -Q --nytp-out=o.out --exec 'sh by.sh' no.t one.t");
    like $err, qr{^no\.t +\d\S* \ws +- .* ok$}m, 'the row of one that is no perl';
    unlike $err, qr/uninitialized/, 'for which there is no warning';
};

subtest 'compare' => sub {
    put('loop.pl', <<'P');
sub work { my $x = 0; $x += $_ for 1 .. 100; return $x }
work() for 1 .. $ARGV[0];
print 42;
open my $log, '>>', 'order';
print $log "$ARGV[0] ";
P
    my $both = "--base '$^X loop.pl 2000' --new '$^X loop.pl 20'";
    my ($out, $err, $status) = shell("$bin/nytp compare $both -n4 -o runs");
    is $status, 0, 'made';
    like $out, qr/\A(?:faster: |no difference that ).*\b4 runs against 4\b/, 'the answer is the first line, whatever the machine did; the commands say nothing in it';
    like $out, qr/-1980 .*main::work/, 'then what it comes from';
    like $err, qr/^recorded in runs$/m, 'where the profiles are is said';
    is join(' ', map { scalar(() = glob "runs/$_/*.out") } qw(base new)), '4 4', 'each run has its own';
    is slurp('order'), '2000 20 20 2000 2000 20 20 2000 ', 'taking turns';
    is printed("$bin/nytp export -q --diff runs/base runs/new"), $out, 'that can be compared again';
    ($out, $err, $status) = shell("$bin/nytp compare -q -n 1 --base '$^X loop.pl 20' --new '$^X loop.pl 2000' --fail-over=5%:calls --json");
    is $status >> 8, 10, 'a limit that is exceeded';
    like $out, qr/\A\{.*\}\s*\z/s, 'another format';
    is says("$bin/nytp compare -n 3 --base '$^X loop.pl 2000' --new 'exit 3'"), "1 nytp-compare: --new, run 1 of 3: exit 3: ended with status 3\n", 'a command that fails';
    is says("$bin/nytp compare --base 'kill -9 \$\$' --new true"), "1 nytp-compare: --base, run 1 of 5: kill -9 \$\$: was killed by SIGKILL\n", 'one that is killed';
    like says("$bin/nytp compare --base true --new true"), qr/\A1 .*: true: recorded nothing$/, 'one without perl is none to compare';
    like says("$bin/nytp compare $_->[0]"), qr/\A2 .*$_->[1]/s, "$_->[0]: is wrong usage"
        for ['--base true', qr/--new COMMAND/], map({ ["$both -o never $_->[0]", $_->[1]] } ['--bogus', qr/nytp-export: unknown option --bogus/],
            ['--gate', qr/nytp-compare: nytp-export cannot take --gate /], ['--gate=gone', qr/nytp-export: gone: No such/]),
        ['-o never --base perl loop.pl --new perl loop.pl', qr/cannot take loop.pl loop.pl \(each COMMAND is one word, in quotes\)/],
        ["$both -n 0", qr/-n 0: a number/], ["$both -o runs", qr/runs: cannot make this folder/];
    ok !-e 'never', 'of which some would have been told after all runs';
};

subtest 'what fails in us is said, with the status that is documented, not with what errno is' => sub {
    my @cases = (
        ["$bin/dprofpp -f '('", 2, qr/^dprofpp: Unmatched \(.*\nTry /],
        ["$bin/dprofpp -G '('", 2, qr/^dprofpp: Unmatched \(/],
        ["$bin/nytp compare -n 1 -o gone --base '$^X child.pl; rm -r gone/new' --new true", 1, qr/^nytp-compare: .*gone\/new.*cannot make this folder/],
    );
    push @cases, map { ["$bin/nytprofcalls $_ c.out >/dev/full", 1, qr/^nytprofcalls: cannot write: No space/] } '', '--stable' if -c '/dev/full';
    # File::Temp believes that root may write everywhere.
    push @cases, map { ["export TMPDIR=/proc; $_->[0]", $_->[1], qr/^[\w-]+: Error in \w+\(\) using/m] } (
        ["$bin/nytp compare --base true --new true", 2], ["$bin/nytp startup -e 1", 4],
        ["$bin/nytprofcalls --stable -", 1], ["cd /proc; $bin/nytp run -e 1", 2]) if !$> && $^O eq 'linux';
    shell("$bin/nytp run -q -o c.out child.pl");
    for my $case (@cases) {
        my ($command, $expected, $message) = @$case;
        my (undef, $err, $status) = shell($command);
        is $status >> 8, $expected, $command =~ s/\Q$bin\E\///r;
        like $err, $message, 'is said';
    }
    put('NoFork.pm', 'package NoFork; BEGIN { *CORE::GLOBAL::fork = sub { $! = 11; return } } 1;');
    local @ENV{qw(PERL5OPT PERL5LIB)} = ('-MNoFork', "$ENV{PERL5LIB}:$folder");
    my (undef, $err, $status) = shell("$bin/nytp run -q -o f.out child.pl");
    like $err, qr/\Acannot fork: .+\n\z/, 'no process can be made';
    is $status >> 8, 127, 'and the program cannot be run';
    is join(' ', glob 'f.out*'), '', 'no folder is left';
};

subtest 'help that cannot be written is a failure' => sub {
    plan skip_all => 'no /dev/full' if !-c '/dev/full';
    local $ENV{LC_ALL} = 'C';
    my @commands = map { s{.*/}{}r } grep {-x} map {"$bin/$_"} qw(nytp nytp-compare nytp-ctl nytp-export nytp-run nytp-spy nytp-startup
        nytprofcalls nytprofcg nytprofcsv nytprofhtml nytprofmerge nytprofpf);
    for my $command ('nytp guide', 'nytp help', 'nytp-prove --nytp-help', map { ("$_ --help", "$_ --version") } @commands) {
        like says("$bin/$command >/dev/full"), qr{\A4 .*(?:No space left|I/O error)}s, "$command: is said, too";
    }
    my $run = "-d:NYTProf -e 'system qq($bin/nytp ctl list >/dev/full); print \$? >> 8'";
    is printed("NYTPROF=start=no:file=l.out $^X $run"), 4, 'nytp ctl list' if $^O eq 'linux';
};

subtest 'an empty name is told as one' => sub {
    my %empty = (
        "nytp ctl '' status" => qr/nytp-ctl: which program, and what\?/, "nytp run ''" => qr/nytp-run: which program\?/, "nytp startup ''" => qr/nytp-startup: which program\?/,
        map({ ("$_ -o ''" => qr/[\w-]+: --out(?:put)?: the name is empty/) } 'nytp export', 'nytp run child.pl', 'nytp startup child.pl', qw(nytprofcg nytprofcsv nytprofhtml nytprofmerge nytprofpf)),
    );
    $empty{"$_ -o '' child.pl"} = delete $empty{"$_ child.pl -o ''"} for 'nytp run', 'nytp startup';
    like says("$bin/$_"), qr/\A2 $empty{$_}.*\n\z/, $_ for sort keys %empty;
};

subtest 'nytp ctl: how many names' => sub {
    for (['rotate a b', 'rotate takes one name'], ['on a', 'only rotate takes a name']) {
        my ($command, $said) = @$_;
        is says("$bin/nytp ctl c.sock $command"), "2 nytp-ctl: $said\n", $command;
    }
};

subtest 'nytp finds commands' => sub {
    put('nytp-hello', "#!/bin/sh\necho \"hello \$*\"\nexit 5\n");
    chmod 0755, 'nytp-hello';
    local $ENV{PATH} = "$folder:$ENV{PATH}";
    is says("$bin/nytp hello 'a  b'"), "5 hello a  b\n", 'in PATH, with its exit status';
    like printed("$bin/nytp --help"), qr/^Commands here: compare ctl doctor export hello prove run (?:spy )?startup$/m, 'and lists them';
    like says("$bin/nytp nothing"), qr/\A2 .*no command nothing; here are: compare ctl doctor export hello/, 'none of that name';
    like said("$bin/nytp exprot"), qr/no command exprot; did you mean export\?/, 'a transposition';
    my (undef, $door, $status) = shell("$bin/nytp");
    is $status >> 8, 2, 'no name';
    is scalar(split /^/, $door), 10, 'ten lines say which command answers which question';
    my ($help) = shell("$bin/nytp --help");
    my $options = join '', map { printed("$bin/nytp $_ --help") } qw(export compare);
    my ($guide) = shell("$bin/nytp guide");
    like $guide, qr/\AFrom a brief .*nytp startup/s, 'how to go on from a brief';
    cmp_ok scalar(split /^/, $guide), '<', 40, 'on one page';
    my ($here) = $help =~ /^(?:Commands here: )(.*)/m;
    my @named = "$door$guide" =~ /\bnytp ([a-z]+)/g;
    is join(' ', grep { " $here guide " !~ / $_ / } @named), '', 'commands that are there';
    is join(' ', grep { $options !~ /$_\b/ } "$door$guide" =~ /(--(?!help)[a-z][a-z-]+)/g), '', 'and their options';
    like printed("$bin/nytp --version"), qr/^nytp-export /, '--version';
    like printed("$bin/nytp $_ --" . ($_ eq 'prove' ? 'nytp-help' : 'help')), qr/nytp[ -]$_/i, "$_ --help" for qw(run prove compare ctl);
};

chdir "/";
done_testing;
