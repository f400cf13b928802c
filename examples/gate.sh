#!/bin/bash
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
#
# Story: a test in continuous integration that fails when somebody makes the program do more.
#
#     examples/gate.sh [DIR]
set -eu
. "$(dirname "$0")/common.sh"

tell "The state of the main branch, and a change that brings the slow place back"
recording "$out/main.out" "" "$examples/logreport.pl" --fixed >/dev/null
recording "$out/change.out" "" "$examples/logreport.pl" >/dev/null
"$nytp_export" --json -o "$out/main.json" "$out/main.out"
"$nytp_export" --json -o "$out/change.json" "$out/change.out"

tell "The gate"
status=0
"$examples/gate.pl" "$out/main.json" "$out/change.json" || status=$?
echo "exit status $status"
[ $status = 10 ]

tell "The same program twice passes"
recording "$out/again.out" "" "$examples/logreport.pl" --fixed >/dev/null
"$nytp_export" --json -o "$out/again.json" "$out/again.out"
"$examples/gate.pl" "$out/main.json" "$out/again.json"
echo "exit status 0"
