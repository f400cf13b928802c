# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# nytp-export --sql: statements by request, and those that are sent in a loop.

use lib 't/lib';
use NYTPTest;

# DBI's methods, as the recorder sees them.
my $DBI = <<'P';
package DBI::db; sub do { DB::label(sql => $_[1]); DBI::st::execute(); DB::label(sql => undef); 1 } sub begin_work { 1 }
sub selectrow_array { DB::label(sql => $_[1]); DBI::st::execute(); DBI::st::fetch(); DB::label(sql => undef); 1 }
package DBI::st; sub execute { 1 } sub fetch { 1 }
package main; sub ask { DBI::db->selectrow_array($_[0]) }
P

sub sql_of { my ($code, @options) = @_; return exported(run_prog(code => "$DBI$code"), '-q', '--sql', @options) }

# "n statements most distinct name" of each request.
sub requests { my ($text) = @_; return [map { join q( ), @$_ } rows($text)] }

sub rows {
    my ($text) = @_;
    return map { /^ +(\d+|-) +(\d+) +(\d+) +(\d+) +.*  (\S.*)$/ ? [$1, $2, $3, $4, $5] : () } split /\n/, (split /\n\n/, $text)[1];
}

scenario 'without labels the program is one request; one that batches has no loop' => sub {
    my $text = sql_of('sub f { DBI::st::execute(); DBI::st::fetch() } f() for 1 .. 11; for my $n (1 .. 9) { ask("select $n") }');
    is_deeply requests($text), ['- 20 20 2 (all)'], 'one';
    is_deeply requests(sql_of('ask(1); DB::label(request => "r"); ask($_) for 2, 3')), ['1 2 2 1 r', '- 1 1 1 (no request)'], 'what comes before the first';
    like $text, qr/ 11 +11 .*NYTPROF=sql=1 tells which/, 'no text is known';
    unlike $text, qr/ 9 +9 /, 'nine are no loop';
    like sql_of('sub f { 1 } f();'), qr/^No statement was sent through DBI\.$/m, 'none';
    like sql_of('ask(1);', '--focus=ask'), qr/left out by a selection/, 'a selection that leaves no single calls';
    my $some = sql_of('for my $r (1 .. 30) { DB::label(request => "R$r"); ask("x") }', '--sql=3');
    is scalar(my @r = rows($some)), 3, '--sql=3';
    like $some, qr/^27 more$/m, 'says what it leaves out';
};

scenario 'texts without their values' => sub {
    my @texts = ("insert into t values (1, -2.5e+3, 'a''b', :name, \$1)", "select \"a 1\", `b 2` from t1 where c IN ('x') and d in (select 1)",
        "select/* all */x::text from a_1 where y=0x1F", "select 'unfinished", "in (", ")", "--", "a in () b");
    my $text = sql_of("DB::label(request => 'r'); for my \$s (@{[join ',', map { qq(q\0$_\0) } @texts]}) { ask(\$s) for 1 .. 10 }");
    for my $want ('insert into t values (?, -?, ?, ?, ?)', 'select "a 1", `b 2` from t1 where c IN (?) and d in (select ?)', 'select x::text from a_1 where y=?',
        'select ?', 'in (', ')', 'a in () b') {
        like $text, qr/^ +10 +10 .*  \Q$want\E$/m, $want;
    }
};

# Ten times each, prepared and as text; what is said to be one statement too many.
sub flagged {
    my ($text) = @_;
    my @ways = (q(sub sth { DB::label(sql => $_[0]); DBI::st::execute(); DB::label(sql => undef); DBI::st::fetch() } sth($s) for 1 .. 10),
        q(DBI::db->do($s) for 1 .. 10));
    return join q( ), map { sql_of("my \$s = q\0$text\0; $_") =~ /again and again/ ? 'yes' : 'no' } @ways;
}

scenario 'what one statement could do, and what has to be many' => sub {
    my %want = (
        'select a from t where b = 1' => 'yes yes', 'update t set a = 1 where b = 2' => 'yes yes', 'with x as (select 1) select * from x' => 'yes yes',
        'delete from t where "limit offset" = 1 and a <> 2' => 'yes yes', 'select a from t order by b limit 1' => 'yes yes',
        'insert into t values (1, 2)' => 'no yes', 'REPLACE INTO t values (1)' => 'no yes', 'insert into t values (1, 2), (3, 4)' => 'no no',
        'select a from t where b in (1, 2)' => 'no no', 'select a from t where b in (1)' => 'yes yes',
        'select a from t limit 10 offset 20' => 'no no', 'select a from t where b >= 7 order by b limit 10' => 'no no', 'select a from t limit 20, 10' => 'no no',
        'begin' => 'no no', 'savepoint s' => 'no no', 'set x = 1' => 'no no', '(select begin from t)' => 'yes yes',
    );
    is flagged($_), $want{$_}, $_ for sort keys %want;
};

scenario 'a prepared statement without its text adds rows, unless rows of it are asked for' => sub {
    my $st = 'package DBI::st; sub fetchrow_array { 1 } package main; sub get { DBI::st::execute(); DBI::st::fetch() } sub put { DBI::st::execute() } ';
    unlike sql_of("$st put() for 1 .. 20"), qr/again and again/, 'a table is filled';
    like sql_of("$st get() for 1 .. 20"), qr/again and again/, 'each one is read by itself';
    # rows of one statement are read, and for each one another adds a row
    my $copy = "$st get(); sub rows { DBI::st::fetchrow_array() } rows(); for (1 .. 20) { put(); rows() }";
    unlike sql_of($copy), qr/again and again/, 'a table is copied';
};

done_testing;
