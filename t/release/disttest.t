#!/usr/bin/perl
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# The tarball: made from the files that MANIFEST names, built and tested as installers and CPAN
# testers do (an ordinary user, nothing but the tarball), installed by make.
#
# In t/run this is where t/lib and t/xs run, so each of their tests is one of this file, too.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use TAP::Parser;
use Test::More;

use Release;

need_commands(qw(make cc));

my $name = 'nytp-' . version_of('NYTP_VERSION');
my $dir  = make_tree();
my $tree = "$dir/tree";
my $tap  = "$dir/home/tap";

subtest 'make dist, make disttest' => sub {
    my ($status, $text) = run_in($tree, 'perl Makefile.PL && make tardist');
    is($status, 0, 'make dist') or diag $text;
    ok(-s "$tree/$name.tar.gz", "makes $name.tar.gz");
    ($status, $text) = run_in(
        $tree, 'make -j2 disttest',
        PERL_TEST_HARNESS_DUMP_TAP => $tap,
        TMPDIR                    => "$dir/home",
        map { defined $ENV{$_} ? ($_ => $ENV{$_}) : () } 'EXTENDED_TESTING'
    );
    is($status, 0, 'make disttest') or diag substr $text, -8000;
    my ($files, $tests) = $text =~ /^Files=(\d+), Tests=(\d+)/m;
    cmp_ok($files // 0, '>=', 21,  'runs all files of t/lib and t/xs');
    cmp_ok($tests // 0, '>',  500, 'and more than 500 tests');
    note "make test ran $tests tests of $files files";
    unlike($text, qr/^\S+: warning: /m, 'the compiler has nothing to say');
};

# Tests that need root say so, and t/run has root run them.
sub repeat_test {
    my ($file, $test) = @_;
    return if $test->has_skip && $test->explanation eq 'needs root';
    my $what = "$file: " . $test->description =~ s/^- //r;
SKIP: {
        skip "$what: " . $test->explanation, 1 if $test->has_skip;
        ok($test->is_ok, $what);
    }
    return;
}

my @files = map { s{^\Q$tree\E/}{}r } sort glob "$tree/t/lib/*.t $tree/t/xs/*.t";
for my $file (@files) {
    my $parser = -e "$tap/$file" ? TAP::Parser->new({ tap => text_of("$tap/$file") }) : undef;
    if (!$parser) {
        fail("$file: was run");
        next;
    }
    while (my $result = $parser->next) {
        repeat_test($file, $result) if $result->is_test;
    }
}

subtest 'make install' => sub {
    my ($status, $text) = run_in("$tree/$name", "make install DESTDIR=$dir/home/perl PREFIX=/p");
    is($status, 0, 'of the whole') or diag $text;
    my @files = found_in("$dir/home/perl");
    ($status, $text) = run_in("$tree/$name", "make -C exporters install DESTDIR=$dir/home/c PREFIX=/p");
    is($status, 0, 'of the plain C') or diag $text;
    my @plain = found_in("$dir/home/c");
    cmp_ok(scalar @plain, '>', 10, 'files');
    for my $file (map { s{.*/}{}r } @plain) {
        ok((grep {m{/\Q$file\E\z}} @files), "$file: with the whole, too");
    }
    my ($packlist) = grep {/\.packlist\z/} @files;
    like(text_of("$dir/home/perl/$packlist"), qr{/completions/nytp-export$}m, 'and in its list of files');
};

done_testing;
