# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# What the recorder needs grows with what is distinct and alive, not with what has been; and what
# it lets go of is in the profile all the same.

use lib 't/lib';
use NYTPTest;
use Extended;

plan skip_all => 'needs /proc' if !-r '/proc/self/status';
plan skip_all => 'the sanitizer has memory of its own' if sanitized();

my $REPORT = <<'PERL';
sub status { open my $fh, '<', '/proc/self/status'; my ($kb) = map { /VmPeak:\s*(\d+)/ } <$fh>; $kb }
PERL

# Bytes of memory that one more round of a loop body costs at most, beyond what it costs plain.
sub bytes_per_round {
    my ($few, $many, $body, %o) = @_;
    my $after = $o{after} || '';
    my %growth;
    for my $impl ('plain', impl()) {
        my $r = run_prog(
            code => "$REPORT\nmy (\@kept, \$kb); no warnings; "
                . "for my \$i (1 .. $many) { $body; if (\$i == $few) { $after; \$kb = status() } }\n$after; print status() - \$kb;",
            impl => $impl, opts => $o{opts} || 'calls=2',
        );
        like $r->{out}, qr/\A\d+\z/, "$impl, $few and $many rounds" or diag $r->{err};
        $growth{$impl} = $r->{out} || 0;
    }
    return 1024 * ($growth{ impl() } - $growth{plain}) / ($many - $few);
}

# A string eval leaves its number behind, and what is called leaves nothing once it is gone: 35 to 45 bytes a round.
# The allocator's steps, and tables that grow, move the peak by half a megabyte: 5 bytes a round.
my %EVALS = (
    'that make anonymous subs'               => q{my $s = eval 'sub { $_[0] }'},
    'whose anonymous subs are called'        => q{my $s = eval 'sub { $_[0] }'; $s->(1)},
    'whose anonymous subs call others'       => q{my $s = eval 'sub { status2() }'; $s->(1); sub status2 { 1 }},
    'that define a sub again and again'      => q{eval 'sub again { $_[0] }'; again(1)},
    'that call a sub'                        => q{eval 'status3()'; sub status3 { 1 }},
    'of code in patterns'                    => q{use re 'eval'; my $code = 'a(?{ status3() })'; 'ab' =~ $code; sub status3 { 1 }},
    'with BEGIN blocks'                      => q{eval 'use strict; my $x'},
    'that die, and such as do not compile'   => q{eval 'sub { 1 }->(); die'; eval '1 +'},
    'within evals'                           => q{eval q{eval 'sub { 1 }->()'}},
    'that make anonymous subs, stmts=0'      => [q{my $s = eval 'sub { $_[0] }'; $s->(1)}, 'stmts=0'],
    'that make anonymous subs, while paused' => [q{DB::disable_profile() if $i == 1 && defined &DB::disable_profile; my $s = eval 'sub { $_[0] }'; $s->(1)}],
);
for my $name (sort keys %EVALS) {
    scenario "string evals $name" => sub {
        my ($body, $opts) = ref $EVALS{$name} ? @{ $EVALS{$name} } : $EVALS{$name};
        my $bytes = bytes_per_round(20_000, 120_000, $body, opts => $opts);
        cmp_ok $bytes, '<', $name =~ /within|compile/ ? 100 : 75, sprintf '%.0f bytes each', $bytes;
    };
}

# Evals that no sample saw are unknown. The allocator needs half a megabyte more or less, which is 3 bytes a round.
scenario 'string evals, sampled' => sub {
    my $bytes = bytes_per_round(60_000, 260_000, q{eval($i % 5 ? '$i + 1' : 'sub { $i }')}, opts => 'sample=10000:sample_budget=0');
    cmp_ok $bytes, '<', 8, sprintf '%.1f bytes each', $bytes;
};

scenario 'what stays grows with its number' => sub {
    my $closures = bytes_per_round(5_000, 35_000, 'push @kept, sub { $i };', after => '$_->() for @kept;');
    cmp_ok $closures, '<', 20, sprintf '%.0f bytes for each closure of one body', $closures;
    my $subs = bytes_per_round(2_000, 12_000, q{push @kept, eval 'sub { $i }';}, after => '$_->() for @kept;');
    cmp_ok $subs, '<', 1200, sprintf '%.0f bytes for each body in an eval of its own', $subs;
};

scenario 'deep recursion' => sub {
    my $bytes = bytes_per_round(10_000, 40_000, '$_[0] = $i',
        after => 'sub deep { my $n = shift; $n ? deep($n - 1) : 0 } deep($_[0]);');
    cmp_ok $bytes, '<', 200, sprintf '%.0f bytes for each open call', $bytes;
};

# Processor time of a recursion in which perl has to find out what is called, in times that of
# plain calls, of the same depth in the same process: 2 to 4, and 50 where each return looks
# through all open calls. Before it is timed each has run, since perl makes pads for each depth.
# Chance: 1e-9 (half a tenth of a second of processor time becomes five times as much).
my $UNCLEAR = <<'PERL';
use Time::HiRes qw(clock_gettime CLOCK_PROCESS_CPUTIME_ID);
no warnings;
package Object; use overload '&{}' => sub { \&main::by_object };
package main;
our $object = bless [], 'Object';
sub AUTOLOAD { $_[0] ? nosuch($_[0] - 1) + 1 : 0 }
sub by_object { $_[0] ? $object->($_[0] - 1) + 1 : 0 }
sub plain { $_[0] ? plain($_[0] - 1) + 1 : 0 }
sub took { my $from = clock_gettime(CLOCK_PROCESS_CPUTIME_ID); $_[0]->(50_000); clock_gettime(CLOCK_PROCESS_CPUTIME_ID) - $from }
took(\&plain);
my $plain = took(\&plain);
print join ' ', map { took($_); took($_) / $plain } \&AUTOLOAD, \&by_object;
PERL

scenario 'deep recursion through AUTOLOAD and overloaded objects' => sub {
    my @times = split ' ', run_prog(code => $UNCLEAR)->{out};
    is scalar @times, 2, 'both run';
    cmp_ok $_, '<', 15, 'time as of plain calls' for @times;
};

scenario 'evals that run themselves, without the long names' => sub {
    my $code = 'our $n = 0; sub leaf { 1 } our $c = q{$n++ < $ARGV[0] ? eval $c : leaf()}; eval $c;';
    my @sizes = map { -s run_prog(code => $code, args => [$_], opts => 'nameevals=0:compress=0')->{dir} . '/nytprof.out' } 500, 1000;
    cmp_ok $sizes[1], '<', 2.3 * $sizes[0], "the profile grows with their number (@sizes)";
};

# Two sweeps and more (XS/exact/release.c, FIRST_RELEASE) let go of evals: all must be in the profile, once.
my $MANY = <<'PERL';
my @kept;
sub lib { $_[0] ? $_[0]->(1) : 0 }
for my $i (1 .. 4000) {
    my $s = eval 'sub { $_[0] + 1 }';
    lib($s) if $i % 2;
    push @kept, $s if $i % 500 == 0;
}
$_->(2) for @kept;
PERL

sub check_many {
    my ($p, %want) = @_;
    is join("\n", check_sums($p)), '', 'sums';
    my %calls;
    for my $arc (@{ $p->{arc} }) {
        my $caller = $arc->{callee} =~ /__ANON__/ ? $arc->{caller} : next;
        $calls{$caller} += $arc->{count};
    }
    is_deeply \%calls, $want{calls}, 'calls of anonymous subs';
    is scalar(grep { @{ $p->{sub}{$_} } != 1 } keys %{ $p->{sub} }), 0, 'no sub is told twice';
    my %fids;
    $fids{ $_->{name} }++ for values %{ $p->{fid} };
    is scalar(grep { $_ > 1 } values %fids), 0, 'no eval has two numbers';
    is scalar(grep { $_->{name} =~ /\A\(eval \d+\)\z/ } values %{ $p->{fid} }), 0, 'each has its place';
}

scenario 'evals that are over are in the profile' => sub {
    for my $opts ('', 'use_db_sub=1:blocks=1:compress=1', 'blocks=1:leave=0:calls=0', 'stmts=0:savesrc=0') {
        my $p = profile_in(run_prog(code => $MANY, opts => $opts)) or die 'no profile';
        note $opts;
        check_many($p, calls => { 'main::lib' => 2000, 'main::RUNTIME' => 8 });
        cmp_ok scalar(keys %{ $p->{fid} }), '>', $opts =~ /stmts=0/ ? 2000 : 4000, 'files';
    }
};

scenario 'calls that evals made themselves are in the profile' => sub {
    my $p = whole_in(run_prog(code => <<'PERL', opts => 'calls=2'), 'sums');
sub lib { 1 }
eval q{lib(); for my $i (1 .. 4500) { eval "\nlib()"; lib() if $i % 1500 == 0 } lib()};
PERL
    my ($outer) = fid_named($p, qr/\A\(eval 1\)/);
    my %calls;
    for my $arc (arcs_to($p, 'main::lib')) {
        $calls{ $arc->{fid} == $outer ? 'outer' : $p->{fid}{ $arc->{fid} }{eval_fid} == $outer ? "inner, line $arc->{line}" : '?' } += $arc->{count};
    }
    is_deeply \%calls, { outer => 5, 'inner, line 2' => 4500 }, 'each once, in its place';
};

scenario 'evals from before a fork, and from before a new profile' => sub {
    my $r = run_prog(
        code => $MANY . <<'PERL', opts => 'calls=2');
if (!fork) { $_->(3) for @kept; eval('sub { 1 }')->() for 1 .. 3000; $_->(4) for @kept; exit }
wait;
DB::enable_profile('second.out');
$_->(5) for @kept;
PERL
    my ($child) = map { m{([^/]+)\z} } grep { !/second/ } glob "$r->{dir}/*.out.[0-9]*";
    check_many(profile_in($r), calls => { 'main::lib' => 2000, 'main::RUNTIME' => 8 });
    check_many(profile_in($r, $child), calls => { 'main::RUNTIME' => 3016 });
    check_many(profile_in($r, 'second.out'), calls => { 'main::RUNTIME' => 8 });
};

scenario 'no memory for the recorder' => sub {
    my $r = run_prog(
        code => <<'PERL', opts => undef, env => { NYTPROF => 'start=no' }, how => 'late');
require Devel::NYTProf::Core;
open my $fh, '<', '/proc/self/status';
my ($kb) = map { /VmSize:\s*(\d+)/ } <$fh>;
system(prlimit => '--pid', "$$", '--as=' . 1024 * ($kb + 256) . ':') and print 'no prlimit';
my $was = DB::enable_profile('small.out');
sub f { $_[0] + 1 }
print f(1), eval('sub { 3 }')->(), -e 'small.out' ? ' profiled' : '';
PERL
    plan skip_all => 'no prlimit' if $r->{out} =~ /no prlimit/;
    is $r->{out}, '23', 'the program runs';
    is $r->{err}, "Devel::NYTProf: out of memory; the program runs unprofiled\n", 'one line';
    is $r->{status}, 0, 'status';
};

scenario 'a profile after another' => sub {
    my $r = run_prog(
        code => $REPORT . <<'PERL', opts => 'start=no');
sub inner { eval 'sub { 1 }' } sub outer { inner()->() }
sub fds { opendir my $dh, '/proc/self/fd'; scalar readdir $dh for 1 .. 2; my @n = readdir $dh; scalar @n }
sub cycle { DB::enable_profile("cycle.out"); outer(); DB::disable_profile(); outer(); DB::finish_profile() }
cycle() for 1 .. 1000;
my ($kb, $fds) = (status(), fds());
cycle() for 1 .. 1000;
print status() - $kb, ' kB, ', fds() - $fds, ' descriptors';
PERL
    like $r->{out}, qr/\A\d+ kB, 0 descriptors\z/, 'descriptors' or diag $r->{err};
    # 2000 evals leave their 60 bytes each, and tables may double: 316 to 404 kB were seen. A cycle that kept 480 bytes would be over.
    cmp_ok $r->{out} =~ /(\d+)/ ? $1 : 1e9, '<', 700, 'memory: ' . $r->{out};
    is $r->{err}, '', 'nothing to say';
};

done_testing;
