# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# JSON::PP: a pure-Perl parser and printer.
use strict;
use warnings;
use JSON::PP;

my $json = JSON::PP->new->canonical->pretty;
my $data = { numbers => [1, 2.5, -3e2], text => "line\n\x{263a}", flags => [JSON::PP::true, JSON::PP::false, undef], deep => { a => { b => { c => [1 .. 5] } } } };
my $text = $json->encode($data);
my $back = $json->decode($text);
print length $text, ' ', $back->{deep}{a}{b}{c}[4], "\n";
print eval { $json->decode('{"broken": ') } ? "fine\n" : "broken\n";
