# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Ratchet;

# Numbers that may only fall. shape.numbers has a line "RULE FOLDER NUMBER" for each number that is not 0. A rule is
# held if no folder has more; a folder without a line has 0. `perl t/release/NAME.t --lower` writes the smaller numbers
# of today, and never a larger one. A commit that moves files moves their numbers by hand.

use strict;
use warnings;

use Cwd            qw(abs_path);
use Exporter       qw(import);
use File::Basename qw(dirname);
use Test::More;

our @EXPORT = qw(tracked slurp folder_of pod_of is_document is_lowering hold held);

my $ROOT = abs_path(dirname(__FILE__) . '/../..');
my $FILE = "$ROOT/t/release/shape.numbers";
my $lowers = grep { $_ eq '--lower' } @ARGV;
my @rules;

sub slurp {
    my ($path) = @_;
    open my $fh, '<:encoding(UTF-8)', $path =~ m{^/} ? $path : "$ROOT/$path" or die "$path: $!\n";
    local $/;
    return scalar <$fh>;
}

# The text files of the repository by their paths, without test data and generated files.
sub tracked {
    plan skip_all => 'no repository' if !-e "$ROOT/.git";
    my @files = split /\0/, qx{git -C '$ROOT' ls-files -z};
    die "git: no files\n" if !@files;
    return grep {
        !m{^t/(?:data|.*/expected)/|\.(?:png|gz|out|svg)\z|^(?:LICENSE|MANIFEST)\z} && -f "$ROOT/$_" && !-l "$ROOT/$_" && -T "$ROOT/$_"
    } @files;
}

# Two levels of folders at most; files at the top are "top".
sub folder_of {
    my ($path) = @_;
    my @folders = split m{/}, $path;
    pop @folders;
    return @folders ? join '/', grep {defined} @folders[0, 1] : 'top';
}

# The POD of a file, with an empty line for each line that is none.
sub pod_of {
    my ($text) = @_;
    my ($in, $pod) = (0, '');
    for my $line (split /^/, $text) {
        $in = 1 if $line =~ /^=(?!cut)[a-z]/;
        $in = 0 if $line =~ /^=cut/;
        $pod .= $in ? $line : "\n";
    }
    return $pod;
}

sub is_lowering { return $lowers }
sub is_document { return $_[0] =~ m{\.md\z|^doc/.*\.[17]\z} }

sub numbers {
    return if !-e $FILE;
    return map { /^(\S+) (\S+) (\d+)$/ ? ("$1 $2" => $3) : () } split /\n/, slurp($FILE);
}

# Holds a rule: %found has the folders' numbers, %where some places of each for the message.
sub hold {
    my ($rule, $what, $found, $where) = @_;
    push @rules, [$rule, $found];
    return if $lowers;
    my %allowed = numbers();
    my @more;
    for my $folder (sort keys %$found) {
        my $most = $allowed{"$rule $folder"} // 0;
        next if $found->{$folder} <= $most;
        push @more, "$folder: $found->{$folder}, at most $most";
        push @more, map {"    $_"} @{ $where->{$folder} // [] };
    }
    is(join("\n", @more), '', "$what: no more than t/release/shape.numbers says");
    return;
}

# Ends a test, or with --lower writes the file.
sub held {
    return done_testing if !$lowers;
    my %number = numbers();
    my %is_new = map { $_->[0] => 1 } @rules;
    delete $is_new{ (split)[0] } for keys %number;
    for (@rules) {
        my ($rule, $found) = @$_;
        if ($is_new{$rule}) {
            $number{"$rule $_"} = $found->{$_} for keys %$found;
            next;
        }
        for my $key (grep {/^\Q$rule\E /} keys %number) {
            my $now = $found->{ (split ' ', $key)[1] } // 0;
            $number{$key} = $now if $now < $number{$key};
        }
    }
    open my $fh, '>', $FILE or die "$FILE: $!\n";
    print {$fh} map {"$_ $number{$_}\n"} grep { $number{$_} } sort keys %number;
    close $fh or die "$FILE: $!\n";
    return;
}

1;
