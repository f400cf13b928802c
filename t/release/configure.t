#!/usr/bin/perl
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# What a release says of itself: its list of files, its versions, what it needs, and where it
# cannot be built. Nothing is built here.

use strict;
use warnings;

use CPAN::Meta;
use ExtUtils::Manifest;
use File::Basename qw(dirname);
use File::Path     qw(make_path remove_tree);
use FindBin;
use lib $FindBin::Bin;
use Module::CoreList;
use Test::More;

use Release;

my $dir  = make_tree();
my $tree = "$dir/tree";

subtest 'MANIFEST is what stands in the tree' => sub {
    chdir root() or die $!;
    local $ExtUtils::Manifest::Quiet = 1;
    my ($missing, $extra) = ExtUtils::Manifest::fullcheck();
    is("@$missing", '', 'nothing is listed that is not there');
    is("@$extra",   '', 'nothing is there that is not listed (else: make manifest)');
    my @listed = map { (split)[0] } split /\n/, text_of('MANIFEST');
    cmp_ok(scalar @listed, '>', 300, 'a whole list');
    ok((grep { $_ eq 'exporters/Makefile' } @listed), 'with the Makefile of the plain C');
    is_deeply([grep {m{^(?:\.|blib/|exporters/build|bin/nytp-export$)}} @listed], [], 'nothing built');
    my @known = split /\0/, -e '.git' ? qx{git ls-files -z} : '';
SKIP: {
        skip 'no clone', 1 if !@known;
        my %listed = map { $_ => 1 } @listed;
        is_deeply([grep { !$listed{$_} && !/^\./ && -e } @known], [], 'all that git knows of');
    }
};

subtest 'versions agree' => sub {
    my $version = version_of('NYTP_VERSION');
    my ($changes) = text_of(root() . '/Changes') =~ /^(\d\S*)/m;
    is($changes, $version, 'Changes');
    my ($debian) = text_of(root() . '/debian/changelog') =~ /^nytp \(([^)]+)-\S+\)/;
    is($debian, $version, 'the Debian package');
    my %said = ('alpine/APKBUILD' => qr/^pkgver=(\S+)/m, 'rpm/nytp.spec' => qr/^Version: +(\S+)/m, 'homebrew/nytp.rb' => qr{/nytp-(\S+)\.tar\.gz"});
    is((text_of(root() . "/packaging/$_") =~ $said{$_})[0], $version, $_) for sort keys %said;
    my $compatible = version_of('NYTP_COMPATIBLE_VERSION');
    my @modules    = grep {/\.pm\z/} found_in(root() . '/lib/Devel/NYTProf');
    cmp_ok(scalar @modules, '>', 10, 'modules');
    for my $module ('../NYTProf.pm', @modules) {
        my ($is) = text_of(root() . "/lib/Devel/NYTProf/$module") =~ /^our \$VERSION = '([^']+)'/m;
        is($is, $compatible, $module);
    }
    like(
        text_of(root() . '/debian/control'),
        qr/^Provides:.*libdevel-nytprof-perl \(= \Q$compatible\E\)/m,
        'what the Debian package provides'
    );
};

# MYMETA is what Makefile.PL says of this very tree.
sub meta_of {
    my ($status, $text) = run_in($tree, 'perl Makefile.PL');
    is($status, 0, 'Makefile.PL') or diag $text;
    unlike($text, qr/warning/i, 'has nothing to complain of');
    return CPAN::Meta->load_file("$tree/MYMETA.json");
}

my $meta = meta_of();

subtest 'metadata' => sub {
    is($meta->name,           'nytp',                     'the distribution has its own name');
    is($meta->version,        version_of('NYTP_VERSION'), 'and version');
    is(($meta->licenses)[0], 'perl_5',                   'licence');
    my %hidden = map { $_ => 1 } @{ $meta->no_index->{directory} };
    my @hidden = grep { -d && $_ ne 'lib' && $_ ne 'bin' && $_ ne 'completions' } map { s{.*/}{}r }
        grep {-d} glob "$tree/*";
    is_deeply([grep { !$hidden{$_} } @hidden], [], 'no_index: every folder without modules for users');
    is($meta->provides->{'Devel::NYTProf'}{version}, version_of('NYTP_COMPATIBLE_VERSION'),
        'modules keep the version they are compatible with');
    is($meta->resources->{repository}, undef, 'an address that nobody filled in is not told');
};

# The commands and modules use nothing but what is asked for, and what belongs to the project.
subtest 'prerequisites' => sub {
    my %asked;
    for my $phase (qw(configure build test runtime)) {
        $asked{$phase} = $meta->effective_prereqs->requirements_for($phase, 'requires');
    }
    is($asked{runtime}->requirements_for_module('perl'), '5.020', 'perl');
    my %uses = (
        runtime => [map {"lib/$_"} grep {/\.pm\z/} found_in("$tree/lib")],
        test    => [map {"t/$_"} grep {m{^(?:lib|xs)/[^/]*\.(?:t|pm)\z}} found_in("$tree/t")],
    );
    push @{ $uses{runtime} }, grep { text_of("$tree/$_") =~ /^#!.*perl/ } map {"bin/$_"} found_in("$tree/bin");
    my $own = join '|', map { s{.*/|\.pm\z}{}gr } glob("$tree/t/lib/*.pm");
    for my $phase (qw(runtime test)) {
        my %missing;
        for my $file (@{ $uses{$phase} }) {
            my $code = text_of("$tree/$file") =~ s/^__(?:END|DATA)__.*//msr =~ s/^=\w.*?^=cut$//msgr;
            for my $module ($code =~ /^use\s+([A-Z][\w:]*)/mg) {
                # Tests, and the programs in them, may use what every perl of the least version has.
                next if $phase eq 'test' && Module::CoreList->is_core($module, undef, '5.020');
                next if $module =~ /^(?:Devel::NYTProf|Devel::DProf|(?:$own)\z)/;
                # Who has the plug-ins of a framework loaded has the framework.
                next if $module =~ /^(Plack|Mojo)/ && $file =~ m{^lib/$1};
                my $path = $module =~ s{::}{/}gr . '.pm';
                next if !grep { -e "$_/$path" } @INC; # a module that a test makes
                $missing{$module} = $file
                    if !grep { defined $asked{$_}->requirements_for_module($module) } $phase, 'runtime';
            }
        }
        is_deeply(\%missing, {}, "every module that $phase uses is asked for");
    }
};

subtest 'who publishes it fills in one place' => sub {
    my $makefile = text_of("$tree/Makefile.PL");
    my ($author) = $makefile =~ /^ +author +=> '(.*)'/m;
    is_deeply([$meta->authors], [$author], 'author');
    is_deeply($meta->custom('x_contributors'), [$author], 'contributors');
    my ($address) = $author =~ /<(.*)>/;
    like(text_of("$tree/$_"), qr/\Q$address\E/, "$_ has the same address")
        for qw(SECURITY.md debian/control debian/changelog debian/upstream/metadata);
    run_in($tree, q{sed -i "s,repository   => '',repository   => 'https://example.net/nytp.git'," Makefile.PL});
    my $resources = meta_of()->resources;
    is($resources->{repository}{url}, 'https://example.net/nytp.git',    'repository');
    is($resources->{bugtracker}{web}, 'https://example.net/nytp/issues', 'issues');
    open my $out, '>', "$tree/Makefile.PL" or die;
    print {$out} $makefile;
    close $out or die;
};

unlike(text_of($_), qr/uses:(?!.*\@[0-9a-f]{40}\b)/, 'what runs on a forge is named by its hash')
    for glob root() . '/.github/workflows/*';

# Exit status 0 without a Makefile is what installers and CPAN testers take for "not here".
sub refuses {
    my ($name, $want, $command) = @_;
    unlink "$tree/Makefile";
    my ($status, $text) = run_in($tree, $command);
    is($status, 0, "$name: no failure");
    like($text, qr/^OS unsupported: nytp .*$want/m, "$name: says why");
    ok(!-e "$tree/Makefile", "$name: no Makefile");
    return;
}

subtest 'systems that cannot build it' => sub {
    my $as = sub { return "perl -MConfig -e 'tied(%Config)->{$_[0]} = $_[1]; do q(./Makefile.PL) or die \$\@'" };
    refuses('a perl with 32-bit integers', '64-bit integers', $as->('ivsize', 4));
    refuses('no zlib.h',    'zlib\.h',  q{perl Makefile.PL CC='cc -nostdinc'});
    refuses('no compiler',  'compiler', q{perl Makefile.PL CC=/nonexistent/cc});
    mkdir "$tree/without" or die $!;
    open my $fh, '>', "$tree/without/pcre2.h" or die $!;
    print {$fh} "#error none\n";
    close $fh or die $!;
    refuses('no PCRE2', 'PCRE2', 'perl Makefile.PL INC=-Iwithout');
    refuses('another make', 'GNU make', q{perl Makefile.PL MAKE='echo'});
    refuses('another system', 'POSIX',  q{perl -e '$^O = "MSWin32"; do q(./Makefile.PL) or die $@'});
    for my $where (['here', 'perl Makefile.PL'], ['where pointers have 32 bits', $as->('ptrsize', 4)]) {
        unlink "$tree/Makefile";
        my ($status) = run_in($tree, $where->[1]);
        ok($status == 0 && -e "$tree/Makefile", "and $where->[0] it has one");
    }
};

# A compiler that knows no library by itself, neither header nor file: it takes what -I and -L show.
sub write_file {
    my ($path, $text, $mode) = @_;
    make_path(dirname($path));
    open my $fh, '>', $path or die "$path: $!\n";
    print {$fh} $text;
    close $fh or die "$path: $!\n";
    chmod $mode // 0644, $path;
    return;
}
my @libraries = (['z', 'zlib.h'], ['pcre2-8', 'pcre2.h'], ['isal', 'isa-l/igzip_lib.h']);

sub compiler_without_libraries {
    write_file("$dir/without/$_->[1]", "#error none\n") for @libraries;
    write_file("$dir/bare-cc", <<"SH", 0755);
#!/bin/sh
for word; do
    case \$word in
    -lz | -lpcre2-8 | -lisal)
        found=
        for folder; do [ -e "\${folder#-L}/lib\${word#-l}.so" ] && found=1; done
        [ "\$found" ] || exit 1
    esac
done
exec cc "\$@" -I$dir/without
SH
    return "$dir/bare-cc";
}

# A prefix with headers and libraries that are this system's.
sub plant {
    my ($prefix) = @_;
    for my $library (@libraries) {
        my ($name, $header) = @$library;
        write_file("$prefix/include/$header", qq{#include "/usr/include/$header"\n});
        make_path("$prefix/lib");
        chomp(my $file = qx{cc -print-file-name=lib$name.so});
        symlink $file, "$prefix/lib/lib$name.so" or die $!;
    }
    return;
}

# Returns what Makefile.PL writes and what the Makefile of the plain C would run.
sub flags_of_both {
    my ($name, %env) = @_;
    unlink "$tree/Makefile";
    my ($status, $text) = run_in($tree, "perl Makefile.PL CC=$dir/bare-cc", %env);
    ok($status == 0 && -e "$tree/Makefile", "$name: Makefile.PL has them") or diag $text;
    my $recorder = -e "$tree/Makefile" ? text_of("$tree/Makefile") : '';
    ($status, $text) = run_in("$tree/exporters", "make -n CC=$dir/bare-cc BUILD=try", %env);
    is($status, 0, "$name: so has the plain C") or diag $text;
    my $plain = -e "$tree/exporters/try/flags" ? text_of("$tree/exporters/try/flags") : '';
    remove_tree("$tree/exporters/try");
    return ($recorder, $plain);
}

sub shows {
    my ($name, $prefix, %env) = @_;
    my ($recorder, $plain) = flags_of_both($name, %env);
    like($recorder, qr/^CCFLAGS = .* -I\Q$prefix\E\/include /m,         "$name: the recorder's header files");
    like($recorder, qr/^LDLOADLIBS = -L\Q$prefix\E\/lib .*-lisal .*-lz/m, "$name: its libraries");
    like($recorder, qr/-C exporters CC='\Q$dir\E\/bare-cc' ISAL=1 build\/libnytp\.a /,  "$name: its compiler is the plain C's, too");
    like($plain, qr/ -I\Q$prefix\E\/include .*\|.* -L\Q$prefix\E\/lib .*-lisal -lpcre2-8 -lz /, "$name: the plain C's");
    return;
}

subtest 'where libraries are found' => sub {
    my $cc = compiler_without_libraries();
    refuses('nothing anywhere', 'zlib\.h', "NYTP_ROOT=$dir/none PKG_CONFIG=false perl Makefile.PL CC=$cc");
    for my $prefix (qw(/opt/homebrew /usr/local /opt/local /usr/pkg)) {
        plant("$dir/system$prefix");
        shows($prefix, "$dir/system$prefix", NYTP_ROOT => "$dir/system", PKG_CONFIG => 'false');
        remove_tree("$dir/system");
    }
    plant("$dir/elsewhere");
    write_file("$dir/pkg-config", <<"SH", 0755);
#!/bin/sh
for word; do
    case \$word in zlib | libpcre2-8 | libisal) echo "-I$dir/elsewhere/include -L$dir/elsewhere/lib"; exit ;; esac
done
exit 1
SH
    shows('pkg-config', "$dir/elsewhere", NYTP_ROOT => "$dir/none", PKG_CONFIG => "$dir/pkg-config");
    unlink glob "$dir/elsewhere/lib/libisal*";
    my ($recorder, $plain) = flags_of_both('no ISA-L', NYTP_ROOT => "$dir/none", PKG_CONFIG => "$dir/pkg-config");
    unlike("$recorder$plain", qr/-lisal|HAVE_ISAL/, 'without ISA-L zlib reads');
    write_file("$dir/elsewhere/lib/libz.so", "of another machine\n") if unlink "$dir/elsewhere/lib/libz.so";
    refuses('a library of another machine', 'zlib\.h',
        "NYTP_ROOT=$dir/none PKG_CONFIG=$dir/pkg-config perl Makefile.PL CC=$cc");
};

done_testing;
