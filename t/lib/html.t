# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# nytprofhtml: its options, and programs that run it the way plug-ins of web frameworks do. What is on the pages
# is for t/exporters/test_html.py.

use lib 't/lib';
use Recorded qw(put record run_script slurp folder);

use Cwd qw(getcwd);
use File::Path qw(remove_tree);

my $top = getcwd();
my $folder = folder();
my $profile = record('page', "use lib 'sub';\nuse List::Util 'sum';\nsub work { sum(1 .. 9) }\nwork() for 1 .. 3;\n"
        . "eval \"\\\$_ + 1\" for 1 .. 3;\n", 'blocks=1');

sub files { my ($where) = @_; opendir my $dir, $where or return; return sort grep { !/\A\./ } readdir $dir }
sub html { return run_script('nytprofhtml', @_) }

# -- options

my ($status, $out, $err) = html('-f', $profile, '-o', "$folder/r");
is("$status$err", 0, 'a report is written');
is($out, "Report written: $folder/r/index.html\n", 'which is all that is said');
(my $whole = "$folder/page-pl") =~ s{[./]+}{-}g;
# The name of the page's file without this ending: the end of a name that is too long.
sub stem { my ($end) = @_; return grep { $whole =~ /\Q$_\E\z/ } map {/\A(.*page-pl)\Q$end\E\z/} files("$folder/r") }
my ($page) = stem('-1-line.html');
my $of_subs = "$page-1-sub.html";
my %is_there = map { $_ => 1 } files("$folder/r");
ok($is_there{$_}, $_) for qw(index.html index-subs-excl.html all_stacks_by_time.calls all_stacks_by_time.svg flamegraph_subattr.txt),
    map {"$page-1-$_.html"} qw(line block sub);
ok(scalar(grep {/\AList-Util-pm-\d+-sub\.html\z/} keys %is_there), 'library files are named without their folder');

(undef, undef, $err) = html('-f', $profile, '-o', "$folder/nolib", '--no-lib');
ok(!(grep {/\AList-Util-pm/} files("$folder/nolib")), '--no-lib: with it, or, where the whole is too long, with the end of it');

for my $case (['--minimal', qr/-(?:sub|block)\.html\z/], ['--min', qr/-sub\.html\z/], ['--no-flame', qr/\.svg\z|\.calls\z|flame/],
    ['--noflame', qr/\.svg\z/]) {
    my ($option, $absent) = @$case;
    remove_tree("$folder/m");
    is(join('', (html($option, '-f', $profile, '-o', "$folder/m"))[0, 2]), 0, "$option is taken");
    is_deeply([grep {/$absent/} files("$folder/m")], [], 'and leaves out what it says');
}
my @merged = grep {/\A\(eval/} files("$folder/r");
for my $option ('--no-mergeevals', '--no-merge-evals') {
    is((html($option, '-f', $profile, '-o', "$folder/apart"))[0], 0, "$option is taken");
    cmp_ok(scalar(grep {/\A\(eval/} files("$folder/apart")), '>', scalar @merged, 'and gives more pages');
}
is(join('', (html(@$_, '-f', $profile, '-o', "$folder/o"))[0, 2]), 0, "@$_")
    for ['--flamewidth', 800], ['--debug'], ['--no-debug'], ['--mergeevals'], ['--merge-evals'], ['--flame'], ['--lib', '/tmp'],
        ['--as-recorded'], ['-l', '/tmp'], ['--title', '<b>'];
(undef, undef, $err) = html('-l', "$folder/nosuch", '-f', $profile, '-o', "$folder/o", '--title', '<b>');
like($err, qr{\Anytprofhtml: --lib \S+/nosuch: no such folder on this machine\n\z}, 'a --lib that is not there is told');
like(slurp("$folder/o/index.html"), qr/<h1>Profile of &lt;b&gt;<\/h1>/, '--title is in the heading');
html('--flamewidth=800', '-f', $profile, '-o', "$folder/o");
like(slurp("$folder/o/all_stacks_by_time.svg"), qr/ width="800"/, '--flamewidth is the width of the picture');

put('r/mine.txt', '');
html('-f', $profile, '-o', "$folder/r", '--minimal');
ok(-e "$folder/r/$of_subs", 'without --delete what was there stays');
like(join('', html('--del', '-f', $profile, '-o', "$folder/r", '--minimal')), qr/\A0.*left 1 file/s, '--del: it is said what stays');
ok(!-e "$folder/r/$of_subs" && -e "$folder/r/mine.txt", '--delete: what a report wrote goes, nothing else');
SKIP: {
    skip 'root may read any folder', 2 if $> == 0;
    chmod 0333, "$folder/r" or die $!;
    ($status, undef, $err) = html('--delete', '-f', $profile, '-o', "$folder/r", '--minimal');
    chmod 0755, "$folder/r" or die $!;
    isnt($status, 0, '--delete in a folder that may not be read is refused');
    like($err, qr/cannot read the folder: Permission denied\n\z/, 'with the reason');
}

($status, $out, $err) = html('--single', '-f', $profile, '-o', '-');
is("$status$err", 0, 'one file to standard output');
like($out, qr/\A<!DOCTYPE html>.*<\/html>\n\z/s, 'and nothing else');
is((html('-f', $profile, '-f', $profile, '-o', "$folder/two"))[0], 0, 'two profiles');
like(slurp("$folder/two/index-subs-excl.html"), qr/<tr><td>6<td>1.*work/, 'are one report');

like(join('', html('-f', "$folder/nosuch", '-o', "$folder/no")), qr/\A1nytp/, 'no such profile');
ok(!-d "$folder/no", 'no folder is made');
like(join('', html('-f', $profile, '-o', "$folder/no/such")), qr/\A4nytp/, 'no such folder');
like(join('', html('-f', $profile, '-o', "$folder/o", 'extra.out')), qr/ignored: extra\.out/, 'other arguments are ignored, and that is said');

# -- itself

{
    local $ENV{NYTPROF} = 'file=/dev/null';
    ($status, $out, $err) = html('--profself', '-f', $profile, '-o', "$folder/self", '--minimal');
}
is($status, 0, '--profself');
like($out, qr{\AReport written: \Q$folder\E/self/index\.html\n\z}, 'writes the report');
ok(-s "$folder/self/index.html" && !-e "$folder/self/$of_subs", 'the one that was asked for');
my $profself = "$top/nytprof.nytprofhtml.out";
ok(-s $profself, 'and a profile of nytprofhtml');
is((html('-f', $profself, '-o', "$folder/ofself"))[0], 0, 'which is one');
like(slurp("$folder/ofself/index.html"), qr/Profile of [^<]*nytprofhtml/, 'of nytprofhtml');
unlink $profself;

# -- callers: as Plack's middleware does it, by name in PATH and by -f, -o; with the options that Mojolicious' plug-in gives

my $middleware = put('middleware.pl', <<'END');
use strict;
use warnings;
my ($profile, $root) = @ARGV;
my ($html) = grep { -x } map {"$_/nytprofhtml"} split /:/, $ENV{PATH};
die "Cannot find nytprofhtml\n" if !$html;
system($html, '-f', $profile, '-o', "$root/report") == 0 or die "nytprofhtml failed\n";
open my $fh, '<', "$root/report/index.html" or die "no report: $!\n";
my $page = do { local $/; <$fh> };
print "200\nContent-Type: text/html; charset=utf-8\n\n", $page;
END
{
    local $ENV{PATH} = "$top/blib/script:$ENV{PATH}";
    local $ENV{PERL5LIB} = join ':', map {"$top/blib/$_"} qw(lib arch);
    my $said = qx{$^X $middleware $profile $folder};
    is($?, 0, 'a middleware finds and runs it');
    like($said, qr{<h1>Profile of page\.pl}, q{and serves the page});
}
is((html("--file=$profile", "--out=$folder/html", '--delete'))[0], 0, 'a plug-in\'s options');
ok(-s "$folder/html/index.html", 'make a report, too');

done_testing();
