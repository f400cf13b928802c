# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# String evals: siblings, nested, failing, defining subs and packages; block evals and die.
use strict;
use warnings;

my $sum = 0;
for my $i (1 .. 5) {
    $sum += eval "my \$x = $i;\n\$x * 2;\n";
}
$sum += eval 'my $y = 3; $y + 1' for 1 .. 3;
eval q{
    sub defined_in_eval {
        my $n = shift;
        return eval '$n + 1';
    }
    package In::Eval;
    sub hello { return "hello @_" }
    1;
} or die;
print defined_in_eval(4), ' ', In::Eval::hello('you'), " $sum\n";
eval 'this is not perl (';
print $@ ? "failed\n" : "fine\n";
sub risky {
    my $n = shift;
    die "odd\n" if $n % 2;
    return $n;
}
my $ok = 0;
for my $n (1 .. 6) {
    $ok += eval { risky($n) } || 0;
}
eval { eval { risky(1) }; print "inner: $@"; risky(3) };
print "outer: $@", "$ok\n";
