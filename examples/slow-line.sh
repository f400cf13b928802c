#!/bin/bash
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
#
# Story: why is this report slow? Find the sub, find the line, repair it, measure again.
#
#     examples/slow-line.sh [DIR]      keeps its files in DIR
set -eu
. "$(dirname "$0")/common.sh"

tell "Record the program, and ask where the time went"
recording "$out/before.out" "" "$examples/logreport.pl" >"$out/before.txt"
"$nytp_export" --top=4 "$out/before.out"

tell "Compiling patterns (CORE:regcomp) is most of it. Who does that?"
"$nytp_export" --tree --focus 'CORE:regcomp' "$out/before.out"

tell "route_of. Which of its lines?"
"$nytp_export" --json "$out/before.out" >"$out/before.json"
perl -MJSON::PP -0777 -e '
    my $profile = decode_json(<STDIN>);
    my ($source) = @ARGV;
    open my $in, "<", $source or die "$source: $!";
    my @text = map { s/^\s+|\s+$//gr } split /\n/, <$in>;
    for my $call (sort { $b->{inclusive} <=> $a->{inclusive} } @{ $profile->{calls} }) {
        my ($caller, $callee) = map { $profile->{subs}[ $call->{$_} ]{name} } "caller", "callee";
        next unless $callee eq "main::CORE:regcomp";
        printf "%d calls from %s, line %d: %s\n", $call->{count}, $caller, $call->{line},
            $text[ $call->{line} - 1 ];
    }
' "$examples/logreport.pl" <"$out/before.json"

tell "A pattern is compiled for each route and each line. Repaired:"
recording "$out/after.out" "" "$examples/logreport.pl" --fixed >"$out/after.txt"
"$nytp_export" --top=4 "$out/after.out"
cmp "$out/before.txt" "$out/after.txt"
echo "The report is the same."
