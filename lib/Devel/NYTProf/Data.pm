# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
package Devel::NYTProf::Data;

use strict;
use warnings;

our $VERSION = '6.14';

use Devel::NYTProf::Constants qw(
    NYTP_FIDi_PROFILE NYTP_FIDi_HAS_EVALS NYTP_FIDi_SUBS_DEFINED NYTP_SIi_PROFILE
);
use Devel::NYTProf::Core ();
use Devel::NYTProf::FileInfo ();
use Devel::NYTProf::SubInfo ();
use Devel::NYTProf::Util qw(strip_prefix_from_paths);

sub new {
    my ($class, $options) = @_;
    $options ||= {};
    my $file = defined $options->{filename} ? $options->{filename} : 'nytprof.out';
    if ($file ne '-' && (!-e $file || -d _)) {
        _croak("Devel::NYTProf::new() could not locate file for processing: $file");
    }
    print "Reading $file\n" if !$options->{quiet};
    if ($options->{callback}) {
        my $error = Devel::NYTProf::ReadStream::_stream($file, $options->{callback});
        _croak($error) if defined $error;
        return undef;
    }
    my $self = _load($file, !$options->{skip_collapse_evals},
        $ENV{NYTPROF_MAX_EVAL_SIBLINGS} || 200, $options->{partial} ? 1 : 0);
    _croak($self) if !ref $self;
    bless $self, $class;
    print "Processing $file data\n" if !$options->{quiet};
    $self->_on_load;
    return $self;
}

# Errors are reported at the caller of these modules.
our @CARP_NOT = map {"Devel::NYTProf::$_"} qw(ReadStream Reader Run FileInfo SubInfo);

sub _croak {
    require Carp;
    Carp::croak(@_);
}

sub _carp {
    require Carp;
    Carp::carp(@_);
    return;
}

sub _on_load {
    my ($self) = @_;
    my %ask = map { split /=/, $_, 2 } grep {/=/} split /:/, $ENV{NYTPROF_ONLOAD} || '';
    if ($ask{dump}) {
        require Data::Dumper;
        local $Data::Dumper::Sortkeys = 1;
        local $Data::Dumper::Indent = 1;
        warn Data::Dumper->Dump([$self]);
    }
    exit $ask{exit} if defined $ask{exit};
    return;
}

# Files and subs refer to the profile weakly, so that it can be freed. One that the program still
# has keeps it: Devel::NYTProf::Data->new(...)->all_fileinfos is all that many programs say.
sub DESTROY {
    my ($self) = @_;
    return if ${^GLOBAL_PHASE} eq 'DESTRUCT';
    my @files = grep { $_ && @$_ } @{$self->{fid_fileinfo} || []};
    my @subs = values %{$self->{sub_subinfo} || {}};
    my %inside; # references from a file
    for my $file (@files) {
        $inside{0 + $_}++ for @{$file->[NYTP_FIDi_HAS_EVALS] || []}, values %{$file->[NYTP_FIDi_SUBS_DEFINED]};
    }
    for my $info (@files, @subs) {
        # two are from the member and from our list
        next if Internals::SvREFCNT(@$info) <= 2 + ($inside{0 + $info} || 0);
        return $info->[$info->isa('Devel::NYTProf::FileInfo') ? NYTP_FIDi_PROFILE : NYTP_SIi_PROFILE] = $self;
    }
    return;
}

sub attributes { return shift->{attribute} || {} }
sub options { return shift->{option} || {} }
sub load_error { return shift->{load_error} }
sub inc { return grep { !ref } @INC }

sub all_fileinfos {
    my ($self) = @_;
    my @files = grep { $_ && @$_ } @{$self->{fid_fileinfo}};
    return @files;
}

sub eval_fileinfos {
    my @files = grep { $_->eval_line } shift->all_fileinfos;
    return @files;
}

sub noneval_fileinfos {
    my @files = grep { !$_->eval_line } shift->all_fileinfos;
    return @files;
}

sub fileinfo_of {
    my ($self, $what, $silent) = @_;
    return $what if ref $what && eval { $what->isa('Devel::NYTProf::FileInfo') };
    if (!defined $what) {
        _carp("Can't resolve fid of undef value") if !$silent;
        return undef;
    }
    my $fid = ref $what ? undef : $self->resolve_fid($what);
    my $file = $fid ? $self->{fid_fileinfo}[$fid] : undef;
    return $file if $file && @$file;
    _carp("Can't resolve fid of '$what'") if !$silent;
    return undef;
}

sub resolve_fid {
    my ($self, $what) = @_;
    _croak('No file specified') if !defined $what;
    return eval { $what->isa('Devel::NYTProf::FileInfo') } ? $what->fid : undef if ref $what;
    return $what + 0 if $what =~ /\A[0-9]+\z/;
    my $by_name = $self->{caches}{fid_of_name}
        ||= {map { $_->filename => $_->fid } reverse $self->all_fileinfos};
    return $by_name->{$what} if exists $by_name->{$what};
    return undef if $what eq '' || $what =~ m{^/};
    my @names = grep {m{/\Q$what\E\z}} keys %$by_name;
    if (@names > 1) {
        _carp("Can't resolve '$what' to one file: " . join ', ', sort @names);
        return undef;
    }
    return @names ? $by_name->{$names[0]} : undef;
}

sub subinfo_of {
    my ($self, $name) = @_;
    if (!defined $name) {
        _carp("Can't resolve subinfo of undef value");
        return undef;
    }
    my $sub = $self->{sub_subinfo}{$name};
    _carp("Can't resolve subinfo of '$name'") if !$sub;
    return $sub;
}

sub subname_subinfo_map { return {%{shift->{sub_subinfo}}} }

sub package_subinfo_map {
    my ($self, $merge, $nested) = @_;
    my %by_package;
    for my $name (sort keys %{$self->{sub_subinfo}}) {
        my $sub = $self->{sub_subinfo}{$name};
        push @{$by_package{$sub->package}}, $sub;
    }
    if ($merge) {
        for my $subs (values %by_package) {
            my ($first, @others) = @$subs;
            my $sum = $first->clone;
            $sum->merge_in($_) for @others;
            $subs = [$sum];
        }
    }
    return {map { ("${_}::" => $by_package{$_}) } keys %by_package} if !$nested;
    my %tree;
    for my $package (keys %by_package) {
        my $node = \%tree;
        $node = $node->{$_} ||= {} for split /::/, $package;
        $node->{''} = $by_package{$package};
    }
    return \%tree;
}

sub subs_defined_in_file {
    my ($self, $what, $with_lines) = @_;
    _croak('incl_lines is deprecated in subs_defined_in_file,'
            . ' use subs_defined_in_file_by_line instead')
        if $with_lines;
    my $file = $self->fileinfo_of($what) or return;
    return {map { $_->subname => $_ } $file->subs_defined};
}

sub subs_defined_in_file_by_line {
    my ($self, $what) = @_;
    my $subs = $self->subs_defined_in_file($what) || {};
    my %by_line;
    push @{$by_line{$subs->{$_}->first_line || 0}}, $subs->{$_} for sort keys %$subs;
    return \%by_line;
}

sub file_line_range_of_sub {
    my ($self, $name) = @_;
    my $sub = $self->subinfo_of($name) or return;
    my $file = $sub->fileinfo or return;
    return ($file->filename, $sub->fid, $sub->first_line, $sub->last_line, $file);
}

sub get_profile_levels { return shift->{profile_modes} }

sub get_fid_line_data {
    my ($self, $level) = @_;
    $level = 'line' if !defined $level;
    return $self->{"fid_${level}_time"};
}

sub normalize_variables {
    my ($self, $options_too) = @_;
    my $attributes = $self->attributes;
    delete @$attributes{qw(PL_perldb cumulative_overhead_ticks)};
    for my $name (keys %$attributes) {
        $attributes->{$name} = 0 if $name !~ /\A(?:application|complete)\z/;
    }
    %{$self->options} = () if $options_too;
    for my $member (keys %{$self->get_profile_levels}) {
        $_ && ($_->[0] = 0) for map { $_ ? @$_ : () } @{$self->{$member} || []};
    }
    $_->normalize_for_test for $self->all_fileinfos, values %{$self->{sub_subinfo}};
    Devel::NYTProf::FileInfo::_rename_evals($self->{sub_subinfo});
    delete $self->{caches};
    return 1;
}

sub dump_profile_data {
    my ($self, $options) = @_;
    $options ||= {};
    my $fh = $options->{filehandle} || \*STDOUT;
    my $separator = $options->{separator};
    $separator = '' if !defined $separator;
    my %to = (fh => $fh, separator => $separator,
        skip => $self->_files_to_skip($options->{skip_fileinfo_hook}));
    my @members = grep { !/\A(?:fid_srclines|caches|load_error)\z/ } sort keys %$self;
    print $fh "{\n" if $separator eq '';
    for my $member (@members) {
        $self->_dump_value(\%to, [$member], $self->{$member});
    }
    print $fh "}\n" if $separator eq '';
    return 1;
}

# Returns the file ids that a dump omits: merged evals, and files that the hook rejects.
sub _files_to_skip {
    my ($self, $hook) = @_;
    my $files = $self->{fid_fileinfo};
    my @known = grep { $files->[$_] } 0 .. $#$files;
    return {map { $_ => 1 } grep { !@{$files->[$_]} || $hook && $hook->($files->[$_]) } @known};
}

# Prints a line "path value"; in a tree, only the end of the path, indented.
sub _dump_line {
    my ($to, $path, @value) = @_;
    my $fh = $to->{fh};
    if ($to->{separator} ne '') {
        print $fh join($to->{separator}, @$path, @value), "\n";
    } else {
        print $fh '    ' x @$path, join(' ', "$path->[-1]:", @value), "\n";
    }
    return;
}

sub _dump_object {
    my ($to, $path, $object) = @_;
    my ($sep, @parents) = ($to->{separator}, @$path);
    pop @parents; # the object prints its own key
    my $method = $to->{skip}{$object->fid} ? '_dump_itself' : 'dump';
    return $object->$method($sep, $to->{fh}, join($sep, @parents), '') if $sep ne '';
    return $object->$method(' ', $to->{fh}, '', '    ' x @$path);
}

sub _dump_value {
    my ($self, $to, $path, $value) = @_;
    return if !defined $value;
    my $type = ref $value;
    return _dump_line($to, $path, $value) if $type eq '';
    return if @$path == 2 && $path->[0] =~ /\Afid_\w+_time\z/ && $to->{skip}{$path->[1]};
    if ($type =~ /Info\z/) {
        return if !@$value || $type eq 'Devel::NYTProf::SubInfo' && $to->{skip}{$value->fid};
        return _dump_object($to, $path, $value);
    }
    return _dump_line($to, $path, "[ @$value[0, 1] ]") if $type eq 'ARRAY' && _is_time($path);
    return _dump_line($to, $path, '[  ]') if $type eq 'ARRAY' && !@$value;
    _dump_line($to, $path) if $to->{separator} eq '';
    my @keys = $type eq 'ARRAY' ? 0 .. $#$value : sort keys %$value;
    for my $key (@keys) {
        $self->_dump_value($to, [@$path, $key],
            $type eq 'ARRAY' ? $value->[$key] : $value->{$key});
    }
    return;
}

sub _is_time {
    my ($path) = @_;
    return @$path == 3 && $path->[0] =~ /\Afid_\w+_time\z/;
}

1;

__END__

=head1 NAME

Devel::NYTProf::Data - load a profile

=head1 SYNOPSIS

    use Devel::NYTProf::Data;

    my $profile = Devel::NYTProf::Data->new({filename => 'nytprof.out', quiet => 1});
    printf "%s ran %.3f s\n", @{$profile->attributes}{qw(application profiler_duration)};

    my $subs = $profile->subname_subinfo_map;
    my @slowest = sort { $b->excl_time <=> $a->excl_time || $a->subname cmp $b->subname }
        values %$subs;
    @slowest = grep { defined } @slowest[0 .. 9];
    printf "%9.6f s %s\n", $_->excl_time, $_->subname for @slowest;

=head1 CONSTRUCTOR

C<< new({option => value, ...}) >> loads a profile. The profiler is not started by it.

    filename  the profile [nytprof.out]; - is standard input
    quiet     otherwise "Reading FILE" and "Processing FILE data" go to standard output
    partial   load what there is of a damaged profile, where new would otherwise croak; load_error
              then says what is wrong, and the attribute `complete' is false
    callback  stream instead: code that is called for every chunk, or a hash from tags to code (see
              Devel::NYTProf::ReadStream), in which all_loaded is called last; new returns undef
    skip_collapse_evals  load every string eval by itself

Without C<skip_collapse_evals>, evals that one line ran are merged into the first of them if they
have the same source and ran no string evals themselves. More than 200 of a line
(C<NYTPROF_MAX_EVAL_SIBLINGS>) are merged whatever their source. Anonymous subs of the same line
of merged evals become one. Times and counts are summed by line; by block and sub
(C<get_fid_line_data>) each eval keeps its own, under its own id.

The environment variable C<NYTPROF_ONLOAD> can ask for C<dump=1> (a warning with all data) and
C<exit=N> once a profile is loaded.

=head1 METHODS

A file is a L<Devel::NYTProf::FileInfo>, a sub a L<Devel::NYTProf::SubInfo>.

    attributes      a hash of the file's attributes, and of those under ATTRIBUTES
    options         a hash of the profiler's options
    load_error      why the profile is partial, or undef
    inc             directories that file names are shown without: @INC of the reading program
    all_fileinfos   the files and string evals that were not merged into another, by id
    eval_fileinfos, noneval_fileinfos  the string evals of these; the files
    fileinfo_of(id or name or object [, silent])  the file; undef and, unless silent, a warning
            if there is none
    resolve_fid(name or id)  the id of a file, from its recorded name or a unique end of it (whole
            path components); an integer is returned
    subinfo_of(name)  the sub; undef and a warning if there is none
    subname_subinfo_map  a new hash from names to subs
    package_subinfo_map(merge, nested)  subs by package: {"Foo::Bar::" => [sub, ...]}, or nested,
            {Foo => {Bar => {"" => [sub, ...]}}}, sorted by name; with merge there is one sub for
            each package, the sum of all
    subs_defined_in_file(name or id)  a hash from names to subs; nothing for an unknown file
    subs_defined_in_file_by_line(name or id)  a hash from first lines (0: unknown) to arrays of subs
    file_line_range_of_sub(name)  file name, id, first line, last line, and file; nothing for an
            unknown sub
    get_profile_levels  a hash from members of the object to the level that they hold:
            {fid_line_time => 'line', fid_block_time => 'block', fid_sub_time => 'sub'}, the last
            two only with the option `blocks'
    get_fid_line_data([level])  array by file id, of arrays by line, of [seconds, count]; undef
            without such data. Merged string evals are still there: go by all_fileinfos
    normalize_variables([options too])  set everything that differs between two runs to 0 (or
            remove it), so that dumps can be compared
    dump_profile_data({filehandle, separator, skip_fileinfo_hook})  print everything but merged
            string evals. With a separator, one sorted line for each fact: member, keys, value;
            without, an indented tree. Of a file for which the hook returns true only the name

=head1 ATTRIBUTES

These are derived: profiler_start_time and profiler_end_time (epoch seconds, of the last process),
profiler_duration (of all processes), profiler_active (the same less the profiler's own time),
complete (every process has an end). Sums are total_stmts_measured, total_stmts_discounted,
total_stmts_duration, total_sub_calls.

=head1 MEMBERS

Published code reads some members of the object directly: C<attribute>, C<option> (hashes),
C<fid_fileinfo>, C<fid_line_time>, C<fid_block_time>, C<fid_sub_time>, C<fid_srclines> (arrays by
file id), C<sub_subinfo> (by name), C<profile_modes>.

=head1 DIAGNOSTICS

    Devel::NYTProf::new() could not locate file for processing: %s
    %s: byte %d: Profile format error: %s
    %s: byte %d: Profile data incomplete, %s
        The process was killed or is still running, or the file was cut: see `partial'.

=head1 SEE ALSO

L<Devel::NYTProf::FileInfo>, L<Devel::NYTProf::SubInfo>, L<Devel::NYTProf::SubCallInfo>,
L<Devel::NYTProf::ReadStream>, L<Devel::NYTProf::Constants>, L<Devel::NYTProf::Reader>

=cut
