# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# die through many frames, rethrown objects, handlers, local $@, next and last out of subs.
use strict;
use warnings;
no warnings 'exiting';

package Err { sub new { my ($c, %a) = @_; bless {%a}, $c } sub throw { my $c = shift; die $c->new(@_) } sub code { $_[0]{code} } }

sub level {
    my $n = shift;
    Err->throw(code => 7) if !$n;
    return level($n - 1) + 1;
}
for my $depth (1, 4) {
    eval { level($depth); 1 } or do {
        my $err = $@;
        print ref $err, $err->code, "\n";
        eval { die $err };
        print $@ == $err ? "same\n" : "other\n";
    };
}
{
    local $SIG{__DIE__} = sub { print "handler: $_[0]" };
    eval { die "one\n" };
}
{
    local $SIG{__WARN__} = sub { print "warned: $_[0]" };
    warn "two\n";
}
sub skip { next }
sub stop { last }
for my $i (1 .. 4) {
    skip() if $i == 2;
    stop() if $i == 4;
    print "$i\n";
}
sub cleanup { my $g = Guard->new; die "in cleanup\n" }
package Guard { sub new { bless [] } sub DESTROY { local $@; eval { die 'hidden' }; print "guard\n" } }
eval { cleanup() };
print $@;
