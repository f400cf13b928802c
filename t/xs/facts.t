# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# What users of Devel::NYTProf find in its profiles beyond the obvious: one program per fact, and
# the records that tell it. With NYTP_IMPL=peer the same table is held against the installed
# Devel::NYTProf.
#
# Facts are lines:
#   file FID PARENT PARENT_LINE FLAGS NAME      sub FID FIRST-LAST NAME      mark NAME
#   arc FID:LINE CALLER -> CALLEE xCOUNT        stmt FID LINE:COUNT ...
# A row compares those that its `want` matches.

use lib 't/lib';
use NYTPTest;

my $USUAL = 'savesrc=0:slowops=0:start=init';

# The lines that tell everything in a profile that does not depend on time. HAS_SRC is about
# where perl keeps sources.
sub facts {
    my ($p) = @_;
    my @lines;
    for my $file (map { $p->{fid}{$_} } @{ $p->{fid_order} }) {
        my $name = $file->{name};
        $name =~ s{\A/.*/}{}s;
        my $flags = $file->{flags} & ~0x10;
        push @lines, "file $file->{fid} $file->{eval_fid} $file->{eval_line} $flags $name";
    }
    for my $name (sort keys %{ $p->{sub} }) {
        push @lines, sort map {"sub $_->[0] $_->[1]-$_->[2] $name"} @{ $p->{sub}{$name} };
    }
    push @lines, map {"mark $_"} sort keys %{ $p->{marker} };
    push @lines, sort map {"arc $_->{fid}:$_->{line} $_->{caller} -> $_->{callee} x$_->{count}"}
      @{ $p->{arc} };
    for my $fid (sort { $a <=> $b } keys %{ $p->{stmt} }) {
        my $lines = $p->{stmt}{$fid};
        push @lines, "stmt $fid " . join ' ', map {"$_:$lines->{$_}[0]"} sort { $a <=> $b } keys %$lines;
    }
    return @lines;
}

# row NAME, {opts (a list: each run; [$USUAL]), want, prepare (called with the folder), profile, says (what may
# be said on standard error), only (whose fact it is), match (in place of FACTS), and what run_prog()
# takes}, PROGRAM, FACTS; or both in one text, with a line -- between
my @ROWS;

sub row {
    my ($name, $o, $code, $facts) = @_;
    ($code, $facts) = split /^--\n/m, $code if !defined $facts;
    push @ROWS, { name => $name, %$o, code => $code, facts => $facts };
}

my $SWITCHING = <<'P';
sub w { return 1 }
w();
w() + DB::disable_profile();
w();
DB::enable_profile();
DB::disable_profile();
w();
DB::enable_profile();
w();
DB::disable_profile();
w();
P
row 'the statement that calls DB::disable_profile() has its record when recording goes on',
  { opts => ["$USUAL:leave=0", "$USUAL:leave=1", "$USUAL:use_db_sub=1"], want => qr/^stmt/ },
  $SWITCHING, "stmt 1 1:3 2:1 3:1 5:1 6:1 8:1 9:1\n";
my $NEW_FILE = <<'P';
sub w { return 1 }
w() + DB::disable_profile();
w();
DB::enable_profile('new.out');
w();
P
row 'it is the first record of the file that recording goes on in',
  { opts => ["$USUAL:leave=1"], want => qr/^(?:file|stmt)/, profile => 'new.out' },
  $NEW_FILE, "file 1 0 0 2 prog.pl\nstmt 1 1:1 2:1 4:1 5:1\n";
row 'and not in the file before', { opts => ["$USUAL:leave=0"], want => qr/^stmt/ }, $NEW_FILE, "stmt 1 2:1\n";

row 'an empty statement with a label counts',
  { opts => ["$USUAL:leave=0", "$USUAL:leave=1", "$USUAL:use_db_sub=1"], want => qr/^stmt/ },
  <<'P', "stmt 1 1:4 2:1 3:1 4:1 5:1\n";
sub f { 1 }  f();
first:;
f();
second:;
f();
P

row 'a builtin is one, however it ends', { opts => ["$USUAL:slowops=2"], want => qr/CORE:unpack/ }, <<'P';
eval { my $x = unpack 'w', "\xff" x 20; };
sub f { 1 }
f();
--
sub 1 0-0 main::CORE:unpack
mark main::CORE:unpack
arc 1:1 main::RUNTIME -> main::CORE:unpack x1
P
row 'also where perl code ends it', { opts => ["$USUAL:slowops=2"], want => qr/^(?:sub|mark).*CORE:/ },
  <<'P', join '', map { my $kind = $_; map {"$kind main::CORE:$_\n"} qw(open print sort) } 'sub 1 0-0', 'mark';
package H; sub TIEHANDLE { bless [] } sub OPEN { die } sub PRINT { die }
package main;
tie *FH, 'H';
eval { open FH, '<', 'x' };
eval { print FH 'x' };
eval { my @x = sort { die } 2, 1 };
sub f { 1 }
f();
P

my $BLOCKS = <<'P';
package Two;
BEGIN { $Two::n = 1 }
BEGIN {
    $Two::n++;
}
package main;
sub f { 1 }
f();
P
my $TWO = "sub 1 3-5 Two::BEGIN\n";
my $SWITCH = "sub 1 0-0 main::BEGIN\n";
my $F = "sub 1 7-7 main::f\n";
my $RUNTIME = "sub 1 1-1 main::RUNTIME\n";
my $RECORDED = "sub 1 2-2 Two::BEGIN\@2\nsub 1 3-5 Two::BEGIN\@3\n";
row 'the last block of each package, and the switch -d, are subs',
  { opts => [$USUAL, "$USUAL:stmts=0", "$USUAL:calls=0", "$USUAL:use_db_sub=1"], want => qr/^sub/ },
  $BLOCKS, "$TWO$SWITCH$RUNTIME$F";
row 'the switch in PERL5OPT, too', { want => qr/^sub/, how => 'opt' }, $BLOCKS, "$TWO$SWITCH$RUNTIME$F";
row 'without subroutine profiler', { opts => ['savesrc=0:subs=0', "$USUAL:subs=0"], want => qr/^(?:sub|mark)/ },
  $BLOCKS, "$TWO$SWITCH$F";
row 'blocks that were recorded are subs of their own', { opts => ['savesrc=0:slowops=0'], want => qr/^(?:sub|mark)/ },
  $BLOCKS, "$RECORDED$SWITCH$RUNTIME$F";
row 'a module that was loaded without -d is no switch', { want => qr/^sub/, how => 'use' }, $BLOCKS, "$TWO$RUNTIME$F";
row 'nor has it a switch when its blocks are recorded',
  { opts => ['savesrc=0:slowops=0'], want => qr/^sub/, how => 'use' }, $BLOCKS, "$RECORDED$RUNTIME$F";

my $USE = "use strict;\nsub END { 1 }\nsub f { 1 }\nf();\n";
my $SUBS = "sub 1 2-2 main::END\n${RUNTIME}sub 1 3-3 main::f\n";
row 'a use is a block', { want => qr/^sub .*main::/ }, $USE, "sub 1 1-1 main::BEGIN\n$SUBS";
row 'that takes the place of the switch also when it is recorded',
  { opts => ['savesrc=0:slowops=0'], want => qr/^sub .*main::/ }, $USE, "sub 1 1-1 main::BEGIN\@1\n$SUBS";
row 'a block in a string eval takes the entry of its package away',
  { want => qr/^sub/ }, <<'P', "sub 3 1-1 X::BEGIN\@1\nsub 2 2-2 Y::BEGIN\@2\n$SWITCH$RUNTIME";
package X; BEGIN { 1 }
package Y; BEGIN { 1 }
eval "package Y;\nBEGIN { 1 }\n1";
eval "package X; BEGIN { 1 }\n1";
P
row 'unless it does not compile', { want => qr/^sub.*X::BEGIN/ }, <<'P', "sub 1 2-2 X::BEGIN\n";
use strict;
package X; BEGIN { 1 }
eval 'BEGIN { $y = 1 }';
P
row 'a pause is unrecorded, too', { want => qr/^sub.*BEGIN/ }, <<'P', "sub 2 2-2 X::BEGIN\n$SWITCH";
package X; BEGIN { 1 }
DB::disable_profile();
eval "sub z { 1 }\nBEGIN { 1 }";
DB::enable_profile();
z();
P
for my $kind (qw(CHECK UNITCHECK INIT END)) {
    row "$kind blocks are none", { opts => ["$USUAL:subs=0"], want => qr/^sub.*main::[A-Z]/ },
      "sub f { 1 }\nf();\n$kind { 1 }\n", "${SWITCH}sub 1 3-3 main::$kind\n";
}
row 'code that all has names of other files', { only => 'ours', want => qr/^(?:file|sub)/ }, <<'P';
#line 1 "other.pl"
sub f { 1 }
f();
--
file 1 0 0 2 other.pl
file 2 0 0 4 prog.pl
sub 2 0-0 main::BEGIN
sub 2 1-1 main::RUNTIME
sub 1 1-1 main::f
P

row 'a builtin is shown in a file rather than in a string eval',
  { opts => ["$USUAL:slowops=2"], want => qr/^sub.*CORE/ }, <<'P', "sub 1 0-0 main::CORE:ftis\n";
my $c = eval 'sub { -e "." }';
$c->();
P
row 'and in that with the lowest id',
  { opts => ["$USUAL:slowops=2"], want => qr/^sub.*CORE/, only => 'ours' }, <<'P', "sub 3 0-0 Q::CORE:ftis\n";
eval qq{#line 1 "b.pl"\nsub main::g { 1 } g()};
eval qq{package Q;\n#line 1 "c.pl"\nsub a { -e "." } sub b { 1 } a()};
eval qq{package Q;\n#line 1 "a.pl"\nsub c { 1 } c()};
P

row 'a constant that is called by its name is an xsub', { want => qr/(?:FOO|Z)$|-> (?:main::FOO|Q::Z)/ }, <<'P';
use constant FOO => 3;
package Q;
use constant Z => [1];
package main;
my $f = 'Q::Z';
&$f() for 1, 2;
$f = 'FOO';
$f->();
--
sub 1 0-0 Q::Z
sub 1 0-0 main::FOO
mark Q::Z
mark main::FOO
arc 1:6 main::RUNTIME -> Q::Z x2
arc 1:8 main::RUNTIME -> main::FOO x1
P
row 'so are those of Fcntl in File::Temp', { opts => ['savesrc=0:slowops=0'], want => qr/O_NOFOLLOW/ }, <<'P', '';
use File::Temp;
my $t = File::Temp->new;
P
$ROWS[-1]{match} = qr/\Asub \d+ 0-0 Fcntl::O_NOFOLLOW\nmark Fcntl::O_NOFOLLOW\narc \S+ \S+ -> Fcntl::O_NOFOLLOW x1\n\z/;

my $ACCESSORS = <<'P';
BEGIN { require Sub::Util }
package Acc;
for my $n (qw(a b)) { no strict 'refs'; *{"Acc::$n"} = Sub::Util::set_subname("Acc::$n", sub { $_[0]{$n} }); }
package main;
Acc::a({a => 1});
P
row 'a closure that got a name is a sub, also if it is never called',
  { opts => [map {"$USUAL$_"} '', ':start=begin', ':subs=0', ':subs=0:leave=0'], want => qr/^sub.*Acc::(?!BEGIN)/ }, $ACCESSORS, <<'F';
sub 1 3-3 Acc::__ANON__[prog.pl:3]
sub 1 3-3 Acc::a
sub 1 3-3 Acc::b
F
row 'a sub keeps each name that it had', { any_eval => 1, opts => [$USUAL, "$USUAL:subs=0"], want => qr/^sub.*Acc::(?!BEGIN)/ }, <<'P';
BEGIN { require Sub::Util }
package Acc;
sub jumps { goto &Sub::Util::set_subname }
sub named { 1 }
Sub::Util::set_subname('Acc::other', \&named);
my $k; $k = Sub::Util::set_subname('Acc::first', sub { $k });
$k = Sub::Util::set_subname('Acc::second', $k);
jumps('Acc::jumped', sub { $k });
eval q{Sub::Util::set_subname('Acc::inner', sub { 9 })};
Sub::Util::set_subname('Acc::last', sub { 9 });
--
sub 2 1-1 Acc::__ANON__[(eval N)[prog.pl:9]:1]
sub 1 10-10 Acc::__ANON__[prog.pl:10]
sub 1 6-6 Acc::__ANON__[prog.pl:6]
sub 1 8-8 Acc::__ANON__[prog.pl:8]
sub 1 6-6 Acc::first
sub 2 1-1 Acc::inner
sub 1 8-8 Acc::jumped
sub 1 3-3 Acc::jumps
sub 1 10-10 Acc::last
sub 1 4-4 Acc::named
sub 1 4-4 Acc::other
sub 1 6-6 Acc::second
P
row 'a file that is loaded at run time brings them as well', { opts => [$USUAL, "$USUAL:subs=0"],
    want => qr/^sub.*Acc::(?!BEGIN)/ }, <<'P';
my $n = 1;
my $f = sub { $n };
require Sub::Util;
Sub::Util::set_subname('Acc::late', $f);
--
sub 1 2-2 Acc::late
P
row 'while nothing is recorded, too', { want => qr/^sub.*Acc::(?!BEGIN)/ },
  "BEGIN {\n$ACCESSORS}\nAcc::a({})", <<'F';
sub 1 4-4 Acc::__ANON__[prog.pl:4]
sub 1 4-4 Acc::a
sub 1 4-4 Acc::b
F

# ---- where we differ, and stay (see the manual)

my $FILES = <<'P';
sub w { return 1 }
w();
DB::enable_profile('new.out');
w();
DB::finish_profile();
w();
DB::enable_profile();
w();
P
my $W = 'main::RUNTIME -> main::w x1';
my %ONLY = (only => 'ours', want => qr/^(?:arc|stmt|mark)/, says => qr/goes on in \S+new\.out\.2$/);
row 'each file has the calls of its own time', { %ONLY, opts => ["$USUAL:leave=0", $USUAL], profile => 'new.out' },
  $FILES, "arc 1:4 $W\nstmt 1 1:1 4:1 5:1\n";
row 'and so has the first', { %ONLY, opts => ["$USUAL:leave=0", $USUAL] }, $FILES, "arc 1:2 $W\nstmt 1 1:1 2:1 3:1\n";
row 'what is finished is not overwritten', { %ONLY, profile => 'new.out.2' },
  $FILES, "arc 1:8 $W\nstmt 1 1:1 7:1 8:1\n";
row 'an xsub is one, whatever became of its first call', { %ONLY, want => qr/upgrade/ }, <<'P';
my $s = 'x';
sub f { eval { utf8::upgrade(@_) } }
eval { &utf8::upgrade() };
utf8::upgrade($s);
package utf8;
sub g { 1 }
g();
--
sub 1 0-0 utf8::upgrade
mark utf8::upgrade
arc 1:3 main::RUNTIME -> utf8::upgrade x1
arc 1:4 main::RUNTIME -> utf8::upgrade x1
P

row 'with blocks, the record of the paused statement has its block',
  { opts => ["$USUAL:blocks=1"], want => qr/^stmt/ }, $SWITCHING, "stmt 1 1:3 2:1 3:1 5:1 6:1 8:1 9:1\n";
row 'a child has no record of the statement that paused its parent',
  { want => qr/^stmt/, profile => 'child.out', only => 'ours' }, <<'P', "stmt 1 5:1 6:1 7:1\n";
DB::disable_profile();
if (my $pid = fork) {
    waitpid $pid, 0; exit;
}
DB::enable_profile();
$x++;
rename glob('nytprof.out.*'), 'child.out';
P

row 'a string eval without a known place has a lower id than the parent that is invented for it',
  { want => qr/^file/ }, <<'P';
my $x = 1;
#line 7 "(eval 99)"
$x++;
--
file 1 0 0 2 prog.pl
file 3 0 0 418 /unknown-eval-invoker
file 2 3 1 34 (eval 99)
P
row 'with flags that tell how it was seen', { opts => ["$USUAL:stmts=0"], want => qr/^file/ }, <<'P';
sub f { 1 }
f();
#line 7 "(eval 99)"
f();
--
file 1 0 0 4 prog.pl
file 3 0 0 420 /unknown-eval-invoker
file 2 3 1 36 (eval 99)
P
row 'so has one that is seen before what runs it', { opts => ['savesrc=0:start=no'], want => qr/^(?:file|stmt)/ },
  <<'P';
sub f { 1 }
eval 'eval "BEGIN { DB::enable_profile() }\n1;\nf();\nDB::disable_profile(); 1"; 2';
--
file 3 0 0 290 prog.pl
file 2 3 2 290 (eval 1)[prog.pl:2]
file 1 2 1 34 (eval 2)[(eval 1)[prog.pl:2]:1]
stmt 1 1:1 3:1
stmt 3 1:1
P

# ---- AutoSplit

my $SPLIT = <<'P';
package Spl;
use AutoLoader 'AUTOLOAD';
sub pre { 1 }
1;
__END__

sub foo {
  my $x = shift;
  return $x + 1;
}

sub bar {
  eval '2 + 2';
}
P

# Lay the module and the pieces that AutoSplit makes of it into the folder.
sub autosplit {
    my ($dir) = @_;
    put("$dir/Spl.pm", $SPLIT);
    mkdir "$dir/auto" or die "$dir/auto: $!";
    system "cd '$dir' && $^X -MAutoSplit -e 'AutoSplit::autosplit(q(Spl.pm), q(auto), 0, 0, 0)' >/dev/null";
    die 'AutoSplit failed' if $?;
    return;
}

# The records of a module's pieces, which say that it was built with this prefix.
sub split_facts {
    my ($module, $prefix) = @_;
    my $path = $module =~ s{::}{/}gr;
    return <<"F";
file 2 0 0 2 Spl.pm
file 4 2 13 34 (eval 1)[$prefix$path.pm (autosplit into ${prefix}auto/$path/bar.al):13]
sub 2 2-2 ${module}::BEGIN
sub 2 12-14 ${module}::bar
sub 2 7-10 ${module}::foo
sub 2 3-3 ${module}::pre
arc 1:1 main::RUNTIME -> ${module}::pre x1
arc 3:24 main::RUNTIME -> ${module}::bar x1
arc 3:24 main::RUNTIME -> ${module}::foo x1
stmt 2 3:1 8:1 9:1 13:2 16:1
F
}

for my $lib ("'.'", 'do { require Cwd; Cwd::getcwd() }') {
    row "subs that AutoSplit cut out of a module are in its file, use lib $lib",
      { want => qr/Spl|^stmt 2/, prepare => \&autosplit },
      "use lib $lib; use Spl; Spl::pre(); Spl::foo(1); Spl::bar();\n", split_facts('Spl', '');
}

# The paths in the pieces are those of when the module was built, which is elsewhere.
sub autosplit_elsewhere {
    my ($dir, $prefix) = @_;
    autosplit($dir);
    mkdir "$dir/$_" or die "$dir/$_: $!" for qw(Foo auto/Foo auto/Foo/Spl);
    rename "$dir/auto/Spl/autosplit.ix", "$dir/auto/Foo/Spl/autosplit.ix" or die $!;
    for my $name ('Spl.pm', map {"auto/Spl/$_.al"} qw(foo bar)) {
        open my $from, '<', "$dir/$name" or die "$dir/$name: $!";
        my $text = join '', <$from>;
        $text =~ s/^package Spl;/package Foo::Spl;/m;
        $text =~ s{"Spl\.pm \(autosplit into auto/Spl/}{"${prefix}Foo/Spl.pm (autosplit into ${prefix}auto/Foo/Spl/};
        my $to = $name =~ s{(?=Spl)}{Foo/}r;
        put("$dir/$to", $text);
    }
    return;
}

for my $prefix ('blib/lib/', '../../blib/lib/', '/abs/blib/lib/', 'zzz/') {
    row "and so they are where the module was built as ${prefix}Foo/Spl.pm",
      { want => qr/Spl|^stmt 2/, prepare => sub { autosplit_elsewhere($_[0], $prefix) } },
      "use lib do { require Cwd; Cwd::getcwd() }; use Foo::Spl; Foo::Spl::pre(); Foo::Spl::foo(1); Foo::Spl::bar();\n",
      split_facts('Foo::Spl', $prefix);
}
for my $name ('Spl.pm', 'Other/Spl.pm', 'Foo/XSpl.pm', 'Foo/Spl.pm/x.pm') {
    row "$name is not the module Foo/Spl.pm", # but Devel::NYTProf takes any file called Spl.pm for it
      { want => qr/al\)|^stmt/, only => 'ours' }, <<"P", <<'F';
sub f { 1 }
#line 1 "/lib/$name"
f();
#line 1 "blib/lib/Foo/Spl.pm (autosplit into blib/lib/auto/Foo/Spl/x.al)"
f();
P
file 3 0 0 10 x.al)
stmt 1 1:1
stmt 2 1:2
stmt 3 1:1
F
}
row 'of several files the module is the one with most of the path', { want => qr/^(?:file|stmt)/ }, <<'P';
sub f { 1 }
#line 1 "/old/Foo/Spl.pm"
f();
#line 2 "/new/lib/Foo/Spl.pm"
f();
#line 3 "blib/lib/Foo/Spl.pm (autosplit into blib/lib/auto/Foo/Spl/x.al)"
f();
--
file 1 0 0 2 Spl.pm
file 2 0 0 2 prog.pl
file 3 0 0 2 Spl.pm
stmt 1 1:1
stmt 2 1:3
stmt 3 2:1 3:1
P
row 'names that AutoSplit does not write are files of their own', { want => qr/^stmt/, only => 'ours' }, <<'P';
sub f { 1 }
for my $name ('', 'a', '.pm', '/', 'a/' x 20_000) { eval qq{#line 1 "$name (autosplit into "\nf(); 1} or die }
--
stmt 1 1:5 2:6
stmt 2 1:2
stmt 3 1:2
stmt 4 1:2
stmt 5 1:2
stmt 6 1:2
P
row 'without the module in the profile, a piece is a file of its own', { want => qr/^(?:file|stmt)/ }, <<'P';
sub f { 1 }
#line 1 "No.pm (autosplit into auto/No/x.al)"
f();
--
file 1 0 0 10 x.al)
file 2 0 0 2 prog.pl
stmt 1 1:1
stmt 2 1:1
P

# The other recorder takes any of several files.
for my $row (grep { !$_->{only} || $_->{only} eq impl() } @ROWS) {
    scenario $row->{name} => sub {
        plan skip_all => 'Sub::Util is of perl 5.22 and later' if $row->{code} =~ /Sub::Util/ && $] < 5.022;
        for my $opts (@{ $row->{opts} || [$USUAL] }) {
            my $dir = new_dir();
            $row->{prepare}->($dir) if $row->{prepare};
            my $run = run_prog(%$row, opts => $opts, dir => $dir);
            $run->{err} = '' if $row->{says} && $run->{err} =~ $row->{says};
            is "$run->{status}$run->{err}", 0, "$opts: runs";
            my $p = profile_in($run, $row->{profile});
            ok $p && $p->{complete}, "$opts: has a whole profile" or return;
            my @facts = grep { $_ =~ $row->{want} } facts($p);
            s/\(eval \d+\)/(eval N)/ for $row->{any_eval} ? @facts : (); # modules of some perls have evals, too
            if ($row->{match}) {
                like join("\n", @facts, ''), $row->{match}, "$opts: its records";
            } else {
                is join("\n", @facts, ''), $row->{facts}, "$opts: its records";
            }
            is join("\n", check_sums($p)), '', "$opts: its sums" if impl() eq 'ours';
        }
    };
}

# Loading an object is the program's own time: the recorder has not loaded XSLoader for itself.
scenario 'XSLoader is loaded in the program, and seen' => sub {
    plan skip_all => 'the other recorder loads it' if impl() ne 'ours';
    my $run = run_prog(code => "require Fcntl;\nprint defined &Fcntl::S_ISREG ? 1 : 0;\n");
    is $run->{out} . $run->{err}, '1', 'runs';
    my ($load) = arcs_to(whole_in($run, 'its sums'), 'DynaLoader::dl_load_file');
    is $load && $load->{caller}, 'XSLoader::load', 'the call that loads the object';
};

done_testing;
