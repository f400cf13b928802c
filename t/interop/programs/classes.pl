# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Method calls, inheritance, SUPER, accessors made in a loop, can, isa, DESTROY.
use strict;
use warnings;

package Shape {
    my $live = 0;

    sub new {
        my ($class, %args) = @_;
        my $self = bless {%args}, $class;
        $live++;
        return $self->init;
    }
    sub init { return $_[0] }
    sub area { 0 }
    sub describe {
        my $self = shift;
        return ref($self) . ': ' . $self->area;
    }
    sub live { $live }

    sub DESTROY {
        my $self = shift;
        $live--;
    }
    for my $field (qw(width height radius)) {
        no strict 'refs';
        *$field = sub { $_[0]{$field} };
    }
}

package Rect {
    our @ISA = 'Shape';
    sub area { my $self = shift; return $self->width * $self->height }
}

package Square {
    our @ISA = 'Rect';

    sub init {
        my $self = shift;
        $self->SUPER::init;
        $self->{height} = $self->{width};
        return $self;
    }
}

package main;
my @shapes = (Rect->new(width => 2, height => 3), Square->new(width => 4), Shape->new);
print join(', ', map { $_->describe } @shapes), "\n";
for my $s (@shapes) {
    print ref $s, $s->can('area') ? ' can' : ' cannot', $s->isa('Rect') ? ' rect' : '', "\n";
}
@shapes = ();
print Shape->live, "\n";
