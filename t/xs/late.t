# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Code that was compiled before the profiler was loaded, deep trees of ops, and what the recorder
# must not touch while it looks at perl's own tables.

use lib 't/lib';
use NYTPTest;

my $DEEP = "sub { return 0 " . '+ $x' x 300_000 . ' }';

# Perl 5.20 itself overflows the stack where it compiles such a sub.
my @SMALL_STACK = (shell => 'ulimit -s 1024');
my $too_deep = sanitized() ? 'takes more stack and memory'
    : run_prog(@SMALL_STACK, impl => 'plain', opts => undef, code => "eval '$DEEP' or die; print 1")->{out} ? undef : 'perl itself cannot compile it';

scenario 'loading late over a sub whose ops are nested deeply' => sub {
    plan skip_all => $too_deep if $too_deep;
    my $run = run_prog(@SMALL_STACK, how => 'late', opts => undef, code => <<"P");
our \$x = 1;
our \$deep = eval '$DEEP' or die \$@;
require Devel::NYTProf;
Devel::NYTProf->import;
print eval '\$deep->()', "\\n";
P
    is "$run->{status} $run->{signal} $run->{out}", "0 0 300000\n", 'runs as without us' or diag substr $run->{err}, 0, 300;
    my $p = whole_in($run, 'whole');
};

# A loop that is a statement's modifier has no statement in it: all its ops are searched for one.
scenario 'blocks=1 over a loop whose ops are nested deeply' => sub {
    plan skip_all => $too_deep if $too_deep;
    my $run = run_prog(@SMALL_STACK, opts => 'blocks=1', code => "our \$x = 1; sub f { 1 }\nprint f(), 0 " . '+ $x' x 300_000 . " for 1 .. 2;\n");
    is "$run->{status} $run->{signal} $run->{out}", '0 0 13000001300000', 'runs as without us';
};

scenario 'the debugger\'s list of subs is looked at in passing' => sub {
    my $run = run_prog(opts => 'perldb=0x10', code => <<'P');
sub one { 1 }
sub two { 2 }
sub three { 3 }
%seen = ();
while (my ($name) = each %DB::sub) {
    $seen{$name}++;
    DB::finish_profile() if keys(%seen) == 2;
    last if $seen{$name} > 1;
}
print join ',', grep { $_ > 1 } values %seen;
P
    is "$run->{status} $run->{out}", '0 ', 'each() goes on where it was';
};

scenario 'the text of string evals under taint mode' => sub {
    my $run = run_prog(switches => ['-T', ours()], how => 'use', code => <<'P', env => { SOME => 'sub made { 41 + 1 } 1' });
my $text = $ENV{SOME};
($text) = $ENV{SOME} =~ /(.*)/;
eval $text or die $@;
print made();
P
    is "$run->{status} $run->{out}", '0 42', 'runs' or diag $run->{err};
    my $p = profile_in($run);
    my ($fid) = grep { $p->{fid}{$_}{name} =~ /^\(eval 1\)/ } keys %{ $p->{fid} };
    like join("", values %{ $p->{src}{ $fid // 0 } || {} }), qr/sub made/, 'is in the profile' or diag explain [ keys %$p ];
};

scenario 'an eval that dies before it compiles leaves the way sources are kept as it was' => sub {
    my %files = ('Hook.pm' => <<'P');
package Hook;
my $text = "package Hooked;\nBEGIN { eval { my \$no = Hook::tainted(); eval \$no; }; }\nsub later { 'seen' }\n1;\n";
push @INC, sub { return if $_[1] ne 'Hooked.pm'; open my $fh, '<', \$text or die; return $fh };
sub tainted { return substr($ENV{PATH}, 0, 0) . '1' }
1;
P
    my $run = run_prog(switches => ['-T', '-I.', ours()], how => 'use', files => \%files, code => "use Hook;\nrequire Hooked;\nprint Hooked::later();\n");
    is "$run->{status} $run->{out}", '0 seen', 'runs' or diag $run->{err};
    my $p = profile_in($run);
    my ($fid) = grep { $p->{fid}{$_}{name} =~ /Hooked/ } keys %{ $p->{fid} };
    like join("", values %{ $p->{src}{ $fid // 0 } || {} }), qr/sub later/, 'the lines after it are in the profile';
};

my $LATE = <<'P';
sub early { my $s = 0; $s += $_ for 1 .. 500; return $s }
require Devel::NYTProf;
early() for 1 .. 2000;
P

scenario 'a plain require in the middle of a program records what runs from a few statements on' => sub {
    my $run = run_prog(how => 'late', opts => undef, code => $LATE);
    is "$run->{status} $run->{err}", '0 ', 'runs';
    my $p = whole_in($run, 'whole');
    cmp_ok n_calls($p, 'main::early'), '>=', 2000 - 16, 'all but the first few calls';
};

# 2,000 calls take some 40 ms of processor time; by the same reckoning as in t/xs/ends.t 40 samples are lost. Chance: 1e-15.
scenario 'so do samples' => sub {
    my $run = run_prog(how => 'late', opts => 'sample=1000', code => $LATE);
    is "$run->{status} $run->{err}", '0 ', 'runs';
    my $p = whole_in($run, 'whole');
    cmp_ok stmt_total($p), '>', 0, 'samples';
};

scenario 'options that import() is given behind a require still count' => sub {
    for my $opts ('', 'sample=1000') {
        my $run = run_prog(how => 'late', opts => $opts, code => $LATE =~ s/(require.*)/$1\nour \$unused = 1;\nDevel::NYTProf->import('file=late.out');/r);
        ok profile_in($run, 'late.out'), "$opts: the file that was named";
        ok !-e "$run->{dir}/nytprof.out", "$opts: and no other";
    }
};

scenario 'who disables the profiler before it has begun has no profile' => sub {
    for my $opts ('', 'sample=1000') {
        my $run = run_prog(how => 'late', opts => $opts, code => $LATE =~ s/(require.*)/$1\nDB::disable_profile();/r);
        ok !-e "$run->{dir}/nytprof.out", "$opts: none";
        $run = run_prog(how => 'late', opts => $opts, code => $LATE =~ s/(require.*)/$1\nDB::disable_profile();\nDB::enable_profile();/r);
        whole_in($run, "$opts: until it is enabled");
    }
};

slow_scenario 'a second of one statement behind a require is not left out in silence' => sub {
    for my $opts ('', 'sample=1000') {
        my $run = run_prog(how => 'late', opts => $opts, code => <<'P');
my $from = (times)[0]; crypt $0, '$6$rounds=300000$abcdefgh';
my $rounds = int(300_000 * 1.4 / ((times)[0] - $from)); # they take 1.4 s
require Devel::NYTProf;
my $x = crypt $0, "\$6\$rounds=$rounds\$abcdefgh";
P
        like $run->{err}, qr/\ADevel::NYTProf: \d+\.\d s of processor time are not in the profile: the program executed a few statements only .*\n\z/, "'$opts': said";
    }
};

done_testing;
