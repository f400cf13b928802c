# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Which file a process writes: placeholders, several programs that are given one name, links; and
# what is said about a profile that is missing or empty.

use lib 't/lib';
use NYTPTest;

use Config;
use Sys::Hostname qw(hostname);

my $F = "sub f { g() } sub g { 1 }\n";

sub names {
    my @names = sort map { s{.*/}{}r } grep { -f && !-l } glob "$_[0]{dir}/*.out*";
    return @names;
}

# The subs of all profiles in the folder, each with its calls.
sub subs_in {
    my ($run) = @_;
    my %calls;
    for my $file (split ' ', outputs($run)) {
        my $p = whole_in($run, "$file: whole", $file);
        $calls{ $_->{callee} } += $_->{count} for grep { $_->{callee} =~ /^main::(?!CORE|BEGIN)/ } @{ $p->{arc} };
    }
    return join ' ', map { "$_:$calls{$_}" } sort keys %calls;
}

scenario 'exec keeps the profile of what ran before it' => sub {
    my %files = ('next.pl' => "sub after { 1 }\nafter() for 1 .. 3;\n");
    for my $opts ('', 'addpid=1') {
        my $run = run_prog(how => 'opt', opts => $opts, files => \%files, code => "sub before { 1 }\nbefore();\nexec \$^X, 'next.pl';\n");
        is $run->{err}, '', "$opts: silently";
        is subs_in($run), 'main::after:3 main::before:1', "$opts: both are there";
        is scalar(names($run)), 2, "$opts: two files";
    }
    my $run = run_prog(how => 'opt', files => \%files, code => <<'P');
sub parent { 1 }
sub child { exec $^X, 'next.pl' }
parent();
my $pid = fork;
child() if !$pid;
waitpid $pid, 0;
P
    is subs_in($run), 'main::after:3 main::child:1 main::parent:1', 'in a forked child, too';
    my $named = run_prog(files => \%files, code => "sub before { 1 }\nbefore();\nexec \$^X, '-d:NYTProf', 'next.pl';\n");
    is subs_in($named), 'main::after:3 main::before:1', 'where the profiler was named for each program';
    is join(' ', names($named)), 'nytprof.out nytprof.out.1', 'the last one has the plain name';
};

# Without a pause the shell goes on as the next program. The kernel tells starts in hundredths of a second.
scenario 'programs that run one after another with one file name' => sub {
    my @programs = qw(one two three);
    my $run = run_prog(impl => 'plain', files => { map { ("$_.pl" => "sub $_ { 1 }\n$_();\n") } @programs }, code => '1');
    my ($pause, $numbered) = ("$^X -e 'select undef, undef, undef, 0.05'", 'nytprof.out nytprof.out.1 nytprof.out.2');
    my $all = 'main::one:1 main::three:1 main::two:1';
    for (
        ['named in the environment', '', {PERL5OPT => '-d:NYTProf'}, [], $numbered, $all],
        ['each profiled by itself', '-d:NYTProf', {}, [$pause], 'nytprof.out', 'main::three:1'],
        ['each by itself, by PERL5DB', '-d', {PERL5DB => 'use Devel::NYTProf'}, [$pause], $numbered, $all],
    ) {
        my ($how, $switch, $env, $between, $names, $subs) = @$_;
        unlink glob "$run->{dir}/nytprof.out*";
        run_command(
            ['/bin/sh', '-c', join '; ', map { ("$^X $switch $_.pl", @$between) } @programs], dir => $run->{dir},
            env => { PATH => $ENV{PATH}, PERL5LIB => join(':', lib_dirs('ours')), %$env },
        );
        is join(' ', names($run)), $names, "$how: files, the last program's with the plain name";
        is subs_in($run), $subs, "$how: what they have";
    }
};

scenario 'prove -j2 with the profiler for its tests keeps every profile' => sub {
    my $prove = "$Config{scriptdir}/prove";
    plan skip_all => 'no prove' if !-x $prove;
    my %files = map { ("t/$_.t" => "use Test::More tests => 1;\nsub t$_ { 1 }\nok t$_();\n") } 1 .. 4;
    $files{'t/4.t'} .= "my \$pid = fork;\nif (!\$pid) { sub kid { 1 } kid(); POSIX::_exit(0) if require POSIX }\nwaitpid \$pid, 0;\n";
    my $dir = new_dir();
    mkdir "$dir/t";
    my $run = run_prog(impl => 'plain', dir => $dir, files => \%files, code => '1');
    $run = run_command(
        [$^X, $prove, '-j2', 't'], dir => $dir,
        env => { PATH => $ENV{PATH}, HARNESS_PERL_SWITCHES => '-d:NYTProf', PERL5LIB => join ':', lib_dirs('ours') },
    );
    like $run->{out}, qr/^Result: PASS/m, 'the tests pass' or diag $run->{err};
    my %seen;
    for my $file (glob "$dir/nytprof.out*") {
        my $p = read_profile($file);
        ok $p->{complete}, "$file: whole";
        $seen{ $_->{callee} }++ for @{ $p->{arc} };
    }
    is scalar(my @all = glob "$dir/nytprof.out*"), 5, 'five profiles';
    is join(' ', grep { $seen{$_} } map { "main::$_" } qw(t1 t2 t3 t4 kid)), 'main::t1 main::t2 main::t3 main::t4 main::kid', 'of all';
};

scenario 'placeholders in file=' => sub {
    my $host = hostname();
    my $run = run_prog(opts => 'file=%s-%h.out', script => 'my.prog.pl', code => $F . "f();\n");
    is join(' ', names($run)), "my.prog.pl-$host.out", 'program and host';
    my $then = time;
    $run = run_prog(opts => 'file=100%%-%t.out', code => $F . "f();\n");
    my ($name) = names($run);
    my ($at) = ($name || '') =~ /^100%-(\d+)\.out$/;
    ok defined $at && $at >= $then && $at <= time, 'time and a percent sign' or diag $name;
    $run = run_prog(opts => 'file=%p.out:addpid=1', code => $F . 'my $pid = fork; if (!$pid) { f(); exit } waitpid $pid, 0; print "$$ $pid";');
    is join(' ', names($run)), join(' ', sort map { "$_.out" } split ' ', $run->{out}), 'the process id, of a child, too, and once';
    $run = run_prog(opts => undef, d => '-d:NYTProf=file=%s.out', code => $F . "f(); DB::enable_profile('100%x.out'); f();\n");
    is join(' ', names($run)), '100%x.out prog.pl.out', 'on the switch; names given in the program are taken as they are';
};

scenario 'an unknown placeholder' => sub {
    for my $name ('x%q.out', 'x%', '%s-%P.out') {
        my $run = run_prog(opts => "file=$name", code => $F . "f(); print 'ran';\n");
        is "$run->{status} $run->{out}", '0 ran', "$name: the program runs";
        like $run->{err}, qr/\ADevel::NYTProf: option file: '%.?' in '\Q$name\E' is none of %p, %h, %t, %s and %%; the program runs unprofiled\n\z/, "$name: is said";
        is join(' ', map { s{.*/}{}r } glob "$run->{dir}/*"), 'prog.pl', "$name: no file";
        $run = run_prog(opts => "start=no:control=$name", code => $F . "f(); print 'ran';\n");
        is "$run->{status} $run->{out}", '0 ran', "$name: the program runs";
        like $run->{err}, qr/\ADevel::NYTProf: option control: '%.?' in '\Q$name\E' is none of %p, %h, %t, %s and %%; the program runs unprofiled\n\z/, "$name: is said of a socket, too";
        is join(' ', map { s{.*/}{}r } glob "$run->{dir}/*"), 'prog.pl', "$name: no socket";
    }
};

scenario 'in a folder of everybody\'s, a symbolic link is not followed to a file' => sub {
    my %target = ('nothing' => undef, 'an empty file' => '', 'another file' => "precious\n");
    for my $what (sort keys %target) {
        my $dir = new_dir();
        symlink 'victim', "$dir/nytprof.out" or die;
        chmod 01777, $dir;
        my $run = run_prog(dir => $dir, code => $F . "f();\n", files => defined $target{$what} ? { victim => $target{$what} } : {});
        like $run->{err}, qr/symbolic link, which is not followed, writing \S+nytprof\.out\.\d+\n\z/, "$what: is said";
        is -e "$dir/victim" ? slurp("$dir/victim") : undef, $target{$what}, "$what: is as before";
        is scalar(names($run)), 1, "$what: the profile has another name";
    }
    my $run = run_prog(opts => 'file=link', shell => 'ln -s /dev/null link', code => $F . "f();\n");
    is "$run->{status} $run->{err}", '0 ', 'a link to a device is opened as ever';
};

scenario 'looking whether the module is there does not cost a large profile' => sub {
    my $dir = run_prog(opts => 'compress=0', code => $F . "f() for 1 .. 9000;\n")->{dir};
    my $size = -s "$dir/nytprof.out";
    my $glance = run_perl(opts => undef, how => 'use', dir => $dir, args => ['-e', '1']);
    is -s "$dir/nytprof.out", $size, 'it stays';
    like $glance->{err}, qr/a one-line program does not replace the profile that is there, writing \S+nytprof\.out\.\d+\n\z/, 'which is said';
    run_perl(opts => undef, dir => $dir, args => ['-e', '1']);
    isnt -s "$dir/nytprof.out", $size, '-d:NYTProf replaces it, as asked for';
};

scenario 'start=no, and nothing enables it' => sub {
    my $run = run_prog(opts => 'start=no:log=log', code => "1;\n");
    like slurp("$run->{dir}/log"), qr/\ADevel::NYTProf: nothing was recorded: start=no, .*enable_profile\(\) was not called\n\z/, 'one line in the log';
    is run_prog(opts => 'start=no', code => "1;\n")->{err}, '', 'nothing where a program may read it';
    $run = run_prog(opts => 'start=no:log=log', code => "DB::enable_profile();\nfork;\n1;\n");
    ok !-e "$run->{dir}/log" || slurp("$run->{dir}/log") !~ /nothing was recorded/, 'not where it was enabled';
};

scenario 'start=no, and nothing enables it, on a terminal' => sub {
    my $terminal = run_on_terminal(opts => 'start=no', code => "fork; 1;\n");
    is scalar(() = $terminal->{out} =~ /nothing was recorded/g), 1, 'it is said once';
};

scenario 'comments of the header tell host and hash seed' => sub {
    my $p = profile_in(run_prog(code => $F . "f();\n", env => { PERL_HASH_SEED => 42 }));
    is "$p->{attr_record}{host} $p->{attr_record}{hash_seed}", hostname() . ' 42', 'a seed that was set';
    $p = profile_in(run_prog(code => $F . "f();\n", env => { PERL_HASH_SEED => undef }));
    is $p->{attr_record}{hash_seed}, 'random', 'none';
    my $run = run_prog(code => $F . 'f(); fork; f(); wait;');
    my $merge = run_command([$^X, ours(), root() . '/bin/nytprofmerge', '-o', 'merged', names($run)],
        dir => $run->{dir}, env => {%ENV});
    is "$merge->{err}$merge->{status}", 0, 'profiles are merged in silence';
    is_deeply profile_in($run, 'merged')->{attr_record}, $p->{attr_record}, 'and keep them';
};

done_testing;
