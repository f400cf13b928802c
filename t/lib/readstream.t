# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Devel::NYTProf::ReadStream: chunks as Perl code sees them.

use lib 't/lib';
use Recorded qw(write_profile folder double process_start process_end file_record);

use Devel::NYTProf::ReadStream qw(for_chunks);

my ($start, $file, $end) = (process_start(), file_record(), process_end());
my $made = write_profile('made', "!calls=1\n", "#text\n", $start, $file,
    "+\xff\xff\xff\xff\xfe\x01\x05", '-', "*\x03\x01\x06\x05\x04", ">\x01\x05",
    "<\x01" . double(-3, 2) . "\"\x05a::\xc3\xa9", "S\x01\x01'\x03x;\n", "s\x01'\x04a::b\x05\x09",
    "c\x01\x05'\x03m::\x02" . double(1, 2, 3) . "\x04'\x04a::b", $end);

my (@chunks, @numbers);
for_chunks { push @chunks, [@_]; push @numbers, $. } filename => $made, quiet => 1;
is_deeply(\@numbers, [0 .. $#chunks], '$. counts the chunks from 0');
is_deeply(\@chunks, [
        [VERSION => 5, 0],
        [ATTRIBUTE => ticks_per_sec => 10000000],
        [ATTRIBUTE => nv_size => 8],
        [ATTRIBUTE => application => 'made'],
        [OPTION => calls => 1],
        [COMMENT => "text\n"],
        [PID_START => 7, 1, 1700000000.5],
        [NEW_FID => 1, 0, 0, 2, 0, 0, '/x.p'],
        [TIME_LINE => -2, 1, 5],
        ['DISCOUNT'],
        [TIME_BLOCK => 3, 1, 6, 5, 4],
        [SUB_ENTRY => 1, 5],
        [SUB_RETURN => 1, -3, 2, "a::\xe9"],
        [SRC_LINE => 1, 1, "x;\n"],
        [SUB_INFO => 1, 5, 9, 'a::b'],
        [SUB_CALLERS => 1, 5, 2, 1, 2, 3, 4, 'a::b', 'm::'],
        [PID_END => 7, 1700000001.5],
    ], 'every chunk has its fields, in the documented order, with signed ticks');

my @tags;
my %callback = map { my $tag = $_; ($tag => sub { push @tags, "$tag @_" }) } qw(TIME_LINE PID_END all_loaded);
ok(!defined Devel::NYTProf::Data->new({filename => $made, quiet => 1, callback => \%callback}),
    'a profile that is streamed is not loaded');
is_deeply(\@tags,
    ['TIME_LINE TIME_LINE -2 1 5', 'PID_END PID_END 7 1700000001.5', 'all_loaded all_loaded'],
    'with a hash only the named tags are called, all_loaded last');

ok(!eval { for_chunks { die {code => 42} if $. == 3 } filename => $made, quiet => 1; 1 },
    'a callback may die');
is($@->{code}, 42, 'with an object');
my $long = write_profile('long', $file, "S\x01\x01'" . "\xff" . pack('N', 100_000) . 'x' x 100_000);
ok(!eval { for_chunks { die "inside\n" if $_[0] eq 'SRC_LINE' } filename => $long, quiet => 1; 1 }
        && $@ eq "inside\n",
    'also in the middle of a record that is larger than the window');

{
    open my $fh, '<', $0 or die;
    scalar <$fh> for 1 .. 3;
    for_chunks { open my $other, '<', $0; scalar <$other> } filename => $made, quiet => 1;
    is($., 3, '$. of a handle read before is as it was afterwards');
}
my @kept;
for_chunks { push @kept, \$_[1] if $_[0] =~ /ATTRIBUTE/ } filename => $made, quiet => 1;
is_deeply([map {$$_} @kept], [qw(ticks_per_sec nv_size application)],
    'a reference to an argument keeps its value');
{
    my $count = 0;
    for_chunks {
        return if $_[0] ne 'VERSION';
        for_chunks { $count++ } filename => $made, quiet => 1;
    } filename => $made, quiet => 1;
    is($count, scalar @chunks, 'a callback may read another profile');
}

{
    my (%code, @seen);
    %code = map { my $tag = $_; ($tag => sub { push @seen, $tag; %code = () }) } qw(ATTRIBUTE OPTION SUB_INFO all_loaded);
    Devel::NYTProf::Data->new({filename => $made, quiet => 1, callback => \%code});
    is("@seen", 'ATTRIBUTE ATTRIBUTE ATTRIBUTE OPTION SUB_INFO all_loaded', 'callbacks may empty their hash');
    my $n = 0;
    my %option = (filename => $made, quiet => 1);
    $option{callback} = sub { $n++; $option{callback} = undef };
    Devel::NYTProf::Data->new(\%option);
    is($n, scalar @chunks, 'or replace themselves');
}
{
    # each in a perl of its own, which it could crash when the program ends
    my $use = 'use Devel::NYTProf::ReadStream q(for_chunks); no warnings; $f = shift; $n = 0; $| = 1;';
    for my $case (
        ['for (1, 2) { eval { for_chunks { last if ++$n == 4 } @o }; print $n, $@ }', qr/\A4Can't "last" outside a loop block .*\n21end\z/],
        ['for (1) { eval { for_chunks { next if ++$n == 4 } @o }; print $n, $@ }', qr/\A4Can't "next" outside a loop block /],
        ['eval { for_chunks { goto OUT if ++$n == 4 } @o }; OUT: print $n, $@', qr/\A4Can't .*(?:goto|label)/],
        ['eval { for_chunks { die "d\n" if ++$n == 4 } @o }; print $n, $@', qr/\A4d\nend\z/],
        ['for_chunks { print("e"), exit if ++$n == 4 } @o', qr/\Ae\z/],
    ) {
        my ($code, $want) = @$case;
        open my $perl, '-|', $^X, '-Mblib', '-e', "$use; \@o = (filename => \$f, quiet => 1); $code; print 'end'", $made or die;
        my $text = join '', <$perl>;
        ok(close $perl, "$code: ends well");
        like($text, $want, 'a callback cannot jump out of the reader');
    }
}

for my $case (
    ['no such file', folder() . '/nosuch', qr/could not locate file for processing/],
    ['a folder', folder(), qr/could not locate file for processing/],
    ['no profile', $0, qr/\Q$0\E: .*Profile format error/],
    ['an unknown tag', write_profile('tag', $start, 'Q'), qr{/tag\.out: byte \d+: Profile format error: }],
    ['a cut record', write_profile('cut', $start, '+'), qr{/cut\.out: byte \d+: Profile data incomplete, }],
) {
    my ($what, $path, $error) = @$case;
    ok(!eval { for_chunks { } filename => $path, quiet => 1; 1 }, "$what croaks");
    like($@, $error, 'with path, offset and reason');
}
ok(!eval { Devel::NYTProf::Data->new({filename => $made, quiet => 1, callback => 'x'}) },
    'a callback that is no code croaks');
ok(!eval { Devel::NYTProf::Data->new({filename => $made, quiet => 1, callback => {TIME_LINE => 1}}) },
    'nor may a hash hold anything else');

my $seen = qx{$^X -Mblib -MDevel::NYTProf::ReadStream=for_chunks -e 'for_chunks { print "\$_[0]\n" } filename => "-", quiet => 1' 2>/dev/null < $made};
is($seen, join('', map {"$_->[0]\n"} @chunks), 'standard input can be read');
ok(!defined &main::nosuch && !eval { Devel::NYTProf::ReadStream->import('nosuch'); 1 },
    'only for_chunks is exported');
is(prototype \&for_chunks, '&%', 'for_chunks takes a block');

done_testing();
