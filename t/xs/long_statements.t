# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Statements that last longer than the 32 bits of ticks that a record holds: 429 s, or 214 s
# signed. Nobody waits: sleep() and the clock are those of clock_steps.c.

use lib 't/lib';
use NYTPTest;

plan skip_all => 'two libraries to preload' if sanitized();

my $CODE = <<'P';
sub f {
    sleep 1000;
    return 1;
}
sleep 500;
my $x = f() + sleep 700;
f();
sleep 200;
for (my $i = 0; $i < 2 + 0 * sleep 100; $i++) {
    $x++;
    $x--;
}
P

# line => [executions, seconds]
my %WANT = (
    2 => [2, 2000], 3 => [2, 0], 5 => [1, 500], 6 => [1, 700], 7 => [1, 0], 8 => [1, 200],
    9 => [1, 300], 10 => [2, 0], 11 => [2, 0],
);

sub line_facts {
    my ($lines) = @_;
    return { map { $_ => [$lines->{$_}[0], sprintf '%.0f', $lines->{$_}[1]] } keys %$lines };
}

# Lines of the script as nytprofcsv shows them.
sub csv_facts {
    my ($run, @command) = @_;
    my $r = run_command([@command, '--out', "csv$$"], dir => $run->{dir}, env => { PATH => $ENV{PATH} });
    is $r->{status}, 0, "$command[-1]: exit status" or diag $r->{err};
    my ($path) = glob "$run->{dir}/csv$$/*prog-pl-*-line.csv";
    open my $fh, '<', $path or return {};
    my @rows = grep { /^[\d.]+,\d+,/ } <$fh>;
    system 'rm', '-r', "$run->{dir}/csv$$";
    my %found;
    for my $line (1 .. @rows) {
        my ($seconds, $count) = split /,/, $rows[$line - 1];
        $found{$line} = [$count, $seconds] if $count;
    }
    return line_facts(\%found);
}

my @blib = ours();
my @stock = stock_command('nytprofcsv');

for my $opts ('', 'slowops=0:calls=1', 'leave=0', 'blocks=1:compress=0') {
    scenario "clock=1:$opts" => sub {
        my $run = run_prog(code => $CODE, opts => "clock=1:$opts", env => { stepping_clock() });
        is $run->{status}, 0, 'runs' or diag $run->{err};
        my $p = whole_in($run, 'whole');
        my ($counts, $seconds) = (stmt_counts($p), line_seconds($p));
        my %lines = map { $_ => [$counts->{$_}, $seconds->{$_}] } keys %$counts;
        # without leave the rest of lines 6 and 9 is charged to the statement executed last
        my %want = $opts =~ /leave=0/ ? (%WANT, 3 => [2, 700], 6 => [1, 0], 9 => [1, 100], 11 => [2, 200]) : %WANT;
        is_deeply line_facts(\%lines), \%want, 'each line: executions, seconds';
        my %incl;
        $incl{ $_->{callee} } += $_->{incl} for @{ $p->{arc} };
        is sprintf('%.0f', $incl{'main::f'}), 2000, 'the sub';
        is_deeply csv_facts($run, $^X, @blib, root() . '/blib/script/nytprofcsv'), \%want, 'our nytprofcsv';
        SKIP: {
            skip 'no stock nytprofcsv installed', 1 if !@stock;
            is_deeply csv_facts($run, @stock), \%want, 'the stock nytprofcsv';
        }
    };
}

# The statement that `next` leaves is not the loop's, to which the condition belongs.
my $NEXT = <<'P';
my $i = 0;
while (sleep(100), $i++ < 3) {
    if ($i) { my $x = $i; next }
    $x = 1;
}
P

scenario 'what comes behind a block that next left is the outer statement\'s' => sub {
    for my $opts ('', 'calls=2') {
        my $run = run_prog(code => $NEXT, opts => "clock=1:$opts", env => { stepping_clock() });
        my $seconds = line_seconds(whole_in($run, "'$opts': whole"));
        is_deeply [map { sprintf '%.0f', $seconds->{$_} // 0 } 2, 3], [400, 0], "'$opts': seconds";
    }
};

scenario 'rounds of a loop within one statement are told now and then only' => sub {
    for my $opts ('', 'calls=2', 'blocks=1') {
        my $p = profile_in(run_prog(code => "my \$n = 0;\n\$n += \$_ for 1 .. 1700;\n", opts => $opts));
        is $p->{stmt}{ script_fid($p) }{2}[0], 1, "'$opts': the statement has run once";
        my $most = $opts eq 'blocks=1' ? 1710 : 110;
        cmp_ok $p->{discounts}, '<=', $most, "'$opts': $p->{discounts} records of its rest";
        cmp_ok $p->{discounts}, '>=', 100, "'$opts': a long one is told up to now";
    }
};

done_testing;
