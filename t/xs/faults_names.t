# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Names and sizes: long, binary, many.

use lib 't/lib';
use NYTPTest;
use Extended;

binmode $_, ':utf8' for Test::More->builder->output, Test::More->builder->failure_output;

scenario 'sub names of any length' => sub {
    for my $n (100, 480, 493, 494, 495, 500, 1000, 5000, 70_000) {
        my $run = run_prog(args => [$n], code => <<'P');
require Sub::Util;
no strict 'refs';
my $n = 'n' x $ARGV[0];
*{$n} = $ARGV[0] < 250 ? eval "sub $n { 1 } \\&$n" : sub { 1 };
Sub::Util::set_subname("main::$n", \&$n);
&$n();
&{Sub::Util::set_subname("main::$n", sub { 2 })}();
print 'ok';
P
        is "$run->{status} $run->{signal} $run->{out}", '0 0 ok', "$n: runs" or next;
        my $p = profile_in($run);
        ok n_calls($p, 'main::' . 'n' x $n), "$n: whole name";
        # A name that no line of a comment holds is cut where calls are told, so their sums are of another sub.
        is join('; ', check_sums($p)), '', "$n: whole" if $n < 59_000;
        is system(root() . "/bin/nytp-export", '-q', '--check', "$run->{dir}/nytprof.out"), 0, "$n: is read to its end" if -x root() . '/bin/nytp-export';
    }
} if $] >= 5.022; # Sub::Util

scenario 'anonymous subs in long paths' => sub {
    for my $n (200, 480, 490, 900, 3000) {
        my $dir = 'd' x 80;
        my $path = join '/', ($dir) x int($n / 81);
        my $run = run_prog(code => <<"P");
my \$p = '$path'; my \$at = '';
for (split m{/}, \$p) { \$at .= "\$_/"; mkdir \$at }
open my \$f, '>', "\${at}mod.pl" or die \$!;
print \$f "my \\\$f = sub { 1 };\\n\\\$f->();\\n1;\\n";
close \$f;
do "./\${at}mod.pl" or die \$@;
print 'ok';
P
        is "$run->{status} $run->{signal} $run->{out}", '0 0 ok', "$n: runs" or next;
        my $p = whole_in($run, "$n: whole");
        ok((grep { $_->{callee} =~ m{^main::__ANON__\[(?:\./)?\Q$path\E/?mod\.pl:1\]$} } @{ $p->{arc} }), "$n: whole name")
          or diag join ' ', map { $_->{callee} } @{ $p->{arc} };
    }
};

scenario 'blanks, semicolons, newlines, NUL in names' => sub {
    my %name = (blank => 'a b', semi => 'a;b', newline => "a\nb", nul => "a\0b", nul2 => "a\0c", quote => "a'b", tab => "a\tb");
    my $code = "no strict 'refs'; require Sub::Util;\n"
      . join '', map { sprintf "{ my \$s = Sub::Util::set_subname(\"main::\" . pack('H*', '%s'), sub { 1 }); \$s->(); }\n", unpack 'H*', $name{$_} } sort keys %name;
    my $run = run_prog(code => $code);
    is "$run->{status} $run->{signal}", '0 0', 'runs' or diag $run->{err};
    my $p = whole_in($run, 'whole');
    my %have = map { $_->{callee} => $_->{count} } @{ $p->{arc} };
    for my $k (sort keys %name) {
        (my $perl = "main::$name{$k}") =~ s/'/::/;
        ok $have{"main::$name{$k}"} || $have{$perl}, "$k kept";
    }
    my $glob = run_prog(code => "no strict 'refs'; *{\"main::x\\0y\"} = sub { 1 }; eval { &{\"main::u\\0v\"}() }; eval { &{\"main::u\\0w\"}() }; print 'ok';\n");
    $p = profile_in($glob);
    my @u = sort grep { /^main::u/ } map { $_->{callee} } @{ $p->{arc} };
    is_deeply \@u, ["main::u\0v", "main::u\0w"], 'undefined subs with NUL do not fall together';
} if $] >= 5.028; # earlier Sub::Util cuts a name at NUL and, under any debugger, crashes at a quote

scenario 'UTF-8 in names, packages, files, sources; Latin-1 source' => sub {
    my $run = run_prog(script => "caf\xc3\xa9.pl", code => "use utf8; package \xc3\x9cn\xc3\xaf; sub \xc3\xa9t\xc3\xa9 { 1 } sub \xe6\x97\xa5 { \xc3\xa9t\xc3\xa9() } package main; \xc3\x9cn\xc3\xaf::\xe6\x97\xa5(); my \$f = sub { 1 }; \$f->();\n");
    is $run->{status}, 0, 'runs' or diag $run->{err};
    my $p = whole_in($run, 'whole');
    my $sub = "\x{dc}n\x{ef}::\x{e9}t\x{e9}";
    ok $p->{sub}{$sub}, 'range under the decoded name';
    ok n_calls($p, $sub), 'arc under the same name';
    ok((grep { $_->{name} =~ /caf\x{e9}\.pl$/ } values %{ $p->{fid} }), 'file name');
    is $p->{attr}{application}, "caf\xc3\xa9.pl", 'application';
    $run = run_prog(code => "package L\xe9; sub f\xe9 { 1 } package main; no strict 'refs'; &{\"L\xe9::f\xe9\"}();\nprint 'ok';\n");
    is "$run->{status} " . ($run->{out} || $run->{err} =~ /Unrecognized character/ && 'ok'), $run->{status} ? "$run->{status} ok" : '0 ok', 'Latin-1 names';
};

scenario 'a newline in the script\'s name, and in $0' => sub {
    my $run = run_prog(script => "a\nb.pl", code => "sub f { 1 }\nf();\n");
    is $run->{status}, 0, 'runs';
    my $p = whole_in($run, 'whole');
    is $p->{attr}{application} =~ tr/\n//, 0, 'application has no newline';
    ok((grep { $_->{name} =~ /a\nb\.pl$/ } values %{ $p->{fid} }), 'the file\'s name is kept');
    $run = run_prog(code => "BEGIN { \$0 = qq{x\\ny=z\\n:ticks_per_sec=1} } DB::enable_profile(); sub f { 1 } f();\n", opts => 'start=no');
    $p = whole_in($run, '$0 changed');
    isnt $p->{attr}{ticks_per_sec}, 1, 'no attribute smuggled in';
};

scenario 'deep recursion' => sub {
    my $n = 10_000;
    my $run = run_prog(code => "no warnings; sub r { my \$n = shift; \$n ? r(\$n - 1) + 1 : 0 } print r($n);\n");
    is "$run->{signal} $run->{out}", "0 $n", 'runs';
    my $p = whole_in($run, 'whole');
    like join(' ', arc_lines($p)), qr/main::r 1 main::r x$n r$n\b/, 'depth';
};

scenario 'thousands of subs, files and packages' => sub {
    my $n = 3000;
    my $run = run_prog(code => "for my \$i (1 .. $n) { eval \"#line 1 \\\"file\$i\\\"\\npackage P\$i; sub s\$i { 1 } s\$i(); 1\" or die }\nprint 'ok';\n");
    is $run->{out}, 'ok', 'runs';
    my $p = whole_in($run, 'whole');
    is scalar(grep { $_->{callee} =~ /^P(\d+)::s\1$/ } @{ $p->{arc} }), $n, 'all arcs';
    is scalar(grep { /^P(\d+)::s\1$/ } keys %{ $p->{sub} }), $n, 'all ranges';
};

done_testing;
