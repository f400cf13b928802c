# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# A large document through JSON::PP, to text and back.
use strict;
use warnings;
use JSON::PP ();

my @rows = map { {id => $_, name => "row \"$_\"\n", tags => [map { "tag$_" } 1 .. 4], price => $_ / 8, note => undef, ok => JSON::PP::true()} } 1 .. 4000;
my $json = JSON::PP->new->canonical->pretty;
my $text = $json->encode({rows => \@rows});
my $copy = $json->decode($text);
die 'not the same' if @{$copy->{rows}} != @rows;
