# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Modules that come with perl, a part each, with the process's clock around it. With an argument it
# prints what share of the time each part took: run plainly, that is the truth.
use strict;
use warnings;
use Data::Dumper ();
use JSON::PP ();
use Pod::Text ();
use Text::ParseWords ();
use Text::Wrap ();
use Time::HiRes qw(clock_gettime CLOCK_PROCESS_CPUTIME_ID);

my $data = {map { ("key$_" => [map { {id => $_, name => "name $_", list => [1 .. 4]} } 1 .. 5]) } 1 .. 14};
my $json = JSON::PP->new->canonical;
my $encoded;
my $prose = join ' ', map { 'word' x ($_ % 3 + 1) } 1 .. 400;

sub encode { $encoded = $json->encode($data) for 1 .. 3; return }
sub decode { $json->decode($encoded) for 1 .. 2; return }
sub dumper { local $Data::Dumper::Useperl = 1; Data::Dumper::Dumper($data) for 1 .. 3; return }
sub wrap { Text::Wrap::wrap('', '  ', $prose) for 1 .. 3; return }
sub words { Text::ParseWords::shellwords('one "two three" four\ five ' x 16) for 1 .. 12; return }

sub pod {
    my $parser = Pod::Text->new;
    my $text = '';
    $parser->output_string(\$text);
    $parser->parse_file($INC{"Pod/Text.pm"});
    return;
}

my %share;
my $total = 0;
for my $part (qw(encode decode dumper wrap words pod)) {
    my $code = \&$part;
    my $start = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
    $code->() for 1 .. 4;
    $total += $share{$part} = clock_gettime(CLOCK_PROCESS_CPUTIME_ID) - $start;
}
if (@ARGV) {
    printf "%s %.4f\n", $_, 100 * $share{$_} / $total for sort keys %share;
}
