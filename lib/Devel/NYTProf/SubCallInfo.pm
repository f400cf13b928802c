# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::NYTProf::SubCallInfo;

use strict;
use warnings;

our $VERSION = '6.14';

use Devel::NYTProf::Constants qw(
    NYTP_SCi_CALL_COUNT NYTP_SCi_INCL_RTIME NYTP_SCi_EXCL_RTIME
    NYTP_SCi_RECI_RTIME NYTP_SCi_REC_DEPTH NYTP_SCi_CALLING_SUB
);

sub calls { return shift->[NYTP_SCi_CALL_COUNT] }
sub incl_time { return shift->[NYTP_SCi_INCL_RTIME] }
sub excl_time { return shift->[NYTP_SCi_EXCL_RTIME] }
sub recur_incl_time { return shift->[NYTP_SCi_RECI_RTIME] }
sub recur_max_depth { return shift->[NYTP_SCi_REC_DEPTH] }

sub calling_subs {
    my ($self) = @_;
    return sort keys %{$self->[NYTP_SCi_CALLING_SUB] || {}};
}

1;

__END__

=head1 NAME

Devel::NYTProf::SubCallInfo - the calls of one sub from one place

=head1 SYNOPSIS

    use Devel::NYTProf::Data;
    use Devel::NYTProf::SubCallInfo;

    my $profile = Devel::NYTProf::Data->new({filename => 'nytprof.out', quiet => 1});
    for my $sub (values %{$profile->subname_subinfo_map}) {
        for my $place ($sub->caller_places) {
            my ($fid, $line, $call) = @$place;
            my $info = bless $call, 'Devel::NYTProf::SubCallInfo';
            printf "%s: %d calls from line %d\n", $sub->subname, $info->calls, $line;
        }
    }

=head1 DESCRIPTION

Names for the elements of the arrays in which L<Devel::NYTProf::SubInfo> and
L<Devel::NYTProf::FileInfo> keep the calls from one place. The arrays are not blessed when a
profile is loaded.

    calls, incl_time, excl_time  number of calls; inclusive and exclusive seconds
    recur_incl_time, recur_max_depth  inclusive seconds of calls nested in another call of the
                                 same sub; depth of that nesting
    calling_subs                 names of the subs that the calls came from, sorted

=cut
