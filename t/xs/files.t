# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Files, string evals, sources and the names of both.

use lib 't/lib';
use NYTPTest;

use Cwd qw(abs_path);

my %F = (IS_PMC => 1, VIA_STMT => 2, VIA_SUB => 4, HAS_SRC => 0x10, SAVE_SRC => 0x20, IS_EVAL => 0x100);

sub file_of {
    my ($p, $want) = @_;
    my $fid = fid_named($p, $want);
    return defined $fid ? $p->{fid}{$fid} : {};
}

sub text_of {
    my ($p, $want) = @_;
    my $fid = fid_named($p, $want);
    return '' if !defined $fid || !$p->{src}{$fid};
    return join '', map { defined $_ ? $_ : '' } map { $p->{src}{$fid}{$_} }
      1 .. (sort { $b <=> $a } keys %{ $p->{src}{$fid} })[0];
}

scenario 'names: absolute for files, as perl knows them for -e, - and evals' => sub {
    my $run = run_prog(code => "require './Rel.pm';\neval qq{1;\\n};\n", files => { 'Rel.pm' => "package Rel;\nmy \$x = 1;\n1;\n" });
    my $p = profile_in($run);
    my $dir = abs_path($run->{dir});
    is file_of($p, 'prog.pl')->{name}, "$dir/prog.pl", 'the script';
    is file_of($p, 'Rel.pm')->{name}, "$dir/Rel.pm", 'a leading ./ is dropped';
    ok file_of($p, '(eval 1)[prog.pl:2]')->{fid}, 'an eval stays relative';
    $p = profile_in(run_perl(args => ['-e', "my \$x = 1;\nprint \"\";\n"]));
    is file_of($p, '-e')->{name}, '-e', '-e';
    is $p->{attr}{application}, '-e', 'application of -e';
    $p = profile_in(run_perl(args => ['-'], stdin => "my \$x = 1;\nprint \"\";\n"));
    is file_of($p, '-')->{name}, '-', 'standard input';
};

scenario 'string evals: parent, line, nesting, counts' => sub {
    for my $opts (matrix()) {
        my $run = run_prog(opts => $opts, code => <<'P');
my $x = 0;
for my $i (1 .. 2) {
    eval "\$x++;\n\$x += $i;\n";
}
eval q{
    my $y = 1;
    eval "\$y++;\n\$x += \$y;\n";
};
eval 'syntax error (';
print "$x\n";
P
        is $run->{out}, "7\n", "$opts: output";
        my $p = whole_in($run, "$opts: sums");
        next if $opts =~ /stmts=0/;
        my %parent = (
            '(eval 1)[prog.pl:3]' => ['prog.pl', 3],
            '(eval 2)[prog.pl:3]' => ['prog.pl', 3],
            '(eval 3)[prog.pl:5]' => ['prog.pl', 5],
            '(eval 4)[(eval 3)[prog.pl:5]:3]' => ['(eval 3)[prog.pl:5]', 3],
        );
        for my $name (sort keys %parent) {
            my $f = file_of($p, $name);
            ok $f->{fid}, "$opts: $name" or next;
            is $p->{fid}{ $f->{eval_fid} }{fid}, file_of($p, $parent{$name}[0])->{fid}, "$opts: $name: parent";
            is $f->{eval_line}, $parent{$name}[1], "$opts: $name: line";
            is stmt_lines($p, $f->{fid}), $name =~ m{^\(eval 3} ? '2:1 3:1' : '1:1 2:1', "$opts: $name: counts";
        }
        is scalar(grep { /\(eval 5/ } map { $_->{name} } values %{ $p->{fid} }), 0, "$opts: none for the failed one";
    }
};

scenario 'the program sees plain names; nameevals=0 and nameanonsubs=0 give them to the profile' => sub {
    my $code = <<'P';
my $e = eval "(caller(0))[1] || __FILE__";
eval "sub { \$n = (caller(0))[3] }->()";
my $f = sub { (caller(0))[3] };
eval "\n\$at = __FILE__;";
print join('|', eval '__FILE__', $at, $f->(), $n), "\n";
P
    my $plain = run_plain(code => $code);
    for my $opts ('', 'nameevals=0', 'nameanonsubs=0', 'nameevals=0:nameanonsubs=0', 'savesrc=0') {
        my $run = run_prog(code => $code, opts => $opts);
        is $run->{out}, $plain->{out}, "$opts: what the program sees";
        my $p = whole_in($run, "$opts: sums");
        my @evals = sort grep { /^\(eval/ } map { $_->{name} } values %{ $p->{fid} };
        my @anons = sort grep { /__ANON__/ } map { $_->{callee} } @{ $p->{arc} };
        if ($opts =~ /nameevals=0/) {
            is scalar(grep { /\[/ } @evals), 0, "$opts: short eval names: @evals";
        } else {
            is scalar(grep { !/\[prog\.pl:\d+\]$/ } @evals), 0, "$opts: long eval names: @evals";
        }
        ok @evals >= 3, "$opts: evals are there";
        if ($opts =~ /nameanonsubs=0/) {
            is join(' ', sort { $a cmp $b } keys %{ { map { $_ => 1 } @anons } }), 'main::__ANON__', "$opts: short anon names";
        } else {
            my $e = $opts =~ /nameevals=0/ ? '(eval 2)' : '(eval 2)[prog.pl:2]';
            is "@anons", "main::__ANON__[$e:1] main::__ANON__[prog.pl:3]", "$opts: long anon names";
        }
    }
};

scenario 'an anonymous sub is named for its last line and has its range' => sub {
    my $p = profile_in(run_prog(code => <<'P'));
my $f = sub {
    my $x = shift;

    return $x;
};
$f->(1);
my $never = sub { 2 };
sub named {
    return 1;
}
sub unused { 1 }
sub declared;
P
    is join('; ', sub_lines($p, qr/^main::(?!RUNTIME|BEGIN)/)),
      'main::__ANON__[prog.pl:5] 1-5; main::__ANON__[prog.pl:7] 7-7; main::named 8-10; main::unused 11-11', 'ranges'
      or diag join "\n", sub_lines($p);
};

scenario 'ranges: what sets the fields of a class begins at the first value' => sub {
    my $p = profile_in(run_prog(switches => ['-Mfeature=class'], code => <<'P'));
class Point {
    field $x = 1;
    field $y = 2;
    ADJUST { $x++ }
}
class Empty { field $z; }
Point->new; Empty->new;
P
    is join('; ', sub_lines($p, qr/::__ANON__/)), 'Empty::__ANON__[prog.pl:6] 6-6; '
      . 'Point::__ANON__[prog.pl:4] 4-4; Point::__ANON__[prog.pl:5] 2-5', 'ranges';
} if $] >= 5.038;

scenario 'ranges: packages, BEGIN, never called, evals, xsubs' => sub {
    my $p = profile_in(run_prog(code => <<'P'));
package A; sub one {
    1;
}
package B::C;
sub two { 1 }

sub three
{
    my $x = <<EOT;
text
EOT
}
eval "sub four {\n1\n}\n1";
four();
P
    my %range = map { /^(\S+) (.*)/ } sub_lines($p);
    is $range{'A::one'}, '1-3', 'A::one';
    is $range{'B::C::two'}, '5-5', 'B::C::two';
    like $range{'B::C::three'}, qr{^[78]-12$}, 'B::C::three';
    is $range{'B::C::four'}, '(eval 1)[prog.pl:13]:1-3', 'B::C::four';
};

scenario 'sources: evals, -e and stdin always, files with savesrc=1' => sub {
    my $code = "my \$x = 1;\n\neval \"\\\$x++;\\n\\\$x--;\\n\";\n=pod\n\ndoc\n\n=cut\n\nprint \$x;\n";
    my %eval = ('' => 1, 'savesrc=0' => 1);
    for my $opts ('', 'savesrc=1', 'savesrc=0', 'use_db_sub=1', 'blocks=1:leave=0', 'stmts=1:compress=0') {
        my $p = profile_in(run_prog(code => $code, opts => $opts));
        my $text = text_of($p, 'prog.pl');
        if ($opts =~ /savesrc=0/) {
            is $text, '', "$opts: no source of the file";
        } else {
            is((split /^/, $text)[$_ - 1], (split /^/, $code)[$_ - 1], "$opts: line $_") for 1 .. 3, 10;
        }
        like text_of($p, '(eval 1)[prog.pl:3]'), qr/\A\$x\+\+;\n\$x--;\n+;?\n?\z/, "$opts: the eval's source";
        my $e = profile_in(run_perl(args => ['-e', "my \$x = 1;\n\$x++;\n"], opts => $opts));
        like text_of($e, '-e'), qr/\Amy \$x = 1;\n\$x\+\+;\n/, "$opts: -e";
        my $in = profile_in(run_perl(args => ['-'], stdin => "my \$x = 1;\n\$x++;\n__END__\nmore\n", opts => $opts));
        like text_of($in, '-'), qr/\Amy \$x = 1;\n\$x\+\+;\n/, "$opts: stdin";
    }
};

scenario 'sources of modules, whole and byte by byte' => sub {
    my $mod = "package Mod; # caf\xe9 \xc3\xa9\nuse strict;\nsub f { 1 }\n1;\n__END__\nnot code\n";
    my $run = run_prog(code => "require './Mod.pm';\nMod::f();\n", files => { 'Mod.pm' => $mod });
    my $p = profile_in($run);
    my $text = text_of($p, 'Mod.pm');
    is substr($text, 0, length("package Mod; # caf\xe9 \xc3\xa9\n")), "package Mod; # caf\xe9 \xc3\xa9\n", 'bytes kept';
    like $text, qr/^sub f \{ 1 \}$/m, 'code kept';
};

scenario '#line: counts go to the named file' => sub {
    my $p = profile_in(run_prog(code => <<'P'));
my $x = 1;
#line 100 "other.tmpl"
$x++;
sub f { $x }
f();
eval "#line 7 \"in-eval.tmpl\"\n\$x++;\n\$x--;\n";
P
    my $other = file_of($p, 'other.tmpl');
    is stmt_lines($p, $other->{fid}), '100:1 101:1 102:1 103:1', 'file';
    is stmt_lines($p, file_of($p, 'in-eval.tmpl')->{fid}), '7:1 8:1', 'eval';
    is((map { "$_->[1]-$_->[2]" } @{ $p->{sub}{'main::f'} })[0], '101-101', 'sub');
};

# The peer has one id and the last text, so that lines of both are one.
my $RELOAD = <<'P';
sub put { open my $file, '>', 'Rel.pm' or die; print $file $_[0]; close $file }
put("package Rel;\nsub one { my \$x = shift; return \$x + 1 }\n1;\n");
require './Rel.pm';
Rel::one($_) for 1 .. 10;
my $kept = \&Rel::one;
put("package Rel;\n# a\n# b\n# c\nsub zero { 0 }\nsub one {\n  my \$x = shift;\n  return \$x + 2;\n}\n1;\n") if !@ARGV;
delete $INC{'./Rel.pm'};
undef *Rel::one;
{ no warnings; require './Rel.pm' }
print Rel::one($_), ' ' for 1 .. 5;
print $kept->(1), "\n";
Rel::zero() if !@ARGV;
P

scenario 'a file that is loaded again after it was changed is another file' => sub {
    for my $opts ('', 'savesrc=0', 'subs=0', 'calls=1') {
        my $run = run_prog(code => $RELOAD, opts => $opts);
        is $run->{out}, "3 4 5 6 7 2\n", "$opts: output";
        my $p = profile_in($run);
        my ($first, $second, @more) = map { $_->{fid} } sort { $a->{fid} <=> $b->{fid} } grep { $_->{name} =~ m{/Rel\.pm\z} } values %{ $p->{fid} };
        ok defined $second && !@more, "$opts: two ids" or next;
        is stmt_lines($p, $first) . '; ' . stmt_lines($p, $second), '2:22 3:1; 5:1 7:5 8:5 10:1', "$opts: statements, those of what is left of the first";
        is $p->{src}{$first}{2} . $p->{src}{$second}{8}, "sub one { my \$x = shift; return \$x + 1 }\n  return \$x + 2;\n", "$opts: both texts" if $opts ne 'savesrc=0';
        is join(' ', map { "$_->[0]:$_->[1]-$_->[2]" } @{ $p->{sub}{'Rel::one'} }), "$first:2-2 $second:6-9", "$opts: both places" if $opts ne 'subs=0';
    }
    my $p = profile_in(run_prog(code => $RELOAD, args => ['same']));
    is scalar(grep { $_->{name} =~ m{/Rel\.pm\z} } values %{ $p->{fid} }), 1, 'the same file again is the same';
};

scenario 'source is what perl has read, or none' => sub {
    my $lazy = "package Lazy;\nsub f { 1 }\n1;\n";
    my $change = 'open my $f, ">", "Lazy.pm" or die; print $f "# other\n" x 9; close $f;';
    my $p = profile_in(run_prog(code => "BEGIN { require './Lazy.pm'; $change }\nLazy::f();\n", files => { 'Lazy.pm' => $lazy }));
    is text_of($p, 'Lazy.pm'), $lazy, 'read when its first statement ran, before it was changed';
    my $module = "sub f { 1 }\n";
    $p = profile_in(run_prog(code => "BEGIN { do './Lazy.pm'; $change }\nf();\n", files => { 'Lazy.pm' => $module }));
    is text_of($p, 'Lazy.pm'), '', 'changed before anything of it ran';
    $p = profile_in(run_prog(code => "chdir '/'; f();\nBEGIN { require './Lazy.pm' } sub f { Lazy::f() }\n", files => { 'Lazy.pm' => "package Lazy; sub f { 1 }\n1;\n" }));
    like text_of($p, 'Lazy.pm'), qr/sub f/, 'by the folder in which it was loaded';
};

scenario '#line: the source is the text behind it, not the file of that name' => sub {
    my $code = <<'P';
eval "1;\n# line 7 \"secret.txt\"\nBEGIN { 1; }\n\$x++;\n#line 3 secret.txt\n\$x--;\n# line 90\n\$x;\n";
eval "#line 2 \"two.txt\"\n\$y;\n";
# line 5 "here.txt"
$x = 1;
P
    for my $opts ('', 'savesrc=0') {
        my $p = profile_in(run_prog(code => $code, opts => $opts, files => { map { $_ => "SECRET\n" x 99 } 'secret.txt', 'two.txt', 'here.txt' }));
        my %text = map { my $fid = fid_named($p, $_); $_ => join '', map { "$_:$p->{src}{$fid}{$_}" } sort { $a <=> $b } keys %{ $p->{src}{$fid} || {} } } qw(secret.txt two.txt here.txt);
        is $text{'secret.txt'}, "3:\$x--;\n7:BEGIN { 1; }\n8:\$x++;\n90:\$x;\n", "$opts: all pieces of an eval";
        is $text{'two.txt'}, "2:\$y;\n", "$opts: of another";
        is $text{'here.txt'}, $opts ? '' : "5:\$x = 1;\n", "$opts: of the script";
    }
};

scenario '#line near 2**31 and backwards' => sub {
    my $code = "#line 2147483600 \"far\"\nmy \$x = 1;\nsub f {\n1 }\nf();\n#line 3 \"back\"\n\$x++;\nprint \"ok\";\n";
    my $limit = sanitized() ? '' : 'ulimit -v 2000000';
    my $run = run_prog(code => $code, shell => $limit);
    is "$run->{status} $run->{out}", '0 ok', 'runs in bounded memory' or diag $run->{err};
    my $p = whole_in($run, 'whole');
    is stmt_lines($p, file_of($p, 'far')->{fid}), '2147483600:1 2147483602:1 2147483603:1', 'lines kept';
    cmp_ok $p->{file_size}, '<', 100_000, 'small file';
};

scenario 'chdir does not change what a file is called' => sub {
    my $run = run_prog(code => <<'P', files => { 'Late.pm' => "package Late;\nsub f { my \$x = 1; \$x }\n1;\n" });
use Cwd ();
BEGIN { $dir = Cwd::getcwd() }
require './Late.pm';
mkdir 'sub'; chdir 'sub';
Late::f();
my $x = 1;
P
    my $p = profile_in($run);
    my $dir = abs_path($run->{dir});
    is file_of($p, 'Late.pm')->{name}, "$dir/Late.pm", 'module';
    is file_of($p, 'prog.pl')->{name}, "$dir/prog.pl", 'script';
};

scenario 'flags' => sub {
    my $p = profile_in(run_prog(code => "my \$x = 1;\neval '\$x++;';\n"));
    my $flags = file_of($p, 'prog.pl')->{flags};
    ok $flags & $F{VIA_STMT} || $flags & $F{VIA_SUB}, 'first seen by';
    ok $flags & $F{SAVE_SRC}, 'SAVE_SRC';
    ok !(file_of($p, '(eval 1)[prog.pl:2]')->{flags} & $F{IS_PMC}), 'no PMC';
    $p = profile_in(run_perl(args => ['-e', 'my $x = 1; print ""']));
    ok file_of($p, '-e')->{flags} & $F{IS_EVAL}, 'IS_EVAL on -e';
};

# Modules that exist nowhere but in the program: as a handle, line by line, as a text in parts.
my $HOOK = <<'P';
BEGIN {
    my %module = (
        'Handle.pm' => "package Handle;\nBEGIN { \$main::at_begin = \$^P; eval 'sub named { 1 }' }\nsub f {\n    return 2;\n}\nf();\n1;\n",
        'Lines.pm'  => "package Lines;\nuse strict;\nuse Handle;\nsub f { Handle::f() }\n1;\n__END__\nmore\n",
        'Text.pm'   => "package Text;\n\n\nsub f { 3 }\n1;",
        'Packed.pm' => "#line " . (__LINE__ + 1) . " \"prog.pl\"\npackage Packed;\nsub f { 4 }\n1;\n",
        'Wrong.pm'  => "package Wrong;\nsub f {\n1;\n",
    );
    unshift @INC, sub {
        my $text = $module{ $_[1] } or return;
        my @lines = split /^/, $text;
        return \$text if $_[1] eq 'Text.pm';
        return sub { $_ = shift @lines; defined $_ ? 1 : 0 } if $_[1] ne 'Handle.pm';
        open my $fh, '<', \$text or die;
        return $fh;
    };
}
use Lines;
eval { require Wrong };
print $@ =~ /Missing right/ ? 'wrong ' : "right? $@";
P

scenario 'source that a hook in @INC hands out is kept, and the program does not see it' => sub {
    my $code = $HOOK . <<'P';
require Text;
require Packed;
print Lines::f() + Text::f() + Packed::f(), " $^P";
for (sort grep { /^_<(?:.loader|.eval|prog)/ } keys %main::) {
    my $n = @{*{$main::{$_}}{ARRAY} || []};
    printf " %s %s", $n, s{0x.*/}{}r if $n || $] >= 5.024; # before, #line made such a glob
}
P
    my $plain = run_plain(code => $code);
    for my $opts ('', 'compress=0:calls=0:slowops=0', 'blocks=1', 'leave=0', 'use_db_sub=1', 'perldb=1024', 'savesrc=0') {
        my $run = run_prog(code => $code, opts => $opts);
        is $run->{out}, $plain->{out}, "$opts: the program's output" if $opts !~ /perldb|use_db/;
        my $p = whole_in($run, "$opts: whole");
        my %text = map { m{/loader/0x[0-9a-f]+/(\w+)} ? ($1 => text_of($p, $_)) : () } map { $_->{name} } values %{ $p->{fid} };
        if ($opts eq 'savesrc=0') {
            is join('', values %text), '', "$opts: none";
            next;
        }
        is $text{Handle}, "package Handle;\nBEGIN { \$main::at_begin = \$^P; eval 'sub named { 1 }' }\nsub f {\n    return 2;\n}\nf();\n1;\n", "$opts: a handle";
        like $text{Lines}, qr/\Apackage Lines;\nuse strict;\nuse Handle;\nsub f \{ Handle::f\(\) \}\n1;\n/, "$opts: lines";
        is $text{Text}, "package Text;\n\n\nsub f { 3 }\n1;", "$opts: a text";
    }
};

scenario 'such source is in every profile that runs it' => sub {
    my $run = run_prog(code => $HOOK . <<'P');
Lines::f();
DB::enable_profile('second.out');
Lines::f();
if (!fork) { Lines::f(); exit }
wait;
P
    my ($child) = glob "$run->{dir}/second.out.*";
    for my $p (profile_in($run), profile_in($run, 'second.out'), read_profile($child)) {
        my ($name) = grep { m{/Handle\.pm$} } map { $_->{name} } values %{ $p->{fid} };
        like text_of($p, $name), qr/^    return 2;$/m, $name;
    }
};

scenario 'subs are described when their file becomes known' => sub {
    my $run = run_prog(code => <<'P');
eval qq{#line 7 "late"\nsub late { return 1 }\nsub never { return 2 }\n1} or die;
eval { gone() };
select undef, undef, undef, 0.02; # what is recorded is written before; no statement ran in these subs
late();
eval qq{#line 5 "late"\nsub gone { return 3 }\n1} or die;
gone();
select undef, undef, undef, 0.02;
kill KILL => $$;
P
    is $run->{signal}, 9, 'killed';
    is join('; ', sub_lines(profile_in($run), qr{^main::(?:late|never|gone)})), 'main::gone late:5-5; main::late late:7-7; main::never late:8-8', 'their lines';
};

done_testing;
