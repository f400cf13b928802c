#!/bin/bash
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
#
# Story: the program was killed. Its recording ends in the middle; what is in it is exported.
#
#     examples/killed.sh [DIR]
set -eu
. "$(dirname "$0")/common.sh"

tell "A long run, killed when it has recorded for two seconds"
become_recording "$out/killed.out" "" "$examples/logreport.pl" 100000 >/dev/null &
program=$!
while kill -0 $program && ! [ -s "$out/killed.out" ]; do sleep 0.1; done
sleep 2
kill -9 $program
wait $program 2>/dev/null || true
if kill -0 $program 2>/dev/null; then
    echo "process $program is still there" >&2
    exit 1
fi

tell "The recording has no end"
("$nytp_export" --quiet --stats "$out/killed.out" || [ $? = 3 ]) | grep '^state  *partial'

tell "Exit status 3 says: exported, but not all was there"
status=0
"$nytp_export" --top=3 "$out/killed.out" || status=$?
echo "exit status $status"
[ $status = 3 ]

tell "Frames that never returned are marked"
"$nytp_export" --quiet --collapsed -o "$out/killed.folded" "$out/killed.out" || [ $? = 3 ]
grep -c 'unreturned' "$out/killed.folded"
