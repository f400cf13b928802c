# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# The output cannot be written, or is something else than a profile: the program runs on as it
# would, one line says what happened, nothing foreign is harmed.
#
# Never run the peer here: it unlinks what it is pointed at, device nodes included.

use lib 't/lib';
use NYTPTest;
use Extended;

use Fcntl qw(O_RDONLY O_NONBLOCK);
use POSIX ();

plan skip_all => 'the peer would delete device nodes' if impl() eq 'peer';

my $CODE = <<'P';
sub f { my $x = shift; return $x }
my $t = 0;
for my $i (1 .. 20_000) {
    $t = f($i);
}
print "ran $t\n";
exit 3;
P

sub ran {
    my ($run, $label, $lines) = @_;
    is "$run->{status} $run->{signal} $run->{out}", "3 0 ran 20000\n", "$label: the program runs";
    my @lines = split /\n/, $run->{err};
    is scalar @lines, $lines, "$label: lines on stderr" or diag $run->{err};
    like $run->{err}, qr/nytprof|NYTProf/i, "$label: which say who speaks" if $lines;
}

scenario '/dev/null swallows it in silence' => sub {
    ran(run_prog(code => $CODE, opts => 'file=/dev/null'), '/dev/null', 0);
    ok -c '/dev/null', 'still a device';
};

scenario 'size limit' => sub {
    for my $opts ('compress=0', 'compress=1', '') {
        my $run = run_prog(code => $CODE, opts => $opts, shell => 'ulimit -f 40');
        my $p = profile_in($run);
        ran($run, "ulimit -f, $opts", $p->{complete} ? 0 : 1);
        cmp_ok stmt_total($p), '>', 100, "$opts: what was written can be read";
    }
};

scenario 'no such folder, no right to write, a folder, a path too long' => sub {
    for my $file ('/nosuch/dir/x.out', '.', 'prog.pl/x', 'x' x 300, ('long/' x 900) . 'x') {
        my $run = run_prog(code => $CODE, opts => "file=$file");
        ran($run, 'file=' . substr($file, 0, 20), 1);
    }
    if ($> == 0) {
        my $run = run_prog(code => "\$) = '65534 65534'; \$> = 65534; DB::enable_profile('/proc/x.out'); print 'ran';", opts => 'start=no');
        is "$run->{status} $run->{out}", '0 ran', 'enable_profile where nothing may be written';
    }
    my $run = run_prog(code => "print DB::enable_profile('/nosuch/x') ? 1 : 0, 'ran'; sub f { 1 } f();");
    is "$run->{status} " . ($run->{out} =~ /ran/ ? 'ran' : ''), '0 ran', 'enable_profile(bad) goes on';
};

scenario 'a symbolic link is followed or kept, its target not replaced by surprise' => sub {
    my $run = run_prog(code => $CODE, opts => 'file=link', shell => 'ln -s real.out link');
    ran($run, 'link to nothing', 0);
    ok -l "$run->{dir}/link", 'the link is kept';
    ok profile_in($run, 'real.out'), 'its target is written';
    $run = run_prog(code => $CODE, opts => 'file=link', shell => 'echo precious > other; ln -s other link');
    is slurp("$run->{dir}/other"), "precious\n", 'a foreign target is kept';
    is $run->{status}, 3, 'and the program runs';
    like $run->{err}, qr/: the file is there and is no profile, writing/, 'which says why';
};

scenario 'a FIFO that nobody reads, and one whose reader leaves' => sub {
    my $run = run_prog(code => $CODE, opts => 'file=pipe', shell => 'mkfifo pipe');
    ok !$run->{timeout}, 'the program does not wait for a reader';
    ran($run, 'no reader', 1) if !$run->{timeout};
    ok -p "$run->{dir}/pipe", 'still a FIFO';
    $run = run_prog(code => $CODE, opts => 'file=pipe:compress=0',
        shell => fifo_reader('pipe', 'head -c 100 > /dev/null'));
    ran($run, 'reader left', 1);
};

scenario 'a FIFO whose reader never reads' => sub {
    my $dir = new_dir();
    POSIX::mkfifo("$dir/pipe", 0600) && sysopen my $reader, "$dir/pipe", O_RDONLY | O_NONBLOCK or die;
    my $run = run_prog(dir => $dir, code => $CODE, opts => 'file=pipe:compress=0');
    ran($run, 'reader asleep', 1);
    like $run->{err}, qr/pipe: its reader does not read; profiling stops here/, 'which is said';
};

scenario 'messages that nobody reads harm nobody' => sub {
    my $fill = $^X . q( -MFcntl -e 'fcntl STDERR, F_SETFL, O_NONBLOCK; 1 while syswrite STDERR, "x" x 4096; fcntl STDERR, F_SETFL, 0');
    my %shell = (
        'a pipe without reader' => 'mkfifo pipe; : < pipe & exec 2> pipe; wait',
        'a pipe that is full' => "mkfifo pipe; exec 2<> pipe; $fill",
        'a file beyond the size limit' => 'ulimit -f 0; exec > /dev/null',
    );
    for my $what (sort keys %shell) {
        my $run = run_prog(code => $CODE, opts => 'file=/nosuch/x', shell => $shell{$what});
        is "$run->{status} $run->{signal}", '3 0', "standard error is $what: the program runs";
    }
};

scenario 'a log that cannot be written: messages go to standard error' => sub {
    my %why = ('/nosuch/log' => 'No such file or directory', pipe => 'nobody reads from it', '/dev/full' => 'No space left on device');
    for my $log (sort keys %why) {
        my $run = run_prog(code => $CODE, opts => "file=/nosuch/x:log=$log", shell => 'mkfifo pipe');
        ran($run, "log=$log", 2);
        like $run->{err}, qr/\ADevel::NYTProf: cannot write \S*\Q$log\E: $why{$log}; messages go to standard error\nDevel::NYTProf: cannot open/, 'why';
    }
    my $run = run_prog(code => "chdir '/' or die; DB::enable_profile('/nosuch/x');", opts => 'log=log');
    is $run->{err}, '', 'a chdir of the program does not move it';
    like slurp("$run->{dir}/log"), qr{cannot open /nosuch/x}, 'the message is there';
};

scenario 'a foreign file is kept, the profile gets another name, said' => sub {
    my $run = run_prog(code => $CODE, files => { 'nytprof.out' => "my notes\n" });
    ran($run, 'foreign', 1);
    is slurp("$run->{dir}/nytprof.out"), "my notes\n", 'kept';
    is outputs($run), "nytprof.out nytprof.out.$run->{pid}", 'one other file, with the pid';
    whole_in($run, 'whole', "nytprof.out.$run->{pid}");
    $run = run_prog(code => $CODE, files => { 'nytprof.out' => '' });
    ran($run, 'empty file', 0);
    whole_in($run, 'an empty file is simply used');
};

scenario 'the file is removed or replaced while the program runs' => sub {
    my $run = run_prog(code => "unlink 'nytprof.out' or die;\n$CODE");
    ran($run, 'removed', 1);
    $run = run_prog(code => "rename 'nytprof.out', 'moved' or die;\nopen my \$f, '>', 'nytprof.out'; print \$f 'mine'; close \$f;\n$CODE");
    is $run->{status}, 3, 'renamed: runs';
    is slurp("$run->{dir}/nytprof.out"), 'mine', 'the program\'s new file is its own';
    whole_in($run, 'the profile is whole under its new name', 'moved');
};

scenario 'what the program opens as descriptor 2 gets no message of ours' => sub {
    my $run = run_prog(code => "close STDERR;\nopen my \$data, '>', 'data' or die;\nprint fileno \$data;\nunlink 'nytprof.out';\n");
    is "$run->{status} $run->{out}", '0 2', 'runs';
    is -s "$run->{dir}/data", 0, 'its file is as it left it';
};

scenario 'errors while finishing leave exit status and $! alone' => sub {
    my $code = "open my \$f, '<', '/nosuch'; f(); print \$! + 0, qq{\\n}; sub f { 1 } END { print \$! + 0, qq{\\n}; \$? = 5 }\n";
    my $plain = run_plain(code => $code);
    my $run = run_prog(code => $code, opts => 'file=/dev/full');
    is "$run->{status} $run->{out}", "$plain->{status} $plain->{out}", 'as plain';
};

done_testing;
