# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::NYTProf::Object;

use strict;
# no other modules: this one is loaded into each profiled program

our $VERSION = '6.14';

my %word = (
    USE_ITHREADS => 'thread', MULTIPLICITY => 'multi', USE_LONG_DOUBLE => 'ld', USE_QUADMATH => 'quadmath',
    DEBUGGING    => 'debugging',
);

# Config.pm would be seen as loaded by the program; perl tells how it was built without it, too.
sub kind {
    my %built = map { $_ => 1 } map { split ' ' } grep {defined} (Internals::V())[0, 1];
    my ($version) = sprintf('%vd', $^V) =~ /\A(\d+\.\d+)/;
    my @words = map { $word{$_} } grep { $built{$_} } qw(USE_ITHREADS MULTIPLICITY USE_LONG_DOUBLE USE_QUADMATH DEBUGGING);
    return join '-', $version, @words, is_musl() ? 'musl' : ();
}

sub is_musl {
    open my $maps, '<', '/proc/self/maps' or return 0;
    return scalar grep {m{/ld-musl-}} <$maps>;
}

sub find {
    for my $folder (folders()) {
        return "$folder/NYTProf.so" if -f "$folder/NYTProf.so";
        my @kinds = kinds_in($folder) or next;
        my $kind  = kind();
        return (grep { $_ eq $kind } @kinds) ? "$folder/$kind/NYTProf.so" : undef;
    }
    return;
}

sub kinds {
    my %is_there = map { $_ => 1 } map { kinds_in($_) } folders();
    my @kinds    = sort keys %is_there;
    return @kinds; # their number, where that is asked for
}

sub folders {
    return map {"$_/auto/Devel/NYTProf"} grep { !ref } @INC;
}

# Without glob(), which loads File::Glob.
sub kinds_in {
    my ($folder) = @_;
    opendir my $dir, $folder or return;
    return grep { /\A\d/ && -f "$folder/$_/NYTProf.so" } sort readdir $dir;
}

sub missing {
    my @kinds = kinds();
    return 'no recorder is here for this perl (' . kind() . ')'
        . (@kinds ? '; here are those for ' . join(', ', @kinds) : '')
        . ': run it with another perl, or build nytp with this one (perl Makefile.PL && make)';
}

1;

__END__

=head1 NAME

Devel::NYTProf::Object - find the shared object that fits this perl

=head1 SYNOPSIS

    use Devel::NYTProf::Object;

    print Devel::NYTProf::Object::kind(), "\n";   # 5.36-thread-multi
    print Devel::NYTProf::Object::find(), "\n";

=head1 DESCRIPTION

An installed copy has one object, F<auto/Devel/NYTProf/NYTProf.so>, for the perl that it was built
with. The tarball that runs where it is unpacked has F<auto/Devel/NYTProf/KIND/NYTProf.so> for
each kind of perl.

    kind()     the kind of the running perl: its version without the last part, and what else
               objects depend on, also -musl if that is its C library
    find()     the path of the object in @INC that fits, or undef
    kinds()    the kinds of perl for which there are objects, if a tarball is in @INC
    missing()  the sentence that tells that no object fits and what would

=cut
