# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Modules that suspend subs, swap perl's stacks or leave scopes in ways of their own: what uses
# them runs as without us, and their statements and calls are counted.

use lib 't/lib';
use NYTPTest;

# name, modules, program, how often subs are called, how many statements of lines are run
my @PROGRAMS = (
    [ 'coroutines, each with stacks of its own', ['Coro'], <<'P', { step => 9, deep => 17 }, { 2 => 27 } ],
use Coro;
sub step { my ($name, $n) = @_; cede; return "$name$n" }
my @all = map { my $name = $_; async { join ' ', map { step($name, $_) } 1 .. 3 } } qw(a b c);
print $_->join, "\n" for @all;
sub deep { my $n = shift; cede if $n == 0; return $n == 0 ? 0 : 1 + deep($n - 1) }
my ($x, $y) = (async { deep(10) }, async { deep(5) });
print $x->join + $y->join, "\n";
my $dies = async { eval { cede; die "inside\n" }; print "caught $@"; $@ };
print $dies->join;
P
    [ 'async subs that are suspended and go on later', ['Future::AsyncAwait'], <<'P', { summary => 9, inner => 3, outer => 1 }, { 5 => 12, 8 => 5 } ],
use Future; use Future::AsyncAwait;
my @slow = map { Future->new } 1 .. 3;
sub summary { my $x = shift; return $x + 1 }
async sub inner {
    my $n = shift; my $x = summary($n); await $slow[$n]; return summary($x);
}
async sub outer {
    my $sum = 0; foreach my $i (0 .. 2) { my $got = await inner($i);
        $sum += summary($got) } return $sum;
}
my $result = outer();
$_->done for @slow;
print $result->get, "\n";
my $fails = (async sub { await $slow[0]; die "inside\n" })->();
print $fails->failure;
P
    [ 'scopes left from within a call', ['Scope::Upper'], <<'P', { leaps => 3, inner => 3 }, { 3 => 12 } ],
use Scope::Upper qw(unwind localize reap SUB UP HERE);
our $level = 0;
sub inner { localize '$level', 1 => UP SUB; reap sub { print "reaped\n" } => UP SUB; unwind 'out', 'of' => UP SUB }
sub leaps { inner(); print "never\n" }
for (1 .. 3) { print join(' ', leaps()), " $level\n" }
P
    [ 'magic on a package, which is told of every look into it', ['Variable::Magic'], <<'P', { 'Watched::eat' => 3, 'Watched::shoot' => 3 }, { 13 => 1 } ],
use Variable::Magic qw(wizard cast);
my %tell = map { my $what = $_; $what => sub { print "$what $_[2]\n"; () } } qw(fetch store exists delete);
cast %Watched::, wizard %tell;
eval q{
    package Watched;
    sub eat; sub shoot; sub leave { 'bye' }
    sub shoot { 'bang' }
    sub eat {
        return shoot();
    }
    1;
} or die;
print Watched->eat, Watched::eat(), &{'Watched::eat'}(), &{'Watched::leave'}(), "\n";
print defined eval { &{'Watched::none'}() } ? 'some' : 'none', "\n";
P
    [ 'objects, dynamic variables and try across await', [qw(Object::Pad Syntax::Keyword::Dynamically Syntax::Keyword::Try)], <<'P', { 'Counter::up' => 3 }, { 6 => 3 } ],
use Future::AsyncAwait; use Object::Pad; use Syntax::Keyword::Dynamically; use Syntax::Keyword::Try;
class Counter {
    field $n = 0;
    method up {
        try { die "third\n" if $n == 2 } catch { print "caught $@" }
        return ++$n;
    }
}
our $depth = 0;
my $wait = Future->new;
async sub waits { dynamically $depth = 1; await $wait; return $depth }
my $f = waits(); print "$depth\n"; $wait->done; print $f->get, " $depth\n";
my $c = Counter->new; print $c->up, "\n" for 1 .. 3;
P
);

for (@PROGRAMS) {
    my ($name, $modules, $code, $calls, $lines) = @$_;
    scenario $name => sub {
        for my $module (@$modules) {
            plan skip_all => "$module is not installed" if !eval "require $module; 1";
        }
        my $plain = run_plain(code => $code);
        is "$plain->{err}, status $plain->{status}, signal $plain->{signal}", ', status 0, signal 0', 'plain';
        for my $opts (matrix()) {
            my $run = run_prog(code => $code, opts => $opts);
            is_deeply [@$run{qw(out err status signal)}], [@$plain{qw(out err status signal)}],
              "'$opts': the same output and end";
            my $profile = profile_in($run) || {};
            is_deeply [check_sums($profile)], [], "'$opts': times add up";
            my %got;
            $got{ $_->{callee} } += $_->{count} for @{ $profile->{arc} };
            is $got{ /::/ ? $_ : "main::$_" }, $calls->{$_}, "'$opts': calls of $_" for sort keys %$calls;
            next if $opts =~ /stmts=0/;
            my $run_times = stmt_counts($profile, script_fid($profile));
            is $run_times->{$_}, $lines->{$_}, "'$opts': line $_" for sort keys %$lines;
        }
    };
}

done_testing;
