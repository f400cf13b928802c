# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# The stock commands of Devel::NYTProf, where installed, read our files without a complaint and
# tell the numbers that the stream holds.

use lib 't/lib';
use NYTPTest;
use Extended;

my ($PERL) = stock_command() or plan skip_all => 'no stock commands installed';

my $CODE = <<'P';
use strict;
package Animal;
sub new { my ($class, %o) = @_; return bless {%o}, $class }
sub name { return $_[0]{name} }
sub speak {
    my $self = shift;
    my $text = sprintf '%s says %s', $self->name, $self->sound;
    return $text;
}
package Dog;
our @ISA = 'Animal';
sub sound { 'woof' }
package main;
sub fib { my $n = shift; return $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
my @dogs = map { Dog->new(name => $_) } qw(b a c);
for my $dog (sort { $a->name cmp $b->name } @dogs) {
    my $s = $dog->speak;
    $s =~ s/(o+)/length $1/e;
}
DB::label(request => 'GET /');
fib(8);
for my $i (1 .. 3) {
    eval "my \$x = $i;\n\$x++;\nfib(2);\n" or die;
}
my $f = sub {
    return fib(3);
};
$f->();
eval { die "out\n" };
P

sub stock {
    my ($run, $command, @args) = @_;
    my $r = run_command(
        [stock_command($command, @args)],
        dir => $run->{dir},
        env => { map { $_ => $ENV{$_} } grep { !/^(?:PERL5|NYTP)/ } keys %ENV },
    );
    is $r->{status}, 0, "$command: exit status";
    is $r->{err}, '', "$command: nothing on stderr";
    return $r;
}

# Runs a program with the stock modules.
sub by_stock {
    my ($dir, $code) = @_;
    return run_command([$PERL, '-MDevel::NYTProf::Data', '-e', $code], dir => $dir, env => { PATH => $ENV{PATH} });
}

my $stock_lib = by_stock('/', 'print $INC{"Devel/NYTProf/Data.pm"}')->{out};
ok length $stock_lib && index($stock_lib, root()) != 0, 'the stock modules are not ours' or diag $stock_lib;

# The sum over all paths that the return events give, as "path => exclusive ticks".
sub calls_of {
    my ($p) = @_;
    my %names;
    $names{ $_->[3] =~ s/\(eval \d+\)/(eval 0)/gr } += $_->[2] for @{ $p->{ret} };
    return \%names;
}

for my $opts ('', 'compress=0', 'calls=1:leave=0', 'blocks=1:slowops=0', 'use_db_sub=1', 'savesrc=0:slowops=1', 'compress=1:calls=2', 'regex=1', 'counts=1:savesrc=1') {
    scenario "options '$opts'" => sub {
        my $run = run_prog(code => $CODE, opts => $opts);
        my $p = whole_in($run, 'whole');

        # Calls that are told in comments are told again by the format's own records.
        my $with_calls = 'nytprof.out';
        if ($opts !~ /calls=|counts=/) {
            $with_calls = 'expanded.out';
            my @merge = ($^X, ours(), root() . '/bin/nytprofmerge');
            is run_in($run, @merge, '-o', $with_calls, 'nytprof.out')->{status}, 0, 'expanded';
            is_deeply calls_of(profile_in($run, $with_calls)), calls_of($p), 'with the same calls';
        }
        my $calls = stock($run, 'nytprofcalls', $with_calls);
        my %leaf;
        for my $line (split /\n/, $calls->{out}) {
            my ($path, $n) = $line =~ /^(.*) (-?\d+)$/ or do { fail "line: $line"; next };
            $leaf{ (split /;/, $path)[-1] } += $n;
        }
        my $want = calls_of($p);
        is join(' ', sort keys %leaf), join(' ', sort grep { $want->{$_} } keys %$want), 'nytprofcalls: same subs'
          or note $calls->{out};
        is_deeply { map { $_ => int $leaf{$_} } keys %leaf },
          { map { $_ => int $want->{$_} } grep { $want->{$_} } keys %$want }, 'nytprofcalls: same ticks';

        stock($run, 'nytprofcsv', '--file', 'nytprof.out', '--out', 'csv');
        my ($csv) = grep { /prog/ && /line/ && !/eval/ } glob "$run->{dir}/csv/*.csv";
        my @rows = grep { !/^(?:#|time,)/ } split /\n/, slurp($csv);
        is join(' ', map { $rows[$_ - 1] =~ /^[\d.e-]+,(\d+),/ ? "$_:$1" : "$_:0" } sort { $a <=> $b } keys %{ stmt_counts($p) }),
          stmt_lines($p), 'nytprofcsv: same counts' if $opts !~ /savesrc=0/;

        my $merge = stock($run, 'nytprofmerge', '--out', 'merged.out', 'nytprof.out');
        my $m = profile_in($run, 'merged.out');
        ok $m && $m->{complete}, 'nytprofmerge: whole' or return;
        is stmt_total($m), stmt_total($p), 'nytprofmerge: statements';
        is join("\n", arc_lines($m, ops => 1)), join("\n", arc_lines($p, ops => 1)), 'nytprofmerge: arcs';
        is join("\n", sub_lines($m)), join("\n", sub_lines($p)), 'nytprofmerge: ranges';

        my $data = by_stock($run->{dir}, <<'P');
my $p = Devel::NYTProf::Data->new({ filename => 'nytprof.out', quiet => 1 });
my $at = $p->attributes;
print join ' ', map { defined $at->{$_} ? $at->{$_} + 0 : 'undef' } qw(complete total_stmts_measured total_stmts_discounted total_sub_calls);
print "\n";
for my $s (sort { $a->subname cmp $b->subname } values %{ $p->subname_subinfo_map }) {
    next if $s->subname =~ /__ANON__|BEGIN/;
    print join(' ', $s->subname, $s->calls, $s->first_line, $s->last_line), "\n";
}
P
        is "$data->{status} $data->{err}", '0 ', 'Data: loads in silence';
        my ($head, @subs) = split /\n/, $data->{out};
        # The stock loader counts time records; those behind a DISCOUNT only add time.
        my ($complete, $measured, $discounted, $calls_total) = split ' ', $head;
        is $complete, 1, 'Data: complete';
        is $measured - $discounted, stmt_total($p), 'Data: statements';
        my %calls;
        $calls{ $_->{callee} } += $_->{count} for @{ $p->{arc} };
        my %got = map { (split ' ')[0, 1] } @subs;
        my @differ = grep { $got{$_} != ($calls{$_} || 0) } sort keys %got;
        is "@differ", '', 'Data: calls of each sub';
        cmp_ok scalar(grep { /^(?:Animal|Dog|main)::/ } @subs), '>=', 5, 'Data: subs are there';
    };
}

# Returns a dump's lines of the header: whatever else our recorder tells stands in comments.
my @SHOWN = qw(
  attribute:PL_perldb attribute:application attribute:basetime attribute:clock_id attribute:complete
  attribute:cumulative_overhead_ticks attribute:nv_size attribute:perl_version attribute:profiler_active
  attribute:profiler_duration attribute:profiler_end_time attribute:profiler_start_time
  attribute:ticks_per_sec attribute:total_stmts_discounted attribute:total_stmts_duration
  attribute:total_stmts_measured attribute:total_sub_calls attribute:xs_version
  option:blocks option:calls option:clock option:compress option:evals option:expand
  option:findcaller option:forkdepth option:leave option:nameanonsubs option:nameevals option:perldb
  option:slowops option:stmts option:subs option:trace option:use_db_sub option:usecputime
);

# It was built for one perl; another has none.
sub peer_loads {
    local $ENV{PERL5LIB} = '';
    return system("'$^X' -MDevel::NYTProf::Core -e 1 2>/dev/null") == 0;
}

scenario 'a dump shows the attributes and options that Devel::NYTProf has, and no others' => sub {
    for my $impl ('ours', peer_loads() ? 'peer' : ()) {
        my $run = run_prog(code => $CODE, impl => $impl);
        my $dump = by_stock($run->{dir}, <<'P');
Devel::NYTProf::Data->new({ filename => 'nytprof.out', quiet => 1 })->dump_profile_data({ filehandle => \*STDOUT, separator => ':' });
P
        is join("\n", $dump->{out} =~ /^((?:attribute|option):\w+):/gm), join("\n", @SHOWN), $impl;
    }
};

scenario 'a tree of forked processes, merged' => sub {
    my $run = run_prog(code => <<'P');
sub f { my $n = shift; return $n + 1 }
f(1) for 1 .. 10;
for my $k (1 .. 2) {
    my $pid = fork;
    if (!$pid) { f($_) for 1 .. 20; exit 0 }
    waitpid $pid, 0;
}
f(2);
P
    my @files = map { s{.*/}{}r } glob "$run->{dir}/nytprof.out*";
    is scalar @files, 3, 'three files';
    my $merge = stock($run, 'nytprofmerge', '--out', 'all.out', @files);
    my $m = profile_in($run, 'all.out');
    is n_calls($m, 'main::f'), 51, 'calls of all processes';
};

scenario 'finished files of programs that die, exec and _exit' => sub {
    for my $end ('die "x\n"', 'exec "true"', 'POSIX::_exit(0)', 'exit 1', 'DB::finish_profile(); f()') {
        my $run = run_prog(code => "use POSIX ();\nsub f { 1 }\nsub g { f(); $end; }\ng();\n");
        stock($run, 'nytprofcalls', 'nytprof.out');
    }
};

scenario 'nytprofhtml, with source beyond ASCII as it is in the file' => sub {
    my $line = "my \$drink = 'caf\xc3\xa9 \xe2\x82\xac 3';";
    my $run = run_prog(code => "use utf8;\n$line\neval q{$line 1} or die;\nsub fib { 1 } fib();\n");
    stock($run, 'nytprofhtml', '--file', 'nytprof.out', '--out', 'html', '--no-flame');
    like slurp("$run->{dir}/html/index.html"), qr/main::fib|>fib</, 'the index names the subs';
    my @pages = glob "$run->{dir}/html/*prog-pl-*-line.html";
    like slurp($_), qr/caf\xc3\xa9 \xe2\x82\xac 3/, s{.*/}{}r for @pages;
    like join('', map { slurp($_) } @pages), qr/sub fib/, 'pages of the script and of its eval';
};

done_testing;
