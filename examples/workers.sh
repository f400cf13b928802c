#!/bin/bash
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
#
# Story: a program that forks. Each process writes its own file; they become one profile, or one
# track each on a common time axis.
#
#     examples/workers.sh [DIR]
set -eu
. "$(dirname "$0")/common.sh"

tell "One file per process"
rm -f "$out"/workers.out*
recording "$out/workers.out" "addpid=1" "$examples/workers.pl"
ls "$out" | grep '^workers\.out' | sed 's/[0-9][0-9]*$/PID/'

tell "All of them together"
"$nytp_export" --top=3 "$out"/workers.out.*

tell "Where is each process's time? A track each, for the Perfetto UI and speedscope"
"$nytp_export" --chrome-trace -o "$out/workers.trace.json" "$out"/workers.out.*
"$nytp_export" --speedscope -o "$out/workers.speedscope.json" "$out"/workers.out.*
perl -MJSON::PP -0777 -e '
    my @tracks = grep { $_->{type} eq "evented" } @{ decode_json(<STDIN>)->{profiles} };
    printf "%s: %.1f ms\n", $_->{name} =~ s/\d+/PID/r, $_->{endValue} / 1e6 for @tracks;
' <"$out/workers.speedscope.json"
