# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Formats, with subs called from them; local on special variables; tied handle.
use strict;
use warnings;

our ($name, $value);
format STDOUT_TOP =
Name   Value
------------
.
format STDOUT =
@<<<<< @>>>>>
$name, shown($value)
.
sub shown { return "[$_[0]]" }
sub line {
    ($name, $value) = @_;
    write;
}
line("n$_", $_ * 10) for 1 .. 3;
($name, $value) = ('last', 0);
write;

package Shout { sub TIEHANDLE { bless [], shift } sub PRINT { my $s = shift; push @$s, map { uc } @_; 1 } sub PRINTF { my $s = shift; $s->PRINT(sprintf shift, @_) } }
tie *LOUD, 'Shout';
print LOUD 'quiet';
printf LOUD '%s!', 'still';
print "@{tied *LOUD}\n";
