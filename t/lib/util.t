# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Devel::NYTProf::Util and ::Constants: helpers that reports are made with.

use lib 't/lib';
use Recorded qw(slurp);

use Devel::NYTProf::Constants qw(const_bits2names NYTP_FIDf_HAS_SRC NYTP_SCi_elements
    NYTP_SIi_CALLED_BY NYTP_FIDi_SUBS_CALLED NYTP_ZLIB_VERSION NYTP_DEFAULT_COMPRESSION);
use Devel::NYTProf::Util qw(fmt_float fmt_time fmt_incl_excl_time make_path_strip_editor
    strip_prefix_from_paths calculate_median_absolute_deviation get_alternation_regex
    get_abs_paths_alternation_regex html_safe_filename trace_level _dumper);

delete local $ENV{NYTPROF_FMT_TIME};
for my $case (
    [0, '0s'], [1e-9, '1ns'], [5.55e-7, '555ns'], [1.234e-5, "12\xc2\xb5s"], [1e-3, '1.00ms'],
    [0.012345, '12.3ms'], [0.1234, '123ms'], [1.2345, '1.23s'], [99.96, '100.0s'], [1234.4, '1234s'],
    [-1, '-1.00s'], [-3e-7, '-300ns'], [-0.0005, "-500\xc2\xb5s"],
) {
    is(fmt_time($case->[0]), $case->[1], "fmt_time($case->[0])");
}
is(fmt_time(undef), undef, 'no time is no time');
is(fmt_time(1.5, 7), '   1.50s', 'the number is padded');
is(fmt_time(-1.5, 7), '-  1.50s', 'and keeps its sign in front');
{
    local $ENV{NYTPROF_FMT_TIME} = '%.3f';
    is(fmt_time(0.0012345), '0.001', 'NYTPROF_FMT_TIME is a format of its own');
}
my $micro = "\xc2\xb5s";
for my $case (
    [10, 4, '10.0s (4.00+6.00)'], [0.25, 0.2, '250ms (200+50.0)'], [0.25, 0.2499, "250ms (250+100$micro)"],
    [6e-5, 2e-5, "60$micro (20+40)"], [8e-7, 3e-7, '800ns (300+500)'], [5, 4.5, '5.00s (4.50+500ms)'],
    [0.25, 0, '250ms (0s+250)'], [1, 1, '1.00s'], [1, 0.5, '1.00s (500ms+500ms)'], [1e-3, 5e-4, "1.00ms (500$micro+500$micro)"],
) {
    is(fmt_incl_excl_time(@$case[0, 1]), $case->[2], "the unit of the total is said once: $case->[2]");
}

is(fmt_float(@$_[0 .. $#$_ - 1]), $_->[-1], "fmt_float(@$_)")
    for [3, 3], [1.23456789, '1.23457'], [1.23456789, 2, '1.23'], [3e-7, '3.0e-7'], [1e-4, '0.00010'],
        [1e-6, 7, '0.0000010'], [9.99e-7, 7, '9.990e-7'], [1e-9, 10, '0.0000000010'];

my %safe = (
    '/a/b/c.pm' => 'a-b-c-pm', '(eval 3)[/x/y.pl:7]' => '(eval 3)[-x-y-pl-7]', '../x' => 'x',
    'a b' => 'a b', "a\0b.pl" => 'a-b-pl', '-' => '', 'a//b' => 'a-b', 'lib/Foo-Bar_1.pm' => 'lib-Foo-Bar_1-pm',
);
is(html_safe_filename($_), $safe{$_}, "html_safe_filename($_)") for sort keys %safe;

is_deeply(calculate_median_absolute_deviation([1, 2, 3, 4, 100]), [1, 3], 'spread and middle');
is_deeply(calculate_median_absolute_deviation([1, 2, 3, 4]), [1, 3], 'of an even number');
is_deeply(calculate_median_absolute_deviation([]), [0, 0], 'of nothing');
is_deeply(calculate_median_absolute_deviation([0, 0, 1, 2, 3], 1), [1, 2], 'without zeros');
for my $none ([7], []) {
    ok(!eval { calculate_median_absolute_deviation(@$none); 1 }, 'no array of numbers is an error');
    like($@, qr/^No array ref given at \Q$0\E/, 'which is said');
}

my $any = get_alternation_regex(['a', 'ab', 'd.e']);
is(('xabd.e' =~ /($any)/)[0], 'ab', 'an alternation prefers the longest');
like('d.e', qr/\A$any\z/, 'and takes strings literally');
unlike('dxe', qr/\A$any\z/, 'dots, too');
my $folder = get_abs_paths_alternation_regex(['/usr/lib']);
like($_, qr/\A$folder\z/, 'a folder with or without a slash') for '/usr/lib', '/usr/lib/';

$folder = get_abs_paths_alternation_regex(['lib', '/opt/p', './t'], '/base');
like($_, qr/\A$folder\z/, "$_ is a folder, relative ones are in the second argument")
    for '/base/lib', '/base/t', '/opt/p';
ok(!eval { get_abs_paths_alternation_regex([]); 1 } && $@ =~ /^No paths at \Q$0\E/, 'no folders are an error');

my @paths = ('/usr/lib/perl/A.pm', '/usr/lib/B.pm', 'C.pm', '(eval 1)[/usr/lib/B.pm:3]');
strip_prefix_from_paths(['/usr/lib', '/usr/lib/perl'], \@paths);
is("@paths", 'A.pm B.pm C.pm (eval 1)[/usr/lib/B.pm:3]', 'prefixes are stripped');
strip_prefix_from_paths(['/usr/lib'], \@paths, qr/^|\[/);
is($paths[3], '(eval 1)[B.pm:3]', 'also inside, if so wanted');
for my $case (
    [[{}, []], 'first'], [[undef, []], 'first'], [['x', []], 'first'],
    [[['/x'], '/x/y'], 'second'], [[['/x'], {}], 'second'],
) {
    my ($arguments, $which) = @$case;
    ok(!eval { strip_prefix_from_paths(@$arguments); 1 }, "the $which argument must be an array");
    like($@, qr/^strip_prefix_from_paths\(\) $which argument must be array ref at \Q$0\E/, 'which is said');
}
is(scalar strip_prefix_from_paths(@$_), undef, 'without folders or paths there is nothing to do')
    for [['/x'], undef], [[], 'y'], [[], {}];
my $path = '/opt/x/y';
ok(make_path_strip_editor(['/opt/x'], '^', 'X:')->($path), 'an editor tells that it edited');
is($path, 'X:y', 'and replaces');

{
    local $ENV{NYTPROF} = 'start=no:trace=3';
    is(trace_level(), 3, 'trace_level is that of NYTPROF');
}
like(_dumper({b => 1, a => 2}), qr/'a' => 2.*'b' => 1/s, '_dumper sorts');
is_deeply([_dumper([1], {k => 2})], ["\$VAR1 = [\n  1\n];\n", "\$VAR2 = {\n  'k' => 2\n};\n"],
    'and makes a text of each argument');

is_deeply([const_bits2names('NYTP_FIDf', 0x12)], ['VIA_STMT', 'HAS_SRC'], 'names of bits');
is(NYTP_FIDf_HAS_SRC, 16, 'a constant');
is_deeply([NYTP_SCi_elements, NYTP_SIi_CALLED_BY, NYTP_FIDi_SUBS_CALLED, NYTP_DEFAULT_COMPRESSION],
    [8, 10, 11, 6], 'others');
ok(NYTP_ZLIB_VERSION, 'compression is there');
ok(!eval { Devel::NYTProf::Constants->import('NYTP_nosuch'); 1 }, 'an unknown name croaks');

# The positions are written down once more in C, where the arrays are made.
my $c = slurp('XS/glue/data.h');
my %position;
for my $enum ($c =~ /enum nytp_(?:file|sub|call)_index \{(.*?)\}/gs) {
    my $n = -1;
    $position{$1} = $n = defined $2 ? $2 : $n + 1 while $enum =~ /(\w+)(?: = (\d+))?/g;
}
my %same = (
    FILE_NAME => 'NYTP_FIDi_FILENAME', FILE_EVAL_FID => 'NYTP_FIDi_EVAL_FID',
    FILE_FLAGS => 'NYTP_FIDi_FLAGS', FILE_HAS_EVALS => 'NYTP_FIDi_HAS_EVALS',
    FILE_SUBS_CALLED => 'NYTP_FIDi_SUBS_CALLED',
    SUB_CALL_COUNT => 'NYTP_SIi_CALL_COUNT', SUB_NAME => 'NYTP_SIi_SUB_NAME',
    SUB_RECI => 'NYTP_SIi_RECI_RTIME', CALL_RECI => 'NYTP_SCi_RECI_RTIME',
    CALL_CALLERS => 'NYTP_SCi_CALLING_SUB',
);
is($position{$_}, Devel::NYTProf::Constants->can($same{$_})->(), "$_ is $same{$_}")
    for sort keys %same;

done_testing();
