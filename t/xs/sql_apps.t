# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# nytp-export --sql of real programs (DBI and DBD::SQLite): five that batch rightly have no loop, with and without
# their texts; what a loop is in is found; the share of the database is DBI::Profile's.

use lib 't/lib';
use NYTPTest;

plan skip_all => 'DBI and DBD::SQLite are not installed' if !eval { require DBI; require DBI::Profile; require DBD::SQLite; 1 };

my $OPEN = <<'P';
use strict; use warnings; use DBI;
my $db = DBI->connect('dbi:SQLite:dbname=:memory:', '', '', { RaiseError => 1 });
$db->do('create table books (id integer primary key, author integer, title text)');
$db->do('create table authors (id integer primary key, name text)');
$db->begin_work;
my $book = $db->prepare('insert into books (id, author, title) values (?, ?, ?)');
my $author = $db->prepare('insert into authors (id, name) values (?, ?)');
$author->execute($_, "author $_") for 1 .. 60;
$book->execute($_, 1 + $_ % 60, "book $_") for 1 .. 600;
$db->commit;
P

# Each prints the sum that shows that it did its work; and is right with the database.
my %app = (
    'a bulk insert with a prepared statement' => <<'P',
print $db->selectrow_array('select count(*) from books'), "\n";
P
    'prefetching with IN lists' => <<'P',
my $books = $db->selectall_arrayref('select id, author from books');
my (%name, %seen);
my @ids = grep { !$seen{$_}++ } map { $_->[1] } @$books;
while (my @some = splice @ids, 0, 4) {
    my $rows = $db->selectall_arrayref('select id, name from authors where id in (' . join(',', ('?') x @some) . ')', undef, @some);
    $name{ $_->[0] } = $_->[1] for @$rows;
}
print scalar(grep { defined $name{ $_->[1] } } @$books), "\n";
P
    'a join' => <<'P',
my $join = $db->prepare('select b.title, a.name from books b join authors a on a.id = b.author');
$join->execute;
my $n = 0;
while (my ($title, $name) = $join->fetchrow_array) { $n++ }
print "$n\n";
P
    'pagination' => <<'P',
my ($last, $n) = (0, 0);
while (1) {
    my $page = $db->selectall_arrayref('select id, title from books where id > ? order by id limit 40', undef, $last);
    last if !@$page;
    $n += @$page;
    $last = $page->[-1][0];
}
for my $page (0 .. 14) {
    my $rows = $db->prepare('select id from books order by title limit ? offset ?');
    $rows->execute(40, 40 * $page);
    while (my $row = $rows->fetchrow_arrayref) { $n++ }
}
print $n / 2, "\n";
P
    'a cache' => <<'P',
my %cache;
sub author { my ($id) = @_; return $cache{$id} //= $db->selectrow_array('select name from authors where id = ?', undef, $id) }
my $n = 0;
$n += defined author(1 + $_ % 8) for 1 .. 600;
print "$n\n";
P
);

sub sql_of { my ($run, @options) = @_; return exported($run, '-q', '--sql', @options) }

for my $name (sort keys %app) {
    scenario "$name is no loop" => sub {
        for my $options ('sql=1', '') {
            my $run = run_prog(code => "$OPEN$app{$name}", opts => $options);
            is $run->{out}, "600\n", 'it did its work' or diag $run->{err};
            my $text = sql_of($run);
            like $text, qr/^ +- +\d+ .*\(all\)$/m, 'its statements are there';
            # what asks for many at a time is told by its text
            unlike $text, qr/again and again/, "no loop with options \"$options\"" or diag $text if $options || $name !~ /IN lists|pagination/;
        }
    };
}

scenario 'a row of each by itself is a loop, with its line' => sub {
    my $code = "$OPEN" . <<'P';
sub name_of { my ($id) = @_; my $get = $db->prepare_cached('select name from authors where id = ?');
    $get->execute($id); my ($name) = $get->fetchrow_array; $get->finish; return $name }
my $n = 0;
for my $book (@{ $db->selectall_arrayref('select id, author from books') }) {
    $n += defined name_of($book->[1]);
}
print "$n\n";
P
    my $before = (split /\n.*defined name_of/, $code)[0];
    my $line = 2 + ($before =~ tr/\n//);
    for my $options ('sql=1', '') {
        my $run = run_prog(code => $code, opts => $options);
        is $run->{out}, "600\n", 'it did its work';
        my $text = sql_of($run);
        my $what = $options ? 'select name from authors where id = \?' : '\(NYTPROF=sql=1 tells which\)';
        like $text, qr/^ +600 +600 .*  $what\n.* in main::name_of\n +the loop: \S*prog\.pl:$line in main::RUNTIME$/m, "found with options \"$options\"" or diag $text;
        is scalar(() = $text =~ /the loop/g), 1, 'and no other';
    }
};

# The same run by both, by a clock that only the program moves on: DBI's own reading of it around its methods, and
# the program's around itself.
scenario 'the share of the database is that of DBI::Profile' => sub {
    my $run = run_prog(opts => 'sql=1:clock=1', env => { stepping_clock() }, code => <<"P");
require Time::HiRes; require DBI::Profile;
${OPEN}sub nap { select undef, undef, undef, \$_[0]; return 1 }
\$db->sqlite_create_function('nap', 1, \\&nap);
\$db->{Profile} = '!Statement';
my \$from = Time::HiRes::time();
DB::label(request => 'work');
for my \$n (1 .. 40) {
    \$db->selectrow_array('select nap(?)', undef, 0.03);
    nap(0.05);
}
DB::label(request => undef);
my \$wall = Time::HiRes::time() - \$from;
my \$profile = \$db->{Profile};
my \$own = DBI::Profile::dbi_profile_merge_nodes([0, 0, 0, 0, 0, 0, 0], \$profile->{Data});
\$db->{Profile} = undef;
printf "%.6f %.6f\\n", \$own, \$wall;
P
    my ($own, $wall) = split ' ', $run->{out};
    my ($database, $percent, $time) = sql_of($run, '--unit=us') =~ /^ +1 +\d+ +\d+ +\d+ +([\d.]+) +([\d.]+)% +([\d.]+)  work$/m;
    ok defined $percent, 'the request is there' or return diag sql_of($run, '--unit=us') . $run->{err};
    cmp_ok abs($percent - 100 * $own / $wall), '<=', 2, sprintf 'within 2 points: %.1f, %.1f', $percent, 100 * $own / $wall;
    cmp_ok abs($percent - 100 * $database / $time), '<=', 0.1, 'and it is that of the times beside it';
    cmp_ok abs($time / 1e6 - $wall), '<=', 0.02 * $wall, "whose whole is the time that passed: $time us of $wall s";
};

done_testing;
