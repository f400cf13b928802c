# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# The tick thread by itself (ticks.c), with the kernel's calls and, as on other systems, with the
# C library's; under sanitizers where there are any.
use strict;
use warnings;

use Config;
use File::Temp qw(tempdir);
use lib 't/lib';
use Test::More;
use Extended;

my $dir     = tempdir('nytp-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my @sources = ('t/xs/ticks.c', 'sampling/wait_calls.c', 'formats/base/platform.c',
    map {"XS/platform/$_.c"} qw(ticks kernel rights own_fd memory wait_look));

# Some C libraries have no sanitizers, but headers and objects of another's.
sub runs_sanitized {
    my ($flags) = @_;
    return system("echo 'int main(void) { return 0; }' >$dir/try.c && $Config{cc} $flags $dir/try.c -o $dir/try && $dir/try"
            . " >$dir/log 2>&1") == 0;
}

for my $kind (['as here', ''], ['as on other systems', '-DNYTP_NO_KERNEL_CALLS'],
    ['for addresses', '-fsanitize=address,undefined'], ['for races', '-fsanitize=thread'])
{
    my ($name, $flags) = @$kind;
    if ($flags =~ /sanitize/ && !runs_sanitized($flags)) {
        diag "$name: not tried: no program runs so here";
        next;
    }
    my $built = !system "$Config{cc} $Config{ccflags} -std=gnu11 -Wall -Wextra -Werror -O1 -g -I. $flags"
        . " @sources -o $dir/ticks -lpthread 2>$dir/log";
    if (!$built) {
        my $log = do { open my $fh, '<', "$dir/log" or die $!; local $/; <$fh> };
        is $log, '', "$name: it compiles" if $flags !~ /sanitize/;
        diag "$name: not tried: $log" if $flags =~ /sanitize/;
        next;
    }
    my @lines = qx{ASAN_OPTIONS=detect_leaks=0 $dir/ticks 2>&1};
    is $?, 0, "$name: status";
    is join('', grep {/^not ok/} @lines), '', "$name: nothing failed";
    cmp_ok scalar(grep {/^ok/} @lines), '>=', 16, "$name: enough was tested" or diag @lines;
}

done_testing;
