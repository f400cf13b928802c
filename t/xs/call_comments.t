# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Calls are told in comments unless calls= is written out: the same entries and returns in the same
# order as by the format's own records, and times that add up to the tick.

use lib 't/lib';
use NYTPTest;

my %PROGRAM = (
    'calls of all kinds' => <<'P',
use List::Util qw(first sum);
our ($AUTOLOAD, $G);
sub AUTOLOAD { my $name = $AUTOLOAD; return if $name =~ /DESTROY/; return 3 }
sub fib { my $n = shift; return $n if $n < 2; return fib($n - 1) + fib($n - 2) }
sub dies { my $n = shift; die "x\n" if $n == 0; dies($n - 1) }
sub jump { goto &fib }
sub floor { require POSIX; goto &POSIX::floor }
sub subst { my $s = 'abc'; $s =~ s/b/fib(3)/e; return $s }
sub one { 1 }
sub nothing { }
package D { sub new { bless {} } sub DESTROY { main::fib(2) } }
package O { use overload '&{}' => sub { main::one(); \&main::fib }, '""' => sub { main::fib(1) }; }
fib(8);
for my $i (1 .. 3) {
    eval { dies(5) };
    not_there($i);
    my @s = sort { $a <=> $b } map { $_ * $i } 1 .. 20;
    sum(@s), join ',', first { fib(2) } @s;
    floor(2.5), jump(3), subst(), one(), nothing(), D->new;
    my $o = bless {}, 'O';
    "$o", $o->(2);
    eval { my @t = sort { die "in sort\n" } @s };
    eval "fib(2);\nsub late$i { fib(1) } late$i()";
    eval { no_such_method D };
}
*{"odd\nname\\"} = sub { fib(1) };
&{"odd\nname\\"}();
$G = D->new;
P
    'recording that pauses, in subs and out of them' => <<'P',
sub f { my $n = shift; return $n ? f($n - 1) : 1 }
sub off { DB::disable_profile(); f(2); return }
sub on { DB::enable_profile(); f(1); return }
sub both { DB::disable_profile(); my $x = f(2); DB::enable_profile(); f(1) }
f(2); both(); f(1); off(); f(3); on(); f(2); both(); both();
P
    'calls that are open when recording starts, and when it ends' => <<'P',
sub f { my $n = shift; return $n ? f($n - 1) : DB::enable_profile() }
sub g { f(1); exit }
f(3); DB::disable_profile(); f(2); g();
P
    'an exec that fails, and what comes after' => <<'P',
sub f { my $n = shift; no warnings; exec '/no/such/program'; return $n ? f($n - 1) : 1 }
f(3);
P
);

# Entries, returns and what stands between them; not the times, which differ from run to run.
sub calls_of {
    my ($p) = @_;
    (my $tags = $p->{tags}) =~ s/[#:!PpzsSc@]+//g;
    return { tags => $tags, entries => $p->{entry}, returns => [map { [@$_[0, 3, 4]] } @{ $p->{ret} }] };
}

my %seeds = (PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0);    # modules of old perls sort keys in another order each time
for my $name (sort keys %PROGRAM) {
    scenario $name => sub {
        for my $more ('', 'leave=0', 'stmts=0', 'blocks=1', 'use_db_sub=1:slowops=0', 'sigexit=1') {
            my $opts = join ':', 'compress=0', $more || (), $name =~ /when recording starts/ ? 'start=no' : ();
            my $p = profile_in(run_prog(code => $PROGRAM{$name}, opts => $opts, env => \%seeds));
            my $stock = profile_in(run_prog(code => $PROGRAM{$name}, opts => "$opts:calls=2", env => \%seeds));
            is join('; ', check_sums($p)), '', "'$more': whole, sums right to the tick";
            is_deeply calls_of($p), calls_of($stock), "'$more': the same calls";
            cmp_ok scalar @{ $p->{ret} }, '>', 3, "'$more': there are calls";
            ok $p->{calls} && !$stock->{calls}, "'$more': one in comments, one in records";
        }
    };
}

scenario 'a child goes on with the calls that its parent had open' => sub {
    my $run = run_prog(opts => 'addpid=1', code => <<'P');
sub f { my $n = shift; return $n ? f($n - 1) : fork // die "fork: $!" }
sub g { my $pid = f(2); waitpid $pid, 0 if $pid; return $pid }
g() || g();
P
    my @files = glob "$run->{dir}/nytprof.out.*";
    is @files, 3, 'a file for each process';
    for my $path (@files) {
        my $p = NYTPStream::read_profile($path);
        is join('; ', check_sums($p)), '', 'whole, sums right to the tick';
        my %depth = map { $_->[3] => $_->[0] } @{ $p->{ret} };
        is $depth{'main::g'}, 1, 'depths count what was open before';
    }
};

done_testing;
