# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# String evals: nested, with named subs, anonymous subs, the same text twice, one that dies.
use strict;
use warnings;

sub outer { my $n = shift; my $t = 0; $t += $_ for 1 .. $n; $t }

eval q{
    sub named_in_eval {
        my $n = shift;
        my $t = 0;
        for my $i (1 .. $n) {
            $t += $i;
        }
        return $t + outer(10);
    }
    named_in_eval(50);
};
my @subs;
for my $k (1 .. 4) {
    push @subs, eval "sub { my \$x = 0; for (1 .. $k * 10) { \$x += \$_ }\n return \$x + outer(5) }";
}
$_->() for @subs, @subs;
eval q{ eval q{ eval q{ outer(30); sub deep { outer($_[0]) } }; deep(7) }; my $f = sub { deep(3) }; $f->() };
eval 'outer(3)' for 1 .. 5;
eval { eval 'outer(2); die "stop\n"'; die $@ };
named_in_eval(20);
eval qq{#line 100 "elsewhere.pl"\nouter(12);\nsub directive { outer(4) }\ndirective();\n};
