# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Recording is switched on and off in the ops that exist: what that costs a program that is not
# recorded, what is seen of code that is older, and the calls that were open just then.

use lib 't/lib';
use NYTPTest;
use CallRows qw(marked);
use Extended;

my @OPTS = ('', 'leave=0', 'stmts=0', 'calls=1', 'blocks=1', 'use_db_sub=1');

sub arcs { return join "\n", (arc_lines(@_, want => qr/^(?:main|List)::/)), '' }

# ---- what it costs ----

# Instructions that perl's ops and our handlers executed inside an overloaded operator, each function's; other
# functions of perl's depend on what was allocated before. --auto=no: where perl's source is found,
# lines of it are added, with what they call.
sub instructions {
    my ($dir, @command) = @_;
    my $out = "$dir/callgrind.out";
    local $ENV{PERL_HASH_SEED} = 0;
    qx{valgrind --tool=callgrind --toggle-collect=Perl_amagic_call --callgrind-out-file=$out @command 2>&1};
    my %n;
    for my $line (split /\n/, qx{callgrind_annotate --auto=no --threshold=100 $out}) {
        my ($n, $name) = $line =~ /^\s*([\d,]+) (?:\([^)]*\))?.*?:(?:0x\w+:)?((?:Perl_pp|Perl_runops|on|nytp_stmt|nytp_call)_\w+|slowop|leave)\b/ or next;
        $n{$name} += $n =~ tr/,//dr;
    }
    return \%n;
}

scenario 'while nothing is recorded, a program executes what it would without us' => sub {
    plan skip_all => 'no valgrind' if sanitized() || qx{valgrind --version 2>/dev/null} !~ /\S/;
    my $code = <<'P';
sub f { my $n = shift; my $s = "x"; $s =~ s/x/y/; for my $i (1 .. 3) { next if $i == 2 } return $n < 2 ? $n : g($n - 1) + 1 }
sub g { f(@_) }
sub all { f(3); eval { f(1) }; my @l = map { lc } 2, 1; @l = List::Util::max(@l); 1 }
DB::disable_profile() if $ARGV[0] eq 'paused';
DB::finish_profile() if $ARGV[0] eq 'finished';
{ package Overloaded; use overload '+' => sub { main::all() for 1 .. 20; 0 } }
my $sum = 1 + bless [], 'Overloaded';
P
    my $dir = run_prog(code => $code, impl => 'plain')->{dir};
    my @ours = ours();
    my $plain = instructions($dir, $^X, '-MList::Util', "$dir/prog.pl", 'plain');
    cmp_ok scalar(keys %$plain), '>', 10, 'perl\'s functions were counted';
    for my $case (['start=no', '-d:NYTProf', 'never'], ['', '-d:NYTProf', 'paused'], ['blocks=1', '-MDevel::NYTProf', 'finished']) {
        my ($opts, $switch, $how) = @$case;
        local $ENV{NYTPROF} = "$opts:file=$dir/nytprof.out";
        is_deeply instructions($dir, $^X, @ours, $switch, '-MList::Util', "$dir/prog.pl", $how), $plain, "$switch with '$opts', $how: every function";
    }
};

# ---- code that is older ----

scenario 'all of a program that is there before the profiler is recorded' => sub {
    my %files = ('Older.pm' => "package Older;\nsub new { my \$x = shift;\n bless [], \$x }\nsub get {\n 7 }\n1;\n");
    my $run = run_prog(how => 'late', opts => undef, switches => [ '-I.', ours() ], files => \%files, code => <<'P');
use Older;
sub f { 1 }
my @closures = map { my $n = $_; sub { f(); $n } } 1 .. 3;
sub matches { my $s = shift;
  $s =~ s{a}{ f();
    'b' }e; return $s }
sub blocks { 'ab' =~ /a(?{ f() })b/ }
sub made { my $x = eval 'f(); require Devel::NYTProf; Devel::NYTProf->import; f();
  f(); 2' or die $@; $x }
format STDOUT =
@<<<
f()
.
made();
$_->() for @closures;
print matches('xa'), Older->new->get, "\n";
blocks();
my @s = sort { f(); $a <=> $b } 2, 1;
write;
P
    is "$run->{status}$run->{err}$run->{out}", "0xb7\n1\n", 'runs as without us';
    my $p = whole_in($run, 'profile');
    my $where = sub { join ' ', map { /^\S+ (.+) main::f / ? $1 : () } arc_lines($p, want => qr/^main::f\z/) };
    like $where->(), qr/^(?=.*\(eval 1\)\S*:1\b)(?=.*\(eval 1\)\S*:2\b)(?=.*(?<!:)\b3\b)(?=.*\b5\b)(?=.*\b7\b)(?=.*\b18\b)(?=.*\b12\b)/, 'calls in the eval, closures, a replacement, a pattern, sort and a format';
    like arcs($p), qr/^main::made \(eval 1\)\S* main::f/m, 'with the caller that was open';
    my %line = map { $_ => 1 } keys %{ stmt_counts($p) };
    is join(' ', grep { !$line{$_} } 3, 5, 6, 7, 15, 16, 17, 18, 19), '', 'and the statements';
    is stmt_counts($p, fid_named($p, qr/Older\.pm/))->{5}, 1, 'in modules, too';
};

scenario 'in the middle of a file that is being compiled' => sub {
    my %files = ('Half.pm' => "package Half;\nour \$n = 0;\n\$n++;\nsub early { \$n++ }\nBEGIN { DB::enable_profile() }\n\$n++;\nearly();\n1;\n");
    my $run = run_prog(opts => 'start=no', switches => [ '-I.', ours() ], files => \%files, code => <<'P');
my $x = 1;
sub early { my $y = 2;
  use Half;
  return $y }
$x++;
early();
print $x;
P
    is "$run->{status}$run->{err}$run->{out}", '02', 'runs';
    my $p = whole_in($run, 'profile');
    is stmt_lines($p), '1:1 2:1 3:1 4:1 5:1 6:1 7:1', 'the program and a sub that had been begun';
    is stmt_lines($p, fid_named($p, qr/Half\.pm/)), '2:1 3:1 4:1 5:1 6:1 7:1 8:1', 'and the module';
};

scenario 'ops that another module has taken over are left to it' => sub {
    plan skip_all => 'no Class::XSAccessor' if !eval { require Class::XSAccessor; 1 };
    my $run = run_prog(opts => 'start=no', code => my $code = <<'P');
package Acc; use Class::XSAccessor constructor => 'new', accessors => ['a'];
package main;
my $o = Acc->new(a => 1); my $n = 0;
sub all { for (1 .. 3) { $n += $o->a; $o->a($n) } }
all();
DB::enable_profile(); all(); DB::disable_profile(); all(); DB::enable_profile(); all();
print $n, ' ', $o->a;
P
    is "$run->{status}$run->{err}$run->{out}", '0' . run_plain(code => "sub DB::enable_profile {} sub DB::disable_profile {}\n$code")->{out}, 'runs as without us';
    whole_in($run, 'profile');
};

# ---- calls that are open ----

my $SUBS = <<'P';
sub leaf { 1 }
sub on { DB::enable_profile(); leaf(); 1 }
sub dies { on(); die "x\n" }
sub gone { leaf(); 2 }
P
my $END = "no strict 'refs'; sub top { &{\$_[0]}(2); leaf(); 1 }\ntop('start');\nleaf();\nprint \"end\\n\";\n";

# A start() of each kind, what is called besides, and by a goto in line 5. Each of %LINE is on a line of its own.
my %LINE = (on => 2, dies => 3, gone => 4, top => 6);
my @OPEN = (
    ['left by return', 'sub start { on(); return leaf() }',
        'on: leaf; start: leaf, on'],
    ['left by an exception', 'sub start { eval { dies() }; leaf(); 1 }',
        'dies: on; on: leaf; start: dies, leaf'],
    ['left by last', 'sub skips { on(); no warnings; last } sub start { for (1) { skips() } leaf() }',
        'on: leaf; skips: on; start: leaf, skips'],
    ['left by goto to a sub', 'sub start { on(); leaf(); goto &gone }',
        'gone: leaf; on: leaf; start: leaf, on', 'main::gone'],
    ['left by goto to an xsub', 'use List::Util; sub start { on(); @_ = (3, 4); goto &List::Util::sum }',
        'on: leaf; start: on', 'List::Util::sum'],
    ['of one sub in itself', 'sub start { my $n = shift; $n ? start($n - 1) : on(); leaf(); 1 }',
        'on: leaf; start: leaf x3, on, start x2 r2'],
    ['around a signal handler', 'sub start { local $SIG{USR1} = sub { on() }; kill USR1 => $$; 1 while !$seen++; leaf() }',
        '__ANON__[prog.pl:5]: on; on: leaf; start: __ANON__[prog.pl:5], leaf'],
    ['around the block of a sort', 'sub start { my @x = sort { on(); leaf(); $a <=> $b } 2, 1; leaf() }',
        'on: leaf; start: leaf x2, on'],
    ['where recording stops and goes on', 'sub again { leaf(); DB::enable_profile(); leaf() } sub start { on(); DB::disable_profile(); leaf(); again(); leaf() }',
        'again: leaf; on: leaf; start: again, leaf, on'],
    ['where it stops in one and goes on in another', 'sub off { DB::disable_profile() } sub inner { on(); off() } sub start { inner(); on() }',
        'inner: off, on; on: leaf x2; start: inner, on'],
);

for (@OPEN) {
    my ($name, $start, $besides, $jumped_to) = @$_;
    my $always = 'main::RUNTIME 7 main::top x1|main::RUNTIME 8 main::leaf x1|main::top 6 main::leaf x1|main::top 6 main::start x1';
    my @calls = (split(/\|/, $always), map { s/\n//r } marked($besides, sub { $LINE{ $_[0] } // 5 }));
    push @calls, "main::top 5 $jumped_to x1" if $jumped_to;
    scenario "calls that are open when recording begins: $name" => sub {
        for my $opts (@OPTS) {
            my $run = run_prog(opts => "start=no:$opts", code => "$SUBS$start\n$END");
            is "$run->{status}$run->{err}$run->{out}", "0end\n", "$opts: runs";
            my $p = whole_in($run, $opts);
            is arcs($p), join("\n", sort(@calls), ''), "$opts: calls";
        }
    };
}

scenario 'a new file in the middle has the calls that are open' => sub {
    my $run = run_prog(opts => 'start=no', code => $SUBS . "sub start { on(); DB::enable_profile('second.out'); leaf() }\n" . $END);
    whole_in($run, 'first');
    my $p = whole_in($run, 'second', 'second.out');
    like arcs($p), qr/^main::start 5 main::leaf x1\nmain::top 6 main::leaf x1\nmain::top 6 main::start x1\n/m, 'with their callers';
};

scenario 'switching the ops of a large program on is in no call' => sub {
    my $run = run_prog(opts => 'start=no:savesrc=0', code => <<'P');
for my $n (1 .. 4000) { eval "sub large$n { my (\$x, \$y) = \@_; return \$x + \$y * 2 - length \$x }; 1" or die }
sub leaf { 1 }
sub on { my $from = Time::HiRes::time(); DB::enable_profile($_[0]); print Time::HiRes::time() - $from, "\n" }
sub top { on($_[0]); leaf(); DB::finish_profile() }
BEGIN { require Time::HiRes }
top("$_.out") for 1 .. 8;
P
    # Each profile but the first begins with a call of top() that is open. The shortest of seven counts.
    # Chance: 1e-9 (the processor is given to others in all seven, each of which takes some microseconds)
    my @incl;
    for my $n (2 .. 8) {
        my ($top) = map { $_->[1] } grep { $_->[3] eq 'main::top' } @{ profile_in($run, "$n.out")->{ret} };
        push @incl, $top;
    }
    my ($least) = sort { $a <=> $b } @incl;
    my ($switch) = sort { $a <=> $b } split ' ', $run->{out};
    cmp_ok $least / 1e7, '<', $switch / 10, 'less than a tenth of what it takes' or diag "@incl, switched in $run->{out}";
};

scenario 'POSIX::_exit in a pause leaves a whole profile' => sub {
    my $run = run_prog(code => "use POSIX ();\nsub f { 1 }\nf();\nDB::disable_profile();\nf();\nPOSIX::_exit(3);\n");
    is $run->{status}, 3, 'status';
    whole_in($run, 'profile');
};

done_testing;
