# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# counts=1: the counts of statements, by line, and of calls are those of an exact recording of the same program. No time is recorded.

use lib 't/lib';
use Config;
use NYTPTest;

my $COUNTS = 'counts=1:flush=0.0001';

sub run_with {
    my ($opts, %o) = @_;
    return run_prog(%o, opts => $opts, env => { PERL_HASH_SEED => 0, %{ $o{env} || {} } });
}

# The profiles of a run, of children and threads, too, in order of their beginning.
sub profiles {
    my ($run) = @_;
    opendir my $dir, $run->{dir} or die "$run->{dir}: $!";
    my @names = sort { length $a <=> length $b || $a cmp $b } grep { /\A(?:nytprof|two)\.out/ } readdir $dir;
    return map { profile_in($run, $_) } @names;
}

# Counts by place and by call; no fid, as these depend on what is met first.
sub counts {
    my ($run, $p) = @_;
    my %count;
    my $name = sub { my $f = $p->{fid}{ $_[0] }; my $n = ref $f ? $f->{name} : $f // ''; $n =~ s/\Q$run->{dir}\E//g; return $n };
    for my $fid (keys %{ $p->{stmt} }) {
        $count{ join ':', $name->($fid), $_ } += $p->{stmt}{$fid}{$_}[0] for keys %{ $p->{stmt}{$fid} };
    }
    for my $arc (@{ $p->{arc} }) {
        my @subs = map { s/\Q$run->{dir}\E//gr } @$arc{qw(caller callee)};
        $count{ join ' ', "$arc->{depth}:", $subs[0], '>', $subs[1], $name->($arc->{fid}), $arc->{line} } += $arc->{count}
            if $arc->{count};
    }
    delete $count{$_} for grep { !$count{$_} } keys %count;
    return \%count;
}

sub times_of {
    my ($p) = @_;
    return grep {$_} map({ @$_{qw(incl excl reci)} } @{ $p->{arc} }), map { map { $_->[1] } values %$_ } values %{ $p->{stmt} };
}

sub same_counts {
    my ($label, $opts, %o) = @_;
    my %run = (exact => run_with($opts, %o), counts => run_with(join(':', grep { length } $opts, $COUNTS), %o));
    is "$run{counts}{status} $run{counts}{err} $run{counts}{out}", "$run{exact}{status} $run{exact}{err} $run{exact}{out}", "$label: the program";
    my %of = map { ($_ => [ profiles($run{$_}) ]) } keys %run;
    is @{ $of{counts} }, @{ $of{exact} }, "$label: as many profiles";
    for my $i (0 .. $#{ $of{exact} }) {
        is_deeply counts($run{counts}, $of{counts}[$i]), counts($run{exact}, $of{exact}[$i]), "$label: counts of profile $i";
        is_deeply [ times_of($of{counts}[$i]) ], [], "$label: no times in it";
    }
    cmp_ok scalar @{ $of{exact} }, '>', ($o{profiles} // 1) - 1, "$label: $#{$of{exact}} further profiles";
    return;
}

my $SUBS = <<'P';
sub deep { my $n = shift; return $n <= 0 ? 0 : 1 + deep($n - 1) }
sub dies { my $n = shift; die "x\n" if $n == 0; return dies($n - 1) }
sub by_num { return $a <=> $b }
sub jump { unshift @_, 5; goto &deep }
sub to_xsub { @_ = ('ab'); goto &utf8::is_utf8 }
our $AUTOLOAD;
sub AUTOLOAD { my $name = $AUTOLOAD; return if $name =~ /DESTROY/; return $name }
package Obj { sub new { return bless {} } sub DESTROY { my $self = shift; main::deep(2); $self->{x} = 1; return }
    use overload '+' => sub { return main::deep(1) }, '""' => sub { 'obj' } }
package Tie { sub TIESCALAR { bless [] } sub FETCH { main::deep(1); return 4 } sub STORE { 1 } }
package main;
P

scenario 'calls, loops and ends of scopes of every kind' => sub {
    my $more = "sub more { return deep(1) }\nmore() for 1 .. 3;\n1;\n";
    same_counts('calls', '', files => { 'more.pl' => $more }, code => $SUBS . <<'P');
use List::Util qw(first sum);
for my $i (1 .. 600) { deep($i % 7); my @l = sort by_num 3, 1, 2; next if $i % 3; last if $i > 590; my $s = 'abc'; $s =~ s/b/deep(1)/e; }
eval { dies(5); 1 } or print "died $@";
eval { my @l = sort { die "y\n" } 2, 1; 1 } or print "died $@";
print jump(), to_xsub() ? 1 : 0, unknown(1), "\n";
my $o = Obj->new; my $sum = $o + 1; undef $o; { my $p = Obj->new }
tie my $t, 'Tie'; my $u = $t + $t;
print first { deep(2) > 1 && $_ > 2 } 1 .. 5; print sum(1 .. 4), "\n";
my @subs = map { my $n = $_; sub { $n++; return deep($n) } } 1 .. 3; $_->() for @subs, @subs;
for my $n (1 .. 30) { eval "sub e$n { my \$x = $n; return \$x } e$n() for 1 .. 2; 1" or die }
OUTER: for my $i (1 .. 5) { for my $j (1 .. 5) { next OUTER if $j > $i; deep($j) } }
my $k = 0; while ($k++ < 300) { if ($k % 2) { deep(1) } else { length sprintf '%d', $k } } 
do { deep(1) } until $k-- < 290;
{ no warnings 'exec'; exec './no such program'; } deep(1);
local $_ = 'a b c'; my @w = split; print "@w[0, 1]\n"; print join(',', map { deep($_) } grep { $_ > 1 } 1 .. 4), "\n";
require "./more.pl"; do './more.pl'; print Obj->can('new') ? "can\n" : '';
END { deep(3); print "end\n" }
exit deep(2);
P
};

scenario 'recording that stops and goes on' => sub {
    my $code = $SUBS . <<'P';
deep(3), DB::disable_profile();
deep(5);
sub off { deep(1); DB::disable_profile(); deep(1) }
DB::enable_profile(); deep(2);
off(); deep(4);
sub on { DB::enable_profile(); deep(2); return }
on(); deep(1);
DB::disable_profile(); DB::enable_profile(); for (1 .. 3) { DB::disable_profile(); deep(1); DB::enable_profile(); deep(1) }
deep(1), DB::disable_profile();
P
    same_counts('within', '', code => $code);
    same_counts('from no beginning', 'start=no', code => $code);
    same_counts('into another file', '', code => $SUBS . "deep(3); sub next_file { DB::enable_profile('two.out'); deep(2) } next_file(); deep(1);", profiles => 2);
    same_counts('checkpoint and rotate', '', profiles => 4, code => $SUBS
        . "sub in { deep(2); DB::checkpoint_profile() or die; deep(1); DB::rotate_profile('two.out') or die; deep(4); DB::rotate_profile() or die; deep(1) } in(); deep(3);");
};

scenario 'processes and threads' => sub {
    same_counts('forks', '', profiles => 3, code => $SUBS . <<'P');
deep(2);
sub child { my $pid = fork; return $pid if $pid; deep(3); child(1) if !@_; exit 3 }
waitpid child(), 0; deep(1);
print $? >> 8, "\n";
if (!(my $pid = fork)) { deep(1); exec $^X, '-e', '1' } else { waitpid $pid, 0 }
P
    return if !$Config{usethreads};
    same_counts('threads', '', profiles => 3, code => $SUBS . <<'P');
use threads;
sub in_thread { deep(3) for 1 .. 4; return 1 }
for my $n (1 .. 2) { my $thread = threads->create(\&in_thread); $thread->join; deep(1) }
P
};

scenario 'beside other options' => sub {
    my $code = $SUBS . "for my \$i (1 .. 900) { deep(\$i % 4); my \$x = 'a' =~ /b/; my \@l = sort by_num 2, 1 }\n";
    same_counts($_, $_, code => $code) for qw(stmts=0 subs=0 slowops=0 slowops=1 findcaller=1 use_db_sub=1 sigexit=1 compress=0 nameevals=0);
    same_counts('unsafe signals', '', code => $code, env => { PERL_SIGNALS => 'unsafe' });
    my $run = run_with("$COUNTS:savesrc=1", code => $code);
    my $p = profile_in($run);
    is $p->{opt}{calls}, 0, 'readers are told that there are no calls one by one';
    is join(' ', grep {/counts/} @{ $p->{comments} }), 'nytp-attribute counts=1', 'and no times';
    is join(' ', grep {/\Anytp-(?:costs|processor|memory \d|attribute clock)/} @{ $p->{comments} }), '', 'nor anything that is of time';
    $run = run_with($COUNTS, code => "DB::label(a => 1); DB::label_profile(b => 2);\n$code");
    is join(' ', grep {/nytp-label/} @{ profile_in($run)->{comments} }), 'nytp-label-profile b=2', 'a label of the process stays';
};

scenario 'an option that the program sets' => sub {
    my $code = $SUBS . "require Devel::NYTProf; DB::set_option('counts', 1); DB::enable_profile(); deep(\$_ % 3) for 1 .. 500; DB::finish_profile();\n";
    my $p = profile_in(run_with('start=no', code => $code));
    is join(' ', $p->{opt}{calls}, grep {/counts/} @{ $p->{comments} }), '0 nytp-attribute counts=1', 'before recording begins';
    cmp_ok stmt_total($p), '>', 900, 'statements are counted';
    my $run = run_with('', code => $SUBS . <<'P');
deep($_ % 3) for 1 .. 500; DB::set_option('counts', 1); DB::disable_profile(); DB::enable_profile(); deep($_ % 3) for 1 .. 500;
DB::finish_profile(); DB::enable_profile('two.out'); deep($_ % 3) for 1 .. 500;
DB::set_option('counts', 0); DB::disable_profile(); DB::enable_profile(); deep(1);
P
    my @p = map { profile_in($run, $_) } 'nytprof.out', 'two.out';
    is join(' ', map { scalar grep {/counts/} @{ $_->{comments} } } @p), '0 1', 'while recording: for the next file';
    is join(' ', map { times_of($_) ? 1 : 0 } @p), '1 0', 'with or without times';
    my ($first, $second) = map { counts($run, $_) } @p;
    cmp_ok $first->{'/prog.pl:1'}, '>', 1.9 * $second->{'/prog.pl:1'}, 'all of the first';
    cmp_ok $first->{'/prog.pl:1'}, '<', 2 * $second->{'/prog.pl:1'}, 'and no more';
};

# The counts of a killed program are on disk but for those of the last moments. It tells when it has done a part: nobody waits.
scenario 'a program that is killed' => sub {
    my $run = run_with('counts=1:flush=0.0001:sigexit=TERM', code => $SUBS . "deep(\$_ % 9) for 1 .. 5000; kill TERM => \$\$; sleep 100;\n");
    my $p = profile_in($run);
    my %calls;
    $calls{ $_->{callee} } += $_->{count} for @{ $p->{arc} };
    my $all = 5000;
    $all += $_ % 9 for 1 .. 5000;
    is $calls{'main::deep'}, $all, 'by a signal of sigexit: all calls are there';
    $run = run_with('counts=1:flush=0.0001', code => $SUBS . "deep(\$_ % 9) for 1 .. 5000; kill KILL => \$\$; sleep 100;\n");
    my $n = stmt_total(profile_in($run));
    cmp_ok $n, '>', $all / 2, 'by one that nobody can catch: most statements are';
};

done_testing;
