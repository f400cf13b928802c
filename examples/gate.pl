#!/usr/bin/perl
# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
#
#     gate.pl BEFORE.json AFTER.json [PERCENT]
#
# For continuous integration: fails with status 10 when a sub executes more statements than
# before, by more than PERCENT (default 10) and by more than a thousandth of the program. It
# looks at counts and not at times, so it says the same on a busy machine.
use strict;
use warnings;

use JSON::PP;

my ($before_file, $after_file, $percent) = @ARGV;
die "usage: gate.pl BEFORE.json AFTER.json [PERCENT]\n" unless defined $after_file;
$percent //= 10;

my $before = statements($before_file);
my $after  = statements($after_file);
my $least  = $before->{total} / 1000;
my @grown;
for my $name (sort keys %{ $after->{subs} }) {
    my ($old, $new) = ($before->{subs}{$name} // 0, $after->{subs}{$name});
    next if $new - $old <= $least || $new <= $old * (1 + $percent / 100);
    push @grown, sprintf "%s: %d statements, were %d", $name, $new, $old;
}
print "$_\n" for @grown;
exit(@grown ? 10 : 0);

sub statements {
    my ($file) = @_;
    open my $in, '<', $file or die "gate.pl: $file: $!\n";
    my $profile = decode_json(do { local $/; <$in> });
    my %subs;
    $subs{ $_->{name} } += $_->{statements} for @{ $profile->{subs} };
    return { total => $profile->{statements}, subs => \%subs };
}
