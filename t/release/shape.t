#!/usr/bin/perl
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# The size of things: lines of each folder, long files, functions with many parameters, structs with many fields,
# words of documents. None may grow; `perl t/release/shape.t --lower` keeps what became smaller.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use Test::More;

use Ratchet;

my $FILE_LINES = 700;
my $PARAMETERS = 6;
my $FIELDS     = 30;

my (%lines, %long_files, %parameters, %fields, %words, %where);

sub words {
    my ($text) = @_;
    return scalar grep {/\w/} split ' ', $text;
}

sub count {
    my ($numbers, $path, $what) = @_;
    $numbers->{ folder_of($path) }++;
    push @{ $where{$numbers}{ folder_of($path) } }, "$path: $what";
    return;
}

# C without comments, texts and preprocessor lines.
sub bare {
    my ($text) = @_;
    return $text =~ s{/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|^\s*\#(?:\\\n|[^\n])*}{}gmsr;
}

# A definition begins a line and has its body behind it; pTHX is no parameter of ours.
sub look_at_functions {
    my ($path, $text) = @_;
    while ($text =~ /^\w[\w\s*]*?\b(\w+)(\((?:[^(){};]|(?2))*\))\s*\{/gm) {
        my ($name, $list) = ($1, substr $2, 1, -1);
        $list =~ s/\bpTHX_?\b\s*//;
        1 while $list =~ s/\([^()]*\)//;
        my $n = () = $list =~ /[^,]+/g;
        count(\%parameters, $path, "$name has $n parameters") if $n > $PARAMETERS;
    }
    return;
}

# Fields of structs within are fields, too; the names of one declaration count each.
sub look_at_structs {
    my ($path, $text) = @_;
    while ($text =~ /^struct (\w+) (\{(?:[^{}]|(?2))*\})/gm) {
        my ($name, $body) = ($1, $2);
        1 while $body =~ s/\([^()]*\)//;
        my $n = 0;
        $n += 1 + tr/,// for $body =~ /([^;{}]*\w[^;{}]*);/g;
        count(\%fields, $path, "struct $name has $n fields") if $n > $FIELDS;
    }
    return;
}

my ($n_functions, $n_structs) = (0, 0);
for my $path (tracked()) {
    next if $path eq 't/release/shape.numbers';
    my $text = slurp($path);
    if (is_document($path)) {
        $words{ folder_of($path) } += words($text);
        next;
    }
    $words{ folder_of($path) } += words(pod_of($text)) if $path =~ m{^(?:lib|bin)/} && $text =~ /^=head1/m;
    my $n = $text =~ tr/\n//;
    $lines{ folder_of($path) } += $n;
    count(\%long_files, $path, "$n lines") if $n > $FILE_LINES && $path =~ /\.(?:[ch]|xs|p[lmy]|t|js|css|mjs)\z/;
    next if $path !~ /\.[ch]\z/;
    my $bare = bare($text);
    $n_functions += () = $bare =~ /^\w[^;{}()]*\(/gm;
    $n_structs   += () = $bare =~ /^struct \w+ \{/gm;
    look_at_functions($path, $bare);
    look_at_structs($path, $bare);
}
if (!is_lowering()) {
    cmp_ok $n_functions, '>', 2000, 'functions were found';
    cmp_ok $n_structs,   '>', 200,  'structs were found';
}

hold('lines', 'lines of a folder', \%lines);
hold('long-files', "files over $FILE_LINES lines", \%long_files, $where{ \%long_files });
hold('parameters', "functions over $PARAMETERS parameters", \%parameters, $where{ \%parameters });
hold('fields', "structs over $FIELDS fields", \%fields, $where{ \%fields });
hold('words', 'words of documents', \%words);
held();
