# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Sub and package names in ASCII, Latin-1 range, beyond it, and both in one name.
use strict;
use warnings;
use utf8;

sub work { my $x = 0; $x += $_ for 1 .. 50; $x }
sub été { work() }
sub 日本語 { work(); été() }
sub naïve_日 { 日本語() }

package Ünï;
sub straße { main::work() }
sub ключ { straße() }

package Пакет::日;
sub ascii { Ünï::ключ() }
sub ñandú { ascii() }

package main;
été() for 1 .. 3;
日本語() for 1 .. 4;
naïve_日();
Ünï::straße() for 1 .. 5;
Ünï::ключ();
Пакет::日::ascii();
Пакет::日::ñandú();
{
    no strict 'refs';
    *{"main::with space"} = eval 'sub { work() }';
    &{"main::with space"}();
    eval q{package Odd; sub AUTOLOAD { main::work() } };
    Odd->${\"semi;colon 12"}();
    *{"main::semi;colon 12"} = sub { work() };
    &{"main::semi;colon 12"}();
}
