# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Who called whom, and which statements ran, in syntax that not every perl has.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Test::More;

use CallRows;

my $NOT_BEGIN = qr/^(?:main|Point|Solid)::(?!BEGIN)/;

row 'signatures: a default is evaluated in the sub',
  { features => 'signatures', want => $NOT_BEGIN }, <<'P', <<'A';
sub seven { 7 }
sub f ($x,
       $y = seven(),
       @rest) {
    my $sum = $x + $y;
    return $sum;
}
f(1);
f(1, 2);
eval { f(); 1 } or print $@ =~ /^Too few/ ? "ok\n" : $@;
P
main::RUNTIME 10 main::f x1
main::RUNTIME 8 main::f x1
main::RUNTIME 9 main::f x1
main::f 3 main::seven x1
A

row 'postfix dereference',
  { features => 'postderef', want => $NOT_BEGIN }, <<'P', <<'A', '2:1 3:1 4:3 6:2 7:1';
sub f { [1, 2, 3] }
my $n = 0;
for my $x (f()->@*) {
    $n += $x;
}
my $c = sub { $n };
$c->&*;
P
main::RUNTIME 3 main::f x1
main::RUNTIME 7 main::__ANON__[prog.pl:6] x1
A

row 'try and catch: out by the end, return, next and die',
  { since => 5.034, lines_since => 5.036, features => 'try', want => $NOT_BEGIN }, <<'P', <<'A', '2:7 4:2 5:2 6:2 7:1 9:1 10:1 11:1 14:1 15:1 16:1 17:3 18:3 19:2 21:1 22:1 25:1';
#
sub f { die "no\n" if $_[0] }
sub g {
    my $n = shift;
    try {
        f($n);
        return "fine ";
    } catch ($e) {
        f(0);
        chomp $e;
        return "caught $e";
    }
}
print g(0);
print g(1), "\n";
for my $n (0 .. 2) {
    try {
        next if $n == 1;
        f($n);
    } catch ($e) {
        my $zero = 0;
        f($zero);
    }
}
f(0);
P
main::RUNTIME 14 main::g x1
main::RUNTIME 15 main::g x1
main::RUNTIME 19 main::f x2
main::RUNTIME 22 main::f x1
main::RUNTIME 25 main::f x1
main::g 6 main::f x2
main::g 9 main::f x1
A

row 'defer and finally run in the frame that they are in, also when it dies',
  { since => 5.036, features => 'try,defer', want => $NOT_BEGIN }, <<'P', <<'A', '3:1 4:1 5:1 7:1 8:1 10:1 12:4 13:5 15:1 16:1 20:3 21:1 23:6 24:2';
my $n = 0;
sub g {
    defer {
        my $one = 1;
        f($one);
    }
    f(2);
    return 3;
}
print g();
{
    defer { my $ten = 10; f($ten) }
    try { my $x = "x\n"; die $x } catch ($e) { my $four = 4; f($four) }
    finally {
        my $eight = 8;
        f($eight);
    }
}
sub h {
    defer { my $two = 2; f($two) }
    die "out\n";
}
sub f { $n += $_[0] }
eval { h(); 1 } or print $@, $n, "\n";
P
main::RUNTIME 10 main::g x1
main::RUNTIME 12 main::f x1
main::RUNTIME 13 main::f x1
main::RUNTIME 16 main::f x1
main::RUNTIME 24 main::h x1
main::g 5 main::f x1
main::g 7 main::f x1
main::h 20 main::f x1
A

row 'foreach with several variables, and builtin:: functions',
  { since => 5.036, features => 'say', want => qr/^(?:main|builtin)::(?!BEGIN|import)/ }, <<'P', <<'A', '2:1 3:1 4:3 6:1 7:2';
sub f { $_[0] + $_[1] }
my $n = 0;
foreach my ($k, $v) (1, 2, 3, 4, 5, 6) {
    $n += f($k, $v);
}
print builtin::trim(" $n "), builtin::ceil(1.5), "\n";
my $c = \&builtin::floor; print $c->(2.5), "\n";
P
main::RUNTIME 4 main::f x3
main::RUNTIME 6 builtin::trim x1
main::RUNTIME 7 builtin::floor x1
A

row 'classes: the constructor, what it runs, methods, inheritance',
  { since => 5.038, features => 'class', want => $NOT_BEGIN }, <<'P', <<'A', '2:8 3:3 4:3 5:1 7:3 8:3 10:2 12:2 13:2 15:2 17:1 18:2 19:1 20:1 22:1 23:1 24:1 25:1 26:1 27:1 28:2';
class Point {
    sub start { 1 }
    field $x :param = start();
    field @all = (start(),
        2);
    ADJUST {
        $x++;
        start();
    }
    method x { return $x }
    method add {
        $x += shift // 1;
        return $self->x;
    }
    method code { return method { $x + @all } }
}
class Solid :isa(Point) {
    field $z :param //= 3;
    ADJUST { $z++ }
    method z { $z }
}
my $p = Point->new(x => 3);
print $p->add(2), "\n";
my $s = Solid->new(z => 5);
print $s->add, $s->z, "\n";
my $code = $s->code;
print $s->$code, "\n";
eval { Point->new(nope => 1); 1 } or print $@;
P
Point::__ANON__[prog.pl:16] 3 Point::start x2
Point::__ANON__[prog.pl:16] 4 Point::start x3
Point::__ANON__[prog.pl:9] 8 Point::start x3
Point::add 13 Point::x x2
Point::new 22 Point::__ANON__[prog.pl:16] x1
Point::new 22 Point::__ANON__[prog.pl:9] x1
Point::new 28 Point::__ANON__[prog.pl:16] x1
Point::new 28 Point::__ANON__[prog.pl:9] x1
Solid::__ANON__[prog.pl:21] 24 Point::__ANON__[prog.pl:16] x1
Solid::new 24 Point::__ANON__[prog.pl:9] x1
Solid::new 24 Solid::__ANON__[prog.pl:19] x1
Solid::new 24 Solid::__ANON__[prog.pl:21] x1
main::RUNTIME 22 Point::new x1
main::RUNTIME 23 Point::add x1
main::RUNTIME 24 Solid::new x1
main::RUNTIME 25 Point::add x1
main::RUNTIME 25 Solid::z x1
main::RUNTIME 26 Point::code x1
main::RUNTIME 27 Point::__ANON__[prog.pl:15] x1
main::RUNTIME 28 Point::new x1
A

row 'any and all have no frames, a lexical method has its name',
  { since => 5.042, features => 'class,keyword_any,keyword_all', want => $NOT_BEGIN }, <<'P', <<'A', ($] < 5.043 ? '2:2' : '2:4') . ' 4:1 6:1 8:4 9:1 10:1 11:3 12:1 13:2';
class Point {
    field $x :reader :param = 1;
    my method secret {
        return $x + shift;
    }
    method open { return $self->&secret(2) }
}
sub even { $_[0] % 2 == 0 }
my $p = Point->new(x => 4);
print $p->x, $p->open, "\n";
print "any\n" if any { even($_) } 1, 2, 3;
print "all\n" if all {
    even($_)
} 2, 4;
P
Point::new 9 Point::__ANON__[prog.pl:7] x1
Point::open 6 Point::secret x1
main::RUNTIME 10 Point::open x1
main::RUNTIME 10 Point::x x1
main::RUNTIME 11 main::even x2
main::RUNTIME 13 main::even x2
main::RUNTIME 9 Point::new x1
A

run_rows();

done_testing;
