# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Anonymous subs: closures, dispatch tables, currying, installed under names.
use strict;
use warnings;

my %dispatch = (
    add => sub { $_[0] + $_[1] },
    mul => sub {
        my ($x, $y) = @_;
        return $x * $y;
    },
    neg => sub { -$_[0] },
);

sub curry {
    my ($f, @first) = @_;
    return sub { $f->(@first, @_) };
}

for my $op (sort keys %dispatch) {
    my $f = curry($dispatch{$op}, 3);
    $f->($_) for 1 .. 4;
}

{
    no strict 'refs';
    for my $name (qw(red green blue)) {
        *{"main::$name"} = sub { return "<$name>$_[0]</$name>" };
    }
}
print red('a'), green('b'), blue('c'), "\n";
my $count = 0;
my $never = sub { $count++ };
my $made = eval q{
    sub {
        my $n = shift;
        return $n + 1;
    }
};
$count = $made->($count) for 1 .. 3;
my $undefined = sub { return 'never' };
undef &$undefined;
eval { $undefined->() };
