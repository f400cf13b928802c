# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# The file itself: header, attributes, options, order of records, compression, times.

use lib 't/lib';
use NYTPTest;

use Time::HiRes ();
use Devel::NYTProf::ReadStream qw(for_chunks);

my $CODE = <<'P';
use strict;
sub f { my $n = shift; return $n < 2 ? 1 : g($n) }
sub g { my $n = shift; my @x = map { $_ * 2 } 1 .. $n; return scalar @x }
my $t = 0;
for my $i (1 .. 30) {
    $t += f($i);
    if ($i % 3) {
        $t--;
    }
}
print eval "\$t;\n\$t + 1", "\n";
P

my @OPTIONS = qw(usecputime subs blocks leave expand trace use_db_sub compress clock stmts slowops
  findcaller forkdepth perldb nameevals nameanonsubs calls evals);

scenario 'layout over the matrix' => sub {
    for my $opts (matrix()) {
        my $run = run_prog(code => $CODE, opts => $opts);
        is $run->{out}, "446\n", "$opts: output" or diag $run->{err};
        is $run->{err}, '', "$opts: nothing on stderr";
        my $p = whole_in($run, "$opts: sums");
        is $p->{version}, '5.0', "$opts: version";
        is join(' ', grep { defined $p->{opt}{$_} } @OPTIONS), join(' ', @OPTIONS), "$opts: the stock options";
        my %set = map { split /=/ } split /:/, $opts;
        is $p->{opt}{$_}, $set{$_}, "$opts: option $_" for grep { $_ ne 'savesrc' } sort keys %set;
        my $a = $p->{attr};
        is $a->{application}, 'prog.pl', "$opts: application";
        is $a->{perl_version}, sprintf('%vd', $^V), "$opts: perl_version";
        is $a->{nv_size}, 8, "$opts: nv_size";
        like $a->{basetime}, qr/^\d{10}$/, "$opts: basetime";
        cmp_ok $a->{ticks_per_sec}, '>=', 1e7, "$opts: resolution of 100 ns or better";
        like $a->{cumulative_overhead_ticks}, qr/^[0-9.e+]+$/, "$opts: overhead";
        ok defined $a->{$_}, "$opts: $_" for qw(xs_version PL_perldb clock_id);
        is $p->{compressed} ? 1 : 0, $opts =~ /compress=0/ ? 0 : 1, "$opts: compressed or not";
        like $p->{tags}, qr/^#[:#]+!+/, "$opts: text lines first";
        like $p->{tags}, qr/p$/, "$opts: PID_END last" if !$p->{compressed};
        my $tags = $p->{tags};
        my $calls = $opts =~ m{calls=(\d)} ? $1 : impl() eq "peer" ? 1 : 2;
        is scalar($tags =~ tr/<//) ? 1 : 0, $calls ? 1 : 0, "$opts: returns as calls= says";
        is scalar($tags =~ tr/>//) ? 1 : 0, $calls == 2 ? 1 : 0, "$opts: entries as calls= says";
        is scalar($tags =~ tr/*//) ? 1 : 0, $opts =~ /blocks=1/ && $opts !~ /stmts=0/ ? 1 : 0, "$opts: blocks";
        is scalar($tags =~ tr/-//) ? 1 : 0, $opts =~ /leave=0|use_db_sub|stmts=0/ ? 0 : 1, "$opts: discounts";
        cmp_ok scalar($tags =~ tr/>//), '>=', scalar($tags =~ tr/<//), "$opts: entries >= returns" if $calls == 2;
        is scalar($tags =~ tr/+*//), 0, "$opts: no statements" if $opts =~ /stmts=0/;
        is stmt_lines($p) =~ s{^1:2 }{}r, '2:60 3:87 4:1 5:1 6:30 7:30 11:1', "$opts: statement counts"
          if $opts !~ /stmts=0/;
        is $p->{pid}[0][0], $run->{pid}, "$opts: pid";
        is $p->{pid}[0][1], $$, "$opts: parent's pid";
        cmp_ok abs($p->{pid}[0][2] - time), '<', 60, "$opts: start time";
        cmp_ok $p->{pid_end}[0][1], '>', $p->{pid}[0][2], "$opts: end after start";
    }
};

scenario 'every fid is defined before it is used, parents before their evals' => sub {
    my $run = run_prog(opts => 'compress=0:calls=2', code => $CODE . "eval 'eval q{1;\nf(3)}';\n");
    my $p = profile_in($run);
    my %place;
    my $n = 0;
    $place{$_} = $n++ for @{ $p->{fid_order} };
    for my $f (values %{ $p->{fid} }) {
        next if !$f->{eval_fid};
        cmp_ok $place{ $f->{eval_fid} }, '<', $place{ $f->{fid} }, "$f->{name}";
    }
    is scalar(grep { $_->{eval_fid} } values %{ $p->{fid} }), 3, 'three evals';
};

scenario 'compress=N' => sub {
    is profile_in(run_prog(code => $CODE, opts => "compress=$_"))->{opt}{compress}, $_, "compress=$_: says so" for 0 .. 9;
};

scenario 'times: a wait is charged to its line, its sub, and its callers' => sub {
    plan skip_all => 'two libraries to preload' if sanitized();
    for my $opts (grep { !/use_db_sub/ } matrix()) {
        my $run = run_prog(opts => "clock=1:$opts", env => { stepping_clock() }, code => <<'P');
sub inner {
    select undef, undef, undef, 0.15;
    return 1;
}
sub outer {
    inner();
    my $x = 1;
    select undef, undef, undef, 0.1;
    return inner() + inner();
}
outer();
P
        my $p = whole_in($run, "$opts: sums");
        my (%incl, %excl);
        for my $arc (@{ $p->{arc} }) {
            $incl{ $arc->{callee} } += $arc->{incl};
            $excl{ $arc->{callee} } += $arc->{excl};
        }
        my $near = sub {
            my ($got, $want, $what) = @_;
            ok $got > $want - 0.001 && $got < $want + 0.01, "$opts: $what" or diag "$got, not $want";
        };
        my $own = $opts =~ /slowops=0/;
        $near->($incl{'main::outer'}, 0.55, 'outer inclusive');
        $near->($incl{'main::inner'}, 0.45, 'inner inclusive');
        $near->($excl{'main::outer'}, $own ? 0.1 : 0, 'outer exclusive');
        $near->($excl{'main::inner'}, $own ? 0.45 : 0, 'inner exclusive');
        $near->($excl{'main::CORE:sselect'}, 0.55, 'the builtin') if $opts !~ /slowops/;
        next if $opts =~ /stmts=0/;
        my $at = line_seconds($p);
        $near->($at->{2}, 0.45, 'line 2');
        $near->($at->{8}, 0.1, 'line 8');
        $near->($at->{$_} || 0, 0, "line $_") for 3, 6, 7, 9, 11;
    }
};

scenario 'blocks=1: first line of the block and of the sub' => sub {
    my $p = profile_in(run_prog(opts => 'blocks=1', code => <<'P'));
sub f {
    my $x = 1;
    for my $i (1 .. 2) {
        $x++;
        $x--;
    }
    return $x;
}
f();
P
    my $fid = script_fid($p);
    my %seen;
    $seen{"$_->[2] $_->[3] $_->[4]"}++ for grep { $_->[1] == $fid } @{ $p->{block} };
    ok $seen{$_}, "line, block, sub: $_" for '2 2 2', '4 4 2', '5 4 2', '9 9 9';
};

scenario 'sums stay exact over many short events' => sub {
    my $run = run_prog(opts => 'clock=1:flush=0', env => { stepping_clock() }, code => <<'P');
sub f { my $x = shift; $x++; return $x }
my $t = 0;
BEGIN { require Time::HiRes; *now = sub { Time::HiRes::clock_gettime(1) } }
my $began = now();
for my $i (1 .. 10000) {
    $t = f($t);
}
print now() - $began;
P
    my $p = whole_in($run, 'sums');
    my $over = $p->{attr}{cumulative_overhead_ticks} / $p->{attr}{ticks_per_sec};
    my $rest = all_seconds($p) + $over - $run->{out};
    ok 0 <= $rest && $rest < 0.01 * $run->{out}, 'statements and overhead make up the whole run' or diag "$rest of $run->{out}";
    is_deeply [map { stmt_counts($p)->{$_} } 1, 6], [30000, 10000], 'counts';
    is scalar(grep { $_->[3] eq 'main::f' } @{ $p->{ret} }), 10000, 'returns';
};

# From the first block to the second it is the first one's line that runs, though the second call has
# been looked up, and what is being compiled is one statement to perl, whose line changes.
scenario 'what runs keeps its line when another is looked up' => sub {
    my $run = run_prog(code => "BEGIN { \$x = 1 }\n\nBEGIN { \$y = 2 }\n1;\n", opts => 'compress=0');
    my @lines;
    for_chunks { push @lines, $_[3] if $_[0] eq 'TIME_LINE' } filename => "$run->{dir}/nytprof.out", quiet => 1;
    is "@lines", '1 1 3 3 4', 'in the order of the records';
};

done_testing;
