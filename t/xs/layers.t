# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# The folders of malloc/, formats/, sampling/, exporters/, XS/ and spy/ are stages. CODE-MAP.md has their order: a folder uses
# itself and what stands before it. Within a folder there is no order, and nowhere a circle of files.
# A file uses another by its #include lines, and by what its object calls.

use strict;
use warnings;

use lib 't/lib';
use Test::More;
use Extended;

sub slurp {
    my ($path) = @_;
    open my $fh, '<', $path or die "$path: $!\n";
    local $/;
    return scalar <$fh>;
}

# The name of a file without folder and ending; a .def keeps its ending.
sub stem { return $_[0] =~ s{.*/}{}r =~ s{\.[ch]\z}{}r }
sub folder { return $_[0] =~ s{/[^/]*\z}{}r }

# The map's line "    XS/: perl platform …" for each top folder; `NAME.c` and `itself` are its own files.
my @stages;
for my $line (slurp("CODE-MAP.md") =~ m{^    ((?:malloc|formats|sampling|exporters|XS|spy)/: .*)}mg) {
    my ($top, $order) = $line =~ m{^(\w+)/: (.*)};
    push @stages, map { /\A(?:NAME\.c|itself)\z/ ? $top : "$top/$_" } split " ", $order;
}
cmp_ok scalar(@stages), '>', 20, 'the map lists the stages';

my @files = map { glob "$_/*.[ch] $_/*.def" } @stages;
my @elsewhere = grep { my $file = $_; !grep { $_ eq $file } @files }
    map { glob "$_/*.[ch] $_/*/*.[ch] $_/*/*/*.[ch]" } qw(malloc formats sampling exporters XS spy);
is_deeply [grep { !m{^exporters/build|^XS/NYTProf\.c\z} } @elsewhere], [], 'every source file stands in a stage';

# A file is known by its folder and its name without ending: thing.c and thing.h are one.
sub id { return folder($_[0]) . '/' . stem($_[0]) }
my %stage_of = map { $stages[$_] => $_ } 0 .. $#stages;
my %uses; # file => { file it uses => by which line or call }

sub upward {
    my ($user, $used) = @_;
    return $stage_of{ folder($user) } < ($stage_of{ folder($used) } // -1);
}

# The file that an include line means: beside the file, or by its path from the top.
sub included_by {
    my ($file) = @_;
    return grep {-e}
        map { m{/} ? $_ : folder($file) . "/$_" } slurp($file) =~ /^\s*#\s*include\s+"([^"]+)"/mg;
}

my ($n_includes, @upward_includes) = (0);
for my $file (@files) {
    for my $included (included_by($file)) {
        $n_includes++;
        push @upward_includes, "$file includes $included" if upward($file, $included);
        $uses{ id($file) }{ id($included) } = 1 if id($file) ne id($included);
    }
}
cmp_ok $n_includes, '>', 500, 'include lines were read';
is join("\n", @upward_includes), '', 'a file includes only what is in its folder or a folder before it';

my @recorder = grep { m{^XS/} && !m{^XS/glue/} } @files;
my @headless = grep { !-e (s/\.c\z/.h/r) } grep { /\.c\z/ } @recorder;
is "@headless", '', 'each file of the recorder has a header of its own';

my @glue = grep { my $file = $_; grep { m{^XS/(?!glue/)} } included_by($file) } grep { m{^XS/glue/} } @files;
is "@glue", '', 'the glue for Perl code knows nothing of the recorder';

# Each part of the recorder's state belongs to the file of its name, which alone writes it, be it by
# an assignment or by handing it to a function that changes what it is given. A field of a struct in
# the state belongs to the file of the struct unless it has one of its own; '' is nobody's.
my %owner = (
    (map { $_ => $_ } slurp("XS/state/parts.def") =~ /^NYTP_PART\((\w+),/mg),
    # These stand in the struct itself.
    on => 'state', 'on.comments' => 'profile', 'on.counts_plain' => '', 'on.guards' => 'life', 'on.samples' => 'sample', sample_ticks => 'sample',
    (map { $_ => 'call_frames' } qw(calls suspended last.serial last.left_ticks last.jump)),
    cache => 'places', 'cache.sites' => 'site_cache', 'cache.sites_version' => '',
    stmt => 'stmts', 'stmt.place' => 'places',
    (map { $_ => 'state' } qw(interpreter state next)),
    memory => 'bytes', 'memory.svs' => '',
    run => 'life', (map { ("run.$_" => 'load') } qw(comes_late is_importing)),
    (map { ("run.$_" => 'compile') } qw(keeps_source e_text)), 'run.sees_compilation' => 'hooks',
    'run.generation' => '', 'run.n_blocked_files' => 'blocked',
    control => 'control', infos_wait => 'info_queue',
    'calls.recorded_serial' => 'write_ahead', 'calls.arcs' => 'arcs', 'last.entered_ticks' => 'calls', 'last.ended_regex' => 'regexes',
);
cmp_ok scalar(keys %owner), '>', 30, 'the struct has parts';
my $ASSIGNED = qr/(?<before>\+\+|--)?\brec->(?<part>\w+)(?<member>
    (?:->\w+)?(?:\[[^\]]*\]*\]|\.\w+)*)\s*(?<after>[-+*|&]?=(?!=)|\+\+|--)?/x;
my $CHANGED = qr/\b(?:nytp_index_(?:add|filter|free|clear)|Zero|Renew|NYTP_MAKE_ROOM|Newxz?|Safefree|free|SvREFCNT_dec)
    \(&?rec->(?<part>\w+)\b(?<member>(?:(?:\.|->)\w+)*)/x;
# An element is written, too, where its index is counted up: a[++n] = …
my $COUNTED = qr/\[(?:\+\+rec->(?<part>\w+)(?<member>(?:\.|->)\w+)|rec->(?<part>\w+)(?<member>(?:\.|->)\w+)\+\+)\]/;

my ($n_writes, %foreign) = (0);
for my $file (grep { /\.c\z/ } @recorder) {
    my $text = slurp($file);
    for my $write ($ASSIGNED, $CHANGED, $COUNTED) {
        while ($text =~ /$write/g) {
            my ($part, $member, $is_assigned) = (@+{qw(part member)}, defined($+{before} // $+{after}));
            my $field = $member =~ /^(\.\w+)/ ? $1 : '';
            my $owner = $owner{"$part$field"} // $owner{$part};
            next if !$owner || ($write eq $ASSIGNED && !$is_assigned);
            $n_writes++;
            $foreign{ stem($file) . ":$part$member" } = 1 if stem($file) ne $owner;
        }
    }
}
cmp_ok $n_writes, '>', 60, 'writes to the parts were found';
delete $foreign{'labels:calls.frames[i].labelled_ticks'}; # what a frame has for labels.c
is join("\n", sort keys %foreign), '', 'a part of the state is written by its own file only';

# The recorder is reached from the interpreter through nytp_recorder_of(); what comes to a thread of
# the operating system and not to an interpreter (signals, exit, fork) has a way of its own.
my %reaches;
for my $file ((grep { m{^XS/} } @files), 'XS/NYTProf.xs') {
    my $text = slurp($file);
    $reaches{$1}{ stem($file) } = 1 while $text =~ /\b(nytp_first_(?:recorder|interpreter)|nytp_(?:plain_recorder_of|recorder_(?:find|of_thread|after_fork|of)))\b/g;
}
cmp_ok scalar(keys %{ $reaches{nytp_recorder_of} }), '>', 5, 'the recorder is found by its interpreter';
delete @reaches{qw(nytp_recorder_of nytp_plain_recorder_of)};
is join(' ', sort keys %{ delete $reaches{nytp_recorder_of_thread} }), 'exits state', 'by its thread only in signals and at exit';
is join(' ', sort keys %{ delete $reaches{nytp_recorder_after_fork} }), 'control life state', 'and in the handler of fork';
is join(' ', map { sort keys %$_ } values %reaches), 'state ' x (keys(%reaches) - 1) . 'state',
    'and in no other way';

SKIP: {
    # perl's half is compiled beside its sources, the plain C in a folder of its own
    my %object_of;
    for my $file (grep { /\.c\z/ } @files) {
        my ($object) = grep { -e } map {s/\.c\z/.o/r} $file, "exporters/build/$file";
        $object_of{$file} = $object if $object;
    }
    my $has_nm = %object_of && qx{nm --version 2>/dev/null} =~ /\S/;
    skip 'no objects to look at, or no nm', 2 if !$has_nm;
    my (%home, %needs);
    my %file_of = reverse %object_of;
    open my $nm, '-|', 'nm', '-AP', sort keys %file_of or die "nm: $!\n";
    while (<$nm>) {
        my ($object, $symbol, $type) = /\A(.*): (_?nytp_\S+) (\w)/ or next;
        my $user = id($file_of{$object});
        $home{$symbol} = $user if $type =~ /[TDBRC]/;
        $needs{$user}{$symbol} = 1 if $type eq 'U';
    }
    my ($n_calls, @upward) = (0);
    for my $user (sort keys %needs) {
        for my $symbol (grep { $home{$_} && $home{$_} ne $user } sort keys %{ $needs{$user} }) {
            $n_calls++;
            $uses{$user}{ $home{$symbol} } = 1;
            push @upward, "$user calls $symbol of $home{$symbol}" if upward($user, $home{$symbol});
        }
    }
    cmp_ok $n_calls, '>', 500, 'calls from file to file were found';
    is join("\n", @upward), '', 'a file calls only what is in its folder or a folder before it';
}

# A file is in a circle if it reaches itself.
sub reached {
    my ($from, $seen) = @_;
    for my $used (keys %{ $uses{$from} }) {
        reached($used, $seen) if !$seen->{$used}++;
    }
    return $seen;
}
my %reaches_of = map { $_ => reached($_, {}) } keys %uses;
my %circles;
for my $file (grep { $reaches_of{$_}{$_} } keys %uses) {
    my @circle = sort grep { $reaches_of{$_} && $reaches_of{$_}{$file} } keys %{ $reaches_of{$file} };
    $circles{"@circle"} = 1;
}
is join("\n", sort keys %circles), '', 'no files use each other in a circle';

done_testing;
