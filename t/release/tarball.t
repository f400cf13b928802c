#!/usr/bin/perl
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# The tarball, installed by cpanm and carton as an ordinary user does. The whole of "make test" runs
# in disttest.t; the installers run one file of it.

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
    (with_ccache() ? () : (PERL_MM_OPT => 'OPTIMIZE=-O0', CFLAGS => '-O0')),
    MAKEFLAGS => '-j2 -- TEST_FILES=t/lib/util.t',
);

# The repository's address is for who publishes. What -d:NYTProf loads uses no module that the
# program does not use itself: it would not see its own strict.pm loaded.
my %not_here = map { $_ => 1 } qw(meta_yml_has_repository_resource use_strict use_warnings);

my ($made, $said) = run_in($tree, 'perl Makefile.PL && make tardist');
is($made, 0, 'make dist') or diag $said;

like($said, qr/%published lacks a real/, 'says that an address is missing')
    if text_of("$tree/Makefile.PL") =~ /repository   => ''/;

subtest 'the same files make the same bytes' => sub {
    my $first = text_of("$tree/$name.tar.gz");
    my ($status, $text) = run_in($tree, "touch Changes lib/Devel/*; umask 077; make tardist && chmod 644 $name.tar.gz");
    is($status, 0, 'again') or diag $text;
    ok(text_of("$tree/$name.tar.gz") eq $first, 'later, by one who shares nothing');
};

subtest 'kwalitee of CPANTS' => sub {
    plan skip_all => 'not installed: Module::CPANTS::Analyse' if !eval { require Module::CPANTS::Analyse; require Module::CPANTS::Kwalitee };
    my $analysis = Module::CPANTS::Analyse->new({ dist => "$tree/$name.tar.gz" });
    $analysis->run;
    my $found = $analysis->d->{kwalitee};
    my $metrics = Module::CPANTS::Kwalitee->new->get_indicators;
    ok(@$metrics > 30, 'metrics');
    for my $metric (@$metrics) {
        ok($found->{ $metric->{name} }, "$metric->{name}: $metric->{error}") if !$not_here{ $metric->{name} };
    }
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
        for qw(man/man1/nytp-export.1 man/man7/nytp-gate.7 completions/nytp-export bin/nytprofmerge);
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
