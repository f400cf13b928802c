#!/usr/bin/perl
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# The Debian package: built from the files that MANIFEST names, looked at by lintian, unpacked
# into a folder (installed, it would replace the Devel::NYTProf that other tests compare with)
# and used from there.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use Test::More;

use Release;

need_commands(qw(dpkg-buildpackage dh lintian));

# Below t/run the compiler's name and flags are those that ccache has seen, only the linker's flags are Debian's;
# t/platforms/run has all of Debian's. Else they are Debian's, with -Og in place of -O2, which _FORTIFY_SOURCE wants.
my %quick = (
    DEB_BUILD_OPTIONS => 'nocheck parallel=2',
    with_ccache()
    ? (DEB_CFLAGS_SET => '-O2 -g', DEB_CPPFLAGS_SET => '')
    : (DEB_CFLAGS_STRIP => '-O2', DEB_CFLAGS_APPEND => '-Og'),
);

my $dir = make_tree();
run_in("$dir/tree", q(sed -i '/^export CC AR$/d' debian/rules)) if with_ccache();
my ($status, $text) = run_in("$dir/tree", 'dpkg-buildpackage -b -us -uc', %quick);
is($status, 0, 'dpkg-buildpackage') or BAIL_OUT($text);
my $version = version_of('NYTP_VERSION');
my ($deb)   = glob "$dir/nytp_${version}-*_*.deb";
ok($deb, 'makes nytp_VERSION_ARCH.deb');

subtest 'lintian' => sub {
    my ($status, $text) = run_in($dir, 'lintian nytp_*.changes');
    is($status, 0, 'is content');
    is_deeply([grep {/^[EW]:/} split /\n/, $text], [], 'no error, no warning');
};

subtest 'takes the place of the other package' => sub {
    my $compatible = version_of('NYTP_COMPATIBLE_VERSION');
    my ($status, $text) = run_in($dir, "dpkg-deb -f $deb");
    like($text, qr/^Version: \Q$version\E-\S+$/m,                                   'version');
    like($text, qr/^Provides:.*\blibdevel-nytprof-perl \(= \Q$compatible\E\)/m,    'Provides');
    like($text, qr/^Conflicts: libdevel-dprof-perl, libdevel-nytprof-perl\b/m,                       'Conflicts');
    like($text, qr/^Replaces: libdevel-dprof-perl, libdevel-nytprof-perl\b/m,                        'Replaces');
    like($text, qr/^Depends:.*\bperlapi-/m,  'depends on the perl that it was built for');
    like($text, qr/^Depends:.*\b(?:zlib1g|libisal2)\b/m, 'and on what inflates');
};

my $root = "$dir/root";
($status, $text) = run_in($dir, "dpkg-deb -x $deb $root");
is($status, 0, 'unpacks') or diag $text;
my %holds = map { $_ => 1 } found_in($root);

subtest 'holds everything' => sub {
    my ($arch) = map {m{^(.*)/Devel/NYTProf\.pm\z}} sort keys %holds;
    ok($arch && $holds{"$arch/auto/Devel/NYTProf/NYTProf.so"}, 'the recorder');
    for my $module (grep {/\.(?:pm|pod|js|css|html)\z/} found_in(root() . '/lib')) {
        ok($holds{"$arch/$module"}, $module);
    }
    my @commands = (glob(root() . '/bin/nytp*'), 'bin/dprofpp');
    for my $command (map { s{.*/}{}r } @commands) {
        ok($holds{"usr/bin/$command"}, $command);
        ok((grep {m{^usr/share/man/man1/\Q$command\E\.1\w*\.gz\z}} keys %holds), "$command: its manual");
    }
    ok($holds{'usr/share/man/man3/Devel::NYTProf.3pm.gz'},           'the manual of the profiler');
    ok($holds{'usr/share/bash-completion/completions/nytp-export'}, 'completion for bash');
    ok($holds{'usr/share/zsh/vendor-completions/_nytp-export'},     'completion for zsh');
    ok($holds{'usr/share/doc/nytp/copyright'},                      'copyright');
};

my ($lib) = glob "$root/usr/lib/*/perl5/*";
my $loaded = profiles_from("$dir/home", "PATH=$root/usr/bin:\$PATH PERL5LIB=$lib", 'unpacked');
like($loaded, qr/^\Q$root\E/, 'it is that copy');
($status, $text) = run_in($dir, "PERL5LIB=$lib $root/usr/bin/nytprofmerge --version");
is($text, 'nytprofmerge ' . version_of('NYTP_COMPATIBLE_VERSION') . "\n", 'commands run');

done_testing;
