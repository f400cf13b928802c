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

# state.h puts the recorder's state together of parts that are defined in the headers of their
# owners. Those stand above it, so they, and what they include, must do without it.
sub parts { return slurp("$XS/state/state.h") =~ /^ +struct nytp_rec_(\w+) \1;/mg }

sub all_included {
    my ($header, $seen) = @_;
    return if $seen->{$header}++ || !-e "$XS/recorder/$header";
    all_included($_, $seen) for slurp("$XS/recorder/$header") =~ /^#include "([^"\/]+)"/mg;
}

my %part_header = map { ("$_.h" => 1) } parts(), 'arcs';
for my $header (sort keys %part_header) {
    my %seen;
    all_included($header, \%seen);
    ok !$seen{'state.h'}, "$header does without state.h";
}

my ($n_includes, @upward_includes) = (0);
for my $file (@files) {
    for my $included (slurp($file) =~ /^\s*#\s*include\s+"([^"]+)"/mg) {
        next if !-e "$XS/recorder/$included" || $included =~ m{^\.\./\.\./formats/};
        $n_includes++;
        next if $file =~ m{/state\.h\z} && $part_header{$included};
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

# Each part of the recorder's state belongs to the file of its name, which alone writes it, be it by
# an assignment or by handing it to a function that changes what it is given.
my %owner = (
    (map { $_ => $_ } parts()),
    # What every event looks at stands in the struct itself.
    (map { $_ => 'calls' } qw(frames n_frames size_frames last_serial left_ticks jump)),
    (map { $_ => 'stmts' } qw(stmt discount_pending)),
    (map { $_ => 'state' } qw(stmts_on subs_on counting entries_on returns_on marks_on blocks_on
            leave_on finds_caller looks_first interpreter state next)),
    (map { $_ => $_ } qw(arcs places dprof)),
    cost_meter => 'costs', told_serial => 'before_wait',
);
cmp_ok scalar(keys %owner), '>', 30, 'the struct has parts';
my $ASSIGNED = qr/(?<before>\+\+|--)?\brec->(?<part>\w+)(?<member>
    (?:\[[^\]]*\]*\]|\.\w+)*)\s*(?<after>[-+*|&]?=(?!=)|\+\+|--)?/x;
my $CHANGED = qr/\b(?:nytp_index_(?:add|filter|free|clear)|Zero|Renew|Newxz?|Safefree|free|SvREFCNT_dec)
    \(&?rec->(?<part>\w+)\b(?<member>(?:\.\w+)*)/x;
# An element is written, too, where its index is counted up: a[++n] = …
my $COUNTED = qr/\[(?:\+\+rec->(?<part>\w+)(?<member>\.\w+)|rec->(?<part>\w+)(?<member>\.\w+)\+\+)\]/;

my ($n_writes, %foreign) = (0);
for my $file (grep { /\.c\z/ } @files) {
    my $text = slurp($file);
    for my $write ($ASSIGNED, $CHANGED, $COUNTED) {
        while ($text =~ /$write/g) {
            next if !$owner{ $+{part} };
            next if $write eq $ASSIGNED && !defined $+{before} && !defined $+{after};
            $n_writes++;
            $foreign{ stem($file) . ":$+{part}$+{member}" } = 1
                if stem($file) ne $owner{ $+{part} };
        }
    }
}
cmp_ok $n_writes, '>', 60, 'writes to the parts were found';
delete $foreign{'labels:frames[i].labelled_ticks'}; # what a frame has for labels.c
is join("\n", sort keys %foreign), '', 'a part of the state is written by its own file only';

# The recorder is reached from the interpreter through nytp_recorder_of(); what comes to a thread of
# the operating system and not to an interpreter (signals, exit, fork) has a way of its own.
my %reaches;
for my $file (glob "$XS/recorder/*.[ch] $XS/glue/*.[ch] $XS/NYTProf.xs") {
    my $text = slurp($file);
    $reaches{$1}{ stem($file) } = 1 while $text =~ /\b(nytp_first_(?:recorder|interpreter)|nytp_recorder_(?:find|of_thread|of))\b/g;
}
cmp_ok scalar(keys %{ $reaches{nytp_recorder_of} }), '>', 5, 'the recorder is found by its interpreter';
delete $reaches{nytp_recorder_of};
is join(' ', sort keys %{ delete $reaches{nytp_recorder_of_thread} }), 'control exits life state',
    'by its thread only in signals, at exit and in the handler of fork';
is join(' ', map { sort keys %$_ } values %reaches), 'state ' x (keys(%reaches) - 1) . 'state',
    'and in no other way';

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
