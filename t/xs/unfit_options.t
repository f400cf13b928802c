# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Options beside others: each that was given changes the profile, or a line says that it does nothing, and why. Which those are
# is XS/options/unfit.def, read here too; whether it is true the profiles tell.

use lib 't/lib';
use NYTPTest;

my $ROOT    = root();
my $LIBRARY = "$ROOT/blib/arch/auto/Devel/NYTProf/libnytp-malloc.so";
my %MODES   = (
    ALWAYS => '', EXACT => '', SAMPLED => 'sample=100', ONLY_SAMPLED => 'sample=100', NO_STMTS => 'stmts=0', NO_SUBS => 'subs=0',
    NO_ENTRIES => 'calls=1', COUNTS => 'counts=1', DB_SUB => 'use_db_sub=1', NO_SVS => 'svs=0', NO_MEMORY => '',
);

sub text { open my $fh, '<', "$ROOT/XS/options/$_[0]" or die "$_[0]: $!"; local $/; return <$fh> }

my %IS_TEXT = map { $_ => 1 } text('options.def') =~ /^NYTP_TEXT\((\w+)/mg;
my @UNFIT   = text('unfit.def') =~ /^NYTP_UNFIT\((\w+), (\d+), (\d+), (\w+), "(.*)"\)$/mg;
my @rows;
push @rows, [ splice @UNFIT, 0, 5 ] while @UNFIT;

# A program in which each option that can be seen in a profile is seen.
my $PROGRAM = <<'P';
sub outer { my @l = sort { $a <=> $b } 3, 1, 2; return inner(@l) }
sub inner { my $s = "@_"; $s =~ s/(\d)/<$1>/g; return sub { eval '1; $s' }->() }
our @kept = map { [outer()] } 1 .. 25;
@kept = sort { my @l = sort { $a cmp $b } 3, 1; scalar @$a <=> scalar @$b } @kept;
print "ran\n";
P

# One for sql=1.
my $QUERY   = "require DBI; DBI->connect('dbi:Mem:', undef, undef, { RaiseError => 1 })->do('CREATE TABLE t (a INTEGER)'); print qq(ran\\n);";
my $has_dbi = eval { require DBI; 1 };

sub told { return $_[0]{err} =~ /^Devel::NYTProf: option (\S+ does nothing: .*)$/mg }

sub ran {
    my ($opts, $option) = @_;
    my $run = run_prog(code => $option eq 'sql' ? $QUERY : $PROGRAM, opts => $opts, env => { LD_PRELOAD => -e $LIBRARY ? $LIBRARY : '' });
    die "$opts: $run->{status} $run->{out}" if "$run->{status} $run->{out}" ne "0 ran\n";
    return $run;
}

# What tells one way of recording from another, of what comes out the same each time.
sub kinds {
    my ($run, $is_sampled) = @_;
    my $p     = profile_in($run);
    my %kinds = map { ("$_=" . ($p->{attr}{$_} // '') => 1) } qw(clock_id sample_clock);
    return join ' ', sort keys %kinds if $is_sampled;
    $kinds{blocks}++    if @{ $p->{block} };
    $kinds{rests}++     if $p->{discounts};
    $kinds{entries}++   if @{ $p->{entry} };
    $kinds{returns}++   if @{ $p->{ret} };
    $kinds{statements}++ if stmt_total($p);
    $kinds{$_}++ for map { /\A(nytp-(?:calls|label|regex|svs|alloc))\b/ } @{ $p->{comments} };
    $kinds{"$_->{caller} $_->{callee}"}++ for grep { $_->{callee} =~ /main::|CORE::/ } @{ $p->{arc} };
    return join ' ', sort keys %kinds;
}

scenario 'each row is told in one line, and only once' => sub {
    for my $row (@rows) {
        my ($option, $lowest, $highest, $mode, $why) = @$row;
        die "$mode is no mode of this test" if !defined $MODES{$mode};
        for my $value ($IS_TEXT{$option} ? 'cpu' : $lowest == $highest ? $lowest : ($lowest, $highest)) {
            my $opts = join ':', grep { length } $MODES{$mode}, "$option=$value";
            my $run = run_prog(code => 'DB::finish_profile(); DB::enable_profile();', opts => $opts);
            is join("\n", told($run)), "$option=$value does nothing: $why", $opts;
        }
    }
};

scenario 'all options have come when it is told' => sub {
    my $run = run_prog(code => '1;', opts => 'sample_clock=cpu:sql=1', d => '-d:NYTProf=sample=100,sql=0');
    is $run->{err}, '', 'those on the switch count';
    is join("\n", told(run_prog(code => '1;', opts => 'subs=0:sql=1:start=no'))), 'sql=1 does nothing: it takes subs=1', 'though nothing is recorded';
    $run = run_prog(code => 'require Devel::NYTProf; DB::set_option("sql", 1); DB::set_option("subs", 0); DB::enable_profile();', opts => 'start=no');
    is join("\n", told($run)), 'sql=1 does nothing: it takes subs=1', 'of a program that sets them itself';
    like profile_in(run_prog(code => '1;', opts => 'sample=100:control=ctl:sql=1'))->{attr}{sample_clock}, qr/wall/, 'nytp-ctl may ask for an exact profile';
    is run_prog(code => '1;', opts => 'sample=100:control=ctl:sql=1:findcaller=1:leave=0')->{err}, '', 'which these are for';
};

# In sampled profiles only what does not hang on chance is compared here: bytes.t, regexes.t, slowops.t and sampling.t have the rest.
slow_scenario 'what is not told changes the profile' => sub {
    my @asked = qw(blocks=1 counts=1 use_db_sub=1 slowops=1 findcaller=1 calls=1 regex=1 memory=1 memory=512 sql=1 clock=0 sample_clock=cpu);
    for my $mode ('', 'stmts=0', 'subs=0', 'calls=0', 'use_db_sub=1', 'slowops=0', 'sample=100', 'counts=1') {
        my $is_sampled = $mode =~ /sample/;
        my %before     = map { ($_ => kinds(ran($mode, $_), $is_sampled)) } 'most', $has_dbi ? 'sql' : ();
        for my $asked (@asked) {
            my ($option) = $asked =~ /(\w+)=/;
            next if $mode =~ /\A$option=/ || ($option eq 'sql' && !$has_dbi) || ($asked eq 'memory=512' && !-e $LIBRARY);
            next if $mode eq 'slowops=0' && $option eq 'findcaller'; # callers are the same where no builtin is one
            next if $mode eq 'counts=1' && $option eq 'use_db_sub';  # the same counts, taken in another way
            my $run  = ran(join(':', grep { length } $mode, $asked), $option);
            my $told = grep { /\A$option=/ } told($run);
            my $changes = kinds($run, $is_sampled) ne ($before{$option} // $before{most});
            ok !($told && $changes), "$asked beside '$mode': not told without need";
            ok $told || $changes || ($is_sampled && $option =~ /\A(?:slowops|calls|regex|memory)\z/), "$asked beside '$mode': told, or seen";
        }
    }
};

done_testing;
