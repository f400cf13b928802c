# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::NYTProf::FileInfo;

use strict;
use warnings;

our $VERSION = '6.14';

use Devel::NYTProf::Constants qw(
    NYTP_FIDi_FILENAME NYTP_FIDi_EVAL_FID NYTP_FIDi_EVAL_LINE NYTP_FIDi_FID NYTP_FIDi_FLAGS
    NYTP_FIDi_FILESIZE NYTP_FIDi_FILEMTIME NYTP_FIDi_PROFILE NYTP_FIDi_EVAL_FI
    NYTP_FIDi_HAS_EVALS NYTP_FIDi_SUBS_DEFINED NYTP_FIDi_SUBS_CALLED
    NYTP_FIDf_IS_PMC NYTP_FIDf_IS_FAKE NYTP_FIDf_HAS_SRC NYTP_FIDf_SAVE_SRC
    NYTP_SCi_INCL_RTIME NYTP_SCi_EXCL_RTIME NYTP_SCi_RECI_RTIME NYTP_SCi_CALLING_SUB
);
use Devel::NYTProf::Util qw(strip_prefix_from_paths);

# After the published positions; filled on demand.
use constant {META => 13, CACHE => 14};

sub filename { return shift->[NYTP_FIDi_FILENAME] }

sub filename_without_inc {
    my ($self) = @_;
    my @names = ($self->filename);
    strip_prefix_from_paths([$self->profile->inc], \@names, qr/(?:^|\[)/);
    return $names[0];
}

# Recorded file names are absolute; other names are no files.
sub abs_filename { return shift->filename }
sub fid { return shift->[NYTP_FIDi_FID] }
sub flags { return shift->[NYTP_FIDi_FLAGS] }
sub size { return shift->[NYTP_FIDi_FILESIZE] }
sub mtime { return shift->[NYTP_FIDi_FILEMTIME] }
sub profile { return shift->[NYTP_FIDi_PROFILE] }
sub is_eval { return shift->[NYTP_FIDi_EVAL_FID] ? 1 : 0 }
sub is_fake { return shift->flags & NYTP_FIDf_IS_FAKE ? 1 : 0 }
sub is_pmc { return shift->flags & NYTP_FIDf_IS_PMC ? 1 : 0 }

sub is_file {
    my ($self) = @_;
    return '' if $self->is_fake || $self->is_eval || $self->filename =~ /\A-e?\z/;
    return 1;
}

sub eval_fid { return shift->[NYTP_FIDi_EVAL_FID] }
sub eval_line { return shift->[NYTP_FIDi_EVAL_LINE] }
sub eval_fi { return shift->[NYTP_FIDi_EVAL_FI] }

sub has_evals {
    my ($self, $nested) = @_;
    my $own = $self->[NYTP_FIDi_HAS_EVALS] or return;
    my @evals = @$own;
    return @evals if !$nested;
    for (my $i = 0; $i < @evals; $i++) {
        push @evals, @{$evals[$i][NYTP_FIDi_HAS_EVALS] || []};
    }
    return @evals;
}

sub evals_by_line {
    my ($self) = @_;
    my %by_line;
    $by_line{$_->eval_line}{$_->fid} = $_ for $self->has_evals;
    return \%by_line;
}

sub sibling_evals {
    my ($self) = @_;
    my $parent = $self->eval_fi or return;
    return grep { $_->eval_line == $self->eval_line } $parent->has_evals;
}

sub outer {
    my ($self, $outermost) = @_;
    my ($file, $line) = ($self->eval_fi, $self->eval_line);
    return if !$file;
    while ($outermost && $file->eval_fi) {
        ($file, $line) = ($file->eval_fi, $file->eval_line);
    }
    return wantarray ? ($file, $line) : $file;
}

sub line_time_data {
    my ($self, $levels) = @_;
    for my $level (@{$levels || ['line']}) {
        my $by_fid = $self->profile->get_fid_line_data($level) or next;
        my $by_line = $by_fid->[$self->fid] or next;
        return [map { $_ || [] } @$by_line];
    }
    return undef;
}

sub _sum_of_lines {
    my ($self, $index) = @_;
    my $by_fid = $self->profile->get_fid_line_data('line') || [];
    my $by_line = $by_fid->[$self->fid] or return undef;
    my $sum = 0;
    $_ && ($sum += $_->[$index]) for @$by_line;
    return $sum;
}

sub excl_time { return shift->_sum_of_lines(0) }
sub sum_of_stmts_time { return shift->_sum_of_lines(0) || 0 }
sub sum_of_stmts_count { return shift->_sum_of_lines(1) || 0 }
sub sub_call_lines { return shift->[NYTP_FIDi_SUBS_CALLED] }

sub subs_defined {
    my ($self, $with_evals) = @_;
    return map { values %{$_->[NYTP_FIDi_SUBS_DEFINED]} } $self,
        $with_evals ? $self->has_evals(1) : ();
}

sub subs_defined_sorted {
    my ($self, $with_evals) = @_;
    my @subs = sort { $a->subname cmp $b->subname } $self->subs_defined($with_evals);
    return @subs;
}

sub has_savesrc {
    my ($self) = @_;
    return $self->profile->{fid_srclines}[$self->fid];
}

sub srclines_array {
    my ($self) = @_;
    if (my $saved = $self->has_savesrc) {
        return [@$saved[1 .. $#$saved]];
    }
    return undef if !$self->is_file;
    # a .pmc was loaded instead of the file, and line numbers are those of the .pmc
    my $name = $self->filename . ($self->is_pmc ? 'c' : '');
    # a profile may name a FIFO or /dev/zero as its source
    return undef if $name =~ /\0/ || !-f $name;
    open my $fh, '<', $name or return undef;
    my @lines = <$fh>;
    close $fh;
    return \@lines;
}

sub summary {
    my ($self) = @_;
    return sprintf 'fid%d: %s', $self->fid, $self->filename_without_inc;
}

sub meta { return shift->[META] ||= {} }
sub cache { return shift->[CACHE] ||= {} }

sub normalize_for_test {
    my ($self) = @_;
    $self->[NYTP_FIDi_FILENAME] = _without_numbers($self->[NYTP_FIDi_FILENAME]);
    $self->[NYTP_FIDi_FLAGS] &= ~(NYTP_FIDf_HAS_SRC | NYTP_FIDf_SAVE_SRC);
    $self->[NYTP_FIDi_FILESIZE] = $self->[NYTP_FIDi_FILEMTIME] = 0;
    _rename_evals($self->[NYTP_FIDi_SUBS_DEFINED]);
    for my $calls (values %{$self->[NYTP_FIDi_SUBS_CALLED]}) {
        _rename_evals($calls);
        for my $call (values %$calls) {
            $call->[$_] = 0 for NYTP_SCi_INCL_RTIME, NYTP_SCi_EXCL_RTIME, NYTP_SCi_RECI_RTIME;
            _rename_evals($call->[NYTP_SCi_CALLING_SUB]);
        }
    }
    return;
}

# Returns a name with the numbers of string evals set to 0.
sub _without_numbers {
    my ($name) = @_;
    $name =~ s/\(eval \d+\)/(eval 0)/g if !$ENV{NYTPROF_TEST_SKIP_EVAL_NORM};
    return $name;
}

# Removes eval numbers from keys. If two keys become equal, the first in order stays.
sub _rename_evals {
    my ($hash) = @_;
    for my $name (sort keys %$hash) {
        my $plain = _without_numbers($name);
        next if $plain eq $name;
        my $value = delete $hash->{$name};
        $hash->{$plain} = $value if !exists $hash->{$plain};
    }
    return;
}

sub _nested_count {
    my ($evals) = @_;
    my ($nested, $merged) = (0, 0);
    for my $eval (@$evals) {
        $nested += scalar @{[$eval->has_evals(1)]};
        $merged += scalar @{$eval->meta->{merged_fids} || []};
    }
    return ($nested, $merged);
}

sub _dump_itself {
    my ($self, $separator, $fh, $path, $prefix) = @_;
    my @path = grep { defined && length } $path, $self->fid;
    my $line = sub {
        print {$fh} defined $prefix ? $prefix : '', join($separator, @path, @_), "\n";
    };
    my @fields = map { defined $_ ? $_ : '' } $self->filename_without_inc,
        @$self[NYTP_FIDi_EVAL_FID .. NYTP_FIDi_FILEMTIME];
    $line->("[ @fields ]");
    return $line;
}

sub dump {
    my ($self, @to) = @_;
    my $line = $self->_dump_itself(@to);
    for my $sub ($self->subs_defined_sorted) {
        my @range = map { defined $_ ? $_ : 'undef' } $sub->first_line, $sub->last_line;
        $line->('sub', $sub->subname, join '-', @range);
    }
    my $calls = $self->sub_call_lines;
    for my $at (sort { $a <=> $b } keys %$calls) {
        $line->('call', $at, $_, Devel::NYTProf::SubInfo::_format_call($calls->{$at}{$_}))
            for sort keys %{$calls->{$at}};
    }
    my $evals = $self->evals_by_line;
    for my $at (sort { $a <=> $b } keys %$evals) {
        my @evals = values %{$evals->{$at}};
        $line->('eval', $at, sprintf '[ count %d nested %d merged %d ]', scalar @evals,
            _nested_count(\@evals));
    }
    return;
}

1;

__END__

=head1 NAME

Devel::NYTProf::FileInfo - one file, or string eval, of a loaded profile

=head1 SYNOPSIS

    use Devel::NYTProf::Data;

    my $profile = Devel::NYTProf::Data->new({filename => 'nytprof.out', quiet => 1});
    for my $file ($profile->all_fileinfos) {
        printf "%2d %s: %.6f s\n", $file->fid, $file->filename, $file->sum_of_stmts_time;
    }

=head1 METHODS

    filename              the recorded name: an absolute path, -e, -, or (eval N)[FILE:LINE]
    filename_without_inc  the same without a directory of @INC
    abs_filename          the recorded name
    fid, flags            the id; bits of Devel::NYTProf::Constants
    size, mtime           bytes and epoch seconds, or 0
    profile               the Devel::NYTProf::Data
    is_eval, is_fake      is it a string eval; does it stand for an unknown file?
    is_file, is_pmc       is it a file on disk; is it a .pmc?
    eval_fid, eval_line   the id of the file that ran the string eval, the line, and the file;
    eval_fi               '', '' and undef for a file
    has_evals([nested])   the string evals that this file ran and, if nested, those that these ran
    evals_by_line         { line => { fid => FileInfo } }
    sibling_evals         all string evals of the same line, this one included; none for a file
    outer([outermost])    the file and line that ran a string eval, or the outermost eval around
                          it; nothing for a file. In scalar context only the file
    line_time_data([levels])  [ [time, count], ... ] by line, with [] for lines that were not run,
                          of the first of the levels ('line', 'block', 'sub'; default 'line') that
                          the profile has; undef if none
    excl_time             seconds spent in statements, or undef without any
    sum_of_stmts_time, sum_of_stmts_count  the same, or 0; the number of statements
    sub_call_lines        the calls that lines of the file made: { line => { sub name =>
                          [ count, incl, excl, 0, 0, recursive incl, depth, {callers} ] } }
    subs_defined([with evals])  the subs that the file (if true also its string evals) defines
    subs_defined_sorted([with evals])  the same, by name
    srclines_array        source lines with newlines, from index 0: as saved in the profile, else
                          from disk, else undef
    has_savesrc           the saved ones alone, from index 1
    summary               one line of text: id and filename_without_inc
    meta                  a hash: merged_fids, the string evals that this one stands for, and
                          merged_fids_src_varied, how many of them differed
    cache                 a hash for the user
    normalize_for_test    set times, size and mtime to 0, and replace the numbers of string evals,
                          unless NYTPROF_TEST_SKIP_EVAL_NORM is true
    dump(separator, filehandle, path, prefix)  print the file as dump_profile_data does

=cut
