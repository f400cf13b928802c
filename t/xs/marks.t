# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# The recorder marks statements with their file's id (XS/exact/places.h). A statement must be shown in
# its own file where a mark is not there, is of a statement that is gone, or is of another profile.

use lib 't/lib';
use NYTPTest;

use Config;

# "LINE:COUNT ..." of the statements of each file.
sub lines_of {
    my ($p, @names) = @_;
    return map { my $fid = fid_named($p, $_); $fid ? stmt_lines($p, $fid) : 'no file' } @names;
}

scenario 'ops of an eval that is gone are used again, for another one' => sub {
    my $p = whole_in(run_prog(code => <<'P'), 'whole');
my $n = 0;
for my $i (1 .. 300) {
    eval($i % 2 ? "\n\$n++; \$n++;\n\$n--" : "\n\$n++;\n\$n--");
}
P
    is_deeply [lines_of($p, map { qr/^\(eval $_\)/ } 1 .. 300)], [('2:2 3:1', '2:1 3:1') x 150], 'each has its own';
};

scenario 'more files than there are marks' => sub {
    my $p = whole_in(run_prog(code => <<'P'), 'whole');
my @subs = map { eval "#line 3 \"file$_\"\nsub { \$_[0]++; \$_[0]++ }" or die } 1 .. 4200;
my $n = 0;
for (1 .. 2) { $_->($n) for @subs }
P
    my %n;
    $n{ stmt_lines($p, $_) }++ for grep { $p->{fid}{$_}{name} =~ /file\d+\z/ } keys %{ $p->{fid} };
    is_deeply \%n, { '3:5' => 4200 }, 'two statements, twice, and the eval\'s own';
};

scenario 'lines of one, two and more bytes' => sub {
    my @lines = (1, 127, 128, 129, 16_383, 16_384, 2_000_000);
    my $code = join '', "my \$x;\nfor (1 .. 3) {\n", (map { "#line $_ \"far\"\n\$x++;\n" } @lines), "}\n";
    my $p = whole_in(run_prog(code => $code), 'whole');
    is_deeply [lines_of($p, 'far')], ['1:3 2:1 ' . join ' ', map { "$_:3" } @lines[1 .. $#lines]], 'all of them, and that of the loop\'s end';
};

scenario 'another profile tells the files again' => sub {
    my $run = run_prog(code => <<'P');
sub f {
#line 9 "within"
    my $x = shift;
#line 5 "prog.pl"
    return $x;
}
f($_) for 1 .. 3;
DB::rotate_profile() or die;
f($_) for 1 .. 5;
P
    is_deeply [map { lines_of(whole_in($run, $_, $_), 'within') } qw(nytprof.out nytprof.out.2)], ['9:3', '9:5'],
        'each has the lines that ran in it';
};

SKIP: {
    skip 'this perl has no threads', 1 if !$Config{useithreads};
    scenario 'a thread runs marked statements, and numbers files by itself' => sub {
        my $run = run_prog(code => <<'P', files => { map { ("$_.pm" => "package $_;\nsub f { my \$x = shift;\nreturn \$x }\n1;\n") } 'A', 'B' });
use threads;
use lib '.';
use A;
use B;
A::f($_) for 1 .. 3;
B::f($_) for 1 .. 4;
threads->create(sub { B::f($_) for 1 .. 6; A::f($_) for 1 .. 7 })->join;
A::f(0);
P
        is_deeply [lines_of(whole_in($run, 'main'), 'A.pm', 'B.pm')], ['2:4 3:4 4:1', '2:4 3:4 4:1'], 'main';
        is_deeply [lines_of(whole_in($run, 'thread', 'nytprof.out.t1'), 'A.pm', 'B.pm')], ['2:7 3:7', '2:6 3:6'], 'the thread';
    };
}

done_testing;
