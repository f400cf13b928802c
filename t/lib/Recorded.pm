# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Recorded;

# Profiles for the Perl tests: recorded by the profiler of this tree, or the shared ones of
# t/profiles.py, or written byte by byte.

use strict;
use warnings;

use Cwd qw(getcwd);
use File::Temp qw(tempdir);
use parent 'NYTPTest'; # whose import() brings strict, warnings and Test::More

our @EXPORT_OK = qw(put record shared write_profile folder run_script slurp in_folder
    double process_start process_end file_record);

# Where the stock modules are installed, a blib that is not complete would test those.
require Devel::NYTProf::Data;
die "the modules of this tree are not built\n" if $INC{'Devel/NYTProf/Data.pm'} !~ m{\bblib\b};

my $top = getcwd();
my $folder;

# A folder for the test's files, removed at its end.
sub folder { return $folder ||= tempdir(CLEANUP => 1) }

sub in_folder {
    my ($code) = @_;
    chdir folder() or die "chdir: $!";
    my @result = eval { $code->() };
    my $error = $@;
    chdir $top or die "chdir: $!";
    die $error if $error;
    return wantarray ? @result : $result[0];
}

# Writes a file of that name into the folder; its path.
sub put {
    my ($name, $bytes) = @_;
    return NYTPTest::put($name =~ m{\A/} ? $name : folder() . "/$name", $bytes);
}

# The profile of a program text, made by this tree's recorder.
sub record {
    my ($name, $code, $options) = @_;
    put("$name.pl", $code);
    my $out = folder() . "/$name.out";
    local $ENV{NYTPROF} = join ':', "file=$out", $options || ();
    local $ENV{PERL5LIB} = join ':', map {"$top/blib/$_"} qw(lib arch);
    in_folder(sub { system $^X, '-d:NYTProf', "$name.pl" });
    die "$name.pl ended with status $?" if $?;
    return $out;
}

# The path of a profile of t/profiles.py, recorded with the stock profiler when it is missing; undef when it
# cannot be had (the stock profiler is not installed). With several names they are all made at once.
my %shared;

sub shared {
    my @missing = grep { !$shared{$_} } @_;
    for (@missing ? qx{/usr/bin/python3 t/profiles.py @missing 2>/dev/null} : ()) {
        $shared{$1} = $_ if chomp && m{([^/]+)\.out\z} && -s;
    }
    return $shared{ $_[0] };
}

# A profile of exactly these records (bytes); the header is added.
sub write_profile {
    my ($name, @records) = @_;
    return put("$name.out", join '', "NYTProf 5 0\n:ticks_per_sec=10000000\n:nv_size=8\n:application=$name\n", @records);
}

# Records: process 7 begins, and ends a second later; file 1 has a name, of less than 16,384 bytes.
sub double        { return pack 'd*', @_ }
sub process_start { return 'P' . chr(7) . chr(1) . double(1700000000.5) }
sub process_end   { return 'p' . chr(7) . double(1700000001.5) }

sub file_record {
    my ($name) = (@_, '/x.p');
    my $len = length $name;
    return '@' . join('', map {chr} 1, 0, 0, 2, 0, 0, ord q('), $len < 128 ? $len : (0x80 | $len >> 8, $len & 255)) . $name;
}

# (status, standard output, standard error) of a command of bin/, run with this tree's modules.
sub run_script {
    my ($script, @arguments) = @_;
    my ($out, $err) = map { folder() . "/script.$_" } qw(stdout stderr);
    local $ENV{PERL5LIB} = join ':', map {"$top/blib/$_"} qw(lib arch);
    my $pid = fork;
    die "fork: $!" if !defined $pid;
    if (!$pid) {
        open STDOUT, '>', $out or die;
        open STDERR, '>', $err or die;
        exec $^X, "bin/$script", @arguments;
        die;
    }
    waitpid $pid, 0;
    return ($? & 127 ? "signal $?" : $? >> 8, slurp($out), slurp($err));
}

sub slurp {
    my ($path) = @_;
    open my $fh, '<:raw', $path or die "$path: $!";
    local $/;
    return scalar(<$fh>) // '';
}

1;
