# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::NYTProf::Constants;

use strict;
use warnings;

use Devel::NYTProf::Util ();

our $VERSION = '6.14';

# Values by name. Positions are those of XS/glue/data.h; a test compares the two.
my %value;

BEGIN {
    %value = (
        # the native format
        NYTP_FILE_MAJOR_VERSION => 5,
        NYTP_FILE_MINOR_VERSION => 0,
        NYTP_DEFAULT_COMPRESSION => 6,

        # bits of the flags of a file
        NYTP_FIDf_IS_PMC => 0x001,
        NYTP_FIDf_VIA_STMT => 0x002,
        NYTP_FIDf_VIA_SUB => 0x004,
        NYTP_FIDf_IS_AUTOSPLIT => 0x008,
        NYTP_FIDf_HAS_SRC => 0x010,
        NYTP_FIDf_SAVE_SRC => 0x020,
        NYTP_FIDf_IS_ALIAS => 0x040,
        NYTP_FIDf_IS_FAKE => 0x080,
        NYTP_FIDf_IS_EVAL => 0x100,

        # positions in a FileInfo
        NYTP_FIDi_FILENAME => 0,
        NYTP_FIDi_EVAL_FID => 1,
        NYTP_FIDi_EVAL_LINE => 2,
        NYTP_FIDi_FID => 3,
        NYTP_FIDi_FLAGS => 4,
        NYTP_FIDi_FILESIZE => 5,
        NYTP_FIDi_FILEMTIME => 6,
        NYTP_FIDi_PROFILE => 7,
        NYTP_FIDi_EVAL_FI => 8,
        NYTP_FIDi_HAS_EVALS => 9,
        NYTP_FIDi_SUBS_DEFINED => 10,
        NYTP_FIDi_SUBS_CALLED => 11,
        NYTP_FIDi_elements => 12,

        # positions in a SubInfo
        NYTP_SIi_FID => 0,
        NYTP_SIi_FIRST_LINE => 1,
        NYTP_SIi_LAST_LINE => 2,
        NYTP_SIi_CALL_COUNT => 3,
        NYTP_SIi_INCL_RTIME => 4,
        NYTP_SIi_EXCL_RTIME => 5,
        NYTP_SIi_SUB_NAME => 6,
        NYTP_SIi_PROFILE => 7,
        NYTP_SIi_REC_DEPTH => 8,
        NYTP_SIi_RECI_RTIME => 9,
        NYTP_SIi_CALLED_BY => 10,
        NYTP_SIi_elements => 11,

        # positions in the array of one call site
        NYTP_SCi_CALL_COUNT => 0,
        NYTP_SCi_INCL_RTIME => 1,
        NYTP_SCi_EXCL_RTIME => 2,
        NYTP_SCi_INCL_TICKS => 3,
        NYTP_SCi_EXCL_TICKS => 4,
        NYTP_SCi_RECI_RTIME => 5,
        NYTP_SCi_REC_DEPTH => 6,
        NYTP_SCi_CALLING_SUB => 7,
        NYTP_SCi_elements => 8,
    );
    no strict 'refs';
    for my $name (keys %value) {
        my $value = $value{$name};
        *{$name} = sub () { $value };
    }
}

# The version of zlib that compressed profiles are written for. True means that profiles can be compressed.
sub NYTP_ZLIB_VERSION () {'1.2'}

our @EXPORT_OK = (sort(keys %value), 'NYTP_ZLIB_VERSION', 'const_bits2names');

sub import {
    my ($class, @names) = @_;
    @_ = ($class, map { /^:(?:all|DEFAULT)$/ || $_ eq '/./' ? @EXPORT_OK : $_ } @names);
    goto &Devel::NYTProf::Util::import;
}

sub const_bits2names {
    my ($prefix, $bits) = @_;
    my @names = grep { /^\Q$prefix\E[a-z]?_/ && $bits & $value{$_} } keys %value;
    return map { my $name = $_; $name =~ s/^[^_]+_[^_]+_//; $name }
        sort { $value{$a} <=> $value{$b} || $a cmp $b } @names;
}

1;

__END__

=head1 NAME

Devel::NYTProf::Constants - numbers that profiles and their Perl structures are made of

=head1 SYNOPSIS

    use Devel::NYTProf::Data;
    use Devel::NYTProf::Constants qw(NYTP_FIDf_IS_PMC NYTP_SCi_CALL_COUNT);

    my $profile = Devel::NYTProf::Data->new({filename => 'nytprof.out', quiet => 1});
    for my $file ($profile->all_fileinfos) {
        print $file->filename, " was loaded from its .pmc\n" if $file->flags & NYTP_FIDf_IS_PMC;
    }

=head1 DESCRIPTION

All names are exported on request.

    NYTP_FIDf_*  bits of the flags of a file: IS_PMC 1, VIA_STMT 2, VIA_SUB 4, IS_AUTOSPLIT 8,
            HAS_SRC 0x10, SAVE_SRC 0x20, IS_ALIAS 0x40, IS_FAKE 0x80, IS_EVAL 0x100
    NYTP_FIDi_*, NYTP_SIi_*, NYTP_SCi_*  positions in the arrays that a Devel::NYTProf::FileInfo, a
            Devel::NYTProf::SubInfo and the data of one call site are
    NYTP_DEFAULT_COMPRESSION, NYTP_ZLIB_VERSION  the default level of the option `compress', and a
            true value
    NYTP_FILE_MAJOR_VERSION, NYTP_FILE_MINOR_VERSION  the version of the native format written
    const_bits2names(PREFIX, BITS)  the names of the bits that are set, without their prefix, lowest
            first: const_bits2names('NYTP_FIDf', 0x12) is ('VIA_STMT', 'HAS_SRC')

=cut
