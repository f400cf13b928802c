# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# BEGIN, UNITCHECK, CHECK, INIT, END, use, no, constants, prototypes.
use strict;
use warnings;
use constant { PI => 3, E => 2 };
use constant LIST => (1, 2, 3);

my @order;
BEGIN { @order = ('begin') }
UNITCHECK { push @order, 'unitcheck' }
CHECK { push @order, 'check' }
INIT { push @order, 'init' }
INIT { note('init2') }
sub note { push @order, shift; return scalar @order }
BEGIN { note('begin2') } BEGIN { note('begin3') }

sub twice(&) { my $code = shift; $code->(); return $code->() }
note('main');
print twice { note('block') }, "\n";
print PI * E + (LIST)[1], " @order\n";
END { note('end') }
END { note('end2') }
