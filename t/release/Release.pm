# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Release;

# The tests of a release share this: a copy of the files that MANIFEST names, commands run in it
# by an ordinary user, and a program profiled with what was installed.

use strict;
use warnings;

use Cwd                qw(abs_path);
use Exporter           qw(import);
use ExtUtils::Manifest qw(maniread);
use File::Basename     qw(dirname);
use File::Path         qw(make_path);
use File::Temp         qw(tempdir);
use Test::More;

our @EXPORT = qw(root with_ccache make_tree run_in text_of found_in need_commands profiles_from version_of);

my $ROOT = abs_path(dirname(__FILE__) . '/../..');
my ($USER, $GROUP) = $> == 0 ? (getpwnam 'nobody')[2, 3] : ();

my $CCACHE = "$ROOT/t/.cache/ccache";

sub root { return $ROOT }

# Whether this is a part of t/run, with a ccache that holds what was compiled with the usual flags.
sub with_ccache { return ($ENV{CCACHE_DIR} // '') eq $CCACHE && -d $CCACHE }

# A missing command skips the whole file, but not where everything has to be there.
sub need_commands {
    my @missing = grep {
        my $name = $_;
        !grep { -x "$_/$name" } split /:/, $ENV{PATH}
    } @_;
    return if !@missing;
    BAIL_OUT("not installed: @missing") if ($ENV{CI} // '') eq 'true';
    plan skip_all => "not installed: @missing";
    return;
}

# A temporary folder with the distribution's files in its folder "tree", and "home". Where root
# runs the tests, both belong to an ordinary user, who then does the work.
sub make_tree {
    my $dir = tempdir('nytp-release-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    chmod 0755, $dir;
    mkdir "$dir/home" or die "$dir/home: $!\n";
    my $files = maniread("$ROOT/MANIFEST");
    mkdir "$dir/tree" or die "$dir/tree: $!\n";
    open my $tar, '|-', "tar cf - -C '$ROOT' --null -T - | tar xpf - -C '$dir/tree'" or die "tar: $!\n";
    print {$tar} map {"$_\0"} sort keys %$files;
    close $tar or die "tar: $?\n";
    -e "$dir/tree/$_" or die "cannot copy $_\n" for keys %$files;
    # A file that another process is just writing there is not missed.
    system("cp -r '$CCACHE' '$dir/home/ccache' 2>/dev/null") if with_ccache();
    system('chown', '-R', "$USER:$GROUP", $dir) if defined $USER;
    return $dir;
}

# Runs a shell command in a folder of make_tree() and returns (exit status, its whole output).
# Nothing of this run's environment that changes a build or a test gets in, and no network:
# whoever asks for a page asks a port where nobody listens.
sub run_in {
    my ($dir, $command, %env) = @_;
    my $pid = open(my $out, '-|') // die "fork: $!\n";
    if (!$pid) {
        drop_root();
        delete @ENV{
            grep {/^(?:CI|EXTENDED_TESTING|MAKE.*|NYTP.*|PERL5.*|PERL_.*|HARNESS_.*|MFLAGS|DEB_.*)\z/}
                keys %ENV
        };
        my ($top) = $dir =~ m{^(.*?/nytp-release-[^/]+)};
        %ENV = (
            %ENV,
            HOME => "$top/home", LC_ALL => 'C.UTF-8', CCACHE_DIR => "$top/home/ccache",
            (map { $_ => 'http://127.0.0.1:1' } qw(http_proxy https_proxy HTTP_PROXY HTTPS_PROXY)),
            %env
        );
        chdir $dir or die "$dir: $!\n";
        open STDERR, '>&', \*STDOUT     or die "dup: $!\n";
        open STDIN,  '<',  '/dev/null'  or die "/dev/null: $!\n";
        exec 'sh', '-c', $command       or die "sh: $!\n";
    }
    local $/;
    my $text = <$out> // '';
    close $out;
    return ($?, $text);
}

sub drop_root {
    return if !defined $USER;
    $( = $GROUP;
    $) = "$GROUP $GROUP";
    ($<, $>) = ($USER, $USER);
    $> == $USER or die "cannot become user $USER\n";
    return;
}

sub text_of {
    my ($path) = @_;
    open my $fh, '<:raw', $path or die "$path: $!\n";
    local $/;
    return scalar <$fh>;
}

# The paths of all files below a folder, relative to it.
sub found_in {
    my ($dir) = @_;
    my @found = split /\0/, qx{cd '$dir' && find . '(' -type f -o -type l ')' -print0};
    s{^\./}{} for @found;
    return sort @found;
}

sub version_of {
    my ($name) = @_;
    my ($version) = text_of("$ROOT/exporters/base/version.h") =~ /$name "([^"]+)"/;
    return $version;
}

# Profiles a program with the switch of an installed copy and exports it with its command;
# $environment is set in the shell ("PATH=... PERL5LIB=... ").
sub profiles_from {
    my ($dir, $environment, $name) = @_;
    my $program = 'sub f { 1 } f() for 1 .. 7; print $INC{"Devel/NYTProf.pm"}';
    my ($status, $text) = run_in($dir, "$environment perl -d:NYTProf -e '$program'");
    is($status, 0, "$name: a profiled program runs") or diag $text;
    my ($exported, $csv) = run_in($dir, "$environment nytp-export --collapsed --weight=calls");
    is($exported, 0, "$name: its profile exports") or diag $csv;
    like($csv, qr/main::f 7$/m, "$name: all calls are in it");
    return $text;
}

1;
