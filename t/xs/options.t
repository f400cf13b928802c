# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Options: where they come from, what they do to the file, and what bad ones do.

use lib 't/lib';
use NYTPTest;

my $CODE = "sub f { 1 }\nf();\nf();\nprint \"ran\\n\";\n";

sub files_of { return join ' ', sort map { s{.*/}{}r } grep { !/prog\.pl$/ } glob "$_[0]{dir}/*" }

sub ran {
    my ($run, $label) = @_;
    is "$run->{status} $run->{signal} $run->{out}", "0 0 ran\n", "$label: the program runs";
}

scenario 'every way to load it' => sub {
    for my $how (qw(-d opt db use)) {
        my $run = run_prog(code => $CODE, how => $how);
        ran($run, $how);
        is $run->{err}, '', "$how: silent";
        my $p = whole_in($run, "$how: whole");
        is join('; ', arc_lines($p, want => qr/^main::f/)), 'main::RUNTIME 2 main::f x1; main::RUNTIME 3 main::f x1', "$how: calls";
    }
};

scenario 'file=, addpid, addtimestamp' => sub {
    my %want = (
        'file=my.out'            => qr/^my\.out$/,
        'addpid=1'               => qr/^nytprof\.out\.PID$/,
        'addtimestamp=1'         => qr/^nytprof\.out\.\d{10}$/,
        'addpid=1:addtimestamp=1:file=z' => qr/^z\.PID\.\d{10}$/,
        'file=with\\:colon'      => qr/^with:colon$/,
        'file=with\\=sign'       => qr/^with=sign$/,
        'file=with\\\\back'      => qr/^with\\back$/,
        'file=a b'               => qr/^a b$/,
        "file=caf\xc3\xa9"       => qr/^caf\xc3\xa9$/,
    );
    for my $opts (sort keys %want) {
        my $run = run_prog(code => $CODE, opts => $opts);
        ran($run, $opts);
        opendir my $dh, $run->{dir} or die;
        my ($name) = grep { !/^\.|^prog\.pl$/ } readdir $dh;
        (my $got = defined $name ? $name : '') =~ s/\b$run->{pid}\b/PID/;
        like $got, $want{$opts}, "$opts: name";
        ok defined $name && profile_in($run, $name)->{complete}, "$opts: whole";
    }
    my $run = run_prog(code => $CODE, opts => 'file=./deep/er/x.out', shell => 'mkdir -p deep/er');
    ok -s "$run->{dir}/deep/er/x.out", 'a path';
};

scenario 'file exists and is not empty from the start' => sub {
    my $run = run_prog(code => "print -s 'nytprof.out' ? 'yes' : 'no';\n");
    is $run->{out}, 'yes', 'at the first statement';
};

scenario 'unknown names and values that cannot be: one line, the program runs' => sub {
    for my $opts ('foo=1', 'start=sometime', 'stmts=abc', 'calls', 'leave=', 'compress=abc', 'compress=15', 'clock=xyz',
        'file=', ':', '=', 'a=b=c', 'foo=1:calls=2', 'subs=-', 'forkdepth=many', 'slowops=9', 'calls=7')
    {
        my $run = run_prog(code => $CODE, opts => $opts);
        ran($run, $opts);
        my @lines = split /\n/, $run->{err};
        cmp_ok scalar @lines, '<=', 1, "$opts: at most one line" or diag $run->{err};
    }
    for my $pair (['foo=1', 'foo'], ['stmts=abc', 'stmts'], ['start=sometime', 'start'], ['calls', 'calls']) {
        my $run = run_prog(code => $CODE, opts => $pair->[0]);
        like $run->{err}, qr/\b$pair->[1]\b/, "$pair->[0]: the line names the option";
    }
};

# How it is told; the file; which options are in it.
my %TOLD = (
    'beside an unknown one' => [{ opts => 'foo=1:calls=1' }, undef, calls => 1],
    'numbers in other bases' => [{ opts => 'compress=0x3:trace=00' }, undef, compress => 3],
    'escapes in values' => [{ opts => 'calls=1:file=x\:y\=z:compress=0' }, 'x:y=z', calls => 1, compress => 0],
    'endatexit' => [{ opts => 'endatexit=1' }], 'libcexit' => [{ opts => 'libcexit=1' }],
    impl() eq 'peer' ? () : ( # which ignores them
        'on the switch' => [{ d => '-d:NYTProf=file=sw.out,calls=1,compress=0' }, 'sw.out', calls => 1, compress => 0],
        'on the switch, with those of the environment' => [{ d => '-d:NYTProf=calls=1', opts => 'compress=0' }, undef, calls => 1, compress => 0],
    ),
);
for my $name (sort keys %TOLD) {
    my ($how, $file, %want) = @{ $TOLD{$name} };
    scenario "options: $name" => sub {
        my $run = run_prog(code => $CODE, %$how);
        ran($run, $name);
        my $p = whole_in($run, 'whole', $file);
        is $p->{opt}{$_}, $want{$_}, $_ for sort keys %want;
    };
}

scenario 'a mistake in what decides how a program is recorded leaves it unprofiled' => sub {
    my %told = (
        'sample=100,file=x'    => qr/'100,file=x' is not a number \(options are separated by ':'\); the program runs unprofiled$/,
        'smaple=100:start=no'  => qr/unknown option 'smaple'; did you mean sample\?; the program runs unprofiled$/,
        'sample'               => qr/option sample: '' is not a number; the program runs unprofiled$/,
        'start=never'          => qr/option start: .*; the program runs unprofiled$/,
        'contol=1:calls=1'     => qr/did you mean control\?; the program runs unprofiled$/,
        'sample_clock=process' => qr/option sample_clock: .*; the program runs unprofiled$/,
        'usecputime=1'         => qr/usecputime/,
    );
    for my $opts (sort keys %told) {
        my $run = run_prog(code => $CODE, opts => $opts);
        ran($run, $opts);
        like $run->{err}, $told{$opts}, "$opts: is told";
        is files_of($run), '', "$opts: nothing is recorded";
    }
    my $run = run_prog(code => $CODE, opts => 'cals=1');
    like $run->{err}, qr/unknown option 'cals'; did you mean calls\?$/, 'another mistake';
    whole_in($run, 'is recorded all the same');
};

scenario 'subs=0, stmts=0, both' => sub {
    my $p = profile_in(run_prog(code => $CODE, opts => 'subs=0'));
    is scalar(@{ $p->{arc} }) + @{ $p->{ret} } + @{ $p->{entry} }, 0, 'subs=0: no calls';
    ok $p->{sub}{'main::f'}, 'subs=0: ranges are there';
    ok !$p->{sub}{'main::RUNTIME'}, 'subs=0: no main::RUNTIME';
    is stmt_lines($p), '1:2 2:1 3:1 4:1', 'subs=0: statements';
    $p = whole_in(run_prog(code => $CODE, opts => 'stmts=0'), 'stmts=0: sums');
    is stmt_total($p), 0, 'stmts=0: no statements';
    is $p->{opt}{stmts}, 0, 'stmts=0: says so';
    my $run = run_prog(code => $CODE, opts => 'stmts=0:subs=0');
    ran($run, 'neither');
    whole_in($run, 'neither: whole');
};

scenario 'clock=' => sub {
    for my $clock (-1, 0, 1, 2, 3, 4, 99) {
        my $run = run_prog(code => $CODE . "select undef, undef, undef, 0.1;\nf();\n", opts => "clock=$clock");
        ran($run, "clock=$clock");
        is $run->{err}, $clock == 99 ? "Devel::NYTProf: option clock: this system has no clock 99; clock 0 is taken\n" : '', "clock=$clock: what cannot be is said" if impl() ne 'peer';
        my $p = whole_in($run, "clock=$clock: whole");
        is $p->{attr}{clock_id}, { -1 => 1, 99 => 0 }->{$clock} // $clock, "clock=$clock: id";
        my @want = $clock == 2 || $clock == 3 ? ('<', 0.08, 'a wait takes no CPU') : ('>', 0.09, 'a wait takes time');
        cmp_ok line_seconds($p)->{5}, $want[0], $want[1], "clock=$clock: $want[2]";
    }
};

scenario 'optimize=0' => sub {
    my $code = "sub f {\n    if (\$_[0]) {\n        return 1;\n    }\n    2;\n}\nf(1);\nprint 'ran', \"\\n\";\n";
    my $run = run_prog(code => $code, opts => 'optimize=0');
    ran($run, 'optimize=0');
    ok stmt_counts(profile_in($run))->{3}, 'the merged statement is counted';
};

scenario 'perldb=N sets the debugger\'s bits, by default as few as can be' => sub {
    my $run = run_prog(code => 'print $^P;');
    is $run->{out} & 0x300, 0, 'no renaming of evals and anonymous subs'
      or diag "\$^P is $run->{out}";
    $run = run_prog(code => 'print $^P;', opts => 'perldb=0x310');
    is $run->{out}, 0x310, 'forced';
    is profile_in($run)->{attr}{PL_perldb}, 0x310, 'in the attributes';
};

scenario 'trace and log' => sub {
    my $run = run_prog(code => $CODE, opts => 'trace=3');
    ran($run, 'trace');
    ok length $run->{err}, 'trace goes to stderr';
    $run = run_prog(code => $CODE, opts => 'trace=3:log=trace.log');
    is $run->{err}, '', 'or to log=';
    ok -s "$run->{dir}/trace.log", 'which is written';
};

scenario 'loading brings in no module that would be missing from the profile' => sub {
    my $run = run_perl(opts => 'start=no', args => ['-e', 'print join " ", sort keys %INC']);
    is join(' ', grep { /^(?:Exporter|AutoLoader|AutoSplit|DynaLoader|Carp|POSIX|Config|List)/ } split ' ', $run->{out}),
      '', "\%INC: $run->{out}";
};

done_testing;
