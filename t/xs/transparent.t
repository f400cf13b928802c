# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# A program behaves under the profiler as it does without: output, stderr, exit status, and all
# that it can see of itself. Each program prints what it sees; plain and profiled must agree.
# A third element names the options under which perl itself behaves otherwise: with any bit in $^P,
# as use_db_sub=1 needs, perl clones every anonymous sub.

use lib 't/lib';
use NYTPTest;
use Extended;

use Config;
use File::Temp qw(tempdir);

my @PROGRAMS = (
    [ 'caller at every depth and from evals', <<'P' ],
sub show { my $i = 0; while (my @c = caller $i++) { print join('|', map { defined $_ ? $_ : 'u' } @c[0 .. 7]), "\n" } }
sub outer { eval { show() }; eval 'show(); 1'; [map { show() } 1]; my @s = sort { show(); $a <=> $b } 2, 1 }
outer();
my $f = sub { show() }; $f->();
eval "sub { show() }->()";
eval "eval q{show()}; die 'x'"; print $@;
package DB; sub args { my @c = caller 1; print "@DB::args\n" } sub main::args { args() }
main::args(1, 2, 3);
P
    [ 'names that the program sees: __FILE__, __SUB__, B, %DB::, $^P consumers', <<'P' ],
use feature 'current_sub';
print eval('__FILE__'), ' ', eval("\n\n__LINE__"), "\n";
eval 'die'; print $@;
eval 'warn "w"';
my $f = sub { (caller 0)[3] }; print $f->(), "\n";
my $g = eval 'sub { (caller 0)[3] }'; print $g->(), "\n";
require B; print B::svref_2object($g)->GV->NAME, ' ', B::svref_2object($g)->FILE, "\n";
printf "%s\n", join ',', grep { defined &{"DB::$_"} && !/profile|option/ } qw(sub postponed goto lsub);
P
    [ 'globs of files, when a profile has ended', <<'P' ],
defined &DB::finish_profile and DB::finish_profile();
print join(' ', grep { exists $main::{"_<$_"} } '-', '-e', 'none'), "\n";
P
    [ 'the debugger\'s list of subs', <<'P', qr/use_db_sub/ ],
sub f { 1 } eval 'sub g { 1 }'; print f(), g(), "@{[ %DB::sub ]}\n";
P
    [ 'the list of loaded objects, from which programs unload them', <<'P' ],
require Fcntl; require Time::HiRes;
print "@DynaLoader::dl_modules ", scalar @DynaLoader::dl_librefs, ' ', scalar @DynaLoader::dl_shared_objects, "\n";
sub f { Fcntl::S_IFMT() } print f(), "\n";
print DynaLoader::dl_unload_file(pop @DynaLoader::dl_librefs), "\n" for 1, 2;
print eval 'sub g { 7 } g()', "\n";
P
    [ 'wantarray, lvalues, @_ aliasing, prototypes', <<'P' ],
sub ctx { print defined wantarray ? wantarray ? 'list' : 'scalar' : 'void', "\n"; return (1, 2) }
ctx(); my $x = ctx(); my @x = ctx(); my ($y) = ctx(); if (ctx()) { } print scalar(ctx()), "\n"; ctx() for 1;
sub lv :lvalue { $v } lv() = 5; (lv()) = (6); lv()++; print "$v\n"; for (lv()) { $_ = 9 } print "$v\n";
sub inc { $_[0]++ } my $n = 1; inc($n); &inc($n); sub pass { &inc } pass($n); print "$n\n";
sub proto(&@) { my $c = shift; join ',', map { $c->($_) } @_ } print proto { $_[0] * 2 } 1, 2; print "\n";
sub last_value { my @a = (1, 2, 3); @a } print scalar(last_value()), ' ', (last_value())[-1], "\n";
sub tmp { my $s = "a" . shift; $s } my $r = \tmp(1); my $q = \tmp(2); print "$$r $$q\n";
P
    [ 'values on the stack and temporaries, while what recording costs is measured', <<'P' ],
sub pair { my ($x, $y) = @_; return ($x . '', $y + 1) }
my $sum = 0; my $signals = 0; local $SIG{ALRM} = sub { $signals |= 1 }; require Time::HiRes; Time::HiRes::ualarm(3000, 3000);
for my $i (1 .. 1_500) {
    my @list = (1, (map { my @p = pair($_, $i); @p } 1 .. 3), "t$i" . uc('x'), sort { my $order = $a <=> $b; $order } 3, 1, 2);
    $sum = ($sum * 31 + length join ',', "@list", do { my $n = $i; "$n" }) % 1_000_003;
}
1 until $signals; Time::HiRes::ualarm(0); print "$sum $signals\n";
P
    [ '$!, $@, $?, $^E and $1 across everything', <<'P' ],
sub f { 1 } sub g { eval { 1 }; f() }
$! = 2; f(); g(); print $! + 0, "\n";
open my $fh, '<', '/nosuch'; print $! + 0, "\n"; f() for 1 .. 3; print $! + 0, "\n";
eval { die "x\n" }; f(); print $@; eval { die { a => 1 } }; print ref $@, "\n";
"abc" =~ /(b)/; f(); print "$1 $& $`\n"; { "xyz" =~ /(y)/; print "$1\n" } print "$1\n";
system 'exit 3'; print $? >> 8, "\n"; `true`; print "$?\n";
my $bad = unlink '/nosuch/x'; print $! + 0, "\n"; -e '/nosuch'; print $! + 0, "\n";
require Time::HiRes; $SIG{ALRM} = sub { print "alarm\n" }; Time::HiRes::ualarm(50_000); print sleep(60) < 5 ? "woken\n" : "slept\n";
$! = 7; my $none = select undef, undef, undef, 0; print $! + 0, " $none\n"; print `echo here`;
print 'x' if !eval { require No::Such; 1 }; print $@ =~ /^Can't locate No\/Such.pm in \@INC/ ? "ok\n" : $@;
P
    [ 'order of destruction', <<'P' ],
package D; sub new { my ($c, $n) = @_; bless \$n, $c } sub DESTROY { print "gone ${$_[0]} $@|" } package main;
sub f { my ($x, $y) = map { D->new($_) } 'a', 'b'; print "in|"; return $x } my $k = f(); print "out|"; undef $k;
eval { my $z = D->new('z'); die "dead\n" }; print $@;
D->new('temp'); print "after temp|"; { local $g = D->new('local'); } print "after local\n";
my $self; $self = D->new('cycle'); { my $c = $self; } our $global = D->new('global');
sub with { my $d = D->new($_[0]); goto &next_one } sub next_one { print "jumped|" } with('goto');
my @objs = map { D->new("arr$_") } 1 .. 3; splice @objs, 1, 1; sub exits { my $d = D->new('at exit'); exit 3 } exits();
END { print "END|" }
P
    [ 'die, warn, __DIE__, __WARN__, nested evals, $SIG{ALRM}', <<'P' ],
$SIG{__WARN__} = sub { print "W:$_[0]" }; $SIG{__DIE__} = sub { print "D:$_[0]" };
warn "one\n"; warn "two"; eval { die "three\n" }; eval { eval { die "in\n" }; print $@; die }; print $@;
sub a1 { die { code => 5 } } eval { a1() }; print $@->{code}, "\n"; undef $SIG{__DIE__};
local $SIG{ALRM} = sub { die "alarm\n" }; eval { alarm 1; select undef, undef, undef, 5; }; print $@;
OUTER: for my $i (1 .. 3) { for my $j (1 .. 3) { next OUTER if $j == 2; print "$i$j " } } print "\n";
sub looper { no warnings; last } for (1 .. 3) { print "l$_"; looper() } print "\n";
my @r = eval { (1, 2, die("r\n")) }; print scalar(@r), $@; $x = do { local $@; eval { die 'inner' }; 7 }; print "$x\n";
warn; $! = 0; die "end of it\n";
P
    [ 'local in every form, closures, state, string increments', <<'P' ],
use feature 'state'; our ($x, @a, %h) = (1); sub see { print defined $x ? $x : 'u', "@a", join(',', %h), $_ // 'u', "\n" }
sub t { local $x = 2; local @a = (1, 2); local $h{k} = 3; local $_ = 'us'; see() } t(); see();
for (1 .. 2) { see() } for my $i (1) { local $_ = $i; see() } { local $/ = undef; local $, = '-'; print 1, 2, "\n" }
sub counter { state $n = 10; return $n++ } print counter(), counter(), "\n"; my @c = map { my $n = $_; sub { $n++ } } 1, 5;
print $c[0]->(), $c[0]->(), $c[1]->(), "\n"; my $s = 'az'; $s++; print "$s\n"; local $SIG{USR1} = sub { print "usr\n" };
kill USR1 => $$; print "done\n"; sub deep { my $n = shift; $n ? deep($n - 1) : (caller 5)[3] } print deep(9), "\n";
P
    [ 'sort in all forms, recursion in sort, returning from sort', <<'P' ],
sub num { $a <=> $b } sub proto($$) { my ($l, $r) = @_; $l <=> $r } my $c = sub { $b <=> $a };
print join(',', sort num 3, 1, 2), join(',', sort proto 3, 1, 2), join(',', sort $c 3, 1, 2), join(',', sort { $a cmp $b } 3, 1), "\n";
sub nested { my @x = sort { my @y = sort { $b <=> $a } 1, 2; $y[0] <=> $y[1] or $a <=> $b } @_; "@x" } print nested(2, 1, 3), "\n";
print join(',', reverse sort { return $a <=> $b } 2, 3, 1), "\n"; my @e = eval { sort { die "in sort\n" } 1, 2 }; print $@;
@in = (3, 1, 2); @in = sort @in; print "@in\n"; package P; sub by { $a <=> $b } print join ',', sort by 2, 1; print "\n";
P
    [ 'tie, overload, AUTOLOAD, can, goto, DESTROY with AUTOLOAD', <<'P' ],
package T; sub TIEHASH { bless {}, shift } sub FETCH { "f$_[1]" } sub STORE { print "S$_[1]=$_[2]\n" } sub EXISTS { 1 } sub DELETE { 'd' }
package O; use overload '""' => sub { 'str' }, '0+' => sub { 42 }, '&{}' => sub { print "deref "; sub { "code@_\n" } }, '@{}' => sub { [7, 8] }, 'bool' => sub { 1 }, fallback => 1;
package A; our $AUTOLOAD; sub AUTOLOAD { my $n = $AUTOLOAD; $n =~ s/.*:://; return if $n eq 'DESTROY'; print "A:$n(@_[1..$#_])\n"; *$AUTOLOAD = sub { print "made:$n\n" }; goto &$AUTOLOAD }
package main; tie my %t, 'T'; $t{a} = 1; print $t{b}, delete $t{x}, "\n"; my $o = bless {}, 'O';
print "$o ", $o + 1, " @$o ", $o->(1); my $obj = bless [], 'A'; $obj->hello(1); $obj->hello(2); print A->can('hello') ? 1 : 0, A->can('none') ? 1 : 0, "\n";
sub g1 { @_ = ('x', @_); goto &g2 } sub g2 { print "@_ ", (caller(0))[3], "\n" } g1(1); my $code = \&g2; sub g3 { goto $code } g3(5);
P
    [ 'a tied code value and &{} overload are used once a call', <<'P' ],
package T; sub TIESCALAR { bless [], shift } sub FETCH { $n++; sub { 1 } }
package O; use overload '&{}' => sub { $m++; sub { 2 } };
package main; tie my $t, 'T'; $t->(); &$t; my $o = bless [], 'O'; $o->(); &$o(); print "$T::n $O::m\n";
P
    [ 'what &{} may give', <<'P' ],
use List::Util; sub told { print join(' ', @_, map { $_ // 'undef' } (caller 1)[3, 5]), "\n"; scalar @_ }
package Self; use overload '&{}' => sub { $asked++; $_[0] };
package Chain; use overload '&{}' => sub { $asked++; $_[0][0] };
package Text; use overload '""' => sub { 'text' };
package Frees; use overload '&{}' => sub { my $n = 0; my $self = $_[0]; undef $main::frees; sub { main::told('freed', ref $self, @_) } }; sub DESTROY { print "gone\n" }
package main; no strict 'refs'; sub say_it { print "@_\n" }
my $self = bless sub { told('self', @_) }, 'Self'; my $text = bless sub { told("@_") }, 'Text';
my @all = ($self, $text, map { bless [$_], 'Chain' } \&told, $self, $text, \&List::Util::sum, [], 'told', undef, bless [\&told], 'Chain');
push @all, bless({}, 'Self'), bless [sub { die "in code\n" }], 'Chain';
for my $object (@all) { my @list = eval { $object->(2, 3) }; say_it("@list", $@ =~ s/0x\w+//r); my $one = eval { &$object }; say_it($one // 'none', $@ =~ s/0x\w+//r) }
package Tied; sub TIESCALAR { bless [$_[1]] } sub FETCH { $fetched++; $_[0][0] } package main;
for my $value (\&told, undef, 'told', 'nowhere', '', [], $self, bless([\&told], 'Chain'), 3) { tie my $t, 'Tied', $value; say_it(eval { $t->(1) } // $@ =~ s/0x\w+//r); say_it(eval { &$t } // $@) }
say_it($Tied::fetched); local $ENV{CODE} = 'told'; say_it($ENV{CODE}->(5)); say_it(eval { 'abc' =~ /b/; "$&"->() } // $@);
{ no overloading; say_it(eval { $all[2]->(4) } // $@) } our $frees = bless [], 'Frees'; say_it(eval { $frees->(1) }); say_it($Self::asked, $Chain::asked);
P
    [ 'formats, select, $|, printf to closed handles', <<'P' ],
our ($n, $t) = (1, 'text'); format STDOUT_TOP =
Top
.
format STDOUT =
@<<< @>>>>>
$n, val($t)
.
sub val { "<$_[0]>" } write; $n = 2; write; print $-, $=, "\n"; $| = 1; my $old = select STDERR; select $old; print "$old\n";
close STDIN; print defined(fileno STDIN) ? 'open' : 'closed', "\n"; open my $dup, '>&', \*STDOUT or die; print $dup "dup\n";
P
    [ 'phases: BEGIN UNITCHECK CHECK INIT END and ${^GLOBAL_PHASE}', <<'P' ],
BEGIN { print "B${^GLOBAL_PHASE} " } UNITCHECK { print "U" } CHECK { print "C${^GLOBAL_PHASE} " } INIT { print "I${^GLOBAL_PHASE} " } print "R${^GLOBAL_PHASE} ";
END { print "E${^GLOBAL_PHASE} $?\n"; $? = 9 } package D; sub DESTROY { print "D${^GLOBAL_PHASE}\n" } our $x = bless []; exit 4;
P
    [ 'descriptors, environment, @INC, %INC keys of its own, $0, @ARGV, $$', <<'P' ],
open my $f, '<', $0 or die; print fileno $f, "\n"; print "$0 @ARGV ", -t STDIN ? 1 : 0, "\n"; pipe my $r, my $w; print fileno $r, fileno $w, "\n";
opendir my $d, '/proc/self/fd'; my @low = sort { $a <=> $b } grep { /^\d+$/ && $_ < 10 } readdir $d; print "@low\n"; print "$ENV{HOME}\n";
$0 = 'renamed'; print "$0\n"; print join(',', grep { !/NYTProf|XSLoader|strict|warnings/ } sort keys %INC), "\n"; print __LINE__, "\n"; print +(times)[0] < 30 ? "ok\n" : "slow\n";
P
    [ 'signals: ignored, default, handlers by name, sigtrap by kill, blocked', <<'P' ],
print join(',', map { "$_=" . (defined $SIG{$_} ? $SIG{$_} : 'u') } grep { defined $SIG{$_} } sort keys %SIG), "\n";
sub h { print "got $_[0]\n" } $SIG{HUP} = 'h'; kill HUP => $$; $SIG{HUP} = 'IGNORE'; kill HUP => $$; $SIG{HUP} = 'DEFAULT'; $SIG{CHLD} = sub { print "chld\n" };
my $p = fork; exit 0 if !$p; waitpid $p, 0; select undef, undef, undef, 0.05; print "end\n"; $SIG{TERM} = 'DEFAULT'; kill TERM => $$; sleep 1;
P
    [ 'string eval: lexicals, return, syntax errors, line numbers, here-docs, use inside', <<'P' ],
my $x = 1; print eval '$x + 1', "\n"; print eval('return 5; 6'), "\n"; eval "1;\n\n}"; print $@; eval "1;\n die"; print $@; print eval "<<E;\nhere\nE\n"; eval 'use strict; $zz = 1;'; print $@;
sub lex { my $l = shift; eval 'sub { $l++ }' } my $c = lex(3); $c->(); print $c->(), "\n"; for my $i (1 .. 3) { eval "sub gen$i { $i }" } print gen2(), "\n"; eval { eval "die 'nested'"; print $@; die 'outer' }; print $@;
eval "#line 50 \"foo\"\ndie"; print $@; print eval "__PACKAGE__", eval 'package Q; __PACKAGE__', "\n"; my @l = eval '(1,2,3)'; print scalar(@l), "\n"; eval 'BEGIN { $main::b = 1 }'; print "$main::b\n"; print eval '(caller(0))[3]', "\n";
P
    [ 'stashes deleted and undefined while their subs live', <<'P' ],
package Gone; sub f { open my $x, '<', $0; 'abc' =~ /b/; 1 } sub g { delete $main::{'Gone::'}; my @s = sort 2, 1; print "still\n"; 'x' =~ /x/; stat $0; }
package main; my $f = \&Gone::f; my $g = \&Gone::g; print $f->(), "\n"; $g->(); print $f->(), "\n"; undef %Gone::; undef *Gone::f; print $f->(), "\n";
eval 'package Tmp; sub t { sort { $a <=> $b } 1, 2 } 1'; my $t = \&Tmp::t; undef %Tmp::; $t->(); undef &$t; eval { $t->() }; print $@ ? "undefined\n" : "ok\n"; *Named::x = sub { 1 }; my $nx = \&Named::x; undef *Named::x; delete $Named::{x}; print $nx->(), "\n";
P
    [ 'weak refs, refcounts and B seen from inside', <<'P', qr/use_db_sub/ ],
use Scalar::Util 'weaken'; use B; my $s = sub { 1 }; my $w = $s; weaken $w; $s->(); print B::svref_2object($s)->REFCNT, "\n"; undef $s; print defined $w ? 'leak' : 'freed', "\n";
my $o = {}; sub f { my $p = shift; 1 } f($o); print B::svref_2object($o)->REFCNT, "\n"; my $c = do { my $x = 1; sub { $x } }; $c->(); my $cw = $c; weaken $cw; undef $c; print defined $cw ? 'leak' : 'freed', "\n"; print B::svref_2object(\&f)->REFCNT, "\n";
P
    [ 'threads' . (eval { require Config; $Config::Config{useithreads} } ? '' : ' (none here)'), <<'P' ],
use Config; if (!$Config{useithreads}) { print "none\n"; exit } require threads; sub work { my $x = 0; $x += $_ for 1 .. 1000; $x } my @t = map { threads->create(\&work) } 1 .. 3; print join(',', map { $_->join } @t), "\n"; print work(), "\n";
P
    [ 'undef *DB::finish_profile and other vandalism', <<'P' ],
undef *DB::finish_profile; undef &DB::disable_profile; undef *DB::enable_profile; sub f { 1 } f() for 1 .. 10; print "ok\n"; exit 5;
P
    [ 'a program that is its own debugger user: $^P, %DB::sub, @{"_<file"}', <<'P' ],
print "alive\n"; $^P = 0; sub f { 1 } f(); eval 'f()'; print "zero\n"; { no strict 'refs'; my @s = @{"main::_<$0"}; } print "done\n";
P
);

# The first options are for all programs, each other for every second one.
my ($first, @others) = matrix();
for my $number (0 .. $#PROGRAMS) {
    my ($name, $code, $not) = @{ $PROGRAMS[$number] };
    my @options = grep { !$not || $_ !~ $not } $first, @others[grep { ($_ + $number) % 2 } 0 .. $#others];
    scenario $name => sub {
        my %o = (code => $code, args => [1, 'two'], env => { HOME => '/' });
        my $plain = run_plain(%o);
        ok length $plain->{out}, 'it prints something' or diag $plain->{err};
        for my $how ('-d', 'opt') {
            for my $opts ($how eq '-d' ? @options : '') {
                my $run = run_prog(%o, how => $how, opts => $opts);
                my $label = "$how $opts";
                s/\b0x[0-9a-f]+/0xADDR/g for $run->{out}, $plain->{out};
                is $run->{out}, $plain->{out}, "$label: output";
                is $run->{err}, $plain->{err}, "$label: stderr";
                is "$run->{status} $run->{signal}", "$plain->{status} $plain->{signal}", "$label: status";
                next if $run->{signal} || $plain->{signal};
                my $p = profile_in($run);
                is join('; ', $p ? check_sums($p) : 'no file'), '', "$label: profile";
            }
        }
    };
}

# XS modules do this: C code that walks the contexts asks for PL_DBsub, as perl's caller() does;
# ops of their own call perl's handlers out of PL_ppaddr.
sub build_probe {
    my $dir = tempdir(CLEANUP => 1);
    open my $fh, '>', "$dir/probe.c" or die "$dir: $!";
    print $fh <<'C';
#include "EXTERN.h"
#include "perl.h"
#include "XSUB.h"
XS(has_debugger) { dXSARGS; PERL_UNUSED_VAR(items); EXTEND(SP, 1); ST(0) = boolSV(PL_DBsub != NULL); XSRETURN(1); }
XS(run_handlers)
{
    dXSARGS;
    OP own, *const saved = PL_op;
    PERL_UNUSED_VAR(items);
    Zero(&own, 1, OP);
    own.op_type = OP_CUSTOM;
    own.op_flags = OPf_WANT_VOID;
    PL_op = &own;
    PL_ppaddr[OP_ENTER](aTHX);
    PL_ppaddr[OP_LEAVE](aTHX);
    PL_ppaddr[OP_EPWENT](aTHX);
    PL_op = saved;
    EXTEND(SP, 1);
    ST(0) = &PL_sv_yes;
    XSRETURN(1);
}
static Perl_ppaddr_t nextstate;
static IV n_statements;
static OP *counted(pTHX) { n_statements++; return nextstate(aTHX); }
XS(count_statements)
{
    dXSARGS;
    PERL_UNUSED_VAR(items);
    nextstate = PL_ppaddr[OP_NEXTSTATE];
    PL_ppaddr[OP_NEXTSTATE] = counted;
    XSRETURN_EMPTY;
}
XS(statements) { dXSARGS; PERL_UNUSED_VAR(items); EXTEND(SP, 1); ST(0) = sv_2mortal(newSViv(n_statements)); XSRETURN(1); }
XS(boot_Probe)
{
    dXSARGS;
    PERL_UNUSED_VAR(items);
    newXS("Probe::has_debugger", has_debugger, __FILE__);
    newXS("Probe::run_handlers", run_handlers, __FILE__);
    newXS("Probe::count_statements", count_statements, __FILE__);
    newXS("Probe::statements", statements, __FILE__);
    XSRETURN_EMPTY;
}
C
    close $fh or die "$dir: $!";
    my $cc = "$Config{cc} $Config{ccflags} $Config{cccdlflags} -I$Config{archlibexp}/CORE $Config{lddlflags}";
    system("$cc -w -o $dir/probe.so $dir/probe.c") == 0 or die "no compiler: $cc";
    return "$dir/probe.so";
}

my $probe = build_probe();
my $boot_probe = <<'P';
require DynaLoader;
DynaLoader::dl_install_xsub('Probe::boot', DynaLoader::dl_find_symbol(DynaLoader::dl_load_file($ENV{PROBE}), 'boot_Probe'))->();
P

scenario 'C code finds no debugger, but where the program asks for one' => sub {
    my $code = $boot_probe . <<'P';
print 'before: ', Probe::has_debugger() ? 1 : 0, "\n";
{ package DB; sub DB { } sub sub { print "called $DB::sub\n"; &$DB::sub } }
$^P = 1; eval 'sub f { print "f @_\n" } f(1)'; print $@; $^P = 0;
print 'after: ', Probe::has_debugger() ? 1 : 0, "\n";
P
    my %o = (code => $code, env => { PROBE => $probe });
    my $plain = run_plain(%o);
    is $plain->{out}, "before: 0\ncalled main::f\nf 1\nafter: 1\n", 'plain';
    for my $how (qw(-d opt use db)) {
        my $run = run_prog(%o, how => $how);
        is $run->{out}, $plain->{out}, "$how: output";
        is $run->{err}, $plain->{err}, "$how: stderr";
    }
};

scenario 'Test::LeakTrace finds what the program leaks, and nothing else' => sub {
    plan skip_all => 'no Test::LeakTrace' if !eval { require Test::LeakTrace; 1 };
    my $code = <<'P';
 use Test::LeakTrace;
my @kept;
my %does = (
    'string evals' => sub { my $sub = eval 'sub { 1 }'; $sub->() },
    'named subs'   => sub { no warnings; eval 'sub named { 1 } named()' },
    'that die'     => sub { eval 'die'; eval 'my $x = ;' },
    'labels'       => sub { DB::label(n => $_) if defined &DB::label },
    'a leak'       => sub { push @kept, 1 },
);
for my $name (sort keys %does) {
    my $f = $does{$name};
    $f->() for 1 .. 3;
    print "$name: ", join(' ', map { my $n = $_; leaked_count { $f->() for 1 .. $n } } 1, 10, 100), "\n";
}
P
    my $plain = run_plain(code => $code);
    like $plain->{out}, qr/string evals: 0 0 0\n/, 'plain';
    is run_prog(code => $code, opts => $_)->{out}, $plain->{out}, "'$_'" for '', 'calls=0', 'memory=1', 'regex=1', 'sample=100', 'sample=1000:savesrc=1';
};

scenario "C code runs perl's handlers for an op of its own" => sub {
    my $code = $boot_probe . <<'P';
print Probe::run_handlers() for 1 .. 3;
sub f { return Probe::run_handlers() }
print f(), "\n";
P
    for my $opts (matrix()) {
        my $run = run_prog(code => $code, env => { PROBE => $probe }, opts => $opts);
        is "$run->{out}, status $run->{status}, signal $run->{signal}",
          "1111\n, status 0, signal 0", "'$opts': the program runs";
        is_deeply [check_sums(profile_in($run) || {})], [], "'$opts': times add up";
    }
};

scenario "another module's handler of statements runs, whichever came first" => sub {
    my $counts = 'Probe::count_statements()';
    my $code   = <<'P';
my $x = 0;
my @before = (Probe::statements());
for my $n (1 .. 100) {
    $x += $n;
    $x ^= 1;
}
print Probe::statements() - $before[0], "\n";
P
    my %o = (env => { PROBE => $probe, PERL5LIB => join(':', @INC) });
    for my $opts ('', 'counts=1', 'sample=100') {
        my %start = (plain => "BEGIN { $boot_probe $counts }", first => "BEGIN { $boot_probe $counts; require Devel::NYTProf }",
            last => "BEGIN { $boot_probe require Devel::NYTProf; $counts }");
        my %printed = map { $_ => run_prog(%o, impl => $_ eq 'plain' ? 'plain' : 'ours', how => 'none', opts => $opts, code => "$start{$_}\n$code")->{out} } keys %start;
        cmp_ok $printed{plain}, '>=', 200, "'$opts': without us";
        is $printed{$_}, $printed{plain}, "'$opts': $_" for qw(first last);
    }
};

done_testing;
