# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Pod::Text over a small document: much code from the core.
use strict;
use warnings;
use Pod::Text;

my $pod = "=head1 NAME\n\nthing - does B<things>\n\n=over 4\n\n=item * one\n\n=item * two I<x>\n\n=back\n\n=head2 More\n\n  verbatim\n\nL<perl> and C<code>.\n\n=cut\n";
my $out = '';
my $parser = Pod::Text->new(width => 40);
$parser->output_string(\$out);
$parser->parse_string_document($pod);
print length $out, "\n";
