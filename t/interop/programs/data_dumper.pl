# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Data::Dumper, both its Perl and its XS implementation.
use strict;
use warnings;
use Data::Dumper;

$Data::Dumper::Sortkeys = 1;
my $data = { list => [1, 'two', [3]], hash => { a => undef, b => \'ref' }, code => [map { { n => $_ } } 1 .. 5] };
$data->{self} = $data->{list};
for my $perl (0, 1) {
    local $Data::Dumper::Useperl = $perl;
    for my $indent (0 .. 2) {
        local $Data::Dumper::Indent = $indent;
        print length Dumper($data), "\n";
    }
}
