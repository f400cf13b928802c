# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Print the dumps of a profile: plain, without what differs from run to run, and with evals merged,
# which the stock modules can only dump with a hook. Run on them and on ours.
use strict;
use warnings;
use Devel::NYTProf::Data;
local $SIG{__WARN__} = sub { };
my $profile = Devel::NYTProf::Data->new(
    {filename => $ARGV[0], quiet => 1, skip_collapse_evals => 1});
my $text = '';
open my $fh, '>', \$text or die;
$profile->dump_profile_data({filehandle => $fh, separator => "\t"});
print $fh "result\t", $profile->normalize_variables, "\n";
$profile->dump_profile_data({filehandle => $fh, separator => '|'});
my $merged = Devel::NYTProf::Data->new({filename => $ARGV[0], quiet => 1});
$merged->dump_profile_data({filehandle => $fh, separator => "\t",
    skip_fileinfo_hook => sub { $_[0]->fid % 3 == 2 }});
# times with so many digits as two ways of adding them up have in common
$text =~ s/(?<=[\t ])(-?\d+\.\d+(?:e[-+]?\d+)?)(?=[ \n])/sprintf '%.9g', $1/ge;
print $text;
