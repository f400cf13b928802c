# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# memory=1: SVs made less freed, by sub, line and call, of programs of which they are known.

use lib 't/lib';
use NYTPTest;

use Config;
use JSON::PP ();
use List::Util qw(sum0);

my $EXPORT = root() . '/bin/nytp-export';
plan skip_all => 'nytp-export is not built' if !-x $EXPORT;

# {subs => {NAME => "OWN INCLUSIVE"}, lines => {LINE of prog.pl => N}, calls => {"CALLER CALLEE LINE" => N}, total},
# without what is 0.
sub svs_of {
    my ($file, @how) = @_;
    my $json = JSON::PP::decode_json(scalar `'$EXPORT' -q --json @how '$file'`);
    my (%svs, @name) = (total => $json->{subs}[0]{inclusive_svs});
    @name = map { $_->{name} =~ s/^main:://r } @{ $json->{subs} };
    for (@{ $json->{subs} }) { $svs{subs}{ $_->{name} =~ s/^main:://r } = "$_->{svs} $_->{inclusive_svs}" if $_->{svs} || $_->{inclusive_svs} }
    for (@{ $json->{lines} }) { $svs{lines}{ $_->{line} } += $_->{svs} if $_->{svs} && $json->{files}[$_->{file}]{name} =~ /prog\.pl$/ }
    for (@{ $json->{calls} }) { $svs{calls}{"$name[$_->{caller}] $name[$_->{callee}] $_->{line}"} += $_->{inclusive_svs} if $_->{inclusive_svs} }
    delete $svs{lines}{$_} for grep { !$svs{lines}{$_} } keys %{ $svs{lines} };
    is sum0(map { $_->{svs} } @{ $json->{lines} }), $svs{total}, 'lines add up to all';
    is sum0(map { $_->{svs} } @{ $json->{subs} }), $svs{total}, 'and so do subs';
    return \%svs;
}

sub of_code { my %how = @_; return svs_of(run_prog(%how, opts => join ':', 'memory=1', $how{opts} // ())->{dir} . '/nytprof.out') }

# The values that subs of a program make and keep, own and inclusive. An array of n elements that is kept is n + 2: itself and
# the reference to it. Temporaries live until the next statement begins, those of a sub's last one in its caller's. With
# an old perl one more of a sub that ends by goto &sub, or by die, is its caller's to free.
my ($goto, $die) = map { $] < $_ ? 5 : 0 } 5.023, 5.025;
my @known = (
    ['what is kept', 'sub f { push @k, [1, 2, 3]; 1 } f() for 1 .. 7;', { f => '35 35' }],
    ['what is freed where it was made', 'sub f { my @a = map { [$_] } 1 .. 9; @a = (); 1 } f() for 1 .. 5;', {}],
    ['made here, freed there', 'sub f { push @k, [1, 2]; 1 } sub g { @k = (); 1 } f() for 1 .. 6; g();', { f => '24 24', g => '-24 -24' }],
    ['temporaries of the last statement', 'sub f { push @k, [1] } f() for 1 .. 5;', { f => '20 20' }, sub { is $_[0]{total}, 15, 'are freed' }],
    ['a call below', 'sub in { push @k, [1]; 1 } sub out { in(); in(); push @k, {}; 1 } out() for 1 .. 4;', { in => '24 24', out => '8 32' }],
    ['recursion counts once', 'sub r { push @k, []; r($_[0] - 1) if $_[0]; 1 } r(5); @k = (); r(5);', undef,
        sub { my ($own, $incl) = split / /, $_[0]{subs}{r}; is $own, $incl, 'own is inclusive' }],
    ['die through subs, whose error is a value, too', 'sub f { push @k, [1]; die "x\n" } sub g { push @k, []; f() } eval { g() } for 1 .. 5;', { f => join(' ', (20 + $die) x 2), g => '10 ' . (30 + $die) }],
    ['goto &sub', 'sub f { push @k, [1]; 1 } sub g { push @k, []; goto &f } g() for 1 .. 5;', { f => '15 15', g => join ' ', (10 + $goto) x 2 }],
    ['loop jumps', 'sub f { for (1 .. 3) { push @k, []; next if $_ == 2; push @k, []; last if $_ == 3 } 1 } f() for 1 .. 2;', { f => '20 20' }],
    ['return out of blocks', 'sub f { for (1 .. 3) { if ($_ == 2) { push @k, []; return } } } f() for 1 .. 4;', { f => '8 8' }],
    ['a sort block', 'sub f { my @s = sort { push @k, []; $a <=> $b } 2, 1; @s = (); 1 } f() for 1 .. 3;', { f => '0 6' }],
    ['a destructor', 'sub D::DESTROY { push @k, [1]; 1 } sub f { my $d = bless [], "D"; 1 } f() for 1 .. 4;', undef,
        sub { my ($own, $incl) = split / /, $_[0]{subs}{f}; is $_[0]{subs}{'D::DESTROY'}, '12 12', 'its own'; is $incl - $own, 12, "and of who left the scope" }],
    ['a string eval', 'sub f { eval q{push @k, [1]; 1}; 1 } f() for 1 .. 40;', undef, sub { is((split / /, $_[0]{subs}{f})[1], 120, 'what it keeps, and nothing of ours') }],
    ['an xsub', 'use List::Util; sub f { push @k, List::Util::sum(1, 2); 1 } f() for 1 .. 5;', { f => '5 5' }],
);

scenario 'known programs come out to the SV' => sub {
    for (@known) {
        my ($name, $code, $subs, $more) = @$_;
        my $svs = of_code(code => "our \@k; $code\n1;\n");
        my %own = map { /^(?:[a-z]\w*|D::\w+)\z/ ? ($_ => $svs->{subs}{$_}) : () } keys %{ $svs->{subs} };
        is_deeply \%own, $subs, $name if $subs;
        $more->($svs) if $more;
    }
};

scenario 'lines and calls' => sub {
    my $svs = of_code(code => <<'P');
our @k;
sub f {
    push @k, [1, 2];
    my @gone = ([], []);
    @gone = ();
    push @k, {};
    1;
}
f();
for my $i (1 .. 3) { f() }
@k = ();
1;
P
    is "@{$svs->{lines}}{3, 4, 5, 6}", '16 16 -16 8', 'each line its own';
    is $svs->{lines}{11}, -24, 'what a line frees is below 0';
    is "@{$svs->{calls}}{'RUNTIME f 9', 'RUNTIME f 10'}", '6 18', 'each call its own';
};

scenario 'how often the program goes round changes nothing that it gives back' => sub {
    my $code = <<'P';
my $n = shift; our $kept;
sub down { my $d = shift; return $d ? down($d - 1) : 0 } down(9);
for (1 .. $n) { my $v = eval "1 + $_"; $v = eval { die { a => 1 } }; eval q{sub n { [] }}; n(); undef &n; }
for (1 .. $n) { my @s = sort { $a <=> $b } map { $_ * 2 } 1 .. 5; my $c = eval 'sub { my $x = [@_]; sub { $x } }'; $c->(1)->(); }
sub jump { goto &made } sub made { return [ @_ ] } for (1 .. $n) { my @all = map { jump(1, 2) } 1 .. 3 }
1;
P
    my ($few, $many) = map { of_code(code => $code, args => [$_]) } 3, 60;
    is $many->{total}, $few->{total}, 'the recorder keeps none that counts';
    my ($once, $often) = map { of_code(code => 'my $n = shift; for (1 .. $n) { eval q{sub nm { 1 }} } 1;', args => [$_]) } 3, 6000;
    is $often->{total}, $once->{total}, 'nor is what it lets go of taken off';
    is of_code(code => 'require Text::ParseWords; 1;', opts => $_)->{total}, of_code(code => 'require Text::ParseWords; 1;')->{total}, $_
        for qw(savesrc=0 slowops=0 blocks=1);
};

scenario 'off, on again, another file' => sub {
    my $run = run_prog(opts => 'memory=1', code => <<'P');
our @k; sub f { push @k, [1]; 1 }
f() for 1 .. 3; DB::disable_profile(); f() for 1 .. 20; DB::enable_profile(); f(); DB::enable_profile('second.out'); f() for 1 .. 4;
1;
P
    is svs_of("$run->{dir}/nytprof.out")->{subs}{f}, '12 12', 'four of the first';
    is svs_of("$run->{dir}/second.out")->{subs}{f}, '12 12', 'four of the second';
};

scenario 'a child counts from the fork on, a thread its own; together they add up' => sub {
    my $run = run_prog(opts => 'memory=1', code => <<'P');
our @k; sub f { push @k, [1]; 1 }
f() for 1 .. 3;
if (my $pid = fork) { waitpid $pid, 0 } else { f() for 1 .. 5; exit }
1;
P
    my ($child) = grep { !/nytprof\.out\z/ } glob "$run->{dir}/nytprof.out*";
    is svs_of("$run->{dir}/nytprof.out")->{subs}{f}, '9 9', 'the parent';
    is svs_of($child)->{subs}{f}, '15 15', 'the child';
    my $both = JSON::PP::decode_json(scalar `'$EXPORT' -q --json '$run->{dir}/nytprof.out' '$child'`);
    is $_->{svs}, 24, 'both' for grep { $_->{name} eq 'main::f' } @{ $both->{subs} };
    plan skip_all => 'perl without threads' if !$Config{useithreads};
    $run = run_prog(opts => 'memory=1', code => <<'P');
use threads;
our @k; sub f { push @k, [1]; 1 }
f() for 1 .. 2; threads->create(sub { f() for 1 .. 6; 1 })->join;
1;
P
    is join(' ', map { svs_of($_)->{subs}{f} } sort glob "$run->{dir}/nytprof.out*"), '6 6 18 18', 'the first and the second';
};

scenario 'nothing without the option' => sub {
    unlike exported(run_prog(code => 'my $x = [];'), '--json'), qr/svs\w*":/, 'no number';
};

done_testing;
