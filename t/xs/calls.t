# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Who called whom, from where and how often, in syntax that every perl has.

use FindBin;
use lib "$FindBin::Bin/../lib";
use NYTPTest;

use CallRows;
use utf8;

row 'nested subs, with the main program as main::RUNTIME whatever the package', {}, <<'P', <<'A', '1:1 2:1 3:1 5:1';
sub one { two() }
sub two { three() }
sub three { 1 }
package Other;
main::one();
P
main::RUNTIME 5 main::one x1
main::one 1 main::two x1
main::two 2 main::three x1
A

row 'a call in a statement of many lines is on its first line', {}, <<'P', <<'A', '1:4 2:1';
sub f { $_[0] }
my $x = f(1) +
    f(2) +
    join '',
    f(3), f(4);
P
main::RUNTIME 2 main::f x4
A

row 'mutual recursion counts depth for each sub', {}, <<'P', <<'A';
sub even { my $n = shift; return 1 if !$n; odd($n - 1) }
sub odd { my $n = shift; return 0 if !$n; even($n - 1) }
even(4);
P
main::RUNTIME 3 main::even x1
main::even 1 main::odd x2 r1
main::odd 2 main::even x2 r2
A

row 'a sort block is no call; what it calls hangs under the sort', {}, <<'P', <<'A';
sub key { $_[0] }
my @s = sort {
    my $order = 1;
    $order * (key($a) <=> key($b))
} 2, 1;
P
{main::RUNTIME|main|sort} 4 main::key x2
A

row 'a named comparator is no call either', {}, <<'P', <<'A';
sub key { $_[0] }
sub bycmp { key($a) <=> key($b) }
my @s = sort bycmp 2, 1;
P
{main::bycmp|main|sort} 2 main::key x2
A

row 'map and grep blocks have no frames', {}, <<'P', <<'A';
sub f { $_[0] }
my @x = map { f($_) } grep { f($_) } 1 .. 3;
P
main::RUNTIME 2 main::f x6
A

row 'List::Util multicall blocks have no frames, first has one', { want => qr/^(?:main::|List::Util::(?:first|reduce))/ }, <<'P', <<'A';
use List::Util ();
sub f { $_[0] }
my $s = List::Util::reduce { f($a) + f($b) } 1 .. 3;
my $x = List::Util::first { f($_) } 3, 4;
P
List::Util::first 4 main::f x1
List::Util::reduce 3 main::f x4
main::RUNTIME 3 List::Util::reduce x1
main::RUNTIME 4 List::Util::first x1
main::NULL 1 main::BEGIN@1 x1
A

row 'an xsub that dies was called', { want => qr/Hash|utf8|main::f/ }, <<'P', <<'A';
sub f { eval { utf8::upgrade() }; 1 }
f(); f();
P
main::RUNTIME 2 main::f x2
main::f 1 utf8::upgrade x2
A

row 'an undefined sub is counted under its name', {}, <<'P', <<'A';
eval { nosuch(1) };
print "ok\n";
P
main::RUNTIME 1 main::nosuch x1
A

row 'a missing method leaves nothing', {}, <<'P', '';
eval { main->nosuch };
P

row 'methods, also by name and code ref', {}, <<'P', <<'A';
package Base; sub new { bless [], shift } sub m { 1 }
package Kid; our @ISA = 'Base'; sub m { my $s = shift; $s->SUPER::m }
package main;
my $o = Kid->new;
$o->m;
my $n = 'm';
$o->$n;
my $c = $o->can('m');
$o->$c;
P
Kid::m 2 Base::m x3
main::RUNTIME 4 Base::new x1
main::RUNTIME 5 Kid::m x1
main::RUNTIME 7 Kid::m x1
main::RUNTIME 8 UNIVERSAL::can x1
main::RUNTIME 9 Kid::m x1
A

row 'anonymous subs are named for file and last line', {}, <<'P', <<'A';
my $f = sub {
    1;
};
my ($g, $h) = (sub { 2 }, sub { 3 });
$f->(); $g->(); $h->();
P
main::RUNTIME 5 main::__ANON__[prog.pl:3] x1
main::RUNTIME 5 main::__ANON__[prog.pl:4] x2
A

row 'an anonymous sub made by an eval', {}, <<'P', <<'A';
my $f = eval 'sub { g() }';
sub g { 1 }
$f->();
P
main::RUNTIME 3 main::__ANON__[(eval 1)[prog.pl:1]:1] x1
main::__ANON__[(eval 1)[prog.pl:1]:1] (eval 1)[prog.pl:1]:1 main::g x1
A

row 'BEGIN blocks are named for their line, a second one there gets a number', {}, <<'P', <<'A';
sub f { 1 }
BEGIN { f() }
BEGIN { f() } BEGIN { f() }
BEGIN {
    f();
}
P
main::BEGIN@2 2 main::f x1
main::BEGIN@3 3 main::f x1
main::BEGIN@3.1 3 main::f x1
main::BEGIN@4 5 main::f x1
main::NULL 2 main::BEGIN@2 x1
main::NULL 3 main::BEGIN@3 x1
main::NULL 3 main::BEGIN@3.1 x1
main::NULL 6 main::BEGIN@4 x1
A

row 'BEGIN in a run-time eval is called from main::RUNTIME', {}, <<'P', <<'A';
sub f { 1 }
eval 'BEGIN { f() } 1' or die;
P
main::BEGIN@1 (eval 1)[prog.pl:2]:1 main::f x1
main::RUNTIME (eval 1)[prog.pl:2]:1 main::BEGIN@1 x1
A

row 'what a format calls is called from the format', { want => qr/main::[fg]\z/ }, <<'P', <<'A';
sub f { 'x' }
sub g { f() }
format STDOUT =
@<<
f()
.
write;
g();
P
main::RUNTIME 8 main::g x1
main::STDOUT 5 main::f x1
main::g 2 main::f x1
A

row 'phase blocks are called from main::RUNTIME on line 0', { notypes => 1 }, <<'P', <<'A';
sub f { 1 }
UNITCHECK { f() }
CHECK { f() }
INIT { f() }
END { f() }
END { f() }
1;
P
main::CHECK 3 main::f x1
main::END 5 main::f x1
main::END 6 main::f x1
main::INIT 4 main::f x1
main::RUNTIME 0 main::CHECK x1
main::RUNTIME 0 main::END x2
main::RUNTIME 0 main::INIT x1
main::RUNTIME 0 main::UNITCHECK x1
main::UNITCHECK 2 main::f x1
A

row 'goto &sub is a return and a call from the goto statement', {}, <<'P', <<'A';
sub target { 1 }
sub jump {
    goto &target;
}
jump();
P
main::RUNTIME 3 main::target x1
main::RUNTIME 5 main::jump x1
A

row 'goto &xsub', { want => qr/^main::|looks_like/ }, <<'P', <<'A';
use Scalar::Util ();
sub jump {
    goto &Scalar::Util::looks_like_number;
}
sub f { jump(1) }
f();
P
main::NULL 1 main::BEGIN@1 x1
main::RUNTIME 6 main::f x1
main::f 3 Scalar::Util::looks_like_number x1
main::f 5 main::jump x1
A

row 'AUTOLOAD, plain and as a jump', {}, <<'P', <<'A';
package Lazy;
our $AUTOLOAD;
sub real { 1 }
sub AUTOLOAD {
    return if $AUTOLOAD =~ /plain/;
    goto &real;
}
package main;
Lazy::plain();
Lazy->jump;
undef *Lazy::AUTOLOAD;
P
main::RUNTIME 10 Lazy::AUTOLOAD x1
main::RUNTIME 6 Lazy::real x1
main::RUNTIME 9 Lazy::AUTOLOAD x1
A

row 'DESTROY is a child of the frame that lets go', {}, <<'P', <<'A';
package D; sub new { bless {}, shift } sub DESTROY { 1 }
package main;
sub scope { my $d = D->new; 1 } scope();
my $o = D->new;
undef $o; 1;
P
main::RUNTIME 3 main::scope x1
main::RUNTIME 4 D::new x1
main::RUNTIME 5 D::DESTROY x1
main::scope 3 D::DESTROY x1
main::scope 3 D::new x1
A

row 'tied variables', {}, <<'P', <<'A';
package T; sub TIESCALAR { bless [], shift } sub FETCH { 1 } sub STORE { 1 }
package main;
tie my $t, 'T';
sub f { $t = $t + 1; 1 }
f();
P
main::RUNTIME 3 T::TIESCALAR x1
main::RUNTIME 5 main::f x1
main::f 4 T::FETCH x1
main::f 4 T::STORE x1
A

row 'a slowop that calls a tie is its parent', {}, <<'P', <<'A';
package H; sub TIEHANDLE { bless [], shift } sub PRINT { 1 }
package main;
tie *FH, 'H';
print FH 1;
P
main::RUNTIME 3 H::TIEHANDLE x1
{main::RUNTIME|main|print} 4 H::PRINT x1
A

row 'overloaded operators', { want => qr/Ov|main::f/ }, <<'P', <<'A';
package Ov; use overload '+' => \&add, '<=>' => \&cmp3;
sub add { 5 } sub cmp3 { 0 }
package main;
my ($x, $y) = map { bless [], 'Ov' } 1 .. 2;
sub f { $x + $y }
f();
my @s = sort { $a <=> $b } $x, $y;
P
main::NULL 1 Ov::BEGIN@1 x1
main::RUNTIME 6 main::f x1
main::f 5 Ov::add x1
{main::RUNTIME|main|sort} 7 Ov::cmp3 x1
A

row 'what an object that overloads &{} runs is called by the caller', { want => qr/Ov|main/ }, <<'P', <<'A';
package Ov; use overload '&{}' => \&ask;
sub ask { \&main::f }
package main;
sub f { 1 }
sub g { $_[0]->() }
g(bless [], 'Ov') for 1 .. 3;
(bless [], 'Ov')->();
P
main::NULL 1 Ov::BEGIN@1 x1
main::RUNTIME 6 main::g x3
main::RUNTIME 7 Ov::ask x1
main::RUNTIME 7 main::f x1
main::g 5 Ov::ask x3
main::g 5 main::f x3
A

row 'so is the FETCH of a tied value that is called', { want => qr/T|main/ }, <<'P', <<'A';
package T; sub TIESCALAR { bless [] } sub TIEHASH { bless [] } sub FETCH { \&main::f }
package main;
sub f { 1 }
tie my $t, 'T'; tie my %t, 'T';
$t->();
&{$t{x}};
P
main::RUNTIME 4 T::TIEHASH x1
main::RUNTIME 4 T::TIESCALAR x1
main::RUNTIME 5 T::FETCH x1
main::RUNTIME 5 main::f x1
main::RUNTIME 6 T::FETCH x1
main::RUNTIME 6 main::f x1
A

row 'die through frames: each returns, the handler is a child of the one that died', {}, <<'P', <<'A';
$SIG{__DIE__} = \&handler;
sub handler { 1 }
sub outer { inner() }
sub inner { die "x\n" }
eval { outer() };
after();
sub after { 1 }
P
main::RUNTIME 5 main::outer x1
main::RUNTIME 6 main::after x1
main::inner 4 main::handler x1
main::outer 3 main::inner x1
A

row 'next and last out of a sub', {}, <<'P', <<'A';
no warnings;
sub skip { next }
sub stop { last }
for my $i (1 .. 3) { skip() }
for my $i (1 .. 3) { stop() }
after();
sub after { 1 }
P
main::NULL 1 main::BEGIN@1 x1
main::RUNTIME 4 main::skip x3
main::RUNTIME 5 main::stop x1
main::RUNTIME 6 main::after x1
A

row 'signal and warn handlers are children of what they interrupt', { want => qr/main::/ }, <<'P', <<'A';
$SIG{USR1} = \&on_usr;
$SIG{__WARN__} = \&on_warn;
sub on_usr { 1 }
sub on_warn { 1 }
sub f {
    kill USR1 => $$;
    1;
}
sub g { warn "x\n" }
f();
g();
P
main::RUNTIME 10 main::f x1
main::RUNTIME 11 main::g x1
main::f 6 main::on_usr x1
main::g 9 main::on_warn x1
A

row 'regex code blocks and s///e', {}, <<'P', <<'A';
sub f { 1 }
"aa" =~ /(?:a(?{ f() }))+/;
my $s = 'abc';
$s =~ s/([ab])/f($1)/ge;
P
main::RUNTIME 4 main::f x2
{main::RUNTIME|main|match} 2 main::f x2
A

row 'string eval, do and require have no frames', { files => { 'inc.pl' => "g();\n1;\n", 'Mod.pm' => "package Mod;\nmain::g();\nsub import { main::g() }\n1;\n" } }, <<'P', <<'A';
sub g { 1 }
sub f { eval "g();\ng()"; do './inc.pl'; 1 }
f();
require './Mod.pm';
Mod->import;
P
Mod::import Mod.pm:3 main::g x1
main::RUNTIME 3 main::f x1
main::RUNTIME 5 Mod::import x1
main::RUNTIME Mod.pm:2 main::g x1
main::f (eval 1)[prog.pl:2]:1 main::g x1
main::f (eval 1)[prog.pl:2]:2 main::g x1
main::f inc.pl:1 main::g x1
A

row 'exit deep inside: open frames return, END runs', { want => qr/^main::(?!END)/ }, <<'P', <<'A';
sub a1 { b1() }
sub b1 { exit 3 }
END { fin() }
sub fin { 1 }
a1();
P
main::END 3 main::fin x1
main::RUNTIME 5 main::a1 x1
main::a1 1 main::b1 x1
A

row 'lvalue subs', { not => qr/use_db_sub/ }, <<'P', <<'A';
my $v;
sub lv :lvalue { $v }
lv() = 3;
sub f { lv() = 4; $v }
f();
P
main::RUNTIME 3 main::lv x1
main::RUNTIME 5 main::f x1
main::f 4 main::lv x1
A

row 'a sub that is defined anew keeps one name', {}, <<'P', <<'A';
no warnings;
sub f { 1 }
f();
eval 'sub f { 2 }';
f();
undef &f;
eval 'sub f { 3 }';
f();
P
main::NULL 1 main::BEGIN@1 x1
main::RUNTIME 3 main::f x1
main::RUNTIME 5 main::f x1
main::RUNTIME 8 main::f x1
A

row 'a freed sub\'s address that is reused does not inherit its name', { want => qr/^main::(?!BEGIN)/ }, <<'P', <<'A';
for my $i (1 .. 40) {
    my $f = eval "sub n$i { 1 } \\&n$i";
    $f->();
    undef $f;
    undef *{"n$i"};
    delete $main::{"n$i"};
}
P
@{[ map { "main::RUNTIME 3 main::n$_ x1\n" } 1 .. 40 ]}
A

row 'an anonymous sub that gets a name later', { since => 5.022, want => qr/^(?:main|Given)::(?!BEGIN)/ }, <<'P', <<'A';
use Sub::Util ();
my $f = Sub::Util::set_subname('Given::name', sub { 1 });
$f->();
P
main::RUNTIME 3 Given::name x1
A

row 'closures of one body are told apart by their names, many in turn and a new one', { since => 5.022, want => qr{^(?:main|Given)::(?!BEGIN)} }, <<'P', <<'A';
use Sub::Util ();
my @f = map { my $n = $_; Sub::Util::set_subname("Given::n$n", sub { $n }) } 1 .. 100;
$_->() for @f, @f;
Sub::Util::set_subname('Given::new', $f[7]);
$_->() for @f[6, 7, 8, 7];
P
@{[ map { "main::RUNTIME 3 Given::n$_ x2\n" } 1 .. 100 ]}
main::RUNTIME 5 Given::n7 x1
main::RUNTIME 5 Given::new x2
main::RUNTIME 5 Given::n9 x1
A

row 'subs in other packages, called with &', {}, <<'P', <<'A';
sub P::Q::r { 1 }
sub pass { &P::Q::r }
&pass;
&{"pass"}();
P
main::RUNTIME 3 main::pass x1
main::RUNTIME 4 main::pass x1
main::pass 2 P::Q::r x2
A

row 'names beyond ASCII are whole', {}, <<'P', <<'A';
no warnings; use utf8;
sub été { 1 }
package Ünï; sub 日本 { main::été() }
package main;
Ünï::日本();
été();
P
main::NULL 1 main::BEGIN@1 x1
main::NULL 1 main::BEGIN@1.1 x1
main::RUNTIME 5 Ünï::日本 x1
main::RUNTIME 6 main::été x1
Ünï::日本 3 main::été x1
A

row 'local, closures, recursion through a code ref', {}, <<'P', <<'A';
our $g = 1;
my $down;
$down = sub { my $n = shift; local $g = $n; $n ? $down->($n - 1) : leaf() };
sub leaf { $g }
$down->(3);
P
main::RUNTIME 5 main::__ANON__[prog.pl:3] x1
main::__ANON__[prog.pl:3] 3 main::__ANON__[prog.pl:3] x3 r3
main::__ANON__[prog.pl:3] 3 main::leaf x1
A

row 'one op calls bodies that take the place of one another, freed and compiled again', {}, <<'P', <<'A';
for my $n (1 .. 3) {
    for my $line (1 .. 2) {
        my $code = eval "\n" x $line . 'sub { 1 }';
        $code->();
    }
}
P
main::RUNTIME 4 main::__ANON__[(eval 1)[prog.pl:3]:2] x1
main::RUNTIME 4 main::__ANON__[(eval 2)[prog.pl:3]:3] x1
main::RUNTIME 4 main::__ANON__[(eval 3)[prog.pl:3]:2] x1
main::RUNTIME 4 main::__ANON__[(eval 4)[prog.pl:3]:3] x1
main::RUNTIME 4 main::__ANON__[(eval 5)[prog.pl:3]:2] x1
main::RUNTIME 4 main::__ANON__[(eval 6)[prog.pl:3]:3] x1
A

row 'one op calls many subs, from many subs, with a name that goes from body to body', {}, <<'P', <<'A';
sub one { 1 }
sub two { 2 }
sub call { $_[0]->() }
sub a { call(\&one); call(\&two); call(\&one) }
sub b { call(\&two); named() }
*named = \&one; b(); *named = \&two; b(); b();
a();
P
main::RUNTIME 6 main::b x3
main::RUNTIME 7 main::a x1
main::a 4 main::call x3
main::b 5 main::call x3
main::b 5 main::one x1
main::b 5 main::two x2
main::call 3 main::one x2
main::call 3 main::two x4
A

row 'one op calls a body by names that come and go', { since => 5.022, want => qr{^(?:main|Given)::(?!BEGIN)} }, <<'P', <<'A';
use Sub::Util ();
my $f = sub { 1 };
for my $n (1 .. 9) {
    Sub::Util::set_subname("Given::$_$n", $f) for 'other', 'n';
    $f->();
}
P
@{[ map { "main::RUNTIME 5 Given::n$_ x1\n" } 1 .. 9 ]}
A

row 'one op calls under another caller', { not => qr{slowops=[01]}, want => qr{readonly|key} }, <<'P', <<'A';
use Scalar::Util ();
sub key { $_[0] }
sub by { Scalar::Util::readonly([]); key(1) <=> key(2) }
my @s = sort by 2, 1;
package P;
@s = sort main::by 2, 1;
P
{main::by|P|sort} 3 Scalar::Util::readonly x1
{main::by|P|sort} 3 main::key x2
{main::by|main|sort} 3 Scalar::Util::readonly x1
{main::by|main|sort} 3 main::key x2
A

row 'one op calls an xsub by names that come and go', { since => 5.022, want => qr{^Given::} }, <<'P', <<'A';
use Sub::Util (); use List::Util ();
my $f = \&List::Util::pairkeys;
for my $n (1 .. 9) {
    Sub::Util::set_subname("Given::$_$n", $f) for 'other', 'n';
    $f->();
}
P
@{[ map { "main::RUNTIME 5 Given::n$_ x1\n" } 1 .. 9 ]}
A

# perl calls them by an op that lies on its own stack.
row 'one op calls an xsub from many statements', { want => qr{pairkeys} }, <<'P', <<'A';
use List::Util (); use overload '""' => \&List::Util::pairkeys;
my $o = bless [];
for (1, 2) {
    "$o" eq '';
    "$o" eq '';
# line 5 "other.pl"
    "$o" eq '';
}
P
main::RUNTIME 4 List::Util::pairkeys x2
main::RUNTIME 5 List::Util::pairkeys x2
main::RUNTIME other.pl:5 List::Util::pairkeys x2
A

row 'the same while files are compiled', { want => qr{maxstr}, lines_since => 5.036 }, <<'P', <<'A';
use List::Util (); use overload;
BEGIN { overload::constant(integer => \&List::Util::maxstr) }
my @x = (1,
    2,
# line 4 "other.pl"
    3);
P
main::NULL 3 List::Util::maxstr x1
main::NULL 4 List::Util::maxstr x1
main::NULL other.pl:4 List::Util::maxstr x1
A

# Scalar::Util of perl 5.20 has string evals of its own.
row 'string evals call an xsub, each from the place of the one before it', { since => 5.022, want => qr{readonly} }, <<'P', <<'A';
use Scalar::Util ();
eval 'Scalar::Util::readonly([])' for 1 .. 3;
P
main::RUNTIME (eval 1)[prog.pl:2]:1 Scalar::Util::readonly x1
main::RUNTIME (eval 2)[prog.pl:2]:1 Scalar::Util::readonly x1
main::RUNTIME (eval 3)[prog.pl:2]:1 Scalar::Util::readonly x1
A

run_rows();

# Callers and packages of builtins, which rows leave out.
for my $case (
    ['closures that share an op', <<'P', map { "main::N$_ 2 main::CORE:unpack x2" } $] < 5.022 ? () : 1 .. 3],
my @f = map { my $n = $_; Sub::Util::set_subname("N$n", sub {
    unpack 'a', $n }) } eval { require Sub::Util } ? 1 .. 3 : ();
$_->() for @f, @f;
P
    ['so many ops in a statement that some share a place', <<'P', 'main::f 1 main::CORE:pack x3000', 'main::f 1 main::CORE:unpack x3000'],
my ($x, $y) = ('pack($_)', 'unpack($_, $_)');
my $ops = join ', ', map { sprintf('%b', $_) =~ tr/1// % 2 ? ($x, $y) : ($y, $x) } 1 .. 3000;
eval "#line 1 \"prog.pl\"\nsub f { $ops } 1" or die;
f($_ = '');
P
    ['a package that loses its name', <<'P', 'main::f 2 P::CORE:unpack x2', 'main::f 2 __ANON__::CORE:unpack x2'],
package P;
sub main::f { unpack 'a', '' }
package main;
sub g { f() for 1, 2 }
g(); undef %P::; g();
P
) {
    my ($name, $code, @arcs) = @$case;
    scenario "builtins: $name" => sub {
        my $p = profile_in(run_prog(code => $code));
        is join("\n", arc_lines($p, ops => 1, want => qr/CORE:(?:un)?pack$/)), join("\n", @arcs), 'arcs';
    };
}

scenario 'calls that are known are counted in each file' => sub {
    my $run = run_prog(code => <<'P');
use Scalar::Util ();
sub f { Scalar::Util::readonly([]); unpack 'a', ''; g() }
sub g { }
f() for 1 .. 3;
DB::enable_profile('second.out');
f() for 1 .. 5;
P
    for my $case (['nytprof.out', 3], ['second.out', 5]) {
        my ($file, $n) = @$case;
        my $p = profile_in($run, $file);
        is join("\n", arc_lines($p, ops => 1, want => qr/readonly|unpack|main::g/)),
          join("\n", map { "main::f 2 $_ x$n" } qw(Scalar::Util::readonly main::CORE:unpack main::g)), $file;
    }
};

scenario 'a call that is known is the first of a child, in a file of its own' => sub {
    my $run = run_prog(code => <<'P');
use Scalar::Util ();
sub f { $_[0] && fork || Scalar::Util::readonly([]) }
f(0);
f(1);
wait;
P
    my ($child) = glob "$run->{dir}/nytprof.out.*";
    my $p = read_profile($child);
    is join("\n", arc_lines($p, want => qr/readonly/)), 'main::f 2 Scalar::Util::readonly x1', 'the call';
    is scalar @{ $p->{sub}{'Scalar::Util::readonly'} || [] }, 1, 'of a sub that the file tells of';
};

done_testing;
