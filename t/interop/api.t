# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# The same programs and commands on the stock modules and on ours say the same. What may differ
# is listed, with the reason, in api/differences.md.

use lib 't/lib';
use Recorded qw(shared folder slurp);

use Cwd qw(getcwd);

my $here = 't/interop/api';
my $top = getcwd();
my %ours = (PERL5LIB => join ':', map {"$top/blib/$_"} qw(lib arch));
my %stock = (PERL5LIB => '');

# Standard output and exit status of a perl program, in either world.
sub run_in {
    my ($world, @command) = @_;
    local @ENV{keys %$world} = values %$world;
    delete local $ENV{PERL5OPT};
    my $out = folder() . '/run.out';
    my $pid = fork;
    die "fork: $!" if !defined $pid;
    if (!$pid) {
        open STDOUT, '>', $out or die;
        open STDERR, '>', "$out.err" or die;
        exec @command or die;
    }
    waitpid $pid, 0;
    return ($?, slurp($out), slurp("$out.err"));
}

{
    my ($status, $version) = run_in(\%stock, $^X, '-MDevel::NYTProf::Data', '-e',
        'print $INC{"Devel/NYTProf/Data.pm"}');
    plan skip_all => 'the stock modules are not installed' if $status || $version =~ /\bblib\b/;
}

# -- the document

my (@differences, @unread);
for (split /\n/, slurp("$here/differences.md")) {
    my @cell = map { s/\A\s+|\s+\z//gr =~ s/\\\|/|/gr } split /(?<!\\)\|/;
    shift @cell;
    if (@cell == 4 && $cell[1] =~ /\A`(.+)`\z/) {
        my $profiles = $1;
        my ($lines) = $cell[2] =~ /\A`(.+)`\z/;
        push @differences, {
            program => $cell[0], profiles => qr/$profiles/, lines => qr/$lines/,
            text => "$cell[0] $cell[2]", why => $cell[3],
        };
    } elsif (@cell == 2 && $cell[0] =~ /\A`(.+)`\z/) {
        push @unread, {profiles => qr/$1/, ours => $cell[1]};
    }
}
cmp_ok(scalar @differences, '>', 5, 'differences.md lists differences');
ok(!(grep { length $_->{why} < 20 } @differences), 'each with a reason');

# -- programs

# Lines of one side only, without those that the document explains.
sub unexplained {
    my ($program, $name, $stock, $ours) = @_;
    my %count;
    $count{$_}++ for split /\n/, $stock;
    $count{$_}-- for split /\n/, $ours;
    my @left;
    LINE: for my $line (sort grep { $count{$_} } keys %count) {
        for my $row (@differences) {
            next if $row->{program} ne $program || $name !~ $row->{profiles};
            next if $line !~ $row->{lines};
            $row->{used} = 1;
            next LINE;
        }
        push @left, ($count{$line} > 0 ? 'stock: ' : 'ours:  ') . substr $line, 0, 300;
    }
    return @left;
}

sub compare {
    my ($program, $name, $path) = @_;
    my ($stock_status, $stock) = run_in(\%stock, $^X, "$here/$program.pl", $path);
    my ($ours_status, $ours, $error) = run_in(\%ours, $^X, "$here/$program.pl", $path);
    if ($stock_status) {
        my ($row) = grep { $name =~ $_->{profiles} } @unread;
        ok($row, "$program $name: stock does not read it, which is known") or return;
        return is($ours_status, 0, "$program $name: ours does") if $row->{ours} eq 'loads';
        isnt($ours_status, 0, "$program $name: nor do we");
        return like($error, qr/^\Q$path\E: byte \d+.*Profile /, 'and say where and why');
    }
    is($ours_status, 0, "$program $name: runs") or diag $error;
    my @left = unexplained($program, $name, $stock, $ours);
    is(scalar @left, 0, "$program $name: the same") or diag join "\n", @left[0 .. ($#left < 9 ? $#left : 9)];
    cmp_ok(length $stock, '>', 500, "$program $name: with something in it") if $program ne 'dump';
    return;
}

my @names = qw(
    evals evals-calls0 mixed-calls1 mixed-blocks mixed-stmts0 mixed-subs0 mixed-nosource recurse jumps names
    unreturned switching requires-calls1 dash-e forks forks-merged cut-plain cut-deflated
    made-big-endian made-gzipped made-hostile-files made-hostile-names made-long-double
    made-quad-double made-negative-ticks made-wrapped made-no-processes made-no-options
    made-utf8-strings made-version-4 made-callers-on-one-line made-trailer
);
my $n_compared = 0;
shared(@names);
for my $name (@names) {
    my $path = shared($name);
    SKIP: {
        skip "profile $name cannot be made here", 1 if !$path;
        $n_compared++;
        compare($_, $name, $path) for qw(facts chunks);
        # stock cannot dump what it cannot load
        compare('dump', $name, $path) if $name !~ /^(?:cut|killed|made-(?!callers|trailer))/;
    }
}
cmp_ok($n_compared, '>', 20, 'profiles were compared');

# -- commands

sub sorted { return join "\n", sort split /\n/, shift }

sub command { return ($^X, ($_[0] == \%ours ? 'bin/' : '/usr/bin/') . $_[1]) }

my $export = -x 'bin/nytp-export';
for my $name (qw(mixed-calls1 jumps-calls1 evals-calls1)) {
    SKIP: {
        my $path = shared($name);
        skip 'bin/nytp-export is not built', 4 if !$export;
        skip "profile $name cannot be made here", 4 if !$path;
        for my $option ([], ['--calls'], ['--stable'], ['--calls', '--stable']) {
            my (undef, $stock) = run_in(\%stock, command(\%stock, 'nytprofcalls'), @$option, $path);
            my ($status, $ours) = run_in(\%ours, command(\%ours, 'nytprofcalls'), @$option, $path);
            s/^.* 0\n//mg for $stock, $ours; # ours leaves out stacks without a tick
            # without --stable stock's order is chance
            $_ = sorted($_) for "@$option" =~ /stable/ ? () : ($stock, $ours);
            is("$status\n$ours", "0\n$stock", "nytprofcalls @$option $name");
        }
    }
}

sub csv_rows {
    my ($path) = @_;
    my @rows;
    for (split /\n/, slurp($path)) {
        next if /^#/;
        my ($time, $calls, $each, $source) = split /,/, $_, 4;
        # blank lines and what has no line: see differences.md
        push @rows, [$time, $calls, $source]
            if $source =~ /\S/ && $source !~ /^Profile data that couldn't/;
    }
    return @rows;
}

for my $name (qw(mixed-calls1 evals recurse)) {
    SKIP: {
        my $path = shared($name) or skip "profile $name cannot be made here", 2;
        my ($stock, $ours) = map { folder() . "/csv-$_-$name" } qw(stock ours);
        run_in(\%stock, command(\%stock, 'nytprofcsv'), '-f', $path, '-o', $stock);
        my ($status, $out) = run_in(\%ours, command(\%ours, 'nytprofcsv'), '-f', $path, '-o', $ours);
        is("$status$out", 0, "nytprofcsv $name is silent");
        my @files = map {s{.*/}{}r} glob "\Q$stock\E/*.csv";
        is_deeply([map {s{.*/}{}r} glob "\Q$ours\E/*.csv"], \@files, 'writes the same files');
        my @bad;
        for my $file (@files) {
            my @stock_rows = csv_rows("$stock/$file");
            my @our_rows = csv_rows("$ours/$file");
            # stock leaves out the last lines where it has no source
            $#our_rows = $#stock_rows if @our_rows > @stock_rows;
            for my $i (0 .. $#stock_rows) {
                my ($s, $o) = ($stock_rows[$i], $our_rows[$i] || [0, 0, '']);
                next if abs($s->[0] - $o->[0]) < 1.5e-6 && $s->[2] eq $o->[2]
                    && ($s->[1] == $o->[1] || ($s->[1] == 1 && $o->[1] == 0));
                push @bad, "$file: @$s | @$o";
            }
        }
        is(scalar @bad, 0, 'with the same figures') or diag join "\n", @bad[0 .. ($#bad < 9 ? $#bad : 9)];
    }
}

for my $name (qw(mixed-calls1 evals recurse made-hostile-names)) {
    SKIP: {
        my $path = shared($name) or skip "profile $name cannot be made here", 2;
        for my $option ([], ['--no-mergeevals']) {
            my ($stock, $ours) = map { folder() . "/pf-$_-$name" } qw(stock ours);
            run_in(\%stock, command(\%stock, 'nytprofpf'), @$option, '-f', $path, '-o', $stock);
            my ($status, $out) = run_in(\%ours, command(\%ours, 'nytprofpf'), @$option, '-f', $path, '-o', $ours);
            # each average of stock is 0
            my ($stock_text, $our_text) = map { slurp($_) =~ s/, [\d.]+(?=, [\d.]+, \d+, 0$)/, -/gmr } $stock, $ours;
            cmp_ok(length $stock_text, '>', 200, "nytprofpf @$option $name: subs are listed");
            is("$status$out$our_text", "0$stock_text", 'and are the same here');
        }
    }
}

# Merged by stock and by ours, read by stock and by ours: four times the same facts, but for the
# statements that stock's merge loses.
sub facts_of {
    my ($world, $path) = @_;
    my (undef, $facts) = run_in($world, $^X, "$here/facts.pl", $path);
    return join "\n", grep { !/^WARN/ } split /\n/, $facts;
}

my @forks;
for my $name (qw(forks)) {
    my $path = shared($name) or next;
    (my $stem = $path) =~ s/\.out\z//;
    @forks = ($path, sort glob "\Q$stem\E.[0-9]*.out");
}
my $run = shared('mixed-calls1');
my %merge = ('a fork run' => \@forks, 'ten runs' => [($run) x 10]);
for my $what (sort keys %merge) {
    SKIP: {
        my @inputs = grep {defined} @{$merge{$what}};
        skip "no profiles of $what", 4 if @inputs < 2;
        my ($stock, $ours) = map { folder() . "/merged-$_.out" } qw(stock ours);
        run_in(\%stock, command(\%stock, 'nytprofmerge'), '-o', $stock, @inputs);
        my ($status, $out, $err) =
            run_in(\%ours, command(\%ours, 'nytprofmerge'), '-o', $ours, @inputs);
        is("$status$out$err", 0, "merging $what: nothing is said");
        my $by_ours = facts_of(\%ours, $ours);
        my $by_stock = facts_of(\%stock, $ours);
        is(join("\n", unexplained('facts', '', $by_stock, $by_ours)), '',
            "merging $what: stock reads it as we do");
        my $of_stock = facts_of(\%ours, $stock);
        # rows of overhead: stock writes six digits
        s/^(?:attribute (?:cumulative_overhead_ticks|profiler_active|total_stmts_discounted)).*\n//mg
            for $by_ours, $of_stock;
        is(join("\n", unexplained('facts', '', $of_stock, $by_ours)), '',
            "merging $what: the facts of stock's merge");
        like($by_ours, qr/^attribute application\t"\S+ \(\d+ recordings\)"/m, 'with all recordings in it');
    }
}

ok($_->{used} || $_->{why} =~ /\bchance\b/, "still needed: $_->{text}") for @differences;

done_testing();
