#!/usr/bin/perl
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# The sub that a call names, looked for in memory that is no op's any more.
use strict;
use warnings;

use Config;
use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/../lib";
use Extended;
use Test::More tests => 3;

my $dir     = tempdir('nytp-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $top     = "$FindBin::Bin/../..";
my @sources = ("$FindBin::Bin/named_callee.c", "$top/XS/sampling/named_callee.c", map {"$top/XS/platform/$_.c"} qw(memory kernel own_fd));
my $log     = qx{$Config{cc} $Config{ccflags} $Config{optimize} -std=gnu11 -w -I$Config{archlibexp}/CORE -I$top @sources -o $dir/looks -lpthread 2>&1};
is $?, 0, 'it compiles' or diag $log;
is qx{$dir/looks}, "none\n", 'a call whose children lie in a circle names no sub';
is $?, 0, 'and it ends';
