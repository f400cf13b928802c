# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# A process that makes one interpreter after another leaves a whole profile of each. (With -M: the
# switch -d:NYTProf opens perl's own debugger in a process that embeds perl.)

use lib 't/lib';
use Recorded qw(folder put slurp);

use Config;
use Cwd qw(getcwd);
use ExtUtils::Embed qw(ccopts ldopts);
use Devel::NYTProf::Data;

my $embedded = folder() . '/embedded';
my $log = folder() . '/cc.log';
system join ' ', $Config{cc}, ccopts(1), '-std=gnu11 -c -o', "$embedded.o", 't/xs/embedded.c', "2>$log";
die 'embedded.c does not compile: ' . slurp($log) if $?;
system join ' ', $Config{cc}, '-o', $embedded, "$embedded.o", ldopts(1), "2>$log";
plan skip_all => 'no libperl to embed: ' . slurp($log) if $?;

my $top = getcwd();
local $ENV{PERL5LIB} = join ':', map {"$top/blib/$_"} qw(lib arch);
local $ENV{LD_LIBRARY_PATH} = join ':', "$Config{archlibexp}/CORE", $ENV{LD_LIBRARY_PATH} || ();

my $program = put('program.pl', <<'PERL');
package Guard { sub DESTROY { print "gone\n" } }
our $guard = bless [], 'Guard';
sub work { return shift }
sub other { return work(@_) }
work($_) for 1 .. $ARGV[0];
print eval 'other(7)', "\n";
END { print "end $ARGV[0]\n" }
PERL

# Returns the output of a process whose interpreters had these arguments, each list up to a '--'.
sub run_each {
    my @arguments = @_;
    my $pid = open my $out, '-|', $embedded, @arguments or die "$embedded: $!";
    my $printed = do { local $/; <$out> };
    close $out;
    return "$printed status $?";
}

# Interpreters that call work() so many times each.
sub run {
    my ($switch, @counts) = @_;
    return run_each(map { ($switch->($_), $program, $_, '--') } @counts);
}

sub calls {
    my ($path, $sub) = @_;
    my $profile = Devel::NYTProf::Data->new({filename => $path, quiet => 1});
    my $info = $profile->subname_subinfo_map->{$sub};
    return $info ? $info->calls : 'none';
}

plan skip_all => "perl $] itself: a second interpreter compiles no character class"
    if run_each(('-e', 'print /[^\W]/', '--') x 2) !~ / status 0\z/;

my @counts = (11, 12, 13);
my $plain = run(sub { () }, @counts);
like $plain, qr/\A(7\nend \d+\ngone\n){3} status 0\z/, 'three interpreters run';
is run(sub { '-MDevel::NYTProf=file=' . folder() . "/out.$_[0]" }, @counts), $plain,
    'and do the same under the profiler';
for my $n (@counts) {
    my $path = folder() . "/out.$n";
    is calls($path, 'main::work'), $n + 1, "$n: its calls";
    is calls($path, 'Guard::DESTROY'), 1, "$n: up to its destruction";
}

my @switches = ([], ['-MDevel::NYTProf=file=' . folder() . '/later.out']);
like run(sub { @{shift @switches} }, 3, 4), qr/ status 0\z/, 'one that is not profiled, then one that is';
is calls(folder() . '/later.out', 'main::work'), 5, 'the second has its profile';

SKIP: {
    skip 'one interpreter at a time', 9 if !$Config{useithreads};
    my @together = ('--together', map { ('-MDevel::NYTProf=file=' . folder() . "/together.$_.out", $program, $_, '--') } @counts);
    is join("\n", sort split /\n/, run_each(@together)), join("\n", sort split /\n/, $plain),
        'three interpreters at a time do the same';
    my %path = ($counts[0] => 'together.11.out', $counts[1] => 'together.12.out.t1', $counts[2] => 'together.13.out.t2');
    is join(' ', map { s{.*/}{}r } sort glob folder() . '/together*'), join(' ', map { $path{$_} } sort keys %path),
        'a profile each';
    for my $n (@counts) {
        my $path = folder() . "/$path{$n}";
        is calls($path, 'main::work'), $n + 1, "$n: its calls";
        is calls($path, 'Guard::DESTROY'), 1, "$n: up to its destruction";
    }
    my $same = folder() . '/same.out';
    run_each('--together', map { ("-MDevel::NYTProf=file=$same", $program, $_, '--') } @counts);
    is join(' ', map { calls($_, 'main::work') } $same, "$same.t1", "$same.t2"), '12 13 14', 'with one name for all';
}

# Many an interpreter is made where the one before it was.
my $busy = put('busy.pl', 'my $end = (times)[0] + .1; sub work { my $n = 0; $n += $_ for 1 .. 1000; $n } while ((times)[0] < $end) { work() }');
my $n_sampled = 12;
is run_each(map { ('-MDevel::NYTProf=sample=1000,file=' . folder() . "/sampled.$_.out", $busy, $_, '--') } 1 .. $n_sampled),
    ' status 0', 'interpreters are sampled';
for my $n (1 .. $n_sampled) {
    my $profile = Devel::NYTProf::Data->new({filename => folder() . "/sampled.$n.out", quiet => 1});
    cmp_ok $profile->attributes->{samples}, '>', 0, "$n: has samples";
}
# Returns what the interpreters before the last one left behind in memory.
my $status = put('memory.pl', <<'PERL');
sub work { return shift }
work($_) for 1 .. 10;
if ($ARGV[0]) { open my $fh, '<', '/proc/self/status' or exit; print grep { /^VmPeak/ } <$fh> }
PERL

sub peak_kb {
    my ($n) = @_;
    my $printed = run_each(map { ('-MDevel::NYTProf=file=' . folder() . "/memory.$_.out", $status, $_ == $n ? 1 : 0, '--') } 1 .. $n);
    return $printed =~ /^VmPeak:\s+(\d+) kB/m ? $1 : undef;
}

my ($few, $many) = map { peak_kb($_) } 5, 45;
SKIP: {
    skip 'no /proc/self/status', 1 if !defined $few || !defined $many;
    cmp_ok(($many - $few) / 40, '<', 15, "kB that an interpreter leaves behind ($few for 5, $many for 45)");
}

done_testing;
