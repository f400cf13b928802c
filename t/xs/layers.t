# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# The recorder's files stand in layers: CODE-MAP.md lists them from the ground up, and a file uses
# only what is listed before it, by its #include lines and by what its object calls.

use strict;
use warnings;

use FindBin;
use Test::More;

my $ROOT = "$FindBin::Bin/../..";
my $XS   = "$ROOT/XS";

sub slurp {
    my ($path) = @_;
    open my $fh, '<', $path or die "$path: $!\n";
    local $/;
    return scalar <$fh>;
}

# What the map lists: stem => place.
sub places {
    my ($table) = slurp("$ROOT/CODE-MAP.md") =~ m{^### XS/recorder/\n(.*?)^###? }ms
        or die "CODE-MAP.md: no section XS/recorder/\n";
    my (%place, $n);
    for my $row (grep { /^\| *\d/ } split /\n/, $table) {
        my (undef, $layer, $files) = split /\|/, $row;
        for my $word (map { split ' ' } $files =~ /`([^`]+)`/g) {
            my $stem = $word =~ s/\..*//r;
            die "CODE-MAP.md: $stem is listed twice\n" if $place{$stem};
            $place{$stem} = ++$n;
        }
    }
    return %place;
}

my %place = places();

sub stem { return $_[0] =~ s{.*/}{}r =~ s{\..*}{}r }

sub upward {
    my ($user, $used) = @_;
    return $user ne $used && (!$place{$user} || !$place{$used} || $place{$used} > $place{$user});
}

my @files = sort glob "$XS/recorder/*.[ch] $XS/recorder/*.def";
my @without_place = grep { !$place{ stem($_) } } @files;
is "@without_place", '', 'the map lists every file of the recorder';

my ($n_includes, @upward_includes) = (0);
for my $file (@files) {
    for my $included (slurp($file) =~ /^\s*#\s*include\s+"([^"]+)"/mg) {
        next if !-e "$XS/recorder/$included" || $included =~ m{^\.\./\.\./formats/};
        $n_includes++;
        push @upward_includes, stem($file) . " includes $included"
            if $included =~ m{/} || upward(stem($file), stem($included));
    }
}
cmp_ok $n_includes, '>', 50, 'include lines were read';
is join("\n", @upward_includes), '', 'a file includes only what is below it';

my @headless = grep { !-e s/\.c\z/.h/r } grep { /\.c\z/ } @files;
is "@headless", '', 'each has a header of its own';

my @glue = map { my $file = $_; map { "$file: $_" } slurp($file) =~ /^#include ".*recorder.*"/mg }
    glob "$XS/glue/*.[ch]";
is "@glue", '', 'the glue for Perl code knows nothing of the recorder';

# Each part of the recorder's state belongs to the file that state.h names, which alone is to write
# it. What others still write is listed here, and the list may only become shorter.
my @FOREIGN = qw(
    begins:subs.compiled life:profile.is_child
    life:profile.n_finished life:profile.n_threads life:profile.overhead_base life:profile.said_end
    life:profile.started life:stmts.paused life:subs.called load:profile.n_threads load:stmts.sees_code
    load:subs.debugger profile:stream.said_failure release:files.all subs:infos.n_unwritten
    subs:infos.size_unwritten subs:infos.unwritten
);

my %owned = map { $_ => 1 } slurp("$XS/recorder/state.h") =~ /^ +struct nytp_rec_(\w+) \1;/mg;
cmp_ok scalar(keys %owned), '>', 8, 'state.h has parts';
my ($n_writes, %foreign) = (0);
for my $file (grep { /\.c\z/ } @files) {
    my $text = slurp($file);
    while ($text =~ /(\+\+|--)?\brec->(\w+)\.(\w+)((?:\[[^\]]*\]*\]|\.\w+)*)\s*([-+*]?=(?!=)|\+\+|--)?/g) {
        my ($before, $part, $member, $after) = ($1, $2, $3, $5);
        next if !$owned{$part} || !($before || $after);
        $n_writes++;
        $foreign{ stem($file) . ":$part.$member" } = 1 if stem($file) ne $part;
    }
    # An element is written, too, where its index is counted up: a[++n] = …
    while ($text =~ /\[(?:\+\+rec->(\w+)\.(\w+)|rec->(\w+)\.(\w+)\+\+)\]/g) {
        my ($part, $member) = defined $1 ? ($1, $2) : ($3, $4);
        $foreign{ stem($file) . ":$part.$member" } = 1 if $owned{$part} && stem($file) ne $part;
    }
}
cmp_ok $n_writes, '>', 30, 'writes to the parts were found';
is join("\n", sort keys %foreign), join("\n", sort @FOREIGN),
    'a part of the state is written by its own file, and by whom the list names';

SKIP: {
    my @objects = grep { -e } map { s/\.c\z/.o/r } grep { /\.c\z/ } @files;
    my $has_nm = @objects && qx{nm --version 2>/dev/null} =~ /\S/;
    skip 'no objects to look at, or no nm', 2 if !$has_nm;
    my (%home, %needs);
    for my $object (@objects) {
        for my $line (split /\n/, qx{nm -P "$object"}) {
            my ($symbol, $type) = split ' ', $line;
            next if $symbol !~ /^_?nytp_/;
            $home{$symbol} = stem($object) if $type =~ /[TDBRC]/;
            $needs{ stem($object) }{$symbol} = 1 if $type eq 'U';
        }
    }
    my ($n_calls, @upward) = (0);
    for my $user (sort keys %needs) {
        for my $symbol (grep { $home{$_} } sort keys %{ $needs{$user} }) {
            $n_calls++;
            push @upward, "$user calls $symbol of $home{$symbol}" if upward($user, $home{$symbol});
        }
    }
    cmp_ok $n_calls, '>', 100, 'calls from file to file were found';
    is join("\n", @upward), '', 'a file calls only what is below it';
}

done_testing;
