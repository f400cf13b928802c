#!/bin/bash
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
#
# Story: only one phase of a long program is of interest. The recorder starts switched off.
#
#     examples/region.sh [DIR]
set -eu
. "$(dirname "$0")/common.sh"

cat >"$out/region.pl" <<'PERL'
use strict;
use warnings;

sub work { my $n = 0; $n += $_ for 1 .. $_[0]; return $n }
sub load   { work(50_000) for 1 .. 20 }
sub answer { work(100_000) for 1 .. 20 }

load();
DB::enable_profile() if defined &DB::enable_profile;    # harmless without a profiler
answer();
DB::disable_profile() if defined &DB::disable_profile;
load();
PERL

tell "With start=no, only what runs between enable_profile and disable_profile is there"
recording "$out/region.out" "start=no" "$out/region.pl"
"$nytp_export" --tree "$out/region.out"
