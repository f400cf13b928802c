#!/usr/bin/perl
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# The words of documents and comments: how wide lines are, how long sentences, and how comments begin.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use Test::More;

use Ratchet;

my $COLUMNS = 100;
my $WORDS   = 35;

my (%wide, %long, %begins, %where);

sub count {
    my ($numbers, $path, $line, $text) = @_;
    my $folder = folder_of($path);
    $numbers->{$folder}++;
    push @{ $where{$numbers}{$folder} }, "$path:$line: " . substr $text, 0, 60 if @{ $where{$numbers}{$folder} // [] } < 200;
    return;
}

# Rows of Markdown tables cannot be broken.
sub look_at_columns {
    my ($path, $text) = @_;
    my $n = 0;
    for my $line (split /\n/, $text) {
        $n++;
        count(\%wide, $path, $n, $line) if length $line > $COLUMNS && $line !~ /^\|/;
    }
    return;
}

# Paragraphs and items of a document as (line, text); no code, no tables, no headings.
sub paragraphs {
    my ($text, $is_man) = @_;
    my (@found, $is_code, $n);
    my ($open, $is_head) = (0, 0);
    for my $line (split /\n/, $text) {
        $n++;
        if ($line =~ /^(?:```|\.(?:nf|fi)\b)/) {
            $is_code = $line =~ /^\.nf/ || ($line !~ /^\.fi/ && !$is_code);
            $open    = 0;
            next;
        }
        if ($is_head) {
            ($is_head, $open) = (0, 0);
            next;
        }
        $is_head = $line eq '.TP';
        my $is_code_line = $is_code || ($line =~ /^(?: {4}|\t)/ && !$open);
        if ($is_code_line || $line =~ /^(?:\s*\z|[#=|<]|\.(?:SH|SS|TP|IP|PP|TH|br|\\")|\.\\")/) {
            $open = 0;
            next;
        }
        my $words = $is_man ? $line =~ s/^\.[A-Z]+ |\\f.|\\&|\\(?=-)//gr : $line;
        if ($words =~ s/^\s*(?:[-*]|\d+\.) // || !$open) {
            push @found, [$n, $words];
        }
        else {
            $found[-1][1] .= " $words";
        }
        $open = 1;
    }
    return @found;
}

sub look_at_sentences {
    my ($path, $text) = @_;
    for my $paragraph (paragraphs($text, $path =~ /\.[17]\z/)) {
        my ($line, $words) = @$paragraph;
        for my $sentence (split /(?<=[.!?:])[)"*`>]*\s+/, $words) {
            my @words = grep {/\w/} split ' ', $sentence;
            count(\%long, $path, $line, @words . " words: $sentence") if @words > $WORDS;
        }
    }
    return;
}

my $BEGINS = qr/(?:What|Of|Which|Those)\b/;

sub look_at_comments {
    my ($path, $text) = @_;
    my $is_c = $path =~ /\.(?:[ch]|def|xs|js|css|mjs)\z/;
    my $is_hash = $path =~ /\.(?:p[lmy]|t|sh)\z/ || $text =~ /\A#!.*(?:perl|python|sh)\b/;
    return if !$is_c && !$is_hash;
    my $comment = $is_c ? qr{/\*+\s+(?:\*\s+)?($BEGINS.*)|(?<!:)//\s+($BEGINS.*)} : qr{(?:^|\s)\#\s+($BEGINS.*)}m;
    my @lines = split /\n/, $text, -1;
    for my $n (0 .. $#lines) {
        next if !$is_c && $n && $lines[$n] =~ /^\s*#/ && $lines[$n - 1] =~ /^\s*#+\s+\S/;
        my $shown = $lines[$n];
        $shown .= " $lines[$n + 1]" if $is_c && $shown =~ m{/\*+\s*\z} && $n < $#lines;
        count(\%begins, $path, $n + 1, $+) if $shown =~ $comment;
    }
    return;
}

my $n_documents = 0;
for my $path (tracked()) {
    my $text = slurp($path);
    if (is_document($path)) {
        $n_documents++;
        look_at_columns($path, $text) if $path =~ /\.md\z/;
        look_at_sentences($path, $text);
        next;
    }
    if ($path =~ m{^(?:lib|bin)/} && $text =~ /^=head1/m) {
        $n_documents++;
        look_at_columns($path, pod_of($text));
        look_at_sentences($path, pod_of($text));
    }
    look_at_comments($path, $text =~ /^=head1/m ? $text =~ s/^=(?!cut)[a-z].*?(?:^=cut|\z)/"\n" x ($& =~ tr,\n,,)/gemsr : $text);
}
cmp_ok $n_documents, '>', 60, 'documents were found' if !is_lowering();

hold('wide-lines', "lines of Markdown and POD over $COLUMNS columns", \%wide, $where{ \%wide });
hold('long-sentences', "sentences of documents over $WORDS words", \%long, $where{ \%long });
hold('comments-begin', 'comments that begin with What, Of, Which, Those', \%begins, $where{ \%begins });
held();
