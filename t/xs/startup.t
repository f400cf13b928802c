# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# nytp startup: every file that is loaded, once, where perl loads it, and all of the time.

use lib 't/lib';
use Recorded qw(folder put slurp);
use Extended;

use Cwd ();
use JSON::PP ();
use List::Util qw(sum0);

my $root = Cwd::abs_path(__FILE__ =~ s{/?[^/]*\z}{/../..}r);
my $bin  = "$root/blib/script";
plan skip_all => 'not built' if !-x "$bin/nytp-export" || !-x "$bin/nytp-startup";
my $libs = "$root/blib/lib:$root/blib/arch";
delete @ENV{qw(PERL5OPT PERL5LIB NYTPROF NYTP_EXPORT)};
chdir folder() or die $!;

sub startup {
    my ($arguments) = @_;
    my $status = system "exec $^X -I$root/blib/lib -I$root/blib/arch $bin/nytp-startup $arguments >out 2>err </dev/null";
    return (slurp('out'), slurp('err'), $status >> 8);
}

sub facts {
    my ($out, $err, $status) = startup("--json @_");
    my $facts = JSON::PP->new->decode($out);
    $facts->{of} = { map { $_->{name} => $_ } @{ $facts->{modules} } };
    return ($facts, $err, $status);
}

sub cost { return sum0(map { @$_{qw(self_ns import_ns begin_ns)} } @_) }

mkdir 'lib';
put('lib/Shared.pm', "package Shared; sub import {} select undef, undef, undef, .02; sub used { 1 } sub other { 2 } 1;\n");
put('lib/Only.pm', "package Only;\nsub unused { 1 }\nsub import { select undef, undef, undef, .03 }\n1;\n");
put('lib/First.pm', "package First;\nuse Shared;\nuse Only;\nBEGIN { select undef, undef, undef, .04 }\n1;\n");
put('lib/Second.pm', "package Second;\nuse Shared;\nBEGIN { eval { require Not::There } }\nsub work { Shared::used() }\n1;\n");
put('app.pl', "#!perl\nuse lib 'lib';\nuse First;\nuse Second;\nprint STDERR \"ran\\n\";\nSecond::work();\nrequire './late.pl';\n");
put('late.pl', "1;\n");

subtest 'the time of a load, of an import and of a block is where it was spent, and all adds up' => sub {
    my ($facts, $err, $status) = facts('app.pl');
    my $of = $facts->{of};
    is $status, 0;
    unlike $err, qr/^ran/m, 'the body does not run';
    is cost(@{ $facts->{modules} }), $facts->{total_ns}, 'to the nanosecond';
    cmp_ok $of->{Shared}{self_ns},  '>=', 19e6, 'a body';
    cmp_ok $of->{Only}{import_ns},  '>=', 28e6, 'an import';
    cmp_ok $of->{First}{begin_ns},  '>=', 38e6, 'a BEGIN block';
    cmp_ok $of->{First}{incl_ns},   '>=', 85e6, 'with what it loads';
    is $of->{Shared}{parent}, 'First', 'who loaded it';
    is_deeply $of->{Shared}{asked}, ['lib/First.pm:2', 'lib/Second.pm:2'], 'who asked';
    is $of->{First}{saves_ns}, cost(@$of{qw(First Only)}), 'what another asks for is not saved';
    cmp_ok $of->{Shared}{saves_ns}, '<', $of->{Shared}{self_ns}, 'nor by the first who asks';
    is_deeply [@{ $of->{Shared} }{qw(lines subs bytes files)}], [1, 3, -s 'lib/Shared.pm', 1], 'its size';
    is $of->{First}{files}, 3, 'files with those below';
    ok !$of->{'Not::There'}{found}, 'what was not found';
    cmp_ok $of->{'Not::There'}{misses}, '>', 3, 'cost a look into all of @INC';
    is $of->{First}{misses}, 0, 'what the first folder had, none';
};

subtest 'with --run what is loaded at run time counts' => sub {
    my ($facts, $err) = facts('--run app.pl');
    like $err, qr/^ran/m;
    is $facts->{of}{'./late.pl'}{parent}, 'app.pl';
    is cost(@{ $facts->{modules} }), $facts->{total_ns};
};

subtest 'modules of which a full run called no sub' => sub {
    local $ENV{PERL5LIB} = $libs;
    system("NYTPROF=file=full.out $^X -d:NYTProf app.pl 2>err") == 0 or die slurp('err');
    my ($facts) = facts('--unused=full.out app.pl');
    my @unused = sort map { $_->{name} } grep { $_->{unused} } @{ $facts->{modules} };
    is join(' ', grep { !/\A(?:vars|warnings::register)\z/ } @unused), 'Only'; # those two perl 5.20 loads itself
    my ($out) = startup('--unused=full.out app.pl');
    like $out, qr/^no sub of it was called: Only, saves /m;
};

subtest 'one file under two names' => sub {
    put('twice.pl', "use lib 'lib';\nuse Shared;\nrequire './lib/Shared.pm';\n");
    my ($facts) = facts('--run twice.pl');
    is_deeply [map { $_->{names} } @{ $facts->{loaded_twice} }], [['Shared', './lib/Shared.pm']];
};

# Files that die, at each point, leave what is around them as it is.
put('lib/Dies.pm', "package Dies;\nuse Shared;\ndie \"in the body\\n\";\n");
put('lib/Broken.pm', "package Broken;\nuse Shared;\nsub {;\n");
put('lib/False.pm', "package False;\n0;\n");
put('lib/Leaves.pm', "package Leaves;\nsub import { no warnings; last SKIP }\n1;\n");
put('dies.pl', <<'P');
use lib 'lib';
BEGIN {
    for my $file (qw(Dies.pm Broken.pm False.pm Gone.pm)) {
        print STDERR "$file: ", eval { require $file } // $@ =~ s/ \(\@INC.*//sr, "\n";
    }
    print STDERR 'do: ', (do './lib/False.pm'), "\n";
    SKIP: { require Leaves; Leaves->import }
    print STDERR "INC: @INC[0, 1] $^C ", join(',', (caller 0)[3]), "\n";
    require 5.006;
}
use First;
P
subtest 'a program whose files die behaves as without us' => sub {
    my ($facts, $err, $status) = facts('--run dies.pl');
    my $alone = qx{$^X dies.pl 2>&1};
    is $err, $alone, 'messages, @INC, callers';
    is $status, 0;
    is cost(@{ $facts->{modules} }), $facts->{total_ns}, 'the time adds up';
    is $facts->{of}{First}{parent}, 'dies.pl', 'nothing that died is still open';
    is $facts->{of}{$_}{parent}, 'dies.pl', $_ for qw(Dies Broken False Gone Leaves);
    put('bad.pl', "use lib 'lib'; use Dies;\n");
    my (undef, undef, $failed) = startup('bad.pl');
    is $failed, 255, 'the exit status is the program\'s';
};

# Perl code around require is the simplest witness; it sees the order and who loads whom.
put('Witness.pm', <<'P');
package Witness;
my (@open, @seen);
BEGIN {
    *CORE::GLOBAL::require = sub {
        my ($file) = @_;
        return CORE::require($file) if $file !~ /[a-z]/ || exists $INC{$file};
        push @seen, (@open ? $open[-1] : '-') . " $file";
        push @open, $file;
        my $got = eval { CORE::require($file) };
        my $why = $@;
        pop @open;
        die $why if !defined $got;
        return $got;
    };
}
CHECK { print "$_\n" for @seen }
1;
P
my $n_sets = 0;
for my $modules (qw(Test::More CPAN Mojolicious Moose)) {
    next if system("$^X -M$modules -e 1 >out 2>&1") != 0;
    $n_sets++;
    my @seen = split /\n/, qx{$^X -I. -Mstrict -MWitness -M$modules -c -e 1 2>err};
    my ($facts) = facts("-M$modules");
    my $file = sub { $_[0] =~ /\A[\w:]+\z/ ? $_[0] =~ s{::}{/}gr . '.pm' : $_[0] };
    # It does not see what is loaded by CORE::require.
    my %witnessed = map { (split)[1] => 1 } @seen;
    my $above = sub {
        my $row = $facts->{of}{ $_[0]{parent} };
        $row = $facts->{of}{ $row->{parent} } while $row->{parent} && !$witnessed{ $file->($row->{name}) };
        return $row->{parent} ? $file->($row->{name}) : '-';
    };
    my @ours = map { $above->($_) . ' ' . $file->($_->{name}) }
        grep { $_->{parent} && $witnessed{ $file->($_->{name}) } } @{ $facts->{modules} };
    is join("\n", @ours), join("\n", @seen), "$modules: each file of " . @seen . ' in the order and place of a require wrapper';
    is cost(@{ $facts->{modules} }), $facts->{total_ns}, 'and all of the time';
}
cmp_ok $n_sets, '>=', 2, 'module sets were there';

subtest 'as a profile for nytp export: viewers and gates' => sub {
    startup('-o start.prof app.pl');
    put('rules', "calls Only::require <= 0\n");
    my $gate = system "$bin/nytp-export -q --top --gate=rules start.prof >out 2>err";
    is $gate >> 8, 10, 'a module that must not be loaded: ' . slurp('err');
    put('rules', "calls Moose::require <= 0 or absent\ntime total <= 1000 s\n");
    $gate = system "$bin/nytp-export -q --top --gate=rules start.prof >out 2>err";
    is $gate >> 8, 0, 'and one that is not: ' . slurp('err');
    my ($out) = startup('--as=collapsed app.pl');
    like $out, qr/^main::RUNTIME;First::use;First::require;Only::use \d+$/m;
};

subtest 'an answer that cannot be written is no success' => sub {
    plan skip_all => 'no /dev/full' if !-c '/dev/full';
    for my $how ('--json -o /dev/full', '-o /dev/full', '--json -o gone/x', '-o gone/x', '--json >/dev/full', '>/dev/full') {
        my ($options, $to) = split /(?=>)/, $how;
        my $status = system "$^X -I$root/blib/lib -I$root/blib/arch $bin/nytp-startup $options late.pl " . ($to // '') . ' 2>err';
        is $status >> 8, 4, $how;
        like slurp('err'), qr{^nytp-startup: cannot write (?:/dev/full|gone/x|-): (?:No space|No such file).*\n\z}m, 'is said';
    }
    my ($out) = startup('-o - late.pl');
    like $out, qr/\A#fOrTyTwO\n/, '-o - is standard output';
};

subtest 'a FIFO that is loaded is read once' => sub {
    system('mkfifo', 'fifo') == 0 or die 'no mkfifo';
    my $pid = fork // die;
    if (!$pid) {
        open my $to, '>', 'fifo' or die;
        print $to "print STDERR qq(from it\n);\n";
        close $to;
        require POSIX;
        POSIX::_exit(0);
    }
    put('of_fifo.pl', "do './fifo';\n");
    system "$^X -e 'alarm 60; exec \@ARGV' $^X -I$root/blib/lib -I$root/blib/arch $bin/nytp-startup --run of_fifo.pl >out 2>err </dev/null";
    is $?, 0, 'nobody waits for more';
    kill TERM => $pid;
    waitpid $pid, 0;
    is slurp('err'), "from it\n", 'the program has had it';
    like slurp('out'), qr{ \./fifo  <- of_fifo\.pl:1$}m, 'and it is in the tree';
};

subtest 'names steer no terminal' => sub {
    put("odd\e[31m\xc2\x9b.pl", "1;\n");
    put('odd.pl', "require './odd\e[31m\xc2\x9b.pl';\n");
    my ($out) = startup('--percent=0 --run odd.pl');
    like $out, qr{ \./odd\?\[31m\?\.pl  <- odd\.pl:1$}m, 'in the tree';
    unlike $out, qr/[\e\x9b]/, 'nor elsewhere';
};

subtest 'what the terminal sends both is the program\'s alone' => sub {
    put('interrupts.pl', '@SIG{qw(INT QUIT)} = ("IGNORE") x 2; kill $_ => getppid for qw(INT QUIT); print STDERR "goes on\n";');
    local @SIG{qw(INT QUIT)} = ('DEFAULT') x 2;
    my ($out, $err, $status) = startup('--run interrupts.pl');
    is "$err$status", "goes on\n0", 'the program has handled it';
    like $out, qr/^interrupts\.pl: .* and has run, /, 'and is told of';
};

subtest 'the status is the program\'s, also without an answer' => sub {
    mkdir 'tmp' or die $!;
    local $ENV{TMPDIR} = 'tmp';
    local @SIG{qw(INT QUIT)} = ('DEFAULT') x 2;
    my %ends = ('kill TERM => $$; sleep 9' => 15, 'kill INT => $$; sleep 9' => 2, 'require POSIX; POSIX::_exit(3)' => 3 << 8, 'require POSIX; POSIX::_exit(0)' => 4 << 8);
    for my $code (sort keys %ends) {
        put('ends.pl', "$code;\n");
        system "exec $^X -I$root/blib/lib -I$root/blib/arch $bin/nytp-startup --run ends.pl >out 2>err </dev/null";
        is $?, $ends{$code}, $code;
        is slurp('err'), "nytp-startup: the program ended before perl could tell what it loads\n", 'which is said';
    }
    is join(' ', glob 'tmp/*'), '', 'no folder is left';
};

subtest 'one clear line for wrong usage' => sub {
    for (['', qr/which program/], ['--nonsense app.pl', qr/unknown option --nonsense/], ['--json --as=top app.pl', qr/exclude/]) {
        my ($out, $err, $status) = startup($_->[0]);
        is "$status $out", '2 ', $_->[0];
        like $err, qr/\Anytp-startup: .*$_->[1].*\n\z/;
    }
};

chdir '/';
done_testing;
