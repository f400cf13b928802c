# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Late;
use strict;
use warnings;

our @list;
push @list, $_ * 2 for 1 .. 800;
our $own = join ',', @list;
sub late { return scalar @list }
1;
