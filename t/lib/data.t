# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
# Devel::NYTProf::Data, ::FileInfo, ::SubInfo: profiles of this tree's own recorder, and
# hostile ones. That they say what the stock modules say is for t/interop/api.t.

use lib 't/lib';
use Recorded qw(put record write_profile slurp folder in_folder double process_start process_end file_record);

use Cwd qw(getcwd);
use Scalar::Util ();
use Devel::NYTProf::Data;

my ($start, $file) = (process_start(), file_record());

sub profile { return Devel::NYTProf::Data->new({quiet => 1, @_}) }

# -- an ordinary program; what the accessors say of one, t/interop/api.t compares with the stock modules

my $program = <<'PERL';
package Counter;
sub new { my $class = shift; return bless {n => 0}, $class }
sub add {
    my ($self, $by) = @_;
    return $self->{n} += $by;
}
package main;
sub fib { my $n = shift; return $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
my $counter = Counter->new;
$counter->add(fib(5)) for 1 .. 3;
my $anon = sub { return uc shift };
$anon->("x") for 1 .. 2;
eval "fib(1); 1" or die for 1 .. 4;
eval "fib(1); $_" or die for 1 .. 2;
PERL
my $p = profile(filename => record('plain', $program));

my ($main) = grep { $_->filename =~ m{/plain\.pl\z} } $p->all_fileinfos;
ok($main, 'the program is a file of the profile');
is($p->attributes->{complete}, 1, 'the profile is complete');
is($p->attributes->{application}, 'plain.pl', 'attributes are there');
is($p->options->{stmts}, 1, 'and options');
my $add = $p->subinfo_of('Counter::add');
is(join(' ', $add->calls, $add->first_line, $add->last_line, $add->package), '3 3 6 Counter', 'a sub');
is(scalar $p->subinfo_of('main::fib')->caller_places, 5, 'in scalar context, in how many places');
my $evals = $main->evals_by_line;
is_deeply([map { scalar keys %{$evals->{$_}} } 13, 14], [1, 2],
    'siblings of the same source are one, others are not');
my $apart = profile(filename => folder() . '/plain.out', skip_collapse_evals => 1);
is(scalar(keys %{$apart->fileinfo_of($main->filename)->evals_by_line->{13}}), 4,
    'skip_collapse_evals keeps all evals');
{
    local $ENV{NYTPROF_MAX_EVAL_SIBLINGS} = 1;
    my $all = profile(filename => folder() . '/plain.out');
    my ($one) = my @evals = values %{$all->fileinfo_of($main->filename)->evals_by_line->{14}};
    is(scalar @evals, 1, 'above the limit all siblings are one');
    is($one->meta->{merged_fids_src_varied}, 1, 'and it is said that they differed');
}
is($p->resolve_fid('plain.pl'), $main->fid, 'the end of a path is enough to find a file');

# -- dumps

sub dump_of {
    my ($profile, %option) = @_;
    my $text = '';
    open my $fh, '>', \$text or die;
    ok($profile->dump_profile_data({filehandle => $fh, %option}), 'dump_profile_data is true');
    return $text;
}
my $dump = dump_of($p, separator => "\t");
{
    my $skipped = dump_of($p, separator => "\t", skip_fileinfo_hook => sub { $_[0] == $main });
    my $fid = $main->fid;
    is(join('', $skipped =~ /^(fid_\w+\t$fid\t.*\n)/mg),
        join('', $dump =~ /^(fid_fileinfo\t$fid\t\[.*\n)/mg), 'of a file that is left out its name stays');
    unlike($skipped, qr/^sub_subinfo\tCounter::add\t/m, 'and nothing of its subs');
    like($skipped, qr/^attribute\tapplication/m, 'but all that is in no file');
}
like(dump_of($p), qr/^ +Counter::add called_by \d+:10 \[ 3 /m, 'without a separator a dump is a tree');

my $again = profile(filename => record('plain', $program));
my $one = profile(filename => folder() . '/plain.out');
ok($_->normalize_variables, 'normalize_variables is true') for $again, $one;
is(dump_of($one, separator => '|'), dump_of($again, separator => '|'),
    'two runs of a program are the same without what differs from run to run');
unlike(dump_of($one, separator => '|'), qr/\(eval [1-9]/, 'evals have lost their numbers');
{
    my $path = record('numbers', <<'PERL', 'start=init:slowops=0');
sub f { 1 }
for my $n (1, 2) { my $c = eval "sub { f() }"; $c->() }
PERL
    local $ENV{NYTPROF_TEST_SKIP_EVAL_NORM} = 1;
    my $kept = profile(filename => $path);
    $kept->normalize_variables;
    my $text = dump_of($kept, separator => '|');
    like($text, qr/^fid_fileinfo\|\d+\|\[ \(eval [1-9]\d*\)\[numbers/m,
        'NYTPROF_TEST_SKIP_EVAL_NORM keeps the numbers of evals');
    like($text, qr/ main::__ANON__\[\(eval \d+\)\[\S+:2\]:1\]\|main::__ANON__\[\(eval \d+\)\[\S+:2\]:1\] \]$/m,
        'and the names of all callers');
    local $ENV{NYTPROF_TEST_SKIP_EVAL_NORM} = 0;
    my $lost = profile(filename => $path);
    $lost->normalize_variables;
    $text = dump_of($lost, separator => '|');
    like($text, qr/^sub_subinfo\|main::f\|called_by\|.* main::__ANON__\[\(eval 0\)\[\S+:2\]:1\] \]$/m,
        'else callers that differ in it alone are one');
}

# -- other processes and programs

my $one_liner = do {
    local $ENV{NYTPROF} = 'file=' . folder() . '/e.out';
    system $^X, '-Mblib', '-d:NYTProf', '-e', 'sub x { 1 } x() for 1..3; eval "x()"';
    profile(filename => folder() . '/e.out');
};
is($one_liner->subinfo_of('main::x')->calls, 4, 'a profile of -e');
is($one_liner->fileinfo_of('-e')->is_file, '', '-e is no file');

my $parent = record('forks', 'sub w { 1 } w(); my $pid = fork; if (!$pid) { w() for 1..5; exit } '
        . 'waitpid $pid, 0;');
my ($child) = grep { !/\.out\z/ } glob "$parent.*";
ok($child, 'a child has a profile of its own');
is(profile(filename => $child)->subinfo_of('main::w')->calls, 5, 'that has the calls of the child');

is(profile(filename => record('none', '1;', 'stmts=0'))->get_fid_line_data('block'), undef,
    'a level that was not recorded is undef');

{
    my $many = record('many', 'sub f { 1 } for my $i (1 .. 10_000) { eval "f($i)" }');
    my $before = (times)[0];
    my $evals = profile(filename => $many);
    is($evals->subinfo_of('main::f')->calls, 10_000, '10,000 string evals load');
    cmp_ok((times)[0] - $before, '<', 5, 'in no time');
    is(scalar $evals->eval_fileinfos, 1, 'and are one');
    is(scalar @{[profile(filename => $many, skip_collapse_evals => 1)->eval_fileinfos]}, 10_000,
        'unless that is not wanted');
}

# Line 2 runs three evals of the same text, of which line 3's last one runs an eval, too.
{
    my $path = record('siblings', <<'PERL');
sub f { 1 } my @subs;
push @subs, eval 'sub { f() }' for 1 .. 3;
for my $i (1 .. 3) { eval 'f(); eval "1" if $i == 3' }
$_->() for @subs, @subs;
PERL
    my $evals = profile(filename => $path);
    my ($program) = grep { $_->filename =~ /siblings/ && !$_->eval_line } $evals->all_fileinfos;
    my $by_line = $program->evals_by_line;
    is_deeply([map { scalar keys %{$by_line->{$_}} } 2, 3], [1, 3],
        'evals of the same text are one, but none where one of them ran an eval');
    my ($one) = values %{$by_line->{2}};
    is_deeply([scalar @{$one->meta->{merged_fids}}, $one->meta->{merged_fids_src_varied}], [2, undef],
        'the first knows which others it is, all of that text');
    my @anon = grep { $_->subname =~ /__ANON__/ } values %{$evals->subname_subinfo_map};
    is_deeply([map { $_->calls, $_->fid, scalar @{$_->meta->{merged_sub_names}} } @anon], [6, $one->fid, 2],
        'their anonymous subs are one');
    my $callers = $evals->subinfo_of('main::f')->caller_fid_line_places;
    is($callers->{$one->fid}{1}[0], 6, 'and call from there');
    is_deeply([grep { !@{$evals->{fid_fileinfo}[$_]} } keys %$callers], [], 'not from those that are gone');
}

# -- profiles written byte by byte

{
    my $sums = profile(filename => write_profile('sums', $start, $file, "+\x0a\x01\x03", "+\xff\xff\xff\xff\xfc\x01\x03",
        "-+\x05\x01\x03", '-', 'P' . chr(8) . chr(1) . double(1700000000.5), "+\x01\x01\x04"));
    my $times = $sums->get_fid_line_data->[1];
    is_deeply($times->[3], [11e-7, 2], 'negative ticks are taken off; a discounted statement has time and no count');
    is($times->[4][1], 1, 'a discount does not reach into the next process');
    is($sums->attributes->{total_stmts_discounted}, 1, 'and does not count');

    my $many = profile(filename => write_profile('attributes', map({":key$_=old\n"} 1 .. 3000), ":key900=new\n", ":key2999=new\n"));
    is_deeply([@{$many->attributes}{qw(key900 key2999)}], ['new', undef], 'of thousands of attributes the first thousand are kept');
}

# -- damaged and strange files

my $whole = slurp(folder() . '/plain.out');
my $cut = put('cut.out', substr $whole, 0, length($whole) * 0.7);
ok(!eval { profile(filename => $cut); 1 }, 'a file that was cut croaks');
like($@, qr/^\Q$cut\E: byte \d+.*Profile data incomplete, /, 'with path, offset and reason');
my $part = profile(filename => $cut, partial => 1);
ok(scalar($part->all_fileinfos) > 0, 'partial => 1 loads what there is');
is($part->load_error, ($@ =~ /^(.*) at \S+ line/s)[0], 'and says what is missing');
ok(!$part->attributes->{complete}, 'which is not complete');
is($p->load_error, undef, 'a sound profile has no error');

for my $case (
    ['a huge file id', qr/file id 4026531840/, $start, '@' . "\xff\xf0\0\0\0" . "\0\0\0\0\0'\x01x"],
    ['a huge line', qr/line 4294967295/, $start, $file, "+\x01\x01\xff\xff\xff\xff\xff"],
    ['a huge line of source', qr/line 4294967295/, $start, $file, "S\x01\xff\xff\xff\xff\xff'\x01x"],
    ['more lines than all files may have', qr/lines of all files together/, $start,
        map { '@' . chr($_) . "\0\0\2\0\0'\x01x", 'S' . chr($_) . "\xe0\x3f\xff\xff'\x01x" } 1 .. 5],
    ['a huge string', qr/string of 4026531824 bytes/, $start, "s\x01'\xff\xef\xff\xff\xf0abc"],
    ['an undefined file', qr/TIME_LINE names file id 9/, $start, "+\x01\x09\x01"],
    ['a sub in an undefined file', qr/SUB_INFO names file id 9/, $start, "s\x09'\x01x\x01\x01"],
) {
    my ($what, $reason, @records) = @$case;
    my $path = write_profile('odd', @records);
    ok(!eval { profile(filename => $path); 1 }, "$what is an error");
    like($@, qr/^\Q$path\E: byte \d+: Profile .*$reason.* at \Q$0\E line/, 'that says where and why');
    ok(eval { profile(filename => $path, partial => 1); 1 }, 'and what came before can be had');
}
my $device = profile(filename => write_profile('device', $start, file_record('/dev/null'), "+\x05\x01\x03", process_end()));
is($device->fileinfo_of('/dev/null')->srclines_array, undef, 'what is no plain file is not read as source');

my $ring = profile(filename => write_profile('ring', $start,
    "\@\x01\x02\x01\x00\x00\x00'\x01a\@\x02\x01\x01\x00\x00\x00'\x01b"));
is(scalar(grep { $_->outer(1) } $ring->all_fileinfos), 1, 'files that ran each other are no loop');
my $unended = profile(filename => write_profile('unended', $start, $file, "+\x01\x01\x01"));
is($unended->attributes->{complete}, '', 'a process without an end is not complete');

# Whole numbers from 2 as x86's long double, IEEE's quad and a double of the other byte order have them.
for my $case (
    ['long doubles', 16, sub { my ($n, $e) = @_; pack 'Q< S< x6', $n << 63 - $e, 16383 + $e }],
    ['quad doubles', 16, sub { my ($n, $e) = @_; pack 'x8 Q<', 16383 + $e << 48 | ($n - (1 << $e)) << 48 - $e }],
    ['big-endian doubles', 8, sub { pack 'd>', $_[0] }],
) {
    my ($what, $size, $number) = @$case;
    my ($begin, $end) = map { $number->($_, 30) } 1_700_000_000, 1_700_000_001;
    my $path = write_profile('odd', ":nv_size=$size\n", "P\x07\x01$begin", $file, "+\x01\x01\x01", "p\x07$end");
    is(eval { profile(filename => $path)->attributes->{profiler_duration} }, 1, "$what of another perl") or diag $@;
}

# -- around loading

{
    local $ENV{PERL5LIB} = join ':', map { getcwd() . "/blib/$_" } qw(lib arch);
    in_folder(sub { system $^X, '-MDevel::NYTProf::Data', '-e', 'sub f { 1 } f()' });
    ok(!-e folder() . '/nytprof.out', 'loading the reading modules records nothing');
}
my $lib = join ':', map { getcwd() . "/blib/$_" } qw(lib arch);

# A framework that wants to see the options, and Devel::NYTProf::Core loaded anew.
for my $case (['before', ''], ['after', 'use Devel::NYTProf::Core; delete $INC{"Devel/NYTProf/Core.pm"};']) {
    my ($when, $first) = @$case;
    my $code = <<'PERL';
no warnings;
*XSLoader::load = sub { die "the object is loaded" };
*DB::set_option = sub { $got{$_[0]} = $_[1] };
$ENV{NYTPROF} = 'start=no:file=a\:b';
require Devel::NYTProf::Core;
print join ' ', map {"$_=$got{$_}"} sort keys %got;
PERL
    is(in_folder(sub { local $ENV{PERL5LIB} = $lib;
        open my $perl, '-|', $^X, '-e', "$first\n$code" or die; join '', <$perl> }),
        'file=a:b start=no', "a function in place of DB::set_option, put there $when the object was loaded");
}
my $out = folder() . '/plain.out';
is(qx{$^X -Mblib -MDevel::NYTProf::Data -e 'Devel::NYTProf::Data->new({filename => shift})' $out 2>/dev/null},
    "Reading $out\nProcessing $out data\n", 'without quiet two lines are said');
{
    local $ENV{NYTPROF_ONLOAD} = 'dump=1:exit=7';
    my $said = qx{$^X -Mblib -MDevel::NYTProf::Data -e 'Devel::NYTProf::Data->new({filename => shift, quiet => 1}); print "not reached"' $out 2>&1};
    is($? >> 8, 7, 'NYTPROF_ONLOAD=exit=7 exits');
    like($said, qr/^\$VAR1 = bless.*'application' => 'plain\.pl'/ms, 'dump=1 warns all data');
    unlike($said, qr/not reached/, 'before anything else');
}
{
    my @warnings;
    local $SIG{__WARN__} = sub { push @warnings, @_ };
    is($p->fileinfo_of('nosuch'), undef, 'no file of that name');
    is($p->subinfo_of('no::such'), undef, 'no sub of that name');
    is($p->fileinfo_of('nosuch', 1), undef, 'silently, if so wanted');
    is(scalar @warnings, 2, 'each with a warning');
    like($warnings[0], qr/^Can't resolve fid of 'nosuch' at \Q$0\E/, 'in the name of the caller');
    for my $no_file ({}, [], $p, $add) {
        @warnings = ();
        is($p->fileinfo_of($no_file), undef, ref($no_file) . ' is no file');
        is($p->fileinfo_of($no_file, 1), undef, 'nor silently');
        is(scalar(grep {/^Can't resolve fid of '\Q$no_file\E' at \Q$0\E/} @warnings), 1, 'said once');
        is($p->resolve_fid($no_file), undef, 'nor has it an id');
    }
}
ok(!eval { $p->resolve_fid(undef); 1 } && $@ =~ /^No file specified/, 'no file at all croaks');

# -- lifetimes

SKIP: {
    require Config;
    skip 'this perl has no threads', 1 if !$Config::Config{useithreads};
    my $path = record('threaded', 'f() for 1 .. 3; sub f { 1 }');
    my $code = 'use threads; use Devel::NYTProf::Data; my $p = Devel::NYTProf::Data->new({filename => shift, quiet => 1});'
        . ' print threads->create(sub { $p->subinfo_of("main::f")->calls })->join, $p->subinfo_of("main::f")->calls';
    is(qx{$^X -Mblib -e '$code' $path 2>&1}, 33, 'a program that reads profiles may have threads');
}

{
    my $path = record('outlived', 'sub f { g() } sub g { 1 } f(); eval "f()";');
    my $loaded = sub { return Devel::NYTProf::Data->new({filename => $path, quiet => 1}) };
    my @files = $loaded->()->all_fileinfos;
    like($files[0]->filename_without_inc, qr/outlived\.pl\z/, 'a file outlives the variable of its profile');
    my $calls = $loaded->()->subname_subinfo_map;
    is($calls->{'main::f'}->fileinfo->sum_of_stmts_count, $files[0]->sum_of_stmts_count, 'so does a sub');
    my ($eval) = $loaded->()->eval_fileinfos;
    is($eval->outer->sum_of_stmts_count, $files[0]->sum_of_stmts_count, 'and a string eval');
    my ($first, $file) = $loaded->();
    my $weak = $first;
    Scalar::Util::weaken($weak);
    $file = ($first->all_fileinfos)[0];
    $_->fileinfo for values %{$first->subname_subinfo_map};
    undef $file;
    undef $first;
    is($weak, undef, 'a profile of which nothing is held is freed');
}

done_testing();
