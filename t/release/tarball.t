#!/usr/bin/perl
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# The tarball: made from the files that MANIFEST names, tested as installers and CPAN testers do
# (an ordinary user, nothing but the tarball), installed by make, cpanm and carton.
# The whole of "make test" runs once, in disttest; the installers run one file of it.

use strict;
use warnings;

use File::Path qw(make_path);
use FindBin;
use lib $FindBin::Bin;
use Test::More;

use Release;

need_commands(qw(make cc cpanm carton));

my $name    = 'nytp-' . version_of('NYTP_VERSION');
my $version = version_of('NYTP_COMPATIBLE_VERSION');
my $dir     = make_tree();
my $tree    = "$dir/tree";

# Quick to compile, one file of tests.
my %quick = (
    PERL_MM_OPT => 'OPTIMIZE=-O0',
    CFLAGS      => '-O0',
    MAKEFLAGS   => '-j2 -- TEST_FILES=t/lib/util.t',
);

subtest 'make dist, make disttest' => sub {
    my ($status, $text) = run_in($tree, 'perl Makefile.PL && make tardist');
    is($status, 0, 'make dist') or diag $text;
    ok(-s "$tree/$name.tar.gz", "makes $name.tar.gz");
    ($status, $text) =
        run_in($tree, 'make -j2 disttest', HARNESS_OPTIONS => 'j2', TMPDIR => "$dir/home");
    is($status, 0, 'make disttest') or diag substr $text, -8000;
    my ($files, $tests) = $text =~ /^Files=(\d+), Tests=(\d+)/m;
    cmp_ok($files // 0, '>=', 21,  'runs all files of t/lib and t/xs');
    cmp_ok($tests // 0, '>',  500, 'and more than 500 tests');
    note "make test ran $tests tests of $files files";
    unlike($text, qr/^\S+: warning: /m, 'the compiler has nothing to say');
};

subtest 'make install' => sub {
    my ($status, $text) = run_in("$tree/$name", "make install DESTDIR=$dir/home/perl PREFIX=/p");
    is($status, 0, 'of the whole') or diag $text;
    my @files = found_in("$dir/home/perl");
    ($status, $text) = run_in("$tree/$name", "make -C exporters install DESTDIR=$dir/home/c PREFIX=/p");
    is($status, 0, 'of the plain C') or diag $text;
    my @plain = found_in("$dir/home/c");
    for my $file (qw(bin/nytp-export share/bash-completion/completions/nytp-export share/man/man1/nytp-export.1
        share/zsh/site-functions/_nytp-export))
    {
        ok((grep { $_ eq "p/$file" } @plain), "of the plain C: $file");
    }
    for my $file (map { s{.*/}{}r } @plain) {
        ok((grep {m{/\Q$file\E\z}} @files), "$file: with the whole, too");
    }
    my ($packlist) = grep {/\.packlist\z/} @files;
    like(text_of("$dir/home/perl/$packlist"), qr{/completions/nytp-export$}m, 'and in its list of files');
};

# The latest of its distribution in a mirror that has nothing else.
sub make_mirror {
    my $path = 'N/NY/NYTP';
    make_path("$dir/home/mirror/authors/id/$path", "$dir/home/mirror/modules");
    system('cp', "$tree/$name.tar.gz", "$dir/home/mirror/authors/id/$path/") == 0 or die 'cp';
    open my $index, '|-', "gzip -c >$dir/home/mirror/modules/02packages.details.txt.gz" or die $!;
    print {$index} "File: 02packages.details.txt\nLine-Count: 1\n\n",
        "Devel::NYTProf $version $path/$name.tar.gz\n";
    close $index or die "gzip: $?";
    return "file://$dir/home/mirror";
}

my $mirror = make_mirror();

sub installed_perl {
    my ($root, $label) = @_;
    my $text = profiles_from("$dir/home", "PATH=$root/bin:\$PATH PERL5LIB=$root/lib/perl5", $label);
    like($text, qr/^\Q$root\E/, "$label: it is that copy");
    my @files = found_in($root);
    ok((grep {m{\Q$_\E\z}} @files), "$label: $_")
        for qw(man/man1/nytp-export.1 completions/nytp-export bin/nytprofmerge);
    return;
}

subtest 'cpanm' => sub {
    my ($status, $text) = run_in("$dir/home",
        "cpanm --verbose --mirror $mirror --mirror-only -l $dir/home/cpanm $tree/$name.tar.gz", %quick);
    is($status, 0, 'installs') or diag $text;
    like($text, qr/^Result: PASS/m,                   'after its tests');
    like($text, qr/Successfully installed \Q$name\E/, 'under its own name');
    installed_perl("$dir/home/cpanm", 'cpanm');
};

subtest 'carton' => sub {
    run_in("$dir/home", qq{mkdir app && echo "requires 'Devel::NYTProf', '>= $version';" >app/cpanfile});
    my ($status, $text) = run_in("$dir/home/app", 'carton install', %quick, PERL_CARTON_MIRROR => $mirror);
    is($status, 0, 'installs') or diag $text;
    like(text_of("$dir/home/app/cpanfile.snapshot"), qr/^  \Q$name\E$/m, 'and notes what');
    installed_perl("$dir/home/app/local", 'carton');
    ($status, $text) = run_in("$dir/home/app", 'carton exec nytp-export -V');
    like($text, qr/^nytp-export \S+ \(compatible with Devel::NYTProf \Q$version\E,/, 'carton exec');
};

done_testing;
