# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# How small a real program's recording becomes, and that zlib reads the stream.
# `compress=` has nine levels that are all the same.

use lib 't/lib';
use NYTPTest;
use Extended;

use Compress::Zlib ();

# Formats the POD of a module that comes with perl: some 200,000 statements.
my $CODE = <<'P';
use Pod::Text;
my $text = '';
for (1 .. 6) {
    my $parser = Pod::Text->new;
    $parser->output_string(\$text);
    $parser->parse_file($INC{'Pod/Text.pm'});
}
print length($text) > 1000 ? "done\n" : "nothing\n";
P

# The event stream of a profile, compressed and not: it begins behind the record "z".
sub stream_of {
    my ($bytes) = @_;
    my $start = index $bytes, "\nz";
    my ($inflater) = Compress::Zlib::inflateInit();
    my $rest = substr $bytes, $start + 2;
    my $packed = length $rest;
    my ($raw, $status) = $inflater->inflate(\$rest);
    return ($status, $packed - length $rest, $raw);
}

for my $level ('', 'compress=1:', 'compress=9:') {
    my $run = run_prog(code => $CODE, opts => "${level}savesrc=0:flush=0");
    is $run->{out}, "done\n", "$level the program ran" or diag $run->{err};
    my ($status, $packed, $raw) = stream_of(slurp("$run->{dir}/nytprof.out"));
    ok $status == Compress::Zlib::Z_STREAM_END(), "$level zlib reads the stream to its end";
    cmp_ok length $raw, '>', 1_000_000, "$level it is a long one";
    my $by_zlib = length Compress::Zlib::compress($raw, 6);
    cmp_ok $packed, '<', 1.5 * $by_zlib, "$level a file is less than half as large again as by zlib";
    note sprintf '%d bytes, %d, zlib 6: %d', length $raw, $packed, $by_zlib;
}

done_testing;
