# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Some hundred damaged files: loading, streaming and merging end with a result or with an error
# that names the file, and what is loaded can be walked over.

use lib 't/lib';
use Recorded qw(record put folder slurp);

use Devel::NYTProf::Data;
use Devel::NYTProf::ReadStream qw(for_chunks);

my $n = $ENV{NYTP_DAMAGED} || 150;
my $seed = $ENV{NYTP_SEED} || 20;
srand $seed;
local $SIG{__WARN__} = sub { };

my $whole = slurp(record('damage', <<'PERL', 'compress=0:savesrc=0'));
sub f { return $_[0] <= 0 ? 0 : 1 + f($_[0] - 1) }
f(2);
eval "eval 'f(1)'; f($_)" for 1 .. 3;
my @subs = map { eval "sub { f($_) }" } 1, 1, 2;
$_->() for @subs;
PERL
my $path = folder() . '/damaged.out';
my $out = folder() . '/merged.out';

sub damaged {
    my $bytes = $whole;
    for (0 .. rand 6) {
        my $at = int rand length $bytes;
        my $way = int rand 4;
        substr $bytes, $at, 1, chr rand 256 if $way == 0;
        substr $bytes, $at, 1 + rand 5, '' if $way == 1;
        substr $bytes, $at, 0, substr $bytes, rand length $bytes, 20 if $way == 2;
        substr $bytes, $at, 1, "\xff" if $way == 3;
    }
    return $bytes;
}

# All that hangs together in a loaded profile.
sub walk {
    my ($profile) = @_;
    my $text = '';
    open my $fh, '>', \$text or die;
    for my $file ($profile->all_fileinfos) {
        $file->outer(1), $file->has_evals(1), $file->summary, $file->sum_of_stmts_time;
    }
    $_->fileinfo, $_->caller_places, $_->kind for values %{$profile->subname_subinfo_map};
    $profile->package_subinfo_map(1, 1);
    $profile->dump_profile_data({filehandle => $fh, separator => "\t"});
    $profile->normalize_variables;
    return;
}

my (%ended, @odd);
for my $i (1 .. $n) {
    put($path, damaged());
    for my $partial (0, 1) {
        my $profile =
            eval { Devel::NYTProf::Data->new({filename => $path, quiet => 1, partial => $partial}) };
        if ($profile) {
            $ended{loaded}++;
            eval { walk($profile); 1 } or push @odd, "walk $i: $@";
        } else {
            $ended{refused}++;
            push @odd, "load $i: $@" if $@ !~ /^\Q$path\E: /;
        }
    }
    eval { for_chunks { } filename => $path, quiet => 1; 1 }
        or $@ =~ /^\Q$path\E: / or push @odd, "stream $i: $@";
    open my $fh, '>:raw', $out or die;
    my @notes;
    eval { Devel::NYTProf::Data::_merge(fileno $fh, 0, 1, [$path], \@notes); 1 }
        or push @odd, "merge $i: $@";
    close $fh;
    eval { Devel::NYTProf::Data->new({filename => $out, quiet => 1}); 1 }
        or $@ =~ /above the limit|ticks_per_sec/ or push @odd, "merged $i: $@";
}
is(scalar @odd, 0, "$n damaged files (NYTP_SEED=$seed)") or diag @odd[0 .. ($#odd < 9 ? $#odd : 9)];
cmp_ok($ended{loaded} || 0, '>', $n / 10, 'some of which load');
cmp_ok($ended{refused} || 0, '>', $n / 10, 'and some are refused');

done_testing();
