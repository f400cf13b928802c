# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Who called whom, from where and how often, in syntax that every perl has.

use lib 't/lib';
use NYTPTest;

use CallRows;
use utf8;

row 'nested subs, with the main program as main::RUNTIME whatever the package', <<'P', stmts => '1:1 2:1 3:1 5:1';
sub one { two() }    #> one: two
sub two { three() }  #> two: three
sub three { 1 }
package Other;
main::one();         #> RUNTIME: one
P

row 'a call in a statement of many lines is on its first line', <<'P', stmts => '1:4 2:1';
sub f { $_[0] }
my $x = f(1) +  #> RUNTIME: f x4
    f(2) +
    join '',
    f(3), f(4);
P

row 'mutual recursion counts depth for each sub', <<'P';
sub even { my $n = shift; return 1 if !$n; odd($n - 1) }  #> even: odd x2 r1
sub odd { my $n = shift; return 0 if !$n; even($n - 1) }  #> odd: even x2 r2
even(4);  #> RUNTIME: even
P

row 'a sort block is no call; what it calls hangs under the sort', <<'P';
sub key { $_[0] }
my @s = sort {
    my $order = 1;
    $order * (key($a) <=> key($b))  #> {main::RUNTIME|main|sort}: key x2
} 2, 1;
P

row 'a named comparator is no call either', <<'P';
sub key { $_[0] }
sub bycmp { key($a) <=> key($b) }  #> {main::bycmp|main|sort}: key x2
my @s = sort bycmp 2, 1;
P

row 'map and grep blocks have no frames', <<'P';
sub f { $_[0] }
my @x = map { f($_) } grep { f($_) } 1 .. 3;  #> RUNTIME: f x6
P

row 'List::Util multicall blocks have no frames, first has one', <<'P', want => qr/^(?:main::|List::Util::(?:first|reduce))/;
use List::Util ();                                    #> NULL: BEGIN@1
sub f { $_[0] }
my $s = List::Util::reduce { f($a) + f($b) } 1 .. 3;  #> List::Util::reduce: f x4; RUNTIME: List::Util::reduce
my $x = List::Util::first { f($_) } 3, 4;             #> List::Util::first: f; RUNTIME: List::Util::first
P

row 'an xsub that dies was called', <<'P', want => qr/Hash|utf8|main::f/;
sub f { eval { utf8::upgrade() }; 1 }  #> f: utf8::upgrade x2
f(); f();                              #> RUNTIME: f x2
P

row 'an undefined sub is counted under its name', <<'P';
eval { nosuch(1) };  #> RUNTIME: nosuch
print "ok\n";
P

row 'a missing method leaves nothing', <<'P';
eval { main->nosuch };
P

row 'methods, also by name and code ref', <<'P';
package Base; sub new { bless [], shift } sub m { 1 }
package Kid; our @ISA = 'Base'; sub m { my $s = shift; $s->SUPER::m }  #> Kid::m: Base::m x3
package main;
my $o = Kid->new;      #> RUNTIME: Base::new
$o->m;                 #> RUNTIME: Kid::m
my $n = 'm';
$o->$n;                #> RUNTIME: Kid::m
my $c = $o->can('m');  #> RUNTIME: UNIVERSAL::can
$o->$c;                #> RUNTIME: Kid::m
P

row 'anonymous subs are named for file and last line', <<'P';
my $f = sub {
    1;
};
my ($g, $h) = (sub { 2 }, sub { 3 });
$f->(); $g->(); $h->();  #> RUNTIME: __ANON__[prog.pl:3], __ANON__[prog.pl:4] x2
P

row 'an anonymous sub made by an eval', <<'P', arcs => <<'A';
my $f = eval 'sub { g() }';
sub g { 1 }
$f->();  #> RUNTIME: __ANON__[(eval 1)[prog.pl:1]:1]
P
main::__ANON__[(eval 1)[prog.pl:1]:1] (eval 1)[prog.pl:1]:1 main::g x1
A

row 'BEGIN blocks are named for their line, a second one there gets a number', <<'P';
sub f { 1 }
BEGIN { f() }                #> BEGIN@2: f; NULL: BEGIN@2
BEGIN { f() } BEGIN { f() }  #> BEGIN@3: f; BEGIN@3.1: f; NULL: BEGIN@3, BEGIN@3.1
BEGIN {
    f();                     #> BEGIN@4: f
}                            #> NULL: BEGIN@4
P

row 'BEGIN in a run-time eval is called from main::RUNTIME', <<'P', arcs => <<'A';
sub f { 1 }
eval 'BEGIN { f() } 1' or die;
P
main::BEGIN@1 (eval 1)[prog.pl:2]:1 main::f x1
main::RUNTIME (eval 1)[prog.pl:2]:1 main::BEGIN@1 x1
A

row 'what a format calls is called from the format', <<'P', want => qr/main::[fg]\z/;
sub f { 'x' }
sub g { f() }  #> g: f
format STDOUT =
@<<
f()            #> STDOUT: f
.
write;
g();           #> RUNTIME: g
P

row 'phase blocks are called from main::RUNTIME on line 0', <<'P', arcs => <<'A';
sub f { 1 }
UNITCHECK { f() }  #> UNITCHECK: f
CHECK { f() }      #> CHECK: f
INIT { f() }       #> INIT: f
END { f() }        #> END: f
END { f() }        #> END: f
1;
P
main::RUNTIME 0 main::CHECK x1
main::RUNTIME 0 main::END x2
main::RUNTIME 0 main::INIT x1
main::RUNTIME 0 main::UNITCHECK x1
A

row 'goto &sub is a return and a call from the goto statement', <<'P';
sub target { 1 }
sub jump {
    goto &target;  #> RUNTIME: target
}
jump();            #> RUNTIME: jump
P

row 'goto &xsub', <<'P', want => qr/^main::|looks_like/;
use Scalar::Util ();                        #> NULL: BEGIN@1
sub jump {
    goto &Scalar::Util::looks_like_number;  #> f: Scalar::Util::looks_like_number
}
sub f { jump(1) }                           #> f: jump
f();                                        #> RUNTIME: f
P

row 'AUTOLOAD, plain and as a jump', <<'P';
package Lazy;
our $AUTOLOAD;
sub real { 1 }
sub AUTOLOAD {
    return if $AUTOLOAD =~ /plain/;
    goto &real;  #> RUNTIME: Lazy::real
}
package main;
Lazy::plain();   #> RUNTIME: Lazy::AUTOLOAD
Lazy->jump;      #> RUNTIME: Lazy::AUTOLOAD
undef *Lazy::AUTOLOAD;
P

row 'DESTROY is a child of the frame that lets go', <<'P';
package D; sub new { bless {}, shift } sub DESTROY { 1 }
package main;
sub scope { my $d = D->new; 1 } scope();  #> RUNTIME: scope; scope: D::DESTROY, D::new
my $o = D->new;                           #> RUNTIME: D::new
undef $o; 1;                              #> RUNTIME: D::DESTROY
P

row 'tied variables', <<'P';
package T; sub TIESCALAR { bless [], shift } sub FETCH { 1 } sub STORE { 1 }
package main;
tie my $t, 'T';           #> RUNTIME: T::TIESCALAR
sub f { $t = $t + 1; 1 }  #> f: T::FETCH, T::STORE
f();                      #> RUNTIME: f
P

row 'a slowop that calls a tie is its parent', <<'P';
package H; sub TIEHANDLE { bless [], shift } sub PRINT { 1 }
package main;
tie *FH, 'H';  #> RUNTIME: H::TIEHANDLE
print FH 1;    #> {main::RUNTIME|main|print}: H::PRINT
P

row 'overloaded operators', <<'P', want => qr/Ov|main::f/;
package Ov; use overload '+' => \&add, '<=>' => \&cmp3;  #> NULL: Ov::BEGIN@1
sub add { 5 } sub cmp3 { 0 }
package main;
my ($x, $y) = map { bless [], 'Ov' } 1 .. 2;
sub f { $x + $y }                   #> f: Ov::add
f();                                #> RUNTIME: f
my @s = sort { $a <=> $b } $x, $y;  #> {main::RUNTIME|main|sort}: Ov::cmp3
P

row 'what an object that overloads &{} runs is called by the caller', <<'P', want => qr/Ov|main/;
package Ov; use overload '&{}' => \&ask;  #> NULL: Ov::BEGIN@1
sub ask { \&main::f }
package main;
sub f { 1 }
sub g { $_[0]->() }                       #> g: Ov::ask x3, f x3
g(bless [], 'Ov') for 1 .. 3;             #> RUNTIME: g x3
(bless [], 'Ov')->();                     #> RUNTIME: Ov::ask, f
P

row 'so is the FETCH of a tied value that is called', <<'P', want => qr/T|main/;
package T; sub TIESCALAR { bless [] } sub TIEHASH { bless [] } sub FETCH { \&main::f }
package main;
sub f { 1 }
tie my $t, 'T'; tie my %t, 'T';  #> RUNTIME: T::TIEHASH, T::TIESCALAR
$t->();                          #> RUNTIME: T::FETCH, f
&{$t{x}};                        #> RUNTIME: T::FETCH, f
P

row 'die through frames: each returns, the handler is a child of the one that died', <<'P';
$SIG{__DIE__} = \&handler;
sub handler { 1 }
sub outer { inner() }    #> outer: inner
sub inner { die "x\n" }  #> inner: handler
eval { outer() };        #> RUNTIME: outer
after();                 #> RUNTIME: after
sub after { 1 }
P

row 'next and last out of a sub', <<'P';
no warnings;                   #> NULL: BEGIN@1
sub skip { next }
sub stop { last }
for my $i (1 .. 3) { skip() }  #> RUNTIME: skip x3
for my $i (1 .. 3) { stop() }  #> RUNTIME: stop
after();                       #> RUNTIME: after
sub after { 1 }
P

row 'signal and warn handlers are children of what they interrupt', <<'P', want => qr/main::/;
$SIG{USR1} = \&on_usr;
$SIG{__WARN__} = \&on_warn;
sub on_usr { 1 }
sub on_warn { 1 }
sub f {
    kill USR1 => $$;  #> f: on_usr
    1;
}
sub g { warn "x\n" }  #> g: on_warn
f();                  #> RUNTIME: f
g();                  #> RUNTIME: g
P

row 'regex code blocks and s///e', <<'P';
sub f { 1 }
"aa" =~ /(?:a(?{ f() }))+/;  #> {main::RUNTIME|main|match}: f x2
my $s = 'abc';
$s =~ s/([ab])/f($1)/ge;     #> RUNTIME: f x2
P

row 'string eval, do and require have no frames',
  <<'P', files => { 'inc.pl' => "g();\n1;\n", 'Mod.pm' => "package Mod;\nmain::g();\nsub import { main::g() }\n1;\n" }, arcs => <<'A';
sub g { 1 }
sub f { eval "g();\ng()"; do './inc.pl'; 1 }
f();          #> RUNTIME: f
require './Mod.pm';
Mod->import;  #> RUNTIME: Mod::import
P
Mod::import Mod.pm:3 main::g x1
main::RUNTIME Mod.pm:2 main::g x1
main::f (eval 1)[prog.pl:2]:1 main::g x1
main::f (eval 1)[prog.pl:2]:2 main::g x1
main::f inc.pl:1 main::g x1
A

row 'exit deep inside: open frames return, END runs', <<'P', want => qr/^main::(?!END)/;
sub a1 { b1() }  #> a1: b1
sub b1 { exit 3 }
END { fin() }    #> END: fin
sub fin { 1 }
a1();            #> RUNTIME: a1
P

row 'lvalue subs', <<'P', not => qr/use_db_sub/;
my $v;
sub lv :lvalue { $v }
lv() = 3;               #> RUNTIME: lv
sub f { lv() = 4; $v }  #> f: lv
f();                    #> RUNTIME: f
P

row 'a sub that is defined anew keeps one name', <<'P';
no warnings;  #> NULL: BEGIN@1
sub f { 1 }
f();          #> RUNTIME: f
eval 'sub f { 2 }';
f();          #> RUNTIME: f
undef &f;
eval 'sub f { 3 }';
f();          #> RUNTIME: f
P

row 'a freed sub\'s address that is reused does not inherit its name', <<'P', want => qr/^main::(?!BEGIN)/, arcs => <<'A';
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

row 'an anonymous sub that gets a name later', <<'P', since => 5.022, want => qr/^(?:main|Given)::(?!BEGIN)/;
use Sub::Util ();
my $f = Sub::Util::set_subname('Given::name', sub { 1 });
$f->();  #> RUNTIME: Given::name
P

row 'closures of one body are told apart by their names, many in turn and a new one',
  <<'P', since => 5.022, want => qr{^(?:main|Given)::(?!BEGIN)}, arcs => <<'A';
use Sub::Util ();
my @f = map { my $n = $_; Sub::Util::set_subname("Given::n$n", sub { $n }) } 1 .. 100;
$_->() for @f, @f;
Sub::Util::set_subname('Given::new', $f[7]);
$_->() for @f[6, 7, 8, 7];  #> RUNTIME: Given::n7, Given::new x2, Given::n9
P
@{[ map { "main::RUNTIME 3 Given::n$_ x2\n" } 1 .. 100 ]}
A

row 'subs in other packages, called with &', <<'P';
sub P::Q::r { 1 }
sub pass { &P::Q::r }  #> pass: P::Q::r x2
&pass;                 #> RUNTIME: pass
&{"pass"}();           #> RUNTIME: pass
P

row 'names beyond ASCII are whole', <<'P';
no warnings; use utf8;               #> NULL: BEGIN@1, BEGIN@1.1
sub été { 1 }
package Ünï; sub 日本 { main::été() }  #> Ünï::日本: été
package main;
Ünï::日本();                           #> RUNTIME: Ünï::日本
été();                               #> RUNTIME: été
P

row 'local, closures, recursion through a code ref', <<'P', arcs => <<'A';
our $g = 1;
my $down;
$down = sub { my $n = shift; local $g = $n; $n ? $down->($n - 1) : leaf() };
sub leaf { $g }
$down->(3);  #> RUNTIME: __ANON__[prog.pl:3]
P
main::__ANON__[prog.pl:3] 3 main::__ANON__[prog.pl:3] x3 r3
main::__ANON__[prog.pl:3] 3 main::leaf x1
A

row 'one op calls bodies that take the place of one another, freed and compiled again', <<'P', arcs => <<'A';
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

row 'one op calls many subs, from many subs, with a name that goes from body to body', <<'P';
sub one { 1 }
sub two { 2 }
sub call { $_[0]->() }                           #> call: one x2, two x4
sub a { call(\&one); call(\&two); call(\&one) }  #> a: call x3
sub b { call(\&two); named() }                   #> b: call x3, one, two x2
*named = \&one; b(); *named = \&two; b(); b();   #> RUNTIME: b x3
a();                                             #> RUNTIME: a
P

for (['a body', 'sub { 1 }'], ['an xsub', '\&List::Util::pairkeys']) {
    my ($what, $code) = @$_;
    row "one op calls $what by names that come and go", <<"P", since => 5.022, want => qr{^(?:main|Given)::(?!BEGIN)}, arcs => <<'A';
use Sub::Util (); use List::Util ();
my \$f = $code;
for my \$n (1 .. 9) {
    Sub::Util::set_subname("Given::\$_\$n", \$f) for 'other', 'n';
    \$f->();
}
P
@{[ map { "main::RUNTIME 5 Given::n$_ x1\n" } 1 .. 9 ]}
A
}

row 'one op calls under another caller', <<'P', not => qr{slowops=[01]}, want => qr{readonly|key}, arcs => <<'A';
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

# perl calls them by an op that lies on its own stack.
row 'one op calls an xsub from many statements', <<'P', want => qr{pairkeys}, arcs => <<'A';
use List::Util (); use overload '""' => \&List::Util::pairkeys;
my $o = bless [];
for (1, 2) {
    "$o" eq '';  #> RUNTIME: List::Util::pairkeys x2
    "$o" eq '';  #> RUNTIME: List::Util::pairkeys x2
# line 5 "other.pl"
    "$o" eq '';
}
P
main::RUNTIME other.pl:5 List::Util::pairkeys x2
A

row 'the same while files are compiled', <<'P', want => qr{maxstr}, lines_since => 5.036, arcs => <<'A';
use List::Util (); use overload;
BEGIN { overload::constant(integer => \&List::Util::maxstr) }
my @x = (1,  #> NULL: List::Util::maxstr
    2,       #> NULL: List::Util::maxstr
# line 4 "other.pl"
    3);
P
main::NULL other.pl:4 List::Util::maxstr x1
A

# Scalar::Util of perl 5.20 has string evals of its own.
row 'string evals call an xsub, each from the place of the one before it',
  <<'P', since => 5.022, want => qr{readonly}, arcs => <<'A';
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
