# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Print every fact that the accessors of the loading API give about one profile, one per
# line, sorted where the API gives no order. Run on the stock modules and on ours.
use strict;
use warnings;
use Devel::NYTProf::Data;
use Data::Dumper;
$Data::Dumper::Sortkeys = $Data::Dumper::Terse = 1;
$Data::Dumper::Indent = 0;
$Data::Dumper::Useqq = 1;
my ($file, @opt) = @ARGV;
local $SIG{__WARN__} = sub { my $text = shift; $text =~ s/ at \S+ line \d+.*//s; print "WARN\t$text\n" };
my $p = Devel::NYTProf::Data->new({filename => $file, quiet => 1, @opt});

# Objects become their name; numbers their value; hashes and arrays are walked.
sub plain {
    my ($v) = @_;
    return 'undef' if !defined $v;
    my $ref = ref $v or return $v =~ /\A-?\d+\.?\d*(?:e[-+]?\d+)?\z/i ? 0 + sprintf("%.9g", $v) : Dumper($v);
    return "Data" if $ref eq 'Devel::NYTProf::Data';
    return "file:" . ($v->filename // '?') if $ref eq 'Devel::NYTProf::FileInfo';
    return "sub:" . ($v->subname // '?') . '/' . ($v->fid // '') if $ref eq 'Devel::NYTProf::SubInfo';
    return '[' . join(' ', map { plain($_) } @$v) . ']' if $ref =~ /ARRAY|::/;
    return '{' . join(' ', map { Dumper($_) . '=' . plain($v->{$_}) } sort keys %$v) . '}' if $ref eq 'HASH';
    return $ref;
}
sub fact { my $name = shift; print join("\t", $name, map { plain($_) } @_), "\n" }
sub try { my ($what, $obj, $method, @args) = @_;
    my @r = $method =~ /^is_/ ? scalar eval { $obj->$method(@args) } : eval { $obj->$method(@args) };
    if ($@) { my $e = $@; $e =~ s/ at \S+ line \d+.*//s; return fact($what, $method, "DIED $e") }
    @r = sort { plain($a) cmp plain($b) } @r if $method =~ /^(?:subs_defined|caller_fids|caller_places)$/;
    if ($method =~ /by_line\z|package_subinfo_map/ && ref $r[0]) { @$_ = sort { plain($a) cmp plain($b) } @$_ for grep { ref eq 'ARRAY' } values %{$r[0]} }
    fact($what, $method, @r);
}
fact('keys', sort keys %$p);
fact($_, $p->{$_}) for grep { !/^fid_fileinfo|^sub_subinfo|^cache|^attribute/ } sort keys %$p;
fact("attribute $_", $p->{attribute}{$_}, $p->attributes->{$_}) for sort keys %{$p->attributes}; fact('options', $p->options); fact('levels', $p->get_profile_levels);
fact('all', map { $_->fid } $p->all_fileinfos);
fact('evals', map { $_->fid } $p->eval_fileinfos);
fact('nonevals', map { $_->fid } $p->noneval_fileinfos);
for my $level (qw(line block sub fid_line_time)) { fact("fid_line_data $level", eval { $p->get_fid_line_data($level) }) }
fact("fid_line_data", eval { $p->get_fid_line_data });
fact('subs', sort keys %{ $p->subname_subinfo_map });
for my $fi ($p->all_fileinfos) {
    my $w = 'file ' . $fi->fid;
    fact($w, 'array', map { ref $fi->[$_] && $_ != 9 ? plain($fi->[$_]) : $_ == 9 ? plain($fi->[9]) : $fi->[$_] } 0 .. 13);
    try($w, $fi, $_) for qw(filename filename_without_inc abs_filename fid flags size mtime profile is_eval is_fake is_file
        is_pmc eval_fid eval_line eval_fi evals_by_line excl_time sum_of_stmts_count sum_of_stmts_time sub_call_lines
        line_time_data summary meta outer srclines_array subs_defined_sorted subs_defined has_savesrc);
    try($w, $fi, 'sibling_evals'); try($w, $fi, 'has_evals'); try($w, $fi, 'has_evals', 1);
    try($w, $fi, 'evals_by_line', 1); try($w, $fi, 'outer', 1); try($w, $fi, 'subs_defined', 1);
    try($w, $fi, 'line_time_data', [$_]) for qw(line block sub);
    try($w, $p, 'subs_defined_in_file', $fi->filename);
    try($w, $p, 'subs_defined_in_file', $fi->fid);
    try($w, $p, 'subs_defined_in_file', $fi->fid, 1);
    try($w, $p, 'subs_defined_in_file_by_line', $fi->filename);
    try($w, $p, 'resolve_fid', $_) for $fi->fid, $fi->filename;
    try($w, $p, 'fileinfo_of', $_) for $fi, $fi->fid, $fi->filename;
}
my $map = $p->subname_subinfo_map;
for my $name (sort keys %$map) {
    my $si = $map->{$name}; my $w = "sub $name";
    fact($w, 'array', map { plain($_) } @$si[0 .. 12]);
    try($w, $si, $_) for qw(subname subname_without_package package fid fileinfo first_line last_line calls incl_time excl_time
        recur_incl_time recur_max_depth is_xsub is_opcode is_anon kind called_by_subnames caller_fid_line_places caller_fids caller_count meta profile);
    try($w, $si, 'caller_places'); try($w, $si, 'caller_fid_line_places', 1);
    try($w, $p, 'file_line_range_of_sub', $name); try($w, $p, 'subinfo_of', $name);
}
try('odd', $p, @$_) for [fileinfo_of => undef], [fileinfo_of => 'nosuch'], [fileinfo_of => undef, 1],
    [resolve_fid => undef], [resolve_fid => ''], [resolve_fid => '/no/such'], [resolve_fid => 'nosuch.pm'], [resolve_fid => 9999], [resolve_fid => 'Carp.pm'], [resolve_fid => 'strict.pm'],
    [subinfo_of => 'no::such'], [subinfo_of => undef], [file_line_range_of_sub => 'no::such'], [subs_defined_in_file => '/no/such'], [subs_defined_in_file => undef],
    [subs_defined_in_file_by_line => '/no/such'], [get_fid_line_data => 'nosuch'], [package_subinfo_map => ];
# Last: stock changes the subs that it merges.
for my $m (0, 1) { for my $n (0, 1) {
    my $map = $p->package_subinfo_map($m, $n);
    my $walk; $walk = sub { my ($h, $path) = @_;
        for my $k (sort keys %$h) { my $v = $h->{$k};
            ref $v eq 'HASH' ? $walk->($v, "$path/$k")
            : fact("pkg $m $n $path/$k", map { ref $_ ? join ' ', $m ? () : $_->subname, map { plain $_ } $_->calls, $_->incl_time, $_->excl_time, $_->recur_incl_time, $_->recur_max_depth, $_->package : $_ } sort { $a->subname cmp $b->subname } @$v) } };
    $walk->($map, '');
} }
