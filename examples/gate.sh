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

tell "The gate"
status=0
"$nytp_export" --diff "$out/main.out" --fail-over 0%:statements "$out/change.out" || status=$?
echo "exit status $status"
[ $status = 10 ]

tell "The same program twice passes"
recording "$out/again.out" "" "$examples/logreport.pl" --fixed >/dev/null
"$nytp_export" --diff "$out/main.out" --fail-over 0%:statements "$out/again.out"
echo "exit status 0"
