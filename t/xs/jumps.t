# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# goto &xsub: jumps that die, jumps inside jumps, and xsubs that are not to be recorded.

use lib 't/lib';
use NYTPTest;

scenario 'a goto that dies has called nothing' => sub {
    my %dies = (
        'in an eval'        => 'sub f { eval { goto &POSIX::floor }; 1 }',
        'in a string eval'  => 'sub f { eval "goto &POSIX::floor"; 1 }',
        'in a sort block'   => 'sub f { eval { my @s = sort { goto &POSIX::floor } 2, 1 }; 1 }',
        'in a sort sub'     => 'sub order { goto &POSIX::floor } sub f { eval { my @s = sort order 2, 1 }; 1 }',
        'in a sub that dies' => 'sub h { my @s = sort { goto &POSIX::floor } 2, 1 } sub f { eval { h() }; 1 }',
        'in the end of its scope' => 'package T; sub TIESCALAR { bless [] } sub FETCH { 1 } sub STORE { die if $_[1] == 1 }'
          . ' package main; tie our $t, "T"; sub h { local $t = 2; goto &POSIX::floor } sub f { eval { h() }; 1 }',
    );
    for my $name (sort keys %dies) {
        for my $opts ('', 'slowops=0') {
            my $run = run_prog(opts => $opts, code => <<"P");
use POSIX ();
$dies{$name}
sub g { 1 }
for (1 .. 100) { f(1.5); g() }
P
            is "$run->{status} $run->{err}", '0 ', "$name: runs";
            my $p = whole_in($run, $name);
            is n_calls($p, 'POSIX::floor'), 0, "$name: no call of the xsub";
            my ($g) = arcs_to($p, 'main::g');
            is "$g->{caller} $g->{count}", 'main::RUNTIME 100', "$name: calls after it are where they belong";
        }
    }
    my $run = run_prog(code => "use POSIX ();\nsub g { 1 }\neval { goto &POSIX::floor };\ng() for 1 .. 5;\ngoto &POSIX::floor;\n");
    like $run->{err}, qr/^Can't goto subroutine outside a subroutine/, 'at top level: dies as ever';
    my $p = whole_in($run, 'at top level');
    is n_calls($p, 'POSIX::floor'), 0, 'at top level: no call of the xsub';
};

scenario 'a jump waits for the sub that jumps, not for a destructor in its scope' => sub {
    my $run = run_prog(code => <<'P');
use POSIX ();
sub inner { goto &POSIX::ceil }
sub Obj::DESTROY { inner(1.5); eval { inner() }; main::g() }
sub g { 1 }
sub f { my $obj = bless [], 'Obj'; @_ = (2.5); goto &POSIX::floor }
f() for 1 .. 10;
g();
P
    is "$run->{status} $run->{err}", '0 ', 'runs';
    my $p = whole_in($run, 'file');
    is join('; ', arc_lines($p, want => qr/^(?:POSIX|main)::(?:floor|ceil|g)$/)),
      'Obj::DESTROY 2 POSIX::ceil x20; Obj::DESTROY 3 main::g x10; main::RUNTIME 5 POSIX::floor x10; '
      . 'main::RUNTIME 7 main::g x1', 'each call has its own caller';
};

scenario 'a jump in what the target of a jump calls' => sub {
    my $run = run_prog(code => <<'P');
use POSIX ();
use List::Util ();
sub inner { goto &POSIX::ceil }
sub g { 1 }
sub f { goto &List::Util::first }
f(sub { inner(1.5); eval { goto &POSIX::floor }; 0 }, 1 .. 3) for 1 .. 5;
g();
P
    is "$run->{status} $run->{err}", '0 ', 'runs';
    my $p = whole_in($run, 'file');
    is n_calls($p, 'POSIX::ceil'), 15, 'inner jumps';
    is n_calls($p, 'POSIX::floor'), 0, 'not the one that dies';
    my ($g) = arcs_to($p, 'main::g');
    is $g->{caller}, 'main::RUNTIME', 'the outer jump has ended';
};

scenario 'the target of a jump dies' => sub {
    for my $opts ('', 'calls=0', 'counts=1', 'findcaller=1', 'start=no') {
        my $run = run_prog(opts => $opts, code => <<'P');
use List::Util ();
sub jump { goto &List::Util::first }
sub on { DB::enable_profile(); goto &List::Util::first }
sub dies { die "x\n" }
sub g { 1 }
eval { on(\&dies, 1) };
for (1 .. 100) { eval { jump(\&dies, 1) }; g() }
P
        is "$run->{status} $run->{err}", '0 ', "'$opts': runs";
        my $p = whole_in($run, "'$opts'");
        is join('; ', arc_lines($p, want => qr/^(?:List::Util::first|main::g)$/)),
          'main::RUNTIME 2 List::Util::first x100; main::RUNTIME 3 List::Util::first x1; main::RUNTIME 7 main::g x100',
          "'$opts': calls after it are where they belong";
    }
};

scenario 'the target of a jump is a tied value' => sub {
    my $run = run_prog(code => <<'P');
use List::Util ();
package T; sub TIESCALAR { bless [] } sub FETCH { $n++; $n % 3 ? $n % 3 == 1 ? \&main::f : \&main::g : \&List::Util::sum }
package main; tie my $target, 'T'; sub f { 1 } sub g { 2 } sub jump { goto $target }
print jump(3) for 1 .. 30; print " $T::n\n";
P
    is $run->{out}, '123' x 10 . " 30\n", 'it is fetched once a jump';
    my $p = whole_in($run, 'file');
    is join(' ', map { n_calls($p, $_) } qw(main::f main::g List::Util::sum)), '10 10 10', 'calls';
};

scenario 'a destructor undefines the target of a jump' => sub {
    my %o = (code => <<'P');
use List::Util ();
*Foo::min = \&List::Util::min;
sub Obj::DESTROY { undef &Foo::min }
sub f {
    my $obj = bless [], 'Obj';
    goto &Foo::min;
}
for (1 .. 3) { eval { f(3, 4) }; print $@ }
P
    is run_prog(%o)->{out}, run_plain(%o)->{out}, 'dies as without us';
};

scenario 'what is not recorded when it is called is not when it is jumped to' => sub {
    my @quits = map { my $quit = $_; map { [$_, $quit] } '', 'subs=0', 'stmts=1:subs=0:posix_exit=1' } 'POSIX::_exit(7)', 'goto &POSIX::_exit';
    for my $case (@quits) {
        my ($opts, $quit) = @$case;
        my $run = run_prog(opts => $opts, code => "use POSIX ();\nsub f { 1 }\nsub quit { $quit }\nf();\nquit(7);\n");
        is $run->{status}, 7, "$quit $opts: status";
        my $p = whole_in($run, "$quit $opts: whole");
        is n_calls($p, 'POSIX::_exit'), 0, "$quit $opts: the call itself is not there";
    }
    my $run = run_prog(code => "sub end { goto &DB::finish_profile }\nsub g { 1 }\ng();\nend();\ng();\n");
    my $p = whole_in($run, 'goto &DB::finish_profile');
    is n_calls($p, 'DB::finish_profile'), 0, 'goto &DB::finish_profile is no call';
    is n_calls($p, 'main::g'), 1, 'and finishes';
};

done_testing;
