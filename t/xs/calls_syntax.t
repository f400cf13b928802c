# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Who called whom, and which statements ran, in syntax that not every perl has.

use strict;
use warnings;
use utf8;

use lib 't/lib';
use Test::More;

use CallRows;

my $NOT_BEGIN = qr/^(?:main|Point|Solid)::(?!BEGIN)/;

row 'signatures: a default is evaluated in the sub', <<'P', features => 'signatures', want => $NOT_BEGIN;
sub seven { 7 }
sub f ($x,
       $y = seven(),  #> f: seven
       @rest) {
    my $sum = $x + $y;
    return $sum;
}
f(1);                 #> RUNTIME: f
f(1, 2);              #> RUNTIME: f
eval { f(); 1 } or print $@ =~ /^Too few/ ? "ok\n" : $@;  #> RUNTIME: f
P

row 'postfix dereference', <<'P', features => 'postderef', want => $NOT_BEGIN, stmts => '2:1 3:1 4:3 6:2 7:1';
sub f { [1, 2, 3] }
my $n = 0;
for my $x (f()->@*) {  #> RUNTIME: f
    $n += $x;
}
my $c = sub { $n };
$c->&*;                #> RUNTIME: __ANON__[prog.pl:6]
P

row 'try and catch: out by the end, return, next and die',
  <<'P', since => 5.034, lines_since => 5.036, features => 'try', want => $NOT_BEGIN, stmts => '2:7 4:2 5:2 6:2 7:1 9:1 10:1 11:1 14:1 15:1 16:1 17:3 18:3 19:2 21:1 22:1 25:1';
#
sub f { die "no\n" if $_[0] }
sub g {
    my $n = shift;
    try {
        f($n);     #> g: f x2
        return "fine ";
    } catch ($e) {
        f(0);      #> g: f
        chomp $e;
        return "caught $e";
    }
}
print g(0);        #> RUNTIME: g
print g(1), "\n";  #> RUNTIME: g
for my $n (0 .. 2) {
    try {
        next if $n == 1;
        f($n);     #> RUNTIME: f x2
    } catch ($e) {
        my $zero = 0;
        f($zero);  #> RUNTIME: f
    }
}
f(0);              #> RUNTIME: f
P

row 'defer and finally run in the frame that they are in, also when it dies',
  <<'P', since => 5.036, features => 'try,defer', want => $NOT_BEGIN, stmts => '3:1 4:1 5:1 7:1 8:1 10:1 12:4 13:5 15:1 16:1 20:3 21:1 23:6 24:2';
my $n = 0;
sub g {
    defer {
        my $one = 1;
        f($one);                        #> g: f
    }
    f(2);                               #> g: f
    return 3;
}
print g();                              #> RUNTIME: g
{
    defer { my $ten = 10; f($ten) }     #> RUNTIME: f
    try { my $x = "x\n"; die $x } catch ($e) { my $four = 4; f($four) }  #> RUNTIME: f
    finally {
        my $eight = 8;
        f($eight);                      #> RUNTIME: f
    }
}
sub h {
    defer { my $two = 2; f($two) }      #> h: f
    die "out\n";
}
sub f { $n += $_[0] }
eval { h(); 1 } or print $@, $n, "\n";  #> RUNTIME: h
P

row 'foreach with several variables, and builtin:: functions',
  <<'P', since => 5.036, features => 'say', want => qr/^(?:main|builtin)::(?!BEGIN|import)/, stmts => '2:1 3:1 4:3 6:1 7:2';
sub f { $_[0] + $_[1] }
my $n = 0;
foreach my ($k, $v) (1, 2, 3, 4, 5, 6) {
    $n += f($k, $v);                              #> RUNTIME: f x3
}
print builtin::trim(" $n "), builtin::ceil(1.5), "\n";  #> RUNTIME: builtin::trim
my $c = \&builtin::floor; print $c->(2.5), "\n";  #> RUNTIME: builtin::floor
P

row 'classes: the constructor, what it runs, methods, inheritance',
  <<'P', since => 5.038, features => 'class', want => $NOT_BEGIN, stmts => '2:8 3:3 4:3 5:1 7:3 8:3 10:2 12:2 13:2 15:2 17:1 18:2 19:1 20:1 22:1 23:1 24:1 25:1 26:1 27:1 28:2', arcs => <<'A';
class Point {
    sub start { 1 }
    field $x :param = start();  #> Point::__ANON__[prog.pl:16]: Point::start x2
    field @all = (start(),      #> Point::__ANON__[prog.pl:16]: Point::start x3
        2);
    ADJUST {
        $x++;
        start();                #> Point::__ANON__[prog.pl:9]: Point::start x3
    }
    method x { return $x }
    method add {
        $x += shift // 1;
        return $self->x;        #> Point::add: Point::x x2
    }
    method code { return method { $x + @all } }
}
class Solid :isa(Point) {
    field $z :param //= 3;
    ADJUST { $z++ }
    method z { $z }
}
my $p = Point->new(x => 3);
print $p->add(2), "\n";         #> RUNTIME: Point::add
my $s = Solid->new(z => 5);
print $s->add, $s->z, "\n";     #> RUNTIME: Point::add, Solid::z
my $code = $s->code;            #> RUNTIME: Point::code
print $s->$code, "\n";          #> RUNTIME: Point::__ANON__[prog.pl:15]
eval { Point->new(nope => 1); 1 } or print $@;
P
Point::new 22 Point::__ANON__[prog.pl:16] x1
Point::new 22 Point::__ANON__[prog.pl:9] x1
Point::new 28 Point::__ANON__[prog.pl:16] x1
Point::new 28 Point::__ANON__[prog.pl:9] x1
Solid::__ANON__[prog.pl:21] 24 Point::__ANON__[prog.pl:16] x1
Solid::new 24 Point::__ANON__[prog.pl:9] x1
Solid::new 24 Solid::__ANON__[prog.pl:19] x1
Solid::new 24 Solid::__ANON__[prog.pl:21] x1
main::RUNTIME 22 Point::new x1
main::RUNTIME 24 Solid::new x1
main::RUNTIME 28 Point::new x1
A

row 'any and all have no frames, a lexical method has its name',
  <<'P', since => 5.042, features => 'class,keyword_any,keyword_all', want => $NOT_BEGIN, stmts => ($] < 5.043 ? '2:2' : '2:4') . ' 4:1 6:1 8:4 9:1 10:1 11:3 12:1 13:2';
class Point {
    field $x :reader :param = 1;
    my method secret {
        return $x + shift;
    }
    method open { return $self->&secret(2) }  #> Point::open: Point::secret
}
sub even { $_[0] % 2 == 0 }
my $p = Point->new(x => 4);                   #> Point::new: Point::__ANON__[prog.pl:7]; RUNTIME: Point::new
print $p->x, $p->open, "\n";                  #> RUNTIME: Point::open, Point::x
print "any\n" if any { even($_) } 1, 2, 3;    #> RUNTIME: even x2
print "all\n" if all {
    even($_)                                  #> RUNTIME: even x2
} 2, 4;
P

run_rows();

done_testing;
