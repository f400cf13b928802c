# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Getopt::Long and Pod::Usage-like parsing on a fixed @ARGV.
use strict;
use warnings;
use Getopt::Long qw(GetOptionsFromArray :config bundling no_ignore_case);

my %o = (list => [], define => {});
my @args = qw(-vvx3 --name=joe --list a --list b --define k=v --no-flag rest -- --more);
GetOptionsFromArray(
    \@args,
    'v+'       => \$o{v},
    'x=i'      => \$o{x},
    'name|n=s' => \$o{name},
    'list=s'   => $o{list},
    'define=s' => $o{define},
    'flag!'    => \$o{flag},
) or die;
print "$o{v} $o{x} $o{name} @{$o{list}} $o{define}{k} $o{flag} @args\n";
