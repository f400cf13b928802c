# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Beside the installed Devel::DProf: eleven programs recorded by both have the same tree of calls,
# and both dprofpp print the same, line by line, of either's profiles and of crafted ones. What
# differs on purpose is said in the manuals (dprofpp, DIFFERENCES; Devel::DProf, LIMITS): the
# programs load no module and leave no sub by next, at which the old one panics, and -f and -G match none of the last subs.

use lib 't/lib';
use NYTPTest;

use File::Temp qw(tempdir);

my $PEER = '/usr/bin/dprofpp';
plan skip_all => 'Devel::DProf is not installed'
    if !-x $PEER || !grep { -e "$_/auto/Devel/DProf/DProf.so" } @INC;
my $OURS = root() . '/bin/dprofpp';
my $dir  = tempdir(CLEANUP => 1);

my %program = (
    recursion => <<'P',
sub fib { my $n = shift; $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
sub even { my $n = shift; $n ? odd($n - 1) : 1 } sub odd { my $n = shift; $n ? even($n - 1) : 0 }
fib(12); even(6); even(3); fib(2); burn(); sub burn { my $x = 0; $x += $_ for 1 .. 600000 }
P
    goto => <<'P',
sub a { goto &b } sub b { c() } sub c { 1 } sub d { goto &e } sub e { a(3); goto &c }
a(1); a(2); d(); my $r = \&a; &$r(4); sub m { @_ = (5); &a } m();
P
    autoload => <<'P',
package P; our $AUTOLOAD; sub new { bless {} } sub inner { 1 }
sub AUTOLOAD {
    my $n = $AUTOLOAD; $n =~ s/.*:://; return if $n eq 'DESTROY';
    if ($n eq 'made') { *$AUTOLOAD = sub { inner() }; goto &$AUTOLOAD }
    inner();
}
package main; my $o = P->new; $o->foo; $o->bar; $o->made; $o->made; P::baz(); undef $o;
P
    exceptions => <<'P',
sub thrower { die "x\n" } sub mid { thrower() } sub catcher { eval { mid() }; after() } sub after { 1 }
sub deep { eval { deep2() }; 1 } sub deep2 { eval { die 'a' }; die 'b' }
catcher() for 1 .. 3; deep();
local $SIG{__DIE__} = sub { after() }; eval { mid() };
P
    child => <<'P',
sub work { 1 } sub kid { work() } sub par { work() }
par(); my $p = fork; if (!$p) { kid(); exit 0 } waitpid $p, 0; par();
P
    exits => 'sub inner { exit 3 } sub outer { inner() } END { fin() } sub fin { 1 } outer();',
    anon  => <<'P',
package Q; sub mk { my $n = shift; return sub { $n + 1 } } package main;
my @f = map { Q::mk($_) } 1 .. 3; $_->() for @f; &{ sub { 1 } }(); my $g = sub { $f[0]->() }; $g->() for 1, 2;
my @s = sort { cmpf($a, $b) } 3, 1, 2; sub cmpf { $_[0] <=> $_[1] }
P
    objects => <<'P',
package A; sub new { my ($c, $v) = @_; bless { v => $v }, $c } sub DESTROY { bye() } sub bye { 1 }
package T; sub TIESCALAR { bless [] } sub FETCH { 42 } sub STORE { 1 }
package main; { my $x = A->new(1) } tie my $t, 'T'; my $v = $t; $t = 5; UNIVERSAL::can('A', 'new')->('A', 3);
P
    evals => <<'P',
eval 'sub made { 1 } made()'; for (1 .. 3) { eval "sub made$_ { made() } made$_()" } eval { made() };
BEGIN { sub early { 1 } early() } INIT { early() } CHECK { early() }
P
    signal => <<'P',
sub handler { note() } sub note { 1 } $SIG{USR1} = \&handler; $SIG{__WARN__} = sub { note() };
sub w { warn 'x' } w(); kill USR1 => $$; w();
P
    killed => 'sub f { g() } sub g { 1 } sub h { f() for 1 .. 8000; kill KILL => $$ } h();',
);

# Recordings have times that differ by the last bits of floating point numbers: the order of lines
# is compared for crafted files only.
our $any_order = 0;

# Returns what a dprofpp prints on standard output, and whether it was content.
sub printed {
    my ($command, $options, $file) = @_;
    local @ENV{qw(PERL5LIB DPROFPP_OPTS)} = ('', '');
    my $text = qx{cd $dir && $command $options $file 2>$dir/stderr}; # where it may leave what it likes
    $text =~ s{^\S*dprofpp version}{dprofpp version}mg;
    $text = join "\n", sort split /\n/, $text if $any_order && $options !~ /-[TtS]/;
    return ($? == 0 ? 'ok' : 'failed') . "\n$text";
}

# Equal but for the last digit of a number, which a sum of floating point numbers in another order
# may round otherwise.
sub is_alike {
    my ($one, $other) = @_;
    return 1 if $one eq $other;
    my $number = qr/-?[0-9]+\.[0-9]+/;
    return 0 if !$any_order || $one =~ s/$number/N/gr ne $other =~ s/$number/N/gr;
    my @other = $other =~ /$number/g;
    for my $value ($one =~ /$number/g) {
        my $unit = 10**-length($value =~ s/.*\.//r);
        return 0 if abs($value - shift @other) > 1.5 * $unit;
    }
    return 1;
}

sub same_text {
    my ($name, $file, @options) = @_;
    my @wrong = grep { !is_alike(printed($PEER, $_, $file), printed($OURS, $_, $file)) } @options;
    is_deeply(\@wrong, [], "$name: the same text with " . @options . ' sets of options')
        or diag "$wrong[0]\n", printed($PEER, $wrong[0], $file), "we print\n", printed($OURS, $wrong[0], $file);
    return;
}

# A recording of one of the two, made by "peer" or "ours".
sub record {
    my ($impl, $name) = @_;
    my $run = run_prog(impl => $impl, d => '-d:DProf', code => $program{$name});
    system('cp', "$run->{dir}/tmon.out", "$dir/$name.$impl") == 0 or die "$name: no tmon.out of $impl\n";
    return "$run->{status} $run->{signal} $run->{out}";
}

# The mark of a goto is the peer's only: dprofpp counts its branch twice with -S.
for my $name (sort keys %program) {
    scenario $name => sub {
        is record('ours', $name), record('peer', $name), 'the program ends alike';
        my ($ours, $peer) = map { printed($PEER, '-F -T', "$dir/$name.$_") } qw(ours peer);
        if ($name eq 'killed') {
            my $least = length $ours < length $peer ? length $ours : length $peer;
            cmp_ok $least, '>', 20000, 'both have most of it';
            $_ = substr $_, 0, $least for $ours, $peer;
        }
        is $ours, $peer, 'the same calls in the same order';
        my @goto = $name eq 'goto' || $name eq 'autoload' ? () : ('-F -S');
        local $any_order = 1;
        same_text("$name, the peer's", "$dir/$name.peer", '', '-F', '-F -I -r', '-F -t', @goto);
        same_text("$name, ours", "$dir/$name.ours", '-F -a', '-F -R -U -u', '-F -T', '-F -S');
    };
}

# hz, overhead of 10000 calls, run (user, system, real), then the marks.
sub crafted {
    my ($hz, $overhead, $run, $marks) = @_;
    my $path = "$dir/crafted";
    open my $fh, '>', $path or die $!;
    printf $fh "#fOrTyTwO\n\$hz=%d;\n\$XS_VERSION='DProf 20110802.00';\n# All values are given in HZ\n"
        . "\$over_utime=%d; \$over_stime=0; \$over_rtime=%d;\n\$over_tests=10000;\n"
        . "\$rrun_utime=%d; \$rrun_stime=%d; \$rrun_rtime=%d;\n\$total_marks=%d\n\nPART2\n%s",
        $hz, $overhead, $overhead, @$run, scalar(() = $marks =~ /^[-+*] /mg), $marks;
    close $fh or die $!;
    return $path;
}

sub named { return $_[0] =~ /^(.*)::(.*)/ ? "$1 $2" : "main $_[0]" }

# "a(100 b(20)) 5" as marks: a sub, what passes within (as user, a tenth of it as system time).
sub marks {
    my ($text) = @_;
    my (%id, @open, $marks);
    while ($text =~ /([\w:]+)\(|(\))|(\d+)/g) {
        my ($sub, $ticks) = ($1, $3);
        if (defined $ticks) {
            $marks .= sprintf "@ %d %d %d\n", $ticks, $ticks / 10, 2 * $ticks;
        } elsif (defined $sub) {
            $marks .= '& ' . ($id{$sub} = sprintf '%x', 2 + keys %id) . ' ' . named($sub) . "\n" if !$id{$sub};
            $marks .= "+ $id{$sub}\n";
            push @open, $id{$sub};
        } else {
            $marks .= '- ' . pop(@open) . "\n";
        }
    }
    return $marks;
}

my $MIXED = '10 alpha(100 P::beta(1000) 20) 5 alpha(7 alpha(300)) P::__ANON__(50) AUTOLOAD(40 P::beta(2))'
    . ' P::beta(3) P::beta(4) P::beta(P::__ANON__(5)) ' . join ' ', map {"s$_(" . $_ % 3 . ')'} 1 .. 20;

scenario 'all options' => sub {
    same_text('times', crafted(1000, 5000, [4000, 500, 9000], marks($MIXED)),
        '', '-I', '-r', '-s', '-u', '-a', '-l', '-v', '-z', '-U', '-d', '-a -d', '-l -d', '-O 2', '-O 100', '-q',
        '-t', '-T', '-S', '-R', '-A', '-T -R', '-S -r', '-F', '-I -a -u', '-aIq', '-O3', '-E -v', '-V',
        map { ($_, "-T $_", "-t $_", "-S $_") } ('-g main::alpha', '-g P::beta', '-g none::such'));
    same_text('groups', crafted(1000, 0, [4000, 500, 9000], marks($MIXED)), '-G alpha', '-G beta -P',
        q{-G '(alpha)|(beta)' -q}, '-f alpha', '-f ^P -I', '-T -G beta');
    my $file = crafted(100, 30, [4000, 500, 9000], marks($MIXED));
    local $ENV{DPROFPP_OPTS} = '-I -O 3';
    my @texts = map { scalar qx{cd $dir && $_ -a $file} } $PEER, $OURS;
    is $texts[1], $texts[0], 'DPROFPP_OPTS';
};

scenario 'numbers of any size' => sub {
    my $sizes = join ' ', map {"t$_($_)"} 5, 50, 500, 1234, 9999, 12345, 99999, 123456, 1234567;
    same_text('wide', crafted(1000, 0, [1500000, 0, 3000000], marks($sizes)), '', '-S');
    same_text('fractions', crafted(3000, 1, [1234567, 0, 7654321], marks('a(5) b(50) c(500 d())')), '', '-S');
    my $empty = join ' ', map { "n$_() " x $_ } 1, 5, 10, 100, 1000;
    same_text('less than the overhead', crafted($_->[0], $_->[1], [$_->[2], 0, $_->[2]], marks($empty)), '', '-I', '-l', '-S')
        for [1000, 1000, 10000], [1000, 10, 5000], [100, 1, 300], [100, 10000, 7];
};

scenario 'old form, the recorder itself, no end' => sub {
    open my $fh, '>', "$dir/old" or die $!;
    print {$fh} <<'T';
#fOrTyTwO
$hz=100;
$XS_VERSION='DProf 19970606';
# All values are given in HZ
$rrun_utime=200; $rrun_stime=10; $rrun_rtime=700
PART2
+ 26 28 566822884 DynaLoader::import
- 26 28 566822884 DynaLoader::import
+ 27 28 566822885 main::bar
- 57 29 566822986 main::bar
+ 67 30 566822996 main::baz
+ 77 31 566823006 main::bar
- 87 32 566823016 main::bar
- 97 33 566823026 main::baz
T
    close $fh or die $!;
    same_text('old', "$dir/old", '', '-r', '-T', '-S', '-V');
    my $writes = marks('a(100 b(3) W(50) 7)') =~ s/^& \w main W\n//mr =~ s/^([-+]) 4$/$1 & Devel::DProf::write/mgr;
    same_text('the recorder', crafted(1000, 10000, [2000, 0, 2000], $writes), '', '-T', '-S', '-r');
    my $goto = "@ 10 0 10\n& 2 main a\n+ 2\n@ 100 0 100\n& 3 main b\n* 3\n@ 1000 0 1000\n& 4 main c\n+ 4\n@ 7 0 7\n- 4\n"
        . "@ 50 0 50\n- 2\n+ 2\n@ 20 0 20\n* 3\n@ 30 0 30\n* 4\n@ 40 0 40\n- 2\n";
    same_text('goto', crafted(1000, 1000, [2000, 0, 2000], $goto), '', '-I', '-T');
    my $cut = marks('a(100 b(30 c(5))) d(6 e(7))') =~ s/- \w\n\z//r =~ s/- \w\n\z//r;
    same_text('cut off', crafted(1000, 1600, [400, 0, 500], $cut), '', '-F', '-F -T', '-F -S', '-T', '-F -r -I', '-g main::a');
};

# Exit statuses and messages are our own.
scenario 'what cannot be read' => sub {
    my %wanted = ("$dir/nothing" => qr/Unable to open/, "$dir/stderr" => qr/Not a perl profile/);
    for my $file (sort keys %wanted) {
        like printed($OURS, '', $file), qr/^failed\n\z/, 'no output, no success';
        like slurp("$dir/stderr"), $wanted{$file}, 'and why';
    }
    system "$OURS -x $dir/old 2>$dir/stderr";
    is $? >> 8, 2, 'an unknown option';
    my %most = ('' => 50000, '-S' => 2000, '-T' => 2000);
    for my $options (sort keys %most) {
        my $deep = marks('r(' x $most{$options} . ')' x $most{$options});
        like printed($OURS, $options, crafted(1000, 0, [1, 1, 1], $deep)), qr/^ok\n/, "a deep recursion $options";
    }
};

done_testing;
