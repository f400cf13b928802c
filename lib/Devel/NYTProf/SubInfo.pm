# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::NYTProf::SubInfo;

use strict;
use warnings;

our $VERSION = '6.14';

use Devel::NYTProf::Constants qw(
    NYTP_SIi_FID NYTP_SIi_FIRST_LINE NYTP_SIi_LAST_LINE NYTP_SIi_CALL_COUNT
    NYTP_SIi_INCL_RTIME NYTP_SIi_EXCL_RTIME NYTP_SIi_SUB_NAME NYTP_SIi_PROFILE
    NYTP_SIi_REC_DEPTH NYTP_SIi_RECI_RTIME NYTP_SIi_CALLED_BY
    NYTP_SCi_CALL_COUNT NYTP_SCi_INCL_RTIME NYTP_SCi_EXCL_RTIME
    NYTP_SCi_RECI_RTIME NYTP_SCi_REC_DEPTH NYTP_SCi_CALLING_SUB
);

# After the published positions; filled on demand.
use constant {META => 12, CACHE => 13};

sub subname { return shift->[NYTP_SIi_SUB_NAME] }

# Names of anonymous subs contain a file name, where "::" has no meaning.
sub _split_name {
    my ($name) = @_;
    my $end = index $name, '[';
    my $at = rindex $end < 0 ? $name : substr($name, 0, $end), '::';
    return $at < 0 ? ($name, $name) : (substr($name, 0, $at), substr($name, $at + 2));
}

sub package { return (_split_name(shift->[NYTP_SIi_SUB_NAME]))[0] }
sub subname_without_package { return (_split_name(shift->[NYTP_SIi_SUB_NAME]))[1] }
sub fid { return shift->[NYTP_SIi_FID] || 0 }
sub fileinfo { my ($self) = @_; return $self->profile->fileinfo_of($self->fid) }
sub first_line { return shift->[NYTP_SIi_FIRST_LINE] }
sub last_line { return shift->[NYTP_SIi_LAST_LINE] }
sub calls { return shift->[NYTP_SIi_CALL_COUNT] }
sub incl_time { return shift->[NYTP_SIi_INCL_RTIME] }
sub excl_time { return shift->[NYTP_SIi_EXCL_RTIME] }
sub recur_max_depth { return shift->[NYTP_SIi_REC_DEPTH] }
sub recur_incl_time { return shift->[NYTP_SIi_RECI_RTIME] }

sub is_xsub {
    my ($self) = @_;
    my $first = $self->first_line;
    return undef if !defined $first;
    return $first == 0 && ($self->last_line || 0) == 0 ? 1 : 0;
}

sub is_opcode {
    my ($self) = @_;
    return $self->is_xsub && $self->subname =~ /(?:\bCORE::|::CORE:)\w+\z/ ? 1 : 0;
}

sub is_anon { return shift->subname =~ /::__ANON__\b/ ? 1 : '' }

sub kind {
    my ($self) = @_;
    return 'opcode' if $self->is_opcode;
    return $self->is_xsub ? 'xsub' : 'perl';
}

sub caller_fid_line_places {
    my ($self, $merge_evals) = @_;
    if ($merge_evals) {
        require Carp;
        Carp::carp("caller_fid_line_places doesn't merge evals yet");
    }
    my $called_by = $self->[NYTP_SIi_CALLED_BY] || {};
    # an empty entry under 0 only marks an xsub or opcode
    return {map { $_ => $called_by->{$_} } grep { $_ || %{$called_by->{$_}} } keys %$called_by};
}

sub called_by_subnames {
    my ($self) = @_;
    my %names;
    my $places = $self->caller_fid_line_places;
    for my $by_line (values %$places) {
        $names{$_} = undef for map { keys %{$_->[NYTP_SCi_CALLING_SUB] || {}} } values %$by_line;
    }
    return \%names;
}

sub caller_fids {
    my ($self) = @_;
    my @fids = sort { $a <=> $b } keys %{$self->caller_fid_line_places};
    return @fids;
}

sub caller_count { return scalar shift->caller_places }

sub caller_places {
    my ($self) = @_;
    my $places = $self->caller_fid_line_places;
    my @list;
    for my $fid (sort { $a <=> $b } keys %$places) {
        my $by_line = $places->{$fid};
        push @list, map { [$fid, $_, $by_line->{$_}] } sort { $a <=> $b } keys %$by_line;
    }
    return @list;
}

sub meta { return shift->[META] ||= {} }
sub cache { return shift->[CACHE] ||= {} }
sub profile { return shift->[NYTP_SIi_PROFILE] }

sub _copy_call {
    my ($call) = @_;
    my @copy = @$call;
    $copy[NYTP_SCi_CALLING_SUB] = {%{$copy[NYTP_SCi_CALLING_SUB] || {}}};
    return \@copy;
}

sub clone {
    my ($self) = @_;
    my @copy = @$self;
    my $called_by = $self->[NYTP_SIi_CALLED_BY] || {};
    my %copy;
    for my $fid (keys %$called_by) {
        my $by_line = $called_by->{$fid};
        $copy{$fid} = {map { $_ => _copy_call($by_line->{$_}) } keys %$by_line};
    }
    $copy[NYTP_SIi_CALLED_BY] = \%copy;
    $copy[META] = {%{$self->[META] || {}}};
    $copy[CACHE] = undef;
    return bless \@copy, ref $self;
}

sub _max { return $_[0] > $_[1] ? $_[0] : $_[1] }

sub _merge_call {
    my ($into, $from) = @_;
    $into->[$_] += $from->[$_]
        for NYTP_SCi_CALL_COUNT, NYTP_SCi_INCL_RTIME, NYTP_SCi_EXCL_RTIME, NYTP_SCi_RECI_RTIME;
    $into->[NYTP_SCi_REC_DEPTH] = _max($into->[NYTP_SCi_REC_DEPTH], $from->[NYTP_SCi_REC_DEPTH]);
    $into->[NYTP_SCi_CALLING_SUB]{$_} = undef for keys %{$from->[NYTP_SCi_CALLING_SUB] || {}};
    return;
}

sub merge_in {
    my ($self, $other) = @_;
    $self->[$_] += $other->[$_]
        for NYTP_SIi_CALL_COUNT, NYTP_SIi_INCL_RTIME, NYTP_SIi_EXCL_RTIME, NYTP_SIi_RECI_RTIME;
    $self->[NYTP_SIi_REC_DEPTH] = _max($self->[NYTP_SIi_REC_DEPTH], $other->[NYTP_SIi_REC_DEPTH]);
    my $into = $self->[NYTP_SIi_CALLED_BY] ||= {};
    my $from = $other->[NYTP_SIi_CALLED_BY] || {};
    for my $fid (keys %$from) {
        $into->{$fid} ||= {};
        for my $line (keys %{$from->{$fid}}) {
            my $call = $from->{$fid}{$line};
            if ($into->{$fid}{$line}) {
                _merge_call($into->{$fid}{$line}, $call);
            } else {
                $into->{$fid}{$line} = _copy_call($call);
            }
        }
    }
    push @{$self->meta->{merged_sub_names}}, $other->subname;
    return;
}

sub normalize_for_test {
    my ($self) = @_;
    $self->[$_] = 0 for NYTP_SIi_INCL_RTIME, NYTP_SIi_EXCL_RTIME, NYTP_SIi_RECI_RTIME;
    my $plain = \&Devel::NYTProf::FileInfo::_without_numbers;
    $self->[NYTP_SIi_SUB_NAME] = $plain->($self->[NYTP_SIi_SUB_NAME]);
    my $called_by = $self->[NYTP_SIi_CALLED_BY] || {};
    $self->_forget_lines($_) for keys %$called_by;
    for my $call (map { values %$_ } values %$called_by) {
        $call->[$_] = 0 for NYTP_SCi_INCL_RTIME, NYTP_SCi_EXCL_RTIME, NYTP_SCi_RECI_RTIME;
        my $callers = $call->[NYTP_SCi_CALLING_SUB] or next;
        %$callers = map { $plain->($_) => undef } keys %$callers;
    }
    return;
}

# Lines of these modules differ between perls: number them from 1.
sub _forget_lines {
    my ($self, $fid) = @_;
    my $file = $fid ? $self->profile->fileinfo_of($fid, 1) : undef;
    return if !$file || $file->filename !~ m{/(?:AutoLoader|Exporter)\.pm\z};
    my $by_line = $self->[NYTP_SIi_CALLED_BY]{$fid};
    my $n = 0;
    $self->[NYTP_SIi_CALLED_BY]{$fid} =
        {map { ++$n => $by_line->{$_} } sort { $a <=> $b } keys %$by_line};
    return;
}

sub _format_call {
    my ($call) = @_;
    my @fields = @$call;
    my $callers = pop @fields;
    return join ' ', '[', map({ $_ // 'undef' } @fields), join('|', sort keys %{$callers || {}}), ']';
}

sub dump {
    my ($self, $separator, $fh, $path, $prefix) = @_;
    my @path = grep { defined && length } $path;
    my $line = sub {
        print {$fh} defined $prefix ? $prefix : '', join($separator, @path, $self->subname, @_),
            "\n";
    };
    my $range = join '-', map { defined $_ ? $_ : 'undef' } $self->first_line, $self->last_line;
    $line->(sprintf '[ %s:%s calls %s times %s ]', $self->fid, $range, $self->calls,
        join ' ', map { $_ // 'undef' } $self->incl_time, $self->excl_time, $self->recur_max_depth,
        $self->recur_incl_time);
    for my $place ($self->caller_places) {
        my ($fid, $at, $call) = @$place;
        $line->('called_by', "$fid:$at", _format_call($call));
    }
    $line->('merge_donor', $_) for @{$self->meta->{merged_sub_names} || []};
    return;
}

1;

__END__

=head1 NAME

Devel::NYTProf::SubInfo - one sub of a loaded profile

=head1 SYNOPSIS

    use Devel::NYTProf::Data;

    my $profile = Devel::NYTProf::Data->new({filename => 'nytprof.out', quiet => 1});
    my $subs = $profile->subname_subinfo_map;
    for my $name (sort keys %$subs) {
        my $sub = $subs->{$name};
        printf "%s (%s): %d calls, %.6f s\n", $sub->subname, $sub->kind, $sub->calls,
            $sub->incl_time;
    }

=head1 METHODS

Times are seconds.

    subname, package, subname_without_package  "Foo::Bar::baz", "Foo::Bar" and "baz"; a name
                            without a package is its own package
    fid, fileinfo           the file of the definition; file 1 if it is unknown
    first_line, last_line   its lines: 0 for xsubs and opcodes, undef if not recorded
    calls                   number of calls
    incl_time, excl_time    inclusive time of the outermost calls; exclusive time
    recur_incl_time, recur_max_depth  inclusive time of nested calls; their depth
    is_xsub, is_opcode      is the sub written in C; is it a builtin, which is an xsub, too?
    is_anon                 has it no name?
    kind                    "perl", "xsub" or "opcode"
    caller_fid_line_places  the calls: { fid => { line =>
                            [ count, incl, excl, 0, 0, recursive incl, depth, {callers} ] } }
    caller_places           a list of [fid, line, call array] (in scalar context their number);
                            see Devel::NYTProf::SubCallInfo
    caller_fids             the ids of the files with calls (in scalar context their number)
    caller_count            the number of calling lines
    called_by_subnames      a hash whose keys are the names of the calling subs
    meta                    a hash: merged_sub_names, anonymous subs of merged evals
    cache, profile          a hash for the user; the Devel::NYTProf::Data
    clone, merge_in(sub)    a deep copy; and to add the calls and times of another sub
    normalize_for_test      as of Devel::NYTProf::FileInfo
    dump(separator, filehandle, path, prefix)  print the sub as dump_profile_data does

=cut
