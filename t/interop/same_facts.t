# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# The same programs under Devel::NYTProf (Debian's, as it is) and under ours: every fact that does
# not depend on time is equal, but for what DIFFERENCES.md lists. A row there that no difference
# needs any more fails, as does a difference without a row.

use lib 't/lib';
use NYTPTest;

# Ours with use_db_sub=1 is held against the other's normal mode: it is to tell the same.
my @OPTIONS = ('calls=2', 'start=init:calls=1', 'calls=1:slowops=0:blocks=1', 'use_db_sub=1:savesrc=0:calls=1');
sub peer_options { return $_[0] =~ s/use_db_sub=1:?//r }

# The path of the Devel::NYTProf that a run really loads.
sub loaded_from {
    return run_perl(impl => $_[0], opts => 'start=no', args => ['-e', 'print $INC{"Devel/NYTProf.pm"}'])->{out};
}

my $peer = loaded_from('peer');
plan skip_all => 'Devel::NYTProf is not installed' if $peer !~ m{/Devel/NYTProf\.pm\z};
my $second = $ENV{NYTP_IMPL} || 'ours';
isnt $peer, loaded_from($second), 'two recorders' if $second ne 'peer';

# Rows "| side | program | options | fact | reason |"; all but side and reason are regexes.
sub read_rows {
    open my $fh, '<', "t/interop/DIFFERENCES.md" or die "DIFFERENCES.md: $!";
    my @rows;
    while (<$fh>) {
        chomp;
        my ($side, $program, $options, $fact, $reason) = m{^\|\s*(peer|ours|both)\s*\|\s*`(.*?)`\s*\|\s*`(.*?)`\s*\|\s*`(.*?)`\s*\|\s*(\S.*?)\s*\|$} or next;
        s/\\\|/|/g for $program, $options, $fact;
        push @rows, {
            line => $., side => $side, program => qr/\A(?:$program)\z/,
            options => qr/\A(?:$options)\z/, fact => qr/\A(?:$fact)\z/, used => 0,
        };
    }
    return @rows;
}

sub facts {
    my ($p, $dir) = @_;
    my %f;
    my %file = map {
        my $name = $p->{fid}{$_}{name};
        $name =~ s{\A\Q$dir\E/}{};
        $name =~ s{/loader/0x[0-9a-f]+/}{/loader/ADDRESS/};
        ($_ => $name);
    } keys %{ $p->{fid} };
    my $at = sub { my $n = $file{ $_[0] }; return defined $n ? $n : "?$_[0]" };
    for my $fid (keys %file) {
        my $f = $p->{fid}{$fid};
        $f{"file $file{$fid}" . ($f->{eval_fid} ? " eval of $file{ $f->{eval_fid} }:$f->{eval_line}" : '')}++;
        my $src = $p->{src}{$fid};
        $f{"source $file{$fid}"}++ if $src && grep { /\S/ } values %$src;
    }
    for my $fid (keys %{ $p->{stmt} }) {
        my $counts = stmt_counts($p, $fid);
        $f{"stmt $file{$fid}:$_ x$counts->{$_}"}++ for keys %$counts;
    }
    for my $name (keys %{ $p->{sub} }) {
        $f{"sub $name " . $at->($_->[0]) . ":$_->[1]-$_->[2]"}++ for @{ $p->{sub}{$name} };
    }
    $f{"marker $_"}++ for keys %{ $p->{marker} };
    for my $a (@{ $p->{arc} }) {
        $f{"arc $a->{caller} " . $at->($a->{fid}) . ":$a->{line} $a->{callee} x$a->{count} depth $a->{depth}"}++;
    }
    my %block;
    $block{"block " . $at->($_->[1]) . ":$_->[2] of $_->[3] of $_->[4]"}++ for @{ $p->{block} };
    %f = (%f, map { $_ => 1 } keys %block);
    my %ret;
    $ret{"return $_->[3] at depth $_->[0]"}++ for @{ $p->{ret} };
    $f{"$_ x$ret{$_}"}++ for keys %ret;
    return \%f;
}

my @rows = read_rows();
ok @rows > 0 || !-s 't/interop/DIFFERENCES.md', 'rows were read';
my @programs = sort glob root() . '/t/interop/programs/*.pl';
cmp_ok scalar @programs, '>=', 20, 'twenty programs';
my ($compared, %same) = (0);
for my $path (@programs) {
    my ($name) = $path =~ m{([^/]+)\.pl$};
    scenario $name => sub {
        for my $opts (@OPTIONS) {
            my %got;
            for my $impl ('peer', $second) {
                my $run = run_perl(
                    impl => $impl, opts => $impl eq 'peer' ? peer_options($opts) : $opts,
                    how => 'db', args => [$path],
                    env => { PERL5DB => 'use XSLoader; use Devel::NYTProf', PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0 },
                );
                is $run->{status}, 0, "$opts: $impl runs" or diag $run->{err};
                my $p = profile_in($run);
                ok $p && $p->{complete}, "$opts: $impl: whole" or return;
                (my $dir = $path) =~ s{/[^/]+$}{};
                $got{$impl eq 'peer' ? 'peer' : 'ours'} = facts($p, $dir);
                $got{"out $impl"} = $run->{out} =~ s/io-\d+//gr;
            }
            $got{ours} ||= $got{peer};
            is $got{"out $second"}, $got{'out peer'}, "$opts: output";
            my @unlisted;
            for my $side (['peer', 'ours'], ['ours', 'peer']) {
                my ($here, $there) = @got{@$side};
                for my $fact (sort keys %$here) {
                    $compared++, next if exists $there->{$fact};
                    my @match = grep {
                        ($_->{side} eq 'both' || $_->{side} eq $side->[0])
                          && $name =~ $_->{program} && $opts =~ $_->{options} && $fact =~ $_->{fact}
                    } @rows;
                    $_->{used}++ for @match;
                    push @unlisted, "$side->[0] only: $fact" if !@match;
                }
            }
            is scalar(@unlisted), 0, "$opts: no difference that is not listed"
              or diag map { "$_\n" } @unlisted > 60 ? (@unlisted[0 .. 59], @unlisted - 60 . q( more)) : @unlisted;
        }
    };
}
scenario 'BEGIN blocks have the same numbers, though ours sees the program load XSLoader' => sub {
    my $module = "package Mine;\n" . "use strict; use warnings;\n" x 8 . "require XSLoader;\n1;\n";
    my %names;
    for my $impl ('peer', $second) {
        my $run = run_prog(impl => $impl, files => { 'Mine.pm' => $module }, code => <<'P');
use lib '.'; use Mine; use XSLoader;
eval 'no warnings; no strict; 1' or die for 1 .. 4;
P
        my @ran = map { $_->{callee} } @{ profile_in($run)->{arc} };
        $names{$impl} = join "\n", sort grep { /::BEGIN@/ && !/\.0\z/ } @ran;
    }
    is $names{$second}, $names{peer}, 'the names';
    cmp_ok scalar(() = $names{peer} =~ /\.\d+$/gm), '>=', 15, 'with many numbers';
};

for my $row (@rows) {
    ok $row->{used} || $second eq 'peer', "DIFFERENCES.md line $row->{line} is still needed";
}
cmp_ok $compared, '>', 10_000, "$compared equal facts";

done_testing;
